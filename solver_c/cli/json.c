/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <math.h>

static void quoted(cli_json *j, const char *text) {
  fputc('"', j->out);
  for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
    if (*c == '"' || *c == '\\')
      fprintf(j->out, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(j->out, "\\u%04x", *c);
    else
      fputc(*c, j->out);
  }
  fputc('"', j->out);
}

static void begin(cli_json *j, const char *key) {
  if (j->comma) fputc(',', j->out);
  j->comma = 1;
  if (key) {
    quoted(j, key);
    fputc(':', j->out);
  }
}

static void open_list(cli_json *j, const char *key, char bracket) {
  begin(j, key);
  fputc(bracket, j->out);
  j->comma = 0;
}
static void close_list(cli_json *j, char bracket) {
  fputc(bracket, j->out);
  j->comma = 1;
}
void cli_json_object(cli_json *j, const char *key) { open_list(j, key, '{'); }
void cli_json_object_end(cli_json *j) { close_list(j, '}'); }
void cli_json_array(cli_json *j, const char *key) { open_list(j, key, '['); }
void cli_json_array_end(cli_json *j) { close_list(j, ']'); }
void cli_json_text(cli_json *j, const char *key, const char *text) {
  begin(j, key);
  if (text)
    quoted(j, text);
  else
    fputs("null", j->out);
}
void cli_json_number(cli_json *j, const char *key, double number) {
  begin(j, key);
  if (isfinite(number))
    fprintf(j->out, "%.9g", number);
  else
    fputs("null", j->out);
}
void cli_json_integer(cli_json *j, const char *key, uint64_t number) {
  begin(j, key);
  fprintf(j->out, "%" PRIu64, number);
}
void cli_json_hash(cli_json *j, const char *key, uint64_t hash) {
  begin(j, key);
  fprintf(j->out, "\"%016" PRIx64 "\"", hash);
}
void cli_json_bool(cli_json *j, const char *key, int truth) {
  begin(j, key);
  fputs(truth ? "true" : "false", j->out);
}
