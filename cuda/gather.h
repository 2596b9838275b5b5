/* The walk of a gather over the rows of its particle. Included by stage_types.h, inside its
 * namespace and after the stages.
 *
 * Small scenes (8 threads a particle or more) have rows of particle numbers, with gradients as
 * halves beside them. In large ones the neighbours of a block's particles are copied into shared
 * memory once, and rows hold places there (neighbour_lists.cu). A gather from global memory costs a
 * cycle a sector of 32 bytes, some 25 for the 32 pairs of a warp; one from shared memory as many
 * cycles as its worst bank conflict, some 10 for records of 16 bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_GATHER_H
#define OZ_CUDA_GATHER_H

#include "cuda/gather_traits.h"

/* ---- rows ---- */

/* The four halves of an entry. */
OZ_D void oz_halves_ld(const uint16_t *a, uint16_t *g) {
#if defined(__CUDACC__)
  const uint2 v = *reinterpret_cast<const uint2 *>(a);
  g[0] = (uint16_t)v.x, g[1] = (uint16_t)(v.x >> 16), g[2] = (uint16_t)v.y,
  g[3] = (uint16_t)(v.y >> 16);
#else
  for (int k = 0; k < 4; k++) g[k] = a[k];
#endif
}

/* Source of a walk: the arrays, or their copies. */
struct array_view {
  const oz_frame *f;
  const uint32_t *place;
  const place_units *units;
  oz_v3 at; /* start position of the particle, for stored gradients */
};
/* An address in shared memory, 32 bits, opaque to the compiler. Otherwise it would address one
 * array relative to another, with two instructions a pair instead of one. */
#if defined(__CUDACC__)
typedef uint32_t shared_address;
OZ_D shared_address shared_address_of(const void *p) {
  uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
  asm("" : "+r"(at));
  return at;
}
OZ_D void *shared_pointer(shared_address at) { return __cvta_shared_to_generic(at); }
#else
typedef char *shared_address;
OZ_D shared_address shared_address_of(const void *p) {
  return static_cast<char *>(const_cast<void *>(p));
}
OZ_D void *shared_pointer(shared_address at) { return at; }
#endif
/* Copies of a block, where a neighbour's address takes one instruction: the upper entry of a word
 * is shifted as it is added. The arrays of the frame then point at this neighbour, whose number is
 * 0. */
template <class S> struct copy_view {
  oz_frame *f;
  const place_units *units;
  shared_address place, array[shared_copies<S>::ARRAYS + 1];
  OZ_D copy_view(oz_frame *frame, const place_units *u, const shared_copies<S> &copies) {
    f = frame, units = u, place = shared_address_of(copies.places());
    for (int k = 0; k < shared_copies<S>::ARRAYS; k++) array[k] = shared_address_of(copies.copy(k));
  }
  /* Byte offset of an entry of `words` words. UPPER: the entry is the upper half of w, and the
   * lower half is below BLOCK_MAX_NEIGHBOURS; otherwise w is the entry. */
  template <bool UPPER> static OZ_D uint32_t bytes(uint32_t w, int words) {
    static_assert(BLOCK_MAX_NEIGHBOURS <= 4096,
                  "the lower entry must be gone when the upper one is times 16");
    const int log = words == 4 ? 4 : words == 2 ? 3 : 2;
    return UPPER ? w >> (16 - log) : w << log;
  }
  template <bool UPPER> OZ_D array_view neighbour(uint32_t w) const {
    for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
      gathered<S>::array(*f, k) = static_cast<float *>(
          shared_pointer(array[k] + bytes<UPPER>(w, shared_copies<S>::words(k))));
    const array_view v = {
        f,
        static_cast<const uint32_t *>(shared_pointer(
            place + bytes<UPPER>(w, gathers_only_starts<S> ? 4 : shared_copies<S>::PLACE))),
        units,
        {}};
    return v;
  }
};
/* Copies of a part of the block's list: of `room` places from `first` on. Other places are passed
 * over. */
