/* A tree of boxes over spheres or triangles: items sorted along a Morton curve, then halved. It is
 * built in the time of a sort, and since neighbours on the curve are neighbours in space its boxes
 * are good enough. SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

enum { LEAF = 4 };

void oz_bvh_free(oz_bvh *b) {
  oz_release(b->items);
  oz_release(b->order);
  oz_release(b->nodes);
  memset(b, 0, sizeof *b);
}

static uint64_t spread_bits(uint32_t v) { /* 21 bits, two gaps between each */
  uint64_t x = v & 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffull;
  x = (x | x << 16) & 0x1f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  return (x | x << 2) & 0x1249249249249249ull;
}

static void bounds_of(const oz_bvh *b, uint32_t first, uint32_t end, float lo[3], float hi[3]) {
  uint32_t i, corners = b->radius > 0.0f ? 1 : 3, k;
  int a;
  for (a = 0; a < 3; ++a) {
    lo[a] = 1e30f;
    hi[a] = -1e30f;
  }
  for (i = first; i < end; ++i)
    for (k = 0; k < corners; ++k)
      for (a = 0; a < 3; ++a) {
        float x = b->items[3 * ((size_t)i * corners + k) + (size_t)a];
        lo[a] = fminf(lo[a], x - b->radius);
        hi[a] = fmaxf(hi[a], x + b->radius);
      }
}

static uint32_t split(oz_bvh *b, uint32_t first, uint32_t end) {
  uint32_t at = b->node_count++, right, a;
  oz_bvh_node *n = &b->nodes[at];
  if (end - first <= LEAF) {
    n->first = first;
    n->count = end - first;
    bounds_of(b, first, end, n->lo, n->hi);
    return at;
  }
  split(b, first, first + (end - first) / 2);
  right = split(b, first + (end - first) / 2, end);
  n->first = right;
  n->count = 0;
  for (a = 0; a < 3; ++a) {
    n->lo[a] = fminf(b->nodes[at + 1].lo[a], b->nodes[right].lo[a]);
    n->hi[a] = fmaxf(b->nodes[at + 1].hi[a], b->nodes[right].hi[a]);
  }
  return at;
}

static int build(oz_bvh *b, const float *items, uint32_t count, float radius) {
  uint32_t width = radius > 0.0f ? 3 : 9, i;
  uint64_t *keys = (uint64_t *)oz_allocate(count, sizeof *keys);
  float lo[3], hi[3], scale = 0.0f;
  int a;
  memset(b, 0, sizeof *b);
  b->count = count;
  b->radius = radius;
  b->order = (uint32_t *)oz_allocate(count, sizeof *b->order);
  b->items = (float *)oz_allocate(count, width * sizeof(float));
  b->nodes =
      /* leaves hold two items or more, but for one */
      (oz_bvh_node *)oz_allocate((size_t)count + 1, sizeof *b->nodes);
  if (!keys || !b->order || !b->items || !b->nodes) {
    oz_release(keys);
    oz_bvh_free(b);
    return 0;
  }
  memcpy(b->items, items, (size_t)count * width * sizeof(float));
  bounds_of(b, 0, count, lo, hi);
  for (a = 0; a < 3; ++a) scale = fmaxf(scale, hi[a] - lo[a]);
  scale = scale > 0.0f ? 2097151.0f / scale : 0.0f;
  for (i = 0; i < count; ++i) {
    const float *p = items + (size_t)i * width;
    uint32_t q[3];
    for (a = 0; a < 3; ++a) q[a] = (uint32_t)((p[a] - lo[a]) * scale);
    keys[i] = spread_bits(q[0]) << 2 | spread_bits(q[1]) << 1 | spread_bits(q[2]);
    b->order[i] = i;
  }
  if (!oz_sort_keys(keys, b->order, count)) {
    oz_release(keys);
    oz_bvh_free(b);
    return 0;
  }
  oz_release(keys);
  for (i = 0; i < count; ++i)
    memcpy(b->items + (size_t)i * width, items + (size_t)b->order[i] * width,
           width * sizeof(float));
  if (count) split(b, 0, count);
  return 1;
}

