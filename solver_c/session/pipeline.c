/* Output beside the simulation. SPDX-License-Identifier: Apache-2.0
 *
 * After each frame the state is captured. Threads of their own turn captures into files while the
 * next frames are stepped: at most two are in memory, and the run waits for the older one before it
 * captures a third. The newest capture is also the state that a run writes when it is stopped
 * within the next step.
 *
 * Two frames are worked on at a time, so that one is packed while the disk takes the other; a job's
 * turn comes when all before it are done, and before that none of its files has its name. Jobs read
 * the session's options and scene, and write its records in their turn. News for the host (files,
 * lines, whole frames) are kept and told on the thread that called ooze_run.
 *
 * A stop within a step needs nothing of that step. Where the host can leave in the middle of it
 * (`stopped`), an idle writer looks for a stop and writes the newest capture at once. */
#include "queue.h"

#include "base/seconds.h"

#include <stdlib.h>

static void work(oz_pipeline *p, oz_job *job) {
  const double began = oz_seconds();
  ooze_result result = job->files ? oz_job_write_files(job) : OOZE_OK;
  const double written = oz_seconds();
  const int good = oz_job_await_turn(job);
  const double turn = oz_seconds();
  /* the frame is whole; a checkpoint of it is more */
  if (good && result >= 0 && job->tells) result = oz_job_post(job, NEWS_FRAME, "");
  if (good && result >= 0 && job->checkpoint) result = oz_job_checkpoint(job);
  oz_mutex_lock(&p->guard);
  p->write_seconds += written - began;
  p->checkpoint_seconds += oz_seconds() - turn;
  if (result < 0 && p->result >= 0) {
    p->result = result;
    p->why = job->why;
  }
  if (job->capture) p->users[job->slot]--;
  p->finished++;
  oz_condition_wake(&p->changed);
  /* under the guard: the step cannot end meanwhile */
  const oz_session *s = p->session;
  if (p->leaving && p->stepping && p->finished == p->submitted && p->result >= 0)
    s->options.stopped(s->options.user, job->frame);
  oz_mutex_unlock(&p->guard);
}

/* Waits for a job, under the guard. In a step that the host can leave, one is made for its stop. */
static void await_work(oz_pipeline *p) {
  enum { LOOK_MS = 200 };
  oz_session *s = p->session;
  if (!s->options.stopped || !s->options.stop || !p->stepping || p->leaving) {
    oz_condition_wait(&p->changed, &p->guard);
    return;
  }
  oz_condition_wait_for(&p->changed, &p->guard, LOOK_MS);
  const int idle = p->picked == p->submitted && p->stepping && !p->leaving && p->has_newest;
  if (!idle || !oz_session_stop_wanted(s)) return;
  p->leaving = 1;
  p->queue[p->submitted % QUEUE] = (oz_job){.session = s,
                                            .frame = s->frame,
                                            .number = p->submitted,
                                            .checkpoint = 1,
                                            .capture = p->capture[p->newest],
                                            .slot = p->newest};
  p->users[p->newest]++;
  p->submitted++;
  oz_condition_wake(&p->changed);
}

int oz_session_stepping(oz_session *s, int stepping) {
  oz_pipeline *p = s->pipeline;
  if (!p || !p->threads || s->mending) return 0;
  oz_mutex_lock(&p->guard);
  p->stepping = stepping;
  const int leaving = p->leaving;
  oz_condition_wake(&p->changed);
  oz_mutex_unlock(&p->guard);
  return leaving;
}

OZ_THREAD_FN(writer) {
  oz_pipeline *p = arg;
  oz_mutex_lock(&p->guard);
  for (;;) {
    while (p->picked == p->submitted && !p->stop) await_work(p);
    if (p->picked == p->submitted) break;
    oz_job *job = &p->queue[p->picked++ % QUEUE];
    if (p->result < 0) job->files = job->checkpoint = job->tells = 0; /* nothing behind a failure */
    oz_mutex_unlock(&p->guard);
    work(p, job);
    oz_mutex_lock(&p->guard);
  }
  oz_mutex_unlock(&p->guard);
  return 0;
}

