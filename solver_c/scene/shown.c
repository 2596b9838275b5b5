/* Things in a scene's pictures beside the fluid: colliders and bodies, as shapes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rigid body is drawn as the shape that it was filled from, where its particles are now: crisp
 * edges, however few particles it has. A soft one has a surface of its own particles alone, so that
 * a petal in cream keeps its outline. */
#include "scene_internal.h"

#include <math.h>
#include <stdlib.h>

void oz_shown_release(oz_shown *d) {
  for (uint32_t i = 0; i < d->mesh_count; i++) ooze_mesh_release(&d->meshes[i]);
  free(d->meshes);
  free(d->shapes);
  free(d->fluid);
  free(d->which);
}

static ooze_result make_room(oz_shown *d, size_t shapes, size_t meshes, ooze_message *why) {
  ooze_render_shape *s = realloc(d->shapes, (d->count + shapes + 1) * sizeof *s);
  if (s) d->shapes = s;
  ooze_mesh *m = realloc(d->meshes, (d->mesh_count + meshes + 1) * sizeof *m);
  if (m) d->meshes = m;
  return s && m ? OOZE_OK : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for the picture");
}

/* A capsule between two points, stood up along its own axis. */
static void lay(const float *p, const ooze_pose *pose, ooze_render_shape *out) {
  double along[3], middle[3], length = 0.0, at[3], q[4], n = 0.0;
  for (int k = 0; k < 3; k++) {
    along[k] = (double)p[3 + k] - (double)p[k];
    middle[k] = 0.5 * ((double)p[3 + k] + (double)p[k]);
    length += along[k] * along[k];
  }
  length = sqrt(length);
  for (int k = 0; k < 3; k++) along[k] = length > 0.0 ? along[k] / length : k == 1;
  q[0] = along[2], q[1] = 0.0, q[2] = -along[0], q[3] = 1.0 + along[1]; /* from y to the axis */
  if (q[3] < 1e-6) q[0] = 1.0, q[2] = 0.0, q[3] = 0.0;
  for (int k = 0; k < 4; k++) n += q[k] * q[k];
  for (int k = 0; k < 4; k++) q[k] /= sqrt(n);
  const float *o = pose->rotation;
  double r[4] = {(double)o[0], (double)o[1], (double)o[2], (double)o[3]};
  out->pose.rotation[0] = (float)(r[3] * q[0] + r[0] * q[3] + r[1] * q[2] - r[2] * q[1]);
  out->pose.rotation[1] = (float)(r[3] * q[1] + r[1] * q[3] + r[2] * q[0] - r[0] * q[2]);
  out->pose.rotation[2] = (float)(r[3] * q[2] + r[2] * q[3] + r[0] * q[1] - r[1] * q[0]);
  out->pose.rotation[3] = (float)(r[3] * q[3] - r[0] * q[0] - r[1] * q[1] - r[2] * q[2]);
  oz_pose_apply(pose, middle, at);
  for (int k = 0; k < 3; k++) out->pose.position[k] = (float)at[k];
  out->shape = OOZE_SHAPE_CAPSULE;
  out->half[0] = p[6];
  out->half[1] = (float)(0.5 * length);
}

/* The pieces of one shape; `like` has their common values. Room was made. */
static ooze_result put(oz_shown *d, const ooze_scene *s, double frame, const oz_shape *shape,
                       const ooze_render_shape *like, ooze_message *why) {
  uint32_t pieces = shape->kind == OZ_SHAPE_CAPSULES ? shape->capsule_count : 1;
  for (uint32_t c = 0; c < pieces; c++) {
    ooze_render_shape *out = &d->shapes[d->count++];
    *out = *like;
    if (shape->kind == OZ_SHAPE_CAPSULES) {
      lay(shape->capsules[c], &like->pose, out);
    } else if (shape->kind == OZ_SHAPE_REVOLVE || shape->kind == OZ_SHAPE_MESH) {
      const ooze_mesh *mesh = &shape->mesh;
      if (shape->kind == OZ_SHAPE_REVOLVE || shape->sequence) {
        ooze_mesh *made = &d->meshes[d->mesh_count++];
        ooze_mesh_default(made);
        OZ_TRY_OK(shape->sequence ? oz_sequence_mesh(s, shape, (int32_t)lround(frame), made, why)
                                  : oz_shape_tessellate(shape, made, why));
        mesh = made;
      }
      out->point_count = mesh->point_count;
      out->points = mesh->positions;
      out->triangle_count = (uint32_t)mesh->triangle_count;
      out->triangles = mesh->triangles;
    }
  }
  return OOZE_OK;
}

