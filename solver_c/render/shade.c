/* Light: one key light with a soft edge, a bright sky all around with its obstacles, two
 * soft boxes that only glossy things see, and fluid that light passes through. All colours here are
 * linear. SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

#define KEY 1.15f /* strength of the key light on a surface that faces it */
/* radians: half the angle that it fills; its shadows soften with distance */
#define KEY_ANGLE 0.07f
#define INDEX 1.45f /* of refraction: sugar in water, oil */

typedef struct chooser { /* well-spread numbers for one sample of one pixel */
  float base[4];
  uint32_t sample;
} chooser;

static float fraction(float x) { return x - floorf(x); }
static oz_v3 exp3(oz_v3 a) { return v3(expf(-a.x), expf(-a.y), expf(-a.z)); }
static oz_v3 reflect(oz_v3 d, oz_v3 n) { return v3_madd(d, n, -2.0f * v3_dot(d, n)); }

/* A studio: pale at the horizon, a little blue above. */
oz_v3 oz_sky(const oz_scene *s, oz_v3 d) {
  oz_v3 horizon = v3(0.60f, 0.625f, 0.65f), top = v3(0.22f, 0.30f, 0.42f),
        below = v3(0.36f, 0.365f, 0.375f);
  (void)s;
  if (d.y < 0.0f) return v3_mix(horizon, below, oz_smooth(0.0f, 0.35f, -d.y));
  return v3_mix(horizon, top, oz_smooth(0.0f, 0.9f, sqrtf(d.y)));
}

/* The sky as glossy things see it: with the key's soft box and a dim strip on the other side. Less
 * gloss, larger and dimmer boxes. */
static oz_v3 glossy_sky(const oz_scene *s, oz_v3 d, float gloss, oz_v3 visible) {
  oz_v3 c = oz_sky(s, d), other = v3_unit(v3(-s->key.x, 0.55f, -s->key.z));
  float edge = 0.955f - 0.22f * (1.0f - gloss), wide = 0.02f + 0.25f * (1.0f - gloss),
        strength = 0.4f + 6.0f * gloss * gloss;
  c = v3_madd(c, visible, strength * oz_smooth(edge - wide, edge + 0.012f, v3_dot(d, s->key)));
  return v3_add(c, v3_scale(v3(1.0f, 0.97f, 0.92f),
                            1.6f * gloss * oz_smooth(0.90f - wide, 0.93f, v3_dot(d, other))));
}

static float fresnel(float cosine, float base) {
  float k = 1.0f - oz_clamp(cosine, 0.0f, 1.0f), k2 = k * k;
  return base + (1.0f - base) * k2 * k2 * k;
}

/* How much of the key arrives: 1, 0, or the tint of clear fluid in the way. */
static oz_v3 key_through(const oz_scene *s, oz_v3 p, oz_v3 towards) {
  int what = oz_scene_blocked(s, p, towards, 1e30f);
  if (!what) return v3(1, 1, 1);
  if (what == OZ_HIT_FLUID && s->march.s) {
    oz_look look = s->looks[0];
    oz_hit hit = {1e30f, {0, 0, 0}, OZ_HIT_FLUID, 0};
    if (s->look_count > 1 && oz_march_trace(&s->march, p, towards, 0.0f, &hit.t, 0))
      /* syrup's shadow is red, that of the cream below it is not */
      oz_scene_look(s, &hit, v3_madd(p, towards, hit.t), &look);
    return v3_scale(look.colour, 0.55f * look.clarity);
  }
  return v3(0, 0, 0);
}

static void across(oz_v3 n, oz_v3 *u, oz_v3 *v) {
  *u = v3_unit(v3_cross(fabsf(n.y) < 0.9f ? v3(0, 1, 0) : v3(1, 0, 0), n));
  *v = v3_cross(n, *u);
}

/* The key's soft shadow and the sky's light at p, each from a few rays. Where a ray meets something
 * near, it brings a little of that thing's colour instead of the sky's. */
