/* The steps of a run, frame by frame. SPDX-License-Identifier: Apache-2.0
 *
 * Frame k is stepped from k - 1 with the values that keyframes give at k - 1 and colliders moving
 * from there to k. A capture of k - 1 stays in memory meanwhile (pipeline.c): a run that is stopped
 * within a step writes that, so that a resumed run takes the very same steps as one that was never
 * stopped. */
#include "session.h"

#include "base/seconds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ooze_run_progress progress_of(const oz_session *s, double fraction) {
  ooze_run_progress p;
  memset(&p, 0, sizeof p);
  p.size = (uint32_t)sizeof p;
  p.frame = s->stepping;
  p.first_frame = s->report.resumed ? s->report.resumed_frame : s->base->output.first;
  p.last_frame = s->last;
  p.fraction = fraction;
  p.particles = ooze_particle_count(s->solver);
  p.seconds = oz_seconds() - s->began;
  p.step_seconds = s->report.step_seconds;
  return p;
}

static void tell(oz_session *s, const ooze_run_progress *p) {
  if (s->options.progress) s->options.progress(s->options.user, p);
}

/* From the solver's counts alone: nothing is fetched for it. */
ooze_run_progress oz_session_whole_frame(const oz_session *s, uint32_t substeps, double seconds) {
  ooze_run_progress p = progress_of(s, 1.0);
  p.done = 1;
  p.substeps = substeps;
  p.frame_seconds = seconds;
  return p;
}

static int on_progress(void *user, double fraction) {
  oz_session *s = user;
  if (!s->solver) return 0;
  if (oz_session_news(s) < 0) return 1; /* a file could not be written: nothing is worth the step */
  const ooze_run_progress p = progress_of(s, fraction);
  tell(s, &p);
  return oz_session_stop_wanted(s);
}

/* Within a substep. Its state is lost, which a checkpoint of the frame before does not need. */
static int on_abandon(void *user) {
  oz_session *s = user;
  return s->solver && oz_session_stop_wanted(s);
}

/* An error is told once, by the result that comes with it. */
static void on_log(void *user, int level, const char *text) {
  if (level == OOZE_LOG_WARNING) oz_session_say(user, "%s", text);
}

static ooze_result solver_said(oz_session *s, ooze_result result, const char *what,
                               const char *name) {
  if (result >= 0) return OOZE_OK;
  return oz_fail(s->why, result, "%s: frame %d: %s %s: %s", s->base->file, s->stepping, what, name,
                 ooze_solver_message(s->solver));
}

/* ---- One frame --------------------------------------------------------------------------- */

static int same_bits(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0;
}

/* Hands over the values that differ from those of the solver. A value that did not change is not
 * sent: re-sending a material would overwrite the values that particles of a point file brought
 * along. */
ooze_result oz_session_apply(oz_session *s) {
  const ooze_scene *scene = s->scene;
  int known = s->sent_is_known;
  oz_state_at(scene, oz_frame_time(scene, s->stepping - 1), &s->want);
  oz_state_at(scene, oz_frame_time(scene, s->stepping), &s->next);
  if (!known || !same_bits(&s->want.params, &s->sent.params, sizeof s->want.params))
    OZ_TRY_OK(solver_said(s, ooze_params_set(s->solver, &s->want.params), "solver", "parameters"));
  for (uint32_t i = 0; i < scene->material_count; i++) {
    ooze_material has;
    ooze_material_default(&has);
    if (!known)
      OZ_TRY_OK(solver_said(s, ooze_material_get(s->solver, i + 1, &has), "material",
                            scene->looks[i].name));
    const ooze_material *was = known ? &s->sent.materials[i] : &has;
    if (same_bits(&s->want.materials[i], was, sizeof has)) continue;
    OZ_TRY_OK(solver_said(s, ooze_material_set(s->solver, i + 1, &s->want.materials[i]), "material",
                          scene->looks[i].name));
    if (s->paint) (void)oz_session_settle(s); /* files of earlier frames have the values before */
    OZ_TRY_OK(solver_said(s, oz_session_repaint(s, i, was), "material", scene->looks[i].name));
  }
  for (uint32_t i = 0; i < scene->collider_count; i++) {
    const ooze_collider_desc *now = &s->want.colliders[i].desc, *was = &s->sent.colliders[i].desc;
    int changed = !known || now->friction != was->friction || now->stick != was->stick ||
                  now->temperature != was->temperature ||
                  !same_bits(&now->start, &was->start, sizeof now->start);
    if (!changed && !scene->colliders[i].moves) continue;
    ooze_collider_desc desc, end;
    OZ_TRY_OK(oz_collider_desc_of(scene, i, &s->want, &desc));
    OZ_TRY_OK(oz_collider_desc_of(scene, i, &s->next, &end));
    desc.end = end.start;
    int moved_only = known && now->friction == was->friction && now->stick == was->stick &&
                     now->temperature == was->temperature;
    ooze_result result =
        moved_only ? ooze_collider_move(s->solver, s->colliders[i], &desc.start, &desc.end)
                   : ooze_collider_set(s->solver, s->colliders[i], &desc);
    OZ_TRY_OK(solver_said(s, result, "collider", scene->colliders[i].name));
  }
  OZ_TRY_OK(oz_session_deform(s));
  for (uint32_t i = 0; i < scene->emitter_count; i++) {
    const ooze_emitter_desc *want = &s->want.emitters[i].desc, *was = &s->sent.emitters[i].desc;
    ooze_emitter_desc now = *want;
    int changed = !known || !same_bits(want, was, sizeof *want);
    if (!changed && !scene->emitters[i].moves) continue;
    now.end = s->next.emitters[i].desc.start;
    OZ_TRY_OK(solver_said(s, ooze_emitter_set(s->solver, s->emitters[i], &now), "emitter",
                          scene->emitters[i].name));
  }
  OZ_TRY_OK(oz_scene_drive_bodies(scene, &s->want, &s->next, s->solver, s->why));
  oz_state_assign(s->scene, &s->sent, &s->want);
  s->sent_is_known = 1;
  return OOZE_OK;
}

