/* Houdini geometry: the outline of the file. One array of alternating keys and values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_read.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Attributes -------------------------------------------------------------------------- */

typedef struct definition {
  char name[OZ_MAX_NAME + 1];
  size_t length;
  uint32_t meaning;
  bool numeric, shared; /* shared: of public scope */
} definition;

static uint32_t meaning_named(const geo_token *token) {
  static const struct {
    const char *name;
    uint32_t meaning;
  } known[] = {{"point", OOZE_MEANING_POINT},   {"hpoint", OOZE_MEANING_POINT},
               {"vector", OOZE_MEANING_VECTOR}, {"normal", OOZE_MEANING_NORMAL},
               {"color", OOZE_MEANING_COLOR},   {"nonarithmetic_integer", OOZE_MEANING_LABEL}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (geo_is(token, known[i].name)) return known[i].meaning;
  return OOZE_MEANING_OTHER;
}

/* "options",{"type":{"type":"string","value":"point"}} */
static ooze_result read_options(geo_reader *reader, definition *out) {
  geo_token key, token;
  geo_pairs pairs = geo_pairs_open(reader, "options");
  while (geo_pairs_next(&pairs, &key)) {
    bool type = geo_is(&key, "type");
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (!type || (token.kind != GEO_MAP && token.kind != GEO_ARRAY)) {
      OZ_TRY_OK(geo_skip(&reader->lex, &token));
      continue;
    }
    geo_pairs inner = {reader, OOZE_OK};
    while (geo_pairs_next(&inner, &key)) {
      bool value = geo_is(&key, "value");
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      if (value && token.kind == GEO_STRING) out->meaning = meaning_named(&token);
      OZ_TRY_OK(geo_skip(&reader->lex, &token));
    }
    OZ_TRY_OK(inner.result);
  }
  return pairs.result;
}

static ooze_result read_definition(geo_reader *reader, definition *out) {
  geo_token key, token;
  memset(out, 0, sizeof *out);
  out->shared = true;
  geo_pairs pairs = geo_pairs_open(reader, "an attribute's definition");
  while (geo_pairs_next(&pairs, &key)) {
    if (geo_is(&key, "options")) {
      OZ_TRY_OK(read_options(reader, out));
      continue;
    }
    bool name = geo_is(&key, "name"), type = geo_is(&key, "type"), scope = geo_is(&key, "scope");
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (name && token.kind == GEO_STRING) {
      if (token.length < 1 || token.length > OZ_MAX_NAME)
        return geo_bad(&reader->lex, "an attribute's name has %llu letters",
                       (unsigned long long)token.length);
      out->length = (size_t)token.length;
      memcpy(out->name, token.text, out->length);
      out->name[out->length] = 0;
    }
    if (type) out->numeric = geo_is(&token, "numeric");
    if (scope) out->shared = geo_is(&token, "public");
    OZ_TRY_OK(geo_skip(&reader->lex, &token));
  }
  OZ_TRY_OK(pairs.result);
  return out->length ? OOZE_OK : geo_bad(&reader->lex, "an attribute has no name");
}

/* P becomes 3 floats whatever it was: 4 with a weight until Houdini 13, or doubles. In place, as it
 * only shrinks. */
static ooze_result settle_position(geo_reader *reader, oz_attribute *a, uint64_t count) {
  if (a->components < 3 || a->components > 4 || a->type > OOZE_FLOAT64)
    return geo_bad(&reader->lex, "P is %u of %s; expected 3 or 4 floats", a->components,
                   oz_type_name(a->type));
  if (a->components != 3 || a->type != OOZE_FLOAT32) {
    float *to = a->data;
    for (uint64_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < 3; k++) {
        float value;
        if (a->type == OOZE_FLOAT64)
          value = (float)((const double *)a->data)[i * a->components + k];
        else
          value = ((const float *)a->data)[i * a->components + k];
        memcpy(to + i * 3 + k, &value, 4);
      }
    a->components = 3;
    a->type = OOZE_FLOAT32;
  }
  a->meaning = OOZE_MEANING_POINT;
  return oz_check_finite(reader->source->name, "P", a->data, count, 3, reader->source->why);
}

/* One attribute: [definition, body]; body: "size", "storage", "defaults", "values". */
static ooze_result read_attribute(geo_reader *reader, ooze_points *into, bool listed) {
  definition def;
  geo_token key;
  bool found = false;
  OZ_TRY_OK(read_definition(reader, &def));
  bool position = strcmp(def.name, "P") == 0 && into == reader->points;
  bool wanted =
      def.numeric && def.shared &&
      (!reader->want_mesh || position || strcmp(def.name, "v") == 0 || strcmp(def.name, "N") == 0 ||
       strcmp(def.name, "friction") == 0 || strcmp(def.name, "stick") == 0);
  if (!wanted) {
    if (listed && def.shared)
      oz_info_attribute(reader->source->info, def.name, def.length, def.numeric ? "number" : "text",
                        1);
    return geo_skip_value(reader);
  }
  geo_pairs pairs = geo_pairs_open(reader, "an attribute's body");
  while (geo_pairs_next(&pairs, &key)) {
    if (!found && geo_is(&key, "values")) {
      OZ_TRY_OK(geo_read_values(reader, into, def.name, def.length, def.meaning));
      found = true;
    } else {
      OZ_TRY_OK(geo_skip_value(reader));
    }
  }
  OZ_TRY_OK(pairs.result);
  if (!found) return geo_bad(&reader->lex, "attribute '%s' has no values", def.name);
  oz_attribute *added = &into->attributes[into->attribute_count - 1];
  if (position) OZ_TRY_OK(settle_position(reader, added, into->count));
  if (listed)
    oz_info_attribute(reader->source->info, def.name, def.length, oz_type_name(added->type),
                      added->components);
  return OOZE_OK;
}

static ooze_result read_attributes(geo_reader *reader) {
  geo_token key, token;
  if (!reader->have_point_count) return geo_bad(&reader->lex, "attributes before pointcount");
  if (reader->points) return geo_bad(&reader->lex, "attributes are given twice");
  OZ_TRY_OK(ooze_points_create(reader->point_count, &reader->points, reader->source->why));
  OZ_TRY_OK(ooze_points_create(1, &reader->details, reader->source->why));
  geo_pairs pairs = geo_pairs_open(reader, "attributes");
  while (geo_pairs_next(&pairs, &key)) {
    bool of_points = geo_is(&key, "pointattributes"), of_all = geo_is(&key, "globalattributes");
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if ((!of_points && !of_all) || token.kind == GEO_UNIFORM) {
      OZ_TRY_OK(geo_skip(&reader->lex, &token));
      continue;
    }
    if (token.kind != GEO_ARRAY) return geo_bad(&reader->lex, "no list of attributes");
    for (;;) {
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      if (token.kind == GEO_ARRAY_END) break;
      if (token.kind != GEO_ARRAY) return geo_bad(&reader->lex, "an attribute is no pair of lists");
      OZ_TRY_OK(read_attribute(reader, of_points ? reader->points : reader->details, of_points));
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      if (token.kind != GEO_ARRAY_END)
        return geo_bad(&reader->lex, "an attribute has more than two parts");
    }
  }
  return pairs.result;
}

/* ---- The file ---------------------------------------------------------------------------- */

static ooze_result read_info(geo_reader *reader, double *time, bool *has_time) {
  geo_token key, token;
  geo_pairs pairs = geo_pairs_open(reader, "info");
  while (geo_pairs_next(&pairs, &key)) {
    bool when = geo_is(&key, "time"), software = geo_is(&key, "software");
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (when && (token.kind == GEO_REAL || token.kind == GEO_INT)) {
      *time = token.real;
      *has_time = true;
    }
    if (software && token.kind == GEO_STRING && reader->source->info)
      snprintf(reader->source->info->software, sizeof reader->source->info->software, "%.*s",
               token.length < 63 ? (int)token.length : 63, token.text);
    OZ_TRY_OK(geo_skip(&reader->lex, &token));
  }
  return pairs.result;
}

static ooze_result read_file(geo_reader *reader) {
  geo_token key, token;
  bool has_time = false;
  double time = 0.0;
  int64_t count;
  geo_pairs pairs = geo_pairs_open(reader, "the file");
  while (geo_pairs_next(&pairs, &key)) {
    if (geo_is(&key, "pointcount")) {
      if (reader->have_point_count) return geo_bad(&reader->lex, "pointcount is given twice");
      /* Half the range of 64 bits keeps every product with a tuple size in range; the limits do the
       * rest. */
      OZ_TRY_OK(geo_int(reader, "pointcount", 0, INT64_C(1) << 48, &count));
      reader->point_count = (uint64_t)count;
      reader->have_point_count = true;
    } else if (geo_is(&key, "vertexcount") && !reader->vertices) {
      OZ_TRY_OK(geo_int(reader, "vertexcount", 0, INT64_C(1) << 48, &count));
      reader->vertex_count = (uint64_t)count;
    } else if (geo_is(&key, "primitivecount")) {
      OZ_TRY_OK(geo_int(reader, "primitivecount", 0, INT64_C(1) << 48, &count));
      reader->primitive_count = (uint64_t)count;
    } else if (geo_is(&key, "info")) {
      OZ_TRY_OK(read_info(reader, &time, &has_time));
    } else if (geo_is(&key, "topology") && reader->want_mesh) {
      OZ_TRY_OK(geo_read_topology(reader));
    } else if (geo_is(&key, "attributes")) {
      OZ_TRY_OK(read_attributes(reader));
    } else if (geo_is(&key, "primitives") && reader->want_mesh) {
      OZ_TRY_OK(geo_read_primitives(reader));
    } else {
      OZ_TRY_OK(geo_skip_value(reader));
    }
  }
  OZ_TRY_OK(pairs.result);
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (token.kind != GEO_END)
    return geo_bad(&reader->lex, "something follows the end of the geometry");
  if (!reader->points)
    return geo_bad(&reader->lex, "no pointcount and attributes: this is JSON, but no geometry");
  if (!oz_points_find(reader->points, "P", 1)) return geo_bad(&reader->lex, "there is no P");
  if (has_time)
    OZ_TRY_OK(ooze_points_detail_set(reader->points, "time", time, reader->source->why));
  for (uint32_t i = 0; i < reader->details->attribute_count; i++) {
    const oz_attribute *a = &reader->details->attributes[i];
    double value = a->type == OOZE_FLOAT32   ? (double)*(const float *)a->data
                   : a->type == OOZE_FLOAT64 ? *(const double *)a->data
                   : a->type == OOZE_INT32   ? (double)*(const int32_t *)a->data
                                             : (double)*(const int64_t *)a->data;
    if (a->components == 1)
      OZ_TRY_OK(ooze_points_detail_set(reader->points, a->name, value, reader->source->why));
  }
  return OOZE_OK;
}

static ooze_result give_mesh(geo_reader *reader, ooze_mesh *out) {
  const oz_attribute *p = oz_points_find(reader->points, "P", 1),
                     *v = oz_points_find(reader->points, "v", 1),
                     *n = oz_points_find(reader->points, "N", 1),
                     *f = oz_points_find(reader->points, "friction", 8),
                     *k = oz_points_find(reader->points, "stick", 5);
  if (reader->point_count > UINT32_MAX)
    return geo_bad(&reader->lex, "more points than a mesh can have");
  bool has_v = v && v->type == OOZE_FLOAT32 && v->components == 3,
       has_n = n && n->type == OOZE_FLOAT32 && n->components == 3,
       has_f = f && f->type == OOZE_FLOAT32 && f->components == 1,
       has_k = k && k->type == OOZE_FLOAT32 && k->components == 1;
  OZ_TRY_OK(geo_budget(reader, reader->point_count * 44, "the mesh"));
  OZ_TRY_OK(
      ooze_mesh_allocate(out, (uint32_t)reader->point_count, 0,
                         (has_v ? OOZE_MESH_VELOCITIES : 0u) | (has_n ? OOZE_MESH_NORMALS : 0u) |
                             (has_f ? OOZE_MESH_FRICTION : 0u) | (has_k ? OOZE_MESH_STICK : 0u),
                         reader->source->why));
  size_t bytes = (size_t)reader->point_count * 12;
  memcpy(out->positions, p->data, bytes);
  if (has_v) memcpy(out->velocities, v->data, bytes);
  if (has_n) memcpy(out->normals, n->data, bytes);
  if (has_f) memcpy(out->friction, f->data, bytes / 3);
  if (has_k) memcpy(out->stick, k->data, bytes / 3);
  if (reader->triangle_count) {
    free(out->triangles);
    out->triangles = reader->triangles;
    out->triangle_count = reader->triangle_count;
    reader->triangles = NULL;
  }
  return OOZE_OK;
}

ooze_result oz_geo_read(oz_source *source, ooze_points **out_points, ooze_mesh *out_mesh) {
  geo_reader reader;
  memset(&reader, 0, sizeof reader);
  reader.source = source;
  reader.want_mesh = out_mesh != NULL;
  ooze_result result = geo_lex_open(&reader.lex, source);
  if (result == OOZE_OK) result = read_file(&reader);
  if (result == OOZE_OK && out_mesh) result = give_mesh(&reader, out_mesh);
  if (result == OOZE_OK && out_points) {
    *out_points = reader.points;
    reader.points = NULL;
  }
  if (source->info) {
    source->info->points = reader.point_count;
    source->info->vertices = reader.vertex_count;
    source->info->primitives = reader.primitive_count;
  }
  ooze_points_destroy(reader.points);
  ooze_points_destroy(reader.details);
  free(reader.vertices);
  free(reader.triangles);
  geo_lex_close(&reader.lex);
  return result;
}
