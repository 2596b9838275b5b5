/* The colliders of a scene. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <stdlib.h>

static ooze_result make_sdf(oz_reader *r, oz_collider_item *item, float voxel) {
  ooze_message inner = {""};
  ooze_result result;
  ooze_sdf_default(&item->sdf);
  if (item->shape.kind == OZ_SHAPE_MESH || item->shape.kind == OZ_SHAPE_VDB) {
    ooze_sdf_desc desc;
    ooze_sdf_desc_default(&desc);
    desc.voxel = voxel;
    if (r->scene->max_memory) { /* bricks and the memory of reading, each within it */
      uint64_t most = r->scene->max_memory, bricks = most / sizeof(ooze_sdf_brick);
      if (bricks < desc.max_bricks) desc.max_bricks = (uint32_t)bricks;
      desc.max_file_bytes = most;
      desc.max_memory = most;
    }
    if (item->shape.kind == OZ_SHAPE_VDB)
      result = ooze_sdf_from_vdb(&desc, item->shape.file, NULL, &item->sdf, &inner);
    else
      result = ooze_sdf_from_mesh(&desc, item->shape.mesh.positions, item->shape.mesh.point_count,
                                  item->shape.mesh.triangles,
                                  (uint32_t)item->shape.mesh.triangle_count, &item->sdf, &inner);
  } else {
    result = oz_shape_bricks(&item->shape, item->name, voxel, &item->sdf, &inner);
  }
  if (result < 0) return oz_refuse(r, result, "%s", inner.text);
  return OOZE_OK;
}

static ooze_result refuse_key(oz_reader *r, const char *key, const char *text) {
  oz_down(r, key);
  return oz_refuse(r, OOZE_ERROR_ARGUMENT, "%s", text);
}

/* Boundary particles need a shape with a surface; shells and sequences need them. */
static ooze_result check_boundary(oz_reader *r, const oz_collider_item *item, uint32_t boundary) {
  const oz_shape_kind kind = item->shape.kind;
  const int particles = boundary == OOZE_BOUNDARY_PARTICLES;
  if (item->shell && (kind != OZ_SHAPE_MESH || !particles))
    return refuse_key(r, "shell",
                      "works with \"shape\": \"mesh\" and \"boundary\": \"particles\" alone");
  if (item->shape.sequence && !particles)
    return refuse_key(
        r, "file",
        "a mesh for each frame, which may deform, works with \"boundary\": \"particles\" alone");
  if (particles && !oz_shape_has_surface(&item->shape))
    return refuse_key(r, "boundary",
                      "this shape has no surface to put particles on; expected a mesh, a revolve "
                      "or a simple shape");
  return OOZE_OK;
}

static ooze_result read_collider(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  uint32_t i = s->collider_count;
  oz_collider_item *item = &s->colliders[i];
  oz_collider_state *state = &s->start.colliders[i];
  ooze_collider_desc_default(&state->desc);
  item->name = oz_copy_text(name, strlen(name));
  if (!item->name) return OZ_NO_MEMORY(r);
  item->colour[0] = 0.62f, item->colour[1] = 0.64f, item->colour[2] = 0.67f;
  s->collider_count++;
  OZ_TRY_OK(oz_get_fields(r, OZ_COLLIDER, i, object, &state->desc, &item->moves));
  OZ_TRY_OK(oz_get_turn(r, OZ_COLLIDER, i, object, state, offsetof(oz_collider_state, posed),
                        &item->moves));
  OZ_TRY_OK(oz_get_vector(r, "collider", object, "colour", item->colour));
  OZ_TRY_OK(oz_get_count(r, "collider", object, "hidden", &item->hidden));
  OZ_TRY_OK(oz_get_count(r, "collider", object, "shell", &item->shell));
  OZ_TRY_OK(oz_read_shape(r, "collider", object, &item->shape));
  memcpy(state->desc.half, item->shape.half, sizeof state->desc.half);
  OZ_TRY_OK(check_boundary(r, item, state->desc.boundary));

  state->desc.shape = oz_shape_of_solver(&item->shape);
  if (state->desc.shape != OOZE_SHAPE_SDF) return OOZE_OK;
  if (!(state->desc.voxel > 0.0f))
    state->desc.voxel =
        state->desc.invert ? s->separation : oz_shape_voxel(&item->shape, s->separation);
  /* an open sheet has no inside; a distance would be that of one moment */
  if (item->shell || item->shape.sequence) {
    ooze_sdf_default(&item->sdf);
    return OOZE_OK;
  }
  if (r->keys_alone) return OOZE_OK;
  OZ_TRY_OK(make_sdf(r, item, state->desc.voxel));
  state->desc.voxel = item->sdf.voxel;
  return OOZE_OK;
}

ooze_result oz_read_colliders(oz_reader *r) {
  ooze_scene *s = r->scene;
  return oz_read_items(r, "colliders", "{\"shape\": ...}", read_collider, (void **)&s->colliders,
                       sizeof *s->colliders, (void **)&s->start.colliders,
                       sizeof *s->start.colliders);
}
