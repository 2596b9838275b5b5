/* Boundary particles in the strain of the particles next to them
 * (docs/theory/boundary_particles.md, no-slip).
 *
 * Points stand half a separation behind the surface, as far as the first layer of fluid stands in
 * front of it. Fluid has the wall's velocity at the surface, so that a point shows its image in the
 * wall: with w_i the wall's motion at the place of particle i, the image of u_i - w_i is w_i - u_i,
 * and the difference of the pair is, instead of u_b - u_i,
 *
 *     (u_b - u_i) + (w_i - u_i).
 *
 * The first part is in the sums over all neighbours; here are the second one,
 *
 *     M_i += (w_i - u_i) (sum_b ghat_ib)^T,
 *
 * and its transpose, a pull of A_i sum_b ghat_ib: with that of the first part a point pulls with
 * 2 A_i, as a neighbour of the same stress does, A_i + A_j. A flow that turns with its wall has no
 * strain, since w_i is the wall's motion at the particle and not at the points.
 *
 * A film of one layer, or less, has no gradient across it but the wall's. Draining it feels
 * 3 mu u / h, h = sigma d (wall_density.h, oz_row_film); of its energy mu (u / s)^2 a volume that
 * is s = sigma d / sqrt(3). Points alone show s = d / 2, so there the second part slides
 * sqrt(3) / sigma - 1 times: S = film P + n n^T on w_i - u_i, and on the pull.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_POINTS_H
#define OZ_PHYSICS_WALL_POINTS_H

#include "physics/boundary_particles.h"
#include "physics/wall_slip.h"

/* m/s: motion of boundary particle j's collider at x: that of the point, which slip has changed in
 * u, and what the collider's rotation adds on the way. */
OZ_FN void oz_points_motion(const oz_frame *f, uint32_t j, const float x[3], float out[3]) {
  const oz_collider *c = oz_boundary_of(f, j);
  const float *at = f->x + 4 * (size_t)j;
  float to[3], here[3], there[3], a[3], b[3];
  for (int k = 0; k < 3; k++) out[k] = 0.0f;
  if (!c || f->boundary_still) return;
  oz_boundary_place(f, c, j, 1, to);
  oz_pose_in(c->p0, c->q0, x, here);
  oz_pose_in(c->p0, c->q0, at, there);
  oz_collider_velocity(c, here, f->inv_dt, a);
  oz_collider_velocity(c, there, f->inv_dt, b);
  for (int k = 0; k < 3; k++) out[k] = (to[k] - at[k]) * f->inv_dt + (a[k] - b[k]);
}

#define OZ_FILM_MOST 1e6f /* none */

/* Factor of sliding. K: of the fluid alone; g: of the points. */
OZ_FN float oz_points_film(const oz_frame *f, float K[6], const float g[3]) {
  const float inv = 1.0f / sqrtf(oz_maxf(oz_dot3f(g, g), 1e-20f)),
              n[3] = {inv * g[0], inv * g[1], inv * g[2]};
  for (int c = 0; c < 6; c++) K[c] *= 3.0f / f->k_ref;
  const float across = oz_row_across(K, n), deep = oz_film_deep(across),
              sigma = oz_film_sigma(K[0] + K[1] + K[2] - across);
  return deep + (1.0f - deep) * (1.7320508f / sigma - 1.0f);
}

