/* Houdini geometry: keys and values, and the memory that a file may ask for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_read.h"

ooze_result geo_budget(geo_reader *reader, uint64_t bytes, const char *what) {
  uint64_t most = reader->source->limits.max_bytes;
  if (bytes > most || reader->used > most - bytes)
    return oz_fail(reader->source->why, OOZE_ERROR_LIMIT,
                   "%s: %s needs %llu bytes more; the limit is %llu", reader->source->name, what,
                   (unsigned long long)bytes, (unsigned long long)most);
  reader->used += bytes;
  return OOZE_OK;
}

geo_pairs geo_pairs_open(geo_reader *reader, const char *what) {
  geo_token first;
  geo_pairs pairs = {reader, geo_next(&reader->lex, &first)};
  if (pairs.result == OOZE_OK && first.kind != GEO_ARRAY && first.kind != GEO_MAP)
    pairs.result = geo_bad(&reader->lex, "%s is no list of keys and values", what);
  return pairs;
}

bool geo_pairs_next(geo_pairs *pairs, geo_token *key) {
  geo_lex *lex = &pairs->reader->lex;
  if (pairs->result == OOZE_OK) pairs->result = geo_next(lex, key);
  if (pairs->result != OOZE_OK || key->kind == GEO_ARRAY_END || key->kind == GEO_MAP_END)
    return false;
  if (key->kind == GEO_STRING) return true;
  pairs->result = geo_bad(lex, "something else where a key belongs");
  return false;
}

ooze_result geo_skip_value(geo_reader *reader) {
  geo_token token;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  return geo_skip(&reader->lex, &token);
}

ooze_result geo_int(geo_reader *reader, const char *what, int64_t low, int64_t high, int64_t *out) {
  geo_token token;
  *out = 0;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (token.kind != GEO_INT || token.integer < low || token.integer > high)
    return geo_bad(&reader->lex, "%s is %lld; expected %lld to %lld", what,
                   (long long)token.integer, (long long)low, (long long)high);
  *out = token.integer;
  return OOZE_OK;
}
