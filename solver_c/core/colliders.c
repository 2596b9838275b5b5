/* SPDX-License-Identifier: Apache-2.0 */
#include "core/colliders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/schema.h"
#include "physics/contact.h"

/* voxels from the origin: range of the keys of the physics (contact.h) */
static const int32_t BRICK_LIMIT = 8000000;

/* ---- Checks ---------------------------------------------------------------------------------
 */

static const struct {
  const char *name;
  int halves; /* half extents that the shape uses and that must not vanish */
} shapes[] = {
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) {word, halves},
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
};

static ooze_result check_bricks(const ooze_collider_desc *d, const char *who, ooze_message *why) {
  if (!(d->voxel > 0.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: voxel is %g m; expected more than 0 for an sdf",
                   who, (double)d->voxel);
  if (d->brick_count == 0 || !d->bricks)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: brick_count is %u and bricks is %s; an sdf needs at least one", who,
                   d->brick_count, d->bricks ? "given" : "NULL");
  if (d->brick_count > OZ_BRICKS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: brick_count is %u; expected at most %u", who,
                   d->brick_count, OZ_BRICKS_MAX);
  for (uint32_t i = 0; i < d->brick_count; i++) {
    const ooze_sdf_brick *b = d->bricks + i;
    for (int k = 0; k < 3; k++)
      if (b->origin[k] % 8 != 0 || b->origin[k] < -BRICK_LIMIT || b->origin[k] > BRICK_LIMIT)
        return oz_fail(
            why, OOZE_ERROR_ARGUMENT,
            "%s: bricks[%u].origin[%d] is %d voxels; expected a multiple of 8 from %d to %d", who,
            i, k, b->origin[k], -BRICK_LIMIT, BRICK_LIMIT);
    for (int k = 0; k < 512; k++)
      if (!(fabsf(b->values[k]) <= 1e6f))
        return oz_fail(why, OOZE_ERROR_ARGUMENT,
                       "%s: bricks[%u].values[%d] is %g m; expected -1e6 to 1e6", who, i, k,
                       (double)b->values[k]);
  }
  return OOZE_OK;
}

static ooze_result check(const ooze_collider_desc *d, const char *who, ooze_message *why) {
  OZ_TRY(oz_schema_check(OZ_OWNER_collider_desc, d, who, why));
  for (int k = 0; k < shapes[d->shape].halves; k++)
    if (!(d->half[k] > 0.0f))
      return oz_fail(why, OOZE_ERROR_ARGUMENT,
                     "%s: half[%d] is %g m; expected more than 0 for a %s", who, k,
                     (double)d->half[k], shapes[d->shape].name);
  /* boundary particles alone: its distance is unused */
  if (d->boundary == OOZE_BOUNDARY_PARTICLES && d->brick_count == 0) return OOZE_OK;
  return d->shape == OOZE_SHAPE_SDF ? check_bricks(d, who, why) : OOZE_OK;
}

/* Bounding radius of a shape's surface about the origin; 0 of a plane. */
static float size_of(const ooze_collider_desc *d) {
  const double a = (double)d->half[0], b = (double)d->half[1], c = (double)d->half[2];
  double r = 0.0;
  if (d->shape == OOZE_SHAPE_SDF) {
    for (uint32_t i = 0; i < d->brick_count; i++) {
      double r2 = 0.0;
      for (int k = 0; k < 3; k++) {
        double lo = fabs((double)d->bricks[i].origin[k] - 1.0),
               hi = fabs((double)d->bricks[i].origin[k] + 8.0);
        double m = (lo > hi ? lo : hi) * (double)d->voxel;
        r2 += m * m;
      }
      if (r2 > r) r = r2;
    }
    r = sqrt(r);
  } else if (d->shape == OOZE_SHAPE_PLANE)
    return 0.0f;
  else if (d->shape == OOZE_SHAPE_SPHERE)
    r = a;
  else if (d->shape == OOZE_SHAPE_BOX)
    r = sqrt(a * a + b * b + c * c);
  else if (d->shape == OOZE_SHAPE_CAPSULE)
    r = a + b;
  else
    r = sqrt(a * a + b * b);
  return (float)(r * (1.0 + 1e-6));
}

