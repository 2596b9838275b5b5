/* Boundary particles (Takahashi et al. 2014, 3.2; Akinci et al. 2012;
 * docs/theory/boundary_particles.md): points of a collider's surface that take part in the fluid's
 * sums and move with the collider. owner_place is a point's place in the collider's frame at the
 * start of the step, boundary_path its way in that frame during the step, for a mesh that
 * deforms. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_BOUNDARY_PARTICLES_H
#define OZ_PHYSICS_BOUNDARY_PARTICLES_H

#include "physics/contact.h"
#include "physics/stage_parts.h"
#include "physics/rows.h"

OZ_FN int oz_is_boundary(const oz_frame *f, uint32_t i) {
  return oz_word(f->owner, i) >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY;
}

/* True if the start row of particle i holds a boundary particle. Such a particle gets a wall
 * contact, with or without a wall nearby, for loads and for its strain (wall_points.h). */
OZ_FN int oz_load_near(const oz_frame *f, uint32_t i) {
  const uint32_t length = f->start_length[i];
  if (!f->has_loads && !(f->has_boundary && f->projects_velocity)) return 0;
  for (uint32_t m = 0; m < length; m++)
    if (oz_is_boundary(f, oz_neighbour(f, i, m))) return 1;
  return 0;
}

/* Freedom of fluid to slip along boundary particle i: 0 holds it, 1 not at all. The word is stored
 * in place of a material number. */
#define OZ_SLIP_WORD 0x40000000u

/* n: normal of the points' surface in the collider's frame, either sign, in the octahedral form of
 * 10 bits each (Meyer et al. 2010); the slip is in thousandths. */
OZ_FN uint32_t oz_slip_word(float slip, const float n[3]) {
  const uint32_t part = (uint32_t)(1000.0f * slip + 0.5f);
  const float sum = fabsf(n[0]) + fabsf(n[1]) + fabsf(n[2]),
              scale = 511.0f * (n[2] < 0.0f ? -1.0f : 1.0f) / oz_maxf(sum, 1e-20f);
  if (part == 0) return OZ_SLIP_WORD;
  return OZ_SLIP_WORD | part << 20 | (uint32_t)(511.5f + scale * n[0]) << 10 |
         (uint32_t)(511.5f + scale * n[1]);
}

OZ_FN float oz_slip(const oz_frame *f, uint32_t i) {
  const uint32_t word = f->boundary_slip[i];
  return f->has_slip && word >= OZ_SLIP_WORD && oz_is_boundary(f, i)
             ? (float)(word >> 20 & 0x3ffu) * 0.001f
             : 0.0f;
}

/* Boundary particles gather nothing and have no rows, except those that average the fluid's
 * velocity for slip. */
OZ_FN int oz_boundary_idle(const oz_frame *f, uint32_t i) {
  return oz_is_boundary(f, i) && !(oz_slip(f, i) > 0.0f);
}

OZ_FN const oz_collider *oz_boundary_of(const oz_frame *f, uint32_t i) {
  const uint32_t handle = oz_word(f->owner, i) & OZ_OWNER_HANDLE;
  uint32_t lo = 0, hi = f->collider_count;
  if (oz_word(f->owner, i) >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY) return NULL;
  OZ_LOWER_BOUND(lo, hi, mid, f->collider[mid].handle < handle)
  return lo < f->collider_count && f->collider[lo].handle == handle ? f->collider + lo : NULL;
}

/* Normal of boundary particle j's surface at the start of the substep; 0 where it holds. */
OZ_FN void oz_slip_normal(const oz_frame *f, uint32_t j, float out[3]) {
  const oz_collider *c = oz_boundary_of(f, j);
  const uint32_t word = f->boundary_slip[j];
  const float x = (float)(word >> 10 & 0x3ffu) - 511.0f, y = (float)(word & 0x3ffu) - 511.0f,
              z = oz_maxf(511.0f - fabsf(x) - fabsf(y), 0.0f),
              inv = 1.0f / sqrtf(x * x + y * y + z * z), n[3] = {inv * x, inv * y, inv * z};
  for (int k = 0; k < 3; k++) out[k] = 0.0f;
  if (c && oz_slip(f, j) > 0.0f) oz_turn(c->q0, n, out);
}

OZ_FN void oz_boundary_place(const oz_frame *f, const oz_collider *c, uint32_t i, int end,
                             float out[3]) {
  float local[3], part = end ? c->f1 : c->f0;
  for (int k = 0; k < 3; k++)
    local[k] = f->owner_place[(size_t)k * f->stride + i] + part * oz_boundary_path_of(f, i, k);
  if (end)
    oz_pose_out(c->p1, c->q1, local, out);
  else
    oz_pose_out(c->p0, c->q0, local, out);
}

