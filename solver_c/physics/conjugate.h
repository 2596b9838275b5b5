/* Conjugate gradients of the velocity projection (3.2): one application of A, and the steps. Scalars stay with the backend.
 *
 * Kept are z = M^-1 r, w = M^-1 A p, the direction p and the multiplier, all in the frame of the preconditioner M until cg_end. So M is asked for once
 * an iteration, beside A p, and what alpha and beta are made of is summed there: of z' = z - alpha w, r'.z' = r.z - 2 alpha z.Ap + alpha^2 w.Ap.
 *
 * An iteration is two passes over neighbours and nothing besides. How long a step is, is known only when all have summed; so what cg_apply sends its
 * neighbours is w, not the next direction, and displacements follow by linearity: F(z') = F(z) - alpha F(w), F(p') = F(z') + beta F(p). These are
 * as they would be without walls and bodies, which act on the copy that neighbours see (dx) alone: in the recurrence friction would act again and again. The
 * step itself is made by whoever has the particle at hand next: of velocities by cg_force, of z, p and multipliers by cg_apply, of what walls carry by
 * wall_filter; the last one by wall_load and cg_end. What is moved (dx) is what the residual has seen, so that both stay consistent whatever F is rounded to. */
#ifndef OZ_PHYSICS_CONJUGATE_H
#define OZ_PHYSICS_CONJUGATE_H

#include "physics/conformation.h"

OZ_FN void oz_cg_start_item(const oz_frame *f) {
  f->scalar[OZ_SCALAR_RZ] = f->scalar[OZ_SCALAR_RZ0] = f->scalar[OZ_SCALAR_SUM];
}
OZ_FN void oz_cg_steps_item(const oz_frame *f) { /* a spent or broken-down iteration does nothing */
  const double *sum = f->scalar + OZ_SCALAR_SUM;
  double pq = sum[0], rz = sum[1];
  int go = rz > 1e-12 * f->scalar[OZ_SCALAR_RZ0] && rz > 1e-300 && pq > 0.0;
  double alpha = go ? rz / pq : 0.0, next = OZ_CG_NEXT(sum, alpha);
  f->scalar[OZ_SCALAR_ALPHA] = alpha;
  f->scalar[OZ_SCALAR_BETA] = go && next > 0.0 ? next / rz : 0.0;
}

/* ---- cg_force: F(p), to y, whose own use begins with advance; what walls and bodies leave of it, to dx. Velocities by the step before. In two parts, because
 * what is the particle's own can be read before its neighbours are. ---- */

typedef oz_force_self oz_cg_force_self;
OZ_FN void oz_cg_force_begin(const oz_frame *f, uint32_t i, oz_cg_force_self *s) { oz_force_begin(f, i, s); }
OZ_FN void oz_cg_force_pair(const oz_frame *f, const oz_cg_force_self *s, const oz_group *n, oz_real *acc) { oz_force_pair(f, s, n, acc); }
typedef struct {
  oz_real u[4], y[4], om;
  oz_v3 dx, fz, sg;
  oz_sent A;
} oz_cg_force_own;
OZ_FN void oz_cg_force_take(const oz_frame *f, uint32_t i, oz_cg_force_own *o) {
  o->A = oz_sent_take(f->A, i);
  oz_ld4(f->y, i, 4, 0, o->y);
  oz_ld4(f->u, i, 4, 0, o->u);
  o->dx = oz_vec_ld(f->dx, i), o->fz = oz_vec_ld(f->fz, i);
  o->sg = oz_block3_ld(f->sg, f->stride, i), o->om = oz_ld(f->omega, i);
}
OZ_FN oz_v3 oz_cg_force_of(const oz_frame *f, uint32_t i, const oz_real *acc, oz_cg_force_own *o) {
  oz_m3 A = oz_sent_as(&o->A);
  oz_v3 own = oz_m3_v(&A, o->sg), F = {o->om * (acc[0] + own.x), o->om * (acc[1] + own.y), o->om * (acc[2] + own.z)};
  const float al = OZ_CG_LENGTH(f), ku = al * f->inv_dt;
  if (f->cold) {
    o->fz = F;
    o->y[0] = F.x, o->y[1] = F.y, o->y[2] = F.z;
  } else if (al != 0.0f) {
    const float be = (float)f->scalar[OZ_SCALAR_BETA];
    o->u[0] += ku * o->dx.x; o->u[1] += ku * o->dx.y; o->u[2] += ku * o->dx.z;
    oz_st4(f->u, i, 4, 0, o->u);
    if (f->renewed) o->fz = F;
    else o->fz.x -= al * F.x, o->fz.y -= al * F.y, o->fz.z -= al * F.z;
    o->y[0] = o->fz.x + be * o->y[0], o->y[1] = o->fz.y + be * o->y[1], o->y[2] = o->fz.z + be * o->y[2];
  }
  oz_vec_st(f->fz, i, o->fz, oz_set(0.0f));
  oz_st4(f->y, i, 4, 0, o->y);
  oz_v3 dx = {o->y[0], o->y[1], o->y[2]};
  return dx;
}
OZ_FN oz_v3 oz_cg_force_total(const oz_frame *f, uint32_t i, const oz_real *acc) {
  oz_cg_force_own own;
  oz_cg_force_take(f, i, &own);
  return oz_cg_force_of(f, i, acc, &own);
}
OZ_FN void oz_cg_force_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_vec_st(f->dx, i, oz_cg_force_total(f, i, acc), oz_set(0.0f));
}

