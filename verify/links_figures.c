/* Figures 2 and 5 to 9 of Takahashi, Nishita & Fujishiro 2014 with the model links, in small.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "links.h"

static const double d = LINKS_D;

/* ---- fig. 2: a dam breaks in a box; fluid neither stacks up at the walls nor gathers along the
 * edges ---- */

typedef struct dam {
  /* number density of particles within 1.5 d of the wall behind, and of its lower edge, over that
   * inside */
  double wall, edge;
  double leaked; /* share beyond the walls */
} dam;
static int dam_breaks(verify *v, uint32_t boundary, dam *out) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const uint32_t n[3] = {quick ? 10u : 16u, quick ? 12u : 20u, quick ? 8u : 12u};
  const double length = 2.0 * n[0] * d, width = n[2] * d, tall = 0.6 * n[1] * d, dt = 0.002;
  const double low[3] = {0.0, 0.0, -0.5 * width}, half[3] = {0.5 * length, tall, 0.5 * width},
               centre[3] = {0.5 * length, tall, 0.0};
  const int steps = quick ? 400 : 800, looked = 50;
  double near = 0.0, along = 0.0, inside = 0.0;
  kit k;
  memset(out, 0, sizeof *out);
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = k.params.links_beta_hot = 1.05f; /* nearly water */
  k.params.wall_density = boundary; /* the level set walls that he compares with are in no sum */
  kit_apply(&k);
  kit_boundary(&k, boundary);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 1; step <= steps && kit_good(&k); ++step) {
    kit_step(&k, dt, 1);
    if (step <= steps - looked) continue;
    kit_read(&k);
    double depth = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) depth += 2.0 * (double)k.x[i][1] / k.count;
    for (uint32_t i = 0; i < k.count; ++i) {
      const double x = (double)k.x[i][0], y = (double)k.x[i][1], z = (double)k.x[i][2],
                   side = 0.5 * width - 1.5 * d;
      if (x < -0.25 * d || x > length + 0.25 * d || y < -0.25 * d ||
          fabs(z) > 0.5 * width + 0.25 * d)
        out->leaked += 1.0 / k.count / looked;
      if (fabs(z) > side) continue;
      const double volume = 2.0 * side * 1.5 * d;
      if (x < 1.5 * d && y < 1.5 * d) along += d * d * d / (volume * 1.5 * d);
      if (x < 1.5 * d && y > 1.5 * d && y < depth - 1.0 * d)
        near += d * d * d / (volume * (depth - 2.5 * d));
      if (x > 3.0 * d && x < 6.0 * d && y > 1.5 * d && y < depth - 1.0 * d)
        inside += d * d * d / (2.0 * volume * (depth - 2.5 * d));
    }
  }
  out->wall = near / inside, out->edge = along / inside;
  return verify_close(v, &k);
}
static void fig2(verify *v) {
  dam points, plain;
  if (!dam_breaks(v, OOZE_BOUNDARY_PARTICLES, &points)) return;
  verify_within(v, points.wall, 1.0, 0.25, "of inside", "fig2.density-at-the-wall");
  verify_within(v, points.edge, 1.0, 0.35, "of inside", "fig2.density-along-the-edge");
  verify_at_most(v, points.leaked, 0.0, "", "fig2.leaked");
  if (verify_at(v) == VERIFY_QUICK || !dam_breaks(v, OOZE_BOUNDARY_SDF, &plain)) return;
  verify_report(v, plain.wall, 1.0, "of inside", "fig2.plain.density-at-the-wall");
  verify_report(v, plain.edge, 1.0, "of inside", "fig2.plain.density-along-the-edge");
}

/* ---- fig. 5: a hot and a cold ball fall on a cold solid ball in a box and mix ---- */

