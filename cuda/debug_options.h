/* Optimisations that can be switched off one by one, for tests and for finding a fault:
 *
 *   OOZE_CUDA_DEBUG_DISABLE=graphs,cell_table ooze run ...
 *
 * Every combination gives a valid simulation. README.md lists the names.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_DEBUG_OPTIONS_H
#define OZ_CUDA_DEBUG_OPTIONS_H

#include "cuda/shim.h"

namespace OZ_NAMESPACE {

enum debug_disable : uint32_t {
#define OZ_DISABLE(name, bit, effect) DISABLE_##name = 1u << bit,
#include "cuda/debug_options.def"
#undef OZ_DISABLE
};

/* Of OOZE_CUDA_DEBUG_DISABLE. On failure `why` has the name that is unknown and those that are
 * known. */
ooze_result read_debug_disable(uint32_t *mask, ooze_message *why);

} // namespace OZ_NAMESPACE
#endif
