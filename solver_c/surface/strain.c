/* How fast the fluid around each particle is strained. SPDX-License-Identifier: Apache-2.0
 *
 * The velocity gradient of a particle is the linear field that fits the velocities of its
 * neighbours best, weighted by the density kernel's shape. The fit is exact for linear flow on any
 * arrangement, at a free surface too, where a plain SPH gradient misses half of its neighbours.
 * Only its symmetric part D counts: sqrt(2 D:D) is the rate of a simple shear, and the shear
 * rate that a shear-thinning viscosity is given for. */
#include "level_set.h"

#include <math.h>

typedef struct strain_job {
  const oz_cells *c;
  const float *v; /* 3 a particle, in cell order */
  float radius;
  float *out; /* in input order */
} strain_job;

enum { MOST = 300 }; /* neighbours; 33 are usual, and a heap in one spot may not cost its square */

/* L = B K^-1 for symmetric K. Directions without neighbours (threads, sheets) are held by a
 * thousandth of K's size: there the gradient goes to zero instead of to noise. */
static void fit(const double b[9], const double k[6], double l[9]) {
  double lift = 1e-3 / 3.0 * (k[0] + k[1] + k[2]);
  double xx = k[0] + lift, yy = k[1] + lift, zz = k[2] + lift, xy = k[3], xz = k[4], yz = k[5];
  double a[6] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                 xz * yz - xy * zz, xy * yz - xz * yy, xy * xz - yz * xx};
  double det = xx * a[0] + xy * a[3] + xz * a[4], inv = det > 0.0 ? (1.0 + 1e-3) / det : 0.0;
  const double m[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      l[3 * i + j] = inv * (b[3 * i] * m[j] + b[3 * i + 1] * m[3 + j] + b[3 * i + 2] * m[6 + j]);
}

static void strain_body(void *arg, uint32_t begin, uint32_t end) {
  strain_job *job = (strain_job *)arg;
  const oz_cells *c = job->c;
  float inv = 1.0f / (job->radius * job->radius);
  for (uint32_t i = begin; i < end; ++i) {
    const float *x = c->x + 3 * (size_t)i, *v = job->v + 3 * (size_t)i;
    double b[9] = {0}, k[6] = {0}, l[9], sum = 0.0;
    int at[3], met = 0;
    for (int a = 0; a < 3; ++a) at[a] = oz_floor_int(x[a] / c->cell);
    for (int p = at[0] - 1; p <= at[0] + 1; ++p)
      for (int q = at[1] - 1; q <= at[1] + 1; ++q)
        for (int r = at[2] - 1; r <= at[2] + 1; ++r) {
          uint32_t j, last;
          if (!oz_cells_find(c, p, q, r, &j, &last)) continue;
          for (; j < last && met < MOST; ++j) {
            const float *y = c->x + 3 * (size_t)j, *u = job->v + 3 * (size_t)j;
            float d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            float near = 1.0f - (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * inv;
            if (near <= 0.0f || j == i) continue;
            double w = (double)(near * near);
            ++met;
            for (int a = 0; a < 3; ++a)
              for (int e = 0; e < 3; ++e) b[3 * a + e] += w * (double)(u[a] - v[a]) * (double)d[e];
            k[0] += w * (double)(d[0] * d[0]);
            k[1] += w * (double)(d[1] * d[1]);
            k[2] += w * (double)(d[2] * d[2]);
            k[3] += w * (double)(d[0] * d[1]);
            k[4] += w * (double)(d[0] * d[2]);
            k[5] += w * (double)(d[1] * d[2]);
          }
        }
    fit(b, k, l);
    for (int a = 0; a < 3; ++a)
      for (int e = 0; e < 3; ++e) {
        double d = 0.5 * (l[3 * a + e] + l[3 * e + a]);
        sum += d * d;
      }
    job->out[c->order[i]] = (float)sqrt(2.0 * sum);
  }
}

ooze_result ooze_strain_rate(const ooze_surface_desc *desc, const ooze_surface_points *p,
                             float *out, ooze_message *why) {
  if (!desc || !p || desc->size != sizeof *desc || p->size != sizeof *p || (p->count && !out))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "ooze_strain_rate: fill the structs with their _default()");
  if (!(desc->separation > 0.0f) || !isfinite(desc->separation))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "separation is %g m; expected above 0",
                   (double)desc->separation);
  if (p->count && (!p->positions || !p->velocities))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%u particles without positions or velocities",
                   p->count);
  oz_cells c;
  oz_loop loop;
  strain_job job;
  size_t stride = p->velocity_stride ? p->velocity_stride : 3 * sizeof(float);
  /* also of particles that are nowhere */
  if (p->count) memset(out, 0, (size_t)p->count * sizeof *out);
  job.radius = 2.0f * desc->separation;
  ooze_result r =
      oz_cells_build(&c, job.radius, p->count, p->positions,
                     p->position_stride ? p->position_stride : 3 * sizeof(float), NULL, why);
  if (r) return r;
  float *v = (float *)oz_allocate(c.count, 3 * sizeof *v);
  if (!v) {
    oz_cells_free(&c);
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the strain rate of %u particles",
                   p->count);
  }
  for (uint32_t i = 0; i < c.count; ++i) {
    memcpy(v + 3 * (size_t)i, (const char *)p->velocities + c.order[i] * stride, 3 * sizeof *v);
    for (int a = 0; a < 3; ++a)
      if (!isfinite(v[3 * (size_t)i + (size_t)a])) v[3 * (size_t)i + (size_t)a] = 0.0f;
  }
  job.c = &c;
  job.v = v;
  job.out = out;
  oz_loop_open(&loop, desc->hooks, desc->threads);
  oz_loop_run(&loop, c.count, strain_body, &job);
  oz_loop_close(&loop);
  oz_release(v);
  oz_cells_free(&c);
  return OOZE_OK;
}
