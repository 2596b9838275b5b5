/* One fluid on its way into a cloud: between fill_fluid.c and fill_rows.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_FILL_POUR_H
#define OOZE_IO_FILL_POUR_H

#include "fill.h"

typedef struct oz_pour {
  oz_fill *fill;
  const oz_fluid *fluid;
  oz_solid_fn solid;
  const void *user;
  oz_cloud *out;
  size_t room;
  uint64_t *cut;
  oz_near near;
  oz_batch own;
  /* of the shape, which all copies have: separations^3, and cells of the lattice within */
  int measured;
  double volume;
  uint64_t inside;
  ooze_message *why;
} oz_pour;

ooze_result oz_pour_no_memory(const oz_pour *p);
ooze_result oz_pour_room(oz_pour *p, uint64_t more, int velocities);
/* fill_rows.c: the particles of one copy of a shape. */
ooze_result oz_pour_shape(oz_pour *p, const ooze_pose *pose, uint64_t copy);

static inline double oz_uniform(uint64_t seed, uint64_t index, int which) { /* -1 to 1 */
  return (double)(oz_mix(oz_mix(seed, index), (uint64_t)which) >> 11) * (2.0 / 9007199254740992.0) -
         1.0;
}

static inline int oz_pour_fits(const oz_pour *p, const double x[3]) {
  return !oz_near_taken(&p->near, x) && !(p->solid && p->solid(p->user, x));
}

static inline void oz_box_widen(oz_box *b, const float x[3]) {
  for (int k = 0; k < 3; k++) {
    if ((double)x[k] < b->low[k]) b->low[k] = (double)x[k];
    if ((double)x[k] > b->high[k]) b->high[k] = (double)x[k];
  }
}

static inline const float *oz_fluid_velocity(const oz_fluid *f) { /* NULL for one at rest */
  return f->velocity[0] != 0.0f || f->velocity[1] != 0.0f || f->velocity[2] != 0.0f ? f->velocity
                                                                                    : NULL;
}

#endif