/* True for a boundary particle that rests during the substep. */
OZ_FN int oz_boundary_still(const oz_frame *f, const oz_collider *c, uint32_t i) {
  int still = 1;
  for (int k = 0; k < 3; k++) still &= c->p0[k] == c->p1[k] && oz_boundary_path_of(f, i, k) == 0.0f;
  for (int k = 0; k < 4; k++) still &= c->q0[k] == c->q1[k];
  return still;
}

/* boundary: place at the start of the substep, and the velocity that leads to the place at its
 * end. */
OZ_FN void oz_boundary_item(const oz_frame *f, uint32_t i) {
  float *x = f->x + 4 * (size_t)i, *u = f->u + 4 * (size_t)i, to[3];
  if (!oz_is_boundary(f, i)) return;
  if (f->boundary_still) {
    u[0] = u[1] = u[2] = 0.0f;
    return;
  }
  const oz_collider *c = oz_boundary_of(f, i);
  if (!c) return;
  oz_boundary_place(f, c, i, 0, x);
  if (oz_boundary_still(f, c, i)) {
    u[0] = u[1] = u[2] = 0.0f;
    return;
  }
  oz_boundary_place(f, c, i, 1, to);
  for (int k = 0; k < 3; k++) u[k] = (to[k] - x[k]) * f->inv_dt;
}

/* boundary_slip: fluid that slips must see its own velocity at the wall: the mean velocity around
 * the point, or a part of it. The stage runs after the forces are in the velocities, because
 * sliding fluid would be held back by one substep of force otherwise. The point's position does not
 * follow (boundary_hold), but its displacement in the sums does (boundary_slide). */
OZ_SELF_VECTOR(boundary_slip, x, x)

OZ_FN void oz_boundary_slip_pair(const oz_frame *f, const oz_boundary_slip_self *s,
                                 const oz_group *n, oz_real *acc) {
  oz_real x[4];
  oz_v3 r = oz_near_from(f->x, n, s->x, x), u = oz_vec_near(f->u, n);
  /* only particles that are free */
  oz_real w = oz_select(x[3] > oz_set(0.0f), oz_kernel(f, oz_dot(r, r)), oz_set(0.0f));
  acc[0] += w * u.x;
  acc[1] += w * u.y;
  acc[2] += w * u.z;
  acc[3] += w;
}

OZ_FN void oz_boundary_slip_end(const oz_frame *f, uint32_t i, const oz_real *acc, oz_real *red) {
  (void)red;
  oz_real u[4];
  float slip[OZ_LANES];
  int any = 0;
  for (uint32_t k = 0; k < OZ_LANES; k++) slip[k] = oz_slip(f, i + k), any |= slip[k] > 0.0f;
  if (!any) return;
  oz_real part = oz_select(acc[3] > oz_set(0.0f), oz_ld(slip, 0), oz_set(0.0f));
  oz_real inv = 1.0f / oz_max(acc[3], oz_set(1e-30f));
  oz_ld4(f->u, i, 4, 0, u);
  for (int c = 0; c < 3; c++) u[c] += part * (acc[c] * inv - u[c]);
  oz_st4(f->u, i, 4, 0, u);
}

/* boundary_hold, after `advance`: position at the end of the substep, and the displacement to
 * it. */
OZ_FN void oz_boundary_hold_item(const oz_frame *f, uint32_t i) {
  const oz_collider *c = oz_boundary_of(f, i);
  if (!c) return;
  float *p = f->p + 4 * (size_t)i, *y = f->y + 4 * (size_t)i;
  const float *x = f->x + 4 * (size_t)i;
  oz_boundary_place(f, c, i, 1, p);
  for (int k = 0; k < 3; k++) y[k] = p[k] - x[k];
}

/* boundary_slide, after the density rows are made: the displacement that sums see. */
OZ_FN void oz_boundary_slide_item(const oz_frame *f, uint32_t i) {
  if (!(oz_slip(f, i) > 0.0f)) return;
  for (size_t k = 0; k < 3; k++) f->y[4 * (size_t)i + k] = f->dt * f->u[4 * (size_t)i + k];
}

/* boundary_end: the exact place, so that a resumed run, which places the points anew, has the same
 * bits. */
OZ_FN void oz_boundary_end_item(const oz_frame *f, uint32_t i) {
  const oz_collider *c = oz_boundary_of(f, i);
  if (c && (f->has_slip || !oz_boundary_still(f, c, i)))
    oz_boundary_place(f, c, i, 1, f->x + 4 * (size_t)i);
}

#endif
