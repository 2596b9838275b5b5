/* Four lanes of NEON (AArch64). SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LANES_NEON_H
#define OZ_PHYSICS_LANES_NEON_H

#include <arm_neon.h>

#define OZ_LANES 4
typedef float oz_real __attribute__((vector_size(16)));
typedef int32_t oz_mask __attribute__((vector_size(16)));

OZ_FN oz_real oz_set(float a) { return (oz_real)vdupq_n_f32(a); }

OZ_FN int oz_any(oz_mask m) { return vmaxvq_u32((uint32x4_t)m) != 0; }

OZ_FN oz_real oz_min(oz_real a, oz_real b) {
  return (oz_real)vminnmq_f32((float32x4_t)a, (float32x4_t)b);
}

OZ_FN oz_real oz_max(oz_real a, oz_real b) {
  return (oz_real)vmaxnmq_f32((float32x4_t)a, (float32x4_t)b);
}

OZ_FN oz_real oz_sqrt(oz_real a) { return (oz_real)vsqrtq_f32((float32x4_t)a); }

OZ_FN oz_real oz_rsqrt(oz_real a) { /* 8-bit estimate and two Newton steps: 23 bits */
  float32x4_t x = (float32x4_t)a, e = vrsqrteq_f32(x);
  e = vmulq_f32(e, vrsqrtsq_f32(vmulq_f32(x, e), e));
  e = vmulq_f32(e, vrsqrtsq_f32(vmulq_f32(x, e), e));
  return (oz_real)e;
}

/* one Newton step: 16 bits, for weights that need no more */
OZ_FN oz_real oz_rsqrt_fast(oz_real a) {
  float32x4_t x = (float32x4_t)a, e = vrsqrteq_f32(x);
  return (oz_real)vmulq_f32(e, vrsqrtsq_f32(vmulq_f32(x, e), e));
}

OZ_FN float oz_sum(oz_real a) { return vaddvq_f32((float32x4_t)a); }

OZ_FN oz_real oz_ld(const float *a, uint32_t i) { return (oz_real)vld1q_f32(a + i); }

OZ_FN void oz_st(float *a, uint32_t i, oz_real v) { vst1q_f32(a + i, (float32x4_t)v); }

/* Four records in, four components out. */
OZ_FN void oz_transpose4(float32x4_t a, float32x4_t b, float32x4_t c, float32x4_t d, oz_real v[4]) {
  float64x2_t t0 = vreinterpretq_f64_f32(vtrn1q_f32(a, b)),
              t1 = vreinterpretq_f64_f32(vtrn2q_f32(a, b));
  float64x2_t t2 = vreinterpretq_f64_f32(vtrn1q_f32(c, d)),
              t3 = vreinterpretq_f64_f32(vtrn2q_f32(c, d));
  v[0] = (oz_real)vtrn1q_f64(t0, t2);
  v[1] = (oz_real)vtrn1q_f64(t1, t3);
  v[2] = (oz_real)vtrn2q_f64(t0, t2);
  v[3] = (oz_real)vtrn2q_f64(t1, t3);
}

OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float *r = a + (size_t)i * step + at;
  oz_transpose4(vld1q_f32(r), vld1q_f32(r + step), vld1q_f32(r + 2 * step), vld1q_f32(r + 3 * step),
                v);
}

OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  float *r = a + (size_t)i * step + at;
  oz_real t[4];
  oz_transpose4((float32x4_t)v[0], (float32x4_t)v[1], (float32x4_t)v[2], (float32x4_t)v[3], t);
  vst1q_f32(r, (float32x4_t)t[0]);
  vst1q_f32(r + step, (float32x4_t)t[1]);
  vst1q_f32(r + 2 * step, (float32x4_t)t[2]);
  vst1q_f32(r + 3 * step, (float32x4_t)t[3]);
}

OZ_FN void oz_gather4(const float *a, const uint32_t *j, uint32_t step, uint32_t at, oz_real v[4]) {
  a += at;
  oz_transpose4(vld1q_f32(a + (size_t)j[0] * step), vld1q_f32(a + (size_t)j[1] * step),
                vld1q_f32(a + (size_t)j[2] * step), vld1q_f32(a + (size_t)j[3] * step), v);
}

