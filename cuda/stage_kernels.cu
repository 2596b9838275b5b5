/* Every stage of stages.def as a kernel, from the physics text that the CPU compiles too. A stage
 * without its functions does not compile. The file is compiled OZ_PARTS times, each time with the
 * stages whose number is OZ_PART modulo OZ_PARTS, because one unit would take minutes.
 *
 * Gathers run with 1 to 16 threads a particle: the threads share the entries of its row, a fixed
 * tree adds up, the first one finishes. Small scenes need the additional threads to fill the
 * machine. */
#include "cuda/fusion.h"
#include "cuda/stage_types.h"
#include "cuda/moved_cells.h"
#include "cuda/mailbox.h"

#ifndef OZ_PARTS
#define OZ_PARTS 1
#define OZ_PART 0
#endif

namespace OZ_NAMESPACE {
namespace {

/* The type that a kernel runs: a stage, or two fused ones (fusion.h). */
template <class S> struct fused_of {
  static constexpr bool ANY = false;
  typedef S stage;
};
template <> struct fused_of<stage_conform_update> {
  static constexpr bool ANY = true;
  typedef stage_conform_finish stage;
};
template <> struct fused_of<stage_force> {
  static constexpr bool ANY = true;
  typedef stage_force_last stage;
};
template <> struct fused_of<stage_residual> {
  static constexpr bool ANY = true;
  typedef stage_bound_residual stage;
};
template <> struct fused_of<stage_density_lambda> {
  static constexpr bool ANY = true;
  typedef stage_density_strain stage;
};
template <> struct fused_of<stage_conform_move> {
  static constexpr bool ANY = true;
  typedef stage_position_move stage;
};

#if defined(OZ_CUDA_HOST)
#include "cuda/host_loops.h"
#else
/* ---- kernels ---- */

#include "cuda/reductions.h"

/* Posts the status of all earlier kernels, by the last warp, whose particles are seldom near walls.
 * It costs that warp about a microsecond. */
template <int THREADS> __device__ __forceinline__ void post_status_before(const stage_args &a) {
  if (a.status.to && blockIdx.x == gridDim.x - 1 && threadIdx.x >= THREADS - 32)
    post_status(a.status);
}
/* as carries_status of stage_queue.cu */
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
/* One block for the particles of a shared list, T threads each. */
template <class S, int T, bool WALLS>
__device__ __forceinline__ void shared_gather_body(const stage_args &a, const oz_frame *g) {
  constexpr uint32_t THREADS = BLOCK_PARTICLES * T, AHEAD = T == 1 ? 5 : T == 2 ? 3 : 2;
  extern __shared__ float memory[];
  const uint32_t lane = threadIdx.x % T, first = a.f.share_first[2 * blockIdx.x],
                 many = a.f.share_first[2 * blockIdx.x + 1];
  uint32_t i = blockIdx.x * BLOCK_PARTICLES + threadIdx.x / T;
  bool there = i < a.f.count;
  oz_real acc[S::SUMS], red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
  const shared_copies<S> copies = {memory, a.block_room};
  const bool fits = shared_copies<S>::SHARES && many <= a.block_room;
  /* the rest is gathered from global memory */
  const uint32_t have = !shared_copies<S>::SHARES ? 0 : fits ? many : a.block_room;
  const uint32_t *near = a.f.share_list + first;
  /* the first indices stay in registers, so that all copies are in flight at once */
  uint32_t j[AHEAD];
  for (uint32_t u = 0; u < AHEAD; u++) {
    const uint32_t p = threadIdx.x + u * THREADS;
    j[u] = p < have ? near[p] : 0u;
  }
  /* Hazards of dependent launches. The kernel after gradient reads positions before its wait, and
   * the kernel before gradient may just have written them: so gradient triggers after its wait. The
   * same holds for cg_apply and the last force under deferred sums. Mirror pressure overlaps the
   * move, and the density list overlaps density_lambda. */
  const bool beside = mirrors<S> && a.overlaps,
             behind = std::is_same<S, stage_density_strain>::value && a.overlaps,
             ready = ((S::STAGE == OZ_STAGE_cg_apply || std::is_same<S, stage_force_last>::value) &&
                      a.deferred_blocks) ||
                     S::STAGE == OZ_STAGE_gradient;
  shared_walker<S, T> w;
  if (there) w.open(a, i, lane);
  if (walks_density_list<S>() && there && !behind) w.open_density(a, lane);
  /* contact + 1 of the particle that this thread ends, and its planes; the kernels that write them
   * do not trigger early */
  uint32_t wall = 0, planes = 0;
  if (WALLS && threadIdx.x < BLOCK_PARTICLES &&
      blockIdx.x * BLOCK_PARTICLES + threadIdx.x < a.f.count)
    wall = a.slot_of[blockIdx.x * BLOCK_PARTICLES + threadIdx.x];
  if (wall) planes = a.f.wall_planes[wall - 1];
  if (shared_copies<S>::PLACED) { /* packed positions are as old as the lists */
    constexpr int BYTES = 4 * shared_copies<S>::PLACE;
    const shared_address to = shared_address_of(copies.places()) + BYTES * threadIdx.x;
    const char *from = reinterpret_cast<const char *>(places_of<S>(a));
    for (uint32_t u = 0; u < AHEAD; u++)
      if (threadIdx.x + u * THREADS < have)
        copy_async<BYTES>(to + BYTES * THREADS * u, from + BYTES * (size_t)j[u]);
    for (uint32_t p = threadIdx.x + AHEAD * THREADS; p < have; p += THREADS)
      copy_async<BYTES>(to + BYTES * (p - threadIdx.x), from + BYTES * (size_t)near[p]);
  }
  shared_address to[shared_copies<S>::ARRAYS + 1]; /* computed before the wait */
  for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
    to[k] = shared_address_of(copies.copy(k) + shared_copies<S>::words(k) * threadIdx.x);
  if (!ready && !behind) launch_dependency_trigger();
  if (beside || behind)
    acquire_fence();
  else
    launch_dependency_wait();
  if (ready) launch_dependency_trigger();
  if constexpr (posts_status<S>)
    if (!behind) post_status_before<THREADS>(a);
  if constexpr (shared_copies<S>::SHARES) {
    oz_frame f = a.f;
    for (int k = 0; k < shared_copies<S>::ARRAYS; k++) {
      const char *from = reinterpret_cast<const char *>(gathered<S>::array(f, k));
      const auto bring = [&](uint32_t p, uint32_t j) {
        if (shared_copies<S>::words(k) == 4)
          copy_async<16>(to[k] + 16 * p, from + 16 * (size_t)j);
        else
          copy_async<4>(to[k] + 4 * p, from + 4 * (size_t)j);
      };
      for (uint32_t u = 0; u < AHEAD; u++)
        if (threadIdx.x + u * THREADS < have) bring(u * THREADS, j[u]);
      for (uint32_t p = threadIdx.x + AHEAD * THREADS; p < have; p += THREADS)
        bring(p - threadIdx.x, near[p]);
    }
    /* prefetch for neighbours without room */
    for (uint32_t p = have + threadIdx.x; p < many; p += THREADS) {
      const uint32_t j = near[p];
      for (int k = 0; k < shared_copies<S>::ARRAYS; k++)
        prefetch(gathered<S>::array(f, k) + shared_copies<S>::words(k) * (size_t)j);
      if (shared_copies<S>::PLACED) prefetch(places_of<S>(a) + shared_copies<S>::PLACE * (size_t)j);
    }
  }
  typename prefetched_own<S>::own own;
  if constexpr (prefetched_own<S>::ANY && T == 1)
    if (there) prefetched_own<S>::take(&a.f, i, &own); /* while copies are in flight */
  if constexpr (shared_copies<S>::SHARES) copies_wait_block();
  typename S::self self;
  if (there) {
    S::begin(&a.f, i, &self);
    set_pull<S>(&self, a.units.pull);
    w.walk(a, first, fits, copies, lane, &self, acc);
  }
  if (behind) {
    launch_dependency_wait();
    launch_dependency_trigger(); /* no sooner: the dependent kernel reads these rows before its wait
                                  */
    if constexpr (posts_status<S>) post_status_before<THREADS>(a);
    if (there) w.open_density(a, lane);
  }
  if (there) {
    w.walk_density(a, lane, &self, acc);
    /* overlapping mirror pressure has a kernel of its own (launch_plan.h) */
    if constexpr (WALLS && mirrors<S> && !sends_displacements<S>) {
      const uint32_t slot = (a.fused & FUSE_MIRROR) ? a.slot_of[i] : 0u;
      if (slot) mirror_in<S, T>(a, &copies, first, fits, i, slot - 1, lane);
    }
  }
  if constexpr (T > 1) {
    /* the first threads take a particle each, so that ends run in full warps */
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
  /* Mirror pressure moves only particles with contacts: warps without any go on, which frees their
   * blocks early. The first block waits in any case, so that mirror pressure is done when this
   * kernel is. */
  if (beside && (!WALLS || blockIdx.x == 0 || __any_sync(0xffffffffu, wall != 0)))
    launch_dependency_wait();
  if (there) {
    if constexpr (WALLS && S::STAGE != OZ_STAGE_force)
      if (wall) prefetch_wall(g, wall - 1, i);
    finish_sums<S>(a, true, acc);
    const typename prefetched_own<S>::own *taken = T == 1 ? &own : nullptr;
    if constexpr (WALLS)
      end_with_walls<S>(&a.f, g, i, wall, planes, a.fused, acc, red, taken);
    else
      end_of<S>(&a.f, i, acc, red, taken);
  }
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
template <class S>
__global__ void __launch_bounds__(BLOCK) map_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  if (S::STAGE == OZ_STAGE_wall_planes)
    prefetch_table(a.f.collider, a.f.collider_count * sizeof(oz_collider));
  else
    launch_dependency_trigger(); /* gathers read the number of planes before their wait */
  launch_dependency_wait();
  /* the number of contacts stays on the device, so that a recorded graph serves any number */
  if (i < (S::KIND == KIND_WALL     ? *a.wall_count
           : S::KIND == KIND_MEMBER ? a.f.member_count
                                    : a.f.count)) {
    if (S::STAGE == OZ_STAGE_wall_press && a.packed)
      walls_of<stage_density_strain>::apply(&a.f, i, a.f.wall_planes[i], a.f.wall_particle[i]);
    else
      S::item(&a.f, i, red);
  }
  if constexpr (posts_status<S>) post_status_before<BLOCK>(a);
  finish_stage<S, BLOCK>(a, i, i < a.f.count, red);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK) mirror_kernel(const __grid_constant__ stage_args a) {
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  if (!a.overlaps) launch_dependency_trigger();
  launch_dependency_wait();
  /* the dependent kernel finds all earlier kernels done, and need not wait for them */
  if (a.overlaps) launch_dependency_trigger();
  if (thread / T < *a.wall_count) mirror_slot<T>(a, thread / T, thread % T);
}
#include "cuda/mirror_rows.h"
/* One block a body: threads take its particles in turn, a tree adds up, the first one finishes. */
template <class S>
__global__ void __launch_bounds__(BLOCK) body_kernel(const __grid_constant__ stage_args a) {
  __shared__ double part[S::SUMS][BLOCK / 32];
  const oz_frame *f = &a.f;
  const uint32_t b = blockIdx.x;
  double acc[S::SUMS];
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0;
  launch_dependency_trigger_and_wait();
  for (uint32_t k = threadIdx.x; k < f->body[b].count; k += BLOCK) {
    const uint32_t i = f->member[f->body[b].first + k];
    if (i != OZ_NO_MEMBER) S::pair(f, b, i, acc);
  }
  for (int s = 0; s < S::SUMS; s++) {
    for (int d = 16; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
    if (threadIdx.x % 32 == 0) part[s][threadIdx.x / 32] = acc[s];
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int s = 0; s < S::SUMS; s++) {
    acc[s] = 0.0;
    for (int w = 0; w < BLOCK / 32; w++) acc[s] += part[s][w];
  }
  S::end(f, b, acc);
}
template <class S, bool FLAT>
__global__ void __launch_bounds__(BLOCK, (std::is_same<S, stage_cg_advance>::value ? 7 : 0))
    map_fused_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  /* the kernels that write it do not trigger early */
  const uint32_t slot = map_fusion<S>::WALLS && i < a.f.count ? a.slot_of[i] : 0u;
  /* as wall_planes in a kernel of its own */
  if (S::STAGE != OZ_STAGE_velocity_start || !(a.fused & 1u)) launch_dependency_trigger();
  launch_dependency_wait();
  if (i < a.f.count) map_fused<S, FLAT>(a, i, slot, red);
  if constexpr (posts_status<S>) post_status_before<BLOCK>(a); /* the status is not written here */
  if constexpr (S::REDS > 0) deliver<S::REDS>(a, red);
}
/* advance moves particles to where the density list finds them: the same kernel bins their
 * displacements. */
template <class S>
__global__ void __launch_bounds__(BLOCK, (std::is_same<S, stage_cg_advance>::value ? 7 : 0))
    map_binned_kernel(const __grid_constant__ stage_args a, const __grid_constant__ bin_item bins) {
  extern __shared__ float memory[];
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  const uint32_t slot = i < a.f.count ? a.slot_of[i] : 0u; /* see above */
  launch_dependency_trigger_and_wait();
  if (i < a.f.count) map_fused<S>(a, i, slot, red);
  bin_displacements(bins, i, reinterpret_cast<bin_sums *>(memory) + threadIdx.x / 32);
}
template <class S>
__global__ void __launch_bounds__(BLOCK, 7)
    step_binned_kernel(const __grid_constant__ stage_args a,
                       const __grid_constant__ bin_item bins) {
  extern __shared__ float memory[];
  step_body<S>(a);
  __syncwarp();
  bin_displacements(bins, blockIdx.x * (uint32_t)BLOCK + threadIdx.x,
                    reinterpret_cast<bin_sums *>(memory) + threadIdx.x / 32);
}
template <class S> __global__ void one_kernel(const __grid_constant__ stage_args a) {
  launch_dependency_trigger_and_wait();
  S::one(&a.f);
}
template <int N>
cudaError_t start_sum(cudaError_t e, const stage_args &a, uint32_t blocks, cudaStream_t stream) {
  if constexpr (N > 0)
    if (e == cudaSuccess && !a.ticket && !a.deferred_blocks && !a.reset)
      return start<sum_kernel<N>>(SUM_BLOCKS, SUM_THREADS, 0, stream, a, blocks);
  return e;
}
inline uint32_t blocks(uint32_t n, uint32_t lanes) {
  return (uint32_t)(((uint64_t)n * lanes + BLOCK - 1) / BLOCK);
}

template <class S, int T>
cudaError_t start_gather(const stage_args &a, const oz_frame &g, cudaStream_t stream) {
  const uint32_t n = blocks(a.f.count, T);
  if constexpr (walls_of<S>::ANY)
    if (a.fused & ~FUSE_SECOND) return start<gather_walls_kernel<S, T>>(n, BLOCK, 0, stream, a, g);
  return start<gather_kernel<S, T>>(n, BLOCK, 0, stream, a);
}
template <class S, int T>
cudaError_t start_shared_gather(const stage_args &a, const oz_frame &g, cudaStream_t stream) {
  const uint32_t n = (a.f.count + BLOCK_PARTICLES - 1) / BLOCK_PARTICLES;
  if constexpr (shared_copies<S>::SHARES) /* a second wave would cost more than the gathers of a few
                                             full blocks */
    if (a.balance && shared_copies<S>::EACH * a.block_room > a.balance) {
      stage_args less = a;
      less.block_room = a.balance / shared_copies<S>::EACH & ~7u;
      return start_shared_gather<S, T>(less, g, stream);
    }
  const size_t copies =
                   shared_copies<S>::SHARES ? (size_t)shared_copies<S>::EACH * a.block_room : 0,
               sums = T > 1 ? (size_t)S::SUMS * BLOCK_PARTICLES * 4 : 0;
  size_t memory = copies > sums ? copies : sums;
  if (memory < a.balance) memory = a.balance;
  if constexpr (walls_of<S>::ANY)
    if (a.fused & ~FUSE_SECOND)
      return start<shared_gather_walls_kernel<S, T>>(n, BLOCK_PARTICLES * T, memory, stream, a, g);
  return start_sum<S::REDS>(
      start<shared_gather_kernel<S, T>>(n, BLOCK_PARTICLES * T, memory, stream, a), a, n, stream);
}
template <class S>
cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  if constexpr (fused_of<S>::ANY)
    if (a.fused & FUSE_SECOND)
      return launch_gather<typename fused_of<S>::stage>(a, g, lanes, stream);
  if constexpr (S::KIND == KIND_LINK)
    return lanes >= 8   ? start_gather<S, 8>(a, g, stream)
           : lanes >= 2 ? start_gather<S, 2>(a, g, stream)
                        : start_gather<S, 1>(a, g, stream);
  else {
    if (!a.f.start_entries)
      return lanes == 16 ? start_gather<S, 16>(a, g, stream) : start_gather<S, 8>(a, g, stream);
    if (lanes == 4) return start_shared_gather<S, 4>(a, g, stream);
    if (lanes == 2) return start_shared_gather<S, 2>(a, g, stream);
    return start_shared_gather<S, 1>(a, g, stream);
  }
}
template <class S> cudaError_t launch_mirror(const stage_args &a, int lanes, cudaStream_t stream) {
  const uint32_t n = a.f.wall_count;
  if (n && mirrors_rows(a)) {
    /* the move starts when all of these blocks have started: so they are few, and each takes
     * several contacts */
    const uint32_t wished_blocks = blocks((n + 1) / 2, mirror_row_walk::T),
                   most = a.multiprocessors ? a.multiprocessors : 1u << 20,
                   teams = wished_blocks < 2 * most ? wished_blocks : 2 * most,
                   alone = blocks(n, 1) < 2 * most ? blocks(n, 1) : 2 * most;
    return start<mirror_rows_kernel<S>>(teams + alone, BLOCK, 0, stream, a, teams);
  }
  switch (n ? mirror_lanes(a, lanes) : 0) {
  case 0:
    return cudaSuccess;
  case 1:
    return start<mirror_kernel<S, 1>>(blocks(n, 1), BLOCK, 0, stream, a);
  case 2:
    return start<mirror_kernel<S, 2>>(blocks(n, 2), BLOCK, 0, stream, a);
  case 4:
    return start<mirror_kernel<S, 4>>(blocks(n, 4), BLOCK, 0, stream, a);
  case 8:
    return start<mirror_kernel<S, 8>>(blocks(n, 8), BLOCK, 0, stream, a);
  default:
    return start<mirror_kernel<S, 16>>(blocks(n, 16), BLOCK, 0, stream, a);
  }
}
template <class S>
cudaError_t launch_map(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  if constexpr (S::STAGE == OZ_STAGE_wall_mirror) return launch_mirror<S>(a, lanes, stream);
  (void)lanes;
  if constexpr (std::is_same<S, stage_cg_update>::value)
    if (a.fused & FUSE_ADVANCE) return launch_map<stage_cg_advance>(a, g, lanes, stream);
  const uint32_t sums = sizeof(bin_sums) * (BLOCK / 32),
                 memory = a.balance_map > sums ? a.balance_map : sums;
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    if (a.binning && a.deferred_blocks)
      return start<step_binned_kernel<S>>(blocks(a.f.count, 1), BLOCK, memory, stream, a,
                                          *a.binning);
  if constexpr (S::STAGE == OZ_STAGE_cg_update)
    if (a.deferred_blocks)
      return start<step_kernel<S>>(blocks(a.f.count, 1), BLOCK, a.balance_map, stream, a);
  if constexpr (S::STAGE == OZ_STAGE_advance || std::is_same<S, stage_cg_advance>::value)
    if (a.binning)
      return start<map_binned_kernel<S>>(blocks(a.f.count, 1), BLOCK, memory, stream, a,
                                         *a.binning);
  const uint32_t n = S::KIND == KIND_WALL     ? a.f.wall_count
                     : S::KIND == KIND_MEMBER ? a.f.member_count
                                              : a.f.count;
  if constexpr (map_fusion<S>::ANY)
    if (a.fused) {
      cudaError_t e;
      if (map_fusion<S>::TWO && a.flat)
        e = start<map_fused_kernel<S, map_fusion<S>::TWO>>(blocks(n, 1), BLOCK, a.balance_map,
                                                           stream, a);
      else
        e = start<map_fused_kernel<S, false>>(blocks(n, 1), BLOCK, a.balance_map, stream, a);
      return start_sum<S::REDS>(e, a, blocks(n, 1), stream);
    }
  if (!n) return cudaSuccess;
  if constexpr (S::STAGE == OZ_STAGE_wall_planes)
    if (a.fused & FUSE_HOLD) {
      if (a.flat)
        return start<map_kernel<typename flat_of<S>::template with_hold<true>>>(blocks(n, 1), BLOCK,
                                                                                0, stream, a);
      return start<map_kernel<typename flat_of<S>::template with_hold<false>>>(blocks(n, 1), BLOCK,
                                                                               0, stream, a);
    }
  if constexpr (flat_of<S>::ANY) {
    if (a.flat)
      return start<map_kernel<typename flat_of<S>::template stage<true>>>(blocks(n, 1), BLOCK, 0,
                                                                          stream, a);
    return start<map_kernel<typename flat_of<S>::template stage<false>>>(blocks(n, 1), BLOCK, 0,
                                                                         stream, a);
  }
  /* never launched alone */
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    return cudaErrorUnknown;
  else
    return start_sum<S::REDS>(start<map_kernel<S>>(blocks(n, 1), BLOCK,
                                                   S::KIND == KIND_MAP ? a.balance_map : 0, stream,
                                                   a),
                              a, blocks(n, 1), stream);
}
template <class S>
cudaError_t launch_bodies(const stage_args &a, const oz_frame &, int, cudaStream_t stream) {
  return a.f.body_count ? start<body_kernel<S>>(a.f.body_count, BLOCK, 0, stream, a) : cudaSuccess;
}
template <class S>
cudaError_t launch_one(const stage_args &a, const oz_frame &, int, cudaStream_t stream) {
  return start<one_kernel<S>>(1, 1, 0, stream, a);
}
#endif

#define OZ_LAUNCH_START launch_gather
#define OZ_LAUNCH_DENSITY launch_gather
#define OZ_LAUNCH_LATE launch_gather
#define OZ_LAUNCH_OUTER launch_gather
#define OZ_LAUNCH_MATRIX launch_gather
#define OZ_LAUNCH_SPARE launch_gather
#define OZ_LAUNCH_LINK launch_gather
#define OZ_LAUNCH_DENSITY_LINK launch_gather
#define OZ_LAUNCH_MAP launch_map
#define OZ_LAUNCH_ITEM launch_map
#define OZ_LAUNCH_WALL launch_map
#define OZ_LAUNCH_MEMBER launch_map
#define OZ_LAUNCH_BODY launch_bodies
#define OZ_LAUNCH_ONE launch_one
template <int PART> void fill(stage_fn *table) {
#define OZ_STAGE(name, kind, nsum, nred)            \
  if constexpr (OZ_STAGE_##name % OZ_PARTS == PART) \
    table[OZ_STAGE_##name] = &OZ_LAUNCH_##kind<stage_##name>;
#include "physics/stages.def"
#undef OZ_STAGE
}

} // namespace

#define OZ_FILL2(part) fill_part_##part
#define OZ_FILL(part) OZ_FILL2(part)
void OZ_FILL(OZ_PART)(stage_fn *table) { fill<OZ_PART>(table); }

} // namespace OZ_NAMESPACE
