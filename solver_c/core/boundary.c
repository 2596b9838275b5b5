/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boundary.h"

#include <math.h>

#include "core/links.h"
#include "core/particles.h"
#include "physics/boundary_particles.h"

enum { MAGIC = 0x42425a4f, VERSION = 1 }; /* "OZBB" */

/* ---- The sets ---- */

void oz_boundary_init(oz_boundary *b, oz_memory *memory) {
  memset(b, 0, sizeof *b);
  b->memory = memory;
}

static void release(oz_boundary *b, oz_boundary_set *s) {
  oz_free(b->memory, s->rest);
  oz_free(b->memory, s->way);
  oz_free(b->memory, s->weight);
  memset(s, 0, sizeof *s);
}

void oz_boundary_destroy(oz_boundary *b) {
  for (uint32_t i = 0; i < b->count; i++) release(b, &b->set[i]);
  oz_free(b->memory, b->set);
  oz_boundary_init(b, b->memory);
}

static oz_boundary_set *find(oz_boundary *b, uint32_t collider) {
  for (uint32_t i = 0; i < b->count; i++)
    if (b->set[i].collider == collider) return &b->set[i];
  return NULL;
}

void oz_boundary_forget(oz_boundary *b, uint32_t collider, int given) {
  oz_boundary_set *s = find(b, collider);
  if (!s || (s->given && !given)) return;
  release(b, s);
  memmove(s, s + 1, (size_t)(b->set + b->count - s - 1) * sizeof *s);
  b->count--;
  b->placed = 0;
}

void oz_boundary_end_step(oz_boundary *b, double fraction) {
  for (uint32_t i = 0; i < b->count; i++) {
    oz_boundary_set *s = &b->set[i];
    if (!s->moving) continue;
    for (size_t k = 0; k < 3 * (size_t)s->count; k++)
      s->rest[k] = s->rest[k] + (float)fraction * s->way[k], s->way[k] = 0.0f;
    s->moving = 0;
    b->fresh = 0;
  }
}

/* A set of that many points in its place in the order; on failure nothing has changed. */
static ooze_result make(oz_boundary *b, uint32_t collider, uint32_t count, oz_boundary_set *out,
                        ooze_message *why) {
  size_t held = b->count * sizeof *b->set, bytes = ((size_t)count + 1) * 12;
  memset(out, 0, sizeof *out);
  if (held + sizeof *b->set > b->capacity &&
      !oz_grow(b->memory, (void **)&b->set, &b->capacity, 2 * held + 8 * sizeof *b->set, held))
    return oz_fail(why, OOZE_ERROR_MEMORY, "collider %u: no memory to keep its points",
                   (unsigned)collider);
  out->rest = oz_alloc(b->memory, bytes);
  out->way = oz_alloc(b->memory, bytes);
  out->weight = oz_alloc(b->memory, bytes / 3);
  if (!out->rest || !out->way || !out->weight) {
    release(b, out);
    return oz_fail(why, OOZE_ERROR_MEMORY, "collider %u: no memory for %u points",
                   (unsigned)collider, (unsigned)count);
  }
  memset(out->way, 0, bytes);
  out->collider = collider;
  out->count = count;
  return OOZE_OK;
}
static void keep(oz_boundary *b, const oz_boundary_set *s) {
  oz_boundary_forget(b, s->collider, 1);
  uint32_t at = b->count;
  while (at > 0 && b->set[at - 1].collider > s->collider) at--;
  memmove(b->set + at + 1, b->set + at, (b->count - at) * sizeof *b->set);
  b->set[at] = *s;
  b->count++;
  b->placed = 0;
}

static const oz_collider_slot *slot_of(const ooze_solver *s, uint32_t handle) {
  for (uint32_t i = 0; i < s->colliders.count; i++)
    if (s->colliders.slot[i].handle == handle) return &s->colliders.slot[i];
  return NULL;
}

/* ---- Given by the host ---- */

static int points_ok(const float *x, size_t count) {
  for (size_t i = 0; i < 3 * count; i++)
    if (!(fabsf(x[i]) <= 1e6f)) return 0;
  return 1;
}

