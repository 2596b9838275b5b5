/* The method as Barreiro et al. 2017 print it, for comparison (`scheme: paper`): Jacobi iterations
 * in both phases, SPH gradients without correction, volumes m / rho, the relaxation beta / n_i on
 * the particle's side (12, 18), compliance alpha / dt on velocities (11) and alpha / dt^2 on
 * positions (17), the rotation of the covariance (14), the implicit update (6). Numbers in brackets
 * are its equations; docs/theory/conformation.md explains the readings of its signs and masses.
 *
 * y2 holds (current position, volume over V0): one gather gives a neighbour's place and size.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_PAPER_H
#define OZ_PHYSICS_PAPER_H

#include "physics/conformation.h"

/* A neighbour's gradient ghat at the current positions; r = x_i - x_j, vol its volume; inside: 1
 * within h, else 0. */
OZ_FN oz_v3 oz_paper_pair(const oz_frame *f, oz_v3 x, const uint32_t *j, oz_v3 *r, oz_real *vol,
                          oz_real *inside) {
  oz_real v[4], c;
  oz_gather4(f->y2, j, 4, 0, v);
  r->x = x.x - v[0];
  r->y = x.y - v[1];
  r->z = x.z - v[2];
  *vol = v[3];
  oz_real r2 = oz_dot(*r, *r);
  *inside =
      oz_select((r2 < oz_set(f->h2)) & (r2 > oz_set(1e-10f * f->h2)), oz_set(1.0f), oz_set(0.0f));
  return oz_spiky(f, *r, &c);
}

/* ---- paper_volume: density at x*, hence volume and number of neighbours ---- */

OZ_SELF_VECTOR(paper_volume, p, p)

OZ_FN void oz_paper_volume_pair(const oz_frame *f, const oz_paper_volume_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_v3 r = oz_sub(s->p, oz_vec_near(f->p, n));
  oz_real r2 = oz_dot(r, r), some = oz_set(1e-10f * f->h2);
  oz_mask other = r2 > some; /* not the padding */
  acc[0] += oz_select(other, oz_kernel(f, r2), oz_set(0.0f));
  acc[1] += oz_select(other & (r2 < oz_set(f->h2)), oz_set(1.0f), oz_set(0.0f));
}

OZ_FN void oz_paper_volume_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real rho = oz_max(f->w_self * acc[0] + f->w_self, oz_set(0.3f));
  oz_vec_st(f->y2, i, oz_vec_ld(f->p, i), (f->Vm / f->V0) / rho);
  oz_st(f->paper_neighbours, i, acc[1]); /* n_i */
}

/* ---- paper_strain_u: (10), (11) ---- */

enum { OZ_PAPER_M = 0, OZ_PAPER_T = 9, OZ_PAPER_G = 12 };

/* Sums of the operator's diagonal: volumes, gradients and inverse masses. */
OZ_FN void oz_paper_diagonal(oz_real *acc, oz_v3 g, oz_real vol, oz_real omega) {
  oz_v3 v = {vol * g.x, vol * g.y, vol * g.z};
  acc[OZ_PAPER_T] += omega * v.x * v.x;
  acc[OZ_PAPER_T + 1] += omega * v.y * v.y;
  acc[OZ_PAPER_T + 2] += omega * v.z * v.z;
  acc[OZ_PAPER_G] += v.x;
  acc[OZ_PAPER_G + 1] += v.y;
  acc[OZ_PAPER_G + 2] += v.z;
}

OZ_FN void oz_paper_outer(oz_real *acc, oz_v3 v, oz_v3 g, oz_real vol) {
  oz_real x = vol * g.x, y = vol * g.y, z = vol * g.z;
  acc[0] += v.x * x;
  acc[1] += v.x * y;
  acc[2] += v.x * z;
  acc[3] += v.y * x;
  acc[4] += v.y * y;
  acc[5] += v.y * z;
  acc[6] += v.z * x;
  acc[7] += v.z * y;
  acc[8] += v.z * z;
}

/* (11), (17): multiplier of one Jacobi iteration from the constraint C, and the matrix for the
 * neighbours. The paper's vector has sigma_xx = 2 C_xx / alpha beside sigma_xy = C_xy / alpha, so
 * its diagonal entries are half as compliant. */
OZ_FN void oz_paper_multiplier(const oz_frame *f, uint32_t i, const oz_s3 *C, const oz_real *acc,
                               oz_real a) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  oz_s3 lam = oz_lam_ld(f, i), d;
  oz_real t[3], om = oz_ld(f->omega, i);
  oz_mask on = oz_ld(f->paper_neighbours, i) >= oz_set((float)OZ_MIN_NEIGHBOURS);
  for (int c = 0; c < 3; c++)
    t[c] = acc[OZ_PAPER_T + c] + om * acc[OZ_PAPER_G + c] * acc[OZ_PAPER_G + c];
  for (int c = 0; c < 6; c++) {
    oz_real ac = c < 3 ? 0.5f * a : a;
    d.s[c] =
        (-C->s[c] - ac * lam.s[c]) / (oz_max(t[I[c]] + t[J[c]], oz_set(0.04f * f->t_ref)) + ac);
    d.s[c] = oz_select(on, d.s[c], oz_set(0.0f));
    lam.s[c] += d.s[c];
  }
  oz_lam_st(f, i, &lam);
  oz_m3 A = oz_s3_full(&d);
  for (int c = 0; c < 9; c++) A.m[c] *= -f->d;
  oz_matrix_st(f->A, i, &A);
}

