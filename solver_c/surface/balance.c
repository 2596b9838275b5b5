/* The volume of a surface against that of its particles. The kernels place the surface half a
 * separation beyond the outermost particles of a lattice; where particles lie otherwise, as in a
 * sheet of two layers, at a rim, or in the layer that a wall holds close, that is too little or too
 * much. Here both volumes are spread over nodes a few separations apart, by quadratic B-splines
 * so that no edge of a cell shows, and the distance is shifted by what is missing over the area
 * that there is: (sum of separation^3 - volume) / area.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

#define NODES_APART 3.5f /* separations, at least: fewer would show single particles */
/* separations: furthest outwards, and inwards. What the kernels miss is less; a bulk that is
 * pressed or drawn apart by more keeps its looks. */
#define MOST_OUT 0.2f
#define MOST_IN 0.1f
/* separations: volume over area of a body that goes inwards in the first turn alone, by one less.
 */
#define BODY 1.5f
/* voxels: volume over area, which is half the thickness of a sheet. Of the thinnest that may lose
 * some; and of the thickest whose samples inside stay so, that no hole opens. */
#define THINNEST 0.8f
#define SHEET 1.6f

/* A second shift takes the volume that limits, curvature and sheets that keep their samples leave.
 */
enum { AROUND = 27, SUMS = OZ_LEFT_SUMS, TURNS = 2 };
enum { MISSING, ENCLOSED, AREA }; /* of a node: voxels cubed, cubed and squared */

typedef struct balance_job {
  oz_bricks *b;
  const oz_cells *c;
  float voxel, one; /* m; voxels cubed: volume of a particle */
  float band, out, in;
  int apart;      /* bricks between nodes */
  float d;        /* voxels: separation */
  int turn;       /* 1 to TURNS */
  float *shares;  /* SUMS * AROUND a brick: for the nodes around it */
  double *nodes;  /* SUMS each */
  uint32_t *near; /* AROUND a brick */
  uint32_t node_count;
  oz_map map; /* a node's key to its number */
} balance_job;

/* Weights of the three nodes around, of a place in [0, 1) between two borders of a node's cell. */
static void weights_at(float place, float w[3]) {
  const float t = place - 0.5f;
  w[0] = 0.5f * (0.5f - t) * (0.5f - t);
  w[1] = 0.75f - t * t;
  w[2] = 0.5f * (0.5f + t) * (0.5f + t);
}

static int node_of(int brick, int apart) {
  return brick >= 0 ? brick / apart : -((apart - 1 - brick) / apart);
}

/* of the eight samples of a brick along an axis */
static void brick_weights(int brick, int apart, float w[8][3]) {
  const int first = 8 * (brick - apart * node_of(brick, apart));
  for (int i = 0; i < 8; ++i) weights_at((float)(first + i) / (float)(8 * apart), w[i]);
}

/* Adds samples that have weights in x, y and z to the nodes around. */
static void spread(const float *values, float w[3][8][3], float *to) {
  for (int x = 0; x < 8; ++x) {
    float plane[9] = {0};
    for (int y = 0; y < 8; ++y) {
      float row[3] = {0};
      for (int z = 0; z < 8; ++z)
        for (int k = 0; k < 3; ++k) row[k] += values[64 * x + 8 * y + z] * w[2][z][k];
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) plane[3 * j + k] += row[k] * w[1][y][j];
    }
    for (int i = 0; i < 3; ++i)
      for (int n = 0; n < 9; ++n) to[9 * i + n] += plane[n] * w[0][x][i];
  }
}

static void add_particles(const balance_job *job, const int key[3], float *missing) {
  const float side = 8.0f * job->voxel, per = 1.0f / side, cell = side * (float)job->apart;
  float low[3], high[3];
  int node[3];
  for (int a = 0; a < 3; ++a) {
    node[a] = node_of(key[a], job->apart);
    low[a] = (float)key[a] * side;
    high[a] = low[a] + side;
  }
  for (oz_cells_walk walk = oz_cells_between(job->c, low, high); oz_cells_next(&walk);) {
    const float *x = job->c->x + 3 * (size_t)walk.j;
    float w[3][3];
    if (oz_floor_int(x[0] * per) != key[0] || oz_floor_int(x[1] * per) != key[1] ||
        oz_floor_int(x[2] * per) != key[2])
      continue;
    for (int a = 0; a < 3; ++a) weights_at(x[a] / cell - (float)node[a], w[a]);
    for (int n = 0; n < 9; ++n) {
      const float share = job->one * w[0][n / 3] * w[1][n % 3];
      for (int k = 0; k < 3; ++k) missing[3 * n + k] += share * w[2][k];
    }
  }
}

