/* Numbers of one type in a file to numbers of one type in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bgeo_lex.h"

uint32_t geo_type_bytes(uint8_t type) {
  switch (type) {
  case GEO_T_INT8:
  case GEO_T_UINT8:
    return 1;
  case GEO_T_INT16:
  case GEO_T_UINT16:
  case GEO_T_REAL16:
    return 2;
  case GEO_T_INT32:
  case GEO_T_REAL32:
    return 4;
  case GEO_T_INT64:
  case GEO_T_REAL64:
    return 8;
  default:
    return 0;
  }
}

/* IEEE half to float, by way of the bits. */
static float half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 31u,
           fraction = half & 0x3ffu, bits;
  float value;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | fraction << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112u) << 23 | fraction << 13;
  } else {
    value = (float)fraction * 0x1p-24f; /* subnormal: exact in float */
    memcpy(&bits, &value, 4);
    bits |= sign;
  }
  memcpy(&value, &bits, 4);
  return value;
}

/* A real that does not fit an integer is a mistake of the file, not undefined behaviour here. */
static int64_t to_int64(double value) {
  if (!(value > -9223372036854775808.0)) return value == value ? INT64_MIN : 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  return (int64_t)value;
}
static int32_t to_int32(int64_t value) {
  return value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* One loop per pair of types, each with its own fixed sizes, so that none calls a function per
 * value. */
#define FROM(TYPE, READ_AS, CAST_INT)                \
  for (uint64_t i = 0; i < count; i++) {             \
    TYPE raw;                                        \
    memcpy(&raw, data + i * sizeof raw, sizeof raw); \
    READ_AS value = CAST_INT(raw);                   \
    switch (to) {                                    \
    case OOZE_FLOAT32:                               \
      ((float *)out)[i] = (float)value;              \
      break;                                         \
    case OOZE_FLOAT64:                               \
      ((double *)out)[i] = (double)value;            \
      break;                                         \
    case OOZE_INT32:                                 \
      ((int32_t *)out)[i] = to_int32(AS_INT(value)); \
      break;                                         \
    default:                                         \
      ((int64_t *)out)[i] = AS_INT(value);           \
      break;                                         \
    }                                                \
  }                                                  \
  return

void geo_convert(uint8_t type, const uint8_t *data, uint64_t count, uint32_t to, void *out) {
  if ((type == GEO_T_REAL32 && to == OOZE_FLOAT32) || (type == GEO_T_INT32 && to == OOZE_INT32) ||
      (type == GEO_T_REAL64 && to == OOZE_FLOAT64) || (type == GEO_T_INT64 && to == OOZE_INT64)) {
    if (count) memcpy(out, data, (size_t)(count * geo_type_bytes(type)));
    return;
  }
  switch (type) {
#define AS_INT(v) to_int64((double)(v))
  case GEO_T_REAL16:
    FROM(uint16_t, float, half_to_float);
  case GEO_T_REAL32:
    FROM(float, float, );
  case GEO_T_REAL64:
    FROM(double, double, );
#undef AS_INT
#define AS_INT(v) ((int64_t)(v))
  case GEO_T_INT8:
    FROM(int8_t, int64_t, );
  case GEO_T_INT16:
    FROM(int16_t, int64_t, );
  case GEO_T_INT32:
    FROM(int32_t, int64_t, );
  case GEO_T_INT64:
    FROM(int64_t, int64_t, );
  case GEO_T_UINT8:
    FROM(uint8_t, int64_t, );
  case GEO_T_UINT16:
    FROM(uint16_t, int64_t, );
  default:
    break;
  }
  for (uint64_t i = 0; i < count; i++) { /* bool: bits in 32-bit words */
    int64_t value = (data[i / 32 * 4 + i % 32 / 8] >> (i % 8)) & 1;
    oz_store_number(to, out, i, (double)value, value);
  }
}
