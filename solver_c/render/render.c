/* The picture: tiles of pixels, samples on a turned grid, tone curve, legend and caption.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

enum { TILE = 16, REACH = 3 };

typedef struct pixel { /* means over the samples */
  oz_light light;
  uint32_t pure; /* 1: all samples met the same thing */
} pixel;

typedef struct picture {
  const oz_scene *s;
  ooze_image *image;
  pixel *pixels;                               /* of the rows first_row to first_row + rows */
  uint32_t tiles_x, first_row, rows, from, to; /* from, to: the rows that are finished now */
  uint32_t fluid;                              /* pixels that show it */
} picture;

/* Bright parts are rolled off, so that a highlight is white and not a hole; middle tones stay where
 * they are. */
static float tone(float x) {
  x = x < 0.0f ? 0.0f : x;
  x = x < 0.7f ? x : 0.7f + 0.3f * (1.0f - expf(-(x - 0.7f) / 0.3f));
  return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

static void shade_pixel(const oz_scene *s, uint32_t x, uint32_t y, pixel *out) {
  uint32_t width = s->desc->width, height = s->desc->height, n = s->desc->samples, k;
  float share = 1.0f / (float)n;
  oz_v3 key = v3(0, 0, 0), sky = v3(0, 0, 0);
  memset(out, 0, sizeof *out);
  out->pure = 1;
  for (k = 0; k < n; ++k) {
    /* The R2 sequence: any number of samples covers the pixel evenly. */
    float u = 0.5f + (float)k * 0.75487767f, v = 0.5f + (float)k * 0.56984029f, px, py;
    oz_light l;
    oz_v3 d;
    px = ((float)x + u - floorf(u)) / (float)width * 2.0f - 1.0f;
    py = 1.0f - ((float)y + v - floorf(v)) / (float)height * 2.0f;
    d = v3_unit(v3_add(s->forward, v3_add(v3_scale(s->right, px), v3_scale(s->up, py))));
    oz_shade(s, s->eye, d, y * width + x, k, &l);
    /* A single glint brighter than white must not outweigh the other samples of an edge. */
    out->light.base =
        v3_madd(out->light.base,
                v3(fminf(l.base.x, 3.0f), fminf(l.base.y, 3.0f), fminf(l.base.z, 3.0f)), share);
    out->light.key_weight = v3_madd(out->light.key_weight, l.key_weight, share);
    out->light.sky_weight = v3_madd(out->light.sky_weight, l.sky_weight, share);
    /* Weighted, so that a pixel of several things adds up to the same light as its samples. */
    key = v3_madd(key, v3_mul(l.key_weight, l.key), share);
    sky = v3_madd(sky, v3_mul(l.sky_weight, l.sky), share);
    if (k && (l.id != out->light.id || v3_dot(l.n, out->light.n) < 0.95f)) out->pure = 0;
    if (!k) {
      out->light.id = l.id;
      out->light.n = l.n;
      out->light.depth = l.depth;
    }
  }
  out->light.key = v3(key.x / fmaxf(out->light.key_weight.x, 1e-6f),
                      key.y / fmaxf(out->light.key_weight.y, 1e-6f),
                      key.z / fmaxf(out->light.key_weight.z, 1e-6f));
  out->light.sky = v3(sky.x / fmaxf(out->light.sky_weight.x, 1e-6f),
                      sky.y / fmaxf(out->light.sky_weight.y, 1e-6f),
                      sky.z / fmaxf(out->light.sky_weight.z, 1e-6f));
  if (!out->light.id) out->pure = 0;
}

static void tile_body(void *arg, uint32_t begin, uint32_t end) {
  picture *p = (picture *)arg;
  uint32_t width = p->image->width, tile, x, y;
  for (tile = begin; tile < end; ++tile) {
    uint32_t x0 = tile % p->tiles_x * TILE, y0 = tile / p->tiles_x * TILE;
    for (y = y0; y < y0 + TILE && y < p->rows; ++y)
      for (x = x0; x < x0 + TILE && x < width; ++x)
        shade_pixel(p->s, x, p->first_row + y, &p->pixels[(size_t)y * width + x]);
  }
}

/* Shadow and sky light are averaged over the pixels around that show the same thing from nearly the
 * same side; colours, mirrored and bent light are left alone. */
static void finish_body(void *arg, uint32_t begin, uint32_t end) {
  picture *p = (picture *)arg;
  int width = (int)p->image->width, rows = (int)p->rows, x, y, i, j;
  for (y = (int)begin; y < (int)end; ++y) {
    int row = y + (int)p->from;
    for (x = 0; x < width; ++x) {
      const pixel *c = &p->pixels[(size_t)row * (size_t)width + (size_t)x];
      oz_v3 key = c->light.key, sky = c->light.sky, out;
      uint8_t *to =
          p->image->rgb + 3 * ((size_t)(p->first_row + (uint32_t)row) * (size_t)width + (size_t)x);
      if (c->pure) {
        float total = 0.0f;
        key = sky = v3(0, 0, 0);
        for (j = row - REACH; j <= row + REACH; ++j)
          for (i = x - REACH; i <= x + REACH; ++i) {
            const pixel *q;
            float w;
            if (i < 0 || j < 0 || i >= width || j >= rows) continue;
            q = &p->pixels[(size_t)j * (size_t)width + (size_t)i];
            if (!q->pure || q->light.id != c->light.id ||
                fabsf(q->light.depth - c->light.depth) > 0.03f * c->light.depth)
              continue;
            w = v3_dot(q->light.n, c->light.n);
            if (w < 0.9f) continue;
            w *= 1.0f / (1.0f + 0.15f * (float)((i - x) * (i - x) + (j - row) * (j - row)));
            key = v3_madd(key, q->light.key, w);
            sky = v3_madd(sky, q->light.sky, w);
            total += w;
          }
        key = v3_scale(key, 1.0f / total);
        sky = v3_scale(sky, 1.0f / total);
      }
      out = v3_add(c->light.base,
                   v3_add(v3_mul(c->light.key_weight, key), v3_mul(c->light.sky_weight, sky)));
      to[0] = (uint8_t)(255.0f * oz_clamp(tone(out.x), 0.0f, 1.0f) + 0.5f);
      to[1] = (uint8_t)(255.0f * oz_clamp(tone(out.y), 0.0f, 1.0f) + 0.5f);
      to[2] = (uint8_t)(255.0f * oz_clamp(tone(out.z), 0.0f, 1.0f) + 0.5f);
    }
  }
}

/* In strips that overlap by the reach of the smoothing, so that a very large picture needs no more
 * memory than a usual one. */
static ooze_result draw(picture *p, const oz_loop *loop, ooze_message *why) {
  uint32_t width = p->image->width, height = p->image->height,
           strip = 2000000u / width + 2 * REACH + 1, done = 0;
  if (strip > height) strip = height;
  p->pixels = (pixel *)oz_allocate((size_t)width * strip, sizeof *p->pixels);
  if (!p->pixels)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a picture of %u x %u pixels", width,
                   height);
  p->tiles_x = (width + TILE - 1) / TILE;
  while (done < height) {
    p->first_row = done > REACH ? done - REACH : 0;
    p->rows = height - p->first_row < strip ? height - p->first_row : strip;
    p->from = done - p->first_row;
    p->to = p->first_row + p->rows == height ? p->rows : p->rows - REACH;
    oz_loop_run(loop, p->tiles_x * ((p->rows + TILE - 1) / TILE), tile_body, p);
    oz_loop_run(loop, p->to - p->from, finish_body, p);
    for (size_t k = (size_t)p->from * width; k < (size_t)p->to * width; ++k)
      p->fluid += (p->pixels[k].light.id & 3) == OZ_HIT_FLUID;
    done = p->first_row + p->to;
  }
  oz_release(p->pixels);
  return OOZE_OK;
}

