/* ooze run: a scene to caches, surfaces and pictures. SPDX-License-Identifier: Apache-2.0 */
#ifdef OOZE_HAVE_SCENE
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <inttypes.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "cli.h"
#include "json.h"
#include "options.h"
#include "progress.h"
#include "ooze/ooze_scene.h"

typedef struct stage_line {
  const char *name;
  double seconds;
} stage_line;
typedef struct show {
  int quiet, farm, output_lines, terminal;
  int json;         /* --progress json */
  FILE *log;        /* folder/ooze.log */
  char early[2000]; /* its lines from before the folder is there */
  const char *folder, *scene;
  FILE *out; /* where plain lines go */
  double last_shown, per_frame, fraction;
  int last_percent;
  uint32_t timed;
  char **files;
  uint32_t file_count, file_room;
  stage_line stages[160]; /* the solver's own names, which outlive it */
  uint32_t stage_count;
} show;

static int on_stop(void *user) {
  (void)user;
  return cli_stop_asked();
}

static void log_line(show *w, const char *format, ...) OZ_PRINTF(2, 3);
static void json_line(const char *event, const char *key, const char *text);

static void clear_bar(const show *w);

/* On another thread, while a substep goes on: nothing of it is needed. */
static void on_stopped(void *user, int32_t frame) {
  show *w = user;
  char text[600];
  snprintf(text, sizeof text, "%s: stopped at frame %d; resume with --resume", w->scene,
           (int)frame);
  clear_bar(w);
  cli_error("%s", text);
  if (w->log) log_line(w, "%s", text);
  fflush(NULL);
  _Exit(CLI_STOPPED);
}

static void clear_bar(const show *w) {
  if (w->terminal && w->last_shown > 0.0) fputs("\r\033[K", stderr);
}

static void on_line(void *user, const char *line) {
  show *w = user;
  clear_bar(w);
  fflush(stdout);
  if (w->json) json_line("message", "text", line);
  log_line(w, "%s", line);
  fprintf(stderr, "ooze: %s\n", line);
}

static void on_stage(void *user, const ooze_stage_time *time) {
  show *w = user;
  if (w->stage_count == sizeof w->stages / sizeof *w->stages) return;
  w->stages[w->stage_count].name = time->name;
  w->stages[w->stage_count++].seconds = time->seconds;
}
/* Slowest first, and how much of it bodies take. */
static int by_seconds(const void *a, const void *b) {
  const stage_line *x = a, *y = b;
  return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : 0;
}
static void print_stages(show *w) {
  double all = 0.0, bodies = 0.0;

  for (uint32_t i = 0; i < w->stage_count; ++i) {
    all += w->stages[i].seconds;
    if (!strncmp(w->stages[i].name, "body_", 5) || !strncmp(w->stages[i].name, "soft_", 5))
      bodies += w->stages[i].seconds;
  }
  if (!(all > 0.0)) {
    puts("no stage was timed");
    return;
  }
  qsort(w->stages, w->stage_count, sizeof *w->stages, by_seconds);
  for (uint32_t i = 0; i < w->stage_count; ++i)
    printf("%-18s %9.3f s %5.1f%%\n", w->stages[i].name, w->stages[i].seconds,
           100.0 * w->stages[i].seconds / all);
  printf("%-18s %9.3f s, of which bodies (body_*, soft_*) %.1f%%\n", "all stages", all,
         100.0 * bodies / all);
}

static void on_wrote(void *user, const char *path) {
  show *w = user;
  if (w->json) json_line("file", "path", path);
  if (w->output_lines) {
    clear_bar(w);
    printf("OUTPUT_FILE:%s;\n", path);
    fflush(stdout);
  }
  if (w->file_count == w->file_room) {
    uint32_t room = w->file_room ? 2 * w->file_room : 64;
    char **grown = realloc(w->files, room * sizeof *grown);
    if (!grown) return;
    w->files = grown;
    w->file_room = room;
  }
  size_t n = strlen(path) + 1;
  char *copy = malloc(n);
  if (!copy) return;
  memcpy(copy, path, n);
  w->files[w->file_count++] = copy;
}

/* ---- The log: messages and events of a run, behind those of earlier runs into the folder ---- */

static void open_log(show *w) {
  char path[4096];
  snprintf(path, sizeof path, "%s/ooze.log", w->folder);
  w->log = fopen(path, "a");
  if (!w->log) return;
  (void)fseek(w->log, 0, SEEK_END);
  fprintf(w->log, "%sooze %s, scene %s\n%s", ftell(w->log) > 0 ? "\n" : "", ooze_version_text(),
          w->scene ? w->scene : "", w->early);
}

