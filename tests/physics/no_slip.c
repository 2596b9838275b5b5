/* No-slip at a wall with friction: fluid pushed along a floor moves as Stokes' first problem has
 * it, and pulls the floor along; a slippery floor does neither. Thin films, and fluid that leaves.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS physics */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "physics/layers.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { LONG = 50, HIGH = 16, DEEP = 4, COUNT = LONG * HIGH * DEEP, STEPS = 20 };
static const float d = 0.01f;
static const double viscosity = 20.0, density = 1000.0, push = 1.0, until = 0.1;

static ooze_collider slab(ooze_solver *s, int axis, float half, float at, float friction) {
  ooze_collider_desc c;
  ooze_collider handle;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.friction = friction;
  c.half[0] = c.half[1] = c.half[2] = 1.0f, c.half[axis] = half;
  c.start.position[axis] = c.end.position[axis] = at;
  CHECK_OK(ooze_collider_add(s, &c, &handle), s);
  return handle;
}

static float memory; /* s: relaxation time of the fluid that is pushed */

/* Speed and height of each layer in the middle of the fluid, mean speed of all; returns the floor's
 * load in N m^-2 of its last step. */
static double pushed(float friction, double speed[HIGH], double where[HIGH], double *mean) {
  ooze_solver *s = cpu_solver(d);
  ooze_params p;
  ooze_params_default(&p);
  p.gravity[0] = (float)push;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.viscosity = (float)viscosity, m.density = (float)density, m.relaxation_time = memory;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  const float side = 0.1f + 0.5f * DEEP * d;
  const ooze_collider floor = slab(s, 1, 0.1f, -0.1f, friction);
  (void)slab(s, 2, 0.1f, side, 0.0f), (void)slab(s, 2, 0.1f, -side, 0.0f);

  static float x[COUNT][3], v[COUNT][3];
  static const uint32_t size[3] = {LONG, HIGH, DEEP};
  lattice_on_floor(x, size, d);
  add_particles(s, index, COUNT, (const float(*)[3])x);
  float force[3] = {0.0f, 0.0f, 0.0f}, torque[3];
  for (int f = 0; f < STEPS; ++f) CHECK_OK(ooze_step(s, until / STEPS), s);
  CHECK_OK(ooze_collider_load(s, floor, force, torque), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, COUNT, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, COUNT, 0, v), s);
  *mean = 0.0;
  for (uint32_t i = 0; i < COUNT; ++i) *mean += (double)v[i][0] / COUNT;
  layer_means(x, v, COUNT, HIGH, d, speed, where);
  ooze_solver_destroy(s);
  return (double)force[0] / ((double)(LONG * DEEP) * (double)(d * d));
}

OZ_CASE(a_floor_with_friction_holds_fluid_as_stokes_has_it) {
  double speed[HIGH], where[HIGH];
  double mean;
  const double nu = viscosity / density, pull = pushed(1.0f, speed, where, &mean);
  for (int l = 0; l < 8; ++l) {
    const double exact = push * until * (1.0 - 4.0 * i2erfc(where[l] / (2.0 * sqrt(nu * until))));
    printf("layer %d: %.5f m/s, exact %.5f\n", l, speed[l], exact);
    CHECK(fabs(speed[l] / exact - 1.0) < (l ? 0.08 : 0.2), "layer %d: %g, exact %g", l, speed[l],
          exact);
  }
  /* 2 rho f sqrt(nu t / pi) */
  const double exact = 2.0 * density * push * sqrt(nu * until / 3.14159265358979);
  printf("pull on the floor: %.2f Pa, exact %.2f\n", pull, exact);
  CHECK(fabs(pull / exact - 1.0) < 0.1, "%g, exact %g", pull, exact);
}

OZ_CASE(a_short_memory_changes_nothing) {
  double plain[HIGH], speed[HIGH], where[HIGH], mean;
  (void)pushed(1.0f, plain, where, &mean);
  memory = 0.005f;
  (void)pushed(1.0f, speed, where, &mean);
  memory = 0.0f;
  printf("lowest layer %.5f m/s, without memory %.5f\n", speed[0], plain[0]);
  for (int l = 0; l < 6; ++l)
    CHECK(fabs(speed[l] / plain[l] - 1.0) < 0.2, "layer %d: %g and %g m/s", l, speed[l], plain[l]);
}

