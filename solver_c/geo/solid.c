/* Distance from solids: closed forms, and bricks of samples. SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <math.h>

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
static double length2(double x, double y) { return sqrt(x * x + y * y); }
static double length3(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

double oz_primitive_distance(uint32_t shape, const float half[3], const double x[3]) {
  const double h[3] = {(double)half[0], (double)half[1], (double)half[2]};
  switch (shape) {
  case OOZE_SHAPE_PLANE:
    return x[1];
  case OOZE_SHAPE_SPHERE:
    return length3(x) - h[0];
  case OOZE_SHAPE_BOX: {
    double out[3], in = -1e300;
    for (int k = 0; k < 3; k++) {
      const double q = fabs(x[k]) - h[k];
      out[k] = most(q, 0.0);
      in = most(in, q);
    }
    return length3(out) + least(in, 0.0);
  }
  case OOZE_SHAPE_CAPSULE: {
    const double y = x[1] - least(most(x[1], -h[1]), h[1]), v[3] = {x[0], y, x[2]};
    return length3(v) - h[0];
  }
  case OOZE_SHAPE_CYLINDER: {
    const double a = length2(x[0], x[2]) - h[0], b = fabs(x[1]) - h[1];
    return least(most(a, b), 0.0) + length2(most(a, 0.0), most(b, 0.0));
  }
  default:
    return 1e300;
  }
}

int oz_primitive_box(uint32_t shape, const float half[3], double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = (double)half[k];
  switch (shape) {
  case OOZE_SHAPE_BOX:
    return 1;
  case OOZE_SHAPE_SPHERE:
    out[1] = out[2] = out[0];
    return 1;
  case OOZE_SHAPE_CAPSULE:
    out[1] += out[0], out[2] = out[0];
    return 1;
  case OOZE_SHAPE_CYLINDER:
    out[2] = out[0];
    return 1;
  default:
    return 0;
  }
}

/* ---- Bricks ---- */

int oz_brick_map_make(oz_brick_map *m, const ooze_sdf_brick *bricks, uint32_t count) {
  if (!oz_map_init(&m->map, count)) return 0;
  for (uint32_t i = 0; i < count; i++) {
    int at[3];
    for (int k = 0; k < 3; k++) {
      at[k] = bricks[i].origin[k] >> 3;
      if (at[k] <= -OZ_KEY_LIMIT || at[k] >= OZ_KEY_LIMIT)
        at[k] = at[k] < 0 ? 1 - OZ_KEY_LIMIT : OZ_KEY_LIMIT - 1;
      m->low[k] = i && m->low[k] < at[k] ? m->low[k] : at[k];
      m->high[k] = i && m->high[k] > at[k] ? m->high[k] : at[k];
    }
    if (oz_map_put(&m->map, oz_key(at[0], at[1], at[2]), i) < 0) return 0;
  }
  return 1;
}

void oz_brick_map_free(oz_brick_map *m) { oz_map_free(&m->map); }

/* The sample at a lattice point; *known is 0 where no brick has one. The sign is then that of the
 * first sample that a row along +x meets: leaving a solid without crossing its surface is not
 * possible. */
static double sample(const oz_brick_map *m, const ooze_sdf_brick *bricks, const int x[3],
                     int *known) {
  int b[3] = {x[0] >> 3, x[1] >> 3, x[2] >> 3}, row = 8 * (x[1] & 7) + (x[2] & 7);
  uint32_t i = oz_map_get(&m->map, oz_key(b[0], b[1], b[2]));
  if (i != OZ_NONE) return (double)bricks[i].values[64 * (x[0] & 7) + row];
  *known = 0;
  while (++b[0] <= m->high[0]) {
    i = oz_map_get(&m->map, oz_key(b[0], b[1], b[2]));
    if (i != OZ_NONE) return bricks[i].values[row] < 0.0f ? -OZ_BEYOND : OZ_BEYOND;
  }
  return OZ_BEYOND;
}

double oz_brick_distance(const oz_brick_map *m, const ooze_sdf_brick *bricks, float voxel,
                         const double p[3]) {
  double t[3], f[8];
  int x[3], known = 1;
  for (int k = 0; k < 3; k++) {
    double at = p[k] / (double)voxel;
    /* also values that are not finite */
    if (!(at >= 8.0 * m->low[k] - 1.0 && at <= 8.0 * m->high[k] + 8.0)) return OZ_BEYOND;
    x[k] = (int)floor(at);
    t[k] = at - x[k];
  }
  for (int n = 0; n < 8; n++) {
    const int y[3] = {x[0] + (n >> 2), x[1] + (n >> 1 & 1), x[2] + (n & 1)};
    f[n] = sample(m, bricks, y, &known);
  }
  if (!known) return f[0]; /* at the edge of the band or beyond */
  for (int n = 0; n < 4; n++) f[n] += t[0] * (f[n + 4] - f[n]);
  for (int n = 0; n < 2; n++) f[n] += t[1] * (f[n + 2] - f[n]);
  return f[0] + t[2] * (f[1] - f[0]);
}
