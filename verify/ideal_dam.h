/* Ideal flow of a breaking dam, by boundary elements: a reference without a particle in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_IDEAL_DAM_H
#define OOZE_VERIFY_IDEAL_DAM_H

#include <stddef.h>

/* A column of the width 1 and the height 2 between a wall at x = 0 and a floor, gravity 1. */
typedef struct ideal_dam {
  double time;    /* t sqrt(2 g / a) */
  double front;   /* of the edge on the floor, over the width */
  double height;  /* mean over the first quarter of the width, over the width */
  double kinetic; /* energies over m g a */
  double fallen;  /* potential energy given up */
} ideal_dam;

/* Up to `most` states from time 0 to `until`, in order; returns how many. 0: it broke down. */
size_t ideal_dam_run(double until, ideal_dam *out, size_t most);
/* The state at `time`, between two of them. */
ideal_dam ideal_dam_at(const ideal_dam *states, size_t count, double time);

#endif
