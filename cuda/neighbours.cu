/* Order along a space-filling curve, cells, neighbour rows, wall slots.
 *
 * One search a substep at the start positions makes list C. The density constraint walks the same rows (a pair that has
 * moved apart adds nothing) and then further rows with what has come near since, found at the current positions; there
 * is no margin and nothing is listed twice.
 *
 * Rows are found in two looks at the same cells: the first counts, the warp takes the room for its 32 rows, the second
 * fills. Which lines of memory a group gets may differ from run to run, what they hold does not. */
#include "cuda/gpu.h"

#include "physics/lanes.h"

#include "physics/pairs.h"
#include "physics/wall.h"

#if defined(OZ_CUDA_HOST)
#include <algorithm>
#include <cmath>
#include <vector>
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace OZ_NAMESPACE {
float *array_of(const oz_frame *f, const field_array *a);
namespace {

enum { CELL_LIMIT = (1 << 20) - 2 };

OZ_FN uint64_t spread(uint64_t v) { /* 21 bits to every third bit */
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffffull;
  v = (v | v << 16) & 0x1f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  v = (v | v << 2) & 0x1249249249249249ull;
  return v;
}
OZ_FN uint32_t gathered(uint64_t v) { /* and back */
  v &= 0x1249249249249249ull;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
  v = (v | v >> 4) & 0x100f00f00f00f00full;
  v = (v | v >> 8) & 0x1f0000ff0000ffull;
  v = (v | v >> 16) & 0x1f00000000ffffull;
  v = (v | v >> 32) & 0x1fffff;
  return (uint32_t)v;
}
OZ_FN uint64_t morton(uint32_t x, uint32_t y, uint32_t z) { return spread(x) | spread(y) << 1 | spread(z) << 2; }
/* Cell coordinate along one axis; what is far away (or no number) shares the outermost cells. */
OZ_FN int coordinate(float x, float inv) {
  float c = floorf(x * inv);
  if (!(c > -(float)CELL_LIMIT)) c = -(float)CELL_LIMIT;
  if (c > (float)CELL_LIMIT) c = (float)CELL_LIMIT;
  return (int)c;
}
/* Written out, so that both searches round alike. */
OZ_FN float distance2(const float *a, const float *b) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return fmaf(x, x, fmaf(y, y, z * z));
}

/* ---- bounding box of the cells ---- */

struct box_item {
  const float *at;
  float inv;
  int *box; /* least, minus greatest */
  OZ_D void cell(uint32_t i, int c[6]) const {
    for (int k = 0; k < 3; k++) {
      c[k] = coordinate(at[4 * (size_t)i + k], inv);
      c[3 + k] = -c[k];
    }
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    int c[6];
    cell(i, c);
    for (int k = 0; k < 6; k++) oz_atomic_min(box + k, c[k]);
  }
#endif
};
#if !defined(OZ_CUDA_HOST)
__device__ __forceinline__ int warp_min(int v) {
  for (int d = 16; d; d >>= 1) v = min(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__global__ void __launch_bounds__(256) box_kernel(const __grid_constant__ box_item b, uint32_t n) {
  int least[6];
  for (int k = 0; k < 6; k++) least[k] = NONE_U32;
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u) {
    int c[6];
    b.cell(i, c);
    for (int k = 0; k < 6; k++) least[k] = min(least[k], c[k]);
  }
  for (int k = 0; k < 6; k++) {
    least[k] = warp_min(least[k]);
    if (threadIdx.x % 32 == 0) atomicMin(b.box + k, least[k]);
  }
}
#endif

/* ---- keys ---- */

struct key_item {
  const float *at;
  const uint32_t *rank;
  float inv;
  int low[3];
  int last;       /* largest coordinate above low; what is beyond shares it */
  uint32_t *key32;
  uint64_t *key64; /* one of the two */
  uint32_t *order;
  OZ_D uint64_t of(uint32_t i) const {
    uint32_t c[3];
    for (int k = 0; k < 3; k++) {
      int v = coordinate(at[4 * (size_t)i + k], inv) - low[k];
      c[k] = (uint32_t)(v < 0 ? 0 : v > last ? last : v);
    }
    return morton(c[0], c[1], c[2]);
  }
  OZ_D void operator()(uint32_t i) const {
    const uint64_t key = of(i);
    const uint32_t to = rank[i]; /* by ascending id, so that a stable sort leaves (cell, id) */
    if (key32) key32[to] = (uint32_t)key;
    else key64[to] = key;
    order[to] = i;
  }
};

/* ---- a table of all cells ----
 * Where the box of the particles is small, a counter for every Morton code takes the place of a sort: count, add up, put each
 * particle into its cell, and within a cell (a few particles) look how many have a lower id. The order is the same. */

OZ_FN uint32_t spread7(uint32_t v) { /* 7 bits to every third */
  v = (v | v << 8) & 0x0300f00fu;
  v = (v | v << 4) & 0x030c30c3u;
  return (v | v << 2) & 0x09249249u;
}
OZ_FN uint32_t gathered7(uint32_t v) {
  v &= 0x09249249u;
  v = (v | v >> 2) & 0x030c30c3u;
  v = (v | v >> 4) & 0x0300f00fu;
  return (v | v >> 8) & 0xffu;
}
enum { TABLE_BITS = 7 }; /* an axis, at most: 8 MiB of counters */

struct tally_item {
  key_item key;
  uint32_t *table, *cell, *within; /* cell of each particle, and how many were counted there before it (any order) */
  OZ_D void operator()(uint32_t i) const {
    const uint32_t k = (uint32_t)key.of(i);
    cell[i] = k;
    within[i] = oz_atomic_add(table + k, 1u);
  }
};
struct fill_item {
  const uint32_t *start, *cell, *within;
  uint32_t *member;
  OZ_D void operator()(uint32_t i) const { member[start[cell[i]] + within[i]] = i; }
};
/* Place of particle i, which fill_item has put somewhere into its cell. */
struct placement {
  const uint32_t *start, *cell, *member, *rank;
  OZ_D uint32_t of(uint32_t i) const {
    const uint32_t mine = rank[i], k = cell[i], first = start[k], end = start[k + 1];
    uint32_t at = first;
    for (uint32_t m = first; m < end; m++) at += rank[member[m]] < mine;
    return at;
  }
};

struct keys {
  const uint32_t *key32;
  const uint64_t *key64;
  OZ_D uint64_t at(uint32_t i) const { return key32 ? key32[i] : key64[i]; }
};

/* ---- cells ---- */

struct head_item {
  keys key;
  uint32_t *head;
  OZ_D void operator()(uint32_t i) const { head[i] = i == 0 || key.at(i) != key.at(i - 1); }
};
OZ_FN uint32_t hash_of(uint64_t key, uint32_t mask) { return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask; }

struct cell_item {
  keys key;
  const uint32_t *number; /* cell + 1 of each place */
  const uint32_t *order;
  uint32_t *cell_of;      /* by particle */
  float *sorted, *sorted_x; /* record 4: current (w: particle) and start positions in cell order, or NULL where they are so anyway */
  const float *at, *x;
  uint32_t *start, *hash;
  uint64_t *cell_key;
  uint32_t n, capacity, mask;
  uint32_t *cells;
  OZ_D void operator()(uint32_t k) const {
    const uint32_t c = number[k] - 1, i = sorted ? order[k] : k;
    cell_of[i] = c;
    if (sorted) {
      oz_real v[4];
      oz_ld4(at, i, 4, 0, v);
      v[3] = oz_float_of(i);
      oz_st4(sorted, k, 4, 0, v);
      oz_ld4(x, i, 4, 0, v);
      oz_st4(sorted_x, k, 4, 0, v);
    }
    if (k == n - 1) *cells = c + 1;
    if (c >= capacity) return; /* the host sees the number, makes room and comes again */
    if (k == n - 1) start[c + 1] = n;
    if (k && number[k - 1] == c + 1) return;
    start[c] = k;
    const uint64_t mine = key.at(k);
    cell_key[c] = mine;
    uint32_t slot = hash_of(mine, mask);
    while (oz_atomic_cas(hash + slot, 0u, c + 1) != 0u) slot = (slot + 1) & mask;
  }
};

/* The 27 cells around a cell, as 14 blocks of cells whose Morton codes follow each other, and so their particles: along each
 * axis two of the three cells are a pair (an even coordinate and the next), the third stands alone. */
struct blocks_around {
  uint64_t part[3][3]; /* of each axis: even one of the pair, odd one, single; all bits set: there is none */
  OZ_D void set(uint64_t key, uint32_t last) {
    for (int axis = 0; axis < 3; axis++) {
      const uint32_t v = gathered(key >> axis), even = v & ~1u, alone = v & 1u ? v + 1 : v - 1;
      part[axis][0] = spread(even) << axis;
      part[axis][1] = spread(even + 1) << axis;
      part[axis][2] = alone <= last ? spread(alone) << axis : ~0ull; /* -1 wraps to the largest */
    }
  }
};
/* Which of an axis' three, for x, y and z, and how many cells: 1 << the last. */
OZ_FN void block_parts(uint32_t b, uint32_t *x, uint32_t *y, uint32_t *z, uint32_t *cells) {
  *x = b < 5 ? 0 : 2;
  *y = b < 2 ? 0 : b < 5 || b > 10 ? 2 : (b - 5) & 1u;
  *z = b == 0 ? 0 : b == 2 || b == 3 ? b - 2 : b >= 5 && b < 9 ? (b - 5) >> 1 : b == 11 || b == 12 ? b - 11 : 2;
  *cells = b == 0 ? 8 : b == 1 ? 4 : b < 5 ? 2 : 1;
}

/* The particles of each block around each cell, as ranges. */
struct around_item {
  const uint32_t *start, *hash, *cells;
  const uint64_t *cell_key;
  uint32_t mask, capacity, last;
  uint2 *around;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t c = t / AROUND, b = t % AROUND;
    if (c >= *cells) return;
    blocks_around near;
    uint32_t x, y, z, n;
    near.set(cell_key[c], last);
    block_parts(b, &x, &y, &z, &n);
    const uint64_t first = near.part[0][x] | near.part[1][y] | near.part[2][z];
    uint2 range = {0, 0};
    if (first != ~0ull)
      for (uint64_t want = first; want < first + n; want++)
        for (uint32_t slot = hash_of(want, mask); hash[slot]; slot = (slot + 1) & mask)
          if (cell_key[hash[slot] - 1] == want) {
            if (range.x == range.y) range.x = start[hash[slot] - 1];
            range.y = start[hash[slot]];
            break;
          }
    around[t] = range;
  }
};

/* ---- rows ---- */

OZ_FN uint32_t lowest(uint32_t bits) {
#if defined(__CUDACC__)
  return (uint32_t)__ffs((int)bits) - 1u;
#else
  return (uint32_t)__builtin_ctz(bits);
#endif
}
OZ_FN uint32_t popcount(uint32_t bits) {
#if defined(__CUDACC__)
  return (uint32_t)__popc(bits);
#else
  return (uint32_t)__builtin_popcount(bits);
#endif
}
/* Where entry r of a row is, from the row's beginning: four together, then those of the group's other particles. */
OZ_FN uint32_t entry_at(uint32_t r) { return (r >> 2) * (4 * GROUP) + (r & 3u); }

enum { MASKS = 24 }; /* of 32 candidates each: about 300 in 14 ranges */

struct search {
  const float *own;      /* record 4: position of each particle */
  const float *at;       /* record 4 in cell order */
  const uint32_t *cell_of;
  const uint2 *around;    /* 14 ranges a cell, or NULL: */
  const uint32_t *table;  /* first particle by Morton code, which the cell then is; `last` the greatest coordinate */
  uint32_t last;
  uint32_t n, capacity;
  float radius2;
  /* What was within skip2 at the start is listed already. x: start positions by particle (record 4); sorted_x: in cell order,
   * and then at's w is the particle of each place. NULL: nothing is listed, and places are particles. */
  const float *x, *sorted_x;
  float skip2;
  uint32_t *entries, *group;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;
  uint32_t *neighbours;
  uint32_t *place; /* receives the packed positions, or NULL */
  float h;
  const uint32_t *owner; /* where there are boundary particles: they gather nothing */

  /* What is around cell c: its ranges in `around`, or what the Morton codes of its blocks are made of. */
  struct surroundings {
    const uint2 *range;
    uint32_t part[3][3]; /* as in blocks_around */
  };
  OZ_D void look_around(uint32_t c, surroundings *s) const {
    s->range = around + (size_t)c * AROUND;
    if (around) return;
    for (uint32_t axis = 0; axis < 3; axis++) {
      const uint32_t v = gathered7(c >> axis), even = v & ~1u, alone = v & 1u ? v + 1 : v - 1;
      s->part[axis][0] = spread7(even) << axis;
      s->part[axis][1] = spread7(even + 1) << axis;
      s->part[axis][2] = alone <= last ? spread7(alone) << axis : 0xffffffffu;
    }
  }
  OZ_D uint2 range(const surroundings *s, uint32_t b) const {
    if (around) return s->range[b];
    uint32_t x, y, z, n;
    block_parts(b, &x, &y, &z, &n);
    const uint32_t key = s->part[0][x] | s->part[1][y] | s->part[2][z];
    uint2 r = {0, 0};
    if (key != 0xffffffffu) r.x = table[key], r.y = table[key + n];
    return r;
  }
  /* Which of the `n` <= 32 places m, m + STEP, ... are within reach of p, as bits. Tests come four at a time and without a
   * branch; what they read beyond the end is in the same memory and does not count. */
  template <int STEP> OZ_D uint32_t chunk(const float *p, uint32_t m, uint32_t n) const {
    uint32_t bits = 0;
    for (uint32_t t = 0; t < n; t += 4) {
      uint32_t four = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t u = 0; u < 4; u++) {
        oz_real q[4];
        oz_ld4(at, m + STEP * (t + u), 4, 0, q);
        if (distance2(q, p) < radius2) four |= 1u << u;
      }
      bits |= four << t;
    }
    return n < 32 ? bits & ((1u << n) - 1u) : bits;
  }
  /* Takes off what is no neighbour all the same: the particle itself, and what is listed already (itself among it). */
  template <int STEP> OZ_D uint32_t others(uint32_t i, const float *xi, uint32_t m, uint32_t bits) const {
    if (!sorted_x) {
      const uint32_t t = (i - m) / STEP; /* beyond 31 where i is not here, or before m */
      return (i - m) % STEP == 0 && t < 32 ? bits & ~(1u << t) : bits;
    }
    for (uint32_t left = bits; left; left &= left - 1) {
      const uint32_t t = lowest(left);
      oz_real q[4];
      oz_ld4(sorted_x, m + STEP * t, 4, 0, q);
      if (distance2(q, xi) < skip2) bits &= ~(1u << t);
    }
    return bits;
  }
  template <int STEP> OZ_D void write(uint32_t *row, uint32_t *at_row, uint32_t m, uint32_t bits) const {
    for (; bits; bits &= bits - 1) {
      const uint32_t k = m + STEP * lowest(bits), r = (*at_row)++;
      if (r < OZ_MAX_NEIGHBOURS) row[entry_at(r)] = sorted_x ? oz_bits_of(at[4 * (size_t)k + 3]) : k;
    }
  }
  /* Looks at every LANES-th candidate around i from `lane` on; returns how many neighbours are there. The bits are kept in
   * `mask`, so that the second look, which writes them to the row from `before` on, need not test again, unless it is crowded
   * here. */
  template <bool FILL, int LANES> OZ_D uint32_t look(uint32_t i, uint32_t lane, uint32_t *mask, bool *crowded, uint32_t *row, uint32_t before) const {
    const uint32_t c = cell_of[i];
    if (c >= capacity) return 0;
    if (owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) return 0;
    surroundings nearby;
    look_around(c, &nearby);
    oz_real p[4], xi[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t count = 0, kept = 0;
    oz_ld4(own, i, 4, 0, p);
    if (sorted_x) oz_ld4(x, i, 4, 0, xi);
    for (uint32_t b = 0; b < AROUND; b++) {
      const uint2 r = range(&nearby, b);
      for (uint32_t m = r.x + lane; m < r.y; m += 32 * LANES) {
        uint32_t bits;
        if (FILL && !*crowded) bits = mask[kept++];
        else {
          const uint32_t n = (r.y - m + LANES - 1) / LANES;
          bits = others<LANES>(i, xi, m, chunk<LANES>(p, m, n < 32 ? n : 32));
          if (!FILL) {
            if (kept < MASKS) mask[kept++] = bits;
            else *crowded = true;
          }
        }
        if (FILL) write<LANES>(row, &before, m, bits);
        count += popcount(bits);
      }
    }
    return count;
  }
  /* The row goes on with the particle itself up to a multiple of four. */
  OZ_D void pad(uint32_t i, uint32_t *row, uint32_t n) const {
    for (; n & 3u; n++) row[entry_at(n)] = i;
  }
  OZ_D void note(uint32_t i, uint32_t count) const {
    len[i] = (uint16_t)count;
    if (neighbours) neighbours[i] = count;
    if (place) oz_place_st(place, i, own + 4 * (size_t)i, h);
  }
};

OZ_FN uint32_t capped(uint32_t n) { return n < OZ_MAX_NEIGHBOURS ? n : OZ_MAX_NEIGHBOURS; }
OZ_FN uint32_t in_fours(uint32_t n) { return (n + 3u) & ~3u; }

#if defined(OZ_CUDA_HOST)
cudaError_t search_all(const search &s, cudaStream_t) {
  for (uint32_t first = 0; first < s.n; first += GROUP) {
    uint32_t width = 0, count[GROUP], sum = 0, mask[GROUP][MASKS];
    bool crowded[GROUP] = {false};
    const uint32_t members = s.n - first < GROUP ? s.n - first : (uint32_t)GROUP;
    for (uint32_t k = 0; k < members; k++) {
      count[k] = capped(s.look<false, 1>(first + k, 0, mask[k], &crowded[k], nullptr, 0));
      sum += count[k];
      width = std::max(width, in_fours(count[k]));
    }
    const unsigned long long base = oz_atomic_add(s.asked, (unsigned long long)width);
    oz_atomic_add(s.total, (unsigned long long)sum);
    s.group[first / GROUP] = (uint32_t)base;
    for (uint32_t k = 0; k < members; k++) {
      const bool fits = base + width <= s.lines;
      uint32_t *row = s.entries + base * GROUP + 4 * k;
      s.note(first + k, fits ? count[k] : 0);
      if (!fits) continue;
      s.look<true, 1>(first + k, 0, mask[k], &crowded[k], row, 0);
      s.pad(first + k, row, count[k]);
    }
  }
  return cudaSuccess;
}
#else
/* One thread a particle; a warp is a group. */
__global__ void __launch_bounds__(128) search_kernel(const __grid_constant__ search s) {
  const uint32_t i = blockIdx.x * 128u + threadIdx.x, lane = threadIdx.x % 32;
  uint32_t mask[MASKS];
  bool crowded = false;
  const uint32_t count = i < s.n ? capped(s.look<false, 1>(i, 0, mask, &crowded, nullptr, 0)) : 0;
  uint32_t width = in_fours(count), sum = count;
  for (int d = 16; d; d >>= 1) {
    width = max(width, __shfl_xor_sync(0xffffffffu, width, d));
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  }
  unsigned long long base = 0;
  if (lane == 0) {
    base = atomicAdd(s.asked, (unsigned long long)width);
    atomicAdd(s.total, (unsigned long long)sum);
    if (i < s.n) s.group[i / GROUP] = (uint32_t)base;
  }
  base = __shfl_sync(0xffffffffu, base, 0);
  if (i >= s.n) return;
  const bool fits = base + width <= s.lines;
  s.note(i, fits ? count : 0);
  if (!fits) return;
  uint32_t *row = s.entries + base * GROUP + 4 * lane;
  s.look<true, 1>(i, 0, mask, &crowded, row, 0);
  s.pad(i, row, count);
}
/* Several threads a particle, for scenes that do not fill the machine; a block is a group. */
template <int TEAM> __global__ void __launch_bounds__(GROUP * TEAM) search_team_kernel(const __grid_constant__ search s) {
  __shared__ uint32_t width, sum;
  __shared__ unsigned long long base;
  const uint32_t i = blockIdx.x * GROUP + threadIdx.x / TEAM, lane = threadIdx.x % TEAM;
  uint32_t mask[MASKS];
  bool crowded = false;
  if (threadIdx.x == 0) width = sum = 0;
  const uint32_t count = i < s.n ? s.look<false, TEAM>(i, lane, mask, &crowded, nullptr, 0) : 0;
  uint32_t through = count; /* with those of the lanes before */
  for (uint32_t d = 1; d < TEAM; d *= 2) {
    const uint32_t other = __shfl_up_sync(0xffffffffu, through, d, TEAM);
    if (lane >= d) through += other;
  }
  const uint32_t all = capped(__shfl_sync(0xffffffffu, through, TEAM - 1, TEAM));
  __syncthreads();
  if (lane == 0) {
    atomicMax(&width, in_fours(all));
    atomicAdd(&sum, all);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    base = atomicAdd(s.asked, (unsigned long long)width);
    atomicAdd(s.total, (unsigned long long)sum);
    s.group[blockIdx.x] = (uint32_t)base;
  }
  __syncthreads();
  if (i >= s.n) return;
  const bool fits = base + width <= s.lines;
  if (lane == 0) s.note(i, fits ? all : 0);
  if (!fits) return;
  uint32_t *row = s.entries + base * GROUP + 4 * (i % GROUP);
  s.look<true, TEAM>(i, lane, mask, &crowded, row, through - count);
  if (lane == 0) s.pad(i, row, all);
}
cudaError_t search_all(const search &s, cudaStream_t stream) {
  const uint32_t groups = (s.n + GROUP - 1) / GROUP;
  /* rows of a team are less in order than those of one thread, and gathers over them slower: only where latency rules anyway */
  if (s.n <= 40000) search_team_kernel<8><<<groups, GROUP * 8, 0, stream>>>(s);
  else search_kernel<<<(s.n + 127u) / 128u, 128, 0, stream>>>(s);
  return cudaGetLastError();
}
#endif

/* ---- gradients of list C, as halves beside its entries, for scenes that several threads a particle run ---- */

struct ghat_item { /* one thread an entry of a line of 32 * 4 */
  oz_frame f;
  const uint32_t *place;
  uint16_t *ghat;
  place_units u;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = t / 4, lane = t % 4, g = i / GROUP, len = f.len_c[i];
    const oz_place here = oz_place_ld(place, i);
    oz_frame units; /* only what oz_spiky asks for */
    units.h = u.h, units.h2 = u.h2, units.grad_norm = u.grad_norm, units.hour_norm = u.hour_norm, units.inv_d = u.inv_d;
    size_t at = (size_t)f.row_c[g] * GROUP + i % GROUP * 4 + lane;
    for (uint32_t k = lane; k < ((len + 3u) & ~3u); k += 4, at += 4 * GROUP) {
      float r[3];
      oz_real c;
      oz_place_difference(here, oz_place_ld(place, f.list_c[at]), r);
      const oz_v3 way = {r[0], r[1], r[2]};
      const oz_v3 v = oz_spiky(&units, way, &c);
      uint16_t *to = ghat + 4 * at;
      oz_st_half(to, v.x), oz_st_half(to + 1, v.y), oz_st_half(to + 2, v.z), oz_st_half(to + 3, c);
    }
  }
};