/* The points next to particle i, as wall_rows puts them into its row. */
OZ_FN void oz_points_made(const oz_frame *f, uint32_t contact, size_t i, oz_wall_row *row) {
  const uint32_t length = f->start_length[i];
  const float *own = f->x + 4 * i, x[3] = {own[0], own[1], own[2]};
  const oz_v3 at = oz_vec_of(f->x, (uint32_t)i);
  float all = 0.0f, held = 0.0f, g[3] = {0.0f, 0.0f, 0.0f}, u[3] = {0.0f, 0.0f, 0.0f}, K[6];
  for (uint32_t c = 0; c < 6; c++) K[c] = *oz_block_at(f->K, 6, c, f->stride, (uint32_t)i);
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m);
    if (!oz_is_boundary(f, j)) continue;
    oz_real c;
    const oz_v3 ghat = oz_spiky(f, oz_sub(at, oz_vec_of(f->x, j)), &c);
    const float weight = oz_first(c), *b = f->x + 4 * (size_t)j;
    const float r[3] = {b[0] - x[0], b[1] - x[1], b[2] - x[2]};
    const float k[3] = {oz_first(ghat.x), oz_first(ghat.y), oz_first(ghat.z)};
    float v[3];
    oz_points_motion(f, j, x, v);
    for (int a = 0; a < 3; a++) g[a] += k[a], u[a] += weight * v[a];
    for (int a = 0; a < 3; a++) K[a] -= f->inv_d * r[a] * k[a];
    K[3] -= f->inv_d * r[0] * k[1], K[4] -= f->inv_d * r[0] * k[2], K[5] -= f->inv_d * r[1] * k[2];
    all += weight, held += weight * (1.0f - oz_slip(f, j));
  }
  if (!(all > 0.0f)) return;
  const oz_s3 B = oz_six_of(f->B, f->stride, (uint32_t)i);
  const oz_v3 sum = {oz_set(g[0]), oz_set(g[1]), oz_set(g[2])}, touch = oz_s3_v(&B, sum);
  row->points_c = all;
  row->points_film = oz_points_film(f, K, g);
  row->points_weight = oz_maxf(row->points_film, 1.0f) * sqrtf(oz_first(oz_dot(touch, touch)));
  for (int k = 0; k < 3; k++) row->points_g[k] = g[k], row->points_u[k] = u[k] / all;
  if (!f->has_slip || !(held < all)) return;
  if (f->wall_slip)
    oz_slip_made(f, contact, (uint32_t)i, 1.0f - held / all, row);
  else
    row->points_film *= held / all;
}

/* Sums of ghat of consecutive particles; 0 where none is next to a boundary particle. */
OZ_FN int oz_points_ld(const oz_frame *f, uint32_t i, oz_v3 *g) {
  float any = 0.0f;
  if (!f->has_boundary || !f->contact_of) return 0;
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t slot = f->contact_of[i + k];
    if (slot) any += f->wall_row[slot - 1].points_c;
  }
  if (!(any > 0.0f)) return 0;
  OZ_ROW_MEMBER(f, i, points_g[0], g->x);
  OZ_ROW_MEMBER(f, i, points_g[1], g->y);
  OZ_ROW_MEMBER(f, i, points_g[2], g->z);
  return 1;
}

/* goal w - v: the wall's motion less the particle's. goal: as in oz_row_strain. */
OZ_FN oz_v3 oz_points_slip(const oz_frame *f, uint32_t i, oz_v3 v, float goal) {
  oz_v3 slip = {-v.x, -v.y, -v.z}, w;
  if (goal != 0.0f) {
    OZ_ROW_MEMBER(f, i, points_u[0], w.x);
    OZ_ROW_MEMBER(f, i, points_u[1], w.y);
    OZ_ROW_MEMBER(f, i, points_u[2], w.z);
    slip.x += goal * w.x, slip.y += goal * w.y, slip.z += goal * w.z;
  }
  return slip;
}

/* S v. g: of the points, along their normal; most: limit of the factor. */
OZ_FN oz_v3 oz_points_slide(const oz_frame *f, uint32_t i, oz_v3 g, oz_v3 v, float most) {
  oz_real film, out;
  OZ_ROW_MEMBER(f, i, points_film, film);
  film = oz_min(film, oz_set(most));
  out = (1.0f - film) * oz_dot(g, v) / oz_max(oz_dot(g, g), oz_set(1e-12f));
  oz_v3 r = {film * v.x + out * g.x, film * v.y + out * g.y, film * v.z + out * g.z};
  return r;
}