OZ_FN oz_real oz_gather1(const float *a, const uint32_t *j, uint32_t step) {
  oz_real v = {a[(size_t)j[0] * step], a[(size_t)j[1] * step], a[(size_t)j[2] * step],
               a[(size_t)j[3] * step]};
  return v;
}

/* Sums over neighbours of products that are 3-vectors. Here a lane is a component of one neighbour
 * at a time, so nothing is transposed. Two sets of sums (even and odd neighbours) hide the latency
 * of the multiply-adds. */
#define OZ_OUTER_ACC 6
/* Neighbours are given relative to the particle itself: an entry of a row, shifted, is directly
 * part of an address. */
#define OZ_ARMS 1

/* records of 4 floats */
OZ_FN float32x4_t oz_record(const float *a, ptrdiff_t far) { return vld1q_f32(a + 4 * far); }

OZ_FN void oz_gather4_far(const float *a, const ptrdiff_t *far, oz_real v[4]) {
  oz_transpose4(oz_record(a, far[0]), oz_record(a, far[1]), oz_record(a, far[2]),
                oz_record(a, far[3]), v);
}

/* Inputs of gradients: g d = w (x_j - x_i). */
typedef struct {
  const float *x;  /* record of the particle itself */
  float32x4_t own; /* its value */
  oz_real w, near; /* weight; and the bounded weight, for the pull */
} oz_arms;

OZ_FN float32x4_t oz_own_record(const float *x) { return vld1q_f32(x); }

OZ_FN float32x4_t oz_arm(const oz_arms *r, ptrdiff_t far) {
  return vsubq_f32(oz_record(r->x, far), r->own);
}

/* sum over neighbours of v_j g^T, v the first three floats of records of 4; a is the record of the
 * particle itself */
OZ_FN void oz_outer_arms(oz_real *acc, const float *a, const ptrdiff_t *far, const oz_arms *r){
#define OZ_STEP(l, at)                                                                 \
  {                                                                                    \
    const float32x4_t arm = oz_arm(r, far[l]),                                         \
                      v = vmulq_laneq_f32(oz_record(a, far[l]), (float32x4_t)r->w, l); \
    acc[at] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at], v, arm, 0);               \
    acc[at + 1] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at + 1], v, arm, 1);       \
    acc[at + 2] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at + 2], v, arm, 2);       \
  }
    OZ_STEP(0, 0) OZ_STEP(1, 3) OZ_STEP(2, 0) OZ_STEP(3, 3)
#undef OZ_STEP
}
/* Sums are kept for `end` in the order in which they are made, and are transposed there, four
 * particles at a time. `unit` is 1/d: weights are stored times d (rows.h), and the factor is
 * removed here, once a row. */
#define OZ_KEPT(nsum) (nsum < 4 ? 4 : 12) /* floats a particle */
OZ_FN void oz_outer_fold(const oz_real *acc, float unit, float *kept, uint32_t at) {
  for (int c = 0; c < 3; c++)
    vst1q_f32(kept + 12 * at + 4 * c, vmulq_n_f32((float32x4_t)(acc[c] + acc[c + 3]), unit));
}

OZ_FN void oz_outer_unfold(const float *kept, uint32_t at, oz_real *acc) { /* row major */
  for (uint32_t c = 0; c < 3; c++) {
    oz_real v[4];
    oz_ld4(kept, at, 12, 4 * c, v);
    for (int r = 0; r < 3; r++) acc[3 * r + (int)c] = v[r];
  }
}

