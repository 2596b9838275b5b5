/* A smooth reading of a surface's distance: cubic B-splines through its samples, twice
 * differentiable, so that normals have no facets where trilinear cells meet. The coefficients are
 * the samples less a sixth of their second differences, the first term of the series that inverts
 * the spline's own smoothing; the next is a 36th of the fourth differences, which a distance has
 * only at its ridges.
 * SPDX-License-Identifier: Apache-2.0 */
#include "level_set.h"

#include <math.h>

typedef struct spline_job {
  const ooze_surface *s;
  float *to;
} spline_job;

static const float *values_of(const ooze_surface *s, const float *of, int x, int y, int z,
                              float *beyond) {
  uint32_t i = oz_map_get(&s->map, oz_key(x, y, z));
  *beyond = i == OZ_NONE ? s->band : -s->band;
  return i < s->brick_count ? of + 512 * (size_t)i : NULL;
}

static void spline_body(void *arg, uint32_t begin, uint32_t end) {
  spline_job *job = (spline_job *)arg;
  const ooze_surface *s = job->s;
  const float edge = s->band - s->voxel; /* the clamp at the band's edge is not curvature */
  for (uint32_t i = begin; i < end; ++i) {
    const float *f = s->values + 512 * (size_t)i;
    const float *side[6];
    float beyond[6];
    int k[3];
    oz_key_split(s->keys[i], k);
    for (int a = 0; a < 6; ++a) {
      int o[3] = {k[0], k[1], k[2]};
      o[a / 2] += a % 2 ? 1 : -1;
      side[a] = values_of(s, s->values, o[0], o[1], o[2], &beyond[a]);
    }
    for (int n = 0; n < 512; ++n) {
      static const int step[3] = {64, 8, 1};
      const int at[3] = {n >> 6, n >> 3 & 7, n & 7};
      float sum = 0.0f;
      for (int a = 0; a < 3; ++a) {
        const int back = n + 7 * step[a], ahead = n - 7 * step[a]; /* in the next brick */
        float l = at[a] > 0 ? f[n - step[a]] : side[2 * a] ? side[2 * a][back] : beyond[2 * a];
        float r = at[a] < 7         ? f[n + step[a]]
                  : side[2 * a + 1] ? side[2 * a + 1][ahead]
                                    : beyond[2 * a + 1];
        sum += l + r - 2.0f * f[n];
      }
      job->to[512 * (size_t)i + (size_t)n] = fabsf(f[n]) < edge ? f[n] - sum * (1.0f / 6.0f) : f[n];
    }
  }
}

float *oz_spline_make(const ooze_surface *s, const oz_loop *loop) {
  spline_job job = {s, (float *)oz_allocate(s->brick_count, 512 * sizeof(float))};
  if (job.to) oz_loop_run(loop, s->brick_count, spline_body, &job);
  return job.to;
}

static void weights_of(float t, float w[4], float d[4]) {
  const float u = 1.0f - t;
  w[0] = u * u * u / 6.0f;
  w[1] = (4.0f - 6.0f * t * t + 3.0f * t * t * t) / 6.0f;
  w[3] = t * t * t / 6.0f;
  w[2] = 1.0f - w[0] - w[1] - w[3];
  d[0] = -0.5f * u * u;
  d[1] = 1.5f * t * t - 2.0f * t;
  d[3] = 0.5f * t * t;
  d[2] = -d[0] - d[1] - d[3];
}

