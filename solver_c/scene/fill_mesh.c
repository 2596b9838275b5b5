/* Meshes filled with particles, and particles kept apart, for hosts. SPDX-License-Identifier:
 * Apache-2.0 */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

static ooze_result fill_check(const ooze_fill_desc *d, ooze_message *why) {
  if (!d || d->size != sizeof *d || (d->occupied_count && !d->occupied))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_desc: fill it with its _default()");
  if (!(d->separation > 1e-9f && d->separation < 1e6f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "separation is %g m; expected above 0",
                   (double)d->separation);
  if (!(d->jitter >= 0.0f && d->jitter <= 0.3f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "jitter is %g; expected 0 to 0.3", (double)d->jitter);
  return OOZE_OK;
}

ooze_result ooze_fill_mesh(const ooze_fill_desc *desc, const ooze_mesh *mesh, float **out,
                           uint32_t *out_count, ooze_message *why) {
  oz_fluid fluid;
  oz_cloud cloud = {NULL, NULL, 0};
  uint64_t cut = 0;
  if (!mesh || !out || !out_count)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_mesh: a pointer is NULL");
  *out = NULL;
  *out_count = 0;
  OZ_TRY_OK(fill_check(desc, why));
  for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] >= mesh->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "triangle %llu names point %u of %u",
                     (unsigned long long)(i / 3), mesh->triangles[i], mesh->point_count);
  if (mesh->triangle_count == 0) return OOZE_OK;
  char name[] = "mesh";
  memset(&fluid, 0, sizeof fluid);
  fluid.name = name;
  fluid.shape.kind = OZ_SHAPE_MESH;
  fluid.shape.mesh = *mesh;
  fluid.shape.scale = 1.0f;
  fluid.jitter = desc->jitter;
  fluid.seed = desc->seed;
  fluid.count[0] = fluid.count[1] = fluid.count[2] = 1;
  ooze_pose_default(&fluid.pose);
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles, NULL);
  ooze_result result = fill ? oz_fill_reserve(fill, desc->occupied, desc->occupied_count, why)
                            : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory to fill a mesh");
  if (result == OOZE_OK) result = oz_fill_fluid(fill, &fluid, NULL, NULL, &cloud, &cut, why);
  oz_fill_destroy(fill);
  if (result != OOZE_OK) return result;
  *out = (float *)cloud.x;
  *out_count = cloud.count;
  free(cloud.v);
  return OOZE_OK;
}

ooze_result ooze_fill_apart(const ooze_fill_desc *desc, const float *points, uint32_t count,
                            uint8_t *out_keep, ooze_message *why) {
  const double all[2][3] = {{-1e300, -1e300, -1e300}, {1e300, 1e300, 1e300}};
  oz_near near;
  if ((count && !points) || !out_keep)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_fill_apart: a pointer is NULL");
  OZ_TRY_OK(fill_check(desc, why));
  oz_fill *fill = oz_fill_create((double)desc->separation, desc->max_particles, NULL);
  memset(&near, 0, sizeof near);
  int made = fill && oz_fill_reserve(fill, desc->occupied, desc->occupied_count, why) == OOZE_OK &&
             oz_near_build(&near, fill, all[0], all[1]);
  for (uint32_t i = 0; i < count && made; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = (double)points[3 * (size_t)i + k];
    out_keep[i] = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && !oz_near_taken(&near, x);
  }
  oz_near_release(&near);
  oz_fill_destroy(fill);
  return made ? OOZE_OK
              : oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for %u particles that are there",
                        desc->occupied_count);
}