/* ---- cg_apply: A p and w, which is sent. z, p and multipliers by the step before. ---- */

typedef struct { int none; } oz_cg_apply_self;
OZ_FN void oz_cg_apply_begin(const oz_frame *f, uint32_t i, oz_cg_apply_self *s) { (void)f; (void)i; s->none = 0; }
OZ_FN void oz_cg_apply_pair(const oz_frame *f, const oz_cg_apply_self *s, const oz_group *n, oz_real *acc) {
  (void)s;
  oz_outer(acc, f->dx, n);
}
typedef struct {
  oz_six z, p, w, lam, B;
  oz_framed frame;
  oz_v3 dx, sg;
  oz_real a;
} oz_cg_apply_own;
OZ_FN void oz_cg_apply_take(const oz_frame *f, uint32_t i, oz_cg_apply_own *o) {
  o->z = oz_six_take(f->r, f->stride, i), o->p = oz_six_take(f->pp, f->stride, i), o->w = oz_six_take(f->aq, f->stride, i);
  o->lam = oz_lam_take(f, i);
  o->B = oz_six_take(f->B, f->stride, i), o->sg = oz_block3_ld(f->sg, f->stride, i);
  o->dx = oz_vec_ld(f->dx, i);
  o->frame = oz_framed_take(f, i), o->a = oz_ld(f->a, i);
}
OZ_FN void oz_cg_apply_of(const oz_frame *f, uint32_t i, const oz_real *acc, const oz_cg_apply_own *o, oz_real *red) {
  const float al = OZ_CG_LENGTH(f);
  oz_s3 z = oz_six_as(&o->z), p = oz_six_as(&o->p), B = oz_six_as(&o->B);
  if (al != 0.0f) {
    const float be = (float)f->scalar[OZ_SCALAR_BETA];
    oz_s3 was = oz_six_as(&o->w), lam = oz_six_as(&o->lam);
    for (int c = 0; c < 6; c++) {
      lam.s[c] += al * p.s[c];
      z.s[c] -= al * was.s[c];
      p.s[c] = z.s[c] + be * p.s[c];
    }
    oz_lam_st(f, i, &lam);
    oz_six_st(f->r, f->stride, i, &z);
    oz_six_st(f->pp, f->stride, i, &p);
  }
  oz_m3 M = oz_difference(acc, o->dx, o->sg), U = oz_q4_matrix(oz_framed_turn(&o->frame));
  oz_real e[3];
  oz_mask on = oz_framed_values(&o->frame, e);
  oz_metric m = oz_metric_of(f, e, o->a);
  oz_s3 q = oz_strain_of(f, &M, &B, 2.0f), w;
  q = oz_s3_rotate_back(&q, &U);
  oz_comply(f, o->a, &p, oz_set(1.0f), &q);
  for (int c = 0; c < 6; c++) q.s[c] = oz_select(on, q.s[c], oz_set(0.0f));
  w = oz_metric_solve(f, &m, q);
  red[0] = oz_s3_dot(&p, &q);
  red[1] = oz_metric_square(&m, &z); /* z and q are 0 where there is no constraint, and so is w */
  red[2] = oz_s3_dot(&z, &q);
  red[3] = oz_s3_dot(&w, &q);
  oz_six_st(f->aq, f->stride, i, &w);
  w = oz_s3_rotate(&w, &U);
  oz_send(f, i, &w, &B);
}
OZ_FN void oz_cg_apply_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_cg_apply_own own;
  oz_cg_apply_take(f, i, &own);
  oz_cg_apply_of(f, i, acc, &own, red);
}

