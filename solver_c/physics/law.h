/* Laws of flow beyond a constant viscosity and one relaxation time (docs/theory/rheology.md): a
 * solvent (Oldroyd-B), viscosity by the rate of shear (Carreau 1972; Yasuda 1979; Herschel and
 * Bulkley 1926), finite extensibility (FENE-P: Bird, Dotson and Johnson 1980), a second mode.
 *
 * All of them keep the constraint C = dev T / q + 2 dt sym L with compliance a / q. A law gives the
 * tensor T that the material carries, in units of its compliance a, and q, the stiffness of the
 * implicit step over 1 / a. Where no material asks for a law, f->laws is 0 and T is Q.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LAW_H
#define OZ_PHYSICS_LAW_H

#include "physics/pairs.h"

#define OZ_RATE_LEAST 1e-3f     /* 1/s: a power law has no greater viscosity than at this rate */
#define OZ_EXTENDED 0.98f       /* of the greatest trace, that Q may have */
#define OZ_LEAST_STRETCH 1e-3f  /* least eigenvalue of Q where stretch is not cut off */
#define OZ_SECOND_STIFFEST 8.0f /* 1 / a of the second mode; a stiffer one bursts */

/* Lanes of thick fluids whose memory is the least one: they keep the stress that a substep ends
 * with. Laws of flow keep more than one tensor can tell. */
OZ_FN oz_mask oz_keeps_stress(const oz_frame *f, uint32_t i) {
  const oz_real least = oz_set(OZ_LEAST_MEMORY), zero = oz_set(0.0f);
  const oz_matter *m = f->matter;
  oz_mask keeps =
      oz_not(oz_given_relaxation_time(f, i) > least) & oz_not(oz_relaxation_time(f, i) < least);
  if (f->has_yield) keeps &= oz_not(oz_yield(f, i) > zero);
  if (f->laws & OZ_LAW_RATE) keeps &= oz_not(oz_thins(f, i));
  if (f->laws & OZ_LAW_EXTENDS) keeps &= oz_not(oz_of_matter(f, i, &m->extensibility) > zero);
  if (f->laws & OZ_LAW_SECOND)
    keeps &= oz_not(oz_of_matter(f, i, &m->second_relaxation_time) > zero);
  return keeps;
}

/* Pa s: viscosity to which the relaxation time belongs. A power law without an upper bound has that
 * of a rate of 1/s. */
OZ_FN oz_real oz_rest_viscosity(const oz_frame *f, uint32_t i) {
  oz_real mu = oz_viscosity(f, i), zero = oz_set(0.0f);
  if (f->laws & OZ_LAW_RATE)
    mu = oz_select(mu > zero, mu, oz_of_matter(f, i, &f->matter->consistency));
  return mu;
}

/* Pa s: solvent that is added to the viscosity, because nothing relaxes or because the material
 * yields; and solvent that stands beside it. */
OZ_FN oz_real oz_added_solvent(const oz_frame *f, uint32_t i, int beside) {
  oz_real zero = oz_set(0.0f);
  oz_mask apart =
      (oz_relaxation_time(f, i) > oz_set(OZ_LEAST_MEMORY)) & oz_not(oz_yield(f, i) > zero);
  oz_real solvent = oz_solvent_viscosity(f, i);
  return beside ? oz_select(apart, solvent, zero) : oz_select(apart, zero, solvent);
}

/* Pa s: viscosity at a rate of shear. */
OZ_FN oz_real oz_viscosity_at(const oz_frame *f, uint32_t i, oz_real rate) {
  oz_real mu = oz_viscosity(f, i), zero = oz_set(0.0f), one = oz_set(1.0f);
  const oz_matter *m = f->matter;
  oz_real n = oz_of_matter(f, i, &m->flow_index), time = oz_of_matter(f, i, &m->thinning_time),
          sharp = oz_of_matter(f, i, &m->thinning_sharpness),
          least = oz_of_matter(f, i, &m->thinned_viscosity),
          k = oz_of_matter(f, i, &m->consistency);
  oz_mask carreau = (time > zero) & (mu > zero), power = k > zero;
  if (oz_any(carreau)) {
    oz_real by = oz_pow(one + oz_pow(time * rate, sharp), (n - one) / oz_max(sharp, oz_set(0.1f)));
    mu = oz_select(carreau, least + (mu - least) * by, mu);
  }
  if (oz_any(power)) {
    oz_real law = k * oz_pow(oz_max(rate, oz_set(OZ_RATE_LEAST)), n - one);
    mu = oz_select(power, oz_select(mu > zero, oz_min(law, mu), law), mu);
  }
  return mu;
}

