/* The bricks of a distance that a surface keeps: those that the band touches, and the names of
 * those inside; with volume, area and bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

enum { OUTSIDE, INSIDE, NEAR };

/* Of one brick; sums are added in the order of bricks, so that threads do not show in them. */
typedef struct brick_sums {
  double volume, area; /* voxels */
  uint32_t voxels, kind;
  uint32_t to;              /* number among those that are kept, of a near one */
  uint32_t any;             /* a sample lies inside */
  float lower[3], upper[3]; /* m */
} brick_sums;

typedef struct band_job {
  ooze_surface *s;
  const oz_bricks *b;
  const float *sharp;
  float band; /* voxels */
  brick_sums *sums;
} band_job;

static void kind_body(void *arg, uint32_t begin, uint32_t end) {
  band_job *job = (band_job *)arg;
  for (uint32_t i = begin; i < end; ++i) {
    const float *f = job->b->values + 512 * (size_t)i;
    int near = 0;
    for (int a = 0; a < 512 && !near; ++a) near = fabsf(f[a]) < job->band;
    memset(&job->sums[i], 0, sizeof job->sums[i]);
    job->sums[i].kind = near ? NEAR : f[0] < 0.0f ? INSIDE : OUTSIDE;
  }
}

/* A ball of radius -d about a sample that lies inside is inside. */
static void widen(brick_sums *t, const int key[3], int sample, float d, float voxel) {
  const int at[3] = {sample >> 6, sample >> 3 & 7, sample & 7};
  for (int q = 0; q < 3; ++q) {
    const float x = (float)(8 * key[q] + at[q]), low = (x + d) * voxel, high = (x - d) * voxel;
    if (!t->any || low < t->lower[q]) t->lower[q] = low;
    if (!t->any || high > t->upper[q]) t->upper[q] = high;
  }
  t->any = 1;
}

static void keep_body(void *arg, uint32_t begin, uint32_t end) {
  band_job *job = (band_job *)arg;
  const ooze_surface *s = job->s;
  const float band = job->band;
  for (uint32_t i = begin; i < end; ++i) {
    brick_sums *sums = &job->sums[i];
    const float *f = job->b->values + 512 * (size_t)i, *sharp = job->sharp + 512 * (size_t)i;
    float *to = s->values + 512 * (size_t)sums->to;
    int key[3];
    if (sums->kind != NEAR) continue;
    oz_key_split(job->b->keys[i], key);
    for (int a = 0; a < 512; ++a) {
      const float d = f[a], t = sharp[a];
      to[a] = (t < -band ? -band : t > band ? band : t) * s->voxel;
      sums->volume += d <= -0.5f ? 1.0f : d >= 0.5f ? 0.0f : 0.5f - d;
      if (fabsf(d) < 1.5f) sums->area += (1.0f + cosf(3.14159265f * d / 1.5f)) / 3.0f;
      sums->voxels += fabsf(t) < band;
      if (d < 0.0f) widen(sums, key, a, d, s->voxel);
    }
  }
}

static void add_sums(ooze_surface *s, const brick_sums *t, int *first) {
  if (t->kind == INSIDE) s->info.volume += 512.0;
  s->info.volume += t->volume;
  s->info.area += t->area;
  s->info.voxels += t->voxels;
  if (!t->any) return;
  for (int q = 0; q < 3; ++q) {
    if (*first || t->lower[q] < s->info.lower[q]) s->info.lower[q] = t->lower[q];
    if (*first || t->upper[q] > s->info.upper[q]) s->info.upper[q] = t->upper[q];
  }
  *first = 0;
}

/* Volume and area are summed from the distances; the sharpened ones are kept. */
ooze_result oz_band_keep(ooze_surface *s, const oz_bricks *b, const float *sharp, float band,
                         const oz_loop *loop, ooze_message *why) {
  band_job job = {s, b, sharp, band, (brick_sums *)oz_allocate(b->count, sizeof(brick_sums))};
  uint32_t i, near = 0, inside = 0;
  int first = 1;
  if (!job.sums) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks", b->count);
  oz_loop_run(loop, b->count, kind_body, &job);
  for (i = 0; i < b->count; ++i) {
    job.sums[i].to = near;
    near += job.sums[i].kind == NEAR;
    inside += job.sums[i].kind == INSIDE;
  }
  s->keys = (uint64_t *)oz_allocate((size_t)near + inside, sizeof *s->keys);
  s->values = (float *)oz_allocate(near, 512 * sizeof(float));
  if (!s->keys || !s->values || !oz_map_init(&s->map, near + inside)) {
    oz_release(job.sums);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks", near + inside);
  }
  oz_loop_run(loop, b->count, keep_body, &job);
  for (i = 0; i < b->count; ++i) {
    add_sums(s, &job.sums[i], &first);
    if (job.sums[i].kind == NEAR) s->keys[s->brick_count++] = b->keys[i];
    if (job.sums[i].kind == INSIDE) s->keys[near + s->inside_count++] = b->keys[i];
  }
  oz_release(job.sums);
  for (i = 0; i < near + inside; ++i)
    if (oz_map_put(&s->map, s->keys[i], i) < 0)
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks", near + inside);
  s->info.volume *= (double)s->voxel * s->voxel * s->voxel;
  s->info.area *= (double)s->voxel * s->voxel;
  return OOZE_OK;
}
