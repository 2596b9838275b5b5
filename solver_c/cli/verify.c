/* ooze verify: options, the table and the JSON of the checks. SPDX-License-Identifier: Apache-2.0
 */
#include "verify/report.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "options.h"

static void number(char *out, size_t size, double x, const char *unit) {
  if (!isfinite(x))
    snprintf(out, size, "-");
  else if (unit[0])
    snprintf(out, size, "%.4g %s", x, unit);
  else
    snprintf(out, size, "%.4g", x);
}

static void print_row(void *user, const verify_row *r) {
  FILE *table = user;
  char measured[48], expected[64], value[48];
  number(measured, sizeof measured, r->measured, r->unit);
  number(value, sizeof value, r->expected, r->unit);
  switch (r->relation) {
  case VERIFY_AT_MOST:
    snprintf(expected, sizeof expected, "<= %s", value);
    break;
  case VERIFY_AT_LEAST:
    snprintf(expected, sizeof expected, ">= %s", value);
    break;
  case VERIFY_WITHIN:
    snprintf(expected, sizeof expected, "%s +-%.3g%%", value, 100.0 * r->tolerance);
    break;
  case VERIFY_REPORTED:
    if (isfinite(r->expected))
      snprintf(expected, sizeof expected, "(%s)", value);
    else
      expected[0] = 0;
    break;
  }
  fprintf(table, "%-44s %14s %20s  %-8s %8.2f%s%s\n", r->name, measured, expected,
          r->relation == VERIFY_REPORTED          ? "reported"
          : r->pass                               ? "pass"
          : strncmp(r->name, "reference", 9) == 0 ? "missed"
                                                  : "FAIL",
          r->seconds, r->note[0] ? "  " : "", r->note);
  fflush(table);
}

static void print_times(FILE *table, const verify_result *v) {
  double seconds = 0.0, processor = 0.0;
  fprintf(table, "%-44s %14s %20s\n", "check", "seconds", "processor seconds");
  for (uint32_t i = 0; i < v->time_count; ++i) {
    const verify_time *t = &v->times[i];
    fprintf(table, "%-44s %14.1f %20.1f\n", t->name, t->seconds, t->processor);
    seconds += t->seconds;
    processor += t->processor;
  }
  fprintf(table, "%-44s %14.1f %20.1f\n", "all", seconds, processor);
}

static const char *const relation_names[] = {"at_most", "at_least", "within", "reported"};

#define NUMBER(member) CLI_JSON_OF(number, *r, member)
#define TEXT(member) CLI_JSON_OF(text, *r, member)
#define BOOL(member) CLI_JSON_OF(bool, *r, member)
static void print_json(const verify_result *v) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  cli_json_array(&j, "checks");
  for (size_t i = 0; i < v->count; ++i) {
    const verify_row *r = &v->rows[i];
    cli_json_object(&j, NULL);
    TEXT(name), NUMBER(measured), NUMBER(expected), NUMBER(tolerance), BOOL(pass), NUMBER(seconds);
    cli_json_bool(&j, "judged", r->relation != VERIFY_REPORTED);
    cli_json_text(&j, "relation", relation_names[r->relation]);
    TEXT(unit), TEXT(note);
    cli_json_object_end(&j);
  }
  cli_json_array_end(&j);
  cli_json_array(&j, "times");
  for (uint32_t i = 0; i < v->time_count; ++i) {
    cli_json_object(&j, NULL);
    cli_json_text(&j, "name", v->times[i].name);
    cli_json_number(&j, "seconds", v->times[i].seconds);
    cli_json_number(&j, "processor_seconds", v->times[i].processor);
    cli_json_object_end(&j);
  }
  cli_json_array_end(&j);
  cli_json_integer(&j, "passed", v->passed);
  cli_json_integer(&j, "failed", v->failed);
  cli_json_integer(&j, "reported", v->reported);
  cli_json_integer(&j, "missed", v->missed);
  cli_json_object_end(&j);
  putchar('\n');
}
#undef NUMBER
#undef TEXT
#undef BOOL

