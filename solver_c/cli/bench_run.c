/* ooze bench --scene: the whole of `ooze run` by part, as users meet it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifdef OOZE_HAVE_SCENE
#include "bench_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seconds.h"
#include "cli.h"
#include "json.h"
#include "ooze/ooze_scene.h"

enum { LAST = 10 }; /* frames that the time of a frame is taken from */

typedef struct watch {
  double began, first;    /* s; of the first frame, when its files are whole */
  double done[LAST + 1];  /* when each of the last frames was */
  double steps[LAST + 1]; /* s: in the solver until then */
  uint32_t frames, files;
} watch;

static void on_progress(void *user, const ooze_run_progress *p) {
  watch *w = user;
  if (!p->done) return;
  const double now = oz_seconds() - w->began;
  if (!w->frames) w->first = now;
  memmove(w->done, w->done + 1, LAST * sizeof *w->done);
  w->done[LAST] = now;
  memmove(w->steps, w->steps + 1, LAST * sizeof *w->steps);
  w->steps[LAST] = p->step_seconds;
  w->frames++;
}
static void on_wrote(void *user, const char *path) {
  (void)path;
  ((watch *)user)->files++;
}
static void on_line(void *user, const char *line) {
  (void)user;
  fprintf(stderr, "ooze: %s\n", line);
}

/* The first frame is not stepped. */
static uint32_t last_frames(const watch *w) {
  return w->frames > LAST ? LAST : w->frames > 1 ? w->frames - 1 : 0;
}
static double frame_seconds(const watch *w) {
  const uint32_t n = last_frames(w);
  return n ? (w->done[LAST] - w->done[LAST - n]) / n : 0.0;
}
static double step_seconds(const watch *w) {
  const uint32_t n = last_frames(w);
  return n ? (w->steps[LAST] - w->steps[LAST - n]) / n : 0.0;
}

static void print_table(const cli_bench_run *o, const ooze_run_report *r, const watch *w) {
  const double steps = r->substeps ? (double)r->substeps : 1.0;
  printf("%s%s%s: %u particles, %u frames, %u files\n", o->scene, o->wedge ? ", wedge " : "",
         o->wedge ? o->wedge : "", r->particles, r->frames, w->files);
  printf("  %-34s %10u substeps, %u + %u iterations\n", "last frame", r->last_substeps,
         r->velocity_iterations, r->position_iterations);
  printf("  %-34s %10.4f s\n", "to the first frame", w->first);
  printf("  %-34s %10.4f s\n", "  of which filling shapes", r->fill_seconds);
  printf("  %-34s %10.4f ms a frame, the last %d\n", "frame", 1e3 * frame_seconds(w), LAST);
  printf("  %-34s %10.4f ms a frame, the last %d\n", "  of which simulation", 1e3 * step_seconds(w),
         LAST);
  printf("  %-34s %10.4f s, %.4f ms a substep\n", "simulation", r->step_seconds,
         1e3 * r->step_seconds / steps);
  printf("  %-34s %10.4f s\n", "copies of the state", r->capture_seconds);
  printf("  %-34s %10.4f s\n", "waiting for files", r->wait_seconds);
  printf("  %-34s %10.4f s\n", "files, beside the simulation", r->write_seconds);
  printf("  %-34s %10.4f s\n", "checkpoints, beside the simulation", r->checkpoint_seconds);
  printf("  %-34s %10.4f s\n", "all", r->seconds);
  printf("  %-34s   %016" PRIx64 "\n", "state", r->state_hash);
}

#define INTEGER(member) CLI_JSON_OF(integer, *r, member)
#define NUMBER(member) CLI_JSON_OF(number, *r, member)
static void print_json(const cli_bench_run *o, const ooze_run_report *r, const watch *w) {
  cli_json j = {stdout, 0};
  cli_json_object(&j, NULL);
  cli_json_text(&j, "scene", o->scene);
  cli_json_text(&j, "wedge", o->wedge);
  INTEGER(particles), INTEGER(frames), INTEGER(substeps), INTEGER(last_substeps),
      INTEGER(velocity_iterations), INTEGER(position_iterations);
  cli_json_integer(&j, "files", w->files);
  cli_json_number(&j, "first_frame_seconds", w->first);
  cli_json_number(&j, "seconds_per_frame", frame_seconds(w));
  cli_json_number(&j, "step_seconds_per_frame", step_seconds(w));
  NUMBER(fill_seconds), NUMBER(step_seconds), NUMBER(capture_seconds), NUMBER(wait_seconds),
      NUMBER(write_seconds), NUMBER(checkpoint_seconds), NUMBER(seconds);
  cli_json_hash(&j, "state_hash", r->state_hash);
  cli_json_object_end(&j);
  putchar('\n');
}
#undef INTEGER
#undef NUMBER

int cli_bench_scene(const cli_bench_run *o) {
  ooze_message why = {""};
  ooze_scene *scene = NULL;
  ooze_scene_options with;
  ooze_scene_options_default(&with);
  with.sets = o->sets;
  with.set_count = o->set_count;
  with.wedge = o->wedge;
  with.warn = cli_warning;
  ooze_result result = ooze_scene_load(o->scene, &with, &scene, &why);
  if (result < 0) {
    cli_error("%s", why.text);
    return cli_exit_code(result);
  }
  ooze_scene_info info;
  ooze_scene_info_default(&info);
  ooze_scene_info_get(scene, &info);
  watch w;
  memset(&w, 0, sizeof w);
  ooze_run_options run;
  ooze_run_options_default(&run);
  run.folder = o->folder;
  run.machine = o->machine;
  run.checkpoint_every = -1;
  run.user = &w;
  run.progress = on_progress;
  run.wrote = on_wrote;
  run.line = on_line;
  if (o->frames) {
    run.first_frame = info.first_frame;
    run.last_frame = info.first_frame + (int32_t)o->frames - 1;
  }
  ooze_run_report report;
  ooze_run_report_default(&report);
  w.began = oz_seconds();
  result = ooze_run(scene, &run, &report, &why);
  ooze_scene_destroy(scene);
  if (result != OOZE_OK) {
    cli_error("%s", why.text);
    return cli_exit_code(result);
  }
  if (o->as_json)
    print_json(o, &report, &w);
  else
    print_table(o, &report, &w);
  return CLI_DONE;
}
#else
typedef int cli_no_scenes; /* built without Jansson */
#endif
