/* Where colliders stand when fluids are filled: nothing is born in one, since the first step would
 * throw it out. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <stdlib.h>

struct oz_solids {
  const ooze_scene *scene;
  double margin;      /* m */
  oz_brick_map *maps; /* one a collider */
};

oz_solids *oz_solids_create(const ooze_scene *scene, double margin) {
  oz_solids *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->scene = scene;
  s->margin = margin;
  s->maps = calloc(scene->collider_count + 1, sizeof *s->maps);
  for (uint32_t i = 0; s->maps && i < scene->collider_count; i++) {
    if (oz_shape_has_distance(&scene->colliders[i].shape) || !scene->colliders[i].sdf.brick_count)
      continue;
    const ooze_sdf *sdf = &scene->colliders[i].sdf;
    if (oz_brick_map_make(&s->maps[i], sdf->bricks, sdf->brick_count)) continue;
    oz_solids_destroy(s);
    return NULL;
  }
  if (s->maps) return s;
  oz_solids_destroy(s);
  return NULL;
}

void oz_solids_destroy(oz_solids *s) {
  if (!s) return;
  for (uint32_t i = 0; s->maps && i < s->scene->collider_count; i++) oz_brick_map_free(&s->maps[i]);
  free(s->maps);
  free(s);
}

double oz_solid_distance(const oz_solids *w, uint32_t i, const double x[3]) {
  const ooze_scene *s = w->scene;
  const oz_collider_state *c = &s->start.colliders[i];
  double local[3], d;
  oz_pose_unapply(&c->desc.start, x, local);
  if (oz_shape_has_distance(&s->colliders[i].shape))
    d = oz_shape_distance(&s->colliders[i].shape, local);
  else if (w->maps[i].map.keys) {
    const ooze_sdf *sdf = &s->colliders[i].sdf;
    for (int k = 0; k < 3; k++) local[k] -= (double)sdf->offset[k];
    d = oz_brick_distance(&w->maps[i], sdf->bricks, sdf->voxel, local);
  } else
    return OZ_BEYOND;
  return c->desc.invert ? -d : d;
}

int oz_in_solid(const void *user, const double x[3]) {
  const oz_solids *w = user;
  for (uint32_t i = 0; i < w->scene->collider_count; i++)
    if (oz_solid_distance(w, i, x) < w->margin) return 1;
  return 0;
}
