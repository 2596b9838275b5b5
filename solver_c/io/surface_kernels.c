/* One kernel a particle. The field is sum V_j k_j, with k_j = (1 - q^2)^3 over an ellipsoid and V_j = 1 / sum_k k_k(x_j):
 * so it is about 1 at every particle, in a drop, a strand, a sheet or the bulk, and the surface (0.5) lies at nearly the
 * same distance from the outermost particles in all of them. That is what keeps strands and drops from shrinking, which
 * the plain SPH volume m / rho of Yu & Turk (2013) does not.
 *
 * Anisotropic kernels follow Yu & Turk: weighted covariance of the neighbourhood, its axes scaled to the fluid's shape
 * and clamped, and centres moved to take out noise. Their smoothing pulls the whole surface inwards; here the mean pull of
 * the particles alongside is taken out again (after Vollmer's HC smoothing of meshes), so only the noise goes. */
#include "surface_internal.h"

#include <math.h>

#define NEIGHBOURHOOD 2.5f /* separations: 65 neighbours in the bulk, enough for a steady covariance */
#define CROWD 2.0f         /* separations: radius in which neighbours are counted */
#define MAX_SHIFT 0.3f     /* separations: no centre moves further, so that a strand's end stays where it is */

typedef struct kernel_job {
  const oz_kernel_desc *d;
  const oz_cells *c;
  oz_kernel *k;
  float *shift;  /* 3 a particle: from the particle to the weighted mean of its neighbourhood */
  float *crowd;  /* a particle: 1 alone, 1.84 in a strand, about 3 in a sheet, 5 in the bulk */
  float reach;   /* m: of the kernels as they are now */
} kernel_job;

/* The support, in separations, across a thin direction: gives a lone particle, a strand and a sheet the radius (0.62,
 * 0.564, 0.5 separations) at which each has the volume of its particles. */
static float thin_width(float crowd) {
  if (crowd < 1.84f) return OZ_LONE_WIDTH + (1.33f - OZ_LONE_WIDTH) * (crowd - 1.0f) / 0.84f;
  if (crowd < 3.2f) return 1.33f + (1.28f - 1.33f) * (crowd - 1.84f) / 1.36f;
  return 1.28f + 0.07f * fminf((crowd - 3.2f) / 0.8f, 1.0f); /* bulk: the layer below weakens the top one's V */
}

/* Calls for every particle of the cells around x, in cell order: the order of all sums. */
#define FOR_NEIGHBOURS(c, p, radius, j)                                                                                  \
  for (int cx_ = (int)floorf(((p)[0] - (radius)) / (c)->cell), ex_ = (int)floorf(((p)[0] + (radius)) / (c)->cell); cx_ <= ex_; ++cx_) \
    for (int cy_ = (int)floorf(((p)[1] - (radius)) / (c)->cell), ey_ = (int)floorf(((p)[1] + (radius)) / (c)->cell); cy_ <= ey_; ++cy_) \
      for (int cz_ = (int)floorf(((p)[2] - (radius)) / (c)->cell), ez_ = (int)floorf(((p)[2] + (radius)) / (c)->cell); cz_ <= ez_; ++cz_) \
        for (uint32_t j = 0, end_ = 0, found_ = (uint32_t)oz_cells_find((c), cx_, cy_, cz_, &j, &end_); found_ && j < end_; ++j)

static void set_round(oz_kernel *k, const float *x, float width) {
  float a = 1.0f / (width * width);
  memcpy(k->x, x, sizeof k->x);
  k->weight = 1.0f;
  k->a[0] = k->a[1] = k->a[2] = a;
  k->a[3] = k->a[4] = k->a[5] = 0.0f;
  k->extent[0] = k->extent[1] = k->extent[2] = width;
}

static void round_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  float d = job->d->separation, radius = CROWD * d, inv = 1.0f / (radius * radius);
  for (uint32_t i = begin; i < end; ++i) {
    const float *x = job->c->x + 3 * (size_t)i;
    float crowd = 0.0f, t;
    FOR_NEIGHBOURS(job->c, x, radius, j) {
      const float *y = job->c->x + 3 * (size_t)j;
      float dx = y[0] - x[0], dy = y[1] - x[1], dz = y[2] - x[2], q = 1.0f - (dx * dx + dy * dy + dz * dz) * inv;
      if (q > 0.0f) crowd += q * q * q;
    }
    /* In the bulk a wider kernel closes the gaps that disorder leaves; at its surface crowd is about 4.1. */
    t = crowd < 4.0f ? 0.0f : crowd > 4.8f ? 1.0f : (crowd - 4.0f) / 0.8f;
    set_round(&job->k[i], x, d * (thin_width(crowd) + 0.4f * t));
  }
}

