/* Sums over all particles, independent of the order in which blocks end: by the last block, by a
 * kernel of its own, or by the kernel that reads them. Included by stage_kernels.cu, inside its
 * namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_REDUCTIONS_H
#define OZ_CUDA_REDUCTIONS_H

/* Sums of conjugate gradients, four at once, are exact (exact_sum.h) unless there are too many
 * blocks: the next kernel reads them without a wait. */
template <int N> constexpr bool is_exact = N == OZ_EXACT_SUMS;

__device__ __forceinline__ int warp_least(int v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, v);
#else
  for (int d = 16; d; d >>= 1) v = min(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
#endif
}
/* Adds up the partial sums of blocks `from` to `to`, by the threads of one block; the first one has
 * the result. NEAR: through the first-level cache, for blocks that read the same. */
template <int N, int THREADS, bool NEAR = false>
__device__ __forceinline__ void add_blocks(const double *partial, uint32_t from, uint32_t to,
                                           double *total, double (*part)[THREADS / 32]) {
  for (int r = 0; r < N; r++) total[r] = 0.0;
#pragma unroll(N == 1 ? 16 : 4) /* many loads in flight: all else waits for these */
  for (uint32_t b = from + threadIdx.x; b < to; b += THREADS)
    for (int r = 0; r < N; r++)
      total[r] += NEAR ? partial[(size_t)b * N + r] : __ldcg(partial + (size_t)b * N + r);
  for (int r = 0; r < N; r++) {
    for (int s = 16; s; s >>= 1) total[r] += __shfl_xor_sync(0xffffffffu, total[r], s);
    if (threadIdx.x % 32 == 0) part[r][threadIdx.x / 32] = total[r];
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int r = 0; r < N; r++) {
    total[r] = 0.0;
    for (int w = 0; w < THREADS / 32; w++) total[r] += part[r][w];
  }
}
/* Stores the sums, and runs the stage of kind ONE that follows. */
template <int N>
__device__ __forceinline__ void store_sums(const stage_args &a, const double *total) {
  for (int r = 0; r < N; r++) a.f.scalar[OZ_SCALAR_SUM + r] = total[r];
  if (a.scalar_stage >= 0) run_one(a.scalar_stage, &a.f);
}
/* Adds N numbers over a warp; lane r has sum r. With four numbers, each exchange halves the numbers
 * a lane has. */
template <int N> __device__ __forceinline__ double warp_sums(const oz_real *red) {
  static_assert(N == 1 || N == 4, "a stage with as many sums has to be set_pull here how");
  const uint32_t lane = threadIdx.x % 32;
  double v = (double)red[0];
  if constexpr (N == 4) {
    const bool odd = lane & 1u, upper = lane & 2u;
    double low = (double)(odd ? red[1] : red[0]), high = (double)(odd ? red[3] : red[2]);
    low += __shfl_xor_sync(0xffffffffu, (double)(odd ? red[0] : red[1]), 1);
    high += __shfl_xor_sync(0xffffffffu, (double)(odd ? red[2] : red[3]), 1);
    v = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, 2);
  }
  for (int s = 16; s >= N; s >>= 1) v += __shfl_xor_sync(0xffffffffu, v, s);
  return v;
}
/* Bounding box of the cells after finish, for the next sort, and counters by cell; i is this
 * thread's particle, if `there`. */
template <int THREADS>
__device__ __forceinline__ void reduce_box(const stage_args &a, uint32_t i, bool there) {
  __shared__ int least[6][THREADS / 32];
  if (!a.box) return;
  int cell[3];
  for (int k = 0; k < 3; k++) cell[k] = there ? coordinate(a.f.x[4 * (size_t)i + k], a.box_inv) : 0;
  const bool counts = a.counter.table && there;
  const uint32_t before =
      counts ? count_particle(a.counter, i, cell) : 0u; /* the result is needed last */
  for (int k = 0; k < 3; k++) {
    const int c = cell[k], low = warp_least(there ? c : (int)NONE_U32),
              high = warp_least(there ? -c : (int)NONE_U32);
    if (threadIdx.x % 32 == 0)
      least[k][threadIdx.x / 32] = low, least[3 + k][threadIdx.x / 32] = high;
  }
  if (counts) a.counter.within[i] = before;
  __syncthreads();
  if (threadIdx.x >= 6) return;
  int all = least[threadIdx.x][0];
  for (int w = 1; w < THREADS / 32; w++) all = min(all, least[threadIdx.x][w]);
  /* most blocks are inside */
  if (all < __ldcg(a.box + threadIdx.x)) atomicMin(a.box + threadIdx.x, all);
}
/* Particles that finish has put back; mostly none. By a whole warp. */
__device__ __forceinline__ void count_reset(const stage_args &a, oz_real red) {
  const uint32_t who = __ballot_sync(0xffffffffu, red != 0.0f);
  if (who && threadIdx.x % 32 == 0) atomicAdd(a.reset, __popc(who));
}
/* Adds N numbers of each thread over the grid: threads by a tree, blocks in order by the last block
 * to end, so that the sum does not depend on which that is. */
