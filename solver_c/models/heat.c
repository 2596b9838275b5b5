/* Heat within a substep of any model: conduction at its end, over the neighbours at its start
 * (physics/heat.h). SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

/* stable for 2080 explicit steps; a higher diffusivity is limited to that */
enum { STAGES_MOST = 64 };

ooze_result oz_heat_ramps(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  if (s->has_ramps) RUN(ramp);
  return OOZE_OK;
}

ooze_result oz_heat_conduct(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  if (!s->has_heat) return OOZE_OK;
  RUN(heat_begin);
  if (f->wall_count) RUN(heat_wall);
  if (s->has_air) {
    RUN(heat_free);
    RUN(heat_air);
  }
  /* Gershgorin: twice the exchange of a particle, plus the heat of three walls at a quarter of a
   * separation, or of air around a particle by itself: five faces of twice the conductivity each */
  const double number = (double)s->diffusivity * (double)f->dt / ((double)f->d * (double)f->d);
  const double row = 2.0 * 2.0 * (double)f->heat_norm * (double)f->heat_sum;
  const double explicit_steps = number * (row + (s->has_air ? 10.0 : s->has_walls ? 6.0 : 0.0));
  int stages = (int)ceil(0.5 * (sqrt(1.0 + 8.0 * fmin(explicit_steps, 1e4)) - 1.0));
  stages = stages < 1 ? 1 : stages > STAGES_MOST ? STAGES_MOST : stages;
  const double reach = 0.5 * stages * (stages + 1.0),
               most = explicit_steps > reach ? reach / explicit_steps : 1.0;
  const double first = most / reach * (double)f->dt / ((double)f->d * (double)f->d);
  for (int j = 1; j <= stages; j++) {
    f->heat_nu = j > 1 ? (float)((1.0 - j) / j) : 0.0f;
    f->heat_weight = (float)(first * (j > 1 ? (2.0 * j - 1.0) / j : 1.0));
    RUN(heat_flow);
    RUN(heat_state);
  }
  return OOZE_OK;
}
