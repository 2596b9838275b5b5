/* Moving particle semi-implicit method with Cauchy's equation of motion (Mukai, Matsui & Chang; MPS
 * after Koshizuka; docs/theory/models/cauchy.md). Numbers in brackets are the paper's equations.
 *
 * Solids are boundary particles (boundary.h): they have a velocity, answer a stress with the same
 * stress and a pressure with the same pressure, and count in the number density by their weights.
 *
 * Differences from the printed form:
 *   gradients    are corrected by the inverse of their moment, so that rigid rotation has no strain
 *                rate
 *   divergences  are the adjoint of that gradient, and pressures are added (p_i + p_j), so that
 * pair forces are opposite viscosity    acts between pairs, along their direction, because layers
 * that move against each other have no gradient (with the tensor (4), suction pulled layers
 * together in twos, and the column broke between them after 0.05 s) shear rate   is sqrt(2 D:D),
 * since (11) is negative for incompressible flow parabolas    (9) and (21) stay at their minimum,
 * beyond which they would rise again strain       turns with the rotation of its neighbourhood. The
 * tensor q holds I + strain SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_MPS_H
#define OZ_PHYSICS_MPS_H

#include "physics/stage_parts.h"

/* w = h / r - 1 and w / r^2; 0 for the particle itself and beyond h. */
OZ_FN oz_real oz_mps_weight(const oz_frame *f, oz_v3 r, oz_real *over_r2) {
  /* the weight is unbounded: pairs nearer than d / 2 count as at d / 2, otherwise one pair throws
   * the others about */
  oz_real r2 = oz_dot(r, r), ir = oz_rsqrt(oz_max(r2, oz_set(0.25f * f->d * f->d)));
  oz_real w = oz_max(f->h * ir - 1.0f, oz_set(0.0f));
  w = oz_select(r2 > oz_set(1e-10f * f->h2), w, oz_set(0.0f));
  *over_r2 = w * ir * ir;
  return w;
}

/* (9), (21): parabolas of the shear rate, held at their lowest point. */
OZ_FN oz_real oz_mps_fit(oz_real rate, float a, float b, float c) {
  oz_real g = oz_min(rate, oz_set(b / (2.0f * a)));
  return a * g * g - b * g + c;
}

#define OZ_MPS_STRAIN 3.0f

/* ---- mps_stress: velocity gradient (5), strain, deviatoric stress (3)-(8), (16)-(20); writes the
 * elastic part times moment^-1, and velocity and viscosity, for the neighbours ---- */

OZ_SELF_VECTORS(mps_stress, x, x, u, u)

OZ_FN void oz_mps_stress_pair(const oz_frame *f, const oz_mps_stress_self *s, const oz_group *n,
                              oz_real *acc) {
  oz_v3 r = oz_sub(oz_vec_near(f->x, n), s->x), u = oz_sub(oz_vec_near(f->u, n), s->u), g;
  oz_real k;
  acc[0] += oz_mps_weight(f, r, &k);
  g.x = k * r.x;
  g.y = k * r.y;
  g.z = k * r.z;
  acc[1] += g.x * r.x;
  acc[2] += g.y * r.y;
  acc[3] += g.z * r.z;
  acc[4] += g.x * r.y;
  acc[5] += g.x * r.z;
  acc[6] += g.y * r.z;
  acc[7] += u.x * g.x;
  acc[8] += u.x * g.y;
  acc[9] += u.x * g.z;
  acc[10] += u.y * g.x;
  acc[11] += u.y * g.y;
  acc[12] += u.y * g.z;
  acc[13] += u.z * g.x;
  acc[14] += u.z * g.y;
  acc[15] += u.z * g.z;
}

/* Deviatoric stress from the strain rate and the strain, by the chosen law: the elastic part as a
 * tensor, the viscous one as the viscosity between pairs. */
