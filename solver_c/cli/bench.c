/* ooze bench: seconds a frame and a step, and where they go. SPDX-License-Identifier: Apache-2.0 */
#include "verify/bench_scenes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/seconds.h"
#include "bench_print.h"
#include "bench_run.h"
#include "cli.h"
#include "json.h"
#include "options.h"

/* The parts of one iteration of a phase: the stages that run once or more in each. */
static const char *const velocity_stages[] = {"force",     "cg_apply",    "cg_steps",
                                              "cg_update", "wall_filter", NULL};
static const char *const position_stages[] = {"density_lambda", "density_move", "strain",
                                              "conform_move",   "wall_press",   "wall_mirror",
                                              "wall_density",   "wall_project", NULL};
static const char *const list_stages[] = {"sort",       "lists",        "list",  "cells",
                                          "neighbours", "density_list", "walls", NULL};

/* Seconds that one iteration takes, if `iterations` of them ran: a stage's mean call times its
 * calls in each. */
static double iteration_seconds(const bench_result *r, const char *const *names,
                                double iterations) {
  double sum = 0.0;
  if (!(iterations > 0.0)) return (double)NAN;
  for (uint32_t i = 0; i < r->stage_count; ++i)
    for (int k = 0; names[k]; ++k)
      if (strcmp(r->stages[i].name, names[k]) == 0 && r->stages[i].calls) {
        /* a first residual or a last direction left out make it not quite whole */
        double each = floor((double)r->stages[i].calls / iterations + 0.5);
        sum += each * r->stages[i].seconds / (double)r->stages[i].calls;
      }
  return sum;
}

static void run_scene(const bench_scene *s, const bench_settings *o, uint32_t isa,
                      bench_result *r) {
  kit k;
  kit_machine machine = o->machine;
  uint32_t step = 0;
  memset(r, 0, sizeof *r);
  if (isa != OOZE_ISA_AUTO) machine.isa = isa;
  double start = oz_seconds();
  kit_open(&k, &machine, s->separation);
  /* as `ooze run`, whose files do not tell them */
  if (k.solver) (void)ooze_collider_loads(k.solver, 0);
  k.params.model = o->model;
  kit_boundary(&k, o->walls == WALLS_PARTICLES);
  kit_iterations(&k, o->velocity, o->position);
  s->build(&k, o->particles);
  r->setup_seconds = oz_seconds() - start;
  for (uint32_t i = 0; i < (o->warmup + o->frames) && kit_good(&k); ++i) {
    if (i == o->warmup) { /* from here on it counts */
      k.step_seconds = k.step_processor = 0.0;
      k.substeps = 0;
      ooze_profile_reset(k.solver);
    }
    if (s->before_step) {
      for (uint32_t j = 0; j < o->steps && kit_good(&k); ++j) {
        s->before_step(&k, o->particles, step++, o->dt);
        kit_step(&k, o->dt, 1);
      }
    } else {
      kit_step(&k, o->dt * o->steps, o->steps);
    }
  }
  if (kit_good(&k)) {
    ooze_stats stats;
    ooze_stats_default(&stats);
    r->code = ooze_stats_get(k.solver, &stats);
    if (r->code >= 0) r->code = ooze_state_hash(k.solver, &r->hash);
    if (r->code < 0) snprintf(r->message, sizeof r->message, "%s", ooze_solver_message(k.solver));
    snprintf(r->backend, sizeof r->backend, "%s", ooze_solver_backend(k.solver));
    r->particles = stats.particles;
    r->neighbours = stats.mean_neighbours;
    r->bytes = stats.bytes;
    r->device_bytes = stats.device_bytes;
    r->device_scratch = stats.device_scratch;
    r->bytes_per_particle = stats.bytes_per_particle;
    r->compression = stats.mean_compression;
    r->max_speed = stats.max_speed;
    r->frames = o->frames;
    r->steps = k.substeps;
    r->seconds_per_frame = k.step_seconds / o->frames;
    r->seconds_per_step = k.substeps ? k.step_seconds / (double)k.substeps : (double)NAN;
    r->processor_per_step = k.substeps ? k.step_processor / (double)k.substeps : (double)NAN;
    for (uint32_t i = 0; i < ooze_profile_count(k.solver) && r->stage_count < BENCH_STAGES; ++i) {
      ooze_stage_time t;
      ooze_stage_time_default(&t);
      if (ooze_profile_get(k.solver, i, &t) < 0 || !t.calls) continue;
      bench_stage *to = &r->stages[r->stage_count++];
      snprintf(to->name, sizeof to->name, "%s", t.name);
      to->seconds = t.seconds;
      to->calls = t.calls;
    }
    double n = r->particles, steps = (double)r->steps;
    r->velocity_ns = 1e9 * iteration_seconds(r, velocity_stages, steps * o->velocity) / n;
    r->position_ns = 1e9 * iteration_seconds(r, position_stages, steps * o->position) / n;
    r->lists_ns = 1e9 * iteration_seconds(r, list_stages, steps) / n;
  } else {
    r->code = k.result;
    snprintf(r->message, sizeof r->message, "%s", k.message);
  }
  kit_close(&k);
}