/* ---- sorting and adding up ---- */

#if defined(OZ_CUDA_HOST)
template <class K> void host_sort(K *key, uint32_t *order, uint32_t n) {
  std::vector<uint32_t> at(n), o(order, order + n);
  std::vector<K> k(key, key + n);
  for (uint32_t i = 0; i < n; i++) at[i] = i;
  std::stable_sort(at.begin(), at.end(), [&](uint32_t a, uint32_t b) { return k[a] < k[b]; });
  for (uint32_t i = 0; i < n; i++) key[i] = k[at[i]], order[i] = o[at[i]];
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t, int *now, ooze_message *) {
  if (wide) host_sort(static_cast<uint64_t *>(g->key[0].at), static_cast<uint32_t *>(g->order[0].at), n);
  else host_sort(static_cast<uint32_t *>(g->key[0].at), static_cast<uint32_t *>(g->order[0].at), n);
  *now = 0;
  return OOZE_OK;
}
ooze_result running_sum(gpu *, uint32_t *v, uint32_t n, ooze_message *) {
  for (uint32_t i = 1; i < n; i++) v[i] += v[i - 1];
  return OOZE_OK;
}
ooze_result sum_before(gpu *, uint32_t *v, uint32_t n, ooze_message *) {
  for (uint32_t i = 0, sum = 0; i < n; i++) {
    const uint32_t here = v[i];
    v[i] = sum, sum += here;
  }
  return OOZE_OK;
}
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) { return each(g->stream, n, b); }
#else
template <class K> ooze_result sort_as(gpu *g, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  cub::DoubleBuffer<K> key(static_cast<K *>(g->key[0].at), static_cast<K *>(g->key[1].at));
  cub::DoubleBuffer<uint32_t> order(static_cast<uint32_t *>(g->order[0].at), static_cast<uint32_t *>(g->order[1].at));
  size_t bytes = 0;
  OZ_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, order, (int)n, 0, (int)bits, g->stream), "sorting");
  OZ_TRY(grow(g, &g->temp, bytes, "sorting", why, true));
  bytes = g->temp.bytes;
  OZ_CUDA(cub::DeviceRadixSort::SortPairs(g->temp.at, bytes, key, order, (int)n, 0, (int)bits, g->stream), "sorting");
  *now = key.selector;
  if (order.selector != key.selector) return oz_fail(why, OOZE_ERROR_DEVICE, "cuda: sorted keys and values are not together");
  return OOZE_OK;
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  return wide ? sort_as<uint64_t>(g, n, bits, now, why) : sort_as<uint32_t>(g, n, bits, now, why);
}
ooze_result running_sum(gpu *g, uint32_t *v, uint32_t n, ooze_message *why) {
  size_t bytes = 0;
  OZ_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, v, v, (int)n, g->stream), "adding up");
  OZ_TRY(grow(g, &g->temp, bytes, "adding up", why, true));
  bytes = g->temp.bytes;
  OZ_CUDA(cub::DeviceScan::InclusiveSum(g->temp.at, bytes, v, v, (int)n, g->stream), "adding up");
  return OOZE_OK;
}
ooze_result sum_before(gpu *g, uint32_t *v, uint32_t n, ooze_message *why) {
  size_t bytes = 0;
  OZ_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, v, v, (int)n, g->stream), "adding up");
  OZ_TRY(grow(g, &g->temp, bytes, "adding up", why, true));
  bytes = g->temp.bytes;
  OZ_CUDA(cub::DeviceScan::ExclusiveSum(g->temp.at, bytes, v, v, (int)n, g->stream), "adding up");
  return OOZE_OK;
}
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) {
  const uint32_t blocks = (n + 1023u) / 1024u;
  box_kernel<<<blocks < 1056u ? blocks : 1056u, 256, 0, g->stream>>>(b, n);
  return cudaGetLastError();
}
#endif

