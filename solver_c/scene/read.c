/* Values of a scene with their places. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Places ------------------------------------------------------------------------------ */

size_t oz_down(oz_reader *r, const char *key) {
  size_t mark = strlen(r->path);
  snprintf(r->path + mark, sizeof r->path - mark, "%s%s", mark ? "." : "", key);
  return mark;
}

size_t oz_down_index(oz_reader *r, size_t index) {
  char text[24];
  snprintf(text, sizeof text, "%zu", index);
  return oz_down(r, text);
}

void oz_up(oz_reader *r, size_t mark) { r->path[mark] = 0; }

static int covers(const char *prefix, size_t length, const char *path) {
  return strncmp(prefix, path, length) == 0 && (path[length] == 0 || path[length] == '.');
}

/* Where a value came from: --set, the wedge table, or the file's line. */
static void place_of(const oz_reader *r, char *out, size_t capacity) {
  for (uint32_t i = r->options.set_count; i-- > 0;) {
    const char *set = r->options.sets[i];
    if (covers(set, strcspn(set, "="), r->path)) {
      snprintf(out, capacity, "--set %.80s", set);
      return;
    }
  }
  if (r->wedge_name) {
    const json_t *row = json_array_get(json_object_get(r->scene->doc, "wedge"), r->wedge_index);
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(row, "set"), key,
                        value) if (covers(key, strlen(key), r->path)) {
      char path[64];
      snprintf(path, sizeof path, "wedge.%zu.set", r->wedge_index);
      snprintf(out, capacity, "%s:%d: wedge %s", r->scene->file,
               oz_json_line(r->text, r->bytes, path), r->wedge_name);
      return;
    }
  }
  snprintf(out, capacity, "%s:%d", r->scene->file, oz_json_line(r->text, r->bytes, r->path));
}

ooze_result oz_refuse(oz_reader *r, ooze_result result, const char *format, ...) {
  char place[256], text[480];
  va_list list;
  place_of(r, place, sizeof place);
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return oz_fail(r->why, result, "%s: %s%s%s", place, r->path, r->path[0] ? ": " : "", text);
}

void oz_warn(oz_reader *r, const char *format, ...) {
  char place[256], text[480], line[1400];
  va_list list;
  if (!r->options.warn) return;
  place_of(r, place, sizeof place);
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  snprintf(line, sizeof line, "%s: warning: %s: %s", place, r->path, text);
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  r->options.warn(r->options.user, line);
}

/* ---- Checks ------------------------------------------------------------------------------ */

/* Words that people try, and the keys that do it. */
static const char *const meant[][2] = {
    {"direction", "rotate"}, {"axis", "rotate"},     {"orientation", "rotation"},
    {"center", "position"},  {"centre", "position"}, {"translate", "position"},
    {"stop", "until"},       {"end", "until"},       {"start", "from"},
    {"velocity", "speed"},   {"mass", "density"},    {"type", "shape"},
    {"flow_rate", "rate"},   {"color", "colour"}};

/* The key of the group that a word means, or one that is spelt alike, or NULL. */
static const char *key_meant(const char *word, const char *const *names, size_t count) {
  for (size_t k = 0; k < sizeof meant / sizeof *meant; ++k) {
    if (strcmp(word, meant[k][0]) != 0) continue;
    for (size_t n = 0; n < count; ++n)
      if (strcmp(names[n], meant[k][1]) == 0) return names[n];
  }
  return oz_nearest(word, names, count);
}

static int one_of(const char *word, const char *const *words, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (strcmp(word, words[k]) == 0) return 1;
  return 0;
}

/* A word for keyframes in a group that takes them. */
static int keyframes_meant(const char *group, const char *word) {
  static const char *const words[] = {"keyframes", "keyframe", "keys", "animation"},
                           *const groups[] = {"solver", "material", "collider", "emitter", "body"};
  return one_of(word, words, sizeof words / sizeof *words) &&
         one_of(group, groups, sizeof groups / sizeof *groups);
}

