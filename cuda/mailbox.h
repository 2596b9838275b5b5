/* A post: one warp writes the device status into the host's pinned memory, and behind it the number
 * that the host polls. In a kernel of its own, or in a stage's (stage_args.status).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_MAILBOX_H
#define OZ_CUDA_MAILBOX_H

#include "cuda/gpu.h"

#if !defined(OZ_CUDA_HOST)
namespace OZ_NAMESPACE {
__device__ __forceinline__ void post_status(const status_post &t) {
  constexpr uint32_t WORDS = sizeof(device_status) / 4;
  for (uint32_t k = threadIdx.x % 32; k < WORDS; k += 32) t.to[k] = __ldcg(t.from + k);
  __syncwarp();
  if (threadIdx.x % 32) return;
  __threadfence_system();
  t.to[WORDS] = t.number;
}
} // namespace OZ_NAMESPACE
#endif
#endif
