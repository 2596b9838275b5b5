/* Four (SSE2), eight (AVX2) or sixteen (AVX-512) lanes on x86.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LANES_X86_H
#define OZ_PHYSICS_LANES_X86_H

#include <immintrin.h>

/* The register that holds all lanes, and the instructions on it by their names without the prefix.
 */
#if OZ_ISA_IS(sse)
#define OZ_LANES 4
#define OZ_MM(op) _mm_##op
typedef __m128 oz_quad;
#elif OZ_ISA_IS(avx2)
#define OZ_LANES 8
#define OZ_MM(op) _mm256_##op
typedef __m256 oz_quad;
#else
#define OZ_LANES 16
#define OZ_MM(op) _mm512_##op
typedef __m512 oz_quad;
#endif
typedef float oz_real __attribute__((vector_size(4 * OZ_LANES)));
typedef int32_t oz_mask __attribute__((vector_size(4 * OZ_LANES)));

OZ_FN oz_real oz_set(float a) { return (oz_real)OZ_MM(set1_ps)(a); }

OZ_FN oz_real oz_sqrt(oz_real a) { return (oz_real)OZ_MM(sqrt_ps)((oz_quad)a); }

#if OZ_LANES < 16
OZ_FN int oz_any(oz_mask m) { return OZ_MM(movemask_ps)((oz_quad)m) != 0; }

OZ_FN oz_real oz_min_or_second(oz_real a, oz_real b) {
  return (oz_real)OZ_MM(min_ps)((oz_quad)a, (oz_quad)b);
}

OZ_FN oz_real oz_max_or_second(oz_real a, oz_real b) {
  return (oz_real)OZ_MM(max_ps)((oz_quad)a, (oz_quad)b);
}

OZ_FN oz_real oz_rsqrt_estimate(oz_real a) { return (oz_real)OZ_MM(rsqrt_ps)((oz_quad)a); }
#else
OZ_FN int oz_any(oz_mask m) { return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0; }

OZ_FN oz_real oz_min(oz_real a, oz_real b) {
  return (oz_real)_mm512_range_ps((__m512)a, (__m512)b, 4);
}

OZ_FN oz_real oz_max(oz_real a, oz_real b) {
  return (oz_real)_mm512_range_ps((__m512)a, (__m512)b, 5);
}

OZ_FN oz_real oz_rsqrt_estimate(oz_real a) { return (oz_real)_mm512_rsqrt14_ps((__m512)a); }
#endif

/* Of a number and a NaN both return the number, as NEON's fminnm, AVX-512's vrange and CUDA's fminf
 * do; minps alone returns its second operand in any case. */
#if OZ_LANES < 16
OZ_FN oz_real oz_number_or(oz_real m, oz_real a, oz_real b) {
  oz_mask is_number = b == b;
  return (oz_real)(((oz_mask)m & is_number) | ((oz_mask)a & ~is_number));
}

OZ_FN oz_real oz_min(oz_real a, oz_real b) { return oz_number_or(oz_min_or_second(a, b), a, b); }

OZ_FN oz_real oz_max(oz_real a, oz_real b) { return oz_number_or(oz_max_or_second(a, b), a, b); }
#endif

OZ_FN oz_real oz_rsqrt(oz_real a) { /* 12 or 14 bits and one Newton step: 23 bits */
  oz_real e = oz_rsqrt_estimate(a);
  return e * (1.5f - (0.5f * a) * e * e);
}

OZ_FN oz_real oz_rsqrt_fast(oz_real a) { return oz_rsqrt(a); }

/* Lanes are added in one fixed tree: halves onto halves, down to one. */
OZ_FN float oz_sum4(__m128 a) {
  __m128 b = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_shuffle_ps(b, b, 1)));
}
#if OZ_LANES == 4
OZ_FN float oz_sum(oz_real a) { return oz_sum4((__m128)a); }
#elif OZ_LANES == 8
OZ_FN float oz_sum(oz_real a) {
  return oz_sum4(
      _mm_add_ps(_mm256_castps256_ps128((__m256)a), _mm256_extractf128_ps((__m256)a, 1)));
}
#else
OZ_FN float oz_sum(oz_real a) {
  __m256 lo = _mm512_castps512_ps256((__m512)a), hi = _mm512_extractf32x8_ps((__m512)a, 1);
  __m256 s = _mm256_add_ps(lo, hi);
  return oz_sum4(_mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1)));
}
#endif

OZ_FN oz_real oz_ld(const float *a, uint32_t i) {
  oz_real v;
  __builtin_memcpy(&v, a + i, sizeof v);
  return v;
}

OZ_FN void oz_st(float *a, uint32_t i, oz_real v) { __builtin_memcpy(a + i, &v, sizeof v); }

/* Transposes 4x4 blocks inside each 128-bit part: v[c] holds component c of the records, 4 records
 * a part. */
