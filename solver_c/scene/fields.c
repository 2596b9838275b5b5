/* Values of the solver's structs in a scene, by the list of its parameters (base/schema.def), with
 * their keyframes. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdlib.h>

#include "base/schema.h"

/* A parameter as a scene spells it. */
typedef struct oz_field {
  const char *name;
  oz_kind kind;
  size_t offset;
  int animates;
} oz_field;

/* ---- The list ---------------------------------------------------------------------------- */

static const struct {
  const char *name; /* of the group in a scene */
  oz_owner owner;
} groups[] = {
    [OZ_SOLVER] = {"solver", OZ_OWNER_params},
    [OZ_MATERIAL] = {"material", OZ_OWNER_material},
    [OZ_COLLIDER] = {"collider", OZ_OWNER_collider_desc},
    [OZ_EMITTER] = {"emitter", OZ_OWNER_emitter_desc},
    [OZ_BODY] = {"body", OZ_OWNER_body_desc},
};

/* Read elsewhere: a scene gives them in words of its own. */
static const char *const elsewhere[] = {"collider.shape", "collider.half", "emitter.material",
                                        "body.material"};
/* The same during a whole run. */
static const char *const fixed[] = {"solver.model",   "solver.scheme",   "solver.cauchy_stress",
                                    "collider.role",  "collider.invert", "collider.boundary",
                                    "collider.voxel", "emitter.layout",  "collider.wall_density",
                                    "emitter.seed",   "emitter.layers",  "emitter.max_particles",
                                    "emitter.from",   "emitter.until"};

static int listed(const char *const *list, size_t count, const char *group, const char *name) {
  const size_t length = strlen(group);
  for (size_t i = 0; i < count; i++)
    if (strncmp(list[i], group, length) == 0 && list[i][length] == '.' &&
        strcmp(list[i] + length + 1, name) == 0)
      return 1;
  return 0;
}
#define LISTED(list, group, name) listed(list, sizeof list / sizeof *list, group, name)

static oz_kind kind_of(const oz_field_place *place) {
  switch (place->type) {
  case OZ_TYPE_FLOAT:
    return OZ_F32;
  case OZ_TYPE_INT:
    return place->bytes == 8 ? OZ_U64 : OZ_U32;
  case OZ_TYPE_BOOL:
    return OZ_BOOL;
  case OZ_TYPE_MENU:
    return OZ_MENU;
  case OZ_TYPE_VECTOR:
    return OZ_VEC3;
  case OZ_TYPE_QUATERNION:
    return OZ_QUAT;
  }
  return OZ_U32;
}

/* Entry `index` of the schema as a field of the group; 0 if it is none. */
static int field_of(oz_group group, uint32_t index, oz_field *out) {
  ooze_schema_entry e;
  oz_field_place place;
  ooze_schema_entry_default(&e);
  if (oz_schema_place(index, &place) != OOZE_OK || ooze_schema_get(index, &e) != OOZE_OK ||
      place.owner != groups[group].owner)
    return 0;
  const char *dot = strchr(e.name, '.');
  /* a scene gives one pose */
  if (dot && strncmp(e.name, group == OZ_BODY ? "pose." : "start.", dot + 1 - e.name) != 0)
    return 0;
  out->name = dot ? dot + 1 : e.name;
  out->kind = kind_of(&place);
  out->offset = place.offset;
  out->animates = group == OZ_BODY ? dot != NULL : !LISTED(fixed, groups[group].name, out->name);
  return !LISTED(elsewhere, groups[group].name, out->name);
}

/* ---- Values ------------------------------------------------------------------------------ */

static void store(const oz_field *f, const double v[4], void *base) {
  oz_store(f->kind, v, (unsigned char *)base + f->offset);
}

