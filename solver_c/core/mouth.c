/* The relaxed layout of a nozzle's mouth: particles spread evenly in the outline and along the
 * stream, so that a stream of any radius has neither rings nor rows that buckle into pleats, and
 * its outermost particles follow the outline (docs/theory/emission.md).
 *
 * The points are a piece of stream some layers long that repeats. They begin on a low-discrepancy
 * sequence (Roberts 2018: R3) and push each other apart; the outline holds them in.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/structs.h"
#include "core/emitters.h"

enum { LONGEST = 8, MOST_POINTS = 20000, SWEEPS = 120 };
static const double PI = 3.14159265358979323846;
static const double REACH = 1.5; /* separations: how far points push */
static const double INSET = 0.4; /* separations: of the outermost centres from the outline */

typedef struct outline {
  uint32_t kind;
  double radius, inner; /* m: of a ring's hole, a slot's half width */
  uint32_t corners;     /* of a polygon: star and polygon */
  double corner[OOZE_OUTLINE_CORNERS][2];
} outline;

static void outline_of(const ooze_emitter_desc *d, outline *o) {
  const double r = (double)d->radius;
  memset(o, 0, sizeof *o);
  o->kind = d->outline;
  o->radius = r;
  o->inner = r * (double)d->outline_inner;
  if (d->outline == OOZE_OUTLINE_STAR || (d->outline == OOZE_OUTLINE_POLYGON && !d->corner_count)) {
    const uint32_t star = d->outline == OOZE_OUTLINE_STAR, n = d->outline_points * (star ? 2 : 1);
    for (o->corners = 0; o->corners < n; o->corners++) {
      const double a = 2.0 * PI * o->corners / n, at = star && o->corners % 2 ? o->inner : r;
      o->corner[o->corners][0] = at * sin(a);
      o->corner[o->corners][1] = at * cos(a);
    }
  } else if (d->outline == OOZE_OUTLINE_POLYGON) {
    for (o->corners = 0; o->corners < d->corner_count; o->corners++)
      for (int k = 0; k < 2; k++)
        o->corner[o->corners][k] = r * (double)d->corners[2 * o->corners + (uint32_t)k];
  }
}

static double polygon_area(const outline *o) {
  double sum = 0.0;
  for (uint32_t i = 0, j = o->corners - 1; i < o->corners; j = i++)
    sum += o->corner[j][0] * o->corner[i][1] - o->corner[i][0] * o->corner[j][1];
  return fabs(0.5 * sum);
}

double oz_mouth_area(const ooze_emitter_desc *d) {
  outline o;
  outline_of(d, &o);
  switch (o.kind) {
  case OOZE_OUTLINE_RING:
    return PI * (o.radius * o.radius - o.inner * o.inner);
  case OOZE_OUTLINE_SLOT:
    return 4.0 * o.radius * o.inner;
  case OOZE_OUTLINE_STAR:
  case OOZE_OUTLINE_POLYGON:
    return polygon_area(&o);
  default:
    return PI * o.radius * o.radius;
  }
}

double ooze_emitter_area(const ooze_emitter_desc *desc) {
  ooze_emitter_desc in;
  ooze_emitter_desc_default(&in);
  if (oz_struct_read(&in, desc, sizeof in, "emitter", NULL) < 0) return 0.0;
  return in.corner_count <= OOZE_OUTLINE_CORNERS ? oz_mouth_area(&in) : 0.0;
}

/* Negative inside. */
static double polygon_distance(const outline *o, double x, double z) {
  double least = 1e300;
  int inside = 0;
  for (uint32_t i = 0, j = o->corners - 1; i < o->corners; j = i++) {
    const double *a = o->corner[j], *b = o->corner[i], ex = b[0] - a[0], ez = b[1] - a[1];
    const double px = x - a[0], pz = z - a[1], length = ex * ex + ez * ez;
    double t = length > 0.0 ? (px * ex + pz * ez) / length : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    const double dx = px - t * ex, dz = pz - t * ez;
    least = fmin(least, dx * dx + dz * dz);
    if ((a[1] > z) != (b[1] > z) && x < a[0] + (z - a[1]) / (b[1] - a[1]) * ex) inside = !inside;
  }
  return inside ? -sqrt(least) : sqrt(least);
}

