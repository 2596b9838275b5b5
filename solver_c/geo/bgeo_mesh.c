/* Polygons of Houdini geometry as triangles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_read.h"

#include <stdlib.h>

/* "topology",["pointref",["indices",LIST]] */
ooze_result geo_read_topology(geo_reader *reader) {
  geo_token key;
  if (!reader->have_point_count) return geo_bad(&reader->lex, "topology before pointcount");
  geo_pairs pairs = geo_pairs_open(reader, "topology");
  while (geo_pairs_next(&pairs, &key)) {
    if (!geo_is(&key, "pointref") || reader->vertices) {
      OZ_TRY_OK(geo_skip_value(reader));
      continue;
    }
    geo_pairs inner = geo_pairs_open(reader, "pointref");
    while (geo_pairs_next(&inner, &key)) {
      if (!geo_is(&key, "indices") || reader->vertices) {
        OZ_TRY_OK(geo_skip_value(reader));
        continue;
      }
      geo_numbers list;
      OZ_TRY_OK(geo_numbers_open(reader, "indices", &list));
      OZ_TRY_OK(geo_numbers_expect(reader, &list, reader->vertex_count));
      OZ_TRY_OK(geo_budget(reader, reader->vertex_count * 4, "the topology"));
      reader->vertices = malloc((size_t)reader->vertex_count * 4 + 4);
      if (!reader->vertices)
        return oz_fail(reader->source->why, OOZE_ERROR_MEMORY, "%s: out of memory",
                       reader->source->name);
      OZ_TRY_OK(
          geo_numbers_pull(reader, &list, reader->vertex_count, OOZE_INT32, reader->vertices));
      OZ_TRY_OK(geo_numbers_close(reader, &list));
      for (uint64_t i = 0; i < reader->vertex_count; i++)
        if (reader->vertices[i] >= reader->point_count)
          return geo_bad(&reader->lex, "vertex %llu is at point %lld of %llu",
                         (unsigned long long)i, (long long)(int32_t)reader->vertices[i],
                         (unsigned long long)reader->point_count);
    }
    OZ_TRY_OK(inner.result);
  }
  return pairs.result;
}

/* The polygon of `corners` vertices from `first` on. Houdini's polygons run clockwise seen from
 * outside, ours the other way, as OBJ and PLY have it. */
static ooze_result add_fan(geo_reader *reader, uint64_t first, uint64_t corners) {
  /* Without this, many runs over the same vertices would make far more triangles than the file has
   * bytes. */
  if (corners > reader->vertex_count - reader->corners)
    return geo_bad(&reader->lex, "polygons share vertices");
  reader->corners += corners;
  if (corners < 3) return OOZE_OK;
  if (reader->triangle_count + corners > reader->triangle_capacity) {
    uint64_t capacity = reader->triangle_capacity + reader->triangle_capacity / 2 + corners + 1024;
    OZ_TRY_OK(geo_budget(reader, (capacity - reader->triangle_capacity) * 12, "the triangles"));
    uint32_t *moved = realloc(reader->triangles, (size_t)capacity * 12);
    if (!moved)
      return oz_fail(reader->source->why, OOZE_ERROR_MEMORY, "%s: out of memory",
                     reader->source->name);
    reader->triangles = moved;
    reader->triangle_capacity = capacity;
  }
  const uint32_t *v = reader->vertices + first;
  uint32_t *to = reader->triangles + reader->triangle_count * 3;
  for (uint64_t k = 2; k < corners; k++) {
    *to++ = v[0];
    *to++ = v[k];
    *to++ = v[k - 1];
  }
  reader->triangle_count += corners - 2;
  return OOZE_OK;
}

static ooze_result add_run(geo_reader *reader, uint64_t *at, int64_t corners, int64_t repeat,
                           uint64_t *primitives) {
  if (corners < 1 || repeat < 0 || (uint64_t)corners > reader->vertex_count)
    return geo_bad(&reader->lex, "a run of polygons does not fit the vertices");
  if (corners > 0 && (uint64_t)repeat > (reader->vertex_count - *at) / (uint64_t)corners)
    return geo_bad(&reader->lex, "a run of polygons needs more vertices than there are");
  for (int64_t i = 0; i < repeat; i++, *at += (uint64_t)corners)
    OZ_TRY_OK(add_fan(reader, *at, (uint64_t)corners));
  *primitives += (uint64_t)repeat;
  return OOZE_OK;
}

/* "startvertex" "nprimitives" and "nvertices" (a count each) or "nvertices_rle" (count, repeat,
 * ...); short names since 18. */