news *device_news(gpu *g) { return as<news>(g->device_news); }

uint32_t bits_for(uint32_t last) {
  uint32_t bits = 1;
  while (bits < 21 && last >> bits) bits++;
  return bits;
}

key_item key_of(const oz_frame *f, const float *at, float cell, const int low[3], uint32_t last) {
  key_item k = {at, f->rank, 1.0f / cell, {low[0], low[1], low[2]}, (int)last, nullptr, nullptr, nullptr};
  return k;
}

/* Whether a table of all cells is worth it: it is cleared and added up each time. */
bool tabled(const gpu *g, uint32_t last) {
  const uint32_t bits = bits_for(last);
  return !g->no_table && bits <= TABLE_BITS && (1ull << 3 * bits) <= 65536 + 16 * (uint64_t)g->count;
}
/* Particles by cell at positions `at`, through a table. The order within each cell is left to a placement. */
ooze_result table_cells(gpu *g, const key_item &key, uint32_t *cell, placement *out, ooze_message *why) {
  const uint32_t cells = 1u << 3 * bits_for((uint32_t)key.last);
  OZ_TRY(grow(g, &g->table, ((size_t)cells + 1) * 4, "cells", why, true));
  uint32_t *table = as<uint32_t>(g->table), *within = as<uint32_t>(g->key[1]), *member = as<uint32_t>(g->order[0]);
  OZ_CUDA(cudaMemsetAsync(table, 0, ((size_t)cells + 1) * 4, g->stream), "cells");
  OZ_CUDA(each(g->stream, g->count, tally_item{key, table, cell, within}), "cells");
  OZ_TRY(sum_before(g, table, cells + 1, why));
  OZ_CUDA(each(g->stream, g->count, fill_item{table, cell, within, member}), "cells");
  *out = {table, cell, member, key.rank};
  return OOZE_OK;
}

