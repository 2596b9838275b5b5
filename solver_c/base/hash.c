/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
uint64_t oz_hash_mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

void oz_hash_begin(oz_hash *h) {
  h->state = 0x6f6f7a65u; /* "ooze" */
  h->words = 0;
}

/* One word: multiply, then turn, so that high bits come back to the bottom and order matters. */
static uint64_t step(uint64_t state, uint32_t word) {
  uint64_t x = (state ^ word) * 0x9e3779b97f4a7c15u;
  return (x << 29) | (x >> 35);
}

void oz_hash_add(oz_hash *h, const void *data, size_t bytes) {
  const unsigned char *at = data;
  uint64_t state = h->state;
  size_t words = bytes / 4;
  for (size_t i = 0; i < words; ++i, at += 4) {
    uint32_t word;
    memcpy(&word, at, 4);
    state = step(state, word);
  }
  if (bytes % 4) {
    uint32_t word = 0;
    memcpy(&word, at, bytes % 4);
    state = step(state, word);
    words++;
  }
  h->state = state;
  h->words += words;
}

uint64_t oz_hash_end(const oz_hash *h) { return oz_hash_mix(h->state ^ oz_hash_mix(h->words + 1)); }

uint64_t oz_hash_of(const void *data, size_t bytes) {
  oz_hash h;
  oz_hash_begin(&h);
  oz_hash_add(&h, data, bytes);
  return oz_hash_end(&h);
}
