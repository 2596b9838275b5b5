/* Sums that do not depend on the order of their terms (cuda/exact_sum.h).
 * SPDX-License-Identifier: Apache-2.0 */
#define OZ_CUDA_HOST 1
#include "../../cuda/exact_sum.h"

#include "check.h"

static uint32_t seed = 1;
static uint32_t next(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }
static double uniform(void) {
  return (double)next() * (1.0 / 16777216.0) + (double)next() * (1.0 / 281474976710656.0);
}

/* As add_exactly and read_exactly do on the device. */
static void add(oz_exact_sums *to, uint32_t copy, uint32_t sum, double v) {
  long long *at = to->piece[copy % OZ_EXACT_COPIES] + sum * OZ_EXACT_PIECES;
  if (!oz_exact_fits(v)) {
    if (at[OZ_EXACT_PIECES - 1] > OZ_EXACT_SPOILT) at[OZ_EXACT_PIECES - 1] = OZ_EXACT_SPOILT;
    return;
  }
  for (int k = 0; k < OZ_EXACT_PIECES; k++) at[k] += oz_exact_cut(v, k);
}
static double read(const oz_exact_sums *from, uint32_t sum) {
  double v[OZ_EXACT_PIECES];
  for (int k = 0; k < OZ_EXACT_PIECES; k++) {
    long long q = 0;
    for (int c = 0; c < OZ_EXACT_COPIES; c++)
      q += from->piece[c][sum * OZ_EXACT_PIECES + (uint32_t)k];
    v[k] = oz_exact_told(q, k);
  }
  return (v[0] + v[1]) + (v[2] + v[3]);
}
static void shuffle(double *v, uint32_t n) {
  for (uint32_t i = n; i-- > 1;) {
    const uint32_t j = next() % (i + 1);
    const double t = v[i];
    v[i] = v[j], v[j] = t;
  }
}

OZ_CASE(a_number_comes_back_as_it_was) {
  for (int n = 0; n < 100000; n++) {
    oz_exact_sums s;
    /* all of its 53 bits are above the lowest unit */
    const double v = ldexp(n % 2 ? uniform() + 0.5 : -0.5 - uniform(), (int)(next() % 140) - 79);
    memset(&s, 0, sizeof s);
    add(&s, (uint32_t)n, (uint32_t)n % OZ_EXACT_SUMS, v);
    const double back = read(&s, (uint32_t)n % OZ_EXACT_SUMS);
    CHECK(back == v, "%a became %a", v, back);
  }
}
OZ_CASE(sums_do_not_depend_on_the_order) {
  enum { N = OZ_EXACT_TERMS };
  static double v[N];
  for (int kind = 0; kind < 4; kind++) {
    oz_exact_sums a, b;
    long double sum = 0.0L, size = 0.0L;
    for (uint32_t i = 0; i < N; i++) /* alike, of both signs, of all sizes, as great as can be */
      v[i] = kind == 0   ? uniform()
             : kind == 1 ? uniform() - 0.5
             : kind == 2 ? ldexp(uniform() - 0.5, (int)(next() % 100) - 70)
                         : ldexp(1.0 - 1e-16, OZ_EXACT_BELOW);
    for (uint32_t i = 0; i < N; i++) sum += (long double)v[i], size += fabsl((long double)v[i]);
    memset(&a, 0, sizeof a), memset(&b, 0, sizeof b);
    for (uint32_t i = 0; i < N; i++) add(&a, i, 1, v[i]);
    shuffle(v, N);
    for (uint32_t i = 0; i < N; i++) add(&b, i / 7, 1, v[i]);
    CHECK(read(&a, 1) == read(&b, 1), "kind %d: %a and %a", kind, read(&a, 1), read(&b, 1));
    CHECK(fabsl((long double)read(&a, 1) - sum) <= 2.5e-16L * size, "kind %d: %a is not %La", kind,
          read(&a, 1), sum);
    CHECK(read(&a, 0) == 0.0 && read(&a, 2) == 0.0, "others have got something");
  }
}
OZ_CASE(what_is_no_number_spoils_the_sum_whatever_comes_besides) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 4.7e18, -4.7e18, 1e300};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
    for (uint32_t many = 1; many <= 64; many *= 8) { /* in one copy, and in all */
      oz_exact_sums s;
      memset(&s, 0, sizeof s);
      for (uint32_t i = 0; i < OZ_EXACT_TERMS; i++)
        add(&s, i, 2,
            i % 100 == 50 && i / 100 < many ? bad[k] : ldexp(1.0 - 1e-16, OZ_EXACT_BELOW));
      CHECK(isnan(read(&s, 2)), "%g, %u times: %g", bad[k], many, read(&s, 2));
    }
}
OZ_TEST_MAIN()
