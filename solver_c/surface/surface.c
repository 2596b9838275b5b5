/* Particles to a narrow-band level set: bin, make kernels, evaluate the field on bricks, turn it
 * into distance, take solids out, keep the band. The steps are in cells.c, kernels.c,
 * field.c, distance.c, cut.c, band.c, attributes.c. SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

void ooze_surface_destroy(ooze_surface *s) {
  uint32_t n;
  if (!s) return;
  oz_release(s->keys);
  oz_release(s->values);
  oz_map_free(&s->map);
  oz_release(s->kept);
  for (n = 0; n < s->channel_count; ++n) oz_release(s->channels[n].grid);
  oz_cells_free(&s->matter);
  oz_release(s->rows);
  oz_release(s->materials);
  oz_cut_free(s);
  oz_leftover_free(&s->left);
  oz_release(s);
}

static ooze_result check_desc(const ooze_surface_desc *d, ooze_message *why) {
  if (d->method > OOZE_SURFACE_DENSITY)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "method is %u; expected OOZE_SURFACE_SPHERES, _ANISOTROPIC or _DENSITY",
                   d->method);
  if (!(d->threshold >= 0.0f && d->threshold <= 1.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "threshold is %g; expected 0 to 1", d->threshold);
  if (!(d->separation > 0.0f) || !isfinite(d->separation))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "separation is %g m; expected above 0", d->separation);
  if (!(d->radius >= 0.0f) || !isfinite(d->radius))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "radius is %g m; expected 0 or more", d->radius);
  if (!(d->voxel >= 0.0f) || !isfinite(d->voxel))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "voxel is %g m; expected 0 or more", d->voxel);
  if (!(d->half_width >= 2.0f && d->half_width <= 20.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "half_width is %g voxels; expected 2 to 20",
                   d->half_width);
  if (!(d->position_smoothing >= 0.0f && d->position_smoothing <= 1.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "position_smoothing is %g; expected 0 to 1",
                   d->position_smoothing);
  if (!(d->max_stretch >= 1.0f && d->max_stretch <= 4.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "max_stretch is %g; expected 1 to 4", d->max_stretch);
  if (d->smoothing > 100)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "smoothing is %u passes; expected 0 to 100",
                   d->smoothing);
  return OOZE_OK;
}

static int good_name(const char *name) { return name && name[0] && strlen(name) <= 31; }

static ooze_result check_channel(const ooze_surface_channel *c, uint32_t n, ooze_message *why) {
  if (!c || !c->values || !good_name(c->name))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "channel %u needs values and a name of 1 to 31 characters", n);
  if ((c->components != 1 && c->components != 3) || c->kind > OOZE_CHANNEL_PLACE ||
      (c->kind == OOZE_CHANNEL_PLACE && c->components != 3))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "channel %s has %u components and kind %u; expected 1 or 3 and "
                   "OOZE_CHANNEL_*, of which PLACE has 3",
                   c->name, c->components, c->kind);
  return OOZE_OK;
}

static ooze_result check_points(const ooze_surface_points *p, ooze_message *why) {
  ooze_result r;
  if (p->count && !p->positions)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%u particles without positions", p->count);
  if (p->scalar_count > OZ_SURFACE_SCALARS)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%u scalars; the limit is %d", p->scalar_count,
                   OZ_SURFACE_SCALARS);
  if (p->channel_count > OZ_SURFACE_SCALARS)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%u channels; the limit is %d", p->channel_count,
                   OZ_SURFACE_SCALARS);
  if (p->materials && (p->material_count < 1 || p->material_count > OZ_SURFACE_MATERIALS))
    return oz_fail(why, OOZE_ERROR_LIMIT, "%u materials; expected 1 to %d", p->material_count,
                   OZ_SURFACE_MATERIALS);
  for (uint32_t n = 0; n < p->channel_count; ++n)
    if ((r = check_channel(p->channels ? &p->channels[n] : NULL, n, why))) return r;
  for (uint32_t n = 0; n < p->scalar_count; ++n)
    if (!p->scalars || !p->scalars[n].values || !good_name(p->scalars[n].name))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "scalar %u needs values and a name of 1 to 31 characters", n);
  return OOZE_OK;
}

static ooze_result check(const ooze_surface_desc *d, const ooze_surface_points *p,
                         ooze_message *why) {
  ooze_result r;
  if (d->size != sizeof *d || p->size != sizeof *p)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "a surface struct has size %u or %u; fill it with its _default()", d->size,
                   p->size);
  if ((r = check_desc(d, why)) || (r = oz_cut_check(d, why))) return r;
  return check_points(p, why);
}

/* Where a voxel holds many particles, their means stand for them: one a cell of the size that the
 * voxel can show. Nothing is dropped and time stays linear. */
