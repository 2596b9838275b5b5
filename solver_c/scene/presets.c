/* Materials of everyday life. SPDX-License-Identifier: Apache-2.0 */
#include "geo/geo_internal.h"
#include "ooze/ooze_scene.h"

typedef struct preset_row {
  const char *name;
  float density, viscosity, relaxation_time, compliance, yield_stress, temperature, surface_tension;
  const char *about, *source;
} preset_row;

static const preset_row rows[] = {
#define OZ_PRESET(name, density, viscosity, tau, compliance, yield_stress, temperature, tension, \
                  about, source)                                                                 \
  {#name, density, viscosity, tau, compliance, yield_stress, temperature, tension, about, source},
#include "presets.def"
#undef OZ_PRESET
};

/* Further values of materials that melt and set. Conductivity is left at 0, so that heat is
 * reckoned only where a scene asks for it. */
typedef struct preset_heat {
  const char *name;
  float heat_capacity, melting_point, latent_heat;
  float ramp[4][3];
} preset_heat;
static const preset_heat heats[] = {
#define OZ_PRESET_HEAT(name, capacity, point, latent, ...) \
  {#name, capacity, point, latent, {__VA_ARGS__}},
#include "presets_heat.def"
#undef OZ_PRESET_HEAT
};
static void add_heat(const preset_heat *h, ooze_material *m) {
  m->heat_capacity = h->heat_capacity;
  m->melting_point = h->melting_point;
  m->latent_heat = h->latent_heat;
  float *const to[4] = {m->ramp_1, m->ramp_2, m->ramp_3, m->ramp_4};
  for (int k = 0; k < 4; k++) memcpy(to[k], h->ramp[k], sizeof h->ramp[k]);
}

/* Laws of flow beyond a viscosity and a relaxation time. */
typedef struct preset_law {
  const char *name;
  float solvent, thinning_time, index, thinned, extensibility, second, second_time;
} preset_law;
static const preset_law laws[] = {
#define OZ_PRESET_LAW(name, ...) {#name, __VA_ARGS__},
#include "presets_law.def"
#undef OZ_PRESET_LAW
};
static void add_law(const preset_law *l, ooze_material *m) {
  m->solvent_viscosity = l->solvent;
  m->thinning_time = l->thinning_time;
  m->flow_index = l->index;
  m->thinned_viscosity = l->thinned;
  m->extensibility = l->extensibility;
  m->second_viscosity = l->second;
  m->second_relaxation_time = l->second_time;
}

uint32_t ooze_preset_count(void) { return (uint32_t)(sizeof rows / sizeof rows[0]); }

ooze_result ooze_preset_get(uint32_t index, ooze_preset *out) {
  if (!out || index >= ooze_preset_count()) return OOZE_ERROR_ARGUMENT;
  ooze_preset p;
  ooze_preset_default(&p);
  p.name = rows[index].name;
  p.about = rows[index].about;
  p.source = rows[index].source;
  ooze_material_default(&p.material);
  p.material.density = rows[index].density;
  p.material.viscosity = rows[index].viscosity;
  p.material.relaxation_time = rows[index].relaxation_time;
  if (rows[index].compliance > 0.0f) p.material.compliance = rows[index].compliance;
  p.material.yield_stress = rows[index].yield_stress;
  p.material.temperature = rows[index].temperature;
  p.material.surface_tension = rows[index].surface_tension;
  for (size_t i = 0; i < sizeof heats / sizeof *heats; i++)
    if (strcmp(heats[i].name, p.name) == 0) add_heat(&heats[i], &p.material);
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
    if (strcmp(laws[i].name, p.name) == 0) add_law(&laws[i], &p.material);
  return oz_struct_out(out, &p, sizeof p);
}

ooze_result ooze_preset_find(const char *name, ooze_preset *out) {
  if (!name || !out) return OOZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < ooze_preset_count(); i++)
    if (strcmp(rows[i].name, name) == 0) return ooze_preset_get(i, out);
  return OOZE_ERROR_NOT_FOUND;
}
