/* One lane: the scalar twin on the CPU, and every CUDA thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_LANES_SCALAR_H
#define OZ_PHYSICS_LANES_SCALAR_H

#ifndef OZ_LANES
#define OZ_LANES 1
#endif
typedef float oz_real;
typedef int32_t oz_mask;

OZ_FN oz_real oz_set(float a) { return a; }

OZ_FN oz_real oz_select(oz_mask m, oz_real a, oz_real b) { return m ? a : b; }

OZ_FN oz_mask oz_not(oz_mask m) { return !m; }

OZ_FN int oz_any(oz_mask m) { return m != 0; }

OZ_FN oz_real oz_abs(oz_real a) { return fabsf(a); }

/* Of a number and a NaN both return the number, in every width. */
#if OZ_GPU /* one instruction in CUDA */
OZ_FN oz_real oz_min(oz_real a, oz_real b) { return fminf(a, b); }

OZ_FN oz_real oz_max(oz_real a, oz_real b) { return fmaxf(a, b); }
#else
OZ_FN oz_real oz_min(oz_real a, oz_real b) { return a < b || b != b ? a : b; }

OZ_FN oz_real oz_max(oz_real a, oz_real b) { return a > b || b != b ? a : b; }
#endif
OZ_FN oz_real oz_sqrt(oz_real a) { return sqrtf(a); }
#if defined(__CUDACC__)
OZ_FN oz_real oz_rsqrt(oz_real a) { return rsqrtf(a); }
#else
OZ_FN oz_real oz_rsqrt(oz_real a) { return 1.0f / sqrtf(a); }
#endif
OZ_FN oz_real oz_rsqrt_fast(oz_real a) { return oz_rsqrt(a); }

OZ_FN float oz_sum(oz_real a) { return a; }

OZ_FN oz_real oz_ld(const float *a, uint32_t i) { return a[i]; }

OZ_FN void oz_st(float *a, uint32_t i, oz_real v) { a[i] = v; }

/* Records of four floats; `at` counts floats from the start of the record, `step` floats from
 * record to record. */
#if defined(__CUDACC__)
OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float4 r = *(const float4 *)(a + (size_t)i * step + at);
  v[0] = r.x;
  v[1] = r.y;
  v[2] = r.z;
  v[3] = r.w;
}

OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  *(float4 *)(a + (size_t)i * step + at) = make_float4(v[0], v[1], v[2], v[3]);
}
#else
OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float *r = a + (size_t)i * step + at;
  v[0] = r[0];
  v[1] = r[1];
  v[2] = r[2];
  v[3] = r[3];
}

OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  float *r = a + (size_t)i * step + at;
  r[0] = v[0];
  r[1] = v[1];
  r[2] = v[2];
  r[3] = v[3];
}
#endif
OZ_FN void oz_gather4(const float *a, const uint32_t *j, uint32_t step, uint32_t at, oz_real v[4]) {
  oz_ld4(a, j[0], step, at, v);
}

OZ_FN oz_real oz_gather1(const float *a, const uint32_t *j, uint32_t step) {
  return a[(size_t)j[0] * step];
}

/* Writes the index if m; returns the number of indices written. */
OZ_FN uint32_t oz_pack(uint32_t *out, oz_mask m, const uint32_t *j) {
  out[0] = j[0];
  return (uint32_t)(m != 0);
}

/* Masks of 16 lanes as bits, and four of these as one number: lane 0 is bit 0. */
typedef uint32_t oz_bits;

OZ_FN oz_bits oz_bits16(const oz_mask m[16]) {
  uint32_t b = 0;
  for (int k = 0; k < 16; k++) b |= (uint32_t)(m[k] != 0) << k;
  return b;
}

OZ_FN uint64_t oz_bits_join(const oz_bits b[4]) {
  return (uint64_t)(b[0] | b[1] << 16) | (uint64_t)(b[2] | b[3] << 16) << 32;
}

OZ_FN oz_mask oz_index_ne(const uint32_t *j, uint32_t i) { return j[0] != i; }

/* The bits of a float, and back. */
#if defined(__CUDACC__)
OZ_FN uint32_t oz_bits_of(float a) { return __float_as_uint(a); }

OZ_FN float oz_float_of(uint32_t a) { return __uint_as_float(a); }
#else
OZ_FN uint32_t oz_bits_of(float a) {
  uint32_t b;
  __builtin_memcpy(&b, &a, 4);
  return b;
}

OZ_FN float oz_float_of(uint32_t a) {
  float b;
  __builtin_memcpy(&b, &a, 4);
  return b;
}
#endif

#if OZ_GPU
/* Nine numbers in 16 bytes, because gathers dominate the cost of a pass on the GPU: 13 bits each
 * (the ninth 12) and one shared exponent, an error of 2^-13 of the largest, like the halves that
 * the CPU stores of a gradient. All readers of a record read the same numbers, so forces stay equal
 * and opposite.
 *
 * The layout is the one that unpacks with the fewest instructions, since a pair has some 50 and
 * unpacking took 20 of them. A number stands at the upper end of a word, or is shifted there, and
 * is converted without masking: the bits below its last digit belong to the next number, and the
 * packing takes them into account. Words, from bit 31 down:
 *   0: number 1 (13), 2 (13), 3 (its upper 6)
 *   1: 3 (lower 7), 2 bits that are 0, number 0 (13), 2 bits that are 0, exponent (8)
 *   2: number 4 (13), 5 (13), 6 (its upper 6)
 *   3: 6 (lower 7), 7 (13), 8 (12)
 * Number 0 stands where a float has its leading digits: one instruction makes it 1.5 2^32 more than
 * its value (OZ_PACKED_OFF). */
#define OZ_PACKED_OFF 6442450944.0f

OZ_FN uint32_t oz_across(uint32_t a, uint32_t b) { /* the last 6 bits of a, then b */
#if defined(__CUDACC__)
  return __funnelshift_l(b, a, 26);
#else
  return a << 26 | b >> 6;
#endif
}

/* 2^32 to 2^33, with the digits of w that the mask leaves: one instruction in this form, two as
 * `and` and `or`. */
OZ_FN float oz_digits(uint32_t w, uint32_t mask) {
#if defined(__CUDACC__)
  uint32_t b;
  /* (w & mask) | bits of 2^32 */
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(b) : "r"(w), "r"(mask), "r"(0x4f800000u));
  return __uint_as_float(b);
#else
  return oz_float_of((w & mask) | 0x4f800000u);
#endif
}

/* w << n as a multiplication: multipliers have twice the throughput of shifters, and conversions
 * use the shifters too. The factor is in memory, because the compiler turns a known factor back
 * into a shift. */
#if defined(__CUDACC__)
static __constant__ uint32_t oz_powers[4] = {1u << 7, 1u << 13, 1u << 20, 1u << 23};

OZ_FN uint32_t oz_up(uint32_t w, int n) {
  return w * oz_powers[n == 7 ? 0 : n == 13 ? 1 : n == 20 ? 2 : 3];
}
#else
OZ_FN uint32_t oz_up(uint32_t w, int n) { return w << n; }
#endif
OZ_FN float oz_packed_raw(const float *a, uint32_t i, float m[9]) { /* returns the scale */
  float r[4];
  uint32_t w[4];
  oz_ld4(a, i, 4, 0, r);
  for (int k = 0; k < 4; k++) w[k] = oz_bits_of(r[k]);
  m[0] = oz_digits(w[1], 0x7ffc00u);
  m[1] = (float)(int32_t)w[0], m[2] = (float)(int32_t)oz_up(w[0], 13),
  m[3] = (float)(int32_t)oz_across(w[0], w[1]);
  m[4] = (float)(int32_t)w[2], m[5] = (float)(int32_t)oz_up(w[2], 13),
  m[6] = (float)(int32_t)oz_across(w[2], w[3]);
  m[7] = (float)(int32_t)oz_up(w[3], 7), m[8] = (float)(int32_t)oz_up(w[3], 20);
  return oz_float_of(oz_up(w[1], 23));
}

OZ_FN void oz_packed_ld(const float *a, uint32_t i, oz_real m[9]) {
  const float scale = oz_packed_raw(a, i, m);
  m[0] -= OZ_PACKED_OFF;
  for (int k = 0; k < 9; k++) m[k] *= scale;
}

/* The 13 bits of a number, packed above the bits `below`. */
OZ_FN uint32_t oz_packed_field(int32_t number, uint32_t below) {
  return (uint32_t)((number - (int32_t)below + (1 << 18)) >> 19);
}

OZ_FN void oz_packed_st(float *a, uint32_t i, const oz_real m[9]) {
  float most = 0.0f, r[4];
  uint32_t w[4], q;
  int32_t t[9];
  for (int k = 0; k < 9; k++) most = oz_max(most, oz_abs(m[k]));
  /* most < 2^(e - 126), with a margin for rounding */
  uint32_t e = (oz_bits_of(most) + 0x2000u) >> 23;
  e = e < 32u ? 32u : e > 252u ? 252u : e;
  const float up = oz_float_of((284u - e) << 23); /* 2^(157 - e): to 31 bits and a sign */
  for (int k = 0; k < 9; k++)
    t[k] = (int32_t)rintf(oz_min(oz_max(m[k] * up, -2146435072.0f), 2146435072.0f));
  w[3] = (uint32_t)((t[8] + (1 << 19)) >> 20) & 0xfffu;
  w[3] |= (oz_packed_field(t[7], w[3] << 7) & 0x1fffu) << 12;
  q = oz_packed_field(t[6], w[3] >> 6);
  w[3] |= q << 25, w[2] = q >> 7 & 63u;
  w[2] |= (oz_packed_field(t[5], w[2] << 13) & 0x1fffu) << 6;
  w[2] |= oz_packed_field(t[4], w[2]) << 19;
  w[1] = (oz_packed_field(t[0], 0) + 4096u) << 10 | (e - 30u);
  q = oz_packed_field(t[3], w[1] >> 6);
  w[1] |= q << 25, w[0] = q >> 7 & 63u;
  w[0] |= (oz_packed_field(t[2], w[0] << 13) & 0x1fffu) << 6;
  w[0] |= oz_packed_field(t[1], w[0]) << 19;
  for (int k = 0; k < 4; k++) r[k] = oz_float_of(w[k]);
  oz_st4(a, i, 4, 0, r);
}

/* Six numbers in 16 bytes: 20 bits each, relative to the power of two above the greatest (8 bits);
 * the error is at most 2e-6 of that. If one number is not finite or above 1e37, all are stored as
 * NaN. */
/* 2^23 + 2^22 + 2^19: a sum with it has 0 to 2^20 in its last 20 bits */
#define OZ_SIX_ORIGIN 13107200.0f

OZ_FN void oz_six_put(float *a, uint32_t i, const oz_real s[6]) {
  uint32_t most = 0, t[6];
  float r[4];
  for (int k = 0; k < 6; k++) { /* compared as bits: a NaN is greater than any number */
    const uint32_t size = oz_bits_of(s[k]) & 0x7fffffffu;
    most = size > most ? size : most;
  }
  uint32_t e = (most + 64u) >> 23; /* with a margin, so that rounding does not reach 2^19 */
  e = e < 20u ? 20u : e > 255u ? 255u : e;
  const float up = oz_float_of((272u - e) << 23); /* 2^(145 - e): to 19 bits and a sign */
  for (int k = 0; k < 6; k++) t[k] = oz_bits_of(s[k] * up + OZ_SIX_ORIGIN);
  r[0] = oz_float_of((t[0] & 0xfffffu) | t[4] << 20);
  r[1] = oz_float_of((t[1] & 0xfffffu) | (t[4] << 8 & 0xff00000u) | e << 28);
  r[2] = oz_float_of((t[2] & 0xfffffu) | t[5] << 20);
  r[3] = oz_float_of((t[3] & 0xfffffu) | (t[5] << 8 & 0xff00000u) | (e << 24 & 0xf0000000u));
  oz_st4(a, i, 4, 0, r);
}

