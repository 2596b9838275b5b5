/* Boundary particles through ooze.h: hidden from the host, held where their collider is, and the
 * same after a resume. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "core/boundary.h"

static const float D = 0.05f;

static ooze_solver *make(void) { return serial_solver(D); }
static uint32_t fill(ooze_solver *s) {
  static float x[216][3];
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = 216;
  for (uint32_t i = 0; i < 216; i++) {
    const uint32_t at[3] = {i % 6, i / 36, i / 6 % 6};
    for (int a = 0; a < 3; a++) x[i][a] = D * ((float)at[a] + 0.5f) - (a == 1 ? 0.0f : 3.0f * D);
  }
  p.positions = x;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  return p.count;
}
static ooze_collider_desc tray_desc(void) {
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.invert = 1;
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.half[0] = c.half[2] = 4.0f * D, c.half[1] = 6.0f * D;
  c.start.position[1] = c.end.position[1] = 6.0f * D;
  return c;
}
/* A tray of particles, and a nozzle above it. */
static ooze_collider tray(ooze_solver *s, int pours) {
  ooze_collider_desc c = tray_desc();
  ooze_collider handle = 0;
  CHECK_EQ(ooze_collider_add(s, &c, &handle), OOZE_OK);
  if (pours) {
    ooze_emitter_desc e;
    ooze_emitter emitter;
    ooze_emitter_desc_default(&e);
    e.radius = 2.0f * D;
    e.start.position[1] = e.end.position[1] = 8.0f * D; /* clear of the lid */
    CHECK_EQ(ooze_emitter_add(s, &e, &emitter), OOZE_OK);
  }
  return handle;
}
OZ_CASE(the_host_sees_none_of_them) {
  ooze_solver *s = make();
  uint32_t n = fill(s);
  tray(s, 1);
  for (int k = 0; k < 6; k++)
    CHECK(ooze_step(s, 1.0 / 60.0) == OOZE_OK, "%s", ooze_solver_message(s));
  ooze_stats t;
  ooze_stats_default(&t);
  CHECK_EQ(ooze_stats_get(s, &t), OOZE_OK);
  uint32_t all = ooze_particle_count(s);
  /* the poured fluid, not the tray's two thousand points */
  CHECK(all > n && all < n + 200, "%u particles", all);
  CHECK_EQ(t.particles, all);
  uint64_t last = 0;
  uint32_t rank, owner;
  for (uint32_t i = 0; i < all; i++) {
    CHECK_EQ(ooze_attribute_read(s, OOZE_ID, i, 1, 0, &last), OOZE_OK);
    CHECK_EQ(last, i); /* ids go on without a gap */
    CHECK_EQ(ooze_attribute_read(s, OOZE_OWNER, i, 1, 0, &owner), OOZE_OK);
    CHECK_EQ(owner, 0);
  }
  CHECK_EQ(ooze_attribute_read(s, OOZE_OWNER, all, 1, 0, &owner), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_particle_find(s, OZ_HIDDEN_ID, &rank), OOZE_ERROR_NOT_FOUND);
  const uint64_t id = OZ_HIDDEN_ID;
  CHECK_EQ(ooze_particles_remove(s, &id, 1), OOZE_ERROR_NOT_FOUND);
  float x[3] = {0, 1, 0};
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = 1, p.positions = x, p.ids = &id;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_ERROR_ARGUMENT);
  /* nothing has left the tray */
  for (uint32_t i = 0; i < n; i++) {
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), OOZE_OK);
    CHECK(fabsf(x[0]) < 4.0f * D && fabsf(x[2]) < 4.0f * D && x[1] > 0.0f, "%g %g %g", (double)x[0],
          (double)x[1], (double)x[2]);
  }
  ooze_solver_destroy(s);
}

static void resumed(float cfl, float friction) {
  ooze_solver *a = make(), *b = make();
  ooze_params p;
  ooze_params_default(&p);
  p.cfl = cfl;
  CHECK_EQ(ooze_params_set(a, &p), OOZE_OK);
  fill(a);
  ooze_collider c = tray(a, 1);
  ooze_collider_desc d = tray_desc();
  d.friction = friction;
  CHECK_EQ(ooze_collider_set(a, c, &d), OOZE_OK);
  ooze_pose from, to;
  ooze_pose_default(&from);
  from.position[1] = 6.0f * D;
  to = from;
  for (int k = 0; k < 6; k++) {
    if (k == 3) {
      size_t bytes = 0;
      CHECK_EQ(ooze_checkpoint_size(a, &bytes), OOZE_OK);
      void *memory = malloc(bytes);
      CHECK_EQ(ooze_checkpoint_save(a, memory, bytes, NULL), OOZE_OK);
      CHECK(ooze_checkpoint_load(b, memory, bytes) == OOZE_OK, "%s", ooze_solver_message(b));
      free(memory);
    }
    to.position[0] += 0.01f;
    to.rotation[1] += 0.02f;
    for (int w = 0; w < (k < 3 ? 1 : 2); w++) {
      CHECK_EQ(ooze_collider_move(w ? b : a, c, &from, &to), OOZE_OK);
      CHECK(ooze_step(w ? b : a, 1.0 / 60.0) == OOZE_OK, "%s", ooze_solver_message(w ? b : a));
    }
    from = to;
  }
  CHECK(hash_of(a) == hash_of(b), "cfl %g, friction %g: a resumed run goes on differently",
        (double)cfl, (double)friction);
  ooze_solver_destroy(a);
  ooze_solver_destroy(b);
}
OZ_CASE(a_resumed_run_has_the_same_bits) {
  resumed(0.0f, 1.0f);
  resumed(0.5f, 1.0f);
  resumed(0.5f, 0.2f); /* fluid slips along them */
}

