/* Points on a mesh, about one spacing apart: the boundary particles of a collider.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Triangles are walked in order, each with a low-discrepancy sequence of candidates, many times
 * more than can stay; one stays if none before it is nearer than OZ_APART spacings. So the points
 * are as even on a sliver as on a large face, and the same every time. */
#include "geo_internal.h"

#include <math.h>
#include <stdlib.h>

#define OZ_APART 0.82
#define OZ_TRIES 14.0 /* candidates a square spacing */
enum { MOST = 1 << 24, LEAST_HEADS = 1 << 18 };

typedef struct sampler {
  double cell;
  uint32_t *head, mask; /* by hash of the cell: point + 1 */
  uint32_t *next;
  float (*at)[3];
  ooze_mesh_samples *out;
  size_t room;
} sampler;

static uint32_t hash_of(const sampler *s, int64_t x, int64_t y, int64_t z) {
  uint64_t h = (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15) ^
               (uint64_t)y * UINT64_C(0xc2b2ae3d27d4eb4f) ^
               (uint64_t)z * UINT64_C(0x165667b19e3779f9);
  return (uint32_t)(h >> 32) & s->mask;
}

static int crowded(const sampler *s, const double p[3], double apart) {
  int64_t c[3];
  for (int k = 0; k < 3; k++) c[k] = (int64_t)floor(p[k] / s->cell);
  for (int n = 0; n < 27; n++) {
    uint32_t i = s->head[hash_of(s, c[0] + n / 9 - 1, c[1] + n / 3 % 3 - 1, c[2] + n % 3 - 1)];
    for (; i; i = s->next[i - 1]) {
      double r2 = 0.0;
      for (int k = 0; k < 3; k++)
        r2 += ((double)s->at[i - 1][k] - p[k]) * ((double)s->at[i - 1][k] - p[k]);
      if (r2 < apart * apart) return 1;
    }
  }
  return 0;
}

static int grow(sampler *s) {
  size_t room = s->room ? 2 * s->room : 4096;
  void *a = realloc(s->next, room * sizeof *s->next);
  if (a) s->next = a;
  void *b = realloc(s->at, room * sizeof *s->at);
  if (b) s->at = b;
  void *c = realloc(s->out->triangle, room * sizeof *s->out->triangle);
  if (c) s->out->triangle = c;
  void *d = realloc(s->out->weights, room * 4 * sizeof *s->out->weights);
  if (d) s->out->weights = d;
  if (!a || !b || !c || !d) return 0;
  s->room = room;
  return 1;
}

/* Where a point of a triangle is: weights (3), and an offset along the normal. */
static void place(const float *positions, const uint32_t t[3], const float w[4], double out[3]) {
  double e[2][3], n[3], l = 0.0;
  for (int k = 0; k < 3; k++) {
    const double a = (double)positions[3 * (size_t)t[0] + (size_t)k],
                 b = (double)positions[3 * (size_t)t[1] + (size_t)k],
                 c = (double)positions[3 * (size_t)t[2] + (size_t)k];
    e[0][k] = b - a, e[1][k] = c - a;
    out[k] = (double)w[0] * a + (double)w[1] * b + (double)w[2] * c;
  }
  for (int k = 0; k < 3; k++)
    n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3],
    l += n[k] * n[k];
  l = l > 0.0 ? 1.0 / sqrt(l) : 0.0;
  for (int k = 0; k < 3; k++) out[k] += (double)w[3] * l * n[k];
}

/* Twice the area of a triangle, m^2. */
static double area2(const ooze_mesh *m, uint64_t i) {
  const uint32_t *t = m->triangles + 3 * i;
  double e[2][3], n2 = 0.0;
  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 2; a++)
      e[a][k] = (double)m->positions[3 * (size_t)t[a + 1] + (size_t)k] -
                (double)m->positions[3 * (size_t)t[0] + (size_t)k];
  for (int k = 0; k < 3; k++) {
    double n = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    n2 += n * n;
  }
  return sqrt(n2);
}

