/* Every stage of stages.def as a kernel, from the physics text that the CPU compiles too. A stage
 * without its functions does not compile. The file is compiled OZ_PARTS times, each time with the
 * stages whose number is OZ_PART modulo OZ_PARTS, because one unit would take minutes.
 *
 * Gathers run with 1 to 16 threads a particle: the threads share the entries of its row, a fixed
 * tree adds up, the first one finishes. Small scenes need the additional threads to fill the
 * machine. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/fusion.h"
#include "cuda/stage_types.h"
#include "cuda/displacement_bins.h"
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
template <class S> struct fused {
  static constexpr bool ANY = true;
  typedef S stage;
};
template <> struct fused_of<stage_conform_update> : fused<stage_conform_finish> {};
template <> struct fused_of<stage_force> : fused<stage_force_last> {};
template <> struct fused_of<stage_residual> : fused<stage_bound_residual> {};
template <> struct fused_of<stage_density_lambda> : fused<stage_density_strain> {};
template <> struct fused_of<stage_conform_move> : fused<stage_position_move> {};
template <> struct fused_of<stage_tension_start> : fused<stage_tension_begin> {};
/* The same for FUSE_OTHER. */
template <class S> struct other_of {
  static constexpr bool ANY = false;
  typedef S stage;
};
template <> struct other_of<stage_force> : fused<stage_force_kick> {};
template <> struct other_of<stage_conform_update> : fused<stage_conform_shift> {};
enum : uint32_t { FUSE_TYPES = FUSE_SECOND | FUSE_OTHER }; /* all other bits are walls */

template <class S>
cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream);
/* Whether the bits ask for a fused type, which is launched then. */
template <class S>
bool launch_fused(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream,
                  cudaError_t *e) {
  if constexpr (fused_of<S>::ANY)
    if (a.fused & FUSE_SECOND) {
      *e = launch_gather<typename fused_of<S>::stage>(a, g, lanes, stream);
      return true;
    }
  if constexpr (other_of<S>::ANY)
    if (a.fused & FUSE_OTHER) {
      *e = launch_gather<typename other_of<S>::stage>(a, g, lanes, stream);
      return true;
    }
  return false;
}

#if defined(OZ_CUDA_HOST)
#include "cuda/host_loops.h"
#else
#include "cuda/reductions.h"

#include "cuda/gather_kernels.h"
#include "cuda/map_kernels.h"

/* ---- launches ---- */

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
    if (a.fused & ~FUSE_TYPES) return start<gather_walls_kernel<S, T>>(n, BLOCK, 0, stream, a, g);
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
    if (a.fused & ~FUSE_TYPES)
      return start<shared_gather_walls_kernel<S, T>>(n, BLOCK_PARTICLES * T, memory, stream, a, g);
  return start_sum<S::REDS>(
      start<shared_gather_kernel<S, T>>(n, BLOCK_PARTICLES * T, memory, stream, a), a, n, stream);
}
template <class S>
cudaError_t launch_gather(const stage_args &a, const oz_frame &g, int lanes, cudaStream_t stream) {
  cudaError_t e = cudaSuccess;
  if (launch_fused<S>(a, g, lanes, stream, &e)) return e;
  if (a.block_room && reads_more<S>(a.f))
    return launch_gather<S>(without_copies(a), g, lanes, stream);
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
     * several contacts, unless the move leaves room on every multiprocessor */
    const uint32_t most = a.multiprocessors ? a.multiprocessors : 1u << 20,
                   each = blocks(a.f.count, 1) <= most ? 1 : 2,
                   wished_blocks = blocks((n + each - 1) / each, mirror_row_walk::T),
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
  if constexpr (S::STAGE == OZ_STAGE_wall_hold)
    if (!a.flat) return start<hold_kernel<S>>(blocks(n, HOLD_TEAM), BLOCK, 0, stream, a);
  if constexpr (shares_links<S>)
    return start<soft_kernel<S>>(blocks(n, SOFT_TEAM), BLOCK, 0, stream, a);
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
  const uint32_t n = a.f.body_count;
  if (!n) return cudaSuccess;
  if (a.f.member_count / n > 2 * BLOCK)
    return start<body_kernel<S, BODY_BLOCK>>(n, BODY_BLOCK, 0, stream, a);
  return start<body_kernel<S, BLOCK>>(n, BLOCK, 0, stream, a);
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
