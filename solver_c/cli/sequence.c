/* Cached frames in files and folders. SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_FRAMES = 100000 };

int cli_ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  if (n < m) return 0;
  for (size_t k = 0; k < m; ++k) {
    const char c = path[n - m + k];
    if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != ending[k]) return 0;
  }
  return 1;
}

static int is_points(const char *name) {
  return name[0] != '.' && (cli_ends_with(name, ".bgeo.sc") || cli_ends_with(name, ".bgeo") ||
                            cli_ends_with(name, ".geo") || cli_ends_with(name, ".ply"));
}

static int push(cli_sequence *s, const char *folder, const char *name) {
  size_t room = strlen(folder) + strlen(name) + 2;
  if (s->count % 256 == 0) {
    char **grown = realloc(s->paths, (s->count + 256) * sizeof *grown);
    if (!grown) return 0;
    s->paths = grown;
  }
  char *path = malloc(room);
  if (!path) return 0;
  snprintf(path, room, "%s%s%s", folder, folder[0] ? "/" : "", name);
  s->paths[s->count++] = path;
  return 1;
}

void cli_sequence_release(cli_sequence *s) {
  for (uint32_t i = 0; i < s->count; ++i) free(s->paths[i]);
  free(s->paths);
}

/* The number before the ending: honey.0012.bgeo.sc is 12. 0 if there is none. */
int cli_frame_of(const char *path, int *frame) {
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  for (const char *dot = strrchr(name, '.'); dot && dot > name;) {
    const char *begin = dot;
    while (begin > name && begin[-1] != '.') --begin;
    if (begin < dot && strspn(begin, "0123456789-") == (size_t)(dot - begin)) {
      *frame = atoi(begin);
      return 1;
    }
    dot = begin > name ? begin - 1 : NULL;
  }
  return 0;
}

static int by_frame(const void *a, const void *b) {
  const char *p = *(char *const *)a, *q = *(char *const *)b;
  int x = 0, y = 0;
  cli_frame_of(p, &x);
  cli_frame_of(q, &y);
  return x != y ? (x < y ? -1 : 1) : strcmp(p, q);
}

/* The points of a folder; one that is not there has none. */
static int gather_folder(const char *folder, cli_sequence *s) {
  errno = 0;
  DIR *d = opendir(folder);
  if (!d) return errno == ENOMEM ? CLI_MEMORY : CLI_DONE;
  int held = 1;
  for (struct dirent *e = readdir(d); e && held && s->count <= MOST_FRAMES; e = readdir(d))
    if (is_points(e->d_name)) held = push(s, folder, e->d_name);
  closedir(d);
  return held ? CLI_DONE : CLI_MEMORY;
}

/* A file, a folder of them, or the folder of a run; the program's exit code. */
static int gather(const char *cache, const char *command, cli_sequence *s) {
  char folder[CLI_PATH_ROOM];
  for (int inner = 1; inner >= 0 && !s->count; --inner) {
    snprintf(folder, sizeof folder, "%s%s", cache, inner ? "/points" : "");
    if (gather_folder(folder, s) != CLI_DONE) return CLI_MEMORY;
  }
  if (s->count > MOST_FRAMES) {
    cli_error("%s: %s: holds more than %d files; expected fewer, or files by their names", command,
              folder, MOST_FRAMES);
    return CLI_BAD_INPUT;
  }
  if (s->count) {
    qsort(s->paths, s->count, sizeof *s->paths, by_frame);
    return CLI_DONE;
  }
  errno = 0;
  DIR *d = opendir(cache);
  if (!d && errno == ENOMEM) return CLI_MEMORY;
  if (!d) return push(s, "", cache) ? CLI_DONE : CLI_MEMORY;
  closedir(d);
  cli_error("%s: %s: holds no points (.bgeo.sc .bgeo .geo .ply), nor does %s/points", command,
            cache, cache);
  return CLI_BAD_INPUT;
}

