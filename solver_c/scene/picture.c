/* Pictures of a scene's frames. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const sources[] = {"material", "speed", "stretch", "compression", "temperature"};
static const char *const labels[] = {NULL, "speed (m/s)", "stretch", "density error",
                                     "temperature (K)"};
static const uint32_t maps[] = {OOZE_MAP_VIRIDIS, OOZE_MAP_VIRIDIS, OOZE_MAP_MAGMA,
                                OOZE_MAP_DIVERGING, OOZE_MAP_HEAT};

static const float *floats(const ooze_points *points, const char *name, uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  if (ooze_points_find(points, name, &a) != OOZE_OK || a.type != OOZE_FLOAT32 ||
      a.components != components)
    return NULL;
  return a.data;
}

/* The quantity that colours show, one number a particle. NULL and a message where the points do not
 * have it.
 */
static float *values_of(const ooze_points *points, uint32_t source, ooze_message *why) {
  uint64_t count = ooze_points_count(points);
  const float *v = floats(points, "v", 3), *q = floats(points, "conform", 6),
              *t = floats(points, "temperature", 1), *c = floats(points, "compression", 1);
  if ((source == 1 && !v) || (source == 2 && !q) || (source == 3 && !c) || (source == 4 && !t)) {
    oz_fail(why, OOZE_ERROR_NOT_FOUND, "the points have no attribute %s to be coloured by",
            source == 1   ? "v"
            : source == 2 ? "conform"
            : source == 3 ? "compression"
                          : "temperature");
    return NULL;
  }
  float *out = malloc((size_t)(count + 1) * sizeof *out);
  if (!out) {
    oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for the picture's colours");
    return NULL;
  }
  for (uint64_t i = 0; i < count; i++) {
    if (source == 1) {
      out[i] =
          sqrtf(v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]);
    } else if (source == 2) { /* how far the conformation is from rest */
      const float *s = q + 6 * i;
      float a = s[0] - 1.0f, b = s[1] - 1.0f, d = s[2] - 1.0f;
      out[i] = sqrtf(a * a + b * b + d * d + 2.0f * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
    } else {
      out[i] = source == 3 ? c[i] : t[i];
    }
  }
  return out;
}

static int rising(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

/* A range about zero that shows compression. At a free surface half of the neighbours are missing
 * and the number is far below zero without anything being wrong: those do not count, and take the
 * lowest colour. */
static void compression_range(const float *values, uint64_t count, float out[2]) {
  float *above = malloc((size_t)(count + 1) * sizeof *above), top = 0.01f;
  uint64_t n = 0;
  for (uint64_t i = 0; above && i < count; i++)
    if (values[i] > 0.0f) above[n++] = values[i];
  if (n) {
    qsort(above, (size_t)n, sizeof *above, rising);
    if (above[n * 98 / 100] > top) top = above[n * 98 / 100];
  }
  free(above);
  out[0] = -top;
  out[1] = top;
}

static uint32_t *materials_of(const ooze_points *points, uint32_t looks) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  uint64_t count = ooze_points_count(points);
  if (!looks || ooze_points_find(points, "material", &a) != OOZE_OK || a.components != 1)
    return NULL;
  uint32_t *out = malloc((size_t)(count + 1) * sizeof *out);
  for (uint64_t i = 0; out && i < count; i++) {
    int64_t m = a.type == OOZE_INT32                            ? ((const int32_t *)a.data)[i]
                : a.type == OOZE_INT64 || a.type == OOZE_UINT64 ? ((const int64_t *)a.data)[i]
                                                                : 0;
    out[i] = m >= 1 && (uint64_t)m <= looks ? (uint32_t)(m - 1) : 0; /* 0 is the solver's own */
  }
  return out;
}

static int glows(const ooze_scene *s) {
  for (uint32_t i = 0; i < s->material_count; i++)
    if (s->looks[i].look.glow > 0.0f) return 1;
  return 0;
}

