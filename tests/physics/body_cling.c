/* Viscous fluid on bodies: dragged along, held, and left behind as a coat.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS physics */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 20000 };
static const float d = 0.004f;
static const double STEP = 1.0 / 192.0;
static float place[MOST][3], speed[MOST][3];
static uint32_t owner[MOST];

static ooze_solver *make(float gx, float gy) {
  ooze_solver *s = cpu_solver(d);
  ooze_params p;
  ooze_params_default(&p);
  p.gravity[0] = gx, p.gravity[1] = gy;
  CHECK_OK(ooze_params_set(s, &p), s);
  return s;
}

static uint32_t material(ooze_solver *s, float density, float viscosity) {
  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.density = density, m.viscosity = viscosity;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  return index;
}

/* Lattice points of a box of whole separations, the lowest corner of its first cell at `from`. */
static uint32_t lattice(int nx, int ny, int nz, float x, float y, float z, float (*out)[3]) {
  uint32_t n = 0;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      for (int k = 0; k < nz; k++, n++) {
        out[n][0] = x + d * ((float)i + 0.5f), out[n][1] = y + d * ((float)j + 0.5f);
        out[n][2] = z + d * ((float)k + 0.5f);
      }
  return n;
}

static void fluid(ooze_solver *s, uint32_t count, uint32_t of) {
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = count, p.material = of, p.positions = &place[0][0];
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
}

/* A body of these points, which stays where it is. */
static ooze_body solid(ooze_solver *s, uint32_t count, float friction, int held) {
  ooze_body_desc b;
  ooze_body body;
  ooze_body_desc_default(&b);
  b.count = count, b.positions = (const float(*)[3])place, b.friction = friction;
  CHECK_OK(ooze_body_add(s, &b, &body), s);
  ooze_pose at;
  ooze_pose_default(&at);
  if (held) CHECK_OK(ooze_body_drive(s, body, &at, &at), s);
  return body;
}

static void read(ooze_solver *s) {
  const uint32_t n = ooze_particle_count(s);
  CHECK(n <= MOST, "%u particles", n);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, place), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, speed), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_OWNER, 0, n, 0, owner), s);
}

enum { WIDE = 20, DEEP = 12 };

/* m/s in each layer of fluid, in the middle, that slides down a flat body. */
static void slide(int layers, float friction, float viscosity, float pull, double until,
                  double out[DEEP]) {
  ooze_solver *s = make(pull, -1.0f);
  const float half = 0.5f * WIDE * d;
  (void)solid(s, lattice(WIDE, 3, WIDE, -half, -3.0f * d, -half, place), friction, 1);
  fluid(s, lattice(WIDE, layers, WIDE, -half, 0.0f, -half, place), material(s, 1000.0f, viscosity));
  for (double t = 0.0; t < until - 0.5 * STEP; t += STEP) CHECK_OK(ooze_step(s, STEP), s);
  read(s);
  double n[DEEP] = {0.0};
  for (int l = 0; l < DEEP; l++) out[l] = 0.0;
  for (uint32_t i = 0; i < ooze_particle_count(s); i++) {
    const int l = (int)(place[i][1] / d);
    if (owner[i] || l < 0 || l >= DEEP || fabsf(place[i][0]) > 4.0f * d ||
        fabsf(place[i][2]) > 4.0f * d)
      continue;
    out[l] += (double)speed[i][0], n[l] += 1.0;
  }
  for (int l = 0; l < DEEP; l++) out[l] /= n[l] > 0.0 ? n[l] : 1.0;
  ooze_solver_destroy(s);
}

OZ_CASE(fluid_slides_down_a_body_as_lubrication_has_it) {
  const double g = 1.0, mu = 10.0;
  double u[DEEP], slippery[DEEP];
  for (int layers = 1; layers <= 5; layers += 2) {
    const double h = (double)d * layers;
    double mean = 0.0;
    slide(layers, 1.0f, (float)mu, (float)g, 0.08, u);
    for (int l = 0; l < layers; l++) mean += u[l] / layers;
    /* rho g h^2 / 3 mu: the mean over a film of the thickness h */
    const double exact = 1000.0 * g * h * h / (3.0 * mu);
    printf("%d layers: mean %.5f m/s, exact %.5f\n", layers, mean, exact);
    CHECK_NEAR(mean / exact, 1.0, 0.1, "without the body's drag 3.1, 3.5 and 2.1");
  }
  slide(3, 0.0f, (float)mu, (float)g, 0.08, slippery);
  slide(3, 1.0f, (float)mu, (float)g, 0.08, u);
  CHECK(slippery[0] > 4.0 * u[0], "%g m/s on a slippery body, %g on one with friction", slippery[0],
        u[0]);
}

static ooze_material honey(void) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1420.0f, m.viscosity = 10.0f, m.surface_tension = 0.055f;
  return m;
}

enum { BALL = 4, HALF = 7, BATH = 11 };

/* Part of a ball that has fluid within 1.2 separations of its surface, as the look-book measures
 * it, after it was drawn out of a bath. */
