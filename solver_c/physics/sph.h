/* Smoothed particle hydrodynamics blended with shape matching (Takamatsu & Kanai 2011;
 * docs/theory/models/blend.md). Numbers in brackets are the paper's equations.
 *
 * Differences from the printed form: pressure and viscosity are pairwise (Mueller 2003's spiky and
 * viscosity kernels, sums of both sides), so that momentum is kept; pressure is one-sided, because
 * (1) pulls particles into clumps where density is below rest; the pressure coefficient and the
 * viscosity are reduced to the stability limit of an explicit step. The paper shortens the step
 * (12) so that no particle moves further than the support radius, which is `cfl` = blend_support
 * (core/step.c). (7) is read as the rigid motion of j's neighbourhood applied to i: its x_j^ref is
 * the centre of that neighbourhood, as in Rivers & James. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SPH_H
#define OZ_PHYSICS_SPH_H

#include "physics/stage_parts.h"
#include "physics/motion.h"

/* The rotation nearest to a, from any start: a = R S by the eigenvectors of a^T a, with the least
 * certain axis from the other two, so that it is never a reflection. Lanes with a stretched along
 * one line only, or zero, get the identity. */
OZ_FN oz_q4 oz_rotation_of(const oz_m3 *a) {
  oz_s3 s;
  oz_m3 v, u, r;
  oz_real w[3], zero = oz_set(0.0f), one = oz_set(1.0f), size = zero;
  for (int c = 0; c < 9; c++) size = oz_max(size, oz_abs(a->m[c]));
  oz_real inv = one / oz_max(size, oz_set(1e-30f));
  oz_m3 b;
  for (int c = 0; c < 9; c++) b.m[c] = a->m[c] * inv;
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  for (int c = 0; c < 6; c++)
    s.s[c] = b.m[I[c]] * b.m[J[c]] + b.m[3 + I[c]] * b.m[3 + J[c]] + b.m[6 + I[c]] * b.m[6 + J[c]];
  oz_s3_eigen(&s, 4, w, &v);
  /* columns of v by falling eigenvalue: a network of three exchanges */
  for (int k = 0; k < 3; k++) {
    const int p = k == 1 ? 1 : 0, q = p + 1;
    oz_mask turn = w[q] > w[p];
    oz_real t = oz_select(turn, w[q], w[p]);
    w[q] = oz_select(turn, w[p], w[q]);
    w[p] = t;
    for (int c = 0; c < 3; c++) {
      oz_real x = v.m[3 * c + p], y = v.m[3 * c + q];
      v.m[3 * c + p] = oz_select(turn, y, x);
      v.m[3 * c + q] = oz_select(turn, x, y);
    }
  }
  oz_mask turns = w[1] > 1e-4f * w[0] + 1e-12f;
  for (int k = 0; k < 2; k++) { /* u_k = a v_k, made orthonormal */
    oz_v3 e = {v.m[k], v.m[3 + k], v.m[6 + k]}, x = oz_m3_v(&b, e);
    if (k == 1) {
      oz_real along = x.x * u.m[0] + x.y * u.m[3] + x.z * u.m[6];
      x.x -= along * u.m[0];
      x.y -= along * u.m[3];
      x.z -= along * u.m[6];
    }
    oz_real l = oz_rsqrt(oz_max(oz_dot(x, x), oz_set(1e-30f)));
    u.m[k] = l * x.x;
    u.m[3 + k] = l * x.y;
    u.m[6 + k] = l * x.z;
  }
  oz_real *m[2] = {u.m, v.m};
  for (int k = 0; k < 2; k++) { /* third axes of both frames, right-handed */
    oz_real *n = m[k];
    n[2] = n[3] * n[7] - n[6] * n[4];
    n[5] = n[6] * n[1] - n[0] * n[7];
    n[8] = n[0] * n[4] - n[3] * n[1];
  }
  r = oz_m3_mul_t(&u, &v);
  for (int c = 0; c < 9; c++) r.m[c] = oz_select(turns, r.m[c], oz_set(c % 4 == 0 ? 1.0f : 0.0f));
  /* close eigenvalues leave a frame that is only nearly that of a; from there Newton's method is
   * exact */
  oz_q4 q = oz_q4_of(&r), better = oz_polar(&b, q, 2);
  q.x = oz_select(turns, better.x, q.x);
  q.y = oz_select(turns, better.y, q.y);
  q.z = oz_select(turns, better.z, q.z);
  q.w = oz_select(turns, better.w, q.w);
  return q;
}

