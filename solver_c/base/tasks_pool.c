/* A thread pool that needs no library: POSIX threads, or Windows' own. The caller works too; the
 * others sleep when there is nothing to do. Chunks are handed out by a counter.
 * SPDX-License-Identifier: Apache-2.0 */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* sched_getaffinity: a farm job may own only some of the machine's cores */
#endif
#include "base/tasks.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <stddef.h>

#if !defined(_WIN32)
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif
#endif

static uint32_t machine_threads(void) {
#if defined(_WIN32)
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return (uint32_t)info.dwNumberOfProcessors;
#else
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (uint32_t)CPU_COUNT(&set);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint32_t)n : 1;
#endif
}

/* ---- the pool ---------------------------------------------------------------------------- */

enum { OZ_POOL_MAX = 256, OZ_POOL_SPINS = 2000 };

typedef struct oz_pool {
  oz_tasks base;
  oz_memory *memory;
  oz_mutex guard;
  oz_condition wake, done;
  /* the job; written under the guard */
  oz_chunk_fn fn;
  void *arg;
  uint32_t chunks;
  uint32_t open;    /* workers may still join */
  uint32_t working; /* workers that have joined */
  uint32_t stop;
  atomic_uint next; /* chunk */
  atomic_uint job;  /* counts jobs; workers wait for it to change */
  atomic_flag busy; /* a nested or second call runs alone instead */
  uint32_t started;
  oz_thread thread[OZ_POOL_MAX];
} oz_pool;

static void work(oz_pool *p, oz_chunk_fn fn, void *arg, uint32_t chunks) {
  for (;;) {
    uint32_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
    if (i >= chunks) return;
    fn(arg, i);
  }
}

OZ_THREAD_FN(worker) {
  oz_pool *p = arg;
  uint32_t seen = 0;
  for (;;) {
    /* stages follow each other closely: spin for a while before going to sleep */
    for (int i = 0;
         i < OZ_POOL_SPINS && atomic_load_explicit(&p->job, memory_order_relaxed) == seen; ++i) {
    }
    oz_mutex_lock(&p->guard);
    while (atomic_load_explicit(&p->job, memory_order_relaxed) == seen && !p->stop)
      oz_condition_wait(&p->wake, &p->guard);
    if (p->stop) {
      oz_mutex_unlock(&p->guard);
      return 0;
    }
    seen = atomic_load_explicit(&p->job, memory_order_relaxed);
    if (!p->open) { /* woke too late: the job is done */
      oz_mutex_unlock(&p->guard);
      continue;
    }
    p->working++;
    oz_chunk_fn fn = p->fn;
    void *fn_arg = p->arg;
    uint32_t chunks = p->chunks;
    oz_mutex_unlock(&p->guard);
    work(p, fn, fn_arg, chunks);
    oz_mutex_lock(&p->guard);
    if (--p->working == 0) oz_condition_wake(&p->done);
    oz_mutex_unlock(&p->guard);
  }
}

static void pool_run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  oz_pool *p = (oz_pool *)(void *)t;
  if (chunks < 2 || p->started == 0 ||
      atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire)) {
    for (uint32_t i = 0; i < chunks; ++i) fn(arg, i);
    return;
  }
  oz_mutex_lock(&p->guard);
  p->fn = fn;
  p->arg = arg;
  p->chunks = chunks;
  p->open = 1;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&p->job, 1, memory_order_relaxed);
  oz_condition_wake(&p->wake);
  oz_mutex_unlock(&p->guard);

  work(p, fn, arg, chunks);

  /* only workers that have joined are waited for; their lock also makes their writes visible here
   */
  oz_mutex_lock(&p->guard);
  p->open = 0;
  while (p->working) oz_condition_wait(&p->done, &p->guard);
  oz_mutex_unlock(&p->guard);
  atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

static void pool_destroy(oz_tasks *t) {
  oz_pool *p = (oz_pool *)(void *)t;
  oz_mutex_lock(&p->guard);
  p->stop = 1;
  oz_condition_wake(&p->wake);
  oz_mutex_unlock(&p->guard);
  for (uint32_t i = 0; i < p->started; ++i) oz_thread_join(p->thread[i]);
  oz_condition_close(&p->done);
  oz_condition_close(&p->wake);
  oz_mutex_close(&p->guard);
  oz_free(p->memory, p);
}

oz_tasks *oz_tasks_pool_create(uint32_t threads, oz_memory *memory) {
  if (threads == 0) threads = machine_threads();
  if (threads > OZ_POOL_MAX) threads = OZ_POOL_MAX;
  oz_pool *p = oz_alloc(memory, sizeof *p);
  if (!p) return NULL;
  p->base.run = pool_run;
  p->base.destroy = pool_destroy;
  p->base.name = "pool";
  p->memory = memory;
  atomic_init(&p->next, 0);
  atomic_init(&p->job, 0);
  atomic_flag_clear(&p->busy);
  if (!oz_mutex_open(&p->guard)) {
    oz_free(memory, p);
    return NULL;
  }
  if (!oz_condition_open(&p->wake)) {
    oz_mutex_close(&p->guard);
    oz_free(memory, p);
    return NULL;
  }
  if (!oz_condition_open(&p->done)) {
    oz_condition_close(&p->wake);
    oz_mutex_close(&p->guard);
    oz_free(memory, p);
    return NULL;
  }
  /* a system that refuses a thread leaves a smaller pool */
  while (p->started + 1 < threads && oz_thread_start(&p->thread[p->started], worker, p))
    p->started++;
  p->base.threads = p->started + 1;
  return &p->base;
}