OZ_FN oz_s3 oz_mps_law(const oz_frame *f, uint32_t i, const oz_s3 *D, const oz_s3 *strain,
                       oz_real *viscosity) {
  const oz_cauchy *c = &f->cauchy;
  oz_real rate = oz_sqrt(oz_max(2.0f * oz_s3_dot(D, D), oz_set(0.0f))), elastic;
  oz_real eta = oz_min(oz_viscosity(f, i), oz_set(c->most_viscous)), zero = oz_set(0.0f);
  /* sim 4: (16) by its size (20), eta by (21): |E*| = E w eta / sqrt(E^2 + (w eta)^2) */
  if (c->stress == 3) {
    oz_real we = c->omega * oz_mps_fit(rate, 1.80e-4f, 1.11e-2f, 3.62e-1f), E = oz_set(c->young);
    *viscosity = zero;
    elastic = E * we * oz_rsqrt(E * E + we * we + 1e-20f);
  } else {
    /* (3): alpha by (9) in sim 1, 1 in sim 2, 0 in sim 3; (4) and (8) */
    oz_real alpha = c->stress == 0 ? oz_mps_fit(rate, 4.99e-4f, 3.07e-2f, 1.0f)
                                   : oz_set(c->stress == 1 ? 1.0f : 0.0f);
    *viscosity = alpha * eta;
    elastic = 2.0f * (1.0f - alpha) * c->shear;
  }
  oz_s3 r;
  for (int k = 0; k < 6; k++) r.s[k] = elastic * strain->s[k];
  return r;
}

OZ_FN void oz_mps_stress_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  const float norm = 3.0f / f->cauchy.n0;
  oz_s3 K, B, q = oz_planes6_ld(f->q, f->stride, i), strain;
  oz_m3 raw, L, U;
  oz_real k[3];
  for (int c = 0; c < 6; c++)
    K.s[c] = norm * acc[1 + c], strain.s[c] = q.s[c] - (c < 3 ? 1.0f : 0.0f);
  oz_s3_eigen(&K, 3, k, &U);
  /* thin neighbourhoods stay bounded */
  for (int c = 0; c < 3; c++) k[c] = 1.0f / oz_max(k[c], oz_set(0.3f));
  B = oz_s3_compose(k, &U);
  for (int c = 0; c < 9; c++) raw.m[c] = norm * acc[7 + c];
  L = oz_m3_mul_s(&raw, &B);
  /* with its trace, as printed: nothing else resists swelling, since pressure does not pull */
  oz_s3 D = oz_m3_sym(&L);
  /* strain: e' = D + W e - e W, W the spin */
  oz_m3 W = L, e = oz_s3_full(&strain), We;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) W.m[3 * a + b] = 0.5f * (L.m[3 * a + b] - L.m[3 * b + a]);
  We = oz_m3_mul(&W, &e);
  oz_s3 turn = oz_m3_sym(&We); /* W e + (W e)^T = W e - e W, halved by sym */
  for (int c = 0; c < 6; c++) strain.s[c] += f->dt * (D.s[c] + 2.0f * turn.s[c]);
  /* Hooke's law has no limit: beyond OZ_MPS_STRAIN, and where a particle has lost its neighbours,
   * the material flows */
  oz_real size2 = oz_s3_dot(&strain, &strain), most = oz_set(OZ_MPS_STRAIN);
  oz_real hold =
      oz_select(size2 > most * most, most * oz_rsqrt(oz_max(size2, oz_set(1.0f))), oz_set(1.0f));
  hold = oz_select((acc[0] > oz_set(0.3f * f->cauchy.n0)) & (size2 < oz_set(1e6f)), hold,
                   oz_set(0.0f));
  for (int c = 0; c < 6; c++)
    strain.s[c] = oz_select(hold > oz_set(0.0f), strain.s[c] * hold, oz_set(0.0f));
  for (int c = 0; c < 6; c++) q.s[c] = strain.s[c] + (c < 3 ? 1.0f : 0.0f);
  oz_planes6_st(f->q, f->stride, i, &q);
  oz_real eta, u[4];
  oz_s3 tau = oz_mps_law(f, i, &D, &strain, &eta);
  oz_m3 A = oz_s3_mul_s(&tau, &B);
  for (int c = 0; c < 9; c++) A.m[c] *= norm;
  oz_matrix_st(f->A, i, &A);
  oz_ld4(f->u, i, 4, 0, u);
  u[3] = f->has_boundary ? oz_select(oz_at_boundary(f, i), -oz_weight(f, i), eta) : eta;
  /* dx is free until mps_density: velocity and viscosity, for solids minus their weight */
  oz_st4(f->dx, i, 4, 0, u);
}

