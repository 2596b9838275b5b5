/* Values of a material painted on points: groups, materials of a scene, runs.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "scene/scene_internal.h"
#include "scratch.h"

#include <math.h>
#include <stdlib.h>

RUN_IN_SCRATCH()

static ooze_message why;
static char lines[8000];
static void on_line(void *user, const char *line) {
  (void)user;
  if (strlen(lines) + strlen(line) + 2 < sizeof lines) strcat(strcat(lines, line), "\n");
}
static void on_log(void *user, int level, const char *line) {
  (void)level;
  on_line(user, line);
}

enum { SIDE = 12, COUNT = SIDE * SIDE * SIDE };
static const double D = 0.01;

/* A block of points with a float attribute that rises with the height, from low to high. */
static void write_block(const char *path, const char *name, double low, double high, int whole) {
  ooze_points *points = NULL;
  float *p, *value = NULL;
  int32_t *number = NULL;
  CHECK_EQ(ooze_points_create(COUNT, &points, &why), OOZE_OK);
  CHECK_EQ(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, (void **)&p, &why), OOZE_OK);
  CHECK_EQ(ooze_points_add(points, name, whole ? OOZE_INT32 : OOZE_FLOAT32, 1, 0,
                           whole ? (void **)&number : (void **)&value, &why),
           OOZE_OK);
  for (int i = 0; i < COUNT; i++) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int k = 0; k < 3; k++) p[3 * i + k] = (float)(D * (0.5 + at[k]));
    const double f = (double)i / (COUNT - 1), v = low + f * (high - low);
    if (whole) number[i] = (int32_t)v;
    if (!whole) value[i] = (float)v;
  }
  CHECK(ooze_points_write(path, points, NULL, &why) == OOZE_OK, "%s", why.text);
  ooze_points_destroy(points);
}

#define SCENE(file, more)                                                                       \
  "{\"solver\": {\"particle_separation\": 0.01, \"substeps\": 2, \"velocity_iterations\": 3, "  \
  "\"position_iterations\": 2}, \"materials\": {\"oil\": {\"viscosity\": 1}, \"paste\": "       \
  "{\"viscosity\": 50, \"yield_stress\": 20" more "}}, \"fluids\": {\"block\": {\"material\": " \
  "\"paste\", \"shape\": \"points\", \"file\": \"" file "\", \"keep_state\": true}}, "          \
  "\"colliders\": {\"floor\": {\"shape\": \"plane\"}}, \"output\": {\"frames\": [1, 5], "       \
  "\"checkpoint_every\": 1, \"mesh\": \"ply\"}}"

