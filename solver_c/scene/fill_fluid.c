/* Filling shapes with particles at the separation. SPDX-License-Identifier: Apache-2.0
 *
 * Each copy of a fluid has a cubic lattice in its own space, centred in its bounds, so that a box
 * of n separations gets exactly n layers. A particle is born where a cell's middle is inside,
 * unless it would stand nearer than 0.9 separations to one of an earlier fluid or copy, or in a
 * collider.
 *
 * Order and jitter follow from the scene alone. */
#include "fill_pour.h"
#include "scene/paint.h"

#include <math.h>
#include <stdlib.h>

oz_fill *oz_fill_create(double separation, uint64_t max_particles, const oz_fill_host *host) {
  oz_fill *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->d = separation;
  f->most = max_particles;
  if (host) f->host = *host;
  oz_loop_open(&f->loop, NULL, f->host.threads);
  return f;
}

void oz_fill_destroy(oz_fill *f) {
  if (!f) return;
  for (size_t i = 0; i < f->batch_count; i++) free(f->batches[i].x);
  for (int level = 0; level < OZ_BOX_LEVELS; level++) free(f->boxes[level]);
  free(f->batches);
  oz_loop_close(&f->loop);
  free(f);
}

static ooze_result put(oz_pour *p, const double x[3], const float *v) {
  oz_cloud *c = p->out;
  if (!oz_pour_fits(p, x)) {
    ++*p->cut;
    return OOZE_OK;
  }
  OZ_TRY_OK(oz_pour_room(p, 1, v != NULL));
  for (int k = 0; k < 3; k++) {
    c->x[c->count][k] = (float)x[k];
    if (v) c->v[c->count][k] = v[k];
  }
  oz_box_widen(&p->own.box, c->x[c->count]);
  c->count++;
  p->fill->total++;
  return OOZE_OK;
}

/* The box of a copy in the world, for finding near copies. */
static void world_bounds(const ooze_pose *pose, const double low[3], const double high[3],
                         double margin, double out_low[3], double out_high[3]) {
  for (int k = 0; k < 3; k++) out_low[k] = 1e300, out_high[k] = -1e300;
  for (int c = 0; c < 8; c++) {
    double x[3] = {c & 1 ? high[0] : low[0], c & 2 ? high[1] : low[1], c & 4 ? high[2] : low[2]},
           y[3];
    oz_pose_apply(pose, x, y);
    for (int k = 0; k < 3; k++) {
      out_low[k] = fmin(out_low[k], y[k] - margin);
      out_high[k] = fmax(out_high[k], y[k] + margin);
    }
  }
}

static ooze_result fill_points(oz_pour *p, const ooze_pose *pose) {
  ooze_points *points = NULL;
  ooze_points_attribute at, v;
  OZ_TRY_OK(ooze_points_read(p->fluid->shape.file, p->fluid->limits, &points, p->why));
  ooze_points_attribute_default(&at);
  ooze_points_attribute_default(&v);
  ooze_result result = OOZE_OK;
  if (ooze_points_find(points, "P", &at) != OOZE_OK || at.type != OOZE_FLOAT32 ||
      at.components != 3)
    result = oz_fail(p->why, OOZE_ERROR_FORMAT, "%s: has no P of 3 floats", p->fluid->shape.file);
  int has_v =
      ooze_points_find(points, "v", &v) == OOZE_OK && v.type == OOZE_FLOAT32 && v.components == 3;
  if (!p->out->count) /* of the first copy */
    oz_paint_tell_unread(points, p->fluid->name, 0, p->fill->host.say, p->fill->host.user);
  ooze_pose turn = *pose;
  memset(turn.position, 0, sizeof turn.position);
  for (uint64_t i = 0; i < ooze_points_count(points) && result == OOZE_OK; i++) {
    const float *f = (const float *)at.data + 3 * i;
    double scale = (double)p->fluid->shape.scale, x[3], y[3];
    float speed[3];
    for (int k = 0; k < 3; k++) x[k] = scale * (double)f[k];
    oz_pose_apply(pose, x, y);
    if (has_v) {
      double u[3], w[3];
      for (int k = 0; k < 3; k++) u[k] = (double)((const float *)v.data)[3 * i + k];
      oz_pose_apply(&turn, u, w);
      for (int k = 0; k < 3; k++) speed[k] = (float)w[k] + p->fluid->velocity[k];
    }
    result = put(p, y, has_v ? speed : oz_fluid_velocity(p->fluid));
  }
  ooze_points_destroy(points);
  return result;
}

