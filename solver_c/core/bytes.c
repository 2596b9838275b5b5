/* SPDX-License-Identifier: Apache-2.0 */
#include "core/bytes.h"

#include <string.h>

void oz_bytes_take(oz_bytes *b, void *out, size_t bytes) {
  if (b->bad || bytes > b->left) {
    b->bad = 1;
    memset(out, 0, bytes);
    return;
  }
  memcpy(out, b->at, bytes);
  b->at += bytes;
  b->left -= bytes;
}

unsigned char *oz_bytes_put(unsigned char *at, const void *in, size_t bytes) {
  memcpy(at, in, bytes);
  return at + bytes;
}
