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
#include "physics/boundary.h"
#include "physics/conformation.h"
#include "physics/density.h"
#include "physics/filter.h"
#include "physics/heat.h"
#include "physics/mixing.h"
#include "physics/motion.h"
#include "physics/mps.h"
#include "physics/nozzle.h"
#include "physics/paper.h"
#include "physics/rules.h"
#include "physics/soft.h"
#include "physics/sph.h"
#include "physics/springs.h"
#include "physics/tension.h"
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

/* The same for stages of kind MAP: what comes before or after the particle's own item. Bit 4 needs no wall. */
template <class S> struct maps_of {
  static constexpr bool ANY = false;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
};
template <> struct maps_of<stage_cg_update> {
  static constexpr bool ANY = true;
  static OZ_D void before(const oz_frame *f, uint32_t slot, uint32_t) { if (slot) oz_wall_load_item(f, slot - 1); }
  static OZ_D void after(const oz_frame *, uint32_t, uint32_t, uint32_t) {}
};
template <> struct maps_of<stage_settle> {
  static constexpr bool ANY = true;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *f, uint32_t, uint32_t slot, uint32_t) { if (slot) oz_wall_drag_item(f, slot - 1); }
};
template <> struct maps_of<stage_advance> {
  static constexpr bool ANY = true;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *f, uint32_t, uint32_t slot, uint32_t which) {
    if (slot && (which & 1u)) oz_wall_density_item(f, slot - 1);
    if (slot && (which & 2u)) oz_wall_project_item(f, slot - 1);
  }
};
template <> struct maps_of<stage_material> {
  static constexpr bool ANY = true;
  static OZ_D void before(const oz_frame *, uint32_t, uint32_t) {}
  static OZ_D void after(const oz_frame *f, uint32_t i, uint32_t, uint32_t) { oz_predict_item(f, i, nullptr); }
};
template <class S> OZ_D void map_joined(const stage_args &a, uint32_t i, oz_real *red) {
  const uint32_t slot = a.walls & 3u ? a.slot_of[i] : 0;
  maps_of<S>::before(&a.f, slot, a.walls);
  S::item(&a.f, i, red);
  maps_of<S>::after(&a.f, i, slot, a.walls);
}

/* ---- rows ---- */

/* The four halves of an entry. */
OZ_D void oz_halves_ld(const uint16_t *a, uint16_t *g) {
#if defined(__CUDACC__)
  const uint2 v = *reinterpret_cast<const uint2 *>(a);
  g[0] = (uint16_t)v.x, g[1] = (uint16_t)(v.x >> 16), g[2] = (uint16_t)v.y, g[3] = (uint16_t)(v.y >> 16);
#else
  for (int k = 0; k < 4; k++) g[k] = a[k];
#endif
}

/* One neighbour, by number and by place in the list. Gradients are those of the start positions to the end of the substep.
 * Mostly they are computed anew from packed positions; small scenes, whose lists stay in the cache, read them as halves from
 * beside the list. */
template <class S, bool STORED>
OZ_D void visit(const stage_args &a, oz_place here, uint32_t j, const uint16_t *g, const typename S::self *self, oz_real *acc) {
  oz_group m;
  m.j = &j;
  if (S::KIND == KIND_C && STORED) {
    m.g.x = oz_ld_half(g), m.g.y = oz_ld_half(g + 1), m.g.z = oz_ld_half(g + 2);
    m.c = oz_ld_half(g + 3);
  } else if (S::KIND == KIND_C) {
    oz_frame k; /* only what oz_spiky asks for */
    float r[3];
    k.h = a.units.h, k.h2 = a.units.h2, k.grad_norm = a.units.grad_norm, k.hour_norm = a.units.hour_norm, k.inv_d = a.units.inv_d;
    oz_place_difference(here, oz_place_ld(a.place, j), r);
    const oz_v3 way = {r[0], r[1], r[2]};
    m.g = oz_spiky(&k, way, &m.c);
  }
  S::pair(&a.f, self, &m, acc);
}
/* One row of n entries, a multiple of four: rows are padded with the particle itself, whose gradient is zero. Threads that
 * share a particle take entries that lie side by side, because these are mostly near each other in memory, and a gather costs
 * as many sectors of memory as it touches. Each takes four a round (two, where there are many threads); the entries of the next
 * round are fetched before the neighbours of this one. */
