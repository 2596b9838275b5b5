/* The particles' values as a surface carries them, and their values at single points: velocity,
 * scalars, channels, and the materials with their weights. Particles are weighed by their distance
 * (Shepard 1968) within two separations, so that a mesh shows the values of its own particles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>
#include <stdio.h>

#define REACH 2.2f /* separations */
#define FAR_REACH 5.0f

/* Sixth powers: from one material to the other within half a separation. */
void oz_material_weights(const float *w, uint32_t count, float *out) {
  float most = 0.0f, sum = 0.0f;
  for (uint32_t m = 0; m < count; ++m) most = fmaxf(most, w[m]);
  for (uint32_t m = 0; m < count; ++m) {
    const float q = most > 0.0f ? w[m] / most : m == 0 ? 1.0f : 0.0f, q2 = q * q;
    out[m] = q2 * q2 * q2;
    sum += out[m];
  }
  for (uint32_t m = 0; m < count; ++m) out[m] /= sum;
}

uint32_t oz_heaviest(const float *w, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t m = 1; m < count; ++m)
    if (w[m] > w[best]) best = m;
  return best;
}

/* ---- Taking them over -------------------------------------------------------------------- */

static oz_carried *add_channel(ooze_surface *s, const char *name, uint32_t components,
                               uint32_t kind, uint32_t at) {
  oz_carried *c = &s->channels[s->channel_count++];
  snprintf(c->name, sizeof c->name, "%s", name);
  c->components = components;
  c->kind = kind;
  c->at = at;
  return c;
}

/* Velocity and scalars first, then channels, those that are sharp last in a row. */
static void list_channels(ooze_surface *s, const ooze_surface_points *p) {
  uint32_t at = 0, n;
  int sharp;
  if (p->velocities) {
    s->velocity = add_channel(s, "v", 3, OZ_CARRIED_WIDE, 0);
    at = 3;
  }
  for (n = 0; n < p->scalar_count; ++n)
    add_channel(s, p->scalars[n].name, 1, OZ_CARRIED_WIDE, at++);
  for (n = 0; n < p->channel_count; ++n)
    add_channel(s, p->channels[n].name, p->channels[n].components, p->channels[n].kind, 0);
  for (sharp = 0; sharp < 2; ++sharp)
    for (n = 0; n < s->channel_count; ++n) {
      oz_carried *c = &s->channels[n];
      if (c->kind == OZ_CARRIED_WIDE || (c->kind == OOZE_CHANNEL_SHARP) != sharp) continue;
      c->at = at;
      at += c->components;
    }
  s->row_floats = at;
  if (!s->material_count) return;
  add_channel(s, "material", 1, OZ_CARRIED_MATERIAL, 0);
  for (n = 0; n < s->material_count && s->material_count > 1; ++n) {
    char name[32];
    if (p->material_names && !p->material_names[n]) continue;
    if (p->material_names)
      snprintf(name, sizeof name, "weight_%.24s", p->material_names[n]);
    else
      snprintf(name, sizeof name, "weight_%u", n);
    for (char *c = name; *c; ++c) /* as attributes may be named */
      if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
        *c = '_';
    add_channel(s, name, 1, OZ_CARRIED_WEIGHT, n);
  }
}

/* Numbers that are not finite stand for 0: one particle must not blot out its surroundings. */
static void take(float *to, const void *from, size_t stride, uint32_t index, uint32_t components) {
  memcpy(to, (const char *)from + (size_t)index * (stride ? stride : components * sizeof(float)),
         components * sizeof(float));
  for (uint32_t k = 0; k < components; ++k)
    if (!isfinite(to[k])) to[k] = 0.0f;
}

typedef struct take_job {
  ooze_surface *s;
  const ooze_surface_points *p;
} take_job;

