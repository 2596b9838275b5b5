/* An Oldroyd-B drop on a wall (Figueiredo et al. 2016): 20 mm, 1 m/s, its centre two diameters
 * above the wall, 4 Pa s of which a tenth is solvent, 0.02 s; with other substeps; and the
 * Newtonian one, which never draws itself together. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "check.h"

static const double D = 0.02, U = 1.0, MU = 4.0;

static int in_ball(const void *context, const double x[3]) {
  const double *c = context;
  return x[0] * x[0] + (x[1] - c[1]) * (x[1] - c[1]) + x[2] * x[2] <= c[0] * c[0];
}

typedef struct impact {
  double greatest, least, second;          /* widths over D */
  double greatest_at, least_at, second_at; /* t U / D */
  double shrunk;                           /* from the widest so far, at most */
} impact;

/* m: mean diameter of the rim, of the outermost particle in each of 32 sectors around the axis,
 * with half a particle on either side. The published width is that of a body of revolution; the
 * extent along two axes is told by four particles, of which one that strays is a quarter. */
static double rim_width(const kit *k) {
  enum { SECTORS = 32 };
  double centre[2] = {0.0, 0.0}, reach[SECTORS] = {0.0}, sum = 0.0;
  for (uint32_t i = 0; i < k->count; ++i)
    for (int c = 0; c < 2; ++c) centre[c] += (double)k->x[i][2 * c] / k->count;
  for (uint32_t i = 0; i < k->count; ++i) {
    const double x = (double)k->x[i][0] - centre[0], z = (double)k->x[i][2] - centre[1];
    const int sector = (int)((atan2(z, x) / (2.0 * MEASURE_PI) + 0.5) * SECTORS) % SECTORS;
    reach[sector] = fmax(reach[sector], sqrt(x * x + z * z));
  }
  for (int s = 0; s < SECTORS; ++s) sum += reach[s];
  return 2.0 * sum / SECTORS + k->separation;
}

/* `curve` may be NULL. */
static int hits(verify *v, double across, double memory, uint32_t substeps, const char *curve,
                impact *out) {
  static const double table[][2] = {{1.35, 1.003}, {1.60, 1.275}, {1.80, 1.567}, {2.09, 1.714},
                                    {2.71, 1.577}, {3.30, 1.453}, {4.07, 1.528}, {4.51, 1.563}};
  const double d = D / across, ball[2] = {0.5 * D, 2.0 * D}, low[3] = {-0.5 * D, 1.5 * D, -0.5 * D},
               high[3] = {0.5 * D, 2.5 * D, 0.5 * D}, frame = 0.1 * D / U;
  kit k;
  ooze_material m;
  kit_open(&k, verify_machine(v), d);
  kit_floor(&k, 1.0);
  ooze_material_default(&m);
  m.viscosity = (float)((memory > 0.0 ? 0.9 : 1.0) * MU);
  m.solvent_viscosity = (float)(memory > 0.0 ? 0.1 * MU : 0.0);
  m.relaxation_time = (float)memory;
  kit_fill(&k, kit_add(&k, &m), low, high, in_ball, ball);
  kit_read(&k);
  for (uint32_t i = 0; kit_good(&k) && i < k.count; ++i) {
    const float u[3] = {0.0f, (float)-U, 0.0f};
    (void)ooze_attribute_write(k.solver, OOZE_VELOCITY, i, 1, 0, u);
  }
  *out = (impact){0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  double before = 1.0, widest = 0.0;
  size_t next = 0;
  for (int f = 1; kit_good(&k) && f <= 48; ++f) {
    kit_step(&k, frame, substeps);
    kit_read(&k);
    const double w = rim_width(&k) / D, T = f * 0.1;
    while (next < sizeof table / sizeof *table && T >= table[next][0]) {
      const double at = w + (before - w) * (T - table[next][0]) / 0.1;
      if (curve) verify_point(v, curve, table[next][0], at, table[next][1]);
      next++;
    }
    widest = fmax(widest, w), out->shrunk = fmax(out->shrunk, widest - w);
    if (T < 2.7 && w > out->greatest) out->greatest = w, out->greatest_at = T;
    if (T > 2.5 && w < out->least) out->least = w, out->least_at = T;
    if (T > 3.6 && w > out->second) out->second = w, out->second_at = T;
    before = w;
  }
  return verify_close(v, &k);
}

void verify_impact(verify *v) {
  static const uint32_t substeps[] = {4, 16, 32};
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double across = quick ? 14.0 : 20.0;
  impact o;
  if (hits(v, across, 0.02, 8, "width / D (over t U / D)", &o)) {
    verify_within(v, o.greatest, 1.714, 0.05, "", "greatest");
    verify_within(v, o.greatest_at, 2.09, 0.10, "", "greatest.time");
    verify_note(v, "in frames of 0.1 D / U");
    verify_within(v, o.least, 1.453, 0.05, "", "least");
    verify_within(v, o.least_at, 3.30, 0.10, "", "least.time");
    verify_within(v, o.second, 1.563, 0.05, "", "second");
    verify_within(v, o.second_at, 4.51, 0.10, "", "second.time");
  }
  if (verify_wants(v, "newtonian") && hits(v, across, 0.0, 8, NULL, &o)) {
    verify_at_most(v, o.shrunk, 0.01, "D", "newtonian.shrinks");
    verify_note(v, "without a relaxation time, from the widest so far");
  }
  if (quick && !v->filter) return; /* those below where they are asked for */
  for (int i = 0; i < 3; ++i) {
    if ((quick && substeps[i] != 32) || !verify_wants(v, "substeps")) continue;
    char curve[80];
    snprintf(curve, sizeof curve, "width / D (over t U / D), %u substeps", substeps[i]);
    if (!hits(v, across, 0.02, substeps[i], curve, &o)) return;
    verify_within(v, o.greatest, 1.714, 0.05, "", "substeps.%u.greatest", substeps[i]);
    verify_within(v, o.least, 1.453, 0.05, "", "substeps.%u.least", substeps[i]);
  }
}
