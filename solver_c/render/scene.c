/* The scene that rays meet: fluid, collider shapes, ground; the camera that frames it; and the look
 * of each thing. SPDX-License-Identifier: Apache-2.0 */
#include "geo/geo_internal.h"
#include "rays.h"

#include <stdlib.h>

static oz_v3 to_local(const oz_shape *s, oz_v3 v) {
  return v3(v3_dot(v, v3_of(s->axes)), v3_dot(v, v3_of(s->axes + 3)),
            v3_dot(v, v3_of(s->axes + 6)));
}
static oz_v3 to_world(const oz_shape *s, oz_v3 v) {
  return v3_add(v3_scale(v3_of(s->axes), v.x),
                v3_add(v3_scale(v3_of(s->axes + 3), v.y), v3_scale(v3_of(s->axes + 6), v.z)));
}

/* Entry and exit of a ray with each solid, with outward normals. Returns 0 if missed. */
static int span_sphere(oz_v3 o, oz_v3 d, float r, float t[2], oz_v3 n[2]) {
  float b = v3_dot(o, d);
  oz_v3 side = v3_madd(o, d, -b);
  float q = r * r - v3_dot(side, side);
  int i;
  if (q <= 0.0f) return 0;
  q = sqrtf(q);
  t[0] = -b - q;
  t[1] = -b + q;
  for (i = 0; i < 2; ++i) n[i] = v3_scale(v3_madd(o, d, t[i]), 1.0f / r);
  return 1;
}

static int span_box(oz_v3 o, oz_v3 d, const float half[3], float t[2], oz_v3 n[2]) {
  const float *po = &o.x, *pd = &d.x;
  int a;
  t[0] = -1e30f;
  t[1] = 1e30f;
  for (a = 0; a < 3; ++a) {
    float inv = 1.0f / (pd[a] != 0.0f ? pd[a] : 1e-20f), p = (-half[a] - po[a]) * inv,
          q = (half[a] - po[a]) * inv;
    oz_v3 unit = v3(a == 0, a == 1, a == 2);
    float sign = inv > 0.0f ? 1.0f : -1.0f;
    if (fminf(p, q) > t[0]) {
      t[0] = fminf(p, q);
      n[0] = v3_scale(unit, -sign);
    }
    if (fmaxf(p, q) < t[1]) {
      t[1] = fmaxf(p, q);
      n[1] = v3_scale(unit, sign);
    }
  }
  return t[0] < t[1];
}

/* Along y, with flat ends. */
static int span_cylinder(oz_v3 o, oz_v3 d, float r, float half, float t[2], oz_v3 n[2]) {
  float a = d.x * d.x + d.z * d.z, b = o.x * d.x + o.z * d.z, c = o.x * o.x + o.z * o.z - r * r, q,
        inv, p0, p1;
  if (a < 1e-12f) {
    if (c > 0.0f) return 0;
    t[0] = -1e30f;
    t[1] = 1e30f;
  } else {
    q = b * b - a * c;
    if (q <= 0.0f) return 0;
    q = sqrtf(q);
    t[0] = (-b - q) / a;
    t[1] = (-b + q) / a;
    n[0] = v3((o.x + d.x * t[0]) / r, 0.0f, (o.z + d.z * t[0]) / r);
    n[1] = v3((o.x + d.x * t[1]) / r, 0.0f, (o.z + d.z * t[1]) / r);
  }
  inv = 1.0f / (d.y != 0.0f ? d.y : 1e-20f);
  p0 = fminf((-half - o.y) * inv, (half - o.y) * inv);
  p1 = fmaxf((-half - o.y) * inv, (half - o.y) * inv);
  if (p0 > t[0]) {
    t[0] = p0;
    n[0] = v3(0.0f, inv > 0.0f ? -1.0f : 1.0f, 0.0f);
  }
  if (p1 < t[1]) {
    t[1] = p1;
    n[1] = v3(0.0f, inv > 0.0f ? 1.0f : -1.0f, 0.0f);
  }
  return t[0] < t[1];
}