ooze_result ooze_scene_picture(const ooze_scene *scene, double frame, const ooze_points *points,
                               const ooze_surface *surface, const ooze_picture_options *given,
                               ooze_image *out, ooze_message *why) {
  ooze_picture_options o;
  ooze_render_desc desc;
  oz_picture view;
  memset(&view, 0, sizeof view);
  if (!points || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points given");
  ooze_picture_options_default(&o);
  if (given && given->size >= sizeof given->size)
    memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
  ooze_render_desc_default(&desc);
  uint64_t count = ooze_points_count(points);
  const float *x = floats(points, "P", 3), *v = floats(points, "v", 3),
              *radius = floats(points, "pscale", 1);
  if (!x || count > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "the points have no P of 3 floats, or are too many");
  double separation = 0.0;
  if (ooze_points_detail_get(points, "separation", &separation) != OOZE_OK || !(separation > 0.0))
    separation = scene             ? (double)scene->separation
                 : radius && count ? 2.0 * (double)radius[0]
                                   : 0.01;

  /* the scene's wishes, then those of the caller */
  if (scene) {
    view = scene->picture;
    desc.samples = view.samples;
    desc.width = view.width;
    desc.height = view.height;
    desc.azimuth = view.azimuth;
    desc.elevation = view.elevation;
    desc.zoom = view.zoom;
    desc.field_of_view = view.field_of_view;
    desc.caption = view.caption;
    memcpy(desc.bounds, view.bounds, sizeof desc.bounds);
    float wide = view.bounds[3] - view.bounds[0];
    /* squares of 1, 2 or 5 times a power of ten that stay the same over the frames */
    if (wide > 0.0f) {
      double power = pow(10.0, floor(log10((double)wide / 5.0))),
             times = (double)wide / 5.0 / power;
      desc.checker = (float)(power * (times >= 5.0 ? 5.0 : times >= 2.0 ? 2.0 : 1.0));
    }
    memcpy(desc.scalar_range, view.range, sizeof desc.scalar_range);
    if (view.has_eye && !o.has_view) {
      desc.camera_auto = 0;
      memcpy(desc.eye, view.eye, sizeof desc.eye);
      memcpy(desc.target, view.target, sizeof desc.target);
    }
  } else {
    view.smoothing = 1;
  }
  uint32_t style = o.style      ? o.style
                   : view.style ? view.style
                                : OOZE_PICTURE_SURFACE,
           source = view.colour_by;
  if (o.colour_by) {
    for (source = 0; source < 5 && strcmp(sources[source], o.colour_by) != 0; source++) {
    }
    if (source == 5)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "there is no colouring by '%s'; one of material, speed, stretch, "
                     "compression, temperature would fit",
                     o.colour_by);
  }
  if (o.width) desc.width = o.width;
  if (o.height) desc.height = o.height;
  if (o.samples) desc.samples = o.samples;
  if (o.caption) desc.caption = o.caption;
  if (o.range[0] != 0.0f || o.range[1] != 0.0f) memcpy(desc.scalar_range, o.range, sizeof o.range);
  if (o.has_view) {
    desc.azimuth = o.azimuth;
    desc.elevation = o.elevation;
    desc.zoom = o.zoom;
  }
  desc.threads = o.threads;
  desc.particle_count = (uint32_t)count;
  desc.positions = x;
  desc.particle_radius = (float)(0.5 * separation);

  ooze_surface *built = NULL;
  ooze_look *looks = NULL;
  float *values = NULL;
  uint32_t *materials = NULL;
  oz_shown drawn;
  memset(&drawn, 0, sizeof drawn);
  ooze_result result = OOZE_OK;
  if (scene) {
    looks = calloc(scene->material_count + 1, sizeof *looks);
    for (uint32_t i = 0; looks && i < scene->material_count; i++) looks[i] = scene->looks[i].look;
    desc.looks = looks;
    desc.look_count = looks ? scene->material_count : 0;
    materials = materials_of(points, scene->material_count);
    desc.materials = materials;
    result = oz_show_colliders(scene, frame, &drawn, why);
    /* Bodies have shapes of their own, which a surface about all particles would melt into the
     * fluid. A colour that stands for a number is one of particles, though, so spheres are drawn.
     */
    if (result >= 0 && style == OOZE_PICTURE_SURFACE && !source && scene->body_count) {
      result = oz_show_bodies(scene, points, separation, o.threads, &drawn, why);
      if (drawn.fluid && result >= 0) { /* particles left for the surface */
        count = drawn.fluid_count;
        /* which[i] >= i */
        for (uint64_t i = 0; materials && i < count; i++) materials[i] = materials[drawn.which[i]];
        x = drawn.fluid;
        desc.positions = x;
        desc.particle_count = (uint32_t)count;
      }
    }
    desc.shapes = drawn.shapes;
    desc.shape_count = drawn.count;
  }
  const float *heat = floats(points, "temperature", 1);
  if (result >= 0 && scene && !source && heat && glows(scene)) {
    values = malloc((size_t)(count + 1) * sizeof *values);
    for (uint64_t i = 0; values && i < count; i++)
      values[i] = heat[drawn.which ? drawn.which[i] : i];
    desc.temperatures = values;
  }
  if (result >= 0 && source) {
    values = values_of(points, source, why);
    if (!values) result = OOZE_ERROR_NOT_FOUND;
    desc.scalars = values;
    desc.scalar_label = labels[source];
    desc.colour_map = maps[source];
    if (source == 3 && values && desc.scalar_range[0] == 0.0f && desc.scalar_range[1] == 0.0f)
      compression_range(values, count, desc.scalar_range);
  }
  if (result >= 0 && style == OOZE_PICTURE_SURFACE && count) {
    if (!surface) {
      ooze_surface_desc sd;
      ooze_surface_points sp;
      ooze_surface_desc_default(&sd);
      ooze_surface_points_default(&sp);
      /* the menu's order */
      static const uint32_t methods[] = {OOZE_SURFACE_ANISOTROPIC, OOZE_SURFACE_SPHERES,
                                         OOZE_SURFACE_DENSITY};
      sd.method = methods[view.surface_method];
      if (scene) sd.threshold = scene->output.threshold;
      sd.separation = (float)separation;
      sd.smoothing = view.smoothing;
      sd.attributes = OOZE_FILL_NONE;
      sd.threads = o.threads;
      sp.count = (uint32_t)count;
      sp.positions = x;
      sp.velocities = NULL;
      (void)v;
      result = ooze_surface_build(&sd, &sp, &built, why);
      surface = built;
    }
    desc.surface = surface;
  }
  if (result >= 0) result = ooze_render(&desc, out, why);
  ooze_surface_destroy(built);
  oz_shown_release(&drawn);
  free(looks);
  free(values);
  free(materials);
  return result < 0 ? result : OOZE_OK;
}
