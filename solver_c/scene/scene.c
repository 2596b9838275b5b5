/* Loading a scene. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "base/edits.h"
#include "base/step_counts.h"

#include <stdio.h>
#include <stdlib.h>

enum { SCENE_BYTES = 256 << 20 };

void ooze_scene_destroy(ooze_scene *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->material_count; i++) free(s->looks[i].name);
  for (uint32_t i = 0; i < s->collider_count; i++) {
    free(s->colliders[i].name);
    oz_shape_release(&s->colliders[i].shape);
    ooze_sdf_free(&s->colliders[i].sdf);
  }
  for (uint32_t i = 0; i < s->emitter_count; i++) free(s->emitters[i].name);
  for (uint32_t i = 0; i < s->body_count; i++) {
    free(s->bodies[i].fill.name);
    oz_shape_release(&s->bodies[i].fill.shape);
  }
  for (uint32_t i = 0; i < s->fluid_count; i++) {
    free(s->fluids[i].name);
    oz_shape_release(&s->fluids[i].shape);
  }
  for (uint32_t i = 0; i < s->channel_count; i++) {
    free(s->channels[i].times);
    free(s->channels[i].values);
  }
  for (uint32_t i = 0; i < s->wedge_count; i++) free(s->wedge_names[i]);
  oz_state_release(&s->start);
  free(s->wedge_names);
  free(s->looks);
  free(s->colliders);
  free(s->emitters);
  free(s->fluids);
  free(s->bodies);
  free(s->channels);
  free(s->output.name);
  free(s->picture.caption);
  free(s->about);
  free(s->file);
  free(s->folder);
  free(s->text);
  json_decref(s->doc);
  free(s);
}

/* ---- Wedges and sets --------------------------------------------------------------------- */

static ooze_result read_wedges(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *table = json_object_get(s->doc, "wedge");
  if (!table) return OOZE_OK;
  size_t mark = oz_down(r, "wedge"), count = json_array_size(table);
  if (!json_is_array(table))
    return oz_refuse(r, OOZE_ERROR_FORMAT,
                     "expected a list of {\"name\": ..., \"set\": {\"path\": value}}");
  s->wedge_names = calloc(count + 1, sizeof *s->wedge_names);
  if (!s->wedge_names) return OZ_NO_MEMORY(r);
  for (size_t i = 0; i < count; i++) {
    json_t *row = json_array_get(table, i);
    size_t inner = oz_down_index(r, i);
    OZ_TRY_OK(oz_check_keys(r, "wedge", row));
    OZ_TRY_OK(oz_get_text(r, "wedge", row, "name", &s->wedge_names[i]));
    if (!s->wedge_names[i]) {
      char number[24];
      snprintf(number, sizeof number, "%zu", i);
      s->wedge_names[i] = oz_copy_text(number, strlen(number));
      if (!s->wedge_names[i]) return OZ_NO_MEMORY(r);
    }
    for (uint32_t k = 0; k < s->wedge_count; k++)
      if (strcmp(s->wedge_names[k], s->wedge_names[i]) == 0) {
        s->wedge_count++;
        oz_down(r, "name");
        return oz_refuse(r, OOZE_ERROR_FORMAT, "row %u is \"%s\" too; expected another name", k,
                         s->wedge_names[i]);
      }
    s->wedge_count++;
    if (!json_is_object(json_object_get(row, "set"))) {
      oz_down(r, "set");
      return oz_refuse(r, OOZE_ERROR_FORMAT,
                       "expected {\"path\": value, ...}, such as {\"solver.substeps\": 10}");
    }
    oz_up(r, inner);
  }
  oz_up(r, mark);
  return OOZE_OK;
}

/* 0 where a path leads into a part that the scene does not have: its name is misspelt, or a new
 * part is to be made of a single value. */
