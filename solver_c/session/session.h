/* A run of a scene. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SESSION_H
#define OOZE_IO_SESSION_H

#include "scene/scene_internal.h"
#include "geo/folders.h"

/* A file that was written: its name from the run's folder, its length and hash. */
typedef struct oz_record {
  char *name;
  int32_t frame;
  int damaged; /* found so by oz_session_verify */
  uint64_t bytes, hash;
} oz_record;

typedef struct oz_session {
  const ooze_scene *base;  /* as given */
  const ooze_scene *scene; /* with the values of the watched file in it */
  ooze_scene *watched;     /* owned, or NULL */
  char *watch_text;        /* last read */
  json_t *watch_values;    /* in force, or NULL */
  ooze_run_options options;
  ooze_solver *solver;
  ooze_collider *colliders; /* handles, one each of the scene */
  ooze_emitter *emitters;
  oz_state sent, want, next; /* values of the solver; at this frame's beginning; at its end */
  int sent_is_known;
  int32_t first, last;      /* frames that files are written for */
  int32_t frame;            /* the state's */
  int32_t stepping;         /* the frame being stepped to */
  struct oz_follow *follow; /* one a collider: the points that follow a deforming mesh */
  void *snapshot;           /* the state of `frame` */
  size_t snapshot_bytes, snapshot_room;
  oz_record *records;
  uint32_t record_count, record_room;
  int mending;    /* earlier frames are stepped again to rewrite damaged files; no checkpoints */
  oz_lock *lock;  /* of the folder, while the run lasts */
  int unlockable; /* the disk knows no locks */
  int told_no_checkpoints, told_no_watch;
  double began;
  ooze_run_report report;
  ooze_message *why;
} oz_session;

/* messages.c: a line for the host */
void oz_session_say(oz_session *s, const char *format, ...) OZ_PRINTF(2, 3);
/* folder/part/name.0012.ending; part may be "". */
ooze_result oz_session_path(const oz_session *s, const char *part, int32_t frame,
                            const char *ending, char *out, size_t room);

/* deform.c: the points of colliders with a mesh for each frame, for the step to `stepping`
 */
ooze_result oz_session_deform(oz_session *s);
void oz_session_deform_release(oz_session *s);

/* files.c */
ooze_result oz_session_folder_fits(oz_session *s);
ooze_result oz_session_folders(oz_session *s);
/* Keeps other runs out of the folder; where it does not exist yet only if `must`. */
ooze_result oz_session_lock(oz_session *s, int must);
ooze_result oz_session_write_frame(oz_session *s);
ooze_result oz_session_write_scene(oz_session *s);
/* whether a run with these outputs writes a file of that name for that frame */
int oz_session_writes(const oz_session *s, const char *name, int32_t frame);

/* record.c: files that were written. `path` lies in the run's folder. */
ooze_result oz_session_record(oz_session *s, const char *path, int32_t frame);
json_t *oz_session_records(const oz_session *s); /* up to the state's frame, for a checkpoint */
ooze_result oz_session_records_load(oz_session *s, const json_t *list);
void oz_session_records_release(oz_session *s);
/* Compares each file on disk with its record and marks those that differ. */
ooze_result oz_session_verify(oz_session *s, uint32_t *out_damaged);
int oz_session_damaged_at(const oz_session *s, int32_t frame);

/* resume.c */
ooze_result oz_session_snapshot(oz_session *s);
ooze_result oz_session_checkpoint(oz_session *s); /* the snapshot, to disk */
ooze_result oz_session_resume(oz_session *s, int *found);
void oz_session_forget(oz_session *s); /* checkpoints of earlier runs */

/* session.c */
ooze_result oz_session_begin(oz_session *s);  /* a solver at the scene's first frame */
ooze_result oz_session_solver(oz_session *s); /* a new, empty one in place of the old */
ooze_result oz_session_step_frame(oz_session *s);

/* watch.c */
ooze_result oz_session_watch(oz_session *s);
ooze_result oz_session_use_values(oz_session *s, json_t *values); /* steals values */

#endif
