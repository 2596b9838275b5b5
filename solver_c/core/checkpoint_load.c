/* A checkpoint that has been read takes the place of the solver's state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint.h"
#include "core/particles.h"

enum { OZ_LOAD_BLOCK = 16384 };

/* The default of such a field for particle i. */
static uint32_t by_itself(const oz_incoming *in, oz_field field, uint32_t i) {
  uint32_t material;
  memcpy(&material, in->attribute[OOZE_MATERIAL] + 4 * (size_t)i, 4);
  return oz_material_word(in->materials, in->header.materials, material, field);
}

/* Does some particle have anything else? */
static int sets(const oz_incoming *in, int p) {
  const unsigned char *from = in->attribute[oz_places[p].attribute];
  for (uint32_t i = 0; from && i < in->header.particles; ++i) {
    const uint32_t plain = by_itself(in, oz_places[p].field, i);
    for (uint32_t k = 0; k < oz_places[p].words; ++k, from += 4)
      if (memcmp(from, &plain, 4)) return 1;
  }
  return 0;
}

static ooze_result fill(ooze_solver *s, const oz_incoming *in) {
  uint32_t n = in->header.particles;
  uint32_t *block = s->particles.scratch;
  for (uint32_t first = 0; first < n; first += OZ_LOAD_BLOCK) {
    uint32_t count = n - first < OZ_LOAD_BLOCK ? n - first : OZ_LOAD_BLOCK;
    for (int p = 0; p < OZ_PLACES; ++p) {
      uint32_t words = oz_places[p].words;
      const unsigned char *from = in->attribute[oz_places[p].attribute];
      /* `prepare` has seen to it that it need not be */
      if (!oz_field_there(s, oz_places[p].field)) continue;
      memset(block, 0, (size_t)count * 24);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t plain = from ? 0 : by_itself(in, oz_places[p].field, first + i);
        for (uint32_t k = 0; k < words; ++k)
          memcpy(&block[oz_field_at(oz_places[p].field, count, i, k)],
                 from ? from + ((size_t)(first + i) * words + k) * 4
                      : (const unsigned char *)&plain,
                 4);
      }
      OZ_TRY(s->backend->table->upload(s->backend, oz_places[p].field, first, count, block,
                                       s->message));
    }
    for (uint32_t i = 0; i < count; ++i) block[i] = first + i;
    OZ_TRY(s->backend->table->upload(s->backend, OZ_FIELD_RANK, first, count, block, s->message));
  }
  return OOZE_OK;
}

/* All memory that is needed, while the old state still stands. */
static ooze_result prepare(ooze_solver *s, const oz_incoming *in) {
  void *scratch = s->particles.scratch;
  OZ_TRY(oz_host_flush(s));
  if (!oz_grow(&s->memory, &scratch, &s->particles.scratch_capacity, (size_t)OZ_LOAD_BLOCK * 24, 0))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory: %d bytes to load with",
                   OZ_LOAD_BLOCK * 24);
  s->particles.scratch = scratch;
  if (in->header.particles > s->particles.reserved) {
    OZ_TRY(s->backend->table->reserve(s->backend, in->header.particles, s->message));
    s->particles.reserved = in->header.particles;
    s->particles.results = 0;
  }
  for (int p = 0; p < OZ_PLACES; ++p)
    if (!oz_field_there(s, oz_places[p].field) && sets(in, p))
      OZ_TRY(oz_field_provide(s, oz_places[p].field));
  if (~in->header.left_out & OZ_LABELS) OZ_TRY(oz_labels_room(s, in->header.particles));
  if (in->shown == 0) return OOZE_OK;
  void *at = s->particles.at;
  if (!oz_grow(&s->memory, &at, &s->particles.at_capacity,
               in->header.particles * sizeof *s->particles.at, 0))
    return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for the links of %u particles",
                   (unsigned)in->header.particles);
  s->particles.at = at;
  s->particles.at_known = 0;
  return s->backend->table->links_put(s->backend, NULL, NULL, in->shown, s->message);
}

