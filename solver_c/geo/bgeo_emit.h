/* Writing Houdini's JSON, ASCII or binary, with one set of calls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_GEO_EMIT_H
#define OOZE_IO_GEO_EMIT_H

#include "geo_internal.h"

enum { GEO_EMIT_TOKENS = 256 };
typedef struct geo_emit {
  oz_out *out;
  bool binary;
  bool first; /* nothing yet at this level, so no comma */
  uint32_t depth;
  /* strings that have a number; they must live until the end */
  const char *tokens[GEO_EMIT_TOKENS];
  uint32_t token_count;
} geo_emit;

void geo_emit_open(geo_emit *e, char bracket);
void geo_emit_close(geo_emit *e, char bracket);
void geo_emit_string(geo_emit *e, const char *text); /* keys and names: numbered in binary files */
void geo_emit_text(geo_emit *e, const char *text);   /* any other text */
void geo_emit_int(geo_emit *e, int64_t value);
void geo_emit_real(geo_emit *e, double value);
void geo_emit_bool(geo_emit *e, bool value);
/* Binary: a uniform array of the memory as it is. ASCII: lists of `size` numbers each, or one list
 * if size is 1. */
void geo_emit_block(geo_emit *e, uint32_t type, const void *data, uint64_t count);
void geo_emit_tuples(geo_emit *e, uint32_t type, uint32_t size, const void *data, uint64_t count);
void geo_emit_list(geo_emit *e, uint32_t type, const void *data, uint64_t count);

#endif
