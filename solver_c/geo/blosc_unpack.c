/* Blosc's container with LZ4 inside (blosc_pack.c has the format), read without Blosc, whose
 * decompression does not check its own allocations and crashes where memory is out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdlib.h>

enum {
  HEADER = 16,
  FLAG_SHUFFLED = 1,
  FLAG_STORED = 2,
  FLAG_BITS = 4, /* shuffled by bits */
  FLAG_WHOLE = 16,
  CODEC = 5, /* the flags' upper bits; 1 is LZ4 */
  MOST_STREAMS = 16,
  LEAST_ELEMENTS = 128
};

static uint32_t word_at(const uint8_t *at) {
  uint32_t word;
  memcpy(&word, at, 4);
  return word;
}

/* ---- LZ4 ---------------------------------------------------------------------------------- */

/* A length whose first 15 are in the token; 0 if the bytes end within it. */
static int take_length(const uint8_t **at, const uint8_t *end, size_t *length) {
  uint8_t more = 255;
  if (*length < 15) return 1;
  while (more == 255) {
    if (*at >= end) return 0;
    more = *(*at)++;
    *length += more;
  }
  return 1;
}

/* 1 if the stream gives exactly `size` bytes. */
static int unpack_lz4(const uint8_t *at, size_t bytes, uint8_t *out, size_t size) {
  const uint8_t *const end = at + bytes;
  size_t done = 0;
  while (at < end) {
    const uint8_t token = *at++;
    size_t literals = token >> 4, match = token & 15;
    if (!take_length(&at, end, &literals)) return 0;
    if (literals > (size_t)(end - at) || literals > size - done) return 0;
    memcpy(out + done, at, literals);
    at += literals, done += literals;
    if (at == end) break; /* the last sequence has no match */
    if (end - at < 2) return 0;
    const size_t back = (size_t)at[0] | (size_t)at[1] << 8;
    at += 2;
    if (!take_length(&at, end, &match)) return 0;
    match += 4;
    if (back == 0 || back > done || match > size - done) return 0;
    for (size_t k = 0; k < match; k++) out[done + k] = out[done + k - back]; /* may overlap */
    done += match;
  }
  return done == size;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static void unshuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to) {
  const size_t count = bytes / element;
  for (size_t k = 0; k < element; k++, from += count)
    for (size_t i = 0; i < count; i++) to[i * element + k] = from[i];
  memcpy(to + count * element, from, bytes - count * element);
}

/* A block as it lies in the chunk, shuffled or not, from `at`. */
static int unpack_streams(const uint8_t *chunk, size_t count, size_t at, size_t streams,
                          uint8_t *out, size_t size) {
  const size_t part = size / streams;
  for (size_t s = 0; s < streams; s++) {
    if (at > count || count - at < 4) return 0;
    const size_t packed = word_at(chunk + at);
    at += 4;
    if (packed > count - at) return 0;
    if (packed == part)
      memcpy(out + s * part, chunk + at, part);
    else if (!unpack_lz4(chunk + at, packed, out + s * part, part))
      return 0;
    at += packed;
  }
  return 1;
}

ooze_result oz_blosc_unpack(const void *bytes, size_t count, void *out, size_t size) {
  const uint8_t *chunk = bytes;
  if (count < HEADER || word_at(chunk + 4) != size || word_at(chunk + 12) != count)
    return OOZE_ERROR_FORMAT;
  const uint8_t flags = chunk[2];
  const size_t element = chunk[3], block = word_at(chunk + 8);
  if (flags & FLAG_STORED) {
    if (count - HEADER != size) return OOZE_ERROR_FORMAT;
    memcpy(out, chunk + HEADER, size);
    return OOZE_OK;
  }
  const int shuffled = (flags & FLAG_SHUFFLED) && element > 1;
  if (flags >> CODEC != 1 || flags & FLAG_BITS) return OOZE_ERROR_UNSUPPORTED;
  if (element == 0 || block == 0 || block > size || (size - 1) / block >= (count - HEADER) / 4)
    return OOZE_ERROR_FORMAT;

  uint8_t *plain = shuffled ? malloc(block) : NULL;
  if (shuffled && !plain) return OOZE_ERROR_MEMORY;
  int whole = 1;
  for (size_t k = 0, at = 0; at < size && whole; k++, at += block) {
    const size_t part = size - at < block ? size - at : block;
    const int cut = !(flags & FLAG_WHOLE) && element <= MOST_STREAMS &&
                    block / element >= LEAST_ELEMENTS && part == block;
    uint8_t *to = (uint8_t *)out + at;
    whole = unpack_streams(chunk, count, word_at(chunk + HEADER + 4 * k), cut ? element : 1,
                           shuffled ? plain : to, part);
    if (whole && shuffled) unshuffle(plain, part, element, to);
  }
  free(plain);
  return whole ? OOZE_OK : OOZE_ERROR_FORMAT;
}
