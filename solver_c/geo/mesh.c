/* Triangle meshes: memory, and .obj.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void ooze_mesh_face_out(ooze_mesh *mesh) {
  double volume = 0.0;
  if (!mesh || !mesh->point_count) return;
  /* any place would do; one of its own keeps the products small */
  const float *o = mesh->positions;
  for (uint64_t i = 0; i < mesh->triangle_count; i++) {
    double e[3][3];
    for (int c = 0; c < 3; c++)
      for (int k = 0; k < 3; k++)
        e[c][k] =
            (double)mesh->positions[3 * (size_t)mesh->triangles[3 * i + (uint64_t)c] + (size_t)k] -
            (double)o[k];
    for (int k = 0; k < 3; k++)
      volume +=
          e[0][k] * (e[1][(k + 1) % 3] * e[2][(k + 2) % 3] - e[1][(k + 2) % 3] * e[2][(k + 1) % 3]);
  }
  for (uint64_t i = 0; volume < 0.0 && i < mesh->triangle_count; i++) {
    uint32_t t = mesh->triangles[3 * i + 1];
    mesh->triangles[3 * i + 1] = mesh->triangles[3 * i + 2];
    mesh->triangles[3 * i + 2] = t;
  }
}

void ooze_mesh_release(ooze_mesh *mesh) {
  if (!mesh) return;
  free(mesh->positions);
  free(mesh->triangles);
  free(mesh->normals);
  free(mesh->velocities);
  free(mesh->friction);
  free(mesh->stick);
  ooze_points_destroy(mesh->channels);
  mesh->channels = NULL;
  mesh->positions = mesh->normals = mesh->velocities = mesh->friction = mesh->stick = NULL;
  mesh->triangles = NULL;
  mesh->point_count = 0;
  mesh->triangle_count = 0;
}

ooze_result ooze_mesh_allocate(ooze_mesh *mesh, uint32_t point_count, uint64_t triangle_count,
                               uint32_t with, ooze_message *why) {
  if (!mesh || mesh->size < sizeof *mesh)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no mesh given, or not filled by ooze_mesh_default");
  ooze_mesh made;
  ooze_mesh_default(&made);
  /* One element more, so that nothing is still something. */
  made.positions = calloc((size_t)point_count + 1, 12);
  made.triangles =
      triangle_count < SIZE_MAX / 12 - 1 ? calloc((size_t)triangle_count + 1, 12) : NULL;
  if (with & OOZE_MESH_NORMALS) made.normals = calloc((size_t)point_count + 1, 12);
  if (with & OOZE_MESH_VELOCITIES) made.velocities = calloc((size_t)point_count + 1, 12);
  if (with & OOZE_MESH_FRICTION) made.friction = calloc((size_t)point_count + 1, 4);
  if (with & OOZE_MESH_STICK) made.stick = calloc((size_t)point_count + 1, 4);
  if (!made.positions || !made.triangles || ((with & OOZE_MESH_NORMALS) && !made.normals) ||
      ((with & OOZE_MESH_VELOCITIES) && !made.velocities) ||
      ((with & OOZE_MESH_FRICTION) && !made.friction) ||
      ((with & OOZE_MESH_STICK) && !made.stick)) {
    ooze_mesh_release(&made);
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "out of memory for a mesh of %u points and %llu triangles", point_count,
                   (unsigned long long)triangle_count);
  }
  made.point_count = point_count;
  made.triangle_count = triangle_count;
  made.size = mesh->size;
  ooze_mesh_release(mesh);
  *mesh = made;
  return OOZE_OK;
}

static ooze_result with_channels(ooze_mesh *mesh, ooze_message *why) {
  if (!mesh || mesh->size < sizeof *mesh)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no mesh given, or not filled by ooze_mesh_default");
  return mesh->channels ? OOZE_OK : ooze_points_create(mesh->point_count, &mesh->channels, why);
}

ooze_result ooze_mesh_channel_add(ooze_mesh *mesh, const char *name, uint32_t type,
                                  uint32_t components, uint32_t meaning, void **out_data,
                                  ooze_message *why) {
  OZ_TRY_OK(with_channels(mesh, why));
  return ooze_points_add(mesh->channels, name, type, components, meaning, out_data, why);
}

ooze_result ooze_mesh_detail_set(ooze_mesh *mesh, const char *name, double value,
                                 ooze_message *why) {
  OZ_TRY_OK(with_channels(mesh, why));
  return ooze_points_detail_set(mesh->channels, name, value, why);
}