static int has_part(const json_t *doc, const char *path, char *error, size_t capacity) {
  static const char *const groups[] = {"materials", "fluids", "bodies", "emitters", "colliders"};
  const size_t length = strcspn(path, "."), rest = path[length] ? length + 1 : length,
               named = strcspn(path + rest, ".");
  if (!path[rest + named]) return 1; /* a whole part, or no part's value */
  for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
    if (strlen(groups[k]) != length || strncmp(path, groups[k], length) != 0) continue;
    char name[256];
    const char *key, *nearest = NULL;
    json_t *parts = json_object_get(doc, groups[k]), *part;
    size_t best = 0;
    snprintf(name, sizeof name, "%.*s", (int)named, path + rest);
    if (json_object_get(parts, name)) return 1;
    json_object_foreach(parts, key, part) {
      const size_t edits = oz_edits(name, key);
      if (oz_nearest(name, &key, 1) && (!nearest || edits < best)) nearest = key, best = edits;
    }
    snprintf(error, capacity, "the scene has no %s.%.40s; %s%.40s, or a whole new one as {...}",
             groups[k], name, nearest ? "did you mean " : "expected one that it has",
             nearest ? nearest : "");
    return 0;
  }
  return 1;
}

static ooze_result apply_wedge(oz_reader *r) {
  ooze_scene *s = r->scene;
  const char *wanted = r->options.wedge;
  if (!wanted) return OOZE_OK;
  uint32_t found = s->wedge_count;
  for (uint32_t i = 0; i < s->wedge_count; i++)
    if (strcmp(s->wedge_names[i], wanted) == 0) found = i;
  if (found == s->wedge_count) {
    char *end;
    unsigned long number = strtoul(wanted, &end, 10);
    if (wanted[0] >= '0' && wanted[0] <= '9' && !*end && number < s->wedge_count)
      found = (uint32_t)number;
  }
  if (found == s->wedge_count) {
    const char *near = oz_nearest(wanted, (const char *const *)s->wedge_names, s->wedge_count);
    if (!s->wedge_count)
      return oz_fail(r->why, OOZE_ERROR_NOT_FOUND, "%s: --wedge %s: the scene has no wedge table",
                     s->file, wanted);
    return oz_fail(r->why, OOZE_ERROR_NOT_FOUND,
                   "%s:%d: --wedge %s: there is no such row; %s%s, or 0 to %u would fit", s->file,
                   oz_json_line(r->text, r->bytes, "wedge"), wanted,
                   near ? "did you mean " : "a name", near ? near : "", s->wedge_count - 1);
  }
  const char *key;
  json_t *value,
      *set = json_object_get(json_array_get(json_object_get(s->doc, "wedge"), found), "set");
  json_object_foreach(set, key, value) {
    char error[160] = "";
    json_t *copy = oz_json_copy(value);
    if (!copy) return OZ_NO_MEMORY(r);
    const int fits = has_part(s->doc, key, error, sizeof error);
    if (!fits) json_decref(copy);
    if (!fits || !oz_json_put(s->doc, key, copy, error, sizeof error)) {
      char path[64];
      snprintf(path, sizeof path, "wedge.%u.set", found);
      return oz_fail(r->why, OOZE_ERROR_ARGUMENT, "%s:%d: wedge %s: %s: %s", s->file,
                     oz_json_line(r->text, r->bytes, path), s->wedge_names[found], key, error);
    }
  }
  r->wedge_index = found;
  r->wedge_name = s->wedge_names[found];
  return OOZE_OK;
}

static ooze_result apply_sets(oz_reader *r) {
  for (uint32_t i = 0; i < r->options.set_count; i++) {
    const char *set = r->options.sets[i], *equals = strchr(set, '=');
    char path[256], error[160] = "";
    if (!equals || equals == set || (size_t)(equals - set) >= sizeof path)
      return oz_fail(r->why, OOZE_ERROR_ARGUMENT,
                     "--set %s: expected path=value, such as solver.substeps=10", set);
    snprintf(path, sizeof path, "%.*s", (int)(equals - set), set);
    if (strncmp(path, "wedge", 5) == 0 && (!path[5] || path[5] == '.'))
      return oz_fail(r->why, OOZE_ERROR_ARGUMENT,
                     "--set %s: the wedge table is read before; --wedge takes a row of it, and "
                     "--set KEY=VALUE gives a value as a row does",
                     set);
    if (!has_part(r->scene->doc, path, error, sizeof error))
      return oz_fail(r->why, OOZE_ERROR_NOT_FOUND, "--set %s: %s", set, error);
    json_t *value = oz_json_value(equals + 1);
    if (!value) return OZ_NO_MEMORY(r);
    if (!oz_json_put(r->scene->doc, path, value, error, sizeof error))
      return oz_fail(r->why, OOZE_ERROR_ARGUMENT, "--set %s: %s", set, error);
  }
  return OOZE_OK;
}

/* ---- Loading ----------------------------------------------------------------------------- */

