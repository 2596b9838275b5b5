/* Neighbours and walls of a substep, common to the models. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

ooze_result oz_find_neighbours(oz_step *s, oz_frame *f, ooze_message *why) {
  oz_backend *b = s->backend;
  oz_build_result built = {0, 0.0};
  f->boundary_still = s->boundary_still;
  /* first: velocities left over from the last substep must not influence the order */
  if (s->has_boundary) RUN(boundary);
  OZ_TRY(b->table->sort(b, f, why));
  OZ_TRY(oz_bodies_find(b, f, why));
  if (s->has_nozzles) RUN(nozzle);
  OZ_TRY(b->table->lists(b, f, &built, why));
  s->mean_neighbours = built.mean_neighbours;
  return OOZE_OK;
}

ooze_result oz_find_walls(const oz_step *s, oz_frame *f, ooze_message *why) {
  oz_backend *b = s->backend;
  if (!s->has_walls) return OOZE_OK;
  OZ_TRY(b->table->walls(b, f, why));
  WALLS(wall_planes);
  LOADS(load_start);
  return OOZE_OK;
}

ooze_result oz_find_density_neighbours(oz_step *s, oz_frame *f, ooze_message *why) {
  oz_build_result built = {0, 0.0};
  OZ_TRY(s->backend->table->density_list(s->backend, f, &built, why));
  s->rebuilt += built.rebuilt;
  return OOZE_OK;
}