float oz_spline_at(const ooze_surface *s, const float *spline, const float p[3],
                   float gradient[3]) {
  float w[3][4], d[3][4], value = 0.0f, g[3] = {0.0f, 0.0f, 0.0f};
  int first[3], bricks[3], a;
  const float *from[8];
  float beyond[8];
  for (a = 0; a < 3; ++a) {
    const float x = p[a] / s->voxel;
    if (!(fabsf(x) < 8.0f * (OZ_KEY_LIMIT - 4))) return s->band;
    const float whole = floorf(x);
    first[a] = (int)whole - 1;
    bricks[a] = (first[a] & 7) > 4 ? 2 : 1; /* that the four samples lie in */
    weights_of(x - whole, w[a], d[a]);
  }
  for (a = 0; a < 8; ++a) {
    const int o[3] = {a >> 2, a >> 1 & 1, a & 1};
    if (o[0] >= bricks[0] || o[1] >= bricks[1] || o[2] >= bricks[2]) continue;
    from[a] = values_of(s, spline, (first[0] >> 3) + o[0], (first[1] >> 3) + o[1],
                        (first[2] >> 3) + o[2], &beyond[a]);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) {
        const int x = (first[0] & 7) + i, y = (first[1] & 7) + j, z = (first[2] & 7) + k;
        const int b = (x >> 3) * 4 + (y >> 3) * 2 + (z >> 3);
        const float c = from[b] ? from[b][64 * (x & 7) + 8 * (y & 7) + (z & 7)] : beyond[b];
        value += w[0][i] * w[1][j] * w[2][k] * c;
        g[0] += d[0][i] * w[1][j] * w[2][k] * c;
        g[1] += w[0][i] * d[1][j] * w[2][k] * c;
        g[2] += w[0][i] * w[1][j] * d[2][k] * c;
      }
  for (a = 0; a < 3; ++a) gradient[a] = g[a] / s->voxel;
  return value;
}

/* Newton's steps along the gradient; a vertex that a coarse cell put in the middle of a thin sheet
 * has no slope to go by and stays. */
static void settle(const ooze_surface *s, const float *spline, float p[3], float normal[3]) {
  const float start[3] = {p[0], p[1], p[2]}, most = 0.75f * s->voxel;
  float g[3], slope = 0.0f;
  for (int step = 0; step < 4; ++step) {
    const float f = oz_spline_at(s, spline, p, g);
    slope = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    if (slope < 0.04f || step == 3) break; /* the last turn is for the gradient alone */
    float off = 0.0f, q[3];
    for (int a = 0; a < 3; ++a) {
      q[a] = p[a] - f * g[a] / slope;
      off += (q[a] - start[a]) * (q[a] - start[a]);
    }
    if (off > most * most) break;
    for (int a = 0; a < 3; ++a) p[a] = q[a];
  }
  slope = sqrtf(slope);
  for (int a = 0; a < 3; ++a) normal[a] = slope > 0.0f ? g[a] / slope : (float)(a == 1);
}

/* voxels: half the thickness below a corner of the mesh, as it reads, up to 2 */
static float half_below(const ooze_surface *s, const float *spline, const float p[3],
                        const float normal[3]) {
  float g[3], q[3];
  for (int a = 0; a < 3; ++a) q[a] = p[a] - 2.0f * s->voxel * normal[a];
  return 1.0f - 0.5f * oz_spline_at(s, spline, q, g) / s->voxel;
}

/* The ridge of a distance in the middle of a sheet is a kink, which a spline overshoots: a sheet of
 * one or two voxels' half thickness h reads as thicker, by 0.075 voxels a side at 1 and 0.018
 * at 1.5 (means over the sheet's place between samples). Threads and drops want that much, since
 * their mesh is cut off between its corners; a sheet's corners go back. */
static void thin_sheet(const ooze_surface *s, const float *spline, float half, float p[3],
                       const float normal[3]) {
  const float voxel = s->voxel;
  float g[3], q[3], bend = 0.0f;
  const float excess = 0.135f * (1.65f - half);
  if (!(excess > 0.0f) || half < 0.5f) return;
  /* two directions along the surface, and how fast the normal turns */
  const int least = fabsf(normal[0]) < fabsf(normal[1])
                        ? (fabsf(normal[0]) < fabsf(normal[2]) ? 0 : 2)
                        : (fabsf(normal[1]) < fabsf(normal[2]) ? 1 : 2);
  float u[3] = {0}, v[3], length = 0.0f;
  for (int a = 0; a < 3; ++a) u[a] = (float)(a == least) - normal[least] * normal[a];
  for (int a = 0; a < 3; ++a) length += u[a] * u[a];
  for (int a = 0; a < 3; ++a) u[a] /= sqrtf(length);
  for (int a = 0; a < 3; ++a)
    v[a] = normal[(a + 1) % 3] * u[(a + 2) % 3] - normal[(a + 2) % 3] * u[(a + 1) % 3];
  for (int side = 0; side < 2; ++side) { /* across the normal at p there is no slope */
    const float *along = side ? v : u;
    float slope = 0.0f, turn = 0.0f;
    for (int a = 0; a < 3; ++a) q[a] = p[a] + voxel * along[a];
    oz_spline_at(s, spline, q, g);
    for (int a = 0; a < 3; ++a) slope += g[a] * g[a], turn += g[a] * along[a];
    bend += turn / sqrtf(fmaxf(slope, 1e-6f)); /* 1/r of a thread, 2/r of a drop */
  }
  const float flat = fminf(fmaxf(1.5f - 3.0f * fabsf(bend), 0.0f), 1.0f);
  for (int a = 0; a < 3; ++a) p[a] -= flat * excess * voxel * normal[a];
}

