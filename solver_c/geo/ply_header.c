/* The header of a .ply file, and walking over its rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ooze_result ply_bad(const oz_source *source, const char *format, ...) {
  va_list list;
  va_start(list, format);
  oz_source_bad(source, "", format, list);
  va_end(list);
  return OOZE_ERROR_FORMAT;
}

uint32_t ply_type_bytes(ply_type type) {
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return bytes[type];
}

bool ply_named(const char *name, size_t length, const char *text) {
  return strlen(text) == length && memcmp(name, text, length) == 0;
}

/* ---- Words of a line --------------------------------------------------------------------- */

typedef struct span {
  const char *text;
  size_t length;
} span;

static bool is(span s, const char *text) { return ply_named(s.text, s.length, text); }

static uint32_t split(span line, span *words, uint32_t most) {
  uint32_t count = 0;
  const char *at = line.text, *end = at + line.length;
  while (at < end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    const char *begin = at;
    while (at < end && *at != ' ' && *at != '\t') at++;
    if (at > begin && count < most)
      words[count++] = (span){begin, (size_t)(at - begin)};
    else if (at > begin)
      return most + 1;
  }
  return count;
}

static bool type_named(span word, ply_type *out) {
  static const char *const old_names[] = {"char", "uchar", "short", "ushort",
                                          "int",  "uint",  "float", "double"};
  static const char *const new_names[] = {"int8",  "uint8",  "int16",   "uint16",
                                          "int32", "uint32", "float32", "float64"};
  for (int i = 0; i < 8; i++)
    if (is(word, old_names[i]) || is(word, new_names[i])) {
      *out = (ply_type)i;
      return true;
    }
  return false;
}

/* ---- The header -------------------------------------------------------------------------- */

static ooze_result read_element(oz_source *source, ply_header *h, const span *words,
                                uint32_t count) {
  int64_t rows;
  const char *at = words[2].text;
  if (count != 3 || !oz_text_int(&at, words[2].text + words[2].length, &rows) || rows < 0 ||
      rows > (INT64_C(1) << 48))
    return ply_bad(source, "an element line needs a name and a count");
  if (h->element_count == PLY_MAX_ELEMENTS)
    return ply_bad(source, "more than %d elements", PLY_MAX_ELEMENTS);
  h->elements[h->element_count++] =
      (ply_element){words[1].text, words[1].length, (uint64_t)rows, h->property_count, 0, 0, 0};
  return OOZE_OK;
}

static ooze_result read_property(oz_source *source, ply_header *h, const span *words,
                                 uint32_t count) {
  ply_property p = {0};
  bool list = count == 5 && is(words[1], "list");
  if (h->element_count == 0) return ply_bad(source, "a property before the first element");
  if (h->property_count == PLY_MAX_PROPERTIES)
    return ply_bad(source, "more than %d properties", PLY_MAX_PROPERTIES);
  if (list ? !type_named(words[2], &p.count_type) || !type_named(words[3], &p.type) ||
                 p.count_type >= PLY_FLOAT
           : count != 3 || !type_named(words[1], &p.type))
    return ply_bad(source, "a property of unknown type '%.*s'",
                   count > 1 && words[1].length < 40 ? (int)words[1].length : 0,
                   count > 1 ? words[1].text : "");
  p.list = list;
  p.name = words[count - 1].text;
  p.length = words[count - 1].length;
  h->properties[h->property_count++] = p;
  h->elements[h->element_count - 1].properties++;
  return OOZE_OK;
}

static void read_comment(oz_source *source, ply_header *h, const span *words, uint32_t count,
                         span line) {
  if (count == 5 && is(words[1], "ooze") && is(words[2], "detail") && words[3].length < 64 &&
      h->detail_count < PLY_MAX_DETAILS) {
    ply_detail *d = &h->details[h->detail_count];
    const char *at = words[4].text;
    memcpy(d->name, words[3].text, words[3].length);
    d->name[words[3].length] = 0;
    if (oz_text_real(&at, at + words[4].length, &d->value)) h->detail_count++;
  }
  if (source->info && count > 3 && is(words[1], "written") && is(words[2], "by")) {
    size_t skip = (size_t)(words[3].text - line.text), length = line.length - skip;
    snprintf(source->info->software, sizeof source->info->software, "%.*s",
             length < 63 ? (int)length : 63, words[3].text);
  }
}

static void measure(ply_header *h, ply_element *e) {
  bool list = false;
  for (uint32_t i = 0; i < e->properties; i++) {
    ply_property *p = &h->properties[e->first + i];
    p->offset = e->row;
    list |= p->list;
    e->row += ply_type_bytes(p->type);
    /* ASCII: a digit and a space each. */
    e->least += h->ascii ? 2 : p->list ? ply_type_bytes(p->count_type) : ply_type_bytes(p->type);
  }
  if (list) e->row = 0;
}

