/* Materials: sets of values that particles are given. Number 0 is always there. */
#include <stdio.h>

#include "core/particles.h"
#include "core/schema.h"

const oz_material_value oz_material_values[OZ_MATERIAL_VALUES] = {
    {OZ_FIELD_TAU, offsetof(ooze_material, relaxation_time)},
    {OZ_FIELD_COMPLIANCE, offsetof(ooze_material, compliance)},
    {OZ_FIELD_VISCOSITY, offsetof(ooze_material, viscosity)},
    {OZ_FIELD_DENSITY, offsetof(ooze_material, density)},
    {OZ_FIELD_TEMPERATURE, offsetof(ooze_material, temperature)},
};

ooze_result oz_material_check(const ooze_material *material, const char *who, ooze_message *why) {
  return oz_schema_check(OZ_OWNER_material, material, who, why);
}

/* Allocates, but only in the first step after a material was changed. */
ooze_result oz_materials_to_backend(ooze_solver *s) {
  if (s->matter_known) return OOZE_OK;
  size_t bytes = s->material_count * sizeof(oz_matter);
  oz_matter *matter = oz_alloc(&s->memory, bytes);
  if (!matter) return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for materials", bytes);
  for (uint32_t i = 0; i < s->material_count; ++i) {
    matter[i].density = s->materials[i].density;
    matter[i].links_beta = s->materials[i].links_beta;
  }
  ooze_result r = s->backend->table->matter(s->backend, matter, s->material_count, s->message);
  oz_free(&s->memory, matter);
  s->matter_known = r >= 0;
  return r;
}

static ooze_result no_such(const ooze_solver *s, uint32_t index) {
  return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "there is no material %u; there are %u", (unsigned)index,
                 (unsigned)s->material_count);
}

ooze_result ooze_material_add(ooze_solver *s, const ooze_material *material, uint32_t *out_index) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_material in;
  char who[32];
  ooze_material_default(&in);
  snprintf(who, sizeof who, "material %u", (unsigned)s->material_count);
  OZ_TRY(oz_struct_read(&in, material, sizeof in, "material", s->message));
  OZ_TRY(oz_material_check(&in, who, s->message));
  if (s->material_count >= OZ_MATERIALS_MAX)
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "there are %u materials already; no more are kept", OZ_MATERIALS_MAX);
  size_t bytes = ((size_t)s->material_count + 1) * sizeof in;
  void *list = s->materials;
  if (bytes > s->materials_capacity &&
      !oz_grow(&s->memory, &list, &s->materials_capacity, 2 * bytes, bytes - sizeof in))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for materials", 2 * bytes);
  s->materials = list;
  s->materials[s->material_count] = in;
  if (out_index) *out_index = s->material_count;
  s->material_count++;
  s->matter_known = 0;
  return OOZE_OK;
}

ooze_result ooze_material_set(ooze_solver *s, uint32_t index, const ooze_material *material) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_material in;
  char who[32];
  if (index >= s->material_count) return no_such(s, index);
  ooze_material_default(&in);
  snprintf(who, sizeof who, "material %u", (unsigned)index);
  OZ_TRY(oz_struct_read(&in, material, sizeof in, "material", s->message));
  OZ_TRY(oz_material_check(&in, who, s->message));

  /* which particles it has, kept as flags while the values go through the one host copy */
  void *copy;
  uint32_t n = s->particles.count;
  OZ_TRY(oz_particles_flags(s));
  OZ_TRY(oz_host_copy(s, OZ_FIELD_MATERIAL, &copy));
  for (uint32_t i = 0; i < n; ++i) s->particles.flags[i] = ((const uint32_t *)copy)[i] == index;
  for (int v = 0; v < OZ_MATERIAL_VALUES && n; ++v) {
    OZ_TRY(oz_host_copy(s, oz_material_values[v].field, &copy));
    for (uint32_t i = 0; i < n; ++i)
      if (s->particles.flags[i])
        memcpy((uint32_t *)copy + i, (const unsigned char *)&in + oz_material_values[v].offset, 4);
    oz_host_dirty(s);
  }
  s->materials[index] = in;
  s->matter_known = 0;
  s->particles.tau_known = 0;
  return OOZE_OK;
}

ooze_result ooze_material_get(const ooze_solver *s, uint32_t index, ooze_material *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (index >= s->material_count) return no_such(s, index);
  return oz_struct_write(out, &s->materials[index], sizeof s->materials[index], "material", s->message);
}

uint32_t ooze_material_count(const ooze_solver *s) { return s ? s->material_count : 0; }
