/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
/* Pictures: silhouettes, shapes, colouring, legend, sheets, PNG files and movies. */
#include "render/rays.h"
#include "scenes.h"

#include <sys/stat.h>
#include <unistd.h>

static void render(const ooze_render_desc *d, ooze_image *out) {
  ooze_message why = {""};
  ooze_result r = ooze_render(d, out, &why);
  CHECK(r == OOZE_OK, "%d %s", r, why.text);
}

/* Pixels that differ between two pictures of one size by more than `by` in some channel. */
static uint32_t differing(const ooze_image *a, const ooze_image *b, int by) {
  uint32_t n = 0, i, c;
  for (i = 0; i < a->width * a->height; ++i) {
    int most = 0;
    for (c = 0; c < 3; ++c)
      most = abs(a->rgb[3 * i + c] - b->rgb[3 * i + c]) > most
                 ? abs(a->rgb[3 * i + c] - b->rgb[3 * i + c])
                 : most;
    n += most > by;
  }
  return n;
}

/* A camera 10 m from a ball of 1 m, without ground: the ball fills pi r^2 f^2 / (d^2 - r^2) of the
 * picture. */
static void stage(ooze_render_desc *d) {
  ooze_render_desc_default(d);
  d->width = 240;
  d->height = 180;
  d->ground = 0;
  d->camera_auto = 0;
  d->eye[2] = 10.0f;
  d->field_of_view = 40.0f;
}
static double expected_pixels(void) {
  double f = 120.0 / tan(20.0 * 3.14159265 / 180.0);
  return 3.14159265 * f * f / 99.0;
}

static ooze_render_desc picture_of(const float *positions, uint32_t count, uint32_t width,
                                   uint32_t height) {
  ooze_render_desc d;
  ooze_render_desc_default(&d);
  d.width = width, d.height = height;
  d.positions = positions, d.particle_count = count;
  return d;
}

OZ_CASE(silhouette_of_a_ball_has_the_right_area) {
  float centre[3] = {0}, x[3] = {0};
  ooze_render_desc d;
  ooze_render_shape shape;
  ooze_surface_desc sd;
  ooze_surface *s;
  ooze_image empty, ball;
  stage(&d);
  render(&d, &empty);
  d.particle_count = 1;
  d.positions = centre;
  d.particle_radius = 1.0f;
  render(&d, &ball);
  CHECK_NEAR(differing(&empty, &ball, 2), expected_pixels(), 0.04 * expected_pixels(),
             "a rim one pixel wide is 3 percent; a few pixels match the sky");
  ooze_image_free(&ball);
  d.particle_count = 0;
  ooze_render_shape_default(&shape); /* the same as a collider */
  shape.shape = OOZE_SHAPE_SPHERE;
  shape.half[0] = 1.0f;
  d.shapes = &shape;
  d.shape_count = 1;
  render(&d, &ball);
  CHECK_NEAR(differing(&empty, &ball, 2), expected_pixels(), 0.04 * expected_pixels(), "as above");
  ooze_image_free(&ball);
  d.shape_count = 0;
  ooze_surface_desc_default(&sd); /* and as a level set */
  sd.separation = 1.0f;
  sd.radius = 1.0f;
  sd.voxel = 0.2f;
  s = build(&sd, x, 1);
  d.surface = s;
  render(&d, &ball);
  CHECK_NEAR(differing(&empty, &ball, 2), expected_pixels(), 0.06 * expected_pixels(),
             "the level set's radius is known to a fortieth");
  ooze_image_free(&ball);
  ooze_image_free(&empty);
  ooze_surface_destroy(s);
}

/* Far particles must not keep rays from the visible ones: here 4,400 empty bricks lie before
 * it, of a box with 50,000. */
