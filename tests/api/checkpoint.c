/* A run that was saved and loaded half-way ends in the same bits as one that was not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

static unsigned char *save(ooze_solver *s, size_t *bytes) {
  size_t need = 0;
  CHECK_OK(ooze_checkpoint_size(s, &need), s);
  CHECK(need > 0);
  unsigned char *memory = (unsigned char *)malloc(need);
  CHECK(memory != NULL);
  *bytes = 0;
  CHECK_OK(ooze_checkpoint_save(s, memory, need, bytes), s);
  CHECK(*bytes > 0 && *bytes <= need, "%zu bytes of %zu", *bytes, need);
  return memory;
}

static void check_resume(uint32_t tasks, uint32_t threads) {
  size_t bytes;
  ooze_solver *straight = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(straight), straight);
  scene_steps(straight, 10);

  ooze_solver *first = scene_solver(tasks, threads);
  CHECK_OK(scene_fill(first), first);
  scene_steps(first, 4);
  unsigned char *memory = save(first, &bytes);
  uint64_t at_save = scene_hash(first);
  double time = ooze_time(first);
  ooze_solver_destroy(first);

  ooze_solver *second = scene_solver(tasks, threads);
  CHECK_OK(ooze_checkpoint_load(second, memory, bytes), second);
  free(memory);
  CHECK_EQ(scene_hash(second), at_save);
  CHECK(ooze_time(second) == time);
  scene_steps(second, 6);
  CHECK_EQ(ooze_particle_count(second), ooze_particle_count(straight));
  CHECK_EQ(scene_hash(second), scene_hash(straight));
  ooze_solver_destroy(second);
  ooze_solver_destroy(straight);
}

OZ_CASE(resume_gives_the_same_bits_serially) { check_resume(OOZE_TASKS_SERIAL, 1); }
OZ_CASE(resume_gives_the_same_bits_shuffled) { check_resume(OOZE_TASKS_SHUFFLED, 1); }
OZ_CASE(resume_gives_the_same_bits_on_2_threads) { check_resume(OOZE_TASKS_POOL, 2); }
OZ_CASE(resume_gives_the_same_bits_on_4_threads) { check_resume(OOZE_TASKS_POOL, 4); }

OZ_CASE(resume_gives_the_same_bits_in_every_model) {
  for (scene_model = 1; scene_model < OOZE_MODEL_COUNT; scene_model++) {
    if (!scene_has_model()) continue;
    check_resume(OOZE_TASKS_SHUFFLED, 1);
  }
  scene_model = OOZE_MODEL_CONFORMATION;
}

OZ_CASE(a_checkpoint_replaces_what_was_there) {
  size_t bytes;
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1), *other = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(s), s);
  scene_steps(s, 2);
  unsigned char *memory = save(s, &bytes);
  CHECK_OK(scene_block(other, 0, 5, 0, 3.0f, 0), other);
  scene_steps(other, 1);
  CHECK_OK(ooze_checkpoint_load(other, memory, bytes), other);
  CHECK_EQ(scene_hash(other), scene_hash(s));
  CHECK_EQ(ooze_material_count(other), ooze_material_count(s));
  scene_steps(s, 2);
  scene_steps(other, 2);
  CHECK_EQ(scene_hash(other), scene_hash(s));
  free(memory);
  ooze_solver_destroy(other);
  ooze_solver_destroy(s);
}

/* Every cut and many flips: refused with the state unchanged, or (where a flip hits a plain value)
 * taken; never a crash. */
