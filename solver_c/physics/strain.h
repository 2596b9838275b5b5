/* The position phase of conformation (docs/theory/position_phase.md): strain and multiplier, the
 * displacement, and the update of Q. Numbers in brackets are the equations of Barreiro et al. 2017.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_STRAIN_H
#define OZ_PHYSICS_STRAIN_H

#include "physics/conformation.h"

/* ---- strain: the corotated constraint on positions (14-16), its multiplier, and the matrix for
 * the neighbours (docs/theory/position_phase.md) ---- */

/* Values of the particle itself that the corotation needs. */
typedef struct {
  oz_s3 B;
  oz_real y[4]; /* displacement, zero-energy strength */
  oz_v3 gradient_sum;
  oz_q4 rot;
} oz_turned_own;

OZ_FN void oz_turned_take(const oz_frame *f, uint32_t i, oz_turned_own *o) {
  oz_ld4(f->y, i, 4, 0, o->y);
  o->B = oz_six_ld(f->B, f->stride, i),
  o->gradient_sum = oz_block3_ld(f->gradient_sum, f->stride, i);
  o->rot = oz_turn_ld(f->rotation, f->stride, i);
}

/* From sum_j y_ji ghat^T: the rotation R of the neighbourhood (*rot; the caller stores it), F = I +
 * Y B and S = (M - R K) B R^T. Where K B = I, which is everywhere but in thin neighbourhoods, S = F
 * R^T - I; elsewhere (I - R)(I - K B) R^T is subtracted. */
OZ_FN void oz_corotate(const oz_frame *f, uint32_t i, const oz_real *acc, const oz_turned_own *o,
                       oz_q4 *rot, oz_m3 *R, oz_m3 *F, oz_m3 *S) {
  const oz_s3 *B = &o->B;
  const oz_v3 y = {o->y[0], o->y[1], o->y[2]};
  oz_m3 Y = oz_difference(acc, y, o->gradient_sum);
  *F = oz_points_gradient(f, i, &Y, B, y, f->dt);
  oz_row_strain(f, i, y, f->dt, F);
  for (int c = 0; c < 9; c++) F->m[c] *= f->inv_d;
  F->m[0] += 1.0f;
  F->m[4] += 1.0f;
  F->m[8] += 1.0f;
  *rot = o->rot;
  if (f->corotation) { /* warm start: each iteration continues from the rotation of the previous one
                        */
    *rot = oz_polar(F, *rot, 1);
    if (f->first_iteration) *rot = oz_polar(F, *rot, 1);
  }
  *R = oz_q4_matrix(*rot);
  *S = oz_m3_mul_t(F, R);
  S->m[0] -= 1.0f;
  S->m[4] -= 1.0f;
  S->m[8] -= 1.0f;
  if (!oz_any(oz_not(oz_whole(f, B)))) return;
  oz_s3 K = oz_block6_ld(f->K, f->stride, i);
  if (oz_any(oz_s3_dot(&K, B) < oz_set(2.999f))) {
    oz_m3 N = oz_s3_mul_s(&K, B), T;
    for (int c = 0; c < 9; c++) N.m[c] = (c % 4 == 0 ? 1.0f : 0.0f) - N.m[c];
    T = oz_m3_mul(R, &N);
    for (int c = 0; c < 9; c++) T.m[c] = N.m[c] - T.m[c];
    T = oz_m3_mul_t(&T, R);
    for (int c = 0; c < 9; c++) S->m[c] -= T.m[c];
    /* F of the zero-energy control is (I + S) R */
    *F = oz_m3_mul(S, R);
    for (int c = 0; c < 9; c++) F->m[c] += R->m[c];
  }
}

OZ_SUM_OUTER(strain, y)

/* Values of the particle itself. The GPU loads all of them at once, to wait for memory once; the
 * CPU, with few registers, loads the second part where it is needed. */
typedef struct {
  oz_turned_own at;
  oz_s3 lam;
  oz_q4 turn;
  oz_real a, p[3];
  oz_mask on;
} oz_strain_own;

OZ_FN void oz_strain_take_rest(const oz_frame *f, uint32_t i, oz_strain_own *o) {
  o->lam = oz_lam_ld(f, i), o->a = oz_ld(f->a, i),
  o->on = oz_preconditioner_eigenvalues(f, i, o->p);
  o->turn = oz_turn_ld(f->precond_rotation, f->stride, i);
}

