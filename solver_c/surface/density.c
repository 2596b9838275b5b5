/* The surface as Takamatsu & Kanai (2011, section 3.4) extract it: particles whose SPH density is
 * below a threshold are at the surface, and the field is the distance to those, less a radius. He
 * leaves the inside empty, since a picture does not show it; here the others fill it, so that the
 * result is a solid with one surface. The radius must be large enough that balls about a lattice's
 * outermost layer leave no holes (0.87 separations): the surface stands that far out, and shows
 * each particle's ball. SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

#define SUPPORT 2.2f /* separations: of the density's kernel, as in the solver */
/* separations: balls of the inside. A particle there is a separation or more below the outermost,
 * so that they close every gap and never reach the surface. */
#define DEEP 1.2f

typedef struct density_job {
  const oz_cells *c;
  float separation, threshold; /* m; share of a full lattice */
  uint8_t *outer;              /* a particle: 1 at the surface */
} density_job;

/* Sum of poly6's shape (1 - q^2)^3 over the cubic lattice, the particle itself included. */
static float full_lattice(void) {
  float sum = 0.0f;
  for (int x = -2; x <= 2; ++x)
    for (int y = -2; y <= 2; ++y)
      for (int z = -2; z <= 2; ++z) {
        const float q = 1.0f - (float)(x * x + y * y + z * z) / (SUPPORT * SUPPORT);
        if (q > 0.0f) sum += q * q * q;
      }
  return sum;
}

static void mark_body(void *arg, uint32_t begin, uint32_t end) {
  density_job *job = (density_job *)arg;
  const oz_cells *c = job->c;
  const float h = SUPPORT * job->separation, inv = 1.0f / (h * h),
              limit = job->threshold * full_lattice();
  for (uint32_t i = begin; i < end; ++i) {
    const float *p = c->x + 3 * (size_t)i;
    float sum = 0.0f;
    const float low[3] = {p[0] - h, p[1] - h, p[2] - h}, high[3] = {p[0] + h, p[1] + h, p[2] + h};
    for (oz_cells_walk w = oz_cells_between(c, low, high); oz_cells_next(&w);) {
      const float *o = c->x + 3 * (size_t)w.j, dx = o[0] - p[0], dy = o[1] - p[1], dz = o[2] - p[2];
      const float q = 1.0f - (dx * dx + dy * dy + dz * dz) * inv;
      if (q > 0.0f) sum += q * q * q;
    }
    job->outer[i] = sum < limit;
  }
}

void oz_density_mark(const oz_cells *c, float separation, float threshold, const oz_loop *loop,
                     uint8_t *outer) {
  density_job job = {c, separation, threshold, outer};
  oz_loop_run(loop, c->count, mark_body, &job);
}

typedef struct ball_job {
  oz_bricks *b;
  const oz_cells *c;
  const uint8_t *outer;
  float voxel, surface, deep; /* m: voxel, radii */
} ball_job;

/* Least distance to balls, in voxels; nothing nearer than two voxels is two voxels away. */
static void add_ball(float *f, const float *at, float radius, const float origin[3], float voxel) {
  const float reach = radius / voxel + 2.0f, r = radius / voxel;
  float p[3];
  int lo[3], hi[3], x, y, z;
  for (int a = 0; a < 3; ++a) {
    p[a] = (at[a] - origin[a]) / voxel;
    lo[a] = (int)ceilf(fmaxf(p[a] - reach, 0.0f));
    hi[a] = (int)floorf(fminf(p[a] + reach, 7.0f));
  }
  for (x = lo[0]; x <= hi[0]; ++x)
    for (y = lo[1]; y <= hi[1]; ++y) {
      const float flat =
          ((float)x - p[0]) * ((float)x - p[0]) + ((float)y - p[1]) * ((float)y - p[1]);
      float *row = f + 64 * x + 8 * y;
      if (flat >= reach * reach) continue;
      for (z = lo[2]; z <= hi[2]; ++z)
        row[z] = fminf(row[z], sqrtf(flat + ((float)z - p[2]) * ((float)z - p[2])) - r);
    }
}

static void ball_body(void *arg, uint32_t begin, uint32_t end) {
  ball_job *job = (ball_job *)arg;
  const oz_cells *c = job->c;
  const float side = 8.0f * job->voxel, top = 7.0f * job->voxel,
              reach = fmaxf(job->surface, job->deep) + 2.0f * job->voxel;
  for (uint32_t i = begin; i < end; ++i) {
    float *f = job->b->values + 512 * (size_t)i, origin[3];
    int key[3], lo[3], hi[3], x, y, z;
    oz_key_split(job->b->keys[i], key);
    for (int a = 0; a < 512; ++a) f[a] = 2.0f;
    for (int a = 0; a < 3; ++a) {
      origin[a] = (float)key[a] * side;
      lo[a] = (int)floorf((origin[a] - reach) / c->cell);
      hi[a] = (int)floorf((origin[a] + top + reach) / c->cell);
    }
    for (x = lo[0]; x <= hi[0]; ++x)
      for (y = lo[1]; y <= hi[1]; ++y)
        for (z = lo[2]; z <= hi[2]; ++z) {
          uint32_t j, last;
          if (!oz_cells_find(c, x, y, z, &j, &last)) continue;
          for (; j < last; ++j)
            add_ball(f, c->x + 3 * (size_t)j, job->outer[j] ? job->surface : job->deep, origin,
                     job->voxel);
        }
  }
}

float oz_density_reach(float separation, float radius) { return fmaxf(radius, DEEP * separation); }

void oz_density_field(oz_bricks *b, const oz_cells *c, const uint8_t *outer, float voxel,
                      float separation, float radius, const oz_loop *loop) {
  ball_job job = {b, c, outer, voxel, radius, DEEP * separation};
  oz_loop_run(loop, b->count, ball_body, &job);
}