OZ_FN void oz_six_get(const float *a, uint32_t i, oz_real s[6]) {
  float r[4];
  uint32_t w[4];
  oz_ld4(a, i, 4, 0, r);
  for (int k = 0; k < 4; k++) w[k] = oz_bits_of(r[k]);
  const uint32_t e = w[1] >> 28 | (w[3] >> 24 & 0xf0u);
  const float down = oz_float_of(e == 255u ? 0x7fc00000u : (e - 18u) << 23); /* 2^(e - 145) */
  for (int k = 0; k < 4; k++)
    s[k] = oz_float_of((w[k] & 0xfffffu) | 0x4b400000u) * down - OZ_SIX_ORIGIN * down;
  s[4] =
      oz_float_of(w[0] >> 20 | (w[1] >> 8 & 0xff000u) | 0x4b400000u) * down - OZ_SIX_ORIGIN * down;
  s[5] =
      oz_float_of(w[2] >> 20 | (w[3] >> 8 & 0xff000u) | 0x4b400000u) * down - OZ_SIX_ORIGIN * down;
}

/* A quaternion in 8 bytes: 16 bits each. */
/* 2^23 + 2^15: a sum with it has 1 to 2^16 - 1 in its last 16 bits */
#define OZ_TURN_ORIGIN 8421376.0f

OZ_FN void oz_pair_put(float *a, uint32_t i, uint32_t x, uint32_t y) {
#if defined(__CUDACC__)
  *(uint2 *)(a + 2 * (size_t)i) = make_uint2(x, y);
#else
  a[2 * (size_t)i] = oz_float_of(x), a[2 * (size_t)i + 1] = oz_float_of(y);
#endif
}

OZ_FN void oz_pair_get(const float *a, uint32_t i, uint32_t w[2]) {
#if defined(__CUDACC__)
  const uint2 v = *(const uint2 *)(a + 2 * (size_t)i);
  w[0] = v.x, w[1] = v.y;
#else
  w[0] = oz_bits_of(a[2 * (size_t)i]), w[1] = oz_bits_of(a[2 * (size_t)i + 1]);
#endif
}

OZ_FN void oz_turn_put(float *a, uint32_t i, const oz_real q[4]) {
  uint32_t t[4];
  for (int k = 0; k < 4; k++)
    t[k] = oz_bits_of(oz_min(oz_max(q[k], -1.0f), 1.0f) * 32767.0f + OZ_TURN_ORIGIN);
  oz_pair_put(a, i, (t[0] & 0xffffu) | t[1] << 16, (t[2] & 0xffffu) | t[3] << 16);
}

OZ_FN void oz_turn_get(const float *a, uint32_t i, oz_real q[4]) {
  uint32_t w[2];
  oz_pair_get(a, i, w);
  for (int k = 0; k < 4; k++)
    q[k] = (oz_float_of((k & 1 ? w[k / 2] >> 16 : w[k / 2] & 0xffffu) | 0x4b000000u) -
            OZ_TURN_ORIGIN) *
           (1.0f / 32767.0f);
}

/* Three numbers not below 0 and a flag in 8 bytes: their first 21 bits, rounded up, by 1.2e-4 at
 * most. */
OZ_FN void oz_three_put(float *a, uint32_t i, const oz_real p[3], oz_mask flag) {
  uint32_t b[3];
  for (int k = 0; k < 3; k++) {
    b[k] = oz_bits_of(p[k]) & 0x7fffffffu;
    /* a NaN becomes infinite */
    b[k] = ((b[k] < 0x7f800000u ? b[k] : 0x7f800000u) + 0x3ffu) >> 10;
  }
  oz_pair_put(a, i, b[0] << 11 | (b[2] & 0x7ffu), b[1] << 11 | b[2] >> 11 | (flag ? 0x400u : 0u));
}

