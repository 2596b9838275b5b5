/* Materials of a scene's points with painted values. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"
#include "scene/paint.h"

#include <stdlib.h>

/* A painted parameter, and where its columns begin. */
typedef struct painted_parm {
  ooze_node_parm parm;
  uint32_t first;
} painted_parm;

typedef struct painting {
  const ooze_scene *scene;
  const char *fluid;
  uint32_t count; /* points */
  painted_parm parms[OOZE_PAINT_COLUMNS];
  uint32_t parm_count, column_count;
  float *columns[OOZE_PAINT_COLUMNS]; /* owned */
  uint32_t *bases, *groups;           /* a point: number of the material painted over; its group */
} painting;

static void release(painting *p) {
  for (uint32_t c = 0; c < p->column_count; c++) free(p->columns[c]);
  free(p->bases);
  free(p->groups);
}

static ooze_result no_memory(const painting *p, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_MEMORY, "fluids.%s: out of memory for painted values", p->fluid);
}

static double number_at(const ooze_points_attribute *a, uint64_t at) {
  switch (a->type) {
  case OOZE_FLOAT32:
    return (double)((const float *)a->data)[at];
  case OOZE_FLOAT64:
    return ((const double *)a->data)[at];
  case OOZE_INT32:
    return (double)((const int32_t *)a->data)[at];
  default:
    return (double)((const int64_t *)a->data)[at];
  }
}

static ooze_result read_columns(painting *p, const ooze_points *points, ooze_message *why) {
  ooze_node_parm parm;
  for (uint32_t i = 0; oz_paint_parm(i, &parm); i++) {
    ooze_points_attribute a;
    ooze_points_attribute_default(&a);
    if (oz_paint_is_of_particles(parm.token) || ooze_points_find(points, parm.token, &a) != OOZE_OK)
      continue;
    if (a.components != parm.components)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "attribute '%s' has %u components; expected %u",
                     parm.token, a.components, parm.components);
    if (p->column_count + a.components > OOZE_PAINT_COLUMNS)
      return oz_fail(why, OOZE_ERROR_LIMIT, "fluids.%s: more than %d painted values", p->fluid,
                     OOZE_PAINT_COLUMNS);
    p->parms[p->parm_count++] = (painted_parm){parm, p->column_count};
    for (uint32_t k = 0; k < a.components; k++) {
      float *to = malloc((p->count + (size_t)1) * sizeof *to);
      if (!to) return no_memory(p, why);
      p->columns[p->column_count++] = to;
      for (uint64_t r = 0; r < p->count; r++) to[r] = (float)number_at(&a, r * a.components + k);
    }
  }
  return OOZE_OK;
}

/* Points of a painted run bring its numbers. Those of no scene stay 0 or are refused by the solver.
 */
static ooze_result read_bases(painting *p, const ooze_points *points, uint32_t plain,
                              ooze_message *why) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  const int told = ooze_points_find(points, "material", &a) == OOZE_OK && a.components == 1 &&
                   a.type >= OOZE_INT32;
  p->bases = malloc((p->count + (size_t)1) * sizeof *p->bases);
  p->groups = malloc((p->count + (size_t)1) * sizeof *p->groups);
  if (!p->bases || !p->groups) return no_memory(p, why);
  for (uint32_t i = 0; i < p->count; i++) {
    const double number = told ? number_at(&a, i) : (double)plain;
    if (!(number >= 0.0 && number <= UINT32_MAX))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "fluids.%s: material of point %u is %g", p->fluid, i,
                     number);
    p->bases[i] = (uint32_t)number;
  }
  return OOZE_OK;
}

static ooze_result painted_material(const painting *p, uint32_t point, uint32_t base,
                                    ooze_material *out, ooze_message *why) {
  *out = p->scene->start.materials[base - 1];
  for (uint32_t i = 0; i < p->parm_count; i++) {
    const painted_parm *parm = &p->parms[i];
    double value[4] = {0, 0, 0, 0};
    ooze_message inner = {""};
    for (uint32_t k = 0; k < parm->parm.components; k++)
      value[k] = (double)p->columns[parm->first + k][point];
    ooze_result result = ooze_schema_store("material", parm->parm.field, value, out, &inner);
    if (result < 0)
      return oz_fail(why, result, "fluids.%s: point attribute %s of point %u: %s", p->fluid,
                     parm->parm.token, point, inner.text);
  }
  return OOZE_OK;
}

