/* Solvers and lattices of particles that many tests begin with. SPDX-License-Identifier: Apache-2.0
 */
#ifndef OZ_TESTS_SOLVER_KIT_H
#define OZ_TESTS_SOLVER_KIT_H

#include "check.h"

/* A solver of a description that must be good; otherwise its sentence is shown. */
static inline ooze_solver *solver_of(const ooze_solver_desc *desc) {
  ooze_solver *s = NULL;
  ooze_message why = {""};
  const ooze_result r = ooze_solver_create(desc, &s, &why);
  CHECK(r == OOZE_OK && s, "%s: %s", ooze_result_name(r), why.text);
  return s;
}

static inline ooze_solver_desc cpu_desc(float separation, uint32_t tasks) {
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.tasks = tasks;
  desc.particle_separation = separation;
  return desc;
}

/* On the CPU: as many threads as there are processors, ... */
static inline ooze_solver *cpu_solver(float separation) {
  const ooze_solver_desc desc = cpu_desc(separation, OOZE_TASKS_AUTO);
  return solver_of(&desc);
}

/* ... one, ... */
static inline ooze_solver *serial_solver(float separation) {
  const ooze_solver_desc desc = cpu_desc(separation, OOZE_TASKS_SERIAL);
  return solver_of(&desc);
}

/* ... or a number of them, from the built-in pool. */
static inline ooze_solver *threaded_solver(float separation, uint32_t threads) {
  ooze_solver_desc desc = cpu_desc(separation, threads > 1 ? OOZE_TASKS_POOL : OOZE_TASKS_SERIAL);
  desc.threads = threads;
  return solver_of(&desc);
}

/* The same under a gravity along y (m/s^2), in that many substeps a step. */
static inline ooze_solver *falling_solver(float separation, uint32_t threads, float gravity,
                                          uint32_t substeps) {
  ooze_solver *s = threaded_solver(separation, threads);
  ooze_params params;
  ooze_params_default(&params);
  params.gravity[1] = gravity;
  params.substeps = substeps;
  CHECK_OK(ooze_params_set(s, &params), s);
  return s;
}

/* With so many substeps a step and iterations of each projection; 0 leaves a count automatic. */
static inline ooze_solver *counted_solver(float separation, uint32_t substeps, uint32_t velocity,
                                          uint32_t position) {
  ooze_solver *s = cpu_solver(separation);
  ooze_params params;
  ooze_params_default(&params);
  params.substeps = substeps;
  params.velocity_iterations = velocity, params.position_iterations = position;
  CHECK_OK(ooze_params_set(s, &params), s);
  return s;
}

/* A round nozzle of material 0 that points down, on the axis of y. */
static inline void add_nozzle(ooze_solver *s, float radius, float speed, float height) {
  ooze_emitter_desc nozzle;
  ooze_emitter emitter;
  ooze_emitter_desc_default(&nozzle);
  nozzle.radius = radius, nozzle.speed = speed;
  nozzle.start.position[1] = nozzle.end.position[1] = height;
  CHECK_OK(ooze_emitter_add(s, &nozzle, &emitter), s);
}

/* The plane y = 0, as it is by default. */
static inline void default_floor(ooze_solver *s) {
  ooze_collider_desc plane;
  ooze_collider floor;
  ooze_collider_desc_default(&plane);
  CHECK_OK(ooze_collider_add(s, &plane, &floor), s);
}

static inline uint64_t hash_of(ooze_solver *s) {
  uint64_t h = 0;
  CHECK_OK(ooze_state_hash(s, &h), s);
  return h;
}

/* The state of one solver in another, by way of a checkpoint. */
static inline void copy_state(ooze_solver *from, ooze_solver *to) {
  size_t bytes = 0;
  CHECK_OK(ooze_checkpoint_size(from, &bytes), from);
  void *memory = malloc(bytes);
  CHECK(memory != NULL);
  CHECK_OK(ooze_checkpoint_save(from, memory, bytes, &bytes), from);
  CHECK_OK(ooze_checkpoint_load(to, memory, bytes), to);
  free(memory);
}

/* side^3 particles one separation apart, of which the first is at (x, y, z); x runs fastest. */
static inline void lattice_cube(float (*out)[3], int side, float separation, float x, float y,
                                float z) {
  for (int i = 0; i < side * side * side; ++i) {
    out[i][0] = x + separation * (float)(i % side);
    out[i][1] = y + separation * (float)(i / side % side);
    out[i][2] = z + separation * (float)(i / (side * side));
  }
}

/* Those of a lattice through the origin within `radius` separations of it; their number. */
static inline uint32_t lattice_ball(float (*out)[3], int radius, float separation) {
  uint32_t n = 0;
  for (int i = -radius; i <= radius; i++)
    for (int j = -radius; j <= radius; j++)
      for (int k = -radius; k <= radius; k++) {
        if (i * i + j * j + k * k > radius * radius) continue;
        out[n][0] = separation * (float)i;
        out[n][1] = separation * (float)j;
        out[n][2] = separation * (float)k;
        n++;
      }
  return n;
}

/* As the preset. */
static inline ooze_material chocolate(void) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1270.0f, m.viscosity = 27.0f, m.yield_stress = 14.0f;
  m.thinning_time = 10.0f, m.flow_index = 0.65f;
  return m;
}

/* A lattice of n[0] n[1] n[2] particles that stands on y = 0, in the middle of x and z. */
static inline void lattice_on_floor(float (*out)[3], const uint32_t n[3], float separation) {
  for (uint32_t i = 0; i < n[0] * n[1] * n[2]; ++i) {
    out[i][0] = ((float)(i % n[0]) + 0.5f - 0.5f * (float)n[0]) * separation;
    out[i][1] = ((float)(i / n[0] % n[1]) + 0.5f) * separation;
    out[i][2] = ((float)(i / (n[0] * n[1])) + 0.5f - 0.5f * (float)n[2]) * separation;
  }
}

static inline void add_particles(ooze_solver *s, uint32_t material, uint32_t count,
                                 const float (*positions)[3]) {
  ooze_particles in;
  ooze_particles_default(&in);
  in.count = count;
  in.material = material;
  in.positions = positions;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
}

#endif