static void print_list(const char *name, int as_json) {
  static const char *const level_names[] = {"quick", "", "long"};
  cli_json j = {stdout, 0};
  if (as_json) cli_json_array(&j, NULL);
  for (uint32_t i = 0; i < verify_check_count; ++i) {
    const verify_check *c = &verify_checks[i];
    if (!verify_asked_for(c, name)) continue;
    if (as_json) {
      cli_json_object(&j, NULL);
      cli_json_text(&j, "name", c->name);
      cli_json_text(&j, "about", c->about);
      cli_json_text(&j, "level", c->from == VERIFY_NORMAL ? "normal" : level_names[c->from]);
      cli_json_object_end(&j);
    } else {
      printf("%-12s %-6s %s\n", c->name, level_names[c->from], c->about);
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    putchar('\n');
  }
}

static const char *check_word(const void *context, size_t index) {
  (void)context;
  return verify_checks[index].name;
}

static int refuse_name(const char *name) {
  cli_no_such("verify", "check", name, check_word, verify_check_count);
  return CLI_USAGE;
}

int cli_verify(int argc, char **argv) {
  verify_desc v;
  int list = 0, quick = 0, longer = 0, as_json = 0, times = 0;
  const char *name = NULL, *report = NULL;
  size_t names = 0;
  memset(&v, 0, sizeof v);
  const cli_option options[] = {
      {"list", 'l', CLI_FLAG, &list, NULL, "name the checks and leave", 0, 0},
      {"quick", 'q', CLI_FLAG, &quick, NULL, "small versions, for tests: under a minute in all", 0,
       0},
      {"long", 0, CLI_FLAG, &longer, NULL,
       "also what takes longer: more seeds, finer cubes, the peer's cube", 0, 0},
      {"json", 0, CLI_FLAG, &as_json, NULL,
       "print one JSON object on standard output, the table on standard error", 0, 0},
      {"times", 0, CLI_FLAG, &times, NULL, "print what each check took, at the end", 0, 0},
      {"report", 'r', CLI_TEXT, &report, "DIR",
       "write DIR/index.html: every row and curve with its verdict, the group reference included",
       0, 0},
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
      "fig5.mu50. The group reference, bars from outside that are not all met yet, runs where it "
      "is "
      "named, or with --report; what it misses is no failure. Rows marked `reported` are not "
      "judged; what stands in brackets is what to read "
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
  uint32_t known = 0;
  for (uint32_t i = 0; i < verify_check_count; ++i)
    known += (uint32_t)verify_asked_for(&verify_checks[i], name);
  if (!known) return refuse_name(name);
  if (list) {
    print_list(name, as_json);
    return CLI_DONE;
  }

  FILE *table = as_json ? stderr : stdout;
  v.level = quick ? VERIFY_QUICK : longer ? VERIFY_LONG : VERIFY_NORMAL;
  v.name = name;
  v.references = report != NULL;
  v.row = print_row;
  v.user = table;
  fprintf(table, "%-44s %14s %20s  %-8s %8s\n", "check", "measured", "expected", "", "seconds");
  verify_result r;
  verify_run(&v, &r);
  fprintf(table, "%u passed, %u failed, %u reported in %.1f s\n", r.passed, r.failed, r.reported,
          r.seconds);
  if (r.missed) fprintf(table, "%u bars of the group reference missed\n", r.missed);
  if (times && r.time_count) print_times(table, &r);
  if (!r.time_count) fprintf(table, "%s is not part of --quick\n", name);
  if (as_json) print_json(&r);
  const int failed = r.failed > 0, out_of_memory = r.out_of_memory;
  ooze_message why = {""};
  char command[512] = "ooze verify";
  for (int i = 1; i < argc; ++i) {
    const size_t at = strlen(command);
    /* a page that is passed on names no folder of this machine */
    const char *part = argv[i][0] == '/' ? strrchr(argv[i], '/') + 1 : argv[i];
    snprintf(command + at, sizeof command - at, " %s", part);
  }
  const int unwritten = report && verify_report_write(report, command, &v, &r, &why) < 0;
  verify_release(&r);
  if (out_of_memory) {
    cli_error("verify: out of memory for the table");
    return CLI_MEMORY;
  }
  if (unwritten) {
    cli_error("verify: %s", why.text);
    return CLI_BAD_INPUT;
  }
  return failed ? CLI_DIVERGED : CLI_DONE;
}
