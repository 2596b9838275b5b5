/* wall_mirror with T threads a particle, which share its row: in a kernel of its own, or inside that of the move, whose neighbours
 * are at hand. Both ways add up in the same order. Included by kinds.h, inside its namespace. */
#ifndef OZ_CUDA_MIRROR_H
#define OZ_CUDA_MIRROR_H

/* Where the records of neighbours are: in shared memory by place, or in the array by number. Positions, or (packed) displacements
 * that are added to start positions. */
struct mirror_rows {
  const stage_args *a;
  const float *copies;      /* of the block's neighbours; NULL: not there */
  const uint32_t *places;   /* and of their start positions */
  uint32_t first;           /* of the block's list, where rows hold places */
  OZ_D void record(uint32_t i, size_t entry, oz_real *v) const {
    const oz_frame *f = &a->f;
    const uint32_t k = f->near_c ? f->near_c[entry] : 0u, j = !f->near_c ? f->list_c[entry] : copies ? k : f->near_j[first + k];
    oz_ld4(copies ? copies : f->dx, j, 4, 0, v);
    if (!a->packed) return;
    const float *x = f->x + 4 * (size_t)i;
    float r[3];
    if (f->near_c) {
      oz_place_difference(oz_place_ld(a->place, i), oz_place_ld(copies ? places : a->place, j), r);
      for (int c = 0; c < 3; c++) v[c] += x[c] - a->units.metres * r[c];
    } else
      for (int c = 0; c < 3; c++) v[c] += f->x[4 * (size_t)j + (size_t)c];
    v[3] = oz_second_half(v[3]);
  }
  OZ_D bool open(uint32_t i, oz_mirror *m) const {
    const oz_frame *f = &a->f;
    if (!oz_mirror_open(f, i, m)) return false;
    if (!a->packed) return true;
    for (int c = 0; c < 3; c++) m->at[c] += f->x[4 * (size_t)i + (size_t)c];
    m->lam = oz_second_half(m->lam);
    return true;
  }
};
template <int T> OZ_D void mirror_sums(const oz_frame *f, const mirror_rows &rows, uint32_t i, uint32_t lane, const oz_mirror *m, oz_real *acc) {
  const uint32_t length = f->len_c[i];
#if defined(__CUDACC__)
#pragma unroll 2
#endif
  for (uint32_t e = lane; e < length; e += T) {
    oz_real v[4];
    rows.record(i, oz_row_entry(f->row_c, i, e), v);
    oz_mirror_pair(f, m, v, acc);
  }
}
/* On the device each of T neighbouring threads comes here with its number; as a loop, one comes for all of them. */
template <int T> OZ_D void mirror(const oz_frame *f, const mirror_rows &rows, uint32_t i, uint32_t slot, uint32_t lane) {
  const uint32_t planes = f->wall_planes[slot];
  const oz_wall *wall = f->wall + (size_t)slot * f->slot_planes;
  float move[3] = {0.0f, 0.0f, 0.0f};
  oz_mirror m;
  if (!rows.open(i, &m)) return;
  for (uint32_t k = 0; k < planes; k++) {
    oz_real sum[OZ_MIRROR_SUMS];
    if (!wall[k].dense) continue;
    const int others = oz_mirror_plane(f, i, wall + k, &m);
    for (int s = 0; s < OZ_MIRROR_SUMS; s++) sum[s] = 0.0f;
    if (others) {
#if defined(OZ_CUDA_HOST)
      for (uint32_t l = 0; l < T; l++) mirror_sums<T>(f, rows, i, l, &m, sum);
#else
      mirror_sums<T>(f, rows, i, lane, &m, sum);
      const uint32_t together = (T == 32 ? 0xffffffffu : (1u << T) - 1u) << (threadIdx.x % 32 / T * T);
      for (int s = 0; s < OZ_MIRROR_SUMS; s++)
        for (int d = T / 2; d; d >>= 1) sum[s] += __shfl_xor_sync(together, sum[s], d);
#endif
    }
    if (lane == 0) oz_mirror_push(f, &m, wall + k, others ? sum : nullptr, f->wall_impulse + ((size_t)slot * f->slot_planes + k) * 3, move);
  }
  if (lane == 0) oz_mirror_close(f, i, move);
}
/* In a kernel of its own: for the thread `lane` of slot `slot`. */
template <int T> OZ_D void mirror_slot(const stage_args &a, uint32_t slot, uint32_t lane) {
  const uint32_t i = a.f.wall_particle[slot];
  const mirror_rows rows = {&a, nullptr, nullptr, a.f.near_c ? a.f.near_first[2 * (i / SHARE)] : 0u};
  mirror<T>(&a.f, rows, i, slot, lane);
}
/* As many threads as gathers have, so that both ways give the same bits; where it is never joined, enough to hide that each
 * waits for memory. */
inline int mirror_lanes(const stage_args &a, int lanes) {
  if (!a.f.near_c) return lanes == 16 ? 16 : 8;
  return lanes > 1 || a.even ? lanes : 8;
}
#endif
