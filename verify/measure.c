/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rigid fit ---- */

/* The eigenvector of the largest eigenvalue of a symmetric 4x4 matrix, by Jacobi rotations. */
static void largest_eigenvector(double a[4][4], double q[4]) {
  double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (int sweep = 0; sweep < 50; ++sweep) {
    double off = 0.0, diagonal = 0.0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) *(i == j ? &diagonal : &off) += a[i][j] * a[i][j];
    if (off <= 1e-30 * diagonal) break;
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 4; ++j) {
        if (a[i][j] == 0.0) continue;
        double theta = 0.5 * (a[j][j] - a[i][i]) / a[i][j];
        double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(1.0 + theta * theta));
        double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
        for (int k = 0; k < 4; ++k) {
          double x = a[k][i], y = a[k][j];
          a[k][i] = c * x - s * y;
          a[k][j] = s * x + c * y;
        }
        for (int k = 0; k < 4; ++k) {
          double x = a[i][k], y = a[j][k];
          a[i][k] = c * x - s * y;
          a[j][k] = s * x + c * y;
        }
        for (int k = 0; k < 4; ++k) {
          double x = v[k][i], y = v[k][j];
          v[k][i] = c * x - s * y;
          v[k][j] = s * x + c * y;
        }
      }
  }
  int best = 0;
  for (int i = 1; i < 4; ++i)
    if (a[i][i] > a[best][best]) best = i;
  for (int k = 0; k < 4; ++k) q[k] = v[k][best];
}

static void centroid(measure_points x, uint32_t count, double c[3]) {
  c[0] = c[1] = c[2] = 0.0;
  for (uint32_t i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a) c[a] += (double)x[i][a];
  for (int a = 0; a < 3; ++a) c[a] /= count ? count : 1;
}

