/* Laws of flow against closed forms: homogeneous flow, channels. Default settings: 8 substeps of a
 * frame of 1/24 s, 10 + 5 iterations. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const double DT = 1.0 / 192.0;

/* ---- homogeneous flow --------------------------------------------------------------------
 * A block whose particles are put back on their lattice before every step, with the velocities of
 * the flow: the solver deforms it by the same small step for as long as one likes. It is as heavy
 * as can be, so that its free surface hardly moves. The mean over its interior is compared. */

enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };

typedef struct homogeneous {
  kit k;
  float x[COUNT][3], v[COUNT][3];
  uint32_t inside[COUNT], insides;
} homogeneous;

static void flow_open(homogeneous *h, verify *v, const ooze_material *material) {
  const double d = 0.05, low[3] = {-0.5 * SIDE * d, -0.5 * SIDE * d, -0.5 * SIDE * d};
  const uint32_t n[3] = {SIDE, SIDE, SIDE};
  ooze_material m = *material;
  m.density = 1e5f;
  kit_open(&h->k, verify_machine(v), d);
  h->k.params.gravity[1] = 0.0f;
  h->k.params.substeps = 1;
  kit_apply(&h->k);
  kit_block(&h->k, kit_add(&h->k, &m), n, low);
  kit_read(&h->k);
  h->insides = 0;
  for (uint32_t i = 0; kit_good(&h->k) && i < COUNT; ++i) {
    double far = 0.0;
    memcpy(h->x[i], h->k.x[i], sizeof h->x[i]);
    for (int c = 0; c < 3; ++c) far = fmax(far, fabs((double)h->x[i][c]));
    if (far < (0.5 * SIDE - 2.5) * d) h->inside[h->insides++] = i;
  }
}

static void flow_run(homogeneous *h, const double gradient[9], int steps) {
  for (int s = 0; s < steps && kit_good(&h->k); ++s) {
    for (uint32_t i = 0; i < COUNT; ++i)
      for (int r = 0; r < 3; ++r) {
        double u = 0.0;
        for (int c = 0; c < 3; ++c) u += gradient[3 * r + c] * (double)h->x[i][c];
        h->v[i][r] = (float)u;
      }
    (void)ooze_attribute_write(h->k.solver, OOZE_POSITION, 0, COUNT, 0, h->x);
    (void)ooze_attribute_write(h->k.solver, OOZE_VELOCITY, 0, COUNT, 0, h->v);
    kit_step(&h->k, DT, 1);
  }
}

/* Pa: mean stress of the interior. */
static void flow_stress(homogeneous *h, double out[6]) {
  static float stress[COUNT][6];
  for (int c = 0; c < 6; ++c) out[c] = 0.0;
  if (!kit_good(&h->k)) return;
  kit_attribute(&h->k, OOZE_STRESS, stress);
  for (uint32_t i = 0; i < h->insides; ++i)
    for (int c = 0; c < 6; ++c) out[c] += (double)stress[h->inside[i]][c] / h->insides;
}

static void shear_of(double rate, double g[9]) {
  memset(g, 0, 9 * sizeof *g);
  g[1] = rate;
}
static void pull_of(double rate, double g[9]) {
  memset(g, 0, 9 * sizeof *g);
  g[0] = rate, g[4] = g[8] = -0.5 * rate;
}

/* Solvent and polymer in the start-up of shear: sigma = mu_s r + mu_p r (1 - exp(-t / lambda)). */
static void oldroyd(verify *v) {
  static homogeneous h;
  ooze_material m;
  const double lambda = 0.2, polymer = 40.0, solvent = 10.0, rate = 2.5;
  double g[9], s[6], t = 0.0, worst = 0.0;
  if (!verify_wants(v, "oldroyd")) return;
  ooze_material_default(&m);
  m.viscosity = (float)polymer, m.relaxation_time = (float)lambda;
  m.solvent_viscosity = (float)solvent;
  flow_open(&h, v, &m);
  shear_of(rate, g);
  for (int k = 0; k < 5; ++k) {
    flow_run(&h, g, 30);
    t += 30 * DT;
    flow_stress(&h, s);
    const double x = t / lambda, xy = solvent * rate + polymer * rate * (1.0 - exp(-x)),
                 n1 = 2.0 * polymer * lambda * rate * rate * (1.0 - exp(-x) * (1.0 + x));
    worst = fmax(worst, fabs(s[3] / xy - 1.0));
    verify_point(v, "shear stress, Pa", t, s[3], xy);
    verify_point(v, "first normal stress difference, Pa", t, s[0] - s[1], n1);
  }
  if (verify_ran(v, &h.k)) {
    verify_at_most(v, worst, 0.05, "", "oldroyd.shear");
    verify_note(v, "Oldroyd-B, start-up of shear at Wi 0.5, solvent a fifth of the viscosity");
  }
  kit_close(&h.k);
}

