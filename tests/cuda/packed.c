/* A particle's own numbers, packed by the GPU, come back within the bounds that
 * physics/lanes_scalar.h gives. SPDX-License-Identifier: Apache-2.0 */
#define OZ_CUDA_HOST 1
#include "physics/lanes.h"

#include "check.h"

static uint32_t seed = 1;
static float uniform(float low, float high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (float)(seed >> 8) * (1.0f / 16777216.0f);
}

OZ_CASE(six_numbers_are_right_to_2e_6_of_the_greatest) {
  float record[4 * 2], s[6], back[6];
  double worst = 0.0;
  for (int n = 0; n < 200000; n++) {
    const float size = ldexpf(uniform(0.5f, 1.0f), (int)uniform(-80.0f, 120.0f));
    float most = 0.0f;
    for (int k = 0; k < 6; k++) {
      s[k] = n % 7 == 0 && k ? uniform(-1e-6f, 1e-6f) * size : uniform(-1.0f, 1.0f) * size;
      /* next to the power of two, and on it */
      if (n % 5 == 0 && k == 2) s[k] = n % 2 ? nextafterf(size, 0.0f) : -size;
      most = fmaxf(most, fabsf(s[k]));
    }
    oz_six_put(record, (uint32_t)(n % 2), s);
    oz_six_get(record, (uint32_t)(n % 2), back);
    for (int k = 0; k < 6; k++)
      worst = fmax(worst, fabs((double)s[k] - (double)back[k]) / (double)most);
  }
  CHECK(worst <= 1.92e-6, "off by %g of the greatest: 20 bits are 2^-19 of it", worst);
  CHECK(worst > 5e-7, "off by %g only: this does not try what is hard", worst);
}

OZ_CASE(six_numbers_keep_zero_powers_of_two_and_what_is_no_number) {
  static const float kept[][6] = {{0, 0, 0, 0, 0, 0},
                                  {1, 1, 1, 0, 0, 0},
                                  {-1, 0.5f, 0.25f, 0, -0.125f, 1},
                                  {1e36f, -1e36f, 0, 0, 0, 0},
                                  {1e-30f, 0, 0, 0, 0, 0}};
  float record[4], back[6];
  for (size_t n = 0; n < sizeof kept / sizeof *kept; n++) {
    oz_six_put(record, 0, kept[n]);
    oz_six_get(record, 0, back);
    for (int k = 0; k < 6; k++)
      CHECK_NEAR(back[k], kept[n][k], 2e-6f * fabsf(kept[n][0]), "20 bits of the greatest");
    if (n == 1 || n == 2)
      for (int k = 0; k < 6; k++)
        CHECK(back[k] == kept[n][k], "set %zu, number %d: %.9g", n, k, (double)back[k]);
  }
  for (int which = 0; which < 6; which++)
    for (int bad = 0; bad < 3; bad++) {
      float s[6] = {1, 2, 3, 4, 5, 6};
      s[which] = bad == 0 ? NAN : bad == 1 ? INFINITY : oz_float_of(0xffffffffu);
      oz_six_put(record, 0, s);
      oz_six_get(record, 0, back);
      for (int k = 0; k < 6; k++)
        CHECK(!isfinite(back[k]), "number %d is not finite, %d came back as %g", which, k,
              (double)back[k]);
    }
}

