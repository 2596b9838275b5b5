/* Particles that come in between substeps, on the host loops: the same bits whether their rows are
 * staged or uploaded one by one, and whether lists are built ahead or in their turn; with stray
 * particles in cells that share codes with those of the others.
 * SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "cuda/host_block.h"

#include <stdlib.h>

#include "check.h"

enum {
  EDGE = 16,
  LAYER = EDGE * EDGE,
  FIRST = 12 * LAYER,
  STEPS = 12,
  MOST = FIRST + STEPS * LAYER
};
static const float D = 0.01f;
static float x[4 * MOST], u[4 * MOST], q[6 * MOST];
static uint32_t material[MOST], rank[MOST];
static uint64_t id[MOST];

/* Layers of a square column, from below; q: rows of `count`, the identity. */
static void make(uint32_t first, uint32_t count, float height) {
  for (uint32_t i = first; i < first + count; i++) {
    x[4 * i] = D * (float)(i % EDGE), x[4 * i + 2] = D * (float)(i / EDGE % EDGE);
    x[4 * i + 1] = height + D * (float)((i - first) / LAYER);
    u[4 * i + 1] = -1.0f;
    rank[i] = i, id[i] = i + 1;
  }
  for (uint32_t k = 0; k < 6 * count; k++) q[k] = k < 3 * count ? 1.0f : 0.0f;
}

/* parts: uploads of each field; more than one are not staged. */
static void give_birth(oz_backend *b, uint32_t first, uint32_t count, uint32_t parts) {
  ooze_message why = {""};
  const struct {
    oz_field field;
    const void *from;
    size_t row;
  } of[] = {{OZ_FIELD_X, x + 4 * first, 16},
            {OZ_FIELD_U, u + 4 * first, 16},
            {OZ_FIELD_MATERIAL, material + first, 4},
            {OZ_FIELD_RANK, rank + first, 4},
            {OZ_FIELD_ID, id + first, 8}};
  CHECK(b->table->resize(b, first + count, &why) >= 0, "%s", why.text);
  for (size_t k = 0; k < sizeof of / sizeof *of; k++)
    for (uint32_t p = 0; p < parts; p++) {
      const uint32_t begin = count * p / parts, end = count * (p + 1) / parts;
      CHECK(b->table->upload(b, of[k].field, first + begin, end - begin,
                             (const char *)of[k].from + begin * of[k].row, &why) >= 0,
            "%s", why.text);
    }
  CHECK(b->table->upload(b, OZ_FIELD_Q, first, count, q, &why) >= 0, "%s", why.text);
}

/* Positions by id; returns the number of particles. */
static uint32_t run(float *out, uint32_t parts) {
  static float at[4 * MOST];
  static uint64_t ids[MOST];
  oz_memory memory;
  ooze_message why = {""};
  ooze_params params;
  oz_backend *b = host_loops(&memory);
  const oz_matter matter = {.density = 1000.0f, .viscosity = 20.0f};
  const oz_nozzle nozzle = {.handle = 7, .q0 = {0, 0, 0, 1}, .q1 = {0, 0, 0, 1}};
  const host_block block = {x, u, q, material, rank, id};
  uint32_t count = FIRST;
  make(0, FIRST, 0.5f * D);
  x[4 * 1] = 3.0f, x[4 * 2 + 2] = -2.0f; /* strays: the wrap of the cells is shorter than the box */
  put_block(b, FIRST, &block, &matter);
  ooze_params_default(&params);
  for (int k = 0; k < STEPS; k++) {
    oz_step step;
    if (k % 4 != 3) { /* a layer above those that have fallen */
      make(count, LAYER, 0.2f + 1.5f * D * (float)k);
      give_birth(b, count, LAYER, parts);
      count += LAYER;
    }
    CHECK(b->table->nozzles(b, &nozzle, 1, &why) >= 0, "%s", why.text);
    memset(&step, 0, sizeof step);
    step.backend = b, step.params = &params, step.separation = D, step.has_nozzles = 1;
    step.velocity_iterations = 3, step.position_iterations = 2;
    ooze_result r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
    for (int more = 0; r == OZ_AGAIN && more < 8; more++) {
      CHECK(b->table->roll_back(b, &why) >= 0, "%s", why.text);
      r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
    }
    CHECK(r >= 0, "substep %d: %s", k, why.text);
  }
  CHECK(b->table->download(b, OZ_FIELD_X, 0, count, at, &why) >= 0, "%s", why.text);
  CHECK(b->table->download(b, OZ_FIELD_ID, 0, count, ids, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < count; i++) memcpy(out + 3 * (ids[i] - 1), at + 4 * i, 12);
  b->table->destroy(b);
  return count;
}

static void same_bits(const char *lanes) {
  static float staged[3 * MOST], single[3 * MOST], turn[3 * MOST];
  setenv("OOZE_CUDA_LANES", lanes, 1);
  const uint32_t count = run(staged, 1);
  CHECK_EQ(count, FIRST + 9 * LAYER);
  CHECK_EQ(run(single, 3), count);
  setenv("OOZE_CUDA_DEBUG_DISABLE", "side_streams,cell_table", 1);
  CHECK_EQ(run(turn, 1), count);
  unsetenv("OOZE_CUDA_DEBUG_DISABLE"), unsetenv("OOZE_CUDA_LANES");
  CHECK(memcmp(staged, single, 12 * count) == 0, "staged rows differ from uploads");
  CHECK(memcmp(staged, turn, 12 * count) == 0, "lists built ahead differ from those in turn");
  CHECK(staged[1] < 0.5f * D, "nothing fell");
}

OZ_CASE(births_have_the_same_bits_however_they_come) { same_bits("1"); }

OZ_CASE_SLOW(so_they_have_with_any_threads_a_particle) { same_bits("16"), same_bits("4"); }

OZ_TEST_MAIN()
