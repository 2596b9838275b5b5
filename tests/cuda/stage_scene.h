/* The particles of the tests of stages and launches: fluid, bodies, a boundary, walls, nozzles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_CUDA_STAGE_SCENE_H
#define OZ_TESTS_CUDA_STAGE_SCENE_H

#include "physics/boundary_particles.h"

#include "cuda/compare.h"

#include "backend/friction_map.h"
#include "backend/stage_matter.h"
#include "check.h"

static uint32_t seed;
static inline float uniform(void) { /* -1 to 1 */
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

typedef struct state {
  uint32_t n;
  float *x, *u, *q, *tau, *compliance, *viscosity, *density, *temperature, *zero;
  uint32_t *rank, *word, *source, *owner, layer;
  float *rest;
  uint64_t *id;
  int calm;
} state;

/* calm: without bodies and heat; free: without a boundary, too */
enum { LATTICE, RANDOM, DEGENERATE, CALM, FREE };
static const float D = 0.01f;

/* Behind two half layers and forty of a boundary, as many as four layers are a soft body. */
static inline uint32_t soft_first(const state *s) { return 2 * s->layer + 40; }
static inline uint32_t soft_count(const state *s) { return 8 * s->layer; }
static inline int soft_one(const state *s, uint32_t i) {
  return i >= soft_first(s) && i < soft_first(s) + soft_count(s);
}
static inline oz_body soft_body(const state *s) {
  oz_body b;
  memset(&b, 0, sizeof b);
  b.handle = 5, b.kind = OZ_OWNER_SOFT, b.friction = 0.5f;
  b.first_id = 1000 + 7 * soft_first(s), b.first = 14 * s->layer, b.count = 7 * soft_count(s);
  b.young = 1e3f, b.bulk = 2e3f, b.damping = 0.002f, b.strain = 0.3f;
  b.stretch_bound = 8.0f / (1000.0f * D * D), b.volume_bound = 2.0f * b.stretch_bound;
  /* it sticks, and its middle follows keyframes */
  b.stick = 50.0f, b.driven = 1, b.held2 = 9.0f * D * D;
  /* (its reference is turned by a right angle) */
  b.q0[2] = b.q0[3] = b.q1[2] = b.q1[3] = 0.70710678f, b.p1[1] = 0.02f * D;
  return b;
}
/* Its links, some of them pulled too far. */
static inline void tie(oz_backend *b, const state *s) {
  const uint32_t from = soft_first(s), to = from + soft_count(s);
  oz_link_pair *pairs = malloc((size_t)soft_count(s) * 60 * sizeof *pairs);
  uint32_t *at = malloc((size_t)s->n * 4), *row = calloc(s->n, 4);
  ooze_message why = {""};
  uint64_t n = 0;
  for (uint32_t i = from; i < to; i++)
    for (uint32_t j = i + 1; j < to && row[i] < 50; j++) {
      float r2 = 0.0f;
      for (uint32_t c = 0; c < 3; c++)
        r2 += (s->x[4 * i + c] - s->x[4 * j + c]) * (s->x[4 * i + c] - s->x[4 * j + c]);
      if (r2 > 3.24f * D * D || r2 < 0.01f * D * D || row[j] == 50) continue;
      row[i]++, row[j]++;
      pairs[n++] =
          (oz_link_pair){i, j, sqrtf(r2) * ((i + j) % 50 ? 0.95f : 0.7f), OZ_LINK_SOFT, 0.3f * D};
    }
  for (uint32_t i = 0; i < s->n; i++) at[i] = i;
  CHECK(n > 1000, "%u links", (unsigned)n);
  CHECK(b->table->links_put(b, at, pairs, n, &why) >= 0, "%s", why.text);
  free(pairs), free(at), free(row);
}

static inline state allocate_state(int edge) {
  const size_t n = (size_t)(edge * edge * edge);
  state s;
  memset(&s, 0, sizeof s);
  s.n = (uint32_t)n;
  s.layer = (uint32_t)(edge * (edge / 2));
  s.x = calloc(n * 4, 4), s.u = calloc(n * 4, 4), s.q = calloc(n * 6, 4), s.tau = calloc(n, 4),
  s.compliance = calloc(n, 4);
  s.owner = calloc(n, 4), s.rest = calloc(n * 3, 4);
  s.viscosity = calloc(n, 4), s.density = calloc(n, 4), s.temperature = calloc(n, 4),
  s.zero = calloc(n * 3, 4);
  s.rank = calloc(n, 4), s.word = calloc(n, 4), s.source = calloc(n, 4), s.id = calloc(n, 8);
  return s;
}

