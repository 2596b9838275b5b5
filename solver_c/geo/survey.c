/* Facts about large arrays that a writer needs before it begins, found on all cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <math.h>
#include <stdlib.h>

enum { RANGES = 256 };

typedef struct survey {
  const void *from;
  int32_t *narrow;
  uint64_t count;
  uint64_t bits[RANGES];
  float low[RANGES][3], high[RANGES][3];
} survey;

static void range_of(const survey *s, uint32_t range, uint64_t *first, uint64_t *end) {
  *first = s->count * range / RANGES;
  *end = s->count * (range + 1) / RANGES;
}

static void or_ranges(void *arg, uint32_t begin, uint32_t end) {
  survey *s = arg;
  const uint64_t *values = s->from;
  for (uint32_t r = begin; r < end; r++) {
    uint64_t first, last, all = 0;
    range_of(s, r, &first, &last);
    for (uint64_t i = first; i < last; i++) all |= values[i];
    s->bits[r] = all;
  }
}

static void narrow_ranges(void *arg, uint32_t begin, uint32_t end) {
  const survey *s = arg;
  const uint64_t *values = s->from;
  for (uint32_t r = begin; r < end; r++) {
    uint64_t first, last;
    range_of(s, r, &first, &last);
    for (uint64_t i = first; i < last; i++) s->narrow[i] = (int32_t)values[i];
  }
}

/* Finite: an exponent of all ones is an infinity or a nan. */
static void box_ranges(void *arg, uint32_t begin, uint32_t end) {
  survey *s = arg;
  const float *p = s->from;
  for (uint32_t r = begin; r < end; r++) {
    uint64_t first, last, bad = 0;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    range_of(s, r, &first, &last);
    for (uint64_t i = first; i < last; i++)
      for (int k = 0; k < 3; k++) {
        const float x = p[3 * i + (uint64_t)k];
        uint32_t word;
        memcpy(&word, &x, 4);
        bad |= (uint64_t)((word & 0x7f800000u) == 0x7f800000u);
        low[k] = x < low[k] ? x : low[k];
        high[k] = x > high[k] ? x : high[k];
      }
    memcpy(s->low[r], low, sizeof low);
    memcpy(s->high[r], high, sizeof high);
    s->bits[r] = bad;
  }
}

static uint64_t all_bits(const survey *s) {
  uint64_t all = 0;
  for (int r = 0; r < RANGES; r++) all |= s->bits[r];
  return all;
}

uint64_t oz_or_words(const uint64_t *values, uint64_t count, const oz_loop *loop) {
  survey s = {.from = values, .count = count};
  oz_loop_run(loop, RANGES, or_ranges, &s);
  return all_bits(&s);
}

void oz_narrow_words(const uint64_t *values, uint64_t count, int32_t *out, const oz_loop *loop) {
  survey s = {.from = values, .narrow = out, .count = count};
  oz_loop_run(loop, RANGES, narrow_ranges, &s);
}

bool oz_finite_box(const float *positions, uint64_t count, double out[6], const oz_loop *loop) {
  survey s = {.from = positions, .count = count};
  oz_loop_run(loop, RANGES, box_ranges, &s);
  for (int k = 0; k < 3; k++) {
    float low = INFINITY, high = -INFINITY;
    for (int r = 0; r < RANGES; r++) {
      low = s.low[r][k] < low ? s.low[r][k] : low;
      high = s.high[r][k] > high ? s.high[r][k] : high;
    }
    out[k] = (double)low;
    out[k + 3] = (double)high;
  }
  return !all_bits(&s);
}