/* Cyclic Jacobi on a symmetric 3x3; columns of v are the axes. Six sweeps are far past convergence in float. */
static void eigen3(const double m[6], double value[3], double v[3][3]) {
  double a[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};
  static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  int sweep, n, r;
  for (n = 0; n < 3; ++n)
    for (r = 0; r < 3; ++r) v[n][r] = n == r;
  for (sweep = 0; sweep < 6; ++sweep)
    for (n = 0; n < 3; ++n) {
      int p = pairs[n][0], q = pairs[n][1];
      double t, c, s, theta;
      if (fabs(a[p][q]) <= 1e-14 * (fabs(a[p][p]) + fabs(a[q][q]))) continue;
      theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
      t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
      c = 1.0 / sqrt(t * t + 1.0);
      s = t * c;
      for (r = 0; r < 3; ++r) {
        double x = a[r][p], y = a[r][q];
        a[r][p] = c * x - s * y;
        a[r][q] = s * x + c * y;
      }
      for (r = 0; r < 3; ++r) {
        double x = a[p][r], y = a[q][r];
        a[p][r] = c * x - s * y;
        a[q][r] = s * x + c * y;
      }
      for (r = 0; r < 3; ++r) {
        double x = v[r][p], y = v[r][q];
        v[r][p] = c * x - s * y;
        v[r][q] = s * x + c * y;
      }
    }
  for (n = 0; n < 3; ++n) value[n] = a[n][n];
}

static void covariance_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  float d = job->d->separation, radius = NEIGHBOURHOOD * d, inv = 1.0f / radius;
  float crowd_inv = 1.0f / (CROWD * CROWD * d * d);
  double bulk = 0.15 * radius * radius; /* variance along an axis of a full ball under the weight 1 - q^3 */
  for (uint32_t i = begin; i < end; ++i) {
    const float *x = job->c->x + 3 * (size_t)i;
    float w = 0.0f, m[3] = {0}, s[6] = {0}, crowd = 0.0f, thin, width[3];
    double cov[6], value[3], axis[3][3];
    oz_kernel *k = &job->k[i];
    int a, b;
    FOR_NEIGHBOURS(job->c, x, radius, j) {
      const float *y = job->c->x + 3 * (size_t)j;
      float dx = y[0] - x[0], dy = y[1] - x[1], dz = y[2] - x[2], r2 = dx * dx + dy * dy + dz * dz;
      float q = sqrtf(r2) * inv, g, c = 1.0f - r2 * crowd_inv;
      if (q >= 1.0f) continue;
      g = 1.0f - q * q * q;
      w += g;
      m[0] += g * dx; m[1] += g * dy; m[2] += g * dz;
      s[0] += g * dx * dx; s[1] += g * dy * dy; s[2] += g * dz * dz;
      s[3] += g * dx * dy; s[4] += g * dx * dz; s[5] += g * dy * dz;
      if (c > 0.0f) crowd += c * c * c;
    }
    for (a = 0; a < 3; ++a) m[a] /= w; /* w is at least 1: the particle itself */
    cov[0] = s[0] / w - m[0] * m[0]; cov[1] = s[1] / w - m[1] * m[1]; cov[2] = s[2] / w - m[2] * m[2];
    cov[3] = s[3] / w - m[0] * m[1]; cov[4] = s[4] / w - m[0] * m[2]; cov[5] = s[5] / w - m[1] * m[2];
    eigen3(cov, value, axis);
    memcpy(job->shift + 3 * (size_t)i, m, sizeof m);
    job->crowd[i] = crowd;
    /* Wide where the fluid goes on, thin where it ends: 0.4 is the variance ratio across a flat free surface. */
    thin = thin_width(crowd);
    if (crowd > 3.2f) thin += 0.11f * fminf((crowd - 3.2f) / 0.8f, 1.0f); /* and more so when it is wide */
    for (a = 0; a < 3; ++a) {
      float t = (float)((value[a] / bulk - 0.45) / 0.5);
      t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
      t = t * t * (3.0f - 2.0f * t);
      width[a] = d * (thin + (job->d->max_stretch - 1.0f) * thin * t);
    }
    memcpy(k->x, x, sizeof k->x);
    k->weight = 1.0f;
    for (a = 0; a < 6; ++a) {
      static const int rows[6] = {0, 1, 2, 0, 0, 1}, cols[6] = {0, 1, 2, 1, 2, 2};
      double sum = 0.0;
      for (b = 0; b < 3; ++b) sum += axis[rows[a]][b] * axis[cols[a]][b] / ((double)width[b] * width[b]);
      k->a[a] = (float)sum;
    }
    for (a = 0; a < 3; ++a) {
      double sum = 0.0;
      for (b = 0; b < 3; ++b) sum += axis[a][b] * axis[a][b] * width[b] * width[b];
      k->extent[a] = (float)sqrt(sum) * 1.0001f; /* never cut a row that still has weight */
    }
  }
}

