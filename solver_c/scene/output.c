/* The output and picture parts of a scene. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <math.h>
#include <stdio.h>

/* ---- Output ------------------------------------------------------------------------------ */

static ooze_result read_frames(oz_reader *r, json_t *object, oz_output *o) {
  json_t *frames = json_object_get(object, "frames");
  double range[2] = {1, 100};
  if (json_is_integer(frames)) /* 120 is [1, 120] */
    range[1] = json_number_value(frames);
  else
    OZ_TRY_OK(oz_get_list(r, "output", object, "frames", 2, range, NULL));
  if (range[0] != floor(range[0]) || range[1] != floor(range[1]) || range[1] < range[0] ||
      range[1] > 1e6) {
    oz_down(r, "frames");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "%g to %g is no range of frames; expected [first, last] in whole numbers",
                     range[0], range[1]);
  }
  o->first = (int32_t)range[0];
  o->last = (int32_t)range[1];
  return OOZE_OK;
}

/* `channels`: results of the last substep by their names, with blanks between. State is always in
 * caches and is no channel. */
static ooze_result read_channels(oz_reader *r, json_t *object, uint32_t *out) {
  const char *text = json_string_value(json_object_get(object, "channels"));
  const char *names[OOZE_ATTRIBUTE_COUNT];
  size_t count = 0, length;
  uint32_t bit[OOZE_ATTRIBUTE_COUNT];
  char all[160] = "", word[64];
  _Static_assert(OOZE_ATTRIBUTE_COUNT <= 32, "channels are bits of a word");
  if (!json_object_get(object, "channels")) return OOZE_OK;
  const size_t mark = oz_down(r, "channels");
  if (!text) return oz_refuse(r, OOZE_ERROR_ARGUMENT, "expected a text of names");
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    if (ooze_attribute_describe((ooze_attribute)a, &info) < 0 || info.is_state) continue;
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", count ? ", " : "", info.name);
    names[count] = info.name, bit[count++] = 1u << a;
  }
  for (*out = 0; *(text += strspn(text, " ")); text += length) {
    size_t k = 0;
    length = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
    while (k < count && strcmp(names[k], word) != 0) k++;
    if (k == count)
      return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                       "there is no channel %s; expected some of %s, with blanks between", word,
                       all);
    *out |= bit[k];
  }
  oz_up(r, mark);
  return OOZE_OK;
}

static ooze_result check_name(oz_reader *r, const char *name) {
  for (const char *c = name; *c; c++)
    if (strchr("/\\:*?\"<>|", *c) || (unsigned char)*c < 0x20 || (c == name && *c == '.')) {
      oz_down(r, "name");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "\"%s\" is no part of a file's name; expected letters and digits", name);
    }
  return OOZE_OK;
}

/* That of the scene's file, without folder and ending. */
static char *name_of_file(const char *file) {
  const char *begin = file, *end;
  for (const char *c = file; *c; c++)
    if (oz_os_is_slash(*c)) begin = c + 1;
  end = strchr(begin + (*begin == '.'), '.');
  if (!end) end = begin + strlen(begin);
  char *name = end > begin ? oz_copy_text(begin, (size_t)(end - begin)) : oz_copy_text("scene", 5);
  if (name && name[0] == '.') name[0] = '_';
  return name;
}

/* Alembic files need a library that not every build has. */
static ooze_result check_alembic(oz_reader *r, const oz_output *o) {
  enum { POINTS_ABC = 5, MESH_ABC = 5 }; /* of the menus in scene.def */
  if ((o->points != POINTS_ABC && o->mesh != MESH_ABC) ||
      !strstr(ooze_io_build_text(), "no-alembic"))
    return OOZE_OK;
  oz_down(r, o->points == POINTS_ABC ? "points" : "mesh");
  return oz_refuse(r, OOZE_ERROR_UNSUPPORTED,
                   "this build writes no Alembic files: libalembic was not found when it was made");
}

