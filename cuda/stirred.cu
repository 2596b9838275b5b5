/* Density's further rows where a table holds the cells: of what is stirred alone (OZ_CALM), and
 * without asking the host how much that is.
 *
 * Each particle adds its displacement to the box of the cell in which it is now, and itself to its
 * list (stir.h). A cell is calm where none of the 27 around it can have moved by what is calm
 * relative to it: nobody in it has anyone to list, and nobody lists them, since two cells see each
 * other's boxes alike. The others are looked at as soon as that is known, in the same kernel: who
 * of 32 that follow each other lies in one cell has the same candidates, in the same order. */
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
  /* who is within the root of the first now, was not within that of the second, and has come by
   * more than the third */
  float radius2, skip2, calm2;
  float per;                    /* units of boxes a metre */
  bool beside;                  /* the first gather of the position phase runs beside this */
  const uint32_t *owner, *slip; /* as in look.h */
  uint32_t *entries, *row;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;

  /* Slot of the cell at d, one of 27 from the lowest, x first, seen from the one at c. */
  OZ_D uint32_t around(const uint32_t c[3], uint32_t d) const {
    return d < 27 ? in.beside(c, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) : in.empty;
  }
  /* Whether those of one slot are to be looked at from another. */
  OZ_D bool stirred(const uint32_t own[cell_table::ENDS],
                    const uint32_t other[cell_table::ENDS]) const {
    return (other[0] != 0) & (all | !cell_table::calm(own, other));
  }
  /* From one cell to the next: the even one of the pair it belongs to, the odd one, the one that
   * stands alone. */
  static OZ_D uint32_t step_to(uint32_t at, uint32_t which) {
    return which < 2 ? which - (at & 1u) : (at & 1u) * 2u - 1u;
  }
  /* Slot of cell k of 27 in the order of rows, that of blocks and their Morton codes; where `mask`
   * (by d) does not name it, one where nobody is. */
  OZ_D uint32_t in_turn(const uint32_t c[3], uint32_t mask, uint32_t k) const {
    uint32_t which[3];
    cell_parts(k, which);
    const uint32_t x = step_to(c[0], which[0]), y = step_to(c[1], which[1]),
                   z = step_to(c[2], which[2]);
    return k < 27 && (mask >> (13u + x + 3u * y + 9u * z) & 1u)
               ? in.slot(c[0] + x, c[1] + y, c[2] + z)
               : in.empty;
  }
  OZ_D bool gathers(uint32_t i) const {
    return !(owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY &&
             !(slip && slip[i] > OZ_SLIP_WORD));
  }
  /* Of one at p, from x, and one at q, from z: whether they have moved relative to each other, and
   * whether they are near now and were not. */
  OZ_D bool moved(const float *p, const float *x, const float *q, const float *z) const {
    const oz_v3 a = {p[0], p[1], p[2]}, b = {x[0], x[1], x[2]}, c = {q[0], q[1], q[2]},
                d = {z[0], z[1], z[2]};
    return !(calm2 > 0.0f) || oz_moved2(a, b, c, d) > calm2;
  }
  /* A cell's box of displacements as it is, in its units. */
  struct span {
    float low[3], high[3];
  };
  static OZ_D span span_of(const uint32_t end[cell_table::ENDS]) {
    span b;
    for (int k = 0; k < 3; k++)
      b.low[k] = (float)(32768 - (int)end[k]), b.high[k] = (float)((int)end[3 + k] - 32768);
    return b;
  }
  /* Whether one at q, from z, may have moved relative to anyone of a box by more than what is calm:
   * by the corner that is farthest from it. Most of those in a cell that is not calm have not, and
   * are looked at no further. */
  OZ_D bool stirs(const span &b, const float *q, const float *z) const {
    float far2 = 0.0f;
    for (int k = 0; k < 3; k++) {
      const float v = (q[k] - z[k]) * per, far = fmaxf(v - b.low[k], b.high[k] - v);
      far2 = fmaf(far, far, far2);
    }
    /* as motions::calm; or no number */
    return all | !(far2 < (float)(CALM_UNITS * CALM_UNITS - 6));
  }
  OZ_D bool met(const float *p, const float *x, const float *q, const float *z) const {
    return distance2(q, p) < radius2 && !(nearness(z, x, skip2) >> 31);
  }
  OZ_D uint32_t *row_of(unsigned long long base, uint32_t i) const {
    return entries + (size_t)base * GROUP + 4 * (i % GROUP);
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* of 32 */
    static uint32_t found[32][OZ_MAX_NEIGHBOURS];
    const uint32_t begin = group * 32, many = n - begin < 32 ? n - begin : 32;
    uint32_t count[32], most = 0, sum = 0;
    for (uint32_t t = 0; t < many; t++) {
      const uint32_t i = begin + t, word = cell[i],
                     c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1),
                             cell_table::coordinate(word, 2)};
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
            if (stirs(span_of(own), p + 4 * j, x + 4 * j) &&
                moved(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) &&
                met(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) && count[t] < OZ_MAX_NEIGHBOURS)
              found[t][count[t]++] = j;
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
      for (uint32_t r = 0; fits && r < in_fours(count[t]); r++)
        row_of(base, t)[entry_at(r)] = r < count[t] ? found[t][r] : begin + t;
    }
  }