static void gather_light(const oz_scene *s, oz_v3 p, oz_v3 n, const chooser *c, oz_v3 *key,
                         oz_v3 *ambient) {
  enum { SHADOW = 2, AMBIENT = 2 };
  oz_v3 u, v, start = v3_madd(p, n, s->skin), sum = v3(0, 0, 0), light = v3(0, 0, 0);
  float reach = 0.35f * s->size;
  int i;
  if (v3_dot(n, s->key) > -0.35f)
    for (i = 0; i < SHADOW; ++i) {
      uint32_t k = c->sample * SHADOW + (uint32_t)i;
      float r = KEY_ANGLE * sqrtf(fraction(c->base[0] + (float)k * 0.75487767f)),
            a = 6.2831853f * fraction(c->base[1] + (float)k * 0.56984029f);
      oz_v3 towards = v3_unit(
          v3_add(s->key, v3_add(v3_scale(s->key_u, r * cosf(a)), v3_scale(s->key_v, r * sinf(a)))));
      light = v3_add(light, key_through(s, start, towards));
    }
  *key = v3_scale(light, 1.0f / SHADOW);
  across(n, &u, &v);
  for (i = 0; i < AMBIENT; ++i) {
    uint32_t k = c->sample * AMBIENT + (uint32_t)i;
    float e = fraction(c->base[2] + (float)k * 0.75487767f), r = sqrtf(e),
          a = 6.2831853f * fraction(c->base[3] + (float)k * 0.56984029f);
    oz_v3 d = v3_add(v3_scale(n, sqrtf(1.0f - e)),
                     v3_add(v3_scale(u, r * cosf(a)), v3_scale(v, r * sinf(a))));
    int what = oz_scene_blocked(s, start, d, reach);
    if (what == OZ_HIT_FLUID)
      sum = v3_madd(sum, s->tints ? v3(0.5f, 0.5f, 0.5f) : s->looks[0].colour, 0.20f);
    else if (what == OZ_HIT_SHAPE)
      sum = v3_add(sum, v3(0.10f, 0.10f, 0.105f));
    else if (s->has_ground && d.y < 0.0f)
      sum = v3_madd(sum, v3(0.40f, 0.395f, 0.39f),
                    oz_clamp(0.35f + (p.y - s->ground) / (0.4f * s->size), 0.35f, 1.0f));
    else
      sum = v3_add(sum, oz_sky(s, d));
  }
  *ambient = v3_scale(sum, 1.0f / AMBIENT);
}

static oz_v3 ground_colour(const oz_scene *s, oz_v3 p, float distance) {
  oz_v3 a = v3(0.40f, 0.40f, 0.405f), b = v3(0.325f, 0.33f, 0.34f);
  float fade;
  if (!(s->checker > 0.0f)) return a;
  /* squares below a pixel would crawl */
  fade = 1.0f - oz_smooth(2.0f * s->size, 7.0f * s->size, distance);
  return v3_mix(v3_mix(a, b, 0.5f),
                ((int)floorf(p.x / s->checker) + (int)floorf(p.z / s->checker)) & 1 ? b : a, fade);
}

/* Far ground melts into the horizon: an endless table. How much of the horizon there is in it. */
static float into_distance(const oz_scene *s, oz_v3 p) {
  oz_v3 centre = v3_scale(v3_add(s->lower, s->upper), 0.5f);
  return oz_smooth(1.2f * s->size, 8.0f * s->size,
                   v3_length(v3(p.x - centre.x, 0.0f, p.z - centre.z)));
}

/* A collider or body with plain light. */
static oz_v3 shade_shape(const oz_scene *s, uint32_t shape, oz_v3 p, oz_v3 n) {
  oz_v3 light = v3_scale(v3(1.0f, 0.97f, 0.92f), KEY * fmaxf(v3_dot(n, s->key), 0.0f));
  light = v3_mul(light, key_through(s, v3_madd(p, n, s->skin), s->key));
  return v3_mul(s->shapes[shape].colour, v3_add(light, v3_scale(oz_sky(s, n), 0.6f)));
}

/* A mirrored or bent ray sees the same scene with plain light. */
static oz_v3 shade_plain(const oz_scene *s, oz_v3 o, oz_v3 d, float gloss, oz_v3 key_visible) {
  oz_hit hit;
  oz_v3 p, light, colour;
  oz_look look;
  oz_scene_trace(s, o, d, 1e30f, &hit);
  if (hit.what == OZ_HIT_SKY) return glossy_sky(s, d, gloss, key_visible);
  p = v3_madd(o, d, hit.t);
  light = v3_scale(v3(1.0f, 0.97f, 0.92f), KEY * fmaxf(v3_dot(hit.n, s->key), 0.0f));
  if (hit.what == OZ_HIT_GROUND) {
    colour = ground_colour(s, p, v3_length(v3_sub(p, s->eye)));
    light = v3_mul(light, key_through(s, v3_madd(p, hit.n, s->skin), s->key));
    return v3_mix(v3_mul(colour, v3_add(light, v3(0.40f, 0.42f, 0.44f))),
                  oz_sky(s, v3(d.x, fabsf(d.y) * 0.2f, d.z)), into_distance(s, p));
  }
  if (hit.what == OZ_HIT_SHAPE) return shade_shape(s, hit.index, p, hit.n);
  oz_scene_look(s, &hit, p, &look);
  return v3_add(
      v3_mul(look.colour, v3_add(v3_scale(light, 0.8f), v3_scale(oz_sky(s, hit.n), 0.6f))),
      v3_scale(look.colour, look.glow));
}

