/* The CUDA backend goes on with a substep before it knows whether lists and wall slots had room;
 * where they had none, the substep is run again. Same bits as with waiting.
 * SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "cuda/compare.h"

#include "check.h"

enum { EDGE = 24, LAYERS = 6, COUNT = EDGE * LAYERS * EDGE, STEPS = 10 };
static const float D = 0.01f;

/* A slab that comes down on a floor: 576 particles, then 1152, then 1728 are near it. apart: it
 * flies apart at so many times its size a second, around the place where coordinates change sign,
 * so that the box of its cells grows. */
static oz_backend *slab(oz_memory *memory, float yield_stress, float apart) {
  static float x[4 * COUNT], u[4 * COUNT], q[6 * COUNT], compliance[COUNT], viscosity[COUNT],
      density[COUNT];
  static uint32_t rank[COUNT];
  static uint64_t id[COUNT];
  oz_backend *b = NULL;
  oz_backend_desc desc;
  ooze_message why = {""};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = memory, desc.tasks = OOZE_TASKS_SERIAL, desc.threads = 1, desc.device = -1;
  CHECK(oz_cuda_host_backend_create(&desc, &b, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < COUNT; i++) {
    x[4 * i] = D * (float)(i % EDGE), x[4 * i + 1] = D * (3.5f + (float)(i / EDGE % LAYERS)),
          x[4 * i + 2] = D * (float)(i / (EDGE * LAYERS));
    u[4 * i] = u[4 * i + 2] = 0.0f, u[4 * i + 1] = -1.0f;
    if (apart > 0.0f) {
      x[4 * i] -= 0.5f * D * EDGE, x[4 * i + 2] -= 0.5f * D * EDGE;
      for (uint32_t k = 0; k < 3; k += 2) u[4 * i + k] = apart * x[4 * i + k];
    }
    for (uint32_t k = 0; k < 3; k++) q[k * COUNT + i] = 1.0f;
    compliance[i] = 1e-4f, density[i] = 1000.0f, viscosity[i] = 20.0f;
    rank[i] = i, id[i] = i + 1;
  }
  const struct {
    oz_field field;
    const void *from;
  } of[] = {{OZ_FIELD_X, x},
            {OZ_FIELD_U, u},
            {OZ_FIELD_Q, q},
            {OZ_FIELD_COMPLIANCE, compliance},
            {OZ_FIELD_VISCOSITY, viscosity},
            {OZ_FIELD_DENSITY, density},
            {OZ_FIELD_RANK, rank},
            {OZ_FIELD_ID, id}};
  CHECK(b->table->resize(b, COUNT, &why) >= 0, "%s", why.text);
  for (size_t k = 0; k < sizeof of / sizeof *of; k++)
    CHECK(b->table->upload(b, of[k].field, 0, COUNT, of[k].from, &why) >= 0, "%s", why.text);
  if (yield_stress > 0.0f) /* as core does for a step that writes them */
    CHECK(b->table->provide(b, OZ_FIELD_REFERENCE, &why) >= 0 &&
              b->table->provide(b, OZ_FIELD_PRESSURE, &why) >= 0 &&
              b->table->provide(b, OZ_FIELD_DENSITY_PRESSURE, &why) >= 0,
          "%s", why.text);
  const oz_matter matter = {.density = 1000.0f, .yield_stress = yield_stress};
  CHECK(b->table->matter(b, &matter, 1, &why) >= 0, "%s", why.text);
  oz_collider floor;
  memset(&floor, 0, sizeof floor);
  floor.shape = OOZE_SHAPE_PLANE, floor.q0[3] = floor.q1[3] = 1.0f, floor.wall_density = 1,
  floor.handle = 1, floor.f1 = 1.0f;
  CHECK(b->table->colliders(b, &floor, 1, NULL, NULL, 0, &why) >= 0, "%s", why.text);
  return b;
}
/* Positions, and the state of yielding fluid, by id after STEPS substeps; returns how many had to
 * be run again. */
static int run(float *out, float yield_stress, float apart) {
  oz_memory memory;
  oz_backend *b = slab(&memory, yield_stress, apart);
  ooze_message why = {""};
  ooze_params params;
  oz_step step;
  static float x[4 * COUNT], rest[3 * COUNT];
  static uint64_t id[COUNT];
  int again = 0;
  ooze_params_default(&params);
  params.velocity_iterations = 3, params.position_iterations = 2;
  for (int k = 0; k < STEPS; k++) {
    memset(&step, 0, sizeof step);
    step.backend = b, step.params = &params, step.separation = D, step.has_walls = 1;
    step.velocity_iterations = params.velocity_iterations;
    step.position_iterations = params.position_iterations;
    step.has_yield = step.has_relaxation_time = yield_stress > 0.0f;
    ooze_result r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
    while (r == OZ_AGAIN && again < 20) {
      again++;
      CHECK(b->table->roll_back(b, &why) >= 0, "%s", why.text);
      r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
    }
    CHECK(r >= 0, "substep %d: %s", k, why.text);
    CHECK(step.mean_neighbours > 5.0 && step.mean_neighbours < 60.0, "substep %d: %g neighbours", k,
          step.mean_neighbours);
  }
  CHECK(b->table->download(b, OZ_FIELD_X, 0, COUNT, x, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_ID, 0, COUNT, id, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_REFERENCE, 0, COUNT, rest, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < COUNT; i++) {
    float *to = out + 6 * (id[i] - 1);
    memcpy(to, x + 4 * i, 12);
    for (uint32_t k = 0; k < 3; k++) to[3 + k] = rest[k * COUNT + i];
  }
  b->table->destroy(b);
  return again;
}

static void same_bits(float yield_stress) {
  static float late[6 * COUNT], waiting[6 * COUNT], turn[6 * COUNT];
  /* as small scenes run, and as large ones; and with predict and the search for walls in one kernel
   */
  static const char *const lanes[] = {"16", "1", "2"};
  for (int k = 0; k < (yield_stress > 0.0f ? 1 : 3); k++) {
    setenv("OOZE_CUDA_LANES", lanes[k], 1);
    const int again = run(late, yield_stress, 0.0f);
    setenv("OOZE_CUDA_DEBUG_DISABLE", "deferred_checks", 1);
    CHECK_EQ(run(waiting, yield_stress, 0.0f), 0);
    setenv("OOZE_CUDA_DEBUG_DISABLE", "side_streams",
           1); /* lists and walls in their turn, not before it */
    run(turn, yield_stress, 0.0f);
    unsetenv("OOZE_CUDA_DEBUG_DISABLE"), unsetenv("OOZE_CUDA_LANES");
    CHECK(memcmp(late, turn, sizeof late) == 0,
          "positions, or what is remembered, differ from those of lists in their turn");
    printf("  %s threads a particle: %d of %d substeps twice\n", lanes[k], again, STEPS);
    CHECK(again > 0 && again < STEPS / 2, "%d substeps were run again", again);
    CHECK(memcmp(late, waiting, sizeof late) == 0, "positions, or what is remembered, differ");
    float low = 1.0f, most = 0.0f;
    for (uint32_t i = 0; i < COUNT; i++) {
      low = late[6 * i + 1] < low ? late[6 * i + 1] : low;
      most = late[6 * i + 4] > most ? late[6 * i + 4] : most;
    }
    CHECK(low < 0.6f * D && low > 0.2f * D, "it has come down, and lies: lowest at %g",
          (double)low);
    CHECK((most > 0.0f) == (yield_stress > 0.0f), "%g m/s^2 are remembered", (double)most);
  }
}
OZ_CASE(a_substep_that_outgrows_its_room_is_run_again_with_the_same_bits) { same_bits(0.0f); }
OZ_CASE_SLOW(so_it_is_with_a_yield_stress_and_what_it_remembers) { same_bits(300.0f); }

/* The order depends on how many bits the sides of the box take. That is known when it is made
 * ahead, unless it has just changed; and a table of cells is there or not. */
OZ_CASE_SLOW(so_it_is_where_the_box_of_all_grows) {
  static float ahead[6 * COUNT], other[6 * COUNT];
  static const char *const ways[] = {"side_streams", "cell_table", "status_carriers",
                                     "deferred_checks"};
  setenv("OOZE_CUDA_LANES", "1", 1);
  run(ahead, 0.0f, 40.0f);
  float most = 0.0f;
  for (uint32_t i = 0; i < COUNT; i++) most = ahead[6 * i] > most ? ahead[6 * i] : most;
  CHECK(most > 0.9f * D * EDGE, "it has come apart: %g", (double)most);
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    setenv("OOZE_CUDA_DEBUG_DISABLE", ways[k], 1);
    run(other, 0.0f, 40.0f);
    unsetenv("OOZE_CUDA_DEBUG_DISABLE");
    CHECK(memcmp(ahead, other, sizeof ahead) == 0, "without %s positions differ", ways[k]);
  }
  unsetenv("OOZE_CUDA_LANES");
}

OZ_TEST_MAIN()
