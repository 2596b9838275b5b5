/* Points on the surfaces of analytic shapes, and their weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "core/boundary.h"
#include "physics/algebra.h"
#include "physics/search.h"

static const double PI = 3.14159265358979323846, GOLDEN = 2.39996322972865332;

typedef struct cloud {
  float *out;
  uint32_t count;
} cloud;

static void put(cloud *c, double x, double y, double z) {
  if (c->count >= OZ_BOUNDARY_POINTS_MAX) return;
  if (c->out) {
    float *p = c->out + 3 * (size_t)c->count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
  }
  c->count++;
}
static uint32_t across(double length, double d) { /* gaps of about d */
  double n = floor(length / d + 0.5);
  return n < 1.0 ? 1 : n > 1e5 ? 100000 : (uint32_t)n;
}

/* All six faces, each edge and corner once. */
static void box(cloud *c, const double h[3], double d) {
  uint32_t n[3];
  for (int k = 0; k < 3; k++) n[k] = across(2.0 * h[k], d);
  for (uint32_t i = 0; i <= n[0]; i++)
    for (uint32_t j = 0; j <= n[1]; j++)
      for (uint32_t k = 0; k <= n[2]; k++) {
        if (i != 0 && i != n[0] && j != 0 && j != n[1] && k != 0 && k != n[2]) {
          k = n[2] - 1; /* straight through the inside */
          continue;
        }
        put(c, h[0] * (2.0 * i / n[0] - 1.0), h[1] * (2.0 * j / n[1] - 1.0),
            h[2] * (2.0 * k / n[2] - 1.0));
      }
}
static void ring(cloud *c, double r, double y, double d, double phase) {
  uint32_t n = r > 0.25 * d ? across(2.0 * PI * r, d) : 1;
  if (n == 1) r = 0.0;
  for (uint32_t k = 0; k < n; k++) {
    double a = 2.0 * PI * (k + phase) / n;
    put(c, r * cos(a), y, r * sin(a));
  }
}
/* The part of a sphere about (0, y0, 0) from polar angle a to b, ring by ring. */
static void zone(cloud *c, double r, double y0, double a, double b, double d) {
  uint32_t n = across(r * (b - a), d);
  for (uint32_t k = 0; k <= n; k++) {
    double t = a + (b - a) * k / n;
    ring(c, r * sin(t), y0 + r * cos(t), d, k * GOLDEN);
  }
}
static void cylinder(cloud *c, double r, double h, double d) {
  uint32_t n = across(2.0 * h, d), m = across(r, d);
  for (uint32_t k = 0; k <= n; k++) ring(c, r, h * (2.0 * k / n - 1.0), d, 0.5 * (k % 2));
  for (uint32_t k = 0; k < m; k++)
    for (int side = -1; side <= 1; side += 2) ring(c, r * k / m, side * h, d, k * GOLDEN);
}

/* One layer, `in` outside of the surface. */
static void layer(cloud *c, const ooze_collider_desc *s, double in, double d) {
  double h[3];
  for (int k = 0; k < 3; k++) h[k] = (double)s->half[k] + in;
  if (s->shape != OOZE_SHAPE_PLANE && !(h[0] > 0.0)) return; /* thinner than that */
  if (s->shape == OOZE_SHAPE_BOX && !(h[1] > 0.0 && h[2] > 0.0)) return;
  if (s->shape == OOZE_SHAPE_CYLINDER && !(h[1] > 0.0)) return;
  switch (s->shape) {
  case OOZE_SHAPE_PLANE: {
    uint32_t n = across(2.0 * (double)s->half[0], d), m = across(2.0 * (double)s->half[2], d);
    for (uint32_t i = 0; i <= n; i++)
      for (uint32_t k = 0; k <= m; k++)
        put(c, (double)s->half[0] * (2.0 * i / n - 1.0), in,
            (double)s->half[2] * (2.0 * k / m - 1.0));
    break;
  }
  case OOZE_SHAPE_SPHERE:
    zone(c, h[0], 0.0, 0.0, PI, d);
    break;
  case OOZE_SHAPE_BOX:
    box(c, h, d);
    break;
  case OOZE_SHAPE_CAPSULE: {
    uint32_t n = across(2.0 * (double)s->half[1], d);
    zone(c, h[0], (double)s->half[1], 0.0, 0.5 * PI, d);
    for (uint32_t k = 1; k < n; k++)
      ring(c, h[0], (double)s->half[1] * (1.0 - 2.0 * k / n), d, 0.5 * (k % 2));
    zone(c, h[0], -(double)s->half[1], 0.5 * PI, PI, d);
    break;
  }
  case OOZE_SHAPE_CYLINDER:
    cylinder(c, h[0], h[1], d);
    break;
  default:
    break;
  }
}

/* One layer, where that of a lattice would go on. A particle could slip through it; the surface
 * itself is the guard. */
uint32_t oz_boundary_sample(const ooze_collider_desc *s, double d, float *out) {
  cloud c = {out, 0};
  layer(&c, s, (s->invert ? 0.5 : -0.5) * d, d);
  if (c.count == 0) layer(&c, s, 0.0, d); /* thinner than that: on the surface itself */
  return c.count;
}

/* ---- weights ---- */

typedef struct cell {
  uint64_t key;
  const float *at;
} cell;
static int by_key(const void *a, const void *b) {
  const cell *x = a, *y = b;
  return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}
