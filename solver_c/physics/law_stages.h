/* Stages of the laws of flow (law.h, docs/theory/rheology.md). They run in scenes with a material
 * that asks for one: law_start behind velocity_start, law_update instead of conform_update,
 * flow_rate at the end of the substep. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LAW_STAGES_H
#define OZ_PHYSICS_LAW_STAGES_H

#include "physics/law.h"
#include "physics/projection.h"
#include "physics/strain.h"
#include "physics/wall.h"

/* ---- law_start: velocity_start with the tensor that the law makes of Q. It goes to
 * `carried`, which both projections read in the place of q ---- */

OZ_FN void oz_law_start_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real inv_q = oz_inv_q_ld(f, i), a = oz_ld(f->a, i) / inv_q;
  oz_real q = oz_law_stiffness(f, i, 1.0f / inv_q, &a);
  oz_s3 T = oz_carried(f, i, a), B = oz_six_ld(f->B, f->stride, i), lam;
  oz_mask elastic = oz_solid(f, i);
  oz_mask stretched = elastic & (oz_s3_trace(&T) > oz_set(3.05f));
  if (f->volume_split && oz_any(stretched)) {
    oz_real w[3];
    oz_m3 U;
    oz_s3_eigen(&T, 4, w, &U);
    oz_drawn t = oz_drawn_of(f, i, w, a, oz_drawn_time(f, i, a));
    /* less modulus by the tensor and not by a, from which law_update has the relaxation time */
    oz_s3 less = T;
    oz_real mean = oz_s3_take_mean(&less);
    for (int c = 0; c < 6; c++) less.s[c] = t.kept * less.s[c] + (c < 3 ? mean : oz_set(0.0f));
    T = oz_s3_select(stretched, &less, &T);
    q = oz_select(stretched, q + t.sheet, q);
  }
  if (f->laws & OZ_LAW_SECOND) elastic |= oz_second_share(f, i, a) > oz_set(0.0f);

  /* The stress at the start, as in velocity_start: stiff particles begin with a part of it, those
   * that yield with all of it up to their yield stress. */
  oz_real yield = oz_yield(f, i), zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_real part = oz_min(one, 10.0f * a), unit = oz_set(1.0f / oz_pressure_unit(f));
  oz_s3 dev = oz_stretch(f, &T, 1.0f / a);
  oz_real size = oz_sqrt(0.5f * oz_s3_dot(&dev, &dev)), most = yield * unit;
  oz_real held = oz_select(size > most, most / oz_max(size, oz_set(1e-20f)), one);
  oz_mask yields = yield > zero;
  for (int c = 0; c < 6; c++) dev.s[c] *= oz_select(yields, held, part);
  part = oz_select(yields, one, part);
  oz_real pressure = oz_start_pressure(f, i, part);
  for (int c = 0; c < 6; c++)
    lam.s[c] = oz_select(elastic, (c < 3 ? pressure : zero) - dev.s[c], zero);
  oz_start_from_kept(f, i, &T, a, &lam);
  oz_lam_st(f, i, &lam);
  oz_send(f, i, &lam, &B);
  oz_planes6_st(f->carried, f->stride, i, &T);
  oz_st(f->a, i, a / q);
  oz_st(oz_inv_q(f, i), 0, 1.0f / q);
}

/* ---- law_update: conform_update with the laws ---- */

OZ_SUM_OUTER(law_update, y)

/* The second mode's tensor, which is stored without the identity. */
OZ_FN void oz_second_update(const oz_frame *f, uint32_t i, const oz_m3 *R, const oz_m3 *S) {
  oz_s3 Q = oz_planes6_ld(f->second_stretch, f->stride, i), one = oz_s3_identity();
  for (int c = 0; c < 3; c++) Q.s[c] += 1.0f;
  Q = oz_s3_rotate(&Q, R);
  Q = oz_conformation_step(&Q, S, oz_of_matter(f, i, &f->matter->second_relaxation_time), f->dt);
  Q = oz_conformation_clamp(&Q);
  Q = oz_s3_select(oz_enough(f, i), &Q, &one);
  for (int c = 0; c < 3; c++) Q.s[c] -= 1.0f;
  oz_planes6_st(f->second_stretch, f->stride, i, &Q);
}