typedef struct merged_points {
  ooze_surface_points p;
  float *block;
  ooze_surface_scalar scalars[OZ_SURFACE_SCALARS];
  ooze_surface_channel channels[OZ_SURFACE_SCALARS];
  uint32_t *materials; /* of the first particle of each cell */
  uint32_t skipped;
} merged_points;

static ooze_result merge(const ooze_surface_points *p, float cell, merged_points *out,
                         ooze_message *why) {
  oz_cells c;
  enum { MOST = 3 + OZ_ROW_WIDE + OZ_ROW_NEAR };
  uint32_t v = p->velocities ? 3 : 0, channels = 3 + v + p->scalar_count, i, j, n;
  const uint32_t first_channel = channels;
  size_t pstride = p->position_stride ? p->position_stride : 3 * sizeof(float);
  size_t vstride = p->velocity_stride ? p->velocity_stride : 3 * sizeof(float);
  ooze_result r = oz_cells_build(&c, cell, p->count, p->positions, pstride, p->left_out, why);
  if (r) return r;
  for (n = 0; n < p->channel_count; ++n) channels += p->channels[n].components;
  out->block = (float *)oz_allocate(c.cell_count, channels * sizeof(float));
  if (p->materials) out->materials = (uint32_t *)oz_allocate(c.cell_count, sizeof(uint32_t));
  if (!out->block || (p->materials && !out->materials)) {
    oz_cells_free(&c);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory to merge %u particles", p->count);
  }
  for (i = 0; i < c.cell_count; ++i) {
    double sum[MOST] = {0}, share = 1.0 / (double)(c.first[i + 1] - c.first[i]);
    for (j = c.first[i]; j < c.first[i + 1]; ++j) {
      float value[MOST];
      uint32_t from = c.order[j], at = first_channel;
      memcpy(value, c.x + 3 * (size_t)j, 3 * sizeof(float));
      if (v) memcpy(value + 3, (const char *)p->velocities + from * vstride, 3 * sizeof(float));
      for (n = 0; n < p->scalar_count; ++n)
        memcpy(value + 3 + v + n,
               (const char *)p->scalars[n].values +
                   from * (p->scalars[n].stride ? p->scalars[n].stride : sizeof(float)),
               sizeof(float));
      for (n = 0; n < p->channel_count; at += p->channels[n++].components) {
        size_t bytes = p->channels[n].components * sizeof(float),
               stride = p->channels[n].stride ? p->channels[n].stride : bytes;
        memcpy(value + at, (const char *)p->channels[n].values + from * stride, bytes);
      }
      for (n = 0; n < channels; ++n) sum[n] += isfinite(value[n]) ? value[n] : 0.0f;
    }
    for (n = 0; n < channels; ++n) out->block[channels * (size_t)i + n] = (float)(sum[n] * share);
    if (p->materials)
      memcpy(&out->materials[i],
             (const char *)p->materials +
                 c.order[c.first[i]] * (p->material_stride ? p->material_stride : 4),
             4);
  }
  out->p = *p;
  out->p.count = c.cell_count;
  out->p.left_out = NULL;
  out->p.positions = out->block;
  out->p.position_stride = out->p.velocity_stride = channels * sizeof(float);
  if (v) out->p.velocities = out->block + 3;
  for (n = 0; n < p->scalar_count; ++n) {
    out->scalars[n] = p->scalars[n];
    out->scalars[n].values = out->block + 3 + v + n;
    out->scalars[n].stride = channels * sizeof(float);
  }
  out->p.scalars = out->scalars;
  for (i = first_channel, n = 0; n < p->channel_count; i += p->channels[n++].components) {
    out->channels[n] = p->channels[n];
    out->channels[n].values = out->block + i;
    out->channels[n].stride = channels * sizeof(float);
  }
  out->p.channels = out->channels;
  if (p->materials) {
    out->p.materials = out->materials;
    out->p.material_stride = 0;
  }
  out->skipped = c.skipped;
  oz_cells_free(&c);
  return OOZE_OK;
}

