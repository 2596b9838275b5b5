/* Particles that leave: in a kill volume, and beyond the limit of positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"
#include "physics/wall_planes.h"

#include <math.h>
#include <string.h>

/* The particles of the host's copy that leave. */
static ooze_result flag_lost(ooze_solver *s, const oz_leaving *which) {
  oz_particles *p = &s->particles;
  oz_frame f;
  memset(&f, 0, sizeof f);
  f.collider = s->collider_frame;
  f.collider_count = s->colliders.count;
  f.brick_key = s->colliders.key;
  f.brick_values = s->colliders.values;
  f.d = s->separation;
  const void *copy;
  uint32_t kept = p->count;
  OZ_TRY(oz_host_look(s, OZ_FIELD_X, &copy));
  OZ_TRY(oz_particles_flags(s));
  const float *x = copy;
  for (uint32_t i = 0; i < p->count; ++i, x += 4) {
    const int gone = !oz_position_ok(s, x) || (which->kill && oz_wall_kill(&f, x));
    p->flags[i] = !gone;
    kept -= (uint32_t)gone;
  }
  if (p->hidden) { /* boundary particles stay whatever stands over them */
    OZ_TRY(oz_rank_map(s));
    for (uint32_t r = which->visible; r < p->count; ++r)
      kept += !p->flags[p->at[r]], p->flags[p->at[r]] = 1;
  }
  return oz_particles_keep(s, kept);
}

/* The same on a device, of which the host fetches nothing but the ranks of those that are gone. */
static ooze_result let_go(ooze_solver *s, const oz_leaving *which, uint32_t gone) {
  oz_particles *p = &s->particles;
  void *scratch = p->scratch;
  OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, (size_t)gone * sizeof *p->at, 0));
  p->scratch = scratch;
  OZ_TRY(oz_host_flush(s));
  uint32_t *ranks = scratch;
  OZ_TRY(s->backend->table->remove_lost(s->backend, which, gone, ranks, s->message));
  for (uint32_t r = ranks[0], to = r, k = 0; r < p->count; ++r) {
    if (k < gone && ranks[k] == r) {
      k++;
      continue;
    }
    oz_labels_move(s, to, r);
    p->ids[to++] = p->ids[r];
  }
  p->count -= gone;
  if (p->results) p->results = p->count;
  p->relaxation_time_known = s->extremes_known = 0;
  oz_particles_moved(s);
  return OOZE_OK;
}

ooze_result oz_particles_leave(ooze_solver *s, int kill) {
  oz_particles *p = &s->particles;
  const oz_backend_table *table = s->backend->table;
  const oz_leaving which = {
      .limit = (float)fmin(OZ_FAR_METRES, OZ_FAR_SEPARATIONS * (double)s->separation),
      .kill = kill,
      .visible = oz_visible(s)};
  uint32_t some = 1;
  if (p->count == 0) return OOZE_OK;
  if (table->lost) OZ_TRY(table->lost(s->backend, &which, &some, s->message));
  if (!some) return OOZE_OK;
  const uint32_t before = p->count;
  ooze_result r;
  if (table->remove_lost && (p->results == 0 || p->results == p->count))
    r = let_go(s, &which, some);
  else
    r = flag_lost(s, &which);
  s->run.killed += before - p->count;
  return r;
}
