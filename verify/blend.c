/* Figures 2, 3 and 5 of Takamatsu & Kanai 2011: the model blend. SPDX-License-Identifier:
 * Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"

static void open_blend(verify *v, kit *k, double separation, double alpha) {
  kit_open(k, verify_machine(v), separation);
  k->params.model = OOZE_MODEL_BLEND;
  k->params.blend_alpha = (float)alpha;
  kit_apply(k);
}

/* Figure 2: a bar on two supports sags less, the wider a neighbourhood is. His bar is 40 long with
 * support radii of 3, 5 and 8 of its separations (64, 256 and 755 neighbours, table 1); ours is 18
 * long with 1.5, 2.25 and 3.6: the same shares of its length, with as many neighbours as a list
 * holds. A quarter of gravity, so that also the softest stays on its supports and all bend in
 * proportion to their weight. Gives the sag of its middle below its ends over its length, the mean
 * of the last three quarters of the run, since nothing but contact damps a solid (alpha 0) and it
 * swings about where it would rest; and how far its ends reach at least, over where they stood: a
 * bar that has slipped off does not sag. */
static int sag(verify *v, double support, int frames, uint32_t substeps, double *out,
               double *reach) {
  const double d = 0.02;
  const uint32_t n[3] = {18, 4, 4};
  kit k;
  open_blend(v, &k, d, 0.0);
  k.params.blend_support = (float)support;
  k.params.blend_time = 0.003f;
  k.params.blend_yield = 1e6f; /* his reference shape stays */
  k.params.gravity[1] *= 0.25f;
  kit_apply(&k);
  const double half = 0.5 * n[0] * d, low[3] = {-half, 0.3, -0.5 * n[2] * d};
  for (int side = -1; side <= 1; side += 2) {
    ooze_collider_desc c;
    ooze_collider handle;
    ooze_collider_desc_default(&c);
    c.shape = OOZE_SHAPE_BOX;
    c.friction = 1.0f;
    c.half[0] = (float)(1.5 * d), c.half[1] = 0.15f, c.half[2] = 0.2f;
    c.start.position[0] = c.end.position[0] = (float)(side * (half - 1.5 * d));
    c.start.position[1] = c.end.position[1] = 0.15f;
    if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &handle);
  }
  kit_block(&k, kit_fluid(&k, 20.0, 0.0), n, low);
  double sum = 0.0, least = 1e9;
  int samples = 0;
  for (int f = 0; f < frames && kit_good(&k); ++f) {
    kit_step(&k, 1.0 / 24.0, substeps);
    if (4 * f < frames) continue;
    kit_read(&k);
    double middle = 0.0, ends = 0.0;
    int nm = 0, ne = 0;
    for (uint32_t i = 0; i < k.count; ++i) {
      const double along = fabs((double)k.x[i][0]) / half;
      if (along < 0.1) middle += (double)k.x[i][1], ++nm;
      if (along > 0.8) ends += (double)k.x[i][1], ++ne;
    }
    least = fmin(least, kit_extent(&k, 0) / ((n[0] - 1) * d));
    if (nm && ne) sum += ends / ne - middle / nm, ++samples;
  }
  *out = samples ? sum / samples / (2.0 * half) : (double)NAN;
  *reach = least;
  return verify_close(v, &k);
}

/* (12): his step is such that nothing moves further in it than the support radius, as with `cfl`. A
 * cube that strikes the floor at 20 m/s: speed times step over the radius, at most; and the steps
 * of the slowest and of the busiest frame. (13): the bar of figure 2 sags as much with half the
 * step. */