OZ_CASE(a_slippery_floor_holds_nothing) {
  double speed[HIGH], where[HIGH];
  double mean;
  const double pull = pushed(0.0f, speed, where, &mean);
  printf("mean speed %.5f m/s, of the lowest layer %.5f, pull %.3f Pa\n", mean, speed[0], pull);
  CHECK(fabs(mean / (push * until) - 1.0) < 0.02, "%g", mean);
  CHECK(fabs(pull) < 0.5, "%g Pa", pull);
}

enum { WIDE = 24 };

/* Mean of `axis` of positions or velocities in the middle of `layers` sheets of particles `apart`
 * separations apart, beside a wall at 0: after `duration` with this pull. */
static double sheets(int layers, float apart, float friction, const ooze_material *m,
                     const float gravity[3], double duration, ooze_attribute what, int axis) {
  static float x[8 * WIDE * WIDE][3];
  const uint32_t n = (uint32_t)layers * WIDE * WIDE;
  ooze_solver *s = cpu_solver(d);
  ooze_params p;
  uint32_t index;
  ooze_params_default(&p);
  for (int a = 0; a < 3; ++a) p.gravity[a] = gravity[a];
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_OK(ooze_material_add(s, m, &index), s);
  (void)slab(s, 1, 0.1f, -0.1f, friction);
  for (uint32_t i = 0; i < n; ++i) {
    x[i][0] = ((float)(i % WIDE) + 0.5f - 0.5f * WIDE) * apart * d;
    x[i][1] = ((float)(i / (WIDE * WIDE)) + 0.5f) * d;
    x[i][2] = ((float)(i / WIDE % WIDE) + 0.5f - 0.5f * WIDE) * apart * d;
  }
  ooze_particles fluid;
  ooze_particles_default(&fluid);
  fluid.count = n, fluid.material = index, fluid.positions = &x[0][0];
  CHECK_OK(ooze_particles_add(s, &fluid, NULL), s);
  const int steps = (int)(duration * 192.0 + 0.5);
  for (int f = 0; f < steps; ++f) CHECK_OK(ooze_step(s, 1.0 / 192.0), s);
  CHECK_OK(ooze_attribute_read(s, what, 0, n, 0, x), s);
  double sum = 0.0, of = 0.0;
  for (uint32_t i = 0; i < n; ++i)
    if (abs((int)(i % WIDE) - WIDE / 2) < 6 && abs((int)(i / WIDE % WIDE) - WIDE / 2) < 6)
      sum += (double)x[i][axis], of += 1.0;
  ooze_solver_destroy(s);
  return sum / of;
}

static ooze_material thick(double of) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = (float)of;
  return m;
}

OZ_CASE(a_film_of_one_layer_drains_as_one_and_slower_where_it_is_thinner) {
  const ooze_material m = thick(10.0);
  const float along[3] = {2.0f, 0.0f, 0.0f};
  /* rho f h^2 / 3 mu, the mean over a film of the thickness h */
  const double exact = 1000.0 * 2.0 * 1e-4 / 30.0;
  const double full = sheets(1, 1.0f, 1.0f, &m, along, 0.2, OOZE_VELOCITY, 0),
               thin = sheets(1, 1.3f, 1.0f, &m, along, 0.2, OOZE_VELOCITY, 0),
               free = sheets(1, 1.0f, 0.0f, &m, along, 0.2, OOZE_VELOCITY, 0);
  printf("%.5f m/s, exact %.5f; thinner %.5f; without friction %.4f\n", full, exact, thin, free);
  CHECK(full > 0.5 * exact && full < 1.2 * exact, "%g, exact %g", full, exact);
  CHECK(thin < 0.75 * full, "%g and %g m/s", thin, full);
  CHECK(fabs(free / 0.4 - 1.0) < 0.03, "%g", free);
}