static void fig5(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double r = (quick ? 5.0 : 8.0) * d, hot_at = 400.0, cold_at = 300.0, dt = 0.004;
  const double left[3] = {-1.15 * r, 2.6 * r, 0.0}, right[3] = {1.15 * r, 2.6 * r, 0.0},
               solid[3] = {0.0, 0.6 * r, 0.0};
  const double half[3] = {3.0 * r, 4.0 * r, 2.2 * r}, centre[3] = {0.0, 4.0 * r, 0.0};
  const int steps = quick ? 250 : 400;
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = 1.0008f, k.params.links_beta_hot = 1.01f;
  k.params.links_temperature_cold = (float)cold_at, k.params.links_temperature_hot = (float)hot_at;
  kit_apply(&k);
  kit_boundary(&k, OOZE_BOUNDARY_PARTICLES);
  kit_heat(&k, cold_at, 20000.0);
  kit_sphere(&k, solid, r, 1.0);
  kit_container(&k, centre, half, 1.0);
  const uint32_t hot = links_ball(&k, links_material(&k, 0.0, 200.0, hot_at), left, r);
  const uint32_t all = hot + links_ball(&k, links_material(&k, 0.0, 200.0, cold_at), right, r);
  float *t = calloc(all + 1, sizeof *t);
  for (int step = 0; step < steps && kit_good(&k); ++step) {
    kit_step(&k, dt, 1);
    if (step != steps / 3) continue;
    /* on the way: the hot one is lower */
    double low[2] = {0.0, 0.0};
    kit_read(&k);
    for (uint32_t i = 0; i < all; ++i)
      low[i >= hot] += (double)k.x[i][1] / (i < hot ? hot : all - hot) / r;
    if (kit_good(&k)) verify_at_least(v, low[1] - low[0], 0.15, "radii", "fig5.hot-flows-first");
  }
  kit_read(&k);
  if (kit_good(&k)) (void)ooze_attribute_read(k.solver, OOZE_TEMPERATURE, 0, all, 0, t);
  double mean = 0.0, mixed = 0.0;
  for (uint32_t i = 0; i < hot; ++i) {
    int met = 0;
    mean += (double)t[i] / hot;
    for (uint32_t j = hot; j < all && !met; ++j) {
      double r2 = 0.0;
      for (int c = 0; c < 3; ++c) r2 += pow((double)(k.x[i][c] - k.x[j][c]), 2);
      met = r2 < 2.2 * 2.2 * d * d;
    }
    mixed += (double)met / hot;
  }
  free(t);
  if (!verify_close(v, &k)) return;
  verify_at_most(v, mean, hot_at - 30.0, "K", "fig5.cooled");
  verify_at_least(v, mixed, 0.05, "of the hot ball", "fig5.touches-the-cold-one");
}

/* ---- fig. 6: a ball drops; the step against the limit of explicit viscosity of the same strength
 * ---- */

/* Height over radius that a ball has a while after it was put on the floor. */
static int ball_drops(verify *v, uint32_t model, double beta, double viscosity, double dt, double r,
                      kit *k) {
  const double at[3] = {0.0, r + 0.5 * d, 0.0};
  kit_open_model(k, verify_machine(v), d, model, -9.81);
  k->params.links_beta_cold = k->params.links_beta_hot = (float)beta;
  k->params.links_time = 9.06e-4f;
  if (model == OOZE_MODEL_CONFORMATION) k->params.velocity_iterations = 20;
  kit_apply(k);
  kit_floor(k, 1.0);
  (void)links_ball(k, kit_fluid(k, viscosity, 0.0), at, r);
  for (int step = 0; step < (int)lround(0.3 / dt) && kit_good(k); ++step) kit_step(k, dt, 1);
  kit_read(k);
  return verify_ran(v, k);
}
static double ball_height(const kit *k, double r) {
  return measure_surface((measure_points)k->x, k->count, k->count / 50) / r;
}
/* Largest eigenvalue, m^-2, of -sum_j V (v_j - v_i) lap W_ij, the Laplacian form of viscosity with
 * Mueller's kernel, by power iteration: explicit steps are stable up to 2 / (nu times it). */
