/* One kernel a particle. The field is sum V_j k_j, with k_j = (1 - q^2)^3 over an ellipsoid and V_j
 * = 1 / sum_k k_k(x_j): so it is about 1 at every particle, in a drop, a strand, a sheet or the
 * bulk, and the surface (0.5) lies at nearly the same distance from the outermost particles in all
 * of them. This keeps strands and drops from shrinking, which the plain SPH volume m / rho
 * of Yu & Turk (2013) does not.
 *
 * Anisotropic kernels follow Yu & Turk: weighted covariance of the neighbourhood, its axes scaled
 * to the fluid's shape and clamped, and centres moved to take out noise. Their smoothing pulls the
 * whole surface inwards; here the mean pull of the particles alongside is taken out again (after
 * Vollmer's HC smoothing of meshes), so only the noise goes. SPDX-License-Identifier: Apache-2.0 */
#include "eigen.h"
#include "level_set.h"

#include <math.h>

/* separations: 65 neighbours in the bulk, enough for a steady covariance */
#define NEIGHBOURHOOD 2.5f
#define CROWD 2.0f /* separations: radius in which neighbours are counted */
/* Films and threads (thin_scale): particles with fewer neighbours than a flat layer at rest; how
 * far away the next particle of a drawn one is looked for, and the widest kernel, in separations.
 */
#define THIN_CROWD 3.4f
#define THIN_REACH 3.4f
#define THIN_WIDEST 3.0f
/* separations: no centre moves further, so that a strand's end stays where it is */
#define MAX_SHIFT 0.3f

typedef struct kernel_job {
  const oz_kernel_desc *d;
  const oz_cells *c;
  oz_kernel *k;
  /* 3 a particle: from the particle to the weighted mean of its neighbourhood */
  float *shift;
  float *volume;       /* a particle: the weight to be */
  float *normal;       /* 3 a particle: of its sheet, or zero */
  int over_bridges;    /* the weights in the making: 1 of bridges, 0 of particles */
  float reach;         /* m: of the kernels as they are now */
  volatile int failed; /* set by a task that found no memory */
} kernel_job;

/* The support, in separations, across a thin direction: gives a lone particle, a strand and a sheet
 * the radius (0.62, 0.564, 0.5 separations) at which each has the volume of its particles. */
static float thin_width(float crowd) {
  if (crowd < 1.84f) return OZ_LONE_WIDTH + (1.33f - OZ_LONE_WIDTH) * (crowd - 1.0f) / 0.84f;
  if (crowd < 3.2f) return 1.33f + (1.28f - 1.33f) * (crowd - 1.84f) / 1.36f;
  /* bulk: the layer below weakens the top one's V */
  return 1.28f + 0.07f * fminf((crowd - 3.2f) / 0.8f, 1.0f);
}

/* The particles near one cell, side by side: found once for all of the cell's own, then run through
 * four at a time. The order is that of the cells, the sums add lane by lane and then across, so
 * bits do not depend on threads. */
enum { ROWS = 3 + 6 + 2 };
typedef struct near_list {
  uint32_t count, capacity; /* count is a multiple of OZ_LANES; the padding lies far away */
  uint32_t *index;
  float *row[ROWS]; /* x y z, and the values of the pass: shift, or a of kernels and weights */
} near_list;

static void near_free(near_list *l) {
  oz_release(l->index);
  oz_release(l->row[0]);
  memset(l, 0, sizeof *l);
}

/* 0 when memory runs out. Positions are compared by `x` (stride floats apart), cells by where
 * particles were binned. */
