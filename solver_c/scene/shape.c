/* The shape of a fluid or a collider, from a scene. SPDX-License-Identifier: Apache-2.0 */
#include "geo/folders.h"
#include "read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const shape_keys[] = {"size",    "half",     "radius", "height",
                                         "profile", "capsules", "file",   "scale"};

/* OZ_SHAPE_KINDS where there is none of that name. */
static oz_shape_kind kind_named(const char *word) {
  int kind = 0;
  while (kind < OZ_SHAPE_KINDS && strcmp(oz_shape_word((oz_shape_kind)kind), word) != 0) kind++;
  return (oz_shape_kind)kind;
}

static ooze_result needs(oz_reader *r, const char *key, const char *what) {
  oz_down(r, key);
  return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "is missing; expected %s", what);
}

/* A list of lists of `width` numbers each. */
static ooze_result rows_of(oz_reader *r, const char *group, json_t *object, const char *key,
                           size_t width, size_t least, float **out, uint32_t *count) {
  json_t *list = json_object_get(object, key);
  ooze_schema_entry e;
  char text[80];
  if (!list)
    return needs(r, key, width == 2 ? "[[r, y], ...]" : "[[x, y, z, x, y, z, radius], ...]");
  size_t mark = oz_down(r, key), n = json_array_size(list);
  oz_json_short(list, text, sizeof text);
  if (!json_is_array(list) || n < least || n > 100000)
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "%s; expected a list of %zu to 100000 rows of %zu numbers", text, least,
                     width);
  if (!oz_key_find(group, key, &e)) return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "has no entry");
  *out = malloc(n * width * sizeof **out);
  if (!*out) return OZ_NO_MEMORY(r);
  for (size_t i = 0; i < n; i++) {
    const json_t *row = json_array_get(list, i);
    size_t inner = oz_down_index(r, i);
    oz_json_short(row, text, sizeof text);
    if (!json_is_array(row) || json_array_size(row) != width)
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s; expected %zu numbers", text, width);
    for (size_t k = 0; k < width; k++) {
      const json_t *v = json_array_get(row, k);
      int positive = (width == 2 && k == 0) || (width == 7 && k == 6);
      if (!json_is_number(v) || !(json_number_value(v) >= (positive ? 0.0 : e.minimum) &&
                                  json_number_value(v) <= e.maximum))
        return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s; expected %zu numbers in m%s", text, width,
                         positive ? ", the radius 0 or more" : "");
      (*out)[i * width + k] = (float)json_number_value(v);
    }
    oz_up(r, inner);
  }
  *count = (uint32_t)n;
  oz_up(r, mark);
  return OOZE_OK;
}

static uint64_t hash_of(const unsigned char *bytes, size_t count) { /* FNV-1a */
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < count; i++) h = (h ^ bytes[i]) * UINT64_C(1099511628211);
  return h;
}

/* The #### in a file's name, or NULL; a folder may well be called #1. */
static const char *frame_mark(const char *path) {
  const char *name = path;
  for (const char *c = path; *c; c++)
    if (oz_os_is_slash(*c)) name = c + 1;
  return strchr(name, '#');
}

ooze_result oz_sequence_path(const char *pattern, int32_t frame, char *out, size_t room,
                             ooze_message *why) {
  const char *mark = frame_mark(pattern);
  const int before = mark ? (int)(mark - pattern) : 0, digits = mark ? (int)strspn(mark, "#") : 0;
  int n = mark ? snprintf(out, room, "%.*s%0*d%s", before, pattern, digits, frame, mark + digits)
               : snprintf(out, room, "%s", pattern);
  if (n < 0 || (size_t)n >= room)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%.60s...: the path is too long", pattern);
  return OOZE_OK;
}

ooze_result oz_sequence_mesh(const ooze_scene *s, const oz_shape *shape, int32_t frame,
                             ooze_mesh *out, ooze_message *why) {
  char path[4000];
  ooze_mesh_default(out);
  OZ_TRY_OK(oz_sequence_path(shape->file, frame, path, sizeof path, why));
  OZ_TRY_OK(ooze_mesh_read(path, &s->limits, out, why));
  if (out->point_count != shape->mesh.point_count ||
      out->triangle_count != shape->mesh.triangle_count) {
    const uint32_t points = out->point_count;
    const unsigned long long triangles = (unsigned long long)out->triangle_count;
    ooze_mesh_release(out);
    return oz_fail(
        why, OOZE_ERROR_FORMAT,
        "%s: has %u points and %llu triangles; expected %u and %llu, as the first frame's mesh has",
        path, points, triangles, shape->mesh.point_count,
        (unsigned long long)shape->mesh.triangle_count);
  }
  for (size_t i = 0; i < (size_t)out->point_count * 3; i++) out->positions[i] *= shape->scale;
  return OOZE_OK;
}

static int can_be_opened(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f) fclose(f);
  return f != NULL;
}

/* A run that fails at its hundredth frame for want of a file has cost more than looking for them
 * all. */
