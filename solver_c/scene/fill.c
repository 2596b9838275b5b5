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

static const double OFF = 0.005;   /* of a lattice from the volume of its shape */
static const double CLOSEST = 0.9; /* separations between particles of a row */

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
  free(f->batches);
  oz_loop_close(&f->loop);
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

/* ---- One fluid --------------------------------------------------------------------------- */

typedef struct pour {
  oz_fill *fill;
  const oz_fluid *fluid;
  oz_solid_fn solid;
  const void *user;
  oz_cloud *out;
  size_t room;
  uint64_t *cut;
  oz_near near;
  oz_batch own;
  ooze_message *why;
} pour;

static ooze_result no_memory(const pour *p) {
  return oz_fail(p->why, OOZE_ERROR_MEMORY, "fluid %s: out of memory for its particles",
                 p->fluid->name);
}

static int has_room(const pour *p, const double x[3]) {
  return !oz_near_taken(&p->near, x) && !(p->solid && p->solid(p->user, x));
}

/* Room for `more` behind the cloud's particles, which a solver and its memory hold too. */
static ooze_result make_room(pour *p, uint64_t more, int velocities) {
  oz_cloud *c = p->out;
  if (more > p->fill->most - p->fill->total || more > UINT32_MAX - c->count)
    return oz_fail(
        p->why, OOZE_ERROR_LIMIT,
        "fluid %s: more than the %llu particles that %s; expected a larger particle_separation%s",
        p->fluid->name, (unsigned long long)p->fill->most,
        p->fill->most < 1u << 30 ? "the memory allowed holds" : "a solver holds",
        p->fill->most < 1u << 30 ? " or --max-memory" : "");
  if (c->count + more <= p->room) return OOZE_OK;
  size_t room = p->room ? 2 * p->room : 4096;
  if (room < c->count + more) room = (size_t)(c->count + more);
  float(*x2)[3] = realloc(c->x, room * sizeof *x2);
  if (x2) c->x = x2;
  float(*v2)[3] = velocities && x2 ? realloc(c->v, room * sizeof *v2) : NULL;
  if (v2) c->v = v2;
  if (!x2 || (velocities && !v2)) return no_memory(p);
  p->room = room;
  return OOZE_OK;
}

static void widen(oz_batch *b, const float x[3]) {
  for (int k = 0; k < 3; k++) {
    if ((double)x[k] < b->low[k]) b->low[k] = (double)x[k];
    if ((double)x[k] > b->high[k]) b->high[k] = (double)x[k];
  }
}

static ooze_result put(pour *p, const double x[3], const float *v) {
  oz_cloud *c = p->out;
  if (!has_room(p, x)) {
    ++*p->cut;
    return OOZE_OK;
  }
  OZ_TRY_OK(make_room(p, 1, v != NULL));
  for (int k = 0; k < 3; k++) {
    c->x[c->count][k] = (float)x[k];
    if (v) c->v[c->count][k] = v[k];
  }
  widen(&p->own, c->x[c->count]);
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
  return s->kind == OZ_SHAPE_MESH ? oz_winding(&l->crossings, row, x[0]) != 0 : 1; /* a box */
}

/* ---- Particles of a shape, by rows on all cores ------------------------------------------ */

/* Rows are cut into parts, each filled by one thread; parts are put together in their order. */
enum { PARTS = 4096, GROUP = 64 }; /* a group is filled, then the host is asked */

typedef struct part {
  float (*x)[3];
  uint32_t count, room;
  uint64_t inside, cut;
  oz_batch box; /* of its particles: bounds alone */
  int failed;   /* out of memory */
} part;

typedef struct rows_job {
  pour *pour;
  const ooze_pose *pose; /* NULL: cells inside are counted only */
  uint64_t seed;
  part *parts;
  uint64_t rows, each; /* in all, and of a part */
  void (*fill_row)(const struct rows_job *job, part *to, uint64_t row);

  const lattice *lattice;
  /* rows through a shape: length inside, m; particles; number of the first */
  const oz_row_frame *frame;
  double *length;
  uint32_t *count;
  uint64_t *first;
} rows_job;

static void put_jittered(const rows_job *job, part *to, double x[3], uint64_t index) {
  const pour *p = job->pour;
  const double jitter = (double)p->fluid->jitter * p->fill->d;
  double y[3];
  for (int a = 0; a < 3 && jitter > 0.0; a++) x[a] += jitter * uniform(job->seed, index, a);
  oz_pose_apply(job->pose, x, y);
  if (!has_room(p, y)) {
    to->cut++;
    return;
  }
  if (to->count == to->room) {
    const uint32_t room = to->room ? 2 * to->room : 512;
    float(*grown)[3] = realloc(to->x, room * sizeof *grown);
    to->failed |= !grown;
    if (!grown) return;
    to->x = grown;
    to->room = room;
  }
  for (int k = 0; k < 3; k++) to->x[to->count][k] = (float)y[k];
  if (!to->count)
    for (int k = 0; k < 3; k++) to->box.low[k] = to->box.high[k] = (double)to->x[0][k];
  widen(&to->box, to->x[to->count]);
  to->count++;
}