/* Steady stress against the law, over rates. */
static void by_rate(verify *v, const char *name, const ooze_material *m, double (*law)(double),
                    const char *about) {
  static homogeneous h;
  static const double rates[] = {0.1, 1.0, 10.0, 40.0};
  double worst = 0.0, g[9], s[6];
  if (!verify_wants(v, name)) return;
  const int quick = verify_at(v) == VERIFY_QUICK;
  for (int k = quick; k < 4 - quick; ++k) {
    flow_open(&h, v, m);
    shear_of(rates[k], g);
    flow_run(&h, g, rates[k] < 1.0 ? 400 : 120);
    flow_stress(&h, s);
    worst = fmax(worst, fabs(s[3] / law(rates[k]) - 1.0));
    verify_point(v, "shear stress, Pa (over 1/s)", rates[k], s[3], law(rates[k]));
    if (!verify_ran(v, &h.k)) return kit_close(&h.k);
    kit_close(&h.k);
  }
  verify_at_most(v, worst, 0.05, "", "%s.shear", name);
  verify_note(v, "%s; rates of %g to %g 1/s", about, rates[quick], rates[3 - quick]);
}

static double carreau_stress(double r) {
  return r * (1.0 + (50.0 - 1.0) * pow(1.0 + pow(0.5 * r, 2.0), (0.4 - 1.0) / 2.0));
}
static double power_stress(double r) { return 20.0 * pow(r, 0.5); }
static double bulkley_stress(double r) { return 30.0 + 20.0 * pow(r, 0.4); }

static void rates(verify *v) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 50.0f, m.thinning_time = 0.5f, m.flow_index = 0.4f, m.thinned_viscosity = 1.0f;
  by_rate(v, "carreau", &m, carreau_stress, "Carreau: 50 to 1 Pa s, 0.5 s, index 0.4");
  ooze_material_default(&m);
  m.consistency = 20.0f, m.flow_index = 0.5f;
  by_rate(v, "power-law", &m, power_stress, "power law: 20 Pa s^0.5");
  ooze_material_default(&m);
  m.consistency = 20.0f, m.flow_index = 0.4f, m.yield_stress = 30.0f, m.relaxation_time = 0.02f;
  by_rate(v, "herschel-bulkley", &m, bulkley_stress, "30 Pa + 20 Pa s^0.4 rate^0.4, 1 kPa");
}

/* FENE-P with k = (L^2 - 3) / (L^2 - tr Q): the steady state of k Q = I + lambda (L Q + Q L^T) by
 * bisection on the trace. */
static double fene_trace(double wi, double square, int pulls) {
  double a = 3.0, b = square;
  for (int n = 0; n < 200; ++n) {
    const double t = 0.5 * (a + b), k = (square - 3.0) / (square - t);
    double made;
    if (pulls) {
      if (k <= 2.0 * wi) {
        a = t;
        continue;
      }
      made = 1.0 / (k - 2.0 * wi) + 2.0 / (k + wi);
    } else
      made = (3.0 + 2.0 * wi * wi / (k * k)) / k;
    if (made > t)
      a = t;
    else
      b = t;
  }
  return 0.5 * (a + b);
}

