/* Kernels of maps, walls, bodies and scalars. Included by stage_kernels.cu, inside its namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_MAP_KERNELS_H
#define OZ_CUDA_MAP_KERNELS_H

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
    if (S::STAGE == OZ_STAGE_wall_press && a.packed) {
      const uint32_t planes = a.f.wall_planes[i];
      walls_of<stage_density_strain>::apply(&a.f, i, a.f.wall_particle[i], planes, 0);
    } else
      S::item(&a.f, i, red);
  }
  if constexpr (posts_status<S>) post_status_before<BLOCK>(a);
  finish_stage<S, BLOCK>(a, i, i < a.f.count, red);
}
/* wall_hold where colliders are curved: a neighbour that is nearer to the wall is looked for by
 * several threads, since each look asks the collider. */
enum { HOLD_TEAM = 8 };
template <class S>
__global__ void __launch_bounds__(BLOCK) hold_kernel(const __grid_constant__ stage_args a) {
  const oz_frame *f = &a.f;
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x, contact = thread / HOLD_TEAM,
                 lane = thread % HOLD_TEAM, team = 0xffu << (threadIdx.x % 32u - lane);
  static_assert(HOLD_TEAM == 8, "bits of team");
  launch_dependency_trigger();
  launch_dependency_wait();
  if (contact >= *a.wall_count) return; /* the whole team leaves */
  const uint32_t i = f->wall_particle[contact], planes = f->wall_planes[contact],
                 length = f->start_length[i];
  const oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  oz_wall_inputs g;
  oz_wall_inputs_ld(f, i, &g);
  uint32_t active = 0;
  for (uint32_t k = 0; k < planes; k++) {
    int asks;
    uint32_t how = oz_wall_active(f, wall + k, &g, oz_wall_floor_of(f, wall + k, g.solid), &asks);
    if (asks && __any_sync(team, oz_wall_behind(f, wall + k, i, lane, HOLD_TEAM, length)))
      how = OZ_WALL_FREE;
    active |= how << OZ_WALL_BITS * k;
  }
  __syncwarp(team); /* all have read */
  if (lane == 0) oz_wall_hold_by(f, contact, planes, i, g, active);
}
/* The links of a soft body's particle, shared out among threads. */
enum { SOFT_TEAM = 8 };
template <class S>
constexpr bool shares_links = S::STAGE == OZ_STAGE_soft_rate || S::STAGE == OZ_STAGE_soft_pull;
template <class S>
__global__ void __launch_bounds__(BLOCK) soft_kernel(const __grid_constant__ stage_args a) {
  const oz_frame *f = &a.f;
  const uint32_t thread = blockIdx.x * (uint32_t)BLOCK + threadIdx.x, slot = thread / SOFT_TEAM,
                 lane = thread % SOFT_TEAM;
  oz_real acc[OZ_SOFT_SUMS] = {};
  launch_dependency_trigger();
  launch_dependency_wait();
  if (slot < f->member_count) {
    if constexpr (S::STAGE == OZ_STAGE_soft_rate)
      oz_soft_rate_part(f, slot, lane, SOFT_TEAM, acc);
    else
      oz_soft_pull_part(f, slot, lane, SOFT_TEAM, acc);
  }
  for (int k = 0; k < OZ_SOFT_SUMS; k++)
    for (int d = SOFT_TEAM / 2; d; d >>= 1) acc[k] += __shfl_xor_sync(0xffffffffu, acc[k], d);
  if (lane || slot >= f->member_count) return;
  if constexpr (S::STAGE == OZ_STAGE_soft_rate)
    oz_soft_rate_end(f, slot, acc);
  else
    oz_soft_pull_end(f, slot, acc);
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
/* One block of N threads a body: threads take its particles in turn, a tree adds up, the first one
 * finishes. The particles of the next turns are named ahead, since every one takes two loads. */
enum { BODY_BLOCK = 512, BODY_AHEAD = 4 };
template <class S, int N>
__global__ void __launch_bounds__(N) body_kernel(const __grid_constant__ stage_args a) {
  __shared__ double part[S::SUMS][N / 32];
  const oz_frame *f = &a.f;
  const uint32_t b = blockIdx.x;
  double acc[S::SUMS];
  for (int s = 0; s < S::SUMS; s++) acc[s] = 0.0;
  launch_dependency_trigger_and_wait();
  /* soft bodies have no pose */
  if (S::STAGE != OZ_STAGE_body_start && !f->body_state[b].live) return;
  const uint32_t count = f->body[b].count, *member = f->member + f->body[b].first;
  for (uint32_t first = threadIdx.x; first < count; first += N * BODY_AHEAD) {
    uint32_t i[BODY_AHEAD];
#pragma unroll
    for (uint32_t e = 0; e < BODY_AHEAD; e++)
      i[e] = first + e * N < count ? member[first + e * N] : OZ_NO_MEMBER;
#pragma unroll
    for (uint32_t e = 0; e < BODY_AHEAD; e++)
      if (i[e] != OZ_NO_MEMBER) S::pair(f, b, i[e], acc);
  }
  for (int s = 0; s < S::SUMS; s++) {
    for (int d = 16; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
    if (threadIdx.x % 32 == 0) part[s][threadIdx.x / 32] = acc[s];
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  for (int s = 0; s < S::SUMS; s++) {
    acc[s] = threadIdx.x < N / 32 ? part[s][threadIdx.x] : 0.0;
    for (int d = 16; d; d >>= 1) acc[s] += __shfl_xor_sync(0xffffffffu, acc[s], d);
  }
  if (threadIdx.x == 0) S::end(f, b, acc);
}
/* Resident blocks a multiprocessor: walls must not cost a wave. */
template <class S>
constexpr int min_blocks_map =
    std::is_same<S, stage_cg_advance>::value || std::is_same<S, stage_velocity_start>::value ? 7
                                                                                             : 0;
template <class S, bool FLAT>
__global__ void __launch_bounds__(BLOCK, (min_blocks_map<S>))
    map_fused_kernel(const __grid_constant__ stage_args a) {
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  oz_real red[S::REDS + 1];
  for (int r = 0; r <= S::REDS; r++) red[r] = 0.0f;
  /* the kernels that write it do not trigger early */
  const uint32_t slot = map_fusion<S>::WALLS && i < a.f.count ? a.slot_of[i] : 0u;
  /* as wall_planes in a kernel of its own */
  if (S::STAGE != OZ_STAGE_velocity_start || !(a.fused & FUSE_PLANES)) launch_dependency_trigger();
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
#endif