static void share_body(void *arg, uint32_t begin, uint32_t end) {
  const balance_job *job = (const balance_job *)arg;
  for (uint32_t i = begin; i < end; ++i) {
    const float *f = job->b->values + 512 * (size_t)i;
    float *shares = job->shares + SUMS * AROUND * (size_t)i, inside[512], area[512], w[3][8][3];
    int key[3], some = 0, outer = 0; /* samples inside, and others */
    memset(shares, 0, SUMS * AROUND * sizeof *shares);
    oz_key_split(job->b->keys[i], key);
    for (int a = 0; a < 3; ++a) brick_weights(key[a], job->apart, w[a]);
    for (int a = 0; a < 512; ++a) {
      const float d = f[a];
      inside[a] = d <= -0.5f ? 1.0f : d >= 0.5f ? 0.0f : 0.5f - d;
      some |= d < 1.5f;
      outer |= d > -1.5f;
    }
    if (some) spread(inside, w, shares + AROUND * ENCLOSED);
    if (some && outer) {
      for (int a = 0; a < 512; ++a)
        area[a] = fabsf(f[a]) < 1.5f ? (1.0f + cosf(3.14159265f * f[a] / 1.5f)) / 3.0f : 0.0f;
      spread(area, w, shares + AROUND * AREA);
    }
    add_particles(job, key, shares + AROUND * MISSING);
    for (int n = 0; n < AROUND; ++n) shares[AROUND * MISSING + n] -= shares[AROUND * ENCLOSED + n];
  }
}

/* A distance, given the sums at its place. */
static float shifted(const balance_job *job, const float sums[SUMS], float distance) {
  if (!(sums[AREA] > 0.0f)) return distance;
  const float offset = sums[MISSING] / sums[AREA], half = sums[ENCLOSED] / sums[AREA],
              deep = fminf(fmaxf(half / job->d - BODY, 0.0f), 1.0f),
              in = job->turn > 1 ? (1.0f - deep) * job->in : job->in,
              least = -fminf(in, fmaxf(half - THINNEST, 0.0f)),
              moved = distance - fmaxf(fminf(offset, job->out), least);
  return distance < 0.0f && half < SHEET ? fminf(moved, 0.5f * distance) : moved;
}

/* Shifts by the nodes around at the 512 samples of a brick, an axis at a time. */
static void shift_brick(const balance_job *job, const int key[3], float around[AROUND][SUMS],
                        float *f) {
  float w[3][8][3];
  for (int a = 0; a < 3; ++a) brick_weights(key[a], job->apart, w[a]);
  for (int x = 0; x < 8; ++x) {
    float plane[9][SUMS] = {{0}};
    for (int n = 0; n < AROUND; ++n)
      for (int k = 0; k < SUMS; ++k) plane[n % 9][k] += w[0][x][n / 9] * around[n][k];
    for (int y = 0; y < 8; ++y) {
      float row[3][SUMS] = {{0}};
      for (int n = 0; n < 9; ++n)
        for (int k = 0; k < SUMS; ++k) row[n % 3][k] += w[1][y][n / 3] * plane[n][k];
      for (int z = 0; z < 8; ++z) {
        float *v = f + 64 * x + 8 * y + z, sums[SUMS] = {0};
        if (!(fabsf(*v) < job->band + job->out)) continue;
        for (int n = 0; n < 3; ++n)
          for (int k = 0; k < SUMS; ++k) sums[k] += w[2][z][n] * row[n][k];
        *v = shifted(job, sums, *v);
      }
    }
  }
}

static void shift_body(void *arg, uint32_t begin, uint32_t end) {
  const balance_job *job = (const balance_job *)arg;
  for (uint32_t i = begin; i < end; ++i) {
    const uint32_t *near = job->near + AROUND * (size_t)i;
    float *f = job->b->values + 512 * (size_t)i, around[AROUND][SUMS];
    int key[3], some = 0;
    for (int a = 0; a < 512 && !some; ++a) some = fabsf(f[a]) < job->band + job->out;
    if (some) {
      oz_key_split(job->b->keys[i], key);
      for (int n = 0; n < AROUND; ++n)
        for (int k = 0; k < SUMS; ++k)
          around[n][k] = (float)job->nodes[SUMS * (size_t)near[n] + (size_t)k];
      shift_brick(job, key, around, f);
    }
    for (int a = 0; a < 512 && job->turn == TURNS; ++a)
      f[a] = fmaxf(fminf(f[a], job->band), -job->band);
  }
}

/* The nodes around each brick. */
static int find_nodes(balance_job *job) {
  const oz_bricks *b = job->b;
  oz_map *map = &job->map;
  int ok = oz_map_init(map, b->count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->count && ok; ++i) {
    int key[3];
    oz_key_split(b->keys[i], key);
    for (int a = 0; a < 3; ++a) key[a] = node_of(key[a], job->apart);
    for (int n = 0; n < AROUND && ok; ++n) {
      const uint64_t at = oz_key(key[0] + n / 9 - 1, key[1] + n / 3 % 3 - 1, key[2] + n % 3 - 1);
      uint32_t node = oz_map_get(map, at);
      if (node == OZ_NONE) {
        ok = oz_map_put(map, at, count) >= 0;
        node = count++;
      }
      job->near[AROUND * (size_t)i + (size_t)n] = node;
    }
  }
  job->node_count = count;
  job->nodes = ok ? (double *)oz_allocate(count, SUMS * sizeof *job->nodes) : NULL;
  return job->nodes != NULL;
}