static ooze_result check_desc(const ooze_render_desc *d, ooze_message *why) {
  if (!d) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_render: a pointer is NULL");
  if (d->size != sizeof *d)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "ooze_render_desc has size %u; fill it with its _default()", d->size);
  if (d->width < 16 || d->height < 16 || d->width > 8192 || d->height > 8192)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "a picture of %u x %u pixels; expected 16 to 8192",
                   d->width, d->height);
  if (d->samples < 1 || d->samples > 64)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "samples is %u; expected 1 to 64", d->samples);
  if (d->particle_count && !d->positions)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%u particles without positions", d->particle_count);
  if (d->particle_count > 0x50000000u)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%u particles; the limit is %u", d->particle_count,
                   0x50000000u);
  if (!(d->particle_radius > 0.0f) || !isfinite(d->particle_radius))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "particle_radius is %g m; expected above 0",
                   d->particle_radius);
  if (!(d->field_of_view >= 1.0f && d->field_of_view <= 160.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "field_of_view is %g degrees; expected 1 to 160",
                   d->field_of_view);
  for (int a = 0; a < 3; ++a)
    if (!isfinite(d->eye[a]) || !isfinite(d->target[a]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "the camera is not finite");
  return OOZE_OK;
}

ooze_result ooze_render_fit(const ooze_render_desc *d, float bounds[6], float range[2],
                            ooze_message *why) {
  oz_scene scene;
  ooze_result r = check_desc(d, why);
  if (r) return r;
  ooze_render_desc free_desc = *d;
  memset(free_desc.bounds, 0, sizeof free_desc.bounds);
  r = oz_scene_build(&scene, &free_desc, why);
  if (!r) {
    memcpy(bounds, &scene.lower, 3 * sizeof *bounds);
    memcpy(bounds + 3, &scene.upper, 3 * sizeof *bounds);
    memcpy(range, scene.range, sizeof scene.range);
  }
  oz_scene_free(&scene);
  return r;
}

ooze_result ooze_render(const ooze_render_desc *d, ooze_image *out, ooze_message *why) {
  static const uint8_t ink[3] = {35, 37, 41};
  oz_scene scene;
  oz_loop loop;
  picture p;
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_render: a pointer is NULL");
  ooze_result r = check_desc(d, why);
  if (r) return r;
  oz_loop_open(&loop, d->hooks, d->threads);
  r = oz_scene_build(&scene, d, why);
  if (!r) r = ooze_image_create(d->width, d->height, out, why);
  if (!r) {
    p.s = &scene;
    p.image = out;
    p.fluid = 0;
    r = draw(&p, &loop, why);
    out->fluid_pixels = p.fluid;
    if (r) ooze_image_free(out);
  }
  if (!r) {
    if (d->scalars && d->scalar_label)
      oz_legend_draw(out, d->colour_map, scene.range, d->scalar_label);
    if (d->caption) {
      uint32_t scale = d->width >= 700 ? 2 : 1;
      ooze_image_text(out, (int)(6 * scale), (int)(d->height - 14 * scale), scale, ink, d->caption);
    }
  }
  oz_loop_close(&loop);
  oz_scene_free(&scene);
  return r;
}