template <class S> struct window_view {
  copy_view<S> copies;
  uint32_t first, room;
};
/* One neighbour, by number and by place in the list. Gradients are those at the start positions
 * throughout the substep: computed from packed positions, or, in small scenes whose lists stay in
 * the cache, read as halves from beside the list. */
template <class S, bool STORED>
OZ_D void visit_pair(const array_view &v, oz_place here, uint32_t j, const uint16_t *g,
                     const typename S::self *self, oz_real *acc) {
  oz_group m;
  m.j = &j;
  if constexpr (matrix<S>) m.off = acc + S::SUMS - 1;
  if (S::KIND == KIND_START && STORED) {
    m.g.x = oz_ld_half(g), m.g.y = oz_ld_half(g + 1), m.g.z = oz_ld_half(g + 2);
    m.c = oz_ld_half(g + 3);
    m.way = m.g, m.s = oz_set(1.0f), m.far = oz_length(m.g);
    if (needs_separation<S>) m.r = oz_sub(v.at, oz_vec_gather(v.f->x, &j));
  } else if constexpr (S::KIND == KIND_START && !ignores_starts<S>) {
    oz_frame k; /* the members that oz_spiky_within reads */
    if constexpr (unpacked<S>) {
      oz_real q[4];
      oz_ld4(reinterpret_cast<const float *>(v.place), j, 4, 0, q);
      k.h = v.f->h, k.h2 = v.f->h2, k.grad_norm = v.f->grad_norm,
      k.zero_energy_norm = v.f->zero_energy_norm, k.inv_d = v.f->inv_d;
      m.way.x = oz_float_of(here.x) - q[0], m.way.y = oz_float_of(here.y) - q[1],
      m.way.z = oz_float_of(here.z) - q[2];
    } else {
      float r[3];
      k.h = place_units::H, k.h2 = place_units::H * place_units::H,
      k.grad_norm = v.units->grad_norm, k.zero_energy_norm = v.units->zero_energy_norm,
      k.inv_d = v.units->inv_d;
      oz_place_difference(here, oz_place_ld(v.place, j), r);
      m.way.x = r[0], m.way.y = r[1], m.way.z = r[2];
    }
    if (needs_separation<S> && unpacked<S>)
      m.r = m.way;
    else if (needs_separation<S>) {
      m.r.x = v.units->metres * m.way.x, m.r.y = v.units->metres * m.way.y,
      m.r.z = v.units->metres * m.way.z;
    }
    if (linear < S >> 0) {
      m.s = oz_steepness_within(&k, m.way), m.far = oz_far_within(&k, m.way);
      m.g.x = m.s * m.way.x, m.g.y = m.s * m.way.y, m.g.z = m.s * m.way.z;
      m.c = (scales_pull<S> || pull_scaled_from<S> > 0 ? 1.0f
             : unpacked<S>                             ? v.f->zero_energy_norm / v.f->grad_norm
                                                       : v.units->pull) *
            oz_min(m.s, oz_set(OZ_STEEPEST * k.h));
      /* as oz_spiky_within */
      if (counts<S>) m.c = oz_select(m.s < oz_set(7.07e4f * k.h), m.c, oz_set(0.0f));
    } else {
      m.g = oz_spiky_within(&k, m.way, &m.c);
      m.way = m.g, m.s = oz_set(1.0f);
    }
  }
  S::pair(v.f, self, &m, acc);
}
/* Rows have a multiple of four entries, padded with the particle itself, whose gradient is zero.
 * Threads that share a particle take adjacent entries, which are mostly near each other in memory.
 * Entries are prefetched a round before the neighbours that they name. */

/* A row of numbers or places for up to 4 threads; each takes four entries a round. ENTRY: uint32_t
 * or uint16_t. */
