/* The conformation update alone, in homogeneous flow, against the upper-convected Maxwell fluid's
 * closed forms. SPDX-License-Identifier: Apache-2.0
 *
 * Stress over modulus is Q - I. The update is of first order in dt/lambda; 400 steps a relaxation
 * time leave an error of 0.5% at most; the check allows 2%. */
#include <math.h>
#include <stdio.h>

#include "check.h"

static const double lambda = 0.2;
enum { STEPS = 400 }; /* a relaxation time */

static void shear_gradient(double rate, float g[9]) {
  for (int i = 0; i < 9; ++i) g[i] = 0.0f;
  g[1] = (float)rate; /* du/dy */
}

static void run(float q[6], const float g[9], int steps) {
  const float dt = (float)(lambda / STEPS);
  for (int i = 0; i < steps; ++i) {
    float next[6];
    ooze_conformation_advance(q, g, (float)lambda, dt, next);
    for (int c = 0; c < 6; ++c) q[c] = next[c];
  }
}

static void at_rest(float q[6]) {
  for (int c = 0; c < 6; ++c) q[c] = c < 3 ? 1.0f : 0.0f;
}

void verify_rheology(verify *v) {
  static const double numbers[] = {0.1, 0.5, 1.0, 2.0}, times[] = {0.5, 1.0, 2.0, 6.0};
  char curve[80];
  float q[6], g[9];
  for (int i = 0; i < 4; ++i) { /* Wi = lambda * rate */
    double wi = numbers[i], rate = wi / lambda, shear = 0.0, normal = 0.0;
    shear_gradient(rate, g);
    at_rest(q);
    for (int k = 0, done = 0; k < 4; ++k) {
      int steps = (int)lround(times[k] * STEPS);
      run(q, g, steps - done);
      done = steps;
      double t = times[k], e = exp(-t); /* t in relaxation times; eta rate / G = Wi */
      double xy = wi * (1.0 - e), n1 = 2.0 * wi * wi * (1.0 - e * (1.0 + t));
      snprintf(curve, sizeof curve, "shear stress over G (over relaxation times), Wi %g", wi);
      verify_point(v, curve, t, (double)q[3], xy);
      snprintf(curve, sizeof curve, "normal stress over G (over relaxation times), Wi %g", wi);
      verify_point(v, curve, t, (double)q[0] - (double)q[1], n1);
      shear = fmax(shear, fabs((double)q[3] / xy - 1.0));
      normal = fmax(normal, fabs(((double)q[0] - (double)q[1]) / n1 - 1.0));
    }
    verify_at_most(v, shear, 0.02, "", "shear.Wi%g", wi);
    verify_at_most(v, normal, 0.02, "", "N1.Wi%g", wi);
  }
  { /* after steady shear at Wi 1 the flow stops: both stresses fall as exp(-t/lambda) */
    double worst = 0.0;
    at_rest(q);
    shear_gradient(1.0 / lambda, g);
    run(q, g, 8 * STEPS);
    double xy0 = (double)q[3], n0 = (double)q[0] - (double)q[1];
    shear_gradient(0.0, g);
    for (int k = 1; k <= 3; ++k) {
      run(q, g, STEPS);
      verify_point(v, "shear stress over G after the flow stops (over relaxation times)", k,
                   (double)q[3], xy0 * exp(-k));
      worst = fmax(worst, fabs((double)q[3] / (xy0 * exp(-k)) - 1.0));
      worst = fmax(worst, fabs(((double)q[0] - (double)q[1]) / (n0 * exp(-k)) - 1.0));
    }
    verify_at_most(v, worst, 0.02, "", "relaxation");
  }
  static const double pulls[] = {0.1, 0.2, 0.3, 0.4};
  for (int i = 0; i < 4; ++i) {
    double wi = pulls[i], rate = wi / lambda;
    for (int c = 0; c < 9; ++c) g[c] = 0.0f;
    g[0] = (float)rate;
    g[4] = g[8] = (float)(-0.5 * rate);
    at_rest(q);
    run(q, g, 60 * STEPS);
    double expected = 3.0 * wi / ((1.0 - 2.0 * wi) * (1.0 + wi)); /* (sigma_xx - sigma_yy) / G */
    verify_point(v, "tension over G in steady extension (over Wi)", wi, (double)q[0] - (double)q[1],
                 expected);
    verify_within(v, (double)q[0] - (double)q[1], expected, 0.02, "G", "extension.Wi%g", wi);
  }
  { /* above half rate the closed form grows without bound: ours must stay finite */
    double wi = 2.0;
    for (int c = 0; c < 9; ++c) g[c] = 0.0f;
    g[0] = (float)(wi / lambda);
    g[4] = g[8] = (float)(-0.5 * wi / lambda);
    at_rest(q);
    run(q, g, 200 * STEPS);
    double sum = 0.0;
    for (int c = 0; c < 6; ++c) sum += fabs((double)q[c]);
    verify_at_most(v, sum, 1e6, "", "extension.Wi2.finite");
  }
}
