/* Figures 2, 3 and 5 of Takamatsu & Kanai 2011: the model blend. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "verify.h"

static void open_blend(verify *v, kit *k, double separation, double alpha) {
  kit_open(k, verify_machine(v), separation);
  k->params.model = OOZE_MODEL_BLEND;
  k->params.blend_alpha = (float)alpha;
  kit_apply(k);
}

/* Figure 2: a bar on two supports sags less, the wider a neighbourhood is. Returns the sag of its middle below its ends
 * over its length, when it has come to rest as far as it does. */
static int sag(verify *v, double support, double *out) {
  const double d = 0.02;
  const uint32_t n[3] = {28, 4, 4};
  kit k;
  open_blend(v, &k, d, 0.0);
  k.params.blend_support = (float)support;
  k.params.blend_time = 0.008f; /* soft, so that there is something to see */
  k.params.blend_yield = 1e6f; /* his reference shape stays */
  kit_apply(&k);
  const double low[3] = {-0.5 * n[0] * d, 0.3, -0.5 * n[2] * d};
  for (int side = -1; side <= 1; side += 2) {
    const double centre[3] = {side * (0.5 * n[0] * d - 2 * d), 0.15, 0.0};
    ooze_collider_desc c;
    ooze_collider handle;
    ooze_collider_desc_default(&c);
    c.shape = OOZE_SHAPE_BOX;
    c.half[0] = (float)(2 * d), c.half[1] = 0.15f, c.half[2] = 0.2f;
    for (int a = 0; a < 3; ++a) c.start.position[a] = c.end.position[a] = (float)centre[a];
    if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &handle);
  }
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 20.0f;
  uint32_t material = 0;
  if (kit_good(&k)) k.result = ooze_material_add(k.solver, &m, &material);
  kit_block(&k, material, n, low);
  double sum = 0.0;
  int samples = 0;
  for (int f = 0; f < 48 && kit_good(&k); ++f) {
    kit_step(&k, 1.0 / 24.0, 8);
    if (f < 12) continue;
    kit_read(&k);
    double middle = 0.0, ends = 0.0;
    int nm = 0, ne = 0;
    for (uint32_t i = 0; i < k.count; ++i) {
      double along = fabs((double)k.x[i][0]) / (0.5 * n[0] * d);
      if (along < 0.1) middle += (double)k.x[i][1], ++nm;
      if (along > 0.8) ends += (double)k.x[i][1], ++ne;
    }
    if (nm && ne) sum += ends / ne - middle / nm, ++samples; /* it swings about where it would rest */
  }
  *out = samples ? sum / samples / (n[0] * d) : (double)NAN;
  int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}

/* Figure 3: a cube falls on the floor. */
static int cube(verify *v, double alpha, double *height, double *width) {
  const double d = 0.02;
  const uint32_t n[3] = {10, 10, 10};
  kit k;
  measure_body b;
  open_blend(v, &k, d, alpha);
  kit_floor(&k, 0.3);
  const double low[3] = {-5 * d, 0.1, -5 * d};
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  for (int f = 0; f < 36 && kit_good(&k); ++f) kit_step(&k, 1.0 / 24.0, 8);
  *height = *width = (double)NAN;
  kit_read(&k);
  if (kit_good(&k)) {
    measure((measure_points)k.x, (measure_points)k.v, NULL, k.count, &b);
    *height = b.top / (10 * d);
    *width = b.front / (5 * d);
  }
  int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}

/* Figure 5c: a body falls on a hemisphere, parts, and is one again on the floor. Pieces of at least 2% of it. */
static int split(verify *v, uint32_t out[3]) {
  const double d = 0.02, centre[3] = {0, 0, 0};
  const uint32_t n[3] = {12, 6, 12};
  kit k;
  open_blend(v, &k, d, 0.85);
  k.params.blend_yield = 6.0f;
  kit_apply(&k);
  kit_floor(&k, 0.1);
  kit_sphere(&k, centre, 0.12, 0.0);
  const double low[3] = {-6 * d, 0.6, -6 * d}, half[3] = {0.22, 1.0, 0.22}, middle[3] = {0, 1.0, 0};
  kit_container(&k, middle, half, 0.0);
  kit_block(&k, kit_fluid(&k, 0.5, 0.0), n, low);
  out[0] = out[1] = out[2] = 0;
  for (int f = 0; f <= 72 && kit_good(&k); ++f) {
    if (f) kit_step(&k, 1.0 / 24.0, 8);
    kit_read(&k);
    uint32_t pieces = 0;
    double inside;
    measure_pieces((measure_points)k.x, k.count, 1.3 * d, -1.0, k.count / 50, &pieces, &inside);
    if (f == 0) out[0] = pieces;
    if (pieces > out[1]) out[1] = pieces;
    out[2] = pieces;
  }
  int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}

void verify_blend(verify *v) {
  static const double supports[] = {2.2, 2.8, 3.4}, alphas[] = {0.0, 0.3, 0.7, 1.0};
  if (verify_wants(v, "fig2")) {
    double before = (double)NAN;
    for (int i = 0; i < 3; ++i) {
      double s;
      if (!sag(v, supports[i], &s)) return;
      if (i)
        verify_at_most(v, s, 0.95 * before, "", "fig2.sag.support%.1f", supports[i]);
      else
        verify_report(v, s, (double)NAN, "", "fig2.sag.support%.1f", supports[i]);
      before = s;
    }
  }
  if (verify_wants(v, "fig3")) {
    double before = 0.0, height, width;
    for (int i = 0; i < 4; ++i) {
      if (!cube(v, alphas[i], &height, &width)) return;
      if (i)
        verify_at_least(v, width, before, "", "fig3.width.alpha%.1f", alphas[i]);
      else
        verify_at_most(v, width, 1.6, "", "fig3.width.alpha%.1f", alphas[i]); /* a corner is at 1.41 */
      verify_report(v, height, (double)NAN, "", "fig3.height.alpha%.1f", alphas[i]);
      before = width;
    }
  }
  if (verify_wants(v, "fig5")) {
    uint32_t pieces[3];
    if (!split(v, pieces)) return;
    verify_within(v, pieces[0], 1, 0, "", "fig5.pieces.start");
    verify_at_least(v, pieces[1], 2, "", "fig5.pieces.most");
    verify_within(v, pieces[2], 1, 0, "", "fig5.pieces.end");
  }
}