/* A refused run leaves no folder, and so no log. */
static void log_line(show *w, const char *format, ...) {
  va_list list;
  char when[32] = "", text[1400];
  time_t now = time(NULL);
  struct tm *utc = gmtime(&now);
  if (utc) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", utc);
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!w->log) open_log(w);
  if (w->log) {
    fprintf(w->log, "%s  %s\n", when, text);
    fflush(w->log);
  } else {
    const size_t at = strlen(w->early), room = sizeof w->early - at;
    if (strlen(when) + strlen(text) + 4 < room)
      snprintf(w->early + at, room, "%s  %s\n", when, text);
  }
}

/* One line of JSON: {"event": ...}. */
static void json_line(const char *event, const char *key, const char *text) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  cli_json_text(&j, "event", event);
  cli_json_text(&j, key, text);
  cli_json_object_end(&j);
  fputc('\n', stdout);
  fflush(stdout);
}
static void json_frame(const ooze_run_progress *p, double left) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  cli_json_text(&j, "event", p->done ? "frame" : "step");
  cli_json_number(&j, "frame", p->frame);
  cli_json_number(&j, "first", p->first_frame);
  cli_json_number(&j, "last", p->last_frame);
  cli_json_number(&j, "done", p->frame - p->first_frame + (p->done ? 1 : 0));
  cli_json_number(&j, "all", p->last_frame - p->first_frame + 1);
  cli_json_number(&j, "fraction", p->done ? 1.0 : p->fraction);
  cli_json_integer(&j, "particles", p->particles);
  if (p->done) cli_json_integer(&j, "substeps", p->substeps);
  if (p->done) cli_json_number(&j, "frame_seconds", p->frame_seconds);
  cli_json_number(&j, "seconds", p->seconds);
  cli_json_number(&j, "left", left);
  cli_json_object_end(&j);
  fputc('\n', stdout);
  fflush(stdout);
}

/* Work that goes on while nothing is told, and that a stop would wait for. */
static void note_work(const show *w, const ooze_run_progress *p) {
  cli_idle();
  if (p->fraction >= 1.0 && !p->done) {
    char what[60];
    snprintf(what, sizeof what, "writing frame %d", p->frame);
    cli_busy(what, w->quiet || w->farm, CLI_STOP_SOON);
  }
  /* Until a frame is stepped a stop loses nothing: it waits neither for memory that is claimed
   * behind the last shape nor for a long substep. */
  const int filling = p->frame == p->first_frame;
  if (!w->timed && p->fraction < 1.0 && !p->done)
    cli_busy(filling ? "filling shapes with particles" : "stepping the first frame",
             w->quiet || w->farm || !filling, CLI_STOP_SOON);
}

static void tell_farm(show *w, double fraction) {
  const int percent = (int)(99.0 * fraction);
  if (!w->farm || percent <= w->last_percent) return;
  printf("ALF_PROGRESS %d%%\n", percent);
  fflush(stdout);
  w->last_percent = percent;
}

static void show_bar(show *w, const ooze_run_progress *p, double fraction, const char *left) {
  enum { WIDTH = 24 };
  const double now = p->seconds;
  if (!p->done && now - w->last_shown < 0.1) return;
  w->last_shown = now > 0.0 ? now : 1e-9;
  char bar[WIDTH + 1];
  for (int i = 0; i < WIDTH; ++i) bar[i] = i < (int)(WIDTH * fraction + 0.5) ? '#' : '.';
  bar[WIDTH] = 0;
  fprintf(stderr, "\r[%s] frame %d/%d  %u particles  %.2f s/frame  left %s\033[K", bar, p->frame,
          p->last_frame, p->particles, w->per_frame, left);
  if (p->done && p->frame == p->last_frame) fputc('\n', stderr);
  fflush(stderr);
}