static int refract(oz_v3 d, oz_v3 n, float eta, oz_v3 *out) { /* n against d; 0: all is reflected */
  float c = -v3_dot(d, n), k = 1.0f - eta * eta * (1.0f - c * c);
  if (k < 0.0f) return 0;
  *out = v3_unit(v3_add(v3_scale(d, eta), v3_scale(n, eta * c - sqrtf(k))));
  return 1;
}

/* The light left after a way through fluid. Beyond a way or two the colour no longer deepens but
 * darkens: pure absorption would end in a glaring red. */
static oz_v3 left_after(const oz_look *look, float way) {
  float dark = fmaxf(way / look->depth - 1.6f, 0.0f);
  return v3_scale(exp3(v3_scale(look->absorb, fminf(way, 1.6f * look->depth))),
                  expf(-0.14f * dark));
}

/* Through clear fluid: bent at the entry, mirrored inside at most twice, coloured by the way it
 * went. A solid in the fluid ends the way. The fluid's surface reaches a little into solids, or
 * leaves a gap of a few voxels around them: fluid wets them, there is no air to be mirrored by. */
static oz_v3 look_through(const oz_scene *s, oz_v3 p, oz_v3 n, oz_v3 d, const oz_look *look,
                          oz_v3 key_visible) {
  oz_v3 dir, at = v3_madd(p, n, -0.6f * s->march.s->voxel), out;
  float way = 0.0f;
  int bounce;
  if (!refract(d, n, 1.0f / INDEX, &dir)) return v3(0, 0, 0);
  for (bounce = 0; bounce < 3; ++bounce) {
    float t = 1e30f, wet;
    uint32_t i, solid = UINT32_MAX;
    oz_v3 m, face = n;
    if (!oz_march_trace(&s->march, at, dir, 0.0f, &t, 1)) break;
    wet = t + 5.0f * s->march.s->voxel;
    for (i = 0; i < s->shape_count; ++i)
      if (!s->shapes[i].invert && oz_shape_trace(&s->shapes[i], at, dir, 0.0f, &wet, &face))
        solid = i;
    if (solid != UINT32_MAX)
      return v3_mul(left_after(look, way + fminf(t, wet)),
                    shade_shape(s, solid, v3_madd(at, dir, wet), face));
    way += t;
    at = v3_madd(at, dir, t);
    m = v3_scale(oz_march_normal(&s->march, at), -1.0f);
    if (refract(dir, m, INDEX, &out)) {
      dir = out;
      at = v3_madd(at, m, -s->skin);
      break;
    }
    dir = reflect(dir, m);
    at = v3_madd(at, m, 0.6f * s->march.s->voxel);
  }
  return v3_mul(left_after(look, way), shade_plain(s, at, dir, look->gloss, key_visible));
}

