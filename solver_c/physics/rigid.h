/* Rigid motion in double precision: place, rotation and inertia of one body, from sums over its
 * particles. Plain doubles: there are few bodies, and a body of a million particles must not lose
 * its angular momentum to rounding. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_RIGID_H
#define OZ_PHYSICS_RIGID_H

#include "physics/frame.h"
#include "physics/lanes.h"
#include "physics/search.h"

OZ_FN double oz_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

OZ_FN void oz_cross3(const double a[3], const double b[3], double out[3]) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
         z = a[0] * b[1] - a[1] * b[0];
  out[0] = x, out[1] = y, out[2] = z;
}

/* v rotated by the unit quaternion q (x y z w), as oz_turn. */
OZ_FN void oz_turn3(const double q[4], const double v[3], double out[3]) {
  double t[3], u[3];
  oz_cross3(q, v, t);
  for (int k = 0; k < 3; k++) t[k] *= 2.0;
  oz_cross3(q, t, u);
  for (int k = 0; k < 3; k++) out[k] = v[k] + q[3] * t[k] + u[k];
}

OZ_FN void oz_unturn3(const double q[4], const double v[3], double out[3]) {
  double c[4] = {-q[0], -q[1], -q[2], q[3]};
  oz_turn3(c, v, out);
}

OZ_FN void oz_quat_mul(const double a[4], const double b[4], double out[4]) {
  double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

/* The quaternion of a rotation by |r| about r, and back. */
OZ_FN void oz_quat_exp(const double r[3], double q[4]) {
  double angle = sqrt(oz_dot3(r, r)), k = angle > 1e-9 ? sin(0.5 * angle) / angle : 0.5;
  for (int c = 0; c < 3; c++) q[c] = k * r[c];
  q[3] = cos(0.5 * angle);
}

OZ_FN void oz_quat_log(const double q[4], double r[3]) {
  double s = sqrt(oz_dot3(q, q)), sign = q[3] < 0.0 ? -1.0 : 1.0;
  double k = s > 1e-12 ? 2.0 * atan2(s, sign * q[3]) / s : 2.0;
  for (int c = 0; c < 3; c++) r[c] = sign * k * q[c];
}

/* Symmetric 3x3: xx yy zz xy xz yz. */
OZ_FN void oz_sym_v(const double s[6], const double v[3], double out[3]) {
  double x = s[0] * v[0] + s[3] * v[1] + s[4] * v[2], y = s[3] * v[0] + s[1] * v[1] + s[5] * v[2];
  double z = s[4] * v[0] + s[5] * v[1] + s[2] * v[2];
  out[0] = x, out[1] = y, out[2] = z;
}

/* A body with all its mass on an axis does not turn about it: the inverse is 0 where the matrix is
 * singular. */
OZ_FN void oz_sym_inverse(const double s[6], double r[6]) {
  r[0] = s[1] * s[2] - s[5] * s[5];
  r[1] = s[0] * s[2] - s[4] * s[4];
  r[2] = s[0] * s[1] - s[3] * s[3];
  r[3] = s[4] * s[5] - s[3] * s[2];
  r[4] = s[3] * s[5] - s[4] * s[1];
  r[5] = s[3] * s[4] - s[5] * s[0];
  double det = s[0] * r[0] + s[3] * r[3] + s[4] * r[4], t = s[0] + s[1] + s[2];
  double k = det > 1e-12 * t * t * t ? 1.0 / det : 0.0;
  for (int c = 0; c < 6; c++) r[c] *= k;
}

/* The rotation (unit quaternion) that best maps the reference a onto the points x: S = sum m x a^T,
 * row major. Horn's closed form (1987): the eigenvector of the largest eigenvalue of a symmetric
 * 4x4, here by Jacobi rotations. It needs no start value, so that a body's rotation follows from
 * its particles alone. */
OZ_FN void oz_horn(const double S[9], double q[4]) {
  /* a[r][c], r <= c, order w x y z */
  double a[4][4], v[4][4], size = 0.0;
  a[0][0] = S[0] + S[4] + S[8];
  a[0][1] = S[7] - S[5], a[0][2] = S[2] - S[6], a[0][3] = S[3] - S[1];
  a[1][1] = S[0] - S[4] - S[8], a[2][2] = S[4] - S[0] - S[8], a[3][3] = S[8] - S[0] - S[4];
  a[1][2] = S[1] + S[3], a[1][3] = S[2] + S[6], a[2][3] = S[5] + S[7];
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) {
      v[r][c] = r == c ? 1.0 : 0.0;
      if (c < r) a[r][c] = a[c][r];
    }
  for (int k = 0; k < 9; k++) size += S[k] * S[k];
  for (int sweep = 0; sweep < 12; sweep++) {
    double off = 0.0;
    for (int r = 0; r < 3; r++)
      for (int c = r + 1; c < 4; c++) off += a[r][c] * a[r][c];
    if (!(off > 1e-30 * size)) break;
    for (int r = 0; r < 3; r++)
      for (int c = r + 1; c < 4; c++) {
        double b = a[r][c];
        if (!(b * b > 1e-40 * size)) continue;
        double theta = (a[c][c] - a[r][r]) / (2.0 * b),
               t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
        if (theta < 0.0) t = -t;
        double co = 1.0 / sqrt(t * t + 1.0), si = t * co;
        for (int k = 0; k < 4; k++) {
          double x = a[k][r], y = a[k][c];
          a[k][r] = co * x - si * y, a[k][c] = si * x + co * y;
        }
        for (int k = 0; k < 4; k++) {
          double x = a[r][k], y = a[c][k];
          a[r][k] = co * x - si * y, a[c][k] = si * x + co * y;
        }
        for (int k = 0; k < 4; k++) {
          double x = v[k][r], y = v[k][c];
          v[k][r] = co * x - si * y, v[k][c] = si * x + co * y;
        }
      }
  }
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (a[k][k] > a[best][best]) best = k;
  double n = 0.0;
  for (int k = 0; k < 4; k++) n += v[k][best] * v[k][best];
  n = (v[0][best] < 0.0 ? -1.0 : 1.0) / sqrt(n);
  for (int k = 0; k < 3; k++) q[k] = n * v[k + 1][best];
  q[3] = n * v[0][best];
}

