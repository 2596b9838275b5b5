/* Looking for the neighbours of one particle: which candidates around its cell are near, the list that a block of particles shares, and
 * how a row is written. search.cu runs it. Included inside its namespace. */
#ifndef OZ_CUDA_LOOK_H
#define OZ_CUDA_LOOK_H

/* `bits` one place up, and the uppermost of `word` below them. */
OZ_FN uint32_t shifted_in(uint32_t bits, uint32_t word) {
#if defined(__CUDACC__)
  return __funnelshift_l(word, bits, 1);
#else
  return bits << 1 | word >> 31;
#endif
}
/* A word whose uppermost bit tells whether a and b, which are numbers, are within the root of r2: the sign of what the distance lacks. List C and
 * the search that asks what is in it round alike. */
OZ_FN uint32_t nearness(const float *a, const float *b, float r2) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return oz_bits_of(fmaf(z, z, fmaf(y, y, fmaf(x, x, -r2))));
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

enum { MASKS = 24, /* of 32 candidates each: about 300 in 14 ranges */
       AHEAD = 4 };   /* cells whose lists are fetched at once */

struct search_args {
  const float *own;      /* record 4: position of each particle */
  const float *at;       /* record 4 in cell order */
  const uint32_t *cell_of;
  const uint2 *around;    /* 14 ranges a cell, or NULL: */
  const uint32_t *table;  /* first particle by Morton code, which the cell then is; `last` the greatest coordinates */
  cell_table cells;       /* LINKED: takes its place */
  const uint32_t *groups, *group_count; /* LINKED: groups of 32 in which someone is stirred; how many */
  uint32_t last[3];
  uint32_t n, capacity;
  float radius2;
  /* FURTHER: what was within skip2 at the start is listed already. x: start positions by particle (record 4); sorted_x: in cell
   * order, and at's w is the particle of each place. Otherwise nothing is listed. There, and where cells are LINKED, places are particles. */
  const float *x, *sorted_x;
  float skip2;
  float calm2;   /* what has moved by no more than this is not listed; 0: all is */
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
};

