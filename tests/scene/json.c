/* JSON where memory is out, with the program's allocator: the same values, or a word of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "cli/json_memory.h"
#include "scene/scene_internal.h"

#include <errno.h>

/* ---- An allocator with faults, and a mark behind each block ---- */

typedef struct block {
  size_t bytes;
  max_align_t begin[];
} block;
static const unsigned char mark[8] = {0x6f, 0x7a, 0x9e, 0x01, 0xc3, 0x55, 0xaa, 0x10};
static long calls, fatal; /* the call that fails; 0: none */
static int lasting;       /* with all after it */
static long overruns, blocks;

static void *faulty_take(size_t bytes) {
  const long n = ++calls;
  block *b = NULL;
  if (fatal && (lasting ? n >= fatal : n == fatal))
    errno = ENOMEM;
  else
    b = malloc(sizeof *b + bytes + sizeof mark);
  if (!b) return NULL;
  b->bytes = bytes;
  memcpy((unsigned char *)b->begin + bytes, mark, sizeof mark);
  blocks++;
  return b->begin;
}

static void checked_give(void *memory) {
  if (!memory) return;
  block *b = (block *)((unsigned char *)memory - offsetof(block, begin));
  overruns += memcmp((unsigned char *)b->begin + b->bytes, mark, sizeof mark) != 0;
  blocks--;
  free(b);
}

static void begin(long failing, int for_ever) {
  calls = 0;
  fatal = failing;
  lasting = for_ever;
}

/* ---- Documents ---- */

/* Strings, keys and a number at each length around the powers of two, at which a token grows. */
static char *document(void) {
  static const int lengths[] = {14, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 1024, 5000};
  char *text = malloc(65536), *at = text;
  at += sprintf(at, "{\"list\": [1, 2.5, -3e-7, true, null, \"\\u00e9\\n\", [[[]]]]");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    at += sprintf(at, ",\n \"%0*d\": [\"%0*d\", {\"n\": \"%0*d\"}", lengths[i], 7, lengths[i] - 1,
                  8, lengths[i] + 1, 9);
    at += sprintf(at, ", 0.%0*d1]", lengths[i] < 256 ? lengths[i] : 256, 0);
  }
  strcpy(at, "}\n");
  return text;
}

/* Every failing call in turn. How many of them could be read all the same is returned. */
static long read_with_faults(const char *text, const json_t *expected, int for_ever) {
  json_error_t error;
  int no_memory = 0;
  long well = 0;
  begin(0, 0);
  json_decref(oz_json_load(text, strlen(text), JSON_REJECT_DUPLICATES, &error, &no_memory));
  const long all = calls;
  for (long k = 1; k <= all; k++) {
    begin(k, for_ever);
    json_t *value = oz_json_load(text, strlen(text), JSON_REJECT_DUPLICATES, &error, &no_memory);
    begin(0, 0);
    CHECK_EQ(value ? no_memory : !no_memory, 0);
    CHECK_EQ(overruns, 0);
    if (value) CHECK(json_equal(value, expected));
    well += value != NULL;
    json_decref(value);
  }
  return well;
}

OZ_CASE(documents_are_whole_or_refused_where_an_allocation_fails) {
  cli_json_memory(faulty_take, checked_give);
  char *text = document();
  json_error_t error;
  int no_memory = 0;
  json_t *expected = oz_json_load(text, strlen(text), 0, &error, &no_memory);
  CHECK(expected != NULL);
  CHECK(read_with_faults(text, expected, 0) > 5); /* tokens that grew by the reserve, at least */
  read_with_faults(text, expected, 1);
  json_decref(expected);
  free(text);
  CHECK_EQ(blocks, 0);
  CHECK_EQ(overruns, 0);
}

/* More than the reserve has room for, freed and taken again. */
OZ_CASE(reserve_serves_again_what_was_given_back) {
  cli_json_memory(faulty_take, checked_give);
  json_malloc_t take;
  json_free_t give;
  json_get_alloc_funcs(&take, &give);
  begin(1, 1);
  for (size_t bytes = 32; bytes <= 131072; bytes *= 2)
    for (int round = 0; round < 3; round++) {
      unsigned char *got[8];
      int count = 0;
      while (count < 8 && (got[count] = take(bytes)) != NULL) {
        memset(got[count], count + 1, bytes);
        count++;
      }
      CHECK_EQ(count, 4); /* json_memory.c */
      for (int k = 0; k < count; k++) CHECK(got[k][0] == k + 1 && got[k][bytes - 1] == k + 1);
      while (count) give(got[--count]);
    }
  CHECK(take(33) == NULL && take(16) == NULL && take(262144) == NULL);
  begin(0, 0);
  give(take(33));
  CHECK_EQ(blocks, 0);
}

OZ_CASE(text_of_a_value_is_freed_by_free_whatever_jansson_allocates_with) {
  cli_json_memory(faulty_take, checked_give);
  json_t *list = json_array();
  for (int i = 0; i < 300; i++) json_array_append_new(list, json_integer(i));
  char *text = oz_json_text(list, JSON_COMPACT);
  CHECK(text && strlen(text) == 2 + 299 + 10 + 2 * 90 + 3 * 200);
  free(text); /* an abort where it were of the other allocator */
  json_decref(list);
  CHECK_EQ(blocks, 0);
}
OZ_TEST_MAIN()
