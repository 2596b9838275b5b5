/* Rows of neighbours.
 *
 * On the CPU a row is a sequence of 16-bit words, a multiple of four, that begins at word 4 (row[i]
 * & ~OZ_WIDE). Its entries are the index distances j - i; arrays are sorted along a space-filling
 * curve, so that neighbours mostly have near indices. If a distance does not fit in 16 bits with
 * its sign, the row has the bit OZ_WIDE and entries of 32 bits.
 *
 * Behind the entries of a start row follow as many halves: w = d |ghat| / r. With the start
 * positions, all other values of a pair follow from it (pairs.h). It is the same from either end,
 * so that the exchange of a pair is equal and opposite to the last bit, and directed along it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_ROWS_H
#define OZ_PHYSICS_ROWS_H

#include "physics/frame.h"
#include "physics/lanes.h"

#if !OZ_GPU
typedef struct oz_row {
  const uint16_t *e;
  uint32_t i, wide;
} oz_row;

OZ_FN oz_row oz_row_of(const uint16_t *list, const uint32_t *starts, uint32_t i) {
  oz_row r = {list + 4 * (size_t)(starts[i] & ~OZ_WIDE), i, starts[i] & OZ_WIDE};
  return r;
}

/* Entry m, as j - i. Loops over a row exist twice, for `wide` rows and for others, so that the test
 * is made once a row. */
OZ_FN ptrdiff_t oz_row_far(const oz_row *r, uint32_t wide, uint32_t m) {
  if (wide) {
    int32_t e;
    __builtin_memcpy(&e, r->e + 2 * (size_t)m, sizeof e);
    return e;
  }
  int16_t e;
  __builtin_memcpy(&e, r->e + m, sizeof e);
  return e;
}

OZ_FN void oz_row_j(const oz_row *r, uint32_t m, uint32_t count, uint32_t *j) {
  for (uint32_t k = 0; k < count; k++) j[k] = r->i + (uint32_t)oz_row_far(r, r->wide, m + k);
}
#endif

#if OZ_GPU
/* Index of entry m of row i: the rows of 32 particles are interleaved, four entries at a time
 * (cuda/README.md). */
OZ_FN size_t oz_row_entry(const uint32_t *starts, size_t i, uint32_t m) {
  return ((size_t)starts[i >> 5] + (m & ~3u)) * 32u + (i & 31u) * 4u + (m & 3u);
}
#endif
/* Entry m of row i of the start neighbour list, and of either part of the density neighbour list.
 * Gathers do not use these functions: the drivers walk rows in their own way. */
OZ_FN uint32_t oz_neighbour(const oz_frame *f, size_t i, uint32_t m) {
#if OZ_GPU
  const size_t e = oz_row_entry(f->start_row, i, m);
  return f->start_entries ? f->share_list[f->share_first[2 * (i / OZ_SHARE)] + f->start_entries[e]]
                          : f->start_list[e];
#else
  const oz_row r = oz_row_of(f->start_entries, f->start_row, (uint32_t)i);
  uint32_t j;
  oz_row_j(&r, m, 1, &j);
  return j;
#endif
}

OZ_FN uint32_t oz_dense_neighbour(const oz_frame *f, int part, uint32_t i, uint32_t m) {
#if OZ_GPU
  return part ? f->density_list[1][oz_row_entry(f->density_row[1], i, m)] : oz_neighbour(f, i, m);
#else
  const oz_row r = oz_row_of(f->density_entries[part], f->density_row[part], i);
  uint32_t j;
  oz_row_j(&r, m, 1, &j);
  return j;
#endif
}

/* True if part 0 or 1 of the density neighbour list exists. */
OZ_FN int oz_dense_part(const oz_frame *f, int part) {
#if OZ_GPU
  return part == 0 || f->density_list[1] != NULL;
#else
  return f->density_entries[part] != NULL;
#endif
}
#endif
