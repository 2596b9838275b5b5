/* Attributes of particles: their table, and reading and writing in public order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "core/attributes.h"
#include "core/particles.h"
#include "base/schema.h"
#include "models/models.h"

enum {
  OZ_CHECK_NONE = 0,
  OZ_CHECK_POSITION,
  OZ_CHECK_VELOCITY,
  OZ_CHECK_TENSOR,
  OZ_CHECK_STRETCH,
  OZ_CHECK_RATE,
  OZ_CHECK_FORCE,
  OZ_CHECK_MATERIAL,
  OZ_CHECK_FRACTION,
  OZ_CHECK_PRESSURE,
  OZ_CHECK_TIME,
  OZ_CHECK_SCHEMA
};

/* State on which the motion does not depend: kept by rank (labels.c), left out of the hash. */
enum { OZ_LABEL = 2 };

typedef struct oz_attribute {
  const char *name;
  uint8_t components, integer, writable, state, check;
  oz_field field;
  const char *range; /* field of the material with the same range */
} oz_attribute;

static const oz_attribute attributes[OOZE_ATTRIBUTE_COUNT] = {
    [OOZE_ID] = {"id", 1, 1, 0, 1, OZ_CHECK_NONE, OZ_FIELD_ID, NULL},
    [OOZE_POSITION] = {"P", 3, 0, 1, 1, OZ_CHECK_POSITION, OZ_FIELD_X, NULL},
    [OOZE_VELOCITY] = {"v", 3, 0, 1, 1, OZ_CHECK_VELOCITY, OZ_FIELD_U, NULL},
    [OOZE_CONFORMATION] = {"conform", 6, 0, 1, 1, OZ_CHECK_TENSOR, OZ_FIELD_Q, NULL},
    [OOZE_RELAXATION_TIME] = {"relaxtime", 1, 0, 1, 1, OZ_CHECK_SCHEMA, OZ_FIELD_RELAXATION_TIME,
                              "relaxation_time"},
    [OOZE_COMPLIANCE] = {"compliance", 1, 0, 1, 1, OZ_CHECK_SCHEMA, OZ_FIELD_COMPLIANCE,
                         "compliance"},
    [OOZE_VISCOSITY] = {"viscosity", 1, 0, 1, 1, OZ_CHECK_SCHEMA, OZ_FIELD_VISCOSITY, "viscosity"},
    [OOZE_DENSITY] = {"density", 1, 0, 1, 1, OZ_CHECK_SCHEMA, OZ_FIELD_DENSITY, "density"},
    [OOZE_TEMPERATURE] = {"temperature", 1, 0, 1, 1, OZ_CHECK_SCHEMA, OZ_FIELD_TEMPERATURE,
                          "temperature"},
    [OOZE_FORCE] = {"force", 3, 0, 1, 1, OZ_CHECK_FORCE, OZ_FIELD_FORCE, NULL},
    [OOZE_MATERIAL] = {"material", 1, 1, 1, 1, OZ_CHECK_MATERIAL, OZ_FIELD_MATERIAL, NULL},
    [OOZE_SOURCE] = {"source", 1, 1, 1, 1, OZ_CHECK_NONE, OZ_FIELD_SOURCE, NULL},
    [OOZE_MASS] = {"mass", 1, 0, 0, 0, OZ_CHECK_NONE, OZ_FIELD_DENSITY, NULL},
    [OOZE_COMPRESSION] = {"compression", 1, 0, 0, 0, OZ_CHECK_NONE, OZ_FIELD_RHO, NULL},
    [OOZE_STRESS] = {"stress", 6, 0, 0, 0, OZ_CHECK_NONE, OZ_FIELD_LAM, NULL},
    [OOZE_NEIGHBOURS] = {"neighbours", 1, 1, 0, 0, OZ_CHECK_NONE, OZ_FIELD_NEIGHBOURS, NULL},
    [OOZE_OWNER] = {"owner", 1, 1, 1, 1, OZ_CHECK_NONE, OZ_FIELD_OWNER, NULL},
    [OOZE_REST] = {"bodyrest", 3, 0, 1, 1, OZ_CHECK_POSITION, OZ_FIELD_REFERENCE, NULL},
    [OOZE_MELT] = {"melt", 1, 0, 1, 1, OZ_CHECK_FRACTION, OZ_FIELD_MELT, NULL},
    [OOZE_BIRTH] = {"birthtime", 1, 0, 1, OZ_LABEL, OZ_CHECK_TIME, OZ_FIELD_COUNT, NULL},
    [OOZE_REST_1] = {"rest", 3, 0, 1, OZ_LABEL, OZ_CHECK_POSITION, OZ_FIELD_COUNT, NULL},
    [OOZE_REST_2] = {"rest2", 3, 0, 1, OZ_LABEL, OZ_CHECK_POSITION, OZ_FIELD_COUNT, NULL},
    [OOZE_PRESSURE] = {"pressure", 1, 0, 1, 1, OZ_CHECK_PRESSURE, OZ_FIELD_PRESSURE, NULL},
    [OOZE_SOLVENT_VISCOSITY] = {"solventvisc", 1, 0, 1, 1, OZ_CHECK_SCHEMA,
                                OZ_FIELD_SOLVENT_VISCOSITY, "solvent_viscosity"},
    [OOZE_SHEAR_RATE] = {"shearrate", 1, 0, 1, 1, OZ_CHECK_RATE, OZ_FIELD_SHEAR_RATE, NULL},
    [OOZE_SECOND_STRETCH] = {"secondstretch", 6, 0, 1, 1, OZ_CHECK_STRETCH, OZ_FIELD_SECOND_STRETCH,
                             NULL},
    [OOZE_DENSITY_PRESSURE] = {"densitypressure", 1, 0, 1, 1, OZ_CHECK_PRESSURE,
                               OZ_FIELD_DENSITY_PRESSURE, NULL},
};