OZ_FN void oz_strain_take(const oz_frame *f, uint32_t i, oz_strain_own *o) {
  oz_turned_take(f, i, &o->at);
  if (OZ_GPU) oz_strain_take_rest(f, i, o);
}

/* press: the density's multiplier. */
OZ_FN void oz_strained(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real press,
                       oz_strain_own *o) {
  oz_m3 R, S, F;
  oz_q4 rot;
  oz_s3 e, r, stretch;
  oz_corotate(f, i, acc, &o->at, &rot, &R, &F, &S);
  e = oz_m3_sym(&S);
  if (f->has_relaxation_time) {
    oz_s3 Q = oz_planes6_ld(f->q, f->stride, i);
    Q = oz_s3_rotate(&Q, &R);
    stretch = oz_stretch(f, &Q, oz_inv_q_ld(f, i));
  } else
    for (int c = 0; c < 6; c++) stretch.s[c] = oz_set(0.0f);
  oz_real tr = oz_s3_trace(&e), shift = oz_set(0.0f);
  if (f->volume_split) { /* volume part: 2/3 (tr S + second order of the determinant) */
    oz_real second = oz_clamp(oz_det(&F) - 1.0f - tr, oz_set(-0.1f), oz_set(0.1f));
    shift = (2.0f / 3.0f) * (f->dilates ? second + oz_ld(f->dilation, i) : second);
  }
  for (int c = 0; c < 6; c++)
    r.s[c] = -(stretch.s[c] + 2.0f * e.s[c] + (c < 3 ? shift : oz_set(0.0f)));
  if (!OZ_GPU) oz_strain_take_rest(f, i, o);
  oz_s3 lam = o->lam;
  oz_comply(f, o->a, &lam, oz_set(-1.0f), &r);
  oz_mask on = o->on;
  oz_m3 U = oz_q4_matrix(oz_q4_mul(rot, o->turn));
  oz_s3 dl = oz_precondition(f, &r, &U, o->p, o->a);
  oz_real size = oz_set(0.0f), zero = oz_set(0.0f);
  for (int c = 0; c < 6; c++) size += oz_abs(dl.s[c]);
  on &= size < oz_set(1e30f); /* a neighbour with a non-finite value must not spread it */
  rot.x = oz_select(on, rot.x, zero), rot.y = oz_select(on, rot.y, zero),
  rot.z = oz_select(on, rot.z, zero), rot.w = oz_select(on, rot.w, oz_set(1.0f));
  for (int c = 0; c < 6; c++) dl.s[c] = oz_select(on, dl.s[c], oz_set(0.0f)), lam.s[c] += dl.s[c];
  oz_lam_st(f, i, &lam);
  if (f->corotation) oz_turn_st(f->rotation, f->stride, i, rot);

  /* A = -d dLam R B - (arm / 2) h_i (F - I): the constraint and the affine part of the zero-energy
   * control in one matrix, because the weight c is chosen so that c x0_ji = arm ghat_ij */
  oz_m3 dlf = oz_s3_full(&dl), T = oz_m3_mul(&dlf, &R);
  oz_row_stress(f, i, &T);
  oz_m3 A;
  oz_v3 pull;
  const int points = oz_points_matrix(f, i, &T, &o->at.B, 1.0f, &A, &pull);
  F.m[0] -= 1.0f;
  F.m[4] -= 1.0f;
  F.m[8] -= 1.0f;
  if (points) oz_points_move(f, i, pull, &F, o->at.y, on);
  oz_real kh = f->zero_energy_arm * o->at.y[3];
  for (int c = 0; c < 9; c++) A.m[c] = oz_select(on, -f->d * A.m[c] - kh * F.m[c], oz_set(0.0f));
  /* The density moves a pair by d (lam_i + lam_j) grad C, and grad C at the start positions is
   * dens_grad ghat: a multiple of the identity for each end, without a gather of its own. The force
   * acts along the line of the start positions, which keeps angular momentum: u is (x - x_start) /
   * dt, so that x cross u = x_start cross u.
   *
   * Impacts on boundary particles and bodies need the current positions (ooze verify
   * boundary.shell.impact): there density_move does all of it. */
  if (f->fused_density) {
    oz_real push =
        (f->d * f->dens_grad) * oz_min(press, oz_set(0.0f)); /* at most 0, and never NaN */
    A.m[0] += push, A.m[4] += push, A.m[8] += push;
  }
  oz_matrix_st(f->A, i, &A);
}

