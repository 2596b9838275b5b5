/* A host's fits and fillings: rigid poses, closed meshes, room between particles.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "check.h"
#include "ooze/ooze_surface.h"

static void box(ooze_mesh *m, float size) {
  static const uint32_t t[36] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
  ooze_message why;
  ooze_mesh_default(m);
  CHECK_EQ(ooze_mesh_allocate(m, 8, 12, 0, &why), OOZE_OK);
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) m->positions[3 * i + k] = (i >> k & 1) ? size : 0.0f;
  memcpy(m->triangles, t, sizeof t);
}

OZ_CASE(a_turned_and_moved_set_of_points_is_fitted) {
  float from[30], to[30], error = 1;
  ooze_pose pose;
  ooze_message why;
  const double angle = 2.5, c = cos(angle), s = sin(angle);
  for (int i = 0; i < 10; i++) {
    double x = sin(1.7 * i), y = cos(2.3 * i), z = sin(0.9 * i * i);
    from[3 * i] = (float)x, from[3 * i + 1] = (float)y, from[3 * i + 2] = (float)z;
    to[3 * i] = (float)(c * x + s * z + 5), to[3 * i + 1] = (float)(y - 1),
           to[3 * i + 2] = (float)(-s * x + c * z);
  }
  CHECK_EQ(ooze_pose_fit(from, to, 10, &pose, &error, &why), OOZE_OK);
  CHECK_NEAR((double)error, 0, 2e-6, "single precision at 6 m");
  CHECK_NEAR((double)pose.rotation[1], sin(angle / 2), 1e-6, "about y");
  CHECK_NEAR((double)pose.rotation[3], cos(angle / 2), 1e-6, "about y");
  CHECK_NEAR((double)pose.position[0], 5, 1e-5, "as moved");
  to[0] += 0.1f;
  CHECK_EQ(ooze_pose_fit(from, to, 10, &pose, &error, &why), OOZE_OK);
  CHECK(error > 0.03f, "%g", (double)error);
  /* one point has no rotation */
  CHECK_EQ(ooze_pose_fit(from, from, 1, &pose, &error, &why), OOZE_OK);
  CHECK(pose.rotation[3] == 1.0f && error == 0.0f);
  from[4] = NAN;
  CHECK_EQ(ooze_pose_fit(from, to, 10, &pose, &error, &why), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_pose_fit(from, to, 0, &pose, &error, &why), OOZE_ERROR_ARGUMENT);
}

OZ_CASE(a_box_is_filled_and_a_second_time_has_no_room) {
  ooze_mesh m;
  ooze_fill_desc d;
  ooze_message why;
  float *x = NULL, *y = NULL;
  uint32_t n = 0, again = 0;
  box(&m, 1.0f);
  CHECK_EQ(ooze_mesh_is_closed(&m), 1);
  ooze_fill_desc_default(&d);
  d.separation = 0.1f;
  CHECK_EQ(ooze_fill_mesh(&d, &m, &x, &n, &why), OOZE_OK);
  CHECK_EQ(n, 1000);
  d.occupied = x;
  d.occupied_count = n - 100;
  CHECK_EQ(ooze_fill_mesh(&d, &m, &y, &again, &why), OOZE_OK);
  CHECK_EQ(again, 100);
  uint8_t keep[1000];
  CHECK_EQ(ooze_fill_apart(&d, x, n, keep, &why), OOZE_OK);
  for (int i = 0; i < 1000; i++) CHECK(keep[i] == (i >= 900), "%d", i);
  d.occupied_count = 0;
  CHECK_EQ(ooze_fill_apart(&d, x, n, keep, &why), OOZE_OK);
  for (int i = 0; i < 1000; i++) CHECK(keep[i]);
  d.max_particles = 10;
  ooze_io_free(y);
  CHECK_EQ(ooze_fill_mesh(&d, &m, &y, &again, &why), OOZE_ERROR_LIMIT);
  m.triangle_count = 11;
  CHECK_EQ(ooze_mesh_is_closed(&m), 0);
  m.triangles[5] = 99;
  CHECK_EQ(ooze_mesh_is_closed(&m), -1);
  CHECK_EQ(ooze_fill_mesh(&d, &m, &y, &again, &why), OOZE_ERROR_ARGUMENT);
  d.separation = 0.0f;
  CHECK_EQ(ooze_fill_apart(&d, x, n, keep, &why), OOZE_ERROR_ARGUMENT);
  ooze_io_free(x);
  ooze_mesh_release(&m);
}
OZ_CASE(a_nozzle_is_aimed) {
  static const float towards[6][3] = {{1, 0, 0},  {0, -2, 0}, {0, 3, 0},
                                      {0, 0, -1}, {1, 2, -3}, {-5, 1e-4f, 0}};
  for (int i = 0; i < 6; i++) {
    ooze_pose p;
    ooze_pose_default(&p);
    ooze_pose_aim(towards[i], &p);
    /* q (0 -1 0) q*: minus the second column of the rotation */
    double x = (double)p.rotation[0], y = (double)p.rotation[1], z = (double)p.rotation[2],
           w = (double)p.rotation[3];
    double at[3] = {-2 * (x * y - w * z), -(1 - 2 * (x * x + z * z)), -2 * (y * z + w * x)}, l = 0;
    for (int k = 0; k < 3; k++) l += (double)towards[i][k] * (double)towards[i][k];
    for (int k = 0; k < 3; k++)
      CHECK_NEAR(at[k], (double)towards[i][k] / sqrt(l), 1e-6, "single precision");
  }
}
OZ_TEST_MAIN()
