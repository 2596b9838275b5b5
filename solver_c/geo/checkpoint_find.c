/* The newest whole checkpoint of a folder.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct candidate {
  char *path;
  uint64_t number;
  int64_t written;
} candidate;

typedef struct search {
  const char *folder;
  candidate *list;
  size_t count, capacity;
  bool failed; /* out of memory */
} search;

/* The digits before the ending: honey.0012.ozc is 12. Beyond 19 digits only the last count. */
static uint64_t number_in(const char *name) {
  size_t end = strlen(name) - strlen(".ozc"), begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9' && end - begin < 19) begin--;
  uint64_t number = 0;
  for (; begin < end; begin++) number = number * 10 + (uint64_t)(name[begin] - '0');
  return number;
}

static void consider(void *user, const char *name) {
  search *s = user;
  if (name[0] == '.' || oz_format_of(name) != OZ_CHECKPOINT || s->failed) return;
  if (!oz_list_room((void **)&s->list, &s->capacity, s->count, sizeof *s->list, 32)) {
    s->failed = true;
    return;
  }
  size_t length = strlen(s->folder) + strlen(name) + 2;
  candidate made = {malloc(length), number_in(name), 0};
  if (!made.path) {
    s->failed = true;
    return;
  }
  snprintf(made.path, length, "%s/%s", s->folder, name);
  oz_os_times(made.path, &made.written);
  s->list[s->count++] = made;
}

static int newest_first(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->number != y->number) return x->number > y->number ? -1 : 1;
  if (x->written != y->written) return x->written > y->written ? -1 : 1;
  return -strcmp(x->path, y->path);
}

ooze_result ooze_checkpoint_find_newest(const char *folder, const ooze_io_limits *limits,
                                        ooze_line_fn line, void *user, char *out_path,
                                        size_t capacity, ooze_message *why) {
  if (!folder || !out_path || capacity == 0)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no folder or no place for the path given");
  search s = {folder[0] ? folder : ".", NULL, 0, 0, false};
  out_path[0] = 0;
  int error = oz_os_list(s.folder, consider, &s);
  ooze_result result = OOZE_ERROR_NOT_FOUND;
  if (error) {
    char reason[160];
    oz_os_reason(error, reason, sizeof reason);
    oz_fail(why, result, "%s: cannot list the folder: %s", s.folder, reason);
  } else if (s.failed) {
    result = oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory for the list of its checkpoints",
                     s.folder);
  } else {
    if (s.count) qsort(s.list, s.count, sizeof *s.list, newest_first);
    oz_fail(why, result, "%s: holds no whole checkpoint (*.ozc)", s.folder);
    for (size_t i = 0; i < s.count && result == OOZE_ERROR_NOT_FOUND; i++) {
      ooze_message reason;
      ooze_result read = ooze_checkpoint_read(s.list[i].path, limits, NULL, NULL, NULL, &reason);
      if (read == OOZE_OK && strlen(s.list[i].path) >= capacity) {
        result =
            oz_fail(why, OOZE_ERROR_LIMIT, "%s: the path is longer than the %zu bytes given for it",
                    s.list[i].path, capacity);
      } else if (read == OOZE_OK) {
        memcpy(out_path, s.list[i].path, strlen(s.list[i].path) + 1);
        result = OOZE_OK;
      } else if (read == OOZE_ERROR_LIMIT ||
                 read == OOZE_ERROR_MEMORY) { /* whole, perhaps: older ones are no way out */
        result = oz_fail(why, read, "%s", reason.text);
      } else if (line) {
        char text[600];
        snprintf(text, sizeof text, "%s; skipped", reason.text);
        line(user, text);
      }
    }
  }
  if (result == OOZE_OK && why) why->text[0] = 0;
  for (size_t i = 0; i < s.count; i++) free(s.list[i].path);
  free(s.list);
  return result;
}
