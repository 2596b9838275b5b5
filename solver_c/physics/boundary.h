/* Boundary particles (Takahashi et al. 2014, 3.2; Akinci et al. 2012): points of a collider's surface that are in the
 * fluid's sums, held where the collider is. `rest` is a point's place in the collider's frame at the start of the step and
 * `force`, which held particles have no use for, how far it moves there during the step: a mesh that deforms. */
#ifndef OZ_PHYSICS_BOUNDARY_H
#define OZ_PHYSICS_BOUNDARY_H

#include "physics/contact.h"
#include "physics/rows.h"

OZ_FN int oz_is_boundary(const oz_frame *f, uint32_t i) { return f->owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY; }
/* Does any row of C that i has hold a boundary particle? Such a particle has a wall slot, whether or not a wall is near. */
OZ_FN int oz_load_near(const oz_frame *f, uint32_t i) {
  const uint32_t length = f->len_c[i];
  if (!f->loads) return 0;
  for (uint32_t m = 0; m < length; m++)
    if (oz_is_boundary(f, oz_neighbour(f, i, m))) return 1;
  return 0;
}
OZ_FN const oz_collider *oz_boundary_of(const oz_frame *f, uint32_t i) {
  const uint32_t handle = f->owner[i] & OZ_OWNER_HANDLE;
  uint32_t lo = 0, hi = f->collider_count;
  if (f->owner[i] >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY) return NULL;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->collider[mid].handle < handle)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < f->collider_count && f->collider[lo].handle == handle ? f->collider + lo : NULL;
}
OZ_FN void oz_boundary_place(const oz_frame *f, const oz_collider *c, uint32_t i, int end, float out[3]) {
  float local[3], part = end ? c->f1 : c->f0;
  for (int k = 0; k < 3; k++) local[k] = f->rest[(size_t)k * f->stride + i] + part * f->force[(size_t)k * f->stride + i];
  if (end)
    oz_pose_out(c->p1, c->q1, local, out);
  else
    oz_pose_out(c->p0, c->q0, local, out);
}
/* It stays where it is throughout the substep. */
OZ_FN int oz_boundary_still(const oz_frame *f, const oz_collider *c, uint32_t i) {
  int still = 1;
  for (int k = 0; k < 3; k++) still &= c->p0[k] == c->p1[k] && f->force[(size_t)k * f->stride + i] == 0.0f;
  for (int k = 0; k < 4; k++) still &= c->q0[k] == c->q1[k];
  return still;
}
/* boundary: where it is, and the velocity that takes it to where it will be. */
OZ_FN void oz_boundary_item(const oz_frame *f, uint32_t i) {
  const oz_collider *c = oz_boundary_of(f, i);
  if (!c) return;
  float *x = f->x + 4 * (size_t)i, *u = f->u + 4 * (size_t)i, to[3];
  oz_boundary_place(f, c, i, 0, x);
  if (oz_boundary_still(f, c, i)) {
    u[0] = u[1] = u[2] = 0.0f;
    return;
  }
  oz_boundary_place(f, c, i, 1, to);
  for (int k = 0; k < 3; k++) u[k] = (to[k] - x[k]) * f->inv_dt;
}
/* boundary_end: exactly there, so that a resumed run, which places the points anew, has the same bits. */
OZ_FN void oz_boundary_end_item(const oz_frame *f, uint32_t i) {
  const oz_collider *c = oz_boundary_of(f, i);
  if (c && !oz_boundary_still(f, c, i)) oz_boundary_place(f, c, i, 1, f->x + 4 * (size_t)i);
}

#endif