/* Pa s: viscous part of the yield stress of a paste that thins (oz_yield_share). */
OZ_FN oz_real oz_yield_viscosity(const oz_frame *f, uint32_t i, oz_real rate) {
  oz_real zero = oz_set(0.0f);
  if (!f->has_yield) return zero;
  oz_real yield = oz_of_matter(f, i, &f->matter->yield_stress);
  return oz_select(oz_thins(f, i), yield, zero) / (rate + OZ_YIELD_RATE);
}

/* Pa s: viscosity at the rate of shear that is remembered (flow_rate_keep). */
OZ_FN oz_real oz_flow_viscosity(const oz_frame *f, uint32_t i) {
  oz_real mu = oz_viscosity(f, i), zero = oz_set(0.0f);
  if (f->laws & OZ_LAW_RATE) {
    oz_real rate = oz_ld_or_none(f->shear_rate, i);
    mu = oz_viscosity_at(f, i, rate) + oz_yield_viscosity(f, i, rate);
  }
  if (f->laws & OZ_LAW_SOLVENT) mu = oz_select(mu > zero, mu + oz_added_solvent(f, i, 0), mu);
  return mu;
}

/* 1/Pa: compliance of the spring where viscosity depends on the rate. The modulus stays (White and
 * Metzner 1963), the relaxation time goes with the viscosity. A paste without a relaxation time has
 * that of a substep. */
OZ_FN oz_real oz_spring_compliance(const oz_frame *f, uint32_t i) {
  oz_real tau = oz_relaxation_time(f, i);
  if (f->has_yield) tau = oz_select(oz_yield(f, i) > oz_set(0.0f), oz_max(tau, oz_set(f->dt)), tau);
  return tau / oz_max(oz_rest_viscosity(f, i), oz_set(1e-12f));
}

/* 1/Pa: compliance of the substep, (tau + dt) / mu, with tau in proportion to mu where that depends
 * on the rate. */
OZ_FN oz_real oz_law_compliance(const oz_frame *f, uint32_t i) {
  oz_real tau = oz_relaxation_time(f, i), mu = oz_flow_viscosity(f, i), zero = oz_set(0.0f);
  oz_real held = (tau + f->dt) / oz_max(mu, oz_set(1e-12f));
  if (f->laws & OZ_LAW_RATE)
    held = oz_select(oz_thins(f, i),
                     oz_spring_compliance(f, i) + f->dt / oz_max(mu, oz_set(1e-12f)), held);
  return oz_select(mu > zero, held, oz_compliance(f, i));
}

/* A compliance in 1/Pa for 1 of a. */
OZ_FN float oz_compliance_unit(const oz_frame *f) {
  return f->V0 * f->dt * f->dt / (f->m_ref * f->d * f->d);
}

/* Lanes with finite extensibility, and its square. Pastes do not stretch so far. */
OZ_FN oz_mask oz_extends(const oz_frame *f, uint32_t i, oz_real *most) {
  oz_real l = oz_of_matter(f, i, &f->matter->extensibility), zero = oz_set(0.0f);
  *most = oz_max(l * l, oz_set(4.0f));
  return (l > zero) & (oz_relaxation_time(f, i) > zero) & oz_not(oz_yield(f, i) > zero);
}

/* FENE-P: factor of Q in the stress, 1 at rest. */
OZ_FN oz_real oz_stiffening(oz_real trace, oz_real most) {
  return (most - 3.0f) / (most - oz_min(trace, OZ_EXTENDED * most));
}

/* Stiffness of the second mode over that of the first; a: compliance of the first, pure number. No
 * more of it is used than a substep bears. */
