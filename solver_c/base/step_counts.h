/* Counts that a step takes where parameters leave them at 0: automatic (docs/theory/counts.md).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_STEP_COUNTS_H
#define OZ_BASE_STEP_COUNTS_H

#include "ooze/ooze.h"
#include "physics/extremes.h"

#include <math.h>

/* s: a substep of ordinary motion, 8 in a frame of 1/24 s */
#define OZ_LONGEST_SUBSTEP (1.0 / 192.0)
/* of an automatic count */
#define OZ_MOST_SUBSTEPS 256.0

/* Substeps of at most `longest` seconds; rounding must not cost one. */
static inline double oz_substeps_of(double duration, double longest) {
  return fmax(ceil(duration / longest - 0.01), 1.0);
}

/* Substeps that a step of `duration` seconds takes at least, where no CFL condition counts them. */
static inline uint32_t oz_substeps_least(const ooze_params *p, double duration) {
  if (p->substeps) return p->substeps;
  return (uint32_t)fmin(oz_substeps_of(duration, OZ_LONGEST_SUBSTEP), OZ_MOST_SUBSTEPS);
}

/* Greatest modulus dt^2 / (density separation^2) of a solid: one of 4 x 8 x 8 particles on a floor
 * rests at 1e-5 m/s with 8, swells with 17 and bursts after five seconds. */
#define OZ_STIFFEST 8.0

/* Whether a material gets solid by its ramp: cold from the beginning, or once heat is gone. */
static inline int oz_sets(const ooze_material *m) {
  return m->ramp_1[0] > 0.0f && (m->conductivity > 0.0f || m->temperature <= m->ramp_1[0]);
}

/* Pa: modulus of a material that keeps its shape for a second or more; 0 of one that flows, or that
 * a yield stress bounds. */
static inline double oz_solid_modulus(const ooze_material *m) {
  const int sets = oz_sets(m);
  if (m->yield_stress > 0.0f || (m->ramp_1[0] > 0.0f && !sets)) return 0.0;
  return oz_kept_modulus(sets ? m->ramp_1[2] : m->relaxation_time,
                         sets ? m->ramp_1[1] : m->viscosity, m->compliance);
}

/* A paste with a relaxation time, as ketchup. */
static inline int oz_elastic_paste(const ooze_material *m) {
  return m->yield_stress > 0.0f && m->relaxation_time > 0.0f;
}

/* Usual iterations. With fewer, thick streams pull apart, those of elastic pastes first; a paste
 * that stands still for long must be solved well, too. */
static inline uint32_t oz_velocity_usual(int pours, int yields) {
  return pours || yields ? 20 : 10;
}

static inline uint32_t oz_position_usual(int pours, int pours_elastic_paste, int yields) {
  return pours_elastic_paste ? 20 : pours || yields ? 10 : 5;
}

#endif
