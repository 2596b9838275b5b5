/* Signed distance and normal of collider shapes; rigid poses. Plain floats: the C compiler and nvcc
 * take the same text. Distances are positive in the fluid, negative in the solid; normals point out
 * of the solid. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_CONTACT_H
#define OZ_PHYSICS_CONTACT_H

#include "physics/frame.h"
#include "physics/lanes.h"
#include "physics/search.h"

/* As OOZE_SHAPE_* and OOZE_ROLE_* in ooze.h, which physics may not include; tests/physics/shapes.c
 * compares. */
enum {
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) OZ_SHAPE_##NAME,
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
  OZ_SHAPE_COUNT
};
/* One bit for each convex shape. */
enum {
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) \
  OZ_CONVEX_##NAME = (convex) << OZ_SHAPE_##NAME,
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
  OZ_CONVEX_SHAPES = 0
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) | OZ_CONVEX_##NAME
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
};

/* NONE: the collider's boundary particles do the work */
enum { OZ_ROLE_COLLIDE = 0, OZ_ROLE_KILL = 1, OZ_ROLE_NONE = 2 };

#define OZ_FAR 1e30f      /* m: distance beyond all reach */
#define OZ_FACES 6        /* planes that one collider can offer: an inverted box */
#define OZ_TRACE_STEPS 32 /* steps of sphere tracing along a particle's path */

/* For large functions with several callers: a call costs less than the copies. */
#if defined(__CUDACC__)
#define OZ_CALL static __device__ __noinline__
#elif defined(__GNUC__)
#define OZ_CALL static __attribute__((noinline, unused))
#else
#define OZ_CALL static
#endif

/* One face of a collider as seen from a point. */
typedef struct oz_face {
  float n[3];
  float dist; /* m */
} oz_face;

