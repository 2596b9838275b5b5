/* Sums that do not depend on the order of their terms, by integer arithmetic. A number is cut into
 * pieces of 50 bits, each a multiple of its unit, and pieces are added up unit by unit: blocks add
 * with atomics, and a reader loads a few words instead of a thousand partial sums.
 *
 * The part of a number below the lowest unit, 2^-132 (2e-40), is dropped. A number of 2^62 (5e18)
 * or more, or NaN, spoils the sum, which is NaN then.
 *
 * The arithmetic is C, so that tests/cuda/exact_sum.c can test it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_EXACT_SUM_H
#define OZ_CUDA_EXACT_SUM_H

#include "physics/lanes.h"

#include <string.h>

enum {
  OZ_EXACT_SUMS = 4, /* in parallel */
  OZ_EXACT_PIECES = 4,
  OZ_EXACT_EACH = OZ_EXACT_SUMS * OZ_EXACT_PIECES,
  OZ_EXACT_COPIES = 8, /* spread the atomics over several addresses */
  OZ_EXACT_BITS = 50,
  /* unit of the lowest piece and bound of a number, as powers of two */
  OZ_EXACT_LOWEST = -132,
  OZ_EXACT_BELOW = 62,
  OZ_EXACT_TERMS = 1 << 13 /* terms of a sum, at most: 2^13 pieces of 50 bits fit */
};
/* of the uppermost piece, in each copy; valid ones add up to less: 44 bits, 2^13 times */
#define OZ_EXACT_SPOILT (-(1ll << 58))

/* By sum, and within a sum by piece from the lowest on. */
typedef struct {
  long long piece[OZ_EXACT_COPIES][OZ_EXACT_EACH];
} oz_exact_sums;

OZ_FN double oz_power_of_two(int e) {
  const uint64_t bits = (uint64_t)(1023 + e) << 52;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
OZ_FN int oz_exact_log(int k) { return OZ_EXACT_LOWEST + k * OZ_EXACT_BITS; } /* of unit k */
OZ_FN int oz_exact_fits(double v) {
  return v < oz_power_of_two(OZ_EXACT_BELOW) && v > -oz_power_of_two(OZ_EXACT_BELOW);
}
/* Piece k of a number in range: the remainder of the pieces above, in its units. Exact. */
OZ_FN long long oz_exact_cut(double v, int k) {
  v -= trunc(v * oz_power_of_two(-oz_exact_log(k + 1))) * oz_power_of_two(oz_exact_log(k + 1));
  return (long long)(v * oz_power_of_two(-oz_exact_log(k)));
}
/* Value of piece k of a sum. */
OZ_FN double oz_exact_told(long long q, int k) {
  return k == OZ_EXACT_PIECES - 1 && q < OZ_EXACT_SPOILT / 2
             ? (double)NAN
             : (double)q * oz_power_of_two(oz_exact_log(k));
}

#if defined(__CUDACC__)
/* Adds v to sum t / OZ_EXACT_PIECES: the piece of thread t, without waiting. copy: any number. */
__device__ __forceinline__ void add_exact(oz_exact_sums *to, uint32_t copy, uint32_t t, double v) {
  long long *at = to->piece[copy % OZ_EXACT_COPIES] + t;
  const int k = (int)(t % OZ_EXACT_PIECES);
  if (!oz_exact_fits(v)) {
    if (k == OZ_EXACT_PIECES - 1) atomicMin(at, OZ_EXACT_SPOILT);
    return;
  }
  const long long q = oz_exact_cut(v, k);
  if (q) atomicAdd(reinterpret_cast<unsigned long long *>(at), (unsigned long long)q);
}
/* By a whole warp: every thread receives the sums. */
__device__ __forceinline__ void read_exact(const oz_exact_sums *from, double total[OZ_EXACT_SUMS]) {
  static_assert(OZ_EXACT_EACH == 16 && OZ_EXACT_COPIES % 2 == 0 && OZ_EXACT_PIECES == 4,
                "two copies at once, a thread for each piece");
  const uint32_t lane = threadIdx.x % 32;
  long long sum = 0;
#pragma unroll
  for (int k = 0; k < OZ_EXACT_COPIES; k += 2) sum += __ldcg(from->piece[k] + lane);
  sum += __shfl_xor_sync(0xffffffffu, sum, OZ_EXACT_EACH);
  double v = oz_exact_told(sum, (int)(lane % OZ_EXACT_PIECES));
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __shfl_xor_sync(0xffffffffu, v, 2);
  for (int r = 0; r < OZ_EXACT_SUMS; r++)
    total[r] = __shfl_sync(0xffffffffu, v, r * OZ_EXACT_PIECES);
}
/* Zero for the next sum, by a whole warp. */
__device__ __forceinline__ void clear_exact(oz_exact_sums *of) {
  for (int k = 0; k < OZ_EXACT_COPIES; k += 2) of->piece[k][threadIdx.x % 32] = 0;
}
#endif
#endif
