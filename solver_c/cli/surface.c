/* ooze surface: cached points to meshes or .vdb files. SPDX-License-Identifier: Apache-2.0 */
#ifdef OOZE_HAVE_SCENE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "progress.h"
#include "sequence.h"
#include "ooze/ooze_scene.h"

enum { MOST_MATERIALS = 16 };

typedef struct surface_job {
  ooze_surface_desc desc;
  ooze_vdb_options vdb;
  uint32_t with;
  double adaptivity;
  int subtract;
  ooze_io_limits limits;
  cli_scene_beside beside; /* for colours and the names of materials */
} surface_job;

/* Where the ending of a file that can be written begins; the end of the name if it is none. */
static const char *ending_of(const char *out) {
  static const char *const endings[] = {".bgeo.sc", ".bgeosc", ".bgeo", ".geo", ".ply",
                                        ".obj",     ".vdb",    ".abc",  NULL};
  const char *end = out + strlen(out);
  for (int k = 0; endings[k]; ++k)
    if (cli_ends_with(out, endings[k])) return end - strlen(endings[k]);
  return end;
}

/* NAME.ENDING, or NAME.0012.ENDING where there are several frames. */
static void path_of(const char *out, int several, int frame, char *path, size_t room) {
  const char *ending = ending_of(out);
  if (several)
    snprintf(path, room, "%.*s.%04d%s", (int)(ending - out), out, frame, ending);
  else
    snprintf(path, room, "%s", out);
}

/* What cannot be written is refused before anything is read or computed. out: as it was asked for;
 * path: the first file of it. */
static ooze_result check_output(const char *out, const char *path, ooze_message *why) {
  if (!*ending_of(out))
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                   "%s: unknown ending; expected .ply, .obj, .bgeo, .bgeo.sc, .geo or .abc for a "
                   "mesh, or .vdb",
                   out);
  const int vdb = cli_ends_with(path, ".vdb");
  if (!vdb && !ooze_surface_has_vdb())
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                   "%s: this build makes no meshes, which need OpenVDB; expected a .vdb", path);
  uint32_t has_folder = 0;
  OZ_TRY_OK(ooze_file_folder(path, 0, &has_folder, why));
  const ooze_result result = vdb ? ooze_file_can_create(path, why) : ooze_mesh_can_write(path, why);
  /* its folder is made with the first file, so that a refusal leaves none behind */
  return result != OOZE_ERROR_UNSUPPORTED && !has_folder ? OOZE_OK : result;
}

/* The scene's colliders at the frame; to be freed. */
static ooze_result use_solids(const surface_job *job, double frame, ooze_collider_desc **out,
                              ooze_surface_desc *desc, ooze_message *why) {
  uint32_t count = 0;
  *out = NULL;
  if (!job->subtract) return OOZE_OK;
  if (!job->beside.scene)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "--subtract needs a scene beside the points, or --scene");
  OZ_TRY_OK(ooze_scene_solids(job->beside.scene, frame, NULL, 0, &count, why));
  *out = malloc((count + 1) * sizeof **out);
  if (!*out) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u colliders", count);
  desc->solids = *out;
  return ooze_scene_solids(job->beside.scene, frame, *out, count, &desc->solid_count, why);
}