/* separations: furthest that a mesh goes in or out by the leftover of the balance; and from which
 * volume over area on, up to one more, ever less inwards, since a thick body that has swollen is
 * shown as it is. */
#define LEFT_IN 0.4f
#define LEFT_OUT 0.1f
#define LEFT_BODY 1.75f
#define LEFT_SHARE 0.75f /* of the thickness here, at most */

/* voxels of half thickness: up to which samples and mesh may tell different volumes of a sheet,
 * strand or drop, and where they agree again; and how much a corner of one may be moved by that, in
 * shares of it. */
#define TOLD 1.25f
#define TOLD_WELL 1.75f
#define TOLD_IN -0.4f
#define TOLD_OUT 0.25f

/* Of a corner of the mesh how far outwards (m) it may go: by its thickness, where that is small,
 * and by the leftover here. That is inwards where a sheet or strand is too thick because a level
 * set holds none that is much thinner than a voxel, or because its particles lie apart; and less
 * than its thickness, so that joints hold. */
static oz_corner_room room_at(const ooze_surface *s, float here, oz_leftover_at *at,
                              const float p[3]) {
  const float voxel = s->voxel, d = s->separation / voxel,
              place[3] = {p[0] / voxel, p[1] / voxel, p[2] / voxel};
  float half, off = oz_leftover_read(at, place, &half);
  const float deep = fminf(fmaxf(half / d - LEFT_BODY, 0.0f), 1.0f),
              in = fminf(LEFT_IN * d * (1.0f - deep), LEFT_SHARE * here),
              thin = fminf(fmaxf((TOLD_WELL - here) / (TOLD_WELL - TOLD), 0.0f), 1.0f);
  off = fmaxf(fminf(off, LEFT_OUT * d), -in);
  const oz_corner_room room = {voxel * thin * here, voxel * off};
  return room;
}

typedef struct settle_job {
  const ooze_surface *s;
  const float *spline;
  ooze_mesh *mesh;
  oz_corner_room *room; /* of a corner, or NULL */
  float part[2];        /* of each */
  double *volume;       /* m^3: of each CHUNK of triangles */
} settle_job;
enum { CHUNK = 4096 };

static void settle_body(void *arg, uint32_t begin, uint32_t end) {
  settle_job *job = (settle_job *)arg;
  const ooze_surface *s = job->s;
  oz_leftover_at at;
  at.left = &s->left;
  at.known = 0;
  for (uint32_t i = begin; i < end; ++i) {
    float *p = job->mesh->positions + 3 * (size_t)i;
    float *normal = job->mesh->normals + 3 * (size_t)i;
    settle(s, job->spline, p, normal);
    /* where solids were taken out, a side of the sheet lies on a wall and stays there */
    if (!s->solid_count) {
      const float half = half_below(s, job->spline, p, normal);
      thin_sheet(s, job->spline, half, p, normal);
      if (job->room) job->room[i] = room_at(s, fmaxf(half, 0.0f), &at, p);
    }
    oz_cut_push(s, p); /* splines round the edge that the surface has at a solid */
  }
}

