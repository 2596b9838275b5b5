/* The queue between a run and the threads that write its files: news.c and pipeline.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_QUEUE_H
#define OOZE_IO_QUEUE_H

#include "session.h"

#include "base/threads.h"

enum { SLOTS = 2, WRITERS = 2, QUEUE = 64 };

typedef enum news_kind { NEWS_FILE, NEWS_LINE, NEWS_CHECKPOINT, NEWS_FRAME } news_kind;
typedef struct news {
  struct news *next;
  news_kind kind;
  ooze_run_progress progress;
  char text[]; /* a path or a line */
} news;

struct oz_pipeline {
  oz_session *session;
  ooze_capture *capture[SLOTS];
  uint32_t slots; /* fewer where memory is limited */
  uint32_t newest;
  int has_newest;

  uint32_t threads; /* started */
  oz_thread thread[WRITERS];
  /* under the guard: */
  oz_mutex guard;
  oz_condition changed;
  int stop;
  int stepping,
      leaving; /* a step is being taken; its stop was seen, and a checkpoint is on its way */
  oz_job queue[QUEUE];                  /* job n is at n % QUEUE */
  uint64_t submitted, picked, finished; /* jobs so far; the next turn is that of job `finished` */
  uint32_t users[SLOTS];                /* jobs of each capture */
  news *first, **last;
  ooze_result result; /* of the first job that failed; those behind it are dropped */
  ooze_message why;
  double write_seconds, checkpoint_seconds;
};

/* For the host, to be told on its thread. */
ooze_result oz_job_post(oz_job *job, news_kind kind, const char *text);
/* The host is told that a frame is whole. */
void oz_session_whole(oz_session *s, const ooze_run_progress *done);
/* The first failure of a job, in the session's message. */
ooze_result oz_session_failure(oz_session *s);

#endif
