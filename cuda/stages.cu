/* Every stage of stages.def as a kernel, from the same physics text that the CPU compiles. A stage that lacks its functions
 * does not compile. Compiled OZ_PARTS times, each time with the stages whose number is OZ_PART modulo that, because one file
 * would take minutes.
 *
 * Gathers run with 1 to 16 threads a particle: the threads share the entries of its row, a fixed tree adds up, the first
 * finishes. Small scenes need the further threads to fill the machine. */
#include "cuda/gpu.h"

#include "physics/lanes.h"

#include "physics/arrive.h"
#include "physics/body.h"
#include "physics/conformation.h"
#include "physics/density.h"
#include "physics/filter.h"
#include "physics/heat.h"
#include "physics/motion.h"
#include "physics/mps.h"
#include "physics/nozzle.h"
#include "physics/paper.h"
#include "physics/rules.h"
#include "physics/sph.h"
#include "physics/springs.h"
#include "physics/viscous.h"
#include "physics/wall.h"

static_assert(OZ_OUTER_ACC == 9 && OZ_MATRIX_ACC == 3, "sums of one lane need no folding");

#ifndef OZ_PARTS
#define OZ_PARTS 1
#define OZ_PART 0
#endif

namespace OZ_NAMESPACE {
namespace {

/* ---- what a stage is, as a type ---- */

#define OZ_TYPE_GATHER(name, kind, group, nsum, nred)                                                                         \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = kind, SUMS = nsum, REDS = nred, STAGE = OZ_STAGE_##name; \
    typedef oz_##name##_self self;                                                                                     \
    static OZ_D void begin(const oz_frame *f, uint32_t i, self *s) { oz_##name##_begin(f, i, s); }                     \
    static OZ_D void pair(const oz_frame *f, const self *s, const group *n, oz_real *acc) {                            \
      oz_##name##_pair(f, s, n, acc);                                                                                  \
    }                                                                                                                  \
    static OZ_D void end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {                            \
      oz_##name##_end(f, i, acc, red);                                                                                 \
    }                                                                                                                  \
  };
#define OZ_TYPE_C(name, nsum, nred) OZ_TYPE_GATHER(name, KIND_C, oz_group, nsum, nred)
#define OZ_TYPE_D(name, nsum, nred) OZ_TYPE_GATHER(name, KIND_D, oz_group, nsum, nred)
#define OZ_TYPE_LINK(name, nsum, nred) OZ_TYPE_GATHER(name, KIND_LINK, oz_links, nsum, nred)
#define OZ_TYPE_OUTER OZ_TYPE_C /* one lane: plain sums */
#define OZ_TYPE_MATRIX OZ_TYPE_C
#define OZ_TYPE_SPARE OZ_TYPE_C
#define OZ_TYPE_MAP(name, nsum, nred)                                                                                  \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_MAP, REDS = nred, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *red) { oz_##name##_item(f, i, red); }                \
  };
#define OZ_TYPE_ITEM(name, nsum, nred)                                                                                 \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_ITEM, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); }                        \
  };
#define OZ_TYPE_WALL(name, nsum, nred)                                                                                 \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_WALL, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); }                        \
  };
#define OZ_TYPE_MEMBER(name, nsum, nred)                                                                                \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_MEMBER, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void item(const oz_frame *f, uint32_t i, oz_real *) { oz_##name##_item(f, i); }                        \
  };
#define OZ_TYPE_BODY(name, nsum, nred)                                                                                  \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_BODY, SUMS = nsum, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void pair(const oz_frame *f, uint32_t b, uint32_t i, double *acc) { oz_##name##_pair(f, b, i, acc); }  \
    static OZ_D void end(const oz_frame *f, uint32_t b, const double *acc) { oz_##name##_end(f, b, acc); }             \
  };
#define OZ_TYPE_ONE(name, nsum, nred)                                                                                  \
  struct stage_##name {                                                                                                \
    static constexpr int KIND = KIND_ONE, REDS = 0, STAGE = OZ_STAGE_##name; \
    static OZ_D void one(const oz_frame *f) { oz_##name##_item(f); }                                                   \
  };
#define OZ_STAGE(name, kind, nsum, nred) OZ_TYPE_##kind(name, nsum, nred)
#include "physics/stages.def"
#undef OZ_STAGE