/* Cells behind the one at x that are on the same side of the surface: none of it is nearer than the
 * distance. */
static uint32_t cells_alike(const oz_shape *s, const double x[3], double d, int *out_inside) {
  const double distance = oz_shape_distance(s, x), cells = fabs(distance) / d * (1.0 - 1e-9) - 1e-9;
  *out_inside = distance <= 0.0;
  return cells >= 1.0 ? (uint32_t)fmin(cells, 1e9) : 0;
}

static void fill_lattice_row(const rows_job *job, part *to, uint64_t row) {
  const lattice *l = job->lattice;
  const oz_shape *s = &job->pour->fluid->shape;
  const double d = job->pour->fill->d;
  const uint32_t i = (uint32_t)(row / l->n[1]), j = (uint32_t)(row % l->n[1]);
  const int traced = s->kind != OZ_SHAPE_MESH && s->kind != OZ_SHAPE_BOX;
  uint32_t alike = 0;
  int inside = 0;
  for (uint32_t k = 0; k < l->n[2]; k++) {
    double x[3] = {l->origin[0] + i * d, l->origin[1] + j * d, l->origin[2] + k * d};
    if (!traced)
      inside = in_shape(s, l, (size_t)j * l->n[2] + k, x);
    else if (alike)
      alike--;
    else
      alike = cells_alike(s, x, d, &inside);
    if (!inside) continue;
    to->inside++;
    if (job->pose) put_jittered(job, to, x, row * l->n[2] + k);
  }
}

static void measure_row(const rows_job *job, part *to, uint64_t row) {
  const oz_row_frame *f = job->frame;
  double span[OZ_SPANS][2];
  uint32_t spans;
  (void)to;
  job->length[row] = oz_row_spans(f, (uint32_t)(row / f->n[1]), (uint32_t)(row % f->n[1]),
                                  job->pour->fill->d / 16.0, span, &spans);
}

static void fill_span_row(const rows_job *job, part *to, uint64_t row) {
  const oz_row_frame *f = job->frame;
  const uint32_t j = (uint32_t)(row / f->n[1]), k = (uint32_t)(row % f->n[1]);
  double span[OZ_SPANS][2], from = 0.0; /* length of the spans before this one */
  uint32_t spans, s = 0;
  if (!job->count[row]) return;
  const double length = oz_row_spans(f, j, k, job->pour->fill->d / 16.0, span, &spans);
  for (uint32_t i = 0; i < job->count[row]; i++) {
    const double at = (i + 0.5) * length / job->count[row];
    while (s + 1 < spans && at > from + span[s][1] - span[s][0]) {
      from += span[s][1] - span[s][0];
      s++;
    }
    double x[3] = {span[s][0] + at - from, f->low[1] + (j + 0.5) * f->pitch[0],
                   f->low[2] + (k + 0.5) * f->pitch[1]};
    put_jittered(job, to, x, job->first[row] + i);
  }
}

typedef struct group {
  const rows_job *job;
  uint64_t first;
} group;

static void fill_group(void *arg, uint32_t begin, uint32_t end) {
  const group *g = arg;
  for (uint64_t i = g->first + begin; i < g->first + end; i++)
    for (uint64_t row = i * g->job->each; row < (i + 1) * g->job->each && row < g->job->rows; row++)
      g->job->fill_row(g->job, &g->job->parts[i], row);
}

/* Behind the cloud's particles, all with the fluid's velocity. */
static ooze_result take_part(pour *p, const part *from) {
  const float *v = moving(p->fluid);
  oz_cloud *c = p->out;
  OZ_TRY_OK(make_room(p, from->count, v != NULL));
  if (!from->count) {
    *p->cut += from->cut;
    return OOZE_OK;
  }
  memcpy(c->x + c->count, from->x, from->count * sizeof *c->x);
  for (uint32_t i = 0; v && i < from->count; i++) memcpy(c->v[c->count + i], v, sizeof *c->v);
  for (int k = 0; k < 3; k++) {
    p->own.low[k] = fmin(p->own.low[k], from->box.low[k]);
    p->own.high[k] = fmax(p->own.high[k], from->box.high[k]);
  }
  c->count += from->count;
  p->fill->total += from->count;
  *p->cut += from->cut;
  return OOZE_OK;
}