OZ_CASE(a_particle_far_away_hides_nothing) {
  float x[6] = {0, 0, 0, 0, 0.5f, 800.0f};
  ooze_render_desc d;
  ooze_surface_desc sd;
  ooze_image empty, ball;
  stage(&d);
  d.eye[2] = 70.0f;
  d.field_of_view = 1.01f;
  render(&d, &empty);
  ooze_surface_desc_default(&sd);
  sd.separation = sd.radius = 0.01f, sd.voxel = 0.002f;
  ooze_surface *s = build(&sd, x, 2);
  d.surface = s;
  render(&d, &ball);
  const double across = 240.0 * 0.01 / (70.0 * 2.0 * tan(0.5 * 1.01 * 3.14159265 / 180.0)),
               pixels = 3.14159265 * across * across;
  CHECK_NEAR(differing(&empty, &ball, 2), pixels, 0.5 * pixels + 4.0,
             "a ball of 1 cm, four pixels wide");
  CHECK(differing(&empty, &ball, 2) >= 6, "it is seen");
  ooze_image_free(&ball);
  ooze_image_free(&empty);
  ooze_surface_destroy(s);
}

OZ_CASE(every_shape_is_drawn_and_casts_a_shadow) {
  float points[24];
  uint32_t triangles[36], kind;
  box_mesh(0.5f, 0, points, triangles);
  for (kind = OOZE_SHAPE_SPHERE; kind <= OOZE_SHAPE_SDF; ++kind) {
    ooze_render_desc d;
    ooze_render_shape shape;
    ooze_image with, without;
    ooze_render_desc_default(&d);
    d.width = 160;
    d.height = 90;
    ooze_render_shape_default(&shape);
    shape.shape = kind;
    shape.pose.position[1] = 1.0f;
    shape.pose.rotation[0] = 0.3f;
    if (kind == OOZE_SHAPE_SDF) {
      shape.points = points;
      shape.point_count = 8;
      shape.triangles = triangles;
      shape.triangle_count = 12;
    }
    d.ground = 1;
    d.checker = -1.0f;
    d.shapes = &shape;
    d.shape_count = 1;
    render(&d, &with);
    shape.hidden = 1;
    render(&d, &without);
    CHECK(differing(&with, &without, 8) > 800, "shape %u: %u of 14400 pixels", kind,
          differing(&with, &without, 8));
    ooze_image_free(&with);
    ooze_image_free(&without);
  }
}

/* A shape of closed form, and the mesh of the same form when points are given. */
static void draw_form(uint32_t kind, const float *points, uint32_t point_count,
                      const uint32_t *triangles, uint32_t triangle_count, ooze_image *out) {
  ooze_render_desc d;
  ooze_render_shape shape;
  ooze_render_desc_default(&d);
  d.width = 160;
  d.height = 90;
  ooze_render_shape_default(&shape);
  shape.shape = points ? OOZE_SHAPE_SDF : kind;
  for (int a = 0; a < 3; ++a) shape.half[a] = 0.5f;
  shape.pose.position[1] = 1.0f;
  shape.points = points;
  shape.point_count = point_count;
  shape.triangles = triangles;
  shape.triangle_count = triangle_count;
  d.ground = 1;
  d.checker = -1.0f;
  d.shapes = &shape;
  d.shape_count = 1;
  render(&d, out);
}

OZ_CASE(meshes_are_flat_between_edges_and_round_about_an_axis) {
  enum { SIDES = 32, AROUND = 4 * SIDES };
  float cube[24], tube[3 * (2 * SIDES + 2)];
  uint32_t cube_triangles[36], tube_triangles[3 * AROUND], n = 0;
  ooze_image mesh, form;
  box_mesh(0.5f, 0, cube, cube_triangles);
  draw_form(OOZE_SHAPE_SDF, cube, 8, cube_triangles, 12, &mesh);
  draw_form(OOZE_SHAPE_BOX, NULL, 0, NULL, 0, &form);
  CHECK(differing(&mesh, &form, 8) < 60, "a cube: %u of 14400 pixels", differing(&mesh, &form, 8));
  ooze_image_free(&mesh);
  ooze_image_free(&form);

  memset(tube, 0, sizeof tube);
  tube[6 * SIDES + 1] = -0.5f, tube[6 * SIDES + 4] = 0.5f; /* the middles of its ends */
  for (uint32_t i = 0; i < SIDES; ++i) {
    const uint32_t j = (i + 1) % SIDES, low = 2 * SIDES, high = 2 * SIDES + 1;
    const uint32_t t[12] = {2 * i, 2 * i + 1, 2 * j, 2 * j,     2 * i + 1, 2 * j + 1,
                            low,   2 * i,     2 * j, 2 * i + 1, high,      2 * j + 1};
    const double turn = 2.0 * 3.14159265358979 * i / SIDES;
    for (uint32_t end = 0; end < 2; ++end) {
      tube[6 * i + 3 * end] = (float)(0.5 * cos(turn));
      tube[6 * i + 3 * end + 1] = (float)end - 0.5f;
      tube[6 * i + 3 * end + 2] = (float)(0.5 * sin(turn));
    }
    memcpy(tube_triangles + n, t, sizeof t);
    n += 12;
  }
  draw_form(OOZE_SHAPE_SDF, tube, 2 * SIDES + 2, tube_triangles, AROUND, &mesh);
  draw_form(OOZE_SHAPE_CYLINDER, NULL, 0, NULL, 0, &form);
  CHECK(differing(&mesh, &form, 12) < 150, "a tube: %u of 14400 pixels",
        differing(&mesh, &form, 12));
  ooze_image_free(&mesh);
  ooze_image_free(&form);
}

