/* A fluid by itself keeps its momentum and its spin, though the values that particles send have 13
 * bits on the GPU. SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "cuda/host_block.h"

#include "check.h"

enum { EDGE = 10, COUNT = EDGE * EDGE * EDGE, STEPS = 24 };
static const float D = 0.01f;

static float uniform(uint32_t *seed) { /* -1 to 1 */
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(*seed >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

typedef struct whole {
  /* momentum and spin over mass; sums of the particles' own sizes */
  double p[3], l[3], all, turning;
} whole;
static whole of(const float *x, const float *u) {
  whole w;
  double c[3] = {0.0, 0.0, 0.0};
  memset(&w, 0, sizeof w);
  for (uint32_t i = 0; i < COUNT; i++)
    for (int k = 0; k < 3; k++)
      c[k] += (double)x[4 * i + (uint32_t)k] / COUNT, w.p[k] += (double)u[4 * i + (uint32_t)k];
  for (uint32_t i = 0; i < COUNT; i++) {
    double r[3], v[3], r2 = 0.0, v2 = 0.0;
    for (uint32_t k = 0; k < 3; k++)
      r[k] = (double)x[4 * i + k] - c[k], v[k] = (double)u[4 * i + k], r2 += r[k] * r[k],
      v2 += v[k] * v[k];
    for (int k = 0; k < 3; k++)
      w.l[k] += r[(k + 1) % 3] * v[(k + 2) % 3] - r[(k + 2) % 3] * v[(k + 1) % 3];
    w.all += sqrt(v2), w.turning += sqrt(r2 * v2);
  }
  return w;
}
static double apart(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/* A block in free fall, each of whose particles goes its own way at first, on the host loops. */
static void falls(float viscosity, double *momentum, double *spin) {
  static float x[4 * COUNT], u[4 * COUNT], q[6 * COUNT];
  static uint32_t rank[COUNT], material[COUNT];
  static uint64_t id[COUNT];
  uint32_t seed = 7;
  oz_memory memory;
  ooze_message why = {""};
  oz_backend *b = host_loops(&memory);
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t c[3] = {i % EDGE, i / EDGE % EDGE, i / (EDGE * EDGE)};
    for (uint32_t k = 0; k < 3; k++)
      x[4 * i + k] = D * ((float)c[k] + 0.15f * uniform(&seed)),
                u[4 * i + k] = 0.5f * uniform(&seed);
    for (uint32_t k = 0; k < 6; k++) q[k * COUNT + i] = k < 3 ? 1.0f : 0.0f;
    rank[i] = i, id[i] = i + 1;
  }
  const host_block block = {x, u, q, material, rank, id};
  const oz_matter matter = {.density = 1000.0f, .viscosity = viscosity};
  put_block(b, COUNT, &block, &matter);
  ooze_params params;
  ooze_params_default(&params);
  params.velocity_iterations = 20, params.position_iterations = 5;
  memset(params.gravity, 0, sizeof params.gravity);
  oz_step step;
  memset(&step, 0, sizeof step);
  step.backend = b, step.params = &params, step.separation = D;
  step.velocity_iterations = params.velocity_iterations;
  step.position_iterations = params.position_iterations;
  const whole before = of(x, u);
  for (int k = 0; k < STEPS; k++)
    CHECK(oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_X, 0, COUNT, x, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_U, 0, COUNT, u, &why) >= 0, "%s", why.text);
  b->table->destroy(b);
  const whole after = of(x, u);
  *momentum = apart(before.p, after.p) / before.all,
  *spin = apart(before.l, after.l) / before.turning;
}

static void keeps_momentum_and_spin(float viscosity) {
  for (int l = 0; l < 2; l++) { /* as small scenes run, and as large ones */
    double momentum, spin;
    setenv("OOZE_CUDA_LANES", l ? "1" : "16", 1);
    falls(viscosity, &momentum, &spin);
    printf("  %g Pa s, %s: momentum off by %.2g, spin by %.2g\n", (double)viscosity,
           l ? "large" : "small", momentum, spin);
    CHECK(momentum < 1e-7,
          "%g: roundings that stay from one iteration to the next leave 1e-7 to 5e-7", momentum);
    /* no constraint of a substep that moves particles keeps it to rounding */
    CHECK(spin < 2e-3, "%g", spin);
  }
  unsetenv("OOZE_CUDA_LANES");
}

OZ_CASE(a_fluid_by_itself_keeps_momentum_and_spin) { keeps_momentum_and_spin(1.0f); }

OZ_CASE_SLOW(so_do_thin_and_thick_ones) {
  keeps_momentum_and_spin(0.01f), keeps_momentum_and_spin(100.0f);
}

OZ_TEST_MAIN()
