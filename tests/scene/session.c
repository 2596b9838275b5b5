/* Runs: stopping, resuming, watching, through the library. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "scene/scene_internal.h"
#include "scratch.h"

#include <math.h>

/* Checkpoints of an earlier build must not be found. */
RUN_IN_SCRATCH()
#define RUN_FOLDER "session_test"

static ooze_message why;
static char lines[8000];

static void on_line(void *user, const char *line) {
  (void)user;
  if (strlen(lines) + strlen(line) + 2 < sizeof lines) {
    strcat(lines, line);
    strcat(lines, "\n");
  }
}

typedef struct stopper {
  int calls, after;
} stopper;
static int on_stop(void *user) {
  stopper *s = user;
  return s->after >= 0 && ++s->calls > s->after;
}

static ooze_scene *load_with(const char *const *sets, uint32_t count) {
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_options_default(&o);
  o.sets = sets;
  o.set_count = count;
  ooze_result r = ooze_scene_load(OZ_SOURCE_DIR "/tests/run/small.json", &o, &s, &why);
  CHECK(r == OOZE_OK, "%s", why.text);
  return s;
}
static ooze_scene *load(const char *set) {
  const char *sets[2] = {"output.frames=[1,12]", set};
  return load_with(sets, set ? 2 : 1);
}

static ooze_result run(const ooze_scene *s, const char *folder, int resume, int stop_after,
                       const char *watch, ooze_run_report *report) {
  ooze_run_options o;
  stopper stop = {0, stop_after};
  ooze_run_options_default(&o);
  ooze_run_report_default(report);
  o.folder = folder;
  o.resume = (uint32_t)resume;
  o.watch = watch;
  o.stop = on_stop;
  o.user = &stop;
  o.line = on_line;
  lines[0] = 0;
  return ooze_run(s, &o, report, &why);
}

OZ_CASE(a_run_stopped_anywhere_ends_with_the_same_bits) {
  ooze_scene *s = load(NULL);
  ooze_run_report whole, part;
  CHECK(run(s, RUN_FOLDER "/whole", 0, -1, NULL, &whole) == OOZE_OK, "%s", why.text);
  CHECK_EQ(whole.frame, 12);
  const int stops[] = {0, 1, 40, 333, 1002}; /* polls: many in a substep */
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
    ooze_result r = run(s, RUN_FOLDER "/part", 0, stops[i], NULL, &part);
    CHECK_EQ(r, OOZE_CANCELLED);
    for (int round = 0; r == OOZE_CANCELLED && round < 40; round++)
      r = run(s, RUN_FOLDER "/part", 1, 150 + 170 * round, NULL, &part);
    CHECK(r == OOZE_OK, "%s", why.text);
    CHECK(part.state_hash == whole.state_hash, "stopped after %d polls", stops[i]);
  }
  ooze_scene_destroy(s);
}

OZ_CASE(a_changed_scene_is_noticed) {
  ooze_scene *s = load(NULL), *other = load("materials.thin.viscosity=2"),
             *look = load("materials.thin.gloss=0.1");
  ooze_run_report r;
  CHECK_EQ(run(s, RUN_FOLDER "/change", 0, 9, NULL, &r), OOZE_CANCELLED);
  CHECK_EQ(run(other, RUN_FOLDER "/change", 1, -1, NULL, &r), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "materials.thin.viscosity: 1 -> 2") != NULL, "%s", why.text);
  CHECK(run(look, RUN_FOLDER "/change", 1, -1, NULL, &r) == OOZE_OK, "looks do not matter: %s",
        why.text);
  ooze_scene_destroy(s);
  ooze_scene_destroy(other);
  ooze_scene_destroy(look);
}

OZ_CASE(a_keyed_rate_reaches_the_nozzle) {
  static const char *const sets[2] = {
      "output.frames=[1,13]",
      "emitters.tap={\"material\": \"thin\", \"radius\": 0.02, \"position\": [0.5, 1, 0], "
      "\"rate\": "
      "{\"keys\": [[0, 3e-4], [0.2, 12e-4]], \"interpolation\": \"step\"}}"};
  ooze_scene *s = load_with(sets, 2);
  ooze_run_report r;
  CHECK(run(s, RUN_FOLDER "/rate", 0, -1, NULL, &r) == OOZE_OK, "%s", why.text);
  /* six frames of 1/30 s each, three layers within the nozzle, and a block of 6 by 6 by 6 */
  const double layer = 3.14159265358979 * 2.0 * 2.0, poured = (3e-4 + 12e-4) * 0.2 / 1e-6;
  CHECK_NEAR(r.particles, poured + 3.0 * layer + 216.0, layer, "a layer more or less");
  ooze_scene_destroy(s);
}