OZ_CASE(picture_is_the_same_for_any_number_of_threads) {
  float *x = lattice(8, 0.01f, 0.2f);
  ooze_render_desc d = picture_of(x, 512, 128, 72);
  ooze_image a, b;
  d.threads = 1;
  render(&d, &a);
  d.threads = 3;
  render(&d, &b);
  CHECK_EQ(differing(&a, &b, 0), 0);
  ooze_image_free(&a);
  ooze_image_free(&b);
  free(x);
}

OZ_CASE(automatic_camera_frames_everything) {
  float *x = lattice(10, 0.02f, 0.0f);
  ooze_render_desc d;
  ooze_image with, without;
  uint32_t i, inside = 0, edge = 0;
  float azimuth;
  for (azimuth = 0.0f; azimuth < 360.0f; azimuth += 75.0f) {
    d = picture_of(x, 1000, 160, 120);
    d.samples = 1;
    d.azimuth = azimuth;
    d.ground = 0;
    d.particle_radius = 0.01f;
    render(&d, &with);
    d.particle_count = 0;
    d.camera_auto = 1;
    d.bounds[3] = 1e-3f;
    render(&d, &without);
    inside = edge = 0;
    for (i = 0; i < 160 * 120; ++i)
      if (abs(with.rgb[3 * i] - with.rgb[3 * i + 2]) > 60) { /* the neutral look is blue */
        ++inside;
        edge += i % 160 < 2 || i % 160 > 157 || i / 160 < 2 || i / 160 > 117;
      }
    CHECK(inside > 160 * 120 / 8, "azimuth %g: %u pixels", azimuth, inside);
    CHECK(edge == 0, "azimuth %g: the block runs out of the picture", azimuth);
    ooze_image_free(&with);
    ooze_image_free(&without);
  }
  free(x);
}

OZ_CASE(attribute_colours_follow_the_map_and_have_a_legend) {
  float x[6] = {-1.2f, 0, 0, 1.2f, 0, 0}, scalar[2] = {0.0f, 5.0f};
  ooze_render_desc d;
  ooze_image plain, legend;
  const uint8_t *l, *r;
  stage(&d);
  d.particle_count = 2;
  d.positions = x;
  d.particle_radius = 1.0f;
  d.scalars = scalar;
  d.scalar_range[1] = 5.0f;
  render(&d, &plain);
  l = plain.rgb + 3 * (90 * 240 + 80);
  r = plain.rgb + 3 * (90 * 240 + 160);
  CHECK(l[2] > l[1] + 20, "the low end of viridis is violet: %u %u %u", l[0], l[1], l[2]);
  CHECK(r[0] > r[2] + 60 && r[1] > r[2] + 60, "its high end is yellow: %u %u %u", r[0], r[1], r[2]);
  d.scalar_label = "speed (m/s)";
  render(&d, &legend);
  CHECK(differing(&plain, &legend, 10) > 1000, "%u pixels of legend",
        differing(&plain, &legend, 10));
  ooze_image_free(&plain);
  ooze_image_free(&legend);
}

OZ_CASE(presets_differ_and_unknown_ones_say_so) {
  ooze_look a, b;
  CHECK_EQ(ooze_look_preset("honey", &a), 1);
  CHECK_EQ(ooze_look_preset("whipped_cream", &b), 1);
  CHECK(a.clarity > b.clarity && a.gloss > b.gloss);
  CHECK_EQ(ooze_look_preset("granite", &b), 0);
  CHECK_EQ(b.size, sizeof b);
}

