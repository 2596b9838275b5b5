/* A line for work that has no frames to count: the task and its time so far, from a timer's
 * signal, so that any library call is covered. SPDX-License-Identifier: Apache-2.0 */
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700 /* setitimer */
#endif
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t stop_asked, stop_ticks;

int cli_stop_asked(void) { return stop_asked != 0; }

#if defined(__unix__) || defined(__APPLE__)
#include <sys/time.h>
#include <unistd.h>

enum { TICK_MS = 500, FIRST_TICK = 4, LINE_TICKS = 40, PATIENCE_TICKS = 2 };

static char text[120];
static volatile sig_atomic_t busy, ticks, shown, terminal, silent;
static volatile sig_atomic_t stop_at_once, stop_soon;

static void put(const char *words) {
  const size_t length = strlen(words);
  if (write(2, words, length) != (ssize_t)length) return; /* no way to tell */
}

static void put_number(unsigned value) {
  char digits[12];
  int at = (int)sizeof digits - 1;
  digits[at] = 0;
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  put(digits + at);
}

static void leave(void) {
  put(shown && terminal ? "\r\033[Kooze: stopped while " : "ooze: stopped while ");
  put(text);
  put("; --resume goes on from the newest checkpoint\n");
  _exit(CLI_STOPPED);
}

static void on_tick(int number) {
  (void)number;
  if (!busy) {
    if (stop_asked)
      put("ooze: stopping: a checkpoint is written; a second signal leaves at "
          "once\n");
    return;
  }
  ticks++;
  if (stop_asked && stop_soon && ++stop_ticks >= PATIENCE_TICKS) leave();
  if (silent || ticks < FIRST_TICK || (!terminal && (ticks - FIRST_TICK) % LINE_TICKS)) return;
  put(terminal ? "\r\033[Kooze: " : "ooze: ");
  put(text);
  put(", ");
  put_number((unsigned)(ticks * TICK_MS / 1000));
  put(terminal ? " s" : " s so far\n");
  shown = 1;
}

/* A tick after `ms`, and then every `again`; 0: none. */
static void timer(int ms, int again) {
  struct itimerval every;
  memset(&every, 0, sizeof every);
  every.it_value.tv_sec = ms / 1000;
  every.it_value.tv_usec = ms % 1000 * 1000;
  every.it_interval.tv_sec = again / 1000;
  every.it_interval.tv_usec = again % 1000 * 1000;
  setitimer(ITIMER_REAL, &every, NULL);
}

static void catch_signal(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

void cli_busy(const char *what, int quiet, int stop) {
  catch_signal(SIGALRM, on_tick, SA_RESTART);
  busy = 0;
  snprintf(text, sizeof text, "%s", what);
  ticks = 0;
  silent = quiet;
  terminal = isatty(2);
  stop_at_once = stop == CLI_STOP_AT_ONCE;
  stop_soon = stop == CLI_STOP_SOON;
  busy = 1;
  timer(TICK_MS, TICK_MS);
  if (stop_asked && stop_at_once) leave();
}

void cli_idle(void) {
  if (!busy) return;
  timer(0, 0);
  busy = 0;
  stop_at_once = stop_soon = 0;
  if (shown && terminal) put("\r\033[K");
  shown = 0;
}

static void on_signal(int number) {
  catch_signal(number, SIG_DFL, 0); /* a second one takes effect at once */
  stop_asked = 1;
  if (busy && stop_at_once) leave();
  if (!busy) timer(2 * TICK_MS, 0);
}

void cli_catch_stop(void) {
  catch_signal(SIGALRM, on_tick, SA_RESTART);
  catch_signal(SIGINT, on_signal, SA_RESTART);
  catch_signal(SIGTERM, on_signal, SA_RESTART);
}

#else
void cli_busy(const char *what, int quiet, int stop) { (void)what, (void)quiet, (void)stop; }
void cli_idle(void) { (void)stop_ticks; }
static void on_signal(int number) {
  stop_asked = 1;
  signal(number, SIG_DFL);
}
void cli_catch_stop(void) {
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
}
#endif
