/* The numbers of an attribute. Houdini has three spellings: "tuples", "arrays" and, in binary
 * files, "rawpagedata" with optional packing (a tuple split into parts that are stored page by
 * page) and constant pages (one tuple for a page). SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_read.h"

#include <stdlib.h>

/* ---- Lists of numbers -------------------------------------------------------------------- */

ooze_result geo_numbers_begin(geo_reader *reader, const geo_token *first, const char *what,
                              geo_numbers *out) {
  memset(out, 0, sizeof *out);
  out->block = *first;
  out->uniform = first->kind == GEO_UNIFORM;
  if (!out->uniform && first->kind != GEO_ARRAY)
    return geo_bad(&reader->lex, "%s is no list of numbers", what);
  return OOZE_OK;
}

ooze_result geo_numbers_open(geo_reader *reader, const char *what, geo_numbers *out) {
  geo_token first;
  OZ_TRY_OK(geo_next(&reader->lex, &first));
  return geo_numbers_begin(reader, &first, what, out);
}

ooze_result geo_numbers_expect(geo_reader *reader, const geo_numbers *numbers, uint64_t count) {
  if (numbers->uniform && numbers->block.length - numbers->taken != count)
    return geo_bad(&reader->lex, "a list has %llu numbers; expected %llu",
                   (unsigned long long)(numbers->block.length - numbers->taken),
                   (unsigned long long)count);
  /* A number takes a byte at the very least. */
  if (!numbers->uniform && count > geo_left(&reader->lex))
    return geo_bad(
        &reader->lex,
        "%llu numbers cannot be in the rest of the file; it is truncated or its counts are wrong",
        (unsigned long long)count);
  return OOZE_OK;
}

static void store(uint32_t type, void *out, uint64_t i, const geo_token *token) {
  switch (type) {
  case OOZE_FLOAT32:
    ((float *)out)[i] = (float)token->real;
    break;
  case OOZE_FLOAT64:
    ((double *)out)[i] = token->real;
    break;
  default:
    if (token->kind == GEO_REAL)
      geo_convert(GEO_T_REAL64, (const uint8_t *)&token->real, 1, type,
                  (char *)out + i * oz_type_bytes(type));
    else
      geo_convert(GEO_T_INT64, (const uint8_t *)&token->integer, 1, type,
                  (char *)out + i * oz_type_bytes(type));
  }
}

ooze_result geo_numbers_pull(geo_reader *reader, geo_numbers *numbers, uint64_t count,
                             uint32_t type, void *out) {
  if (numbers->uniform) {
    const geo_token *block = &numbers->block;
    if (count > block->length - numbers->taken)
      return geo_bad(&reader->lex, "a list of numbers is too short");
    if (block->type == GEO_T_BOOL && numbers->taken % 32)
      return geo_bad(&reader->lex, "a list of bits where numbers belong");
    const uint8_t *at =
        block->data + (block->type == GEO_T_BOOL ? numbers->taken / 8
                                                 : numbers->taken * geo_type_bytes(block->type));
    geo_convert(block->type, at, count, type, out);
    numbers->taken += count;
    return OOZE_OK;
  }
  for (uint64_t i = 0; i < count; i++) {
    geo_token token;
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (token.kind == GEO_BOOL)
      token.real = (double)token.integer;
    else if (token.kind != GEO_INT && token.kind != GEO_REAL)
      return geo_bad(&reader->lex, token.kind == GEO_ARRAY_END
                                       ? "a list of numbers is too short"
                                       : "something else where a number belongs");
    store(type, out, i, &token);
  }
  return OOZE_OK;
}

ooze_result geo_numbers_close(geo_reader *reader, geo_numbers *numbers) {
  if (numbers->uniform) {
    if (numbers->taken != numbers->block.length)
      return geo_bad(&reader->lex, "a list of numbers is too long");
    return OOZE_OK;
  }
  geo_token token;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (token.kind != GEO_ARRAY_END) return geo_bad(&reader->lex, "a list of numbers is too long");
  return OOZE_OK;
}

/* ---- Layout of one attribute ------------------------------------------------------------- */

