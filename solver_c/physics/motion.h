/* The beginning and the end of a substep. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_MOTION_H
#define OZ_PHYSICS_MOTION_H

#include "physics/law.h"

#define OZ_PRESSURE_RATE 0.3f

/* Lanes of particles that a nozzle holds, or that belong to a boundary. */
OZ_FN oz_mask oz_held(const oz_frame *f, uint32_t i) {
  return (oz_words(f->source, i) != 0) | oz_at_boundary(f, i);
}

/* material: compliance and inverse mass as pure numbers (alpha = (tau + dt) / mu for materials in
 * SI). */
OZ_FN void oz_material_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real tau = oz_relaxation_time(f, i), mu = oz_viscosity(f, i), zero = oz_set(0.0f);
  oz_real alpha =
      oz_select(mu > zero, (tau + f->dt) / oz_max(mu, oz_set(1e-12f)), oz_compliance(f, i));
  if (f->laws) alpha = oz_law_compliance(f, i);
  oz_real a = alpha * (f->m_ref * f->d * f->d / (f->V0 * f->dt * f->dt));
  /* Floors (docs/theory/conformation.md): singular rows stay bounded, and elastic stiffness per
   * step stays below about 500; viscosity of what soon forgets is not elastic. */
  a = oz_max(a, oz_set(f->a_min));
  oz_mask yields = oz_yield(f, i) > zero;
  oz_real remembers =
      oz_select(yields, oz_set(1.0f), oz_min(tau * (1.0f / OZ_ELASTIC_TIME), oz_set(1.0f)));
  a = oz_select(((tau > zero) | yields) & (oz_set((float)f->volume_split) > oz_set(0.5f)),
                oz_max(a, f->a_elastic * remembers), a);
  /* a larger compliance has no effect, and its square must stay a float */
  a = oz_min(a, oz_set(1e8f));
  oz_real om = oz_select(oz_held(f, i), zero, 1000.0f / oz_density(f, i));
  oz_v3 x = oz_vec_ld(f->x, i); /* all loads come before the first store: a GPU waits for memory
                                 * once */
  oz_st(f->a, i, a);
  oz_st(f->omega, i, om);
  oz_vec_st(f->x, i, x, om);
}

/* predict: forces onto velocities. A non-finite particle would soon spoil its neighbours: it takes
 * part in this substep at rest and unstretched, and u.w = 1 makes `finish` reset and count it. */
OZ_FN void oz_predict_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real u[4];
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 force = oz_force(f, i);
  oz_mask free = oz_ld(f->omega, i) > oz_set(0.0f);
  u[0] = oz_select(free, u[0] + f->dt * (f->gravity[0] + force.x), u[0]);
  u[1] = oz_select(free, u[1] + f->dt * (f->gravity[1] + force.y), u[1]);
  u[2] = oz_select(free, u[2] + f->dt * (f->gravity[2] + force.z), u[2]);
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), rest = oz_s3_identity();
  oz_real stretch = oz_set(0.0f), zero = oz_set(0.0f);
  for (int c = 0; c < 6; c++) stretch += oz_abs(Q.s[c]);
  /* the interface accepts tensors up to 1e6 */
  oz_mask good =
      (oz_abs(u[0]) + oz_abs(u[1]) + oz_abs(u[2]) < oz_set(OZ_SANE_MOVE * f->d * f->inv_dt)) &
      (stretch < oz_set(1e7f));
  if (oz_any(oz_not(good))) {
    Q = oz_s3_select(good, &Q, &rest);
    oz_planes6_st(f->q, f->stride, i, &Q);
  }
  for (int c = 0; c < 3; c++) u[c] = oz_select(good, u[c], zero);
  u[3] = oz_select(good, zero, oz_set(1.0f));
  oz_st4(f->u, i, 4, 0, u);
  oz_v3 x = oz_vec_ld(f->x, i), p = {x.x + f->dt * u[0], x.y + f->dt * u[1], x.z + f->dt * u[2]};
  oz_vec_st(f->p, i, p, oz_weight(f, i));
}

