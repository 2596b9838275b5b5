/* Enough particles for a dozen chunks, so that threads really share them: the same bits from every
 * kind of tasks and at every number of threads, with walls, a stream, melting pots of materials and
 * a split step. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS threads */
#include "check.h"
#include "solver_kit.h"

enum { SIDE = 22, STEPS = 2 };
static const float d = 0.02f;

static void backwards(void *user, uint32_t count, ooze_range_fn body, void *arg) {
  (void)user;
  for (uint32_t end = count; end > 0;) {
    uint32_t n = end > 5 ? 5 : end;
    body(arg, end - n, end);
    end -= n;
  }
}

static uint64_t run(uint32_t tasks, uint32_t threads) {
  static float p[SIDE * SIDE * SIDE][3], v[SIDE * SIDE * SIDE][3];
  ooze_solver_desc desc = cpu_desc(d, tasks);
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_params params;
  ooze_material m;
  ooze_collider_desc c;
  ooze_emitter_desc e;
  ooze_particles in;
  uint32_t gel = 0;
  desc.threads = threads;
  if (tasks == OOZE_TASKS_HOST) desc.hooks.parallel_for = backwards;
  ooze_result r = ooze_solver_create(&desc, &s, &why);
  if (r == OOZE_ERROR_UNSUPPORTED && tasks == OOZE_TASKS_TBB) return 0;
  CHECK(r == OOZE_OK, "%s", why.text);
  ooze_params_default(&params);
  params.cfl = 0.5f;
  params.max_substeps = 3;
  params.velocity_iterations = 4;
  params.position_iterations = 2;
  CHECK_OK(ooze_params_set(s, &params), s);
  ooze_material_default(&m);
  m.relaxation_time = 0.1f;
  CHECK_OK(ooze_material_add(s, &m, &gel), s);
  ooze_collider_desc_default(&c);
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  c.shape = OOZE_SHAPE_BOX;
  c.invert = 1;
  c.friction = 0.3f;
  c.half[0] = c.half[1] = c.half[2] = 0.5f;
  for (int k = 0; k < 3; ++k) c.start.position[k] = c.end.position[k] = 0.22f;
  c.end.position[0] += 0.02f;
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  ooze_emitter_desc_default(&e);
  e.radius = 0.06f;
  e.material = gel;
  e.start.position[0] = e.end.position[0] = 0.22f;
  e.start.position[1] = e.end.position[1] = 0.6f;
  CHECK_OK(ooze_emitter_add(s, &e, NULL), s);
  for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
    p[i][0] = d * (float)(i % SIDE) + 0.001f * (float)((i * 7919) % 13);
    p[i][1] = d * (float)(i / SIDE % SIDE) + 0.006f;
    p[i][2] = d * (float)(i / (SIDE * SIDE)) + 0.001f * (float)((i * 104729) % 11);
    v[i][0] = 2.0f * p[i][1];
    v[i][1] = v[i][2] = 0;
  }
  ooze_particles_default(&in);
  in.count = SIDE * SIDE * SIDE;
  in.positions = p;
  in.velocities = v;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
  for (uint32_t k = 0; k < in.count; k += 3)
    CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, k, 1, 0, &gel), s);
  for (int i = 0; i < STEPS; ++i) CHECK_OK(ooze_step(s, 1.0 / 48), s);
  ooze_stats t;
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK_EQ(t.contained, 0);
  CHECK(t.particles > in.count);
  uint64_t hash = 0;
  CHECK_OK(ooze_state_hash(s, &hash), s);
  ooze_solver_destroy(s);
  return hash;
}

OZ_CASE(every_kind_of_tasks_and_every_number_of_threads_gives_the_same_bits) {
  static const struct {
    uint32_t tasks, threads;
  } kinds[] = {{OOZE_TASKS_SHUFFLED, 1}, {OOZE_TASKS_HOST, 1}, {OOZE_TASKS_POOL, 2},
               {OOZE_TASKS_POOL, 4},     {OOZE_TASKS_TBB, 1},  {OOZE_TASKS_TBB, 4}};
  uint64_t serial = run(OOZE_TASKS_SERIAL, 1);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    uint64_t hash = run(kinds[i].tasks, kinds[i].threads);
    if (hash == 0) continue; /* built without TBB */
    CHECK(hash == serial, "tasks %u on %u threads: %016llx, serially %016llx", kinds[i].tasks,
          kinds[i].threads, (unsigned long long)hash, (unsigned long long)serial);
  }
}

OZ_TEST_MAIN()
