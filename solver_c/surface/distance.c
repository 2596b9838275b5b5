/* From any function with the right zero crossing to signed distance in a narrow band, and a filter
 * on it. Both work in voxels. A brick reads its six neighbours through a padded copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

/* in the padded block: 10 a side, the brick at 1..8 */
#define P(x, y, z) (((x)*10 + (y)) * 10 + (z))

/* Faces only: the stencils here have no diagonal arms. Beyond the bricks is outside. */
static void load_padded(const oz_bricks *b, uint32_t i, float outside, float *p) {
  const float *f = b->values + 512 * (size_t)i;
  const uint32_t *beside = b->beside + 6 * (size_t)i;
  int x, y, u, v;
  for (x = 0; x < 8; ++x)
    for (y = 0; y < 8; ++y) memcpy(p + P(x + 1, y + 1, 1), f + 64 * x + 8 * y, 8 * sizeof *p);
  for (u = 0; u < 8; ++u)
    for (v = 0; v < 8; ++v) {
      const float *n;
      n = beside[0] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[0];
      p[P(0, u + 1, v + 1)] = n ? n[64 * 7 + 8 * u + v] : outside;
      n = beside[1] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[1];
      p[P(9, u + 1, v + 1)] = n ? n[8 * u + v] : outside;
      n = beside[2] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[2];
      p[P(u + 1, 0, v + 1)] = n ? n[64 * u + 8 * 7 + v] : outside;
      n = beside[3] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[3];
      p[P(u + 1, 9, v + 1)] = n ? n[64 * u + v] : outside;
      n = beside[4] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[4];
      p[P(u + 1, v + 1, 0)] = n ? n[64 * u + 8 * v + 7] : outside;
      n = beside[5] == OZ_NONE ? NULL : b->values + 512 * (size_t)beside[5];
      p[P(u + 1, v + 1, 9)] = n ? n[64 * u + 8 * v] : outside;
    }
}

typedef struct distance_job {
  oz_bricks *b;
  float *other;               /* as many values as b's */
  uint64_t *fixed;            /* 8 words a brick: samples beside the crossing */
  uint8_t *state;             /* a brick: 1 if it changed when last visited */
  uint32_t *list;             /* bricks of one colour */
  float band, factor, within; /* filter: only values below `within` change */
} distance_job;

/* Samples beside a crossing: value over slope. The slope takes the difference across the crossing
 * where an axis has one (exact for a plane), the central one where both sides cross (inside a thin
 * strand), and stays near 1, as the field was shaped: a drop of one voxel's radius
 * has no slope worth measuring. */
static void cross_body(void *arg, uint32_t begin, uint32_t end) {
  distance_job *job = (distance_job *)arg;
  float p[1000];
  for (uint32_t i = begin; i < end; ++i) {
    float *out = job->other + 512 * (size_t)i;
    uint64_t *fixed = job->fixed + 8 * (size_t)i;
    int x, y, z, any = 0;
    load_padded(job->b, i, job->band, p);
    memset(fixed, 0, 8 * sizeof *fixed);
    for (x = 1; x < 9; ++x)
      for (y = 1; y < 9; ++y)
        for (z = 1; z < 9; ++z) {
          static const int step[3] = {P(1, 0, 0), P(0, 1, 0), P(0, 0, 1)};
          const float *v = p + P(x, y, z);
          float f = *v, sum = 0.0f, d = job->band;
          int a, crossed = 0, at = 64 * (x - 1) + 8 * (y - 1) + (z - 1);
          for (a = 0; a < 3; ++a) {
            float l = v[-step[a]], r = v[step[a]], slope;
            int cl = (l < 0.0f) != (f < 0.0f), cr = (r < 0.0f) != (f < 0.0f);
            slope = cl == cr ? 0.5f * (r - l) : cl ? f - l : r - f;
            sum += slope * slope;
            crossed |= cl | cr;
          }
          if (crossed) {
            d = fminf(fabsf(f) / fminf(fmaxf(sqrtf(sum), 0.75f), 1.2f), job->band);
            fixed[x - 1] |= (uint64_t)1 << (8 * (y - 1) + (z - 1));
            any = 1;
          }
          out[at] = f < 0.0f ? -d : d;
        }
    job->state[i] = (uint8_t)any;
  }
}

