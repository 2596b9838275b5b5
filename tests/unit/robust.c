/* Extreme but allowed input: whatever happens, every number stays finite, and one strange particle
 * does not take the others with it. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "solver_kit.h"

enum { SIDE = 7, N = SIDE * SIDE * SIDE };
static const float d = 0.02f;

static ooze_solver *make(uint32_t isa) {
  ooze_collider_desc c;
  ooze_material m;
  static float p[N][3];
  ooze_solver_desc desc = cpu_desc(d, OOZE_TASKS_SERIAL);
  desc.isa = isa;
  ooze_solver *s = solver_of(&desc);
  ooze_material_default(&m);
  m.relaxation_time = 0.1f;
  m.compliance = 1e-3f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  ooze_collider_desc_default(&c);
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  lattice_cube(p, SIDE, d, 0, 0.5f * d, 0);
  add_particles(s, 0, N, p);
  return s;
}

static void check_finite(ooze_solver *s, const char *what) {
  static const ooze_attribute all[] = {OOZE_POSITION, OOZE_VELOCITY, OOZE_CONFORMATION,
                                       OOZE_COMPRESSION, OOZE_STRESS};
  for (size_t a = 0; a < sizeof all / sizeof *all; ++a) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    CHECK_EQ(ooze_attribute_describe(all[a], &info), OOZE_OK);
    for (uint32_t i = 0; i < ooze_particle_count(s); ++i) {
      float v[6];
      CHECK_OK(ooze_attribute_read(s, all[a], i, 1, 0, v), s);
      for (uint32_t k = 0; k < info.components; ++k)
        CHECK(isfinite(v[k]) || all[a] == OOZE_STRESS, "%s: %s[%u] of rank %u is %g", what,
              info.name, k, i, (double)v[k]);
    }
  }
}

typedef struct strange {
  const char *what;
  ooze_attribute attribute;
  float value[6];
} strange;

static const strange list[] = {
    {"density 1e5", OOZE_DENSITY, {1e5f}},
    {"density 1", OOZE_DENSITY, {1}},
    {"viscosity 1e12", OOZE_VISCOSITY, {1e12f}},
    {"viscosity 1e-30", OOZE_VISCOSITY, {1e-30f}},
    {"relaxation time 1e30", OOZE_RELAXATION_TIME, {1e30f}},
    {"relaxation time 1e-30", OOZE_RELAXATION_TIME, {1e-30f}},
    {"relaxation time 0", OOZE_RELAXATION_TIME, {0}},
    {"compliance 0", OOZE_COMPLIANCE, {0}},
    {"compliance 1e30", OOZE_COMPLIANCE, {1e30f}},
    {"stretch 1e6", OOZE_CONFORMATION, {1e6f, 1e-6f, 1, 0, 0, 0}},
    {"stretch 1e-30", OOZE_CONFORMATION, {1e-30f, 1e-6f, 1, 0, 0, 0}},
    {"velocity 1e6", OOZE_VELOCITY, {1e6f, -1e6f, 1e6f}},
    {"velocity 1e3", OOZE_VELOCITY, {0, -1e3f, 0}},
    {"force 1e9", OOZE_FORCE, {0, 1e9f, 0}},
    {"on top of another", OOZE_POSITION, {3 * 0.02f, 3.5f * 0.02f, 3 * 0.02f}},
    {"almost on top of another", OOZE_POSITION, {3 * 0.02f + 1e-7f, 3.5f * 0.02f, 3 * 0.02f}},
    {"below the floor", OOZE_POSITION, {3 * 0.02f, -0.5f, 3 * 0.02f}},
    {"far away", OOZE_POSITION, {19999, 19999, -19999}},
};
enum { STRANGE = (int)(sizeof list / sizeof *list) };

static void one(uint32_t isa) {
  for (int i = 0; i < STRANGE; ++i) {
    ooze_solver *s = make(isa);
    ooze_result r = OOZE_OK;
    uint32_t contained = 0;
    CHECK_OK(ooze_attribute_write(s, list[i].attribute, 0, 1, 0, list[i].value), s);
    for (int step = 0; step < 4 && r >= 0; ++step) {
      ooze_stats t;
      ooze_stats_default(&t);
      r = ooze_step(s, 1.0 / 48);
      CHECK_OK(ooze_stats_get(s, &t), s);
      contained += t.contained;
      check_finite(s, list[i].what);
    }
    printf("  one with %s: %s, %u resets\n", list[i].what, ooze_result_name(r), contained);
    CHECK(r >= 0, "%s: %s: %s", list[i].what, ooze_result_name(r), ooze_solver_message(s));
    ooze_solver_destroy(s);
  }
}
OZ_CASE(one_strange_particle_does_not_take_the_others_with_it) { one(OOZE_ISA_AUTO); }
OZ_CASE(nor_in_the_scalar_build) { one(OOZE_ISA_SCALAR); }

OZ_CASE(all_particles_strange_is_finite_or_reported) {
  for (int i = 0; i < STRANGE; ++i) {
    ooze_solver *s = make(OOZE_ISA_AUTO);
    ooze_result r = OOZE_OK;
    for (uint32_t k = 0; k < N; ++k)
      CHECK_OK(ooze_attribute_write(s, list[i].attribute, k, 1, 0, list[i].value), s);
    for (int step = 0; step < 3 && r >= 0; ++step) {
      r = ooze_step(s, 1.0 / 48);
      check_finite(s, list[i].what);
    }
    CHECK(r >= 0 || r == OOZE_LOST_DIVERGED, "%s: %s: %s", list[i].what, ooze_result_name(r),
          ooze_solver_message(s));
    printf("  all with %s: %s\n", list[i].what, ooze_result_name(r));
    if (r < 0) { /* lost: refuses to go on, and can be cleared */
      CHECK_EQ(ooze_step(s, 0.01), OOZE_LOST_DIVERGED);
      CHECK_EQ(ooze_checkpoint_save(s, NULL, 0, NULL), OOZE_LOST_DIVERGED);
      CHECK_OK(ooze_particles_clear(s), s);
      CHECK_OK(ooze_step(s, 0.01), s);
    }
    ooze_solver_destroy(s);
  }
}

OZ_TEST_MAIN()
