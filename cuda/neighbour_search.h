/* The neighbour search of one particle: tests of the candidates around its cell, the list that a
 * block shares, and the writing of a row. Included by neighbour_lists.cu, inside its namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_NEIGHBOUR_SEARCH_H
#define OZ_CUDA_NEIGHBOUR_SEARCH_H

/* `bits` shifted up by one, and the sign bit of `word` below them. */
OZ_FN uint32_t shifted_in(uint32_t bits, uint32_t word) {
#if defined(__CUDACC__)
  return __funnelshift_l(word, bits, 1);
#else
  return bits << 1 | word >> 31;
#endif
}
/* A candidate's position: 12 of its 16 bytes, in two loads. The tests are bound by words from the
 * first-level cache (ncu: 4 cycles a load of 16 bytes, though all lanes load the same), more than
 * by instructions. */
OZ_FN void load_position(const float *q, float v[3]) {
#if defined(__CUDA_ARCH__) /* explicit, since the compiler might issue three loads */
  asm volatile("ld.global.v2.f32 {%0, %1}, [%3];\n\tld.global.f32 %2, [%3 + 8];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2])
               : "l"(q));
#else
  v[0] = q[0], v[1] = q[1], v[2] = q[2];
#endif
}
/* Bit t of a word, or 0 from 32 on. */
OZ_FN uint32_t bit_at(uint32_t t) {
#if defined(__CUDACC__)
  return __funnelshift_lc(0u, 1u, t);
#else
  return t < 32u ? 1u << t : 0u;
#endif
}
#if defined(__CUDACC__)
#define OZ_TABLE static __constant__ const
#else
#define OZ_TABLE static const
#endif
#include "cuda/block_list.h"

/* ---- the search ---- */

/* Result of the first pass, for the second: where neighbours are (from m on, or a page, and later
 * its handle), and which, as bits. */
/* the honey scene has 10 a particle, 22 at most; beyond that the second pass tests again */
enum { PIECES = 24 };
struct piece {
  uint32_t where, bits;
};
/* the last one absorbs overflow, and a prefetch */
typedef piece pieces[PIECES + 1];
struct found {            /* without the pieces, which are in local memory */
  uint32_t pieces, count; /* count: of neighbours */
  OZ_D void add(piece *to, uint32_t where, uint32_t bits) {
    if (!bits) return;
    /* overflow goes to the last piece, without a branch */
    const uint32_t k = pieces < PIECES ? pieces : (uint32_t)PIECES;
    to[k].where = where, to[k].bits = bits;
    pieces++;
  }
  OZ_D bool crowded() const { return pieces > PIECES; }
};

/* Blocks around a cell (cells.h): bits of the axes along which they take the single cell; and of
 * the others which of the pair, with the number of cells above these three bits. */
enum { AXIS_BITS = 0x09249249 };
struct block_code {
  uint32_t alone, rest;
};
#define OZ_BLOCK(x, y, z, odd_y, odd_z, cells) \
  { ((x) + 2u * (y) + 4u * (z)) * AXIS_BITS, (odd_y)*2u + (odd_z)*4u + (cells)*8u }
OZ_TABLE block_code block_codes[BLOCKS_AROUND] = {
    OZ_BLOCK(0, 0, 0, 0, 0, 8), OZ_BLOCK(0, 0, 1, 0, 0, 4), OZ_BLOCK(0, 1, 0, 0, 0, 2),
    OZ_BLOCK(0, 1, 0, 0, 1, 2), OZ_BLOCK(0, 1, 1, 0, 0, 2), OZ_BLOCK(1, 0, 0, 0, 0, 1),
    OZ_BLOCK(1, 0, 0, 1, 0, 1), OZ_BLOCK(1, 0, 0, 0, 1, 1), OZ_BLOCK(1, 0, 0, 1, 1, 1),
    OZ_BLOCK(1, 0, 1, 0, 0, 1), OZ_BLOCK(1, 0, 1, 1, 0, 1), OZ_BLOCK(1, 1, 0, 0, 0, 1),
    OZ_BLOCK(1, 1, 0, 0, 1, 1), OZ_BLOCK(1, 1, 1, 0, 0, 1)};
#undef OZ_BLOCK

