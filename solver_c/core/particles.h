/* Particle storage of the solver: adding, removing, and one field at a time on the host.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_PARTICLES_H
#define OZ_CORE_PARTICLES_H

#include "base/tasks.h"
#include "core/solver.h"

/* How a field is stored: `words` of 4 bytes a particle, as a record or as planes of `count`. */
typedef struct oz_field_shape {
  uint8_t words;
  uint8_t planes;
  uint8_t fallback; /* OZ_FALLBACK_*: default of an absent field */
} oz_field_shape;
enum { OZ_FALLBACK_NONE = 0, OZ_FALLBACK_ZERO, OZ_FALLBACK_MATTER }; /* NONE: it always is */
extern const oz_field_shape oz_field_shapes[OZ_FIELD_COUNT];

/* fields.c */
int oz_field_there(const ooze_solver *s, oz_field field);
/* of all particles, there or not */
ooze_result oz_field_download(ooze_solver *s, oz_field field, void *out);
/* A material's value of such a field; 0 of all other fields. */
uint32_t oz_material_word(const ooze_material *materials, uint32_t count, uint32_t material,
                          oz_field field);

/* Word k of particle i in a host copy of n particles. */
static inline size_t oz_field_at(oz_field field, uint32_t n, uint32_t i, uint32_t k) {
  oz_field_shape shape = oz_field_shapes[field];
  return shape.planes ? (size_t)k * n + i : (size_t)i * shape.words + k;
}

/* host_copy.c: the field in the backend's order; valid until the next call that touches particles.
 */
ooze_result oz_host_copy(ooze_solver *s, oz_field field, void **out);
/* The same for writing all of it: the old values need not be fetched. */
ooze_result oz_host_blank(ooze_solver *s, oz_field field, void **out);
/* the copy was changed: its field is there from now on */
ooze_result oz_host_dirty(ooze_solver *s);
ooze_result oz_host_flush(ooze_solver *s); /* to the backend, before it does anything */
/* The same to read, where it need not be fetched; otherwise the host's copy. Fields of one record
 * or one plane. */
ooze_result oz_host_look(ooze_solver *s, oz_field field, const void **out);
/* From now on the field is there, with the values that it read as. */
ooze_result oz_field_provide(ooze_solver *s, oz_field field);
/* As oz_grow, for memory that grows with particles, and its failure. */
ooze_result oz_host_reserve(ooze_solver *s, void **p, size_t *capacity, size_t bytes, size_t keep);
ooze_result oz_host_no_memory(ooze_solver *s, size_t bytes);

/* ranks.c. s->particles.at is right. */
ooze_result oz_rank_map(ooze_solver *s);
/* The backend has moved or changed particles: host copies and the map are out of date. */
void oz_particles_moved(ooze_solver *s);

/* New particles, checked by the caller. Strides in bytes. */
typedef struct oz_arrivals {
  uint32_t count;
  const void *positions;
  size_t position_stride;
  const void *velocities; /* NULL: at rest */
  size_t velocity_stride;
  const uint64_t *ids;                 /* NULL: from next_id on */
  const uint32_t *materials, *sources; /* NULL: all as below */
  uint32_t material, source;
  uint32_t owner;     /* of all of them */
  const float *rests; /* 3 each, with an owner */
} oz_arrivals;
/* Each particle's place becomes its place in the reference shape. */
ooze_result oz_particles_rest_here(ooze_solver *s);
ooze_result oz_particles_rest_nowhere(ooze_solver *s); /* of free fluid */
/* labels.c: when and where particles came in (ooze_params.rest), by rank, 7 floats each. */
ooze_result oz_labels_begin(ooze_solver *s); /* of all particles: here and now */
/* Room for `count`, where there are labels or new particles are to have them. */
ooze_result oz_labels_reserve(ooze_solver *s, uint32_t count);
/* Room for as many of any state, with the present values kept; and every label 0. */
ooze_result oz_labels_room(ooze_solver *s, uint32_t count);
void oz_labels_clear(ooze_solver *s);
/* Of new particle i, which has that rank. */
void oz_labels_put(ooze_solver *s, const oz_arrivals *a, uint32_t i, uint32_t rank);
void oz_labels_move(ooze_solver *s, uint32_t to, uint32_t from);
/* Values due between two times are set anew. */
ooze_result oz_labels_renew(ooze_solver *s, double from, double to);
void oz_labels_read(const ooze_solver *s, ooze_attribute attribute, uint32_t first, uint32_t count,
                    size_t stride, void *out);
ooze_result oz_labels_write(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                            uint32_t count, size_t stride, const void *in);
/* A copy of the labels that the host sees: birth, rest, rest2, an array each. Labels seldom change,
 * so mostly it is the rows of new particles that are copied. */
typedef struct oz_label_copy {
  void *rows[3];
  size_t capacity[3]; /* bytes */
  uint64_t edition;
  uint32_t count; /* rows that are right, of that edition */
  int present;    /* the solver had labels */
} oz_label_copy;
ooze_result oz_labels_copy(ooze_solver *s, oz_label_copy *to, const oz_loop *loop);
void oz_labels_copy_release(ooze_solver *s, oz_label_copy *c);
ooze_result oz_particles_append(ooze_solver *s, const oz_arrivals *a);
/* Keeps particles with a set flag (backend's order, s->particles.flags). */
ooze_result oz_particles_keep(ooze_solver *s, uint32_t kept);
/* Removes particles beyond the limit of positions and, with `kill`, in a kill volume; after a
 * substep. */
ooze_result oz_particles_leave(ooze_solver *s, int kill);
/* Room for that many flags, all set. */
ooze_result oz_particles_flags(ooze_solver *s);
/* Memory for removing any of `count` particles and for copies of their vectors, so that this cannot
 * fail later. */
ooze_result oz_particles_prepare(ooze_solver *s, uint32_t count);
/* Every particle gone. */
ooze_result oz_particles_empty(ooze_solver *s);
void oz_particles_release(ooze_solver *s);

/* rank of an id; 0 if there is no such id */
int oz_rank_of(const ooze_solver *s, uint64_t id, uint32_t *out);
/* attributes.c */
size_t oz_attribute_bytes(ooze_attribute attribute); /* of one particle */
/* State of the backend, on which the motion depends; or kept here and without influence. */
int oz_attribute_is_state(ooze_attribute attribute);
int oz_attribute_is_saved(ooze_attribute attribute); /* state or label: in a checkpoint */
int oz_attribute_is_label(ooze_attribute attribute);
oz_field oz_attribute_field(ooze_attribute attribute);
/* Values that may be written; ids name the offender. stride 0: tight */
ooze_result oz_attribute_check(const ooze_solver *s, ooze_attribute attribute, const uint64_t *ids,
                               uint32_t count, size_t stride, const void *in, ooze_message *why);
/* Number of particles that the host sees. */
static inline uint32_t oz_visible(const ooze_solver *s) {
  return s->particles.count - s->particles.hidden;
}
int oz_position_ok(const ooze_solver *s, const float x[3]);

/* ranks.c: checks of a host's arrays, before they are read. A stride of 0 becomes
 * `bytes`. */
ooze_result oz_check_count(const ooze_solver *s, uint32_t count, const char *who);
ooze_result oz_check_stride(size_t *stride, size_t bytes, const char *who, ooze_message *why);

#endif
