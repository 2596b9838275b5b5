/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "ooze/ooze_io.h"

uint32_t cli_processors(void) {
#ifdef _SC_NPROCESSORS_ONLN
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (uint32_t)n : 0u;
#else
  return 0u;
#endif
}

int cli_exit_code(ooze_result result) {
  if (result == OOZE_CANCELLED) return CLI_STOPPED;
  if (result >= 0) return CLI_DONE;
  if (result == OOZE_ERROR_MEMORY) return CLI_MEMORY;
  if (result <= OOZE_LOST_DIVERGED) return CLI_DIVERGED;
  return CLI_BAD_INPUT;
}

void cli_error(const char *format, ...) {
  va_list args;
  fflush(stdout);
  fputs("ooze: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

void cli_warning(void *user, const char *line) {
  (void)user;
  cli_error("%s", line);
}

void cli_sweep_beside(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
  ooze_file_sweep(folder);
}

const char *cli_menu(const char *group, const char *name) {
  ooze_schema_entry e;
  for (uint32_t i = 0; i < ooze_schema_count(); ++i) {
    ooze_schema_entry_default(&e);
    if (ooze_schema_get(i, &e) == OOZE_OK && strcmp(e.group, group) == 0 &&
        strcmp(e.name, name) == 0)
      return e.menu;
  }
  return "";
}
