/* Rigid bodies against closed forms. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "check.h"

static const double G = 9.81, DT = 1.0 / 240.0;

/* Angular momentum (kg m^2/s) from a body's state. */
static void angular(const ooze_body_state *b, double out[3]) {
  const float *I = b->inertia, *w = b->spin;
  out[0] = (double)(I[0] * w[0] + I[3] * w[1] + I[4] * w[2]);
  out[1] = (double)(I[3] * w[0] + I[1] * w[1] + I[5] * w[2]);
  out[2] = (double)(I[4] * w[0] + I[5] * w[1] + I[2] * w[2]);
}
static double length3(const double a[3]) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* A brick that tumbles about its middle axis, which is unstable: nothing but its own inertia turns
 * it. */
static void tumble(verify *v) {
  const double d = 0.05, centre[3] = {0, 0, 0}, velocity[3] = {0.3, 0.1, -0.2},
               spin[3] = {0.3, 8.0, 0.15};
  const uint32_t n[3] = {4, 6, 9};
  kit k;
  ooze_body_state b;
  double before[3], after[3], change[3], energy = 0.0, was = 0.0, least = 1e9;
  if (!verify_wants(v, "tumble")) return;
  kit_open(&k, verify_machine(v), d);
  k.params.gravity[1] = 0.0f;
  kit_apply(&k);
  ooze_body body = kit_body(&k, kit_solid(&k, 700.0), n, centre, NULL, velocity, spin, 0.5);
  kit_body_read(&k, body, &b);
  angular(&b, before);
  for (int a = 0; a < 3; ++a) was += 0.5 * before[a] * (double)b.spin[a];
  for (int step = 0; kit_good(&k) && step < 480; ++step) {
    kit_step(&k, DT, 1);
    kit_body_read(&k, body, &b);
    /* where its own y axis points */
    const float *q = b.pose.rotation;
    least = fmin(least, 1.0 - 2.0 * (double)(q[0] * q[0] + q[2] * q[2]));
  }
  angular(&b, after);
  for (int a = 0; a < 3; ++a)
    change[a] = after[a] - before[a], energy += 0.5 * after[a] * (double)b.spin[a];
  if (verify_ran(v, &k)) {
    verify_at_most(v, length3(change) / length3(before), 1e-4, "", "tumble.angular-momentum");
    verify_note(v, "2 s at 8 rad/s about the middle axis");
    verify_at_most(v, fabs(energy / was - 1.0), 0.01, "", "tumble.energy");
    /* it turns over, as the theorem of the tennis racket says */
    verify_at_most(v, least, -0.9, "", "tumble.flips");
    verify_at_most(v, hypot((double)b.centre[0] - 0.6, (double)b.centre[2] + 0.4), 1e-4, "m",
                   "tumble.straight");
  }
  kit_close(&k);
}

/* A block on a slope: slides with g (sin a - mu cos a), or stays. */
static void slope(verify *v, double friction, const char *name) {
  const double d = 0.05, angle = 0.5, normal[3] = {sin(angle), cos(angle), 0.0},
               foot[3] = {0, 0, 0};
  const uint32_t n[3] = {6, 4, 6};
  const float turn[4] = {0.0f, 0.0f, (float)-sin(0.5 * angle), (float)cos(0.5 * angle)};
  const double up = 2.0 * d, centre[3] = {up * normal[0], up * normal[1], 0.0};
  double expect = G * (sin(angle) - friction * cos(angle));
  if (expect < 0.0) expect = 0.0;
  kit k;
  ooze_body_state b;
  char row[64];
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  kit_plane(&k, foot, normal, 1.0);
  ooze_body body = kit_body(&k, kit_solid(&k, 700.0), n, centre, turn, NULL, NULL, friction);
  for (int step = 0; step < 120; ++step) kit_step(&k, DT, 1);
  kit_body_read(&k, body, &b);
  if (verify_ran(v, &k)) {
    double speed = (double)b.velocity[0] * normal[1] - (double)b.velocity[1] * normal[0];
    double lift = ((double)b.centre[0] * normal[0] + (double)b.centre[1] * normal[1] - up) / d;
    snprintf(row, sizeof row, "%s.speed", name);
    if (expect > 0.0)
      verify_within(v, speed, 0.5 * expect, 0.03, "m/s", "%s", row);
    else
      verify_at_most(v, fabs(speed), 0.005, "m/s", "%s", row);
    verify_note(v, "after 0.5 s on a slope of %.2f rad, friction %.2f", angle, friction);
    verify_at_most(v, fabs(lift), 0.05, "d", "%s.depth", name);
  }
  kit_close(&k);
}

