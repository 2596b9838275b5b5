/* Positions along a space-filling curve (Morton's): the interleaved bits of three coordinates.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_MORTON_H
#define OZ_PHYSICS_MORTON_H

#include "physics/lanes.h"

OZ_FN uint64_t oz_spread(uint64_t v) { /* 21 bits to every third bit */
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffffull;
  v = (v | v << 16) & 0x1f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  v = (v | v << 2) & 0x1249249249249249ull;
  return v;
}

OZ_FN uint64_t oz_gathered(uint64_t v) { /* and back */
  v &= 0x1249249249249249ull;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ull;
  v = (v | v >> 4) & 0x100f00f00f00f00full;
  v = (v | v >> 8) & 0x1f0000ff0000ffull;
  v = (v | v >> 16) & 0x1f00000000ffffull;
  v = (v | v >> 32) & 0x1fffff;
  return v;
}
#endif