OZ_CASE(what_is_thick_lets_go_of_a_ceiling_slowly) {
  const float down[3] = {0.0f, 9.81f, 0.0f}; /* the wall is above */
  const double t = 0.15, fallen = 0.5 * 9.81 * t * t;
  const ooze_material runny = thick(0.01), honey = thick(10.0), tar = thick(100.0);
  ooze_material jelly = thick(0.0);
  jelly.relaxation_time = 1e6f, jelly.compliance = 5e-4f;
  const double start = 1.5 * (double)d;
  ooze_material caramel = thick(60.0);
  caramel.relaxation_time = 0.05f;
  const double of[6] = {sheets(3, 1.0f, 1.0f, &runny, down, t, OOZE_POSITION, 1) - start,
                        sheets(3, 1.0f, 1.0f, &honey, down, t, OOZE_POSITION, 1) - start,
                        sheets(3, 1.0f, 1.0f, &tar, down, t, OOZE_POSITION, 1) - start,
                        sheets(3, 1.0f, 0.0f, &tar, down, t, OOZE_POSITION, 1) - start,
                        sheets(3, 1.0f, 1.0f, &jelly, down, t, OOZE_POSITION, 1) - start,
                        sheets(3, 1.0f, 1.0f, &caramel, down, t, OOZE_POSITION, 1) - start};
  printf(
      "of %.1f mm: runny %.1f, honey %.1f, tar %.1f, slippery %.1f, jelly %.1f, caramel %.1f mm\n",
      1e3 * fallen, 1e3 * of[0], 1e3 * of[1], 1e3 * of[2], 1e3 * of[3], 1e3 * of[4], 1e3 * of[5]);
  CHECK(of[0] > 0.9 * fallen, "%g", of[0]);
  CHECK(of[1] < 0.7 * fallen, "%g", of[1]);
  CHECK(of[2] < 0.1 * fallen, "%g", of[2]);
  CHECK(of[3] > 0.97 * fallen, "%g", of[3]);
  CHECK(of[4] > 0.9 * fallen, "%g", of[4]);
  CHECK(of[5] < 0.1 * fallen, "%g", of[5]);
}

OZ_CASE(what_relaxes_hangs_in_one_piece) {
  /* four layers that weigh 392 Pa, with a modulus of 500 Pa and half a second of memory: flow alone
   * would let them down by less than a separation */
  const float down[3] = {0.0f, 9.81f, 0.0f};
  const double start = 2.0 * (double)d;
  ooze_material slime = thick(250.0);
  slime.relaxation_time = 0.5f;
  const double moved = sheets(4, 1.0f, 1.0f, &slime, down, 0.55, OOZE_POSITION, 1) - start;
  printf("%.2f mm in 0.55 s\n", 1e3 * moved);
  CHECK(moved < 0.5 * (double)d, "%g m", moved);
}

/* A column of 32 by 24 mm between two plates, of which one goes up: its waist over the first, by
 * the mean square of the distance from the axis, since one particle that stands out is no waist;
 * and the fewest particles in a slice, of ten. far: times the distance. */
static double drawn(const ooze_material *m, double rate, float stick, double far,
                    uint32_t *fewest) {
  enum { ACROSS = 16, LAYERS = 12, SLICES = 10 };
  static const double fine = 0.002, dt = 1.0 / 192.0;
  static float x[ACROSS * ACROSS * LAYERS][3];
  ooze_solver *s = cpu_solver((float)fine);
  uint32_t count = 0, index, in[SLICES] = {0};
  double at_start = 0.0;
  CHECK_OK(ooze_material_add(s, m, &index), s);
  ooze_collider_desc c;
  ooze_collider lower, upper;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.half[0] = c.half[2] = 0.1f, c.half[1] = 0.02f, c.stick = stick;
  c.start.position[1] = c.end.position[1] = -0.02f;
  CHECK_OK(ooze_collider_add(s, &c, &lower), s);
  double gap = LAYERS * fine;
  c.start.position[1] = c.end.position[1] = (float)gap + 0.02f;
  CHECK_OK(ooze_collider_add(s, &c, &upper), s);
  for (int i = 0; i < ACROSS * ACROSS * LAYERS; ++i) {
    const double a = (i % ACROSS - 7.5) * fine, b = (i / ACROSS % ACROSS - 7.5) * fine;
    if (hypot(a, b) > 0.016) continue;
    at_start += a * a + b * b;
    x[count][0] = (float)a, x[count][2] = (float)b;
    x[count++][1] = (float)((i / ACROSS / ACROSS + 0.5) * fine);
  }
  add_particles(s, index, count, (const float(*)[3])x);
  while (gap < far * LAYERS * fine) {
    ooze_pose from = c.start, to = c.start;
    from.position[1] = (float)gap + 0.02f, gap += rate * dt, to.position[1] = (float)gap + 0.02f;
    CHECK_OK(ooze_collider_move(s, upper, &from, &to), s);
    CHECK_OK(ooze_step(s, dt), s);
  }
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, count, 0, x), s);
  double square = 0.0;
  uint32_t middle = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const double y = (double)x[i][1], r = hypot((double)x[i][0], (double)x[i][2]);
    const int slice = (int)(y / gap * SLICES);
    if (fabs(y - 0.5 * gap) < fine) square += r * r, ++middle;
    if (slice >= 0 && slice < SLICES) ++in[slice];
  }
  *fewest = count;
  for (int k = 0; k < SLICES; ++k)
    if (in[k] < *fewest) *fewest = in[k];
  ooze_solver_destroy(s);
  return sqrt(2.0 * square / (middle ? middle : 1)) / sqrt(2.0 * at_start / count);
}

