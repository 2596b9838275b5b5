/* Allocation through the host's hooks, counted. Every block remembers its size, so that bytes held
 * are known and a failing allocator leaves the books right. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_MEMORY_H
#define OZ_BASE_MEMORY_H

#include "ooze/ooze.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oz_memory {
  ooze_hooks hooks;
  uint64_t bytes;       /* held now */
  uint64_t allocations; /* made so far; a warm step makes none */
} oz_memory;

void oz_memory_init(oz_memory *m, const ooze_hooks *hooks);
/* 64-byte aligned, zeroed; NULL on failure or for 0 bytes */
void *oz_alloc(oz_memory *m, size_t bytes);
void oz_free(oz_memory *m, void *p); /* NULL is fine */
/* Makes *p hold at least `bytes`, keeping the first `keep` bytes; *capacity is updated. On failure
 * nothing changes. */
int oz_grow(oz_memory *m, void **p, size_t *capacity, size_t bytes, size_t keep);

/* Room for one more than `count` records of `each` bytes, all kept; where there is none yet, for
 * twice as many and some `spare`. */
int oz_grow_list(oz_memory *m, void **p, size_t *capacity, size_t count, size_t each, size_t spare);

/* Without hooks: count * bytes, 64-byte aligned, not cleared; NULL also when the product overflows.
 */
void *oz_allocate(size_t count, size_t bytes);
void oz_release(void *memory); /* NULL is fine */
/* With malloc's memory: room for one more than `count` records of `each` bytes in a list of *room;
 * where there is none, twice as many, or `least`. */
int oz_list_room(void **list, size_t *room, size_t count, size_t each, size_t least);

#define OZ_SWAP(type, a, b) \
  do {                      \
    type swapped = a;       \
    a = b;                  \
    b = swapped;            \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif
