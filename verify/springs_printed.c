/* SPDX-License-Identifier: Apache-2.0 */
#include "springs_printed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int printed_open(printed *r, int n, int springs) {
  memset(r, 0, sizeof *r);
  r->n = n;
  r->room = 256 * n;
  r->x = calloc((size_t)n, sizeof *r->x), r->v = calloc((size_t)n, sizeof *r->v),
  r->before = calloc((size_t)n, sizeof *r->before);
  r->first = calloc((size_t)n + 1, sizeof *r->first), r->next = calloc((size_t)n, sizeof *r->next);
  r->list = calloc((size_t)r->room, sizeof *r->list), r->cell = calloc(1u << 15, sizeof *r->cell);
  r->L = springs ? calloc((size_t)n * (size_t)n, sizeof *r->L) : NULL;
  r->dt = 1.0, r->rho0 = 10.0, r->k = 0.004, r->k_near = 0.01, r->k_spring = 0.3, r->alpha = 0.3,
  r->yield = 0.1, r->beta = 0.2;
  return r->x && r->v && r->before && r->first && r->next && r->list && r->cell &&
         (!springs || r->L);
}
void printed_close(printed *r) {
  free(r->x), free(r->v), free(r->before), free(r->first), free(r->next), free(r->list),
      free(r->cell), free(r->L);
}

static double way(const printed *r, int i, int j, double e[3]) {
  double d2 = 0.0;
  for (int c = 0; c < 3; c++) e[c] = r->x[j][c] - r->x[i][c], d2 += e[c] * e[c];
  double d = sqrt(d2);
  for (int c = 0; c < 3; c++) e[c] = d > 0.0 ? e[c] / d : 0.0;
  return d;
}

/* ---- neighbours: where they are at the start of a step and where they are headed, to 1.2 h ----
 */

#define PRINTED_REACH 1.2
static unsigned cell(const double x[3], int a, int b, int c) {
  const int k[3] = {(int)floor(x[0] / PRINTED_REACH) + a, (int)floor(x[1] / PRINTED_REACH) + b,
                    (int)floor(x[2] / PRINTED_REACH) + c};
  return ((unsigned)k[0] * 73856093u ^ (unsigned)k[1] * 19349663u ^ (unsigned)k[2] * 83492791u) &
         0x7fffu;
}
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void neighbours(printed *r) {
  int n = 0;
  memset(r->cell, 0, (1u << 15) * sizeof *r->cell);
  for (int i = 0; i < r->n; i++) {
    const unsigned at = cell(r->x[i], 0, 0, 0);
    r->next[i] = r->cell[at], r->cell[at] = i + 1;
  }
  for (int i = 0; i < r->n; i++) {
    unsigned seen[27];
    int cells = 0;
    r->first[i] = n;
    for (int k = 0; k < 27; k++) {
      const unsigned at = cell(r->x[i], k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      int known = 0;
      for (int m = 0; m < cells; m++) known |= seen[m] == at;
      if (known) continue;
      seen[cells++] = at;
      for (int j = r->cell[at]; j; j = r->next[j - 1]) {
        double d2 = 0.0;
        for (int c = 0; c < 3; c++)
          d2 += (r->x[i][c] - r->x[j - 1][c]) * (r->x[i][c] - r->x[j - 1][c]);
        if (j - 1 != i && d2 < PRINTED_REACH * PRINTED_REACH && n < r->room) r->list[n++] = j - 1;
      }
    }
    qsort(r->list + r->first[i], (size_t)(n - r->first[i]), sizeof *r->list, ascending);
  }
  r->first[r->n] = n;
}
#define PRINTED_PAIRS(r, i, j)                                 \
  for (int i = 0; i < (r)->n; i++)                             \
    for (int m = (r)->first[i], j; m < (r)->first[i + 1]; m++) \
      if ((j = (r)->list[m]) > i)

/* ---- Algorithm 5: viscosity impulses ---- */
static void viscosity(printed *r) {
  PRINTED_PAIRS(r, i, j) {
    double e[3], q = way(r, i, j, e), u = 0.0;
    if (!(q < 1.0)) continue;
    for (int c = 0; c < 3; c++) u += (r->v[i][c] - r->v[j][c]) * e[c];
    if (!(u > 0.0)) continue;
    double I = r->dt * (1.0 - q) * (r->sigma * u + r->beta * u * u);
    for (int c = 0; c < 3; c++) r->v[i][c] -= 0.5 * I * e[c], r->v[j][c] += 0.5 * I * e[c];
  }
}
/* ---- Algorithms 4 and 3: springs ---- */
static void adjust(printed *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = i + 1; j < r->n; j++) {
      double e[3], q = way(r, i, j, e), *L = &r->L[(size_t)i * (size_t)r->n + (size_t)j];
      if (q < 1.0 && *L == 0.0) *L = 1.0;
      if (*L == 0.0) continue; /* those beyond h yield too, as in the solver */
      double d = r->yield * *L;
      if (q > *L + d)
        *L += r->dt * r->alpha * (q - *L - d);
      else if (q < *L - d)
        *L -= r->dt * r->alpha * (*L - d - q);
      if (*L > 1.0) *L = 0.0;
    }
}
static void springs(printed *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = i + 1; j < r->n; j++) {
      double L = r->L[(size_t)i * (size_t)r->n + (size_t)j], e[3];
      if (L == 0.0) continue;
      double q = way(r, i, j, e), D = r->dt * r->dt * r->k_spring * (1.0 - L) * (L - q);
      for (int c = 0; c < 3; c++) r->x[i][c] -= 0.5 * D * e[c], r->x[j][c] += 0.5 * D * e[c];
    }
}
/* ---- Algorithm 2: double density relaxation ---- */
static void density(printed *r) {
  for (int i = 0; i < r->n; i++) {
    double rho = 0.0, near = 0.0, dx[3] = {0.0, 0.0, 0.0}, e[3];
    for (int m = r->first[i]; m < r->first[i + 1]; m++) {
      double q = way(r, i, r->list[m], e);
      if (q < 1.0) rho += (1.0 - q) * (1.0 - q), near += (1.0 - q) * (1.0 - q) * (1.0 - q);
    }
    double P = r->k * (rho - r->rho0), N = r->k_near * near;
    for (int m = r->first[i]; m < r->first[i + 1]; m++) {
      const int j = r->list[m];
      double q = way(r, i, j, e);
      if (!(q < 1.0)) continue;
      double D = r->dt * r->dt * (P * (1.0 - q) + N * (1.0 - q) * (1.0 - q));
      for (int c = 0; c < 3; c++) r->x[j][c] += 0.5 * D * e[c], dx[c] -= 0.5 * D * e[c];
    }
    for (int c = 0; c < 3; c++) r->x[i][c] += dx[c];
  }
}

