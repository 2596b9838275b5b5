/* Cells along a space-filling curve, for the sort and the searches.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_CELLS_H
#define OZ_CUDA_CELLS_H

#include "cuda/gpu.h"

#include "physics/lanes.h"
#include "physics/morton.h"

#include <cmath>

namespace OZ_NAMESPACE {

enum { CELL_LIMIT = (1 << 20) - 2 };

/* For loops that lanes leave at different times: unrolled, the warp would run each lane's
 * remainder. */
#if defined(__CUDACC__)
#define OZ_NO_UNROLL _Pragma("unroll 1")
#else
#define OZ_NO_UNROLL
#endif

/* Index of the lowest set bit; number of set bits. */
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
OZ_FN uint64_t morton(uint32_t x, uint32_t y, uint32_t z) {
  return oz_spread(x) | oz_spread(y) << 1 | oz_spread(z) << 2;
}
/* Cell coordinate along one axis; a far position, or NaN, shares the outermost cells. */
#if defined(OZ_CUDA_HOST)
OZ_FN
#else
static __host__ __device__ __forceinline__ /* births extend the box on the host */
#endif
int coordinate(float x, float inv) {
  float c = floorf(x * inv);
  if (!(c > -(float)CELL_LIMIT)) c = -(float)CELL_LIMIT;
  if (c > (float)CELL_LIMIT) c = (float)CELL_LIMIT;
  return (int)c;
}
OZ_FN float distance2(const float *a, const float *b) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return fmaf(x, x, fmaf(y, y, z * z));
}
/* A word whose sign bit is set if a and b are within the root of r2. The start list and the search
 * that excludes its pairs round alike. */
OZ_FN uint32_t nearness(const float *a, const float *b, float r2) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return oz_bits_of(fmaf(z, z, fmaf(y, y, fmaf(x, x, -r2))));
}
/* Offset of entry r in a row: fours, interleaved with those of the group's other particles. */
OZ_FN uint32_t entry_at(uint32_t r) { return (r >> 2) * (4 * GROUP) + (r & 3u); }
OZ_FN uint32_t clamp_length(uint32_t n) { return n < OZ_MAX_NEIGHBOURS ? n : OZ_MAX_NEIGHBOURS; }
OZ_FN uint32_t in_fours(uint32_t n) { return (n + 3u) & ~3u; }

/* The Morton code of a cell whose coordinates have up to 10 bits. */
OZ_FN uint32_t short_spread(uint32_t v) {
  v = (v | v << 16) & 0x030000ffu;
  v = (v | v << 8) & 0x0300f00fu;
  v = (v | v << 4) & 0x030c30c3u;
  return (v | v << 2) & 0x09249249u;
}
OZ_FN uint32_t short_morton(uint32_t x, uint32_t y, uint32_t z) {
  return short_spread(x) | short_spread(y) << 1 | short_spread(z) << 2;
}

struct key_item {
  const float *at;
  const uint32_t *rank;
  float inv;
  int low[3];
  int last[3]; /* largest coordinates above low, where positions beyond are clamped; or with
                  `round`: */
  /* `last` are the bits of a coordinate that count, so that coordinates wrap around (see wrap_bits)
   */
  uint32_t round;
  uint32_t *key32;
  uint64_t *key64; /* one of the two is set */
  uint32_t *order;
  /* Subset: inclusive count of its particles; the others have no cell. NULL: all particles. */
  const uint32_t *upto;
  uint32_t *cell_of;
  OZ_D void cell(const float *p, uint32_t c[3]) const {
    for (int k = 0; k < 3; k++) {
      int v = coordinate(p[k], inv) - low[k];
      c[k] = (uint32_t)(v < 0 ? 0 : v > last[k] ? last[k] : v);
    }
  }
  OZ_D uint64_t of(uint32_t i) const {
    const float *p = at + 4 * (size_t)i;
    uint32_t c[3];
    if (round)
      for (int k = 0; k < 3; k++) c[k] = (uint32_t)(coordinate(p[k], inv) & last[k]);
    else
      cell(p, c);
    return morton(c[0], c[1], c[2]);
  }
  OZ_D void operator()(uint32_t i) const {
    /* by ascending id, so that a stable sort leaves (cell, id); or in the present order */
    uint32_t to = rank ? rank[i] : i;
    if (upto) {
      to = i ? upto[i - 1] : 0;
      if (upto[i] == to) {
        cell_of[i] = 0xffffffffu;
        return;
      }
    }
    const uint64_t key = of(i);
    if (key32)
      key32[to] = (uint32_t)key;
    else
      key64[to] = key;
    order[to] = i;
  }
};

