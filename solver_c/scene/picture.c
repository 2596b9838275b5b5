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

/* The quantity that colours show, one number a particle. NULL and a message where the points do not
 * have it.
 */
static float *values_of(const ooze_points *points, uint32_t source, ooze_message *why) {
  uint64_t count = ooze_points_count(points);
  const float *v = oz_points_floats(points, "v", 3), *q = oz_points_floats(points, "conform", 6),
              *t = oz_points_floats(points, "temperature", 1),
              *c = oz_points_floats(points, "compression", 1);
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
    const uint32_t base = m >= 1 && m <= UINT32_MAX ? oz_painted_base((uint32_t)m, looks) : 0;
    out[i] = base ? base - 1 : 0; /* 0 is the solver's own */
  }
  return out;
}

static int glows(const ooze_scene *s) {
  for (uint32_t i = 0; i < s->material_count; i++)
    if (s->looks[i].look.glow > 0.0f) return 1;
  return 0;
}

/* One picture in the making, and its resources. */
typedef struct picture_job {
  const ooze_scene *scene; /* may be NULL */
  const ooze_points *points;
  ooze_picture_options o;
  ooze_render_desc desc;
  oz_picture view;
  uint32_t style, source; /* source: an index of sources[] */
  double separation;
  const float *positions; /* of the particles that the surface is about, `count` of them */
  uint64_t count;

  ooze_surface *built;
  ooze_look *looks;
  float *values;
  uint32_t *materials;
  oz_shown drawn;
} picture_job;

static void picture_release(picture_job *job) {
  ooze_surface_destroy(job->built);
  oz_shown_release(&job->drawn);
  free(job->looks);
  free(job->values);
  free(job->materials);
}

/* Is one of the values not 0, and so given? */
static int any(const float *values, size_t count) {
  while (count && values[count - 1] == 0.0f) count--;
  return count > 0;
}

int oz_picture_has_bounds(const ooze_scene *s) { return any(s->picture.bounds, 6); }

int oz_picture_is_framed(const ooze_scene *s) {
  const oz_picture *p = &s->picture;
  for (uint32_t i = 0; i < s->material_count; i++)
    if (s->looks[i].look.clarity > 0.0f && !(s->looks[i].look.depth > 0.0f)) return 0;
  return oz_picture_has_bounds(s) && (!p->colour_by || any(p->range, 2));
}

/* Squares of 1, 2 or 5 times a power of ten, a fifth of the width or less: they stay the same over
 * the frames. */
static float checker_size(float wide) {
  double power = pow(10.0, floor(log10((double)wide / 5.0))), times = (double)wide / 5.0 / power;
  return (float)(power * (times >= 5.0 ? 5.0 : times >= 2.0 ? 2.0 : 1.0));
}

/* Camera, size and range as the scene has them. */
static void take_scene_view(picture_job *job) {
  ooze_render_desc *desc = &job->desc;
  const oz_picture *view = &job->scene->picture;
  const float wide = view->bounds[3] - view->bounds[0];
  job->view = *view;
  desc->samples = view->samples;
  desc->width = view->width;
  desc->height = view->height;
  desc->azimuth = view->azimuth;
  desc->elevation = view->elevation;
  desc->zoom = view->zoom;
  desc->field_of_view = view->field_of_view;
  desc->caption = job->view.caption;
  memcpy(desc->bounds, view->bounds, sizeof desc->bounds);
  if (wide > 0.0f) desc->checker = checker_size(wide);
  memcpy(desc->scalar_range, view->range, sizeof desc->scalar_range);
  if (view->has_eye && !job->o.has_view) {
    desc->camera_auto = 0;
    memcpy(desc->eye, view->eye, sizeof desc->eye);
    memcpy(desc->target, view->target, sizeof desc->target);
  }
}

