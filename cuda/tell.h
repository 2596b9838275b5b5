/* News for the host: a warp writes them into its memory, and behind them the number for which it
 * waits. In a kernel of its own, or in one that comes anyway. */
#ifndef OZ_CUDA_TELL_H
#define OZ_CUDA_TELL_H

#include "cuda/gpu.h"

#if !defined(OZ_CUDA_HOST)
namespace OZ_NAMESPACE {
__device__ __forceinline__ void tell_host(const telling &t) {
  constexpr uint32_t WORDS = sizeof(news) / 4;
  for (uint32_t k = threadIdx.x % 32; k < WORDS; k += 32) t.to[k] = __ldcg(t.from + k);
  __syncwarp();
  if (threadIdx.x % 32) return;
  __threadfence_system();
  t.to[WORDS] = t.number;
}
} // namespace OZ_NAMESPACE
#endif
#endif
