/* State that belongs to no particle, as words: time, next id, the amount that emitters have poured,
 * and the bodies. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/hash.h"
#include "core/particles.h"

enum { OZ_CLOCK_MAGIC = 0x4b435a4f, OZ_CLOCK_VERSION = 1, OZ_CLOCK_HEAD = 8 }; /* "OZCK" */

/* Words of the list of bodies: their state is in their particles. 0 where there are none. */
static uint32_t body_words(const ooze_solver *s) {
  return s->bodies.count ? (uint32_t)((oz_bodies_bytes(&s->bodies) + 3) / 4) : 0;
}

ooze_result ooze_clock_save(ooze_solver *s, uint32_t *words, uint32_t capacity,
                            uint32_t *out_count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  const uint32_t poured = s->emitters.count * OZ_EMITTER_WORDS, bodies = body_words(s),
                 count = OZ_CLOCK_HEAD + poured + bodies;
  if (out_count) *out_count = count;
  if (!words) return OOZE_OK;
  if (s->lost)
    return oz_fail(s->message, s->lost, "clock: the state is lost; there is nothing to save");
  if (capacity < count)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "clock: room for %u words; expected %u or more",
                   (unsigned)capacity, (unsigned)count);
  words[0] = OZ_CLOCK_MAGIC;
  words[1] = OZ_CLOCK_VERSION;
  memcpy(words + 2, &s->time, 8);
  memcpy(words + 4, &s->particles.next_id, 8);
  words[6] = s->emitters.count;
  words[7] = bodies;
  oz_emitters_clock_write(&s->emitters, words + OZ_CLOCK_HEAD);
  if (bodies) {
    words[count - 1] = 0;
    oz_bodies_write(&s->bodies, words + OZ_CLOCK_HEAD + poured);
  }
  return OOZE_OK;
}

ooze_result ooze_clock_load(ooze_solver *s, const uint32_t *words, uint32_t count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  double time;
  uint64_t next_id;
  if (!words || count < OZ_CLOCK_HEAD || words[0] != OZ_CLOCK_MAGIC ||
      words[1] != OZ_CLOCK_VERSION || words[6] > OZ_EMITTERS_MAX || words[7] > count ||
      count - words[7] != OZ_CLOCK_HEAD + words[6] * OZ_EMITTER_WORDS)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "clock: these %u words are not one of version %d",
                   (unsigned)count, OZ_CLOCK_VERSION);
  memcpy(&time, words + 2, 8);
  memcpy(&next_id, words + 4, 8);
  if (!(fabs(time) <= 1e12) || next_id > (uint64_t)OZ_ID_MAX + 1)
    return oz_fail(s->message, OOZE_ERROR_FORMAT, "clock: time %g s or next id %llu cannot be",
                   time, (unsigned long long)next_id);
  if (words[7]) {
    size_t used = 0;
    OZ_TRY(oz_bodies_read(&s->bodies, words + count - words[7], (size_t)words[7] * 4, &used,
                          s->message));
  }
  OZ_TRY(oz_emitters_clock_read(&s->emitters, words + OZ_CLOCK_HEAD, words[6], s->message));
  s->time = time;
  uint32_t n = oz_visible(s);
  uint64_t least = n ? s->particles.ids[n - 1] + 1 : 0; /* never below an id that is there */
  s->particles.next_id = next_id > least ? next_id : least;
  return OOZE_OK;
}

uint64_t ooze_hash(const void *bytes, size_t count, uint64_t seed) {
  oz_hash h;
  oz_hash_begin(&h);
  oz_hash_add(&h, &seed, sizeof seed);
  if (bytes) oz_hash_add(&h, bytes, count);
  uint64_t length = count;
  oz_hash_add(&h, &length, sizeof length);
  return oz_hash_end(&h);
}
