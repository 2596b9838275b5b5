/* Mixing within a substep of any model: at its end, over the neighbours at its start
 * (physics/mixing.h). SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

enum { PASSES_MOST = 32 }; /* most explicit steps in a substep; a higher rate is limited to that */

ooze_result oz_fluids_mix(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why) {
  if (!s->has_mixing) return OOZE_OK;
  /* Gershgorin, as for heat: twice the exchange of a particle */
  const double number = (double)s->mixing * (double)f->dt / ((double)f->d * (double)f->d);
  const double explicit_steps = 2.0 * number * 2.0 * (double)f->heat_norm * (double)f->heat_sum;
  int passes = (int)ceil(fmin(explicit_steps, 1e6));
  passes = passes < 1 ? 1 : passes > PASSES_MOST ? PASSES_MOST : passes;
  const double most = explicit_steps > passes ? passes / explicit_steps : 1.0;
  f->mix_weight =
      (float)(most / passes * (double)f->heat_norm * (double)f->dt / ((double)f->d * (double)f->d));
  for (int k = 0; k < passes; k++) {
    RUN(mix_begin);
    RUN(mix_flow);
  }
  return OOZE_OK;
}