/* Bounding radius of the solid; 0 where it has none. An inverted sdf ends where its bricks end. */
static float reach_of(const ooze_collider_desc *d) {
  return d->invert && d->shape != OOZE_SHAPE_SDF ? 0.0f : size_of(d);
}

/* ---- Storage --------------------------------------------------------------------------------
 */

void oz_colliders_init(oz_colliders *c, oz_memory *memory) {
  memset(c, 0, sizeof *c);
  c->memory = memory;
  c->next_handle = 1;
}

void oz_colliders_destroy(oz_colliders *c) {
  for (uint32_t i = 0; i < c->count; i++)
    oz_friction_map_release(c->memory, &c->slot[i].friction_map);
  oz_free(c->memory, c->friction_map_key);
  oz_free(c->memory, c->friction_map_values);
  oz_free(c->memory, c->slot);
  oz_free(c->memory, c->key);
  oz_free(c->memory, c->values);
  oz_colliders_init(c, c->memory);
}

static oz_collider_slot *find(const oz_colliders *c, uint32_t handle) {
  uint32_t lo = 0, hi = c->count;
  OZ_LOWER_BOUND(lo, hi, mid, c->slot[mid].handle < handle)
  return lo < c->count && c->slot[lo].handle == handle ? c->slot + lo : NULL;
}
static ooze_result not_found(uint32_t handle, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_NOT_FOUND, "collider %u: there is none with this handle", handle);
}

typedef struct brick_order {
  uint64_t key;
  uint32_t index;
} brick_order;
static int by_key(const void *a, const void *b) {
  uint64_t x = ((const brick_order *)a)->key, y = ((const brick_order *)b)->key;
  return x < y ? -1 : x > y;
}
/* As oz_brick_key in contact.h; a test compares. */
static uint64_t key_of(const int32_t origin[3]) {
  uint64_t key = 0;
  for (int k = 0; k < 3; k++)
    key = key << 21 | (uint64_t)((uint32_t)(origin[k] / 8) + OZ_BRICK_BIAS);
  return key;
}

/* Appends the bricks of d, sorted; c->bricks is for the caller to raise once nothing can fail any
 * more. */
static ooze_result append_bricks(oz_colliders *c, const ooze_collider_desc *d, const char *who,
                                 ooze_message *why) {
  const size_t n = d->brick_count, total = c->bricks + n;
  if (total > OZ_BRICKS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: %zu bricks with those of other colliders; expected at most %u", who, total,
                   OZ_BRICKS_MAX);
  brick_order *order = oz_alloc(c->memory, n * sizeof *order);
  if (!order ||
      !oz_grow(c->memory, (void **)&c->key, &c->key_capacity, total * sizeof *c->key,
               c->bricks * sizeof *c->key) ||
      !oz_grow(c->memory, (void **)&c->values, &c->value_capacity, total * 512 * sizeof(float),
               (size_t)c->bricks * 512 * sizeof(float))) {
    oz_free(c->memory, order);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %zu bricks", who, n);
  }
  for (uint32_t i = 0; i < n; i++) order[i].key = key_of(d->bricks[i].origin), order[i].index = i;
  qsort(order, n, sizeof *order, by_key);
  for (size_t i = 1; i < n; i++)
    if (order[i].key == order[i - 1].key) {
      const int32_t *o = d->bricks[order[i].index].origin;
      oz_free(c->memory, order);
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: two bricks have origin %d %d %d", who, o[0],
                     o[1], o[2]);
    }
  for (size_t i = 0; i < n; i++) {
    c->key[c->bricks + i] = order[i].key;
    memcpy(c->values + (c->bricks + i) * 512, d->bricks[order[i].index].values,
           512 * sizeof(float));
  }
  oz_free(c->memory, order);
  return OOZE_OK;
}

static void drop_bricks(oz_colliders *c, uint32_t first, uint32_t n) {
  if (n == 0) return;
  size_t behind = c->bricks - first - n;
  memmove(c->key + first, c->key + first + n, behind * sizeof *c->key);
  memmove(c->values + (size_t)first * 512, c->values + ((size_t)first + n) * 512,
          behind * 512 * sizeof(float));
  c->bricks -= n;
  c->bricks_changed = 1;
  for (uint32_t i = 0; i < c->count; i++)
    if (c->slot[i].brick_first > first) c->slot[i].brick_first -= n;
}

