/* Soft bodies: distance constraints along links and a volume constraint around each particle, both
 * with compliance, solved for the velocities at the end of the substep (docs/theory/bodies.md).
 * After that, fluid, walls and other bodies push their particles like any others.
 *
 *   distance   C_l = |x_j - x_i| - L for each link; stiffness k = E w_l, in N/m. E is 1 / stretch
 *              compliance (Pa), w_l (m) is stored with the link (core/soft.c: the sum over the
 * links of a particle makes a solid of Young's modulus E). volume     C_i = det F_i - 1, F_i the
 * best fit of the deformation of the particle's links: F = sum w x_ij X_ij^T A^-1, A = sum w X_ij
 * X_ij^T, X the places at rest. Stiffness kappa V0, kappa = 1 / volume compliance. Gradient:
 * dC_i/dx_j = w_ij G_i X_ij with G = cof(F) A^-1. solve      XPBD with compliance is one linearised
 * backward Euler step: (M + dt (dt + beta) K) v = M v* + dt f(x),   K = sum over constraints of
 *                stiffness times grad C grad C^T, beta: damping (s).
 *              Chebyshev's iteration in the metric of mass solves it without sums over the body.
 *              Every iterate is a polynomial of M^-1 K, so that linear and angular momentum are
 *              kept after any number of iterations. One root lies at eigenvalue 1: rigid motion is
 *              exact. The start is the velocity before forces, so that a body hanging at rest is
 *              exact too.
 *   bound      Damping counts as far as the iteration stays stable (oz_soft_ahead). Stiffness is
 *              reduced where it exceeds the bound of the iteration (soft.most): in crumpled parts,
 *              or where it is too high for the substep.
 *
 * Both ends of a link find the same force, and the forces of a volume constraint sum to zero force
 * and zero torque, so that linear and angular momentum are kept. Links longer than 1 + strain limit
 * of their length are dropped (oz_soft_keep).
 *
 * Walls take part in the solve: a particle that presses against one keeps its distance from it
 * (soft_hold), so that the load passes through the whole body at once.
 *
 * Working memory, free before `velocity_start`: soft_gradient, y2, wall_term hold the rows of G;
 * their fourth words are det F - 1, the bound, and the pressure (N m). dx and p hold the velocity
 * of this and of the previous iteration, alternating. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SOFT_H
#define OZ_PHYSICS_SOFT_H

#include "physics/body.h"
#include "physics/links.h"

/* d: a particle further than this from its place at a wall does not rest on it */
#define OZ_SOFT_TOUCH 0.05f
#define OZ_SOFT_RISE 0.1f /* d: largest move of a particle out of a wall in one substep */

/* Particle and body of a member slot; 0 if it does not belong to a soft body. */
OZ_FN int oz_soft_member(const oz_frame *f, uint32_t slot, uint32_t *i, const oz_body **b) {
  *i = f->member[slot];
  if (*i == OZ_NO_MEMBER || !f->link_row || oz_owner_kind(oz_word(f->owner, *i)) != OZ_OWNER_SOFT)
    return 0;
  const int64_t at = oz_body_index(f, oz_word(f->owner, *i));
  if (at < 0) return 0;
  *b = f->body + at;
  return 1;
}

/* s: time ahead at which strain is evaluated: the substep, plus damping as far as the iteration
 * stays stable. */
OZ_FN float oz_soft_ahead(const oz_frame *f, const oz_body *b) {
  const float rate = f->dt * (b->young * b->stretch_bound + b->bulk * b->volume_bound),
              most = f->soft.most - f->dt * rate;
  return f->dt + (b->damping * rate < most ? b->damping : most > 0.0f ? most / rate : 0.0f);
}

/* OZ_LANES links of a particle, as all stages use them. Padding and links of other kinds have
 * weight 0. */
typedef struct oz_soft_links {
  const uint32_t *j;
  oz_real w, rest;
  oz_v3 X; /* m: X_j - X_i */
} oz_soft_links;

OZ_FN void oz_soft_row(const oz_frame *f, uint32_t i, uint32_t m, oz_soft_links *n) {
  const size_t e = oz_link_at(f, i, m), s = f->stride;
  n->j = f->link_j + e;
  n->rest = oz_ld(f->link_rest + e, 0);
  n->w = oz_select(oz_index_ne(f->link_kind + e, OZ_LINK_SOFT), oz_set(0.0f),
                   oz_ld(f->link_spare + e, 0));
  n->X.x = oz_gather1(f->owner_place, n->j, 1) - f->owner_place[i];
  n->X.y = oz_gather1(f->owner_place + s, n->j, 1) - f->owner_place[s + i];
  n->X.z = oz_gather1(f->owner_place + 2 * s, n->j, 1) - f->owner_place[2 * s + i];
}

