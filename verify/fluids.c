/* Several fluids in one scene: how they lie on each other, and how they mix.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "check.h"

static const double G = 9.81, DT = 1.0 / 240.0, D = 0.05;

static uint32_t fluid_of(kit *k, double density, double viscosity, double mixing) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = (float)density;
  m.viscosity = (float)viscosity;
  m.mixing = (float)mixing;
  return kit_add(k, &m);
}
static double mean_height(const kit *k, uint32_t from, uint32_t to) {
  double y = 0;
  for (uint32_t i = from; i < to; ++i) y += (double)k->x[i][1] / (to - from);
  return y;
}
/* Mean distance, in separations, from particles a.. up to 0.8 separations above height y to the
 * nearest of those from b.. that are not among them and, within one fluid, lie below y. */
static double nearest(const kit *k, uint32_t a, uint32_t b, uint32_t count, double y) {
  double sum = 0;
  uint32_t many = 0;
  for (uint32_t i = a; i < a + count; ++i) {
    const double up = (double)k->x[i][1] - y;
    double best = 1e30;
    if (up > 0.8 * D || (a == b && up < 0) || up < -0.8 * D) continue;
    for (uint32_t j = b; j < b + count; ++j) {
      double r2 = 0;
      if (a == b && (double)k->x[j][1] >= y) continue;
      for (int c = 0; c < 3; ++c) r2 += pow((double)k->x[i][c] - (double)k->x[j][c], 2);
      best = fmin(best, r2);
    }
    sum += sqrt(best) / D;
    many++;
  }
  return many ? sum / many : NAN;
}

/* Two layers of equal volume in a box, at rest or, where the upper is heavier, not for long. */
static void layers(verify *v, double below, double above, const char *name) {
  const int falls = below < above;
  const uint32_t n[3] = {8, falls ? 5 : 8, 8}, half_count = n[0] * n[1] * n[2];
  const double half[3] = {4 * D, 16 * D, 4 * D}, centre[3] = {0, 16 * D, 0},
               low[3] = {-4 * D, 0, -4 * D}, up[3] = {-4 * D, n[1] * D, -4 * D};
  kit k;
  float force[3] = {0, 0, 0}, torque[3];
  if (!verify_wants(v, name)) return;
  kit_open(&k, verify_machine(v), D);
  kit_iterations(&k, 10, 10);
  ooze_collider box = kit_container(&k, centre, half, 0.0);
  kit_block(&k, fluid_of(&k, below, falls ? 0.2 : 1.0, 0.0), n, low);
  kit_block(&k, fluid_of(&k, above, falls ? 0.2 : 1.0, 0.0), n, up);
  /* a lattice would not know which way to fall */
  for (uint32_t i = 0; falls && kit_good(&k) && i < 2 * half_count; ++i) {
    const float u[3] = {0.0f, 0.2f * (i % 8 < 4 ? 1.0f : -1.0f), 0.0f};
    (void)ooze_attribute_write(k.solver, OOZE_VELOCITY, i, 1, 0, u);
  }
  for (int step = 0; kit_good(&k) && step < (falls ? 960 : 360); ++step) kit_step(&k, DT, 1);
  kit_read(&k);
  if (kit_good(&k)) (void)ooze_collider_load(k.solver, box, force, torque);
  if (verify_ran(v, &k)) {
    const uint32_t heavy = falls ? half_count : 0, light = falls ? 0 : half_count;
    const double yh = mean_height(&k, heavy, heavy + half_count),
                 yl = mean_height(&k, light, light + half_count);
    const double weight = (below + above) * half_count * D * D * D * G;
    if (falls) {
      uint32_t lost = 0, film = 0;
      for (uint32_t i = 0; i < 2 * half_count; ++i) {
        const double y = (double)k.x[i][1] / D;
        const int is_heavy = i >= heavy && i < heavy + half_count;
        film += !is_heavy && y < 1.0;
        lost += is_heavy ? y > n[1] + 1.0 : y >= 1.0 && y < n[1] - 1.0;
      }
      verify_at_most(v, (double)lost / (2.0 * half_count), 0.05, "", "%s.out-of-place", name);
      verify_note(v,
                  "share of particles more than a separation on the wrong side of the interface "
                  "after 4 s; %g over %g kg/m^3",
                  above, below);
      verify_at_most(v, (double)film / (n[0] * n[2]), 0.15, "", "%s.left-on-the-floor", name);
      verify_note(v,
                  "of a layer: the light fluid's particles nearer than a separation to the floor");
    } else {
      /* layers of equal volume: 1/2 and 3/2 of their height */
      verify_at_most(v, fabs(yl - 3.0 * yh) / D, 0.25, "d", "%s.gap", name);
      verify_note(v, "%g under %g kg/m^3: from the layers' centres of mass", below, above);
      const double across = nearest(&k, half_count, 0, half_count, 2.0 * yh),
                   within = nearest(&k, 0, 0, half_count, yh);
      verify_at_most(v, fabs(across - within), 0.25, "d", "%s.spacing", name);
      verify_note(v,
                  "to the nearest particle: %.3f d across the interface, %.3f d across a plane "
                  "within the lower fluid",
                  across, within);
    }
    verify_within(v, -(double)force[1], weight, 0.03, "N", "%s.load", name);
    double fast = 0;
    for (uint32_t i = 0; i < k.count; ++i) fast = fmax(fast, fabs((double)k.v[i][1]));
    verify_report(v, fast, 0.0, "m/s", "%s.speed", name);
  }
  kit_close(&k);
}

