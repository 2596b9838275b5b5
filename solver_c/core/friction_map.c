/* SPDX-License-Identifier: Apache-2.0 */
#include "core/friction_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "physics/contact.h"

void oz_friction_map_release(oz_memory *memory, oz_friction_map *g) {
  oz_free(memory, g->key);
  oz_free(memory, g->values);
  memset(g, 0, sizeof *g);
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}
static int32_t brick_of(int32_t voxel) { return (voxel - (voxel & 7)) / 8; }

/* The brick of a key, which is there. */
static float *values_of(const oz_friction_map *g, uint64_t key) {
  uint32_t lo = 0, hi = g->count;
  while (lo + 1 < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (g->key[mid] <= key)
      lo = mid;
    else
      hi = mid;
  }
  return g->values + (size_t)lo * OZ_FRICTION_MAP_FLOATS;
}

/* Every voxel within two of a point has the mean of the points around it, weighted by a tent two
 * voxels wide: so there are no gaps between points up to a voxel apart, and a particle one voxel
 * off the surface still finds the map. */
enum { REACH = 2 };
static double tent(double r) { return r < REACH ? 1.0 - r / REACH : 0.0; }

static ooze_result keys_of(oz_memory *memory, const char *who, double voxel, uint32_t count,
                           const float *x, oz_friction_map *out, ooze_message *why) {
  /* the corners of a point's box of 5 voxels name all bricks that it touches */
  uint64_t *keys = oz_alloc(memory, ((size_t)count * 8 + 1) * sizeof *keys);
  size_t n = 0;
  if (!keys)
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for the friction of %u points", who,
                   (unsigned)count);
  for (uint32_t i = 0; i < count; i++)
    for (int c = 0; c < 8; c++) {
      int32_t b[3];
      for (int a = 0; a < 3; a++)
        b[a] = brick_of((int32_t)floor((double)x[3 * (size_t)i + (size_t)a] / voxel) +
                        (c >> a & 1 ? REACH + 1 : -REACH));
      keys[n++] = oz_brick_key(b[0], b[1], b[2]);
      if (n > 1 && keys[n - 2] == keys[n - 1]) n--; /* mostly all eight are one */
    }
  qsort(keys, n, sizeof *keys, by_key);
  size_t kept = 0;
  for (size_t k = 0; k < n; k++)
    if (!kept || keys[k] != keys[kept - 1]) keys[kept++] = keys[k];
  if (kept > OZ_FRICTION_MAP_BRICKS_MAX) {
    oz_free(memory, keys);
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: %zu bricks for friction that differs from place to place; expected at most "
                   "%u: points further apart",
                   who, kept, OZ_FRICTION_MAP_BRICKS_MAX);
  }
  out->key = oz_alloc(memory, kept * sizeof *keys + 8);
  out->values = oz_alloc(memory, kept * OZ_FRICTION_MAP_FLOATS * sizeof(float));
  if (!out->key || !out->values) {
    oz_free(memory, keys);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %zu bricks of friction", who, kept);
  }
  memcpy(out->key, keys, kept * sizeof *keys);
  memset(out->values, 0, kept * OZ_FRICTION_MAP_FLOATS * sizeof(float));
  out->count = (uint32_t)kept;
  oz_free(memory, keys);
  return OOZE_OK;
}

