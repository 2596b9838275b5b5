/* Progress of work that goes frame by frame: a bar on a terminal, or lines of JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_PROGRESS_H
#define OOZE_CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define CLI_PROGRESS_CHOICE "auto|json|none"
enum { CLI_PROGRESS_AUTO = 0, CLI_PROGRESS_JSON = 1, CLI_PROGRESS_NONE = 2 };

typedef struct cli_progress {
  uint32_t mode; /* CLI_PROGRESS_* */
  int terminal;  /* AUTO: standard error is one */
  double began;  /* s */
} cli_progress;

void cli_progress_begin(cli_progress *p, uint32_t mode, int quiet);
/* `done` of `all` pictures or files are whole; path may be NULL. */
void cli_progress_frame(const cli_progress *p, uint32_t done, uint32_t all, int frame,
                        const char *path);
void cli_progress_clear(const cli_progress *p); /* before other text */
/* "1:02" or "1:02:03" */
void cli_duration(double seconds, char *out, size_t room);

#endif
