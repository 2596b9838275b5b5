/* Sums over all particles that do not depend on which block is done when: by the block that is done
 * last, by a kernel of its own, or by the kernel that asks for them. Included by stages.cu, inside
 * its namespace. */
#ifndef OZ_CUDA_SUMS_H
#define OZ_CUDA_SUMS_H

/* Those of conjugate gradients, four at once, are added up exactly (exact.h) unless blocks are
 * many: the next kernel reads them, and nobody waits for them. */
template <int N> constexpr bool exactly = N == OZ_EXACT_SUMS;

__device__ __forceinline__ int warp_least(int v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, v);
#else
  for (int d = 16; d; d >>= 1) v = min(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
#endif
}
/* Adds the sums of blocks `from` to `to` up, by the threads of one block: the first one has them
 * then. NEAR: by way of the first-level cache, where the blocks of a multiprocessor read the same.
 */
template <int N, int THREADS, bool NEAR = false>
__device__ __forceinline__ void add_blocks(const double *partial, uint32_t from, uint32_t to,
                                           double *total, double (*part)[THREADS / 32]) {
  for (int r = 0; r < N; r++) total[r] = 0.0;
#pragma unroll(N == 1 ? 16 : 4) /* many at once: everything else waits for these */
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
/* And tells them; then the stage of kind ONE that follows. */
template <int N> __device__ __forceinline__ void tell(const stage_args &a, const double *total) {
  for (int r = 0; r < N; r++) a.f.scalar[OZ_SCALAR_SUM + r] = total[r];
  if (a.one >= 0) run_one(a.one, &a.f);
}
/* Adds N numbers over a warp; lane r has the sum of number r then. Of four, each exchange halves
 * how many a lane still has. */
template <int N> __device__ __forceinline__ double warp_sums(const oz_real *red) {
  static_assert(N == 1 || N == 4, "a stage with as many sums has to be told here how");
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
/* The box of the cells of where finish has put particles, for the next sort, and how many each has:
 * i, if `there`, is this thread's. */
template <int THREADS>
__device__ __forceinline__ void box_in(const stage_args &a, uint32_t i, bool there) {
  __shared__ int least[6][THREADS / 32];
  if (!a.box) return;
  int cell[3];
  for (int k = 0; k < 3; k++) cell[k] = there ? coordinate(a.f.x[4 * (size_t)i + k], a.box_inv) : 0;
  const bool counts = a.count.table && there;
  const uint32_t before = counts ? count_in(a.count, i, cell) : 0u; /* is not waited for yet */
  for (int k = 0; k < 3; k++) {
    const int c = cell[k], low = warp_least(there ? c : (int)NONE_U32),
              high = warp_least(there ? -c : (int)NONE_U32);
    if (threadIdx.x % 32 == 0)
      least[k][threadIdx.x / 32] = low, least[3 + k][threadIdx.x / 32] = high;
  }
  if (counts) a.count.within[i] = before;
  __syncthreads();
  if (threadIdx.x >= 6) return;
  int all = least[threadIdx.x][0];
  for (int w = 1; w < THREADS / 32; w++) all = min(all, least[threadIdx.x][w]);
  /* most blocks are well within */
  if (all < __ldcg(a.box + threadIdx.x)) atomicMin(a.box + threadIdx.x, all);
}
/* Those whom finish has put back: mostly nobody. By all threads of a warp. */
__device__ __forceinline__ void count_reset(const stage_args &a, oz_real red) {
  const uint32_t who = __ballot_sync(0xffffffffu, red != 0.0f);
  if (who && threadIdx.x % 32 == 0) atomicAdd(a.reset, __popc(who));
}
/* Adds N numbers of each thread over the grid: threads by a tree, blocks in order by the block that
 * is done last, so that the sum does not depend on which that was. */
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
  if (exactly<N> && a.exact) {
    if (threadIdx.x < OZ_EXACT_EACH)
      add_exactly(a.exact, blockIdx.x, threadIdx.x, of_block(threadIdx.x / OZ_EXACT_PIECES % N));
  } else if (threadIdx.x < N)
    a.partial[(size_t)blockIdx.x * N + threadIdx.x] = of_block(threadIdx.x);
  if (!a.ticket || a.left) return; /* sum_kernel follows, or step_kernel */
  if (threadIdx.x < 32) {
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 0) last = atomicAdd(a.ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  double total[N];
  if (exactly<N> && a.exact) {
    if (threadIdx.x >= 32) return;
    if constexpr (exactly<N>) read_exactly(a.exact, total);
    clear_exactly(a.exact);
  } else
    add_blocks<N, THREADS>(a.partial, 0, gridDim.x, total, part);
  if (threadIdx.x == 0) {
    tell<N>(a, total);
    *a.ticket = 0;
  }
}
/* What stage S leaves when its particles are done; i, if `there`, is this thread's. */
template <class S, int THREADS>
__device__ __forceinline__ void end_all(const stage_args &a, uint32_t i, bool there,
                                        const oz_real *red) {
  if constexpr (ends<S>) {
    box_in<THREADS>(a, i, there);
    if (a.reset) return count_reset(a, red[0]);
  }
  if constexpr (S::REDS > 0) deliver<S::REDS, THREADS>(a, red);
  (void)i, (void)there;
}
/* Where blocks come in many waves, each would be held up by waiting for its ticket: a kernel of its
 * own adds up. Twelve million particles are 94 thousand blocks: a few of its own add them up, and
 * the one that is done last what these have. */
constexpr int SUM_THREADS = 1024, SUM_BLOCKS = 16;
template <int N>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const __grid_constant__ stage_args a, uint32_t blocks) {
  __shared__ double part[N][SUM_THREADS / 32];
  const uint32_t each = (blocks + SUM_BLOCKS - 1) / SUM_BLOCKS, from = blockIdx.x * each,
                 to = from + each < blocks ? from + each : blocks;
  double total[N], *mine = a.partial + (size_t)blocks * N;
  after_the_last();
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
  tell<N>(a, total);
  *a.tally = 0;
}
/* cg_update where cg_apply, or the last force, has left its sums: one warp of each block makes of
 * them what all ask for, where the block that is done last with cg_apply would take 4 microseconds
 * for it. What residual has left for the first of them, by blocks, each block adds up for itself
 * beforehand. What it reads of its particles it fetches while cg_apply is still running. */
template <class S> __device__ __forceinline__ void step_body(const stage_args &a) {
  constexpr int N = stage_cg_apply::REDS;
  __shared__ double start[1][BLOCK / 32], scalar[OZ_SCALAR_COUNT];
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  const bool there = i < a.f.count;
  constexpr bool ADVANCES = std::is_same<S, stage_cg_advance>::value;
  const uint32_t wall = a.walls && there ? a.slot_of[i] : 0u;
  typename std::conditional<ADVANCES, stage_cg_advance::own, oz_cg_own>::type own;
  oz_frame f = a.f;
  double rz0[1] = {0.0};
  f.scalar = scalar;
  if (ADVANCES) f.last = 1; /* as the compiler is to know */
  let_the_next_come();
  look_afresh();
  if constexpr (ADVANCES) {
    if (there) S::take(&f, i, &own);
  } else if (there)
    oz_cg_take(&f, i, &own);
  if (a.start) {
    add_blocks<1, BLOCK, true>(a.start, 0, a.left, rz0, start);
    /* for the next */
    if (blockIdx.x == 0 && threadIdx.x == 0)
      a.f.scalar[OZ_SCALAR_SUM] = rz0[0], oz_cg_start_item(&a.f);
  } else if (threadIdx.x == 0)
    rz0[0] = a.f.scalar[OZ_SCALAR_RZ0];
  await_the_last();
  if constexpr (ADVANCES) {
    if (there) oz_cg_answer(&f, i, &own.cg);
  } else if (there)
    oz_cg_answer(&f, i, &own);
  if (threadIdx.x < 32) {
    double total[N];
    read_exactly(a.exact, total);
    if (threadIdx.x == 0) {
      for (int r = 0; r < N; r++) scalar[OZ_SCALAR_SUM + r] = total[r];
      scalar[OZ_SCALAR_RZ0] = rz0[0];
      oz_cg_steps_item(&f);
    }
  } else if (blockIdx.x == 0 && threadIdx.x < 64)
    clear_exactly(a.exact_next);
  __syncthreads();
  if (!there) return;
  if constexpr (ADVANCES)
    S::go(&f, i, wall, a.walls, &own);
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