template <class S, int T, bool STORED> struct strip {
  static constexpr uint32_t EACH = 4 / T; /* entries of a four that one thread takes; T fours make a round */
  struct round {
    uint32_t j[4];
    OZ_D void fetch(const uint32_t *row, uint32_t k, uint32_t n, uint32_t lane) {
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (int q = 0; q < T; q++) {
        if (k + 4 * q >= n) break;
        const uint32_t *four = row + (size_t)q * (4 * GROUP);
        if (T == 1) oz_entries_ld(four, j);
        else if (T == 2) {
          uint32_t e[4];
          oz_entries_ld(four, e);
          j[(2 * q) & 3] = lane ? e[1] : e[0], j[(2 * q + 1) & 3] = lane ? e[3] : e[2];
        } else j[q & 3] = four[lane];
      }
    }
  };
  const uint32_t *row;
  uint32_t n;
  round now;
  OZ_D void open(const uint32_t *at, const uint16_t *, uint32_t length, uint32_t lane) {
    row = at, n = (length + 3u) & ~3u;
    now.fetch(row, 0, n, lane);
  }
  OZ_D void walk(const stage_args &a, oz_place here, uint32_t lane, const typename S::self *self, oz_real *acc) {
    uint32_t k = 0;
    round next;
    for (; k + 4 * T <= n; k += 4 * T) {
      row += T * (4 * GROUP);
      next.fetch(row, k + 4 * T, n, lane);
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (int m = 0; m < 4; m++) visit<S, false>(a, here, now.j[m], nullptr, self, acc);
      now = next;
    }
    if (T > 1) {
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 4; m++)
        if (k + m / EACH * 4 < n) visit<S, false>(a, here, now.j[m], nullptr, self, acc);
    }
  }
};
template <class S, int T> struct strip<S, T, true> {
  static constexpr uint32_t STEP = T / 4 * (4 * GROUP);
  static constexpr bool READ = S::KIND == KIND_C;
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
  OZ_D void walk(const stage_args &a, oz_place here, uint32_t lane, const typename S::self *self, oz_real *acc) {
    uint32_t next[2] = {0, 0};
    uint16_t next_g[8];
    for (uint32_t k = lane; k < n; k += 2 * T) {
      row += 2 * STEP;
      ghat += 8 * STEP;
      fetch(k + 2 * T, next, next_g);
      visit<S, true>(a, here, j[0], g, self, acc);
      if (k + T < n) visit<S, true>(a, here, j[1], g + 4, self, acc);
      for (int m = 0; m < 2; m++) j[m] = next[m];
      for (int m = 0; m < 8; m++) g[m] = next_g[m];
    }
  }
};
/* A particle's rows. What `open` reads is as old as the lists, so it may come before the kernel before this one is done. */
template <class S, int T, int KIND = S::KIND> struct walker {
  strip<S, T, (T > STORED_ABOVE)> near, further;
  oz_place here;
  OZ_D void open(const stage_args &a, uint32_t i, uint32_t lane) {
    const oz_frame *f = &a.f;
    const uint32_t g = i / GROUP, at = i % GROUP * 4;
    const size_t c = (size_t)f->row_c[g] * GROUP + at;
    if (S::KIND == KIND_C) here = oz_place_ld(a.place, i);
    near.open(f->list_c + c, f->ghat + 4 * c, f->len_c[i], lane);
    if (S::KIND == KIND_D) /* what was near at the start, then what has come near since */
      further.open(f->list_d[1] + (size_t)f->row_d[1][g] * GROUP + at, nullptr, f->len_d[1][i], lane);
  }
  OZ_D void walk(const stage_args &a, uint32_t, uint32_t lane, const typename S::self *self, oz_real *acc) {
    near.walk(a, here, lane, self, acc);
    if (S::KIND == KIND_D) further.walk(a, here, lane, self, acc);
  }
};
template <class S, int T> struct walker<S, T, KIND_LINK> {
  OZ_D void open(const stage_args &, uint32_t, uint32_t) {}
  OZ_D void walk(const stage_args &a, uint32_t i, uint32_t lane, const typename S::self *self, oz_real *acc) {
    const oz_frame *f = &a.f;
    for (uint32_t k = lane; k < f->link_len[i]; k += T) {
      const size_t e = oz_link_at(f, i, k);
      const oz_links n = {f->link_j + e, f->link_rest[e], f->link_kind + e, f->link_spare + e};
      S::pair(f, self, &n, acc);
    }
  }
};

#if defined(OZ_CUDA_HOST)
/* ---- loops ---- */

template <int N> void deliver(const stage_args &a, const double *sum) {
  for (int r = 0; r < N; r++) a.f.scalar[OZ_SCALAR_SUM + r] = sum[r];
  if (a.one >= 0) run_one(a.one, &a.f);
}
template <class S, int T> void loop(const stage_args &a, uint32_t i, const typename S::self *self, oz_real *acc) {
  for (uint32_t lane = 0; lane < T; lane++) {
    walker<S, T> w;
    w.open(a, i, lane);
    w.walk(a, i, lane, self, acc);
  }
}
template <class S> cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t) {
  double sum[S::REDS + 1] = {0.0};
  for (uint32_t i = 0; i < a.f.count; i++) {
    typename S::self self;
    oz_real acc[S::SUMS], red[S::REDS + 1];
    for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0f;
    S::begin(&a.f, i, &self);
    if (lanes == 1) loop<S, 1>(a, i, &self, acc);
    else if (lanes == 2) loop<S, 2>(a, i, &self, acc);
    else if (lanes == 4) loop<S, 4>(a, i, &self, acc);
    else loop<S, 8>(a, i, &self, acc);
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
    if (a.walls) map_joined<S>(a, i, red);
    else S::item(&a.f, i, red);
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
  walker<S, T> w;
  if (there) w.open(a, i, lane);
  after_the_last();
  if (there) {
    typename S::self self;
    S::begin(&a.f, i, &self);
    w.walk(a, i, lane, &self, acc);
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
template <class S> __global__ void __launch_bounds__(BLOCK) map_joined_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  after_the_last();
  if (i < a.f.count) map_joined<S>(a, i, red);
  if constexpr (S::REDS > 0) deliver<S::REDS>(a, red);
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
  if constexpr (maps_of<S>::ANY)
    if (a.walls) return start(map_joined_kernel<S>, blocks(n, 1), BLOCK, stream, a);
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