/* Both kinds of walls, in turns because the machine may not be idle: the quicker of two runs of
 * each. */
static void run_walls(const bench_scene *s, const bench_settings *o, bench_result *particles,
                      bench_result *contact) {
  static bench_result again;
  bench_settings with = *o;
  for (int round = 0; round < 2; ++round)
    for (int kind = 0; kind < 2; ++kind) {
      bench_result *to = kind ? particles : contact;
      with.walls = kind ? WALLS_PARTICLES : WALLS_SDF;
      if (round && to->code < 0) continue;
      run_scene(s, &with, OOZE_ISA_AUTO, round ? &again : to);
      if (round && (again.code < 0 || again.processor_per_step < to->processor_per_step))
        *to = again;
    }
}

static const char *scene_word(const void *context, size_t index) {
  (void)context;
  return bench_scenes[index].name;
}

static int list_scenes(int as_json) {
  cli_json j = {stdout, 0};
  if (as_json) cli_json_array(&j, NULL);
  for (uint32_t i = 0; i < bench_scene_count; ++i) {
    const bench_scene *s = &bench_scenes[i];
    if (as_json) {
      cli_json_object(&j, NULL);
      CLI_JSON_OF(text, *s, name), CLI_JSON_OF(text, *s, about);
      CLI_JSON_OF(integer, *s, particles);
      cli_json_object_end(&j);
    } else {
      printf("%-12s %9u  %2u x %6.3f ms  %2u + %-2u  %s\n", s->name, s->particles, s->steps,
             1e3 * s->dt, s->velocity_iterations, s->position_iterations, s->about);
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    putchar('\n');
  }
  return CLI_DONE;
}

/* A scene file in place of the scenes here: all that `ooze run` does, by part. */
static int time_scene(const bench_settings *given, cli_bench_run *run) {
#ifdef OOZE_HAVE_SCENE
  ooze_solver_desc machine;
  ooze_solver_desc_default(&machine);
  machine.backend = given->machine.backend;
  machine.threads = given->machine.threads;
  machine.device = given->machine.device;
  machine.tasks = given->machine.tasks;
  machine.isa = given->machine.isa;
  run->machine = &machine;
  if (given->frames != UINT32_MAX) run->frames = given->frames;
  if (!run->folder) {
    cli_error("bench: --scene needs --output DIR for the files of the run");
    return CLI_USAGE;
  }
  return cli_bench_scene(run);
#else
  (void)given, (void)run;
  cli_error("bench: this build has no scene files (Jansson)");
  return CLI_USAGE;
#endif
}

/* Whether every name is one of a scene here; the first that is not gets a message. */
static int names_known(const char *const *names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int found = 0;
    for (uint32_t k = 0; k < bench_scene_count; ++k)
      found |= strcmp(names[i], bench_scenes[k].name) == 0;
    if (found) continue;
    cli_no_such("bench", "scene", names[i], scene_word, bench_scene_count);
    return 0;
  }
  return 1;
}