OZ_FN void oz_strain_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_real v[4];
  oz_strain_own own;
  (void)red;
  oz_ld4(f->dx, i, 4, 0, v);
  oz_strain_take(f, i, &own);
  oz_strained(f, i, acc, v[3], &own);
}

/* ---- conform_move: displacement by the new multipliers and the zero-energy control (12, 18;
 * docs/theory/zero_energy.md) ---- */

typedef struct {
  oz_own y;
} oz_conform_move_self;

OZ_FN void oz_conform_move_begin(const oz_frame *f, uint32_t i, oz_conform_move_self *s) {
  const float *y = f->y + 4 * (size_t)i;
  s->y = oz_own_of(y, y[3]);
}

OZ_FN void oz_conform_move_pair(const oz_frame *f, const oz_conform_move_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_matrix(acc, f->A, n);
  oz_pull(acc, f->y, n, &s->y);
}

/* The result goes to y2. Where both constraints move together, density_move follows, adds to y2 and
 * writes the position. */
OZ_FN void oz_conform_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real y[4];
  oz_v3 dx = oz_force_total(f, i, acc);
  oz_ld4(f->y, i, 4, 0, y);
  oz_add_sane(y, dx, OZ_SANE_MOVE * f->d);
  oz_st4(f->y2, i, 4, 0, y);
  if (f->sequential) {
    oz_v3 x = oz_vec_ld(f->x, i), p = {x.x + y[0], x.y + y[1], x.z + y[2]};
    oz_vec_st(f->p, i, oz_held_place(f, i, p), oz_weight(f, i));
  }
}

/* The stored acceleration of slip (filter.h) turns with the material and keeps the part `kept` that
 * the stress keeps. */
OZ_FN void oz_slip_turn(const oz_frame *f, uint32_t i, const oz_m3 *R, oz_real kept) {
  oz_v3 w = oz_planes3_ld(f->slip_acceleration, f->stride, i), turned = oz_m3_v(R, w);
  oz_mask fluid = oz_fluid(f, i);
  oz_st(f->slip_acceleration, i, oz_select(fluid, kept * turned.x, w.x));
  oz_st(f->slip_acceleration + f->stride, i, oz_select(fluid, kept * turned.y, w.y));
  oz_st(f->slip_acceleration + 2 * (size_t)f->stride, i, oz_select(fluid, kept * turned.z, w.z));
}

/* Strain of the substep, for shift_strength. */
OZ_FN void oz_substep_strain_st(const oz_frame *f, uint32_t i, const oz_m3 *S) {
  oz_s3 e = oz_m3_deviator(S);
  oz_st(f->density_relaxation, i, oz_sqrt(0.5f * oz_s3_dot(&e, &e)));
}

/* ---- conform_update: Q at the end of the substep (6; docs/theory/conformation.md) ---- */

OZ_SUM_OUTER(conform_update, y)

OZ_FN void oz_conform_update_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 R, S, F;
  oz_q4 rot;
  oz_turned_own own;
  oz_turned_take(f, i, &own);
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), one = oz_s3_identity();
  oz_real tau = oz_relaxation_time(f, i);
  oz_corotate(f, i, acc, &own, &rot, &R, &F, &S);
  Q = oz_s3_rotate(&Q, &R);
  oz_s3 Q0 = Q;
  Q = oz_conformation_step(&Q0, &S, tau, f->dt);
  if (f->has_yield) { /* strain at the yield stress: yield times compliance; a is a / q since
                       * velocity_start */
    oz_real yield = oz_yield(f, i), unit = oz_set(f->V0 * f->dt * f->dt / (f->m_ref * f->d * f->d));
    oz_real strain = yield * unit * oz_ld(f->a, i) / oz_inv_q_ld(f, i);
    oz_real kept;
    oz_s3 Y = oz_yield_step(&Q0, &S, tau, strain, f->dt, &kept);
    Q = oz_s3_select(yield > oz_set(0.0f), &Y, &Q);
    oz_slip_turn(f, i, &R, kept);
  }
  Q = oz_stress_kept(f, i, &Q, oz_ld(f->a, i) / oz_inv_q_ld(f, i));
  Q = oz_conformation_clamp(&Q);
  Q = oz_s3_select(oz_enough(f, i), &Q, &one);
  oz_planes6_st(f->q, f->stride, i, &Q);
  oz_substep_strain_st(f, i, &S);
}
#endif