typedef struct {
  double rate, far;
  float stick;
} pull;

static void necks(float relaxation_time, const pull *at, int count) {
  ooze_material m = thick(200.0);
  m.relaxation_time = relaxation_time;
  for (int k = 0; k < count; ++k) {
    uint32_t fewest;
    const double waist = drawn(&m, at[k].rate, at[k].stick, at[k].far, &fewest);
    printf("%g m/s to %g: waist %.2f, %u particles in the thinnest slice\n", at[k].rate, at[k].far,
           waist, (unsigned)fewest);
    CHECK(fewest > 40, "torn: %u particles in a slice", (unsigned)fewest);
    /* between a uniform stretch and reverse squeeze flow, each by 10% */
    CHECK(waist > 0.9 * pow(at[k].far, -0.75) && waist < 1.1 * pow(at[k].far, -0.5), "%g", waist);
  }
}

OZ_CASE_SLOW(what_is_thick_necks_between_plates) {
  /* slowly, with plates that stick as well; and so fast that a substep strains it by a twentieth */
  static const pull at[3] = {{0.1, 1.8, 0.0f}, {0.1, 3.5, 1000.0f}, {0.3, 2.5, 1000.0f}};
  necks(0.0f, at, 3);
}

OZ_CASE(what_relaxes_necks_between_plates) {
  static const pull at[3] = {{0.1, 1.4, 1000.0f}, {0.1, 1.8, 1000.0f}, {0.3, 1.8, 1000.0f}};
  necks(0.3f, at, 3);
}

/* Stick of 1000 m/s^2 bears 2 kPa of a layer of 2 mm, more than any of these pulls with. */
static void holds(const char *name, const ooze_material *m, double far) {
  uint32_t fewest;
  const double waist = drawn(m, 0.1, 1000.0f, far, &fewest);
  printf("%s to %g: waist %.2f, %u particles in the thinnest slice\n", name, far, waist,
         (unsigned)fewest);
  CHECK(fewest > 40, "%s: torn, %u particles in a slice", name, (unsigned)fewest);
}

OZ_CASE(stick_holds_pastes_that_are_drawn) {
  ooze_material m = thick(300.0);
  m.density = 2700.0f, m.yield_stress = 70.0f, m.flow_index = 0.85f, m.thinning_time = 10.0f;
  holds("lava", &m, 2.0);
  m = thick(60.0);
  m.density = 1300.0f, m.yield_stress = 150.0f, m.relaxation_time = 0.005f;
  holds("toothpaste", &m, 2.2);
}

OZ_CASE_SLOW(stick_holds_threads_that_are_drawn) {
  ooze_material m = thick(100.0);
  m.density = 1050.0f, m.relaxation_time = 0.5f;
  holds("slime", &m, 3.0);
  m = thick(60.0);
  m.density = 1350.0f, m.relaxation_time = 0.05f;
  holds("caramel", &m, 3.0);
}

OZ_TEST_MAIN()
