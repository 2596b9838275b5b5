/* From the description to a scene ready for rays: trees, looks, ground, framing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo/geo_internal.h"
#include "rays.h"

#include <stdlib.h>

static void quaternion_axes(const float q[4], float axes[9]) {
  float x = q[0], y = q[1], z = q[2], w = q[3], n = x * x + y * y + z * z + w * w,
        s = n > 0.0f ? 2.0f / n : 0.0f;
  axes[0] = 1.0f - s * (y * y + z * z);
  axes[1] = s * (x * y + w * z);
  axes[2] = s * (x * z - w * y);
  axes[3] = s * (x * y - w * z);
  axes[4] = 1.0f - s * (x * x + z * z);
  axes[5] = s * (y * z + w * x);
  axes[6] = s * (x * z + w * y);
  axes[7] = s * (y * z - w * x);
  axes[8] = 1.0f - s * (x * x + y * y);
}

static void grow(oz_scene *s, oz_v3 p, int *first) {
  if (*first) s->lower = s->upper = p;
  *first = 0;
  s->lower = v3(fminf(s->lower.x, p.x), fminf(s->lower.y, p.y), fminf(s->lower.z, p.z));
  s->upper = v3(fmaxf(s->upper.x, p.x), fmaxf(s->upper.y, p.y), fmaxf(s->upper.z, p.z));
}

/* Triangles around each point: those of point p are list[first[p]] to list[first[p + 1] - 1]. */
static int around_points(const ooze_render_shape *from, uint32_t **first, uint32_t **list) {
  const size_t corners = 3 * (size_t)from->triangle_count;
  *first = (uint32_t *)oz_allocate((size_t)from->point_count + 2, sizeof **first);
  *list = (uint32_t *)oz_allocate(corners, sizeof **list);
  if (!*first || !*list) return 0;
  memset(*first, 0, ((size_t)from->point_count + 2) * sizeof **first);
  for (size_t i = 0; i < corners; ++i) (*first)[from->triangles[i] + 2]++;
  for (size_t p = 2; p <= from->point_count; ++p) (*first)[p + 1] += (*first)[p];
  for (size_t i = 0; i < corners; ++i)
    (*list)[(*first)[from->triangles[i] + 1]++] = (uint32_t)(i / 3);
  return 1;
}

/* Corners and normals of a mesh, in world space and tree order. A corner's normal is the mean, by
 * area, of the triangles about its point that its own meets at less than 40 degrees: what is round
 * looks round, and edges stay sharp. */
static int mesh_shape(oz_shape *to, const ooze_render_shape *from) {
  enum {
    MOST_AROUND = 1024
  }; /* of a larger fan the triangles are flat: it would take its square */
  const float crease = 0.766f;
  const size_t triangles = from->triangle_count, n = 9 * triangles;
  float *corners = (float *)oz_allocate(n, sizeof(float));
  oz_v3 *faces = (oz_v3 *)oz_allocate(triangles, sizeof *faces); /* normals, twice the area long */
  uint32_t *first = NULL, *list = NULL;
  int ok = corners && faces && around_points(from, &first, &list);
  for (size_t i = 0; ok && i < n / 3; ++i) {
    const float *p = from->points + 3 * (size_t)from->triangles[i];
    oz_v3 w = v3_add(v3_scale(v3_of(to->axes), p[0]), v3_add(v3_scale(v3_of(to->axes + 3), p[1]),
                                                             v3_scale(v3_of(to->axes + 6), p[2])));
    w = v3_add(w, to->centre);
    memcpy(corners + 3 * i, &w, sizeof w);
  }
  for (size_t i = 0; ok && i < triangles; ++i) {
    const float *c = corners + 9 * i;
    faces[i] = v3_cross(v3_sub(v3_of(c + 3), v3_of(c)), v3_sub(v3_of(c + 6), v3_of(c)));
  }
  if (ok) {
    to->normals = (float *)oz_allocate(n, sizeof(float));
    ok = to->normals && oz_bvh_triangles(&to->mesh, corners, from->triangle_count);
  }
  for (size_t i = 0; ok && i < triangles; ++i) {
    const size_t own = to->mesh.order[i];
    const oz_v3 face = v3_unit(faces[own]);
    for (size_t a = 0; a < 3; ++a) {
      const uint32_t point = from->triangles[3 * own + a];
      oz_v3 sum = faces[own];
      const uint32_t end =
          first[point + 1] - first[point] > MOST_AROUND ? first[point] : first[point + 1];
      for (uint32_t k = first[point]; k < end; ++k)
        if (list[k] != own && v3_dot(v3_unit(faces[list[k]]), face) > crease)
          sum = v3_add(sum, faces[list[k]]);
      sum = v3_unit(sum);
      memcpy(to->normals + 9 * i + 3 * a, &sum, sizeof sum);
    }
  }
  oz_release(corners);
  oz_release(faces);
  oz_release(first);
  oz_release(list);
  return ok;
}

