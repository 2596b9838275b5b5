/* Points of .ply files. x y z are P, vx vy vz are v, nx ny nz are N; a vector of ours called name
 * is name_0, name_1,
 * ...; a 64-bit integer, which .ply has not, is the pair name_lo (uint), name_hi (int).
 * SPDX-License-Identifier: Apache-2.0 */
#include "ply.h"

#include <stdio.h>
#include <stdlib.h>

/* One attribute and the columns that it is made of. */
typedef struct column_group {
  char name[OZ_MAX_NAME + 1];
  uint32_t type, components, first; /* first: property within the element */
  uint32_t pairs;                   /* 1: two properties a component */
} column_group;

static const char *const triples[3][4] = {
    {"P", "x", "y", "z"}, {"v", "vx", "vy", "vz"}, {"N", "nx", "ny", "nz"}};

static uint32_t stored_type(ply_type type) {
  return type == PLY_FLOAT    ? OOZE_FLOAT32
         : type == PLY_DOUBLE ? OOZE_FLOAT64
         : type == PLY_UINT32 ? OOZE_INT64
                              : OOZE_INT32;
}

/* "name_lo" then "name_hi"? Gives the length of the name. */
static size_t pair_at(const ply_property *p, uint32_t left) {
  if (left < 2 || p[0].type != PLY_UINT32 || p[1].type != PLY_INT32 || p[0].length < 4 ||
      p[0].length != p[1].length)
    return 0;
  size_t length = p[0].length - 3;
  if (memcmp(p[0].name, p[1].name, length) != 0 || memcmp(p[0].name + length, "_lo", 3) != 0 ||
      memcmp(p[1].name + length, "_hi", 3) != 0)
    return 0;
  return length;
}

/* The length of "name" in "name_<number>", or 0. */
static size_t numbered(const char *name, size_t length, uint32_t number) {
  char tail[16];
  size_t wide = (size_t)snprintf(tail, sizeof tail, "_%u", number);
  return length > wide && memcmp(name + length - wide, tail, wide) == 0 ? length - wide : 0;
}

static bool same_name(const ply_property *p, const char *name) {
  return ply_named(p->name, p->length, name);
}

/* x y z, nx ny nz and the like: three properties that are one vector. */
static bool triple_at(const ply_property *p, uint32_t left, column_group *out) {
  if (left < 3 || p[0].type != p[1].type || p[0].type != p[2].type) return false;
  for (int t = 0; t < 3; t++)
    if (same_name(&p[0], triples[t][1]) && same_name(&p[1], triples[t][2]) &&
        same_name(&p[2], triples[t][3])) {
      memcpy(out->name, triples[t][0], 2);
      out->type = p[0].type == PLY_DOUBLE ? OOZE_FLOAT64 : OOZE_FLOAT32;
      out->components = 3;
      return true;
    }
  return false;
}

/* Names from other programs may have anything in them ("quality(0)"); the nearest good name stands
 * for it. */
static void mend_name(char *name, size_t length) {
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == ':' || c == '.';
    if (!good) name[i] = '_';
  }
}

/* The attribute that begins at property `at`; returns how many properties it takes. */
static uint32_t group_at(const ply_header *h, const ply_element *e, uint32_t at,
                         column_group *out) {
  const ply_property *p = &h->properties[e->first + at];
  uint32_t left = e->properties - at;
  memset(out, 0, sizeof *out);
  out->first = at;
  if (triple_at(p, left, out)) return 3;
  size_t pair = pair_at(p, left);
  out->pairs = pair > 0;
  out->type = pair ? OOZE_INT64 : stored_type(p->type);
  uint32_t step = pair ? 2 : 1;
  const char *name = p->name;
  size_t length = pair ? pair : p->length, base = numbered(name, length, 0);
  out->components = 1;
  while (base && out->components < OZ_MAX_COMPONENTS && (out->components + 1) * step <= left) {
    const ply_property *q = p + out->components * step;
    size_t q_pair = pair_at(q, left - out->components * step),
           q_length = q_pair ? q_pair : q->length;
    if ((q_pair > 0) != (pair > 0) || q->type != p->type ||
        numbered(q->name, q_length, out->components) != base || memcmp(q->name, name, base) != 0)
      break;
    out->components++;
  }
  if (out->components > 1) length = base;
  if (length > OZ_MAX_NAME) length = OZ_MAX_NAME;
  memcpy(out->name, name, length);
  mend_name(out->name, length);
  return out->components * step;
}

/* ---- Binary rows to columns -------------------------------------------------------------- */

static void copy_column(const uint8_t *from, size_t stride, uint64_t rows, uint8_t *to,
                        size_t to_stride, size_t bytes) {
  if (bytes == 4) /* sizes that the compiler knows become plain loads and stores */
    for (uint64_t i = 0; i < rows; i++, from += stride, to += to_stride) memcpy(to, from, 4);
  else
    for (uint64_t i = 0; i < rows; i++, from += stride, to += to_stride) memcpy(to, from, 8);
}

static void read_rows(const ply_header *h, const ply_element *e, const uint8_t *rows,
                      uint64_t first, uint64_t count, const column_group *g, void *data) {
  size_t each = oz_type_bytes(g->type), to_stride = each * g->components;
  for (uint32_t k = 0; k < g->components; k++) {
    const ply_property *p = &h->properties[e->first + g->first + k * (g->pairs ? 2 : 1)];
    const uint8_t *from = rows + first * e->row + p->offset;
    uint8_t *to = (uint8_t *)data + first * to_stride + k * each;
    bool same = (p->type == PLY_FLOAT && g->type == OOZE_FLOAT32) ||
                (p->type == PLY_DOUBLE && g->type == OOZE_FLOAT64) ||
                (p->type == PLY_INT32 && g->type == OOZE_INT32);
    if (!h->big && (same || g->pairs)) { /* a pair's 8 bytes are the integer's own, low first */
      copy_column(from, e->row, count, to, to_stride, each);
      continue;
    }
    for (uint64_t i = 0; i < count; i++) {
      const uint8_t *at = from + i * e->row;
      double real = ply_get_real(at, p->type, h->big);
      int64_t integer = ply_get_int(at, p->type, h->big);
      if (g->pairs)
        integer = (int64_t)((uint64_t)(uint32_t)integer |
                            (uint64_t)ply_get_int(at + 4, PLY_INT32, h->big) << 32);
      oz_store_number(g->type, data, (first + i) * g->components + k, real, integer);
    }
  }
}

static ooze_result read_ascii_rows(ply_walk *walk, const ply_element *e, const column_group *groups,
                                   uint32_t group_count, void **data) {
  double row[PLY_MAX_PROPERTIES];
  for (uint64_t i = 0; i < e->count; i++) {
    for (uint32_t k = 0; k < e->properties; k++) {
      ply_type type = walk->header->properties[e->first + k].type;
      if (!ply_next(walk, type, &row[k]))
        return ply_bad(walk->source, "point %llu: no number, or the file is truncated",
                       (unsigned long long)i);
    }
    for (uint32_t n = 0; n < group_count; n++) {
      const column_group *g = &groups[n];
      for (uint32_t k = 0; k < g->components; k++) {
        double real = row[g->first + k * (g->pairs ? 2 : 1)];
        int64_t integer = !(real > -9e18) ? INT64_MIN : real > 9e18 ? INT64_MAX : (int64_t)real;
        if (g->type == OOZE_INT32)
          integer = integer < INT32_MIN ? INT32_MIN : integer > INT32_MAX ? INT32_MAX : integer;
        if (g->pairs) {
          double high = row[g->first + k * 2 + 1];
          int64_t top = !(high > -2147483649.0) ? INT32_MIN
                        : high > 2147483647.0   ? INT32_MAX
                                                : (int64_t)high;
          integer = (int64_t)((uint64_t)(uint32_t)integer | (uint64_t)top << 32);
        }
        oz_store_number(g->type, data[n], i * g->components + k, real, integer);
      }
    }
  }
  return OOZE_OK;
}

/* ---- All of it --------------------------------------------------------------------------- */

