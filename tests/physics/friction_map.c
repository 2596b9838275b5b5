/* Friction and stick from place to place: values found by contact, refusals, and that a resumed run
 * has the same. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "core/friction_map.h"
#include "physics/contact.h"

static const float D = 0.05f;
enum { SIDE = 25 };

static ooze_solver *make(void) { return serial_solver(D); }
static void places(float x[SIDE * SIDE][3], float friction[SIDE * SIDE], float stick[SIDE * SIDE]) {
  for (int i = 0; i < SIDE * SIDE; i++) {
    x[i][0] = D * (float)(i / SIDE - SIDE / 2), x[i][1] = 0.0f,
    x[i][2] = D * (float)(i % SIDE - SIDE / 2);
    friction[i] = i / SIDE < SIDE / 2 ? 0.0f : 1.0f; /* by x: slippery on the left */
    stick[i] = i / SIDE < SIDE / 2 ? 0.0f : 40.0f;
  }
}

OZ_CASE(between_places_it_is_between_them_and_far_off_there_is_none) {
  static float x[SIDE * SIDE][3], friction[SIDE * SIDE], stick[SIDE * SIDE];
  ooze_hooks hooks;
  oz_memory memory;
  oz_friction_map g = {0};
  oz_frame f;
  oz_collider c;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  places(x, friction, stick);
  CHECK_EQ(oz_friction_map_make(&memory, "it", (double)D, SIDE * SIDE, x[0], friction, 0.5f, NULL,
                                7.0f, &g, NULL),
           OOZE_OK);
  memset(&f, 0, sizeof f);
  memset(&c, 0, sizeof c);
  f.friction_map_key = g.key, f.friction_map_values = g.values;
  c.friction_map_voxel = g.voxel, c.friction_map_count = g.count;
  float a = -1.0f, b = -1.0f, last = -1.0f;
  const float left[3] = {-0.31f, 0.01f, 0.13f}, right[3] = {0.4f, -0.02f, -0.2f},
              off[3] = {0.1f, 0.3f, 0.1f};
  CHECK(oz_friction_map_at(&f, &c, left, &a, &b));
  CHECK_NEAR(a, 0.0, 1e-6, "slippery");
  CHECK_NEAR(b, 7.0, 1e-5, "the collider's own where none is given");
  CHECK(oz_friction_map_at(&f, &c, right, &a, &b));
  CHECK_NEAR(a, 1.0, 1e-6, "and not");
  CHECK(!oz_friction_map_at(&f, &c, off, &a, &b), "six separations above it");
  for (int k = 0; k <= 40; k++) { /* across the edge it rises, without a gap */
    const float at[3] = {-3.0f * D + 0.15f * D * (float)k, 0.0f, 0.02f};
    CHECK(oz_friction_map_at(&f, &c, at, &a, &b), "a gap at %g", (double)at[0]);
    CHECK(a >= last - 1e-6f, "%g after %g", (double)a, (double)last);
    last = a;
  }
  oz_friction_map_release(&memory, &g);
  CHECK_EQ(memory.bytes, 0);
}

OZ_CASE(what_cannot_be_is_refused_by_name) {
  ooze_solver *s = make();
  ooze_collider_desc d;
  ooze_collider c = 0;
  const float x[3] = {0, 0, 0}, bad[3] = {NAN, 0, 0}, one = 1.0f, two = 2.0f, less = -1.0f;
  ooze_collider_desc_default(&d);
  CHECK_EQ(ooze_collider_add(s, &d, &c), OOZE_OK);
  CHECK_EQ(ooze_collider_friction_map(s, c + 1, D, 1, x, &one, NULL), OOZE_ERROR_NOT_FOUND);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, x, NULL, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, NULL, &one, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_collider_friction_map(s, c, 0.0f, 1, x, &one, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, bad, &one, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, x, &two, NULL), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(ooze_solver_message(s), "friction of place 0 is 2") != NULL, "%s",
        ooze_solver_message(s));
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, x, NULL, &less), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 1, x, &one, &one), OOZE_OK);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, 0, NULL, NULL, NULL), OOZE_OK);
  ooze_solver_destroy(s);
}

