/* Bodies: the table of their properties. Their state is in their particles (owner, reference,
 * position, velocity). SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_BODIES_H
#define OZ_CORE_BODIES_H

#include "base/memory.h"
#include "base/result.h"
#include "physics/frame.h"

#define OZ_BODIES_MAX 65536u

typedef struct oz_bodies {
  oz_memory *memory;
  oz_body *body; /* ascending handle; member slots in the same order */
  size_t capacity;
  uint32_t count;
  uint32_t members; /* number of member slots */
  uint32_t next_handle;
  uint32_t changed; /* 1: must go to the backend */
} oz_bodies;

void oz_bodies_init(oz_bodies *b, oz_memory *memory);
void oz_bodies_destroy(oz_bodies *b);
void oz_bodies_clear(oz_bodies *b); /* all of them; handles are not used again */
ooze_result oz_bodies_room(oz_bodies *b, uint32_t count, ooze_message *why); /* for so many */

/* Poses of driven bodies from fraction f0 to f1 of the step; at its end they stay where they are.
 */
void oz_bodies_frame(oz_bodies *b, double f0, double f1);
void oz_bodies_end_step(oz_bodies *b, double fraction);
/* Poses of a driven body at the start and the end of the step. */
void oz_body_poses(const oz_body *body, ooze_pose *start, ooze_pose *end);

/* Checkpoint, as colliders have it (bodies_saved.c). */
size_t oz_bodies_bytes(const oz_bodies *b);
void oz_bodies_write(const oz_bodies *b, void *out);
ooze_result oz_bodies_read(oz_bodies *b, const void *in, size_t bytes, size_t *used,
                           ooze_message *why);

#endif
