/* Rows of the start list in bank order (row_order.h), where several threads have searched for a
 * particle's neighbours. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/row_order.h"

namespace OZ_NAMESPACE {
namespace {

struct row_orderer {
  uint16_t *entries;
  const uint32_t *group;
  const uint16_t *len;
  uint32_t n, step; /* threads a particle: that many entries of a row are read at once */

  template <int P> OZ_D void row(row_column<P> on, uint32_t i) const {
    const uint32_t many = len[i];
    if (many < 2 || many > MAX_ORDERED) return;
    uint16_t *at = entries + (size_t)group[i / GROUP] * GROUP + i % GROUP * 4;
    bank_order s = {many, step * i, 0, 0};
    for (uint32_t k = 0; k < many; k += 16) {
      uint2 w[4];
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 4; m++)
        w[m] = *reinterpret_cast<const uint2 *>(
            at + (size_t)((k + 4 * m < many ? k + 4 * m : k) >> 2) * (4 * GROUP));
#if defined(__CUDACC__)
#pragma unroll
#endif
      for (uint32_t m = 0; m < 16; m++) {
        if (k + m >= many) continue;
        const uint32_t two = m & 2u ? w[m / 4].y : w[m / 4].x,
                       e = m & 1u ? two >> 16 : two & 0xffffu;
        s.put(on, e);
      }
    }
    if (!s.complete()) return; /* the row stays as it is */
    s.settle(on);
    for (uint32_t k = 0; k < many; k += 4) {
      uint16_t *to = at + (size_t)(k >> 2) * (4 * GROUP);
      if (k + 4 <= many)
        *reinterpret_cast<uint2 *>(to) = on.four(k);
      else /* padding stays at the end */
        for (uint32_t m = 0; k + m < many; m++) to[m] = (uint16_t)on.get(k + m);
    }
  }
};

#if !defined(OZ_CUDA_HOST)
__global__ void __launch_bounds__(BLOCK) order_rows_kernel(const __grid_constant__ row_orderer s) {
  __shared__ row_buffer<BLOCK> d;
  const uint32_t i = blockIdx.x * (uint32_t)BLOCK + threadIdx.x;
  launch_dependency_wait(); /* on the list stream it is a dependent launch */
  if (i < s.n) s.row<BLOCK>({&d, threadIdx.x}, i);
}
#endif

} // namespace

cudaError_t order_rows(const gpu *g, const uint32_t *group, const uint16_t *len, uint16_t *entries,
                       bool dependent) {
  const row_orderer s = {entries, group, len, g->count, (uint32_t)lanes_for(g)};
#if defined(OZ_CUDA_HOST)
  (void)dependent;
  static row_buffer<1> d;
  for (uint32_t i = 0; i < s.n; i++) s.row<1>({&d, 0}, i);
#else
  if (dependent)
    return start_kernel(order_rows_kernel, (s.n + BLOCK - 1u) / BLOCK, (uint32_t)BLOCK, 0,
                        g->stream, s);
  order_rows_kernel<<<(s.n + BLOCK - 1) / BLOCK, BLOCK, 0, g->stream>>>(s);
#endif
  return cudaGetLastError();
}

} // namespace OZ_NAMESPACE
