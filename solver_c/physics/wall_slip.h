/* Boundary particles that let fluid slip (docs/theory/boundary_particles.md, slip).
 *
 * A frictionless wall acts across itself alone. Its points do so neither one by one, because a row
 * of points is bumpy, nor by a velocity along the wall that they have of their own. With N the
 * projector on the wall's normals, M and K the sums over fluid alone, and M' and K' those over
 * points, image included (wall_points.h),
 *
 *     L = N (M + N M' N) (K + N K' N)^-1 + (I - N) M K^-1 ,
 *
 * which is exact for every linear flow that does not cross the wall; and its transpose pulls across
 * the wall alone. The gradient of a wall with friction is the mean of this and of no-slip, friction
 * the weight of the latter. So the drag, that of the energy mu L^2, has its square.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_WALL_SLIP_H
#define OZ_PHYSICS_WALL_SLIP_H

#include "physics/boundary_particles.h"
#include "physics/wall_row.h"

/* Parts of the points' weight that a second or third normal has where N begins to have it, and has
 * it whole: below, a wall is curved or another one far; above, they meet. */
#define OZ_SLIP_CURVED 0.05f
#define OZ_SLIP_CORNER 0.2f

/* N. sum: of c n n^T over the points next to a particle, over that of c. */
OZ_FN oz_s3 oz_slip_across_of(const oz_s3 *sum) {
  oz_real w[3];
  oz_m3 U;
  oz_s3_eigen(sum, 4, w, &U);
  const oz_real most = oz_max(w[0], oz_max(w[1], w[2])), zero = oz_set(0.0f), one = oz_set(1.0f);
  for (int k = 0; k < 3; k++) {
    const oz_real part = (w[k] - OZ_SLIP_CURVED) * (1.0f / (OZ_SLIP_CORNER - OZ_SLIP_CURVED));
    w[k] = oz_select(w[k] < most, oz_min(one, oz_max(zero, part)), one);
  }
  return oz_s3_compose(w, &U);
}

/* N M N */
OZ_FN oz_s3 oz_slip_both(const oz_s3 *N, const oz_s3 *M) {
  const oz_m3 n = oz_s3_full(N), right = oz_s3_mul_s(M, N), both = oz_m3_mul(&n, &right);
  return oz_m3_sym(&both);
}

/* The row's slip, for points of a mean slip of `part`. */
OZ_FN void oz_slip_made(const oz_frame *f, uint32_t contact, uint32_t i, float part,
                        oz_wall_row *row) {
  const uint32_t length = f->start_length[i];
  const oz_v3 at = oz_vec_of(f->x, i);
  const float inv = 1.0f / row->points_c;
  oz_wall_slip *s = f->wall_slip + contact;
  oz_s3 normals, points, held, free;
  oz_v3 g = {oz_set(0.0f), oz_set(0.0f), oz_set(0.0f)};
  for (int c = 0; c < 6; c++) normals.s[c] = points.s[c] = oz_set(0.0f);
  for (int a = 0; a < 3; a++) s->mean[a] = 0.0f;
  for (int a = 0; a < 9; a++) s->sum[a] = 0.0f;
  for (uint32_t m = 0; m < length; m++) {
    const uint32_t j = oz_neighbour(f, i, m);
    if (!oz_is_boundary(f, j)) continue;
    oz_real c;
    const oz_v3 r = oz_sub(oz_vec_of(f->x, j), at), b = oz_sub(at, oz_vec_of(f->x, j)),
                ghat = oz_spiky(f, b, &c);
    const float *u = f->u + 4 * (size_t)j, weight = oz_first(c);
    const float k[3] = {oz_first(ghat.x), oz_first(ghat.y), oz_first(ghat.z)};
    float n[3];
    oz_slip_normal(f, j, n);
    const oz_v3 across = {oz_set(n[0]), oz_set(n[1]), oz_set(n[2])};
    oz_tensor_add(normals.s, inv * c, across);
    points.s[0] += f->inv_d * r.x * ghat.x, points.s[1] += f->inv_d * r.y * ghat.y;
    points.s[2] += f->inv_d * r.z * ghat.z, points.s[3] += f->inv_d * r.x * ghat.y;
    points.s[4] += f->inv_d * r.x * ghat.z, points.s[5] += f->inv_d * r.y * ghat.z;
    for (int a = 0; a < 3; a++) s->mean[a] += inv * weight * u[a];
    for (int a = 0; a < 9; a++) s->sum[a] += u[a / 3] * k[a % 3];
    g.x += ghat.x, g.y += ghat.y, g.z += ghat.z;
  }
  const oz_s3 N = oz_slip_across_of(&normals), across = oz_slip_both(&N, &points);
  for (uint32_t c = 0; c < 6; c++) {
    free.s[c] = oz_set(*oz_block_at(f->K, 6, c, f->stride, i)) - points.s[c];
    held.s[c] = free.s[c] + across.s[c];
  }
  held = f->gradient_correction ? oz_s3_inverse_bounded(&held) : oz_s3_identity();
  free = f->gradient_correction ? oz_s3_inverse_bounded(&free) : oz_s3_identity();
  s->part = part;
  for (int c = 0; c < 6; c++)
    s->across[c] = oz_first(N.s[c]), s->held[c] = oz_first(held.s[c]),
    s->free[c] = oz_first(free.s[c]);
  const oz_v3 by = oz_s3_v(&held, oz_s3_v(&N, g)), lost = oz_s3_v(&free, g);
  const float touch = sqrtf(oz_first(oz_dot(by, by))) + sqrtf(oz_first(oz_dot(lost, lost)));
  row->points_weight += part * (touch - row->points_weight);
}