static void fene(verify *v) {
  static homogeneous h;
  static const double numbers[] = {0.3, 1.0, 3.0};
  const double lambda = 0.2, mu = 40.0, square = 25.0;
  ooze_material m;
  double g[9], s[6];
  if (!verify_wants(v, "fene-p")) return;
  ooze_material_default(&m);
  m.viscosity = (float)mu, m.relaxation_time = (float)lambda;
  m.extensibility = (float)sqrt(square);
  for (int pulls = 0; pulls < 2; ++pulls)
    for (int i = 0; i < 3; ++i) {
      if (verify_at(v) == VERIFY_QUICK && i != 1) continue;
      const double wi = numbers[i], t = fene_trace(wi, square, pulls),
                   k = (square - 3.0) / (square - t), G = mu / lambda;
      const double expected = pulls ? G * k * (1.0 / (k - 2.0 * wi) - 1.0 / (k + wi)) : G * wi / k;
      flow_open(&h, v, &m);
      if (pulls)
        pull_of(wi / lambda, g);
      else
        shear_of(wi / lambda, g);
      flow_run(&h, g, 300);
      flow_stress(&h, s);
      if (!verify_ran(v, &h.k)) return kit_close(&h.k);
      const double got = pulls ? s[0] - s[1] : s[3];
      verify_point(v, pulls ? "extension, Pa (over Wi)" : "shear, Pa (over Wi)", wi, got, expected);
      verify_within(v, got, expected, 0.05, "Pa", "fene-p.%s.Wi%g", pulls ? "extension" : "shear",
                    wi);
      verify_note(v, "steady; extensibility %g, modulus %g Pa", sqrt(square), G);
      kit_close(&h.k);
    }
}

/* Two modes after a step of shear: G1 exp(-t / l1) + G2 exp(-t / l2). */
static void modes(verify *v) {
  static homogeneous h;
  const double l1 = 0.05, l2 = 0.5, mu1 = 10.0, mu2 = 50.0, rate = 1.0;
  ooze_material m;
  double g[9], s[6], worst = 0.0;
  if (!verify_wants(v, "two-modes")) return;
  ooze_material_default(&m);
  m.viscosity = (float)mu1, m.relaxation_time = (float)l1;
  m.second_viscosity = (float)mu2, m.second_relaxation_time = (float)l2;
  flow_open(&h, v, &m);
  shear_of(rate, g);
  flow_run(&h, g, 960); /* ten of the longer time: steady */
  flow_stress(&h, s);
  double off = fabs(s[3] / ((mu1 + mu2) * rate) - 1.0);
  verify_point(v, "shear stress after the flow has stopped, Pa", 0.0, s[3], (mu1 + mu2) * rate);
  shear_of(0.0, g);
  double t = 0.0;
  for (int k = 0; k < 6; ++k) {
    flow_run(&h, g, k < 2 ? 8 : 32);
    t += (k < 2 ? 8 : 32) * DT;
    flow_stress(&h, s);
    const double expected = rate * (mu1 * exp(-t / l1) + mu2 * exp(-t / l2));
    worst = fmax(worst, fabs(s[3] - expected) / ((mu1 + mu2) * rate));
    verify_point(v, "shear stress after the flow has stopped, Pa", t, s[3], expected);
  }
  if (verify_ran(v, &h.k)) {
    verify_at_most(v, off, 0.05, "", "two-modes.steady");
    verify_at_most(v, worst, 0.05, "", "two-modes.relaxation");
    verify_note(v, "of the steady stress; 0.05 and 0.5 s, 10 and 50 Pa s");
  }
  kit_close(&h.k);
}

/* ---- channels ----------------------------------------------------------------------------
 * As in channels.c: a slab nine heights long between two plates that hold it, driven along; its
 * middle, a height long, is compared. */

enum { ACROSS = 20, ALONG = 180 };
static const double D = 0.01, RHO = 1000.0;

typedef struct channel {
  kit k;
  double height, force; /* m; m/s^2 */
} channel;

