/* Values of the particles on the bricks of a surface. Velocity and scalars are the mean of the
 * particles around each sample, weighted by a kernel that reaches from beyond the band back to the
 * fluid, so that motion blur finds a velocity wherever it finds a distance. Channels weigh near
 * particles more (Shepard 1968); channels.c has the same weights at single points.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

typedef struct attribute_job {
  ooze_surface *s;
  float radius;
  uint32_t wide, near, sharp; /* floats of a row: by the plain kernel, by Shepard's, by material */
} attribute_job;

/* Rows of sums: the plain weight and its values, the near weight and its values, one a material;
 * the sharp values come in a second pass. */
enum {
  WIDE_ROWS = 1 + OZ_ROW_WIDE,
  NEAR_ROWS = 1 + OZ_ROW_NEAR,
  ALL_ROWS = WIDE_ROWS + NEAR_ROWS + OZ_SURFACE_MATERIALS
};
typedef struct brick_sums {
  float wide[WIDE_ROWS][512], near[NEAR_ROWS][512];
  float material[OZ_SURFACE_MATERIALS][512]; /* weights; then factors of the particles' weights */
} brick_sums;

static void add_row(float *to, uint32_t rows, oz_f4 w, const float *value) {
  for (uint32_t n = 0; n < rows; ++n)
    oz_f4_store(to + 512 * (size_t)n, oz_f4_load(to + 512 * (size_t)n) + w * value[n]);
}

/* One particle's share in a brick. Second pass: sharp values alone, by weights that the factors of
 * its material scale. */
static void spread(const attribute_job *job, brick_sums *sum, uint32_t particle,
                   const float origin[3], int second) {
  const ooze_surface *s = job->s;
  const float *x = s->matter.x + 3 * (size_t)particle,
              *row = s->rows + s->row_floats * (size_t)particle;
  const uint32_t material = s->materials ? s->materials[particle] : 0;
  const float voxel = s->voxel, inv = voxel * voxel / (job->radius * job->radius),
              reach = job->radius / voxel;
  const float per_separation = voxel * voxel / (s->separation * s->separation);
  float px = (x[0] - origin[0]) / voxel, py = (x[1] - origin[1]) / voxel,
        pz = (x[2] - origin[2]) / voxel;
  int x0 = (int)ceilf(fmaxf(px - reach, 0.0f)), x1 = (int)floorf(fminf(px + reach, 7.0f));
  int y0 = (int)ceilf(fmaxf(py - reach, 0.0f)), y1 = (int)floorf(fminf(py + reach, 7.0f));
  for (int i = x0; i <= x1; ++i)
    for (int j = y0; j <= y1; ++j) {
      float flat = ((float)i - px) * ((float)i - px) + ((float)j - py) * ((float)j - py),
            base = 1.0f - flat * inv;
      if (base <= 0.0f) continue;
      for (int z = 0; z < 8; z += OZ_LANES) {
        const size_t at = (size_t)(64 * i + 8 * j + z);
        oz_f4 dz = oz_f4_ramp() + ((float)z - pz), q = oz_f4_positive(base - dz * dz * inv),
              w = q * q * q;
        if (!second) {
          static const float one = 1.0f;
          if (job->wide) {
            add_row(&sum->wide[0][at], 1, w, &one);
            add_row(&sum->wide[1][at], job->wide, w, row);
          }
          if (!job->near && !s->material_count) continue;
        }
        w = w / ((flat + dz * dz) * per_separation + OZ_SHEPARD);
        if (second) {
          w = w * oz_f4_load(&sum->material[material][at]);
          add_row(&sum->near[1 + job->near - job->sharp][at], job->sharp, w,
                  row + job->wide + job->near - job->sharp);
          continue;
        }
        oz_f4_store(&sum->near[0][at], oz_f4_load(&sum->near[0][at]) + w);
        add_row(&sum->near[1][at], job->near - job->sharp, w, row + job->wide);
        if (s->material_count)
          oz_f4_store(&sum->material[material][at], oz_f4_load(&sum->material[material][at]) + w);
      }
    }
}

static void spread_all(const attribute_job *job, brick_sums *sum, const float origin[3],
                       int second) {
  const ooze_surface *s = job->s;
  const oz_cells *c = &s->matter;
  const float top = 7.0f * s->voxel;
  int lo[3], hi[3], x, y, z;
  for (int a = 0; a < 3; ++a) {
    lo[a] = (int)floorf((origin[a] - job->radius) / c->cell);
    hi[a] = (int)floorf((origin[a] + top + job->radius) / c->cell);
  }
  for (x = lo[0]; x <= hi[0]; ++x)
    for (y = lo[1]; y <= hi[1]; ++y)
      for (z = lo[2]; z <= hi[2]; ++z) {
        uint32_t j, last;
        if (!oz_cells_find(c, x, y, z, &j, &last)) continue;
        for (; j < last; ++j) spread(job, sum, j, origin, second);
      }
}

/* Weights of materials at one sample, and the factors that turn a particle's weight into its share
 * of the sharpened ones. */
static void factors(brick_sums *sum, uint32_t materials, int at, float *weights) {
  float w[OZ_SURFACE_MATERIALS];
  for (uint32_t m = 0; m < materials; ++m) w[m] = sum->material[m][at];
  oz_material_weights(w, materials, weights);
  for (uint32_t m = 0; m < materials; ++m)
    sum->material[m][at] = w[m] > 0.0f ? weights[m] / w[m] : 0.0f;
}

static int is_kept(const ooze_surface *s, uint32_t brick, int at) {
  return s->kept[8 * (size_t)brick + (size_t)(at >> 6)] >> (at & 63) & 1;
}