/* The scene that a run left beside its points. */
void cli_find_scene(const char *points, char *out, size_t room) {
  out[0] = 0;
  const char *slash = strrchr(points, '/');
  int length = slash ? (int)(slash - points) : 0;
  static const char *const ups[] = {"../scene.json", "scene.json"};
  for (size_t i = 0; i < 2; ++i) {
    snprintf(out, room, "%.*s%s%s", length, points, slash ? "/" : "", ups[i]);
    FILE *f = fopen(out, "r");
    const int there = f || errno == ENOMEM; /* reading it tells of the memory */
    if (f) fclose(f);
    if (there) return;
  }
  out[0] = 0;
}

/* Takes the frames that are not wanted out of the list. */
static void choose(cli_sequence *s, int low, int high, uint32_t every) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    int frame = 0, has = cli_frame_of(s->paths[i], &frame);
    if (has && (frame < low || frame > high || (frame - (low > -1000000 ? low : 0)) % (int)every))
      free(s->paths[i]);
    else
      s->paths[kept++] = s->paths[i];
  }
  s->count = kept;
}

int cli_sequence_gather(cli_sequence *s, const char *command, const char *const *caches,
                        size_t count, int low, int high, uint32_t every, int *code) {
  int first = 0, last = 0, any = 0;
  for (size_t c = 0; c < count; ++c) {
    cli_sequence one = {NULL, 0};
    *code = gather(caches[c], command, &one);
    for (uint32_t i = 0; i < one.count; ++i) {
      int frame = 0;
      if (!cli_frame_of(one.paths[i], &frame)) continue;
      first = any && first < frame ? first : frame;
      last = any && last > frame ? last : frame;
      any = 1;
    }
    if (*code == CLI_DONE && one.count > 1) choose(&one, low, high, every);
    for (uint32_t i = 0; i < one.count && *code == CLI_DONE; ++i)
      if (!push(s, "", one.paths[i])) *code = CLI_MEMORY;
    cli_sequence_release(&one);
    if (*code == CLI_MEMORY) cli_error("%s: out of memory", command);
    if (*code != CLI_DONE) return 0;
  }
  const int cut = any && ((low > -1000000 && low < first) || (high < 1000000 && high > last));
  if (s->count && cut)
    cli_error("%s: --frames %d-%d: there are frames %d to %d", command, low, high, first, last);
  if (s->count) return 1;
  low = low > -1000000 ? low : first, high = high < 1000000 ? high : last;
  cli_error("%s: of frames %d to %d none is from %d to %d in steps of %u", command, first, last,
            low, high, every);
  *code = CLI_BAD_INPUT;
  return 0;
}

int cli_frame_range(const char *text, int *low, int *high) {
  int first = 0, second = 0; /* characters of the text up to the end of A and of B */
  const int n = sscanf(text, "%d%n-%d%n", low, &first, high, &second);
  if (n == 1) *high = *low;
  if (n >= 1 && !text[n == 1 ? first : second] && *high >= *low) return 1;
  cli_error("--frames: '%s' is no range; expected A-B, such as 10-20, or a frame", text);
  return 0;
}

#ifdef OOZE_HAVE_SCENE
ooze_result cli_use_scene(cli_scene_beside *at, const char *command, const char *given,
                          const char *points, const ooze_scene_options *options,
                          ooze_message *why) {
  char found[CLI_PATH_ROOM];
  snprintf(found, sizeof found, "%s", given ? given : "");
  if (!given) cli_find_scene(points, found, sizeof found);
  if (strcmp(found, at->path) == 0) return OOZE_OK;
  ooze_scene_destroy(at->scene);
  at->scene = NULL;
  snprintf(at->path, sizeof at->path, "%s", found);
  if (!found[0]) return OOZE_OK;
  ooze_result result = ooze_scene_load(found, options, &at->scene, why);
  if (result >= 0 || given || result == OOZE_ERROR_MEMORY) return result;
  cli_error("%s: %s; going on without the scene", command, why->text);
  return OOZE_OK;
}
#endif