/* Two drops on one leaning plane. */
static void drops(ooze_solver *s, uint32_t boundary) {
  static float x[SIDE * SIDE][3], friction[SIDE * SIDE], stick[SIDE * SIDE], at[2 * 27][3];
  ooze_collider_desc d;
  ooze_collider c = 0;
  ooze_params p;
  ooze_particles fluid;
  ooze_params_default(&p);
  p.gravity[2] = 3.0f;
  CHECK_EQ(ooze_params_set(s, &p), OOZE_OK);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 2000.0f;
  CHECK_EQ(ooze_material_set(s, 0, &m), OOZE_OK);
  ooze_collider_desc_default(&d);
  d.boundary = boundary;
  d.half[0] = d.half[2] = 0.5f * SIDE * D;
  CHECK_EQ(ooze_collider_add(s, &d, &c), OOZE_OK);
  places(x, friction, stick);
  CHECK_EQ(ooze_collider_friction_map(s, c, D, SIDE * SIDE, x[0], friction, stick), OOZE_OK);
  for (int i = 0; i < 54; i++) {
    at[i][0] = D * ((float)(i % 3) - 1.0f) + (i < 27 ? -6.0f : 6.0f) * D;
    at[i][1] = D * ((float)(i / 3 % 3) + 0.5f), at[i][2] = D * ((float)(i / 9 % 3) - 6.0f);
  }
  ooze_particles_default(&fluid);
  fluid.count = 54, fluid.positions = at[0];
  CHECK_EQ(ooze_particles_add(s, &fluid, NULL), OOZE_OK);
}
static void speeds(ooze_solver *s, double v[2]) {
  float u[54][3];
  v[0] = v[1] = 0.0;
  CHECK_EQ(ooze_attribute_read(s, OOZE_VELOCITY, 0, 54, 0, u), OOZE_OK);
  for (int i = 0; i < 54; i++) v[i / 27] += (double)u[i][2] / 27.0;
}
OZ_CASE(a_drop_slides_where_it_is_slippery_and_a_resumed_run_knows_where_that_is) {
  for (uint32_t boundary = 0; boundary < 2; boundary++) {
    ooze_solver *a = make(), *b = make();
    double v[2];
    size_t bytes = 0;
    uint64_t ha = 0, hb = 0;
    drops(a, boundary);
    for (int k = 0; k < 3; k++)
      CHECK(ooze_step(a, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(a));
    CHECK_EQ(ooze_checkpoint_size(a, &bytes), OOZE_OK);
    void *memory = malloc(bytes);
    CHECK_EQ(ooze_checkpoint_save(a, memory, bytes, NULL), OOZE_OK);
    CHECK(ooze_checkpoint_load(b, memory, bytes) == OOZE_OK, "%s", ooze_solver_message(b));
    free(memory);
    for (int k = 0; k < 3; k++) {
      CHECK(ooze_step(a, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(a));
      CHECK(ooze_step(b, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(b));
    }
    speeds(a, v);
    CHECK_NEAR(v[0], 3.0 * 0.25, 0.05 * 0.75, "free: 3 m/s^2 for a quarter second");
    CHECK(fabs(v[1]) < 0.1 * 0.75, "held, though so small a drop leans: %g m/s", v[1]);
    CHECK_EQ(ooze_state_hash(a, &ha), OOZE_OK);
    CHECK_EQ(ooze_state_hash(b, &hb), OOZE_OK);
    CHECK(ha == hb, "a resumed run goes on differently");
    ooze_solver_destroy(a);
    ooze_solver_destroy(b);
  }
}
OZ_TEST_MAIN()
