/* Pictures of scenes: bodies as they are, edges between fluids, glow. SPDX-License-Identifier:
 * Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "scene/scene_internal.h"
#include "scratch.h"

#include <math.h>

RUN_IN_SCRATCH()

enum { SIDE = 120 };
static ooze_message why;

/* The scene's points at its beginning. */
static ooze_scene *open_scene(const char *text, ooze_points **points) {
  ooze_scene *s = NULL;
  ooze_solver *solver = NULL;
  ooze_solver_desc machine;
  ooze_solver_desc_default(&machine);
  machine.backend = OOZE_BACKEND_CPU;
  machine.threads = 1;
  FILE *f = fopen("picture_test.json", "w");
  CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "written");
  CHECK(ooze_scene_load("picture_test.json", NULL, &s, &why) == OOZE_OK, "%s", why.text);
  CHECK(ooze_scene_build(s, &machine, &solver, &why) == OOZE_OK, "%s", why.text);
  CHECK(ooze_points_from_solver(solver, points, &why) == OOZE_OK, "%s", why.text);
  ooze_solver_destroy(solver);
  remove("picture_test.json");
  return s;
}

static ooze_image draw(const ooze_scene *s, const ooze_points *points, uint32_t style) {
  ooze_picture_options o;
  ooze_image image;
  ooze_picture_options_default(&o);
  ooze_image_default(&image);
  o.width = o.height = SIDE;
  o.threads = 1;
  o.style = style;
  CHECK(ooze_scene_picture(s, 1, points, NULL, &o, &image, &why) == OOZE_OK, "%s", why.text);
  return image;
}

static float *floats_of(ooze_points *points, const char *name) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  CHECK(ooze_points_find(points, name, &a) == OOZE_OK, "the points have %s", name);
  return (float *)(uintptr_t)a.data;
}

/* The pixel that shows the place (x, y) of the plane z = `depth`, seen from (0, 0, 100) with `view`
 * metres from side to side at z = 0. */
static const uint8_t *at(const ooze_image *image, double x, double y, double depth, double view) {
  double scale = 100.0 / (100.0 - depth) / view;
  int i = (int)((0.5 + x * scale) * SIDE), j = (int)((0.5 - y * scale) * SIDE);
  return image->rgb + 3 * (j * SIDE + i);
}
static int is_red(const uint8_t *p) { return p[0] > 2 * p[1] && p[0] > 60; }

/* 2 m wide at the origin */
#define CAMERA \
  "\"picture\": {\"eye\": [0, 0, 100], \"target\": [0, 0, 0], \"field_of_view\": 1.1458776}"

