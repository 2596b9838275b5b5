/* Triangle meshes there and back, and .obj and .ply files of others. SPDX-License-Identifier:
 * Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "io_check.h"
#include "ooze/ooze_surface.h"

OZ_TEST_MAIN()

static ooze_mesh tetrahedron(uint32_t with) {
  static const float p[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.1f};
  static const uint32_t t[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_GOOD(ooze_mesh_allocate(&mesh, 4, 4, with, why));
  memcpy(mesh.positions, p, sizeof p);
  memcpy(mesh.triangles, t, sizeof t);
  for (int i = 0; i < 12; i++) {
    if (mesh.normals) mesh.normals[i] = (float)i / 7.0f;
    if (mesh.velocities) mesh.velocities[i] = -(float)i / 3.0f;
    if (mesh.friction && i < 4) mesh.friction[i] = 0.25f * (float)i;
    if (mesh.stick && i < 4) mesh.stick[i] = 7.0f * (float)i;
  }
  return mesh;
}

OZ_CASE(a_mesh_comes_back_in_every_format) {
  static const char *const names[] = {"m.ply", "m.obj", "m.bgeo", "m.geo", "m.bgeo.sc"};
  for (int i = 0; i < 5; i++)
    for (uint32_t with = 0; with < 16; with++) {
      ooze_mesh a = tetrahedron(with), b;
      ooze_mesh_default(&b);
      CHECK_GOOD(ooze_mesh_write(scratch_path(names[i]), &a, NULL, why));
      CHECK_GOOD(ooze_mesh_read(scratch_path(names[i]), NULL, &b, why));
      CHECK_EQ(b.point_count, 4);
      CHECK_EQ(b.triangle_count, 4);
      CHECK(memcmp(a.positions, b.positions, 48) == 0, "%s", names[i]);
      CHECK(memcmp(a.triangles, b.triangles, 48) == 0, "%s", names[i]);
      if (i != 1 && a.normals)
        CHECK(b.normals && memcmp(a.normals, b.normals, 48) == 0, "%s", names[i]);
      if (i != 1 && a.velocities)
        CHECK(b.velocities && memcmp(a.velocities, b.velocities, 48) == 0, "%s", names[i]);
      if (i != 1)
        CHECK(!a.friction == !b.friction &&
                  (!a.friction || memcmp(a.friction, b.friction, 16) == 0),
              "%s", names[i]);
      if (i != 1)
        CHECK(!a.stick == !b.stick && (!a.stick || memcmp(a.stick, b.stick, 16) == 0), "%s",
              names[i]);
      ooze_mesh_release(&a);
      ooze_mesh_release(&b);
    }
}

OZ_CASE(an_obj_tells_its_frame_and_time) {
  ooze_mesh a = tetrahedron(0), b;
  void *bytes;
  size_t count;
  ooze_mesh_default(&b);
  CHECK_GOOD(ooze_mesh_detail_set(&a, "frame", 12.0, why));
  CHECK_GOOD(ooze_mesh_detail_set(&a, "time", 0.5, why));
  CHECK_GOOD(ooze_mesh_write(scratch_path("f.obj"), &a, NULL, why));
  CHECK_GOOD(ooze_file_read(scratch_path("f.obj"), 1 << 20, &bytes, &count, why));
  char head[200] = "";
  memcpy(head, bytes, count < sizeof head ? count : sizeof head - 1);
  CHECK(strstr(head, "\n# ooze detail frame 12\n# ooze detail time 0.5\nv ") != NULL, "%s", head);
  CHECK_GOOD(ooze_mesh_read(scratch_path("f.obj"), NULL, &b, why));
  CHECK_EQ(b.point_count, 4);
  ooze_io_free(bytes);
  ooze_mesh_release(&a);
  ooze_mesh_release(&b);
}

/* A strip of more points and triangles than are written at a time. */
OZ_CASE(a_large_mesh_has_the_same_bytes_with_any_number_of_threads) {
  const uint32_t points = 300000, triangles = points - 2;
  ooze_mesh a, b;
  void *bytes[2], *cd;
  size_t count[2];
  ooze_mesh_default(&a);
  ooze_mesh_default(&b);
  CHECK_GOOD(ooze_mesh_allocate(&a, points, triangles, OOZE_MESH_NORMALS, why));
  CHECK_GOOD(ooze_mesh_channel_add(&a, "Cd", OOZE_FLOAT32, 3, OOZE_MEANING_NUMBER, &cd, why));
  for (uint32_t i = 0; i < 3 * points; i++) {
    a.positions[i] = (float)i / 3.0f;
    a.normals[i] = (float)(i % 7);
    ((float *)cd)[i] = (float)(i % 100) / 100.0f;
  }
  for (uint32_t i = 0; i < 3 * triangles; i++) a.triangles[i] = i / 3 + i % 3;
  for (uint32_t k = 0; k < 2; k++) {
    ooze_write_options options;
    ooze_write_options_default(&options);
    options.threads = 1 + 2 * k;
    options.sync = 0;
    CHECK_GOOD(ooze_mesh_write(scratch_path("large.ply"), &a, &options, why));
    CHECK_GOOD(ooze_file_read(scratch_path("large.ply"), 1 << 30, &bytes[k], &count[k], why));
  }
  CHECK(count[0] == count[1] && memcmp(bytes[0], bytes[1], count[0]) == 0, "threads show");
  CHECK_GOOD(ooze_mesh_read(scratch_path("large.ply"), NULL, &b, why));
  CHECK_EQ(b.point_count, points);
  CHECK_EQ(b.triangle_count, triangles);
  CHECK(memcmp(a.positions, b.positions, 12 * (size_t)points) == 0, "positions");
  CHECK(memcmp(a.normals, b.normals, 12 * (size_t)points) == 0, "normals");
  CHECK(memcmp(a.triangles, b.triangles, 12 * (size_t)triangles) == 0, "triangles");
  for (int k = 0; k < 2; k++) ooze_io_free(bytes[k]);
  ooze_mesh_release(&a);
  ooze_mesh_release(&b);
}

