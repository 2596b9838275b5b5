/* Substeps and iterations that a step takes where the host leaves them to the solver.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float d = 0.01f;
static char told[2000]; /* all warnings, one behind the other */
static ooze_collider container;

static void hear(void *user, int level, const char *text) {
  (void)user, (void)level;
  const size_t n = strlen(told);
  snprintf(told + n, sizeof told - n, "%s\n", text);
}

/* A column of wide x high x wide particles in a frictionless box. */
static ooze_solver *column(uint32_t wide, uint32_t high, float viscosity) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU, desc.particle_separation = d, desc.hooks.log = hear;
  CHECK_EQ(ooze_solver_create(&desc, &s, &why), OOZE_OK);
  told[0] = '\0';

  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.viscosity = viscosity;
  CHECK_OK(ooze_material_add(s, &m, &index), s);

  ooze_collider_desc box;
  ooze_collider_desc_default(&box);
  box.shape = OOZE_SHAPE_BOX, box.invert = 1, box.friction = 0.0f;
  box.half[0] = box.half[2] = 0.5f * (float)wide * d, box.half[1] = (float)high * d;
  box.start.position[1] = box.end.position[1] = (float)high * d;
  CHECK_OK(ooze_collider_add(s, &box, &container), s);

  const uint32_t n = wide * wide * high;
  float(*x)[3] = malloc(n * sizeof *x);
  for (uint32_t i = 0; i < n; ++i) {
    x[i][0] = ((float)(i % wide) + 0.5f - 0.5f * (float)wide) * d;
    x[i][1] = ((float)(i / wide % high) + 0.5f) * d;
    x[i][2] = ((float)(i / (wide * high)) + 0.5f - 0.5f * (float)wide) * d;
  }
  ooze_particles fluid;
  ooze_particles_default(&fluid);
  fluid.count = n, fluid.material = index, fluid.positions = &x[0][0];
  CHECK_OK(ooze_particles_add(s, &fluid, NULL), s);
  free(x);
  return s;
}

static ooze_stats step(ooze_solver *s, double dt) {
  ooze_stats t;
  ooze_stats_default(&t);
  CHECK_OK(ooze_step(s, dt), s);
  CHECK_OK(ooze_stats_get(s, &t), s);
  return t;
}

OZ_CASE(substeps_follow_time_and_speed) {
  ooze_solver *s = column(4, 4, 100.0f);
  CHECK_EQ(step(s, 1.0 / 24.0).substeps, 8);
  CHECK_EQ(step(s, 1.0 / 48.0).substeps, 4);
  CHECK_EQ(step(s, 1.0 / 200.0).substeps, 1);

  float v[64][3];
  for (int i = 0; i < 64; ++i) v[i][0] = v[i][2] = 0.0f, v[i][1] = 30.0f;
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, 64, 0, v), s);
  const ooze_stats fast = step(s, 1.0 / 24.0); /* 30 m/s over 8 cm */
  CHECK(fast.substeps >= 15 && fast.substeps <= 16, "%u", fast.substeps);

  ooze_params p;
  ooze_params_default(&p);
  p.substeps = 3;
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_EQ(step(s, 1.0 / 24.0).substeps, 3);
  ooze_solver_destroy(s);
}

/* At 8 m/s, 33 separations a frame: what splashes goes no further than two in a substep. */
OZ_CASE(what_splashes_takes_shorter_substeps) {
  uint32_t count[2];
  for (int k = 0; k < 2; ++k) {
    ooze_solver *s = column(4, 4, k ? 0.001f : 100.0f);
    float v[64][3];
    for (int i = 0; i < 64; ++i) v[i][0] = v[i][2] = 0.0f, v[i][1] = 8.0f;
    CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, 64, 0, v), s);
    count[k] = step(s, 1.0 / 24.0).substeps;
    ooze_solver_destroy(s);
  }
  CHECK_EQ(count[0], 8);
  CHECK_EQ(count[1], 17);
}

/* A drum of 10 cm turns at a revolution a second: 0.63 m/s at its wall. */
OZ_CASE(a_container_that_turns_moves_as_fast_as_its_wall) {
  ooze_solver *s = column(4, 4, 1.0f);
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_CYLINDER, c.invert = 1;
  c.half[0] = 0.1f, c.half[1] = 0.1f;
  const float half_turn = 3.14159265f / 24.0f;
  c.end.rotation[1] = sinf(half_turn), c.end.rotation[3] = cosf(half_turn);
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  CHECK_EQ(step(s, 1.0 / 24.0).substeps, 8);
  ooze_solver_destroy(s);
}

