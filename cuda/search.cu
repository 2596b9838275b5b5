/* Neighbour rows.
 *
 * One search a substep at the start positions makes list C. The density constraint walks the same rows (a pair that has
 * moved apart adds nothing) and then further rows with what has come near since, found at the current positions; there
 * is no margin and nothing is listed twice. Where a model leaves out what is calm (OZ_CALM), so does the search: blocks of cells
 * whose particles cannot have moved that far relative to those of the cell in the middle are not looked at.
 *
 * Rows are found in two looks at the same cells: the first counts, the group of 32 takes the room for its rows, the second
 * fills. Which lines of memory a group gets may differ from run to run, what they hold does not.
 *
 * Small scenes have rows of particle numbers. In large ones SHARE particles, those of one block of threads, share a list of
 * all the particles that are neighbours of one of them; their rows hold places in it, of 16 bits. A gather brings what is in
 * that list into shared memory once (walk.h). The first look marks who is in it, on pages of 32 particles that follow each
 * other. */
#include "cuda/cells.h"

#include "physics/boundary.h"
#include "physics/pairs.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

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
OZ_FN uint32_t capped(uint32_t n) { return n < OZ_MAX_NEIGHBOURS ? n : OZ_MAX_NEIGHBOURS; }
OZ_FN uint32_t in_fours(uint32_t n) { return (n + 3u) & ~3u; }

/* ---- what a block shares ---- */

enum { PAGES = 512 };

/* The pages that hold neighbours of a block's particles, in a table by hash. */
struct pages {
  uint32_t key[PAGES];    /* page + 1, or 0 */
  uint32_t bits[PAGES];   /* which of its 32 particles */
  uint32_t before[PAGES]; /* places before its first */
  uint16_t used[PAGES];   /* slots, in any order */
  uint32_t full;          /* there are too many: every entry gets a place of its own */
  uint32_t many, total, first; /* used; places; where they begin among those of all blocks */

  static OZ_D uint32_t slot_of(uint32_t page) { return (page * 0x9e3779b1u) >> 23; }
  static OZ_D uint32_t next(uint32_t slot) { return (slot + 1) % PAGES; }
  static OZ_D uint32_t now(const uint32_t *a) { return *static_cast<const volatile uint32_t *>(a); }
  OZ_D void mark(uint32_t page, uint32_t b) {
    uint32_t slot = slot_of(page);
    for (int tries = 0; tries < 48; tries++, slot = next(slot)) {
      uint32_t have = now(key + slot);
      if (have == 0) have = oz_atomic_cas(key + slot, 0u, page + 1);
      if (have != 0 && have != page + 1) continue;
      if (have == 0) used[oz_atomic_add(&many, 1u)] = (uint16_t)slot;
      if (~now(bits + slot) & b) oz_atomic_or(bits + slot, b);
      return;
    }
    full = 1;
  }
  /* Numbers the places of one used page: by particle. */
  OZ_D void number(uint32_t u) {
    const uint32_t mine = key[used[u]];
    uint32_t sum = 0, all = 0;
    for (uint32_t v = 0; v < many; v++) {
      const uint32_t n = popcount(bits[used[v]]);
      all += n;
      if (key[used[v]] < mine) sum += n;
    }
    before[used[u]] = sum;
    if (u == 0) total = all;
  }
  OZ_D uint32_t find(uint32_t page) const { /* one that is there */
    uint32_t slot = slot_of(page);
    while (key[slot] != page + 1) slot = next(slot);
    return slot;
  }
  OZ_D uint32_t place(uint32_t slot, uint32_t t) const { return before[slot] + popcount(bits[slot] & ((1u << t) - 1u)); }
  OZ_D uint32_t place_of(uint32_t k) const { return place(find(k >> 5), k & 31u); }
};
static_assert(PAGES == 512, "slot_of takes 9 bits");

/* Small scenes. */
struct no_list {};

/* ---- looking ---- */

enum { MASKS = 24 }; /* of 32 candidates each: about 300 in 14 ranges */

