/* The block of a checkpoint (checkpoint.c), from a solver or from a capture.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_CHECKPOINT_H
#define OZ_CORE_CHECKPOINT_H

#include "core/solver.h"

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

/* What a block is written from. */
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

#endif
