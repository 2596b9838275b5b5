/* Fluids that mix: diffusion, conservation, and particles that take no part. A small version of
 * `ooze verify fluids`. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"
#include "solver_kit.h"

static const float D = 0.05f;
enum { SIDE = 4, TALL = 16, COUNT = SIDE * SIDE * TALL };

/* A column of two halves, 1000 kg/m^3 and 20 Pa s below 500 and 5; no gravity. */
static ooze_solver *column(float lower, float upper, uint32_t threads) {
  ooze_params params;
  ooze_collider_desc c;
  ooze_collider box;
  static float x[COUNT / 2][3];
  ooze_solver *s = threaded_solver(D, threads);
  ooze_params_default(&params);
  params.gravity[1] = 0;
  params.substeps = 1;
  CHECK_EQ(ooze_params_set(s, &params), OOZE_OK);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.invert = 1, c.friction = 0;
  c.half[0] = c.half[2] = 0.5f * SIDE * D, c.half[1] = 0.5f * TALL * D;
  CHECK_EQ(ooze_collider_add(s, &c, &box), OOZE_OK);
  for (int k = 0; k < 2; k++) {
    ooze_material m;
    ooze_particles p;
    ooze_material_default(&m);
    m.density = k ? 500.0f : 1000.0f, m.viscosity = k ? 5.0f : 20.0f, m.mixing = k ? upper : lower;
    ooze_particles_default(&p);
    CHECK_EQ(ooze_material_add(s, &m, &p.material), OOZE_OK);
    for (int i = 0; i < COUNT / 2; i++) {
      const int at[3] = {i % SIDE, i / (SIDE * SIDE), i / SIDE % SIDE};
      for (int a = 0; a < 3; a++)
        x[i][a] = D * ((float)at[a] + 0.5f) - c.half[a] + (a == 1 && k ? c.half[1] : 0.0f);
    }
    p.count = COUNT / 2, p.positions = x;
    CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  }
  return s;
}
static double read(ooze_solver *s, ooze_attribute what, uint32_t i) {
  float v;
  CHECK_EQ(ooze_attribute_read(s, what, i, 1, 0, &v), OOZE_OK);
  return (double)v;
}
static void steps(ooze_solver *s, int n) {
  for (int k = 0; k < n; k++) CHECK(ooze_step(s, 1.0 / 120.0) >= 0, "%s", ooze_solver_message(s));
}

OZ_CASE(values_diffuse_by_the_error_function_and_their_sum_is_kept) {
  ooze_solver *s = column(0.02f, 0.02f, 1);
  double off = 0, sum = 0, thick = 0;
  steps(s, 48);
  for (uint32_t i = 0; i < COUNT; i++) {
    float x[3];
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), OOZE_OK);
    const double expect = 0.5 * erfc((double)x[1] / sqrt(4.0 * 0.02 * 0.4));
    off += pow(read(s, OOZE_DENSITY, i) / 500.0 - 1.0 - expect, 2) / COUNT;
    sum += read(s, OOZE_DENSITY, i), thick += read(s, OOZE_VISCOSITY, i);
  }
  CHECK(sqrt(off) < 0.03, "differs from the error function by %g", sqrt(off));
  CHECK_NEAR(sum, 750.0 * COUNT, 1e-5 * 750.0 * COUNT, "roundings");
  CHECK_NEAR(thick, 12.5 * COUNT, 1e-5 * 12.5 * COUNT, "roundings");
  ooze_solver_destroy(s);
}

OZ_CASE(a_fluid_that_does_not_mix_stays_as_it_is) {
  ooze_solver *s = column(0.02f, 0.0f, 1);
  steps(s, 6);
  for (uint32_t i = 0; i < COUNT; i++)
    CHECK_NEAR(read(s, OOZE_DENSITY, i), i < COUNT / 2 ? 1000.0 : 500.0, 1e-3,
               "the harmonic mean with 0 is 0");
  ooze_solver_destroy(s);
}

OZ_CASE(any_rate_is_stable_and_has_the_same_bits_on_three_threads) {
  ooze_solver *a = column(100.0f, 100.0f, 1), *b = column(100.0f, 100.0f, 3);
  uint64_t h[2];
  steps(a, 6), steps(b, 6);
  for (uint32_t i = 0; i < COUNT; i++)
    CHECK(read(a, OOZE_DENSITY, i) > 499.0 && read(a, OOZE_DENSITY, i) < 1001.0, "%g kg/m^3",
          read(a, OOZE_DENSITY, i));
  CHECK_EQ(ooze_state_hash(a, &h[0]), OOZE_OK);
  CHECK_EQ(ooze_state_hash(b, &h[1]), OOZE_OK);
  CHECK(h[0] == h[1], "three threads give other bits than one");
  ooze_solver_destroy(a);
  ooze_solver_destroy(b);
}
OZ_TEST_MAIN()