/* Fills an entry from a checked description; its bricks, if any, are at the end of the arrays. */
static void fill(oz_colliders *c, oz_collider_slot *slot, const ooze_collider_desc *desc) {
  slot->desc = *desc;
  slot->desc.size = (uint32_t)sizeof slot->desc;
  slot->desc.bricks = NULL;
  slot->size = size_of(desc), slot->reach = reach_of(desc);
  oz_pose_unit(&slot->desc.start);
  oz_pose_unit(&slot->desc.end);
  slot->brick_first = 0;
  if (desc->shape == OOZE_SHAPE_SDF) {
    slot->brick_first = c->bricks;
    c->bricks += desc->brick_count;
    c->bricks_changed = 1;
  } else
    slot->desc.brick_count = 0;
}

ooze_result oz_colliders_put(oz_colliders *c, const ooze_collider_desc *desc, uint32_t handle,
                             const char *who, ooze_message *why) {
  OZ_TRY(check(desc, who, why));
  if (c->count >= OZ_COLLIDERS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: there are %u colliders already, which is as many as there can be", who,
                   c->count);
  if (!oz_grow_list(c->memory, (void **)&c->slot, &c->slot_capacity, c->count, sizeof *c->slot, 8))
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory to keep it", who);
  if (desc->shape == OOZE_SHAPE_SDF && desc->brick_count) OZ_TRY(append_bricks(c, desc, who, why));
  oz_collider_slot *slot = c->slot + c->count++;
  memset(slot, 0, sizeof *slot);
  slot->handle = handle;
  fill(c, slot, desc);
  return OOZE_OK;
}

ooze_result oz_colliders_add(oz_colliders *c, const ooze_collider_desc *desc, uint32_t *out_handle,
                             ooze_message *why) {
  if (c->next_handle == 0)
    return oz_fail(why, OOZE_ERROR_LIMIT, "new collider: all handles have been used");
  OZ_TRY(oz_colliders_put(c, desc, c->next_handle, "new collider", why));
  *out_handle = c->next_handle++;
  return OOZE_OK;
}

ooze_result oz_colliders_set(oz_colliders *c, uint32_t handle, const ooze_collider_desc *desc,
                             ooze_message *why) {
  char who[32];
  oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  snprintf(who, sizeof who, "collider %u", handle);
  OZ_TRY(check(desc, who, why));
  if (desc->shape == OOZE_SHAPE_SDF && desc->brick_count) OZ_TRY(append_bricks(c, desc, who, why));
  uint32_t old_first = slot->brick_first, old_count = slot->desc.brick_count;
  fill(c, slot, desc);
  drop_bricks(c, old_first, old_count);
  return OOZE_OK;
}

ooze_result oz_colliders_get(const oz_colliders *c, uint32_t handle, ooze_collider_desc *out,
                             ooze_message *why) {
  const oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  *out = slot->desc;
  out->size = (uint32_t)sizeof *out;
  out->bricks = NULL;
  return OOZE_OK;
}

ooze_result oz_colliders_move(oz_colliders *c, uint32_t handle, const ooze_pose *start,
                              const ooze_pose *end, ooze_message *why) {
  char who[32];
  oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  snprintf(who, sizeof who, "collider %u", handle);
  ooze_collider_desc d = slot->desc;
  d.start = *start;
  d.end = *end;
  OZ_TRY(oz_schema_check(OZ_OWNER_collider_desc, &d, who, why));
  oz_pose_unit(&d.start);
  oz_pose_unit(&d.end);
  slot->desc.start = d.start;
  slot->desc.end = d.end;
  return OOZE_OK;
}

ooze_result oz_colliders_remove(oz_colliders *c, uint32_t handle, ooze_message *why) {
  oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  uint32_t first = slot->brick_first, n = slot->desc.brick_count, at = (uint32_t)(slot - c->slot);
  c->friction_maps_changed |= slot->friction_map.count > 0;
  oz_friction_map_release(c->memory, &slot->friction_map);
  memmove(slot, slot + 1, (c->count - at - 1) * sizeof *slot);
  c->count--;
  drop_bricks(c, first, n);
  return OOZE_OK;
}

