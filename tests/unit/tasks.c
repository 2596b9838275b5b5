/* Any tasks run each chunk once, and are done when the call returns.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS threads */
#include "base/tasks.h"
#include "check.h"

enum { MOST = 3000 };

typedef struct work {
  unsigned char seen[MOST]; /* each element has one writer */
  uint64_t value[MOST];
  uint32_t round;
} work;

static void chunk(void *arg, uint32_t i) {
  work *w = (work *)arg;
  w->seen[i]++;
  w->value[i] = (uint64_t)i * i + w->round;
}

static void check_kind(uint32_t kind, uint32_t threads) {
  static const uint32_t counts[] = {0, 1, 2, 3, 7, 64, 65, 1000, MOST};
  ooze_hooks hooks;
  oz_memory memory;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  oz_tasks *t = oz_tasks_create(kind, threads, &memory);
  if (!t && kind == OOZE_TASKS_TBB) OZ_SKIP("built without TBB");
  CHECK(t != NULL);
  CHECK(t->threads >= 1 && t->name[0]);
  work *w = (work *)calloc(1, sizeof *w);
  CHECK(w != NULL);
  for (w->round = 0; w->round < 300; ++w->round) {
    uint32_t n = counts[w->round % (sizeof counts / sizeof *counts)];
    memset(w->seen, 0, sizeof w->seen);
    t->run(t, n, chunk, w);
    for (uint32_t i = 0; i < MOST; ++i) {
      CHECK(w->seen[i] == (i < n), "%s: chunk %u of %u ran %u times", t->name, i, n, w->seen[i]);
      if (i < n)
        CHECK(w->value[i] == (uint64_t)i * i + w->round, "%s: chunk %u is not visible", t->name, i);
    }
  }
  free(w);
  t->destroy(t);
  CHECK_EQ(memory.bytes, 0);
}

OZ_CASE(serial) { check_kind(OOZE_TASKS_SERIAL, 1); }
OZ_CASE(shuffled) { check_kind(OOZE_TASKS_SHUFFLED, 1); }
OZ_CASE(pool_of_1) { check_kind(OOZE_TASKS_POOL, 1); }
OZ_CASE(pool_of_2) { check_kind(OOZE_TASKS_POOL, 2); }
OZ_CASE(pool_of_8) { check_kind(OOZE_TASKS_POOL, 8); }
OZ_CASE(pool_of_the_machine) { check_kind(OOZE_TASKS_POOL, 0); }
OZ_CASE(tbb_of_2) { check_kind(OOZE_TASKS_TBB, 2); }
OZ_CASE(tbb_of_the_machine) { check_kind(OOZE_TASKS_TBB, 0); }

/* A stage may call run again from inside a chunk (a host's loop might): it must not hang. */
typedef struct nest {
  oz_tasks *tasks;
  unsigned char seen[16][16];
} nest;
typedef struct nest_row {
  nest *all;
  uint32_t row;
} nest_row;
static void inner(void *arg, uint32_t i) {
  nest_row *r = (nest_row *)arg;
  r->all->seen[r->row][i]++;
}
static void outer(void *arg, uint32_t i) {
  nest_row row = {(nest *)arg, i};
  row.all->tasks->run(row.all->tasks, 16, inner, &row);
}
OZ_CASE(a_run_inside_a_run_finishes) {
  static const uint32_t kinds[] = {OOZE_TASKS_SERIAL, OOZE_TASKS_POOL, OOZE_TASKS_TBB};
  for (int k = 0; k < 3; ++k) {
    ooze_hooks hooks;
    oz_memory memory;
    nest n;
    ooze_hooks_default(&hooks);
    oz_memory_init(&memory, &hooks);
    memset(&n, 0, sizeof n);
    n.tasks = oz_tasks_create(kinds[k], 4, &memory);
    if (!n.tasks) continue;
    n.tasks->run(n.tasks, 16, outer, &n);
    for (int i = 0; i < 256; ++i) CHECK_EQ(n.seen[i / 16][i % 16], 1);
    n.tasks->destroy(n.tasks);
  }
}

OZ_TEST_MAIN()
