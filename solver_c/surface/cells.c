/* Particles binned into cubic cells: a sort by (cell, input order) and a table from cell to range.
 * Time and memory are linear in particles whatever their spread, since only occupied cells exist.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

/* Least significant digit first, 11 bits a pass; a digit that all keys share is skipped, so small
 * scenes take two or three passes of the six. */
int oz_sort_keys(uint64_t *keys, uint32_t *values, uint32_t count) {
  enum { DIGITS = 6, BITS = 11, SIZE = 1 << BITS };
  uint32_t *histogram = (uint32_t *)oz_allocate((size_t)DIGITS * SIZE, sizeof *histogram);
  uint64_t *other_keys = (uint64_t *)oz_allocate(count, sizeof *other_keys);
  uint32_t *other_values = (uint32_t *)oz_allocate(count, sizeof *other_values);
  uint64_t *from_keys = keys, *to_keys = other_keys;
  uint32_t *from_values = values, *to_values = other_values;
  uint32_t i;
  int digit, ok = histogram && other_keys && other_values;
  if (ok) {
    memset(histogram, 0, (size_t)DIGITS * SIZE * sizeof *histogram);
    for (i = 0; i < count; ++i)
      for (digit = 0; digit < DIGITS; ++digit)
        ++histogram[digit * SIZE + (keys[i] >> (digit * BITS) & (SIZE - 1))];
    for (digit = 0; digit < DIGITS && count; ++digit) {
      uint32_t *h = histogram + digit * SIZE, sum = 0;
      if (h[keys[0] >> (digit * BITS) & (SIZE - 1)] == count) continue;
      for (i = 0; i < SIZE; ++i) {
        uint32_t n = h[i];
        h[i] = sum;
        sum += n;
      }
      for (i = 0; i < count; ++i) {
        uint32_t at = h[from_keys[i] >> (digit * BITS) & (SIZE - 1)]++;
        to_keys[at] = from_keys[i];
        to_values[at] = from_values[i];
      }
      OZ_SWAP(uint64_t *, from_keys, to_keys);
      OZ_SWAP(uint32_t *, from_values, to_values);
    }
    if (from_keys != keys) {
      memcpy(keys, from_keys, count * sizeof *keys);
      memcpy(values, from_values, count * sizeof *values);
    }
  }
  oz_release(histogram);
  oz_release(other_keys);
  oz_release(other_values);
  return ok;
}

void oz_cells_free(oz_cells *c) {
  oz_release(c->keys);
  oz_release(c->first);
  oz_release(c->order);
  oz_release(c->x);
  oz_map_free(&c->map);
  memset(c, 0, sizeof *c);
}

ooze_result oz_cells_build(oz_cells *c, float cell, uint32_t count, const void *positions,
                           size_t stride, const uint8_t *left_out, ooze_message *why) {
  const char *bytes = (const char *)positions;
  uint32_t i, kept = 0, cells = 0;
  memset(c, 0, sizeof *c);
  c->cell = cell;
  c->keys = (uint64_t *)oz_allocate(count, sizeof *c->keys);
  c->order = (uint32_t *)oz_allocate(count, sizeof *c->order);
  c->x = (float *)oz_allocate(count, 3 * sizeof *c->x);
  if (!c->keys || !c->order || !c->x) goto memory;
  for (i = 0; i < count; ++i) {
    float p[3];
    if (left_out && left_out[i]) continue;
    memcpy(p, bytes + (size_t)i * stride, sizeof p);
    if (!(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))) {
      ++c->skipped;
      continue;
    }
    /* Two cells of margin, so that a neighbour's key never wraps. */
    if (fabsf(p[0]) >= cell * (OZ_KEY_LIMIT - 2) || fabsf(p[1]) >= cell * (OZ_KEY_LIMIT - 2) ||
        fabsf(p[2]) >= cell * (OZ_KEY_LIMIT - 2)) {
      oz_cells_free(c);
      return oz_fail(why, OOZE_ERROR_LIMIT,
                     "particle %u is at %g %g %g m; with cells of %g m the limit is %g m", i, p[0],
                     p[1], p[2], cell, cell * (OZ_KEY_LIMIT - 2));
    }
    c->keys[kept] =
        oz_key((int)floorf(p[0] / cell), (int)floorf(p[1] / cell), (int)floorf(p[2] / cell));
    c->order[kept++] = i;
  }
  c->count = kept;
  if (!oz_sort_keys(c->keys, c->order, kept)) goto memory;
  for (i = 0; i < kept; ++i) {
    memcpy(c->x + 3 * (size_t)i, bytes + (size_t)c->order[i] * stride, 3 * sizeof(float));
    cells += i == 0 || c->keys[i] != c->keys[i - 1];
  }
  c->first = (uint32_t *)oz_allocate((size_t)cells + 1, sizeof *c->first);
  if (!c->first || !oz_map_init(&c->map, cells)) goto memory;
  for (i = 0; i < kept; ++i) /* keys shrink in place to one a cell */
    if (i == 0 || c->keys[i] != c->keys[c->cell_count - 1]) {
      c->first[c->cell_count] = i;
      c->keys[c->cell_count] = c->keys[i];
      if (oz_map_put(&c->map, c->keys[i], c->cell_count++) < 0) goto memory;
    }
  c->first[c->cell_count] = kept;
  return OOZE_OK;
memory:
  oz_cells_free(c);
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory to bin %u particles", count);
}