ooze_result ply_read_header(oz_source *source, ply_header *h) {
  memset(h, 0, sizeof *h);
  const char *file = (const char *)source->bytes;
  size_t at = 0;
  bool has_format = false;
  for (uint32_t number = 0;; number++) {
    const char *newline = memchr(file + at, '\n', source->count - at);
    if (!newline)
      return ply_bad(source, number ? "its header has no end_header; it is truncated"
                                    : "no .ply: it does not begin with ply");
    span line = {file + at, (size_t)(newline - (file + at))}, words[5] = {{NULL, 0}};
    at += line.length + 1;
    if (line.length && line.text[line.length - 1] == '\r') line.length--;
    uint32_t count = split(line, words, 5);
    if (number == 0) {
      if (count != 1 || !is(words[0], "ply"))
        return ply_bad(source, "no .ply: it does not begin with ply");
    } else if (count == 0 || is(words[0], "obj_info")) {
      continue;
    } else if (is(words[0], "comment")) {
      read_comment(source, h, words, count, line);
    } else if (is(words[0], "format")) {
      h->ascii = count == 3 && is(words[1], "ascii");
      h->big = count == 3 && is(words[1], "binary_big_endian");
      has_format = count == 3 && (h->ascii || h->big || is(words[1], "binary_little_endian"));
      if (!has_format) return ply_bad(source, "an unknown format line");
    } else if (is(words[0], "element")) {
      OZ_TRY_OK(read_element(source, h, words, count));
    } else if (is(words[0], "property")) {
      OZ_TRY_OK(read_property(source, h, words, count));
    } else if (is(words[0], "end_header")) {
      break;
    } else {
      return ply_bad(source, "header line %u is unknown", number + 1);
    }
  }
  if (!has_format) return ply_bad(source, "its header has no format line");
  for (uint32_t i = 0; i < h->element_count; i++) measure(h, &h->elements[i]);
  h->body = at;
  return OOZE_OK;
}

/* ---- Values ------------------------------------------------------------------------------ */

static uint64_t bits_of(const uint8_t *at, uint32_t bytes, bool big) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; i++) value |= (uint64_t)at[big ? bytes - 1 - i : i] << (8 * i);
  return value;
}

double ply_get_real(const uint8_t *at, ply_type type, bool big) {
  uint64_t bits = bits_of(at, ply_type_bytes(type), big);
  switch (type) {
  case PLY_INT8:
    return (double)(int8_t)bits;
  case PLY_UINT8:
    return (double)(uint8_t)bits;
  case PLY_INT16:
    return (double)(int16_t)bits;
  case PLY_UINT16:
    return (double)(uint16_t)bits;
  case PLY_INT32:
    return (double)(int32_t)bits;
  case PLY_UINT32:
    return (double)(uint32_t)bits;
  case PLY_FLOAT: {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, 4);
    return (double)value;
  }
  default: {
    double value;
    memcpy(&value, &bits, 8);
    return value;
  }
  }
}

int64_t ply_get_int(const uint8_t *at, ply_type type, bool big) {
  double value = ply_get_real(at, type, big);
  return !(value > -9e18) ? INT64_MIN : value > 9e18 ? INT64_MAX : (int64_t)value;
}

bool ply_next(ply_walk *walk, ply_type type, double *out) {
  if (!walk->header->ascii) {
    uint32_t bytes = ply_type_bytes(type);
    if ((uint64_t)(walk->end - walk->at) < bytes) return false;
    *out = ply_get_real(walk->at, type, walk->header->big);
    walk->at += bytes;
    return true;
  }
  const char *at = (const char *)walk->at, *end = (const char *)walk->end;
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  if (!oz_text_real(&at, end, out)) return false;
  /* A number must end in white space: one that ends with the file may have been cut. */
  if (at == end || !(*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) return false;
  walk->at = (const uint8_t *)at;
  return true;
}

ooze_result ply_expect(const ply_walk *walk, const ply_element *element) {
  uint64_t bytes;
  if (element->count && element->properties == 0)
    return ply_bad(walk->source, "an element without properties");
  if (!oz_mul(element->count, element->least, &bytes) || bytes > (uint64_t)(walk->end - walk->at))
    return ply_bad(
        walk->source,
        "%llu of '%.*s' cannot be in the rest of the file; it is truncated or its counts are wrong",
        (unsigned long long)element->count, element->length < 64 ? (int)element->length : 64,
        element->name);
  return OOZE_OK;
}

ooze_result ply_skip_element(ply_walk *walk, const ply_element *element) {
  OZ_TRY_OK(ply_expect(walk, element));
  if (!walk->header->ascii && element->row) {
    walk->at += element->count * element->row;
    return OOZE_OK;
  }
  for (uint64_t i = 0; i < element->count; i++)
    for (uint32_t k = 0; k < element->properties; k++) {
      const ply_property *p = &walk->header->properties[element->first + k];
      double value, count = 1.0;
      if (p->list && !ply_next(walk, p->count_type, &count))
        return ply_bad(walk->source, "ends too early; it is truncated");
      if (!(count >= 0.0)) return ply_bad(walk->source, "a list with a negative count");
      for (double j = 0.0; j < count; j += 1.0)
        if (!ply_next(walk, p->type, &value))
          return ply_bad(walk->source, "ends too early; it is truncated");
    }
  return OOZE_OK;
}
