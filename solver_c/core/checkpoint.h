/* The block of a checkpoint, from a solver or from a capture (checkpoint.c), and back: read without
 * a change (checkpoint_read.c), then put in place (checkpoint_load.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_CHECKPOINT_H
#define OZ_CORE_CHECKPOINT_H

#include "core/links.h"
#include "core/solver.h"

#define OZ_MAGIC "ooze ck\n"
/* 3 leaves no attribute out; 5 knows the backend and the build; 6 has the attributes of laws of
 * flow; 7 has birth and rest; 8 knows which speed is explained; 9 has the density's pressure */
enum {
  OZ_CHECKPOINT_VERSION = 9,
  OZ_CHECKPOINT_OLDEST = 3,
  OZ_HEADER_BEFORE_5 = 72,
  OZ_HEADER_BEFORE_8 = 80,
  OZ_STRUCT_MAX = 4096
};

typedef struct oz_header {
  char magic[8];
  uint32_t version, header_bytes;
  uint64_t bytes, hash; /* of the whole block; of the part behind the header */
  uint32_t particles, materials;
  float separation;
  uint32_t library; /* ooze_version() that wrote it */
  double time;
  uint64_t next_id;
  uint64_t left_out;      /* bits: attributes */
  uint32_t backend, isa;  /* OOZE_BACKEND_*, OOZE_ISA_* that computed it; 0: not known */
  double explained_speed; /* m/s (speeds.c), or OZ_SPEED_* */
} oz_header;

/* The source of a block. */
typedef struct oz_checkpoint_source {
  const ooze_solver *solver; /* for the head, where that is NULL */
  oz_header header;
  const void *head; /* everything before the particles */
  size_t head_bytes;
  ooze_result (*read)(void *user, ooze_attribute attribute, uint32_t count, void *out);
  void *user;
  const oz_link_pair *links;
  uint64_t link_count;
} oz_checkpoint_source;

oz_header oz_checkpoint_header(const ooze_solver *s);
/* Returns the bytes of the head; without memory it only counts. */
size_t oz_checkpoint_head(const ooze_solver *s, void *memory);
ooze_result oz_checkpoint_write(const oz_checkpoint_source *from, void *memory, size_t *out_bytes);

/* Fields with the same words as their attribute; the fourth word of a record is 0. */
typedef struct oz_place {
  ooze_attribute attribute;
  oz_field field;
  uint8_t words;
} oz_place;
enum { OZ_PLACES = 20 };
extern const oz_place oz_places[OZ_PLACES];

/* Attributes that are kept by rank (labels.c). */
#define OZ_LABELS \
  (UINT64_C(1) << OOZE_BIRTH | UINT64_C(1) << OOZE_REST_1 | UINT64_C(1) << OOZE_REST_2)

/* Parts that are read before anything of the solver changes. */
typedef struct oz_incoming {
  oz_header header;
  ooze_params params;
  ooze_material *materials;
  oz_colliders colliders;
  oz_emitters emitters;
  oz_bodies bodies;
  oz_boundary boundary;
  uint64_t *ids;
  const unsigned char *attribute[OOZE_ATTRIBUTE_COUNT];
  oz_link_pair *links;
  uint64_t link_count, shown; /* shown: not to boundary particles */
  oz_link_wait *wait;
} oz_incoming;

/* Reads and checks all of a block; `in` is to be released whatever the result. */
ooze_result oz_incoming_read(ooze_solver *s, const void *memory, size_t bytes, oz_incoming *in);
void oz_incoming_release(ooze_solver *s, oz_incoming *in);

#endif
