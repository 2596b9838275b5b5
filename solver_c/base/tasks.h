/* Who runs chunks of work. Chunk boundaries never depend on the number of threads, so neither do
 * results. */
#ifndef OZ_BASE_TASKS_H
#define OZ_BASE_TASKS_H

#include "base/memory.h"

typedef struct oz_tasks oz_tasks;
typedef void (*oz_chunk_fn)(void *arg, uint32_t chunk);

struct oz_tasks {
  /* returns when all chunks are done */
  void (*run)(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg);
  void (*destroy)(oz_tasks *t);
  const char *name;
  uint32_t threads;
};

/* kind is OOZE_TASKS_*; NULL if this build has no such kind or memory is short. */
oz_tasks *oz_tasks_create(uint32_t kind, uint32_t threads, oz_memory *memory);
/* tasks_pool.c: POSIX or Windows threads */
oz_tasks *oz_tasks_pool_create(uint32_t threads, oz_memory *memory);
oz_tasks *oz_tasks_tbb_create(uint32_t threads, oz_memory *memory); /* tasks_tbb.cpp */

#endif