/* FURTHER: for what list C has not. */
template <bool FURTHER> struct search {
  const float *own;      /* record 4: position of each particle */
  const float *at;       /* record 4 in cell order */
  const uint32_t *cell_of;
  const uint2 *around;    /* 14 ranges a cell, or NULL: */
  const uint32_t *table;  /* first particle by Morton code, which the cell then is; `last` the greatest coordinates */
  uint32_t last[3];
  uint32_t n, capacity;
  float radius2;
  /* FURTHER: what was within skip2 at the start is listed already. x: start positions by particle (record 4); sorted_x: in cell
   * order, and at's w is the particle of each place. Otherwise nothing is listed, and places are particles. */
  const float *x, *sorted_x;
  float skip2;
  float calm2;   /* what has moved by no more than this is not listed; 0: all is */
  motions moves; /* of the cells of a table */
  void *entries; /* of 32 bits, or of 16 where blocks share: */
  uint32_t *near_first, *near_j;
  uint64_t near_room;
  unsigned long long *shared;
  uint32_t *widest, most;
  uint32_t *group;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;
  uint32_t *neighbours;
  uint32_t *place; /* receives the packed positions, or NULL */
  float h;
  const uint32_t *owner; /* where there are boundary particles: they gather nothing, but for those that let fluid slip: */
  const uint32_t *slip;  /* their word (boundary.h), or NULL */

  /* What is around cell c: its ranges in `around`, or what the Morton codes of its blocks are made of. */
  struct surroundings {
    const uint2 *range;
    uint32_t part[3][3]; /* of each axis: as in block_parts; all bits set: there is none */
    uint32_t moved[3];
  };
  OZ_D void look_around(uint32_t c, surroundings *s) const {
    s->range = around + (size_t)c * AROUND;
    if (around) return;
    if (FURTHER && moves.at) {
      motions::none(s->moved);
      moves.join_cell(s->moved, table[c]);
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
      const uint32_t v = gathered7(c >> axis), even = v & ~1u, alone = v & 1u ? v + 1 : v - 1;
      s->part[axis][0] = spread7(even) << axis;
      s->part[axis][1] = spread7(even + 1) << axis;
      s->part[axis][2] = alone <= last[axis] ? spread7(alone) << axis : 0xffffffffu;
    }
  }
  OZ_D uint2 range(const surroundings *s, uint32_t b) const {
    if (around) return s->range[b];
    uint32_t x, y, z, n;
    block_parts(b, &x, &y, &z, &n);
    const uint32_t key = s->part[0][x] | s->part[1][y] | s->part[2][z];
    uint2 r = {0, 0};
    if (key == 0xffffffffu) return r;
    r.x = table[key], r.y = table[key + n];
    if (FURTHER && moves.at && r.x < r.y) {
      uint32_t moved[3] = {s->moved[0], s->moved[1], s->moved[2]}, first = r.x;
      for (uint32_t k = key + 1; k <= key + n; k++) {
        const uint32_t end = table[k];
        if (first < end) moves.join_cell(moved, first);
        first = end;
      }
      if (motions::calm(moved)) r.y = r.x;
    }
    return r;
  }
  /* Which of the `n` <= 32 places m, m + 1, ... are within reach of p, as bits. Tests come four at a time and without a
   * branch; what they read beyond the end is in the same memory and does not count. */
  OZ_D uint32_t chunk(const float *p, uint32_t m, uint32_t n) const {
    uint32_t bits = 0;
    for (uint32_t t = 0; t < n; t += 4) {
      uint32_t four = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t u = 0; u < 4; u++) {
        oz_real q[4];
        oz_ld4(at, m + t + u, 4, 0, q);
        if (distance2(q, p) < radius2) four |= 1u << u;
      }
      bits |= four << t;
    }
    return n < 32 ? bits & ((1u << n) - 1u) : bits;
  }
  /* Whether those at place k and at p, from xi, have come together from afar. */
  OZ_D bool stirred(const float *p, const float *xi, uint32_t k, const float *x) const {
    if (!(calm2 > 0.0f)) return true;
    oz_real q[4];
    oz_ld4(at, k, 4, 0, q);
    const oz_v3 a = {p[0], p[1], p[2]}, b = {xi[0], xi[1], xi[2]}, c = {q[0], q[1], q[2]}, d = {x[0], x[1], x[2]};
    return oz_moved2(a, b, c, d) > calm2;
  }
  /* Takes off what is no neighbour all the same: the particle itself, what is listed already (itself among it), what is calm. */
  OZ_D uint32_t others(uint32_t i, const float *p, const float *xi, uint32_t m, uint32_t bits) const {
    if constexpr (FURTHER)
      for (uint32_t left = bits; left; left &= left - 1) {
        const uint32_t t = lowest(left);
        oz_real q[4];
        oz_ld4(sorted_x, m + t, 4, 0, q);
        if (distance2(q, xi) < skip2 || !stirred(p, xi, m + t, q)) bits &= ~(1u << t);
      }
    else if (i - m < 32) bits &= ~(1u << (i - m));
    return bits;
  }
  /* Which blocks around a cell the k-th of a team looks at, so that all have as much to do and rows come out in the same order
   * whatever the team. Eight cut the first block, of eight cells, in two: their numbers are one more from there on. */
  template <int TEAM> static OZ_D uint32_t bound(uint32_t k) {
    if (TEAM == 8) return k < 4 ? k : k == 4 ? 5 : k == 5 ? 7 : k == 6 ? 10 : k == 7 ? 13 : 15;
    if (TEAM == 4) return k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 3 : k == 3 ? 8 : 14;
    return k ? 14 : 0;
  }
  /* Calls take(m, bits) for every 32 candidates around i that the lane looks at: which of m, m + 1, ... are neighbours. The
   * bits are kept in `mask`, so that looking AGAIN need not test again, unless it is crowded here. */
  template <bool AGAIN, int TEAM, class TAKE> OZ_D void look(uint32_t i, uint32_t lane, uint32_t *mask, bool *crowded, TAKE take) const {
    const uint32_t c = cell_of[i];
    if (c >= capacity) return;
    if (owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY && !(slip && slip[i] > OZ_SLIP_WORD)) return;
    surroundings nearby;
    look_around(c, &nearby);
    oz_real p[4], xi[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t kept = 0;
    oz_ld4(own, i, 4, 0, p);
    if (FURTHER) oz_ld4(x, i, 4, 0, xi);
    const uint32_t end = bound<TEAM>(lane + 1);
    for (uint32_t b = bound<TEAM>(lane); b < end; b++) {
      uint2 r = range(&nearby, TEAM < 8 ? b : b < 2 ? 0 : b - 1);
      if (TEAM == 8 && b < 2) {
        const uint32_t half = r.x + (r.y - r.x) / 2;
        if (b) r.x = half;
        else r.y = half;
      }
      for (uint32_t m = r.x; m < r.y; m += 32) {
        uint32_t bits;
        if (AGAIN && !*crowded) bits = mask[kept++];
        else {
          bits = others(i, p, xi, m, chunk(p, m, r.y - m < 32 ? r.y - m : 32));
          if (!AGAIN) {
            if (kept < MASKS) mask[kept++] = bits;
            else *crowded = true;
          }
        }
        if (bits) take(m, bits);
      }
    }
  }
  /* Particle at place m. */
  OZ_D uint32_t at_place(uint32_t m) const { return FURTHER ? oz_bits_of(at[4 * (size_t)m + 3]) : m; }
  OZ_D void mark(pages *book, uint32_t m, uint32_t bits) const {
    const uint32_t shift = m & 31u, low = bits << shift, high = shift ? bits >> (32u - shift) : 0u;
    if (low) book->mark(m >> 5, low);
    if (high) book->mark((m >> 5) + 1, high);
  }
  OZ_D void mark(no_list *, uint32_t, uint32_t) const {}
  /* Writes the lane's part of row i, from entry `r` on, and the first lane what pads it to a multiple of four: the particle
   * itself. start: place of the row's first entry where each has its own. */
  template <int TEAM> OZ_D void fill(uint32_t i, uint32_t lane, uint32_t *mask, bool *crowded, no_list *, uint32_t, size_t begin, uint32_t r, uint32_t all) const {
    if (FURTHER && !all) return; /* mostly so */
    uint32_t *row = static_cast<uint32_t *>(entries) + begin;
    look<true, TEAM>(i, lane, mask, crowded, [&](uint32_t m, uint32_t bits) {
      for (; bits; bits &= bits - 1, r++)
        if (r < OZ_MAX_NEIGHBOURS) row[entry_at(r)] = at_place(m + lowest(bits));
    });
    for (r = all; lane == 0 && (r & 3u); r++) row[entry_at(r)] = i;
  }
  template <int TEAM> OZ_D void fill(uint32_t i, uint32_t lane, uint32_t *mask, bool *crowded, pages *book, uint32_t start, size_t begin, uint32_t r, uint32_t all) const {
    uint16_t *row = static_cast<uint16_t *>(entries) + begin;
    uint32_t *own_places = near_j + book->first + start;
    const bool full = book->full != 0;
    look<true, TEAM>(i, lane, mask, crowded, [&](uint32_t m, uint32_t bits) {
      if (full) {
        for (; bits; bits &= bits - 1, r++)
          if (r < OZ_MAX_NEIGHBOURS) own_places[r] = m + lowest(bits), row[entry_at(r)] = (uint16_t)(start + r);
        return;
      }
      const uint32_t shift = m & 31u;
      for (uint32_t part = 0; part < 2; part++) {
        uint32_t b = part == 0 ? bits << shift : shift ? bits >> (32u - shift) : 0u;
        if (!b) continue;
        const uint32_t slot = book->find((m >> 5) + part), set = book->bits[slot], before = book->before[slot];
        for (; b; b &= b - 1, r++)
          if (r < OZ_MAX_NEIGHBOURS) row[entry_at(r)] = (uint16_t)(before + popcount(set & ((b & (0u - b)) - 1u)));
      }
    });
    if (lane) return;
    if (full) own_places[all] = i;
    const uint32_t self = full ? start + all : book->place_of(i);
    for (r = all; r & 3u; r++) row[entry_at(r)] = (uint16_t)self;
  }
  OZ_D void note(uint32_t i, uint32_t count) const {
    len[i] = (uint16_t)count;
    if (neighbours) neighbours[i] = count;
    if (place) oz_place_st(place, i, own + 4 * (size_t)i, h);
  }
  /* Of a block's list: where it begins, how long it is. */
  OZ_D void note_share(uint32_t block, const pages *book, bool fits) const {
    near_first[2 * (size_t)block] = book->first, near_first[2 * (size_t)block + 1] = fits ? book->total : 0;
    if (book->total <= most) oz_atomic_max(widest, book->total);
  }
};

#if defined(OZ_CUDA_HOST)
template <class BOOK, bool FURTHER> void search_block(const search<FURTHER> &s, uint32_t first, uint32_t members, BOOK *book) {
  uint32_t count[SHARE], mask[SHARE][MASKS], start[SHARE] = {0}, width[SHARE / GROUP] = {0};
  bool crowded[SHARE] = {false}, fits = true;
  unsigned long long base[SHARE / GROUP];
  for (uint32_t k = 0; k < members; k++) {
    uint32_t n = 0;
    s.template look<false, 1>(first + k, 0, mask[k], &crowded[k], [&](uint32_t m, uint32_t bits) { n += popcount(bits), s.mark(book, m, bits); });
    s.mark(book, first + k, 1u);
    count[k] = capped(n);
    oz_atomic_add(s.total, (unsigned long long)count[k]);
    width[k / GROUP] = width[k / GROUP] > in_fours(count[k]) ? width[k / GROUP] : in_fours(count[k]);
  }
  for (uint32_t g = 0; g * GROUP < members; g++) {
    base[g] = oz_atomic_add(s.asked, (unsigned long long)width[g]);
    s.group[first / GROUP + g] = (uint32_t)base[g];
    fits = fits && base[g] + width[g] <= s.lines;
  }
  if constexpr (std::is_same<BOOK, pages>::value) {
    book->total = 0;
    if (book->full)
      for (uint32_t k = 0; k < members; k++) start[k] = book->total, book->total += count[k] + 1;
    else
      for (uint32_t u = 0; u < book->many; u++) book->number(u);
    const unsigned long long at = oz_atomic_add(s.shared, (unsigned long long)book->total);
    book->first = (uint32_t)at;
    fits = fits && at + book->total <= s.near_room;
    s.note_share(first / SHARE, book, at + book->total <= s.near_room);
    for (uint32_t u = 0; u < book->many && fits && !book->full; u++) {
      const uint32_t p = book->used[u];
      for (uint32_t b = book->bits[p]; b; b &= b - 1) s.near_j[book->first + book->place(p, lowest(b))] = (book->key[p] - 1) * 32 + lowest(b);
    }
  }
  for (uint32_t k = 0; k < members; k++) {
    s.note(first + k, fits ? count[k] : 0);
    if (fits) s.template fill<1>(first + k, 0, mask[k], &crowded[k], book, start[k], (size_t)base[k / GROUP] * GROUP + 4 * (k % GROUP), 0, count[k]);
  }
}
template <class BOOK, bool FURTHER> void search_blocks(const search<FURTHER> &s) {
  static BOOK book;
  for (uint32_t first = 0; first < s.n; first += SHARE) {
    memset(static_cast<void *>(&book), 0, sizeof book);
    search_block(s, first, s.n - first < SHARE ? s.n - first : (uint32_t)SHARE, &book);
  }
}
template <bool FURTHER> cudaError_t search_all(const search<FURTHER> &s, cudaStream_t) {
  if (!FURTHER && s.near_j) search_blocks<pages>(s);
  else search_blocks<no_list>(s);
  return cudaSuccess;
}
#else
/* TEAM threads a particle, P particles a block: P / GROUP groups, or all that share a list. The threads of a warp look at the
 * same blocks of cells for the 32 particles of a group, which are mostly in the same cell. 12 blocks at once are 40 registers a
 * thread: list C of large scenes waits for memory more than it computes. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { HELD = 8 }; /* 1024 threads are all it has */