ooze_result oz_friction_map_make(oz_memory *memory, const char *who, double voxel, uint32_t count,
                                 const float *x, const float *friction, float whole_friction,
                                 const float *stick, float whole_stick, oz_friction_map *out,
                                 ooze_message *why) {
  oz_friction_map g = {(float)voxel, 0, NULL, NULL};
  voxel = (double)g.voxel;
  ooze_result r = keys_of(memory, who, voxel, count, x, &g, why);
  float *weight = r < 0 ? NULL : oz_alloc(memory, ((size_t)g.count * 512 + 1) * sizeof *weight);
  if (r >= 0 && !weight)
    r = oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %u bricks of friction", who,
                (unsigned)g.count);
  if (r < 0) {
    oz_friction_map_release(memory, &g);
    return r;
  }
  memset(weight, 0, (size_t)g.count * 512 * sizeof *weight);
  for (uint32_t i = 0; i < count; i++) {
    double at[3];
    int32_t base[3];
    for (int a = 0; a < 3; a++)
      at[a] = (double)x[3 * (size_t)i + (size_t)a] / voxel, base[a] = (int32_t)floor(at[a]);
    for (int32_t n = 0; n < 216; n++) {
      const int32_t v[3] = {base[0] + n / 36 - REACH, base[1] + n / 6 % 6 - REACH,
                            base[2] + n % 6 - REACH};
      const double w =
          tent(fabs(at[0] - v[0])) * tent(fabs(at[1] - v[1])) * tent(fabs(at[2] - v[2]));
      if (!(w > 0.0)) continue;
      float *values = values_of(&g, oz_brick_key(brick_of(v[0]), brick_of(v[1]), brick_of(v[2])));
      const size_t k = (size_t)((v[2] & 7) + 8 * ((v[1] & 7) + 8 * (v[0] & 7)));
      weight[(size_t)(values - g.values) / 2 + k] += (float)w;
      values[2 * k] += (float)w * (friction ? friction[i] : whole_friction);
      values[2 * k + 1] += (float)w * (stick ? stick[i] : whole_stick);
    }
  }
  for (size_t k = 0; k < (size_t)g.count * 512; k++) {
    const float w = weight[k];
    g.values[2 * k] = w > 0.0f ? g.values[2 * k] / w : -1.0f; /* nothing known here */
    g.values[2 * k + 1] = w > 0.0f ? g.values[2 * k + 1] / w : 0.0f;
  }
  oz_free(memory, weight);
  oz_friction_map_release(memory, out);
  *out = g;
  return OOZE_OK;
}

size_t oz_friction_map_bytes(const oz_friction_map *g) {
  return 8 + (size_t)g->count * (8 + OZ_FRICTION_MAP_FLOATS * sizeof(float));
}
unsigned char *oz_friction_map_write(const oz_friction_map *g, unsigned char *at) {
  at = oz_bytes_put(at, &g->voxel, 4);
  at = oz_bytes_put(at, &g->count, 4);
  if (!g->count) return at;
  at = oz_bytes_put(at, g->key, g->count * sizeof *g->key);
  return oz_bytes_put(at, g->values, (size_t)g->count * OZ_FRICTION_MAP_FLOATS * sizeof(float));
}

ooze_result oz_friction_map_read(oz_memory *memory, const char *who, oz_bytes *in,
                                 oz_friction_map *out, ooze_message *why) {
  oz_friction_map g = {0.0f, 0, NULL, NULL};
  oz_bytes_take(in, &g.voxel, 4);
  oz_bytes_take(in, &g.count, 4);
  const uint32_t count = g.count;
  if (in->bad || (count && !(g.voxel > 0.0f && g.voxel < 1e6f)) ||
      count > OZ_FRICTION_MAP_BRICKS_MAX ||
      count > in->left / (8 + OZ_FRICTION_MAP_FLOATS * sizeof(float)))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: %u bricks of friction of %g m cannot be", who,
                   (unsigned)count, (double)g.voxel);
  if (!count) return OOZE_OK;
  g.key = oz_alloc(memory, count * sizeof *g.key);
  g.values = oz_alloc(memory, (size_t)count * OZ_FRICTION_MAP_FLOATS * sizeof(float));
  int good = g.key && g.values;
  if (!good) {
    oz_friction_map_release(memory, &g);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %u bricks of friction", who,
                   (unsigned)count);
  }
  oz_bytes_take(in, g.key, count * sizeof *g.key);
  oz_bytes_take(in, g.values, (size_t)count * OZ_FRICTION_MAP_FLOATS * sizeof(float));
  for (uint32_t k = 1; k < count; k++) good &= g.key[k - 1] < g.key[k];
  for (size_t k = 0; k < (size_t)count * OZ_FRICTION_MAP_FLOATS; k += 2)
    good &= g.values[k] >= -1.0f && g.values[k] <= 1.0f && g.values[k + 1] >= 0.0f &&
            g.values[k + 1] <= 1e6f;
  if (!good) {
    oz_friction_map_release(memory, &g);
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: its friction from place to place is out of range",
                   who);
  }
  *out = g;
  return OOZE_OK;
}
