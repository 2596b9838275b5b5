/* Runs: stopping, resuming, watching, through the library. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "io/scene_internal.h"

#ifdef _WIN32
#define RUN_FOLDER "session_test"
#else
#include <unistd.h>
#define RUN_FOLDER "session_test"
#endif

static ooze_message why;
static char lines[8000];

static void on_line(void *user, const char *line) {
  (void)user;
  if (strlen(lines) + strlen(line) + 2 < sizeof lines) {
    strcat(lines, line);
    strcat(lines, "\n");
  }
}

typedef struct stopper {
  int calls, after;
} stopper;
static int on_stop(void *user) {
  stopper *s = user;
  return s->after >= 0 && ++s->calls > s->after;
}

static ooze_scene *load(const char *set) {
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_options_default(&o);
  const char *sets[2] = {"output.frames=[1,12]", set};
  o.sets = sets;
  o.set_count = set ? 2 : 1;
  ooze_result r = ooze_scene_load(OZ_SOURCE_DIR "/tests/run/small.json", &o, &s, &why);
  CHECK(r == OOZE_OK, "%s", why.text);
  return s;
}

static ooze_result run(const ooze_scene *s, const char *folder, int resume, int stop_after, const char *watch,
                       ooze_run_report *report) {
  ooze_run_options o;
  stopper stop = {0, stop_after};
  ooze_run_options_default(&o);
  ooze_run_report_default(report);
  o.folder = folder;
  o.resume = (uint32_t)resume;
  o.watch = watch;
  o.stop = on_stop;
  o.user = &stop;
  o.line = on_line;
  lines[0] = 0;
  return ooze_run(s, &o, report, &why);
}

OZ_CASE(a_run_stopped_anywhere_ends_with_the_same_bits) {
  ooze_scene *s = load(NULL);
  ooze_run_report whole, part;
  CHECK(run(s, RUN_FOLDER "/whole", 0, -1, NULL, &whole) == OOZE_OK, "%s", why.text);
  CHECK_EQ(whole.frame, 12);
  const int stops[] = {0, 1, 5, 9, 17};
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
    ooze_result r = run(s, RUN_FOLDER "/part", 0, stops[i], NULL, &part);
    CHECK_EQ(r, OOZE_CANCELLED);
    for (int round = 0; r == OOZE_CANCELLED && round < 40; round++)
      r = run(s, RUN_FOLDER "/part", 1, 7 + 3 * round, NULL, &part);
    CHECK(r == OOZE_OK, "%s", why.text);
    CHECK(part.state_hash == whole.state_hash, "stopped after %d polls", stops[i]);
  }
  ooze_scene_destroy(s);
}

OZ_CASE(a_changed_scene_is_noticed) {
  ooze_scene *s = load(NULL), *other = load("materials.thin.viscosity=2"), *look = load("materials.thin.gloss=0.1");
  ooze_run_report r;
  CHECK_EQ(run(s, RUN_FOLDER "/change", 0, 9, NULL, &r), OOZE_CANCELLED);
  CHECK_EQ(run(other, RUN_FOLDER "/change", 1, -1, NULL, &r), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "materials.thin.viscosity: 1 -> 2") != NULL, "%s", why.text);
  CHECK(run(look, RUN_FOLDER "/change", 1, -1, NULL, &r) == OOZE_OK, "looks do not matter: %s", why.text);
  ooze_scene_destroy(s);
  ooze_scene_destroy(other);
  ooze_scene_destroy(look);
}

OZ_CASE(watched_values_take_effect_and_bad_ones_do_not) {
  ooze_scene *s = load(NULL);
  ooze_run_report plain, same, other;
  const char *watch = "session_watch.json";
  FILE *f = fopen(watch, "w");
  CHECK(f != NULL);
  fputs("{\"materials.thin.viscosity\": -4}", f);
  fclose(f);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, NULL, &plain), OOZE_OK);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, watch, &same), OOZE_OK);
  CHECK(strstr(lines, "-4 is out of range") != NULL, "%s", lines);
  CHECK(same.state_hash == plain.state_hash);
  f = fopen(watch, "w");
  fputs("{\"solver.gravity\": [0, -3, 0], \"materials.thin.viscosity\": 40}", f);
  fclose(f);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, -1, watch, &other), OOZE_OK);
  CHECK(strstr(lines, "2 values from") != NULL, "%s", lines);
  CHECK(other.state_hash != plain.state_hash);
  /* and a resumed run goes on with them */
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 0, 12, watch, &same), OOZE_CANCELLED);
  CHECK_EQ(run(s, RUN_FOLDER "/watch", 1, -1, watch, &same), OOZE_OK);
  CHECK(same.state_hash == other.state_hash);
  remove(watch);
  ooze_scene_destroy(s);
}

OZ_CASE(what_cannot_be_written_is_an_error_not_a_crash) {
  ooze_scene *s = load(NULL);
  ooze_run_report r;
  FILE *f = fopen("session_blocker", "w");
  CHECK(f != NULL);
  fclose(f);
  CHECK_EQ(run(s, "session_blocker/x", 0, -1, NULL, &r), OOZE_ERROR_IO);
  CHECK(strstr(why.text, "session_blocker") != NULL, "%s", why.text);
  remove("session_blocker");
  ooze_scene_destroy(s);
}
OZ_TEST_MAIN()