/* Stages of kind ONE, by number: in a kernel of their own, or in the last block of the stage before. */
#define OZ_ONE_C(name)
#define OZ_ONE_D(name)
#define OZ_ONE_OUTER(name)
#define OZ_ONE_MATRIX(name)
#define OZ_ONE_SPARE(name)
#define OZ_ONE_LINK(name)
#define OZ_ONE_MAP(name)
#define OZ_ONE_ITEM(name)
#define OZ_ONE_WALL(name)
#define OZ_ONE_MEMBER(name)
#define OZ_ONE_BODY(name)
#define OZ_ONE_ONE(name) if (stage == OZ_STAGE_##name) stage_##name::one(f);
OZ_FN void run_one(int stage, const oz_frame *f) {
#define OZ_STAGE(name, kind, nsum, nred) OZ_ONE_##kind(name)
#include "physics/stages.def"
#undef OZ_STAGE
}

/* Wall stages that may follow a gather in the same kernel, since they touch nothing but their own particle (queue.cu
 * knows the same pairs). */
template <class S> struct walls_of { static constexpr bool ANY = false; static OZ_D void apply(const oz_frame *, uint32_t, uint32_t) {} };
template <> struct walls_of<stage_force> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t) { oz_wall_filter_item(g, slot); }
};
template <> struct walls_of<stage_density_lambda> {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t) { oz_wall_press_item(g, slot); }
};
struct walls_of_moves {
  static constexpr bool ANY = true;
  static OZ_D void apply(const oz_frame *g, uint32_t slot, uint32_t which) {
    if (which & 1u) oz_wall_project_item(g, slot);
    if (which & 2u) oz_wall_density_item(g, slot);
  }
};
template <> struct walls_of<stage_density_move> : walls_of_moves {};
template <> struct walls_of<stage_conform_move> : walls_of_moves {};

/* ---- rows ---- */

/* The halves of N entries. */
template <int N> OZ_D void oz_halves_ld(const uint16_t *a, uint16_t *g) {
#if defined(__CUDACC__)
  if (N == 1) {
    const uint2 v = *reinterpret_cast<const uint2 *>(a);
    g[0] = (uint16_t)v.x, g[1] = (uint16_t)(v.x >> 16), g[2] = (uint16_t)v.y, g[3] = (uint16_t)(v.y >> 16);
  } else
    for (int k = 0; k < N / 2; k++) {
      const uint4 v = reinterpret_cast<const uint4 *>(a)[k];
      g[8 * k] = (uint16_t)v.x, g[8 * k + 1] = (uint16_t)(v.x >> 16), g[8 * k + 2] = (uint16_t)v.y, g[8 * k + 3] = (uint16_t)(v.y >> 16);
      g[8 * k + 4] = (uint16_t)v.z, g[8 * k + 5] = (uint16_t)(v.z >> 16), g[8 * k + 6] = (uint16_t)v.w, g[8 * k + 7] = (uint16_t)(v.w >> 16);
    }
#else
  for (int k = 0; k < 4 * N; k++) g[k] = a[k];
#endif
}

/* One neighbour, by number and by place in the list. Gradients are those of the start positions to the end of the substep.
 * Mostly they are computed anew from packed positions; small scenes, whose lists stay in the cache, read them as halves from
 * beside the list. */
template <class S, bool STORED>
OZ_D void visit(const stage_args &a, oz_place here, float unit, uint32_t j, const uint16_t *g, const typename S::self *self, oz_real *acc) {
  oz_group m;
  m.j = &j;
  if (S::KIND == KIND_C && STORED) {
    m.g.x = oz_ld_half(g), m.g.y = oz_ld_half(g + 1), m.g.z = oz_ld_half(g + 2);
    m.c = oz_ld_half(g + 3);
  } else if (S::KIND == KIND_C) {
    float r[3];
    oz_place_difference(here, oz_place_ld(a.place, j), r);
    const oz_v3 way = {unit * r[0], unit * r[1], unit * r[2]};
    m.g = oz_spiky(&a.f, way, &m.c);
  }
  S::pair(&a.f, self, &m, acc);
}
/* N list entries in one load, and the gradients beside them. */
template <class S, bool STORED, int N> struct batch {
  uint32_t j[4];
  uint16_t g[16];
  OZ_D void load(const uint32_t *row, const uint16_t *ghat) {
    if (N == 4) oz_entries_ld(row, j);
    else if (N == 2) oz_entries2_ld(row, j);
    else j[0] = row[0];
    if (S::KIND == KIND_C && STORED) oz_halves_ld<N>(ghat, g);
  }
};
/* One row. A thread takes as many entries at once as there are for it in four (T = 1: four, 2: two); rows are padded to
 * four with the particle itself, whose gradient is zero. */