ooze_result oz_check_keys(oz_reader *r, const char *group, json_t *object) {
  const char *key;
  json_t *value;
  if (!json_is_object(object)) {
    char text[80];
    oz_json_short(object, text, sizeof text);
    return oz_refuse(r, OOZE_ERROR_FORMAT,
                     "%s is no object; expected {...} with keys of the group %s", text, group);
  }
  json_object_foreach(object, key, value) {
    ooze_schema_entry e;
    const char *names[160], *near;
    if (strcmp(key, "note") == 0 || oz_key_find(group, key, &e)) continue;
    size_t count = oz_key_names(group, names, sizeof names / sizeof names[0]);
    near = key_meant(key, names, count);
    size_t mark = oz_down(r, key);
    ooze_result result =
        keyframes_meant(group, key)
            ? oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                        "there is no such key; keyframes take the place of a value: "
                        "\"position\": {\"keys\": [[seconds, [x, y, z]], ...]}")
        : near ? oz_refuse(r, OOZE_ERROR_NOT_FOUND, "there is no such key; did you mean %s?", near)
               : oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                           "there is no such key; `ooze schema %s` lists those that fit", group);
    oz_up(r, mark);
    return result;
  }
  return OOZE_OK;
}

static void range_text(const ooze_schema_entry *e, char *out, size_t capacity) {
  const char *gap = e->unit[0] ? " " : "",
             *whole = strcmp(e->type, "int") == 0 ? "a whole number" : "a number";
  if (e->maximum >= 1e18 || e->maximum == 4294967295.0)
    if (e->minimum <= -1e18)
      snprintf(out, capacity, "%s%s%s", whole, gap, e->unit);
    else
      snprintf(out, capacity, "%s of %g%s%s or more", whole, e->minimum, gap, e->unit);
  else
    snprintf(out, capacity, "%s from %g to %g%s%s", whole, e->minimum, e->maximum, gap, e->unit);
}

/* The values that would fit, for the end of a refusal. */
static void fit_text(const ooze_schema_entry *e, char *out, size_t capacity) {
  char range[120];
  range_text(e, range, sizeof range);
  if (strcmp(e->type, "bool") == 0)
    snprintf(out, capacity, "true or false");
  else if (strcmp(e->type, "vector") == 0)
    snprintf(out, capacity, "[x, y, z], each %s", range);
  else if (strcmp(e->type, "quaternion") == 0)
    snprintf(out, capacity, "[x, y, z, w]");
  else if (strcmp(e->type, "text") == 0 || strcmp(e->type, "file") == 0)
    snprintf(out, capacity, "a text");
  else if (strcmp(e->type, "menu") == 0) {
    size_t used = (size_t)snprintf(out, capacity, "one of ");
    for (const char *c = e->menu; *c && used + 3 < capacity; c++) {
      if (*c == '|') {
        out[used++] = ',';
        out[used++] = ' ';
      } else {
        out[used++] = *c;
      }
    }
    out[used] = 0;
  } else {
    snprintf(out, capacity, "%s", range);
  }
}

static ooze_result misfit(oz_reader *r, const ooze_schema_entry *e, const json_t *value,
                          const char *how) {
  char text[80], fit[240];
  oz_json_short(value, text, sizeof text);
  fit_text(e, fit, sizeof fit);
  return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s %s; expected %s", text, how, fit);
}

static const char *type_text(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "is an object";
  case JSON_ARRAY:
    return "is a list";
  case JSON_STRING: {
    const char *text = json_string_value(value);
    text += *text == '-';
    return text[0] == '.' && text[1] >= '0' && text[1] <= '9'
               ? "is a text, since a number needs a digit before its point"
               : "is a text";
  }
  case JSON_INTEGER:
  case JSON_REAL:
    return "is a number";
  case JSON_NULL:
    return "is nothing";
  default:
    return "is a switch";
  }
}

static int menu_index(const char *menu, const char *word) {
  size_t length = strlen(word);
  int index = 0;
  for (const char *at = menu;; index++) {
    size_t n = strcspn(at, "|");
    if (n == length && memcmp(at, word, n) == 0) return index;
    if (!at[n]) return -1;
    at += n + 1;
  }
}

