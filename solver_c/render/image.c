/* Images in memory, PNG files and contact sheets. SPDX-License-Identifier: Apache-2.0 */
#include "surface/level_set.h"

#include <math.h>
#include <stdlib.h>
#if defined(OOZE_HAVE_PNG)
#include <png.h>
#endif

#define MAX_SIDE 32768u

ooze_result ooze_image_create(uint32_t width, uint32_t height, ooze_image *out, ooze_message *why) {
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_image_create: out is NULL");
  ooze_image_default(out);
  if (!width || !height || width > MAX_SIDE || height > MAX_SIDE)
    return oz_fail(why, OOZE_ERROR_LIMIT, "an image of %u x %u pixels; expected 1 to %u each",
                   width, height, MAX_SIDE);
  out->rgb = (uint8_t *)calloc((size_t)width * height, 3);
  if (!out->rgb)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for an image of %u x %u pixels", width,
                   height);
  out->width = width;
  out->height = height;
  return OOZE_OK;
}

void ooze_image_free(ooze_image *image) {
  if (!image) return;
  free(image->rgb);
  ooze_image_default(image);
}

ooze_result ooze_image_write_png(const ooze_image *image, const char *path, ooze_message *why) {
#if defined(OOZE_HAVE_PNG)
  png_image png;
  ooze_file *file = NULL;
  void *bytes = NULL;
  png_alloc_size_t size = 0;
  ooze_result r;
  if (!image || !image->rgb || !path)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_image_write_png: a pointer is NULL");
  memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  png.width = image->width;
  png.height = image->height;
  png.format = PNG_FORMAT_RGB;
  /* Into memory, so that one path of code writes all our files; the bound on a PNG's size is near
   * that of the pixels.
   */
  size = PNG_IMAGE_PNG_SIZE_MAX(png);
  bytes = malloc(size);
  if (!bytes) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory to compress it", path);
  if (!png_image_write_to_memory(&png, bytes, &size, 0, image->rgb, 0, NULL)) {
    free(bytes);
    return oz_fail(why, OOZE_ERROR_IO, "%s: %s", path, png.message);
  }
  r = ooze_file_create(path, &file, why);
  if (!r) {
    r = ooze_file_put(file, bytes, size, why);
    if (r)
      ooze_file_discard(file);
    else
      r = ooze_file_commit(file, 1, why);
  }
  free(bytes);
  return r;
#else
  (void)image;
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "%s: this build has no libpng", path ? path : "");
#endif
}

/* Box filter in linear light, so that thin bright lines keep their brightness when scaled down. */
static void scale_into(const ooze_image *from, ooze_image *to, uint32_t x0, uint32_t y0, uint32_t w,
                       uint32_t h) {
  float linear[256];
  uint32_t x, y, i, j, c;
  for (i = 0; i < 256; ++i) linear[i] = powf((float)i / 255.0f, 2.2f);
  for (y = 0; y < h; ++y)
    for (x = 0; x < w; ++x) {
      uint32_t u0 = (uint32_t)((uint64_t)x * from->width / w),
               u1 = (uint32_t)((uint64_t)(x + 1) * from->width / w);
      uint32_t v0 = (uint32_t)((uint64_t)y * from->height / h),
               v1 = (uint32_t)((uint64_t)(y + 1) * from->height / h);
      float sum[3] = {0}, n;
      if (u1 <= u0) u1 = u0 + 1;
      if (v1 <= v0) v1 = v0 + 1;
      for (j = v0; j < v1; ++j)
        for (i = u0; i < u1; ++i)
          for (c = 0; c < 3; ++c)
            sum[c] += linear[from->rgb[3 * ((size_t)j * from->width + i) + c]];
      n = (float)(u1 - u0) * (float)(v1 - v0);
      for (c = 0; c < 3; ++c)
        to->rgb[3 * ((size_t)(y0 + y) * to->width + x0 + x) + c] =
            (uint8_t)(255.0f * powf(sum[c] / n, 1.0f / 2.2f) + 0.5f);
    }
}

ooze_result ooze_image_sheet(const ooze_image *const *images, const char *const *captions,
                             uint32_t count, uint32_t columns, uint32_t cell_width, ooze_image *out,
                             ooze_message *why) {
  static const uint8_t ink[3] = {40, 42, 46};
  uint32_t gap = 12, rows, row, i, height, total, tallest;
  ooze_result r;
  if (!images || !count || !columns || cell_width < 16 || cell_width > 8192 || count > 10000)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "a sheet of %u images in %u columns of %u pixels",
                   count, columns, cell_width);
  for (i = 0; i < count; ++i)
    if (!images[i] || !images[i]->rgb)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "image %u of the sheet is empty", i);
  if (columns > count) columns = count;
  rows = (count + columns - 1) / columns;
  for (total = gap, row = 0; row < rows; ++row) {
    for (tallest = 0, i = row * columns; i < count && i < (row + 1) * columns; ++i) {
      height = (uint32_t)((uint64_t)images[i]->height * cell_width / images[i]->width);
      if (height < 1) height = 1;
      if (height > tallest) tallest = height;
    }
    total += tallest + (captions ? 24 : 0) + gap;
  }
  r = ooze_image_create(columns * (cell_width + gap) + gap, total, out, why);
  if (r) return r;
  memset(out->rgb, 246, (size_t)out->width * out->height * 3);
  for (total = gap, row = 0; row < rows; ++row) {
    for (tallest = 0, i = row * columns; i < count && i < (row + 1) * columns; ++i) {
      uint32_t x = gap + (i - row * columns) * (cell_width + gap);
      height = (uint32_t)((uint64_t)images[i]->height * cell_width / images[i]->width);
      if (height < 1) height = 1;
      scale_into(images[i], out, x, total, cell_width, height);
      if (captions && captions[i]) {
        uint32_t scale = ooze_image_text(NULL, 0, 0, 2, ink, captions[i]) <= cell_width ? 2 : 1;
        ooze_image_text(out, (int)x + 1, (int)(total + height + 6), scale, ink, captions[i]);
      }
      if (height > tallest) tallest = height;
    }
    total += tallest + (captions ? 24 : 0) + gap;
  }
  return OOZE_OK;
}
