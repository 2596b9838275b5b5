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

int oz_near_build(oz_near *g, const oz_fill *f, const double low[3], const double high[3]) {
  uint64_t count = 0;
  memset(g, 0, sizeof *g);
  g->cell = f->d;
  for (int pass = 0; pass < 2; pass++) { /* count, then keep */
    uint32_t at = 0;
    for (size_t b = 0; b < f->batch_count; b++) {
      const oz_batch *o = &f->batches[b];
      int apart = 0;
      for (int k = 0; k < 3; k++) apart |= o->low[k] > high[k] || o->high[k] < low[k];
      for (uint32_t i = 0; !apart && i < o->count; i++) {
        int out = 0;
        for (int k = 0; k < 3; k++)
          out |= (double)o->x[i][k] < low[k] || (double)o->x[i][k] > high[k];
        if (out) continue;
        if (!pass) {
          count++;
          continue;
        }
        memcpy(g->x[at], o->x[i], sizeof o->x[i]);
        uint32_t slot = slot_of(g, (int64_t)floor((double)o->x[i][0] / g->cell),
                                (int64_t)floor((double)o->x[i][1] / g->cell),
                                (int64_t)floor((double)o->x[i][2] / g->cell));
        g->next[at] = g->head[slot];
        g->head[slot] = ++at;
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