#if OZ_LANES == 4
OZ_FN oz_quad oz_quad_of(const float *const r[OZ_LANES], int k) { return _mm_loadu_ps(r[k]); }
#elif OZ_LANES == 8
OZ_FN oz_quad oz_quad_of(const float *const r[OZ_LANES], int k) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(r[k])), _mm_loadu_ps(r[k + 4]),
                              1);
}
#else
OZ_FN oz_quad oz_quad_of(const float *const r[OZ_LANES], int k) {
  __m512 q = _mm512_castps128_ps512(_mm_loadu_ps(r[k]));
  q = _mm512_insertf32x4(q, _mm_loadu_ps(r[k + 4]), 1);
  q = _mm512_insertf32x4(q, _mm_loadu_ps(r[k + 8]), 2);
  return _mm512_insertf32x4(q, _mm_loadu_ps(r[k + 12]), 3);
}
#endif
OZ_FN void oz_transpose(oz_quad a, oz_quad b, oz_quad c, oz_quad d, oz_real v[4]) {
  oz_quad ab = OZ_MM(unpacklo_ps)(a, b), cd = OZ_MM(unpacklo_ps)(c, d);
  oz_quad AB = OZ_MM(unpackhi_ps)(a, b), CD = OZ_MM(unpackhi_ps)(c, d);
  v[0] = (oz_real)OZ_MM(shuffle_ps)(ab, cd, 0x44);
  v[1] = (oz_real)OZ_MM(shuffle_ps)(ab, cd, 0xee);
  v[2] = (oz_real)OZ_MM(shuffle_ps)(AB, CD, 0x44);
  v[3] = (oz_real)OZ_MM(shuffle_ps)(AB, CD, 0xee);
}

OZ_FN void oz_quads(const float *const r[OZ_LANES], oz_real v[4]) {
  oz_transpose(oz_quad_of(r, 0), oz_quad_of(r, 1), oz_quad_of(r, 2), oz_quad_of(r, 3), v);
}

OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float *r[OZ_LANES];
  for (int k = 0; k < OZ_LANES; k++) r[k] = a + (size_t)(i + (uint32_t)k) * step + at;
  oz_quads(r, v);
}

OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  oz_real t[4]; /* a 4x4 transpose is its own inverse: part p of t[k] is record k + 4 p */
  oz_transpose((oz_quad)v[0], (oz_quad)v[1], (oz_quad)v[2], (oz_quad)v[3], t);
  for (int k = 0; k < OZ_LANES; k++)
    __builtin_memcpy(a + (size_t)(i + (uint32_t)k) * step + at,
                     (const char *)&t[k & 3] + 16 * (k >> 2), 16);
}

OZ_FN void oz_gather4(const float *a, const uint32_t *j, uint32_t step, uint32_t at, oz_real v[4]) {
  const float *r[OZ_LANES];
  for (int k = 0; k < OZ_LANES; k++) r[k] = a + (size_t)j[k] * step + at;
  oz_quads(r, v);
}

OZ_FN oz_real oz_gather1(const float *a, const uint32_t *j, uint32_t step) {
  oz_real v;
  for (int k = 0; k < OZ_LANES; k++) v[k] = a[(size_t)j[k] * step];
  return v;
}

/* Writes the indices of the lanes in m, packed to the front; returns how many. May write a whole
 * vector. */
#if OZ_LANES == 16
OZ_FN uint32_t oz_pack(uint32_t *out, oz_mask m, const uint32_t *j) {
  const __mmask16 k = _mm512_test_epi32_mask((__m512i)m, (__m512i)m);
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(k, _mm512_loadu_si512(j)));
  return (uint32_t)__builtin_popcount(k);
}
#else
OZ_FN uint32_t oz_pack(uint32_t *out, oz_mask m, const uint32_t *j) {
  uint32_t n = 0;
  for (int k = 0; k < OZ_LANES; k++) {
    out[n] = j[k];
    n += (uint32_t)-m[k];
  }
  return n;
}
#endif
/* Masks of 16 lanes as bits, and four of these as one number: lane 0 is bit 0. */
typedef uint32_t oz_bits;
#if OZ_LANES == 4
OZ_FN uint32_t oz_mask_bits(oz_mask m) { return (uint32_t)_mm_movemask_ps((__m128)m); }
#elif OZ_LANES == 8
OZ_FN uint32_t oz_mask_bits(oz_mask m) { return (uint32_t)_mm256_movemask_ps((__m256)m); }
#else
OZ_FN uint32_t oz_mask_bits(oz_mask m) { return _mm512_movepi32_mask((__m512i)m); }
#endif
OZ_FN oz_bits oz_bits16(const oz_mask m[16 / OZ_LANES]) {
  uint32_t b = 0;
  for (int k = 0; k < 16 / OZ_LANES; k++) b |= oz_mask_bits(m[k]) << OZ_LANES * k;
  return b;
}

OZ_FN uint64_t oz_bits_join(const oz_bits b[4]) {
  return (uint64_t)(b[0] | b[1] << 16) | (uint64_t)(b[2] | b[3] << 16) << 32;
}

OZ_FN oz_mask oz_index_ne(const uint32_t *j, uint32_t i) {
  oz_mask v;
  __builtin_memcpy(&v, j, sizeof v);
  return v != (int32_t)i;
}

#if OZ_LANES == 16
OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  return (oz_real)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)a));
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  _mm256_storeu_si256((__m256i *)a, _mm512_cvtps_ph((__m512)v, 0));
}
#elif OZ_LANES == 8
OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  return (oz_real)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)a));
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  _mm_storeu_si128((__m128i *)a, _mm256_cvtps_ph((__m256)v, 0));
}
#else /* SSE2 has no half conversion: move the exponent by a multiplication, the sign by a mask */
OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  __m128i h = _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i *)a), _mm_setzero_si128());
  __m128i sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
  __m128 f =
      _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x7fff)), 13)),
                 _mm_set1_ps(5.192296858534828e33f));
  return (oz_real)_mm_or_ps(f, _mm_castsi128_ps(sign));
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  for (int k = 0; k < 4; k++) {
    float f = fabsf(v[k]) * 1.9259299443872359e-34f;
    uint32_t b;
    __builtin_memcpy(&b, &f, 4);
    b += 0xfffu + ((b >> 13) & 1u);
    a[k] = (uint16_t)((b >> 13) | (v[k] < 0.0f ? 0x8000u : 0u));
  }
}
#endif
#endif