OZ_CASE(stiff_solids_take_as_many_substeps_as_they_bear) {
  ooze_solver *s = column(4, 4, 1.0f);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 0.0f, m.compliance = 1e-6f, m.relaxation_time = 100.0f;
  CHECK_OK(ooze_material_add(s, &m, NULL), s);
  /* dt = d sqrt(8 density / modulus) = 0.9 ms */
  const uint32_t n = step(s, 1.0 / 24.0).substeps;
  CHECK(n >= 46 && n <= 48, "%u", n);
  ooze_solver_destroy(s);
}

/* Of a column with surface tension or a stiff solid: by its material, or by its particles alone. */
static uint32_t substeps_of(const ooze_material *m, int own) {
  enum { N = 64 };
  ooze_solver *s = column(4, 4, 0.0f);
  ooze_material plain;
  ooze_material_default(&plain);
  plain.surface_tension = m->surface_tension;
  CHECK_OK(ooze_material_set(s, 1, own ? &plain : m), s);
  const ooze_attribute attribute[] = {OOZE_DENSITY, OOZE_VISCOSITY, OOZE_RELAXATION_TIME};
  const float value[] = {m->density, m->viscosity, m->relaxation_time};
  for (int k = 0; own && k < 3; ++k) {
    float all[N];
    for (int i = 0; i < N; ++i) all[i] = value[k];
    CHECK_OK(ooze_attribute_write(s, attribute[k], 0, N, 0, all), s);
  }
  const uint32_t first = step(s, 1.0 / 24.0).substeps, next = step(s, 1.0 / 24.0).substeps;
  CHECK_EQ(first, next);
  ooze_solver_destroy(s);
  return next;
}

OZ_CASE(particles_of_nodes_take_the_substeps_of_a_material) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1400.0f, m.surface_tension = 0.055f, m.viscosity = 10.0f;
  CHECK_EQ(substeps_of(&m, 0), 8);
  CHECK_EQ(substeps_of(&m, 1), 8);
  m.surface_tension = 50.0f, m.viscosity = 0.0f;
  CHECK(substeps_of(&m, 0) > 8, "tension shortens the substep: %u", substeps_of(&m, 0));
  CHECK_EQ(substeps_of(&m, 1), substeps_of(&m, 0));
  m.surface_tension = 0.0f, m.viscosity = 1e7f, m.relaxation_time = 1e2f;
  CHECK(substeps_of(&m, 0) > 8, "stiffness shortens the substep: %u", substeps_of(&m, 0));
  CHECK_EQ(substeps_of(&m, 1), substeps_of(&m, 0));
}

static double mean_height(ooze_solver *s, size_t n) {
  float(*x)[3] = malloc(n * sizeof *x);
  double sum = 0.0;
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  for (size_t i = 0; i < n; ++i) sum += (double)x[i][1];
  free(x);
  return sum / (double)n;
}

OZ_CASE(iterations_follow_layers_and_viscosity) {
  ooze_solver *s = column(8, 3, 0.001f);
  ooze_stats t = step(s, 1.0 / 24.0);
  CHECK_EQ(t.velocity_iterations, 4);
  CHECK_EQ(t.position_iterations, 5);
  ooze_solver_destroy(s);

  s = column(8, 16, 100.0f);
  for (int f = 0; f < 12; ++f) {
    t = step(s, 1.0 / 24.0);
    CHECK_EQ(t.velocity_iterations, 14);
    CHECK_EQ(t.position_iterations, 14); /* and do not swing */
  }
  CHECK_EQ(told[0], '\0');
  ooze_solver_destroy(s);

  s = column(4, 80, 1.0f);
  t = step(s, 1.0 / 24.0);
  CHECK_EQ(t.position_iterations, 20);
  for (int f = 1; f < 24; ++f) step(s, 1.0 / 24.0);
  int layers = 0; /* of the second step, by pressure */
  CHECK(sscanf(told, "fluid of about %d layers", &layers) == 1, "%s", told);
  CHECK(layers >= 70 && layers <= 81 && strstr(told, "position_iterations"), "%s", told);
  const double kept = mean_height(s, 4 * 4 * 80) / (0.5 * 80.0 * (double)d);
  CHECK(kept > 0.95 && kept < 1.02, "%g of the height kept", kept);
  ooze_solver_destroy(s);
}