/* A checkpoint of the newest capture, unless that is on its way, and the end. */
ooze_result oz_session_stop(oz_session *s) {
  if (!oz_session_stepping(s, 0)) OZ_TRY_OK(oz_session_submit(s, 0, 1, NULL));
  OZ_TRY_OK(oz_session_settle(s));
  return oz_fail(s->why, OOZE_CANCELLED, "%s: stopped at frame %d; resume with --resume",
                 s->base->file, s->frame);
}

ooze_result oz_session_write_again(oz_session *s) {
  OZ_TRY_OK(oz_session_capture(s));
  OZ_TRY_OK(oz_session_submit(s, 1, 0, NULL));
  return oz_session_settle(s);
}

/* A step that failed: the last good state is worth more than the one that failed. */
static ooze_result failed_step(oz_session *s, ooze_result result) {
  char reason[480];
  snprintf(reason, sizeof reason, "%s", ooze_solver_message(s->solver));
  if (!s->mending) {
    (void)oz_session_submit(s, 0, 1, NULL);
    (void)oz_session_settle(s); /* why the step failed says more than why that was not kept */
  }
  return oz_fail(s->why, result, "%s: frame %d: %s", s->base->file, s->stepping, reason);
}

/* Particles of emitters were not known when the fluids were counted. */
static ooze_result check_memory(oz_session *s, uint64_t bytes) {
  const uint64_t held = bytes + oz_session_capture_bytes(s), most = s->base->max_memory;
  if (!most) return OOZE_OK;
  /* state, its capture, and as much for another one */
  if (held + held / 2 > most) oz_session_single_capture(s);
  if (held <= most || s->frame >= s->last) return OOZE_OK;
  OZ_TRY_OK(oz_session_submit(s, 0, 1, NULL));
  OZ_TRY_OK(oz_session_settle(s));
  return oz_fail(s->why, OOZE_ERROR_MEMORY,
                 "%s: frame %d: %u particles hold %.3g GB; --max-memory is %.3g GB", s->base->file,
                 s->frame, ooze_particle_count(s->solver), 1e-9 * (double)held,
                 1e-9 * (double)most);
}