/* A material of the solver with these values that stands for the base; 0: there is none. */
static uint32_t find_same(const painting *p, const ooze_solver *solver, uint32_t base,
                          const ooze_material *wanted) {
  const uint32_t count = ooze_material_count(solver), step = p->scene->material_count;
  for (uint32_t number = base; number < count; number += step) {
    ooze_material has;
    ooze_material_default(&has);
    if (ooze_material_get(solver, number, &has) == OOZE_OK && !memcmp(&has, wanted, sizeof has))
      return number;
  }
  return 0;
}

/* The number of each group; new ones are added in rows of as many as the scene has, where those
 * that are not needed repeat the scene's. */
static ooze_result number_groups(const painting *p, uint32_t groups, uint32_t *numbers,
                                 ooze_solver *solver, ooze_message *why) {
  const uint32_t step = p->scene->material_count, before = ooze_material_count(solver);
  uint32_t *first = malloc((groups + (size_t)1) * sizeof *first), rows = 0;
  uint32_t *used = calloc((size_t)step + 1, sizeof *used);
  ooze_material *made = malloc((groups + (size_t)1) * sizeof *made);
  ooze_result result = first && used && made ? OOZE_OK : no_memory(p, why);
  for (uint32_t i = 0, seen = 0; i < p->count && result == OOZE_OK && seen < groups; i++)
    if (p->groups[i] == seen) first[seen++] = i;
  for (uint32_t g = 0; g < groups && result == OOZE_OK; g++) {
    const uint32_t number = p->bases[first[g]], base = oz_painted_base(number, step);
    numbers[g] = number;
    if (!base) continue; /* the solver's own material is not painted */
    result = painted_material(p, first[g], base, &made[g], why);
    if (result != OOZE_OK) break;
    numbers[g] = find_same(p, solver, base, &made[g]);
    if (numbers[g]) continue;
    numbers[g] = before + step * used[base]++ + base - 1;
    if (used[base] > rows) rows = used[base];
  }
  ooze_material *table =
      result == OOZE_OK ? malloc(((size_t)rows * step + 1) * sizeof *table) : NULL;
  if (result == OOZE_OK && !table) result = no_memory(p, why);
  for (uint32_t k = 0; k < rows && result == OOZE_OK; k++)
    memcpy(table + (size_t)k * step, p->scene->start.materials, step * sizeof *table);
  for (uint32_t g = 0; g < groups && result == OOZE_OK; g++)
    if (numbers[g] >= before) table[numbers[g] - before] = made[g];
  for (uint32_t k = 0; k < rows * step && result == OOZE_OK; k++) {
    result = ooze_material_add(solver, &table[k], NULL);
    if (result < 0) oz_fail(why, result, "fluids.%s: %s", p->fluid, ooze_solver_message(solver));
  }
  free(table);
  free(made);
  free(used);
  free(first);
  return result;
}

static ooze_result paint(painting *p, ooze_points *points, uint32_t plain, ooze_solver *solver,
                         ooze_message *why) {
  uint32_t groups = 0;
  int32_t *material = NULL;
  OZ_TRY_OK(read_columns(p, points, why));
  if (!p->column_count && ooze_points_find(points, "material", NULL) == OOZE_OK) return OOZE_OK;
  OZ_TRY_OK(read_bases(p, points, plain, why));
  OZ_TRY_OK(
      ooze_paint_group(p->columns, p->column_count, p->bases, p->count, p->groups, &groups, why));
  uint32_t *numbers = malloc((groups + (size_t)1) * sizeof *numbers);
  ooze_result result = numbers ? number_groups(p, groups, numbers, solver, why) : no_memory(p, why);
  if (result == OOZE_OK) {
    (void)ooze_points_remove(points, "material"); /* there may be none */
    result = ooze_points_add(points, "material", OOZE_INT32, 1, OOZE_MEANING_NUMBER,
                             (void **)&material, why);
  }
  for (uint32_t i = 0; i < p->count && result == OOZE_OK; i++)
    material[i] = (int32_t)numbers[p->groups[i]];
  free(numbers);
  return result;
}

ooze_result oz_paint_points(const ooze_scene *s, uint32_t fluid, ooze_points *points,
                            ooze_solver *solver, ooze_message *why) {
  painting p;
  memset(&p, 0, sizeof p);
  p.scene = s;
  p.fluid = s->fluids[fluid].name;
  if (ooze_points_count(points) > UINT32_MAX) return OOZE_OK; /* refused where they are taken */
  p.count = (uint32_t)ooze_points_count(points);
  const ooze_result result = paint(&p, points, s->fluids[fluid].material + 1, solver, why);
  release(&p);
  return result;
}
