/* Shapes as signed distances, as bricks for colliders, as triangles for pictures.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fill.h"

#include <math.h>
#include <stdlib.h>

void oz_shape_release(oz_shape *shape) {
  free(shape->profile);
  free(shape->capsules);
  free(shape->file);
  ooze_mesh_release(&shape->mesh);
  memset(shape, 0, sizeof *shape);
}

/* ---- The list ---------------------------------------------------------------------------- */

enum { DISTANCE = 1, SURFACE = 2, SIZED = 4 };
static const struct {
  const char *word, *keys;
  uint32_t solver;
  int traits;
} kinds[] = {
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) \
  {word, keys, OOZE_SHAPE_##solver, traits},
#include "shapes.def"
#undef OZ_SHAPE
};

int oz_shape_has_distance(const oz_shape *shape) { return kinds[shape->kind].traits & DISTANCE; }
int oz_shape_has_surface(const oz_shape *shape) { return kinds[shape->kind].traits & SURFACE; }
int oz_shape_is_sized(const oz_shape *shape) { return kinds[shape->kind].traits & SIZED; }
uint32_t oz_shape_of_solver(const oz_shape *shape) { return kinds[shape->kind].solver; }
const char *oz_shape_word(oz_shape_kind kind) { return kinds[kind].word; }
const char *oz_shape_keys(oz_shape_kind kind) { return kinds[kind].keys; }

/* ---- Distances --------------------------------------------------------------------------- */

/* Of numbers: without the rules for NaN, which cost a call each. */
static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }

