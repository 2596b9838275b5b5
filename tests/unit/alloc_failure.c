/* Each allocation of each call fails in turn, alone or with all that follow: the call says so, the
 * state is unchanged, the call works once there is memory again, and everything comes back in the
 * end. Set-up and whole steps are in tests/api/memory.c; here are the calls between.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "heap.h"
#include "solver_kit.h"

enum { N = 300 };

static ooze_solver *make(heap *h) {
  ooze_solver_desc desc = cpu_desc(0.02f, OOZE_TASKS_SERIAL);
  heap_hooks(h, &desc.hooks);
  return solver_of(&desc);
}

static ooze_result add(ooze_solver *s, uint32_t count, uint64_t first, uint64_t every) {
  static float p[2 * N][3];
  static uint64_t ids[2 * N];
  ooze_particles in;
  CHECK(count <= 2 * N);
  for (uint32_t i = 0; i < count; ++i) {
    ids[i] = first + every * (count - 1 - i); /* not in order */
    p[i][0] = 0.02f * (float)(ids[i] % 12);
    p[i][1] = 0.02f * (float)(ids[i] / 12 % 12);
    p[i][2] = 0.02f * (float)(ids[i] / 144);
  }
  ooze_particles_default(&in);
  in.count = count;
  in.positions = p;
  in.ids = ids;
  return ooze_particles_add(s, &in, NULL);
}

/* ---- the calls ---- */

static void *saved;
static size_t saved_bytes;

/* between those that are there */
static ooze_result call_add(ooze_solver *s) { return add(s, N, 1, 2); }
static ooze_result call_remove(ooze_solver *s) {
  uint64_t ids[N / 2];
  for (uint32_t i = 0; i < N / 2; ++i) ids[i] = 4 * (uint64_t)i;
  return ooze_particles_remove(s, ids, N / 2);
}
static ooze_result call_read(ooze_solver *s) {
  static float q[6 * N];
  return ooze_attribute_read(s, OOZE_CONFORMATION, 0, N, 0, q);
}
static ooze_result call_write(ooze_solver *s) {
  static float q[6 * N];
  for (int i = 0; i < 6 * N; ++i) q[i] = i % 6 < 3 ? 1.5f : 0.25f;
  return ooze_attribute_write(s, OOZE_CONFORMATION, 0, N, 0, q);
}
static ooze_result call_write_material(ooze_solver *s) {
  static uint32_t which[N];
  for (int i = 0; i < N; ++i) which[i] = 1;
  return ooze_attribute_write(s, OOZE_MATERIAL, 0, N, 0, which);
}
static ooze_result call_material_set(ooze_solver *s) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 9;
  m.relaxation_time = 1;
  return ooze_material_set(s, 0, &m);
}
static ooze_result call_material_add(ooze_solver *s) {
  ooze_material m;
  ooze_material_default(&m);
  ooze_result r = OOZE_OK;
  for (int i = 0; i < 9 && r >= 0; ++i) r = ooze_material_add(s, &m, NULL);
  return r;
}
static ooze_result call_collider(ooze_solver *s) {
  static ooze_sdf_brick bricks[3];
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SDF;
  c.voxel = 0.1f;
  c.bricks = bricks;
  c.brick_count = 3;
  for (int i = 0; i < 3; ++i) bricks[i].origin[1] = 8 * i;
  return ooze_collider_add(s, &c, NULL);
}
static ooze_result call_emitter(ooze_solver *s) {
  ooze_emitter_desc e;
  ooze_emitter_desc_default(&e);
  e.radius = 0.1f;
  return ooze_emitter_add(s, &e, NULL);
}
static ooze_result call_stats(ooze_solver *s) {
  ooze_stats t;
  ooze_stats_default(&t);
  return ooze_stats_get(s, &t);
}
static ooze_result call_hash(ooze_solver *s) {
  uint64_t hash;
  return ooze_state_hash(s, &hash);
}
static ooze_result call_save(ooze_solver *s) {
  size_t bytes;
  ooze_result r = ooze_checkpoint_size(s, &bytes);
  if (r < 0) return r;
  void *memory = malloc(bytes);
  r = ooze_checkpoint_save(s, memory, bytes, &bytes);
  free(memory);
  return r;
}
static ooze_result call_load(ooze_solver *s) { return ooze_checkpoint_load(s, saved, saved_bytes); }
static ooze_result call_kill_step(ooze_solver *s) { /* takes half of them */
  ooze_collider_desc c;
  ooze_params p;
  ooze_collider handle = 0;
  ooze_params_default(&p);
  p.substeps = 1;
  ooze_result r = ooze_params_set(s, &p);
  ooze_collider_desc_default(&c);
  c.role = OOZE_ROLE_KILL;
  c.start.position[1] = c.end.position[1] = 0.11f;
  if (r >= 0) r = ooze_collider_add(s, &c, &handle);
  if (r < 0) return r;
  r = ooze_step(s, 1e-3);
  if (r < 0) CHECK_OK(ooze_collider_remove(s, handle), s);
  return r;
}

