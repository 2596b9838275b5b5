/* Damaged and untrue files are refused, with a sentence, and without much memory.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

#include <sys/resource.h>

OZ_TEST_MAIN()

/* Every prefix of a whole file is refused; `spare` last bytes (a newline) may be missing. */
static void every_cut(const char *name, uint64_t count, size_t spare) {
  ooze_points *points = io_sample(count, 0), *read = NULL;
  void *file;
  size_t bytes;
  CHECK_GOOD(ooze_points_write(scratch_path(name), points, NULL, why));
  CHECK_GOOD(ooze_file_read(scratch_path(name), 1 << 20, &file, &bytes, why));
  for (size_t n = 0; n + spare < bytes; n++) {
    ooze_message why = {""};
    /* a copy of exactly that length, so that a reader that goes too far is caught by the sanitizer
     */
    char *cut = malloc(n ? n : 1);
    memcpy(cut, file, n);
    ooze_result r = ooze_points_read_memory(name, cut, n, NULL, &read, &why);
    CHECK(r == OOZE_ERROR_FORMAT && !read, "%s cut to %zu of %zu bytes: %d %s", name, n, bytes, r,
          why.text);
    CHECK(strstr(why.text, name) != NULL, "'%s'", why.text);
    free(cut);
  }
  CHECK_GOOD(ooze_points_read_memory(name, file, bytes, NULL, &read, why));
  ooze_points_destroy(read);
  ooze_points_destroy(points);
  ooze_io_free(file);
}

OZ_CASE(every_cut_of_a_bgeo_is_refused) { every_cut("cut.bgeo", 3, 0); }
OZ_CASE(every_cut_of_a_geo_is_refused) { every_cut("cut.geo", 3, 1); }
OZ_CASE(every_cut_of_a_bgeo_sc_is_refused) { every_cut("cut.bgeo.sc", 3, 0); }
OZ_CASE(every_cut_of_a_ply_is_refused) { every_cut("cut.ply", 3, 0); }

/* and never more than that: for the sanitizers */
OZ_CASE(every_flipped_byte_of_a_bgeo_is_read_or_refused) {
  static const char *const names[] = {"flip.bgeo", "flip.bgeo.sc", "flip.ply", "flip.geo"};
  ooze_points *points = io_sample(3, 0), *read = NULL;
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  limits.max_bytes = 1 << 24;
  for (int i = 0; i < 4; i++) {
    void *file;
    size_t bytes;
    CHECK_GOOD(ooze_points_write(scratch_path(names[i]), points, NULL, why));
    CHECK_GOOD(ooze_file_read(scratch_path(names[i]), 1 << 20, &file, &bytes, why));
    for (size_t n = 0; n < bytes; n++)
      for (int bit = 0; bit < 8; bit += 3) {
        ((unsigned char *)file)[n] ^= (unsigned char)(1 << bit);
        ooze_message why = {""};
        ooze_result r = ooze_points_read_memory(names[i], file, bytes, &limits, &read, &why);
        CHECK((r == OOZE_OK) == (read != NULL) && (r == OOZE_OK || why.text[0]), "%s byte %zu",
              names[i], n);
        ooze_points_destroy(read);
        read = NULL;
        ((unsigned char *)file)[n] ^= (unsigned char)(1 << bit);
      }
    ooze_io_free(file);
  }
  ooze_points_destroy(points);
}

static void refused(const char *name, const void *bytes, size_t count, ooze_result result,
                    const char *words) {
  ooze_points *points = NULL;
  CHECK_REFUSED(ooze_points_read_memory(name, bytes, count, NULL, &points, why), result, words);
  CHECK(points == NULL);
}
static void refused_text(const char *name, const char *text, ooze_result result,
                         const char *words) {
  refused(name, text, strlen(text), result, words);
}

