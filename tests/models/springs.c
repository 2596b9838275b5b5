/* The model springs against the paper's own order of doing things, and its own promises.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS models LIBRARIES ooze_verify */
#include "check.h"
#include "solver_kit.h"
#include "verify/springs_printed.h"

enum { SIDE = 7, N = SIDE * SIDE * SIDE };
static const float d = 0.01f;
/* h over d with the paper's typical values (models/springs.c) */
static const double RATIO = 2.6797;

static ooze_solver *solver(const ooze_params *p, uint32_t tasks, uint32_t threads) {
  ooze_solver_desc desc = cpu_desc(d, tasks);
  desc.threads = threads;
  ooze_solver *s = solver_of(&desc);
  CHECK_OK(ooze_params_set(s, p), s);
  return s;
}
static void params(ooze_params *p, float gravity) {
  ooze_params_default(p);
  p->model = OOZE_MODEL_SPRINGS;
  p->substeps = 1;
  p->gravity[1] = gravity;
}
/* A block of the given sides, `squeeze` of d apart, its lowest layer at y0. */
static void block(ooze_solver *s, int nx, int ny, int nz, float squeeze, float y0) {
  float *x = malloc((size_t)(nx * ny * nz) * 12);
  ooze_particles add;
  for (int i = 0; i < nx * ny * nz; i++) {
    x[3 * i] = squeeze * d * (float)(i % nx);
    x[3 * i + 1] = y0 + squeeze * d * (float)(i / nx % ny);
    x[3 * i + 2] = squeeze * d * (float)(i / nx / ny);
  }
  ooze_particles_default(&add);
  add.count = (uint32_t)(nx * ny * nz);
  add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  free(x);
}
static void floor_at_zero(ooze_solver *s, float friction) {
  ooze_collider_desc c;
  ooze_collider handle;
  ooze_collider_desc_default(&c);
  c.friction = friction;
  CHECK_OK(ooze_collider_add(s, &c, &handle), s);
}
static double unit(void) { return sqrt(0.01 * RATIO * (double)d / 9.81); } /* s: T */

/* mean square distance from the middle; mean height */
static void spread(const float *x, double scale, int n, double out[2]) {
  double mean[3] = {0, 0, 0}, sum = 0;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) mean[c] += (double)x[3 * i + c] / n;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) sum += pow((double)x[3 * i + c] - mean[c], 2) / n;
  out[0] = sqrt(sum) * scale;
  out[1] = mean[1] * scale;
}

/* The same block in both: `steps` of dt = 1 T. Greatest difference of width and of height over the
 * run, over the width. */
static void compare(float gravity, int springs, float viscosity, int steps, double worst[2]) {
  ooze_params p;
  const double h = RATIO * (double)d, T = unit();
  params(&p, gravity);
  p.springs_mode = springs ? OOZE_SPRINGS_FLOW : OOZE_SPRINGS_OFF;
  p.springs_viscosity = viscosity;
  ooze_solver *s = solver(&p, OOZE_TASKS_SERIAL, 1);
  block(s, SIDE, SIDE, SIDE, 0.95f, 0.5f * d);
  if (gravity < 0) floor_at_zero(s, 1.0f);
  float *x = malloc(N * 12);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, N, 0, x), s);
  printed r;
  CHECK(printed_open(&r, N, springs), "memory");
  for (int i = 0; i < N; i++)
    for (int c = 0; c < 3; c++) r.x[i][c] = (double)x[3 * i + c] / h;
  r.gravity = (double)gravity * T * T / h, r.sigma = (double)viscosity, r.friction = 1.0;
  r.has_floor = gravity < 0, r.gap = 0.5 * (double)d / h;
  worst[0] = worst[1] = 0.0;
  float *y = malloc(N * 12);
  for (int k = 0; k < steps; k++) {
    double a[2], b[2];
    CHECK_OK(ooze_step(s, T), s);
    printed_step(&r);
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, N, 0, x), s);
    for (int i = 0; i < N; i++)
      for (int c = 0; c < 3; c++) y[3 * i + c] = (float)r.x[i][c];
    spread(x, 1.0 / h, N, a);
    spread(y, 1.0, N, b);
    if (getenv("OZ_VERBOSE") && k % 10 == 9)
      printf("    step %3d: width %.3f %.3f, height %.3f %.3f h\n", k + 1, a[0], b[0], a[1], b[1]);
    worst[0] = fmax(worst[0], fabs(a[0] - b[0]) / b[0]);
    worst[1] = fmax(worst[1], fabs(a[1] - b[1]) / b[0]);
  }
  printf("  gravity %g, springs %d, sigma %g: width differs by %.3f, height by %.3f of the width\n",
         (double)gravity, springs, (double)viscosity, worst[0], worst[1]);
  free(x), free(y);
  printed_close(&r);
  ooze_solver_destroy(s);
}

