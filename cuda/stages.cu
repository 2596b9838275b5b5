/* Every stage of stages.def as a kernel, from the same physics text that the CPU compiles. A stage
 * that lacks its functions does not compile. Compiled OZ_PARTS times, each time with the stages
 * whose number is OZ_PART modulo that, because one file would take minutes.
 *
 * Gathers run with 1 to 16 threads a particle: the threads share the entries of its row, a fixed
 * tree adds up, the first finishes. Small scenes need the further threads to fill the machine. */
#include "cuda/kinds.h"
#include "cuda/stir.h"
#include "cuda/tell.h"

#ifndef OZ_PARTS
#define OZ_PARTS 1
#define OZ_PART 0
#endif

namespace OZ_NAMESPACE {
namespace {

/* The type that runs: a stage, or it and the one that joins it. */
template <class S> struct joined_of {
  static constexpr bool ANY = false;
  typedef S stage;
};
template <> struct joined_of<stage_conform_update> {
  static constexpr bool ANY = true;
  typedef stage_conform_finish stage;
};
template <> struct joined_of<stage_force> {
  static constexpr bool ANY = true;
  typedef stage_force_last stage;
};
template <> struct joined_of<stage_residual> {
  static constexpr bool ANY = true;
  typedef stage_prepare stage;
};
template <> struct joined_of<stage_density_lambda> {
  static constexpr bool ANY = true;
  typedef stage_measure stage;
};
template <> struct joined_of<stage_conform_move> {
  static constexpr bool ANY = true;
  typedef stage_shift stage;
};

#if defined(OZ_CUDA_HOST)
#include "cuda/loops.h"
#else
/* ---- kernels ---- */

#include "cuda/sums.h"

/* What came before this kernel, for the host: by its last warp, of whose particles few are near
 * walls. It waits for that some microsecond. */
template <int THREADS> __device__ __forceinline__ void tell_before(const stage_args &a) {
  if (a.tell.to && blockIdx.x == gridDim.x - 1 && threadIdx.x >= THREADS - 32) tell_host(a.tell);
}
/* as in queue.cu */
template <class S>
constexpr bool tells =
    S::STAGE == OZ_STAGE_density_lambda || S::STAGE == OZ_STAGE_velocity_start ||
    S::STAGE == OZ_STAGE_filter_gradient || std::is_same<S, stage_prepare>::value;

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
  after_the_last();
  if constexpr (tells<S>) tell_before<BLOCK>(a);
  if (there) {
    typename S::self self;
    S::begin(&a.f, i, &self);
    told<S>(&self, 1.0f);
    w.walk(a, i, lane, &self, acc);
    if constexpr (WALLS && mirrors<S>) {
      const uint32_t slot = (a.walls & JOIN_MIRROR) ? a.slot_of[i] : 0u;
      if (slot) mirror_in<S, T>(a, nullptr, 0, true, i, slot - 1, lane);
    }
  }
  if constexpr (T > 1) {
    /* all threads come here; then the first ones take a particle each, so that its end runs in full
     * warps */
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
      end_with_walls<S>(&a.f, g, i, slot, slot ? a.f.wall_planes[slot - 1] : 0u, a.walls, acc, red);
    } else
      S::end(&a.f, i, acc, red);
  }
  end_all<S, BLOCK>(a, i, there, red);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK) gather_kernel(const __grid_constant__ stage_args a) {
  gather_body<S, T, false>(a, nullptr);
}
/* Blocks that a multiprocessor is to hold: mirroring must not cost a wave. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { HELD_MOST = 8 }; /* 1024 threads are all it has */
#else
enum { HELD_MOST = 16 };
#endif
template <class S, int T>
constexpr int wish = std::is_same<S, stage_measure>::value ? (T == 1 ? 7 : 0)
                     : !mirrors<S>                         ? 0
                     : displaced<S>                        ? (T >= 8   ? 8
                                                              : T == 4 ? 2
                                                              : T == 2 ? 3
                                                                       : 7)
                     : T >= 8                              ? 10
                     : T == 4                              ? 2
                     : T == 2                              ? 4
                                                           : 9;