OZ_CASE(a_missing_file_is_named_with_the_reason) {
  ooze_points *points = NULL;
  CHECK_REFUSED(ooze_points_read("/nowhere/frame.bgeo", NULL, &points, why), OOZE_ERROR_NOT_FOUND,
                "/nowhere/frame.bgeo: cannot open: No such file");
  CHECK_REFUSED(ooze_points_read("frame.abc", NULL, &points, why), OOZE_ERROR_NOT_FOUND,
                "No such file");
  FILE *f = fopen(scratch_path("frame.abc"), "w");
  CHECK(f != NULL);
  fclose(f);
  CHECK_REFUSED(ooze_points_read(scratch_path("frame.abc"), NULL, &points, why),
                OOZE_ERROR_UNSUPPORTED, ".bgeo, .bgeo.sc, .geo or .ply");
  remove(scratch_path("frame.abc"));
  CHECK(mkdir(scratch_path("folder.bgeo"), 0700) == 0);
  CHECK_REFUSED(ooze_points_read(scratch_path("folder.bgeo"), NULL, &points, why), OOZE_ERROR_IO,
                "folder.bgeo");
  rmdir(scratch_path("folder.bgeo"));
  CHECK(mkfifo(scratch_path("pipe.bgeo"), 0600) == 0);
  CHECK_REFUSED(ooze_points_read(scratch_path("pipe.bgeo"), NULL, &points, why), OOZE_ERROR_IO,
                "not a regular file");
}

OZ_CASE(a_wrong_beginning_is_refused) {
  refused_text("a.bgeo", "GIF89a", OOZE_ERROR_FORMAT, "not Houdini geometry");
  refused_text("a.bgeo", "", OOZE_ERROR_FORMAT, "not Houdini geometry");
  refused("a.bgeo", "BgeoV\0\0\0\5", 9, OOZE_ERROR_FORMAT, "Houdini 11");
  refused_text("a.bgeo.sc", "not packed at all, but long enough to be", OOZE_ERROR_FORMAT, "scf1");
  refused_text("a.ply", "plyx\n", OOZE_ERROR_FORMAT, "no .ply");
  refused_text("a.geo", "[\"a\",1]", OOZE_ERROR_FORMAT, "no geometry");
}

#define GEO_HEAD "[\"fileversion\",\"19.5.752\",\"pointcount\","
#define GEO_P(size, storage, values)                                                            \
  ",\"attributes\",[\"pointattributes\",[[[\"scope\",\"public\",\"type\",\"numeric\",\"name\"," \
  "\"P\",\"options\",{}],["                                                                     \
  "\"size\"," size ",\"storage\",\"" storage "\",\"values\",[\"size\"," size                    \
  ",\"storage\",\"" storage "\"," values "]]]]]]"

OZ_CASE(absurd_counts_are_refused_before_memory_is_asked_for) {
  struct rlimit old, tight;
  CHECK(getrlimit(RLIMIT_AS, &old) == 0);
  tight = old;
  (void)tight;
#ifndef IO_ASAN
  tight.rlim_cur =
      (rlim_t)1 << 30; /* a reader that believes the file fails here with another result */
  setrlimit(RLIMIT_AS, &tight);
#endif
  refused_text("a.geo", GEO_HEAD "9000000000" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0]]"),
               OOZE_ERROR_FORMAT, "cannot be in the rest of the file");
  refused_text("a.geo",
               GEO_HEAD "99999999999999999999" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0]]"),
               OOZE_ERROR_FORMAT, "pointcount");
  refused_text("a.geo", GEO_HEAD "-1" GEO_P("3", "fpreal32", "\"tuples\",[]"), OOZE_ERROR_FORMAT,
               "pointcount is -1");
  refused_text("a.geo", GEO_HEAD "1" GEO_P("4000000000", "fpreal32", "\"tuples\",[]"),
               OOZE_ERROR_FORMAT, "tuple size");
  refused_text("a.ply",
               "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float "
               "x\nproperty float "
               "y\nproperty float z\nend_header\n",
               OOZE_ERROR_FORMAT, "cannot be in the rest of the file");
  /* a binary block of 2^60 floats */
  static const char block[] =
      "\x7fNSJb[\x27\x0apointcount\x14\0\0\0\0\0\0\1\0\x27\x01x\x40\x19\xf8\0\0\0\0\0\0\0\x10]";
  refused("a.bgeo", block, sizeof block - 1, OOZE_ERROR_FORMAT, "truncated");
  setrlimit(RLIMIT_AS, &old);
}

