/* The vocabulary of all formulas. oz_real is a native-width vector of floats under GCC and Clang,
 * and a float in the scalar twin and in CUDA. The same text compiles for all of them; vectorisation
 * by type is more reliable than by pragma.
 *
 * Three ways to access memory, because lanes mean different things in the two halves of a gather:
 *   oz_set(a[i])         one particle, the same value in every lane     (begin)
 *   oz_gather*(a, j)     OZ_LANES neighbours given by their indices     (pair)
 *   oz_ld*(a, i)         OZ_LANES consecutive particles from i          (end, map)
 * In scalar builds all three are one plain load. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LANES_H
#define OZ_PHYSICS_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

/* The GPU's layout of lists and records, also where its kernels run as plain loops (cuda/shim.h).
 */
#if defined(__CUDACC__) || defined(OZ_CUDA_HOST)
#define OZ_GPU 1
#else
#define OZ_GPU 0
#endif

#if defined(__CUDACC__)
#define OZ_FN static __device__ __forceinline__
#define OZ_FN_RARE static __device__ __noinline__ /* registers of its own */
#define OZ_LANES 1
#elif defined(__GNUC__)
#define OZ_FN static inline __attribute__((always_inline, unused))
#else
#define OZ_FN static inline
#endif
#ifndef OZ_FN_RARE
#define OZ_FN_RARE OZ_FN
#endif

#if defined(__GNUC__) || defined(__CUDACC__)
/* keeps the rare branch out of the hot code */
#define OZ_RARELY(c) __builtin_expect((c) != 0, 0)
#else
#define OZ_RARELY(c) (c)
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

#ifndef OZ_ARMS
#define OZ_ARMS 0
#endif
#if OZ_LANES > 1
/* Shared by all vector builds: comparisons give -1 / 0 lanes, so a selection is a bit operation. */
OZ_FN oz_real oz_select(oz_mask m, oz_real a, oz_real b) {
  return (oz_real)(((oz_mask)a & m) | ((oz_mask)b & ~m));
}

OZ_FN oz_mask oz_not(oz_mask m) { return ~m; }

OZ_FN oz_real oz_abs(oz_real a) { return (oz_real)((oz_mask)a & 0x7fffffff); }
#endif

#ifndef OZ_OUTER_ACC
/* Sums over neighbours of products that are 3-vectors, with one neighbour a lane (lanes_neon.h has
 * one component a lane). Sum of v_j g^T, v the first three floats of records of 4 */
#define OZ_OUTER_ACC 9
#define OZ_MATRIX_ACC 3

OZ_FN void oz_outer_add(oz_real *acc, const oz_real v[3], oz_real gx, oz_real gy, oz_real gz) {
  for (int r = 0; r < 3; r++) {
    acc[3 * r] += v[r] * gx;
    acc[3 * r + 1] += v[r] * gy;
    acc[3 * r + 2] += v[r] * gz;
  }
}

OZ_FN void oz_outer_gather(oz_real *acc, const float *a, const uint32_t *j, oz_real gx, oz_real gy,
                           oz_real gz) {
  oz_real v[4];
  oz_gather4(a, j, 4, 0, v);
  oz_outer_add(acc, v, gx, gy, gz);
}

/* sum of A_j g, A in columns of records of 12 (the GPU has its own, for packed ones: pairs.h) */
#if !OZ_GPU
OZ_FN void oz_matrix_product(oz_real *acc, const float *a, const uint32_t *j, oz_real gx,
                             oz_real gy, oz_real gz) {
  oz_real x[4], y[4], z[4];
  oz_gather4(a, j, 12, 0, x);
  oz_gather4(a, j, 12, 4, y);
  oz_gather4(a, j, 12, 8, z);
  for (int r = 0; r < 3; r++) acc[r] += x[r] * gx + y[r] * gy + z[r] * gz;
}
#endif
/* sum of c (w_i + w_j) (v_j - v_i), v the first three floats of the records and w the fourth */
typedef struct {
  float v[3], w;
} oz_own;

OZ_FN oz_own oz_own_of(const float *record, float w) {
  oz_own r = {{record[0], record[1], record[2]}, w};
  return r;
}

OZ_FN void oz_pull_gather(oz_real *acc, const float *a, const uint32_t *j, const oz_own *own,
                          oz_real c) {
  oz_real v[4];
  oz_gather4(a, j, 4, 0, v);
  oz_real k = c * (own->w + v[3]);
  for (int r = 0; r < 3; r++) acc[r] += k * (v[r] - own->v[r]);
}
#if !OZ_GPU
/* oz_matrix_product, and the sum of w_j g, w the fourth float of the records u (and of the columns'
 * spares) */
OZ_FN void oz_matrix_product_spare(oz_real *acc, const float *a, const float *u, const uint32_t *j,
                                   oz_real gx, oz_real gy, oz_real gz) {
  oz_real w = oz_gather1(u + 3, j, 4);
  oz_matrix_product(acc, a, j, gx, gy, gz);
  acc[3] += w * gx;
  acc[4] += w * gy;
  acc[5] += w * gz;
}
#endif
#endif

/* a^b for a above 0, lane by lane: the same bits in every vector width. */
#if OZ_LANES > 1
OZ_FN oz_real oz_pow(oz_real a, oz_real b) {
  oz_real r = a;
  for (int k = 0; k < OZ_LANES; k++) r[k] = powf(a[k], b[k]);
  return r;
}
#else
OZ_FN oz_real oz_pow(oz_real a, oz_real b) { return powf(a, b); }
#endif

OZ_FN oz_real oz_clamp(oz_real a, oz_real lo, oz_real hi) { return oz_min(oz_max(a, lo), hi); }

/* 1 where the value is finite, 0 where it is NaN or infinite. */
OZ_FN oz_mask oz_finite(oz_real a) { return oz_abs(a) < oz_set(3.0e38f); }

#endif