ooze_result oz_session_step_frame(oz_session *s) {
  const double began = oz_seconds();
  s->stepping = s->frame + 1;
  OZ_TRY_OK(oz_session_watch(s));
  OZ_TRY_OK(oz_session_apply(s));
  const ooze_run_progress starts = progress_of(s, 0.0);
  tell(s, &starts);
  OZ_TRY_OK(oz_scene_emit(s->scene, oz_frame_time(s->scene, s->frame), 1.0 / s->scene->output.fps,
                          s->solver, NULL, s->why));
  (void)oz_session_stepping(s, 1);
  ooze_result result = ooze_step(s->solver, 1.0 / s->scene->output.fps);
  (void)oz_session_stepping(s, 0);
  if (result == OOZE_LOST_ABANDONED) result = OOZE_CANCELLED;
  s->report.step_seconds += oz_seconds() - began;
  OZ_TRY_OK(oz_session_news(s));
  if (result == OOZE_CANCELLED && s->mending)
    return oz_fail(s->why, OOZE_CANCELLED, "%s: stopped while damaged files were written again",
                   s->base->file);
  if (result == OOZE_CANCELLED) return oz_session_stop(s);
  ooze_stats stats;
  ooze_stats_default(&stats);
  if (result >= 0 && ooze_stats_counts(s->solver, &stats) < 0) result = OOZE_LOST_DIVERGED;
  if (result < 0) return failed_step(s, result);
  if (stats.contained) {
    s->report.contained += stats.contained;
    oz_session_say(s, "frame %d: %u particles went non-finite and were reset, the first is id %llu",
                   s->stepping, stats.contained, (unsigned long long)stats.first_contained);
  }
  s->frame = s->stepping;
  if (s->mending) {
    if (oz_session_damaged_at(s, s->frame)) OZ_TRY_OK(oz_session_write_again(s));
    const ooze_run_progress again = oz_session_whole_frame(s, stats.substeps, oz_seconds() - began);
    tell(s, &again);
    return OOZE_OK;
  }
  s->report.frames++;
  s->report.substeps += stats.substeps;
  s->report.last_substeps = stats.substeps;
  s->report.velocity_iterations = stats.velocity_iterations;
  s->report.position_iterations = stats.position_iterations;
  OZ_TRY_OK(oz_session_capture(s));
  const int32_t every = s->options.checkpoint_every ? s->options.checkpoint_every
                                                    : (int32_t)s->scene->output.checkpoint_every;
  const int due = every > 0 && (s->frame - s->scene->output.first) % every == 0;
  const int stopping = s->frame < s->last && oz_session_stop_wanted(s);
  const int files = s->frame >= s->first && oz_session_has_files(s);
  const ooze_run_progress done = oz_session_whole_frame(s, stats.substeps, oz_seconds() - began);
  OZ_TRY_OK(oz_session_submit(s, files, due || stopping || s->frame == s->last, &done));
  OZ_TRY_OK(check_memory(s, stats.bytes));
  if (!stopping) return OOZE_OK;
  OZ_TRY_OK(oz_session_settle(s));
  return oz_fail(s->why, OOZE_CANCELLED, "%s: stopped at frame %d; resume with --resume",
                 s->base->file, s->frame);
}

/* ---- The solver ----------------------------------------------------------------------------- */

void oz_session_close_solver(oz_session *s) {
  oz_session_captures_drop(s);
  ooze_solver *solver = s->solver;
  s->solver = NULL; /* hooks find none */
  ooze_solver_destroy(solver);
  oz_session_deform_release(s);
  oz_session_paint_release(s);
  oz_state_release(&s->sent);
  oz_state_release(&s->want);
  oz_state_release(&s->next);
  free(s->colliders);
  free(s->emitters);
  s->colliders = NULL;
  s->emitters = NULL;
}

ooze_result oz_session_solver(oz_session *s) {
  const ooze_scene *scene = s->base;
  ooze_solver_desc desc;
  oz_session_close_solver(s);
  ooze_solver_desc_default(&desc);
  if (s->options.machine && s->options.machine->size >= sizeof s->options.machine->size)
    memcpy(&desc, s->options.machine,
           s->options.machine->size < sizeof desc ? s->options.machine->size : sizeof desc);
  desc.size = (uint32_t)sizeof desc;
  desc.particle_separation = scene->separation;
  ooze_hooks_default(&desc.hooks);
  desc.hooks.user = s;
  desc.hooks.progress = on_progress;
  desc.hooks.log = on_log;
  desc.hooks.abandon = on_abandon;
  s->colliders = calloc(scene->collider_count + 1, sizeof *s->colliders);
  s->emitters = calloc(scene->emitter_count + 1, sizeof *s->emitters);
  if (!s->colliders || !s->emitters)
    return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", scene->file);
  OZ_TRY_OK(oz_state_copy(scene, &s->sent, s->why));
  OZ_TRY_OK(oz_state_copy(scene, &s->want, s->why));
  OZ_TRY_OK(oz_state_copy(scene, &s->next, s->why));
  OZ_TRY_OK(ooze_solver_create(&desc, &s->solver, s->why));
  if (s->options.stage) ooze_profile_start(s->solver);
  return ooze_collider_loads(s->solver, 0); /* no file tells them */
}

static int on_fill(void *user, uint64_t particles) {
  oz_session *s = user;
  ooze_run_progress p = progress_of(s, 0.0);
  p.particles = (uint32_t)particles;
  tell(s, &p);
  return oz_session_stop_wanted(s);
}

static void on_fill_warning(void *user, const char *text) { oz_session_say(user, "%s", text); }

ooze_result oz_session_begin(oz_session *s) {
  const double began = oz_seconds();
  oz_fill_host host = {.stop = on_fill, .user = s, .say = on_fill_warning};
  if (s->options.machine) host.threads = s->options.machine->threads;
  s->stepping = s->base->output.first;
  OZ_TRY_OK(oz_scene_fill_solver(s->base, s->solver, 1, s->colliders, s->emitters, &host, s->why));
  s->report.fill_seconds += oz_seconds() - began;
  s->frame = s->stepping = s->base->output.first;
  s->sent_is_known = 1;
  return oz_session_find_paint(s);
}