OZ_CASE(constant_pages_are_spread_but_only_within_the_limit) {
  static const char text[] =
      GEO_HEAD "2500" GEO_P("3", "fpreal32",
                            "\"packing\",[2,1],\"pagesize\",1024,\"constantpageflags\",[[true,"
                            "true,true],[true,true,true]],\"rawpagedata\",[1,2,3,4,5,6,7,8,9]");
  ooze_points *points = NULL;
  ooze_points_attribute p;
  ooze_io_limits limits;
  ooze_points_attribute_default(&p);
  CHECK_GOOD(ooze_points_read_memory("a.geo", text, sizeof text - 1, NULL, &points, why));
  CHECK(ooze_points_find(points, "P", &p) == OOZE_OK);
  const float *f = p.data;
  CHECK(f[0] == 1 && f[1] == 2 && f[2] == 3 && f[1023 * 3] == 1 && f[1024 * 3] == 4 &&
        f[2499 * 3] == 7 && f[2499 * 3 + 2] == 9);
  ooze_points_destroy(points);
  points = NULL;
  ooze_io_limits_default(&limits);
  limits.max_bytes = 2500 * 12 - 1;
  CHECK_REFUSED(ooze_points_read_memory("a.geo", text, sizeof text - 1, &limits, &points, why),
                OOZE_ERROR_LIMIT, "30000 bytes");
}

OZ_CASE(mixed_constant_and_varying_pages_are_put_together) {
  static const char text[] = GEO_HEAD
      "5" GEO_P("3", "int32",
                "\"packing\",[1,2],\"pagesize\",2,\"constantpageflags\",[[true,false,true],[]],"
                "\"rawpagedata\",[10,20,30,21,31,12,13,22,32,23,33,14,24,34]");
  static const char whole[] = GEO_HEAD
      "5" GEO_P("3", "fpreal64",
                "\"packing\",[1,2],\"pagesize\",2,\"constantpageflags\",[[true,false,true],[]],"
                "\"rawpagedata\",[10,20,30,21,31,12,13,22,32,23,33,14,24,34]");
  static const float expected[15] = {10, 20, 30, 10, 21, 31, 12, 22, 32, 13, 23, 33, 14, 24, 34};
  ooze_points *points = NULL;
  ooze_points_attribute p;
  ooze_points_attribute_default(&p);
  refused("a.geo", text, sizeof text - 1, OOZE_ERROR_FORMAT, "P is 3 of int32");
  CHECK_GOOD(ooze_points_read_memory("a.geo", whole, sizeof whole - 1, NULL, &points, why));
  CHECK(ooze_points_find(points, "P", &p) == OOZE_OK && p.type == OOZE_FLOAT32);
  CHECK(memcmp(p.data, expected, sizeof expected) == 0);
  ooze_points_destroy(points);
}

OZ_CASE(wrong_lists_are_refused) {
  static const char *const cases[][2] = {
      {GEO_HEAD "2" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0]]"), "no list of numbers"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0],[1,1,1]]"), "more values"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,0]]"), "too short"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0,0]]"), "too long"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,\"a\",0]]"), "where a number belongs"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,nan,0]]"), "P of point 0 is not finite"},
      {GEO_HEAD "1" GEO_P("3", "fpreal8", "\"tuples\",[[0,0,0]]"), "fpreal8"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"lumps\",[[0,0,0]]"), "no known form"},
      {GEO_HEAD "0,\"attributes\",[]]", "no P"},
      {GEO_HEAD "1" GEO_P("3", "fpreal32", "\"tuples\",[[0,0,0]]") "]", "closes nothing"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refused_text("a.geo", cases[i][0], OOZE_ERROR_FORMAT, cases[i][1]);
}

