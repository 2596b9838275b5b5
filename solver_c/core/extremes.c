/* Values that make a substep short, the worst among the particles of each material: particles may
 * have a density, a viscosity, a relaxation time and a compliance of their own, as those of nodes
 * do. They follow from state alone, as counts must. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/step_counts.h"
#include "core/particles.h"

enum { DENSITY, VISCOSITY, RELAXATION_TIME, COMPLIANCE, VALUES };
static const oz_field fields[VALUES] = {OZ_FIELD_DENSITY, OZ_FIELD_VISCOSITY,
                                        OZ_FIELD_RELAXATION_TIME, OZ_FIELD_COMPLIANCE};

/* One particle more, or all that have the values of their material. */
static void widen(oz_extremes *e, const ooze_material *m) {
  const double modulus = oz_solid_modulus(m), density = (double)m->density;
  e->density = fminf(e->density, m->density);
  e->most_density = fmaxf(e->most_density, m->density);
  e->viscosity = fminf(e->viscosity, m->viscosity);
  e->most_viscosity = fmaxf(e->most_viscosity, m->viscosity);
  e->relaxation_time = fmaxf(e->relaxation_time, m->relaxation_time);
  if (modulus * e->solid_density > e->modulus * density)
    e->modulus = modulus, e->solid_density = density;
}

/* Particles that follow each other have the same values most of the time: one of each run of them
 * is looked at. */
static void widen_by_block(ooze_solver *s, const uint32_t own[VALUES], const uint32_t *number,
                           const float *value, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t same = i > 0 && number[i] == number[i - 1];
    for (int v = 0; v < VALUES && same; ++v)
      same = !own[v] || !memcmp(&value[(size_t)v * n + i], &value[(size_t)v * n + i - 1], 4);
    if (same || number[i] >= s->material_count) continue; /* or of a boundary */

    ooze_material m = s->materials[number[i]];
    float *const to[VALUES] = {&m.density, &m.viscosity, &m.relaxation_time, &m.compliance};
    for (int v = 0; v < VALUES; ++v)
      if (own[v]) *to[v] = value[(size_t)v * n + i];
    widen(&s->extremes[number[i]], &m);
  }
}

static ooze_result look(ooze_solver *s, const uint32_t own[VALUES]) {
  const oz_backend_table *table = s->backend->table;
  oz_particles *p = &s->particles;
  const uint32_t block = p->count < 65536 ? p->count : 65536;
  void *scratch = p->scratch;
  OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, (size_t)block * 4 * (1 + VALUES), 0));
  p->scratch = scratch;
  OZ_TRY(oz_host_flush(s));
  for (uint32_t first = 0; first < p->count; first += block) {
    const uint32_t n = p->count - first < block ? p->count - first : block;
    uint32_t *number = scratch;
    float *value = (float *)scratch + n;
    OZ_TRY(table->download(s->backend, OZ_FIELD_MATERIAL, first, n, number, s->message));
    for (int v = 0; v < VALUES; ++v)
      if (own[v])
        OZ_TRY(table->download(s->backend, fields[v], first, n, value + (size_t)v * n, s->message));
    widen_by_block(s, own, number, value, n);
  }
  return OOZE_OK;
}

/* Without values of particles' own, the material's are the worst. With some, those of nozzles have
 * the material's, and every birth, death or mixing may change the others. */
ooze_result oz_extremes_before_step(ooze_solver *s) {
  uint32_t own[VALUES], some = 0;
  for (int v = 0; v < VALUES; ++v) {
    own[v] = (uint32_t)oz_field_there(s, fields[v]);
    some |= own[v] << v;
  }
  const int stays = !s->emitters.count && !(s->mixing > 0.0f);
  if (s->extremes_known == 1 + some && stays) return OOZE_OK;

  const size_t bytes = s->material_count * sizeof(oz_extremes);
  void *list = s->extremes;
  if (!oz_grow(&s->memory, &list, &s->extremes_capacity, bytes, 0))
    return oz_host_no_memory(s, bytes);
  s->extremes = list;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    s->extremes[k] = (oz_extremes){INFINITY, 0.0f, INFINITY, 0.0f, 0.0f, 0.0, 1.0};
    if (!some) widen(&s->extremes[k], &s->materials[k]);
  }
  for (uint32_t i = 0; some && i < s->emitters.count; ++i) {
    const uint32_t k = s->emitters.slot[i].desc.material;
    if (k < s->material_count) widen(&s->extremes[k], &s->materials[k]);
  }
  if (some) OZ_TRY(look(s, own));
  s->extremes_known = 1 + some;
  return OOZE_OK;
}