/* ---- mps_force: velocities by stress, surface tension (14) and outside forces; displacement by
 * them ---- */

OZ_SELF_VECTOR_RECORD(mps_force, x, x, dx, u, eta)

OZ_FN void oz_mps_force_pair(const oz_frame *f, const oz_mps_force_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_real x[4], k;
  oz_m3 A;
  oz_v3 r = oz_near_from(f->x, n, s->x, x), g;
  (void)oz_mps_weight(f, r, &k);
  /* viscosity along the pair, which keeps angular momentum: sum of w (u_ji . r) r / r^2 is n0
   * lambda / 30 of the Laplacian */
  oz_real v[4];
  oz_near4(f->dx, n, v);
  oz_mask solid = v[3] < oz_set(0.0f);
  oz_real eta = oz_select(solid, -s->eta * v[3], 0.5f * (s->eta + v[3]));
  oz_real drag = k * eta * ((v[0] - s->u.x) * r.x + (v[1] - s->u.y) * r.y + (v[2] - s->u.z) * r.z);
  acc[9] += drag * r.x;
  acc[10] += drag * r.y;
  acc[11] += drag * r.z;
  oz_matrix_gather(f->A, n->j, &A);
  g.x = k * r.x;
  g.y = k * r.y;
  g.z = k * r.z;
  oz_v3 a = oz_m3_v(&A, g);
  acc[0] += a.x;
  acc[1] += a.y;
  acc[2] += a.z;
  oz_mask fluid = x[3] > oz_set(0.0f);
  /* a solid answers with this particle's stress */
  oz_real own = oz_select(fluid, oz_set(1.0f), oz_set(2.0f));
  acc[3] += own * g.x;
  acc[4] += own * g.y;
  acc[5] += own * g.z;
  oz_real r2 = oz_dot(r, r), ir = oz_rsqrt(oz_max(r2, oz_set(1e-10f * f->h2))), l = r2 * ir;
  oz_mask on = (r2 < oz_set(f->h2)) & (r2 > oz_set(1e-10f * f->h2));
  /* Young: towards solids */
  oz_real part = oz_select(fluid, oz_set(1.0f), oz_set(f->cauchy.wetting));
  oz_real t = oz_select(on, part * (l - f->d) * (l - f->h) * ir, oz_set(0.0f));
  acc[6] += t * r.x;
  acc[7] += t * r.y;
  acc[8] += t * r.z;
}

OZ_FN float oz_mps_viscous(const oz_frame *f) { return 30.0f / (f->cauchy.n0 * f->cauchy.lambda); }

OZ_FN void oz_mps_force_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_m3 A;
  oz_matrix_ld(f->A, i, &A);
  oz_v3 sum = {acc[3], acc[4], acc[5]}, own = oz_m3_v(&A, sum), x = oz_vec_ld(f->x, i);
  oz_v3 force = oz_force(f, i);
  oz_real u[4], y[4], zero = oz_set(0.0f), inv = 1.0f / oz_density(f, i),
                      pull = f->cauchy.pair / f->Vm * inv;
  oz_mask free = oz_ld(f->omega, i) > zero;
  oz_ld4(f->u, i, 4, 0, u);
  const float viscous = oz_mps_viscous(f);
  oz_real a[3] = {
      inv * (acc[0] + own.x + viscous * acc[9]) + pull * acc[6] + f->gravity[0] + force.x,
      inv * (acc[1] + own.y + viscous * acc[10]) + pull * acc[7] + f->gravity[1] + force.y,
      inv * (acc[2] + own.z + viscous * acc[11]) + pull * acc[8] + f->gravity[2] + force.z};
  for (int c = 0; c < 3; c++) u[c] += oz_select(free, f->dt * a[c], zero), y[c] = f->dt * u[c];
  y[3] = zero;
  oz_st4(f->u, i, 4, 0, u);
  oz_st4(f->y, i, 4, 0, y);
  oz_v3 p = {x.x + y[0], x.y + y[1], x.z + y[2]};
  oz_vec_st(f->p, i, p,
            f->has_boundary ? oz_select(oz_at_boundary(f, i), -oz_weight(f, i), oz_set(1.0f))
                            : oz_set(1.0f));
}