typedef struct call {
  const char *name;
  ooze_result (*run)(ooze_solver *s);
} call;
static const call calls[] = {
    {"add", call_add},
    {"remove", call_remove},
    {"read", call_read},
    {"write", call_write},
    {"material", call_write_material},
    {"material_set", call_material_set},
    {"material_add", call_material_add},
    {"collider_add", call_collider},
    {"emitter_add", call_emitter},
    {"stats", call_stats},
    {"hash", call_hash},
    {"save", call_save},
    {"load", call_load},
    {"kill", call_kill_step},
};
enum { CALLS = (int)(sizeof calls / sizeof *calls) };

static ooze_solver *scene(heap *h) {
  ooze_solver *s = make(h);
  ooze_material m;
  ooze_material_default(&m);
  m.relaxation_time = 0.1f;
  CHECK_OK(ooze_material_add(s, &m, NULL), s);
  CHECK_OK(add(s, N, 0, 2), s);
  return s;
}

/* Saved from another solver, so that asking does not warm up the one under test. */
static void *save_of(ooze_solver *s, size_t *bytes) {
  CHECK_OK(ooze_checkpoint_size(s, bytes), s);
  void *memory = malloc(*bytes);
  CHECK_OK(ooze_checkpoint_save(s, memory, *bytes, bytes), s);
  return memory;
}

static void check_all(long rest) {
  heap plain = plenty;
  ooze_solver *other = make(&plain);
  CHECK_OK(add(other, 2 * N, 5, 3), other); /* more than the scene has, so that loading must grow */
  saved = save_of(other, &saved_bytes);
  ooze_solver_destroy(other);
  for (int i = 0; i < CALLS; ++i) {
    uint64_t before = 0, expected = 0, hash;
    long points = 0;
    for (long k = -1;; ++k) {
      heap h = plenty;
      h.fail_rest = rest;
      ooze_solver *s = scene(&h);
      h.fail_at = k < 0 ? -1 : h.total + k;
      ooze_result r = calls[i].run(s);
      h.fail_at = -1;
      if (h.failed) points++;
      CHECK(r >= 0 || (r == OOZE_ERROR_MEMORY && ooze_solver_message(s)[0]),
            "%s, allocation %ld: %s: %s", calls[i].name, k, ooze_result_name(r),
            ooze_solver_message(s));
      CHECK(r >= 0 || h.failed, "%s failed with all its memory", calls[i].name);
      if (r < 0) {
        CHECK_OK(ooze_state_hash(s, &hash), s);
        if (!before) before = hash;
        CHECK(hash == before, "%s, allocation %ld: a refused call changed the state", calls[i].name,
              k);
        CHECK(ooze_time(s) == 0);
        r = calls[i].run(s);
        CHECK(r >= 0, "%s, allocation %ld: %s with memory there again: %s", calls[i].name, k,
              ooze_result_name(r), ooze_solver_message(s));
      }
      CHECK_OK(ooze_state_hash(s, &hash), s);
      if (k < 0) expected = hash;
      CHECK(hash == expected, "%s, allocation %ld: another result after a refusal", calls[i].name,
            k);
      CHECK_OK(ooze_step(s, 1e-3), s);
      ooze_solver_destroy(s);
      CHECK_EQ(h.live, 0);
      if (k >= 0 && !h.failed) break;
    }
    printf("  %s: %ld points of failure\n", calls[i].name, points);
  }
  free(saved);
}

OZ_CASE(any_single_allocation_of_a_call_may_fail) { check_all(0); }
OZ_CASE(memory_may_run_out_during_a_call) { check_all(1); }

OZ_TEST_MAIN()
