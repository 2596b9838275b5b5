/* Chooses the runner of chunks; the kinds without threads of their own are here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/tasks.h"

#include <stddef.h>

typedef struct oz_plain_tasks {
  oz_tasks base;
  oz_memory *memory;
  uint32_t calls; /* shuffled: another order each time */
} oz_plain_tasks;

static void plain_destroy(oz_tasks *t) {
  oz_plain_tasks *p = (oz_plain_tasks *)(void *)t;
  oz_free(p->memory, p);
}

/* ---- one after the other ---- */

static void serial_run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  (void)t;
  for (uint32_t i = 0; i < chunks; ++i) fn(arg, i);
}

/* ---- one after the other in a scrambled order, which reveals a dependence on order ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b) {
  while (b) {
    uint32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static void shuffled_run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  oz_plain_tasks *p = (oz_plain_tasks *)(void *)t;
  if (!chunks) return;
  /* i -> a i + b mod chunks visits each chunk once if a and chunks have no common divisor */
  uint64_t random = (uint64_t)++p->calls * 0x9e3779b97f4a7c15u;
  uint32_t a = (uint32_t)((random >> 33) % chunks), b = (uint32_t)((random >> 11) % chunks);
  while (common_divisor(a, chunks) != 1) a = a + 1 < chunks ? a + 1 : 1;
  for (uint32_t i = 0; i < chunks; ++i) fn(arg, (uint32_t)(((uint64_t)a * i + b) % chunks));
}

/* ---- the host's parallel_for ---- */

typedef struct oz_host_call {
  oz_chunk_fn fn;
  void *arg;
} oz_host_call;

static void host_body(void *arg, uint32_t begin, uint32_t end) {
  const oz_host_call *call = arg;
  for (uint32_t i = begin; i < end; ++i) call->fn(call->arg, i);
}

static void host_run(oz_tasks *t, uint32_t chunks, oz_chunk_fn fn, void *arg) {
  oz_plain_tasks *p = (oz_plain_tasks *)(void *)t;
  oz_host_call call = {fn, arg};
  if (chunks == 1) fn(arg, 0);
  if (chunks > 1) p->memory->hooks.parallel_for(p->memory->hooks.user, chunks, host_body, &call);
}

static oz_tasks *plain_create(oz_memory *memory, const char *name, uint32_t threads,
                              void (*run)(oz_tasks *, uint32_t, oz_chunk_fn, void *)) {
  oz_plain_tasks *p = oz_alloc(memory, sizeof *p);
  if (!p) return NULL;
  p->base.run = run;
  p->base.destroy = plain_destroy;
  p->base.name = name;
  p->base.threads = threads;
  p->memory = memory;
  return &p->base;
}

oz_tasks *oz_tasks_create(uint32_t kind, uint32_t threads, oz_memory *memory) {
  if (kind == OOZE_TASKS_AUTO) {
    if (memory->hooks.parallel_for)
      kind = OOZE_TASKS_HOST;
    else if (threads == 1)
      kind = OOZE_TASKS_SERIAL;
#if defined(OOZE_HAVE_TBB)
    else
      kind = OOZE_TASKS_TBB;
#else
    else
      kind = OOZE_TASKS_POOL;
#endif
  }
  switch (kind) {
  case OOZE_TASKS_HOST:
    return memory->hooks.parallel_for ? plain_create(memory, "host", threads, host_run) : NULL;
  case OOZE_TASKS_SERIAL:
    return plain_create(memory, "serial", 1, serial_run);
  case OOZE_TASKS_SHUFFLED:
    return plain_create(memory, "shuffled", 1, shuffled_run);
  case OOZE_TASKS_POOL:
    return oz_tasks_pool_create(threads, memory);
#if defined(OOZE_HAVE_TBB)
  case OOZE_TASKS_TBB:
    return oz_tasks_tbb_create(threads, memory);
#endif
  default:
    return NULL;
  }
}

/* ---- loops ---- */

void oz_loop_open(oz_loop *loop, const ooze_hooks *hooks, uint32_t threads) {
  ooze_hooks own = {0};
  own.size = (uint32_t)sizeof own;
  if (hooks) {
    own.user = hooks->user;
    own.parallel_for = hooks->parallel_for;
  }
  oz_memory_init(&loop->memory, &own);
  loop->tasks = threads == 1 ? NULL : oz_tasks_create(OOZE_TASKS_AUTO, threads, &loop->memory);
}

void oz_loop_close(oz_loop *loop) {
  if (loop->tasks) loop->tasks->destroy(loop->tasks);
  loop->tasks = NULL;
}

typedef struct oz_ranges {
  ooze_range_fn body;
  void *arg;
  uint32_t count, size;
} oz_ranges;

static void range_chunk(void *arg, uint32_t chunk) {
  const oz_ranges *r = arg;
  const uint32_t begin = chunk * r->size, left = r->count - begin;
  r->body(r->arg, begin, begin + (left < r->size ? left : r->size));
}

void oz_loop_run(const oz_loop *loop, uint32_t count, ooze_range_fn body, void *arg) {
  oz_ranges r = {body, arg, count, 1 + count / 512};
  if (!count) return;
  if (!loop->tasks || count == 1)
    body(arg, 0, count);
  else
    loop->tasks->run(loop->tasks, (count - 1) / r.size + 1, range_chunk, &r);
}

void oz_loop_rows(const oz_loop *loop, uint32_t count, ooze_range_fn body, void *arg) {
  enum { FEW = 20000 };
  if (count >= FEW)
    oz_loop_run(loop, count, body, arg);
  else if (count)
    body(arg, 0, count);
}
