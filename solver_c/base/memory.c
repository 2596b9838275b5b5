/* SPDX-License-Identifier: Apache-2.0 */
#if defined(__linux__)
#define _DEFAULT_SOURCE 1 /* madvise */
#endif
#include "base/memory.h"

#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { OZ_ALIGN = 64 };

/* In front of every block: its requested size. */
typedef struct oz_header {
  size_t bytes;
} oz_header;

/* Room to align and a pointer back to the original block: works with every C library. */
static size_t padded(size_t bytes, size_t alignment) { return bytes + alignment + sizeof(void *); }

static void *aligned(unsigned char *raw, size_t alignment) {
  if (!raw) return NULL;
  uintptr_t at = ((uintptr_t)raw + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  memcpy((void *)(at - sizeof(void *)), &raw, sizeof raw);
  return (void *)at;
}

/* Asks for large pages within a large block: one fault for 2 MiB and not 512. */
static void *on_large_pages(unsigned char *raw, size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  enum { PAGE = 2 << 20, LARGE = 8 << 20 };
  if (raw && bytes >= LARGE) {
    const uintptr_t first = ((uintptr_t)raw + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
                    end = ((uintptr_t)raw + bytes) & ~(uintptr_t)(PAGE - 1);
    (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* small ones serve as well */
  }
#else
  (void)bytes;
#endif
  return raw;
}

/* Zeroed: the system hands large blocks out as pages of zeros that cost nothing until their first
 * use, which is then that of a stage, on all threads. */
static void *default_allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  const size_t all = padded(bytes, alignment);
  return aligned(on_large_pages(calloc(1, all), all), alignment);
}

static void default_release(void *user, void *memory, size_t bytes) {
  (void)user;
  (void)bytes;
  void *raw;
  memcpy(&raw, (unsigned char *)memory - sizeof(void *), sizeof raw);
  free(raw);
}

void oz_memory_init(oz_memory *m, const ooze_hooks *hooks) {
  memset(m, 0, sizeof *m);
  m->hooks = *hooks;
  if (!m->hooks.allocate || !m->hooks.release) {
    m->hooks.allocate = default_allocate;
    m->hooks.release = default_release;
  }
}

void *oz_alloc(oz_memory *m, size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX - 2 * OZ_ALIGN) return NULL;
  unsigned char *block = m->hooks.allocate(m->hooks.user, bytes + OZ_ALIGN, OZ_ALIGN);
  if (!block) return NULL;
  oz_header header = {bytes};
  memcpy(block, &header, sizeof header);
  m->bytes += bytes;
  m->allocations++;
  if (m->hooks.allocate != default_allocate) memset(block + OZ_ALIGN, 0, bytes);
  return block + OZ_ALIGN;
}

void oz_free(oz_memory *m, void *p) {
  if (!p) return;
  unsigned char *block = (unsigned char *)p - OZ_ALIGN;
  oz_header header;
  memcpy(&header, block, sizeof header);
  m->bytes -= header.bytes;
  m->hooks.release(m->hooks.user, block, header.bytes + OZ_ALIGN);
}

int oz_grow(oz_memory *m, void **p, size_t *capacity, size_t bytes, size_t keep) {
  if (bytes <= *capacity) return 1;
  void *bigger = oz_alloc(m, bytes);
  if (!bigger) return 0;
  if (*p && keep) memcpy(bigger, *p, keep);
  oz_free(m, *p);
  *p = bigger;
  *capacity = bytes;
  return 1;
}

int oz_grow_list(oz_memory *m, void **p, size_t *capacity, size_t count, size_t each,
                 size_t spare) {
  const size_t held = count * each;
  return held + each <= *capacity || oz_grow(m, p, capacity, 2 * held + spare * each, held);
}

int oz_list_room(void **list, size_t *room, size_t count, size_t each, size_t least) {
  if (count < *room) return 1;
  const size_t more = *room ? 2 * *room : least;
  void *moved = realloc(*list, more * each);
  if (!moved) return 0;
  *list = moved;
  *room = more;
  return 1;
}

void *oz_allocate(size_t count, size_t bytes) {
  if (bytes && count > (SIZE_MAX - 2 * OZ_ALIGN) / bytes) return NULL;
  return aligned(malloc(padded(count * bytes + 1, OZ_ALIGN)), OZ_ALIGN);
}

void oz_release(void *memory) {
  if (memory) default_release(NULL, memory, 0);
}
