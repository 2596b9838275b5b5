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

/* Requests of the command line. */
typedef struct render_request {
  const char *out, *scene_path, *colour, *size, *frames, *caption, *range;
  int spheres, surface, quiet;
  uint32_t progress, threads, samples, every, columns, cell;
  double azimuth, elevation, zoom, fps, gigabytes;
} render_request;

enum { UNSET_ANGLE = 1000000000, FITTED = 22 /* caches that tell the camera */ };

/* Pictures on their way to files, a film or a sheet. */
typedef struct render_job {
  const render_request *ask;
  cli_sequence list;
  ooze_picture_options picture;
  ooze_io_limits limits;
  ooze_scene_options scene_options;

  cli_scene_beside beside; /* of the frame at hand */
  ooze_scene_info info;

  int film, several, quiet;
  ooze_movie *movie;
  ooze_image *cells; /* of a sheet */
  char (*names)[64]; /* below the cells */

  uint32_t made, filled, seen; /* filled: of caches with particles; seen: that show some */
  cli_progress shown;
  ooze_message why;
} render_job;

/* Camera, size and colours; CLI_PARSED, or an exit code after a message. */
static int picture_options(const render_request *ask, ooze_picture_options *o) {
  ooze_picture_options_default(o);
  o->style = ask->spheres   ? OOZE_PICTURE_SPHERES
             : ask->surface ? OOZE_PICTURE_SURFACE
                            : OOZE_PICTURE_AUTO;
  o->colour_by = ask->colour;
  o->samples = ask->samples;
  o->threads = ask->threads;
  o->caption = ask->caption;
  if (ask->size && (sscanf(ask->size, "%ux%u", &o->width, &o->height) != 2 || o->width < 16 ||
                    o->height < 16 || o->width > 8192 || o->height > 8192)) {
    cli_error("--size: '%s' is no size; expected WxH from 16x16 to 8192x8192", ask->size);
    return CLI_USAGE;
  }
  if (ask->range && sscanf(ask->range, "%f,%f", &o->range[0], &o->range[1]) != 2) {
    cli_error("--range: '%s' is no range; expected LOW,HIGH", ask->range);
    return CLI_USAGE;
  }

  const int turned = ask->azimuth != UNSET_ANGLE, raised = ask->elevation != UNSET_ANGLE;
  if (turned || raised || ask->zoom != 1.0) {
    o->has_view = 1;
    o->azimuth = turned ? (float)ask->azimuth : 25.0f;
    o->elevation = raised ? (float)ask->elevation : 14.0f;
    o->zoom = (float)ask->zoom;
  }
  return CLI_PARSED;
}

/* Widens the common camera and colours to a cache, which is read. */
static ooze_result fit_cache(render_job *job, const char *cache) {
  ooze_points *points = NULL;
  int frame = 0;
  const render_request *ask = job->ask;
  ooze_result result =
      cli_use_scene(&job->beside, "render", ask->scene_path, cache, &job->scene_options, &job->why);
  if (result < 0) return result;
  if (job->beside.scene) ooze_scene_info_get(job->beside.scene, &job->info);
  if (job->beside.scene && job->info.framed && !(ask->colour && !ask->range)) return OOZE_OK;
  cli_frame_of(cache, &frame);
  result = ooze_points_read(cache, &job->limits, &points, &job->why);
  if (result >= 0)
    result = ooze_scene_picture_fit(job->beside.scene, frame, points, &job->picture, &job->why);
  ooze_points_destroy(points);
  return result;
}

/* Caches from place i on that go with the same scene. */
static uint32_t of_one_scene(const render_job *job, uint32_t i) {
  char first[CLI_PATH_ROOM] = "", other[CLI_PATH_ROOM];
  uint32_t n = 1;
  if (job->ask->scene_path) return job->list.count - i;
  cli_find_scene(job->list.paths[i], first, sizeof first);
  for (; i + n < job->list.count; ++n) {
    other[0] = '\0';
    cli_find_scene(job->list.paths[i + n], other, sizeof other);
    if (strcmp(first, other) != 0) break;
  }
  return n;
}

/* One camera and one range of colours for all pictures of a scene, `count` caches from `first` on:
 * from the first cache, the last and at most FITTED - 2 between them. A cache that cannot be read
 * is told where it is drawn. */