/* Without names, every scene that is not large. */
static int is_wanted(const bench_scene *s, const char *const *names, size_t count) {
  if (count == 0) return !s->large;
  for (size_t i = 0; i < count; ++i)
    if (strcmp(names[i], s->name) == 0) return 1;
  return 0;
}

static bench_settings settings_of(const bench_settings *given, const bench_scene *s) {
  bench_settings o = *given;
  if (o.frames == UINT32_MAX) o.frames = s->frames;
  if (o.particles == UINT32_MAX) o.particles = s->particles;
  if (o.steps == UINT32_MAX) o.steps = s->steps;
  if (o.velocity == UINT32_MAX) o.velocity = s->velocity_iterations;
  if (o.position == UINT32_MAX) o.position = s->position_iterations;
  if (o.dt == 0.0) o.dt = s->dt;
  return o;
}

/* Runs one scene, twice where two runs are compared, and prints it. */
static int time_one(const bench_scene *s, const bench_settings *o, int scalar, cli_json *j) {
  static bench_result r, twin;
  const int two = scalar || o->walls == WALLS_BOTH;
  if (o->walls == WALLS_BOTH)
    run_walls(s, o, &r, &twin);
  else
    run_scene(s, o, OOZE_ISA_AUTO, &r);
  if (scalar && r.code >= 0) run_scene(s, o, OOZE_ISA_SCALAR, &twin);
  if (r.code < 0 || (two && twin.code < 0)) {
    const bench_result *bad = r.code < 0 ? &r : &twin;
    cli_error("bench: %s: %s", s->name, bad->message);
    return cli_exit_code(bad->code);
  }
  if (j)
    bench_print_json(j, s, o, &r, two ? &twin : NULL);
  else
    bench_print_table(s, o, &r, two ? &twin : NULL);
  return CLI_DONE;
}

static int time_named(const bench_settings *given, const char *const *names, size_t count,
                      int scalar, int as_json) {
  cli_json j = {stdout, 0};
  int failed = CLI_DONE;
  if (as_json && count != 1) {
    cli_json_object(&j, NULL);
    cli_json_array(&j, "scenes");
  }
  for (uint32_t k = 0; k < bench_scene_count; ++k) {
    const bench_scene *s = &bench_scenes[k];
    if (!is_wanted(s, names, count)) continue;
    const bench_settings o = settings_of(given, s);
    if (o.dt * o.steps > 1.0) {
      cli_error("bench: %u steps of %g s make a frame of %g s; 1 s at most would fit", o.steps,
                o.dt, o.dt * o.steps);
      return CLI_USAGE;
    }
    const int code = time_one(s, &o, scalar, as_json ? &j : NULL);
    if (code != CLI_DONE) failed = code;
  }
  if (as_json && count != 1) {
    cli_json_array_end(&j);
    cli_json_object_end(&j);
  }
  if (as_json) putchar('\n');
  return failed;
}

