/* The bytes of a checkpoint: host order, read with a limit. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_BYTES_H
#define OZ_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"

typedef struct oz_bytes {
  const unsigned char *at;
  size_t left;
  int bad; /* asked for more than there was */
} oz_bytes;
void oz_bytes_take(oz_bytes *b, void *out, size_t bytes); /* zeros once bad */
/* where the next goes */
unsigned char *oz_bytes_put(unsigned char *at, const void *in, size_t bytes);

/* In front of a list of things with handles. */
typedef struct oz_saved_head {
  uint32_t magic, version, count, next_handle;
} oz_saved_head;
/* Reads the head of a list of `things` and checks it: versions from `oldest` to `newest`, and at
 * most so many things. */
ooze_result oz_saved_head_take(oz_bytes *from, uint32_t magic, uint32_t oldest, uint32_t newest,
                               size_t most, const char *things, oz_saved_head *head,
                               ooze_message *why);
/* Handles in a list rise, and stay below the next one where that is told. `label` names the thing
 * in the message. */
ooze_result oz_saved_handle(uint32_t handle, const oz_saved_head *head, uint32_t *last,
                            const char *label, ooze_message *why);

#endif
