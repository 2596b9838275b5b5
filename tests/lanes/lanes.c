/* Every word of physics/lanes.h in this vector width, against plain C. SPDX-License-Identifier:
 * Apache-2.0 */
#include "check.h"
#include "physics/lanes.h"

enum { N = 64, STEP = 8 };

/* The build may be wider than the machine: then there is nothing to check here. */
static void need_machine(void) {
#if defined(__x86_64__)
#if OZ_ISA_IS(avx2)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) OZ_SKIP("no AVX2 here");
#elif OZ_ISA_IS(avx512)
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq"))
    OZ_SKIP("no AVX-512 here");
#endif
#endif
}

static float lane(oz_real v, int k) {
  float out[OZ_LANES];
  memcpy(out, &v, sizeof out);
  return out[k];
}
static oz_real real_of(const float *a) {
  oz_real v;
  memcpy(&v, a, sizeof v);
  return v;
}
static int lane_of_mask(oz_mask m, int k) {
  int32_t out[OZ_LANES];
  memcpy(out, &m, sizeof out);
  return out[k] != 0;
}
static float random_float(uint32_t *state) { /* -1 to 1 */
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

OZ_CASE(loads_and_stores_reach_the_right_floats) {
  need_machine();
  float a[2 * N], b[2 * N];
  for (int i = 0; i < 2 * N; ++i) a[i] = (float)i, b[i] = -1;
  for (uint32_t i = 0; i < N; i += OZ_LANES) {
    oz_real v = oz_ld(a, i);
    for (int k = 0; k < OZ_LANES; ++k) CHECK_NEAR(lane(v, k), a[i + (uint32_t)k], 0, "copied");
    oz_st(b, i, v);
  }
  for (int i = 0; i < 2 * N; ++i)
    CHECK_NEAR(b[i], i < N ? (float)i : -1.0f, 0, "copied, and nothing beyond");
}

OZ_CASE(records_of_four_are_transposed_both_ways) {
  need_machine();
  float a[N * STEP], b[N * STEP];
  for (int i = 0; i < N * STEP; ++i) a[i] = (float)i, b[i] = -1;
  for (uint32_t at = 0; at <= 4; at += 4)
    for (uint32_t i = 0; i < N; i += OZ_LANES) {
      oz_real v[4];
      oz_ld4(a, i, STEP, at, v);
      for (int c = 0; c < 4; ++c)
        for (int k = 0; k < OZ_LANES; ++k)
          CHECK_NEAR(lane(v[c], k), a[(i + (uint32_t)k) * STEP + at + (uint32_t)c], 0, "copied");
      oz_st4(b, i, STEP, at, v);
    }
  for (int i = 0; i < N * STEP; ++i) CHECK_NEAR(b[i], a[i], 0, "there and back");
}

OZ_CASE(gathers_follow_their_indices) {
  need_machine();
  float a[N * STEP];
  uint32_t j[OZ_LANES], state = 7;
  for (int i = 0; i < N * STEP; ++i) a[i] = (float)i;
  for (int turn = 0; turn < 100; ++turn) {
    oz_real v[4];
    for (int k = 0; k < OZ_LANES; ++k) {
      random_float(&state);
      j[k] = (state >> 8) % N;
    }
    oz_gather4(a, j, STEP, 4, v);
    for (int c = 0; c < 4; ++c)
      for (int k = 0; k < OZ_LANES; ++k)
        CHECK_NEAR(lane(v[c], k), a[j[k] * STEP + 4 + (uint32_t)c], 0, "copied");
    oz_real one = oz_gather1(a, j, STEP);
    for (int k = 0; k < OZ_LANES; ++k) CHECK_NEAR(lane(one, k), a[j[k] * STEP], 0, "copied");
  }
}

OZ_CASE(of_a_number_and_a_nan_the_number_is_taken) {
  need_machine();
  oz_real two = oz_set(2.0f), nan = oz_set(NAN);
  for (int k = 0; k < OZ_LANES; ++k) {
    CHECK_NEAR(lane(oz_min(two, nan), k), 2, 0, "exact");
    CHECK_NEAR(lane(oz_min(nan, two), k), 2, 0, "exact");
    CHECK_NEAR(lane(oz_max(two, nan), k), 2, 0, "exact");
    CHECK_NEAR(lane(oz_max(nan, two), k), 2, 0, "exact");
    CHECK(isnan(lane(oz_max(nan, nan), k)));
  }
}

OZ_CASE(arithmetic_words_mean_what_they_say) {
  need_machine();
  uint32_t state = 3;
  for (int turn = 0; turn < 1000; ++turn) {
    float a[OZ_LANES], b[OZ_LANES];
    for (int k = 0; k < OZ_LANES; ++k) {
      a[k] = 10 * random_float(&state);
      b[k] = 10 * random_float(&state);
    }
    oz_real x = real_of(a), y = real_of(b);
    oz_mask less = x < y;
    double sum = 0, size = 0;
    int any = 0;
    for (int k = 0; k < OZ_LANES; ++k) {
      CHECK_NEAR(lane(oz_min(x, y), k), fminf(a[k], b[k]), 0, "exact");
      CHECK_NEAR(lane(oz_max(x, y), k), fmaxf(a[k], b[k]), 0, "exact");
      CHECK_NEAR(lane(oz_abs(x), k), fabsf(a[k]), 0, "exact");
      CHECK_NEAR(lane(oz_select(less, x, y), k), a[k] < b[k] ? a[k] : b[k], 0, "exact");
      CHECK_NEAR(lane(oz_select(oz_not(less), x, y), k), a[k] < b[k] ? b[k] : a[k], 0, "exact");
      CHECK_EQ(lane_of_mask(less, k), a[k] < b[k]);
      CHECK_NEAR(lane(oz_sqrt(oz_abs(x)), k), sqrtf(fabsf(a[k])), 1e-7 * 4, "correctly rounded");
      double r = 1.0 / sqrt(fabs((double)a[k]));
      CHECK_NEAR(lane(oz_rsqrt(oz_abs(x)), k), r, 4e-7 * r,
                 "an estimate and Newton steps: 22 bits or more");
      CHECK_NEAR(lane(oz_clamp(x, oz_set(-1), oz_set(2)), k), fminf(fmaxf(a[k], -1), 2), 0,
                 "exact");
      sum += (double)a[k];
      size += fabs((double)a[k]);
      any |= a[k] < b[k];
    }
    CHECK_NEAR(oz_sum(x), sum, 1e-6 * size, "a tree of float additions");
    CHECK_EQ(oz_any(less) != 0, any);
  }
}

/* The neighbour search reads its tests as bits: lane 0 is bit 0, whatever the width. */
OZ_CASE(masks_become_bits_in_order) {
  need_machine();
  uint32_t state = 5;
  for (int turn = 0; turn < 200; ++turn) {
    float a[64];
    oz_bits b[4];
    uint64_t expected = 0;
    for (int k = 0; k < 64; ++k) {
      a[k] = random_float(&state);
      expected |= (uint64_t)(a[k] < 0) << k;
    }
    for (int q = 0; q < 4; ++q) {
      oz_mask m[16 / OZ_LANES];
      for (int k = 0; k < 16 / OZ_LANES; ++k) m[k] = real_of(a + 16 * q + OZ_LANES * k) < oz_set(0);
      b[q] = oz_bits16(m);
    }
    CHECK_EQ(oz_bits_join(b), expected);
  }
}

/* Containment rests on this: non-finite lanes are seen, and one bad lane does not hide another. */
OZ_CASE(non_finite_lanes_are_seen) {
  need_machine();
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < OZ_LANES; ++k)
    for (int b = 0; b < 3; ++b) {
      float a[OZ_LANES];
      for (int i = 0; i < OZ_LANES; ++i) a[i] = (float)i - 2;
      a[k] = bad[b];
      oz_mask good = oz_finite(real_of(a));
      for (int i = 0; i < OZ_LANES; ++i) CHECK_EQ(lane_of_mask(good, i), i != k);
      CHECK(oz_any(oz_not(good)));
    }
  CHECK(!oz_any(oz_not(oz_finite(oz_set(1e30f)))));
}