static double laplacian_largest(const kit *k) {
  const double h = 2.2 * d, norm = d * d * d * 45.0 / (MEASURE_PI * pow(h, 6));
  const uint32_t n = k->count;
  double *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b), value = 0.0;
  uint32_t seed = 1;
  for (uint32_t i = 0; a && i < n; ++i)
    seed = seed * 1664525u + 1013904223u, a[i] = (double)(seed >> 8) / (1u << 23) - 1.0;
  for (int round = 0; a && b && round < 30; ++round) {
    double size = 0.0, was = 0.0;
    for (uint32_t i = 0; i < n; ++i) b[i] = 0.0, was += a[i] * a[i];
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = i + 1; j < n; ++j) {
        double r2 = 0.0;
        for (int c = 0; c < 3; ++c)
          r2 += (double)(k->x[i][c] - k->x[j][c]) * (double)(k->x[i][c] - k->x[j][c]);
        if (r2 >= h * h) continue;
        const double w = norm * (h - sqrt(r2)) * (a[i] - a[j]);
        b[i] += w, b[j] -= w;
      }
    for (uint32_t i = 0; i < n; ++i) size += b[i] * b[i];
    value = sqrt(size / was);
    for (uint32_t i = 0; i < n; ++i) a[i] = b[i] / sqrt(size);
  }
  free(a), free(b);
  return value;
}
static void steps_of(verify *v, const char *name, double beta, double at_least) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double r = (quick ? 5.0 : 7.0) * d, first = 9.06e-4;
  double height, low = 1.0, high = 1e5, longest = first, ours;
  kit k;
  int ran = ball_drops(v, OOZE_MODEL_LINKS, beta, 0.0, first, r, &k);
  height = ball_height(&k, r);
  const double eigenvalue = ran ? laplacian_largest(&k) : 0.0;
  kit_close(&k);
  if (!ran) return;
  /* steps twice as long each, as long as the ball ends as high, by a fifth, and nothing flies about
   */
  for (double dt = 2.0 * first; dt < 0.04; dt *= 2.0) {
    ran = ball_drops(v, OOZE_MODEL_LINKS, beta, 0.0, dt, r, &k);
    const double speed = kit_max_speed(&k);
    ours = ball_height(&k, r);
    kit_close(&k);
    if (!ran || speed > 2.0 || fabs(ours - height) > 0.2 * height) break;
    longest = dt;
  }
  /* the viscosity with which a Newtonian fluid ends as high: the conformation model's, which is
   * implicit */
  for (int round = 0; round < (quick ? 6 : 9); ++round) {
    const double middle = sqrt(low * high);
    ran = ball_drops(v, OOZE_MODEL_CONFORMATION, beta, middle, 1.0 / 240.0, r, &k);
    const double at = ball_height(&k, r);
    kit_close(&k);
    if (!ran) return;
    if (at < height)
      low = middle;
    else
      high = middle;
  }
  const double viscosity = sqrt(low * high), step = 2.0 / (viscosity / 1000.0 * eigenvalue);
  verify_report(v, height, (double)NAN, "radii", "fig6.%sheight", name);
  verify_report(v, viscosity, (double)NAN, "Pa s", "fig6.%sviscosity-of-the-same-height", name);
  verify_report(v, 1e3 * step, 5.41e-3, "ms", "fig6.%sexplicit-step", name);
  verify_report(v, 1e3 * longest, 0.906, "ms", "fig6.%sour-longest-step", name);
  verify_at_least(v, longest / step, at_least, "times", "fig6.%sratio", name);
  verify_note(
      v,
      "the paper: 167, with a thicker fluid or finer particles; at its own step of 0.906 ms %.1f",
      first / step);
}
static void fig6(verify *v) {
  steps_of(v, "", 1.0005, 20.0);
  if (verify_at(v) != VERIFY_QUICK) steps_of(v, "thick.", 1.00005, 20.0);
}

/* ---- fig. 8: a sheet that is poured folds to and fro ---- */

/* Mean x of the sheet a little above its pile, which is where it is wider than `thick`;
 * NAN if there is none. */