static double length2(double x, double y) { return sqrt(x * x + y * y); }
static double length3(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double capsule(const float c[7], const double x[3]) {
  double along[3], from[3], dot = 0.0, l2 = 0.0;
  for (int k = 0; k < 3; k++) {
    along[k] = (double)c[3 + k] - (double)c[k];
    from[k] = x[k] - (double)c[k];
    dot += along[k] * from[k];
    l2 += along[k] * along[k];
  }
  double f = l2 > 0.0 ? least(most(dot / l2, 0.0), 1.0) : 0.0;
  for (int k = 0; k < 3; k++) from[k] -= f * along[k];
  return length3(from) - (double)c[6];
}

/* The outline in the half-plane (r, y): distance to its edges, sign by crossings. Edges on the axis
 * are no surface. */
static double revolve(const oz_shape *s, const double x[3]) {
  double r = length2(x[0], x[2]), y = x[1], best = 1e300;
  int inside = 0;
  for (uint32_t i = 0, j = s->profile_count - 1; i < s->profile_count; j = i++) {
    double ar = (double)s->profile[j][0], ay = (double)s->profile[j][1],
           br = (double)s->profile[i][0], by = (double)s->profile[i][1];
    if ((ay > y) != (by > y) && r < ar + (br - ar) * (y - ay) / (by - ay)) inside = !inside;
    if (ar <= 0.0 && br <= 0.0) continue;
    double er = br - ar, ey = by - ay, l2 = er * er + ey * ey;
    double f = l2 > 0.0 ? least(most(((r - ar) * er + (y - ay) * ey) / l2, 0.0), 1.0) : 0.0;
    double d = length2(r - ar - f * er, y - ay - f * ey);
    if (d < best) best = d;
  }
  return inside ? -best : best;
}

double oz_shape_distance(const oz_shape *s, const double x[3]) {
  switch (s->kind) {
  case OZ_SHAPE_REVOLVE:
    return revolve(s, x);
  case OZ_SHAPE_CAPSULES: {
    double best = 1e300;
    for (uint32_t i = 0; i < s->capsule_count; i++) best = least(best, capsule(s->capsules[i], x));
    return best;
  }
  default:
    return oz_primitive_distance(oz_shape_of_solver(s), s->half, x);
  }
}

int oz_shape_bounds(const oz_shape *s, double low[3], double high[3]) {
  double h[3];
  for (int k = 0; k < 3; k++) low[k] = 1e300, high[k] = -1e300;
  switch (s->kind) {
  case OZ_SHAPE_REVOLVE:
    for (uint32_t i = 0; i < s->profile_count; i++) {
      double r = (double)s->profile[i][0], y = (double)s->profile[i][1];
      high[0] = fmax(high[0], r);
      low[1] = fmin(low[1], y);
      high[1] = fmax(high[1], y);
    }
    high[2] = high[0];
    low[0] = low[2] = -high[0];
    return 1;
  case OZ_SHAPE_CAPSULES:
    for (uint32_t i = 0; i < s->capsule_count; i++)
      for (int k = 0; k < 3; k++)
        for (int e = 0; e < 2; e++) {
          double at = (double)s->capsules[i][3 * e + k], r = (double)s->capsules[i][6];
          low[k] = fmin(low[k], at - r);
          high[k] = fmax(high[k], at + r);
        }
    return 1;
  case OZ_SHAPE_MESH:
    for (uint32_t i = 0; i < s->mesh.point_count; i++)
      for (int k = 0; k < 3; k++) {
        low[k] = fmin(low[k], (double)s->mesh.positions[3 * (size_t)i + k]);
        high[k] = fmax(high[k], (double)s->mesh.positions[3 * (size_t)i + k]);
      }
    return s->mesh.point_count > 0;
  default:
    if (!oz_primitive_box(oz_shape_of_solver(s), s->half, h)) return 0;
  }
  for (int k = 0; k < 3; k++) low[k] = -h[k], high[k] = h[k];
  return 1;
}

/* ---- Thickness --------------------------------------------------------------------------- */

/* m: way from p along the unit vector d to the edge from a to b, whose outward normal points along
 * d more than across: OZ_BEYOND if it is missed. `side`: 1 or -1, the way round the outline goes.
 */
static double way_out(const double p[2], const double d[2], const double a[2], const double b[2],
                      double side) {
  const double e[2] = {b[0] - a[0], b[1] - a[1]}, r[2] = {a[0] - p[0], a[1] - p[1]},
               across = d[0] * e[1] - d[1] * e[0], length = sqrt(e[0] * e[0] + e[1] * e[1]);
  if (!(side * across > 0.5 * length)) return OZ_BEYOND;
  const double way = (r[0] * e[1] - r[1] * e[0]) / across,
               at = (r[0] * d[1] - r[1] * d[0]) / across;
  return way > 1e-6 * length && at >= 0.0 && at <= 1.0 ? way : OZ_BEYOND;
}

/* Thinnest wall of an outline that turns about the axis: from places along each edge straight
 * through to one that faces it, or to its image behind the axis. */
static double revolve_thickness(const oz_shape *s) {
  enum { PLACES = 3, EDGES = 2048 };
  const uint32_t n = s->profile_count, step = 1 + n / EDGES;
  double least = OZ_BEYOND, area = 0.0;
  for (uint32_t i = 0, j = n - 1; i < n; j = i++)
    area += (double)s->profile[j][0] * (double)s->profile[i][1] -
            (double)s->profile[i][0] * (double)s->profile[j][1];
  const double side = area > 0.0 ? 1.0 : -1.0;
  for (uint32_t i = 0; i < n; i += step) {
    const float *from = s->profile[i], *to = s->profile[(i + 1) % n];
    const double e[2] = {(double)to[0] - (double)from[0], (double)to[1] - (double)from[1]},
                 length = sqrt(e[0] * e[0] + e[1] * e[1]);
    if (!(length > 0.0) || (from[0] <= 0.0f && to[0] <= 0.0f)) continue; /* the axis is no wall */
    const double in[2] = {-side * e[1] / length, side * e[0] / length};
    for (int k = 1; k <= PLACES; k++) {
      const double part = k / (PLACES + 1.0),
                   at[2] = {(double)from[0] + part * e[0], (double)from[1] + part * e[1]};
      for (uint32_t m = 0, l = n - 1; m < n; l = m++) {
        const double a[2] = {(double)s->profile[l][0], (double)s->profile[l][1]},
                     b[2] = {(double)s->profile[m][0], (double)s->profile[m][1]},
                     image_a[2] = {-a[0], a[1]}, image_b[2] = {-b[0], b[1]};
        if (a[0] <= 0.0 && b[0] <= 0.0) continue;
        least = fmin(least, way_out(at, in, a, b, side));
        least = fmin(least, way_out(at, in, image_b, image_a, side));
      }
    }
  }
  return least;
}

double oz_shape_thickness(const oz_shape *s) {
  double least = OZ_BEYOND;
  if (s->kind == OZ_SHAPE_REVOLVE) return revolve_thickness(s);
  for (uint32_t i = 0; s->kind == OZ_SHAPE_CAPSULES && i < s->capsule_count; i++)
    least = fmin(least, 2.0 * (double)s->capsules[i][6]);
  return least;
}

/* m^2, of all pieces, whatever they overlap. */
static double shape_area(const oz_shape *s) {
  const double pi = 3.14159265358979;
  double area = 0.0;
  for (uint32_t i = 0, j = s->profile_count - 1; i < s->profile_count; j = i++) {
    const double x = (double)s->profile[i][0] - (double)s->profile[j][0],
                 y = (double)s->profile[i][1] - (double)s->profile[j][1];
    area += pi * sqrt(x * x + y * y) * ((double)s->profile[i][0] + (double)s->profile[j][0]);
  }
  for (uint32_t i = 0; i < s->capsule_count; i++) {
    const float *c = s->capsules[i];
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) length2 += pow((double)c[3 + k] - (double)c[k], 2.0);
    area += 2.0 * pi * (double)c[6] * (sqrt(length2) + 2.0 * (double)c[6]);
  }
  return area;
}