static void on_progress(void *user, const ooze_run_progress *p) {
  show *w = user;
  note_work(w, p);
  const double span = p->last_frame - p->first_frame,
               done = p->frame - p->first_frame - (p->done ? 0.0 : 1.0 - p->fraction),
               fraction = fmax(span > 0.0 ? done / span : 1.0, w->fraction);
  w->fraction = fraction; /* no step back: files of a frame are told while the next is stepped */
  if (p->done && p->substeps) { /* later frames tell more about those to come */
    w->per_frame = w->timed ? 0.7 * w->per_frame + 0.3 * p->frame_seconds : p->frame_seconds;
    w->timed++;
  }
  tell_farm(w, fraction);
  char left[32] = "-:--";
  if (w->timed) cli_duration(w->per_frame * (span - done), left, sizeof left);
  if (p->done)
    log_line(w, "frame %d/%d  %u particles  %u substeps  %.2f s", p->frame, p->last_frame,
             p->particles, p->substeps, p->frame_seconds);
  if (w->json && (p->done || p->seconds - w->last_shown >= 0.5)) {
    w->last_shown = p->seconds;
    json_frame(p, w->timed ? w->per_frame * (span - done) : -1.0);
  }
  if (w->quiet || w->json) return;
  if (w->terminal)
    show_bar(w, p, fraction, left);
  else if (p->done && !w->farm) {
    fprintf(w->out, "frame %d/%d  %u particles  %u substeps  %.2f s  left %s\n", p->frame,
            p->last_frame, p->particles, p->substeps, p->frame_seconds, left);
    fflush(w->out);
  }
}

/* "10-20", "-20" (from the scene's first) or "20" (the same). */
static int parse_frames(const char *text, int32_t scene_first, int32_t *first, int32_t *last) {
  const long most = 1000000000; /* as scenes have it */
  char *end;
  long a = strtol(text, &end, 10), b = a;
  if (end == text) return 0;
  if (text[0] == '-' || *end == 0) {
    b = a < 0 ? -a : a;
    a = scene_first;
  } else if (*end == '-') {
    const char *second = end + 1;
    b = strtol(second, &end, 10);
    if (end == second) return 0;
  }
  if (*end != 0 || b < a || a < -most || b > most) return 0;
  *first = (int32_t)a;
  *last = (int32_t)b;
  return 1;
}

#define INTEGER(member) CLI_JSON_OF(integer, *r, member)
#define NUMBER(member) CLI_JSON_OF(number, *r, member)
static void print_json(const ooze_run_report *r, const show *w, const char *folder, int stopped) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  INTEGER(frames), INTEGER(particles), INTEGER(substeps), NUMBER(seconds);
  cli_json_number(&j, "seconds_per_frame", r->frames ? r->step_seconds / r->frames : 0.0);
  if (stopped)
    cli_json_text(&j, "state_hash", NULL);
  else
    cli_json_hash(&j, "state_hash", r->state_hash);
  cli_json_array(&j, "files");
  for (uint32_t i = 0; i < w->file_count; ++i) cli_json_text(&j, NULL, w->files[i]);
  cli_json_array_end(&j);
  cli_json_number(&j, "last_frame", r->frame);
  cli_json_bool(&j, "resumed", r->resumed != 0);
  INTEGER(contained);
  cli_json_text(&j, "checkpoint", r->checkpoint[0] ? r->checkpoint : NULL);
  cli_json_text(&j, "folder", folder);
  cli_json_bool(&j, "stopped", stopped);
  NUMBER(fill_seconds), NUMBER(step_seconds), NUMBER(wait_seconds), NUMBER(write_seconds),
      NUMBER(checkpoint_seconds);
  cli_json_object_end(&j);
  putchar('\n');
}
#undef INTEGER
#undef NUMBER

/* Requests of the command line. */
typedef struct run_request {
  const char *scene_path, *folder, *frames, *wedge, *watch;
  int resume, accept, preview, as_json, profile;
  double gigabytes;
  uint32_t progress, backend, isa, threads, device, every;
  cli_list sets;
} run_request;

static ooze_result load_scene(const run_request *ask, int quiet, ooze_scene **scene,
                              ooze_message *why) {
  ooze_scene_options o;
  ooze_scene_options_default(&o);
  o.sets = ask->sets.item;
  o.set_count = ask->sets.count;
  o.wedge = ask->wedge;
  o.warn = cli_warning;
  o.max_memory = (uint64_t)(ask->gigabytes * 1e9);
  cli_busy("reading the scene and its files", quiet, CLI_STOP_AT_ONCE);
  ooze_result result = ooze_scene_load(ask->scene_path, &o, scene, why);
  cli_idle();
  return result;
}

static void machine_of(const run_request *ask, ooze_solver_desc *machine) {
  ooze_solver_desc_default(machine);
  machine->backend = ask->backend;
  machine->threads = ask->threads;
  machine->isa = ask->isa;
  if (ask->device != UINT32_MAX) machine->device = (int32_t)ask->device;
}

