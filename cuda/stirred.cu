/* Density's further rows where a table holds the cells: of what is stirred alone (OZ_CALM), and without asking the host how much that is.
 *
 * Each particle adds its displacement to the box of the cell in which it is now, and itself to its list (stir.h). A cell is calm where none of the 27
 * around it can have moved by what is calm relative to it: nobody in it has anyone to list, and nobody lists them, since two cells see each other's
 * boxes alike. The others are looked at as soon as that is known, in the same kernel: who of 32 that follow each other lies in one cell has the same
 * candidates, in the same order. */
#include "cuda/stir.h"

#include "physics/boundary.h"
#include "physics/pairs.h"

namespace OZ_NAMESPACE {
namespace {

struct seek_item {
  cell_table in;
  bool all; /* is stirred */
  uint32_t n;
  const uint32_t *cell;
  const float *p, *x; /* records of 4: positions now and at the start */
  float radius2, skip2, calm2; /* who is within the root of the first now, was not within that of the second, and has come by more than the third */
  float per;     /* units of boxes a metre */
  bool beside;   /* the first gather of the position phase runs beside this */
  const uint32_t *owner, *slip; /* as in look.h */
  uint32_t *entries, *row;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;

  /* Slot of the cell at d, one of 27 from the lowest, x first, seen from the one at c. */
  OZ_D uint32_t around(const uint32_t c[3], uint32_t d) const { return d < 27 ? in.beside(c, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) : in.empty; }
  /* Whether those of one slot are to be looked at from another. */
  OZ_D bool stirred(const uint32_t own[cell_table::ENDS], const uint32_t other[cell_table::ENDS]) const {
    return (other[0] != 0) & (all | !cell_table::calm(own, other));
  }
  /* From one cell to the next: the even one of the pair it belongs to, the odd one, the one that stands alone. */
  static OZ_D uint32_t step_to(uint32_t at, uint32_t which) { return which < 2 ? which - (at & 1u) : (at & 1u) * 2u - 1u; }
  /* Slot of cell k of 27 in the order of rows, that of blocks and their Morton codes; where `mask` (by d) does not name it, one where nobody is. */
  OZ_D uint32_t in_turn(const uint32_t c[3], uint32_t mask, uint32_t k) const {
    uint32_t which[3];
    cell_parts(k, which);
    const uint32_t x = step_to(c[0], which[0]), y = step_to(c[1], which[1]), z = step_to(c[2], which[2]);
    return k < 27 && (mask >> (13u + x + 3u * y + 9u * z) & 1u) ? in.slot(c[0] + x, c[1] + y, c[2] + z) : in.empty;
  }
  OZ_D bool gathers(uint32_t i) const { return !(owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY && !(slip && slip[i] > OZ_SLIP_WORD)); }
  /* Of one at p, from x, and one at q, from z: whether they have moved relative to each other, and whether they are near now and were not. */
  OZ_D bool moved(const float *p, const float *x, const float *q, const float *z) const {
    const oz_v3 a = {p[0], p[1], p[2]}, b = {x[0], x[1], x[2]}, c = {q[0], q[1], q[2]}, d = {z[0], z[1], z[2]};
    return !(calm2 > 0.0f) || oz_moved2(a, b, c, d) > calm2;
  }
  /* A cell's box of displacements as it is, in its units. */
  struct span { float low[3], high[3]; };
  static OZ_D span span_of(const uint32_t end[cell_table::ENDS]) {
    span b;
    for (int k = 0; k < 3; k++) b.low[k] = (float)(32768 - (int)end[k]), b.high[k] = (float)((int)end[3 + k] - 32768);
    return b;
  }
  /* Whether one at q, from z, may have moved relative to anyone of a box by more than what is calm: by the corner that is farthest from it. Most of those in a
   * cell that is not calm have not, and are looked at no further. */
  OZ_D bool stirs(const span &b, const float *q, const float *z) const {
    float far2 = 0.0f;
    for (int k = 0; k < 3; k++) {
      const float v = (q[k] - z[k]) * per, far = fmaxf(v - b.low[k], b.high[k] - v);
      far2 = fmaf(far, far, far2);
    }
    return all | !(far2 < (float)(CALM_UNITS * CALM_UNITS - 6)); /* as motions::calm; or no number */
  }
  OZ_D bool met(const float *p, const float *x, const float *q, const float *z) const { return distance2(q, p) < radius2 && !(nearness(z, x, skip2) >> 31); }
  OZ_D uint32_t *row_of(unsigned long long base, uint32_t i) const { return entries + (size_t)base * GROUP + 4 * (i % GROUP); }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* of 32 */
    static uint32_t found[32][OZ_MAX_NEIGHBOURS];
    const uint32_t begin = group * 32, many = n - begin < 32 ? n - begin : 32;
    uint32_t count[32], most = 0, sum = 0;
    for (uint32_t t = 0; t < many; t++) {
      const uint32_t i = begin + t, word = cell[i], c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1), cell_table::coordinate(word, 2)};
      uint32_t own[cell_table::ENDS], other[cell_table::ENDS], mask = 0;
      in.load_box(in.slot(c[0], c[1], c[2]), own);
      for (uint32_t d = 0; d < 27; d++) {
        in.load_box(around(c, d), other);
        mask |= (uint32_t)stirred(own, other) << d;
      }
      count[t] = 0;
      for (uint32_t k = 0; k < 27 && mask && gathers(i); k++)
        in.each_of(in.load_members(in_turn(c, mask, k)), [&](uint32_t number, uint32_t which) {
          for (; which; which &= which - 1) {
            const uint32_t j = number * 32 + lowest(which);
            if (stirs(span_of(own), p + 4 * j, x + 4 * j) && moved(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) && met(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) && count[t] < OZ_MAX_NEIGHBOURS) found[t][count[t]++] = j;
          }
        });
      most = most > in_fours(count[t]) ? most : in_fours(count[t]), sum += count[t];
    }
    const unsigned long long base = sum ? oz_atomic_add(asked, (unsigned long long)most) : 0;
    oz_atomic_add(total, (unsigned long long)sum);
    row[group] = (uint32_t)base;
    for (uint32_t t = 0; t < many; t++) {
      const bool fits = base + most <= lines;
      len[begin + t] = fits ? (uint16_t)count[t] : 0;
      for (uint32_t r = 0; fits && r < in_fours(count[t]); r++) row_of(base, t)[entry_at(r)] = r < count[t] ? found[t][r] : begin + t;
    }
  }