static double dipped(const ooze_material *of, float friction) {
  const float radius = (float)BALL + 0.5f;
  ooze_solver *s = make(0.0f, -9.81f);
  ooze_collider_desc c;
  ooze_collider cup;
  uint32_t index, n = 0;
  CHECK_OK(ooze_material_add(s, of, &index), s);
  const ooze_body body = solid(s, lattice_ball(place, BALL, d), friction, 0);
  /* the ball is covered by a layer */
  const uint32_t all =
      lattice(2 * HALF, BATH, 2 * HALF, -HALF * d, (1.5f + BALL - BATH) * d, -HALF * d, speed);
  for (uint32_t i = 0; i < all; i++) {
    const float *x = speed[i], r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    if (r2 < (radius + 0.3f) * (radius + 0.3f) * d * d) continue;
    for (int k = 0; k < 3; k++) place[n][k] = x[k];
    n++;
  }
  fluid(s, n, index);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.invert = 1;
  c.half[0] = c.half[2] = HALF * d, c.half[1] = 100.0f * d;
  c.start.position[1] = c.end.position[1] = (1.5f + BALL - BATH) * d + c.half[1];
  CHECK_OK(ooze_collider_add(s, &c, &cup), s);
  float y = 0.0f;
  for (int k = 0; k < 14; k++) {
    ooze_pose from, to;
    ooze_pose_default(&from), ooze_pose_default(&to);
    from.position[1] = y;
    if (k >= 2) y += k < 12 ? 0.006f : 0.0f; /* 0.144 m/s */
    to.position[1] = y;
    CHECK_OK(ooze_body_drive(s, body, &from, &to), s);
    CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  }
  read(s);
  const int points = 400;
  int covered = 0;
  for (int k = 0; k < points; k++) {
    const double z = 1.0 - 2.0 * (k + 0.5) / points, r = sqrt(1.0 - z * z), a = 2.399963 * k;
    const float at[3] = {radius * d * (float)(r * cos(a)), y + radius * d * (float)z,
                         radius * d * (float)(r * sin(a))};
    int near = 0;
    for (uint32_t i = 0; i < ooze_particle_count(s) && !near; i++) {
      const float v[3] = {place[i][0] - at[0], place[i][1] - at[1], place[i][2] - at[2]};
      near = !owner[i] && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < 1.44f * d * d;
    }
    covered += near;
  }
  ooze_solver_destroy(s);
  return (double)covered / points;
}

OZ_CASE_SLOW(a_ball_drawn_out_of_a_bath_keeps_a_film) {
  const ooze_material thick = honey(), paste = chocolate();
  ooze_material thin = honey();
  thin.viscosity = 0.01f;
  const double of_honey = dipped(&thick, 1.0f), of_chocolate = dipped(&paste, 1.0f),
               slippery = dipped(&paste, 0.0f), of_water = dipped(&thin, 1.0f);
  printf("covered: honey %.2f, chocolate %.2f, without friction %.2f, 10 mPa s %.2f\n", of_honey,
         of_chocolate, slippery, of_water);
  CHECK(of_honey > 0.9, "%g", of_honey);
  CHECK(of_chocolate > 0.8, "%g", of_chocolate); /* its lowest part is drawn off */
  CHECK(slippery < 0.7, "%g", slippery);
  CHECK(of_water < 0.5, "%g", of_water);
}

static void momentum(ooze_solver *s, double out[3]) {
  read(s);
  out[0] = out[1] = out[2] = 0.0;
  for (uint32_t i = 0; i < ooze_particle_count(s); i++) {
    float m;
    CHECK_OK(ooze_attribute_read(s, OOZE_MASS, i, 1, 0, &m), s);
    for (int a = 0; a < 3; a++) out[a] += (double)m * (double)speed[i][a];
  }
}

/* A free plate slides on a block of honey that floats. Returns its speed after 0.026 s. */
static double glides(uint32_t kind, float friction, double *change) {
  ooze_solver *s = make(0.0f, 0.0f);
  const ooze_material m = honey();
  uint32_t index;
  double before[3], after[3];
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  ooze_body_desc b;
  ooze_body body;
  ooze_body_desc_default(&b);
  b.kind = kind, b.count = lattice(10, 3, 10, -5.0f * d, 0.0f, -5.0f * d, place);
  b.positions = (const float(*)[3])place, b.friction = friction;
  b.velocity[0] = 0.1f, b.velocity[1] = 0.02f;
  CHECK_OK(ooze_body_add(s, &b, &body), s);
  fluid(s, lattice(10, 6, 10, -5.0f * d, -6.0f * d, -5.0f * d, place), index);
  momentum(s, before);
  for (int k = 0; k < 5; k++) CHECK_OK(ooze_step(s, STEP), s);
  momentum(s, after);
  double size = 0.0;
  *change = 0.0;
  for (int a = 0; a < 3; a++)
    *change += pow(after[a] - before[a], 2.0), size += before[a] * before[a];
  *change = sqrt(*change / size);
  ooze_body_state state;
  ooze_body_state_default(&state);
  CHECK_OK(ooze_body_state_get(s, body, &state), s);
  ooze_solver_destroy(s);
  return (double)state.velocity[0];
}