static double lean(const kit *k, double thick, double top) {
  enum { SLABS = 32 };
  double low[SLABS], high[SLABS], sum[SLABS], count[SLABS];
  for (int s = 0; s < SLABS; ++s) low[s] = 1e9, high[s] = -1e9, sum[s] = count[s] = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) {
    const int s = (int)floor((double)k->x[i][1] / d);
    if (s < 0 || s >= SLABS) continue;
    low[s] = fmin(low[s], (double)k->x[i][0]), high[s] = fmax(high[s], (double)k->x[i][0]);
    sum[s] += (double)k->x[i][0], count[s] += 1.0;
  }
  int s = 0;
  for (int at = 0; at < SLABS && at * d < top; ++at)
    if (count[at] > 0.0 && high[at] - low[at] > thick) s = at;
  s += 2;
  return s < SLABS && s * d < top && count[s] > 0.0 ? sum[s] / count[s] : (double)NAN;
}
static int sheet(verify *v, double beta, int *out_folds, double *out_leans) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double dt = 0.003, height = 0.16, speed = 0.5;
  const uint32_t n[3] = {3, 1, quick ? 6u : 12u};
  const double low[3] = {-1.5 * d, height, -0.5 * n[2] * d};
  const int steps = quick ? 400 : 800, every = (int)lround(d / speed / dt);
  int folds = 0, way = 0;
  double least = 0.0, most = 0.0, widest = 0.0;
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = k.params.links_beta_hot = (float)beta;
  kit_apply(&k);
  kit_floor(&k, 1.0);
  const uint32_t m = kit_fluid(&k, 0.0, 0.0);
  for (int step = 0; step < steps && kit_good(&k); ++step) {
    if (step % every == 0) links_layer(&k, m, n, low, speed, step == every ? 0.05 * d : 0.0);
    kit_step(&k, dt, 1);
    if (step % 4) continue;
    kit_read(&k);
    const double x = lean(&k, 5.0 * d, height - 3.0 * d);
    if (!isfinite(x)) continue;
    widest = fmax(widest, fabs(x));
    /* it has turned back when it is half a separation from where it leaned furthest */
    least = fmin(least, x), most = fmax(most, x);
    if (way >= 0 && x < most - 0.5 * d)
      folds += way != 0, way = -1, least = x;
    else if (way <= 0 && x > least + 0.5 * d)
      folds += way != 0, way = 1, most = x;
  }
  const int ran = verify_close(v, &k);
  *out_folds = folds, *out_leans = widest / d;
  return ran;
}
static void fig8(verify *v) {
  int thick, thin;
  double leans[2];
  if (!sheet(v, 1.0005, &thick, &leans[0]) || !sheet(v, 1.03, &thin, &leans[1])) return;
  verify_at_least(v, thick, verify_at(v) == VERIFY_QUICK ? 4 : 8, "turns", "fig8.folds");
  verify_at_least(v, leans[0], 1.0, "d", "fig8.leans");
  verify_at_most(v, thin, thick / 3.0, "turns", "fig8.thin-fluid-does-not");
}

/* ---- fig. 7: a thread that falls on the ground coils: how often the place where it lands goes
 * round ---- */

