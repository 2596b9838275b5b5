/* The tokens of Houdini's JSON, ASCII (.geo) and binary (.bgeo), one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_GEO_LEX_H
#define OOZE_IO_GEO_LEX_H

#include "geo_internal.h"

typedef enum geo_kind {
  GEO_END,
  GEO_ARRAY,
  GEO_ARRAY_END,
  GEO_MAP,
  GEO_MAP_END,
  GEO_STRING,
  GEO_INT,
  GEO_REAL,
  GEO_BOOL,
  GEO_NULL,
  GEO_UNIFORM /* binary only: an array of numbers of one type, as one block */
} geo_kind;

/* Type bytes of the binary form, also used for uniform arrays. */
enum {
  GEO_T_NULL = 0x00,
  GEO_T_BOOL = 0x10,
  GEO_T_INT8 = 0x11,
  GEO_T_INT16 = 0x12,
  GEO_T_INT32 = 0x13,
  GEO_T_INT64 = 0x14,
  GEO_T_REAL16 = 0x18,
  GEO_T_REAL32 = 0x19,
  GEO_T_REAL64 = 0x1a,
  GEO_T_UINT8 = 0x21,
  GEO_T_UINT16 = 0x22,
  GEO_T_TOKENREF = 0x26,
  GEO_T_STRING = 0x27,
  GEO_T_TOKENDEF = 0x2b,
  GEO_T_TOKENUNDEF = 0x2d,
  GEO_T_FALSE = 0x30,
  GEO_T_TRUE = 0x31,
  GEO_T_UNIFORM = 0x40
};
#define GEO_MAGIC "\x7fNSJb"

typedef struct geo_token {
  geo_kind kind;
  uint8_t type;        /* of a uniform array's elements */
  int64_t integer;     /* GEO_INT, GEO_BOOL */
  double real;         /* GEO_REAL, and GEO_INT's value */
  const char *text;    /* GEO_STRING: length bytes; valid until the next string */
  const uint8_t *data; /* GEO_UNIFORM: length elements, unaligned */
  uint64_t length;
} geo_token;

typedef struct geo_span {
  const char *text;
  uint64_t length;
} geo_span;

enum { GEO_MAX_DEPTH = 256 };
typedef struct geo_lex {
  const oz_source *source;
  const uint8_t *at, *end;
  bool binary;
  uint32_t depth, max_depth;
  uint8_t open[GEO_MAX_DEPTH]; /* '[' or '{' of each level */
  geo_span *tokens;            /* strings that the file refers to by number */
  uint64_t token_count, token_capacity, definitions;
  char *scratch; /* an ASCII string without its escapes */
  size_t scratch_capacity;
} geo_lex;

ooze_result geo_lex_open(geo_lex *lex, const oz_source *source);
void geo_lex_close(geo_lex *lex);
ooze_result geo_next(geo_lex *lex, geo_token *out);
/* The rest of the value that `first` begins. */
ooze_result geo_skip(geo_lex *lex, const geo_token *first);
/* A refusal that says where. */
ooze_result geo_bad(const geo_lex *lex, const char *format, ...) OZ_PRINTF(2, 3);

static inline uint64_t geo_left(const geo_lex *lex) { return (uint64_t)(lex->end - lex->at); }
static inline bool geo_is(const geo_token *token, const char *text) {
  return token->kind == GEO_STRING && token->length == strlen(text) &&
         memcmp(token->text, text, token->length) == 0;
}
/* Bytes of one element of a uniform array; 0 for types that cannot be in one. Bool is packed and
 * answers 0. */
uint32_t geo_type_bytes(uint8_t type);
/* `count` elements from index `first` of a uniform array or of memory of that type, as doubles or
 * integers. */
void geo_convert(uint8_t type, const uint8_t *data, uint64_t count, uint32_t to_type, void *out);

#endif
