/* ooze verify: the list of checks, the table and the JSON. SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "options.h"

static const verify_check checks[] = {
    {"rheology", "the conformation update in homogeneous flow against Maxwell's closed forms",
     VERIFY_QUICK, verify_rheology},
    {"fig6", "drift of a fully viscous cube dropped with large steps, 20^3: ooze, paper, position",
     VERIFY_QUICK, verify_fig6},
    {"fig7", "angular momentum of a spinning viscous block, and without what keeps it",
     VERIFY_QUICK, verify_fig7},
    {"fig4", "the palette: rebound, slump and splash for relaxation times and compliances",
     VERIFY_QUICK, verify_fig4},
    {"column", "a column at rest: compression, volume, kinetic energy", VERIFY_QUICK,
     verify_column},
    {"slump", "a cylinder with a yield stress slumps as far as it must, and then stands still",
     VERIFY_QUICK, verify_slump},
    {"heat",
     "conduction against the error function, a melting front against Stefan's, and heat that is "
     "kept",
     VERIFY_QUICK, verify_heat},
    {"couette", "plane Couette flow, start-up and steady, 20 particles across", VERIFY_QUICK,
     verify_couette},
    {"poiseuille", "plane Poiseuille flow, start-up and steady, 20 particles across", VERIFY_NORMAL,
     verify_poiseuille},
    {"substeps", "a collapsing viscous block at 5 to 40 substeps and at half separation",
     VERIFY_QUICK, verify_substeps},
    {"rebound", "an elastic cube's rebound at 5 to 40 substeps and at half separation",
     VERIFY_NORMAL, verify_rebound},
    {"boundary",
     "boundary particles: a dam breaks beside a wall without stacking, clinging or leaking",
     VERIFY_QUICK, verify_boundary},
    {"slip",
     "friction and stick of walls whatever the viscosity: a drop on a slope, a layer under a "
     "ceiling",
     VERIFY_QUICK, verify_slip},
    {"tension",
     "surface tension: a drop swings, a cube becomes a sphere, momentum, steps of a frame",
     VERIFY_QUICK, verify_tension},
    {"bodies",
     "rigid bodies: free spin, contact with a floor and a slope, momentum of a closed system",
     VERIFY_QUICK, verify_bodies},
    {"fluids", "several fluids: a sharp interface without a gap, layers by density, mixing",
     VERIFY_QUICK, verify_fluids},
    {"soft", "soft bodies: a hanging bar, volume, tearing, momentum, floating", VERIFY_QUICK,
     verify_soft},
    {"blend",
     "model blend: bars, cubes and a body that parts (Takamatsu & Kanai's figures 2, 3, 5)",
     VERIFY_QUICK, verify_blend},
    {"cauchy", "model cauchy: the stretching test with four stresses (Mukai et al.), and ours",
     VERIFY_QUICK, verify_cauchy},
    {"floating", "light bodies float at Archimedes' depth, a heavy one sinks", VERIFY_QUICK,
     verify_floating},
    {"springs",
     "Clavet et al. 2005: a drop swings, sticks beneath a ball; stepped on, it recovers, keeps the "
     "print or flows",
     VERIFY_QUICK, verify_springs},
    {"links", "Takahashi et al. 2014: figures 2, 4 to 6 and 8 to 12, and its speed", VERIFY_QUICK,
     verify_links},
    {"stress", "largest stable step of the explicit stress form beside ours", VERIFY_NORMAL,
     verify_stress},
    {"fig5", "falling streams: whole, as thin as volume demands, as fast as a slender jet",
     VERIFY_QUICK, verify_fig5},
    {"coiling", "turns of the contact point of streams on a floor", VERIFY_NORMAL, verify_coiling},
    {"fig6-32", "as fig6, 32^3", VERIFY_NORMAL, verify_fig6_fine},
    {"split",
     "iterations between the phases: how near to a converged run the scenes of Table 1 stay",
     VERIFY_QUICK, verify_split},
    {"peer",
     "a very viscous 32^3 cube for one second: wall time and drift at 5 ms and at larger steps",
     VERIFY_LONG, verify_peer},
};
enum { CHECK_COUNT = sizeof checks / sizeof checks[0] };

typedef enum relation { AT_MOST, AT_LEAST, WITHIN, REPORTED } relation;
static const char *const relation_names[] = {"at_most", "at_least", "within", "reported"};

typedef struct row {
  char name[96], unit[24], note[200];
  double measured, expected, tolerance, seconds;
  relation is;
  int pass;
} row;

struct verify {
  kit_machine machine;
  verify_level level;
  FILE *table;
  const verify_check *check;
  const char *filter; /* only rows whose names begin with it; NULL: all */
  row *rows;
  size_t count, capacity;
  int pending;  /* the last row is not printed yet: a note may follow */
  int left_out; /* the filter dropped the row just given */
  int out_of_memory;
  double mark; /* when the time of the next row began */
  struct {
    int ran;
    double seconds, processor;
  } time[CHECK_COUNT];
  uint32_t passed, failed, reported;
};