static uint32_t element_bytes(ooze_attribute a) { return a == OOZE_ID ? 8 : 4; }
size_t oz_attribute_bytes(ooze_attribute a) {
  return (size_t)attributes[a].components * element_bytes(a);
}
int oz_attribute_is_state(ooze_attribute a) { return attributes[a].state == 1; }
int oz_attribute_is_saved(ooze_attribute a) { return attributes[a].state != 0; }
int oz_attribute_is_label(ooze_attribute a) { return attributes[a].state == OZ_LABEL; }
oz_field oz_attribute_field(ooze_attribute a) { return attributes[a].field; }
static int is_attribute(ooze_attribute a) { return (uint32_t)a < (uint32_t)OOZE_ATTRIBUTE_COUNT; }

ooze_result ooze_attribute_describe(ooze_attribute attribute, ooze_attribute_info *out) {
  if (!is_attribute(attribute)) return OOZE_ERROR_NOT_FOUND;
  const oz_attribute *a = &attributes[attribute];
  ooze_attribute_info info;
  ooze_attribute_info_default(&info);
  info.name = a->name;
  info.components = a->components;
  info.element_bytes = element_bytes(attribute);
  info.is_integer = a->integer;
  info.writable = a->writable;
  info.is_state = (uint32_t)oz_attribute_is_saved(attribute);
  return oz_struct_write(out, &info, sizeof info, "attribute info", NULL);
}

/* The range of ranks and the stride make sense; an unset stride becomes the tight one. */
static ooze_result check_range(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                               uint32_t count, size_t *stride, const void *memory) {
  if (!is_attribute(attribute))
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "there is no attribute %d; expected 0 to %d",
                   (int)attribute, OOZE_ATTRIBUTE_COUNT - 1);
  const char *name = attributes[attribute].name;
  if (first > oz_visible(s) || count > oz_visible(s) - first)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "%s: particles %u to %llu were asked for; there are %u", name, (unsigned)first,
                   (unsigned long long)first + count, (unsigned)oz_visible(s));
  if (count && !memory)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "%s: the memory is NULL", name);
  char who[64];
  snprintf(who, sizeof who, "%s: stride", name);
  return oz_check_stride(stride, oz_attribute_bytes(attribute), who, s->message);
}

/* ---- reading ---- */