OZ_CASE(a_rigid_body_is_drawn_with_its_edges_where_its_particles_are) {
  ooze_points *points = NULL;
  ooze_scene *s = open_scene("{\"solver\": {\"particle_separation\": 0.2}, \"materials\": "
                             "{\"wood\": {\"colour\": [0.8, 0.05, 0.05]}},"
                             "\"bodies\": {\"block\": {\"material\": \"wood\", \"shape\": \"box\", "
                             "\"size\": [0.8, 0.8, 0.8]}},"
                             "\"output\": {\"frames\": [1, 2]}, " CAMERA "}",
                             &points);
  const double c = 0.4, off[2] = {0.25, -0.2};
  float *x = floats_of(points, "P");
  /* an eighth of a turn about z, and away */
  for (uint64_t i = 0; i < ooze_points_count(points); i++) {
    double a = (double)x[3 * i], b = (double)x[3 * i + 1];
    x[3 * i] = (float)(sqrt(0.5) * (a - b) + off[0]);
    x[3 * i + 1] = (float)(sqrt(0.5) * (a + b) + off[1]);
  }
  ooze_image image = draw(s, points, OOZE_PICTURE_SURFACE),
             balls = draw(s, points, OOZE_PICTURE_SPHERES);
  const double tip = c * sqrt(2.0);
  for (int k = 0; k < 4; k++) { /* the corners now stand on the axes through its middle */
    const double u[2] = {k == 0 ? 1.0 : k == 1 ? -1.0 : 0.0, k == 2 ? 1.0 : k == 3 ? -1.0 : 0.0};
    /* the outermost ball ends 0.042 m before the tip */
    const double in = tip - 0.025, out = tip + 0.05;
    CHECK(is_red(at(&image, off[0] + in * u[0], off[1] + in * u[1], 0.4, 2.0)),
          "corner %d is there", k);
    CHECK(!is_red(at(&image, off[0] + out * u[0], off[1] + out * u[1], 0.4, 2.0)), "and ends, %d",
          k);
    CHECK(!is_red(at(&balls, off[0] + in * u[0], off[1] + in * u[1], 0.4, 2.0)),
          "particles do not reach it, %d", k);
  }
  ooze_image_free(&image);
  ooze_image_free(&balls);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

OZ_CASE(bodies_do_not_melt_into_the_fluid_and_fluids_meet_at_an_edge) {
  static const char *const halves[] = {
      "\"fluids\": {\"a\": {\"material\": \"red\", \"shape\": \"box\", \"size\": [0.8, 1.2, 0.5], "
      "\"position\": [-0.4, 0, 0]},"
      "\"b\": {\"material\": \"blue\", \"shape\": \"box\", \"size\": [0.8, 1.2, 0.5], "
      "\"position\": [0.4, 0, 0]}}",
      "\"fluids\": {\"a\": {\"material\": \"red\", \"shape\": \"box\", \"size\": [0.8, 1.2, 0.5], "
      "\"position\": [-0.4, 0, 0]}},"
      "\"bodies\": {\"b\": {\"kind\": \"soft\", \"material\": \"blue\", \"shape\": \"box\", "
      "\"size\": [0.8, 1.2, 0.5], \"position\": [0.4, 0, 0]}}"};
  for (int k = 0; k < 2; k++) {
    char text[1200];
    ooze_points *points = NULL;
    snprintf(
        text, sizeof text,
        "{\"solver\": {\"particle_separation\": 0.1}, \"materials\": {\"red\": {\"colour\": [0.8, "
        "0.05, 0.05]}, "
        "\"blue\": {\"colour\": [0.05, 0.05, 0.8]}}, %s, \"output\": {\"frames\": [1, 2]}, " CAMERA
        "}",
        halves[k]);
    ooze_scene *s = open_scene(text, &points);
    ooze_image image = draw(s, points, OOZE_PICTURE_SURFACE);
    int red = 0, blue = 0, between = 0;
    for (double x = -0.6; x < 0.6; x += 2.0 / SIDE) {
      const uint8_t *p = at(&image, x, 0.0, 0.25, 2.0);
      if (p[0] > 3 * p[2])
        red++;
      else if (p[2] > 3 * p[0])
        blue++;
      else
        between++;
    }
    /* a separation is six pixels wide; the mean over 2.5 of them, which was taken before, made the
     * edge 12 wide */
    CHECK(red >= 30 && blue >= 30 && between <= 6, "scene %d: %d red, %d blue, %d between", k, red,
          blue, between);
    ooze_image_free(&image);
    ooze_points_destroy(points);
    ooze_scene_destroy(s);
  }
}

OZ_CASE(what_stands_in_clear_fluid_is_seen_and_is_no_bubble) {
  ooze_points *points = NULL;
  ooze_scene *s =
      open_scene("{\"solver\": {\"particle_separation\": 0.1}, \"materials\": {\"water\": "
                 "{\"colour\": [0.8, 0.9, 1], \"clarity\": 0.9, \"depth\": 5}},"
                 "\"fluids\": {\"a\": {\"material\": \"water\", \"shape\": \"box\", \"size\": "
                 "[1.6, 1.6, 1.6]}},"
                 "\"colliders\": {\"ball\": {\"shape\": \"sphere\", \"radius\": 0.4, \"colour\": "
                 "[0.9, 0.05, 0.05]}},"
                 "\"output\": {\"frames\": [1, 2]}, " CAMERA "}",
                 &points);
  ooze_image image = draw(s, points, OOZE_PICTURE_SURFACE);
  int red = 0, all = 0;
  for (double x = -0.3; x <= 0.3; x += 0.05)
    for (double y = -0.3; y <= 0.3; y += 0.05)
      if (x * x + y * y < 0.09) { /* within three quarters of its outline */
        const uint8_t *p = at(&image, x, y, 0.0, 2.0);
        all++;
        red += p[0] > p[1] + 30;
      }
  CHECK(red > 9 * all / 10,
        "%d of %d places show the ball; 0 where the gap around it was taken for air", red, all);
  ooze_image_free(&image);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

OZ_CASE(lava_glows_by_its_temperature) {
  ooze_points *points = NULL;
  ooze_scene *s = open_scene("{\"solver\": {\"particle_separation\": 0.15}, \"materials\": "
                             "{\"rock\": {\"preset\": \"lava\"}},"
                             "\"fluids\": {\"a\": {\"material\": \"rock\", \"shape\": \"box\", "
                             "\"size\": [1.5, 0.8, 0.5]}},"
                             "\"output\": {\"frames\": [1, 2]}, " CAMERA "}",
                             &points);
  float *x = floats_of(points, "P"), *t = floats_of(points, "temperature");
  for (uint64_t i = 0; i < ooze_points_count(points); i++)
    t[i] = x[3 * i] < -0.25f ? 700.0f : x[3 * i] < 0.25f ? 1050.0f : 1450.0f;
  ooze_image image = draw(s, points, OOZE_PICTURE_SURFACE);
  const uint8_t *cold = at(&image, -0.55, 0.0, 0.25, 2.0), *warm = at(&image, 0.0, 0.0, 0.25, 2.0),
                *hot = at(&image, 0.55, 0.0, 0.25, 2.0);
  CHECK(cold[0] < 90 && cold[0] < cold[1] + 30, "crust is dark and grey: %d %d %d", cold[0],
        cold[1], cold[2]);
  CHECK(warm[0] > cold[0] + 60 && warm[0] > 2 * warm[1], "then red: %d %d %d", warm[0], warm[1],
        warm[2]);
  CHECK(hot[0] >= warm[0] && hot[1] > warm[1] + 40, "then yellow: %d %d %d", hot[0], hot[1],
        hot[2]);
  ooze_image_free(&image);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

/* Points of a block, and the same after half of them rose and all sped up: the range and the camera
 * of the one are not those of the other. */
OZ_CASE(pictures_of_one_fit_have_one_camera_one_floor_and_one_range) {
  ooze_points *points = NULL;
  ooze_scene *s =
      open_scene("{\"solver\": {\"particle_separation\": 0.1}, \"materials\": {\"m\": {}},"
                 "\"fluids\": {\"a\": {\"material\": \"m\", \"shape\": \"box\", \"size\": "
                 "[0.4, 0.4, 0.4], \"velocity\": [1, 0, 0]}}, \"output\": {\"frames\": [1, 2]}}",
                 &points);
  ooze_picture_options alone, shared;
  ooze_image image[2][2]; /* with the fit or without, frame */
  ooze_picture_options_default(&alone);
  alone.width = alone.height = SIDE;
  alone.style = OOZE_PICTURE_SPHERES;
  alone.colour_by = "speed";
  alone.threads = 1;
  shared = alone;
  float *x = floats_of(points, "P"), *v = floats_of(points, "v");
  const uint64_t count = ooze_points_count(points);
  for (int pass = 0; pass < 2; pass++)
    for (int frame = 0; frame < 2; frame++) {
      for (uint64_t i = 0; i < count; i++) {
        x[3 * i + 1] += i % 2 ? (frame ? 1.0f : pass ? -1.0f : 0.0f) : 0.0f;
        v[3 * i] = frame ? 3.0f : 1.0f;
      }
      ooze_image_default(&image[pass][frame]);
      if (!pass)
        CHECK(ooze_scene_picture_fit(s, 1, points, &shared, &why) == OOZE_OK, "%s", why.text);
      CHECK(ooze_scene_picture(s, 1, points, NULL, pass ? &shared : &alone, &image[pass][frame],
                               &why) == OOZE_OK,
            "%s", why.text);
    }
  CHECK_NEAR(shared.fit_bounds[1], -0.2, 0.011, "half of the block; a ball ends at it");
  CHECK_NEAR(shared.fit_bounds[4], 1.2, 0.011, "half of the block, 1 m higher");
  CHECK_NEAR(shared.fit_range[0], 1.0, 1e-6, "the slow frame");
  CHECK_NEAR(shared.fit_range[1], 3.0, 1e-6, "the fast frame");
  int differ[2] = {0, 0}; /* of the floor in front and to the left, where no shadow falls */
  for (int pass = 0; pass < 2; pass++)
    for (int y = SIDE - SIDE / 10; y < SIDE; y++)
      for (int i = 0; i < 3 * SIDE / 4; i++) {
        const uint8_t *a = image[pass][0].rgb, *b = image[pass][1].rgb;
        const int k = 3 * SIDE * y + i;
        differ[pass] += abs(a[k] - b[k]) > 6;
      }
  CHECK(differ[0] > 0, "each by itself, the floor changes");
  CHECK(differ[1] == 0, "%d of the floor's values changed", differ[1]);
  for (int k = 0; k < 4; k++) ooze_image_free(&image[k / 2][k % 2]);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

/* Of two clear blocks one moves away: the other keeps its tint by the size that is fitted. */
OZ_CASE(pictures_of_one_fit_have_one_tint) {
  ooze_points *points = NULL;
  ooze_scene *s = open_scene(
      "{\"solver\": {\"particle_separation\": 0.1}, \"picture\": {\"eye\": [0, 0, 100], "
      "\"target\": "
      "[0, 0, 0], \"field_of_view\": 4}, \"materials\": {\"m\": {\"colour\": [0.9, 0.5, 0.1], "
      "\"clarity\": 0.9}}, \"fluids\": {\"a\": {\"material\": \"m\", \"shape\": \"box\", \"size\": "
      "[0.6, 0.6, 0.2], \"count\": [2, 1, 1], \"step\": [1, 1, 1], \"position\": [-1, 0, 0]}}, "
      "\"output\": {\"frames\": [1, 2]}}",
      &points);
  const double view = 200.0 * tan(2.0 * 3.14159265 / 180.0);
  ooze_picture_options options[2]; /* alone, shared */
  uint8_t tint[2][2][3];
  float *x = floats_of(points, "P");
  for (int k = 0; k < 2; k++) {
    ooze_picture_options_default(&options[k]);
    options[k].width = options[k].height = SIDE;
    options[k].threads = 1;
  }
  for (int pass = 0; pass < 2; pass++)
    for (int frame = 0; frame < 2; frame++) {
      for (uint64_t i = 0; i < ooze_points_count(points); i++)
        if (x[3 * i] > -0.5f) x[3 * i] += frame ? 2.5f : pass ? -2.5f : 0.0f;
      if (!pass)
        CHECK(ooze_scene_picture_fit(s, 1, points, &options[1], &why) == OOZE_OK, "%s", why.text);
      for (int k = 0; k < 2 && pass; k++) {
        ooze_image image;
        ooze_image_default(&image);
        CHECK(ooze_scene_picture(s, 1, points, NULL, &options[k], &image, &why) == OOZE_OK, "%s",
              why.text);
        memcpy(tint[k][frame], at(&image, -1.0, 0.0, 0.1, view), 3);
        ooze_image_free(&image);
      }
    }
  CHECK_NEAR(options[1].fit_size, sqrt(4.1 * 4.1 + 0.6 * 0.6 + 0.2 * 0.2), 0.05, "both");
  CHECK(abs(tint[0][0][2] - tint[0][1][2]) > 8, "each by itself, blue is %d and then %d",
        tint[0][0][2], tint[0][1][2]);
  for (int k = 0; k < 3; k++)
    CHECK(abs(tint[1][0][k] - tint[1][1][k]) <= 2, "colour %d is %d and then %d", k, tint[1][0][k],
          tint[1][1][k]);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

/* Frames that are not there yet: a stream reaches the floor, and a wall goes its way. */
OZ_CASE(the_frame_of_a_run_is_expected_from_its_scene) {
  ooze_points *points = NULL;
  ooze_scene *s = open_scene(
      "{\"solver\": {\"particle_separation\": 0.05}, \"picture\": {\"colour_by\": \"speed\"}, "
      "\"materials\": {\"m\": {}}, \"emitters\": {\"e\": {\"material\": \"m\", \"radius\": 0.1, "
      "\"speed\": 1, \"position\": [0, 2, 0]}}, \"colliders\": {\"floor\": {\"shape\": \"plane\"}, "
      "\"hand\": {\"shape\": \"sphere\", \"radius\": 0.1, \"position\": {\"keys\": [[0, [0, 1, "
      "0]], "
      "[1, [3, 1, 0]]]}}}, \"output\": {\"frames\": [1, 25], \"fps\": 24}}",
      &points);
  ooze_picture_options fit, again;
  ooze_picture_options_default(&fit);
  ooze_picture_options_default(&again);
  CHECK(ooze_scene_picture_expect(s, &fit, &why) == OOZE_OK, "%s", why.text);
  CHECK(ooze_scene_picture_expect(s, &again, &why) == OOZE_OK, "%s", why.text);
  CHECK(memcmp(&fit, &again, sizeof fit) == 0, "the same scene is expected to be the same");
  CHECK_NEAR(fit.fit_bounds[1], 0.0, 0.05, "the floor");
  CHECK_NEAR(fit.fit_bounds[4], 2.0, 0.05, "the mouth");
  CHECK_NEAR(fit.fit_bounds[3], 3.1, 0.05, "the hand in the end");
  CHECK(fit.fit_bounds[0] < -0.15f && fit.fit_bounds[0] > -1.0f, "it spreads to %g m, in sight",
        (double)fit.fit_bounds[0]);
  CHECK(fit.fit_size > 2.0f, "%g m across", (double)fit.fit_size);
  CHECK(!fit.fit_range[0] && !fit.fit_range[1], "speeds are not known before");
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

OZ_TEST_MAIN()
