/* The model springs (Clavet et al. 2005) and solids: its figures 1 and 8 to 11.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "springs_printed.h"
#include "check.h"

static const double d = 0.01;

static double distance(const float *x, const double c[3]) {
  return hypot(hypot((double)x[0] - c[0], (double)x[1] - c[1]), (double)x[2] - c[2]);
}

/* Fig. 1: a jet strikes a disc and leaves its edge as a sheet, which tears to filaments and drops.
 * In a ring outside the disc, which part of the circle has fluid (in steps of 5 degrees), and how
 * thick it is there: at most a few particles, or it is no sheet. */
static void fountain(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK, frames = quick ? 16 : 24;
  const double e = quick ? 0.007 : 0.005, inner = 0.05, outer = 0.075, top = 0.25;
  kit k;
  ooze_collider_desc c;
  ooze_collider disc;
  double covered = 0.0, thick = 0.0, inside;
  uint32_t bins = 0, drops = 0;
  kit_open_model(&k, verify_machine(v), e, OOZE_MODEL_SPRINGS, -9.81);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  kit_apply(&k);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_CYLINDER;
  c.half[0] = 0.03f, c.half[1] = 0.01f;
  c.friction = 0.0f;
  c.start.position[1] = c.end.position[1] = (float)top;
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &disc);
  kit_nozzle(&k, kit_fluid(&k, 0.0, 0.0), top + 0.05, 0.02, 2.0, 0.0, 0.0, 1);
  for (int f = 0; f < frames && kit_good(&k); ++f) {
    kit_step(&k, 1.0 / 60.0, quick ? 4 : 6);
    if (f < frames - 4) continue;
    kit_read(&k);
    uint32_t count[72] = {0};
    double mean[72] = {0.0}, square[72] = {0.0};
    for (uint32_t i = 0; i < k.count; ++i) {
      const double x = (double)k.x[i][0], y = (double)k.x[i][1], z = (double)k.x[i][2],
                   r = hypot(x, z);
      if (r < inner || r > outer) continue;
      const int bin = (int)((atan2(z, x) / MEASURE_PI + 1.0) * 36.0) % 72;
      count[bin]++, mean[bin] += y, square[bin] += y * y;
    }
    for (int b = 0; b < 72; ++b) {
      covered += count[b] > 0 ? 1.0 / (4 * 72) : 0.0;
      if (count[b] < 3) continue;
      const double m = mean[b] / count[b];
      /* of a layer whose heights are even */
      thick += sqrt(12.0 * fmax(square[b] / count[b] - m * m, 0.0)) / e, ++bins;
    }
    measure_pieces((measure_points)k.x, k.count, 1.6 * e, -10.0, 2, &drops, &inside);
  }
  if (!verify_close(v, &k)) return;
  verify_at_least(v, covered, 0.6, "of the circle", "fig1.sheet.covers");
  verify_at_most(v, bins ? thick / bins : (double)NAN, 4.0, "d", "fig1.sheet.thickness");
  verify_report(v, drops, (double)NAN, "pieces", "fig1.drops");
}

/* A jet on a character that moves: a capsule swings through it. Nothing may end inside, and some is
 * carried along. */
static void moving_character(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double radius = 0.05, half = 0.12, dt = 0.004;
  kit k;
  ooze_collider_desc c;
  ooze_collider body = 0;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_SPRINGS, -9.81);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  k.params.springs_stick = 0.6f;
  k.params.springs_stick_distance = 1.0f;
  kit_apply(&k);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_CAPSULE; /* upright */
  c.half[0] = (float)radius, c.half[1] = (float)half;
  c.friction = 0.1f;
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &body);
  kit_nozzle(&k, kit_fluid(&k, 0.0, 0.0), 0.28, 0.025, 1.5, 0.1, 0.0, 1);
  ooze_pose at = c.start;
  double x = 0.0;
  uint32_t inside = 0, wet = 0;
  for (int step = 0; step < (quick ? 75 : 200) && kit_good(&k); ++step) {
    const double next = 0.06 * sin(2.0 * MEASURE_PI * 1.5 * dt * (step + 1)),
                 velocity[3] = {(next - x) / dt, 0.0, 0.0};
    kit_move(&k, body, &at, velocity, dt);
    x = next;
    kit_step(&k, dt, 1);
  }
  kit_read(&k);
  for (uint32_t i = 0; i < k.count; ++i) {
    const double y = fmax(-half, fmin(half, (double)k.x[i][1])), nearest[3] = {x, y, 0.0},
                 r = distance(k.x[i], nearest) - radius;
    inside += r < -0.1 * d;
    wet += r < 1.5 * d;
  }
  const uint32_t all = k.count;
  if (!verify_close(v, &k)) return;
  verify_at_most(v, inside, 0, "particles", "fig1.character.inside");
  verify_at_least(v, all ? (double)wet / all : 0.0, 0.15, "of the fluid", "fig1.character.wet");
}

