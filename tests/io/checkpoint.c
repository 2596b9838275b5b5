/* Checkpoints on disk: whole or refused, and the newest whole one is found.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

static const char meta[] = "{\"frame\":12,\"scene\":\"honey.json\"}";

static unsigned char *block(size_t bytes, int noise) {
  unsigned char *memory = malloc(bytes + 1);
  uint32_t seed = 7;
  for (size_t i = 0; i < bytes; i++)
    memory[i] = noise ? (unsigned char)io_random(&seed) : (unsigned char)(i / 100);
  return memory;
}

static void there_and_back(size_t bytes, int noise) {
  unsigned char *memory = block(bytes, noise);
  void *back = NULL;
  size_t count = 99;
  char *text = NULL;
  CHECK_GOOD(ooze_checkpoint_write(scratch_path("a.0001.ozc"), memory, bytes, meta, why));
  CHECK_GOOD(ooze_checkpoint_read(scratch_path("a.0001.ozc"), NULL, &back, &count, &text, why));
  CHECK_EQ(count, bytes);
  CHECK(memcmp(back, memory, bytes) == 0);
  CHECK_STR(text, meta);
  ooze_io_free(back);
  ooze_io_free(text);
  free(memory);
}

OZ_CASE(a_checkpoint_comes_back) {
  there_and_back(0, 0);
  there_and_back(1, 0);
  there_and_back(100000, 0);
  there_and_back(4 << 20, 1);        /* exactly one chunk, which does not pack */
  there_and_back((9 << 20) + 17, 0); /* three chunks */
  there_and_back((5 << 20) + 3, 1);
}

OZ_CASE(every_cut_is_refused) {
  unsigned char *memory = block(300, 1);
  void *file;
  size_t count;
  CHECK_GOOD(ooze_checkpoint_write(scratch_path("cut.ozc"), memory, 300, meta, why));
  CHECK_GOOD(ooze_file_read(scratch_path("cut.ozc"), 1 << 20, &file, &count, why));
  for (size_t n = 0; n < count; n++) {
    ooze_message why = {""};
    CHECK(ooze_checkpoint_read_memory("cut.ozc", file, n, NULL, NULL, NULL, NULL, &why) ==
              OOZE_ERROR_FORMAT,
          "%zu bytes", n);
    CHECK(why.text[0] != 0);
  }
  ooze_io_free(file);
  free(memory);
}

OZ_CASE(every_flipped_bit_is_noticed) {
  unsigned char *memory = block(200, 0), *file;
  void *read;
  size_t count;
  CHECK_GOOD(ooze_checkpoint_write(scratch_path("flip.ozc"), memory, 200, meta, why));
  CHECK_GOOD(ooze_file_read(scratch_path("flip.ozc"), 1 << 20, &read, &count, why));
  file = read;
  for (size_t bit = 0; bit < count * 8; bit++) {
    file[bit / 8] ^= (unsigned char)(1 << bit % 8);
    CHECK(ooze_checkpoint_read_memory("flip.ozc", file, count, NULL, NULL, NULL, NULL, NULL) < 0,
          "bit %zu", bit);
    file[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  CHECK_GOOD(ooze_checkpoint_read_memory("flip.ozc", file, count, NULL, NULL, NULL, NULL, why));
  ooze_io_free(read);
  free(memory);
}

OZ_CASE(a_limit_is_kept) {
  unsigned char *memory = block(1 << 20, 0);
  ooze_io_limits limits;
  ooze_io_limits_default(&limits);
  limits.max_bytes = (1 << 20) - 1;
  CHECK_GOOD(ooze_checkpoint_write(scratch_path("limit.ozc"), memory, 1 << 20, NULL, why));
  CHECK_REFUSED(ooze_checkpoint_read(scratch_path("limit.ozc"), &limits, NULL, NULL, NULL, why),
                OOZE_ERROR_LIMIT, "1048576");
  free(memory);
}

static int line_count;
static char lines[4][600];
static void keep_line(void *user, const char *line) {
  (void)user;
  snprintf(lines[line_count++ % 4], sizeof lines[0], "%s", line);
}

OZ_CASE(the_newest_whole_one_is_found_and_the_damaged_are_named) {
  char found[1024], folder[600];
  snprintf(folder, sizeof folder, "%s", scratch_folder());
  DIR *all = opendir(folder); /* of the cases before */
  for (struct dirent *e; all && (e = readdir(all)) != NULL;)
    if (e->d_name[0] != '.') unlink(scratch_path(e->d_name));
  if (all) closedir(all);
  CHECK_REFUSED(
      ooze_checkpoint_find_newest(folder, NULL, keep_line, NULL, found, sizeof found, why),
      OOZE_ERROR_NOT_FOUND, "no whole checkpoint");
  for (int frame = 8; frame <= 11; frame++) {
    char name[64];
    /* 9 sorts after 11 as text, before it as a number */
    snprintf(name, sizeof name, "honey.%d.ozc", frame);
    CHECK_GOOD(ooze_checkpoint_write(scratch_path(name), &frame, sizeof frame, meta, why));
  }
  CHECK_GOOD(ooze_checkpoint_find_newest(folder, NULL, keep_line, NULL, found, sizeof found, why));
  CHECK_STR(found, scratch_path("honey.11.ozc"));
  CHECK_EQ(line_count, 0);
  CHECK(truncate(scratch_path("honey.11.ozc"), 70) == 0);
  void *file;
  size_t count;
  CHECK_GOOD(ooze_file_read(scratch_path("honey.10.ozc"), 1 << 20, &file, &count, why));
  ((char *)file)[count - 20] ^= 1;
  io_put(scratch_path("honey.10.ozc"), file, count);
  ooze_io_free(file);
  CHECK_GOOD(ooze_checkpoint_find_newest(folder, NULL, keep_line, NULL, found, sizeof found, why));
  CHECK_STR(found, scratch_path("honey.9.ozc"));
  CHECK_EQ(line_count, 2);
  CHECK(strstr(lines[0], "honey.11.ozc") && strstr(lines[0], "truncated") &&
            strstr(lines[0], "; skipped"),
        "'%s'", lines[0]);
  CHECK(strstr(lines[1], "honey.10.ozc") && strstr(lines[1], "chunk 1 of 1 is damaged; skipped"),
        "'%s'", lines[1]);
  CHECK_REFUSED(
      ooze_checkpoint_find_newest("/nowhere/at/all", NULL, NULL, NULL, found, sizeof found, why),
      OOZE_ERROR_NOT_FOUND, "/nowhere/at/all");
}

OZ_CASE(a_checkpoint_is_described) {
  ooze_file_info info;
  ooze_file_info_default(&info);
  CHECK_GOOD(ooze_checkpoint_write(scratch_path("info.ozc"), meta, 10, meta, why));
  CHECK_GOOD(ooze_file_describe(scratch_path("info.ozc"), NULL, &info, why));
  CHECK_STR(info.kind, "Ooze checkpoint");
  CHECK_STR(info.meta, meta);
}