/* ---- .obj -------------------------------------------------------------------------------- */

typedef struct obj_line {
  const char *at, *end;
  uint64_t number;
} obj_line;

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next line; a backslash at its end joins the following one, and counts as a space. */
static bool next_line(const char **at, const char *end, obj_line *out) {
  if (*at >= end) return false;
  const char *stop = *at;
  for (;;) {
    const char *newline = memchr(stop, '\n', (size_t)(end - stop));
    if (!newline) {
      stop = end;
      break;
    }
    const char *before = newline;
    if (before > *at && before[-1] == '\r') before--;
    stop = newline;
    if (!(before > *at && before[-1] == '\\')) break;
    stop = newline + 1;
  }
  out->at = *at;
  out->end = stop;
  out->number++;
  *at = stop < end ? stop + 1 : end;
  return true;
}

static void skip_blank(obj_line *line) {
  while (line->at < line->end && (blank(*line->at) || *line->at == '\n' || *line->at == '\\'))
    line->at++;
}

/* Only lines "v " and "f " are read; all else (normals, textures, groups, materials) is passed
 * over. */
static char keyword(obj_line *line) {
  skip_blank(line);
  if (line->end - line->at < 2 || !blank(line->at[1])) return 0;
  char c = *line->at;
  if (c == 'v' || c == 'f') line->at++;
  return c == 'v' || c == 'f' ? c : 0;
}

static uint64_t count_corners(obj_line line) {
  uint64_t count = 0;
  for (skip_blank(&line); line.at < line.end && *line.at != '#'; skip_blank(&line), count++)
    while (line.at < line.end && !blank(*line.at) && *line.at != '\n') line.at++;
  return count;
}

static ooze_result obj_bad(const oz_source *source, const obj_line *line, const char *reason) {
  return oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: line %llu: %s", source->name,
                 (unsigned long long)line->number, reason);
}

static ooze_result fill(oz_source *source, ooze_mesh *mesh) {
  const char *at = (const char *)source->bytes, *end = at + source->count;
  obj_line line = {NULL, NULL, 0};
  uint64_t points = 0, triangles = 0;
  while (next_line(&at, end, &line)) {
    char what = keyword(&line);
    if (what == 'v') {
      for (int k = 0; k < 3; k++) {
        double value;
        skip_blank(&line);
        if (!oz_text_real(&line.at, line.end, &value))
          return obj_bad(source, &line, "a vertex needs three numbers");
        float *to = &mesh->positions[points * 3 + (unsigned)k];
        *to = (float)value;
        if (!isfinite(*to)) return obj_bad(source, &line, "a vertex is not finite");
      }
      points++;
    } else if (what == 'f') {
      uint32_t first = 0, last = 0, corner = 0;
      for (skip_blank(&line); line.at < line.end && *line.at != '#'; skip_blank(&line), corner++) {
        int64_t index;
        if (!oz_text_int(&line.at, line.end, &index))
          return obj_bad(source, &line, "a face's corner is no number");
        /* 1 is the first point; -1 the last one so far. */
        if (index < 0) index = index >= -(int64_t)points ? (int64_t)points + index + 1 : 0;
        if (index < 1 || index > (int64_t)mesh->point_count)
          return obj_bad(source, &line, "a face's corner is no point of the file");
        /* "/texture/normal" */
        while (line.at < line.end && !blank(*line.at) && *line.at != '\n') line.at++;
        uint32_t point = (uint32_t)(index - 1);
        if (corner >= 2) {
          uint32_t *to = &mesh->triangles[triangles++ * 3];
          to[0] = first;
          to[1] = last;
          to[2] = point;
        }
        if (corner == 0) first = point;
        last = point;
      }
      if (corner < 3) return obj_bad(source, &line, "a face needs three corners");
    }
  }
  return OOZE_OK;
}

/* "# 12 points", as Houdini and this writer begin a file: the number, where the line says so. */
static void declared(obj_line line, const char *word, uint64_t *out) {
  int64_t count;
  skip_blank(&line);
  if (line.at == line.end || *line.at++ != '#') return;
  skip_blank(&line);
  if (!oz_text_int(&line.at, line.end, &count) || count < 0) return;
  skip_blank(&line);
  const size_t length = strlen(word);
  if ((size_t)(line.end - line.at) >= length && memcmp(line.at, word, length) == 0)
    *out = (uint64_t)count;
}

/* Twice over the text: once to count, once to fill, so that memory is asked for once and only as
 * much as needed. */
