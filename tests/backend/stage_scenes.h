/* The states that tests/backend/stages.c compares every stage on: a block with bodies, odd
 * neighbourhoods, a corner, fast ones. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_STAGE_SCENES_H
#define OZ_TESTS_STAGE_SCENES_H

#include "base/backend.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { MOST = 1400 }; /* particles in a scene */

static const float separation = 0.02f;

static float random_float(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

typedef struct scene {
  const char *name;
  float dt;
  float x[MOST][3], u[MOST][3];
  uint32_t source[MOST];
  uint32_t count, random;
  oz_collider collider[4];
  uint32_t colliders;
  uint32_t bodies, body_size; /* the first particles are those of rigid bodies */
  uint32_t soft_size;         /* the next those of a soft one */
  uint32_t boundary;          /* and the next these many of the first collider's boundary */
} scene;

static void put(scene *s, float x, float y, float z, float speed) { /* in separations */
  CHECK(s->count < MOST, "%s: more than %d particles", s->name, MOST);
  const float at[3] = {x, y, z};
  for (int c = 0; c < 3; ++c) {
    s->x[s->count][c] = separation * at[c];
    s->u[s->count][c] = speed * random_float(&s->random);
  }
  s->source[s->count++] = 0;
}
static void put_block(scene *s, int nx, int ny, int nz, float spacing, float jitter, float x,
                      float y, float z, float speed) {
  for (int i = 0; i < nx * ny * nz; ++i) {
    float r[3];
    for (int c = 0; c < 3; ++c) r[c] = jitter * random_float(&s->random);
    put(s, x + spacing * (float)(i % nx) + r[0], y + spacing * (float)(i / nx % ny) + r[1],
        z + spacing * (float)(i / nx / ny) + r[2], speed);
  }
}
static oz_collider *put_collider(scene *s, uint32_t shape, float half) {
  oz_collider *c = &s->collider[s->colliders++];
  memset(c, 0, sizeof *c);
  c->friction_map_voxel = 0.1f, c->friction_map_count = 8, c->friction_map_power = 0.5f;
  c->shape = shape;
  c->half[0] = c->half[1] = c->half[2] = half;
  c->q0[3] = c->q1[3] = 1;
  c->wall_density = 1;
  c->handle = s->colliders; /* from 1 */
  c->f1 = 0.5f;
  c->reach = shape == OOZE_SHAPE_PLANE ? 0 : 2 * half;
  return c;
}

/* A jittered block between a floor and a moving box, its top held in a nozzle; three particles
 * apart from all others. Its first two layers are rigid bodies, the next three a soft one.
 */
static void block_scene(scene *s) {
  enum { SIDE = 11 };
  put_block(s, SIDE, SIDE, SIDE, 1, 0.15f, 0.3f, 0.3f, 0.3f, 0.1f);
  for (uint32_t i = 0; i < s->count; ++i)
    s->source[i] = i >= 5 * SIDE * SIDE + 50 && s->x[i][1] > separation * (SIDE - 2) ? 7 : 0;
  s->bodies = 2, s->body_size = SIDE * SIDE, s->soft_size = 3 * SIDE * SIDE, s->boundary = 50;
  for (int i = 0; i < 3; ++i) put(s, 100 + 50 * (float)i, 100, 100, 0.1f);
  put_collider(s, OOZE_SHAPE_PLANE, 0)->friction = 0.7f;
  oz_collider *box = put_collider(s, OOZE_SHAPE_BOX, 0.1f);
  box->p0[0] = -0.1f, box->p1[0] = -0.098f;
  box->p0[1] = box->p1[1] = 0.1f;
  box->q1[1] = 0.01f;
  box->friction = 1, box->stick = 5;
}

/* Rare arrangements of a fluid: particles alone, in twos, threes, fours and fives, in lines, in
 * sheets, piled up, on one point. */
static void odd_scene(scene *s) {
  put(s, -40, 40, 0, 1);
  for (int n = 2; n <= 6; ++n) /* 4 neighbours are the fewest that count */
    for (int k = 0; k < n; ++k)
      put(s, -40 + 8 * (float)n + 0.7f * random_float(&s->random),
          40 + 0.7f * random_float(&s->random), 0.7f * random_float(&s->random), 0.1f);
  for (int k = 0; k < 15; ++k) put(s, -40 + (float)k, 50, 0, 0.1f);
  put_block(s, 8, 1, 8, 1, 0, -40, 60, 0, 0.1f);        /* sheet along the axes, exactly flat */
  put_block(s, 8, 1, 8, 1, 0.02f, -20, 60, 0, 0.1f);    /* nearly */
  put_block(s, 4, 4, 4, 1, 0, 0, 60, 0, 0.1f);          /* exact lattice */
  put_block(s, 5, 5, 5, 0.45f, 0.05f, 20, 60, 0, 0.1f); /* strongly compressed */
  put_block(s, 4, 4, 4, 1, 0.1f, 0, 75, 0, 0.1f);
  /* two on one point, at different speeds */
  put(s, 1.5f, 76.5f, 1.5f, 0.1f), put(s, 1.5f, 76.5f, 1.5f, 0.1f);
  put(s, 20, 80, 0, 0.1f), put(s, 20, 80, 0, 0.1f);
  put_block(s, 1, 1, 3, 1e-4f, 0, 25, 80, 0, 0.1f);
}

/* A container's corner, seen from inside, a floor below it and a sphere that moves and turns
 * through the fluid. */
static void corner_scene(scene *s) {
  put_block(s, 7, 6, 7, 1, 0.1f, 0.5f, 0.5f, 0.5f, 0.3f);
  /* in an edge, with few neighbours */
  for (int k = 0; k < 5; ++k) put(s, 0.3f, 0.3f, 8 + 3 * (float)k, 0.3f);
  put(s, 19.9f, 19.9f, 19.9f, 3); /* into the far corner */
  oz_collider *box = put_collider(s, OOZE_SHAPE_BOX, 10 * separation);
  for (int c = 0; c < 3; ++c) box->p0[c] = box->p1[c] = 10 * separation;
  box->invert = 1, box->friction = 0.3f;
  put_collider(s, OOZE_SHAPE_PLANE, 0)->friction = 0;
  oz_collider *sphere = put_collider(s, OOZE_SHAPE_SPHERE, 3 * separation);
  sphere->p0[0] = sphere->p1[0] = 3.5f * separation;
  sphere->p0[1] = 9.2f * separation, sphere->p1[1] = 9.1f * separation;
  sphere->p0[2] = sphere->p1[2] = 3.5f * separation;
  sphere->q1[2] = 0.05f;
  sphere->friction = 1;
}

/* Moves further than the margin in one substep: the density list is made anew. */
static void fast_scene(scene *s) {
  s->dt = 0.004f;
  put_block(s, 6, 6, 6, 1, 0.1f, -3, 1, -3, 2);
  put_block(s, 5, 5, 5, 1, 0.1f, -2.5f, 8.5f, -2.5f, 0.1f);
  for (uint32_t i = 216; i < s->count; ++i) s->u[i][1] -= 6; /* one block falls onto the other */
  put_collider(s, OOZE_SHAPE_PLANE, 0)->friction = 1;
}

static oz_body soft_body(const scene *s) {
  oz_body b;
  memset(&b, 0, sizeof b);
  b.handle = s->bodies + 1, b.kind = OZ_OWNER_SOFT, b.friction = 0.5f;
  b.first = s->bodies * s->body_size, b.first_id = 5 + b.first, b.count = s->soft_size;
  b.young = 1e3f, b.bulk = 2e3f, b.damping = 0.002f, b.strain = 0.35f;
  b.stretch_bound = 8.0f / (1000.0f * separation * separation),
  b.volume_bound = 2.0f * b.stretch_bound;
  /* it sticks, and its middle follows keyframes */
  b.stick = 50.0f, b.driven = 1, b.held2 = 9.0f * separation * separation;
  /* (its reference is turned by a right angle) */
  b.q0[2] = b.q0[3] = b.q1[2] = b.q1[3] = 0.70710678f, b.p1[1] = 0.02f * separation;
  return b;
}
/* Links of the soft body: all pairs up to 1.8 separations apart; some are pulled too far. */
static void tie(oz_backend *b, const scene *s, uint32_t from, uint32_t to) {
  static oz_link_pair pairs[MOST * 16];
  static uint32_t at[MOST];
  ooze_message why = {""};
  uint64_t n = 0;
  for (uint32_t i = from; i < to; ++i)
    for (uint32_t j = i + 1; j < to; ++j) {
      float r2 = 0;
      for (int c = 0; c < 3; ++c) r2 += (s->x[i][c] - s->x[j][c]) * (s->x[i][c] - s->x[j][c]);
      if (r2 > 3.24f * separation * separation) continue;
      CHECK(n < MOST * 16, "more than %d links", MOST * 16);
      pairs[n++] = (oz_link_pair){i, j, sqrtf(r2) * ((i + j) % 50 ? 0.95f : 0.7f), OZ_LINK_SOFT,
                                  0.3f * separation};
    }
  for (uint32_t i = 0; i < MOST; ++i) at[i] = i;
  CHECK(b->table->links_put(b, at, pairs, n, &why) == OOZE_OK, "%s", why.text);
}
#endif