OZ_CASE(damaged_checkpoints_are_refused_and_change_nothing) {
  size_t bytes;
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1), *target = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 4, 0, 0.1f, 0), s);
  scene_steps(s, 1);
  unsigned char *memory = save(s, &bytes);
  CHECK_OK(scene_block(target, 0, 3, 0, 0.1f, 0), target);
  uint64_t before = scene_hash(target);
  for (size_t cut = 0; cut < bytes; cut += cut < 256 ? 1 : 97) {
    /* exact, so that ASan sees one byte too many */
    unsigned char *part = (unsigned char *)malloc(cut ? cut : 1);
    memcpy(part, memory, cut);
    ooze_result r = ooze_checkpoint_load(target, part, cut);
    free(part);
    CHECK(r < 0 && r > -100, "cut to %zu of %zu: %s", cut, bytes, ooze_result_name(r));
    CHECK(ooze_solver_message(target)[0], "cut to %zu: no message", cut);
    CHECK_EQ(scene_hash(target), before);
  }
  uint32_t random = 12345;
  for (int turn = 0; turn < 400; ++turn) {
    random = random * 1664525u + 1013904223u;
    size_t at = turn < 200 ? (size_t)turn % bytes : (random >> 3) % bytes;
    unsigned char bit = (unsigned char)(1u << (random >> 29));
    memory[at] ^= bit;
    ooze_result r = ooze_checkpoint_load(target, memory, bytes);
    memory[at] ^= bit;
    CHECK(r == OOZE_OK || (r < 0 && r > -100), "flip at %zu: %s", at, ooze_result_name(r));
    if (r == OOZE_OK) { /* whatever it is now, it can be stepped and left */
      r = ooze_step(target, 0.001);
      CHECK(r == OOZE_OK || r == OOZE_CONTAINED || r < 0, "flip at %zu, then step: %s", at,
            ooze_result_name(r));
      CHECK_OK(ooze_checkpoint_load(target, memory, bytes), target);
      before = scene_hash(target);
    } else {
      CHECK_EQ(scene_hash(target), before);
    }
  }
  free(memory);
  ooze_solver_destroy(target);
  ooze_solver_destroy(s);
}

static int warned;
static void on_log(void *user, int level, const char *text) {
  (void)user;
  warned += level == OOZE_LOG_WARNING && strstr(text, "cpu scalar") != NULL;
}

OZ_CASE(a_checkpoint_of_another_vector_width_says_so) {
  ooze_solver_desc desc;
  ooze_solver *s[3] = {NULL, NULL, NULL};
  size_t bytes = 0;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.hooks.log = on_log;
  for (int k = 0; k < 3; k++) { /* scalar, scalar, and the widest build */
    desc.isa = k < 2 ? OOZE_ISA_SCALAR : OOZE_ISA_AUTO;
    CHECK_EQ(ooze_solver_create(&desc, &s[k], NULL), OOZE_OK);
  }
  const int differ = strcmp(ooze_solver_backend(s[0]), ooze_solver_backend(s[2])) != 0;
  CHECK_OK(scene_block(s[0], 0, 4, 0, 0.5f, 0), s[0]);
  CHECK_OK(ooze_checkpoint_size(s[0], &bytes), s[0]);
  void *memory = malloc(bytes);
  CHECK_OK(ooze_checkpoint_save(s[0], memory, bytes, &bytes), s[0]);
  CHECK_OK(ooze_checkpoint_load(s[1], memory, bytes), s[1]);
  CHECK(warned == 0 && !ooze_solver_message(s[1])[0], "%s", ooze_solver_message(s[1]));
  CHECK_OK(ooze_checkpoint_load(s[2], memory, bytes), s[2]);
  CHECK(warned == differ, "%d warnings", warned);
  CHECK(!differ || strstr(ooze_solver_message(s[2]), "other last digits"), "%s",
        ooze_solver_message(s[2]));
  free(memory);
  for (int k = 0; k < 3; k++) ooze_solver_destroy(s[k]);
}

OZ_CASE(a_buffer_that_is_too_small_is_refused) {
  size_t need = 0, got = 0;
  unsigned char small[16];
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 4, 0, 0.1f, 0), s);
  CHECK_OK(ooze_checkpoint_size(s, &need), s);
  CHECK(need > sizeof small);
  memset(small, 0x5a, sizeof small);
  ooze_result r = ooze_checkpoint_save(s, small, 8, &got);
  CHECK(r < 0 && ooze_solver_message(s)[0], "%s", ooze_result_name(r));
  for (size_t i = 8; i < sizeof small; ++i) CHECK_EQ(small[i], 0x5a);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
