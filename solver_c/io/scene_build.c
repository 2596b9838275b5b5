/* From a scene to a solver. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>

ooze_result oz_collider_desc_of(const ooze_scene *s, uint32_t i, const oz_state *state, ooze_collider_desc *out) {
  *out = state->colliders[i].desc;
  const ooze_sdf *sdf = &s->colliders[i].sdf;
  if (out->shape == OOZE_SHAPE_SDF) {
    out->bricks = sdf->bricks;
    out->brick_count = sdf->brick_count;
    out->voxel = sdf->voxel;
    ooze_pose pose = out->start;
    double offset[3] = {(double)sdf->offset[0], (double)sdf->offset[1], (double)sdf->offset[2]}, at[3];
    oz_pose_apply(&pose, offset, at);
    for (int k = 0; k < 3; k++) out->start.position[k] = (float)at[k];
  }
  out->end = out->start;
  return OOZE_OK;
}

/* Nothing is born in a collider: its particles would be thrown out in the first step. */
typedef struct solids {
  const ooze_scene *scene;
  double margin;
} solids;

static int in_solid(const void *user, const double x[3]) {
  const solids *w = user;
  const ooze_scene *s = w->scene;
  for (uint32_t i = 0; i < s->collider_count; i++) {
    const oz_collider_state *c = &s->start.colliders[i];
    double local[3];
    if (!oz_shape_has_distance(&s->colliders[i].shape)) continue;
    oz_pose_unapply(&c->desc.start, x, local);
    double d = oz_shape_distance(&s->colliders[i].shape, local);
    if (c->desc.invert) d = -d;
    if (d < w->margin) return 1;
  }
  return 0;
}

static ooze_result said(ooze_solver *solver, ooze_result result, const ooze_scene *s, const char *what,
                        const char *name, ooze_message *why) {
  if (result >= 0) return OOZE_OK;
  return oz_io_fail(why, result, "%s: %s %s: %s", s->file, what, name, ooze_solver_message(solver));
}

/* Every fluid's particles in turn, handed to `take`. */
typedef ooze_result (*take_fn)(void *user, uint32_t fluid, const oz_cloud *cloud, ooze_message *why);
static ooze_result fill_all(const ooze_scene *s, uint64_t most, take_fn take, void *user, ooze_message *why) {
  solids w = {s, 0.25 * (double)s->separation};
  oz_fill *fill = oz_fill_create((double)s->separation, most);
  if (!fill) return oz_io_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  ooze_result result = OOZE_OK;
  for (uint32_t i = 0; i < s->fluid_count && result == OOZE_OK; i++) {
    oz_cloud cloud;
    uint64_t cut = 0;
    memset(&cloud, 0, sizeof cloud);
    if (!s->fluids[i].keep_state) result = oz_fill_fluid(fill, &s->fluids[i], in_solid, &w, &cloud, &cut, why);
    if (result == OOZE_OK && !s->fluids[i].keep_state && !cloud.count)
      result = oz_io_fail(why, OOZE_ERROR_ARGUMENT, "%s: fluids.%s: not one particle fits in at a separation of %g m%s",
                          s->file, s->fluids[i].name, (double)s->separation,
                          cut ? ": all its room is taken by colliders or other fluids" : "");
    if (result == OOZE_OK) result = take(user, i, &cloud, why);
    oz_cloud_release(&cloud);
  }
  oz_fill_destroy(fill);
  return result;
}

typedef struct adding {
  const ooze_scene *scene;
  ooze_solver *solver;
} adding;

static ooze_result add_cloud(void *user, uint32_t fluid, const oz_cloud *cloud, ooze_message *why) {
  const adding *a = user;
  const oz_fluid *f = &a->scene->fluids[fluid];
  if (f->keep_state) {
    ooze_points *points = NULL;
    OZ_IO_TRY(ooze_points_read(f->shape.file, NULL, &points, why));
    ooze_result result = ooze_points_to_solver(points, a->solver, why);
    ooze_points_destroy(points);
    return result;
  }
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = cloud->count;
  p.material = f->material + 1;
  p.positions = cloud->x;
  p.velocities = cloud->v;
  return said(a->solver, ooze_particles_add(a->solver, &p, NULL), a->scene, "fluid", f->name, why);
}

