/* ooze convert: points and meshes between formats. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "ooze/ooze_io.h"

static int ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n >= m && strcmp(path + n - m, ending) == 0;
}

int cli_convert(int argc, char **argv) {
  const char *paths[2] = {NULL, NULL};
  size_t operands = 0;
  int quiet = 0, mesh = 0;
  uint32_t compression = 1;
  double gigabytes = 16.0;
  const cli_option options[] = {
      {"mesh", 'm', CLI_FLAG, &mesh, NULL, "read polygons, not points (.obj always is)", 0, 0},
      {"compression", 'c', CLI_COUNT, &compression, "N",
       "of .bgeo.sc, 0 to 9; higher is smaller and slower", 0, 9},
      {"max-memory", 0, CLI_NUMBER, &gigabytes, "GB", "refuse a file that needs more. Default 16",
       1e-6, 1e6},
      {"quiet", 'q', CLI_FLAG, &quiet, NULL, "say nothing when all is well", 0, 0},
  };
  const cli_syntax syntax = {"ooze convert IN OUT [options]",
                             "Reads points with all their attributes from IN and writes them to "
                             "OUT; the endings name the formats: .bgeo, "
                             ".bgeo.sc, "
                             ".geo, .ply. With --mesh, or where one of them is an .obj, triangles. "
                             "OUT appears only when it is whole.",
                             options, sizeof options / sizeof options[0],
                             "example:\n  ooze convert points/honey.0050.bgeo.sc honey.ply\n"};
  int code = cli_parse(&syntax, argc, argv, paths, 2, &operands);
  if (code != CLI_PARSED) return code;
  if (operands != 2) {
    cli_error("convert: a file to read and one to write; `ooze convert --help` tells more");
    return CLI_USAGE;
  }
  if (ends_with(paths[0], ".obj") || ends_with(paths[1], ".obj")) mesh = 1;
  ooze_message why = {""};
  ooze_io_limits limits;
  ooze_write_options write;
  ooze_io_limits_default(&limits);
  limits.max_bytes = (uint64_t)(gigabytes * 1e9);
  ooze_write_options_default(&write);
  write.compression = compression;
  write.threads = cli_processors();
  unsigned long long count = 0;
  ooze_result result;
  cli_sweep_beside(paths[1]);
  result = mesh ? ooze_mesh_can_write(paths[1], &why) : ooze_points_can_write(paths[1], &why);
  if (result < 0) {
    cli_error("convert: %s", why.text);
    return cli_exit_code(result);
  }
  cli_busy("converting", quiet, CLI_STOP_BY_ITSELF);
  if (mesh) {
    ooze_mesh m;
    ooze_mesh_default(&m);
    result = ooze_mesh_read(paths[0], &limits, &m, &why);
    if (result >= 0 && !m.triangle_count) {
      result = OOZE_ERROR_FORMAT;
      snprintf(
          why.text, sizeof why.text,
          "%.300s: has no polygons, and a mesh is to be written; expected a mesh, or points to "
          ".bgeo, .bgeo.sc, .geo or .ply without --mesh",
          paths[0]);
    }
    if (result >= 0) result = ooze_mesh_write(paths[1], &m, &write, &why);
    count = m.triangle_count;
    ooze_mesh_release(&m);
  } else {
    ooze_points *points = NULL;
    result = ooze_points_read(paths[0], &limits, &points, &why);
    if (result >= 0) result = ooze_points_write(paths[1], points, &write, &why);
    count = points ? ooze_points_count(points) : 0;
    ooze_points_destroy(points);
    ooze_file_info about;
    ooze_message unread;
    ooze_file_info_default(&about);
    if (result >= 0 && ooze_file_describe(paths[0], &limits, &about, &unread) >= 0 &&
        about.primitives)
      cli_error("%s: warning: its %llu polygons are left out; --mesh keeps them", paths[0],
                (unsigned long long)about.primitives);
  }
  cli_idle();
  if (result < 0) {
    cli_error("convert: %s", why.text);
    return cli_exit_code(result);
  }
  if (!quiet) printf("%s: %llu %s\n", paths[1], count, mesh ? "triangles" : "points");
  return CLI_DONE;
}
