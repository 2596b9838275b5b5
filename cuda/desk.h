/* The order of entries in the rows of list C, where these hold places in shared memory.
 *
 * Shared memory serves 8 records of 16 bytes at once, if no two of them lie in the same eighth of its banks: place modulo 8 says which. As found, the k-th
 * neighbours of neighbouring particles meet there by chance, and a warp takes 13 turns for 32 pairs of cg_apply where 6 would do. So each row is put into such an
 * order that its k-th entry lies, where it can, in the eighth that follows its own number by k: threads side by side then ask for different ones.
 *
 * With one thread a particle the search does so while it fills a row (look.h), otherwise a kernel of its own (spread.cu): the same order. */
#ifndef OZ_CUDA_DESK_H
#define OZ_CUDA_DESK_H

#include "cuda/cells.h"

namespace OZ_NAMESPACE {

enum {
  EIGHTHS = 8,
  LONGEST = 64, /* entries; longer rows, which are few, stay as they are */
  MISFITS = 24  /* entries that find the places of their eighth taken: some 7 of 45. Rows with more of them stay as they are, too */
};

/* Where P threads put a row each in order. */
template <int P> struct desk {
  uint16_t entry[LONGEST + MISFITS][P];
};

/* One row of `many` entries; phase: the eighth that the first is to be in. */
struct seats {
  uint32_t many, phase;
  uint32_t have, misfits; /* of each eighth, 4 bits; those that found no place */

  /* Where on the desk the next entry goes. */
  OZ_D uint32_t next(uint32_t e) {
    const uint32_t nibble = e % EIGHTHS * 4, slot = (have >> nibble & 15u) * EIGHTHS + (e - phase) % EIGHTHS;
    const bool fits = slot < many;
    const uint32_t beyond = LONGEST + (misfits < MISFITS ? misfits : MISFITS - 1u);
    have += 1u << nibble;
    misfits += !fits;
    return fits ? slot : beyond;
  }
  /* Whether all have a place, now that all were told. */
  OZ_D bool all_seated() const {
    uint32_t sum = have - (have >> 4 & 0x0f0f0f0fu) * 15u; /* pairs of nibbles, each pair in its byte */
    sum = (sum & 0x00ff00ffu) + (sum >> 8 & 0x00ff00ffu);
    return misfits <= MISFITS && ((sum + (sum >> 16)) & 0xffffu) == many; /* more than 15 in an eighth were counted wrong */
  }
  /* Those that found no place go where nobody is. */
  template <int P> OZ_D void settle(desk<P> *d, uint32_t t) const {
    if (!misfits) return;
    uint64_t holes = 0; /* an eighth has every eighth slot, of which the first are taken */
    for (uint32_t c = 0; c < EIGHTHS; c++) {
      const uint32_t n = have >> 4 * c & 15u;
      if (n < 8) holes |= 0x0101010101010101ull << 8 * n << (c - phase) % EIGHTHS;
    }
    holes &= ~(uint64_t)0 >> (64 - many);
    for (uint32_t m = 0; m < misfits; m++, holes &= holes - 1) {
      const uint32_t low = (uint32_t)holes, slot = low ? lowest(low) : 32u + lowest((uint32_t)(holes >> 32));
      d->entry[slot][t] = d->entry[LONGEST + m][t];
    }
  }
  /* Entries k to k + 3, as they lie in a row. */
  template <int P> static OZ_D uint2 four(const desk<P> *d, uint32_t t, uint32_t k) {
    const uint2 w = {d->entry[k][t] | (uint32_t)d->entry[k + 1][t] << 16, d->entry[k + 2][t] | (uint32_t)d->entry[k + 3][t] << 16};
    return w;
  }
};

} // namespace OZ_NAMESPACE
#endif