static ooze_result fit_scene(render_job *job, uint32_t first, uint32_t count) {
  const uint32_t last = count - 1, n = last < FITTED - 1 ? last : FITTED - 1;
  ooze_picture_options *o = &job->picture;
  ooze_result result = OOZE_OK;
  memset(o->fit_bounds, 0, sizeof o->fit_bounds);
  memset(o->fit_range, 0, sizeof o->fit_range);
  o->fit_size = 0.0f;
  cli_busy("fitting the camera to all frames", job->quiet || job->shown.terminal,
           CLI_STOP_BY_ITSELF);
  for (uint32_t i = 0; n && i <= n && result >= 0; ++i)
    result = fit_cache(job, job->list.paths[first + (uint64_t)i * last / n]);
  cli_idle();
  if (result == OOZE_ERROR_MEMORY) return result;
  job->why.text[0] = 0;
  return OOZE_OK;
}

static ooze_result draw_cache(render_job *job, const char *cache, int frame, ooze_image *image) {
  ooze_points *points = NULL;
  ooze_result result = ooze_points_read(cache, &job->limits, &points, &job->why);
  if (result >= 0)
    result =
        ooze_scene_picture(job->beside.scene, frame, points, NULL, &job->picture, image, &job->why);
  if (result >= 0 && ooze_points_count(points) > 0) {
    ++job->filled;
    job->seen += image->fluid_pixels > 0;
  }
  cli_idle();
  ooze_points_destroy(points);
  return result;
}

/* The name of one frame's picture. */
static void picture_name(const render_job *job, const char *cache, int frame,
                         char path[CLI_PATH_ROOM]) {
  static const char *const endings[] = {".bgeo.sc", ".bgeo", ".geo", ".ply"};
  const char *out = job->ask->out;
  if (out && job->several) {
    snprintf(path, CLI_PATH_ROOM, "%.*s.%04d.png", (int)(strlen(out) - 4), out, frame);
    return;
  }
  if (out) {
    snprintf(path, CLI_PATH_ROOM, "%s", out);
    return;
  }
  const char *name = strrchr(cache, '/');
  name = name ? name + 1 : cache;
  size_t n = strlen(name);
  for (size_t k = 0; k < 4; ++k)
    if (cli_ends_with(name, endings[k])) {
      n -= strlen(endings[k]);
      break;
    }
  snprintf(path, CLI_PATH_ROOM, "%.*s.png", (int)n, name);
}

static ooze_result write_picture(render_job *job, const ooze_image *image, const char *path) {
  ooze_result result = ooze_image_write_png(image, path, &job->why);
  cli_progress_clear(&job->shown);
  if (result >= 0 && !job->quiet) printf("%s\n", path);
  fflush(stdout);
  return result;
}

static ooze_result add_to_film(render_job *job, const ooze_image *image) {
  const double fps = job->ask->fps > 0.0 ? job->ask->fps : job->info.frames_per_second;
  ooze_result result = OOZE_OK;
  if (!job->movie)
    result =
        ooze_movie_open(job->ask->out, image->width, image->height, fps, &job->movie, &job->why);
  return result >= 0 ? ooze_movie_add(job->movie, image, &job->why) : result;
}

/* The picture of the cache at place i, drawn and passed on. */
static ooze_result render_cache(render_job *job, uint32_t i) {
  const char *cache = job->list.paths[i];
  int frame = 0, has = cli_frame_of(cache, &frame);
  char what[80], path[CLI_PATH_ROOM];
  ooze_image image;
  ooze_image_default(&image);
  snprintf(what, sizeof what, "drawing picture %u of %u", i + 1, job->list.count);
  cli_busy(what, job->quiet || job->shown.terminal, CLI_STOP_BY_ITSELF);

  ooze_result result = cli_use_scene(&job->beside, "render", job->ask->scene_path, cache,
                                     &job->scene_options, &job->why);
  if (result < 0) return result;
  if (job->beside.scene) ooze_scene_info_get(job->beside.scene, &job->info);
  result = draw_cache(job, cache, has ? frame : 0, &image);

  if (result >= 0 && job->cells) {
    job->cells[i] = image;
    if (job->names && job->beside.scene)
      snprintf(job->names[i], sizeof job->names[i], "%s %d", job->info.name, frame);
    ++job->made;
    cli_progress_frame(&job->shown, job->made, job->list.count, frame, NULL);
    return result;
  }
  if (result >= 0 && job->film) {
    result = add_to_film(job, &image);
  } else if (result >= 0) {
    picture_name(job, cache, frame, path);
    result = write_picture(job, &image, path);
  }
  ooze_image_free(&image);
  if (result >= 0) {
    ++job->made;
    cli_progress_frame(&job->shown, job->made, job->list.count, frame, job->film ? NULL : path);
  }
  return result;
}