OZ_FN oz_real oz_second_share(const oz_frame *f, uint32_t i, oz_real a) {
  const oz_matter *m = f->matter;
  oz_real tau = oz_of_matter(f, i, &m->second_relaxation_time),
          mu = oz_of_matter(f, i, &m->second_viscosity), zero = oz_set(0.0f);
  oz_real share = oz_min(oz_compliance_unit(f) * mu / (tau + f->dt), oz_set(OZ_SECOND_STIFFEST));
  return oz_select((tau > zero) & oz_enough(f, i), a * share, zero);
}

/* The tensor that the material carries: its stress is dev T / a. a: compliance without q. */
OZ_FN oz_s3 oz_carried(const oz_frame *f, uint32_t i, oz_real a) {
  oz_s3 T = oz_planes6_ld(f->q, f->stride, i);
  if (!f->laws) return T;
  oz_real one = oz_set(1.0f), zero = oz_set(0.0f), k = one;
  if (f->laws & OZ_LAW_EXTENDS) {
    oz_real most;
    oz_mask on = oz_extends(f, i, &most);
    k = oz_select(on, oz_stiffening(oz_s3_trace(&T), most), one);
  }
  /* A paste with a viscosity by rate: only its stress beyond the yield stress decays in the
   * substep, to spring / a of it. */
  if ((f->laws & OZ_LAW_RATE) && f->has_yield) {
    oz_real spring = oz_spring_compliance(f, i), yield = oz_yield(f, i);
    oz_s3 dev = T;
    oz_real mean = oz_s3_trace(&T) * (1.0f / 3.0f);
    for (int c = 0; c < 3; c++) dev.s[c] -= mean;
    oz_real size = oz_sqrt(0.5f * oz_s3_dot(&dev, &dev));
    oz_real decay = a * oz_compliance_unit(f) / oz_max(spring, oz_set(1e-30f)) - 1.0f;
    oz_real held = oz_min(yield * spring / oz_max(size, oz_set(1e-20f)), one);
    oz_mask on = (yield > zero) & oz_thins(f, i) & (decay > zero);
    k = oz_select(on, one + decay * held, k);
  }
  for (int c = 0; c < 6; c++) T.s[c] *= k;
  if (f->laws & OZ_LAW_SECOND) {
    oz_real share = oz_second_share(f, i, a);
    oz_s3 second = oz_planes6_ld(f->second_stretch, f->stride, i);
    for (int c = 0; c < 6; c++) T.s[c] += share * second.s[c];
  }
  return T;
}

/* Weight of the substep's own strain in its stress, beside the stress of its start. With 1,
 * implicit Euler, elastic waves are damped by the substep; with 1/2, the midpoint, they are not.
 * Material that is stiff for a substep, a small, has 1, which is stable; soft material comes near
 * 1/2. Solids and laws that thin, stiffen or have two modes stay with 1. */
#define OZ_END_LEAST 0.5f
OZ_FN oz_real oz_end_weight(const oz_frame *f, uint32_t i, oz_real a) {
  const oz_matter *m = f->matter;
  oz_real tau = oz_relaxation_time(f, i), zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_mask on = (tau > oz_set(OZ_BRIEF_TIME)) & (tau < oz_set(OZ_SOLID_TIME)) & oz_enough(f, i);
  if (f->has_yield) on &= oz_not(oz_yield(f, i) > zero);
  if (f->laws & OZ_LAW_RATE) on &= oz_not(oz_thins(f, i));
  if (f->laws & OZ_LAW_EXTENDS) on &= oz_not(oz_of_matter(f, i, &m->extensibility) > zero);
  if (f->laws & OZ_LAW_SECOND) on &= oz_not(oz_of_matter(f, i, &m->second_relaxation_time) > zero);
  return oz_select(on, one - (1.0f - OZ_END_LEAST) * a / (a + one), one);
}

/* Compliance by that weight over that of implicit Euler: stress then relaxes for as long, and
 * steady flow has the viscosity that it had. */
OZ_FN oz_real oz_end_time(const oz_frame *f, uint32_t i, oz_real weight) {
  oz_real tau = oz_relaxation_time(f, i);
  return (tau + weight * f->dt) / (tau + f->dt);
}