static void run_options_of(const run_request *ask, const ooze_scene_info *info, show *w,
                           ooze_run_options *run) {
  ooze_run_options_default(run);
  run->folder = ask->folder ? ask->folder : info->name;
  run->resume = (uint32_t)ask->resume;
  run->accept_changes = (uint32_t)ask->accept;
  run->preview = (uint32_t)ask->preview;
  run->checkpoint_every = ask->every == UINT32_MAX ? 0 : ask->every ? (int32_t)ask->every : -1;
  run->watch = ask->watch;
  run->user = w;
  run->progress = on_progress;
  run->wrote = on_wrote;
  run->line = on_line;
  run->stop = on_stop;
  /* reports and lists of files are told by the thread that steps */
  if (!ask->as_json && !w->json && !w->output_lines) run->stopped = on_stopped;
  if (ask->profile) {
    run->stage = on_stage;
#if defined(__unix__) || defined(__APPLE__)
    setenv("OOZE_PROFILE", "1", 1); /* a GPU's stages have no times of their own otherwise */
#endif
  }
  w->folder = run->folder;
  w->scene = ask->scene_path;
}

/* How it ended, in every form that was asked for. */
static void print_end(const run_request *ask, show *w, ooze_result result,
                      const ooze_run_report *report, const char *why) {
  const int stopped = result == OOZE_CANCELLED, broken = result < 0 || stopped;
  clear_bar(w);
  if (broken) cli_error("%s", why);
  if (w->json && broken) json_line(stopped ? "stopped" : "failed", "text", why);
  if (w->json && result == OOZE_OK) json_line("done", "folder", w->folder);
  if (w->log) log_line(w, "%s", broken ? why : "done");
  if (result < 0 && report->checkpoint[0])
    cli_error("the newest checkpoint is %s; --resume goes on from it", report->checkpoint);
  if (w->farm && result == OOZE_OK && w->last_percent != 99) printf("ALF_PROGRESS 99%%\n");

  if (ask->as_json && result >= 0)
    print_json(report, w, w->folder, stopped);
  else if (!w->quiet && !w->farm && !w->json && result == OOZE_OK)
    printf("%u particles, %" PRIu64 " substeps, %.1f s (%.2f s a frame), state %016" PRIx64
           "\n%s\n",
           report->particles, report->substeps, report->seconds,
           report->frames ? report->seconds / report->frames : 0.0, report->state_hash, w->folder);
  if (ask->profile && !ask->as_json && result >= 0) print_stages(w);
}

static int run_scene(const run_request *ask, const ooze_scene *scene, show *w, ooze_message *why) {
  ooze_scene_info info;
  ooze_solver_desc machine;
  ooze_run_options run;
  ooze_run_report report;
  ooze_scene_info_default(&info);
  ooze_scene_info_get(scene, &info);
  machine_of(ask, &machine);
  run_options_of(ask, &info, w, &run);
  run.machine = &machine;
  if (ask->frames &&
      !parse_frames(ask->frames, info.first_frame, &run.first_frame, &run.last_frame)) {
    cli_error("--frames: '%s' is no range of frames; expected A-B, such as %d-%d", ask->frames,
              info.first_frame, info.last_frame);
    return CLI_USAGE;
  }
  if (ask->frames && run.first_frame < info.first_frame && run.last_frame >= info.first_frame)
    cli_error("--frames %s: the scene begins with frame %d", ask->frames, info.first_frame);

  cli_busy(ask->resume ? "checking files and filling shapes" : "filling shapes with particles",
           w->quiet, CLI_STOP_AT_ONCE);
  ooze_run_report_default(&report);
  ooze_result result = ooze_run(scene, &run, &report, why);
  cli_idle();
  print_end(ask, w, result, &report, why->text);
  for (uint32_t i = 0; i < w->file_count; ++i) free(w->files[i]);
  free(w->files);
  if (w->log) fclose(w->log);
  return cli_exit_code(result);
}