/* Five blocks stacked crosswise come to rest, and the floor carries their weight. */
static void stack(verify *v) {
  const double d = 0.05;
  const uint32_t n[3] = {8, 3, 4};
  kit k;
  ooze_body body[5];
  ooze_body_state b;
  double low = 0.0, speed = 0.0, weight = 0.0;
  float force[3] = {0, 0, 0}, torque[3];
  if (!verify_wants(v, "stack")) return;
  kit_open(&k, verify_machine(v), d);
  kit_iterations(&k, 2, 10);
  ooze_collider floor = kit_floor(&k, 1.0);
  uint32_t wood = kit_solid(&k, 700.0);
  const float cross[4] = {0.0f, 0.70710678f, 0.0f, 0.70710678f};
  for (int i = 0; i < 5; ++i) {
    const double centre[3] = {0.0, (3 * i + 1.5 + 0.3 * (i + 1)) * d, 0.0};
    body[i] = kit_body(&k, wood, n, centre, i % 2 ? cross : NULL, NULL, NULL, 0.7);
  }
  for (int step = 0; step < 480; ++step) kit_step(&k, DT, 1);
  for (int i = 0; i < 5; ++i) {
    kit_body_read(&k, body[i], &b);
    double down = ((double)b.centre[1] - (3 * i + 1.5) * d) / d;
    if (down < low) low = down;
    for (int a = 0; a < 3; ++a) speed = fmax(speed, fabs((double)b.velocity[a]));
    weight += (double)b.mass * G;
  }
  if (kit_good(&k)) (void)ooze_collider_load(k.solver, floor, force, torque);
  if (verify_ran(v, &k)) {
    verify_at_most(v, -low, 0.3, "d", "stack.sunk");
    verify_note(v, "the most that one of five blocks is below its place after 2 s");
    verify_at_most(v, speed, 0.02, "m/s", "stack.speed");
    verify_within(v, -(double)force[1], weight, 0.1, "N", "stack.load");
  }
  kit_close(&k);
}

/* A block flies into a ball of fluid, no gravity: nothing is lost or gained. */
static void collide(verify *v) {
  const double d = 0.05, speed[3] = {-3.0, 0.0, 0.0}, spin[3] = {0.0, 0.0, 4.0};
  const kit_capsule part = {{0, 0, 0}, {0, 0, 0}, 7 * 0.05};
  const kit_figure ball = {&part, 1, {0, 0, 0}, 1.0};
  const double low[3] = {-8 * d, -8 * d, -8 * d}, high[3] = {8 * d, 8 * d, 8 * d},
               from[3] = {12 * d, 2 * d, 0};
  const uint32_t n[3] = {5, 5, 5};
  kit k;
  ooze_body_state b;
  double p0[3] = {0}, p1[3] = {0}, l0[3] = {0}, l1[3] = {0};
  if (!verify_wants(v, "collide")) return;
  kit_open(&k, verify_machine(v), d);
  k.params.gravity[1] = 0.0f;
  kit_apply(&k);
  uint32_t fluid = kit_fluid(&k, 20.0, 0.0), solid = kit_solid(&k, 2500.0);
  kit_fill(&k, fluid, low, high, kit_in_figure, &ball);
  ooze_body body = kit_body(&k, solid, n, from, NULL, speed, spin, 0.5);
  for (int step = 0; kit_good(&k) && step <= 120; ++step) {
    if (step) kit_step(&k, DT, 1);
    if (step != 0 && step != 120) continue;
    double *p = step ? p1 : p0, *l = step ? l1 : l0;
    uint32_t n_all = ooze_particle_count(k.solver);
    kit_read(&k);
    for (uint32_t i = 0; i < n_all && kit_good(&k); ++i) {
      float mass = 0.0f;
      (void)ooze_attribute_read(k.solver, OOZE_MASS, i, 1, 0, &mass);
      const float *x = k.x[i], *u = k.v[i];
      const double m = (double)mass;
      for (int a = 0; a < 3; ++a) {
        int e = (a + 1) % 3, f = (a + 2) % 3;
        p[a] += m * (double)u[a];
        l[a] += m * ((double)x[e] * (double)u[f] - (double)x[f] * (double)u[e]);
      }
    }
  }
  kit_body_read(&k, body, &b);
  if (verify_ran(v, &k)) {
    double dp[3], dl[3];
    for (int a = 0; a < 3; ++a) dp[a] = p1[a] - p0[a], dl[a] = l1[a] - l0[a];
    verify_at_most(v, length3(dp) / length3(p0), 1e-4, "", "collide.momentum");
    verify_note(v, "a block of 2500 kg/m^3 at 3 m/s into a ball of 20 Pa s");
    verify_report(v, length3(dl) / length3(l0), 0.0, "", "collide.angular-momentum");
    verify_at_most(v, -(double)b.velocity[0], 2.9, "m/s", "collide.slowed");
  }
  kit_close(&k);
}

