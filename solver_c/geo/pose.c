/* Poses: turning, moving, and the one that fits two sets of points best. SPDX-License-Identifier:
 * Apache-2.0 */
#include "geo_internal.h"
#include "ooze/ooze_surface.h"

#include <math.h>

static const double DEGREE = 0.017453292519943295;

/* About x, then y, then z, as Houdini's default order. */
void oz_pose_rotate(const float degrees[3], float q[4]) {
  double h[3], s[3], c[3];
  for (int k = 0; k < 3; k++) {
    h[k] = 0.5 * DEGREE * (double)degrees[k];
    s[k] = sin(h[k]);
    c[k] = cos(h[k]);
  }
  /* qz * qy * qx */
  q[0] = (float)(s[0] * c[1] * c[2] - c[0] * s[1] * s[2]);
  q[1] = (float)(c[0] * s[1] * c[2] + s[0] * c[1] * s[2]);
  q[2] = (float)(c[0] * c[1] * s[2] - s[0] * s[1] * c[2]);
  q[3] = (float)(c[0] * c[1] * c[2] + s[0] * s[1] * s[2]);
}

/* v + 2 w (u x v) + 2 u x (u x v) with a quaternion of any length. */
static void turn(const double q[4], const double v[3], double out[3]) {
  double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = n > 0.0 ? 2.0 / n : 0.0;
  double t[3] = {q[1] * v[2] - q[2] * v[1], q[2] * v[0] - q[0] * v[2], q[0] * v[1] - q[1] * v[0]};
  double u[3] = {q[1] * t[2] - q[2] * t[1], q[2] * t[0] - q[0] * t[2], q[0] * t[1] - q[1] * t[0]};
  for (int k = 0; k < 3; k++) out[k] = v[k] + s * (q[3] * t[k] + u[k]);
}

void oz_pose_apply(const ooze_pose *pose, const double in[3], double out[3]) {
  double q[4] = {(double)pose->rotation[0], (double)pose->rotation[1], (double)pose->rotation[2],
                 (double)pose->rotation[3]},
         v[3];
  turn(q, in, v);
  for (int k = 0; k < 3; k++) out[k] = v[k] + (double)pose->position[k];
}

void oz_pose_unapply(const ooze_pose *pose, const double in[3], double out[3]) {
  double q[4] = {-(double)pose->rotation[0], -(double)pose->rotation[1], -(double)pose->rotation[2],
                 (double)pose->rotation[3]},
         v[3];
  for (int k = 0; k < 3; k++) v[k] = in[k] - (double)pose->position[k];
  turn(q, v, out);
}

void ooze_pose_at(const ooze_pose *pose, const float at[3], ooze_pose *out) {
  const double in[3] = {(double)at[0], (double)at[1], (double)at[2]};
  double to[3];
  oz_pose_apply(pose, in, to);
  *out = *pose;
  for (int k = 0; k < 3; k++) out->position[k] = (float)to[k];
}

void ooze_points_carry(float *points, uint32_t count, const float about[3], const float velocity[3],
                       const float spin[3], double time) {
  double w[3] = {(double)spin[0], (double)spin[1], (double)spin[2]},
         rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double half = 0.5 * rate * time, s = rate > 0.0 ? sin(half) / rate : 0.0,
         q[4] = {s * w[0], s * w[1], s * w[2], cos(half)};
  for (size_t i = 0; i < count; i++) {
    double from[3], to[3];
    for (int k = 0; k < 3; k++) from[k] = (double)points[3 * i + (size_t)k] - (double)about[k];
    turn(q, from, to);
    for (int k = 0; k < 3; k++)
      points[3 * i + (size_t)k] = (float)((double)about[k] + to[k] + time * (double)velocity[k]);
  }
}

/* torque + (place - other) x force */
void ooze_torque_about(const float force[3], const float torque[3], const float place[3],
                       const float other[3], float out[3]) {
  double arm[3], moved[3];
  for (int k = 0; k < 3; k++) arm[k] = (double)place[k] - (double)other[k];
  for (int k = 0; k < 3; k++) {
    const int u = (k + 1) % 3, v = (k + 2) % 3;
    moved[k] = (double)torque[k] + arm[u] * (double)force[v] - arm[v] * (double)force[u];
  }
  for (int k = 0; k < 3; k++) out[k] = (float)moved[k];
}

