/* The bricks near particles, and the field on them. Each brick gathers the particles that reach it,
 * in cell order, into a block of its own: no two tasks write to one place, so any number of threads
 * makes the same bits. SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

void oz_bricks_free(oz_bricks *b) {
  oz_release(b->keys);
  oz_release(b->values);
  oz_release(b->beside);
  memset(b, 0, sizeof *b);
}

ooze_result oz_bricks_cover(oz_bricks *b, const oz_cells *c, float voxel, float reach,
                            uint64_t max_voxels, ooze_message *why) {
  float side = 8.0f * voxel;
  double most = (double)c->cell / side * OZ_KEY_LIMIT;
  oz_map map;
  uint32_t i, n = 0, *order = NULL;
  memset(b, 0, sizeof *b);
  if (!oz_map_init(&map, c->cell_count)) goto memory;
  for (i = 0; i < c->cell_count; ++i) {
    int lo[3], hi[3], a, x, y, z;
    uint32_t j;
    /* the box of the cell's particles: strands fill little of their cells */
    for (a = 0; a < 3; ++a) {
      float least = c->x[3 * (size_t)c->first[i] + (size_t)a], greatest = least;
      double l, h;
      for (j = c->first[i] + 1; j < c->first[i + 1]; ++j) {
        least = fminf(least, c->x[3 * (size_t)j + (size_t)a]);
        greatest = fmaxf(greatest, c->x[3 * (size_t)j + (size_t)a]);
      }
      l = floor(((double)least - reach) / side);
      h = floor(((double)greatest + reach) / side);
      if (l < -(OZ_KEY_LIMIT - 2) || h > OZ_KEY_LIMIT - 2) {
        oz_map_free(&map);
        return oz_fail(why, OOZE_ERROR_LIMIT,
                       "a particle lies %g m out; voxels of %g m reach to %g m", most * side, voxel,
                       (double)side * (OZ_KEY_LIMIT - 2));
      }
      lo[a] = (int)l;
      hi[a] = (int)h;
    }
    for (x = lo[0]; x <= hi[0]; ++x)
      for (y = lo[1]; y <= hi[1]; ++y)
        for (z = lo[2]; z <= hi[2]; ++z) {
          int put = oz_map_put(&map, oz_key(x, y, z), 0);
          if (put < 0) goto memory;
          n += (uint32_t)put;
          if ((uint64_t)n * 512 > max_voxels) {
            oz_map_free(&map);
            return oz_fail(
                why, OOZE_ERROR_LIMIT,
                "voxels of %g m need more than %llu samples (max_voxels); use larger voxels", voxel,
                (unsigned long long)max_voxels);
          }
        }
  }
  b->keys = (uint64_t *)oz_allocate(n, sizeof *b->keys);
  b->values = (float *)oz_allocate((size_t)n, 512 * sizeof(float));
  b->beside = (uint32_t *)oz_allocate((size_t)n, 6 * sizeof(uint32_t));
  order = (uint32_t *)oz_allocate(n, sizeof *order);
  if (!b->keys || !b->values || !b->beside || !order) goto memory;
  for (i = 0; i <= map.mask; ++i)
    if (map.keys[i] != ~(uint64_t)0) b->keys[b->count++] = map.keys[i];
  if (!oz_sort_keys(b->keys, order, b->count)) goto memory;
  /* The table's values become the sorted numbers. */
  for (i = 0; i < b->count; ++i) {
    uint32_t slot = oz_map_slot(&map, b->keys[i]);
    while (map.keys[slot] != b->keys[i]) slot = (slot + 1) & map.mask;
    map.values[slot] = i;
  }
  for (i = 0; i < b->count; ++i) {
    int k[3], a;
    oz_key_split(b->keys[i], k);
    for (a = 0; a < 6; ++a) {
      int o[3] = {k[0], k[1], k[2]};
      o[a / 2] += a % 2 ? 1 : -1;
      b->beside[6 * (size_t)i + (size_t)a] = oz_map_get(&map, oz_key(o[0], o[1], o[2]));
    }
  }
  oz_release(order);
  oz_map_free(&map);
  return OOZE_OK;
memory:
  oz_release(order);
  oz_map_free(&map);
  oz_bricks_free(b);
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks", n);
}

