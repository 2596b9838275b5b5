/* One field at a time on the host, in the backend's order. SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"

ooze_result oz_host_no_memory(ooze_solver *s, size_t bytes) {
  return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for %u particles", bytes,
                 (unsigned)s->particles.count);
}

/* Half as much again as is there, so that a stream does not move its particles with each birth. */
static size_t ahead(size_t capacity, size_t bytes) {
  if (bytes <= capacity || capacity == 0) return bytes;
  size_t more = capacity + capacity / 2;
  return more > bytes ? more : bytes;
}

ooze_result oz_host_reserve(ooze_solver *s, void **p, size_t *capacity, size_t bytes, size_t keep) {
  if (oz_grow(&s->memory, p, capacity, ahead(*capacity, bytes), keep)) return OOZE_OK;
  return oz_host_no_memory(s, bytes);
}

static ooze_result host_room(ooze_solver *s, oz_field field) {
  oz_particles *p = &s->particles;
  size_t bytes = (size_t)p->count * oz_field_shapes[field].words * 4;
  OZ_TRY(oz_host_flush(s));
  p->copy_valid = 0;
  void *copy = p->copy;
  OZ_TRY(oz_host_reserve(s, &copy, &p->copy_capacity, bytes, 0));
  p->copy = copy;
  return OOZE_OK;
}

ooze_result oz_host_copy(ooze_solver *s, oz_field field, void **out) {
  oz_particles *p = &s->particles;
  *out = p->copy;
  if (p->count == 0 || (p->copy_valid && p->copy_field == field)) return OOZE_OK;
  OZ_TRY(host_room(s, field));
  OZ_TRY(oz_field_download(s, field, p->copy));
  p->copy_field = field;
  p->copy_valid = 1;
  *out = p->copy;
  return OOZE_OK;
}

ooze_result oz_host_blank(ooze_solver *s, oz_field field, void **out) {
  oz_particles *p = &s->particles;
  if (!(p->copy_valid && p->copy_field == field)) OZ_TRY(host_room(s, field));
  p->copy_field = field;
  p->copy_valid = 1;
  *out = p->copy;
  return OOZE_OK;
}

ooze_result oz_host_dirty(ooze_solver *s) {
  const oz_field field = s->particles.copy_field;
  /* all of it is in the copy */
  if (!oz_field_there(s, field)) OZ_TRY(s->backend->table->provide(s->backend, field, s->message));
  s->particles.copy_dirty = 1;
  return OOZE_OK;
}

ooze_result oz_host_flush(ooze_solver *s) {
  oz_particles *p = &s->particles;
  if (!p->copy_dirty) return OOZE_OK;
  OZ_TRY(s->backend->table->upload(s->backend, p->copy_field, 0, p->count, p->copy, s->message));
  p->copy_dirty = 0;
  return OOZE_OK;
}

ooze_result oz_host_look(ooze_solver *s, oz_field field, const void **out) {
  void *copy = NULL;
  OZ_TRY(oz_host_flush(s));
  *out = s->backend->table->memory ? s->backend->table->memory(s->backend, field) : NULL;
  if (*out) return OOZE_OK;
  OZ_TRY(oz_host_copy(s, field, &copy));
  *out = copy;
  return OOZE_OK;
}

ooze_result oz_field_provide(ooze_solver *s, oz_field field) {
  void *copy;
  if (oz_field_there(s, field)) return OOZE_OK;
  if (oz_field_shapes[field].fallback != OZ_FALLBACK_MATTER || s->particles.count == 0)
    return s->backend->table->provide(s->backend, field, s->message);
  OZ_TRY(oz_host_copy(s, field, &copy));
  OZ_TRY(s->backend->table->provide(s->backend, field, s->message));
  return s->backend->table->upload(s->backend, field, 0, s->particles.count, copy, s->message);
}
