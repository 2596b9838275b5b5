/* The cost of a particle. SPDX-License-Identifier: Apache-2.0
 *
 * Bytes and seconds are not from a table: a block of particles with the scene's parameters is
 * stepped, and the bytes that the solver then holds, and the clock, are divided by its count. */
#include "scene_internal.h"

#include "base/step_counts.h"
#include "base/seconds.h"

#include <math.h>
#include <stdlib.h>

enum {
  SIDE = 20, /* of the block: 8,000 particles take some tenths of a second */
  TIMES = 16 /* at which walls are looked at */
};

/* Iterations of the block, which has no emitters: those that the scene usually takes. */
static void usual_iterations(const ooze_scene *s, ooze_params *p) {
  int pours = s->emitter_count > 0, pastes = 0, yields = 0;
  for (uint32_t i = 0; i < s->emitter_count; i++)
    pastes |= oz_elastic_paste(&s->start.materials[s->start.emitters[i].desc.material - 1]);
  for (uint32_t i = 0; i < s->material_count; i++)
    yields |= s->start.materials[i].yield_stress > 0.0f;
  if (!p->velocity_iterations) p->velocity_iterations = oz_velocity_usual(pours, yields);
  if (!p->position_iterations) p->position_iterations = oz_position_usual(pours, pastes, yields);
}

/* Does a wall with friction move? Thick fluid then takes more iterations (docs/theory/counts.md),
 * in most scenes at most frames. */
static ooze_result walls_drag(const ooze_scene *s, int *out, ooze_message *why) {
  oz_state now;
  *out = 0;
  OZ_TRY_OK(oz_state_copy(s, &now, why));
  const double frames = (double)(s->output.last - s->output.first);
  for (int t = 1; t <= TIMES && !*out; t++) {
    oz_state_at(s, oz_frame_time(s, s->output.first + frames * t / TIMES), &now);
    for (uint32_t i = 0; i < s->collider_count; i++) {
      const ooze_collider_desc *d = &now.colliders[i].desc, *before = &s->start.colliders[i].desc;
      *out |= d->role == OOZE_ROLE_COLLIDE && d->friction > 0.0f &&
              memcmp(&d->start, &before->start, sizeof d->start) != 0;
    }
  }
  oz_state_release(&now);
  return OOZE_OK;
}

/* One substep of the block, beside a wall that moves out of its reach if `wall` is not 0. */
static ooze_result step_once(ooze_solver *solver, ooze_collider wall, double substep) {
  ooze_pose from, to;
  ooze_pose_default(&from);
  from.position[1] = -1000.0f;
  to = from;
  to.position[1] -= 0.1f;
  if (wall) OZ_TRY_OK(ooze_collider_move(solver, wall, &from, &to));
  return ooze_step(solver, substep);
}

static ooze_result step_block(const ooze_scene *s, int drags, ooze_solver *solver, oz_cost *out) {
  ooze_params params = s->start.params;
  ooze_particles block;
  ooze_stats stats;
  const double frame = 1.0 / s->output.fps, substep = frame / oz_substeps_least(&params, frame);
  float(*x)[3] = malloc(sizeof *x * SIDE * SIDE * SIDE);
  if (!x) return OOZE_ERROR_MEMORY;
  for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int k = 0; k < 3; k++) x[i][k] = s->separation * (float)at[k];
  }
  ooze_particles_default(&block);
  block.count = SIDE * SIDE * SIDE;
  block.positions = x;
  params.cfl = 0.0f;
  params.substeps = 1;
  const uint32_t velocity = params.velocity_iterations;
  usual_iterations(s, &params);
  if (drags) params.velocity_iterations = velocity;
  ooze_result result = ooze_params_set(solver, &params);
  ooze_collider_desc ball;
  ooze_collider wall = 0;
  ooze_collider_desc_default(&ball);
  ball.shape = OOZE_SHAPE_SPHERE;
  ball.start.position[1] = ball.end.position[1] = -1000.0f;
  if (result >= 0 && drags) result = ooze_collider_add(solver, &ball, &wall);
  if (result >= 0 && s->material_count) {
    uint32_t first = s->fluid_count     ? s->fluids[0].material
                     : s->emitter_count ? s->start.emitters[0].desc.material - 1
                                        : 0;
    result = ooze_material_add(solver, &s->start.materials[first], &block.material);
  }
  if (result >= 0) result = ooze_particles_add(solver, &block, NULL);
  free(x);
  out->seconds = 1e30;
  for (int i = 0; i < 3 && result >= 0; i++) { /* the first one warms up */
    double began = oz_seconds();
    result = step_once(solver, wall, substep);
    if (i) out->seconds = fmin(out->seconds, oz_seconds() - began);
  }
  ooze_stats_default(&stats);
  if (result >= 0) result = ooze_stats_get(solver, &stats);
  size_t saved = 0;
  if (result >= 0) result = ooze_checkpoint_size(solver, &saved);
  out->bytes = (double)stats.bytes / block.count;
  out->saved = (double)saved / block.count;
  out->seconds /= block.count;
  return result;
}

ooze_result oz_scene_cost(const ooze_scene *s, oz_cost *out, ooze_message *why) {
  ooze_solver_desc desc;
  ooze_solver *solver = NULL;
  int drags;
  memset(out, 0, sizeof *out);
  OZ_TRY_OK(walls_drag(s, &drags, why));
  ooze_solver_desc_default(&desc);
  desc.particle_separation = s->separation;
  OZ_TRY_OK(ooze_solver_create(&desc, &solver, why));
  ooze_result result = step_block(s, drags, solver, out);
  if (result < 0)
    oz_fail(why, result, "%s: a block to measure with: %s", s->file, ooze_solver_message(solver));
  ooze_solver_destroy(solver);
  return result < 0 ? result : OOZE_OK;
}

/* A run also holds a snapshot, which grows with a quarter to spare, and the points that it writes,
 * which are about as large as a checkpoint. Surfaces come on top and are gone again with
 * each frame. */
double oz_cost_bytes(const oz_cost *c) { return c->bytes + 2.25 * c->saved; }

ooze_result oz_scene_most_particles(const ooze_scene *s, uint64_t *out, ooze_message *why) {
  oz_cost c;
  OZ_TRY_OK(oz_scene_cost(s, &c, why));
  double most = (double)s->max_memory / oz_cost_bytes(&c);
  *out = most < (double)(1u << 30) ? (uint64_t)most : 1u << 30;
  return OOZE_OK;
}