OZ_CASE(falling_fluid_has_no_layers) {
  ooze_solver *s = column(4, 40, 1.0f);
  CHECK_OK(ooze_collider_remove(s, container), s);
  step(s, 1.0 / 24.0);
  step(s, 1.0 / 24.0);
  CHECK_EQ(step(s, 1.0 / 24.0).position_iterations, 5);
  ooze_solver_destroy(s);
}

/* A nozzle above a plate, whose warnings are heard. */
static ooze_solver *stream(float separation, const ooze_material *m, float radius, float speed,
                           float height) {
  ooze_solver_desc desc = cpu_desc(separation, OOZE_TASKS_AUTO);
  desc.hooks.log = hear;
  ooze_solver *s = solver_of(&desc);
  CHECK_OK(ooze_material_set(s, 0, m), s);
  default_floor(s);
  add_nozzle(s, radius, speed, height);
  told[0] = '\0';
  return s;
}

/* Honey that folds on a plate: 62 layers of stream above each other, of which few press. */
OZ_CASE(a_stream_on_a_plate_takes_the_usual) {
  ooze_material honey;
  ooze_material_default(&honey);
  honey.density = 1420.0f, honey.viscosity = 100.0f;
  ooze_solver *s = stream(0.004f, &honey, 0.01f, 0.4f, 0.25f);
  for (int f = 0; f < 20; ++f) {
    const ooze_stats t = step(s, 1.0 / 30.0);
    CHECK_EQ(t.velocity_iterations, 20);
    CHECK_EQ(t.position_iterations, 10);
  }
  CHECK(told[0] == '\0', "%s", told);
  ooze_solver_destroy(s);
}

/* Ketchup takes the iterations of the whole stream, 28 layers that press on nothing. */
OZ_CASE(a_stream_of_paste_is_no_deep_fluid) {
  ooze_material ketchup;
  ooze_material_default(&ketchup);
  ketchup.density = 1150.0f, ketchup.viscosity = 100.0f, ketchup.relaxation_time = 0.02f;
  ketchup.yield_stress = 32.0f, ketchup.thinning_time = 10.0f, ketchup.flow_index = 0.27f;
  ooze_solver *s = stream(0.002f, &ketchup, 0.005f, 0.25f, 0.14f);
  for (int f = 0; f < 12; ++f) CHECK_EQ(step(s, 1.0 / 24.0).position_iterations, 20);
  CHECK(told[0] == '\0', "%s", told);
  ooze_solver_destroy(s);
}

OZ_CASE(pouring_takes_the_usual_more) {
  ooze_solver *s = column(12, 4, 100.0f);
  ooze_emitter_desc e;
  ooze_emitter emitter;
  ooze_emitter_desc_default(&e);
  e.material = 1, e.radius = 0.03f, e.speed = 0.1f;
  e.start.position[1] = e.end.position[1] = 0.07f;
  CHECK_OK(ooze_emitter_add(s, &e, &emitter), s);
  ooze_stats t = step(s, 1.0 / 24.0);
  CHECK_EQ(t.velocity_iterations, 20);
  CHECK_EQ(t.position_iterations, 10);

  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 100.0f, m.relaxation_time = 0.1f;
  CHECK_OK(ooze_material_add(s, &m, &e.material), s);
  CHECK_OK(ooze_emitter_put(s, emitter, &e), s);
  CHECK_EQ(step(s, 1.0 / 24.0).position_iterations, 10);
  m.yield_stress = 20.0f; /* elastic paste */
  CHECK_OK(ooze_material_add(s, &m, &e.material), s);
  CHECK_OK(ooze_emitter_put(s, emitter, &e), s);
  CHECK_EQ(step(s, 1.0 / 24.0).position_iterations, 20);
  ooze_solver_destroy(s);
}

/* Slime of 1 mm and of 2 mm: 2.65 sqrt(1 + 24 dt^2 (viscosity / (tau + dt)) / (density d^2)) is 29
 * and 15. */
OZ_CASE(a_stream_that_remembers_takes_what_carries_its_pull) {
  ooze_material slime;
  ooze_material_default(&slime);
  slime.density = 1050.0f, slime.viscosity = 100.0f, slime.relaxation_time = 0.5f;
  const float separation[] = {0.001f, 0.002f};
  const uint32_t taken[] = {28, 20};
  for (int k = 0; k < 2; ++k) {
    ooze_solver *s = stream(separation[k], &slime, 0.004f, 0.25f, 0.14f);
    CHECK_EQ(step(s, 1.0 / 24.0).velocity_iterations, taken[k]);
    ooze_solver_destroy(s);
  }
}