template <class S, int T>
OZ_D void walk_row(const stage_args &a, const uint32_t *row, const uint16_t *ghat, uint32_t n, oz_place here, float unit, uint32_t lane,
                   const typename S::self *self, oz_real *acc) {
  constexpr bool STORED = T > STORED_ABOVE;
  constexpr int N = T == 1 ? 4 : T == 2 ? 2 : 1;
  constexpr uint32_t step = (T < 4 ? 1 : T / 4) * (4 * GROUP);
  const uint32_t first = T < 4 ? N * lane : (lane >> 2) * (4 * GROUP) + (lane & 3u);
  row += first;
  if (STORED) ghat += 4 * (size_t)first;
  if (T < 4) {
    for (uint32_t k = N * lane; k < n; k += 4, row += step) {
      batch<S, STORED, N> b;
      b.load(row, ghat);
      if (STORED) ghat += 4 * step;
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < N; m++)
        if (S::KIND == KIND_C || k + m < n) visit<S, STORED>(a, here, unit, b.j[m], b.g + 4 * m, self, acc);
    }
  } else { /* two at a time, so that two gathers are in flight */
    uint32_t k = lane;
    for (; k + T < n; k += 2 * T, row += 2 * step) {
      batch<S, STORED, 1> b, c;
      b.load(row, ghat);
      c.load(row + step, STORED ? ghat + 4 * step : ghat);
      if (STORED) ghat += 8 * step;
      visit<S, STORED>(a, here, unit, b.j[0], b.g, self, acc);
      visit<S, STORED>(a, here, unit, c.j[0], c.g, self, acc);
    }
    if (k < n) {
      batch<S, STORED, 1> b;
      b.load(row, ghat);
      visit<S, STORED>(a, here, unit, b.j[0], b.g, self, acc);
    }
  }
}
template <class S, int T>
OZ_D void walk(const stage_args &a, uint32_t i, uint32_t lane, const typename S::self *self, oz_real *acc) {
  const oz_frame *f = &a.f;
  if constexpr (S::KIND == KIND_LINK) {
    for (uint32_t k = lane; k < f->link_len[i]; k += T) {
      const size_t e = oz_link_at(f, i, k);
      const oz_links n = {f->link_j + e, f->link_rest[e], f->link_kind + e, f->link_spare + e};
      S::pair(f, self, &n, acc);
    }
  } else {
    const uint32_t g = i / GROUP, at = i % GROUP * 4;
    oz_place here = {0, 0};
    if (S::KIND == KIND_C) here = oz_place_ld(a.place, i);
    const float unit = f->h * (1.0f / 536870912.0f);
    const size_t c = (size_t)f->row_c[g] * GROUP + at;
    walk_row<S, T>(a, f->list_c + c, f->ghat + 4 * c, f->len_c[i], here, unit, lane, self, acc);
    if (S::KIND == KIND_D) /* what was near at the start, then what has come near since */
      walk_row<S, T>(a, f->list_d[1] + (size_t)f->row_d[1][g] * GROUP + at, nullptr, f->len_d[1][i], here, unit, lane, self, acc);
  }
}

#if defined(OZ_CUDA_HOST)
/* ---- loops ---- */

