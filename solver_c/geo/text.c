/* Messages, struct sizes and numbers as text: the leaves of solver_c/geo.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ooze_io_free(void *memory) { free(memory); }

const char *ooze_io_build_text(void) {
  return
#ifdef OOZE_HAVE_BLOSC
      "blosc "
#else
      "no-blosc "
#endif
#ifdef OOZE_HAVE_ZSTD
      "zstd "
#else
      "no-zstd "
#endif
#ifdef OOZE_HAVE_ALEMBIC
      "alembic"
#else
      "no-alembic"
#endif
      ;
}

void oz_source_bad(const oz_source *source, const char *place, const char *format, va_list list) {
  char text[300];
  vsnprintf(text, sizeof text, format, list);
  oz_fail(source->why, OOZE_ERROR_FORMAT, "%s: %s%s", source->name, place, text);
}

/* As much of a client's struct as both know, over the defaults; the size in front of it tells how
 * much that is. */
static void take_given(void *full, size_t known, const void *given) {
  uint32_t size = 0;
  const uint32_t own = (uint32_t)known;
  if (given) memcpy(&size, given, sizeof size);
  if (size >= sizeof size) memcpy(full, given, size < known ? size : known);
  memcpy(full, &own, sizeof own);
}

ooze_io_limits oz_limits_of(const ooze_io_limits *given) {
  ooze_io_limits full;
  ooze_io_limits_default(&full);
  take_given(&full, sizeof full, given);
  return full;
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

ooze_write_options oz_options_of(const ooze_write_options *given) {
  ooze_write_options full;
  ooze_write_options_default(&full);
  take_given(&full, sizeof full, given);
  if (!full.software)
    full.software =
        "Ooze " TEXT(OOZE_VERSION_MAJOR) "." TEXT(OOZE_VERSION_MINOR) "." TEXT(OOZE_VERSION_PATCH);
  if (full.compression > 9) full.compression = 9;
  if (full.threads > 64) full.threads = 64;
  return full;
}

ooze_result oz_struct_out(void *out, const void *filled, size_t bytes) {
  uint32_t size;
  memcpy(&size, out, sizeof size);
  if (size < sizeof size) return OOZE_ERROR_ARGUMENT;
  if (size < bytes) bytes = size;
  memcpy((char *)out + sizeof size, (const char *)filled + sizeof size, bytes - sizeof size);
  return OOZE_OK;
}

uint32_t oz_type_bytes(uint32_t type) { return type == OOZE_FLOAT32 || type == OOZE_INT32 ? 4 : 8; }

const char *oz_type_name(uint32_t type) {
  static const char *const names[] = {"float32", "float64", "int32", "int64", "uint64"};
  return type <= OOZE_UINT64 ? names[type] : "unknown";
}

/* ---- Numbers as text --------------------------------------------------------------------- */

/* strtod and printf follow the host's locale, and a host may have set one where 1.5 is written 1,5.
 * So the point is put in and out by hand, and the usual short numbers never reach strtod. */
static double slow_real(const char *begin, const char *end) {
  char text[128];
  const struct lconv *local = localeconv();
  const char *point =
      local && local->decimal_point && local->decimal_point[0] ? local->decimal_point : ".";
  size_t used = 0, wide = strlen(point);
  for (const char *c = begin; c < end && used + wide + 1 < sizeof text; c++) {
    if (*c == '.') {
      memcpy(text + used, point, wide);
      used += wide;
    } else {
      text[used++] = *c;
    }
  }
  text[used] = 0;
  return strtod(text, NULL);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool word(const char **at, const char *end, const char *lower) {
  const char *c = *at;
  for (; *lower; lower++, c++)
    if (c >= end || (*c | 0x20) != *lower) return false;
  *at = c;
  return true;
}

/* nan, inf, infinity, in any case. */
static bool special_real(const char **at, const char *end, bool minus, double *out) {
  if (word(at, end, "nan"))
    *out = NAN;
  else if (word(at, end, "infinity") || word(at, end, "inf"))
    *out = minus ? -INFINITY : INFINITY;
  else
    return false;
  return true;
}

/* A decimal number's parts: mantissa * 10^exponent. */
typedef struct decimal {
  uint64_t mantissa; /* of the first 18 digits */
  int digits;        /* without zeros in front; above 18 the mantissa is cut */
  int exponent;
} decimal;

static bool read_digits(const char **at, const char *end, decimal *d) {
  const char *c = *at;
  int seen = 0;
  for (; c < end && is_digit(*c); c++, seen++) {
    if (d->digits < 18) {
      d->mantissa = d->mantissa * 10 + (uint64_t)(*c - '0');
      d->digits += d->mantissa != 0;
    } else {
      d->digits++;
      d->exponent++;
    }
  }
  if (c < end && *c == '.') {
    for (c++; c < end && is_digit(*c); c++, seen++) {
      if (d->digits < 18) {
        d->mantissa = d->mantissa * 10 + (uint64_t)(*c - '0');
        d->digits += d->mantissa != 0;
        d->exponent--;
      } else {
        d->digits++;
      }
    }
  }
  *at = c;
  return seen > 0;
}

/* e, a sign and digits; an e without digits is not part of the number. */
static void read_exponent(const char **at, const char *end, decimal *d) {
  const char *c = *at;
  if (c >= end || (*c != 'e' && *c != 'E')) return;
  bool down = false;
  c++;
  if (c < end && (*c == '-' || *c == '+')) down = *c++ == '-';
  if (c >= end || !is_digit(*c)) return;
  int value = 0;
  for (; c < end && is_digit(*c); c++)
    if (value < 100000) value = value * 10 + (*c - '0');
  d->exponent += down ? -value : value;
  *at = c;
}

/* Where both factors are exact doubles, one rounding gives the nearest (Clinger 1990). */
static bool is_exact(const decimal *d) {
  return d->digits <= 18 && d->mantissa <= (UINT64_C(1) << 53) && d->exponent >= -22 &&
         d->exponent <= 22;
}

static double exact_real(const decimal *d) {
  static const double power[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const double mantissa = (double)d->mantissa;
  return d->exponent < 0 ? mantissa / power[-d->exponent] : mantissa * power[d->exponent];
}

/* An absurdly long number: near enough, and never a surprise in time. */
static double long_real(const decimal *d) {
  if (d->mantissa == 0) return 0.0;
  return d->exponent > 400    ? INFINITY
         : d->exponent < -800 ? 0.0
                              : (double)d->mantissa * pow(10.0, d->exponent);
}

bool oz_text_real(const char **at, const char *end, double *out) {
  const char *c = *at, *begin = *at;
  decimal d = {0, 0, 0};
  bool minus = false;
  if (c < end && (*c == '-' || *c == '+')) minus = *c++ == '-';
  if (c < end && !is_digit(*c) && *c != '.') {
    if (!special_real(&c, end, minus, out)) return false;
    *at = c;
    return true;
  }
  if (!read_digits(&c, end, &d)) return false;
  read_exponent(&c, end, &d);
  if (!is_exact(&d) && c - begin < 100) {
    *out = slow_real(begin, c); /* with its sign */
  } else {
    const double value = is_exact(&d) ? exact_real(&d) : long_real(&d);
    *out = minus ? -value : value;
  }
  *at = c;
  return true;
}

bool oz_text_int(const char **at, const char *end, int64_t *out) {
  const char *c = *at;
  bool minus = false;
  if (c < end && (*c == '-' || *c == '+')) minus = *c++ == '-';
  if (c >= end || !is_digit(*c)) return false;
  uint64_t value = 0;
  for (; c < end && is_digit(*c); c++) {
    uint64_t digit = (uint64_t)(*c - '0');
    if (value > (UINT64_C(9223372036854775807) + minus - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (c < end && (*c == '.' || *c == 'e' || *c == 'E')) return false;
  *out = minus ? (int64_t)(0 - value) : (int64_t)value;
  *at = c;
  return true;
}

static int printed(char *out, int digits, double value) {
  int length = snprintf(out, 40, "%.*g", digits, value);
  const struct lconv *local = localeconv();
  const char *point = local && local->decimal_point ? local->decimal_point : ".";
  if (strcmp(point, ".") != 0 && point[0]) {
    char *found = strstr(out, point);
    if (found) {
      size_t wide = strlen(point);
      *found = '.';
      memmove(found + 1, found + wide, strlen(found + wide) + 1);
      length -= (int)wide - 1;
    }
  }
  return length;
}

int oz_text_float(char *out, float value) {
  if (!isfinite(value))
    return snprintf(out, 40, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
  for (int digits = 6; digits < 9; digits += 2) {
    int length = printed(out, digits, (double)value);
    const char *at = out;
    double back = 0.0;
    if (oz_text_real(&at, out + length, &back) && (float)back == value) return length;
  }
  return printed(out, 9, (double)value);
}

int oz_text_double(char *out, double value) {
  if (!isfinite(value))
    return snprintf(out, 40, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
  int length = printed(out, 15, value);
  const char *at = out;
  double back = 0.0;
  if (oz_text_real(&at, out + length, &back) && back == value) return length;
  return printed(out, 17, value);
}
