/* Filling shapes with particles at the separation. SPDX-License-Identifier: Apache-2.0
 *
 * Each copy of a fluid has a cubic lattice in its own space, centred in its bounds, so that a box
 * of n separations gets exactly n layers. A particle is born where a cell's middle is inside,
 * unless it would stand nearer than 0.9 separations to one of an earlier fluid or copy, or in a
 * collider.
 *
 * A particle is d^3 of fluid, so the number of particles is the volume. Where the lattice misses
 * the volume of the shape by more than OFF, particles stand in rows instead: evenly along what is
 * inside of each row, and as many as the volume swept so far asks for.
 *
 * Order and jitter follow from the scene alone. */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

static const double NEAREST = 0.9; /* separations between particles of two fluids */
static const double OFF = 0.005;   /* of a lattice from the volume of its shape */
static const double CLOSEST = 0.9; /* separations between particles of a row */

typedef struct batch {
  double low[3], high[3]; /* of its particles */
  float (*x)[3];
  uint32_t count;
} batch;

struct oz_fill {
  double d;
  uint64_t most, total;
  batch *batches;
  size_t batch_count, batch_room;
};

oz_fill *oz_fill_create(double separation, uint64_t max_particles) {
  oz_fill *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->d = separation;
  f->most = max_particles;
  return f;
}

void oz_fill_destroy(oz_fill *f) {
  if (!f) return;
  for (size_t i = 0; i < f->batch_count; i++) free(f->batches[i].x);
  free(f->batches);
  free(f);
}

void oz_cloud_release(oz_cloud *c) {
  free(c->x);
  free(c->v);
  memset(c, 0, sizeof *c);
}

/* Steele, Lea & Flood 2014 (splitmix64), over a pair. */
uint64_t oz_mix(uint64_t a, uint64_t b) {
  uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x9e3779b97f4a7c15);
  for (int i = 0; i < 2; i++) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return z;
}

static double uniform(uint64_t seed, uint64_t index, int which) { /* -1 to 1 */
  return (double)(oz_mix(oz_mix(seed, index), (uint64_t)which) >> 11) * (2.0 / 9007199254740992.0) -
         1.0;
}

/* ---- Neighbours on the lattice
 * -------------------------------------------------------------------- */

typedef struct grid { /* particles of earlier batches, hashed by cells of one separation */
  double cell;
  uint32_t mask, count;
  uint32_t *head, *next;
  float (*x)[3];
} grid;

