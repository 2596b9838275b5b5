/* Failures are described once, where the facts are, and passed up. */
#ifndef OZ_BASE_RESULT_H
#define OZ_BASE_RESULT_H

#include "ooze/ooze.h"

/* Writes the sentence (printf style) and returns `r`. why may be NULL. */
ooze_result oz_fail(ooze_message *why, ooze_result r, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#define OZ_TRY(call)                 \
  do {                               \
    ooze_result oz_try_ = (call);    \
    if (oz_try_ < 0) return oz_try_; \
  } while (0)

#endif
