/* Birth and rest positions: set where particles come in, renewed by turns, kept by checkpoints, and
 * without influence on the motion. SPDX-License-Identifier: Apache-2.0 */
#define SCENE_SIDE 5
#include "scene.h"

static ooze_solver *with_rest(uint32_t rest, float period) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_params p;
  CHECK_OK(scene_fill(s), s);
  ooze_params_default(&p);
  CHECK_OK(ooze_params_get(s, &p), s);
  p.rest = rest;
  p.rest_period = period;
  CHECK_OK(ooze_params_set(s, &p), s);
  return s;
}

static float *floats(ooze_solver *s, ooze_attribute a, uint32_t components) {
  const uint32_t n = ooze_particle_count(s);
  float *out = malloc((size_t)n * components * sizeof *out);
  CHECK(out != NULL);
  CHECK_OK(ooze_attribute_read(s, a, 0, n, 0, out), s);
  return out;
}

OZ_CASE(births_remember_their_time_and_the_motion_is_the_same) {
  ooze_solver *on = with_rest(1, 0.0f), *off = with_rest(0, 0.0f);
  uint64_t a = 0, b = 1;
  const uint32_t before = ooze_particle_count(on);
  for (int i = 0; i < 6; ++i) {
    CHECK(ooze_step(on, 0.02) >= 0, "%s", ooze_solver_message(on));
    CHECK(ooze_step(off, 0.02) >= 0, "%s", ooze_solver_message(off));
  }
  CHECK_OK(ooze_state_hash(on, &a), on);
  CHECK_OK(ooze_state_hash(off, &b), off);
  CHECK_EQ(a, b);
  float *birth = floats(on, OOZE_BIRTH, 1);
  uint32_t later = 0;
  for (uint32_t i = 0; i < ooze_particle_count(on); ++i) {
    CHECK(birth[i] >= 0.0f && birth[i] <= 0.12f, "born at %g s", (double)birth[i]);
    later += birth[i] > 0.0f;
  }
  CHECK(ooze_particle_count(on) > before && later > 0, "the nozzle bore %u", later);
  free(birth);
  ooze_solver_destroy(on);
  ooze_solver_destroy(off);
}

OZ_CASE(rest_and_rest2_are_renewed_by_turns) {
  ooze_solver *s = with_rest(1, 0.08f);
  for (int i = 1; i <= 4; ++i) {
    CHECK(ooze_step(s, 0.02) >= 0, "%s", ooze_solver_message(s));
    float *x = floats(s, OOZE_POSITION, 3), *rest = floats(s, OOZE_REST_1, 3),
          *rest_2 = floats(s, OOZE_REST_2, 3);
    const size_t bytes = (size_t)ooze_particle_count(s) * 12;
    /* half a period is two steps of 0.02 s */
    CHECK_EQ(memcmp(x, rest_2, bytes) == 0, i == 2);
    CHECK_EQ(memcmp(x, rest, bytes) == 0, i == 4);
    free(x), free(rest), free(rest_2);
  }
  CHECK_NEAR(ooze_rest_blend(0.04, 0.08), 0.0, 1e-9, "rest2 is new");
  CHECK_NEAR(ooze_rest_blend(0.08, 0.08), 1.0, 1e-9, "rest is new");
  CHECK_NEAR(ooze_rest_blend(0.08, 0.0), 0.0, 1e-9, "no period, no second texture");
  ooze_solver_destroy(s);
}

OZ_CASE(checkpoints_keep_birth_and_rest) {
  ooze_solver *s = with_rest(1, 0.05f), *t = scene_solver(OOZE_TASKS_SERIAL, 1);
  size_t bytes = 0;
  for (int i = 0; i < 3; ++i) CHECK(ooze_step(s, 0.02) >= 0, "%s", ooze_solver_message(s));
  CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
  void *memory = malloc(bytes);
  CHECK_OK(ooze_checkpoint_save(s, memory, bytes, NULL), s);
  CHECK_OK(ooze_checkpoint_load(t, memory, bytes), t);
  for (int i = 0; i < 3; ++i) {
    CHECK(ooze_step(s, 0.02) >= 0, "%s", ooze_solver_message(s));
    CHECK(ooze_step(t, 0.02) >= 0, "%s", ooze_solver_message(t));
  }
  static const struct {
    ooze_attribute a;
    uint32_t components;
  } each[] = {{OOZE_BIRTH, 1}, {OOZE_REST_1, 3}, {OOZE_REST_2, 3}};
  for (int k = 0; k < 3; ++k) {
    float *x = floats(s, each[k].a, each[k].components),
          *y = floats(t, each[k].a, each[k].components);
    CHECK_EQ(memcmp(x, y, (size_t)ooze_particle_count(s) * 4 * each[k].components), 0);
    free(x), free(y);
  }
  free(memory);
  ooze_solver_destroy(s);
  ooze_solver_destroy(t);
}

OZ_TEST_MAIN()
