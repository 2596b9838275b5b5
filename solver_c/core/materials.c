/* Materials: sets of values that particles are given. Number 0 is always there.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "core/particles.h"
#include "base/schema.h"

/* The eight points as one array. */
static void oz_material_ramp(const ooze_material *m, float out[OZ_RAMP_POINTS][3]) {
  const float *const points[OZ_RAMP_POINTS] = {m->ramp_1, m->ramp_2, m->ramp_3, m->ramp_4,
                                               m->ramp_5, m->ramp_6, m->ramp_7, m->ramp_8};
  for (int k = 0; k < OZ_RAMP_POINTS; ++k) memcpy(out[k], points[k], sizeof out[k]);
}

ooze_result oz_material_check(const ooze_material *material, const char *who, ooze_message *why) {
  OZ_TRY(oz_schema_check(OZ_OWNER_material, material, who, why));
  float ramp[OZ_RAMP_POINTS][3];
  oz_material_ramp(material, ramp);
  for (int k = 1; k < OZ_RAMP_POINTS && ramp[k][0] > 0; ++k)
    if (!(ramp[k][0] > ramp[k - 1][0]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: ramp_%d is at %g K; expected more than ramp_%d's %g K", who, k + 1,
                     (double)ramp[k][0], k, (double)ramp[k - 1][0]);
  return OOZE_OK;
}

/* Laws of flow that a material asks for: OZ_LAW_* bits. */
static uint32_t laws_of(const ooze_material *m) {
  const int second = m->second_viscosity > 0 && m->second_relaxation_time > 0;
  return (m->consistency > 0 || m->thinning_time > 0 ? OZ_LAW_RATE : 0u) |
         (m->extensibility > 0 ? OZ_LAW_EXTENDS : 0u) | (second ? OZ_LAW_SECOND : 0u) |
         (m->solvent_viscosity > 0 ? OZ_LAW_SOLVENT : 0u);
}

/* Pa s: viscosity from which on fluid of this material is thick at the scale of a particle, mu t /
 * rho d^2 above 0.3 with t = 1/240 s, and has a least memory. A paste that thins has its rate of
 * shear, and the other models and schemes have memories of their own: infinity. */
static float thick_from(const ooze_solver *s, const ooze_material *m) {
  const float scale = 240.0f * m->density * s->separation * s->separation;
  if (s->params.model != OOZE_MODEL_CONFORMATION || s->params.scheme != OOZE_SCHEME_OOZE ||
      (m->yield_stress > 0 && laws_of(m) & OZ_LAW_RATE))
    return INFINITY;
  return 0.3f * scale - m->solvent_viscosity;
}

void oz_materials_find_memory(ooze_solver *s) {
  const int own = oz_field_there(s, OZ_FIELD_VISCOSITY);
  s->has_memory = 0;
  for (uint32_t i = 0; i < s->material_count; ++i) {
    const ooze_material *m = &s->materials[i];
    float ramp[OZ_RAMP_POINTS][3], most = fmaxf(m->viscosity, m->consistency);
    oz_material_ramp(m, ramp);
    for (uint32_t k = 0; k < OZ_RAMP_POINTS && ramp[k][0] > 0; ++k) most = fmaxf(most, ramp[k][1]);
    if (own) most = fmaxf(most, s->extremes[i].most_viscosity);
    s->has_memory |= most > thick_from(s, m);
  }
}

/* Allocates, but only in the first step after a material was changed. */
ooze_result oz_materials_to_backend(ooze_solver *s) {
  if (s->matter_known) return OOZE_OK;
  size_t bytes = s->material_count * sizeof(oz_matter);
  oz_matter *matter = oz_alloc(&s->memory, bytes);
  if (!matter)
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for materials", bytes);
  s->has_tension = s->has_adhesion = s->has_yield = s->has_heat = s->has_air = s->has_ramps =
      s->ramps_have_relaxation_time = 0;
  s->diffusivity = s->mixing = 0;
  s->laws = 0;
  for (uint32_t i = 0; i < s->material_count; ++i) {
    const ooze_material *m = &s->materials[i];
    matter[i].density = m->density;
    matter[i].relaxation_time = m->relaxation_time;
    matter[i].thick = m->consistency > thick_from(s, m) ? -1.0f : thick_from(s, m);
    matter[i].compliance = m->compliance;
    matter[i].viscosity = m->viscosity;
    matter[i].temperature = m->temperature;
    matter[i].links_beta = m->links_beta;
    matter[i].yield_stress = m->yield_stress;
    matter[i].surface_tension = m->surface_tension;
    matter[i].cohesion = m->cohesion;
    matter[i].adhesion = m->adhesion;
    const uint32_t pulls = m->surface_tension > 0 || m->cohesion > 0;
    s->has_tension |= pulls;
    s->has_adhesion |= pulls && !(m->adhesion == 1.0f);
    s->has_yield |= m->yield_stress > 0;
    matter[i].solvent_viscosity = m->solvent_viscosity;
    matter[i].thinning_time = m->thinning_time;
    matter[i].flow_index = m->flow_index;
    matter[i].thinning_sharpness = m->thinning_sharpness;
    matter[i].thinned_viscosity = m->thinned_viscosity;
    matter[i].consistency = m->consistency;
    matter[i].extensibility = m->extensibility;
    matter[i].second_viscosity = m->second_viscosity;
    matter[i].second_relaxation_time = m->second_relaxation_time;
    s->laws |= laws_of(m);
    float share = 1.0f / (m->density * m->heat_capacity);
    matter[i].conductivity = m->conductivity;
    matter[i].heat_share = share;
    matter[i].melting_point = m->melting_point;
    matter[i].melt_step = m->latent_heat / m->heat_capacity;
    matter[i].film_coefficient = m->film_coefficient;
    matter[i].emissivity = m->emissivity;
    s->has_heat |= m->conductivity > 0;
    s->has_air |= m->conductivity > 0 && (m->film_coefficient > 0 || m->emissivity > 0);
    if (m->conductivity * share > s->diffusivity) s->diffusivity = m->conductivity * share;
    matter[i].mixing = m->mixing;
    if (m->mixing > s->mixing) s->mixing = m->mixing;
    matter[i].ramp_count = 0;
    float ramp[OZ_RAMP_POINTS][3];
    oz_material_ramp(m, ramp);
    for (uint32_t k = 0; k < OZ_RAMP_POINTS && ramp[k][0] > 0; ++k, ++matter[i].ramp_count) {
      memcpy(matter[i].ramp[k], ramp[k], sizeof ramp[k]);
      s->has_ramps = 1;
      s->ramps_have_relaxation_time |= ramp[k][2] > 0;
    }
  }
  ooze_result r = s->backend->table->matter(s->backend, matter, s->material_count, s->message);
  oz_free(&s->memory, matter);
  s->matter_known = r >= 0;
  return r;
}

static ooze_result no_such(const ooze_solver *s, uint32_t index) {
  return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "there is no material %u; there are %u",
                 (unsigned)index, (unsigned)s->material_count);
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
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "there are %u materials already; no more are kept",
                   OZ_MATERIALS_MAX);
  size_t bytes = ((size_t)s->material_count + 1) * sizeof in;
  void *list = s->materials;
  if (bytes > s->materials_capacity &&
      !oz_grow(&s->memory, &list, &s->materials_capacity, 2 * bytes, bytes - sizeof in))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for materials",
                   2 * bytes);
  s->materials = list;
  s->materials[s->material_count] = in;
  if (out_index) *out_index = s->material_count;
  s->material_count++;
  s->matter_known = s->extremes_known = 0;
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
    /* a temperature that is not changed here leaves the particles their own */
    if (oz_material_values[v].field == OZ_FIELD_TEMPERATURE &&
        in.temperature == s->materials[index].temperature)
      continue;
    if (!oz_field_there(s, oz_material_values[v].field)) continue; /* it is read from here */
    OZ_TRY(oz_host_copy(s, oz_material_values[v].field, &copy));
    for (uint32_t i = 0; i < n; ++i)
      if (s->particles.flags[i])
        memcpy((uint32_t *)copy + i, (const unsigned char *)&in + oz_material_values[v].offset, 4);
    OZ_TRY(oz_host_dirty(s));
  }
  OZ_TRY(oz_host_flush(s));
  s->particles.copy_valid = 0; /* it may be of a field that is read from here */
  s->materials[index] = in;
  s->matter_known = s->extremes_known = 0;
  s->boundary.fresh = 0; /* their weights were where the compliance went */
  s->particles.relaxation_time_known = 0;
  return OOZE_OK;
}

ooze_result ooze_material_get(const ooze_solver *s, uint32_t index, ooze_material *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (index >= s->material_count) return no_such(s, index);
  return oz_struct_write(out, &s->materials[index], sizeof s->materials[index], "material",
                         s->message);
}

uint32_t ooze_material_count(const ooze_solver *s) { return s ? s->material_count : 0; }