#endif
};

#if defined(OZ_CUDA_HOST)
cudaError_t shake_all(cudaStream_t stream, const shake_item &s) {
  return each(stream, (s.n + 31) / 32, s);
}
cudaError_t seek_all(cudaStream_t stream, const seek_item &s) {
  return each(stream, (s.n + 31) / 32, s);
}
#else
enum {
  WARPS = 7,     /* four blocks a multiprocessor of 72 registers a thread */
  CELLS = 8,     /* whose 27 boxes a warp has under way at once */
  SHARE_OUT = 8, /* particles of a cell that a warp looks at */
  BATCH = 512,   /* their candidates, at once */
  FETCHED = 3,   /* of which a thread has so many under way, first, */
  PAIRED = 2,    /* and then, each with one of the particles */
  /* neighbours of a particle that are kept for its row; of one that has more they are looked for
     again */
  KEPT = 16
};
enum : uint32_t { ALL = 0xffffffffu };
__global__ void __launch_bounds__(32 * WARPS) shake_kernel(const __grid_constant__ shake_item s) {
  __shared__ shaken sum[WARPS];
  after_the_last();
  shake(s, blockIdx.x * 32u * WARPS + threadIdx.x, sum + threadIdx.x / 32);
}

/* A block looks at groups of 32 that are far apart, a warp at each first, because what is stirred
 * lies together. */
struct seek_block {
  /* of the task of each warp: positions now, with which of the 32 it is, and at the start */
  float4 own[WARPS][SHARE_OUT][2];
  /* its cells' lists: which of 32; their number, and where on the list of candidates they begin */
  uint2 words[WARPS][27 * cell_table::PLACES];
  uint32_t list[WARPS][BATCH]; /* its candidates */
  /* Cells of each group that are stirred: where, and which around it are. */
  uint32_t word[WARPS * 32], mask[WARPS * 32];
  /* all of them in any order, up to SHARE_OUT of their particles at a time, */
  uint16_t task[WARPS * 32];
  uint32_t task_for[WARPS * 32]; /* these */
  uint32_t tasks, next;          /* next: that no warp has taken */
  uint32_t count[WARPS][32];     /* neighbours of each particle */
  uint32_t kept[WARPS][KEPT][32];
  unsigned long long base[WARPS]; /* lines of rows, where they begin; NO_ROOM */
};
enum : unsigned long long { NO_ROOM = ~0ull };
__device__ __forceinline__ uint32_t group_of(uint32_t warp) {
  return blockIdx.x + warp * gridDim.x;
}

/* The numbers of all candidates on the list, in the order of cells and of list C, from number
 * `from` on; returns how many are there, and in `all` how many there are. */
