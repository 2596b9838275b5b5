/* A jump of speed that no force explains ends a step, and every speed that has a reason does not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "solver_kit.h"

enum { SIDE = 8, N = SIDE * SIDE * SIDE };
static const float d = 0.02f;
static int warnings;

static void hear(void *user, int level, const char *text) {
  (void)user;
  if (level == OOZE_LOG_WARNING && strstr(text, "speeds up to")) ++warnings;
}

static ooze_solver *make(void) {
  ooze_solver_desc desc;
  static float p[N][3];
  ooze_solver_desc_default(&desc);
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.particle_separation = d;
  desc.hooks.log = hear;
  ooze_solver *s = solver_of(&desc);
  lattice_cube(p, SIDE, d, 0, 0.5f * d, 0);
  add_particles(s, 0, N, p);
  warnings = 0;
  return s;
}

/* Of another model, in 8 substeps, and of one material. */
static ooze_solver *make_of(uint32_t model, const ooze_material *m) {
  ooze_solver *s = make();
  ooze_params p;
  ooze_params_default(&p);
  p.model = model;
  p.substeps = 8;
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_OK(ooze_material_set(s, 0, m), s);
  return s;
}

/* The explicit form of the stress is unstable beyond a few milliseconds (ooze verify stress). */
static ooze_solver *unstable(double modulus) {
  ooze_solver *s = make();
  ooze_params p;
  ooze_material m;
  ooze_collider_desc floor;
  ooze_params_default(&p);
  p.scheme = OOZE_SCHEME_STRESS;
  p.substeps = 1;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material_default(&m);
  m.viscosity = 0;
  m.relaxation_time = 10;
  m.compliance = (float)(1 / modulus);
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  ooze_collider_desc_default(&floor);
  CHECK_OK(ooze_collider_add(s, &floor, NULL), s);
  return s;
}

static ooze_result step_until_lost(ooze_solver *s, double dt, int *steps) {
  ooze_result r = OOZE_OK;
  for (*steps = 0; *steps < 100 && r == OOZE_OK; ++*steps) r = ooze_step(s, dt);
  return r;
}

OZ_CASE(a_divergence_ends_the_step_with_a_sentence) {
  ooze_solver *s = unstable(1e5);
  int steps;
  CHECK_EQ(step_until_lost(s, 0.01, &steps), OOZE_LOST_DIVERGED);
  CHECK(strstr(ooze_solver_message(s), "gravity, forces, walls, nozzles and elasticity explain"),
        "said: %s", ooze_solver_message(s));
  CHECK_EQ(ooze_step(s, 0.01), OOZE_LOST_DIVERGED);
  CHECK_OK(ooze_particles_clear(s), s);
  CHECK_OK(ooze_step(s, 0.01), s);
  ooze_solver_destroy(s);
}

/* From step to step speeds grow by less than the margin. */
OZ_CASE(so_does_a_slow_one_and_at_the_same_step_after_a_resume) {
  ooze_solver *s = unstable(1.5e3);
  int steps;
  CHECK_EQ(step_until_lost(s, 0.02, &steps), OOZE_LOST_DIVERGED);
  CHECK(steps > 6, "lost after %d steps", steps);
  ooze_message said;
  snprintf(said.text, sizeof said.text, "%s", ooze_solver_message(s));
  ooze_solver_destroy(s);

  s = unstable(1.5e3);
  ooze_result r = OOZE_OK;
  int resumed = 0;
  for (; resumed < 100 && r == OOZE_OK; ++resumed) {
    size_t bytes = 0;
    CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
    void *block = malloc(bytes);
    CHECK_OK(ooze_checkpoint_save(s, block, bytes, NULL), s);
    ooze_solver_destroy(s);
    s = make();
    CHECK_OK(ooze_checkpoint_load(s, block, bytes), s);
    free(block);
    r = ooze_step(s, 0.02);
  }
  CHECK_EQ(r, OOZE_LOST_DIVERGED);
  CHECK_EQ(resumed, steps);
  CHECK(!strcmp(said.text, ooze_solver_message(s)), "said %s; and resumed %s", said.text,
        ooze_solver_message(s));
  ooze_solver_destroy(s);
}

OZ_CASE(speeds_that_the_host_gives_are_explained) {
  ooze_solver *s = make();
  static float v[N][3], pull[N][3];
  for (int i = 0; i < N; ++i) v[i][1] = i % 2 ? -3000.0f : 10.0f;
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, N, 0, v), s);
  for (int k = 0; k < 5; ++k) CHECK_OK(ooze_step(s, 0.01), s);
  ooze_solver_destroy(s);

  s = make();
  for (int i = 0; i < N; ++i) pull[i][1] = 1e5f;
  CHECK_OK(ooze_attribute_write(s, OOZE_FORCE, 0, N, 0, pull), s);
  for (int k = 0; k < 5; ++k) CHECK_OK(ooze_step(s, 0.01), s);
  CHECK_EQ(warnings, 0);
  ooze_solver_destroy(s);
}

