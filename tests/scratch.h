/* A temporary folder of a test program's own, made when it is first asked for and removed with all
 * that is in it at the program's end. SPDX-License-Identifier: Apache-2.0
 *
 * Strict C11 has no mkdtemp: define _POSIX_C_SOURCE 200809L before the first include. */
#ifndef OZ_TESTS_SCRATCH_H
#define OZ_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef _WIN32
#include <direct.h>
#include <io.h>
#endif

static char scratch_name_[512];

/* Removes a folder and everything below it; a link is removed, not followed. */
static inline void scratch_remove(const char *path) {
  char inside[1024];
  DIR *folder = opendir(path);
  if (!folder) return;
  for (struct dirent *e; (e = readdir(folder)) != NULL;) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
    if (snprintf(inside, sizeof inside, "%s/%s", path, e->d_name) >= (int)sizeof inside) continue;
    if (remove(inside) != 0) scratch_remove(inside);
  }
  closedir(folder);
  rmdir(path);
}

static inline void scratch_clean_(void) {
  if (chdir("/") == 0) scratch_remove(scratch_name_); /* Windows keeps the current folder */
}

static inline const char *scratch_folder(void) {
  if (scratch_name_[0]) return scratch_name_;
  const char *root = getenv("TMPDIR");
#ifdef _WIN32
  if (!root) root = getenv("TEMP");
#endif
  snprintf(scratch_name_, sizeof scratch_name_, "%s/ooze-test-XXXXXX",
           root && root[0] ? root : "/tmp");
#ifdef _WIN32
  const int made = _mktemp(scratch_name_) && _mkdir(scratch_name_) == 0;
#else
  const int made = mkdtemp(scratch_name_) != NULL;
#endif
  if (!made) abort();
  atexit(scratch_clean_);
  return scratch_name_;
}

/* The path of a file there; four at a time may be in use. */
static inline const char *scratch_path(const char *name) {
  static char paths[4][1024];
  static int turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_folder(), name);
  return path;
}

/* Once in a program: all its cases run in that folder, so relative names are names there. */
#define RUN_IN_SCRATCH()                                          \
  __attribute__((constructor)) static void scratch_enter_(void) { \
    if (chdir(scratch_folder()) != 0) abort();                    \
  }

#endif
