/* Colliders: the host's descriptions, checked and kept; and the records that the physics gets of
 * them each substep.
 *
 * One ooze_step:  oz_colliders_begin_step
 *                 per substep: oz_colliders_frame -> backend->colliders, the model,
 *                 oz_colliders_collect
 *                 oz_colliders_end_step
 *
 * Poses run from `start` to `end` over the step: positions linearly, rotations by the shorter arc,
 * normalised. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_COLLIDERS_H
#define OZ_CORE_COLLIDERS_H

#include "base/memory.h"
#include "base/result.h"
#include "core/bytes.h"
#include "core/friction_map.h"
#include "core/poses.h"
#include "physics/frame.h"

/* The substep at which a collider's friction is taken as given. At other substeps it is 1 - (1 -
 * friction)^(dt / this), so that sliding is slowed equally over a second at any substep count; 0
 * and 1 stay 0 and 1. */
#define OZ_FRICTION_STEP (1.0 / 240.0)
#define OZ_BRICKS_MAX (1u << 24)

typedef struct oz_collider_slot {
  uint32_t handle;
  uint32_t brick_first;         /* in oz_colliders.key and values; desc.brick_count of them */
  ooze_collider_desc desc;      /* rotations of unit length, bricks NULL */
  float reach;                  /* m: bounding radius about the pose's position; 0: unbounded */
  float size;                   /* m: the same of its surface, a container's too; 0: plane */
  double impulse[3], turn[3];   /* N s and N m s taken up so far in this step */
  float force[3], torque[3];    /* means over the last whole step */
  oz_friction_map friction_map; /* friction and stick from place to place */
} oz_collider_slot;

typedef struct oz_colliders {
  oz_memory *memory;
  oz_collider_slot *slot; /* ascending handle; oz_wall.collider is the index */
  size_t slot_capacity;   /* bytes */
  uint32_t count;
  uint32_t next_handle;
  uint64_t *key; /* per brick, ascending within a collider */
  size_t key_capacity;
  float *values; /* 512 a brick */
  size_t value_capacity;
  uint32_t bricks;
  /* 1: key and values must go to the backend; the caller clears it once they are there */
  uint32_t bricks_changed;
  uint64_t *friction_map_key; /* those of all colliders' friction_maps, in their order */
  float *friction_map_values;
  size_t friction_map_key_capacity, friction_map_value_capacity;
  uint32_t friction_map_bricks,
      friction_maps_changed; /* changed: must be put together, and go to the backend */
  /* boundary particles are there; without them colliders that have them are plain walls */
  uint32_t particles;
  double load_time; /* s collected in this step */
} oz_colliders;

void oz_colliders_init(oz_colliders *c, oz_memory *memory);
void oz_colliders_destroy(oz_colliders *c);

/* Appends a collider with this handle; the text argument begins the message of a failure. */
ooze_result oz_colliders_put(oz_colliders *c, const ooze_collider_desc *desc, uint32_t handle,
                             const char *who, ooze_message *why);
/* As their public namesakes. On failure nothing has changed. */
ooze_result oz_colliders_add(oz_colliders *c, const ooze_collider_desc *desc, uint32_t *out_handle,
                             ooze_message *why);
ooze_result oz_colliders_set(oz_colliders *c, uint32_t handle, const ooze_collider_desc *desc,
                             ooze_message *why);
ooze_result oz_colliders_move(oz_colliders *c, uint32_t handle, const ooze_pose *start,
                              const ooze_pose *end, ooze_message *why);
/* as it was given last, less its bricks */
ooze_result oz_colliders_get(const oz_colliders *c, uint32_t handle, ooze_collider_desc *out,
                             ooze_message *why);
ooze_result oz_colliders_remove(oz_colliders *c, uint32_t handle, ooze_message *why);
ooze_result oz_colliders_load(const oz_colliders *c, uint32_t handle, float force[3],
                              float torque[3], ooze_message *why);
ooze_result oz_colliders_friction_map(oz_colliders *c, uint32_t handle, double spacing,
                                      uint32_t count, const float *positions, const float *friction,
                                      const float *stick, ooze_message *why);
/* Puts the friction_maps of all colliders together in friction_map_key and friction_map_values. */
ooze_result oz_colliders_gather_friction_maps(oz_colliders *c, ooze_message *why);
/* 1 if any collider has the role. */
int oz_colliders_have(const oz_colliders *c, uint32_t role);
/* Whether a wall with friction moves in this step. */
int oz_colliders_drag(const oz_colliders *c);

/* The physics' records for the part of the step from fraction f0 to f1 (0 to 1), which takes dt
 * seconds. `out` has room for c->count. */
void oz_colliders_frame(const oz_colliders *c, double f0, double f1, double dt, oz_collider *out);

void oz_colliders_begin_step(oz_colliders *c);
/* Adds the loads of one substep on walls and on boundary particles, in the order of wall contacts.
 * All pointers of f are on the host. */
void oz_colliders_collect(oz_colliders *c, const oz_collider *frame, const oz_frame *f, double dt);
/* The same from sums that a device made: impulse and its moment, 6 a collider; NULL: they come
 * later. */
void oz_colliders_add_loads(oz_colliders *c, const double *sums, double dt);
/* The step ended, or was cancelled, at this fraction: poses start from there next time, loads
 * become means. */
void oz_colliders_end_step(oz_colliders *c, double fraction);

/* Checkpoint. write fills exactly oz_colliders_bytes. read takes hostile bytes: it replaces
 * everything, or fails and changes nothing; *used is how many bytes it took. */
size_t oz_colliders_bytes(const oz_colliders *c);
void oz_colliders_write(const oz_colliders *c, void *out);
ooze_result oz_colliders_read(oz_colliders *c, const void *in, size_t bytes, size_t *used,
                              ooze_message *why);

#endif