static ooze_result all_there(oz_reader *r, const oz_shape *shape) {
  char path[4000];
  ooze_message inner = {""};
  for (int32_t frame = r->scene->output.first; frame <= r->scene->output.last; frame++) {
    if (oz_sequence_path(shape->file, frame, path, sizeof path, &inner) < 0)
      return oz_refuse(r, OOZE_ERROR_LIMIT, "%s", inner.text);
    if (!can_be_opened(path))
      return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                       "%s: cannot be opened; expected a file for each frame from %d to %d", path,
                       r->scene->output.first, r->scene->output.last);
  }
  return OOZE_OK;
}

/* Is there a triangle whose corners are not on a line? */
static int has_area(const ooze_mesh *m) {
  for (uint64_t t = 0; t < m->triangle_count; t++) {
    const float *corner[3];
    double u[3], v[3], area2 = 0.0;
    for (int k = 0; k < 3; k++)
      corner[k] = m->positions + 3 * (size_t)m->triangles[3 * t + (size_t)k];
    for (int k = 0; k < 3; k++) {
      u[k] = (double)corner[1][k] - (double)corner[0][k];
      v[k] = (double)corner[2][k] - (double)corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
      const int p = (k + 1) % 3, q = (k + 2) % 3;
      area2 += pow(u[p] * v[q] - u[q] * v[p], 2);
    }
    if (area2 > 0.0) return 1;
  }
  return 0;
}

/* Beside the scene file unless the path is absolute. */
static ooze_result find_file(oz_reader *r, const char *group, json_t *object, oz_shape *out) {
  char *name = NULL;
  if (!json_object_get(object, "file"))
    return needs(r, "file", "the path of a file beside the scene");
  ooze_result result = oz_get_text(r, "", object, "file", &name);
  if (result != OOZE_OK) return result;
  int absolute = oz_os_is_slash(name[0]) || (name[0] && name[1] == ':');
  size_t room = strlen(r->scene->folder) + strlen(name) + 1;
  out->file = malloc(room);
  if (out->file) snprintf(out->file, room, "%s%s", absolute ? "" : r->scene->folder, name);
  free(name);
  if (!out->file) return OZ_NO_MEMORY(r);
  ooze_message inner = {""};
  void *bytes = NULL;
  size_t count = 0;
  size_t mark = oz_down(r, "file");
  char path[4000];
  if (frame_mark(out->file)) {
    if (strcmp(group, "collider") != 0 || out->kind != OZ_SHAPE_MESH)
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "#### stands for the frame's number in the meshes of a collider alone");
    out->sequence = 1;
    OZ_TRY_OK(all_there(r, out));
  }
  if (oz_sequence_path(out->file, r->scene->output.first, path, sizeof path, &inner) < 0)
    return oz_refuse(r, OOZE_ERROR_LIMIT, "%s", inner.text);
  if (r->keys_alone) {
    if (!can_be_opened(path))
      return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                       "%s: cannot be opened; expected a file that can be read", path);
    oz_up(r, mark);
    return OOZE_OK;
  }
  result = ooze_file_read(path, r->scene->limits.max_bytes, &bytes, &count, &inner);
  if (result < 0) return oz_refuse(r, result, "%s; expected a file that can be read", inner.text);
  out->file_hash = hash_of(bytes, count);
  if (out->kind == OZ_SHAPE_MESH) {
    ooze_mesh_default(&out->mesh);
    result = ooze_mesh_read_memory(path, bytes, count, &r->scene->limits, &out->mesh, &inner);
    if (result >= 0 && !has_area(&out->mesh)) {
      result = OOZE_ERROR_FORMAT;
      snprintf(inner.text, sizeof inner.text, "%.400s: has no triangle%s", path,
               out->mesh.triangle_count ? " with an area: the corners of each are on a line" : "");
    }
    for (size_t i = 0; result >= 0 && i < (size_t)out->mesh.point_count * 3; i++)
      out->mesh.positions[i] *= out->scale;
  }
  ooze_io_free(bytes);
  if (result < 0) return oz_refuse(r, result, "%s", inner.text);
  /* The written copy of the scene must find the file from anywhere. */
  oz_absolute_path(out->file, path, sizeof path);
  if (json_object_set_new(object, "file", json_string(path)) != 0) return OZ_NO_MEMORY(r);
  oz_up(r, mark);
  return OOZE_OK;
}

/* " a b c " as "a, b or c". */
static void list_keys(const char *keys, char *out, size_t room) {
  out[0] = 0;
  for (const char *word = keys + 1; *word;) {
    const size_t length = strcspn(word, " "), at = strlen(out);
    const char *next = word + length + 1;
    snprintf(out + at, room - at, "%s%.*s", !at ? "" : *next ? ", " : " or ", (int)length, word);
    word = next;
  }
}

