/* Progress of work that goes frame by frame. SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "base/seconds.h"
#include "json.h"

void cli_duration(double seconds, char *out, size_t room) {
  long n = (long)(seconds + 0.5);
  if (n >= 3600)
    snprintf(out, room, "%ld:%02ld:%02ld", n / 3600, n / 60 % 60, n % 60);
  else
    snprintf(out, room, "%ld:%02ld", n / 60, n % 60);
}

void cli_progress_begin(cli_progress *p, uint32_t mode, int quiet) {
  memset(p, 0, sizeof *p);
  p->mode = quiet && mode == CLI_PROGRESS_AUTO ? CLI_PROGRESS_NONE : mode;
#if defined(__unix__) || defined(__APPLE__)
  p->terminal = p->mode == CLI_PROGRESS_AUTO && isatty(2);
#endif
  p->began = oz_seconds();
}

void cli_progress_clear(const cli_progress *p) {
  if (p->terminal) fputs("\r\033[K", stderr);
}

void cli_progress_frame(const cli_progress *p, uint32_t done, uint32_t all, int frame,
                        const char *path) {
  const double took = oz_seconds() - p->began, left = done ? took / done * (all - done) : 0.0;
  if (p->mode == CLI_PROGRESS_JSON) {
    cli_json j = {stdout, 0};
    cli_json_object(&j, NULL);
    cli_json_text(&j, "event", "frame");
    cli_json_number(&j, "frame", frame);
    cli_json_integer(&j, "done", done);
    cli_json_integer(&j, "all", all);
    cli_json_number(&j, "seconds", took);
    cli_json_number(&j, "left", left);
    if (path) cli_json_text(&j, "file", path);
    cli_json_object_end(&j);
    fputc('\n', stdout);
    fflush(stdout);
  } else if (p->terminal && all > 1) {
    enum { WIDTH = 24 };
    char bar[WIDTH + 1], text[32];
    for (uint32_t i = 0; i < WIDTH; ++i) bar[i] = i * all < WIDTH * done ? '#' : '.';
    bar[WIDTH] = 0;
    cli_duration(left, text, sizeof text);
    fprintf(stderr, "\r[%s] %u/%u  frame %d  left %s\033[K", bar, done, all, frame, text);
    if (done == all) fputc('\n', stderr);
    fflush(stderr);
  }
}