#else
enum { HELD = 12 };
#endif
template <int TEAM, int P, class BOOK, bool FURTHER>
__global__ void __launch_bounds__(TEAM *P, TEAM == 1 && !FURTHER ? HELD : 0) search_kernel(const __grid_constant__ search<FURTHER> s) {
  constexpr uint32_t GROUPS = P / GROUP, THREADS = TEAM * P;
  constexpr bool SHARED = std::is_same<BOOK, pages>::value;
  __shared__ uint32_t width[GROUPS], found[TEAM][P], begins[SHARED ? P : 1];
  __shared__ unsigned long long base[GROUPS], at;
  __shared__ BOOK book;
  const uint32_t lane = threadIdx.x / GROUP % TEAM, group = threadIdx.x / (GROUP * TEAM), k = group * GROUP + threadIdx.x % GROUP;
  const uint32_t i = blockIdx.x * P + k;
  uint32_t mask[MASKS], count = 0, r = 0, all = 0;
  bool crowded = false;
  if constexpr (SHARED) {
    for (uint32_t p = threadIdx.x; p < PAGES; p += THREADS) book.key[p] = book.bits[p] = 0;
    if (threadIdx.x == 0) book.full = book.total = book.many = 0;
    __syncthreads();
  }
  if (i < s.n) {
    s.template look<false, TEAM>(i, lane, mask, &crowded, [&](uint32_t m, uint32_t bits) { count += __popc(bits), s.mark(&book, m, bits); });
    if (lane == 0) s.mark(&book, i, 1u);
  }
  found[lane][k] = count;
  __syncthreads();
  for (uint32_t t = 0; t < TEAM; t++) {
    if (t == lane) r = all; /* where this thread's part of the row begins */
    all += found[t][k];
  }
  all = capped(all);
  if (lane == 0) {
    uint32_t most = in_fours(all), total = all;
    for (int d = 16; d; d >>= 1) {
      most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
      total += __shfl_xor_sync(0xffffffffu, total, d);
    }
    if (threadIdx.x % GROUP == 0 && total) {
      atomicAdd(s.total, (unsigned long long)total);
      width[group] = most;
      base[group] = atomicAdd(s.asked, (unsigned long long)most);
    } else if (threadIdx.x % GROUP == 0) width[group] = 0, base[group] = 0;
    if (threadIdx.x % GROUP == 0 && i < s.n) s.group[blockIdx.x * GROUPS + group] = (uint32_t)base[group];
  }
  bool fits = true;
  if constexpr (SHARED) {
    if (book.full) {
      if (lane == 0 && i < s.n) begins[k] = atomicAdd(&book.total, all + 1);
    } else
      for (uint32_t u = threadIdx.x; u < book.many; u += THREADS) book.number(u);
    __syncthreads();
    if (threadIdx.x == 0) {
      at = atomicAdd(s.shared, (unsigned long long)book.total);
      book.first = (uint32_t)at;
      s.note_share(blockIdx.x, &book, at + book.total <= s.near_room);
    }
    __syncthreads();
    fits = at + book.total <= s.near_room;
    if (fits && !book.full)
      for (uint32_t u = threadIdx.x / 32; u < book.many; u += THREADS / 32) {
        const uint32_t p = book.used[u], bits = book.bits[p], t = threadIdx.x % 32;
        if (bits >> t & 1u) s.near_j[book.first + book.place(p, t)] = (book.key[p] - 1) * 32 + t;
      }
  } else __syncthreads();
  if (i >= s.n) return;
  fits = fits && base[group] + width[group] <= s.lines;
  if (lane == 0) s.note(i, fits ? all : 0);
  if (fits) s.template fill<TEAM>(i, lane, mask, &crowded, &book, SHARED ? begins[k] : 0, (size_t)base[group] * GROUP + 4 * (i % GROUP), r, all);
}
template <bool FURTHER> cudaError_t search_all(const search<FURTHER> &s, cudaStream_t stream) {
  const uint32_t groups = (s.n + GROUP - 1) / GROUP, blocks = (s.n + SHARE - 1) / SHARE;
  const int team = s.n <= 40000 ? 8 : s.n <= 400000 ? 4 : 1; /* large scenes fill the machine with one thread each */
  if constexpr (!FURTHER)
    if (s.near_j) {
      if (team > 1) search_kernel<4, SHARE, pages, false><<<blocks, SHARE * 4, 0, stream>>>(s);
      else search_kernel<1, SHARE, pages, false><<<blocks, SHARE, 0, stream>>>(s);
      return cudaGetLastError();
    }
  if (team == 8) search_kernel<8, GROUP, no_list, FURTHER><<<groups, GROUP * 8, 0, stream>>>(s);
  else if (team == 4) search_kernel<4, GROUP, no_list, FURTHER><<<groups, GROUP * 4, 0, stream>>>(s);
  else search_kernel<1, SHARE, no_list, FURTHER><<<blocks, SHARE, 0, stream>>>(s);
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

/* Positions in cell order, for the density search. */
struct line_item {
  placement where;
  const float *at, *x;
  float *sorted, *sorted_x;
  motions moves;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = where.member[t], k = where.of(i);
    oz_real v[4];
    oz_ld4(at, i, 4, 0, v);
    v[3] = oz_float_of(i);
    oz_st4(sorted, k, 4, 0, v);
    oz_ld4(x, i, 4, 0, v);
    oz_st4(sorted_x, k, 4, 0, v);
    if (moves.at && t == where.start[where.cell[i]]) box(t, where.start[where.cell[i] + 1]);
  }
  /* Of the cell's displacements: by its first thread, because a launch costs more than that here. */
  OZ_D void box(uint32_t first, uint32_t end) const {
    uint32_t w[3];
    motions::none(w);
    for (uint32_t m = first; m < end; m++) {
      const uint32_t j = where.member[m];
      oz_real p[4], z[4];
      oz_ld4(at, j, 4, 0, p);
      oz_ld4(x, j, 4, 0, z);
      moves.add(w, p, z);
    }
    moves.put(first, w);
  }
};