static int crowded(const oz_cells *c) {
  uint32_t i;
  for (i = 0; i < c->cell_count; ++i)
    if (c->first[i + 1] - c->first[i] > 500) return 1;
  return 0;
}

/* The bricks near particles, with a field that is zero on the surface: of kernels, ... */
static ooze_result by_kernels(oz_bricks *b, const oz_cells *c, float voxel, float separation,
                              float band, const ooze_surface_desc *d, const oz_loop *loop,
                              ooze_message *why) {
  oz_kernel_desc kd;
  oz_kernel_set set;
  kd.anisotropic = d->method == OOZE_SURFACE_ANISOTROPIC;
  kd.separation = separation;
  kd.voxel = voxel;
  kd.position_smoothing = d->position_smoothing;
  kd.max_stretch = d->max_stretch;
  ooze_result r = oz_kernels_make(&kd, c, loop, &set, why);
  const float reach = fmaxf(set.reach, 1.3f * separation + band) - 0.5f * separation + 2.0f * voxel;
  if (!r) r = oz_bricks_cover(b, set.c, voxel, reach, d->max_voxels, why);
  if (!r) oz_field_evaluate(b, set.c, set.k, voxel, separation, set.reach, loop);
  oz_kernels_free(&set);
  return r;
}
/* ... or of balls about those that are at the surface by their density. */
static ooze_result by_density(oz_bricks *b, const oz_cells *c, float voxel, float separation,
                              float radius, float band, const ooze_surface_desc *d,
                              const oz_loop *loop, ooze_message *why) {
  uint8_t *outer = (uint8_t *)oz_allocate(c->count, 1);
  ooze_result r;
  if (!outer) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u particles", c->count);
  oz_density_mark(c, separation, d->threshold, loop, outer);
  r = oz_bricks_cover(b, c, voxel, oz_density_reach(separation, radius) + band + 2.0f * voxel,
                      d->max_voxels, why);
  if (!r) oz_density_field(b, c, outer, voxel, separation, radius, loop);
  oz_release(outer);
  return r;
}

/* Balls of another size, or of many particles, have no volume to be held to. */
static int is_balanced(const ooze_surface *s, const ooze_surface_desc *d, float separation) {
  const float off = fabsf(separation - d->separation);
  return d->method != OOZE_SURFACE_DENSITY && !s->info.merged && off <= 1e-3f * separation;
}

/* The field of the bricks as distance: rebuilt, smoothed where asked, balanced with the volume of
 * the particles where they have one (c, else NULL), sharpened into *sharp. */
static ooze_result make_distance(oz_bricks *b, const oz_cells *c, float voxel,
                                 const ooze_surface_desc *d, const oz_loop *loop, float **sharp,
                                 oz_leftover *left, ooze_message *why) {
  const float band = d->half_width, wide = band + (c ? oz_balance_reach(d->separation, voxel) : 0);
  ooze_result r = oz_distance_rebuild(b, wide, loop, why);
  if (!r && d->smoothing) {
    r = oz_distance_smooth(b, d->smoothing, wide, loop, why);
    if (!r) r = oz_distance_rebuild(b, wide, loop, why);
  }
  if (!r && c) r = oz_balance(b, c, d->separation, voxel, band, loop, left, why);
  return r ? r : oz_distance_sharpen(b, band, loop, sharp, why);
}

