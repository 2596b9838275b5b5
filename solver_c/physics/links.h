/* Links: pairs of particles with a rest length that persist from substep to substep.
 *
 * Each end has the link in its own row, with equal bits: gathers need no access to the row of the
 * other end, and nothing is scattered (boundary particles have no rows). Rows are in ascending id
 * of the other end, so that neither sorting nor a checkpoint changes an order of addition. Rules
 * that keep, change, make and drop links use only values that are equal for both ends: the distance
 * ((a - b)^2 is (b - a)^2 to the last bit) and sums, products, minima and maxima of the two.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LINKS_H
#define OZ_PHYSICS_LINKS_H

#include "physics/pairs.h"

/* A group of OZ_LANES links of one particle. Padding repeats the particle itself, with rest length
 * 0 and kind 0: its direction is zero. */
typedef struct oz_links {
  const uint32_t *j;    /* other ends */
  oz_real rest;         /* m */
  const uint32_t *kind; /* compare with oz_index_ne */
  /* one number a link; a stage may change it if both ends compute the same value */
  float *spare;
  float *share; /* one number an entry, valid within the substep */
} oz_links;

/* Entry m of row i. On the GPU the rows of 32 particles are interleaved. */
#if OZ_GPU
#define OZ_LINK_STEP 32u
#else
#define OZ_LINK_STEP 1u
#endif
OZ_FN size_t oz_link_at(const oz_frame *f, uint32_t i, uint32_t m) {
  return (size_t)f->link_row[i] + (size_t)m * OZ_LINK_STEP;
}

/* Squared distance of two particles at the current positions, the same from either end. */
OZ_FN float oz_link_distance2(const oz_frame *f, uint32_t i, uint32_t j) {
  const float *a = f->p + 4 * (size_t)i, *b = f->p + 4 * (size_t)j;
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/* Part of h^2 within which links are made: at h itself rounding decides whether a pair is in a
 * list. */
#define OZ_LINK_INSIDE 0.9998f

/* True if both ends have seen the pair. Where start rows serve as density rows, neither end has
 * seen pairs at the edge of the radius at which the rows were made. */
OZ_FN int oz_link_seen(const oz_frame *f, uint32_t i, uint32_t j) {
#if OZ_GPU
  if (f->density_list[0] != f->start_list || f->density_list[1]) return 1;
#else
  if (f->density_entries[0] != f->start_entries || f->density_entries[1]) return 1;
#endif
  const float *a = f->start_list_x + 4 * (size_t)i, *b = f->start_list_x + 4 * (size_t)j;
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z < OZ_LINK_INSIDE * f->start_list_radius2;
}

/* Boundary particles are held and gather nothing: a link to one is only in the row of the other
 * end. */
OZ_FN int oz_link_has_row(const uint32_t *owner, uint32_t i) {
  return oz_word(owner, i) >> OZ_OWNER_SHIFT != OZ_OWNER_BOUNDARY;
}

/* Rows are cut at OZ_LINKS_MAX. So that both ends agree, new links are made only where neither row
 * can overflow and neither neighbour list is cut short. */
OZ_FN int oz_link_room(const oz_frame *f, uint32_t i) {
  return f->link_len[i] <= OZ_LINKS_MAX - OZ_MAX_NEIGHBOURS &&
         f->density_length[0][i] < OZ_MAX_NEIGHBOURS &&
         (!f->density_length[1] || f->density_length[1][i] < OZ_MAX_NEIGHBOURS);
}
#endif