template <class S, int T> constexpr int held = wish<S, T> < HELD_MOST ? wish<S, T> : (int)HELD_MOST;
template <class S, int T>
__global__ void __launch_bounds__(BLOCK, (held<S, T>))
    gather_walls_kernel(const __grid_constant__ stage_args a, const __grid_constant__ oz_frame g) {
  gather_body<S, T, true>(a, &g);
}
/* Copies to shared memory that need no registers on their way, on devices that can. */
template <int BYTES> __device__ __forceinline__ void copy_in(near_address to, const void *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES));
#else
  if (BYTES == 16)
    *static_cast<uint4 *>(near_at(to)) = *static_cast<const uint4 *>(from);
  else if (BYTES == 8)
    *static_cast<uint2 *>(near_at(to)) = *static_cast<const uint2 *>(from);
  else
    *static_cast<uint32_t *>(near_at(to)) = *static_cast<const uint32_t *>(from);
#endif
}
/* What the walls of particle i are asked for, all of it on its way at once: each question hangs on
 * the one before. (The first plane: few have more.) */
__device__ __forceinline__ void draw_wall_near(const oz_frame *f, uint32_t slot, uint32_t i) {
  const char *wall = reinterpret_cast<const char *>(f->wall + (size_t)slot * f->slot_planes);
  for (uint32_t at = 0; at < sizeof(oz_wall); at += 32) draw_near(wall + at);
  draw_near(f->wall_impulse + (size_t)slot * f->slot_planes * 3);
  draw_near(f->omega + i), draw_near(f->wall_term + 4 * (size_t)i);
}
__device__ __forceinline__ void copies_are_there() { /* those of this thread */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
__device__ __forceinline__ void copies_are_in() {
  copies_are_there();
  __syncthreads();
}
/* One block for the SHARE particles of a list: T threads each. */
template <class S, int T, bool WALLS>
__device__ __forceinline__ void share_body(const stage_args &a, const oz_frame *g) {
  constexpr uint32_t THREADS = SHARE * T, AHEAD = T == 1 ? 5 : T == 2 ? 3 : 2;
  extern __shared__ float memory[];
  const uint32_t lane = threadIdx.x % T, first = a.f.near_first[2 * blockIdx.x],
                 many = a.f.near_first[2 * blockIdx.x + 1];
  uint32_t i = blockIdx.x * SHARE + threadIdx.x / T;
  bool there = i < a.f.count;
  oz_real acc[S::SUMS], red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
  const stock<S> copies = {memory, a.share_room};
  const bool fits = stock<S>::SHARES && many <= a.share_room;
  /* the rest is read from where it is */
  const uint32_t have = !stock<S>::SHARES ? 0 : fits ? many : a.share_room;
  const uint32_t *near = a.f.near_j + first;
  /* the first few are kept at hand, so that all are under way at once */
  uint32_t j[AHEAD];
  for (uint32_t u = 0; u < AHEAD; u++) {
    const uint32_t p = threadIdx.x + u * THREADS;
    j[u] = p < have ? near[p] : 0u;
  }
  /* What comes after gradient reads where particles are before it waits, and whoever comes before
   * gradient may just have written that: an event between the two keeps nobody from coming early if
   * it was over when the host asked to wait for it. What comes after cg_apply, or the last force,
   * reads before it waits what is done when this one has waited. Images are made beside the move,
   * density's further rows beside what measures */
  const bool beside = mirrors<S> && a.beside,
             behind = std::is_same<S, stage_measure>::value && a.beside,
             ready = ((S::STAGE == OZ_STAGE_cg_apply || std::is_same<S, stage_force_last>::value) &&
                      a.left) ||
                     S::STAGE == OZ_STAGE_gradient;
  share_walker<S, T> w;
  if (there) w.open(a, i, lane);
  if (dense<S>() && there && !behind) w.open_further(a, lane);
  /* slot + 1 of the particle whose end this thread does, and what it has. Whoever writes these lets
   * nobody come early */
  uint32_t wall = 0, planes = 0;
  if (WALLS && threadIdx.x < SHARE && blockIdx.x * SHARE + threadIdx.x < a.f.count)
    wall = a.slot_of[blockIdx.x * SHARE + threadIdx.x];
  if (wall) planes = a.f.wall_planes[wall - 1];
  if (stock<S>::PLACED) { /* as old as the lists */
    constexpr int BYTES = 4 * stock<S>::PLACE;
    const near_address to = near_address_of(copies.places()) + BYTES * threadIdx.x;
    const char *from = reinterpret_cast<const char *>(places_of<S>(a));
    for (uint32_t u = 0; u < AHEAD; u++)
      if (threadIdx.x + u * THREADS < have)
        copy_in<BYTES>(to + BYTES * THREADS * u, from + BYTES * (size_t)j[u]);
    for (uint32_t p = threadIdx.x + AHEAD * THREADS; p < have; p += THREADS)
      copy_in<BYTES>(to + BYTES * (p - threadIdx.x), from + BYTES * (size_t)near[p]);
  }
  near_address to[stock<S>::ARRAYS + 1]; /* of this thread's copies; at hand when it is let go */
  for (int k = 0; k < stock<S>::ARRAYS; k++)
    to[k] = near_address_of(copies.copy(k) + stock<S>::words(k) * threadIdx.x);
  if (!ready && !behind) let_the_next_come();
  if (beside || behind)
    look_afresh();
  else
    await_the_last();
  if (ready) let_the_next_come();
  if constexpr (tells<S>)
    if (!behind) tell_before<THREADS>(a);
  if constexpr (stock<S>::SHARES) {
    oz_frame f = a.f;
    for (int k = 0; k < stock<S>::ARRAYS; k++) {
      const char *from = reinterpret_cast<const char *>(gathered<S>::array(f, k));
      const auto bring = [&](uint32_t p, uint32_t j) {
        if (stock<S>::words(k) == 4)
          copy_in<16>(to[k] + 16 * p, from + 16 * (size_t)j);
        else
          copy_in<4>(to[k] + 4 * p, from + 4 * (size_t)j);
      };
      for (uint32_t u = 0; u < AHEAD; u++)
        if (threadIdx.x + u * THREADS < have) bring(u * THREADS, j[u]);
      for (uint32_t p = threadIdx.x + AHEAD * THREADS; p < have; p += THREADS)
        bring(p - threadIdx.x, near[p]);
    }
    /* what finds no room: near at least */
    for (uint32_t p = have + threadIdx.x; p < many; p += THREADS) {
      const uint32_t j = near[p];
      for (int k = 0; k < stock<S>::ARRAYS; k++)
        draw_near(gathered<S>::array(f, k) + stock<S>::words(k) * (size_t)j);
      if (stock<S>::PLACED) draw_near(places_of<S>(a) + stock<S>::PLACE * (size_t)j);
    }
  }
  typename early_of<S>::own own;
  if constexpr (early_of<S>::ANY && T == 1)
    if (there) early_of<S>::take(&a.f, i, &own); /* while copies are on their way */
  if constexpr (stock<S>::SHARES) copies_are_in();
  typename S::self self;
  if (there) {
    S::begin(&a.f, i, &self);
    told<S>(&self, a.units.pull);
    w.walk(a, first, fits, copies, lane, &self, acc);
  }
  if (behind) {
    await_the_last();
    let_the_next_come(); /* not before: it reads these rows before it waits */
    if constexpr (tells<S>) tell_before<THREADS>(a);
    if (there) w.open_further(a, lane);
  }
  if (there) {
    w.walk_on(a, lane, &self, acc);
    /* images beside the move have a kernel of their own (queue.cu) */
    if constexpr (WALLS && mirrors<S> && !displaced<S>) {
      const uint32_t slot = (a.walls & JOIN_MIRROR) ? a.slot_of[i] : 0u;
      if (slot) mirror_in<S, T>(a, &copies, first, fits, i, slot - 1, lane);
    }
  }
  if constexpr (T > 1) {
    /* then the first ones take a particle each, so that its end runs in full warps */
    __syncthreads();
    for (int s = 0; s < S::SUMS; s++) {
      for (int d = T / 2; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
      if (lane == 0) memory[s * SHARE + threadIdx.x / T] = acc[s];
    }
    __syncthreads();
    i = blockIdx.x * SHARE + threadIdx.x;
    there = threadIdx.x < SHARE && i < a.f.count;
    if (there)
      for (int s = 0; s < S::SUMS; s++) acc[s] = memory[s * SHARE + threadIdx.x];
  }
  /* Images move what has walls alone: warps without any go on, and make room for blocks that images
   * have kept out. The first block waits in any case, so that images are done when this kernel is
   */
  if (beside && (!WALLS || blockIdx.x == 0 || __any_sync(0xffffffffu, wall != 0))) await_the_last();
  if (there) {
    if constexpr (WALLS && S::STAGE != OZ_STAGE_force)
      if (wall) draw_wall_near(g, wall - 1, i);
    finish_sums<S>(a, true, acc);
    const typename early_of<S>::own *taken = T == 1 ? &own : nullptr;
    if constexpr (WALLS)
      end_with_walls<S>(&a.f, g, i, wall, planes, a.walls, acc, red, taken);
    else
      end_of<S>(&a.f, i, acc, red, taken);
  }
  end_all<S, THREADS>(a, i, there, red);
}
/* likewise what its end reads at once */
template <class S, int T>
constexpr int held_plain = std::is_same<S, stage_measure>::value ? (T == 4   ? 2
                                                                    : T == 2 ? 4
                                                                             : 7)
                                                                 : 0;
template <class S, int T>
__global__ void __launch_bounds__(SHARE *T, (held_plain<S, T>))
    share_kernel(const __grid_constant__ stage_args a) {
  share_body<S, T, false>(a, nullptr);
}
template <class S, int T>
__global__ void __launch_bounds__(SHARE *T, (held<S, T>))
    share_walls_kernel(const __grid_constant__ stage_args a, const __grid_constant__ oz_frame g) {
  share_body<S, T, true>(a, &g);
}
template <class S>
__global__ void __launch_bounds__(BLOCK) map_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  if (S::STAGE == OZ_STAGE_wall_planes)
    draw_all_near(a.f.collider, a.f.collider_count * sizeof(oz_collider));
  else
    let_the_next_come(); /* gathers read the number of planes before they wait */
  await_the_last();
  /* the number of walls stays on the device, so that a recorded launch serves any number */
  if (i < (S::KIND == KIND_WALL     ? *a.wall_count
           : S::KIND == KIND_MEMBER ? a.f.member_count
                                    : a.f.count)) {
    if (S::STAGE == OZ_STAGE_wall_press && a.packed)
      walls_of<stage_measure>::apply(&a.f, i, a.f.wall_planes[i], a.f.wall_particle[i]);
    else
      S::item(&a.f, i, red);
  }
  if constexpr (tells<S>) tell_before<BLOCK>(a);
  end_all<S, BLOCK>(a, i, i < a.f.count, red);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK) mirror_kernel(const __grid_constant__ stage_args a) {
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  if (!a.beside) let_the_next_come();
  await_the_last();
  /* so it finds done what came before this one, and need not wait for that */
  if (a.beside) let_the_next_come();
  if (thread / T < *a.wall_count) mirror_slot<T>(a, thread / T, thread % T);
}
#include "cuda/images.h"
/* One block a body: threads take its particles in turn, a tree adds up, the first finishes. */
template <class S>
__global__ void __launch_bounds__(BLOCK) body_kernel(const __grid_constant__ stage_args a) {
  __shared__ double part[S::SUMS][BLOCK / 32];
  const oz_frame *f = &a.f;
  const uint32_t b = blockIdx.x;
  double acc[S::SUMS];
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0;
  after_the_last();
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
    map_joined_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  /* whoever writes it lets nobody come early */
  const uint32_t slot = maps_of<S>::WALLS && i < a.f.count ? a.slot_of[i] : 0u;
  /* as wall_planes in a kernel of its own */
  if (S::STAGE != OZ_STAGE_velocity_start || !(a.walls & 1u)) let_the_next_come();
  await_the_last();
  if (i < a.f.count) map_joined<S, FLAT>(a, i, slot, red);
  if constexpr (tells<S>) tell_before<BLOCK>(a); /* none of this is written here */
  if constexpr (S::REDS > 0) deliver<S::REDS>(a, red);
}
/* advance, after which particles are where the density list finds them: they go into its table of
 * cells. */
template <class S>
__global__ void __launch_bounds__(BLOCK, (std::is_same<S, stage_cg_advance>::value ? 7 : 0))
    map_shaken_kernel(const __grid_constant__ stage_args a,
                      const __grid_constant__ shake_item shaking) {
  extern __shared__ float memory[];
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  const uint32_t slot = i < a.f.count ? a.slot_of[i] : 0u; /* as above */
  after_the_last();
  if (i < a.f.count) map_joined<S>(a, i, slot, red);
  shake(shaking, i, reinterpret_cast<shaken *>(memory) + threadIdx.x / 32);
}
template <class S>
__global__ void __launch_bounds__(BLOCK, 7)
    step_shaken_kernel(const __grid_constant__ stage_args a,
                       const __grid_constant__ shake_item shaking) {
  extern __shared__ float memory[];
  step_body<S>(a);
  __syncwarp();
  shake(shaking, blockIdx.x * (uint32_t)BLOCK + threadIdx.x,
        reinterpret_cast<shaken *>(memory) + threadIdx.x / 32);
}
template <class S> __global__ void one_kernel(const __grid_constant__ stage_args a) {
  after_the_last();
  S::one(&a.f);
}
template <int N>
cudaError_t start_sum(cudaError_t e, const stage_args &a, uint32_t blocks, cudaStream_t stream) {
  if constexpr (N > 0)
    if (e == cudaSuccess && !a.ticket && !a.left && !a.reset)
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
    if (a.walls & ~JOIN_BOTH) return start<gather_walls_kernel<S, T>>(n, BLOCK, 0, stream, a, g);
  return start<gather_kernel<S, T>>(n, BLOCK, 0, stream, a);
}
template <class S, int T>
cudaError_t start_share(const stage_args &a, const oz_frame &g, cudaStream_t stream) {
  const uint32_t n = (a.f.count + SHARE - 1) / SHARE;
  if constexpr (stock<S>::SHARES) /* a second wave would cost more than what few blocks lack */
    if (a.even && stock<S>::EACH * a.share_room > a.even) {
      stage_args less = a;
      less.share_room = a.even / stock<S>::EACH & ~7u;
      return start_share<S, T>(less, g, stream);
    }
  const size_t copies = stock<S>::SHARES ? (size_t)stock<S>::EACH * a.share_room : 0,
               sums = T > 1 ? (size_t)S::SUMS * SHARE * 4 : 0;
  size_t memory = copies > sums ? copies : sums;
  if (memory < a.even) memory = a.even;
  if constexpr (walls_of<S>::ANY)
    if (a.walls & ~JOIN_BOTH)
      return start<share_walls_kernel<S, T>>(n, SHARE * T, memory, stream, a, g);
  return start_sum<S::REDS>(start<share_kernel<S, T>>(n, SHARE * T, memory, stream, a), a, n,
                            stream);
}
template <class S>
cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  if constexpr (joined_of<S>::ANY)
    if (a.walls & JOIN_BOTH)
      return launch_gather<typename joined_of<S>::stage>(a, g, lanes, stream);
  if constexpr (S::KIND == KIND_LINK)
    return lanes >= 8   ? start_gather<S, 8>(a, g, stream)
           : lanes >= 2 ? start_gather<S, 2>(a, g, stream)
                        : start_gather<S, 1>(a, g, stream);
  else {
    if (!a.f.near_c)
      return lanes == 16 ? start_gather<S, 16>(a, g, stream) : start_gather<S, 8>(a, g, stream);
    if (lanes == 4) return start_share<S, 4>(a, g, stream);
    if (lanes == 2) return start_share<S, 2>(a, g, stream);
    return start_share<S, 1>(a, g, stream);
  }
}
template <class S> cudaError_t launch_mirror(const stage_args &a, int lanes, cudaStream_t stream) {
  const uint32_t n = a.f.wall_count;
  if (n && mirrors_rows(a)) {
    /* the move comes when all of these blocks have: so they are few, and take several slots one
     * after the other */
    const uint32_t wish = blocks((n + 1) / 2, image_row::T),
                   most = a.processors ? a.processors : 1u << 20,
                   teams = wish < 2 * most ? wish : 2 * most,
                   alone = blocks(n, 1) < 2 * most ? blocks(n, 1) : 2 * most;
    return start<images_kernel<S>>(teams + alone, BLOCK, 0, stream, a, teams);
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
    if (a.walls & JOIN_ADVANCE) return launch_map<stage_cg_advance>(a, g, lanes, stream);
  const uint32_t sums = sizeof(shaken) * (BLOCK / 32),
                 memory = a.even_map > sums ? a.even_map : sums;
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    if (a.shake && a.left)
      return start<step_shaken_kernel<S>>(blocks(a.f.count, 1), BLOCK, memory, stream, a, *a.shake);
  if constexpr (S::STAGE == OZ_STAGE_cg_update)
    if (a.left) return start<step_kernel<S>>(blocks(a.f.count, 1), BLOCK, a.even_map, stream, a);
  if constexpr (S::STAGE == OZ_STAGE_advance || std::is_same<S, stage_cg_advance>::value)
    if (a.shake)
      return start<map_shaken_kernel<S>>(blocks(a.f.count, 1), BLOCK, memory, stream, a, *a.shake);
  const uint32_t n = S::KIND == KIND_WALL     ? a.f.wall_count
                     : S::KIND == KIND_MEMBER ? a.f.member_count
                                              : a.f.count;
  if constexpr (maps_of<S>::ANY)
    if (a.walls) {
      cudaError_t e;
      if (maps_of<S>::TWO && a.flat)
        e = start<map_joined_kernel<S, maps_of<S>::TWO>>(blocks(n, 1), BLOCK, a.even_map, stream,
                                                         a);
      else
        e = start<map_joined_kernel<S, false>>(blocks(n, 1), BLOCK, a.even_map, stream, a);
      return start_sum<S::REDS>(e, a, blocks(n, 1), stream);
    }
  if (!n) return cudaSuccess;
  if constexpr (S::STAGE == OZ_STAGE_wall_planes)
    if (a.walls & JOIN_HOLD) {
      if (a.flat)
        return start<map_kernel<typename flat_of<S>::template holding<true>>>(blocks(n, 1), BLOCK,
                                                                              0, stream, a);
      return start<map_kernel<typename flat_of<S>::template holding<false>>>(blocks(n, 1), BLOCK, 0,
                                                                             stream, a);
    }
  if constexpr (flat_of<S>::ANY) {
    if (a.flat)
      return start<map_kernel<typename flat_of<S>::template stage<true>>>(blocks(n, 1), BLOCK, 0,
                                                                          stream, a);
    return start<map_kernel<typename flat_of<S>::template stage<false>>>(blocks(n, 1), BLOCK, 0,
                                                                         stream, a);
  }
  /* it never comes alone */
  if constexpr (std::is_same<S, stage_cg_advance>::value)
    return cudaErrorUnknown;
  else
    return start_sum<S::REDS>(
        start<map_kernel<S>>(blocks(n, 1), BLOCK, S::KIND == KIND_MAP ? a.even_map : 0, stream, a),
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

#define OZ_LAUNCH_C launch_gather
#define OZ_LAUNCH_D launch_gather
#define OZ_LAUNCH_LATE launch_gather
#define OZ_LAUNCH_OUTER launch_gather
#define OZ_LAUNCH_MATRIX launch_gather
#define OZ_LAUNCH_SPARE launch_gather
#define OZ_LAUNCH_LINK launch_gather
#define OZ_LAUNCH_BOTH launch_gather
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
