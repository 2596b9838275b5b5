/* Memory has one owner: all of it goes through the hooks, comes back, and may run out at any point.
 * SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"
#include "scene.h"

static ooze_result make(heap *c, ooze_solver **s, ooze_message *why) {
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.particle_separation = scene_separation;
  heap_hooks(c, &desc.hooks);
  *s = NULL;
  return ooze_solver_create(&desc, s, why);
}

OZ_CASE(all_memory_comes_from_the_hooks_and_goes_back) {
  heap c = plenty;
  ooze_solver *s;
  ooze_message why = {""};
  CHECK(make(&c, &s, &why) == OOZE_OK, "%s", why.text);
  CHECK_OK(scene_fill(s), s);
  scene_steps(s, 3);
  ooze_stats stats;
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  CHECK_NEAR(stats.bytes, c.bytes, 0.05 * (double)c.bytes,
             "headers in front of blocks may be left out");
  CHECK(c.live > 0);
  ooze_solver_destroy(s);
  CHECK_EQ(c.live, 0);
  CHECK_EQ(c.bytes, 0);
}

OZ_CASE(a_warm_step_allocates_nothing) {
  heap c = plenty;
  ooze_solver *s;
  ooze_message why = {""};
  ooze_material m;
  ooze_collider_desc plane;
  ooze_collider floor_handle;
  CHECK(make(&c, &s, &why) == OOZE_OK, "%s", why.text);
  ooze_material_default(&m);
  m.viscosity = 50.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  ooze_collider_desc_default(&plane);
  CHECK_OK(ooze_collider_add(s, &plane, &floor_handle), s);
  CHECK_OK(scene_block(s, 0, SCENE_SIDE, 0, 0.01f, 0), s);
  scene_steps(s, 40); /* settles: lists reach their size */
  long before = c.total;
  scene_steps(s, 10);
  CHECK_EQ(c.total - before, 0);
  ooze_solver_destroy(s);
}

/* Each allocation of each call fails in turn, alone or with all that follow: the call says so,
 * nothing is lost, and with memory there again the run ends as if nothing had happened. */
static void check_create_and_fill(long rest) {
  for (int phase = 0; phase < 2; ++phase)
    for (long k = 0;; ++k) {
      heap c = plenty;
      ooze_solver *s;
      ooze_message why = {""};
      c.fail_rest = rest;
      if (phase == 0) c.fail_at = k;
      ooze_result r = make(&c, &s, &why);
      if (phase == 0 && r < 0) {
        CHECK(r == OOZE_ERROR_MEMORY && !s && why.text[0], "allocation %ld: %s %s", k,
              ooze_result_name(r), why.text);
        CHECK_EQ(c.live, 0);
        continue;
      }
      CHECK(r == OOZE_OK && s, "%s", why.text);
      if (phase == 1) {
        c.fail_at = c.total + k;
        r = scene_fill(s);
        c.fail_at = -1;
        CHECK(r == OOZE_OK || r == OOZE_ERROR_MEMORY, "allocation %ld: %s", k, ooze_result_name(r));
        if (r < 0) CHECK(ooze_solver_message(s)[0], "allocation %ld: no message", k);
        CHECK_OK(ooze_step(s, 1.0 / 48), s); /* with the particles that got in */
      }
      ooze_solver_destroy(s);
      CHECK_EQ(c.live, 0);
      if (!c.failed) break;
    }
}

