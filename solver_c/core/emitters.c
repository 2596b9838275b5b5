/* SPDX-License-Identifier: Apache-2.0 */
#include "core/emitters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/colliders.h"
#include "base/schema.h"
#include "physics/random.h"

enum { MAGIC = 0x4d455a4f, VERSION = 2 };         /* "OZEM"; 1 has no outlines */
static const double GOLDEN = 2.39996322972865332; /* rad: the golden angle, pi (3 - sqrt 5) */
static const double PI = 3.14159265358979323846;

/* ---- Storage --------------------------------------------------------------------------------
 */

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

static oz_emitter_slot *find(const oz_emitters *e, uint32_t handle) {
  uint32_t lo = 0, hi = e->count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (e->slot[mid].handle < handle)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < e->count && e->slot[lo].handle == handle ? e->slot + lo : NULL;
}
static ooze_result not_found(uint32_t handle, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_NOT_FOUND, "emitter %u: there is none with this handle", handle);
}

static ooze_result check(const oz_emitters *e, const ooze_emitter_desc *d, uint32_t materials,
                         const char *who, ooze_message *why) {
  OZ_TRY(oz_schema_check(OZ_OWNER_emitter_desc, d, who, why));
  if (d->material >= materials)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: material is %u; expected 0 to %u", who,
                   d->material, materials ? materials - 1 : 0);
  if (d->corner_count > OOZE_OUTLINE_CORNERS || d->corner_count == 1 || d->corner_count == 2)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: %u corners; expected 3 to %d, or none", who,
                   d->corner_count, OOZE_OUTLINE_CORNERS);
  for (uint32_t i = 0; i < 2 * d->corner_count; i++)
    if (!(fabs((double)d->corners[i]) <= 1.0))
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: corner %u is at %g; expected -1 to 1, in radii",
                     who, i / 2, (double)d->corners[i]);
  if (!(oz_mouth_area(d) > 1e-6 * (double)d->radius * (double)d->radius))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: the outline has no area", who);
  if ((double)d->radius > OZ_EMITTER_SPAN_MAX * (double)e->separation)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: radius is %g m; expected at most %g m, %g particle separations", who,
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

static ooze_result add(oz_emitters *e, const ooze_emitter_desc *desc, uint32_t materials,
                       uint32_t handle, const char *who, ooze_message *why) {
  OZ_TRY(check(e, desc, materials, who, why));
  if (e->count >= OZ_EMITTERS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: there are %u emitters already, which is as many as there can be", who,
                   e->count);
  size_t held = e->count * sizeof *e->slot;
  if (held + sizeof *e->slot > e->slot_capacity &&
      !oz_grow(e->memory, (void **)&e->slot, &e->slot_capacity, 2 * held + 4 * sizeof *e->slot,
               held))
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory to keep it", who);
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
  OZ_TRY(add(e, desc, materials, e->next_handle, "new emitter", why));
  *out_handle = e->next_handle++;
  return OOZE_OK;
}