template <class S, int T, class ENTRY> struct strip {
  /* entries of a four for one thread; T fours make a round */
  static constexpr uint32_t EACH = 4 / T;
  struct round { /* for 2 or 4 threads */
    uint32_t j[4];
    static OZ_D void four(const uint32_t *a, uint32_t *e) { oz_entries_ld(a, e); }
    static OZ_D void four(const uint16_t *a, uint32_t *e) {
#if defined(__CUDACC__)
      const uint2 w = *reinterpret_cast<const uint2 *>(a);
      e[0] = w.x & 0xffffu, e[1] = w.x >> 16, e[2] = w.y & 0xffffu, e[3] = w.y >> 16;
#else
      for (int k = 0; k < 4; k++) e[k] = a[k];
#endif
    }
    OZ_D void fetch(const ENTRY *row, uint32_t k, uint32_t n, uint32_t lane) {
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (int q = 0; q < T; q++) {
        if (k + 4 * q >= n) break;
        const ENTRY *at = row + (size_t)q * (4 * GROUP);
        if (T == 2) {
          uint32_t e[4];
          four(at, e);
          j[(2 * q) & 3] = lane ? e[1] : e[0], j[(2 * q + 1) & 3] = lane ? e[3] : e[2];
        } else
          j[q & 3] = at[lane];
      }
    }
  };
  /* Four entries as they are in memory; with one thread a particle they are unpacked where they are
   * used. */
  struct words {
    uint32_t w[sizeof(ENTRY)];
    OZ_D void load(const ENTRY *a) {
#if defined(__CUDACC__)
      if (sizeof(ENTRY) == 2) {
        const uint2 v = *reinterpret_cast<const uint2 *>(a);
        w[0] = v.x, w[1] = v.y;
        return;
      }
#endif
      round r;
      round::four(a, r.j);
      for (int m = 0; m < 4; m++)
        if (sizeof(ENTRY) == 2)
          w[m / 2] = m & 1 ? w[m / 2] | r.j[m] << 16 : r.j[m];
        else
          w[m & (int)(sizeof(ENTRY) - 1)] = r.j[m];
    }
    OZ_D uint32_t entry(int m) const {
      if (sizeof(ENTRY) == 4) return w[m & (int)(sizeof(ENTRY) - 1)];
      return m & 1 ? w[m / 2] >> 16 : w[m / 2] & 0xffffu;
    }
  };
  const ENTRY *row;
  uint32_t n;
  round now;   /* T > 1 */
  words first; /* T == 1 */
  OZ_D void open(const ENTRY *at, uint32_t length, uint32_t lane) {
    row = at, n = (length + 3u) & ~3u;
    if (T > 1)
      now.fetch(row, 0, n, lane);
    else if (n)
      first.load(row);
  }
  /* One entry: a place in the view; or, from `room` on, a particle by `map`. */
  template <bool ALL>
  static OZ_D void one(const array_view &v, const array_view &beyond, const uint32_t *map,
                       uint32_t room, oz_place here, uint32_t j, const typename S::self *self,
                       oz_real *acc) {
    if (ALL || j < room)
      visit_pair<S, false>(v, here, j, nullptr, self, acc);
    else
      visit_pair<S, false>(beyond, here, map[j], nullptr, self, acc);
  }
  template <bool ALL>
  static OZ_D void four(const array_view &v, const array_view &beyond, const uint32_t *map,
                        uint32_t room, oz_place here, const words &now,
                        const typename S::self *self, oz_real *acc) {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int m = 0; m < 4; m++) one<ALL>(v, beyond, map, room, here, now.entry(m), self, acc);
  }
  /* The same for a block whose copies are complete. */
  template <bool ALL>
  static OZ_D void one(const copy_view<S> &v, const copy_view<S> &, const uint32_t *, uint32_t,
                       oz_place here, uint32_t j, const typename S::self *self, oz_real *acc) {
    visit_pair<S, false>(v.template neighbour<false>(j), here, 0, nullptr, self, acc);
  }
  template <bool ALL>
  static OZ_D void four(const copy_view<S> &v, const copy_view<S> &, const uint32_t *, uint32_t,
                        oz_place here, const words &now, const typename S::self *self,
                        oz_real *acc) {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int m = 0; m < 4; m += 2) {
      uint32_t j = now.w[m / 2] & 0xffffu; /* shared by both addresses */
#if defined(__CUDACC__)
      asm("" : "+r"(j));
#endif
      visit_pair<S, false>(v.template neighbour<false>(j), here, 0, nullptr, self, acc);
      visit_pair<S, false>(v.template neighbour<true>(now.w[m / 2]), here, 0, nullptr, self, acc);
    }
  }
  /* The same for a part of the copies. */
  template <bool ALL>
  static OZ_D void one(const window_view<S> &v, const window_view<S> &, const uint32_t *, uint32_t,
                       oz_place here, uint32_t j, const typename S::self *self, oz_real *acc) {
    const uint32_t k = j - v.first;
    if (k < v.room)
      visit_pair<S, false>(v.copies.template neighbour<false>(k), here, 0, nullptr, self, acc);
  }
  template <bool ALL>
  static OZ_D void four(const window_view<S> &v, const window_view<S> &, const uint32_t *, uint32_t,
                        oz_place here, const words &now, const typename S::self *self,
                        oz_real *acc) {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int m = 0; m < 4; m++) one<ALL>(v, v, nullptr, 0, here, now.entry(m), self, acc);
  }
  /* ALL: every entry is below `room` */
  template <bool ALL, class SIGHT>
  OZ_D void walk(const SIGHT &v, const SIGHT &beyond, const uint32_t *map, uint32_t room,
                 oz_place here, uint32_t lane, const typename S::self *self, oz_real *acc) {
    uint32_t k = 0;
    if constexpr (T == 1) {
      words second;
      if (!n) return;
      /* no prefetch beyond the row: the code behind the walk would wait for its registers */
      for (;;) {
        bool more = (k += 4) < n;
        row += 4 * GROUP;
        if (more) second.load(row);
        four<ALL>(v, beyond, map, room, here, first, self, acc);
        if (!more) return;
        more = (k += 4) < n;
        row += 4 * GROUP;
        if (more) first.load(row);
        four<ALL>(v, beyond, map, room, here, second, self, acc);
        if (!more) return;
      }
    } else {
      round next;
      for (; k + 4 * T <= n; k += 4 * T) {
        row += T * (4 * GROUP);
        next.fetch(row, k + 4 * T, n, lane);
#if defined(__CUDACC__)
#pragma unroll
#endif
        for (int m = 0; m < 4; m++) one<ALL>(v, beyond, map, room, here, now.j[m], self, acc);
        now = next;
      }
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 4; m++)
        if (k + m / EACH * 4 < n) one<ALL>(v, beyond, map, room, here, now.j[m], self, acc);
    }
  }
  template <class SIGHT>
  OZ_D void walk(const SIGHT &v, oz_place here, uint32_t lane, const typename S::self *self,
                 oz_real *acc) {
    walk<true>(v, v, nullptr, 0, here, lane, self, acc);
  }
};
/* A row of numbers with stored gradients for 8 threads or more; each takes two entries a round. */
template <class S, int T> struct stored_strip {
  static constexpr uint32_t STEP = T / 4 * (4 * GROUP);
  static constexpr bool READ = S::KIND == KIND_START;
  const uint32_t *row;
  const uint16_t *ghat;
  uint32_t n, j[2];
  uint16_t g[8];
  OZ_D void fetch(uint32_t k, uint32_t *j, uint16_t *g) const {
    for (int m = 0; m < 2; m++)
      if (k + (uint32_t)m * T < n) {
        j[m] = row[m * STEP];
        if (READ) oz_halves_ld(ghat + m * (4 * STEP), g + 4 * m);
      }
  }
  OZ_D void open(const uint32_t *at, const uint16_t *gradients, uint32_t length, uint32_t lane) {
    const uint32_t first = (lane >> 2) * (4 * GROUP) + (lane & 3u);
    row = at + first, ghat = gradients + 4 * (size_t)first, n = (length + 3u) & ~3u;
    j[0] = j[1] = 0;
    fetch(lane, j, g);
  }
  OZ_D void walk(const array_view &v, oz_place here, uint32_t lane, const typename S::self *self,
                 oz_real *acc) {
    uint32_t next[2] = {0, 0};
    uint16_t next_g[8];
    for (uint32_t k = lane; k < n; k += 2 * T) {
      row += 2 * STEP;
      ghat += 8 * STEP;
      fetch(k + 2 * T, next, next_g);
      visit_pair<S, true>(v, here, j[0], g, self, acc);
      if (k + T < n) visit_pair<S, true>(v, here, j[1], g + 4, self, acc);
      for (int m = 0; m < 2; m++) j[m] = next[m];
      for (int m = 0; m < 8; m++) g[m] = next_g[m];
    }
  }
};
/* Whether a stage walks the density list; kind BOTH walks the links after it. */
template <class S> OZ_D constexpr bool walks_density_list() {
  return S::KIND == KIND_DENSITY || S::KIND == KIND_DENSITY_LINK || density_rows_of<S>::OTHER;
}
/* Stages of kind LATE skip the start list, where a fused stage has walked it. */
template <class S> constexpr bool density_only = false;
template <> constexpr bool density_only<stage_density_move> = true;
template <class S> OZ_D bool walks_start_list(const oz_frame *f) {
  return !density_only<S> || !f->fused_density;
}
/* Rows that the density list adds. */
template <class S, class STRIP, class... ARGS>
OZ_D void walk_density_rows(STRIP &further, const oz_frame *f, uint32_t i,
                            const typename S::self *self, oz_real *acc, const ARGS &...args) {
  if constexpr (density_rows_of<S>::OTHER) {
    typename density_rows_of<S>::stage::self own;
    if (!further.n) return;
    density_rows_of<S>::stage::begin(f, i, &own);
    further.walk(args..., &own, acc);
  } else
    further.walk(args..., self, acc);
}
OZ_D oz_links link_entry(const oz_frame *f, uint32_t i, uint32_t k) {
  const size_t e = oz_link_at(f, i, k);
  const oz_links n = {f->link_j + e, f->link_rest[e], f->link_kind + e, f->link_spare + e,
                      f->link_share + e};
  return n;
}
template <class S, int T>
OZ_D void walk_links(const oz_frame *f, uint32_t i, uint32_t lane, const typename S::self *self,
                     oz_real *acc) {
  for (uint32_t k = lane; k < f->link_len[i]; k += T) {
    const oz_links n = link_entry(f, i, k);
    if constexpr (S::KIND == KIND_DENSITY_LINK)
      S::link(f, self, &n, acc);
    else
      S::pair(f, self, &n, acc);
  }
}
/* The rows of a particle. `open` reads lists alone, so it may precede the launch dependency wait.
 */