OZ_CASE(fluid_that_clings_to_a_free_body_gives_its_momentum) {
  for (uint32_t kind = OOZE_BODY_RIGID; kind <= OOZE_BODY_SOFT; kind++) {
    double change;
    const double slips = glides(kind, 0.0f, &change), clings = glides(kind, 1.0f, &change);
    printf("kind %u: %.4f m/s, without friction %.4f; momentum changed by %.1e\n", kind, clings,
           slips, change);
    CHECK(change < 1e-4, "kind %u: %g", kind, change);
    CHECK(clings < 0.93 * slips, "kind %u: %g m/s, without friction %g", kind, clings, slips);
  }
}

/* The longest link, over its length at rest, of a soft ball that has sunk into a block of honey for
 * a second: of particles that were next to each other. */
static double longest_link(void) {
  static float rest[MOST][3];
  ooze_solver *s = make(0.0f, -9.81f);
  const ooze_material m = honey();
  ooze_collider_desc c;
  ooze_collider tank;
  ooze_body_desc b;
  ooze_body body;
  uint32_t index, n = 0;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  ooze_body_desc_default(&b);
  const uint32_t all = lattice(8, 8, 8, -4.0f * d, -8.0f * d, -4.0f * d, speed);
  for (uint32_t i = 0; i < all; i++) {
    const float x[3] = {speed[i][0], speed[i][1] + 4.0f * d, speed[i][2]};
    if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 16.0f * d * d) continue;
    for (int k = 0; k < 3; k++) place[n][k] = speed[i][k];
    n++;
  }
  b.kind = OOZE_BODY_SOFT, b.count = n, b.positions = (const float(*)[3])place, b.friction = 0.5f;
  CHECK_OK(ooze_body_add(s, &b, &body), s);
  fluid(s, lattice(14, 6, 14, -7.0f * d, -14.0f * d, -7.0f * d, place), index);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.invert = 1;
  c.half[0] = c.half[2] = 7.0f * d, c.half[1] = 14.0f * d;
  CHECK_OK(ooze_collider_add(s, &c, &tank), s);
  for (int k = 0; k < 192; k++) CHECK_OK(ooze_step(s, STEP), s);
  read(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_REST, 0, ooze_particle_count(s), 0, rest), s);
  double most = 0.0;
  for (uint32_t i = 0; i < ooze_particle_count(s); i++)
    for (uint32_t j = 0; owner[i] && j < i; j++) {
      double now = 0.0, then = 0.0;
      for (int k = 0; owner[j] && k < 3; k++) {
        now += pow((double)(place[i][k] - place[j][k]), 2.0);
        then += pow((double)(rest[i][k] - rest[j][k]), 2.0);
      }
      if (then > 0.0 && then < 1.21 * (double)(d * d)) most = fmax(most, sqrt(now / then));
    }
  ooze_solver_destroy(s);
  return most;
}

/* Honey plucked particles off it: one that stands out felt all of the fluid around it in full. */
OZ_CASE(a_soft_ball_stays_whole_in_honey) {
  const double most = longest_link();
  printf("longest link %.2f of its length\n", most);
  CHECK(most > 1.0 && most < 2.0, "%g", most);
}

/* m: mean height over a flat body of half a ball of fluid that its tension has shaped. */
static double beads(float adhesion) {
  ooze_solver *s = make(0.0f, 0.0f);
  ooze_material m = honey();
  uint32_t index, n = 0;
  m.viscosity = 1.0f, m.surface_tension = 0.5f, m.adhesion = adhesion;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  const float half = 8.0f * d;
  (void)solid(s, lattice(16, 3, 16, -half, -3.0f * d, -half, place), 0.0f, 1);
  const uint32_t all = lattice(12, 6, 12, -6.0f * d, 0.0f, -6.0f * d, speed);
  for (uint32_t i = 0; i < all; i++) {
    const float *x = speed[i];
    if (x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > 25.0f * d * d) continue;
    for (int k = 0; k < 3; k++) place[n][k] = x[k];
    n++;
  }
  fluid(s, n, index);
  for (int k = 0; k < 48; k++) CHECK_OK(ooze_step(s, STEP), s);
  read(s);
  double sum = 0.0;
  for (uint32_t i = 0; i < ooze_particle_count(s); i++)
    if (!owner[i]) sum += (double)place[i][1] / n;
  ooze_solver_destroy(s);
  return sum;
}

OZ_CASE(adhesion_is_that_of_bodies_too) {
  const double none = beads(0.0f), some = beads(1.0f), wets = beads(2.0f);
  printf("mean height: %.5f m with adhesion 0, %.5f with 1, %.5f with 2\n", none, some, wets);
  CHECK(none > 1.05 * some && some > 1.05 * wets, "%g, %g, %g m", none, some, wets);
}
OZ_TEST_MAIN()
