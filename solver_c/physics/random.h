/* Counter-based random numbers: a function of (seed, id, k), independent of order, threads and
 * restarts. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_RANDOM_H
#define OZ_PHYSICS_RANDOM_H

#include "physics/lanes.h"

/* 64 well-mixed bits (the finaliser of splitmix64, twice). */
OZ_FN uint64_t oz_random_bits(uint32_t seed, uint64_t id, uint32_t k) {
  uint64_t z = id + 0x9e3779b97f4a7c15ull * ((((uint64_t)seed << 32) | k) + 1u);
  for (int round = 0; round < 2; round++) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
  }
  return z;
}

/* Uniform in [0, 1). */
OZ_FN float oz_random(uint32_t seed, uint64_t id, uint32_t k) {
  /* 24 bits fill a float */
  return (float)(oz_random_bits(seed, id, k) >> 40) * (1.0f / 16777216.0f);
}

#endif