double measure_rigid_rms(measure_points x, measure_points reference, uint32_t count) {
  double c[3], c0[3], s[3][3] = {{0}}, q[4], sum = 0.0;
  if (!count) return 0.0;
  centroid(x, count, c);
  centroid(reference, count, c0);
  for (uint32_t i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        s[a][b] += ((double)reference[i][a] - c0[a]) * ((double)x[i][b] - c[b]);
  double n[4][4] = {
      {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
      {s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
      {s[2][0] - s[0][2], s[0][1] + s[1][0], -s[0][0] + s[1][1] - s[2][2], s[1][2] + s[2][1]},
      {s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], -s[0][0] - s[1][1] + s[2][2]}};
  largest_eigenvector(n, q);
  double w = q[0], i1 = q[1], i2 = q[2], i3 = q[3];
  double r[3][3] = {
      {w * w + i1 * i1 - i2 * i2 - i3 * i3, 2 * (i1 * i2 - w * i3), 2 * (i1 * i3 + w * i2)},
      {2 * (i1 * i2 + w * i3), w * w - i1 * i1 + i2 * i2 - i3 * i3, 2 * (i2 * i3 - w * i1)},
      {2 * (i1 * i3 - w * i2), 2 * (i2 * i3 + w * i1), w * w - i1 * i1 - i2 * i2 + i3 * i3}};
  for (uint32_t i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a) {
      double e = (double)x[i][a] - c[a];
      for (int b = 0; b < 3; ++b) e -= r[a][b] * ((double)reference[i][b] - c0[b]);
      sum += e * e;
    }
  return sqrt(sum / count);
}

/* ---- bodies ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double measure_percentile(double *values, size_t count, double fraction) {
  if (!count) return 0.0;
  qsort(values, count, sizeof *values, ascending);
  double at = fraction * (double)(count - 1);
  size_t i = (size_t)at;
  if (i + 1 >= count) return values[count - 1];
  return values[i] + (at - (double)i) * (values[i + 1] - values[i]);
}

/* Mean of the k largest; sorts. */
static double mean_of_largest(double *values, uint32_t count, uint32_t k) {
  double sum = 0.0;
  if (!count) return 0.0;
  if (k < 1) k = 1;
  if (k > count) k = count;
  qsort(values, count, sizeof *values, ascending);
  for (uint32_t i = 0; i < k; ++i) sum += values[count - 1 - i];
  return sum / k;
}

double measure_surface(measure_points x, uint32_t count, uint32_t k) {
  double *y = malloc((count ? count : 1) * sizeof *y), mean;
  if (!y) return NAN;
  for (uint32_t i = 0; i < count; ++i) y[i] = (double)x[i][1];
  mean = mean_of_largest(y, count, k);
  free(y);
  return mean;
}

void measure(measure_points x, measure_points v, const float *compression, uint32_t count,
             measure_body *out) {
  measure_body b;
  double p[3] = {0, 0, 0}, squeeze = 0.0, *far = malloc((count ? count : 1) * sizeof *far);
  uint32_t inner = 0;
  memset(&b, 0, sizeof b);
  b.finite = 1;
  for (int a = 0; a < 3; ++a) {
    b.low[a] = (double)INFINITY;
    b.high[a] = -(double)INFINITY;
  }
  b.max_compression = -1.0;
  centroid(x, count, b.centre);
  for (uint32_t i = 0; i < count; ++i) {
    double r[3], u[3], speed2 = 0.0;
    for (int a = 0; a < 3; ++a) {
      double y = (double)x[i][a];
      if (!isfinite(y)) b.finite = 0;
      if (y < b.low[a]) b.low[a] = y;
      if (y > b.high[a]) b.high[a] = y;
      r[a] = y - b.centre[a];
      u[a] = (double)v[i][a];
      p[a] += u[a];
      speed2 += u[a] * u[a];
    }
    b.kinetic += 0.5 * speed2;
    if (sqrt(speed2) > b.max_speed) b.max_speed = sqrt(speed2);
    b.spin[0] += r[1] * u[2] - r[2] * u[1];
    b.spin[1] += r[2] * u[0] - r[0] * u[2];
    b.spin[2] += r[0] * u[1] - r[1] * u[0];
    double distance = sqrt(r[0] * r[0] + r[2] * r[2]);
    if (distance > b.radius) b.radius = distance;
    if (far) far[i] = distance;
    if (compression) {
      double e = (double)compression[i];
      if (e > -0.05) {
        squeeze += e > 0.0 ? e : 0.0;
        ++inner;
      }
      if (e > b.max_compression) b.max_compression = e;
    }
  }
  if (count) {
    b.kinetic /= count;
    for (int a = 0; a < 3; ++a) b.spin[a] /= count;
    b.drift = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / count;
  }
  b.mean_compression = inner ? squeeze / inner : 0.0;
  b.front = far ? mean_of_largest(far, count, count / 50) : (double)NAN;
  b.top = measure_surface(x, count, count / 50);
  free(far);
  *out = b;
}

/* ---- components ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static uint32_t cell_slot(long cx, long cy, long cz, uint32_t mask) {
  uint32_t h = (uint32_t)cx * 73856093u ^ (uint32_t)cy * 19349663u ^ (uint32_t)cz * 83492791u;
  h ^= h >> 15;
  return h & mask;
}

double measure_pieces(measure_points x, uint32_t count, double reach, double floor_height,
                      uint32_t least, uint32_t *out_pieces, double *out_in_them) {
  uint32_t slots = 64, kept = 0, largest = 0;
  while (slots < 2u * count && slots < (1u << 30)) slots *= 2;
  const uint32_t none = UINT32_MAX;
  uint32_t *head = malloc(slots * sizeof *head), *next = malloc((count + 1) * sizeof *next),
           *parent = malloc((count + 1) * sizeof *parent),
           *size = calloc((size_t)count + 1, sizeof *size);
  double share = 0.0;
  *out_pieces = 0;
  *out_in_them = 0.0;
  if (!head || !next || !parent || !size) goto done;
  for (uint32_t s = 0; s < slots; ++s) head[s] = none;
  for (uint32_t i = 0; i < count; ++i) {
    parent[i] = i;
    if (!((double)x[i][1] > floor_height) || !isfinite((double)x[i][0]) ||
        !isfinite((double)x[i][2]))
      continue;
    ++kept;
    long c[3];
    for (int a = 0; a < 3; ++a) c[a] = (long)floor((double)x[i][a] / reach);
    /* join with those already in the table, then enter it */
    for (int k = 0; k < 27; ++k) {
      uint32_t slot =
          cell_slot(c[0] + k % 3 - 1, c[1] + k / 3 % 3 - 1, c[2] + k / 9 - 1, slots - 1);
      for (uint32_t j = head[slot]; j != none; j = next[j]) {
        double distance2 = 0.0;
        for (int a = 0; a < 3; ++a) {
          double e = (double)x[i][a] - (double)x[j][a];
          distance2 += e * e;
        }
        if (distance2 < reach * reach) parent[root_of(parent, i)] = root_of(parent, j);
      }
    }
    uint32_t own = cell_slot(c[0], c[1], c[2], slots - 1);
    next[i] = head[own];
    head[own] = i;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!((double)x[i][1] > floor_height)) continue;
    uint32_t r = root_of(parent, i);
    if (++size[r] > largest) largest = size[r];
  }
  share = kept ? (double)largest / kept : 0.0;
  for (uint32_t i = 0; i < count; ++i)
    if (size[i] >= least) ++*out_pieces, *out_in_them += (double)size[i] / kept;
