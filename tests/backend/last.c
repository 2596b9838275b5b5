/* The length of the last step of conjugate gradients, which is found without another walk over the
 * neighbours, is that of such a walk. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend
 * TIMEOUT 60 */
#include "check.h"
#include "solver_kit.h"
#include "core/solver.h"

enum { SIDE = 9, BLOCK = SIDE * SIDE * SIDE };
static const float separation = 0.02f;

static struct {
  const oz_backend_table *table;
  int seen, walls;
  double worst; /* of p . A p */
} probe;

static float random_float(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

/* Wherever cg_apply is asked for, cg_last is asked first. */
static ooze_result probed_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                              ooze_message *why) {
  if (stage == OZ_STAGE_cg_apply) {
    double last[4], whole[4];
    CHECK(probe.table->run(b, f, OZ_STAGE_cg_last, last, why) == OOZE_OK, "%s", why->text);
    CHECK(probe.table->run(b, f, OZ_STAGE_cg_apply, whole, why) == OOZE_OK, "%s", why->text);
    CHECK(whole[0] > 0.0, "%g", whole[0]);
    CHECK_NEAR(last[1] / whole[1], 1.0, 1e-6, "the same sum");
    probe.worst = fmax(probe.worst, fabs(last[0] / whole[0] - 1.0));
    probe.seen++, probe.walls += f->wall_count > 0;
    if (sums) memcpy(sums, whole, sizeof whole);
    return OOZE_OK;
  }
  return probe.table->run(b, f, stage, sums, why);
}

/* A block in disorder, every third particle of it three times lighter; with `friction` between two
 * walls that shear it, or by itself where it is below 0. */
static void probe_block(float friction, float relaxation) {
  static float x[BLOCK][3];
  uint32_t state = 3, material[2];
  ooze_solver *s = serial_solver(separation);
  for (uint32_t k = 0; k < 2; ++k) {
    uint32_t n = 0;
    ooze_material m;
    ooze_particles add;
    ooze_material_default(&m);
    m.density = k ? 333.0f : 1000.0f, m.viscosity = 20.0f, m.relaxation_time = relaxation;
    CHECK_OK(ooze_material_add(s, &m, &material[k]), s);
    for (uint32_t i = 0; i < BLOCK; ++i) {
      const uint32_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
      if ((i % 3 == 0) != k) continue;
      for (int c = 0; c < 3; ++c)
        x[n][c] = separation * ((float)at[c] + 0.6f + 0.3f * random_float(&state));
      ++n;
    }
    ooze_particles_default(&add);
    add.count = n, add.material = material[k], add.positions = x;
    CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  }
  /* a floor, and a wall that it meets in an edge */
  for (int k = 0; k < 2 && friction >= 0.0f; ++k) {
    ooze_collider_desc wall;
    ooze_collider_desc_default(&wall);
    wall.shape = OOZE_SHAPE_PLANE, wall.friction = friction;
    if (k)
      wall.start.rotation[2] = wall.end.rotation[2] = -0.70710678f,
      wall.start.rotation[3] = wall.end.rotation[3] = 0.70710678f;
    CHECK_OK(ooze_collider_add(s, &wall, NULL), s);
  }
  CHECK_OK(ooze_step(s, 0.02), s);
  oz_backend_table table = *s->backend->table;
  memset(&probe, 0, sizeof probe);
  probe.table = s->backend->table;
  table.run = probed_run;
  s->backend->table = &table;
  CHECK_OK(ooze_step(s, 0.01), s);
  s->backend->table = probe.table;
  CHECK(probe.seen > 3, "%d", probe.seen);
  CHECK((probe.walls > 0) == (friction >= 0.0f), "%d of %d", probe.walls, probe.seen);
  printf("  friction %g, relaxation %g s: off by %.2g of itself\n", (double)friction,
         (double)relaxation, probe.worst);
  CHECK(probe.worst < 1e-4, "%g", probe.worst);
  ooze_solver_destroy(s);
}

OZ_CASE(of_a_fluid_by_itself) { probe_block(-1.0f, 0.0f); }
OZ_CASE(at_walls_without_friction) { probe_block(0.0f, 0.0f); }
OZ_CASE(at_walls_with_some_friction) { probe_block(0.3f, 0.0f); }
OZ_CASE(at_walls_that_hold_on) { probe_block(1.0f, 0.0f); }
OZ_CASE(of_what_remembers_its_shape) { probe_block(0.5f, 0.2f); }

OZ_TEST_MAIN()
