/* The rest filter (docs/theory/rest_filter.md): removes the part of the velocity that is not
 * locally affine, so that a fluid comes to rest. Rigid motion, shear and expansion pass unchanged.
 * It acts pairwise, so momentum is kept. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_FILTER_H
#define OZ_PHYSICS_FILTER_H

#include "physics/stage_parts.h"
#include "physics/wall_points.h"

/* ---- filter_gradient: A = -(arm / 2) g_i L_i, L the velocity gradient; u.w is the gate g (0
 * outside the filter). The gate itself travels in the spare of each column ---- */

OZ_SUM_OUTER(filter_gradient, u)

typedef struct {
  oz_real u[4];
  oz_v3 gradient_sum;
  oz_s3 B;
} oz_filter_gradient_own;

OZ_FN void oz_filter_gradient_take(const oz_frame *f, uint32_t i, oz_filter_gradient_own *o) {
  oz_ld4(f->u, i, 4, 0, o->u);
  o->gradient_sum = oz_block3_ld(f->gradient_sum, f->stride, i),
  o->B = oz_six_ld(f->B, f->stride, i);
}

OZ_FN void oz_filter_gradient_made(const oz_frame *f, uint32_t i, const oz_real *acc,
                                   const oz_filter_gradient_own *o) {
  oz_v3 v = {o->u[0], o->u[1], o->u[2]};
  oz_m3 M = oz_difference(acc, v, o->gradient_sum), L;
  L = oz_points_gradient(f, i, &M, &o->B, v, f->filters_velocity ? 1.0f : 0.0f);
  oz_real k = (-0.5f * f->zero_energy_arm * f->inv_d) * o->u[3];
  for (int c = 0; c < 9; c++) L.m[c] *= k;
  oz_matrix_st_spare(f->A, i, &L, o->u[3]);
}

OZ_END_TAKEN(filter_gradient)

/* ---- filter_move: u_i += w omega_i g_i sum_j g_j c (u_ji - (L_i + L_j) x0_ji / 2): closed gates
 * drop out, and the exchange is equal and opposite ---- */

typedef struct {
  oz_own u;
} oz_filter_move_self;

OZ_FN void oz_filter_move_begin(const oz_frame *f, uint32_t i, oz_filter_move_self *s) {
  s->u = oz_own_of(f->u + 4 * (size_t)i, 0.0f);
}

OZ_FN void oz_filter_move_pair(const oz_frame *f, const oz_filter_move_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_matrix_spare(acc, f->A, f->u, n);
  oz_pull_spare(acc, f->u, n, &s->u);
}

typedef struct {
  oz_m3 A;
  oz_real u[4], om;
} oz_filter_move_own;

OZ_FN void oz_filter_move_take(const oz_frame *f, uint32_t i, oz_filter_move_own *o) {
  oz_ld4(f->u, i, 4, 0, o->u);
  oz_matrix_ld(f->A, i, &o->A);
  o->om = oz_ld(f->omega, i);
}

OZ_FN void oz_filter_move_made(const oz_frame *f, uint32_t i, const oz_real *acc,
                               const oz_filter_move_own *o) {
  oz_real u[4] = {o->u[0], o->u[1], o->u[2], o->u[3]};
  oz_v3 gradient_sum = {acc[3], acc[4], acc[5]}; /* sum of g_j ghat */
  oz_v3 own = oz_m3_v(&o->A, gradient_sum);      /* contains g_i already */
  oz_real k = f->filter_factor * o->om, g = oz_max(u[3], oz_set(0.0f));
  oz_v3 du = {k * (g * (acc[0] + acc[6]) + own.x), k * (g * (acc[1] + acc[7]) + own.y),
              k * (g * (acc[2] + acc[8]) + own.z)};
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u2, i, 4, 0, u);
}

OZ_END_TAKEN(filter_move)

