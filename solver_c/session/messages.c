/* A run's lines to its host, and the host's wish to stop. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>

void oz_session_say(oz_session *s, const char *format, ...) {
  char text[1024];
  va_list list;
  if (!s->options.line) return;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  s->options.line(s->options.user, text);
}

int oz_session_stop_wanted(oz_session *s) {
  return s->options.stop && s->options.stop(s->options.user);
}
