/* SPDX-License-Identifier: Apache-2.0 */
#include "base/result.h"

#include <stdarg.h>
#include <stdio.h>

ooze_result oz_fail(ooze_message *why, ooze_result r, const char *format, ...) {
  if (why) {
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    /* Names may come from files: a message stays one printable line for any name. */
    for (char *c = why->text; *c; c++)
      if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  }
  return r;
}

const char *ooze_result_name(ooze_result r) {
  switch (r) {
  case OOZE_OK:
    return "ok";
  case OOZE_CANCELLED:
    return "cancelled";
  case OOZE_CONTAINED:
    return "contained";
  case OOZE_ERROR_ARGUMENT:
    return "argument";
  case OOZE_ERROR_MEMORY:
    return "memory";
  case OOZE_ERROR_NOT_FOUND:
    return "not found";
  case OOZE_ERROR_UNSUPPORTED:
    return "unsupported";
  case OOZE_ERROR_FORMAT:
    return "format";
  case OOZE_ERROR_IO:
    return "io";
  case OOZE_ERROR_LIMIT:
    return "limit";
  case OOZE_ERROR_DEVICE:
    return "device";
  case OOZE_LOST_DIVERGED:
    return "diverged";
  case OOZE_LOST_DEVICE:
    return "device lost";
  case OOZE_LOST_ABANDONED:
    return "abandoned";
  default:
    return "unknown";
  }
}