static ooze_result read_vertices(oz_source *source, ply_walk *walk, const ply_element *e,
                                 column_group *groups, void **data, ooze_points *points) {
  const ply_header *h = walk->header;
  OZ_TRY_OK(ply_expect(walk, e));
  for (uint32_t k = 0; k < e->properties; k++)
    if (h->properties[e->first + k].list)
      return ply_bad(source, "its vertices have a list property, which is not read");
  uint64_t used = 0;
  uint32_t group_count = 0;
  for (uint32_t at = 0; at < e->properties;) {
    column_group *g = &groups[group_count];
    at += group_at(h, e, at, g);
    uint64_t bytes = e->count * g->components * oz_type_bytes(g->type);
    if (bytes > source->limits.max_bytes - used)
      return oz_fail(source->why, OOZE_ERROR_LIMIT, "%s: needs more than the limit of %llu bytes",
                     source->name, (unsigned long long)source->limits.max_bytes);
    used += bytes;
    ooze_message inner;
    ooze_result result = oz_points_add(points, g->name, strlen(g->name), g->type, g->components,
                                       OOZE_MEANING_NUMBER, &data[group_count], &inner);
    if (result != OOZE_OK)
      return oz_fail(source->why, result == OOZE_ERROR_ARGUMENT ? OOZE_ERROR_FORMAT : result,
                     "%s: %s", source->name, inner.text);
    oz_info_attribute(source->info, g->name, strlen(g->name), oz_type_name(g->type), g->components);
    group_count++;
  }
  if (h->ascii) return read_ascii_rows(walk, e, groups, group_count, data);
  /* so many rows stay in the cache while column after column is taken from them */
  enum { ROWS = 4096 };
  for (uint64_t first = 0; first < e->count; first += ROWS)
    for (uint32_t n = 0; n < group_count; n++)
      read_rows(h, e, walk->at, first, e->count - first < ROWS ? e->count - first : ROWS,
                &groups[n], data[n]);
  walk->at += e->count * e->row;
  return OOZE_OK;
}

static ooze_result settle(oz_source *source, ooze_points *points) {
  oz_attribute *p = oz_points_find(points, "P", 1);
  if (!p || p->components != 3) return ply_bad(source, "its vertices have no x, y and z");
  if (p->type == OOZE_FLOAT64) { /* in place, as it only shrinks */
    float *to = p->data;
    for (uint64_t i = 0; i < points->count * 3; i++) {
      float value = (float)((const double *)p->data)[i];
      memcpy(to + i, &value, 4);
    }
    p->type = OOZE_FLOAT32;
  } else if (p->type != OOZE_FLOAT32) {
    return ply_bad(source, "x, y and z are no floats");
  }
  return oz_check_finite(source->name, "P", p->data, points->count, 3, source->why);
}

ooze_result oz_ply_read_points(oz_source *source, ooze_points **out) {
  ply_header *h = malloc(sizeof *h);
  column_group *groups = malloc(PLY_MAX_PROPERTIES * sizeof *groups);
  void **data = malloc(PLY_MAX_PROPERTIES * sizeof *data);
  ooze_points *points = NULL;
  ooze_result result = OOZE_OK;
  if (!h || !groups || !data)
    result = oz_fail(source->why, OOZE_ERROR_MEMORY, "%s: out of memory", source->name);
  if (result == OOZE_OK) result = ply_read_header(source, h);
  if (result == OOZE_OK) {
    ply_walk walk = {source, h, source->bytes + h->body, source->bytes + source->count};
    bool found = false;
    for (uint32_t i = 0; i < h->element_count && result == OOZE_OK; i++) {
      const ply_element *e = &h->elements[i];
      if (!found && ply_named(e->name, e->length, "vertex")) {
        found = true;
        result = ooze_points_create(e->count, &points, source->why);
        if (result == OOZE_OK) result = read_vertices(source, &walk, e, groups, data, points);
        if (source->info) source->info->points = e->count;
      } else {
        result = ply_skip_element(&walk, e);
        if (source->info && ply_named(e->name, e->length, "face"))
          source->info->primitives = e->count;
      }
    }
    if (result == OOZE_OK && !found) result = ply_bad(source, "it has no vertices");
    if (result == OOZE_OK) result = settle(source, points);
    for (uint32_t i = 0; i < h->detail_count && result == OOZE_OK; i++) {
      ooze_message inner;
      result = ooze_points_detail_set(points, h->details[i].name, h->details[i].value, &inner);
      if (result != OOZE_OK)
        result = oz_fail(source->why, result == OOZE_ERROR_ARGUMENT ? OOZE_ERROR_FORMAT : result,
                         "%s: %s", source->name, inner.text);
    }
  }
  if (result == OOZE_OK)
    *out = points;
  else
    ooze_points_destroy(points);
  free(h);
  free(groups);
  free(data);
  return result;
}
