/* Adding up over the blocks of one launch, in the order of their numbers: each tells what it has,
 * and adds up what all before it tell. Blocks start in that order (CUB's sums rely on it too), so
 * that those for which one waits are never waiting for room. */
#ifndef OZ_CUDA_BEFORE_H
#define OZ_CUDA_BEFORE_H

#include "cuda/gpu.h"

#if !defined(OZ_CUDA_HOST)
namespace OZ_NAMESPACE {
enum { SUMS_MOST = 1024 }; /* blocks: each looks at all before it */
/* Of each block a word: its sum in the lower half, and in the upper the number of the launch, so
 * that nothing need be cleared. */
struct block_sums {
  volatile unsigned long long *told;
  uint32_t launch;
};
inline ooze_result next_sums(gpu *g, block_sums *out, ooze_message *why) {
  OZ_TRY(grow(g, &g->block_sums, SUMS_MOST * sizeof(unsigned long long), "adding up", why));
  *out = {as<unsigned long long>(g->block_sums), ++g->sums_launch};
  return OOZE_OK;
}
/* What the blocks before this one have, which has `mine`. For all threads of the block at once. */
template <int THREADS>
__device__ __forceinline__ uint32_t before_block(const block_sums &s, uint32_t mine) {
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
