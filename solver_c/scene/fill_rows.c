/* The particles of one shape, on a lattice or in rows, on all cores.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A particle is d^3 of fluid, so the number of particles is the volume. Where the lattice misses
 * the volume of the shape by more than OFF, particles stand in rows instead: evenly along what is
 * inside of each row, and as many as the volume swept so far asks for. */
#include "fill_pour.h"

#include <math.h>
#include <stdlib.h>

static const double OFF = 0.005;   /* of a lattice from the volume of its shape */
static const double CLOSEST = 0.9; /* separations between particles of a row */

typedef struct lattice {
  double origin[3];
  uint32_t n[3];
  oz_rows crossings; /* of a mesh */
} lattice;

static ooze_result lattice_of(const oz_pour *p, const double low[3], const double high[3],
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
  /* counting them would take minutes: such shapes fill half of their box and more, of which walls
   * may take some; a mesh may be a thread */
  const int full = s->kind == OZ_SHAPE_BOX || s->kind == OZ_SHAPE_SPHERE ||
                   s->kind == OZ_SHAPE_CAPSULE || s->kind == OZ_SHAPE_CYLINDER;
  const double share = full ? 1.0 / 8.0 : 1.0 / 200.0;
  if (cells > 2e11 || share * cells > (double)p->fill->most)
    return oz_fail(
        p->why, OOZE_ERROR_LIMIT,
        "fluid %s: %.3g cells of particle_separation, more than the %llu particles that %s; "
        "expected a larger particle_separation%s",
        p->fluid->name, cells, (unsigned long long)p->fill->most,
        p->fill->most < OZ_MOST_PARTICLES ? "the memory allowed holds" : "a solver holds",
        p->fill->most < OZ_MOST_PARTICLES ? " or --max-memory" : "");
  const double pitch[2] = {d, d};
  if (s->kind == OZ_SHAPE_MESH && !oz_rows_build(&l->crossings, &s->mesh, l->origin, pitch, l->n))
    return oz_pour_no_memory(p);
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
  oz_box box; /* of its particles */
  int failed; /* out of memory */
} part;

typedef struct rows_job {
  oz_pour *pour;
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
  const oz_pour *p = job->pour;
  const double jitter = (double)p->fluid->jitter * p->fill->d;
  double y[3];
  for (int a = 0; a < 3 && jitter > 0.0; a++) x[a] += jitter * oz_uniform(job->seed, index, a);
  oz_pose_apply(job->pose, x, y);
  if (!oz_pour_fits(p, y)) {
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
  oz_box_widen(&to->box, to->x[to->count]);
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
static ooze_result take_part(oz_pour *p, const part *from) {
  const float *v = oz_fluid_velocity(p->fluid);
  oz_cloud *c = p->out;
  OZ_TRY_OK(oz_pour_room(p, from->count, v != NULL));
  if (!from->count) {
    *p->cut += from->cut;
    return OOZE_OK;
  }
  memcpy(c->x + c->count, from->x, from->count * sizeof *c->x);
  for (uint32_t i = 0; v && i < from->count; i++) memcpy(c->v[c->count + i], v, sizeof *c->v);
  for (int k = 0; k < 3; k++) {
    p->own.box.low[k] = fmin(p->own.box.low[k], from->box.low[k]);
    p->own.box.high[k] = fmax(p->own.box.high[k], from->box.high[k]);
  }
  c->count += from->count;
  p->fill->total += from->count;
  *p->cut += from->cut;
  return OOZE_OK;
}

/* Runs job->fill_row for every row. */
static ooze_result walk(rows_job *job, uint64_t *out_inside) {
  oz_pour *p = job->pour;
  const oz_fill_host *host = &p->fill->host;
  ooze_result result = OOZE_OK;
  uint64_t inside = 0;
  job->each = (job->rows + PARTS - 1) / PARTS;
  const uint64_t parts = job->each ? (job->rows + job->each - 1) / job->each : 0;
  job->parts = calloc((size_t)parts + 1, sizeof *job->parts);
  if (!job->parts) return oz_pour_no_memory(p);
  for (group g = {job, 0}; g.first < parts && result == OOZE_OK; g.first += GROUP) {
    const uint64_t end = g.first + GROUP < parts ? g.first + GROUP : parts;
    oz_loop_run(&p->fill->loop, (uint32_t)(end - g.first), fill_group, &g);
    for (uint64_t i = g.first; i < end; i++) {
      part *done = &job->parts[i];
      if (done->failed) result = oz_pour_no_memory(p);
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

static ooze_result walk_lattice(oz_pour *p, const lattice *l, const ooze_pose *pose, uint64_t seed,
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

static ooze_result fill_rows(oz_pour *p, const double low[3], const double high[3], double volume,
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
  ooze_result result = job.length && job.count && job.first && oz_row_frame_open(&f)
                           ? OOZE_OK
                           : oz_pour_no_memory(p);
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

/* Volume and cells of the shape: once, however many copies there are. */
static ooze_result measure(oz_pour *p, const lattice *l) {
  const double d = p->fill->d;
  if (p->measured || p->fluid->lattice_only) return OOZE_OK;
  p->volume = oz_shape_volume(&p->fluid->shape, d, &p->fill->loop) / (d * d * d);
  if (p->volume < 0.0) return oz_pour_no_memory(p);
  if (p->volume > 0.5) OZ_TRY_OK(walk_lattice(p, l, NULL, 0, &p->inside));
  p->measured = 1;
  return OOZE_OK;
}

ooze_result oz_pour_shape(oz_pour *p, const ooze_pose *pose, uint64_t copy) {
  const double d = p->fill->d;
  double low[3], high[3];
  lattice l;
  if (!oz_shape_bounds(&p->fluid->shape, low, high))
    return oz_fail(p->why, OOZE_ERROR_ARGUMENT, "fluid %s: its shape cannot be filled",
                   p->fluid->name);
  ooze_result result = lattice_of(p, low, high, &l);
  const uint64_t seed = oz_mix(p->fluid->seed, copy);
  if (result == OOZE_OK) result = measure(p, &l);
  const double off = fabs((double)p->inside - p->volume);
  const int rows = p->volume > 0.5 && off > fmax(OFF * p->volume, 0.5);
  uint64_t unused = 0;
  if (result == OOZE_OK)
    result = rows ? fill_rows(p, low, high, p->volume * d * d * d, pose, seed)
                  : walk_lattice(p, &l, pose, seed, &unused);
  oz_rows_release(&l.crossings);
  return result;
}