/* Fig. 8: drops rain on a ball. Half a second after the last struck: the clinging share, and how
 * far up it still is; viscous rain runs down later than thin rain. */
static int rained(verify *v, double viscosity, double *clings, double *height) {
  const double radius = 0.1, centre[3] = {0.0, 0.2, 0.0};
  kit k;
  double sum = 0.0;
  uint32_t held = 0;
  kit_capsule drop[27];
  for (int i = 0; i < 27; ++i) {
    const double at[3] = {0.06 * (i % 3 - 1) + 0.008 * (i / 9), 0.36 + 0.07 * (i / 9),
                          0.06 * (i / 3 % 3 - 1) - 0.006 * (i / 9)};
    for (int a = 0; a < 3; ++a) drop[i].a[a] = drop[i].b[a] = at[a];
    drop[i].radius = 0.02;
  }
  const kit_figure rain = {drop, verify_at(v) == VERIFY_QUICK ? 18u : 27u, {0.0, 0.0, 0.0}, 1.0};
  const double low[3] = {-0.12, 0.3, -0.12}, high[3] = {0.12, 0.6, 0.12};
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_SPRINGS, -9.81);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  k.params.springs_viscosity = (float)viscosity;
  k.params.springs_stick = 0.8f;
  k.params.springs_stick_distance = 1.0f;
  kit_apply(&k);
  kit_sphere(&k, centre, radius, 0.1);
  kit_floor(&k, 0.5);
  kit_fill(&k, kit_fluid(&k, 0.0, 0.0), low, high, kit_in_figure, &rain);
  for (int step = 0; step < 120 && kit_good(&k); ++step) kit_step(&k, 0.005, 1);
  kit_read(&k);
  for (uint32_t i = 0; i < k.count; ++i) {
    held += distance(k.x[i], centre) < radius + 3.0 * d;
    sum += (double)k.x[i][1] / k.count;
  }
  *clings = k.count ? (double)held / k.count : 0.0;
  *height = sum;
  return verify_close(v, &k);
}
static void rain(verify *v) {
  double thin[2], thick[2];
  if (!rained(v, 0.0, &thin[0], &thin[1]) || !rained(v, 2.0, &thick[0], &thick[1])) return;
  verify_at_least(v, thick[0], 0.3, "of the rain", "fig8.clings");
  verify_at_least(v, (thick[1] - thin[1]) / d, 0.5, "d", "fig8.viscous-over-thin");
}

/* Fig. 9 and 10: a block in a tank. Heavier than the fluid it goes to the ground; lighter it
 * floats, deeper the heavier it is. Gives the height of its lower side, and its draught: the volume
 * of fluid that it keeps out, over its own. The fluid alone would stand `n[1]` particles high, less
 * its compression; with the block its level is taken from the height of its centre of mass (a box
 * less the wet part of the block), as `ooze verify floating` does. */
typedef struct drowned {
  double low_side, draught, squashed;
  /* m: how much deeper than Archimedes says, with the fluid as dense as it is squashed */
  double off;
} drowned;
/* The height of a fluid's level, its centre of mass being at `mean`, in a tank of `area` in which a
 * block of `foot` and `height` stands at `low`: area L^2 / 2 - foot (L^2 - low^2) / 2 = mean (area
 * L - foot (L - low)), by bisection. */
