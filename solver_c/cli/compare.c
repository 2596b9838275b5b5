/* ooze compare: one scene with several models; a table and one picture. SPDX-License-Identifier:
 * Apache-2.0 */
#ifdef OOZE_HAVE_SCENE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#include "ooze/ooze_scene.h"

enum { MOST_MODELS = 8, PATH_ROOM = 4096, MOST_SETS = CLI_LIST_MOST };

/* The outcome of one model. */
typedef struct outcome {
  char name[64];
  ooze_result result;
  ooze_message why;
  uint32_t particles, frames, substeps;
  double seconds; /* a frame, in the solver */
  /* separations: root mean square displacement in the middle third of the run to its end, less the
   * mean one */
  double drift;
  /* separations: how far the centre of mass goes up and down in the last third */
  double oscillation;
  double volume; /* mean compression at the end, of particles that are not at a surface */
  double stable; /* s: the longest step that held; 0: none that was tried */
  ooze_points *last;
} outcome;

static ooze_result load(const char *path, const char *model, const char *extra,
                        const cli_list *sets, ooze_scene **out, ooze_message *why) {
  ooze_scene_options o;
  const char *all[MOST_SETS + 2];
  char choice[96];
  uint32_t n = 0;
  for (uint32_t i = 0; i < sets->count; ++i) all[n++] = sets->item[i];
  snprintf(choice, sizeof choice, "solver.model=\"%s\"", model);
  all[n++] = choice;
  if (extra) all[n++] = extra;
  ooze_scene_options_default(&o);
  o.sets = all;
  o.set_count = n;
  return ooze_scene_load(path, &o, out, why);
}

/* ---- measuring ---- */

static const void *column(const ooze_points *p, const char *name, uint32_t type,
                          uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  const int found = p && ooze_points_find(p, name, &a) >= 0;
  return found && a.type == type && a.components == components ? a.data : NULL;
}
static const float *positions(const ooze_points *p) { return column(p, "P", OOZE_FLOAT32, 3); }
static const int32_t *ids(const ooze_points *p) { return column(p, "id", OOZE_INT32, 1); }
static double height_of(const ooze_points *p) {
  const float *x = positions(p);
  const uint64_t n = p ? ooze_points_count(p) : 0;
  double sum = 0.0;
  for (uint64_t i = 0; x && i < n; ++i) sum += (double)x[3 * i + 1];
  return n ? sum / (double)n : 0.0;
}
/* Root mean square displacement of those that are in both, less the mean one. Files are in the
 * order of ids, which only ever grow. */
static double displacement(const ooze_points *from, const ooze_points *to) {
  const float *a = positions(from), *b = positions(to);
  const int32_t *ia = ids(from), *ib = ids(to);
  if (!a || !b || !ia || !ib) return NAN;
  const uint64_t na = ooze_points_count(from), nb = ooze_points_count(to);
  double mean[3] = {0.0, 0.0, 0.0}, square = 0.0;
  uint64_t n = 0;
  for (uint64_t i = 0, j = 0; i < na && j < nb;) {
    if (ia[i] != ib[j]) {
      if (ia[i] < ib[j])
        ++i;
      else
        ++j;
      continue;
    }
    for (int c = 0; c < 3; ++c) {
      const double e = (double)b[3 * j + (uint64_t)c] - (double)a[3 * i + (uint64_t)c];
      mean[c] += e;
      square += e * e;
    }
    ++i, ++j, ++n;
  }
  if (!n) return NAN;
  for (int c = 0; c < 3; ++c) square -= mean[c] * mean[c] / (double)n;
  return sqrt(fmax(square, 0.0) / (double)n);
}
/* The same measure for every model: the conformation model's density of the particles as they
 * stand. */
static double compression(const ooze_points *p, float separation) {
  const float *x = positions(p);
  ooze_solver_desc d;
  ooze_solver *s = NULL;
  ooze_params params;
  ooze_particles add;
  ooze_stats t;
  double out = NAN;
  ooze_solver_desc_default(&d);
  d.backend = OOZE_BACKEND_CPU;
  d.particle_separation = separation;
  if (!x || ooze_solver_create(&d, &s, NULL) < 0) return out;
  ooze_params_default(&params);
  params.substeps = 1;
  params.velocity_iterations = 1, params.position_iterations = 1, params.rest_filter = 0;
  params.gravity[1] = 0.0f;
  ooze_particles_default(&add);
  add.count = (uint32_t)ooze_points_count(p);
  add.positions = x;
  ooze_stats_default(&t);
  if (ooze_params_set(s, &params) >= 0 && ooze_particles_add(s, &add, NULL) >= 0 &&
      ooze_step(s, 1e-6) >= 0 && ooze_stats_get(s, &t) >= 0)
    out = t.mean_compression;
  ooze_solver_destroy(s);
  return out;
}

