/* Kernels of gathers: rows of particle numbers, and rows of places with copies in shared memory.
 * Included by stage_kernels.cu, inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_GATHER_KERNELS_H
#define OZ_CUDA_GATHER_KERNELS_H

/* Posts the status of all earlier kernels, by the last warp, whose particles are seldom near walls.
 * It costs that warp about a microsecond. */
template <int THREADS> __device__ __forceinline__ void post_status_before(const stage_args &a) {
  if (a.status.to && blockIdx.x == gridDim.x - 1 && threadIdx.x >= THREADS - 32)
    post_status(a.status);
}
/* as carries_status of stage_launch.cu */
template <class S>
constexpr bool posts_status =
    S::STAGE == OZ_STAGE_density_lambda || S::STAGE == OZ_STAGE_velocity_start ||
    S::STAGE == OZ_STAGE_filter_gradient || std::is_same<S, stage_bound_residual>::value;

template <class S, int T, bool WALLS>
__device__ __forceinline__ void gather_body(const stage_args &a, const oz_frame *g) {
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x, lane = thread % T;
  uint32_t i = thread / T;
  bool there = i < a.f.count;
  oz_real acc[S::SUMS], red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
  walker<S, T> w;
  if (there) w.open(a, i, lane);
  launch_dependency_trigger_and_wait();
  if constexpr (posts_status<S>) post_status_before<BLOCK>(a);
  if (there) {
    typename S::self self;
    S::begin(&a.f, i, &self);
    set_pull<S>(&self, 1.0f);
    w.walk(a, i, lane, &self, acc);
    if constexpr (WALLS && mirrors<S>) {
      const uint32_t slot = (a.fused & FUSE_MIRROR) ? a.slot_of[i] : 0u;
      if (slot) mirror_in<S, T>(a, nullptr, 0, true, i, slot - 1, lane);
    }
  }
  if constexpr (T > 1) {
    /* after the reduction the first threads take a particle each, so that ends run in full warps */
    __shared__ float sums[S::SUMS][BLOCK / T];
    for (int s = 0; s < S::SUMS; s++) {
      for (int d = T / 2; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
      if (lane == 0) sums[s][threadIdx.x / T] = acc[s];
    }
    __syncthreads();
    i = blockIdx.x * (uint32_t)(BLOCK / T) + threadIdx.x;
    there = threadIdx.x < BLOCK / T && i < a.f.count;
    if (there)
      for (int s = 0; s < S::SUMS; s++) acc[s] = sums[s][threadIdx.x];
  }
  if (there) {
    finish_sums<S>(a, false, acc);
    if constexpr (WALLS) {
      const uint32_t slot = a.slot_of[i];
      end_with_walls<S>(&a.f, g, i, slot, slot ? a.f.wall_planes[slot - 1] : 0u, a.fused, acc, red);
    } else
      S::end(&a.f, i, acc, red);
  }
  finish_stage<S, BLOCK>(a, i, there, red);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK) gather_kernel(const __grid_constant__ stage_args a) {
  gather_body<S, T, false>(a, nullptr);
}
/* Resident blocks a multiprocessor: mirror pressure must not cost a wave. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { MAX_MIN_BLOCKS = 8 }; /* its limit is 1,024 threads a multiprocessor */
#else
enum { MAX_MIN_BLOCKS = 16 };
#endif
template <class S, int T>
constexpr int wished_blocks = std::is_same<S, stage_density_strain>::value ? (T == 1 ? 7 : 0)
                              : std::is_same<S, stage_force_kick>::value   ? (T == 1   ? 7
                                                                              : T == 2 ? 4
                                                                                       : 0)
                              : !mirrors<S>                                ? 0
                              : sends_displacements<S>                     ? (T >= 8   ? 8
                                                                              : T == 4 ? 2
                                                                              : T == 2 ? 3
                                                                                       : 7)
                              : T >= 8                                     ? 10
                              : T == 4                                     ? 2
                              : T == 2                                     ? 4
                                                                           : 9;
template <class S, int T>
constexpr int min_blocks = wished_blocks<S, T> < MAX_MIN_BLOCKS ? wished_blocks<S, T>
                                                                : (int)MAX_MIN_BLOCKS;
template <class S, int T>
__global__ void __launch_bounds__(BLOCK, (min_blocks<S, T>))
    gather_walls_kernel(const __grid_constant__ stage_args a, const __grid_constant__ oz_frame g) {
  gather_body<S, T, true>(a, &g);
}
/* Asynchronous copies to shared memory, which need no registers, on devices that have them. */
template <int BYTES>
__device__ __forceinline__ void copy_async(shared_address to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES));
#else
  if (BYTES == 16)
    *static_cast<uint4 *>(shared_pointer(to)) = *static_cast<const uint4 *>(from);
  else if (BYTES == 8)
    *static_cast<uint2 *>(shared_pointer(to)) = *static_cast<const uint2 *>(from);
  else
    *static_cast<uint32_t *>(shared_pointer(to)) = *static_cast<const uint32_t *>(from);