/* Runs job->fill_row for every row. */
static ooze_result walk(rows_job *job, uint64_t *out_inside) {
  pour *p = job->pour;
  const oz_fill_host *host = &p->fill->host;
  ooze_result result = OOZE_OK;
  uint64_t inside = 0;
  job->each = (job->rows + PARTS - 1) / PARTS;
  const uint64_t parts = job->each ? (job->rows + job->each - 1) / job->each : 0;
  job->parts = calloc((size_t)parts + 1, sizeof *job->parts);
  if (!job->parts) return no_memory(p);
  for (group g = {job, 0}; g.first < parts && result == OOZE_OK; g.first += GROUP) {
    const uint64_t end = g.first + GROUP < parts ? g.first + GROUP : parts;
    oz_loop_run(&p->fill->loop, (uint32_t)(end - g.first), fill_group, &g);
    for (uint64_t i = g.first; i < end; i++) {
      part *done = &job->parts[i];
      if (done->failed) result = no_memory(p);
      if (result == OOZE_OK) result = take_part(p, done);
      inside += done->inside;
      free(done->x);
      done->x = NULL;
    }
    if (result == OOZE_OK && host->stop && host->stop(host->user, p->fill->total))
      result = oz_fail(p->why, OOZE_CANCELLED, "stopped while fluid %s was filled", p->fluid->name);
  }
  free(job->parts);
  job->parts = NULL;
  if (out_inside) *out_inside = inside;
  return result;
}

static ooze_result walk_lattice(pour *p, const lattice *l, const ooze_pose *pose, uint64_t seed,
                                uint64_t *out_count) {
  rows_job job = {.pour = p, .pose = pose, .seed = seed, .lattice = l};
  job.rows = (uint64_t)l->n[0] * l->n[1];
  job.fill_row = fill_lattice_row;
  return walk(&job, out_count);
}

/* Particles of each row: as many as the volume swept so far asks for. `each`: for a metre of row.
 */
static void share_out(rows_job *job, double each) {
  const double closest = CLOSEST * job->pour->fill->d;
  double owed = 0.5;
  uint64_t first = 0;
  for (uint64_t row = 0; row < job->rows; row++) {
    const double length = job->length[row];
    job->first[row] = first;
    job->count[row] = 0;
    if (!(length > 0.0)) continue;
    owed += each * length;
    const double room = fmax(floor(length / closest), 1.0);
    job->count[row] = (uint32_t)fmin(floor(owed), room);
    owed -= job->count[row];
    first += job->count[row];
  }
}

static ooze_result fill_rows(pour *p, const double low[3], const double high[3], double volume,
                             const ooze_pose *pose, uint64_t seed) {
  const double d = p->fill->d;
  double length = 0.0;
  uint32_t n[2] = {1, 1};
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
  rows_job job = {.pour = p, .pose = pose, .seed = seed, .frame = &f};
  job.rows = (uint64_t)n[0] * n[1];
  job.length = malloc((size_t)job.rows * sizeof *job.length);
  job.count = malloc((size_t)job.rows * sizeof *job.count);
  job.first = malloc((size_t)job.rows * sizeof *job.first);
  ooze_result result =
      job.length && job.count && job.first && oz_row_frame_open(&f) ? OOZE_OK : no_memory(p);
  job.fill_row = measure_row;
  if (result == OOZE_OK) result = walk(&job, NULL);
  for (uint64_t row = 0; row < job.rows && result == OOZE_OK; row++) length += job.length[row];
  if (result == OOZE_OK && length > 0.0) {
    share_out(&job, volume / (d * d * d) / length);
    job.fill_row = fill_span_row;
    result = walk(&job, NULL);
  }
  oz_row_frame_close(&f);
  free(job.length);
  free(job.count);
  free(job.first);
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
    volume = oz_shape_volume(s, d, &p->fill->loop) / (d * d * d);
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
static int remember(oz_fill *fill, const oz_batch *bounds, const void *x, uint32_t count) {
  if (fill->batch_count == fill->batch_room) {
    size_t room = fill->batch_room ? 2 * fill->batch_room : 16;
    oz_batch *grown = realloc(fill->batches, room * sizeof *grown);
    if (!grown) return 0;
    fill->batches = grown;
    fill->batch_room = room;
  }
  oz_batch *b = &fill->batches[fill->batch_count];
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
  oz_batch b;
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
        if (!oz_near_build(&p.near, fill, box_low, box_high)) result = no_memory(&p);
        if (result == OOZE_OK)
          result = fluid->shape.kind == OZ_SHAPE_POINTS ? fill_points(&p, &pose)
                                                        : fill_shape(&p, &pose, copy);
        oz_near_release(&p.near);
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
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles, NULL);
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
  oz_near near;
  if ((count && !points) || !out_keep)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_apart: a pointer is NULL");
  OZ_TRY_OK(fill_check(desc, why));
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles, NULL);
  memset(&near, 0, sizeof near);
  int made = fill && oz_fill_reserve(fill, desc->occupied, desc->occupied_count, why) == OOZE_OK &&
             oz_near_build(&near, fill, all[0], all[1]);
  for (uint32_t i = 0; i < count && made; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = (double)points[3 * (size_t)i + k];
    out_keep[i] = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && !oz_near_taken(&near, x);
  }
  oz_near_release(&near);
  oz_fill_destroy(fill);
  return made ? OOZE_OK
              : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %u particles that are there",
                        desc->occupied_count);
}