/* ---- free_start: predicted positions without constraints; clears the arrays of conformation that
 * `finish` reads ---- */

OZ_FN void oz_clear_conformation(const oz_frame *f, uint32_t i) {
  oz_real zero = oz_set(0.0f);
  oz_s3 none;
  oz_v3 still = {zero, zero, zero};
  for (int c = 0; c < 6; c++) none.s[c] = zero;
  oz_planes6_st(f->lam, f->stride, i, &none);
  oz_block6_st(f->K, f->stride, i, &none);
  oz_six_st(f->B, f->stride, i, &none);
  oz_st(f->zero_energy_gate, i, zero);
  oz_vec_st(f->wall_term, i, still, zero);
}

OZ_FN void oz_free_start_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_real u[4], zero = oz_set(0.0f);
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 force = oz_force(f, i), x = oz_vec_ld(f->x, i), y;
  oz_mask good =
      oz_abs(u[0]) + oz_abs(u[1]) + oz_abs(u[2]) < oz_set(OZ_SANE_MOVE * f->d * f->inv_dt);
  for (int c = 0; c < 3; c++) u[c] = oz_select(good, u[c], zero);
  u[3] = oz_select(good, zero, oz_set(1.0f));
  oz_st4(f->u, i, 4, 0, u);
  oz_mask free = oz_ld(f->omega, i) > zero;
  y.x = f->dt * (u[0] + oz_select(free, f->dt * (f->gravity[0] + force.x), zero));
  y.y = f->dt * (u[1] + oz_select(free, f->dt * (f->gravity[1] + force.y), zero));
  y.z = f->dt * (u[2] + oz_select(free, f->dt * (f->gravity[2] + force.z), zero));
  oz_v3 p = {x.x + y.x, x.y + y.y, x.z + y.z};
  oz_clear_conformation(f, i);
  oz_vec_st(f->y, i, y, zero);
  oz_vec_st(f->p, i, p, oz_ld(f->omega, i));
}

/* ---- sph_density: rho, p = k (rho - rho0); (velocity, p / rho^2) goes to dx for sph_force ---- */

OZ_SELF_VECTOR(sph_density, x, x)

OZ_FN void oz_sph_density_pair(const oz_frame *f, const oz_sph_density_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_v3 r = oz_sub(s->x, oz_vec_near(f->x, n));
  oz_real r2 = oz_dot(r, r);
  acc[0] +=
      oz_select(r2 > oz_set(1e-10f * f->h2), oz_kernel(f, r2), oz_set(0.0f)); /* not the padding */
}

OZ_FN void oz_sph_density_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real w[4], zero = oz_set(0.0f);
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_real rho = f->w_self * acc[0] + f->w_self + w[3];
  oz_real p = f->blend.k * oz_density(f, i) * oz_max(rho - 1.0f, zero);
  oz_st(f->rho, i, rho);
  oz_vec_st(f->dx, i, oz_vec_ld(f->u, i), p / (rho * rho));
}

/* ---- sph_force: acceleration by pressure (1) and viscosity (2), to sph_acceleration ---- */

OZ_SELF_VECTOR_RECORD(sph_force, x, x, dx, u, P)

OZ_FN void oz_sph_force_pair(const oz_frame *f, const oz_sph_force_self *s, const oz_group *n,
                             oz_real *acc) {
  oz_real v[4];
  oz_near4(f->dx, n, v);
  oz_v3 r = oz_sub(s->x, oz_vec_near(f->x, n));
  oz_real r2 = oz_dot(r, r), k = s->P + v[3];
  acc[0] += k * n->g.x;
  acc[1] += k * n->g.y;
  acc[2] += k * n->g.z;
  /* Laplacian of the viscosity kernel: 45 / (pi h^6) (h - r); its factor is -grad_norm / (V0 d) */
  oz_real near = oz_max(f->h - oz_sqrt(r2), oz_set(0.0f)),
          m = near * oz_min(oz_gather1(f->viscosity, n->j, 1), oz_set(f->blend.most_viscous));
  acc[3] += near * (v[0] - s->u.x);
  acc[4] += near * (v[1] - s->u.y);
  acc[5] += near * (v[2] - s->u.z);
  acc[6] += m * (v[0] - s->u.x);
  acc[7] += m * (v[1] - s->u.y);
  acc[8] += m * (v[2] - s->u.z);
}