typedef struct layout {
  uint64_t count; /* points */
  uint32_t size, type, parts;
  uint32_t width[OZ_MAX_COMPONENTS]; /* of each part of a tuple; they add up to size */
  uint64_t page_size, pages;
  uint8_t *constant[OZ_MAX_COMPONENTS]; /* a flag a page, or NULL: none is */
} layout;

static bool storage_type(const geo_token *token, uint32_t *out) {
  static const struct {
    const char *name;
    uint32_t type;
  } known[] = {{"fpreal32", OOZE_FLOAT32}, {"fpreal64", OOZE_FLOAT64}, {"fpreal16", OOZE_FLOAT32},
               {"int32", OOZE_INT32},      {"int64", OOZE_INT64},      {"int16", OOZE_INT32},
               {"int8", OOZE_INT32},       {"uint8", OOZE_INT32},      {"uint16", OOZE_INT32},
               {"bool", OOZE_INT32}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (geo_is(token, known[i].name)) {
      *out = known[i].type;
      return true;
    }
  return false;
}

static uint64_t page_points(const layout *l, uint64_t page) {
  uint64_t begin = page * l->page_size;
  return l->count - begin < l->page_size ? l->count - begin : l->page_size;
}

static ooze_result read_packing(geo_reader *reader, layout *l) {
  geo_numbers list;
  OZ_TRY_OK(geo_numbers_open(reader, "packing", &list));
  uint32_t sum = 0;
  l->parts = 0;
  while (sum < l->size) {
    int32_t width;
    OZ_TRY_OK(geo_numbers_pull(reader, &list, 1, OOZE_INT32, &width));
    if (width < 1 || (uint32_t)width > l->size - sum)
      return geo_bad(&reader->lex, "packing does not add up to the tuple size");
    l->width[l->parts++] = (uint32_t)width;
    sum += (uint32_t)width;
  }
  return geo_numbers_close(reader, &list);
}

static ooze_result read_flags(geo_reader *reader, layout *l) {
  geo_token token;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (token.kind != GEO_ARRAY) return geo_bad(&reader->lex, "constantpageflags is no list");
  for (uint32_t part = 0;; part++) {
    OZ_TRY_OK(geo_next(&reader->lex, &token));
    if (token.kind == GEO_ARRAY_END) return OOZE_OK;
    if (part >= l->parts)
      return geo_bad(&reader->lex, "more lists of constant pages than parts of a tuple");
    geo_numbers list;
    OZ_TRY_OK(geo_numbers_begin(reader, &token, "constantpageflags", &list));
    if (list.uniform && list.block.length == 0) continue;
    if (!list.uniform) { /* an empty one means none */
      geo_lex before = reader->lex;
      OZ_TRY_OK(geo_next(&reader->lex, &token));
      if (token.kind == GEO_ARRAY_END) continue;
      /* Only the place goes back: tables that the token may have grown stay. */
      reader->lex.at = before.at;
      reader->lex.depth = before.depth;
    }
    if (l->constant[part]) return geo_bad(&reader->lex, "constant pages are given twice");
    OZ_TRY_OK(geo_numbers_expect(reader, &list, l->pages));
    uint8_t *flags = malloc(l->pages ? (size_t)l->pages : 1);
    if (!flags)
      return oz_fail(reader->source->why, OOZE_ERROR_MEMORY, "%s: out of memory",
                     reader->source->name);
    l->constant[part] = flags;
    int32_t some[1024]; /* a multiple of 32, as bits are pulled by words */
    for (uint64_t page = 0; page < l->pages; page += 1024) {
      uint64_t n = l->pages - page < 1024 ? l->pages - page : 1024;
      OZ_TRY_OK(geo_numbers_pull(reader, &list, n, OOZE_INT32, some));
      for (uint64_t i = 0; i < n; i++) flags[page + i] = some[i] != 0;
    }
    OZ_TRY_OK(geo_numbers_close(reader, &list));
  }
}

/* Where the numbers of a run of points go within the tuples. */
static void scatter(const layout *l, uint32_t offset, uint32_t width, const char *from, bool repeat,
                    uint64_t points, char *to) {
  size_t each = oz_type_bytes(l->type), part = width * each, stride = l->size * each;
  to += offset * each;
  for (uint64_t i = 0; i < points; i++, to += stride, from += repeat ? 0 : part)
    memcpy(to, from, part);
}

static ooze_result read_pages(geo_reader *reader, const layout *l, geo_numbers *list, char *data) {
  enum { PIECE = 1024 };
  bool plain = l->parts == 1 && !l->constant[0];
  if (plain) return geo_numbers_pull(reader, list, l->count * l->size, l->type, data);
  char *piece = malloc(PIECE * l->size * 8u);
  if (!piece)
    return oz_fail(reader->source->why, OOZE_ERROR_MEMORY, "%s: out of memory",
                   reader->source->name);
  size_t stride = (size_t)l->size * oz_type_bytes(l->type);
  ooze_result result = OOZE_OK;
  for (uint64_t page = 0; page < l->pages && result == OOZE_OK; page++) {
    uint64_t points = page_points(l, page);
    char *to = data + page * l->page_size * stride;
    for (uint32_t part = 0, offset = 0; part < l->parts && result == OOZE_OK;
         offset += l->width[part++]) {
      bool constant = l->constant[part] && l->constant[part][page];
      for (uint64_t at = 0; at < points && result == OOZE_OK;) {
        uint64_t n = constant ? points : points - at < PIECE ? points - at : PIECE;
        result =
            geo_numbers_pull(reader, list, (constant ? 1 : n) * l->width[part], l->type, piece);
        if (result == OOZE_OK)
          scatter(l, offset, l->width[part], piece, constant, n, to + at * stride);
        at += n;
      }
    }
  }
  free(piece);
  return result;
}

static uint64_t numbers_in_pages(const layout *l) {
  uint64_t sum = 0;
  for (uint32_t part = 0; part < l->parts; part++) {
    if (!l->constant[part]) {
      sum += l->count * l->width[part];
      continue;
    }
    for (uint64_t page = 0; page < l->pages; page++)
      sum += (l->constant[part][page] ? 1 : page_points(l, page)) * l->width[part];
  }
  return sum;
}

static ooze_result add(geo_reader *reader, const layout *l, ooze_points *into, const char *name,
                       size_t length, uint32_t meaning, void **out) {
  char what[80];
  size_t shown = length < 64 ? length : 64;
  memcpy(what, name, shown);
  what[shown] = 0;
  OZ_TRY_OK(geo_budget(reader, l->count * l->size * oz_type_bytes(l->type), what));
  ooze_message inner;
  ooze_result result = oz_points_add(into, name, length, l->type, l->size, meaning, out, &inner);
  if (result == OOZE_ERROR_MEMORY || result == OOZE_ERROR_LIMIT)
    return oz_fail(reader->source->why, result, "%s: %s", reader->source->name, inner.text);
  return result == OOZE_OK ? OOZE_OK : geo_bad(&reader->lex, "%s", inner.text);
}

/* "tuples": a list of small lists. "arrays": a list a component, of all points. */
static ooze_result read_lists(geo_reader *reader, const layout *l, bool tuples, char *data) {
  size_t each = oz_type_bytes(l->type);
  geo_token token;
  uint64_t lists = tuples ? l->count : l->size;
  for (uint64_t i = 0; i < lists; i++) {
    geo_numbers list;
    OZ_TRY_OK(geo_numbers_open(reader, tuples ? "a tuple" : "an array of values", &list));
    if (tuples || l->size == 1) {
      OZ_TRY_OK(geo_numbers_pull(reader, &list, tuples ? l->size : l->count, l->type,
                                 data + (tuples ? i * l->size * each : 0)));
    } else {
      uint64_t one;
      for (uint64_t k = 0; k < l->count; k++) {
        OZ_TRY_OK(geo_numbers_pull(reader, &list, 1, l->type, &one));
        memcpy(data + (k * l->size + i) * each, &one, each);
      }
    }
    OZ_TRY_OK(geo_numbers_close(reader, &list));
  }
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  return token.kind == GEO_ARRAY_END ? OOZE_OK : geo_bad(&reader->lex, "more values than points");
}

static ooze_result read_tuple_size(geo_reader *reader, layout *l) {
  int64_t size;
  OZ_TRY_OK(geo_int(reader, "the tuple size", 1, OZ_MAX_COMPONENTS, &size));
  if (l->parts) return geo_bad(&reader->lex, "the tuple size is given twice");
  l->size = l->width[0] = (uint32_t)size;
  l->parts = 1;
  return OOZE_OK;
}

static ooze_result read_storage(geo_reader *reader, layout *l, bool late) {
  geo_token token;
  OZ_TRY_OK(geo_next(&reader->lex, &token));
  if (late || !storage_type(&token, &l->type))
    return geo_bad(&reader->lex, "unknown storage '%.*s'",
                   token.kind == GEO_STRING && token.length < 32 ? (int)token.length : 0,
                   token.text ? token.text : "");
  return OOZE_OK;
}

static ooze_result read_page_size(geo_reader *reader, layout *l) {
  int64_t size;
  OZ_TRY_OK(geo_int(reader, "the page size", 1, 1 << 14, &size));
  if (l->page_size) return geo_bad(&reader->lex, "the page size is given twice");
  l->page_size = (uint64_t)size;
  l->pages = l->count / l->page_size + (l->count % l->page_size != 0);
  return OOZE_OK;
}

typedef struct attribute_name {
  const char *text;
  size_t length;
  uint32_t meaning;
} attribute_name;

/* The numbers themselves: as pages (raw), as tuples, or as an array a component. */
static ooze_result read_numbers(geo_reader *reader, layout *l, ooze_points *into,
                                const attribute_name *name, bool raw, bool tuples) {
  void *data;
  geo_numbers list;
  OZ_TRY_OK(geo_numbers_open(reader, "values", &list));
  uint64_t expected = raw ? numbers_in_pages(l) : l->count * l->size;
  if (!raw && list.uniform && l->count > 0)
    return geo_bad(&reader->lex, "a block where lists belong");
  OZ_TRY_OK(geo_numbers_expect(reader, &list, expected));
  OZ_TRY_OK(add(reader, l, into, name->text, name->length, name->meaning, &data));
  if (raw) {
    OZ_TRY_OK(read_pages(reader, l, &list, data));
    return geo_numbers_close(reader, &list);
  }
  return list.uniform ? OOZE_OK : read_lists(reader, l, tuples, data);
}

static ooze_result read_body(geo_reader *reader, layout *l, ooze_points *into,
                             const attribute_name *name) {
  geo_token key;
  bool found = false, typed = false;
  geo_pairs pairs = geo_pairs_open(reader, "values");
  while (geo_pairs_next(&pairs, &key)) {
    bool tuples = geo_is(&key, "tuples"), arrays = geo_is(&key, "arrays"),
         raw = geo_is(&key, "rawpagedata");
    if (geo_is(&key, "size")) {
      OZ_TRY_OK(read_tuple_size(reader, l));
    } else if (geo_is(&key, "storage")) {
      OZ_TRY_OK(read_storage(reader, l, found));
      typed = true;
    } else if (geo_is(&key, "pagesize")) {
      OZ_TRY_OK(read_page_size(reader, l));
    } else if (geo_is(&key, "packing")) {
      if (!l->parts || found || l->constant[0])
        return geo_bad(&reader->lex, "packing is out of place");
      OZ_TRY_OK(read_packing(reader, l));
    } else if (geo_is(&key, "constantpageflags")) {
      if (!l->parts || !l->page_size || found)
        return geo_bad(&reader->lex, "constantpageflags is out of place");
      OZ_TRY_OK(read_flags(reader, l));
    } else if (tuples || arrays || raw) {
      if (!l->parts || !typed || found || (raw && !l->page_size))
        return geo_bad(&reader->lex, "values are out of place");
      OZ_TRY_OK(read_numbers(reader, l, into, name, raw, tuples));
      found = true;
    } else {
      OZ_TRY_OK(geo_skip_value(reader));
    }
  }
  OZ_TRY_OK(pairs.result);
  return found ? OOZE_OK : geo_bad(&reader->lex, "an attribute's values are in no known form");
}

ooze_result geo_read_values(geo_reader *reader, ooze_points *into, const char *name, size_t length,
                            uint32_t meaning) {
  layout l = {0};
  l.count = into->count;
  const attribute_name named = {name, length, meaning};
  ooze_result result = read_body(reader, &l, into, &named);
  for (uint32_t part = 0; part < OZ_MAX_COMPONENTS; part++) free(l.constant[part]);
  return result;
}