static int near_fill(near_list *l, const oz_cells *c, uint32_t cell, float radius, const float *x,
                     size_t stride) {
  float lo[3], hi[3];
  uint32_t total = 0, i, j, end;
  int from[3], to[3], a, pass, k[3];
  for (i = c->first[cell]; i < c->first[cell + 1]; ++i)
    for (a = 0; a < 3; ++a) {
      float v = x[stride * i + (size_t)a];
      if (i == c->first[cell] || v < lo[a]) lo[a] = v;
      if (i == c->first[cell] || v > hi[a]) hi[a] = v;
    }
  for (a = 0; a < 3; ++a) {
    lo[a] -= radius;
    hi[a] += radius;
    from[a] = (int)floorf(lo[a] / c->cell);
    to[a] = (int)floorf(hi[a] / c->cell);
  }
  for (pass = 0; pass < 2; ++pass) {
    for (k[0] = from[0]; k[0] <= to[0]; ++k[0])
      for (k[1] = from[1]; k[1] <= to[1]; ++k[1])
        for (k[2] = from[2]; k[2] <= to[2]; ++k[2]) {
          if (!oz_cells_find(c, k[0], k[1], k[2], &j, &end)) continue;
          if (!pass) {
            total += end - j;
            continue;
          }
          for (; j < end; ++j) {
            const float *y = x + stride * j;
            if (y[0] < lo[0] || y[0] > hi[0] || y[1] < lo[1] || y[1] > hi[1] || y[2] < lo[2] ||
                y[2] > hi[2])
              continue;
            l->index[l->count] = j;
            for (a = 0; a < 3; ++a) l->row[a][l->count] = y[a];
            ++l->count;
          }
        }
    if (!pass && total + OZ_LANES > l->capacity) {
      near_free(l);
      l->capacity = (total + OZ_LANES) * 2;
      l->index = (uint32_t *)oz_allocate(l->capacity, sizeof *l->index);
      l->row[0] = (float *)oz_allocate(l->capacity, ROWS * sizeof(float));
      if (!l->index || !l->row[0]) { /* no capacity is left for a later cell to rely on */
        near_free(l);
        return 0;
      }
      for (a = 1; a < ROWS; ++a) l->row[a] = l->row[0] + (size_t)a * l->capacity;
    }
    if (!pass) l->count = 0;
  }
  for (; l->count % OZ_LANES; ++l->count) {
    l->index[l->count] = l->index[0];
    for (a = 0; a < 3; ++a) l->row[a][l->count] = hi[a] + 4.0f * radius;
  }
  return 1;
}

/* Places near a cell; 0 where memory is out, which the job then knows. */
static int near_places(kernel_job *job, near_list *l, uint32_t cell, float radius) {
  if (near_fill(l, job->c, cell, radius, job->c->x, 3)) return 1;
  job->failed = 1;
  return 0;
}

static void set_round(oz_kernel *k, const float *x, float width) {
  float a = 1.0f / (width * width);
  memcpy(k->x, x, sizeof k->x);
  k->weight = 1.0f;
  k->a[0] = k->a[1] = k->a[2] = a;
  k->a[3] = k->a[4] = k->a[5] = 0.0f;
  k->extent[0] = k->extent[1] = k->extent[2] = width;
}

static void round_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  const oz_cells *c = job->c;
  float d = job->d->separation, radius = CROWD * d, inv = 1.0f / (radius * radius);
  near_list l = {0};
  for (uint32_t cell = begin; cell < end; ++cell) {
    if (!near_places(job, &l, cell, radius)) break;
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i) {
      const float *x = c->x + 3 * (size_t)i;
      oz_f4 sum = oz_f4_of(0.0f);
      float crowd, t;
      for (uint32_t j = 0; j < l.count; j += OZ_LANES) {
        oz_f4 dx = oz_f4_load(l.row[0] + j) - x[0], dy = oz_f4_load(l.row[1] + j) - x[1],
              dz = oz_f4_load(l.row[2] + j) - x[2];
        oz_f4 q = oz_f4_positive(1.0f - (dx * dx + dy * dy + dz * dz) * inv);
        sum += q * q * q;
      }
      crowd = oz_f4_sum(sum);
      /* In the bulk a wider kernel closes the gaps that disorder leaves; at its surface crowd is
       * about 4.1. */
      t = crowd < 4.0f ? 0.0f : crowd > 4.8f ? 1.0f : (crowd - 4.0f) / 0.8f;
      set_round(&job->k[i], x, d * (thin_width(crowd) + 0.4f * t));
    }
  }
  near_free(&l);
}

/* Widths along the axes of the neighbourhood's covariance, and the ellipsoid as a quadratic form.
 */
