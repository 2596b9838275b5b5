/* The bytes of a checkpoint: host order, read with a limit. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_BYTES_H
#define OZ_CORE_BYTES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