OZ_CASE(watched_values_take_effect_and_bad_ones_do_not) {
  ooze_scene *s = load(NULL);
  ooze_run_report plain, same, other;
  const char *watch = "session_watch.json";
  FILE *f = fopen(watch, "w");
  CHECK(f != NULL);
  fputs("{\"materials.thin.viscosity\": -4}", f);
  fclose(f);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, NULL, &plain), OOZE_OK);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, watch, &same), OOZE_OK);
  CHECK(strstr(lines, "-4 is out of range") != NULL, "%s", lines);
  CHECK(same.state_hash == plain.state_hash);
  f = fopen(watch, "w");
  fputs("{\"solver.gravity\": [0, -3, 0], \"materials.thin.viscosity\": 40}", f);
  fclose(f);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, watch, &other), OOZE_OK);
  CHECK(strstr(lines, "2 values from") != NULL, "%s", lines);
  CHECK(other.state_hash != plain.state_hash);
  /* and a resumed run goes on with them */
  for (int polls = 0; polls < 1000; polls = 1 + 3 * polls) { /* also in the step that reads them */
    CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, polls, watch, &same), OOZE_CANCELLED);
    CHECK_EQ(run(s, RUN_FOLDER "/watch", 1, -1, watch, &same), OOZE_OK);
    CHECK(same.state_hash == other.state_hash, "stopped after %d polls", polls);
  }
  remove(watch);
  ooze_scene_destroy(s);
}

/* A sheet of 9 by 9 points, 0.32 m wide, whose middle stands at `height`; rows fewer than 9 make
 * another mesh. */
static void write_sheet(int frame, double height, int rows) {
  char path[64];
  snprintf(path, sizeof path, "session_sheet.%03d.obj", frame);
  FILE *f = fopen(path, "w");
  CHECK(f != NULL, "%s", path);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < 9; j++) {
      const double x = -0.16 + 0.04 * i, z = -0.16 + 0.04 * j, r2 = x * x + z * z;
      fprintf(f, "v %g %g %g\n", x, height * fmax(0.0, 1.0 - r2 / 0.0256), z);
    }
  for (int i = 0; i + 1 < rows; i++)
    for (int j = 0; j < 8; j++)
      fprintf(f, "f %d %d %d %d\n", 9 * i + j + 1, 9 * i + j + 2, 9 * i + j + 11, 9 * i + j + 10);
  fclose(f);
}
#define SHEET(file, boundary)                                                                      \
  "{\"solver\": {\"particle_separation\": 0.02, \"substeps\": 6, \"gravity\": [0, 0, 0]}, "        \
  "\"materials\": {\"goo\": {\"viscosity\": 200}}, "                                               \
  "\"fluids\": {\"a\": {\"material\": \"goo\", \"shape\": \"box\", \"size\": [0.08, 0.06, 0.08], " \
  "\"position\": [0, 0.06, 0]}}, \"colliders\": {\"sheet\": "                                      \
  "{\"shape\": \"mesh\", \"file\": \"" file "\", \"boundary\": \"" boundary "\""
static ooze_scene *load_text(const char *text) {
  ooze_scene *s = NULL;
  FILE *f = fopen("session_sheet.json", "w");
  CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "written");
  ooze_result r = ooze_scene_load("session_sheet.json", NULL, &s, &why);
  (void)r;
  remove("session_sheet.json");
  return s;
}
static double mean_height(const char *path) {
  ooze_points *p = NULL;
  ooze_points_attribute a;
  double sum = 0.0;
  CHECK(ooze_points_read(path, NULL, &p, &why) == OOZE_OK, "%s", why.text);
  ooze_points_attribute_default(&a);
  CHECK(ooze_points_find(p, "P", &a) == OOZE_OK, "P");
  const uint64_t n = ooze_points_count(p);
  for (uint64_t i = 0; i < n; i++) sum += (double)((const float *)a.data)[3 * i + 1];
  ooze_points_destroy(p);
  return sum / (double)n;
}