template <class S, int T, int KIND = S::KIND> struct walker {
  stored_strip<S, T> near;
  stored_strip<typename density_rows_of<S>::stage, T> further;
  OZ_D void open(const stage_args &a, uint32_t i, uint32_t lane) {
    const oz_frame *f = &a.f;
    const uint32_t g = i / GROUP, at = i % GROUP * 4;
    const size_t c = (size_t)f->start_row[g] * GROUP + at;
    near.open(f->start_list + c, f->ghat + 4 * c, f->start_length[i], lane);
    if (walks_density_list<S>()) /* the start list, then the rows that the density list adds */
      further.open(f->density_list[1] + (size_t)f->density_row[1][g] * GROUP + at, nullptr,
                   f->density_length[1][i], lane);
  }
  OZ_D void walk(const stage_args &a, uint32_t i, uint32_t lane, const typename S::self *self,
                 oz_real *acc) {
    array_view v = {&a.f, a.place, &a.units, {}};
    const oz_place nowhere = {0, 0, 0};
    if (needs_separation<S>) v.at = oz_vec_of(a.f.x, i);
    if (walks_start_list<S>(&a.f)) near.walk(v, nowhere, lane, self, acc);
    if constexpr (walks_density_list<S>())
      walk_density_rows<S>(further, &a.f, i, self, acc, v, nowhere, lane);
    if constexpr (S::KIND == KIND_DENSITY_LINK) walk_links<S, T>(&a.f, i, lane, self, acc);
    (void)i;
  }
};
template <class S, int T> struct walker<S, T, KIND_LINK> {
  OZ_D void open(const stage_args &, uint32_t, uint32_t) {}
  OZ_D void walk(const stage_args &a, uint32_t i, uint32_t lane, const typename S::self *self,
                 oz_real *acc) {
    walk_links<S, T>(&a.f, i, lane, self, acc);
  }
};
/* Whether a block with more neighbours than it has room for copies and walks one part of its list
 * after the other. A gather from global memory, of a few entries of most rows, would take as long
 * as all others together. Mirror pressure within the kernel needs the first part. */
