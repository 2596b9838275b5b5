/* A small 64-bit hash of words, our own, so that a state hash needs no library and never changes
 * with one. Not for secrets: it finds accidents. The value depends on the words alone, not on how
 * they were split over calls. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_HASH_H
#define OZ_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct oz_hash {
  uint64_t state;
  uint64_t words;
} oz_hash;

void oz_hash_begin(oz_hash *h);
void oz_hash_add(oz_hash *h, const void *data,
                 size_t bytes); /* a multiple of 4; up to 3 bytes behind count as one word */
uint64_t oz_hash_end(const oz_hash *h);
uint64_t oz_hash_of(const void *data, size_t bytes);
uint64_t oz_hash_mix(uint64_t x); /* one number mixed: every input bit reaches every output bit */

#endif
