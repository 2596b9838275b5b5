/* A shop of nozzles without a solver: births, and the way of their particles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_EMITTER_SHOP_H
#define OZ_TESTS_EMITTER_SHOP_H

#include "check.h"

#include "core/emitters.h"
#include "physics/nozzle.h"

static const float D = 0.004f; /* m: particle separation */

typedef struct shop {
  oz_memory memory;
  oz_emitters e;
  oz_births b;
  ooze_material material[2];
} shop;
static inline shop *open_shop(void) {
  static shop s;
  ooze_hooks hooks;
  memset(&s, 0, sizeof s);
  ooze_hooks_default(&hooks);
  oz_memory_init(&s.memory, &hooks);
  oz_emitters_init(&s.e, &s.memory, D);
  for (int k = 0; k < 2; k++) ooze_material_default(&s.material[k]);
  s.material[0].viscosity = 5.0f;
  s.material[1].viscosity = 200.0f;
  return &s;
}
static inline void close_shop(shop *s) {
  oz_births_release(&s->b, &s->memory);
  oz_emitters_destroy(&s->e);
  CHECK_EQ(s->memory.bytes, 0);
}
static inline ooze_emitter_desc nozzle(uint32_t layout) {
  ooze_emitter_desc d;
  ooze_emitter_desc_default(&d);
  d.layout = layout;
  return d;
}

/* All particles that come out, moved along as the solver does as long as they are held. */
typedef struct stream {
  uint32_t count, capacity;
  float *x; /* record 4 */
  float *u;
  uint32_t *source;
  uint64_t *id;
} stream;
static inline void stream_grow(stream *m, uint32_t extra) {
  if (m->count + extra <= m->capacity) return;
  m->capacity = 2 * (m->count + extra);
  m->x = realloc(m->x, m->capacity * 16u), m->u = realloc(m->u, m->capacity * 16u);
  m->source = realloc(m->source, m->capacity * 4u), m->id = realloc(m->id, m->capacity * 8u);
  CHECK(m->x && m->u && m->source && m->id, "memory");
}
static inline void stream_free(stream *m) { free(m->x), free(m->u), free(m->source), free(m->id); }

/* One ooze_step of `dt` from time t in n substeps; free particles fly on straight. */
static inline void step(shop *s, stream *m, double t, double dt, int n) {
  for (int k = 0; k < n; k++) {
    double f0 = (double)k / n, f1 = (double)(k + 1) / n, h = dt / n;
    ooze_message why = {""};
    CHECK(oz_emitters_births(&s->e, t + dt * f0, t + dt * f1, f0, f1, 2, &s->b, &why) == OOZE_OK,
          "%s", why.text);
    stream_grow(m, s->b.count);
    for (uint32_t i = 0; i < s->b.count; i++, m->count++) {
      for (uint32_t a = 0; a < 3; a++) {
        m->x[4 * m->count + a] = s->b.position[3 * i + a];
        m->u[4 * m->count + a] = s->b.velocity[3 * i + a];
      }
      m->x[4 * m->count + 3] = m->u[4 * m->count + 3] = 0.0f;
      m->source[m->count] = s->b.source[i];
      m->id[m->count] = m->count;
    }
    oz_emitters_accept(&s->e);
    oz_nozzle z[4];
    oz_emitters_frame(&s->e, f0, f1, h, z);
    oz_frame f;
    memset(&f, 0, sizeof f);
    f.dt = (float)h, f.inv_dt = (float)(1.0 / h), f.x = m->x, f.u = m->u, f.source = m->source,
    f.id = m->id;
    f.nozzle = z, f.nozzle_count = s->e.count;
    for (uint32_t i = 0; i < m->count; i++) {
      oz_nozzle_item(&f, i);
      for (uint32_t a = 0; a < 3; a++) m->x[4 * i + a] += f.dt * m->u[4 * i + a];
    }
  }
  oz_emitters_end_step(&s->e, 1.0);
}

/* With one nozzle, of the second material. */
static inline shop *open_with(const ooze_emitter_desc *d, uint32_t *handle) {
  shop *s = open_shop();
  CHECK(oz_emitters_add(&s->e, d, 2, handle, NULL) == OOZE_OK, "added");
  return s;
}
/* Five frames of one nozzle. */
static inline shop *pour(const ooze_emitter_desc *d, int substeps, stream *m) {
  uint32_t h;
  shop *s = open_with(d, &h);
  for (int frame = 0; frame < 5; frame++) step(s, m, frame / 24.0, 1.0 / 24.0, substeps);
  return s;
}
static inline float *places_of(const stream *m) { /* a copy, to be freed */
  float *x = malloc(m->count * 16u);
  CHECK(x != NULL, "memory");
  memcpy(x, m->x, m->count * 16u);
  return x;
}
static inline void close_both(shop *s, stream *m) {
  stream_free(m);
  close_shop(s);
}

static inline int by_place(const void *a, const void *b) { /* column first, then along it */
  const float *p = a, *q = b;
  int cx = (int)lroundf(p[0] / D) - (int)lroundf(q[0] / D),
      cz = (int)lroundf(p[2] / D) - (int)lroundf(q[2] / D);
  if (cx) return cx;
  if (cz) return cz;
  return p[1] < q[1] ? -1 : p[1] > q[1];
}

/* A stream with 1, 3, 8 and 40 substeps a frame has as many particles at the same places, in the
 * order in which `check` leaves them. */
static inline void pour_in_any_substeps(const ooze_emitter_desc *d,
                                        void (*check)(const shop *s, stream *m)) {
  static const int substeps[4] = {1, 3, 8, 40};
  uint32_t total = 0;
  float *first = NULL;
  for (int n = 0; n < 4; n++) {
    stream m = {0};
    shop *s = pour(d, substeps[n], &m);
    check(s, &m);
    if (n == 0) total = m.count, first = places_of(&m);
    CHECK_EQ(m.count, total);
    for (uint32_t i = 0; i < 4 * m.count; i++)
      if (i % 4 != 3) CHECK_NEAR(m.x[i], first[i], 2e-6, "the same places as with one substep");
    close_both(s, &m);
  }
  free(first);
}

#endif