/* Place and velocity of a particle of the block. */
static inline void place(const state *s, int kind, int edge, uint32_t i) {
  float *x = s->x + 4 * (size_t)i, *u = s->u + 4 * (size_t)i;
  const int c[3] = {(int)i % edge, (int)i / edge % edge, (int)i / edge / edge};
  for (int k = 0; k < 3; k++) {
    x[k] = ((float)c[k] - 0.5f * (float)edge +
            (kind == LATTICE || kind == CALM ? 0.1f : 0.3f) * uniform()) *
           D;
    u[k] = 0.03f * uniform();
  }
  x[1] += 0.5f * (float)edge * D;
  if (kind == DEGENERATE) {
    /* a line; no two at h exactly */
    if (i % 7 == 0) x[0] = x[1] = 0.05f, x[2] = 0.0021f * (float)(i % 50);
    if (i % 11 == 0) x[0] = 0.3f, x[1] = 0.02f, x[2] = 0.3f; /* all at one point */
    if (i % 13 == 0) x[1] = 5.0f + (float)i;                 /* alone */
    if (i % 17 == 0) x[0] = -0.2f, x[1] += 0.01f;            /* a sheet */
    for (int k = 0; k < 3; k++) u[k] *= 5.0f;
  }
  u[1] -= 0.2f;
}

