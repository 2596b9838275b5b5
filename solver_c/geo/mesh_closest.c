/* The place on a mesh that is closest to a point, for values that pass from a surface to points
 * near it. SPDX-License-Identifier: Apache-2.0
 *
 * A tree of boxes over the triangles, halved at the median of the longest axis; a search takes the
 * nearer box first and leaves out those that are further than the best so far. */
#include "geo_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LEAF = 4, DEPTH = 64 };

typedef struct box {
  float low[3], high[3];
  uint32_t first, count; /* triangles of a leaf; count 0: first is the left child, right follows */
} box;

typedef struct tree {
  const ooze_mesh *mesh;
  uint32_t *order; /* triangles */
  float *middle;   /* 3 a triangle */
  box *boxes;
  uint32_t used;
} tree;

static const float *corner(const ooze_mesh *m, uint32_t triangle, int c) {
  return m->positions + 3 * (size_t)m->triangles[3 * (size_t)triangle + (size_t)c];
}

static void bound(const tree *t, box *b, uint32_t first, uint32_t count) {
  for (int k = 0; k < 3; k++) b->low[k] = FLT_MAX, b->high[k] = -FLT_MAX;
  for (uint32_t i = 0; i < count; i++)
    for (int c = 0; c < 3; c++) {
      const float *p = corner(t->mesh, t->order[first + i], c);
      for (int k = 0; k < 3; k++) {
        b->low[k] = fminf(b->low[k], p[k]);
        b->high[k] = fmaxf(b->high[k], p[k]);
      }
    }
}

/* The first `half` triangles of the range are those with the smaller middles along the axis
 * (quickselect; equal middles go by the triangle's number, so that the order is always the same).
 */
static int before(const tree *t, uint32_t a, uint32_t b, int axis) {
  const float x = t->middle[3 * (size_t)a + (size_t)axis],
              y = t->middle[3 * (size_t)b + (size_t)axis];
  return x < y || (x == y && a < b);
}

static void halve(tree *t, uint32_t first, uint32_t count, uint32_t half, int axis) {
  int64_t low = first, high = (int64_t)first + count - 1;
  const int64_t target = (int64_t)first + half;
  while (low < high) {
    const uint32_t pivot = t->order[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (before(t, t->order[i], pivot, axis)) i++;
      while (before(t, pivot, t->order[j], axis)) j--;
      if (i > j) break;
      const uint32_t swap = t->order[i];
      t->order[i++] = t->order[j];
      t->order[j--] = swap;
    }
    if (target <= j)
      high = j;
    else if (target >= i)
      low = i;
    else
      return;
  }
}

static void split(tree *t, uint32_t node, uint32_t first, uint32_t count) {
  box *b = &t->boxes[node];
  bound(t, b, first, count);
  if (count <= LEAF) {
    b->first = first;
    b->count = count;
    return;
  }
  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (b->high[k] - b->low[k] > b->high[axis] - b->low[axis]) axis = k;
  const uint32_t half = count / 2, child = t->used;
  halve(t, first, count, half, axis);
  t->used += 2;
  b->first = child;
  b->count = 0;
  split(t, child, first, half);
  split(t, child + 1, first + half, count - half);
}

static double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Weights of the corners at the closest place of a triangle (Ericson, Real-Time Collision
 * Detection 5.1.5); returns the squared distance. */
static double closest(const ooze_mesh *m, uint32_t triangle, const float point[3], float w[3]) {
  double ab[3], ac[3], ap[3], bp[3], cp[3];
  const float *a = corner(m, triangle, 0), *b = corner(m, triangle, 1), *c = corner(m, triangle, 2);
  for (int k = 0; k < 3; k++) {
    ab[k] = (double)b[k] - (double)a[k];
    ac[k] = (double)c[k] - (double)a[k];
    ap[k] = (double)point[k] - (double)a[k];
    bp[k] = (double)point[k] - (double)b[k];
    cp[k] = (double)point[k] - (double)c[k];
  }
  const double d1 = dot3(ab, ap), d2 = dot3(ac, ap), d3 = dot3(ab, bp), d4 = dot3(ac, bp),
               d5 = dot3(ab, cp), d6 = dot3(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double v = 0.0, u = 0.0; /* of b and c */
  if (d1 <= 0.0 && d2 <= 0.0) {
  } else if (d3 >= 0.0 && d4 <= d3) {
    v = 1.0;
  } else if (d6 >= 0.0 && d5 <= d6) {
    u = 1.0;
  } else if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    v = d1 / (d1 - d3);
  } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    u = d2 / (d2 - d6);
  } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    u = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    v = 1.0 - u;
  } else {
    v = vb / (va + vb + vc);
    u = vc / (va + vb + vc);
  }
  if (!(fabs(v) <= 1.0) || !(fabs(u) <= 1.0)) u = v = 0.0; /* a triangle without area */
  double r2 = 0.0;
  for (int k = 0; k < 3; k++) {
    const double d = ap[k] - v * ab[k] - u * ac[k];
    r2 += d * d;
  }
  w[0] = (float)(1.0 - v - u);
  w[1] = (float)v;
  w[2] = (float)u;
  return r2;
}

