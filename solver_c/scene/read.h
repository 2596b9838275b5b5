/* Reading a scene: values with their places, checked against the list of keys.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SCENE_READ_H
#define OOZE_IO_SCENE_READ_H

#include "scene_internal.h"

typedef struct oz_reader {
  ooze_scene *scene;
  const char *text; /* of the file, for line numbers */
  size_t bytes;
  ooze_scene_options options;
  const char *wedge_name; /* of the row in use, or NULL */
  size_t wedge_index;
  int keys_alone; /* a row of the wedge that is not run: no file is read, no distance is made */
  char path[512];
  ooze_message *why;
} oz_reader;

/* One step down the path; oz_up takes the result of oz_down. */
size_t oz_down(oz_reader *r, const char *key);
size_t oz_down_index(oz_reader *r, size_t index);
void oz_up(oz_reader *r, size_t mark);

/* "file:line: path: ..." */
ooze_result oz_refuse(oz_reader *r, ooze_result result, const char *format, ...) OZ_PRINTF(3, 4);
void oz_warn(oz_reader *r, const char *format, ...) OZ_PRINTF(2, 3);
/* Warns of the object's keys that the model does not read: allowed, so that a scene may be run with
 * several, but told. */
ooze_result oz_check_bodies(oz_reader *r); /* that the model has some */
void oz_warn_of_models(oz_reader *r, const char *group, const json_t *object, uint32_t model);

/* Every key of the object is one of the group's, or "note". */
ooze_result oz_check_keys(oz_reader *r, const char *group, json_t *object);
/* The numbers of a value of the type that the entry names: 1, 3 or 4 of them. */
ooze_result oz_numbers(oz_reader *r, const ooze_schema_entry *e, const json_t *value,
                       double out[4]);

/* Members of an object; where there is none, out stays as it is. */
ooze_result oz_get_number(oz_reader *r, const char *group, json_t *object, const char *key,
                          double *out);
ooze_result oz_get_float(oz_reader *r, const char *group, json_t *object, const char *key,
                         float *out);
ooze_result oz_get_count(oz_reader *r, const char *group, json_t *object, const char *key,
                         uint32_t *out);
ooze_result oz_get_vector(oz_reader *r, const char *group, json_t *object, const char *key,
                          float out[3]);
ooze_result oz_get_text(oz_reader *r, const char *group, json_t *object, const char *key,
                        char **out);
/* A list of `count` numbers; *has (may be NULL) is set to 1 if it is there. */
ooze_result oz_get_list(oz_reader *r, const char *group, json_t *object, const char *key,
                        size_t count, double *out, uint32_t *has);

/* fields.c: the members of an object that are parameters of the solver, into the struct of the
 * group; *moves (may be NULL) becomes 1 where its pose has keyframes. */
ooze_result oz_get_fields(oz_reader *r, oz_group group, uint32_t index, json_t *object, void *base,
                          uint32_t *moves);
/* "rotate", degrees, into the oz_posed at `offset` of a collider's or an emitter's state. */
ooze_result oz_get_turn(oz_reader *r, oz_group group, uint32_t index, json_t *object, void *state,
                        size_t offset, uint32_t *moves);
/* Numbers of an object whose members are not the solver's: floats, or whole numbers of 32 bits, as
 * the list of keys says. */
typedef struct oz_member {
  const char *name;
  size_t offset;
} oz_member;
ooze_result oz_get_members(oz_reader *r, const char *group, json_t *object,
                           const oz_member *members, size_t count, void *base);
/* Their defaults, from the list of keys. */
void oz_default_members(const char *group, const oz_member *members, size_t count, void *base);
#define OZ_DEFAULT_MEMBERS(group, members, base) \
  oz_default_members(group, members, sizeof members / sizeof *members, base)
#define OZ_GET_MEMBERS(r, group, object, members, base) \
  oz_get_members(r, group, object, members, sizeof members / sizeof *members, base)

/* The objects of a part of the scene, name by name. `what` shows one in a refusal. */
typedef ooze_result (*oz_item_fn)(oz_reader *r, const char *name, json_t *object);
ooze_result oz_read_map(oz_reader *r, const char *part, const char *what, oz_item_fn read);
/* The same, with room for the part's items and for their values that keyframes change. */
ooze_result oz_read_items(oz_reader *r, const char *part, const char *what, oz_item_fn read,
                          void **items, size_t item, void **states, size_t state);

/* The parts of a scene, in this order. */
ooze_result oz_read_output(oz_reader *r);
ooze_result oz_read_solver(oz_reader *r);
ooze_result oz_read_materials(oz_reader *r);
ooze_result oz_read_colliders(oz_reader *r);
ooze_result oz_read_emitters(oz_reader *r);
ooze_result oz_read_bodies(oz_reader *r);
ooze_result oz_read_fluids(oz_reader *r);
ooze_result oz_read_picture(oz_reader *r);
ooze_result oz_read_shape(oz_reader *r, const char *group, json_t *object, oz_shape *out);
ooze_result oz_find_material(oz_reader *r, json_t *object, uint32_t *out);
ooze_result oz_both_turns(oz_reader *r, json_t *object, oz_posed *posed);
ooze_result oz_read_still_pose(oz_reader *r, const char *group, json_t *object, ooze_pose *out);
ooze_result oz_read_copies(oz_reader *r, const char *group, json_t *object, oz_fluid *f);
ooze_result oz_check_slips(oz_reader *r); /* unit slips */
ooze_result oz_check_overlaps(oz_reader *r);

#define OZ_NO_MEMORY(r) oz_fail((r)->why, OOZE_ERROR_MEMORY, "%s: out of memory", (r)->scene->file)

#endif