OZ_CASE(wrong_descriptions_are_refused) {
  float x[3] = {NAN, 0, 0};
  ooze_render_desc d;
  ooze_image out;
  ooze_message why;
  ooze_render_desc_default(&d);
  d.width = 0;
  CHECK_EQ(ooze_render(&d, &out, &why), OOZE_ERROR_ARGUMENT);
  d.width = 64;
  d.particle_count = 1;
  CHECK_EQ(ooze_render(&d, &out, &why), OOZE_ERROR_ARGUMENT);
  d.positions = x;
  CHECK_EQ(ooze_render(&d, &out, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "particle 0"), "%s", why.text);
}

OZ_CASE(sheet_holds_all_pictures_and_is_written_whole) {
  ooze_image a, b, sheet;
  const ooze_image *both[3];
  const char *captions[3] = {"red", "green", "red again"};
  char path[] = "/tmp/ooze_sheet_XXXXXX", png[64];
  struct stat st;
  unsigned char head[8];
  FILE *f;
  ooze_message why;
  uint32_t i;
  ooze_result r;
  CHECK_EQ(ooze_image_create(100, 50, &a, NULL), OOZE_OK);
  CHECK_EQ(ooze_image_create(200, 100, &b, NULL), OOZE_OK);
  for (i = 0; i < 5000; ++i) a.rgb[3 * i] = 255;
  for (i = 0; i < 20000; ++i) b.rgb[3 * i + 1] = 255;
  both[0] = both[2] = &a;
  both[1] = &b;
  CHECK_EQ(ooze_image_sheet(both, captions, 3, 2, 80, &sheet, &why), OOZE_OK);
  CHECK_EQ(sheet.width, 2 * 80 + 3 * 12);
  CHECK_EQ(sheet.height, 2 * (40 + 24) + 3 * 12);
  CHECK(sheet.rgb[3 * (30 * sheet.width + 50)] > 250 &&
        sheet.rgb[3 * (30 * sheet.width + 50) + 1] < 5);
  CHECK(sheet.rgb[3 * (30 * sheet.width + 150) + 1] > 250);
  CHECK(mkdtemp(path) != NULL);
  snprintf(png, sizeof png, "%s/sheet.png", path);
  r = ooze_image_write_png(&sheet, png, &why);
  if (r != OOZE_ERROR_UNSUPPORTED) {
    CHECK(r == OOZE_OK, "%s", why.text);
    CHECK(stat(png, &st) == 0 && st.st_size > 200);
    f = fopen(png, "rb");
    CHECK(fread(head, 1, 8, f) == 8 && !memcmp(head, "\x89PNG\r\n\x1a\n", 8));
    fclose(f);
    remove(png);
    CHECK(ooze_image_write_png(&sheet, "/no/such/folder/x.png", &why) != OOZE_OK &&
              strstr(why.text, "/no/such/folder"),
          "%s", why.text);
  }
  CHECK(rmdir(path) == 0, "a temporary file was left behind");
  ooze_image_free(&a);
  ooze_image_free(&b);
  ooze_image_free(&sheet);
}

/* A shape without a ray formula of its own is found by its distance: here those that have one. */
OZ_CASE(a_ray_finds_a_shape_by_its_distance_where_its_formula_does) {
  static const uint32_t kinds[] = {OOZE_SHAPE_SPHERE, OOZE_SHAPE_BOX, OOZE_SHAPE_CAPSULE,
                                   OOZE_SHAPE_CYLINDER};
  uint32_t hits = 0, misses = 0;
  scene_seed = 3;
  for (int i = 0; i < 4000; ++i) {
    oz_shape shape;
    oz_v3 o, d, n[2], straight;
    float t[2], least = 100.0f;
    memset(&shape, 0, sizeof shape);
    shape.kind = kinds[i % 4];
    shape.half[0] = 0.3f, shape.half[1] = 0.5f, shape.half[2] = 0.4f;
    shape.axes[0] = shape.axes[4] = shape.axes[8] = 1.0f;
    shape.reach = 1.0f;
    o = v3(6.0f * scene_noise(), 6.0f * scene_noise(), 3.0f);
    d = v3_unit(v3_sub(v3(scene_noise(), 1.5f * scene_noise(), scene_noise()), o));
    const int found = oz_shape_trace(&shape, o, d, 1e-4f, &least, &straight);
    const int marched = oz_shape_march(&shape, o, d, t, n);
    if (found && marched) {
      ++hits;
      const float slope = fabsf(v3_dot(straight, d)); /* a grazing ray runs long near the surface */
      if (slope > 0.2f) CHECK_NEAR(t[0], least, 1e-3, "a ten-thousandth of the reach, by slope");
      CHECK(t[1] > t[0] - 1e-3f, "it leaves behind its entry: %g, %g", (double)t[0], (double)t[1]);
    }
    misses += found != marched;
  }
  CHECK(hits > 1500 && misses < 20, "%u hits, %u differ at the rim", hits, misses);
}

