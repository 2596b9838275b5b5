/* Where colliders stand when fluids are filled: nothing is born in one, since the first step would
 * throw it out. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"
#include "base/lattice.h"

#include <math.h>
#include <stdlib.h>

/* A collider of bricks knows distances in a band around its surface alone. Elsewhere the sign is
 * that of the first sample that a row along +x meets: leaving a solid without crossing its surface
 * is not possible. */
typedef struct brick_map {
  oz_map map; /* brick to its number */
  int low[3], high[3];
} brick_map;

struct oz_solids {
  const ooze_scene *scene;
  double margin;   /* m */
  brick_map *maps; /* one a collider */
};

static int map_bricks(brick_map *m, const ooze_sdf *sdf) {
  if (!oz_map_init(&m->map, sdf->brick_count)) return 0;
  for (uint32_t i = 0; i < sdf->brick_count; i++) {
    int at[3];
    for (int k = 0; k < 3; k++) {
      at[k] = sdf->bricks[i].origin[k] >> 3;
      if (at[k] <= -OZ_KEY_LIMIT || at[k] >= OZ_KEY_LIMIT)
        at[k] = at[k] < 0 ? 1 - OZ_KEY_LIMIT : OZ_KEY_LIMIT - 1;
      m->low[k] = i && m->low[k] < at[k] ? m->low[k] : at[k];
      m->high[k] = i && m->high[k] > at[k] ? m->high[k] : at[k];
    }
    if (oz_map_put(&m->map, oz_key(at[0], at[1], at[2]), i) < 0) return 0;
  }
  return 1;
}

oz_solids *oz_solids_create(const ooze_scene *scene, double margin) {
  oz_solids *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->scene = scene;
  s->margin = margin;
  s->maps = calloc(scene->collider_count + 1, sizeof *s->maps);
  for (uint32_t i = 0; s->maps && i < scene->collider_count; i++) {
    if (oz_shape_has_distance(&scene->colliders[i].shape) || !scene->colliders[i].sdf.brick_count)
      continue;
    if (map_bricks(&s->maps[i], &scene->colliders[i].sdf)) continue;
    oz_solids_destroy(s);
    return NULL;
  }
  if (s->maps) return s;
  oz_solids_destroy(s);
  return NULL;
}

void oz_solids_destroy(oz_solids *s) {
  if (!s) return;
  for (uint32_t i = 0; s->maps && i < s->scene->collider_count; i++) oz_map_free(&s->maps[i].map);
  free(s->maps);
  free(s);
}

/* The sample at a lattice point; *known is 0 where no brick has one and it is but of the right
 * sign. */
static double sample(const brick_map *m, const ooze_sdf *sdf, const int x[3], int *known) {
  int b[3] = {x[0] >> 3, x[1] >> 3, x[2] >> 3}, row = 8 * (x[1] & 7) + (x[2] & 7);
  uint32_t i = oz_map_get(&m->map, oz_key(b[0], b[1], b[2]));
  if (i != OZ_NONE) return (double)sdf->bricks[i].values[64 * (x[0] & 7) + row];
  *known = 0;
  while (++b[0] <= m->high[0]) {
    i = oz_map_get(&m->map, oz_key(b[0], b[1], b[2]));
    if (i != OZ_NONE) return sdf->bricks[i].values[row] < 0.0f ? -1e30 : 1e30;
  }
  return 1e30;
}

/* m; far from the surface any number of the right sign. */
static double distance(const brick_map *m, const ooze_sdf *sdf, const double p[3]) {
  double t[3], f[8];
  int x[3], known = 1;
  for (int k = 0; k < 3; k++) {
    double at = (p[k] - (double)sdf->offset[k]) / (double)sdf->voxel;
    /* also values that are not finite */
    if (!(at >= 8.0 * m->low[k] - 1.0 && at <= 8.0 * m->high[k] + 8.0)) return 1e30;
    x[k] = (int)floor(at);
    t[k] = at - x[k];
  }
  for (int n = 0; n < 8; n++) {
    const int y[3] = {x[0] + (n >> 2), x[1] + (n >> 1 & 1), x[2] + (n & 1)};
    f[n] = sample(m, sdf, y, &known);
  }
  if (!known) return f[0]; /* at the edge of the band or beyond */
  for (int n = 0; n < 4; n++) f[n] += t[0] * (f[n + 4] - f[n]);
  for (int n = 0; n < 2; n++) f[n] += t[1] * (f[n + 2] - f[n]);
  return f[0] + t[2] * (f[1] - f[0]);
}

double oz_solid_distance(const oz_solids *w, uint32_t i, const double x[3]) {
  const ooze_scene *s = w->scene;
  const oz_collider_state *c = &s->start.colliders[i];
  double local[3], d;
  oz_pose_unapply(&c->desc.start, x, local);
  if (oz_shape_has_distance(&s->colliders[i].shape))
    d = oz_shape_distance(&s->colliders[i].shape, local);
  else if (w->maps[i].map.keys)
    d = distance(&w->maps[i], &s->colliders[i].sdf, local);
  else
    return 1e30;
  return c->desc.invert ? -d : d;
}

int oz_in_solid(const void *user, const double x[3]) {
  const oz_solids *w = user;
  for (uint32_t i = 0; i < w->scene->collider_count; i++)
    if (oz_solid_distance(w, i, x) < w->margin) return 1;
  return 0;
}
