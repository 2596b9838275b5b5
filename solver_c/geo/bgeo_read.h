/* Reading Houdini geometry: the private interface of the readers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_GEO_READ_H
#define OOZE_IO_GEO_READ_H

#include "bgeo_lex.h"

typedef struct geo_reader {
  geo_lex lex;
  oz_source *source;
  uint64_t point_count, vertex_count, primitive_count;
  bool have_point_count;
  ooze_points *points;  /* being filled */
  ooze_points *details; /* one point: the detail attributes */
  bool want_mesh;
  uint32_t *vertices;  /* point of each vertex, vertex_count of them, once the topology is read */
  uint32_t *triangles; /* points */
  uint64_t triangle_count, triangle_capacity;
  uint64_t corners; /* of all polygons so far: each vertex is of one polygon only */
  uint64_t used;    /* bytes asked for, against limits.max_bytes */
} geo_reader;

/* bgeo_pairs.c: asks the budget for memory that is about to be allocated. */
ooze_result geo_budget(geo_reader *reader, uint64_t bytes, const char *what);

/* Alternating keys and values, in an array or a map. geo_pairs_next gives a key, and its value has
 * to be read or skipped; at the end, or after a fault, it is false and `result` tells which. */
typedef struct geo_pairs {
  geo_reader *reader;
  ooze_result result;
} geo_pairs;
geo_pairs geo_pairs_open(geo_reader *reader, const char *what);
bool geo_pairs_next(geo_pairs *pairs, geo_token *key);
ooze_result geo_skip_value(geo_reader *reader);
ooze_result geo_int(geo_reader *reader, const char *what, int64_t low, int64_t high, int64_t *out);

/* A list of numbers, as an array of tokens or as one block; pulled in pieces. */
typedef struct geo_numbers {
  bool uniform;
  geo_token block;
  uint64_t taken;
} geo_numbers;
ooze_result geo_numbers_open(geo_reader *reader, const char *what, geo_numbers *out);
ooze_result geo_numbers_begin(geo_reader *reader, const geo_token *first, const char *what,
                              geo_numbers *out);
ooze_result geo_numbers_pull(geo_reader *reader, geo_numbers *numbers, uint64_t count,
                             uint32_t type, void *out);
ooze_result geo_numbers_close(geo_reader *reader, geo_numbers *numbers);
/* Whether `count` more numbers can be there at all, judged before memory is asked for. */
ooze_result geo_numbers_expect(geo_reader *reader, const geo_numbers *numbers, uint64_t count);

/* The "values" of the numeric attribute `name` into `into` (bgeo_values.c). */
ooze_result geo_read_values(geo_reader *reader, ooze_points *into, const char *name, size_t length,
                            uint32_t meaning);
/* "topology" and "primitives" (bgeo_mesh.c). */
ooze_result geo_read_topology(geo_reader *reader);
ooze_result geo_read_primitives(geo_reader *reader);

#endif
