/* A number of points and named arrays of that length.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

ooze_result ooze_points_create(uint64_t count, ooze_points **out, ooze_message *why) {
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no place for the points given");
  *out = calloc(1, sizeof **out);
  if (!*out) return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory");
  (*out)->count = count;
  return OOZE_OK;
}

static void release_data(const oz_attribute *a) {
  if (!a->borrowed) free(a->data);
}

void ooze_points_destroy(ooze_points *points) {
  if (!points) return;
  for (uint32_t i = 0; i < points->attribute_count; i++) {
    free(points->attributes[i].name);
    release_data(&points->attributes[i]);
  }
  for (uint32_t i = 0; i < points->detail_count; i++) free(points->details[i].name);
  free(points->attributes);
  free(points->details);
  free(points);
}

uint64_t ooze_points_count(const ooze_points *points) { return points ? points->count : 0; }

uint32_t oz_meaning_of(const char *name, uint32_t components) {
  static const struct {
    const char *name;
    uint32_t components, meaning;
  } known[] = {{"P", 3, OOZE_MEANING_POINT},      {"v", 3, OOZE_MEANING_VECTOR},
               {"force", 3, OOZE_MEANING_VECTOR}, {"N", 3, OOZE_MEANING_NORMAL},
               {"Cd", 3, OOZE_MEANING_COLOR},     {"id", 1, OOZE_MEANING_LABEL},
               {"source", 1, OOZE_MEANING_LABEL}, {"material", 1, OOZE_MEANING_LABEL}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].components == components && strcmp(known[i].name, name) == 0)
      return known[i].meaning;
  return OOZE_MEANING_NUMBER;
}

static bool good_name(const char *name, size_t length) {
  if (length == 0 || length > OZ_MAX_NAME) return false;
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !((c >= '0' && c <= '9') || c == ':' || c == '.')) return false;
  }
  return true;
}

static char *copy_name(const char *name, size_t length) {
  char *copy = malloc(length + 1);
  if (copy) {
    memcpy(copy, name, length);
    copy[length] = 0;
  }
  return copy;
}

/* Room for one more in an array of `each` bytes an entry. */
static bool grow(void **array, uint32_t count, uint32_t *capacity, size_t each) {
  if (count < *capacity) return true;
  uint32_t more = *capacity ? *capacity * 2 : 16;
  void *moved = realloc(*array, more * each);
  if (!moved) return false;
  *array = moved;
  *capacity = more;
  return true;
}

oz_attribute *oz_points_find(const ooze_points *points, const char *name, size_t length) {
  for (uint32_t i = 0; i < points->attribute_count; i++)
    if (strlen(points->attributes[i].name) == length &&
        memcmp(points->attributes[i].name, name, length) == 0)
      return &points->attributes[i];
  return NULL;
}

/* own NULL: memory of the points, cleared */
static ooze_result add(ooze_points *points, const char *name, size_t length, uint32_t type,
                       uint32_t components, uint32_t meaning, const void *own, void **out_data,
                       ooze_message *why) {
  if (out_data) *out_data = NULL;
  int shown = length < 64 ? (int)length : 64;
  if (!good_name(name, length))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "'%.*s' is no attribute name; expected 1 to %d letters, digits, _ . or :", shown,
                   name, OZ_MAX_NAME);
  if (type > OOZE_UINT64 || meaning > OOZE_MEANING_OTHER)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "attribute '%.*s': no such type or meaning", shown,
                   name);
  if (components < 1 || components > OZ_MAX_COMPONENTS)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "attribute '%.*s' has %u components; expected 1 to %d",
                   shown, name, components, OZ_MAX_COMPONENTS);
  if (oz_points_find(points, name, length))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "attribute '%.*s' is there twice", shown, name);
  if (points->attribute_count >= OZ_MAX_ATTRIBUTES)
    return oz_fail(why, OOZE_ERROR_LIMIT, "more than %d attributes", OZ_MAX_ATTRIBUTES);
  uint64_t bytes;
  if (!oz_mul(points->count, (uint64_t)components * oz_type_bytes(type), &bytes) ||
      bytes >= SIZE_MAX)
    return oz_fail(why, OOZE_ERROR_MEMORY, "attribute '%.*s': %llu points are too many", shown,
                   name, (unsigned long long)points->count);
  oz_attribute made = {copy_name(name, length),
                       own ? (void *)own : calloc(bytes ? (size_t)bytes : 1, 1),
                       type,
                       components,
                       meaning,
                       own != NULL};
  if (!made.name || !made.data ||
      !grow((void **)&points->attributes, points->attribute_count, &points->attribute_capacity,
            sizeof made)) {
    free(made.name);
    release_data(&made);
    return oz_fail(why, OOZE_ERROR_MEMORY, "attribute '%.*s': out of memory for %llu bytes", shown,
                   name, (unsigned long long)bytes);
  }
  if (meaning == OOZE_MEANING_NUMBER) made.meaning = oz_meaning_of(made.name, components);
  points->attributes[points->attribute_count++] = made;
  if (out_data) *out_data = made.data;
  return OOZE_OK;
}

