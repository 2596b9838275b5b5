/* All state as one block of bytes, and back. Everything is little-endian, like every supported
 * machine.
 *
 *   header           oz_header, 88 bytes (72 before version 5, 80 before version 8)
 *   params           ooze_params, with its size in front
 *   materials        ooze_material each, likewise
 *   colliders        length (8 bytes), then the bytes of colliders.c
 *   emitters         likewise
 *   bodies           likewise
 *   boundary points  likewise
 *   particles        each attribute that is state, in the order of ooze_attribute, tightly packed
 * in ascending id; without those that the header marks as left out, because every particle has the
 * default links            their number (8 bytes), then oz_link_pair each, by the particles' places
 * in that order; behind them those to boundary particles, which have the last places
 *
 * Each part is filled up to 8 bytes. A reader trusts nothing: sizes are checked against the block
 * before they are used, values as strictly as those that come through the interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "core/checkpoint.h"
#include "core/particles.h"

const oz_place oz_places[OZ_PLACES] = {
    {OOZE_POSITION, OZ_FIELD_X, 3},
    {OOZE_VELOCITY, OZ_FIELD_U, 3},
    {OOZE_CONFORMATION, OZ_FIELD_Q, 6},
    {OOZE_RELAXATION_TIME, OZ_FIELD_RELAXATION_TIME, 1},
    {OOZE_COMPLIANCE, OZ_FIELD_COMPLIANCE, 1},
    {OOZE_VISCOSITY, OZ_FIELD_VISCOSITY, 1},
    {OOZE_DENSITY, OZ_FIELD_DENSITY, 1},
    {OOZE_TEMPERATURE, OZ_FIELD_TEMPERATURE, 1},
    {OOZE_FORCE, OZ_FIELD_FORCE, 3},
    {OOZE_MATERIAL, OZ_FIELD_MATERIAL, 1},
    {OOZE_SOURCE, OZ_FIELD_SOURCE, 1},
    {OOZE_OWNER, OZ_FIELD_OWNER, 1},
    {OOZE_REST, OZ_FIELD_REFERENCE, 3},
    {OOZE_MELT, OZ_FIELD_MELT, 1},
    {OOZE_PRESSURE, OZ_FIELD_PRESSURE, 1},
    {OOZE_SOLVENT_VISCOSITY, OZ_FIELD_SOLVENT_VISCOSITY, 1},
    {OOZE_SHEAR_RATE, OZ_FIELD_SHEAR_RATE, 1},
    {OOZE_SECOND_STRETCH, OZ_FIELD_SECOND_STRETCH, 6},
    {OOZE_DENSITY_PRESSURE, OZ_FIELD_DENSITY_PRESSURE, 1},
    {OOZE_ID, OZ_FIELD_ID, 2},
};

/* Bits of the attributes with absent fields. */
static uint64_t absent(const ooze_solver *s) {
  uint64_t bits = s->particles.labels ? 0 : OZ_LABELS;
  for (int p = 0; p < OZ_PLACES; ++p)
    if (!oz_field_there(s, oz_places[p].field)) bits |= UINT64_C(1) << oz_places[p].attribute;
  return bits;
}

/* Without memory it only counts. */
typedef struct oz_writer {
  unsigned char *memory;
  size_t at;
} oz_writer;

static void *claim(oz_writer *w, size_t bytes) {
  unsigned char *here = w->memory ? w->memory + w->at : NULL;
  size_t padded = (bytes + 7) & ~(size_t)7;
  if (here) memset(here + bytes, 0, padded - bytes);
  w->at += padded;
  return here;
}

static void put(oz_writer *w, const void *from, size_t bytes) {
  void *here = claim(w, bytes);
  if (here) memcpy(here, from, bytes);
}

