/* Speeds of a step, and a jump of speed that no force explains (speeds.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_SPEEDS_H
#define OZ_CORE_SPEEDS_H

#include "core/particles.h"

/* The greatest speed of all particles, m/s. */
ooze_result oz_speeds_greatest(ooze_solver *s, double *out);

/* s->explained_speed is known, and has the walls that move in a step of that many seconds. */
ooze_result oz_speeds_before_step(ooze_solver *s, double duration);
/* After a whole step of that many seconds: fails where many particles are
 * faster than anything explains, and warns of a few. */
ooze_result oz_speeds_after_step(ooze_solver *s, double duration);

#endif