ooze_result oz_points_add(ooze_points *points, const char *name, size_t length, uint32_t type,
                          uint32_t components, uint32_t meaning, void **out_data,
                          ooze_message *why) {
  return add(points, name, length, type, components, meaning, NULL, out_data, why);
}

ooze_result oz_points_borrow(ooze_points *points, const char *name, uint32_t type,
                             uint32_t components, const void *data, ooze_message *why) {
  return add(points, name, strlen(name), type, components, OOZE_MEANING_NUMBER, data, NULL, why);
}

ooze_result ooze_points_add(ooze_points *points, const char *name, uint32_t type,
                            uint32_t components, uint32_t meaning, void **out_data,
                            ooze_message *why) {
  if (!points || !name)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points or no attribute name given");
  return oz_points_add(points, name, strlen(name), type, components, meaning, out_data, why);
}

ooze_result ooze_points_remove(ooze_points *points, const char *name) {
  oz_attribute *found = points && name ? oz_points_find(points, name, strlen(name)) : NULL;
  if (!found) return OOZE_ERROR_NOT_FOUND;
  free(found->name);
  release_data(found);
  uint32_t after = points->attribute_count - 1 - (uint32_t)(found - points->attributes);
  memmove(found, found + 1, after * sizeof *found);
  points->attribute_count--;
  return OOZE_OK;
}

uint32_t ooze_points_attribute_count(const ooze_points *points) {
  return points ? points->attribute_count : 0;
}

ooze_result ooze_points_attribute_get(const ooze_points *points, uint32_t index,
                                      ooze_points_attribute *out) {
  if (!points || !out) return OOZE_ERROR_ARGUMENT;
  if (index >= points->attribute_count) return OOZE_ERROR_NOT_FOUND;
  const oz_attribute *a = &points->attributes[index];
  ooze_points_attribute filled = {0, a->type, a->components, a->meaning, a->name, a->data};
  return oz_struct_out(out, &filled, sizeof filled);
}

ooze_result ooze_points_find(const ooze_points *points, const char *name,
                             ooze_points_attribute *out) {
  if (!points || !name) return OOZE_ERROR_ARGUMENT;
  const oz_attribute *found = oz_points_find(points, name, strlen(name));
  if (!found) return OOZE_ERROR_NOT_FOUND;
  return out ? ooze_points_attribute_get(points, (uint32_t)(found - points->attributes), out)
             : OOZE_OK;
}

const float *oz_points_floats(const ooze_points *points, const char *name, uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  if (ooze_points_find(points, name, &a) != OOZE_OK || a.type != OOZE_FLOAT32 ||
      a.components != components)
    return NULL;
  return a.data;
}

/* ---- Details ----------------------------------------------------------------------------- */