/* sum over neighbours of A_j g, A in columns of records of 12 */
OZ_FN void oz_matrix_arms(oz_real *acc, const float *a, const ptrdiff_t *far, const oz_arms *r) {
  const float32x4_t w = (float32x4_t)r->w;
  const float32x4_t g0 = vmulq_laneq_f32(oz_arm(r, far[0]), w, 0),
                    g1 = vmulq_laneq_f32(oz_arm(r, far[1]), w, 1);
  const float32x4_t g2 = vmulq_laneq_f32(oz_arm(r, far[2]), w, 2),
                    g3 = vmulq_laneq_f32(oz_arm(r, far[3]), w, 3);
#define OZ_STEP(at, l, c) \
  acc[at] =               \
      (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at], vld1q_f32(a + 12 * far[l] + 4 * c), g##l, c)
  OZ_STEP(0, 0, 0);
  OZ_STEP(1, 1, 0);
  OZ_STEP(2, 2, 0);
  OZ_STEP(3, 3, 0);
  OZ_STEP(4, 0, 1);
  OZ_STEP(5, 1, 1);
  OZ_STEP(0, 2, 1);
  OZ_STEP(1, 3, 1);
  OZ_STEP(2, 0, 2);
  OZ_STEP(3, 1, 2);
  OZ_STEP(4, 2, 2);
  OZ_STEP(5, 3, 2);
#undef OZ_STEP
}

/* oz_matrix_arms, and the sum of w_j g: w is in the columns' spares, its sums in lane 3 */
OZ_FN void oz_spare_arms(oz_real *acc, const float *a, const ptrdiff_t *far, const oz_arms *r) {
#define OZ_STEP(l, at)                                                                        \
  {                                                                                           \
    const float *m = a + 12 * far[l];                                                         \
    const float32x4_t g = vmulq_laneq_f32(oz_arm(r, far[l]), (float32x4_t)r->w, l);           \
    acc[at] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at], vld1q_f32(m), g, 0);             \
    acc[at + 1] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at + 1], vld1q_f32(m + 4), g, 1); \
    acc[at + 2] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at + 2], vld1q_f32(m + 8), g, 2); \
  }
  OZ_STEP(0, 0) OZ_STEP(1, 3) OZ_STEP(2, 0) OZ_STEP(3, 3)
#undef OZ_STEP
}

/* sum over neighbours of c (w_i + w_j) (v_j - v_i), v the first three floats of the records and w
 * the fourth */
/* v_i and -w_i: lane 3 of a difference is then w_j + w_i. A vector, so that loops need not assemble
 * it */
typedef float32x4_t oz_own;

OZ_FN oz_own oz_own_of(const float *record, float w) {
  return vsetq_lane_f32(-w, vld1q_f32(record), 3);
}

OZ_FN void oz_pull_far(oz_real *acc, const float *a, const ptrdiff_t *far, const oz_own *own,
                       oz_real c) {
#define OZ_STEP(l, at)                                                                 \
  {                                                                                    \
    const float32x4_t v = vsubq_f32(oz_record(a, far[l]), *own);                       \
    acc[at] = (oz_real)vfmaq_laneq_f32((float32x4_t)acc[at], vmulq_laneq_f32(v, v, 3), \
                                       (float32x4_t)c, l);                             \
  }
  OZ_STEP(0, 0) OZ_STEP(1, 1) OZ_STEP(2, 0) OZ_STEP(3, 1)
#undef OZ_STEP
}

#define OZ_PULL_ACC 6 /* first of its sums, behind those of the matrix */

/* Product and pull in one; `arm` is the pull's counterpart of unit. */
OZ_FN float32x4_t oz_matrix_sum(const oz_real *acc, float unit, float arm) {
  const oz_real v = ((acc[0] + acc[1]) + (acc[2] + acc[3])) + (acc[4] + acc[5]),
                pull = acc[OZ_PULL_ACC] + acc[OZ_PULL_ACC + 1];
  return vaddq_f32(vmulq_n_f32((float32x4_t)v, unit), vmulq_n_f32((float32x4_t)pull, arm));
}

OZ_FN void oz_matrix_fold(const oz_real *acc, float unit, float arm, float *kept, uint32_t at) {
  vst1q_f32(kept + 4 * at, oz_matrix_sum(acc, unit, arm));
}

OZ_FN void oz_matrix_unfold(const float *kept, uint32_t at, oz_real *acc) {
  oz_real v[4];
  oz_ld4(kept, at, 4, 0, v);
  for (int r = 0; r < 3; r++) acc[r] = v[r];
}

