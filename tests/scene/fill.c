/* Shapes full of particles. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "io/scene_internal.h"

static ooze_message why;

static ooze_solver *fill(const char *fluids, float (**x)[3], uint32_t *count) {
  char text[6000];
  ooze_scene *s = NULL;
  ooze_solver *solver = NULL;
  snprintf(text, sizeof text, "{\"solver\": {\"particle_separation\": 0.01}, %s}", fluids);
  CHECK_EQ(ooze_scene_load_memory("s.json", text, strlen(text), NULL, &s, &why), OOZE_OK);
  CHECK(ooze_scene_build(s, NULL, &solver, &why) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(s);
  *count = ooze_particle_count(solver);
  *x = malloc(*count * sizeof **x);
  CHECK_OK(ooze_attribute_read(solver, OOZE_POSITION, 0, *count, 0, *x), solver);
  return solver;
}

static double nearest_pair(float (*x)[3], uint32_t n) {
  double best = 1e30;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++) {
      double r2 = 0.0;
      for (int k = 0; k < 3; k++) r2 += pow((double)x[i][k] - (double)x[j][k], 2);
      if (r2 < best) best = r2;
    }
  return sqrt(best);
}

OZ_CASE(shapes_hold_their_volume) {
  static const struct {
    const char *fluid;
    double volume;
  } cases[] = {
      {"\"shape\": \"box\", \"size\": [0.1, 0.05, 0.03]", 0.1 * 0.05 * 0.03},
      {"\"shape\": \"sphere\", \"radius\": 0.06", 4.18879 * 0.06 * 0.06 * 0.06},
      {"\"shape\": \"cylinder\", \"radius\": 0.05, \"height\": 0.1", 3.14159 * 0.05 * 0.05 * 0.1},
      {"\"shape\": \"capsule\", \"radius\": 0.04, \"height\": 0.16",
       3.14159 * 0.04 * 0.04 * 0.08 + 4.18879 * 0.04 * 0.04 * 0.04},
      {"\"shape\": \"revolve\", \"profile\": [[0, 0], [0.1, 0], [0, 0.1]]", 3.14159 * 0.1 * 0.1 * 0.1 / 3.0},
      {"\"shape\": \"capsules\", \"capsules\": [[0, 0, 0, 0, 0.08, 0, 0.04]]",
       3.14159 * 0.04 * 0.04 * 0.08 + 4.18879 * 0.04 * 0.04 * 0.04},
      {"\"shape\": \"sphere\", \"radius\": 0.03, \"scale\": 2", 4.18879 * 0.06 * 0.06 * 0.06},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    float(*x)[3];
    uint32_t n;
    snprintf(text, sizeof text, "\"fluids\": {\"a\": {\"material\": \"honey\", \"rotate\": [10, 20, 30], %s}}",
             cases[i].fluid);
    ooze_solver *s = fill(text, &x, &n);
    CHECK_NEAR(n * 1e-6 / cases[i].volume, 1.0, 0.06, "a lattice cuts a curved shape within some per cent");
    CHECK_NEAR(nearest_pair(x, n), 0.01, 1e-6, "the separation, in floats");
    free(x);
    ooze_solver_destroy(s);
  }
}

OZ_CASE(a_mesh_is_filled_as_its_shape) {
  /* a cube of 8 x 8 x 8 cells, as two overlapping boxes would be: winding, not parity */
  const char *obj =
      "v 0 0 0\nv 0.08 0 0\nv 0.08 0.08 0\nv 0 0.08 0\nv 0 0 0.08\nv 0.08 0 0.08\nv 0.08 0.08 0.08\nv 0 0.08 0.08\n"
      "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
      "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
  FILE *f = fopen("fill_cube.obj", "w");
  CHECK(f != NULL);
  fputs(obj, f);
  fclose(f);
  float(*x)[3];
  uint32_t n;
  ooze_solver *s =
      fill("\"fluids\": {\"a\": {\"material\": \"honey\", \"shape\": \"mesh\", \"file\": \"fill_cube.obj\"}}", &x, &n);
  remove("fill_cube.obj");
  CHECK_EQ(n, 512);
  CHECK_NEAR(x[0][0], 0.005, 1e-6, "centred in its bounds");
  free(x);
  ooze_solver_destroy(s);
}

