/* Houdini geometry as Houdini writes it: the same keys in the same order, the same types for P, v,
 * id and pscale. Left out are artist, host and date: the same points give the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_emit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The file format version of the samples that the tests compare with; newer Houdinis
 * read all older ones. */
static const char *const file_version = "19.5.752";

static void pair_open(geo_emit *e, const char *key) {
  geo_emit_string(e, key);
  geo_emit_open(e, '[');
}
static void pair_int(geo_emit *e, const char *key, int64_t value) {
  geo_emit_string(e, key);
  geo_emit_int(e, value);
}
static void pair_string(geo_emit *e, const char *key, const char *value) {
  geo_emit_string(e, key);
  geo_emit_string(e, value);
}
/* A key within { }: in ASCII a colon follows it. */
static void map_key(geo_emit *e, const char *key) {
  geo_emit_string(e, key);
  if (!e->binary) {
    oz_out_put(e->out, ":", 1);
    e->first = true;
  }
}

static const char *storage_name(uint32_t type) {
  static const char *const names[] = {"fpreal32", "fpreal64", "int32", "int64", "int64"};
  return names[type];
}

static const char *meaning_name(uint32_t meaning) {
  static const char *const names[] = {
      NULL, "point", "vector", "normal", "color", "nonarithmetic_integer", NULL};
  return names[meaning];
}

/* VEX's defaults of a missing attribute; id starts at -1 in Houdini too. */
static double default_of(const char *name) {
  return strcmp(name, "id") == 0 ? -1.0 : strcmp(name, "pscale") == 0 ? 1.0 : 0.0;
}

static void write_attribute(geo_emit *e, const oz_attribute *a, uint64_t count,
                            const oz_loop *loop) {
  oz_attribute stored = *a;
  void *narrow = NULL;
  if (a->type == OOZE_UINT64) {
    stored.type = OOZE_INT64;
    uint64_t n = count * a->components;
    if (oz_or_words(a->data, n, loop) <= INT32_MAX) { /* as Houdini's own ids are */
      int32_t *ids = malloc(n ? (size_t)n * 4 : 1);
      if (!ids) {
        if (e->out->result == OOZE_OK)
          e->out->result = oz_fail(e->out->why, OOZE_ERROR_MEMORY, "out of memory");
        return;
      }
      oz_narrow_words(a->data, n, ids, loop);
      stored.type = OOZE_INT32;
      stored.data = narrow = ids;
    }
  }
  bool integer = stored.type == OOZE_INT32 || stored.type == OOZE_INT64;
  const char *kind = integer ? "nonarithmetic_integer" : meaning_name(stored.meaning);
  geo_emit_open(e, '[');
  geo_emit_open(e, '[');
  pair_string(e, "scope", "public");
  pair_string(e, "type", "numeric");
  pair_string(e, "name", a->name);
  geo_emit_string(e, "options");
  geo_emit_open(e, '{');
  if (kind) {
    map_key(e, "type");
    geo_emit_open(e, '{');
    map_key(e, "type");
    geo_emit_string(e, "string");
    map_key(e, "value");
    geo_emit_string(e, kind);
    geo_emit_close(e, '}');
  }
  geo_emit_close(e, '}');
  geo_emit_close(e, ']');

  geo_emit_open(e, '[');
  pair_int(e, "size", a->components);
  pair_string(e, "storage", storage_name(stored.type));
  pair_open(e, "defaults");
  pair_int(e, "size", 1);
  pair_string(e, "storage", integer ? "int64" : "fpreal64");
  pair_open(e, "values");
  if (integer)
    geo_emit_int(e, (int64_t)default_of(a->name));
  else
    geo_emit_real(e, default_of(a->name));
  geo_emit_close(e, ']');
  geo_emit_close(e, ']');
  pair_open(e, "values");
  pair_int(e, "size", a->components);
  pair_string(e, "storage", storage_name(stored.type));
  if (e->binary) {
    pair_int(e, "pagesize", 1024);
    geo_emit_string(e, "rawpagedata");
    geo_emit_block(e, stored.type, stored.data, count * a->components);
  } else if (a->components > 1) {
    geo_emit_string(e, "tuples");
    geo_emit_tuples(e, stored.type, a->components, stored.data, count);
  } else {
    pair_open(e, "arrays");
    geo_emit_list(e, stored.type, stored.data, count);
    geo_emit_close(e, ']');
  }
  geo_emit_close(e, ']');
  geo_emit_close(e, ']');
  geo_emit_close(e, ']');
  oz_out_give(e->out, narrow);
}