void oz_stress_traceless(unsigned char *tensor) {
  float v[3];
  memcpy(v, tensor, sizeof v);
  float mean = (v[0] + v[1] + v[2]) / 3.0f;
  for (int k = 0; k < 3; ++k) v[k] -= mean;
  memcpy(tensor, v, sizeof v);
}

/* SI stress of one multiplier, Pa: sigma = -Lam / (V0 dt^2), Lam = lam m_ref d^2. */
double oz_stress_scale(const ooze_solver *s) {
  if (!(s->particles.results_dt > 0)) return 0;
  oz_frame f;
  memset(&f, 0, sizeof f);
  oz_frame_constants(&f, &s->params, s->separation, s->particles.results_dt, 0.0);
  return -(double)f.m_ref * (double)f.d * (double)f.d /
         ((double)f.V0 * (double)f.dt * (double)f.dt);
}

ooze_result ooze_attribute_read(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                                uint32_t count, size_t stride, void *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(check_range(s, attribute, first, count, &stride, out));
  if (count == 0) return OOZE_OK;
  const oz_attribute *a = &attributes[attribute];
  const oz_particles *p = &s->particles;
  unsigned char *to = out;
  if (attribute == OOZE_ID) {
    for (uint32_t r = 0; r < count; ++r) memcpy(to + r * stride, &p->ids[first + r], 8);
    return OOZE_OK;
  }
  if (a->state == OZ_LABEL) {
    oz_labels_read(s, attribute, first, count, stride, to);
    return OOZE_OK;
  }
  int result = !a->state && attribute != OOZE_MASS; /* of the last substep */
  void *copy = NULL;
  OZ_TRY(oz_rank_map(s));
  if (!result || p->results) OZ_TRY(oz_host_copy(s, a->field, &copy));

  if (a->state) { /* words as they are; the way to them is worked out once */
    oz_field_shape shape = oz_field_shapes[a->field];
    const size_t step = shape.planes ? 1 : shape.words, plane = shape.planes ? p->count : 1;
    for (uint32_t r = 0; r < count; ++r, to += stride) {
      const uint32_t *from = (const uint32_t *)copy + (size_t)p->at[first + r] * step;
      for (uint32_t k = 0; k < a->components; ++k) memcpy(to + 4 * k, from + k * plane, 4);
    }
    return OOZE_OK;
  }
  float scale = attribute == OOZE_MASS     ? s->volume
                : attribute == OOZE_STRESS ? (float)oz_stress_scale(s)
                                           : 1.0f;
  float less = attribute == OOZE_COMPRESSION ? 1.0f : 0.0f;
  int plain = a->state || a->integer;
  for (uint32_t r = 0; r < count; ++r, to += stride) {
    uint32_t i = p->at[first + r];
    for (uint32_t k = 0; k < a->components; ++k) {
      uint32_t word = 0;
      if (!result || i < p->results)
        memcpy(&word, (const uint32_t *)copy + oz_field_at(a->field, p->count, i, k), 4);
      if (!plain && !(result && i >= p->results)) {
        float value;
        memcpy(&value, &word, 4);
        value = value * scale - less;
        memcpy(&word, &value, 4);
      }
      memcpy(to + 4 * k, &word, 4);
    }
    if (attribute == OOZE_STRESS && s->params.split_compliance) oz_stress_traceless(to);
  }
  return OOZE_OK;
}

/* ---- writing ---- */

/* All leading minors above 0 (Sylvester). */
static int positive_definite(const float q[6]) {
  double xx = (double)q[0], yy = (double)q[1], zz = (double)q[2], xy = (double)q[3],
         xz = (double)q[4], yz = (double)q[5];
  double minor = xx * yy - xy * xy;
  double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  return xx > 0 && minor > 0 && det > 0;
}

static int all_within(const float *v, uint32_t n, double limit) {
  for (uint32_t k = 0; k < n; ++k)
    if (!(fabs((double)v[k]) <= limit)) return 0;
  return 1;
}

