/* Checkpoints of a run: the scene in them, writing, finding. SPDX-License-Identifier:
 * Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

/* a file counts by its contents, wherever it lies */
static int fold_file(json_t *item, uint64_t hash) {
  char text[40];
  const char *path = json_string_value(json_object_get(item, "file")), *name = path;
  if (!path) return 1;
  for (const char *c = path; *c; c++)
    if (oz_os_is_slash(*c)) name = c + 1;
  snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
  return json_object_set_new(item, "content", json_string(text)) == 0 &&
         json_object_set_new(item, "file", json_string(name)) == 0;
}

json_t *oz_scene_motion(const ooze_scene *s) {
  json_t *doc = oz_json_copy(s->doc), *item;
  if (!doc) return NULL;
  json_object_del(doc, "about");
  json_object_del(doc, "note");
  json_object_del(doc, "picture");
  json_object_del(doc, "wedge");
  json_t *output =
      json_pack("{s:f,s:i}", "fps", s->output.fps, "first_frame", (int)s->output.first);
  int whole = json_object_set_new(doc, "output", output) == 0;
  static const char *const shown[] = {"look",  "colour",   "clarity", "depth",
                                      "gloss", "softness", "glow",    "hidden"};
  static const char *const parts[] = {"materials", "colliders"};
  for (size_t p = 0; p < 2; p++) {
    const char *key;
    json_object_foreach(json_object_get(doc, parts[p]), key, item) {
      for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) json_object_del(item, shown[k]);
    }
  }
  for (uint32_t i = 0; i < s->collider_count; i++)
    whole &= fold_file(json_object_get(json_object_get(doc, "colliders"), s->colliders[i].name),
                       s->colliders[i].shape.file_hash);
  for (uint32_t i = 0; i < s->body_count; i++)
    whole &= fold_file(json_object_get(json_object_get(doc, "bodies"), s->bodies[i].fill.name),
                       s->bodies[i].fill.shape.file_hash);
  for (uint32_t i = 0; i < s->fluid_count; i++)
    whole &= fold_file(json_object_get(json_object_get(doc, "fluids"), s->fluids[i].name),
                       s->fluids[i].shape.file_hash);
  if (whole) return doc;
  json_decref(doc);
  return NULL;
}

/* Handles by name; NULL when memory is out. */
static json_t *names_of(const oz_session *s, int emitters) {
  json_t *names = json_object();
  uint32_t count = emitters ? s->base->emitter_count : s->base->collider_count;
  for (uint32_t i = 0; names && i < count; i++) {
    const char *name = emitters ? s->base->emitters[i].name : s->base->colliders[i].name;
    json_t *handle = json_integer(emitters ? s->emitters[i] : s->colliders[i]);
    if (json_object_set_new(names, name, handle) == 0) continue;
    json_decref(names);
    names = NULL;
  }
  return names;
}

/* The frame of name.0012.ozc; 0 if it is another's file. */
static int frame_of(const char *file, const char *name, int32_t *out) {
  size_t n = strlen(name);
  char *end;
  if (strncmp(file, name, n) != 0 || file[n] != '.') return 0;
  long frame = strtol(file + n + 1, &end, 10);
  *out = (int32_t)frame;
  return end > file + n + 1 && strcmp(end, ".ozc") == 0;
}

static void gather(void *user, const char *file) {
  oz_checkpoint_frames *o = user;
  int32_t frame;
  if (o->count < sizeof o->frames / sizeof *o->frames && frame_of(file, o->name, &frame))
    o->frames[o->count++] = frame;
}

static int falling(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x > y ? -1 : x < y;
}

oz_checkpoint_frames *oz_session_checkpoints(const oz_session *s) {
  char folder[3000];
  oz_checkpoint_frames *o = calloc(1, sizeof *o);
  if (!o) return NULL;
  snprintf(folder, sizeof folder, "%s/checkpoints", s->options.folder);
  o->name = s->base->output.name;
  oz_os_list(folder, gather, o);
  qsort(o->frames, o->count, sizeof *o->frames, falling);
  return o;
}

/* Leaves the newest `keep`. */
static void prune(oz_session *s, size_t keep) {
  char path[3600];
  oz_checkpoint_frames *o = oz_session_checkpoints(s);
  if (!o) return;
  for (size_t i = keep; i < o->count; i++)
    if (oz_session_path(s, "checkpoints", o->frames[i], ".ozc", path, sizeof path, NULL) == OOZE_OK)
      oz_os_remove(path);
  free(o);
}

void oz_session_forget(oz_session *s) { prune(s, 0); }

static ooze_result write_checkpoint(oz_job *job, const char *path, const char *text) {
  size_t bytes = 0;
  void *memory = NULL;
  ooze_result result = ooze_capture_save(job->capture, NULL, 0, &bytes);
  if (result >= 0) {
    memory = malloc(bytes);
    if (!memory)
      return oz_fail(&job->why, OOZE_ERROR_MEMORY, "%s: no memory for a checkpoint of %zu bytes",
                     path, bytes);
    result = ooze_capture_save(job->capture, memory, bytes, &bytes);
  }
  if (result < 0)
    oz_fail(&job->why, result, "%s: %s", path, ooze_capture_message(job->capture));
  else
    result = ooze_checkpoint_write(path, memory, bytes, text, &job->why);
  free(memory);
  return result;
}

ooze_result oz_job_checkpoint(oz_job *job) {
  oz_session *s = job->session;
  char path[3600];
  json_t *motion = oz_scene_motion(s->base);
  json_t *meta = json_pack("{s:s,s:i,s:i,s:o,s:o,s:o,s:o,s:O*}", "ooze", ooze_version_text(),
                           "frame", (int)job->frame, "materials", (int)s->base->material_count,
                           "scene", motion ? motion : json_null(), "colliders", names_of(s, 0),
                           "emitters", names_of(s, 1), "files", oz_session_records(s, job->frame),
                           "watch", s->captured_values);
  /* reals with all digits: they are compared */
  char *text = meta && motion ? oz_json_text(meta, JSON_COMPACT) : NULL;
  json_decref(meta);
  if (!text) return oz_fail(&job->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
  ooze_result result =
      oz_session_path(s, "checkpoints", job->frame, ".ozc", path, sizeof path, &job->why);
  if (result == OOZE_OK) result = write_checkpoint(job, path, text);
  free(text);
  if (result == OOZE_ERROR_UNSUPPORTED) { /* a build without zstd still simulates */
    if (!s->told_no_checkpoints) oz_job_say(job, "%s; this run cannot be resumed", job->why.text);
    s->told_no_checkpoints = 1;
    return OOZE_OK;
  }
  OZ_TRY_OK(result);
  prune(s, s->base->output.checkpoint_keep);
  return oz_job_kept(job, path);
}