static const double RADIUS = 0.012; /* m, of the nozzle */
static int thread(verify *v, double beta, measure_turns *turns, double *mound) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double e = 0.005, radius = RADIUS, top = 0.2, dt = 1.0 / 240.0;
  const int steps = quick ? 288 : verify_at(v) == VERIFY_LONG ? 1440 : 600; /* 1.2, 6 and 2.5 s */
  kit k;
  measure_turns_begin(turns, 0.2 * e);
  kit_open_model(&k, verify_machine(v), e, OOZE_MODEL_LINKS, -9.81);
  k.params.position_iterations = 12;
  kit_apply(&k);
  kit_floor(&k, 0.5);
  kit_nozzle(&k, links_material(&k, beta, 0.0, 293.0), top, radius, 0.35, 0.01, 0.0, 1);
  for (int step = 1; kit_good(&k) && step <= steps; ++step) {
    kit_step(&k, dt, 1);
    if (step < 96 || step % 2) continue; /* it has landed, and leans one way */
    double at[3];
    kit_read(&k);
    if (kit_good(&k) && measure_contact((measure_points)k.x, (measure_points)k.v, k.count, e,
                                        0.9 * top, radius, at))
      measure_turns_add(turns, at[0], at[2]);
  }
  *mound = kit_good(&k) ? measure_surface((measure_points)k.x, k.count, k.count / 2) / radius
                        : (double)NAN;
  return verify_close(v, &k);
}
static void fig7(verify *v) {
  measure_turns thick, thin;
  double mound[2];
  if (!thread(v, 1.00005, &thick, &mound[0]) || !thread(v, 1.03, &thin, &mound[1])) return;
  /* a thick thread lands beside the axis, further than it is wide, and goes round it; a thin one
   * runs away under its own foot */
  const double beside = thick.samples ? thick.radius / thick.samples : 0.0,
               under = thin.samples ? thin.radius / thin.samples : (double)NAN;
  const int quick = verify_at(v) == VERIFY_QUICK;
  verify_at_least(v, beside / RADIUS, quick ? 0.5 : 1.0, "radii", "fig7.lands-beside-the-axis");
  verify_at_most(v, under / beside, 0.5, "", "fig7.thin-fluid-does-not");
  verify_at_least(v, mound[0] / mound[1], 1.5, "times as high", "fig7.piles-up");
  if (quick) return;
  verify_at_least(v, fabs(thick.net) / (2.0 * MEASURE_PI), 0.75, "turns", "fig7.turns");
  verify_note(v, "%.1f turns to and fro, of the thread's end %.1f mm from the axis",
              thick.total / (2.0 * MEASURE_PI), 1e3 * beside);
}

/* ---- fig. 9: lumps of unlike viscosity fall on a solid one after the other ---- */

static void fig9(verify *v) {
  static const double beta[3] = {1.02, 1.002, 1.0002};
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double r = (quick ? 4.0 : 6.0) * d, solid[3] = {0.0, 0.6 * r, 0.0}, dt = 0.003;
  double spread[3] = {0.0, 0.0, 0.0}, inside = 0.0;
  uint32_t count[4] = {0};
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  kit_boundary(&k, OOZE_BOUNDARY_PARTICLES);
  kit_sphere(&k, solid, 1.6 * r, 1.0);
  kit_boundary(&k, OOZE_BOUNDARY_SDF);
  kit_floor(&k, 1.0);
  for (int i = 0; i < 3; ++i) { /* the thick one first, the thin one on top */
    const double at[3] = {0.3 * d * i, (4.0 + 2.5 * i) * r, 0.0};
    count[i + 1] = count[i] + links_ball(&k, links_material(&k, beta[2 - i], 0.0, 293.0), at, r);
  }
  for (int step = 0; step < (quick ? 220 : 350) && kit_good(&k); ++step) kit_step(&k, dt, 1);
  kit_read(&k);
  for (int i = 0; i < 3; ++i)
    for (uint32_t j = count[i]; j < count[i + 1]; ++j) {
      const double x = (double)k.x[j][0], y = (double)k.x[j][1] - solid[1], z = (double)k.x[j][2];
      spread[2 - i] += sqrt(x * x + z * z) / r / (count[i + 1] - count[i]);
      inside += sqrt(x * x + y * y + z * z) < 1.6 * r - 0.2 * d;
    }
  if (!verify_close(v, &k)) return;
  verify_at_least(v, spread[0] / spread[1], 1.1, "times as wide", "fig9.thin-over-middle");
  verify_at_least(v, spread[1] / spread[2], 1.1, "times as wide", "fig9.middle-over-thick");
  verify_at_most(v, inside, 0.0, "particles", "fig9.inside-the-solid");
}

void verify_links_figures(verify *v) {
  if (verify_wants(v, "fig2")) fig2(v);
  if (verify_wants(v, "fig5")) fig5(v);
  if (verify_wants(v, "fig6")) fig6(v);
  if (verify_wants(v, "fig7")) fig7(v);
  if (verify_wants(v, "fig8")) fig8(v);
  if (verify_wants(v, "fig9")) fig9(v);
}