static int span_capsule(oz_v3 o, oz_v3 d, float r, float half, float t[2], oz_v3 n[2]) {
  float s[2];
  oz_v3 m[2];
  int found = 0, end, i;
  t[0] = 1e30f;
  t[1] = -1e30f;
  /* the union of a cylinder and two balls is convex: first entry, last exit */
  for (end = -1; end <= 2; ++end) {
    int hit = end == 0   ? 0
              : end == 2 ? span_cylinder(o, d, r, half, s, m)
                         : span_sphere(v3(o.x, o.y - (float)end * half, o.z), d, r, s, m);
    if (!hit) continue;
    found = 1;
    for (i = 0; i < 2; ++i)
      if (i ? s[1] > t[1] : s[0] < t[0]) {
        t[i] = s[i];
        n[i] = m[i];
      }
  }
  return found;
}

static float distance_at(const oz_shape *shape, oz_v3 p) {
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
  return (float)oz_primitive_distance(shape->kind, shape->half, x);
}

static oz_v3 normal_at(const oz_shape *shape, oz_v3 p) {
  const float e = 1e-3f * shape->reach;
  return v3_unit(
      v3(distance_at(shape, v3(p.x + e, p.y, p.z)) - distance_at(shape, v3(p.x - e, p.y, p.z)),
         distance_at(shape, v3(p.x, p.y + e, p.z)) - distance_at(shape, v3(p.x, p.y - e, p.z)),
         distance_at(shape, v3(p.x, p.y, p.z + e)) - distance_at(shape, v3(p.x, p.y, p.z - e))));
}

int oz_shape_march(const oz_shape *shape, oz_v3 o, oz_v3 d, float t[2], oz_v3 n[2]) {
  const float along = -v3_dot(o, d),
              half2 = shape->reach * shape->reach - v3_dot(o, o) + along * along;
  if (!(half2 > 0.0f)) return 0;
  const float half = sqrtf(half2);
  for (int end = 0; end < 2; ++end) { /* forward from the sphere's front, back from its rear */
    const float way = end ? -1.0f : 1.0f;
    float gone = 0.0f;
    for (int step = 0; step < 256 && gone <= 2.0f * half; ++step) {
      t[end] = along - way * (half - gone);
      const float far = distance_at(shape, v3_madd(o, d, t[end]));
      if (far < 1e-4f * shape->reach) break;
      gone += far;
    }
    if (gone > 2.0f * half) return 0;
    n[end] = normal_at(shape, v3_madd(o, d, t[end]));
  }
  return 1;
}

/* A word's letters are some sixty capsules, and most rays pass by them all. */
static int passes_by(const oz_shape *shape, oz_v3 o, oz_v3 d) {
  oz_v3 to = v3_sub(shape->centre, o);
  float along = v3_dot(to, d), away = v3_dot(to, to) - along * along,
        r2 = shape->reach * shape->reach;
  return shape->reach > 0.0f && (away > r2 || (along < 0.0f && v3_dot(to, to) > r2));
}

int oz_shape_trace(const oz_shape *shape, oz_v3 o, oz_v3 d, float least, float *t, oz_v3 *n) {
  oz_v3 lo, ld, m[2];
  float s[2];
  int hit = 0, which;
  if (passes_by(shape, o, d)) return 0;
  if (shape->mesh.count) {
    uint32_t i;
    const float *v;
    oz_v3 a, b, c, p, face, smooth;
    float area;
    if (!oz_bvh_trace(&shape->mesh, o, d, least, t, &i, 0)) return 0;
    v = shape->mesh.items + 9 * (size_t)i;
    a = v3_of(v);
    b = v3_of(v + 3);
    c = v3_of(v + 6);
    p = v3_madd(o, d, *t);
    face = v3_cross(v3_sub(b, a), v3_sub(c, a));
    area = fmaxf(v3_dot(face, face), 1e-30f);
    v = shape->normals + 9 * (size_t)i; /* weights by areas opposite to the corners */
    smooth = v3_scale(v3_of(v), v3_dot(face, v3_cross(v3_sub(b, p), v3_sub(c, p))) / area);
    smooth =
        v3_madd(smooth, v3_of(v + 3), v3_dot(face, v3_cross(v3_sub(c, p), v3_sub(a, p))) / area);
    smooth =
        v3_madd(smooth, v3_of(v + 6), v3_dot(face, v3_cross(v3_sub(a, p), v3_sub(b, p))) / area);
    *n = v3_unit(smooth);
    if (v3_dot(face, d) > 0.0f) *n = v3_scale(*n, -1.0f);
    return 1;
  }
  lo = to_local(shape, v3_sub(o, shape->centre));
  ld = to_local(shape, d);
  switch (shape->kind) {
  case OOZE_SHAPE_PLANE:
    if (fabsf(ld.y) < 1e-9f) return 0;
    s[0] = s[1] = -lo.y / ld.y;
    if (s[0] <= least || s[0] >= *t) return 0;
    *t = s[0];
    *n = to_world(shape, v3(0.0f, ld.y > 0.0f ? -1.0f : 1.0f, 0.0f));
    return 1;
  case OOZE_SHAPE_SPHERE:
    hit = span_sphere(lo, ld, shape->half[0], s, m);
    break;
  case OOZE_SHAPE_BOX:
    hit = span_box(lo, ld, shape->half, s, m);
    break;
  case OOZE_SHAPE_CAPSULE:
    hit = span_capsule(lo, ld, shape->half[0], shape->half[1], s, m);
    break;
  case OOZE_SHAPE_CYLINDER:
    hit = span_cylinder(lo, ld, shape->half[0], shape->half[1], s, m);
    break;
  default:
    hit = oz_shape_march(shape, lo, ld, s, m);
    break;
  }
  which = shape->invert ? 1 : 0; /* a container shows its far walls only, so that one can look in */
  if (!hit || s[which] <= least || s[which] >= *t) return 0;
  *t = s[which];
  *n = to_world(shape, shape->invert ? v3_scale(m[1], -1.0f) : m[0]);
  return 1;
}

