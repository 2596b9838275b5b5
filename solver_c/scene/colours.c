/* Colours of a scene's materials on points. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include "base/tasks.h"

#include <math.h>
#include <stdlib.h>

static float linear_of(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : powf((srgb + 0.055f) / 1.055f, 2.4f);
}

typedef struct colouring {
  const uint32_t *material;
  const float *colours; /* linear, by material; the first is of every other number */
  uint32_t count;
  float *to;
} colouring;

static void colour_range(void *arg, uint32_t begin, uint32_t end) {
  const colouring *c = arg;
  for (uint32_t i = begin; i < end; i++) {
    const uint32_t m = oz_painted_base(c->material[i], c->count);
    memcpy(c->to + 3 * (size_t)i, c->colours + 3 * (size_t)m, 3 * sizeof(float));
  }
}

ooze_result oz_scene_colour_points(const ooze_scene *scene, ooze_points *points, uint32_t threads,
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
  float *colours = malloc(3 * sizeof *colours * ((size_t)scene->material_count + 1));
  if (!colours) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", scene->file);
  ooze_look neutral;
  ooze_look_default(&neutral);
  for (uint32_t m = 0; m <= scene->material_count; m++) { /* 0 is the solver's own */
    const float *colour = m ? scene->looks[m - 1].look.colour : neutral.colour;
    for (size_t k = 0; k < 3; k++) colours[3 * (size_t)m + k] = linear_of(colour[k]);
  }
  const ooze_result result =
      ooze_points_add(points, "Cd", OOZE_FLOAT32, 3, OOZE_MEANING_COLOR, (void **)&to, why);
  if (result == OOZE_OK) { /* adding may have moved the list, not the data */
    const uint32_t count = (uint32_t)ooze_points_count(points);
    colouring c = {material.data, colours, scene->material_count, to};
    oz_loop loop;
    oz_loop_open(&loop, NULL, threads);
    oz_loop_rows(&loop, count, colour_range, &c);
    oz_loop_close(&loop);
  }
  free(colours);
  return result;
}

ooze_result ooze_scene_colour_points(const ooze_scene *scene, ooze_points *points,
                                     ooze_message *why) {
  return oz_scene_colour_points(scene, points, 0, why);
}