OZ_FN void oz_spare_fold(const oz_real *acc, float unit, float arm, float *kept, uint32_t at) {
  const oz_real x = acc[0] + acc[3], y = acc[1] + acc[4], z = acc[2] + acc[5],
                pull = acc[OZ_PULL_ACC] + acc[OZ_PULL_ACC + 1];
  const oz_real w = {x[3], y[3], z[3], 0.0f};
  vst1q_f32(kept + 12 * at, vmulq_n_f32((float32x4_t)((x + y) + z), unit));
  vst1q_f32(kept + 12 * at + 4, vmulq_n_f32((float32x4_t)w, unit));
  vst1q_f32(kept + 12 * at + 8, vmulq_n_f32((float32x4_t)pull, arm));
}

/* product, spares, pull: three each */
OZ_FN void oz_spare_unfold(const float *kept, uint32_t at, oz_real *acc) {
  for (uint32_t c = 0; c < 3; c++) {
    oz_real v[4];
    oz_ld4(kept, at, 12, 4 * c, v);
    for (int r = 0; r < 3; r++) acc[3 * (int)c + r] = v[r];
  }
}

/* Writes the indices of the lanes in m, packed to the front; returns how many. May write a whole
 * vector. */
OZ_FN uint32_t oz_pack(uint32_t *out, oz_mask m, const uint32_t *j) {
  static const uint8_t shuffle[16][16] = {
#define OZ_B(a) 4 * a, 4 * a + 1, 4 * a + 2, 4 * a + 3
      {OZ_B(0), OZ_B(0), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(0), OZ_B(0), OZ_B(0)},
      {OZ_B(1), OZ_B(0), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(1), OZ_B(0), OZ_B(0)},
      {OZ_B(2), OZ_B(0), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(2), OZ_B(0), OZ_B(0)},
      {OZ_B(1), OZ_B(2), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(1), OZ_B(2), OZ_B(0)},
      {OZ_B(3), OZ_B(0), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(3), OZ_B(0), OZ_B(0)},
      {OZ_B(1), OZ_B(3), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(1), OZ_B(3), OZ_B(0)},
      {OZ_B(2), OZ_B(3), OZ_B(0), OZ_B(0)}, {OZ_B(0), OZ_B(2), OZ_B(3), OZ_B(0)},
      {OZ_B(1), OZ_B(2), OZ_B(3), OZ_B(0)}, {OZ_B(0), OZ_B(1), OZ_B(2), OZ_B(3)}};
#undef OZ_B
  static const uint8_t bits_in[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  static const uint32_t bit[4] = {1, 2, 4, 8};
  const uint32_t k = vaddvq_u32(vandq_u32((uint32x4_t)m, vld1q_u32(bit)));
  const uint8x16_t v = vqtbl1q_u8(vreinterpretq_u8_u32(vld1q_u32(j)), vld1q_u8(shuffle[k]));
  vst1q_u32(out, vreinterpretq_u32_u8(v));
  return bits_in[k];
}

/* Masks of 16 lanes as bits, and four of these as one number: lane 0 is bit 0. The bits are summed
 * only once for all 64. */
typedef uint8x16_t oz_bits;

OZ_FN oz_bits oz_bits16(const oz_mask m[4]) {
  static const uint8_t weight[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint16x8_t a = vuzp1q_u16((uint16x8_t)m[0], (uint16x8_t)m[1]),
                   b = vuzp1q_u16((uint16x8_t)m[2], (uint16x8_t)m[3]);
  return vandq_u8(vuzp1q_u8((uint8x16_t)a, (uint8x16_t)b), vld1q_u8(weight));
}

OZ_FN uint64_t oz_bits_join(const oz_bits b[4]) {
  const uint8x16_t s = vpaddq_u8(vpaddq_u8(b[0], b[1]), vpaddq_u8(b[2], b[3]));
  return vgetq_lane_u64((uint64x2_t)vpaddq_u8(s, s), 0);
}

OZ_FN oz_mask oz_index_ne(const uint32_t *j, uint32_t i) {
  return (oz_mask)vmvnq_u32(vceqq_u32(vld1q_u32(j), vdupq_n_u32(i)));
}

OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  return (oz_real)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(a)));
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  vst1_u16(a, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}
#endif
