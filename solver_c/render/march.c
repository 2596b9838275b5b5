/* Rays through the bricks of a level set: empty bricks are crossed in one step, full ones by steps
 * of the distance. Where a few particles have flown far off, so are empty blocks of 16 or 256
 * bricks a side. SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

static const int coarse_shift[OZ_MARCH_LEVELS] = {8, 4};

static int coarse_init(oz_march *m, uint32_t total) {
  for (int l = 0; l < OZ_MARCH_LEVELS; ++l) {
    if (!oz_map_init(&m->coarse[l], 64)) return 0;
    for (uint32_t i = 0; i < total; ++i) {
      int k[3];
      oz_key_split(m->s->keys[i], k);
      if (oz_map_put(
              &m->coarse[l],
              oz_key(k[0] >> coarse_shift[l], k[1] >> coarse_shift[l], k[2] >> coarse_shift[l]),
              0) < 0)
        return 0;
    }
  }
  return 1;
}
/* How large a block around an empty brick is empty, as a power of two. */
static int empty_around(const oz_march *m, const int k[3]) {
  for (int l = 0; l < OZ_MARCH_LEVELS && m->coarse[l].keys; ++l)
    if (oz_map_get(&m->coarse[l], oz_key(k[0] >> coarse_shift[l], k[1] >> coarse_shift[l],
                                         k[2] >> coarse_shift[l])) == OZ_NONE)
      return coarse_shift[l];
  return 0;
}

int oz_march_init(oz_march *m, const ooze_surface *s) {
  uint32_t total = s->brick_count + s->inside_count, i;
  double cells = 1.0;
  int a, k[3];
  memset(m, 0, sizeof *m);
  m->s = s;
  m->side = 8.0f * s->voxel;
  m->inv_voxel = 1.0f / s->voxel;
  for (i = 0; i < total; ++i) {
    oz_key_split(s->keys[i], k);
    for (a = 0; a < 3; ++a) {
      if (!i || k[a] < m->lo[a]) m->lo[a] = k[a];
      if (!i || k[a] > m->hi[a]) m->hi[a] = k[a];
    }
  }
  for (a = 0; a < 3; ++a) cells *= (double)m->hi[a] - m->lo[a] + 1;
  m->corner = (uint32_t *)oz_allocate(s->brick_count, 8 * sizeof(uint32_t));
  if (!m->corner) return 0;
  oz_loop loop;
  oz_loop_open(&loop, NULL, 0);
  m->spline = oz_spline_make(s, &loop);
  oz_loop_close(&loop);
  if (!m->spline) return 0;
  for (i = 0; i < s->brick_count; ++i) {
    oz_key_split(s->keys[i], k);
    for (a = 0; a < 8; ++a)
      m->corner[8 * (size_t)i + (size_t)a] =
          oz_map_get(&s->map, oz_key(k[0] + (a >> 2), k[1] + (a >> 1 & 1), k[2] + (a & 1)));
  }
  if (total && cells < 3e7) {
    m->grid = (uint32_t *)oz_allocate((size_t)cells, sizeof *m->grid);
    if (!m->grid) return 0;
    memset(m->grid, 0xff, (size_t)cells * sizeof *m->grid);
    for (i = 0; i < total; ++i) {
      oz_key_split(s->keys[i], k);
      m->grid[((size_t)(k[0] - m->lo[0]) * (size_t)(m->hi[1] - m->lo[1] + 1) +
               (size_t)(k[1] - m->lo[1])) *
                  (size_t)(m->hi[2] - m->lo[2] + 1) +
              (size_t)(k[2] - m->lo[2])] = i;
    }
  }
  const int wide = 64; /* bricks; less is crossed as fast without */
  if ((m->hi[0] - m->lo[0] > wide || m->hi[1] - m->lo[1] > wide || m->hi[2] - m->lo[2] > wide) &&
      !coarse_init(m, total))
    return 0;
  return 1;
}

void oz_march_free(oz_march *m) {
  oz_release(m->grid);
  oz_release(m->corner);
  oz_release(m->spline);
  for (int l = 0; l < OZ_MARCH_LEVELS; ++l) oz_map_free(&m->coarse[l]);
  memset(m, 0, sizeof *m);
}

static uint32_t brick_at(const oz_march *m, int x, int y, int z) {
  if (x < m->lo[0] || x > m->hi[0] || y < m->lo[1] || y > m->hi[1] || z < m->lo[2] || z > m->hi[2])
    return OZ_NONE;
  if (!m->grid) return oz_map_get(&m->s->map, oz_key(x, y, z));
  return m
      ->grid[((size_t)(x - m->lo[0]) * (size_t)(m->hi[1] - m->lo[1] + 1) + (size_t)(y - m->lo[1])) *
                 (size_t)(m->hi[2] - m->lo[2] + 1) +
             (size_t)(z - m->lo[2])];
}

