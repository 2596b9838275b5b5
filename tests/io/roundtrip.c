/* Written data come back with the same bits, in every format. SPDX-License-Identifier:
 * Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

static const char *const endings[] = {"bgeo", "geo", "bgeo.sc", "ply"};

static void there_and_back(uint64_t count, uint64_t first_id) {
  ooze_points *written = io_sample(count, first_id);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char name[64];
    ooze_points *read = NULL;
    snprintf(name, sizeof name, "cache.%s", endings[i]);
    CHECK_GOOD(ooze_points_write(scratch_path(name), written, NULL, why));
    CHECK_GOOD(ooze_points_read(scratch_path(name), NULL, &read, why));
    io_check_same(written, read);
    ooze_points_destroy(read);
  }
  ooze_points_destroy(written);
}

OZ_CASE(every_type_comes_back_with_its_bits_in_every_format) { there_and_back(5000, 0); }
OZ_CASE(no_points_come_back_as_no_points) { there_and_back(0, 0); }
OZ_CASE(one_point_comes_back) { there_and_back(1, 7); }
OZ_CASE(ids_beyond_32_bits_come_back) { there_and_back(100, UINT64_C(0x7ffffffffffffe00)); }
OZ_CASE(ids_at_the_edge_of_32_bits_come_back) { there_and_back(3, 2147483645u); }
/* over 1 MiB: several chunks of .bgeo.sc */
OZ_CASE(more_than_one_block_comes_back) { there_and_back(30000, 0); }

static uint32_t id_type(uint64_t first_id, const char *name) {
  ooze_points *written = io_sample(4, first_id), *read = NULL;
  ooze_points_attribute id;
  ooze_points_attribute_default(&id);
  CHECK_GOOD(ooze_points_write(scratch_path(name), written, NULL, why));
  CHECK_GOOD(ooze_points_read(scratch_path(name), NULL, &read, why));
  CHECK(ooze_points_find(read, "id", &id) == OOZE_OK);
  CHECK_EQ(id.meaning == OOZE_MEANING_LABEL, 1);
  ooze_points_destroy(written);
  ooze_points_destroy(read);
  return id.type;
}

OZ_CASE(ids_are_int32_where_they_fit_and_int64_where_not) {
  CHECK_EQ(id_type(0, "a.bgeo"), OOZE_INT32);
  CHECK_EQ(id_type(2147483638u, "a.bgeo"), OOZE_INT32); /* 2147483638 + 9 is the largest int32 */
  CHECK_EQ(id_type(2147483639u, "a.bgeo"), OOZE_INT64);
  CHECK_EQ(id_type(2147483639u, "a.geo"), OOZE_INT64);
  CHECK_EQ(id_type(2147483639u, "a.ply"), OOZE_INT64);
}

OZ_CASE(an_id_above_63_bits_is_refused_and_leaves_no_file) {
  ooze_points *points = io_sample(2, UINT64_C(1) << 63);
  CHECK_REFUSED(ooze_points_write(scratch_path("big.bgeo"), points, NULL, why), OOZE_ERROR_ARGUMENT,
                "'id'");
  CHECK(access(scratch_path("big.bgeo"), F_OK) != 0);
  CHECK_GOOD(
      ooze_points_write(scratch_path("big.ply"), points, NULL, why)); /* pairs hold all 64 bits */
  ooze_points_destroy(points);
}

OZ_CASE(the_same_points_give_the_same_bytes) {
  ooze_points *points = io_sample(3000, 0);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char a[64], b[64];
    void *x, *y;
    size_t m, n;
    snprintf(a, sizeof a, "same_a.%s", endings[i]);
    snprintf(b, sizeof b, "same_b.%s", endings[i]);
    CHECK_GOOD(ooze_points_write(scratch_path(a), points, NULL, why));
    CHECK_GOOD(ooze_points_write(scratch_path(b), points, NULL, why));
    CHECK_GOOD(ooze_file_read(scratch_path(a), 1 << 30, &x, &m, why));
    CHECK_GOOD(ooze_file_read(scratch_path(b), 1 << 30, &y, &n, why));
    CHECK(m == n && memcmp(x, y, n) == 0, "%s", endings[i]);
    ooze_io_free(x);
    ooze_io_free(y);
  }
  ooze_points_destroy(points);
}

OZ_CASE(every_compression_level_and_thread_count_comes_back) {
  ooze_points *written = io_sample(20000, 0);
  for (uint32_t level = 0; level < 10; level += 3)
    for (uint32_t threads = 1; threads < 3; threads++) {
      ooze_write_options options;
      ooze_write_options_default(&options);
      options.compression = level;
      options.threads = threads;
      options.sync = 0;
      CHECK_GOOD(ooze_points_write(scratch_path("level.bgeo.sc"), written, &options, why));
      io_check_file(scratch_path("level.bgeo.sc"), written);
    }
  ooze_points_destroy(written);
}