static ooze_result check_shape(const ooze_render_shape *from, uint32_t i, ooze_message *why) {
  uint32_t k;
  int a;
  if (from->size != sizeof *from)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "shape %u: fill it with its _default()", i);
  for (a = 0; a < 3; ++a)
    if (!isfinite(from->half[a]) || !isfinite(from->pose.position[a]) ||
        !isfinite(from->pose.rotation[a]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "shape %u: a size or pose is not finite", i);
  if (!from->triangle_count) return OOZE_OK;
  if (!from->points || !from->triangles)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "shape %u: a mesh without points", i);
  for (k = 0; k < from->triangle_count * 3; ++k)
    if (from->triangles[k] >= from->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "shape %u: triangle %u names point %u of %u", i,
                     k / 3, from->triangles[k], from->point_count);
  for (k = 0; k < from->point_count * 3; ++k)
    if (!isfinite(from->points[k]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "shape %u: point %u is not finite", i, k / 3);
  return OOZE_OK;
}

/* A level plane is the ground where the picture takes one from its shapes. */
static int is_ground(oz_scene *s, const oz_shape *plane) {
  if (s->desc->ground != 2 || !(plane->axes[4] > 0.999f)) return 0;
  if (!s->has_ground || plane->centre.y < s->ground) s->ground = plane->centre.y;
  s->has_ground = 1;
  return 1;
}

/* The box about a shape of closed form, and the sphere about that. */
static void bound_shape(oz_scene *s, oz_shape *to, int *first) {
  double box[3];
  float h[3];
  uint32_t k;
  int a;
  if (!oz_primitive_box(to->kind, to->half, box)) return;
  for (a = 0; a < 3; ++a) h[a] = (float)box[a];
  to->reach = 1.0001f * v3_length(v3_of(h));
  for (k = 0; k < 8; ++k) {
    oz_v3 c = v3_madd(to->centre, v3_of(to->axes), k & 1 ? h[0] : -h[0]);
    c = v3_madd(c, v3_of(to->axes + 3), k & 2 ? h[1] : -h[1]);
    grow(s, v3_madd(c, v3_of(to->axes + 6), k & 4 ? h[2] : -h[2]), first);
  }
}

static ooze_result add_shapes(oz_scene *s, int *first, ooze_message *why) {
  const ooze_render_desc *d = s->desc;
  ooze_result r;
  uint32_t i;
  s->shapes = (oz_shape *)oz_allocate(d->shape_count, sizeof *s->shapes);
  if (!s->shapes) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u shapes", d->shape_count);
  for (i = 0; i < d->shape_count; ++i) {
    const ooze_render_shape *from = &d->shapes[i];
    oz_shape to;
    memset(&to, 0, sizeof to);
    if ((r = check_shape(from, i, why))) return r;
    to.kind = from->shape;
    to.invert = from->invert;
    memcpy(to.half, from->half, sizeof to.half);
    to.centre = v3_of(from->pose.position);
    quaternion_axes(from->pose.rotation, to.axes);
    to.colour = oz_colour_linear(from->colour);
    to.gloss = oz_clamp(from->gloss, 0.0f, 1.0f);
    if (from->triangle_count) {
      to.kind = OOZE_SHAPE_SDF;
      if (!mesh_shape(&to, from)) {
        oz_bvh_free(&to.mesh);
        oz_release(to.normals);
        return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the %u triangles of shape %u",
                       from->triangle_count, i);
      }
      grow(s, v3_of(to.mesh.nodes[0].lo), first);
      grow(s, v3_of(to.mesh.nodes[0].hi), first);
    } else if (to.kind == OOZE_SHAPE_PLANE) {
      if (is_ground(s, &to)) continue;
    } else if (to.kind != OOZE_SHAPE_SDF) {
      bound_shape(s, &to, first);
    }
    if (from->hidden) {
      oz_bvh_free(&to.mesh);
      oz_release(to.normals);
      continue;
    }
    s->shapes[s->shape_count++] = to;
  }
  return OOZE_OK;
}

static int float_order(const void *a, const void *b) {
  float p = *(const float *)a, q = *(const float *)b;
  return p < q ? -1 : p > q;
}

/* The value at a share of the sorted sample; at most 20,000 are looked at. */
static void percentiles(const float *values, uint32_t count, uint32_t stride, float share,
                        float out[2]) {
  uint32_t step = count / 20000 + 1, n = 0, i;
  float *sample = (float *)oz_allocate(count / step + 1, sizeof(float));
  out[0] = out[1] = 0.0f;
  if (!sample) return;
  for (i = 0; i < count; i += step)
    if (isfinite(values[(size_t)i * stride])) sample[n++] = values[(size_t)i * stride];
  if (n) {
    qsort(sample, n, sizeof *sample, float_order);
    i = (uint32_t)(share * (float)(n - 1));
    out[0] = sample[i];
    out[1] = sample[n - 1 - i];
  }
  oz_release(sample);
}