/* Godunov's solution of |grad u| = 1 from the smallest neighbour on each axis (Zhao 2005). */
static float eikonal(float a, float b, float c) {
  float t, u;
  if (a > b) {
    t = a;
    a = b;
    b = t;
  }
  if (b > c) {
    t = b;
    b = c;
    c = t;
  }
  if (a > b) {
    t = a;
    a = b;
    b = t;
  }
  u = a + 1.0f;
  if (u > b) {
    t = a - b;
    u = 0.5f * (a + b + sqrtf(fmaxf(2.0f - t * t, 0.0f)));
    if (u > c) {
      t = a + b + c;
      u = (t + sqrtf(fmaxf(t * t - 3.0f * (a * a + b * b + c * c - 1.0f), 0.0f))) / 3.0f;
    }
  }
  return u;
}

/* One brick: forth and back over its samples, in place, if it or a neighbour changed when last
 * looked at. Bricks of one colour never touch, so this is deterministic. */
static void sweep_body(void *arg, uint32_t begin, uint32_t end) {
  distance_job *job = (distance_job *)arg;
  float p[1000] = {0};
  for (uint32_t n = begin; n < end; ++n) {
    uint32_t i = job->list[n], *beside = job->b->beside + 6 * (size_t)i;
    float *f = job->b->values + 512 * (size_t)i;
    const uint64_t *fixed = job->fixed + 8 * (size_t)i;
    int a, pass, wanted = job->state[i], changed = 0, x, y;
    for (a = 0; a < 6; ++a) wanted |= beside[a] != OZ_NONE && job->state[beside[a]];
    if (!wanted) continue;
    load_padded(job->b, i, job->band, p);
    for (a = 0; a < 1000; ++a) p[a] = fabsf(p[a]); /* corners hold values that are never read */
    for (pass = 0; pass < 2; ++pass)
      for (a = 0; a < 512; ++a) {
        int at = pass ? 511 - a : a;
        float *v = p + P((at >> 6) + 1, (at >> 3 & 7) + 1, (at & 7) + 1), u;
        float ux = fminf(v[-100], v[100]), uy = fminf(v[-10], v[10]), uz = fminf(v[-1], v[1]);
        /* No solution is nearer than the nearest neighbour plus 1/sqrt(3): most samples end here.
         */
        if (fminf(ux, fminf(uy, uz)) + 0.577f >= *v || (fixed[at >> 6] >> (at & 63) & 1)) continue;
        u = eikonal(ux, uy, uz);
        if (u < *v - 1e-3f) {
          *v = u;
          changed = 1;
        }
      }
    if (changed)
      for (x = 0; x < 8; ++x)
        for (y = 0; y < 8; ++y)
          for (a = 0; a < 8; ++a) {
            float *to = f + 64 * x + 8 * y + a;
            *to = *to < 0.0f ? -p[P(x + 1, y + 1, a + 1)] : p[P(x + 1, y + 1, a + 1)];
          }
    job->state[i] = (uint8_t)changed;
  }
}

