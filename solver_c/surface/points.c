/* A surface of points as files hold them: their attributes by name become its channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include "geo/geo_internal.h"

static void add_scalar(ooze_surface_points *in, ooze_surface_scalar *scalars, const char *name,
                       const float *values) {
  const ooze_surface_scalar made = {name, values, 0};
  if (values) scalars[in->scalar_count++] = made;
}

static void add_channels(const ooze_points *points, ooze_surface_points *in,
                         ooze_surface_channel *channels) {
  static const struct {
    const char *name;
    uint32_t components, kind;
  } known[] = {{"Cd", 3, OOZE_CHANNEL_SHARP},
               {"rest", 3, OOZE_CHANNEL_PLACE},
               {"rest2", 3, OOZE_CHANNEL_PLACE},
               {"age", 1, OOZE_CHANNEL_MEAN}};
  for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
    const float *values = oz_points_floats(points, known[k].name, known[k].components);
    const ooze_surface_channel made = {known[k].name, values, 0, known[k].components,
                                       known[k].kind};
    if (values) channels[in->channel_count++] = made;
  }
}

/* As many materials as there are names, or numbers in use; more than fit have no weights. Numbers
 * beyond the names are painted materials, which repeat those of the scene (scene/painted.c):
 * *out_bases has them, to be freed. */
static ooze_result add_materials(const ooze_points *points, const char *const *names,
                                 uint32_t count, ooze_surface_points *in, uint32_t **out_bases,
                                 ooze_message *why) {
  ooze_points_attribute a;
  uint32_t most = count;
  ooze_points_attribute_default(&a);
  if (ooze_points_find(points, "material", &a) != OOZE_OK || a.type != OOZE_INT32 ||
      a.components != 1)
    return OOZE_OK;
  const uint32_t *numbers = (const uint32_t *)a.data;
  for (uint32_t i = 0; i < in->count; ++i)
    if (numbers[i] >= most) most = numbers[i] + 1;
  if (names && count > 1 && most > count) {
    uint32_t *bases = (uint32_t *)oz_allocate(in->count, sizeof *bases);
    if (!bases) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u points", in->count);
    for (uint32_t i = 0; i < in->count; ++i)
      bases[i] = numbers[i] ? (numbers[i] - 1) % (count - 1) + 1 : 0;
    *out_bases = bases;
    numbers = bases;
    most = count;
  }
  if (most < 1 || most > OZ_SURFACE_MATERIALS) return OOZE_OK;
  in->materials = numbers;
  in->material_count = most;
  in->material_names = most == count ? names : NULL;
  return OOZE_OK;
}

/* 1 for particles of bodies, or for all others; NULL where none is left out. *failed: no memory. */
static uint8_t *leave_out(const ooze_points *points, uint32_t with, uint32_t count, int *failed) {
  ooze_points_attribute owner;
  const uint32_t bodies = with & OOZE_WITHOUT_BODIES, fluid = with & OOZE_WITHOUT_FLUID;
  ooze_points_attribute_default(&owner);
  *failed = 0;
  const int told = ooze_points_find(points, "owner", &owner) == OOZE_OK &&
                   owner.type == OOZE_INT32 && owner.components == 1;
  if ((!bodies || !told) && !fluid) return NULL;
  uint8_t *out = (uint8_t *)oz_allocate(count, 1);
  *failed = !out;
  for (uint32_t i = 0; out && i < count; ++i) {
    const int of_body = told && ((const int32_t *)owner.data)[i] != 0;
    out[i] = of_body ? bodies != 0 : fluid != 0;
  }
  return out;
}

ooze_result ooze_surface_of_points(const ooze_surface_desc *desc, const ooze_points *points,
                                   uint32_t with, const char *const *material_names,
                                   uint32_t material_count, ooze_surface **out, ooze_message *why) {
  ooze_surface_scalar scalars[OZ_SURFACE_SCALARS];
  ooze_surface_channel channels[OZ_SURFACE_SCALARS];
  ooze_surface_points in;
  float *norms = NULL, *rates = NULL;
  uint32_t *bases = NULL;
  uint8_t *left_out;
  int failed;
  ooze_result r = OOZE_OK;
  if (!desc || !points || !out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_surface_of_points: a pointer is NULL");
  *out = NULL;
  if (ooze_points_count(points) > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%llu points are too many for one surface",
                   (unsigned long long)ooze_points_count(points));
  ooze_surface_points_default(&in);
  in.count = (uint32_t)ooze_points_count(points);
  in.positions = oz_points_floats(points, "P", 3);
  in.velocities = oz_points_floats(points, "v", 3);
  in.scalars = scalars;
  in.channels = channels;
  left_out = leave_out(points, with, in.count, &failed);
  in.left_out = left_out;
  if (failed) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %u points", in.count);
  if (with & OOZE_WITH_STRESS) {
    const float *six = oz_points_floats(points, "stress", 6);
    if (six) norms = (float *)oz_allocate(in.count, sizeof *norms);
    if (six && !norms)
      r = oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the stress of %u points", in.count);
    if (norms) ooze_tensor_norms(six, in.count, norms);
    add_scalar(&in, scalars, "stress", six ? norms : oz_points_floats(points, "stress", 1));
  }
  if (r >= 0 && (with & OOZE_WITH_STRAINRATE) && in.velocities && in.count) {
    rates = (float *)oz_allocate(in.count, sizeof *rates);
    if (!rates)
      r = oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the strain rate of %u points", in.count);
    else
      r = ooze_strain_rate(desc, &in, rates, why);
    add_scalar(&in, scalars, "strainrate", rates);
  }
  if (with & OOZE_WITH_TEMPERATURE)
    add_scalar(&in, scalars, "temperature", oz_points_floats(points, "temperature", 1));
  if (with & OOZE_WITH_SHADING) {
    add_channels(points, &in, channels);
    if (r >= 0) r = add_materials(points, material_names, material_count, &in, &bases, why);
  }
  if (r >= 0) r = ooze_surface_build(desc, &in, out, why);
  oz_release(norms);
  oz_release(rates);
  oz_release(bases);
  oz_release(left_out);
  return r;
}