/* advance: displacement by the projected velocity. In parts, because the loads need not wait for
 * that velocity. */
typedef struct {
  oz_v3 x;
  oz_real y[4];
} oz_advance_own;

OZ_FN void oz_advance_take(const oz_frame *f, uint32_t i, oz_advance_own *o) {
  o->x = oz_vec_ld(f->x, i);
  oz_ld4(f->y, i, 4, 0, o->y);
}

OZ_FN void oz_advance_by(const oz_frame *f, uint32_t i, oz_real u[4], oz_real y[4]) {
  oz_real one = oz_set(1.0f), zero = oz_set(0.0f);
  oz_mask good =
      oz_abs(u[0]) + oz_abs(u[1]) + oz_abs(u[2]) < oz_set(OZ_SANE_MOVE * f->d * f->inv_dt);
  if (oz_any(oz_not(good))) { /* as in predict */
    for (int c = 0; c < 3; c++) u[c] = oz_select(good, u[c], zero);
    u[3] = oz_select(good, u[3], one);
    oz_st4(f->u, i, 4, 0, u);
  }
  for (int c = 0; c < 3; c++) y[c] = f->dt * u[c];
}

OZ_FN void oz_advance_to(const oz_frame *f, uint32_t i, const oz_advance_own *o) {
  oz_st4(f->y, i, 4, 0, o->y);
  oz_v3 p = {o->x.x + o->y[0], o->x.y + o->y[1], o->x.z + o->y[2]};
  oz_vec_st(f->p, i, p, oz_weight(f, i));
}

/* start values of the position phase */
OZ_FN void oz_advance_begin(const oz_frame *f, uint32_t i) {
  oz_real one = oz_set(1.0f), zero = oz_set(0.0f);
  oz_q4 rest = {zero, zero, zero, one};
  oz_turn_st(f->rotation, f->stride, i, rest);
  oz_v3 none = {zero, zero, zero};
  oz_vec_st(f->wall_term, i, none, zero);
}

OZ_FN void oz_advance_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_advance_own own;
  oz_real u[4];
  oz_ld4(f->u, i, 4, 0, u);
  oz_advance_take(f, i, &own);
  oz_advance_by(f, i, u, own.y);
  oz_advance_to(f, i, &own);
  oz_advance_begin(f, i);
}

#define OZ_MOST_PRESSURE 1e9f /* Pa, of attribute densitypressure */

/* Velocity from the displacement y; a held particle keeps u; at most max_speed. */
OZ_FN oz_v3 oz_substep_velocity(const oz_frame *f, const oz_real *y, const oz_real *u,
                                oz_mask free) {
  oz_v3 v = {y[0] * f->inv_dt, y[1] * f->inv_dt, y[2] * f->inv_dt};
  v.x = oz_select(free, v.x, u[0]);
  v.y = oz_select(free, v.y, u[1]);
  v.z = oz_select(free, v.z, u[2]);
  if (f->max_speed > 0.0f) {
    oz_real s = oz_sqrt(oz_dot(v, v)),
            k = oz_select(s > oz_set(f->max_speed), f->max_speed / oz_max(s, oz_set(1e-20f)),
                          oz_set(1.0f));
    v.x *= k;
    v.y *= k;
    v.z *= k;
  }
  return v;
}

/* finish: velocity from displacement (last line of Algorithm 2), new position, weight in the rest
 * filter. A non-finite particle is put back to its start position, at rest and unstretched, and
 * counted; it gets u.w below 0. red: number of reset particles. */