ooze_result ooze_points_detail_set(ooze_points *points, const char *name, double value,
                                   ooze_message *why) {
  if (!points || !name || !good_name(name, strlen(name)))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points, or '%.64s' is no name", name ? name : "");
  for (uint32_t i = 0; i < points->detail_count; i++)
    if (strcmp(points->details[i].name, name) == 0) {
      points->details[i].value = value;
      return OOZE_OK;
    }
  if (points->detail_count >= OZ_MAX_ATTRIBUTES)
    return oz_fail(why, OOZE_ERROR_LIMIT, "more than %d detail values", OZ_MAX_ATTRIBUTES);
  oz_detail made = {copy_name(name, strlen(name)), value};
  if (!made.name || !grow((void **)&points->details, points->detail_count, &points->detail_capacity,
                          sizeof made)) {
    free(made.name);
    return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory");
  }
  points->details[points->detail_count++] = made;
  return OOZE_OK;
}

ooze_result ooze_points_detail_get(const ooze_points *points, const char *name, double *out) {
  if (!points || !name || !out) return OOZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < points->detail_count; i++)
    if (strcmp(points->details[i].name, name) == 0) {
      *out = points->details[i].value;
      return OOZE_OK;
    }
  return OOZE_ERROR_NOT_FOUND;
}

uint32_t ooze_points_detail_count(const ooze_points *points) {
  return points ? points->detail_count : 0;
}

ooze_result ooze_points_detail_at(const ooze_points *points, uint32_t index, const char **out_name,
                                  double *out) {
  if (!points || index >= points->detail_count) return OOZE_ERROR_NOT_FOUND;
  if (out_name) *out_name = points->details[index].name;
  if (out) *out = points->details[index].value;
  return OOZE_OK;
}

/* ---- Checks over all values: plain loops that the compiler vectorises -------------------- */

bool oz_fits_int32(const oz_attribute *a, uint64_t count) {
  const uint64_t *values = a->data;
  uint64_t all = 0, n = count * a->components;
  for (uint64_t i = 0; i < n; i++) all |= values[i];
  return all <= INT32_MAX;
}

static bool all_finite(const float *values, uint64_t count) {
  uint32_t bad = 0; /* an exponent of all ones is an infinity or a nan */
  for (uint64_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, values + i, 4);
    bad |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
  }
  return !bad;
}

ooze_result oz_check_finite(const char *file, const char *what, const float *values, uint64_t count,
                            uint32_t components, ooze_message *why) {
  if (all_finite(values, count * components)) return OOZE_OK;
  uint64_t i = 0;
  while (isfinite(values[i])) i++;
  return oz_fail(why, OOZE_ERROR_FORMAT, "%s: %s of point %llu is not finite", file, what,
                 (unsigned long long)(i / components));
}

ooze_result ooze_points_bounds(const ooze_points *points, double out[6]) {
  const oz_attribute *position = points ? oz_points_find(points, "P", 1) : NULL;
  if (!position || position->type != OOZE_FLOAT32 || position->components != 3 ||
      points->count == 0)
    return OOZE_ERROR_NOT_FOUND;
  const float *p = position->data;
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (uint64_t i = 0; i < points->count; i++, p += 3)
    for (int k = 0; k < 3; k++) {
      low[k] = p[k] < low[k] ? p[k] : low[k];
      high[k] = p[k] > high[k] ? p[k] : high[k];
    }
  for (int k = 0; k < 3; k++) {
    if (!(low[k] <= high[k])) return OOZE_ERROR_NOT_FOUND;
    out[k] = (double)low[k];
    out[k + 3] = (double)high[k];
  }
  return OOZE_OK;
}

void oz_info_attribute(ooze_file_info *info, const char *name, size_t length, const char *type,
                       uint32_t components) {
  if (!info) return;
  if (info->attribute_count < OOZE_FILE_ATTRIBUTES) {
    ooze_file_attribute *a = &info->attributes[info->attribute_count];
    snprintf(a->name, sizeof a->name, "%.*s", length < 63 ? (int)length : 63, name);
    snprintf(a->type, sizeof a->type, "%s", type);
    a->components = components;
  }
  info->attribute_count++;
}