#endif
};

#if defined(OZ_CUDA_HOST)
cudaError_t shake_all(cudaStream_t stream, const shake_item &s) { return each(stream, (s.n + 31) / 32, s); }
cudaError_t seek_all(cudaStream_t stream, const seek_item &s) { return each(stream, (s.n + 31) / 32, s); }
#else
enum {
  WARPS = 7, /* four blocks a multiprocessor of 72 registers a thread */
  CELLS = 6,          /* whose 27 boxes a warp has under way at once */
  SHARE_OUT = 8,      /* particles of a cell that a warp looks at */
  BATCH = 512,        /* their candidates, at once */
  FETCHED = 2,        /* of which a thread has so many under way */
  KEPT = 16           /* neighbours of a particle that are kept for its row; of one that has more they are looked for again */
};
__global__ void __launch_bounds__(32 * WARPS) shake_kernel(const __grid_constant__ shake_item s) {
  __shared__ shaken sum[WARPS];
  after_the_last();
  shake(s, blockIdx.x * 32u * WARPS + threadIdx.x, sum + threadIdx.x / 32);
}

/* A block looks at groups of 32 that are far apart, a warp at each first, because what is stirred lies together. */
struct seek_block {
  /* Cells of each group that are stirred: where, and which around it are. */
  uint32_t word[WARPS * 32], mask[WARPS * 32];
  uint16_t task[WARPS * 32]; /* all of them in any order, up to SHARE_OUT of their particles at a time, */
  uint32_t task_for[WARPS * 32]; /* these */
  uint32_t tasks;
  uint32_t count[WARPS][32]; /* neighbours of each particle */
  uint32_t kept[WARPS][KEPT][32];
  unsigned long long base[WARPS]; /* lines of rows, where they begin; NO_ROOM */
  /* of the task of each warp */
  uint32_t list[WARPS][BATCH];
  seek_item::span box[WARPS];     /* its cell's */
  float own[WARPS][SHARE_OUT][8]; /* positions now and at the start */
};
enum : unsigned long long { NO_ROOM = ~0ull };
__device__ __forceinline__ uint32_t group_of(uint32_t warp) { return blockIdx.x + warp * gridDim.x; }

