/* Going on from a checkpoint: comparing it with the scene, mending damaged files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct changes {
  oz_session *session;
  uint32_t count;
  char first[200];
} changes;

static void on_change(void *user, const char *path, const json_t *before, const json_t *after) {
  changes *c = user;
  char a[80], b[80], text[400];
  oz_json_short(before, a, sizeof a);
  oz_json_short(after, b, sizeof b);
  snprintf(text, sizeof text, "changed: %s: %s -> %s", path, a, b);
  if (!c->count++) snprintf(c->first, sizeof c->first, "%s: %s -> %s", path, a, b);
  oz_session_say(c->session, "%s", text);
}

static void on_damaged(void *user, const char *line) { oz_session_say(user, "%s", line); }

/* Colliders and emitters by name: those of the checkpoint keep their handles, others come and go.
 */
static ooze_result match_parts(oz_session *s, const json_t *meta) {
  const ooze_scene *scene = s->base;
  const json_t *old_colliders = json_object_get(meta, "colliders"),
               *old_emitters = json_object_get(meta, "emitters");
  const char *key;
  json_t *value;
  ooze_result result = OOZE_OK;
  for (uint32_t i = 0; i < scene->collider_count && result >= 0; i++) {
    value = json_object_get(old_colliders, scene->colliders[i].name);
    s->colliders[i] = (ooze_collider)json_integer_value(value);
    ooze_collider_desc desc;
    if (value) continue;
    result = oz_collider_desc_of(scene, i, &scene->start, &desc);
    if (result >= 0) result = ooze_collider_add(s->solver, &desc, &s->colliders[i]);
    if (result >= 0)
      OZ_TRY_OK(oz_scene_dress_collider(scene, i, s->solver, s->colliders[i], s->why));
  }
  for (uint32_t i = 0; i < scene->emitter_count && result >= 0; i++) {
    value = json_object_get(old_emitters, scene->emitters[i].name);
    s->emitters[i] = (ooze_emitter)json_integer_value(value);
    if (value) continue;
    ooze_emitter_desc desc = scene->start.emitters[i].desc;
    desc.end = desc.start;
    result = ooze_emitter_add(s->solver, &desc, &s->emitters[i]);
  }
  json_object_foreach((json_t *)old_colliders, key, value) {
    int here = 0;
    for (uint32_t i = 0; i < scene->collider_count; i++)
      here |= strcmp(scene->colliders[i].name, key) == 0;
    if (!here && result >= 0)
      result = ooze_collider_remove(s->solver, (ooze_collider)json_integer_value(value));
  }
  json_object_foreach((json_t *)old_emitters, key, value) {
    int here = 0;
    for (uint32_t i = 0; i < scene->emitter_count; i++)
      here |= strcmp(scene->emitters[i].name, key) == 0;
    if (!here && result >= 0)
      result = ooze_emitter_remove(s->solver, (ooze_emitter)json_integer_value(value));
  }
  if (result < 0)
    return oz_fail(s->why, result, "%s: resume: %s", scene->file, ooze_solver_message(s->solver));
  return OOZE_OK;
}

/* Of a scene as checkpoints have it. */
static double separation_in(const json_t *scene) {
  const json_t *value = json_object_get(json_object_get(scene, "solver"), "particle_separation");
  return json_is_number(value) ? json_number_value(value)
                               : oz_key_default("solver", "particle_separation", 0);
}

