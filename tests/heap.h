/* Memory for the solver's hooks that is counted, and that may run out at any allocation.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_HEAP_H
#define OZ_TESTS_HEAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct heap {
  long live, total;
  long fail_at;   /* the allocation (counted by total) that fails; -1: none does */
  long fail_rest; /* 1: and all that follow */
  long failed;
  size_t bytes;
} heap;
static const heap plenty = {0, 0, -1, 0, 0, 0};

static inline void *heap_allocate(void *user, size_t bytes, size_t alignment) {
  heap *h = (heap *)user;
  long index = h->total++;
  if (h->fail_at >= 0 && (index == h->fail_at || (h->fail_rest && index > h->fail_at))) {
    h->failed++;
    return NULL;
  }
  CHECK(alignment && alignment <= 4096 && (alignment & (alignment - 1)) == 0, "alignment %zu",
        alignment);
  unsigned char *raw = (unsigned char *)malloc(bytes + alignment + sizeof(void *));
  CHECK(raw != NULL);
  uintptr_t at = ((uintptr_t)raw + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  memcpy((void *)(at - sizeof(void *)), &raw, sizeof raw);
  memset((void *)at, 0xcd, bytes); /* no caller may rely on zeros */
  h->live++;
  h->bytes += bytes;
  return (void *)at;
}

static inline void heap_release(void *user, void *memory, size_t bytes) {
  heap *h = (heap *)user;
  void *raw;
  if (!memory) return;
  memcpy(&raw, (unsigned char *)memory - sizeof(void *), sizeof raw);
  free(raw);
  h->live--;
  h->bytes -= bytes;
}

static inline void heap_hooks(heap *h, ooze_hooks *hooks) {
  hooks->user = h;
  hooks->allocate = heap_allocate;
  hooks->release = heap_release;
}

#endif