/* For those that come after. 0 when memory is out. */
static int remember(oz_fill *fill, const oz_batch *bounds, const void *x, uint32_t count) {
  if (!oz_list_room((void **)&fill->batches, &fill->batch_room, fill->batch_count,
                    sizeof *fill->batches, 16))
    return 0;
  oz_batch *b = &fill->batches[fill->batch_count];
  *b = *bounds;
  b->count = count;
  b->x = malloc(((size_t)count + 1) * sizeof *b->x);
  if (!b->x) return 0;
  memcpy(b->x, x, (size_t)count * sizeof *b->x);
  fill->batch_count++;
  return oz_boxes_add(fill);
}

ooze_result oz_fill_reserve(oz_fill *fill, const float *positions, uint64_t count,
                            ooze_message *why) {
  oz_batch b;
  memset(&b, 0, sizeof b);
  if (!count) return OOZE_OK;
  if (count >= UINT32_MAX / 2)
    return oz_fail(why, OOZE_ERROR_LIMIT, "more points than a solver holds");
  for (int k = 0; k < 3; k++) b.box.low[k] = 1e300, b.box.high[k] = -1e300;
  float(*kept)[3] = malloc((size_t)count * sizeof *kept);
  for (uint64_t i = 0; kept && i < count; i++) {
    const float *x = positions + 3 * i;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) continue;
    for (int k = 0; k < 3; k++)
      b.box.low[k] = fmin(b.box.low[k], (double)x[k]),
      b.box.high[k] = fmax(b.box.high[k], (double)x[k]);
    memcpy(kept[b.count++], x, sizeof *kept);
  }
  int room = kept && remember(fill, &b, kept, b.count);
  free(kept);
  if (room) return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %llu particles that are there",
                 (unsigned long long)count);
}

void oz_fluid_copy(const oz_fluid *fluid, const uint32_t at[3], uint64_t copy, ooze_pose *out) {
  *out = fluid->pose;
  for (int a = 0; a < 3; a++) out->position[a] += (float)at[a] * fluid->step[a];
  if (!(fluid->turn > 0.0f)) return;
  /* about y, after the fluid's own rotation */
  float degrees[3] = {0.0f,
                      (float)((double)fluid->turn * oz_uniform(oz_mix(fluid->seed, 77), copy, 3)),
                      0.0f},
        q[4];
  const float *o = fluid->pose.rotation;
  oz_pose_rotate(degrees, q);
  out->rotation[0] = q[3] * o[0] + q[1] * o[2];
  out->rotation[1] = q[3] * o[1] + q[1] * o[3];
  out->rotation[2] = q[3] * o[2] - q[1] * o[0];
  out->rotation[3] = q[3] * o[3] - q[1] * o[1];
}

int oz_fluid_bounds(const oz_fluid *f, double margin, double low[3], double high[3]) {
  double own[2][3], box[2][3];
  uint64_t copy = 0;
  for (int a = 0; a < 3; a++) low[a] = 1e300, high[a] = -1e300;
  if (!oz_shape_bounds(&f->shape, own[0], own[1])) return 0;
  for (uint32_t i = 0; i < f->count[0]; i++)
    for (uint32_t j = 0; j < f->count[1]; j++)
      for (uint32_t k = 0; k < f->count[2]; k++, copy++) {
        const uint32_t at[3] = {i, j, k};
        ooze_pose pose;
        oz_fluid_copy(f, at, copy, &pose);
        world_bounds(&pose, own[0], own[1], margin, box[0], box[1]);
        for (int a = 0; a < 3; a++)
          low[a] = fmin(low[a], box[0][a]), high[a] = fmax(high[a], box[1][a]);
      }
  return 1;
}