/* Leaves those on the list of `here` candidates that may have moved relative to anyone of their cell; returns their number. */
__device__ __forceinline__ uint32_t sift(const seek_item &s, const seek_item::span &box, uint32_t *list, uint32_t here) {
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  uint32_t kept = 0;
  for (uint32_t first = 0; first < here; first += 32 * FETCHED) {
    uint32_t j[FETCHED];
    float q[FETCHED][4], z[FETCHED][4];
    for (uint32_t u = 0; u < FETCHED; u++) j[u] = list[min(first + 32 * u + lane, here - 1)];
    for (uint32_t u = 0; u < FETCHED; u++)
      if (first + 32 * u < here) oz_ld4(s.p, j[u], 4, 0, q[u]), oz_ld4(s.x, j[u], 4, 0, z[u]);
    __syncwarp(); /* all have read what is written over */
    for (uint32_t u = 0; u < FETCHED; u++) {
      if (first + 32 * u >= here) break;
      const bool stays = first + 32 * u + lane < here && s.stirs(box, q[u], z[u]);
      const uint32_t who = __ballot_sync(0xffffffffu, stays);
      if (stays) list[kept + __popc(who & below)] = j[u];
      kept += __popc(who);
    }
  }
  __syncwarp();
  return kept;
}
/* By one warp: looks for the neighbours of those particles of cell k of the block that `bits` names. AGAIN: and writes them into their rows. */
template <bool AGAIN> __device__ __forceinline__ void seek(const seek_item &s, seek_block *b, uint32_t k, uint32_t bits) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, of = k / 32, below = (1u << lane) - 1u, i = group_of(of) * 32 + lane;
  const uint32_t word = b->word[k], c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1), cell_table::coordinate(word, 2)};
  /* all of it at once: it is far away */
  uint32_t ends[cell_table::ENDS];
  float own_p[4], own_x[4];
  s.in.load_box(s.in.slot(c[0], c[1], c[2]), ends);
  if (bits >> lane & 1u) oz_ld4(s.p, i, 4, 0, own_p), oz_ld4(s.x, i, 4, 0, own_x);
  const uint32_t slot = s.in_turn(c, b->mask[k], lane);
  cell_table::members there = s.in.load_members(slot);
  bits = __ballot_sync(0xffffffffu, (bits >> lane & 1u) && s.gathers(i));
  if (!bits) return;
  if (bits >> lane & 1u) {
    float *own = b->own[warp][__popc(bits & below)];
    for (int a = 0; a < 4; a++) own[a] = own_p[a], own[4 + a] = own_x[a];
  }
  if (lane == 0) b->box[warp] = seek_item::span_of(ends);
  uint32_t all = 0, count = 0; /* candidates; neighbours of particle i */
  for (uint32_t from = 0; !from || from < all; from += BATCH) {
    if (from) there = s.in.load_members(slot); /* few have more than one batch: nobody keeps these meanwhile */
    uint32_t many = 0, end;
    s.in.each_of(there, [&](uint32_t, uint32_t which) { many += __popc(which); });
    end = many;
    for (int d = 1; d < 32; d *= 2) {
      const uint32_t before = __shfl_up_sync(0xffffffffu, end, d);
      if (lane >= d) end += before;
    }
    all = __shfl_sync(0xffffffffu, end, 31);
    if (!all) break;
    uint32_t at = end - many - from; /* below 0 wraps, and is beyond */
    s.in.each_of(there, [&](uint32_t number, uint32_t which) {
      for (; which; which &= which - 1, at++)
        if (at < BATCH) b->list[warp][at] = number * 32 + lowest(which);
    });
    __syncwarp();
    uint32_t here = min(all - from, (uint32_t)BATCH);
    if (!AGAIN && !s.all) here = sift(s, b->box[warp], b->list[warp], here);
    if (!here) continue;
    uint32_t j = b->list[warp][min(lane, here - 1)];
    float q[4], z[4];
    oz_ld4(s.p, j, 4, 0, q), oz_ld4(s.x, j, 4, 0, z);
    for (uint32_t t = lane; t - lane < here; t += 32) {
      const uint32_t next = b->list[warp][min(t + 32, here - 1)];
      float next_q[4], next_z[4];
      oz_ld4(s.p, next, 4, 0, next_q), oz_ld4(s.x, next, 4, 0, next_z);
      uint32_t m = 0;
      for (uint32_t left = bits; left; left &= left - 1, m++) {
        const float *own = b->own[warp][m];
        bool found = t < here && s.moved(own, own + 4, q, z); /* mostly nobody has */
        if (!__any_sync(0xffffffffu, found)) continue;
        found = found && s.met(own, own + 4, q, z);
        const uint32_t hits = __ballot_sync(0xffffffffu, found), bit = lowest(left);
        if (!hits) continue;
        const uint32_t r = __shfl_sync(0xffffffffu, count, bit) + __popc(hits & below);
        if (found && !AGAIN && r < KEPT) b->kept[of][r][bit] = j;
        if (found && AGAIN && r < OZ_MAX_NEIGHBOURS) s.row_of(b->base[of], bit)[entry_at(r)] = j;
        if (lane == bit) count += __popc(hits);
      }
      j = next;
      for (int a = 0; a < 3; a++) q[a] = next_q[a], z[a] = next_z[a];
    }
    __syncwarp();
  }
  if (!AGAIN && (bits >> lane & 1u)) b->count[of][lane] = count;
}
/* Which of the 32 of a warp, if any, lie in a cell that is not calm: these become tasks. 27 threads look at the boxes around a cell, which are 9 times 3 that lie side by side. */
__device__ __forceinline__ bool stir_up(const seek_item &s, seek_block *b, uint32_t own_word, const company &us) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool some = false;
  for (uint32_t left = us.leaders, number = 0; left;) {
    uint32_t word[CELLS], with[CELLS], other[CELLS][cell_table::ENDS];
#pragma unroll
    for (int e = 0; e < CELLS; e++) {
      for (int a = 0; a < cell_table::ENDS; a++) other[e][a] = 0; /* nobody */
      if (!left) continue;
      const uint32_t leader = lowest(left);
      left &= left - 1;
      word[e] = __shfl_sync(0xffffffffu, own_word, leader), with[e] = __shfl_sync(0xffffffffu, us.with, leader);
      const uint32_t c[3] = {cell_table::coordinate(word[e], 0), cell_table::coordinate(word[e], 1), cell_table::coordinate(word[e], 2)};
      s.in.load_box(s.around(c, lane), other[e]);
    }
#pragma unroll
    for (int e = 0; e < CELLS; e++, number++) {
      uint32_t own[cell_table::ENDS];
      for (int a = 0; a < cell_table::ENDS; a++) own[a] = __shfl_sync(0xffffffffu, other[e][a], 13); /* the one in the middle */
      const uint32_t mask = __ballot_sync(0xffffffffu, s.stirred(own, other[e]));
      if (!mask) continue;
      some = true;
      if (lane) continue;
      const uint32_t k = warp * 32 + number;
      b->word[k] = word[e], b->mask[k] = mask;
      for (uint32_t bits = with[e]; bits;) {
        uint32_t rest = bits;
        for (int m = 0; m < SHARE_OUT; m++) rest &= rest - 1; /* 0 stays 0 */
        const uint32_t t = atomicAdd(&b->tasks, 1u);
        b->task[t] = (uint16_t)k, b->task_for[t] = bits & ~rest;
        bits = rest;
      }
    }
  }
  return some;
}
__global__ void __launch_bounds__(32 * WARPS, 4) seek_kernel(const __grid_constant__ seek_item s) {
  __shared__ seek_block b;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = group_of(warp), i = group * 32 + lane;
  if (threadIdx.x == 0) b.tasks = 0;
  b.count[warp][lane] = 0;
  __syncthreads();
  await_the_last();
  if (s.beside) let_the_next_come(); /* so that it finds done what came before this; otherwise nobody comes early, as after any search */
  const uint32_t own_word = i < s.n ? s.cell[i] : (uint32_t)cell_table::NOBODY;
  const company us(i < s.n, own_word);
  uint32_t tasks = 0;
  if (__syncthreads_or(stir_up(s, &b, own_word, us))) { /* mostly nothing is */
    tasks = b.tasks;
    for (uint32_t t = warp; t < tasks; t += WARPS) seek<false>(s, &b, b.task[t], b.task_for[t]);
    __syncthreads();
  }
  const uint32_t count = b.count[warp][lane], all = capped(count);
  uint32_t most = in_fours(all), total = all;
  for (int d = 16; d; d >>= 1) {
    most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
    total += __shfl_xor_sync(0xffffffffu, total, d);
  }
  unsigned long long base = 0;
  if (lane == 0 && total) {
    atomicAdd(s.total, (unsigned long long)total);
    base = atomicAdd(s.asked, (unsigned long long)most);
  }
  base = __shfl_sync(0xffffffffu, base, 0);
  const bool fits = base + most <= s.lines;
  if (i < s.n) {
    if (lane == 0) s.row[group] = (uint32_t)base;
    s.len[i] = fits ? (uint16_t)all : 0;
    if (fits && all) {
      uint32_t *row = s.row_of(base, i);
      for (uint32_t r = 0; r < min(all, (uint32_t)KEPT); r++) row[entry_at(r)] = b.kept[warp][r][lane];
      for (uint32_t r = all; r & 3u; r++) row[entry_at(r)] = i;
    }
  }
  if (lane == 0) b.base[warp] = fits ? base : (unsigned long long)NO_ROOM;
  if (!tasks || !__syncthreads_or(count > KEPT)) return;
  for (uint32_t t = warp; t < tasks; t += WARPS) {
    const uint32_t of = b.task[t] / 32, left = __ballot_sync(0xffffffffu, b.count[of][lane] > KEPT && b.base[of] != NO_ROOM) & b.task_for[t];
    if (left) seek<true>(s, &b, b.task[t], left);
  }
}
cudaError_t shake_all(cudaStream_t stream, const shake_item &s) { return start<shake_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s); }
cudaError_t seek_all(cudaStream_t stream, const seek_item &s) { return start<seek_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s); }
#endif

} // namespace