static ooze_result write_one(surface_job *job, ooze_points *points, int frame, const char *path,
                             ooze_message *why) {
  const char *names[MOST_MATERIALS] = {NULL}; /* the first is the solver's own */
  uint32_t materials = 0;
  double separation = (double)job->desc.separation, time = 0.0, number = frame, blend = 0.0;
  ooze_surface_desc desc = job->desc;
  ooze_surface *surface = NULL;
  const int vdb = cli_ends_with(path, ".vdb");
  if (!(separation > 0.0) && ooze_points_detail_get(points, "separation", &separation) != OOZE_OK) {
    ooze_points_attribute scale;
    ooze_points_attribute_default(&scale);
    if (ooze_points_find(points, "pscale", &scale) == OOZE_OK && scale.type == OOZE_FLOAT32 &&
        ooze_points_count(points))
      separation = 2.0 * (double)*(const float *)scale.data;
  }
  if (!(separation > 0.0))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: the points have neither a separation nor pscale; give --separation", path);
  desc.separation = (float)separation;
  if (!vdb) desc.attributes = OOZE_FILL_NONE;
  uint32_t with = job->with;
  if (job->beside.scene) {
    ooze_scene_info info;
    ooze_scene_info_default(&info);
    (void)ooze_scene_info_get(job->beside.scene, &info);
    if (info.surface_temperature) with |= OOZE_WITH_TEMPERATURE; /* as `ooze run` does */
    OZ_TRY_OK(ooze_scene_colour_points(job->beside.scene, points, why));
    for (materials = 1; materials < MOST_MATERIALS; ++materials)
      if (!(names[materials] = ooze_scene_material_name(job->beside.scene, materials - 1))) break;
    if (ooze_scene_material_name(job->beside.scene, materials - 1))
      materials = 0; /* more than fit */
  }
  (void)ooze_points_detail_get(points, "time", &time);
  (void)ooze_points_detail_get(points, "frame", &number);
  const int blends = (job->with & OOZE_WITH_SHADING) &&
                     ooze_points_detail_get(points, "restblend", &blend) == OOZE_OK;
  ooze_collider_desc *solids = NULL;
  ooze_result result = use_solids(job, number, &solids, &desc, why);
  if (result >= 0)
    result = ooze_surface_of_points(&desc, points, with, names, materials, &surface, why);
  free(solids);
  if (result >= 0) result = ooze_file_folder(path, 1, NULL, why);
  if (result < 0) {
    ooze_surface_destroy(surface);
    return result;
  }
  if (vdb) {
    ooze_vdb_options options = job->vdb;
    options.has_time = 1;
    options.frame = (int32_t)number;
    options.time = time;
    options.has_rest_blend = (uint32_t)blends;
    options.rest_blend = (float)blend;
    result = ooze_surface_write_vdb(surface, path, &options, why);
  } else {
    ooze_mesh mesh;
    ooze_write_options options;
    ooze_mesh_default(&mesh);
    ooze_write_options_default(&options);
    options.threads = desc.threads;
    result = ooze_surface_mesh(surface, job->adaptivity, &mesh, why);
    if (result >= 0) result = ooze_mesh_detail_set(&mesh, "frame", number, why);
    if (result >= 0) result = ooze_mesh_detail_set(&mesh, "time", time, why);
    if (result >= 0 && blends) result = ooze_mesh_detail_set(&mesh, "restblend", blend, why);
    if (result >= 0) result = ooze_mesh_write(path, &mesh, &options, why);
    ooze_mesh_release(&mesh);
  }
  ooze_surface_destroy(surface);
  return result;
}