OZ_CASE(halves_round_to_nearest_and_come_back) {
  need_machine();
  uint32_t state = 11;
  for (int turn = 0; turn < 2000; ++turn) {
    float a[OZ_LANES];
    uint16_t h[OZ_LANES + 1];
    h[OZ_LANES] = 0xbeef;
    float scale = powf(10.0f, 4.5f * random_float(&state));
    for (int k = 0; k < OZ_LANES; ++k) a[k] = scale * random_float(&state);
    oz_st_half(h, real_of(a));
    CHECK_EQ(h[OZ_LANES], 0xbeef);
    oz_real back = oz_ld_half(h);
    for (int k = 0; k < OZ_LANES; ++k)
      CHECK_NEAR(lane(back, k), a[k], fabs((double)a[k]) * (1.0 / 2048) + 3e-8,
                 "11 bits, 2^-24 apart near zero");
  }
  uint16_t zero[OZ_LANES];
  oz_st_half(zero, oz_set(0));
  for (int k = 0; k < OZ_LANES; ++k) CHECK_EQ(zero[k], 0);
  oz_st_half(zero, oz_set(-1.5f));
  for (int k = 0; k < OZ_LANES; ++k) CHECK_EQ(zero[k], 0xbe00);
}

OZ_TEST_MAIN()