/* Order by (cell, id) at positions `at`; g->now tells in which of the two buffers it ended. */
ooze_result order_by_cell(gpu *g, const oz_frame *f, const float *at, float cell, const int low[3], uint32_t last, ooze_message *why) {
  const uint32_t bits = bits_for(last);
  g->grid.bits = bits;
  g->wide = 3 * bits > 32;
  key_item k = key_of(f, at, cell, low, last);
  k.order = as<uint32_t>(g->order[0]);
  if (g->wide) k.key64 = as<uint64_t>(g->key[0]);
  else k.key32 = as<uint32_t>(g->key[0]);
  OZ_CUDA(each(g->stream, g->count, k), "cell keys");
  return sort_pairs(g, g->wide, g->count, 3 * bits, &g->now, why);
}

/* Cells of the particles as sorted last. `sorted` receives positions in cell order if it is given. */
ooze_result find_cells(gpu *g, const float *at, const float *x, float *sorted, float *sorted_x, ooze_message *why) {
  cells *c = &g->grid;
  const uint32_t n = g->count;
  keys key = {g->wide ? nullptr : as<uint32_t>(g->key[g->now]), g->wide ? as<uint64_t>(g->key[g->now]) : nullptr};
  uint32_t *number = as<uint32_t>(g->order[1 - g->now]);
  uint32_t *count = &device_news(g)->cells;
  OZ_CUDA(each(g->stream, n, head_item{key, number}), "cells");
  OZ_TRY(running_sum(g, number, n, why));
  OZ_CUDA(cudaMemsetAsync(c->hash.at, 0, ((size_t)c->hash_mask + 1) * 4, g->stream), "cells");
  cell_item item = {key, number, as<uint32_t>(g->order[g->now]), as<uint32_t>(g->cell_of), sorted, sorted_x, at, x, as<uint32_t>(c->start),
                    as<uint32_t>(c->hash), as<uint64_t>(c->key), n, c->capacity, c->hash_mask, count};
  OZ_CUDA(each(g->stream, n, item), "cells");
  around_item around = {as<uint32_t>(c->start), as<uint32_t>(c->hash), count, as<uint64_t>(c->key), c->hash_mask, c->capacity,
                        (1u << c->bits) - 1u, as<uint2>(c->around)};
  OZ_CUDA(each(g->stream, c->capacity * AROUND, around), "cells");
  return OOZE_OK;
}

