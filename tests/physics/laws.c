/* Laws of flow: state that goes through a checkpoint, and the effect of each law on a drop.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
static const float separation = 0.01f;

static ooze_solver *make(const ooze_material *material) {
  ooze_solver *s = cpu_solver(separation);
  uint32_t index = 0;
  if (material) CHECK_OK(ooze_material_add(s, material, &index), s);
  default_floor(s);
  if (!material) return s;

  static float x[COUNT][3];
  for (uint32_t i = 0; i < COUNT; ++i) {
    x[i][0] = separation * (float)(i % SIDE);
    x[i][1] = separation * (0.5f + (float)(i / SIDE % SIDE));
    x[i][2] = separation * (float)(i / SIDE / SIDE);
  }
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = COUNT, add.material = index, add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  return s;
}

static void steps(ooze_solver *s, int n) {
  for (int k = 0; k < n; ++k) CHECK_OK(ooze_step(s, 1.0 / 24), s);
}

/* m: mean height of the particles. */
static double height(ooze_solver *s) {
  static float x[COUNT][3];
  double y = 0;
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, COUNT, 0, x), s);
  for (int i = 0; i < COUNT; ++i) y += (double)x[i][1] / COUNT;
  return y;
}

static ooze_material with_all(void) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 40, m.relaxation_time = 0.1f, m.solvent_viscosity = 5;
  m.thinning_time = 0.5f, m.flow_index = 0.5f, m.extensibility = 4;
  m.second_viscosity = 20, m.second_relaxation_time = 0.5f;
  return m;
}

OZ_CASE(a_resumed_run_with_laws_has_the_same_bits) {
  ooze_material m = with_all();
  for (int paste = 0; paste < 2; ++paste) {
    if (paste) m.yield_stress = 20, m.consistency = 15;
    ooze_solver *s = make(&m), *t = make(NULL);
    steps(s, 3);
    size_t bytes = 0;
    CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
    void *memory = malloc(bytes);
    CHECK_OK(ooze_checkpoint_save(s, memory, bytes, NULL), s);
    CHECK_OK(ooze_checkpoint_load(t, memory, bytes), t);
    CHECK(hash_of(s) == hash_of(t));
    steps(s, 3), steps(t, 3);
    CHECK(hash_of(s) == hash_of(t), "paste %d: the resumed run ends elsewhere", paste);
    free(memory);
    ooze_solver_destroy(s), ooze_solver_destroy(t);
  }
}

OZ_CASE(rates_and_second_stretch_are_state) {
  const ooze_material m = with_all();
  ooze_solver *s = make(&m);
  static float rate[COUNT], second[COUNT][6];
  steps(s, 2);
  CHECK_OK(ooze_attribute_read(s, OOZE_SHEAR_RATE, 0, COUNT, 0, rate), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_SECOND_STRETCH, 0, COUNT, 0, second), s);
  double sum = 0, stretch = 0;
  for (int i = 0; i < COUNT; ++i) sum += (double)rate[i], stretch += fabs((double)second[i][0]);
  CHECK(sum > 0 && stretch > 0, "a slumping block is sheared: %g, %g", sum, stretch);
  ooze_solver_destroy(s);
}

OZ_CASE(a_material_that_thins_slumps_further) {
  ooze_material m;
  double y[2];
  ooze_material_default(&m);
  m.viscosity = 60;
  for (int thins = 0; thins < 2; ++thins) {
    if (thins) m.thinning_time = 1, m.flow_index = 0.3f;
    ooze_solver *s = make(&m);
    steps(s, 8);
    y[thins] = height(s);
    ooze_solver_destroy(s);
  }
  CHECK(y[1] < 0.9 * y[0], "%g m, and %g m where it thins", y[0], y[1]);
}

/* A block that is put back on its lattice, with the velocities of shear, before every substep; so
 * heavy that its surface hardly moves, and so thick at its size that tension adds its viscosity
 * (docs/theory/velocity_projection.md). Relaxation time goes with viscosity (White and Metzner), so
 * that shear stress is the law's at any rate. */