ooze_result oz_colliders_load(const oz_colliders *c, uint32_t handle, float force[3],
                              float torque[3], ooze_message *why) {
  const oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  memcpy(force, slot->force, sizeof slot->force);
  memcpy(torque, slot->torque, sizeof slot->torque);
  return OOZE_OK;
}

ooze_result oz_colliders_friction_map(oz_colliders *c, uint32_t handle, double spacing,
                                      uint32_t count, const float *positions, const float *friction,
                                      const float *stick, ooze_message *why) {
  char who[32];
  oz_collider_slot *slot = find(c, handle);
  if (!slot) return not_found(handle, why);
  snprintf(who, sizeof who, "collider %u", handle);
  if (count)
    OZ_TRY(oz_friction_map_make(c->memory, who, spacing, count, positions, friction,
                                slot->desc.friction, stick, slot->desc.stick, &slot->friction_map,
                                why));
  else
    oz_friction_map_release(c->memory, &slot->friction_map);
  c->friction_maps_changed = 1;
  return OOZE_OK;
}

ooze_result oz_colliders_gather_friction_maps(oz_colliders *c, ooze_message *why) {
  size_t all = 0;
  for (uint32_t i = 0; i < c->count; i++) all += c->slot[i].friction_map.count;
  if (all > OZ_FRICTION_MAP_BRICKS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%zu bricks for friction that differs from place to place; expected at most %u",
                   all, OZ_FRICTION_MAP_BRICKS_MAX);
  if (!oz_grow(c->memory, (void **)&c->friction_map_key, &c->friction_map_key_capacity,
               all * sizeof *c->friction_map_key, 0) ||
      !oz_grow(c->memory, (void **)&c->friction_map_values, &c->friction_map_value_capacity,
               all * OZ_FRICTION_MAP_FLOATS * sizeof(float), 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for %zu bricks of friction", all);
  all = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    const oz_friction_map *g = &c->slot[i].friction_map;
    if (!g->count) continue;
    memcpy(c->friction_map_key + all, g->key, g->count * sizeof *g->key);
    memcpy(c->friction_map_values + all * OZ_FRICTION_MAP_FLOATS, g->values,
           (size_t)g->count * OZ_FRICTION_MAP_FLOATS * sizeof(float));
    all += g->count;
  }
  c->friction_map_bricks = (uint32_t)all;
  return OOZE_OK;
}

/* A sheet of points has none of which the distance is known. */
static int has_surface(const ooze_collider_desc *d) {
  return d->shape != OOZE_SHAPE_SDF || d->brick_count > 0;
}

int oz_colliders_have(const oz_colliders *c, uint32_t role) {
  for (uint32_t i = 0; i < c->count; i++)
    if (c->slot[i].desc.role == role &&
        !(role == OOZE_ROLE_COLLIDE && !has_surface(&c->slot[i].desc)))
      return 1;
  return 0;
}

int oz_colliders_drag(const oz_colliders *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    const ooze_collider_desc *d = &c->slot[i].desc;
    if (d->role == OOZE_ROLE_COLLIDE && d->friction > 0.0f &&
        memcmp(&d->start, &d->end, sizeof d->start))
      return 1;
  }
  return 0;
}

/* ---- A step ---------------------------------------------------------------------------------
 */

