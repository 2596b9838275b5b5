/* Values painted on points that particles have no attribute for: groups of points, each with a
 * material of its own. SPDX-License-Identifier: Apache-2.0 */
#include "scene/paint.h"

#include "base/result.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 256, MOST_GROUPS = 4096, SLOTS = 4 * MOST_GROUPS };

/* ---- Steps --------------------------------------------------------------------------------- */

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* 1 if a column has more than `steps` different values. */
static int has_more(const float *values, uint32_t count, uint32_t steps) {
  enum { ROOM = 4 * MOST_STEPS };
  uint32_t seen[ROOM], found = 0;
  uint8_t used[ROOM] = {0};
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t bits = bits_of(values[i]);
    if (i && bits == bits_of(values[i - 1])) continue;
    uint32_t at = bits * 2654435761u >> 22; /* Knuth 1998: multiplicative hashing */
    while (used[at] && seen[at] != bits) at = (at + 1) % ROOM;
    if (used[at]) continue;
    if (++found > steps) return 1;
    used[at] = 1;
    seen[at] = bits;
  }
  return 0;
}

/* Rounds a column to evenly spaced steps between its least and greatest value; by the logarithm
 * where all are above 0 and the greatest is 100 times the least. Both ends stay exact. */
static void round_to(float *values, uint32_t count, uint32_t steps) {
  double low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) continue; /* refused later, by its range */
    low = fmin(low, (double)values[i]);
    high = fmax(high, (double)values[i]);
  }
  if (!(high > low)) return;
  const int by_log = low > 0.0 && high >= 100.0 * low;
  const double begin = by_log ? log(low) : low, end = by_log ? log(high) : high,
               step = (end - begin) / (steps - 1);
  for (uint32_t i = 0; i < count; i++) {
    if (!isfinite(values[i])) continue;
    const double value = by_log ? log((double)values[i]) : (double)values[i];
    const double k = floor((value - begin) / step + 0.5), at = begin + k * step;
    values[i] = (float)(k <= 0.0 ? low : k >= steps - 1 ? high : by_log ? exp(at) : at);
  }
}

/* ---- Groups -------------------------------------------------------------------------------- */

typedef struct grouping {
  float *const *values;
  uint32_t columns[OOZE_PAINT_COLUMNS], column_count; /* those that vary */
  const uint32_t *kinds;
  uint32_t slots[SLOTS], first[MOST_GROUPS], count; /* group + 1; point that a group began with */
} grouping;

static uint64_t row_hash(const grouping *g, uint32_t point) {
  uint64_t hash = g->kinds ? g->kinds[point] : 0;
  for (uint32_t c = 0; c < g->column_count; c++)
    hash = (hash ^ bits_of(g->values[g->columns[c]][point])) * UINT64_C(0x9e3779b97f4a7c15),
    hash ^= hash >> 29;
  return hash;
}
static int same_row(const grouping *g, uint32_t a, uint32_t b) {
  if (g->kinds && g->kinds[a] != g->kinds[b]) return 0;
  for (uint32_t c = 0; c < g->column_count; c++) {
    const float *v = g->values[g->columns[c]];
    if (bits_of(v[a]) != bits_of(v[b])) return 0;
  }
  return 1;
}

/* 0 if there are more than fit. */
static int group_all(grouping *g, uint32_t count, uint32_t *group) {
  memset(g->slots, 0, sizeof g->slots);
  g->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (i && same_row(g, i, i - 1)) {
      group[i] = group[i - 1];
      continue;
    }
    uint32_t at = (uint32_t)(row_hash(g, i) % SLOTS);
    while (g->slots[at] && !same_row(g, i, g->first[g->slots[at] - 1])) at = (at + 1) % SLOTS;
    if (!g->slots[at]) {
      if (g->count == MOST_GROUPS) return 0;
      g->first[g->count++] = i;
      g->slots[at] = g->count;
    }
    group[i] = g->slots[at] - 1;
  }
  return 1;
}