/* FURTHER: for what list C has not; LINKED: through the lists of stirred.cu. */
template <bool FURTHER, bool LINKED = false> struct search : search_args {
  /* What is around cell c: its ranges in `around`, or what the Morton codes of its blocks are made of, or the cells that are stirred. */
  struct surroundings {
    const uint2 *range;
    uint32_t part[3][3]; /* of each axis: as in block_parts; all bits set: there is none */
    uint32_t at[3], mask;
  };
  OZ_D void look_around(uint32_t c, surroundings *s) const {
    if constexpr (LINKED) s->mask = cells.mask[cells.slot_of(c)];
    else s->range = around + (size_t)c * AROUND;
    if (!LINKED && around) return;
    for (uint32_t axis = 0; axis < 3; axis++) {
      if constexpr (LINKED) s->at[axis] = cell_table::coordinate(c, axis);
      else {
        const uint32_t v = gathered7(c >> axis), even = v & ~1u, alone = v & 1u ? v + 1 : v - 1;
        s->part[axis][0] = spread7(even) << axis;
        s->part[axis][1] = spread7(even + 1) << axis;
        s->part[axis][2] = alone <= last[axis] ? spread7(alone) << axis : 0xffffffffu;
      }
    }
  }
  /* From one cell to the next: the even one of the pair it belongs to, the odd one, the one that stands alone. */
  static OZ_D uint32_t step_to(uint32_t at, uint32_t which) { return which < 2 ? which - (at & 1u) : (at & 1u) * 2u - 1u; }
  /* LINKED: the first entry of cell k of 27, in the order of the blocks and their Morton codes; 0: none. */
  OZ_D uint32_t first_of(const surroundings *s, uint32_t k) const {
    uint32_t which[3];
    cell_parts(k, which);
    const uint32_t x = step_to(s->at[0], which[0]), y = step_to(s->at[1], which[1]), z = step_to(s->at[2], which[2]);
    return s->mask >> (13u + x + 3u * y + 9u * z) & 1u ? cells.first(cells.slot(s->at[0] + x, s->at[1] + y, s->at[2] + z)) : 0;
  }
  OZ_D uint2 range(const surroundings *s, uint32_t b) const {
    if (around) return s->range[b];
    uint32_t x, y, z, n;
    block_parts(b, &x, &y, &z, &n);
    const uint32_t key = s->part[0][x] | s->part[1][y] | s->part[2][z];
    uint2 r = {0, 0};
    if (FURTHER || key == 0xffffffffu) return r;
    r.x = table[key], r.y = table[key + n];
    return r;
  }
  /* Which of the `n` <= 32 places m, m + 1, ... are within reach of p, as bits. Tests come four at a time and without a
   * branch; what they read beyond the end is in the same memory and does not count. */
  OZ_D uint32_t chunk(const float *p, uint32_t m, uint32_t n) const {
    uint32_t bits = 0;
    if constexpr (FURTHER)
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
    else { /* from the last to the first, so that each bit is shifted to its place; unrolled no further, since a warp would wait for the rest of each of its lanes */
      const float *q = at + 4 * (size_t)(m + in_fours(n));
#if defined(__CUDACC__)
#pragma unroll 1
#endif
      for (int left = (int)n; left > 0; left -= 4) {
        q -= 16;
#if defined(__CUDACC__)
#pragma unroll
#endif
        for (uint32_t u = 4; u-- > 0;) {
          oz_real v[4];
          oz_ld4(q, u, 4, 0, v);
          bits = shifted_in(bits, nearness(v, p, radius2));
        }
      }
    }
    return n < 32 ? bits & ((1u << n) - 1u) : bits;
  }
  /* The same of those of 32 places that `which` names. */
  OZ_D uint32_t chosen(const float *p, uint32_t m, uint32_t which) const {
    uint32_t bits = 0;
    for (uint32_t left = which; left;)
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t u = 0; u < 4; u++, left &= left - 1) {
        oz_real q[4];
        oz_ld4(at, m + lowest(left ? left : which), 4, 0, q);
        if (distance2(q, p) < radius2) bits |= left & (0u - left);
      }
    return bits;
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
        if (nearness(q, xi, skip2) >> 31 || !stirred(p, xi, m + t, q)) bits &= ~(1u << t);
      }
    else if (i - m < 32) bits &= ~(1u << (i - m));
    return bits;
  }
  /* Which blocks around a cell the k-th of a team looks at, so that all have as much to do and rows come out in the same order
   * whatever the team. Eight cut the first block, of eight cells, in two: their numbers are one more from there on. */
  template <int TEAM> static OZ_D uint32_t bound(uint32_t k) {
    if (LINKED) return TEAM == 8 ? (k < 2 ? 4 * k : k < 8 ? 3 * k + 2 : 27) : k ? 27 : 0; /* 27 cells */
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
    uint32_t b = bound<TEAM>(lane);
    if constexpr (LINKED) {
      for (; b < end; b += AHEAD) { /* an entry is found through what is far away: several at once */
        uint32_t e[AHEAD];
        uint2 entry[AHEAD];
        for (uint32_t u = 0; u < AHEAD; u++) e[u] = b + u < end ? first_of(&nearby, b + u) : 0;
        for (uint32_t u = 0; u < AHEAD; u++) entry[u] = cells.load_entry(e[u]);
#if defined(__CUDACC__)
#pragma unroll 1
#endif
        for (uint32_t u = 0; u < AHEAD; u++) {
          while (e[0]) {
            const uint32_t m = (e[0] - 1) & ~31u, which = entry[0].y;
            e[0] = entry[0].x;
            entry[0] = cells.load_entry(e[0]);
            const uint32_t bits = AGAIN && !*crowded ? mask[kept++] : others(i, p, xi, m, chosen(p, m, which));
            if (!AGAIN && kept < MASKS) mask[kept++] = bits;
            else if (!AGAIN) *crowded = true;
            if (bits) take(m, bits);
          }
          for (uint32_t v = 1; v < AHEAD; v++) e[v - 1] = e[v], entry[v - 1] = entry[v];
        }
      }
    } else
      for (; b < end; b++) {
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
  OZ_D uint32_t at_place(uint32_t m) const { return FURTHER && !LINKED ? oz_bits_of(at[4 * (size_t)m + 3]) : m; }
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
#endif