/* ---- pressure: sum_j w (P_i - P_j) = pull (n - n0) / n0, P = 6 dt^2 p / (rho lambda n0): the
 * implicit half of MPS, by conjugate gradients with the diagonal as preconditioner. Free surfaces
 * (n below 0.9 n0; Koshizuka: 0.8 to 0.99) have no pressure. Elsewhere it may be negative: that
 * draws threads, since with positive pressure alone a fluid can swell freely.
 *
 * The planes of lam hold P, residual, operator times direction, 1 / diagonal (0 at the surface),
 * diagonal. p.w is 1, for solids minus their weight; dx is (position, direction), after the solve
 * (position, P), for solids again minus their weight. Towards solids there is no difference in
 * pressure. ---- */

#define OZ_MPS_SURFACE 0.9f
/* minus this times its weight marks a solid particle in place of a pressure; no P comes near it */
#define OZ_MPS_SOLID 1e9f

enum { OZ_MPS_P = 0, OZ_MPS_R, OZ_MPS_Q, OZ_MPS_INV, OZ_MPS_DIAG };

OZ_FN oz_real oz_mps_ld(const oz_frame *f, uint32_t i, int plane) {
  return oz_ld(f->lam + (size_t)plane * f->stride, i);
}

OZ_FN void oz_mps_st(const oz_frame *f, uint32_t i, int plane, oz_real v) {
  oz_st(f->lam + (size_t)plane * f->stride, i, v);
}

OZ_SELF_VECTOR(mps_density, p, p)

OZ_FN void oz_mps_density_pair(const oz_frame *f, const oz_mps_density_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_real v[4], k;
  oz_v3 r = oz_near_from(f->p, n, s->p, v);
  oz_real w = oz_mps_weight(f, r, &k), zero = oz_set(0.0f);
  acc[0] += oz_select(v[3] > zero, w, zero);
  acc[1] += oz_select(v[3] > zero, zero, -v[3] * w);
}

OZ_FN void oz_mps_density_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_real w[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_ld4(f->wall_term, i, 4, 0, w);
  /* walls without particles count as the part of the sphere that they fill */
  oz_real n = (acc[0] + acc[1]) / f->cauchy.n0 + w[3];
  oz_mask inside = (n > oz_set(OZ_MPS_SURFACE)) & (acc[0] > zero);
  oz_real inv = oz_select(inside, one / oz_max(acc[0], oz_set(1e-6f)), zero);
  oz_real r = oz_select(inside, f->cauchy.density_pull * (n - 1.0f), zero);
  oz_st(f->rho, i, n);
  oz_mps_st(f, i, OZ_MPS_P, zero);
  oz_mps_st(f, i, OZ_MPS_R, r);
  oz_mps_st(f, i, OZ_MPS_Q, zero);
  oz_mps_st(f, i, OZ_MPS_INV, inv);
  oz_mps_st(f, i, OZ_MPS_DIAG, acc[0]);
  oz_vec_st(f->dx, i, oz_vec_ld(f->p, i), r * inv);
  red[0] = r * r * inv;
}

OZ_SELF_VECTOR(mps_apply, dx, p)

OZ_FN void oz_mps_apply_pair(const oz_frame *f, const oz_mps_apply_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_real v[4], k;
  oz_v3 r = oz_near_from(f->dx, n, s->p, v);
  acc[0] += oz_mps_weight(f, r, &k) * v[3];
}