/* ---- the run ---- */

typedef struct keeping {
  double *height; /* by frame */
  uint32_t count, room;
  char files[3][PATH_ROOM]; /* first, at two thirds, last */
  int32_t first, two_thirds, last;
} keeping;

static void wrote(void *user, const char *path) {
  keeping *k = user;
  const char *dot = strstr(path, ".bgeo");
  if (!dot || !strstr(path, "/points/")) return;
  const char *begin = dot;
  while (begin > path && begin[-1] != '.') --begin;
  const int32_t frame = atoi(begin);
  ooze_points *p = NULL;
  if (ooze_points_read(path, NULL, &p, NULL) >= 0 && k->count < k->room)
    k->height[k->count++] = height_of(p);
  ooze_points_destroy(p);
  if (frame == k->first) snprintf(k->files[0], PATH_ROOM, "%s", path);
  if (frame == k->two_thirds) snprintf(k->files[1], PATH_ROOM, "%s", path);
  if (frame == k->last) snprintf(k->files[2], PATH_ROOM, "%s", path);
}

static void run_model(const char *path, const char *folder, int32_t frames, const cli_list *sets,
                      const ooze_solver_desc *machine, outcome *o) {
  ooze_scene *scene = NULL;
  ooze_scene_info info;
  ooze_run_options run;
  ooze_run_report report;
  char where[PATH_ROOM];
  keeping k;
  memset(&k, 0, sizeof k);
  o->result = load(path, o->name, "output.points=\"bgeo.sc\"", sets, &scene, &o->why);
  if (o->result < 0) return;
  ooze_scene_info_default(&info);
  ooze_scene_info_get(scene, &info);
  ooze_run_options_default(&run);
  snprintf(where, sizeof where, "%.3900s/%.63s", folder, o->name);
  run.folder = where;
  run.machine = machine;
  run.checkpoint_every = -1;
  run.first_frame = info.first_frame;
  run.last_frame = frames > 0 && info.first_frame + frames < info.last_frame
                       ? info.first_frame + frames
                       : info.last_frame;
  k.first = run.first_frame, k.last = run.last_frame,
  k.two_thirds = k.last - (k.last - k.first) / 3;
  k.room = (uint32_t)(k.last - k.first + 1);
  k.height = calloc(k.room, sizeof *k.height);
  run.user = &k;
  run.wrote = wrote;
  ooze_run_report_default(&report);
  if (k.height) o->result = ooze_run(scene, &run, &report, &o->why);
  o->particles = report.particles;
  o->frames = report.frames;
  o->substeps =
      report.frames ? (uint32_t)((report.substeps + report.frames / 2) / report.frames) : 0;
  o->seconds = report.frames ? report.step_seconds / report.frames : 0.0;
  ooze_points *late = NULL;
  if (k.files[1][0]) (void)ooze_points_read(k.files[1], NULL, &late, NULL);
  if (k.files[2][0]) (void)ooze_points_read(k.files[2], NULL, &o->last, NULL);
  o->drift = displacement(late, o->last) / (double)info.separation;
  double low = INFINITY, high = -INFINITY;
  for (uint32_t i = k.count - k.count / 3; i < k.count; ++i)
    low = fmin(low, k.height[i]), high = fmax(high, k.height[i]);
  o->oscillation = high >= low ? (high - low) / (double)info.separation : 0.0;
  o->volume = o->last ? compression(o->last, info.separation) : NAN;
  ooze_points_destroy(late);
  free(k.height);
  ooze_scene_destroy(scene);
}

/* Ten frames of the scene with n substeps a frame: the greatest speed (m/s) up to each of them. 0
 * if something went wrong: a particle was reset, or the fluid squashed to half. Colliders stand
 * where the scene has them at its first frame. */
enum { STABLE_FRAMES = 10, FINEST = 64 };
static int speeds(const char *path, const char *model, uint32_t n, const cli_list *sets,
                  const ooze_solver_desc *machine, double out[STABLE_FRAMES], double *frame) {
  ooze_scene *scene = NULL;
  ooze_scene_info info;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_stats t;
  char extra[64];
  int held = 0;
  snprintf(extra, sizeof extra, "solver.substeps=%u", n);
  if (load(path, model, extra, sets, &scene, &why) < 0) return 0;
  ooze_scene_info_default(&info);
  ooze_scene_info_get(scene, &info);
  *frame = 1.0 / (info.frames_per_second > 0.0 ? info.frames_per_second : 24.0);
  if (ooze_scene_build(scene, machine, &s, &why) >= 0) {
    double most = 0.0;
    held = 1;
    ooze_stats_default(&t);
    for (int k = 0; k < STABLE_FRAMES && held; ++k) {
      held =
          ooze_step(s, *frame) == OOZE_OK && ooze_stats_get(s, &t) >= 0 && t.mean_compression < 0.5;
      most = fmax(most, t.max_speed);
      out[k] = most;
    }
  }
  ooze_solver_destroy(s);
  ooze_scene_destroy(scene);
  return held;
}

