/* SPDX-License-Identifier: Apache-2.0 */
#include "base/schema.h"

#include <math.h>
#include <stdio.h>

#include "base/structs.h"

typedef struct oz_entry {
  oz_owner owner;
  oz_type type;
  uint32_t offset, bytes;
  const char *name, *unit, *label, *menu, *help;
  double start[4]; /* the default */
  double minimum, maximum, soft_maximum;
} oz_entry;

/* "plane|sphere|...", of the list of shapes. */
static const char shape_words[] =
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) "|" word
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
    ;
#define OZ_SHAPE_MENU (shape_words + 1)
enum {
  OZ_SHAPE_LAST = -1
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) +1
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
};

static const oz_entry entries[] = {
#define OZ_PARAM(...) OZ_PARAM_(__VA_ARGS__) /* first the default's four numbers are told apart */
#define OZ_PARAM_(s, field, kind, unit, label, menu, d0, d1, d2, d3, low, high, soft, help) \
  {OZ_OWNER_##s,                                                                            \
   OZ_TYPE_##kind,                                                                          \
   (uint32_t)offsetof(ooze_##s, field),                                                     \
   (uint32_t)sizeof(((ooze_##s *)0)->field),                                                \
   #field,                                                                                  \
   unit,                                                                                    \
   label,                                                                                   \
   menu,                                                                                    \
   help,                                                                                    \
   {d0, d1, d2, d3},                                                                        \
   low,                                                                                     \
   high,                                                                                    \
   soft},
#include "base/schema.def"
#undef OZ_PARAM
#undef OZ_PARAM_
};
enum { ENTRIES = (int)(sizeof entries / sizeof *entries) };

static const char *const group_names[] = {"solver",   "solver",  "material",
                                          "collider", "emitter", "body"};
static const char *const type_names[] = {"float", "int", "bool", "menu", "vector", "quaternion"};

/* No practical bound (schema.def). */
static const double many = 1e30, count = 4294967295.0;

uint32_t ooze_schema_count(void) { return ENTRIES; }

ooze_result ooze_schema_get(uint32_t index, ooze_schema_entry *out) {
  if (index >= ENTRIES) return OOZE_ERROR_NOT_FOUND;
  const oz_entry *e = &entries[index];
  ooze_schema_entry full;
  ooze_schema_entry_default(&full);
  full.group = group_names[e->owner];
  full.name = e->name;
  full.type = type_names[e->type];
  full.unit = e->unit;
  full.label = e->label;
  full.help = e->help;
  full.menu = e->menu;
  memcpy(full.default_value, e->start, sizeof full.default_value);
  full.minimum = e->minimum;
  full.maximum = e->maximum;
  full.soft_maximum = e->soft_maximum;
  return oz_struct_write(out, &full, sizeof full, "schema entry", NULL);
}

ooze_result oz_schema_place(uint32_t index, oz_field_place *out) {
  if (index >= ENTRIES) return OOZE_ERROR_NOT_FOUND;
  out->owner = entries[index].owner;
  out->type = entries[index].type;
  out->offset = entries[index].offset;
  out->bytes = entries[index].bytes;
  return OOZE_OK;
}

static const oz_entry *find(oz_owner owner, const char *field) {
  for (int i = 0; i < ENTRIES; ++i)
    if (entries[i].owner == owner && strcmp(entries[i].name, field) == 0) return &entries[i];
  return NULL;
}

/* Without a practical bound any finite float will do. */
static void limits(const oz_entry *e, double *low, double *high) {
  *low = e->minimum <= -many ? -3.5e38 : e->minimum;
  *high = e->maximum >= many ? 3.5e38 : e->maximum;
}
static int holds(const oz_entry *e, double value) {
  double low, high;
  limits(e, &low, &high);
  if (value >= low && value <= high) return 1;
  /* a bound that was rounded to single precision on its way is still the bound */
  return (float)value == (float)low || (float)value == (float)high;
}

static const char *range_text(const oz_entry *e, char *text, size_t capacity) {
  if (e->type == OZ_TYPE_BOOL)
    snprintf(text, capacity, "0 or 1");
  else if (e->type == OZ_TYPE_MENU)
    snprintf(text, capacity, "0 to %g (%s)", e->maximum, e->menu);
  else if (e->maximum >= many || (e->type == OZ_TYPE_INT && e->maximum >= count)) {
    if (e->minimum <= -many)
      snprintf(text, capacity, "a finite number");
    else
      snprintf(text, capacity, "%g or more", e->minimum);
  } else
    snprintf(text, capacity, "%g to %g", e->minimum, e->maximum);
  return text;
}

/* Numbers in one field, and the k-th of them. */
static uint32_t numbers(const oz_entry *e) {
  return e->type == OZ_TYPE_VECTOR ? 3 : e->type == OZ_TYPE_QUATERNION ? 4 : 1;
}
static double number(const oz_entry *e, const void *object, uint32_t k) {
  const unsigned char *at = (const unsigned char *)object + e->offset;
  if (e->type == OZ_TYPE_FLOAT || e->type == OZ_TYPE_VECTOR || e->type == OZ_TYPE_QUATERNION) {
    float value;
    memcpy(&value, at + 4 * k, sizeof value);
    return (double)value;
  }
  if (e->bytes == 8) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return (double)value;
}

ooze_result oz_schema_check(oz_owner owner, const void *object, const char *who,
                            ooze_message *why) {
  for (int i = 0; i < ENTRIES; ++i) {
    const oz_entry *e = &entries[i];
    if (e->owner != owner) continue;
    uint32_t n = numbers(e);
    double length2 = 0;
    for (uint32_t k = 0; k < n; ++k) {
      double value = number(e, object, k);
      length2 += value * value;
      if (holds(e, value)) continue; /* false for NaN */
      char range[128], place[16] = "";
      if (n > 1) snprintf(place, sizeof place, "[%u]", (unsigned)k);
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: %s%s is %g%s%s; expected %s", who, e->name,
                     place, value, e->unit[0] ? " " : "", e->unit,
                     range_text(e, range, sizeof range));
    }
    if (e->type == OZ_TYPE_QUATERNION && !(length2 > 1e-20 && length2 < 1e20))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: %s has length %g; expected a quaternion of about length 1", who, e->name,
                     sqrt(length2));
  }
  return OOZE_OK;
}

/* ---- one field by its name ---- */

static const char *const owner_names[] = {"solver_desc",   "params",       "material",
                                          "collider_desc", "emitter_desc", "body_desc"};

static void store(const oz_entry *e, uint32_t k, double value, void *object) {
  unsigned char *at = (unsigned char *)object + e->offset;
  if (e->type == OZ_TYPE_FLOAT || e->type == OZ_TYPE_VECTOR || e->type == OZ_TYPE_QUATERNION) {
    float real = (float)value;
    memcpy(at + 4 * k, &real, sizeof real);
  } else if (e->bytes == 8) {
    uint64_t whole = (uint64_t)value;
    memcpy(at, &whole, sizeof whole);
  } else {
    uint32_t whole = (uint32_t)value;
    memcpy(at, &whole, sizeof whole);
  }
}

static const oz_entry *find_by_name(const char *owner, const char *field) {
  uint32_t o = 0, owners = (uint32_t)(sizeof owner_names / sizeof *owner_names);
  while (o < owners && strcmp(owner_names[o], owner) != 0) o++;
  return o < owners ? find((oz_owner)o, field) : NULL;
}

ooze_result ooze_schema_load(const char *owner, const char *field, const void *object,
                             double out[4]) {
  uint32_t size = 0;
  if (!owner || !field || !object || !out) return OOZE_ERROR_ARGUMENT;
  const oz_entry *e = find_by_name(owner, field);
  if (!e) return OOZE_ERROR_NOT_FOUND;
  memcpy(&size, object, sizeof size);
  if (size < e->offset + e->bytes) return OOZE_ERROR_ARGUMENT;
  for (uint32_t k = 0; k < numbers(e); ++k) out[k] = number(e, object, k);
  return OOZE_OK;
}

ooze_result ooze_schema_store(const char *owner, const char *field, const double *value,
                              void *object, ooze_message *why) {
  uint32_t size = 0;
  if (!owner || !field || !value || !object)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "schema: a pointer is NULL");
  const oz_entry *e = find_by_name(owner, field);
  if (!e)
    return oz_fail(why, OOZE_ERROR_NOT_FOUND, "schema: ooze_%s has no parameter %s", owner, field);
  memcpy(&size, object, sizeof size);
  if (size < e->offset + e->bytes)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "schema: ooze_%s has size %u, too small for %s; fill it with its _default()",
                   owner, (unsigned)size, field);
  for (uint32_t k = 0; k < numbers(e); ++k) {
    char range[128];
    if (!holds(e, value[k]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s is %g%s%s; expected %s", e->label, value[k],
                     e->unit[0] ? " " : "", e->unit, range_text(e, range, sizeof range));
  }
  for (uint32_t k = 0; k < numbers(e); ++k) store(e, k, value[k], object);
  return OOZE_OK;
}

int oz_schema_holds(oz_owner owner, const char *field, double value) {
  const oz_entry *e = find(owner, field);
  return e && holds(e, value);
}

void oz_schema_limits(oz_owner owner, const char *field, double *low, double *high) {
  const oz_entry *e = find(owner, field);
  *low = 1, *high = 0; /* nothing fits */
  if (e) limits(e, low, high);
}

const char *oz_schema_range(oz_owner owner, const char *field, char *text, size_t capacity) {
  const oz_entry *e = find(owner, field);
  if (e) return range_text(e, text, capacity);
  snprintf(text, capacity, "a finite number");
  return text;
}

const char *oz_schema_unit(oz_owner owner, const char *field) {
  const oz_entry *e = find(owner, field);
  return e ? e->unit : "";
}
