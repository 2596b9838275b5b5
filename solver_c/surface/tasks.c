/* Messages and the parallel loop of the surface and picture code. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "surface_internal.h"

#include <stdarg.h>
#include <stdio.h>
#if !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

ooze_result oz_surface_fail(ooze_message *why, ooze_result r, const char *format, ...) {
  if (why) {
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
  }
  return r;
}

/* Threads of our own, for builds without TBB: each takes the next chunk until none is left. */
#if !defined(_WIN32)
typedef struct pool_job {
  ooze_range_fn body;
  void *arg;
  uint32_t count, chunk;
  uint64_t next;
} pool_job;

static void *pool_work(void *p) {
  pool_job *job = (pool_job *)p;
  for (;;) {
    uint64_t begin = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_RELAXED);
    uint64_t end = begin + job->chunk;
    if (begin >= job->count) return NULL;
    job->body(job->arg, (uint32_t)begin, (uint32_t)(end < job->count ? end : job->count));
  }
}

static void pool_run(uint32_t threads, uint32_t count, ooze_range_fn body, void *arg) {
  pthread_t ids[64];
  pool_job job;
  uint32_t started = 0;
  if (!threads) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    threads = n > 0 ? (uint32_t)n : 1;
  }
  if (threads > 64) threads = 64;
  if (threads > count) threads = count;
  job.body = body;
  job.arg = arg;
  job.count = count;
  job.chunk = count / (threads * 16) + 1;
  job.next = 0;
  while (started + 1 < threads && pthread_create(&ids[started], NULL, pool_work, &job) == 0)
    ++started;
  pool_work(&job); /* the caller works too, so that failing to start any thread only costs time */
  while (started) pthread_join(ids[--started], NULL);
}
#endif

void oz_tasks_run(const oz_tasks *tasks, uint32_t count, ooze_range_fn body, void *arg) {
  if (!count) return;
  if (tasks->threads == 1 || count == 1) {
    body(arg, 0, count);
  } else if (tasks->hooks && tasks->hooks->parallel_for) {
    tasks->hooks->parallel_for(tasks->hooks->user, count, body, arg);
  } else if (!oz_tbb_run(tasks->threads, count, body, arg)) {
#if defined(_WIN32)
    body(arg, 0, count);
#else
    pool_run(tasks->threads, count, body, arg);
#endif
  }
}