/* The cells in one picture. They and their names are freed. */
static ooze_result write_sheet(render_job *job, ooze_result result) {
  const uint32_t count = job->list.count;
  const char *path = job->ask->out ? job->ask->out : "sheet.png";
  const ooze_image **each = calloc(count + 1, sizeof *each);
  const char **captions = calloc(count + 1, sizeof *captions);
  int titled = 0;
  ooze_image sheet;
  ooze_image_default(&sheet);
  for (uint32_t i = 0; each && captions && i < count; ++i) {
    each[i] = &job->cells[i];
    captions[i] = job->names ? job->names[i] : "";
    titled |= captions[i][0] != 0;
  }
  if (result >= 0 && each && captions && job->made)
    result = ooze_image_sheet(each, titled ? captions : NULL, count, job->ask->columns,
                              job->ask->cell, &sheet, &job->why);
  if (result >= 0 && job->made) result = ooze_image_write_png(&sheet, path, &job->why);
  if (result >= 0 && job->made && !job->quiet) printf("%s\n", path);

  ooze_image_free(&sheet);
  free((void *)each);
  free((void *)captions);
  free(job->names);
  for (uint32_t i = 0; i < count; ++i) ooze_image_free(&job->cells[i]);
  free(job->cells);
  return result;
}

static ooze_result close_film(render_job *job, ooze_result result) {
  if (result >= 0)
    result = ooze_movie_close(job->movie, &job->why);
  else
    ooze_movie_abandon(job->movie);
  if (result >= 0 && !job->quiet) printf("%s\n", job->ask->out);
  return result;
}

/* Draws the caches of job->list. */
static ooze_result render_all(render_job *job) {
  const render_request *ask = job->ask;
  ooze_result result = OOZE_OK;
  job->film = ask->out && cli_ends_with(ask->out, ".mp4");
  job->several = job->list.count > 1;
  if (ask->columns) {
    job->cells = calloc(job->list.count + 1, sizeof *job->cells);
    job->names = calloc(job->list.count + 1, sizeof *job->names);
  }
  if (ask->out && !job->film && !cli_ends_with(ask->out, ".png")) {
    cli_error("render: '%s': expected a name that ends in .png or .mp4", ask->out);
    result = OOZE_ERROR_ARGUMENT;
  } else {
    cli_sweep_beside(ask->out ? ask->out : "");
    if (ask->out) result = ooze_file_can_create(ask->out, &job->why); /* before any picture */
  }
  /* a cache that is not there is told before a program that is not */
  if (result >= 0 && job->film && ooze_file_exists(job->list.paths[0]))
    result = ooze_movie_can_write(ask->out, &job->why);
  cli_progress_begin(&job->shown, ask->progress, ask->quiet);
  job->quiet = ask->quiet || ask->progress == CLI_PROGRESS_JSON; /* which names the files */

  for (uint32_t i = 0; i < job->list.count && result >= 0;) {
    const uint32_t end = i + of_one_scene(job, i);
    result = fit_scene(job, i, end - i);
    for (; i < end && result >= 0; ++i) result = render_cache(job, i);
  }
  if (job->cells) result = write_sheet(job, result);
  if (job->movie) result = close_film(job, result);

  if (result < 0 && job->why.text[0]) cli_error("render: %s", job->why.text);
  if (result >= 0 && job->filled && !job->seen)
    cli_error(
        "render: warning: none of the fluid is seen: a collider hides it, or it is out of the "
        "frame; --azimuth, --elevation and --zoom move the camera (--azimuth 205: from "
        "behind)");
  return result;
}

