/* Bodies that follow poses, and fluid that sticks to bodies. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"

static const float D = 0.003f;
static const double STEP = 1.0 / 24.0;

static ooze_solver *make(uint32_t threads, float gravity) {
  return falling_solver(D, threads, gravity, 8);
}

static ooze_body add_body(ooze_solver *s, int radius, float y, float stick, float friction,
                          uint32_t kind) {
  static float x[600][3];
  ooze_body_desc d;
  ooze_body body = 0;
  ooze_body_desc_default(&d);
  d.kind = kind;
  d.count = lattice_ball(x, radius, D);
  d.positions = x;
  d.pose.position[1] = y;
  d.stick = stick;
  d.friction = friction;
  d.damping = 0.01f;
  CHECK(ooze_body_add(s, &d, &body) == OOZE_OK, "%s", ooze_solver_message(s));
  return body;
}

static ooze_body add_ball(ooze_solver *s, int radius, float y, float stick, uint32_t kind) {
  return add_body(s, radius, y, stick, 1.0f, kind);
}

/* A pool of this viscosity in a box, with room for a ball about the origin. */
static uint32_t add_pool(ooze_solver *s, int side, int deep, float hole, float viscosity) {
  static float x[6000][3];
  ooze_material m;
  ooze_particles p;
  ooze_collider_desc c;
  ooze_collider handle;
  uint32_t material = 0, n = 0;
  ooze_material_default(&m);
  m.density = 1270.0f;
  m.viscosity = viscosity;
  CHECK_EQ(ooze_material_add(s, &m, &material), OOZE_OK);
  const float half = 0.5f * (float)side * D;
  for (int i = 0; i < side; i++)
    for (int j = 0; j < deep; j++)
      for (int k = 0; k < side; k++) {
        const float at[3] = {D * ((float)i + 0.5f) - half, D * ((float)(j - deep) + 2.5f),
                             D * ((float)k + 0.5f) - half};
        if (at[0] * at[0] + at[1] * at[1] + at[2] * at[2] < hole * hole * D * D) continue;
        for (int a = 0; a < 3; a++) x[n][a] = at[a];
        n++;
      }
  ooze_particles_default(&p);
  p.count = n;
  p.positions = x;
  p.material = material;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.invert = 1;
  c.half[0] = c.half[2] = half, c.half[1] = 100.0f * D;
  c.start.position[1] = D * (2.0f - (float)deep) + c.half[1];
  c.end = c.start;
  CHECK_EQ(ooze_collider_add(s, &c, &handle), OOZE_OK);
  return n;
}

static ooze_pose pose_at(float x, float y, float turn) {
  ooze_pose pose;
  ooze_pose_default(&pose);
  pose.position[0] = x, pose.position[1] = y;
  pose.rotation[2] = sinf(0.5f * turn), pose.rotation[3] = cosf(0.5f * turn);
  return pose;
}

static void lift(ooze_solver *s, ooze_body body, float speed, int frames) {
  for (int k = 0; k < frames; k++) {
    const float way = speed * (float)STEP;
    const ooze_pose from = pose_at(0.0f, way * (float)k, 0.0f),
                    to = pose_at(0.0f, way * (float)(k + 1), 0.0f);
    CHECK(ooze_body_drive(s, body, &from, &to) == OOZE_OK, "%s", ooze_solver_message(s));
    CHECK(ooze_step(s, STEP) >= 0, "%s", ooze_solver_message(s));
  }
}

static ooze_body_state state_of(ooze_solver *s, ooze_body body) {
  ooze_body_state b;
  ooze_body_state_default(&b);
  CHECK_EQ(ooze_body_state_get(s, body, &b), OOZE_OK);
  return b;
}

