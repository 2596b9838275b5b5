/* Boundary particles: the points of colliders with `boundary` set to particles. They live among the
 * particles, under ids reserved for them, so that they come last in public order and are hidden
 * from the host. They have no state of their own: all follows from the collider and its points.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_BOUNDARY_H
#define OZ_CORE_BOUNDARY_H

#include "base/memory.h"
#include "base/result.h"

#define OZ_HIDDEN_ID ((uint64_t)1 << 62)
#define OZ_BOUNDARY_POINTS_MAX (1u << 27)
#define OZ_WEIGHT_MOST 2.0

typedef struct oz_boundary_set {
  uint32_t collider; /* handle */
  uint32_t count;
  uint32_t given;  /* 1: by the host; 0: sampled from the shape, and so again when that changes */
  uint32_t moving; /* they have a way to go in the next step */
  /* 3 each, m, in the collider's frame: at the start of the step, and to its end */
  float *rest, *way;
  float *weight; /* in the density sum */
} oz_boundary_set;

typedef struct oz_boundary {
  oz_memory *memory;
  oz_boundary_set *set; /* ascending handle */
  size_t capacity;
  uint32_t count;
  uint32_t placed; /* the particles are those of the sets */
  uint32_t fresh;  /* and rest and way are theirs */
  uint32_t slips;  /* some of them let fluid slip */
} oz_boundary;

void oz_boundary_init(oz_boundary *b, oz_memory *memory);
void oz_boundary_destroy(oz_boundary *b);
/* its points, if sampled or, with `given`, in any case */
void oz_boundary_forget(oz_boundary *b, uint32_t collider, int given);
/* After a step that ran to this fraction: points that have moved start from there. */
void oz_boundary_end_step(oz_boundary *b, double fraction);

/* Points of analytic shapes at distance `d`, half of that inside the solid, where the fluid's
 * lattice would go on. Returns how many; with out NULL only that. */
uint32_t oz_boundary_sample(const ooze_collider_desc *c, double d, float *out);
/* Weights: 1 where the points are two square lattices of distance d behind each other, 1.4 in a
 * single one, since it has to hold alone, or 1 if the surface guards it; less where they are
 * denser. 0 without memory. */
int oz_boundary_weigh(oz_memory *memory, const float *x, uint32_t count, double d, int guarded,
                      float *weight);
/* Normals of the surface that the points are on, of either sign; 0 where they are none, but a row
 * or one alone. 0 without memory. */
int oz_boundary_normals(oz_memory *memory, const float *x, uint32_t count, double d, float *normal);

size_t oz_boundary_bytes(const oz_boundary *b);
void oz_boundary_write(const oz_boundary *b, void *out);
ooze_result oz_boundary_read(oz_boundary *b, const void *in, size_t bytes, size_t *used,
                             ooze_message *why);

#endif