static ooze_result read_polygon_run(geo_reader *reader) {
  geo_token key;
  int64_t start = 0, expected = -1;
  uint64_t primitives = 0, at = 0;
  geo_pairs pairs = geo_pairs_open(reader, "a run of polygons");
  while (geo_pairs_next(&pairs, &key)) {
    bool rle = geo_is(&key, "nvertices_rle") || geo_is(&key, "r_v");
    if (geo_is(&key, "startvertex") || geo_is(&key, "s_v")) {
      OZ_TRY_OK(geo_int(reader, "startvertex", 0, (int64_t)reader->vertex_count, &start));
      at = (uint64_t)start;
    } else if (geo_is(&key, "nprimitives") || geo_is(&key, "n_p")) {
      OZ_TRY_OK(geo_int(reader, "nprimitives", 0, (int64_t)reader->vertex_count, &expected));
    } else if (rle || geo_is(&key, "nvertices") || geo_is(&key, "n_v")) {
      geo_numbers list;
      OZ_TRY_OK(geo_numbers_open(reader, "nvertices", &list));
      while (primitives < (uint64_t)(expected < 0 ? 0 : expected)) {
        int64_t pair[2] = {0, 1};
        for (int k = 0; k < (rle ? 2 : 1); k++)
          OZ_TRY_OK(geo_numbers_pull(reader, &list, 1, OOZE_INT64, &pair[k]));
        OZ_TRY_OK(add_run(reader, &at, pair[0], pair[1], &primitives));
      }
      OZ_TRY_OK(geo_numbers_close(reader, &list));
    } else {
      OZ_TRY_OK(geo_skip_value(reader));
    }
  }
  OZ_TRY_OK(pairs.result);
  if (expected >= 0 && primitives != (uint64_t)expected)
    return geo_bad(&reader->lex, "a run has %llu polygons; expected %lld",
                   (unsigned long long)primitives, (long long)expected);
  return OOZE_OK;
}

/* ["vertex",[0,1,2,3],"closed",true] */
static ooze_result read_polygon(geo_reader *reader) {
  geo_token key, token;
  bool closed = true;
  uint64_t first = 0, corners = 0;
  geo_pairs pairs = geo_pairs_open(reader, "a polygon");
  while (geo_pairs_next(&pairs, &key)) {
    if (geo_is(&key, "vertex")) {
      geo_numbers list;
      OZ_TRY_OK(geo_numbers_open(reader, "vertex", &list));
      corners = 0;
      for (;; corners++) { /* vertices of one polygon are numbered in a row */
        int64_t vertex;
        if (list.uniform ? list.taken == list.block.length : false) break;
        if (list.uniform) {
          OZ_TRY_OK(geo_numbers_pull(reader, &list, 1, OOZE_INT64, &vertex));
        } else {
          OZ_TRY_OK(geo_next(&reader->lex, &token));
          if (token.kind == GEO_ARRAY_END) break;
          if (token.kind != GEO_INT) return geo_bad(&reader->lex, "a vertex is no integer");
          vertex = token.integer;
        }
        if (corners == 0) first = (uint64_t)vertex;
        if (vertex < 0 || (uint64_t)vertex >= reader->vertex_count ||
            (uint64_t)vertex != first + corners)
          return geo_bad(&reader->lex, "a polygon's vertices are not %llu in a row",
                         (unsigned long long)reader->vertex_count);
      }
    } else if (geo_is(&key, "closed")) {
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      closed = token.integer != 0;
      OZ_TRY_OK(geo_skip(&reader->lex, &token));
    } else {
      OZ_TRY_OK(geo_skip_value(reader));
    }
  }
  OZ_TRY_OK(pairs.result);
  return closed ? add_fan(reader, first, corners) : OOZE_OK;
}

/* A list of [["type",NAME,...],BODY]; other primitives than polygons are passed over. */
ooze_result geo_read_primitives(geo_reader *reader) {
  geo_token key, token;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (token.kind == GEO_UNIFORM && token.length == 0) return OOZE_OK;
  if (token.kind != GEO_ARRAY) return geo_bad(&reader->lex, "primitives is no list");
  for (;;) {
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (token.kind == GEO_ARRAY_END) return OOZE_OK;
    if (token.kind != GEO_ARRAY) return geo_bad(&reader->lex, "a primitive is no pair of lists");
    enum { OTHER, RUN, POLYGON } what = OTHER;
    geo_pairs inner = geo_pairs_open(reader, "a primitive's definition");
    while (geo_pairs_next(&inner, &key)) {
      bool type = geo_is(&key, "type");
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      if (type)
        what = geo_is(&token, "Polygon_run") || geo_is(&token, "p_r") ? RUN
               : geo_is(&token, "Poly")                               ? POLYGON
                                                                      : OTHER;
      OZ_TRY_OK(geo_skip(&reader->lex, &token));
    }
    OZ_TRY_OK(inner.result);
    if (what != OTHER && !reader->vertices)
      return geo_bad(&reader->lex, "polygons before the topology");
    OZ_TRY_OK(what == RUN       ? read_polygon_run(reader)
              : what == POLYGON ? read_polygon(reader)
                                : geo_skip_value(reader));
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (token.kind != GEO_ARRAY_END)
      return geo_bad(&reader->lex, "a primitive has more than two parts");
  }
}
