/* A host that keeps the particles' attributes and the clock's words goes on with the same bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

/* The surroundings of scene_fill without its particles, with the emitter under its handle. */
static void surround(ooze_solver *s) {
  CHECK_OK(scene_fill(s), s); /* its particles go again */
  CHECK_OK(ooze_particles_clear(s), s);
}

static void carry(ooze_solver *from, ooze_solver *to) {
  uint32_t n = ooze_particle_count(from), words[256], count = 0;
  uint64_t *ids = (uint64_t *)malloc((size_t)n * 8);
  unsigned char *values = (unsigned char *)malloc((size_t)n * 24);
  CHECK_OK(ooze_attribute_read(from, OOZE_ID, 0, n, 0, ids), from);
  CHECK_OK(ooze_attribute_read(from, OOZE_POSITION, 0, n, 0, values), from);
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = n;
  p.positions = values;
  p.ids = ids;
  CHECK_OK(ooze_particles_clear(to), to);
  CHECK_OK(ooze_particles_add(to, &p, NULL), to);
  for (int pass = 0; pass < 2; ++pass) /* the material brings values of its own: first */
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
      ooze_attribute_info info;
      ooze_attribute_info_default(&info);
      CHECK_EQ(ooze_attribute_describe((ooze_attribute)a, &info), OOZE_OK);
      if (!info.is_state || !info.writable || (a == OOZE_MATERIAL) != (pass == 0)) continue;
      CHECK_OK(ooze_attribute_read(from, (ooze_attribute)a, 0, n, 0, values), from);
      CHECK_OK(ooze_attribute_write(to, (ooze_attribute)a, 0, n, 0, values), to);
    }
  CHECK_OK(ooze_clock_save(from, NULL, 0, &count), from);
  CHECK(count <= 256);
  CHECK_OK(ooze_clock_save(from, words, 256, &count), from);
  CHECK_OK(ooze_clock_load(to, words, count), to);
  free(ids);
  free(values);
}

OZ_CASE(attributes_and_the_clock_are_all_the_state) {
  ooze_solver *straight = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(straight), straight);
  ooze_solver *carried = scene_solver(OOZE_TASKS_SERIAL, 1);
  surround(carried);
  /* the box moves in the first step alone: let that pass before the colliders are compared */
  scene_steps(straight, 1);
  scene_steps(carried, 1);
  for (int k = 0; k < 4; ++k) {
    scene_steps(carried, 1); /* somewhere else in time: all of it must be replaced */
    carry(straight, carried);
    CHECK_EQ(scene_hash(carried), scene_hash(straight));
    CHECK(ooze_time(carried) == ooze_time(straight));
    scene_steps(straight, 2);
    scene_steps(carried, 2);
    CHECK_EQ(ooze_particle_count(carried), ooze_particle_count(straight));
    CHECK_EQ(scene_hash(carried), scene_hash(straight));
  }
  ooze_solver_destroy(carried);
  ooze_solver_destroy(straight);
}

OZ_CASE(emitters_are_put_under_their_handles) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_emitter_desc e;
  ooze_emitter next = 0;
  ooze_emitter_desc_default(&e);
  e.radius = 0.05f;
  CHECK_OK(ooze_emitter_put(s, 7, &e), s);
  CHECK_OK(ooze_emitter_put(s, 3, &e), s);
  CHECK_OK(ooze_emitter_put(s, 7, &e), s);
  CHECK_RESULT(ooze_emitter_put(s, 0, &e), OOZE_ERROR_ARGUMENT, s);
  CHECK_OK(ooze_emitter_add(s, &e, &next), s);
  CHECK_EQ(next, 8);
  uint32_t count = 0;
  CHECK_OK(ooze_clock_save(s, NULL, 0, &count), s);
  CHECK_EQ(count, 8 + 3 * 14);
  CHECK_OK(ooze_emitter_remove(s, 3), s);
  CHECK_OK(ooze_emitter_remove(s, 7), s);
  ooze_solver_destroy(s);
}

OZ_CASE(damaged_clocks_are_refused_and_change_nothing) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(s), s);
  scene_steps(s, 1);
  uint32_t words[256], count = 0;
  CHECK_OK(ooze_clock_save(s, words, 256, &count), s);
  CHECK_RESULT(ooze_clock_save(s, words, count - 1, &count), OOZE_ERROR_ARGUMENT, s);
  double time = ooze_time(s);
  for (uint32_t cut = 0; cut < count; ++cut)
    CHECK_RESULT(ooze_clock_load(s, words, cut), OOZE_ERROR_FORMAT, s);
  CHECK_RESULT(ooze_clock_load(s, NULL, count), OOZE_ERROR_FORMAT, s);
  uint32_t kept = words[3];
  words[3] = 0x7ff80000u; /* time is no number */
  CHECK_RESULT(ooze_clock_load(s, words, count), OOZE_ERROR_FORMAT, s);
  words[3] = kept;
  words[8 + 7] = 0xffffffffu; /* nor is the length poured */
  CHECK_RESULT(ooze_clock_load(s, words, count), OOZE_ERROR_FORMAT, s);
  CHECK(ooze_time(s) == time);
  ooze_solver_destroy(s);
}

OZ_CASE(parameters_are_stored_by_name) {
  ooze_params p;
  ooze_message why;
  ooze_params_default(&p);
  double n = 17, g[3] = {1, 2, 3}, bad = -1, one = 1;
  CHECK_EQ(ooze_schema_store("params", "velocity_iterations", &n, &p, &why), OOZE_OK);
  CHECK_EQ(ooze_schema_store("params", "gravity", g, &p, &why), OOZE_OK);
  CHECK_EQ(ooze_schema_store("params", "corotation", &one, &p, &why), OOZE_OK);
  CHECK_EQ(p.velocity_iterations, 17);
  double back[4] = {0, 0, 0, 0};
  CHECK_EQ(ooze_schema_load("params", "gravity", &p, back), OOZE_OK);
  CHECK(back[0] == 1 && back[1] == 2 && back[2] == 3);
  CHECK_EQ(ooze_schema_load("params", "nothing", &p, back), OOZE_ERROR_NOT_FOUND);
  CHECK(p.gravity[0] == 1.0f && p.gravity[1] == 2.0f && p.gravity[2] == 3.0f && p.corotation == 1);
  CHECK_EQ(ooze_schema_store("params", "time_scale", &bad, &p, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "Time Scale is -1"), "%s", why.text);
  CHECK(p.time_scale == 1.0f);
  CHECK_EQ(ooze_schema_store("params", "particle_separation", &n, &p, &why), OOZE_ERROR_NOT_FOUND);
  CHECK_EQ(ooze_schema_store("nothing", "gravity", g, &p, &why), OOZE_ERROR_NOT_FOUND);
  p.size = 8;
  CHECK_EQ(ooze_schema_store("params", "max_speed", &n, &p, &why), OOZE_ERROR_ARGUMENT);
}

OZ_CASE(the_hash_of_bytes_sees_order_length_and_seed) {
  const char a[8] = "abcdefg", b[8] = "abcdegf";
  CHECK(ooze_hash(a, 8, 0) != ooze_hash(b, 8, 0));
  CHECK(ooze_hash(a, 7, 0) != ooze_hash(a, 8, 0));
  CHECK(ooze_hash(a, 8, 1) != ooze_hash(a, 8, 0));
  CHECK(ooze_hash(a, 8, 1) == ooze_hash(a, 8, 1));
  CHECK(ooze_hash(NULL, 0, 3) == ooze_hash(a, 0, 3));
}
OZ_TEST_MAIN()
