/* The permutation that a sort ahead of its substep leaves to later. SPDX-License-Identifier:
 * Apache-2.0 */
#include "cuda/permute.h"

namespace OZ_NAMESPACE {

ooze_result apply_pending_permutation(gpu *g, ooze_message *why) {
  if (!g->sorter.permutation_pending) return OOZE_OK;
  g->sorter.permutation_pending = false;
  permute_item item;
  static_cast<pending_permutation &>(item) = g->sorter.permutation;
  /* no dependent kernel reads before its wait */
  OZ_CUDA(for_each(g->stream, g->count, item, CHAINED), "sorting");
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
