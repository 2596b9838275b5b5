/* Reading rows of neighbours one entry at a time. Gathers do not come here: their drivers walk rows in their own way. */
#ifndef OZ_PHYSICS_ROWS_H
#define OZ_PHYSICS_ROWS_H

#include "physics/frame.h"
#include "physics/lanes.h"

/* Entry m of row i of list C. On the GPU the rows of 32 particles lie interleaved, four entries at a time
 * (cuda/README.md). */
OZ_FN uint32_t oz_neighbour(const oz_frame *f, size_t i, uint32_t m) {
#if OZ_GPU
  const size_t e = ((size_t)f->row_c[i >> 5] + (m & ~3u)) * 32u + (i & 31u) * 4u + (m & 3u);
  return f->near_c ? f->near_j[f->near_first[2 * (i / OZ_SHARE)] + f->near_c[e]] : f->list_c[e];
#else
  return f->list_c[f->row_c[i] + m];
#endif
}
#endif