/* Two halves of a bar without gravity: c = erfc(y / sqrt(4 D t)) / 2. */
static void mixes(verify *v) {
  const uint32_t n[3] = {6, 20, 6}, half_count = 720;
  const double rate = 0.02, duration = 1.5, half[3] = {3 * D, 20 * D, 3 * D}, centre[3] = {0, 0, 0},
               low[3] = {-3 * D, -20 * D, -3 * D}, up[3] = {-3 * D, 0, -3 * D};
  kit k;
  double off = 0, before = 0, after = 0, slow = 0;
  if (!verify_wants(v, "mixing")) return;
  kit_open(&k, verify_machine(v), D);
  k.params.gravity[1] = 0.0f;
  kit_apply(&k);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, fluid_of(&k, 1000.0, 50.0, rate), n, low);
  kit_block(&k, fluid_of(&k, 500.0, 10.0, rate), n, up);
  for (int step = 0; kit_good(&k) && step <= (int)lround(duration / DT); ++step) {
    if (step) kit_step(&k, DT, 1);
    if (step && step < (int)lround(duration / DT)) continue;
    kit_read(&k);
    double sum = 0;
    for (uint32_t i = 0; kit_good(&k) && i < 2 * half_count; ++i) {
      float density = 0, viscosity = 0;
      (void)ooze_attribute_read(k.solver, OOZE_DENSITY, i, 1, 0, &density);
      (void)ooze_attribute_read(k.solver, OOZE_VISCOSITY, i, 1, 0, &viscosity);
      sum += (double)density;
      const double expect = 0.5 * erfc((double)k.x[i][1] / sqrt(4.0 * rate * duration));
      if (!step) continue;
      off += pow(((double)density - 500.0) / 500.0 - expect, 2) / (2.0 * half_count);
      slow += pow(((double)viscosity - 10.0) / 40.0 - expect, 2) / (2.0 * half_count);
    }
    if (step)
      after = sum;
    else
      before = sum;
  }
  if (verify_ran(v, &k)) {
    verify_at_most(v, sqrt(off), 0.05, "", "mixing.density");
    verify_note(
        v, "root mean square from erfc(y / sqrt(4 D t)) / 2, of the difference between the two");
    verify_at_most(v, sqrt(slow), 0.05, "", "mixing.viscosity");
    verify_at_most(v, fabs(after / before - 1.0), 1e-5, "", "mixing.mass");
  }
  kit_close(&k);
}

void verify_fluids(verify *v) {
  mixes(v);
  layers(v, 1000.0, 300.0, "light-on-heavy");
  if (verify_at(v) == VERIFY_QUICK) return;
  layers(v, 1000.0, 100.0, "ten-to-one");
  layers(v, 300.0, 1000.0, "heavy-on-light");
}
