/* Outlines of nozzles and colliders, for hosts that show where things are. SPDX-License-Identifier:
 * Apache-2.0 */
#include "fill.h"

#include <math.h>

enum { ROUND = 32 }; /* corners of a circle */

typedef struct pen {
  const ooze_pose *pose;
  float *out;
  uint32_t capacity, count;
} pen;

static void line(pen *p, const double a[3], const double b[3]) {
  double ends[2][3];
  if (p->count < p->capacity) {
    oz_pose_apply(p->pose, a, ends[0]);
    oz_pose_apply(p->pose, b, ends[1]);
    for (int k = 0; k < 6; k++)
      p->out[6 * (size_t)p->count + (size_t)k] = (float)ends[k / 3][k % 3];
  }
  p->count++;
}

/* About the middle at y, from one angle to another, with the second axis u or along y. */
static void arc(pen *p, double y, double radius, double from, double to, int upright) {
  const int n = (int)ceil(fabs(to - from) / (2.0 * 3.14159265358979323846) * ROUND - 1e-9);
  double before[3] = {radius * cos(from), y, 0.0};
  before[upright ? 1 : 2] += radius * sin(from);
  for (int i = 1; i <= n; i++) {
    const double a = from + (to - from) * i / n;
    double now[3] = {radius * cos(a), y, 0.0};
    now[upright ? 1 : 2] += radius * sin(a);
    line(p, before, now);
    for (int k = 0; k < 3; k++) before[k] = now[k];
  }
}

static void box(pen *p, const float half[3]) {
  for (int axis = 0; axis < 3; axis++)
    for (int corner = 0; corner < 4; corner++) {
      double a[3], b[3];
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      a[axis] = -(double)half[axis], b[axis] = (double)half[axis];
      a[u] = b[u] = (corner & 1 ? 1.0 : -1.0) * (double)half[u];
      a[v] = b[v] = (corner & 2 ? 1.0 : -1.0) * (double)half[v];
      line(p, a, b);
    }
}

/* A square of that size with a line every eighth. */
static void grid(pen *p, double size) {
  for (int i = 0; i <= 8; i++) {
    const double at = size * (i / 8.0 - 0.5), end = 0.5 * size;
    const double a[3] = {at, 0, -end}, b[3] = {at, 0, end}, c[3] = {-end, 0, at},
                 d[3] = {end, 0, at};
    line(p, a, b);
    line(p, c, d);
  }
}

uint32_t ooze_outline_collider(const ooze_collider_desc *desc, float size, float *out,
                               uint32_t capacity) {
  const double turn = 2.0 * 3.14159265358979323846;
  pen p = {&desc->end, out, out ? capacity : 0, 0};
  const double radius = (double)desc->half[0], half = (double)desc->half[1];
  switch (desc->shape) {
  case OOZE_SHAPE_PLANE:
    grid(&p, (double)size);
    break;
  case OOZE_SHAPE_BOX:
    box(&p, desc->half);
    break;
  case OOZE_SHAPE_SPHERE:
    arc(&p, 0.0, radius, 0.0, turn, 0);
    arc(&p, 0.0, radius, 0.0, turn, 1);
    break;
  case OOZE_SHAPE_CAPSULE:
  case OOZE_SHAPE_CYLINDER:
    for (int end = -1; end <= 1; end += 2) {
      const double a[3] = {end * radius, -half, 0}, b[3] = {end * radius, half, 0};
      arc(&p, end * half, radius, 0.0, turn, 0);
      line(&p, a, b);
      if (desc->shape == OOZE_SHAPE_CAPSULE) arc(&p, end * half, radius, 0.0, end * turn / 2, 1);
    }
    break;
  default: /* bricks: ooze_sdf_mesh */
    break;
  }
  return p.count;
}

uint32_t ooze_outline_emitter(const ooze_emitter_desc *desc, float *out, uint32_t capacity) {
  const double r = (double)desc->radius, turn = 2.0 * 3.14159265358979323846;
  const double reach = desc->active ? 0.1 * (double)desc->speed + r : r; /* a tenth of a second */
  const double mouth[3] = {0, 0, 0}, tip[3] = {0, -reach, 0};
  pen p = {&desc->end, out, out ? capacity : 0, 0};
  arc(&p, 0.0, r, 0.0, turn, 0);
  line(&p, mouth, tip);
  for (int side = 0; side < 4; side++) {
    double barb[3] = {0, -reach + 0.4 * r, 0};
    barb[side & 1 ? 0 : 2] = (side & 2 ? 1 : -1) * 0.25 * r;
    if (desc->active) line(&p, tip, barb);
  }
  return p.count;
}