OZ_CASE(points_on_a_mesh_have_what_its_corners_have) {
  ooze_mesh m = tetrahedron(OOZE_MESH_FRICTION);
  ooze_mesh_samples s;
  float x[4096][3], f[4096];
  ooze_mesh_samples_default(&s);
  CHECK_GOOD(ooze_mesh_sample(&m, 0.05, 0, &s, why));
  CHECK(s.count > 100 && s.count < 4096, "%u", s.count);
  /* linear */
  for (int i = 0; i < 4; i++)
    m.friction[i] = 0.2f + 0.3f * m.positions[3 * i] + 0.1f * m.positions[3 * i + 1];
  CHECK_EQ(ooze_mesh_samples_place(&s, m.positions, m.triangles, x[0]), OOZE_OK);
  CHECK_EQ(ooze_mesh_samples_values(&s, m.friction, m.triangles, f), OOZE_OK);
  for (uint32_t i = 0; i < s.count; i++)
    CHECK_NEAR(f[i], 0.2 + 0.3 * (double)x[i][0] + 0.1 * (double)x[i][1], 1e-5,
               "linear between corners");
  ooze_mesh_samples_release(&s);
  ooze_mesh_release(&m);
}

/* Against the search of all triangles' samples: none is nearer than the place that was found. */
OZ_CASE(the_closest_place_is_closer_than_any_sample) {
  ooze_mesh m = tetrahedron(0);
  ooze_mesh_samples all, near;
  static float x[4096][3];
  float points[50][3], at[50][3];
  uint32_t seed = 1;
  for (int i = 0; i < 150; i++) {
    seed = seed * 1664525u + 1013904223u;
    points[i / 3][i % 3] = -1.0f + 3.0f * (float)(seed >> 8) / (float)(1 << 24);
  }
  ooze_mesh_samples_default(&all);
  ooze_mesh_samples_default(&near);
  CHECK_GOOD(ooze_mesh_sample(&m, 0.03, 0, &all, why));
  CHECK(all.count > 500 && all.count < 4096, "%u", all.count);
  CHECK_EQ(ooze_mesh_samples_place(&all, m.positions, m.triangles, x[0]), OOZE_OK);
  CHECK_GOOD(ooze_mesh_closest(&m, points[0], 50, &near, why));
  CHECK_EQ(near.count, 50);
  CHECK_EQ(ooze_mesh_samples_place(&near, m.positions, m.triangles, at[0]), OOZE_OK);
  for (int i = 0; i < 50; i++) {
    double own = 0, best = 1e9;
    for (int k = 0; k < 3; k++) own += pow((double)at[i][k] - (double)points[i][k], 2);
    for (uint32_t j = 0; j < all.count; j++) {
      double r2 = 0;
      for (int k = 0; k < 3; k++) r2 += pow((double)x[j][k] - (double)points[i][k], 2);
      best = r2 < best ? r2 : best;
    }
    CHECK(sqrt(own) <= sqrt(best) + 1e-6, "point %d: %g, a sample is at %g", i, sqrt(own),
          sqrt(best));
    CHECK(sqrt(own) >= sqrt(best) - 0.03, "point %d: %g, nothing is nearer than %g", i, sqrt(own),
          sqrt(best));
  }
  ooze_mesh_samples_release(&near);
  m.triangles[2] = 99;
  CHECK_EQ(ooze_mesh_closest(&m, points[0], 50, &near, NULL), OOZE_ERROR_ARGUMENT);
  ooze_mesh_samples_release(&all);
  ooze_mesh_release(&m);
}

