/* One lane: the scalar twin on the CPU, and every CUDA thread. */
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
OZ_FN oz_real oz_min(oz_real a, oz_real b) { return a < b ? a : b; }
OZ_FN oz_real oz_max(oz_real a, oz_real b) { return a > b ? a : b; }
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
/* Records of four floats; `at` counts floats from the start of the record, `step` floats from record to record. */
#if defined(__CUDACC__)
OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float4 r = *(const float4 *)(a + (size_t)i * step + at);
  v[0] = r.x; v[1] = r.y; v[2] = r.z; v[3] = r.w;
}
OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  *(float4 *)(a + (size_t)i * step + at) = make_float4(v[0], v[1], v[2], v[3]);
}
#else
OZ_FN void oz_ld4(const float *a, uint32_t i, uint32_t step, uint32_t at, oz_real v[4]) {
  const float *r = a + (size_t)i * step + at;
  v[0] = r[0]; v[1] = r[1]; v[2] = r[2]; v[3] = r[3];
}
OZ_FN void oz_st4(float *a, uint32_t i, uint32_t step, uint32_t at, const oz_real v[4]) {
  float *r = a + (size_t)i * step + at;
  r[0] = v[0]; r[1] = v[1]; r[2] = v[2]; r[3] = v[3];
}
#endif
OZ_FN void oz_gather4(const float *a, const uint32_t *j, uint32_t step, uint32_t at, oz_real v[4]) {
  oz_ld4(a, j[0], step, at, v);
}
OZ_FN oz_real oz_gather1(const float *a, const uint32_t *j, uint32_t step) { return a[(size_t)j[0] * step]; }

/* Writes the index if m; returns how many. */
OZ_FN uint32_t oz_pack(uint32_t *out, oz_mask m, const uint32_t *j) { out[0] = j[0]; return (uint32_t)(m != 0); }
OZ_FN oz_mask oz_index_ne(const uint32_t *j, uint32_t i) { return j[0] != i; }

/* The bits of a float, and back. */
#if defined(__CUDACC__)
OZ_FN uint32_t oz_bits_of(float a) { return __float_as_uint(a); }
OZ_FN float oz_float_of(uint32_t a) { return __uint_as_float(a); }
#else
OZ_FN uint32_t oz_bits_of(float a) { uint32_t b; __builtin_memcpy(&b, &a, 4); return b; }
OZ_FN float oz_float_of(uint32_t a) { float b; __builtin_memcpy(&b, &a, 4); return b; }
#endif

#if OZ_GPU
/* Nine numbers in one 32-byte sector, because gathers are what a pass costs on the GPU: the ninth lends its top 28 bits,
 * four at a time, to the low ends of the first seven, which keep 20 bits of mantissa. Everyone who reads a record reads the
 * same numbers, so forces stay equal and opposite. */
OZ_FN void oz_packed_ld(const float *a, uint32_t i, oz_real m[9]) {
  uint32_t ninth = 0;
  oz_ld4(a, i, 8, 0, m);
  oz_ld4(a, i, 8, 4, m + 4);
  for (int k = 0; k < 7; k++) ninth = ninth << 4 | (oz_bits_of(m[k]) & 15u);
  m[8] = oz_float_of(ninth << 4);
}
OZ_FN void oz_packed_st(float *a, uint32_t i, const oz_real m[9]) {
  oz_real w[8];
  const uint32_t ninth = oz_bits_of(m[8]);
  for (int k = 0; k < 7; k++) w[k] = oz_float_of((oz_bits_of(m[k]) & ~15u) | (ninth >> (28 - 4 * k) & 15u));
  w[7] = m[7];
  oz_st4(a, i, 8, 0, w);
  oz_st4(a, i, 8, 4, w + 4);
}
#endif

/* IEEE half floats as bits. Good for |a| < 65504; tiny values go to zero through the usual denormals. */
#if defined(__CUDACC__)
/* The GPU recomputes gradients instead of storing them, so it needs no halves. */
#elif defined(__aarch64__)
OZ_FN oz_real oz_ld_half(const uint16_t *a) { __fp16 h; __builtin_memcpy(&h, a, 2); return (float)h; }
OZ_FN void oz_st_half(uint16_t *a, oz_real v) { __fp16 h = (__fp16)v; __builtin_memcpy(a, &h, 2); }
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