/* Bricks of a collider whose voxel is chosen: 16 MiB. */
#define FITTED_BRICKS 8192.0
/* Bricks for each that the surface alone would fill: samples reach outside and inside of it. */
#define BRICKS_A_SIDE 2.5

float oz_shape_voxel(const oz_shape *s, float separation) {
  const double fits = 0.5 * oz_shape_thickness(s),
               least = sqrt(shape_area(s) / 64.0 * BRICKS_A_SIDE / FITTED_BRICKS);
  return fits < (double)separation ? (float)fmin(fmax(fits, least), (double)separation)
                                   : separation;
}

/* ---- Bricks ------------------------------------------------------------------------------ */

/* Bricks of one collider, and pieces times blocks looked at: some seconds. Sanitizers are a hundred
 * times slower. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MOST = 1 << 10 };
static const double WORK = 1e6;
#else
enum { MOST = 1 << 16 };
static const double WORK = 1e8;
#endif

/* Bricks of a shape: the blocks of 8 x 8 x 8 samples near its surface. */
typedef struct brick_job {
  const oz_shape *shape;
  double voxel, outside, inside;
  int32_t first[3];
  uint32_t n[3]; /* blocks along each axis */
  uint32_t row;  /* the first one of a batch: blocks along z */
  uint8_t *near; /* of the blocks of a batch */
  ooze_sdf_brick *bricks;
} brick_job;

static void look_at_rows(void *arg, uint32_t begin, uint32_t end) {
  const brick_job *job = arg;
  const double v = job->voxel, reach = 3.5 * sqrt(3.0) * v;
  for (uint32_t r = begin; r < end; r++) {
    const uint32_t row = job->row + r, at[2] = {row / job->n[1], row % job->n[1]};
    double middle[3];
    for (int k = 0; k < 2; k++) middle[k] = v * (8 * (job->first[k] + (int32_t)at[k]) + 3.5);
    for (uint32_t z = 0; z < job->n[2]; z++) {
      middle[2] = v * (8 * (job->first[2] + (int32_t)z) + 3.5);
      const double d = oz_shape_distance(job->shape, middle);
      job->near[(size_t)r * job->n[2] + z] = d <= reach + job->outside && d >= -reach - job->inside;
    }
  }
}

static void fill_bricks(void *arg, uint32_t begin, uint32_t end) {
  const brick_job *job = arg;
  for (ooze_sdf_brick *b = job->bricks + begin; b < job->bricks + end; b++)
    for (int i = 0; i < 512; i++) {
      const double x[3] = {job->voxel * (b->origin[0] + i / 64),
                           job->voxel * (b->origin[1] + i / 8 % 8),
                           job->voxel * (b->origin[2] + i % 8)};
      b->values[i] = (float)oz_shape_distance(job->shape, x);
    }
}

static ooze_result too_many_samples(const char *who, double voxel, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_LIMIT,
                 "collider %s: too many samples at a voxel of %g m; expected a larger voxel", who,
                 voxel);
}

/* The near blocks of a batch of rows, in their order. */
static ooze_result keep_near(const brick_job *job, uint32_t rows, double pieces, const char *who,
                             size_t *room, ooze_sdf *out, ooze_message *why) {
  for (uint32_t i = 0; i < rows * job->n[2]; i++) {
    if (!job->near[i]) continue;
    if (out->brick_count == *room) {
      const size_t more = *room ? 2 * *room : 64;
      ooze_sdf_brick *grown = more <= MOST && 512.0 * (double)more * pieces < 40.0 * WORK
                                  ? realloc(out->bricks, more * sizeof *grown)
                                  : NULL;
      if (!grown) return too_many_samples(who, job->voxel, why);
      out->bricks = grown;
      *room = more;
    }
    const uint32_t row = job->row + i / job->n[2],
                   at[3] = {row / job->n[1], row % job->n[1], i % job->n[2]};
    ooze_sdf_brick *b = &out->bricks[out->brick_count++];
    for (int k = 0; k < 3; k++) b->origin[k] = 8 * (job->first[k] + (int32_t)at[k]);
  }
  return OOZE_OK;
}

/* Finds the bricks, batch by batch, and fills them. Batches are small enough for memory and large
 * enough for many threads. */