static void check_step(long rest, float yield_stress) {
  uint64_t expected[2] = {0, 0}; /* after one and two steps */
  for (long k = -1;; ++k) {
    heap c = plenty;
    ooze_solver *s;
    ooze_message why = {""};
    c.fail_rest = rest;
    CHECK(make(&c, &s, &why) == OOZE_OK, "%s", why.text);
    CHECK_OK(scene_fill(s), s);
    ooze_material m;
    ooze_material_default(&m);
    CHECK_OK(ooze_material_get(s, 1, &m), s);
    m.yield_stress = yield_stress;
    CHECK_OK(ooze_material_set(s, 1, &m), s);
    /* one substep a step: a refused step leaves the last whole substep, and here that is where it
     * began */
    ooze_params params;
    ooze_params_default(&params);
    CHECK_OK(ooze_params_get(s, &params), s);
    params.substeps = 1;
    CHECK_OK(ooze_params_set(s, &params), s);
    for (int step = 0; step < 2; ++step) {
      uint64_t before = scene_hash(s);
      if (k >= 0) c.fail_at = c.total + k;
      ooze_result r = ooze_step(s, 1.0 / 144);
      c.fail_at = -1;
      if (r < 0) {
        CHECK(r == OOZE_ERROR_MEMORY, "allocation %ld: %s: %s", k, ooze_result_name(r),
              ooze_solver_message(s));
        CHECK(scene_hash(s) == before, "allocation %ld: a refused step changed the state", k);
        CHECK_OK(ooze_step(s, 1.0 / 144), s);
      }
      if (k < 0) expected[step] = scene_hash(s);
      CHECK(scene_hash(s) == expected[step], "allocation %ld: another result after a refusal", k);
    }
    ooze_solver_destroy(s);
    CHECK_EQ(c.live, 0);
    if (k >= 0 && !c.failed) break;
  }
}

OZ_CASE(any_single_allocation_of_set_up_may_fail) { check_create_and_fill(0); }
OZ_CASE(memory_may_run_out_during_set_up) { check_create_and_fill(1); }
OZ_CASE(any_single_allocation_of_a_step_may_fail) { check_step(0, 0.0f); }
OZ_CASE(memory_may_run_out_during_a_step) { check_step(1, 0.0f); }
OZ_CASE(what_yields_remembers_nothing_of_a_step_that_failed) { check_step(0, 100.0f); }

/* A slot of a particle near walls has room for as many planes as the colliders can offer: three
 * from the start, or more as they come. */
OZ_CASE(walls_take_the_room_that_their_colliders_need) {
  uint64_t hash[2];
  size_t bytes[2];
  for (int k = 0; k < 2; ++k) {
    heap c = plenty;
    ooze_solver *s;
    ooze_message why = {""};
    ooze_collider_desc d;
    ooze_collider handle;
    CHECK(make(&c, &s, &why) == OOZE_OK, "%s", why.text);
    ooze_collider_desc_default(&d);
    CHECK_OK(ooze_collider_add(s, &d, &handle), s);
    d.shape = OOZE_SHAPE_BOX, d.invert = 1; /* out of reach, but it has corners */
    d.half[0] = d.half[1] = d.half[2] = 50.0f;
    if (k) CHECK_OK(ooze_collider_add(s, &d, &handle), s);
    CHECK_OK(scene_block(s, 0, SCENE_SIDE, 0, 0.01f, 0), s);
    scene_steps(s, 2);
    bytes[k] = c.bytes;
    ooze_collider_desc_default(&d);
    d.shape = OOZE_SHAPE_BOX, d.half[0] = d.half[1] = d.half[2] = 0.05f,
    d.start.position[0] = d.end.position[0] = -0.06f;
    CHECK_OK(ooze_collider_add(s, &d, &handle), s);
    scene_steps(s, 1);
    d.start.position[0] = d.end.position[0] = 0.1f,
    d.start.position[2] = d.end.position[2] = -0.07f;
    CHECK_OK(ooze_collider_add(s, &d, &handle), s);
    scene_steps(s, 2);
    hash[k] = scene_hash(s);
    ooze_solver_destroy(s);
  }
  CHECK(hash[0] == hash[1], "slots with less room give other bits");
  CHECK(bytes[0] + (size_t)SCENE_SIDE * SCENE_SIDE * 150 < bytes[1],
        "%zu bytes with one plane, %zu with three", bytes[0], bytes[1]);
}

OZ_TEST_MAIN()