static void channel_open(channel *c, verify *v, const ooze_material *m, double force) {
  const uint32_t n[3] = {ALONG, ACROSS, 4};
  const double H = ACROSS * D, wide = 2 * D, low[3] = {-0.5 * ALONG * D, 0, -wide};
  const double origin[3] = {0, 0, 0}, top[3] = {0, H, 0}, up[3] = {0, 1, 0}, down[3] = {0, -1, 0},
               left[3] = {0, 0, -wide}, right[3] = {0, 0, wide}, in[3] = {0, 0, 1},
               out[3] = {0, 0, -1};
  c->height = H, c->force = force;
  kit_open(&c->k, verify_machine(v), D);
  c->k.params.gravity[0] = (float)force;
  c->k.params.gravity[1] = 0.0f;
  kit_apply(&c->k);
  kit_plane(&c->k, origin, up, 1.0);
  kit_plane(&c->k, top, down, 1.0);
  kit_plane(&c->k, left, in, 0.0);
  kit_plane(&c->k, right, out, 0.0);
  kit_block(&c->k, kit_add(&c->k, m), n, low);
}

/* m/s: mean speed by layer of the middle third, and its height. */
static void channel_profile(channel *c, double speed[ACROSS], double where[ACROSS]) {
  double n[ACROSS] = {0}, shift = 0.0;
  kit_read(&c->k);
  for (int b = 0; b < ACROSS; ++b) speed[b] = where[b] = 0.0;
  for (uint32_t i = 0; i < c->k.count; ++i) shift += (double)c->k.x[i][0] / c->k.count;
  for (uint32_t i = 0; i < c->k.count; ++i) {
    const int b = (int)floor((double)c->k.x[i][1] / c->height * ACROSS);
    if (b < 0 || b >= ACROSS || fabs((double)c->k.x[i][0] - shift) > 10 * D) continue;
    speed[b] += (double)c->k.v[i][0], where[b] += (double)c->k.x[i][1], n[b] += 1.0;
  }
  for (int b = 0; b < ACROSS; ++b) speed[b] /= fmax(n[b], 1.0), where[b] /= fmax(n[b], 1.0);
}

/* 1/s: rate at a stress, by bisection. */
static double rate_at(double stress, double (*law)(double)) {
  double a = 0.0, b = 1e4;
  for (int n = 0; n < 100; ++n) {
    const double r = 0.5 * (a + b);
    if (law(r) < stress)
      a = r;
    else
      b = r;
  }
  return 0.5 * (a + b);
}

/* m/s at height y of the steady flow: the integral of the rate at rho f (H/2 - y). */
static double steady_speed(const channel *c, double y, double (*law)(double)) {
  enum { N = 400 };
  double u = 0.0;
  y = fmin(y, c->height - y);
  for (int n = 0; n < N; ++n)
    u += rate_at(RHO * c->force * (0.5 * c->height - y * (n + 0.5) / N), law) * y / N;
  return u;
}

static double channel_carreau(double r) {
  return r * 200.0 * pow(1.0 + pow(4.0 * r, 2.0), (0.5 - 1.0) / 2.0);
}
static double channel_bulkley(double r) { return r > 0.0 ? 40.0 + 60.0 * pow(r, 0.5) : 0.0; }

static void steady(verify *v, const char *name, const ooze_material *m, double force, double until,
                   double (*law)(double), const char *about) {
  static channel c;
  double speed[ACROSS], where[ACROSS], worst = 0.0;
  char row[64];
  snprintf(row, sizeof row, "%s", name);
  if (!verify_wants(v, row)) return;
  channel_open(&c, v, m, force);
  for (double t = 0.0; t < until && kit_good(&c.k); t += DT) kit_step(&c.k, DT, 1);
  channel_profile(&c, speed, where);
  if (!verify_ran(v, &c.k)) return kit_close(&c.k);
  const double fastest = steady_speed(&c, 0.5 * c.height, law);
  for (int b = 0; b < ACROSS; ++b) {
    const double expected = steady_speed(&c, where[b], law);
    worst = fmax(worst, fabs(speed[b] - expected) / fastest);
    verify_point(v, "speed, m/s (over height, m)", where[b], speed[b], expected);
  }
  verify_at_most(v, worst, 0.05, "", "%s", row);
  verify_note(v, "worst layer, of the fastest speed, %.3g m/s; %s", fastest, about);
  kit_close(&c.k);
}

void verify_law_channels(verify *v) {
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 200.0f, m.thinning_time = 4.0f, m.flow_index = 0.5f;
  steady(v, "carreau", &m, 1.2, 0.5, channel_carreau, "Carreau: 200 Pa s, 4 s, index 0.5");
  ooze_material_default(&m);
  m.consistency = 60.0f, m.flow_index = 0.5f, m.yield_stress = 40.0f, m.relaxation_time = 0.01f;
  steady(v, "herschel-bulkley", &m, 1.2, 0.5, channel_bulkley, "40 Pa + 60 Pa s^0.5");
}