OZ_CASE(a_material_that_is_set_anew_leaves_the_walls_alone) {
  uint64_t h[2];
  for (int again = 0; again < 2; again++) {
    ooze_solver *s = make();
    ooze_material m;
    fill(s);
    tray(s, 0);
    ooze_material_default(&m);
    CHECK_EQ(ooze_material_set(s, 0, &m), OOZE_OK);
    for (int k = 0; k < 4; k++) {
      /* as a keyframe does: boundary particles are of no material */
      if (again && k == 2) CHECK_EQ(ooze_material_set(s, 0, &m), OOZE_OK);
      CHECK(ooze_step(s, 1.0 / 60.0) == OOZE_OK, "%s", ooze_solver_message(s));
    }
    h[again] = hash_of(s);
    ooze_solver_destroy(s);
  }
  CHECK(h[0] == h[1], "setting a material to what it is changed the run");
}

OZ_CASE(points_that_move_push_what_is_before_them) {
  ooze_solver *s = make();
  uint32_t n = fill(s);
  ooze_params params;
  ooze_params_default(&params);
  params.gravity[1] = 0.0f;
  CHECK_EQ(ooze_params_set(s, &params), OOZE_OK);
  ooze_collider_desc c;
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SDF; /* a sheet without a distance */
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  CHECK_EQ(ooze_collider_add(s, &c, &handle), OOZE_OK);
  CHECK_EQ(ooze_step(s, 1.0 / 60.0), OOZE_ERROR_ARGUMENT); /* it has no points yet */
  static float from[100][3], to[100][3];
  for (int i = 0; i < 100; i++) {
    from[i][0] = -4.3f * D, from[i][1] = D * ((float)(i / 10) - 1.5f),
    from[i][2] = D * ((float)(i % 10) - 4.5f);
    memcpy(to[i], from[i], sizeof to[i]);
  }
  double before = 0.0, after = 0.0;
  float x[3];
  for (uint32_t i = 0; i < n; i++)
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), OOZE_OK),
        before += (double)x[0] / n;
  for (int k = 0; k < 12; k++) {
    for (int i = 0; i < 100; i++) to[i][0] = from[i][0] + 0.2f * D;
    CHECK_EQ(ooze_collider_points(s, handle, 100, from[0], to[0]), OOZE_OK);
    CHECK(ooze_step(s, 1.0 / 60.0) == OOZE_OK, "%s", ooze_solver_message(s));
    memcpy(from, to, sizeof from);
  }
  for (uint32_t i = 0; i < n; i++) {
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), OOZE_OK);
    after += (double)x[0] / n;
    CHECK(x[0] > from[0][0], "%g is behind the sheet at %g", (double)x[0], (double)from[0][0]);
  }
  CHECK(after - before > 0.5 * (double)D,
        "the sheet has come 2.4 separations and pushed the fluid by %g",
        (after - before) / (double)D);
  CHECK_EQ(ooze_collider_remove(s, handle), OOZE_OK);
  CHECK_EQ(ooze_step(s, 1.0 / 60.0), OOZE_OK);
  CHECK_EQ(ooze_particle_count(s), n);
  ooze_solver_destroy(s);
}

OZ_CASE(weights_are_one_in_two_layers_and_less_where_points_are_dense) {
  ooze_hooks hooks;
  oz_memory memory;
  static float x[2 * 21 * 21][3], w[2 * 21 * 21];
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  for (int k = 0; k < 2 * 21 * 21; k++)
    x[k][0] = (float)(k % 21), x[k][2] = (float)(k / 21 % 21), x[k][1] = -(float)(k / 441);
  CHECK(oz_boundary_weigh(&memory, x[0], 2 * 441, 1.0, 0, w));
  CHECK_NEAR(w[220], 1.0, 1e-6, "the middle of two layers is the reference");
  CHECK(oz_boundary_weigh(&memory, x[0], 441, 1.0, 0, w));
  CHECK_NEAR(w[220], 1.458, 0.01, "a single sheet weighs more");
  for (int k = 0; k < 2 * 21 * 21; k++)
    for (int a = 0; a < 3; a++) x[k][a] *= 0.5f;
  CHECK(oz_boundary_weigh(&memory, x[0], 2 * 441, 1.0, 0, w));
  CHECK(w[220] < 0.3f, "%g", (double)w[220]);
}
OZ_TEST_MAIN()
