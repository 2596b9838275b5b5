/* The names in OOZE_CUDA_DEBUG_DISABLE. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/debug_options.h"

#include <stdlib.h>
#include <string.h>

namespace OZ_NAMESPACE {
namespace {
const struct {
  const char *name;
  uint32_t bit;
} debug_names[] = {
#define OZ_DISABLE(name, bit, effect) {#name, 1u << bit},
#include "cuda/debug_options.def"
#undef OZ_DISABLE
};
bool same_name(const char *text, size_t length, const char *name) {
  for (size_t k = 0; k < length; k++)
    if (!name[k] || (text[k] | 32) != (name[k] | 32)) return false;
  return !name[length];
}
} // namespace

ooze_result read_debug_disable(uint32_t *mask, ooze_message *why) {
  const char *text = getenv("OOZE_CUDA_DEBUG_DISABLE");
  *mask = 0;
  while (text && *text) {
    const size_t length = strcspn(text, ",");
    uint32_t bit = 0;
    for (const auto &known : debug_names)
      if (same_name(text, length, known.name)) bit = known.bit;
    if (!bit && length)
      return oz_fail(
          why, OOZE_ERROR_ARGUMENT,
          "OOZE_CUDA_DEBUG_DISABLE: '%.*s' is no optimisation (docs/dev/cuda.md lists them)",
          (int)length, text);
    *mask |= bit;
    text += length + (text[length] == ',');
  }
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