static ooze_result sheet(sampler *s, const ooze_mesh *m, double spacing, float offset,
                         ooze_message *why) {
  uint32_t first = s->out->count;
  double carry = 0.5, u = 0.5, v = 0.5;
  memset(s->head, 0, ((size_t)s->mask + 1) * sizeof *s->head);
  for (uint64_t i = 0; i < m->triangle_count; i++) {
    const uint32_t *t = m->triangles + 3 * i;
    carry += 0.5 * area2(m, i) / (spacing * spacing) * OZ_TRIES;
    for (; carry >= 1.0; carry -= 1.0) {
      /* the plastic number's: even in two dimensions */
      u += 0.7548776662466927, v += 0.5698402909980532;
      u -= floor(u), v -= floor(v);
      const double r = sqrt(u);
      const float w[4] = {(float)(1.0 - r), (float)(r * (1.0 - v)), (float)(r * v), offset};
      double p[3];
      place(m->positions, t, w, p);
      if (crowded(s, p, OZ_APART * spacing)) continue;
      if (s->out->count >= MOST)
        return oz_fail(why, OOZE_ERROR_LIMIT, "more than %d points %g m apart on a mesh", MOST,
                       spacing);
      if (s->out->count == s->room && !grow(s))
        return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for points on a mesh");
      const uint32_t at = s->out->count++;
      const uint32_t h = hash_of(s, (int64_t)floor(p[0] / s->cell), (int64_t)floor(p[1] / s->cell),
                                 (int64_t)floor(p[2] / s->cell));
      for (int k = 0; k < 3; k++) s->at[at][k] = (float)p[k];
      s->next[at] = s->head[h];
      s->head[h] = at + 1;
      s->out->triangle[at] = (uint32_t)i;
      memcpy(s->out->weights + 4 * (size_t)at, w, sizeof w);
    }
  }
  if (s->out->count == first && m->triangle_count && offset == 0.0f)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "the mesh has no area");
  return OOZE_OK;
}

ooze_result ooze_mesh_sample(const ooze_mesh *mesh, double spacing, uint32_t layers,
                             ooze_mesh_samples *out, ooze_message *why) {
  if (!mesh || !out || !mesh->positions || !mesh->triangles || !(spacing > 0.0))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "points on a mesh: no mesh, or a spacing of %g m",
                   spacing);
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] >= mesh->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "points on a mesh: a triangle has point %u of %u",
                     (unsigned)mesh->triangles[i], (unsigned)mesh->point_count);
  /* before the first candidate: a single sliver can be kilometres long */
  double area = 0.0;
  for (uint64_t i = 0; i < mesh->triangle_count; i++) area += 0.5 * area2(mesh, i);
  if (!(area / (spacing * spacing) < (double)MOST))
    return oz_fail(
        why, OOZE_ERROR_LIMIT,
        "a mesh of %.3g m^2 needs about %.3g points %g m apart; the limit is %d: expected "
        "a smaller mesh, a \"scale\", or a larger particle separation",
        area, area / (spacing * spacing), spacing, MOST);
  sampler s;
  ooze_result result = OOZE_OK;
  memset(&s, 0, sizeof s);
  ooze_mesh_samples_default(out);
  s.cell = spacing;
  s.mask = LEAST_HEADS - 1;
  while ((double)s.mask < area / (spacing * spacing)) s.mask = 2 * s.mask + 1;
  s.out = out;
  s.head = malloc(((size_t)s.mask + 1) * sizeof *s.head);
  if (!s.head) result = oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for points on a mesh");
  if (layers == 0 && result == OOZE_OK) result = sheet(&s, mesh, spacing, 0.0f, why);
  for (uint32_t k = 0; k < layers && result == OOZE_OK; k++)
    result = sheet(&s, mesh, spacing, (float)(-(k + 0.5) * spacing), why);
  free(s.head);
  free(s.next);
  free(s.at);
  if (result != OOZE_OK) ooze_mesh_samples_release(out);
  return result;
}

void ooze_mesh_samples_release(ooze_mesh_samples *s) {
  if (!s) return;
  free(s->triangle);
  free(s->weights);
  ooze_mesh_samples_default(s);
}

ooze_result ooze_mesh_samples_place(const ooze_mesh_samples *s, const float *positions,
                                    const uint32_t *triangles, float *out) {
  if (!s || !positions || !triangles || (s->count && !out)) return OOZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < s->count; i++) {
    double p[3];
    place(positions, triangles + 3 * (size_t)s->triangle[i], s->weights + 4 * (size_t)i, p);
    for (int k = 0; k < 3; k++) out[3 * (size_t)i + (size_t)k] = (float)p[k];
  }
  return OOZE_OK;
}

ooze_result ooze_mesh_samples_values(const ooze_mesh_samples *s, const float *values,
                                     const uint32_t *triangles, float *out) {
  if (!s || !values || !triangles || (s->count && !out)) return OOZE_ERROR_ARGUMENT;
  for (uint32_t i = 0; i < s->count; i++) {
    const uint32_t *t = triangles + 3 * (size_t)s->triangle[i];
    const float *w = s->weights + 4 * (size_t)i;
    const float a = values[t[0]], b = values[t[1]], c = values[t[2]],
                value = a + w[1] * (b - a) + w[2] * (c - a);
    /* roundings do not lead beyond the corners */
    out[i] = fminf(fmaxf(value, fminf(a, fminf(b, c))), fmaxf(a, fmaxf(b, c)));
  }
  return OOZE_OK;
}
