/* The rest filter (NUMERICS.md part 3): takes out of the velocity what is not locally affine. Rigid motion, shear and
 * expansion pass unchanged; pairwise, so momentum is kept. It is what lets a fluid come to rest. */
#ifndef OZ_PHYSICS_FILTER_H
#define OZ_PHYSICS_FILTER_H

#include "physics/pairs.h"

/* ---- filter_gradient: A = -(arm / 2) g_i L_i, L the velocity gradient; u.w is the gate g (0 where not in the filter). The
 * gate itself rides in the spare of each column ---- */

typedef struct { int none; } oz_filter_gradient_self;
OZ_FN void oz_filter_gradient_begin(const oz_frame *f, uint32_t i, oz_filter_gradient_self *s) { (void)f; (void)i; s->none = 0; }
OZ_FN void oz_filter_gradient_pair(const oz_frame *f, const oz_filter_gradient_self *s, const oz_group *n, oz_real *acc) {
  (void)s;
  oz_outer_gather(acc, f->u, n->j, n->g.x, n->g.y, n->g.z);
}
OZ_FN void oz_filter_gradient_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real u[4];
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 v = {u[0], u[1], u[2]};
  oz_m3 M = oz_difference(acc, v, oz_block3_ld(f->sg, f->stride, i));
  oz_s3 B = oz_block6_ld(f->B, f->stride, i);
  oz_m3 L = oz_m3_mul_s(&M, &B);
  oz_real k = (-0.5f * f->hour_arm * f->inv_d) * u[3];
  for (int c = 0; c < 9; c++) L.m[c] *= k;
  oz_matrix_st_spare(f->A, i, &L, u[3]);
}

/* ---- filter_move: u_i += 0.8 omega_i g_i sum_j g_j c (u_ji - (L_i + L_j) x0_ji / 2): closed gates drop out by
 * themselves, and what i gains j loses ---- */

typedef struct { oz_own u; } oz_filter_move_self;
OZ_FN void oz_filter_move_begin(const oz_frame *f, uint32_t i, oz_filter_move_self *s) {
  s->u = oz_own_of(f->u + 4 * (size_t)i, 0.0f);
}
OZ_FN void oz_filter_move_pair(const oz_frame *f, const oz_filter_move_self *s, const oz_group *n, oz_real *acc) {
  oz_matrix_product_spare(acc, f->A, f->u, n->j, n->g.x, n->g.y, n->g.z);
  oz_pull_gather(acc + OZ_SPARE_ACC, f->u, n->j, &s->u, n->c);
}
OZ_FN void oz_filter_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real u[4];
  oz_m3 A;
  oz_ld4(f->u, i, 4, 0, u);
  oz_matrix_ld(f->A, i, &A);
  oz_v3 sg = {acc[3], acc[4], acc[5]}; /* sum of g_j ghat */
  oz_v3 own = oz_m3_v(&A, sg);         /* has g_i already */
  oz_real k = 0.8f * oz_ld(f->omega, i), g = oz_max(u[3], oz_set(0.0f));
  oz_v3 du = {k * (g * (acc[0] + acc[6]) + own.x), k * (g * (acc[1] + acc[7]) + own.y), k * (g * (acc[2] + acc[8]) + own.z)};
  oz_add_sane(u, du, OZ_SANE_SPEED);
  oz_st4(f->u2, i, 4, 0, u);
}
#endif