int oz_bvh_spheres(oz_bvh *b, const float *positions, uint32_t count, float radius) {
  return build(b, positions, count, radius);
}
int oz_bvh_triangles(oz_bvh *b, const float *corners, uint32_t count) {
  return build(b, corners, count, 0.0f);
}

static int hit_sphere(const float *c, float r, oz_v3 o, oz_v3 d, float least, float *t) {
  oz_v3 m = v3_sub(o, v3_of(c));
  float b = v3_dot(m, d), q;
  oz_v3 side = v3_madd(m, d, -b); /* from the centre to the ray: no difference of large squares */
  q = r * r - v3_dot(side, side);
  if (q <= 0.0f) return 0;
  q = -b - sqrtf(q);
  if (q <= least || q >= *t) return 0;
  *t = q;
  return 1;
}

static int hit_triangle(const float *c, oz_v3 o, oz_v3 d, float least, float *t) {
  oz_v3 p = v3_of(c), e = v3_sub(v3_of(c + 3), p), f = v3_sub(v3_of(c + 6), p), h = v3_cross(d, f),
        s, q;
  float a = v3_dot(e, h), u, v, x;
  if (a == 0.0f) return 0;
  a = 1.0f / a;
  s = v3_sub(o, p);
  u = a * v3_dot(s, h);
  if (!(u >= -1e-5f && u <= 1.00001f)) return 0;
  q = v3_cross(s, e);
  v = a * v3_dot(d, q);
  if (!(v >= -1e-5f && u + v <= 1.00002f)) return 0;
  x = a * v3_dot(f, q);
  if (x <= least || x >= *t) return 0;
  *t = x;
  return 1;
}

/* Where a box begins along the ray, or 1e30 if it is missed or not before t. */
static float enter(const oz_bvh_node *n, const float o[3], const float inv[3], float t) {
  float near = 0.0f, far = t;
  int a;
  for (a = 0; a < 3; ++a) {
    float p = (n->lo[a] - o[a]) * inv[a], q = (n->hi[a] - o[a]) * inv[a];
    near = fmaxf(near, fminf(p, q));
    far = fminf(far, fmaxf(p, q));
  }
  return near <= far ? near : 1e30f;
}

int oz_bvh_trace(const oz_bvh *b, oz_v3 o, oz_v3 d, float least, float *t, uint32_t *index,
                 int any) {
  uint32_t stack[64], depth = 0, at = 0;
  float from[3] = {o.x, o.y, o.z}, inv[3];
  int found = 0;
  if (!b->node_count) return 0;
  inv[0] = 1.0f / (d.x != 0.0f ? d.x : 1e-20f);
  inv[1] = 1.0f / (d.y != 0.0f ? d.y : 1e-20f);
  inv[2] = 1.0f / (d.z != 0.0f ? d.z : 1e-20f);
  if (enter(&b->nodes[0], from, inv, *t) >= 1e30f) return 0;
  for (;;) {
    const oz_bvh_node *n = &b->nodes[at];
    if (n->count) {
      uint32_t i;
      for (i = n->first; i < n->first + n->count; ++i)
        if (b->radius > 0.0f ? hit_sphere(b->items + 3 * (size_t)i, b->radius, o, d, least, t)
                             : hit_triangle(b->items + 9 * (size_t)i, o, d, least, t)) {
          *index = i;
          found = 1;
          if (any) return 1;
        }
    } else {
      float l = enter(&b->nodes[at + 1], from, inv, *t),
            r = enter(&b->nodes[n->first], from, inv, *t);
      if (l < 1e30f && r < 1e30f) { /* the nearer first */
        stack[depth++] = l <= r ? n->first : at + 1;
        at = l <= r ? at + 1 : n->first;
        continue;
      }
      if (l < 1e30f || r < 1e30f) {
        at = l < 1e30f ? at + 1 : n->first;
        continue;
      }
    }
    if (!depth) return found;
    at = stack[--depth];
  }
}