static void set_form(oz_kernel *k, const float *x, double axis[3][3], const float width[3]) {
  static const int rows[6] = {0, 1, 2, 0, 0, 1}, cols[6] = {0, 1, 2, 1, 2, 2};
  int a, b;
  memcpy(k->x, x, sizeof k->x);
  k->weight = 1.0f;
  for (a = 0; a < 6; ++a) {
    double sum = 0.0;
    for (b = 0; b < 3; ++b)
      sum += axis[rows[a]][b] * axis[cols[a]][b] / ((double)width[b] * width[b]);
    k->a[a] = (float)sum;
  }
  for (a = 0; a < 3; ++a) {
    double sum = 0.0;
    for (b = 0; b < 3; ++b) sum += axis[a][b] * axis[a][b] * width[b] * width[b];
    k->extent[a] = (float)sqrt(sum) * 1.0001f; /* never cut a row that still has weight */
  }
}

static void set_ellipsoid(const kernel_job *job, oz_kernel *k, const float *x, const double cov[6],
                          float crowd) {
  float d = job->d->separation, thin = thin_width(crowd), width[3], t[3], least = 1.0f;
  /* variance along an axis of a full ball */
  double bulk = 0.15 * NEIGHBOURHOOD * NEIGHBOURHOOD * d * d;
  double value[3], axis[3][3];
  int a;
  eigen3(cov, value, axis);
  /* and more so when it is wide */
  if (crowd > 3.2f) thin += 0.11f * fminf((crowd - 3.2f) / 0.8f, 1.0f);
  /* Wide where the fluid goes on, thin where it ends: 0.4 is the variance ratio across a flat free
   * surface. */
  for (a = 0; a < 3; ++a) {
    t[a] = (float)((value[a] / bulk - 0.45) / 0.5);
    t[a] = t[a] < 0.0f ? 0.0f : t[a] > 1.0f ? 1.0f : t[a];
    t[a] = t[a] * t[a] * (3.0f - 2.0f * t[a]);
    least = fminf(least, t[a]);
  }
  /* Deep inside nothing is seen: narrower kernels there cost a third and still leave no gap. */
  for (a = 0; a < 3; ++a)
    width[a] = d * thin * (1.0f + (job->d->max_stretch - 1.0f) * (t[a] - 0.6f * least));
  set_form(k, x, axis, width);
}

static float ramp(double at, double from, double to) {
  float t = (float)((at - from) / (to - from));
  t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
  return t * t * (3.0f - 2.0f * t);
}

/* The spacing of a film or thread, in metres: to the nearest particle on each side of it, along its
 * one axis or in the four quadrants of its plane. Sides without any are its edge and do not count.
 */
static int spacing_of(const near_list *l, const float *x, float d, double axis[3][3],
                      const int order[3], float planar, float *widest, float *mean) {
  float nearest[4], sum = 0.0f;
  int sides = 0;
  for (int q = 0; q < 4; ++q) nearest[q] = THIN_REACH * d;
  for (uint32_t j = 0; j < l->count; ++j) {
    float o[3], along = 0.0f, beside = 0.0f, r = 0.0f;
    for (int a = 0; a < 3; ++a) {
      o[a] = l->row[a][j] - x[a];
      r += o[a] * o[a];
      along += o[a] * (float)axis[a][order[0]];
      beside += o[a] * (float)axis[a][order[1]];
    }
    if (r < 1e-6f * d * d || r >= THIN_REACH * THIN_REACH * d * d) continue;
    r = sqrtf(r);
    const int quadrant = planar > 0.5f ? (along > 0.0f) + 2 * (beside > 0.0f) : along > 0.0f;
    if (r < nearest[quadrant]) nearest[quadrant] = r;
  }
  *widest = 0.0f;
  for (int q = 0; q < (planar > 0.5f ? 4 : 2); ++q) {
    if (nearest[q] >= THIN_REACH * d) continue;
    *widest = fmaxf(*widest, nearest[q]);
    sum += nearest[q];
    ++sides;
  }
  *mean = sides ? sum / (float)sides : 0.0f;
  return sides;
}