ooze_result oz_distance_rebuild(oz_bricks *b, float band, const oz_loop *loop, ooze_message *why) {
  distance_job job;
  uint32_t i, *lists[2], counts[2] = {0, 0};
  int pass, colour;
  float *old;
  memset(&job, 0, sizeof job);
  job.b = b;
  job.band = band;
  job.other = (float *)oz_allocate(b->count, 512 * sizeof(float));
  job.fixed = (uint64_t *)oz_allocate(b->count, 8 * sizeof(uint64_t));
  job.state = (uint8_t *)oz_allocate(b->count, 1);
  lists[0] = (uint32_t *)oz_allocate(b->count, sizeof(uint32_t));
  lists[1] = (uint32_t *)oz_allocate(b->count, sizeof(uint32_t));
  if (!job.other || !job.fixed || !job.state || !lists[0] || !lists[1]) {
    oz_release(job.other);
    oz_release(job.fixed);
    oz_release(job.state);
    oz_release(lists[0]);
    oz_release(lists[1]);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the distance of %u bricks", b->count);
  }
  oz_loop_run(loop, b->count, cross_body, &job);
  old = b->values;
  b->values = job.other;
  oz_release(old);
  for (i = 0; i < b->count; ++i) {
    int k[3];
    oz_key_split(b->keys[i], k);
    colour = (k[0] + k[1] + k[2]) & 1;
    lists[colour][counts[colour]++] = i;
  }
  /* Distance travels through a whole brick a pass; where fronts turn at brick corners it takes a
   * few more. Bricks that have settled are skipped, so passes past the need cost nothing. */
  for (pass = 0; pass < 4 + (int)band; ++pass)
    for (colour = 0; colour < 2; ++colour) {
      job.list = lists[colour];
      oz_loop_run(loop, counts[colour], sweep_body, &job);
    }
  oz_release(job.fixed);
  oz_release(job.state);
  oz_release(lists[0]);
  oz_release(lists[1]);
  return OOZE_OK;
}

static void filter_body(void *arg, uint32_t begin, uint32_t end) {
  distance_job *job = (distance_job *)arg;
  float p[1000];
  for (uint32_t i = begin; i < end; ++i) {
    float *out = job->other + 512 * (size_t)i;
    int x, y, z;
    load_padded(job->b, i, job->band, p);
    for (x = 0; x < 8; ++x)
      for (y = 0; y < 8; ++y)
        for (z = 0; z < 8; ++z) {
          const float *v = p + P(x + 1, y + 1, z + 1);
          float mean = (v[-100] + v[100] + v[-10] + v[10] + v[-1] + v[1]) * (1.0f / 6.0f);
          out[64 * x + 8 * y + z] = fabsf(*v) < job->within ? *v + job->factor * (mean - *v) : *v;
        }
  }
}

/* A pass is a step of diffusion and a slightly larger one back (Taubin 1995): ripples of a few
 * voxels die, while curvature on the scale of a strand, which plain diffusion would shrink away,
 * comes back. */
ooze_result oz_distance_smooth(oz_bricks *b, uint32_t passes, float band, const oz_loop *loop,
                               ooze_message *why) {
  distance_job job;
  uint32_t n;
  if (!passes) return OOZE_OK;
  memset(&job, 0, sizeof job);
  job.b = b;
  job.band = band;
  job.within = 2.0f * band;
  job.other = (float *)oz_allocate(b->count, 512 * sizeof(float));
  if (!job.other) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory to smooth %u bricks", b->count);
  for (n = 0; n < 2 * passes; ++n) {
    float *t = b->values;
    job.factor = n % 2 ? -0.62f : 0.6f;
    oz_loop_run(loop, b->count, filter_body, &job);
    b->values = job.other;
    job.other = t;
  }
  oz_release(job.other);
  return OOZE_OK;
}

/* Readers of a level set interpolate between samples, and straight lines between the samples of a
 * curved distance lie outside it: the strand that they show is thinner than the one that was
 * sampled, by a fifth at a radius of one voxel. Taking a twelfth of the second difference off each
 * sample cancels that error on average (the mean of t(1-t)/2). */
ooze_result oz_distance_sharpen(oz_bricks *b, float band, const oz_loop *loop, float **out,
                                ooze_message *why) {
  distance_job job;
  memset(&job, 0, sizeof job);
  job.b = b;
  job.band = band;
  job.within = band - 1.0f; /* the clamp at the band's edge is not curvature */
  job.factor = -0.5f;       /* of (mean of 6 - value), which is a sixth of the second differences */
  job.other = (float *)oz_allocate(b->count, 512 * sizeof(float));
  if (!job.other) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u bricks", b->count);
  oz_loop_run(loop, b->count, filter_body, &job);
  *out = job.other;
  return OOZE_OK;
}