ooze_result oz_show_colliders(const ooze_scene *s, double frame, oz_shown *d, ooze_message *why) {
  oz_state state;
  OZ_TRY_OK(oz_state_copy(s, &state, why));
  oz_state_at(s, oz_frame_time(s, frame), &state);
  ooze_result result = OOZE_OK;
  for (uint32_t i = 0; i < s->collider_count && result >= 0; i++) {
    const oz_collider_item *item = &s->colliders[i];
    const ooze_collider_desc *desc = &state.colliders[i].desc;
    ooze_render_shape like;
    if (desc->role == OOZE_ROLE_KILL || item->shape.kind == OZ_SHAPE_VDB) continue;
    ooze_render_shape_default(&like);
    like.shape = desc->shape;
    like.invert = desc->invert;
    like.hidden = item->hidden;
    like.pose = desc->start;
    memcpy(like.half, desc->half, sizeof like.half);
    memcpy(like.colour, item->colour, sizeof like.colour);
    result = make_room(d, 1 + item->shape.capsule_count, 1, why);
    if (result >= 0) result = put(d, s, frame, &item->shape, &like, why);
  }
  oz_state_release(&state);
  return result;
}

/* ---- Bodies ------------------------------------------------------------------------------ */

/* Which of the scene's bodies has the handle: they were made in its order, each copy one. */
static const oz_body_item *body_of(const ooze_scene *s, uint32_t handle) {
  uint64_t first = 1;
  for (uint32_t i = 0; i < s->body_count; i++) {
    const uint32_t *n = s->bodies[i].fill.count;
    uint64_t copies = (uint64_t)n[0] * n[1] * n[2];
    if (handle >= first && handle < first + copies) return &s->bodies[i];
    first += copies;
  }
  return NULL;
}

static ooze_result put_soft(oz_shown *d, const ooze_render_shape *like, const float *x,
                            uint32_t count, double separation, uint32_t threads,
                            ooze_message *why) {
  ooze_surface_desc sd;
  ooze_surface_points sp;
  ooze_surface *surface = NULL;
  ooze_surface_desc_default(&sd);
  ooze_surface_points_default(&sp);
  sd.method = OOZE_SURFACE_ANISOTROPIC;
  sd.separation = (float)separation;
  sd.voxel = (float)(0.35 * separation); /* petals are two particles thick */
  sd.attributes = OOZE_FILL_NONE;
  sd.threads = threads;
  sp.count = count;
  sp.positions = x;
  ooze_mesh *mesh = &d->meshes[d->mesh_count];
  ooze_mesh_default(mesh);
  OZ_TRY_OK(ooze_surface_build(&sd, &sp, &surface, why));
  ooze_result result = ooze_surface_mesh(surface, 0.0, mesh, why);
  ooze_surface_destroy(surface);
  OZ_TRY_OK(result);
  d->mesh_count++;
  ooze_render_shape *out = &d->shapes[d->count++];
  *out = *like;
  ooze_pose_default(&out->pose);
  out->shape = OOZE_SHAPE_SDF;
  out->point_count = mesh->point_count;
  out->points = mesh->positions;
  out->triangle_count = (uint32_t)mesh->triangle_count;
  out->triangles = mesh->triangles;
  return OOZE_OK;
}

/* One body's particles, x and their rest places. 1 if it is drawn, 0 if it is not one of the
 * scene's. */
