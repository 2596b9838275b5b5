/* Particles by rank and by id, and checks of a host's arrays. SPDX-License-Identifier:
 * Apache-2.0 */
#include "core/particles.h"
#include "physics/search.h"

#include <math.h>

int oz_position_ok(const ooze_solver *s, const float x[3]) {
  double far = OZ_FAR_SEPARATIONS * (double)s->separation;
  if (far > OZ_FAR_METRES) far = OZ_FAR_METRES;
  for (int k = 0; k < 3; ++k)
    if (!(fabs((double)x[k]) <= far)) return 0;
  return 1;
}

void oz_particles_moved(ooze_solver *s) {
  s->particles.copy_valid = s->particles.copy_dirty = s->particles.at_known = 0;
  s->links.known = 0;
}

ooze_result oz_rank_map(ooze_solver *s) {
  oz_particles *p = &s->particles;
  if (p->at_known || p->count == 0) return OOZE_OK;
  size_t bytes = (size_t)p->count * sizeof *p->at;
  void *at = p->at, *scratch = p->scratch;
  OZ_TRY(oz_host_reserve(s, &at, &p->at_capacity, bytes, 0));
  p->at = at;
  const uint32_t *rank =
      s->backend->table->memory ? s->backend->table->memory(s->backend, OZ_FIELD_RANK) : NULL;
  if (!rank) { /* past the host copy, which may hold the field that the host wants next */
    OZ_TRY(oz_host_reserve(s, &scratch, &p->scratch_capacity, bytes, 0));
    p->scratch = scratch;
    OZ_TRY(s->backend->table->download(s->backend, OZ_FIELD_RANK, 0, p->count, p->scratch,
                                       s->message));
    rank = p->scratch;
  }
  for (uint32_t i = 0; i < p->count; ++i) p->at[rank[i]] = i;
  p->at_known = 1;
  return OOZE_OK;
}

int oz_rank_of(const ooze_solver *s, uint64_t id, uint32_t *out) {
  const oz_particles *p = &s->particles;
  uint32_t low = 0, high = p->count;
  OZ_LOWER_BOUND(low, high, middle, p->ids[middle] < id)
  *out = low;
  return low < p->count && p->ids[low] == id;
}

ooze_result oz_check_count(const ooze_solver *s, uint32_t count, const char *who) {
  const uint32_t held = s->particles.count,
                 most = held < s->max_particles ? s->max_particles - held : 0;
  if (count <= most) return OOZE_OK;
  return oz_fail(s->message, OOZE_ERROR_LIMIT,
                 "%s: %u more after %u; expected at most %u in all (max_particles)", who,
                 (unsigned)count, (unsigned)s->particles.count, (unsigned)s->max_particles);
}

ooze_result oz_check_stride(size_t *stride, size_t bytes, const char *who, ooze_message *why) {
  const size_t most = (size_t)1 << 30;
  if (*stride == 0) *stride = bytes;
  if (*stride >= bytes && *stride <= most) return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s is %zu bytes; expected 0, or %zu to %zu", who,
                 *stride, bytes, most);
}