static uint64_t key_of(int64_t x, int64_t y, int64_t z) {
  return (uint64_t)(x + (1 << 20)) << 42 | (uint64_t)(y + (1 << 20)) << 21 |
         (uint64_t)(z + (1 << 20));
}
static double kernel(double r2, double h2) { return r2 < h2 ? pow(1.0 - r2 / h2, 4.0) : 0.0; }

/* In the order of their cells, which are as wide as the kernel; NULL without memory. */
static cell *sorted(oz_memory *memory, const float *x, uint32_t count, double h) {
  cell *cells = oz_alloc(memory, ((size_t)count + 1) * sizeof *cells);
  if (!cells) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    int64_t at[3];
    for (int k = 0; k < 3; k++)
      at[k] = (int64_t)floor((double)x[3 * (size_t)i + (size_t)k] / h) & 0xfffff;
    cells[i].key = key_of(at[0], at[1], at[2]), cells[i].at = x + 3 * (size_t)i;
  }
  qsort(cells, count, sizeof *cells, by_key);
  return cells;
}

/* Sums over the points near one of them, by the kernel: their number and moments. Points off the
 * plane of normal n count less. */
typedef struct near_sums {
  double all, moment[6];
} near_sums;

static near_sums sums_near(const cell *cells, uint32_t count, const float *p, double h,
                           const float n[3], double inv_thick) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  near_sums sum = {0.0, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  for (int c = 0; c < 27; c++) {
    int64_t at[3];
    const int off[3] = {c / 9 - 1, c / 3 % 3 - 1, c % 3 - 1};
    for (int k = 0; k < 3; k++) at[k] = ((int64_t)floor((double)p[k] / h) + off[k]) & 0xfffff;
    const uint64_t key = key_of(at[0], at[1], at[2]);
    uint32_t lo = 0, hi = count;
    OZ_LOWER_BOUND(lo, hi, mid, cells[mid].key < key)
    for (; lo < count && cells[lo].key == key; lo++) {
      const float *q = cells[lo].at;
      double r[3], r2 = 0.0, above = 0.0;
      for (int k = 0; k < 3; k++) {
        r[k] = (double)q[k] - (double)p[k];
        r2 += r[k] * r[k], above += inv_thick * (double)n[k] * r[k];
      }
      const double part = kernel(r2, h * h) / ((1.0 + above * above) * (1.0 + above * above));
      sum.all += part;
      for (int k = 0; k < 6; k++) sum.moment[k] += part * r[I[k]] * r[J[k]];
    }
  }
  return sum;
}

/* The kernel falls faster away from a sheet than along it: with this factor on a sheet's excess of
 * weight over a layer, fluid stands a little more than a separation off it, where its points are no
 * bumps to a fluid that slides. */
#define OZ_WEIGHT_THIN 1.47

int oz_boundary_weigh(oz_memory *memory, const float *x, uint32_t count, double d, int guarded,
                      float *weight) {
  const double h = 2.2 * d, h2 = h * h;
  double planes = 0.0; /* a point's own layer and the one behind it */
  for (int i = -2; i <= 2; i++)
    for (int j = -2; j <= 2; j++)
      planes += kernel((i * i + j * j) * d * d, h2) +
                (guarded ? 0.0 : kernel((i * i + j * j + 1) * d * d, h2));
  static const float none[3] = {0.0f, 0.0f, 0.0f};
  cell *cells = sorted(memory, x, count, h);
  if (!cells) return 0;
  for (uint32_t i = 0; i < count; i++) {
    const double sum = sums_near(cells, count, x + 3 * (size_t)i, h, none, 0.0).all;
    double w = sum > 0.0 ? planes / sum : 1.0;
    if (w > 1.0) w = 1.0 + OZ_WEIGHT_THIN * (w - 1.0);
    /* a point alone does not stand for a whole wall */
    weight[i] = (float)(w > OZ_WEIGHT_MOST ? OZ_WEIGHT_MOST : w);
  }
  oz_free(memory, cells);
  return 1;
}

/* Thickness of a surface; and how far its points have to spread along it, at least. */
#define OZ_NORMAL_THICK 0.3
#define OZ_NORMAL_WIDE 0.2f

int oz_boundary_normals(oz_memory *memory, const float *x, uint32_t count, double d,
                        float *normal) {
  const double h = 2.2 * d;
  cell *cells = sorted(memory, x, count, h);
  if (!cells) return 0;
  for (uint32_t i = 0; i < count; i++) {
    float *n = normal + 3 * (size_t)i;
    n[0] = n[1] = n[2] = 0.0f;
    /* the plane that fits best; then without the points off it, which belong to another face */
    for (int round = 0; round < 4; round++) {
      const near_sums sum =
          sums_near(cells, count, x + 3 * (size_t)i, h, n, 1.0 / (OZ_NORMAL_THICK * d));
      oz_s3 moment;
      oz_real w[3];
      oz_m3 U;
      for (int c = 0; c < 6; c++) moment.s[c] = oz_set((float)(sum.moment[c] / (sum.all * d * d)));
      oz_s3_eigen(&moment, 6, w, &U);
      int least = 0, most = 0;
      for (int c = 1; c < 3; c++) {
        if (w[c] < w[least]) least = c;
        if (w[c] >= w[most]) most = c;
      }
      const int surface = least != most && w[3 - least - most] > OZ_NORMAL_WIDE * OZ_NORMAL_WIDE;
      for (int c = 0; c < 3; c++) n[c] = surface ? U.m[3 * c + least] : 0.0f;
    }
  }
  oz_free(memory, cells);
  return 1;
}