void oz_scene_trace(const oz_scene *s, oz_v3 o, oz_v3 d, float far, oz_hit *hit) {
  uint32_t i;
  oz_v3 n;
  hit->t = far;
  hit->what = OZ_HIT_SKY;
  hit->index = 0;
  if (s->has_ground && d.y < -1e-6f && o.y > s->ground && (s->ground - o.y) / d.y < hit->t) {
    hit->t = (s->ground - o.y) / d.y;
    hit->n = v3(0, 1, 0);
    hit->what = OZ_HIT_GROUND;
  }
  for (i = 0; i < s->shape_count; ++i)
    if (oz_shape_trace(&s->shapes[i], o, d, 0.0f, &hit->t, &n)) {
      hit->n = n;
      hit->what = OZ_HIT_SHAPE;
      hit->index = i;
    }
  if (s->march.s) {
    if (oz_march_trace(&s->march, o, d, 0.0f, &hit->t, 0)) {
      hit->what = OZ_HIT_FLUID;
      hit->n = oz_march_normal(&s->march, v3_madd(o, d, hit->t));
    }
  } else if (oz_bvh_trace(&s->spheres, o, d, 0.0f, &hit->t, &hit->index, 0)) {
    hit->what = OZ_HIT_FLUID;
    hit->n =
        v3_unit(v3_sub(v3_madd(o, d, hit->t), v3_of(s->spheres.items + 3 * (size_t)hit->index)));
  }
}

int oz_scene_blocked(const oz_scene *s, oz_v3 o, oz_v3 d, float far) {
  uint32_t i, index;
  float t = far;
  oz_v3 n;
  for (i = 0; i < s->shape_count; ++i)
    if (!s->shapes[i].invert && oz_shape_trace(&s->shapes[i], o, d, 0.0f, &t, &n))
      return OZ_HIT_SHAPE;
  if (s->march.s ? oz_march_trace(&s->march, o, d, 0.0f, &t, 0)
                 : oz_bvh_trace(&s->spheres, o, d, 0.0f, &t, &index, 1))
    return OZ_HIT_FLUID;
  return 0;
}

static uint32_t material_of(const oz_scene *s, uint32_t particle) {
  uint32_t m = s->desc->materials ? s->desc->materials[particle] : 0;
  return m < s->look_count ? m : 0;
}

/* Hot rock: black below 800 K, dull red, orange, pale yellow at 1500 K. Chosen by eye: a black
 * body's brightness rises by a thousand over this range, more than a picture can show. */
