/* Helpers of the tests of files. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_IO_CHECK_H
#define OZ_TESTS_IO_CHECK_H

#if !defined(_POSIX_C_SOURCE) && !defined(_WIN32)
#error "define _POSIX_C_SOURCE 200809L before the first include"
#endif
#include "check.h"
#include "ooze/ooze_io.h"
#include "scratch.h"

#include <stdbool.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IO_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define IO_ASAN 1
#endif

/* A result that must be good; otherwise its sentence is shown. */
#define CHECK_GOOD(call)                           \
  do {                                             \
    ooze_message why_ = {""};                      \
    ooze_message *why = &why_;                     \
    ooze_result r_ = (call);                       \
    CHECK(r_ == OOZE_OK, "%d: %s", r_, why->text); \
  } while (0)
/* A refusal with this result, whose sentence contains the words. */
#define CHECK_REFUSED(call, result, words)                                                   \
  do {                                                                                       \
    ooze_message why_ = {""};                                                                \
    ooze_message *why = &why_;                                                               \
    ooze_result r_ = (call);                                                                 \
    CHECK(r_ == (result), "%d: %s", r_, why->text);                                          \
    CHECK(strstr(why->text, (words)) != NULL, "'%s' does not say '%s'", why->text, (words)); \
  } while (0)

static inline int io_files_in(const char *path) { /* hidden ones included */
  int count = 0;
  DIR *folder = opendir(path);
  CHECK(folder != NULL);
  for (struct dirent *e; (e = readdir(folder)) != NULL;)
    count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(folder);
  return count;
}

static inline void io_put(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, count, file) == count);
  fclose(file);
}

static inline uint32_t io_random(uint32_t *state) { /* xorshift */
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

/* Points with every type and the attributes that a cache of ours has; the same for the same count
 * and first id. */
static inline ooze_points *io_sample(uint64_t count, uint64_t first_id) {
  static const struct {
    const char *name;
    uint32_t type, components;
  } list[] = {
      {"P", OOZE_FLOAT32, 3},      {"v", OOZE_FLOAT32, 3},       {"id", OOZE_UINT64, 1},
      {"pscale", OOZE_FLOAT32, 1}, {"conform", OOZE_FLOAT32, 6}, {"relaxtime", OOZE_FLOAT32, 1},
      {"source", OOZE_INT32, 1},   {"wide", OOZE_INT64, 2},      {"exact", OOZE_FLOAT64, 2},
      {"negative", OOZE_INT32, 3}, {"N", OOZE_FLOAT32, 3}};
  ooze_points *points = NULL;
  uint32_t seed = 12345;
  CHECK_GOOD(ooze_points_create(count, &points, why));
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    void *data;
    CHECK_GOOD(ooze_points_add(points, list[i].name, list[i].type, list[i].components,
                               OOZE_MEANING_NUMBER, &data, why));
    for (uint64_t k = 0; k < count * list[i].components; k++) {
      uint32_t a = io_random(&seed), b = io_random(&seed);
      switch (list[i].type) {
      case OOZE_FLOAT32:
        ((float *)data)[k] = ((float)a / 4294967296.0f - 0.5f) * (k % 7 ? 3.0f : 1e-20f);
        break;
      case OOZE_FLOAT64:
        ((double *)data)[k] = ((double)a + b / 4294967296.0) * 1e-7 - 100.0;
        break;
      case OOZE_INT32:
        ((int32_t *)data)[k] = (int32_t)a >> (k % 20);
        break;
      case OOZE_INT64:
        ((int64_t *)data)[k] = (int64_t)((uint64_t)a << 32 | b);
        break;
      default:
        ((uint64_t *)data)[k] = first_id + k * 3;
        break;
      }
    }
  }
  ooze_points_attribute p;
  ooze_points_attribute_default(&p);
  /* values that text formats like to lose */
  if (count > 2 && ooze_points_find(points, "v", &p) == OOZE_OK) {
    ((float *)p.data)[0] = -0.0f;
    ((float *)p.data)[1] = 1e-45f;
    ((float *)p.data)[2] = 3.4028235e38f;
    ((float *)p.data)[3] = 0.1f;
    ((float *)p.data)[4] = 16777217.0f;
  }
  CHECK_GOOD(ooze_points_detail_set(points, "time", 1.0 / 24.0, why));
  CHECK_GOOD(ooze_points_detail_set(points, "frame", 1001.0, why));
  return points;
}

/* Every attribute of a in b with the same bits; ids may be narrower in b, P and v and N keep their
 * meaning. */
static inline void io_check_same(const ooze_points *a, const ooze_points *b) {
  CHECK_EQ(ooze_points_count(b), ooze_points_count(a));
  CHECK_EQ(ooze_points_attribute_count(b), ooze_points_attribute_count(a));
  CHECK_EQ(ooze_points_detail_count(b), ooze_points_detail_count(a));
  for (uint32_t i = 0; i < ooze_points_attribute_count(a); i++) {
    ooze_points_attribute x, y;
    ooze_points_attribute_default(&x);
    ooze_points_attribute_default(&y);
    CHECK(ooze_points_attribute_get(a, i, &x) == OOZE_OK);
    CHECK(ooze_points_find(b, x.name, &y) == OOZE_OK, "%s is missing", x.name);
    CHECK_EQ(y.components, x.components);
    uint64_t n = ooze_points_count(a) * x.components;
    if (x.type == OOZE_UINT64) {
      for (uint64_t k = 0; k < n; k++) {
        uint64_t back =
            y.type == OOZE_INT32 ? (uint64_t)((int32_t *)y.data)[k] : ((uint64_t *)y.data)[k];
        CHECK(back == ((uint64_t *)x.data)[k], "%s %llu", x.name, (unsigned long long)k);
      }
      continue;
    }
    CHECK_EQ(y.type, x.type);
    size_t each = x.type == OOZE_FLOAT32 || x.type == OOZE_INT32 ? 4 : 8;
    for (uint64_t k = 0; k < n; k++)
      CHECK(memcmp((char *)x.data + k * each, (char *)y.data + k * each, each) == 0,
            "%s[%llu] has other bits", x.name, (unsigned long long)k);
    if (strcmp(x.name, "P") == 0) CHECK_EQ(y.meaning, OOZE_MEANING_POINT);
    if (strcmp(x.name, "v") == 0) CHECK_EQ(y.meaning, OOZE_MEANING_VECTOR);
  }
  for (uint32_t i = 0; i < ooze_points_detail_count(a); i++) {
    const char *name;
    double value, back;
    CHECK(ooze_points_detail_at(a, i, &name, &value) == OOZE_OK);
    CHECK(ooze_points_detail_get(b, name, &back) == OOZE_OK, "detail %s", name);
    CHECK(memcmp(&value, &back, 8) == 0, "detail %s is %.17g, expected %.17g", name, back, value);
  }
}

/* A file has these points. */
static inline void io_check_file(const char *path, const ooze_points *expected) {
  ooze_points *read = NULL;
  CHECK_GOOD(ooze_points_read(path, NULL, &read, why));
  io_check_same(expected, read);
  ooze_points_destroy(read);
}

#endif