/* A film or thread of one particle that is drawn out: its kernels reach the next particle, so that
 * neither net nor beads show, and are the thinner for it, as its volume says; but never thinner
 * than a voxel can hold. Everything else keeps the kernel it has. */
static void thin_scale(const kernel_job *job, const near_list *l, oz_kernel *k, const float *x,
                       float crowd, float normal[3]) {
  const float d = job->d->separation, inv = 1.0f / (THIN_REACH * THIN_REACH * d * d);
  double cov[6] = {0}, mean[3] = {0}, w = 0.0, value[3], axis[3][3];
  int order[3] = {0, 1, 2};
  for (uint32_t j = 0; j < l->count; ++j) {
    const double o[3] = {(double)l->row[0][j] - x[0], (double)l->row[1][j] - x[1],
                         (double)l->row[2][j] - x[2]};
    const double q = (o[0] * o[0] + o[1] * o[1] + o[2] * o[2]) * inv,
                 g = q < 1.0 ? 1.0 - 0.5 * q * (1.0 + q) : 0.0;
    w += g;
    for (int a = 0; a < 3; ++a) mean[a] += g * o[a];
    cov[0] += g * o[0] * o[0], cov[1] += g * o[1] * o[1], cov[2] += g * o[2] * o[2];
    cov[3] += g * o[0] * o[1], cov[4] += g * o[0] * o[2], cov[5] += g * o[1] * o[2];
  }
  static const int rows[6] = {0, 1, 2, 0, 0, 1}, cols[6] = {0, 1, 2, 1, 2, 2};
  for (int a = 0; a < 6; ++a) cov[a] = cov[a] / w - mean[rows[a]] * mean[cols[a]] / (w * w);
  eigen3(cov, value, axis);
  for (int a = 0; a < 2; ++a) /* widest first */
    for (int b = a + 1; b < 3; ++b)
      if (value[order[b]] > value[order[a]]) {
        const int swap = order[a];
        order[a] = order[b];
        order[b] = swap;
      }
  const double most = value[order[0]];
  if (!(most > 0.04 * d * d)) return; /* a drop by itself */
  const float planar = ramp(value[order[1]] / most, 0.1, 0.4),
              thin = 1.0f - ramp(value[order[2]] / most, 0.1, 0.25);
  float widest, apart, width[3];
  if (thin > 0.5f && planar > 0.5f)
    for (int a = 0; a < 3; ++a) normal[a] = (float)axis[a][order[2]];
  if (thin <= 0.0f || !spacing_of(l, x, d, axis, order, planar, &widest, &apart)) return;
  const float drawn = fmaxf(apart / d * (planar > 0.5f ? 0.85f : 1.0f), 1.0f);
  const float volume = planar > 0.5f ? 1.0f / (drawn * drawn) : 1.0f / sqrtf(drawn);
  const float least = fminf(1.2f * job->d->voxel / d, 1.0f);
  const float across = 1.0f + thin * (fmaxf(volume, least) - 1.0f);
  const float reach = fminf(1.25f * widest, THIN_WIDEST * d), base = d * thin_width(crowd);
  for (int a = 0; a < 3; ++a) {
    const int wide = a == order[0] || (a == order[1] && planar > 0.5f);
    const float now = base * (1.0f + (job->d->max_stretch - 1.0f) * thin);
    width[a] = wide ? fmaxf(now, reach) : base * across;
  }
  set_form(k, x, axis, width);
}

/* The particles of a cell that may be of a film or thread, with all around them. */
static void thin_cell(kernel_job *job, near_list *l, uint32_t cell) {
  const oz_cells *c = job->c;
  int some = 0;
  for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i)
    some |= job->volume[i] < THIN_CROWD;
  if (!some) return;
  if (!near_places(job, l, cell, THIN_REACH * job->d->separation)) return;
  for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i)
    if (job->volume[i] < THIN_CROWD)
      thin_scale(job, l, &job->k[i], c->x + 3 * (size_t)i, job->volume[i],
                 job->normal + 3 * (size_t)i);
}

