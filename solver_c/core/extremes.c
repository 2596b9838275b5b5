/* Values that make a substep short, the worst among the particles of each material: particles may
 * have a density, a viscosity, a relaxation time and a compliance of their own, as those of nodes
 * do. They follow from state alone, as counts must. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/step_counts.h"
#include "core/particles.h"
#include "physics/extremes.h"

/* All particles that have the values of their material. */
static void widen(oz_extremes *e, const ooze_material *m) {
  e->density = fminf(e->density, m->density);
  e->most_density = fmaxf(e->most_density, m->density);
  e->viscosity = fminf(e->viscosity, m->viscosity);
  e->most_viscosity = fmaxf(e->most_viscosity, m->viscosity);
  e->relaxation_time = fmaxf(e->relaxation_time, m->relaxation_time);
  e->stiffness = fmax(e->stiffness, oz_solid_modulus(m) / (double)m->density);
}

static float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* Particles, as they were collected, of a material. */
static void widen_by(oz_extremes *e, const oz_extreme_bits *bits, const ooze_material *m) {
  const uint32_t *v = bits->value;
  if (!v[OZ_LEAST_DENSITY]) return; /* there are none */
  const float least = float_of(~v[OZ_LEAST_DENSITY]);
  e->density = fminf(e->density, least);
  e->most_density = fmaxf(e->most_density, float_of(v[OZ_MOST_DENSITY]));
  e->viscosity = fminf(e->viscosity, float_of(~v[OZ_LEAST_VISCOSITY]));
  e->most_viscosity = fmaxf(e->most_viscosity, float_of(v[OZ_MOST_VISCOSITY]));
  e->relaxation_time = fmaxf(e->relaxation_time, float_of(v[OZ_MOST_RELAXATION_TIME]));
  double own;
  memcpy(&own, &bits->stiffness, sizeof own);
  /* a ramp or a yield stress of the material goes before values of particles' own */
  if (m->yield_stress > 0.0f || m->ramp_1[0] > 0.0f) own = oz_solid_modulus(m) / (double)least;
  e->stiffness = fmax(e->stiffness, own);
}

/* Of all particles, by material: where they are kept. */
static ooze_result collect(ooze_solver *s, const oz_extreme_bits **out) {
  const size_t bytes = s->material_count * sizeof(oz_extreme_bits);
  void *scratch = s->particles.scratch;
  OZ_TRY(oz_host_reserve(s, &scratch, &s->particles.scratch_capacity, bytes, 0));
  s->particles.scratch = scratch;
  oz_extreme_bits *table = scratch;
  *out = table;
  OZ_TRY(oz_host_flush(s));
  OZ_TRY(oz_materials_to_backend(s));
  if (s->backend->table->extremes)
    return s->backend->table->extremes(s->backend, s->material_count, table, s->message);
  oz_frame f;
  s->backend->table->frame(s->backend, &f);
  memset(table, 0, bytes);
  for (uint32_t i = 0; i < f.count; ++i) /* boundary particles have no material */
    if (f.material[i] < s->material_count) oz_extremes_add(&f, i, table + f.material[i]);
  return OOZE_OK;
}

/* Without values of particles' own, the material's are the worst. With some, those of nozzles have
 * the material's, and every birth, death or mixing may change the others. */
ooze_result oz_extremes_before_step(ooze_solver *s) {
  static const oz_field fields[] = {OZ_FIELD_DENSITY, OZ_FIELD_VISCOSITY, OZ_FIELD_RELAXATION_TIME,
                                    OZ_FIELD_COMPLIANCE};
  uint32_t some = 0;
  for (uint32_t v = 0; v < sizeof fields / sizeof *fields; ++v)
    some |= (uint32_t)oz_field_there(s, fields[v]) << v;
  const int stays = !s->emitters.count && !(s->mixing > 0.0f);
  if (s->extremes_known == 1 + some && stays) return OOZE_OK;

  const size_t bytes = s->material_count * sizeof(oz_extremes);
  void *list = s->extremes;
  if (!oz_grow(&s->memory, &list, &s->extremes_capacity, bytes, 0))
    return oz_host_no_memory(s, bytes);
  s->extremes = list;
  const oz_extreme_bits *bits = NULL;
  if (some && s->particles.count) OZ_TRY(collect(s, &bits));
  for (uint32_t k = 0; k < s->material_count; ++k) {
    s->extremes[k] = (oz_extremes){INFINITY, 0.0f, INFINITY, 0.0f, 0.0f, 0.0};
    if (!some) widen(&s->extremes[k], &s->materials[k]);
    if (bits) widen_by(&s->extremes[k], &bits[k], &s->materials[k]);
  }
  for (uint32_t i = 0; some && i < s->emitters.count; ++i) {
    const uint32_t k = s->emitters.slot[i].desc.material;
    if (k < s->material_count) widen(&s->extremes[k], &s->materials[k]);
  }
  s->extremes_known = 1 + some;
  return OOZE_OK;
}

/* Whether any particle has a relaxation time, and a solvent viscosity of its own. */
ooze_result oz_relaxation_time_before_step(ooze_solver *s) {
  oz_particles *p = &s->particles;
  if (p->relaxation_time_known) return OOZE_OK;
  const int solvent = oz_field_there(s, OZ_FIELD_SOLVENT_VISCOSITY);
  int some = solvent || oz_field_there(s, OZ_FIELD_RELAXATION_TIME);
  for (uint32_t k = 0; k < s->material_count; ++k) some |= s->materials[k].relaxation_time > 0.0f;
  p->has_solvent = p->has_relaxation_time = 0;
  const oz_extreme_bits *bits = NULL;
  if (some && p->count) OZ_TRY(collect(s, &bits)); /* otherwise nothing need be looked at */
  for (uint32_t k = 0; bits && k < s->material_count; ++k) {
    p->has_relaxation_time |= bits[k].value[OZ_MOST_RELAXATION_TIME] != 0;
    p->has_solvent |= solvent && bits[k].value[OZ_MOST_SOLVENT_VISCOSITY] != 0;
  }
  p->relaxation_time_known = 1;
  return OOZE_OK;
}