ooze_result ooze_collider_points(ooze_solver *s, ooze_collider collider, uint32_t count,
                                 const float *start, const float *end) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  oz_boundary *b = &s->boundary;
  if (!slot_of(s, collider))
    return oz_fail(s->message, OOZE_ERROR_NOT_FOUND, "collider %u: there is none with this handle",
                   (unsigned)collider);
  if (count == 0) {
    oz_boundary_forget(b, collider, 1);
    return OOZE_OK;
  }
  if (!start)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "collider %u: its points are NULL",
                   (unsigned)collider);
  if (count > OZ_BOUNDARY_POINTS_MAX)
    return oz_fail(s->message, OOZE_ERROR_LIMIT, "collider %u: %u points; expected at most %u",
                   (unsigned)collider, (unsigned)count, OZ_BOUNDARY_POINTS_MAX);
  if (!points_ok(start, count) || (end && !points_ok(end, count)))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "collider %u: a point is not finite, or beyond 1e6 m", (unsigned)collider);
  oz_boundary_set *old = find(b, collider), fresh;
  const size_t bytes = (size_t)count * 12;
  if (old && old->count == count) { /* the same points elsewhere: a mesh that deforms */
    int moved = memcmp(old->rest, start, bytes) != 0;
    memcpy(old->rest, start, bytes);
    if (moved &&
        !oz_boundary_weigh(b->memory, old->rest, count, (double)s->separation, 0, old->weight))
      return oz_fail(s->message, OOZE_ERROR_MEMORY,
                     "collider %u: no memory for the weights of its points", (unsigned)collider);
    fresh = *old;
  } else {
    OZ_TRY(make(b, collider, count, &fresh, s->message));
    memcpy(fresh.rest, start, bytes);
    if (!oz_boundary_weigh(b->memory, fresh.rest, count, (double)s->separation, 0, fresh.weight)) {
      release(b, &fresh);
      return oz_fail(s->message, OOZE_ERROR_MEMORY,
                     "collider %u: no memory for the weights of its points", (unsigned)collider);
    }
    keep(b, &fresh);
    old = find(b, collider);
  }
  old->given = 1;
  old->moving = end != NULL;
  for (size_t i = 0; i < 3 * (size_t)count; i++) old->way[i] = end ? end[i] - start[i] : 0.0f;
  b->fresh = 0;
  return OOZE_OK;
}

/* ---- Before a step ---- */

static ooze_result sample(ooze_solver *s) {
  for (uint32_t i = 0; i < s->colliders.count; i++) {
    const oz_collider_slot *c = &s->colliders.slot[i];
    oz_boundary_set set;
    if (c->desc.boundary != OOZE_BOUNDARY_PARTICLES) {
      oz_boundary_forget(&s->boundary, c->handle, 1);
      continue;
    }
    if (find(&s->boundary, c->handle)) continue;
    uint32_t n = oz_boundary_sample(&c->desc, (double)s->separation, NULL);
    if (n == 0)
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                     "collider %u: its boundary is particles and it has none; give them with "
                     "ooze_collider_points",
                     (unsigned)c->handle);
    if (n >= OZ_BOUNDARY_POINTS_MAX)
      return oz_fail(s->message, OOZE_ERROR_LIMIT,
                     "collider %u: %u boundary particles or more; expected a smaller one",
                     (unsigned)c->handle, n);
    OZ_TRY(make(&s->boundary, c->handle, n, &set, s->message));
    (void)oz_boundary_sample(&c->desc, (double)s->separation, set.rest);
    if (!oz_boundary_weigh(s->boundary.memory, set.rest, n, (double)s->separation, 1, set.weight)) {
      release(&s->boundary, &set);
      return oz_fail(s->message, OOZE_ERROR_MEMORY,
                     "collider %u: no memory for the weights of its points", (unsigned)c->handle);
    }
    keep(&s->boundary, &set);
  }
  for (uint32_t i = 0; i < s->boundary.count; i++) /* colliders that are gone */
    if (!slot_of(s, s->boundary.set[i].collider))
      oz_boundary_forget(&s->boundary, s->boundary.set[i--].collider, 1);
  return OOZE_OK;
}

/* All of them anew: those that were there go, in the order of colliders and points the others come.
 */
static ooze_result place(ooze_solver *s) {
  oz_particles *p = &s->particles;
  oz_boundary *b = &s->boundary;
  if (p->hidden) {
    uint32_t visible = p->count - p->hidden;
    OZ_TRY(oz_rank_map(s));
    OZ_TRY(oz_particles_flags(s));
    for (uint32_t r = visible; r < p->count; r++) p->flags[p->at[r]] = 0;
    OZ_TRY(oz_particles_keep(s, visible));
  }
  uint64_t id = OZ_HIDDEN_ID;
  for (uint32_t i = 0; i < b->count; i++) {
    const oz_boundary_set *set = &b->set[i];
    const ooze_pose *pose = &slot_of(s, set->collider)->desc.start;
    size_t n = set->count;
    float *x = oz_alloc(&s->memory, n * 12);
    uint64_t *ids = oz_alloc(&s->memory, n * sizeof *ids);
    ooze_result r =
        x && ids ? OOZE_OK
                 : oz_fail(s->message, OOZE_ERROR_MEMORY, "collider %u: no memory for %zu points",
                           (unsigned)set->collider, n);
    for (size_t k = 0; r >= 0 && k < n; k++) {
      oz_pose_out(pose->position, pose->rotation, set->rest + 3 * k, x + 3 * k);
      ids[k] = id++;
    }
    if (r >= 0) {
      oz_arrivals a = {set->count,
                       x,
                       0,
                       NULL,
                       0,
                       ids,
                       NULL,
                       NULL,
                       0,
                       0,
                       (uint32_t)OZ_OWNER_BOUNDARY << OZ_OWNER_SHIFT | set->collider,
                       set->rest};
      r = oz_particles_append(s, &a);
    }
    oz_free(&s->memory, ids);
    oz_free(&s->memory, x);
    OZ_TRY(r);
    p->hidden += set->count;
  }
  b->placed = 1;
  b->fresh = 0;
  return OOZE_OK;
}

