/* Emitters in a checkpoint, and how far they have poured. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "core/bytes.h"
#include "core/emitters.h"

enum { MAGIC = 0x4d455a4f, VERSION = 3 }; /* "OZEM"; 1 has no outlines, 2 no from and until */

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
typedef struct saved_span {
  float from, until;
} saved_span;

size_t oz_emitters_bytes(const oz_emitters *e) {
  return sizeof(oz_saved_head) +
         e->count * (sizeof(saved_emitter) + sizeof(saved_outline) + sizeof(saved_span));
}

void oz_emitters_write(const oz_emitters *e, void *out) {
  oz_saved_head head = {MAGIC, VERSION, e->count, e->next_handle};
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
    const saved_span span = {d->from, d->until};
    at = oz_bytes_put(at, &span, sizeof span);
  }
}

static int length_ok(double v) { return v >= 0.0 && v < 1e15; } /* false for NaN */

static ooze_result read_one(oz_emitters *e, oz_bytes *in, uint32_t materials, uint32_t *last,
                            const oz_saved_head *head, ooze_message *why) {
  saved_emitter s;
  ooze_emitter_desc d;
  char label[48];
  oz_bytes_take(in, &s, sizeof s);
  if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the emitters end early");
  snprintf(label, sizeof label, "checkpoint: emitter %u", s.handle);
  OZ_TRY(oz_saved_handle(s.handle, head, last, label, why));
  if (!length_ok(s.flow) || !length_ok(s.born) || !length_ok(s.base_flow) ||
      !length_ok(s.base_time) || s.running > 1)
    return oz_fail(why, OOZE_ERROR_FORMAT,
                   "%s: flow %g m, born %g m, base %g m at %g s, running %u cannot be", label,
                   s.flow, s.born, s.base_flow, s.base_time, s.running);
  ooze_emitter_desc_default(&d);
  d.layout = s.layout, d.material = s.material, d.active = s.active, d.radius = s.radius,
  d.speed = s.speed;
  d.start = s.start, d.end = s.end, d.disturbance = s.disturbance, d.seed = s.seed,
  d.layers = s.layers;
  d.max_particles = s.max_particles;
  if (head->version > 1) {
    saved_outline o;
    oz_bytes_take(in, &o, sizeof o);
    if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the emitters end early");
    d.outline = o.outline, d.outline_points = o.points, d.corner_count = o.corner_count;
    d.outline_inner = o.inner, d.rate = o.rate;
    memcpy(d.corners, o.corners, sizeof d.corners);
  }
  if (head->version > 2) {
    saved_span span;
    oz_bytes_take(in, &span, sizeof span);
    if (in->bad) return oz_fail(why, OOZE_ERROR_FORMAT, "checkpoint: the emitters end early");
    d.from = span.from, d.until = span.until;
  }
  ooze_result r = oz_emitters_append(e, &d, materials, s.handle, label, why);
  /* the sentence stays: it names the field */
  if (r < 0) return r == OOZE_ERROR_MEMORY ? r : OOZE_ERROR_FORMAT;
  oz_emitter_slot *slot = e->slot + e->count - 1;
  slot->running = s.running;
  slot->base_time = s.base_time, slot->base_flow = s.base_flow;
  slot->flow = s.flow, slot->born = s.born;
  slot->emitted = s.emitted;
  return OOZE_OK;
}

ooze_result oz_emitters_read(oz_emitters *e, const void *in, size_t bytes, uint32_t materials,
                             size_t *used, ooze_message *why) {
  oz_bytes from = {in, bytes, 0};
  oz_emitters fresh;
  oz_saved_head head;
  uint32_t last = 0;
  OZ_TRY(oz_saved_head_take(&from, MAGIC, 1, VERSION, OZ_EMITTERS_MAX, "emitters", &head, why));
  oz_emitters_init(&fresh, e->memory, e->separation);
  fresh.next_handle = head.next_handle;
  for (uint32_t i = 0; i < head.count; i++) {
    ooze_result r = read_one(&fresh, &from, materials, &last, &head, why);
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

/* ---- The clock ---- */

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
    memcpy(words + 13, &s->desc.rate, 4);
  }
}

ooze_result oz_emitters_clock_read(oz_emitters *e, const uint32_t *words, uint32_t count,
                                   ooze_message *why) {
  for (int pass = 0; pass < 2; pass++) /* check all, then keep all */
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t *w = words + (size_t)i * OZ_EMITTER_WORDS;
      double v[4]; /* base_time, base_flow, flow, born */
      float speed, rate;
      memcpy(v, w + 2, sizeof v);
      memcpy(&speed, w + 12, sizeof speed);
      memcpy(&rate, w + 13, sizeof rate);
      if (w[1] > 3 || !(fabs(v[0]) < 1e12) || !length_ok(v[1]) || !length_ok(v[2]) ||
          !length_ok(v[3]))
        return oz_fail(why, OOZE_ERROR_FORMAT,
                       "clock: emitter %u has poured %g m of %g m, which cannot be", w[0], v[2],
                       v[3]);
      oz_emitter_slot *s = oz_emitters_find(e, w[0]);
      if (!pass || !s) continue;
      /* as in oz_emitters_set: with another speed the stream goes on from where it is */
      const int same = s->desc.speed == speed && s->desc.rate == rate;
      s->running = same && s->desc.active == (w[1] >> 1) ? w[1] & 1 : 0;
      s->base_time = v[0], s->base_flow = v[1], s->flow = v[2], s->born = v[3];
      memcpy(&s->emitted, w + 10, 8);
    }
  return OOZE_OK;
}