OZ_CASE(terrain_is_a_closed_solid_under_its_heights) {
  float places[5][4][3]; /* 5 rows of 4, one place a metre higher */
  ooze_mesh m;
  double volume = 0;
  ooze_mesh_default(&m);
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 4; c++) {
      places[r][c][0] = (float)c;
      places[r][c][1] = 2.0f;
      places[r][c][2] = (float)r;
    }
  places[2][1][1] = 3.0f;
  CHECK_GOOD(ooze_mesh_terrain(4, 5, places[0][0], 0.5f, &m, why));
  CHECK_EQ(m.point_count, 40);
  for (uint64_t t = 0; t < m.triangle_count; t++) { /* by the divergence theorem */
    const float *a = m.positions + 3 * m.triangles[3 * t],
                *b = m.positions + 3 * m.triangles[3 * t + 1],
                *c = m.positions + 3 * m.triangles[3 * t + 2];
    for (int k = 0; k < 3; k++) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      volume += (double)a[k] * ((double)b[u] * (double)c[v] - (double)b[v] * (double)c[u]) / 6.0;
    }
  }
  /* 3 by 4 m, 0.5 m deep, and six triangles of half a square metre that meet at the peak */
  CHECK_NEAR(volume, 12 * 0.5 + 6 * 0.5 / 3, 1e-5, "closed, and seen from outside");
  CHECK_EQ(ooze_mesh_is_closed(&m), 1);
  ooze_mesh_release(&m);
  CHECK_EQ(ooze_mesh_terrain(1, 5, places[0][0], 0.5f, &m, NULL), OOZE_ERROR_ARGUMENT);
}

OZ_CASE(polygons_become_fans_and_negative_indices_count_back) {
  static const char obj[] = "# a quad and a triangle\r\nmtllib x.mtl\nv 0 0 0\nv 1 0 0\r\nv 1 1 "
                            "0\nv 0 1 0\nvn 0 0 1\nvt 0 0\n"
                            "f 1/1/1 2//1 3/1 4\nv 0 0 5e-1\nf -1 \\\n -2 1 # the last one\n";
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_GOOD(ooze_mesh_read_memory("a.obj", obj, sizeof obj - 1, NULL, &mesh, why));
  static const uint32_t expected[9] = {0, 1, 2, 0, 2, 3, 4, 3, 0};
  CHECK_EQ(mesh.point_count, 5);
  CHECK_EQ(mesh.triangle_count, 3);
  CHECK(memcmp(mesh.triangles, expected, sizeof expected) == 0);
  CHECK(mesh.positions[14] == 0.5f);
  ooze_mesh_release(&mesh);
}