static void shade_fluid(const oz_scene *s, oz_v3 p, oz_v3 n, oz_v3 d, const oz_look *look,
                        const chooser *c, oz_light *out) {
  oz_v3 white = v3(1.0f, 0.97f, 0.92f), base = v3(0, 0, 0);
  float facing = v3_dot(n, s->key), wrap = 0.6f * look->softness,
        f = fresnel(-v3_dot(n, d), 0.04f) * (0.25f + 0.75f * look->gloss);
  float clarity = s->march.s ? look->clarity : 0.0f, share;
  gather_light(s, p, n, c, &out->key, &out->sky);
  if (f < 0.01f) f = 0.0f;
  share = (1.0f - f) * (1.0f - clarity);
  out->sky_weight = v3_scale(look->colour, share);
  out->key_weight =
      v3_scale(v3_mul(look->colour, white), share * KEY * (1.0f - 0.25f * look->softness) *
                                                fmaxf((facing + wrap) / (1.0f + wrap), 0.0f));
  if (look->softness > 0.0f && s->march.s) {
    /* Light that came in on the far side: the rest of it after the way from there. */
    oz_v3 in = v3_madd(p, n, -0.6f * s->march.s->voxel);
    float t = 1e30f;
    if (oz_march_trace(&s->march, in, s->key, 0.0f, &t, 1)) {
      oz_v3 left = exp3(v3_scale(look->absorb, 0.6f * t));
      base = v3_scale(v3_mul(look->colour, left),
                      share * 0.35f * KEY * look->softness *
                          (0.15f + 0.85f * expf(-t / (0.12f * s->fluid_size))));
    }
  }
  base = v3_madd(base, look->colour,
                 (1.0f - f) * look->glow * (0.6f + 0.7f * fmaxf(-v3_dot(n, d), 0.0f)));
  if (clarity > 0.01f)
    base = v3_madd(base, look_through(s, p, n, d, look, out->key), (1.0f - f) * clarity);
  if (f > 0.0f)
    base = v3_madd(base,
                   shade_plain(s, v3_madd(p, n, s->skin), reflect(d, n), look->gloss, out->key), f);
  out->base = base;
}

void oz_shade(const oz_scene *s, oz_v3 o, oz_v3 d, uint32_t pixel, uint32_t sample, oz_light *out) {
  oz_hit hit;
  oz_v3 p, white = v3(1.0f, 0.97f, 0.92f), colour, mirrored = v3(0, 0, 0);
  oz_look look;
  chooser c;
  uint32_t i, x = pixel % s->desc->width, y = pixel / s->desc->width;
  float f;
  memset(out, 0, sizeof *out);
  oz_scene_trace(s, o, d, 1e30f, &hit);
  if (hit.what == OZ_HIT_SKY) {
    out->base = oz_sky(s, d);
    return;
  }
  /* Neighbouring pixels get far-apart numbers (Jimenez' gradient noise), so that smoothing over a
   * few of them evens out the noise of few rays. */
  for (i = 0; i < 4; ++i)
    c.base[i] = fraction(52.9829189f * fraction(0.06711056f * (float)(x + 37 * i) +
                                                0.00583715f * (float)(y + 59 * i)));
  c.sample = sample;
  p = v3_madd(o, d, hit.t);
  out->n = hit.n;
  out->depth = hit.t;
  out->id = (uint32_t)hit.what + 4 * (hit.what == OZ_HIT_SHAPE || !s->march.s ? hit.index : 0);
  if (hit.what == OZ_HIT_FLUID) {
    oz_scene_look(s, &hit, p, &look);
    shade_fluid(s, p, hit.n, d, &look, &c, out);
    return;
  }
  gather_light(s, p, hit.n, &c, &out->key, &out->sky);
  if (hit.what == OZ_HIT_GROUND) {
    oz_v3 r = reflect(d, hit.n), start = v3_madd(p, hit.n, s->skin);
    float far = 1.0f - into_distance(s, p);
    colour = ground_colour(s, p, v3_length(v3_sub(p, s->eye)));
    /* a polished table: it mirrors things on it, not the sky */
    f = 0.5f * fresnel(-v3_dot(hit.n, d), 0.04f);
    if (f < 0.02f || !oz_scene_blocked(s, start, r, 2.0f * s->size))
      f = 0.0f;
    else
      mirrored = shade_plain(s, start, r, 0.0f, v3(0, 0, 0));
    out->base = v3_add(v3_scale(mirrored, f * far),
                       v3_scale(oz_sky(s, v3(d.x, fabsf(d.y) * 0.2f, d.z)), 1.0f - far));
    f = 1.0f - (1.0f - f) * far;
  } else {
    const oz_shape *shape = &s->shapes[hit.index];
    colour = shape->colour;
    f = fresnel(-v3_dot(hit.n, d), 0.04f) * shape->gloss;
    if (f > 0.01f)
      out->base = v3_scale(shade_plain(s, v3_madd(p, hit.n, s->skin), reflect(d, hit.n),
                                       shape->gloss, v3(0.6f, 0.6f, 0.6f)),
                           f);
    else
      f = 0.0f;
  }
  out->sky_weight = v3_scale(colour, 1.0f - f);
  out->key_weight =
      v3_scale(v3_mul(colour, white), (1.0f - f) * KEY * fmaxf(v3_dot(hit.n, s->key), 0.0f));
}
