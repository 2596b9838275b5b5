/* News of the threads that write files: kept, and told on the thread that called ooze_run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ooze_result oz_job_post(oz_job *job, news_kind kind, const char *text) {
  oz_pipeline *p = job->session->pipeline;
  const size_t bytes = strlen(text) + 1;
  news *n = calloc(1, sizeof *n + bytes);
  if (!n)
    return oz_fail(&job->why, OOZE_ERROR_MEMORY, "%s: out of memory", job->session->base->file);
  n->kind = kind;
  n->progress = job->progress;
  memcpy(n->text, text, bytes);
  oz_mutex_lock(&p->guard);
  *p->last = n;
  p->last = &n->next;
  oz_condition_wake(&p->changed);
  oz_mutex_unlock(&p->guard);
  return OOZE_OK;
}

ooze_result oz_job_wrote(oz_job *job, const char *path) {
  return oz_job_post(job, NEWS_FILE, path);
}
ooze_result oz_job_kept(oz_job *job, const char *path) {
  return oz_job_post(job, NEWS_CHECKPOINT, path);
}
void oz_job_say(oz_job *job, const char *format, ...) {
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  (void)oz_job_post(job, NEWS_LINE, text);
}

void oz_session_whole(oz_session *s, const ooze_run_progress *done) {
  s->report.frame = done->frame;
  if (s->options.progress) s->options.progress(s->options.user, done);
}

static void tell(oz_session *s, const news *n) {
  switch (n->kind) {
  case NEWS_FILE:
    if (s->options.wrote) s->options.wrote(s->options.user, n->text);
    break;
  case NEWS_LINE:
    oz_session_say(s, "%s", n->text);
    break;
  case NEWS_CHECKPOINT:
    snprintf(s->report.checkpoint, sizeof s->report.checkpoint, "%.511s", n->text);
    break;
  case NEWS_FRAME:
    oz_session_whole(s, &n->progress);
    break;
  }
}

ooze_result oz_session_failure(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  oz_mutex_lock(&p->guard);
  const ooze_result result = p->result;
  if (result < 0) *s->why = p->why;
  oz_mutex_unlock(&p->guard);
  return result;
}

ooze_result oz_session_news(oz_session *s) {
  oz_pipeline *p = s->pipeline;
  if (!p) return OOZE_OK;
  oz_mutex_lock(&p->guard);
  news *n = p->first;
  p->first = NULL;
  p->last = &p->first;
  oz_mutex_unlock(&p->guard);
  while (n) {
    news *next = n->next;
    tell(s, n);
    free(n);
    n = next;
  }
  return oz_session_failure(s);
}

/* Whether the job may go on: no job before it has failed. */
int oz_job_await_turn(oz_job *job) {
  oz_pipeline *p = job->session->pipeline;
  oz_mutex_lock(&p->guard);
  while (p->finished != job->number) oz_condition_wait(&p->changed, &p->guard);
  const int good = p->result >= 0;
  oz_mutex_unlock(&p->guard);
  return good;
}
