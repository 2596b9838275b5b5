/* Blosc's container with LZ4 inside, as Houdini's .bgeo.sc and OpenVDB's files hold it, written
 * without Blosc: it allocates nothing, so that it cannot fail for want of memory (Blosc 1.21 does
 * not check its own allocations and crashes), and its bytes do not change with a library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A chunk: version 2, version of LZ4's format 1, flags, size of an element; u32 bytes, u32 bytes of
 * a block, u32 bytes of the chunk; u32 where each block begins. A block is shuffled, so that first
 * come the first bytes of all elements, then the second ones. A block with enough elements is cut
 * into as many streams as an element has bytes, else it is one stream: u32 length, LZ4 or, if that
 * is not shorter, the bytes themselves. */
#include "geo_internal.h"

enum {
  HEADER = 16,
  BLOCK = 1 << 16,
  FLAG_SHUFFLED = 1,
  FLAG_STORED = 2,
  FLAG_LZ4 = 1 << 5,
  MOST_STREAMS = 16,
  LEAST_ELEMENTS = 128 /* of a block that is cut into streams */
};

/* ---- LZ4 (the block format, https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md) ---- */

enum {
  HASH_BITS = 12,
  LEAST_MATCH = 4,
  LAST_LITERALS = 5, /* the format's own: the last five bytes are literals, */
  LAST_MATCH = 12,   /* and no match begins in the last twelve */
  FAR = 65535
};

static uint32_t read32(const uint8_t *at) {
  uint32_t word;
  memcpy(&word, at, 4);
  return word;
}

static uint32_t hash_of(uint32_t word) { return word * 2654435761u >> (32 - HASH_BITS); }

/* The 255s of a length whose first 15 are in the token; NULL if there is no room. */
static uint8_t *put_length(uint8_t *to, const uint8_t *stop, size_t rest) {
  for (; rest >= 255; rest -= 255) {
    if (to >= stop) return NULL;
    *to++ = 255;
  }
  if (to >= stop) return NULL;
  *to++ = (uint8_t)rest;
  return to;
}

/* Literals and, if length is not 0, a match of that length `back` bytes before. */
static uint8_t *put_sequence(uint8_t *to, const uint8_t *stop, const uint8_t *literals,
                             size_t count, size_t back, size_t length) {
  const size_t more = length ? length - LEAST_MATCH : 0;
  if (to >= stop) return NULL;
  *to++ = (uint8_t)((count < 15 ? count : 15) << 4 | (more < 15 ? more : 15));
  if (count >= 15 && !(to = put_length(to, stop, count - 15))) return NULL;
  if ((size_t)(stop - to) < count + 2) return NULL;
  memcpy(to, literals, count);
  to += count;
  if (!length) return to;
  *to++ = (uint8_t)back;
  *to++ = (uint8_t)(back >> 8);
  return more >= 15 ? put_length(to, stop, more - 15) : to;
}

/* At most 64 KiB; 0 if it takes `room` bytes or more. `speed` 1 looks at every byte, more at fewer
 * of those that do not repeat. */
static size_t lz4(const uint8_t *from, size_t bytes, uint8_t *to, size_t room, uint32_t speed) {
  uint16_t seen[1 << HASH_BITS];
  const uint8_t *at = from, *literals = from, *const end = from + bytes,
                *const last = bytes > LAST_MATCH ? end - LAST_MATCH : from;
  uint8_t *const begin = to, *const stop = to + room;
  uint32_t misses = speed << 6;
  memset(seen, 0, sizeof seen);
  for (at += at < last; at < last;) {
    const uint32_t word = read32(at), h = hash_of(word);
    const uint8_t *match = from + seen[h];
    seen[h] = (uint16_t)(at - from);
    if (match >= at || read32(match) != word) {
      at += misses++ >> 6;
      continue;
    }
    while (at > literals && match > from && at[-1] == match[-1]) at--, match--;
    size_t length = LEAST_MATCH;
    while (at + length < end - LAST_LITERALS && at[length] == match[length]) length++;
    to = put_sequence(to, stop, literals, (size_t)(at - literals), (size_t)(at - match), length);
    if (!to) return 0;
    at += length;
    literals = at;
    misses = speed << 6;
    if (at < last) seen[hash_of(read32(at - 2))] = (uint16_t)(at - 2 - from);
  }
  to = put_sequence(to, stop, literals, (size_t)(end - literals), 0, 0);
  return to && to < stop ? (size_t)(to - begin) : 0;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static void put32(uint8_t *to, uint32_t value) { memcpy(to, &value, 4); }

static void shuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to) {
  const size_t count = bytes / element;
  for (size_t k = 0; k < element; k++, to += count)
    for (size_t i = 0; i < count; i++) to[i] = from[i * element + k];
  memcpy(to, from + count * element, bytes - count * element);
}

static uint8_t *put_stream(uint8_t *to, const uint8_t *stop, const uint8_t *from, size_t bytes,
                           uint32_t speed) {
  if ((size_t)(stop - to) < 4 + bytes) return NULL;
  size_t packed = lz4(from, bytes, to + 4, bytes, speed);
  if (!packed) memcpy(to + 4, from, packed = bytes);
  put32(to, (uint32_t)packed);
  return to + 4 + packed;
}

size_t oz_blosc_pack(const void *bytes, size_t count, size_t element, uint32_t level, void *out) {
  const uint8_t *from = bytes;
  uint8_t *begin = out, shuffled[BLOCK];
  const size_t block = count < BLOCK ? count - count % (count < element ? 1 : element)
                                     : BLOCK - BLOCK % element,
               size = block ? block : count, blocks = count ? (count - 1) / size + 1 : 0;
  const uint8_t *stop = begin + HEADER + count; /* longer than the bytes themselves is of no use */
  uint8_t *to = begin + HEADER + 4 * blocks;
  if (level == 0 || !count || 4 * blocks > count) to = NULL;
  for (size_t k = 0; k < blocks && to; k++) {
    const size_t at = k * size, part = count - at < size ? count - at : size;
    const int cut = element <= MOST_STREAMS && size / element >= LEAST_ELEMENTS && part == size;
    const size_t streams = cut ? element : 1;
    put32(begin + HEADER + 4 * k, (uint32_t)(to - begin));
    const uint8_t *plain = from + at;
    if (element > 1) {
      shuffle(plain, part, element, shuffled);
      plain = shuffled;
    }
    for (size_t s = 0; s < streams && to; s++)
      to = put_stream(to, stop, plain + s * (part / streams), part / streams,
                      level > 9 ? 1 : 10 - level);
  }
  begin[0] = 2;
  begin[1] = 1;
  begin[2] = (uint8_t)(FLAG_LZ4 | (element > 1 ? FLAG_SHUFFLED : 0) | (to ? 0 : FLAG_STORED));
  begin[3] = (uint8_t)element;
  if (!to) {
    memcpy(begin + HEADER, from, count);
    to = begin + HEADER + count;
  }
  put32(begin + 4, (uint32_t)count);
  put32(begin + 8, (uint32_t)size);
  put32(begin + 12, (uint32_t)(to - begin));
  return (size_t)(to - begin);
}