OZ_FN void oz_finish_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_real x[4], y[4], u[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_ld4(f->x, i, 4, 0, x);
  oz_ld4(f->y, i, 4, 0, y);
  oz_ld4(f->u, i, 4, 0, u);
  oz_real om = oz_ld(f->omega, i), shift[4] = {zero, zero, zero, zero};
  if (f->shifting > 0.0f) oz_ld4(f->dx, i, 4, 0, shift);
  /* Weight in the filter: 0 for thin sheets and spray; a value below 0 counts as 0. (All loads come
   * before the first store.) */
  const oz_real g = oz_select(oz_thick(f, i), oz_filter_weight(f, i), zero);
  oz_mask free = om > zero, crowd = oz_crowded(f, i);
  /* a pile of particles parts by at most a quarter of a separation a substep */
  if (oz_any(crowd)) {
    oz_v3 move = {y[0], y[1], y[2]};
    oz_real far = oz_dot(move, move), most = oz_set(0.25f * f->d);
    oz_real k =
        oz_select(crowd & (far > most * most), most * oz_rsqrt(oz_max(far, most * most)), one);
    for (int c = 0; c < 3; c++) y[c] *= k;
  }
  oz_v3 v = oz_substep_velocity(f, y, u, free);
  /* more than OZ_SANE_MOVE separations in a substep, or a non-finite value, is no motion */
  oz_real size = oz_abs(v.x) + oz_abs(v.y) + oz_abs(v.z);
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), rest = oz_s3_identity();
  oz_s3 lam = oz_lam_told(f, i);
  oz_real stretch = zero, load = zero;
  for (int c = 0; c < 6; c++) stretch += oz_abs(Q.s[c]), load += oz_abs(lam.s[c]);
  oz_mask good = (size < oz_set(OZ_SANE_MOVE * f->d * f->inv_dt)) & (stretch < oz_set(1e4f)) &
                 (load < oz_set(1e30f)) & (u[3] < oz_set(0.5f));
  red[0] = oz_select(good, zero, one);
  /* Start value of the next substep's multipliers: the lasting part of the pressure. Impacts are
   * averaged out. */
  if (f->has_relaxation_time) {
    oz_real now = oz_s3_trace(&lam) * (oz_pressure_unit(f) / 3.0f), was = oz_ld(f->pressure, i);
    oz_st(f->pressure, i,
          oz_select(oz_solid(f, i) & free & good, was + OZ_PRESSURE_RATE * (now - was), zero));
  }
  if (f->warm_start > 0.0f) {
    oz_real push = -oz_pressure_unit(f) * oz_ld(f->density_push, i);
    oz_st(f->density_pressure, i,
          oz_select(free & good, oz_min(push, oz_set(OZ_MOST_PRESSURE)), zero));
  }
  if (oz_any(oz_not(good))) {
    Q = oz_s3_select(good, &Q, &rest);
    oz_planes6_st(f->q, f->stride, i, &Q);
    for (uint32_t c = 0; c < 6 && f->second_stretch; c++) {
      float *second = f->second_stretch + (size_t)c * f->stride;
      oz_st(second, i, oz_select(good, oz_ld(second, i), zero));
    }
  }
  v.x = oz_select(good, v.x, zero);
  v.y = oz_select(good, v.y, zero);
  v.z = oz_select(good, v.z, zero);
  if (f->shifting > 0.0f)
    for (int c = 0; c < 3; c++) y[c] += shift[c]; /* the velocity is made by now */
  oz_v3 at = {oz_select(good, x[0] + y[0], x[0]), oz_select(good, x[1] + y[1], x[1]),
              oz_select(good, x[2] + y[2], x[2])};
  oz_v3 was = {x[0], x[1], x[2]};
  oz_vec_st(f->p, i, was, zero); /* f->start from now on */
  oz_vec_st(f->x, i, at, zero);
  oz_vec_st(f->finish_to_u2 ? f->u2 : f->u, i, v, oz_select(good, g, oz_set(-1e-20f)));
}

/* settle: the filtered velocity becomes the velocity, when the sweeps end in the other buffer. */
OZ_FN void oz_settle_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real u[4];
  oz_ld4(f->u2, i, 4, 0, u);
  oz_st4(f->u, i, 4, 0, u);
}
#endif