void verify_bodies(verify *v) {
  tumble(v);
  slope(v, 0.2, "slides");
  slope(v, 0.9, "holds");
  collide(v);
  if (verify_at(v) != VERIFY_QUICK) stack(v);
}

/* ---- Archimedes ---- */

/* Level H of a fluid in a box of area A from the height of its centre, where a block of area a
 * stands in it from zb up. */
static double level_of(double centre, double A, double a, double zb) {
  double low = 0.0, high = 1e3;
  for (int it = 0; it < 200; ++it) {
    double H = 0.5 * (low + high), wet = H > zb ? H - zb : 0.0, volume = A * H - a * wet;
    double moment = 0.5 * A * H * H - (wet > 0.0 ? 0.5 * a * (H * H - zb * zb) : 0.0);
    if (moment / volume < centre)
      low = H;
    else
      high = H;
  }
  return 0.5 * (low + high);
}

static void floats(verify *v, double density, uint32_t wide, uint32_t high, uint32_t side,
                   uint32_t thick, double duration, double tolerance) {
  const double d = 0.05, A = (wide * d) * (wide * d), edge = side * d, tall = thick * d;
  const uint32_t slab[3] = {side, thick, side};
  const double half[3] = {0.5 * wide * d, high * d, 0.5 * wide * d},
               centre[3] = {0.0, high * d, 0.0};
  const double low[3] = {-half[0], 0.0, -half[0]}, share = density / 1000.0;
  /* a little above its place, so that it has to find it */
  const double at[3] = {
      0.0, high * d + tall * (0.5 - share) + edge * edge * tall * share / A + 0.6 * d, 0.0};
  const uint32_t fluid_count = wide * high * wide;
  char name[32], curve[48];
  kit k;
  ooze_body_state b;
  double depth = 0.0, packed = 0.0, tilt = 0.0, samples = 0.0, bob = 0.0;
  snprintf(name, sizeof name, "density-%.0f", density);
  snprintf(curve, sizeof curve, "submerged share (over s), %.0f kg/m^3", density);
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), d);
  kit_iterations(&k, 10, 10);
  kit_container(&k, centre, half, 0.0);
  /* the fluid leaves the body's place free */
  uint32_t fluid = kit_fluid(&k, 5.0, 0.0);
  ooze_body body = 0;
  {
    const double keep = 0.5 * edge;
    uint32_t left = fluid_count;
    for (uint32_t j = 0; left && kit_good(&k); ++j) {
      double y = (j + 0.5) * d;
      for (uint32_t l = 0; l < wide && left; ++l)
        for (uint32_t i = 0; i < wide && left; ++i) {
          double x[3] = {low[0] + i * d, y - 0.5 * d, low[2] + l * d};
          if (fabs(x[0] + 0.5 * d) < keep && fabs(x[2] + 0.5 * d) < keep &&
              fabs(y - at[1]) < 0.5 * tall)
            continue;
          const uint32_t one[3] = {1, 1, 1};
          kit_block(&k, fluid, one, x);
          --left;
        }
    }
  }
  body = kit_body(&k, kit_solid(&k, density), slab, at, NULL, NULL, NULL, 0.0);
  int steps = (int)lround(duration / DT);
  for (int step = 1; kit_good(&k) && step <= steps; ++step) {
    kit_step(&k, DT, 1);
    const int drawn = step % (steps / 30) == 0, settled = step > steps - 60;
    if (!drawn && !settled) continue;
    double mean = 0.0;
    kit_read(&k);
    kit_body_read(&k, body, &b);
    if (!kit_good(&k)) break;
    for (uint32_t i = 0; i < fluid_count; ++i) mean += (double)k.x[i][1] / fluid_count;
    double zb = (double)b.centre[1] - 0.5 * tall, H = level_of(mean, A, edge * edge, zb);
    if (drawn) verify_point(v, curve, step * DT, (H - zb) / tall, share);
    if (!settled) continue;
    double volume = A * H - edge * edge * (H > zb ? H - zb : 0.0);
    depth += (H - zb) / tall;
    packed += fluid_count * d * d * d / volume;
    tilt = fmax(tilt, 2.0 * acos(fmin(1.0, fabs((double)b.pose.rotation[3]))));
    bob = fmax(bob, fabs((double)b.velocity[1]));
    samples += 1.0;
  }
  if (verify_ran(v, &k)) {
    verify_within(v, depth / samples, share / (packed / samples), tolerance, "", "%s.depth", name);
    verify_note(v,
                "submerged share of a slab of %u x %u; fluid packed at %.4f, tilt %.3f rad, "
                "bobbing %.4f m/s",
                side, thick, packed / samples, tilt, bob);
    verify_report(v, depth / samples, share, "", "%s.depth-plain", name);
  }
  kit_close(&k);
}