/* Direction from i to j, and the length; zero for a link without length. */
OZ_FN oz_v3 oz_soft_way(const oz_frame *f, uint32_t i, const uint32_t *j, oz_real *l) {
  oz_v3 r = oz_sub(oz_vec_gather(f->x, j), oz_vec_of(f->x, i));
  oz_real r2 = oz_dot(r, r), ir = oz_rsqrt(oz_max(r2, oz_set(1e-12f * f->d * f->d)));
  *l = r2 * ir;
  oz_v3 n = {r.x * ir, r.y * ir, r.z * ir};
  return n;
}

OZ_FN oz_v3 oz_soft_times(const float G[9], oz_v3 v) {
  oz_v3 r = {G[0] * v.x + G[1] * v.y + G[2] * v.z, G[3] * v.x + G[4] * v.y + G[5] * v.z,
             G[6] * v.x + G[7] * v.y + G[8] * v.z};
  return r;
}

OZ_FN float *oz_soft_matrix(const oz_frame *f, uint32_t i, int r) {
  return (r == 0 ? f->soft_gradient : r == 1 ? f->y2 : f->wall_term) + 4 * (size_t)i;
}

OZ_FN void oz_soft_matrix_ld(const oz_frame *f, uint32_t i, float G[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) G[3 * r + c] = oz_soft_matrix(f, i, r)[c];
}

OZ_FN float *oz_soft_now(const oz_frame *f) { return f->soft.turn & 1u ? f->p : f->dx; }

/* holds the previous velocity until it is overwritten */
OZ_FN float *oz_soft_next(const oz_frame *f) { return f->soft.turn & 1u ? f->dx : f->p; }

/* 1/kg */
OZ_FN float oz_soft_mass(const oz_frame *f, uint32_t i) {
  return f->omega[i] > 0.0f ? f->omega[i] / f->m_ref : 0.0f;
}

/* ---- soft_start: shape, bound, and the start velocity of the iteration ---- */

/* Voids links whose ends are not both particles of this soft body. */
OZ_FN void oz_soft_void(const oz_frame *f, uint32_t i, const oz_body *b) {
  for (uint32_t m = 0; m < f->link_len[i]; m++) {
    const size_t e = oz_link_at(f, i, m);
    const uint32_t j = f->link_j[e];
    if (f->link_kind[e] == OZ_LINK_SOFT &&
        (oz_word(f->owner, j) != oz_word(f->owner, i) || f->id[j] - b->first_id >= b->count))
      f->link_spare[e] = 0.0f;
  }
}

/* G and det F - 1 from Fm = sum w x X^T (row major) and A (xx yy zz xy xz yz, m^3). 0 where the
 * links span no volume. */
OZ_FN float oz_soft_shape(const float Fm[9], const float A[6], float G[9]) {
  double a[6], inv[6], F[9], cof[9];
  for (int k = 0; k < 6; k++) a[k] = (double)A[k];
  oz_sym_inverse(a, inv);
  const double t = a[0] + a[1] + a[2],
               I[9] = {inv[0], inv[3], inv[4], inv[3], inv[1], inv[5], inv[4], inv[5], inv[2]};
  /* a sheet or a thread of links: its smallest extent, estimated from inv, is less than a tenth of
   * the greatest */
  const int flat = !((inv[0] + inv[1] + inv[2]) * t < 100.0) || !(inv[0] + inv[1] + inv[2] > 0.0);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      F[3 * r + c] = (double)Fm[3 * r] * I[c] + (double)Fm[3 * r + 1] * I[3 + c] +
                     (double)Fm[3 * r + 2] * I[6 + c];
  /* rows of the cofactor matrix */
  oz_cross3(F + 3, F + 6, cof), oz_cross3(F + 6, F, cof + 3), oz_cross3(F, F + 3, cof + 6);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      G[3 * r + c] =
          flat ? 0.0f
               : (float)(cof[3 * r] * I[c] + cof[3 * r + 1] * I[3 + c] + cof[3 * r + 2] * I[6 + c]);
  return flat ? 0.0f : (float)(oz_dot3(F, cof) - 1.0);
}

