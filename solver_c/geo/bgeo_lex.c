/* The tokens of Houdini's JSON, ASCII and binary. Strings and blocks are not copied: they point
 * into the file. SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_lex.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ooze_result geo_bad(const geo_lex *lex, const char *format, ...) {
  char place[40];
  va_list list;
  snprintf(place, sizeof place, "byte %llu: ", (unsigned long long)(lex->at - lex->source->bytes));
  va_start(list, format);
  oz_source_bad(lex->source, place, format, list);
  va_end(list);
  return OOZE_ERROR_FORMAT;
}

static ooze_result short_file(const geo_lex *lex) {
  return geo_bad(lex, "the file ends too early; it is truncated");
}

ooze_result geo_lex_open(geo_lex *lex, const oz_source *source) {
  memset(lex, 0, sizeof *lex);
  lex->source = source;
  lex->at = source->bytes;
  lex->end = source->bytes + source->count;
  lex->max_depth =
      source->limits.max_depth < GEO_MAX_DEPTH ? source->limits.max_depth : GEO_MAX_DEPTH;
  size_t magic = sizeof GEO_MAGIC - 1;
  if (source->count >= magic && memcmp(source->bytes, GEO_MAGIC, magic) == 0) {
    lex->binary = true;
    lex->at += magic;
    return OOZE_OK;
  }
  if (source->count >= 5 && memcmp(source->bytes, "Bgeo", 4) == 0)
    return geo_bad(lex, "the classic .bgeo of Houdini 11 and before, which is not read; save it "
                        "again from a newer Houdini");
  while (lex->at < lex->end &&
         (*lex->at == ' ' || *lex->at == '\n' || *lex->at == '\r' || *lex->at == '\t'))
    lex->at++;
  if (lex->at < lex->end && *lex->at == '[') return OOZE_OK;
  return geo_bad(
      lex,
      "not Houdini geometry: it begins neither with the binary mark 7f 4e 53 4a 62 nor with [");
}

void geo_lex_close(geo_lex *lex) {
  free(lex->tokens);
  free(lex->scratch);
  lex->tokens = NULL;
  lex->scratch = NULL;
}

/* ---- Nesting, alike in both forms -------------------------------------------------------- */

static ooze_result enter(geo_lex *lex, geo_token *out, char bracket) {
  if (lex->depth >= lex->max_depth) {
    geo_bad(lex, "nested deeper than %u levels", lex->max_depth);
    return OOZE_ERROR_LIMIT;
  }
  lex->open[lex->depth++] = (uint8_t)bracket;
  out->kind = bracket == '[' ? GEO_ARRAY : GEO_MAP;
  return OOZE_OK;
}

static ooze_result leave(geo_lex *lex, geo_token *out, char bracket) {
  char opened = bracket == ']' ? '[' : '{';
  if (lex->depth == 0 || lex->open[lex->depth - 1] != (uint8_t)opened)
    return geo_bad(lex, "a '%c' that closes nothing", bracket);
  lex->depth--;
  out->kind = bracket == ']' ? GEO_ARRAY_END : GEO_MAP_END;
  return OOZE_OK;
}

/* ---- Binary ------------------------------------------------------------------------------ */

static ooze_result take(geo_lex *lex, void *out, size_t bytes) {
  if (geo_left(lex) < bytes) return short_file(lex);
  memcpy(out, lex->at, bytes);
  lex->at += bytes;
  return OOZE_OK;
}

/* Lengths and token numbers: one byte up to 0xf0, else a mark and 2, 4 or 8 bytes. */
static ooze_result take_length(geo_lex *lex, uint64_t *out) {
  uint8_t first = 0;
  OZ_TRY_OK(take(lex, &first, 1));
  *out = 0;
  if (first < 0xf1) {
    *out = first;
    return OOZE_OK;
  }
  size_t bytes = first == 0xf2 ? 2 : first == 0xf4 ? 4 : first == 0xf8 ? 8 : 0;
  if (bytes == 0)
    return geo_bad(lex, "a length begins with 0x%02x; expected up to 0xf0, 0xf2, 0xf4 or 0xf8",
                   first);
  return take(lex, out, bytes);
}

static ooze_result take_text(geo_lex *lex, geo_span *out) {
  OZ_TRY_OK(take_length(lex, &out->length));
  if (out->length > geo_left(lex)) return short_file(lex);
  out->text = (const char *)lex->at;
  lex->at += out->length;
  return OOZE_OK;
}