static void heat_look(float kelvin, oz_look *l) {
  static const oz_v3 shine[4] = {
      {0.2f, 0.01f, 0.0f}, {0.6f, 0.04f, 0.0f}, {0.95f, 0.2f, 0.01f}, {1.15f, 0.55f, 0.08f}};
  static const oz_v3 crust = {0.022f, 0.019f, 0.018f};
  float t = oz_clamp((kelvin - 800.0f) / 700.0f, 0.0f, 1.0f), at = t * 3.0f;
  int i = at >= 3.0f ? 2 : (int)at;
  oz_v3 lit = v3_mix(shine[i], shine[i + 1], at - (float)i);
  float molten = oz_smooth(0.0f, 0.45f, t);
  l->gloss = 0.12f + molten * (l->gloss - 0.12f);
  l->colour = v3_mix(crust, v3_scale(lit, 0.15f), molten); /* it shines far more than it reflects */
  l->glow *= molten / (0.15f * 0.55f);                     /* 0.55: the preset's */
}

/* Looks of the particles around p. Each material counts by the sixth power of its share, so that
 * where two meet the edge is about as sharp as particles are apart, and even; within one all is as
 * smooth as can be. */
typedef struct share {
  uint32_t look;
  float weight;
} share;
enum { MOST_SHARES = 8 };
static int shares_around(const oz_scene *s, oz_v3 p, share *out, float *temperature, oz_v3 *tint) {
  const oz_cells *c = &s->cells;
  float radius = 5.0f * s->desc->particle_radius, total = 0.0f, most;
  int n = 0, k;
  *temperature = 0.0f;
  *tint = v3(0, 0, 0);
  const float low[3] = {p.x - radius, p.y - radius, p.z - radius},
              high[3] = {p.x + radius, p.y + radius, p.z + radius};
  for (oz_cells_walk near = oz_cells_between(c, low, high); oz_cells_next(&near);) {
    oz_v3 to = v3_sub(v3_of(c->x + 3 * (size_t)near.j), p);
    float w = 1.0f - v3_dot(to, to) / (radius * radius);
    if (w <= 0.0f) continue;
    w *= w * w;
    const uint32_t of = c->order[near.j], look = material_of(s, of);
    for (k = 0; k < n && out[k].look != look; ++k) {
    }
    if (k == MOST_SHARES) continue;
    if (k == n) out[n].look = look, out[n++].weight = 0.0f;
    out[k].weight += w;
    total += w;
    if (s->tints) *tint = v3_madd(*tint, s->tints[of], w);
    if (s->desc->temperatures) *temperature += w * s->desc->temperatures[of];
  }
  if (!(total > 0.0f)) return 0;
  *tint = v3_scale(*tint, 1.0f / total);
  *temperature /= total;
  for (most = 0.0f, k = 0; k < n; ++k) most = fmaxf(most, out[k].weight);
  for (total = 0.0f, k = 0; k < n; ++k) {
    float f = out[k].weight / most, f3 = f * f * f;
    out[k].weight = f3 * f3;
    total += out[k].weight;
  }
  for (k = 0; k < n; ++k) out[k].weight /= total;
  return n;
}

/* A sphere has its particle's look; a point of the level set that of the particles around it. */
void oz_scene_look(const oz_scene *s, const oz_hit *hit, oz_v3 p, oz_look *out) {
  share around[MOST_SHARES];
  float kelvin = 0.0f;
  oz_v3 tint = v3(0, 0, 0);
  int n, k;
  if (!s->march.s) {
    uint32_t particle = s->spheres.order[hit->index];
    *out = s->looks[material_of(s, particle)];
    if (s->tints) out->colour = s->tints[particle];
    if (s->desc->temperatures && out->glow > 0.0f) heat_look(s->desc->temperatures[particle], out);
    return;
  }
  *out = s->looks[0];
  if (!s->cells.count || !(n = shares_around(s, p, around, &kelvin, &tint))) return;
  memset(out, 0, sizeof *out);
  for (k = 0; k < n; ++k) {
    const oz_look *l = &s->looks[around[k].look];
    float w = around[k].weight;
    out->colour = v3_madd(out->colour, l->colour, w);
    out->absorb = v3_madd(out->absorb, l->absorb, w);
    out->depth += w * l->depth;
    out->clarity += w * l->clarity;
    out->gloss += w * l->gloss;
    out->softness += w * l->softness;
    out->glow += w * l->glow;
  }
  if (s->tints) out->colour = tint;
  if (s->desc->temperatures && out->glow > 0.0f) heat_look(kelvin, out);
}