OZ_FN void oz_soft_start_item(const oz_frame *f, uint32_t slot) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b)) return;
  oz_real acc[22];
  float sum[22], G[9], turned = 0.0f;
  oz_soft_links n;
  for (int k = 0; k < 22; k++) acc[k] = oz_set(0.0f);
  oz_soft_void(f, i, b);
  for (uint32_t m = 0; m < f->link_len[i]; m += OZ_LANES) {
    oz_real l;
    oz_soft_row(f, i, m, &n);
    oz_v3 e = oz_soft_way(f, i, n.j, &l), wX = {n.w * n.X.x, n.w * n.X.y, n.w * n.X.z};
    oz_v3 r = {l * e.x, l * e.y, l * e.z};
    acc[0] += wX.x * n.X.x;
    acc[1] += wX.y * n.X.y;
    acc[2] += wX.z * n.X.z;
    acc[3] += wX.x * n.X.y;
    acc[4] += wX.x * n.X.z;
    acc[5] += wX.y * n.X.z;
    acc[6] += r.x * wX.x;
    acc[7] += r.x * wX.y;
    acc[8] += r.x * wX.z;
    acc[9] += r.y * wX.x;
    acc[10] += r.y * wX.y;
    acc[11] += r.y * wX.z;
    acc[12] += r.z * wX.x;
    acc[13] += r.z * wX.y;
    acc[14] += r.z * wX.z;
    acc[15] += n.w * e.x * e.x;
    acc[16] += n.w * e.y * e.y;
    acc[17] += n.w * e.z * e.z;
    acc[18] += n.w * e.x * e.y;
    acc[19] += n.w * e.x * e.z;
    acc[20] += n.w * e.y * e.z;
    acc[21] += n.w * oz_max(1.0f - n.rest / oz_max(l, oz_set(1e-6f * f->d)), oz_set(0.0f));
  }
  for (int k = 0; k < 22; k++) sum[k] = oz_sum(acc[k]);
  float J = oz_soft_shape(sum + 6, sum, G);
  if (!(b->bulk > 0.0f)) {
    J = 0.0f;
    for (int k = 0; k < 9; k++) G[k] = 0.0f;
  }
  /* sum of |grad C|: of the particle itself and of the other ends of its links */
  oz_real size = oz_set(0.0f), own[3] = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
  for (uint32_t m = 0; m < f->link_len[i]; m += OZ_LANES) {
    oz_soft_row(f, i, m, &n);
    oz_v3 g = oz_soft_times(G, n.X);
    size += n.w * oz_sqrt(oz_dot(g, g));
    own[0] += n.w * g.x;
    own[1] += n.w * g.y;
    own[2] += n.w * g.z;
  }
  for (int k = 0; k < 3; k++) turned += oz_sum(own[k]) * oz_sum(own[k]);
  const float S = oz_sum(size) + sqrtf(turned);
  const float xy = fabsf(sum[18]), xz = fabsf(sum[19]), yz = fabsf(sum[20]);
  const float norm = oz_maxf(sum[15] + xy + xz, oz_maxf(sum[16] + xy + yz, sum[17] + xz + yz));
  const float rate = oz_soft_mass(f, i) * (2.0f * b->young * (norm + sum[21]) +
                                           OZ_SOFT_SPREAD * b->bulk * f->V0 * S * S);
  const float have = f->dt * oz_soft_ahead(f, b) * rate;
  const float w[3] = {J, have > f->soft.most ? f->soft.most / have : 1.0f, 0.0f};
  for (int r = 0; r < 3; r++) {
    float *to = oz_soft_matrix(f, i, r);
    for (int c = 0; c < 3; c++) to[c] = G[3 * r + c];
    to[3] = w[r];
    const float u = f->u[4 * (size_t)i + (size_t)r], a = f->gravity[r] + oz_force_of(f, i, r);
    f->dx[4 * (size_t)i + (size_t)r] = f->p[4 * (size_t)i + (size_t)r] =
        f->omega[i] > 0.0f ? u - f->dt * a : u;
  }
}

/* ---- soft_rate: pressure of the volume constraint at the end of the substep with these velocities
 * ---- */

/* Each sum over links in parts, so that a GPU can share a row out among threads: of links first,
 * first + step, ... */
