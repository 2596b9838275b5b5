/* Numbers of particles as colours, for hosts that show them. SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

#include <float.h>

static float value_of(uint32_t kind, const float *v) {
  switch (kind) {
  case OOZE_VISUAL_SPEED:
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  case OOZE_VISUAL_STRETCH: { /* how far the conformation is from rest */
    const float a = v[0] - 1.0f, b = v[1] - 1.0f, c = v[2] - 1.0f;
    return sqrtf(a * a + b * b + c * c + 2.0f * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]));
  }
  case OOZE_VISUAL_STRESS:
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] +
                 2.0f * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]));
  default:
    return v[0];
  }
}

uint32_t ooze_visual_components(uint32_t kind) {
  static const uint32_t widths[] = {3, 6, 6, 1, 1};
  return kind < sizeof widths / sizeof *widths ? widths[kind] : 0;
}

ooze_result ooze_visual(uint32_t kind, const float *values, uint32_t count, const float range[2],
                        float *out) {
  static const uint32_t maps[] = {OOZE_MAP_VIRIDIS, OOZE_MAP_MAGMA, OOZE_MAP_MAGMA, OOZE_MAP_HEAT,
                                  OOZE_MAP_VIRIDIS};
  const uint32_t width = ooze_visual_components(kind);
  float low = FLT_MAX, high = -FLT_MAX;
  if (!width || !range || (count && (!values || !out))) return OOZE_ERROR_ARGUMENT;
  for (size_t i = 0; i < count; i++) {
    const float v = value_of(kind, values + width * i);
    if (!isfinite(v)) continue;
    low = fminf(low, v);
    high = fmaxf(high, v);
  }
  if (range[0] != 0.0f || range[1] != 0.0f) low = range[0], high = range[1];
  const float span = high > low ? high - low : 1.0f;
  for (size_t i = 0; i < count; i++) {
    const oz_v3 c = oz_colour_map(maps[kind], (value_of(kind, values + width * i) - low) / span);
    out[3 * i] = c.x;
    out[3 * i + 1] = c.y;
    out[3 * i + 2] = c.z;
  }
  return OOZE_OK;
}