/* NULL if the tensor may be written, else the expected one. */
static const char *tensor_fault(const ooze_solver *s, const float *value) {
  if (s->params.model == OOZE_MODEL_CAUCHY) /* there it is 1 plus the strain */
    return all_within(value, 6, 1e6) ? NULL : "a tensor of finite values, xx yy zz xy xz yz";
  return all_within(value, 6, 1e6) && positive_definite(value)
             ? NULL
             : "a positive definite tensor, xx yy zz xy xz yz";
}

static const char *stretch_fault(const float *value) {
  float q[6];
  for (int k = 0; k < 6; ++k) q[k] = value[k] + (k < 3 ? 1.0f : 0.0f);
  return all_within(value, 6, 1e6) && positive_definite(q)
             ? NULL
             : "a positive definite tensor minus the identity, xx yy zz xy xz yz";
}

/* NULL if the value may be written, else the expected range. */
static const char *fault(const ooze_solver *s, const oz_attribute *a, const float *value,
                         char *text, size_t capacity) {
  switch (a->check) {
  case OZ_CHECK_POSITION:
    if (oz_position_ok(s, value)) return NULL;
    snprintf(text, capacity, "finite values of at most %g m",
             fmin(OZ_FAR_METRES, OZ_FAR_SEPARATIONS * (double)s->separation));
    return text;
  case OZ_CHECK_VELOCITY:
    return all_within(value, 3, OZ_FAST) ? NULL : "finite values of at most 1e6 m/s";
  case OZ_CHECK_FORCE:
    return all_within(value, 3, OZ_HARD) ? NULL : "finite values of at most 1e9 m/s^2";
  case OZ_CHECK_FRACTION:
    return *value >= 0.0f && *value <= 1.0f ? NULL : "0 to 1";
  case OZ_CHECK_TIME:
    return all_within(value, 1, 1e9) ? NULL : "a finite time of at most 1e9 s";
  case OZ_CHECK_PRESSURE:
    return all_within(value, 1, OZ_HARD) ? NULL : "a finite value of at most 1e9 Pa";
  case OZ_CHECK_RATE:
    return *value >= 0.0f && *value <= (float)OZ_HARD ? NULL : "0 to 1e9 1/s";
  case OZ_CHECK_TENSOR:
    return tensor_fault(s, value);
  case OZ_CHECK_STRETCH:
    return stretch_fault(value);
  case OZ_CHECK_MATERIAL: {
    uint32_t m;
    memcpy(&m, value, 4);
    if (m < s->material_count) return NULL;
    snprintf(text, capacity, "0 to %u", (unsigned)s->material_count - 1);
    return text;
  }
  case OZ_CHECK_SCHEMA:
    return oz_schema_holds(OZ_OWNER_material, a->range, (double)*value)
               ? NULL
               : oz_schema_range(OZ_OWNER_material, a->range, text, capacity);
  default:
    return NULL;
  }
}

ooze_result oz_attribute_check(const ooze_solver *s, ooze_attribute attribute, const uint64_t *ids,
                               uint32_t count, size_t stride, const void *in, ooze_message *why) {
  const oz_attribute *a = &attributes[attribute];
  double low = 1, high = 0;
  if (stride == 0) stride = oz_attribute_bytes(attribute);
  if (a->check == OZ_CHECK_NONE) return OOZE_OK;
  /* once, not for each */
  if (a->check == OZ_CHECK_SCHEMA) oz_schema_limits(OZ_OWNER_material, a->range, &low, &high);
  for (uint32_t r = 0; r < count; ++r) {
    float value[6] = {0, 0, 0, 0, 0, 0};
    char text[128], shown[160];
    memcpy(value, (const unsigned char *)in + r * stride, oz_attribute_bytes(attribute));
    if ((double)value[0] >= low && (double)value[0] <= high) continue;
    const char *expected = fault(s, a, value, text, sizeof text);
    if (!expected) continue;
    size_t at = 0;
    for (uint32_t k = 0; k < a->components && at < sizeof shown; ++k) {
      uint32_t word;
      memcpy(&word, &value[k], 4);
      int n = a->integer
                  ? snprintf(shown + at, sizeof shown - at, "%s%u", k ? " " : "", (unsigned)word)
                  : snprintf(shown + at, sizeof shown - at, "%s%g", k ? " " : "", (double)value[k]);
      if (n < 0) break;
      at += (size_t)n;
    }
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "particles: %s of id %llu is %s; expected %s", a->name,
                   (unsigned long long)ids[r], shown, expected);
  }
  return OOZE_OK;
}

