/* Search by halves. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_SEARCH_H
#define OZ_PHYSICS_SEARCH_H

#include <stdint.h>

/* Lower bound: moves `lo` to the first place of [lo, hi) at which `below`, an expression in `mid`,
 * is false, or to `hi`. `below` holds for the first places alone: the list is in ascending order.
 * Both ends are variables of 32 bits. */
#define OZ_LOWER_BOUND(lo, hi, mid, below)         \
  while ((lo) < (hi)) {                            \
    const uint32_t mid = (lo) + ((hi) - (lo)) / 2; \
    if (below)                                     \
      (lo) = mid + 1;                              \
    else                                           \
      (hi) = mid;                                  \
  }

#endif