static ooze_result make_bricks(brick_job *job, const oz_loop *loop, double pieces, const char *who,
                               ooze_sdf *out, ooze_message *why) {
  enum { BLOCKS = 1 << 20 };
  const uint64_t rows = (uint64_t)job->n[0] * job->n[1];
  const uint32_t batch = job->n[2] < BLOCKS ? BLOCKS / job->n[2] : 1;
  size_t room = 0;
  ooze_result result = OOZE_OK;
  job->near = malloc((size_t)(batch < rows ? batch : rows) * job->n[2]);
  if (!job->near) return oz_fail(why, OOZE_ERROR_MEMORY, "collider %s: out of memory", who);
  for (uint64_t row = 0; row < rows && result >= 0; row += batch) {
    const uint32_t count = rows - row < batch ? (uint32_t)(rows - row) : batch;
    job->row = (uint32_t)row;
    oz_loop_run(loop, count, look_at_rows, job);
    result = keep_near(job, count, pieces, who, &room, out, why);
  }
  free(job->near);
  job->bricks = out->bricks;
  if (result >= 0) oz_loop_run(loop, out->brick_count, fill_bricks, job);
  return result;
}

/* Samples within 4 voxels outside and 8 inside: the depth from which a fast particle still finds
 * its way out. */
ooze_result oz_shape_bricks(const oz_shape *s, const char *who, float voxel, ooze_sdf *out,
                            ooze_message *why) {
  double low[3], high[3], v = (double)voxel;
  brick_job job = {.shape = s, .voxel = v, .outside = 4.0 * v, .inside = 8.0 * v};
  double blocks = 1.0;
  if (!oz_shape_bounds(s, low, high) || !(v > 0.0))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "collider %s: has no distance field", who);
  for (int k = 0; k < 3; k++) {
    double a = floor((low[k] - job.outside) / (8.0 * v)),
           b = floor((high[k] + job.outside) / (8.0 * v));
    if (a < -100000.0 || b > 100000.0)
      return oz_fail(why, OOZE_ERROR_LIMIT,
                     "collider %s: a voxel of %g m is too small for its size; expected more", who,
                     v);
    job.first[k] = (int32_t)a;
    job.n[k] = (uint32_t)(b - a + 1.0);
    blocks *= b - a + 1.0;
  }
  /* the work to be done: an outline or a figure of many pieces at a small voxel must not take
   * minutes */
  double pieces = s->kind == OZ_SHAPE_REVOLVE    ? s->profile_count
                  : s->kind == OZ_SHAPE_CAPSULES ? s->capsule_count
                                                 : 1.0;
  if (blocks * pieces > WORK)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "collider %s: %g blocks at a voxel of %g m; expected a larger voxel", who,
                   blocks, v);
  ooze_sdf_default(out);
  out->voxel = voxel;
  out->closed = 1;
  for (int k = 0; k < 3; k++) out->lower[k] = (float)low[k], out->upper[k] = (float)high[k];
  oz_loop loop;
  oz_loop_open(&loop, NULL, 0);
  const ooze_result result = make_bricks(&job, &loop, pieces, who, out, why);
  oz_loop_close(&loop);
  if (result >= 0 && out->brick_count) return OOZE_OK;
  ooze_sdf_free(out);
  return result < 0 ? result : oz_fail(why, OOZE_ERROR_ARGUMENT, "collider %s: is empty", who);
}

/* ---- Triangles --------------------------------------------------------------------------- */

ooze_result oz_shape_tessellate(const oz_shape *s, ooze_mesh *out, ooze_message *why) {
  enum { AROUND = 64 };
  uint32_t n = s->profile_count;
  double area = 0.0; /* which way round the outline goes */
  for (uint32_t i = 0, j = n - 1; i < n; j = i++)
    area += (double)s->profile[j][0] * (double)s->profile[i][1] -
            (double)s->profile[i][0] * (double)s->profile[j][1];
  OZ_TRY_OK(ooze_mesh_allocate(out, n * AROUND, (uint64_t)2 * n * AROUND, 0, why));
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t a = 0; a < AROUND; a++) {
      double angle = 6.283185307179586 * a / AROUND;
      float *p = out->positions + 3 * ((size_t)i * AROUND + a);
      p[0] = (float)((double)s->profile[i][0] * cos(angle));
      p[1] = s->profile[i][1];
      p[2] = (float)((double)s->profile[i][0] * sin(angle));
    }
  uint32_t *t = out->triangles;
  for (uint32_t j = n - 1, i = 0; i < n; j = i++)
    for (uint32_t a = 0; a < AROUND; a++) {
      uint32_t b = (a + 1) % AROUND, p = j * AROUND + a, q = j * AROUND + b, u = i * AROUND + a,
               w = i * AROUND + b;
      const uint32_t two[6] = {p, u, q, q, u, w};
      for (int k = 0; k < 6; k++) *t++ = area > 0.0 ? two[k] : two[k < 3 ? 2 - k : 8 - k];
    }
  return OOZE_OK;
}