/* q and a of a law, from q of the stretch: stiffening threads, the solvent and the second mode add
 * to the stiffness of the implicit step.
 *
 * The stress at the end of the step is that of k F Q F^T, whose first order in dt is k (D Q + Q D):
 * in shear, 2 D times the mean of the two eigenvalues of its plane, so that q is k (1 + largest) /
 * 2. Material that is stiff for a substep, 1 / a large, has the stiffness of its stiffest direction
 * instead, which is stable. */
OZ_FN oz_real oz_law_stiffness(const oz_frame *f, uint32_t i, oz_real q, oz_real *a) {
  oz_real k = oz_set(1.0f), direct = q;
  if (f->laws & OZ_LAW_EXTENDS) {
    oz_s3 Q = oz_planes6_ld(f->q, f->stride, i);
    oz_real most, trace = oz_s3_trace(&Q), tau = oz_relaxation_time(f, i);
    oz_mask on = oz_extends(f, i, &most);
    oz_real bound = oz_min(trace, OZ_EXTENDED * most), steep = most / (most - bound);
    k = oz_select(on, oz_stiffening(trace, most), k);
    direct = q * k;
    q = oz_select(on, direct * steep, q);
    /* the dashpot's part of the compliance is less stiff by k */
    oz_real spring = *a * tau / (tau + f->dt);
    if (f->laws & OZ_LAW_RATE)
      spring =
          oz_select(oz_thins(f, i), oz_spring_compliance(f, i) / oz_compliance_unit(f), spring);
    *a = oz_select(on, spring + k * oz_max(*a - spring, oz_set(0.0f)), *a);
  }
  oz_real flows = 0.5f * (k + direct);
  q = flows + oz_max(q - flows, oz_set(0.0f)) / (1.0f + *a);
  oz_real weight = oz_end_weight(f, i, *a);
  q *= weight, *a *= oz_end_time(f, i, weight);
  if (f->laws & OZ_LAW_SOLVENT)
    q += oz_added_solvent(f, i, 1) * *a * (oz_compliance_unit(f) * f->inv_dt);
  if (f->laws & OZ_LAW_SECOND) {
    oz_s3 second = oz_planes6_ld(f->second_stretch, f->stride, i);
    oz_real share = oz_second_share(f, i, *a), more = oz_max(oz_s3_trace(&second), oz_set(0.0f));
    /* stiff for a substep is what both modes are together */
    oz_real both = 1.0f + share;
    q += share * (1.0f + 0.5f * more * (1.0f + both / (both + *a)));
  }
  return q;
}

/* s: relaxation time of the substep; a: compliance without q. With finite extensibility a holds the
 * stiffening of its start, `stiffening`. */
OZ_FN oz_real oz_law_time(const oz_frame *f, uint32_t i, oz_real a, oz_real stiffening) {
  oz_real tau = oz_relaxation_time(f, i);
  if (!(f->laws & OZ_LAW_RATE)) return tau;
  oz_real spring = oz_spring_compliance(f, i);
  oz_real decay = (a * oz_compliance_unit(f) / oz_max(spring, oz_set(1e-30f)) - 1.0f) / stiffening;
  return oz_select(oz_thins(f, i) & (spring > oz_set(0.0f)), f->dt / oz_max(decay, oz_set(1e-9f)),
                   tau);
}

/* FENE-P, the relaxation of a substep: from Q' = (F Q F^T + f I) / (1 + f) to the one that relaxes
 * by the stiffening of its own end, (F Q F^T + f I) / (1 + f k(trace)): a square root, always below
 * the greatest trace. f = dt / tau. */
OZ_FN oz_s3 oz_extended(const oz_s3 *q, oz_real tau, oz_real most, float dt) {
  oz_real fr = dt / oz_max(tau, oz_set(1e-20f)), sum = oz_s3_trace(q) * (1.0f + fr);
  oz_real b = most + fr * (most - 3.0f) + sum;
  oz_real root = oz_sqrt(oz_max(b * b - 4.0f * sum * most, oz_set(0.0f)));
  oz_real trace = 2.0f * sum * most / (b + root); /* the lesser root, without cancellation */
  oz_real k = oz_min(trace, OZ_EXTENDED * most) / sum * (1.0f + fr);
  oz_s3 r;
  for (int c = 0; c < 6; c++) r.s[c] = q->s[c] * k;
  return r;
}
#endif