OZ_SELF_VECTORS(paper_strain_u, y2, x, u, u)

OZ_FN void oz_paper_strain_u_pair(const oz_frame *f, const oz_paper_strain_u_self *s,
                                  const oz_group *n, oz_real *acc) {
  oz_v3 r;
  oz_real vol, inside;
  oz_v3 g = oz_paper_pair(f, s->x, n->j, &r, &vol, &inside);
  oz_paper_outer(acc, oz_sub(oz_vec_near(f->u, n), s->u), g, vol);
  oz_paper_diagonal(acc, g, vol, oz_gather1(f->omega, n->j, 1));
}

OZ_FN void oz_paper_strain_u_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 M;
  for (int c = 0; c < 9; c++) M.m[c] = acc[c] * (f->dt * f->inv_d);
  oz_s3 e = oz_m3_sym(&M), Q = oz_planes6_ld(f->q, f->stride, i), C;
  for (int c = 0; c < 6; c++) C.s[c] = Q.s[c] - (c < 3 ? 1.0f : 0.0f) + 2.0f * e.s[c];
  oz_paper_multiplier(f, i, &C, acc, oz_ld(f->a, i) * f->inv_dt);
}

/* ---- paper_force: (12), (18): (beta / n_i) M^-1 sum J^T dlam ---- */

OZ_SELF_VECTOR(paper_force, y2, x)

OZ_FN void oz_paper_force_pair(const oz_frame *f, const oz_paper_force_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_v3 r;
  oz_real vol, inside;
  oz_m3 A;
  oz_v3 g = oz_paper_pair(f, s->x, n->j, &r, &vol, &inside);
  oz_matrix_gather(f->A, n->j, &A);
  for (int c = 0; c < 3; c++)
    acc[c] += A.m[3 * c] * g.x + A.m[3 * c + 1] * g.y + A.m[3 * c + 2] * g.z;
  acc[3] += vol * g.x;
  acc[4] += vol * g.y;
  acc[5] += vol * g.z;
}

OZ_FN void oz_paper_force_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 A;
  oz_real at[4], n = oz_max(oz_ld(f->paper_neighbours, i), oz_set(1.0f));
  oz_matrix_ld(f->A, i, &A);
  oz_ld4(f->y2, i, 4, 0, at);
  oz_v3 sum = {acc[3], acc[4], acc[5]}, own = oz_m3_v(&A, sum);
  oz_real k = oz_ld(f->omega, i) * oz_min(oz_set(1.0f), 5.0f / n); /* beta = 5 */
  oz_v3 dx = {k * (at[3] * acc[0] + own.x), k * (at[3] * acc[1] + own.y),
              k * (at[3] * acc[2] + own.z)};
  oz_vec_st(f->dx, i, dx, oz_set(0.0f));
}

/* paper_shift: y += dx. paper_sync: copies positions to the array that the gathers read. */
OZ_FN void oz_paper_sync_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real at[4];
  oz_ld4(f->y2, i, 4, 0, at);
  oz_vec_st(f->y2, i, oz_vec_ld(f->p, i), at[3]);
}

OZ_FN void oz_paper_shift_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real y[4];
  oz_v3 dx = oz_vec_ld(f->dx, i), x = oz_vec_ld(f->x, i);
  oz_ld4(f->y, i, 4, 0, y);
  oz_add_sane(y, dx, OZ_SANE_MOVE * f->d);
  oz_st4(f->y, i, 4, 0, y);
  oz_v3 p = {x.x + y[0], x.y + y[1], x.z + y[2]};
  oz_vec_st(f->p, i, p, oz_weight(f, i));
}

/* ---- paper_strain, paper_update: (14)-(16) with gradients at the current positions; (6) ---- */

enum {
  OZ_PAPER_M0 = 15,
  OZ_PAPER_COV = 24,
  OZ_PAPER_CX = 33,
  OZ_PAPER_C0 = 36,
  OZ_PAPER_SUMS = 39
};

OZ_SELF_VECTORS(paper_strain, y2, x, x, x0)