static double level_of(double mean, double area, double foot, double height, double low,
                       double most) {
  double level = 0.0;
  for (double step = most; step > 1e-6 * most; step *= 0.5) {
    const double L = level + step, in = fmax(0.0, fmin(L, low + height) - low), top = low + in;
    const double volume = area * L - foot * in,
                 moment = 0.5 * area * L * L - 0.5 * foot * (top * top - low * low);
    if (moment < mean * volume) level = L;
  }
  return level;
}
static int drown(verify *v, double density, drowned *out) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const uint32_t n[3] = {quick ? 12u : 20u, quick ? 8u : 12u, quick ? 12u : 20u},
                 m[3] = {quick ? 6u : 8u, quick ? 4u : 6u, quick ? 6u : 8u};
  const double half[3] = {0.5 * n[0] * d, 1.0, 0.5 * n[2] * d}, middle[3] = {0.0, 1.0, 0.0},
               low[3] = {-half[0], 0.0, -half[2]};
  const double centre[3] = {0.0, (n[1] + 0.6 * m[1]) * d, 0.0}, still[3] = {0.0, 0.0, 0.0};
  const double area = 4.0 * half[0] * half[2], foot = m[0] * m[2] * d * d, height = m[1] * d;
  const uint32_t fluid = n[0] * n[1] * n[2];
  const int frames = quick ? 60 : 120;
  kit k;
  ooze_body_state b;
  double place = 0.0, wet = 0.0, squashed = 0.0;
  int samples = 0;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_SPRINGS, -9.81);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  k.params.springs_viscosity = 0.5f;
  /* four times the paper's, so that depth squashes less */
  k.params.springs_stiffness = 0.016f, k.params.springs_near_stiffness = 0.04f;
  kit_apply(&k);
  kit_container(&k, middle, half, 0.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  const ooze_body body = kit_body(&k, kit_solid(&k, density), m, centre, NULL, still, still, 0.3);
  for (int f = 0; f < frames && kit_good(&k); ++f) {
    kit_step(&k, 0.0125, 4);
    if (4 * f < 3 * frames) continue;
    kit_body_read(&k, body, &b);
    kit_read(&k);
    double mean = 0.0, low_side = (double)b.centre[1] - 0.5 * height, level = 0.0;
    /* the body's come after it */
    for (uint32_t i = 0; i < fluid && i < k.count; ++i) mean += (double)k.x[i][1] / fluid;
    level = level_of(mean, area, foot, height, low_side, 0.5);
    const double in = fmax(0.0, fmin(level, low_side + height) - low_side);
    place += low_side;
    wet += in / height;
    squashed += (area * level - foot * in) / (fluid * d * d * d);
    ++samples;
  }
  out->low_side = samples ? place / samples : (double)NAN;
  out->draught = samples ? wet / samples : (double)NAN;
  out->squashed = samples ? squashed / samples : (double)NAN;
  out->off = (out->draught - density / 1000.0 * out->squashed) * height;
  return verify_close(v, &k);
}
/* The small tank in the paper's own order, in which a solid is a shape that particles strike: how
 * much deeper its block is, in separations. */