OZ_FN oz_mask oz_three_get(const float *a, uint32_t i, oz_real p[3]) {
  uint32_t w[2];
  oz_pair_get(a, i, w);
  p[0] = oz_float_of(w[0] >> 1 & 0x7ffffc00u);
  p[1] = oz_float_of(w[1] >> 1 & 0x7ffffc00u);
  p[2] = oz_float_of((w[1] & 0x3ffu) << 21 | (w[0] & 0x7ffu) << 10);
  return (w[1] & 0x400u) != 0;
}

/* Four list entries at once. */
OZ_FN void oz_entries_ld(const uint32_t *a, uint32_t j[4]) {
#if defined(__CUDACC__)
  const uint4 e = *(const uint4 *)a;
  j[0] = e.x, j[1] = e.y, j[2] = e.z, j[3] = e.w;
#else
  for (int k = 0; k < 4; k++) j[k] = a[k];
#endif
}

/* Positions in 8 bytes, x, y and z side by side: 21 bits each (z 22) in units of h / 2^18 (z:
 * 2^19), modulo 8 h. Differences of neighbours, which are nearer than h, are exact modulo that. The
 * reader keeps each coordinate at the upper end of a word, in units of h / 2^29; the bits of the
 * next coordinate below it are less than its own last digit. */
typedef struct {
  uint32_t x, y, z;
} oz_place;

OZ_FN void oz_place_st(uint32_t *a, uint32_t i, const float x[3], float h) {
  const double inv = 262144.0 / (double)h;
  const uint32_t u = (uint32_t)(int64_t)floor((double)x[0] * inv) & 0x1fffffu,
                 v = (uint32_t)(int64_t)floor((double)x[1] * inv) & 0x1fffffu;
  const uint32_t w = (uint32_t)(int64_t)floor((double)x[2] * (2.0 * inv)) & 0x3fffffu;
  a[2 * (size_t)i] = u << 11 | v >> 10;
  a[2 * (size_t)i + 1] = v << 22 | w;
}

OZ_FN oz_place oz_place_ld(const uint32_t *a, uint32_t i) {
#if defined(__CUDACC__)
  const uint2 w = *(const uint2 *)(a + 2 * (size_t)i);
  const oz_place p = {w.x, __funnelshift_l(w.y, w.x, 21), w.y << 10};
#else
  const uint32_t *w = a + 2 * (size_t)i;
  const oz_place p = {w[0], w[0] << 21 | w[1] >> 11, w[1] << 10};
#endif
  return p;
}

/* x_i - x_j in units of h / 2^29. */
OZ_FN void oz_place_difference(oz_place i, oz_place j, float r[3]) {
  r[0] = (float)(int32_t)(i.x - j.x);
  r[1] = (float)(int32_t)(i.y - j.y);
  r[2] = (float)(int32_t)(i.z - j.z);
}
#endif

/* IEEE half floats as bits, for |a| < 65504; tiny values become denormals, then zero. */
#if defined(__CUDACC__)
OZ_FN oz_real oz_ld_half(const uint16_t *a) { return __half2float(__ushort_as_half(*a)); }

OZ_FN void oz_st_half(uint16_t *a, oz_real v) { *a = __half_as_ushort(__float2half_rn(v)); }
#elif defined(__aarch64__)
OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  __fp16 h;
  __builtin_memcpy(&h, a, 2);
  return (float)h;
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  __fp16 h = (__fp16)v;
  __builtin_memcpy(a, &h, 2);
}
#else
OZ_FN oz_real oz_ld_half(const uint16_t *a) {
  uint32_t b = (uint32_t)(*a & 0x7fffu) << 13;
  float f;
  __builtin_memcpy(&f, &b, 4);
  f *= 5.192296858534828e33f; /* 2^112 moves the half's exponent to the float's bias */
  return (*a & 0x8000u) ? -f : f;
}

OZ_FN void oz_st_half(uint16_t *a, oz_real v) {
  float f = fabsf(v) * 1.9259299443872359e-34f; /* 2^-112 */
  uint32_t b;
  __builtin_memcpy(&b, &f, 4);
  b += 0xfffu + ((b >> 13) & 1u); /* round to nearest even */
  *a = (uint16_t)((b >> 13) | (v < 0.0f ? 0x8000u : 0u));
}
#endif
#endif