OZ_FN void oz_mps_apply_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  oz_real v[4], zero = oz_set(0.0f);
  oz_ld4(f->dx, i, 4, 0, v);
  oz_real q = oz_mps_ld(f, i, OZ_MPS_DIAG) * v[3] - acc[0];
  q = oz_select(oz_mps_ld(f, i, OZ_MPS_INV) > zero, q, zero);
  oz_mps_st(f, i, OZ_MPS_Q, q);
  red[0] = q * v[3];
}

OZ_FN void oz_mps_update_item(const oz_frame *f, uint32_t i, oz_real *red) {
  float al = (float)f->scalar[OZ_SCALAR_ALPHA];
  red[0] = oz_set(0.0f);
  if (al == 0.0f) return;
  oz_real v[4];
  oz_ld4(f->dx, i, 4, 0, v);
  oz_real r = oz_mps_ld(f, i, OZ_MPS_R) - al * oz_mps_ld(f, i, OZ_MPS_Q);
  oz_mps_st(f, i, OZ_MPS_P, oz_mps_ld(f, i, OZ_MPS_P) + al * v[3]);
  oz_mps_st(f, i, OZ_MPS_R, r);
  red[0] = r * r * oz_mps_ld(f, i, OZ_MPS_INV);
}

OZ_FN void oz_mps_direction_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  float be = (float)f->scalar[OZ_SCALAR_BETA];
  oz_real v[4];
  oz_ld4(f->dx, i, 4, 0, v);
  v[3] = oz_mps_ld(f, i, OZ_MPS_R) * oz_mps_ld(f, i, OZ_MPS_INV) + be * v[3];
  oz_st4(f->dx, i, 4, 0, v);
}

/* mps_pressure: the record that mps_move gathers. */
OZ_FN void oz_mps_pressure_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real v[4];
  oz_ld4(f->dx, i, 4, 0, v);
  v[3] = oz_mps_ld(f, i, OZ_MPS_P);
  if (f->has_boundary)
    v[3] = oz_select(oz_at_boundary(f, i), -OZ_MPS_SOLID * oz_weight(f, i), v[3]);
  oz_st4(f->dx, i, 4, 0, v);
}

/* ---- mps_move: displacement by the pressure gradient: dt^2 / rho (3 / n0) sum (p_i + p_j) w r /
 * r^2 ---- */

OZ_SELF_RECORD(mps_move, dx, p, P)

OZ_FN void oz_mps_move_pair(const oz_frame *f, const oz_mps_move_self *s, const oz_group *n,
                            oz_real *acc) {
  oz_real v[4], k;
  oz_v3 r = oz_near_from(f->dx, n, s->p, v);
  (void)oz_mps_weight(f, r, &k);
  k = k * oz_select(v[3] < oz_set(-1e-6f * OZ_MPS_SOLID), (-2.0f / OZ_MPS_SOLID) * s->P * v[3],
                    s->P + v[3]);
  acc[0] += k * r.x;
  acc[1] += k * r.y;
  acc[2] += k * r.z;
}

OZ_FN void oz_mps_move_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real y[4], w[4], v[4],
      k = oz_select(oz_ld(f->omega, i) > oz_set(0.0f), oz_set(-0.5f * f->cauchy.lambda),
                    oz_set(0.0f));
  oz_ld4(f->y, i, 4, 0, y);
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_ld4(f->dx, i, 4, 0, v);
  /* a wall answers with the particle's own pressure: its part of the sum is n0 / 3 times the
   * gradient of the filled part */
  oz_real wall = (2.0f / 3.0f) * f->cauchy.n0 * f->inv_d * v[3];
  oz_v3 move = {k * (acc[0] + wall * w[0]), k * (acc[1] + wall * w[1]), k * (acc[2] + wall * w[2])};
  oz_add_sane(y, move, OZ_SANE_MOVE * f->d);
  oz_st4(f->y, i, 4, 0, y);
}
#endif
