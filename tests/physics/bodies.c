/* Rigid bodies through ooze.h: refusals, reading back, and that a run goes on bit for
 * bit. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"

static const float D = 0.05f;

static ooze_solver *make(uint32_t threads) { return threaded_solver(D, threads); }

static uint32_t block(float (*x)[3], int nx, int ny, int nz) {
  uint32_t n = 0;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      for (int k = 0; k < nz; k++, n++) {
        const int at[3] = {i, j, k}, of[3] = {nx, ny, nz};
        for (int a = 0; a < 3; a++) x[n][a] = D * ((float)at[a] + 0.5f - 0.5f * (float)of[a]);
      }
  return n;
}

static ooze_body add(ooze_solver *s, float y, const float spin[3]) {
  float x[60][3];
  ooze_body_desc d;
  ooze_body body = 0;
  ooze_body_desc_default(&d);
  d.count = block(x, 5, 3, 4);
  d.positions = x;
  d.pose.position[1] = y;
  d.pose.rotation[2] = 0.2f; /* of no unit length: it is made so */
  for (int a = 0; a < 3; a++) d.spin[a] = spin ? spin[a] : 0.0f;
  CHECK(ooze_body_add(s, &d, &body) == OOZE_OK, "%s", ooze_solver_message(s));
  return body;
}

/* Two bodies fall into a pool on a floor. */
static ooze_solver *pool(uint32_t threads) {
  ooze_solver *s = make(threads);
  static float x[600][3];
  ooze_particles p;
  ooze_collider_desc c;
  ooze_collider floor;
  ooze_particles_default(&p);
  p.count = block(x, 12, 4, 12);
  for (uint32_t i = 0; i < p.count; i++) x[i][1] += 2.0f * D;
  p.positions = x;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  ooze_collider_desc_default(&c);
  CHECK_EQ(ooze_collider_add(s, &c, &floor), OOZE_OK);
  const float spin[3] = {1.0f, 2.0f, 0.5f};
  add(s, 0.35f, spin);
  add(s, 0.55f, NULL);
  return s;
}

OZ_CASE(a_body_is_read_back_as_it_was_given) {
  ooze_solver *s = make(1);
  const float spin[3] = {0.3f, -1.0f, 2.0f};
  ooze_body body = add(s, 0.4f, spin);
  ooze_body_state b;
  ooze_body_state_default(&b);
  CHECK_EQ(ooze_body_count(s), 1);
  CHECK_EQ(ooze_body_at(s, 0), body);
  CHECK_EQ(ooze_body_at(s, 1), 0);
  CHECK_EQ(ooze_body_state_get(s, body, &b), OOZE_OK);
  CHECK_EQ(b.particles, 60);
  CHECK_EQ(ooze_particle_count(s), 60);
  const double unit = sqrt(1.0 + 0.04);
  CHECK_NEAR(b.pose.rotation[2], 0.2 / unit, 1e-6, "the turn that it was given, made unit");
  CHECK_NEAR(b.pose.position[1], 0.4, 1e-6, "where it was put");
  CHECK_NEAR(b.centre[1], 0.4, 1e-6, "its points are about the origin");
  for (int a = 0; a < 3; a++) CHECK_NEAR(b.spin[a], spin[a], 1e-5, "velocities of its particles");
  uint32_t owner = 0;
  CHECK_EQ(ooze_attribute_read(s, OOZE_OWNER, 7, 1, 0, &owner), OOZE_OK);
  CHECK(owner != 0);
  CHECK_EQ(ooze_body_remove(s, body), OOZE_OK);
  CHECK_EQ(ooze_particle_count(s), 0);
  CHECK_EQ(ooze_body_count(s), 0);
  CHECK_EQ(ooze_body_state_get(s, body, &b), OOZE_ERROR_NOT_FOUND);
  CHECK_EQ(ooze_body_remove(s, body), OOZE_ERROR_NOT_FOUND);
  ooze_solver_destroy(s);
}

OZ_CASE(what_is_no_body_is_refused_and_changes_nothing) {
  ooze_solver *s = make(1);
  ooze_body_desc d;
  ooze_body body;
  float x[3][3] = {{0, 0, 0}, {0.05f, 0, 0}, {0.1f, 0, 0}};
  ooze_body_desc_default(&d);
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_ERROR_ARGUMENT); /* no points */
  d.count = 3;
  d.positions = x;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_ERROR_ARGUMENT); /* a line */
  CHECK(strstr(ooze_solver_message(s), "one line"), "%s", ooze_solver_message(s));
  x[2][1] = 0.1f;
  d.friction = -1.0f;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_ERROR_ARGUMENT);
  d.friction = 0.5f;
  d.material = 9;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_ERROR_NOT_FOUND);
  d.material = 0;
  x[1][2] = NAN;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_particle_count(s), 0);
  CHECK_EQ(ooze_body_count(s), 0);
  x[1][2] = 0;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_OK);
  ooze_solver_destroy(s);
}

OZ_CASE(a_body_keeps_its_shape_through_a_splash) {
  ooze_solver *s = pool(1);
  for (int k = 0; k < 10; k++) CHECK(ooze_step(s, 1.0 / 30.0) >= 0, "%s", ooze_solver_message(s));
  for (uint32_t k = 0; k < 2; k++) {
    ooze_body_state b;
    ooze_body_state_default(&b);
    CHECK_EQ(ooze_body_state_get(s, ooze_body_at(s, k), &b), OOZE_OK);
    uint32_t first = 0;
    float a[3], c[3];
    CHECK_EQ(ooze_particle_find(s, b.first_id, &first), OOZE_OK);
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, first, 1, 0, a), OOZE_OK);
    CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, first + 59, 1, 0, c), OOZE_OK);
    double l = sqrt((double)((a[0] - c[0]) * (a[0] - c[0]) + (a[1] - c[1]) * (a[1] - c[1]) +
                             (a[2] - c[2]) * (a[2] - c[2])));
    CHECK_NEAR(l, 0.05 * sqrt(16.0 + 4.0 + 9.0), 1e-5,
               "opposite corners stay as far apart as they were");
    CHECK(b.centre[1] > 0.0f && b.centre[1] < 0.5f, "body %u is at %g", k, (double)b.centre[1]);
  }
  ooze_solver_destroy(s);
}

OZ_CASE(a_run_with_bodies_goes_on_bit_for_bit) {
  ooze_solver *a = pool(1), *b = pool(3), *c = make(1);
  for (int k = 0; k < 4; k++) CHECK(ooze_step(a, 1.0 / 60.0) >= 0 && ooze_step(b, 1.0 / 60.0) >= 0);
  CHECK(hash_of(a) == hash_of(b), "three threads give other bits than one");
  copy_state(a, c);
  CHECK_EQ(ooze_body_count(c), 2);
  for (int k = 0; k < 3; k++) CHECK(ooze_step(a, 1.0 / 60.0) >= 0 && ooze_step(c, 1.0 / 60.0) >= 0);
  CHECK(hash_of(a) == hash_of(c), "a loaded checkpoint goes on differently");
  ooze_solver_destroy(a);
  ooze_solver_destroy(b);
  ooze_solver_destroy(c);
}
OZ_TEST_MAIN()