/* ---- slip: holds materials with a yield stress against forces that their stress cannot balance
 * ----
 *
 * Forces that vary from particle to particle (the pressure among disordered particles has such a
 * part) move particles against the affine motion around them, without a strain. The zero-energy
 * control takes this motion back, but some of the strain that the projection added with it remains
 * in every substep; at the yield value the stress cannot rise against it, and the material creeps
 * forever.
 *
 * So the motion that the filter would remove after the projection is stored as an acceleration
 * (f->slip_acceleration, m/s^2) and applied before the next projection. It is applied through the
 * filter, pair by pair, so that momentum is kept. Like a stress it turns with the material
 * (conform_update) and relaxes with it, and it is limited to the yield stress on the side of a
 * particle (docs/theory/yield.md). */

/* gain of the integral: it only has to be stable */
#define OZ_SLIP_RATE 0.3f

OZ_FN oz_mask oz_holds(const oz_frame *f, uint32_t i) {
  return (oz_yield(f, i) > oz_set(0.0f)) & oz_enough(f, i) & (oz_ld(f->omega, i) > oz_set(0.0f));
}

OZ_FN oz_real oz_slip_most(const oz_frame *f, uint32_t i) { /* m/s^2 */
  return oz_yield(f, i) * oz_ld(f->omega, i) * (f->inv_d / 1000.0f);
}

/* slip_hold: the stored acceleration as a velocity for the filter, in p, which is free until
 * `advance` (at the end of the substep the model substitutes y2). The model swaps it with u for the
 * filter stages. */
OZ_FN void oz_slip_hold_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_v3 w = oz_planes3_ld(f->slip_acceleration, f->stride, i);
  oz_real k = oz_select(oz_holds(f, i), oz_set(f->dt), oz_set(0.0f));
  oz_v3 v = {k * w.x, k * w.y, k * w.z};
  oz_vec_st(f->p, i, v, oz_select(oz_thick(f, i), oz_filter_weight(f, i), oz_set(0.0f)));
}

/* slip_push: u gains the part that the filter removed from p */
OZ_FN void oz_slip_push_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real u[4], v[4], w[4];
  oz_ld4(f->u, i, 4, 0, u);
  oz_ld4(f->p, i, 4, 0, v);
  oz_ld4(f->u2, i, 4, 0, w);
  oz_v3 du = {v[0] - w[0], v[1] - w[1], v[2] - w[2]};
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u, i, 4, 0, u);
}

/* slip_look: the projected velocity, as input of the filter. */
OZ_FN void oz_slip_look_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_vec_st(f->p, i, oz_vec_ld(f->u, i),
            oz_select(oz_thick(f, i), oz_filter_weight(f, i), oz_set(0.0f)));
}

OZ_FN void oz_slip_take_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real v[4], u[4], zero = oz_set(0.0f), k = oz_set(OZ_SLIP_RATE * f->inv_dt);
  oz_v3 was = oz_planes3_ld(f->slip_acceleration, f->stride, i);
  oz_ld4(f->p, i, 4, 0, v);
  oz_ld4(f->u2, i, 4, 0, u);
  oz_v3 w = {was.x + k * (u[0] - v[0]), was.y + k * (u[1] - v[1]), was.z + k * (u[2] - v[2])};
  oz_real l2 = oz_dot(w, w), most = oz_slip_most(f, i);
  oz_real cut =
      oz_select(l2 > most * most, most * oz_rsqrt(oz_max(l2, oz_set(1e-20f))), oz_set(1.0f));
  cut = oz_select(l2 < oz_set(1e20f), cut, zero); /* not finite */
  oz_mask holds = oz_holds(f, i), fluid = oz_fluid(f, i);
  oz_real k0 = oz_select(fluid, zero, oz_set(1.0f)); /* for bodies the field is their shape */
  oz_st(f->slip_acceleration, i, oz_select(holds & (cut > zero), cut * w.x, k0 * was.x));
  oz_st(f->slip_acceleration + f->stride, i,
        oz_select(holds & (cut > zero), cut * w.y, k0 * was.y));
  oz_st(f->slip_acceleration + 2 * (size_t)f->stride, i,
        oz_select(holds & (cut > zero), cut * w.z, k0 * was.z));
}
#endif