static ooze_result get_keys(oz_reader *r, const ooze_schema_entry *e, const oz_field *f,
                            oz_group group, uint32_t index, json_t *value, void *base) {
  ooze_scene *scene = r->scene;
  OZ_TRY_OK(oz_check_keys(r, "keyframes", value));
  json_t *keys = json_object_get(value, "keys");
  size_t count = json_array_size(keys);
  double interpolation = 0.0;
  OZ_TRY_OK(oz_get_number(r, "keyframes", value, "interpolation", &interpolation));
  size_t mark = oz_down(r, "keys");
  if (!json_is_array(keys) || count == 0)
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "expected [[time, value], ...] with at least one pair");
  oz_channel *grown = realloc(scene->channels, (scene->channel_count + 1) * sizeof *grown);
  if (!grown) return OZ_NO_MEMORY(r);
  scene->channels = grown;
  oz_channel *c = &grown[scene->channel_count];
  memset(c, 0, sizeof *c);
  c->times = malloc(count * sizeof *c->times);
  c->values = malloc(count * sizeof *c->values);
  scene->channel_count++; /* from here on it is released with the scene */
  if (!c->times || !c->values) return OZ_NO_MEMORY(r);
  c->group = group;
  c->index = index;
  c->offset = f->offset;
  c->kind = f->kind;
  c->count = (uint32_t)count;
  c->interpolation = (uint32_t)interpolation;
  if (f->kind == OZ_U32 || f->kind == OZ_U64 || f->kind == OZ_BOOL || f->kind == OZ_MENU)
    c->interpolation = 1;
  for (size_t i = 0; i < count; i++) {
    const json_t *pair = json_array_get(keys, i), *time = json_array_get(pair, 0);
    size_t inner = oz_down_index(r, i);
    if (!json_is_array(pair) || json_array_size(pair) != 2 || !json_is_number(time))
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "expected [time in s, value]");
    c->times[i] = json_number_value(time);
    if (!(c->times[i] >= 0.0 && c->times[i] <= 1e9))
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "time %g s is out of range; expected 0 or more",
                       c->times[i]);
    if (i && !(c->times[i] > c->times[i - 1]))
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "time %g s does not come after %g s", c->times[i],
                       c->times[i - 1]);
    OZ_TRY_OK(oz_numbers(r, e, json_array_get(pair, 1), c->values[i]));
    oz_up(r, inner);
  }
  oz_up(r, mark);
  store(f, c->values[0], base);
  return OOZE_OK;
}

static ooze_result get_field(oz_reader *r, const oz_field *f, oz_group group, uint32_t index,
                             json_t *object, void *base, uint32_t *moves) {
  json_t *value = json_object_get(object, f->name);
  ooze_schema_entry e;
  double v[4];
  if (!value) return OOZE_OK;
  if (!oz_key_find(groups[group].name, f->name, &e))
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "%s has no entry", f->name);
  size_t mark = oz_down(r, f->name);
  if (json_object_get(value, "keys")) {
    if (!f->animates)
      return oz_refuse(r, OOZE_ERROR_UNSUPPORTED,
                       "keyframes do not work here; this value is fixed");
    OZ_TRY_OK(get_keys(r, &e, f, group, index, value, base));
    int pose = strcmp(f->name, "position") == 0 || f->kind == OZ_QUAT || f->kind == OZ_ROTATE;
    if (moves && pose) *moves = 1;
  } else {
    OZ_TRY_OK(oz_numbers(r, &e, value, v));
    store(f, v, base);
  }
  oz_up(r, mark);
  return OOZE_OK;
}

ooze_result oz_get_fields(oz_reader *r, oz_group group, uint32_t index, json_t *object, void *base,
                          uint32_t *moves) {
  OZ_TRY_OK(oz_check_keys(r, groups[group].name, object));
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    oz_field f;
    if (field_of(group, i, &f)) OZ_TRY_OK(get_field(r, &f, group, index, object, base, moves));
  }
  return OOZE_OK;
}

ooze_result oz_both_turns(oz_reader *r, json_t *object, oz_posed *posed) {
  if (json_object_get(object, "rotate")) posed->uses_rotate = 1;
  if (!json_object_get(object, "rotate") || !json_object_get(object, "rotation")) return OOZE_OK;
  oz_down(r, "rotate");
  return oz_refuse(r, OOZE_ERROR_ARGUMENT, "stands beside rotation; expected one of the two");
}

ooze_result oz_get_turn(oz_reader *r, oz_group group, uint32_t index, json_t *object, void *state,
                        size_t offset, uint32_t *moves) {
  const oz_field f = {"rotate", OZ_ROTATE, offset + offsetof(oz_posed, rotate), 1};
  oz_posed *posed = (oz_posed *)(void *)((char *)state + offset);
  OZ_TRY_OK(get_field(r, &f, group, index, object, state, moves));
  return oz_both_turns(r, object, posed);
}