/* Numbers are given out from 0 up, so a table by number stays as small as the file. */
static ooze_result define_token(geo_lex *lex) {
  uint64_t number;
  geo_span span;
  OZ_TRY_OK(take_length(lex, &number));
  OZ_TRY_OK(take_text(lex, &span));
  /* Counted by definitions, not by the largest number: else a few bytes could ask for a table of
   * any size. */
  if (number > lex->definitions + 4096)
    return geo_bad(lex, "string number %llu is far out of order", (unsigned long long)number);
  if (number >= lex->token_capacity) {
    uint64_t capacity = number + number / 2 + 64;
    if (capacity * sizeof(geo_span) > lex->source->limits.max_bytes)
      return oz_fail(lex->source->why, OOZE_ERROR_LIMIT,
                     "%s: its strings need more than the limit of %llu bytes", lex->source->name,
                     (unsigned long long)lex->source->limits.max_bytes);
    geo_span *moved = realloc(lex->tokens, (size_t)capacity * sizeof *moved);
    if (!moved)
      return oz_fail(lex->source->why, OOZE_ERROR_MEMORY, "%s: out of memory", lex->source->name);
    memset(moved + lex->token_capacity, 0,
           (size_t)(capacity - lex->token_capacity) * sizeof *moved);
    lex->tokens = moved;
    lex->token_capacity = capacity;
  }
  lex->definitions++;
  lex->tokens[number] = span;
  if (number >= lex->token_count) lex->token_count = number + 1;
  return OOZE_OK;
}

static ooze_result uniform(geo_lex *lex, geo_token *out) {
  OZ_TRY_OK(take(lex, &out->type, 1));
  OZ_TRY_OK(take_length(lex, &out->length));
  uint32_t each = geo_type_bytes(out->type);
  uint64_t bytes;
  if (out->type == GEO_T_BOOL) {
    if (out->length > UINT64_MAX - 31) return short_file(lex);
    bytes = (out->length + 31) / 32 * 4; /* bits, in 32-bit words */
  } else if (each == 0) {
    return geo_bad(lex, "a uniform array of unknown type 0x%02x", out->type);
  } else if (!oz_mul(out->length, each, &bytes)) {
    return short_file(lex);
  }
  if (bytes > geo_left(lex)) return short_file(lex);
  out->kind = GEO_UNIFORM;
  out->data = lex->at;
  lex->at += bytes;
  return OOZE_OK;
}

/* One number of a type, as an integer or as a real. */
static ooze_result binary_number(geo_lex *lex, geo_token *out, uint8_t type, bool integer) {
  uint8_t raw[8];
  OZ_TRY_OK(take(lex, raw, geo_type_bytes(type)));
  if (integer) {
    geo_convert(type, raw, 1, OOZE_INT64, &out->integer);
    out->kind = GEO_INT;
    out->real = (double)out->integer;
  } else {
    geo_convert(type, raw, 1, OOZE_FLOAT64, &out->real);
    out->kind = GEO_REAL;
  }
  return OOZE_OK;
}

static ooze_result binary_bool(geo_lex *lex, geo_token *out) {
  uint8_t value = 0;
  OZ_TRY_OK(take(lex, &value, 1));
  out->kind = GEO_BOOL;
  out->integer = value != 0;
  return OOZE_OK;
}

static ooze_result token_number(geo_lex *lex, uint64_t *number) {
  OZ_TRY_OK(take_length(lex, number));
  if (*number >= lex->token_count || !lex->tokens[*number].text)
    return geo_bad(lex, "string number %llu is not defined", (unsigned long long)*number);
  return OOZE_OK;
}

static ooze_result next_binary(geo_lex *lex, geo_token *out) {
  uint64_t number;
  geo_span span;
  for (;;) {
    if (lex->at == lex->end) {
      if (lex->depth > 0) return short_file(lex);
      out->kind = GEO_END;
      return OOZE_OK;
    }
    uint8_t type = *lex->at++;
    switch (type) {
    case '[':
    case '{':
      return enter(lex, out, (char)type);
    case ']':
    case '}':
      return leave(lex, out, (char)type);
    case ',':
    case ':':
      continue; /* allowed, unused */
    case GEO_T_NULL:
      out->kind = GEO_NULL;
      return OOZE_OK;
    case GEO_T_FALSE:
    case GEO_T_TRUE:
      out->kind = GEO_BOOL;
      out->integer = type == GEO_T_TRUE;
      return OOZE_OK;
    case GEO_T_BOOL:
      return binary_bool(lex, out);
    case GEO_T_INT8:
    case GEO_T_INT16:
    case GEO_T_INT32:
    case GEO_T_INT64:
    case GEO_T_UINT8:
    case GEO_T_UINT16:
      return binary_number(lex, out, type, true);
    case GEO_T_REAL16:
    case GEO_T_REAL32:
    case GEO_T_REAL64:
      return binary_number(lex, out, type, false);
    case GEO_T_STRING:
      OZ_TRY_OK(take_text(lex, &span));
      out->kind = GEO_STRING;
      out->text = span.text;
      out->length = span.length;
      return OOZE_OK;
    case GEO_T_TOKENDEF:
      OZ_TRY_OK(define_token(lex));
      continue;
    case GEO_T_TOKENUNDEF:
      OZ_TRY_OK(token_number(lex, &number));
      lex->tokens[number].text = NULL;
      continue;
    case GEO_T_TOKENREF:
      OZ_TRY_OK(token_number(lex, &number));
      out->kind = GEO_STRING;
      out->text = lex->tokens[number].text;
      out->length = lex->tokens[number].length;
      return OOZE_OK;
    case GEO_T_UNIFORM:
      return uniform(lex, out);
    default:
      lex->at--;
      return geo_bad(lex, "unknown token 0x%02x", type);
    }
  }
}

