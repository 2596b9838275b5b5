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

/* ---- Rows and faces, filled side by side ---------------------------------------------------- */

/* Tables of rows, a batch of BLOCKS pieces of ROWS at a time. */
enum { ROWS = 4096, BLOCKS = 64, FACE = 13 };

typedef struct row_job {
  const column *columns;
  uint32_t column_count;
  const oz_attribute *cd; /* or NULL: no bytes of colour */
  const ooze_mesh *mesh;  /* for faces */
  uint32_t stride, colours;
  uint64_t first, count; /* of this batch */
  uint8_t *rows;
} row_job;

static void fill_rows(void *arg, uint32_t begin, uint32_t end) {
  const row_job *job = arg;
  for (uint64_t at = (uint64_t)begin * ROWS; at < job->count && at < (uint64_t)end * ROWS;
       at += ROWS) {
    const uint64_t n = job->count - at < ROWS ? job->count - at : ROWS;
    uint8_t *rows = job->rows + at * job->stride;
    for (uint32_t i = 0; i < job->column_count; i++)
      fill(&job->columns[i], job->first + at, n, rows, job->stride);
    if (job->cd) fill_colours(job->cd, job->first + at, n, rows, job->stride, job->colours);
  }
}

static void fill_faces(void *arg, uint32_t begin, uint32_t end) {
  const row_job *job = arg;
  const uint64_t last = (uint64_t)end * ROWS;
  for (uint64_t i = (uint64_t)begin * ROWS; i < job->count && i < last; i++) {
    job->rows[i * FACE] = 3;
    memcpy(job->rows + i * FACE + 1, job->mesh->triangles + (job->first + i) * 3, 12);
  }
}

static void put_rows(oz_out *out, row_job *job, uint64_t count, ooze_range_fn body,
                     const oz_loop *loop, const char *path) {
  const uint64_t most = count < (uint64_t)ROWS * BLOCKS ? count : (uint64_t)ROWS * BLOCKS;
  job->rows = malloc((size_t)most * job->stride + 1);
  if (!job->rows) out->result = oz_fail(out->why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  for (job->first = 0; job->first < count && out->result == OOZE_OK; job->first += most) {
    job->count = count - job->first < most ? count - job->first : most;
    oz_loop_run(loop, (uint32_t)((job->count - 1) / ROWS + 1), body, job);
    oz_out_put(out, job->rows, (size_t)job->count * job->stride);
  }
  free(job->rows);
}

ooze_result oz_ply_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                         const ooze_write_options *options, ooze_message *why) {
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
  oz_loop loop;
  oz_loop_open(&loop, NULL, points->count <= ROWS ? 1 : options->threads);
  row_job job = {columns, count, cd, mesh, stride, colours, 0, 0, NULL};
  put_rows(&out, &job, points->count, fill_rows, &loop, path);
  job.stride = FACE;
  if (mesh) put_rows(&out, &job, mesh->triangle_count, fill_faces, &loop, path);
  oz_loop_close(&loop);
  free(columns);
  out.ready = options->ready;
  out.user = options->user;
  return oz_out_close(&out, options->sync);
}