static void steps(verify *v) {
  const double d = 0.02, low[3] = {-0.1, 0.9, -0.1}, frame = 1.0 / 24.0;
  const uint32_t n[3] = {10, 10, 10};
  const int quick = verify_at(v) == VERIFY_QUICK;
  double most = 0.0, once, twice, reach;
  uint32_t fewest = UINT32_MAX, greatest = 0;
  kit k;
  open_blend(v, &k, d, 0.7);
  k.params.cfl = k.params.blend_support;
  kit_apply(&k);
  kit_floor(&k, 0.3);
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  const float down[3] = {0.0f, -20.0f, 0.0f};
  for (uint32_t i = 0; i < n[0] * n[1] * n[2] && kit_good(&k); ++i)
    k.result = ooze_attribute_write(k.solver, OOZE_VELOCITY, i, 1, 0, down);
  for (int f = 0; f < 24 && kit_good(&k); ++f) {
    ooze_stats stats;
    ooze_stats_default(&stats);
    if (f && kit_good(&k)) k.result = ooze_stats_get(k.solver, &stats);
    const double before = f ? stats.max_speed : 20.0;
    kit_step(&k, frame, 1);
    if (kit_good(&k)) k.result = ooze_stats_get(k.solver, &stats);
    /* substeps get shorter or longer with the speed, from the old to the new one: their mean is
     * no longer than the longest */
    const double step = frame / stats.substeps;
    most = fmax(most, step * fmin(before, stats.max_speed) / (d * (double)k.params.blend_support));
    if (stats.substeps < fewest) fewest = stats.substeps;
    if (stats.substeps > greatest) greatest = stats.substeps;
  }
  if (!verify_close(v, &k)) return;
  verify_at_most(v, most, 1.0, "of the support radius", "step.moves");
  verify_note(v, "%u substeps in the slowest frame, %u in the busiest", (unsigned)fewest,
              (unsigned)greatest);
  verify_at_least(v, (double)greatest / fewest, 2.0, "", "step.adapts");
  if (!sag(v, 2.25, quick ? 36 : 96, 16, &once, &reach) ||
      !sag(v, 2.25, quick ? 36 : 96, 32, &twice, &reach))
    return;
  /* (8) alone would halve it; the bar swings */
  verify_within(v, twice, once, 0.3, "of its length", "step.sag-with-half-of-it");
}

/* Figure 3: a cube falls on the floor. */
static int cube(verify *v, double alpha, double *height, double *width) {
  /* his has 10,648 particles */
  const uint32_t side = verify_at(v) == VERIFY_LONG ? 22 : 10, n[3] = {side, side, side};
  const double d = 0.2 / side;
  kit k;
  measure_body b;
  open_blend(v, &k, d, alpha);
  kit_floor(&k, 0.3);
  const double low[3] = {-0.1, 0.1, -0.1};
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  for (int f = 0; f < 36 && kit_good(&k); ++f) kit_step(&k, 1.0 / 24.0, 8);
  *height = *width = (double)NAN;
  kit_read(&k);
  if (kit_good(&k)) {
    measure((measure_points)k.x, (measure_points)k.v, NULL, k.count, &b);
    *height = b.top / 0.2;
    *width = b.front / 0.1;
  }
  return verify_close(v, &k);
}

/* Figure 5c: a body falls on a hemisphere, parts, and is one again on the floor. Pieces of at least
 * 2% of it. */
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
  return verify_close(v, &k);
}

/* Figure 5a: a statue that is a solid falls on its foot, bounces, and is the shape that it was. His
 * has 3,764 particles with 85 neighbours each. */
static void statue(verify *v) {
  static const kit_capsule part[] = {
      {{0, 0.06, 0}, {0, 0.06, 0}, 0.06},
      {{-0.1, 0.05, -0.03}, {0.1, 0.05, -0.03}, 0.06},
      {{-0.1, 0.05, 0.04}, {0.1, 0.05, 0.04}, 0.06},
      {{-0.05, 0.13, 0}, {-0.05, 0.42, 0}, 0.07},
      {{0.05, 0.13, 0}, {0.05, 0.42, 0}, 0.07},
      {{0, 0.38, 0.08}, {0, 0.25, 0.11}, 0.03},
      {{-0.08, 0.39, 0.07}, {0.08, 0.39, 0.07}, 0.03},
  };
  const int quick = verify_at(v) == VERIFY_QUICK, frames = quick ? 44 : 60;
  const double d = quick ? 0.024 : 0.018, low[3] = {-0.3, 0.0, -0.3}, high[3] = {0.3, 1.0, 0.3};
  const kit_figure figure = {part, sizeof part / sizeof part[0], {0.0, 0.2, 0.0}, 1.0};
  kit k;
  double lowest = 1e9, rise = 0.0, rms = (double)NAN;
  open_blend(v, &k, d, 0.0);
  k.params.blend_support = 2.9f;
  k.params.blend_time = 0.002f;
  k.params.blend_yield = 1000.0f;
  kit_apply(&k);
  kit_floor(&k, 0.4);
  kit_fill(&k, kit_fluid(&k, 1.0, 0.0), low, high, kit_in_figure, &figure);
  kit_read(&k);
  const uint32_t n = k.count;
  float(*first)[3] = n ? malloc(n * sizeof *first) : NULL;
  for (uint32_t i = 0; first && i < n; ++i)
    for (int a = 0; a < 3; ++a) first[i][a] = k.x[i][a];
  for (int f = 0; f < frames && kit_good(&k); ++f) {
    kit_step(&k, 1.0 / 24.0, 20);
    kit_read(&k);
    double centre = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) centre += (double)k.x[i][1] / k.count;
    lowest = fmin(lowest, centre);
    if (f < 16) rise = fmax(rise, centre - lowest); /* the first bounce */
  }
  if (kit_good(&k) && first) rms = measure_rigid_rms((measure_points)k.x, (measure_points)first, n);
  const int ran = verify_close(v, &k);
  free(first);
  if (!ran) return;
  verify_at_most(v, rms / d, quick ? 1.0 : 0.5, "d", "fig5a.out-of-shape");
  verify_at_least(v, rise / d, 1.0, "d", "fig5a.bounces");
}

