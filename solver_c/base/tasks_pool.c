/* A thread pool that needs no library: POSIX threads, or Windows' own. The caller works too; the
 * others sleep when there is nothing to do. Chunks are handed out by a counter. */
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* sched_getaffinity: a farm job may own only some of the machine's cores */
#endif
#include "base/tasks.h"

#include <stdatomic.h>
#include <stddef.h>

/* ---- differences between systems --------------------------------------------------------- */

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK oz_lock;
typedef CONDITION_VARIABLE oz_signal;
typedef HANDLE oz_thread;
#define OZ_THREAD_FN(name) static DWORD WINAPI name(LPVOID arg)

static int lock_init(oz_lock *l) {
  InitializeSRWLock(l);
  return 1;
}
static void lock_done(oz_lock *l) { (void)l; }
static void lock(oz_lock *l) { AcquireSRWLockExclusive(l); }
static void unlock(oz_lock *l) { ReleaseSRWLockExclusive(l); }
static int signal_init(oz_signal *c) {
  InitializeConditionVariable(c);
  return 1;
}
static void signal_done(oz_signal *c) { (void)c; }
static void signal_all(oz_signal *c) { WakeAllConditionVariable(c); }
static void signal_wait(oz_signal *c, oz_lock *l) { SleepConditionVariableSRW(c, l, INFINITE, 0); }
static int thread_start(oz_thread *t, DWORD(WINAPI *fn)(LPVOID), void *arg) {
  *t = CreateThread(NULL, 0, fn, arg, 0, NULL);
  return *t != NULL;
}
static void thread_join(oz_thread t) {
  WaitForSingleObject(t, INFINITE);
  CloseHandle(t);
}
static uint32_t machine_threads(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return (uint32_t)info.dwNumberOfProcessors;
}

#else
#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

typedef pthread_mutex_t oz_lock;
typedef pthread_cond_t oz_signal;
typedef pthread_t oz_thread;
#define OZ_THREAD_FN(name) static void *name(void *arg)

static int lock_init(oz_lock *l) { return pthread_mutex_init(l, NULL) == 0; }
static void lock_done(oz_lock *l) { pthread_mutex_destroy(l); }
static void lock(oz_lock *l) { pthread_mutex_lock(l); }
static void unlock(oz_lock *l) { pthread_mutex_unlock(l); }
static int signal_init(oz_signal *c) { return pthread_cond_init(c, NULL) == 0; }
static void signal_done(oz_signal *c) { pthread_cond_destroy(c); }
static void signal_all(oz_signal *c) { pthread_cond_broadcast(c); }
static void signal_wait(oz_signal *c, oz_lock *l) { pthread_cond_wait(c, l); }
static int thread_start(oz_thread *t, void *(*fn)(void *), void *arg) {
  return pthread_create(t, NULL, fn, arg) == 0;
}
static void thread_join(oz_thread t) { pthread_join(t, NULL); }
static uint32_t machine_threads(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (uint32_t)CPU_COUNT(&set);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint32_t)n : 1;
}
#endif

/* ---- the pool ---------------------------------------------------------------------------- */

enum { OZ_POOL_MAX = 256, OZ_POOL_SPINS = 2000 };

typedef struct oz_pool {
  oz_tasks base;
  oz_memory *memory;
  oz_lock guard;
  oz_signal wake, done;
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
    lock(&p->guard);
    while (atomic_load_explicit(&p->job, memory_order_relaxed) == seen && !p->stop)
      signal_wait(&p->wake, &p->guard);
    if (p->stop) {
      unlock(&p->guard);
      return 0;
    }
    seen = atomic_load_explicit(&p->job, memory_order_relaxed);
    if (!p->open) { /* woke too late: the job is done */
      unlock(&p->guard);
      continue;
    }
    p->working++;
    oz_chunk_fn fn = p->fn;
    void *fn_arg = p->arg;
    uint32_t chunks = p->chunks;
    unlock(&p->guard);
    work(p, fn, fn_arg, chunks);
    lock(&p->guard);
    if (--p->working == 0) signal_all(&p->done);
    unlock(&p->guard);
  }
}

static void pool_run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  oz_pool *p = (oz_pool *)(void *)t;
  if (chunks < 2 || p->started == 0 ||
      atomic_flag_test_and_set_explicit(&p->busy, memory_order_acquire)) {
    for (uint32_t i = 0; i < chunks; ++i) fn(arg, i);
    return;
  }
  lock(&p->guard);
  p->fn = fn;
  p->arg = arg;
  p->chunks = chunks;
  p->open = 1;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&p->job, 1, memory_order_relaxed);
  signal_all(&p->wake);
  unlock(&p->guard);

  work(p, fn, arg, chunks);

  /* only workers that have joined are waited for; their lock also makes their writes visible here
   */
  lock(&p->guard);
  p->open = 0;
  while (p->working) signal_wait(&p->done, &p->guard);
  unlock(&p->guard);
  atomic_flag_clear_explicit(&p->busy, memory_order_release);
}

static void pool_destroy(oz_tasks *t) {
  oz_pool *p = (oz_pool *)(void *)t;
  lock(&p->guard);
  p->stop = 1;
  signal_all(&p->wake);
  unlock(&p->guard);
  for (uint32_t i = 0; i < p->started; ++i) thread_join(p->thread[i]);
  signal_done(&p->done);
  signal_done(&p->wake);
  lock_done(&p->guard);
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
  if (!lock_init(&p->guard)) {
    oz_free(memory, p);
    return NULL;
  }
  if (!signal_init(&p->wake)) {
    lock_done(&p->guard);
    oz_free(memory, p);
    return NULL;
  }
  if (!signal_init(&p->done)) {
    signal_done(&p->wake);
    lock_done(&p->guard);
    oz_free(memory, p);
    return NULL;
  }
  /* a system that refuses a thread leaves a smaller pool */
  while (p->started + 1 < threads && thread_start(&p->thread[p->started], worker, p)) p->started++;
  p->base.threads = p->started + 1;
  return &p->base;
}