ooze_result cells_room(gpu *g, uint32_t wish, ooze_message *why) {
  cells *c = &g->grid;
  if (wish <= c->capacity) return OOZE_OK;
  uint32_t size = 64;
  while (size < 2 * (uint64_t)wish && size < 1u << 31) size *= 2;
  OZ_TRY(grow(g, &c->start, ((size_t)wish + 1) * 4, "cells", why, true));
  OZ_TRY(grow(g, &c->key, (size_t)wish * 8, "cells", why, true));
  OZ_TRY(grow(g, &c->around, (size_t)wish * AROUND * sizeof(uint2), "cells", why, true));
  OZ_TRY(grow(g, &c->hash, (size_t)size * 4, "cells", why, true));
  c->capacity = wish;
  c->hash_mask = size - 1;
  return OOZE_OK;
}

ooze_result rows_room(gpu *g, rows *r, uint64_t lines, ooze_message *why) {
  if (lines > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbour entries; a list holds %llu", (unsigned long long)lines * GROUP,
                   (unsigned long long)UINT32_MAX * GROUP);
  OZ_TRY(grow(g, &r->entries, (size_t)lines * GROUP * 4, "neighbour lists", why));
  r->lines = r->entries.bytes / (GROUP * 4);
  return OOZE_OK;
}

