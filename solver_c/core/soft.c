/* A soft body's links: between all points up to 1.8 separations apart, 26 each inside a lattice.
 *
 * A solid of springs of stiffness k_l and length L_l in a volume V has Young's modulus sum k_l
 * L_l^2 / (6 V) if they point evenly in all directions, and Poisson's ratio 1/4 (Cauchy's
 * relation). On a cubic lattice k ~ L^-2.7 makes it isotropic: k1 = k2 + 8/3 k3 for its three kinds
 * of neighbours. Points at the surface have fewer links, but those along it are all there: without
 * scaling, a thin bar or sheet is too soft; with each point's own sum scaled to that of the solid
 * it is too stiff. Each link is scaled by a power of that factor, the mean of both ends, so that a
 * bar of four by four points has E within 10% (ooze verify soft.hang), and a sheet of two layers
 * too. SPDX-License-Identifier: Apache-2.0 */
#include "core/soft.h"

#include <math.h>
#include <stdlib.h>

#include "physics/rigid.h"

static const double REACH = 1.8;  /* separations: a lattice's diagonal is 1.73 */
static const double POWER = -2.7; /* of length, in stiffness */
static const double THIN = 0.35;  /* that power */
/* d^2: sum of (L/d)^-2.7 L^2 / 2 over the 26 links of a point inside a lattice */
static const double LATTICE = 10.43;

typedef struct spot {
  uint64_t cell;
  uint32_t point;
} spot;
typedef struct builder {
  oz_memory *memory;
  const ooze_body_desc *desc;
  double cell; /* m */
  double low[3];
  uint64_t size[3];
  spot *spots;  /* by (cell, point) */
  double *sums; /* of each point: sum of w L^2 / 2 */
  oz_link_pair *pairs;
  size_t bytes;
  uint64_t count;
} builder;

static int by_cell(const void *a, const void *b) {
  const spot *x = a, *y = b;
  if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
  return x->point < y->point ? -1 : x->point > y->point;
}
static int by_ends(const void *a, const void *b) {
  const oz_link_pair *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->b < y->b ? -1 : x->b > y->b;
}

static void point(const builder *b, uint32_t i, double x[3]) {
  float v[3];
  memcpy(v, (const unsigned char *)b->desc->positions + i * b->desc->position_stride, sizeof v);
  for (int k = 0; k < 3; ++k) x[k] = (double)v[k];
}
static uint64_t cell_of(const builder *b, const double x[3], const int step[3]) {
  uint64_t at = 0;
  for (int k = 0; k < 3; ++k) {
    /* a rim of empty cells around all */
    const int64_t c = (int64_t)floor((x[k] - b->low[k]) / b->cell) + 1 + step[k];
    at = at * b->size[k] + (uint64_t)c;
  }
  return at;
}

/* Points by cell. 0: something is no number, or too far away. */
static int sort_points(builder *b) {
  double high[3] = {-1e30, -1e30, -1e30};
  const int here[3] = {0, 0, 0};
  for (int k = 0; k < 3; ++k) b->low[k] = 1e30;
  for (uint32_t i = 0; i < b->desc->count; ++i) {
    double x[3];
    point(b, i, x);
    for (int k = 0; k < 3; ++k) {
      if (!(fabs(x[k]) < 1e6)) return 0;
      b->low[k] = fmin(b->low[k], x[k]), high[k] = fmax(high[k], x[k]);
    }
  }
  for (int k = 0; k < 3; ++k) {
    const double cells = (high[k] - b->low[k]) / b->cell + 3;
    if (!(cells < 2e6)) return 0; /* its cube still fits into 64 bits */
    b->size[k] = (uint64_t)cells + 1;
  }
  for (uint32_t i = 0; i < b->desc->count; ++i) {
    double x[3];
    point(b, i, x);
    b->spots[i].cell = cell_of(b, x, here);
    b->spots[i].point = i;
  }
  qsort(b->spots, b->desc->count, sizeof *b->spots, by_cell);
  return 1;
}

static int add_pair(builder *b, uint32_t i, uint32_t j, double length, double d) {
  const size_t need = (size_t)(b->count + 1) * sizeof *b->pairs;
  if (need > b->bytes &&
      !oz_grow(b->memory, (void **)&b->pairs, &b->bytes, need + need / 2 + 4096, b->bytes))
    return 0;
  const double w = pow(length / d, POWER);
  b->pairs[b->count++] = (oz_link_pair){i, j, (float)length, OZ_LINK_SOFT, (float)w};
  b->sums[i] += 0.5 * w * length * length;
  b->sums[j] += 0.5 * w * length * length;
  return 1;
}

/* All pairs in reach, each once. */
static int find_pairs(builder *b, double d) {
  const uint32_t n = b->desc->count;
  for (uint32_t i = 0; i < n; ++i) {
    double x[3];
    point(b, i, x);
    for (int column = 0; column < 9; ++column) { /* cells that differ only in z lie in a row */
      const int step[3] = {column / 3 - 1, column % 3 - 1, -1};
      const uint64_t from = cell_of(b, x, step);
      uint32_t low = 0, high = n;
      OZ_LOWER_BOUND(low, high, middle, b->spots[middle].cell < from)
      for (; low < n && b->spots[low].cell <= from + 2; ++low) {
        const uint32_t j = b->spots[low].point;
        double y[3], l2 = 0;
        if (j <= i) continue;
        point(b, j, y);
        for (int k = 0; k < 3; ++k) l2 += (x[k] - y[k]) * (x[k] - y[k]);
        if (l2 < REACH * REACH * d * d && l2 > 1e-4 * d * d && !add_pair(b, i, j, sqrt(l2), d))
          return 0;
      }
    }
  }
  if (b->count) qsort(b->pairs, (size_t)b->count, sizeof *b->pairs, by_ends);
  return 1;
}