done:
  free(head);
  free(next);
  free(parent);
  free(size);
  return share;
}

double measure_largest_component(measure_points x, uint32_t count, double reach,
                                 double floor_height) {
  uint32_t pieces;
  double inside;
  return measure_pieces(x, count, reach, floor_height, UINT32_MAX, &pieces, &inside);
}

/* ---- streams ---- */

void measure_stream_begin(measure_stream *s, double low, double high) {
  memset(s, 0, sizeof *s);
  s->low = low;
  s->high = high;
}

/* Sections of a stream two separations high, each with a centre and an axis of its own; one more at
 * either end. */
enum { SECTIONS = 512 };
typedef struct sections {
  double thin; /* m: the height of one */
  long first;
  int count;
  double n[SECTIONS], centre[SECTIONS][3], axis[SECTIONS][3];
} sections;

static int section_of(const sections *c, double y) { /* -1: in none */
  const long k = (long)floor(y / c->thin) - c->first;
  return k < 0 || k >= c->count ? -1 : (int)k;
}

static int slab_of(const measure_stream *s, double y) { /* -1: in none */
  if (!(y >= s->low && y < s->high)) return -1;
  const int b = (int)((y - s->low) / ((s->high - s->low) / MEASURE_SLABS));
  return b < MEASURE_SLABS ? b : MEASURE_SLABS - 1;
}

/* The axis goes through the centres above and below; it is upright where there are none. */
static void find_axes(sections *c) {
  for (int k = 0; k < c->count; ++k) {
    double *axis = c->axis[k];
    axis[0] = axis[2] = 0.0, axis[1] = 1.0;
    if (k == 0 || k == c->count - 1 || c->n[k - 1] < 3.0 || c->n[k + 1] < 3.0) continue;
    double t[3], length = 0.0;
    for (int e = 0; e < 3; ++e) {
      t[e] = c->centre[k + 1][e] - c->centre[k - 1][e];
      length += t[e] * t[e];
    }
    for (int e = 0; e < 3; ++e) axis[e] = t[e] / sqrt(length);
  }
}

static void find_sections(sections *c, const measure_stream *s, measure_points x, uint32_t count,
                          double separation) {
  memset(c, 0, sizeof *c);
  c->thin = 2.0 * separation;
  c->first = (long)floor(s->low / c->thin) - 1;
  const long last = (long)ceil(s->high / c->thin) + 1;
  c->count = last - c->first > SECTIONS ? SECTIONS : (int)(last - c->first);
  for (uint32_t i = 0; i < count; ++i) {
    const int k = section_of(c, (double)x[i][1]);
    if (k < 0) continue;
    c->n[k] += 1.0;
    for (int e = 0; e < 3; ++e) c->centre[k][e] += (double)x[i][e];
  }
  for (int k = 0; k < c->count; ++k)
    for (int e = 0; e < 3 && c->n[k] > 0.0; ++e) c->centre[k][e] /= c->n[k];
  find_axes(c);
}