/* The slip of particle i, or NULL. */
OZ_FN const oz_wall_slip *oz_slip_of(const oz_frame *f, uint32_t i) {
  const uint32_t slot = f->wall_slip && f->contact_of ? f->contact_of[i] : 0u;
  return slot && f->wall_slip[slot - 1].part > 0.0f ? f->wall_slip + slot - 1 : NULL;
}

/* A push by a point, without its part along the wall. */
OZ_FN oz_v3 oz_slip_across(const oz_wall_slip *s, oz_v3 r) {
  const float *n = s->across;
  const oz_v3 a = {r.x + s->part * (n[0] * r.x + n[3] * r.y + n[4] * r.z - r.x),
                   r.y + s->part * (n[3] * r.x + n[1] * r.y + n[5] * r.z - r.y),
                   r.z + s->part * (n[4] * r.x + n[5] * r.y + n[2] * r.z - r.z)};
  return a;
}

/* v += part (to - v) */
OZ_FN void oz_slip_blend(oz_real part, oz_v3 to, oz_v3 *v) {
  v->x += part * (to.x - v->x), v->y += part * (to.y - v->y), v->z += part * (to.z - v->z);
}

/* The records of consecutive particles, NULL where nothing slips. */
typedef struct oz_slips {
  const oz_wall_slip *of[OZ_LANES];
} oz_slips;

/* 0 where no particle slips. */
OZ_FN int oz_slips_at(const oz_frame *f, uint32_t i, oz_slips *s) {
  int any = 0;
  if (!f->wall_slip) return 0;
  for (uint32_t k = 0; k < OZ_LANES; k++) any |= (s->of[k] = oz_slip_of(f, i + k)) != NULL;
  return any;
}

#define OZ_SLIP_MEMBER(s, member, out)                                                     \
  do {                                                                                     \
    float of_lane[OZ_LANES];                                                               \
    for (uint32_t k = 0; k < OZ_LANES; k++) of_lane[k] = s.of[k] ? s.of[k]->member : 0.0f; \
    (out) = oz_ld(of_lane, 0);                                                             \
  } while (0)

typedef struct oz_slip_lanes {
  oz_real part;
  oz_s3 across, held, free;
} oz_slip_lanes;

OZ_FN oz_slip_lanes oz_slip_ld(oz_slips of) {
  oz_slip_lanes s;
  OZ_SLIP_MEMBER(of, part, s.part);
  for (int c = 0; c < 6; c++) {
    OZ_SLIP_MEMBER(of, across[c], s.across.s[c]);
    OZ_SLIP_MEMBER(of, held[c], s.held.s[c]);
    OZ_SLIP_MEMBER(of, free[c], s.free.s[c]);
  }
  return s;
}

/* L, d times the gradient of v in no-slip, becomes that with slip. M: sum of v_ji ghat^T; g: of the
 * points' ghat; image: goal w - v; goal: as in oz_row_strain, 0 where the points stand still. */