/* Beforehand, beside what runs then. */
ooze_result clear_stirred(gpu *g, ooze_message *why) {
  if (g->stirred_clear >= g->stirred_bytes) return OOZE_OK;
  g->stirred_clear = 0;
  if (g->stirred_bytes) OZ_CUDA(cudaMemsetAsync(g->stirred.at, 0, g->stirred_bytes, g->stream), "cells");
  g->stirred_clear = g->stirred_bytes;
  return OOZE_OK;
}
ooze_result ready_shake(gpu *g, const key_item &key, const oz_frame *f, const motions &moves, shake_item *out, ooze_message *why) {
  cell_table in = {};
  OZ_TRY(after_cleared(g, why));
  const uint32_t slots = in.fold(key.last, 2 * g->count + 16384) + 1; /* with the one where nobody is */
  const size_t bytes = (size_t)slots * cell_table::WORDS * 4, all = bytes + (size_t)slots * cell_table::PLACES * 8;
  if (all > g->stirred.bytes) g->stirred_clear = 0;
  OZ_TRY(grow(g, &g->stirred, all, "cells", why, true));
  in.at = as<uint32_t>(g->stirred), in.placed = in.at + bytes / 4; /* which need not be cleared */
  in.linked = reinterpret_cast<uint32_t *>(f->A);                  /* which is free until the first iteration */
  if (g->stirred_clear < bytes) OZ_CUDA(cudaMemsetAsync(in.at, 0, bytes, g->stream), "cells");
  g->stirred_bytes = bytes, g->stirred_clear = 0;
  *out = {key, f->x, moves, in, as<uint32_t>(g->cell_of), g->count, device_news(g)};
  return OOZE_OK;
}
ooze_result stirred_rows(gpu *g, const shake_item &from, bool shaken, const oz_frame *f, float radius, uint64_t lines, bool beside, ooze_message *why) {
  if (!shaken) OZ_CUDA(shake_all(g->stream, from), "cells");
  g->groups_clear = false, g->box_clear = true;
  seek_item s = {};
  s.in = from.to, s.all = !from.moves.at, s.n = from.n, s.cell = from.cell, s.p = f->p, s.x = f->x;
  s.radius2 = radius * radius, s.skip2 = f->h2, s.calm2 = f->calm2, s.per = from.moves.per, s.beside = beside;
  s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
  s.entries = as<uint32_t>(g->extra.entries), s.row = as<uint32_t>(g->extra.group), s.len = as<uint16_t>(g->extra.len), s.lines = lines;
  s.asked = &device_news(g)->groups[1], s.total = &device_news(g)->neighbours;
  OZ_CUDA(seek_all(g->stream, s), "neighbour search");
  g->sought = beside;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
