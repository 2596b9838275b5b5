/* Bank order: the order of entries in the rows of the start list, where these are places in shared
 * memory.
 *
 * Shared memory serves 8 records of 16 bytes in a cycle if they lie in 8 different groups of banks:
 * the place modulo 8. As found, the k-th neighbours of adjacent particles conflict at random, and a
 * warp takes 13 cycles for 32 pairs of cg_apply where 6 would do. So the k-th entry of row i is,
 * where possible, one of bank group i + k: adjacent threads then access different groups.
 *
 * With one thread a particle the search orders a row while it fills it (neighbour_search.h),
 * otherwise a kernel of its own does (row_order.cu): the same order.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_ROW_ORDER_H
#define OZ_CUDA_ROW_ORDER_H

#include "cuda/cells.h"

namespace OZ_NAMESPACE {

enum {
  BANK_GROUPS = 8,
  MAX_ORDERED = 64, /* entries; longer rows, which are rare, stay as they are */
  /* entries whose bank group is full: some 7 of 45. Rows with more stay as they are */
  MAX_MISFITS = 16
};

/* Columns in which P threads order a row each. */
template <int P> struct row_buffer { uint16_t entry[MAX_ORDERED + MAX_MISFITS][P]; };
template <int P> struct row_column {
#if defined(__CUDACC__) /* its address in shared memory, computed once */
  uint32_t at;
  OZ_D row_column(row_buffer<P> *d, uint32_t t)
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
  row_column(row_buffer<P> *d, uint32_t t) : at(&d->entry[0][t]) {}
  void put(uint32_t slot, uint32_t e) { at[slot * P] = (uint16_t)e; }
  uint32_t get(uint32_t slot) const { return at[slot * P]; }
#endif
  /* Entries k to k + 3, in the layout of a row. */
  OZ_D uint2 four(uint32_t k) const {
    const uint2 w = {get(k) | get(k + 1) << 16, get(k + 2) | get(k + 3) << 16};
    return w;
  }
};

/* One row of `many` entries; phase: bank group of the first. */
struct bank_order {
  uint32_t many, phase;
  uint32_t have, misfits; /* entries by bank group, 4 bits each; entries without a place */

  /* Places the next entry. */
  template <int P> OZ_D void put(row_column<P> to, uint32_t e) {
    const uint32_t nibble = e % BANK_GROUPS * 4,
                   slot = (have >> nibble & 15u) * BANK_GROUPS + (e - phase) % BANK_GROUPS,
                   beyond = MAX_ORDERED + misfits % MAX_MISFITS;
    const bool fits = slot < many;
    have += 1u << nibble;
    if (!fits) misfits++;
    to.put(fits ? slot : beyond, e);
  }
  /* Whether all entries can be placed, when all have been added. */
  OZ_D bool complete() const {
    /* sums of nibble pairs, a byte each */
    uint32_t sum = have - (have >> 4 & 0x0f0f0f0fu) * 15u;
    sum = (sum & 0x00ff00ffu) + (sum >> 8 & 0x00ff00ffu);
    /* more than 15 of a bank group have overflowed */
    return misfits <= MAX_MISFITS && ((sum + (sum >> 16)) & 0xffffu) == many;
  }
  /* Fills the gaps with the entries that have no place. */
  template <int P> OZ_D void settle(row_column<P> to) const {
    if (!misfits) return;
    /* relative to the first entry's */
    const uint32_t turn = phase % BANK_GROUPS * 4,
                   turned = have >> turn | have << (32u - turn) % 32u;
    uint64_t holes = 0; /* a bank group owns every eighth slot, the first ones of which are taken */
    for (uint32_t c = 0; c < BANK_GROUPS; c++) {
      const uint32_t n = turned >> 4 * c & 15u;
      holes |= n < 8 ? 0x0101010101010101ull << c << 8 * n : 0u;
    }
    holes &= ~(uint64_t)0 >> (64 - many);
    OZ_NO_UNROLL
    for (uint32_t m = 0; m < misfits; m++, holes &= holes - 1) {
      const uint32_t low = (uint32_t)holes,
                     slot = low ? lowest(low) : 32u + lowest((uint32_t)(holes >> 32));
      to.put(slot, to.get(MAX_ORDERED + m));
    }
  }
};

} // namespace OZ_NAMESPACE
#endif