ooze_result oz_fluid_copies_fit(const oz_fill *fill, const oz_fluid *f, const char *part,
                                uint64_t each, ooze_message *why) {
  const uint64_t copies = (uint64_t)f->count[0] * f->count[1] * f->count[2];
  if (copies <= 1 || !each || copies <= fill->most / each) return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_LIMIT,
                 "%s.%s.count: %u x %u x %u copies of %llu particles are more than the %llu that "
                 "%s; expected %llu copies at most, or a larger particle_separation%s",
                 part, f->name, f->count[0], f->count[1], f->count[2], (unsigned long long)each,
                 (unsigned long long)fill->most,
                 fill->most < OZ_MOST_PARTICLES ? "the memory allowed holds" : "a solver holds",
                 (unsigned long long)(fill->most / each),
                 fill->most < OZ_MOST_PARTICLES ? " or --max-memory" : "");
}

/* Do copies stand clear of each other, so that all have as many particles as the first? */
static int stand_clear(const oz_fluid *f, const double low[3], const double high[3]) {
  for (int a = 0; a < 3; a++)
    if (f->count[a] > 1 && !(fabs((double)f->step[a]) >= 0.999 * (high[a] - low[a]))) return 0;
  return 1;
}

ooze_result oz_fill_fluid(oz_fill *fill, const oz_fluid *fluid, oz_solid_fn solid, const void *user,
                          oz_cloud *out, uint64_t *cut, ooze_message *why) {
  oz_pour p;
  ooze_result result = OOZE_OK;
  memset(&p, 0, sizeof p);
  memset(out, 0, sizeof *out);
  p.fill = fill;
  p.fluid = fluid;
  p.solid = solid;
  p.user = user;
  p.out = out;
  p.cut = cut;
  p.why = why;
  uint64_t copy = 0;
  int clear = 0;
  for (uint32_t i = 0; i < fluid->count[0] && result == OOZE_OK; i++)
    for (uint32_t j = 0; j < fluid->count[1] && result == OOZE_OK; j++)
      for (uint32_t k = 0; k < fluid->count[2] && result == OOZE_OK; k++, copy++) {
        ooze_pose pose;
        const uint32_t at[3] = {i, j, k};
        oz_fluid_copy(fluid, at, copy, &pose);
        double low[3], high[3], box_low[3], box_high[3];
        uint32_t before = out->count;
        for (int a = 0; a < 3; a++) p.own.box.low[a] = 1e300, p.own.box.high[a] = -1e300;
        int known = oz_shape_bounds(&fluid->shape, low, high);
        for (int a = 0; a < 3; a++) box_low[a] = -1e300, box_high[a] = 1e300;
        if (known && !copy) {
          world_bounds(&pose, low, high, 0.0, box_low, box_high);
          clear = stand_clear(fluid, box_low, box_high);
        }
        if (known) world_bounds(&pose, low, high, 2.0 * fill->d, box_low, box_high);
        if (!oz_near_build(&p.near, fill, box_low, box_high)) result = oz_pour_no_memory(&p);
        if (result == OOZE_OK)
          result = fluid->shape.kind == OZ_SHAPE_POINTS ? fill_points(&p, &pose)
                                                        : oz_pour_shape(&p, &pose, copy);
        oz_near_release(&p.near);
        memset(&p.near, 0, sizeof p.near);
        if (result == OOZE_OK && !copy && clear)
          result = oz_fluid_copies_fit(fill, fluid, "fluids", out->count, why);
        if (result != OOZE_OK || out->count == before) continue;
        if (!remember(fill, &p.own, out->x + before, out->count - before))
          result = oz_pour_no_memory(&p);
      }
  if (result != OOZE_OK) oz_cloud_release(out);
  return result;
}
