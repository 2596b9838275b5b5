/* Ideal flow with a free surface (mixed Eulerian-Lagrangian boundary elements, Longuet-Higgins &
 * Cokelet 1976). The potential p is known on the surface and harmonic inside, so that Green's
 * formula gives its normal derivative q; nodes move with the flow, and Dp/Dt = u^2 / 2 - y. Wall
 * and floor are mirrors: the surface and its three images are closed, and need no elements
 * elsewhere. SPDX-License-Identifier: Apache-2.0 */
#include "ideal_dam.h"

#include <math.h>
#include <string.h>

/* Spacing of nodes: finest at the front, where the acceleration is infinite at first, and growing
 * away from it. Half of both changes the front by less than 0.8%, the rest by less than 0.2%. */
#define FINEST 0.02
#define COARSEST 0.05
#define GROWTH 0.15
/* Every so many steps, modes of two nodes are smoothed away. */
#define SMOOTHED 2

enum { NODES = 192, X = 0, Y = 1, P = 2 };

typedef struct surface {
  int count;
  double v[NODES][3]; /* x, y, potential: from the wall to the floor */
} surface;

/* ---- the normal derivative ---- */

/* Integrals of ln r (g) and of its normal derivative (h) times the two linear shapes, over the
 * element from a to b, seen from p. */
static void element(const double p[2], const double a[2], const double b[2], double g[2],
                    double h[2]) {
  const double length = hypot(b[0] - a[0], b[1] - a[1]),
               t[2] = {(b[0] - a[0]) / length, (b[1] - a[1]) / length};
  const double r[2] = {p[0] - a[0], p[1] - a[1]}, along = r[0] * t[0] + r[1] * t[1],
               off = r[0] * t[1] - r[1] * t[0], s1 = -along, s2 = length - along,
               r1 = s1 * s1 + off * off, r2 = s2 * s2 + off * off, l1 = log(r1 + 1e-300),
               l2 = log(r2 + 1e-300);
  const int aside = fabs(off) > 1e-13;
  const double angle = aside ? atan(s2 / fabs(off)) - atan(s1 / fabs(off)) : 0.0;
  const double g0 = 0.5 * (s2 * l2 - s1 * l1) - length + fabs(off) * angle,
               g1 = 0.25 * (r2 * (l2 - 1.0) - r1 * (l1 - 1.0)), h0 = off > 0.0 ? -angle : angle,
               h1 = aside ? -0.5 * off * (l2 - l1) : 0.0;
  g[1] = (g1 + along * g0) / length, g[0] = g0 - g[1];
  h[1] = (h1 + along * h0) / length, h[0] = h0 - h[1];
}

/* Gaussian elimination with pivots; 0 if singular. */
static int solved(double A[NODES][NODES], double *b, int n) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
    if (!(fabs(A[best][k]) > 1e-14)) return 0;
    for (int j = k; best != k && j < n; ++j) {
      const double swap = A[k][j];
      A[k][j] = A[best][j], A[best][j] = swap;
    }
    const double swap = b[k];
    b[k] = b[best], b[best] = swap;
    for (int i = k + 1; i < n; ++i) {
      const double m = A[i][k] / A[k][k];
      for (int j = k + 1; j < n; ++j) A[i][j] -= m * A[k][j];
      b[i] -= m * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return 1;
}

static int normal_derivative(const surface *s, double *q) {
  static double G[NODES][NODES];
  const int n = s->count;
  for (int i = 0; i < n; ++i) {
    double constant = 0.0, sum = 0.0;
    memset(G[i], 0, sizeof G[i]);
    for (int e = 0; e + 1 < n; ++e)
      for (int image = 0; image < 4; ++image) {
        const double mx = image & 1 ? -1.0 : 1.0, my = image & 2 ? -1.0 : 1.0;
        /* one mirror turns the element around */
        const int first = mx * my < 0.0, from = e + first, to = e + 1 - first;
        const double a[2] = {mx * s->v[from][X], my * s->v[from][Y]},
                     b[2] = {mx * s->v[to][X], my * s->v[to][Y]};
        double g[2], h[2];
        element(s->v[i], a, b, g, h);
        G[i][from] += g[0], G[i][to] += g[1];
        sum += h[0] * s->v[from][P] + h[1] * s->v[to][P];
        constant += h[0] + h[1];
      }
    /* a constant potential has no flow, which gives the solid angle of a corner too */
    q[i] = constant * s->v[i][P] - sum;
  }
  return solved(G, q, n);
}

