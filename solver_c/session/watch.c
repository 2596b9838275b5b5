/* Values that are read again between frames. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

static int same_parts(const ooze_scene *a, const ooze_scene *b) {
  if (a->material_count != b->material_count || a->collider_count != b->collider_count ||
      a->emitter_count != b->emitter_count || a->separation != b->separation ||
      a->output.fps != b->output.fps || a->output.first != b->output.first)
    return 0;
  for (uint32_t i = 0; i < a->material_count; i++)
    if (strcmp(a->looks[i].name, b->looks[i].name) != 0) return 0;
  for (uint32_t i = 0; i < a->collider_count; i++)
    if (strcmp(a->colliders[i].name, b->colliders[i].name) != 0) return 0;
  for (uint32_t i = 0; i < a->emitter_count; i++)
    if (strcmp(a->emitters[i].name, b->emitters[i].name) != 0) return 0;
  return 1;
}

/* The scene as it was given, with these values on top. */
ooze_result oz_session_use_values(oz_session *s, json_t *values) {
  ooze_scene_options options;
  ooze_scene *scene = NULL;
  const char *key;
  json_t *value;
  size_t count = json_object_size(values), at = 0;
  char **sets = calloc(count + 1, sizeof *sets);
  ooze_result result =
      sets ? OOZE_OK : oz_fail(s->why, OOZE_ERROR_MEMORY, "out of memory for watched values");
  json_object_foreach(values, key, value) {
    char *text = result == OOZE_OK ? oz_json_text(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    size_t room = text ? strlen(key) + strlen(text) + 2 : 0;
    if (text) sets[at] = malloc(room);
    if (text && sets[at])
      snprintf(sets[at++], room, "%s=%s", key, text);
    else if (result == OOZE_OK)
      result = oz_fail(s->why, OOZE_ERROR_MEMORY, "out of memory for watched values");
    free(text);
  }
  ooze_scene_options_default(&options);
  options.sets = (const char *const *)sets;
  options.set_count = (uint32_t)at;
  options.max_memory = s->base->max_memory;
  if (result == OOZE_OK)
    result = ooze_scene_load_memory(s->base->file, s->base->text, strlen(s->base->text), &options,
                                    &scene, s->why);
  if (result == OOZE_OK && !same_parts(s->base, scene))
    result = oz_fail(s->why, OOZE_ERROR_UNSUPPORTED,
                     "materials, colliders, emitters, the separation and the frame rate cannot "
                     "come or change in mid-run");
  for (size_t i = 0; i < at; i++) free(sets[i]);
  free(sets);
  oz_state want, next;
  memset(&want, 0, sizeof want);
  memset(&next, 0, sizeof next);
  if (result == OOZE_OK) result = oz_state_copy(scene, &want, s->why);
  if (result == OOZE_OK) result = oz_state_copy(scene, &next, s->why);
  if (result != OOZE_OK) {
    oz_state_release(&want);
    ooze_scene_destroy(scene);
    json_decref(values);
    return result;
  }
  (void)oz_session_settle(s); /* files of frames before it are made with the values before it */
  oz_state_release(&s->want);
  oz_state_release(&s->next);
  s->want = want;
  s->next = next;
  ooze_scene_destroy(s->watched);
  s->watched = scene;
  s->scene = scene;
  json_decref(s->watch_values);
  s->watch_values = values;
  return OOZE_OK;
}

ooze_result oz_session_watch(oz_session *s) {
  void *text = NULL;
  size_t bytes = 0;
  ooze_message ignored;
  if (!s->options.watch) return OOZE_OK;
  /* not there yet, or not any more */
  if (ooze_file_read(s->options.watch, 1 << 20, &text, &bytes, &ignored) < 0) {
    if (!s->told_no_watch)
      oz_session_say(s, "%s; it is looked for again before each frame", ignored.text);
    s->told_no_watch = 1;
    return OOZE_OK;
  }
  if (s->watch_text && strcmp(s->watch_text, text) == 0) {
    ooze_io_free(text);
    return OOZE_OK;
  }
  free(s->watch_text);
  s->watch_text = oz_copy_text(text, bytes);
  json_error_t error;
  int no_memory = 0;
  json_t *values = oz_json_load(text, bytes, JSON_REJECT_DUPLICATES, &error, &no_memory);
  ooze_io_free(text);
  if (no_memory) return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->options.watch);
  if (!json_is_object(values)) {
    oz_session_say(s, "%s:%d: expected {\"path\": value, ...}; going on with the values before",
                   s->options.watch, values ? 1 : error.line);
    json_decref(values);
    return OOZE_OK;
  }
  size_t count = json_object_size(values);
  if (oz_session_use_values(s, values) < 0) {
    oz_session_say(s, "%s: %s; going on with the values before", s->options.watch, s->why->text);
    s->why->text[0] = 0;
  } else {
    oz_session_say(s, "frame %d: %zu value%s from %s", s->stepping, count, count == 1 ? "" : "s",
                   s->options.watch);
  }
  return OOZE_OK;
}
