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

typedef struct oz_pipeline oz_pipeline; /* queue.h */

typedef struct oz_session {
  const ooze_scene *base;  /* as given */
  const ooze_scene *scene; /* with the values of the watched file in it */
  ooze_scene *watched;     /* owned, or NULL */
  char *watch_text;        /* last read */
  json_t *watch_values;    /* in force, or NULL */
  json_t *captured_values; /* those of the newest capture: a step that is left may have new ones */
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
  struct oz_paint *paint;   /* painted values by material; NULL: there are none */
  oz_pipeline *pipeline;
  oz_record *records;
  uint32_t record_count, record_room;
  int mending;    /* earlier frames are stepped again to rewrite damaged files; no checkpoints */
  oz_lock *lock;  /* of the folder, while the run lasts */
  int unlockable; /* the disk knows no locks */
  ooze_picture_options preview; /* options of all previews */
  int told_no_checkpoints, told_no_watch;
  double began;
  ooze_run_report report;
  ooze_message *why;
} oz_session;

/* Files of one frame, on one of the pipeline's threads. Of the session it reads options and scene;
 * in its turn it writes the records. */
typedef struct oz_job {
  oz_session *session;
  ooze_capture *capture; /* of `frame`; NULL: nothing is written */
  uint32_t slot;
  uint64_t number;
  int32_t frame;
  int files, checkpoint, tells; /* the wishes; tells: the frame is whole then */
  ooze_run_progress progress;
  ooze_message why;
} oz_job;

/* messages.c: a line for the host; whether it wants the run to stop */
void oz_session_say(oz_session *s, const char *format, ...) OZ_PRINTF(2, 3);
int oz_session_stop_wanted(oz_session *s);

/* pipeline.c. capture: the state as it is, waiting for the files of the last frame but one. submit:
 * files and a checkpoint of the newest capture, behind those before it; `done` is told when they
 * are whole. settle: all of it is done. news: tells the host of the finished frames. The latter
 * three return the first failure. */
ooze_result oz_session_pipeline_open(oz_session *s);
/* Before and after a step. 1: a stop was seen, and its checkpoint is written already. */
int oz_session_stepping(oz_session *s, int stepping);
void oz_session_pipeline_close(oz_session *s);
ooze_result oz_session_capture(oz_session *s);
ooze_result oz_session_submit(oz_session *s, int files, int checkpoint,
                              const ooze_run_progress *done);
ooze_result oz_session_settle(oz_session *s);
ooze_result oz_session_news(oz_session *s);
uint64_t oz_session_capture_bytes(const oz_session *s); /* on the host */
void oz_session_single_capture(oz_session *s);          /* no second one, if none is there yet */
void oz_session_captures_drop(oz_session *s);           /* before their solver */
/* news.c, on the pipeline's threads. await_turn: 0 if a job before this one has failed. */
int oz_job_await_turn(oz_job *job);
ooze_result oz_job_wrote(oz_job *job, const char *path);
ooze_result oz_job_kept(oz_job *job, const char *path); /* a checkpoint */
void oz_job_say(oz_job *job, const char *format, ...) OZ_PRINTF(2, 3);

/* deform.c: the points of colliders with a mesh for each frame, for the step to `stepping`
 */
ooze_result oz_session_deform(oz_session *s);
void oz_session_deform_release(oz_session *s);

/* paint.c: materials that stand for painted values (scene/painted.c). repaint: values of scene
 * material `index` that changed go over the painted ones. add: attributes of points for a file. */
ooze_result oz_session_find_paint(oz_session *s);
ooze_result oz_session_repaint(oz_session *s, uint32_t index, const ooze_material *was);
ooze_result oz_session_add_paint(const oz_session *s, ooze_points *points, ooze_message *why);
void oz_session_paint_release(oz_session *s);

/* outputs.c. By the numbers of oz_output; NULL: none is written. */
extern const char *const oz_point_endings[], *const oz_mesh_endings[];
/* folder/part/name.0012.ending; part may be "". */
ooze_result oz_session_path(const oz_session *s, const char *part, int32_t frame,
                            const char *ending, char *out, size_t room, ooze_message *why);
ooze_result oz_session_folder_fits(oz_session *s);
ooze_result oz_session_folders(oz_session *s);
/* Keeps other runs out of the folder; where it does not exist yet only if `must`. */
ooze_result oz_session_lock(oz_session *s, int must);
int oz_session_has_files(const oz_session *s);       /* frames have any */
uint64_t oz_session_attributes(const oz_session *s); /* that files are made of */
/* Surfaces carry temperature: asked for, or a material conducts it. */
int oz_session_shows_heat(const oz_session *s);
ooze_result oz_session_write_scene(oz_session *s);
/* whether a run with these outputs writes a file of that name for that frame */
int oz_session_writes(const oz_session *s, const char *name, int32_t frame);

/* files.c */
ooze_result oz_job_write_files(oz_job *job);

/* record.c: files that were written. `path` lies in the run's folder. */
ooze_result oz_session_record(oz_session *s, const char *path, int32_t frame, ooze_message *why);
/* up to that frame, for a checkpoint */
json_t *oz_session_records(const oz_session *s, int32_t frame);
ooze_result oz_session_records_load(oz_session *s, const json_t *list);
void oz_session_records_release(oz_session *s);
/* Compares each file on disk with its record and marks those that differ. */
ooze_result oz_session_verify(oz_session *s, uint32_t *out_damaged);
int oz_session_damaged_at(const oz_session *s, int32_t frame);

/* checkpoints.c */
typedef struct oz_checkpoint_frames {
  const char *name; /* of the scene */
  int32_t frames[4096];
  size_t count;
} oz_checkpoint_frames;
/* Those in the run's folder, the newest first, to be freed; NULL when memory is out. */
oz_checkpoint_frames *oz_session_checkpoints(const oz_session *s);
/* The scene without values that have no effect on the motion. NULL when memory is out. */
json_t *oz_scene_motion(const ooze_scene *s);
ooze_result oz_job_checkpoint(oz_job *job);
void oz_session_forget(oz_session *s); /* checkpoints of earlier runs */

/* resume.c */
ooze_result oz_session_resume(oz_session *s, int *found);

/* steps.c */
/* From the solver's counts alone: nothing is fetched for it. */
ooze_run_progress oz_session_whole_frame(const oz_session *s, uint32_t substeps, double seconds);
ooze_result oz_session_stop(oz_session *s); /* a checkpoint of the newest capture, and the end */
void oz_session_close_solver(oz_session *s);
ooze_result oz_session_begin(oz_session *s);  /* a solver at the scene's first frame */
ooze_result oz_session_solver(oz_session *s); /* a new, empty one in place of the old */
/* values, poses and shapes of the step to `stepping` */
ooze_result oz_session_apply(oz_session *s);
ooze_result oz_session_step_frame(oz_session *s);
ooze_result oz_session_write_again(oz_session *s); /* the files of a frame that is mended */

/* watch.c */
ooze_result oz_session_watch(oz_session *s);
ooze_result oz_session_use_values(oz_session *s, json_t *values); /* steals values */

#endif
