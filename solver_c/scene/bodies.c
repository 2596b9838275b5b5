/* The bodies of a scene: reading and filling them. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdlib.h>

static ooze_result read_body(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  const uint32_t i = s->body_count;
  oz_body_item *b = &s->bodies[i];
  oz_body_keys *state = &s->start.bodies[i];
  ooze_body_desc_default(&state->desc);
  b->fill.name = oz_copy_text(name, strlen(name));
  if (!b->fill.name) return OZ_NO_MEMORY(r);
  s->body_count++;
  OZ_TRY_OK(oz_check_keys(r, "body", object));
  OZ_TRY_OK(oz_find_material(r, object, &b->fill.material));
  OZ_TRY_OK(oz_read_shape(r, "body", object, &b->fill.shape));
  OZ_TRY_OK(oz_read_copies(r, "body", object, &b->fill));
  OZ_TRY_OK(oz_get_fields(r, OZ_BODY, i, object, &state->desc, &b->moves));
  OZ_TRY_OK(oz_get_turn(r, OZ_BODY, i, object, state, offsetof(oz_body_keys, posed), &b->moves));
  if (state->posed.uses_rotate) oz_pose_rotate(state->posed.rotate, state->desc.pose.rotation);
  state->desc.material = b->fill.material + 1; /* 0 is the solver's own */
  b->desc = state->desc;
  b->fill.pose = state->desc.pose;
  return OOZE_OK;
}

ooze_result oz_read_bodies(oz_reader *r) {
  ooze_scene *s = r->scene;
  return oz_read_items(r, "bodies", "{\"shape\": ...}", read_body, (void **)&s->bodies,
                       sizeof *s->bodies, (void **)&s->start.bodies, sizeof *s->start.bodies);
}

/* Share of a body's particles that others may take without a word: where two touch. */
#define OVERLAPS 0.03

static void tell_cut(const oz_fill *fill, const char *name, uint64_t copy, uint64_t cut,
                     uint32_t left) {
  char text[240];
  if (!fill->host.say) return;
  snprintf(
      text, sizeof text,
      "bodies.%s: overlaps bodies before it, which take the room of %llu of the %llu particles "
      "of copy %llu: it is a part of its shape; move them apart",
      name, (unsigned long long)cut, (unsigned long long)(cut + left),
      (unsigned long long)copy + 1);
  fill->host.say(fill->host.user, text);
}

/* One copy: its points go back into its own frame. */
static ooze_result one(const ooze_scene *s, oz_fill *fill, const oz_body_item *b,
                       const uint32_t at[3], uint64_t copy, oz_body_fn take, void *user,
                       ooze_message *why) {
  oz_fluid f = b->fill;
  ooze_body_desc desc = b->desc;
  oz_cloud cloud;
  uint64_t cut = 0;
  oz_fluid_copy(&b->fill, at, copy, &f.pose);
  f.count[0] = f.count[1] = f.count[2] = 1;
  f.turn = 0.0f;
  f.lattice_only = 1; /* links of soft bodies go from layer to layer */
  memset(&cloud, 0, sizeof cloud);
  OZ_TRY_OK(oz_fill_fluid(fill, &f, NULL, NULL, &cloud, &cut, why));
  ooze_result result = OOZE_OK;
  if (!cloud.count)
    result = oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: bodies.%s: not one particle fits in at a separation of %g m%s", s->file,
                     b->fill.name, (double)s->separation,
                     cut ? ": its room is taken by other bodies" : "");
  if (result == OOZE_OK && (double)cut > OVERLAPS * (double)(cut + cloud.count))
    tell_cut(fill, b->fill.name, copy, cut, cloud.count);
  if (result == OOZE_OK && !copy)
    result = oz_fluid_copies_fit(fill, &b->fill, "bodies", cloud.count, why);
  for (uint32_t i = 0; i < cloud.count; i++) {
    double x[3] = {(double)cloud.x[i][0], (double)cloud.x[i][1], (double)cloud.x[i][2]}, local[3];
    oz_pose_unapply(&f.pose, x, local);
    for (int k = 0; k < 3; k++) cloud.x[i][k] = (float)local[k];
  }
  desc.pose = f.pose;
  desc.count = cloud.count;
  desc.positions = cloud.x;
  if (result == OOZE_OK) result = take(user, b, &desc, why);
  oz_cloud_release(&cloud);
  return result;
}

/* Copies of a body, and the place in its array of the copy with a number; z runs fastest. */
static uint64_t copies_of(const oz_body_item *b) {
  return (uint64_t)b->fill.count[0] * b->fill.count[1] * b->fill.count[2];
}
static void copy_at(const oz_body_item *b, uint64_t copy, uint32_t at[3]) {
  const uint64_t deep = b->fill.count[2], high = b->fill.count[1];
  at[0] = (uint32_t)(copy / (deep * high));
  at[1] = (uint32_t)(copy / deep % high);
  at[2] = (uint32_t)(copy % deep);
}

ooze_result oz_scene_bodies(const ooze_scene *s, oz_fill *fill, oz_body_fn take, void *user,
                            ooze_message *why) {
  for (uint32_t i = 0; i < s->body_count; i++) {
    const oz_body_item *b = &s->bodies[i];
    for (uint64_t copy = 0; copy < copies_of(b); copy++) {
      uint32_t at[3];
      copy_at(b, copy, at);
      OZ_TRY_OK(one(s, fill, b, at, copy, take, user, why));
    }
  }
  return OOZE_OK;
}

/* Copy number `copy` of a body whose shape stands at `pose`. */
static void copy_pose(const oz_body_item *b, const ooze_pose *pose, const uint32_t at[3],
                      uint64_t copy, ooze_pose *out) {
  oz_fluid f = b->fill;
  f.pose = *pose;
  oz_fluid_copy(&f, at, copy, out);
}

ooze_result oz_scene_drive_bodies(const ooze_scene *s, const oz_state *from, const oz_state *to,
                                  ooze_solver *solver, ooze_message *why) {
  ooze_body handle = 0; /* they were added in this order, and their handles count from 1 */
  for (uint32_t i = 0; i < s->body_count; i++) {
    const oz_body_item *b = &s->bodies[i];
    for (uint64_t copy = 0; copy < copies_of(b); copy++) {
      ooze_pose start, end;
      uint32_t at[3];
      handle++;
      if (!b->moves) continue;
      copy_at(b, copy, at);
      copy_pose(b, &from->bodies[i].desc.pose, at, copy, &start);
      copy_pose(b, &to->bodies[i].desc.pose, at, copy, &end);
      if (ooze_body_drive(solver, handle, &start, &end) < 0)
        return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: bodies.%s: %s", s->file, b->fill.name,
                       ooze_solver_message(solver));
    }
  }
  return OOZE_OK;
}