OZ_FN void oz_paper_strain_pair(const oz_frame *f, const oz_paper_strain_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_v3 r;
  oz_real vol, in, x[4];
  oz_v3 g = oz_paper_pair(f, s->x, n->j, &r, &vol, &in);
  oz_gather4(f->x, n->j, 4, 0, x); /* start position and omega */
  oz_v3 now = {-r.x, -r.y, -r.z}, then = {x[0] - s->x0.x, x[1] - s->x0.y, x[2] - s->x0.z};
  oz_paper_outer(acc + OZ_PAPER_M, now, g, vol);
  oz_paper_outer(acc + OZ_PAPER_M0, then, g, vol);
  oz_paper_diagonal(acc, g, vol, x[3]);
  oz_paper_outer(acc + OZ_PAPER_COV, now, then, in);
  acc[OZ_PAPER_CX] += in * now.x;
  acc[OZ_PAPER_CX + 1] += in * now.y;
  acc[OZ_PAPER_CX + 2] += in * now.z;
  acc[OZ_PAPER_C0] += in * then.x;
  acc[OZ_PAPER_C0 + 1] += in * then.y;
  acc[OZ_PAPER_C0 + 2] += in * then.z;
}

/* dt grad u of the corotated motion (15). */
OZ_FN oz_m3 oz_paper_gradient(const oz_frame *f, uint32_t i, const oz_real *acc) {
  oz_m3 L, R, M0, cov;
  oz_real k = 1.0f / (oz_ld(f->paper_neighbours, i) + 1.0f);
  oz_q4 rot = oz_turn_ld(f->rotation, f->stride, i);
  if (f->corotation) {
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        cov.m[3 * a + b] =
            acc[OZ_PAPER_COV + 3 * a + b] - k * acc[OZ_PAPER_CX + a] * acc[OZ_PAPER_C0 + b];
    for (int c = 0; c < 9; c++) cov.m[c] *= f->inv_d * f->inv_d;
    rot = oz_polar(&cov, rot, 5);
    oz_turn_st(f->rotation, f->stride, i, rot);
  }
  R = oz_q4_matrix(rot);
  for (int c = 0; c < 9; c++) M0.m[c] = acc[OZ_PAPER_M0 + c];
  L = oz_m3_mul(&R, &M0);
  for (int c = 0; c < 9; c++) L.m[c] = (acc[OZ_PAPER_M + c] - L.m[c]) * f->inv_d;
  return L;
}

OZ_FN void oz_paper_strain_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 L = oz_paper_gradient(f, i, acc);
  oz_s3 e = oz_m3_sym(&L), Q = oz_planes6_ld(f->q, f->stride, i), C;
  for (int c = 0; c < 6; c++) C.s[c] = Q.s[c] - (c < 3 ? 1.0f : 0.0f) + 2.0f * e.s[c];
  oz_paper_multiplier(f, i, &C, acc, oz_ld(f->a, i));
}

/* (6): (1 + f) Q - (L Q + Q L^T) = Q0 + f I, L = dt grad u, f = dt / tau: six equations, by
 * elimination. */
OZ_FN oz_s3 oz_paper_solve(const oz_m3 *L, const oz_s3 *Q0, oz_real fr) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2},
                   at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  oz_real a[6][7];
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) a[r][c] = c == r ? 1.0f + fr : oz_set(0.0f);
    a[r][6] = Q0->s[r] + (r < 3 ? fr : oz_set(0.0f));
    for (int k = 0; k < 3; k++) {
      a[r][at[3 * k + J[r]]] -= L->m[3 * I[r] + k];
      a[r][at[3 * I[r] + k]] -= L->m[3 * J[r] + k];
    }
  }
  for (int p = 0; p < 6; p++) {
    oz_real inv = 1.0f / a[p][p];
    for (int r = p + 1; r < 6; r++) {
      oz_real m = a[r][p] * inv;
      for (int c = p; c < 7; c++) a[r][c] -= m * a[p][c];
    }
  }
  oz_s3 q;
  for (int p = 5; p >= 0; p--) {
    oz_real v = a[p][6];
    for (int c = p + 1; c < 6; c++) v -= a[p][c] * q.s[c];
    q.s[p] = v / a[p][p];
  }
  return q;
}

typedef oz_paper_strain_self oz_paper_update_self;

OZ_FN void oz_paper_update_begin(const oz_frame *f, uint32_t i, oz_paper_update_self *s) {
  oz_paper_strain_begin(f, i, s);
}

OZ_FN void oz_paper_update_pair(const oz_frame *f, const oz_paper_update_self *s, const oz_group *n,
                                oz_real *acc) {
  oz_paper_strain_pair(f, s, n, acc);
}

OZ_FN void oz_paper_update_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 L = oz_paper_gradient(f, i, acc);
  oz_s3 Q = oz_planes6_ld(f->q, f->stride, i), one = oz_s3_identity();
  oz_real tau = oz_relaxation_time(f, i), size = oz_set(0.0f);
  oz_mask relaxes = tau > oz_set(0.0f);
  Q = oz_paper_solve(&L, &Q, f->dt / oz_select(relaxes, tau, oz_set(1.0f)));
  for (int c = 0; c < 6; c++) size = oz_max(size, oz_abs(Q.s[c]));
  oz_mask good = relaxes & (size < oz_set(1e3f)) &
                 (oz_ld(f->paper_neighbours, i) >= oz_set((float)OZ_MIN_NEIGHBOURS));
  Q = oz_s3_select(good, &Q, &one);
  Q = oz_conformation_clamp(&Q);
  oz_planes6_st(f->q, f->stride, i, &Q);
}
#endif