OZ_FN void oz_law_update_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 R, S, F;
  oz_q4 rot;
  oz_turned_own own;
  oz_turned_take(f, i, &own);
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), one = oz_s3_identity();
  oz_real zero = oz_set(0.0f), a = oz_ld(f->a, i) / oz_inv_q_ld(f, i);
  oz_corotate(f, i, acc, &own, &rot, &R, &F, &S);

  oz_real most = oz_set(20.0f), stiffening = oz_set(1.0f), least = oz_set(0.05f);
  oz_mask extends = zero > zero;
  if (f->laws & OZ_LAW_EXTENDS) {
    oz_real square;
    extends = oz_extends(f, i, &square);
    stiffening = oz_select(extends, oz_stiffening(oz_s3_trace(&Q), square), stiffening);
    most = oz_select(extends, square, most);
    least = oz_select(extends, oz_set(OZ_LEAST_STRETCH), least);
  }
  oz_real tau = oz_law_time(f, i, a, stiffening);

  Q = oz_s3_rotate(&Q, &R);
  oz_s3 Q0 = Q;
  Q = oz_conformation_step(&Q0, &S, tau, f->dt);
  if (f->laws & OZ_LAW_EXTENDS) {
    oz_s3 bounded = oz_extended(&Q, tau, most, f->dt);
    Q = oz_s3_select(extends, &bounded, &Q);
  }
  if (f->has_yield) { /* strain at the yield stress: yield times compliance */
    oz_real yield = oz_yield(f, i), strain = yield * oz_compliance_unit(f) * a, kept;
    if (f->laws & OZ_LAW_RATE)
      strain = oz_select(oz_thins(f, i), yield * oz_spring_compliance(f, i), strain);
    oz_s3 Y = oz_yield_step(&Q0, &S, tau, strain, f->dt, &kept);
    Q = oz_s3_select(yield > zero, &Y, &Q);
    oz_slip_turn(f, i, &R, kept);
  }
  Q = oz_stress_kept(f, i, &Q, a);
  Q = oz_conformation_within(&Q, least, most);
  Q = oz_s3_select(oz_enough(f, i), &Q, &one);
  oz_planes6_st(f->q, f->stride, i, &Q);
  if (f->laws & OZ_LAW_SECOND) oz_second_update(f, i, &R, &S);
  oz_substep_strain_st(f, i, &S);
}

/* ---- flow_rate: rate of shear of the velocities that the substep leaves, sqrt(2 D : D), D the
 * deviator of their rate of strain ---- */

OZ_SUM_OUTER(flow_rate, u)

OZ_FN void oz_flow_rate_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_v3 u = oz_vec_ld(f->u, i);
  oz_s3 B = oz_six_ld(f->B, f->stride, i);
  oz_m3 M = oz_difference(acc, u, oz_block3_ld(f->gradient_sum, f->stride, i)), L;
  L = oz_points_gradient(f, i, &M, &B, u, 1.0f);
  oz_row_strain(f, i, u, 1.0f, &L);
  oz_s3 e = oz_m3_deviator(&L);
  oz_real rate = f->inv_d * oz_sqrt(2.0f * oz_s3_dot(&e, &e));
  oz_mask good = oz_enough(f, i) & (rate < oz_set(1e9f));
  oz_st(f->flow_rate, i, oz_select(good, rate, oz_set(0.0f)));
  if (f->has_yield) {
    oz_real most = oz_set(1e3f), law = oz_max(oz_viscosity_at(f, i, rate), oz_set(1e-20f));
    oz_real held = oz_min(oz_yield_viscosity(f, i, rate) / law, most);
    oz_st(f->flow_held, i, oz_select(good, held, most));
  }
}

/* ---- flow_rate_wall: the rate that the law takes in the layer next to a wall ----
 *
 * A wall that is in the strain of its first layer (wall_row.h) pulls with that layer's own stress,
 * which so is the stress at the wall. The layer's rate r is one further inside: between u / s, the
 * rate at s / 2, and the gradient of its neighbours, at s + d / 2. Extrapolated to the wall, by
 * half of their difference, they give r_w. Half: the forces of one layer balance with half the
 * difference of the first two layers' stresses, so that it is twice that of the fluid. A power law
 * of the index n has the wall's stress, k r_w^n, at the rate r with the viscosity of the rate r
 * (r_w / r)^(n / (n - 1)). The viscous part of a yield stress, flow_held times that of the law,
 * follows the rate too: the power that gives the sum is n / (n - 1 - flow_held). */

