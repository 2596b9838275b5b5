/* Whether kernels may start before the one ahead of them has ended. SPDX-License-Identifier:
 * Apache-2.0 */
#include "cuda/debug_options.h"

#if !defined(OZ_CUDA_HOST)

namespace OZ_NAMESPACE {

bool dependent_launch_enabled() {
  static const bool yes = [] {
    uint32_t disabled = 0;
    int device = 0, major = 0;
    if (read_debug_disable(&disabled, nullptr) < 0 || (disabled & DISABLE_DEPENDENT_LAUNCH))
      return false;
    if (cudaGetDevice(&device) != cudaSuccess) return false;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           major >= 9;
  }();
  return yes;
}

} // namespace OZ_NAMESPACE

#endif
