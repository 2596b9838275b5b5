/* The cells of the density list where a table holds them: of what is stirred alone (OZ_CALM), and without asking the host how much that is.
 *
 * Each particle adds its displacement to the box of the cell in which it is now. A cell is calm where none of the 27 around it can have moved by
 * what is calm relative to it: nobody in it has anyone to list, and nobody lists them, since two cells see each other's boxes alike. The others have their
 * particles in a list: of each 32 that follow each other in the order of list C those that lie in the cell, as bits, ascending. So nothing is sorted,
 * added up or copied. */
#include "cuda/cells.h"

namespace OZ_NAMESPACE {
namespace {

enum { ENDS = 6 }; /* of a box */

struct shake_item {
  key_item key;
  const float *x;
  motions moves; /* only for its units; none: all is stirred */
  cell_table to;
  uint32_t *cell;
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
    for (int k = 0; k < 3; k++) end[k] = cell_table::end_of(w[k] & 0xffffu), end[3 + k] = cell_table::end_of(w[k] >> 16);
    return to.slot(c[0], c[1], c[2]);
  }
  /* Word k of what particles leave in their slot. */
  OZ_D void put(uint32_t slot, uint32_t k, uint32_t v) const {
    uint32_t *to_word = to.at + (size_t)slot * cell_table::WORDS + k;
    if (k == cell_table::MANY) oz_atomic_add(to_word, v);
    else oz_atomic_max(to_word, v);
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    uint32_t end[ENDS];
    const uint32_t slot = slot_of(i, end);
    for (uint32_t k = 0; k < ENDS; k++) put(slot, k, end[k]);
    put(slot, cell_table::MANY, 1);
  }
#endif
};

/* Which cells around each are not calm relative to it; where some are, its particles are linked. */
struct pick_item {
  cell_table in;
  bool all; /* is stirred */
  uint32_t n, *cell;
  uint32_t *groups, *group_count; /* of 32: those in which someone is stirred; others have no entries: */
  uint32_t *row;
  uint16_t *len;
  news *ready; /* for the search and the box that follow: on the way, so that they need no launch for it */
  /* Slot of the cell at d, one of 27, seen from the one at c. */
  OZ_D uint32_t beside(const uint32_t c[3], uint32_t d) const {
    const uint32_t x = c[0] + d % 3 - 1, y = c[1] + d / 3 % 3 - 1, z = c[2] + d / 9 - 1;
    const bool there = (d < 27) & (x <= in.last[0]) & (y <= in.last[1]) & (z <= in.last[2]); /* -1 wraps */
    return there ? in.slot(x, y, z) : in.empty;
  }
  /* Whether those of one slot are to be looked at from another. */
  OZ_D bool stirred(const uint32_t own[cell_table::WORDS], const uint32_t other[cell_table::WORDS]) const {
    return (other[cell_table::MANY] != 0) & (all | !cell_table::calm(own, other));
  }
  static OZ_D uint32_t now(const uint32_t *a) { return *static_cast<const volatile uint32_t *>(a); }
  /* The particles of a slot among 32: which, and the first of them, as which the entry is known. Others may be linking theirs. */
  OZ_D void link(uint32_t slot, uint32_t mask, uint32_t first, uint32_t which) const {
    in.mask[slot] = mask;
    if (!mask) return;
    uint32_t *from = in.at + (size_t)slot * cell_table::WORDS + cell_table::FIRST, *mine = in.entry(first + 1);
    mine[1] = which;
    for (;;) {
      uint32_t next = now(from);
      while (next && next <= first) from = in.entry(next), next = now(from);
      mine[0] = next;
      oz_fence();
      if (oz_atomic_cas(from, next, first + 1) == next) return;
    }
  }
  OZ_D void note(uint32_t group, bool some) const {
    if (some) groups[oz_atomic_add(group_count, 1u)] = group;
    else row[group] = 0;
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* of 32 */
    const uint32_t begin = group * 32, end = begin + 32 < n ? begin + 32 : n;
    bool some = false;
    if (!group) ready->clear_groups(), ready->clear_box();
    for (uint32_t left = end - begin < 32 ? (1u << (end - begin)) - 1u : 0xffffffffu; left;) {
      uint32_t first = begin, which = 0, own[cell_table::WORDS], other[cell_table::WORDS], mask = 0;
      while (!(left >> (first - begin) & 1u)) first++;
      const uint32_t word = cell[first], slot = in.slot_of(word);
      const uint32_t c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1), cell_table::coordinate(word, 2)};
      in.load(slot, own);
      for (uint32_t d = 0; d < 27; d++) {
        in.load(beside(c, d), other);
        mask |= (uint32_t)stirred(own, other) << d;
      }
      for (uint32_t i = first; i < end; i++)
        if (cell[i] == word) which |= 1u << (i - begin), cell[i] = mask ? word : (uint32_t)cell_table::NOBODY;
      link(slot, mask, first, which);
      left &= ~which, some = some || mask;
    }
    note(group, some);
    for (uint32_t i = begin; i < end && !some; i++) len[i] = 0;
  }
