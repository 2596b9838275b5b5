/* Calls that no host should make: each is refused with a sentence, none crashes.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include "scene.h"

#include <stdlib.h>

static ooze_result from_hook;
static int destroyed, lines;
static ooze_solver *hooked;

static int on_progress(void *user, double fraction) {
  (void)user, (void)fraction;
  if (!hooked) return 0;
  from_hook = ooze_step(hooked, 1.0 / 60.0);
  ooze_solver_destroy(hooked);
  destroyed++;
  return 0;
}
static void on_log(void *user, int level, const char *text) {
  (void)user, (void)level;
  lines += strstr(text, "destroy") != NULL;
}

OZ_CASE(a_step_within_a_step_is_refused_and_the_solver_stays) {
  ooze_solver_desc d;
  ooze_solver *s = NULL;
  ooze_solver_desc_default(&d);
  d.tasks = OOZE_TASKS_SERIAL;
  d.hooks.progress = on_progress;
  d.hooks.log = on_log;
  CHECK_EQ(ooze_solver_create(&d, &s, NULL), OOZE_OK);
  CHECK_OK(scene_block(s, 0, 4, 0, 0.5f, 0), s);
  hooked = s;
  CHECK_OK(ooze_step(s, 1.0 / 30.0), s);
  hooked = NULL;
  CHECK_EQ(from_hook, OOZE_ERROR_ARGUMENT);
  CHECK(destroyed > 0 && lines == destroyed, "%d destroyed, %d lines", destroyed, lines);
  CHECK_NEAR(ooze_time(s), 1.0 / 30.0, 1e-12, "the inner step took no time");
  ooze_solver_destroy(s);
}

OZ_CASE(strides_and_counts_are_checked_before_memory_is_read) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  float x[3] = {0, 1, 0};
  ooze_particles p;
  ooze_particles_default(&p);
  p.positions = x;
  p.count = UINT32_MAX; /* of one */
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_ERROR_LIMIT);
  CHECK(strstr(ooze_solver_message(s), "4294967295"), "%s", ooze_solver_message(s));
  p.count = 2;
  const size_t strides[] = {SIZE_MAX, SIZE_MAX / 2, 4, 11};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    p.position_stride = strides[i];
    CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_ERROR_ARGUMENT);
    CHECK(strstr(ooze_solver_message(s), "stride"), "%s", ooze_solver_message(s));
  }
  ooze_body_desc b;
  ooze_body_desc_default(&b);
  b.positions = x;
  b.count = 100;
  b.position_stride = SIZE_MAX;
  CHECK_EQ(ooze_body_add(s, &b, NULL), OOZE_ERROR_ARGUMENT);
  b.position_stride = 0;
  b.count = 1u << 29; /* one point is there */
  CHECK(ooze_body_add(s, &b, NULL) < 0);
  CHECK_OK(scene_block(s, 0, 2, 0, 0.5f, 0), s);
  float v[24];
  CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, 0, 8, SIZE_MAX, v), OOZE_ERROR_ARGUMENT);
  const uint64_t ids[1] = {0};
  CHECK_EQ(ooze_particles_remove(s, ids, UINT32_MAX), OOZE_ERROR_ARGUMENT);
  ooze_solver_destroy(s);
}

OZ_CASE(a_step_too_short_for_single_precision_is_refused) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 4, 0, 0.5f, 0), s);
  const double short_ones[] = {1e-300, 1e-40, 1e-38, 1e-30, 1e-20, 1e-12};
  const uint64_t before = scene_hash(s);
  for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
    CHECK_EQ(ooze_step(s, short_ones[i]), OOZE_ERROR_ARGUMENT);
    CHECK(strstr(ooze_solver_message(s), "substep"), "%s", ooze_solver_message(s));
    CHECK(scene_hash(s) == before, "dt %g changed the state", short_ones[i]);
  }
  CHECK_EQ(ooze_step(s, 1e-7), OOZE_OK); /* with nothing reset, which would be OOZE_CONTAINED */
  ooze_solver_destroy(s);
}

/* ---- A refused body leaves no trace ---- */

static long calls, fatal;
static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  void *made = NULL;
  if (++calls == fatal) return NULL;
  return posix_memalign(&made, alignment < 8 ? 8 : alignment, bytes) ? NULL : made;
}
static void release(void *user, void *memory, size_t bytes) {
  (void)user, (void)bytes;
  free(memory);
}

OZ_CASE(a_body_that_was_refused_uses_up_no_ids) {
  uint64_t first = 0, expected = 0;
  for (long at = 0; at < 200; at++) {
    ooze_solver_desc d;
    ooze_solver *s = NULL;
    float x[27][3];
    ooze_body_desc b;
    ooze_body handle = 0;
    ooze_body_state state;
    ooze_solver_desc_default(&d);
    d.tasks = OOZE_TASKS_SERIAL;
    d.hooks.allocate = allocate;
    d.hooks.release = release;
    fatal = 0;
    CHECK_EQ(ooze_solver_create(&d, &s, NULL), OOZE_OK);
    for (int i = 0; i < 27; i++)
      x[i][0] = 0.01f * (float)(i / 9), x[i][1] = 0.01f * (float)(i / 3 % 3),
      x[i][2] = 0.01f * (float)(i % 3);
    ooze_body_desc_default(&b);
    b.count = 27;
    b.positions = x;
    b.kind = OOZE_BODY_SOFT;
    calls = 0;
    fatal = at;
    ooze_result r = ooze_body_add(s, &b, &handle);
    fatal = 0;
    const int done = at && r >= 0;
    if (r < 0) {
      CHECK_EQ(r, OOZE_ERROR_MEMORY);
      CHECK_EQ(ooze_particle_count(s), 0);
      CHECK_OK(ooze_body_add(s, &b, &handle), s);
    }
    ooze_body_state_default(&state);
    CHECK_OK(ooze_body_state_get(s, handle, &state), s);
    if (!at) first = state.first_id, expected = scene_hash(s);
    CHECK(state.first_id == first, "allocation %ld: first id %llu", at,
          (unsigned long long)state.first_id);
    CHECK(scene_hash(s) == expected, "allocation %ld: another state", at);
    ooze_solver_destroy(s);
    if (done) return;
  }
  CHECK(0, "a body takes more than 200 allocations");
}

OZ_TEST_MAIN()