struct search_args {
  const float *own; /* record 4: position of each particle */
  const float *at;  /* record 4 in cell order */
  const uint32_t *cell_of;
  const uint2 *around;   /* 14 ranges a cell, or NULL: */
  const uint32_t *table; /* first particle by Morton code, if cells are numbered so; */
  uint32_t of_axis[3];   /* its bits of each axis (see set_wrap) */
  uint32_t n, capacity;
  float radius2;
  /* DENSITY: pairs within skip2 at the start are listed already. x: start positions by particle
   * (record 4); sorted_x: in cell order, with the particle in at's w. Otherwise places are
   * particles. */
  const float *x, *sorted_x;
  float skip2;
  float min_approach2; /* pairs that have moved by no more than this are skipped; 0: none are */
  void *entries;       /* of 32 bits, or 16 with lists of blocks: */
  uint32_t *share_first, *share_list;
  uint64_t near_room;
  uint32_t step; /* threads a particle in gathers, for the bank order of rows (row_order.h); 0: as
                    found */
  unsigned long long *shared;
  uint32_t *widest, most;
  uint32_t *group;
  uint16_t *len;
  uint64_t lines;
  unsigned long long *asked, *total;
  uint32_t *neighbours;
  uint32_t *place; /* receives the packed positions, or NULL */
  float h;
  /* boundary particles gather nothing, except slipping ones: */
  const uint32_t *owner;
  const uint32_t *slip; /* their word (boundary.h), or NULL */

  void set_wrap(const uint32_t bits[3]) {
    for (uint32_t axis = 0; axis < 3; axis++)
      for (uint32_t bit = of_axis[axis] = 0; bit < CELL_TABLE_BITS; bit++)
        of_axis[axis] |= (bits[axis] >> bit & 1u) << (3 * bit + axis);
  }
};