/* ---- ASCII ------------------------------------------------------------------------------- */

static ooze_result ascii_string(geo_lex *lex, geo_token *out) {
  const uint8_t *begin = lex->at;
  bool escaped = false;
  while (lex->at < lex->end && *lex->at != '"') {
    if (*lex->at == '\\') {
      escaped = true;
      lex->at++;
    }
    if (lex->at < lex->end) lex->at++;
  }
  if (lex->at >= lex->end) return short_file(lex);
  out->kind = GEO_STRING;
  out->text = (const char *)begin;
  out->length = (uint64_t)(lex->at++ - begin);
  if (!escaped) return OOZE_OK;
  if (out->length > lex->scratch_capacity) {
    char *moved = realloc(lex->scratch, (size_t)out->length);
    if (!moved)
      return oz_fail(lex->source->why, OOZE_ERROR_MEMORY, "%s: out of memory", lex->source->name);
    lex->scratch = moved;
    lex->scratch_capacity = (size_t)out->length;
  }
  size_t used = 0;
  for (uint64_t i = 0; i < out->length; i++) {
    char c = (char)begin[i];
    if (c == '\\') {
      c = (char)begin[++i];
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      else if (c == 'r')
        c = '\r';
      else if (c == 'b')
        c = '\b';
      else if (c == 'f')
        c = '\f';
      else if (c == 'u') { /* no name that we look for has one */
        c = '?';
        i = i + 4 < out->length ? i + 4 : out->length - 1;
      }
    }
    lex->scratch[used++] = c;
  }
  out->text = lex->scratch;
  out->length = used;
  return OOZE_OK;
}

static bool spell(geo_lex *lex, const char *text) {
  size_t length = strlen(text);
  if (geo_left(lex) < length || memcmp(lex->at, text, length) != 0) return false;
  lex->at += length;
  return true;
}

static ooze_result next_ascii(geo_lex *lex, geo_token *out) {
  while (lex->at < lex->end &&
         (*lex->at == ' ' || *lex->at == '\t' || *lex->at == '\n' || *lex->at == '\r' ||
          ((*lex->at == ',' || *lex->at == ':') && lex->depth > 0)))
    lex->at++;
  if (lex->at == lex->end) {
    if (lex->depth > 0) return short_file(lex);
    out->kind = GEO_END;
    return OOZE_OK;
  }
  char c = (char)*lex->at;
  if (c == '[' || c == '{' || c == ']' || c == '}') {
    lex->at++;
    return c == '[' || c == '{' ? enter(lex, out, c) : leave(lex, out, c);
  }
  if (c == '"') {
    lex->at++;
    return ascii_string(lex, out);
  }
  if (spell(lex, "true") || spell(lex, "false")) {
    out->kind = GEO_BOOL;
    out->integer = c == 't';
    return OOZE_OK;
  }
  if (spell(lex, "null")) {
    out->kind = GEO_NULL;
    return OOZE_OK;
  }
  const char *at = (const char *)lex->at, *end = (const char *)lex->end;
  /* -0 is a float with a sign to keep. */
  if (oz_text_int(&at, end, &out->integer) && !(out->integer == 0 && c == '-')) {
    out->kind = GEO_INT;
    out->real = (double)out->integer;
  } else if (at = (const char *)lex->at, oz_text_real(&at, end, &out->real)) {
    out->kind = GEO_REAL;
  } else {
    return geo_bad(lex, "unexpected character 0x%02x", (unsigned)(uint8_t)c);
  }
  lex->at = (const uint8_t *)at;
  if (at == end) return short_file(lex); /* a number cut short would read as another number */
  return OOZE_OK;
}

/* ---- Both -------------------------------------------------------------------------------- */

ooze_result geo_next(geo_lex *lex, geo_token *out) {
  memset(out, 0, sizeof *out);
  return lex->binary ? next_binary(lex, out) : next_ascii(lex, out);
}

ooze_result geo_skip(geo_lex *lex, const geo_token *first) {
  if (first->kind == GEO_ARRAY_END || first->kind == GEO_MAP_END || first->kind == GEO_END)
    return geo_bad(lex, "a value is missing");
  if (first->kind != GEO_ARRAY && first->kind != GEO_MAP) return OOZE_OK;
  uint32_t outside = lex->depth - 1;
  geo_token token;
  while (lex->depth > outside) OZ_TRY_OK(geo_next(lex, &token));
  return OOZE_OK;
}
