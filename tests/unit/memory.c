/* Blocks of memory: zeroed, aligned and counted at any size, as those that are given back and taken
 * again are. Large ones lie on large pages where the system has them (base/memory.c), which nothing
 * but time may tell. SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "check.h"

static size_t ones(const unsigned char *block, size_t bytes) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; ++i) n += block[i] != 0;
  return n;
}

OZ_CASE(blocks_are_zero_aligned_and_counted) {
  static const size_t sizes[] = {1, 4096, (8u << 20) - 200, 8u << 20, (8u << 20) + 1, 25000001};
  ooze_hooks hooks;
  oz_memory memory;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  for (int round = 0; round < 3; ++round)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
      unsigned char *block = oz_alloc(&memory, sizes[k]), *next = oz_alloc(&memory, sizes[k]);
      CHECK(block && next, "%zu bytes were refused", sizes[k]);
      CHECK((uintptr_t)block % 64 == 0 && (uintptr_t)next % 64 == 0, "%zu bytes", sizes[k]);
      CHECK_EQ(ones(block, sizes[k]), 0);
      CHECK_EQ(memory.bytes, 2 * sizes[k]);
      memset(block, 0xff, sizes[k]);
      CHECK_EQ(ones(next, sizes[k]), 0);
      oz_free(&memory, block);
      oz_free(&memory, next);
      CHECK_EQ(memory.bytes, 0);
    }
}

OZ_CASE(a_block_that_grows_keeps_what_it_is_told_to) {
  ooze_hooks hooks;
  oz_memory memory;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  void *block = NULL;
  size_t capacity = 0;
  CHECK(oz_grow(&memory, &block, &capacity, 7u << 20, 0));
  memset(block, 0xff, capacity);
  CHECK(oz_grow(&memory, &block, &capacity, 30u << 20, 5u << 20));
  CHECK_EQ(ones(block, capacity), 5u << 20);
  CHECK(oz_grow(&memory, &block, &capacity, 1, 0), "no less");
  CHECK_EQ(capacity, 30u << 20);
  oz_free(&memory, block);
}

OZ_TEST_MAIN()