OZ_CASE(a_driven_body_goes_where_its_poses_lead) {
  ooze_solver *s = make(1, -9.81f);
  const ooze_body body = add_ball(s, 3, 0.0f, 0.0f, OOZE_BODY_RIGID),
                  other = add_ball(s, 2, 6.2f * D, 0.0f, OOZE_BODY_RIGID);
  add_pool(s, 14, 10, 3.6f, 20.0f);
  const ooze_pose from = pose_at(0.0f, 0.0f, 0.0f), to = pose_at(0.001f, 0.004f, 0.3f);
  CHECK_EQ(ooze_body_drive(s, body, &from, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_body_drive(s, 99, &from, &to), OOZE_ERROR_NOT_FOUND);
  CHECK_EQ(ooze_body_drive(s, body, &from, &to), OOZE_OK);
  CHECK(ooze_step(s, STEP) >= 0, "%s", ooze_solver_message(s));
  ooze_body_state b = state_of(s, body);
  for (int a = 0; a < 3; a++)
    CHECK_NEAR(b.pose.position[a], to.position[a], 1e-6, "rounding of eight substeps");
  CHECK_NEAR(b.pose.rotation[2], to.rotation[2], 1e-4, "rounding of eight substeps");
  CHECK_NEAR(b.velocity[1], 0.004 / STEP, 1e-3, "the pace of its poses");
  /* it is not told again: it stays, and carries its load */
  for (int k = 0; k < 6; k++) CHECK(ooze_step(s, STEP) >= 0, "%s", ooze_solver_message(s));
  b = state_of(s, body);
  CHECK_NEAR(b.pose.position[1], to.position[1], 1e-6, "where it was led");
  const ooze_body_state o = state_of(s, other);
  double apart = 0.0;
  for (int a = 0; a < 3; a++) apart += pow((double)(b.centre[a] - o.centre[a]), 2.0);
  CHECK(sqrt(apart) > 4.5 * (double)D,
        "a free body of radius 2 is %g separations from one of radius 3", sqrt(apart) / (double)D);
  ooze_solver_destroy(s);
}

OZ_CASE(a_body_that_is_let_go_flies_on) {
  ooze_solver *s = make(1, 0.0f);
  const ooze_body body = add_ball(s, 3, 0.0f, 0.0f, OOZE_BODY_RIGID);
  lift(s, body, 0.12f, 2);
  CHECK_EQ(ooze_body_drive(s, body, NULL, NULL), OOZE_OK);
  for (int k = 0; k < 4; k++) CHECK(ooze_step(s, STEP) >= 0, "%s", ooze_solver_message(s));
  CHECK_NEAR(state_of(s, body).centre[1], 0.12 * 6.0 * STEP, 1e-5, "six steps at one pace");
  ooze_solver_destroy(s);
}

/* Fluid within two separations of the body's particles, after it was drawn out for half a
 * second. */
static uint32_t coat(float stick, float friction, uint32_t kind) {
  ooze_solver *s = make(1, -9.81f);
  const ooze_body body = add_body(s, 4, 0.0f, stick, friction, kind);
  const uint32_t fluid = add_pool(s, 18, 14, 4.6f, 15.0f), all = ooze_particle_count(s);
  float(*x)[3] = malloc(all * sizeof *x);
  uint32_t *owner = malloc(all * sizeof *owner), stuck = 0, left = 0;
  lift(s, body, 0.0f, 3); /* the fluid closes in */
  lift(s, body, 0.12f, 14);
  CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, 0, all, 0, x), OOZE_OK);
  CHECK_EQ(ooze_attribute_read(s, OOZE_OWNER, 0, all, 0, owner), OOZE_OK);
  for (uint32_t i = 0; i < all; i++) {
    int near = 0;
    for (uint32_t j = 0; j < all && owner[i] == 0 && !near; j++) {
      if (owner[j] == 0) continue;
      const float r[3] = {x[i][0] - x[j][0], x[i][1] - x[j][1], x[i][2] - x[j][2]};
      near = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] < 4.0f * D * D;
    }
    stuck += (uint32_t)near;
    left += owner[i] == 0;
  }
  CHECK_EQ(left, fluid);
  free(x);
  free(owner);
  ooze_solver_destroy(s);
  return stuck;
}

OZ_CASE_SLOW(a_ball_drawn_out_of_chocolate_keeps_a_coat_where_it_sticks) {
  const uint32_t clean = coat(0.0f, 0.0f, OOZE_BODY_RIGID),
                 coated = coat(60.0f, 1.0f, OOZE_BODY_RIGID),
                 soft = coat(60.0f, 1.0f, OOZE_BODY_SOFT);
  /* it begins with a cap of a tenth of it above the fluid; a shell would have 250 particles */
  CHECK(clean < 20, "%u particles cling to a slippery ball", clean);
  CHECK(coated > 90, "%u particles coat a ball that sticks", coated);
  CHECK(soft > 60, "%u particles coat a soft ball that sticks", soft);
}

OZ_CASE(a_soft_body_follows_by_what_is_held) {
  ooze_solver *s = make(1, -9.81f);
  const ooze_body body = add_ball(s, 4, 0.0f, 0.0f, OOZE_BODY_SOFT);
  lift(s, body, 0.05f, 8);
  const double there = 0.05 * 8.0 * STEP;
  CHECK_NEAR(state_of(s, body).centre[1], there, 0.5 * (double)D,
             "its outside hangs from its middle by a stiffness of 10 kPa");
  CHECK(fabs((double)state_of(s, body).centre[1] - there) > 1e-6, "it does not give way at all");
  ooze_solver_destroy(s);
}