template <int N> void deliver(const stage_args &a, const double *sum) {
  for (int r = 0; r < N; r++) a.f.scalar[OZ_SCALAR_SUM + r] = sum[r];
  if (a.one >= 0) run_one(a.one, &a.f);
}
template <class S> cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t) {
  double sum[S::REDS + 1] = {0.0};
  for (uint32_t i = 0; i < a.f.count; i++) {
    typename S::self self;
    oz_real acc[S::SUMS], red[S::REDS + 1];
    for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
    S::begin(&a.f, i, &self);
    if (lanes == 1) walk<S, 1>(a, i, 0, &self, acc);
    else if (lanes == 2)
      for (uint32_t lane = 0; lane < 2; lane++) walk<S, 2>(a, i, lane, &self, acc);
    else
      for (uint32_t lane = 0; lane < 8; lane++) walk<S, 8>(a, i, lane, &self, acc);
    S::end(&a.f, i, acc, red);
    if (a.walls && a.slot_of[i]) walls_of<S>::apply(&g, a.slot_of[i] - 1, a.walls);
    for (int r = 0; r < S::REDS; r++) sum[r] += (double)red[r];
  }
  if (S::REDS) deliver<S::REDS>(a, sum);
  return cudaSuccess;
}
template <class S> cudaError_t launch_map(const stage_args &a, const oz_frame &, int, cudaStream_t) {
  double sum[S::REDS + 1] = {0.0};
  const uint32_t n = S::KIND == KIND_WALL ? *a.wall_count : S::KIND == KIND_MEMBER ? a.f.member_count : a.f.count;
  for (uint32_t i = 0; i < n; i++) {
    oz_real red[S::REDS + 1];
    S::item(&a.f, i, red);
    for (int r = 0; r < S::REDS; r++) sum[r] += (double)red[r];
  }
  if (S::REDS) deliver<S::REDS>(a, sum);
  return cudaSuccess;
}
template <class S> cudaError_t launch_bodies(const stage_args &a, const oz_frame &, int, cudaStream_t) {
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
template <class S> cudaError_t launch_one(const stage_args &a, const oz_frame &, int, cudaStream_t) {
  run_one(S::STAGE, &a.f);
  return cudaSuccess;
}

#else
/* ---- kernels ---- */

/* Adds N numbers of each thread over the grid: threads by a tree, blocks in order by the block that is done last, so that
 * the sum does not depend on which that was. */
template <int N> __device__ __forceinline__ void deliver(const stage_args &a, const oz_real *red) {
  __shared__ double part[N][BLOCK / 32];
  __shared__ uint32_t last;
  double v[N];
  for (int r = 0; r < N; r++) {
    v[r] = (double)red[r];
    for (int s = 16; s; s >>= 1) v[r] += __shfl_xor_sync(0xffffffffu, v[r], s);
    if (threadIdx.x % 32 == 0) part[r][threadIdx.x / 32] = v[r];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int r = 0; r < N; r++) {
      double total = 0.0;
      for (int w = 0; w < BLOCK / 32; w++) total += part[r][w];
      a.partial[(size_t)blockIdx.x * N + r] = total;
    }
    __threadfence();
    last = atomicAdd(a.ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (int r = 0; r < N; r++) {
    double total = 0.0;
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += BLOCK) total += __ldcg(a.partial + (size_t)b * N + r);
    for (int s = 16; s; s >>= 1) total += __shfl_xor_sync(0xffffffffu, total, s);
    if (threadIdx.x % 32 == 0) part[r][threadIdx.x / 32] = total;
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int r = 0; r < N; r++) {
    double total = 0.0;
    for (int w = 0; w < BLOCK / 32; w++) total += part[r][w];
    a.f.scalar[OZ_SCALAR_SUM + r] = total;
  }
  *a.ticket = 0;
  if (a.one >= 0) run_one(a.one, &a.f);
}

/* A kernel may be started while the one before it is still running, so that its launch costs nothing; here it waits for what
 * that one wrote, and lets the next one come. */
__device__ __forceinline__ void after_the_last() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

template <class S, int T, bool WALLS>
__device__ __forceinline__ void gather_body(const stage_args &a, const oz_frame *g) {
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x, lane = thread % T;
  uint32_t i = thread / T;
  bool there = i < a.f.count;
  oz_real acc[S::SUMS], red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
  after_the_last();
  if (there) {
    typename S::self self;
    S::begin(&a.f, i, &self);
    walk<S, T>(a, i, lane, &self, acc);
  }
  if constexpr (T > 1) {
    /* all threads come here; then the first ones take a particle each, so that its end runs in full warps */
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
    S::end(&a.f, i, acc, red);
    if (WALLS) {
      const uint32_t slot = a.slot_of[i];
      if (slot) walls_of<S>::apply(g, slot - 1, a.walls);
    }
  }
  if constexpr (S::REDS > 0) deliver<S::REDS>(a, red);
}
template <class S, int T> __global__ void __launch_bounds__(BLOCK) gather_kernel(const __grid_constant__ stage_args a) {
  gather_body<S, T, false>(a, nullptr);
}
template <class S, int T>
__global__ void __launch_bounds__(BLOCK) gather_walls_kernel(const __grid_constant__ stage_args a, const __grid_constant__ oz_frame g) {
  gather_body<S, T, true>(a, &g);
}
template <class S> __global__ void __launch_bounds__(BLOCK) map_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  after_the_last();
  /* the number of walls stays on the device, so that a recorded launch serves any number */
  if (i < (S::KIND == KIND_WALL ? *a.wall_count : S::KIND == KIND_MEMBER ? a.f.member_count : a.f.count)) S::item(&a.f, i, red);
  if constexpr (S::REDS > 0) deliver<S::REDS>(a, red);
}
/* One block a body: threads take its particles in turn, a tree adds up, the first finishes. */
template <class S> __global__ void __launch_bounds__(BLOCK) body_kernel(const __grid_constant__ stage_args a) {
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
template <class S> __global__ void one_kernel(const __grid_constant__ stage_args a) {
  after_the_last();
  S::one(&a.f);
}
template <class K, class... A> cudaError_t start(K kernel, uint32_t n, uint32_t threads, cudaStream_t stream, const A &...args) {
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  c.gridDim = dim3(n), c.blockDim = dim3(threads), c.stream = stream;
  c.attrs = &early, c.numAttrs = start_early() ? 1 : 0;
  return cudaLaunchKernelEx(&c, kernel, args...);
}

inline uint32_t blocks(uint32_t n, uint32_t lanes) { return (uint32_t)(((uint64_t)n * lanes + BLOCK - 1) / BLOCK); }

template <class S> cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  const uint32_t n = blocks(a.f.count, (uint32_t)lanes);
  if constexpr (walls_of<S>::ANY)
    if (a.walls) {
      if (lanes == 16) return start(gather_walls_kernel<S, 16>, n, BLOCK, stream, a, g);
      if (lanes == 8) return start(gather_walls_kernel<S, 8>, n, BLOCK, stream, a, g);
      if (lanes == 4) return start(gather_walls_kernel<S, 4>, n, BLOCK, stream, a, g);
      return start(gather_walls_kernel<S, 2>, n, BLOCK, stream, a, g);
    }
  if (lanes == 16) return start(gather_kernel<S, 16>, n, BLOCK, stream, a);
  if (lanes == 8) return start(gather_kernel<S, 8>, n, BLOCK, stream, a);
  if (lanes == 4) return start(gather_kernel<S, 4>, n, BLOCK, stream, a);
  if (lanes == 2) return start(gather_kernel<S, 2>, n, BLOCK, stream, a);
  return start(gather_kernel<S, 1>, n, BLOCK, stream, a);
}
template <class S> cudaError_t launch_map(const stage_args &a, const oz_frame &, int, cudaStream_t stream) {
  const uint32_t n = S::KIND == KIND_WALL ? a.f.wall_count : S::KIND == KIND_MEMBER ? a.f.member_count : a.f.count;
  return n ? start(map_kernel<S>, blocks(n, 1), BLOCK, stream, a) : cudaSuccess;
}
template <class S> cudaError_t launch_bodies(const stage_args &a, const oz_frame &, int, cudaStream_t stream) {
  return a.f.body_count ? start(body_kernel<S>, a.f.body_count, BLOCK, stream, a) : cudaSuccess;
}
template <class S> cudaError_t launch_one(const stage_args &a, const oz_frame &, int, cudaStream_t stream) {
  return start(one_kernel<S>, 1, 1, stream, a);
}
#endif