/* Writing a material number gives the particle that material's values. */
static ooze_result write_materials(ooze_solver *s, uint32_t first, uint32_t count, size_t stride,
                                   const void *in) {
  for (int v = 0; v < OZ_MATERIAL_VALUES; ++v) {
    void *copy;
    if (!oz_field_there(s, oz_material_values[v].field)) continue; /* has them of itself */
    OZ_TRY(oz_host_copy(s, oz_material_values[v].field, &copy));
    for (uint32_t r = 0; r < count; ++r) {
      uint32_t m;
      memcpy(&m, (const unsigned char *)in + r * stride, 4);
      memcpy((uint32_t *)copy + s->particles.at[first + r],
             (const unsigned char *)&s->materials[m] + oz_material_values[v].offset, 4);
    }
    OZ_TRY(oz_host_dirty(s));
  }
  s->particles.relaxation_time_known = s->extremes_known = 0;
  return OOZE_OK;
}

/* Are these the values that a copy has? */
static int reads_so(const ooze_solver *s, const oz_attribute *a, uint32_t first, uint32_t count,
                    size_t stride, const void *in, const void *copy) {
  for (uint32_t r = 0; r < count; ++r)
    for (uint32_t k = 0; k < a->components; ++k)
      if (memcmp((const uint32_t *)copy +
                     oz_field_at(a->field, s->particles.count, s->particles.at[first + r], k),
                 (const unsigned char *)in + r * stride + 4 * k, 4))
        return 0;
  return 1;
}

ooze_result ooze_attribute_write(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                                 uint32_t count, size_t stride, const void *in) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_TRY(check_range(s, attribute, first, count, &stride, in));
  const oz_attribute *a = &attributes[attribute];
  if (!a->writable) return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "%s is read only", a->name);
  if (count == 0) return OOZE_OK;
  OZ_TRY(oz_attribute_check(s, attribute, s->particles.ids + first, count, stride, in, s->message));
  if (a->state == OZ_LABEL) return oz_labels_write(s, attribute, first, count, stride, in);
  OZ_TRY(oz_rank_map(s));
  /* the widest field's room first, so that nothing fails half way */
  void *copy;
  OZ_TRY(oz_host_copy(s, a->field, &copy));
  if (attribute == OOZE_MATERIAL) {
    OZ_TRY(write_materials(s, first, count, stride, in));
    OZ_TRY(oz_host_copy(s, a->field, &copy));
  }
  /* a value equal to the default is not written; any other needs memory before the copy is changed
   */
  if (!oz_field_there(s, a->field)) {
    if (reads_so(s, a, first, count, stride, in, copy)) return OOZE_OK;
    OZ_TRY(oz_host_dirty(s));
  }
  uint32_t *words = copy;
  const unsigned char *from = in;
  oz_field_shape shape = oz_field_shapes[a->field];
  const size_t step = shape.planes ? 1 : shape.words, plane = shape.planes ? s->particles.count : 1;
  for (uint32_t r = 0; r < count; ++r, from += stride) {
    uint32_t *to = words + (size_t)s->particles.at[first + r] * step;
    for (uint32_t k = 0; k < a->components; ++k) memcpy(to + k * plane, from + 4 * k, 4);
  }
  OZ_TRY(oz_host_dirty(s));
  s->extremes_known = 0;
  if (attribute == OOZE_RELAXATION_TIME || attribute == OOZE_SOLVENT_VISCOSITY)
    s->particles.relaxation_time_known = 0;
  if (attribute == OOZE_CONFORMATION)
    s->explained_speed = OZ_SPEED_OF_STRETCH;
  else if (attribute == OOZE_VELOCITY && s->explained_speed >= 0)
    s->explained_speed = OZ_SPEED_UNKNOWN;
  return OOZE_OK;
}