static void write_details(geo_emit *e, const ooze_points *points, const oz_loop *loop) {
  if (points->detail_count == 0) return;
  pair_open(e, "globalattributes");
  for (uint32_t i = 0; i < points->detail_count; i++) {
    oz_attribute a = {points->details[i].name,
                      &points->details[i].value,
                      OOZE_FLOAT64,
                      1,
                      OOZE_MEANING_NUMBER,
                      true};
    write_attribute(e, &a, 1, loop);
  }
  geo_emit_close(e, ']');
}

static void write_info(geo_emit *e, const ooze_points *points, const ooze_mesh *mesh,
                       const double bounds[6], const char *software) {
  static const double nowhere[6] = {1.7014117e38,  1.7014117e38,  1.7014117e38,
                                    -1.7014117e38, -1.7014117e38, -1.7014117e38};
  const double *box = points->count ? bounds : nowhere; /* as Houdini has it for nothing */
  double time;
  char text[900];
  geo_emit_string(e, "info");
  geo_emit_open(e, '{');
  map_key(e, "software");
  geo_emit_text(e, software);
  if (ooze_points_detail_get(points, "time", &time) == OOZE_OK && isfinite(time)) {
    map_key(e, "time");
    geo_emit_real(e, time);
  }
  map_key(e, "bounds");
  geo_emit_open(e, '[');
  for (int k = 0; k < 3; k++) {
    geo_emit_real(e, box[k]);
    geo_emit_real(e, box[k + 3]);
  }
  geo_emit_close(e, ']');
  if (mesh) {
    map_key(e, "primcount_summary");
    snprintf(text, sizeof text, "%11llu Polygons\n", (unsigned long long)mesh->triangle_count);
    geo_emit_text(e, text);
  }
  map_key(e, "attribute_summary");
  int used = snprintf(text, sizeof text, "%6u point attributes:\t", points->attribute_count);
  for (uint32_t i = 0; i < points->attribute_count && used < 600; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", i ? ", " : "",
                     points->attributes[i].name);
  snprintf(text + used, sizeof text - (size_t)used, "\n");
  geo_emit_text(e, text);
  geo_emit_close(e, '}');
}

static void write_numbers(geo_emit *e, const uint32_t *data, uint64_t count) {
  if (count == 0) {
    geo_emit_open(e, '[');
    geo_emit_close(e, ']');
  } else if (e->binary) {
    geo_emit_block(e, OOZE_INT32, data, count);
  } else {
    geo_emit_list(e, OOZE_INT32, data, count);
  }
}

static void write_file(geo_emit *e, const ooze_points *points, const ooze_mesh *mesh,
                       const uint32_t *vertices, const double bounds[6], const char *software,
                       const oz_loop *loop) {
  uint64_t triangles = mesh ? mesh->triangle_count : 0;
  geo_emit_open(e, '[');
  pair_string(e, "fileversion", file_version);
  geo_emit_string(e, "hasindex");
  geo_emit_bool(e, false);
  pair_int(e, "pointcount", (int64_t)points->count);
  pair_int(e, "vertexcount", (int64_t)(triangles * 3));
  pair_int(e, "primitivecount", (int64_t)triangles);
  write_info(e, points, mesh, bounds, software);
  pair_open(e, "topology");
  pair_open(e, "pointref");
  geo_emit_string(e, "indices");
  write_numbers(e, vertices, triangles * 3);
  geo_emit_close(e, ']');
  geo_emit_close(e, ']');
  pair_open(e, "attributes");
  pair_open(e, "pointattributes");
  const oz_attribute *position = oz_points_find(points, "P", 1);
  write_attribute(e, position, points->count, loop); /* first, as in every Houdini file */
  for (uint32_t i = 0; i < points->attribute_count; i++)
    if (&points->attributes[i] != position)
      write_attribute(e, &points->attributes[i], points->count, loop);
  geo_emit_close(e, ']');
  write_details(e, points, loop);
  geo_emit_close(e, ']');
  pair_open(e, "primitives");
  if (triangles) {
    uint32_t run[2] = {3, (uint32_t)triangles};
    geo_emit_open(e, '[');
    geo_emit_open(e, '[');
    pair_string(e, "type", "Polygon_run");
    geo_emit_close(e, ']');
    geo_emit_open(e, '[');
    pair_int(e, "startvertex", 0);
    pair_int(e, "nprimitives", (int64_t)triangles);
    geo_emit_string(e, "nvertices_rle");
    write_numbers(e, run, 2);
    geo_emit_close(e, ']');
    geo_emit_close(e, ']');
  }
  geo_emit_close(e, ']');
  geo_emit_close(e, ']');
}