void oz_colliders_frame(const oz_colliders *c, double f0, double f1, double dt, oz_collider *out) {
  uint32_t friction_maps = 0;
  for (uint32_t i = 0; i < c->count; i++, out++) {
    const ooze_collider_desc *d = &c->slot[i].desc;
    ooze_pose from, to;
    memset(out, 0, sizeof *out);
    oz_pose_between(&d->start, &d->end, f0, &from);
    oz_pose_between(&d->start, &d->end, f1, &to);
    out->shape = d->shape;
    out->role = d->role == OOZE_ROLE_COLLIDE && !has_surface(d) ? OZ_ROLE_NONE : d->role;
    out->handle = c->slot[i].handle;
    /* boundary particles alone ask for these; without them a collider that stands still is the same
     * in every substep, and a device has it already */
    if (d->boundary == OOZE_BOUNDARY_PARTICLES) out->f0 = (float)f0, out->f1 = (float)f1;
    out->invert = d->invert;
    out->wall_density = d->wall_density;
    memcpy(out->half, d->half, sizeof out->half);
    out->friction = (float)(1.0 - pow(1.0 - (double)d->friction, dt / OZ_FRICTION_STEP));
    out->stick = d->stick;
    out->temperature = d->temperature;
    out->contact = d->contact;
    out->friction_map_voxel = c->slot[i].friction_map.voxel;
    out->friction_map_first = friction_maps,
    out->friction_map_count = c->slot[i].friction_map.count;
    out->friction_map_power = (float)(dt / OZ_FRICTION_STEP);
    friction_maps += c->slot[i].friction_map.count;
    /* a guard behind its particles: these hold sliding fluid, the guard stops fluid that passes
     * them */
    if (d->boundary && c->particles)
      out->friction = out->friction_map_power = 0.0f, out->wall_density = 0;
    memcpy(out->p0, from.position, sizeof out->p0);
    memcpy(out->q0, from.rotation, sizeof out->q0);
    memcpy(out->p1, to.position, sizeof out->p1);
    memcpy(out->q1, to.rotation, sizeof out->q1);
    out->voxel = d->voxel;
    out->brick_first = c->slot[i].brick_first;
    out->brick_count = d->brick_count;
    out->reach = c->slot[i].reach;
  }
}

void oz_colliders_begin_step(oz_colliders *c) {
  c->load_time = 0.0;
  for (uint32_t i = 0; i < c->count; i++)
    for (int k = 0; k < 3; k++) c->slot[i].impulse[k] = c->slot[i].turn[k] = 0.0;
}

/* Impulse j (N s) at x onto collider k. */
static void give(oz_colliders *c, const oz_collider *frame, uint32_t k, const float *j,
                 const float *x) {
  double r[3], g[3];
  /* contained ones have NaN */
  if (k >= c->count || !(fabsf(j[0]) + fabsf(j[1]) + fabsf(j[2]) < 1e30f)) return;
  oz_collider_slot *slot = c->slot + k;
  for (int a = 0; a < 3; a++) r[a] = (double)x[a] - (double)frame[k].p1[a], g[a] = (double)j[a];
  double turn[3] = {r[1] * g[2] - r[2] * g[1], r[2] * g[0] - r[0] * g[2],
                    r[0] * g[1] - r[1] * g[0]};
  if (!(fabs(turn[0]) + fabs(turn[1]) + fabs(turn[2]) < 1e30)) return;
  for (int a = 0; a < 3; a++) slot->impulse[a] += g[a], slot->turn[a] += turn[a];
}

void oz_colliders_collect(oz_colliders *c, const oz_collider *frame, const oz_frame *f, double dt) {
  c->load_time += dt;
  for (uint32_t s = 0; s < f->wall_count; s++) {
    const float *x = f->x + 4 * (size_t)f->wall_particle[s];
    for (uint32_t k = 0; k < f->wall_planes[s]; k++) {
      const size_t plane = (size_t)s * f->contact_planes + k;
      give(c, frame, f->wall[plane].collider, f->wall_impulse + 3 * plane, x);
    }
    for (uint32_t k = 0; f->load && k < f->load[s].count; k++) {
      const oz_collider_slot *to = find(c, f->load[s].handle[k]);
      if (to) give(c, frame, (uint32_t)(to - c->slot), f->load[s].sum[k], x);
    }
  }
}

void oz_colliders_add_loads(oz_colliders *c, const double *sums, double dt) {
  c->load_time += dt;
  for (uint32_t i = 0; sums && i < c->count; i++)
    for (int k = 0; k < 3; k++)
      c->slot[i].impulse[k] += sums[6 * i + (uint32_t)k],
          c->slot[i].turn[k] += sums[6 * i + 3 + (uint32_t)k];
}

void oz_colliders_end_step(oz_colliders *c, double fraction) {
  double per = c->load_time > 0.0 ? 1.0 / c->load_time : 0.0;
  for (uint32_t i = 0; i < c->count; i++) {
    oz_collider_slot *slot = c->slot + i;
    ooze_pose now;
    oz_pose_between(&slot->desc.start, &slot->desc.end, fraction, &now);
    slot->desc.start = now;
    for (int k = 0; k < 3; k++) {
      slot->force[k] = (float)(slot->impulse[k] * per);
      slot->torque[k] = (float)(slot->turn[k] * per);
    }
  }
}
