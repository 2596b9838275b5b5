/* Prefix sums over the blocks of one launch: each block publishes its sum, and adds up those of all
 * blocks before it. Blocks start in the order of their numbers (CUB's scan relies on it too), so
 * that a block never waits for one that is not resident. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_BLOCK_SCAN_H
#define OZ_CUDA_BLOCK_SCAN_H

#include "cuda/gpu.h"

#if !defined(OZ_CUDA_HOST)
namespace OZ_NAMESPACE {
enum { MAX_SCAN_BLOCKS = 1024 }; /* blocks: each reads all before it */
/* A word a block: its sum in the lower half, the number of the launch in the upper, so that nothing
 * is cleared. */
struct scan_state {
  volatile unsigned long long *told;
  uint32_t launch;
};
inline ooze_result next_scan(gpu *g, scan_state *out, ooze_message *why) {
  OZ_TRY(grow(g, &g->sums.blocks, MAX_SCAN_BLOCKS * sizeof(unsigned long long), "adding up", why));
  *out = {as<unsigned long long>(g->sums.blocks), ++g->sums.launch};
  return OOZE_OK;
}
/* Sum over the blocks before this one, whose own is `mine`. By all threads of the block. */
template <int THREADS>
__device__ __forceinline__ uint32_t block_prefix(const scan_state &s, uint32_t mine) {
  __shared__ uint32_t part[THREADS / 32];
  uint32_t sum = 0;
  if (threadIdx.x == 0) s.told[blockIdx.x] = (unsigned long long)s.launch << 32 | mine;
  for (uint32_t b = threadIdx.x; b < blockIdx.x; b += THREADS) {
    unsigned long long v;
    do v = s.told[b];
    while ((uint32_t)(v >> 32) != s.launch);
    sum += (uint32_t)v;
  }
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < THREADS / 32; w++) sum += part[w];
  return sum;
}
} // namespace OZ_NAMESPACE
#endif
#endif
