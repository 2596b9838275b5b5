/* The header of a .ply file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_PLY_H
#define OOZE_IO_PLY_H

#include "geo_internal.h"

typedef enum ply_type {
  PLY_INT8,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT,
  PLY_DOUBLE
} ply_type;
enum { PLY_MAX_ELEMENTS = 32, PLY_MAX_PROPERTIES = 1024, PLY_MAX_DETAILS = 64 };

typedef struct ply_property {
  const char *name; /* in the file, not terminated */
  size_t length;
  ply_type type, count_type;
  bool list;
  uint32_t offset; /* bytes from the row's beginning, where the row has no list */
} ply_property;

typedef struct ply_element {
  const char *name;
  size_t length;
  uint64_t count;
  uint32_t first, properties; /* in ply_header.properties */
  uint32_t row;               /* bytes of a binary row; 0 if it has a list */
  uint64_t least;             /* bytes that a row takes at the least */
} ply_element;

typedef struct ply_detail {
  char name[64];
  double value;
} ply_detail;

typedef struct ply_header {
  bool ascii, big; /* big endian */
  ply_element elements[PLY_MAX_ELEMENTS];
  uint32_t element_count;
  ply_property properties[PLY_MAX_PROPERTIES];
  uint32_t property_count;
  ply_detail details[PLY_MAX_DETAILS]; /* from our comments */
  uint32_t detail_count;
  size_t body; /* where the data begins */
} ply_header;

ooze_result ply_read_header(oz_source *source, ply_header *out);
ooze_result ply_bad(const oz_source *source, const char *format, ...) OZ_PRINTF(2, 3);
uint32_t ply_type_bytes(ply_type type);
bool ply_named(const char *name, size_t length, const char *text);
/* One value; binary only. */
double ply_get_real(const uint8_t *at, ply_type type, bool big);
/* reals are cut, and kept in range */
int64_t ply_get_int(const uint8_t *at, ply_type type, bool big);

/* A walk over the rows of the elements. */
typedef struct ply_walk {
  const oz_source *source;
  const ply_header *header;
  const uint8_t *at, *end;
} ply_walk;
/* The next value, whatever the form; false at the end of the file or where there is no number. */
bool ply_next(ply_walk *walk, ply_type type, double *out);
ooze_result ply_skip_element(ply_walk *walk, const ply_element *element);
/* Whether all rows can be in the rest of the file, asked before memory is. */
ooze_result ply_expect(const ply_walk *walk, const ply_element *element);

#endif
