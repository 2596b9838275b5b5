/* Failures are described once, where the facts are, and passed up.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_RESULT_H
#define OZ_BASE_RESULT_H

#include "ooze/ooze.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks argument `f` as a printf format for the arguments from `a` on. */
#if defined(__MINGW32__)
#define OZ_PRINTF(f, a) __attribute__((format(gnu_printf, f, a)))
#elif defined(__GNUC__)
#define OZ_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define OZ_PRINTF(f, a)
#endif

/* Writes the sentence (printf style) as one printable line and returns `r`. why may be NULL. */
ooze_result oz_fail(ooze_message *why, ooze_result r, const char *format, ...) OZ_PRINTF(3, 4);

#define OZ_TRY(call)                 \
  do {                               \
    ooze_result oz_try_ = (call);    \
    if (oz_try_ < 0) return oz_try_; \
  } while (0)
/* The same, which also returns on results above 0 such as OOZE_CANCELLED. */
#define OZ_TRY_OK(call)                     \
  do {                                      \
    ooze_result oz_try_ = (call);           \
    if (oz_try_ != OOZE_OK) return oz_try_; \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif
