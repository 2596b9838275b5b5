/* A Newtonian fluid between two walls: plane Couette and Poiseuille flow, from rest to steady.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slab of fluid stands between two plates that hold it (friction 1) and two side walls along
 * which it slides. Its ends are free, so that no pressure builds up along it; the middle third is
 * compared with the endless channel. Three heights of length are enough between moving plates.
 * Where a force drives it the ends, which do not flow as the middle does, make three heights 12%
 * faster than an endless channel, and nine 2%. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { ACROSS = 20 };
typedef struct channel {
  double separation, viscosity, density, wall_speed, force; /* m, Pa s, kg/m^3, m/s, m/s^2 */
  uint32_t along, deep;                                     /* particles */
} channel;

static double height_of(const channel *c) { return ACROSS * c->separation; }

/* u(y, t) of the endless channel, in m/s: Fourier series of the diffusion equation. */
static double exact(const channel *c, double y, double t) {
  double H = height_of(c), nu = c->viscosity / c->density;
  double u = c->wall_speed * y / H + 0.5 * c->force / nu * y * (H - y);
  for (int n = 1; n < 200; ++n) {
    double fade = exp(-n * n * MEASURE_PI * MEASURE_PI * nu * t / (H * H)),
           wave = sin(n * MEASURE_PI * y / H);
    u += 2.0 * c->wall_speed / (n * MEASURE_PI) * (n % 2 ? -1.0 : 1.0) * fade * wave;
    if (n % 2) u -= 4.0 * c->force * H * H / (nu * pow(n * MEASURE_PI, 3)) * fade * wave;
  }
  return u;
}

static void velocity_profile(verify *v, const channel *c, kit *k, double t, double scale,
                             const char *when) {
  double H = height_of(c), third = c->along * c->separation / 6.0;
  double sum[ACROSS] = {0}, n[ACROSS] = {0}, where[ACROSS] = {0}, worst = 0.0, shift = 0.0,
         all = 0.0;
  char curve[80];
  snprintf(curve, sizeof curve, "speed, m/s (over height, m), %s", when);
  kit_read(k);
  if (!verify_ran(v, k)) return;
  /* the slab as a whole may have moved along */
  for (uint32_t i = 0; i < k->count; ++i) shift += (double)k->x[i][0] / k->count;
  for (uint32_t i = 0; i < k->count; ++i) {
    int b = (int)floor((double)k->x[i][1] / H * ACROSS);
    if (b < 0 || b >= ACROSS || fabs((double)k->x[i][0] - shift) > third) continue;
    sum[b] += (double)k->v[i][0];
    where[b] += (double)k->x[i][1];
    n[b] += 1.0;
    all += 1.0;
  }
  int at = 0;
  for (int b = 0; b < ACROSS; ++b) {
    if (n[b] < 3.0) continue;
    const double y = where[b] / n[b], u = exact(c, y, t), e = (sum[b] / n[b] - u) / scale;
    verify_point(v, curve, y, sum[b] / n[b], u);
    if (!(fabs(e) <= fabs(worst))) {
      worst = e;
      at = b;
    }
  }
  if (all < 1.0) worst = (double)NAN;
  verify_at_most(v, fabs(worst), 0.10, "", "%s", when);
  double low = n[0] > 0 ? sum[0] / n[0] : 0.0,
         high = n[ACROSS - 1] > 0 ? sum[ACROSS - 1] / n[ACROSS - 1] : 0.0,
         mid = n[ACROSS / 2] > 0 ? sum[ACROSS / 2] / n[ACROSS / 2] : 0.0;
  verify_note(
      v, "worst %+.3f in layer %d; bottom %.4f middle %.4f top %.4f, exact %.4f %.4f %.4f m/s",
      worst, at, low, mid, high, exact(c, H * 0.5 / ACROSS, t),
      exact(c, H * (ACROSS / 2 + 0.5) / ACROSS, t), exact(c, H * (ACROSS - 0.5) / ACROSS, t));
}

static void run(verify *v, const channel *c) {
  const double H = height_of(c), nu = c->viscosity / c->density, dt = 1.0 / 480.0,
               wide = 0.5 * c->deep * c->separation;
  /* the worst error is taken over the wall's speed, or over the steady flow's fastest */
  const double scale = c->wall_speed > 0.0 ? c->wall_speed : c->force * H * H / (8.0 * nu);
  static const struct {
    double at; /* nu t / H^2 */
    const char *name;
  } look[] = {{0.05, "start-up.0.05"}, {0.125, "start-up.0.125"}, {0.6, "steady"}};
  const double origin[3] = {0, 0, 0}, top[3] = {0, H, 0}, up[3] = {0, 1, 0}, down[3] = {0, -1, 0};
  const double left[3] = {0, 0, -wide}, right[3] = {0, 0, wide}, in[3] = {0, 0, 1},
               out[3] = {0, 0, -1};
  const double moving[3] = {c->wall_speed, 0, 0};
  const uint32_t n[3] = {c->along, ACROSS, c->deep};
  const double low[3] = {-0.5 * c->along * c->separation, 0.0, -wide};
  kit k;
  ooze_pose lid;
  double t = 0.0;
  kit_open(&k, verify_machine(v), c->separation);
  k.params.gravity[0] = (float)c->force;
  k.params.gravity[1] = 0.0f;
  kit_iterations(&k, 20, 5);
  kit_plane(&k, origin, up, 1.0);
  ooze_collider lid_handle = kit_plane(&k, top, down, 1.0);
  kit_plane(&k, left, in, 0.0);
  kit_plane(&k, right, out, 0.0);
  ooze_pose_default(&lid);
  kit_pose_of_plane(&lid, top, down);
  kit_block(&k, kit_fluid(&k, c->viscosity, 0.0), n, low);
  for (size_t i = 0; i < sizeof look / sizeof look[0]; ++i) {
    double until = look[i].at * H * H / nu;
    while (kit_good(&k) && t < until - 0.5 * dt) {
      if (c->wall_speed > 0.0) kit_move(&k, lid_handle, &lid, moving, dt);
      kit_step(&k, dt, 1);
      t += dt;
    }
    velocity_profile(v, c, &k, t, scale, look[i].name);
    if (!kit_good(&k)) break;
  }
  kit_close(&k);
}

void verify_couette(verify *v) {
  channel c = {0.01, 100.0, 1000.0, 0.2, 0.0, 60, 6};
  if (verify_at(v) == VERIFY_QUICK) c.deep = 4;
  run(v, &c);
}

void verify_poiseuille(verify *v) {
  const channel c = {0.01, 100.0, 1000.0, 0.0, 4.0, 180, 6};
  run(v, &c);
}