static uint32_t slot_of(const grid *g, int64_t x, int64_t y, int64_t z) {
  return (uint32_t)oz_mix((uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u, (uint64_t)z) & g->mask;
}

static void grid_release(grid *g) {
  free(g->head);
  free(g->next);
  free(g->x);
}

static int grid_build(grid *g, const oz_fill *f, const double low[3], const double high[3]) {
  uint64_t count = 0;
  memset(g, 0, sizeof *g);
  g->cell = f->d;
  for (int pass = 0; pass < 2; pass++) { /* count, then keep */
    uint32_t at = 0;
    for (size_t b = 0; b < f->batch_count; b++) {
      const batch *o = &f->batches[b];
      int apart = 0;
      for (int k = 0; k < 3; k++) apart |= o->low[k] > high[k] || o->high[k] < low[k];
      for (uint32_t i = 0; !apart && i < o->count; i++) {
        int out = 0;
        for (int k = 0; k < 3; k++)
          out |= (double)o->x[i][k] < low[k] || (double)o->x[i][k] > high[k];
        if (out) continue;
        if (!pass) {
          count++;
          continue;
        }
        memcpy(g->x[at], o->x[i], sizeof o->x[i]);
        uint32_t slot = slot_of(g, (int64_t)floor((double)o->x[i][0] / g->cell),
                                (int64_t)floor((double)o->x[i][1] / g->cell),
                                (int64_t)floor((double)o->x[i][2] / g->cell));
        g->next[at] = g->head[slot];
        g->head[slot] = ++at;
      }
    }
    if (pass || !count) return 1;
    if (count >= UINT32_MAX / 2) return 0;
    uint32_t slots = 64;
    while (slots < count) slots *= 2;
    g->mask = slots - 1;
    g->count = (uint32_t)count;
    g->head = calloc(slots, sizeof *g->head);
    g->next = malloc((size_t)count * sizeof *g->next);
    g->x = malloc((size_t)count * sizeof *g->x);
    if (!g->head || !g->next || !g->x) return 0;
  }
  return 1;
}

static int taken(const grid *g, const double x[3]) {
  if (!g->count) return 0;
  int64_t c[3];
  double least = NEAREST * g->cell * NEAREST * g->cell;
  for (int k = 0; k < 3; k++) c[k] = (int64_t)floor(x[k] / g->cell);
  for (int64_t i = c[0] - 1; i <= c[0] + 1; i++)
    for (int64_t j = c[1] - 1; j <= c[1] + 1; j++)
      for (int64_t k = c[2] - 1; k <= c[2] + 1; k++)
        for (uint32_t at = g->head[slot_of(g, i, j, k)]; at; at = g->next[at - 1]) {
          double r2 = 0.0;
          for (int a = 0; a < 3; a++)
            r2 += (x[a] - (double)g->x[at - 1][a]) * (x[a] - (double)g->x[at - 1][a]);
          if (r2 < least) return 1;
        }
  return 0;
}

/* ---- One fluid --------------------------------------------------------------------------- */

typedef struct pour {
  oz_fill *fill;
  const oz_fluid *fluid;
  oz_solid_fn solid;
  const void *user;
  oz_cloud *out;
  size_t room;
  uint64_t *cut;
  grid near;
  batch own;
  ooze_message *why;
} pour;

static ooze_result no_memory(const pour *p) {
  return oz_fail(p->why, OOZE_ERROR_MEMORY, "fluid %s: out of memory for its particles",
                 p->fluid->name);
}

static ooze_result put(pour *p, const double x[3], const float *v) {
  oz_cloud *c = p->out;
  if (taken(&p->near, x) || (p->solid && p->solid(p->user, x))) {
    ++*p->cut;
    return OOZE_OK;
  }
  if (p->fill->total >= p->fill->most || c->count == UINT32_MAX)
    return oz_fail(
        p->why, OOZE_ERROR_LIMIT,
        "fluid %s: more than the %llu particles that %s; expected a larger particle_separation%s",
        p->fluid->name, (unsigned long long)p->fill->most,
        p->fill->most < 1u << 30 ? "the memory allowed holds" : "a solver holds",
        p->fill->most < 1u << 30 ? " or --max-memory" : "");
  if (c->count == p->room) {
    size_t room = p->room ? 2 * p->room : 4096;
    float(*x2)[3] = realloc(c->x, room * sizeof *x2);
    if (x2) c->x = x2;
    float(*v2)[3] = v && x2 ? realloc(c->v, room * sizeof *v2) : NULL;
    if (v2) c->v = v2;
    if (!x2 || (v && !v2)) return no_memory(p);
    p->room = room;
  }
  for (int k = 0; k < 3; k++) {
    float at = (float)x[k];
    c->x[c->count][k] = at;
    if (v) c->v[c->count][k] = v[k];
    p->own.low[k] = fmin(p->own.low[k], (double)at);
    p->own.high[k] = fmax(p->own.high[k], (double)at);
  }
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

static const float *moving(const oz_fluid *f) { /* NULL for one at rest */
  return f->velocity[0] != 0.0f || f->velocity[1] != 0.0f || f->velocity[2] != 0.0f ? f->velocity
                                                                                    : NULL;
}

typedef struct lattice {
  double origin[3];
  uint32_t n[3];
  oz_rows crossings; /* of a mesh */
} lattice;

static ooze_result lattice_of(const pour *p, const double low[3], const double high[3],
                              lattice *l) {
  const oz_shape *s = &p->fluid->shape;
  double d = p->fill->d, cells = 1.0;
  memset(l, 0, sizeof *l);
  for (int k = 0; k < 3; k++) {
    double fit = floor((high[k] - low[k]) / d + 1e-3);
    if (!(fit >= 0.0 && fit < 1e6))
      return oz_fail(p->why, OOZE_ERROR_LIMIT,
                     "fluid %s: %g cells across; expected a larger particle_separation",
                     p->fluid->name, fit);
    if (fit < 1.0 && s->kind != OZ_SHAPE_BOX) fit = 1.0;
    l->n[k] = (uint32_t)fit;
    cells *= fit;
    l->origin[k] = 0.5 * (low[k] + high[k] - (fit - 1.0) * d);
  }
  if (cells > 2e11 || cells > 200.0 * (double)p->fill->most)
    return oz_fail(p->why, OOZE_ERROR_LIMIT,
                   "fluid %s: %g cells; expected a larger particle_separation", p->fluid->name,
                   cells);
  const double pitch[2] = {d, d};
  if (s->kind == OZ_SHAPE_MESH && !oz_rows_build(&l->crossings, &s->mesh, l->origin, pitch, l->n))
    return no_memory(p);
  return OOZE_OK;
}

static int in_shape(const oz_shape *s, const lattice *l, size_t row, const double x[3]) {
  return s->kind == OZ_SHAPE_MESH  ? oz_winding(&l->crossings, row, x[0]) != 0
         : s->kind == OZ_SHAPE_BOX ? 1
                                   : oz_shape_distance(s, x) <= 0.0;
}

static ooze_result put_jittered(pour *p, const ooze_pose *pose, double x[3], uint64_t seed,
                                uint64_t index) {
  const double jitter = (double)p->fluid->jitter * p->fill->d;
  double y[3];
  for (int a = 0; a < 3 && jitter > 0.0; a++) x[a] += jitter * uniform(seed, index, a);
  oz_pose_apply(pose, x, y);
  return put(p, y, moving(p->fluid));
}

/* With `pose` NULL the cells inside are counted only. */
static ooze_result walk_lattice(pour *p, const lattice *l, const ooze_pose *pose, uint64_t seed,
                                uint64_t *out_count) {
  const oz_shape *s = &p->fluid->shape;
  const double d = p->fill->d;
  ooze_result result = OOZE_OK;
  *out_count = 0;
  for (uint32_t i = 0; i < l->n[0]; i++)
    for (uint32_t j = 0; j < l->n[1]; j++)
      for (uint32_t k = 0; k < l->n[2] && result == OOZE_OK; k++) {
        double x[3] = {l->origin[0] + i * d, l->origin[1] + j * d, l->origin[2] + k * d};
        if (!in_shape(s, l, (size_t)j * l->n[2] + k, x)) continue;
        ++*out_count;
        if (pose)
          result = put_jittered(p, pose, x, seed, ((uint64_t)i * l->n[1] + j) * l->n[2] + k);
      }
  return result;
}

/* `each`: particles for a metre of row. */
static ooze_result walk_rows(pour *p, const oz_row_frame *f, double each, const ooze_pose *pose,
                             uint64_t seed) {
  double span[OZ_SPANS][2], owed = 0.5;
  const double d = p->fill->d;
  uint64_t index = 0;
  ooze_result result = OOZE_OK;
  for (uint32_t j = 0; j < f->n[0]; j++)
    for (uint32_t k = 0; k < f->n[1] && result == OOZE_OK; k++) {
      uint32_t spans, s = 0;
      const double length = oz_row_spans(f, j, k, d / 16.0, span, &spans);
      if (!(length > 0.0)) continue;
      owed += each * length;
      const double room = fmax(floor(length / (CLOSEST * d)), 1.0);
      const uint32_t count = (uint32_t)fmin(floor(owed), room);
      owed -= count;
      double from = 0.0; /* length of the spans before this one */
      for (uint32_t i = 0; i < count && result == OOZE_OK; i++, index++) {
        const double at = (i + 0.5) * length / count;
        while (s + 1 < spans && at > from + span[s][1] - span[s][0]) {
          from += span[s][1] - span[s][0];
          s++;
        }
        double x[3] = {span[s][0] + at - from, f->low[1] + (j + 0.5) * f->pitch[0],
                       f->low[2] + (k + 0.5) * f->pitch[1]};
        result = put_jittered(p, pose, x, seed, index);
      }
    }
  return result;
}

static ooze_result fill_rows(pour *p, const double low[3], const double high[3], double volume,
                             const ooze_pose *pose, uint64_t seed) {
  const double d = p->fill->d;
  double span[OZ_SPANS][2], length = 0.0;
  uint32_t n[2] = {1, 1}, spans;
  oz_row_frame f;
  /* as many rows as leave particles of a row nearest to a separation apart */
  double best = 1e300;
  for (int c = 0; c < 4; c++) {
    const double fit[2] = {(high[1] - low[1]) / d, (high[2] - low[2]) / d};
    const double y = fmax(floor(fit[0]) + (c & 1), 1.0), z = fmax(floor(fit[1]) + (c >> 1), 1.0);
    const double apart = fabs(log(fit[0] * fit[1] / (y * z)));
    if (apart >= best) continue;
    best = apart;
    n[0] = (uint32_t)y, n[1] = (uint32_t)z;
  }
  oz_row_frame_of(&f, &p->fluid->shape, low, high, n);
  ooze_result result = oz_row_frame_open(&f) ? OOZE_OK : no_memory(p);
  for (uint32_t j = 0; j < n[0] && result == OOZE_OK; j++)
    for (uint32_t k = 0; k < n[1]; k++) length += oz_row_spans(&f, j, k, d / 16.0, span, &spans);
  if (result == OOZE_OK && length > 0.0)
    result = walk_rows(p, &f, volume / (d * d * d) / length, pose, seed);
  oz_row_frame_close(&f);
  return result;
}

static ooze_result fill_shape(pour *p, const ooze_pose *pose, uint64_t copy) {
  const oz_shape *s = &p->fluid->shape;
  const double d = p->fill->d;
  double low[3], high[3];
  lattice l;
  if (!oz_shape_bounds(s, low, high))
    return oz_fail(p->why, OOZE_ERROR_ARGUMENT, "fluid %s: its shape cannot be filled",
                   p->fluid->name);
  ooze_result result = lattice_of(p, low, high, &l);
  const uint64_t seed = oz_mix(p->fluid->seed, copy);
  double volume = 0.0;
  if (result == OOZE_OK && !p->fluid->lattice_only) {
    volume = oz_shape_volume(s, d) / (d * d * d);
    if (volume < 0.0) result = no_memory(p);
  }
  uint64_t inside = 0;
  if (result == OOZE_OK && volume > 0.5) result = walk_lattice(p, &l, NULL, seed, &inside);
  const double off = fabs((double)inside - volume);
  const int rows = volume > 0.5 && off > fmax(OFF * volume, 0.5);
  if (result == OOZE_OK)
    result = rows ? fill_rows(p, low, high, volume * d * d * d, pose, seed)
                  : walk_lattice(p, &l, pose, seed, &inside);
  oz_rows_release(&l.crossings);
  return result;
}

static ooze_result fill_points(pour *p, const ooze_pose *pose) {
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
    result = put(p, y, has_v ? speed : moving(p->fluid));
  }
  ooze_points_destroy(points);
  return result;
}

/* For those that come after. 0 when memory is out. */
static int remember(oz_fill *fill, const batch *bounds, const void *x, uint32_t count) {
  if (fill->batch_count == fill->batch_room) {
    size_t room = fill->batch_room ? 2 * fill->batch_room : 16;
    batch *grown = realloc(fill->batches, room * sizeof *grown);
    if (!grown) return 0;
    fill->batches = grown;
    fill->batch_room = room;
  }
  batch *b = &fill->batches[fill->batch_count];
  *b = *bounds;
  b->count = count;
  b->x = malloc(((size_t)count + 1) * sizeof *b->x);
  if (!b->x) return 0;
  memcpy(b->x, x, (size_t)count * sizeof *b->x);
  fill->batch_count++;
  return 1;
}

ooze_result oz_fill_reserve(oz_fill *fill, const float *positions, uint64_t count,
                            ooze_message *why) {
  batch b;
  memset(&b, 0, sizeof b);
  if (!count) return OOZE_OK;
  if (count >= UINT32_MAX / 2)
    return oz_fail(why, OOZE_ERROR_LIMIT, "more points than a solver holds");
  for (int k = 0; k < 3; k++) b.low[k] = 1e300, b.high[k] = -1e300;
  float(*kept)[3] = malloc((size_t)count * sizeof *kept);
  for (uint64_t i = 0; kept && i < count; i++) {
    const float *x = positions + 3 * i;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) continue;
    for (int k = 0; k < 3; k++)
      b.low[k] = fmin(b.low[k], (double)x[k]), b.high[k] = fmax(b.high[k], (double)x[k]);
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
                      (float)((double)fluid->turn * uniform(oz_mix(fluid->seed, 77), copy, 3)),
                      0.0f},
        q[4];
  const float *o = fluid->pose.rotation;
  oz_pose_rotate(degrees, q);
  out->rotation[0] = q[3] * o[0] + q[1] * o[2];
  out->rotation[1] = q[3] * o[1] + q[1] * o[3];
  out->rotation[2] = q[3] * o[2] - q[1] * o[0];
  out->rotation[3] = q[3] * o[3] - q[1] * o[1];
}

