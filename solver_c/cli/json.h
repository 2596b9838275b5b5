/* Writes one JSON value on one line. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_JSON_H
#define OOZE_CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

typedef struct cli_json {
  FILE *out;
  int comma; /* the next value needs one before it */
} cli_json;

/* `key` is NULL inside arrays and at the top. */
void cli_json_object(cli_json *j, const char *key);
void cli_json_object_end(cli_json *j);
void cli_json_array(cli_json *j, const char *key);
void cli_json_array_end(cli_json *j);
void cli_json_text(cli_json *j, const char *key, const char *text); /* NULL text gives null */
/* a number that is not finite gives null: JSON has no word for it */
void cli_json_number(cli_json *j, const char *key, double number);
void cli_json_integer(cli_json *j, const char *key, uint64_t number);
void cli_json_hash(cli_json *j, const char *key, uint64_t hash); /* 16 hexadecimal digits */
void cli_json_bool(cli_json *j, const char *key, int truth);

/* A member of the struct `s` under its own name, with the writer of its kind: text, number, ... */
#define CLI_JSON_OF(kind, s, member) cli_json_##kind(&j, #member, (s).member)

#endif
