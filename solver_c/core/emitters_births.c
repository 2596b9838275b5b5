/* Particles that emitters give birth to. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "core/colliders.h"
#include "core/emitters.h"
#include "physics/random.h"

static const double GOLDEN = 2.39996322972865332; /* rad: the golden angle, pi (3 - sqrt 5) */
static const double PI = 3.14159265358979323846;

/* ---- The cross-section ---- */

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

/* ---- Births ---- */

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

/* Points, in the order of their phases, that begin behind layer j at this length. The layer falls
 * with the phase, by rounded steps too, so that the first of the others is found by halves. */
static uint32_t points_behind(const oz_emitter_slot *s, double length, double d, double j) {
  uint32_t low = 0, high = s->points;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (first_layer(length, d, s->point[middle].phase, s->period) > j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Twice the need, so that a steady stream soon allocates nothing. */
static int room_for(oz_memory *memory, void **p, size_t *capacity, size_t bytes, size_t keep) {
  return bytes <= *capacity || oz_grow(memory, p, capacity, 2 * bytes, keep);
}

/* m/s: of a rate, by the area of the mouth. */
static double speed_of(const ooze_emitter_desc *d) {
  return d->rate > 0.0f ? (double)d->rate / oz_mouth_area(d) : (double)d->speed;
}

/* The flow at t1. Before `from` it stands still; after `until` it goes on, so that the nozzle runs
 * empty. Particles that wait in the nozzle set out with the substep; an empty nozzle fills at
 * `from`. */
static void move_on(oz_emitter_slot *s, double t0, double t1) {
  const double from = (double)s->desc.from, speed = speed_of(&s->desc);
  const uint32_t flows = s->desc.active && (t1 > from || t0 >= from);
  s->next_running = flows;
  s->next_base_time = s->base_time, s->next_base_flow = s->base_flow;
  if (flows && !s->running) {
    s->next_base_time = s->born > s->flow ? t0 : fmax(t0, from);
    s->next_base_flow = s->flow;
  }
  s->next_flow = s->flow;
  if (flows) {
    double flow = s->next_base_flow + speed * (t1 - s->next_base_time);
    if (flow > s->flow) s->next_flow = flow;
  }
  s->pace = flows ? speed : 0.0;
}

/* Places up to here are within the nozzle or beyond at t1, and have passed the mouth at `until`. */
static double places_end(const oz_emitters *e, const oz_emitter_slot *s) {
  const double full = s->next_flow + s->desc.layers * (double)e->separation;
  if (!(s->desc.until > 0.0f)) return full;
  const double left = (double)s->desc.until - s->next_base_time;
  return fmin(full, s->next_base_flow + speed_of(&s->desc) * left);
}

static ooze_result births_of(oz_emitters *e, oz_emitter_slot *s, double t0, double t1, double f0,
                             double f1, oz_births *out, ooze_message *why) {
  const ooze_emitter_desc *desc = &s->desc;
  const double d = (double)e->separation, dt = t1 - t0, period = s->period;
  move_on(s, t0, t1);
  s->next_born = s->born;
  s->next_emitted = s->emitted;
  /* after a nozzle has run empty, places that the flow has passed meanwhile stay free */
  const double born = fmax(s->born, s->flow), full = places_end(e, s);
  /* a nozzle that starts within the substep has the speed of the flow for all of it */
  const double late = fmax(0.0, s->next_base_time - t0), flow = s->flow - late * s->pace;
  if (!s->next_running || !(full > born)) return OOZE_OK;
  s->next_born = full;

  const double lo = first_layer(born, d, period, period), hi = first_layer(full, d, 0.0, period);
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
    const uint32_t end = points_behind(s, full, d, j);
    for (uint32_t k = points_behind(s, born, d, j); k < end && room > 0; k++) {
      const oz_emitter_point *p = s->point + k;
      /* the mouth is y = 0 and fluid moves towards -y */
      double a[3] = {ca * (double)p->x - sa * (double)p->z, (j * period + p->phase) * d - flow,
                     sa * (double)p->x + ca * (double)p->z};
      double b[3] = {a[0], a[1] - (s->next_flow - flow), a[2]}, at[3], then[3];
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
    out->speed = (float)e->slot[i].pace;
    /* Poiseuille's 4 v r / R^2, its mean over the section of a round tube */
    out->shear_rate = (float)(8.0 / 3.0 * e->slot[i].pace / sqrt(oz_mouth_area(d) / PI));
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
