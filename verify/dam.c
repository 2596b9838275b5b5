/* reference-dam: a column of water, twice as high as wide, collapses on a floor. Beside it stand
 * the experiment of Martin & Moyce (1952, n^2 = 2, a = 2.25 in) and ideal flow (ideal_dam.c).
 *
 * Fronts of the experiment are behind ideal flow by 0.27 in T (15 ms) from T = 1 on and then run at
 * its speed, while heights of the column are not behind it (docs/lab/2026-11-references.md). So the
 * bar of the experiment tells its clock too, and ideal flow tells the solver.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "ideal_dam.h"

enum { ACROSS = 16, STEPS = 64, STATES = 160 };

/* fronts Z = z / a over T = t sqrt(2 g / a): figure 3 */
static const double FRONTS[][2] = {{0.83, 1.22}, {1.22, 1.47}, {2.00, 2.29},
                                   {2.55, 3.00}, {3.35, 4.13}, {4.03, 4.94}};
/* heights of the column, over the first, over t sqrt(g / a): table 6 */
static const double HEIGHTS[][2] = {{0.56, 0.94}, {0.77, 0.89}, {0.93, 0.83}, {1.08, 0.78},
                                    {1.28, 0.72}, {1.46, 0.67}, {1.66, 0.61}, {1.84, 0.56},
                                    {2.00, 0.50}, {2.21, 0.44}, {2.45, 0.39}, {2.70, 0.33}};
#define COUNT_OF(table) (sizeof(table) / sizeof *(table))
static const double LAST = 4.03;

/* states of the solver, as ideal_dam has them */
typedef struct track {
  size_t count;
  ideal_dam at[STEPS];
} track;

static ideal_dam seen(const kit *k, double time, double a, double start) {
  const double g = 9.81, d = k->separation;
  ideal_dam s = {time, 0.0, 0.0, 0.0, 0.0};
  double height = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) {
    const double x = (double)k->x[i][0], y = (double)k->x[i][1];
    /* the front along the floor: single drops above it do not count */
    if (y < 3.0 * d) s.front = fmax(s.front, (x + 0.5 * d) / a);
    /* particles in the first quarter of the width, as a height: four are a row across */
    if (x < 0.25 * a) s.height += d * d / (a * a);
    height += y;
    for (int c = 0; c < 3; ++c) s.kinetic += 0.5 * (double)k->v[i][c] * (double)k->v[i][c];
  }
  s.kinetic /= k->count * g * a;
  s.fallen = (start - height / k->count) / a;
  return s;
}

static int collapsed(verify *v, double friction, track *out) {
  const double a = 0.05715, d = a / ACROSS, wide = 2 * d, dt = 1.0 / 192.0;
  const double origin[3] = {0, 0, 0}, right[3] = {1, 0, 0}, left[3] = {0, 0, -wide},
               far[3] = {0, 0, wide}, in[3] = {0, 0, 1}, away[3] = {0, 0, -1},
               low[3] = {0, 0, -wide};
  const uint32_t n[3] = {ACROSS, 2 * ACROSS, 4};
  kit k;
  kit_open(&k, verify_machine(v), d);
  kit_floor(&k, friction);
  kit_plane(&k, origin, right, friction);
  kit_plane(&k, left, in, 0.0);
  kit_plane(&k, far, away, 0.0);
  kit_block(&k, kit_fluid(&k, 0.001, 0.0), n, low);
  kit_read(&k);
  out->count = 0;
  const double unit = sqrt(2.0 * 9.81 / a);
  while (kit_good(&k) && out->count < STEPS) {
    out->at[out->count] = seen(&k, unit * dt * (double)out->count, a, a);
    if (out->at[out->count++].time >= LAST) break;
    kit_step(&k, dt, 1);
    kit_read(&k);
  }
  return verify_close(v, &k);
}

