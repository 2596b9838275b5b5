/* Bridges over the gaps of a sheet. Where particles of a film of one layer have drawn apart, as in
 * a coat that runs down a wall, their kernels leave a net: those at the rim of a gap are narrow
 * towards it, since the fluid seems to end there. A gap that is no wider than a sheet is closed
 * over by kernels of their own, which stand for no particle: one at the middle of each empty circle
 * through three of the sheet's particles. The balance holds the volume (balance.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

/* separations: radii of empty circles. A smaller one is closed by the kernels around it; the square
 * lattice of a film 1.6 apart has 1.13. Of the largest 2.5 are dry, half a separation off its
 * particles: wider gaps stay dry. */
#define LEAST 0.85f
#define MOST 1.75f
/* separations: a wider circle is bridged where a look from its middle ends, within VIEW, less than
 * HIT beside a particle, in each of WAYS directions or in the opposite one. A gap between two
 * strands goes on both ways. */
#define SURE 1.25f
#define VIEW 3.0f
#define HIT 0.6f
#define SLAB 1.2f    /* separations: how far off its plane a sheet has particles */
#define BLUNT -0.08f /* barycentric: an empty circle's middle lies within its triangle */

enum { NEAR = 160, PER_PARTICLE = 8, WAYS = 32 };

/* Around one particle, in its plane: places and distances off it, in separations. */
typedef struct flat_list {
  uint32_t count, index[NEAR];
  float u[NEAR], v[NEAR], z[NEAR];
} flat_list;

typedef struct bridge_job {
  const oz_cells *c;
  const oz_kernel *k;
  const float *normals; /* 3 a particle: of its sheet, or zero */
  float separation;
  const uint32_t *searchers, *first; /* particles of sheets; their first bridges */
  uint8_t *counts;                   /* a searcher */
  oz_kernel *bridges;                /* NULL while they are counted */
} bridge_job;

static void plane_of(const float n[3], float u[3], float v[3]) {
  const int least = fabsf(n[0]) < fabsf(n[1]) ? (fabsf(n[0]) < fabsf(n[2]) ? 0 : 2)
                                              : (fabsf(n[1]) < fabsf(n[2]) ? 1 : 2);
  float length = 0.0f;
  for (int a = 0; a < 3; ++a) u[a] = (float)(a == least) - n[least] * n[a];
  for (int a = 0; a < 3; ++a) length += u[a] * u[a];
  for (int a = 0; a < 3; ++a) u[a] /= sqrtf(length);
  for (int a = 0; a < 3; ++a)
    v[a] = n[(a + 1) % 3] * u[(a + 2) % 3] - n[(a + 2) % 3] * u[(a + 1) % 3];
}

static void gather(const bridge_job *job, uint32_t i, flat_list *l) {
  const float *x = job->c->x + 3 * (size_t)i, *n = job->normals + 3 * (size_t)i;
  const float reach = 2.0f * MOST * job->separation, per = 1.0f / job->separation;
  float low[3], high[3], u[3], v[3];
  for (int a = 0; a < 3; ++a) low[a] = x[a] - reach, high[a] = x[a] + reach;
  plane_of(n, u, v);
  l->count = 0;
  for (oz_cells_walk w = oz_cells_between(job->c, low, high); oz_cells_next(&w);) {
    const float *y = job->c->x + 3 * (size_t)w.j;
    float at[3] = {0.0f, 0.0f, 0.0f};
    if (w.j == i) continue;
    for (int a = 0; a < 3; ++a) {
      const float o = (y[a] - x[a]) * per;
      at[0] += o * u[a], at[1] += o * v[a], at[2] += o * n[a];
    }
    if (fabsf(at[2]) > SLAB || at[0] * at[0] + at[1] * at[1] > 4.0f * MOST * MOST) continue;
    if (l->count == NEAR) return;
    l->index[l->count] = w.j;
    l->u[l->count] = at[0], l->v[l->count] = at[1], l->z[l->count] = at[2];
    ++l->count;
  }
}

/* The middle of the circle through the origin, p and q, and its place in their triangle (weights of
 * p and q); 0 where it is none that is asked for. */
static int circle_of(const flat_list *l, uint32_t p, uint32_t q, float middle[2], float weight[2]) {
  const float pu = l->u[p], pv = l->v[p], qu = l->u[q], qv = l->v[q];
  const float twice = pu * qv - pv * qu, pp = pu * pu + pv * pv, qq = qu * qu + qv * qv;
  if (fabsf(twice) < 0.05f) return 0;
  middle[0] = 0.5f * (qv * pp - pv * qq) / twice;
  middle[1] = 0.5f * (pu * qq - qu * pp) / twice;
  const float r2 = middle[0] * middle[0] + middle[1] * middle[1];
  if (r2 < LEAST * LEAST || r2 > MOST * MOST) return 0;
  weight[0] = (middle[0] * qv - middle[1] * qu) / twice;
  weight[1] = (pu * middle[1] - pv * middle[0]) / twice;
  return weight[0] > BLUNT && weight[1] > BLUNT && weight[0] + weight[1] < 1.0f - BLUNT;
}

static int is_empty(const flat_list *l, const float middle[2]) {
  const float r2 = 0.98f * (middle[0] * middle[0] + middle[1] * middle[1]);
  for (uint32_t j = 0; j < l->count; ++j) {
    const float du = l->u[j] - middle[0], dv = l->v[j] - middle[1];
    if (du * du + dv * dv < r2) return 0;
  }
  return 1;
}

/* Whether an empty circle about a place in the plane of particle i is a hole with particles around
 * it, and not a part of a gap that goes on. */
