/* How particles put their displacements into the table of cells (stirred.cu), and themselves on the
 * lists of its slots. */
#ifndef OZ_CUDA_STIR_H
#define OZ_CUDA_STIR_H

#include "cuda/cells.h"

namespace OZ_NAMESPACE {

struct shake_item {
  enum : uint32_t { ENDS = cell_table::ENDS };
  key_item key;
  const float *x;
  motions moves; /* only for its units; none: all is stirred */
  cell_table to;
  uint32_t *cell;
  uint32_t n;
  /* for the search and the box that follow: on the way, so that they need no launch for it */
  news *ready;
  /* Slot of particle i, and its displacement as the ends of a box. */
  OZ_D uint32_t slot_of(uint32_t i, uint32_t end[ENDS]) const {
    oz_real p[4], z[4];
    uint32_t c[3];
    oz_ld4(key.at, i, 4, 0, p);
    oz_ld4(x, i, 4, 0, z);
    key.cell(p, c);
    cell[i] = cell_table::word(c);
    uint32_t w[3];
    motions::none(w);
    moves.add(w, p, z);
    for (int k = 0; k < 3; k++)
      end[k] = cell_table::end_of(w[k] & 0xffffu), end[3 + k] = cell_table::end_of(w[k] >> 16);
    return to.slot(c[0], c[1], c[2]);
  }
  OZ_D void clear_news() const { ready->clear_groups(), ready->clear_box(); }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* of 32 */
    const uint32_t begin = group * 32, many = n - begin < 32 ? n - begin : 32;
    uint32_t slot[32], end[ENDS], left = 0;
    if (!group) clear_news();
    for (uint32_t t = 0; t < many; t++) {
      slot[t] = slot_of(begin + t, end), left |= 1u << t;
      for (uint32_t k = 0; k < ENDS; k++) oz_atomic_max(to.of(slot[t]) + k, end[k]);
    }
    while (left) {
      const uint32_t first = lowest(left);
      uint32_t which = 0;
      for (uint32_t t = first; t < many; t++) which |= (uint32_t)(slot[t] == slot[first]) << t;
      to.put(slot[first], to.take_place(slot[first]), begin + first, which);
      left &= ~which;
    }
  }
#endif
};

#if !defined(OZ_CUDA_HOST)
/* The 32 particles of a warp follow each other in the order of list C's cells, so they lie in a few
 * cells: what is to be done once a cell is done once here. Who lies with whom: number of the cell
 * among the warp's, and whether this thread is the first in it. */
struct company {
  /* with: which of the 32; leaders: the first one of each cell */
  uint32_t many, number, with, leaders;
  bool first;
  __device__ __forceinline__ company(bool there, uint32_t cell) {
    const uint32_t lane = threadIdx.x % 32, same = __match_any_sync(0xffffffffu, cell),
                   leader = __ffs((int)same) - 1;
    first = there && lane == leader;
    leaders = __ballot_sync(0xffffffffu, first);
    with = same, many = __popc(leaders), number = __popc(leaders & ((1u << leader) - 1u));
  }
};
/* What a warp has of the boxes of its cells, in shared memory. */
struct shaken {
  uint32_t end[32 * shake_item::ENDS], slot[32];
};
/* For all threads of a warp at once, whose particles are i and those beside it. */
__device__ __forceinline__ void shake(const shake_item &s, uint32_t i, shaken *sum) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t end[shake_item::ENDS], slot = cell_table::NOBODY;
  if (!i) s.clear_news();
  if (i < s.n) slot = s.slot_of(i, end);
  const company us(i < s.n, slot);
  /* the answer is far away: it is asked for last */
  const uint32_t place = us.first ? s.to.take_place(slot) : 0u;
  for (uint32_t k = lane; k < us.many * shake_item::ENDS; k += 32) sum->end[k] = 0;
  __syncwarp();
  if (us.first) sum->slot[us.number] = slot;
  if (i < s.n)
    for (int k = 0; k < shake_item::ENDS; k++)
      atomicMax(sum->end + us.number * shake_item::ENDS + k, end[k]);
  __syncwarp();
  for (uint32_t k = lane; k < us.many * shake_item::ENDS; k += 32)
    atomicMax(s.to.of(sum->slot[k / shake_item::ENDS]) + k % shake_item::ENDS, sum->end[k]);
  if (us.first) s.to.put(slot, place, i, us.with);
}
#endif

/* stirred.cu: makes the table ready for it. */
ooze_result ready_shake(gpu *g, const key_item &key, const oz_frame *f, const motions &moves,
                        shake_item *out, ooze_message *why);
/* Density's further rows, of the particles that are stirred; without motions all are. Uses A.
 * shaken: particles are in the table already. */
/* beside: what comes next may start while these are still being looked for (queue.cu). */
ooze_result stirred_rows(gpu *g, const shake_item &from, bool shaken, const oz_frame *f,
                         float radius, uint64_t lines, bool beside, ooze_message *why);

} // namespace OZ_NAMESPACE
#endif