static float kernel_at(const oz_kernel *k, float dx, float dy, float dz) {
  float q = 1.0f - (k->a[0] * dx * dx + k->a[1] * dy * dy + k->a[2] * dz * dz +
                    2.0f * (k->a[3] * dx * dy + k->a[4] * dx * dz + k->a[5] * dy * dz));
  return q > 0.0f ? q * q * q : 0.0f;
}

/* Takes the noise out of the centres: the pull to the neighbourhood's mean, less the mean pull of those alongside. The
 * particle's own flat kernel says who is alongside, so a surface layer is compared with itself, not with what is below. */
static void smooth_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  float limit = MAX_SHIFT * job->d->separation;
  for (uint32_t i = begin; i < end; ++i) {
    const float *x = job->c->x + 3 * (size_t)i;
    oz_kernel *k = &job->k[i];
    float reach = fmaxf(k->extent[0], fmaxf(k->extent[1], k->extent[2])), w = 0.0f, m[3] = {0}, move[3], length = 0.0f;
    int a;
    FOR_NEIGHBOURS(job->c, x, reach, j) {
      const float *y = job->c->x + 3 * (size_t)j, *s = job->shift + 3 * (size_t)j;
      float g = kernel_at(k, y[0] - x[0], y[1] - x[1], y[2] - x[2]);
      w += g;
      m[0] += g * s[0]; m[1] += g * s[1]; m[2] += g * s[2];
    }
    for (a = 0; a < 3; ++a) {
      move[a] = job->d->position_smoothing * (job->shift[3 * (size_t)i + a] - m[a] / w);
      length += move[a] * move[a];
    }
    length = sqrtf(length);
    for (a = 0; a < 3; ++a) k->x[a] = x[a] + (length > limit ? move[a] * limit / length : move[a]);
  }
}

/* V = 1 / (sum of all kernels at the particle's centre); kept beside until every one has been read. */
static void weight_body(void *arg, uint32_t begin, uint32_t end) {
  kernel_job *job = (kernel_job *)arg;
  for (uint32_t i = begin; i < end; ++i) {
    const float *x = job->k[i].x;
    float sum = 0.0f;
    FOR_NEIGHBOURS(job->c, x, job->reach, j) {
      const float *y = job->k[j].x;
      sum += kernel_at(&job->k[j], y[0] - x[0], y[1] - x[1], y[2] - x[2]);
    }
    job->crowd[i] = 1.0f / fmaxf(sum, 1.0f); /* its own share is 1 */
  }
}

ooze_result oz_kernels_make(const oz_kernel_desc *d, const oz_cells *c, const oz_tasks *tasks, oz_kernel *kernels,
                            float *out_reach, ooze_message *why) {
  kernel_job job;
  float widest = 0.0f;
  uint32_t i;
  int a;
  memset(&job, 0, sizeof job);
  job.d = d;
  job.c = c;
  job.k = kernels;
  job.crowd = (float *)oz_allocate(c->count, sizeof(float));
  job.shift = d->anisotropic ? (float *)oz_allocate(c->count, 3 * sizeof(float)) : NULL;
  if (!job.crowd || (d->anisotropic && !job.shift)) {
    oz_release(job.crowd);
    oz_release(job.shift);
    return oz_surface_fail(why, OOZE_ERROR_MEMORY, "no memory for the kernels of %u particles", c->count);
  }
  if (d->anisotropic) {
    oz_tasks_run(tasks, c->count, covariance_body, &job);
    if (d->position_smoothing > 0.0f) oz_tasks_run(tasks, c->count, smooth_body, &job);
  } else {
    oz_tasks_run(tasks, c->count, round_body, &job);
  }
  for (i = 0; i < c->count; ++i)
    for (a = 0; a < 3; ++a) widest = fmaxf(widest, kernels[i].extent[a]);
  /* Cells hold particles by their unmoved positions. */
  *out_reach = widest + (d->anisotropic && d->position_smoothing > 0.0f ? MAX_SHIFT * d->separation : 0.0f);
  job.reach = *out_reach;
  oz_tasks_run(tasks, c->count, weight_body, &job);
  for (i = 0; i < c->count; ++i) kernels[i].weight = job.crowd[i];
  oz_release(job.crowd);
  oz_release(job.shift);
  return OOZE_OK;
}