OZ_FN void oz_sph_force_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real w[4], dx[4];
  oz_ld4(f->wall_term, i, 4, 0, w);
  oz_ld4(f->dx, i, 4, 0, dx);
  oz_real inv = 1.0f / oz_density(f, i), press = -f->inv_d * f->dens_grad * inv,
          wall = -2.0f * f->inv_d * inv * dx[3];
  /* the mean of both viscosities; volumes at rest on both sides, so that the exchange is equal and
   * opposite */
  oz_real lap = (-f->grad_norm * f->dens_grad * f->inv_d) * inv,
          mu = oz_min(oz_viscosity(f, i), oz_set(f->blend.most_viscous));
  for (int c = 0; c < 3; c++)
    oz_block_st(f->sph_acceleration, 3, (uint32_t)c, f->stride, i,
                press * acc[c] + wall * w[c] + 0.5f * lap * (mu * acc[3 + c] + acc[6 + c]));
}

/* ---- blend_reference: moves particles to the reference shape, at which the next list is made
 * ---- */

OZ_FN void oz_blend_reference_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_v3 x = oz_vec_ld(f->x, i), p = oz_planes3_ld(f->reference_shape, f->stride, i),
        y = oz_sub(p, x);
  oz_vec_st(f->y, i, y, oz_set(0.0f));
  oz_vec_st(f->p, i, p, oz_set(0.0f));
}

/* ---- blend_match: rotation (dx, quaternion) and translation (y2) of each neighbourhood of the
 * reference shape ---- */

/* 1 for another particle of the neighbourhood */
OZ_FN oz_real oz_blend_inside(const oz_frame *f, oz_v3 r) {
  oz_real r2 = oz_dot(r, r);
  return oz_select((r2 < oz_set(f->h2)) & (r2 > oz_set(1e-10f * f->h2)), oz_set(1.0f),
                   oz_set(0.0f));
}

OZ_SELF_VECTORS(blend_match, x, x, p, p)

OZ_FN void oz_blend_match_pair(const oz_frame *f, const oz_blend_match_self *s, const oz_group *n,
                               oz_real *acc) {
  oz_v3 p = oz_sub(oz_vec_near(f->p, n), s->p), x = oz_sub(oz_vec_near(f->x, n), s->x);
  oz_real in = oz_blend_inside(f, p);
  p.x *= in;
  p.y *= in;
  p.z *= in;
  acc[0] += in;
  acc[1] += in * x.x;
  acc[2] += in * x.y;
  acc[3] += in * x.z;
  acc[4] += p.x;
  acc[5] += p.y;
  acc[6] += p.z;
  acc[7] += x.x * p.x;
  acc[8] += x.x * p.y;
  acc[9] += x.x * p.z;
  acc[10] += x.y * p.x;
  acc[11] += x.y * p.y;
  acc[12] += x.y * p.z;
  acc[13] += x.z * p.x;
  acc[14] += x.z * p.y;
  acc[15] += x.z * p.z;
}

OZ_FN void oz_blend_match_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real k = 1.0f / (acc[0] + 1.0f); /* the particle itself belongs to its neighbourhood */
  oz_m3 cov, R;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) cov.m[3 * a + b] = acc[7 + 3 * a + b] - k * acc[1 + a] * acc[4 + b];
  oz_q4 q = oz_rotation_of(&cov);
  R = oz_q4_matrix(q);
  oz_v3 x = oz_vec_ld(f->x, i), p = oz_vec_ld(f->p, i);
  oz_v3 centre = {p.x + k * acc[4], p.y + k * acc[5], p.z + k * acc[6]},
        turned = oz_m3_v(&R, centre);
  oz_v3 t = {x.x + k * acc[1] - turned.x, x.y + k * acc[2] - turned.y, x.z + k * acc[3] - turned.z};
  oz_real rot[4] = {q.x, q.y, q.z, q.w};
  oz_st4(f->dx, i, 4, 0, rot);
  oz_vec_st(f->y2, i, t, oz_set(0.0f));
}

/* ---- blend_goal: (7), then both velocities (5), (13) and their blend (10) ---- */

OZ_SELF_VECTOR(blend_goal, p, p)