verify_level verify_at(const verify *v) { return v->level; }
const kit_machine *verify_machine(const verify *v) { return &v->machine; }

int verify_wants(const verify *v, const char *part) {
  char name[96];
  if (!v->filter) return 1;
  snprintf(name, sizeof name, "%s.%s", v->check->name, part);
  size_t n = strlen(name), m = strlen(v->filter);
  return strncmp(name, v->filter, n < m ? n : m) == 0;
}

/* ---- rows ---- */

static void number(char *out, size_t size, double x, const char *unit) {
  if (!isfinite(x))
    snprintf(out, size, "-");
  else if (unit[0])
    snprintf(out, size, "%.4g %s", x, unit);
  else
    snprintf(out, size, "%.4g", x);
}

static void print_head(verify *v) {
  fprintf(v->table, "%-44s %14s %20s  %-8s %8s\n", "check", "measured", "expected", "", "seconds");
}

static void print_pending(verify *v) {
  if (!v->pending) return;
  v->pending = 0;
  const row *r = &v->rows[v->count - 1];
  char measured[48], expected[64], value[48];
  number(measured, sizeof measured, r->measured, r->unit);
  number(value, sizeof value, r->expected, r->unit);
  switch (r->is) {
  case AT_MOST:
    snprintf(expected, sizeof expected, "<= %s", value);
    break;
  case AT_LEAST:
    snprintf(expected, sizeof expected, ">= %s", value);
    break;
  case WITHIN:
    snprintf(expected, sizeof expected, "%s +-%.3g%%", value, 100.0 * r->tolerance);
    break;
  case REPORTED:
    if (isfinite(r->expected))
      snprintf(expected, sizeof expected, "(%s)", value);
    else
      expected[0] = 0;
    break;
  }
  fprintf(v->table, "%-44s %14s %20s  %-8s %8.2f%s%s\n", r->name, measured, expected,
          r->is == REPORTED ? "reported"
          : r->pass         ? "pass"
                            : "FAIL",
          r->seconds, r->note[0] ? "  " : "", r->note);
  fflush(v->table);
}

static void add_row(verify *v, relation is, double measured, double expected, double tolerance,
                    const char *unit, const char *format, va_list args) CLI_PRINTF(7, 0);
static void add_row(verify *v, relation is, double measured, double expected, double tolerance,
                    const char *unit, const char *format, va_list args) {
  row r;
  double now = cli_seconds();
  memset(&r, 0, sizeof r);
  int n = snprintf(r.name, sizeof r.name, "%s.", v->check->name);
  vsnprintf(r.name + n, sizeof r.name - (size_t)n, format, args);
  v->left_out = v->filter && strncmp(r.name, v->filter, strlen(v->filter)) != 0;
  if (v->left_out) return;
  print_pending(v);
  snprintf(r.unit, sizeof r.unit, "%s", unit);
  r.measured = measured;
  r.expected = expected;
  r.tolerance = tolerance;
  r.is = is;
  r.seconds = now - v->mark;
  v->mark = now;
  switch (is) { /* written so that what is not a number fails */
  case AT_MOST:
    r.pass = measured <= expected;
    break;
  case AT_LEAST:
    r.pass = measured >= expected;
    break;
  case WITHIN:
    r.pass = fabs(measured - expected) <= tolerance * fabs(expected);
    break;
  case REPORTED:
    r.pass = 1;
    break;
  }
  if (v->count == v->capacity) {
    size_t capacity = v->capacity ? 2 * v->capacity : 128;
    row *grown = realloc(v->rows, capacity * sizeof *grown);
    if (!grown) {
      v->out_of_memory = 1;
      return;
    }
    v->rows = grown;
    v->capacity = capacity;
  }
  v->rows[v->count++] = r;
  v->pending = 1;
  *(is == REPORTED ? &v->reported : r.pass ? &v->passed : &v->failed) += 1;
}