template <int N, int THREADS = BLOCK>
__device__ __forceinline__ void deliver(const stage_args &a, const oz_real *red) {
  __shared__ double part[N][THREADS / 32];
  __shared__ uint32_t last;
  const double v = warp_sums<N>(red);
  if (threadIdx.x % 32 < N) part[threadIdx.x % 32][threadIdx.x / 32] = v;
  __syncthreads();
  const auto of_block = [&](uint32_t r) {
    double total = 0.0;
    for (int w = 0; w < THREADS / 32; w++) total += part[r][w];
    return total;
  };
  if (is_exact<N> && a.exact) {
    if (threadIdx.x < OZ_EXACT_EACH)
      add_exact(a.exact, blockIdx.x, threadIdx.x, of_block(threadIdx.x / OZ_EXACT_PIECES % N));
  } else if (threadIdx.x < N)
    a.partial[(size_t)blockIdx.x * N + threadIdx.x] = of_block(threadIdx.x);
  if (!a.ticket || a.deferred_blocks) return; /* sum_kernel or step_kernel follows */
  if (threadIdx.x < 32) {
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) last = atomicAdd(a.ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  double total[N];
  if (is_exact<N> && a.exact) {
    if (threadIdx.x >= 32) return;
    if constexpr (is_exact<N>) read_exact(a.exact, total);
    clear_exact(a.exact);
  } else
    add_blocks<N, THREADS>(a.partial, 0, gridDim.x, total, part);
  if (threadIdx.x == 0) {
    store_sums<N>(a, total);
    *a.ticket = 0;
  }
}
/* The end of stage S; i is this thread's particle, if `there`. */
template <class S, int THREADS>
__device__ __forceinline__ void finish_stage(const stage_args &a, uint32_t i, bool there,
                                             const oz_real *red) {
  if constexpr (ends_substep<S>) {
    reduce_box<THREADS>(a, i, there);
    if (a.reset) return count_reset(a, red[0]);
  }
  if constexpr (S::REDS > 0) deliver<S::REDS, THREADS>(a, red);
  (void)i, (void)there;
}
/* With many waves, each block would stall on its ticket: a kernel of its own adds up. Twelve
 * million particles are 94 thousand blocks: a few blocks add those up, and the last of them the
 * rest. */
constexpr int SUM_THREADS = 1024, SUM_BLOCKS = 16;
template <int N>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const __grid_constant__ stage_args a, uint32_t blocks) {
  __shared__ double part[N][SUM_THREADS / 32];
  const uint32_t each = (blocks + SUM_BLOCKS - 1) / SUM_BLOCKS, from = blockIdx.x * each,
                 to = from + each < blocks ? from + each : blocks;
  double total[N], *mine = a.partial + (size_t)blocks * N;
  launch_dependency_trigger_and_wait();
  add_blocks<N, SUM_THREADS>(a.partial, from, to, total, part);
  if (threadIdx.x) return;
  for (int r = 0; r < N; r++) mine[blockIdx.x * N + r] = total[r];
  __threadfence();
  if (atomicAdd(a.tally, 1u) != SUM_BLOCKS - 1) return;
  __threadfence();
  for (int r = 0; r < N; r++) {
    total[r] = 0.0;
    for (int b = 0; b < SUM_BLOCKS; b++) total[r] += __ldcg(mine + b * N + r);
  }
  store_sums<N>(a, total);
  *a.tally = 0;
}
/* cg_update with deferred sums of cg_apply, or of the last force: one warp of each block computes
 * the scalars, where the last block of cg_apply would take 4 microseconds. The partial sums of
 * residual are added up by each block of the first cg_update, before the wait, and so are the
 * particles' own data loaded. */
template <class S> __device__ __forceinline__ void step_body(const stage_args &a) {
  constexpr int N = stage_cg_apply::REDS;
  __shared__ double start[1][BLOCK / 32], scalar[OZ_SCALAR_COUNT];
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  const bool there = i < a.f.count;
  constexpr bool ADVANCES = std::is_same<S, stage_cg_advance>::value;
  const uint32_t wall = a.fused && there ? a.slot_of[i] : 0u;
  typename std::conditional<ADVANCES, stage_cg_advance::own, oz_cg_own>::type own;
  oz_frame f = a.f;
  double rz0[1] = {0.0};
  f.scalar = scalar;
  if (ADVANCES) f.last_iteration = 1; /* a constant for the compiler */
  launch_dependency_trigger();
  acquire_fence();
  if constexpr (ADVANCES) {
    if (there) S::take(&f, i, &own);
  } else if (there)
    oz_cg_take(&f, i, &own);
  if (a.start) {
    add_blocks<1, BLOCK, true>(a.start, 0, a.deferred_blocks, rz0, start);
    /* for the next iteration */
    if (blockIdx.x == 0 && threadIdx.x == 0)
      a.f.scalar[OZ_SCALAR_SUM] = rz0[0], oz_cg_start_item(&a.f);
  } else if (threadIdx.x == 0)
    rz0[0] = a.f.scalar[OZ_SCALAR_RZ0];
  launch_dependency_wait();
  if constexpr (ADVANCES) {
    if (there) oz_cg_answer(&f, i, &own.cg);
  } else if (there)
    oz_cg_answer(&f, i, &own);
  if (threadIdx.x < 32) {
    double total[N];
    read_exact(a.exact, total);
    if (threadIdx.x == 0) {
      for (int r = 0; r < N; r++) scalar[OZ_SCALAR_SUM + r] = total[r];
      scalar[OZ_SCALAR_RZ0] = rz0[0];
      oz_cg_steps_item(&f);
    }
  } else if (blockIdx.x == 0 && threadIdx.x < 64)
    clear_exact(a.exact_next);
  __syncthreads();
  if (!there) return;
  if constexpr (ADVANCES)
    S::go(&f, i, wall, a.fused, &own);
  else {
    if (wall) oz_wall_load_of(&f, wall - 1, i);
    oz_cg_step(&f, i, &own);
  }
}
template <class S>
__global__ void __launch_bounds__(BLOCK, 7) step_kernel(const __grid_constant__ stage_args a) {
  step_body<S>(a);
}
#endif