template <class S> OZ_D bool walks_windows(const stage_args &a) {
#if defined(__CUDACC__)
  return (!mirrors<S> || sends_displacements<S>)&&a.block_room;
#else
  (void)a;
  return false; /* tests compare both ways */
#endif
}
/* The same for rows of places. */
template <class S, int T> struct shared_walker {
  strip<S, T, uint16_t> near;
  strip<typename density_rows_of<S>::stage, T, uint32_t> further;
  oz_place here;
  uint32_t own;
  OZ_D void open(const stage_args &a, uint32_t i, uint32_t lane) {
    own = i;
    if (shared_copies<S>::PLACED) here = place_of<S>(a, i);
    open_start(a, lane);
  }
  OZ_D void open_start(const stage_args &a, uint32_t lane) {
    const oz_frame *f = &a.f;
    near.open(f->start_entries + (size_t)f->start_row[own / GROUP] * GROUP + own % GROUP * 4,
              f->start_length[own], lane);
  }
  /* For stages that walk the density list; before the walk, or behind it while that list is still
   * being built. */
  OZ_D void open_density(const stage_args &a, uint32_t lane) {
    const oz_frame *f = &a.f;
    further.open(f->density_list[1] + (size_t)f->density_row[1][own / GROUP] * GROUP +
                     own % GROUP * 4,
                 f->density_length[1][own], lane);
  }
  /* first: of the block's list; copies: of the first a.block_room of that list; all: of the whole
   * list */
  OZ_D void walk(const stage_args &a, uint32_t first, bool all, const shared_copies<S> &copies,
                 uint32_t lane, const typename S::self *self, oz_real *acc) {
    const array_view direct = {&a.f, places_of<S>(a), &a.units, {}};
    const uint32_t *map = a.f.share_list + first;
    /* positions may have been written by the kernel right before */
    if (gathers_only_starts<S>) here = place_of<S>(a, own);
    if (!walks_start_list<S>(&a.f)) { /* a fused stage has */
    } else if constexpr (shared_copies<S>::SHARES) {
      oz_frame f = a.f;
      if (all)
        near.walk(copy_view<S>(&f, &a.units, copies), here, lane, self, acc);
      else if (walks_windows<S>(a))
        walk_window(a, copies, 0, lane, self, acc);
      else {
        for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
          gathered<S>::array(f, k) = copies.copy(k);
        const array_view v = {&f, copies.places(), &a.units, {}};
        near.template walk<false>(v, direct, map, a.block_room, here, lane, self, acc);
      }
    } else
      near.template walk<false>(direct, direct, map, 0, here, lane, self, acc);
  }
  /* Entries from place `first` of the block's list on, as many as there is room for. */
  OZ_D void walk_window(const stage_args &a, const shared_copies<S> &copies, uint32_t first,
                        uint32_t lane, const typename S::self *self, oz_real *acc) {
    oz_frame f = a.f;
    const window_view<S> v = {copy_view<S>(&f, &a.units, copies), first, a.block_room};
    near.walk(v, here, lane, self, acc);
  }
  /* The remaining rows. */
  OZ_D void walk_density(const stage_args &a, uint32_t lane, const typename S::self *self,
                         oz_real *acc) {
    const array_view direct = {&a.f, places_of<S>(a), &a.units, {}};
    if constexpr (walks_density_list<S>())
      walk_density_rows<S>(further, &a.f, own, self, acc, direct, here, lane);
    if constexpr (S::KIND == KIND_DENSITY_LINK) walk_links<S, T>(&a.f, own, lane, self, acc);
  }
};
#endif
