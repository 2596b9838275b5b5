/* JSON as scenes need it: lines of values, values at dotted paths, differences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

json_t *oz_json_load(const char *text, size_t bytes, size_t flags, json_error_t *error,
                     int *no_memory) {
  errno = 0;
  json_t *value = json_loadb(text ? text : "", bytes, flags, error);
  *no_memory = errno == ENOMEM || (!value && error->line < 0);
  if (value && !*no_memory) {
    /* Jansson goes on with a letter less where a text's memory cannot grow, and hides errno: only a
     * second reading tells */
    json_error_t unread;
    json_t *again = json_loadb(text ? text : "", bytes, flags, &unread);
    *no_memory = !again || !json_equal(value, again);
    json_decref(again);
  }
  if (!*no_memory) return value;
  json_decref(value);
  return NULL;
}

json_t *oz_json_copy(const json_t *value) {
  errno = 0;
  json_t *copy = json_deep_copy(value);
  if (errno != ENOMEM) return copy;
  json_decref(copy); /* a member may be missing in it */
  return NULL;
}

/* Memory of our own: that of json_dumps is freed by the function which the host has given Jansson.
 */
typedef struct growing_text {
  char *text;
  size_t used, room;
} growing_text;

static int append(const char *more, size_t bytes, void *user) {
  growing_text *t = user;
  if (bytes >= t->room - t->used) {
    const size_t room = 2 * (t->used + bytes + 1);
    char *text = realloc(t->text, room);
    if (!text) return -1;
    t->text = text;
    t->room = room;
  }
  memcpy(t->text + t->used, more, bytes);
  t->used += bytes;
  t->text[t->used] = 0;
  return 0;
}

char *oz_json_text(const json_t *value, size_t flags) {
  growing_text t = {malloc(256), 0, 256};
  errno = 0;
  if (t.text && json_dump_callback(value, append, &t, flags) == 0 && errno != ENOMEM) return t.text;
  free(t.text);
  return NULL;
}

/* ---- Lines ------------------------------------------------------------------------------- */

/* Jansson keeps no positions. The text is known to be good JSON by the time that a line is asked
 * for, so that a walk along the path suffices: at each level skip to the wanted member and go in.
 */
typedef struct walk {
  const char *at, *end;
  int line;
} walk;

static void blank(walk *w) {
  for (; w->at < w->end; w->at++) {
    if (*w->at == '\n')
      w->line++;
    else if (*w->at != ' ' && *w->at != '\t' && *w->at != '\r')
      return;
  }
}

/* Past a string whose opening quote is next; its length before escapes are undone goes to *length.
 */
static const char *string(walk *w, size_t *length) {
  const char *begin = ++w->at;
  while (w->at < w->end && *w->at != '"') w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
  *length = (size_t)(w->at - begin);
  if (w->at < w->end) w->at++;
  return begin;
}

/* Past one value, without recursion. */
static void skip(walk *w) {
  size_t depth = 0, length;
  do {
    blank(w);
    if (w->at >= w->end) return;
    if (*w->at == '"') {
      string(w, &length);
    } else if (*w->at == '{' || *w->at == '[') {
      depth++;
      w->at++;
      continue;
    } else if (*w->at == '}' || *w->at == ']') {
      if (depth) depth--;
      w->at++;
    } else if (*w->at == ',' || *w->at == ':') {
      w->at++;
    } else {
      do w->at++;
      while (w->at < w->end && *w->at && !strchr(",:{}[] \t\r\n\"", *w->at));
    }
  } while (depth);
}

