/* Mirror pressure at walls (wall_mirror) with T threads a particle, which share its row: in a
 * kernel of its own, or in that of the move, with the neighbours in shared memory. Both add up in
 * the same order. Included by stage_types.h, inside its namespace, after gather.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_MIRROR_PRESSURE_H
#define OZ_CUDA_MIRROR_PRESSURE_H

/* Mirror images of the neighbours behind one plane, as a pair function; dx has positions. */
struct mirror_pairs {
  static constexpr int KIND = KIND_DENSITY;
  static constexpr bool PACKED = false;
  typedef oz_mirror self;
  static OZ_D void pair(const oz_frame *f, const self *m, const oz_group *n, oz_real *acc) {
    oz_real v[4];
    oz_near4(f->dx, n, v);
    oz_mirror_pair(f, m, v, acc);
  }
};
/* dx has displacements (fused_position.h), and self.at the particle's own. */
struct mirror_pairs_packed {
  static constexpr int KIND = KIND_START;
  static constexpr bool PACKED = true;
  typedef oz_mirror self;
  static OZ_D void pair(const oz_frame *f, const self *m, const oz_group *n, oz_real *acc) {
    oz_real v[4];
    oz_near4(f->dx, n, v);
    /* v - r is the neighbour's current position relative to the particle's start */
    v[0] -= n->r.x, v[1] -= n->r.y, v[2] -= n->r.z;
    v[3] = oz_second_half(v[3]);
    oz_mirror_pair(f, m, v, acc);
  }
};
template <> constexpr bool needs_separation<mirror_pairs_packed> = true;

/* Sources of neighbours: copies of the first `room` of the block's list, the arrays beyond; all: no
 * neighbour is beyond. */
