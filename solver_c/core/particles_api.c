/* The public side of storage.c: adding, removing and finding by the host, with checks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"

#include <math.h>
#include <stdio.h>

ooze_result ooze_particles_add(ooze_solver *s, const ooze_particles *particles,
                               uint64_t *out_first_id) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_particles, in, particles, "particles", s->message);
  if (s->lost)
    return oz_fail(s->message, s->lost,
                   "the state is lost; clear the particles or load a checkpoint");
  if (in.count == 0) {
    if (out_first_id) *out_first_id = s->particles.next_id;
    return OOZE_OK;
  }
  if (!in.positions)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: positions is NULL");
  if (in.material >= s->material_count)
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "particles: material is %u; there are %u",
                   (unsigned)in.material, (unsigned)s->material_count);
  OZ_TRY(oz_check_count(s, in.count, "particles"));
  OZ_TRY(oz_check_stride(&in.position_stride, 12, "particles: position_stride", s->message));
  OZ_TRY(oz_check_stride(&in.velocity_stride, 12, "particles: velocity_stride", s->message));
  for (uint32_t i = 0; i < in.count; ++i) {
    float x[3], u[3] = {0, 0, 0};
    memcpy(x, (const unsigned char *)in.positions + i * in.position_stride, 12);
    if (in.velocities) memcpy(u, (const unsigned char *)in.velocities + i * in.velocity_stride, 12);
    const char *field = NULL;
    const float *value = x;
    if (!oz_position_ok(s, x))
      field = "position";
    else if (!(fabsf(u[0]) <= (float)OZ_FAST && fabsf(u[1]) <= (float)OZ_FAST &&
               fabsf(u[2]) <= (float)OZ_FAST)) {
      field = "velocity";
      value = u;
    }
    if (!field) continue;
    char name[40] = "";
    if (in.ids) snprintf(name, sizeof name, " (id %llu)", (unsigned long long)in.ids[i]);
    return oz_fail(
        s->message, OOZE_ERROR_ARGUMENT,
        "particles: %s of number %u%s is %g %g %g; expected finite values of at most %g %s", field,
        (unsigned)i, name, (double)value[0], (double)value[1], (double)value[2],
        value == u ? OZ_FAST : fmin(OZ_FAR_METRES, OZ_FAR_SEPARATIONS * (double)s->separation),
        value == u ? "m/s" : "m, a million particle separations");
  }
  uint64_t first = in.ids ? in.ids[0] : s->particles.next_id;
  oz_arrivals a = {in.count,
                   in.positions,
                   in.position_stride,
                   in.velocities,
                   in.velocity_stride,
                   in.ids,
                   NULL,
                   NULL,
                   in.material,
                   0,
                   0,
                   NULL};
  OZ_TRY(oz_particles_append(s, &a));
  if (out_first_id) *out_first_id = first;
  return OOZE_OK;
}

ooze_result ooze_particles_remove(ooze_solver *s, const uint64_t *ids, uint32_t count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (count == 0) return OOZE_OK;
  if (!ids) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: ids is NULL");
  if (count > oz_visible(s))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: %u are to be removed; there are %u",
                   (unsigned)count, (unsigned)oz_visible(s));
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_particles_flags(s));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t rank;
    if (!oz_rank_of(s, ids[i], &rank) || rank >= oz_visible(s))
      return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "particles: there is no id %llu",
                     (unsigned long long)ids[i]);
    uint8_t *flag = &s->particles.flags[s->particles.at[rank]];
    if (!*flag)
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles: id %llu is given twice",
                     (unsigned long long)ids[i]);
    *flag = 0;
  }
  return oz_particles_keep(s, s->particles.count - count);
}

ooze_result ooze_particles_clear(ooze_solver *s) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(oz_particles_empty(s));
  oz_bodies_clear(&s->bodies);
  s->lost = OOZE_OK;
  return OOZE_OK;
}

uint32_t ooze_particle_count(const ooze_solver *s) { return s ? oz_visible(s) : 0; }

/* Positions in the host's memory, or in its copy. */
static ooze_result look_within(ooze_solver *s, const oz_within *which, float *out,
                               uint32_t *out_count) {
  const oz_particles *p = &s->particles;
  const void *copy;
  uint32_t n = 0;
  if (p->hidden) OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_look(s, OZ_FIELD_X, &copy));
  for (uint32_t k = 0; k < (p->hidden ? which->visible : p->count); ++k) {
    const float *x = (const float *)copy + 4 * (size_t)(p->hidden ? p->at[k] : k);
    int in = 1;
    for (int a = 0; a < 3; ++a) in &= x[a] >= which->low[a] && x[a] <= which->high[a];
    if (!in) continue;
    if (n < which->room) memcpy(out + 3 * (size_t)n, x, 12);
    ++n;
  }
  *out_count = n;
  return OOZE_OK;
}

ooze_result ooze_particles_within(ooze_solver *s, const float low[3], const float high[3],
                                  uint32_t room, float *out, uint32_t *out_count) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!low || !high || !out_count || (room && !out))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "particles within a box: a pointer is NULL");
  oz_within which = {.visible = oz_visible(s), .room = room};
  memcpy(which.low, low, sizeof which.low);
  memcpy(which.high, high, sizeof which.high);
  *out_count = 0;
  if (!which.visible) return OOZE_OK;
  OZ_TRY(oz_host_flush(s));
  if (!s->backend->table->within) return look_within(s, &which, out, out_count);
  return s->backend->table->within(s->backend, &which, out, out_count, s->message);
}

ooze_result ooze_particle_find(const ooze_solver *s, uint64_t id, uint32_t *out_rank) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  uint32_t rank;
  if (!oz_rank_of(s, id, &rank) || rank >= oz_visible(s))
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "particles: there is no id %llu",
                   (unsigned long long)id);
  if (out_rank) *out_rank = rank;
  return OOZE_OK;
}