/* Square of a particle's distance from the axis of its section. */
static double off_axis2(const sections *c, int k, const float *x) {
  double e[3], along = 0.0, far = 0.0;
  for (int q = 0; q < 3; ++q) {
    e[q] = (double)x[q] - c->centre[k][q];
    along += e[q] * c->axis[k][q];
  }
  for (int q = 0; q < 3; ++q)
    far += (e[q] - along * c->axis[k][q]) * (e[q] - along * c->axis[k][q]);
  return far;
}

/* The largest gap along the fall. */
static void find_gap(measure_stream *s, measure_points x, uint32_t count, double separation) {
  double *y = malloc((count ? count : 1) * sizeof *y);
  uint32_t m = 0;
  if (!y) return;
  for (uint32_t i = 0; i < count; ++i)
    if ((double)x[i][1] > s->low && (double)x[i][1] < s->high + separation)
      y[m++] = (double)x[i][1];
  qsort(y, m, sizeof *y, ascending);
  for (uint32_t i = 1; i < m; ++i)
    if (y[i] - y[i - 1] > s->gap) s->gap = y[i] - y[i - 1];
  free(y);
}

void measure_stream_add(measure_stream *s, measure_points x, measure_points v, uint32_t count,
                        double separation) {
  sections c;
  double speed[MEASURE_SLABS] = {0}, inside[MEASURE_SLABS] = {0}, used[MEASURE_SLABS] = {0},
         sum[MEASURE_SLABS] = {0}, full[MEASURE_SLABS] = {0};
  find_sections(&c, s, x, count, separation);
  for (uint32_t i = 0; i < count; ++i) {
    const int k = section_of(&c, (double)x[i][1]), b = slab_of(s, (double)x[i][1]);
    if (k < 0 || b < 0) continue;
    speed[b] -= (double)v[i][1];
    inside[b] += 1.0;
    if (c.n[k] < 2.0) continue;
    /* the unbiased estimate: the centre is that of the sample */
    sum[b] += off_axis2(&c, k, x[i]) * c.n[k] / (c.n[k] - 1.0);
    full[b] += c.axis[k][1] * c.n[k]; /* particles on a length of `thin` along the axis */
    used[b] += 1.0;
  }
  for (int b = 0; b < MEASURE_SLABS; ++b) {
    if (inside[b] < 3.0 || used[b] == 0.0) continue;
    s->frames[b] += 1.0;
    s->speed[b] += speed[b] / inside[b];
    s->full2[b] += full[b] / used[b] * separation * separation * separation / (MEASURE_PI * c.thin);
    s->radius2[b] += 2.0 * sum[b] / used[b];
  }
  find_gap(s, x, count, separation);
}

double measure_stream_height(const measure_stream *s, int slab) {
  return s->low + (slab + 0.5) * (s->high - s->low) / MEASURE_SLABS;
}
double measure_stream_speed(const measure_stream *s, int slab) {
  return s->frames[slab] > 0.0 ? s->speed[slab] / s->frames[slab] : (double)NAN;
}
double measure_stream_full(const measure_stream *s, int slab) {
  return s->frames[slab] > 0.0 ? sqrt(s->full2[slab] / s->frames[slab]) : (double)NAN;
}
double measure_stream_radius(const measure_stream *s, int slab) {
  return s->frames[slab] > 0.0 ? sqrt(s->radius2[slab] / s->frames[slab]) : (double)NAN;
}

