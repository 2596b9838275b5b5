/* SPDX-License-Identifier: Apache-2.0 */
#include "core/poses.h"

#include <math.h>

static void unit4(double q[4]) {
  double l = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; k++) q[k] /= l;
}

void oz_pose_unit(ooze_pose *pose) {
  double q[4], l2 = 0.0;
  for (int k = 0; k < 4; k++) q[k] = (double)pose->rotation[k], l2 += q[k] * q[k];
  /* as near as floats come: a saved pose must come back as it was */
  if (fabs(l2 - 1.0) < 1e-6) return;
  unit4(q);
  for (int k = 0; k < 4; k++) pose->rotation[k] = (float)q[k];
}

void oz_pose_between(const ooze_pose *a, const ooze_pose *b, double f, ooze_pose *out) {
  if (f <= 0.0 || memcmp(a, b, sizeof *a) == 0) {
    *out = *a;
    return;
  }
  if (f >= 1.0) {
    *out = *b;
    return;
  }
  double q[4], dot = 0.0;
  for (int k = 0; k < 3; k++) {
    double from = (double)a->position[k];
    out->position[k] = (float)(from + f * ((double)b->position[k] - from));
  }
  for (int k = 0; k < 4; k++) dot += (double)a->rotation[k] * (double)b->rotation[k];
  /* q and -q turn the same: take the shorter arc */
  double side = dot < 0.0 ? -1.0 : 1.0, wa = 1.0 - f, wb = f;
  dot *= side;
  if (dot < 0.9999) { /* at an even pace; nearer together a straight line is as good */
    double angle = acos(dot), s = sin(angle);
    wa = sin((1.0 - f) * angle) / s;
    wb = sin(f * angle) / s;
  }
  for (int k = 0; k < 4; k++)
    q[k] = wa * (double)a->rotation[k] + side * wb * (double)b->rotation[k];
  unit4(q);
  for (int k = 0; k < 4; k++) out->rotation[k] = (float)q[k];
}
