/* 100 ml of 10 Pa s spread on a floor, against Huppert 1982, and the same with other substeps,
 * separations and iterations. SPDX-License-Identifier: Apache-2.0
 *
 * R = 0.894 (g V^3 t / (3 nu))^(1/8), with the volume that the particles have. */
#include <math.h>
#include <stdio.h>

#include "check.h"

static const double G = 9.81, FRAME = 1.0 / 24.0, MU = 10.0, RHO = 1400.0;

/* m: Huppert's radius after so many seconds. */
static double huppert(double volume, double t) {
  return 0.894 * pow(G * volume * volume * volume * t / (3.0 * MU / RHO), 0.125);
}

static void heap(verify *v, kit *k, double d, uint32_t boundary) {
  const verify_drum c = {0.0317, 0.0317};
  const double low[3] = {-0.04, 0.0, -0.04}, high[3] = {0.04, 0.0317, 0.04};
  ooze_material m;
  kit_open(k, verify_machine(v), d);
  k->patch = 0.14;
  kit_boundary(k, boundary);
  kit_floor(k, 1.0);
  ooze_material_default(&m);
  m.viscosity = (float)MU, m.density = (float)RHO;
  kit_fill(k, kit_add(k, &m), low, high, verify_in_drum, &c);
  kit_read(k);
}

/* m: of the outermost 2%. */
static double front(const kit *k, double d) {
  measure_body b;
  measure((measure_points)k->x, (measure_points)k->v, NULL, k->count, &b);
  return b.front + 0.5 * d;
}

static void spreads(verify *v, double d, uint32_t boundary, double until) {
  char row[64], curve[80];
  snprintf(row, sizeof row, "puddle.%s.%gmm", verify_wall_name(boundary), 1000.0 * d);
  if (!verify_wants(v, row)) return;
  kit k;
  heap(v, &k, d, boundary);
  const double V = k.count * d * d * d;
  double first = 0.0, last = 0.0;
  snprintf(curve, sizeof curve, "radius, m (over s), %s, %g mm", verify_wall_name(boundary),
           1000.0 * d);
  for (int frame = 1; kit_good(&k) && frame <= (int)lround(until / FRAME); ++frame) {
    kit_step(&k, FRAME, 8);
    const double t = frame * FRAME;
    if (frame % 12) continue;
    kit_read(&k);
    const double R = huppert(V, t), got = front(&k, d);
    verify_point(v, curve, t, got, R);
    if (frame == 24) first = got;
    if (frame == 24 || frame == 120 || frame == 240) {
      verify_within(v, got, R, 0.08, "m", "%s.%gs", row, t);
      verify_note(v, "%.1f ml of 10 Pa s at 1400 kg/m^3; front of the outermost 2%%", 1e6 * V);
      last = got;
    }
  }
  if (verify_ran(v, &k) && until >= 5.0) {
    const double power = log(last / first) / log(floor(until + 0.01));
    verify_at_most(v, fabs(power - 0.125), 0.015, "", "%s.exponent", row);
    verify_note(v, "%.3f, Huppert's 1/8", power);
  }
  kit_close(&k);
}

/* Radius after so many seconds over Huppert's, or NAN. */
static double radius(verify *v, double d, uint32_t boundary, uint32_t substeps, uint32_t iterations,
                     double until) {
  kit k;
  double got = (double)NAN;
  heap(v, &k, d, boundary);
  if (iterations) kit_iterations(&k, iterations, iterations);
  const double V = k.count * d * d * d;
  for (int frame = 1; kit_good(&k) && frame <= (int)lround(until / FRAME); ++frame)
    kit_step(&k, FRAME, substeps);
  kit_read(&k);
  if (verify_ran(v, &k)) got = front(&k, d) / huppert(V, until);
  kit_close(&k);
  return got;
}

/* Radius of the same puddle with other numbers. */
static void sweeps(verify *v) {
  static const uint32_t substeps[] = {4, 8, 16, 32};
  static const double separations[] = {0.006, 0.005, 0.004, 0.003};
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double d = quick ? 0.005 : 0.004;
  const double usual = radius(v, d, OOZE_BOUNDARY_SDF, 8, 0, 1.0);
  if (verify_wants(v, "puddle.substeps"))
    for (int i = 0; i < 4; ++i) {
      if (quick && substeps[i] == 16) continue;
      const double got = i == 1 ? usual : radius(v, d, OOZE_BOUNDARY_SDF, substeps[i], 0, 1.0);
      verify_point(v, "radius over Huppert's after 1 s (over substeps of a frame)", substeps[i],
                   got, usual);
      if (i == 1) continue;
      verify_within(v, got, usual, 0.03, "", "puddle.substeps.%u", substeps[i]);
      verify_note(v, "radius after 1 s over Huppert's, %g mm; expected as with 8", 1000.0 * d);
    }
  if (verify_wants(v, "puddle.iterations")) {
    verify_within(v, usual, radius(v, d, OOZE_BOUNDARY_SDF, 8, 60, 1.0), 0.03, "",
                  "puddle.iterations");
    verify_note(v, "automatic iterations; expected as with 60 + 60");
  }
  if (quick || !verify_wants(v, "puddle.separation")) return;
  const double finest = radius(v, 0.003, OOZE_BOUNDARY_SDF, 8, 0, 1.0);
  for (int i = 0; i < 4; ++i) {
    const double got = i == 3   ? finest
                       : i == 2 ? usual
                                : radius(v, separations[i], OOZE_BOUNDARY_SDF, 8, 0, 1.0);
    verify_point(v, "radius over Huppert's after 1 s (over separation, mm)", 1e3 * separations[i],
                 got, finest);
    if (i == 3) continue;
    verify_within(v, got, finest, 0.03, "", "puddle.separation.%gmm", 1e3 * separations[i]);
    verify_note(v, "radius after 1 s over Huppert's; expected as with 3 mm");
  }
}

/* Boundary particles with short substeps: as far as with the usual ones. */
static void sweep_points(verify *v) {
  if (!verify_wants(v, "puddle.particles.substeps")) return;
  const double until = verify_at(v) == VERIFY_QUICK ? 1.0 : 5.0,
               usual = radius(v, 0.005, OOZE_BOUNDARY_PARTICLES, 8, 0, until);
  verify_within(v, radius(v, 0.005, OOZE_BOUNDARY_PARTICLES, 32, 0, until), usual, 0.03, "",
                "puddle.particles.substeps.32");
  verify_note(v, "radius after %g s over Huppert's, 5 mm; expected as with 8", until);
}

void verify_puddle(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  spreads(v, 0.005, OOZE_BOUNDARY_SDF, quick ? 1.0 : 10.0);
  spreads(v, 0.005, OOZE_BOUNDARY_PARTICLES, quick ? 1.0 : 10.0);
  if (quick && !v->filter) return; /* those below where they are asked for */
  if (verify_wants(v, "puddle.substeps") || verify_wants(v, "puddle.iterations") ||
      verify_wants(v, "puddle.separation"))
    sweeps(v);
  sweep_points(v);
  if (quick) return;
  spreads(v, 0.0035, OOZE_BOUNDARY_SDF, 10.0);
  spreads(v, 0.0035, OOZE_BOUNDARY_PARTICLES, 10.0);
  spreads(v, 0.0025, OOZE_BOUNDARY_SDF, 5.0);
  spreads(v, 0.0025, OOZE_BOUNDARY_PARTICLES, 5.0);
}
