/* Substeps and iterations of a step, where the host leaves them to the solver (counts.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_COUNTS_H
#define OZ_CORE_COUNTS_H

#include "core/solver.h"

/* s->run.counts of a step of that many seconds. After oz_speeds_before_step. */
ooze_result oz_counts_before_step(ooze_solver *s, double duration);

#endif