OZ_CASE(so_are_those_of_walls_and_of_new_particles) {
  ooze_solver *s = make();
  ooze_collider_desc wall;
  ooze_collider at;
  ooze_collider_desc_default(&wall);
  wall.start.position[1] = -1;
  wall.end = wall.start;
  CHECK_OK(ooze_collider_add(s, &wall, &at), s);
  for (int k = 0; k < 20; ++k) { /* at 500 m/s through the fluid */
    wall.end.position[1] = wall.start.position[1] + 5;
    CHECK_OK(ooze_collider_move(s, at, &wall.start, &wall.end), s);
    CHECK_OK(ooze_step(s, 0.01), s);
    wall.start = wall.end;
  }
  ooze_solver_destroy(s);

  s = make();
  CHECK_OK(ooze_step(s, 0.01), s);
  static float p[100][3], v[100][3];
  ooze_particles in;
  for (int i = 0; i < 100; ++i)
    p[i][0] = d * (float)(i % 10), p[i][1] = 1, p[i][2] = d * (float)(i / 10), v[i][1] = 900;
  ooze_particles_default(&in);
  in.count = 100;
  in.positions = p;
  in.velocities = v;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
  CHECK_OK(ooze_step(s, 0.01), s);
  CHECK_EQ(warnings, 0);
  ooze_solver_destroy(s);
}

/* An explicit viscosity that is bounded as if everything had 1000 kg/m^3 throws it apart. */
OZ_CASE(a_light_thick_block_of_model_blend_falls_as_one) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1.0f, m.viscosity = 60.0f;
  ooze_solver *s = make_of(OOZE_MODEL_BLEND, &m);
  for (int k = 0; k < 4; ++k) CHECK_OK(ooze_step(s, 1.0 / 30.0), s);
  static float v[N][3];
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, N, 0, v), s);
  for (int i = 0; i < N; ++i)
    CHECK_NEAR(v[i][1], -9.81 * 4 / 30, 1e-3, "free fall: a solid, without anything to touch");
  ooze_solver_destroy(s);
}

/* A particle 50 m below the floor is thrown out of it within a substep. */
static void throw_one(ooze_solver *s) {
  ooze_collider_desc floor;
  ooze_collider_desc_default(&floor);
  CHECK_OK(ooze_collider_add(s, &floor, NULL), s);
  const float below[3] = {5, -50, 5};
  CHECK_OK(ooze_attribute_write(s, OOZE_POSITION, 0, 1, 0, below), s);
  for (int k = 0; k < 5; ++k) CHECK_OK(ooze_step(s, 0.01), s);
}

OZ_CASE(a_few_particles_are_told_of_once_and_the_fluid_goes_on) {
  ooze_solver *s = make();
  throw_one(s);
  CHECK_EQ(warnings, 1);
  ooze_solver_destroy(s);
}

/* Elastic waves of a modulus of 10^9 Pa would explain any speed. Links have none. */
OZ_CASE(no_modulus_explains_speeds_of_model_links) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 1e8f, m.relaxation_time = 0.1f, m.density = 10.0f;
  ooze_solver *s = make_of(OOZE_MODEL_LINKS, &m);
  throw_one(s);
  CHECK_EQ(warnings, 1);
  ooze_solver_destroy(s);
}

/* Particles that a nozzle holds have the weight of their fluid in the zero-energy control. */
OZ_CASE(a_light_fluid_leaves_a_nozzle_at_its_own_speed) {
  static const float densities[] = {1000, 200, 67, 10};
  for (size_t k = 0; k < sizeof densities / sizeof *densities; ++k) {
    ooze_solver *s = make();
    ooze_material m;
    ooze_emitter_desc e;
    CHECK_OK(ooze_particles_clear(s), s);
    ooze_material_default(&m);
    m.density = densities[k];
    CHECK_OK(ooze_material_set(s, 0, &m), s);
    ooze_emitter_desc_default(&e);
    e.radius = 0.05f;
    e.speed = 1;
    CHECK_OK(ooze_emitter_add(s, &e, NULL), s);
    for (int n = 0; n < 10; ++n) {
      ooze_stats t;
      CHECK_OK(ooze_step(s, 1.0 / 30), s);
      ooze_stats_default(&t);
      CHECK_OK(ooze_stats_get(s, &t), s);
      const double falls = 1 + 9.81 * (n + 1) / 30;
      CHECK(t.max_speed < 2 * falls, "%g kg/m^3: %g m/s after %d frames, expected %g",
            (double)densities[k], t.max_speed, n + 1, falls);
    }
    CHECK_EQ(warnings, 0);
    ooze_solver_destroy(s);
  }
}

OZ_TEST_MAIN()