static void take_body(void *arg, uint32_t begin, uint32_t end) {
  const take_job *job = (const take_job *)arg;
  ooze_surface *s = job->s;
  const ooze_surface_points *p = job->p;
  const oz_cells *c = &s->matter;
  for (uint32_t i = begin; i < end; ++i) {
    float *row = s->rows + s->row_floats * (size_t)i;
    const uint32_t from = c->order[i], channels = p->velocities ? 1 : 0;
    if (p->velocities) take(row, p->velocities, p->velocity_stride, from, 3);
    for (uint32_t n = 0; n < p->scalar_count; ++n)
      take(row + s->channels[channels + n].at, p->scalars[n].values, p->scalars[n].stride, from, 1);
    for (uint32_t n = 0; n < p->channel_count; ++n) {
      const oz_carried *channel = &s->channels[channels + p->scalar_count + n];
      float *to = row + channel->at;
      take(to, p->channels[n].values, p->channels[n].stride, from, channel->components);
      for (uint32_t k = 0; channel->kind == OOZE_CHANNEL_PLACE && k < 3; ++k)
        to[k] -= c->x[3 * (size_t)i + k];
    }
    if (s->material_count) {
      uint32_t m;
      memcpy(&m,
             (const char *)p->materials +
                 from * (p->material_stride ? p->material_stride : sizeof m),
             sizeof m);
      s->materials[i] = (uint8_t)(m < s->material_count ? m : 0);
    }
  }
}

ooze_result oz_channels_take(ooze_surface *s, const ooze_surface_points *p, const oz_loop *loop,
                             ooze_message *why) {
  const oz_cells *c = &s->matter;
  take_job job = {s, p};
  s->material_count = p->materials ? p->material_count : 0;
  list_channels(s, p);
  for (uint32_t n = 0; n < s->channel_count; ++n) s->out_floats += s->channels[n].components;
  if (s->row_floats) s->rows = (float *)oz_allocate(c->count, s->row_floats * sizeof(float));
  if (s->material_count) s->materials = (uint8_t *)oz_allocate(c->count, 1);
  if ((s->row_floats && !s->rows) || (s->material_count && !s->materials))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the channels of %u particles", c->count);
  oz_loop_run(loop, c->count, take_body, &job);
  return OOZE_OK;
}

/* ---- Values at a point ------------------------------------------------------------------- */

typedef struct near_particle {
  uint32_t index;
  float weight;
} near_particle;

/* The nearest ones where there are more than fit: particles lie a separation apart, so there are
 * not. */
enum { MOST_NEAR = 256 };

static uint32_t gather(const ooze_surface *s, const float p[3], float reach, near_particle *out) {
  const oz_cells *c = &s->matter;
  const float r = reach * s->separation, inv = 1.0f / (r * r),
              per = 1.0f / (s->separation * s->separation);
  uint32_t count = 0;
  int lo[3], hi[3], x, y, z;
  for (int a = 0; a < 3; ++a) {
    lo[a] = (int)floorf((p[a] - r) / c->cell);
    hi[a] = (int)floorf((p[a] + r) / c->cell);
  }
  for (x = lo[0]; x <= hi[0]; ++x)
    for (y = lo[1]; y <= hi[1]; ++y)
      for (z = lo[2]; z <= hi[2]; ++z) {
        uint32_t j, last;
        if (!oz_cells_find(c, x, y, z, &j, &last)) continue;
        for (; j < last && count < MOST_NEAR; ++j) {
          const float *o = c->x + 3 * (size_t)j, dx = o[0] - p[0], dy = o[1] - p[1],
                      dz = o[2] - p[2];
          const float r2 = dx * dx + dy * dy + dz * dz, q = 1.0f - r2 * inv;
          if (q <= 0.0f) continue;
          out[count].index = j;
          out[count++].weight = q * q * q / (r2 * per + OZ_SHEPARD);
        }
      }
  return count;
}

