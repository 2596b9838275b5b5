/* The hash of all state. SPDX-License-Identifier: Apache-2.0 */
#include "core/links.h"
#include "core/particles.h"

/* Values that came with the laws of flow count only where a particle has one of its own, so that
 * the states of all other scenes keep their hashes. */
static ooze_result is_set(ooze_solver *s, ooze_attribute a, int *out) {
  const oz_field field = oz_attribute_field(a);
  uint32_t page[256 * 6], material[256];
  const uint32_t words = (uint32_t)(oz_attribute_bytes(a) / 4);
  *out = a < OOZE_SOLVENT_VISCOSITY;
  if (*out || !oz_field_there(s, field)) return OOZE_OK;
  for (uint32_t first = 0; first < oz_visible(s) && !*out; first += 256) {
    const uint32_t n = oz_visible(s) - first < 256 ? oz_visible(s) - first : 256;
    OZ_TRY(ooze_attribute_read(s, OOZE_MATERIAL, first, n, 0, material));
    OZ_TRY(ooze_attribute_read(s, a, first, n, 0, page));
    for (uint32_t k = 0; k < n * words; ++k)
      *out |=
          page[k] != oz_material_word(s->materials, s->material_count, material[k / words], field);
  }
  return OOZE_OK;
}

ooze_result ooze_state_hash(ooze_solver *s, uint64_t *out_hash) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out_hash) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "state hash: out is NULL");
  oz_hash h;
  oz_hash_begin(&h);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    if (!oz_attribute_is_state((ooze_attribute)a)) continue;
    int set;
    OZ_TRY(is_set(s, (ooze_attribute)a, &set));
    if (!set) continue;
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