static void sinks(verify *v) {
  const double d = 0.05;
  const uint32_t n[3] = {12, 12, 12}, cube[3] = {4, 4, 4};
  const double half[3] = {6 * d, 16 * d, 6 * d}, centre[3] = {0.0, 16 * d, 0.0},
               low[3] = {-6 * d, 0.0, -6 * d};
  const double at[3] = {0.0, 14.1 * d, 0.0};
  kit k;
  ooze_body_state b;
  if (!verify_wants(v, "sinks")) return;
  kit_open(&k, verify_machine(v), d);
  kit_iterations(&k, 10, 5);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, kit_fluid(&k, 5.0, 0.0), n, low);
  ooze_body body = kit_body(&k, kit_solid(&k, 2500.0), cube, at, NULL, NULL, NULL, 0.5);
  for (int step = 0; kit_good(&k) && step < 360; ++step) kit_step(&k, DT, 1);
  kit_body_read(&k, body, &b);
  if (verify_ran(v, &k)) {
    /* 2 when it lies on the bottom */
    verify_at_most(v, (double)b.centre[1] / d, 3.0, "d", "sinks.height");
    verify_note(v, "2500 kg/m^3, after 1.5 s");
  }
  kit_close(&k);
}

void verify_floating(verify *v) {
  if (verify_at(v) == VERIFY_QUICK) {
    floats(v, 500.0, 10, 8, 6, 4, 1.2, 0.05); /* a draught of two particles */
    return;
  }
  floats(v, 300.0, 16, 12, 10, 8, 2.5, 0.05); /* of 2.4 particles: a tenth of one is 4% */
  floats(v, 400.0, 16, 12, 10, 8, 2.5, 0.02);
  floats(v, 600.0, 16, 12, 10, 8, 2.5, 0.02);
  floats(v, 800.0, 16, 12, 10, 8, 2.5, 0.02);
  sinks(v);
}