int cli_run(int argc, char **argv) {
  run_request ask;
  size_t operands = 0;
  show w;
  memset(&ask, 0, sizeof ask);
  memset(&w, 0, sizeof w);
  ask.progress = CLI_PROGRESS_AUTO;
  ask.device = ask.every = UINT32_MAX;
  w.last_percent = -1;
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, &ask.folder, "DIR",
       "where everything is written. Default: the scene's name, in the current folder", 0, 0},
      {"frames", 'f', CLI_TEXT, &ask.frames, "A-B",
       "frames to write, or the last of them; the simulation still begins with the scene's first",
       0, 0},
      {"backend", 'b', CLI_CHOICE, &ask.backend, "auto|cpu|cuda", "what computes", 0, 0},
      {"device", 0, CLI_COUNT, &ask.device, "N", "which GPU, from 0", 0, 1024},
      {"isa", 0, CLI_CHOICE, &ask.isa, "auto|scalar|neon|sse|avx2|avx512",
       "vector width of the CPU. Each has results of its own; auto takes the widest", 0, 0},
      {"threads", 't', CLI_COUNT, &ask.threads, "N",
       "of the CPU; 0 takes all. Results do not depend on it", 0, 4096},
      {"set", 's', CLI_LIST, &ask.sets, "KEY=VALUE",
       "another value for a key of the scene, by its dotted path; as often as needed", 0, 0},
      {"wedge", 'w', CLI_TEXT, &ask.wedge, "K",
       "a row of the scene's wedge table, by name or by number from 0", 0, 0},
      {"resume", 'r', CLI_FLAG, &ask.resume, NULL,
       "go on from the newest whole checkpoint in DIR, bit for bit with the same build, backend "
       "and "
       "--isa",
       0, 0},
      {"accept-changes", 0, CLI_FLAG, &ask.accept, NULL,
       "with --resume: go on although the scene has changed", 0, 0},
      {"checkpoint-every", 0, CLI_COUNT, &ask.every, "N",
       "frames between checkpoints; 0: at a stop and at the end only", 0, 1e6},
      {"preview", 'p', CLI_FLAG, &ask.preview, NULL, "a picture of every frame", 0, 0},
      {"watch", 0, CLI_TEXT, &ask.watch, "FILE",
       "a JSON file {\"path\": value, ...} that is read again between frames", 0, 0},
      {"max-memory", 0, CLI_NUMBER, &ask.gigabytes, "GB",
       "refuse files and fluids that need more, and stop with a checkpoint where emitters bring "
       "more",
       1e-6, 1e6},
      {"farm", 0, CLI_FLAG, &w.farm, NULL, "print ALF_PROGRESS lines for a render farm", 0, 0},
      {"output-lines", 0, CLI_FLAG, &w.output_lines, NULL,
       "print OUTPUT_FILE:path; for each file, for PDG", 0, 0},
      {"profile", 0, CLI_FLAG, &ask.profile, NULL,
       "print the time that each part of the solver's work took", 0, 0},
      {"progress", 0, CLI_CHOICE, &ask.progress, CLI_PROGRESS_CHOICE,
       "a bar or plain lines; an object a line on standard output for each step, frame, file and "
       "message; or none",
       0, 0},
      {"quiet", 'q', CLI_FLAG, &w.quiet, NULL, "no progress", 0, 0},
      {"json", 0, CLI_FLAG, &ask.as_json, NULL, "print one JSON object last", 0, 0},
  };
  const cli_syntax syntax = {
      "ooze run SCENE [-o DIR] [options]",
      "Simulates a scene file and writes, for each frame, what its output section asks for: points "
      "in DIR/points, "
      "level sets "
      "in DIR/surface, meshes in DIR/mesh, pictures in DIR/preview. Checkpoints are kept in "
      "DIR/checkpoints. A file "
      "appears under its name only when it is whole. SIGTERM or SIGINT writes a checkpoint and "
      "ends with code 75; "
      "--resume continues from there with the same bits as a run that was never stopped.",
      options, sizeof options / sizeof options[0],
      "examples:\n"
      "  ooze run examples/scenes/honey.json -o /tmp/honey --preview\n"
      "  ooze run honey.json --set materials.honey.viscosity=50 --set output.frames=[1,60]\n"
      "  ooze run honey.json --wedge table1 --resume --farm\n\n"
      "Exit codes: 0 done, 1 usage, 2 bad input, 3 diverged, 4 out of memory, 75 stopped and "
      "resumable.\n"};
  int code = cli_parse(&syntax, argc, argv, &ask.scene_path, 1, &operands);
  if (code != CLI_PARSED) return code;
  if (!operands) {
    cli_error("run: which scene? `ooze run --help` tells more");
    return CLI_USAGE;
  }
  if (ask.accept && !ask.resume) {
    cli_error("run: --accept-changes goes with --resume");
    return CLI_USAGE;
  }
  w.json = ask.progress == CLI_PROGRESS_JSON;
  w.quiet |= ask.progress == CLI_PROGRESS_NONE;
  w.out = ask.as_json ? stderr : stdout;
#if defined(__unix__) || defined(__APPLE__)
  w.terminal = !w.quiet && !w.farm && !w.json && isatty(2);
#endif

  ooze_message why = {""};
  ooze_scene *scene = NULL;
  cli_catch_stop();
  ooze_result result = load_scene(&ask, w.quiet, &scene, &why);
  if (result < 0) {
    cli_error("%s", why.text);
    return cli_exit_code(result);
  }
  code = run_scene(&ask, scene, &w, &why);
  ooze_scene_destroy(scene);
  return code;
}
#else
typedef int cli_no_scenes; /* built without Jansson */
#endif