/* Returns the count before: for `within`. */
OZ_D uint32_t count_particle(const cell_counter &to, uint32_t i, const int cell[3]) {
  const uint32_t k =
      short_morton((uint32_t)(cell[0] & to.bits[0]), (uint32_t)(cell[1] & to.bits[1]),
                   (uint32_t)(cell[2] & to.bits[2]));
  to.cell[i] = k;
  return oz_atomic_add(to.table + k, 1u);
}

enum { CELL_TABLE_BITS = 8 }; /* an axis, at most */

/* Place of particle i in cell k: ranks of a cell are adjacent, in any order (fill_item). */
struct placement {
  const uint32_t *start, *cell, *ranks, *rank;
  OZ_D uint32_t of(uint32_t i, uint32_t k) const {
    const uint32_t mine = rank[i], first = start[k], end = start[k + 1];
    uint32_t at = first;
    for (uint32_t m = first; m < end; m++) at += ranks[m] < mine;
    return at;
  }
};

/* Displacements of a cell's particles since the start, as a box, for searches that skip static
 * cells (OZ_MIN_APPROACH): of each axis a word with the minimum and the minimum of the negated, 16
 * bits each, rounded outward. */
enum { STATIC_UNITS = 32 };
struct displacement_boxes {
  uint32_t *at;                 /* 4 words each, by cell. NULL: not wanted */
  float scale;                  /* units a metre: STATIC_UNITS are the static limit */
  void set(const oz_frame *f) { /* y2 is free until the first conform_move */
    at = f->min_approach2 > 0.0f ? reinterpret_cast<uint32_t *>(f->y2) : nullptr;
    scale = at ? (float)STATIC_UNITS / sqrtf(f->min_approach2) : 0.0f;
  }
  static OZ_D uint32_t least(uint32_t a, uint32_t b) { /* signed, of both halves */
#if defined(__CUDACC__)
    return __vmins2(a, b);
#else
    const int16_t al = (int16_t)a, bl = (int16_t)b, ah = (int16_t)(a >> 16),
                  bh = (int16_t)(b >> 16);
    return (uint32_t)(uint16_t)(al < bl ? al : bl) | (uint32_t)(uint16_t)(ah < bh ? ah : bh) << 16;
#endif
  }
  static OZ_D void set_empty(uint32_t w[3]) { w[0] = w[1] = w[2] = 0x7fff7fffu; }
  static OZ_D void merge(uint32_t w[3], const uint32_t other[3]) {
    for (int k = 0; k < 3; k++) w[k] = least(w[k], other[k]);
  }
  OZ_D void add(uint32_t w[3], const float *p, const float *x) const {
    for (int k = 0; k < 3; k++) {
      const float v = (p[k] - x[k]) * scale;
      int low = -32767, high = -32767; /* too far for 16 bits, or NaN: never static */
      if (fabsf(v) < 32000.0f) low = (int)floorf(v), high = (int)floorf(-v);
      w[k] = least(w[k], (uint32_t)(low & 0xffff) | (uint32_t)high << 16);
    }
  }
  OZ_D void merge_cell(uint32_t w[3], uint32_t cell) const {
    uint32_t other[4];
    oz_entries_ld(at + 4 * (size_t)cell, other);
    merge(w, other);
  }
  OZ_D void put(uint32_t cell, const uint32_t w[3]) const {
    for (int k = 0; k < 3; k++) at[4 * (size_t)cell + k] = w[k];
  }
  /* Whether no two particles of a box with these sides can have moved apart by the static limit;
   * 0.1 units less, for rounding. */
  static OZ_D bool is_static(int x, int y, int z) {
    const uint32_t a = clamped(x), b = clamped(y), c = clamped(z);
    return a * a + b * b + c * c < STATIC_UNITS * STATIC_UNITS - 6; /* 31.9^2 = 1017.6 */
  }
  /* clamped so that squares fit */
  static OZ_D uint32_t clamped(int x) {
    return (uint32_t)x < 2u * STATIC_UNITS ? (uint32_t)x : 2u * STATIC_UNITS;
  }
  static OZ_D int side(uint32_t w) {
    return -(int)(int16_t)(w & 0xffffu) - (int)(int16_t)(w >> 16);
  }
  static OZ_D bool is_static(const uint32_t w[3]) {
    return is_static(side(w[0]), side(w[1]), side(w[2]));
  }
};

