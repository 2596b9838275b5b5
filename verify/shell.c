/* Boundary particles alone, without a surface behind them: thin open sheets, and meshes whose
 * points each go their own way. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "measure.h"
#include "check.h"

static const double D = 0.02, DT = 1.0 / 240.0;
enum { MOST = 6000 };

static ooze_collider sheet(kit *k, float friction) {
  ooze_collider_desc c;
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SDF; /* its distance is not known */
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.friction = friction;
  if (kit_good(k)) k->result = ooze_collider_add(k->solver, &c, &handle);
  return handle;
}

/* A tank that one sheet of points parts: across (vertical, fluid on both sides, twice as high on
 * the left), or floor, with all of the fluid above it, which falls onto it from `drop` separations.
 * Returns the share that is on the wrong side in the end. */
static double parted(verify *v, int upright, double drop, double duration, double *nearest) {
  const uint32_t half = 6, high = 12;
  const double wide = half * D, low_side[3] = {-wide, 0.0, -wide};
  const double box[3] = {wide, 3 * high * D, wide}, centre[3] = {0.0, upright ? box[1] : 0.0, 0.0};
  static float p[MOST][3];
  uint32_t count = 0;
  kit k;
  kit_open(&k, verify_machine(v), D);
  kit_container(&k, centre, box, 0.0);
  const ooze_collider c = sheet(&k, 1.0f);
  for (uint32_t i = 0; i <= 2 * half; ++i) /* to the walls of the tank, and no further */
    for (uint32_t j = 0; j <= (upright ? 2 * high : 2 * half); ++j, ++count) {
      p[count][0] = upright ? 0.0f : (float)(i * D - wide),
      p[count][1] = upright ? (float)(j * D) : 0.0f;
      p[count][2] = (float)(upright ? i * D - wide : j * D - wide);
    }
  if (kit_good(&k)) k.result = ooze_collider_points(k.solver, c, count, p[0], NULL);
  const uint32_t material = kit_fluid(&k, 1.0, 0.0);
  uint32_t left = 0;
  if (upright) {
    const uint32_t a[3] = {half - 1, high, 2 * half}, b[3] = {half - 1, high / 2, 2 * half};
    const double there[3] = {D, 0.0, -wide};
    kit_block(&k, material, a, low_side);
    kit_block(&k, material, b, there);
    left = a[0] * a[1] * a[2];
  } else {
    const uint32_t a[3] = {2 * half, high, 2 * half};
    const double up[3] = {-wide, (1.0 + drop) * D, -wide};
    kit_block(&k, material, a, up);
  }
  for (int step = 0; kit_good(&k) && step < (int)lround(duration / DT); ++step) kit_step(&k, DT, 1);
  kit_read(&k);
  double wrong = 0.0;
  *nearest = 1e9;
  for (uint32_t i = 0; i < k.count; ++i) {
    const double away =
        (upright ? (i < left ? -1.0 : 1.0) * (double)k.x[i][0] : (double)k.x[i][1]) / D;
    wrong += (away < 0.0) / (double)k.count;
    *nearest = fmin(*nearest, away);
  }
  if (!verify_ran(v, &k)) wrong = (double)NAN;
  kit_close(&k);
  return wrong;
}

/* Points of a bowl, the lower half of a sphere about `at`, stretched along x by `stretch` and along
 * z by its inverse. */
static uint32_t bowl(double radius, double stretch, double rise, float p[MOST][3]) {
  uint32_t n = 0;
  const uint32_t rings = (uint32_t)ceil(0.5 * MEASURE_PI * radius / (0.9 * D));
  for (uint32_t i = 0; i <= rings; ++i) {
    const double t = 0.5 * MEASURE_PI * i / rings, r = radius * sin(t), y = -radius * cos(t);
    const uint32_t around = r > 0.3 * D ? (uint32_t)ceil(2.0 * MEASURE_PI * r / (0.9 * D)) : 1;
    for (uint32_t j = 0; j < around && n < MOST; ++j, ++n) {
      const double a = 2.0 * MEASURE_PI * (j + 0.5 * (i % 2)) / around;
      p[n][0] = (float)(stretch * r * cos(a)), p[n][1] = (float)(y + rise),
      p[n][2] = (float)(r * sin(a) / stretch);
    }
  }
  return n;
}
typedef struct ball {
  double radius;
} ball;
static int in_ball(const void *context, const double x[3]) {
  const double r = ((const ball *)context)->radius;
  return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < r * r;
}
/* A bowl that is lifted and squeezed while it is full: share of the fluid outside of it, and how
 * fast the fluid rises (m/s). */
static int carried(verify *v, double duration, double rate, double lift, double *lost,
                   double *rises) {
  const double radius = 9 * D, low[3] = {-radius, -radius, -radius},
               high[3] = {radius, -0.25 * radius, radius};
  const ball inner = {radius - 1.1 * D};
  static float from[MOST][3], to[MOST][3];
  kit k;
  kit_open(&k, verify_machine(v), D);
  const ooze_collider c = sheet(&k, 1.0f);
  kit_fill(&k, kit_fluid(&k, 20.0, 0.0), low, high, in_ball, &inner);
  const int steps = (int)lround(duration / DT);
  double stretch = 1.0, rise = 0.0;
  for (int step = 0; kit_good(&k) && step < steps; ++step) {
    const double t = (step + 1) * DT;
    const uint32_t n = bowl(radius, stretch, rise, from);
    stretch = 1.0 + rate * t, rise = lift * t;
    (void)bowl(radius, stretch, rise, to);
    k.result = ooze_collider_points(k.solver, c, n, from[0], to[0]);
    kit_step(&k, DT, 1);
  }
  kit_read(&k);
  *lost = *rises = 0.0;
  for (uint32_t i = 0; i < k.count; ++i) {
    const double x = (double)k.x[i][0] / stretch, y = (double)k.x[i][1] - rise,
                 z = (double)k.x[i][2] * stretch;
    *lost += (x * x + y * y + z * z > radius * radius || y > 0.0) / (double)k.count;
    *rises += (double)k.v[i][1] / k.count;
  }
  return verify_close(v, &k);
}
/* A flat sheet whose points part: du_x/dx (1/s) of two layers of thick fluid on it, away from its
 * ends. (Towards them it lags: a layer h thick that is drawn from below, s away, follows over a
 * length of sqrt(4 h s), here 2.7 separations.) */
static int stretched(verify *v, double duration, double rate, double *out) {
  const uint32_t n[3] = {20, 2, 8};
  const double low[3] = {-10 * D, 0.5 * D, -4 * D};
  static float from[MOST][3], to[MOST][3];
  kit k;
  kit_open(&k, verify_machine(v), D);
  const ooze_collider c = sheet(&k, 1.0f);
  kit_block(&k, kit_fluid(&k, 200.0, 0.0), n, low);
  double scale = 1.0;
  for (int step = 0; kit_good(&k) && step < (int)lround(duration / DT); ++step) {
    const double next = 1.0 + rate * (step + 1) * DT;
    uint32_t count = 0;
    for (int i = -17; i <= 17; ++i)
      for (int j = -8; j <= 8; ++j, ++count) {
        from[count][0] = (float)(0.75 * i * D * scale), to[count][0] = (float)(0.75 * i * D * next);
        from[count][1] = to[count][1] = 0.0f;
        from[count][2] = to[count][2] = (float)(0.75 * j * D);
      }
    k.result = ooze_collider_points(k.solver, c, count, from[0], to[0]);
    kit_step(&k, DT, 1);
    scale = next;
  }
  kit_read(&k);
  double xx = 0.0, xu = 0.0;
  for (uint32_t i = 0; i < k.count; ++i) {
    if (fabs((double)k.x[i][0]) > 5 * D) continue;
    xx += (double)k.x[i][0] * (double)k.x[i][0], xu += (double)k.x[i][0] * (double)k.v[i][0];
  }
  *out = xx > 0.0 ? xu / xx * scale : (double)NAN; /* back to the rate at which the sheet grows */
  return verify_close(v, &k);
}

void verify_shells(verify *v) {
  const double time = verify_at(v) == VERIFY_QUICK ? 0.3 : 1.5;
  double wrong, nearest, value;
  static const struct {
    const char *name;
    int upright;
    double height; /* separations that the fluid falls */
    const char *note;
  } sheets[] = {{"shell.one-side", 0, 0.0,
                 "share that leaks through one sheet of points under twelve layers"},
                {"shell.impact", 0, 15.0, "the same, fallen from 15 separations: 2.4 m/s"},
                {"shell.both-sides", 1, 0.0,
                 "an upright sheet, fluid twelve layers deep on one side and six on the other"}};
  for (size_t i = 0; i < sizeof sheets / sizeof *sheets; ++i) {
    if (!verify_wants(v, sheets[i].name)) continue;
    wrong = parted(v, sheets[i].upright, sheets[i].height, time, &nearest);
    verify_at_most(v, wrong, 0.0, "", "%s", sheets[i].name);
    verify_note(v, "%s; the nearest stands %.2f d off", sheets[i].note, nearest);
  }
  if (verify_wants(v, "deform.bowl")) {
    if (carried(v, fmin(time, 0.8), 0.25, 0.3, &wrong, &value)) {
      verify_at_most(v, wrong, 0.0, "", "deform.bowl.lost");
      verify_note(
          v, "of a bowl of points that is lifted at 0.3 m/s and squeezed by a quarter a second");
      verify_within(v, value, 0.3, 0.1, "m/s", "deform.bowl.rises");
    }
  }
  if (verify_wants(v, "deform.stretch")) {
    if (stretched(v, 0.25, 0.8, &value)) {
      verify_within(v, value, 0.8, 0.15, "1/s", "deform.stretch");
      verify_note(v, "du/dx of thick fluid on a sheet whose points part at 0.8/s");
    }
  }
}