/* p rotated by the quaternion: p + 2 w (q x p) + 2 q x (q x p) */
OZ_FN oz_v3 oz_blend_turn(oz_real *q, oz_v3 p) {
  oz_v3 c = {q[1] * p.z - q[2] * p.y, q[2] * p.x - q[0] * p.z, q[0] * p.y - q[1] * p.x};
  oz_v3 r = {p.x + 2.0f * (q[3] * c.x + q[1] * c.z - q[2] * c.y),
             p.y + 2.0f * (q[3] * c.y + q[2] * c.x - q[0] * c.z),
             p.z + 2.0f * (q[3] * c.z + q[0] * c.y - q[1] * c.x)};
  return r;
}

OZ_FN void oz_blend_goal_pair(const oz_frame *f, const oz_blend_goal_self *s, const oz_group *n,
                              oz_real *acc) {
  oz_real q[4];
  oz_v3 r = oz_sub(s->p, oz_vec_near(f->p, n));
  oz_real in = oz_blend_inside(f, r);
  oz_near4(f->dx, n, q);
  oz_v3 g = oz_blend_turn(q, s->p), t = oz_vec_near(f->y2, n);
  acc[0] += in * (g.x + t.x);
  acc[1] += in * (g.y + t.y);
  acc[2] += in * (g.z + t.z);
  acc[3] += in;
}

OZ_FN void oz_blend_goal_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real q[4], u[4], y[4], zero = oz_set(0.0f), k = 1.0f / (acc[3] + 1.0f),
                            alpha = oz_set(f->blend.alpha);
  oz_ld4(f->dx, i, 4, 0, q);
  oz_ld4(f->u, i, 4, 0, u);
  oz_v3 p = oz_vec_ld(f->p, i), x = oz_vec_ld(f->x, i), own = oz_blend_turn(q, p),
        t = oz_vec_ld(f->y2, i);
  oz_v3 force = oz_force(f, i), a = oz_block3_ld(f->sph_acceleration, f->stride, i);
  oz_real pull[3] = {k * (acc[0] + own.x + t.x) - x.x, k * (acc[1] + own.y + t.y) - x.y,
                     k * (acc[2] + own.z + t.z) - x.z};
  oz_real outside[3] = {f->gravity[0] + force.x, f->gravity[1] + force.y, f->gravity[2] + force.z},
          sph[3] = {a.x, a.y, a.z};
  oz_mask free = oz_ld(f->omega, i) > zero;
  y[3] = zero;
  for (int c = 0; c < 3; c++) {
    oz_real fluid = f->dt * (sph[c] + outside[c]),
            solid = f->blend.pull * pull[c] + f->dt * outside[c];
    oz_real v = u[c] + oz_select(free, alpha * fluid + (1.0f - alpha) * solid, zero);
    y[c] = f->dt * v;
    oz_block_st(f->blend_move, 6, (uint32_t)c, f->stride, i, y[c]);
  }
  oz_st4(f->y, i, 4, 0, y); /* p is unchanged: neighbours still read it */
}

/* ---- blend_load: size of the outside force on each particle, collisions included (14);
 * blend_renew: new reference shape, when (14) is exceeded ---- */

OZ_FN void oz_blend_load_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_v3 force = oz_force(f, i), y = oz_vec_ld(f->y, i), was;
  was.x = oz_block_ld(f->blend_move, 6, 0, f->stride, i);
  was.y = oz_block_ld(f->blend_move, 6, 1, f->stride, i);
  was.z = oz_block_ld(f->blend_move, 6, 2, f->stride, i);
  float k = f->inv_dt * f->inv_dt;
  oz_v3 a = {f->gravity[0] + force.x + k * (y.x - was.x),
             f->gravity[1] + force.y + k * (y.y - was.y),
             f->gravity[2] + force.z + k * (y.z - was.z)};
  oz_real size = oz_sqrt(oz_dot(a, a));
  red[0] = oz_select(oz_finite(size), size, oz_set(0.0f));
}

OZ_FN void oz_blend_renew_item(const oz_frame *f, uint32_t i, oz_real *red) {
  (void)red;
  oz_v3 x = oz_vec_ld(f->x, i);
  oz_st(f->reference_shape, i, x.x);
  oz_st(f->reference_shape + f->stride, i, x.y);
  oz_st(f->reference_shape + 2 * (size_t)f->stride, i, x.z);
}
#endif
