/* Points and meshes to .ply, binary little endian; ply_points.c says how attributes become
 * properties. SPDX-License-Identifier: Apache-2.0 */
#include "ply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How one attribute is stored: as it is, narrowed to int, or as pairs. */
typedef struct column {
  const oz_attribute *attribute;
  uint32_t offset, bytes; /* in a row; bytes of one component */
  bool narrow, pairs;
} column;

static void component_name(char *out, size_t capacity, const oz_attribute *a, uint32_t k) {
  static const char *const triples[3][4] = {
      {"P", "x", "y", "z"}, {"v", "vx", "vy", "vz"}, {"N", "nx", "ny", "nz"}};
  for (int t = 0; t < 3; t++)
    if (a->components == 3 && a->type <= OOZE_FLOAT64 && strcmp(a->name, triples[t][0]) == 0) {
      snprintf(out, capacity, "%s", triples[t][k + 1]);
      return;
    }
  if (a->components == 1)
    snprintf(out, capacity, "%s", a->name);
  else
    snprintf(out, capacity, "%s_%u", a->name, k);
}

static void write_property(oz_out *out, const column *c) {
  static const char *const types[] = {"float", "double", "int", "int", "int"};
  char name[OZ_MAX_NAME + 16];
  for (uint32_t k = 0; k < c->attribute->components; k++) {
    component_name(name, sizeof name, c->attribute, k);
    if (c->pairs)
      oz_out_text(out, "property uint %s_lo\nproperty int %s_hi\n", name, name);
    else
      oz_out_text(out, "property %s %s\n", types[c->attribute->type], name);
  }
}

/* Column by column into a few rows at a time, which stay in the cache. */
static void fill(const column *c, uint64_t first, uint64_t count, uint8_t *rows, size_t stride) {
  uint32_t components = c->attribute->components;
  const uint8_t *from =
      (const uint8_t *)c->attribute->data + first * components * oz_type_bytes(c->attribute->type);
  for (uint32_t k = 0; k < components; k++) {
    uint8_t *to = rows + c->offset + k * c->bytes;
    if (c->narrow) {
      const uint8_t *at = from + k * 8; /* the low half of each, on a little-endian machine */
      for (uint64_t i = 0; i < count; i++, to += stride, at += components * 8) memcpy(to, at, 4);
    } else if (c->bytes == 4) {
      const uint8_t *at = from + k * 4;
      for (uint64_t i = 0; i < count; i++, to += stride, at += components * 4) memcpy(to, at, 4);
    } else {
      const uint8_t *at = from + k * 8;
      for (uint64_t i = 0; i < count; i++, to += stride, at += components * 8) memcpy(to, at, 8);
    }
  }
}

/* Colours as viewers and Blender take them: three bytes, sRGB, beside Cd itself, which is linear.
 */
static uint8_t colour_byte(float linear) {
  const double c = linear > 0.0f ? (linear < 1.0f ? (double)linear : 1.0) : 0.0;
  const double srgb = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1.0 / 2.4) - 0.055;
  return (uint8_t)(255.0 * srgb + 0.5);
}
static void fill_colours(const oz_attribute *cd, uint64_t first, uint64_t count, uint8_t *rows,
                         size_t stride, uint32_t offset) {
  const float *from = (const float *)cd->data + 3 * first;
  for (uint64_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      rows[i * stride + offset + (size_t)k] = colour_byte(from[3 * i + (uint64_t)k]);
}

static void put_faces(oz_out *out, const ooze_mesh *mesh, const char *path) {
  enum { FACES = 4096, FACE = 13 };
  uint8_t *faces = malloc(FACES * FACE);
  if (!faces) {
    out->result = oz_fail(out->why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
    return;
  }
  for (uint64_t first = 0; first < mesh->triangle_count && out->result == OOZE_OK; first += FACES) {
    uint64_t n = mesh->triangle_count - first < FACES ? mesh->triangle_count - first : FACES;
    for (uint64_t i = 0; i < n; i++) {
      faces[i * FACE] = 3;
      memcpy(faces + i * FACE + 1, mesh->triangles + (first + i) * 3, 12);
    }
    oz_out_put(out, faces, (size_t)n * FACE);
  }
  free(faces);
}

ooze_result oz_ply_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                         const ooze_write_options *options, ooze_message *why) {
  enum { ROWS = 4096 };
  const oz_attribute *position = oz_points_find(points, "P", 1);
  if (!position || position->type != OOZE_FLOAT32 || position->components != 3)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: points to be written need P of 3 floats", path);
  OZ_TRY_OK(oz_check_finite(path, "P", position->data, points->count, 3, why));
  column *columns = calloc(points->attribute_count, sizeof *columns);
  if (!columns) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  uint32_t count = 0, stride = 0;
  for (uint32_t pass = 0; pass < 2; pass++) /* P first: some readers want x, y, z there */
    for (uint32_t i = 0; i < points->attribute_count; i++) {
      const oz_attribute *a = &points->attributes[i];
      if ((a == position) != (pass == 0)) continue;
      bool narrow = a->type == OOZE_UINT64 && oz_fits_int32(a, points->count);
      uint32_t bytes = narrow ? 4 : oz_type_bytes(a->type);
      columns[count++] = (column){a, stride, bytes, narrow, a->type >= OOZE_INT64 && !narrow};
      stride += bytes * a->components;
    }
  const oz_attribute *cd = oz_points_find(points, "Cd", 2);
  const uint32_t colours = stride;
  if (cd && cd->type == OOZE_FLOAT32 && cd->components == 3 && !oz_points_find(points, "red", 3))
    stride += 3;
  else
    cd = NULL;
  oz_out out;
  ooze_result result = oz_out_open(&out, path, why);
  if (result != OOZE_OK) {
    free(columns);
    return result;
  }
  uint8_t *rows = malloc((size_t)ROWS * stride);
  if (!rows) out.result = oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  oz_out_text(&out, "ply\nformat binary_little_endian 1.0\ncomment written by %.70s\n",
              options->software);
  for (uint32_t i = 0; i < points->detail_count; i++) {
    char text[48];
    oz_text_double(text, points->details[i].value);
    oz_out_text(&out, "comment ooze detail %s %s\n", points->details[i].name, text);
  }
  oz_out_text(&out, "element vertex %llu\n", (unsigned long long)points->count);
  for (uint32_t i = 0; i < count; i++) write_property(&out, &columns[i]);
  if (cd) oz_out_text(&out, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
  if (mesh)
    oz_out_text(&out, "element face %llu\nproperty list uchar int vertex_indices\n",
                (unsigned long long)mesh->triangle_count);
  oz_out_text(&out, "end_header\n");
  for (uint64_t first = 0; first < points->count && out.result == OOZE_OK; first += ROWS) {
    uint64_t n = points->count - first < ROWS ? points->count - first : ROWS;
    for (uint32_t i = 0; i < count; i++) fill(&columns[i], first, n, rows, stride);
    if (cd) fill_colours(cd, first, n, rows, stride, colours);
    oz_out_put(&out, rows, (size_t)n * stride);
  }
  if (mesh) put_faces(&out, mesh, path);
  free(rows);
  free(columns);
  out.ready = options->ready;
  out.user = options->user;
  return oz_out_close(&out, options->sync);
}
