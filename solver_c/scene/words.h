/* The keys of scenes, and the nearest word to a typo. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SCENE_WORDS_H
#define OOZE_IO_SCENE_WORDS_H

#include "ooze/ooze.h"

/* Of `count` words the one nearest to `text`, or NULL if none is near. */
const char *oz_nearest(const char *text, const char *const *words, size_t count);
char *oz_copy_text(const char *text, size_t length); /* NULL when memory is out */

/* The entry of a key of scenes: of scene.def, else of the solver's schema. Keys that scenes spell
 * otherwise (start.position, ...) are not found. Returns 1 if there is one. */
int oz_key_find(const char *group, const char *name, ooze_schema_entry *out);
/* Component k of the default of a key that there is. */
double oz_key_default(const char *group, const char *name, int k);
/* The names of all keys of a group; returns how many. */
size_t oz_key_names(const char *group, const char **out, size_t capacity);

#endif