/* ---- A body from its particles ---- */

/* Sums over the particles of a body: mass, m x, m rest, m u, m x u^T's cross product, m x x^T, m x
 * rest^T. */
enum {
  OZ_BODY_MASS = 0,
  OZ_BODY_X = 1,
  OZ_BODY_REST = 4,
  OZ_BODY_U = 7,
  OZ_BODY_TURN = 10,
  OZ_BODY_XX = 13,
  OZ_BODY_XR = 19,
  OZ_BODY_SUMS = 28
};

OZ_FN void oz_body_add(double *acc, double m, const float xf[3], const float uf[3],
                       const double rest[3]) {
  double x[3] = {(double)xf[0], (double)xf[1], (double)xf[2]},
         u[3] = {(double)uf[0], (double)uf[1], (double)uf[2]}, t[3];
  oz_cross3(x, u, t);
  acc[OZ_BODY_MASS] += m;
  for (int k = 0; k < 3; k++) {
    acc[OZ_BODY_X + k] += m * x[k];
    acc[OZ_BODY_REST + k] += m * rest[k];
    acc[OZ_BODY_U + k] += m * u[k];
    acc[OZ_BODY_TURN + k] += m * t[k];
    acc[OZ_BODY_XX + k] += m * x[k] * x[k];
    for (int c = 0; c < 3; c++) acc[OZ_BODY_XR + 3 * k + c] += m * x[k] * rest[c];
  }
  acc[OZ_BODY_XX + 3] += m * x[0] * x[1];
  acc[OZ_BODY_XX + 4] += m * x[0] * x[2];
  acc[OZ_BODY_XX + 5] += m * x[1] * x[2];
}

/* Centre, rotation, inertia and motion from those sums. Returns 0 without mass or with a non-finite
 * sum. */
OZ_FN int oz_body_solve(const double *acc, oz_body_state *b) {
  const double m = acc[OZ_BODY_MASS], inv = 1.0 / (m > 0.0 ? m : 1.0);
  double xx[6], S[9], t[3], sum = 0.0;
  b->mass = m;
  for (int k = 0; k < OZ_BODY_SUMS; k++) sum += fabs(acc[k]);
  if (!(m > 0.0) || !(sum < 1e100)) return 0;
  for (int k = 0; k < 3; k++)
    b->c0[k] = acc[OZ_BODY_X + k] * inv, b->rest_centre[k] = acc[OZ_BODY_REST + k] * inv,
    b->v[k] = acc[OZ_BODY_U + k] * inv;
  const double *c = b->c0;
  for (int k = 0; k < 3; k++) xx[k] = acc[OZ_BODY_XX + k] - m * c[k] * c[k];
  xx[3] = acc[OZ_BODY_XX + 3] - m * c[0] * c[1];
  xx[4] = acc[OZ_BODY_XX + 4] - m * c[0] * c[2];
  xx[5] = acc[OZ_BODY_XX + 5] - m * c[1] * c[2];
  b->inertia[0] = xx[1] + xx[2], b->inertia[1] = xx[0] + xx[2], b->inertia[2] = xx[0] + xx[1];
  for (int k = 3; k < 6; k++) b->inertia[k] = -xx[k];
  oz_sym_inverse(b->inertia, b->inverse);
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 3; a++)
      S[3 * k + a] = acc[OZ_BODY_XR + 3 * k + a] - m * c[k] * b->rest_centre[a];
  oz_horn(S, b->q0);
  oz_cross3(c, b->v, t);
  /* angular momentum about the centre */
  for (int k = 0; k < 3; k++) t[k] = acc[OZ_BODY_TURN + k] - m * t[k];
  oz_sym_v(b->inverse, t, b->w);
  for (int k = 0; k < 3; k++) b->c[k] = b->c0[k];
  for (int k = 0; k < 4; k++) b->q[k] = b->q0[k];
  return 1;
}

/* I^-1 L for a body rotated by `by` (a unit quaternion) since its inertia was computed. */
OZ_FN void oz_body_spin(const oz_body_state *b, const double by[4], const double L[3],
                        double w[3]) {
  double t[3];
  oz_unturn3(by, L, t);
  oz_sym_v(b->inverse, t, t);
  oz_turn3(by, t, w);
}

/* The rotation since the start of the substep. */
OZ_FN void oz_body_turned(const oz_body_state *b, double by[4]) {
  double back[4] = {-b->q0[0], -b->q0[1], -b->q0[2], b->q0[3]};
  oz_quat_mul(b->q, back, by);
}

OZ_FN uint32_t oz_owner_kind(uint32_t owner) { return owner >> OZ_OWNER_SHIFT; }

/* Index of the body with this handle, or -1; bodies are in ascending order. */
OZ_FN int64_t oz_body_index(const oz_frame *f, uint32_t owner) {
  const uint32_t handle = owner & OZ_OWNER_HANDLE;
  uint32_t lo = 0, hi = f->body_count;
  OZ_LOWER_BOUND(lo, hi, mid, f->body[mid].handle < handle)
  return lo < f->body_count && f->body[lo].handle == handle ? (int64_t)lo : -1;
}

#endif