__device__ __forceinline__ uint32_t list_all(const seek_item &s, const cell_table::members &there,
                                             uint2 *words, uint32_t *list, uint32_t from,
                                             uint32_t *all) {
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  const bool linked = __any_sync(ALL, there.further != 0); /* hardly ever */
  uint32_t mine = 0; /* candidates; and above these words, if none are linked */
  if (!linked)
    for (uint32_t k = 0; k < cell_table::PLACES; k++)
      mine += __popc(there.which[k]) + (there.which[k] ? 0x10000u : 0u);
  else
    s.in.each_of(there, [&](uint32_t, uint32_t which) { mine += __popc(which); });
  __syncwarp();
  uint32_t end = mine;
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t before = __shfl_up_sync(ALL, end, d);
    if (lane >= d) end += before;
  }
  const uint32_t sum = __shfl_sync(ALL, end, 31), begin = end - mine;
  *all = linked ? sum : sum & 0xffffu;
  if (!linked && *all <= BATCH) {
    /* a thread for each of 32, word by word, so that nobody counts bits one after the other */
    uint32_t at = begin & 0xffffu;
    for (uint32_t k = 0; k < cell_table::PLACES; k++) {
      if (there.which[k])
        words[(begin >> 16) + k] = make_uint2(there.which[k], there.number[k] << 10 | at);
      at += __popc(there.which[k]);
    }
    __syncwarp();
    const uint32_t many = sum >> 16;
    OZ_AS_IT_IS
    for (uint32_t w = 0; w < many; w += 4) {
      uint2 word[4];
      /* the last one again does no harm */
      for (uint32_t u = 0; u < 4; u++) word[u] = words[min(w + u, many - 1)];
      for (uint32_t u = 0; u < 4; u++)
        if (word[u].x >> lane & 1u)
          list[(word[u].y & 1023u) + __popc(word[u].x & below)] = (word[u].y >> 10) * 32u + lane;
    }
  } else {
    uint32_t at = (linked ? begin : begin & 0xffffu) - from; /* below 0 wraps, and is beyond */
    s.in.each_of(there, [&](uint32_t number, uint32_t which) {
      for (; which; which &= which - 1, at++)
        if (at < BATCH) list[at] = number * 32 + lowest(which);
    });
  }
  __syncwarp();
  return min(*all - from, (uint32_t)BATCH);
}
/* Leaves those on the list of `here` candidates that may have moved relative to anyone of their
 * cell; returns their number. */
__device__ __forceinline__ uint32_t sift(const seek_item &s, const seek_item::span &box,
                                         uint32_t *list, uint32_t here) {
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  uint32_t kept = 0;
  OZ_AS_IT_IS
  for (uint32_t first = 0; first < here; first += 32 * FETCHED) {
    uint32_t j[FETCHED];
    float q[FETCHED][4], z[FETCHED][4];
    for (uint32_t u = 0; u < FETCHED; u++) j[u] = list[min(first + 32 * u + lane, here - 1)];
    /* in any case: a register that is set only sometimes is never free */
    for (uint32_t u = 0; u < FETCHED; u++)
      oz_ld4(s.p, j[u], 4, 0, q[u]), oz_ld4(s.x, j[u], 4, 0, z[u]);
    __syncwarp(); /* all have read what is written over */
    for (uint32_t u = 0; u < FETCHED; u++) {
      if (first + 32 * u >= here) break;
      const bool stays = first + 32 * u + lane < here && s.stirs(box, q[u], z[u]);
      const uint32_t who = __ballot_sync(ALL, stays);
      if (stays) list[kept + __popc(who & below)] = j[u];
      kept += __popc(who);
    }
  }
  __syncwarp();
  return kept;
}
/* By one warp: looks for the neighbours of those particles of cell k of the block that `bits`
 * names. again: and writes them into their rows. */