/* Yu & Turk weigh by 1 - q^3; 1 - (q^2 + q^4) / 2 is within 0.04 of it and needs no root. */
static void covariance_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  const oz_cells *c = job->c;
  float d = job->d->separation, radius = NEIGHBOURHOOD * d, inv = 1.0f / (radius * radius),
        crowd_inv = 1.0f / (CROWD * CROWD * d * d);
  near_list l = {0};
  for (uint32_t cell = begin; cell < end; ++cell) {
    if (!near_places(job, &l, cell, radius)) break;
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i) {
      const float *x = c->x + 3 * (size_t)i;
      oz_f4 s[11];
      float w, m[3];
      double cov[6];
      for (int a = 0; a < 11; ++a) s[a] = oz_f4_of(0.0f);
      for (uint32_t j = 0; j < l.count; j += OZ_LANES) {
        oz_f4 dx = oz_f4_load(l.row[0] + j) - x[0], dy = oz_f4_load(l.row[1] + j) - x[1],
              dz = oz_f4_load(l.row[2] + j) - x[2];
        oz_f4 r2 = dx * dx + dy * dy + dz * dz, q = r2 * inv,
              near = oz_f4_positive(1.0f - r2 * crowd_inv);
        oz_f4 g = oz_f4_positive(1.0f - 0.5f * q * (1.0f + q)), gx = g * dx, gy = g * dy,
              gz = g * dz;
        s[0] += g;
        s[1] += gx;
        s[2] += gy;
        s[3] += gz;
        s[4] += gx * dx;
        s[5] += gy * dy;
        s[6] += gz * dz;
        s[7] += gx * dy;
        s[8] += gx * dz;
        s[9] += gy * dz;
        s[10] += near * near * near;
      }
      w = oz_f4_sum(s[0]); /* at least 1: the particle itself */
      for (int a = 0; a < 3; ++a) m[a] = oz_f4_sum(s[1 + a]) / w;
      for (int a = 0; a < 6; ++a) cov[a] = oz_f4_sum(s[4 + a]) / w;
      cov[0] -= m[0] * m[0];
      cov[1] -= m[1] * m[1];
      cov[2] -= m[2] * m[2];
      cov[3] -= m[0] * m[1];
      cov[4] -= m[0] * m[2];
      cov[5] -= m[1] * m[2];
      memcpy(job->shift + 3 * (size_t)i, m, sizeof m);
      set_ellipsoid(job, &job->k[i], x, cov, oz_f4_sum(s[10]));
      job->volume[i] = oz_f4_sum(s[10]); /* the crowd, until weights are made */
    }
    thin_cell(job, &l, cell);
  }
  near_free(&l);
}

/* Takes the noise out of the centres: the pull to the neighbourhood's mean, less the mean pull of
 * those alongside. The particle's own flat kernel weighs its neighbours, so a surface layer is
 * compared with itself, not with the layers below.
 */
static void smooth_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  const oz_cells *c = job->c;
  float limit = MAX_SHIFT * job->d->separation;
  near_list l = {0};
  for (uint32_t cell = begin; cell < end; ++cell) {
    if (!near_places(job, &l, cell, job->reach)) break;
    for (uint32_t j = 0; j < l.count; ++j)
      for (int a = 0; a < 3; ++a) l.row[3 + a][j] = job->shift[3 * (size_t)l.index[j] + (size_t)a];
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i) {
      const float *x = c->x + 3 * (size_t)i;
      oz_kernel *k = &job->k[i];
      oz_f4 s[4];
      float move[3], length = 0.0f, w;
      float a0 = k->a[0], a1 = k->a[1], a2 = k->a[2], a3 = 2.0f * k->a[3], a4 = 2.0f * k->a[4],
            a5 = 2.0f * k->a[5];
      for (int a = 0; a < 4; ++a) s[a] = oz_f4_of(0.0f);
      for (uint32_t j = 0; j < l.count; j += OZ_LANES) {
        oz_f4 dx = oz_f4_load(l.row[0] + j) - x[0], dy = oz_f4_load(l.row[1] + j) - x[1],
              dz = oz_f4_load(l.row[2] + j) - x[2];
        oz_f4 q = oz_f4_positive(
            1.0f - (dx * (a0 * dx + a3 * dy + a4 * dz) + dy * (a1 * dy + a5 * dz) + a2 * dz * dz));
        oz_f4 g = q * q * q;
        s[0] += g;
        for (int a = 0; a < 3; ++a) s[1 + a] += g * oz_f4_load(l.row[3 + a] + j);
      }
      w = oz_f4_sum(s[0]);
      for (int a = 0; a < 3; ++a) {
        move[a] = job->d->position_smoothing *
                  (job->shift[3 * (size_t)i + (size_t)a] - oz_f4_sum(s[1 + a]) / w);
        length += move[a] * move[a];
      }
      length = sqrtf(length);
      for (int a = 0; a < 3; ++a)
        k->x[a] = x[a] + (length > limit ? move[a] * limit / length : move[a]);
    }
  }
  near_free(&l);
}

