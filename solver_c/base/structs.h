/* Structs that begin with their size: those of an older client are shorter than ours, those of a
 * newer client longer. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_STRUCTS_H
#define OZ_BASE_STRUCTS_H

#include "base/result.h"

/* `into` holds the defaults and is `known` bytes long; the client's part is copied over them. */
ooze_result oz_struct_read(void *into, const void *from, size_t known, const char *what,
                           ooze_message *why);
/* Writes as much of `from` as the client's struct has room for; its size member stays unchanged. */
ooze_result oz_struct_write(void *out, const void *from, size_t known, const char *what,
                            ooze_message *why);
/* Declares `in`: the defaults of its type, then the client's `from` over them; returns on failure.
 */
#define OZ_STRUCT_TAKE(type, in, from, what, why) \
  type in;                                        \
  type##_default(&in);                            \
  OZ_TRY(oz_struct_read(&in, from, sizeof in, what, why))

#endif