#define EMIT(is, expected, tolerance)                                \
  do {                                                               \
    va_list args;                                                    \
    va_start(args, name);                                            \
    add_row(v, is, measured, expected, tolerance, unit, name, args); \
    va_end(args);                                                    \
  } while (0)

void verify_at_most(verify *v, double measured, double limit, const char *unit, const char *name,
                    ...) {
  EMIT(AT_MOST, limit, 0.0);
}
void verify_at_least(verify *v, double measured, double limit, const char *unit, const char *name,
                     ...) {
  EMIT(AT_LEAST, limit, 0.0);
}
void verify_within(verify *v, double measured, double expected, double share, const char *unit,
                   const char *name, ...) {
  EMIT(WITHIN, expected, share);
}
void verify_report(verify *v, double measured, double expected, const char *unit, const char *name,
                   ...) {
  EMIT(REPORTED, expected, 0.0);
}

void verify_note(verify *v, const char *format, ...) {
  va_list args;
  if (!v->pending || v->left_out) return;
  row *r = &v->rows[v->count - 1];
  va_start(args, format);
  vsnprintf(r->note, sizeof r->note, format, args);
  va_end(args);
}

int verify_ran(verify *v, const kit *k) {
  if (kit_good(k) || k->result <= OOZE_LOST_DIVERGED) return 1;
  verify_at_most(v, (double)NAN, 0.0, "", "%s", "run");
  verify_note(v, "%s (%s)", k->message, ooze_result_name(k->result));
  return 0;
}

/* ---- the dropped cube ---- */

void verify_drop_default(verify_drop *d) {
  memset(d, 0, sizeof *d);
  d->n = 12;
  d->velocity_iterations = 10;
  d->position_iterations = 5;
  d->scheme = OOZE_SCHEME_OOZE;
  d->separation = 0.05;
  d->gap = 0.5;
  d->dt = 1.0 / 240.0;
  d->duration = 2.0;
  d->blow_up = 50.0;
}

int verify_drop_run(verify *v, const verify_drop *d, verify_dropped *out) {
  kit k;
  double t = 0.0, next_look = 0.0, side = d->n * d->separation;
  float(*reference)[3] = NULL;
  uint32_t count = d->n * d->n * d->n;
  int landed = 0, rising = 0, ran;
  double peak = 0.0;
  memset(out, 0, sizeof *out);
  kit_open(&k, verify_machine(v), d->separation);
  k.params.scheme = d->scheme;
  k.params.wall_density = d->wall_density;
  kit_iterations(&k, d->velocity_iterations, d->position_iterations);
  uint32_t material =
      d->viscosity > 0.0 ? kit_fluid(&k, d->viscosity, d->tau) : kit_material(&k, d->tau, d->alpha);
  const uint32_t n[3] = {d->n, d->n, d->n};
  const double low[3] = {-0.5 * side, d->gap, -0.5 * side};
  kit_floor(&k, d->friction);
  kit_block(&k, material, n, low);
  kit_read(&k);
  if (kit_good(&k) && (reference = malloc(count * sizeof *reference)) != NULL)
    memcpy(reference, k.x, count * sizeof *reference);
  out->lowest = (double)INFINITY;
  while (kit_good(&k) && reference && t < d->duration - 1e-9) {
    kit_step(&k, d->dt, 1);
    t += d->dt;
    ++out->steps;
    if (t < next_look - 1e-9 && t < d->duration - 1e-9) continue;
    next_look += 0.01;
    measure_body b;
    kit_read(&k);
    if (!kit_good(&k)) break;
    measure((measure_points)k.x, (measure_points)k.v, k.compression, k.count, &b);
    if (!b.finite || b.max_speed > d->blow_up || k.contained || k.count != count) {
      out->blown_at = t;
      break;
    }
    out->rms_end =
        measure_rigid_rms((measure_points)k.x, (measure_points)reference, count) / d->separation;
    if (out->rms_end > out->rms_max) out->rms_max = out->rms_end;
    /* the first dip of the centre after landing, and the highest rise after it */
    if (!landed && b.low[1] < 0.55 * d->separation) landed = 1;
    if (landed) {
      if (!rising && b.centre[1] < out->lowest)
        out->lowest = b.centre[1];
      else if (b.centre[1] > out->lowest)
        rising = 1;
      if (rising && b.centre[1] > peak) peak = b.centre[1];
    }
    out->height = (b.high[1] - b.low[1] + d->separation) / side;
    out->radius = (b.radius + 0.5 * d->separation) / side;
    out->front = (b.front + 0.5 * d->separation) / side;
    out->mean_compression = b.mean_compression;
    if (b.max_compression > out->max_compression) out->max_compression = b.max_compression;
    out->max_speed = b.max_speed;
  }
  if (k.result <= OOZE_LOST_DIVERGED && out->blown_at == 0.0) out->blown_at = t;
  if (!isfinite(out->lowest)) out->lowest = (double)NAN;
  out->rebound = rising ? peak - out->lowest : 0.0;
  if (out->blown_at > 0.0) out->rms_end = out->rms_max = (double)NAN;
  out->seconds = k.step_seconds;
  out->seconds_per_second = t > 0.0 ? k.step_seconds / t : (double)NAN;
  ran = verify_ran(v, &k);
  if (!reference && ran) {
    verify_at_most(v, (double)NAN, 0.0, "", "run");
    verify_note(v, "no memory for the reference shape");
    ran = 0;
  }
  free(reference);
  kit_close(&k);
  return ran;
}

