/* The search of moved cells, as loops on the host and as a kernel. Included by moved_cells.cu,
 * inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_MOVED_SEARCH_H
#define OZ_CUDA_MOVED_SEARCH_H

struct moved_search {
  cell_table in;
  bool all; /* every cell counts as moved */
  uint32_t n;
  const uint32_t *cell;
  const float *p, *x; /* records of 4: positions now and at the start */
  /* a pair is added if it is within the first now, was outside the second at the start, and has
   * moved by more than the third */
  float radius2, skip2, min_approach2;
  float scale;                  /* units of the boxes a metre */
  bool overlaps;                /* the first gather of the position phase overlaps this kernel */
  const uint32_t *owner, *slip; /* as in neighbour_search.h */
  uint32_t *entries, *row;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;

  /* Slot of the d-th of 27 cells around c, from the lowest, x first. */
  OZ_D uint32_t around(const uint32_t c[3], uint32_t d) const {
    return d < 27 ? in.neighbour_slot(c, d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1) : in.empty;
  }
  /* Whether the particles of one slot are candidates for another's. */
  OZ_D bool is_moved(const uint32_t own[cell_table::ENDS],
                     const uint32_t other[cell_table::ENDS]) const {
    return (other[0] != 0) & (all | !cell_table::is_static(own, other));
  }
  /* Step to a cell of the three along an axis: the even one of its own pair, the odd one, the
   * single one. */
  static OZ_D uint32_t step_to(uint32_t at, uint32_t which) {
    return which < 2 ? which - (at & 1u) : (at & 1u) * 2u - 1u;
  }
  /* Slot of cell k of 27 in the order of rows: by block, and by Morton code within a block. A cell
   * outside `mask` (by d) gives the empty slot. */
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
  /* Particles at p and q, from x and z: whether they have moved relative to each other; and whether
   * they are near now and were not at the start. */
  OZ_D bool has_moved(const float *p, const float *x, const float *q, const float *z) const {
    const oz_v3 a = {p[0], p[1], p[2]}, b = {x[0], x[1], x[2]}, c = {q[0], q[1], q[2]},
                d = {z[0], z[1], z[2]};
    return !(min_approach2 > 0.0f) || oz_moved2(a, b, c, d) > min_approach2;
  }
  /* A cell's box of displacements, in its units. */
  struct span {
    float low[3], high[3];
  };
  static OZ_D span span_of(const uint32_t end[cell_table::ENDS]) {
    span b;
    for (int k = 0; k < 3; k++)
      b.low[k] = (float)(32768 - (int)end[k]), b.high[k] = (float)((int)end[3 + k] - 32768);
    return b;
  }
  /* Whether a particle at q, from z, may have moved by more than the static limit relative to a
   * particle of the box: by the farthest corner. Most candidates of a moved cell have not, and are
   * dropped here. */
  OZ_D bool may_move(const span &b, const float *q, const float *z) const {
    float far2 = 0.0f;
    for (int k = 0; k < 3; k++) {
      const float v = (q[k] - z[k]) * scale, far = fmaxf(v - b.low[k], b.high[k] - v);
      far2 = fmaf(far, far, far2);
    }
    /* as displacement_boxes::is_static; true for NaN */
    return all | !(far2 < (float)(STATIC_UNITS * STATIC_UNITS - 6));
  }
  OZ_D bool came_near(const float *p, const float *x, const float *q, const float *z) const {
    return distance2(q, p) < radius2 && !(nearness(z, x, skip2) >> 31);
  }
  OZ_D uint32_t *row_of(unsigned long long base, uint32_t i) const {
    return entries + (size_t)base * GROUP + 4 * (i % GROUP);
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t group) const { /* group of 32 */
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
        mask |= (uint32_t)is_moved(own, other) << d;
      }
      count[t] = 0;
      for (uint32_t k = 0; k < 27 && mask && gathers(i); k++)
        in.for_each_word(in.load_list(in_turn(c, mask, k)), [&](uint32_t number, uint32_t which) {
          for (; which; which &= which - 1) {
            const uint32_t j = number * 32 + lowest(which);
            if (may_move(span_of(own), p + 4 * j, x + 4 * j) &&
                has_moved(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) &&
                came_near(p + 4 * i, x + 4 * i, p + 4 * j, x + 4 * j) &&
                count[t] < OZ_MAX_NEIGHBOURS)
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
cudaError_t bin_all(cudaStream_t stream, const bin_item &s) {
  return for_each(stream, (s.n + 31) / 32, s);
}
cudaError_t moved_search_all(cudaStream_t stream, const moved_search &s) {
  return for_each(stream, (s.n + 31) / 32, s);
}
#else
enum {
  WARPS = 7,          /* four blocks a multiprocessor at 72 registers a thread */
  CELLS = 8,          /* cells whose 27 boxes a warp loads at once */
  TASK_PARTICLES = 8, /* particles of a cell that one warp serves */
  BATCH = 512,        /* candidates at a time */
  FETCHED = 3,        /* loads in flight a thread while candidates are sifted, */
  PAIRED = 2,         /* and while they are paired with particles */
  /* neighbours of a particle that shared memory keeps; beyond that the search runs twice */
  KEPT = 16
};
enum : uint32_t { ALL = 0xffffffffu };
__global__ void __launch_bounds__(32 * WARPS) bin_kernel(const __grid_constant__ bin_item s) {
  __shared__ bin_sums sum[WARPS];
  launch_dependency_trigger_and_wait();
  bin_displacements(s, blockIdx.x * 32u * WARPS + threadIdx.x, sum + threadIdx.x / 32);
}

/* A block takes groups of 32 that are far apart, one a warp, because moved cells cluster. */
struct moved_search_block {
  /* particles of each warp's task: current position and lane, start position */
  float4 own[WARPS][TASK_PARTICLES][2];
  /* words of its cells' lists: bits of 32 particles; their number, and their offset on the list of
   * candidates */
  uint2 words[WARPS][27 * cell_table::OWN_WORDS];
  uint32_t list[WARPS][BATCH]; /* candidates */
  /* moved cells of each group: the cell, and a mask of the moved ones around it */
  uint32_t word[WARPS * 32], mask[WARPS * 32];
  /* tasks in any order: a cell, and up to TASK_PARTICLES of its particles */
  uint16_t task[WARPS * 32];
  uint32_t task_for[WARPS * 32]; /* particles of the task */
  uint32_t tasks, next;          /* next: first task that is not taken */
  uint32_t count[WARPS][32];     /* neighbours of each particle */
  uint32_t kept[WARPS][KEPT][32];
  unsigned long long base[WARPS]; /* first line of the rows; NO_ROOM */
};
enum : unsigned long long { NO_ROOM = ~0ull };
__device__ __forceinline__ uint32_t group_of(uint32_t warp) {
  return blockIdx.x + warp * gridDim.x;
}

/* Writes the candidates' numbers to the list, in the order of cells and of the start list, from
 * number `from` on. Returns their number on the list, and in `all` the total. */
__device__ __forceinline__ uint32_t list_candidates(const moved_search &s,
                                                    const cell_table::slot_list &there,
                                                    uint2 *words, uint32_t *list, uint32_t from,
                                                    uint32_t *all) {
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  const bool linked = __any_sync(ALL, there.further != 0); /* rare */
  uint32_t mine = 0; /* candidates; and above them words, if none are linked */
  if (!linked)
    for (uint32_t k = 0; k < cell_table::OWN_WORDS; k++)
      mine += __popc(there.which[k]) + (there.which[k] ? 0x10000u : 0u);
  else
    s.in.for_each_word(there, [&](uint32_t, uint32_t which) { mine += __popc(which); });
  __syncwarp();
  uint32_t end = mine;
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t before = __shfl_up_sync(ALL, end, d);
    if (lane >= d) end += before;
  }
  const uint32_t sum = __shfl_sync(ALL, end, 31), begin = end - mine;
  *all = linked ? sum : sum & 0xffffu;
  if (!linked && *all <= BATCH) {
    /* a thread for each bit, word by word: no serial loop over bits */
    uint32_t at = begin & 0xffffu;
    for (uint32_t k = 0; k < cell_table::OWN_WORDS; k++) {
      if (there.which[k])
        words[(begin >> 16) + k] = make_uint2(there.which[k], there.number[k] << 10 | at);
      at += __popc(there.which[k]);
    }
    __syncwarp();
    const uint32_t many = sum >> 16;
    OZ_NO_UNROLL
    for (uint32_t w = 0; w < many; w += 4) {
      uint2 word[4];
      /* a repeated last word is harmless */
      for (uint32_t u = 0; u < 4; u++) word[u] = words[min(w + u, many - 1)];
      for (uint32_t u = 0; u < 4; u++)
        if (word[u].x >> lane & 1u)
          list[(word[u].y & 1023u) + __popc(word[u].x & below)] = (word[u].y >> 10) * 32u + lane;
    }
  } else {
    uint32_t at =
        (linked ? begin : begin & 0xffffu) - from; /* a negative offset wraps to beyond BATCH */
    s.in.for_each_word(there, [&](uint32_t number, uint32_t which) {
      for (; which; which &= which - 1, at++)
        if (at < BATCH) list[at] = number * 32 + lowest(which);
    });
  }
  __syncwarp();
  return min(*all - from, (uint32_t)BATCH);
}
/* Keeps the candidates that may have moved relative to a particle of the cell; returns their
 * number. */
__device__ __forceinline__ uint32_t sift_candidates(const moved_search &s,
                                                    const moved_search::span &box, uint32_t *list,
                                                    uint32_t here) {
  const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1u;
  uint32_t kept = 0;
  OZ_NO_UNROLL
  for (uint32_t first = 0; first < here; first += 32 * FETCHED) {
    uint32_t j[FETCHED];
    float q[FETCHED][4], z[FETCHED][4];
    for (uint32_t u = 0; u < FETCHED; u++) j[u] = list[min(first + 32 * u + lane, here - 1)];
    /* unconditional: a register that is set only sometimes is never free */
    for (uint32_t u = 0; u < FETCHED; u++)
      oz_ld4(s.p, j[u], 4, 0, q[u]), oz_ld4(s.x, j[u], 4, 0, z[u]);
    __syncwarp(); /* all lanes have read before the list is overwritten */
    for (uint32_t u = 0; u < FETCHED; u++) {
      if (first + 32 * u >= here) break;
      const bool stays = first + 32 * u + lane < here && s.may_move(box, q[u], z[u]);
      const uint32_t who = __ballot_sync(ALL, stays);
      if (stays) list[kept + __popc(who & below)] = j[u];
      kept += __popc(who);
    }
  }
  __syncwarp();
  return kept;
}
/* By one warp: neighbours of the particles `bits` of cell k of the block. again: written to their
 * rows. */
__device__ __forceinline__ void search_cell(const moved_search &s, moved_search_block *b,
                                            uint32_t k, uint32_t bits, bool again) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, of = k / 32,
                 below = (1u << lane) - 1u, i = group_of(of) * 32 + lane;
  const uint32_t word = b->word[k],
                 c[3] = {cell_table::coordinate(word, 0), cell_table::coordinate(word, 1),
                         cell_table::coordinate(word, 2)};
  /* all loads at once, for latency */
  uint32_t ends_substep[cell_table::ENDS];
  float own_p[4], own_x[4];
  const uint32_t slot = s.in_turn(c, b->mask[k], lane);
  cell_table::slot_list there = s.in.load_list(slot);
  oz_ld4(s.p, min(i, s.n - 1), 4, 0, own_p), oz_ld4(s.x, min(i, s.n - 1), 4, 0, own_x);
  s.in.load_box(s.in.slot(c[0], c[1], c[2]), ends_substep);
  bits = __ballot_sync(ALL, (bits >> lane & 1u) && s.gathers(i));
  if (!bits) return;
  if (bits >> lane & 1u) {
    float4 *own = b->own[warp][__popc(bits & below)];
    own[0] = make_float4(own_p[0], own_p[1], own_p[2], __uint_as_float(lane)),
    own[1] = make_float4(own_x[0], own_x[1], own_x[2], 0.0f);
  }
  const moved_search::span box = moved_search::span_of(ends_substep);
  /* total candidates; neighbours of this lane's particle */
  uint32_t *list = b->list[warp], all = 0, count = 0;
  OZ_NO_UNROLL
  for (uint32_t from = 0; !from || from < all; from += BATCH) {
    /* rarely more than one batch: reloaded, to free the registers */
    if (from) there = s.in.load_list(slot);
    uint32_t here = list_candidates(s, there, b->words[warp], list, from, &all);
    if (!s.all) here = sift_candidates(s, box, list, here);
    /* each lane has one particle, of 1, 2, 4 or 8 side by side, and every step-th candidate */
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
    OZ_NO_UNROLL
    for (uint32_t first = 0; first < here; first += PAIRED * step) {
      uint32_t j[PAIRED];
      float q[PAIRED][4], z[PAIRED][4];
      for (uint32_t u = 0; u < PAIRED; u++) j[u] = list[min(first + u * step + turn, here - 1)];
      for (uint32_t u = 0; u < PAIRED; u++)
        oz_ld4(s.p, j[u], 4, 0, q[u]), oz_ld4(s.x, j[u], 4, 0, z[u]);
      for (uint32_t u = 0; u < PAIRED; u++) {
        if (first + u * step >= here) break;
        const bool found = first + u * step + turn < here && m < many &&
                           s.has_moved(p, x, q[u], z[u]) && s.came_near(p, x, q[u], z[u]);
        const uint32_t hits = __ballot_sync(ALL, found);
        if (!hits) continue; /* mostly none */
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
/* One of the 27 cells around another, for each lane: its offset from the middle, and the sides that
 * must not be at the edge of the table. */
struct cell_view {
  /* of a cell: its slot, sides at the edge, whether slots wrap around; BEYOND is always set */
  enum : uint32_t { SLOT = 0xffffffu, SIDES = 24, ROUND = 1u << 30, BEYOND = 1u << 31 };
  uint32_t away, needs;
  __device__ __forceinline__ cell_view(const moved_search &s) {
    const uint32_t d = threadIdx.x % 32, x = d % 3, y = d / 3 % 3, z = d / 9;
    away = (x - 1) * s.in.step[0] + (y - 1) * s.in.step[1] + (z - 1) * s.in.step[2];
    needs = d < 27 ? (side(x) | side(y) << 2 | side(z) << 4) << SIDES : (uint32_t)BEYOND;
  }
  static __device__ __forceinline__ uint32_t side(uint32_t x) {
    return x == 0 ? 1u : x == 2 ? 2u : 0u;
  }
  /* The same, packed, of a cell. */
  static __device__ __forceinline__ uint32_t place(const moved_search &s, uint32_t word) {
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
/* Makes tasks of the moved cells among a warp's 32 particles. 27 lanes load the boxes around a
 * cell: 9 times 3 adjacent ones. */
__device__ __forceinline__ bool find_moved_cells(const moved_search &s, moved_search_block *b,
                                                 const cell_view &out, uint32_t own_word,
                                                 const warp_cells &cells) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, below = (1u << lane) - 1u,
                 place = cell_view::place(s, own_word);
  uint32_t seen = 0; /* mask of moved cells around the cell with this lane's number */
  for (uint32_t left = cells.leaders, number = 0; left;) {
    uint32_t other[CELLS][cell_table::ENDS], these = left;
#pragma unroll
    for (int e = 0; e < CELLS; e++) {
      for (int a = 0; a < cell_table::ENDS; a++) other[e][a] = 0; /* empty */
      if (!left) continue;
      const uint32_t leader = lowest(left), at = __shfl_sync(ALL, place, leader);
      left &= left - 1;
      uint32_t slot = at & out.needs ? s.in.empty : (at & cell_view::SLOT) + out.away;
      if (at & cell_view::ROUND) {
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
      uint32_t box[3], side[3]; /* both ends of an axis at once, 16 bits each */
      for (int a = 0; a < 3; a++) {
        box[a] = other[e][a] | other[e][3 + a] << 16;
        /* the cell in the middle */
        const uint32_t both = __vmaxu2(box[a], __shfl_sync(ALL, box[a], 13));
        side[a] = (both & 0xffffu) + (both >> 16) - 65536u;
      }
      /* as moved_search::is_moved */
      const uint32_t mask = __ballot_sync(
          ALL, (box[0] != 0) & (s.all | !displacement_boxes::is_static((int)side[0], (int)side[1],
                                                                       (int)side[2])));
      if (lane == number) seen = mask;
      number++;
    }
  }
  if (!__any_sync(ALL, seen != 0)) return false; /* mostly */
  const uint32_t mask = __shfl_sync(ALL, seen, cells.number),
                 parts = cells.first && mask
                             ? (__popc(cells.with) + TASK_PARTICLES - 1) / TASK_PARTICLES
                             : 0u;
  uint32_t at = 0, sum = 0;
  for (uint32_t p = 1; p <= 32 / TASK_PARTICLES; p++) {
    const uint32_t who = __ballot_sync(ALL, parts >= p);
    at += __popc(who & below), sum += __popc(who);
  }
  uint32_t begin = 0;
  if (lane == 0) begin = atomicAdd(&b->tasks, sum);
  at += __shfl_sync(ALL, begin, 0);
  if (parts) {
    const uint32_t k = warp * 32 + cells.number;
    b->word[k] = own_word, b->mask[k] = mask;
    for (uint32_t bits = cells.with; bits; at++) {
      uint32_t rest = bits;
      if (__popc(bits) <= TASK_PARTICLES)
        rest = 0;
      else
        for (int m = 0; m < TASK_PARTICLES; m++) rest &= rest - 1;
      b->task[at] = (uint16_t)k, b->task_for[at] = bits & ~rest;
      bits = rest;
    }
  }
  return true;
}
__global__ void __launch_bounds__(32 * WARPS, 4)
    moved_search_kernel(const __grid_constant__ moved_search s) {
  __shared__ moved_search_block b;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = group_of(warp),
                 i = group * 32 + lane;
  if (threadIdx.x == 0) b.tasks = 0, b.next = WARPS;
  b.count[warp][lane] = 0;
  const cell_view out(s);
  __syncthreads();
  launch_dependency_wait();
  /* the dependent kernel finds all earlier kernels done; without overlap, no trigger, as in any
   * search */
  if (s.overlaps) launch_dependency_trigger();
  const uint32_t own_word = i < s.n ? s.cell[i] : (uint32_t)cell_table::NO_CELL;
  const warp_cells cells(i < s.n, own_word);
  const bool any = __syncthreads_or(find_moved_cells(s, &b, out, own_word, cells));
  const uint32_t tasks = any ? b.tasks : 0; /* mostly none */
  OZ_NO_UNROLL
  for (bool again = false; tasks; again = true) {
    OZ_NO_UNROLL
    for (uint32_t t = warp; t < tasks;) {
      const uint32_t of = b.task[t] / 32;
      uint32_t who = b.task_for[t];
      if (again) who &= __ballot_sync(ALL, b.count[of][lane] > KEPT && b.base[of] != NO_ROOM);
      if (who) search_cell(s, &b, b.task[t], who, again);
      if (again || tasks <= WARPS)
        t += WARPS;
      else {
        if (lane == 0) t = atomicAdd(&b.next, 1u);
        t = __shfl_sync(ALL, t, 0);
      }
    }
    if (again) return;
    __syncthreads();
    const uint32_t count = b.count[warp][lane], all = clamp_length(count);
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
cudaError_t bin_all(cudaStream_t stream, const bin_item &s) {
  return start<bin_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream, s);
}
cudaError_t moved_search_all(cudaStream_t stream, const moved_search &s) {
  return start<moved_search_kernel>((s.n + 32u * WARPS - 1) / (32u * WARPS), 32u * WARPS, 0, stream,
                                    s);
}
#endif
#endif
