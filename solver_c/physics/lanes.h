/* The words that every formula is written in. oz_real is a native-width vector of floats under GCC and Clang, a float in
 * the scalar twin and in CUDA. The same text compiles for all of them; vectorising by type beats hoping for a pragma.
 *
 * Three ways to reach memory, because lanes mean different things in the two halves of a gather:
 *   oz_set(a[i])         one particle, the same value in every lane     (begin)
 *   oz_gather*(a, j)     OZ_LANES neighbours given by their indices     (pair)
 *   oz_ld*(a, i)         OZ_LANES consecutive particles from i          (end, map)
 * In scalar builds all three are one plain load. */
#ifndef OZ_PHYSICS_LANES_H
#define OZ_PHYSICS_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define OZ_FN static __device__ __forceinline__
#define OZ_LANES 1
#elif defined(__GNUC__)
#define OZ_FN static inline __attribute__((always_inline, unused))
#else
#define OZ_FN static inline
#endif

#define OZ_ISA_scalar 1
#define OZ_ISA_neon 2
#define OZ_ISA_sse 3
#define OZ_ISA_avx2 4
#define OZ_ISA_avx512 5
#define OZ_CAT2(a, b) a##b
#define OZ_CAT(a, b) OZ_CAT2(a, b)
#ifndef OZ_ISA
#define OZ_ISA scalar
#endif
#define OZ_ISA_IS(n) (OZ_CAT(OZ_ISA_, OZ_ISA) == OZ_ISA_##n)

#if defined(__CUDACC__) || OZ_ISA_IS(scalar)
#include "physics/lanes_scalar.h"
#elif OZ_ISA_IS(neon)
#include "physics/lanes_neon.h"
#else
#include "physics/lanes_x86.h"
#endif

#if OZ_LANES > 1
/* Shared by all vector builds: comparisons give -1 / 0 lanes, so choice is a bit operation. */
OZ_FN oz_real oz_select(oz_mask m, oz_real a, oz_real b) {
  return (oz_real)(((oz_mask)a & m) | ((oz_mask)b & ~m));
}
OZ_FN oz_mask oz_not(oz_mask m) { return ~m; }
OZ_FN oz_real oz_abs(oz_real a) { return (oz_real)((oz_mask)a & 0x7fffffff); }
#endif

OZ_FN oz_real oz_clamp(oz_real a, oz_real lo, oz_real hi) { return oz_min(oz_max(a, lo), hi); }
/* 1 where the value is a number, 0 where it is NaN or infinite. */
OZ_FN oz_mask oz_finite(oz_real a) { return oz_abs(a) < oz_set(3.0e38f); }

#endif