/* ---- motion ---- */

static double length_of(const surface *s, int e) {
  return hypot(s->v[e + 1][X] - s->v[e][X], s->v[e + 1][Y] - s->v[e][Y]);
}

/* derivative of component c along the surface, of second order */
static double slope(const surface *s, int i, int c) {
  const int at = i == 0 ? 1 : i == s->count - 1 ? i - 1 : i;
  const double l1 = length_of(s, at - 1), l2 = length_of(s, at),
               d1 = (s->v[at][c] - s->v[at - 1][c]) / l1, d2 = (s->v[at + 1][c] - s->v[at][c]) / l2,
               bend = (d2 - d1) / (l1 + l2);
  return i < at ? d1 - bend * l1 : i > at ? d2 + bend * l2 : d1 + bend * l1;
}

/* rates of x, y and the potential */
static int rates(const surface *s, double r[NODES][3], double *q) {
  const int n = s->count;
  if (!normal_derivative(s, q)) return 0;
  for (int i = 0; i < n; ++i) {
    double tx = slope(s, i, X), ty = slope(s, i, Y), along = slope(s, i, P);
    const double length = hypot(tx, ty);
    tx /= length, ty /= length;
    if (i == 0) tx = 1.0, ty = 0.0, along = 0.0;
    r[i][X] = along * tx - q[i] * ty, r[i][Y] = along * ty + q[i] * tx;
    if (i == 0) r[i][X] = 0.0;
    if (i == n - 1) r[i][Y] = 0.0;
    r[i][P] = 0.5 * (r[i][X] * r[i][X] + r[i][Y] * r[i][Y]) - s->v[i][Y];
  }
  return 1;
}

static void moved(const surface *from, double dt, double r[NODES][3], surface *to) {
  to->count = from->count;
  for (int i = 0; i < from->count; ++i)
    for (int c = 0; c < 3; ++c) to->v[i][c] = from->v[i][c] + dt * r[i][c];
}

/* Runge-Kutta of fourth order; q of the start */
static int stepped(surface *s, double dt, double *q) {
  static double r[4][NODES][3];
  double other[NODES];
  surface at;
  if (!rates(s, r[0], q)) return 0;
  for (int k = 1; k < 4; ++k) {
    moved(s, k == 3 ? dt : 0.5 * dt, r[k - 1], &at);
    if (!rates(&at, r[k], other)) return 0;
  }
  for (int i = 0; i < s->count; ++i)
    for (int c = 0; c < 3; ++c)
      s->v[i][c] += dt / 6.0 * (r[0][i][c] + 2.0 * (r[1][i][c] + r[2][i][c]) + r[3][i][c]);
  return 1;
}

/* ---- nodes ---- */

/* places of nodes along a surface of the given length; returns how many, 0 if too many */
static int places(double length, double *at) {
  int n = 1;
  double back[NODES];
  back[0] = 0.0;
  for (double w = 0.0; w < length; ++n) {
    if (n == NODES) return 0;
    w += fmin(COARSEST, FINEST + GROWTH * w);
    back[n] = w;
  }
  for (int i = 0; i < n; ++i) at[i] = length * (1.0 - back[n - 1 - i] / back[n - 1]);
  return n;
}

/* second derivatives of the natural cubic spline of component c over the arcs */
static void spline(const surface *s, const double *arc, int c, double *m) {
  double upper[NODES];
  const int n = s->count;
  m[0] = m[n - 1] = upper[0] = 0.0;
  for (int i = 1; i < n - 1; ++i) {
    const double l1 = arc[i] - arc[i - 1], l2 = arc[i + 1] - arc[i],
                 pivot = 2.0 * (l1 + l2) - l1 * upper[i - 1],
                 right = 6.0 *
                         ((s->v[i + 1][c] - s->v[i][c]) / l2 - (s->v[i][c] - s->v[i - 1][c]) / l1);
    upper[i] = l2 / pivot;
    m[i] = (right - l1 * m[i - 1]) / pivot;
  }
  for (int i = n - 2; i > 0; --i) m[i] -= upper[i] * m[i + 1];
}

