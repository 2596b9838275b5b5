/* A column of fluid in a container: does it keep its volume and come to rest?
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"

typedef struct column {
  const char *name;
  double viscosity;
  uint32_t rest_filter, judged, wide, high; /* sweeps; 0 or 1; particles */
} column;

static void one(verify *v, const column *c, double duration) {
  const double d = 0.05, dt = 1.0 / 240.0;
  const uint32_t n[3] = {c->wide, c->high, c->wide}, layer = c->wide * c->wide;
  const double side = 0.5 * c->wide * d, full = c->high * d, low[3] = {-side, 0.0, -side};
  /* as high again above the fluid */
  const double half[3] = {side, full, side}, centre[3] = {0.0, full, 0.0};
  kit k;
  measure_body b;
  double kinetic = 0.0, speed = 0.0, squeeze = 0.0, most = 0.0, frames = 0.0, blown = 0.0;
  double surface0 = (double)NAN, middle0 = (double)NAN;
  if (!verify_wants(v, c->name)) return;
  /* by 3 s the lattice has melted */
  int steps = (int)lround(duration / dt),
      settled = (int)lround((duration > 5.0 ? duration - 5.0 : 3.0) / dt);
  kit_open(&k, verify_machine(v), d);
  k.params.rest_filter = c->rest_filter;
  kit_iterations(&k, 10, 10);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, kit_fluid(&k, c->viscosity, 0.0), n, low);
  for (int step = 1; kit_good(&k) && step <= steps; ++step) {
    kit_step(&k, dt, 1);
    if (kit_max_speed(&k) > 50.0 || k.contained) {
      blown = step * dt;
      break;
    }
    if (step != settled && step <= steps - 60) continue;
    kit_read(&k);
    if (!kit_good(&k)) break;
    measure((measure_points)k.x, (measure_points)k.v, k.compression, k.count, &b);
    if (step == settled) {
      surface0 = measure_surface((measure_points)k.x, k.count, layer / 2);
      middle0 = b.centre[1];
    }
    if (step > steps - 60) { /* the last quarter of a second */
      kinetic += b.kinetic;
      speed += b.max_speed;
      squeeze += b.mean_compression;
      if (b.max_compression > most) most = b.max_compression;
      frames += 1.0;
    }
  }
  if (verify_ran(v, &k)) {
    double surface = measure_surface((measure_points)k.x, k.count, layer / 2),
           bad = blown > 0.0 ? (double)NAN : 0.0;
    if (c->judged) {
      verify_at_most(v, squeeze / frames + bad, 0.01, "", "%s.compression", c->name);
      if (blown > 0.0) verify_note(v, "blew up at %.2f s", blown);
      verify_report(v, most, 0.023, "", "%s.compression.max", c->name);
      verify_at_most(v, fabs(b.centre[1] / middle0 - 1.0) + bad, 0.01, "", "%s.volume-drift",
                     c->name);
      verify_note(v, "of the centre's height, the last 5 s (quick: from 3 s on)");
      verify_report(v, surface / surface0 - 1.0, 0.0, "", "%s.surface-drift", c->name);
      verify_report(v, (surface + 0.5 * d) / full, 1.025, "", "%s.surface", c->name);
      verify_at_least(v, b.centre[1] / (0.5 * full) + bad, 0.97, "", "%s.centre", c->name);
      verify_note(v, "over the lattice's: all that was lost since the start");
      verify_at_most(v, kinetic / frames + bad, 5e-5, "J/kg", "%s.kinetic", c->name);
      verify_report(v, speed / frames, 0.02, "m/s", "%s.speed.max", c->name);
    } else {
      verify_report(v, kinetic / frames + bad, 6e-4, "J/kg", "%s.kinetic", c->name);
      if (blown > 0.0) verify_note(v, "blew up at %.2f s", blown);
      verify_report(v, speed / frames, 0.14, "m/s", "%s.speed.max", c->name);
    }
  }
  kit_close(&k);
}

/* Period and decay of a sloshing layer: the filter must not hold back real motion
 * (docs/theory/rest_filter.md). */
static void slosh(verify *v) {
  const double d = 0.05, dt = 1.0 / 240.0, lean = 0.35;
  const double half[3] = {7 * d, 14 * d, 7 * d}, centre[3] = {0.0, 14 * d, 0.0};
  static const double was[4] = {-26.8, 21.2, -15.7, 12.8};
  kit k;
  double before = 0.0, earlier = 0.0, peak[4] = {0};
  int peaks = 0;
  if (!verify_wants(v, "slosh")) return;
  kit_open(&k, verify_machine(v), d);
  kit_container(&k, centre, half, 0.0);
  uint32_t material = kit_fluid(&k, 1.0, 0.0);
  for (uint32_t i = 0; i < 14; ++i) { /* columns whose height rises along x */
    double top = 11.0 * (1.0 + lean * (i - 6.5) / 7.0) / (1.0 + lean);
    uint32_t n[3] = {1, (uint32_t)floor(top + 0.5), 14};
    const double low[3] = {(i - 7.0) * d, 0.0, -7 * d};
    kit_block(&k, material, n, low);
  }
  for (int step = 1; kit_good(&k) && step <= 600 && peaks < 4; ++step) {
    double x = 0.0;
    kit_step(&k, dt, 1);
    kit_read(&k);
    if (!kit_good(&k)) break;
    for (uint32_t i = 0; i < k.count; ++i) x += (double)k.x[i][0];
    x /= k.count;
    if (step > 10 && (before - earlier) * (x - before) < 0.0 && fabs(before) > 0.02 * d)
      peak[peaks++] = 1e3 * before;
    earlier = before;
    before = x;
  }
  if (verify_ran(v, &k))
    for (int i = 0; i < 4; ++i)
      verify_report(v, i < peaks ? peak[i] : (double)NAN, was[i], "mm", "slosh.peak%d", i + 1);
  kit_close(&k);
}

void verify_column(verify *v) {
  static const column mu10 = {"mu10", 10.0, 2, 1, 8, 24}, mu1 = {"mu1", 1.0, 2, 1, 8, 24},
                      bare = {"no-filter-mu10", 10.0, 0, 0, 8, 24};
  if (verify_at(v) == VERIFY_QUICK) {
    static const column quick = {"quick-mu10", 10.0, 2, 1, 6, 12};
    one(v, &quick, 4.5);
    return;
  }
  one(v, &mu10, 8.0);
  one(v, &mu1, 8.0);
  one(v, &bare, 2.0);
  slosh(v);
}