/* Start-up of plane Poiseuille flow of an Oldroyd-B fluid (Waters and King 1970): speed in the
 * middle over the steady one, by modes cos((n + 1/2) pi y / h), each a pair of linear equations
 * for speed a and polymer stress s:
 *   a' = P_n - b k^2 a - k s,  E s' = (1 - b) k a - s,  in units of h, h^2 / nu and the steady
 * speed. */
static double waters_king(double beta, double E, double t) {
  enum { MODES = 40, STEPS = 4000 };
  double u = 0.0;
  for (int n = 0; n < MODES; ++n) {
    const double k = (n + 0.5) * MEASURE_PI, P = 2.0 * 2.0 / k * (n % 2 ? -1.0 : 1.0),
                 dt = t / STEPS;
    double a = 0.0, s = 0.0;
    for (int step = 0; step < STEPS; ++step) { /* trapezoidal rule, 2 x 2 */
      const double p = 1.0 + 0.5 * dt * beta * k * k, q = 0.5 * dt * k,
                   r = -0.5 * dt * (1.0 - beta) * k / E, w = 1.0 + 0.5 * dt / E;
      const double fa = a + dt * (P - 0.5 * beta * k * k * a - 0.5 * k * s),
                   fs = s + 0.5 * dt * ((1.0 - beta) * k * a - s) / E, det = p * w - q * r;
      a = (fa * w - q * fs) / det;
      s = (p * fs - r * fa) / det;
    }
    u += a;
  }
  return u;
}

static void start_up(verify *v, double beta, const char *name) {
  static channel c;
  const double mu = 100.0, h = 0.5 * ACROSS * D, nu = mu / RHO, E = 1.0, force = 1.0,
               lambda = E * h * h / nu, mean = force * h * h / (3.0 * nu);
  double speed[ACROSS], where[ACROSS], top = 0.0, low = 1e30, top_at = 0.0, low_at = 0.0;
  double top0 = 0.0, low0 = 1e30, top0_at = 0.0, low0_at = 0.0;
  ooze_material m;
  char row[64];
  snprintf(row, sizeof row, "%s", name);
  if (!verify_wants(v, row)) return;
  ooze_material_default(&m);
  m.viscosity = (float)((1.0 - beta) * mu), m.solvent_viscosity = (float)(beta * mu);
  m.relaxation_time = (float)lambda;
  channel_open(&c, v, &m, force);
  for (int step = 1; kit_good(&c.k) && step * DT * nu / (h * h) < 4.6; ++step) {
    kit_step(&c.k, DT, 1);
    const double T = step * DT * nu / (h * h), exact = 1.5 * waters_king(beta, E, T);
    channel_profile(&c, speed, where);
    const double now = 0.5 * (speed[ACROSS / 2 - 1] + speed[ACROSS / 2]) / mean;
    if (step % 2 == 0)
      verify_point(v, "speed in the middle, of the steady mean (over nu t / h^2)", T, now, exact);
    if (now > top && T < 2.5) top = now, top_at = T;
    if (now < low && T > 2.0) low = now, low_at = T;
    if (exact > top0 && T < 2.5) top0 = exact, top0_at = T;
    if (exact < low0 && T > 2.0) low0 = exact, low0_at = T;
  }
  if (verify_ran(v, &c.k)) {
    verify_within(v, top, top0, 0.08, "", "%s.peak", row);
    verify_note(v, "exact at %.2f, here at %.2f", top0_at, top_at);
    verify_within(v, low, low0, 0.08, "", "%s.minimum", row);
    verify_note(v, "exact at %.2f, here at %.2f", low0_at, low_at);
  }
  kit_close(&c.k);
}

void verify_laws(verify *v) {
  oldroyd(v);
  rates(v);
  fene(v);
  modes(v);
}

void verify_start_up(verify *v) {
  start_up(v, 1.0 / 9.0, "oldroyd");
  start_up(v, 0.0, "maxwell");
}