OZ_FN float oz_dot3f(const float a[3], const float b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

OZ_FN float oz_minf(float a, float b) { return a < b ? a : b; }

OZ_FN float oz_maxf(float a, float b) { return a > b ? a : b; }

OZ_FN int oz_finite3f(const float a[3]) {
  return fabsf(a[0]) < 1e30f && fabsf(a[1]) < 1e30f && fabsf(a[2]) < 1e30f; /* false for NaN */
}

/* v rotated by the unit quaternion q (x y z w): v + 2w (a x v) + 2 a x (a x v). */
OZ_FN void oz_turn(const float q[4], const float v[3], float out[3]) {
  float tx = 2.0f * (q[1] * v[2] - q[2] * v[1]);
  float ty = 2.0f * (q[2] * v[0] - q[0] * v[2]);
  float tz = 2.0f * (q[0] * v[1] - q[1] * v[0]);
  float x = v[0] + q[3] * tx + (q[1] * tz - q[2] * ty);
  float y = v[1] + q[3] * ty + (q[2] * tx - q[0] * tz);
  float z = v[2] + q[3] * tz + (q[0] * ty - q[1] * tx);
  out[0] = x, out[1] = y, out[2] = z;
}

OZ_FN void oz_turn_back(const float q[4], const float v[3], float out[3]) {
  float c[4] = {-q[0], -q[1], -q[2], q[3]};
  oz_turn(c, v, out);
}

OZ_FN void oz_pose_out(const float p[3], const float q[4], const float local[3], float world[3]) {
  oz_turn(q, local, world);
  world[0] += p[0], world[1] += p[1], world[2] += p[2];
}

OZ_FN void oz_pose_in(const float p[3], const float q[4], const float world[3], float local[3]) {
  float r[3] = {world[0] - p[0], world[1] - p[1], world[2] - p[2]};
  oz_turn_back(q, r, local);
}

/* m/s: mean velocity over the substep of the collider's point at `local` in its space. */
OZ_FN void oz_collider_velocity(const oz_collider *c, const float local[3], float inv_dt,
                                float out[3]) {
  float a[3], b[3];
  oz_turn(c->q0, local, a);
  oz_turn(c->q1, local, b);
  for (int k = 0; k < 3; k++) out[k] = ((b[k] - a[k]) + (c->p1[k] - c->p0[k])) * inv_dt;
}

/* ---- SDF bricks ---- */

/* Bricks are found by key: 21 bits an axis of (origin / 8), biased, x first. */
#define OZ_BRICK_BIAS (1 << 20)

OZ_FN uint64_t oz_brick_key(int32_t bx, int32_t by, int32_t bz) {
  return ((uint64_t)(uint32_t)(bx + OZ_BRICK_BIAS) << 42) |
         ((uint64_t)(uint32_t)(by + OZ_BRICK_BIAS) << 21) |
         (uint64_t)(uint32_t)(bz + OZ_BRICK_BIAS);
}

/* Place of a key among the `count` ascending ones from `first`, or -1. */
OZ_FN int64_t oz_key_find(const uint64_t *keys, uint32_t first, uint32_t count, uint64_t key) {
  uint32_t lo = first, hi = first + count;
  OZ_LOWER_BOUND(lo, hi, mid, keys[mid] < key)
  return lo < first + count && keys[lo] == key ? (int64_t)lo : -1;
}

/* Index of the brick in f->brick_values, or -1. */
OZ_FN int64_t oz_brick_find(const oz_frame *f, const oz_collider *c, int32_t bx, int32_t by,
                            int32_t bz) {
  if (f->brick_boxes) { /* a search by halves is a chain of dependent loads */
    const oz_brick_box *b =
        (const oz_brick_box *)(const void *)(f->brick_key + f->brick_boxes) + c->brick_first;
    const uint32_t *place = (const uint32_t *)(const void *)f->brick_key + b->first;
    const uint32_t x = (uint32_t)(bx - b->low[0]), y = (uint32_t)(by - b->low[1]),
                   z = (uint32_t)(bz - b->low[2]);
    if (b->size[0]) {
      if (x >= b->size[0] || y >= b->size[1] || z >= b->size[2]) return -1;
      return (int64_t)place[(x * b->size[1] + y) * b->size[2] + z] - 1;
    }
  }
  return oz_key_find(f->brick_key, c->brick_first, c->brick_count, oz_brick_key(bx, by, bz));
}

/* Value (m) and gradient (pure number) at voxel coordinates v (finite, within the keys' range),
 * trilinear between eight samples. Returns 0 if some of them are in no brick. */
OZ_FN int oz_brick_sample(const oz_frame *f, const oz_collider *c, const float v[3], float *value,
                          float g[3]) {
  float t[3], s[8];
  int32_t i[3], last[3] = {0, 0, 0};
  int64_t brick = -2; /* no lookup yet; mostly all eight samples are in the brick of the first */
  uint32_t of[8];
  for (int k = 0; k < 3; k++) {
    float base = floorf(v[k]);
    t[k] = v[k] - base, i[k] = (int32_t)base;
  }
  for (int k = 0; k < 8; k++) { /* k = 4x + 2y + z */
    int32_t x = i[0] + (k >> 2), y = i[1] + ((k >> 1) & 1), z = i[2] + (k & 1);
    int32_t bx = (x - (x & 7)) / 8, by = (y - (y & 7)) / 8,
            bz = (z - (z & 7)) / 8; /* x & 7 is 0..7 for negative x too */
    if (brick == -2 || bx != last[0] || by != last[1] || bz != last[2]) {
      brick = oz_brick_find(f, c, bx, by, bz);
      last[0] = bx, last[1] = by, last[2] = bz;
    }
    if (brick < 0) return 0;
    of[k] = (uint32_t)brick;
  }
  for (int k = 0; k < 8; k++) { /* in flight at once */
    const int32_t x = i[0] + (k >> 2), y = i[1] + ((k >> 1) & 1), z = i[2] + (k & 1);
    s[k] = f->brick_values[(size_t)of[k] * 512u + (size_t)((z & 7) + 8 * ((y & 7) + 8 * (x & 7)))];
  }
  float x00 = s[0] + t[0] * (s[4] - s[0]), x01 = s[1] + t[0] * (s[5] - s[1]);
  float x10 = s[2] + t[0] * (s[6] - s[2]), x11 = s[3] + t[0] * (s[7] - s[3]);
  float y0 = x00 + t[1] * (x10 - x00), y1 = x01 + t[1] * (x11 - x01);
  float d00 = s[4] - s[0], d01 = s[5] - s[1], d10 = s[6] - s[2], d11 = s[7] - s[3];
  float e0 = d00 + t[1] * (d10 - d00), e1 = d01 + t[1] * (d11 - d01), inv = 1.0f / c->voxel;
  *value = y0 + t[2] * (y1 - y0);
  g[0] = (e0 + t[2] * (e1 - e0)) * inv;
  g[1] = ((x10 - x00) + t[2] * ((x11 - x01) - (x10 - x00))) * inv;
  g[2] = (y1 - y0) * inv;
  return 1;
}

/* oz_brick_sample beyond the bricks: from the nearest point of the nearest of the 27 bricks around
 * v, to first order. The surface lies in some brick, so out here a point is on the same side of the
 * surface as that nearest point, and no nearer to the surface than to the brick. */
OZ_FN int oz_brick_beyond(const oz_frame *f, const oz_collider *c, const float v[3], float reach,
                          float *value, float g[3]) {
  int32_t b[3];
  float best = OZ_FAR, at[3] = {0.0f, 0.0f, 0.0f};
  for (int k = 0; k < 3; k++) b[k] = (int32_t)floorf(v[k] * 0.125f);
  for (int k = 0; k < 27; k++) {
    int32_t o[3] = {b[0] + k / 9 - 1, b[1] + (k / 3) % 3 - 1, b[2] + k % 3 - 1};
    float near[3], d2 = 0.0f;
    for (int a = 0; a < 3; a++) {
      float lo = 8.0f * (float)o[a];
      near[a] =
          /* within the brick's last cell, so that all samples are its own */
          oz_minf(oz_maxf(v[a], lo), lo + 6.99f);
      d2 += (v[a] - near[a]) * (v[a] - near[a]);
    }
    /* cheapest test first: most bricks are out of reach */
    if (d2 >= best || !(sqrtf(d2) * c->voxel <= reach) || oz_brick_find(f, c, o[0], o[1], o[2]) < 0)
      continue;
    best = d2;
    at[0] = near[0], at[1] = near[1], at[2] = near[2];
  }
  if (best >= OZ_FAR || !oz_brick_sample(f, c, at, value, g)) return 0;
  float off[3] = {v[0] - at[0], v[1] - at[1], v[2] - at[2]},
        there = *value + c->voxel * oz_dot3f(g, off);
  *value = *value < 0.0f ? oz_minf(there, *value) : oz_maxf(there, sqrtf(best) * c->voxel);
  return 1;
}

/* Distance and direction at a local point; OZ_FAR where no brick is within reach. The direction is
 * zero where the samples are flat (the cut-off value of a narrow band). */
OZ_FN void oz_sdf_distance(const oz_frame *f, const oz_collider *c, const float local[3],
                           float reach, oz_face *out) {
  float v[3], g[3], value, inv = 1.0f / c->voxel;
  out->dist = OZ_FAR;
  out->n[0] = out->n[1] = out->n[2] = 0.0f;
  for (int k = 0; k < 3; k++) {
    v[k] = local[k] * inv;
    if (!(fabsf(v[k]) < 8.0e6f)) return; /* beyond the keys; also NaN */
  }
  if (!oz_brick_sample(f, c, v, &value, g) && !oz_brick_beyond(f, c, v, reach, &value, g)) return;
  out->dist = value;
  float l = sqrtf(oz_dot3f(g, g));
  if (!(l > 0.1f)) return;
  for (int k = 0; k < 3; k++) out->n[k] = g[k] / l;
}

/* ---- Friction and stick map ---- */

/* Friction and stick at a local point, from the known samples around it; returns 0 if none is
 * known. */
OZ_FN int oz_friction_map_at(const oz_frame *f, const oz_collider *c, const float local[3],
                             float *friction, float *stick) {
  float t[3], sum[3] = {0.0f, 0.0f, 0.0f}, inv = 1.0f / c->friction_map_voxel;
  int32_t i[3];
  for (int k = 0; k < 3; k++) {
    const float v = local[k] * inv, base = floorf(v);
    if (!(fabsf(v) < 8.0e6f)) return 0; /* beyond the keys; also NaN */
    t[k] = v - base, i[k] = (int32_t)base;
  }
  for (int k = 0; k < 8; k++) {
    const int32_t x = i[0] + (k >> 2), y = i[1] + ((k >> 1) & 1), z = i[2] + (k & 1);
    const uint64_t key = oz_brick_key((x - (x & 7)) / 8, (y - (y & 7)) / 8, (z - (z & 7)) / 8);
    const int64_t brick =
        oz_key_find(f->friction_map_key, c->friction_map_first, c->friction_map_count, key);
    if (brick < 0) continue;
    const float *at = f->friction_map_values + (size_t)brick * OZ_FRICTION_MAP_FLOATS +
                      2 * (size_t)((z & 7) + 8 * ((y & 7) + 8 * (x & 7)));
    const float w = (k >> 2 ? t[0] : 1.0f - t[0]) * ((k >> 1) & 1 ? t[1] : 1.0f - t[1]) *
                    (k & 1 ? t[2] : 1.0f - t[2]);
    if (at[0] < 0.0f) continue;
    sum[0] += w * at[0], sum[1] += w * at[1], sum[2] += w;
  }
  if (!(sum[2] > 1e-6f)) return 0;
  *friction = sum[0] / sum[2];
  *stick = sum[1] / sum[2];
  return 1;
}

/* ---- Shapes ---- */

/* Distance to the profile of a box or a cylinder in two or three half extents: q_k = |coordinate| -
 * half. */
OZ_FN void oz_corner(const float *q, int n, float *dist, float *dir) {
  float out2 = 0.0f, most = q[0];
  int axis = 0;
  for (int k = 0; k < n; k++) {
    float o = oz_maxf(q[k], 0.0f);
    out2 += o * o;
    if (q[k] > most) most = q[k], axis = k;
    dir[k] = 0.0f;
  }
  if (out2 > 0.0f) {
    float l = sqrtf(out2);
    *dist = l;
    for (int k = 0; k < n; k++) dir[k] = oz_maxf(q[k], 0.0f) / l;
  } else {
    *dist = most;
    dir[axis] = 1.0f;
  }
}

/* Distance of a local point to the surface, and the direction away from it; before `invert`. */
OZ_FN void oz_shape_distance(const oz_frame *f, const oz_collider *c, const float x[3], float reach,
                             oz_face *out) {
  float *n = out->n;
  n[0] = 0.0f, n[1] = 1.0f, n[2] = 0.0f;
  out->dist = OZ_FAR;
  if (c->shape == OZ_SHAPE_PLANE) {
    out->dist = x[1];
  } else if (c->shape == OZ_SHAPE_SPHERE || c->shape == OZ_SHAPE_CAPSULE) {
    float r[3] = {x[0], x[1], x[2]};
    if (c->shape == OZ_SHAPE_CAPSULE) r[1] -= oz_minf(oz_maxf(x[1], -c->half[1]), c->half[1]);
    float l = sqrtf(oz_dot3f(r, r));
    out->dist = l - c->half[0];
    if (l > 0.0f) {
      for (int k = 0; k < 3; k++) n[k] = r[k] / l;
    } else if (c->shape == OZ_SHAPE_CAPSULE) {
      n[0] = 1.0f, n[1] = 0.0f; /* on the axis: every direction out is sideways */
    }
  } else if (c->shape == OZ_SHAPE_BOX) {
    float q[3] = {fabsf(x[0]) - c->half[0], fabsf(x[1]) - c->half[1], fabsf(x[2]) - c->half[2]},
          dir[3];
    oz_corner(q, 3, &out->dist, dir);
    for (int k = 0; k < 3; k++) n[k] = x[k] < 0.0f ? -dir[k] : dir[k];
  } else if (c->shape == OZ_SHAPE_CYLINDER) {
    float r = sqrtf(x[0] * x[0] + x[2] * x[2]);
    float q[2] = {r - c->half[0], fabsf(x[1]) - c->half[1]}, dir[2];
    oz_corner(q, 2, &out->dist, dir);
    n[0] = r > 0.0f ? dir[0] * x[0] / r : dir[0];
    n[1] = x[1] < 0.0f ? -dir[1] : dir[1];
    n[2] = r > 0.0f ? dir[0] * x[2] / r : 0.0f;
  } else if (c->shape == OZ_SHAPE_SDF) {
    oz_sdf_distance(f, c, x, reach, out);
  }
}

/* oz_shape_distance with `invert`: distance of the fluid to the solid. An inverted SDF ends where
 * its bricks end. */
OZ_CALL void oz_collider_face(const oz_frame *f, const oz_collider *c, const float local[3],
                              float reach, oz_face *out) {
  oz_shape_distance(f, c, local, reach, out);
  if (c->invert && out->dist < OZ_FAR) {
    out->dist = -out->dist;
    for (int k = 0; k < 3; k++) out->n[k] = -out->n[k];
  }
}

/* oz_collider_face of a plane. */
OZ_FN void oz_plane_face(const oz_collider *c, const float local[3], oz_face *out) {
  out->n[0] = 0.0f, out->n[1] = 1.0f, out->n[2] = 0.0f;
  out->dist = local[1];
  if (!c->invert) return;
  out->dist = -out->dist;
  for (int k = 0; k < 3; k++) out->n[k] = -out->n[k];
}

/* Containers have flat inner faces that meet in corners: each face within reach is a wall of its
 * own. Returns the number of faces in `out`; 0 if this collider is no container. */
OZ_FN int oz_container_faces(const oz_collider *c, const float x[3], float reach,
                             oz_face out[OZ_FACES]) {
  int count = 0;
  if (!c->invert || (c->shape != OZ_SHAPE_BOX && c->shape != OZ_SHAPE_CYLINDER)) return 0;
  for (int k = 0; k < 3; k++) {
    if (c->shape == OZ_SHAPE_CYLINDER && k != 1) continue;
    for (int side = -1; side <= 1; side += 2) {
      float dist = c->half[k] - (float)side * x[k];
      if (!(dist < reach)) continue;
      for (int a = 0; a < 3; a++) out[count].n[a] = a == k ? -(float)side : 0.0f;
      out[count++].dist = dist;
    }
  }
  if (c->shape == OZ_SHAPE_CYLINDER) {
    float r = sqrtf(x[0] * x[0] + x[2] * x[2]), dist = c->half[0] - r;
    if (dist < reach && r > 0.0f) {
      out[count].n[0] = -x[0] / r, out[count].n[1] = 0.0f, out[count].n[2] = -x[2] / r;
      out[count++].dist = dist;
    }
  }
  return count;
}

/* a macro, because the GPU's host code uses it too */
#define OZ_IS_CONTAINER(c) \
  ((c)->invert && ((c)->shape == OZ_SHAPE_BOX || (c)->shape == OZ_SHAPE_CYLINDER))
/* True for a collider with plane faces: a point behind such a face is nearer to the solid. */
#define OZ_IS_FLAT(c) ((c)->shape == OZ_SHAPE_PLANE || OZ_IS_CONTAINER(c))

OZ_FN int oz_is_flat(const oz_collider *c) { return OZ_IS_FLAT(c); }

/* m: distance of a world point from the solid of c at its end pose; OZ_FAR if more than `reach`, at
 * low cost. */
OZ_FN float oz_collider_distance(const oz_frame *f, const oz_collider *c, const float x[3],
                                 float reach) {
  float local[3];
  oz_face face;
  if (c->reach > 0.0f) {
    float r[3] = {x[0] - c->p1[0], x[1] - c->p1[1], x[2] - c->p1[2]}, far = c->reach + reach;
    if (!(oz_dot3f(r, r) <= far * far)) return OZ_FAR;
  }
  oz_pose_in(c->p1, c->q1, x, local);
  oz_collider_face(f, c, local, reach, &face);
  return face.dist;
}

/* The first point, as a fraction of the way from a to b (local), that is nearer than eps to the
 * surface; 2 if there is none. `from` is the face at a, outside. Sphere tracing: the distance is
 * never more than the way to the surface. A convex solid moreover lies behind each of its tangent
 * planes, so a step may go all the way to the plane, and a grazing path needs few steps. Running
 * out of steps counts as a hit: a plane of the surface just beside the path is a valid wall in any
 * case. */
OZ_CALL float oz_trace(const oz_frame *f, const oz_collider *c, const float a[3], const float b[3],
                       const oz_face *from, float eps) {
  float d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  float length = sqrtf(oz_dot3f(d, d)), t = 0.0f;
  const int convex = !c->invert && (OZ_CONVEX_SHAPES >> c->shape & 1);
  oz_face face = *from;
  if (!(length > 0.0f)) return 2.0f;
  for (int k = 0; k < OZ_TRACE_STEPS; k++) {
    float at[3], way = face.dist;
    if (!(way > eps)) return t;
    if (convex) {
      float fall = -oz_dot3f(face.n, d);
      if (!(fall > 0.0f))
        return 2.0f; /* the path leads away from a plane that has the whole solid
                      * behind it */
      way *= length / fall;
    } else if (!(way < OZ_FAR))
      way = 8.0f * c->voxel; /* no brick next to this one: the width of a brick is free */
    t += way / length;
    if (!(t < 1.0f)) return 2.0f;
    for (int m = 0; m < 3; m++) at[m] = a[m] + t * d[m];
    oz_collider_face(f, c, at, OZ_FAR, &face);
  }
  return t;
}

#endif