/* The sums of each node, added in the order of bricks. */
static void add_nodes(balance_job *job, const oz_loop *loop) {
  const oz_bricks *b = job->b;
  oz_loop_run(loop, b->count, share_body, job);
  memset(job->nodes, 0, job->node_count * SUMS * sizeof *job->nodes);
  for (uint32_t i = 0; i < b->count; ++i)
    for (int n = 0; n < AROUND; ++n)
      for (int k = 0; k < SUMS; ++k)
        job->nodes[SUMS * (size_t)job->near[AROUND * (size_t)i + (size_t)n] + (size_t)k] +=
            (double)job->shares[SUMS * AROUND * (size_t)i + (size_t)(AROUND * k + n)];
}

void oz_leftover_free(oz_leftover *left) {
  oz_release(left->sums);
  oz_map_free(&left->map);
  left->apart = 0;
}

/* Keeps the volume still missing; the job's map goes along. */
static int keep_leftover(balance_job *job, const oz_loop *loop, oz_leftover *left) {
  left->sums = (float *)oz_allocate(job->node_count, SUMS * sizeof *left->sums);
  if (!left->sums) return 0;
  add_nodes(job, loop);
  for (size_t n = 0; n < (size_t)job->node_count * SUMS; ++n) left->sums[n] = (float)job->nodes[n];
  left->apart = job->apart;
  left->map = job->map;
  memset(&job->map, 0, sizeof job->map);
  return 1;
}

static void read_around(oz_leftover_at *at, const int node[3]) {
  for (int n = 0; n < AROUND; ++n) {
    const uint64_t key = oz_key(node[0] + n / 9 - 1, node[1] + n / 3 % 3 - 1, node[2] + n % 3 - 1);
    const uint32_t i = oz_map_get(&at->left->map, key);
    for (int k = 0; k < SUMS; ++k)
      at->around[n][k] = i == OZ_NONE ? 0.0f : at->left->sums[SUMS * (size_t)i + (size_t)k];
  }
  memcpy(at->node, node, sizeof at->node);
  at->known = 1;
}

float oz_leftover_read(oz_leftover_at *at, const float place[3], float *half) {
  const float cell = 8.0f * (float)at->left->apart;
  float w[3][3], sums[SUMS] = {0};
  int node[3];
  for (int a = 0; a < 3; ++a) {
    const float in_cells = place[a] / cell, whole = floorf(in_cells);
    node[a] = (int)whole;
    weights_at(in_cells - whole, w[a]);
  }
  if (!at->known || memcmp(node, at->node, sizeof node)) read_around(at, node);
  for (int n = 0; n < AROUND; ++n)
    for (int k = 0; k < SUMS; ++k)
      sums[k] += w[0][n / 9] * w[1][n / 3 % 3] * w[2][n % 3] * at->around[n][k];
  *half = sums[AREA] > 0.0f ? sums[ENCLOSED] / sums[AREA] : 0.0f;
  return sums[AREA] > 0.0f ? sums[MISSING] / sums[AREA] : 0.0f;
}

float oz_balance_reach(float separation, float voxel) { return MOST_OUT * separation / voxel; }

ooze_result oz_balance(oz_bricks *b, const oz_cells *c, float separation, float voxel, float band,
                       const oz_loop *loop, oz_leftover *left, ooze_message *why) {
  balance_job job;
  const float d = separation / voxel;
  int ok;
  memset(&job, 0, sizeof job);
  job.b = b, job.c = c, job.voxel = voxel, job.band = band;
  job.d = d, job.one = d * d * d, job.out = MOST_OUT * d, job.in = MOST_IN * d;
  job.apart = (int)ceilf(NODES_APART * d / 8.0f);
  job.shares = (float *)oz_allocate(b->count, SUMS * AROUND * sizeof *job.shares);
  job.near = (uint32_t *)oz_allocate(b->count, AROUND * sizeof *job.near);
  ok = job.shares && job.near && find_nodes(&job);
  for (job.turn = 1; job.turn <= TURNS && ok; ++job.turn) {
    add_nodes(&job, loop);
    oz_loop_run(loop, b->count, shift_body, &job);
  }
  ok = ok && keep_leftover(&job, loop, left);
  oz_release(job.shares);
  oz_release(job.near);
  oz_release(job.nodes);
  oz_map_free(&job.map);
  return ok ? OOZE_OK
            : oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the volume of %u bricks", b->count);
}