ooze_result oz_session_submit(oz_session *s, int files, int checkpoint,
                              const ooze_run_progress *done) {
  oz_pipeline *p = s->pipeline;
  oz_job job = {.session = s, .frame = s->frame};
  const double began = oz_seconds();
  job.files = files;
  job.checkpoint = checkpoint;
  job.tells = done != NULL;
  if (done) job.progress = *done;
  if (files || checkpoint) {
    job.capture = p->capture[p->newest];
    job.slot = p->newest;
  }
  oz_mutex_lock(&p->guard);
  if (!job.capture && p->finished == p->submitted) { /* nothing to wait for */
    oz_mutex_unlock(&p->guard);
    OZ_TRY_OK(oz_session_news(s));
    if (done) oz_session_whole(s, done);
    return OOZE_OK;
  }
  while (p->submitted - p->finished == QUEUE) oz_condition_wait(&p->changed, &p->guard);
  job.number = p->submitted++;
  p->queue[job.number % QUEUE] = job;
  if (job.capture) p->users[job.slot]++;
  oz_condition_wake(&p->changed);
  oz_mutex_unlock(&p->guard);
  if (!p->threads) {
    if (p->result < 0) job.files = job.checkpoint = job.tells = 0;
    p->picked++;
    work(p, &job);
  }
  s->report.wait_seconds += oz_seconds() - began;
  return oz_session_news(s);
}

ooze_result oz_session_settle(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  const double began = oz_seconds();
  if (!p) return OOZE_OK;
  for (int left = 1; left;) { /* news are told as they come */
    oz_mutex_lock(&p->guard);
    while (p->finished != p->submitted && !p->first) oz_condition_wait(&p->changed, &p->guard);
    left = p->finished != p->submitted;
    s->report.write_seconds = p->write_seconds;
    s->report.checkpoint_seconds = p->checkpoint_seconds;
    oz_mutex_unlock(&p->guard);
    if (left) (void)oz_session_news(s);
  }
  s->report.wait_seconds += oz_seconds() - began;
  return oz_session_news(s);
}

/* ---- Captures ---------------------------------------------------------------------------- */

ooze_result oz_session_capture(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  double began = oz_seconds();
  const uint32_t slot = p->has_newest ? (p->newest + 1) % p->slots : 0;
  oz_mutex_lock(&p->guard);
  while (p->users[slot]) oz_condition_wait(&p->changed, &p->guard);
  oz_mutex_unlock(&p->guard);
  s->report.wait_seconds += oz_seconds() - began;
  began = oz_seconds();
  p->has_newest = 0;
  ooze_result result = OOZE_OK;
  if (!p->capture[slot]) result = ooze_capture_create(s->solver, &p->capture[slot]);
  const int files = s->frame >= s->first || s->mending;
  if (result >= 0)
    result = ooze_capture_take(p->capture[slot], files ? oz_session_attributes(s) : 0);
  if (result < 0)
    return oz_fail(s->why, result, "%s: frame %d: %s", s->base->file, s->frame,
                   ooze_solver_message(s->solver));
  p->newest = slot;
  p->has_newest = 1;
  if (s->captured_values != s->watch_values) { /* then no job is under way: oz_session_use_values */
    json_decref(s->captured_values);
    s->captured_values = json_incref(s->watch_values);
  }
  s->report.capture_seconds += oz_seconds() - began;
  return OOZE_OK;
}

uint64_t oz_session_capture_bytes(const oz_session *s) {
  const oz_pipeline *p = s->pipeline;
  uint64_t bytes = 0;
  for (uint32_t k = 0; p && k < SLOTS; k++) bytes += ooze_capture_bytes(p->capture[k]);
  return bytes;
}

void oz_session_single_capture(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  if (!p->capture[1]) p->slots = 1;
}

void oz_session_captures_drop(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  if (!p) return;
  (void)oz_session_settle(s); /* a failure is told by the next call */
  for (uint32_t k = 0; k < SLOTS; k++) {
    ooze_capture_destroy(p->capture[k]);
    p->capture[k] = NULL;
  }
  p->has_newest = 0;
}

/* ---- The thread -------------------------------------------------------------------------- */

ooze_result oz_session_pipeline_open(oz_session *s) {
  oz_pipeline *p = calloc(1, sizeof *p);
  if (!p) return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
  p->session = s;
  p->slots = SLOTS;
  p->last = &p->first;
  if (!oz_mutex_open(&p->guard) || !oz_condition_open(&p->changed)) {
    free(p);
    return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
  }
  s->pipeline = p;
  /* A run that was given one thread has no other; neither has one on a system that refuses. */
  const int alone = s->options.machine && s->options.machine->threads == 1;
  while (!alone && p->threads < WRITERS && oz_thread_start(&p->thread[p->threads], writer, p))
    p->threads++;
  if (!p->threads) p->slots = 1;
  return OOZE_OK;
}

void oz_session_pipeline_close(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  if (!p) return;
  oz_session_captures_drop(s);
  oz_mutex_lock(&p->guard);
  p->stop = 1;
  oz_condition_wake(&p->changed);
  oz_mutex_unlock(&p->guard);
  for (uint32_t k = 0; k < p->threads; k++) oz_thread_join(p->thread[k]);
  oz_condition_close(&p->changed);
  oz_mutex_close(&p->guard);
  free(p);
  s->pipeline = NULL;
}
