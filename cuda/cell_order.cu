/* Particles in the order of their cells: keys, and a radix sort of them. SPDX-License-Identifier:
 * Apache-2.0 */
#include "cuda/cells.h"

#if defined(OZ_CUDA_HOST)
#include <algorithm>
#include <cmath>
#include <vector>
#else
#include <cub/device/device_radix_sort.cuh>
#endif

namespace OZ_NAMESPACE {
namespace {

#if defined(OZ_CUDA_HOST)
template <class K> void host_sort(K *key, uint32_t *order, uint32_t n) {
  std::vector<uint32_t> at(n), o(order, order + n);
  std::vector<K> k(key, key + n);
  for (uint32_t i = 0; i < n; i++) at[i] = i;
  std::stable_sort(at.begin(), at.end(), [&](uint32_t a, uint32_t b) { return k[a] < k[b]; });
  for (uint32_t i = 0; i < n; i++) key[i] = k[at[i]], order[i] = o[at[i]];
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t, int *now, ooze_message *) {
  if (wide)
    host_sort(static_cast<uint64_t *>(g->sorter.key[0].at),
              static_cast<uint32_t *>(g->sorter.order[0].at), n);
  else
    host_sort(static_cast<uint32_t *>(g->sorter.key[0].at),
              static_cast<uint32_t *>(g->sorter.order[0].at), n);
  *now = 0;
  return OOZE_OK;
}
#else
template <class K>
ooze_result sort_as(gpu *g, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  cub::DoubleBuffer<K> key(static_cast<K *>(g->sorter.key[0].at),
                           static_cast<K *>(g->sorter.key[1].at));
  cub::DoubleBuffer<uint32_t> order(static_cast<uint32_t *>(g->sorter.order[0].at),
                                    static_cast<uint32_t *>(g->sorter.order[1].at));
  size_t bytes = 0;
  OZ_CUDA(
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, order, (int)n, 0, (int)bits, g->stream),
      "sorting");
  OZ_TRY(grow(g, &g->sorter.temp, bytes, "sorting", why, true));
  bytes = g->sorter.temp.bytes;
  OZ_CUDA(cub::DeviceRadixSort::SortPairs(g->sorter.temp.at, bytes, key, order, (int)n, 0,
                                          (int)bits, g->stream),
          "sorting");
  *now = key.selector;
  if (order.selector != key.selector)
    return oz_fail(why, OOZE_ERROR_DEVICE, "cuda: sorted keys and values are not together");
  return OOZE_OK;
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  return wide ? sort_as<uint64_t>(g, n, bits, now, why) : sort_as<uint32_t>(g, n, bits, now, why);
}
#endif

} // namespace

ooze_result order_by_cell(gpu *g, const key_item &key, uint32_t n, ooze_message *why) {
  const uint32_t last[3] = {(uint32_t)key.last[0], (uint32_t)key.last[1], (uint32_t)key.last[2]},
                 bits = bits_for(last);
  key_item k = key;
  g->sorter.grid.bits = bits;
  g->sorter.wide_keys = 3 * bits > 32;
  k.order = as<uint32_t>(g->sorter.order[0]);
  if (g->sorter.wide_keys)
    k.key64 = as<uint64_t>(g->sorter.key[0]);
  else
    k.key32 = as<uint32_t>(g->sorter.key[0]);
  OZ_CUDA(for_each(g->stream, g->count, k), "cell keys");
  return sort_pairs(g, g->sorter.wide_keys, n, 3 * bits, &g->sorter.current, why);
}

} // namespace OZ_NAMESPACE
