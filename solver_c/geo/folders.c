/* Folders. SPDX-License-Identifier: Apache-2.0 */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* lstat */
#endif
#ifdef _WIN32
#include <direct.h>
#else
#include <unistd.h>
#endif
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "geo_internal.h"
#include "folders.h"

static int make_one(const char *path) {
#ifdef _WIN32
  return _mkdir(path);
#else
  return mkdir(path, 0777);
#endif
}

void oz_absolute_path(const char *path, char *out, size_t room) {
  char here[4000];
#ifdef _WIN32
  const char *at = _getcwd(here, sizeof here);
#else
  const char *at = getcwd(here, sizeof here);
#endif
  const int whole = oz_os_is_slash(path[0]) || (path[0] && path[1] == ':');
  int n = whole || !at ? snprintf(out, room, "%s", path) : snprintf(out, room, "%s/%s", at, path);
  if (n < 0 || (size_t)n >= room) snprintf(out, room, "%s", path);
}

/* A link that leads nowhere, or to itself. */
static int is_dead_link(const char *path) {
#ifndef _WIN32
  struct stat about;
  return stat(path, &about) != 0 && lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
#else
  (void)path;
  return 0;
#endif
}

typedef struct folder_walk {
  const char *path;
  size_t length, at; /* characters of the path; those of the part at hand */
  char part[4000];   /* a, a/b, a/b/c of the path a/b/c */
} folder_walk;

static ooze_result walk_begin(folder_walk *w, const char *path, ooze_message *why) {
  w->path = path;
  w->length = strlen(path);
  w->at = 0;
  if (!w->length || w->length >= sizeof w->part)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%.60s: no name of a folder", path);
  return OOZE_OK;
}

/* The next part, or 0 behind the last. */
static int walk_next(folder_walk *w) {
  if (w->at >= w->length) return 0;
  w->at++;
  while (w->at < w->length && !oz_os_is_slash(w->path[w->at])) w->at++;
  memcpy(w->part, w->path, w->at);
  w->part[w->at] = 0;
  return 1;
}

ooze_result oz_folder_fits(const char *path, ooze_message *why) {
  folder_walk w;
  struct stat about;
  OZ_TRY_OK(walk_begin(&w, path, why));
  while (walk_next(&w)) {
    const char *part = w.part;
    if (stat(part, &about) == 0 && !S_ISDIR(about.st_mode))
      return oz_fail(why, OOZE_ERROR_IO,
                     "%s: a file is where a folder is to be; expected a folder, or nothing", part);
    if (is_dead_link(part))
      return oz_fail(why, OOZE_ERROR_IO,
                     "%s: is a link to a folder that is not there; make that folder, or remove the "
                     "link",
                     part);
  }
  return OOZE_OK;
}

ooze_result oz_folder_is_own(const char *path, ooze_message *why) {
#ifndef _WIN32
  struct stat about;
  if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
    return oz_fail(why, OOZE_ERROR_IO,
                   "%s: is a link, and a run writes within its own folder; remove the link", path);
#else
  (void)path, (void)why;
#endif
  return OOZE_OK;
}

ooze_result ooze_file_folder(const char *path, uint32_t make, uint32_t *out_there,
                             ooze_message *why) {
  char folder[4000];
  if (out_there) *out_there = 1;
  if (!path || !path[0]) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  size_t length = strlen(path);
  while (length && !oz_os_is_slash(path[length - 1])) length--;
  if (length < 2) return OOZE_OK; /* the current folder, or the root */
  if (length > sizeof folder)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%.60s...: the path is too long", path);
  memcpy(folder, path, length - 1);
  folder[length - 1] = 0;
  ooze_result result = make ? oz_make_folder(folder, why) : oz_folder_fits(folder, why);
  if (out_there) *out_there = (uint32_t)oz_folder_exists(folder);
  return result;
}

int oz_folder_exists(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

ooze_result oz_make_folder(const char *path, ooze_message *why) {
  folder_walk w;
  OZ_TRY_OK(walk_begin(&w, path, why));
  while (walk_next(&w)) {
    if (make_one(w.part) == 0 || errno == EEXIST) continue;
    int error = errno;
    /* a part above may be there all the same, where mkdir tells another error first */
    if (w.at < w.length && oz_folder_exists(w.part)) continue;
    char reason[160];
    oz_os_reason(error, reason, sizeof reason);
    return oz_fail(why, OOZE_ERROR_IO, "%s: cannot make the folder: %s", w.part, reason);
  }
  return OOZE_OK;
}