struct flag_item {
  oz_frame f;
  float reach;
  uint32_t *flag;
  OZ_D void operator()(uint32_t i) const {
    if (f.boundary && f.owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) {
      flag[i] = 0;
      return;
    }
    flag[i] = (uint32_t)oz_wall_near_path(&f, f.x + 4 * (size_t)i, f.p + 4 * (size_t)i, reach);
  }
};
struct slot_item {
  const uint32_t *number; /* slots up to and with this particle */
  uint32_t *slot_of, *particle, *count;
  uint32_t n, capacity;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t k = number[i], before = i ? number[i - 1] : 0;
    slot_of[i] = k != before ? k : 0;
    if (k != before && k <= capacity) particle[k - 1] = i;
    if (i == n - 1) *count = k;
  }
};

/* ---- permuting ---- */

struct permute_item {
  const uint32_t *order;
  float *backup; /* record 4: velocity and source, or NULL */
  oz_frame from, to;
  OZ_D void operator()(uint32_t k) const { move(order[k], k); }
  OZ_D void move(uint32_t i, uint32_t k) const {
    if (backup) { /* a substep changes these in place before it has all its memory */
      oz_real v[4];
      oz_ld4(from.u, i, 4, 0, v);
      v[3] = oz_float_of(from.source[i]);
      oz_st4(backup, k, 4, 0, v);
    }
#define MOVE_RECORD(member, words)                                                                                     \
  {                                                                                                                    \
    oz_real v[4];                                                                                                      \
    oz_ld4(from.member, i, 4, 0, v);                                                                                   \
    oz_st4(to.member, k, 4, 0, v);                                                                                     \
  }
#define MOVE_PLANES(member, words)                                                                                     \
  for (int c = 0; c < words; c++) to.member[(size_t)c * to.stride + k] = from.member[(size_t)c * from.stride + i];
#define MOVE_WIDE(member, words) to.member[k] = from.member[i];
#define OZ_FIELD(name, member, words, layout) MOVE_##layout(member, words)
#define OZ_RESULT(name, member, words, layout)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_RESULT
  }
};