/* Trilinear in a brick with values; x, y, z in voxels from its first sample, 0 to 8. */
static inline float in_brick(const oz_march *m, uint32_t brick, float x, float y, float z) {
  const ooze_surface *s = m->s;
  int i = (int)x, j = (int)y, k = (int)z, n;
  float f[8], tx, ty, tz;
  i = i < 0 ? 0 : i > 7 ? 7 : i;
  j = j < 0 ? 0 : j > 7 ? 7 : j;
  k = k < 0 ? 0 : k > 7 ? 7 : k;
  tx = x - (float)i, ty = y - (float)j, tz = z - (float)k;
  if (i < 7 && j < 7 && k < 7) {
    const float *v = s->values + 512 * (size_t)brick + 64 * i + 8 * j + k;
    f[0] = v[0];
    f[1] = v[1];
    f[2] = v[8];
    f[3] = v[9];
    f[4] = v[64];
    f[5] = v[65];
    f[6] = v[72];
    f[7] = v[73];
  } else {
    for (n = 0; n < 8; ++n) {
      int u = i + (n >> 2), v = j + (n >> 1 & 1), w = k + (n & 1);
      uint32_t b = m->corner[8 * (size_t)brick + (size_t)((u >> 3) * 4 + (v >> 3) * 2 + (w >> 3))];
      f[n] = b == OZ_NONE ? s->band
             : b >= s->brick_count
                 ? -s->band
                 : s->values[512 * (size_t)b + (size_t)(64 * (u & 7) + 8 * (v & 7) + (w & 7))];
    }
  }
  for (n = 0; n < 4; ++n) f[n] += tx * (f[n + 4] - f[n]);
  for (n = 0; n < 2; ++n) f[n] += ty * (f[n + 2] - f[n]);
  return f[0] + tz * (f[1] - f[0]);
}

float oz_march_distance(const oz_march *m, oz_v3 p) {
  float x = p.x * m->inv_voxel, y = p.y * m->inv_voxel, z = p.z * m->inv_voxel;
  int i = oz_floor_int(x * 0.125f), j = oz_floor_int(y * 0.125f), k = oz_floor_int(z * 0.125f);
  uint32_t b = brick_at(m, i, j, k);
  /* the last cell before a brick reads its first samples, but those are the band's edge anyway */
  if (b == OZ_NONE) {
    return m->s->band;
  }
  if (b >= m->s->brick_count) return -m->s->band;
  return in_brick(m, b, x - 8.0f * (float)i, y - 8.0f * (float)j, z - 8.0f * (float)k);
}

/* The gradient of a smooth distance: trilinear cells would show as facets in glossy surfaces. */
oz_v3 oz_march_normal(const oz_march *m, oz_v3 p) {
  const float at[3] = {p.x, p.y, p.z};
  float g[3] = {0.0f, 1.0f, 0.0f};
  (void)oz_spline_at(m->s, m->spline, at, g);
  return v3_unit(v3(g[0], g[1], g[2]));
}

int oz_march_trace(const oz_march *m, oz_v3 o, oz_v3 d, float least, float *t, int inside) {
  if (!m->s || !(m->s->brick_count + m->s->inside_count)) return 0;
  float from[3] = {o.x, o.y, o.z}, dir[3] = {d.x, d.y, d.z}, inv[3], near = least, far = *t;
  float sign = inside ? -1.0f : 1.0f, voxel = m->s->voxel, last_t, last_f = 0.0f,
        nudge = 1e-3f * voxel;
  int a, k[3], steps, started = 0;
  float begin, inv_side = 0.125f * m->inv_voxel;
  for (a = 0; a < 3; ++a) {
    float p, q;
    inv[a] = 1.0f / (dir[a] != 0.0f ? dir[a] : 1e-20f);
    p = ((float)m->lo[a] * m->side - from[a]) * inv[a];
    q = ((float)(m->hi[a] + 1) * m->side - from[a]) * inv[a];
    near = fmaxf(near, fminf(p, q));
    far = fminf(far, fmaxf(p, q));
  }
  if (near > far) return 0;
  last_t = begin = near;
  for (steps = 0; near < far && steps < 4096; ++steps) {
    float p[3], f, exit = 1e30f;
    uint32_t b;
    for (a = 0; a < 3; ++a) {
      p[a] = from[a] + dir[a] * near;
      k[a] = oz_floor_int(p[a] * inv_side);
    }
    b = brick_at(m, k[0], k[1], k[2]);
    if (b == OZ_NONE || b >= m->s->brick_count) {
      int within = b != OZ_NONE;
      /* a brick without values on the other side: the crossing was just before */
      if (within != inside) {
        *t = near;
        return 1;
      }
      const int size = within ? 0 : empty_around(m, k);
      /* far out a float's last bit is more than a hair of a voxel */
      const float past =
          fmaxf(nudge, 2.5e-7f * (near + fmaxf(fabsf(p[0]), fmaxf(fabsf(p[1]), fabsf(p[2])))));
      for (a = 0; a < 3; ++a) {
        float edge =
            ((float)((k[a] >> size) + (dir[a] > 0.0f)) * (float)(1 << size) * m->side - from[a]) *
            inv[a];
        if (edge > near - past) exit = fminf(exit, edge);
      }
      started = 1;
      last_t = near;
      last_f = m->s->band;
      near = fmaxf(exit, near) + past;
      continue;
    }
    f = sign * in_brick(m, b, p[0] * m->inv_voxel - 8.0f * (float)k[0],
                        p[1] * m->inv_voxel - 8.0f * (float)k[1],
                        p[2] * m->inv_voxel - 8.0f * (float)k[2]);
    if (f <= 0.0f) {
      if (!started) { /* began on the far side, by a hair: walk out of it */
        if (near > begin + 3.0f * voxel) {
          *t = begin;
          return 1;
        }
        near += 0.25f * voxel;
        continue;
      }
      *t = last_f - f > 0.0f ? last_t + (near - last_t) * last_f / (last_f - f) : near;
      return *t < far;
    }
    started = 1;
    last_t = near;
    last_f = f;
    near += fmaxf(f * 0.9f, 0.15f * voxel); /* sharpened distances overshoot a little at edges */
  }
  return 0;
}