int oz_json_line(const char *text, size_t bytes, const char *path) {
  walk w = {text, text + bytes, 1};
  blank(&w);
  int line = w.line;
  while (*path) {
    size_t wanted = strcspn(path, "."), index = strtoul(path, NULL, 10), member = 0, length;
    int found = 0;
    blank(&w);
    if (w.at >= w.end || (*w.at != '{' && *w.at != '[')) return line;
    int is_list = *w.at == '[';
    w.at++;
    for (;; member++) {
      blank(&w);
      if (w.at >= w.end || *w.at == '}' || *w.at == ']') return line;
      if (*w.at == ',') {
        w.at++;
        blank(&w);
      }
      if (is_list) {
        found = member == index;
      } else {
        if (w.at >= w.end || *w.at != '"') return line;
        int here = w.line;
        const char *key = string(&w, &length);
        blank(&w);
        if (w.at < w.end && *w.at == ':') w.at++;
        found = length == wanted && memcmp(key, path, wanted) == 0;
        if (found) line = here;
      }
      if (found) break;
      skip(&w);
    }
    blank(&w);
    if (is_list) line = w.line;
    path += wanted;
    if (*path == '.') path++;
  }
  return line;
}

/* ---- Values at paths --------------------------------------------------------------------- */

int oz_json_put(json_t *root, const char *path, json_t *value, char *error, size_t capacity) {
  json_t *at = root;
  char part[256];
  if (!value) {
    snprintf(error, capacity, "out of memory");
    return 0;
  }
  for (;;) {
    size_t length = strcspn(path, ".");
    int last = path[length] == 0;
    if (length == 0 || length >= sizeof part) {
      snprintf(error, capacity, "the path has an empty or overlong part");
      break;
    }
    memcpy(part, path, length);
    part[length] = 0;
    path += length + !last;
    if (json_is_array(at)) {
      char *end;
      unsigned long index = strtoul(part, &end, 10);
      if (*end || index >= json_array_size(at)) {
        snprintf(error, capacity, "'%s' is no place in a list of %zu", part, json_array_size(at));
        break;
      }
      if (last) return json_array_set_new(at, index, value) == 0;
      at = json_array_get(at, index);
    } else if (json_is_object(at)) {
      if (last) return json_object_set_new(at, part, value) == 0;
      json_t *next = json_object_get(at, part);
      if (!next) {
        next = json_object();
        if (!next || json_object_set_new(at, part, next) != 0) {
          snprintf(error, capacity, "out of memory, or the path is not UTF-8");
          break;
        }
      }
      at = next;
    } else {
      snprintf(error, capacity, "'%s' is inside a plain value", part);
      break;
    }
  }
  json_decref(value);
  return 0;
}

json_t *oz_json_value(const char *text) {
  json_error_t error;
  int no_memory;
  json_t *value = oz_json_load(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error,
                               &no_memory);
  return value || no_memory ? value : json_string(text);
}

void oz_json_short(const json_t *value, char *out, size_t capacity) {
  char *text =
      value ? oz_json_text(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  if (!text)
    snprintf(out, capacity, "%s", value ? "a value" : "nothing");
  else if (strlen(text) > 60)
    snprintf(out, capacity, "%.57s...", text);
  else
    snprintf(out, capacity, "%s", text);
  free(text);
}

/* ---- Differences ------------------------------------------------------------------------- */

static void differ(const json_t *a, const json_t *b, char *path, size_t used, size_t capacity,
                   oz_differ_fn each, void *user) {
  if (json_is_object(a) && json_is_object(b)) {
    for (int pass = 0; pass < 2; pass++) { /* members of a, then those that only b has */
      const char *key;
      json_t *value, *from = pass ? (json_t *)b : (json_t *)a;
      json_object_foreach(from, key, value) {
        if (pass && json_object_get(a, key)) continue;
        if (strcmp(key, "note") == 0) continue;
        int more = snprintf(path + used, capacity - used, "%s%s", used ? "." : "", key);
        if (more < 0 || (size_t)more >= capacity - used) more = (int)(capacity - used - 1);
        differ(json_object_get(a, key), json_object_get(b, key), path, used + (size_t)more,
               capacity, each, user);
        path[used] = 0;
      }
    }
    return;
  }
  /* 1 and 1.0 are the same to a scene */
  if (json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b)
                                             : a && b && json_equal(a, b))
    return;
  each(user, path, a, b);
}

void oz_json_differ(const json_t *before, const json_t *after, oz_differ_fn each, void *user) {
  char path[512] = "";
  differ(before, after, path, 0, sizeof path, each, user);
}