ooze_result oz_numbers(oz_reader *r, const ooze_schema_entry *e, const json_t *value,
                       double out[4]) {
  size_t count = strcmp(e->type, "vector") == 0 ? 3 : strcmp(e->type, "quaternion") == 0 ? 4 : 1;
  memset(out, 0, 4 * sizeof *out);
  if (strcmp(e->type, "bool") == 0) {
    if (json_is_boolean(value)) {
      out[0] = json_is_true(value);
      return OOZE_OK;
    }
    if (json_is_integer(value) &&
        (json_integer_value(value) == 0 || json_integer_value(value) == 1)) {
      out[0] = (double)json_integer_value(value);
      return OOZE_OK;
    }
    return misfit(r, e, value, type_text(value));
  }
  if (strcmp(e->type, "menu") == 0) {
    if (!json_is_string(value)) return misfit(r, e, value, type_text(value));
    int index = menu_index(e->menu, json_string_value(value));
    if (index >= 0) {
      out[0] = index;
      return OOZE_OK;
    }
    return misfit(r, e, value, "is not among the choices");
  }
  if (count > 1 && (!json_is_array(value) || json_array_size(value) != count))
    return misfit(r, e, value,
                  json_is_array(value) ? "has another number of members" : type_text(value));
  for (size_t i = 0; i < count; i++) {
    const json_t *v = count > 1 ? json_array_get(value, i) : value;
    if (!json_is_number(v))
      return misfit(r, e, value, count > 1 ? "is not all numbers" : type_text(value));
    out[i] = json_number_value(v);
    if (strcmp(e->type, "int") == 0 && out[i] != floor(out[i]))
      return misfit(r, e, value, "is no whole number");
    if (!(out[i] >= e->minimum && out[i] <= e->maximum))
      return misfit(r, e, value, "is out of range");
  }
  if (count == 4 &&
      !(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3] > 1e-12))
    return misfit(r, e, value, "is of no length");
  return OOZE_OK;
}

/* ---- Members ----------------------------------------------------------------------------- */

static ooze_result member(oz_reader *r, const char *group, json_t *object, const char *key,
                          double out[4], int *has) {
  json_t *value = json_object_get(object, key);
  ooze_schema_entry e;
  *has = 0;
  if (!value) return OOZE_OK;
  if (!oz_key_find(group, key, &e))
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "%s has no entry in the schema", key);
  size_t mark = oz_down(r, key);
  ooze_result result =
      json_object_get(value, "keys")
          ? oz_refuse(r, OOZE_ERROR_UNSUPPORTED, "keyframes do not work here; this value is fixed")
          : oz_numbers(r, &e, value, out);
  if (result == OOZE_OK) {
    oz_up(r, mark);
    *has = 1;
  }
  return result;
}

ooze_result oz_get_number(oz_reader *r, const char *group, json_t *object, const char *key,
                          double *out) {
  double v[4];
  int has;
  OZ_TRY_OK(member(r, group, object, key, v, &has));
  if (has) *out = v[0];
  return OOZE_OK;
}

ooze_result oz_get_float(oz_reader *r, const char *group, json_t *object, const char *key,
                         float *out) {
  double v = (double)*out;
  OZ_TRY_OK(oz_get_number(r, group, object, key, &v));
  *out = (float)v;
  return OOZE_OK;
}

ooze_result oz_get_count(oz_reader *r, const char *group, json_t *object, const char *key,
                         uint32_t *out) {
  double v = *out;
  OZ_TRY_OK(oz_get_number(r, group, object, key, &v));
  *out = (uint32_t)v;
  return OOZE_OK;
}

ooze_result oz_get_vector(oz_reader *r, const char *group, json_t *object, const char *key,
                          float out[3]) {
  double v[4];
  int has;
  OZ_TRY_OK(member(r, group, object, key, v, &has));
  for (int i = 0; has && i < 3; i++) out[i] = (float)v[i];
  return OOZE_OK;
}

ooze_result oz_get_text(oz_reader *r, const char *group, json_t *object, const char *key,
                        char **out) {
  json_t *value = json_object_get(object, key);
  (void)group;
  if (!value) return OOZE_OK;
  if (!json_is_string(value) || !json_string_length(value)) {
    char text[80];
    oz_json_short(value, text, sizeof text);
    oz_down(r, key);
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s %s; expected a text", text,
                     json_is_string(value) ? "is empty" : type_text(value));
  }
  char *copy = oz_copy_text(json_string_value(value), json_string_length(value));
  if (!copy) return OZ_NO_MEMORY(r);
  free(*out);
  *out = copy;
  return OOZE_OK;
}

