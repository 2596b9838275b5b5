/* Writing Houdini's JSON, ASCII or binary.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_emit.h"

#include "bgeo_lex.h"

#include <stdio.h>

/* ---- Pieces ------------------------------------------------------------------------------ */

static void byte(geo_emit *e, uint8_t value) { oz_out_put(e->out, &value, 1); }

static void length(geo_emit *e, uint64_t value) {
  if (value < 0xf1) {
    byte(e, (uint8_t)value);
  } else if (value <= UINT16_MAX) {
    byte(e, 0xf2);
    oz_out_put(e->out, &value, 2);
  } else if (value <= UINT32_MAX) {
    byte(e, 0xf4);
    oz_out_put(e->out, &value, 4);
  } else {
    byte(e, 0xf8);
    oz_out_put(e->out, &value, 8);
  }
}

static void comma(geo_emit *e) {
  if (!e->first && !e->binary) oz_out_put(e->out, ",", 1);
  e->first = false;
}

void geo_emit_open(geo_emit *e, char bracket) {
  comma(e);
  if (!e->binary && e->depth > 0)
    oz_out_text(e->out, "\n%.*s", (int)(e->depth < 8 ? e->depth : 8), "\t\t\t\t\t\t\t\t");
  oz_out_put(e->out, &bracket, 1);
  e->first = true;
  e->depth++;
}

void geo_emit_close(geo_emit *e, char bracket) {
  oz_out_put(e->out, &bracket, 1);
  e->depth--;
  e->first = false;
  if (!e->binary && e->depth == 0) oz_out_put(e->out, "\n", 1);
}

static void quoted(geo_emit *e, const char *text) {
  oz_out_put(e->out, "\"", 1);
  for (const char *c = text; *c; c++) {
    const char *escape = *c == '"'    ? "\\\""
                         : *c == '\\' ? "\\\\"
                         : *c == '\n' ? "\\n"
                         : *c == '\t' ? "\\t"
                                      : NULL;
    if (escape)
      oz_out_put(e->out, escape, 2);
    else if ((unsigned char)*c >= 0x20)
      oz_out_put(e->out, c, 1);
  }
  oz_out_put(e->out, "\"", 1);
}

/* In an ASCII map a colon stands between key and value; the lists that Houdini uses as maps have
 * commas only. */
void geo_emit_text(geo_emit *e, const char *text) {
  comma(e);
  if (!e->binary) {
    quoted(e, text);
    return;
  }
  byte(e, GEO_T_STRING);
  length(e, strlen(text));
  oz_out_put(e->out, text, strlen(text));
}

void geo_emit_string(geo_emit *e, const char *text) {
  if (!e->binary) {
    geo_emit_text(e, text);
    return;
  }
  uint32_t number = 0;
  while (number < e->token_count && strcmp(e->tokens[number], text) != 0) number++;
  if (number == GEO_EMIT_TOKENS) {
    geo_emit_text(e, text);
    return;
  }
  if (number == e->token_count) {
    e->tokens[e->token_count++] = text;
    byte(e, GEO_T_TOKENDEF);
    length(e, number);
    length(e, strlen(text));
    oz_out_put(e->out, text, strlen(text));
  }
  byte(e, GEO_T_TOKENREF);
  length(e, number);
}

void geo_emit_bool(geo_emit *e, bool value) {
  comma(e);
  if (e->binary)
    byte(e, value ? GEO_T_TRUE : GEO_T_FALSE);
  else
    oz_out_text(e->out, "%s", value ? "true" : "false");
}

void geo_emit_int(geo_emit *e, int64_t value) {
  comma(e);
  if (!e->binary) {
    oz_out_text(e->out, "%lld", (long long)value);
    return;
  }
  uint8_t log2 = value == (int8_t)value    ? 0
                 : value == (int16_t)value ? 1
                 : value == (int32_t)value ? 2
                                           : 3;
  byte(e, (uint8_t)(GEO_T_INT8 + log2)); /* the four types follow each other */
  oz_out_put(e->out, &value, (size_t)1 << log2);
}

void geo_emit_real(geo_emit *e, double value) {
  comma(e);
  if (!e->binary) {
    char text[48];
    oz_out_put(e->out, text, (size_t)oz_text_double(text, value));
    return;
  }
  byte(e, GEO_T_REAL64);
  oz_out_put(e->out, &value, 8);
}

/* ---- Many numbers ------------------------------------------------------------------------ */

void geo_emit_block(geo_emit *e, uint32_t type, const void *data, uint64_t count) {
  static const uint8_t types[] = {GEO_T_REAL32, GEO_T_REAL64, GEO_T_INT32, GEO_T_INT64,
                                  GEO_T_INT64};
  comma(e);
  byte(e, GEO_T_UNIFORM);
  byte(e, types[type]);
  length(e, count);
  oz_out_lend(e->out, data, (size_t)count * oz_type_bytes(type));
}

static int number_text(char *out, uint32_t type, const void *data, uint64_t i) {
  switch (type) {
  case OOZE_FLOAT32:
    return oz_text_float(out, ((const float *)data)[i]);
  case OOZE_FLOAT64:
    return oz_text_double(out, ((const double *)data)[i]);
  case OOZE_INT32:
    return snprintf(out, 40, "%ld", (long)((const int32_t *)data)[i]);
  default:
    return snprintf(out, 40, "%lld", (long long)((const int64_t *)data)[i]);
  }
}

/* A list in a line or more; lines end at commas so that no editor or diff chokes on it. */
void geo_emit_list(geo_emit *e, uint32_t type, const void *data, uint64_t count) {
  char text[48];
  comma(e);
  oz_out_put(e->out, "[", 1);
  for (uint64_t i = 0; i < count; i++) {
    if (i) oz_out_put(e->out, i % 16 ? "," : ",\n", i % 16 ? 1 : 2);
    oz_out_put(e->out, text, (size_t)number_text(text, type, data, i));
  }
  oz_out_put(e->out, "]", 1);
}

void geo_emit_tuples(geo_emit *e, uint32_t type, uint32_t size, const void *data, uint64_t count) {
  char text[48];
  comma(e);
  oz_out_put(e->out, "[", 1);
  for (uint64_t i = 0; i < count; i++) {
    oz_out_put(e->out, i ? ",\n[" : "\n[", i ? 3 : 2);
    for (uint32_t k = 0; k < size; k++) {
      if (k) oz_out_put(e->out, ",", 1);
      oz_out_put(e->out, text, (size_t)number_text(text, type, data, i * size + k));
    }
    oz_out_put(e->out, "]", 1);
  }
  oz_out_put(e->out, "]", 1);
}
