/* From a scene to a solver. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"
#include "scene/paint.h"

#include <stdio.h>
#include <stdlib.h>

ooze_result oz_collider_desc_of(const ooze_scene *s, uint32_t i, const oz_state *state,
                                ooze_collider_desc *out) {
  *out = state->colliders[i].desc;
  const ooze_sdf *sdf = &s->colliders[i].sdf;
  if (out->shape == OOZE_SHAPE_SDF) {
    out->bricks = sdf->bricks;
    out->brick_count = sdf->brick_count;
    out->voxel = sdf->voxel;
    ooze_pose pose = out->start;
    double offset[3] = {(double)sdf->offset[0], (double)sdf->offset[1], (double)sdf->offset[2]},
           at[3];
    oz_pose_apply(&pose, offset, at);
    for (int k = 0; k < 3; k++) out->start.position[k] = (float)at[k];
  }
  out->end = out->start;
  return OOZE_OK;
}

ooze_result ooze_scene_solids(const ooze_scene *s, double frame, ooze_collider_desc *out,
                              uint32_t capacity, uint32_t *out_count, ooze_message *why) {
  oz_state state;
  uint32_t count = 0;
  if (!s || !out_count || (capacity && !out))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_scene_solids: a pointer is NULL");
  OZ_TRY_OK(oz_state_copy(s, &state, why));
  oz_state_at(s, oz_frame_time(s, frame), &state);
  for (uint32_t i = 0; i < s->collider_count; i++) {
    ooze_collider_desc desc;
    OZ_TRY_OK(oz_collider_desc_of(s, i, &state, &desc));
    if (desc.role != OOZE_ROLE_COLLIDE || (desc.shape == OOZE_SHAPE_SDF && !desc.brick_count))
      continue;
    if (count < capacity) out[count] = desc;
    count++;
  }
  oz_state_release(&state);
  *out_count = count;
  return OOZE_OK;
}

static ooze_result said(ooze_solver *solver, ooze_result result, const ooze_scene *s,
                        const char *what, const char *name, ooze_message *why) {
  if (result >= 0) return OOZE_OK;
  return oz_fail(why, result, "%s: %s %s: %s", s->file, what, name, ooze_solver_message(solver));
}

/* Points that bring their state stand where they stood: lattices give way to them, in whatever
 * order they come. */
static ooze_result reserve_states(const ooze_scene *s, oz_fill *fill, ooze_message *why) {
  for (uint32_t i = 0; i < s->fluid_count; i++) {
    ooze_points *points = NULL;
    ooze_points_attribute at;
    if (!s->fluids[i].keep_state) continue;
    OZ_TRY_OK(ooze_points_read(s->fluids[i].shape.file, &s->limits, &points, why));
    ooze_points_attribute_default(&at);
    ooze_result result = OOZE_OK;
    if (ooze_points_find(points, "P", &at) == OOZE_OK && at.type == OOZE_FLOAT32 &&
        at.components == 3)
      result = oz_fill_reserve(fill, at.data, ooze_points_count(points), why);
    ooze_points_destroy(points);
    OZ_TRY_OK(result);
  }
  return OOZE_OK;
}

/* Share of a fluid's room from which it is told: fluids that fill a bowl overlap its wall. */
#define CUT_TOLD 0.4

static void tell_cut(const oz_fill_host *host, const char *name, uint64_t cut,
                     const oz_cloud *cloud) {
  char text[300];
  if (!host || !host->say) return;
  snprintf(text, sizeof text,
           "warning: fluids.%.100s: %llu of %llu particles are left out, since they begin inside "
           "colliders, "
           "bodies or other fluids; move one of the two",
           name, (unsigned long long)cut, (unsigned long long)(cut + cloud->count));
  host->say(host->user, text);
}

ooze_result oz_scene_fill_all(const ooze_scene *s, uint64_t most, const oz_fill_host *host,
                              oz_body_fn body, oz_take_fn take, void *user, ooze_message *why) {
  /* where walls hold particles */
  oz_solids *solids = oz_solids_create(s, 0.25 * (double)s->separation);
  oz_fill *fill = oz_fill_create((double)s->separation, most, host);
  ooze_result result = fill && solids
                           ? reserve_states(s, fill, why)
                           : oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  /* fluids keep off the room of bodies */
  if (result == OOZE_OK) result = oz_scene_bodies(s, fill, body, user, why);
  for (uint32_t i = 0; i < s->fluid_count && result == OOZE_OK; i++) {
    oz_cloud cloud;
    uint64_t cut = 0;
    memset(&cloud, 0, sizeof cloud);
    const oz_fluid *f = &s->fluids[i];
    if (f->emit == OZ_EMIT_SURFACE || f->from > 0.0f) continue; /* empty at first */
    if (!s->fluids[i].keep_state)
      result = oz_fill_fluid(fill, &s->fluids[i], oz_in_solid, solids, &cloud, &cut, why);
    if (result == OOZE_OK && !s->fluids[i].keep_state && !cloud.count)
      result = oz_fail(why, OOZE_ERROR_ARGUMENT,
                       "%s: fluids.%s: not one particle fits in at a separation of %g m%s", s->file,
                       s->fluids[i].name, (double)s->separation,
                       cut ? ": all its room is taken by colliders or other fluids" : "");
    if (result == OOZE_OK && cut > CUT_TOLD * (cut + cloud.count))
      tell_cut(host, f->name, cut, &cloud);
    if (result == OOZE_OK) result = take(user, i, &cloud, why);
    oz_cloud_release(&cloud);
  }
  oz_fill_destroy(fill);
  oz_solids_destroy(solids);
  return result;
}

