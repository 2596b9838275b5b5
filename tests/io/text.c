/* Numbers as text, whatever the locale. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "geo/geo_internal.h"
#include "io_check.h"

#include <locale.h>

OZ_TEST_MAIN()

static double read_real(const char *text) {
  const char *at = text;
  double value = -12345.0;
  CHECK(oz_text_real(&at, text + strlen(text), &value), "'%s'", text);
  CHECK(*at == 0, "'%s' stopped at '%s'", text, at);
  return value;
}

OZ_CASE(numbers_read_as_the_c_library_reads_them) {
  static const char *const list[] = {"0",
                                     "-0",
                                     "1",
                                     "0.1",
                                     "-1.07095670999999992",
                                     "1e-45",
                                     "3.4028235e38",
                                     "1.7976931348623157e308",
                                     "4.9e-324",
                                     "123456789012345678901234567890",
                                     ".5",
                                     "5.",
                                     "1E+5",
                                     "0.000000000000000000000000000001",
                                     "9007199254740993"};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    double mine = read_real(list[i]), theirs = strtod(list[i], NULL);
    CHECK(memcmp(&mine, &theirs, 8) == 0, "'%s' is %.17g, expected %.17g", list[i], mine, theirs);
  }
  CHECK(isnan(read_real("nan")) && isinf(read_real("-inf")) && read_real("-inf") < 0 &&
        isinf(read_real("Infinity")));
}

OZ_CASE(random_bits_survive_as_text) {
  uint32_t seed = 99;
  for (int i = 0; i < 20000; i++) {
    uint32_t bits = io_random(&seed);
    uint64_t wide = (uint64_t)io_random(&seed) << 32 | bits;
    float f, g;
    double d, e;
    char text[48];
    memcpy(&f, &bits, 4);
    memcpy(&d, &wide, 8);
    if (isfinite(f)) {
      text[oz_text_float(text, f)] = 0;
      g = (float)read_real(text);
      CHECK(memcmp(&f, &g, 4) == 0, "%s", text);
    }
    if (isfinite(d)) {
      text[oz_text_double(text, d)] = 0;
      e = read_real(text);
      CHECK(memcmp(&d, &e, 8) == 0, "%s", text);
    }
  }
}

OZ_CASE(integers_stop_at_their_limits) {
  int64_t value;
  const char *text = "9223372036854775807", *at = text;
  CHECK(oz_text_int(&at, text + 19, &value) && value == INT64_MAX);
  text = at = "-9223372036854775808";
  CHECK(oz_text_int(&at, text + 20, &value) && value == INT64_MIN);
  text = at = "9223372036854775808";
  CHECK(!oz_text_int(&at, text + 19, &value));
  text = at = "12.5";
  CHECK(!oz_text_int(&at, text + 4, &value));
  text = at = "123";
  CHECK(oz_text_int(&at, text + 2, &value) && value == 12);
}

OZ_CASE(a_locale_with_a_decimal_comma_changes_nothing) {
  char text[48];
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  bool found = false;
  for (int i = 0; i < 4 && !found; i++) found = setlocale(LC_NUMERIC, names[i]) != NULL;
  if (!found) OZ_SKIP("no locale with a decimal comma is installed");
  text[oz_text_double(text, 1.0 / 3.0)] = 0;
  double back = read_real("0.33333333333333331");
  setlocale(LC_NUMERIC, "C");
  CHECK_STR(text, "0.33333333333333331");
  CHECK(back == 1.0 / 3.0);
}
