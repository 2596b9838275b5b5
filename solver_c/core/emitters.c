/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emitters.h"

#include <math.h>
#include <stdio.h>

#include "core/colliders.h"
#include "base/schema.h"
#include "physics/search.h"

void oz_emitters_init(oz_emitters *e, oz_memory *memory, float separation) {
  memset(e, 0, sizeof *e);
  e->memory = memory;
  e->separation = separation;
  e->next_handle = 1;
}

void oz_emitters_destroy(oz_emitters *e) {
  for (uint32_t i = 0; i < e->count; i++) oz_free(e->memory, e->slot[i].point);
  oz_free(e->memory, e->slot);
  oz_emitters_init(e, e->memory, e->separation);
}

void oz_births_release(oz_births *b, oz_memory *memory) {
  oz_free(memory, b->position);
  oz_free(memory, b->velocity);
  oz_free(memory, b->material);
  oz_free(memory, b->source);
  memset(b, 0, sizeof *b);
}

oz_emitter_slot *oz_emitters_find(const oz_emitters *e, uint32_t handle) {
  uint32_t lo = 0, hi = e->count;
  OZ_LOWER_BOUND(lo, hi, mid, e->slot[mid].handle < handle)
  return lo < e->count && e->slot[lo].handle == handle ? e->slot + lo : NULL;
}
static ooze_result not_found(uint32_t handle, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_NOT_FOUND, "emitter %u: there is none with this handle", handle);
}

static ooze_result check(const oz_emitters *e, const ooze_emitter_desc *d, uint32_t materials,
                         const char *label, ooze_message *why) {
  OZ_TRY(oz_schema_check(OZ_OWNER_emitter_desc, d, label, why));
  if (d->material >= materials)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: material is %u; expected 0 to %u", label,
                   d->material, materials ? materials - 1 : 0);
  if (d->until > 0.0f && !(d->until > d->from))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: until is %g s; expected more than from, which is %g s, or 0 for no end",
                   label, (double)d->until, (double)d->from);
  if (d->corner_count > OOZE_OUTLINE_CORNERS || d->corner_count == 1 || d->corner_count == 2)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: %u corners; expected 3 to %d, or none", label,
                   d->corner_count, OOZE_OUTLINE_CORNERS);
  for (uint32_t i = 0; i < 2 * d->corner_count; i++)
    if (!(fabs((double)d->corners[i]) <= 1.0))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: corner %u is at %g; expected -1 to 1, in radii",
                     label, i / 2, (double)d->corners[i]);
  if (!(oz_mouth_area(d) > 1e-6 * (double)d->radius * (double)d->radius))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: the outline has no area", label);
  if ((double)d->radius > OZ_EMITTER_SPAN_MAX * (double)e->separation)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: radius is %g m; expected at most %g m, %g particle separations", label,
                   (double)d->radius, OZ_EMITTER_SPAN_MAX * (double)e->separation,
                   OZ_EMITTER_SPAN_MAX);
  return OOZE_OK;
}

static void fill(oz_emitter_slot *slot, const ooze_emitter_desc *desc) {
  slot->desc = *desc;
  slot->desc.size = (uint32_t)sizeof slot->desc;
  oz_pose_unit(&slot->desc.start);
  oz_pose_unit(&slot->desc.end);
  slot->layout = OOZE_LAYOUT_AUTO; /* radius, seed or layout may be new */
  slot->running = 0;               /* and so may speed: flow goes on from where it is */
}

ooze_result oz_emitters_append(oz_emitters *e, const ooze_emitter_desc *desc, uint32_t materials,
                               uint32_t handle, const char *label, ooze_message *why) {
  OZ_TRY(check(e, desc, materials, label, why));
  if (e->count >= OZ_EMITTERS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: there are %u emitters already, which is as many as there can be", label,
                   e->count);
  if (!oz_grow_list(e->memory, (void **)&e->slot, &e->slot_capacity, e->count, sizeof *e->slot, 4))
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory to keep it", label);
  oz_emitter_slot *slot = e->slot + e->count++;
  memset(slot, 0, sizeof *slot);
  slot->handle = handle;
  fill(slot, desc);
  return OOZE_OK;
}

ooze_result oz_emitters_add(oz_emitters *e, const ooze_emitter_desc *desc, uint32_t materials,
                            uint32_t *out_handle, ooze_message *why) {
  if (e->next_handle == 0)
    return oz_fail(why, OOZE_ERROR_LIMIT, "new emitter: all handles have been used");
  OZ_TRY(oz_emitters_append(e, desc, materials, e->next_handle, "new emitter", why));
  *out_handle = e->next_handle++;
  return OOZE_OK;
}

ooze_result oz_emitters_set(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why) {
  char label[32];
  oz_emitter_slot *slot = oz_emitters_find(e, handle);
  if (!slot) return not_found(handle, why);
  snprintf(label, sizeof label, "emitter %u", handle);
  OZ_TRY(check(e, desc, materials, label, why));
  uint32_t running = slot->running, layout = slot->layout;
  const ooze_emitter_desc old = slot->desc;
  fill(slot, desc);
  /* a host that sets every frame to move the nozzle must get the same stream as one that does not
   */
  if (old.speed == desc->speed && old.active == desc->active && old.rate == desc->rate)
    slot->running = running;
  if (old.radius == desc->radius && old.seed == desc->seed && old.layout == desc->layout &&
      old.material == desc->material && old.outline == desc->outline &&
      old.outline_inner == desc->outline_inner && old.outline_points == desc->outline_points &&
      old.corner_count == desc->corner_count &&
      memcmp(old.corners, desc->corners, sizeof old.corners) == 0)
    slot->layout = layout;
  return OOZE_OK;
}

ooze_result oz_emitters_get(const oz_emitters *e, uint32_t handle, ooze_emitter_desc *out,
                            ooze_message *why) {
  const oz_emitter_slot *slot = oz_emitters_find(e, handle);
  if (!slot) return not_found(handle, why);
  *out = slot->desc;
  out->size = (uint32_t)sizeof *out;
  return OOZE_OK;
}

ooze_result oz_emitters_put(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why) {
  char label[32];
  if (handle == 0 || handle == UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "emitter: %u is no handle; expected 1 to %u", handle,
                   UINT32_MAX - 1);
  if (oz_emitters_find(e, handle)) return oz_emitters_set(e, handle, desc, materials, why);
  snprintf(label, sizeof label, "emitter %u", handle);
  OZ_TRY(oz_emitters_append(e, desc, materials, handle, label, why));
  /* to its place in the order */
  for (uint32_t i = e->count - 1; i > 0 && e->slot[i - 1].handle > handle; i--) {
    oz_emitter_slot last = e->slot[i];
    e->slot[i] = e->slot[i - 1];
    e->slot[i - 1] = last;
  }
  if (e->next_handle && handle >= e->next_handle) e->next_handle = handle + 1;
  return OOZE_OK;
}

ooze_result oz_emitters_remove(oz_emitters *e, uint32_t handle, ooze_message *why) {
  oz_emitter_slot *slot = oz_emitters_find(e, handle);
  if (!slot) return not_found(handle, why);
  uint32_t at = (uint32_t)(slot - e->slot);
  oz_free(e->memory, slot->point);
  memmove(slot, slot + 1, (e->count - at - 1) * sizeof *slot);
  e->count--;
  return OOZE_OK;
}