typedef struct field_job {
  oz_bricks *b;
  const oz_cells *c;
  const oz_kernel *k;
  float voxel, separation, reach;
} field_job;

/* Adds one kernel to a brick. Coordinates in voxels from the brick's first sample; a row of eight
 * is one polynomial in z. */
static void add_kernel(float *f, const oz_kernel *k, const float origin[3], float voxel) {
  float px = (k->x[0] - origin[0]) / voxel, py = (k->x[1] - origin[1]) / voxel,
        pz = (k->x[2] - origin[2]) / voxel;
  float ex = k->extent[0] / voxel, ey = k->extent[1] / voxel, v2 = voxel * voxel;
  int x0 = (int)ceilf(fmaxf(px - ex, 0.0f)), x1 = (int)floorf(fminf(px + ex, 7.0f));
  int y0 = (int)ceilf(fmaxf(py - ey, 0.0f)), y1 = (int)floorf(fminf(py + ey, 7.0f));
  float zz = k->a[2] * v2, fall = 0.25f / zz;
  int x, y, z;
  for (x = x0; x <= x1; ++x) {
    float dx = (float)x - px;
    for (y = y0; y <= y1; ++y) {
      float dy = (float)y - py;
      float base = (k->a[0] * dx * dx + k->a[1] * dy * dy + 2.0f * k->a[3] * dx * dy) * v2;
      float slope = 2.0f * (k->a[4] * dx + k->a[5] * dy) * v2;
      float *row = f + 64 * x + 8 * y;
      /* The row's least q^2: skip rows that only touch the box's corners. */
      if (base - slope * slope * fall >= 1.0f) continue;
      for (z = 0; z < 8; z += OZ_LANES) {
        oz_f4 dz = oz_f4_ramp() + ((float)z - pz),
              q = oz_f4_positive(1.0f - (base + dz * (slope + zz * dz)));
        oz_f4_store(row + z, oz_f4_load(row + z) + k->weight * q * q * q);
      }
    }
  }
}

static void field_body(void *arg, uint32_t begin, uint32_t end) {
  field_job *job = (field_job *)arg;
  const oz_cells *c = job->c;
  float side = 8.0f * job->voxel;
  /* sqrt(1 - f^(1/4)) is the distance over the support for a flat layer, so this undoes the
   * kernel's profile and leaves something nearly linear in distance: zero crossings found by
   * straight lines then lie right. */
  float scale = 1.3f * job->separation / job->voxel, at_iso = sqrtf(1.0f - sqrtf(sqrtf(OZ_ISO)));
  for (uint32_t i = begin; i < end; ++i) {
    float *f = job->b->values + 512 * (size_t)i, origin[3], low[3], high[3];
    int key[3], a;
    oz_key_split(job->b->keys[i], key);
    memset(f, 0, 512 * sizeof *f);
    for (a = 0; a < 3; ++a) {
      origin[a] = (float)key[a] * side;
      low[a] = origin[a] - job->reach;
      high[a] = origin[a] + 7.0f * job->voxel + job->reach;
    }
    for (oz_cells_walk w = oz_cells_between(c, low, high); oz_cells_next(&w);) {
      const oz_kernel *k = &job->k[w.j];
      float top = 7.0f * job->voxel;
      if (k->x[0] + k->extent[0] < origin[0] || k->x[0] - k->extent[0] > origin[0] + top ||
          k->x[1] + k->extent[1] < origin[1] || k->x[1] - k->extent[1] > origin[1] + top ||
          k->x[2] + k->extent[2] < origin[2] || k->x[2] - k->extent[2] > origin[2] + top)
        continue;
      add_kernel(f, k, origin, job->voxel);
    }
    for (a = 0; a < 512; ++a) {
      float v = f[a] < 1.0f ? f[a] : 1.0f;
      f[a] = scale * (sqrtf(1.0f - sqrtf(sqrtf(v))) - at_iso);
    }
  }
}

void oz_field_evaluate(oz_bricks *b, const oz_cells *c, const oz_kernel *kernels, float voxel,
                       float separation, float reach, const oz_loop *loop) {
  field_job job;
  job.b = b;
  job.c = c;
  job.k = kernels;
  job.voxel = voxel;
  job.separation = separation;
  job.reach = reach;
  oz_loop_run(loop, b->count, field_body, &job);
}
