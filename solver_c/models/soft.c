/* Soft bodies within a substep of any model (physics/soft.h): the solve for their velocities before
 * those of the fluid, torn links after `advance`. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

enum { ITERATIONS_MOST = 48 };

/* times sqrt(c): leaves an error of 2 exp(-2 1.75) = 0.06 of the change */
static const double ITERATIONS_FACTOR = 1.75;

/* Chebyshev's iteration for eigenvalues from 1 to c = 1 + most: the interval is a little wider
 * below, so that the first root of the error polynomial lies at 1, the eigenvalue of rigid
 * motion. */
ooze_result oz_soft_solve(oz_step *s, oz_backend *b, oz_frame *frame, int find_walls,
                          ooze_message *why) {
  if (!s->has_soft || !frame->link_row) return OOZE_OK;
  if (find_walls && s->has_walls) {
    OZ_TRY(b->table->walls(b, frame, why));
    if (frame->wall_count) OZ_TRY(b->table->run(b, frame, OZ_STAGE_wall_planes, NULL, why));
  }
  oz_frame copy = *frame, *f = &copy;
  const double bear = pow(ITERATIONS_MOST / ITERATIONS_FACTOR, 2.0);
  const double most = fmin(
      fmax(1.2 * (double)f->dt * ((double)f->dt * (double)s->soft_rate + (double)s->soft_damped),
           1e-3),
      bear);
  const double c = 1.0 + most;
  int n =
      2 * (int)ceil(0.5 * ITERATIONS_FACTOR * sqrt(c)); /* even: the last iteration writes to dx */
  if (n < 4) n = 4;
  const double delta = most / (1.0 + cos(3.14159265358979323846 / (2.0 * n))), theta = c - delta,
               sigma = theta / delta;
  double omega = 1.0;
  f->soft.most = (float)most;
  f->soft.step = (float)(1.0 / theta);
  RUN(soft_start);
  for (int k = 0; k < n; k++) {
    f->soft.omega = (float)omega;
    f->soft.turn = (uint32_t)k;
    RUN(soft_rate);
    RUN(soft_pull);
    WALLS(soft_hold);
    omega = k == 0 ? 2.0 * sigma * sigma / (2.0 * sigma * sigma - 1.0)
                   : 1.0 / (1.0 - omega / (4.0 * sigma * sigma));
  }
  RUN(soft_set);
  return OOZE_OK;
}

/* Drops links beyond their strain limit for good. */
ooze_result oz_soft_tear(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  if (!s->has_soft || !s->soft_tears || !f->link_row) return OOZE_OK;
  return b->table->links_update(b, f, OZ_RULE_SOFT, why);
}
