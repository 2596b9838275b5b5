/* Colours of a scene's materials on points. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>

static float linear_of(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f);
}

ooze_result ooze_scene_colour_points(const ooze_scene *scene, ooze_points *points,
                                     ooze_message *why) {
  ooze_points_attribute material, cd;
  float *to = NULL;
  if (!scene || !points)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_scene_colour_points: a pointer is NULL");
  ooze_points_attribute_default(&material);
  ooze_points_attribute_default(&cd);
  if (ooze_points_find(points, "Cd", &cd) == OOZE_OK ||
      ooze_points_find(points, "material", &material) != OOZE_OK || material.type != OOZE_INT32)
    return OOZE_OK;
  OZ_TRY_OK(ooze_points_add(points, "Cd", OOZE_FLOAT32, 3, OOZE_MEANING_COLOR, (void **)&to, why));
  /* adding may have moved the list, not the data */
  const uint32_t *number = material.data;
  ooze_look neutral;
  ooze_look_default(&neutral);
  for (uint64_t i = 0; i < ooze_points_count(points); i++) {
    const uint32_t m = number[i]; /* 0 is the solver's own */
    const int known = m >= 1 && m <= scene->material_count;
    const float *colour = known ? scene->looks[m - 1].look.colour : neutral.colour;
    for (int k = 0; k < 3; k++) to[3 * i + (uint64_t)k] = linear_of(colour[k]);
  }
  return OOZE_OK;
}