struct mirror_view {
  array_view copies, plain;
  const uint32_t *map;
  uint32_t room;
  bool all;
};
template <class I, int T>
OZ_D void mirror_sums(const stage_args &a, const mirror_view &s, uint32_t i, uint32_t lane,
                      const oz_mirror *m, oz_real *acc) {
  const oz_frame *f = &a.f;
  const uint32_t at = i % GROUP * 4;
  const size_t row = (size_t)f->start_row[i / GROUP] * GROUP + at;
  if constexpr (T >= 8) {
    stored_strip<I, T> w;
    const oz_place nowhere = {0, 0, 0};
    w.open(f->start_list + row, f->ghat + 4 * row, f->start_length[i], lane);
    w.walk(s.plain, nowhere, lane, m, acc);
  } else {
    strip<I, T, uint16_t> w;
    const oz_place here = oz_place_ld(a.place, i);
    w.open(f->start_entries + row, f->start_length[i], lane);
    if (s.all)
      w.walk(s.copies, here, lane, m, acc);
    else
      w.template walk<false>(s.copies, s.plain, s.map, s.room, here, lane, m, acc);
  }
}
/* On the device one of T adjacent threads; in the host loops, one for all of them. */
template <class I, int T>
OZ_D void mirror(const stage_args &a, mirror_view s, uint32_t i, uint32_t slot, uint32_t lane) {
  const oz_frame *f = &a.f;
  const uint32_t planes = f->wall_planes[slot];
  const oz_wall *wall = f->wall + (size_t)slot * f->contact_planes;
  float move[3] = {0.0f, 0.0f, 0.0f};
  oz_mirror m, seen;
  if (!oz_mirror_open(f, i, &m)) return;
  seen = m;
  if (I::PACKED) {
    s.plain.at = oz_vec_of(f->x, i);
    m.at[0] += s.plain.at.x, m.at[1] += s.plain.at.y, m.at[2] += s.plain.at.z;
    m.lam = oz_second_half(m.lam);
  }
  for (uint32_t k = 0; k < planes; k++) {
    oz_real sum[OZ_MIRROR_SUMS];
    if (!wall[k].dense) continue;
    const int others = oz_mirror_plane(f, f->x + 4 * (size_t)i, wall + k, &m);
    for (int c = 0; c < OZ_MIRROR_SUMS; c++) sum[c] = 0.0f;
    if (others) {
      for (int c = 0; c < 3; c++) seen.n[c] = m.n[c];
      seen.D = m.D, seen.lam = m.lam;
#if defined(OZ_CUDA_HOST)
      for (uint32_t l = 0; l < T; l++) mirror_sums<I, T>(a, s, i, l, &seen, sum);
#else
      mirror_sums<I, T>(a, s, i, lane, &seen, sum);
      const uint32_t together = (T == 32 ? 0xffffffffu : (1u << T) - 1u)
                                << (threadIdx.x % 32 / T * T);
      for (int c = 0; c < OZ_MIRROR_SUMS; c++)
        for (int d = T / 2; d; d >>= 1) sum[c] += __shfl_xor_sync(together, sum[c], d);
#endif
    }
    if (lane == 0)
      oz_mirror_apply(f, &m, wall[k].press, others, sum,
                      f->wall_impulse + ((size_t)slot * f->contact_planes + k) * 3, move);
  }
  if (lane == 0) oz_mirror_close(f, i, move);
}
/* The row of a contact whose entries are places and whose dx are displacements (mirror_rows.h). */
struct mirror_row_walk {
  /* T: threads that share a row of the wall layer, which alone has images of other particles
   * (stage_types.h lists it); AT_ONCE: entries in flight */
  enum { T = 4, AT_ONCE = 2 };
  uint32_t i, length;
  const uint16_t *row;
  const uint32_t *map;
  oz_place here;
  /* the particle itself adds nothing */
  OZ_D uint32_t neighbour(uint32_t e) const {
    return e < length ? map[row[(e >> 2) * (4 * GROUP) + (e & 3u)]] : i;
  }
  OZ_D void open(const stage_args &a, uint32_t k) {
    const oz_frame *f = &a.f;
    i = k, length = f->start_length[i], here = oz_place_ld(a.place, i);
    row = f->start_entries + ((size_t)f->start_row[i / GROUP] * GROUP + i % GROUP * 4);
    map = f->share_list + f->share_first[2 * (i / BLOCK_PARTICLES)];
  }
  static OZ_D void add(const stage_args &a, oz_place here, oz_place there, const oz_real d[4],
                       const oz_mirror *seen, oz_real *sum) {
    float r[3];
    oz_place_difference(here, there, r);
    /* as in mirror_pairs_packed */
    const oz_real v[4] = {d[0] - a.units.metres * r[0], d[1] - a.units.metres * r[1],
                          d[2] - a.units.metres * r[2], oz_second_half(d[3])};
    oz_mirror_pair(&a.f, seen, v, sum);
  }
  /* The part of thread `lane`. seen.at is the particle's displacement. */
  OZ_D void inclusive_sum(const stage_args &a, uint32_t lane, const oz_mirror *seen,
                          oz_real *sum) const {
    for (uint32_t e = lane; e < length; e += T * AT_ONCE) {
      uint32_t who[AT_ONCE];
      oz_place there[AT_ONCE];
      oz_real d[AT_ONCE][4];
      for (uint32_t m = 0; m < AT_ONCE; m++) who[m] = neighbour(e + T * m);
      for (uint32_t m = 0; m < AT_ONCE; m++)
        there[m] = oz_place_ld(a.place, who[m]), oz_ld4(a.f.dx, who[m], 4, 0, d[m]);
      for (uint32_t m = 0; m < AT_ONCE; m++) add(a, here, there[m], d[m], seen, sum);
    }
  }
};
/* own: the particle's record in dx; x: its start position. seen: the particle in displacements. */
OZ_D void mirror_begin(const oz_real own[4], const float x[3], oz_mirror *m, oz_mirror *seen) {
  for (int c = 0; c < 3; c++) seen->at[c] = own[c], m->at[c] = own[c] + x[c];
  seen->lam = m->lam = oz_second_half(own[3]);
}
OZ_D int mirror_turn(const oz_frame *f, const float x[3], const oz_wall *w, oz_mirror *m,
                     oz_mirror *seen) {
  const int others = oz_mirror_plane(f, x, w, m);
  for (int c = 0; c < 3; c++) seen->n[c] = m->n[c];
  seen->D = m->D;
  return others;
}
/* Any contact, one plane after the other. TEAM: for one of four adjacent threads; otherwise for one
 * alone. */