ooze_result oz_emitters_set(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why) {
  char who[32];
  oz_emitter_slot *slot = find(e, handle);
  if (!slot) return not_found(handle, why);
  snprintf(who, sizeof who, "emitter %u", handle);
  OZ_TRY(check(e, desc, materials, who, why));
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

ooze_result oz_emitters_put(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why) {
  char who[32];
  if (handle == 0 || handle == UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "emitter: %u is no handle; expected 1 to %u", handle,
                   UINT32_MAX - 1);
  if (find(e, handle)) return oz_emitters_set(e, handle, desc, materials, why);
  snprintf(who, sizeof who, "emitter %u", handle);
  OZ_TRY(add(e, desc, materials, handle, who, why));
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
  oz_emitter_slot *slot = find(e, handle);
  if (!slot) return not_found(handle, why);
  uint32_t at = (uint32_t)(slot - e->slot);
  oz_free(e->memory, slot->point);
  memmove(slot, slot + 1, (e->count - at - 1) * sizeof *slot);
  e->count--;
  return OOZE_OK;
}

/* ---- The cross-section ----------------------------------------------------------------------
 */

static int by_phase(const void *a, const void *b) {
  const oz_emitter_point *p = a, *q = b;
  if (p->phase != q->phase) return p->phase < q->phase ? -1 : 1;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return p->z < q->z ? -1 : p->z > q->z;
}

/* Square columns of pitch d in a disc, every other one half a layer on. Counts if `out` is NULL. */
static uint32_t columns(double r, double d, oz_emitter_point *out) {
  int reach = (int)(r / d) + 1;
  uint32_t n = 0;
  for (int j = -reach; j <= reach; j++)
    for (int i = -reach; i <= reach; i++) {
      double x = i * d, z = j * d;
      /* a radius of whole pitches takes its outermost ones */
      if (x * x + z * z > r * r * (1.0 + 1e-6)) continue;
      if (out) {
        out[n].x = (float)x;
        out[n].z = (float)z;
        out[n].phase = 0.5 * ((i + j) & 1);
      }
      n++;
    }
  return n;
}

static ooze_result make_points(oz_emitters *e, oz_emitter_slot *slot, uint32_t layout,
                               ooze_message *why) {
  const double d = (double)e->separation, r = (double)slot->desc.radius;
  uint32_t n;
  if (slot->layout == layout) return OOZE_OK;
  if (layout == OOZE_LAYOUT_BCT)
    n = columns(r, d, NULL);
  else {
    n = (uint32_t)floor(PI * r * r / (d * d) + 0.5);
    if (n == 0) n = 1;
  }
  slot->layout = OOZE_LAYOUT_AUTO;
  if (layout == OOZE_LAYOUT_RELAXED) {
    OZ_TRY(oz_mouth_relaxed(e, slot, why));
    qsort(slot->point, slot->points, sizeof *slot->point, by_phase);
    slot->layout = layout;
    return OOZE_OK;
  }
  slot->period = 1.0;
  if (!oz_grow(e->memory, (void **)&slot->point, &slot->point_capacity, n * sizeof *slot->point, 0))
    return oz_fail(why, OOZE_ERROR_MEMORY, "emitter %u: no memory for the %u points of its mouth",
                   slot->handle, n);
  if (layout == OOZE_LAYOUT_BCT)
    columns(r, d, slot->point);
  else
    for (uint32_t k = 0; k < n; k++) {
      double radius = n == 1 ? 0.0 : r * sqrt((k + 0.5) / n), angle = GOLDEN * k;
      slot->point[k].x = (float)(radius * cos(angle));
      slot->point[k].z = (float)(radius * sin(angle));
      slot->point[k].phase = (double)oz_random(slot->desc.seed, k, 2);
    }
  /* in the order of birth, so that ids do not depend on how time is cut */
  qsort(slot->point, n, sizeof *slot->point, by_phase);
  slot->points = n;
  slot->layout = layout;
  return OOZE_OK;
}

/* ---- Births ---------------------------------------------------------------------------------
 */

static void place(const ooze_pose *pose, const double v[3], double out[3]) {
  const double x = (double)pose->rotation[0], y = (double)pose->rotation[1],
               z = (double)pose->rotation[2], w = (double)pose->rotation[3];
  double t[3] = {2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]),
                 2.0 * (x * v[1] - y * v[0])};
  out[0] = (double)pose->position[0] + v[0] + w * t[0] + (y * t[2] - z * t[1]);
  out[1] = (double)pose->position[1] + v[1] + w * t[1] + (z * t[0] - x * t[2]);
  out[2] = (double)pose->position[2] + v[2] + w * t[2] + (x * t[1] - y * t[0]);
}

/* The first layer of this phase at or behind a length of column: as both ends of a substep ask the
 * same, none is born twice or left out. */
static double first_layer(double length, double d, double phase, double period) {
  return ceil((length / d - phase) / period);
}

/* Twice the need, so that a steady stream soon allocates nothing. */
static int room_for(oz_memory *memory, void **p, size_t *capacity, size_t bytes, size_t keep) {
  return bytes <= *capacity || oz_grow(memory, p, capacity, 2 * bytes, keep);
}

/* m/s: of a rate, by the area of the mouth. */
static double speed_of(const ooze_emitter_desc *d) {
  return d->rate > 0.0f ? (double)d->rate / oz_mouth_area(d) : (double)d->speed;
}