/* Points that no Houdini file can hold are refused before there is a file. */
static ooze_result check(const char *path, oz_format format, const ooze_points *points,
                         double bounds[6], const oz_loop *loop, ooze_message *why) {
  const oz_attribute *p = oz_points_find(points, "P", 1);
  if (!p || p->type != OOZE_FLOAT32 || p->components != 3)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: points to be written need P of 3 floats", path);
  if (!oz_finite_box(p->data, points->count, bounds, loop))
    OZ_TRY_OK(oz_check_finite(path, "P", p->data, points->count, 3, why)); /* tells which */
  for (uint32_t i = 0; i < points->attribute_count; i++) {
    const oz_attribute *a = &points->attributes[i];
    if (a->type == OOZE_UINT64 &&
        oz_or_words(a->data, points->count * a->components, loop) > INT64_MAX)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: attribute '%s' has a value above 2^63 - 1, which Houdini cannot hold",
                     path, a->name);
    bool real = format == OZ_GEO && a->type <= OOZE_FLOAT64;
    for (uint64_t k = 0; real && k < points->count * a->components; k++)
      if (!isfinite(a->type == OOZE_FLOAT32 ? (double)((const float *)a->data)[k]
                                            : ((const double *)a->data)[k]))
        return oz_fail(why, OOZE_ERROR_ARGUMENT,
                       "%s: attribute '%s' of point %llu is not finite, which ASCII JSON cannot "
                       "hold; use .bgeo",
                       path, a->name, (unsigned long long)(k / a->components));
  }
  for (uint32_t i = 0; i < points->detail_count; i++)
    if (!isfinite(points->details[i].value))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: detail '%s' is not finite", path,
                     points->details[i].name);
  return OOZE_OK;
}

static ooze_result write_with(const char *path, oz_format format, const ooze_points *points,
                              const ooze_mesh *mesh, const ooze_write_options *options,
                              const oz_loop *loop, ooze_message *why) {
  double bounds[6];
  OZ_TRY_OK(check(path, format, points, bounds, loop, why));
  uint32_t *vertices = NULL;
  if (mesh) { /* Houdini's polygons run clockwise seen from outside */
    if (mesh->triangle_count > INT32_MAX / 3)
      return oz_fail(why, OOZE_ERROR_LIMIT, "%s: too many triangles for one file", path);
    vertices = malloc((size_t)mesh->triangle_count * 12 + 4);
    if (!vertices) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
    for (uint64_t i = 0; i < mesh->triangle_count * 3; i += 3) {
      vertices[i] = mesh->triangles[i];
      vertices[i + 1] = mesh->triangles[i + 2];
      vertices[i + 2] = mesh->triangles[i + 1];
    }
  }
  oz_out out;
  ooze_result result = oz_out_open(&out, path, why);
  if (result == OOZE_OK) {
    if (format == OZ_BGEO_SC) out.result = oz_scf_start(&out, options, loop);
    geo_emit e = {.out = &out, .binary = format != OZ_GEO, .first = true};
    if (e.binary) oz_out_put(&out, "\x7fNSJb", 5);
    write_file(&e, points, mesh, vertices, bounds, options->software, loop);
    out.ready = options->ready;
    out.user = options->user;
    result = oz_out_close(&out, options->sync);
  }
  free(vertices);
  return result;
}

ooze_result oz_geo_write(const char *path, oz_format format, const ooze_points *points,
                         const ooze_mesh *mesh, const ooze_write_options *options,
                         ooze_message *why) {
  enum { FEW = 4000 }; /* points that are written before threads have started */
  oz_loop loop;
  oz_loop_open(&loop, NULL, points->count < FEW ? 1 : options->threads);
  ooze_result result = write_with(path, format, points, mesh, options, &loop, why);
  oz_loop_close(&loop);
  return result;
}