/* ---- the command ---- */

static const char *check_word(const void *context, size_t index) {
  (void)context;
  return checks[index].name;
}

/* "fig6" asks for fig6 and fig6-32; "fig6.ooze" for the rows of fig6 that begin so. */
static int asked_for(const verify_check *c, const char *name, const char **row_filter) {
  *row_filter = NULL;
  if (!name) return 1;
  size_t n = strlen(name), m = strlen(c->name);
  if (n <= m) return strncmp(c->name, name, n) == 0;
  if (strncmp(c->name, name, m) == 0 && name[m] == '.') {
    *row_filter = name;
    return 1;
  }
  return 0;
}

/* What each check took: wall time, and processor time of all threads, which another program's load
 * does not change. */
static void print_times(const verify *v) {
  double seconds = 0.0, processor = 0.0;
  fprintf(v->table, "%-44s %14s %20s\n", "check", "seconds", "processor seconds");
  for (int i = 0; i < CHECK_COUNT; ++i) {
    if (!v->time[i].ran) continue;
    fprintf(v->table, "%-44s %14.1f %20.1f\n", checks[i].name, v->time[i].seconds,
            v->time[i].processor);
    seconds += v->time[i].seconds;
    processor += v->time[i].processor;
  }
  fprintf(v->table, "%-44s %14.1f %20.1f\n", "all", seconds, processor);
}

static void print_json(const verify *v) {
  json j = {stdout, 0};
  json_object(&j, NULL);
  json_array(&j, "checks");
  for (size_t i = 0; i < v->count; ++i) {
    const row *r = &v->rows[i];
    json_object(&j, NULL);
    json_text(&j, "name", r->name);
    json_number(&j, "measured", r->measured);
    json_number(&j, "expected", r->expected);
    json_number(&j, "tolerance", r->tolerance);
    json_bool(&j, "pass", r->pass);
    json_number(&j, "seconds", r->seconds);
    json_bool(&j, "judged", r->is != REPORTED);
    json_text(&j, "relation", relation_names[r->is]);
    json_text(&j, "unit", r->unit);
    json_text(&j, "note", r->note);
    json_object_end(&j);
  }
  json_array_end(&j);
  json_array(&j, "times");
  for (int i = 0; i < CHECK_COUNT; ++i) {
    if (!v->time[i].ran) continue;
    json_object(&j, NULL);
    json_text(&j, "name", checks[i].name);
    json_number(&j, "seconds", v->time[i].seconds);
    json_number(&j, "processor_seconds", v->time[i].processor);
    json_object_end(&j);
  }
  json_array_end(&j);
  json_integer(&j, "passed", v->passed);
  json_integer(&j, "failed", v->failed);
  json_integer(&j, "reported", v->reported);
  json_object_end(&j);
  putchar('\n');
}