static void fill_info(ooze_surface *s, float radius) {
  s->info.size = (uint32_t)sizeof s->info;
  s->info.bricks = s->brick_count;
  s->info.inside_bricks = s->inside_count;
  s->info.voxel = s->voxel;
  s->info.half_width = s->band;
  s->info.radius = radius;
  s->info.bytes = sizeof *s + (uint64_t)s->brick_count * 2048 + (uint64_t)(s->map.mask + 1) * 12 +
                  (uint64_t)s->attribute_bricks * (64 + 2048 * s->out_floats) +
                  (uint64_t)s->matter.count * (16 + 4 * s->row_floats);
}

ooze_result ooze_surface_build(const ooze_surface_desc *d, const ooze_surface_points *points,
                               ooze_surface **out, ooze_message *why) {
  double start = oz_seconds();
  merged_points merged;
  const ooze_surface_points *p = points;
  oz_loop loop;
  oz_cells c;
  oz_bricks b;
  float *sharp = NULL;
  ooze_surface *s = NULL;
  float separation, voxel, radius;
  ooze_result r;
  if (!d || !points || !out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_surface_build: a pointer is NULL");
  *out = NULL;
  if ((r = check(d, points, why))) return r;
  memset(&merged, 0, sizeof merged);
  memset(&c, 0, sizeof c);
  memset(&b, 0, sizeof b);
  voxel = d->voxel > 0.0f ? d->voxel : 0.5f * d->separation;
  /* A ball of radius 0.87 voxel always holds a sample; a smaller one could slip between. */
  separation = (d->radius > 0.0f ? d->radius : OZ_LONE_RADIUS * d->separation) / OZ_LONE_RADIUS;
  separation = fmaxf(separation, 0.9f * voxel / OZ_LONE_RADIUS);
  s = (ooze_surface *)oz_allocate(1, sizeof *s);
  if (!s) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a surface");
  memset(s, 0, sizeof *s);
  oz_loop_open(&loop, d->hooks, d->threads);
  s->voxel = voxel;
  s->band = d->half_width * voxel;
  s->fill = d->attributes;
  s->threads = d->threads;
  if ((r = oz_cut_take(s, d, why))) goto done;
  if (separation > 1.5f * d->separation) {
    if ((r = merge(points, separation, &merged, why))) goto done;
    p = &merged.p;
    s->info.merged = 1;
  }
  /* Cells as wide as the covariance neighbourhood: 27 to 64 lookups a gather. */
  r = oz_cells_build(&c, 2.5f * separation, p->count, p->positions,
                     p->position_stride ? p->position_stride : 3 * sizeof(float), p->left_out, why);
  if (r) goto done;
  /* Sixteen a cell is usual. A heap of particles in one spot would cost its square: thin it out
   * first. */
  if (!s->info.merged && crowded(&c)) {
    oz_cells_free(&c);
    if ((r = merge(points, 0.4f * separation, &merged, why))) goto done;
    p = &merged.p;
    s->info.merged = 1;
    r = oz_cells_build(&c, 2.5f * separation, p->count, p->positions, p->position_stride, NULL,
                       why);
    if (r) goto done;
  }
  radius = OZ_LONE_RADIUS * separation;
  if (d->method == OOZE_SURFACE_DENSITY) {
    radius = fmaxf(d->radius > 0.0f && !s->info.merged ? d->radius : OZ_DENSITY_RADIUS * separation,
                   0.9f * voxel);
    r = by_density(&b, &c, voxel, separation, radius, s->band, d, &loop, why);
  } else {
    r = by_kernels(&b, &c, voxel, separation, s->band, d, &loop, why);
  }
  if (r) goto done;
  if ((r = make_distance(&b, is_balanced(s, d, separation) ? &c : NULL, voxel, d, &loop, &sharp,
                         &s->left, why)))
    goto done;
  oz_cut_apply(s, &b, sharp, &loop);
  if ((r = oz_band_keep(s, &b, sharp, d->half_width, &loop, why))) goto done;
  oz_release(sharp);
  sharp = NULL;
  oz_bricks_free(&b);
  s->separation = separation;
  s->particle_volume = pow((double)d->separation, 3.0) * (double)c.count;
  s->info.skipped = merged.skipped + c.skipped;
  if (p->velocities || p->scalar_count || p->channel_count || p->materials) {
    s->matter = c; /* the surface keeps its particles, for values on it */
    memset(&c, 0, sizeof c);
    if ((r = oz_channels_take(s, p, &loop, why)) || (r = oz_attributes_fill(s, &loop, why)))
      goto done;
  }
  fill_info(s, radius);
  s->info.seconds = oz_seconds() - start;
  *out = s;
  s = NULL;
done:
  oz_loop_close(&loop);
  ooze_surface_destroy(s);
  oz_release(merged.block);
  oz_release(merged.materials);
  oz_release(sharp);
  oz_cells_free(&c);
  oz_bricks_free(&b);
  return r;
}

ooze_result ooze_surface_info_get(const ooze_surface *s, ooze_surface_info *out) {
  if (!s || !out || out->size != sizeof *out) return OOZE_ERROR_ARGUMENT;
  *out = s->info;
  return OOZE_OK;
}

static float sample_at(const ooze_surface *s, int x, int y, int z) {
  uint32_t i = oz_map_get(&s->map, oz_key(x >> 3, y >> 3, z >> 3));
  if (i == OZ_NONE) return s->band;
  if (i >= s->brick_count) return -s->band;
  return s->values[512 * (size_t)i + (size_t)(64 * (x & 7) + 8 * (y & 7) + (z & 7))];
}

float oz_surface_distance(const ooze_surface *s, const float p[3]) {
  float t[3], f[8];
  int i[3], a;
  for (a = 0; a < 3; ++a) {
    float x = p[a] / s->voxel;
    if (!(fabsf(x) < 8.0f * (OZ_KEY_LIMIT - 2))) return s->band;
    i[a] = (int)floorf(x);
    t[a] = x - (float)i[a];
  }
  for (a = 0; a < 8; ++a) f[a] = sample_at(s, i[0] + (a >> 2), i[1] + (a >> 1 & 1), i[2] + (a & 1));
  for (a = 0; a < 4; ++a) f[a] += t[0] * (f[a + 4] - f[a]);
  for (a = 0; a < 2; ++a) f[a] += t[1] * (f[a + 2] - f[a]);
  return f[0] + t[2] * (f[1] - f[0]);
}

ooze_result ooze_surface_sample(const ooze_surface *s, const float *points, uint32_t count,
                                float *out) {
  uint32_t i;
  if (!s || (count && (!points || !out))) return OOZE_ERROR_ARGUMENT;
  for (i = 0; i < count; ++i) out[i] = oz_surface_distance(s, points + 3 * (size_t)i);
  return OOZE_OK;
}

/* FNV-1a over 32-bit words: its use is that equal bits give equal hashes and a changed bit
 * shows. */
static uint64_t hash_words(uint64_t h, const void *data, size_t bytes) {
  const unsigned char *p = (const unsigned char *)data;
  size_t i;
  uint32_t w;
  for (i = 0; i + 4 <= bytes; i += 4) {
    memcpy(&w, p + i, 4);
    h = (h ^ w) * 0x100000001b3ull;
  }
  return h;
}

uint64_t ooze_surface_hash(const ooze_surface *s) {
  uint64_t h = 0xcbf29ce484222325ull;
  uint32_t n;
  if (!s) return 0;
  h = hash_words(h, s->keys, ((size_t)s->brick_count + s->inside_count) * 8);
  h = hash_words(h, s->values, (size_t)s->brick_count * 2048);
  for (n = 0; n < s->channel_count; ++n)
    if (s->channels[n].grid)
      h = hash_words(h, s->channels[n].grid,
                     (size_t)s->attribute_bricks * s->channels[n].components * 2048);
  return h;
}

void ooze_tensor_norms(const float *tensors, uint32_t count, float *out) {
  uint32_t i;
  for (i = 0; i < count && tensors && out; ++i) {
    const float *q = tensors + 6 * (size_t)i;
    out[i] = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] +
                   2.0f * (q[3] * q[3] + q[4] * q[4] + q[5] * q[5]));
  }
}