static int render_caches(const render_request *ask, const char **caches, size_t count) {
  render_job job;
  int low = -1000000, high = 1000000, code;
  memset(&job, 0, sizeof job);
  job.ask = ask;
  ooze_io_limits_default(&job.limits);
  ooze_scene_options_default(&job.scene_options);
  ooze_scene_info_default(&job.info);
  job.info.frames_per_second = 30.0;
  job.scene_options.max_memory = (uint64_t)(ask->gigabytes * 1e9);
  if (ask->gigabytes > 0.0) job.limits.max_bytes = job.scene_options.max_memory;

  code = picture_options(ask, &job.picture);
  if (code != CLI_PARSED) return code;
  if (ask->frames && !cli_frame_range(ask->frames, &low, &high)) return CLI_USAGE;
  if (cli_sequence_gather(&job.list, "render", caches, count, low, high, ask->every, &code))
    code = cli_exit_code(render_all(&job));
  ooze_scene_destroy(job.beside.scene);
  cli_sequence_release(&job.list);
  return code;
}

int cli_render(int argc, char **argv) {
  enum { MOST_CACHES = 256 };
  const char *caches[MOST_CACHES];
  size_t count = 0;
  render_request ask;
  memset(&ask, 0, sizeof ask);
  ask.progress = CLI_PROGRESS_AUTO;
  ask.every = 1;
  ask.cell = 480;
  ask.azimuth = ask.elevation = UNSET_ANGLE;
  ask.zoom = 1.0;
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &ask.out, "FILE",
       "a .png, or for several frames a .mp4 (needs ffmpeg) or a .png of which each frame makes "
       "one. Default: NAME.png "
       "in the current folder",
       0, 0},
      {"scene", 0, CLI_TEXT, &ask.scene_path, "SCENE",
       "for camera, colours and colliders. Default: the scene.json that the run left beside", 0, 0},
      {"frames", 'f', CLI_TEXT, &ask.frames, "A-B", "of a folder: these frames, or this one", 0, 0},
      {"every", 0, CLI_COUNT, &ask.every, "N", "of a folder: each Nth frame", 1, 100000},
      {"sheet", 0, CLI_COUNT, &ask.columns, "N", "all pictures in one .png, N in a row", 1, 32},
      {"cell", 0, CLI_COUNT, &ask.cell, "W",
       "of a sheet: width of each picture in pixels. Default 480", 32, 4096},
      {"colour-by", 'c', CLI_TEXT, &ask.colour, "WHAT",
       "material, speed, stretch, compression or temperature", 0, 0},
      {"range", 0, CLI_TEXT, &ask.range, "LOW,HIGH", "of --colour-by. Default: from the particles",
       0, 0},
      {"spheres", 0, CLI_FLAG, &ask.spheres, NULL, "draw particles", 0, 0},
      {"surface", 0, CLI_FLAG, &ask.surface, NULL, "draw the surface", 0, 0},
      {"size", 0, CLI_TEXT, &ask.size, "WxH", "in pixels. Default: the scene's, else 960x540", 0,
       0},
      {"samples", 0, CLI_COUNT, &ask.samples, "N", "rays a pixel", 1, 64},
      {"azimuth", 0, CLI_NUMBER, &ask.azimuth, "DEGREES",
       "camera around the scene, framed by itself", -360, 360},
      {"elevation", 0, CLI_NUMBER, &ask.elevation, "DEGREES", "camera above the ground", -89, 89},
      {"zoom", 0, CLI_NUMBER, &ask.zoom, "X", "1 fits everything in", 0.01, 100},
      {"caption", 0, CLI_TEXT, &ask.caption, "TEXT", "small text at the lower left", 0, 0},
      {"fps", 0, CLI_NUMBER, &ask.fps, "N", "of a film. Default: the scene's, else 30", 0.1, 1000},
      {"threads", 't', CLI_COUNT, &ask.threads, "N", "0 takes all", 0, 4096},
      {"max-memory", 0, CLI_NUMBER, &ask.gigabytes, "GB",
       "refuse a file that needs more to be read. Default 16", 1e-6, 1e6},
      {"progress", 0, CLI_CHOICE, &ask.progress, CLI_PROGRESS_CHOICE,
       "a bar; an object a line on standard output for each picture; or none", 0, 0},
      {"quiet", 'q', CLI_FLAG, &ask.quiet, NULL, "do not name what is written, and no progress", 0,
       0},
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
  int code = cli_parse(&syntax, argc, argv, caches, MOST_CACHES, &count);
  if (code != CLI_PARSED) return code;
  if (!count) {
    cli_error("render: which cache? `ooze render --help` tells more");
    return CLI_USAGE;
  }
  return render_caches(&ask, caches, count);
}
#else
typedef int cli_no_pictures;
#endif
