/* Velocity and scalars on the bricks of a surface: the mean of the particles around each sample,
 * weighted by a kernel that reaches from beyond the band back to the fluid, so that motion blur
 * finds a velocity wherever it finds a distance. SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

typedef struct attribute_job {
  ooze_surface *s;
  const oz_cells *c;
  const float *data; /* channels a particle, in cell order */
  uint32_t channels;
  float radius;
} attribute_job;

enum { MAX_CHANNELS = 3 + OZ_SURFACE_SCALARS };

static void spread(float (*sum)[512], const float *x, const float *value, uint32_t channels,
                   const float origin[3], float voxel, float radius) {
  float inv = voxel * voxel / (radius * radius), reach = radius / voxel;
  float px = (x[0] - origin[0]) / voxel, py = (x[1] - origin[1]) / voxel,
        pz = (x[2] - origin[2]) / voxel;
  int x0 = (int)ceilf(fmaxf(px - reach, 0.0f)), x1 = (int)floorf(fminf(px + reach, 7.0f));
  int y0 = (int)ceilf(fmaxf(py - reach, 0.0f)), y1 = (int)floorf(fminf(py + reach, 7.0f));
  int i, j, z;
  uint32_t n;
  for (i = x0; i <= x1; ++i)
    for (j = y0; j <= y1; ++j) {
      float base =
          1.0f - (((float)i - px) * ((float)i - px) + ((float)j - py) * ((float)j - py)) * inv;
      if (base <= 0.0f) continue;
      for (z = 0; z < 8; z += OZ_LANES) {
        oz_f4 dz = oz_f4_ramp() + ((float)z - pz), q = oz_f4_positive(base - dz * dz * inv),
              w = q * q * q;
        float *to = &sum[0][64 * i + 8 * j + z];
        oz_f4_store(to, oz_f4_load(to) + w);
        for (n = 0; n < channels; ++n)
          oz_f4_store(to + 512 * (n + 1), oz_f4_load(to + 512 * (n + 1)) + w * value[n]);
      }
    }
}

static void attribute_body(void *arg, uint32_t begin, uint32_t end) {
  attribute_job *job = (attribute_job *)arg;
  ooze_surface *s = job->s;
  const oz_cells *c = job->c;
  float sum[1 + MAX_CHANNELS][512], top = 7.0f * s->voxel;
  for (uint32_t i = begin; i < end; ++i) {
    float origin[3];
    int key[3], lo[3], hi[3], a, x, y, z, inside = i >= s->brick_count;
    uint32_t n;
    oz_key_split(s->keys[i], key);
    memset(sum, 0, (1 + job->channels) * sizeof sum[0]);
    for (a = 0; a < 3; ++a) {
      origin[a] = (float)key[a] * 8.0f * s->voxel;
      lo[a] = (int)floorf((origin[a] - job->radius) / c->cell);
      hi[a] = (int)floorf((origin[a] + top + job->radius) / c->cell);
    }
    for (x = lo[0]; x <= hi[0]; ++x)
      for (y = lo[1]; y <= hi[1]; ++y)
        for (z = lo[2]; z <= hi[2]; ++z) {
          uint32_t j, last;
          if (!oz_cells_find(c, x, y, z, &j, &last)) continue;
          for (; j < last; ++j)
            spread(sum, c->x + 3 * (size_t)j, job->data + job->channels * (size_t)j, job->channels,
                   origin, s->voxel, job->radius);
        }
    memset(s->kept + 8 * (size_t)i, 0, 8 * sizeof(uint64_t));
    for (a = 0; a < 512; ++a) {
      float distance = inside ? -s->band : s->values[512 * (size_t)i + (size_t)a], w = sum[0][a];
      int keep =
          w > 0.0f && distance < s->band && (s->fill == OOZE_FILL_INSIDE || distance > -s->band);
      uint32_t channel = 0;
      float inv = keep ? 1.0f / w : 0.0f;
      if (keep) s->kept[8 * (size_t)i + (size_t)(a >> 6)] |= (uint64_t)1 << (a & 63);
      if (s->velocity)
        for (; channel < 3; ++channel)
          s->velocity[3 * (512 * (size_t)i + (size_t)a) + channel] =
              keep ? sum[1 + channel][a] * inv : 0.0f;
      for (n = 0; n < s->scalar_count; ++n, ++channel)
        s->scalars[n][512 * (size_t)i + (size_t)a] = keep ? sum[1 + channel][a] * inv : 0.0f;
    }
  }
}

ooze_result oz_attributes_fill(ooze_surface *s, const oz_cells *c, const ooze_surface_points *p,
                               float separation, const oz_loop *loop, ooze_message *why) {
  attribute_job job;
  uint32_t bricks, i, n, v = p->velocities ? 3 : 0;
  float *data;
  job.channels = v + p->scalar_count;
  if (s->fill == OOZE_FILL_NONE || !job.channels || !c->count) return OOZE_OK;
  bricks = s->brick_count + (s->fill == OOZE_FILL_INSIDE ? s->inside_count : 0);
  data = (float *)oz_allocate(c->count, job.channels * sizeof(float));
  s->kept = (uint64_t *)oz_allocate(bricks, 8 * sizeof(uint64_t));
  if (v) s->velocity = (float *)oz_allocate(bricks, 3 * 512 * sizeof(float));
  for (n = 0; n < p->scalar_count; ++n)
    s->scalars[n] = (float *)oz_allocate(bricks, 512 * sizeof(float));
  s->scalar_count = p->scalar_count;
  if (!data || !s->kept || (v && !s->velocity)) goto memory;
  for (n = 0; n < p->scalar_count; ++n) {
    if (!s->scalars[n]) goto memory;
    strncpy(s->names[n], p->scalars[n].name, sizeof s->names[n] - 1);
  }
  /* A bad number stands for rest, or zero: one particle must not blot out its surroundings. */
  for (i = 0; i < c->count; ++i) {
    float *to = data + job.channels * (size_t)i;
    uint32_t from = c->order[i];
    if (v)
      memcpy(to,
             (const char *)p->velocities +
                 from * (p->velocity_stride ? p->velocity_stride : 3 * sizeof(float)),
             3 * sizeof(float));
    for (n = 0; n < p->scalar_count; ++n) {
      size_t stride = p->scalars[n].stride ? p->scalars[n].stride : sizeof(float);
      memcpy(to + v + n, (const char *)p->scalars[n].values + from * stride, sizeof(float));
    }
    for (n = 0; n < job.channels; ++n)
      if (!isfinite(to[n])) to[n] = 0.0f;
  }
  s->attribute_bricks = bricks;
  job.s = s;
  job.c = c;
  job.data = data;
  /* From the band's outer edge back to the outermost particles; wide bands stop short, or cost
   * would grow with their cube. */
  job.radius = fminf(s->band + 1.1f * separation, fmaxf(4.0f * separation, 4.0f * s->voxel));
  oz_loop_run(loop, bricks, attribute_body, &job);
  oz_release(data);
  return OOZE_OK;
memory:
  oz_release(data);
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u attribute channels on %u bricks",
                 job.channels, bricks);
}