static void moved_corner(const settle_job *job, uint32_t i, double p[3]) {
  const size_t at = 3 * (size_t)i;
  const float off = job->part[0] * job->room[i].thin + job->part[1] * job->room[i].left;
  for (int a = 0; a < 3; ++a)
    p[a] =
        (double)(job->mesh->positions[at + (size_t)a] + off * job->mesh->normals[at + (size_t)a]);
}

static void volume_body(void *arg, uint32_t begin, uint32_t end) {
  settle_job *job = (settle_job *)arg;
  for (uint32_t n = begin; n < end; ++n) {
    const uint64_t first = (uint64_t)CHUNK * n, past = first + CHUNK,
                   last = past < job->mesh->triangle_count ? past : job->mesh->triangle_count;
    double sum = 0.0;
    for (uint64_t t = first; t < last; ++t) {
      double p[3][3];
      for (int k = 0; k < 3; ++k)
        moved_corner(job, job->mesh->triangles[3 * t + (uint64_t)k], p[k]);
      for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        sum += p[0][a] * (p[1][b] * p[2][c] - p[1][c] * p[2][b]);
      }
    }
    job->volume[n] = sum / 6.0;
  }
}

static double volume_now(settle_job *job, const oz_loop *loop) {
  const uint32_t chunks = (uint32_t)((job->mesh->triangle_count + CHUNK - 1) / CHUNK);
  double sum = 0.0;
  oz_loop_run(loop, chunks, volume_body, job);
  for (uint32_t n = 0; n < chunks; ++n) sum += job->volume[n];
  return fabs(sum);
}

/* Takes as much of one kind of room, from `least` to `most`, as brings the mesh to a volume; `full`
 * of it is about the right amount. */
static void take(settle_job *job, int kind, double wanted, float least, float most, float full,
                 const oz_loop *loop) {
  const double before = volume_now(job, loop);
  job->part[kind] = full;
  const double part = (double)full * (wanted - before) / (volume_now(job, loop) - before);
  /* 0 where nothing changed and it is no number */
  job->part[kind] = part > (double)least    ? (float)fmin(part, (double)most)
                    : part <= (double)least ? least
                                            : 0.0f;
}

static void move_body(void *arg, uint32_t begin, uint32_t end) {
  const settle_job *job = (const settle_job *)arg;
  for (uint32_t i = begin; i < end; ++i) {
    double p[3];
    moved_corner(job, i, p);
    for (int a = 0; a < 3; ++a) job->mesh->positions[3 * (size_t)i + (size_t)a] = (float)p[a];
  }
}

ooze_result oz_spline_settle_mesh(const ooze_surface *s, ooze_mesh *mesh, const oz_loop *loop,
                                  oz_corner_room **room, ooze_message *why) {
  float *spline = oz_spline_make(s, loop);
  settle_job job = {s, spline, mesh, NULL, {0.0f, 0.0f}, NULL};
  const int has_leftover = s->left.apart && !s->solid_count;
  if (has_leftover) job.room = (oz_corner_room *)oz_allocate(mesh->point_count, sizeof *job.room);
  const int ok = spline && (!has_leftover || job.room);
  if (ok) oz_loop_run(loop, mesh->point_count, settle_body, &job);
  oz_release(spline);
  *room = job.room;
  if (!ok)
    return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a mesh of %u points", mesh->point_count);
  return OOZE_OK;
}

ooze_result oz_spline_balance_mesh(const ooze_surface *s, ooze_mesh *mesh, oz_corner_room *room,
                                   const oz_loop *loop, ooze_message *why) {
  settle_job job = {s, NULL, mesh, room, {0.0f, 0.0f}, NULL};
  if (!room) return OOZE_OK;
  job.volume = (double *)oz_allocate(mesh->triangle_count / CHUNK + 1, sizeof *job.volume);
  if (!job.volume) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for the volume of a mesh");
  take(&job, 0, s->info.volume, TOLD_IN, TOLD_OUT, -0.1f, loop);
  take(&job, 1, s->particle_volume, 0.0f, 1.0f, 1.0f, loop);
  oz_loop_run(loop, mesh->point_count, move_body, &job);
  oz_release(job.volume);
  return OOZE_OK;
}