/* Figure 5b: a figure with some elasticity spreads on the floor, and its shape is not perfectly
 * collapsed, as it is without. */
static int fallen(verify *v, double alpha, double *height, double *width) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double d = quick ? 0.03 : 0.018, low[3] = {-0.4, 0.0, -0.4}, high[3] = {0.4, 1.0, 0.6};
  const kit_figure figure = {kit_giant, kit_giant_parts, {0.0, 0.1, -0.1}, 0.3};
  kit k;
  measure_body before, after;
  open_blend(v, &k, d, alpha);
  k.params.blend_yield = 6.0f;
  kit_apply(&k);
  kit_floor(&k, 0.5);
  kit_fill(&k, kit_fluid(&k, 1.0, 0.0), low, high, kit_in_figure, &figure);
  kit_read(&k);
  *height = *width = (double)NAN;
  if (kit_good(&k)) measure((measure_points)k.x, (measure_points)k.v, NULL, k.count, &before);
  for (int f = 0; f < (quick ? 24 : 48) && kit_good(&k); ++f) kit_step(&k, 1.0 / 24.0, 10);
  kit_read(&k);
  if (kit_good(&k)) {
    measure((measure_points)k.x, (measure_points)k.v, NULL, k.count, &after);
    *height = after.top / (before.top - before.low[1]);
    *width = after.front / before.front;
  }
  return verify_close(v, &k);
}

/* Figure 5d: four balls drop into a pool: five pieces become one, and the pool stands higher by
 * their volume. */
static void pool(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double d = quick ? 0.04 : 0.02, half[3] = {0.3, 1.5, 0.3}, middle[3] = {0.0, 1.5, 0.0},
               low[3] = {-0.3, 0.0, -0.3}, high[3] = {0.3, 1.3, 0.3};
  const kit_capsule ball[] = {{{-0.14, 0.35, -0.12}, {-0.14, 0.35, -0.12}, 0.09},
                              {{0.14, 0.6, 0.12}, {0.14, 0.6, 0.12}, 0.09},
                              {{0.13, 0.85, -0.13}, {0.13, 0.85, -0.13}, 0.09},
                              {{-0.12, 1.1, 0.14}, {-0.12, 1.1, 0.14}, 0.09}};
  const kit_figure balls = {ball, 4, {0.0, 0.0, 0.0}, 1.0};
  const uint32_t n[3] = {(uint32_t)lround(0.6 / d), (uint32_t)lround(0.16 / d),
                         (uint32_t)lround(0.6 / d)},
                 poured = n[0] * n[1] * n[2];
  kit k;
  uint32_t pieces[2] = {0, 0};
  double inside, height[2] = {0.0, 0.0};
  open_blend(v, &k, d, 0.9);
  k.params.blend_yield = 10.0f;
  kit_apply(&k);
  kit_container(&k, middle, half, 0.05);
  const uint32_t material = kit_fluid(&k, 0.5, 0.0);
  kit_block(&k, material, n, low);
  kit_fill(&k, material, low, high, kit_in_figure, &balls);
  for (int f = 0; f <= (quick ? 40 : 60) && kit_good(&k); ++f) {
    if (f) kit_step(&k, 1.0 / 24.0, quick ? 10 : 20); /* pressure is limited by the step */
    if (f && f < 30) continue;
    kit_read(&k);
    measure_pieces((measure_points)k.x, k.count, 1.5 * d, -1.0, k.count / 100, &pieces[f ? 1 : 0],
                   &inside);
    /* twice the mean height is the depth of a pool at rest */
    double sum = 0.0;
    for (uint32_t i = 0; i < (f ? k.count : poured); ++i)
      sum += 2.0 * (double)k.x[i][1] / (f ? k.count : poured);
    height[f ? 1 : 0] = sum;
  }
  const double expected = k.count > poured ? (double)k.count / poured : 1.0;
  if (!verify_close(v, &k)) return;
  verify_within(v, pieces[0], 5, 0, "", "fig5d.pieces.start");
  verify_within(v, pieces[1], 1, 0, "", "fig5d.pieces.end");
  verify_within(v, height[1] / height[0], expected, 0.15, "of the pool's depth", "fig5d.depth");
}

