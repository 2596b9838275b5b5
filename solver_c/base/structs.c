/* SPDX-License-Identifier: Apache-2.0 */
#include "base/structs.h"

/* The size a client's struct claims, or 0 if it cannot be one. */
static uint32_t claimed(const void *object) {
  uint32_t size = 0;
  if (object) memcpy(&size, object, sizeof size);
  return size >= sizeof size && size % 4 == 0 ? size : 0;
}

static ooze_result refuse(const void *object, const char *what, ooze_message *why) {
  uint32_t size = 0;
  if (!object) return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: no struct was given (NULL)", what);
  memcpy(&size, object, sizeof size);
  return oz_fail(why, OOZE_ERROR_ARGUMENT,
                 "%s: its size is %u; fill it with its _default() function first", what,
                 (unsigned)size);
}

ooze_result oz_struct_read(void *into, const void *from, size_t known, const char *what,
                           ooze_message *why) {
  uint32_t size = claimed(from);
  if (!size) return refuse(from, what, why);
  memcpy(into, from, size < known ? size : known);
  uint32_t own = (uint32_t)known;
  memcpy(into, &own, sizeof own);
  return OOZE_OK;
}

ooze_result oz_struct_write(void *out, const void *from, size_t known, const char *what,
                            ooze_message *why) {
  uint32_t size = claimed(out);
  if (!size) return refuse(out, what, why);
  size_t bytes = size < known ? size : known;
  memcpy((unsigned char *)out + sizeof size, (const unsigned char *)from + sizeof size,
         bytes - sizeof size);
  return OOZE_OK;
}
