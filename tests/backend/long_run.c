/* Twenty steps in which particles are born, drained, taken out and pushed about: the same bits with
 * any tasks, any number of threads, in one go or resumed. same_bits.c here and in tests/api are
 * shorter and have more particles. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend
 * threads TIMEOUT 240 */
#define SCENE_SIDE 13 /* 2,413 particles and those of the nozzle: several chunks */
#include "api/scene.h"

enum { STEPS = 20, CUT = 7 };

/* A host that splits unevenly, from the end, and each time in another way. */
static void host_for(void *user, uint32_t count, ooze_range_fn body, void *arg) {
  uint32_t *calls = (uint32_t *)user, end = count;
  while (end > 0) {
    uint32_t step = 1 + ++*calls % 3;
    if (step > end) step = end;
    body(arg, end - step, end);
    end -= step;
  }
}

static uint32_t host_calls;

static ooze_solver *make(uint32_t tasks, uint32_t threads) {
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc desc = cpu_desc(scene_separation, tasks);
  desc.threads = threads;
  if (tasks == OOZE_TASKS_HOST) desc.hooks.user = &host_calls, desc.hooks.parallel_for = host_for;
  ooze_result r = ooze_solver_create(&desc, &s, &why);
  if (r == OOZE_ERROR_UNSUPPORTED && tasks == OOZE_TASKS_TBB) OZ_SKIP("built without TBB");
  CHECK(r == OOZE_OK, "tasks %u, %u threads: %s", tasks, threads, why.text);
  return s;
}

static void fill(ooze_solver *s) {
  CHECK_OK(scene_fill(s), s);
  ooze_params p;
  ooze_params_default(&p);
  CHECK_OK(ooze_params_get(s, &p), s);
  p.cfl = 0.8f; /* the substeps depend on the state as well */
  p.max_substeps = 3;
  p.velocity_iterations = 3;
  CHECK_OK(ooze_params_set(s, &p), s);
  /* a drain that a part of the block stands in sooner or later */
  ooze_collider_desc c;
  ooze_collider drain;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_CAPSULE;
  c.role = OOZE_ROLE_KILL;
  c.half[0] = 0.04f, c.half[1] = 0.1f;
  c.start.position[0] = c.end.position[0] = 0.31f;
  c.start.position[2] = c.end.position[2] = 0.1f;
  CHECK_OK(ooze_collider_add(s, &c, &drain), s);
  float wind[3] = {3, 0, 0};
  for (uint32_t rank = 0; rank < SCENE_COUNT; rank += 3)
    CHECK_OK(ooze_attribute_write(s, OOZE_FORCE, rank, 1, 0, wind), s);
}

typedef struct tally {
  uint32_t born, killed;
} tally;

/* Steps `from` to `to`; the host's calls in between depend on the number of the step alone. */
static void run(ooze_solver *s, int from, int to, tally *t) {
  for (int k = from; k < to; ++k) {
    if (k % 3 == 1) { /* every 40th of those that are there */
      uint64_t ids[256];
      uint32_t n = 0, count = ooze_particle_count(s);
      for (uint32_t rank = (uint32_t)k; rank < count && n < 256; rank += 40) {
        CHECK_OK(ooze_attribute_read(s, OOZE_ID, rank, 1, 0, &ids[n]), s);
        n++;
      }
      CHECK_OK(ooze_particles_remove(s, ids, n), s);
    }
    if (k % 5 == 2)
      CHECK_OK(scene_block(s, (uint32_t)k % 3, 4, 0.1f, 0.8f + 0.1f * (float)k, 0.1f), s);
    CHECK_OK(ooze_step(s, 1.0 / 60), s);
    ooze_stats stats;
    ooze_stats_default(&stats);
    CHECK_OK(ooze_stats_get(s, &stats), s);
    CHECK_EQ(stats.contained, 0);
    t->born += stats.born;
    t->killed += stats.killed;
  }
}

static uint64_t reference(void) {
  static uint64_t hash;
  static int known;
  if (!known) {
    tally t = {0, 0};
    ooze_solver *s = make(OOZE_TASKS_SERIAL, 1);
    fill(s);
    run(s, 0, STEPS, &t);
    CHECK(t.born > 20 && t.killed > 20, "%u were born and %u drained: too few to show anything",
          t.born, t.killed);
    hash = scene_hash(s);
    known = 1;
    ooze_solver_destroy(s);
  }
  return hash;
}

/* In one go, or saved after CUT steps and resumed by a solver whose tasks are of another kind. */
static void check(uint32_t tasks, uint32_t threads, uint32_t then_tasks, uint32_t then_threads) {
  tally t = {0, 0};
  uint64_t expected = reference();
  ooze_solver *s = make(tasks, threads);
  fill(s);
  run(s, 0, then_threads ? CUT : STEPS, &t);
  if (then_threads) {
    size_t need = 0, bytes = 0;
    CHECK_OK(ooze_checkpoint_size(s, &need), s);
    void *memory = malloc(need);
    CHECK(memory != NULL);
    CHECK_OK(ooze_checkpoint_save(s, memory, need, &bytes), s);
    ooze_solver_destroy(s);
    s = make(then_tasks, then_threads);
    CHECK_OK(ooze_checkpoint_load(s, memory, bytes), s);
    free(memory);
    run(s, CUT, STEPS, &t);
  }
  CHECK_EQ(scene_hash(s), expected);
  ooze_solver_destroy(s);
}

OZ_CASE(shuffled_chunks_give_the_bits_of_ordered_ones) { check(OOZE_TASKS_SHUFFLED, 1, 0, 0); }
OZ_CASE(the_hosts_tasks_give_the_bits_of_ours) { check(OOZE_TASKS_HOST, 2, 0, 0); }
OZ_CASE(two_threads_of_the_pool_give_the_bits_of_one) { check(OOZE_TASKS_POOL, 2, 0, 0); }
OZ_CASE(four_threads_of_the_pool_give_the_bits_of_one) { check(OOZE_TASKS_POOL, 4, 0, 0); }
OZ_CASE(two_threads_of_tbb_give_the_bits_of_one) { check(OOZE_TASKS_TBB, 2, 0, 0); }
OZ_CASE(four_threads_of_tbb_give_the_bits_of_one) { check(OOZE_TASKS_TBB, 4, 0, 0); }
OZ_CASE(resumed_serially_after_a_pool_of_four) { check(OOZE_TASKS_POOL, 4, OOZE_TASKS_SERIAL, 1); }
OZ_CASE(resumed_by_tbb_after_shuffled_chunks) { check(OOZE_TASKS_SHUFFLED, 1, OOZE_TASKS_TBB, 4); }

OZ_TEST_MAIN()
