/* The order of entries in the rows of list C, where these hold places in shared memory.
 *
 * Shared memory serves 8 records of 16 bytes at once, if no two of them lie in the same eighth of
 * its banks: place modulo 8 says which. As found, the k-th neighbours of neighbouring particles
 * meet there by chance, and a warp takes 13 turns for 32 pairs of cg_apply where 6 would do. So
 * each row is put into such an order that its k-th entry lies, where it can, in the eighth that
 * follows its own number by k: threads side by side then ask for different ones.
 *
 * With one thread a particle the search does so while it fills a row (look.h), otherwise a kernel
 * of its own (spread.cu): the same order. */
#ifndef OZ_CUDA_DESK_H
#define OZ_CUDA_DESK_H

#include "cuda/cells.h"

namespace OZ_NAMESPACE {

enum {
  EIGHTHS = 8,
  LONGEST = 64, /* entries; longer rows, which are few, stay as they are */
  /* entries that find the places of their eighth taken: some 7 of 45. Rows with more of them stay
     as they are, too */
  MISFITS = 16
};

/* Where P threads put a row each in order, in a column of their own. */
template <int P> struct desk { uint16_t entry[LONGEST + MISFITS][P]; };
template <int P> struct desk_column {
#if defined(__CUDACC__) /* its address in shared memory, which would be made anew for every entry \
                           otherwise */
  uint32_t at;
  OZ_D desk_column(desk<P> *d, uint32_t t)
      : at((uint32_t)__cvta_generic_to_shared(&d->entry[0][t])) {}
  OZ_D void put(uint32_t slot, uint32_t e) {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(at + slot * (2 * P)), "h"((uint16_t)e) : "memory");
  }
  OZ_D uint32_t get(uint32_t slot) const {
    uint16_t e;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(e) : "r"(at + slot * (2 * P)) : "memory");
    return e;
  }
#else
  uint16_t *at;
  desk_column(desk<P> *d, uint32_t t) : at(&d->entry[0][t]) {}
  void put(uint32_t slot, uint32_t e) { at[slot * P] = (uint16_t)e; }
  uint32_t get(uint32_t slot) const { return at[slot * P]; }
#endif
  /* Entries k to k + 3, as they lie in a row. */
  OZ_D uint2 four(uint32_t k) const {
    const uint2 w = {get(k) | get(k + 1) << 16, get(k + 2) | get(k + 3) << 16};
    return w;
  }
};

/* One row of `many` entries; phase: the eighth that the first is to be in. */
struct seats {
  uint32_t many, phase;
  uint32_t have, misfits; /* of each eighth, 4 bits; those that found no place */

  /* Puts the next entry where it belongs. */
  template <int P> OZ_D void put(desk_column<P> to, uint32_t e) {
    const uint32_t nibble = e % EIGHTHS * 4,
                   slot = (have >> nibble & 15u) * EIGHTHS + (e - phase) % EIGHTHS,
                   beyond = LONGEST + misfits % MISFITS;
    const bool fits = slot < many;
    have += 1u << nibble;
    if (!fits) misfits++;
    to.put(fits ? slot : beyond, e);
  }
  /* Whether all have a place, now that all were told. */
  OZ_D bool all_seated() const {
    /* pairs of nibbles, each pair in its byte */
    uint32_t sum = have - (have >> 4 & 0x0f0f0f0fu) * 15u;
    sum = (sum & 0x00ff00ffu) + (sum >> 8 & 0x00ff00ffu);
    /* more than 15 in an eighth were counted wrong */
    return misfits <= MISFITS && ((sum + (sum >> 16)) & 0xffffu) == many;
  }
  /* Those that found no place go where nobody is. */
  template <int P> OZ_D void settle(desk_column<P> to) const {
    if (!misfits) return;
    /* counted from that of the first entry */
    const uint32_t turn = phase % EIGHTHS * 4, turned = have >> turn | have << (32u - turn) % 32u;
    uint64_t holes = 0; /* an eighth has every eighth slot, of which the first are taken */
    for (uint32_t c = 0; c < EIGHTHS; c++) {
      const uint32_t n = turned >> 4 * c & 15u;
      holes |= n < 8 ? 0x0101010101010101ull << c << 8 * n : 0u;
    }
    holes &= ~(uint64_t)0 >> (64 - many);
    OZ_AS_IT_IS
    for (uint32_t m = 0; m < misfits; m++, holes &= holes - 1) {
      const uint32_t low = (uint32_t)holes,
                     slot = low ? lowest(low) : 32u + lowest((uint32_t)(holes >> 32));
      to.put(slot, to.get(LONGEST + m));
    }
  }
};

} // namespace OZ_NAMESPACE
#endif