#define OZ_WALL_STEEPEST 1.5f /* greatest r_w / r */
#define OZ_WALL_POWER 3.0f    /* greatest power; an index near 1 hardly depends on the rate */
OZ_FN float oz_rate_at_wall(const oz_frame *f, const oz_wall_row *row, size_t i, float rate) {
  const float share = sqrtf(oz_dot3f(row->w, row->w)), b = row->b, pull = share * b,
              index = f->matter[oz_matter_of(f, (uint32_t)i)].flow_index;
  if (!(rate > 0.0f) || !(share > 0.0f && share < 0.95f) || index == 1.0f) return rate;
  const float n[3] = {row->w[0] / share, row->w[1] / share, row->w[2] / share}, *u = f->u + 4 * i,
              t[3] = {b * u[0] - row->goal[0], b * u[1] - row->goal[1], b * u[2] - row->goal[2]},
              tn = oz_dot3f(t, n),
              slope = f->inv_d * sqrtf(oz_maxf(oz_dot3f(t, t) - tn * tn, 0.0f)),
              beyond = (rate - share * slope) / (1.0f - share),
              wall = slope + (slope - beyond) / (1.0f + b);
  const float steep = oz_minf(OZ_WALL_STEEPEST, oz_maxf(1.0f, 0.5f + 0.5f * wall / rate));
  /* a film is dragged as a whole, and walls that slip pull less */
  const float deep = oz_maxf(0.0f, oz_minf(pull, 1.0f) - 4.0f * oz_maxf(pull - 1.0f, 0.0f));
  const float held = f->has_yield ? f->flow_held[i] : 0.0f;
  const float power = oz_minf(OZ_WALL_POWER, index / (fabsf(index - 1.0f) + held));
  return rate * powf(steep, deep * (index < 1.0f ? -power : power));
}

/* Where a wall is not in the strain, the particle's gradient is that of the fluid beyond it, about
 * 1.2 d from the wall, and the mean rate towards the wall is that of the fluid between the two, a
 * quarter of d from it; the particle's own, at half of d, lies between them. */
#define OZ_WALL_RATE 0.75f /* share of the rate towards the wall */
OZ_FN void oz_flow_rate_wall_item(const oz_frame *f, uint32_t contact) {
  const size_t i = f->wall_particle[contact];
  float rate = f->flow_rate[i], most = 0.0f, share = 0.0f;
  if (f->contact_of && f->wall_row[contact].b > 0.0f) {
    rate = oz_rate_at_wall(f, f->wall_row + contact, i, rate);
    if (rate < 1e9f) f->flow_rate[i] = rate;
    return;
  }
  for (uint32_t m = 0; m < f->wall_planes[contact]; m++) {
    const oz_wall *w = f->wall + (size_t)contact * f->contact_planes + m;
    const float *u = f->u + 4 * i, s = oz_wall_start(f, w);
    if (!(w->friction > 0.0f) || !(s < OZ_WALL_SHEAR * f->d)) continue;
    const float rel[3] = {u[0] - w->u[0], u[1] - w->u[1], u[2] - w->u[2]},
                along = oz_dot3f(rel, w->n),
                slides = sqrtf(oz_maxf(oz_dot3f(rel, rel) - along * along, 0.0f)) /
                         oz_maxf(s, 0.25f * f->d);
    if (slides >= most) most = slides, share = OZ_WALL_RATE * w->friction;
  }
  rate += share * (most - rate);
  if (rate < 1e9f) f->flow_rate[i] = rate;
}

/* ---- flow_rate_keep: the rate that the material remembers, a mean over time. With the rate of one
 * substep a gap in a thread that is drawn grows thin and the clumps beside it stiff, until it parts
 * (docs/theory/rheology.md, memory of the rate). A rise is followed sooner: flow from rest is not
 * to wait ---- */

#define OZ_RATE_RISES 0.04f /* s */
#define OZ_RATE_FALLS 0.1f  /* s */

OZ_FN void oz_flow_rate_keep_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real now = oz_ld(f->flow_rate, i), kept = oz_ld(f->shear_rate, i);
  oz_real time = oz_select(now > kept, oz_set(OZ_RATE_RISES), oz_set(OZ_RATE_FALLS));
  oz_st(f->shear_rate, i, kept + (now - kept) * (f->dt / (time + f->dt)));
}
#endif
