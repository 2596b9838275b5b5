/* The scene that rays meet: fluid, collider shapes, ground; the camera that frames it; and what each thing looks like.
 */
#include "render_internal.h"

#include <stdlib.h>

static oz_v3 to_local(const oz_shape *s, oz_v3 v) {
  return v3(v3_dot(v, v3_of(s->axes)), v3_dot(v, v3_of(s->axes + 3)), v3_dot(v, v3_of(s->axes + 6)));
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
    float inv = 1.0f / (pd[a] != 0.0f ? pd[a] : 1e-20f), p = (-half[a] - po[a]) * inv, q = (half[a] - po[a]) * inv;
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
  float a = d.x * d.x + d.z * d.z, b = o.x * d.x + o.z * d.z, c = o.x * o.x + o.z * o.z - r * r, q, inv, p0, p1;
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
  for (end = -1; end <= 2; ++end) { /* the union of a cylinder and two balls is convex: first entry, last exit */
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

int oz_shape_trace(const oz_shape *shape, oz_v3 o, oz_v3 d, float least, float *t, oz_v3 *n) {
  oz_v3 lo = to_local(shape, v3_sub(o, shape->centre)), ld = to_local(shape, d), m[2];
  float s[2];
  int hit = 0, which;
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
    smooth = v3_madd(smooth, v3_of(v + 3), v3_dot(face, v3_cross(v3_sub(c, p), v3_sub(a, p))) / area);
    smooth = v3_madd(smooth, v3_of(v + 6), v3_dot(face, v3_cross(v3_sub(a, p), v3_sub(b, p))) / area);
    face = v3_unit(face);
    smooth = v3_unit(smooth);
    *n = v3_dot(smooth, face) > 0.75f ? smooth : face; /* a sharp edge stays sharp */
    if (v3_dot(face, d) > 0.0f) *n = v3_scale(*n, -1.0f);
    return 1;
  }
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
    return 0;
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
    hit->n = v3_unit(v3_sub(v3_madd(o, d, hit->t), v3_of(s->spheres.items + 3 * (size_t)hit->index)));
  }
}

int oz_scene_blocked(const oz_scene *s, oz_v3 o, oz_v3 d, float far) {
  uint32_t i, index;
  float t = far;
  oz_v3 n;
  for (i = 0; i < s->shape_count; ++i)
    if (!s->shapes[i].invert && oz_shape_trace(&s->shapes[i], o, d, 0.0f, &t, &n)) return OZ_HIT_SHAPE;
  if (s->march.s ? oz_march_trace(&s->march, o, d, 0.0f, &t, 0) : oz_bvh_trace(&s->spheres, o, d, 0.0f, &t, &index, 1))
    return OZ_HIT_FLUID;
  return 0;
}

static uint32_t material_of(const oz_scene *s, uint32_t particle) {
  uint32_t m = s->desc->materials ? s->desc->materials[particle] : 0;
  return m < s->look_count ? m : 0;
}

/* A sphere has its particle's look; a point of the level set the mean of the particles around it. */
void oz_scene_look(const oz_scene *s, const oz_hit *hit, oz_v3 p, oz_look *out) {
  const oz_cells *c = &s->cells;
  float radius = 5.0f * s->desc->particle_radius, total = 0.0f;
  int lo[3], hi[3], x, y, z;
  if (!s->march.s) {
    uint32_t particle = s->spheres.order[hit->index];
    *out = s->looks[material_of(s, particle)];
    if (s->tints) out->colour = s->tints[particle];
    return;
  }
  *out = s->looks[0];
  if (!c->count) return;
  memset(out, 0, sizeof *out);
  for (x = 0; x < 3; ++x) {
    lo[x] = (int)floorf(((&p.x)[x] - radius) / c->cell);
    hi[x] = (int)floorf(((&p.x)[x] + radius) / c->cell);
  }
  for (x = lo[0]; x <= hi[0]; ++x)
    for (y = lo[1]; y <= hi[1]; ++y)
      for (z = lo[2]; z <= hi[2]; ++z) {
        uint32_t j, end;
        if (!oz_cells_find(c, x, y, z, &j, &end)) continue;
        for (; j < end; ++j) {
          oz_v3 to = v3_sub(v3_of(c->x + 3 * (size_t)j), p);
          float w = 1.0f - v3_dot(to, to) / (radius * radius);
          const oz_look *l;
          if (w <= 0.0f) continue;
          w *= w * w;
          l = &s->looks[material_of(s, c->order[j])];
          total += w;
          out->colour = v3_madd(out->colour, s->tints ? s->tints[c->order[j]] : l->colour, w);
          out->absorb = v3_madd(out->absorb, l->absorb, w);
          out->depth += w * l->depth;
          out->clarity += w * l->clarity;
          out->gloss += w * l->gloss;
          out->softness += w * l->softness;
          out->glow += w * l->glow;
        }
      }
  if (!(total > 0.0f)) {
    *out = s->looks[0];
    return;
  }
  out->colour = v3_scale(out->colour, 1.0f / total);
  out->absorb = v3_scale(out->absorb, 1.0f / total);
  out->depth /= total;
  out->clarity /= total;
  out->gloss /= total;
  out->softness /= total;
  out->glow /= total;
}
