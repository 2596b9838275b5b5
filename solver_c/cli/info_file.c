/* ooze info FILE: the contents of a file or a scene. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#include "ooze/ooze_io.h"
#ifdef OOZE_HAVE_SCENE
#include "ooze/ooze_scene.h"
#endif

#define INFO(kind, member) CLI_JSON_OF(kind, i, member)

#ifdef OOZE_HAVE_SCENE
static int ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n >= m && strcmp(path + n - m, ending) == 0;
}
#endif

static void print_bytes(uint64_t bytes, char *out, size_t room) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  double x = (double)bytes;
  int u = 0;
  for (; x >= 1000.0 && u < 4; ++u) x /= 1000.0;
  snprintf(out, room, u ? "%.1f %s" : "%.0f %s", x, units[u]);
}

#ifdef OOZE_HAVE_SCENE
static void print_time(double s, char *out, size_t room) {
  if (s < 100.0)
    snprintf(out, room, "%.2g s", s < 0.1 ? 0.1 : s);
  else if (s < 6000.0)
    snprintf(out, room, "%.0f minutes", s / 60.0);
  else
    snprintf(out, room, "%.0f hours", s / 3600.0);
}

static void print_iterations(uint32_t velocity, uint32_t position) {
  const uint32_t count[2] = {velocity, position};
  printf("iterations ");
  for (int k = 0; k < 2; k++) {
    if (k) printf(" + ");
    if (count[k])
      printf("%u", count[k]);
    else
      printf("automatic");
  }
  printf("\n");
}

static int info_scene(const char *path, const char *wedge, const cli_list *sets, double gigabytes,
                      int as_json) {
  ooze_message why = {""};
  ooze_scene *scene = NULL;
  ooze_scene_options options;
  ooze_scene_info i;
  ooze_scene_estimate e;
  ooze_scene_options_default(&options);
  options.warn = cli_warning;
  options.wedge = wedge;
  options.sets = sets->item;
  options.set_count = sets->count;
  options.max_memory = (uint64_t)(gigabytes * 1e9);
  ooze_scene_info_default(&i);
  ooze_scene_estimate_default(&e);
  cli_busy("reading the scene and counting its particles", 0, CLI_STOP_BY_ITSELF);
  ooze_result result = ooze_scene_load(path, &options, &scene, &why);
  if (result >= 0) result = ooze_scene_info_get(scene, &i);
  if (result >= 0) result = ooze_scene_estimate_get(scene, &e, &why);
  cli_idle();
  if (result < 0) {
    cli_error("%s", why.text);
    ooze_scene_destroy(scene);
    return cli_exit_code(result);
  }
  const uint64_t device = ooze_device_bytes(e.filled + e.emitted);
  if (as_json) {
    cli_json j = {stdout, 0};
    cli_json_object(&j, NULL);
    cli_json_text(&j, "kind", "scene");
    INFO(text, about);
    cli_json_number(&j, "particle_separation", (double)i.separation);
    cli_json_integer(&j, "particles_filled", e.filled);
    cli_json_integer(&j, "particles_emitted", e.emitted);
    cli_json_integer(&j, "bytes", e.bytes);
    cli_json_integer(&j, "bytes_per_particle", e.bytes_per_particle);
    if (device) cli_json_integer(&j, "device_bytes", device);
    cli_json_integer(&j, "steps", e.steps);
    cli_json_number(&j, "seconds", e.seconds);
    INFO(number, first_frame), INFO(number, last_frame);
    cli_json_number(&j, "fps", i.frames_per_second);
    INFO(integer, substeps), INFO(integer, velocity_iterations), INFO(integer, position_iterations);
    cli_json_array(&j, "materials");
    for (uint32_t k = 0; k < i.materials; ++k)
      cli_json_text(&j, NULL, ooze_scene_material_name(scene, k));
    cli_json_array_end(&j);
    cli_json_integer(&j, "wedge_count", i.wedges);
    cli_json_array(&j, "wedges");
    for (uint32_t k = 0; k < i.wedges; ++k)
      cli_json_text(&j, NULL, ooze_scene_wedge_name(scene, k));
    cli_json_array_end(&j);
    cli_json_object_end(&j);
    putchar('\n');
  } else {
    char size[32];
    print_bytes(e.bytes, size, sizeof size);
    printf("%s: scene%s%s\n", path, wedge ? ", wedge " : "", wedge ? wedge : "");
    if (i.about[0]) printf("  %s\n", i.about);
    printf("  particles   %llu at the first frame", (unsigned long long)e.filled);
    if (i.emitters)
      printf(", about %llu more from %u emitter%s", (unsigned long long)e.emitted, i.emitters,
             i.emitters == 1 ? "" : "s");
    printf("; separation %g m\n", (double)i.separation);
    printf("  memory      about %s; %llu bytes a particle in the solver\n", size,
           (unsigned long long)e.bytes_per_particle);
    if (device) {
      print_bytes(device, size, sizeof size);
      printf("  device      about %s of its memory on a CUDA device\n", size);
    }
    printf("  frames      %d to %d at %g a second\n", i.first_frame, i.last_frame,
           i.frames_per_second);
    if (i.substeps)
      printf("  steps       %u a frame of 1/%.4g s, %llu in all%s; ", i.substeps,
             1.0 / i.substep_seconds, (unsigned long long)e.steps,
             i.automatic_substeps ? ", or more (automatic)" : "");
    else
      printf("  steps       follow the motion; ");
    print_iterations(i.velocity_iterations, i.position_iterations);
    char time[32];
    print_time(e.seconds, time, sizeof time);
    if (i.substeps)
      printf("  time        about %s of stepping on this machine, without files\n", time);
    printf("  parts       %u fluid%s, %u bod%s, %u emitter%s, %u collider%s\n  materials  ",
           i.fluids, i.fluids == 1 ? "" : "s", i.bodies, i.bodies == 1 ? "y" : "ies", i.emitters,
           i.emitters == 1 ? "" : "s", i.colliders, i.colliders == 1 ? "" : "s");
    for (uint32_t k = 0; k < i.materials; ++k) printf(" %s", ooze_scene_material_name(scene, k));
    printf("\n");
    if (i.wedges) {
      printf("  wedges     ");
      for (uint32_t k = 0; k < i.wedges; ++k) printf(" %s", ooze_scene_wedge_name(scene, k));
      printf("\n");
    }
  }
  ooze_scene_destroy(scene);
  return CLI_DONE;
}

static int info_vdb(const char *path, double gigabytes, int as_json) {
  enum { MOST = 64 };
  static ooze_vdb_grid grids[MOST];
  ooze_message why = {""};
  ooze_sdf_desc limits;
  uint32_t count = 0;
  ooze_sdf_desc_default(&limits);
  if (gigabytes > 0.0) limits.max_file_bytes = limits.max_memory = (uint64_t)(gigabytes * 1e9);
  ooze_result result = ooze_vdb_describe(&limits, path, grids, MOST, &count, &why);
  if (result < 0) {
    cli_error("%s", why.text);
    return cli_exit_code(result);
  }
  cli_json j = {stdout, 0};
  if (as_json) {
    cli_json_object(&j, NULL);
    cli_json_text(&j, "kind", "OpenVDB");
    cli_json_array(&j, "grids");
  } else {
    printf("%s: OpenVDB, %u grid%s\n", path, count, count == 1 ? "" : "s");
  }
  for (uint32_t k = 0; k < count && k < MOST; ++k) {
    const ooze_vdb_grid *g = &grids[k];
    if (as_json) {
      cli_json_object(&j, NULL);
      cli_json_text(&j, "name", g->name);
      cli_json_text(&j, "type", g->type);
      cli_json_text(&j, "class", g->kind);
      cli_json_number(&j, "voxel", g->voxel);
      cli_json_integer(&j, "active_voxels", g->active);
      cli_json_array(&j, "bounds");
      for (int a = 0; a < 6; ++a) cli_json_number(&j, NULL, a < 3 ? g->lower[a] : g->upper[a - 3]);
      cli_json_array_end(&j);
      cli_json_number(&j, "minimum", g->minimum);
      cli_json_number(&j, "maximum", g->maximum);
      cli_json_object_end(&j);
    } else {
      printf("  grid        %-12s %s%s%s, voxel %g m, %llu active\n", g->name, g->type,
             g->kind[0] ? ", " : "", g->kind, g->voxel, (unsigned long long)g->active);
      if (g->active) {
        printf("    bounds    %g %g %g to %g %g %g m\n", g->lower[0], g->lower[1], g->lower[2],
               g->upper[0], g->upper[1], g->upper[2]);
        if (g->components)
          printf("    %s %g to %g\n", g->components == 3 ? "lengths  " : "values   ", g->minimum,
                 g->maximum);
      }
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    cli_json_object_end(&j);
    putchar('\n');
  } else if (count > MOST) {
    printf("  and %u more grids\n", count - MOST);
  }
  return CLI_DONE;
}
#endif

int cli_info_file(const char *path, const char *wedge, const cli_list *sets, double gigabytes,
                  int as_json) {
#ifdef OOZE_HAVE_SCENE
  if (ends_with(path, ".json")) return info_scene(path, wedge, sets, gigabytes, as_json);
#endif
  if (wedge || sets->count) {
    cli_error("info: %s: --wedge and --set go with a scene (.json)", path);
    return CLI_USAGE;
  }
#ifdef OOZE_HAVE_SCENE
  if (ends_with(path, ".vdb")) return info_vdb(path, gigabytes, as_json);
#endif
  static ooze_file_info i;
  ooze_message why = {""};
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  if (gigabytes > 0.0) limits.max_bytes = (uint64_t)(gigabytes * 1e9);
  ooze_file_info_default(&i);
  cli_busy("reading the file", 0, CLI_STOP_BY_ITSELF);
  ooze_result result = ooze_file_describe(path, &limits, &i, &why);
  cli_idle();
  if (result < 0) {
    cli_error("%s", why.text);
    return cli_exit_code(result);
  }
  uint32_t shown =
      i.attribute_count < OOZE_FILE_ATTRIBUTES ? i.attribute_count : OOZE_FILE_ATTRIBUTES;
  uint32_t details = i.detail_count < OOZE_FILE_DETAILS ? i.detail_count : OOZE_FILE_DETAILS;
  if (as_json) {
    cli_json j = {stdout, 0};
    cli_json_object(&j, NULL);
    INFO(text, kind), INFO(text, software), INFO(integer, bytes), INFO(integer, points),
        INFO(integer, vertices), INFO(integer, primitives), INFO(integer, triangles);
    if (i.has_bounds) {
      cli_json_array(&j, "bounds");
      for (int k = 0; k < 6; ++k) cli_json_number(&j, NULL, i.bounds[k]);
      cli_json_array_end(&j);
    }
    cli_json_array(&j, "attributes");
    for (uint32_t k = 0; k < shown; ++k) {
      cli_json_object(&j, NULL);
      cli_json_text(&j, "name", i.attributes[k].name);
      cli_json_text(&j, "type", i.attributes[k].type);
      cli_json_integer(&j, "components", i.attributes[k].components);
      cli_json_object_end(&j);
    }
    cli_json_array_end(&j);
    cli_json_object(&j, "details");
    for (uint32_t k = 0; k < details; ++k)
      cli_json_number(&j, i.detail_names[k], i.detail_values[k]);
    cli_json_object_end(&j);
    if (i.meta[0]) cli_json_text(&j, "meta", i.meta);
    cli_json_object_end(&j);
    putchar('\n');
    return CLI_DONE;
  }
  char size[32];
  print_bytes(i.bytes, size, sizeof size);
  printf("%s: %s, %s%s%s\n", path, i.kind, size, i.software[0] ? ", written by " : "", i.software);
  if (i.points) printf("  points      %llu\n", (unsigned long long)i.points);
  if (i.primitives || i.triangles)
    printf("  primitives  %llu (%llu triangles)\n", (unsigned long long)i.primitives,
           (unsigned long long)i.triangles);
  if (i.has_bounds)
    printf("  bounds      %g %g %g to %g %g %g\n", i.bounds[0], i.bounds[1], i.bounds[2],
           i.bounds[3], i.bounds[4], i.bounds[5]);
  for (uint32_t k = 0; k < details; ++k)
    printf("  %-11s %.9g\n", i.detail_names[k], i.detail_values[k]);
  for (uint32_t k = 0; k < shown; ++k)
    printf("  attribute   %-14s %s x %u\n", i.attributes[k].name, i.attributes[k].type,
           i.attributes[k].components);
  if (i.attribute_count > shown) printf("  and %u more attributes\n", i.attribute_count - shown);
  if (i.meta[0]) printf("  meta        %s\n", i.meta);
  return CLI_DONE;
}
