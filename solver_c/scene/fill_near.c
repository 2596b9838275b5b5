/* Particles that are there already, for new ones to keep their distance.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

static const double NEAREST = 0.9; /* separations between particles of two fluids */

static uint32_t slot_of(const oz_near *g, int64_t x, int64_t y, int64_t z) {
  return (uint32_t)oz_mix((uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u, (uint64_t)z) & g->mask;
}

void oz_near_release(oz_near *g) {
  free(g->head);
  free(g->next);
  free(g->x);
}

static int meets(const oz_box *box, const oz_box *other) {
  for (int k = 0; k < 3; k++)
    if (box->low[k] > other->high[k] || box->high[k] < other->low[k]) return 0;
  return 1;
}

int oz_boxes_add(oz_fill *f) {
  const oz_box *newest = &f->batches[f->batch_count - 1].box;
  size_t at = f->batch_count - 1;
  for (int level = 0; level < OZ_BOX_LEVELS; level++) {
    at >>= OZ_BOX_BITS;
    if (at == f->box_count[level]) {
      if (!oz_list_room((void **)&f->boxes[level], &f->box_room[level], at, sizeof *f->boxes[level],
                        16))
        return 0;
      f->boxes[level][f->box_count[level]++] = *newest;
      continue;
    }
    oz_box *box = &f->boxes[level][at];
    for (int k = 0; k < 3; k++) {
      box->low[k] = fmin(box->low[k], newest->low[k]);
      box->high[k] = fmax(box->high[k], newest->high[k]);
    }
  }
  return 1;
}

/* The first batch from `at` on that may meet the box; the count of batches: there is none. */
static size_t next_batch(const oz_fill *f, size_t at, const oz_box *box) {
  while (at < f->batch_count) {
    int level = OZ_BOX_LEVELS - 1;
    /* the widest stretch of batches that begins here and is clear of the box */
    for (; level >= 0; level--) {
      const int shift = OZ_BOX_BITS * (level + 1);
      if (at & (((size_t)1 << shift) - 1)) continue;
      if (!meets(&f->boxes[level][at >> shift], box)) break;
    }
    if (level < 0 && meets(&f->batches[at].box, box)) return at;
    at += (size_t)1 << (OZ_BOX_BITS * (level + 1));
  }
  return f->batch_count;
}

static void keep(oz_near *g, uint32_t at, const float x[3]) {
  const uint32_t slot =
      slot_of(g, (int64_t)floor((double)x[0] / g->cell), (int64_t)floor((double)x[1] / g->cell),
              (int64_t)floor((double)x[2] / g->cell));
  memcpy(g->x[at], x, sizeof g->x[at]);
  g->next[at] = g->head[slot];
  g->head[slot] = at + 1;
}

static int within(const oz_box *box, const float x[3]) {
  for (int k = 0; k < 3; k++)
    if ((double)x[k] < box->low[k] || (double)x[k] > box->high[k]) return 0;
  return 1;
}

int oz_near_build(oz_near *g, const oz_fill *f, const double low[3], const double high[3]) {
  uint64_t count = 0;
  oz_box box;
  memset(g, 0, sizeof *g);
  memcpy(box.low, low, sizeof box.low);
  memcpy(box.high, high, sizeof box.high);
  g->cell = f->d;
  for (int pass = 0; pass < 2; pass++) { /* count, then keep */
    uint32_t at = 0;
    for (size_t b = next_batch(f, 0, &box); b < f->batch_count; b = next_batch(f, b + 1, &box)) {
      const oz_batch *o = &f->batches[b];
      for (uint32_t i = 0; i < o->count; i++) {
        if (!within(&box, o->x[i])) continue;
        if (pass)
          keep(g, at++, o->x[i]);
        else
          count++;
      }
    }
    if (pass || !count) return 1;
    if (count >= UINT32_MAX / 2) return 0;
    uint32_t slots = 64;
    while (slots < count) slots *= 2;
    g->mask = slots - 1;
    g->count = (uint32_t)count;
    g->head = calloc(slots, sizeof *g->head);
    g->next = malloc((size_t)count * sizeof *g->next);
    g->x = malloc((size_t)count * sizeof *g->x);
    if (!g->head || !g->next || !g->x) return 0;
  }
  return 1;
}

int oz_near_taken(const oz_near *g, const double x[3]) {
  if (!g->count) return 0;
  int64_t c[3];
  double least = NEAREST * g->cell * NEAREST * g->cell;
  for (int k = 0; k < 3; k++) c[k] = (int64_t)floor(x[k] / g->cell);
  for (int64_t i = c[0] - 1; i <= c[0] + 1; i++)
    for (int64_t j = c[1] - 1; j <= c[1] + 1; j++)
      for (int64_t k = c[2] - 1; k <= c[2] + 1; k++)
        for (uint32_t at = g->head[slot_of(g, i, j, k)]; at; at = g->next[at - 1]) {
          double r2 = 0.0;
          for (int a = 0; a < 3; a++)
            r2 += (x[a] - (double)g->x[at - 1][a]) * (x[a] - (double)g->x[at - 1][a]);
          if (r2 < least) return 1;
        }
  return 0;
}