OZ_CASE(deep_nesting_is_refused) {
  char *deep = malloc(200000);
  size_t used = (size_t)snprintf(deep, 64, "[\"x\",");
  memset(deep + used, '[', 100000);
  refused("deep.geo", deep, used + 100000, OOZE_ERROR_LIMIT, "64 levels");
  memcpy(deep, "\x7fNSJb[\x27\x01x", 9);
  memset(deep + 9, '{', 100000);
  refused("deep.bgeo", deep, 100009, OOZE_ERROR_LIMIT, "64 levels");
  free(deep);
}

OZ_CASE(a_table_of_strings_stays_as_small_as_the_file) {
  /* each definition names a number 4,096 beyond the last: 5 bytes that would ask for 64 KiB each */
  unsigned char file[8 + 4 * 5] = "\x7fNSJb[", *at = file + 6;
  for (unsigned i = 1; i <= 4; i++) {
    unsigned number = i * 4096;
    *at++ = 0x2b;
    *at++ = 0xf2;
    *at++ = (unsigned char)number;
    *at++ = (unsigned char)(number >> 8);
    *at++ = 0;
  }
  refused("t.bgeo", file, (size_t)(at - file), OOZE_ERROR_FORMAT,
          "string number 8192 is far out of order");
}

OZ_CASE(a_packed_file_is_known_by_its_beginning) {
  ooze_points *points = io_sample(5, 0);
  CHECK_GOOD(ooze_points_write(scratch_path("n.bgeo.sc"), points, NULL, why));
  CHECK(rename(scratch_path("n.bgeo.sc"), scratch_path("n.bgeo")) == 0);
  io_check_file(scratch_path("n.bgeo"), points);
  ooze_points_destroy(points);
}

OZ_CASE(a_file_above_the_limit_is_not_read) {
  ooze_points *points = io_sample(1000, 0), *read = NULL;
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  limits.max_bytes = 50000;
  static const char *const names[] = {"l.bgeo", "l.bgeo.sc", "l.ply", "l.geo"};
  for (int i = 0; i < 4; i++) {
    CHECK_GOOD(ooze_points_write(scratch_path(names[i]), points, NULL, why));
    CHECK_REFUSED(ooze_points_read(scratch_path(names[i]), &limits, &read, why), OOZE_ERROR_LIMIT,
                  "limit");
  }
  ooze_points_destroy(points);
}

OZ_CASE(text_attributes_are_passed_over) {
  static const char text[] =
      "[\"pointcount\",1,\"attributes\",[\"pointattributes\",["
      "[[\"scope\",\"public\",\"type\",\"string\",\"name\",\"name\",\"options\",{}],[\"size\",1,"
      "\"storage\",\"int32\",\"strings\",[\"a \\\"b\\\"\"],"
      "\"indices\",[\"size\",1,\"storage\",\"int32\",\"arrays\",[[0]]]]],"
      "[[\"scope\",\"public\",\"type\",\"numeric\",\"name\",\"P\",\"options\",{}],[\"size\",3,"
      "\"storage\",\"fpreal32\",\"values\","
      "[\"size\",3,\"storage\",\"fpreal32\",\"arrays\",[[1],[2],[3]]]]]]],\"primitives\",[]]";
  ooze_points *points = NULL;
  ooze_points_attribute p;
  ooze_points_attribute_default(&p);
  CHECK_GOOD(ooze_points_read_memory("a.geo", text, sizeof text - 1, NULL, &points, why));
  CHECK_EQ(ooze_points_attribute_count(points), 1);
  CHECK(ooze_points_find(points, "P", &p) == OOZE_OK && ((float *)p.data)[0] == 1 &&
        ((float *)p.data)[2] == 3);
  ooze_points_destroy(points);
}