/* How freely fluid slips at one point, as a word. */
static uint32_t slip_at(const oz_collider_slot *slot, const float local[3], const float n[3]) {
  float friction = slot->desc.friction, stick;
  if (slot->friction_map.count) {
    oz_frame f;
    oz_collider c;
    memset(&f, 0, sizeof f);
    memset(&c, 0, sizeof c);
    f.friction_map_key = slot->friction_map.key, f.friction_map_values = slot->friction_map.values;
    c.friction_map_voxel = slot->friction_map.voxel,
    c.friction_map_count = slot->friction_map.count;
    (void)oz_friction_map_at(&f, &c, local, &friction, &stick);
  }
  /* points that are no surface hold */
  return oz_slip_word(oz_dot3f(n, n) > 0.0f ? 1.0f - friction : 0.0f, n);
}

/* The slip of a set's points, which are at those places among the particles. */
static ooze_result fill_slip(ooze_solver *s, const oz_boundary_set *set, const uint32_t *at,
                             uint32_t *out) {
  const oz_collider_slot *slot = slot_of(s, set->collider);
  const int slips = slot->desc.friction < 1.0f || slot->friction_map.count;
  float *normal = oz_alloc(&s->memory, ((size_t)set->count + 1) * 12);
  if (normal) memset(normal, 0, (size_t)set->count * 12);
  if (!normal || (slips && !oz_boundary_normals(&s->memory, set->rest, set->count,
                                                (double)s->separation, normal))) {
    oz_free(&s->memory, normal);
    return oz_fail(s->message, OOZE_ERROR_MEMORY,
                   "collider %u: no memory for normals of its points", (unsigned)set->collider);
  }
  for (size_t k = 0; k < set->count; k++) {
    out[at[k]] = slip_at(slot, set->rest + 3 * k, normal + 3 * k);
    s->boundary.slips |= out[at[k]] > OZ_SLIP_WORD;
  }
  oz_free(&s->memory, normal);
  return OOZE_OK;
}

/* Does any point move on its collider? */
static int deforms(const ooze_solver *s) {
  for (uint32_t i = 0; i < s->boundary.count; i++)
    for (size_t k = 0; k < 3 * (size_t)s->boundary.set[i].count; k++)
      if (s->boundary.set[i].way[k] != 0.0f) return 1;
  return 0;
}

/* Further values of each point: its weight in place of a compliance, its path in place of a force,
 * and the temperature of its collider. */
static ooze_result fill(ooze_solver *s) {
  static const oz_field fields[] = {OZ_FIELD_COMPLIANCE, OZ_FIELD_FORCE, OZ_FIELD_REFERENCE,
                                    OZ_FIELD_TEMPERATURE, OZ_FIELD_MATERIAL};
  oz_particles *p = &s->particles;
  s->boundary.slips = 0;
  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
    void *copy;
    uint32_t rank = p->count - p->hidden;
    OZ_TRY(oz_rank_map(s));
    OZ_TRY(oz_host_copy(s, fields[f], &copy));
    if (fields[f] == OZ_FIELD_FORCE && !deforms(s) && !oz_field_there(s, OZ_FIELD_FORCE)) continue;
    OZ_TRY(oz_host_dirty(s)); /* before it is changed, since there may be no memory for it */
    float *to = copy;
    for (uint32_t i = 0; i < s->boundary.count; i++) {
      const oz_boundary_set *set = &s->boundary.set[i];
      const float temperature = slot_of(s, set->collider)->desc.temperature;
      if (fields[f] == OZ_FIELD_MATERIAL) {
        OZ_TRY(fill_slip(s, set, p->at + rank, copy));
        rank += set->count;
        continue;
      }
      for (uint32_t k = 0; k < set->count; k++, rank++) {
        uint32_t at = p->at[rank];
        if (fields[f] == OZ_FIELD_COMPLIANCE)
          to[at] = set->weight[k];
        else if (fields[f] == OZ_FIELD_TEMPERATURE)
          to[at] = temperature;
        else
          for (uint32_t c = 0; c < 3; c++)
            to[oz_field_at(fields[f], p->count, at, c)] =
                (fields[f] == OZ_FIELD_REFERENCE ? set->rest : set->way)[3 * (size_t)k + c];
      }
    }
  }
  s->boundary.fresh = 1;
  return oz_host_flush(s);
}

