/* The group `reference`: bars from outside the project, at default settings (8 substeps of a frame,
 * 10 + 5 iterations, friction 1). A missed bar is shown, not tuned and no failure.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const double G = 9.81, FRAME = 1.0 / 24.0;

/* ---- Taylor-Couette: torque and profile --------------------------------------------------- */

static ooze_collider cylinder(kit *k, double radius, double half, int hollow, ooze_pose *pose,
                              ooze_collider_desc *desc) {
  ooze_collider handle = 0;
  ooze_collider_desc_default(desc);
  desc->shape = OOZE_SHAPE_CYLINDER;
  desc->half[0] = desc->half[2] = (float)radius, desc->half[1] = (float)half;
  desc->invert = (uint32_t)hollow;
  desc->boundary = k->boundary;
  ooze_pose_default(pose);
  if (kit_good(k)) k->result = ooze_collider_add(k->solver, desc, &handle);
  if (k->result < 0) snprintf(k->message, sizeof k->message, "%s", ooze_solver_message(k->solver));
  return handle;
}

static void couette(verify *v, uint32_t boundary) {
  const double d = 0.005, R1 = 0.05, R2 = 0.1, L = 6 * d, mu = 20.0, rho = 1000.0, omega = 1.0,
               dt = FRAME / 8.0;
  char row[64], curve[80];
  snprintf(row, sizeof row, "couette.%s", verify_wall_name(boundary));
  if (!verify_wants(v, row)) return;
  kit k;
  ooze_pose pose, still;
  ooze_collider_desc inner, outer;
  kit_open(&k, verify_machine(v), d);
  k.params.gravity[1] = 0.0f;
  kit_apply(&k);
  const double bottom[3] = {0, 0, 0}, top[3] = {0, L, 0}, up[3] = {0, 1, 0}, down[3] = {0, -1, 0};
  kit_plane(&k, bottom, up, 0.0);
  kit_plane(&k, top, down, 0.0);
  k.boundary = boundary;
  /* twice as long as the fluid is deep: their ends are out of its reach */
  ooze_collider turns = cylinder(&k, R1, 2.0 * L, 0, &pose, &inner);
  (void)cylinder(&k, R2, 2.0 * L, 1, &still, &outer);
  uint32_t material = kit_fluid(&k, mu, 0.0);
  /* rings, as far apart as particles are */
  static float x[8192][3];
  uint32_t n = 0;
  for (double y = 0.5 * d; y < L; y += d)
    for (double r = R1 + 0.5 * d; r < R2; r += d) {
      const int many = (int)lround(2.0 * MEASURE_PI * r / d);
      for (int i = 0; i < many && n < 8192; ++i, ++n) {
        const double phi = 2.0 * MEASURE_PI * (i + 0.5 * ((int)lround(r / d) % 2)) / many;
        x[n][0] = (float)(r * cos(phi)), x[n][1] = (float)y, x[n][2] = (float)(r * sin(phi));
      }
    }
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = n, add.material = material, add.positions = x;
  if (kit_good(&k)) k.result = ooze_particles_add(k.solver, &add, NULL);
  double torque = 0.0;
  int looked = 0;
  const int steps = (int)lround(0.6 * (R2 - R1) * (R2 - R1) * rho / mu / dt) + 60;
  for (int s = 0; kit_good(&k) && s < steps; ++s) {
    ooze_pose next = pose;
    const double half = 0.5 * omega * dt * (s + 1);
    next.rotation[1] = (float)sin(half), next.rotation[3] = (float)cos(half);
    k.result = ooze_collider_move(k.solver, turns, &pose, &next);
    pose = next;
    kit_step(&k, dt, 1);
    float force[3], turn[3];
    if (kit_good(&k) && s >= steps - 40 &&
        ooze_collider_load(k.solver, turns, force, turn) == OOZE_OK)
      torque += (double)turn[1], looked++;
  }
  kit_read(&k);
  if (!verify_ran(v, &k)) return kit_close(&k);
  const double expected =
      4.0 * MEASURE_PI * mu * L * omega * R1 * R1 * R2 * R2 / (R2 * R2 - R1 * R1);
  verify_within(v, looked ? fabs(torque) / looked : (double)NAN, expected, 0.05, "N m", "%s.torque",
                row);
  verify_note(v, "mean of 40 substeps");
  /* u = A r + B / r between the cylinders */
  const double A = -omega * R1 * R1 / (R2 * R2 - R1 * R1), B = -A * R2 * R2;
  double sum[10] = {0}, many[10] = {0}, worst = 0.0;
  for (uint32_t i = 0; i < k.count; ++i) {
    const double px = (double)k.x[i][0], pz = (double)k.x[i][2], r = hypot(px, pz);
    const int b = (int)floor((r - R1) / (R2 - R1) * 10);
    if (b < 0 || b > 9) continue;
    sum[b] += (pz * (double)k.v[i][0] - px * (double)k.v[i][2]) / r, many[b] += 1.0;
  }
  snprintf(curve, sizeof curve, "speed, m/s (over r, m), %s", verify_wall_name(boundary));
  for (int b = 0; b < 10; ++b) {
    const double r = R1 + (b + 0.5) * (R2 - R1) / 10.0, u = A * r + B / r,
                 got = fabs(sum[b] / fmax(many[b], 1.0));
    verify_point(v, curve, r, got, u);
    worst = fmax(worst, fabs(got - u) / (omega * R1));
  }
  verify_at_most(v, worst, 0.05, "", "%s.profile", row);
  kit_close(&k);
}

