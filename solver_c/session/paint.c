/* Painted materials of a run: keyframes and watched values reach them, files tell their values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "scene/paint.h"

#include <stdlib.h>

typedef struct oz_paint {
  uint32_t materials; /* of the solver */
  uint32_t parm_count;
  ooze_node_parm parms[OOZE_PAINT_COLUMNS];
  float *values[OOZE_PAINT_COLUMNS]; /* of a parm: its components, material by material */
} oz_paint;

void oz_session_paint_release(oz_session *s) {
  if (!s->paint) return;
  for (uint32_t i = 0; i < s->paint->parm_count; i++) free(s->paint->values[i]);
  free(s->paint);
  s->paint = NULL;
}

/* 0: memory is out. *varies: some painted material has another value than the scene's own. */
static float *values_of(const oz_session *s, const ooze_node_parm *p, int *varies) {
  const uint32_t count = ooze_material_count(s->solver), own = s->base->material_count;
  float *out = calloc((size_t)count * p->components, sizeof *out);
  *varies = 0;
  for (uint32_t m = 0; out && m < count; m++) {
    ooze_material material;
    double value[4] = {0, 0, 0, 0};
    float *to = out + (size_t)m * p->components;
    ooze_material_default(&material);
    (void)ooze_material_get(s->solver, m, &material);
    (void)ooze_schema_load("material", p->field, &material, value);
    for (uint32_t k = 0; k < p->components; k++) to[k] = (float)value[k];
    const float *base = out + (size_t)oz_painted_base(m, own) * p->components;
    *varies |= m > own && memcmp(to, base, p->components * sizeof *to) != 0;
  }
  return out;
}

ooze_result oz_session_find_paint(oz_session *s) {
  oz_session_paint_release(s);
  if (ooze_material_count(s->solver) <= s->base->material_count + 1) return OOZE_OK;
  s->paint = calloc(1, sizeof *s->paint);
  ooze_node_parm parm;
  int out_of_memory = !s->paint;
  for (uint32_t i = 0; !out_of_memory && oz_paint_parm(i, &parm); i++) {
    int varies = 0;
    if (oz_paint_is_of_particles(parm.token)) continue;
    float *values = values_of(s, &parm, &varies);
    out_of_memory = !values;
    if (varies && s->paint->parm_count < OOZE_PAINT_COLUMNS) {
      s->paint->parms[s->paint->parm_count] = parm;
      s->paint->values[s->paint->parm_count++] = values;
    } else {
      free(values);
    }
  }
  if (out_of_memory)
    return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory for painted values",
                   s->base->file);
  s->paint->materials = ooze_material_count(s->solver);
  return OOZE_OK;
}

ooze_result oz_session_repaint(oz_session *s, uint32_t index, const ooze_material *was) {
  const uint32_t count = ooze_material_count(s->solver), step = s->base->material_count;
  const ooze_material *want = &s->want.materials[index];
  if (!s->paint) return OOZE_OK;
  for (uint32_t m = index + 1 + step; m < count; m += step) {
    ooze_material material;
    ooze_material_default(&material);
    ooze_result result = ooze_material_get(s->solver, m, &material);
    for (size_t at = 0; at + 4 <= sizeof material; at += 4)
      if (memcmp((const char *)want + at, (const char *)was + at, 4) != 0)
        memcpy((char *)&material + at, (const char *)want + at, 4);
    if (result >= 0) result = ooze_material_set(s->solver, m, &material);
    if (result < 0) return result;
  }
  return oz_session_find_paint(s);
}

ooze_result oz_session_add_paint(const oz_session *s, ooze_points *points, ooze_message *why) {
  ooze_points_attribute material;
  ooze_points_attribute_default(&material);
  if (!s->paint || ooze_points_find(points, "material", &material) != OOZE_OK) return OOZE_OK;
  const uint64_t count = ooze_points_count(points);
  const int32_t *numbers = material.data; /* adding may move the list, not the data */
  for (uint32_t i = 0; i < s->paint->parm_count; i++) {
    const ooze_node_parm *p = &s->paint->parms[i];
    const size_t width = p->components;
    float *to = NULL;
    OZ_TRY_OK(ooze_points_add(points, p->token, OOZE_FLOAT32, p->components, OOZE_MEANING_NUMBER,
                              (void **)&to, why));
    for (uint64_t k = 0; k < count; k++) {
      const uint32_t m = (uint32_t)numbers[k] < s->paint->materials ? (uint32_t)numbers[k] : 0;
      memcpy(to + k * width, s->paint->values[i] + m * width, width * sizeof *to);
    }
  }
  return OOZE_OK;
}