static double distance(const outline *o, double x, double z) {
  const double r = sqrt(x * x + z * z);
  switch (o->kind) {
  case OOZE_OUTLINE_RING:
    return fmax(r - o->radius, o->inner - r);
  case OOZE_OUTLINE_SLOT:
    return fmax(fabs(x) - o->radius, fabs(z) - o->inner);
  case OOZE_OUTLINE_STAR:
  case OOZE_OUTLINE_POLYGON:
    return polygon_distance(o, x, z);
  default:
    return r - o->radius;
  }
}

/* Back to within the inset; of a narrower mouth, to its middle. */
static void hold(const outline *o, double inset, double d, double p[3]) {
  for (int turn = 0; turn < 8; turn++) {
    const double over = distance(o, p[0], p[2]) + inset, h = 0.01 * d;
    if (over <= 1e-3 * d) return;
    double gx = distance(o, p[0] + h, p[2]) - distance(o, p[0] - h, p[2]),
           gz = distance(o, p[0], p[2] + h) - distance(o, p[0], p[2] - h),
           g = sqrt(gx * gx + gz * gz);
    if (g < 0.2 * h) return; /* a ridge: no further in */
    p[0] -= over * gx / g;
    p[2] -= over * gz / g;
  }
}

/* Points in cells, so that neighbours are found among 27. Along the stream they repeat. */
typedef struct cells {
  int n[3];
  double low[3], size[3];
  uint32_t *first, *next;
} cells;

static uint32_t cell_of(const cells *c, const double p[3]) {
  int at[3];
  for (int k = 0; k < 3; k++) {
    at[k] = (int)floor((p[k] - c->low[k]) / c->size[k]);
    at[k] = at[k] < 0 ? 0 : at[k] >= c->n[k] ? c->n[k] - 1 : at[k];
  }
  return (uint32_t)((at[0] * c->n[1] + at[1]) * c->n[2] + at[2]);
}

static void push(const cells *c, double (*p)[3], uint32_t i, double d, double length,
                 double out[3]) {
  int at[3];
  out[0] = out[1] = out[2] = 0.0;
  for (int k = 0; k < 3; k++) {
    at[k] = (int)floor((p[i][k] - c->low[k]) / c->size[k]);
    at[k] = at[k] < 0 ? 0 : at[k] >= c->n[k] ? c->n[k] - 1 : at[k];
  }
  const int rows = c->n[1] < 3 ? c->n[1] : 3; /* each row of the stream once */
  for (int x = at[0] - 1; x <= at[0] + 1; x++)
    for (int row = 0; row < rows; row++)
      for (int z = at[2] - 1; z <= at[2] + 1; z++) {
        const int y = (at[1] - (rows == 3) + row + c->n[1]) % c->n[1];
        if (x < 0 || x >= c->n[0] || z < 0 || z >= c->n[2]) continue;
        uint32_t j = c->first[(x * c->n[1] + y) * c->n[2] + z];
        for (; j != UINT32_MAX; j = c->next[j]) {
          const double images = rows == 3 ? 0.0 : 1.0; /* a short piece meets its own repeats */
          for (double image = -images; image <= images; image += 1.0) {
            double o[3] = {p[i][0] - p[j][0], p[i][1] - p[j][1], p[i][2] - p[j][2]};
            o[1] -= length * floor(o[1] / length + 0.5) + image * length;
            const double r2 = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
            if ((j == i && image == 0.0) || r2 >= REACH * REACH * d * d || !(r2 > 0.0)) continue;
            const double r = sqrt(r2), w = 1.0 - r / (REACH * d);
            for (int k = 0; k < 3; k++) out[k] += w * w * o[k] / r;
          }
        }
      }
}

