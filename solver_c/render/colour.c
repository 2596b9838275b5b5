/* Colours: maps for attributes, the looks of the material presets, and the legend.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rays.h"

#include <stdio.h>

static float to_linear(float c) {
  return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

oz_v3 oz_colour_linear(const float srgb[3]) {
  return v3(to_linear(oz_clamp(srgb[0], 0.0f, 1.0f)), to_linear(oz_clamp(srgb[1], 0.0f, 1.0f)),
            to_linear(oz_clamp(srgb[2], 0.0f, 1.0f)));
}

/* Nine points each (0xrrggbb), of even steps in lightness: viridis, magma and inferno (van der Walt
 * and Smith), cool-warm (Moreland). */
static const uint32_t maps[4][9] = {
    {0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d, 0x27ad81, 0x5cc863, 0xaadc32, 0xfde725},
    {0x000004, 0x1c1044, 0x4f127b, 0x812581, 0xb5367a, 0xe55064, 0xfb8761, 0xfec287, 0xfcfdbf},
    {0x3b4cc0, 0x6282ea, 0x8db0fe, 0xb8d0f9, 0xdddddd, 0xf5c4ad, 0xf49a7b, 0xde604d, 0xb40426},
    {0x000004, 0x1f0c48, 0x550f6d, 0x88226a, 0xba3655, 0xe35933, 0xf98c0a, 0xf9c932, 0xfcffa4}};

static void map_srgb(uint32_t map, float t, float out[3]) {
  const uint32_t *m = maps[map < 4 ? map : 0];
  t = oz_clamp(t, 0.0f, 1.0f) * 8.0f; /* a t that is not a number ends at one of the bounds */
  int i = t >= 8.0f ? 7 : (int)t;
  for (int a = 0; a < 3; ++a) {
    const float low = (float)(m[i] >> (16 - 8 * a) & 255),
                high = (float)(m[i + 1] >> (16 - 8 * a) & 255);
    out[a] = (low + (t - (float)i) * (high - low)) / 255.0f;
  }
}

oz_v3 oz_colour_map(uint32_t map, float t) {
  float c[3];
  map_srgb(map, t, c);
  return oz_colour_linear(c);
}

/* A bar with five ticks at the right, on a pale plate so that it reads on any picture. */
void oz_legend_draw(ooze_image *image, uint32_t map, const float range[2], const char *label) {
  static const uint8_t ink[3] = {30, 32, 36};
  uint32_t scale = image->width >= 700 ? 2 : 1, bar = 9 * scale, height = image->height * 45 / 100,
           widest, i;
  uint32_t x0, y0, x, y, plate_w, plate_h, pad = 6 * scale, n = 5;
  float span = fabsf(range[1] - range[0]);
  char ticks[5][32];
  if (image->width < 120 || image->height < 90) return;
  widest = ooze_image_text(NULL, 0, 0, scale, ink, label);
  for (i = 0; i < n; ++i) {
    float v = range[0] + (range[1] - range[0]) * (float)i / (float)(n - 1);
    uint32_t w;
    if (fabsf(v) < 1e-6f * (fabsf(range[0]) + fabsf(range[1]))) v = 0.0f;
    if (span > 1e-3f && span < 1e5f)
      snprintf(ticks[i], sizeof ticks[i], "%.*f",
               span < 0.1f     ? 4
               : span < 1.0f   ? 3
               : span < 10.0f  ? 2
               : span < 100.0f ? 1
                               : 0,
               v);
    else
      snprintf(ticks[i], sizeof ticks[i], "%.3g", v);
    w = bar + 4 * scale + ooze_image_text(NULL, 0, 0, scale, ink, ticks[i]);
    if (w > widest) widest = w;
  }
  plate_w = widest + 2 * pad;
  plate_h = height + 10 * scale + 3 * pad;
  if (plate_w + pad > image->width || plate_h + pad > image->height) return;
  x0 = image->width - plate_w - pad;
  y0 = pad;
  for (y = y0; y < y0 + plate_h; ++y)
    for (x = x0; x < x0 + plate_w; ++x) {
      uint8_t *p = image->rgb + 3 * ((size_t)y * image->width + x);
      for (i = 0; i < 3; ++i) p[i] = (uint8_t)((p[i] * 3 + 250 * 5) / 8);
    }
  ooze_image_text(image, (int)(x0 + pad), (int)(y0 + pad), scale, ink, label);
  y0 += 2 * pad + 8 * scale;
  for (y = 0; y < height; ++y) {
    float c[3];
    map_srgb(map, 1.0f - (float)y / (float)(height - 1), c);
    for (x = 0; x < bar; ++x)
      for (i = 0; i < 3; ++i)
        image->rgb[3 * ((size_t)(y0 + y) * image->width + x0 + pad + x) + i] =
            (uint8_t)(255.0f * c[i] + 0.5f);
  }
  for (i = 0; i < n; ++i) {
    int ty = (int)(y0 + (height - 1) * (n - 1 - i) / (n - 1));
    for (x = bar; x < bar + 2 * scale; ++x)
      memcpy(image->rgb + 3 * ((size_t)ty * image->width + x0 + pad + x), ink, 3);
    ty -= (int)(3 * scale);
    if (i == 0) ty -= (int)(3 * scale);
    if (i == n - 1) ty += (int)(3 * scale);
    ooze_image_text(image, (int)(x0 + pad + bar + 4 * scale), ty, scale, ink, ticks[i]);
  }
}