static ooze_result show_body(const ooze_scene *s, uint32_t handle, const float *x,
                             const float *rest, uint32_t count, double separation, uint32_t threads,
                             oz_shown *d, int *drawn, ooze_message *why) {
  const oz_body_item *body = body_of(s, handle);
  ooze_render_shape like;
  *drawn = 0;
  if (!body) return OOZE_OK;
  const oz_shape *shape = &body->fill.shape;
  const ooze_look *look = &s->looks[body->fill.material].look;
  ooze_render_shape_default(&like);
  memcpy(like.colour, look->colour, sizeof like.colour);
  memcpy(like.half, shape->half, sizeof like.half);
  like.gloss = look->gloss;
  OZ_TRY_OK(make_room(d, 1 + shape->capsule_count, 1, why));
  if (body->desc.kind == OOZE_BODY_SOFT || shape->kind == OZ_SHAPE_POINTS) {
    ooze_result result = put_soft(d, &like, x, count, separation, threads, why);
    /* a build that makes no meshes: it stays in the fluid's surface */
    if (result == OOZE_ERROR_UNSUPPORTED) {
      if (why) why->text[0] = 0;
      return OOZE_OK;
    }
    *drawn = result >= 0;
    return result;
  }
  like.shape = oz_shape_of_solver(shape);
  OZ_TRY_OK(ooze_pose_fit(rest, x, count, &like.pose, NULL, why));
  OZ_TRY_OK(put(d, s, 0.0, shape, &like, why));
  *drawn = 1;
  return OOZE_OK;
}

typedef struct member {
  uint32_t handle, index;
} member;
static int by_handle(const void *a, const void *b) {
  const member *p = a, *q = b;
  if (p->handle != q->handle) return p->handle < q->handle ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

static int rising(const void *a, const void *b) {
  uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
  return p < q ? -1 : p > q;
}

ooze_result oz_show_bodies(const ooze_scene *s, const ooze_points *points, double separation,
                           uint32_t threads, oz_shown *d, ooze_message *why) {
  ooze_points_attribute p, r, o;
  const uint32_t n = (uint32_t)ooze_points_count(points);
  ooze_points_attribute_default(&p);
  ooze_points_attribute_default(&r);
  ooze_points_attribute_default(&o);
  if (ooze_points_find(points, "P", &p) != OOZE_OK ||
      ooze_points_find(points, "bodyrest", &r) != OOZE_OK ||
      ooze_points_find(points, "owner", &o) != OOZE_OK || p.type != OOZE_FLOAT32 ||
      r.type != OOZE_FLOAT32 || p.components != 3 || r.components != 3 || o.components != 1 ||
      o.type != OOZE_INT32)
    return OOZE_OK; /* a cache of another program: all of it is fluid */
  const float *x = p.data, *rest = r.data;
  const int32_t *owner = o.data;
  member *all = malloc(((size_t)n + 1) * sizeof *all);
  float *at = malloc(((size_t)n + 1) * 6 * sizeof *at);
  uint32_t *which = malloc(((size_t)n + 1) * sizeof *which), fluid = 0;
  ooze_result result = all && at && which
                           ? OOZE_OK
                           : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for the picture");
  for (uint32_t i = 0; i < n && result >= 0; i++) {
    all[i].handle = (uint32_t)owner[i] & 0x0fffffffu; /* above is the kind of body */
    all[i].index = i;
  }
  if (result >= 0) qsort(all, n, sizeof *all, by_handle);
  for (uint32_t i = 0, end; i < n && result >= 0; i = end) {
    for (end = i; end < n && all[end].handle == all[i].handle; end++) {
      memcpy(at + 3 * (size_t)(end - i), x + 3 * (size_t)all[end].index, 3 * sizeof *at);
      memcpy(at + 3 * ((size_t)n + (end - i)), rest + 3 * (size_t)all[end].index, 3 * sizeof *at);
    }
    int drawn = 0;
    if (all[i].handle)
      result = show_body(s, all[i].handle, at, at + 3 * (size_t)n, end - i, separation, threads, d,
                         &drawn, why);
    for (uint32_t k = i; k < end && !drawn; k++) which[fluid++] = all[k].index;
  }
  free(all);
  if (result < 0) {
    free(at);
    free(which);
    return result;
  }
  qsort(which, fluid, sizeof *which, rising);
  for (uint32_t i = 0; i < fluid; i++)
    memcpy(at + 3 * (size_t)i, x + 3 * (size_t)which[i], 3 * sizeof *at);
  d->fluid = at;
  d->which = which;
  d->fluid_count = fluid;
  return OOZE_OK;
}