/* Fewest substeps, doubling from one, with which ten frames hold: nothing is reset, the fluid is
 * not squashed to half, and nothing is faster than twice its speed with the finest step. That is
 * the measure, and not free fall: a model with surface tension of its own is fast where a block's
 * edges round themselves. Adaptive substeps are switched off. */
static double stable_step(const char *path, const char *model, const cli_list *sets,
                          const ooze_solver_desc *machine) {
  double fine[STABLE_FRAMES], coarse[STABLE_FRAMES], frame;
  if (!speeds(path, model, FINEST, sets, machine, fine, &frame)) return 0.0;
  for (uint32_t n = 1; n < FINEST; n *= 2) {
    int held = speeds(path, model, n, sets, machine, coarse, &frame);
    for (int k = 0; k < STABLE_FRAMES && held; ++k) held = coarse[k] <= 2.0 * fine[k] + 0.1;
    if (held) return frame / n;
  }
  return frame / FINEST;
}

/* ---- telling ---- */

static void table(const outcome *o, uint32_t count) {
  printf("%-14s %10s %9s %10s %12s %12s %12s %12s\n", "model", "particles", "substeps", "s/frame",
         "drift, d", "swing, d", "volume, %", "stable, s");
  for (uint32_t i = 0; i < count; ++i) {
    if (o[i].result < 0) {
      printf("%-14s %s\n", o[i].name, o[i].why.text);
      continue;
    }
    printf("%-14s %10u %9u %10.4f %12.3f %12.3f %+12.2f ", o[i].name, o[i].particles, o[i].substeps,
           o[i].seconds, o[i].drift, o[i].oscillation, 100.0 * o[i].volume);
    if (o[i].stable > 0.0)
      printf("%12.5f\n", o[i].stable);
    else
      printf("%12s\n", "-");
  }
}
static void print_json(const outcome *o, uint32_t count, const char *picture) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  cli_json_array(&j, "models");
  for (uint32_t i = 0; i < count; ++i) {
    cli_json_object(&j, NULL);
    cli_json_text(&j, "model", o[i].name);
    cli_json_text(&j, "error", o[i].result < 0 ? o[i].why.text : NULL);
    cli_json_integer(&j, "particles", o[i].particles);
    cli_json_integer(&j, "substeps", o[i].substeps);
    cli_json_number(&j, "seconds_per_frame", o[i].seconds);
    cli_json_number(&j, "drift", o[i].drift);
    cli_json_number(&j, "oscillation", o[i].oscillation);
    cli_json_number(&j, "volume_error", o[i].volume);
    cli_json_number(&j, "stable_step", o[i].stable);
    cli_json_object_end(&j);
  }
  cli_json_array_end(&j);
  cli_json_text(&j, "picture", picture);
  cli_json_object_end(&j);
  putchar('\n');
}

static ooze_result picture(const char *path, const char *out, const cli_list *sets, int32_t frame,
                           const outcome *o, uint32_t count, uint32_t *drawn, ooze_message *why) {
  ooze_image image[MOST_MODELS], sheet;
  const ooze_image *each[MOST_MODELS];
  const char *names[MOST_MODELS];
  ooze_result r = OOZE_OK;
  uint32_t n = 0;
  for (uint32_t i = 0; i < count && r >= 0; ++i) {
    ooze_scene *scene = NULL;
    ooze_picture_options look;
    if (!o[i].last) continue;
    r = load(path, o[i].name, NULL, sets, &scene, why);
    if (r < 0) break;
    memset(&image[n], 0, sizeof image[n]);
    image[n].size = (uint32_t)sizeof image[n];
    ooze_picture_options_default(&look);
    look.width = 640, look.height = 400;
    r = ooze_scene_picture(scene, frame, o[i].last, NULL, &look, &image[n], why);
    each[n] = &image[n];
    names[n] = o[i].name;
    if (r >= 0) n++;
    ooze_scene_destroy(scene);
  }
  memset(&sheet, 0, sizeof sheet);
  sheet.size = (uint32_t)sizeof sheet;
  if (r >= 0 && n) r = ooze_image_sheet(each, names, n, n <= 3 ? n : (n + 1) / 2, 640, &sheet, why);
  if (r >= 0 && n) r = ooze_image_write_png(&sheet, out, why);
  *drawn = n;
  ooze_image_free(&sheet);
  for (uint32_t i = 0; i < n; ++i) ooze_image_free(&image[i]);
  return r;
}

