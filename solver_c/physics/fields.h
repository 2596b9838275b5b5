/* Reading of optional fields (fields.def): either all particles of a frame have a field, or none
 * has. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_FIELDS_H
#define OZ_PHYSICS_FIELDS_H

#include "physics/algebra.h"
#include "physics/frame.h"

/* Words of consecutive particles, for comparisons; 0 where the field is absent. */
#if OZ_LANES > 1
OZ_FN oz_mask oz_words(const uint32_t *a, uint32_t i) {
  oz_mask m = {0};
  if (a) __builtin_memcpy(&m, a + i, sizeof m);
  return m;
}
#else
OZ_FN uint32_t oz_words(const uint32_t *a, uint32_t i) { return a ? a[i] : 0; }
#endif
OZ_FN uint32_t oz_word(const uint32_t *a, size_t i) { return a ? a[i] : 0; } /* of one particle */

OZ_FN oz_real oz_ld_or_none(const float *a, uint32_t i) { return a ? oz_ld(a, i) : oz_set(0.0f); }

/* m/s^2, added to gravity; of fluid and bodies. */
OZ_FN oz_v3 oz_force(const oz_frame *f, uint32_t i) {
  oz_v3 r = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
  if (f->force)
    r.x = oz_ld(f->force, i), r.y = oz_ld(f->force + f->stride, i),
    r.z = oz_ld(f->force + 2 * (size_t)f->stride, i);
  return r;
}

OZ_FN float oz_force_of(const oz_frame *f, uint32_t i, int axis) {
  return f->force ? f->force[(size_t)axis * f->stride + i] : 0.0f;
}

OZ_FN uint32_t oz_matter_of(const oz_frame *f, uint32_t i) {
  return f->material[i] < f->matter_count ? f->material[i] : 0;
}

/* One member of the particles' materials: `member` is that of material 0. Lanes past the last
 * particle are undefined. */
OZ_FN oz_real oz_of_matter(const oz_frame *f, uint32_t i, const float *member) {
  uint32_t m[OZ_LANES];
  for (uint32_t k = 0; k < OZ_LANES; k++) m[k] = oz_matter_of(f, i + k);
  return oz_gather1(member, m, OZ_MATTER_FLOATS);
}

/* s: relaxation time that a particle was given. */
OZ_FN oz_real oz_given_relaxation_time(const oz_frame *f, uint32_t i) {
  return f->relaxation_time ? oz_ld(f->relaxation_time, i)
                            : oz_of_matter(f, i, &f->matter->relaxation_time);
}

OZ_FN oz_real oz_compliance(const oz_frame *f, uint32_t i) {
  return f->compliance ? oz_ld(f->compliance, i) : oz_of_matter(f, i, &f->matter->compliance);
}

OZ_FN oz_real oz_viscosity(const oz_frame *f, uint32_t i) {
  return f->viscosity ? oz_ld(f->viscosity, i) : oz_of_matter(f, i, &f->matter->viscosity);
}

/* s: relaxation time that a particle has in the stages. */
OZ_FN oz_real oz_relaxation_time(const oz_frame *f, uint32_t i) {
  oz_real given = oz_given_relaxation_time(f, i);
  if (!f->has_memory) return given;
  oz_mask thick = oz_viscosity(f, i) > oz_of_matter(f, i, &f->matter->thick);
  return oz_max(given, oz_select(thick, oz_set(OZ_LEAST_MEMORY), oz_set(0.0f)));
}

OZ_FN oz_real oz_density(const oz_frame *f, uint32_t i) {
  return f->density ? oz_ld(f->density, i) : oz_of_matter(f, i, &f->matter->density);
}

OZ_FN oz_real oz_solvent_viscosity(const oz_frame *f, uint32_t i) {
  return f->solvent_viscosity ? oz_ld(f->solvent_viscosity, i)
                              : oz_of_matter(f, i, &f->matter->solvent_viscosity);
}

/* of one particle */
OZ_FN float oz_relaxation_time_of(const oz_frame *f, uint32_t i) {
  const float given =
      f->relaxation_time ? f->relaxation_time[i] : f->matter[oz_matter_of(f, i)].relaxation_time;
  if (!f->has_memory || given > OZ_LEAST_MEMORY) return given;
  const oz_matter *m = &f->matter[oz_matter_of(f, i)];
  return (f->viscosity ? f->viscosity[i] : m->viscosity) > m->thick ? OZ_LEAST_MEMORY : given;
}

OZ_FN float oz_compliance_of(const oz_frame *f, uint32_t i) {
  return f->compliance ? f->compliance[i] : f->matter[oz_matter_of(f, i)].compliance;
}

OZ_FN float oz_density_of(const oz_frame *f, uint32_t i) {
  return f->density ? f->density[i] : f->matter[oz_matter_of(f, i)].density;
}

/* Boundary particles have no compliance and no force of their own: these are the values that they
 * store there. */
OZ_FN oz_real oz_boundary_weight(const oz_frame *f, uint32_t i) { return oz_compliance(f, i); }

OZ_FN float oz_boundary_weight_of(const oz_frame *f, uint32_t i) { return oz_compliance_of(f, i); }

OZ_FN float oz_boundary_path_of(const oz_frame *f, uint32_t i, int axis) {
  return oz_force_of(f, i, axis); /* m: way during the step, in the collider's frame */
}

OZ_FN float oz_temperature_of(const oz_frame *f, uint32_t i) {
  return f->temperature ? f->temperature[i] : f->matter[oz_matter_of(f, i)].temperature;
}
#endif