int measure_contact(measure_points x, measure_points v, uint32_t count, double separation,
                    double top, double radius, double out[3]) {
  enum { MOST = 1024 };
  double thin = 2.0 * separation;
  int slabs = (int)(top / thin);
  double n[MOST] = {0}, cx[MOST] = {0}, cz[MOST] = {0}, fall[MOST] = {0}, r2[MOST] = {0};
  if (slabs < 2) return 0;
  if (slabs > MOST) slabs = MOST;
  for (int pass = 0; pass < 2; ++pass)
    for (uint32_t i = 0; i < count; ++i) {
      int k = (int)floor((double)x[i][1] / thin);
      if (k < 0 || k >= slabs) continue;
      if (pass == 0) {
        n[k] += 1.0;
        cx[k] += (double)x[i][0];
        cz[k] += (double)x[i][2];
        fall[k] -= (double)v[i][1];
      } else {
        double ex = (double)x[i][0] - cx[k] / n[k], ez = (double)x[i][2] - cz[k] / n[k];
        r2[k] += ex * ex + ez * ez;
      }
    }
  /* Downwards: the last slab that is as narrow as a stream and not yet slowed to half of the
   * fastest above it. */
  double fastest = 0.0;
  int found = -1;
  for (int k = slabs - 1; k >= 0; --k) {
    if (n[k] < 3.0) break; /* the stream has not come down this far */
    double speed = fall[k] / n[k], spread = sqrt(2.0 * r2[k] / n[k]);
    if (speed > fastest) fastest = speed;
    if (speed < 0.5 * fastest || spread > 1.5 * radius) break;
    found = k;
  }
  if (found < 0 || n[found > 0 ? found - 1 : 0] < 3.0) return 0;
  out[0] = cx[found] / n[found];
  out[1] = (found + 0.5) * thin;
  out[2] = cz[found] / n[found];
  return 1;
}

void measure_turns_begin(measure_turns *t, double least) {
  memset(t, 0, sizeof *t);
  t->least = least;
}

void measure_turns_add(measure_turns *t, double x, double z) {
  double r = sqrt(x * x + z * z), azimuth = atan2(z, x);
  if (!(r >= t->least)) return;
  if (t->samples) {
    double turn = azimuth - t->last;
    while (turn > MEASURE_PI) turn -= 2.0 * MEASURE_PI;
    while (turn < -MEASURE_PI) turn += 2.0 * MEASURE_PI;
    t->net += turn;
    t->total += fabs(turn);
  }
  t->last = azimuth;
  t->radius += r;
  ++t->samples;
}

int measure_slender_jet(double density, double viscosity, double gravity, double length,
                        double first, double last, int nodes, double *speed) {
  /* With w = ln v: v^2 w' = g + 3 nu v w''. Central differences, Newton, tridiagonal solve. */
  enum { MOST = 512 };
  double w[MOST], lower[MOST], middle[MOST], upper[MOST], right[MOST];
  double nu3 = 3.0 * viscosity / density, dx;
  if (nodes < 3 || nodes > MOST || !(first > 0.0) || !(last > 0.0) || !(length > 0.0) ||
      !(nu3 > 0.0))
    return 0;
  dx = length / (nodes - 1);
  for (int i = 0; i < nodes; ++i) w[i] = log(first) + (log(last) - log(first)) * i / (nodes - 1);
  for (int round = 0; round < 100; ++round) {
    double change = 0.0;
    for (int i = 1; i < nodes - 1; ++i) {
      double v = exp(w[i]), d1 = (w[i + 1] - w[i - 1]) / (2.0 * dx),
             d2 = (w[i + 1] - 2.0 * w[i] + w[i - 1]) / (dx * dx);
      right[i] = -(v * v * d1 - gravity - nu3 * v * d2);
      lower[i] = -v * v / (2.0 * dx) - nu3 * v / (dx * dx);
      upper[i] = v * v / (2.0 * dx) - nu3 * v / (dx * dx);
      middle[i] = 2.0 * v * v * d1 - nu3 * v * d2 + 2.0 * nu3 * v / (dx * dx);
    }
    for (int i = 2; i < nodes - 1; ++i) {
      double f = lower[i] / middle[i - 1];
      middle[i] -= f * upper[i - 1];
      right[i] -= f * right[i - 1];
    }
    for (int i = nodes - 2; i >= 1; --i) {
      right[i] = (right[i] - (i + 1 < nodes - 1 ? upper[i] * right[i + 1] : 0.0)) / middle[i];
      if (fabs(right[i]) > change) change = fabs(right[i]);
    }
    double scale = change > 0.5 ? 0.5 / change : 1.0;
    for (int i = 1; i < nodes - 1; ++i) w[i] += scale * right[i];
    if (!isfinite(change)) return 0;
    if (change < 1e-10) {
      for (int i = 0; i < nodes; ++i) speed[i] = exp(w[i]);
      return 1;
    }
  }
  return 0;
}
