/* The kernel of material and predict that also finds the particles near a wall, and permutes before
 * where that is pending. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/near_walls.h"
#include "cuda/permute.h"

#include "physics/motion.h"

namespace OZ_NAMESPACE {
namespace {

struct in_place { /* no permutation is pending */
  OZ_D void operator()(uint32_t) const {}
};

#if defined(OZ_CUDA_HOST)
template <class K>
cudaError_t predict_all(gpu *g, const near_item &near, const K &first, uint32_t *votes, uint32_t) {
  for (uint32_t i = 0; i < g->count; i++) {
    first(i);
    oz_material_item(&near.f, i, nullptr);
    oz_predict_item(&near.f, i, nullptr);
    const uint32_t before = i % 32 ? votes[i / 32] : 0u;
    votes[i / 32] = before | (uint32_t)(g->walls.planar ? near.near<true>(i) : near.near<false>(i))
                                 << i % 32;
  }
  return cudaSuccess;
}
#else
template <bool PLANES, class K>
__global__ void __launch_bounds__(BLOCK, 7)
    predict_kernel(const __grid_constant__ near_item near, const __grid_constant__ K first,
                   uint32_t *out) {
  const oz_frame *f = &near.f;
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  prefetch_table(f->matter, f->matter_count * sizeof(oz_matter));
  prefetch_table(f->collider, f->collider_count * sizeof(oz_collider));
  launch_dependency_trigger_and_wait();
  if (i < f->count) {
    first(i);
    oz_material_item(f, i, nullptr);
    oz_predict_item(f, i, nullptr);
  }
  const uint32_t votes = __ballot_sync(0xffffffffu, i < f->count && near.near<PLANES>(i));
  if (threadIdx.x % 32 == 0 && i < f->count) out[i / 32] = votes;
}
template <class K>
cudaError_t predict_all(gpu *g, const near_item &near, const K &first, uint32_t *votes,
                        uint32_t memory) {
  static_assert(sizeof(near_item) + sizeof(K) + sizeof votes <= 4096, "what a kernel can be given");
  const uint32_t blocks = (g->count + BLOCK - 1u) / BLOCK;
  if (g->walls.planar)
    return start<predict_kernel<true, K>>(blocks, (uint32_t)BLOCK, memory, g->stream, near, first,
                                          votes);
  return start<predict_kernel<false, K>>(blocks, (uint32_t)BLOCK, memory, g->stream, near, first,
                                         votes);
}
#endif

} // namespace

cudaError_t predict_with_votes(gpu *g, const oz_frame &f, uint32_t memory) {
  if (!g->sorter.permutation_pending)
    return predict_all(g, near_to(f), in_place{}, as<uint32_t>(g->walls.votes), memory);
  g->sorter.permutation_pending = false;
  permute_item item;
  static_cast<pending_permutation &>(item) = g->sorter.permutation;
  return predict_all(g, near_to(f), item, as<uint32_t>(g->walls.votes), memory);
}

} // namespace OZ_NAMESPACE