/* Marks the voxels of a brick that bear values, and writes materials and their weights there. */
static void write_materials(attribute_job *job, brick_sums *sum, uint32_t i) {
  ooze_surface *s = job->s;
  const int inside = i >= s->brick_count;
  float weights[OZ_SURFACE_MATERIALS];
  memset(s->kept + 8 * (size_t)i, 0, 8 * sizeof(uint64_t));
  for (int a = 0; a < 512; ++a) {
    const size_t at = 512 * (size_t)i + (size_t)a;
    const float distance = inside ? -s->band : s->values[at],
                w = job->wide ? sum->wide[0][a] : sum->near[0][a];
    const int keep =
        w > 0.0f && distance < s->band && (s->fill == OOZE_FILL_INSIDE || distance > -s->band);
    if (keep) s->kept[8 * (size_t)i + (size_t)(a >> 6)] |= (uint64_t)1 << (a & 63);
    if (!s->material_count) continue;
    factors(sum, s->material_count, a, weights);
    for (uint32_t n = 0; n < s->channel_count; ++n) {
      const oz_carried *channel = &s->channels[n];
      if (channel->kind == OZ_CARRIED_MATERIAL)
        channel->grid[at] = keep ? (float)oz_heaviest(weights, s->material_count) : 0.0f;
      else if (channel->kind == OZ_CARRIED_WEIGHT)
        channel->grid[at] = keep ? weights[channel->at] : 0.0f;
    }
  }
}

/* The other channels at voxel `a` of brick `i`, from the sums. */
static void write_channels(attribute_job *job, const brick_sums *sum, uint32_t i, int a,
                           const float place[3]) {
  ooze_surface *s = job->s;
  const size_t at = 512 * (size_t)i + (size_t)a;
  const int keep = is_kept(s, i, a);
  const float wide = keep && job->wide ? 1.0f / sum->wide[0][a] : 0.0f,
              near = keep && sum->near[0][a] > 0.0f ? 1.0f / sum->near[0][a] : 0.0f;
  for (uint32_t n = 0; n < s->channel_count; ++n) {
    const oz_carried *channel = &s->channels[n];
    if (channel->kind >= OZ_CARRIED_MATERIAL) continue;
    for (uint32_t k = 0; k < channel->components; ++k) {
      const uint32_t from = channel->at + k;
      float v = channel->kind == OZ_CARRIED_WIDE ? sum->wide[1 + from][a] * wide
                : channel->kind == OOZE_CHANNEL_SHARP && job->sharp
                    ? sum->near[1 + from - job->wide][a]
                    : sum->near[1 + from - job->wide][a] * near;
      if (channel->kind == OOZE_CHANNEL_PLACE) v += place[k];
      channel->grid[channel->components * at + k] = keep ? v : 0.0f;
    }
  }
}

static void attribute_body(void *arg, uint32_t begin, uint32_t end) {
  attribute_job *job = (attribute_job *)arg;
  ooze_surface *s = job->s;
  brick_sums *sum = (brick_sums *)oz_allocate(1, sizeof *sum);
  for (uint32_t i = begin; i < end && sum; ++i) {
    float origin[3], place[3];
    int key[3];
    oz_key_split(s->keys[i], key);
    memset(sum->wide, 0, (1 + job->wide) * sizeof sum->wide[0]);
    memset(sum->near, 0, (1 + job->near) * sizeof sum->near[0]);
    memset(sum->material, 0, s->material_count * sizeof sum->material[0]);
    for (int a = 0; a < 3; ++a) origin[a] = (float)key[a] * 8.0f * s->voxel;
    spread_all(job, sum, origin, 0);
    write_materials(job, sum, i);
    if (job->sharp) spread_all(job, sum, origin, 1);
    for (int a = 0; a < 512; ++a) {
      place[0] = origin[0] + s->voxel * (float)(a >> 6);
      place[1] = origin[1] + s->voxel * (float)(a >> 3 & 7);
      place[2] = origin[2] + s->voxel * (float)(a & 7);
      write_channels(job, sum, i, a, place);
    }
  }
  if (!sum) s->failed = 1;
  oz_release(sum);
}

ooze_result oz_attributes_fill(ooze_surface *s, const oz_loop *loop, ooze_message *why) {
  attribute_job job;
  uint32_t bricks, n;
  if (s->fill == OOZE_FILL_NONE || !s->channel_count || !s->matter.count) return OOZE_OK;
  bricks = s->brick_count + (s->fill == OOZE_FILL_INSIDE ? s->inside_count : 0);
  s->kept = (uint64_t *)oz_allocate(bricks, 8 * sizeof(uint64_t));
  s->failed = !s->kept;
  for (n = 0; n < s->channel_count; ++n) {
    oz_carried *channel = &s->channels[n];
    channel->grid = (float *)oz_allocate(bricks, channel->components * 512 * sizeof(float));
    if (!channel->grid) s->failed = 1;
  }
  memset(&job, 0, sizeof job);
  job.s = s;
  for (n = 0; n < s->channel_count; ++n) {
    const oz_carried *channel = &s->channels[n];
    if (channel->kind == OZ_CARRIED_WIDE) job.wide += channel->components;
    if (channel->kind < OZ_CARRIED_WIDE) job.near += channel->components;
    if (channel->kind == OOZE_CHANNEL_SHARP && s->material_count > 1)
      job.sharp += channel->components;
  }
  /* From the band's outer edge back to the outermost particles; wide bands stop short, or cost
   * would grow with their cube. */
  job.radius = fminf(s->band + 1.1f * s->separation, fmaxf(4.0f * s->separation, 4.0f * s->voxel));
  if (!s->failed) {
    s->attribute_bricks = bricks;
    oz_loop_run(loop, bricks, attribute_body, &job);
  }
  if (s->failed)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u channels on %u bricks",
                   s->channel_count, bricks);
  return OOZE_OK;
}