void oz_channels_at(const ooze_surface *s, const float p[3], float *out) {
  near_particle near[MOST_NEAR];
  float weights[OZ_SURFACE_MATERIALS], w[OZ_SURFACE_MATERIALS] = {0},
                                       row[OZ_ROW_WIDE + OZ_ROW_NEAR] = {0}, total = 0.0f;
  uint32_t count, n, sharp_at = s->row_floats;
  for (n = 0; n < s->channel_count; ++n)
    if (s->channels[n].kind == OOZE_CHANNEL_SHARP && s->channels[n].at < sharp_at)
      sharp_at = s->channels[n].at;
  memset(out, 0, s->out_floats * sizeof *out);
  if (!isfinite(p[0] + p[1] + p[2])) return;
  if (!(count = gather(s, p, REACH, near))) count = gather(s, p, FAR_REACH, near);
  if (!count) return;
  for (n = 0; n < count; ++n) {
    total += near[n].weight;
    if (s->materials) w[s->materials[near[n].index]] += near[n].weight;
  }
  if (s->material_count) oz_material_weights(w, s->material_count, weights);
  for (n = 0; n < count; ++n) {
    const float *from = s->rows + s->row_floats * (size_t)near[n].index;
    const uint32_t m = s->materials ? s->materials[near[n].index] : 0;
    const float even = near[n].weight / total,
                own = s->material_count > 1 ? near[n].weight * weights[m] / w[m] : even;
    for (uint32_t k = 0; k < s->row_floats; ++k) row[k] += (k < sharp_at ? even : own) * from[k];
  }
  for (n = 0; n < s->channel_count; ++n) {
    const oz_carried *c = &s->channels[n];
    if (c->kind == OZ_CARRIED_MATERIAL)
      *out++ = (float)oz_heaviest(weights, s->material_count);
    else if (c->kind == OZ_CARRIED_WEIGHT)
      *out++ = weights[c->at];
    else
      for (uint32_t k = 0; k < c->components; ++k)
        *out++ = row[c->at + k] + (c->kind == OOZE_CHANNEL_PLACE ? p[k] : 0.0f);
  }
}

ooze_result ooze_surface_values(const ooze_surface *s, const char *name, const float *points,
                                uint32_t count, float *out) {
  float all[OZ_OUT_FLOATS];
  uint32_t at = 0, n;
  if (!s || !name || (count && (!points || !out))) return OOZE_ERROR_ARGUMENT;
  for (n = 0; n < s->channel_count && strcmp(s->channels[n].name, name) != 0; ++n)
    at += s->channels[n].components;
  if (n == s->channel_count) return OOZE_ERROR_NOT_FOUND;
  for (uint32_t i = 0; i < count; ++i) {
    oz_channels_at(s, points + 3 * (size_t)i, all);
    for (uint32_t k = 0; k < s->channels[n].components; ++k)
      out[s->channels[n].components * (size_t)i + k] = all[at + k];
  }
  return OOZE_OK;
}

/* ---- Values on a mesh -------------------------------------------------------------------- */

typedef struct mesh_job {
  const ooze_surface *s;
  const ooze_mesh *mesh;
  void *data[OZ_SURFACE_CHANNELS];
} mesh_job;

static void mesh_body(void *arg, uint32_t begin, uint32_t end) {
  const mesh_job *job = (const mesh_job *)arg;
  const ooze_surface *s = job->s;
  float all[OZ_OUT_FLOATS];
  for (uint32_t i = begin; i < end; ++i) {
    const float *from = all;
    oz_channels_at(s, job->mesh->positions + 3 * (size_t)i, all);
    for (uint32_t n = 0; n < s->channel_count; ++n) {
      const uint32_t components = s->channels[n].components;
      if (s->channels[n].kind == OZ_CARRIED_MATERIAL)
        ((int32_t *)job->data[n])[i] = (int32_t)*from;
      else
        memcpy((float *)job->data[n] + components * (size_t)i, from, components * sizeof *from);
      from += components;
    }
  }
}

ooze_result oz_channels_to_mesh(const ooze_surface *s, ooze_mesh *mesh, const oz_loop *loop,
                                ooze_message *why) {
  mesh_job job;
  memset(&job, 0, sizeof job);
  job.s = s;
  job.mesh = mesh;
  for (uint32_t n = 0; n < s->channel_count; ++n) {
    const oz_carried *channel = &s->channels[n];
    const uint32_t type = channel->kind == OZ_CARRIED_MATERIAL ? OOZE_INT32 : OOZE_FLOAT32;
    ooze_result r = OOZE_OK;
    if (channel == s->velocity)
      job.data[n] = mesh->velocities;
    else
      r = ooze_mesh_channel_add(mesh, channel->name, type, channel->components, OOZE_MEANING_NUMBER,
                                &job.data[n], why);
    if (r) return r;
  }
  if (s->channel_count) oz_loop_run(loop, mesh->point_count, mesh_body, &job);
  return OOZE_OK;
}