/* Keys of a size that the shape does not have are refused. */
static ooze_result check_size_keys(oz_reader *r, json_t *object, oz_shape_kind kind) {
  const char *fit = oz_shape_keys(kind);
  for (size_t i = 0; i < sizeof shape_keys / sizeof *shape_keys; i++) {
    char padded[32];
    snprintf(padded, sizeof padded, " %s ", shape_keys[i]);
    if (!json_object_get(object, shape_keys[i]) || strstr(fit, padded)) continue;
    /* harmless */
    if (kind == OZ_SHAPE_PLANE && strcmp(shape_keys[i], "half") == 0) continue;
    char list[80];
    list_keys(fit, list, sizeof list);
    oz_down(r, shape_keys[i]);
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "a %s has none; expected %s", oz_shape_word(kind),
                     list[0] ? list : "no size at all");
  }
  return OOZE_OK;
}

/* The size of a shape of closed form, in whichever way the scene gives it. */
static ooze_result read_size(oz_reader *r, const char *group, json_t *object, oz_shape *out) {
  float radius = 0.0f, height = 0.0f, size[3] = {0, 0, 0};
  const int has_half = json_object_get(object, "half") != NULL,
            has_size = json_object_get(object, "size") != NULL,
            has_radius = json_object_get(object, "radius") != NULL,
            has_height = json_object_get(object, "height") != NULL;
  OZ_TRY_OK(oz_get_vector(r, group, object, "half", out->half));
  OZ_TRY_OK(oz_get_vector(r, group, object, "size", size));
  OZ_TRY_OK(oz_get_float(r, group, object, "radius", &radius));
  OZ_TRY_OK(oz_get_float(r, group, object, "height", &height));
  if (has_half && (has_size || has_radius || has_height)) {
    oz_down(r, "half");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "stands beside %s; expected one way of giving the size",
                     has_size ? "size" : "radius or height");
  }
  if (has_half || !oz_shape_is_sized(out)) return OOZE_OK;

  const char *keys = oz_shape_keys(out->kind);
  if (strstr(keys, " size ")) {
    if (!has_size) return needs(r, "size", "[x, y, z] in m");
    for (int k = 0; k < 3; k++) out->half[k] = 0.5f * size[k];
    return OOZE_OK;
  }
  if (!strstr(keys, " height ")) {
    if (!has_radius) return needs(r, "radius", "a radius in m");
    out->half[0] = radius;
    return OOZE_OK;
  }
  if (!has_radius || !has_height)
    return needs(r, has_radius ? "height" : "radius", "radius and height in m");
  out->half[0] = radius;
  out->half[1] = 0.5f * height - (out->kind == OZ_SHAPE_CAPSULE ? radius : 0.0f);
  if (out->half[1] < 0.0f) {
    oz_down(r, "height");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "%g m is less than twice the radius; expected %g m or more", (double)height,
                     2.0 * (double)radius);
  }
  return OOZE_OK;
}

/* Rows of `width` numbers, scaled. */
static ooze_result read_rows(oz_reader *r, const char *group, json_t *object, const char *key,
                             size_t width, size_t least, float scale, float **out,
                             uint32_t *count) {
  OZ_TRY_OK(rows_of(r, group, object, key, width, least, out, count));
  for (uint32_t i = 0; i < width * *count; i++) (*out)[i] *= scale;
  return OOZE_OK;
}

ooze_result oz_read_shape(oz_reader *r, const char *group, json_t *object, oz_shape *out) {
  double kind = 0.0;
  float *list = NULL;
  ooze_result result = OOZE_OK;
  if (!json_object_get(object, "shape")) return needs(r, "shape", "the form, such as \"box\"");
  OZ_TRY_OK(oz_get_number(r, group, object, "shape", &kind));
  out->kind = kind_named(json_string_value(json_object_get(object, "shape")));
  if (out->kind == OZ_SHAPE_KINDS) {
    out->kind = OZ_SHAPE_PLANE;
    return needs(r, "shape", "a form that this build knows");
  }
  OZ_TRY_OK(check_size_keys(r, object, out->kind));
  out->scale = 1.0f;
  out->half[0] = out->half[1] = out->half[2] = 0.5f;
  OZ_TRY_OK(oz_get_float(r, group, object, "scale", &out->scale));
  OZ_TRY_OK(read_size(r, group, object, out));
  if (out->kind == OZ_SHAPE_REVOLVE) {
    result = read_rows(r, group, object, "profile", 2, 3, out->scale, &list, &out->profile_count);
    out->profile = (float(*)[2])list;
  } else if (out->kind == OZ_SHAPE_CAPSULES) {
    result = read_rows(r, group, object, "capsules", 7, 1, out->scale, &list, &out->capsule_count);
    out->capsules = (float(*)[7])list;
  } else if (strstr(oz_shape_keys(out->kind), " file ")) {
    result = find_file(r, group, object, out);
  }
  OZ_TRY_OK(result);
  for (int k = 0; k < 3; k++) {
    const int used = out->kind == OZ_SHAPE_BOX || k == 0;
    out->half[k] *= out->scale;
    if (oz_shape_is_sized(out) && used && !(out->half[k] > 0.0f)) {
      oz_down(r, "half");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "the shape is flat; expected sizes above 0");
    }
  }
  return OOZE_OK;
}