/* name, colour, clarity, gloss, softness, glow: chosen by eye against photographs of the real
 * things. */
typedef struct look_row {
  const char *name;
  float colour[3], clarity, gloss, softness, glow;
} look_row;
static const look_row rows[] = {{"honey", {1.00f, 0.69f, 0.12f}, 0.70f, 0.95f, 0.8f, 0.0f},
                                {"syrup", {0.72f, 0.33f, 0.08f}, 0.80f, 0.95f, 0.4f, 0.0f},
                                {"caramel", {0.80f, 0.47f, 0.16f}, 0.25f, 0.85f, 0.5f, 0.0f},
                                {"whipped_cream", {0.98f, 0.96f, 0.91f}, 0.0f, 0.35f, 0.7f, 0.0f},
                                {"runny_cream", {0.98f, 0.94f, 0.86f}, 0.0f, 0.75f, 0.65f, 0.0f},
                                {"toothpaste", {0.55f, 0.86f, 0.84f}, 0.0f, 0.70f, 0.55f, 0.0f},
                                {"chocolate", {0.33f, 0.18f, 0.10f}, 0.0f, 0.85f, 0.25f, 0.0f},
                                {"slime", {0.45f, 0.85f, 0.25f}, 0.55f, 0.95f, 0.5f, 0.0f},
                                {"dough", {0.93f, 0.83f, 0.66f}, 0.0f, 0.25f, 0.5f, 0.0f},
                                {"ketchup", {0.75f, 0.10f, 0.06f}, 0.0f, 0.85f, 0.35f, 0.0f},
                                {"paint", {0.88f, 0.89f, 0.86f}, 0.0f, 0.55f, 0.4f, 0.0f},
                                {"blood", {0.42f, 0.02f, 0.03f}, 0.15f, 0.95f, 0.3f, 0.0f},
                                {"shampoo", {0.80f, 0.86f, 0.62f}, 0.7f, 0.95f, 0.4f, 0.0f},
                                {"lava", {0.86f, 0.22f, 0.03f}, 0.0f, 0.25f, 0.1f, 0.55f},
                                {"jelly", {0.88f, 0.13f, 0.22f}, 0.75f, 0.95f, 0.4f, 0.0f},
                                {"water", {0.75f, 0.90f, 0.97f}, 0.95f, 1.0f, 0.1f, 0.0f}};

int ooze_look_preset(const char *name, ooze_look *out) {
  size_t i;
  int a;
  if (!out) return 0;
  ooze_look_default(out);
  for (i = 0; name && i < sizeof rows / sizeof *rows; ++i)
    if (!strcmp(name, rows[i].name)) {
      for (a = 0; a < 3; ++a) out->colour[a] = rows[i].colour[a];
      out->clarity = rows[i].clarity;
      out->gloss = rows[i].gloss;
      out->softness = rows[i].softness;
      out->glow = rows[i].glow;
      return 1;
    }
  return 0;
}