/* worst share by which fronts miss the experiment's, its clock having begun `late` before */
static double missed(const track *t, double late) {
  double worst = 0.0;
  for (size_t i = 0; i < COUNT_OF(FRONTS); ++i) {
    const double front = ideal_dam_at(t->at, t->count, FRONTS[i][0] - late).front;
    worst = fmax(worst, fabs(front / FRONTS[i][1] - 1.0));
  }
  return worst;
}

static void experiment(verify *v, const track *t, double friction) {
  char curve[80];
  double best = 0.0;
  snprintf(curve, sizeof curve, "front Z (over T), friction %g", friction);
  for (size_t i = 0; i < COUNT_OF(FRONTS); ++i)
    verify_point(v, curve, FRONTS[i][0], ideal_dam_at(t->at, t->count, FRONTS[i][0]).front,
                 FRONTS[i][1]);
  verify_at_most(v, missed(t, 0.0), 0.08, "", "dam.friction%g", friction);
  for (double late = 0.0; late < 0.5; late += 0.01)
    if (missed(t, late) < missed(t, best)) best = late;
  verify_note(v, "worst of six points up to Z 5, 16 particles across a; %.3f if T began %.2f early",
              missed(t, best), best);
}

static void ideal(verify *v, const track *t, const ideal_dam *states, size_t count) {
  double front = 0.0, kinetic = 0.0, energy = 0.0;
  for (size_t i = 0; i < COUNT_OF(FRONTS); ++i) {
    const double T = FRONTS[i][0];
    const ideal_dam is = ideal_dam_at(t->at, t->count, T), exact = ideal_dam_at(states, count, T);
    verify_point(v, "front Z (over T), ideal flow", T, is.front, exact.front);
    verify_point(v, "kinetic energy, m g a (over T), ideal flow", T, is.kinetic, exact.kinetic);
    front = fmax(front, fabs(is.front / exact.front - 1.0));
    kinetic = fmax(kinetic, fabs(is.kinetic / exact.kinetic - 1.0));
    energy = fmax(energy, fabs(exact.kinetic / exact.fallen - 1.0));
  }
  verify_at_most(v, front, 0.03, "", "dam.ideal.front");
  verify_note(v, "worst at the same six times, friction 0; its energy is kept within %.4f", energy);
  verify_at_most(v, kinetic, 0.08, "", "dam.ideal.kinetic");
}

static void column(verify *v, const track *t, const ideal_dam *states, size_t count) {
  double worst = 0.0, ideal_worst = 0.0;
  for (size_t i = 0; i < COUNT_OF(HEIGHTS); ++i) {
    const double T = sqrt(2.0) * HEIGHTS[i][0], H = HEIGHTS[i][1],
                 is = 0.5 * ideal_dam_at(t->at, t->count, T).height;
    verify_point(v, "height of the column over the first (over T)", T, is, H);
    worst = fmax(worst, fabs(is - H));
    ideal_worst = fmax(ideal_worst, fabs(0.5 * ideal_dam_at(states, count, T).height - H));
  }
  verify_at_most(v, worst, 0.05, "", "dam.height");
  verify_note(v, "of the first height, table 6 of the experiment; ideal flow: %.3f", ideal_worst);
}

void verify_dam(verify *v) {
  const int outside = verify_wants(v, "dam.ideal") || verify_wants(v, "dam.height");
  static ideal_dam states[STATES];
  track t;
  if (outside || verify_wants(v, "dam.friction0")) {
    if (!collapsed(v, 0.0, &t)) return;
    experiment(v, &t, 0.0);
    const size_t count = outside ? ideal_dam_run(LAST, states, STATES) : 0;
    if (count) ideal(v, &t, states, count), column(v, &t, states, count);
    if (outside && !count) verify_at_most(v, (double)NAN, 0.03, "", "dam.ideal.front");
  }
  if (verify_wants(v, "dam.friction1") && collapsed(v, 1.0, &t)) experiment(v, &t, 1.0);
}
