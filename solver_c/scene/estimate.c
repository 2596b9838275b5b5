/* What a scene will cost. SPDX-License-Identifier: Apache-2.0
 *
 * Bytes and seconds are not from a table: a block of particles with the scene's parameters is
 * stepped, and what the solver says that it holds, and the clock, are taken times the scene's
 * count. */
#include "scene_internal.h"
#include "base/seconds.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 20 }; /* of the block: 8,000 particles take some tenths of a second */

typedef struct cost {
  double bytes;   /* a particle, in the solver */
  double saved;   /* a particle, in a checkpoint */
  double seconds; /* a particle and substep */
} cost;

static ooze_result step_block(const ooze_scene *s, ooze_solver *solver, cost *out) {
  ooze_params params = s->start.params;
  ooze_particles block;
  ooze_stats stats;
  double frame = 1.0 / s->output.fps, substep = frame / (params.substeps ? params.substeps : 1);
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
  ooze_result result = ooze_params_set(solver, &params);
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
    result = ooze_step(solver, substep);
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

static ooze_result measure(const ooze_scene *s, cost *out, ooze_message *why) {
  ooze_solver_desc desc;
  ooze_solver *solver = NULL;
  memset(out, 0, sizeof *out);
  ooze_solver_desc_default(&desc);
  desc.particle_separation = s->separation;
  OZ_TRY_OK(ooze_solver_create(&desc, &solver, why));
  ooze_result result = step_block(s, solver, out);
  if (result < 0)
    oz_fail(why, result, "%s: a block to measure with: %s", s->file, ooze_solver_message(solver));
  ooze_solver_destroy(solver);
  return result < 0 ? result : OOZE_OK;
}

/* A run also holds a snapshot, which grows with a quarter to spare, and the points that it writes,
 * which are about as large as what a checkpoint saves. Surfaces come on top and are gone again with
 * each frame. */
static double all_bytes(const cost *c) { return c->bytes + 2.25 * c->saved; }

ooze_result oz_scene_most_particles(const ooze_scene *s, uint64_t *out, ooze_message *why) {
  cost c;
  OZ_TRY_OK(measure(s, &c, why));
  double most = (double)s->max_memory / all_bytes(&c);
  *out = most < (double)(1u << 30) ? (uint64_t)most : 1u << 30;
  return OOZE_OK;
}

typedef struct counting {
  const ooze_scene *scene;
  uint64_t count;
} counting;

static ooze_result count_body(void *user, const oz_body_item *body, const ooze_body_desc *desc,
                              ooze_message *why) {
  counting *c = user;
  (void)body, (void)why;
  c->count += desc->count;
  return OOZE_OK;
}

static ooze_result count_cloud(void *user, uint32_t fluid, const oz_cloud *cloud,
                               ooze_message *why) {
  counting *c = user;
  c->count += cloud->count;
  if (c->scene->fluids[fluid].keep_state) {
    ooze_points *points = NULL;
    OZ_TRY_OK(
        ooze_points_read(c->scene->fluids[fluid].shape.file, &c->scene->limits, &points, why));
    c->count += ooze_points_count(points);
    ooze_points_destroy(points);
  }
  return OOZE_OK;
}

ooze_result ooze_scene_estimate_get(const ooze_scene *s, ooze_scene_estimate *out,
                                    ooze_message *why) {
  if (!s || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  ooze_scene_estimate e;
  cost each;
  ooze_scene_estimate_default(&e);
  counting c = {s, 0};
  OZ_TRY_OK(oz_scene_fill_all(s, 1u << 30, count_body, count_cloud, &c, why));
  OZ_TRY_OK(measure(s, &each, why));
  e.filled = c.count;
  oz_state state;
  OZ_TRY_OK(oz_state_copy(s, &state, why));
  double emitted = 0.0, d = (double)s->separation, steps = 0.0, work = 0.0;
  /* of each emitter: max_particles ends it */
  double *each_emitted = calloc(s->emitter_count + 1, sizeof *each_emitted);
  if (!each_emitted) {
    oz_state_release(&state);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  }
  for (int32_t f = s->output.first; f < s->output.last; f++) {
    oz_state_at(s, oz_frame_time(s, f), &state);
    steps += state.params.substeps;
    for (uint32_t i = 0; i < s->emitter_count; i++) {
      const ooze_emitter_desc *em = &state.emitters[i].desc;
      const double more = 3.14159265358979 * (double)em->radius * (double)em->radius *
                          (double)em->speed * (double)state.params.time_scale / s->output.fps /
                          (d * d * d),
                   room = em->max_particles ? (double)em->max_particles - each_emitted[i] : more;
      if (!em->active || room <= 0.0) continue;
      each_emitted[i] += more < room ? more : room;
      emitted += more < room ? more : room;
    }
    work += state.params.substeps * ((double)c.count + emitted);
  }
  free(each_emitted);
  oz_state_release(&state);
  e.emitted = (uint64_t)emitted;
  e.steps = (uint64_t)steps;
  e.bytes_per_particle = (uint64_t)each.bytes;
  e.bytes = (uint64_t)((double)(e.filled + e.emitted) * all_bytes(&each));
  e.seconds = work * each.seconds;
  return oz_struct_out(out, &e, sizeof e);
}
