/* Loans of the host: its tasks, its progress bar, its log. SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

typedef struct host {
  int cancel_at, calls;
  int abandon_at, looks;
  double last;
  int loops, backwards;
  uint32_t covered;
} host;

static int host_progress(void *user, double fraction) {
  host *h = (host *)user;
  if (fraction < h->last || !(fraction >= 0 && fraction <= 1)) h->backwards++;
  h->last = fraction;
  h->calls++;
  return h->cancel_at && h->calls >= h->cancel_at;
}

static int host_abandon(void *user) {
  host *h = (host *)user;
  h->looks++;
  return h->abandon_at && h->looks >= h->abandon_at;
}

/* A host that splits badly and goes from the end. */
static void host_for(void *user, uint32_t count, ooze_range_fn body, void *arg) {
  host *h = (host *)user;
  h->loops++;
  h->covered += count;
  uint32_t end = count;
  while (end > 0) {
    uint32_t step = end > 3 ? 3 : 1;
    body(arg, end - step, end);
    end -= step;
  }
}

static ooze_solver *lent(host *h, int tasks) {
  ooze_solver_desc desc = cpu_desc(scene_separation, tasks ? OOZE_TASKS_AUTO : OOZE_TASKS_SERIAL);
  desc.hooks.user = h;
  desc.hooks.progress = host_progress;
  desc.hooks.abandon = host_abandon;
  if (tasks) desc.hooks.parallel_for = host_for;
  ooze_solver *s = solver_of(&desc);
  CHECK_OK(scene_fill(s), s);
  return s;
}

OZ_CASE(the_hosts_parallel_for_is_used_and_gives_the_same_bits) {
  host h = {0};
  ooze_solver *s = lent(&h, 1), *plain = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_fill(plain), plain);
  for (int i = 0; i < 4; ++i) {
    h.last = 0;
    scene_steps(s, 1);
  }
  scene_steps(plain, 4);
  CHECK(h.loops > 0 && h.covered > 0, "%d loops", h.loops);
  CHECK_EQ(scene_hash(s), scene_hash(plain));
  ooze_solver_destroy(plain);
  ooze_solver_destroy(s);
}

OZ_CASE(progress_rises_from_0_to_1) {
  host h = {0};
  ooze_solver *s = lent(&h, 0);
  scene_steps(s, 1);
  CHECK(h.calls >= 3, "%d calls for 3 substeps", h.calls);
  CHECK_EQ(h.backwards, 0);
  ooze_solver_destroy(s);
}

OZ_CASE(cancelling_leaves_a_state_that_goes_on) {
  host h = {0};
  ooze_solver *s = lent(&h, 0);
  scene_steps(s, 1);
  double before = ooze_time(s);
  h.calls = 0;
  h.last = 0;
  h.cancel_at = 1;
  CHECK_EQ(ooze_step(s, 1.0 / 48), OOZE_CANCELLED);
  CHECK(ooze_time(s) >= before && ooze_time(s) < before + 1.0 / 48, "%g after %g", ooze_time(s),
        before);
  h.cancel_at = 0;
  h.last = 0;
  scene_steps(s, 1);
  ooze_stats stats;
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  CHECK_EQ(stats.contained, 0);
  CHECK(isfinite(stats.kinetic_energy));
  ooze_solver_destroy(s);
}

/* In the middle of a substep: the state is lost, and a checkpoint brings it back with all its
 * bits. */
OZ_CASE(a_substep_can_be_abandoned_at_each_of_its_stages) {
  host h = {0}, other = {0};
  ooze_solver *s = lent(&h, 0), *plain = lent(&other, 0);
  scene_steps(s, 1);
  scene_steps(plain, 1);
  other.looks = 0;
  scene_steps(plain, 1);
  CHECK(other.looks > 100, "%d looks in 3 substeps", other.looks);
  const uint64_t hash = scene_hash(plain);
  copy_state(s, plain);
  for (int at = 1; at <= other.looks; at += 1 + at / 8) {
    h.looks = 0;
    h.last = 0;
    h.abandon_at = at;
    CHECK_EQ(ooze_step(s, 1.0 / 48), OOZE_LOST_ABANDONED);
    CHECK(strstr(ooze_solver_message(s), "left it within a substep"), "%s", ooze_solver_message(s));
    CHECK_EQ(h.looks, at); /* and goes on with nothing */
    CHECK_EQ(ooze_step(s, 1.0 / 48), OOZE_LOST_ABANDONED);
    h.abandon_at = 0;
    copy_state(plain, s);
    h.last = 0;
    scene_steps(s, 1);
    CHECK_EQ(scene_hash(s), hash);
    copy_state(plain, s);
  }
  ooze_solver_destroy(plain);
  ooze_solver_destroy(s);
}

/* Looks at `abandon` in one substep of side^3 particles in free fall. */
static int looks_in_a_substep(host *h, uint32_t side, int *out_result) {
  ooze_solver_desc desc = cpu_desc(scene_separation, OOZE_TASKS_SERIAL);
  desc.hooks.user = h;
  desc.hooks.abandon = host_abandon;
  ooze_solver *s = solver_of(&desc);
  ooze_params p;
  ooze_particles add;
  float(*x)[3] = malloc((size_t)side * side * side * sizeof *x);
  CHECK(x != NULL, "%u^3 particles", side);
  lattice_cube(x, side, scene_separation, 0, 0, 0);
  ooze_particles_default(&add);
  add.count = side * side * side, add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  free(x);
  ooze_params_default(&p);
  p.substeps = p.velocity_iterations = p.position_iterations = 1;
  CHECK_OK(ooze_params_set(s, &p), s);
  h->looks = 0;
  *out_result = ooze_step(s, 1.0 / 240);
  ooze_solver_destroy(s);
  return h->looks;
}

/* A stage of millions of particles takes long: it is left within. */
OZ_CASE(a_long_stage_is_abandoned_within) {
  host h = {0};
  int result = 0;
  const int few = looks_in_a_substep(&h, 8, &result), many = looks_in_a_substep(&h, 42, &result);
  CHECK_EQ(result, OOZE_OK);
  CHECK(many > few + few / 2, "%d looks with 512 particles, %d with 74088", few, many);
  h.abandon_at = many - 1;
  CHECK_EQ(looks_in_a_substep(&h, 42, &result), many - 1);
  CHECK_EQ(result, OOZE_LOST_ABANDONED);
}

/* A particle that cannot stay (an acceleration that no step can follow) is contained, counted and
 * named; its neighbours live on. */
OZ_CASE(a_particle_that_goes_non_finite_is_contained) {
  host h = {0};
  ooze_solver *s = lent(&h, 0);
  float force[3] = {9e8f, 9e8f, 9e8f};
  CHECK_OK(ooze_attribute_write(s, OOZE_FORCE, 100, 1, 0, force), s);
  ooze_result r = ooze_step(s, 1.0 / 48);
  CHECK(r == OOZE_CONTAINED, "%s: %s", ooze_result_name(r), ooze_solver_message(s));
  ooze_stats stats;
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  CHECK(stats.contained >= 1);
  uint32_t n = ooze_particle_count(s);
  float *p = (float *)malloc(n * 12);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, p), s);
  for (uint32_t i = 0; i < 3 * n; ++i)
    CHECK(isfinite(p[i]), "component %u of particle %u is %g", i % 3, i / 3, (double)p[i]);
  free(p);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