/* The kernels near a cell, with two weights each: of particles and of bridges. */
static int near_kernels(kernel_job *job, near_list *l, uint32_t cell) {
  if (!near_fill(l, job->c, cell, job->reach, job->k[0].x, sizeof(oz_kernel) / sizeof(float))) {
    job->failed = 1;
    return 0;
  }
  for (uint32_t j = 0; j < l->count; ++j) {
    const uint32_t at = l->index[j];
    const oz_kernel *k = &job->k[at];
    const int bridge = k->weight == 0.0f;
    for (int a = 0; a < 6; ++a) l->row[3 + a][j] = k->a[a] * (a < 3 ? 1.0f : 2.0f);
    l->row[9][j] = bridge ? 0.0f : job->over_bridges ? job->volume[at] : 1.0f;
    l->row[10][j] = bridge ? 1.0f : 0.0f;
  }
  return 1;
}

/* Sums at a place of the kernels of particles and of bridges. */
static void sums_at(const near_list *l, const float x[3], float *particles, float *bridges) {
  oz_f4 s = oz_f4_of(0.0f), t = oz_f4_of(0.0f);
  for (uint32_t j = 0; j < l->count; j += OZ_LANES) {
    oz_f4 dx = oz_f4_load(l->row[0] + j) - x[0], dy = oz_f4_load(l->row[1] + j) - x[1],
          dz = oz_f4_load(l->row[2] + j) - x[2];
    oz_f4 a0 = oz_f4_load(l->row[3] + j), a1 = oz_f4_load(l->row[4] + j),
          a2 = oz_f4_load(l->row[5] + j);
    oz_f4 a3 = oz_f4_load(l->row[6] + j), a4 = oz_f4_load(l->row[7] + j),
          a5 = oz_f4_load(l->row[8] + j);
    oz_f4 q = oz_f4_positive(
        1.0f - (dx * (a0 * dx + a3 * dy + a4 * dz) + dy * (a1 * dy + a5 * dz) + a2 * dz * dz));
    q = q * q * q;
    s += q * oz_f4_load(l->row[9] + j);
    t += q * oz_f4_load(l->row[10] + j);
  }
  *particles = oz_f4_sum(s);
  *bridges = oz_f4_sum(t);
}

/* Of a particle V = 1 / (sum of all particles' kernels at its centre); kept beside until every one
 * has been read. Of bridges, in a second pass, the rest to 1 at theirs, so that nothing
 * changes where particles lie. */
static void weight_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  const oz_cells *c = job->c;
  near_list l = {0};
  for (uint32_t cell = begin; cell < end; ++cell) {
    int wanted = !job->over_bridges;
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i)
      wanted |= job->k[i].weight == 0.0f;
    if (!wanted) continue;
    if (!near_kernels(job, &l, cell)) break;
    for (uint32_t i = c->first[cell]; i < c->first[cell + 1]; ++i) {
      const int bridge = job->k[i].weight == 0.0f;
      float particles, bridges;
      if (bridge != job->over_bridges) continue;
      sums_at(&l, job->k[i].x, &particles, &bridges);
      job->volume[i] = bridge ? fmaxf(1.0f - particles, 0.0f) / fmaxf(bridges, 1.0f)
                              : 1.0f / fmaxf(particles, 1.0f); /* its own share is 1 */
    }
  }
  near_free(&l);
}