static int is_enclosed(const bridge_job *job, uint32_t i, const float middle[2]) {
  const float *x = job->c->x + 3 * (size_t)i, *n = job->normals + 3 * (size_t)i;
  const float d = job->separation, reach = (VIEW + HIT) * d;
  float at[3], low[3], high[3], u[3], v[3];
  uint32_t blocked = 0;
  if (middle[0] * middle[0] + middle[1] * middle[1] < SURE * SURE) return 1;
  plane_of(n, u, v);
  for (int a = 0; a < 3; ++a) {
    at[a] = x[a] + d * (middle[0] * u[a] + middle[1] * v[a]);
    low[a] = at[a] - reach, high[a] = at[a] + reach;
  }
  for (oz_cells_walk w = oz_cells_between(job->c, low, high); oz_cells_next(&w);) {
    float du = 0.0f, dv = 0.0f, dz = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const float o = (job->c->x[3 * (size_t)w.j + (size_t)a] - at[a]) / d;
      du += o * u[a], dv += o * v[a], dz += o * n[a];
    }
    const float r2 = du * du + dv * dv, r = sqrtf(r2);
    if (r > VIEW || fabsf(dz) > SLAB + 0.1f * r2) continue;
    const float way_of = (float)WAYS / 6.2831853f, towards = atan2f(dv, du),
                half = asinf(fminf(HIT / fmaxf(r, HIT), 1.0f));
    const int first = (int)ceilf((towards - half) * way_of),
              last = (int)floorf((towards + half) * way_of);
    for (int way = first; way <= last; ++way) blocked |= 1u << ((unsigned)way % WAYS);
  }
  return (blocked | blocked >> WAYS / 2 | blocked << WAYS / 2) == UINT32_MAX;
}

/* A triangle is looked at from the first of its particles that looks at all. */
static int is_ours(const bridge_job *job, uint32_t i, uint32_t j) {
  const float *n = job->normals + 3 * (size_t)j;
  return j > i || (n[0] == 0.0f && n[1] == 0.0f && n[2] == 0.0f);
}

/* The kernel of a bridge: the particle's own, moved to the circle's middle as smoothing moved the
 * three. */
static void put(const bridge_job *job, uint32_t i, const uint32_t other[2], const float weight[2],
                oz_kernel *to) {
  const oz_kernel *k = &job->k[i], *p = &job->k[other[0]], *q = &job->k[other[1]];
  *to = *k;
  to->weight = 0.0f; /* a bridge */
  for (int a = 0; a < 3; ++a)
    to->x[a] += weight[0] * (p->x[a] - k->x[a]) + weight[1] * (q->x[a] - k->x[a]);
}

/* The bridges that a particle of a sheet sees first; counted only where `to` is NULL. */
static uint32_t bridges_of(const bridge_job *job, uint32_t i, oz_kernel *to) {
  flat_list l;
  uint32_t found = 0;
  gather(job, i, &l);
  for (uint32_t p = 0; p < l.count; ++p) {
    if (!is_ours(job, i, l.index[p])) continue;
    for (uint32_t q = p + 1; q < l.count && found < PER_PARTICLE; ++q) {
      float middle[2], weight[2];
      if (!is_ours(job, i, l.index[q]) || !circle_of(&l, p, q, middle, weight) ||
          !is_empty(&l, middle) || !is_enclosed(job, i, middle))
        continue;
      if (to) put(job, i, (uint32_t[2]){l.index[p], l.index[q]}, weight, to + found);
      ++found;
    }
  }
  return found;
}

static void count_body(void *arg, uint32_t begin, uint32_t end) {
  bridge_job *job = (bridge_job *)arg;
  for (uint32_t n = begin; n < end; ++n)
    job->counts[n] = (uint8_t)bridges_of(job, job->searchers[n], NULL);
}

static void put_body(void *arg, uint32_t begin, uint32_t end) {
  bridge_job *job = (bridge_job *)arg;
  for (uint32_t n = begin; n < end; ++n)
    if (job->counts[n]) bridges_of(job, job->searchers[n], job->bridges + job->first[n]);
}

int oz_bridges_find(const oz_cells *c, const oz_kernel *kernels, const float *normals,
                    float separation, const oz_loop *loop, oz_kernel **out, uint32_t *out_count) {
  bridge_job job;
  uint32_t count = 0, total = 0, *searchers, *first;
  memset(&job, 0, sizeof job);
  *out = NULL;
  *out_count = 0;
  for (uint32_t i = 0; i < c->count; ++i) {
    const float *n = normals + 3 * (size_t)i;
    count += n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f;
  }
  if (!count) return 1;
  searchers = (uint32_t *)oz_allocate(count, sizeof *searchers);
  first = (uint32_t *)oz_allocate(count, sizeof *first);
  job.counts = (uint8_t *)oz_allocate(count, 1);
  int ok = searchers && first && job.counts;
  if (ok) {
    count = 0;
    for (uint32_t i = 0; i < c->count; ++i) {
      const float *n = normals + 3 * (size_t)i;
      if (n[0] != 0.0f || n[1] != 0.0f || n[2] != 0.0f) searchers[count++] = i;
    }
    job.c = c, job.k = kernels, job.normals = normals, job.separation = separation;
    job.searchers = searchers, job.first = first;
    oz_loop_run(loop, count, count_body, &job);
    for (uint32_t n = 0; n < count; ++n) first[n] = total, total += job.counts[n];
    job.bridges = total ? (oz_kernel *)oz_allocate(total, sizeof *job.bridges) : NULL;
    ok = !total || job.bridges;
    if (ok && total) oz_loop_run(loop, count, put_body, &job);
    *out = job.bridges;
    *out_count = total;
  }
  oz_release(searchers);
  oz_release(first);
  oz_release(job.counts);
  return ok;
}