int cli_verify(int argc, char **argv) {
  static verify v; /* zero */
  int list = 0, quick = 0, longer = 0, as_json = 0, times = 0;
  const char *name = NULL;
  size_t names = 0;
  const cli_option options[] = {
      {"list", 'l', CLI_FLAG, &list, NULL, "name the checks and leave", 0, 0},
      {"quick", 'q', CLI_FLAG, &quick, NULL, "small versions, for tests: under a minute in all", 0,
       0},
      {"long", 0, CLI_FLAG, &longer, NULL,
       "also what takes longer: more seeds, finer cubes, the peer's cube", 0, 0},
      {"json", 0, CLI_FLAG, &as_json, NULL,
       "print one JSON object on standard output, the table on standard error", 0, 0},
      {"times", 0, CLI_FLAG, &times, NULL, "print what each check took, at the end", 0, 0},
      {"backend", 0, CLI_CHOICE, &v.machine.backend, "auto|cpu|cuda", "where to run", 0, 0},
      {"threads", 't', CLI_COUNT, &v.machine.threads, "N", "threads to use; 0, the default, is all",
       0, 4096},
      {"isa", 0, CLI_CHOICE, &v.machine.isa, "auto|scalar|neon|sse|avx2|avx512",
       "vector build to use", 0, 0},
      {"tasks", 0, CLI_CHOICE, &v.machine.tasks, "auto|host|tbb|pool|serial|shuffled",
       "who runs the chunks", 0, 0},
  };
  const cli_syntax syntax = {
      "ooze verify [NAME] [--quick|--long] [options]",
      "Runs the checks of the solver against the papers' figures and closed forms, and prints what "
      "was measured, what "
      "was "
      "expected, and whether it passed. NAME runs the checks whose names begin with it, or, with a "
      "dot, the rows of "
      "one: "
      "fig5.mu50. Rows marked `reported` are not judged; what stands in brackets is what to read "
      "them against. Leaves "
      "with 0 if nothing failed and 3 otherwise.",
      options, sizeof options / sizeof options[0],
      "docs/dev/verify.md tells what each check runs and where its numbers come from.\n"};
  v.machine.device = -1;
  int code = cli_parse(&syntax, argc, argv, &name, 1, &names);
  if (code != CLI_PARSED) return code;
  if (quick && longer) {
    cli_error("verify: --quick and --long exclude each other");
    return CLI_USAGE;
  }
  if (!names) name = NULL;
  v.level = quick ? VERIFY_QUICK : longer ? VERIFY_LONG : VERIFY_NORMAL;
  v.table = as_json ? stderr : stdout;

  const char *filter;
  int known = 0, run = 0;
  for (int i = 0; i < CHECK_COUNT; ++i) known += asked_for(&checks[i], name, &filter);
  if (!known) {
    const char *near = cli_nearest(name, check_word, NULL, CHECK_COUNT);
    if (near)
      cli_error("verify: there is no check '%s'; did you mean %s?", name, near);
    else
      cli_error("verify: there is no check '%s'; `ooze verify --list` names them", name);
    return CLI_USAGE;
  }
  if (list) {
    static const char *const level_names[] = {"quick", "", "long"};
    json j = {stdout, 0};
    if (as_json) json_array(&j, NULL);
    for (int i = 0; i < CHECK_COUNT; ++i) {
      if (!asked_for(&checks[i], name, &filter)) continue;
      if (as_json) {
        json_object(&j, NULL);
        json_text(&j, "name", checks[i].name);
        json_text(&j, "about", checks[i].about);
        json_text(&j, "level",
                  checks[i].from == VERIFY_NORMAL ? "normal" : level_names[checks[i].from]);
        json_object_end(&j);
      } else {
        printf("%-12s %-6s %s\n", checks[i].name, level_names[checks[i].from], checks[i].about);
      }
    }
    if (as_json) {
      json_array_end(&j);
      putchar('\n');
    }
    return CLI_DONE;
  }
  double start = cli_seconds();
  print_head(&v);
  for (int i = 0; i < CHECK_COUNT; ++i) {
    if (!asked_for(&checks[i], name, &filter)) continue;
    /* named: run, however long */
    if (checks[i].from > v.level && !(name && v.level != VERIFY_QUICK)) continue;
    v.check = &checks[i];
    v.filter = filter;
    const double began = v.mark = cli_seconds();
    const clock_t worked = clock();
    v.check->run(&v);
    print_pending(&v);
    v.time[i].ran = 1;
    v.time[i].seconds = cli_seconds() - began;
    v.time[i].processor = (double)(clock() - worked) / CLOCKS_PER_SEC;
    ++run;
  }
  fprintf(v.table, "%u passed, %u failed, %u reported in %.1f s\n", v.passed, v.failed, v.reported,
          cli_seconds() - start);
  if (times && run) print_times(&v);
  if (!run) fprintf(v.table, "%s is not part of --quick\n", name);
  if (as_json) print_json(&v);
  free(v.rows);
  if (v.out_of_memory) {
    cli_error("verify: out of memory for the table");
    return CLI_MEMORY;
  }
  return v.failed ? CLI_DIVERGED : CLI_DONE;
}