ooze_result oz_mouth_relaxed(oz_emitters *e, oz_emitter_slot *slot, ooze_message *why) {
  const ooze_emitter_desc *desc = &slot->desc;
  const double d = (double)e->separation, area = oz_mouth_area(desc);
  outline o;
  cells c;
  outline_of(desc, &o);
  double layers = floor(MOST_POINTS * d * d / area);
  layers = layers < 1.0 ? 1.0 : layers > LONGEST ? LONGEST : layers;
  const double length = layers * d;
  double wanted = floor(area * layers / (d * d) + 0.5);
  if (wanted < 1.0) wanted = 1.0;
  const uint32_t n = (uint32_t)wanted;
  double span = o.radius;
  for (uint32_t i = 0; i < o.corners; i++)
    span = fmax(span, fmax(fabs(o.corner[i][0]), fabs(o.corner[i][1])));
  uint32_t total = 1;
  for (int k = 0; k < 3; k++) {
    const double wide = k == 1 ? length : 2.0 * span;
    c.n[k] = (int)fmax(floor(wide / (REACH * d)), 1.0);
    c.low[k] = k == 1 ? 0.0 : -span;
    c.size[k] = wide / c.n[k];
    total *= (uint32_t)c.n[k];
  }
  double(*p)[3] = oz_alloc(e->memory, 2 * (size_t)n * sizeof *p);
  c.first = oz_alloc(e->memory, ((size_t)total + n) * sizeof *c.first);
  c.next = c.first ? c.first + total : NULL;
  if (!p || !c.first ||
      !oz_grow(e->memory, (void **)&slot->point, &slot->point_capacity, n * sizeof *slot->point,
               0)) {
    oz_free(e->memory, p);
    oz_free(e->memory, c.first);
    return oz_fail(why, OOZE_ERROR_MEMORY, "emitter %u: no memory for the %u points of its mouth",
                   slot->handle, n);
  }
  double(*moved)[3] = p + n;

  /* R3: powers of the real root of x^4 = x + 1; the seed shifts it */
  const double shift = 0.5 + 0.6180339887498949 * (double)desc->seed;
  uint32_t made = 0;
  for (double k = 1.0; made < n && k < 1e7; k += 1.0) {
    double q[3] = {shift + k * 0.8191725133961645, shift + k * 0.6710436067037893,
                   shift + k * 0.5497004779019703};
    for (int a = 0; a < 3; a++) q[a] -= floor(q[a]);
    q[0] = span * (2.0 * q[0] - 1.0);
    q[1] *= length;
    q[2] = span * (2.0 * q[2] - 1.0);
    if (distance(&o, q[0], q[2]) < 0.0) memcpy(p[made++], q, sizeof q);
  }
  for (; made < n; made++) memset(p[made], 0, sizeof p[made]); /* an outline without inside */

  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    const double step = 0.35 * d * (1.0 - 0.7 * sweep / SWEEPS);
    for (uint32_t k = 0; k < total; k++) c.first[k] = UINT32_MAX;
    for (uint32_t i = n; i-- > 0;) {
      const uint32_t cell = cell_of(&c, p[i]);
      c.next[i] = c.first[cell];
      c.first[cell] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
      double away[3];
      push(&c, p, i, d, length, away);
      for (int k = 0; k < 3; k++)
        moved[i][k] = p[i][k] + fmin(fmax(step * away[k], -0.2 * d), 0.2 * d);
      moved[i][1] -= length * floor(moved[i][1] / length);
      hold(&o, INSET * d, d, moved[i]);
    }
    memcpy(p, moved, (size_t)n * sizeof *p);
  }
  for (uint32_t i = 0; i < n; i++) {
    slot->point[i].x = (float)p[i][0];
    slot->point[i].z = (float)p[i][2];
    slot->point[i].phase = p[i][1] / d;
  }
  slot->points = n;
  slot->period = layers;
  oz_free(e->memory, p);
  oz_free(e->memory, c.first);
  return OOZE_OK;
}