OZ_CASE(a_mesh_for_each_frame_pushes_what_lies_on_it) {
  ooze_run_report report;
  const char *scene =
      SHEET("session_sheet.###.obj",
            "particles") ", \"shell\": true}}, \"output\": {\"frames\": [1, 7], \"fps\": 24}}";
  for (int k = 1; k <= 7; k++) write_sheet(k, 0.012 * (k - 1), 9);
  ooze_scene *s = load_text(scene);
  CHECK(s != NULL, "%s", why.text);
  CHECK(run(s, RUN_FOLDER "_sheet", 0, -1, NULL, &report) == OOZE_OK, "%s", why.text);
  const uint64_t hash = report.state_hash;
  const double rise = mean_height(RUN_FOLDER "_sheet/points/session_sheet.0007.bgeo.sc") -
                      mean_height(RUN_FOLDER "_sheet/points/session_sheet.0001.bgeo.sc");
  /* the middle rises by 0.072 m and carries the block, which is thrown a little further than it is
   * lifted; a still mesh moves nothing */
  CHECK(rise > 0.04 && rise < 0.12, "it was lifted by %g m", rise);
  CHECK(run(s, RUN_FOLDER "_sheet", 0, 3, NULL, &report) == OOZE_CANCELLED, "%s", why.text);
  CHECK(run(s, RUN_FOLDER "_sheet", 1, -1, NULL, &report) == OOZE_OK, "%s", why.text);
  CHECK(report.resumed && report.state_hash == hash, "resumed, it ends with the same bits");
  ooze_scene_destroy(s);
  write_sheet(5, 0.04, 8);
  s = load_text(scene);
  CHECK(run(s, RUN_FOLDER "_sheet", 0, -1, NULL, &report) < 0 &&
            strstr(why.text,
                   "session_sheet.005.obj: has 72 points and 112 triangles; expected 81 and 128"),
        "%s", why.text);
  ooze_scene_destroy(s);
  remove("session_sheet.006.obj");
  CHECK(!load_text(scene) && strstr(why.text, "session_sheet.006.obj: cannot be opened; expected a "
                                              "file for each frame from 1 to 7"),
        "%s", why.text);
  CHECK(!load_text(SHEET("session_sheet.###.obj", "sdf") "}}, \"output\": {\"frames\": [1, 4]}}") &&
            strstr(why.text, "\"boundary\": \"particles\" alone"),
        "%s", why.text);
  for (int k = 1; k <= 7; k++) {
    char path[64];
    snprintf(path, sizeof path, "session_sheet.%03d.obj", k);
    remove(path);
  }
}

/* The state after a host's own steps. */
static uint64_t stepped(const ooze_scene *s, int32_t last) {
  ooze_solver *solver = NULL;
  uint64_t hash = 0;
  CHECK(ooze_scene_build(s, NULL, &solver, &why) == OOZE_OK, "%s", why.text);
  for (int32_t frame = 2; frame <= last; frame++)
    CHECK(ooze_scene_step(s, solver, frame, &why) >= 0, "%s", why.text);
  CHECK_EQ(ooze_state_hash(solver, &hash), OOZE_OK);
  ooze_solver_destroy(solver);
  return hash;
}

OZ_CASE(a_host_steps_a_scene_as_a_run_does) {
  ooze_run_report report;
  static const char *const sets[] = {
      "output.frames=[1,12]", "output.points=none",
      "fluids.leak={\"material\": \"thin\", \"shape\": \"box\", \"size\": [0.03, 0.03, 0.03], "
      "\"position\": [0.1, 0.3, 0.1], \"emit\": \"volume\", \"until\": 0.2}",
      "bodies.spoon={\"material\": \"goo\", \"shape\": \"box\", \"size\": [0.04, 0.04, 0.04], "
      "\"position\": {\"keys\": [[0, [0, 0.2, 0]], [0.4, [0, 0.06, 0.1]]]}}"};
  ooze_scene *s = load_with(sets, 4);
  ooze_scene_info info;
  ooze_scene_info_default(&info);
  CHECK_EQ(ooze_scene_info_get(s, &info), OOZE_OK);
  CHECK_EQ(info.animated, 1);
  CHECK(run(s, RUN_FOLDER "/host", 0, -1, NULL, &report) == OOZE_OK, "%s", why.text);
  CHECK(report.particles > 216 + 64 + 27, "%u: fluid goes on coming", report.particles);
  CHECK(stepped(s, 12) == report.state_hash, "the same bits");
  ooze_solver *solver = NULL;
  CHECK_EQ(ooze_scene_build(s, NULL, &solver, &why), OOZE_OK);
  CHECK_EQ(ooze_scene_step(s, solver, 1, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "the scene begins with frame 1") != NULL, "%s", why.text);
  ooze_solver_destroy(solver);
  ooze_scene_destroy(s);

  for (int k = 1; k <= 5; k++) write_sheet(k, 0.012 * (k - 1), 9); /* a mesh for each frame */
  s = load_text(SHEET("session_sheet.###.obj", "particles") ", \"shell\": true}}, \"output\": "
                                                            "{\"frames\": [1, 5], \"fps\": 24}}");
  CHECK(s != NULL, "%s", why.text);
  CHECK(run(s, RUN_FOLDER "/host_sheet", 0, -1, NULL, &report) == OOZE_OK, "%s", why.text);
  CHECK(stepped(s, 5) == report.state_hash, "the same bits");
  ooze_scene_destroy(s);

  s = load_text("{\"solver\": {\"particle_separation\": 0.01}, \"materials\": {\"a\": {}}, "
                "\"fluids\": {\"b\": {\"shape\": \"sphere\", "
                "\"radius\": 0.03}}}");
  CHECK(s != NULL, "%s", why.text);
  CHECK_EQ(ooze_scene_info_get(s, &info), OOZE_OK);
  CHECK_EQ(info.animated, 0);
  ooze_scene_destroy(s);
}