template <bool TEAM> OZ_D void mirror_row(const stage_args &a, uint32_t slot, uint32_t lane) {
  const oz_frame *f = &a.f;
  const uint32_t i = f->wall_particle[slot], planes = f->wall_planes[slot];
  const oz_wall *wall = f->wall + (size_t)slot * f->contact_planes;
  float move[3] = {0.0f, 0.0f, 0.0f};
  const oz_v3 start = oz_vec_of(f->x, i);
  const float x[3] = {start.x, start.y, start.z};
  oz_mirror m, seen;
  oz_real own[4];
  if (!oz_mirror_open(f, i, &m)) return;
  oz_ld4(f->dx, i, 4, 0, own);
  mirror_begin(own, x, &m, &seen);
  for (uint32_t k = 0; k < planes; k++) {
    oz_real sum[OZ_MIRROR_SUMS];
    if (!wall[k].dense) continue;
    const int others = mirror_turn(f, x, wall + k, &m, &seen);
    for (int c = 0; c < OZ_MIRROR_SUMS; c++) sum[c] = 0.0f;
    if (others) {
      mirror_row_walk row;
      row.open(a, i);
#if !defined(OZ_CUDA_HOST)
      if constexpr (TEAM) {
        row.inclusive_sum(a, lane, &seen, sum);
        for (int c = 0; c < OZ_MIRROR_SUMS; c++)
          for (int e = mirror_row_walk::T / 2; e; e >>= 1)
            sum[c] += __shfl_xor_sync(
                ((1u << mirror_row_walk::T) - 1u)
                    << (threadIdx.x % 32u / mirror_row_walk::T * mirror_row_walk::T),
                sum[c], e);
      } else
#endif
        for (uint32_t l = 0; l < mirror_row_walk::T; l++) row.inclusive_sum(a, l, &seen, sum);
    }
    if (lane == 0)
      oz_mirror_apply(f, &m, wall[k].press, others, sum,
                      f->wall_impulse + ((size_t)slot * f->contact_planes + k) * 3, move);
  }
  if (lane == 0) oz_mirror_close(f, i, move);
}
/* In the kernel of stage S, with its copies in shared memory if rows hold places. */
template <class S, int T>
OZ_D void mirror_in(const stage_args &a, const shared_copies<S> *copies, uint32_t first, bool all,
                    uint32_t i, uint32_t slot, uint32_t lane) {
  typedef
      typename std::conditional<sends_displacements<S>, mirror_pairs_packed, mirror_pairs>::type I;
  const array_view plain = {&a.f, a.place, &a.units, {}};
  mirror_view s = {plain, plain, nullptr, 0, true};
  if (!copies) return mirror<I, T>(a, s, i, slot, lane);
  oz_frame f = a.f;
  f.dx = copies->copy(shared_copies<S>::ARRAYS - 1); /* the last array */
  s.copies = {&f, shared_copies<S>::PLACED ? copies->places() : a.place, &a.units, {}};
  s.map = a.f.share_list + first, s.room = a.block_room, s.all = all;
  mirror<I, T>(a, s, i, slot, lane);
}
/* In a kernel of its own, for thread `lane` of contact `slot`. */
template <int T> OZ_D void mirror_slot(const stage_args &a, uint32_t slot, uint32_t lane) {
  const uint32_t i = a.f.wall_particle[slot];
  const array_view plain = {&a.f, a.place, &a.units, {}};
  const mirror_view s = {
      plain, plain, T < 8 ? a.f.share_list + a.f.share_first[2 * (i / BLOCK_PARTICLES)] : nullptr,
      0, false};
  if constexpr (T >= 8)
    if (a.packed) return mirror<mirror_pairs_packed, T>(a, s, i, slot, lane);
  mirror<mirror_pairs, T>(a, s, i, slot, lane);
}
inline bool mirrors_rows(const stage_args &a) { return a.packed && a.f.start_entries; }
/* As many threads as gathers have, so that both ways give the same bits; where it is never fused,
 * enough to hide latency. */
inline int mirror_lanes(const stage_args &a, int lanes) {
  if (!a.f.start_entries) return lanes == 16 ? 16 : 8;
  return lanes > 1 || a.balance ? lanes : 4;
}
#endif
