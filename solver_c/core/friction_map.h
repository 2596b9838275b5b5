/* Friction and stick that differ from place to place on a collider: points that the host gives,
 * spread over 8x8x8 bricks of their own, which the physics reads where fluid touches
 * (physics/contact.h, oz_friction_map_at). SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_FRICTION_MAP_H
#define OZ_CORE_FRICTION_MAP_H

#include "base/memory.h"
#include "base/result.h"
#include "core/bytes.h"
#include "physics/frame.h"

#define OZ_FRICTION_MAP_POINTS_MAX (1u << 26)
#define OZ_FRICTION_MAP_BRICKS_MAX (1u << 20)

typedef struct oz_friction_map {
  float voxel;    /* m; 0: it has none */
  uint32_t count; /* bricks */
  uint64_t *key;  /* ascending */
  float *values;  /* OZ_FRICTION_MAP_FLOATS a brick */
} oz_friction_map;

void oz_friction_map_release(oz_memory *memory, oz_friction_map *g);
/* From points `voxel` apart or less, in the collider's frame; without friction, or stick, those of
 * the whole. On failure *out is as it was. */
ooze_result oz_friction_map_make(oz_memory *memory, const char *who, double voxel, uint32_t count,
                                 const float *positions, const float *friction,
                                 float whole_friction, const float *stick, float whole_stick,
                                 oz_friction_map *out, ooze_message *why);

/* In a checkpoint: voxel, count, keys, values. */
size_t oz_friction_map_bytes(const oz_friction_map *g);
unsigned char *oz_friction_map_write(const oz_friction_map *g, unsigned char *out);
ooze_result oz_friction_map_read(oz_memory *memory, const char *who, oz_bytes *in,
                                 oz_friction_map *out, ooze_message *why);

#endif
