/* The rest filter as the linear map that it is: two sweeps remove as much as three did, and no
 * motion gains by it. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend */
#include "check.h"
#include "solver_kit.h"
#include "core/solver.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 9, BLOCK = SIDE * SIDE * SIDE };
static const float separation = 0.02f;

/* A test's work on the frame once `finish` has set the gates; the velocities are put back
 * afterwards. */
static struct {
  const oz_backend_table *table;
  void (*look)(oz_backend *b, oz_frame *f);
  int done;
} probe;

static float random_float(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}
static void shake(oz_frame *f, float *to) {
  uint32_t state = 5;
  for (uint32_t i = 0; i < f->count; ++i)
    for (uint32_t c = 0; c < 3; ++c) to[4 * (size_t)i + c] = random_float(&state);
}
static void sweep(oz_backend *b, oz_frame *f, float factor) {
  ooze_message why = {""};
  f->filter_factor = factor;
  CHECK(probe.table->run(b, f, OZ_STAGE_filter_gradient, NULL, &why) == OOZE_OK, "%s", why.text);
  CHECK(probe.table->run(b, f, OZ_STAGE_filter_move, NULL, &why) == OOZE_OK, "%s", why.text);
  float *u = f->u;
  f->u = f->u2, f->u2 = u;
}
static double energy(const oz_frame *f) { /* over that of m_ref */
  double sum = 0.0;
  for (size_t i = 0; i < f->count; ++i)
    for (size_t c = 0; c < 3; ++c)
      sum += (double)f->u[4 * i + c] * (double)f->u[4 * i + c] / (double)f->omega[i];
  return sum;
}

static ooze_result probed_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                              ooze_message *why) {
  ooze_result r = probe.table->run(b, f, stage, sums, why);
  if (stage != OZ_STAGE_finish || probe.done++) return r;
  oz_frame copy = *f;
  copy.start = copy.p; /* as the model has it from here on */
  const size_t bytes = 4 * sizeof(float) * f->count;
  float *u = malloc(bytes);
  CHECK(u != NULL);
  memcpy(u, f->u, bytes);
  probe.look(b, &copy);
  memcpy(f->u, u, bytes);
  free(u);
  return r;
}

/* A block in disorder, every `nth` particle of it `ratio` times lighter than the others; after some
 * steps, in free fall. */
static void probe_block(uint32_t nth, float ratio, void (*look)(oz_backend *b, oz_frame *f)) {
  static float x[BLOCK][3];
  uint32_t state = 3, material[2];
  ooze_solver *s = serial_solver(separation);
  for (int k = 0; k < 2; ++k) {
    ooze_material m;
    ooze_material_default(&m);
    m.density = k ? 1000.0f / ratio : 1000.0f, m.viscosity = 1.0f;
    CHECK_OK(ooze_material_add(s, &m, &material[k]), s);
  }
  for (uint32_t k = 0; k < 2; ++k) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < BLOCK; ++i) {
      const uint32_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
      if ((nth && i % nth == 0) != k) continue;
      for (int c = 0; c < 3; ++c)
        x[n][c] = separation * ((float)at[c] + 0.3f * random_float(&state));
      ++n;
    }
    if (!n) continue;
    ooze_particles add;
    ooze_particles_default(&add);
    add.count = n, add.material = material[k], add.positions = x;
    CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  }
  CHECK_OK(ooze_step(s, 0.02), s);
  oz_backend_table table = *s->backend->table;
  probe.table = s->backend->table, probe.look = look, probe.done = 0;
  table.run = probed_run;
  s->backend->table = &table;
  CHECK_OK(ooze_step(s, 0.002), s);
  s->backend->table = probe.table;
  CHECK(probe.done);
  ooze_solver_destroy(s);
}

/* The two sweeps are applied to their own result again and again: an amplified motion would be all
 * that is left. */
static void gains_nothing(oz_backend *b, oz_frame *f) {
  double before = 1.0, after = 1.0;
  shake(f, f->u);
  for (int k = 0; k < 60; ++k) {
    before = energy(f);
    for (uint32_t n = 0; n < 2; ++n) sweep(b, f, OZ_FILTER_FACTOR(n, 2));
    after = energy(f);
    const float back = (float)sqrt((double)f->count / after);
    for (size_t i = 0; i < f->count; ++i)
      for (size_t c = 0; c < 3; ++c) f->u[4 * i + c] *= back;
  }
  /* gates that differ: smooth motion gains up to 0.1% in a substep with any factor */
  CHECK(after <= before * 1.005, "%g of the energy", after / before);
}
OZ_CASE(no_motion_gains_by_the_filter) { probe_block(0, 1.0f, gains_nothing); }
OZ_CASE(no_motion_gains_where_few_are_light) { probe_block(31, 3.3f, gains_nothing); }
OZ_CASE(no_motion_gains_where_few_are_much_lighter) { probe_block(31, 100.0f, gains_nothing); }
OZ_CASE(no_motion_gains_where_half_are_light) { probe_block(2, 10.0f, gains_nothing); }

static void leaves_as_little(oz_backend *b, oz_frame *f) {
  double left[4];
  for (uint32_t n = 2; n < 4; ++n) {
    shake(f, f->u);
    for (uint32_t k = 0; k < n; ++k) sweep(b, f, OZ_FILTER_FACTOR(k, n));
    left[n] = energy(f);
  }
  CHECK(left[2] <= left[3], "two sweeps leave %g, three %g", left[2], left[3]);
}
OZ_CASE(two_sweeps_leave_as_little_jitter_as_three) { probe_block(0, 1.0f, leaves_as_little); }

static void keeps_a_twist(oz_backend *b, oz_frame *f) { /* affine motion is not the filter's */
  for (size_t i = 0; i < f->count; ++i) {
    const float *x = f->start + 4 * i;
    f->u[4 * i] = 3.0f * x[1] - x[0], f->u[4 * i + 1] = -2.0f * x[0] + x[2],
             f->u[4 * i + 2] = 0.5f + x[1];
  }
  const double before = energy(f);
  float was[3] = {f->u[4], f->u[5], f->u[6]};
  for (uint32_t n = 0; n < 2; ++n) sweep(b, f, OZ_FILTER_FACTOR(n, 2));
  CHECK_NEAR(energy(f) / before, 1.0, 1e-5, "rounding");
  for (int c = 0; c < 3; ++c) CHECK_NEAR(f->u[4 + c], was[c], 1e-5, "rounding of speeds up to 1");
}
OZ_CASE(affine_motion_passes) { probe_block(0, 1.0f, keeps_a_twist); }

OZ_TEST_MAIN()
