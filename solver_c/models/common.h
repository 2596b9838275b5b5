/* Macros and functions that the models share. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_MODELS_COMMON_H
#define OZ_MODELS_COMMON_H

#include "models/models.h"

#define RUN(stage) OZ_TRY(b->table->run(b, f, OZ_STAGE_##stage, NULL, why))
#define WALLS(stage)               \
  do {                             \
    if (f->wall_count) RUN(stage); \
  } while (0)
/* Stages that sum loads on boundary particles (physics/load.h). */
#define LOADS(stage)                               \
  do {                                             \
    if (f->has_loads && f->wall_count) RUN(stage); \
  } while (0)

/* The frame of a substep with its constants; 0 where there are no particles. */
static inline int oz_open_frame(const oz_step *s, oz_frame *f, float dt) {
  s->backend->table->frame(s->backend, f);
  if (f->count) oz_frame_constants(f, s->params, s->separation, dt, s->time);
  return f->count != 0;
}

/* Sorts, places boundary particles and nozzle particles, and finds neighbours at the start
 * positions. */
ooze_result oz_find_neighbours(oz_step *s, oz_frame *f, ooze_message *why);
/* At the predicted positions: the particles next to walls, their planes, and loads from 0. */
ooze_result oz_find_walls(const oz_step *s, oz_frame *f, ooze_message *why);
/* At the predicted positions: the density neighbour list. */
ooze_result oz_find_density_neighbours(oz_step *s, oz_frame *f, ooze_message *why);

#endif
