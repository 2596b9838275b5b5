/* Fields that need not be there (physics/fields.def): when they come to be, and what they read as
 * until then. */
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

/* What is of no material, as boundary particles are, has the first one's. */
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

ooze_result oz_field_provide(ooze_solver *s, oz_field field) {
  void *copy;
  if (oz_field_there(s, field)) return OOZE_OK;
  if (oz_field_shapes[field].fallback != OZ_FALLBACK_MATTER || s->particles.count == 0)
    return s->backend->table->provide(s->backend, field, s->message);
  OZ_TRY(oz_host_copy(s, field, &copy));
  OZ_TRY(s->backend->table->provide(s->backend, field, s->message));
  return s->backend->table->upload(s->backend, field, 0, s->particles.count, copy, s->message);
}

/* What this step's stages write, or gather from neighbours. What bodies, boundaries, emitters and
 * hosts set comes with its values. */
ooze_result oz_fields_for_step(ooze_solver *s, int relaxes) {
  const uint32_t model = s->params.model;
  const int blend = model == OOZE_MODEL_BLEND,
            solids = s->bodies.count > 0 || s->particles.hidden > 0;
  const struct {
    int when;
    oz_field field;
  } needs[] = {
      {s->has_ramps || s->mixing > 0, OZ_FIELD_TAU},
      {s->has_ramps || s->mixing > 0 || blend, OZ_FIELD_VISCOSITY},
      {s->mixing > 0, OZ_FIELD_DENSITY},
      {s->mixing > 0, OZ_FIELD_COMPLIANCE},
      {s->has_heat || model == OOZE_MODEL_LINKS, OZ_FIELD_TEMPERATURE},
      {s->has_heat, OZ_FIELD_MELT},
      {solids, OZ_FIELD_OWNER},
      {solids || blend || (s->has_yield && model == OOZE_MODEL_CONFORMATION), OZ_FIELD_REST},
      {relaxes && model == OOZE_MODEL_CONFORMATION, OZ_FIELD_PRESSURE},
  };
  for (size_t k = 0; k < sizeof needs / sizeof *needs; ++k)
    if (needs[k].when) OZ_TRY(oz_field_provide(s, needs[k].field));
  return OOZE_OK;
}
