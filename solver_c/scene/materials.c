/* The materials of a scene, with their presets. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdlib.h>

static ooze_result find_preset(oz_reader *r, const char *key, const char *name, ooze_preset *out) {
  ooze_preset_default(out);
  if (ooze_preset_find(name, out) == OOZE_OK) return OOZE_OK;
  const char *names[64], *near;
  size_t count = 0;
  for (uint32_t i = 0; i < ooze_preset_count() && count < 64; i++) {
    ooze_preset p;
    ooze_preset_default(&p);
    if (ooze_preset_get(i, &p) == OOZE_OK) names[count++] = p.name;
  }
  near = oz_nearest(name, names, count);
  oz_down(r, key);
  if (near)
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "there is no preset \"%s\"; did you mean %s?", name,
                     near);
  return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                   "there is no preset \"%s\"; `ooze schema presets` lists them", name);
}

static ooze_result make_material(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  uint32_t index = s->material_count;
  ooze_material *m = &s->start.materials[index];
  oz_looked *l = &s->looks[index];
  ooze_material_default(m);
  ooze_look_default(&l->look);
  l->name = oz_copy_text(name, strlen(name));
  if (!l->name) return OZ_NO_MEMORY(r);
  s->material_count++;
  char *preset = NULL, *look = NULL;
  ooze_result result = oz_check_keys(r, "material", object);
  if (result == OOZE_OK) result = oz_get_text(r, "material", object, "preset", &preset);
  if (result == OOZE_OK) result = oz_get_text(r, "material", object, "look", &look);
  if (result == OOZE_OK && preset) {
    ooze_preset p;
    result = find_preset(r, "preset", preset, &p);
    if (result == OOZE_OK) *m = p.material;
  }
  static const float other[8][3] = {
      {0.36f, 0.60f, 0.86f}, {0.90f, 0.55f, 0.25f}, {0.45f, 0.74f, 0.42f}, {0.80f, 0.38f, 0.45f},
      {0.62f, 0.52f, 0.82f}, {0.88f, 0.78f, 0.36f}, {0.40f, 0.72f, 0.74f}, {0.66f, 0.56f, 0.48f}};
  /* Colours: by look, else by preset, else by the material's own name; those of no colour at all
   * can be told apart. */
  const char *by = look ? look : preset ? preset : name;
  const int known = ooze_look_preset(by, &l->look);
  l->plain = !known && !json_object_get(object, "colour");
  uint32_t plain = 0;
  for (uint32_t i = 0; i < index; i++) plain += s->looks[i].plain;
  if (l->plain && plain) memcpy(l->look.colour, other[plain % 8], sizeof l->look.colour);
  if (result == OOZE_OK && !known && look) {
    oz_down(r, "look");
    result = oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                       "there is no look \"%s\"; the name of a material preset would fit", look);
  }
  free(preset);
  free(look);
  OZ_TRY_OK(result);
  OZ_TRY_OK(oz_get_fields(r, OZ_MATERIAL, index, object, m, NULL));
  oz_warn_of_models(r, "material", object, s->start.params.model);
  static const char *const fixed[] = {"viscosity", "relaxation_time", "compliance"};
  /* a given value holds at any temperature: a preset's ramp does not go over it */
  for (int k = 0; k < 3; k++)
    if (json_object_get(object, fixed[k]) && !json_object_get(object, "ramp_1"))
      m->ramp_1[0] = 0.0f;
  if (json_object_get(object, "compliance")) { /* it speaks where viscosity does not */
    if (!json_object_get(object, "viscosity")) {
      m->viscosity = 0.0f;
    } else if (m->viscosity > 0.0f) {
      size_t mark = oz_down(r, "compliance");
      oz_warn(r, "is not used, since viscosity is %g Pa s; leave one of them out",
              (double)m->viscosity);
      oz_up(r, mark);
    }
  }
  static const oz_member looks[] = {{"clarity", offsetof(ooze_look, clarity)},
                                    {"depth", offsetof(ooze_look, depth)},
                                    {"gloss", offsetof(ooze_look, gloss)},
                                    {"softness", offsetof(ooze_look, softness)},
                                    {"glow", offsetof(ooze_look, glow)}};
  OZ_TRY_OK(oz_get_vector(r, "material", object, "colour", l->look.colour));
  return OZ_GET_MEMBERS(r, "material", object, looks, &l->look);
}

/* Also the presets that fluids and emitters name without the scene defining them. */
ooze_result oz_read_materials(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "materials");
  size_t room = json_object_size(object) + ooze_preset_count() + 1;
  s->start.materials = calloc(room, sizeof *s->start.materials);
  s->looks = calloc(room, sizeof *s->looks);
  if (!s->start.materials || !s->looks) return OZ_NO_MEMORY(r);
  return oz_read_map(r, "materials", "{\"viscosity\": ...}", make_material);
}

ooze_result oz_find_material(oz_reader *r, json_t *object, uint32_t *out) {
  ooze_scene *s = r->scene;
  json_t *value = json_object_get(object, "material");
  const char *names[128];
  size_t count = 0, mark = oz_down(r, "material");
  if (!value) {
    if (s->material_count == 1) { /* no doubt which */
      *out = 0;
      oz_up(r, mark);
      return OOZE_OK;
    }
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "is missing; expected the name of a material of the scene or of a preset");
  }
  if (!json_is_string(value)) {
    char text[80];
    oz_json_short(value, text, sizeof text);
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s is no text; expected the name of a material",
                     text);
  }
  const char *name = json_string_value(value);
  for (uint32_t i = 0; i < s->material_count; i++) {
    if (strcmp(s->looks[i].name, name) == 0) {
      *out = i;
      oz_up(r, mark);
      return OOZE_OK;
    }
    if (count < 64) names[count++] = s->looks[i].name;
  }
  ooze_preset p;
  ooze_preset_default(&p);
  if (ooze_preset_find(name, &p) == OOZE_OK) {
    json_t *made = json_pack("{s:s}", "preset", name);
    if (!made) return OZ_NO_MEMORY(r);
    *out = s->material_count;
    ooze_result result = make_material(r, name, made);
    json_decref(made);
    oz_up(r, mark);
    return result;
  }
  for (uint32_t i = 0; i < ooze_preset_count() && count < 128; i++) {
    ooze_preset_default(&p);
    if (ooze_preset_get(i, &p) == OOZE_OK) names[count++] = p.name;
  }
  const char *near = oz_nearest(name, names, count);
  if (near)
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "there is no material or preset \"%s\"; did you mean %s?", name, near);
  return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "there is no material or preset \"%s\"", name);
}