__device__ __forceinline__ void seek(const seek_item &s, seek_block *b, uint32_t k, uint32_t bits,
                                     bool again) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, of = k / 32,
                 below = (1u << lane) - 1u, i = group_of(of) * 32 + lane;
  const uint32_t word = b->word[k],
                 c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1),
                         cell_table::coordinate(word, 2)};
  /* all of it at once: it is far away */
  uint32_t ends[cell_table::ENDS];
  float own_p[4], own_x[4];
  const uint32_t slot = s.in_turn(c, b->mask[k], lane);
  cell_table::members there = s.in.load_members(slot);
  oz_ld4(s.p, min(i, s.n - 1), 4, 0, own_p), oz_ld4(s.x, min(i, s.n - 1), 4, 0, own_x);
  s.in.load_box(s.in.slot(c[0], c[1], c[2]), ends);
  bits = __ballot_sync(ALL, (bits >> lane & 1u) && s.gathers(i));
  if (!bits) return;
  if (bits >> lane & 1u) {
    float4 *own = b->own[warp][__popc(bits & below)];
    own[0] = make_float4(own_p[0], own_p[1], own_p[2], __uint_as_float(lane)),
    own[1] = make_float4(own_x[0], own_x[1], own_x[2], 0.0f);
  }
  const seek_item::span box = seek_item::span_of(ends);
  /* candidates; neighbours of this thread's particle */
  uint32_t *list = b->list[warp], all = 0, count = 0;
  OZ_AS_IT_IS
  for (uint32_t from = 0; !from || from < all; from += BATCH) {
    /* few have more than one batch: nobody keeps these meanwhile */
    if (from) there = s.in.load_members(slot);
    uint32_t here = list_all(s, there, b->words[warp], list, from, &all);
    if (!s.all) here = sift(s, box, list, here);
    /* a thread has one of the particles, 1, 2, 4 or 8 of them side by side, and every so manieth
     * candidate */
    const uint32_t many = __popc(bits), shift = 32u - __clz((int)(many - 1u)), step = 32u >> shift,
                   turn = lane >> shift, m = lane & ((1u << shift) - 1u);
    const uint32_t same = (many > 4   ? 0x01010101u
                           : many > 2 ? 0x11111111u
                           : many > 1 ? 0x55555555u
                                      : ALL)
                          << m;
    const float4 own = b->own[warp][min(m, many - 1)][0], was = b->own[warp][min(m, many - 1)][1];
    const float p[3] = {own.x, own.y, own.z}, x[3] = {was.x, was.y, was.z};
    const uint32_t bit = __float_as_uint(own.w);
    OZ_AS_IT_IS
    for (uint32_t first = 0; first < here; first += PAIRED * step) {
      uint32_t j[PAIRED];
      float q[PAIRED][4], z[PAIRED][4];
      for (uint32_t u = 0; u < PAIRED; u++) j[u] = list[min(first + u * step + turn, here - 1)];
      for (uint32_t u = 0; u < PAIRED; u++)
        oz_ld4(s.p, j[u], 4, 0, q[u]), oz_ld4(s.x, j[u], 4, 0, z[u]);
      for (uint32_t u = 0; u < PAIRED; u++) {
        if (first + u * step >= here) break;
        const bool found = first + u * step + turn < here && m < many &&
                           s.moved(p, x, q[u], z[u]) && s.met(p, x, q[u], z[u]);
        const uint32_t hits = __ballot_sync(ALL, found);
        if (!hits) continue; /* mostly nobody */
        const uint32_t r = count + __popc(hits & same & below);
        if (found && !again && r < KEPT) b->kept[of][r][bit] = j[u];
        if (found && again && r < OZ_MAX_NEIGHBOURS) s.row_of(b->base[of], bit)[entry_at(r)] = j[u];
        count += __popc(hits & same);
      }
    }
    if (!again && lane < many) b->count[of][bit] = count;
    __syncwarp();
  }
}
/* The cells around one as a thread sees them, of which it looks at one: where that lies from the
 * one in the middle, and on which sides there must be something then. */
struct outlook {
  /* of a place: its slot, sides on which there is nothing, whether slots go round there; set always
   */
  enum : uint32_t { SLOT = 0xffffffu, SIDES = 24, ROUND = 1u << 30, BEYOND = 1u << 31 };
  uint32_t away, needs;
  __device__ __forceinline__ outlook(const seek_item &s) {
    const uint32_t d = threadIdx.x % 32, x = d % 3, y = d / 3 % 3, z = d / 9;
    away = (x - 1) * s.in.step[0] + (y - 1) * s.in.step[1] + (z - 1) * s.in.step[2];
    needs = d < 27 ? (side(x) | side(y) << 2 | side(z) << 4) << SIDES : (uint32_t)BEYOND;
  }
  static __device__ __forceinline__ uint32_t side(uint32_t x) {
    return x == 0 ? 1u : x == 2 ? 2u : 0u;
  }
  /* All of this about a cell. */
  static __device__ __forceinline__ uint32_t place(const seek_item &s, uint32_t word) {
    const uint32_t c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1),
                           cell_table::coordinate(word, 2)};
    uint32_t v = s.in.slot(c[0], c[1], c[2]) | BEYOND;
    for (int k = 0; k < 3; k++) {
      if (s.in.last[k] != 0xffffffffu)
        v |= (c[k] == 0 ? 1u : 0u) << (SIDES + 2 * k) | (c[k] == s.in.last[k] ? 2u : 0u)
                                                            << (SIDES + 2 * k);
      else if ((c[k] & s.in.bits[k]) == 0 || (c[k] & s.in.bits[k]) == s.in.bits[k])
        v |= ROUND;
    }
    return v;
  }
};
/* Which of the 32 of a warp, if any, lie in a cell that is not calm: these become tasks. 27 threads
 * look at the boxes around a cell, which are 9 times 3 that lie side by side. */
