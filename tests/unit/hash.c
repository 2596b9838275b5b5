/* The hash of words. SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "check.h"

OZ_CASE(the_split_over_calls_does_not_matter) {
  uint32_t words[257];
  for (uint32_t i = 0; i < 257; ++i) words[i] = i * 2654435761u;
  uint64_t whole = oz_hash_of(words, sizeof words);
  for (uint32_t cut = 0; cut <= 257; cut += 19) {
    oz_hash h;
    oz_hash_begin(&h);
    oz_hash_add(&h, words, cut * 4u);
    oz_hash_add(&h, words + cut, (257 - cut) * 4u);
    CHECK_EQ(oz_hash_end(&h), whole);
  }
}

OZ_CASE(every_bit_and_every_length_counts) {
  unsigned char bytes[64] = {0};
  uint64_t seen[64 * 8 + 65];
  size_t n = 0;
  /* zeros of other lengths */
  for (size_t length = 0; length <= 64; length += 4) seen[n++] = oz_hash_of(bytes, length);
  for (size_t bit = 0; bit < 64 * 8; ++bit) {
    bytes[bit / 8] = (unsigned char)(1u << bit % 8);
    seen[n++] = oz_hash_of(bytes, 64);
    bytes[bit / 8] = 0;
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t k = i + 1; k < n; ++k)
      CHECK(seen[i] != seen[k], "%zu and %zu give the same hash", i, k);
}

OZ_CASE(order_counts) {
  const uint32_t a[2] = {1, 2}, b[2] = {2, 1};
  CHECK(oz_hash_of(a, 8) != oz_hash_of(b, 8));
}

/* State hashes are compared across machines and kept in golden files: the function may not change.
 */
OZ_CASE(the_value_is_what_it_always_was) {
  CHECK(oz_hash_of("viscoelastic", 12) == 0x2e679754fea1cae5u, "it is 0x%llx",
        (unsigned long long)oz_hash_of("viscoelastic", 12));
}

OZ_TEST_MAIN()