ooze_result rows_room(gpu *g, rows *r, uint64_t lines, size_t entry, ooze_message *why) {
  if (lines > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbour entries; a list holds %llu", (unsigned long long)lines * GROUP,
                   (unsigned long long)UINT32_MAX * GROUP);
  return grow(g, &r->entries, (size_t)lines * GROUP * entry, "neighbour lists", why);
}
/* What a search counts begins at zero. */
ooze_result clear_groups(gpu *g, ooze_message *why) {
  if (!g->groups_clear) OZ_CUDA(cudaMemsetAsync(&device_news(g)->groups, 0, offsetof(news, scalar) - offsetof(news, groups), g->stream), "lists");
  g->groups_clear = false;
  return OOZE_OK;
}
ooze_result shares_room(gpu *g, uint64_t entries, ooze_message *why) {
  if (entries > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbours of blocks; a list holds %llu", (unsigned long long)entries,
                   (unsigned long long)UINT32_MAX);
  return grow(g, &g->near_j, (size_t)entries * 4, "neighbour lists", why);
}

/* By the news: did list C have room, and the further rows? Makes it where not. */
ooze_result fit_near(gpu *g, bool *fits, ooze_message *why) {
  const news *n = g->host_news;
  const bool shared = lanes_for(g) <= STORED_ABOVE;
  const size_t entry = shared ? 2 : 4;
  const uint64_t lines = g->c.entries.bytes / (GROUP * entry), room = g->near_j.bytes / 4;
  g->knows_near = *fits = false;
  if (!g->by_table && n->cells > g->grid.capacity) return cells_room(g, n->cells + n->cells / 4 + 1024, why);
  /* a substep that found too little room was for nothing where nobody waited to hear so: small scenes get more of it */
  const uint64_t spare = g->count <= LATE_MOST ? 4 : 16;
  if (n->groups[0] > lines) return rows_room(g, &g->c, n->groups[0] + n->groups[0] / spare + 1024, entry, why);
  if (shared && n->shared > room) return shares_room(g, n->shared + n->shared / spare + 1024, why);
  g->knows_near = *fits = true;
  g->widest = n->widest;
  g->mean_neighbours = (double)n->neighbours / g->count;
  return OOZE_OK;
}
ooze_result fit_further(gpu *g, bool *fits, ooze_message *why) {
  const news *n = g->host_news;
  g->knows_further = *fits = false;
  if (!g->by_table && n->cells > g->grid.capacity) return cells_room(g, n->cells + n->cells / 4 + 1024, why);
  /* their number changes by much from one substep to the next */
  const uint64_t wish = n->groups[1], spare = g->count > LATE_MOST ? wish / 4 + 1024 : wish > 8192 ? wish : 8192;
  if (wish > g->extra.entries.bytes / (GROUP * 4)) return rows_room(g, &g->extra, wish + spare, 4, why);
  g->knows_further = *fits = true;
  return OOZE_OK;
}

} // namespace

