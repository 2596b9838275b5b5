/* A block of fluid on CUDA's kernels as host loops. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_CUDA_HOST_BLOCK_H
#define OZ_TESTS_CUDA_HOST_BLOCK_H

#include "cuda/compare.h"

#include "check.h"

static inline oz_backend_desc host_loop_desc(oz_memory *memory) {
  const oz_backend_desc desc = {.memory = memory,
                                .isa = OOZE_ISA_SCALAR,
                                .tasks = OOZE_TASKS_SERIAL,
                                .threads = 1,
                                .device = -1};
  return desc;
}

static inline oz_backend *host_loops(oz_memory *memory) {
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(memory, &hooks);
  const oz_backend_desc desc = host_loop_desc(memory);
  oz_backend *b = NULL;
  ooze_message why = {""};
  CHECK(oz_cuda_host_backend_create(&desc, &b, &why) >= 0, "%s", why.text);
  return b;
}

/* Arrays as a backend's fields hold them: x and u of 4 floats each, q of 6 rows. */
typedef struct host_block {
  const float *x, *u, *q;
  const uint32_t *material, *rank;
  const uint64_t *id;
} host_block;

static inline void put_block(oz_backend *b, uint32_t count, const host_block *from,
                             const oz_matter *matter) {
  const struct {
    oz_field field;
    const void *from;
  } arrays[] = {{OZ_FIELD_X, from->x},       {OZ_FIELD_U, from->u},
                {OZ_FIELD_Q, from->q},       {OZ_FIELD_MATERIAL, from->material},
                {OZ_FIELD_RANK, from->rank}, {OZ_FIELD_ID, from->id}};
  ooze_message why = {""};
  CHECK(b->table->resize(b, count, &why) >= 0, "%s", why.text);
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    CHECK(b->table->upload(b, arrays[k].field, 0, count, arrays[k].from, &why) >= 0, "%s",
          why.text);
  CHECK(b->table->matter(b, matter, 1, &why) >= 0, "%s", why.text);
}

#endif