static float widest(const oz_kernel *k, uint32_t count) {
  float w = 0.0f;
  for (uint32_t i = 0; i < count; ++i)
    w = fmaxf(w, fmaxf(k[i].extent[0], fmaxf(k[i].extent[1], k[i].extent[2])));
  return w;
}

/* Particles and bridges into cells of their own. */
static int take_bridges(kernel_job *job, const oz_loop *loop, oz_kernel_set *set) {
  const oz_cells *c = job->c;
  oz_kernel *bridges, *all = NULL;
  float *x = NULL, *volume = NULL;
  uint32_t count;
  ooze_message why;
  int ok = oz_bridges_find(c, job->k, job->normal, job->d->separation, loop, &bridges, &count);
  if (!ok || !count) return ok;
  const size_t total = (size_t)c->count + count;
  x = (float *)oz_allocate(total, 3 * sizeof *x);
  all = (oz_kernel *)oz_allocate(total, sizeof *all);
  volume = (float *)oz_allocate(total, sizeof *volume);
  ok = x && all && volume && total < OZ_NONE;
  if (ok) {
    memcpy(x, c->x, 3 * sizeof *x * c->count);
    for (uint32_t i = 0; i < count; ++i)
      memcpy(x + 3 * ((size_t)c->count + i), bridges[i].x, 3 * sizeof *x);
    ok = oz_cells_build(&set->own, c->cell, (uint32_t)total, x, 3 * sizeof *x, NULL, &why) ==
         OOZE_OK;
  }
  if (ok) {
    for (uint32_t i = 0; i < set->own.count; ++i) {
      const uint32_t from = set->own.order[i];
      all[i] = from < c->count ? job->k[from] : bridges[from - c->count];
    }
    oz_release(job->k);
    oz_release(job->volume);
    set->c = job->c = &set->own;
    job->k = all;
    job->volume = volume;
  } else {
    oz_release(all);
    oz_release(volume);
  }
  oz_release(x);
  oz_release(bridges);
  return ok;
}

void oz_kernels_free(oz_kernel_set *set) {
  oz_cells_free(&set->own);
  oz_release(set->k);
}

ooze_result oz_kernels_make(const oz_kernel_desc *d, const oz_cells *c, const oz_loop *loop,
                            oz_kernel_set *out, ooze_message *why) {
  kernel_job job;
  memset(&job, 0, sizeof job);
  memset(out, 0, sizeof *out);
  job.d = d;
  job.c = out->c = c;
  job.k = (oz_kernel *)oz_allocate(c->count, sizeof *job.k);
  job.volume = (float *)oz_allocate(c->count, sizeof(float));
  if (d->anisotropic) {
    job.shift = (float *)oz_allocate(c->count, 3 * sizeof(float));
    job.normal = (float *)oz_allocate(c->count, 3 * sizeof(float));
  }
  job.failed = !job.k || !job.volume || (d->anisotropic && (!job.shift || !job.normal));
  if (!job.failed && d->anisotropic) memset(job.normal, 0, 3 * sizeof(float) * c->count);
  if (!job.failed)
    oz_loop_run(loop, c->cell_count, d->anisotropic ? covariance_body : round_body, &job);
  if (!job.failed) {
    job.reach = widest(job.k, c->count);
    if (d->anisotropic && d->position_smoothing > 0.0f) {
      oz_loop_run(loop, c->cell_count, smooth_body, &job);
      job.reach += MAX_SHIFT * d->separation; /* cells hold particles by their unmoved positions */
    }
    if (d->anisotropic && !job.failed) job.failed = !take_bridges(&job, loop, out);
  }
  if (!job.failed) {
    oz_loop_run(loop, job.c->cell_count, weight_body, &job);
    job.over_bridges = 1;
    if (!job.failed && out->own.count) oz_loop_run(loop, job.c->cell_count, weight_body, &job);
    for (uint32_t i = 0; i < job.c->count; ++i) job.k[i].weight = job.volume[i];
  }
  out->k = job.k;
  out->reach = job.reach;
  oz_release(job.volume);
  oz_release(job.shift);
  oz_release(job.normal);
  if (job.failed)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the kernels of %u particles", c->count);
  return OOZE_OK;
}