/* ... and as the caller wants them, which counts for more. */
static ooze_result take_options(picture_job *job, ooze_message *why) {
  const ooze_picture_options *o = &job->o;
  ooze_render_desc *desc = &job->desc;
  job->style = o->style ? o->style : job->view.style ? job->view.style : OOZE_PICTURE_SURFACE;
  job->source = job->view.colour_by;
  if (o->colour_by) {
    uint32_t source = 0;
    while (source < 5 && strcmp(sources[source], o->colour_by) != 0) source++;
    if (source == 5)
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "there is no colouring by '%s'; one of material, speed, stretch, "
                     "compression, temperature would fit",
                     o->colour_by);
    job->source = source;
  }
  if (o->width) desc->width = o->width;
  if (o->height) desc->height = o->height;
  if (o->samples) desc->samples = o->samples;
  if (o->caption) desc->caption = o->caption;
  if (any(o->range, 2) && !job->source)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "a range of %g to %g is of no use where colours show materials; expected to be "
                   "coloured by speed, stretch, compression or temperature",
                   (double)o->range[0], (double)o->range[1]);
  if (any(o->range, 2)) memcpy(desc->scalar_range, o->range, sizeof o->range);
  if (!any(desc->scalar_range, 2)) memcpy(desc->scalar_range, o->fit_range, sizeof o->fit_range);
  if (!any(desc->bounds, 6)) memcpy(desc->bounds, o->fit_bounds, sizeof o->fit_bounds);
  desc->fluid_size = o->fit_size;
  if (o->has_view) {
    desc->azimuth = o->azimuth;
    desc->elevation = o->elevation;
    desc->zoom = o->zoom;
  }
  desc->threads = o->threads;
  return OOZE_OK;
}

static ooze_result take_points(picture_job *job, ooze_message *why) {
  const float *radius = oz_points_floats(job->points, "pscale", 1);
  job->count = ooze_points_count(job->points);
  job->positions = oz_points_floats(job->points, "P", 3);
  if (!job->positions || job->count > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "the points have no P of 3 floats, or are too many");
  if (ooze_points_detail_get(job->points, "separation", &job->separation) != OOZE_OK ||
      !(job->separation > 0.0))
    job->separation = job->scene             ? (double)job->scene->separation
                      : radius && job->count ? 2.0 * (double)radius[0]
                                             : 0.01;
  job->desc.particle_count = (uint32_t)job->count;
  job->desc.positions = job->positions;
  job->desc.particle_radius = (float)(0.5 * job->separation);
  return OOZE_OK;
}

/* Bodies have shapes of their own, which a surface about all particles would melt into the fluid:
 * the particles that are left for the surface are the fluid's. */
static ooze_result show_bodies(picture_job *job, ooze_message *why) {
  ooze_result result =
      oz_show_bodies(job->scene, job->points, job->separation, job->o.threads, &job->drawn, why);
  if (result < 0 || !job->drawn.fluid) return result;
  job->count = job->drawn.fluid_count;
  for (uint64_t i = 0; job->materials && i < job->count; i++) /* which[i] >= i */
    job->materials[i] = job->materials[job->drawn.which[i]];
  job->positions = job->drawn.fluid;
  job->desc.positions = job->positions;
  job->desc.particle_count = (uint32_t)job->count;
  return result;
}

/* Materials, colliders and bodies. */
static ooze_result show_scene(picture_job *job, double frame, ooze_message *why) {
  const ooze_scene *scene = job->scene;
  ooze_render_desc *desc = &job->desc;
  job->looks = calloc(scene->material_count + 1, sizeof *job->looks);
  for (uint32_t i = 0; job->looks && i < scene->material_count; i++)
    job->looks[i] = scene->looks[i].look;
  desc->looks = job->looks;
  desc->look_count = job->looks ? scene->material_count : 0;
  job->materials = materials_of(job->points, scene->material_count);
  desc->materials = job->materials;
  ooze_result result = oz_show_colliders(scene, frame, &job->drawn, why);
  /* A colour that stands for a number is one of particles, so spheres are drawn. */
  if (result >= 0 && job->style == OOZE_PICTURE_SURFACE && !job->source && scene->body_count)
    result = show_bodies(job, why);
  desc->shapes = job->drawn.shapes;
  desc->shape_count = job->drawn.count;
  return result;
}

/* Temperatures of glowing materials. */
static void show_glow(picture_job *job) {
  const float *heat = oz_points_floats(job->points, "temperature", 1);
  if (!job->scene || job->source || !heat || !glows(job->scene)) return;
  job->values = malloc((size_t)(job->count + 1) * sizeof *job->values);
  for (uint64_t i = 0; job->values && i < job->count; i++)
    job->values[i] = heat[job->drawn.which ? job->drawn.which[i] : i];
  job->desc.temperatures = job->values;
}

/* Colours by a quantity. */
static ooze_result show_values(picture_job *job, ooze_message *why) {
  ooze_render_desc *desc = &job->desc;
  job->values = values_of(job->points, job->source, why);
  if (!job->values) return OOZE_ERROR_NOT_FOUND;
  desc->scalars = job->values;
  desc->scalar_label = labels[job->source];
  desc->colour_map = maps[job->source];
  if (job->source == 3 && !any(desc->scalar_range, 2))
    compression_range(job->values, job->count, desc->scalar_range);
  return OOZE_OK;
}