ooze_result tell_due(gpu *g, ooze_message *why) {
  if (!g->untold) return OOZE_OK;
  g->untold = false;
  return tell_news(g, why);
}

/* The host comes here while the device is still at what followed: nobody waits. */
ooze_result check_due(gpu *g, ooze_message *why) {
  const uint32_t due = g->due;
  bool near = true, slots = true, further = true;
  g->due = 0;
  if (!due) return OOZE_OK;
  OZ_TRY(tell_due(g, why));
  OZ_TRY(await_news(g, why));
  if (due & DUE_NEAR) OZ_TRY(fit_near(g, &near, why));
  if (due & DUE_WALLS) OZ_TRY(fit_walls(g, &slots, why));
  if (due & DUE_FURTHER) OZ_TRY(fit_further(g, &further, why));
  return near && slots && further ? OOZE_OK : OZ_AGAIN;
}

ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_LISTS);
  const bool shared = lanes_for(g) <= STORED_ABOVE;
  const bool late = goes_on(g, f) && g->knows_near;
  const size_t entry = shared ? 2 : 4;
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  /* a lattice has rows of 32; what has melted some 43, and the longest of 32 some 55: where nobody waits there is room for it from the start */
  const bool roomy = g->count <= LATE_MOST;
  if (!g->c.entries.at) OZ_TRY(rows_room(g, &g->c, (uint64_t)g->count / GROUP * (roomy ? 60 : 35) + 4096, entry, why));
  if (shared && !g->near_j.at) OZ_TRY(shares_room(g, roomy ? (uint64_t)g->count * 7 + 4096 : (uint64_t)g->count * 19 / 4 + 4096, why));
  if (shared) OZ_TRY(grow(g, &g->near_first, ((size_t)g->capacity / SHARE + 1) * 8, "neighbour lists", why));
  for (;;) {
    const uint64_t lines = g->c.entries.bytes / (GROUP * entry), room = g->near_j.bytes / 4;
    OZ_TRY(clear_groups(g, why));
    if (!g->by_table) OZ_TRY(find_cells(g, g->count, f->x, nullptr, nullptr, nullptr, motions{}, why));
    search<false> s = {};
    s.own = s.at = f->x;
    s.cell_of = as<uint32_t>(g->cell_of), s.around = g->by_table ? nullptr : as<uint2>(g->grid.around), s.table = as<uint32_t>(g->table);
    for (int k = 0; k < 3; k++) s.last[k] = g->last[k];
    s.n = g->count, s.capacity = g->by_table ? UINT32_MAX : g->grid.capacity;
    s.radius2 = f->h2;
    s.entries = g->c.entries.at, s.group = as<uint32_t>(g->c.group), s.len = as<uint16_t>(g->c.len), s.lines = lines;
    if (shared) {
      s.near_first = as<uint32_t>(g->near_first), s.near_j = as<uint32_t>(g->near_j), s.near_room = room;
      s.shared = &device_news(g)->shared, s.widest = &device_news(g)->widest, s.most = g->share_most;
    }
    s.asked = &device_news(g)->groups[0], s.total = &device_news(g)->neighbours;
    s.neighbours = f->neighbours, s.place = g->place, s.h = f->h, s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
    OZ_CUDA(search_all(s, g->stream), "neighbour search");
    if (late) { /* there was room in the last substep, so mostly there is in this one */
      g->due = DUE_NEAR;
      g->untold = true;
      break;
    }
    bool fits;
    OZ_TRY(bring_news(g, why));
    OZ_TRY(fit_near(g, &fits, why));
    if (fits) break;
  }
  g->starts = !g->by_table;
  f->row_c = as<uint32_t>(g->c.group), f->len_c = as<uint16_t>(g->c.len);
  f->list_c = shared ? nullptr : as<uint32_t>(g->c.entries);
  f->near_c = shared ? as<uint16_t>(g->c.entries) : nullptr;
  f->near_first = as<uint32_t>(g->near_first), f->near_j = as<uint32_t>(g->near_j);
  /* what has no room gathers without: slower, the same bits */
  const uint32_t wide = (g->widest + (late ? 95u : 31u)) & ~31u, most = (g->share_most + 31u) & ~31u;
  g->share_room = !shared ? 0 : wide < most ? wide : most;
  f->ghat = nullptr;
  if (!shared) {
    OZ_TRY(grow(g, &g->ghat, g->c.entries.bytes * 2, "gradients", why));
    f->ghat = as<uint16_t>(g->ghat);
    ghat_item item = {*f, g->place, f->ghat, {}};
    item.u.set(*f);
    OZ_CUDA(each(g->stream, 4 * g->count, item), "gradients");
  }
  out->mean_neighbours = g->mean_neighbours;
  return OOZE_OK;
}

ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  out->rebuilt = 0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(check_due(g, why));
  out->mean_neighbours = g->mean_neighbours;
  const bool late = goes_on(g, f) && g->knows_further;
  timer t(g, TIMER_DENSITY_LIST);
  if (!g->extra.entries.at) OZ_TRY(rows_room(g, &g->extra, (uint64_t)g->count / GROUP * (g->count <= LATE_MOST ? 12 : 2) + 8192, 4, why));
  /* the iterations move particles further: the model knows how far. Where that is more than 1.01 h, a little more still: links
   * settle otherwise than they did (verify links.fig8 and links.fig11) */
  const float beyond = f->reach - f->h, radius = beyond > 0.015f * f->h ? f->h + 1.32f * beyond : f->reach, cell = 1.01f * radius;
  /* cells of the start, with two around them for what has moved; what is beyond shares the outermost */
  int low[3];
  uint32_t last[3];
  for (int k = 0; k < 3; k++) low[k] = (int)floorf((float)g->grid.low[k] * (g->cell / cell)) - 2, last[k] = g->last[k] + 4;
  const bool starts = g->starts;
  g->starts = false;
  g->by_table = tabled(g, last);
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  /* rows in the order of list C's: that is one of state alone, and here nobody asks for another */
  key_item key = key_of(f->p, nullptr, cell, low, last);
  uint32_t count = g->count;
  motions moves;
  moves.set(f);
  if (moves.at && starts && !g->by_table && !late && g->count >= 1024 && !(g->sift_rest && g->sift_rest--)) {
    OZ_TRY(sift(g, f, moves, &key.upto, &count, why));
    key.cell_of = as<uint32_t>(g->cell_of);
    g->sift_rest = count > g->count / 4 * 3 ? 7 : 0;
  }
  if (!count) { /* rows without entries */
    OZ_CUDA(cudaMemsetAsync(g->extra.len.at, 0, (size_t)g->count * 2, g->stream), "neighbour lists");
    OZ_CUDA(cudaMemsetAsync(g->extra.group.at, 0, ((size_t)g->count + GROUP - 1) / GROUP * 4, g->stream), "neighbour lists");
  }
  while (count) {
    const uint64_t lines = g->extra.entries.bytes / (GROUP * 4);
    if (g->by_table) { /* A and dx are free until the first iteration */
      placement where;
      OZ_TRY(table_cells(g, key, as<uint32_t>(g->cell_of), &where, why));
      OZ_CUDA(each(g->stream, g->count, line_item{where, f->p, f->x, f->A, f->dx, moves}), "cells");
    } else {
      OZ_TRY(order_by_cell(g, key, count, why));
      OZ_TRY(find_cells(g, count, f->p, f->x, f->A, f->dx, moves, why));
    }
    OZ_TRY(clear_groups(g, why));
    search<true> s = {};
    s.own = f->p, s.at = f->A;
    s.cell_of = as<uint32_t>(g->cell_of), s.around = g->by_table ? nullptr : as<uint2>(g->grid.around), s.table = as<uint32_t>(g->table);
    for (int k = 0; k < 3; k++) s.last[k] = last[k];
    s.n = g->count, s.capacity = g->by_table ? UINT32_MAX : g->grid.capacity;
    s.radius2 = radius * radius;
    s.x = f->x, s.sorted_x = f->dx, s.skip2 = f->h2, s.calm2 = f->calm2;
    if (g->by_table) s.moves = moves;
    s.entries = g->extra.entries.at, s.group = as<uint32_t>(g->extra.group), s.len = as<uint16_t>(g->extra.len), s.lines = lines;
    s.asked = &device_news(g)->groups[1], s.total = &device_news(g)->neighbours;
    s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
    OZ_CUDA(search_all(s, g->stream), "neighbour search");
    if (late) {
      OZ_TRY(tell_news(g, why));
      g->due = DUE_FURTHER;
      break;
    }
    bool fits;
    OZ_TRY(bring_news(g, why));
    OZ_TRY(fit_further(g, &fits, why));
    if (fits) break;
  }
  f->list_d[0] = f->list_c, f->row_d[0] = f->row_c, f->len_d[0] = f->len_c;
  f->list_d[1] = as<uint32_t>(g->extra.entries), f->row_d[1] = as<uint32_t>(g->extra.group), f->len_d[1] = as<uint16_t>(g->extra.len);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
