/* Particles that leave, on the host loops: those that stay keep their order, their fields and the
 * results of the last substep; ranks close up; boundary particles' ranks stay whatever happens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/host_block.h"

#include <stdlib.h>

#include "check.h"

enum { EDGE = 12, COUNT = EDGE * EDGE * EDGE, VISIBLE = COUNT - 100 };
static const float D = 0.01f, LIMIT = 0.085f;
static float x[4 * COUNT], u[4 * COUNT], q[6 * COUNT];
static uint32_t material[COUNT], rank[COUNT];
static uint64_t id[COUNT];

static void make(void) {
  for (uint32_t i = 0; i < COUNT; i++) {
    x[4 * i] = D * (float)(i % EDGE), x[4 * i + 2] = D * (float)(i / EDGE % EDGE);
    x[4 * i + 1] = D * (float)(i / EDGE / EDGE);
    u[4 * i + 1] = -0.3f;
    rank[i] = (i * 7919u) % COUNT, id[i] = rank[i] + 1; /* no order of places */
  }
  for (uint32_t k = 0; k < 6 * COUNT; k++) q[k] = k < 3 * COUNT ? 1.0f : 0.0f;
}

typedef struct state {
  float x[4 * COUNT], lam[6 * COUNT], rho[COUNT];
  uint32_t rank[COUNT], neighbours[COUNT];
  uint64_t id[COUNT];
} state;

static void fetch(oz_backend *b, uint32_t n, state *s) {
  ooze_message why = {""};
  const struct {
    oz_field field;
    void *to;
  } of[] = {{OZ_FIELD_X, s->x},
            {OZ_FIELD_LAM, s->lam},
            {OZ_FIELD_RHO, s->rho},
            {OZ_FIELD_RANK, s->rank},
            {OZ_FIELD_NEIGHBOURS, s->neighbours},
            {OZ_FIELD_ID, s->id}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++)
    CHECK(b->table->download(b, of[k].field, 0, n, of[k].to, &why) >= 0, "%s", why.text);
}

static void substep(oz_backend *b) {
  oz_step step;
  ooze_message why = {""};
  ooze_params params;
  ooze_params_default(&params);
  memset(&step, 0, sizeof step);
  step.backend = b, step.params = &params, step.separation = D;
  step.velocity_iterations = 3, step.position_iterations = 2;
  ooze_result r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
  for (int more = 0; r == OZ_AGAIN && more < 8; more++) {
    CHECK(b->table->roll_back(b, &why) >= 0, "%s", why.text);
    r = oz_models[OOZE_MODEL_CONFORMATION](&step, 1.0f / 240.0f, &why);
  }
  CHECK(r >= 0, "%s", why.text);
}

static int leaves(const state *s, uint32_t i) {
  int out = 0;
  for (int k = 0; k < 3; k++) out |= fabsf(s->x[4 * i + k]) > LIMIT;
  return out && s->rank[i] < VISIBLE;
}

/* `now` is `was` without those that leave. Returns their number. */
static uint32_t closed_up(const state *was, const state *now, const uint32_t *ranks) {
  static uint8_t gone[COUNT];
  uint32_t n = 0, kept = 0, stay = 0;
  memset(gone, 0, sizeof gone);
  for (uint32_t i = 0; i < COUNT; i++) gone[was->rank[i]] = (uint8_t)leaves(was, i);
  for (uint32_t r = 0; r < COUNT; r++)
    if (gone[r]) CHECK_EQ(ranks[n++], r);
  stay = COUNT - n;
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t below = 0;
    if (leaves(was, i)) continue;
    for (uint32_t r = 0; r < was->rank[i]; r++) below += gone[r];
    CHECK(memcmp(was->x + 4 * i, now->x + 4 * kept, 16) == 0, "position of %u", i);
    CHECK_EQ(now->id[kept], was->id[i]);
    CHECK_EQ(now->rank[kept], was->rank[i] - below);
    CHECK_EQ(now->neighbours[kept], was->neighbours[i]);
    CHECK(now->rho[kept] == was->rho[i], "density of %u", i);
    for (uint32_t c = 0; c < 6; c++)
      CHECK(now->lam[c * stay + kept] == was->lam[c * COUNT + i], "stress %u of %u", c, i);
    kept++;
  }
  CHECK_EQ(kept, stay);
  return n;
}

OZ_CASE(those_that_stay_close_up_in_order) {
  static state was, now;
  static uint32_t ranks[COUNT];
  oz_memory memory;
  ooze_message why = {""};
  oz_backend *b = host_loops(&memory);
  const oz_matter matter = {.density = 1000.0f, .viscosity = 20.0f};
  const host_block block = {x, u, q, material, rank, id};
  oz_leaving which = {.limit = LIMIT, .visible = VISIBLE};
  uint32_t some = 0;
  make();
  put_block(b, COUNT, &block, &matter);
  for (int k = 0; k < 3; k++) substep(b);
  fetch(b, COUNT, &was);
  CHECK(b->table->lost(b, &which, &some, &why) >= 0, "%s", why.text);
  CHECK(some > 500 && some < COUNT - 500, "%u leave", some);
  CHECK(b->table->remove_lost(b, &which, some, ranks, &why) >= 0, "%s", why.text);
  fetch(b, COUNT - some, &now);
  CHECK_EQ(closed_up(&was, &now, ranks), some);
  which.visible -= some;
  CHECK(b->table->lost(b, &which, &some, &why) >= 0, "%s", why.text);
  CHECK_EQ(some, 0);
  substep(b); /* goes on with those that are left */
  b->table->destroy(b);
}

OZ_TEST_MAIN()