/* The 27 cells around a cell, as 14 blocks of cells with consecutive Morton codes, hence
 * consecutive particles: along each axis two of the three cells are a pair (an even coordinate and
 * the next), the third is single. Of block b: which of an axis' three (even one of the pair, odd
 * one, single), for x, y and z, and the number of cells. */
OZ_FN void block_parts(uint32_t b, uint32_t *x, uint32_t *y, uint32_t *z, uint32_t *cells) {
  *x = b < 5 ? 0 : 2;
  *y = b < 2 ? 0 : b < 5 || b > 10 ? 2 : (b - 5) & 1u;
  *z = b == 0               ? 0
       : b == 2 || b == 3   ? b - 2
       : b >= 5 && b < 9    ? (b - 5) >> 1
       : b == 11 || b == 12 ? b - 11
                            : 2;
  *cells = b == 0 ? 8 : b == 1 ? 4 : b < 5 ? 2 : 1;
}
/* The same of cell k of the 27, by block and by Morton code within a block. */
OZ_FN void cell_parts(uint32_t k, uint32_t which[3]) {
  which[0] = k < 18 ? k & 1u : 2;
  which[1] = k < 12 ? k >> 1 & 1u : k < 18 || k > 23 ? 2 : k & 1u;
  which[2] = k < 8 ? k >> 2 : k < 12 ? 2 : k < 18 ? (k - 12) >> 1 : k < 24 ? (k - 18) >> 1 : k - 24;
}

/* The table of moved cells (moved_cells.cu): a slot for every cell of the box, row after row; in a
 * large box, cells that are a power of two apart share a slot. That enlarges boxes and lists, and
 * changes no row: the 27 cells around a cell have distinct slots.
 *
 * The particles of a slot: for each 32 consecutive particles a word of bits. The first words, in
 * order of arrival, have places of their own, so that one trip to memory loads them; others are
 * linked, ascending. */