/* Processor time of a step of his cube, all threads together: two cores at 60 steps a second have
 * 1/30 s. */
static void blend_speed(verify *v) {
  kit k;
  const uint32_t n[3] = {22, 22, 22};
  const double d = 0.02, low[3] = {-11 * d, 0.1, -11 * d};
  open_blend(v, &k, d, 0.7);
  k.params.blend_support = 2.8f; /* 81 neighbours, as in his table 1 */
  kit_apply(&k);
  kit_floor(&k, 0.3);
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  kit_step(&k, 1.0 / 24.0, 10);
  const double before = k.step_processor;
  kit_step(&k, 8.0 / 240.0, 8);
  if (verify_ran(v, &k))
    verify_report(v, (k.step_processor - before) / 8, 1.0 / 30.0, "s of processor a step",
                  "speed.cube");
  kit_close(&k);
}

void verify_blend(verify *v) {
  static const double supports[] = {1.5, 2.25, 3.6}, alphas[] = {0.0, 0.3, 0.7, 1.0};
  const int quick = verify_at(v) == VERIFY_QUICK;
  if (verify_wants(v, "fig2")) {
    double before = (double)NAN;
    for (int i = 0; i < 3; i += quick ? 2 : 1) { /* quick: the narrowest and the widest */
      double s, reach;
      if (!sag(v, supports[i], quick ? 36 : 96, 16, &s, &reach)) return;
      if (i)
        verify_at_most(v, s, 0.75 * before, "of its length", "fig2.sag.support%.2f", supports[i]);
      else
        verify_report(v, s, (double)NAN, "of its length", "fig2.sag.support%.2f", supports[i]);
      verify_at_least(v, reach, 0.98, "of its length", "fig2.ends.support%.2f", supports[i]);
      before = s;
    }
  }
  if (verify_wants(v, "step")) steps(v);
  if (verify_wants(v, "fig3")) {
    double before = 0.0, height, width;
    for (int i = 0; i < 4; i += quick ? 3 : 1) {
      if (!cube(v, alphas[i], &height, &width)) return;
      if (i)
        verify_at_least(v, width, 1.02 * before, "", "fig3.width.alpha%.1f", alphas[i]);
      else
        /* a corner is at 1.41 */
        verify_at_most(v, width, 1.6, "", "fig3.width.alpha%.1f", alphas[i]);
      verify_report(v, height, (double)NAN, "", "fig3.height.alpha%.1f", alphas[i]);
      before = width;
    }
  }
  if (verify_wants(v, "fig5a")) statue(v);
  if (verify_wants(v, "fig5b")) {
    double height, width, flat, wide;
    if (!fallen(v, 0.8, &height, &width) || !fallen(v, 1.0, &flat, &wide)) return;
    verify_at_least(v, width, 1.05, "of its width", "fig5b.spreads");
    verify_at_least(v, height, 2.0 * flat, "of its height", "fig5b.height");
    verify_report(v, flat, (double)NAN, "of its height", "fig5b.height.fluid");
    verify_report(v, wide, (double)NAN, "of its width", "fig5b.width.fluid");
  }
  if (verify_wants(v, "fig5c")) {
    uint32_t pieces[3];
    if (!split(v, pieces)) return;
    verify_within(v, pieces[0], 1, 0, "", "fig5c.pieces.start");
    verify_at_least(v, pieces[1], 2, "", "fig5c.pieces.most");
    verify_within(v, pieces[2], 1, 0, "", "fig5c.pieces.end");
  }
  if (verify_wants(v, "fig5d")) pool(v);
  if (!quick && verify_wants(v, "speed")) blend_speed(v);
}
