/* A run from its beginning or a checkpoint to its end. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "base/seconds.h"

#include <stdlib.h>

/* Points of frames behind the last, which this run leaves as they are. */
static void tell_later(oz_session *s) {
  const char *ending = oz_point_endings[s->base->output.points];
  char path[3600];
  ooze_message none = {""};
  int32_t last = s->last;
  while (ending && last < INT32_MAX &&
         oz_session_path(s, "points", last + 1, ending, path, sizeof path, &none) == OOZE_OK &&
         oz_is_file(path, &none) == OOZE_OK)
    last++;
  if (last == s->last) return;
  oz_session_say(s,
                 "warning: frames %d to %d of an earlier run stay in %s, and a film of the folder "
                 "would show both; delete them, or give this run a folder of its own",
                 s->last + 1, last, s->options.folder);
}

static ooze_result run(oz_session *s) {
  int found = 0;
  OZ_TRY_OK(oz_session_folder_fits(s));
  OZ_TRY_OK(oz_session_lock(s, 0));
  OZ_TRY_OK(oz_session_solver(s));
  if (s->options.resume) OZ_TRY_OK(oz_session_resume(s, &found));
  if (!found) OZ_TRY_OK(oz_session_begin(s));
  /* Nothing on disk has changed until here: a refused run leaves neither empty folders nor a run
   * without checkpoints. */
  OZ_TRY_OK(oz_session_folders(s));
  OZ_TRY_OK(oz_session_lock(s, 1));
  if (!found) {
    oz_session_forget(s);
    tell_later(s);
  }
  OZ_TRY_OK(oz_session_write_scene(s));
  s->report.frame = s->frame;
  OZ_TRY_OK(oz_session_capture(s));
  if (!found && s->frame >= s->first) { /* the first frame is the beginning itself */
    const ooze_run_progress done = oz_session_whole_frame(s, 0, 0.0);
    OZ_TRY_OK(oz_session_submit(s, oz_session_has_files(s), 0, &done));
    s->report.frames++;
  }
  while (s->frame < s->last) {
    if (oz_session_stop_wanted(s)) return oz_session_stop(s);
    OZ_TRY_OK(oz_session_step_frame(s));
  }
  return oz_session_settle(s);
}

ooze_result ooze_run(const ooze_scene *scene, const ooze_run_options *options, ooze_run_report *out,
                     ooze_message *why) {
  oz_session s;
  ooze_message unread = {""};
  memset(&s, 0, sizeof s);
  if (!scene || !options || options->size < sizeof options->size)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene or no options given");
  ooze_run_options_default(&s.options);
  memcpy(&s.options, options, options->size < sizeof s.options ? options->size : sizeof s.options);
  if (!s.options.folder || !s.options.folder[0])
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no folder for the outputs given");
  ooze_run_report_default(&s.report);
  s.why = why ? why : &unread;
  s.why->text[0] = 0;
  s.base = s.scene = scene;
  s.first = scene->output.first;
  s.last = scene->output.last;
  if (s.options.last_frame >= s.options.first_frame) {
    if (s.options.last_frame < scene->output.first)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "frames %d to %d end before the scene's first frame, %d",
                     s.options.first_frame, s.options.last_frame, scene->output.first);
    s.first = s.options.first_frame;
    s.last = s.options.last_frame;
  }
  s.began = oz_seconds();
  ooze_picture_options_default(&s.preview);
  if (s.options.machine) s.preview.threads = s.options.machine->threads;
  if (s.options.preview) OZ_TRY_OK(ooze_scene_picture_expect(scene, &s.preview, s.why));
  ooze_result result = oz_session_pipeline_open(&s);
  if (result >= 0) result = run(&s);
  if (result < 0) { /* files of earlier frames are still finished, and told; the reason stays */
    const ooze_message reason = *s.why;
    (void)oz_session_settle(&s);
    *s.why = reason;
  }
  s.report.seconds = oz_seconds() - s.began;
  if (s.solver) {
    s.report.particles = ooze_particle_count(s.solver);
    if (result == OOZE_OK && ooze_state_hash(s.solver, &s.report.state_hash) < 0)
      result =
          oz_fail(s.why, OOZE_ERROR_MEMORY, "%s: %s", scene->file, ooze_solver_message(s.solver));
    for (uint32_t k = 0; s.options.stage && k < ooze_profile_count(s.solver); k++) {
      ooze_stage_time time;
      ooze_stage_time_default(&time);
      if (ooze_profile_get(s.solver, k, &time) >= 0 && time.calls)
        s.options.stage(s.options.user, &time);
    }
  }
  oz_session_close_solver(&s);
  oz_session_pipeline_close(&s);
  ooze_scene_destroy(s.watched);
  json_decref(s.watch_values);
  json_decref(s.captured_values);
  free(s.watch_text);
  oz_session_records_release(&s);
  oz_folder_unlock(s.lock);
  if (out) oz_struct_out(out, &s.report, sizeof s.report);
  return result;
}
