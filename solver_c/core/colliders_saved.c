/* Colliders in a checkpoint. SPDX-License-Identifier: Apache-2.0 */
#include "core/colliders.h"

#include <math.h>
#include <stdio.h>

#include "physics/contact.h"

enum { MAGIC = 0x4c435a4f, VERSION = 3 }; /* "OZCL" */

/* A collider in a checkpoint, with its bricks behind it. Words only, so that there is no
 * padding. */
typedef struct saved_collider {
  uint32_t handle, shape, role, invert, wall_density, brick_count, boundary;
  float half[3], friction, stick, temperature, contact, voxel;
  ooze_pose start, end;
  float force[3], torque[3];
} saved_collider;

size_t oz_colliders_bytes(const oz_colliders *c) {
  size_t bytes = sizeof(oz_saved_head) + c->count * sizeof(saved_collider) +
                 (size_t)c->bricks * sizeof(ooze_sdf_brick);
  for (uint32_t i = 0; i < c->count; i++) bytes += oz_friction_map_bytes(&c->slot[i].friction_map);
  return bytes;
}

void oz_colliders_write(const oz_colliders *c, void *out) {
  oz_saved_head head = {MAGIC, VERSION, c->count, c->next_handle};
  unsigned char *at = oz_bytes_put(out, &head, sizeof head);
  for (uint32_t i = 0; i < c->count; i++) {
    const oz_collider_slot *slot = c->slot + i;
    const ooze_collider_desc *d = &slot->desc;
    saved_collider s;
    memset(&s, 0, sizeof s);
    s.handle = slot->handle, s.shape = d->shape, s.role = d->role, s.invert = d->invert;
    s.wall_density = d->wall_density, s.brick_count = d->brick_count, s.boundary = d->boundary;
    memcpy(s.half, d->half, sizeof s.half);
    s.friction = d->friction, s.stick = d->stick, s.temperature = d->temperature,
    s.contact = d->contact, s.voxel = d->voxel;
    s.start = d->start, s.end = d->end;
    memcpy(s.force, slot->force, sizeof s.force);
    memcpy(s.torque, slot->torque, sizeof s.torque);
    at = oz_bytes_put(at, &s, sizeof s);
    for (uint32_t b = 0; b < d->brick_count; b++) {
      uint64_t key = c->key[slot->brick_first + b];
      int32_t origin[3];
      for (int k = 2; k >= 0; k--, key >>= 21)
        origin[k] = 8 * ((int32_t)(key & 0x1fffffu) - (int32_t)OZ_BRICK_BIAS);
      at = oz_bytes_put(at, origin, sizeof origin);
      at = oz_bytes_put(at, c->values + ((size_t)slot->brick_first + b) * 512, 512 * sizeof(float));
    }
    at = oz_friction_map_write(&slot->friction_map, at);
  }
}

static ooze_result read_one(oz_colliders *c, oz_bytes *in, uint32_t *last,
                            const oz_saved_head *head, ooze_message *why) {
  saved_collider s;
  ooze_collider_desc d;
  ooze_sdf_brick *bricks = NULL;
  char who[48];
  oz_bytes_take(in, &s, sizeof s);
  if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the colliders end early");
  snprintf(who, sizeof who, "checkpoint: collider %u", s.handle);
  OZ_TRY(oz_saved_handle(s.handle, head, last, who, why));
  if (s.brick_count > in->left / sizeof(ooze_sdf_brick) ||
      (s.brick_count && s.shape != OOZE_SHAPE_SDF))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s has %u bricks, which cannot be", who, s.brick_count);
  ooze_collider_desc_default(&d);
  d.shape = s.shape, d.role = s.role, d.invert = s.invert, d.wall_density = s.wall_density;
  memcpy(d.half, s.half, sizeof d.half);
  d.friction = s.friction, d.stick = s.stick, d.temperature = s.temperature, d.contact = s.contact,
  d.voxel = s.voxel;
  d.start = s.start, d.end = s.end;
  d.brick_count = s.brick_count;
  d.boundary = s.boundary;
  for (int k = 0; k < 3; k++)
    if (!(fabsf(s.force[k]) < 1e38f) || !(fabsf(s.torque[k]) < 1e38f))
      return oz_fail(why, OOZE_ERROR_FORMAT, "%s: its load is not finite", who);
  if (s.brick_count) {
    bricks = oz_alloc(c->memory, s.brick_count * sizeof *bricks);
    if (!bricks)
      return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %u bricks", who, s.brick_count);
    oz_bytes_take(in, bricks, s.brick_count * sizeof *bricks);
    d.bricks = bricks;
  }
  ooze_result r = oz_colliders_put(c, &d, s.handle, who, why);
  oz_free(c->memory, bricks);
  /* the sentence stays: it names the field */
  if (r < 0) return r == OOZE_ERROR_MEMORY ? r : OOZE_ERROR_FORMAT;
  memcpy(c->slot[c->count - 1].force, s.force, sizeof s.force);
  memcpy(c->slot[c->count - 1].torque, s.torque, sizeof s.torque);
  return oz_friction_map_read(c->memory, who, in, &c->slot[c->count - 1].friction_map, why);
}

ooze_result oz_colliders_read(oz_colliders *c, const void *in, size_t bytes, size_t *used,
                              ooze_message *why) {
  oz_bytes from = {in, bytes, 0};
  oz_colliders fresh;
  oz_saved_head head;
  uint32_t last = 0;
  OZ_TRY(oz_saved_head_take(&from, MAGIC, VERSION, VERSION, OZ_COLLIDERS_MAX, "colliders", &head,
                            why));
  oz_colliders_init(&fresh, c->memory);
  fresh.next_handle = head.next_handle;
  for (uint32_t i = 0; i < head.count; i++) {
    ooze_result r = read_one(&fresh, &from, &last, &head, why);
    if (r < 0) {
      oz_colliders_destroy(&fresh);
      return r;
    }
  }
  fresh.bricks_changed = fresh.friction_maps_changed = 1;
  oz_colliders_destroy(c);
  *c = fresh;
  *used = bytes - from.left;
  return OOZE_OK;
}