static ooze_result read_parts(oz_reader *r) {
  ooze_scene *s = r->scene;
  OZ_TRY_OK(read_wedges(r));
  OZ_TRY_OK(apply_wedge(r));
  OZ_TRY_OK(apply_sets(r));
  OZ_TRY_OK(oz_check_keys(r, "scene", s->doc));
  OZ_TRY_OK(oz_get_text(r, "scene", s->doc, "about", &s->about));
  OZ_TRY_OK(oz_read_output(r));
  OZ_TRY_OK(oz_read_solver(r));
  OZ_TRY_OK(oz_read_materials(r));
  OZ_TRY_OK(oz_read_colliders(r));
  OZ_TRY_OK(oz_read_emitters(r));
  OZ_TRY_OK(oz_read_bodies(r));
  OZ_TRY_OK(oz_read_fluids(r));
  OZ_TRY_OK(oz_read_picture(r));
  for (uint32_t i = 0; i < s->collider_count; i++)
    if (s->start.colliders[i].posed.uses_rotate)
      oz_pose_rotate(s->start.colliders[i].posed.rotate, s->start.colliders[i].desc.start.rotation);
  for (uint32_t i = 0; i < s->emitter_count; i++)
    if (s->start.emitters[i].posed.uses_rotate)
      oz_pose_rotate(s->start.emitters[i].posed.rotate, s->start.emitters[i].desc.start.rotation);
  return oz_check_bodies(r);
}

/* An empty scene that belongs to a file. */
static ooze_scene *scene_of(const char *file, size_t folder, uint64_t max_memory) {
  ooze_scene *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  ooze_io_limits_default(&s->limits);
  s->max_memory = max_memory;
  if (max_memory) s->limits.max_bytes = max_memory;
  s->file = oz_copy_text(file, strlen(file));
  s->folder = oz_copy_text(file, folder);
  if (s->file && s->folder) return s;
  ooze_scene_destroy(s);
  return NULL;
}

/* A typo in a row would else be told when that row runs, hours after the first. */
static ooze_result check_rows(const oz_reader *r, const json_t *doc) {
  const ooze_scene *s = r->scene;
  ooze_result result = OOZE_OK;
  for (uint32_t i = 0; result == OOZE_OK && i < s->wedge_count; i++) {
    oz_reader row;
    memset(&row, 0, sizeof row);
    row.text = r->text;
    row.bytes = r->bytes;
    row.options = r->options;
    row.options.wedge = s->wedge_names[i];
    row.options.warn = NULL;
    row.keys_alone = 1;
    row.why = r->why;
    row.scene = scene_of(s->file, strlen(s->folder), s->max_memory);
    if (!row.scene) return OZ_NO_MEMORY(r);
    row.scene->doc = oz_json_copy(doc);
    result = row.scene->doc ? read_parts(&row) : OZ_NO_MEMORY(r);
    ooze_scene_destroy(row.scene);
  }
  return result;
}