__device__ __forceinline__ bool stir_up(const seek_item &s, seek_block *b, const outlook &out,
                                        uint32_t own_word, const company &us) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, below = (1u << lane) - 1u,
                 place = outlook::place(s, own_word);
  uint32_t seen = 0; /* of the cell with this thread's number: which around it are stirred */
  for (uint32_t left = us.leaders, number = 0; left;) {
    uint32_t other[CELLS][cell_table::ENDS], these = left;
#pragma unroll
    for (int e = 0; e < CELLS; e++) {
      for (int a = 0; a < cell_table::ENDS; a++) other[e][a] = 0; /* nobody */
      if (!left) continue;
      const uint32_t leader = lowest(left), at = __shfl_sync(ALL, place, leader);
      left &= left - 1;
      uint32_t slot = at & out.needs ? s.in.empty : (at & outlook::SLOT) + out.away;
      if (at & outlook::ROUND) {
        const uint32_t word = __shfl_sync(ALL, own_word, leader),
                       c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1),
                               cell_table::coordinate(word, 2)};
        slot = s.around(c, lane);
      }
      s.in.load_box(slot, other[e]);
    }
#pragma unroll
    for (int e = 0; e < CELLS; e++) {
      if (!these) break;
      these &= these - 1;
      uint32_t box[3], side[3]; /* both ends of an axis at once: they have 16 bits */
      for (int a = 0; a < 3; a++) {
        box[a] = other[e][a] | other[e][3 + a] << 16;
        /* the one in the middle */
        const uint32_t both = __vmaxu2(box[a], __shfl_sync(ALL, box[a], 13));
        side[a] = (both & 0xffffu) + (both >> 16) - 65536u;
      }
      /* as seek_item::stirred */
      const uint32_t mask = __ballot_sync(
          ALL, (box[0] != 0) & (s.all | !motions::calm((int)side[0], (int)side[1], (int)side[2])));
      if (lane == number) seen = mask;
      number++;
    }
  }
  if (!__any_sync(ALL, seen != 0)) return false; /* mostly */
  const uint32_t mask = __shfl_sync(ALL, seen, us.number),
                 parts = us.first && mask ? (__popc(us.with) + SHARE_OUT - 1) / SHARE_OUT : 0u;
  uint32_t at = 0, sum = 0;
  for (uint32_t p = 1; p <= 32 / SHARE_OUT; p++) {
    const uint32_t who = __ballot_sync(ALL, parts >= p);
    at += __popc(who & below), sum += __popc(who);
  }
  uint32_t begin = 0;
  if (lane == 0) begin = atomicAdd(&b->tasks, sum);
  at += __shfl_sync(ALL, begin, 0);
  if (parts) {
    const uint32_t k = warp * 32 + us.number;
    b->word[k] = own_word, b->mask[k] = mask;
    for (uint32_t bits = us.with; bits; at++) {
      uint32_t rest = bits;
      if (__popc(bits) <= SHARE_OUT)
        rest = 0;
      else
        for (int m = 0; m < SHARE_OUT; m++) rest &= rest - 1;
      b->task[at] = (uint16_t)k, b->task_for[at] = bits & ~rest;
      bits = rest;
    }
  }
  return true;
}
__global__ void __launch_bounds__(32 * WARPS, 4) seek_kernel(const __grid_constant__ seek_item s) {
  __shared__ seek_block b;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = group_of(warp),
                 i = group * 32 + lane;
  if (threadIdx.x == 0) b.tasks = 0, b.next = WARPS;
  b.count[warp][lane] = 0;
  const outlook out(s);
  __syncthreads();
  await_the_last();
  /* so that it finds done what came before this; otherwise nobody comes early, as after any search
   */
  if (s.beside) let_the_next_come();
  const uint32_t own_word = i < s.n ? s.cell[i] : (uint32_t)cell_table::NOBODY;
  const company us(i < s.n, own_word);
  const bool stirred = __syncthreads_or(stir_up(s, &b, out, own_word, us));
  const uint32_t tasks = stirred ? b.tasks : 0; /* mostly none */
  OZ_AS_IT_IS
  for (bool again = false; tasks; again = true) {
    OZ_AS_IT_IS
    for (uint32_t t = warp; t < tasks;) {
      const uint32_t of = b.task[t] / 32;
      uint32_t who = b.task_for[t];
      if (again) who &= __ballot_sync(ALL, b.count[of][lane] > KEPT && b.base[of] != NO_ROOM);
      if (who) seek(s, &b, b.task[t], who, again);
      if (again || tasks <= WARPS)
        t += WARPS;
      else {
        if (lane == 0) t = atomicAdd(&b.next, 1u);
        t = __shfl_sync(ALL, t, 0);
      }
    }
    if (again) return;
    __syncthreads();
    const uint32_t count = b.count[warp][lane], all = capped(count);
    uint32_t most = in_fours(all), total = all;
    unsigned long long base = 0;
    if (__any_sync(ALL, all != 0)) {
      for (int d = 16; d; d >>= 1) {
        most = max(most, __shfl_xor_sync(ALL, most, d));
        total += __shfl_xor_sync(ALL, total, d);
      }
      if (lane == 0) {
        base = atomicAdd(s.asked, (unsigned long long)most);
        atomicAdd(s.total, (unsigned long long)total);
      }
      base = __shfl_sync(ALL, base, 0);
    }
    const bool fits = base + most <= s.lines;
    if (i < s.n) {
      if (lane == 0) s.row[group] = (uint32_t)base;
      s.len[i] = fits ? (uint16_t)all : 0;
      if (fits && all) {
        uint32_t *row = s.row_of(base, i);
        for (uint32_t r = 0; r < min(all, (uint32_t)KEPT); r++)
          row[entry_at(r)] = b.kept[warp][r][lane];
        for (uint32_t r = all; r & 3u; r++) row[entry_at(r)] = i;
      }
    }
    if (lane == 0) b.base[warp] = fits ? base : (unsigned long long)NO_ROOM;
    if (!__syncthreads_or(count > KEPT)) return;
  }
  if (i < s.n) {
    if (lane == 0) s.row[group] = 0;
    s.len[i] = 0;
  }
}
cudaError_t shake_all(cudaStream_t stream, const shake_item &s) {
  return start<shake_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s);
}
cudaError_t seek_all(cudaStream_t stream, const seek_item &s) {
  return start<seek_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s);
}
#endif

} // namespace