/* ---- Algorithm 6 ---- */

/* How far particle i is within the collision surface of the block, and out of which side; not above
 * 0: it is not. */
static double inside(const printed *r, int i, double n[3]) {
  double least = 1e30;
  for (int c = 0; c < 3; c++) {
    const double off = r->x[i][c] - (c == 1 ? r->block.y : 0.0),
                 deep = r->block.half[c] + r->gap - fabs(off);
    if (deep >= least) continue;
    least = deep;
    n[0] = n[1] = n[2] = 0.0;
    n[c] = off < 0.0 ? -1.0 : 1.0;
  }
  return least;
}
/* (9) to (11): the impulse that takes the normal part of the relative velocity away, and a part of
 * the tangential one. Nothing where they part. */
static void impulse(const printed *r, int i, const double n[3], double out[3]) {
  double u[3], normal = 0.0;
  for (int c = 0; c < 3; c++)
    u[c] = (r->x[i][c] - r->before[i][c]) / r->dt - (c == 1 ? r->block.v : 0.0),
    normal += u[c] * n[c];
  for (int c = 0; c < 3; c++)
    out[c] = normal < 0.0 ? normal * n[c] + r->friction * (u[c] - normal * n[c]) : 0.0;
}
static void strike_solids(printed *r) {
  printed_block *b = &r->block;
  if (b->mass > 0.0) {
    const double from = b->y;
    double force = 0.0, n[3], I[3];
    b->v += r->dt * r->gravity;
    b->y = from + r->dt * b->v;
    for (int i = 0; i < r->n; i++) {
      if (!(inside(r, i, n) > 0.0)) continue;
      impulse(r, i, n, I);
      force += I[1];
    }
    b->v += force / b->mass;
    b->y = from + r->dt * b->v;
    if (r->has_floor && b->y < b->half[1]) b->y = b->half[1], b->v = (b->y - from) / r->dt;
    for (int i = 0; i < r->n; i++) {
      if (!(inside(r, i, n) > 0.0)) continue;
      impulse(r, i, n, I);
      for (int c = 0; c < 3; c++) r->x[i][c] -= r->dt * I[c];
      const double deep = inside(r, i, n);
      for (int c = 0; c < 3 && deep > 0.0; c++) r->x[i][c] += deep * n[c];
    }
  }
  for (int i = 0; i < r->n; i++) { /* walls stand still: no way in, wet friction */
    if (r->has_floor && r->x[i][1] < r->gap) {
      r->x[i][1] = r->gap;
      for (int c = 0; c < 3; c += 2)
        r->x[i][c] = r->before[i][c] + (1.0 - r->friction) * (r->x[i][c] - r->before[i][c]);
    }
    for (int c = 0; c < 3 && r->wall > 0.0; c += 2)
      r->x[i][c] = fmax(r->gap - r->wall, fmin(r->wall - r->gap, r->x[i][c]));
  }
}

/* Algorithm 1. */
void printed_step(printed *r) {
  for (int i = 0; i < r->n; i++) r->v[i][1] += r->dt * r->gravity;
  neighbours(r);
  viscosity(r);
  memcpy(r->before, r->x, (size_t)r->n * sizeof *r->x);
  for (int i = 0; i < r->n; i++)
    for (int c = 0; c < 3; c++) r->x[i][c] += r->dt * r->v[i][c];
  if (r->L) {
    adjust(r);
    springs(r);
  }
  density(r);
  strike_solids(r);
  for (int i = 0; i < r->n; i++)
    for (int c = 0; c < 3; c++) r->v[i][c] = (r->x[i][c] - r->before[i][c]) / r->dt;
}