/* The state of a checkpoint; *out_changes counts values of the scene that have changed since. */
static ooze_result go_on(oz_session *s, const char *path, const void *memory, size_t bytes,
                         const json_t *meta, uint32_t *out_changes) {
  const ooze_scene *scene = s->base;
  const json_t *frame = json_object_get(meta, "frame"), *then = json_object_get(meta, "scene");
  if (!json_is_integer(frame) || !json_is_object(then))
    return oz_fail(s->why, OOZE_ERROR_FORMAT, "%s: is a checkpoint of another program", path);
  const double was = separation_in(then), is = (double)scene->separation;
  if ((float)was != scene->separation)
    return oz_fail(s->why, OOZE_ERROR_ARGUMENT,
                   "%s: solver.particle_separation is %g m and that of %s %g m, which "
                   "--accept-changes cannot change: each particle has its size; a run without "
                   "--resume begins again",
                   scene->file, is, path, was);
  changes c = {s, 0, ""};
  json_t *now = oz_scene_motion(scene);
  /* through text, as the other one went */
  char *text = now ? oz_json_text(now, JSON_COMPACT) : NULL;
  json_error_t error;
  int no_memory = 0;
  json_decref(now);
  now = text ? oz_json_load(text, strlen(text), 0, &error, &no_memory) : NULL;
  free(text);
  if (!now) return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", scene->file);
  oz_json_differ(then, now, on_change, &c);
  json_decref(now);
  if (c.count && !s->options.accept_changes)
    return oz_fail(s->why, OOZE_ERROR_ARGUMENT,
                   "%s: the scene has changed since %s (%u value%s: %s); --accept-changes goes "
                   "on with the new values, a "
                   "run without --resume begins again",
                   scene->file, path, c.count, c.count == 1 ? "" : "s", c.first);
  ooze_result result = ooze_checkpoint_load(s->solver, memory, bytes);
  if (result < 0) return oz_fail(s->why, result, "%s: %s", path, ooze_solver_message(s->solver));
  const uint32_t has = ooze_material_count(s->solver) - 1;
  const json_t *materials = json_object_get(meta, "materials"); /* not in those of 0.1 */
  const uint32_t had = json_is_integer(materials) ? (uint32_t)json_integer_value(materials) : has;
  if (had > scene->material_count || (has > had && had != scene->material_count))
    return oz_fail(s->why, OOZE_ERROR_ARGUMENT,
                   "%s: has %u materials and the scene %u: materials can be added, not removed%s",
                   path, had, scene->material_count,
                   has > had ? ", and neither where points are painted" : "");
  for (uint32_t i = ooze_material_count(s->solver); i <= scene->material_count; i++) {
    result = ooze_material_add(s->solver, &scene->start.materials[i - 1], NULL);
    if (result < 0) return oz_fail(s->why, result, "%s: %s", path, ooze_solver_message(s->solver));
  }
  OZ_TRY_OK(match_parts(s, meta));
  s->frame = s->stepping = (int32_t)json_integer_value(frame);
  json_t *watch = json_object_get(meta, "watch");
  if (json_is_object(watch)) OZ_TRY_OK(oz_session_use_values(s, json_incref(watch)));
  /* the last thing sent were the values of the frame before */
  s->sent_is_known = !c.count;
  oz_state_assign(s->scene, &s->sent, &s->want);
  if (s->frame > scene->output.first)
    oz_state_at(s->scene, oz_frame_time(scene, s->frame - 1), &s->sent);
  *out_changes = c.count;
  return oz_session_find_paint(s);
}

/* ---- Damaged frames -------------------------------------------------------------------------- */

static ooze_result load(oz_session *s, const char *path, json_t **out_meta, uint32_t *out_changes) {
  void *memory = NULL;
  size_t bytes = 0;
  char *text = NULL;
  ooze_result result = ooze_checkpoint_read(path, &s->base->limits, &memory, &bytes, &text, s->why);
  json_error_t error;
  int no_memory = 0;
  json_t *meta =
      result >= 0 ? oz_json_load(text, text ? strlen(text) : 0, 0, &error, &no_memory) : NULL;
  if (no_memory) result = oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  if (result >= 0) result = go_on(s, path, memory, bytes, meta, out_changes);
  ooze_io_free(memory);
  ooze_io_free(text);
  if (out_meta && result >= 0)
    *out_meta = meta;
  else
    json_decref(meta);
  return result;
}