#define OZ_LAUNCH_C launch_gather
#define OZ_LAUNCH_D launch_gather
#define OZ_LAUNCH_OUTER launch_gather
#define OZ_LAUNCH_MATRIX launch_gather
#define OZ_LAUNCH_SPARE launch_gather
#define OZ_LAUNCH_LINK launch_gather
#define OZ_LAUNCH_MAP launch_map
#define OZ_LAUNCH_ITEM launch_map
#define OZ_LAUNCH_WALL launch_map
#define OZ_LAUNCH_MEMBER launch_map
#define OZ_LAUNCH_BODY launch_bodies
#define OZ_LAUNCH_ONE launch_one
template <int PART> void fill(stage_fn *table) {
#define OZ_STAGE(name, kind, nsum, nred)                                                                               \
  if constexpr (OZ_STAGE_##name % OZ_PARTS == PART) table[OZ_STAGE_##name] = &OZ_LAUNCH_##kind<stage_##name>;
#include "physics/stages.def"
#undef OZ_STAGE
}

} // namespace

#define OZ_FILL2(part) fill_part_##part
#define OZ_FILL(part) OZ_FILL2(part)
void OZ_FILL(OZ_PART)(stage_fn *table) { fill<OZ_PART>(table); }

} // namespace OZ_NAMESPACE
