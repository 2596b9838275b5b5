/* The permutation of the particles' state. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_PERMUTE_H
#define OZ_CUDA_PERMUTE_H

#include "cuda/gpu.h"

#include "physics/lanes.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

/* State of one particle. All of it is loaded before any is stored: a thread waits once, and not
 * once a field. */
template <class T>
using plain = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
struct particle_state {
#define HOLD_RECORD(member, words) float member[4];
#define HOLD_PLANES(member, words) plain<decltype(*oz_frame::member)> member[words];
#define HOLD_WIDE(member, words) uint64_t member[1];
#define OZ_FIELD(name, member, words, layout) HOLD_##layout(member, words)
#define OZ_OPTIONAL(name, member, words, layout, fallback) HOLD_##layout(member, words)
#define OZ_RESULT(name, member, words, layout)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
};
#define TAKE_RECORD(member, words) oz_ld4(from.member, i, 4, 0, s->member);
#define TAKE_PLANES(member, words) \
  for (int c = 0; c < words; c++) s->member[c] = from.member[(size_t)c * from.stride + i];
#define TAKE_WIDE(member, words) s->member[0] = from.member[i];
#define PUT_RECORD(member, words) oz_st4(to.member, k, 4, 0, s->member);
#define PUT_PLANES(member, words) \
  for (int c = 0; c < words; c++) to.member[(size_t)c * to.stride + k] = s->member[c];
#define PUT_WIDE(member, words) to.member[k] = s->member[0];

struct permute_item : pending_permutation {
  OZ_D void operator()(uint32_t k) const {
    particle_state s;
    take(order[k], &s);
    put(k, &s);
  }
  OZ_D void take(uint32_t i, particle_state *s) const {
#define OZ_FIELD(name, member, words, layout) TAKE_##layout(member, words)
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  if (from.member) TAKE_##layout(member, words)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
  }
  OZ_D void put(uint32_t k, const particle_state *s) const {
    if (backup) { /* for roll_back: a substep changes these before it has all its memory */
      const oz_real v[4] = {s->u[0], s->u[1], s->u[2],
                            oz_float_of(from.source ? s->source[0] : 0u)};
      oz_st4(backup, k, 4, 0, v);
    }
#define OZ_FIELD(name, member, words, layout) PUT_##layout(member, words)
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  if (from.member) PUT_##layout(member, words)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
  }
};

} // namespace
} // namespace OZ_NAMESPACE
#endif
