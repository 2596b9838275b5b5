/* Same build, same input: same bits, with any tasks and any number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
/* several chunks of 1,024 particles, so that threads have something to share */
#define SCENE_SIDE 16
#include "scene.h"

enum { STEPS = 4 };

static uint64_t hash_of_run(uint32_t tasks, uint32_t threads) {
  ooze_solver *s = scene_solver(tasks, threads);
  CHECK_OK(scene_fill(s), s);
  scene_steps(s, STEPS);
  ooze_stats stats;
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  CHECK(stats.particles > SCENE_COUNT, "%u particles: the nozzle gave none", stats.particles);
  CHECK_EQ(stats.contained, 0);
  uint64_t hash = scene_hash(s);
  ooze_solver_destroy(s);
  return hash;
}

OZ_CASE(the_same_run_twice_gives_the_same_bits) {
  CHECK_EQ(hash_of_run(OOZE_TASKS_SERIAL, 1), hash_of_run(OOZE_TASKS_SERIAL, 1));
}

OZ_CASE(chunks_in_any_order_give_the_same_bits) {
  CHECK_EQ(hash_of_run(OOZE_TASKS_SHUFFLED, 1), hash_of_run(OOZE_TASKS_SERIAL, 1));
}

OZ_CASE(the_thread_pool_gives_the_same_bits_at_1_2_and_4_threads) {
  uint64_t serial = hash_of_run(OOZE_TASKS_SERIAL, 1);
  CHECK_EQ(hash_of_run(OOZE_TASKS_POOL, 1), serial);
  CHECK_EQ(hash_of_run(OOZE_TASKS_POOL, 2), serial);
  CHECK_EQ(hash_of_run(OOZE_TASKS_POOL, 4), serial);
}

OZ_CASE(every_model_gives_the_same_bits_in_any_order_and_on_two_threads) {
  for (scene_model = 1; scene_model < OOZE_MODEL_COUNT; scene_model++) {
    if (!scene_has_model()) continue;
    uint64_t serial = hash_of_run(OOZE_TASKS_SERIAL, 1);
    CHECK(hash_of_run(OOZE_TASKS_SHUFFLED, 1) == serial, "model %u, shuffled", scene_model);
    CHECK(hash_of_run(OOZE_TASKS_POOL, 2) == serial, "model %u, two threads", scene_model);
  }
  scene_model = OOZE_MODEL_CONFORMATION;
}

OZ_CASE(tbb_gives_the_same_bits_at_1_2_and_4_threads) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.tasks = OOZE_TASKS_TBB;
  if (ooze_solver_create(&desc, &s, NULL) == OOZE_ERROR_UNSUPPORTED) OZ_SKIP("built without TBB");
  ooze_solver_destroy(s);
  uint64_t serial = hash_of_run(OOZE_TASKS_SERIAL, 1);
  CHECK_EQ(hash_of_run(OOZE_TASKS_TBB, 1), serial);
  CHECK_EQ(hash_of_run(OOZE_TASKS_TBB, 2), serial);
  CHECK_EQ(hash_of_run(OOZE_TASKS_TBB, 4), serial);
}

OZ_CASE(different_input_gives_a_different_hash) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(s), s);
  uint64_t before = scene_hash(s);
  float v[3] = {0, 1e-6f, 0};
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 5, 1, 0, v), s);
  CHECK(scene_hash(s) != before);
  ooze_solver_destroy(s);
}

/* Public order is ascending id, whatever order they came in. */
OZ_CASE(the_order_of_adding_does_not_matter) {
  uint64_t hash[2];
  for (int turn = 0; turn < 2; ++turn) {
    ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
    for (int half = 0; half < 2; ++half) {
      int which = turn ? 1 - half : half;
      float p[100][3];
      uint64_t ids[100];
      for (int i = 0; i < 100; ++i) {
        ids[i] = (uint64_t)(1000 * which + i);
        p[i][0] = scene_separation * (float)(i % 10);
        p[i][1] = scene_separation * (float)(i / 10);
        p[i][2] = scene_separation * (float)which;
      }
      ooze_particles add;
      ooze_particles_default(&add);
      add.count = 100;
      add.positions = p;
      add.ids = ids;
      CHECK_OK(ooze_particles_add(s, &add, NULL), s);
    }
    scene_steps(s, 2);
    hash[turn] = scene_hash(s);
    ooze_solver_destroy(s);
  }
  CHECK_EQ(hash[0], hash[1]);
}

OZ_TEST_MAIN()
