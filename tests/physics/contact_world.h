/* A few particles in wall slots and a few colliders, for tests of single functions of contact.h,
 * wall.h and nozzle.h. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_CONTACT_WORLD_H
#define OZ_TESTS_CONTACT_WORLD_H

#include "check.h"

#include "physics/nozzle.h"
#include "physics/wall.h"

#define UNUSED_OK __attribute__((unused)) /* not every test uses every helper */

enum { MOST = 64 };
static const float D = 0.01f; /* m: particle separation */

/* A frame with a few particles, all of them in wall slots, and a few colliders. */
typedef struct world {
  oz_frame f;
  oz_collider c[4];
  uint32_t owner[MOST]; /* 0: fluid */
  float x[4 * MOST], u[4 * MOST], y[4 * MOST], p[4 * MOST], dx[4 * MOST], term[4 * MOST],
      omega[MOST], tau[MOST], a[MOST];
  uint32_t particle[MOST], planes[MOST], row[MOST];
  uint16_t len[MOST], list[MOST * MOST];
  oz_wall wall[MOST * OZ_PLANES];
  float impulse[MOST * OZ_PLANES * 3];
  uint64_t key[64];
  float values[64 * 512];
} world;

static UNUSED_OK world *make(uint32_t particles, uint32_t colliders) {
  static world w; /* one a case */
  memset(&w, 0, sizeof w);
  oz_frame *f = &w.f;
  f->count = particles, f->stride = MOST;
  f->dt = 1.0f / 240.0f, f->inv_dt = 240.0f;
  f->d = D, f->inv_d = 1.0f / D, f->h = 2.2f * D, f->h2 = f->h * f->h;
  f->m_ref = 1e-3f, f->wall_gap = 0.25f * D, f->wall_density = 1,
  f->rest_speed = 0.5f * 9.81f / 240.0f;
  f->filter_factor = OZ_FILTER_SWEEP;
  f->x = w.x, f->u = w.u, f->y = w.y, f->p = w.p, f->dx = w.dx, f->wall_term = w.term,
  f->omega = w.omega, f->owner = w.owner;
  f->relaxation_time = w.tau, f->a = w.a;
  f->start_entries = w.list, f->start_row = w.row, f->start_length = w.len;
  f->wall_count = particles, f->wall_particle = w.particle, f->wall = w.wall,
  f->wall_planes = w.planes, f->contact_planes = OZ_PLANES;
  f->wall_impulse = w.impulse, f->collider = w.c, f->collider_count = colliders;
  f->brick_key = w.key, f->brick_values = w.values;
  for (uint32_t i = 0; i < particles; i++) {
    w.particle[i] = i, w.omega[i] = 1.0f, w.a[i] = 1e30f,
    /* so fluid that nothing drags it */ w.row[i] = i * MOST / 4, w.len[i] = (uint16_t)particles;
    for (uint32_t j = 0; j < particles; j++)
      w.list[i * MOST + j] = (uint16_t)(j - i); /* everyone's neighbours: all, itself as padding */
  }
  for (uint32_t i = 0; i < 4; i++)
    w.c[i].q0[3] = w.c[i].q1[3] = 1.0f, w.c[i].wall_density = 1, w.c[i].voxel = 1.0f;
  return &w;
}
static UNUSED_OK void put(world *w, uint32_t i, float x, float y, float z) {
  w->x[4 * i] = x, w->x[4 * i + 1] = y, w->x[4 * i + 2] = z;
}
static UNUSED_OK void speed(world *w, uint32_t i, float x, float y, float z) {
  w->u[4 * i] = x, w->u[4 * i + 1] = y, w->u[4 * i + 2] = z;
}
/* As predict does, then the planes. */
static UNUSED_OK void planes(world *w) {
  for (uint32_t i = 0; i < w->f.count; i++)
    for (int k = 0; k < 3; k++) {
      w->y[4 * i + (uint32_t)k] = w->f.dt * w->u[4 * i + (uint32_t)k];
      w->p[4 * i + (uint32_t)k] = w->x[4 * i + (uint32_t)k] + w->y[4 * i + (uint32_t)k];
    }
  for (uint32_t i = 0; i < w->f.count; i++) oz_wall_planes_item(&w->f, i);
}
/* As advance does. */
static UNUSED_OK void advance(world *w) {
  for (uint32_t i = 0; i < w->f.count; i++)
    for (uint32_t k = 4 * i; k < 4 * i + 3; k++)
      w->y[k] = w->f.dt * w->u[k], w->p[k] = w->x[k] + w->y[k];
}
static UNUSED_OK void box(world *w, uint32_t k, float a, float b, float c, uint32_t invert) {
  w->c[k].shape = OOZE_SHAPE_BOX, w->c[k].half[0] = a, w->c[k].half[1] = b, w->c[k].half[2] = c,
  w->c[k].invert = invert;
  w->c[k].reach = invert ? 0.0f : sqrtf(a * a + b * b + c * c);
}
static UNUSED_OK void turn_about(float q[4], float x, float y, float z, float angle) {
  float l = sqrtf(x * x + y * y + z * z), s = sinf(0.5f * angle) / l;
  q[0] = s * x, q[1] = s * y, q[2] = s * z, q[3] = cosf(0.5f * angle);
}
static UNUSED_OK float number(uint64_t *state, float lo, float hi) {
  return lo + (hi - lo) * oz_random(7, (*state)++, 0);
}

/* Bricks of the distance to a sphere, those that hold a value below the band. */
static UNUSED_OK void sphere_bricks(world *w, float voxel, float radius, float band) {
  oz_collider *c = w->c;
  uint32_t n = 0;
  c->shape = OOZE_SHAPE_SDF, c->voxel = voxel;
  for (int32_t bx = -2; bx < 2; bx++)
    for (int32_t by = -2; by < 2; by++)
      for (int32_t bz = -2; bz < 2; bz++) { /* ascending keys */
        float *v = w->values + 512 * n, least = 1e9f;
        for (int k = 0; k < 512; k++) {
          float x = (float)(8 * bx + k / 64) * voxel, y = (float)(8 * by + k / 8 % 8) * voxel,
                z = (float)(8 * bz + k % 8) * voxel;
          v[k] = sqrtf(x * x + y * y + z * z) - radius;
          least = oz_minf(least, fabsf(v[k]));
          v[k] = oz_minf(oz_maxf(v[k], -band), band);
        }
        if (least >= band) continue;
        w->key[n++] = oz_brick_key(bx, by, bz);
      }
  c->brick_count = n;
  c->reach = 16.0f * voxel * 1.7320509f;
}

#endif