OZ_CASE(a_drop_without_springs_moves_as_in_the_papers_order) {
  double worst[2];
  compare(0.0f, 0, 0.0f, 40, worst);
  /* a first-order scheme at dt = T: the order of pairs is worth a few percent */
  CHECK(worst[0] < 0.02, "width %g", worst[0]);
  compare(0.0f, 0, 0.5f, 40, worst);
  CHECK(worst[0] < 0.02, "width %g", worst[0]);
}
OZ_CASE(a_block_with_springs_moves_as_in_the_papers_order) {
  double worst[2];
  compare(0.0f, 1, 0.0f, 40, worst);
  CHECK(worst[0] < 0.05, "width %g", worst[0]);
  compare(-9.81f, 1, 0.0f, 40, worst);
  CHECK(worst[0] < 0.1 && worst[1] < 0.1, "width %g, height %g", worst[0], worst[1]);
}

/* ---- its own promises ---- */

static void momentum(ooze_solver *s, double out[3], double *energy) {
  ooze_stats t;
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  memcpy(out, t.momentum, sizeof t.momentum);
  *energy = t.kinetic_energy;
}
OZ_CASE(momentum_is_kept_between_unlike_masses) {
  ooze_params p;
  ooze_material m;
  uint32_t heavy;
  params(&p, 0.0f);
  p.springs_viscosity = 0.5f;
  ooze_solver *s = solver(&p, OOZE_TASKS_SERIAL, 1);
  ooze_material_default(&m);
  m.density = 3000.0f;
  CHECK_OK(ooze_material_add(s, &m, &heavy), s);
  block(s, SIDE, SIDE, SIDE, 0.9f, 0.0f);
  uint32_t material[N];
  float v[N][3];
  for (int i = 0; i < N; i++) {
    material[i] = i % 2 ? heavy : 0;
    v[i][0] = i % 2 ? -0.2f : 0.6f, v[i][1] = 0.1f, v[i][2] = 0.05f * (float)(i % 3 - 1);
  }
  CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, 0, N, 0, material), s);
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, N, 0, v), s);
  double before[3], after[3], energy, later;
  momentum(s, before, &energy);
  for (int k = 0; k < 20; k++) CHECK_OK(ooze_step(s, 0.005), s);
  momentum(s, after, &later);
  const double size = N * 2.0 * 1e-3 * 0.3; /* kg m/s: all of it in one direction */
  for (int c = 0; c < 3; c++)
    CHECK_NEAR(after[c], before[c], 2e-5 * size, "20 steps of single precision");
  CHECK(later < 0.5 * energy, "%g of %g J left: the blocks did not mix", later, energy);
  ooze_solver_destroy(s);
}