struct undo_item {
  oz_frame f;
  const float *backup;
  OZ_D void operator()(uint32_t i) const {
    oz_real v[4], u[4];
    oz_ld4(backup, i, 4, 0, v);
    oz_ld4(f.u, i, 4, 0, u);
    for (int c = 0; c < 3; c++) u[c] = v[c];
    oz_st4(f.u, i, 4, 0, u);
    f.source[i] = oz_bits_of(v[3]);
  }
};
/* The same from a table of cells. */
struct settle_item {
  permute_item p;
  placement where;
  uint32_t *cell_of, *order; /* order: where each was */
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = where.member[t], k = where.of(i); /* i of those near t: their state is read together */
    cell_of[k] = where.cell[i];
    order[k] = i;
    p.move(i, k);
  }
};
/* Positions in cell order, for the density search. */
struct line_item {
  placement where;
  const float *at, *x;
  float *sorted, *sorted_x;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = where.member[t], k = where.of(i);
    oz_real v[4];
    oz_ld4(at, i, 4, 0, v);
    v[3] = oz_float_of(i);
    oz_st4(sorted, k, 4, 0, v);
    oz_ld4(x, i, 4, 0, v);
    oz_st4(sorted_x, k, 4, 0, v);
  }
};

} // namespace

uint32_t *slots_of(float *at, uint32_t capacity, uint32_t parity);
float *backup_of(float *at, uint32_t capacity);

ooze_result add_up(gpu *g, uint32_t *v, uint32_t n, ooze_message *why) { return running_sum(g, v, n, why); }

static permute_item permutation(gpu *g, const uint32_t *order, bool keep) {
  permute_item item;
  item.order = order;
  item.backup = keep ? backup_of(static_cast<float *>(g->block.at), g->capacity) : nullptr;
  item.from = item.to = g->arrays;
  lay_out(&item.to, static_cast<float *>(g->block.at), g->capacity, 1 - g->parity);
  return item;
}
static void permuted(gpu *g, const permute_item &item) {
  g->parity = 1 - g->parity;
  g->arrays = item.to;
  g->slot_of = slots_of(static_cast<float *>(g->block.at), g->capacity, g->parity);
}
ooze_result permute(gpu *g, const uint32_t *order, uint32_t n, bool keep, ooze_message *why) {
  const permute_item item = permutation(g, order, keep);
  OZ_CUDA(each(g->stream, n, item), "sorting");
  permuted(g, item);
  return OOZE_OK;
}

/* A little more than h, because coordinates are rounded. */
static float cell_of_sort(const oz_frame *f) { return 1.01f * f->h; }

ooze_result launch_box(gpu *g, const oz_frame *f, ooze_message *why) {
  OZ_CUDA(cudaMemsetAsync(device_news(g)->box, 0x7f, sizeof(int) * 6, g->stream), "sorting");
  OZ_CUDA(box_all(g, box_item{f->x, 1.0f / cell_of_sort(f), device_news(g)->box}, g->count), "bounding box");
  return OOZE_OK;
}

/* Velocities and sources as they were before the sort: the substep failed after it. */
ooze_result undo(oz_backend *b, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->queued = g->frames = 0; /* what still waits is not done */
  g->box_known = false;
  if (!g->backed || !g->count) return OOZE_OK;
  g->backed = false;
  OZ_CUDA(each(g->stream, g->count, undo_item{g->arrays, backup_of(static_cast<float *>(g->block.at), g->capacity)}), "undoing a substep");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "undoing a substep");
  return OOZE_OK;
}

