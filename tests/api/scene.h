/* A small scene that has everything in it: two materials, a floor, a moving and turning box, a
 * nozzle, a drain. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_API_SCENE_H
#define OZ_TESTS_API_SCENE_H

#include "check.h"
#include "solver_kit.h"

#ifndef SCENE_SIDE
#define SCENE_SIDE 12
#endif
enum { SCENE_COUNT = SCENE_SIDE * SCENE_SIDE * SCENE_SIDE };
static const float scene_separation = 0.02f;

static uint32_t scene_model = OOZE_MODEL_CONFORMATION; /* needs of scene_fill */
static inline ooze_solver *scene_solver(uint32_t tasks, uint32_t threads) {
  ooze_solver_desc desc = cpu_desc(scene_separation, tasks);
  desc.threads = threads;
  return solver_of(&desc);
}

/* 1 if this build has scene_model. */
static inline int scene_has_model(void) {
  ooze_params p;
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_params_default(&p);
  p.model = scene_model;
  const ooze_result there = ooze_params_set(s, &p);
  ooze_solver_destroy(s);
  return there != OOZE_ERROR_UNSUPPORTED;
}

/* A block of `side`^3 particles with its lowest corner at (x, y, z). Returns the result of adding
 * it. */
static inline ooze_result scene_block(ooze_solver *s, uint32_t material, int side, float x, float y,
                                      float z) {
  int count = side * side * side;
  float *p = (float *)malloc((size_t)count * 3 * sizeof *p);
  ooze_particles block;
  CHECK(p != NULL);
  for (int i = 0; i < count; ++i) {
    p[3 * i] = x + scene_separation * (float)(i % side);
    p[3 * i + 1] = y + scene_separation * (float)(i / side % side);
    p[3 * i + 2] = z + scene_separation * (float)(i / (side * side));
  }
  ooze_particles_default(&block);
  block.count = (uint32_t)count;
  block.material = material;
  block.positions = p;
  ooze_result r = ooze_particles_add(s, &block, NULL);
  free(p);
  return r;
}

/* Returns the first refusal, so that tests with a failing allocator can use it. */
static inline ooze_result scene_fill(ooze_solver *s) {
  ooze_result r;
  ooze_params p;
  ooze_material m;
  ooze_collider_desc c;
  ooze_collider collider;
  ooze_emitter_desc e;
  ooze_emitter emitter;
  uint32_t viscous, gel;
  ooze_params_default(&p);
  p.model = scene_model;
  p.substeps = 3;
  p.velocity_iterations = 4;
  p.position_iterations = 2;
  if ((r = ooze_params_set(s, &p)) < 0) return r;
  ooze_material_default(&m);
  m.viscosity = 20.0f;
  if ((r = ooze_material_add(s, &m, &viscous)) < 0) return r;
  ooze_material_default(&m);
  m.relaxation_time = 0.1f;
  m.compliance = 1e-3f;
  if ((r = ooze_material_add(s, &m, &gel)) < 0) return r;
  ooze_collider_desc_default(&c);
  if ((r = ooze_collider_add(s, &c, &collider)) < 0) return r;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.half[0] = c.half[1] = c.half[2] = 0.05f;
  c.friction = 0.5f;
  c.start.position[0] = -0.12f;
  c.end.position[0] = -0.10f;
  c.start.position[1] = c.end.position[1] = 0.1f;
  c.end.rotation[1] = 0.1f;
  if ((r = ooze_collider_add(s, &c, &collider)) < 0) return r;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SPHERE;
  c.role = OOZE_ROLE_KILL;
  c.half[0] = 0.05f;
  c.start.position[0] = c.end.position[0] = 0.3f;
  if ((r = ooze_collider_add(s, &c, &collider)) < 0) return r;
  ooze_emitter_desc_default(&e);
  e.material = gel;
  e.radius = 0.05f;
  e.speed = 1.0f;
  e.disturbance = 0.01f;
  e.start.position[0] = e.end.position[0] = 0.12f;
  e.start.position[1] = e.end.position[1] = 0.6f;
  if ((r = ooze_emitter_add(s, &e, &emitter)) < 0) return r;
  if ((r = scene_block(s, viscous, SCENE_SIDE, 0, 0.01f, 0)) < 0) return r;
  return scene_block(s, gel, SCENE_SIDE / 2, 0, 0.4f, 0);
}

static inline uint64_t scene_hash(ooze_solver *s) {
  uint64_t hash = 0;
  CHECK_OK(ooze_state_hash(s, &hash), s);
  return hash;
}

static inline void scene_steps(ooze_solver *s, int count) {
  for (int i = 0; i < count; ++i) CHECK_OK(ooze_step(s, 1.0 / 48), s);
}
#endif
