/* Axes of a symmetric matrix. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_SURFACE_EIGEN_H
#define OZ_SURFACE_EIGEN_H

#include <math.h>

/* Cyclic Jacobi on a symmetric 3x3; columns of v are the axes. Six sweeps are far past convergence
 * in float. */
static inline void eigen3(const double m[6], double value[3], double v[3][3]) {
  double a[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};
  static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  int sweep, n, r;
  for (n = 0; n < 3; ++n)
    for (r = 0; r < 3; ++r) v[n][r] = n == r;
  for (sweep = 0; sweep < 6; ++sweep)
    for (n = 0; n < 3; ++n) {
      int p = pairs[n][0], q = pairs[n][1];
      double t, c, s, theta;
      if (fabs(a[p][q]) <= 1e-14 * (fabs(a[p][p]) + fabs(a[q][q]))) continue;
      theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
      t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
      c = 1.0 / sqrt(t * t + 1.0);
      s = t * c;
      for (r = 0; r < 3; ++r) {
        double x = a[r][p], y = a[r][q];
        a[r][p] = c * x - s * y;
        a[r][q] = s * x + c * y;
      }
      for (r = 0; r < 3; ++r) {
        double x = a[p][r], y = a[q][r];
        a[p][r] = c * x - s * y;
        a[q][r] = s * x + c * y;
      }
      for (r = 0; r < 3; ++r) {
        double x = v[r][p], y = v[r][q];
        v[r][p] = c * x - s * y;
        v[r][q] = s * x + c * y;
      }
    }
  for (n = 0; n < 3; ++n) value[n] = a[n][n];
}

#endif