ooze_result oz_read_output(oz_reader *r) {
#define O(name, member) \
  { name, offsetof(oz_output, member) }
  static const oz_member members[] = {O("points", points),
                                      O("surface", surface),
                                      O("mesh", mesh),
                                      O("surface_method", method),
                                      O("surface_of", of),
                                      O("surface_threshold", threshold),
                                      O("surface_voxel", voxel),
                                      O("surface_smoothing", smoothing),
                                      O("surface_subtract", subtract),
                                      O("surface_gap", gap),
                                      O("surface_stress", stress),
                                      O("surface_strainrate", strainrate),
                                      O("surface_temperature", temperature),
                                      O("surface_shading", shading),
                                      O("checkpoint_every", checkpoint_every),
                                      O("checkpoint_keep", checkpoint_keep)};
#undef O
  ooze_scene *s = r->scene;
  oz_output *o = &s->output;
  json_t *object = json_object_get(s->doc, "output");
  OZ_DEFAULT_MEMBERS("output", members, o);
  o->first = (int)oz_key_default("output", "frames", 0);
  o->last = (int)oz_key_default("output", "frames", 1);
  o->fps = oz_key_default("output", "fps", 0);
  o->channels = 1u << OOZE_COMPRESSION;
  if (object) {
    size_t mark = oz_down(r, "output");
    OZ_TRY_OK(oz_check_keys(r, "output", object));
    OZ_TRY_OK(oz_get_text(r, "output", object, "name", &o->name));
    OZ_TRY_OK(read_frames(r, object, o));
    OZ_TRY_OK(oz_get_number(r, "output", object, "fps", &o->fps));
    OZ_TRY_OK(OZ_GET_MEMBERS(r, "output", object, members, o));
    OZ_TRY_OK(read_channels(r, object, &o->channels));
    if (o->name) OZ_TRY_OK(check_name(r, o->name));
    OZ_TRY_OK(check_alembic(r, o));
    oz_up(r, mark);
  }
  if (!o->name) o->name = name_of_file(s->file);
  return o->name ? OOZE_OK : OZ_NO_MEMORY(r);
}

/* ---- Picture ----------------------------------------------------------------------------- */

ooze_result oz_read_picture(oz_reader *r) {
#define P(name) \
  { #name, offsetof(oz_picture, name) }
  static const oz_member members[] = {P(style),          P(colour_by), P(samples),
                                      P(surface_method), P(smoothing), P(azimuth),
                                      P(elevation),      P(zoom),      P(field_of_view)};
#undef P
  ooze_scene *s = r->scene;
  oz_picture *p = &s->picture;
  json_t *object = json_object_get(s->doc, "picture");
  OZ_DEFAULT_MEMBERS("picture", members, p);
  p->width = (uint32_t)oz_key_default("picture", "size", 0);
  p->height = (uint32_t)oz_key_default("picture", "size", 1);
  if (!object) return OOZE_OK;
  size_t mark = oz_down(r, "picture");
  OZ_TRY_OK(oz_check_keys(r, "picture", object));
  double list[6];
  uint32_t has;
  OZ_TRY_OK(OZ_GET_MEMBERS(r, "picture", object, members, p));
  OZ_TRY_OK(oz_get_list(r, "picture", object, "size", 2, list, &has));
  if (has) p->width = (uint32_t)list[0], p->height = (uint32_t)list[1];
  OZ_TRY_OK(oz_get_list(r, "picture", object, "range", 2, list, &has));
  if (has) p->range[0] = (float)list[0], p->range[1] = (float)list[1];
  OZ_TRY_OK(oz_get_vector(r, "picture", object, "eye", p->eye));
  OZ_TRY_OK(oz_get_vector(r, "picture", object, "target", p->target));
  p->has_eye = json_object_get(object, "eye") != NULL;
  p->has_target = json_object_get(object, "target") != NULL;
  OZ_TRY_OK(oz_get_list(r, "picture", object, "bounds", 6, list, &has));
  for (int i = 0; has && i < 6; i++) p->bounds[i] = (float)list[i];
  for (int i = 0; has && i < 3; i++)
    if (list[i] > list[i + 3]) {
      oz_down(r, "bounds");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "%c goes from %g to %g; expected [x, y, z, x, y, z], low then high",
                       "xyz"[i], list[i], list[i + 3]);
    }
  OZ_TRY_OK(oz_get_text(r, "picture", object, "caption", &p->caption));
  if (p->has_eye != p->has_target) {
    oz_down(r, p->has_eye ? "eye" : "target");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "stands alone; expected eye and target together");
  }
  if (p->has_eye && memcmp(p->eye, p->target, sizeof p->eye) == 0) {
    oz_down(r, "target");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "is where eye is; expected what the camera looks at");
  }
  oz_up(r, mark);
  return OOZE_OK;
}