#endif
};

#if defined(OZ_CUDA_HOST)
cudaError_t shake_all(cudaStream_t stream, uint32_t n, const shake_item &s) { return each(stream, n, s); }
cudaError_t pick_all(cudaStream_t stream, uint32_t n, const pick_item &p) { return each(stream, (n + 31) / 32, p); }
#else
enum { WARPS = 8, TEAM = 8, EACH = 4 /* of 27, to each of a team */ };
/* The 32 particles of a warp follow each other in the order of list C's cells, so they lie in a few cells: what is to be done once a cell is done
 * once here. Who lies with whom: number of the cell among the warp's, and whether this thread is the first in it. */
struct company {
  uint32_t many, number, with; /* with: which of the 32 */
  bool first;
  __device__ __forceinline__ company(bool there, uint32_t cell) {
    const uint32_t lane = threadIdx.x % 32, same = __match_any_sync(0xffffffffu, cell), leader = __ffs((int)same) - 1;
    first = there && lane == leader;
    const uint32_t leaders = __ballot_sync(0xffffffffu, first);
    with = same, many = __popc(leaders), number = __popc(leaders & ((1u << leader) - 1u));
  }
};
__global__ void __launch_bounds__(32 * WARPS) shake_kernel(const __grid_constant__ shake_item s, uint32_t n) {
  __shared__ uint32_t sum[WARPS][32 * cell_table::WORDS], slots[WARPS][32];
  const uint32_t i = blockIdx.x * 32u * WARPS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  after_the_last();
  uint32_t end[ENDS], slot = 0xffffffffu;
  if (i < n) slot = s.slot_of(i, end);
  const company us(i < n, slot);
  for (uint32_t k = lane; k < us.many * cell_table::WORDS; k += 32) sum[warp][k] = 0;
  __syncwarp();
  uint32_t *ours = sum[warp] + us.number * cell_table::WORDS;
  if (i < n)
    for (int k = 0; k < ENDS; k++) atomicMax(ours + k, end[k]);
  if (us.first) slots[warp][us.number] = slot, ours[cell_table::MANY] = __popc(us.with);
  __syncwarp();
  for (uint32_t k = lane; k < us.many * cell_table::WORDS; k += 32)
    if (k % cell_table::WORDS <= cell_table::MANY) s.put(slots[warp][k / cell_table::WORDS], k % cell_table::WORDS, sum[warp][k]);
}
/* Eight threads a cell. */
__global__ void __launch_bounds__(32 * WARPS) pick_kernel(const __grid_constant__ pick_item s, uint32_t n) {
  __shared__ uint32_t words[WARPS][32], which[WARPS][32];
  after_the_last();
  const uint32_t i = blockIdx.x * 32u * WARPS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, word = i < n ? s.cell[i] : cell_table::NOBODY;
  if (!i) s.ready->clear_groups(), s.ready->clear_box();
  const company us(i < n, word);
  if (us.first) words[warp][us.number] = word, which[warp][us.number] = us.with;
  __syncwarp();
  for (uint32_t first = 0; first < us.many; first += 32 / TEAM) {
    const uint32_t k = first + lane / TEAM, of = words[warp][k < us.many ? k : first];
    const uint32_t c[3] = {cell_table::coordinate(of, 0), cell_table::coordinate(of, 1), cell_table::coordinate(of, 2)}, slot = s.in.slot(c[0], c[1], c[2]);
    uint32_t own[cell_table::WORDS], other[EACH][cell_table::WORDS], mask = 0;
    s.in.load(slot, own);
    for (uint32_t e = 0; e < EACH; e++) s.in.load(s.beside(c, lane % TEAM * EACH + e), other[e]); /* all at once: they are far away */
    for (uint32_t e = 0; e < EACH; e++) mask |= (uint32_t)s.stirred(own, other[e]) << (lane % TEAM * EACH + e);
    for (int d = 1; d < TEAM; d *= 2) mask |= __shfl_xor_sync(0xffffffffu, mask, d);
    __syncwarp(); /* all have read their word */
    if (k < us.many && lane % TEAM == 0) {
      s.link(slot, mask, i - lane + __ffs((int)which[warp][k]) - 1, which[warp][k]);
      if (!mask) words[warp][k] = cell_table::NOBODY;
    }
    __syncwarp();
  }
  const bool calm = i >= n || words[warp][us.number] == cell_table::NOBODY, some = __any_sync(0xffffffffu, !calm);
  if (i >= n) return;
  if (calm) s.cell[i] = cell_table::NOBODY;
  if (lane == 0) s.note(i / 32, some);
  if (!some) s.len[i] = 0;
}
cudaError_t shake_all(cudaStream_t stream, uint32_t n, const shake_item &s) {
  return start_kernel(shake_kernel, (n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s, n);
}
cudaError_t pick_all(cudaStream_t stream, uint32_t n, const pick_item &p) {
  return start_kernel(pick_kernel, (n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, p, n);
}
#endif

} // namespace

/* Beforehand, beside what runs then. */
ooze_result clear_stirred(gpu *g, ooze_message *why) {
  g->stirred_clear = 0;
  if (g->stirred_bytes) OZ_CUDA(cudaMemsetAsync(g->stirred.at, 0, g->stirred_bytes, g->stream), "cells");
  g->stirred_clear = g->stirred_bytes;
  return OOZE_OK;
}
ooze_result stirred_cells(gpu *g, const key_item &key, const oz_frame *f, const motions &moves, cell_table *out, const uint32_t **groups, const uint32_t **count, ooze_message *why) {
  cell_table in = {};
  const uint32_t slots = in.fold(key.last, 2 * g->count + 16384);
  const size_t words = (size_t)(slots + 1) * cell_table::WORDS; /* with the one where nobody is */
  const size_t bytes = (words + 1) * 4;
  if (bytes + slots * 4 > g->stirred.bytes) g->stirred_clear = 0;
  OZ_TRY(grow(g, &g->stirred, bytes + slots * 4, "cells", why, true));
  in.at = as<uint32_t>(g->stirred), in.mask = in.at + words + 1; /* which need not be cleared */
  in.entries = reinterpret_cast<uint32_t *>(f->A);         /* which is free until the first iteration */
  uint32_t *cell = as<uint32_t>(g->cell_of), *list = as<uint32_t>(g->order[0]), *many = in.at + words;
  if (g->stirred_clear < bytes) OZ_CUDA(cudaMemsetAsync(in.at, 0, bytes, g->stream), "cells");
  g->stirred_bytes = bytes, g->stirred_clear = 0;
  OZ_CUDA(shake_all(g->stream, g->count, shake_item{key, f->x, moves, in, cell}), "cells");
  OZ_CUDA(pick_all(g->stream, g->count, pick_item{in, !moves.at, g->count, cell, list, many, as<uint32_t>(g->extra.group), as<uint16_t>(g->extra.len), device_news(g)}), "cells");
  g->groups_clear = g->box_clear = true;
  *out = in, *groups = list, *count = many;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
