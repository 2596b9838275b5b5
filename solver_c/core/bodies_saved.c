/* Bodies in a checkpoint. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/schema.h"
#include "core/bodies.h"
#include "core/bytes.h"

enum { MAGIC = 0x4f425a4f, VERSION = 3, PLAIN = 2 }; /* "OZBO"; 2: neither stick nor poses */

typedef struct saved_body {
  uint64_t first_id;
  uint32_t handle, kind, count;
  float friction, young, bulk, damping, strain, stretch_bound, volume_bound;
} saved_body;
typedef struct saved_drive { /* behind the bodies, from version 3 on: one each */
  uint32_t driven;
  float stick, held2, start[7], end[7];
} saved_drive;

size_t oz_bodies_bytes(const oz_bodies *b) {
  return sizeof(oz_saved_head) + b->count * (sizeof(saved_body) + sizeof(saved_drive));
}

void oz_bodies_write(const oz_bodies *b, void *out) {
  oz_saved_head head = {MAGIC, VERSION, b->count, b->next_handle};
  unsigned char *at = oz_bytes_put(out, &head, sizeof head);
  for (uint32_t i = 0; i < b->count; ++i) {
    const oz_body *y = b->body + i;
    saved_body s = {y->first_id, y->handle,  y->kind,   y->count,         y->friction,    y->young,
                    y->bulk,     y->damping, y->strain, y->stretch_bound, y->volume_bound};
    at = oz_bytes_put(at, &s, sizeof s);
  }
  for (uint32_t i = 0; i < b->count; ++i) {
    const oz_body *y = b->body + i;
    saved_drive d = {y->driven, y->stick, y->held2, {0}, {0}};
    memcpy(d.start, y->step_start, sizeof d.start);
    memcpy(d.end, y->step_end, sizeof d.end);
    at = oz_bytes_put(at, &d, sizeof d);
  }
}

/* Values that no desc gives and no step could handle. */
static int possible(const saved_body *s) {
  const float *v = &s->young;
  if (!oz_schema_holds(OZ_OWNER_body_desc, "friction", (double)s->friction)) return 0;
  for (int k = 0; k < 6; ++k) /* young to volume_bound lie in a row */
    if (!(v[k] >= 0 && v[k] <= 1e30f)) return 0;
  return s->kind == OZ_OWNER_RIGID || (s->kind == OZ_OWNER_SOFT && s->young > 0);
}

static int pose_possible(const float pose[7]) {
  float turn = 0.0f;
  for (int k = 0; k < 7; ++k)
    if (!(fabsf(pose[k]) <= 1e6f)) return 0;
  for (int k = 3; k < 7; ++k) turn += pose[k] * pose[k];
  return fabsf(turn - 1.0f) < 1e-3f;
}

static ooze_result drive_read(oz_bytes *from, oz_body *y, ooze_message *why) {
  saved_drive d;
  oz_bytes_take(from, &d, sizeof d);
  if (from->bad || !oz_schema_holds(OZ_OWNER_body_desc, "stick", (double)d.stick) ||
      d.held2 != d.held2 || d.driven > 1 ||
      (d.driven && !(pose_possible(d.start) && pose_possible(d.end))))
    return oz_fail(why, OOZE_ERROR_FORMAT,
                   "checkpoint: body %u with a stick of %g and its poses cannot be",
                   (unsigned)y->handle, (double)d.stick);
  y->driven = d.driven, y->stick = d.stick, y->held2 = d.held2;
  memcpy(y->step_start, d.start, sizeof d.start);
  memcpy(y->step_end, d.end, sizeof d.end);
  return OOZE_OK;
}

ooze_result oz_bodies_read(oz_bodies *b, const void *in, size_t bytes, size_t *used,
                           ooze_message *why) {
  oz_bytes from = {in, bytes, 0};
  oz_bodies fresh;
  oz_saved_head head;
  uint32_t last = 0;
  OZ_TRY(oz_saved_head_take(&from, MAGIC, PLAIN, VERSION, bytes / sizeof(saved_body), "bodies",
                            &head, why));
  oz_bodies_init(&fresh, b->memory);
  fresh.next_handle = head.next_handle;
  ooze_result r = oz_bodies_room(&fresh, head.count, why);
  for (uint32_t i = 0; i < head.count && r >= 0; ++i) {
    saved_body s;
    oz_bytes_take(&from, &s, sizeof s);
    if (s.handle <= last || s.handle >= head.next_handle || s.handle > OZ_OWNER_HANDLE ||
        s.count > UINT32_MAX - fresh.members || !possible(&s)) {
      r = oz_fail(why, OOZE_ERROR_FORMAT,
                  "checkpoint: body %u of kind %u with %u particles and friction %g cannot be",
                  (unsigned)s.handle, (unsigned)s.kind, (unsigned)s.count, (double)s.friction);
      break;
    }
    last = s.handle;
    oz_body *y = fresh.body + fresh.count++;
    memset(y, 0, sizeof *y);
    y->handle = s.handle, y->kind = s.kind, y->first_id = s.first_id, y->count = s.count,
    y->friction = s.friction;
    y->young = s.young, y->bulk = s.bulk, y->damping = s.damping, y->strain = s.strain;
    y->stretch_bound = s.stretch_bound, y->volume_bound = s.volume_bound;
    y->first = fresh.members;
    y->held2 = s.kind == OZ_OWNER_SOFT ? -1.0f : INFINITY;
    fresh.members += s.count;
  }
  for (uint32_t i = 0; i < fresh.count && head.version == VERSION && r >= 0; ++i)
    r = drive_read(&from, fresh.body + i, why);
  if (r < 0) {
    oz_bodies_destroy(&fresh);
    return r;
  }
  oz_bodies_destroy(b);
  *b = fresh;
  *used = bytes - from.left;
  return OOZE_OK;
}