static inline void fill_material(const state *s, uint32_t i) {
  for (int k = 0; k < 6; k++)
    s->q[(size_t)k * s->n + i] = (k < 3 ? 1.0f : 0.0f) + 0.02f * uniform();
  s->tau[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 0.1f : 1e6f;
  s->compliance[i] = i % 5 == 0 ? 0.0f : 1e-4f;
  s->viscosity[i] = i % 4 == 0 && i % 3 != 2 ? 50.0f : 0.0f;
  s->density[i] = i % 2 ? 1000.0f : 700.0f;
  s->temperature[i] = i % 9 == 2 ? 295.0f : 285.0f + 15.0f * uniform();
}

/* Owner of a particle: none (fluid), one of two rigid bodies, the soft body, or the boundary of the
 * third collider, with the last particles. */
static inline void fill_owner(const state *s, int kind, uint32_t i) {
  static const float up[3] = {0.0f, 1.0f, 0.0f};
  const int wall = kind != FREE && i >= s->n - 40;
  const float *x = s->x + 4 * (size_t)i;
  s->source[i] = i % 29 == 0 && i >= 2 * s->layer && !wall ? 1 : 0;
  if (wall)
    s->owner[i] = (uint32_t)OZ_OWNER_BOUNDARY << OZ_OWNER_SHIFT | 3, s->compliance[i] = 1.2f;
  /* two half layers are rigid bodies, turned by a right angle and not quite in the shape that they
   * are to have */
  if (i < 2 * s->layer)
    s->owner[i] = (uint32_t)OZ_OWNER_RIGID << OZ_OWNER_SHIFT | (3 + i / s->layer);
  /* leaves the random numbers of the later cases as they were */
  for (uint32_t k = 0; k < 3; k++)
    s->rest[k * s->n + i] = (k == 0   ? x[1]
                             : k == 1 ? -x[0]
                                      : x[2]) +
                            0.02f * D * sinf((float)(3 * i + k));
  if (soft_one(s, i)) s->owner[i] = (uint32_t)OZ_OWNER_SOFT << OZ_OWNER_SHIFT | 5, s->source[i] = 0;
  s->word[i] = wall ? oz_slip_word(i % 3 ? 0.4f * (float)(i % 3) : 0.0f, up) : i % 4 == 1;
  if (s->calm && !wall) s->owner[i] = 0;
  if (wall)
    for (uint32_t k = 0; k < 3; k++) s->rest[k * s->n + i] = x[k] - (k == 1 ? 0.155f : 0.0f);
}

static inline state make(int kind) {
  const int edge = kind == DEGENERATE ? 9 : 13;
  state s = allocate_state(edge);
  s.calm = kind == CALM || kind == FREE;
  for (uint32_t i = 0; i < s.n; i++) {
    place(&s, kind, edge, i);
    fill_material(&s, i);
    s.id[i] = 1000 + 7 * (uint64_t)i;
    s.rank[i] = i;
    fill_owner(&s, kind, i);
  }
  return s;
}

static inline void drop_state(state *s) {
  void *all[] = {s->x,         s->u,       s->q,           s->tau,   s->compliance,
                 s->viscosity, s->density, s->temperature, s->zero,  s->rank,
                 s->word,      s->source,  s->id,          s->owner, s->rest};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static uint32_t laws; /* of flow */

static inline void load(oz_backend *b, const state *s) {
  const void *of[OZ_FIELD_STATE_COUNT] = {[OZ_FIELD_X] = s->x,
                                          [OZ_FIELD_U] = s->u,
                                          [OZ_FIELD_Q] = s->q,
                                          [OZ_FIELD_RELAXATION_TIME] = s->tau,
                                          [OZ_FIELD_COMPLIANCE] = s->compliance,
                                          [OZ_FIELD_VISCOSITY] = s->viscosity,
                                          [OZ_FIELD_DENSITY] = s->density,
                                          [OZ_FIELD_TEMPERATURE] = s->temperature,
                                          [OZ_FIELD_FORCE] = s->zero,
                                          [OZ_FIELD_MATERIAL] = s->word,
                                          [OZ_FIELD_SOURCE] = s->source,
                                          [OZ_FIELD_OWNER] = s->owner,
                                          [OZ_FIELD_REFERENCE] = s->rest,
                                          [OZ_FIELD_RANK] = s->rank,
                                          [OZ_FIELD_ID] = s->id};
  ooze_message why = {""};
  /* by a law the longest time would make the softest material, beside the stiffest */
  for (uint32_t i = 0; laws && i < s->n; i++) s->tau[i] = s->tau[i] > 0.2f ? 0.2f : s->tau[i];
  CHECK(b->table->resize(b, s->n, &why) >= 0, "%s", why.text);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (of[k])
      CHECK(b->table->upload(b, (oz_field)k, 0, s->n, of[k], &why) >= 0, "%s", why.text);
    else
      CHECK(b->table->provide(b, (oz_field)k, &why) >= 0, "%s", why.text);
  CHECK(b->table->matter(b, stage_matter, 2, &why) >= 0, "%s", why.text);
  if (s->calm) return;
  oz_body body[3] = {{0}, {0}, soft_body(s)};
  for (uint32_t k = 0; k < 2; k++) { /* six of seven ids are unused */
    body[k].handle = 3 + k, body[k].kind = OZ_OWNER_RIGID, body[k].friction = 0.5f;
    body[k].first_id = 1000 + 7 * k * s->layer, body[k].first = 7 * k * s->layer,
    body[k].count = 7 * s->layer;
  }
  CHECK(b->table->bodies(b, body, 3, 14 * s->layer + body[2].count, &why) >= 0, "%s", why.text);
  tie(b, s);
}

static inline void surround(oz_backend *b) {
  oz_collider c[4];
  ooze_message why = {""};
  memset(c, 0, sizeof c);
  for (int k = 0; k < 4; k++) {
    c[k].q0[3] = c[k].q1[3] = 1.0f;
    c[k].wall_density = 1;
    c[k].handle = (uint32_t)k + 1, c[k].f1 = 1.0f;
    c[k].friction = 0.25f * (float)k;
    c[k].temperature = 280.0f + 10.0f * (float)k, c[k].contact = 1e4f;
  }
  c[0].shape = OOZE_SHAPE_PLANE;
  c[1].shape = OOZE_SHAPE_BOX, c[1].invert = 1; /* a container that is just filled */
  c[1].half[0] = c[1].half[2] = 0.066f, c[1].half[1] = 1.0f, c[1].p0[1] = c[1].p1[1] = 0.9f,
  c[1].reach = 1.1f;
  c[2].shape = OOZE_SHAPE_SPHERE, c[2].half[0] = 0.025f, c[2].p0[1] = 0.155f, c[2].p1[1] = 0.154f,
  c[2].reach = 0.025f;
  c[2].stick = 10.0f;
  c[3].shape = OOZE_SHAPE_CYLINDER, c[3].half[0] = 0.02f, c[3].half[1] = 0.01f,
  c[3].p0[0] = c[3].p1[0] = 0.05f, c[3].p0[1] = c[3].p1[1] = 0.142f;
  c[3].reach = 0.03f, c[3].q1[2] = 0.02f, c[3].q1[3] = 0.9998f;
  for (int k = 0; k < 2; k++)
    c[k].friction_map_voxel = 0.15f, c[k].friction_map_count = 8, c[k].friction_map_power = 0.5f;
  CHECK(b->table->colliders(b, c, 4, NULL, NULL, 0, &why) >= 0, "%s", why.text);
  friction_map(b);
  oz_nozzle z;
  memset(&z, 0, sizeof z);
  z.handle = 1, z.q0[3] = z.q1[3] = 1.0f, z.p0[1] = z.p1[1] = 6.0f, z.speed = 0.05f,
  z.disturbance = 0.02f, z.seed = 3;
  CHECK(b->table->nozzles(b, &z, 1, &why) >= 0, "%s", why.text);
}
#endif