static void place_camera(oz_scene *s) {
  const ooze_render_desc *d = s->desc;
  float wide = tanf(0.5f * d->field_of_view * 0.01745329f),
        high = wide * (float)d->height / (float)d->width, back = 0.0f;
  oz_v3 lo = s->lower, hi = s->upper, centre;
  int k;
  if (!d->camera_auto) {
    s->eye = v3_of(d->eye);
    s->forward = v3_unit(v3_sub(v3_of(d->target), s->eye));
  } else {
    float az = d->azimuth * 0.01745329f, el = d->elevation * 0.01745329f;
    s->forward = v3(-sinf(az) * cosf(el), -sinf(el), -cosf(az) * cosf(el));
  }
  s->right =
      v3_unit(v3_cross(s->forward, fabsf(s->forward.y) < 0.999f ? v3(0, 1, 0) : v3(0, 0, -1)));
  s->up = v3_cross(s->right, s->forward);
  if (d->camera_auto) {
    for (k = 0; k < 6 && d->bounds[k] == 0.0f; ++k) {
    }
    if (k < 6) {
      lo = v3_of(d->bounds);
      hi = v3_of(d->bounds + 3);
    }
    centre = v3_scale(v3_add(lo, hi), 0.5f);
    /* Far enough back that every corner of the box is in the picture, with a margin. */
    for (k = 0; k < 8; ++k) {
      oz_v3 c = v3_sub(v3(k & 1 ? hi.x : lo.x, k & 2 ? hi.y : lo.y, k & 4 ? hi.z : lo.z), centre);
      back = fmaxf(back, fmaxf(fabsf(v3_dot(c, s->right)) / wide, fabsf(v3_dot(c, s->up)) / high) -
                             v3_dot(c, s->forward));
    }
    back = fmaxf(back, 1e-4f) * 1.08f / (d->zoom > 0.0f ? d->zoom : 1.0f);
    s->eye = v3_madd(centre, s->forward, -back);
    if (s->has_ground && s->eye.y < s->ground + 0.02f * back) s->eye.y = s->ground + 0.02f * back;
  }
  s->key = v3_unit(v3_add(v3(0.0f, 0.85f, 0.0f),
                          v3_add(v3_scale(v3_unit(v3(s->right.x, 0, s->right.z)), -0.62f),
                                 v3_scale(v3(s->forward.x, 0.0f, s->forward.z), -0.28f))));
  s->key_u = v3_unit(v3_cross(s->key, v3(0.3f, 0.2f, 0.9f)));
  s->key_v = v3_cross(s->key, s->key_u);
  s->right = v3_scale(s->right, wide);
  s->up = v3_scale(s->up, high);
}

void oz_scene_free(oz_scene *s) {
  uint32_t i;
  for (i = 0; i < s->shape_count; ++i) {
    oz_bvh_free(&s->shapes[i].mesh);
    oz_release(s->shapes[i].normals);
  }
  oz_release(s->shapes);
  oz_release(s->looks);
  oz_release(s->tints);
  oz_march_free(&s->march);
  oz_bvh_free(&s->spheres);
  oz_cells_free(&s->cells);
}

static ooze_result add_fluid(oz_scene *s, int *first, ooze_message *why) {
  const ooze_render_desc *d = s->desc;
  float range[2];
  oz_v3 lo, hi;
  uint32_t i;
  ooze_result r;
  for (i = 0; i < d->particle_count * 3u; ++i)
    if (!isfinite(d->positions[i]))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "particle %u is not finite", i / 3);
  if (d->surface) {
    if (!oz_march_init(&s->march, d->surface))
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory to draw the surface");
    lo = v3_of(d->surface->info.lower);
    hi = v3_of(d->surface->info.upper);
    if (d->particle_count &&
        (d->scalars || d->temperatures || (d->materials && d->look_count > 1))) {
      r = oz_cells_build(&s->cells, 5.0f * d->particle_radius, d->particle_count, d->positions,
                         3 * sizeof(float), NULL, why);
      if (r) return r;
    }
  } else if (d->particle_count) {
    if (!oz_bvh_spheres(&s->spheres, d->positions, d->particle_count, d->particle_radius))
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory to draw %u particles", d->particle_count);
    lo = v3_of(s->spheres.nodes[0].lo);
    hi = v3_of(s->spheres.nodes[0].hi);
  } else {
    return OOZE_OK;
  }
  if (d->particle_count > 1000) { /* a few stray drops do not shrink the picture */
    float *l = &lo.x, *h = &hi.x, margin = 2.0f * d->particle_radius;
    for (i = 0; i < 3; ++i) {
      percentiles(d->positions + i, d->particle_count, 3, 0.002f, range);
      l[i] = fmaxf(l[i], range[0] - margin);
      h[i] = fminf(h[i], range[1] + margin);
    }
  }
  s->fluid_size = d->fluid_size > 0.0f ? d->fluid_size : v3_length(v3_sub(hi, lo));
  grow(s, lo, first);
  grow(s, hi, first);
  if (d->scalars) {
    memcpy(s->range, d->scalar_range, sizeof s->range);
    if (s->range[0] == 0.0f && s->range[1] == 0.0f)
      percentiles(d->scalars, d->particle_count, 1, 0.02f, s->range);
    s->tints = (oz_v3 *)oz_allocate(d->particle_count, sizeof *s->tints);
    if (!s->tints)
      return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the colours of %u particles",
                     d->particle_count);
    for (i = 0; i < d->particle_count; ++i)
      s->tints[i] = oz_colour_map(d->colour_map,
                                  s->range[1] != s->range[0]
                                      ? (d->scalars[i] - s->range[0]) / (s->range[1] - s->range[0])
                                      : 0.5f);
  }
  return OOZE_OK;
}

