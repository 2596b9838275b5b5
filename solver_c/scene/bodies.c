/* The bodies of a scene: reading and filling them. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdlib.h>

static ooze_result read_body(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  oz_body_item *b = &s->bodies[s->body_count];
  ooze_body_desc_default(&b->desc);
  ooze_pose_default(&b->fill.pose);
  b->fill.name = oz_copy_text(name, strlen(name));
  if (!b->fill.name) return OZ_NO_MEMORY(r);
  s->body_count++;
  OZ_TRY_OK(oz_check_keys(r, "body", object));
  OZ_TRY_OK(oz_find_material(r, object, &b->fill.material));
  OZ_TRY_OK(oz_read_shape(r, "body", object, &b->fill.shape));
  OZ_TRY_OK(oz_read_still_pose(r, "body", object, &b->fill.pose));
  OZ_TRY_OK(oz_read_copies(r, "body", object, &b->fill));
  OZ_TRY_OK(oz_get_fields(r, OZ_BODY, s->body_count - 1, object, &b->desc, NULL));
  b->desc.material = b->fill.material + 1; /* 0 is the solver's own */
  return OOZE_OK;
}

ooze_result oz_read_bodies(oz_reader *r) {
  ooze_scene *s = r->scene;
  s->bodies = calloc(json_object_size(json_object_get(s->doc, "bodies")) + 1, sizeof *s->bodies);
  if (!s->bodies) return OZ_NO_MEMORY(r);
  return oz_read_map(r, "bodies", "{\"shape\": ...}", read_body);
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

ooze_result oz_scene_bodies(const ooze_scene *s, oz_fill *fill, oz_body_fn take, void *user,
                            ooze_message *why) {
  for (uint32_t i = 0; i < s->body_count; i++) {
    const oz_body_item *b = &s->bodies[i];
    uint64_t copy = 0;
    uint32_t at[3];
    for (at[0] = 0; at[0] < b->fill.count[0]; at[0]++)
      for (at[1] = 0; at[1] < b->fill.count[1]; at[1]++)
        for (at[2] = 0; at[2] < b->fill.count[2]; at[2]++, copy++)
          OZ_TRY_OK(one(s, fill, b, at, copy, take, user, why));
  }
  return OOZE_OK;
}