/* ---- cg_renew: sends z instead of w, so that F(z) is made anew. What is sent on the GPU has 13 bits of its greatest number, and the roundings of all
 * iterations stay in F(z) while z becomes small: without this they hardly matter after 40 iterations, and blow up after 100. Those in F(p) fade by themselves, by
 * beta an iteration. ---- */

OZ_FN void oz_cg_renew_item(const oz_frame *f, uint32_t i, oz_real *red) {
  const float al = OZ_CG_LENGTH(f);
  (void)red;
  oz_s3 z = oz_six_ld(f->r, f->stride, i), w = oz_six_ld(f->aq, f->stride, i), B = oz_six_ld(f->B, f->stride, i);
  oz_m3 U = oz_q4_matrix(oz_turn_ld(f->pu, f->stride, i));
  if (al == 0.0f) return;
  for (int c = 0; c < 6; c++) z.s[c] -= al * w.s[c];
  z = oz_s3_rotate(&z, &U);
  oz_send(f, i, &z, &B);
}

/* ---- cg_end: the last step; the multiplier is in the world again ---- */

typedef struct {
  oz_real u[4];
  oz_v3 dx;
  oz_s3 lam, p;
  oz_q4 turn;
} oz_cg_end_own;
OZ_FN void oz_cg_end_take(const oz_frame *f, uint32_t i, oz_cg_end_own *o) { /* cg_apply has written p and the multiplier */
  o->dx = oz_vec_ld(f->dx, i);
  oz_ld4(f->u, i, 4, 0, o->u);
  o->turn = oz_turn_ld(f->pu, f->stride, i);
}
OZ_FN void oz_cg_end_answer(const oz_frame *f, uint32_t i, oz_cg_end_own *o) { o->lam = oz_lam_ld(f, i), o->p = oz_six_ld(f->pp, f->stride, i); }
OZ_FN void oz_cg_end_step(const oz_frame *f, uint32_t i, oz_cg_end_own *o) {
  const float al = (float)f->scalar[OZ_SCALAR_ALPHA], ku = al * f->inv_dt;
  oz_m3 U = oz_q4_matrix(o->turn);
  if (al != 0.0f) {
    o->u[0] += ku * o->dx.x; o->u[1] += ku * o->dx.y; o->u[2] += ku * o->dx.z;
    for (int c = 0; c < 6; c++) o->lam.s[c] += al * o->p.s[c];
    oz_st4(f->u, i, 4, 0, o->u);
  }
  o->lam = oz_s3_rotate(&o->lam, &U);
  oz_lam_st(f, i, &o->lam);
}
OZ_FN void oz_cg_end_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_cg_end_own own;
  (void)red;
  oz_cg_end_take(f, i, &own);
  oz_cg_end_answer(f, i, &own);
  oz_cg_end_step(f, i, &own);
}

/* The same scalars where r.z is summed by itself, after the step: the pressure solve of mps.h. */
OZ_FN void oz_cg_alpha_item(const oz_frame *f) {
  double rz = f->scalar[OZ_SCALAR_RZ], pq = f->scalar[OZ_SCALAR_SUM];
  int go = rz > 1e-12 * f->scalar[OZ_SCALAR_RZ0] && rz > 1e-300 && pq > 0.0;
  f->scalar[OZ_SCALAR_ALPHA] = go ? rz / pq : 0.0;
}
OZ_FN void oz_cg_beta_item(const oz_frame *f) {
  double old = f->scalar[OZ_SCALAR_RZ], now = f->scalar[OZ_SCALAR_SUM];
  f->scalar[OZ_SCALAR_BETA] = old > 0.0 && f->scalar[OZ_SCALAR_ALPHA] != 0.0 ? now / old : 0.0;
  f->scalar[OZ_SCALAR_RZ] = now;
}
#endif