static double distance2(const box *b, const float p[3]) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    const double d = (double)fmaxf(0.0f, fmaxf(b->low[k] - p[k], p[k] - b->high[k]));
    sum += d * d;
  }
  return sum;
}

static void search(const tree *t, const float p[3], uint32_t *triangle, float weights[4]) {
  uint32_t stack[DEPTH], top = 0;
  double best = DBL_MAX;
  stack[top++] = 0;
  while (top) {
    const box *b = &t->boxes[stack[--top]];
    if (distance2(b, p) > best) continue;
    for (uint32_t i = 0; i < b->count; i++) {
      float w[3];
      const uint32_t candidate = t->order[b->first + i];
      const double r2 = closest(t->mesh, candidate, p, w);
      /* the triangle of the smaller number where two are as near: the same whatever the tree */
      if (r2 > best || (r2 == best && candidate > *triangle)) continue;
      best = r2;
      *triangle = candidate;
      memcpy(weights, w, sizeof w);
    }
    if (b->count) continue;
    const int left = distance2(&t->boxes[b->first], p) <= distance2(&t->boxes[b->first + 1], p);
    stack[top++] = b->first + (left ? 1 : 0);
    stack[top++] = b->first + (left ? 0 : 1);
  }
}

ooze_result ooze_mesh_closest(const ooze_mesh *mesh, const float *points, uint32_t count,
                              ooze_mesh_samples *out, ooze_message *why) {
  if (!mesh || !out || !mesh->positions || !mesh->triangles || !mesh->triangle_count ||
      (count && !points))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "closest places: a mesh without triangles");
  if (mesh->triangle_count > UINT32_MAX / 4)
    return oz_fail(why, OOZE_ERROR_LIMIT, "closest places: a mesh of %llu triangles",
                   (unsigned long long)mesh->triangle_count);
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] >= mesh->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "closest places: a triangle has point %u of %u",
                     (unsigned)mesh->triangles[i], (unsigned)mesh->point_count);
  const uint32_t n = (uint32_t)mesh->triangle_count;
  tree t = {mesh, malloc(n * sizeof *t.order), malloc(3 * (size_t)n * sizeof *t.middle),
            malloc(2 * (size_t)n * sizeof *t.boxes), 1};
  ooze_mesh_samples_default(out);
  out->triangle = calloc(count ? count : 1, sizeof *out->triangle);
  out->weights = calloc(count ? count : 1, 4 * sizeof *out->weights);
  ooze_result result = OOZE_OK;
  if (!t.order || !t.middle || !t.boxes || !out->triangle || !out->weights) {
    result = oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for closest places on a mesh");
  } else {
    for (uint32_t i = 0; i < n; i++) {
      t.order[i] = i;
      for (int k = 0; k < 3; k++)
        t.middle[3 * (size_t)i + (size_t)k] =
            corner(mesh, i, 0)[k] + corner(mesh, i, 1)[k] + corner(mesh, i, 2)[k];
    }
    split(&t, 0, 0, n);
    out->count = count;
    for (uint32_t i = 0; i < count; i++)
      search(&t, points + 3 * (size_t)i, &out->triangle[i], out->weights + 4 * (size_t)i);
  }
  free(t.order);
  free(t.middle);
  free(t.boxes);
  if (result != OOZE_OK) ooze_mesh_samples_release(out);
  return result;
}