/* Lowest vertex of the mesh at frame 12, and the one that is deepest in the paddle, a capsule along
 * its y axis. */
static void meets_walls(const char *path, const ooze_collider_desc *paddle, double *lowest,
                        double *deepest) {
  ooze_mesh m;
  ooze_mesh_default(&m);
  CHECK(ooze_mesh_read(path, NULL, &m, &why) == OOZE_OK, "%s", why.text);
  CHECK(m.point_count > 500);
  *lowest = *deepest = 1.0;
  for (uint32_t i = 0; i < m.point_count; i++) {
    const float *p = m.positions + 3 * (size_t)i;
    const double x[3] = {(double)p[0], (double)p[1], (double)p[2]};
    double at[3];
    oz_pose_unapply(&paddle->end, x, at);
    const double along = fmax(fabs(at[1]) - (double)paddle->half[1], 0.0);
    *lowest = fmin(*lowest, x[1]);
    *deepest = fmin(*deepest,
                    sqrt(at[0] * at[0] + at[2] * at[2] + along * along) - (double)paddle->half[0]);
  }
  ooze_mesh_release(&m);
}

OZ_CASE(surfaces_tell_how_rest_positions_are_mixed) {
  if (!ooze_surface_has_vdb()) return;
  ooze_run_report r;
  ooze_points *mesh = NULL;
  ooze_vdb_grid grids[16];
  uint32_t count = 0;
  double told = 0.0;
  /* 5 frames of 1/30 s after the beginning: a third of a period */
  const double blend = ooze_rest_blend(5.0 / 30.0, 0.5);
  const char *sets[5] = {"output.frames=[1,6]", "output.mesh=ply", "output.surface=vdb",
                         "output.points=none", "solver.rest_period=0.5"};
  ooze_scene *s = load_with(sets, 5);
  CHECK(run(s, RUN_FOLDER "/rest", 0, -1, NULL, &r) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(s);
  CHECK(blend > 0.1 && blend < 0.9, "%g: neither of both alone", blend);
  CHECK(ooze_points_read(RUN_FOLDER "/rest/mesh/small.0006.ply", NULL, &mesh, &why) == OOZE_OK,
        "%s", why.text);
  CHECK_EQ(ooze_points_detail_get(mesh, "restblend", &told), OOZE_OK);
  CHECK_NEAR(told, blend, 1e-5, "the time is a sum of substeps");
  ooze_points_destroy(mesh);
  CHECK(ooze_vdb_describe(NULL, RUN_FOLDER "/rest/surface/small.0006.vdb", grids, 16, &count,
                          &why) == OOZE_OK,
        "%s", why.text);
  for (uint32_t k = 0; k < count; k++) {
    CHECK_EQ(grids[k].has_rest_blend, 1);
    CHECK_NEAR((double)grids[k].rest_blend, blend, 1e-5, "the same");
  }
}

OZ_CASE(surfaces_end_at_colliders_where_they_are) {
  if (!ooze_surface_has_vdb()) return;
  ooze_run_report r;
  ooze_collider_desc solids[2];
  uint32_t count = 0;
  double low[2], deep[2];
  for (int cut = 0; cut < 2; cut++) {
    const char *sets[5] = {"output.frames=[1,12]", "output.mesh=ply", "output.points=none",
                           "fluids.block.position=[-0.06,0.04,0]",
                           cut ? "output.surface_subtract=true" : "output.surface_subtract=false"};
    ooze_scene *s = load_with(sets, 5);
    CHECK(run(s, RUN_FOLDER "/cut", 0, -1, NULL, &r) == OOZE_OK, "%s", why.text);
    CHECK_EQ(ooze_scene_solids(s, 12, solids, 2, &count, &why), OOZE_OK);
    CHECK_EQ(count, 2);
    CHECK_EQ(solids[1].shape, OOZE_SHAPE_CAPSULE);
    meets_walls(RUN_FOLDER "/cut/mesh/small.0012.ply", &solids[1], &low[cut], &deep[cut]);
    ooze_scene_destroy(s);
  }
  CHECK(low[0] < -1e-4 && deep[0] < -1e-4, "%g m and %g m: there is something to take out", low[0],
        deep[0]);
  CHECK(low[1] > -1e-7 && deep[1] > -1e-7, "%g m below the floor, %g m in the paddle", low[1],
        deep[1]);
}

OZ_CASE(surfaces_leave_bodies_out_without_points_on_disk) {
  if (!ooze_surface_has_vdb()) return;
  static const char *const of[3] = {"output.surface_of=fluid", "output.surface_of=all",
                                    "output.surface_of=bodies"};
  float low[3], high[3]; /* of x: the body stands far to the right */
  for (int i = 0; i < 3; i++) {
    const char *sets[5] = {"output.frames=[1,2]", "output.mesh=ply", "output.points=none", of[i],
                           "bodies={\"ball\": {\"shape\": \"sphere\", \"radius\": 0.03, "
                           "\"material\": \"thin\", \"position\": [1, 0.1, 0]}}"};
    ooze_run_report r;
    ooze_mesh m;
    ooze_scene *s = load_with(sets, 5);
    CHECK(run(s, RUN_FOLDER "/of", 0, -1, NULL, &r) == OOZE_OK, "%s", why.text);
    ooze_mesh_default(&m);
    CHECK(ooze_mesh_read(RUN_FOLDER "/of/mesh/small.0002.ply", NULL, &m, &why) == OOZE_OK, "%s",
          why.text);
    low[i] = 9.0f, high[i] = -9.0f;
    for (uint32_t k = 0; k < m.point_count; k++) {
      low[i] = fminf(low[i], m.positions[3 * (size_t)k]);
      high[i] = fmaxf(high[i], m.positions[3 * (size_t)k]);
    }
    ooze_mesh_release(&m);
    ooze_scene_destroy(s);
  }
  CHECK(high[0] < 0.5f && low[0] < 0.0f, "fluid alone: %g to %g", (double)low[0], (double)high[0]);
  CHECK(high[1] > 0.9f && low[1] < 0.0f, "both: %g to %g", (double)low[1], (double)high[1]);
  CHECK(high[2] > 0.9f && low[2] > 0.9f, "bodies: %g to %g", (double)low[2], (double)high[2]);
}

OZ_CASE(caches_carry_the_channels_that_are_asked_for) {
  ooze_scene *s = load("output.channels=\"stress neighbours\"");
  ooze_run_report report;
  ooze_points *points = NULL;
  ooze_points_attribute a;
  double most = 0.0;
  CHECK(run(s, RUN_FOLDER "/channels", 0, -1, NULL, &report) == OOZE_OK, "%s", why.text);
  CHECK(ooze_points_read(RUN_FOLDER "/channels/points/small.0012.bgeo.sc", NULL, &points, &why) ==
            OOZE_OK,
        "%s", why.text);
  ooze_points_attribute_default(&a);
  CHECK(ooze_points_find(points, "compression", &a) < 0, "it was not asked for");
  CHECK(ooze_points_find(points, "neighbours", &a) == OOZE_OK && a.type == OOZE_INT32);
  CHECK(ooze_points_find(points, "stress", &a) == OOZE_OK && a.components == 6);
  for (uint64_t k = 0; k < 6 * ooze_points_count(points); k++)
    most = fmax(most, fabs((double)((const float *)a.data)[k]));
  CHECK(most > 1.0 && most < 1e6, "a block that falls is stressed: %g Pa", most);
  ooze_points_destroy(points);
  ooze_scene_destroy(s);
}

OZ_CASE(what_cannot_be_written_is_an_error_not_a_crash) {
  ooze_scene *s = load(NULL);
  ooze_run_report r;
  FILE *f = fopen("session_blocker", "w");
  CHECK(f != NULL);
  fclose(f);
  CHECK_EQ(run(s, "session_blocker/x", 0, -1, NULL, &r), OOZE_ERROR_IO);
  CHECK(strstr(why.text, "session_blocker") != NULL, "%s", why.text);
  remove("session_blocker");
  ooze_scene_destroy(s);
}
OZ_TEST_MAIN()