#define OZ_SOFT_SUMS 3
#define OZ_SOFT_ITEM(stage)                                                 \
  OZ_FN void oz_##stage##_item(const oz_frame *f, uint32_t slot) {          \
    oz_real acc[OZ_SOFT_SUMS] = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)}; \
    float sum[OZ_SOFT_SUMS];                                                \
    oz_##stage##_part(f, slot, 0, OZ_LANES, acc);                           \
    for (int k = 0; k < OZ_SOFT_SUMS; k++) sum[k] = oz_sum(acc[k]);         \
    oz_##stage##_end(f, slot, sum);                                         \
  }

OZ_FN void oz_soft_rate_part(const oz_frame *f, uint32_t slot, uint32_t first, uint32_t step,
                             oz_real acc[OZ_SOFT_SUMS]) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b) || !(b->bulk > 0.0f)) return;
  float G[9];
  const float *now = oz_soft_now(f);
  const oz_v3 v = oz_vec_of(now, i);
  oz_soft_matrix_ld(f, i, G);
  for (uint32_t m = first; m < f->link_len[i]; m += step) {
    oz_soft_links n;
    oz_soft_row(f, i, m, &n);
    acc[0] += n.w * oz_dot(oz_sub(oz_vec_gather(now, n.j), v), oz_soft_times(G, n.X));
  }
}

OZ_FN void oz_soft_rate_end(const oz_frame *f, uint32_t slot, const float sum[OZ_SOFT_SUMS]) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b) || !(b->bulk > 0.0f)) return;
  const float open = oz_soft_matrix(f, i, 0)[3] + oz_soft_ahead(f, b) * sum[0];
  oz_soft_matrix(f, i, 2)[3] = b->bulk * f->V0 * oz_soft_matrix(f, i, 1)[3] * open;
}

OZ_SOFT_ITEM(soft_rate)

/* ---- soft_pull: residual and one step of the iteration; the new velocity replaces the previous
 * one ---- */

OZ_FN void oz_soft_pull_part(const oz_frame *f, uint32_t slot, uint32_t first, uint32_t step,
                             oz_real acc[OZ_SOFT_SUMS]) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b)) return;
  float G[9];
  const float young = b->young, h = oz_soft_ahead(f, b);
  oz_real mine = oz_set(oz_soft_matrix(f, i, 1)[3]), one = oz_set(1.0f);
  const float *now = oz_soft_now(f);
  const oz_v3 v = oz_vec_of(now, i);
  oz_soft_matrix_ld(f, i, G);
  for (int k = 0; k < 9; k++) G[k] *= oz_soft_matrix(f, i, 2)[3];
  for (uint32_t m = first; m < f->link_len[i]; m += step) {
    oz_soft_links n;
    oz_real l, limit;
    oz_soft_row(f, i, m, &n);
    oz_v3 e = oz_soft_way(f, i, n.j, &l), dv = oz_sub(oz_vec_gather(now, n.j), v),
          push = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
    if (b->bulk > 0.0f) { /* (P_i G_i + P_j G_j) X */
      oz_real a[4], c[4], d[4];
      oz_gather4(f->soft_gradient, n.j, 4, 0, a);
      oz_gather4(f->y2, n.j, 4, 0, c);
      oz_gather4(f->wall_term, n.j, 4, 0, d);
      limit = c[3];
      push = oz_soft_times(G, n.X);
      push.x += d[3] * (a[0] * n.X.x + a[1] * n.X.y + a[2] * n.X.z);
      push.y += d[3] * (c[0] * n.X.x + c[1] * n.X.y + c[2] * n.X.z);
      push.z += d[3] * (d[0] * n.X.x + d[1] * n.X.y + d[2] * n.X.z);
    } else
      limit = oz_gather1(f->y2 + 3, n.j, 4);
    oz_real k = young * oz_min(mine, limit), along = oz_dot(dv, e);
    /* the tension of a stretched link also acts across it; without this term the link oscillates */
    oz_real across = h * k * oz_max(one - n.rest / oz_max(l, oz_set(1e-6f * f->d)), oz_set(0.0f));
    oz_real T = k * (l - n.rest + h * along) - across * along;
    acc[0] += n.w * (T * e.x + across * dv.x + push.x);
    acc[1] += n.w * (T * e.y + across * dv.y + push.y);
    acc[2] += n.w * (T * e.z + across * dv.z + push.z);
  }
}