/* Greatest eigenvalues of M^-1 K for moduli of 1 Pa, as physics/soft.h bounds them: of the shape at
 * rest. */
static int find_bounds(const builder *b, double d, double density, oz_body *body) {
  enum { TENSOR = 0, SHAPE = 6, SUM = 12, SIZE = 15, WORDS = 16 };
  const uint32_t n = b->desc->count;
  const double volume = d * d * d, inv_mass = 1.0 / (fmax(density, 1e-3) * volume);
  /* zeroed */
  double *acc = oz_alloc(b->memory, (size_t)n * WORDS * sizeof *acc), stretch = 0, keep = 0;
  if (!acc) return 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t k = 0; k < b->count; ++k) {
      const oz_link_pair *l = &b->pairs[k];
      double x[3], y[3], r[3], g[3];
      point(b, l->a, x);
      point(b, l->b, y);
      for (int c = 0; c < 3; ++c) r[c] = y[c] - x[c];
      const double w = (double)l->spare, l2 = oz_dot3(r, r),
                   rr[6] = {r[0] * r[0], r[1] * r[1], r[2] * r[2],
                            r[0] * r[1], r[0] * r[2], r[1] * r[2]};
      for (int end = 0; end < 2; ++end) {
        double *a = acc + (size_t)(end ? l->b : l->a) * WORDS;
        if (pass == 0) {
          for (int c = 0; c < 6; ++c) a[TENSOR + c] += w * rr[c] / l2, a[SHAPE + c] += w * rr[c];
          continue;
        }
        oz_sym_v(a + SHAPE, r, g); /* by now the inverse */
        a[SIZE] += w * sqrt(oz_dot3(g, g));
        for (int c = 0; c < 3; ++c) a[SUM + c] += (end ? -w : w) * g[c];
      }
    }
    for (uint32_t i = 0; i < n; ++i) {
      double *a = acc + (size_t)i * WORDS, inverse[6];
      if (pass == 0) {
        const double xy = fabs(a[3]), xz = fabs(a[4]), yz = fabs(a[5]),
                     t = a[SHAPE] + a[SHAPE + 1] + a[SHAPE + 2];
        stretch = fmax(stretch, fmax(a[0] + xy + xz, fmax(a[1] + xy + yz, a[2] + xz + yz)));
        oz_sym_inverse(a + SHAPE, inverse);
        const int flat = !((inverse[0] + inverse[1] + inverse[2]) * t < 100);
        for (int c = 0; c < 6; ++c) a[SHAPE + c] = flat ? 0 : inverse[c];
      } else {
        const double S = a[SIZE] + sqrt(oz_dot3(a + SUM, a + SUM));
        keep = fmax(keep, S * S);
      }
    }
  }
  oz_free(b->memory, acc);
  body->stretch_bound = (float)(2 * inv_mass * stretch);
  body->volume_bound = (float)((double)OZ_SOFT_SPREAD * inv_mass * volume * keep);
  return 1;
}

ooze_result oz_soft_links_make(oz_memory *memory, const ooze_body_desc *desc, float separation,
                               double density, oz_body *body, oz_link_pair **out, uint64_t *count,
                               ooze_message *why) {
  const double d = (double)separation, volume = d * d * d, full = LATTICE * d * d;
  builder b;
  memset(&b, 0, sizeof b);
  b.memory = memory;
  b.desc = desc;
  b.cell = REACH * d;
  b.spots = oz_alloc(memory, desc->count * sizeof *b.spots);
  b.sums = oz_alloc(memory, desc->count * sizeof *b.sums);
  int room = b.spots && b.sums, good = room;
  if (good) {
    memset(b.sums, 0, desc->count * sizeof *b.sums);
    good = sort_points(&b);
  }
  if (good) {
    good = room = find_pairs(&b, d);
    for (uint64_t k = 0; good && k < b.count; ++k) {
      oz_link_pair *l = &b.pairs[k];
      l->spare = (float)(6.0 * volume * (double)l->spare * 0.5 *
                         (pow(full / b.sums[l->a], THIN) + pow(full / b.sums[l->b], THIN)) / full);
    }
    if (good) good = room = find_bounds(&b, d, density, body);
  }
  oz_free(memory, b.sums);
  oz_free(memory, b.spots);
  if (good) {
    *out = b.pairs;
    *count = b.count;
    return OOZE_OK;
  }
  oz_free(memory, b.pairs);
  if (!room)
    return oz_fail(why, OOZE_ERROR_MEMORY, "body: no memory for the links of %u points",
                   (unsigned)desc->count);
  return oz_fail(
      why, OOZE_ERROR_ARGUMENT,
      "body: its points are no numbers or lie further apart than 2 million separations of %g m", d);
}