/* The others keep something else where a point's place is. */
static int model_has_them(uint32_t model) { return model != OOZE_MODEL_BLEND; }

ooze_result oz_boundary_before_step(ooze_solver *s) {
  s->colliders.particles = (uint32_t)model_has_them(s->params.model);
  if (!s->colliders.particles) {
    oz_boundary none = {.memory = s->boundary.memory}, kept = s->boundary;
    if (!s->particles.hidden) return OOZE_OK;
    s->boundary = none;
    ooze_result r = place(s); /* all gone */
    s->boundary = kept;
    s->boundary.placed = 0;
    return r;
  }
  OZ_TRY(sample(s));
  if (!s->boundary.placed) OZ_TRY(place(s));
  if (!s->boundary.fresh && s->particles.hidden) OZ_TRY(fill(s));
  OZ_TRY(oz_links_arrive(s));
  s->boundary.fresh = 1;
  return OOZE_OK;
}

/* ---- Checkpoint: points that were given; sampled ones come again ---- */

typedef struct saved_set {
  uint32_t collider, count, moving, zero;
} saved_set;

size_t oz_boundary_bytes(const oz_boundary *b) {
  size_t bytes = sizeof(oz_saved_head);
  for (uint32_t i = 0; i < b->count; i++)
    if (b->set[i].given) bytes += sizeof(saved_set) + (size_t)b->set[i].count * 28;
  return bytes;
}

void oz_boundary_write(const oz_boundary *b, void *out) {
  oz_saved_head head = {MAGIC, VERSION, 0, 0};
  for (uint32_t i = 0; i < b->count; i++) head.count += b->set[i].given;
  unsigned char *at = oz_bytes_put(out, &head, sizeof head);
  for (uint32_t i = 0; i < b->count; i++) {
    const oz_boundary_set *s = &b->set[i];
    saved_set v = {s->collider, s->count, s->moving, 0};
    if (!s->given) continue;
    at = oz_bytes_put(at, &v, sizeof v);
    at = oz_bytes_put(at, s->rest, (size_t)s->count * 12);
    at = oz_bytes_put(at, s->way, (size_t)s->count * 12);
    at = oz_bytes_put(at, s->weight, (size_t)s->count * 4);
  }
}

ooze_result oz_boundary_read(oz_boundary *b, const void *in, size_t bytes, size_t *used,
                             ooze_message *why) {
  oz_bytes from = {in, bytes, 0};
  oz_boundary fresh;
  oz_saved_head head;
  ooze_result r = OOZE_OK;
  OZ_TRY(oz_saved_head_take(&from, MAGIC, VERSION, VERSION, bytes / sizeof(saved_set),
                            "boundary points", &head, why));
  oz_boundary_init(&fresh, b->memory);
  for (uint32_t i = 0; i < head.count && r >= 0; i++) {
    saved_set v;
    oz_boundary_set set;
    oz_bytes_take(&from, &v, sizeof v);
    if (from.bad || v.count == 0 || v.count > from.left / 28 ||
        (i && v.collider <= fresh.set[i - 1].collider) || v.moving > 1) {
      r = oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: %u boundary points of collider %u cannot be",
                  (unsigned)v.count, (unsigned)v.collider);
      break;
    }
    r = make(&fresh, v.collider, v.count, &set, why);
    if (r < 0) break;
    oz_bytes_take(&from, set.rest, (size_t)v.count * 12);
    oz_bytes_take(&from, set.way, (size_t)v.count * 12);
    oz_bytes_take(&from, set.weight, (size_t)v.count * 4);
    set.given = 1, set.moving = v.moving;
    int good = points_ok(set.rest, v.count) && points_ok(set.way, v.count);
    for (uint32_t k = 0; k < v.count; k++)
      good &= set.weight[k] > 0.0f && set.weight[k] <= (float)OZ_WEIGHT_MOST;
    keep(&fresh, &set);
    if (!good)
      r = oz_fail(why, OOZE_ERROR_FORMAT,
                  "checkpoint: a boundary point of collider %u is out of range",
                  (unsigned)v.collider);
  }
  if (r < 0) {
    oz_boundary_destroy(&fresh);
    return r;
  }
  oz_boundary_destroy(b);
  *b = fresh;
  *used = bytes - from.left;
  return OOZE_OK;
}
