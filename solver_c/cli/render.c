/* ooze render: cached frames to pictures or a film. SPDX-License-Identifier: Apache-2.0 */
#ifdef OOZE_HAVE_SCENE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "progress.h"
#include "sequence.h"
#include "ooze/ooze_scene.h"

int cli_render(int argc, char **argv) {
  enum { MOST_CACHES = 64 };
  const char *caches[MOST_CACHES], *out = NULL, *scene_path = NULL, *colour = NULL, *size = NULL,
                                   *frames = NULL, *caption = NULL, *range = NULL;
  int spheres = 0, surface = 0, quiet = 0;
  uint32_t progress = CLI_PROGRESS_AUTO, threads = 0, samples = 0, every = 1, columns = 0,
           cell = 480;
  double azimuth = 1e9, elevation = 1e9, zoom = 1.0, fps = 0.0, gigabytes = 0.0;
  size_t operands = 0;
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &out, "FILE",
       "a .png, or for several frames a .mp4 (needs ffmpeg) or a .png of which each frame makes "
       "one. Default: NAME.png "
       "in the current folder",
       0, 0},
      {"scene", 0, CLI_TEXT, &scene_path, "SCENE",
       "for camera, colours and colliders. Default: the scene.json that the run left beside", 0, 0},
      {"frames", 'f', CLI_TEXT, &frames, "A-B", "of a folder: these frames", 0, 0},
      {"every", 0, CLI_COUNT, &every, "N", "of a folder: each Nth frame", 1, 100000},
      {"sheet", 0, CLI_COUNT, &columns, "N", "all pictures in one .png, N in a row", 1, 32},
      {"cell", 0, CLI_COUNT, &cell, "W", "of a sheet: width of each picture in pixels. Default 480",
       32, 4096},
      {"colour-by", 'c', CLI_TEXT, &colour, "WHAT",
       "material, speed, stretch, compression or temperature", 0, 0},
      {"range", 0, CLI_TEXT, &range, "LOW,HIGH", "of --colour-by. Default: from the particles", 0,
       0},
      {"spheres", 0, CLI_FLAG, &spheres, NULL, "draw particles", 0, 0},
      {"surface", 0, CLI_FLAG, &surface, NULL, "draw the surface", 0, 0},
      {"size", 0, CLI_TEXT, &size, "WxH", "in pixels. Default: the scene's, else 960x540", 0, 0},
      {"samples", 0, CLI_COUNT, &samples, "N", "rays a pixel", 1, 64},
      {"azimuth", 0, CLI_NUMBER, &azimuth, "DEGREES", "camera around the scene, framed by itself",
       -360, 360},
      {"elevation", 0, CLI_NUMBER, &elevation, "DEGREES", "camera above the ground", -89, 89},
      {"zoom", 0, CLI_NUMBER, &zoom, "X", "1 fits everything in", 0.01, 100},
      {"caption", 0, CLI_TEXT, &caption, "TEXT", "small text at the lower left", 0, 0},
      {"fps", 0, CLI_NUMBER, &fps, "N", "of a film. Default: the scene's, else 30", 0.1, 1000},
      {"threads", 't', CLI_COUNT, &threads, "N", "0 takes all", 0, 4096},
      {"max-memory", 0, CLI_NUMBER, &gigabytes, "GB",
       "refuse a file that needs more to be read. Default 16", 1e-6, 1e6},
      {"progress", 0, CLI_CHOICE, &progress, CLI_PROGRESS_CHOICE,
       "a bar; an object a line on standard output for each picture; or none", 0, 0},
      {"quiet", 'q', CLI_FLAG, &quiet, NULL, "do not name what is written, and no progress", 0, 0},
  };
  const cli_syntax syntax = {"ooze render CACHE... [-o FILE.png|FILE.mp4] [options]",
                             "Makes a shaded picture of cached points: of one file (.bgeo.sc .bgeo "
                             ".geo .ply), or of every frame in a folder, "
                             "such as "
                             "that of `ooze run`; of several, a film or a sheet. Colours, "
                             "colliders and camera come from the scene where "
                             "there is one.",
                             options, sizeof options / sizeof options[0],
                             "examples:\n"
                             "  ooze render honey/points/*.00[1-9]0.* --sheet 3 -o honey.png\n"
                             "  ooze render honey/points/honey.0090.bgeo.sc -o honey.png\n"
                             "  ooze render honey -o honey.mp4 --colour-by speed\n"};
  int code = cli_parse(&syntax, argc, argv, caches, MOST_CACHES, &operands);
  if (code != CLI_PARSED) return code;
  if (!operands) {
    cli_error("render: which cache? `ooze render --help` tells more");
    return CLI_USAGE;
  }
  ooze_picture_options o;
  ooze_picture_options_default(&o);
  o.style = spheres ? OOZE_PICTURE_SPHERES : surface ? OOZE_PICTURE_SURFACE : OOZE_PICTURE_AUTO;
  o.colour_by = colour;
  o.samples = samples;
  o.threads = threads;
  o.caption = caption;
  if (size && (sscanf(size, "%ux%u", &o.width, &o.height) != 2 || o.width < 16 || o.height < 16 ||
               o.width > 8192 || o.height > 8192)) {
    cli_error("--size: '%s' is no size; expected WxH from 16x16 to 8192x8192", size);
    return CLI_USAGE;
  }
  if (range && sscanf(range, "%f,%f", &o.range[0], &o.range[1]) != 2) {
    cli_error("--range: '%s' is no range; expected LOW,HIGH", range);
    return CLI_USAGE;
  }
  if (azimuth < 1e8 || elevation < 1e8 || zoom != 1.0) {
    o.has_view = 1;
    o.azimuth = azimuth < 1e8 ? (float)azimuth : 25.0f;
    o.elevation = elevation < 1e8 ? (float)elevation : 14.0f;
    o.zoom = (float)zoom;
  }
  int low = -1000000, high = 1000000;
  if (frames && !cli_frame_range(frames, &low, &high)) return CLI_USAGE;

  cli_sequence list = {NULL, 0};
  ooze_message why = {""};
  ooze_result result = OOZE_OK;
  if (!cli_sequence_gather(&list, "render", caches, operands, low, high, every, &code)) {
    cli_sequence_release(&list);
    return code;
  }
  ooze_scene *scene = NULL;
  ooze_scene_info info;
  ooze_scene_info_default(&info);
  info.frames_per_second = 30.0;
  char loaded[CLI_PATH_ROOM] = "";
  int film = out && cli_ends_with(out, ".mp4"), several = list.count > 1;
  ooze_image *cells = columns ? calloc(list.count + 1, sizeof *cells) : NULL;
  char(*names)[64] = columns ? calloc(list.count + 1, sizeof *names) : NULL; /* below the cells */
  if (result >= 0 && out && !film && !cli_ends_with(out, ".png")) {
    cli_error("render: '%s': expected a name that ends in .png or .mp4", out);
    result = OOZE_ERROR_ARGUMENT;
    why.text[0] = 0;
  }
  ooze_movie *movie = NULL;
  if (result >= 0) cli_sweep_beside(out ? out : "");
  ooze_io_limits limits;
  ooze_scene_options scene_options;
  ooze_io_limits_default(&limits);
  ooze_scene_options_default(&scene_options);
  scene_options.max_memory = (uint64_t)(gigabytes * 1e9);
  if (gigabytes > 0.0) limits.max_bytes = scene_options.max_memory;
  uint32_t made = 0;
  cli_progress shown;
  cli_progress_begin(&shown, progress, quiet);
  quiet |= progress == CLI_PROGRESS_JSON; /* it names the files */
  for (uint32_t i = 0; i < list.count && result >= 0; ++i) {
    int frame = 0, has = cli_frame_of(list.paths[i], &frame);
    char found[CLI_PATH_ROOM], what[80];
    snprintf(what, sizeof what, "drawing picture %u of %u", i + 1, list.count);
    cli_busy(what, quiet || shown.terminal, CLI_STOP_BY_ITSELF);
    snprintf(found, sizeof found, "%s", scene_path ? scene_path : "");
    if (!scene_path) cli_find_scene(list.paths[i], found, sizeof found);
    if (strcmp(found, loaded) != 0) { /* another run's */
      ooze_scene_destroy(scene);
      scene = NULL;
      snprintf(loaded, sizeof loaded, "%s", found);
      if (found[0]) result = ooze_scene_load(found, &scene_options, &scene, &why);
      if (result < 0 && !scene_path) { /* a picture without it is better than none */
        cli_error("render: %s; going on without the scene", why.text);
        result = OOZE_OK;
      }
      if (scene) ooze_scene_info_get(scene, &info);
      if (result < 0) break;
    }
    ooze_points *points = NULL;
    ooze_image image;
    ooze_image_default(&image);
    result = ooze_points_read(list.paths[i], &limits, &points, &why);
    if (result >= 0)
      result = ooze_scene_picture(scene, has ? frame : 0, points, NULL, &o, &image, &why);
    cli_idle();
    ooze_points_destroy(points);
    char path[CLI_PATH_ROOM];
    if (result >= 0 && cells) {
      cells[i] = image;
      if (names && scene) snprintf(names[i], sizeof names[i], "%s %d", info.name, frame);
      ++made;
      cli_progress_frame(&shown, made, list.count, frame, NULL);
      continue;
    }
    if (result >= 0 && film) {
      if (!movie)
        result = ooze_movie_open(out, image.width, image.height,
                                 fps > 0.0 ? fps : info.frames_per_second, &movie, &why);
      if (result >= 0) result = ooze_movie_add(movie, &image, &why);
    } else if (result >= 0) {
      if (!out) {
        const char *name = strrchr(list.paths[i], '/');
        name = name ? name + 1 : list.paths[i];
        size_t n = strlen(name);
        static const char *const endings[] = {".bgeo.sc", ".bgeo", ".geo", ".ply"};
        for (size_t k = 0; k < 4; ++k)
          if (cli_ends_with(name, endings[k])) {
            n -= strlen(endings[k]);
            break;
          }
        snprintf(path, sizeof path, "%.*s.png", (int)n, name);
      } else if (several) {
        snprintf(path, sizeof path, "%.*s.%04d.png", (int)(strlen(out) - 4), out, frame);
      } else {
        snprintf(path, sizeof path, "%s", out);
      }
      result = ooze_image_write_png(&image, path, &why);
      cli_progress_clear(&shown);
      if (result >= 0 && !quiet) printf("%s\n", path);
      fflush(stdout);
    }
    ooze_image_free(&image);
    if (result >= 0) ++made;
    if (result >= 0) cli_progress_frame(&shown, made, list.count, frame, film ? NULL : path);
  }
  if (cells) {
    ooze_image sheet;
    ooze_image_default(&sheet);
    const ooze_image **each = calloc(list.count + 1, sizeof *each);
    const char **captions = calloc(list.count + 1, sizeof *captions);
    int titled = 0;
    for (uint32_t i = 0; each && captions && i < list.count; ++i) {
      each[i] = &cells[i];
      captions[i] = names ? names[i] : "";
      titled |= captions[i][0] != 0;
    }
    if (result >= 0 && each && captions && made)
      result =
          ooze_image_sheet(each, titled ? captions : NULL, list.count, columns, cell, &sheet, &why);
    const char *path = out ? out : "sheet.png";
    if (result >= 0 && made) result = ooze_image_write_png(&sheet, path, &why);
    if (result >= 0 && made && !quiet) printf("%s\n", path);
    ooze_image_free(&sheet);
    free((void *)each);
    free((void *)captions);
    free(names);
    for (uint32_t i = 0; i < list.count; ++i) ooze_image_free(&cells[i]);
    free(cells);
  }
  if (movie) {
    if (result >= 0)
      result = ooze_movie_close(movie, &why);
    else
      ooze_movie_abandon(movie);
    if (result >= 0 && !quiet) printf("%s\n", out);
  }
  if (result >= 0 && !made) {
    cli_error("render: no frame in that range");
    result = OOZE_ERROR_NOT_FOUND;
  } else if (result < 0 && why.text[0]) {
    cli_error("render: %s", why.text);
  }
  ooze_scene_destroy(scene);
  cli_sequence_release(&list);
  return cli_exit_code(result);
}
#else
typedef int cli_no_pictures;
#endif