static ooze_result add_looks(oz_scene *s, ooze_message *why) {
  const ooze_render_desc *d = s->desc;
  ooze_look neutral;
  uint32_t i;
  s->look_count = d->look_count ? d->look_count : 1;
  s->looks = (oz_look *)oz_allocate(s->look_count, sizeof *s->looks);
  if (!s->looks) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u looks", s->look_count);
  ooze_look_default(&neutral);
  for (i = 0; i < s->look_count; ++i) {
    const ooze_look *l = d->look_count ? &d->looks[i] : &neutral;
    oz_look *to = &s->looks[i];
    float depth = l->depth > 0.0f ? l->depth : fmaxf(0.10f * s->fluid_size, 1e-6f);
    if (l->size != sizeof *l)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "look %u: fill it with its _default()", i);
    to->colour = oz_colour_linear(l->colour);
    to->absorb =
        v3(-logf(fmaxf(to->colour.x, 0.003f)) / depth, -logf(fmaxf(to->colour.y, 0.003f)) / depth,
           -logf(fmaxf(to->colour.z, 0.003f)) / depth);
    to->depth = depth;
    to->clarity =
        /* a colour that stands for a number must not mix */
        d->scalars ? 0.0f : oz_clamp(l->clarity, 0.0f, 1.0f);
    to->gloss = d->scalars ? 0.4f : oz_clamp(l->gloss, 0.0f, 1.0f);
    to->softness = d->scalars ? 0.0f : oz_clamp(l->softness, 0.0f, 1.0f);
    to->glow = d->scalars ? 0.0f : fmaxf(l->glow, 0.0f);
  }
  return OOZE_OK;
}

ooze_result oz_scene_build(oz_scene *s, const ooze_render_desc *d, ooze_message *why) {
  int first = 1;
  float squares;
  ooze_result r;
  memset(s, 0, sizeof *s);
  s->desc = d;
  if ((r = add_fluid(s, &first, why)) || (r = add_looks(s, why)) ||
      (r = add_shapes(s, &first, why)))
    return r;
  if (first) {
    s->lower = v3(-0.5f, 0.0f, -0.5f);
    s->upper = v3(0.5f, 1.0f, 0.5f);
  }
  if (d->ground == 1) s->ground = d->ground_height;
  const int framed = v3_length(v3_sub(v3_of(d->bounds + 3), v3_of(d->bounds))) > 0.0f;
  /* the framed bounds: ground and haze do not change with the fluid */
  if (d->ground == 2 && !s->has_ground)
    s->ground = framed ? fminf(s->lower.y, d->bounds[1]) : s->lower.y;
  s->has_ground = d->ground != 0;
  if (framed) {
    s->lower = v3_of(d->bounds);
    s->upper = v3_of(d->bounds + 3);
  }
  s->size = fmaxf(v3_length(v3_sub(s->upper, s->lower)), 1e-6f);
  s->skin =
      s->march.s ? 0.75f * s->march.s->voxel : fmaxf(0.02f * d->particle_radius, 1e-5f * s->size);
  if (!s->march.s && !s->spheres.count) s->skin = 1e-4f * s->size;
  if (d->checker > 0.0f) s->checker = d->checker;
  /* a round size: 1, 2 or 5 times a power of ten, some ten to the scene */
  if (d->checker == 0.0f) {
    squares = powf(10.0f, floorf(log10f(s->size / 8.0f)));
    s->checker = squares * (s->size / 8.0f / squares < 2.0f   ? 1.0f
                            : s->size / 8.0f / squares < 5.0f ? 2.0f
                                                              : 5.0f);
  }
  place_camera(s);
  return OOZE_OK;
}