int cli_compare(int argc, char **argv) {
  const char *scene = NULL, *folder = NULL, *models = cli_menu("solver", "model");
  uint32_t threads = 0, frames = 0;
  int as_json = 0, no_stable = 0;
  size_t operands = 0;
  cli_list sets = {{NULL}, 0};
  const cli_option options[] = {
      {"models", 'm', CLI_TEXT, &models, "A,B,C", "which, separated by commas. Default: all", 0, 0},
      {"output", 'o', CLI_TEXT, &folder, "DIR",
       "where the runs and compare.png are written. Default: compare", 0, 0},
      {"frames", 'f', CLI_COUNT, &frames, "N", "of the scene's, from its first. Default: all", 1,
       1e6},
      {"set", 's', CLI_LIST, &sets, "KEY=VALUE",
       "another value for a key of the scene, as in `ooze run`", 0, 0},
      {"no-stable-step", 0, CLI_FLAG, &no_stable, NULL, "do not look for the longest stable step",
       0, 0},
      {"threads", 't', CLI_COUNT, &threads, "N", "of the CPU; 0 takes all", 0, 4096},
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object last", 0, 0},
  };
  const cli_syntax syntax = {
      "ooze compare SCENE --models A,B,C [-o DIR] [options]",
      "Runs the same scene with several models and prints, for each: time a frame in the solver; "
      "drift, the root mean square "
      "displacement of particles over the last third of the run, less the mean one; swing, how far "
      "the centre of mass goes up and "
      "down meanwhile (both in separations); volume error, the mean compression inside the fluid "
      "at the end; and the longest step, of "
      "a frame halved again and again, that holds for ten frames (nothing is reset, squashed to "
      "half, or faster than twice what it is at 1/64 of a frame). DIR/compare.png shows the last "
      "frames side by side. A scene may "
      "carry parameters of all the models; each takes its own.",
      options, sizeof options / sizeof options[0],
      "examples:\n"
      "  ooze compare examples/scenes/compare_drop.json --models conformation,links -o /tmp/drop\n"
      "  ooze compare examples/scenes/compare_coil.json -o /tmp/coil\n"
      "  ooze compare examples/scenes/compare_stretch.json -o /tmp/stretch --no-stable-step\n"};
  int code = cli_parse(&syntax, argc, argv, &scene, 1, &operands);
  if (code != CLI_PARSED) return code;
  if (!operands) {
    cli_error("compare: which scene? `ooze compare --help` tells more");
    return CLI_USAGE;
  }
  if (sets.count > MOST_SETS - 2) {
    cli_error("compare: %u values are set; expected at most %d", sets.count, MOST_SETS - 2);
    return CLI_USAGE;
  }
  static outcome all[MOST_MODELS];
  uint32_t count = 0;
  for (const char *at = models; *at;) {
    size_t n = strcspn(at, ",|");
    if (n == 0 || n >= sizeof all[0].name || count == MOST_MODELS) {
      cli_error(
          "--models: '%s' is no list of at most %d models; expected such as conformation,links",
          models, MOST_MODELS);
      return CLI_USAGE;
    }
    memset(&all[count], 0, sizeof all[count]);
    memcpy(all[count++].name, at, n);
    at += n + (at[n] != 0);
  }
  ooze_solver_desc machine;
  ooze_solver_desc_default(&machine);
  machine.backend = OOZE_BACKEND_CPU;
  machine.threads = threads;
  if (!folder) folder = "compare";
  ooze_scene *any = NULL; /* a file that is not there is told once, not for each model */
  ooze_message first_why = {""};
  ooze_result first = load(scene, all[0].name, NULL, &sets, &any, &first_why);
  ooze_scene_destroy(any);
  if (first < 0) {
    cli_error("compare: %s", first_why.text);
    return cli_exit_code(first);
  }
  int worst = CLI_DONE;
  int32_t last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    fprintf(stderr, "%s ...\n", all[i].name);
    run_model(scene, folder, (int32_t)frames, &sets, &machine, &all[i]);
    last = (int32_t)all[i].frames;
    if (all[i].result >= 0 && !no_stable)
      all[i].stable = stable_step(scene, all[i].name, &sets, &machine);
    if (all[i].result < 0) worst = cli_exit_code(all[i].result);
  }
  char file[PATH_ROOM];
  uint32_t drawn = 0;
  ooze_message why = {""};
  snprintf(file, sizeof file, "%.4000s/compare.png", folder);
  ooze_result r = picture(scene, file, &sets, last, all, count, &drawn, &why);
  if (as_json)
    print_json(all, count, r >= 0 && drawn ? file : NULL);
  else {
    table(all, count);
    if (r >= 0 && drawn) printf("%s\n", file);
  }
  if (r < 0) {
    cli_error("%s", why.text);
    if (worst == CLI_DONE) worst = cli_exit_code(r);
  }
  for (uint32_t i = 0; i < count; ++i) ooze_points_destroy(all[i].last);
  return worst;
}
#else
typedef int compare_needs_scenes;
#endif
