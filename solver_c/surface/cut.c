/* Solids taken out of a surface, so that fluid and the walls that it touches do not overlap in a
 * picture. Of two distances the larger one bounds the part of the fluid outside the solid; linear
 * interpolation of it never reaches further than either, so that flat walls are met exactly.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>
#include <stdlib.h>

ooze_result oz_cut_check(const ooze_surface_desc *d, ooze_message *why) {
  if (d->solid_count && !d->solids)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%u solids, but solids is NULL", d->solid_count);
  if (!(fabsf(d->solid_gap) <= 1e3f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "solid_gap is %g m; expected -1000 to 1000",
                   (double)d->solid_gap);
  for (uint32_t n = 0; n < d->solid_count; ++n) {
    const ooze_collider_desc *c = &d->solids[n];
    if (c->size != sizeof *c || c->shape > OOZE_SHAPE_SDF)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "solid %u has size %u and shape %u; expected ooze_collider_desc_default and "
                     "OOZE_SHAPE_*",
                     n, c->size, c->shape);
    if (c->shape != OOZE_SHAPE_SDF) continue;
    if (!(c->voxel > 0.0f) || !isfinite(c->voxel) || (c->brick_count && !c->bricks))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "solid %u has voxels of %g m and %u bricks%s; expected voxels above 0", n,
                     (double)c->voxel, c->brick_count, c->bricks ? "" : " at NULL");
    for (uint32_t i = 0; i < c->brick_count; ++i)
      for (int k = 0; k < 3; ++k)
        if (c->bricks[i].origin[k] & 7 || abs(c->bricks[i].origin[k] / 8) > OZ_KEY_LIMIT - 2)
          return oz_fail(why, OOZE_ERROR_ARGUMENT,
                         "brick %u of solid %u starts at %d; expected a multiple of 8 within %d", i,
                         n, c->bricks[i].origin[k], 8 * (OZ_KEY_LIMIT - 2));
  }
  return OOZE_OK;
}

ooze_result oz_cut_take(ooze_surface *s, const ooze_surface_desc *d, ooze_message *why) {
  s->solid_gap = d->solid_gap;
  if (!d->solid_count) return OOZE_OK;
  s->solids = (oz_cut_solid *)oz_allocate(d->solid_count, sizeof *s->solids);
  if (!s->solids) goto memory;
  memset(s->solids, 0, d->solid_count * sizeof *s->solids);
  for (; s->solid_count < d->solid_count; ++s->solid_count) {
    const ooze_collider_desc *c = &d->solids[s->solid_count];
    oz_cut_solid *to = &s->solids[s->solid_count];
    to->shape = c->shape;
    to->invert = c->invert;
    memcpy(to->half, c->half, sizeof to->half);
    to->pose = c->end;
    if (c->shape != OOZE_SHAPE_SDF) continue;
    to->voxel = c->voxel;
    to->brick_count = c->brick_count;
    to->bricks = (ooze_sdf_brick *)oz_allocate(c->brick_count, sizeof *to->bricks);
    if (!to->bricks) goto partly;
    memcpy(to->bricks, c->bricks, c->brick_count * sizeof *to->bricks);
    if (!oz_brick_map_make(&to->map, to->bricks, c->brick_count)) goto partly;
  }
  return OOZE_OK;
partly:
  ++s->solid_count; /* the last one has something to free */
memory:
  return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u solids", d->solid_count);
}

void oz_cut_free(ooze_surface *s) {
  for (uint32_t n = 0; n < s->solid_count; ++n) {
    oz_release(s->solids[n].bricks);
    oz_brick_map_free(&s->solids[n].map);
  }
  oz_release(s->solids);
}

/* m: from the solid to a point of the world. An inverted one of bricks ends where they end, as in
 * the solver. */
static double distance_of(const oz_cut_solid *solid, const double p[3]) {
  double local[3], d;
  oz_pose_unapply(&solid->pose, p, local);
  if (solid->shape == OOZE_SHAPE_SDF)
    d = oz_brick_distance(&solid->map, solid->bricks, solid->voxel, local);
  else
    d = oz_primitive_distance(solid->shape, solid->half, local);
  return solid->invert && d < OZ_BEYOND ? -d : d;
}

