/* Optional fields (physics/fields.def): when they come into being, and their defaults until
 * then. SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"

enum { RECORD = 0, PLANES = 1, WIDE = 0, ZERO = OZ_FALLBACK_ZERO, MATTER = OZ_FALLBACK_MATTER };
const oz_field_shape oz_field_shapes[OZ_FIELD_COUNT] = {
#define OZ_FIELD(name, member, words, layout) \
  [OZ_FIELD_##name] = {words, (layout) && (words) > 1, OZ_FALLBACK_NONE},
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  [OZ_FIELD_##name] = {words, (layout) && (words) > 1, fallback},
#define OZ_RESULT OZ_FIELD
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
};

int oz_field_there(const ooze_solver *s, oz_field field) {
  return oz_field_shapes[field].fallback == OZ_FALLBACK_NONE ||
         s->backend->table->has(s->backend, field);
}

const oz_material_value oz_material_values[OZ_MATERIAL_VALUES] = {
    {OZ_FIELD_RELAXATION_TIME, offsetof(ooze_material, relaxation_time)},
    {OZ_FIELD_COMPLIANCE, offsetof(ooze_material, compliance)},
    {OZ_FIELD_VISCOSITY, offsetof(ooze_material, viscosity)},
    {OZ_FIELD_DENSITY, offsetof(ooze_material, density)},
    {OZ_FIELD_TEMPERATURE, offsetof(ooze_material, temperature)},
    {OZ_FIELD_SOLVENT_VISCOSITY, offsetof(ooze_material, solvent_viscosity)},
};

/* A particle without a material, such as a boundary particle, has the first one's. */
static uint32_t word_at(const ooze_material *materials, uint32_t count, uint32_t material,
                        size_t offset) {
  uint32_t word;
  memcpy(&word, (const unsigned char *)&materials[material < count ? material : 0] + offset, 4);
  return word;
}
uint32_t oz_material_word(const ooze_material *materials, uint32_t count, uint32_t material,
                          oz_field field) {
  for (int v = 0; v < OZ_MATERIAL_VALUES; ++v)
    if (oz_material_values[v].field == field)
      return word_at(materials, count, material, oz_material_values[v].offset);
  return 0;
}

/* From material numbers, in place. */
static void values_of_materials(const ooze_solver *s, oz_field field, uint32_t *words) {
  for (int v = 0; v < OZ_MATERIAL_VALUES; ++v)
    for (uint32_t i = 0; oz_material_values[v].field == field && i < s->particles.count; ++i)
      words[i] = word_at(s->materials, s->material_count, words[i], oz_material_values[v].offset);
}

ooze_result oz_field_download(ooze_solver *s, oz_field field, void *out) {
  const int of_material =
      !oz_field_there(s, field) && oz_field_shapes[field].fallback == OZ_FALLBACK_MATTER;
  OZ_TRY(s->backend->table->download(s->backend, of_material ? OZ_FIELD_MATERIAL : field, 0,
                                     s->particles.count, out, s->message));
  if (of_material) values_of_materials(s, field, out);
  return OOZE_OK;
}
