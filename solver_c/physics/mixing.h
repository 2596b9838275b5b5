/* Mixing: the properties of fluids (density, viscosity, relaxation time and compliance) diffuse
 * between particles by Fick's law (docs/theory/heat.md), each with the rate `mixing` (m^2/s) of the
 * material; between two materials with the harmonic mean, so that a material with 0 does not mix.
 * The exchange is that of heat (heat.h): equal parts between two particles of equal volume, so that
 * the sum of each value, and with density the mass, is kept. Particles of bodies and of walls take
 * no part.
 *
 * Working memory, free at the end of a substep: dx holds the four values, y2 (rate, weight phi).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_MIXING_H
#define OZ_PHYSICS_MIXING_H

#include "physics/stage_parts.h"

/* ---- mix_begin: current values, and the weights of the exchange (as in heat_begin) ---- */

OZ_SELF_NONE(mix_begin)

OZ_FN void oz_mix_begin_pair(const oz_frame *f, const oz_mix_begin_self *s, const oz_group *n,
                             oz_real *acc) {
  (void)s;
  acc[0] += n->c;
  acc[1] += oz_dot(n->g, n->g) * (f->zero_energy_arm * f->zero_energy_arm * f->inv_d * f->inv_d) /
            oz_max(n->c, oz_set(1e-6f));
}

OZ_FN void oz_mix_begin_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real tiny = oz_set(1e-6f), two = oz_set(2.0f), zero = oz_set(0.0f);
  oz_real phi = oz_min(two, oz_min(f->heat_moment / oz_max(acc[1], tiny),
                                   2.0f * f->heat_sum / oz_max(acc[0], tiny)));
  oz_real rate = oz_select(oz_fluid(f, i), oz_of_matter(f, i, &f->matter->mixing), zero);
  oz_v3 v = {oz_density(f, i), oz_viscosity(f, i), oz_given_relaxation_time(f, i)},
        w = {rate, phi, zero};
  oz_vec_st(f->dx, i, v, oz_compliance(f, i));
  oz_vec_st(f->y2, i, w, zero);
}

/* ---- mix_flow: one explicit exchange; mix_weight is its share of dt / d^2 ---- */

typedef struct {
  float v[4], rate, phi;
} oz_mix_flow_self;

OZ_FN void oz_mix_flow_begin(const oz_frame *f, uint32_t i, oz_mix_flow_self *s) {
  for (size_t k = 0; k < 4; k++) s->v[k] = f->dx[4 * (size_t)i + k];
  s->rate = f->y2[4 * (size_t)i], s->phi = f->y2[4 * (size_t)i + 1];
}

OZ_FN void oz_mix_flow_pair(const oz_frame *f, const oz_mix_flow_self *s, const oz_group *n,
                            oz_real *acc) {
  oz_real v[4], w[4];
  oz_near4(f->dx, n, v);
  oz_near4(f->y2, n, w);
  oz_real k = 2.0f * s->rate * w[0] / oz_max(s->rate + w[0], oz_set(1e-20f));
  k = n->c * k * oz_min(w[1], oz_set(s->phi));
  for (int c = 0; c < 4; c++) acc[c] += k * (v[c] - s->v[c]);
}

OZ_FN void oz_mix_flow_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real v[4];
  oz_ld4(f->dx, i, 4, 0, v);
  for (int c = 0; c < 4; c++) v[c] += f->mix_weight * acc[c];
  oz_st(f->density, i, v[0]);
  oz_st(f->viscosity, i, v[1]);
  oz_st(f->relaxation_time, i, v[2]);
  oz_st(f->compliance, i, v[3]);
}
#endif