/* The old values go where the new ones came from, and are released there. */
static ooze_result replace(ooze_solver *s, oz_incoming *in) {
  oz_particles *p = &s->particles;
  uint32_t n = in->header.particles;
  ooze_result r = s->backend->table->resize(s->backend, 0, s->message);
  if (r < 0) return r;
  r = s->backend->table->resize(s->backend, n, s->message);
  if (r >= 0) r = fill(s, in);
  oz_particles_moved(s);
  if (r >= 0 && in->shown) { /* the fields just filled in are in ascending id */
    for (uint32_t i = 0; i < n; ++i) p->at[i] = i;
    r = s->backend->table->links_put(s->backend, p->at, in->links, in->shown, s->message);
  }
  if (r < 0) {
    (void)s->backend->table->resize(s->backend, 0, NULL);
    p->count = p->hidden = p->results = 0;
    return s->lost = OOZE_LOST_DEVICE;
  }
  OZ_SWAP(uint64_t *, p->ids, in->ids);
  p->ids_capacity = n * sizeof *p->ids;
  p->count = n;
  p->hidden = 0;
  oz_labels_clear(s);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a)
    if (OZ_LABELS >> a & 1 && in->attribute[a]) /* there is room: this cannot fail */
      (void)oz_labels_write(s, (ooze_attribute)a, 0, n, oz_attribute_bytes((ooze_attribute)a),
                            in->attribute[a]);
  p->next_id = in->header.next_id;
  p->results = 0;
  p->results_dt = 0;
  p->relaxation_time_known = s->extremes_known = 0;
  s->params = in->params;
  OZ_SWAP(ooze_material *, s->materials, in->materials);
  s->material_count = in->header.materials;
  s->matter_known = 0;
  s->materials_capacity = in->header.materials * sizeof *s->materials;
  OZ_SWAP(oz_colliders, s->colliders, in->colliders);
  s->colliders.bricks_changed = 1;
  OZ_SWAP(oz_emitters, s->emitters, in->emitters);
  OZ_SWAP(oz_bodies, s->bodies, in->bodies);
  s->bodies.changed = 1;
  OZ_SWAP(oz_boundary, s->boundary, in->boundary);
  s->boundary.placed = 0; /* before the next step */
  oz_links_await(s, in->wait, in->link_count - in->shown);
  in->wait = NULL;
  s->time = in->header.time;
  const double speed = in->header.explained_speed;
  s->explained_speed = speed >= 0 || speed == OZ_SPEED_OF_STRETCH ? speed : OZ_SPEED_UNKNOWN;
  memset(&s->run, 0, sizeof s->run);
  s->lost = OOZE_OK;
  return OOZE_OK;
}

/* Each vector width and each backend rounds in its own way. */
static void tell_of_maker(ooze_solver *s, const oz_header *h) {
  const ooze_hooks *hooks = &s->memory.hooks;
  if (!h->backend || (h->backend == s->backend_kind && h->isa == s->isa)) return;
  (void)oz_fail(
      s->message, OOZE_OK,
      "checkpoint: %s computed it and %s goes on: its results have other last digits than "
      "those of a run that stays with one",
      oz_registry_name(h->backend, h->isa), oz_registry_name(s->backend_kind, s->isa));
  if (hooks->log) hooks->log(hooks->user, OOZE_LOG_WARNING, s->message->text);
}

ooze_result ooze_checkpoint_load(ooze_solver *s, const void *memory, size_t bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_incoming in;
  if (!memory) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "checkpoint: the memory is NULL");
  ooze_result result = oz_incoming_read(s, memory, bytes, &in);
  if (result >= 0) result = prepare(s, &in);
  if (result >= 0) result = replace(s, &in);
  if (result >= 0) tell_of_maker(s, &in.header);
  oz_incoming_release(s, &in);
  return result;
}