void verify_taylor_couette(verify *v) {
  couette(v, OOZE_BOUNDARY_SDF);
  couette(v, OOZE_BOUNDARY_PARTICLES);
}

/* ---- a film of honey on a slope: surface speed rho g sin h^2 / (2 mu) ---------------------- */

void verify_film(verify *v) {
  enum { LAYERS = 8 };
  const double d = 0.005, mu = 10.0, rho = 1420.0, angle = 5.0 * MEASURE_PI / 180.0, h = LAYERS * d,
               wide = 2 * d;
  /* 25 depths long: half of that is thinned by its ends as far as the middle */
  const uint32_t n[3] = {200, LAYERS, 4};
  const double low[3] = {-100 * d, 0, -wide}, left[3] = {0, 0, -wide}, right[3] = {0, 0, wide},
               in[3] = {0, 0, 1}, out[3] = {0, 0, -1};
  kit k;
  ooze_material m;
  kit_open(&k, verify_machine(v), d);
  k.params.gravity[0] = (float)(G * sin(angle));
  k.params.gravity[1] = (float)(-G * cos(angle));
  kit_apply(&k);
  kit_floor(&k, 1.0);
  kit_plane(&k, left, in, 0.0);
  kit_plane(&k, right, out, 0.0);
  ooze_material_default(&m);
  m.viscosity = (float)mu, m.density = (float)rho;
  kit_block(&k, kit_add(&k, &m), n, low);
  /* nu t / h^2 = 1.5: within 3% of steady */
  const int frames = (int)lround(1.5 * h * h * rho / mu / FRAME);
  for (int f = 0; kit_good(&k) && f < frames; ++f) kit_step(&k, FRAME, 8);
  kit_read(&k);
  if (!verify_ran(v, &k)) return kit_close(&k);
  double sum[LAYERS] = {0}, many[LAYERS] = {0};
  for (uint32_t i = 0; i < k.count; ++i) {
    const int b = (int)floor((double)k.x[i][1] / d);
    if (b < 0 || b >= LAYERS || fabs((double)k.x[i][0]) > 15 * d) continue;
    sum[b] += (double)k.v[i][0], many[b] += 1.0;
  }
  double top = 0.0, exact = 0.0;
  for (int b = 0; b < LAYERS; ++b) {
    const double y = (b + 0.5) * d, u = rho * G * sin(angle) * (h * y - 0.5 * y * y) / mu;
    if (many[b] > 0.0) top = sum[b] / many[b], exact = u;
    verify_point(v, "speed, m/s (over height, m)", y, sum[b] / fmax(many[b], 1.0), u);
  }
  verify_within(v, top, exact, 0.05, "m/s", "surface");
  verify_note(v, "honey, 8 layers, 5 degrees");
  kit_close(&k);
}