void ooze_pose_aim(const float direction[3], ooze_pose *pose) {
  double d[3], length = 0.0;
  for (int k = 0; k < 3; k++) d[k] = (double)direction[k], length += d[k] * d[k];
  length = sqrt(length);
  pose->rotation[0] = pose->rotation[1] = pose->rotation[2] = 0.0f;
  pose->rotation[3] = 1.0f;
  if (!(length > 0.0) || !isfinite(length)) return;
  /* half way between (0 -1 0) and d: w = 1 + cos, axis = (0 -1 0) x d */
  double q[4] = {-d[2] / length, 0.0, d[0] / length, 1.0 - d[1] / length};
  double n = sqrt(q[0] * q[0] + q[2] * q[2] + q[3] * q[3]);
  if (n < 1e-6) { /* straight up: about x */
    pose->rotation[0] = 1.0f;
    pose->rotation[3] = 0.0f;
    return;
  }
  for (int k = 0; k < 4; k++) pose->rotation[k] = (float)(q[k] / n);
}

/* ---- Fitting ----------------------------------------------------------------------------- */

/* Cyclic Jacobi on a symmetric 4x4: rotations until nothing is left off the diagonal. v:
 * eigenvectors in columns. */
static void eigen4(double a[4][4], double v[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) v[i][j] = i == j;
  for (int sweep = 0; sweep < 32; sweep++) {
    double off = 0.0;
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) off += a[i][j] * a[i][j];
    if (!(off > 1e-300)) return;
    for (int p = 0; p < 4; p++)
      for (int q = p + 1; q < 4; q++) {
        if (a[p][q] == 0.0) continue;
        double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 4; k++) {
          double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y;
          a[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 4; k++) {
          double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y;
          a[q][k] = s * x + c * y;
          x = v[k][p], y = v[k][q];
          v[k][p] = c * x - s * y;
          v[k][q] = s * x + c * y;
        }
      }
  }
}

/* Horn 1987: the rotation that fits best is the eigenvector of the largest eigenvalue of a 4x4 made
 * of the covariance.
 */
ooze_result ooze_pose_fit(const float *from, const float *to, uint32_t count, ooze_pose *out,
                          float *out_error, ooze_message *why) {
  double a[3] = {0, 0, 0}, b[3] = {0, 0, 0}, s[3][3] = {{0}}, n[4][4], v[4][4], worst = 0.0;
  if (!from || !to || !out || count == 0)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "ooze_pose_fit: a pointer is NULL or there is no point");
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      a[k] += (double)from[3 * (size_t)i + k], b[k] += (double)to[3 * (size_t)i + k];
  for (int k = 0; k < 3; k++) a[k] /= count, b[k] /= count;
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++)
        s[k][l] +=
            ((double)from[3 * (size_t)i + k] - a[k]) * ((double)to[3 * (size_t)i + l] - b[l]);
  for (int k = 0; k < 3; k++)
    if (!isfinite(a[k]) || !isfinite(b[k]) || !isfinite(s[k][0] + s[k][1] + s[k][2]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_pose_fit: a point is not finite");
  /* w first, as in the paper */
  n[0][0] = s[0][0] + s[1][1] + s[2][2];
  n[1][1] = s[0][0] - s[1][1] - s[2][2];
  n[2][2] = s[1][1] - s[0][0] - s[2][2];
  n[3][3] = s[2][2] - s[0][0] - s[1][1];
  n[0][1] = n[1][0] = s[1][2] - s[2][1];
  n[0][2] = n[2][0] = s[2][0] - s[0][2];
  n[0][3] = n[3][0] = s[0][1] - s[1][0];
  n[1][2] = n[2][1] = s[0][1] + s[1][0];
  n[1][3] = n[3][1] = s[2][0] + s[0][2];
  n[2][3] = n[3][2] = s[1][2] + s[2][1];
  double scale = fabs(n[0][0]) + fabs(n[1][1]) + fabs(n[2][2]) + fabs(n[3][3]);
  ooze_pose_default(out);
  if (scale > 0.0) {
    int best = 0;
    eigen4(n, v);
    for (int k = 1; k < 4; k++)
      if (n[k][k] > n[best][best]) best = k;
    double sign =
        /* of q and -q the one with w of 0 or more, so that poses follow each other */
        v[0][best] < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) out->rotation[k] = (float)(sign * v[k + 1][best]);
    out->rotation[3] = (float)(sign * v[0][best]);
  }
  double middle[3];
  oz_pose_apply(out, a, middle); /* position is still 0 */
  for (int k = 0; k < 3; k++) out->position[k] = (float)(b[k] - middle[k]);
  for (uint32_t i = 0; i < count; i++) {
    double x[3], y[3], r2 = 0.0;
    for (int k = 0; k < 3; k++) x[k] = (double)from[3 * (size_t)i + k];
    oz_pose_apply(out, x, y);
    for (int k = 0; k < 3; k++) y[k] -= (double)to[3 * (size_t)i + k], r2 += y[k] * y[k];
    if (r2 > worst) worst = r2;
  }
  if (out_error) *out_error = (float)sqrt(worst);
  return OOZE_OK;
}