ooze_result ooze_paint_group(float *const *values, uint32_t columns, const uint32_t *kinds,
                             uint32_t count, uint32_t *out_group, uint32_t *out_groups,
                             ooze_message *why) {
  if (!out_groups || (count && !out_group) || (columns && !values))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_paint_group: a pointer is NULL");
  if (columns > OOZE_PAINT_COLUMNS)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%u painted values; expected %d at most", columns,
                   OOZE_PAINT_COLUMNS);
  grouping *g = calloc(1, sizeof *g);
  if (!g) return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for painted values");
  g->values = values;
  g->kinds = kinds;
  for (uint32_t c = 0; c < columns; c++) {
    uint32_t varies = 0;
    for (uint32_t i = 0; i < count; i++) values[c][i] += 0.0f; /* of two zeros one */
    for (uint32_t i = 1; i < count && !varies; i++)
      varies = bits_of(values[c][i]) != bits_of(values[c][0]);
    if (varies) g->columns[g->column_count++] = c;
  }
  int fit = 0;
  for (uint32_t steps = MOST_STEPS; steps > 1 && !fit; steps /= 2) {
    for (uint32_t c = 0; c < g->column_count; c++) {
      float *v = values[g->columns[c]];
      if (has_more(v, count, steps)) round_to(v, count, steps);
    }
    fit = group_all(g, count, out_group);
  }
  *out_groups = g->count;
  free(g);
  return fit ? OOZE_OK
             : oz_fail(why, OOZE_ERROR_LIMIT,
                       "%u painted values vary each for itself and make more than %d materials; "
                       "expected fewer",
                       columns, MOST_GROUPS);
}

/* ---- Names --------------------------------------------------------------------------------- */

int oz_paint_parm(uint32_t index, ooze_node_parm *out) {
  uint32_t node = 0;
  if (ooze_node_find("source", &node) != OOZE_OK) return 0;
  for (uint32_t i = 0;; i++) {
    ooze_node_parm_default(out);
    if (ooze_node_parm_get(node, i, out) != OOZE_OK) return 0;
    if (strcmp(out->group, "material") == 0 && index-- == 0) return 1;
  }
}

int oz_paint_is_of_particles(const char *token) {
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    (void)ooze_attribute_describe((ooze_attribute)a, &info);
    if (info.writable && strcmp(info.name, token) == 0) return 1;
  }
  return 0;
}

/* yield_stress, YieldStress and yieldstress are the same word. */
static int same_word(const char *a, const char *b) {
  for (;;) {
    while (*a == '_') a++;
    while (*b == '_') b++;
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return 0;
    if (!*a) return 1;
    a++, b++;
  }
}

static int varies(const ooze_points *points, const ooze_points_attribute *a) {
  static const size_t bytes[] = {4, 8, 4, 8, 8}; /* of OOZE_FLOAT32 and so on */
  if (a->type >= sizeof bytes / sizeof *bytes) return 0;
  const size_t row = bytes[a->type] * a->components;
  for (uint64_t i = 1; i < ooze_points_count(points); i++)
    if (memcmp(a->data, (const char *)a->data + i * row, row)) return 1;
  return 0;
}

void oz_paint_tell_unread(const ooze_points *points, const char *fluid, int keeps_state,
                          void (*say)(void *user, const char *text), void *user) {
  char text[400];
  ooze_points_attribute a;
  ooze_node_parm p;
  for (uint32_t i = 0; say && oz_paint_parm(i, &p); i++)
    for (uint32_t k = 0; k < ooze_points_attribute_count(points); k++) {
      ooze_points_attribute_default(&a);
      if (ooze_points_attribute_get(points, k, &a) != OOZE_OK ||
          !(same_word(a.name, p.token) || same_word(a.name, p.field)))
        continue;
      const int exact = strcmp(a.name, p.token) == 0;
      if (keeps_state && exact) continue;
      /* caches have every value of a material; paint differs from point to point */
      if (!keeps_state && !varies(points, &a)) continue;
      if (keeps_state)
        snprintf(text, sizeof text,
                 "fluids.%.100s: the points' attribute %.100s is not read; did you mean %s?", fluid,
                 a.name, p.token);
      else
        snprintf(text, sizeof text,
                 "fluids.%.100s: the points' attribute %.100s is not read without \"keep_state\": "
                 "true",
                 fluid, a.name);
      say(user, text);
    }
}