static ooze_result build_surface(picture_job *job, ooze_message *why) {
  static const uint32_t methods[] = {OOZE_SURFACE_ANISOTROPIC, OOZE_SURFACE_SPHERES,
                                     OOZE_SURFACE_DENSITY}; /* the menu's order */
  ooze_surface_desc sd;
  ooze_surface_points sp;
  ooze_surface_desc_default(&sd);
  ooze_surface_points_default(&sp);
  sd.method = methods[job->view.surface_method];
  if (job->scene) sd.threshold = job->scene->output.threshold;
  sd.separation = (float)job->separation;
  sd.smoothing = job->view.smoothing;
  sd.attributes = OOZE_FILL_NONE;
  sd.threads = job->o.threads;
  sp.count = (uint32_t)job->count;
  sp.positions = job->positions;
  return ooze_surface_build(&sd, &sp, &job->built, why);
}

/* Lows then highs, `count` of each; a range that is not set yet becomes the other one. */
static void widen(float *range, const float *by, size_t count) {
  const int set = any(range, 2 * count);
  for (size_t k = 0; k < count; k++) {
    range[k] = set ? fminf(range[k], by[k]) : by[k];
    range[count + k] = set ? fmaxf(range[count + k], by[count + k]) : by[count + k];
  }
}

static void picture_open(picture_job *job, const ooze_scene *scene, const ooze_points *points,
                         const ooze_picture_options *given) {
  memset(job, 0, sizeof *job);
  job->scene = scene;
  job->points = points;
  ooze_picture_options_default(&job->o);
  if (given && given->size >= sizeof given->size)
    memcpy(&job->o, given, given->size < sizeof job->o ? given->size : sizeof job->o);
  ooze_render_desc_default(&job->desc);
  job->view.smoothing = 1;
}

/* The description of a picture, all but its surface. */
static ooze_result describe(picture_job *job, double frame, ooze_message *why) {
  if (job->scene) take_scene_view(job);
  ooze_result result = take_points(job, why);
  if (result >= 0) result = take_options(job, why);

  if (result >= 0 && job->scene) result = show_scene(job, frame, why);
  if (result >= 0) show_glow(job);
  if (result >= 0 && job->source) result = show_values(job, why);
  return result;
}

ooze_result ooze_scene_picture_fit(const ooze_scene *scene, double frame, const ooze_points *points,
                                   ooze_picture_options *fit, ooze_message *why) {
  picture_job job;
  float bounds[6] = {0.0f}, fluid[6] = {0.0f}, range[2] = {0.0f}, unused[2], size2 = 0.0f;
  if (!points || !fit || fit->size != sizeof *fit)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points or options given");
  picture_open(&job, scene, points, fit);
  memset(job.o.fit_bounds, 0, sizeof job.o.fit_bounds);
  memset(job.o.fit_range, 0, sizeof job.o.fit_range);
  job.o.fit_size = 0.0f;
  job.o.style = OOZE_PICTURE_SPHERES; /* about as large as the surface, and at hand */
  ooze_result result = describe(&job, frame, why);
  if (result >= 0 && job.count) result = ooze_render_fit(&job.desc, bounds, range, why);
  job.desc.shape_count = 0;
  if (result >= 0 && job.count) result = ooze_render_fit(&job.desc, fluid, unused, why);
  for (int k = 0; k < 3; k++) size2 += (fluid[3 + k] - fluid[k]) * (fluid[3 + k] - fluid[k]);
  if (result >= 0 && any(bounds, 6)) widen(fit->fit_bounds, bounds, 3);
  if (result >= 0 && any(range, 2)) widen(fit->fit_range, range, 1);
  if (result >= 0) fit->fit_size = fmaxf(fit->fit_size, sqrtf(size2));
  picture_release(&job);
  return result < 0 ? result : OOZE_OK;
}

ooze_result ooze_scene_picture(const ooze_scene *scene, double frame, const ooze_points *points,
                               const ooze_surface *surface, const ooze_picture_options *given,
                               ooze_image *out, ooze_message *why) {
  picture_job job;
  if (!points || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no points given");
  picture_open(&job, scene, points, given);
  ooze_result result = describe(&job, frame, why);
  if (result >= 0 && job.style == OOZE_PICTURE_SURFACE && job.count) {
    if (!surface) result = build_surface(&job, why);
    job.desc.surface = surface ? surface : job.built;
  }
  if (result >= 0) result = ooze_render(&job.desc, out, why);
  picture_release(&job);
  return result < 0 ? result : OOZE_OK;
}
