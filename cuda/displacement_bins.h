/* Binning of displacements: particles merge theirs into the table of moved cells (moved_cells.cu),
 * and join the lists of its slots. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_DISPLACEMENT_BINS_H
#define OZ_CUDA_DISPLACEMENT_BINS_H

#include "cuda/cells.h"

namespace OZ_NAMESPACE {

struct bin_item {
  enum : uint32_t { ENDS = cell_table::ENDS };
  key_item key;
  const float *x;
  displacement_boxes moves; /* for its units; none: all cells count as moved */
  cell_table to;
  uint32_t *cell;
  uint32_t n;
  /* cleared on the way for the next search and the next box, which saves a launch */
  device_status *ready;
  /* Slot of particle i, and its displacement as the ends of a box. */
  OZ_D uint32_t slot_of(uint32_t i, uint32_t end[ENDS]) const {
    oz_real p[4], z[4];
    uint32_t c[3];
    oz_ld4(key.at, i, 4, 0, p);
    oz_ld4(x, i, 4, 0, z);
    key.cell(p, c);
    cell[i] = cell_table::word(c);
    uint32_t w[3];
    displacement_boxes::set_empty(w);
    moves.add(w, p, z);
    for (int k = 0; k < 3; k++)
      end[k] = cell_table::end_of(w[k] & 0xffffu), end[3 + k] = cell_table::end_of(w[k] >> 16);
    return to.slot(c[0], c[1], c[2]);
  }
  OZ_D void clear_news() const { ready->clear_list_counters(), ready->clear_box(); }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* of 32 particles */
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
      to.put(slot[first], to.reserve_word(slot[first]), begin + first, which);
      left &= ~which;
    }
  }
#endif
};

#if !defined(OZ_CUDA_HOST)
/* The cells of a warp's 32 particles. They are consecutive in the order of the start list, so they
 * lie in a few cells, and work a cell is done once. number: of the cell among the warp's; first:
 * this thread is the first in it. */
struct warp_cells {
  /* with: lanes in the same cell; leaders: the first lane of each cell */
  uint32_t many, number, with, leaders;
  bool first;
  __device__ __forceinline__ warp_cells(bool there, uint32_t cell) {
    const uint32_t lane = threadIdx.x % 32, same = __match_any_sync(0xffffffffu, cell),
                   leader = __ffs((int)same) - 1;
    first = there && lane == leader;
    leaders = __ballot_sync(0xffffffffu, first);
    with = same, many = __popc(leaders), number = __popc(leaders & ((1u << leader) - 1u));
  }
};
/* Boxes of a warp's cells, in shared memory. */
struct bin_sums {
  uint32_t end[32 * bin_item::ENDS], slot[32];
};
/* By a whole warp, whose particles are i and those beside it. */
__device__ __forceinline__ void bin_displacements(const bin_item &s, uint32_t i, bin_sums *sum) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t end[bin_item::ENDS], slot = cell_table::NO_CELL;
  if (!i) s.clear_news();
  if (i < s.n) slot = s.slot_of(i, end);
  const warp_cells cells(i < s.n, slot);
  /* the result is needed last */
  const uint32_t place = cells.first ? s.to.reserve_word(slot) : 0u;
  for (uint32_t k = lane; k < cells.many * bin_item::ENDS; k += 32) sum->end[k] = 0;
  __syncwarp();
  if (cells.first) sum->slot[cells.number] = slot;
  if (i < s.n)
    for (int k = 0; k < bin_item::ENDS; k++)
      atomicMax(sum->end + cells.number * bin_item::ENDS + k, end[k]);
  __syncwarp();
  for (uint32_t k = lane; k < cells.many * bin_item::ENDS; k += 32)
    atomicMax(s.to.of(sum->slot[k / bin_item::ENDS]) + k % bin_item::ENDS, sum->end[k]);
  if (cells.first) s.to.put(slot, place, i, cells.with);
}
#endif

/* ---- moved_cells.cu ---- */
ooze_result prepare_bins(gpu *g, const key_item &key, const oz_frame *f,
                         const displacement_boxes &moves, bin_item *out, ooze_message *why);
/* Rows that the density list adds; without displacement boxes every cell is searched. Uses A.
 * binned: the table is filled. overlaps: the dependent kernel starts while the search runs
 * (stage_launch.cu). */
ooze_result moved_rows(gpu *g, const bin_item &from, bool binned, const oz_frame *f, float radius,
                       uint64_t lines, bool overlaps, ooze_message *why);

} // namespace OZ_NAMESPACE
#endif
