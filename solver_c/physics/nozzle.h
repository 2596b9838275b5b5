/* Nozzles: a particle inside moves rigidly with the nozzle and along its axis; past the mouth it is
 * released. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_NOZZLE_H
#define OZ_PHYSICS_NOZZLE_H

#include "physics/contact.h"
#include "physics/fields.h"
#include "physics/random.h"

OZ_FN void oz_nozzle_item(const oz_frame *f, uint32_t i) {
  uint32_t handle = oz_word(f->source, i);
  if (handle == 0) return;
  const oz_nozzle *z = NULL;
  for (uint32_t k = 0; k < f->nozzle_count; k++)
    if (f->nozzle[k].handle == handle) z = f->nozzle + k;
  if (!z) { /* the nozzle was removed: the particle becomes free */
    f->source[i] = 0;
    return;
  }
  float *u = f->u + 4 * (size_t)i, local[3];
  oz_pose_in(z->p0, z->q0, f->x + 4 * (size_t)i, local);
  if (!(local[1] >= 0.0f)) {
    /* past the mouth: a sideways push, uniform over a disc, that breaks the symmetry of a perfect
     * stream */
    float r = z->disturbance * sqrtf(oz_random(z->seed, f->id[i], 0));
    float angle = 6.2831853f * oz_random(z->seed, f->id[i], 1),
          side[3] = {r * cosf(angle), 0.0f, r * sinf(angle)};
    f->source[i] = 0;
    if ((f->laws & OZ_LAW_RATE) && f->shear_rate)
      f->shear_rate[i] = oz_maxf(f->shear_rate[i], z->shear_rate);
    oz_turn(z->q0, side, side);
    for (int k = 0; k < 3; k++) u[k] += side[k];
    return;
  }
  /* from its current place to its place in the mouth's frame at the end of the substep, speed dt
   * further on; as a sum of velocities, so that a nozzle at rest gives exactly the velocity of the
   * flow */
  float a[3], b[3], flow[3] = {0.0f, -z->speed, 0.0f};
  oz_turn(z->q0, local, a);
  oz_turn(z->q1, local, b);
  oz_turn(z->q1, flow, flow);
  for (int k = 0; k < 3; k++) u[k] = flow[k] + ((b[k] - a[k]) + (z->p1[k] - z->p0[k])) * f->inv_dt;
}

#endif
