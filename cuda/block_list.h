/* The list of all neighbours of a block of particles, while it is built in shared memory. Included
 * by neighbour_search.h, inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_BLOCK_LIST_H
#define OZ_CUDA_BLOCK_LIST_H

enum { PAGES = 512 };

/* Pages with neighbours of a block's particles, as a hash table. */
struct pages {
  struct alignas(8) places {
    uint32_t bits;   /* of its 32 particles */
    uint32_t before; /* places before its first */
  };
  uint32_t key[PAGES]; /* page + 1, or 0 */
  places of[PAGES];
  uint16_t used[PAGES];        /* slots, in any order */
  uint32_t full;               /* too many pages: every entry gets a place of its own */
  uint32_t many, total, first; /* used slots; places; first place among those of all blocks */

  static OZ_D uint32_t slot_of(uint32_t page) { return (page * 0x9e3779b1u) >> 23; }
  static OZ_D uint32_t next(uint32_t slot) { return (slot + 1) % PAGES; }
  static OZ_D uint32_t now(const uint32_t *a) { return *static_cast<const volatile uint32_t *>(a); }
  /* A slot for the second pass: on the device its address in shared memory, computed once. */
  OZ_D uint32_t handle(uint32_t slot) const {
#if defined(__CUDACC__)
    return (uint32_t)__cvta_generic_to_shared(of + slot);
#else
    return slot;
#endif
  }
  OZ_D places at(uint32_t handle) const {
#if defined(__CUDACC__)
    places p;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(p.bits), "=r"(p.before)
                 : "r"(handle)
                 : "memory");
    return p;
#else
    return of[handle];
#endif
  }
  OZ_D uint32_t mark(uint32_t page, uint32_t b) { /* returns the handle of the page's slot */
    uint32_t slot = slot_of(page), have = now(key + slot);
    OZ_NO_UNROLL
    for (int tries = 0; have != page + 1; tries++) { /* mostly present */
      if (have == 0) have = oz_atomic_cas(key + slot, 0u, page + 1);
      if (have == 0) {
        used[oz_atomic_add(&many, 1u)] = (uint16_t)slot;
        break;
      }
      if (have == page + 1) break;
      if (tries == 48) {
        full = 1;
        return 0;
      }
      slot = next(slot), have = now(key + slot);
    }
    if (~now(&of[slot].bits) & b) oz_atomic_or(&of[slot].bits, b);
    return handle(slot);
  }
  /* Places on pages before that of slot `mine`, and in all: the part of the k-th of `team` threads.
   */
  OZ_D void count(uint32_t mine, uint32_t k, uint32_t team, uint32_t *sum, uint32_t *all) const {
    *sum = *all = 0;
    for (; k < many; k += team) {
      const uint32_t slot = used[k], n = popcount(of[slot].bits);
      *all += n;
      if (key[slot] < key[mine]) *sum += n;
    }
  }
  OZ_D uint32_t find(uint32_t page) const { /* of a page that is present */
    uint32_t slot = slot_of(page);
    while (key[slot] != page + 1) slot = next(slot);
    return slot;
  }
  OZ_D uint32_t place(uint32_t slot, uint32_t t) const {
    return of[slot].before + popcount(of[slot].bits & ((1u << t) - 1u));
  }
  OZ_D uint32_t place_of(uint32_t k) const { return place(find(k >> 5), k & 31u); }
};
static_assert(PAGES == 512, "slot_of takes 9 bits");

/* Small scenes. */
struct no_list {};
#endif
