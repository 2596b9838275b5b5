/* Particles by formula, for the surface and picture tests. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_SURFACE_SCENES_H
#define OZ_TESTS_SURFACE_SCENES_H

#include "check.h"
#include "ooze/ooze_surface.h"

#define UNUSED_OK __attribute__((unused))

static uint32_t scene_seed;
static UNUSED_OK float scene_noise(void) { /* -0.5 to 0.5 */
  scene_seed = scene_seed * 1664525u + 1013904223u;
  return (float)(scene_seed >> 8) / 16777216.0f - 0.5f;
}

/* n x n x n particles one separation apart, from the origin, each off its place by up to jitter/2
 * separations. */
static UNUSED_OK float *lattice(uint32_t n, float separation, float jitter) {
  float *x = (float *)malloc((size_t)n * n * n * 3 * sizeof *x);
  uint32_t i;
  scene_seed = 1;
  for (i = 0; i < n * n * n; ++i) {
    x[3 * i] = separation * ((float)(i % n) + jitter * scene_noise());
    x[3 * i + 1] = separation * ((float)(i / n % n) + jitter * scene_noise());
    x[3 * i + 2] = separation * ((float)(i / n / n) + jitter * scene_noise());
  }
  return x;
}

static UNUSED_OK ooze_surface *build(const ooze_surface_desc *d, const float *x, uint32_t count) {
  ooze_surface_points p;
  ooze_surface *s = NULL;
  ooze_message why = {""};
  ooze_result r;
  ooze_surface_points_default(&p);
  p.count = count;
  p.positions = x;
  r = ooze_surface_build(d, &p, &s, &why);
  CHECK(r == OOZE_OK, "%d %s", r, why.text);
  return s;
}

/* How far from p along the unit vector d the surface lies; p is inside. Steps are a tenth of the
 * separation. */
static UNUSED_OK float distance_along(const ooze_surface *s, const float p[3], const float d[3],
                                      float step) {
  float t, last = -1.0f;
  for (t = 0.0f; t < 10000.0f * step; t += step) {
    float q[3] = {p[0] + d[0] * t, p[1] + d[1] * t, p[2] + d[2] * t}, f;
    ooze_surface_sample(s, q, 1, &f);
    if (f > 0.0f) return t - step * f / (f - last);
    last = f;
  }
  return -1.0f;
}

static UNUSED_OK double mesh_volume(const ooze_mesh *m) {
  double sum = 0.0;
  for (uint64_t t = 0; t < m->triangle_count; ++t) {
    const float *a = m->positions + 3 * (size_t)m->triangles[3 * t],
                *b = m->positions + 3 * (size_t)m->triangles[3 * t + 1],
                *c = m->positions + 3 * (size_t)m->triangles[3 * t + 2];
    for (int k = 0; k < 3; ++k)
      sum += (double)a[k] * ((double)b[(k + 1) % 3] * (double)c[(k + 2) % 3] -
                             (double)b[(k + 2) % 3] * (double)c[(k + 1) % 3]);
  }
  return sum / 6.0;
}

/* A unit cube scaled by h, as 12 triangles wound outwards; leaves out the top two if open. */
static UNUSED_OK uint32_t box_mesh(float h, int open, float points[24], uint32_t triangles[36]) {
  static const uint32_t t[36] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3, 2, 3, 7, 2, 7, 6};
  uint32_t i, n = open ? 10 : 12;
  for (i = 0; i < 8; ++i) { /* bit 2 is x, bit 1 is y, bit 0 is z */
    points[3 * i] = i & 4 ? h : -h;
    points[3 * i + 1] = i & 2 ? h : -h;
    points[3 * i + 2] = i & 1 ? h : -h;
  }
  memcpy(triangles, t, n * 3 * sizeof *t);
  return n;
}
#endif