int cli_surface(int argc, char **argv) {
  enum { MOST_CACHES = 64 };
  const char *caches[MOST_CACHES], *out = NULL, *scene_path = NULL, *frames = NULL;
  int stress = 0, strainrate = 0, temperature = 0, plain = 0, half = 0, quiet = 0;
  uint32_t every = 1, of = OOZE_SURFACE_OF_FLUID, progress = CLI_PROGRESS_AUTO;
  double separation = 0.0, radius = 0.0, voxel = 0.0, width = 3.0, smooth = 0.9, stretch = 2.0,
         threshold = 0.85, gap = 0.0, gigabytes = 0.0;
  size_t operands = 0;
  static surface_job job; /* zeroed; a path is long for a stack */
  ooze_surface_desc_default(&job.desc);
  job.desc.method = OOZE_SURFACE_ANISOTROPIC;
  ooze_vdb_options_default(&job.vdb);
  ooze_io_limits_default(&job.limits);
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &out, "FILE",
       "a mesh (.ply .obj .bgeo .bgeo.sc .geo .abc) or a .vdb; of several frames each has its "
       "number before the ending",
       0, 0},
      {"method", 'm', CLI_CHOICE, &job.desc.method, "spheres|anisotropic|density",
       "how the surface is made; see output.surface_method", 0, 0},
      {"of", 0, CLI_CHOICE, &of, "fluid|all|bodies", "whose particles; see output.surface_of", 0,
       0},
      {"separation", 0, CLI_NUMBER, &separation, "M",
       "spacing of particles. Default: what the file says", 1e-6, 1e3},
      {"voxel", 0, CLI_NUMBER, &voxel, "M", "0 takes half the separation", 0, 1e3},
      {"radius", 0, CLI_NUMBER, &radius, "M", "of a lone particle; 0: by its volume", 0, 1e3},
      {"smoothing", 0, CLI_COUNT, &job.desc.smoothing, "N",
       "passes of a filter that keeps volume and thin strands", 0, 100},
      {"position-smoothing", 0, CLI_NUMBER, &smooth, "X",
       "0 to 1: noise taken out of positions (anisotropic). Default 0.9", 0, 1},
      {"max-stretch", 0, CLI_NUMBER, &stretch, "X",
       "1 to 4: widest over narrowest kernel axis (anisotropic). Default 2", 1, 4},
      {"threshold", 0, CLI_NUMBER, &threshold, "X",
       "share of full density below which a particle is at the surface (density). Default 0.85", 0,
       1},
      {"half-width", 0, CLI_NUMBER, &width, "N", "voxels of the band of a .vdb. Default 3", 2, 20},
      {"adaptivity", 0, CLI_NUMBER, &job.adaptivity, "X",
       "of a mesh, 0 to 1: merges flat parts into larger polygons", 0, 1},
      {"subtract", 0, CLI_FLAG, &job.subtract, NULL,
       "take the scene's colliders out, so that fluid and walls do not overlap", 0, 0},
      {"gap", 0, CLI_NUMBER, &gap, "M",
       "with --subtract: room left before walls; below 0 the surface reaches into them", -1e3, 1e3},
      {"temperature", 0, CLI_FLAG, &temperature, NULL,
       "carry temperature (K). Default: where a material of the scene conducts heat", 0, 0},
      {"stress", 0, CLI_FLAG, &stress, NULL, "carry the magnitude of stress, if the points have it",
       0, 0},
      {"strainrate", 0, CLI_FLAG, &strainrate, NULL, "carry the strain rate (1/s)", 0, 0},
      {"plain", 0, CLI_FLAG, &plain, NULL, "no Cd, rest, age and materials", 0, 0},
      {"half-precision", 0, CLI_FLAG, &half, NULL, "of a .vdb: 16 bits a value", 0, 0},
      {"scene", 0, CLI_TEXT, &scene_path, "SCENE",
       "for colours, names of materials and colliders. Default: the scene.json that the run left "
       "beside",
       0, 0},
      {"frames", 'f', CLI_TEXT, &frames, "A-B", "of a folder: these frames, or this one", 0, 0},
      {"every", 0, CLI_COUNT, &every, "N", "of a folder: each Nth frame", 1, 100000},
      {"threads", 't', CLI_COUNT, &job.desc.threads, "N", "0 takes all", 0, 4096},
      {"max-memory", 0, CLI_NUMBER, &gigabytes, "GB",
       "refuse a file that needs more to be read. Default 16", 1e-6, 1e6},
      {"progress", 0, CLI_CHOICE, &progress, CLI_PROGRESS_CHOICE,
       "a bar; an object a line on standard output for each file; or none", 0, 0},
      {"quiet", 'q', CLI_FLAG, &quiet, NULL, "do not name what is written, and no progress", 0, 0},
  };
  const cli_syntax syntax = {
      "ooze surface CACHE... -o FILE [options]",
      "Makes the surface of cached points, of one file (.bgeo.sc .bgeo .geo .ply) or of every "
      "frame "
      "in a folder, such as that of `ooze run`: a mesh with normals, velocities and channels for "
      "shading, or a level set with a grid for each.",
      options, sizeof options / sizeof options[0],
      "examples:\n"
      "  ooze surface slime/points/slime.0090.bgeo.sc -o slime.ply --method anisotropic\n"
      "  ooze surface slime -o meshes/slime.bgeo.sc --frames 10-90\n"};
  int code = cli_parse(&syntax, argc, argv, caches, MOST_CACHES, &operands);
  if (code != CLI_PARSED) return code;
  if (!operands || !out) {
    cli_error("surface: a cache to read and -o FILE to write; `ooze surface --help` tells more");
    return CLI_USAGE;
  }
  if (voxel > 0.0 && voxel < OOZE_SMALLEST_VOXEL) {
    cli_error("--voxel: %g m is out of range; expected %g m or more, which is as fine as OpenVDB "
              "goes, or 0 for half the separation",
              voxel, OOZE_SMALLEST_VOXEL);
    return CLI_USAGE;
  }
  int low = -1000000, high = 1000000;
  if (frames && !cli_frame_range(frames, &low, &high)) return CLI_USAGE;
  job.desc.separation = (float)separation;
  job.desc.voxel = (float)voxel;
  job.desc.radius = (float)radius;
  job.desc.half_width = (float)width;
  job.desc.position_smoothing = (float)smooth;
  job.desc.max_stretch = (float)stretch;
  job.desc.threshold = (float)threshold;
  job.desc.solid_gap = (float)gap;
  job.vdb.half_precision = (uint32_t)half;
  job.with = (plain ? 0u : OOZE_WITH_SHADING) | (temperature ? OOZE_WITH_TEMPERATURE : 0u) |
             (stress ? OOZE_WITH_STRESS : 0u) | (strainrate ? OOZE_WITH_STRAINRATE : 0u) |
             ooze_surface_of_bits(of);
  if (gigabytes > 0.0) job.limits.max_bytes = (uint64_t)(gigabytes * 1e9);

  cli_sequence list = {NULL, 0};
  ooze_message why = {""};
  ooze_result result = OOZE_OK;
  if (!cli_sequence_gather(&list, "surface", caches, operands, low, high, every, &code)) {
    cli_sequence_release(&list);
    return code;
  }
  cli_sweep_beside(out);
  char path[CLI_PATH_ROOM];
  int frame = 0;
  cli_frame_of(list.paths[0], &frame);
  path_of(out, list.count > 1, frame, path, sizeof path);
  result = check_output(out, path, &why);
  cli_progress shown;
  cli_progress_begin(&shown, progress, quiet);
  quiet |= progress == CLI_PROGRESS_JSON; /* it names the files */
  for (uint32_t i = 0; i < list.count && result >= 0; ++i) {
    ooze_points *points = NULL;
    frame = 0;
    cli_frame_of(list.paths[i], &frame);
    path_of(out, list.count > 1, frame, path, sizeof path);
    result = cli_use_scene(&job.beside, "surface", scene_path, list.paths[i], NULL, &why);
    if (result >= 0) result = ooze_points_read(list.paths[i], &job.limits, &points, &why);
    if (result >= 0) result = write_one(&job, points, frame, path, &why);
    ooze_points_destroy(points);
    cli_progress_clear(&shown);
    if (result >= 0 && !quiet) printf("%s\n", path);
    fflush(stdout);
    if (result >= 0) cli_progress_frame(&shown, i + 1, list.count, frame, path);
  }
  if (result < 0) cli_error("surface: %s", why.text);
  ooze_scene_destroy(job.beside.scene);
  cli_sequence_release(&list);
  return cli_exit_code(result);
}
#else
typedef int cli_no_surfaces;
#endif