OZ_FN_RARE void oz_slip_gradient(oz_slips of, const oz_m3 *M, oz_v3 g, oz_v3 v, oz_v3 image,
                                 float goal, oz_m3 *L) {
  const oz_slip_lanes s = oz_slip_ld(of);
  oz_m3 fluid = *M, points, with, N = oz_s3_full(&s.across);
  for (int c = 0; c < 9; c++) points.m[c] = oz_set(0.0f);
  if (goal != 0.0f)
    for (int c = 0; c < 9; c++) {
      OZ_SLIP_MEMBER(of, sum[c], points.m[c]);
      points.m[c] *= goal;
    }
  oz_row_add(&points, oz_set(-1.0f), v, g);
  for (int c = 0; c < 9; c++) fluid.m[c] -= points.m[c];
  oz_row_add(&points, oz_set(1.0f), image, g);
  with = oz_m3_mul(&points, &N);
  for (int c = 0; c < 9; c++) with.m[c] += fluid.m[c];
  fluid = oz_m3_mul_s(&fluid, &s.free);
  with = oz_m3_mul_s(&with, &s.held);
  for (int c = 0; c < 9; c++) with.m[c] -= fluid.m[c];
  with = oz_m3_mul(&N, &with);
  for (int c = 0; c < 9; c++) L->m[c] += s.part * (fluid.m[c] + with.m[c] - L->m[c]);
}

/* The transpose: A, from which neighbours get their part of the stress T, and the points' pull
 * besides. */
OZ_FN_RARE void oz_slip_matrix(oz_slips of, const oz_m3 *T, oz_v3 g, float scale, oz_m3 *A,
                               oz_v3 *pull) {
  const oz_slip_lanes s = oz_slip_ld(of);
  oz_m3 with = oz_m3_mul_s(T, &s.held), fluid = oz_m3_mul_s(T, &s.free);
  for (int c = 0; c < 9; c++) with.m[c] *= scale, fluid.m[c] *= scale;
  const oz_m3 N = oz_s3_full(&s.across);
  const oz_v3 across = oz_s3_v(&s.across, oz_m3_v(&with, oz_s3_v(&s.across, g)));
  for (int c = 0; c < 9; c++) with.m[c] -= fluid.m[c];
  with = oz_m3_mul(&N, &with);
  for (int c = 0; c < 9; c++) fluid.m[c] += with.m[c];
  const oz_v3 own = oz_m3_v(&fluid, g),
              to = {2.0f * across.x - own.x, 2.0f * across.y - own.y, 2.0f * across.z - own.z};
  for (int c = 0; c < 9; c++) A->m[c] += s.part * (fluid.m[c] - A->m[c]);
  oz_slip_blend(s.part, to, pull);
}

/* The same for a load on the points with the sum of ghat g, half of which comes in as v. */
OZ_FN void oz_slip_load(const oz_wall_slip *s, const oz_s3 *T, oz_v3 g, oz_v3 *v) {
  oz_s3 N, held;
  for (int c = 0; c < 6; c++) N.s[c] = oz_set(s->across[c]), held.s[c] = oz_set(s->held[c]);
  oz_slip_blend(oz_set(s->part), oz_s3_v(&N, oz_s3_v(T, oz_s3_v(&held, oz_s3_v(&N, g)))), v);
}

/* The motion towards which the zero-energy control pulls, besides its part in the sums over
 * neighbours. F: affine part, less one; v: displacement; image: the wall's less v; arm: the
 * control's over its weight; dt: 0 where the points stand still; slip: no-slip's. Friction counts
 * as in the drag. */
OZ_FN_RARE void oz_slip_move(oz_slips of, const oz_m3 *F, oz_v3 g, oz_v3 v, oz_v3 image,
                             oz_real arm, float dt, oz_v3 *slip) {
  const oz_slip_lanes s = oz_slip_ld(of);
  const oz_v3 affine = oz_m3_v(F, g);
  oz_v3 own = {-v.x - arm * affine.x, -v.y - arm * affine.y, -v.z - arm * affine.z}, mean;
  if (dt != 0.0f) {
    OZ_SLIP_MEMBER(of, mean[0], mean.x);
    OZ_SLIP_MEMBER(of, mean[1], mean.y);
    OZ_SLIP_MEMBER(of, mean[2], mean.z);
    own.x += dt * mean.x, own.y += dt * mean.y, own.z += dt * mean.z;
  }
  image.x += own.x, image.y += own.y, image.z += own.z;
  const oz_v3 across = oz_s3_v(&s.across, image),
              to = {across.x - own.x, across.y - own.y, across.z - own.z};
  oz_slip_blend(s.part * (2.0f - s.part), to, slip);
}
#endif