/* The state of the newest whole checkpoint before `frame`, or that of the beginning. */
static ooze_result start_before(oz_session *s, int32_t frame) {
  char path[3600];
  uint32_t changed;
  oz_checkpoint_frames *o = oz_session_checkpoints(s);
  if (!o) return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
  ooze_result result = OOZE_ERROR_NOT_FOUND;
  for (size_t i = 0; i < o->count && result != OOZE_OK; i++) {
    if (o->frames[i] >= frame) continue;
    result = oz_session_path(s, "checkpoints", o->frames[i], ".ozc", path, sizeof path, s->why);
    if (result == OOZE_OK) result = load(s, path, NULL, &changed);
    if (result == OOZE_ERROR_MEMORY) break; /* no damage: older ones are no way out */
    if (result != OOZE_OK && oz_session_solver(s) != OOZE_OK) break;
  }
  free(o);
  if (result == OOZE_ERROR_MEMORY) return result;
  s->why->text[0] = 0;
  return result == OOZE_OK ? OOZE_OK : oz_session_begin(s);
}

/* Steps again through the frames whose files are damaged, and writes those. */
static ooze_result mend(oz_session *s, uint32_t damaged) {
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (uint32_t i = 0; i < s->record_count; i++) {
    if (!s->records[i].damaged) continue;
    if (s->records[i].frame < low) low = s->records[i].frame;
    if (s->records[i].frame > high) high = s->records[i].frame;
  }
  OZ_TRY_OK(oz_session_solver(s));
  s->mending = 1;
  OZ_TRY_OK(start_before(s, low));
  oz_session_say(s, "%u damaged file%s: stepping again from frame %d to %d to write %s anew",
                 damaged, damaged == 1 ? "" : "s", s->frame, high, damaged == 1 ? "it" : "them");
  if (oz_session_damaged_at(s, s->frame)) OZ_TRY_OK(oz_session_write_again(s));
  while (s->frame < high) OZ_TRY_OK(oz_session_step_frame(s));
  s->mending = 0;
  return oz_session_solver(s);
}

ooze_result oz_session_resume(oz_session *s, int *found) {
  char folder[3000], path[3600];
  json_t *meta = NULL;
  uint32_t changed = 0, damaged = 0;
  *found = 0;
  snprintf(folder, sizeof folder, "%s/checkpoints", s->options.folder);
  ooze_result result = ooze_checkpoint_find_newest(folder, &s->base->limits, on_damaged, s, path,
                                                   sizeof path, s->why);
  if (result == OOZE_ERROR_NOT_FOUND) {
    s->why->text[0] = 0;
    oz_session_say(s, "%s: no whole checkpoint to resume from; beginning with the first frame",
                   folder);
    return OOZE_OK;
  }
  OZ_TRY_OK(result);
  OZ_TRY_OK(load(s, path, &meta, &changed));
  result = oz_session_records_load(s, json_object_get(meta, "files"));
  const int watched = json_is_object(json_object_get(meta, "watch")) || s->options.watch;
  json_decref(meta);
  if (result == OOZE_OK) result = oz_session_verify(s, &damaged);
  OZ_TRY_OK(result);
  if (damaged && (changed || watched)) {
    oz_session_say(s,
                   "%u damaged file%s cannot be written again, since values of the scene have "
                   "changed in mid-run; a run without --resume writes all",
                   damaged, damaged == 1 ? "" : "s");
  } else if (damaged) {
    OZ_TRY_OK(mend(s, damaged));
    OZ_TRY_OK(load(s, path, NULL, &changed));
  }
  s->report.resumed = 1;
  s->report.resumed_frame = s->frame;
  snprintf(s->report.checkpoint, sizeof s->report.checkpoint, "%.511s", path);
  oz_session_say(s, "resuming at frame %d from %s%s", s->frame, path,
                 changed ? ", with the changes above" : "");
  *found = 1;
  return OOZE_OK;
}