OZ_CASE(nine_numbers_are_right_to_13_bits_of_the_greatest) {
  float record[4 * 2], m[9], back[9];
  double worst = 0.0, last = 0.0, bias = 0.0;
  const int tries = 200000;
  for (int n = 0; n < tries; n++) {
    const float size = ldexpf(uniform(0.5f, 1.0f), (int)uniform(-80.0f, 120.0f));
    float most = 0.0f;
    for (int k = 0; k < 9; k++) {
      m[k] = n % 7 == 0 && k ? uniform(-1e-6f, 1e-6f) * size : uniform(-1.0f, 1.0f) * size;
      /* next to the power of two, and on it */
      if (n % 5 == 0 && k == n % 9) m[k] = n % 2 ? nextafterf(size, 0.0f) : -size;
      most = fmaxf(most, fabsf(m[k]));
    }
    oz_packed_st(record, (uint32_t)(n % 2), m);
    oz_packed_ld(record, (uint32_t)(n % 2), back);
    for (int k = 0; k < 9; k++) {
      const double off = ((double)back[k] - (double)m[k]) / (double)most;
      if (k < 8)
        worst = fmax(worst, fabs(off)), bias += off / (8.0 * tries);
      else
        last = fmax(last, fabs(off));
    }
  }
  CHECK(worst <= 2.45e-4, "off by %g of the greatest: half of 2^-12 of the power of two above it",
        worst);
  CHECK(last <= 4.9e-4, "the ninth is off by %g: it has 12 bits", last);
  CHECK(worst > 1.5e-4 && fabs(bias) < 1e-6, "off by %g only, or all to one side: %g", worst, bias);
}
OZ_CASE(nine_numbers_are_numbers_whatever_they_were) {
  static const float odd[] = {0.0f, 1e-45f, 1e-38f, 3e38f, INFINITY, NAN, -INFINITY};
  float record[4], back[9];
  for (size_t n = 0; n < sizeof odd / sizeof *odd; n++)
    for (int which = 0; which < 9; which++) {
      float m[9] = {0.0f};
      m[which] = odd[n];
      oz_packed_st(record, 0, m);
      oz_packed_ld(record, 0, back);
      for (int k = 0; k < 9; k++)
        CHECK(isfinite(back[k]), "%g at %d made number %d %g", (double)odd[n], which, k,
              (double)back[k]);
      for (int k = 0; n < 2 && k < 9; k++)
        CHECK(fabsf(back[k]) < 1e-30f, "nothing came back as %g", (double)back[k]);
    }
}

static float length(const float q[4]) {
  return sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}
OZ_CASE(rotations_are_right_to_2e_5_and_none_stays_none) {
  float record[4], back[4], none[4] = {0, 0, 0, 1};
  for (int n = 0; n < 100000; n++) {
    float q[4];
    for (int k = 0; k < 4; k++) q[k] = uniform(-1.0f, 1.0f);
    const float l = fmaxf(length(q), 1e-3f);
    for (int k = 0; k < 4; k++) q[k] /= l;
    oz_turn_put(record, (uint32_t)(n % 2), q);
    oz_turn_get(record, (uint32_t)(n % 2), back);
    for (int k = 0; k < 4; k++)
      CHECK(fabsf(q[k] - back[k]) <= 1.6e-5f, "%g came back as %g: half of 1/32767 is allowed",
            (double)q[k], (double)back[k]);
  }
  oz_turn_put(record, 0, none);
  oz_turn_get(record, 0, back);
  CHECK(back[0] == 0.0f && back[1] == 0.0f && back[2] == 0.0f,
        "what has not turned has turned by %g %g %g", (double)back[0], (double)back[1],
        (double)back[2]);
  CHECK_NEAR(back[3], 1.0f, 1e-6f, "and its length is one");
}

OZ_CASE(eigenvalues_are_rounded_up_and_the_flag_is_kept) {
  float record[4], back[3];
  for (int n = 0; n < 200000; n++) {
    float p[3];
    for (int k = 0; k < 3; k++) p[k] = ldexpf(uniform(0.5f, 1.0f), (int)uniform(-60.0f, 60.0f));
    oz_three_put(record, (uint32_t)(n % 2), p, n % 3 == 0);
    const int flag = oz_three_get(record, (uint32_t)(n % 2), back) != 0;
    CHECK(flag == (n % 3 == 0), "flag of %d", n);
    for (int k = 0; k < 3; k++)
      CHECK(back[k] >= p[k] && back[k] <= p[k] * 1.000123f, "%.9g came back as %.9g", (double)p[k],
            (double)back[k]);
  }
  const float odd[3] = {0.0f, -0.0f, NAN};
  oz_three_put(record, 0, odd, 1);
  CHECK(oz_three_get(record, 0, back) && back[0] == 0.0f && back[1] == 0.0f && !isfinite(back[2]),
        "0 stays 0, no number stays none: %g %g %g", (double)back[0], (double)back[1],
        (double)back[2]);
}

OZ_TEST_MAIN()