/* DENSITY: for pairs that the start list lacks. */
template <bool DENSITY> struct search : search_args {
  /* Surroundings of cell c: its ranges in `around`, or the parts of its blocks' Morton codes: that
   * of the even cells of its pairs, and that of the three single cells. */
  struct surroundings {
    const uint2 *range;
    uint32_t even, alone;
  };
  OZ_D void find_surroundings(uint32_t c, surroundings *s) const {
    s->range = around + (size_t)c * BLOCKS_AROUND, s->even = c & ~7u, s->alone = 0;
    if (around || DENSITY) return;
    /* plus or minus one within the axis' bits, wrapping at their ends: carry and borrow run through
     * the other axes' bits */
    for (uint32_t axis = 0; axis < 3; axis++) {
      const uint32_t one = 1u << axis, bits = of_axis[axis];
      s->alone |= (c & one ? (c | ~bits) + one : (c & bits) - one) & bits;
    }
  }
  OZ_D uint2 range(const surroundings *s, uint32_t b) const {
    if (DENSITY || around) return s->range[b]; /* the density search has no table of codes */
    const block_code code = block_codes[b];
    const uint32_t key = (s->alone & code.alone) | (s->even & ~code.alone) | (code.rest & 7u),
                   n = code.rest >> 3;
    return uint2{table[key], table[key + n]};
  }
  /* Bits of the n places (1 to 32) m, m + 1, ... within reach of p. Tests run four at a time
   * without a branch; loads beyond the end are in the same memory, and masked. */
  OZ_D uint32_t chunk(const float *p, uint32_t m, uint32_t n) const {
    uint32_t bits = 0;
    if constexpr (DENSITY) OZ_NO_UNROLL
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
    else { /* from the last to the first, so that each bit is shifted to its place */
      const float *q = at + 4 * (size_t)(m + in_fours(n));
      OZ_NO_UNROLL
      for (int left = (int)n; left > 0; left -= 4) {
        q -= 16;
#if defined(__CUDACC__)
#pragma unroll
#endif
        for (uint32_t u = 4; u-- > 0;) {
          float v[3];
          load_position(q + 4 * u, v);
          bits = shifted_in(bits, nearness(v, p, radius2));
        }
      }
    }
    return bits & 0xffffffffu >> (32u - n);
  }
  /* The same with the next four candidates in flight: `now` has the last four of these n,
   * prefetched by the caller. */
  struct round {
    float q[4][3];
  };
  OZ_D void fetch(const float *q, round *to) const {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (uint32_t u = 0; u < 4; u++) load_position(q + 4 * u, to->q[u]);
  }
  OZ_D void fetch_last(uint32_t m, uint32_t end, round *to) const {
    if (m < end) fetch(at + 4 * (size_t)(m + in_fours(end - m < 32 ? end - m : 32) - 4), to);
  }
  OZ_D uint32_t test(const float *p, const round *four, uint32_t bits) const {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (uint32_t u = 4; u-- > 0;) bits = shifted_in(bits, nearness(four->q[u], p, radius2));
    return bits;
  }
  OZ_D uint32_t chunk_prefetched(const float *p, uint32_t m, uint32_t n, round *now,
                                 round *other) const {
    const uint32_t these = 0xffffffffu >> (32u - n);
    uint32_t bits = 0;
    const float *q = at + 4 * (size_t)(m + in_fours(n) - 4);
    OZ_NO_UNROLL
    for (;; n -= 8, q -= 32) {
      const bool more = n > 4, yet = n > 8;
      if (more) fetch(q - 16, other);
      bits = test(p, now, bits);
      if (yet) fetch(q - 32, now);
      if (!more) break;
      bits = test(p, other, bits);
      if (!yet) break;
    }
    return bits & these;
  }
  /* Whether the particles at place k and at p, from xi, have moved relative to each other by more
   * than the static limit. */
  OZ_D bool has_moved(const float *p, const float *xi, uint32_t k, const float *x) const {
    if (!(min_approach2 > 0.0f)) return true;
    oz_real q[4];
    oz_ld4(at, k, 4, 0, q);
    const oz_v3 a = {p[0], p[1], p[2]}, b = {xi[0], xi[1], xi[2]}, c = {q[0], q[1], q[2]},
                d = {x[0], x[1], x[2]};
    return oz_moved2(a, b, c, d) > min_approach2;
  }
  /* Removes the particle itself, pairs of the start list, static pairs. */
  OZ_D uint32_t exclude(uint32_t i, const float *p, const float *xi, uint32_t m,
                        uint32_t bits) const {
    if constexpr (DENSITY)
      for (uint32_t left = bits; left; left &= left - 1) {
        const uint32_t t = lowest(left);
        oz_real q[4];
        oz_ld4(sorted_x, m + t, 4, 0, q);
        if (nearness(q, xi, skip2) >> 31 || !has_moved(p, xi, m + t, q)) bits &= ~(1u << t);
      }
    else
      bits &= ~bit_at(i - m);
    return bits;
  }
  /* First block of cells of the k-th of a team, so that loads are balanced and rows come out in the
   * same order for every team. A team of eight splits the first block, of eight cells, in two: its
   * numbers are one higher from there on. */
  template <int TEAM> static OZ_D uint32_t bound(uint32_t k) {
    if (TEAM == 8) return k < 4 ? k : k == 4 ? 5 : k == 5 ? 7 : k == 6 ? 10 : k == 7 ? 13 : 15;
    if (TEAM == 4) return 0xe9410u >> 4 * k & 15u; /* 0, 1, 4, 9, 14 */
    if (TEAM == 2) return 0xe40u >> 4 * k & 15u;
    return k ? 14 : 0;
  }
  /* Calls take(m, bits) for every 32 candidates of the lane around i, if there are neighbours among
   * them (start list: always): bits of m, m + 1, ... PREFETCH, with one thread a particle: the next
   * range and the next candidates are in flight. */
  template <int TEAM, bool PREFETCH = false, class TAKE>
  OZ_D void for_candidates(uint32_t i, uint32_t lane, TAKE take) const {
    const uint32_t c = cell_of[i];
    if (c >= capacity) return;
    if (owner && owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY &&
        !(slip && slip[i] > OZ_SLIP_WORD))
      return;
    surroundings nearby;
    find_surroundings(c, &nearby);
    oz_real p[4], xi[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    oz_ld4(own, i, 4, 0, p);
    if (DENSITY) oz_ld4(x, i, 4, 0, xi);
    if constexpr (PREFETCH) {
      uint2 next = range(&nearby, 0);
      round now = {}, other = {}; /* initialised once, not for every chunk */
      fetch_last(next.x, next.y, &now);
      OZ_NO_UNROLL
      for (uint32_t b = 1; b <= BLOCKS_AROUND; b++) {
        const uint2 r = next, none = {0, 0};
        next = b < BLOCKS_AROUND ? range(&nearby, b) : none;
        OZ_NO_UNROLL
        for (uint32_t m = r.x; m < r.y; m += 32) {
          const uint32_t left = r.y - m;
          uint32_t bits = chunk_prefetched(p, m, left < 32 ? left : 32, &now, &other);
          fetch_last(left > 32 ? m + 32 : next.x, left > 32 ? r.y : next.y, &now);
          bits = exclude(i, p, xi, m, bits);
          take(m, bits);
        }
        /* here, where the other lanes have waited for their loads */
        if (r.x >= r.y) fetch_last(next.x, next.y, &now);
      }
      return;
    }
    const uint32_t end = bound<TEAM>(lane + 1);
    OZ_NO_UNROLL
    for (uint32_t b = bound<TEAM>(lane); b < end; b++) {
      uint2 r = range(&nearby, TEAM < 8 ? b : b < 2 ? 0 : b - 1);
      if (TEAM == 8 && b < 2) {
        const uint32_t half = r.x + (r.y - r.x) / 2;
        if (b)
          r.x = half;
        else
          r.y = half;
      }
      OZ_NO_UNROLL
      for (uint32_t m = r.x; m < r.y; m += 32) {
        const uint32_t bits = exclude(i, p, xi, m, chunk(p, m, r.y - m < 32 ? r.y - m : 32));
        if (!DENSITY || bits) take(m, bits); /* start list: mostly some lane has one */
      }
    }
  }
  /* Particle at place m. */
  OZ_D uint32_t at_place(uint32_t m) const {
    return DENSITY ? oz_bits_of(at[4 * (size_t)m + 3]) : m;
  }
  /* The particles of a group are a page. Marked behind the search: lanes do not reconverge after
   * the marking loop, and the search would run with a part of them (ncu: 15 of 32 threads). */
  OZ_D void mark_group(uint32_t i, pages *book) const {
    book->mark(i >> 5, n - i < 32 ? (1u << (n - i)) - 1u : 0xffffffffu);
  }
  /* First pass: keeps and marks neighbours. */
  template <int TEAM, bool PREFETCH>
  OZ_D found find(uint32_t i, uint32_t lane, no_list *, piece *kept) const {
    found out = {0, 0};
    for_candidates<TEAM, PREFETCH>(i, lane, [&](uint32_t m, uint32_t bits) {
      out.count += popcount(bits), out.add(kept, m, bits);
    });
    return out;
  }
  template <int TEAM, bool PREFETCH>
  OZ_D found find(uint32_t i, uint32_t lane, pages *book, piece *kept) const {
    found out = {0, 0};
    for_candidates<TEAM, PREFETCH>(
        i, lane, [&](uint32_t m, uint32_t bits) { /* on one page or two */
                                                  const uint64_t both = (uint64_t)bits << (m & 31u);
                                                  const uint32_t page = m >> 5,
                                                                 low = (uint32_t)both,
                                                                 high = (uint32_t)(both >> 32);
                                                  out.count += popcount(bits),
                                                      out.add(kept, page, low),
                                                      out.add(kept, page + 1, high);
        });
    /* one loop for all pieces of a lane; two at a time, because they are in local memory */
    OZ_NO_UNROLL
    for (uint32_t k = 0, end = out.crowded() ? 0 : out.pieces; k < end; k += 2) {
      const piece one = kept[k], two = kept[k + 1];
      kept[k].where = book->mark(one.where, one.bits);
      if (k + 1 < end) kept[k + 1].where = book->mark(two.where, two.bits);
    }
    if (out.crowded())
      for_candidates<TEAM>(i, lane, [&](uint32_t m, uint32_t bits) {
        const uint64_t both = (uint64_t)bits << (m & 31u);
        if ((uint32_t)both) book->mark(m >> 5, (uint32_t)both);
        if (both >> 32) book->mark((m >> 5) + 1, (uint32_t)(both >> 32));
      });
    return out;
  }
  /* Second pass: writes the lane's part of row i, from entry `r` on, and the first lane the padding
   * to a multiple of four: the particle itself. start: place of the row's first entry, if each has
   * its own. One loop over all entries of a lane, so that a warp waits for the lane with the most
   * of them, and not for the longest of each piece. */
  template <int TEAM>
  OZ_D void fill(uint32_t i, uint32_t lane, found of, const piece *kept, no_list *, uint32_t,
                 size_t begin, uint32_t r, uint32_t all) const {
    if (DENSITY && !all) return; /* mostly */
    uint32_t *row = static_cast<uint32_t *>(entries) + begin;
    if (of.crowded())
      for_candidates<TEAM>(i, lane, [&](uint32_t m, uint32_t bits) {
        OZ_NO_UNROLL
        for (; bits && r < OZ_MAX_NEIGHBOURS; bits &= bits - 1, r++)
          row[entry_at(r)] = at_place(m + lowest(bits));
      });
    else
      OZ_NO_UNROLL
    for (uint32_t end = clamp_length(r + of.count), k = 0, m = 0, bits = 0; r < end;
         bits &= bits - 1, r++) {
      if (!bits) m = kept[k].where, bits = kept[k].bits, k++;
      row[entry_at(r)] = at_place(m + lowest(bits));
    }
    OZ_NO_UNROLL
    for (r = all; lane == 0 && (r & 3u); r++) row[entry_at(r)] = i;
  }
  template <int TEAM>
  OZ_D void fill(uint32_t i, uint32_t lane, found of, const piece *kept, pages *book,
                 uint32_t start, size_t begin, uint32_t r, uint32_t all) const {
    uint16_t *row = static_cast<uint16_t *>(entries) + begin;
    uint32_t *own_places = share_list + book->first + start;
    const bool full = book->full != 0;
    if (full || of.crowded())
      for_candidates<TEAM>(i, lane, [&](uint32_t m, uint32_t bits) {
        OZ_NO_UNROLL
        for (; bits && r < OZ_MAX_NEIGHBOURS; bits &= bits - 1, r++) {
          const uint32_t j = m + lowest(bits);
          if (full) own_places[r] = j;
          row[entry_at(r)] = (uint16_t)(full ? start + r : book->place_of(j));
        }
      });
    else {
      uint16_t *to = row + entry_at(r);
      /* a piece ahead: local memory, and all lanes wait for one that loads */
      piece next = kept[0];
      OZ_NO_UNROLL
      for (uint32_t end = clamp_length(r + of.count), k = 0, bits = 0, set = 0, before = 0;
           r < end;) {
        const bool new_one = !bits;
        if (new_one) {
          const pages::places page = book->at(next.where);
          bits = next.bits, set = page.bits, before = page.before;
        }
        const uint32_t rest = bits - 1;
        *to = (uint16_t)(before + popcount(set & rest & ~bits));
        bits &= rest;
        to += ++r & 3u ? 1 : 4 * GROUP - 3; /* the next entry_at */
        /* behind the use of its bits, which would be copied and waited for otherwise */
        if (new_one) next = kept[++k];
      }
    }
    if (lane) return;
    if (full) own_places[all] = i;
    const uint32_t self = full ? start + all : book->place_of(i);
    OZ_NO_UNROLL
    for (r = all; r & 3u; r++) row[entry_at(r)] = (uint16_t)self;
  }
  /* The same of a whole row, by one thread, in bank order (row_order.h): assembled in the thread's
   * own column of shared memory, and written four entries at a time. */
  template <int P>
  OZ_D void fill_in_order(uint32_t i, found of, const piece *kept, pages *book, uint32_t start,
                          size_t begin, uint32_t all, row_column<P> to) const {
    bool as_found = !step || all > MAX_ORDERED || of.crowded() || book->full;
    if (!as_found) {
      bank_order s = {all, step * i, 0, 0};
      piece next = kept[0]; /* a piece ahead */
      OZ_NO_UNROLL
      for (uint32_t r = 0, k = 0, bits = 0, set = 0, before = 0; r < all; r++) {
        const bool new_one = !bits;
        if (new_one) {
          const pages::places page = book->at(next.where);
          bits = next.bits, set = page.bits, before = page.before;
        }
        const uint32_t rest = bits - 1, e = before + popcount(set & rest & ~bits);
        s.put(to, e);
        bits &= rest;
        if (new_one) next = kept[++k]; /* as above */
      }
      as_found = !s.complete();
      if (!as_found) {
        uint16_t *row = static_cast<uint16_t *>(entries) + begin;
        s.settle(to);
        if (all & 3u) {
          const uint32_t self = book->place_of(i);
          OZ_NO_UNROLL
          for (uint32_t r = all; r & 3u; r++) to.put(r, self);
        }
        OZ_NO_UNROLL
        for (uint32_t r = 0; r < all; r += 4)
          *reinterpret_cast<uint2 *>(row + entry_at(r)) = to.four(r);
      }
    }
    if (as_found) fill<1>(i, 0, of, kept, book, start, begin, 0, all);
  }
  OZ_D void note(uint32_t i, uint32_t count) const {
    len[i] = (uint16_t)count;
    if (neighbours) neighbours[i] = count;
    if (place) oz_place_st(place, i, own + 4 * (size_t)i, h);
  }
  /* Of a block's list: first entry, length. */
  OZ_D void store_block_list(uint32_t block, const pages *book, bool fits) const {
    share_first[2 * (size_t)block] = book->first,
                    share_first[2 * (size_t)block + 1] = fits ? book->total : 0;
    if (book->total <= most) oz_atomic_max(widest, book->total);
  }
};
#endif