/* A warning with these words was heard, and is not heard again in the next step. */
static void tells_once(ooze_solver *s, const char *limit, const char *fits) {
  char first[sizeof told];
  printf("%s", told);
  CHECK(strstr(told, limit) && strstr(told, fits), "%s", told);
  strcpy(first, told);
  step(s, 1.0 / 24.0);
  CHECK(!strcmp(told, first), "%s", told);
  ooze_solver_destroy(s);
}

/* A yield stress of 10 Pa, and 1 over the rate from which on the viscosity falls. */
static void yields(ooze_solver *s, float thinning_time) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 5e5f, m.yield_stress = 10.0f, m.thinning_time = thinning_time;
  m.flow_index = 0.5f;
  CHECK_OK(ooze_material_set(s, 1, &m), s);
}

OZ_CASE(limits_that_give_way_are_told_once) {
  ooze_solver *s = column(4, 4, 1.0f); /* a solid of 1 GPa: dt = d sqrt(8 density / modulus) */
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 0.0f, m.compliance = 1e-9f, m.relaxation_time = 100.0f;
  CHECK_OK(ooze_material_add(s, &m, NULL), s);
  CHECK_EQ(step(s, 1.0 / 24.0).substeps, 256);
  tells_once(s, "256 are the most", "substeps of 1474");

  s = column(4, 4, 100.0f); /* 150 m/s go 8 separations in 1/1875 s */
  float v[64][3] = {{0.0f}};
  for (int i = 0; i < 64; ++i) v[i][1] = 150.0f;
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, 64, 0, v), s);
  CHECK_EQ(step(s, 1.0 / 24.0).substeps, 32);
  tells_once(s, "20 separations in each of 32", "substeps of 79");

  s = column(4, 83, 100.0f); /* 0.6 for each layer */
  step(s, 1.0 / 24.0);
  CHECK_EQ(told[0], '\0'); /* it might be falling */
  CHECK_EQ(step(s, 1.0 / 24.0).velocity_iterations, 40);
  tells_once(s, "40 are the most", "velocity_iterations of 64"); /* of 80 layers */

  s = column(4, 4, 5e5f); /* (C.4b) */
  step(s, 1.0 / 24.0);
  tells_once(s, "5e+05 Pa s acts as 1.3e+05 Pa s", "substeps of 21 bear 5e+05");
  s = column(4, 4, 1e8f); /* more substeps than 1/768 s long bear no more */
  step(s, 1.0 / 24.0);
  tells_once(s, "1e+08 Pa s acts as 1.3e+05 Pa s", "substeps of 32 bear 9.7e+05");
  s = column(4, 4, 5e5f); /* a yield stress has the whole floor */
  yields(s, 0.0f);
  step(s, 1.0 / 24.0);
  tells_once(s, "5e+05 Pa s acts as 1.3e+04 Pa s", "substeps of 32 bear 9.7e+04");
  s = column(4, 4, 5e5f); /* one that thins has no least memory: dt of tau + dt is left */
  yields(s, 1.0f);
  step(s, 1.0 / 24.0);
  tells_once(s, "5e+05 Pa s acts as 9.6e+03 Pa s", "substeps of 32 bear 3.8e+04");
}

/* Velocity iterations of a column of 1000 Pa s while a floor far below it moves. */
static uint32_t dragged(ooze_solver *s, float relaxation_time) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 1000.0f, m.relaxation_time = relaxation_time;
  CHECK_OK(ooze_material_set(s, 1, &m), s);
  ooze_collider_desc plane;
  ooze_collider floor;
  ooze_collider_desc_default(&plane);
  plane.start.position[1] = plane.end.position[1] = -1.0f;
  CHECK_OK(ooze_collider_add(s, &plane, &floor), s);
  ooze_pose to = plane.start;
  to.position[0] = 0.01f;
  CHECK_OK(ooze_collider_move(s, floor, &plane.start, &to), s);
  step(s, 1.0 / 24.0);
  CHECK_OK(ooze_collider_move(s, floor, &plane.start, &to), s);
  return step(s, 1.0 / 24.0).velocity_iterations;
}

OZ_CASE(walls_that_move_take_what_the_fluid_asks_for) {
  ooze_solver *s = column(4, 4, 1.0f);
  CHECK_EQ(dragged(s, 0.0f), 80);
  tells_once(s, "80 are the most", "velocity_iterations of 94");
  s = column(4, 4, 1.0f); /* 52 / 20 of the modulus: 21 */
  CHECK_EQ(dragged(s, 0.1f), 28);
  CHECK_EQ(told[0], '\0');
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