/* Beforehand, beside what runs then. */
ooze_result clear_stirred(gpu *g, ooze_message *why) {
  if (g->stirred_clear >= g->stirred_bytes) return OOZE_OK;
  g->stirred_clear = 0;
  if (g->stirred_bytes)
    OZ_CUDA(cudaMemsetAsync(g->stirred.at, 0, g->stirred_bytes, g->stream), "cells");
  g->stirred_clear = g->stirred_bytes;
  return OOZE_OK;
}
ooze_result ready_shake(gpu *g, const key_item &key, const oz_frame *f, const motions &moves,
                        shake_item *out, ooze_message *why) {
  cell_table in = {};
  OZ_TRY(after_cleared(g, why));
  /* with the one where nobody is */
  const uint32_t slots = in.fold(key.last, 2 * g->count + 16384) + 1;
  const size_t bytes = (size_t)slots * cell_table::WORDS * 4,
               all = bytes + (size_t)slots * cell_table::PLACES * 8;
  if (all > g->stirred.bytes) g->stirred_clear = 0;
  OZ_TRY(grow(g, &g->stirred, all, "cells", why, true));
  in.at = as<uint32_t>(g->stirred), in.placed = in.at + bytes / 4; /* which need not be cleared */
  /* which is free until the first iteration */
  in.linked = reinterpret_cast<uint32_t *>(f->A);
  if (g->stirred_clear < bytes) OZ_CUDA(cudaMemsetAsync(in.at, 0, bytes, g->stream), "cells");
  g->stirred_bytes = bytes, g->stirred_clear = 0;
  *out = {key, f->x, moves, in, as<uint32_t>(g->cell_of), g->count, device_news(g)};
  return OOZE_OK;
}
ooze_result stirred_rows(gpu *g, const shake_item &from, bool shaken, const oz_frame *f,
                         float radius, uint64_t lines, bool beside, ooze_message *why) {
  if (!shaken) OZ_CUDA(shake_all(g->stream, from), "cells");
  g->groups_clear = false, g->box_clear = true;
  seek_item s = {};
  s.in = from.to, s.all = !from.moves.at, s.n = from.n, s.cell = from.cell, s.p = f->p, s.x = f->x;
  s.radius2 = radius * radius, s.skip2 = f->h2, s.calm2 = f->calm2, s.per = from.moves.per,
  s.beside = beside;
  s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
  s.entries = as<uint32_t>(g->extra.entries), s.row = as<uint32_t>(g->extra.group),
  s.len = as<uint16_t>(g->extra.len), s.lines = lines;
  s.asked = &device_news(g)->groups[1], s.total = &device_news(g)->neighbours;
  OZ_CUDA(seek_all(g->stream, s), "neighbour search");
  g->sought = beside;
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