static ooze_result births_of(oz_emitters *e, oz_emitter_slot *s, double t0, double t1, double f0,
                             double f1, oz_births *out, ooze_message *why) {
  const ooze_emitter_desc *desc = &s->desc;
  const double d = (double)e->separation, speed = speed_of(desc), dt = t1 - t0, period = s->period;
  s->next_running = desc->active;
  s->next_base_time = s->base_time, s->next_base_flow = s->base_flow;
  if (desc->active && !s->running) s->next_base_time = t0, s->next_base_flow = s->flow;
  s->next_flow = s->flow;
  if (desc->active) {
    double flow = s->next_base_flow + speed * (t1 - s->next_base_time);
    if (flow > s->flow) s->next_flow = flow;
  }
  s->next_born = s->born;
  s->next_emitted = s->emitted;
  /* places up to here are within the nozzle or beyond */
  double full = s->next_flow + desc->layers * d;
  if (!desc->active || !(full > s->born)) return OOZE_OK;
  s->next_born = full;

  const double lo = first_layer(s->born, d, period, period), hi = first_layer(full, d, 0.0, period);
  uint64_t room = desc->max_particles
                      ? desc->max_particles -
                            (s->emitted < desc->max_particles ? s->emitted : desc->max_particles)
                      : UINT64_MAX;
  if (!((hi - lo) * s->points <= (double)OZ_BIRTHS_MAX))
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "emitter %u: %g particles would be born in one substep; expected at most %u: "
                   "take more substeps or less speed",
                   s->handle, (hi - lo) * s->points, OZ_BIRTHS_MAX);
  /* a little too many: first and last layer are born in part */
  size_t most = (size_t)(hi - lo) * s->points, total;
  if ((uint64_t)most > room) most = (size_t)room;
  total = out->count + most;
  if (total > OZ_BIRTHS_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "emitter %u: more than %u particles would be born in one substep", s->handle,
                   OZ_BIRTHS_MAX);
  const size_t held = out->count;
  if (!room_for(e->memory, (void **)&out->position, &out->position_capacity, total * 12,
                held * 12) ||
      !room_for(e->memory, (void **)&out->velocity, &out->velocity_capacity, total * 12,
                held * 12) ||
      !room_for(e->memory, (void **)&out->material, &out->material_capacity, total * 4, held * 4) ||
      !room_for(e->memory, (void **)&out->source, &out->source_capacity, total * 4, held * 4))
    return oz_fail(why, OOZE_ERROR_MEMORY, "emitter %u: no memory for %zu new particles", s->handle,
                   most);

  ooze_pose from, to;
  oz_pose_between(&desc->start, &desc->end, f0, &from);
  oz_pose_between(&desc->start, &desc->end, f1, &to);
  for (double j = lo; j < hi && room > 0; j += 1.0) {
    double angle = s->layout == OOZE_LAYOUT_SUNFLOWER ? fmod(GOLDEN * j, 2.0 * PI) : 0.0,
           ca = cos(angle), sa = sin(angle);
    for (uint32_t k = 0; k < s->points && room > 0; k++) {
      const oz_emitter_point *p = s->point + k;
      if (j < first_layer(s->born, d, p->phase, period) ||
          j >= first_layer(full, d, p->phase, period))
        continue;
      /* the mouth is y = 0 and fluid moves towards -y */
      double a[3] = {ca * (double)p->x - sa * (double)p->z, (j * period + p->phase) * d - s->flow,
                     sa * (double)p->x + ca * (double)p->z};
      double b[3] = {a[0], a[1] - (s->next_flow - s->flow), a[2]}, at[3], then[3];
      float *x = out->position + 3 * (size_t)out->count,
            *u = out->velocity + 3 * (size_t)out->count;
      place(&from, a, at);
      place(&to, b, then);
      for (int c = 0; c < 3; c++) {
        x[c] = (float)at[c];
        u[c] = dt > 0.0 ? (float)((then[c] - at[c]) / dt) : 0.0f;
      }
      out->material[out->count] = desc->material;
      out->source[out->count] = s->handle;
      out->count++;
      room--;
      s->next_emitted++;
    }
  }
  return OOZE_OK;
}

ooze_result oz_emitters_births(oz_emitters *e, double t0, double t1, double f0, double f1,
                               uint32_t materials, oz_births *out, ooze_message *why) {
  out->count = 0;
  for (uint32_t i = 0; i < e->count; i++) {
    oz_emitter_slot *s = e->slot + i;
    if (s->desc.material >= materials)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "emitter %u: material is %u; expected 0 to %u",
                     s->handle, s->desc.material, materials ? materials - 1 : 0);
    /* square columns buckle into pleats, random phases make beads and braids */
    const int even = s->desc.outline != OOZE_OUTLINE_ROUND || s->desc.layout == OOZE_LAYOUT_AUTO;
    OZ_TRY(make_points(e, s, even ? OOZE_LAYOUT_RELAXED : s->desc.layout, why));
    OZ_TRY(births_of(e, s, t0, t1, f0, f1, out, why));
  }
  return OOZE_OK;
}

void oz_emitters_accept(oz_emitters *e) {
  for (uint32_t i = 0; i < e->count; i++) {
    oz_emitter_slot *s = e->slot + i;
    s->running = s->next_running;
    s->base_time = s->next_base_time, s->base_flow = s->next_base_flow;
    s->flow = s->next_flow, s->born = s->next_born;
    s->emitted = s->next_emitted;
  }
}