OZ_CASE(fluids_do_not_overlap_each_other_or_colliders) {
  float(*x)[3];
  uint32_t n;
  ooze_solver *s = fill("\"fluids\": {\"a\": {\"material\": \"honey\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]},"
                        "\"b\": {\"material\": \"water\", \"shape\": \"sphere\", \"radius\": 0.06, \"position\": "
                        "[0.05, 0.013, 0.004], \"rotate\": [7, 8, 9]},"
                        "\"c\": {\"material\": \"water\", \"shape\": \"box\", \"size\": [0.04, 0.04, 0.04], \"count\": "
                        "[2, 1, 1], \"step\": [0.031, 0, 0], "
                        "\"position\": [0, 0.2, 0]}},"
                        "\"colliders\": {\"floor\": {\"shape\": \"plane\", \"position\": [0, -0.02, 0]}}",
                        &x, &n);
  CHECK(nearest_pair(x, n) >= 0.0089, "nearest pair %g", nearest_pair(x, n));
  uint32_t solid = 0;
  for (uint32_t i = 0; i < n; i++) solid += x[i][1] < -0.02f;
  CHECK_EQ(solid, 0);
  CHECK(n > 1000);
  free(x);
  ooze_solver_destroy(s);
}

OZ_CASE(jitter_is_seeded) {
  float(*x[3])[3];
  uint32_t n[3];
  const char *const seeds[] = {"1", "1", "2"};
  ooze_solver *s[3];
  for (int i = 0; i < 3; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "\"fluids\": {\"a\": {\"material\": \"honey\", \"shape\": \"box\", \"size\": [0.05, 0.05, 0.05], "
             "\"jitter\": 0.2, \"seed\": %s}}",
             seeds[i]);
    s[i] = fill(text, &x[i], &n[i]);
    CHECK_EQ(n[i], 125);
  }
  CHECK(memcmp(x[0], x[1], sizeof *x[0] * n[0]) == 0);
  CHECK(memcmp(x[0], x[2], sizeof *x[0] * n[0]) != 0);
  CHECK(nearest_pair(x[0], n[0]) < 0.0099);
  for (int i = 0; i < 3; i++) {
    free(x[i]);
    ooze_solver_destroy(s[i]);
  }
}

OZ_CASE(bricks_follow_the_shape) {
  float profile[3][2] = {{0, 0}, {0.1f, 0}, {0, 0.1f}};
  oz_shape shape;
  ooze_sdf sdf;
  memset(&shape, 0, sizeof shape);
  shape.kind = OZ_SHAPE_REVOLVE;
  shape.profile = profile;
  shape.profile_count = 3;
  CHECK_EQ(oz_shape_bricks(&shape, "cone", 0.01f, &sdf, &why), OOZE_OK);
  CHECK(sdf.brick_count > 8);
  for (uint32_t b = 0; b < sdf.brick_count; b++)
    for (int i = 0; i < 512; i++) {
      double x[3] = {0.01 * (sdf.bricks[b].origin[0] + i / 64), 0.01 * (sdf.bricks[b].origin[1] + i / 8 % 8),
                     0.01 * (sdf.bricks[b].origin[2] + i % 8)};
      CHECK_NEAR(sdf.bricks[b].values[i], oz_shape_distance(&shape, x), 1e-6, "the same formula, in float");
    }
  double middle[3] = {0, 0.02, 0}, tip[3] = {0, 0.2, 0};
  CHECK_NEAR(oz_shape_distance(&shape, middle), -0.02, 1e-6, "the base is nearest");
  CHECK_NEAR(oz_shape_distance(&shape, tip), 0.1, 1e-6, "above the tip; the axis is no surface");
  ooze_sdf_free(&sdf);
}
OZ_TEST_MAIN()