struct cell_table {
  enum : uint32_t {
    /* words of a slot: the box of displacements, of each axis its extent below zero, then above
       (end_of; 0: empty) */
    ENDS = 6,
    WORD_COUNT = 6, /* number of words on its list */
    /* 0, or the first linked word: one more than the first of its particles */
    LINKED = 7,
    WORDS = 8,
    OWN_WORDS =
        4, /* words with a place of their own; 98% of the cells of the honey scene have no more */
    NO_CELL = 0xffffffffu,
    BITS = 10, /* of a coordinate */
    COORDINATE = (1u << BITS) - 1u
  };
  uint32_t *at; /* slots */
  /* by slot, OWN_WORDS times: number of the 32 particles, bits. Only WORD_COUNT of them are valid
   */
  uint32_t *words;
  uint32_t *linked; /* by particle: the next or 0, bits */
  uint32_t empty;   /* the slot behind the last, always empty */
  /* greatest coordinate (none on an axis with shared slots), bits of it that count, stride */
  uint32_t last[3], bits[3], step[3];
  /* Sets these for at most about `most` slots; returns the number of slots. */
  uint32_t fold(const int greatest[3], uint32_t most) {
    uint32_t size[3], n = 1;
    for (int k = 0; k < 3; k++)
      last[k] = (uint32_t)greatest[k], bits[k] = COORDINATE, size[k] = last[k] + 1;
    while ((uint64_t)size[0] * size[1] * size[2] > most) {
      int k = size[1] > size[0] ? 1 : 0;
      if (size[2] > size[k]) k = 2;
      if (size[k] <= 4) break; /* the three cells along an axis stay distinct */
      uint32_t half = 4;
      while (2 * half < size[k]) half *= 2;
      size[k] = half, bits[k] = half - 1, last[k] = 0xffffffffu;
    }
    for (int k = 0; k < 3; k++) step[k] = n, n *= size[k];
    return empty = n;
  }
  /* A cell: its three coordinates. */
  static OZ_D uint32_t word(const uint32_t c[3]) {
    return c[0] | c[1] << BITS | c[2] << (2 * BITS);
  }
  static OZ_D uint32_t coordinate(uint32_t word, uint32_t axis) {
    return word >> (BITS * axis) & COORDINATE;
  }
  OZ_D uint32_t slot(uint32_t x, uint32_t y, uint32_t z) const {
    return (x & bits[0]) * step[0] + (y & bits[1]) * step[1] + (z & bits[2]) * step[2];
  }
  /* Slot of a cell some steps away from c; the empty slot beyond the edge. */
  OZ_D uint32_t neighbour_slot(const uint32_t c[3], uint32_t dx, uint32_t dy, uint32_t dz) const {
    const uint32_t x = c[0] + dx, y = c[1] + dy, z = c[2] + dz;
    return (x <= last[0]) & (y <= last[1]) & (z <= last[2]) ? slot(x, y, z) : empty; /* -1 wraps */
  }
  OZ_D uint32_t *of(uint32_t slot) const { return at + (size_t)slot * WORDS; }
  static OZ_D uint2 load_two(const uint32_t *a) { return *reinterpret_cast<const uint2 *>(a); }
  OZ_D void load_box(uint32_t slot, uint32_t end[ENDS]) const {
    oz_entries_ld(of(slot), end);
    const uint2 rest = load_two(of(slot) + 4);
    end[4] = rest.x, end[5] = rest.y;
  }
  /* One end of an axis, from 16 bits of displacement_boxes: the greatest is the outermost, and all
   * are positive. */
  static OZ_D uint32_t end_of(uint32_t least) { return (uint32_t)(32768 - (int)(int16_t)least); }
  /* Whether no particle of two cells can have moved by the static limit relative to another of the
   * two. */
  static OZ_D bool is_static(const uint32_t *a, const uint32_t *b) {
    int side[3];
    for (int k = 0; k < 3; k++)
      side[k] =
          (int)((a[k] > b[k] ? a[k] : b[k]) + (a[k + 3] > b[k + 3] ? a[k + 3] : b[k + 3])) - 65536;
    return displacement_boxes::is_static(side[0], side[1], side[2]);
  }

  /* ---- lists ---- */

  OZ_D uint32_t *link(uint32_t e) const { return linked + 2 * (size_t)(e - 1); }
  OZ_D uint2 load_link(uint32_t e) const {
    const uint2 none = {0, 0};
    return e ? load_two(link(e)) : none;
  }
  static OZ_D uint32_t now(const uint32_t *a) { return *static_cast<const volatile uint32_t *>(a); }
  /* Adds a word to the list of a slot, at the place taken for it: bits of 32 particles, and the
   * first of them. Concurrent with others. */
  OZ_D uint32_t reserve_word(uint32_t slot) const {
    return oz_atomic_add(of(slot) + WORD_COUNT, 1u);
  }
  OZ_D void put(uint32_t slot, uint32_t place, uint32_t first, uint32_t which) const {
    if (place < OWN_WORDS) {
      uint32_t *to = words + 2 * ((size_t)slot * OWN_WORDS + place);
      to[0] = first / 32, to[1] = which;
      return;
    }
    uint32_t *from = of(slot) + LINKED, *mine = link(first + 1);
    mine[1] = which;
    for (;;) {
      uint32_t next = now(from);
      while (next && next <= first) from = link(next), next = now(from);
      mine[0] = next;
      oz_fence();
      if (oz_atomic_cas(from, next, first + 1) == next) return;
    }
  }
  /* The list of a slot, loaded in one trip. */
  struct slot_list {
    uint32_t number[OWN_WORDS], which[OWN_WORDS]; /* ascending; then NO_CELL and 0 */
    uint32_t further;
    OZ_D void sort_pair(uint32_t a, uint32_t b) {
      if (number[a] <= number[b]) return;
      const uint32_t n = number[a], w = which[a];
      number[a] = number[b], which[a] = which[b], number[b] = n, which[b] = w;
    }
  };
  OZ_D slot_list load_list(uint32_t slot) const {
    slot_list m;
    uint32_t w[2 * OWN_WORDS];
    const uint2 list = load_two(of(slot) + WORD_COUNT);
    const uint32_t many = list.x;
    m.further = list.y;
    for (uint32_t k = 0; k < 2 * OWN_WORDS; k += 4)
      oz_entries_ld(words + 2 * (size_t)slot * OWN_WORDS + k, w + k);
    for (uint32_t k = 0; k < OWN_WORDS; k++)
      m.number[k] = k < many ? w[2 * k] : (uint32_t)NO_CELL,
      m.which[k] = k < many ? w[2 * k + 1] : 0u;
    static_assert(OWN_WORDS == 4, "these are put in order here");
    m.sort_pair(0, 1), m.sort_pair(2, 3), m.sort_pair(0, 2), m.sort_pair(1, 3), m.sort_pair(1, 2);
    return m;
  }
  /* Calls take(number, which) for each 32 with particles in the slot, ascending. */
  template <class TAKE> OZ_D void for_each_word(slot_list m, TAKE take) const {
    uint32_t e = m.further;
    uint2 entry = load_link(e);
    for (;;) {
      const uint32_t there = e ? (e - 1) / 32 : (uint32_t)NO_CELL;
      if (m.number[0] < there) {
        take(m.number[0], m.which[0]);
        for (uint32_t k = 1; k < OWN_WORDS; k++)
          m.number[k - 1] = m.number[k], m.which[k - 1] = m.which[k];
        m.number[OWN_WORDS - 1] = NO_CELL;
      } else if (e) {
        take(there, entry.y);
        e = entry.x, entry = load_link(e);
      } else
        return;
    }
  }
};