/* d times the gradient of v from m, the sum of v_ji ghat^T, with the points' second part. */
OZ_FN oz_m3 oz_points_gradient(const oz_frame *f, uint32_t i, const oz_m3 *m, const oz_s3 *B,
                               oz_v3 v, float goal) {
  oz_v3 g;
  oz_m3 M = *m, L;
  oz_slips s;
  if (!oz_points_ld(f, i, &g)) return oz_m3_mul_s(m, B);
  const oz_v3 slip = oz_points_slip(f, i, v, goal);
  /* without a contact there is no g, and the slip does not count */
  oz_row_add(&M, oz_set(1.0f), oz_points_slide(f, i, g, slip, OZ_FILM_MOST), g);
  L = oz_m3_mul_s(&M, B);
  if (OZ_RARELY(oz_slips_at(f, i, &s))) {
    oz_m3 sums = *m, with = L; /* a call writes to memory: copies keep their registers */
    oz_slip_gradient(s, &sums, g, v, slip, f->boundary_still ? 0.0f : goal, &with);
    L = with;
  }
  return L;
}

OZ_FN void oz_points_pull_st(const oz_frame *f, uint32_t i, oz_v3 p) {
  float pull[3][OZ_LANES];
  oz_st(pull[0], 0, p.x), oz_st(pull[1], 0, p.y), oz_st(pull[2], 0, p.z);
  for (uint32_t k = 0; k < OZ_LANES; k++) {
    const uint32_t slot = f->contact_of[i + k];
    if (!slot) continue;
    for (int c = 0; c < 3; c++) f->wall_row[slot - 1].points_pull[c] = pull[c][k];
  }
}

/* A = scale T B, from which neighbours get their part of a stress; pull: that of the points
 * besides. Returns 0 where there are none. */
OZ_FN int oz_points_matrix(const oz_frame *f, uint32_t i, const oz_m3 *T, const oz_s3 *B,
                           float scale, oz_m3 *A, oz_v3 *pull) {
  oz_v3 g;
  oz_slips s;
  pull->x = pull->y = pull->z = oz_set(0.0f);
  *A = oz_m3_mul_s(T, B);
  for (int c = 0; c < 9; c++) A->m[c] *= scale;
  if (!oz_points_ld(f, i, &g)) return 0;
  *pull = oz_points_slide(f, i, g, oz_m3_v(A, g), OZ_FILM_MOST);
  if (OZ_RARELY(oz_slips_at(f, i, &s))) {
    oz_m3 stress = *T, with = *A;
    oz_v3 across = *pull;
    oz_slip_matrix(s, &stress, g, scale, &with, &across);
    *A = with, *pull = across;
  }
  return 1;
}

/* Stores the pull in the position phase, with the zero-energy control, for which a point shows the
 * image too. by: the multiplier's pull over -d; F: less one; y: displacement and strength. */
OZ_FN void oz_points_move(const oz_frame *f, uint32_t i, oz_v3 by, const oz_m3 *F,
                          const oz_real y[4], oz_mask on) {
  oz_v3 g, pull, v = {y[0], y[1], y[2]};
  oz_real c, zero = oz_set(0.0f);
  oz_slips s;
  if (!oz_points_ld(f, i, &g)) return;
  OZ_ROW_MEMBER(f, i, points_c, c);
  const oz_v3 whole = oz_points_slip(f, i, v, f->dt);
  oz_v3 slip = oz_points_slide(f, i, g, whole, 1.0f);
  if (OZ_RARELY(oz_slips_at(f, i, &s))) {
    oz_m3 affine = *F;
    oz_v3 to = slip;
    oz_slip_move(s, &affine, g, v, whole, f->zero_energy_arm / oz_max(c, oz_set(1e-20f)),
                 f->boundary_still ? 0.0f : f->dt, &to);
    slip = to;
  }
  c *= y[3];
  pull.x = oz_select(on, c * slip.x - f->d * by.x, zero);
  pull.y = oz_select(on, c * slip.y - f->d * by.y, zero);
  pull.z = oz_select(on, c * slip.z - f->d * by.z, zero);
  oz_points_pull_st(f, i, pull);
}
#endif