/* Everything before the particles. */
static void write_head(const ooze_solver *s, oz_writer *w) {
  put(w, &s->params, sizeof s->params);
  for (uint32_t i = 0; i < s->material_count; ++i) put(w, &s->materials[i], sizeof s->materials[i]);
  uint64_t length = oz_colliders_bytes(&s->colliders);
  put(w, &length, sizeof length);
  void *here = claim(w, (size_t)length);
  if (here) oz_colliders_write(&s->colliders, here);
  length = oz_emitters_bytes(&s->emitters);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_emitters_write(&s->emitters, here);
  length = oz_bodies_bytes(&s->bodies);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_bodies_write(&s->bodies, here);
  length = oz_boundary_bytes(&s->boundary);
  put(w, &length, sizeof length);
  here = claim(w, (size_t)length);
  if (here) oz_boundary_write(&s->boundary, here);
}

size_t oz_checkpoint_head(const ooze_solver *s, void *memory) {
  oz_writer w = {memory, 0};
  write_head(s, &w);
  return w.at;
}

oz_header oz_checkpoint_header(const ooze_solver *s) {
  oz_header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, OZ_MAGIC, sizeof header.magic);
  header.version = OZ_CHECKPOINT_VERSION;
  header.header_bytes = sizeof header;
  header.particles = oz_visible(s);
  header.materials = s->material_count;
  header.separation = s->separation;
  header.library = ooze_version();
  header.time = s->time;
  header.next_id = s->particles.next_id;
  header.left_out = absent(s);
  header.backend = s->backend_kind;
  header.isa = s->isa;
  header.explained_speed = s->explained_speed;
  return header;
}

ooze_result oz_checkpoint_write(const oz_checkpoint_source *from, void *memory, size_t *out_bytes) {
  oz_writer w = {memory, 0};
  oz_header header = from->header;
  (void)claim(&w, sizeof header);
  if (from->head)
    put(&w, from->head, from->head_bytes);
  else
    write_head(from->solver, &w);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    const size_t bytes = oz_attribute_bytes((ooze_attribute)a);
    if (!oz_attribute_is_saved((ooze_attribute)a) || header.left_out >> a & 1) continue;
    void *here = claim(&w, header.particles * bytes);
    if (here) OZ_TRY(from->read(from->user, (ooze_attribute)a, header.particles, here));
  }
  put(&w, &from->link_count, sizeof from->link_count);
  if (from->link_count) put(&w, from->links, (size_t)from->link_count * sizeof *from->links);
  *out_bytes = w.at;
  if (!memory) return OOZE_OK;
  header.bytes = w.at;
  header.hash = oz_hash_of(w.memory + sizeof header, w.at - sizeof header);
  memcpy(memory, &header, sizeof header);
  return OOZE_OK;
}

static ooze_result read_now(void *user, ooze_attribute attribute, uint32_t count, void *out) {
  return ooze_attribute_read(user, attribute, 0, count, 0, out);
}
static ooze_result write_now(ooze_solver *s, void *memory, size_t *out_bytes) {
  oz_checkpoint_source from = {.solver = s, .header = oz_checkpoint_header(s), .user = s};
  from.read = read_now;
  OZ_TRY(oz_links_fetch(s));
  from.links = s->links.pairs;
  from.link_count = s->links.count;
  return oz_checkpoint_write(&from, memory, out_bytes);
}

ooze_result ooze_checkpoint_size(ooze_solver *s, size_t *out_bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!out_bytes) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "checkpoint: out_bytes is NULL");
  return write_now(s, NULL, out_bytes);
}

ooze_result ooze_checkpoint_save(ooze_solver *s, void *memory, size_t capacity, size_t *out_bytes) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  size_t bytes = 0;
  if (s->lost)
    return oz_fail(s->message, s->lost, "checkpoint: the state is lost; there is nothing to save");
  OZ_TRY(ooze_checkpoint_size(s, &bytes));
  if (!memory || capacity < bytes)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "checkpoint: %zu bytes of memory; expected %zu or more", memory ? capacity : 0,
                   bytes);
  OZ_TRY(write_now(s, memory, &bytes));
  if (out_bytes) *out_bytes = bytes;
  return OOZE_OK;
}