/* ---- cell_order.cu ---- */
/* Orders those n particles that have a key by cell, in buffer g->sorter.current. */
ooze_result order_by_cell(gpu *g, const key_item &key, uint32_t n, ooze_message *why);

/* ---- cells.cu ---- */
uint32_t bits_for(const uint32_t last[3]); /* of a coordinate */
/* Cells at positions `at`; within a cell by rank, or NULL: in the present order. */
key_item clamped_key(const float *at, const uint32_t *rank, float cell, const int low[3],
                     const uint32_t last[3]);
/* The same with coordinates that wrap around: these bits of each count. */
key_item wrapped_key(const float *at, const uint32_t *rank, float cell, const uint32_t bits[3]);
/* Cells of the start list: coordinates modulo a power of two, so that the order depends on the
 * number of bits of the box's sides, and not on its position, and is known before the box is.
 * Particles that meet at the ends are far apart, and no neighbours; with at least four cells an
 * axis, the three around a cell are distinct. */
void wrap_bits(const uint32_t last[3], uint32_t bits[3]);
bool uses_cell_table(const gpu *g, const uint32_t last[3]); /* whether the counting sort pays */
void fold_wrap(const gpu *g, uint32_t last[3]);             /* shorter wraps, where it does not */
/* Whether the density list looks for moved cells by their table. */
bool uses_moved_cells(const gpu *g, const uint32_t last[3]);
uint64_t morton_codes(const uint32_t last[3]); /* size of its table */
/* Particles by cell, by counting sort. counted: finish has filled the counters. in: ALONE, or
 * CHAINED, where dependent launches follow. The order within a cell is left to a placement. */
ooze_result table_cells(gpu *g, const key_item &key, bool counted, chain in, placement *out,
                        ooze_message *why);
/* Orders all n particles by cell for the density list, by counting sort with a wrap; done: whether
 * that pays, and was done. */
ooze_result order_by_count(gpu *g, const key_item &key, uint32_t n, uint32_t wrap[3], bool *done,
                           ooze_message *why);
/* Cells of the n particles as sorted last; round: bits of a wrapped key, or NULL. `sorted`, if
 * given, receives positions in cell order; with displacement boxes the blocks that are static as
 * seen from a cell become empty. chained: dependent launches, behind one that may trigger. */
ooze_result find_cells(gpu *g, uint32_t n, const uint32_t *round, const float *at, const float *x,
                       float *sorted, float *sorted_x, const displacement_boxes &moves,
                       bool chained, ooze_message *why);
ooze_result reserve_cells(gpu *g, uint32_t wished_blocks, ooze_message *why);

/* static_cells.cu: number of particles that may have pairs to add, and an inclusive count of them
 * by particle. Needs the start list's cells; uses A and y2. */
ooze_result sift(gpu *g, const oz_frame *f, const displacement_boxes &moves, const uint32_t **upto,
                 uint32_t *out, ooze_message *why);

} // namespace OZ_NAMESPACE
#endif
