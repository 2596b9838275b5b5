/* Runners of chunks of work. Chunk boundaries never depend on the number of threads, so neither do
 * results. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_TASKS_H
#define OZ_BASE_TASKS_H

#include "base/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/* TBB's workers, before a library uses them; 0 where memory is out. With fewer threads than the
 * machine has processors, where no more can be started. */
int oz_tasks_tbb_start(void);

/* A loop over ranges of [0, count), on the host's threads where hooks has a parallel_for, else on
 * ours. Bodies write to places of their own, so that the split never shows in the results. */
typedef struct oz_loop {
  oz_memory memory;
  oz_tasks *tasks; /* NULL: the calling thread */
} oz_loop;
/* hooks may be NULL; threads 0: all. The loop stays where it is until it is closed. */
void oz_loop_open(oz_loop *loop, const ooze_hooks *hooks, uint32_t threads);
void oz_loop_run(const oz_loop *loop, uint32_t count, ooze_range_fn body, void *arg);
/* The same of rows that take a few nanoseconds each: few are done before other threads have begun.
 */
void oz_loop_rows(const oz_loop *loop, uint32_t count, ooze_range_fn body, void *arg);
void oz_loop_close(oz_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
