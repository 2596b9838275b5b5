/* Links through the interface: by ids, in any order, with their particles, in checkpoints and in
 * the hash. SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE };

static ooze_solver *block(void) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, SIDE, 0, 1, 0), s);
  return s;
}
/* Each particle with the next one of its line, given backwards. */
static uint64_t chain(ooze_solver *s) {
  uint64_t pairs[2 * COUNT], n = 0;
  ooze_links add;
  for (int i = COUNT - 1; i > 0; --i)
    if (i % SIDE) pairs[2 * n] = (uint64_t)i, pairs[2 * n + 1] = (uint64_t)(i - 1), n++;
  ooze_links_default(&add);
  add.count = n;
  add.pairs = pairs;
  CHECK_OK(ooze_links_add(s, &add), s);
  return n;
}
static uint64_t count_of(ooze_solver *s) {
  uint64_t n = 0;
  CHECK_OK(ooze_links_count(s, &n), s);
  return n;
}

OZ_CASE(links_come_back_in_ascending_ids_with_what_was_given) {
  ooze_solver *s = block();
  CHECK_EQ(count_of(s), 0);
  uint64_t n = chain(s), pairs[2 * COUNT];
  float rest[COUNT], spare[COUNT];
  uint32_t kind[COUNT];
  CHECK_EQ(count_of(s), n);
  CHECK_OK(ooze_links_read(s, 0, n, pairs, rest, kind, spare), s);
  for (uint64_t k = 0; k < n; ++k) {
    CHECK_EQ(pairs[2 * k + 1], pairs[2 * k] + 1);
    CHECK(k == 0 || pairs[2 * k] > pairs[2 * k - 2]);
    CHECK_NEAR(rest[k], scene_separation, 1e-6, "rounding of positions of 1 m");
    CHECK(kind[k] == OOZE_LINK_HELD && spare[k] == 0.0f);
  }
  ooze_links add;
  uint64_t one[2] = {7, 100};
  float length = 0.25f, number = 3.0f;
  uint32_t own = 40;
  ooze_links_default(&add);
  add.count = 1, add.pairs = one, add.rest = &length, add.kind = &own, add.spare = &number;
  CHECK_OK(ooze_links_add(s, &add), s);
  CHECK_EQ(count_of(s), n + 1);
  uint64_t at = 0;
  CHECK_OK(ooze_links_read(s, 0, n + 1, pairs, NULL, NULL, NULL), s);
  while (pairs[2 * at] != 7 || pairs[2 * at + 1] != 100) at++;
  CHECK_OK(ooze_links_read(s, at, 1, NULL, rest, kind, spare), s);
  CHECK(rest[0] == 0.25f && kind[0] == 40 && spare[0] == 3.0f);
  uint64_t turned[2] = {100, 7};
  CHECK_OK(ooze_links_remove(s, turned, 1), s);
  CHECK_EQ(count_of(s), n);
  CHECK_OK(ooze_links_clear(s), s);
  CHECK_EQ(count_of(s), 0);
  ooze_solver_destroy(s);
}

OZ_CASE(links_that_make_no_sense_are_refused_and_nothing_changes) {
  ooze_solver *s = block();
  uint64_t n = chain(s), hash = scene_hash(s);
  uint64_t same[2] = {5, 5}, unknown[2] = {5, 99999}, there[2] = {2, 1}, twice[4] = {3, 50, 50, 3};
  float bad = -1.0f;
  uint32_t none = 0;
  struct {
    uint64_t count, *pairs;
    float *rest;
    uint32_t *kind;
    ooze_result expected;
  } wrong[] = {
      {1, same, NULL, NULL, OOZE_ERROR_ARGUMENT},  {1, unknown, NULL, NULL, OOZE_ERROR_NOT_FOUND},
      {1, there, NULL, NULL, OOZE_ERROR_ARGUMENT}, {2, twice, NULL, NULL, OOZE_ERROR_ARGUMENT},
      {1, twice, &bad, NULL, OOZE_ERROR_ARGUMENT}, {1, twice, NULL, &none, OOZE_ERROR_ARGUMENT},
      {1, NULL, NULL, NULL, OOZE_ERROR_ARGUMENT},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
    ooze_links add;
    ooze_links_default(&add);
    add.count = wrong[k].count, add.pairs = wrong[k].pairs, add.rest = wrong[k].rest,
    add.kind = wrong[k].kind;
    CHECK_RESULT(ooze_links_add(s, &add), wrong[k].expected, s);
  }
  CHECK_RESULT(ooze_links_remove(s, twice, 1), OOZE_ERROR_NOT_FOUND, s);
  CHECK_RESULT(ooze_links_read(s, 0, n + 1, NULL, NULL, NULL, NULL), OOZE_ERROR_ARGUMENT, s);
  CHECK_EQ(count_of(s), n);
  CHECK_EQ(scene_hash(s), hash);
  ooze_solver_destroy(s);
}

OZ_CASE(a_particle_has_at_most_512_links) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 9, 0, 1, 0), s);
  static uint64_t pairs[2 * 600];
  ooze_links add;
  for (uint64_t k = 0; k < 600; ++k) pairs[2 * k] = 0, pairs[2 * k + 1] = k + 1;
  ooze_links_default(&add);
  add.pairs = pairs;
  add.count = 513;
  CHECK_RESULT(ooze_links_add(s, &add), OOZE_ERROR_LIMIT, s);
  CHECK_EQ(count_of(s), 0);
  add.count = 512;
  CHECK_OK(ooze_links_add(s, &add), s);
  CHECK_EQ(count_of(s), 512);
  ooze_solver_destroy(s);
}

OZ_CASE(links_follow_their_particles_through_steps_removal_and_checkpoints) {
  ooze_solver *s = block(), *other = scene_solver(OOZE_TASKS_SERIAL, 1);
  uint64_t n = chain(s), gone[3] = {0, 8, 215}, before = scene_hash(s);
  scene_steps(s, 2);
  CHECK_EQ(count_of(s), n); /* the conformation model leaves them alone */
  CHECK(scene_hash(s) != before);
  CHECK_OK(ooze_particles_remove(s, gone, 3), s);
  CHECK_EQ(count_of(s), n - 4); /* two ends of lines, one within */
  static uint64_t pairs[2 * COUNT];
  CHECK_OK(ooze_links_read(s, 0, n - 4, pairs, NULL, NULL, NULL), s);
  for (uint64_t k = 0; k < 2 * (n - 4); ++k)
    CHECK(pairs[k] != 0 && pairs[k] != 8 && pairs[k] != 215);
  size_t bytes = 0;
  CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
  void *memory = malloc(bytes);
  CHECK_OK(ooze_checkpoint_save(s, memory, bytes, NULL), s);
  CHECK_OK(ooze_checkpoint_load(other, memory, bytes), other);
  CHECK_EQ(count_of(other), n - 4);
  CHECK_EQ(scene_hash(other), scene_hash(s));
  uint64_t hash = scene_hash(s);
  CHECK_OK(ooze_links_remove(other, pairs, 1), other);
  CHECK(scene_hash(other) != hash, "a link less is another state");
  CHECK_OK(ooze_particles_clear(s), s);
  CHECK_EQ(count_of(s), 0);
  free(memory);
  ooze_solver_destroy(s);
  ooze_solver_destroy(other);
}

OZ_TEST_MAIN()