ooze_result oz_fill_fluid(oz_fill *fill, const oz_fluid *fluid, oz_solid_fn solid, const void *user,
                          oz_cloud *out, uint64_t *cut, ooze_message *why) {
  pour p;
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
  for (uint32_t i = 0; i < fluid->count[0] && result == OOZE_OK; i++)
    for (uint32_t j = 0; j < fluid->count[1] && result == OOZE_OK; j++)
      for (uint32_t k = 0; k < fluid->count[2] && result == OOZE_OK; k++, copy++) {
        ooze_pose pose;
        const uint32_t at[3] = {i, j, k};
        oz_fluid_copy(fluid, at, copy, &pose);
        double low[3], high[3], box_low[3], box_high[3];
        uint32_t before = out->count;
        for (int a = 0; a < 3; a++) p.own.low[a] = 1e300, p.own.high[a] = -1e300;
        int known = oz_shape_bounds(&fluid->shape, low, high);
        for (int a = 0; a < 3; a++) box_low[a] = -1e300, box_high[a] = 1e300;
        if (known) world_bounds(&pose, low, high, 2.0 * fill->d, box_low, box_high);
        if (!grid_build(&p.near, fill, box_low, box_high)) result = no_memory(&p);
        if (result == OOZE_OK)
          result = fluid->shape.kind == OZ_SHAPE_POINTS ? fill_points(&p, &pose)
                                                        : fill_shape(&p, &pose, copy);
        grid_release(&p.near);
        memset(&p.near, 0, sizeof p.near);
        if (result != OOZE_OK || out->count == before) continue;
        if (!remember(fill, &p.own, out->x + before, out->count - before)) result = no_memory(&p);
      }
  if (result != OOZE_OK) oz_cloud_release(out);
  return result;
}

