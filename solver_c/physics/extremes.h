/* Values that make a substep short, the worst among the particles of each material
 * (docs/theory/counts.md). All are the greatest of whole numbers, so that no order of particles
 * changes them. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_EXTREMES_H
#define OZ_PHYSICS_EXTREMES_H

#include "physics/fields.h"

/* Bits of floats that are not negative are ordered as the floats are; where the least one is looked
 * for, their complement. */
enum {
  OZ_LEAST_DENSITY,
  OZ_MOST_DENSITY,
  OZ_LEAST_VISCOSITY,
  OZ_MOST_VISCOSITY,
  OZ_MOST_RELAXATION_TIME,
  OZ_MOST_SOLVENT_VISCOSITY,
  OZ_EXTREMES
};

/* Of the particles of one material; all 0: there are none. */
typedef struct oz_extreme_bits {
  uint64_t stiffness; /* of a double: greatest modulus of solids over their density, m^2/s^2 */
  uint32_t value[OZ_EXTREMES];
} oz_extreme_bits;

/* Pa: modulus of a solid, which keeps its shape for a second or more; 0 of a fluid. */
OZ_FN double oz_kept_modulus(float relaxation_time, float viscosity, float compliance) {
  if (!(relaxation_time >= 1.0f)) return 0.0;
  if (viscosity > 0.0f) return (double)viscosity / (double)relaxation_time;
  return compliance > 0.0f ? 1.0 / (double)compliance : 0.0;
}

OZ_FN uint32_t oz_ordered_bits(float v) {
  uint32_t bits = 0;
  if (v > 0.0f) __builtin_memcpy(&bits, &v, sizeof bits); /* a negative zero has the greatest */
  return bits;
}

OZ_FN void oz_extremes_raise(oz_extreme_bits *e, int which, uint32_t bits) {
  if (bits > e->value[which]) e->value[which] = bits;
}

/* Adds particle i, whose material is in the table. */
OZ_FN void oz_extremes_add(const oz_frame *f, uint32_t i, oz_extreme_bits *e) {
  const oz_matter *m = f->matter + f->material[i];
  const float density = f->density ? f->density[i] : m->density,
              viscosity = f->viscosity ? f->viscosity[i] : m->viscosity,
              tau = f->relaxation_time ? f->relaxation_time[i] : m->relaxation_time,
              solvent = f->solvent_viscosity ? f->solvent_viscosity[i] : m->solvent_viscosity;
  oz_extremes_raise(e, OZ_LEAST_DENSITY, ~oz_ordered_bits(density));
  oz_extremes_raise(e, OZ_MOST_DENSITY, oz_ordered_bits(density));
  oz_extremes_raise(e, OZ_LEAST_VISCOSITY, ~oz_ordered_bits(viscosity));
  oz_extremes_raise(e, OZ_MOST_VISCOSITY, oz_ordered_bits(viscosity));
  oz_extremes_raise(e, OZ_MOST_RELAXATION_TIME, oz_ordered_bits(tau));
  oz_extremes_raise(e, OZ_MOST_SOLVENT_VISCOSITY, oz_ordered_bits(solvent));
  const float compliance = f->compliance ? f->compliance[i] : m->compliance;
  const double stiffness = oz_kept_modulus(tau, viscosity, compliance) / (double)density;
  uint64_t bits = 0;
  if (stiffness > 0.0) __builtin_memcpy(&bits, &stiffness, sizeof bits);
  if (bits > e->stiffness) e->stiffness = bits;
}

#endif
