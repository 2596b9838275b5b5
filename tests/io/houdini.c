/* Files that Houdini itself wrote. They are not ours to keep here: OOZE_HOUDINI_DATA, or
 * shared/data/houdini beside the project, names their folder; without it these cases are skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

static const char *data_path(const char *name) {
  static char path[1024];
  const char *given = getenv("OOZE_HOUDINI_DATA");
  const char *const folders[] = {given ? given : "", OZ_SOURCE_DIR "/../shared/data/houdini",
                                 OZ_SOURCE_DIR "/../../shared/data/houdini",
                                 OZ_SOURCE_DIR "/shared/data/houdini"};
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", folders[i], name);
    if (folders[i][0] && access(path, R_OK) == 0) return path;
  }
  OZ_SKIP("Houdini's sample files are not here");
  return path;
}

static ooze_points *get(const char *name) {
  ooze_points *points = NULL;
  CHECK_GOOD(ooze_points_read(data_path(name), NULL, &points, why));
  return points;
}

static const float *values(const ooze_points *points, const char *name, uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  CHECK(ooze_points_find(points, name, &a) == OOZE_OK, "%s", name);
  CHECK_EQ(a.components, components);
  CHECK_EQ(a.type, OOZE_FLOAT32);
  return a.data;
}

OZ_CASE(text_and_binary_of_the_same_geometry_are_alike) {
  static const char *const names[] = {"empty_16_5",        "points_noprim",    "points_noprim_14",
                                      "points_noprim_15",  "points_noprim_16", "points_noprim_16_5",
                                      "points_partsys_16", "sphere_16_5"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[64], binary[64];
    snprintf(text, sizeof text, "%s.geo", names[i]);
    snprintf(binary, sizeof binary, "%s.bgeo", names[i]);
    ooze_points *a = get(text), *b = get(binary);
    io_check_same(a, b);
    ooze_points_destroy(a);
    ooze_points_destroy(b);
  }
}

OZ_CASE(values_are_those_in_the_file) {
  ooze_points *points = get("points_noprim_16_5.geo");
  const float *p = values(points, "P", 3), *n = values(points, "N", 3);
  CHECK_EQ(ooze_points_count(points), 10);
  CHECK(p[0] == -1.07095671f && p[1] == 0.245002538f && p[2] == 0.0458687507f &&
        p[29] == -0.471310914f);
  CHECK(n[6] == 0.0f && n[7] == -1.0f && n[8] == 1.50774852e-07f);
  ooze_points_destroy(points);
}

/* Houdini 13 and 14: 4 floats, packed 3 and 1 in the binary form */
OZ_CASE(positions_with_a_weight_lose_it) {
  ooze_points *points = get("points_noprim.bgeo");
  const float *p = values(points, "P", 3);
  CHECK_NEAR(p[0], -1.070956707, 1e-7, "a float of the number in the text");
  CHECK_NEAR(p[29], -0.471310973167, 1e-7, "a float of the number in the text");
  ooze_points_destroy(points);
}

OZ_CASE(a_packed_file_of_houdini_19_5_is_read) {
  ooze_points *points = get("points_19_5.bgeo.sc");
  ooze_file_info info;
  CHECK_EQ(ooze_points_count(points), 35947);
  values(points, "confidence", 1);
  values(points, "intensity", 1);
  double box[6];
  CHECK(ooze_points_bounds(points, box) == OOZE_OK);
  /* as its info has them */
  CHECK_NEAR(box[0], -0.0946899, 1e-6, "printed with 6 digits");
  CHECK_NEAR(box[4], 0.187321, 1e-6, "printed with 6 digits");
  ooze_file_info_default(&info);
  CHECK_GOOD(ooze_file_describe(data_path("points_19_5.bgeo.sc"), NULL, &info, why));
  CHECK_EQ(info.primitives, 69451);
  CHECK_EQ(info.vertices, 208353);
  CHECK_STR(info.software, "Houdini 19.5.752");
  ooze_points_destroy(points);
}

OZ_CASE(its_polygons_become_triangles) {
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_GOOD(ooze_mesh_read(data_path("points_19_5.bgeo.sc"), NULL, &mesh, why));
  CHECK_EQ(mesh.triangle_count, 69451);
  CHECK_EQ(mesh.point_count, 35947);
  /* the first polygon is 0x52e0 0x52df 0x4faf; Houdini's order is turned */
  CHECK(mesh.triangles[0] == 0x52e0 && mesh.triangles[1] == 0x4faf && mesh.triangles[2] == 0x52df);
  ooze_mesh_release(&mesh);
}

/* The strings of a text file, in order: its keys and type names. */
static size_t strings_of(const char *path, char *out, size_t capacity) {
  void *file;
  size_t bytes, used = 0;
  CHECK_GOOD(ooze_file_read(path, 1 << 20, &file, &bytes, why));
  bool skip = false;
  for (const char *at = file; at && (at = strchr(at, '"')) != NULL;) {
    const char *end = strchr(++at, '"');
    size_t length = (size_t)(end - at);
    /* its order is free and its values are ours */
    if (length == 4 && memcmp(at, "info", 4) == 0) skip = true;
    if (length == 8 && memcmp(at, "topology", 8) == 0) skip = false;
    bool version = length > 3 && at[2] == '.';
    if (!skip && !version && used + length + 2 < capacity)
      used += (size_t)snprintf(out + used, capacity - used, "%.*s ", (int)length, at);
    at = end + 1;
  }
  ooze_io_free(file);
  return used;
}

OZ_CASE(what_we_write_has_the_shape_of_what_houdini_writes) {
  static char theirs[8192], ours[8192];
  ooze_points *points = get("points_noprim_16_5.geo");
  /* N's default is an integer 0 in that file, a real 0 in ours; all else must be letter for letter
   * the same. */
  CHECK_GOOD(ooze_points_write(scratch_path("shape.geo"), points, NULL, why));
  strings_of(data_path("points_noprim_16_5.geo"), theirs, sizeof theirs);
  strings_of(scratch_path("shape.geo"), ours, sizeof ours);
  char *integer = strstr(theirs, "int64");
  CHECK(integer != NULL);
  memmove(integer + 8, integer + 5, strlen(integer + 5) + 1);
  memcpy(integer, "fpreal64", 8);
  CHECK_STR(ours, theirs);
  ooze_points_destroy(points);
}