static void momentum(ooze_solver *s, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  for (uint32_t i = 0; i < ooze_particle_count(s); i++) {
    float u[3], m;
    CHECK_EQ(ooze_attribute_read(s, OOZE_VELOCITY, i, 1, 0, u), OOZE_OK);
    CHECK_EQ(ooze_attribute_read(s, OOZE_MASS, i, 1, 0, &m), OOZE_OK);
    for (int a = 0; a < 3; a++) out[a] += (double)m * (double)u[a];
  }
}

/* A free ball with or without friction and stick leaves a block of fluid that floats. */
static double drawn(uint32_t kind, float stick, float friction, double *change) {
  ooze_solver *s = make(1, 0.0f);
  static float x[1000][3];
  ooze_particles p;
  ooze_material m;
  uint32_t material = 0, n = 0;
  double before[3], after[3], size = 0.0;
  const ooze_body body = add_body(s, 3, 4.0f * D, stick, friction, kind);
  ooze_material_default(&m);
  m.viscosity = 5.0f;
  CHECK_EQ(ooze_material_add(s, &m, &material), OOZE_OK);
  for (int i = -4; i <= 4; i++)
    for (int j = -5; j <= 0; j++)
      for (int k = -4; k <= 4; k++, n++)
        x[n][0] = D * (float)i, x[n][1] = D * (float)j, x[n][2] = D * (float)k;
  ooze_particles_default(&p);
  p.count = n, p.positions = x, p.material = material;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  const ooze_body_state b = state_of(s, body);
  const float up[3] = {0.02f, 0.2f, 0.0f};
  for (uint32_t i = 0; i < b.particles; i++) {
    uint32_t rank = 0;
    CHECK_EQ(ooze_particle_find(s, b.first_id + i, &rank), OOZE_OK);
    CHECK_EQ(ooze_attribute_write(s, OOZE_VELOCITY, rank, 1, 0, up), OOZE_OK);
  }
  momentum(s, before);
  for (int k = 0; k < 8; k++) CHECK(ooze_step(s, 0.5 * STEP) >= 0, "%s", ooze_solver_message(s));
  momentum(s, after);
  *change = 0.0;
  for (int a = 0; a < 3; a++)
    *change += pow(after[a] - before[a], 2.0), size += before[a] * before[a];
  *change = sqrt(*change / size);
  const double speed = (double)state_of(s, body).velocity[1];
  ooze_solver_destroy(s);
  return speed;
}

OZ_CASE(what_sticks_gives_its_momentum) {
  for (uint32_t kind = OOZE_BODY_RIGID; kind <= OOZE_BODY_SOFT; kind++) {
    double change, slowed, free_one = drawn(kind, 0.0f, 0.0f, &change);
    slowed = drawn(kind, 200.0f, 1.0f, &change);
    CHECK(change < 1e-4, "kind %u: momentum changed by %g", kind, change);
    CHECK(slowed < 0.9 * free_one,
          "kind %u: a ball that sticks flies at %g m/s, one that does not at %g", kind, slowed,
          free_one);
  }
}

OZ_CASE(a_run_with_driven_bodies_goes_on_bit_for_bit) {
  ooze_solver *s[3];
  uint64_t hash[3];
  void *memory;
  size_t bytes = 0;
  for (int k = 0; k < 3; k++) s[k] = make(k == 1 ? 3 : 1, -9.81f);
  for (int k = 0; k < 2; k++) {
    const ooze_body body = add_ball(s[k], 4, 0.0f, 60.0f, OOZE_BODY_SOFT);
    add_pool(s[k], 12, 12, 4.6f, 15.0f);
    lift(s[k], body, 0.1f, 3);
    CHECK_EQ(ooze_state_hash(s[k], &hash[k]), OOZE_OK);
  }
  CHECK(hash[0] == hash[1], "three threads give other bits than one");
  CHECK_EQ(ooze_checkpoint_size(s[0], &bytes), OOZE_OK);
  memory = malloc(bytes);
  CHECK_EQ(ooze_checkpoint_save(s[0], memory, bytes, NULL), OOZE_OK);
  CHECK(ooze_checkpoint_load(s[2], memory, bytes) == OOZE_OK, "%s", ooze_solver_message(s[2]));
  for (int k = 0; k < 3; k += 2) { /* it stays held, where it was */
    CHECK(ooze_step(s[k], STEP) >= 0, "%s", ooze_solver_message(s[k]));
    CHECK_EQ(ooze_state_hash(s[k], &hash[k]), OOZE_OK);
  }
  CHECK(hash[0] == hash[2], "a loaded checkpoint goes on differently");
  free(memory);
  for (int k = 0; k < 3; k++) ooze_solver_destroy(s[k]);
}
OZ_TEST_MAIN()