/* Whether the solid may be nearer than `band` to a point within `reach` of p. */
static int is_near(const oz_cut_solid *solid, const double p[3], double reach, double band) {
  const double d = distance_of(solid, p);
  if (solid->shape != OOZE_SHAPE_SDF || d < 0.0) return d < reach + band;
  double local[3];
  int lo[3], hi[3];
  const double side = 8.0 * (double)solid->voxel;
  oz_pose_unapply(&solid->pose, p, local);
  for (int a = 0; a < 3; ++a) {
    if (!(fabs(local[a]) + reach < side * (OZ_KEY_LIMIT - 2))) return 0;
    lo[a] = (int)floor((local[a] - reach) / side);
    hi[a] = (int)floor((local[a] + reach) / side + 0.125); /* a sample further, between bricks */
    if (lo[a] < solid->map.low[a]) lo[a] = solid->map.low[a];
    if (hi[a] > solid->map.high[a]) hi[a] = solid->map.high[a];
  }
  for (int x = lo[0]; x <= hi[0]; ++x)
    for (int y = lo[1]; y <= hi[1]; ++y)
      for (int z = lo[2]; z <= hi[2]; ++z)
        if (oz_map_get(&solid->map.map, oz_key(x, y, z)) != OZ_NONE) return 1;
  return 0;
}

typedef struct cut_job {
  const ooze_surface *s;
  oz_bricks *b;
  float *sharp;
} cut_job;

static void cut_body(void *arg, uint32_t begin, uint32_t end) {
  const cut_job *job = (const cut_job *)arg;
  const ooze_surface *s = job->s;
  const double voxel = (double)s->voxel, gap = (double)s->solid_gap, band = (double)s->band,
               reach = 3.5 * sqrt(3.0) * voxel;
  for (uint32_t i = begin; i < end; ++i) {
    float *f = job->b->values + 512 * (size_t)i, *g = job->sharp + 512 * (size_t)i;
    int key[3];
    double middle[3];
    oz_key_split(job->b->keys[i], key);
    for (int a = 0; a < 3; ++a) middle[a] = (8.0 * key[a] + 3.5) * voxel;
    for (uint32_t n = 0; n < s->solid_count; ++n) {
      if (!is_near(&s->solids[n], middle, reach, band + gap)) continue;
      for (int k = 0; k < 512; ++k) {
        const double p[3] = {(8 * key[0] + (k >> 6)) * voxel, (8 * key[1] + (k >> 3 & 7)) * voxel,
                             (8 * key[2] + (k & 7)) * voxel};
        const double d = gap - distance_of(&s->solids[n], p);
        const float cut = (float)((d < -band ? -band : d > band ? band : d) / voxel);
        f[k] = fmaxf(f[k], cut);
        g[k] = fmaxf(g[k], cut);
      }
    }
  }
}

void oz_cut_apply(const ooze_surface *s, oz_bricks *b, float *sharp, const oz_loop *loop) {
  cut_job job = {s, b, sharp};
  if (s->solid_count) oz_loop_run(loop, b->count, cut_body, &job);
}

void oz_cut_push(const ooze_surface *s, float p[3]) {
  const double voxel = (double)s->voxel, gap = (double)s->solid_gap;
  double at[3] = {(double)p[0], (double)p[1], (double)p[2]};
  int moved = 0;
  /* Where two solids meet, leaving one may lead into the other. */
  for (int turn = 0; turn < 4; ++turn) {
    int inside = 0;
    for (uint32_t n = 0; n < s->solid_count; ++n) {
      const oz_cut_solid *solid = &s->solids[n];
      const double deep = gap - distance_of(solid, at),
                   step = 0.1 * (solid->brick_count ? (double)solid->voxel : voxel);
      double slope[3], length = 0.0;
      if (!(deep > 1e-6 * voxel && deep < 2.0 * voxel)) continue;
      for (int a = 0; a < 3; ++a) {
        double ahead[3] = {at[0], at[1], at[2]}, back[3] = {at[0], at[1], at[2]};
        ahead[a] += step;
        back[a] -= step;
        slope[a] = distance_of(solid, ahead) - distance_of(solid, back);
        length += slope[a] * slope[a];
      }
      length = sqrt(length);
      if (!(length > 0.2 * step && length < 10.0 * step)) continue; /* the edge of its bricks */
      for (int a = 0; a < 3; ++a) at[a] += deep * slope[a] / length;
      inside = moved = 1;
    }
    if (!inside) break;
  }
  for (int a = 0; moved && a < 3; ++a) p[a] = (float)at[a];
}
