/* Room for the particles of a fluid. SPDX-License-Identifier: Apache-2.0 */
#include "fill_pour.h"

#include <stdlib.h>

void oz_cloud_release(oz_cloud *c) {
  free(c->x);
  free(c->v);
  memset(c, 0, sizeof *c);
}

ooze_result oz_pour_no_memory(const oz_pour *p) {
  return oz_fail(p->why, OOZE_ERROR_MEMORY, "fluid %s: out of memory for its particles",
                 p->fluid->name);
}

/* Room for `more` behind the cloud's particles, which a solver and its memory hold too. */
ooze_result oz_pour_room(oz_pour *p, uint64_t more, int velocities) {
  oz_cloud *c = p->out;
  if (more > p->fill->most - p->fill->total || more > UINT32_MAX - c->count)
    return oz_fail(
        p->why, OOZE_ERROR_LIMIT,
        "fluid %s: more than the %llu particles that %s; expected a larger particle_separation%s",
        p->fluid->name, (unsigned long long)p->fill->most,
        p->fill->most < 1u << 30 ? "the memory allowed holds" : "a solver holds",
        p->fill->most < 1u << 30 ? " or --max-memory" : "");
  if (c->count + more <= p->room) return OOZE_OK;
  size_t room = p->room ? 2 * p->room : 4096;
  if (room < c->count + more) room = (size_t)(c->count + more);
  float(*x2)[3] = realloc(c->x, room * sizeof *x2);
  if (x2) c->x = x2;
  float(*v2)[3] = velocities && x2 ? realloc(c->v, room * sizeof *v2) : NULL;
  if (v2) c->v = v2;
  if (!x2 || (velocities && !v2)) return oz_pour_no_memory(p);
  p->room = room;
  return OOZE_OK;
}