void oz_emitters_frame(const oz_emitters *e, double f0, double f1, double dt, oz_nozzle *out) {
  (void)dt;
  for (uint32_t i = 0; i < e->count; i++, out++) {
    const ooze_emitter_desc *d = &e->slot[i].desc;
    ooze_pose from, to;
    memset(out, 0, sizeof *out);
    oz_pose_between(&d->start, &d->end, f0, &from);
    oz_pose_between(&d->start, &d->end, f1, &to);
    out->handle = e->slot[i].handle;
    memcpy(out->p0, from.position, sizeof out->p0);
    memcpy(out->q0, from.rotation, sizeof out->q0);
    memcpy(out->p1, to.position, sizeof out->p1);
    memcpy(out->q1, to.rotation, sizeof out->q1);
    out->speed = d->active ? (float)speed_of(d) : 0.0f;
    out->disturbance = d->disturbance;
    out->seed = d->seed;
  }
}

void oz_emitters_end_step(oz_emitters *e, double fraction) {
  for (uint32_t i = 0; i < e->count; i++) {
    ooze_pose now;
    oz_pose_between(&e->slot[i].desc.start, &e->slot[i].desc.end, fraction, &now);
    e->slot[i].desc.start = now;
  }
}

/* ---- Checkpoint -----------------------------------------------------------------------------
 */

/* Wide members first, so that there is no padding. */
typedef struct saved_emitter {
  double base_time, base_flow, flow, born;
  uint64_t emitted, max_particles;
  uint32_t handle, layout, material, active, seed, layers, running, reserved;
  float radius, speed, disturbance, zero;
  ooze_pose start, end;
} saved_emitter;
typedef struct saved_outline {
  uint32_t outline, points, corner_count;
  float inner, rate, corners[2 * OOZE_OUTLINE_CORNERS], zero;
} saved_outline;
typedef struct saved_head {
  uint32_t magic, version, count, next_handle;
} saved_head;

size_t oz_emitters_bytes(const oz_emitters *e) {
  return sizeof(saved_head) + e->count * (sizeof(saved_emitter) + sizeof(saved_outline));
}

void oz_emitters_write(const oz_emitters *e, void *out) {
  saved_head head = {MAGIC, VERSION, e->count, e->next_handle};
  unsigned char *at = oz_bytes_put(out, &head, sizeof head);
  for (uint32_t i = 0; i < e->count; i++) {
    const oz_emitter_slot *slot = e->slot + i;
    const ooze_emitter_desc *d = &slot->desc;
    saved_emitter s;
    memset(&s, 0, sizeof s);
    s.base_time = slot->base_time, s.base_flow = slot->base_flow, s.flow = slot->flow,
    s.born = slot->born;
    s.emitted = slot->emitted, s.max_particles = d->max_particles;
    s.handle = slot->handle, s.layout = d->layout, s.material = d->material, s.active = d->active;
    s.seed = d->seed, s.layers = d->layers, s.running = slot->running;
    s.radius = d->radius, s.speed = d->speed, s.disturbance = d->disturbance;
    s.start = d->start, s.end = d->end;
    at = oz_bytes_put(at, &s, sizeof s);
    saved_outline o;
    memset(&o, 0, sizeof o);
    o.outline = d->outline, o.points = d->outline_points, o.corner_count = d->corner_count;
    o.inner = d->outline_inner, o.rate = d->rate;
    memcpy(o.corners, d->corners, sizeof o.corners);
    at = oz_bytes_put(at, &o, sizeof o);
  }
}

static int length_ok(double v) { return v >= 0.0 && v < 1e15; } /* false for NaN */