ooze_result sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->backed = false;
  OZ_TRY(flush(g, why));
  f->wall_count = g->wall_count = 0; /* slots are of particles as they were sorted before */
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_SORT);
  const bool known = g->box_known && g->cell == cell_of_sort(f); /* measured where the last substep ended */
  g->cell = cell_of_sort(f);
  g->box_known = false;
  if (!known) {
    OZ_TRY(launch_box(g, f, why));
    OZ_TRY(bring_news(g, why));
  }
  uint32_t last = 0;
  for (int k = 0; k < 3; k++) {
    g->grid.low[k] = g->host_news->box[k];
    const uint32_t size = (uint32_t)(-g->host_news->box[3 + k] - g->host_news->box[k]);
    if (size > last) last = size;
  }
  g->last = last;
  g->by_table = tabled(g, last);
  if (g->by_table) {
    placement where;
    OZ_TRY(table_cells(g, key_of(f, f->x, g->cell, g->grid.low, last), as<uint32_t>(g->key[0]), &where, why));
    const permute_item item = permutation(g, nullptr, true);
    g->now = 1;
    OZ_CUDA(each(g->stream, g->count, settle_item{item, where, as<uint32_t>(g->cell_of), as<uint32_t>(g->order[1])}), "sorting");
    permuted(g, item);
  } else {
    OZ_TRY(order_by_cell(g, f, f->x, g->cell, g->grid.low, last, why));
    OZ_TRY(permute(g, as<uint32_t>(g->order[g->now]), g->count, true, why));
  }
  g->backed = true;
  lay_out(f, static_cast<float *>(g->block.at), g->capacity, g->parity);
  OZ_TRY(links_move(g, as<uint32_t>(g->order[g->now]), g->count, g->count, why));
  links_frame(g, f);
  return OOZE_OK;
}

ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_LISTS);
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  if (!g->c.lines) OZ_TRY(rows_room(g, &g->c, (uint64_t)g->count / GROUP * 36 + 4096, why));
  for (;;) {
    OZ_CUDA(cudaMemsetAsync(&device_news(g)->groups, 0, sizeof g->host_news->groups + sizeof g->host_news->neighbours, g->stream), "lists");
    if (!g->by_table) OZ_TRY(find_cells(g, f->x, nullptr, nullptr, nullptr, why));
    search s = {f->x, f->x, as<uint32_t>(g->cell_of), g->by_table ? nullptr : as<uint2>(g->grid.around), as<uint32_t>(g->table), g->last,
                g->count, g->by_table ? UINT32_MAX : g->grid.capacity, f->h2, nullptr, nullptr,
                0.0f, as<uint32_t>(g->c.entries), as<uint32_t>(g->c.group), as<uint16_t>(g->c.len), g->c.lines,
                &device_news(g)->groups[0], &device_news(g)->neighbours, f->neighbours, g->place, f->h, f->boundary ? f->owner : nullptr};
    OZ_CUDA(search_all(s, g->stream), "neighbour search");
    OZ_TRY(bring_news(g, why));
    const news *n = g->host_news;
    if (!g->by_table && n->cells > g->grid.capacity) OZ_TRY(cells_room(g, n->cells + n->cells / 4 + 1024, why));
    else if (n->groups[0] > g->c.lines) OZ_TRY(rows_room(g, &g->c, n->groups[0] + n->groups[0] / 16 + 1024, why));
    else break;
  }
  f->list_c = as<uint32_t>(g->c.entries), f->row_c = as<uint32_t>(g->c.group), f->len_c = as<uint16_t>(g->c.len);
  f->ghat = nullptr;
  if (lanes_for(g) > STORED_ABOVE) {
    OZ_TRY(grow(g, &g->ghat, g->c.entries.bytes * 2, "gradients", why));
    f->ghat = as<uint16_t>(g->ghat);
    ghat_item item = {*f, g->place, f->ghat, {}};
    item.u.set(*f);
    OZ_CUDA(each(g->stream, 4 * g->count, item), "gradients");
  }
  out->mean_neighbours = (double)g->host_news->neighbours / g->count;
  return OOZE_OK;
}

ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  out->rebuilt = 0;
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_DENSITY_LIST);
  if (!g->extra.lines) OZ_TRY(rows_room(g, &g->extra, (uint64_t)g->count / GROUP * 4 + 4096, why));
  /* the iterations move particles further: a small margin, so that pairs that come together are seen */
  const float radius = f->h + 0.33f * f->margin, cell = 1.01f * radius;
  /* cells of the start, with two around them for what has moved; what is beyond shares the outermost */
  int low[3];
  for (int k = 0; k < 3; k++) low[k] = (int)floorf((float)g->grid.low[k] * (g->cell / cell)) - 2;
  const uint32_t last = g->last + 4;
  g->by_table = tabled(g, last);
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  for (;;) {
    OZ_CUDA(cudaMemsetAsync(&device_news(g)->groups, 0, sizeof g->host_news->groups + sizeof g->host_news->neighbours, g->stream), "lists");
    if (g->by_table) { /* A and dx are free until the first iteration */
      placement where;
      OZ_TRY(table_cells(g, key_of(f, f->p, cell, low, last), as<uint32_t>(g->cell_of), &where, why));
      OZ_CUDA(each(g->stream, g->count, line_item{where, f->p, f->x, f->A, f->dx}), "cells");
    } else {
      OZ_TRY(order_by_cell(g, f, f->p, cell, low, last, why));
      OZ_TRY(find_cells(g, f->p, f->x, f->A, f->dx, why));
    }
    search s = {f->p, f->A, as<uint32_t>(g->cell_of), g->by_table ? nullptr : as<uint2>(g->grid.around), as<uint32_t>(g->table), last,
                g->count, g->by_table ? UINT32_MAX : g->grid.capacity, radius * radius, f->x, f->dx, f->h2, as<uint32_t>(g->extra.entries), as<uint32_t>(g->extra.group),
                as<uint16_t>(g->extra.len), g->extra.lines, &device_news(g)->groups[1], &device_news(g)->neighbours, nullptr, nullptr, 0.0f, f->boundary ? f->owner : nullptr};
    OZ_CUDA(search_all(s, g->stream), "neighbour search");
    OZ_TRY(bring_news(g, why));
    const news *n = g->host_news;
    if (!g->by_table && n->cells > g->grid.capacity) OZ_TRY(cells_room(g, n->cells + n->cells / 4 + 1024, why));
    else if (n->groups[1] > g->extra.lines) OZ_TRY(rows_room(g, &g->extra, n->groups[1] + n->groups[1] / 4 + 1024, why));
    else break;
  }
  f->list_d[0] = f->list_c, f->row_d[0] = f->row_c, f->len_d[0] = f->len_c;
  f->list_d[1] = as<uint32_t>(g->extra.entries), f->row_d[1] = as<uint32_t>(g->extra.group), f->len_d[1] = as<uint16_t>(g->extra.len);
  return OOZE_OK;
}

ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  g->wall_count = 0;
  if (g->count && g->collider_count) {
    timer t(g, TIMER_WALLS);
    uint32_t *flag = as<uint32_t>(g->cell_of);
    flag_item item = {*f, f->h + f->d, flag}; /* oz_wall_reach */
    OZ_CUDA(each(g->stream, g->count, item), "walls");
    OZ_TRY(running_sum(g, flag, g->count, why));
    for (;;) {
      slot_item slots = {flag, g->slot_of, as<uint32_t>(g->wall_particle), &device_news(g)->walls, g->count, g->wall_capacity};
      OZ_CUDA(each(g->stream, g->count, slots), "walls");
      OZ_TRY(bring_news(g, why));
      const size_t n = g->host_news->walls;
      if (n <= g->wall_capacity) break;
      const size_t room = n + n / 2 + 1024;
      OZ_TRY(grow(g, &g->wall_planes, room * 4, "walls", why));
      OZ_TRY(grow(g, &g->wall, room * OZ_PLANES * sizeof(oz_wall), "walls", why));
      OZ_TRY(grow(g, &g->wall_impulse, room * OZ_PLANES * 12, "walls", why));
      OZ_TRY(grow(g, &g->wall_particle, room * 4, "walls", why));
      g->wall_capacity = (uint32_t)room;
    }
    g->wall_count = g->host_news->walls;
  }
  f->wall_count = g->wall_count;
  f->wall_particle = as<uint32_t>(g->wall_particle), f->wall = as<oz_wall>(g->wall);
  f->wall_planes = as<uint32_t>(g->wall_planes), f->wall_impulse = as<float>(g->wall_impulse);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