/* ---- a slender cylinder sinks into itself on a slippery floor --------------------------------
 * Under the height z of fluid above it, a slice of area A0 / l carries rho g z l, l its length over
 * the first: l' = -rho g z l^2 / (3 mu), so that with k = rho g t / (3 mu) the height is
 * ln(1 + k h) / k. */
static void sink(verify *v, double d, double mu, double until) {
  const double rho = 1000.0;
  const verify_drum c = {0.02, 0.08};
  const double low[3] = {-0.024, 0.0, -0.024}, high[3] = {0.024, 0.08, 0.024};
  char row[64], curve[80];
  snprintf(row, sizeof row, "sink.%gPas.%gmm", mu, 1000.0 * d);
  if (!verify_wants(v, row)) return;
  kit k;
  kit_open(&k, verify_machine(v), d);
  kit_floor(&k, 0.0);
  kit_fill(&k, kit_fluid(&k, mu, 0.0), low, high, verify_in_drum, &c);
  double got = 0.0, exact = 1.0;
  snprintf(curve, sizeof curve, "height, m (over s), %g Pa s, %g mm", mu, 1000.0 * d);
  for (int f = 1; kit_good(&k) && f <= (int)lround(until / FRAME); ++f) {
    kit_step(&k, FRAME, 8);
    kit_read(&k);
    double top = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) top = fmax(top, (double)k.x[i][1]);
    const double per = rho * G * f * FRAME / (3.0 * mu);
    got = top + 0.5 * d, exact = log(1.0 + per * c.height) / per;
    verify_point(v, curve, f * FRAME, got, exact);
  }
  if (verify_ran(v, &k)) {
    verify_within(v, got, exact, 0.05, "m", "%s", row);
    verify_note(v, "height after %g s, 80 mm at first", until);
  }
  kit_close(&k);
}

void verify_sink(verify *v) {
  sink(v, 0.004, 100.0, 0.5);
  sink(v, 0.004, 1000.0, 1.0);
  if (verify_at(v) != VERIFY_QUICK) sink(v, 0.003, 100.0, 0.5);
}

/* ---- fluid at rest in a box keeps its volume ------------------------------------------------ */

static void at_rest(verify *v, double mu, const char *name) {
  const double d = 0.01, half[3] = {5 * d, 20 * d, 5 * d}, centre[3] = {0, 20 * d, 0},
               low[3] = {-5 * d, 0, -5 * d};
  const uint32_t n[3] = {10, 16, 10};
  const double until = verify_at(v) == VERIFY_QUICK ? 2.0 : 10.0;
  char curve[80];
  if (!verify_wants(v, name)) return;
  kit k;
  kit_open(&k, verify_machine(v), d);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, kit_fluid(&k, mu, 0.0), n, low);
  double height = 0.0, energy = 0.0;
  snprintf(curve, sizeof curve, "height over the first (over s), %s", name);
  for (int f = 1; kit_good(&k) && f <= (int)lround(until / FRAME); ++f) {
    kit_step(&k, FRAME, 8);
    if (f % 12) continue;
    kit_read(&k);
    measure_body b;
    measure((measure_points)k.x, (measure_points)k.v, NULL, k.count, &b);
    /* twice the height of the centre: a column's */
    height = 2.0 * b.centre[1] / (n[1] * d), energy = b.kinetic;
    verify_point(v, curve, f * FRAME, height, 1.0);
  }
  if (verify_ran(v, &k)) {
    verify_at_least(v, height, 0.99, "", "%s.height", name);
    verify_note(v, "twice the height of the centre of mass, after %g s", until);
    verify_at_most(v, energy, 1e-6, "J/kg", "%s.kinetic", name);
  }
  kit_close(&k);
}

void verify_rest_volume(verify *v) {
  at_rest(v, 1.0, "1Pas");
  at_rest(v, 0.001, "water");
}
