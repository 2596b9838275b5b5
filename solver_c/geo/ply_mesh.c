/* Triangle meshes of .ply files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ply.h"

#include <stdlib.h>

typedef struct triangles {
  uint32_t *at;
  uint64_t count, capacity;
} triangles;

static ooze_result add_triangle(oz_source *source, triangles *t, uint32_t a, uint32_t b, uint32_t c,
                                uint64_t room) {
  if (t->count == t->capacity) {
    uint64_t capacity = t->capacity + t->capacity / 2 + 1024;
    if (capacity > room / 12) capacity = room / 12;
    if (capacity <= t->count)
      return oz_fail(source->why, OOZE_ERROR_LIMIT, "%s: needs more than the limit of %llu bytes",
                     source->name, (unsigned long long)source->limits.max_bytes);
    uint32_t *moved = realloc(t->at, (size_t)capacity * 12);
    if (!moved) return oz_fail(source->why, OOZE_ERROR_MEMORY, "%s: out of memory", source->name);
    t->at = moved;
    t->capacity = capacity;
  }
  uint32_t *to = t->at + t->count++ * 3;
  to[0] = a;
  to[1] = b;
  to[2] = c;
  return OOZE_OK;
}

static ooze_result read_faces(oz_source *source, ply_walk *walk, const ply_element *e,
                              uint64_t points, triangles *t, uint64_t room) {
  const ply_header *h = walk->header;
  OZ_TRY_OK(ply_expect(walk, e));
  for (uint64_t i = 0; i < e->count; i++)
    for (uint32_t k = 0; k < e->properties; k++) {
      const ply_property *p = &h->properties[e->first + k];
      bool corners = p->list && (ply_named(p->name, p->length, "vertex_indices") ||
                                 ply_named(p->name, p->length, "vertex_index"));
      double count = 1.0, value;
      uint32_t first = 0, last = 0;
      if (p->list && !ply_next(walk, p->count_type, &count))
        return ply_bad(source, "face %llu: the file is truncated", (unsigned long long)i);
      if (!(count >= 0.0))
        return ply_bad(source, "face %llu: a list with a negative count", (unsigned long long)i);
      for (double j = 0.0; j < count; j += 1.0) {
        if (!ply_next(walk, p->type, &value))
          return ply_bad(source, "face %llu: the file is truncated", (unsigned long long)i);
        if (!corners) continue;
        if (!(value >= 0.0 && value < (double)points) || value != (double)(uint32_t)value)
          return ply_bad(source, "face %llu: corner %.17g is no point; there are %llu",
                         (unsigned long long)i, value, (unsigned long long)points);
        if (j >= 2.0) OZ_TRY_OK(add_triangle(source, t, first, last, (uint32_t)value, room));
        if (j == 0.0) first = (uint32_t)value;
        last = (uint32_t)value;
      }
    }
  return OOZE_OK;
}

static const float *floats_of(const ooze_points *points, const char *name, uint32_t components) {
  const oz_attribute *a = oz_points_find(points, name, strlen(name));
  return a && a->type == OOZE_FLOAT32 && a->components == components ? a->data : NULL;
}

/* The vertices are read as points are; the faces in a second walk, so that either order in the file
 * is fine. */
ooze_result oz_ply_read_mesh(oz_source *source, ooze_mesh *out) {
  ooze_points *points = NULL;
  triangles t = {NULL, 0, 0};
  OZ_TRY_OK(oz_ply_read_points(source, &points));
  ply_header *h = malloc(sizeof *h);
  ooze_result result =
      h ? ply_read_header(source, h)
        : oz_fail(source->why, OOZE_ERROR_MEMORY, "%s: out of memory", source->name);
  if (result == OOZE_OK && points->count > UINT32_MAX)
    result = ply_bad(source, "more points than a mesh can have");
  if (result == OOZE_OK) {
    ply_walk walk = {source, h, source->bytes + h->body, source->bytes + source->count};
    uint64_t taken = points->count * 36,
             room = source->limits.max_bytes > taken ? source->limits.max_bytes - taken : 0;
    for (uint32_t i = 0; i < h->element_count && result == OOZE_OK; i++) {
      const ply_element *e = &h->elements[i];
      result = ply_named(e->name, e->length, "face")
                   ? read_faces(source, &walk, e, points->count, &t, room)
                   : ply_skip_element(&walk, e);
    }
  }
  if (result == OOZE_OK) {
    const float *n = floats_of(points, "N", 3), *v = floats_of(points, "v", 3),
                *f = floats_of(points, "friction", 1), *k = floats_of(points, "stick", 1);
    result = ooze_mesh_allocate(out, (uint32_t)points->count, 0,
                                (n ? OOZE_MESH_NORMALS : 0u) | (v ? OOZE_MESH_VELOCITIES : 0u) |
                                    (f ? OOZE_MESH_FRICTION : 0u) | (k ? OOZE_MESH_STICK : 0u),
                                source->why);
    if (result == OOZE_OK) {
      size_t bytes = (size_t)points->count * 12;
      memcpy(out->positions, floats_of(points, "P", 3), bytes);
      if (n) memcpy(out->normals, n, bytes);
      if (v) memcpy(out->velocities, v, bytes);
      if (f) memcpy(out->friction, f, bytes / 3);
      if (k) memcpy(out->stick, k, bytes / 3);
      if (t.at) {
        free(out->triangles);
        out->triangles = t.at;
        out->triangle_count = t.count;
        t.at = NULL;
      }
    }
  }
  free(t.at);
  free(h);
  ooze_points_destroy(points);
  return result;
}