static int placed_anew(surface *s) {
  double arc[NODES], at[NODES], m[3][NODES];
  surface out;
  arc[0] = 0.0;
  for (int i = 1; i < s->count; ++i) arc[i] = arc[i - 1] + length_of(s, i - 1);
  out.count = places(arc[s->count - 1], at);
  if (!out.count) return 0;
  for (int c = 0; c < 3; ++c) spline(s, arc, c, m[c]);
  for (int i = 0, k = 0; i < out.count; ++i) {
    while (k + 2 < s->count && arc[k + 1] < at[i]) k++;
    const double l = arc[k + 1] - arc[k], w = at[i] - arc[k];
    for (int c = 0; c < 3; ++c) {
      const double first =
          (s->v[k + 1][c] - s->v[k][c]) / l - l * (2.0 * m[c][k] + m[c][k + 1]) / 6.0;
      out.v[i][c] =
          s->v[k][c] + w * (first + w * (0.5 * m[c][k] + w * (m[c][k + 1] - m[c][k]) / (6.0 * l)));
    }
  }
  memcpy(out.v[0], s->v[0], sizeof out.v[0]);
  memcpy(out.v[out.count - 1], s->v[s->count - 1], sizeof out.v[0]);
  *s = out;
  return 1;
}

static void smoothed(surface *s) {
  const surface g = *s;
  const int n = s->count;
  for (int c = 0; c < 3; ++c) {
    for (int i = 2; i < n - 2; ++i)
      s->v[i][c] = (10.0 * g.v[i][c] + 4.0 * (g.v[i - 1][c] + g.v[i + 1][c]) - g.v[i - 2][c] -
                    g.v[i + 2][c]) /
                   16.0;
    s->v[1][c] = 0.25 * (g.v[0][c] + 2.0 * g.v[1][c] + g.v[2][c]);
    s->v[n - 2][c] = 0.25 * (g.v[n - 1][c] + 2.0 * g.v[n - 2][c] + g.v[n - 3][c]);
  }
}

/* ---- the run ---- */

static ideal_dam seen(const surface *s, double time, const double *q) {
  ideal_dam d = {time, s->v[s->count - 1][X], 0.0, 0.0, 1.0};
  for (int e = 0; e + 1 < s->count; ++e) {
    const double *a = s->v[e], *b = s->v[e + 1], wide = b[X] - a[X], edge = 0.25;
    /* both over the area 2 */
    d.kinetic += 0.125 * length_of(s, e) * (a[P] * q[e] + b[P] * q[e + 1]);
    d.fallen -= wide * (a[Y] * a[Y] + a[Y] * b[Y] + b[Y] * b[Y]) / 12.0;
    if (a[X] < edge && wide > 0.0) {
      const double share = fmin(1.0, (edge - a[X]) / wide);
      d.height += share * wide * (a[Y] + 0.5 * share * (b[Y] - a[Y])) / edge;
    }
  }
  return d;
}

size_t ideal_dam_run(double until, ideal_dam *out, size_t most) {
  surface s;
  double q[NODES], at[NODES];
  size_t count = 0;
  s.count = places(3.0, at);
  int corner = 0;
  for (int i = 1; i < s.count; ++i)
    if (fabs(at[i] - 1.0) < fabs(at[corner] - 1.0)) corner = i;
  at[corner] = 1.0;
  for (int i = 0; i < s.count; ++i)
    s.v[i][X] = fmin(at[i], 1.0), s.v[i][Y] = fmin(2.0, 3.0 - at[i]), s.v[i][P] = 0.0;
  /* time in sqrt(a / g) */
  const double dt = 0.02, unit = sqrt(2.0);
  for (int step = 0; count < most; ++step) {
    const surface before = s;
    if (!stepped(&s, dt, q)) return 0;
    out[count] = seen(&before, unit * dt * step, q);
    if (out[count++].time >= until) return count;
    if (!placed_anew(&s)) return 0;
    if ((step + 1) % SMOOTHED == 0) smoothed(&s);
  }
  return 0;
}

ideal_dam ideal_dam_at(const ideal_dam *states, size_t count, double time) {
  size_t k = 1;
  while (k + 1 < count && states[k].time < time) k++;
  const ideal_dam *a = states + k - 1, *b = states + k;
  const double w = (time - a->time) / (b->time - a->time);
  const ideal_dam d = {
      time, a->front + w * (b->front - a->front), a->height + w * (b->height - a->height),
      a->kinetic + w * (b->kinetic - a->kinetic), a->fallen + w * (b->fallen - a->fallen)};
  return d;
}