#endif
}
/* Prefetches the data of a contact at once, since each address depends on the load before. The
 * first plane only; few contacts have more. */
__device__ __forceinline__ void prefetch_wall(const oz_frame *f, uint32_t slot, uint32_t i) {
  const char *wall = reinterpret_cast<const char *>(f->wall + (size_t)slot * f->contact_planes);
  for (uint32_t at = 0; at < sizeof(oz_wall); at += 32) prefetch(wall + at);
  prefetch(f->wall_impulse + (size_t)slot * f->contact_planes * 3);
  prefetch(f->omega + i), prefetch(f->wall_term + 4 * (size_t)i);
}
__device__ __forceinline__ void copies_wait() { /* copies of this thread */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
__device__ __forceinline__ void copies_wait_block() {
  copies_wait();
  __syncthreads();
}
/* Hazards of dependent launches. The kernel after gradient reads positions before its wait, and the
 * kernel before gradient may just have written them: so gradient triggers after its wait. The same
 * holds for cg_apply and the last force under deferred sums. Mirror pressure overlaps the move, and
 * the density list overlaps density_lambda. */
struct launch_overlap {
  bool mirror, list, trigger_late;
};
template <class S> __device__ __forceinline__ launch_overlap overlap_of(const stage_args &a) {
  const bool sums = S::STAGE == OZ_STAGE_cg_apply || std::is_same<S, stage_force_last>::value;
  return {mirrors<S> && a.overlaps, std::is_same<S, stage_density_strain>::value && a.overlaps,
          (sums && a.deferred_blocks) || S::STAGE == OZ_STAGE_gradient};
}
/* The list of a block: `have` of `many` neighbours have room in shared memory, all of them where it
 * fits; the rest is gathered from global memory. The first indices stay in registers, so that all
 * copies are in flight at once. */
template <int T> struct gather_list {
  static constexpr uint32_t THREADS = BLOCK_PARTICLES * T, AHEAD = T == 1 ? 5 : T == 2 ? 3 : 2;
  const uint32_t *near;
  uint32_t first, many, have;
  bool fits;
  uint32_t j[AHEAD];
  template <class S> __device__ __forceinline__ void open(const stage_args &a) {
    first = a.f.share_first[2 * blockIdx.x];
    many = a.f.share_first[2 * blockIdx.x + 1];
    fits = shared_copies<S>::SHARES && many <= a.block_room;
    have = !shared_copies<S>::SHARES ? 0 : fits ? many : a.block_room;
    near = a.f.share_list + first;
    for (uint32_t u = 0; u < AHEAD; u++) {
      const uint32_t p = threadIdx.x + u * THREADS;
      j[u] = p < have ? near[p] : 0u;
    }
  }
  /* copy(place from this thread's first on, neighbour) for each of this thread's places */
  template <class C> __device__ __forceinline__ void each(const C &copy) const {
    for (uint32_t u = 0; u < AHEAD; u++)
      if (threadIdx.x + u * THREADS < have) copy(u * THREADS, j[u]);
    for (uint32_t p = threadIdx.x + AHEAD * THREADS; p < have; p += THREADS)
      copy(p - threadIdx.x, near[p]);
  }
};
/* Packed positions, which are as old as the lists. */
template <class S, int T>
__device__ __forceinline__ void copy_places(const stage_args &a, const gather_list<T> &list,
                                            const shared_copies<S> &copies) {
  constexpr int BYTES = 4 * shared_copies<S>::PLACE;
  const shared_address to = shared_address_of(copies.places()) + BYTES * threadIdx.x;
  const char *from = reinterpret_cast<const char *>(places_of<S>(a));
  list.each(
      [&](uint32_t p, uint32_t j) { copy_async<BYTES>(to + BYTES * p, from + BYTES * (size_t)j); });
}
/* The stage's gathers, to addresses that were computed before the wait. */
template <class S, int T>
__device__ __forceinline__ void copy_gathered(const stage_args &a, const gather_list<T> &list,
                                              const shared_address *to) {
  oz_frame f = a.f;
  for (int k = 0; k < shared_copies<S>::ARRAYS; k++) {
    const char *from = reinterpret_cast<const char *>(gathered<S>::array(f, k));
    list.each([&](uint32_t p, uint32_t j) {
      if (shared_copies<S>::words(k) == 4)
        copy_async<16>(to[k] + 16 * p, from + 16 * (size_t)j);
      else
        copy_async<4>(to[k] + 4 * p, from + 4 * (size_t)j);
    });
  }
  /* prefetch for neighbours without room */
  for (uint32_t p = list.have + threadIdx.x; !walks_windows<S>(a) && p < list.many;
       p += gather_list<T>::THREADS) {
    const uint32_t j = list.near[p];
    for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
      prefetch(gathered<S>::array(f, k) + shared_copies<S>::words(k) * (size_t)j);
    if (shared_copies<S>::PLACED) prefetch(places_of<S>(a) + shared_copies<S>::PLACE * (size_t)j);
  }
}
/* Copies of `room` places of the block's list from `first` on, in place of the others. */
template <class S, int T>
__device__ __forceinline__ void copy_window(const stage_args &a, const gather_list<T> &list,
                                            const shared_copies<S> &copies, uint32_t first) {
  constexpr int PLACE_BYTES = 4 * shared_copies<S>::PLACE;
  const uint32_t end = min(list.many, first + a.block_room);
  oz_frame f = a.f;
  for (uint32_t p = first + threadIdx.x; p < end; p += gather_list<T>::THREADS) {
    const uint32_t j = list.near[p], to = p - first;
    for (int k = 0; k < shared_copies<S>::ARRAYS; k++) {
      const int words = shared_copies<S>::words(k);
      const float *from = gathered<S>::array(f, k) + words * (size_t)j;
      const shared_address at = shared_address_of(copies.copy(k) + words * to);
      if (words == 4)
        copy_async<16>(at, from);
      else
        copy_async<4>(at, from);
    }
    if constexpr (shared_copies<S>::PLACED)
      copy_async<PLACE_BYTES>(shared_address_of(copies.places() + shared_copies<S>::PLACE * to),
                              places_of<S>(a) + shared_copies<S>::PLACE * (size_t)j);
  }
}
/* Sums over the threads of each particle. The first threads take a particle each afterwards, so
 * that ends run in full warps. */
template <class S, int T>
__device__ __forceinline__ void sum_over_teams(const stage_args &a, float *memory, uint32_t lane,
                                               oz_real *acc, uint32_t &i, bool &there) {
  __syncthreads();
  for (int s = 0; s < S::SUMS; s++) {
    for (int d = T / 2; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
    if (lane == 0) memory[s * BLOCK_PARTICLES + threadIdx.x / T] = acc[s];
  }
  __syncthreads();
  i = blockIdx.x * BLOCK_PARTICLES + threadIdx.x;
  there = threadIdx.x < BLOCK_PARTICLES && i < a.f.count;
  if (there)
    for (int s = 0; s < S::SUMS; s++) acc[s] = memory[s * BLOCK_PARTICLES + threadIdx.x];
}
/* contact + 1 of the particle that this thread ends, or 0; the kernels that write contacts do not
 * trigger early */
__device__ __forceinline__ uint32_t contact_of_end(const stage_args &a) {
  const uint32_t i = blockIdx.x * BLOCK_PARTICLES + threadIdx.x;
  return threadIdx.x < BLOCK_PARTICLES && i < a.f.count ? a.slot_of[i] : 0u;
}
/* Before the stage's reads of the kernels ahead of it. */
template <class S, int THREADS>
__device__ __forceinline__ void enter_stage(const stage_args &a, const launch_overlap &overlap) {
  if (!overlap.trigger_late && !overlap.list) launch_dependency_trigger();
  if (overlap.mirror || overlap.list)
    acquire_fence();
  else
    launch_dependency_wait();
  if (overlap.trigger_late) launch_dependency_trigger();
  if constexpr (posts_status<S>)
    if (!overlap.list) post_status_before<THREADS>(a);
}
/* The trigger comes no sooner: the dependent kernel reads the rows of the density list before its
 * wait. */
template <class S, int THREADS> __device__ __forceinline__ void wait_for_list(const stage_args &a) {
  launch_dependency_wait();
  launch_dependency_trigger();
  if constexpr (posts_status<S>) post_status_before<THREADS>(a);
}
/* Mirror pressure of a particle with a contact. Where it overlaps, it has a kernel of its own
 * (launch_plan.h). */
template <class S, int T>
__device__ __forceinline__ void mirror_here(const stage_args &a, const shared_copies<S> &copies,
                                            const gather_list<T> &list, uint32_t i, uint32_t lane) {
  const uint32_t slot = (a.fused & FUSE_MIRROR) ? a.slot_of[i] : 0u;
  if (slot) mirror_in<S, T>(a, &copies, list.first, list.fits, i, slot - 1, lane);
}
/* The end of each particle, by one thread. */
template <class S, int T, bool WALLS>
__device__ __forceinline__ void
end_particle(const stage_args &a, const oz_frame *g, uint32_t i, uint32_t wall, uint32_t planes,
             oz_real *acc, oz_real *red, const typename prefetched_own<S>::own *taken) {
  if constexpr (WALLS && S::STAGE != OZ_STAGE_force)
    if (wall) prefetch_wall(g, wall - 1, i);
  finish_sums<S>(a, true, acc);
  if constexpr (WALLS)
    end_with_walls<S>(&a.f, g, i, wall, planes, a.fused, acc, red, taken);
  else
    end_of<S>(&a.f, i, acc, red, taken);
}
/* The remaining parts of a list that has no room at once. By the whole block. */
template <class S, int T>
__device__ __forceinline__ void walk_windows(const stage_args &a, const gather_list<T> &list,
                                             const shared_copies<S> &copies, uint32_t lane,
                                             bool there, shared_walker<S, T> *w,
                                             const typename S::self *self, oz_real *acc) {
  if constexpr (shared_copies<S>::SHARES) {
    if (list.fits || !walks_windows<S>(a) || !walks_start_list<S>(&a.f)) return;
    for (uint32_t first = a.block_room; first < list.many; first += a.block_room) {
      __syncthreads();
      copy_window<S, T>(a, list, copies, first);
      copies_wait_block();
      if (there) w->open_start(a, lane), w->walk_window(a, copies, first, lane, self, acc);
    }
  }
}
/* One block for the particles of a shared list, T threads each. */
template <class S, int T, bool WALLS>
__device__ __forceinline__ void shared_gather_body(const stage_args &a, const oz_frame *g) {
  constexpr uint32_t THREADS = BLOCK_PARTICLES * T;
  extern __shared__ float memory[];
  const uint32_t lane = threadIdx.x % T;
  uint32_t i = blockIdx.x * BLOCK_PARTICLES + threadIdx.x / T;
  bool there = i < a.f.count;
  oz_real acc[S::SUMS], red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
  const shared_copies<S> copies = {memory, a.block_room};
  const launch_overlap overlap = overlap_of<S>(a);
  gather_list<T> list;
  list.template open<S>(a);

  shared_walker<S, T> w;
  if (there) w.open(a, i, lane);
  if (walks_density_list<S>() && there && !overlap.list) w.open_density(a, lane);
  const uint32_t wall = WALLS ? contact_of_end(a) : 0u,
                 planes = wall ? a.f.wall_planes[wall - 1] : 0u;
  if constexpr (shared_copies<S>::PLACED) copy_places<S, T>(a, list, copies);
  shared_address to[shared_copies<S>::ARRAYS + 1]; /* computed before the wait */
  for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
    to[k] = shared_address_of(copies.copy(k) + shared_copies<S>::words(k) * threadIdx.x);
  enter_stage<S, THREADS>(a, overlap);
  if constexpr (shared_copies<S>::SHARES) copy_gathered<S, T>(a, list, to);
  typename prefetched_own<S>::own own;
  if constexpr (prefetched_own<S>::ANY && T == 1)
    if (there) prefetched_own<S>::take(&a.f, i, &own); /* while copies are in flight */
  if constexpr (shared_copies<S>::SHARES) copies_wait_block();

  typename S::self self;
  if (there) {
    S::begin(&a.f, i, &self);
    set_pull<S>(&self, a.units.pull);
    w.walk(a, list.first, list.fits, copies, lane, &self, acc);
  }
  walk_windows<S, T>(a, list, copies, lane, there, &w, &self, acc);
  if (overlap.list) {
    wait_for_list<S, THREADS>(a);
    if (there) w.open_density(a, lane);
  }
  if (there) {
    w.walk_density(a, lane, &self, acc);
    if constexpr (WALLS && mirrors<S> && !sends_displacements<S>)
      mirror_here<S, T>(a, copies, list, i, lane);
  }
  if constexpr (T > 1) sum_over_teams<S, T>(a, memory, lane, acc, i, there);
  /* Mirror pressure moves only particles with contacts: warps without any go on, which frees their
   * blocks early. The first block waits in any case, so that mirror pressure is done when this
   * kernel is. */
  if (overlap.mirror && (!WALLS || blockIdx.x == 0 || __any_sync(0xffffffffu, wall != 0)))
    launch_dependency_wait();
  if (there) end_particle<S, T, WALLS>(a, g, i, wall, planes, acc, red, T == 1 ? &own : nullptr);
  finish_stage<S, THREADS>(a, i, there, red);
}
/* the same for kernels without walls */
template <class S, int T>
constexpr int min_blocks_plain = std::is_same<S, stage_density_strain>::value ? (T == 4   ? 2
                                                                                 : T == 2 ? 4
                                                                                          : 7)
                                                                              : 0;
template <class S, int T>
__global__ void __launch_bounds__(BLOCK_PARTICLES *T, (min_blocks_plain<S, T>))
    shared_gather_kernel(const __grid_constant__ stage_args a) {
  shared_gather_body<S, T, false>(a, nullptr);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK_PARTICLES *T, (min_blocks<S, T>))
    shared_gather_walls_kernel(const __grid_constant__ stage_args a,
                               const __grid_constant__ oz_frame g) {
  shared_gather_body<S, T, true>(a, &g);
}
#endif
