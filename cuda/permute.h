/* A particle's state on its way to where the sort puts it. */
#ifndef OZ_CUDA_PERMUTE_H
#define OZ_CUDA_PERMUTE_H

#include "cuda/gpu.h"

#include "physics/lanes.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

/* The state of one particle on its way. All of it is read before any is written: a thread waits
 * once, not once a field. */
template <class T>
using plain = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
struct luggage {
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

struct permute_item : permuting {
  OZ_D void operator()(uint32_t k) const {
    luggage s;
    take(order[k], &s);
    put(k, &s);
  }
  OZ_D void take(uint32_t i, luggage *s) const {
#define OZ_FIELD(name, member, words, layout) TAKE_##layout(member, words)
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  if (from.member) TAKE_##layout(member, words)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
  }
  OZ_D void put(uint32_t k, const luggage *s) const {
    if (backup) { /* a substep changes these in place before it has all its memory */
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