/* ---- The public side --------------------------------------------------------------------- */

static ooze_result fill_check(const ooze_fill_desc *d, ooze_message *why) {
  if (!d || d->size != sizeof *d || (d->occupied_count && !d->occupied))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_desc: fill it with its _default()");
  if (!(d->separation > 1e-9f && d->separation < 1e6f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "separation is %g m; expected above 0",
                   (double)d->separation);
  if (!(d->jitter >= 0.0f && d->jitter <= 0.3f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "jitter is %g; expected 0 to 0.3", (double)d->jitter);
  return OOZE_OK;
}

ooze_result ooze_fill_mesh(const ooze_fill_desc *desc, const ooze_mesh *mesh, float **out,
                           uint32_t *out_count, ooze_message *why) {
  oz_fluid fluid;
  oz_cloud cloud = {NULL, NULL, 0};
  uint64_t cut = 0;
  if (!mesh || !out || !out_count)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_mesh: a pointer is NULL");
  *out = NULL;
  *out_count = 0;
  OZ_TRY_OK(fill_check(desc, why));
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] >= mesh->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "triangle %llu names point %u of %u",
                     (unsigned long long)(i / 3), mesh->triangles[i], mesh->point_count);
  if (mesh->triangle_count == 0) return OOZE_OK;
  char name[] = "mesh";
  memset(&fluid, 0, sizeof fluid);
  fluid.name = name;
  fluid.shape.kind = OZ_SHAPE_MESH;
  fluid.shape.mesh = *mesh;
  fluid.shape.scale = 1.0f;
  fluid.jitter = desc->jitter;
  fluid.seed = desc->seed;
  fluid.count[0] = fluid.count[1] = fluid.count[2] = 1;
  ooze_pose_default(&fluid.pose);
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles);
  ooze_result result = fill ? oz_fill_reserve(fill, desc->occupied, desc->occupied_count, why)
                            : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory to fill a mesh");
  if (result == OOZE_OK) result = oz_fill_fluid(fill, &fluid, NULL, NULL, &cloud, &cut, why);
  oz_fill_destroy(fill);
  if (result != OOZE_OK) return result;
  *out = (float *)cloud.x;
  *out_count = cloud.count;
  free(cloud.v);
  return OOZE_OK;
}

ooze_result ooze_fill_apart(const ooze_fill_desc *desc, const float *points, uint32_t count,
                            uint8_t *out_keep, ooze_message *why) {
  const double all[2][3] = {{-1e300, -1e300, -1e300}, {1e300, 1e300, 1e300}};
  grid near;
  if ((count && !points) || !out_keep)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_apart: a pointer is NULL");
  OZ_TRY_OK(fill_check(desc, why));
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles);
  memset(&near, 0, sizeof near);
  int made = fill && oz_fill_reserve(fill, desc->occupied, desc->occupied_count, why) == OOZE_OK &&
             grid_build(&near, fill, all[0], all[1]);
  for (uint32_t i = 0; i < count && made; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = (double)points[3 * (size_t)i + k];
    out_keep[i] = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && !taken(&near, x);
  }
  grid_release(&near);
  oz_fill_destroy(fill);
  return made ? OOZE_OK
              : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %u particles that are there",
                        desc->occupied_count);
}