ooze_result oz_get_list(oz_reader *r, const char *group, json_t *object, const char *key,
                        size_t count, double *out, uint32_t *has) {
  json_t *value = json_object_get(object, key);
  ooze_schema_entry e;
  if (has) *has = 0;
  if (!value) return OOZE_OK;
  if (!oz_key_find(group, key, &e))
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "%s has no entry in the schema", key);
  size_t mark = oz_down(r, key);
  char text[80];
  oz_json_short(value, text, sizeof text);
  if (!json_is_array(value) || json_array_size(value) != count)
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s %s; expected a list of %zu numbers", text,
                     json_is_array(value) ? "has another length" : type_text(value), count);
  for (size_t i = 0; i < count; i++) {
    const json_t *v = json_array_get(value, i);
    if (!json_is_number(v) ||
        !(json_number_value(v) >= e.minimum && json_number_value(v) <= e.maximum))
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "%s is not all numbers from %g to %g%s%s; expected a list of %zu of them",
                       text, e.minimum, e.maximum, e.unit[0] ? " " : "", e.unit, count);
    out[i] = json_number_value(v);
  }
  oz_up(r, mark);
  if (has) *has = 1;
  return OOZE_OK;
}

void oz_default_members(const char *group, const oz_member *members, size_t count, void *base) {
  for (size_t i = 0; i < count; i++) {
    void *at = (char *)base + members[i].offset;
    ooze_schema_entry e;
    if (!oz_key_find(group, members[i].name, &e)) continue;
    if (strcmp(e.type, "float") == 0)
      *(float *)at = (float)e.default_value[0];
    else
      *(uint32_t *)at = (uint32_t)e.default_value[0];
  }
}

ooze_result oz_get_members(oz_reader *r, const char *group, json_t *object,
                           const oz_member *members, size_t count, void *base) {
  for (size_t i = 0; i < count; i++) {
    void *at = (char *)base + members[i].offset;
    ooze_schema_entry e;
    if (!oz_key_find(group, members[i].name, &e)) continue;
    const int real = strcmp(e.type, "float") == 0;
    OZ_TRY_OK(real ? oz_get_float(r, group, object, members[i].name, at)
                   : oz_get_count(r, group, object, members[i].name, at));
  }
  return OOZE_OK;
}

/* ---- Parts ------------------------------------------------------------------------------- */

static ooze_result check_map(oz_reader *r, json_t *object, const char *what) {
  const char *key;
  json_t *value;
  if (object && !json_is_object(object)) {
    char text[80];
    oz_json_short(object, text, sizeof text);
    return oz_refuse(r, OOZE_ERROR_FORMAT, "%s is no object; expected {\"name\": %s, ...}", text,
                     what);
  }
  json_object_foreach(object, key, value) {
    if (key[0] && !strchr(key, '.') && strlen(key) <= 100) continue;
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "\"%.40s\" is no name; expected 1 to 100 letters without dots", key);
  }
  return OOZE_OK;
}

ooze_result oz_read_map(oz_reader *r, const char *part, const char *what, oz_item_fn read) {
  json_t *object = json_object_get(r->scene->doc, part), *value;
  const char *key;
  size_t mark = oz_down(r, part);
  OZ_TRY_OK(check_map(r, object, what));
  json_object_foreach(object, key, value) {
    if (strcmp(key, "note") == 0 && !json_is_object(value)) continue;
    size_t inner = oz_down(r, key);
    OZ_TRY_OK(read(r, key, value));
    oz_up(r, inner);
  }
  oz_up(r, mark);
  return OOZE_OK;
}

ooze_result oz_read_items(oz_reader *r, const char *part, const char *what, oz_item_fn read,
                          void **items, size_t item, void **states, size_t state) {
  const size_t room = json_object_size(json_object_get(r->scene->doc, part)) + 1;
  *items = calloc(room, item);
  *states = calloc(room, state);
  if (!*items || !*states) return OZ_NO_MEMORY(r);
  return oz_read_map(r, part, what, read);
}
