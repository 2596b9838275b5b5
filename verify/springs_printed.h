/* Algorithms 1 to 6 of Clavet et al. 2005 as printed: one pair after the other, each from where the
 * last left it; solids are no particles but shapes that particles strike (Algorithm 6). Plain, in
 * double precision, one thread: the reference of the solver's gathered form. Lengths in h, time in
 * T, masses in particles. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_SPRINGS_PRINTED_H
#define OOZE_VERIFY_SPRINGS_PRINTED_H

/* A box that moves up and down. A particle nearer to it than `gap` has struck it. */
typedef struct printed_block {
  double half[3], mass; /* mass 0: there is none */
  double y, v;
} printed_block;

typedef struct printed {
  int n;
  double (*x)[3], (*v)[3], (*before)[3];
  double *L; /* n * n, rest lengths; 0: no spring. NULL where there are none */
  double dt, gravity, rho0, k, k_near, k_spring, alpha, yield, sigma, beta;
  double gap;    /* from a wall's or the block's surface to the collision surface of particles */
  int has_floor; /* at height 0 */
  double wall;   /* half the side of a square tank about the axis; 0: none */
  double friction;
  printed_block block;
  /* neighbours of each particle in ascending order, found once a step a little beyond h */
  int *first, *list, *cell, *next;
  int room;
} printed;

/* The paper's typical values; `springs`: with springs. 0 without memory. */
int printed_open(printed *r, int n, int springs);
void printed_close(printed *r);
void printed_step(printed *r); /* Algorithm 1 */

#endif