ooze_result oz_obj_read(oz_source *source, ooze_mesh *out) {
  const char *at = (const char *)source->bytes, *end = at + source->count;
  if (memchr(at, 0, source->count))
    return oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: no .obj: it holds bytes that are no text",
                   source->name);
  obj_line line = {NULL, NULL, 0};
  uint64_t points = 0, triangles = 0, primitives = 0, bytes;
  uint64_t said_points = UINT64_MAX, said_primitives = 0; /* UINT64_MAX: not a word of them */
  while (next_line(&at, end, &line)) {
    declared(line, "points", &said_points);
    declared(line, "primitives", &said_primitives);
    char what = keyword(&line);
    points += what == 'v';
    primitives += what == 'f' || (line.end > line.at && *line.at == 'l');
    uint64_t corners = what == 'f' ? count_corners(line) : 0;
    triangles += corners > 2 ? corners - 2 : 0;
  }
  if (points == 0 && said_points == UINT64_MAX)
    return oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: no .obj, or one without vertices",
                   source->name);
  if (said_points == UINT64_MAX) said_points = 0;
  if (points < said_points || primitives < said_primitives)
    return oz_fail(
        source->why, OOZE_ERROR_FORMAT,
        "%s: has %llu points and %llu primitives of the %llu and %llu that its beginning "
        "tells; it is truncated",
        source->name, (unsigned long long)points, (unsigned long long)primitives,
        (unsigned long long)said_points, (unsigned long long)said_primitives);
  if (points > UINT32_MAX || !oz_mul(points + triangles, 12, &bytes) ||
      bytes > source->limits.max_bytes)
    return oz_fail(source->why, OOZE_ERROR_LIMIT,
                   "%s: %llu points and %llu triangles need more than the limit of %llu bytes",
                   source->name, (unsigned long long)points, (unsigned long long)triangles,
                   (unsigned long long)source->limits.max_bytes);
  OZ_TRY_OK(ooze_mesh_allocate(out, (uint32_t)points, triangles, 0, source->why));
  ooze_result result = fill(source, out);
  if (result != OOZE_OK) ooze_mesh_release(out);
  return result;
}

static void put_vectors(oz_out *out, const char *word, const float *values, uint64_t count) {
  char text[160];
  for (uint64_t i = 0; i < count; i++) {
    size_t used = strlen(word);
    memcpy(text, word, used);
    for (int k = 0; k < 3; k++) {
      text[used++] = ' ';
      used += (size_t)oz_text_float(text + used, values[i * 3 + (unsigned)k]);
    }
    text[used++] = '\n';
    oz_out_put(out, text, used);
  }
}

ooze_result oz_obj_write(const char *path, const ooze_mesh *mesh, const ooze_write_options *options,
                         ooze_message *why) {
  oz_out out;
  OZ_TRY_OK(oz_out_open(&out, path, why));
  oz_out_text(&out, "# written by %.70s\n# %u points\n# %llu primitives\n", options->software,
              mesh->point_count, (unsigned long long)mesh->triangle_count);
  for (uint32_t i = 0; mesh->channels && i < mesh->channels->detail_count; i++) {
    char text[48];
    oz_text_double(text, mesh->channels->details[i].value);
    oz_out_text(&out, "# ooze detail %s %s\n", mesh->channels->details[i].name, text);
  }
  put_vectors(&out, "v", mesh->positions, mesh->point_count);
  if (mesh->normals) put_vectors(&out, "vn", mesh->normals, mesh->point_count);
  for (uint64_t i = 0; i < mesh->triangle_count && out.result == OOZE_OK; i++) {
    const uint32_t *t = mesh->triangles + i * 3;
    uint64_t a = t[0] + UINT64_C(1), b = t[1] + UINT64_C(1), c = t[2] + UINT64_C(1);
    char text[160];
    int used = mesh->normals
                   ? snprintf(text, sizeof text, "f %llu//%llu %llu//%llu %llu//%llu\n",
                              (unsigned long long)a, (unsigned long long)a, (unsigned long long)b,
                              (unsigned long long)b, (unsigned long long)c, (unsigned long long)c)
                   : snprintf(text, sizeof text, "f %llu %llu %llu\n", (unsigned long long)a,
                              (unsigned long long)b, (unsigned long long)c);
    oz_out_put(&out, text, (size_t)used);
  }
  out.ready = options->ready;
  out.user = options->user;
  return oz_out_close(&out, options->sync);
}