static ooze_scene *load(const char *text) {
  ooze_scene *s = NULL;
  CHECK(ooze_scene_load_memory("paint.json", text, strlen(text), NULL, &s, &why) == OOZE_OK, "%s",
        why.text);
  return s;
}
static ooze_solver *build(const char *text) {
  ooze_scene *scene = load(text);
  ooze_solver *s = NULL;
  ooze_solver_desc desc;
  ooze_solver_desc_default(&desc);
  desc.hooks.log = on_log;
  lines[0] = 0;
  CHECK(ooze_scene_build(scene, &desc, &s, &why) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(scene);
  return s;
}
static ooze_material material_of(ooze_solver *s, uint32_t rank, uint32_t *number) {
  ooze_material m;
  ooze_material_default(&m);
  CHECK_EQ(ooze_attribute_read(s, OOZE_MATERIAL, rank, 1, 0, number), OOZE_OK);
  CHECK_EQ(ooze_material_get(s, *number, &m), OOZE_OK);
  return m;
}

OZ_CASE(groups_are_few_and_near_what_was_painted) {
  enum { MANY = 100000 };
  float *even = malloc(MANY * sizeof *even), *wide = malloc(MANY * sizeof *wide),
        *two = malloc(MANY * sizeof *two);
  uint32_t *group = malloc(MANY * sizeof *group), groups = 0;
  for (int i = 0; i < MANY; i++) {
    even[i] = 500.0f * (float)i / (MANY - 1);
    wide[i] = (float)pow(10.0, 6.0 * i / (MANY - 1) - 3.0);
    two[i] = i % 2 ? 7.0f : 3.0f;
  }
  CHECK(ooze_paint_group(&two, 1, NULL, MANY, group, &groups, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(groups, 2);
  CHECK(group[0] == 0 && group[1] == 1 && group[2] == 0 && two[1] == 7.0f, "values stay");
  CHECK_EQ(ooze_paint_group(&even, 1, NULL, MANY, group, &groups, &why), OOZE_OK);
  CHECK_EQ(groups, 256);
  CHECK(even[0] == 0.0f && even[MANY - 1] == 500.0f, "both ends are exact");
  double worst = 0.0, relative = 0.0;
  for (int i = 0; i < MANY; i++)
    worst = fmax(worst, fabs((double)even[i] - 500.0 * i / (MANY - 1)));
  CHECK(worst < 0.51 * 500 / 255, "%g Pa off: half a step of 255", worst);
  CHECK_EQ(ooze_paint_group(&wide, 1, NULL, MANY, group, &groups, &why), OOZE_OK);
  CHECK_EQ(groups, 256);
  for (int i = 0; i < MANY; i++)
    relative =
        fmax(relative, fabs(log((double)wide[i]) - log(10.0) * (6.0 * i / (MANY - 1) - 3.0)));
  CHECK(relative < 0.51 * 6 * log(10.0) / 255, "%g off: half a step of the logarithm", relative);
  /* two that vary each for itself: more coarsely, and not more than 4096 */
  for (int i = 0; i < MANY; i++) {
    even[i] = (float)(i % 317);
    wide[i] = (float)(i / 317);
  }
  float *both[2] = {even, wide};
  CHECK_EQ(ooze_paint_group(both, 2, NULL, MANY, group, &groups, &why), OOZE_OK);
  CHECK(groups > 1000 && groups <= 4096, "%u groups", groups);
  free(even), free(wide), free(two), free(group);
}

OZ_CASE(painted_yield_stress_is_the_particles) {
  write_block("paint.bgeo", "yieldstress", 0, 300, 0);
  ooze_solver *s = build(SCENE("paint.bgeo", ""));
  CHECK_EQ(ooze_particle_count(s), COUNT);
  CHECK(ooze_material_count(s) <= 1 + 2 * 257 && ooze_material_count(s) > 2 * 200,
        "%u materials: two for each of 256 steps", ooze_material_count(s));
  for (uint32_t i = 0; i < COUNT; i += 61) {
    uint32_t number = 0;
    const ooze_material m = material_of(s, i, &number);
    CHECK_NEAR((double)m.yield_stress, 300.0 * i / (COUNT - 1), 0.51 * 300 / 255, "half a step");
    CHECK_NEAR((double)m.viscosity, 50, 0, "all else is the fluid's");
    CHECK_EQ(oz_painted_base(number, 2), 2);
  }
  CHECK_STR(lines, "");
  ooze_solver_destroy(s);
  /* of a file that has neither its own material nor paint, particles are the fluid's */
  write_block("plain.bgeo", "wetness", 0, 1, 0);
  s = build(SCENE("plain.bgeo", ""));
  uint32_t number = 0;
  CHECK_NEAR((double)material_of(s, 5, &number).yield_stress, 20, 0, "paste");
  CHECK_EQ(number, 2);
  CHECK_EQ(ooze_material_count(s), 3);
  CHECK_STR(lines, "");
  ooze_solver_destroy(s);
}

OZ_CASE(whole_numbers_paint_and_what_is_out_of_range_is_refused) {
  write_block("whole.ply", "thinningtime", 0, 3, 1);
  ooze_solver *s = build(SCENE("whole.ply", ""));
  CHECK_EQ(ooze_material_count(s),
           1 + 2 * 4); /* 1, 2 and 3 s, of oil and paste; 0 is the fluid's */
  ooze_solver_destroy(s);
  write_block("wrong.ply", "flowindex", 0.5, 3, 0);
  ooze_scene *scene = load(SCENE("wrong.ply", ""));
  s = NULL;
  CHECK(ooze_scene_build(scene, NULL, &s, &why) < 0 && s == NULL);
  CHECK(strstr(why.text, "fluids.block: point attribute flowindex of point") != NULL, "%s",
        why.text);
  ooze_scene_destroy(scene);
}

OZ_CASE(attributes_that_nothing_reads_are_told) {
  write_block("typo.bgeo", "yield_stress", 0, 300, 0);
  ooze_solver_destroy(build(SCENE("typo.bgeo", "")));
  CHECK(strstr(lines, "yield_stress is not read; did you mean yieldstress?") != NULL, "%s", lines);
  write_block("lattice.bgeo", "viscosity", 1, 300, 0);
  ooze_solver_destroy(build("{\"solver\": {\"particle_separation\": 0.01}, \"materials\": {\"a\": "
                            "{}}, \"fluids\": {\"block\": {\"shape\": \"points\", \"file\": "
                            "\"lattice.bgeo\"}}}"));
  CHECK(strstr(lines, "viscosity is not read without \"keep_state\": true") != NULL, "%s", lines);
}

static ooze_result run(const ooze_scene *s, const char *folder, int resume, int32_t last,
                       ooze_run_report *report) {
  ooze_run_options o;
  ooze_run_options_default(&o);
  ooze_run_report_default(report);
  o.folder = folder;
  o.resume = (uint32_t)resume;
  o.first_frame = 1;
  o.last_frame = last;
  o.line = on_line;
  lines[0] = 0;
  return ooze_run(s, &o, report, &why);
}

OZ_CASE(a_painted_run_resumes_and_its_caches_carry_the_paint) {
  write_block("paint.bgeo", "yieldstress", 0, 300, 0);
  ooze_scene *s = load(SCENE("paint.bgeo", ""));
  ooze_run_report whole, part, again;
  CHECK(run(s, "whole", 0, 5, &whole) == OOZE_OK, "%s", why.text);
  CHECK(run(s, "part", 0, 3, &part) == OOZE_OK, "%s", why.text);
  CHECK(run(s, "part", 1, 5, &part) == OOZE_OK, "%s", why.text);
  CHECK_EQ(part.resumed, 1);
  CHECK(part.state_hash == whole.state_hash, "a resumed run ends with the same bits");
  ooze_scene_destroy(s);

  ooze_points *points = NULL;
  ooze_points_attribute a, m;
  ooze_points_attribute_default(&a);
  ooze_points_attribute_default(&m);
  CHECK(ooze_points_read("whole/points/paint.0003.bgeo.sc", NULL, &points, &why) == OOZE_OK, "%s",
        why.text);
  CHECK_EQ(ooze_points_find(points, "yieldstress", &a), OOZE_OK);
  CHECK_NEAR((double)((const float *)a.data)[COUNT - 1], 300, 1e-4, "the last one's, by id");
  /* surfaces and pictures have the scene's material, not the number */
  const char *const names[3] = {NULL, "oil", "paste"};
  ooze_surface_desc desc;
  ooze_surface *surface = NULL;
  ooze_mesh mesh;
  ooze_surface_desc_default(&desc);
  ooze_mesh_default(&mesh);
  desc.separation = 0.01f;
  desc.attributes = OOZE_FILL_NONE;
  CHECK(ooze_surface_of_points(&desc, points, OOZE_WITH_SHADING, names, 3, &surface, &why) ==
            OOZE_OK,
        "%s", why.text);
  ooze_points_destroy(points);
  CHECK_EQ(ooze_surface_mesh(surface, 0, &mesh, &why), OOZE_OK);
  ooze_surface_destroy(surface);
  CHECK_EQ(ooze_points_find(mesh.channels, "weight_paste", NULL), OOZE_OK);
  CHECK_EQ(ooze_points_find(mesh.channels, "material", &m), OOZE_OK);
  for (uint32_t i = 0; i < mesh.point_count; i++)
    CHECK_EQ(m.type == OOZE_FLOAT32 ? (int)((const float *)m.data)[i] : ((const int *)m.data)[i],
             2);
  ooze_mesh_release(&mesh);

  /* a cache goes on where it was left */
  rename("whole/points/paint.0003.bgeo.sc", "cache.bgeo.sc");
  s = load(SCENE("cache.bgeo.sc", ""));
  CHECK(run(s, "cached", 0, 1, &again) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(s);
  ooze_solver *solver = build(SCENE("cache.bgeo.sc", ""));
  for (uint32_t i = 0; i < COUNT; i += 61) {
    uint32_t number = 0;
    const ooze_material has = material_of(solver, i, &number);
    CHECK_NEAR((double)has.yield_stress, 300.0 * i / (COUNT - 1), 0.51 * 300 / 255, "half a step");
  }
  ooze_solver_destroy(solver);
}

OZ_CASE(keyframes_reach_painted_particles) {
  write_block("paint.bgeo", "yieldstress", 0, 300, 0);
  ooze_scene *s = load(SCENE("paint.bgeo", ", \"flow_index\": {\"keys\": [[0, 1], [0.08, 0.5]]}"));
  ooze_run_report report;
  CHECK(run(s, "keyed", 0, 4, &report) == OOZE_OK, "%s", why.text);
  ooze_scene_destroy(s);
  void *memory = NULL;
  size_t bytes = 0;
  ooze_solver_desc desc;
  ooze_solver *solver = NULL;
  ooze_solver_desc_default(&desc);
  desc.particle_separation = 0.01f;
  CHECK_EQ(ooze_solver_create(&desc, &solver, &why), OOZE_OK);
  CHECK(ooze_checkpoint_read("keyed/checkpoints/paint.0004.ozc", NULL, &memory, &bytes, NULL,
                             &why) == OOZE_OK,
        "%s", why.text);
  CHECK_EQ(ooze_checkpoint_load(solver, memory, bytes), OOZE_OK);
  ooze_io_free(memory);
  uint32_t number = 0;
  const ooze_material low = material_of(solver, 0, &number),
                      high = material_of(solver, COUNT - 1, &number);
  CHECK(low.flow_index < 0.7f && high.flow_index == low.flow_index, "%g and %g: keyed",
        (double)low.flow_index, (double)high.flow_index);
  CHECK(high.yield_stress == 300.0f && low.yield_stress == 0.0f, "painted");
  ooze_solver_destroy(solver);
}

OZ_TEST_MAIN()
