/* Emitters: nozzles that push out a continuous column of particles.
 *
 * Every particle has its place in the column, a length (j + phase_k) d behind its front: layer j of
 * point k of the cross-section. `flow` is the length pushed out so far, a function of time alone,
 * so particle (j, k) stands flow - (j + phase_k) d beyond the mouth. It is born when it comes
 * within `layers` d behind the mouth, at the place that it has at the start of that substep, and is
 * held (source = handle) until it has passed the mouth. Nothing here depends on how time is cut
 * into substeps. An emitter starts at `from` with its nozzle full, front at the mouth. Places that
 * would pass the mouth after `until` are never born, and the flow goes on behind the last one, so
 * that the nozzle runs empty.
 *
 * One substep:  oz_emitters_births -> add the particles -> oz_emitters_accept;  oz_emitters_frame
 * -> backend->nozzles After the step (or when it is cancelled): oz_emitters_end_step.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_EMITTERS_H
#define OZ_CORE_EMITTERS_H

#include "base/memory.h"
#include "base/result.h"
#include "physics/frame.h"

#define OZ_EMITTERS_MAX 1024u
#define OZ_EMITTER_SPAN_MAX 1000.0 /* radius over particle separation */
#define OZ_BIRTHS_MAX (1u << 28)   /* in one substep */

/* A point of the cross-section: m, and where it stands along the stream, in layers from 0 to the
 * period of the layout. Sorted by phase. */
typedef struct oz_emitter_point {
  float x, z;
  double phase;
} oz_emitter_point;

typedef struct oz_emitter_slot {
  uint32_t handle;
  ooze_emitter_desc desc; /* rotations of unit length */
  uint32_t layout;        /* of `point`; OOZE_LAYOUT_AUTO: not made yet */
  uint32_t points;
  oz_emitter_point *point;
  size_t point_capacity; /* bytes */
  double period;         /* layers after which the points repeat; phases are below it */
  /* state */
  uint32_t running; /* flow = base_flow + speed (t - base_time) */
  double base_time, base_flow;
  double flow;      /* m, at the last accepted time */
  double born;      /* m: all places below this are taken */
  uint64_t emitted; /* particles so far */
  double pace;      /* m/s within the nozzle in the substep of the last oz_emitters_births */
  /* the state after oz_emitters_accept */
  uint32_t next_running;
  double next_base_time, next_base_flow, next_flow, next_born;
  uint64_t next_emitted;
} oz_emitter_slot;

typedef struct oz_emitters {
  oz_memory *memory;
  float separation;
  oz_emitter_slot *slot; /* ascending handle */
  size_t slot_capacity;
  uint32_t count;
  uint32_t next_handle;
} oz_emitters;

/* New particles of one substep; arrays are kept between calls. Zero it first; oz_births_release
 * frees it. */
typedef struct oz_births {
  uint32_t count;
  float *position, *velocity; /* 3 a particle, at the start of the substep */
  uint32_t *material, *source;
  size_t position_capacity, velocity_capacity, material_capacity, source_capacity; /* bytes */
} oz_births;

/* mouth.c: m^2 of the outline; and the relaxed layout into slot->point, not sorted. */
double oz_mouth_area(const ooze_emitter_desc *desc);
ooze_result oz_mouth_relaxed(oz_emitters *e, oz_emitter_slot *slot, ooze_message *why);

void oz_emitters_init(oz_emitters *e, oz_memory *memory, float separation);
void oz_emitters_destroy(oz_emitters *e);
void oz_births_release(oz_births *b, oz_memory *memory);

/* As their public namesakes. `materials` is how many there are. On failure nothing has changed. */
ooze_result oz_emitters_add(oz_emitters *e, const ooze_emitter_desc *desc, uint32_t materials,
                            uint32_t *out_handle, ooze_message *why);
ooze_result oz_emitters_set(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why);
ooze_result oz_emitters_remove(oz_emitters *e, uint32_t handle, ooze_message *why);

/* The emitter of a handle, or NULL; a new one behind the others, `label` in messages. */
/* as it was given last, `end` where it is */
ooze_result oz_emitters_get(const oz_emitters *e, uint32_t handle, ooze_emitter_desc *out,
                            ooze_message *why);
oz_emitter_slot *oz_emitters_find(const oz_emitters *e, uint32_t handle);
ooze_result oz_emitters_append(oz_emitters *e, const ooze_emitter_desc *desc, uint32_t materials,
                               uint32_t handle, const char *label, ooze_message *why);

/* Sets the emitter of that handle, or adds it under it. */
ooze_result oz_emitters_put(oz_emitters *e, uint32_t handle, const ooze_emitter_desc *desc,
                            uint32_t materials, ooze_message *why);
/* How far they have poured, OZ_EMITTER_WORDS each; read ignores handles that are not there. */
enum { OZ_EMITTER_WORDS = 14 };
void oz_emitters_clock_write(const oz_emitters *e, uint32_t *words);
ooze_result oz_emitters_clock_read(oz_emitters *e, const uint32_t *words, uint32_t count,
                                   ooze_message *why);

/* The particles born in the substep from t0 to t1 (s of simulated time; f0 and f1 the same as
 * fractions of the ooze_step); `materials` is the number of materials. Fills `out` in the order of
 * birth, emitter by emitter. Changes no state, so a caller that cannot add them simply does not
 * accept. t1 must be computed so that the end of an ooze_step does not depend on the number of
 * substeps (start + dt * fraction). */
ooze_result oz_emitters_births(oz_emitters *e, double t0, double t1, double f0, double f1,
                               uint32_t materials, oz_births *out, ooze_message *why);
/* The particles of the last oz_emitters_births are in: time is now its t1. */
void oz_emitters_accept(oz_emitters *e);

/* The physics' records for the part of the step from fraction f0 to f1, dt seconds long: e->count
 * nozzles. */
void oz_emitters_frame(const oz_emitters *e, double f0, double f1, double dt, oz_nozzle *out);
void oz_emitters_end_step(oz_emitters *e, double fraction); /* as oz_colliders_end_step */

/* Checkpoint; as for colliders. */
size_t oz_emitters_bytes(const oz_emitters *e);
void oz_emitters_write(const oz_emitters *e, void *out);
ooze_result oz_emitters_read(oz_emitters *e, const void *in, size_t bytes, uint32_t materials,
                             size_t *used, ooze_message *why);

#endif