OZ_CASE(ply_of_others_is_read) {
  static const char ascii[] =
      "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty double x\nproperty "
      "double y\n"
      "property double z\nproperty uchar red\nelement face 1\nproperty uchar flag\n"
      "property list uchar uint vertex_index\nend_header\n0 0 0 255\n1 0 0 1\n1 1 0 2\n0 1 .5 3\n7 "
      "4 0 1 2 3\n";
  ooze_mesh mesh;
  ooze_points *points = NULL;
  ooze_points_attribute red;
  ooze_mesh_default(&mesh);
  CHECK_GOOD(ooze_mesh_read_memory("a.ply", ascii, sizeof ascii - 1, NULL, &mesh, why));
  CHECK_EQ(mesh.triangle_count, 2);
  CHECK(mesh.positions[11] == 0.5f && mesh.triangles[5] == 3);
  ooze_mesh_release(&mesh);
  CHECK_GOOD(ooze_points_read_memory("a.ply", ascii, sizeof ascii - 1, NULL, &points, why));
  ooze_points_attribute_default(&red);
  CHECK(ooze_points_find(points, "red", &red) == OOZE_OK && red.type == OOZE_INT32 &&
        ((int32_t *)red.data)[0] == 255);
  ooze_points_destroy(points);
}

OZ_CASE(big_endian_ply_is_read) {
  char file[512];
  int used = snprintf(
      file, sizeof file,
      "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
      "property float z\nproperty uint id_lo\nproperty int id_hi\nend_header\n");
  static const unsigned char row[20] = {0x3f, 0x80, 0,    0, 0xc0, 0, 0, 0, 0x40, 0x40,
                                        0,    0,    0x80, 0, 0,    5, 0, 0, 0,    9};
  memcpy(file + used, row, sizeof row);
  ooze_points *points = NULL;
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  CHECK_GOOD(ooze_points_read_memory("b.ply", file, (size_t)used + 20, NULL, &points, why));
  CHECK(ooze_points_find(points, "P", &a) == OOZE_OK);
  CHECK(((float *)a.data)[0] == 1.0f && ((float *)a.data)[1] == -2.0f &&
        ((float *)a.data)[2] == 3.0f);
  CHECK(ooze_points_find(points, "id", &a) == OOZE_OK && a.type == OOZE_INT64);
  CHECK_EQ(((int64_t *)a.data)[0], (INT64_C(9) << 32) + 0x80000005);
  ooze_points_destroy(points);
}

static void refused(const char *name, const char *text, ooze_result result, const char *words) {
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_REFUSED(ooze_mesh_read_memory(name, text, strlen(text), NULL, &mesh, why), result, words);
  CHECK(mesh.positions == NULL && mesh.triangles == NULL);
}

OZ_CASE(bad_meshes_are_refused_with_the_place) {
  refused("a.obj", "v 0 0 0\nv 0 0\n", OOZE_ERROR_FORMAT, "line 2");
  refused("a.obj", "v 0 0 0\nf 1 1 2\n", OOZE_ERROR_FORMAT, "line 2");
  refused("a.obj", "v 0 0 0\nf 1 1 -2\n", OOZE_ERROR_FORMAT, "line 2");
  refused("a.obj", "v 0 0 0\nf 1 1\n", OOZE_ERROR_FORMAT, "three corners");
  refused("a.obj", "v 0 0 1e999\n", OOZE_ERROR_FORMAT, "finite");
  refused("a.obj", "v 0 nan 1\n", OOZE_ERROR_FORMAT, "finite");
  refused("a.obj", "solid cube\n", OOZE_ERROR_FORMAT, "no .obj");
  refused("a.ply", "solid cube\n", OOZE_ERROR_FORMAT, "no .ply");
  refused("a.ply",
          "ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nproperty float "
          "y\nproperty float "
          "z\nend_header\n",
          OOZE_ERROR_FORMAT, "cannot be in the rest");
  refused("a.ply",
          "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
          "float z\nelement face 1\n"
          "property list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n",
          OOZE_ERROR_FORMAT, "corner 1");
  refused("a.stl", "", OOZE_ERROR_UNSUPPORTED, ".obj");
}

OZ_CASE(a_mesh_with_an_index_out_of_range_is_not_written) {
  ooze_mesh mesh = tetrahedron(0);
  mesh.triangles[7] = 4;
  CHECK_REFUSED(ooze_mesh_write(scratch_path("bad.ply"), &mesh, NULL, why), OOZE_ERROR_ARGUMENT,
                "triangle 2");
  ooze_mesh_release(&mesh);
}