/* Chunks are unpacked side by side; the first bad one is named. */
OZ_CASE(a_chunk_that_does_not_unpack_is_named) {
  ooze_points *points = io_sample(60000, 0), *read = NULL;
  void *memory;
  size_t count;
  CHECK_GOOD(ooze_points_write(scratch_path("bad.bgeo.sc"), points, NULL, why));
  CHECK_GOOD(ooze_file_read(scratch_path("bad.bgeo.sc"), 1 << 30, &memory, &count, why));
  uint8_t *bytes = memory;
  size_t index = 0, begin = 0;
  for (size_t k = 0; k < 8; k++) index = index << 8 | bytes[count - 12 + k];
  CHECK(index >= 32, "the points fill three chunks");
  for (size_t k = 0; k < 8; k++) begin = begin << 8 | bytes[count - 12 - index + k];
  memset(bytes + 12 + begin + 16, 255, 4); /* where the second chunk's first block begins */
  CHECK_REFUSED(ooze_points_read_memory("bad.bgeo.sc", bytes, count, NULL, &read, why),
                OOZE_ERROR_FORMAT, "chunk 2 of");
  CHECK(!read);
  ooze_io_free(memory);
  ooze_points_destroy(points);
}

OZ_CASE(not_a_number_survives_in_binary_and_is_refused_in_text) {
  ooze_points *points = io_sample(3, 0), *read = NULL;
  ooze_points_attribute v;
  ooze_points_attribute_default(&v);
  CHECK(ooze_points_find(points, "v", &v) == OOZE_OK);
  ((float *)v.data)[4] = NAN;
  CHECK_GOOD(ooze_points_write(scratch_path("nan.bgeo"), points, NULL, why));
  CHECK_GOOD(ooze_points_read(scratch_path("nan.bgeo"), NULL, &read, why));
  io_check_same(points, read);
  CHECK_REFUSED(ooze_points_write(scratch_path("nan.geo"), points, NULL, why), OOZE_ERROR_ARGUMENT,
                "'v' of point 1");
  ooze_points_attribute p;
  ooze_points_attribute_default(&p);
  CHECK(ooze_points_find(points, "P", &p) == OOZE_OK);
  ((float *)p.data)[6] = INFINITY;
  CHECK_REFUSED(ooze_points_write(scratch_path("nan.bgeo"), points, NULL, why), OOZE_ERROR_FORMAT,
                "P of point 2 is not finite");
  ooze_points_destroy(points);
  ooze_points_destroy(read);
}

OZ_CASE(a_cache_is_described) {
  ooze_points *points = io_sample(100, 0);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    ooze_file_info info;
    char name[64];
    double box[6];
    snprintf(name, sizeof name, "described.%s", endings[i]);
    CHECK_GOOD(ooze_points_write(scratch_path(name), points, NULL, why));
    ooze_file_info_default(&info);
    CHECK_GOOD(ooze_file_describe(scratch_path(name), NULL, &info, why));
    CHECK_EQ(info.points, 100);
    CHECK_EQ(info.attribute_count, 11);
    CHECK_STR(info.attributes[0].name, "P");
    CHECK_STR(info.attributes[0].type, "float32");
    CHECK_EQ(info.attributes[0].components, 3);
    CHECK(strncmp(info.software, "Ooze ", 5) == 0, "'%s'", info.software);
    CHECK(ooze_points_bounds(points, box) == OOZE_OK && info.has_bounds &&
          memcmp(box, info.bounds, sizeof box) == 0);
    CHECK_EQ(info.detail_count, 2);
  }
  ooze_points_destroy(points);
}

OZ_CASE(bad_attributes_are_refused) {
  ooze_points *points = io_sample(3, 0);
  CHECK_REFUSED(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, NULL, why), OOZE_ERROR_ARGUMENT,
                "twice");
  CHECK_REFUSED(ooze_points_add(points, "a b", OOZE_FLOAT32, 3, 0, NULL, why), OOZE_ERROR_ARGUMENT,
                "'a b'");
  CHECK_REFUSED(ooze_points_add(points, "", OOZE_FLOAT32, 3, 0, NULL, why), OOZE_ERROR_ARGUMENT,
                "name");
  CHECK_REFUSED(ooze_points_add(points, "x", 9, 3, 0, NULL, why), OOZE_ERROR_ARGUMENT, "type");
  CHECK_REFUSED(ooze_points_add(points, "x", OOZE_FLOAT32, 65, 0, NULL, why), OOZE_ERROR_ARGUMENT,
                "65 components");
  CHECK(ooze_points_remove(points, "P") == OOZE_OK &&
        ooze_points_find(points, "P", NULL) == OOZE_ERROR_NOT_FOUND);
  CHECK_REFUSED(ooze_points_write(scratch_path("nop.bgeo"), points, NULL, why), OOZE_ERROR_ARGUMENT,
                "P of 3 floats");
  CHECK_REFUSED(ooze_points_write(scratch_path("nop.ply"), points, NULL, why), OOZE_ERROR_ARGUMENT,
                "P of 3 floats");
  CHECK_REFUSED(ooze_points_write(scratch_path("nop.xyz"), points, NULL, why),
                OOZE_ERROR_UNSUPPORTED, ".bgeo");
  ooze_points_destroy(points);
}