OZ_FN void oz_soft_pull_end(const oz_frame *f, uint32_t slot, const float sum[OZ_SOFT_SUMS]) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b)) return;
  const float give = f->dt * oz_soft_mass(f, i);
  const float *u = f->u + 4 * (size_t)i, *mid = oz_soft_now(f) + 4 * (size_t)i;
  float *next = oz_soft_next(f) + 4 * (size_t)i;
  for (int k = 0; k < 3; k++) {
    const float r = u[k] - mid[k] + give * sum[k];
    next[k] += f->soft.omega * (f->soft.step * r + mid[k] - next[k]);
  }
}

OZ_SOFT_ITEM(soft_pull)

/* ---- soft_hold: a particle that presses against a wall stays half a separation from it. The first
 * iteration selects these particles: those that would come nearer with their velocity before
 * forces, or that rest there and are not drawn away by all forces ---- */

OZ_FN void oz_soft_hold_item(const oz_frame *f, uint32_t contact) {
  const uint32_t i = f->wall_particle[contact];
  if (oz_owner_kind(oz_word(f->owner, i)) != OZ_OWNER_SOFT || !(f->omega[i] > 0.0f)) return;
  oz_wall *wall = f->wall + (size_t)contact * f->contact_planes;
  const float *now = oz_soft_now(f) + 4 * (size_t)i;
  float *next = oz_soft_next(f) + 4 * (size_t)i;
  for (uint32_t k = 0; k < f->wall_planes[contact]; k++) {
    oz_wall *w = wall + k;
    /* m/s along the normal that lead to its place at the wall */
    const float to = (0.5f * f->d - w->s) * f->inv_dt;
    const float was = oz_dot3f(w->n, now), drawn = oz_dot3f(w->n, next) - was;
    if (f->soft.turn == 0)
      w->active = was < to || (was < to + OZ_SOFT_TOUCH * f->d * f->inv_dt && drawn <= 0.0f);
    if (!w->active) continue;
    /* out of a wall step by step, without a jump */
    const float lift = oz_minf(to, OZ_SOFT_RISE * f->d * f->inv_dt) - oz_dot3f(w->n, next);
    for (int a = 0; a < 3; a++) next[a] += lift * w->n[a];
  }
}

/* ---- soft_set: the result as velocity, and the predicted position ---- */

OZ_FN void oz_soft_set_item(const oz_frame *f, uint32_t slot) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b)) return;
  float *u = f->u + 4 * (size_t)i, *p = f->p + 4 * (size_t)i;
  const float *v = f->dx + 4 * (size_t)i, *x = f->x + 4 * (size_t)i;
  const float size = fabsf(v[0]) + fabsf(v[1]) + fabsf(v[2]);
  const int good = size < OZ_SANE_MOVE * f->d * f->inv_dt;
  for (int k = 0; k < 3; k++) {
    u[k] = good ? v[k] : 0.0f;
    p[k] = x[k] + f->dt * u[k];
  }
  if (!good) u[3] = 1.0f; /* finish resets and counts it */
  p[3] = 1.0f;
}

/* ---- soft_shift: adds the displacement that body_touch and body_wall left in dx ---- */

OZ_FN void oz_soft_shift_item(const oz_frame *f, uint32_t slot) {
  uint32_t i;
  const oz_body *b;
  if (!oz_soft_member(f, slot, &i, &b) || !(f->omega[i] > 0.0f)) return;
  float *y = f->y + 4 * (size_t)i, *p = f->p + 4 * (size_t)i;
  const float *dx = f->dx + 4 * (size_t)i, *x = f->x + 4 * (size_t)i;
  /* a larger displacement is no contact */
  if (!(fabsf(dx[0]) + fabsf(dx[1]) + fabsf(dx[2]) < f->h)) return;
  for (int k = 0; k < 3; k++) {
    y[k] += dx[k];
    p[k] = x[k] + y[k];
  }
}

/* True if a soft link holds at a squared distance of r2. Both ends belong to one body, so they
 * decide alike. */
OZ_FN int oz_soft_keep(const oz_frame *f, uint32_t i, const oz_link *l, float r2) {
  const int64_t at = oz_owner_kind(oz_word(f->owner, i)) == OZ_OWNER_SOFT
                         ? oz_body_index(f, oz_word(f->owner, i))
                         : -1;
  if (at < 0 || !(f->body[at].strain > 0.0f)) return 1;
  const float most = (1.0f + f->body[at].strain) * l->rest;
  return r2 <= most * most;
}
#endif
