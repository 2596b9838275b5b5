/* Stages as loops on one thread: the same text, particle by particle, for machines without a GPU.
 * Included by stage_kernels.cu, inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_HOST_LOOPS_H
#define OZ_CUDA_HOST_LOOPS_H

template <int N> void deliver(const stage_args &a, const double *sum) {
  if (a.reset) *a.reset += (uint32_t)sum[0];
  for (int r = 0; r < N; r++) a.f.scalar[OZ_SCALAR_SUM + r] = sum[r];
  if (a.scalar_stage >= 0) run_one(a.scalar_stage, &a.f);
}
inline void host_box(const stage_args &a) {
  for (uint32_t i = 0; a.box && i < a.f.count; i++) {
    int c[3];
    for (int k = 0; k < 3; k++) {
      c[k] = coordinate(a.f.x[4 * (size_t)i + k], a.box_inv);
      oz_atomic_min(a.box + k, c[k]), oz_atomic_min(a.box + 3 + k, -c[k]);
    }
    if (a.counter.table) a.counter.within[i] = count_particle(a.counter, i, c);
  }
}
template <class S, int T>
void loop(const stage_args &a, uint32_t i, const typename S::self *self, oz_real *acc) {
  for (uint32_t lane = 0; lane < T; lane++) {
    walker<S, T> w;
    w.open(a, i, lane);
    w.walk(a, i, lane, self, acc);
  }
}
template <class S, int T>
void loop_share(const stage_args &a, uint32_t i, bool copied, const shared_copies<S> &copies,
                const typename S::self *self, oz_real *acc) {
  for (uint32_t lane = 0; lane < T; lane++) {
    shared_walker<S, T> w;
    w.open(a, i, lane);
    w.walk(a, a.f.share_first[2 * (i / BLOCK_PARTICLES)], copied, copies, lane, self, acc);
    if (walks_density_list<S>()) w.open_density(a, lane);
    w.walk_density(a, lane, self, acc);
  }
}
/* The content of shared memory. */
template <class S>
void fill_copies(const stage_args &a, uint32_t block, const shared_copies<S> &to) {
  const uint32_t *j = a.f.share_list + a.f.share_first[2 * block],
                 many = a.f.share_first[2 * block + 1],
                 n = many < a.block_room ? many : a.block_room;
  oz_frame f = a.f;
  for (uint32_t p = 0; p < n; p++) {
    if constexpr (shared_copies<S>::SHARES)
      for (int k = 0; k < shared_copies<S>::ARRAYS; k++) {
        const int words = shared_copies<S>::words(k);
        memcpy(to.copy(k) + (size_t)words * p, gathered<S>::array(f, k) + (size_t)words * j[p],
               4 * (size_t)words);
      }
    if (shared_copies<S>::PLACED)
      memcpy(to.places() + shared_copies<S>::PLACE * p,
             places_of<S>(a) + shared_copies<S>::PLACE * (size_t)j[p], 4 * shared_copies<S>::PLACE);
  }
}
template <class S>
cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  cudaError_t e = cudaSuccess;
  if (launch_fused<S>(a, g, lanes, stream, &e)) return e;
  if (a.block_room && reads_more<S>(a.f))
    return launch_gather<S>(without_copies(a), g, lanes, stream);
  double sum[S::REDS + 1] = {0.0};
  static float memory[BLOCK_MAX_NEIGHBOURS * 10];
  const shared_copies<S> copies = {memory, a.block_room};
  bool copied = false;
  for (uint32_t i = 0; i < a.f.count; i++) {
    typename S::self self;
    oz_real acc[S::SUMS], red[S::REDS + 1];
    for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
    if (a.f.start_entries && i % BLOCK_PARTICLES == 0) {
      copied = shared_copies<S>::SHARES &&
               a.f.share_first[2 * (i / BLOCK_PARTICLES) + 1] <= a.block_room;
      if (shared_copies<S>::SHARES) fill_copies(a, i / BLOCK_PARTICLES, copies);
    }
    S::begin(&a.f, i, &self);
    set_pull<S>(&self, a.f.start_entries ? a.units.pull : 1.0f);
    if constexpr (S::KIND == KIND_LINK)
      loop<S, 1>(a, i, &self, acc);
    else if (!a.f.start_entries)
      loop<S, 8>(a, i, &self, acc);
    else if (lanes == 1)
      loop_share<S, 1>(a, i, copied, copies, &self, acc);
    else if (lanes == 2)
      loop_share<S, 2>(a, i, copied, copies, &self, acc);
    else
      loop_share<S, 4>(a, i, copied, copies, &self, acc);
    if constexpr (mirrors<S>)
      if ((a.fused & FUSE_MIRROR) && a.slot_of[i]) {
        const uint32_t slot = a.slot_of[i] - 1,
                       first = a.f.start_entries ? a.f.share_first[2 * (i / BLOCK_PARTICLES)] : 0u;
        if (!a.f.start_entries)
          mirror_in<S, 8>(a, nullptr, 0, true, i, slot, 0);
        else if (lanes == 1)
          mirror_in<S, 1>(a, &copies, first, copied, i, slot, 0);
        else if (lanes == 2)
          mirror_in<S, 2>(a, &copies, first, copied, i, slot, 0);
        else
          mirror_in<S, 4>(a, &copies, first, copied, i, slot, 0);
      }
    if (S::KIND != KIND_LINK) finish_sums<S>(a, a.f.start_entries != nullptr, acc);
    if (walls_of<S>::ANY && (a.fused & ~FUSE_TYPES))
      end_with_walls<S>(&a.f, &g, i, a.slot_of[i],
                        a.slot_of[i] ? a.f.wall_planes[a.slot_of[i] - 1] : 0u, a.fused, acc, red);
    else
      S::end(&a.f, i, acc, red);
    for (int r = 0; r < S::REDS; r++) sum[r] += (double)red[r];
  }
  if constexpr (ends_substep<S>) host_box(a);
  if (S::REDS) deliver<S::REDS>(a, sum);
  return cudaSuccess;
}
static void mirror_slots(const stage_args &a, uint32_t slot, int lanes) {
  if (mirrors_rows(a)) return mirror_row<false>(a, slot, 0);
  switch (a.f.start_entries ? mirror_lanes(a, lanes) : 8) {
  case 2:
    return mirror_slot<2>(a, slot, 0);
  case 4:
    return mirror_slot<4>(a, slot, 0);
  case 1:
    return mirror_slot<1>(a, slot, 0);
  default:
    return mirror_slot<8>(a, slot, 0);
  }
}
template <class S>
cudaError_t launch_map(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  if constexpr (std::is_same<S, stage_cg_update>::value)
    if (a.fused & FUSE_ADVANCE) return launch_map<stage_cg_advance>(a, g, lanes, stream);
  double sum[S::REDS + 1] = {0.0};
  const uint32_t n = S::KIND == KIND_WALL     ? *a.wall_count
                     : S::KIND == KIND_MEMBER ? a.f.member_count
                                              : a.f.count;
  for (uint32_t i = 0; i < n; i++) {
    oz_real red[S::REDS + 1];
    if constexpr (S::STAGE == OZ_STAGE_wall_planes)
      if (a.fused & FUSE_HOLD) {
        if (a.flat)
          flat_of<S>::template with_hold<true>::item(&a.f, i, red);
        else
          flat_of<S>::template with_hold<false>::item(&a.f, i, red);
        continue;
      }
    if constexpr (S::STAGE == OZ_STAGE_wall_mirror)
      mirror_slots(a, i, lanes);
    else if (S::STAGE == OZ_STAGE_wall_press && a.packed)
      walls_of<stage_density_strain>::apply(&a.f, i, a.f.wall_particle[i], a.f.wall_planes[i], 0);
    else if (a.fused && map_fusion<S>::TWO && a.flat)
      map_fused<S, map_fusion<S>::TWO>(a, i, a.slot_of[i], red);
    else if constexpr (std::is_same<S, stage_cg_advance>::value)
      map_fused<S>(a, i, a.slot_of[i], red);
    else if (a.fused && map_fusion<S>::ANY)
      map_fused<S>(a, i, a.slot_of[i], red);
    else if constexpr (flat_of<S>::ANY) {
      if (a.flat)
        flat_of<S>::template stage<true>::item(&a.f, i, red);
      else
        flat_of<S>::template stage<false>::item(&a.f, i, red);
    } else
      S::item(&a.f, i, red);
    for (int r = 0; r < S::REDS; r++) sum[r] += (double)red[r];
  }
  if constexpr (ends_substep<S>) host_box(a);
  if ((S::STAGE == OZ_STAGE_advance || std::is_same<S, stage_cg_advance>::value) && a.binning)
    for_each(0, (a.f.count + 31) / 32, *a.binning);
  if (S::REDS) deliver<S::REDS>(a, sum);
  return cudaSuccess;
}
template <class S>
cudaError_t launch_bodies(const stage_args &a, const oz_frame &, int, cudaStream_t) {
  const oz_frame *f = &a.f;
  for (uint32_t b = 0; b < f->body_count; b++) {
    double acc[S::SUMS] = {0.0};
    for (uint32_t k = 0; k < f->body[b].count; k++) {
      const uint32_t i = f->member[f->body[b].first + k];
      if (i != OZ_NO_MEMBER) S::pair(f, b, i, acc);
    }
    S::end(f, b, acc);
  }
  return cudaSuccess;
}
template <class S>
cudaError_t launch_one(const stage_args &a, const oz_frame &, int, cudaStream_t) {
  run_one(S::STAGE, &a.f);
  return cudaSuccess;
}
#endif