static double drown_printed(double density) {
  enum { N = 12, HIGH = 8, FOOT = 6, TALL = 4, STEPS = 480 };
  /* h over d; d in h; s */
  const double ratio = 2.6797, e = 1.0 / ratio, T = sqrt(0.01 * ratio * d / 9.81);
  printed r;
  double off = 0.0;
  if (!printed_open(&r, N * HIGH * N, 0)) return (double)NAN;
  for (int i = 0; i < r.n; i++) {
    const double at[3] = {i % N + 0.5 - 0.5 * N, i / N % HIGH + 0.5, i / N / HIGH + 0.5 - 0.5 * N};
    for (int c = 0; c < 3; c++) r.x[i][c] = at[c] * e;
  }
  r.dt = 0.0125 / 4.0 / T, r.gravity = -0.01, r.k = 0.016, r.k_near = 0.04, r.sigma = 0.5;
  r.gap = 0.5 * e, r.has_floor = 1, r.wall = 0.5 * N * e;
  r.block.half[0] = r.block.half[2] = 0.5 * FOOT * e, r.block.half[1] = 0.5 * TALL * e;
  r.block.mass = density / 1000.0 * FOOT * FOOT * TALL, r.block.y = (HIGH + 0.6 * TALL) * e;
  for (int step = 0; step < STEPS; step++) {
    printed_step(&r);
    if (4 * step < 3 * STEPS) continue;
    double mean = 0.0, low = (r.block.y - r.block.half[1]) / e;
    for (int i = 0; i < r.n; i++) mean += r.x[i][1] / e / r.n;
    const double level = level_of(mean, N * N, FOOT * FOOT, TALL, low, 20.0),
                 in = fmax(0.0, fmin(level, low + TALL) - low);
    off += (in - r.block.mass / (FOOT * FOOT) * (N * N * level - FOOT * FOOT * in) / r.n) /
           (STEPS - 3 * STEPS / 4);
  }
  printed_close(&r);
  return off;
}
static void tank(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  drowned b;
  if (verify_wants(v, "fig9")) {
    if (!drown(v, 3000.0, &b)) return;
    verify_at_most(v, b.low_side / d, 1.5, "d", "fig9.heavy.above-the-ground");
  }
  if (!verify_wants(v, "fig10")) return;
  /* Fluid is drawn to a block by a part of its pull on itself (OZ_SPRING_BODY_PULL), so that the
   * surface along the block's edge neither lifts nor drowns it. The rest is below a separation:
   * levels are layers of particles. */
  static const double density[] = {350.0, 700.0};
  for (int i = 0; i < 2; ++i) {
    if (!drown(v, density[i], &b)) return;
    verify_at_most(v, fabs(b.off) / d, 0.75, "d", "fig10.off-archimedes.%.0f", density[i]);
    verify_note(v, "draught %.3f of its height, Archimedes %.3f", b.draught,
                density[i] / 1000.0 * b.squashed);
  }
  verify_report(v, b.squashed, 1.0, "of its volume", "fig10.fluid");
  if (quick) return;
  verify_report(v, drown_printed(density[1]), 0.0, "d", "fig10.as-printed.700");
  verify_note(
      v,
      "deeper than Archimedes, 12 x 8 x 12 particles in the paper's order: it stands on the fluid");
}

/* Fig. 11: pouring on a solid covers it: of points on the ball's upper half, the share that has
 * fluid within a separation and a half of the collision surface; and nothing goes in. */
static void poured(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double radius = quick ? 0.06 : 0.1, centre[3] = {0.0, 0.2, 0.0};
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_SPRINGS, -9.81);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  k.params.springs_viscosity = 0.3f;
  k.params.springs_stick = 0.8f;
  k.params.springs_stick_distance = 1.0f;
  kit_apply(&k);
  kit_sphere(&k, centre, radius, 0.05);
  kit_floor(&k, 0.5);
  kit_nozzle(&k, kit_fluid(&k, 0.0, 0.0), 0.45, 0.03, 1.0, 0.0, 0.0, 1);
  for (int step = 0; step < (quick ? 120 : 200) && kit_good(&k); ++step) kit_step(&k, 0.005, 1);
  kit_read(&k);
  uint32_t inside = 0, covered = 0, points = 0;
  for (uint32_t i = 0; i < k.count; ++i) inside += distance(k.x[i], centre) < radius - 0.1 * d;
  for (int p = 0; p < 200; ++p) { /* a spiral of equal areas over the upper half */
    const double y = (p + 0.5) / 200.0, r = sqrt(1.0 - y * y), turn = 2.399963 * p,
                 reach = radius + 0.5 * d;
    const double at[3] = {reach * r * cos(turn), centre[1] + reach * y, reach * r * sin(turn)};
    int wet = 0;
    for (uint32_t i = 0; i < k.count && !wet; ++i) wet = distance(k.x[i], at) < 1.5 * d;
    covered += (uint32_t)wet, ++points;
  }
  if (!verify_close(v, &k)) return;
  verify_at_most(v, inside, 0, "particles", "fig11.inside");
  verify_at_least(v, (double)covered / points, 0.6, "of its upper half", "fig11.covers");
}

void verify_springs_solids(verify *v) {
  if (verify_wants(v, "fig1.sheet")) fountain(v);
  if (verify_wants(v, "fig1.character")) moving_character(v);
  if (verify_wants(v, "fig8")) rain(v);
  tank(v);
  if (verify_wants(v, "fig11")) poured(v);
}
