/* Algorithm 1 of Clavet et al. 2005 as printed: one pair after the other, each from where the last left it. Plain, slow
 * and in double precision; what the solver's gathered form is compared with. Lengths in h, time in T.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_SPRINGS_REFERENCE_H
#define OZ_TESTS_SPRINGS_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reference {
  int n;
  double (*x)[3], (*v)[3], (*before)[3];
  double *L; /* n * n, rest lengths; 0: no spring */
  double dt, gravity, rho0, k, k_near, k_spring, alpha, yield, sigma, beta;
  double floor_gap; /* height of the floor's collision surface; below -1e9: none */
  double friction;
  int springs;
} reference;

static inline double ref_way(const reference *r, int i, int j, double e[3]) {
  double d2 = 0.0;
  for (int c = 0; c < 3; c++) e[c] = r->x[j][c] - r->x[i][c], d2 += e[c] * e[c];
  double d = sqrt(d2);
  for (int c = 0; c < 3; c++) e[c] = d > 0.0 ? e[c] / d : 0.0;
  return d;
}

static inline void ref_viscosity(reference *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = i + 1; j < r->n; j++) {
      double e[3], q = ref_way(r, i, j, e), u = 0.0;
      if (!(q < 1.0)) continue;
      for (int c = 0; c < 3; c++) u += (r->v[i][c] - r->v[j][c]) * e[c];
      if (!(u > 0.0)) continue;
      double I = r->dt * (1.0 - q) * (r->sigma * u + r->beta * u * u);
      for (int c = 0; c < 3; c++) r->v[i][c] -= 0.5 * I * e[c], r->v[j][c] += 0.5 * I * e[c];
    }
}
static inline void ref_adjust(reference *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = i + 1; j < r->n; j++) {
      double e[3], q = ref_way(r, i, j, e), *L = &r->L[(size_t)i * (size_t)r->n + (size_t)j];
      if (q < 1.0 && *L == 0.0) *L = 1.0;
      if (*L == 0.0) continue; /* those beyond h yield too, as in the solver */
      double d = r->yield * *L;
      if (q > *L + d) *L += r->dt * r->alpha * (q - *L - d);
      else if (q < *L - d) *L -= r->dt * r->alpha * (*L - d - q);
      if (*L > 1.0) *L = 0.0;
    }
}
static inline void ref_springs(reference *r) {
  for (int i = 0; i < r->n; i++)
    for (int j = i + 1; j < r->n; j++) {
      double L = r->L[(size_t)i * (size_t)r->n + (size_t)j], e[3];
      if (L == 0.0) continue;
      double q = ref_way(r, i, j, e), D = r->dt * r->dt * r->k_spring * (1.0 - L) * (L - q);
      for (int c = 0; c < 3; c++) r->x[i][c] -= 0.5 * D * e[c], r->x[j][c] += 0.5 * D * e[c];
    }
}
static inline void ref_density(reference *r) {
  for (int i = 0; i < r->n; i++) {
    double rho = 0.0, near = 0.0, dx[3] = {0.0, 0.0, 0.0}, e[3];
    for (int j = 0; j < r->n; j++) {
      if (j == i) continue;
      double q = ref_way(r, i, j, e);
      if (q < 1.0) rho += (1.0 - q) * (1.0 - q), near += (1.0 - q) * (1.0 - q) * (1.0 - q);
    }
    double P = r->k * (rho - r->rho0), N = r->k_near * near;
    for (int j = 0; j < r->n; j++) {
      if (j == i) continue;
      double q = ref_way(r, i, j, e);
      if (!(q < 1.0)) continue;
      double D = r->dt * r->dt * (P * (1.0 - q) + N * (1.0 - q) * (1.0 - q));
      for (int c = 0; c < 3; c++) r->x[j][c] += 0.5 * D * e[c], dx[c] -= 0.5 * D * e[c];
    }
    for (int c = 0; c < 3; c++) r->x[i][c] += dx[c];
  }
}
static inline void ref_step(reference *r) {
  for (int i = 0; i < r->n; i++) r->v[i][1] += r->dt * r->gravity;
  ref_viscosity(r);
  memcpy(r->before, r->x, (size_t)r->n * sizeof *r->x);
  for (int i = 0; i < r->n; i++)
    for (int c = 0; c < 3; c++) r->x[i][c] += r->dt * r->v[i][c];
  if (r->springs) {
    ref_adjust(r);
    ref_springs(r);
  }
  ref_density(r);
  for (int i = 0; i < r->n; i++) {
    if (r->x[i][1] < r->floor_gap) { /* Algorithm 6 against a floor that stands still: no way in, wet friction (11) */
      r->x[i][1] = r->floor_gap;
      for (int c = 0; c < 3; c += 2) r->x[i][c] = r->before[i][c] + (1.0 - r->friction) * (r->x[i][c] - r->before[i][c]);
    }
    for (int c = 0; c < 3; c++) r->v[i][c] = (r->x[i][c] - r->before[i][c]) / r->dt;
  }
}
#endif
