/* Chunks that were packed without Blosc, unpacked by Blosc, and the other way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo/geo_internal.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

#ifdef OOZE_HAVE_BLOSC
#include <blosc.h>

static uint32_t seed = 1;
static uint32_t number(void) { return seed = seed * 1664525u + 1013904223u; }

enum { MOST = 300000, KINDS = 5 };

/* noise, zeros, floats that vary slowly, words of few kinds, noise with long repeats */
static void fill(uint8_t *to, size_t bytes, int kind) {
  for (size_t i = 0; i < bytes; i++) to[i] = kind == 1 ? 0 : (uint8_t)(number() >> 24);
  for (size_t i = 0; kind == 2 && i + 4 <= bytes; i += 4) {
    const float v = 1.0f + 1e-4f * (float)i;
    memcpy(to + i, &v, 4);
  }
  for (size_t i = 0; kind == 3 && i < bytes; i++) to[i] = (uint8_t)(number() >> 30);
  for (size_t i = 1000; kind == 4 && i < bytes; i++) to[i] = to[i - 1000];
}

OZ_CASE(blosc_reads_back_the_bytes) {
  static const size_t sizes[] = {0,     1,     2,     3,     4,     5,      11,     12,     13,
                                 16,    100,   127,   128,   511,   512,    1000,   2048,   6144,
                                 16384, 65535, 65536, 65537, 65540, 131072, 200001, 262144, MOST};
  static const size_t elements[] = {1, 2, 3, 4, 6, 8, 12, 16, 17, 24, 64};
  uint8_t *from = malloc(MOST), *packed = malloc(MOST + OZ_BLOSC_MORE + 64), *back = malloc(MOST);
  size_t shorter = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
      for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t level = 0; level <= 9; level += 3) {
          const size_t n = sizes[i];
          size_t declared = 0;
          fill(from, n, kind);
          memset(packed + n + OZ_BLOSC_MORE, 0x5a, 64);
          const size_t used = oz_blosc_pack(from, n, elements[e], level, packed);
          CHECK(used <= n + OZ_BLOSC_MORE && packed[n + OZ_BLOSC_MORE] == 0x5a,
                "%zu bytes became %zu", n, used);
          shorter += used < n;
          if (!n) continue; /* Blosc itself has no empty chunks */
          CHECK(blosc_cbuffer_validate(packed, used, &declared) == 0 && declared == n,
                "%zu bytes, elements of %zu, kind %d, level %u", n, elements[e], kind, level);
          const int got = blosc_decompress_ctx(packed, back, n, 1);
          CHECK(got == (int)n && memcmp(from, back, n) == 0,
                "%zu bytes, elements of %zu, kind %d, level %u: %d came back", n, elements[e], kind,
                level, got);
          memset(back, 0, n);
          CHECK(oz_blosc_unpack(packed, used, back, n) == OOZE_OK && memcmp(from, back, n) == 0,
                "%zu bytes, elements of %zu, kind %d, level %u", n, elements[e], kind, level);
        }
  CHECK(shorter > 1000, "%zu of the chunks became shorter", shorter);
  free(from);
  free(packed);
  free(back);
}

/* As Houdini packs, and others: LZ4 and LZ4HC are read here, the rest is left to Blosc. */
OZ_CASE(chunks_of_blosc_are_read) {
  static const char *const codecs[] = {"lz4", "lz4hc", "blosclz", "zlib", "zstd"};
  static const size_t sizes[] = {1, 100, 4096, 65540, MOST}, elements[] = {1, 4, 12, 24};
  uint8_t *from = malloc(MOST), *packed = malloc(MOST + BLOSC_MAX_OVERHEAD), *back = malloc(MOST);
  size_t read = 0;
  for (size_t i = 0; i < 5 * 5 * 4 * 2 * KINDS; i++) {
    const size_t codec = i % 5, n = sizes[i / 5 % 5], element = elements[i / 25 % 4];
    const int shuffle = i / 100 % 2 ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE, kind = (int)(i / 200);
    fill(from, n, kind);
    const int used = blosc_compress_ctx(5, shuffle, element, n, from, packed,
                                        n + BLOSC_MAX_OVERHEAD, codecs[codec], 0, 1);
    if (used <= 0) continue; /* not compiled in */
    const ooze_result r = oz_blosc_unpack(packed, (size_t)used, back, n);
    const int stored = packed[2] & 2, ours = codec < 2 || stored;
    CHECK_EQ(r, ours ? OOZE_OK : OOZE_ERROR_UNSUPPORTED);
    CHECK(r < 0 || memcmp(from, back, n) == 0, "%s: %zu bytes", codecs[codec], n);
    read += r == OOZE_OK;
  }
  CHECK(read >= 400, "%zu", read);
  free(from);
  free(packed);
  free(back);
}

OZ_CASE(damaged_chunks_are_refused_or_read_within_their_bounds) {
  enum { N = 3000, TRIES = 20000 };
  uint8_t from[N], packed[N + OZ_BLOSC_MORE];
  size_t refused = 0;
  for (int i = 0; i < TRIES; i++) {
    fill(from, N, i % KINDS);
    size_t used = oz_blosc_pack(from, N, i % 2 ? 4 : 12, 9, packed);
    /* memory of its own size, so that a sanitizer sees a byte too many */
    const size_t cut = i % 7 ? used : number() % (used + 1);
    uint8_t *chunk = malloc(cut ? cut : 1), *back = malloc(N);
    memcpy(chunk, packed, cut);
    for (uint32_t k = 0; k < 1 + number() % 4 && cut; k++)
      chunk[(i % 3 ? number() : number() % 64) % cut] ^= (uint8_t)(1u << (number() >> 29));
    refused += oz_blosc_unpack(chunk, cut, back, N) < 0;
    free(chunk);
    free(back);
  }
  CHECK(refused > TRIES / 4, "%zu of %d", refused, TRIES);
}
#else
OZ_CASE(blosc_is_not_here) { puts("SKIPPED: no Blosc to compare with"); }
#endif
OZ_TEST_MAIN()
