/* Writes one JSON value on one line. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_JSON_H
#define OOZE_CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

typedef struct json {
  FILE *out;
  int comma; /* the next value needs one before it */
} json;

/* Jansson, in the same program, has functions of these names. */
#define json_object cli_json_object
#define json_object_end cli_json_object_end
#define json_array cli_json_array
#define json_array_end cli_json_array_end
#define json_text cli_json_text
#define json_number cli_json_number
#define json_integer cli_json_integer
#define json_bool cli_json_bool

/* `key` is NULL inside arrays and at the top. */
void json_object(json *j, const char *key);
void json_object_end(json *j);
void json_array(json *j, const char *key);
void json_array_end(json *j);
void json_text(json *j, const char *key, const char *text); /* NULL text gives null */
/* what is not finite gives null: JSON has no word for it */
void json_number(json *j, const char *key, double number);
void json_integer(json *j, const char *key, uint64_t number);
void json_bool(json *j, const char *key, int truth);

#endif
