/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include "base/edits.h"
#include "geo/geo_internal.h"
#include "ooze/ooze_scene.h"

#include <stdlib.h>

/* "sphere|box|...", of the list of shapes: those of fluids and bodies, and of colliders. */
#define OZ_IF_YES(words) words
#define OZ_IF_NO(words)
#define OZ_ADD_YES +1
#define OZ_ADD_NO
static const char filled_words[] =
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) OZ_IF_##fills("|" word)
#include "shapes.def"
#undef OZ_SHAPE
    ;
static const char wall_words[] =
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) OZ_IF_##walls("|" word)
#include "shapes.def"
#undef OZ_SHAPE
    ;
enum {
  LAST_FILLED = -1
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) OZ_ADD_##fills
#include "shapes.def"
#undef OZ_SHAPE
  ,
  LAST_WALL = -1
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) OZ_ADD_##walls
#include "shapes.def"
#undef OZ_SHAPE
};

static const ooze_schema_entry keys[] = {
#define OZ_KEY(...) OZ_KEY_(__VA_ARGS__) /* first the default's four numbers are told apart */
#define OZ_KEY_(group, name, type, unit, menu, d0, d1, d2, d3, lowest, highest, soft, help) \
  {(uint32_t)sizeof(ooze_schema_entry),                                                     \
   #group,                                                                                  \
   #name,                                                                                   \
   type,                                                                                    \
   unit,                                                                                    \
   #name,                                                                                   \
   help,                                                                                    \
   menu,                                                                                    \
   {d0, d1, d2, d3},                                                                        \
   lowest,                                                                                  \
   highest,                                                                                 \
   soft},
#include "scene.def"
#undef OZ_KEY_
#undef OZ_KEY
};

uint32_t ooze_scene_schema_count(void) { return (uint32_t)(sizeof keys / sizeof keys[0]); }

ooze_result ooze_scene_schema_get(uint32_t index, ooze_schema_entry *out) {
  if (!out || index >= ooze_scene_schema_count()) return OOZE_ERROR_ARGUMENT;
  return oz_struct_out(out, &keys[index], sizeof keys[index]);
}

/* Of the solver's schema, those that a scene file spells in its own way. */
static int spelled_otherwise(const ooze_schema_entry *e) {
  if (strchr(e->name, '.')) return 1; /* start.position: position */
  if (strcmp(e->group, "collider") == 0) return strcmp(e->name, "shape") == 0;
  return (strcmp(e->group, "emitter") == 0 || strcmp(e->group, "body") == 0) &&
         strcmp(e->name, "material") == 0;
}

uint32_t ooze_scene_schema_takes(const ooze_schema_entry *entry) {
  if (!entry || !entry->group || !entry->name || spelled_otherwise(entry)) return 0;
  for (uint32_t i = 0; i < ooze_scene_schema_count(); i++)
    if (strcmp(keys[i].group, entry->group) == 0 && strcmp(keys[i].name, entry->name) == 0)
      return 0;
  return 1;
}

int oz_key_find(const char *group, const char *name, ooze_schema_entry *out) {
  for (uint32_t i = 0; i < ooze_scene_schema_count(); i++)
    if (strcmp(keys[i].group, group) == 0 && strcmp(keys[i].name, name) == 0) {
      *out = keys[i];
      return 1;
    }
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    ooze_schema_entry_default(out);
    if (ooze_schema_get(i, out) == OOZE_OK && strcmp(out->group, group) == 0 &&
        strcmp(out->name, name) == 0 && !spelled_otherwise(out))
      return 1;
  }
  return 0;
}

double oz_key_default(const char *group, const char *name, int k) {
  ooze_schema_entry e;
  return oz_key_find(group, name, &e) ? e.default_value[k] : 0.0;
}

size_t oz_key_names(const char *group, const char **out, size_t capacity) {
  size_t count = 0;
  for (uint32_t i = 0; i < ooze_scene_schema_count(); i++)
    if (strcmp(keys[i].group, group) == 0 && count < capacity) out[count++] = keys[i].name;
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    ooze_schema_entry e;
    ooze_schema_entry_default(&e);
    if (ooze_schema_get(i, &e) == OOZE_OK && strcmp(e.group, group) == 0 &&
        !spelled_otherwise(&e) && count < capacity)
      out[count++] = e.name;
  }
  return count;
}

const char *oz_nearest(const char *text, const char *const *words, size_t count) {
  const char *nearest = NULL;
  size_t length = strlen(text), best = length / 3 + 2; /* anything further is no help */
  for (size_t i = 0; i < count; i++) {
    size_t distance = oz_edits(text, words[i]);
    if (length >= 3 && strncmp(text, words[i], length) == 0 && distance > 1) distance = 1;
    if (distance < best) {
      best = distance;
      nearest = words[i];
    }
  }
  return nearest;
}

char *oz_copy_text(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}
