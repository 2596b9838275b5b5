/* The hash of all state. */
#include "core/links.h"
#include "core/particles.h"

ooze_result ooze_state_hash(ooze_solver *s, uint64_t *out_hash) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out_hash) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "state hash: out is NULL");
  oz_hash h;
  oz_hash_begin(&h);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    if (!oz_attribute_is_state((ooze_attribute)a)) continue;
    unsigned char page[256 * 24];
    for (uint32_t first = 0; first < oz_visible(s); first += 256) {
      uint32_t n = oz_visible(s) - first < 256 ? oz_visible(s) - first : 256;
      OZ_TRY(ooze_attribute_read(s, (ooze_attribute)a, first, n, 0, page));
      oz_hash_add(&h, page, n * oz_attribute_bytes((ooze_attribute)a));
    }
  }
  OZ_TRY(oz_links_hash(s, &h));
  *out_hash = oz_hash_end(&h);
  return OOZE_OK;
}
