/* Prefix sums of 32-bit counts. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/block_scan.h"

#if !defined(OZ_CUDA_HOST)
#include <cub/device/device_scan.cuh>
#endif

namespace OZ_NAMESPACE {

#if defined(OZ_CUDA_HOST)
ooze_result inclusive_sum(gpu *, uint32_t *v, uint32_t n, chain, ooze_message *) {
  for (uint32_t i = 1; i < n; i++) v[i] += v[i - 1];
  return OOZE_OK;
}
ooze_result exclusive_sum(gpu *, uint32_t *v, uint32_t n, chain, ooze_message *) {
  for (uint32_t i = 0, sum = 0; i < n; i++) {
    const uint32_t here = v[i];
    v[i] = sum, sum += here;
  }
  return OOZE_OK;
}
#else
namespace {

/* Prefix sums of up to SCAN_MAX numbers in one kernel; v is aligned to 16 bytes. */
enum { SCAN_BLOCK = 512, SCAN_ITEMS = 8, SCAN_MAX = SCAN_BLOCK * SCAN_ITEMS * MAX_SCAN_BLOCKS };
template <bool INCLUSIVE>
__global__ void __launch_bounds__(SCAN_BLOCK)
    scan_kernel(uint32_t *v, uint32_t n, const scan_state sums, const chain in) {
  constexpr uint32_t WARPS = SCAN_BLOCK / 32;
  __shared__ uint32_t part[WARPS];
  const uint32_t first = (blockIdx.x * (uint32_t)SCAN_BLOCK + threadIdx.x) * SCAN_ITEMS,
                 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t x[SCAN_ITEMS], own = 0, all = 0;
  if (in != ALONE) launch_dependency_trigger_and_wait();
  if (first + SCAN_ITEMS <= n)
    for (int k = 0; k < SCAN_ITEMS; k += 4) {
      const uint4 four = *reinterpret_cast<const uint4 *>(v + first + k);
      x[k] = four.x, x[k + 1] = four.y, x[k + 2] = four.z, x[k + 3] = four.w;
    }
  else
    for (int k = 0; k < SCAN_ITEMS; k++) x[k] = first + k < n ? v[first + k] : 0u;
  for (int k = 0; k < SCAN_ITEMS; k++) own += x[k];
  uint32_t sum = own;
  for (uint32_t d = 1; d < 32; d *= 2) {
    const uint32_t low = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += low;
  }
  if (lane == 31) part[warp] = sum;
  __syncthreads();
  sum -= own;
  for (uint32_t w = 0; w < WARPS; w++) {
    if (w < warp) sum += part[w];
    all += part[w];
  }
  sum += block_prefix<SCAN_BLOCK>(sums, all);
  for (int k = 0; k < SCAN_ITEMS; k++) {
    const uint32_t here = x[k];
    x[k] = INCLUSIVE ? sum + here : sum;
    sum += here;
  }
  if (first + SCAN_ITEMS <= n)
    for (int k = 0; k < SCAN_ITEMS; k += 4)
      *reinterpret_cast<uint4 *>(v + first + k) = make_uint4(x[k], x[k + 1], x[k + 2], x[k + 3]);
  else
    for (int k = 0; k < SCAN_ITEMS; k++)
      if (first + k < n) v[first + k] = x[k];
}
template <bool INCLUSIVE>
ooze_result prefix_sum(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  if (n == 0) return OOZE_OK;
  if (n <= SCAN_MAX && reinterpret_cast<uintptr_t>(v) % 16 == 0) {
    scan_state sums;
    const uint32_t blocks = (n + SCAN_BLOCK * SCAN_ITEMS - 1u) / (SCAN_BLOCK * SCAN_ITEMS);
    OZ_TRY(next_scan(g, &sums, why));
    if (in == CHAINED)
      OZ_CUDA(
          start<scan_kernel<INCLUSIVE>>(blocks, (uint32_t)SCAN_BLOCK, 0, g->stream, v, n, sums, in),
          "adding up");
    else
      scan_kernel<INCLUSIVE><<<blocks, SCAN_BLOCK, 0, g->stream>>>(v, n, sums, in);
    OZ_CUDA(cudaGetLastError(), "adding up");
    return OOZE_OK;
  }
  const auto scan = [&](void *room, size_t &bytes) {
    return INCLUSIVE ? cub::DeviceScan::InclusiveSum(room, bytes, v, v, (int)n, g->stream)
                     : cub::DeviceScan::ExclusiveSum(room, bytes, v, v, (int)n, g->stream);
  };
  size_t bytes = 0; /* CUB reports the scratch size first */
  OZ_CUDA(scan(nullptr, bytes), "adding up");
  OZ_TRY(grow(g, &g->sorter.temp, bytes, "adding up", why, true));
  bytes = g->sorter.temp.bytes;
  OZ_CUDA(scan(g->sorter.temp.at, bytes), "adding up");
  return OOZE_OK;
}

} // namespace

ooze_result inclusive_sum(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  return prefix_sum<true>(g, v, n, in, why);
}
ooze_result exclusive_sum(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  return prefix_sum<false>(g, v, n, in, why);
}
#endif

} // namespace OZ_NAMESPACE