int cli_bench(int argc, char **argv) {
  enum { MOST = 16 };
  cli_bench_run run;
  cli_list sets = {{NULL}, 0};
  memset(&run, 0, sizeof run);
  int list = 0, as_json = 0, scalar = 0;
  const uint32_t unset = UINT32_MAX;
  bench_settings given;
  const char *names[MOST];
  size_t count = 0;
  memset(&given, 0, sizeof given);
  given.frames = given.particles = given.steps = given.velocity = given.position = unset;
  given.warmup = 1;
  given.machine.device = -1;
  uint32_t device = unset;
  const cli_option options[] = {
      {"list", 'l', CLI_FLAG, &list, NULL,
       "name the scenes with particles, steps a frame and iterations, and leave", 0, 0},
      {"frames", 'f', CLI_COUNT, &given.frames, "N", "frames to time", 1, 100000},
      {"warmup", 0, CLI_COUNT, &given.warmup, "N", "frames to run before; default 1", 0, 100000},
      {"scalar", 0, CLI_FLAG, &scalar, NULL, "run the scalar build as well and print both", 0, 0},
      {"backend", 0, CLI_CHOICE, &given.machine.backend, "auto|cpu|cuda", "where to run", 0, 0},
      {"device", 0, CLI_COUNT, &device, "N", "CUDA device", 0, 255},
      {"threads", 't', CLI_COUNT, &given.machine.threads, "N",
       "threads to use; 0, the default, is all", 0, 4096},
      {"isa", 0, CLI_CHOICE, &given.machine.isa, "auto|scalar|neon|sse|avx2|avx512",
       "vector build to use", 0, 0},
      {"tasks", 0, CLI_CHOICE, &given.machine.tasks, "auto|host|tbb|pool|serial|shuffled",
       "who runs the chunks", 0, 0},
      {"model", 0, CLI_CHOICE, &given.model, cli_menu("solver", "model"),
       "who moves the fluid, with its default parameters", 0, 0},
      {"walls", 0, CLI_CHOICE, &given.walls, "contact|particles|both",
       "how fluid meets walls; both compares them, in turns", 0, 0},
      {"particles", 'n', CLI_COUNT, &given.particles, "N",
       "about so many particles instead of the scene's own", 8, 4e9},
      {"steps", 0, CLI_COUNT, &given.steps, "N", "steps a frame", 1, 10000},
      {"dt", 0, CLI_NUMBER, &given.dt, "SECONDS", "length of a step", 1e-6, 0.5},
      {"velocity-iterations", 0, CLI_COUNT, &given.velocity, "N", "in place of the scene's own", 0,
       1000},
      {"position-iterations", 0, CLI_COUNT, &given.position, "N", "in place of the scene's own", 0,
       1000},
      {"scene", 0, CLI_TEXT, &run.scene, "FILE",
       "time all that `ooze run` does with a scene file, by part: filling, simulation, copies, "
       "files",
       0, 0},
      {"wedge", 0, CLI_TEXT, &run.wedge, "NAME", "variation of that scene file", 0, 0},
      {"set", 0, CLI_LIST, &sets, "PATH=VALUE", "a value of that scene file", 0, 0},
      {"output", 'o', CLI_TEXT, &run.folder, "DIR", "where that run writes", 0, 0},
      {"json", 0, CLI_FLAG, &as_json, NULL,
       "print one JSON object: the scene's, or {\"scenes\": [...]} for several", 0, 0},
  };
  const cli_syntax syntax = {"ooze bench [NAME...] [options]",
                             "Times the solver on fixed scenes: seconds a frame and a step, the "
                             "time of every stage, neighbours, bytes a "
                             "particle and "
                             "a hash of the final state. Without a name, all but the largest run. "
                             "A step's time is wall time inside the "
                             "library; "
                             "nothing is written, but with --scene.",
                             options, sizeof options / sizeof options[0],
                             "A speed claim carries its command, machine and commit; see "
                             "docs/dev/bench.md and tests/bench/results.\n"};
  int code = cli_parse(&syntax, argc, argv, names, MOST, &count);
  if (code != CLI_PARSED) return code;
  if (list) return list_scenes(as_json);
  if (run.scene) {
    run.sets = sets.item;
    run.set_count = sets.count;
    run.as_json = as_json;
    if (device != unset) given.machine.device = (int32_t)device;
    return time_scene(&given, &run);
  }
  if (scalar && given.walls == WALLS_BOTH) {
    cli_error(
        "bench: --scalar and --walls both are two comparisons at once; one of them would fit");
    return CLI_USAGE;
  }
  if (device != unset) given.machine.device = (int32_t)device;
  if (!given.machine.threads) given.machine.threads = cli_processors();
  if (!names_known(names, count)) return CLI_USAGE;
  return time_named(&given, names, count, scalar, as_json);
}