static ooze_result read_all(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *as_written = json_object_get(s->doc, "wedge") ? oz_json_copy(s->doc) : NULL;
  ooze_result result = read_parts(r);
  if (result == OOZE_OK && s->wedge_count)
    result = as_written ? check_rows(r, as_written) : OZ_NO_MEMORY(r);
  json_decref(as_written);
  OZ_TRY_OK(result);
  OZ_TRY_OK(oz_check_slips(r));
  OZ_TRY_OK(oz_check_overlaps(r));
  json_t *run = oz_json_copy(s->doc);
  if (run) json_object_del(run, "wedge"); /* it has been applied */
  if (run && !json_object_get(run, "output")) json_object_set_new(run, "output", json_object());
  json_t *output = json_object_get(run, "output");
  const int named = json_object_set_new(output, "name", json_string(s->output.name)) == 0;
  s->text = named ? oz_json_text(run, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(run);
  return s->text ? OOZE_OK : OZ_NO_MEMORY(r);
}

ooze_result ooze_scene_load_memory(const char *name, const void *text, size_t bytes,
                                   const ooze_scene_options *options, ooze_scene **out,
                                   ooze_message *why) {
  oz_reader r;
  memset(&r, 0, sizeof r);
  if (!name || (!text && bytes) || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  *out = NULL;
  ooze_scene_options_default(&r.options);
  if (options && options->size >= sizeof options->size)
    memcpy(&r.options, options,
           options->size < sizeof r.options ? options->size : sizeof r.options);
  ooze_message unread = {""};
  r.why = why ? why : &unread;
  r.text = text;
  r.bytes = bytes;
  const char *slash = name;
  for (const char *c = name; *c; c++)
    if (oz_os_is_slash(*c)) slash = c + 1;
  r.scene = scene_of(name, (size_t)(slash - name), r.options.max_memory);
  if (!r.scene) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", name);
  json_error_t error;
  int no_memory = 0;
  ooze_result result = OOZE_OK;
  const char *zero = bytes ? memchr(text, 0, bytes) : NULL; /* Jansson takes it for the end */
  r.scene->doc =
      zero ? NULL : oz_json_load(text, bytes, JSON_REJECT_DUPLICATES, &error, &no_memory);
  if (zero)
    result = oz_fail(why, OOZE_ERROR_FORMAT, "%s: byte %zu is 0; expected a text", name,
                     (size_t)(zero - r.text));
  else if (!r.scene->doc && no_memory)
    result = oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", name);
  else if (!r.scene->doc)
    result = oz_fail(why, OOZE_ERROR_FORMAT, "%s:%d: column %d: no good JSON: %s", name, error.line,
                     error.column, error.text);
  else if (!json_is_object(r.scene->doc))
    result =
        oz_fail(why, OOZE_ERROR_FORMAT, "%s:1: expected an object: {\"solver\": {...}, ...}", name);
  else
    result = read_all(&r);
  if (result < 0) {
    ooze_scene_destroy(r.scene);
    return result;
  }
  if (why) why->text[0] = 0;
  *out = r.scene;
  return OOZE_OK;
}

ooze_result ooze_scene_load(const char *path, const ooze_scene_options *options, ooze_scene **out,
                            ooze_message *why) {
  void *text = NULL;
  size_t bytes = 0;
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no place for the scene given");
  *out = NULL;
  OZ_TRY_OK(ooze_file_read(path, SCENE_BYTES, &text, &bytes, why));
  ooze_result result = ooze_scene_load_memory(path, text, bytes, options, out, why);
  ooze_io_free(text);
  return result;
}

/* ---- Queries -------------------------------------------------------------------------- */

ooze_result ooze_scene_info_get(const ooze_scene *s, ooze_scene_info *out) {
  ooze_scene_info i;
  if (!s || !out) return OOZE_ERROR_ARGUMENT;
  ooze_scene_info_default(&i);
  i.materials = s->material_count;
  i.fluids = s->fluid_count;
  i.emitters = s->emitter_count;
  i.colliders = s->collider_count;
  i.bodies = s->body_count;
  i.wedges = s->wedge_count;
  i.first_frame = s->output.first;
  i.last_frame = s->output.last;
  i.frames_per_second = s->output.fps;
  i.separation = s->separation;
  if (!(s->start.params.cfl > 0.0f)) {
    const double frame = (double)s->start.params.time_scale / s->output.fps;
    i.substeps = oz_substeps_least(&s->start.params, frame);
    i.substep_seconds = i.substeps ? frame / i.substeps : 0.0;
  }
  i.automatic_substeps = s->start.params.substeps == 0;
  i.velocity_iterations = s->start.params.velocity_iterations;
  i.position_iterations = s->start.params.position_iterations;
  i.name = s->output.name;
  i.about = s->about ? s->about : "";
  i.text = s->text;
  i.framed = (uint32_t)oz_picture_is_framed(s);
  i.surface_temperature = s->output.temperature != 0;
  for (uint32_t k = 0; k < s->material_count; k++)
    i.surface_temperature |= s->start.materials[k].conductivity > 0.0f;
  i.animated = s->channel_count > 0;
  for (uint32_t k = 0; k < s->fluid_count; k++) i.animated |= s->fluids[k].emit != 0;
  for (uint32_t k = 0; k < s->collider_count; k++)
    i.animated |= s->colliders[k].shape.sequence != 0;
  return oz_struct_out(out, &i, sizeof i);
}

const char *ooze_scene_material_name(const ooze_scene *s, uint32_t index) {
  return s && index < s->material_count ? s->looks[index].name : NULL;
}

const char *ooze_scene_wedge_name(const ooze_scene *s, uint32_t index) {
  return s && index < s->wedge_count ? s->wedge_names[index] : NULL;
}