static double height(ooze_solver *s) { /* m, of the highest over the lowest */
  const uint32_t n = ooze_particle_count(s);
  float *x = malloc((size_t)n * 12), lo = 1e9f, hi = -1e9f;
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  for (uint32_t i = 0; i < n; i++) lo = fminf(lo, x[3 * i + 1]), hi = fmaxf(hi, x[3 * i + 1]);
  free(x);
  return (double)(hi - lo);
}
/* Height of a cube of 8 under its own weight, over that of an elastic one. */
static double slump(uint32_t mode, float plasticity, float yield, uint32_t steps) {
  ooze_params p;
  params(&p, -9.81f);
  p.springs_mode = OOZE_SPRINGS_SET;
  p.springs_elasticity = 1.0f;
  p.springs_plasticity_stretch = p.springs_plasticity_compress = plasticity;
  p.springs_yield_stretch = p.springs_yield_compress = yield;
  ooze_solver *s = solver(&p, OOZE_TASKS_SERIAL, 1);
  block(s, 8, 8, 8, 1.0f, 0.5f * d);
  floor_at_zero(s, 1.0f);
  CHECK_OK(ooze_step(s, 0.004), s);
  p.springs_mode = mode;
  CHECK_OK(ooze_params_set(s, &p), s);
  for (uint32_t k = 0; k < steps; k++) CHECK_OK(ooze_step(s, 0.004), s);
  double h = height(s);
  printf("  mode %u, alpha %g, gamma %g: %.2f separations high\n", mode, (double)plasticity,
         (double)yield, h / (double)d);
  ooze_solver_destroy(s);
  return h / (double)d;
}
/* Fig. 5 and 12: elastic stands, plastic sags, a liquid runs away; a yield ratio stops the sagging.
 */
OZ_CASE(elastic_stands_plastic_sags_and_a_liquid_runs_away) {
  double elastic = slump(OOZE_SPRINGS_HOLD, 0.0f, 0.1f, 100),
         plastic = slump(OOZE_SPRINGS_FLOW, 0.3f, 0.0f, 100);
  double clay = slump(OOZE_SPRINGS_FLOW, 0.3f, 0.1f, 100),
         liquid = slump(OOZE_SPRINGS_OFF, 0.3f, 0.1f, 100);
  CHECK(elastic > 5.0, "%g of 7", elastic);
  CHECK(plastic < elastic - 0.5 && liquid < plastic - 0.5, "elastic %g, plastic %g, liquid %g",
        elastic, plastic, liquid);
  CHECK(clay > plastic, "gamma 0.1: %g, gamma 0: %g", clay, plastic);
}

OZ_CASE(fluid_sticks_beneath_a_wall_and_falls_without_stickiness) {
  for (int sticky = 0; sticky < 2; sticky++) {
    ooze_params p;
    ooze_collider_desc c;
    ooze_collider handle;
    params(&p, -9.81f);
    p.springs_stick = sticky ? 0.3f : 0.0f;
    p.springs_stick_distance = 1.0f;
    ooze_solver *s = solver(&p, OOZE_TASKS_SERIAL, 1);
    ooze_collider_desc_default(&c);
    c.shape = OOZE_SHAPE_BOX;
    c.half[0] = c.half[2] = 0.2f, c.half[1] = 0.02f;
    /* its lower side is just above the fluid */
    c.start.position[1] = c.end.position[1] = 0.02f + 0.6f * d;
    CHECK_OK(ooze_collider_add(s, &c, &handle), s);
    block(s, 8, 2, 8, 1.0f, -d);
    for (int k = 0; k < 60; k++) CHECK_OK(ooze_step(s, 0.004), s);
    float x[128][3], lowest = 1e9f;
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, 128, 0, x), s);
    for (int i = 0; i < 128; i++) lowest = fminf(lowest, x[i][1]);
    if (sticky)
      CHECK(lowest > -5.0f * d, "it fell to %g m", (double)lowest);
    else
      CHECK(lowest < -10.0f * d, "it hangs at %g m", (double)lowest);
    ooze_solver_destroy(s);
  }
}

OZ_CASE(values_far_too_stiff_for_the_step_are_held_back) {
  ooze_params p;
  params(&p, -9.81f);
  p.springs_stiffness = 4.0f, p.springs_near_stiffness = 10.0f, p.springs_elasticity = 100.0f,
  p.springs_viscosity = 1e4f;
  ooze_solver *s = solver(&p, OOZE_TASKS_SERIAL, 1);
  block(s, 8, 8, 8, 1.0f, 0.5f * d);
  floor_at_zero(s, 0.5f);
  for (int k = 0; k < 40; k++) CHECK_RESULT(ooze_step(s, 1.0 / 120), OOZE_OK, s);
  double m[3], energy;
  momentum(s, m, &energy);
  CHECK(energy < 512 * 1e-3 * 9.81 * 0.08, "%g J: more than it fell for", energy);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