OZ_CASE(text_covers_its_letters) {
  static const uint8_t white[3] = {255, 255, 255};
  ooze_image image;
  uint32_t i, lit = 0;
  CHECK_EQ(ooze_image_create(64, 16, &image, NULL), OOZE_OK);
  CHECK_EQ(ooze_image_text(&image, 2, 2, 1, white, "|"), 6);
  for (i = 0; i < 64 * 16; ++i) lit += image.rgb[3 * i] == 255;
  CHECK_EQ(lit, 7);
  ooze_image_text(&image, -400, 9999, 3, white, "off the picture");
  CHECK_EQ(ooze_image_text(NULL, 0, 0, 2, white, "abc"), 36);
  ooze_image_free(&image);
}

/* A stand-in for ffmpeg that keeps its input, so that the pipe is tested where there is no
 * ffmpeg. */
OZ_CASE(movie_feeds_ffmpeg_and_keeps_only_whole_files) {
  char path[] = "/tmp/ooze_movie_XXXXXX", name[96], script[96], old[4096];
  ooze_movie *m = NULL;
  ooze_image frame;
  ooze_message why;
  struct stat st;
  FILE *f;
  CHECK(mkdtemp(path) != NULL);
  snprintf(old, sizeof old, "%s", getenv("PATH"));
  snprintf(name, sizeof name, "%s/out.mp4", path);
  setenv("PATH", path, 1);
  CHECK_EQ(ooze_movie_open(name, 32, 20, 24.0, &m, &why), OOZE_ERROR_UNSUPPORTED);
  CHECK(strstr(why.text, "ffmpeg"), "%s", why.text);
  snprintf(script, sizeof script, "%s/ffmpeg", path);
  f = fopen(script, "w");
  fputs("#!/bin/sh\nfor last; do :; done\nexec /bin/cat > \"$last\"\n", f);
  fclose(f);
  chmod(script, 0755);
  CHECK_EQ(ooze_image_create(32, 20, &frame, NULL), OOZE_OK);
  CHECK(ooze_movie_open(name, 32, 20, 24.0, &m, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(ooze_movie_add(m, &frame, &why), OOZE_OK);
  CHECK_EQ(ooze_movie_add(m, &frame, &why), OOZE_OK);
  CHECK(stat(name, &st) != 0, "not there before it is whole");
  CHECK(ooze_movie_close(m, &why) == OOZE_OK, "%s", why.text);
  CHECK(stat(name, &st) == 0 && st.st_size == 2 * 32 * 20 * 3);
  remove(name);
  f = fopen(script, "w");
  fputs("#!/bin/sh\necho 'no such codec' >&2\nexit 1\n", f);
  fclose(f);
  CHECK_EQ(ooze_movie_open(name, 32, 20, 24.0, &m, &why), OOZE_OK);
  ooze_movie_add(m, &frame, &why);
  CHECK_EQ(ooze_movie_close(m, &why), OOZE_ERROR_IO);
  CHECK(strstr(why.text, "no such codec"), "%s", why.text);
  CHECK_EQ(ooze_movie_open(name, 32, 20, 24.0, &m, &why), OOZE_OK);
  ooze_movie_abandon(m);
  remove(script);
  setenv("PATH", old, 1);
  CHECK(rmdir(path) == 0, "something was left behind");
  ooze_image_free(&frame);
}

OZ_TEST_MAIN()