OZ_CASE(what_relaxes_and_thins_has_the_stress_of_its_law) {
  enum { WIDE = 12, ALL = WIDE * WIDE * WIDE };
  static float x[ALL][3], v[ALL][3], stress[ALL][6];
  const float d = 0.005f, low = -0.5f * (WIDE - 1) * d;
  const double rate = 10.0, law = rate * 50.0 * pow(1.0 + pow(0.1 * rate, 2.0), (0.4 - 1.0) / 2.0);
  ooze_solver *s = falling_solver(d, 1, 0.0f, 1);
  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.density = 3e4f, m.viscosity = 50.0f, m.relaxation_time = 0.1f;
  m.thinning_time = 0.1f, m.flow_index = 0.4f;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  lattice_cube(x, WIDE, d, low, low, low);
  for (int i = 0; i < ALL; ++i) v[i][0] = (float)rate * x[i][1];
  add_particles(s, index, ALL, (const float(*)[3])x);
  for (int k = 0; k < 100; ++k) {
    CHECK_OK(ooze_attribute_write(s, OOZE_POSITION, 0, ALL, 0, x), s);
    CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, ALL, 0, v), s);
    CHECK_OK(ooze_step(s, 1.0 / 192.0), s);
  }
  CHECK_OK(ooze_attribute_read(s, OOZE_STRESS, 0, ALL, 0, stress), s);
  ooze_solver_destroy(s);
  double sum = 0.0, count = 0.0;
  for (int i = 0; i < ALL; ++i) {
    const float far = fmaxf(fabsf(x[i][0]), fmaxf(fabsf(x[i][1]), fabsf(x[i][2])));
    if (far < 1.6f * d) sum += (double)stress[i][3], count += 1.0;
  }
  printf("shear stress %.1f Pa of %.1f\n", sum / count, law);
  CHECK_NEAR(sum / count, law, 0.06 * law, "its surface moves a little");
}

/* Any stiffness that the schema allows: no more of it is used than a substep bears. A second mode
 * of 10^12 Pa s went non-finite, and a first one reached 195 m/s with the 256 substeps that it
 * takes. */
static void stands(const ooze_material *m) {
  ooze_solver *s = make(m);
  ooze_stats t;
  steps(s, 6);
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK(t.max_speed < 0.5, "%g m/s", (double)t.max_speed);
  CHECK_NEAR(height(s), 0.5 * SIDE * (double)separation, 0.2 * SIDE * (double)separation,
             "a solid stands; it may tilt by its rounding errors");
  ooze_solver_destroy(s);
}

OZ_CASE_SLOW(modes_of_any_stiffness_stand) {
  ooze_material first, second;
  ooze_material_default(&first);
  first.viscosity = 1e12f, first.relaxation_time = 1;
  second = first;
  second.viscosity = 5, second.second_viscosity = 1e12f, second.second_relaxation_time = 1;
  stands(&first);
  stands(&second);
}

OZ_CASE(a_solvent_without_relaxation_is_viscosity) {
  ooze_material m;
  double y[2];
  ooze_material_default(&m);
  for (int split = 0; split < 2; ++split) {
    m.viscosity = split ? 15.0f : 60.0f, m.solvent_viscosity = split ? 45.0f : 0.0f;
    ooze_solver *s = make(&m);
    steps(s, 4);
    y[split] = height(s);
    ooze_solver_destroy(s);
  }
  CHECK_NEAR(y[1], y[0], 3e-4 * y[0], "the same sum, in floats");
}

OZ_CASE(a_point_may_have_a_solvent_of_its_own) {
  ooze_material m;
  double y[2];
  static float solvent[COUNT];
  ooze_material_default(&m);
  m.viscosity = 15;
  for (int own = 0; own < 2; ++own) {
    m.solvent_viscosity = own ? 0.0f : 45.0f;
    ooze_solver *s = make(&m);
    for (int i = 0; i < COUNT; ++i) solvent[i] = 45.0f;
    if (own) CHECK_OK(ooze_attribute_write(s, OOZE_SOLVENT_VISCOSITY, 0, COUNT, 0, solvent), s);
    steps(s, 4);
    y[own] = height(s);
    ooze_solver_destroy(s);
  }
  CHECK(y[0] == y[1], "%g and %g m", y[0], y[1]);
}

OZ_TEST_MAIN()
