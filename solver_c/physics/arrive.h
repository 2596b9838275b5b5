/* The end of a substep in models without conformation: `finish` of motion.h without its part.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_ARRIVE_H
#define OZ_PHYSICS_ARRIVE_H

#include "physics/motion.h"

/* arrive: velocity from displacement, new position. A particle with a non-finite or absurd velocity
 * is put back to its start position, at rest, and counted; it gets u.w below 0. red: number of
 * reset particles. */
OZ_FN void oz_arrive_item(const oz_frame *f, uint32_t i, oz_real *red) {
  oz_real x[4], y[4], u[4], zero = oz_set(0.0f), one = oz_set(1.0f);
  oz_ld4(f->x, i, 4, 0, x);
  oz_ld4(f->y, i, 4, 0, y);
  oz_ld4(f->u, i, 4, 0, u);
  oz_mask free = oz_ld(f->omega, i) > zero;
  oz_v3 v = oz_substep_velocity(f, y, u, free);
  oz_real size = oz_abs(v.x) + oz_abs(v.y) + oz_abs(v.z);
  oz_mask good = (size < oz_set(OZ_SANE_MOVE * f->d * f->inv_dt)) & (u[3] < oz_set(0.5f));
  red[0] = oz_select(good, zero, one);
  v.x = oz_select(good, v.x, zero);
  v.y = oz_select(good, v.y, zero);
  v.z = oz_select(good, v.z, zero);
  oz_v3 at = {oz_select(good, x[0] + y[0], x[0]), oz_select(good, x[1] + y[1], x[1]),
              oz_select(good, x[2] + y[2], x[2])};
  oz_v3 was = {x[0], x[1], x[2]};
  oz_vec_st(f->p, i, was, zero); /* f->start from now on */
  oz_vec_st(f->x, i, at, zero);
  oz_vec_st(f->u, i, v, oz_select(good, zero, oz_set(-1e-20f)));
  oz_s3 none;
  for (int c = 0; c < 6; c++) none.s[c] = zero;
  oz_planes6_st(f->lam, f->stride, i, &none); /* the model has no stress as a result */
}
#endif
