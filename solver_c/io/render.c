/* The picture: tiles of pixels, samples on a turned grid, tone curve, legend and caption. */
#include "render_internal.h"

typedef struct picture {
  const oz_scene *s;
  ooze_image *image;
  uint32_t tiles_x;
} picture;

enum { TILE = 16 };

/* Bright parts are rolled off, so that a highlight is white and not a hole; middle tones stay where they are. */
static float tone(float x) {
  x = x < 0.0f ? 0.0f : x;
  x = x < 0.7f ? x : 0.7f + 0.3f * (1.0f - expf(-(x - 0.7f) / 0.3f));
  return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

static void tile_body(void *arg, uint32_t begin, uint32_t end) {
  picture *p = (picture *)arg;
  const oz_scene *s = p->s;
  uint32_t width = p->image->width, height = p->image->height, n = s->desc->samples, tile, x, y, k;
  for (tile = begin; tile < end; ++tile) {
    uint32_t x0 = tile % p->tiles_x * TILE, y0 = tile / p->tiles_x * TILE;
    for (y = y0; y < y0 + TILE && y < height; ++y)
      for (x = x0; x < x0 + TILE && x < width; ++x) {
        oz_v3 sum = v3(0, 0, 0);
        float c[3];
        uint8_t *to = p->image->rgb + 3 * ((size_t)y * width + x);
        for (k = 0; k < n; ++k) {
          /* The R2 sequence: any number of samples covers the pixel evenly. */
          float u = 0.5f + (float)k * 0.75487767f, v = 0.5f + (float)k * 0.56984029f, px, py;
          oz_v3 d, light;
          px = ((float)x + u - floorf(u)) / (float)width * 2.0f - 1.0f;
          py = 1.0f - ((float)y + v - floorf(v)) / (float)height * 2.0f;
          d = v3_unit(v3_add(s->forward, v3_add(v3_scale(s->right, px), v3_scale(s->up, py))));
          light = oz_shade(s, s->eye, d, y * width + x, k, n);
          /* A single glint brighter than white must not outweigh the other samples of an edge. */
          sum = v3_add(sum, v3(fminf(light.x, 3.0f), fminf(light.y, 3.0f), fminf(light.z, 3.0f)));
        }
        c[0] = tone(sum.x / (float)n);
        c[1] = tone(sum.y / (float)n);
        c[2] = tone(sum.z / (float)n);
        for (k = 0; k < 3; ++k) to[k] = (uint8_t)(255.0f * oz_clamp(c[k], 0.0f, 1.0f) + 0.5f);
      }
  }
}

ooze_result ooze_render(const ooze_render_desc *d, ooze_image *out, ooze_message *why) {
  static const uint8_t ink[3] = {35, 37, 41};
  oz_scene scene;
  oz_tasks tasks;
  picture p;
  ooze_result r;
  int a;
  if (!d || !out) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "ooze_render: a pointer is NULL");
  if (d->size != sizeof *d) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "ooze_render_desc has size %u; fill it with its _default()", d->size);
  if (d->width < 16 || d->height < 16 || d->width > 8192 || d->height > 8192)
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "a picture of %u x %u pixels; expected 16 to 8192", d->width, d->height);
  if (d->samples < 1 || d->samples > 64) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "samples is %u; expected 1 to 64", d->samples);
  if (d->particle_count && !d->positions) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "%u particles without positions", d->particle_count);
  if (d->particle_count > 0x50000000u) return oz_surface_fail(why, OOZE_ERROR_LIMIT, "%u particles; the limit is %u", d->particle_count, 0x50000000u);
  if (!(d->particle_radius > 0.0f) || !isfinite(d->particle_radius)) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "particle_radius is %g m; expected above 0", d->particle_radius);
  if (!(d->field_of_view > 1.0f && d->field_of_view < 160.0f)) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "field_of_view is %g degrees; expected 1 to 160", d->field_of_view);
  for (a = 0; a < 3; ++a)
    if (!isfinite(d->eye[a]) || !isfinite(d->target[a])) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "the camera is not finite");
  tasks.hooks = d->hooks;
  tasks.threads = d->threads;
  r = oz_scene_build(&scene, d, &tasks, why);
  if (!r) r = ooze_image_create(d->width, d->height, out, why);
  if (!r) {
    p.s = &scene;
    p.image = out;
    p.tiles_x = (d->width + TILE - 1) / TILE;
    oz_tasks_run(&tasks, p.tiles_x * ((d->height + TILE - 1) / TILE), tile_body, &p);
    if (d->scalars && d->scalar_label) oz_legend_draw(out, d->colour_map, scene.range, d->scalar_label);
    if (d->caption) {
      uint32_t scale = d->width >= 700 ? 2 : 1;
      ooze_image_text(out, (int)(6 * scale), (int)(d->height - 14 * scale), scale, ink, d->caption);
    }
  }
  oz_scene_free(&scene);
  return r;
}