ooze_result oz_scene_fill_solver(const ooze_scene *s, ooze_solver *solver, int fluids, ooze_collider *colliders,
                                 ooze_emitter *emitters, ooze_message *why) {
  OZ_IO_TRY(said(solver, ooze_params_set(solver, &s->start.params), s, "solver", "parameters", why));
  for (uint32_t i = 0; i < s->material_count; i++) {
    uint32_t index = 0;
    OZ_IO_TRY(
        said(solver, ooze_material_add(solver, &s->start.materials[i], &index), s, "material", s->looks[i].name, why));
    if (index != i + 1)
      return oz_io_fail(why, OOZE_ERROR_ARGUMENT, "%s: the solver has materials already; a scene needs a new one",
                        s->file);
  }
  for (uint32_t i = 0; i < s->collider_count; i++) {
    ooze_collider_desc desc;
    ooze_collider handle = 0;
    OZ_IO_TRY(oz_collider_desc_of(s, i, &s->start, &desc));
    OZ_IO_TRY(said(solver, ooze_collider_add(solver, &desc, &handle), s, "collider", s->colliders[i].name, why));
    if (colliders) colliders[i] = handle;
  }
  for (uint32_t i = 0; i < s->emitter_count; i++) {
    ooze_emitter_desc desc = s->start.emitters[i].desc;
    ooze_emitter handle = 0;
    desc.end = desc.start;
    OZ_IO_TRY(said(solver, ooze_emitter_add(solver, &desc, &handle), s, "emitter", s->emitters[i].name, why));
    if (emitters) emitters[i] = handle;
  }
  adding a = {s, solver};
  return fluids ? fill_all(s, 1u << 30, add_cloud, &a, why) : OOZE_OK;
}

ooze_result ooze_scene_build(const ooze_scene *s, const ooze_solver_desc *machine, ooze_solver **out,
                             ooze_message *why) {
  if (!s || !out) return oz_io_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  if (machine && machine->size >= sizeof machine->size)
    memcpy(&desc, machine, machine->size < sizeof desc ? machine->size : sizeof desc);
  desc.size = (uint32_t)sizeof desc;
  desc.particle_separation = s->separation;
  *out = NULL;
  OZ_IO_TRY(ooze_solver_create(&desc, out, why));
  ooze_result result = oz_scene_fill_solver(s, *out, 1, NULL, NULL, why);
  if (result < 0) {
    ooze_solver_destroy(*out);
    *out = NULL;
  }
  return result;
}

/* ---- What it will cost ------------------------------------------------------------------------------------------ */

typedef struct counting {
  const ooze_scene *scene;
  uint64_t count;
} counting;

static ooze_result count_cloud(void *user, uint32_t fluid, const oz_cloud *cloud, ooze_message *why) {
  counting *c = user;
  c->count += cloud->count;
  if (c->scene->fluids[fluid].keep_state) {
    ooze_points *points = NULL;
    OZ_IO_TRY(ooze_points_read(c->scene->fluids[fluid].shape.file, NULL, &points, why));
    c->count += ooze_points_count(points);
    ooze_points_destroy(points);
  }
  return OOZE_OK;
}

ooze_result ooze_scene_estimate_get(const ooze_scene *s, ooze_scene_estimate *out, ooze_message *why) {
  enum { BYTES = 2000 }; /* a particle with its neighbour lists, as ooze_stats measures */
  if (!s || !out) return oz_io_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  ooze_scene_estimate e;
  ooze_scene_estimate_default(&e);
  counting c = {s, 0};
  OZ_IO_TRY(fill_all(s, 1u << 30, count_cloud, &c, why));
  e.filled = c.count;
  oz_state state;
  OZ_IO_TRY(oz_state_copy(s, &state, why));
  double emitted = 0.0, d = (double)s->separation, steps = 0.0;
  for (int32_t f = s->output.first; f < s->output.last; f++) {
    oz_state_at(s, oz_frame_time(s, f), &state);
    steps += state.params.substeps;
    for (uint32_t i = 0; i < s->emitter_count; i++) {
      const ooze_emitter_desc *em = &state.emitters[i].desc;
      if (em->active)
        emitted += 3.14159265358979 * (double)em->radius * (double)em->radius * (double)em->speed *
                   (double)state.params.time_scale / s->output.fps / (d * d * d);
    }
  }
  oz_state_release(&state);
  e.emitted = (uint64_t)emitted;
  e.steps = (uint64_t)steps;
  e.bytes = (e.filled + e.emitted) * BYTES;
  return oz_struct_out(out, &e, sizeof e);
}