typedef struct adding {
  const ooze_scene *scene;
  ooze_solver *solver;
  const oz_fill_host *host; /* may be NULL */
} adding;

static ooze_result add_body(void *user, const oz_body_item *body, const ooze_body_desc *desc,
                            ooze_message *why) {
  const adding *a = user;
  return said(a->solver, ooze_body_add(a->solver, desc, NULL), a->scene, "body", body->fill.name,
              why);
}

static ooze_result add_cloud(void *user, uint32_t fluid, const oz_cloud *cloud, ooze_message *why) {
  const adding *a = user;
  const oz_fluid *f = &a->scene->fluids[fluid];
  if (f->keep_state) {
    ooze_points *points = NULL;
    OZ_TRY_OK(ooze_points_read(f->shape.file, &a->scene->limits, &points, why));
    if (a->host) oz_paint_tell_unread(points, f->name, 1, a->host->say, a->host->user);
    ooze_result result = oz_paint_points(a->scene, fluid, points, a->solver, why);
    if (result == OOZE_OK) result = ooze_points_to_solver(points, a->solver, why);
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

/* The boundary particles of a mesh, in two layers behind its surface, or on it if it is a sheet. */
static ooze_result give_points(const ooze_scene *s, uint32_t i, ooze_solver *solver,
                               ooze_collider handle, ooze_message *why) {
  const oz_collider_item *item = &s->colliders[i];
  const ooze_collider_desc *desc = &s->start.colliders[i].desc;
  ooze_mesh turned;
  ooze_mesh_samples samples;
  ooze_message inner = {""};
  if (desc->boundary != OOZE_BOUNDARY_PARTICLES || desc->shape != OOZE_SHAPE_SDF) return OOZE_OK;
  ooze_mesh_default(&turned);
  ooze_mesh_samples_default(&samples);
  const ooze_mesh *mesh = &item->shape.mesh;
  ooze_result result = OOZE_OK;
  if (item->shape.kind == OZ_SHAPE_REVOLVE) {
    result = oz_shape_tessellate(&item->shape, &turned, &inner);
    mesh = &turned;
  }
  if (result >= 0)
    result = ooze_mesh_sample(mesh, (double)s->separation, item->shell ? 0 : 2, &samples, &inner);
  float *x = result >= 0 ? malloc(((size_t)samples.count + 1) * 12) : NULL;
  if (result >= 0 && !x) result = OOZE_ERROR_MEMORY;
  if (result >= 0) result = ooze_mesh_samples_place(&samples, mesh->positions, mesh->triangles, x);
  /* the solver's frame of an SDF is moved by its offset */
  for (uint32_t k = 0; result >= 0 && k < samples.count; k++)
    for (int a = 0; a < 3; a++) x[3 * (size_t)k + (size_t)a] -= item->sdf.offset[a];
  if (result >= 0) {
    result = ooze_collider_points(solver, handle, samples.count, x, NULL);
    if (result < 0) snprintf(inner.text, sizeof inner.text, "%s", ooze_solver_message(solver));
  }
  free(x);
  ooze_mesh_samples_release(&samples);
  ooze_mesh_release(&turned);
  return result < 0 ? oz_fail(why, result, "%s: collider %s: %s", s->file, item->name, inner.text)
                    : OOZE_OK;
}

/* Friction and stick that a mesh's file has for each of its points. */
static ooze_result give_friction_map(const ooze_scene *s, uint32_t i, ooze_solver *solver,
                                     ooze_collider handle, ooze_message *why) {
  const oz_collider_item *item = &s->colliders[i];
  const ooze_mesh *mesh = &item->shape.mesh;
  ooze_mesh_samples samples;
  ooze_message inner = {""};
  if (item->shape.kind != OZ_SHAPE_MESH || !(mesh->friction || mesh->stick)) return OOZE_OK;
  ooze_mesh_samples_default(&samples);
  ooze_result result = ooze_mesh_sample(mesh, (double)s->separation, 0, &samples, &inner);
  float *x = result >= 0 ? malloc(((size_t)samples.count + 1) * 20) : NULL;
  if (result >= 0 && !x) result = OOZE_ERROR_MEMORY;
  if (result >= 0) {
    float *friction = x + 3 * (size_t)samples.count, *stick = friction + samples.count;
    (void)ooze_mesh_samples_place(&samples, mesh->positions, mesh->triangles, x);
    for (size_t k = 0; k < 3 * (size_t)samples.count; k++) x[k] -= item->sdf.offset[k % 3];
    if (mesh->friction)
      (void)ooze_mesh_samples_values(&samples, mesh->friction, mesh->triangles, friction);
    if (mesh->stick) (void)ooze_mesh_samples_values(&samples, mesh->stick, mesh->triangles, stick);
    result =
        ooze_collider_friction_map(solver, handle, s->separation, samples.count, x,
                                   mesh->friction ? friction : NULL, mesh->stick ? stick : NULL);
    if (result < 0) snprintf(inner.text, sizeof inner.text, "%s", ooze_solver_message(solver));
  }
  free(x);
  ooze_mesh_samples_release(&samples);
  return result < 0 ? oz_fail(why, result, "%s: collider %s: %s", s->file, item->name, inner.text)
                    : OOZE_OK;
}

ooze_result oz_scene_dress_collider(const ooze_scene *s, uint32_t i, ooze_solver *solver,
                                    ooze_collider handle, ooze_message *why) {
  OZ_TRY_OK(give_points(s, i, solver, handle, why));
  return give_friction_map(s, i, solver, handle, why);
}

ooze_result oz_scene_fill_solver(const ooze_scene *s, ooze_solver *solver, int fluids,
                                 ooze_collider *colliders, ooze_emitter *emitters,
                                 const oz_fill_host *host, ooze_message *why) {
  OZ_TRY_OK(
      said(solver, ooze_params_set(solver, &s->start.params), s, "solver", "parameters", why));
  for (uint32_t i = 0; i < s->material_count; i++) {
    uint32_t index = 0;
    OZ_TRY_OK(said(solver, ooze_material_add(solver, &s->start.materials[i], &index), s, "material",
                   s->looks[i].name, why));
    if (index != i + 1)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: the solver has materials already; a scene needs a new one", s->file);
  }
  for (uint32_t i = 0; i < s->collider_count; i++) {
    ooze_collider_desc desc;
    ooze_collider handle = 0;
    OZ_TRY_OK(oz_collider_desc_of(s, i, &s->start, &desc));
    OZ_TRY_OK(said(solver, ooze_collider_add(solver, &desc, &handle), s, "collider",
                   s->colliders[i].name, why));
    OZ_TRY_OK(oz_scene_dress_collider(s, i, solver, handle, why));
    if (colliders) colliders[i] = handle;
  }
  for (uint32_t i = 0; i < s->emitter_count; i++) {
    ooze_emitter_desc desc = s->start.emitters[i].desc;
    ooze_emitter handle = 0;
    desc.end = desc.start;
    OZ_TRY_OK(said(solver, ooze_emitter_add(solver, &desc, &handle), s, "emitter",
                   s->emitters[i].name, why));
    if (emitters) emitters[i] = handle;
  }
  adding a = {s, solver, host};
  uint64_t most = 1u << 30;
  if (fluids && s->max_memory) OZ_TRY_OK(oz_scene_most_particles(s, &most, why));
  return fluids ? oz_scene_fill_all(s, most, host, add_body, add_cloud, &a, why) : OOZE_OK;
}

static void log_warning(void *user, const char *text) {
  const ooze_hooks *hooks = user;
  if (hooks->log) hooks->log(hooks->user, OOZE_LOG_WARNING, text);
}

ooze_result ooze_scene_build(const ooze_scene *s, const ooze_solver_desc *machine,
                             ooze_solver **out, ooze_message *why) {
  if (!s || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  if (machine && machine->size >= sizeof machine->size)
    memcpy(&desc, machine, machine->size < sizeof desc ? machine->size : sizeof desc);
  desc.size = (uint32_t)sizeof desc;
  desc.particle_separation = s->separation;
  *out = NULL;
  OZ_TRY_OK(ooze_solver_create(&desc, out, why));
  const oz_fill_host host = {.threads = desc.threads, .user = &desc.hooks, .say = log_warning};
  ooze_result result = oz_scene_fill_solver(s, *out, 1, NULL, NULL, &host, why);
  if (result < 0) {
    ooze_solver_destroy(*out);
    *out = NULL;
  }
  return result;
}
