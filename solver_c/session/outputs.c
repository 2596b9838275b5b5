/* Files and folders of a run. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>

const char *const oz_point_endings[] = {".bgeo.sc", ".bgeo", ".geo", ".ply", NULL, ".abc"};
const char *const oz_mesh_endings[] = {NULL, ".ply", ".obj", ".bgeo", ".bgeo.sc", ".abc"};

ooze_result oz_session_path(const oz_session *s, const char *part, int32_t frame,
                            const char *ending, char *out, size_t room, ooze_message *why) {
  int n = snprintf(out, room, "%s/%s%s%s.%04d%s", s->options.folder, part, part[0] ? "/" : "",
                   s->base->output.name, frame, ending);
  if (n < 0 || (size_t)n >= room)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: the path is too long", s->options.folder);
  return OOZE_OK;
}

static ooze_result make_folder(const char *path, ooze_message *why) {
  OZ_TRY_OK(oz_make_folder(path, why));
  ooze_file_sweep(path); /* leftovers of killed runs */
  return OOZE_OK;
}
/* For the run's folder and those in it that its outputs go to. */
static ooze_result each_folder(oz_session *s, ooze_result (*call)(const char *, ooze_message *)) {
  const oz_output *o = &s->base->output;
  const struct {
    const char *part;
    int wanted;
  } folders[] = {{"", 1},
                 {"checkpoints", 1},
                 {"points", oz_point_endings[o->points] != NULL},
                 {"surface", o->surface != 0},
                 {"mesh", oz_mesh_endings[o->mesh] != NULL},
                 {"preview", s->options.preview != 0}};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    char path[3600];
    if (!folders[k].wanted) continue;
    snprintf(path, sizeof path, "%s%s%s", s->options.folder, folders[k].part[0] ? "/" : "",
             folders[k].part);
    /* the folder that was asked for may be a link; those in it lie in it */
    if (folders[k].part[0]) OZ_TRY_OK(oz_folder_is_own(path, s->why));
    OZ_TRY_OK(call(path, s->why));
  }
  return OOZE_OK;
}

ooze_result oz_session_folder_fits(oz_session *s) {
  if (strlen(s->options.folder) > 2000)
    return oz_fail(s->why, OOZE_ERROR_LIMIT, "%.60s...: the path is too long", s->options.folder);
  char log[3600];
  snprintf(log, sizeof log, "%s/ooze.log", s->options.folder);
  OZ_TRY_OK(oz_folder_is_own(log, s->why));
  return each_folder(s, oz_folder_fits);
}
ooze_result oz_session_folders(oz_session *s) { return each_folder(s, make_folder); }

ooze_result oz_session_lock(oz_session *s, int must) {
  int supported = 1;
  if (s->lock || s->unlockable || (!must && !oz_folder_exists(s->options.folder))) return OOZE_OK;
  OZ_TRY_OK(oz_folder_lock(s->options.folder, &s->lock, &supported, s->why));
  s->unlockable = !supported;
  if (!supported)
    oz_session_say(s, "%s: this disk has no locks; two runs into it would mix", s->options.folder);
  return OOZE_OK;
}

ooze_result oz_session_write_scene(oz_session *s) {
  char path[3600];
  ooze_file *file = NULL;
  snprintf(path, sizeof path, "%s/scene.json", s->options.folder);
  OZ_TRY_OK(ooze_file_create(path, &file, s->why));
  ooze_result result = ooze_file_put(file, s->base->text, strlen(s->base->text), s->why);
  if (result >= 0) result = ooze_file_put(file, "\n", 1, s->why);
  if (result < 0) {
    ooze_file_discard(file);
    return result;
  }
  return ooze_file_commit(file, 1, s->why);
}

int oz_session_writes(const oz_session *s, const char *name, int32_t frame) {
  const oz_output *o = &s->base->output;
  const struct {
    const char *part, *ending;
  } files[] = {{"points", oz_point_endings[o->points]},
               {"surface", o->surface ? ".vdb" : NULL},
               {"mesh", oz_mesh_endings[o->mesh]},
               {"preview", s->options.preview ? ".png" : NULL}};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char made[600];
    if (!files[k].ending) continue;
    snprintf(made, sizeof made, "%s/%s.%04d%s", files[k].part, o->name, frame, files[k].ending);
    if (strcmp(made, name) == 0) return 1;
  }
  return 0;
}

int oz_session_has_files(const oz_session *s) {
  const oz_output *o = &s->base->output;
  return oz_point_endings[o->points] || o->surface || o->mesh || s->options.preview;
}

/* Surfaces carry temperature: asked for, or a material conducts it. */
int oz_session_shows_heat(const oz_session *s) {
  ooze_scene_info info;
  ooze_scene_info_default(&info);
  return ooze_scene_info_get(s->base, &info) == OOZE_OK && info.surface_temperature;
}

uint64_t oz_session_attributes(const oz_session *s) {
  const oz_output *o = &s->base->output;
  const int surfaces = o->surface || o->mesh;
  uint64_t bits = 0;
  if (!oz_session_has_files(s)) return 0;
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    (void)ooze_attribute_describe((ooze_attribute)a, &info);
    if (info.is_state && (oz_point_endings[o->points] || s->options.preview))
      bits |= UINT64_C(1) << a;
  }
  bits |= o->channels;
  if (surfaces) bits |= UINT64_C(1) << OOZE_POSITION | UINT64_C(1) << OOZE_VELOCITY;
  if (surfaces && o->shading)
    bits |= UINT64_C(1) << OOZE_MATERIAL | UINT64_C(1) << OOZE_BIRTH | UINT64_C(1) << OOZE_REST_1 |
            UINT64_C(1) << OOZE_REST_2;
  if (surfaces && s->base->body_count) bits |= UINT64_C(1) << OOZE_OWNER;
  if (surfaces && oz_session_shows_heat(s)) bits |= UINT64_C(1) << OOZE_TEMPERATURE;
  if (surfaces && o->stress) bits |= UINT64_C(1) << OOZE_STRESS;
  return bits;
}