static ooze_result read_one(oz_emitters *e, oz_bytes *in, uint32_t materials, uint32_t *last,
                            uint32_t next_handle, uint32_t version, ooze_message *why) {
  saved_emitter s;
  ooze_emitter_desc d;
  char who[48];
  oz_bytes_take(in, &s, sizeof s);
  if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the emitters end early");
  snprintf(who, sizeof who, "checkpoint: emitter %u", s.handle);
  if (s.handle <= *last || (next_handle && s.handle >= next_handle))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s follows %u and the next is %u: handles must rise",
                   who, *last, next_handle);
  *last = s.handle;
  if (!length_ok(s.flow) || !length_ok(s.born) || !length_ok(s.base_flow) ||
      !length_ok(s.base_time) || s.running > 1)
    return oz_fail(why, OOZE_ERROR_FORMAT,
                   "%s: flow %g m, born %g m, base %g m at %g s, running %u cannot be", who, s.flow,
                   s.born, s.base_flow, s.base_time, s.running);
  ooze_emitter_desc_default(&d);
  d.layout = s.layout, d.material = s.material, d.active = s.active, d.radius = s.radius,
  d.speed = s.speed;
  d.start = s.start, d.end = s.end, d.disturbance = s.disturbance, d.seed = s.seed,
  d.layers = s.layers;
  d.max_particles = s.max_particles;
  if (version > 1) {
    saved_outline o;
    oz_bytes_take(in, &o, sizeof o);
    if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the emitters end early");
    d.outline = o.outline, d.outline_points = o.points, d.corner_count = o.corner_count;
    d.outline_inner = o.inner, d.rate = o.rate;
    memcpy(d.corners, o.corners, sizeof d.corners);
  }
  ooze_result r = add(e, &d, materials, s.handle, who, why);
  /* the sentence stays: it names the field */
  if (r < 0) return r == OOZE_ERROR_MEMORY ? r : OOZE_ERROR_FORMAT;
  oz_emitter_slot *slot = e->slot + e->count - 1;
  slot->running = s.running;
  slot->base_time = s.base_time, slot->base_flow = s.base_flow;
  slot->flow = s.flow, slot->born = s.born;
  slot->emitted = s.emitted;
  return OOZE_OK;
}

/* ---- The clock ------------------------------------------------------------------------------
 */

void oz_emitters_clock_write(const oz_emitters *e, uint32_t *words) {
  for (uint32_t i = 0; i < e->count; i++, words += OZ_EMITTER_WORDS) {
    const oz_emitter_slot *s = e->slot + i;
    words[0] = s->handle;
    words[1] = s->running | s->desc.active << 1;
    memcpy(words + 2, &s->base_time, 8);
    memcpy(words + 4, &s->base_flow, 8);
    memcpy(words + 6, &s->flow, 8);
    memcpy(words + 8, &s->born, 8);
    memcpy(words + 10, &s->emitted, 8);
    memcpy(words + 12, &s->desc.speed, 4);
    words[13] = 0;
  }
}

ooze_result oz_emitters_clock_read(oz_emitters *e, const uint32_t *words, uint32_t count,
                                   ooze_message *why) {
  for (int pass = 0; pass < 2; pass++) /* check all, then keep all */
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t *w = words + (size_t)i * OZ_EMITTER_WORDS;
      double v[4]; /* base_time, base_flow, flow, born */
      float speed;
      memcpy(v, w + 2, sizeof v);
      memcpy(&speed, w + 12, sizeof speed);
      if (w[1] > 3 || !(fabs(v[0]) < 1e12) || !length_ok(v[1]) || !length_ok(v[2]) ||
          !length_ok(v[3]))
        return oz_fail(why, OOZE_ERROR_FORMAT,
                       "clock: emitter %u has poured %g m of %g m, which cannot be", w[0], v[2],
                       v[3]);
      oz_emitter_slot *s = find(e, w[0]);
      if (!pass || !s) continue;
      /* as in oz_emitters_set: with another speed the stream goes on from where it is */
      s->running = s->desc.speed == speed && s->desc.active == (w[1] >> 1) ? w[1] & 1 : 0;
      s->base_time = v[0], s->base_flow = v[1], s->flow = v[2], s->born = v[3];
      memcpy(&s->emitted, w + 10, 8);
    }
  return OOZE_OK;
}

ooze_result oz_emitters_read(oz_emitters *e, const void *in, size_t bytes, uint32_t materials,
                             size_t *used, ooze_message *why) {
  oz_bytes from = {in, bytes, 0};
  oz_emitters fresh;
  saved_head head;
  uint32_t last = 0;
  oz_bytes_take(&from, &head, sizeof head);
  if (from.bad || head.magic != MAGIC || head.version < 1 || head.version > VERSION ||
      head.count > OZ_EMITTERS_MAX)
    return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: this is no list of emitters of version %d",
                   VERSION);
  oz_emitters_init(&fresh, e->memory, e->separation);
  fresh.next_handle = head.next_handle;
  for (uint32_t i = 0; i < head.count; i++) {
    ooze_result r = read_one(&fresh, &from, materials, &last, head.next_handle, head.version, why);
    if (r < 0) {
      oz_emitters_destroy(&fresh);
      return r;
    }
  }
  oz_emitters_destroy(e);
  *e = fresh;
  *used = bytes - from.left;
  return OOZE_OK;
}
