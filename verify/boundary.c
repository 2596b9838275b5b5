/* Boundary particles beside plain contact (Takahashi et al. 2014, fig. 2): a dam breaks beside a
 * wall. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "check.h"

enum { BINS = 12 }; /* of half a separation, from the wall */

typedef struct dam {
  uint32_t wide, high, deep, boundary;
  double duration;
} dam;

typedef struct profile {
  double bin[BINS]; /* number density over that of the lattice, by distance from the wall */
  double clinging;  /* share of particles left on the wall above the fluid */
  double leaked;    /* share beyond the walls */
  double settled;   /* J/kg */
  double processor; /* s */
} profile;

static int broken(verify *v, const dam *c, profile *out) {
  const double d = 0.05, dt = 1.0 / 240.0, length = 2.0 * c->wide * d, tall = 0.6 * c->high * d,
               width = c->deep * d;
  const uint32_t n[3] = {c->wide, c->high, c->deep};
  const double low[3] = {0.0, 0.0, -0.5 * width};
  const double half[3] = {0.5 * length, tall, 0.5 * width}, centre[3] = {0.5 * length, tall, 0.0};
  kit k;
  double frames = 0.0;
  memset(out, 0, sizeof *out);
  kit_open(&k, verify_machine(v), d);
  kit_iterations(&k, 10, 8);
  kit_boundary(&k, c->boundary);
  kit_container(&k, centre, half, c->boundary ? 1.0 : 0.0);
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  const int steps = (int)lround(c->duration / dt);
  for (int step = 1; kit_good(&k) && step <= steps; ++step) {
    kit_step(&k, dt, 1);
    if (step <= steps - 60) continue;
    kit_read(&k);
    if (!kit_good(&k)) break;
    /* mean depth; the wall at x = 0, away from floor and surface and from the side walls */
    double depth = 0.0, kinetic = 0.0;
    for (uint32_t i = 0; i < k.count; ++i) depth += 2.0 * (double)k.x[i][1] / k.count;
    const double bottom = 1.5 * d, top = depth - 1.5 * d, side = 0.5 * width - 1.5 * d;
    const double volume = 0.5 * d * (top - bottom) * 2.0 * side;
    for (uint32_t i = 0; i < k.count; ++i) {
      const double x = (double)k.x[i][0], y = (double)k.x[i][1], z = (double)k.x[i][2];
      for (int a = 0; a < 3; ++a) kinetic += 0.5 * (double)(k.v[i][a] * k.v[i][a]) / k.count;
      if (x < -0.25 * d || x > length + 0.25 * d || y < -0.25 * d ||
          fabs(z) > 0.5 * width + 0.25 * d)
        out->leaked += 1.0 / k.count;
      if (x < 1.5 * d && y > depth + 2.5 * d) out->clinging += 1.0 / k.count;
      if (y < bottom || y > top || fabs(z) > side) continue;
      const int bin = (int)floor(x / (0.5 * d));
      if (bin >= 0 && bin < BINS) out->bin[bin] += d * d * d / volume;
    }
    out->settled += kinetic;
    frames += 1.0;
  }
  out->processor = k.step_processor;
  for (int b = 0; b < BINS; ++b) out->bin[b] /= frames;
  out->clinging /= frames, out->leaked /= frames, out->settled /= frames;
  return verify_close(v, &k);
}

/* Mean load (N) on a box with a block of fluid in it, over the last quarter second of 1.25 s. */
static int weighed(verify *v, uint32_t boundary, double out[3], double *weight) {
  const double d = 0.02, dt = 1.0 / 240.0, half[3] = {4 * d, 16 * d, 4 * d},
               centre[3] = {0.0, 16 * d, 0.0}, low[3] = {-4 * d, 0.0, -4 * d};
  const uint32_t n[3] = {8, 8, 8};
  kit k;
  kit_open(&k, verify_machine(v), d);
  kit_boundary(&k, boundary);
  ooze_collider box = kit_container(&k, centre, half, 1.0);
  kit_block(&k, kit_fluid(&k, 2.0, 0.0), n, low);
  out[0] = out[1] = out[2] = 0.0;
  for (int step = 0; kit_good(&k) && step < 300; ++step) {
    float force[3], torque[3];
    kit_step(&k, dt, 1);
    if (step < 240 || !kit_good(&k)) continue;
    k.result = ooze_collider_load(k.solver, box, force, torque);
    for (int a = 0; a < 3; ++a) out[a] += (double)force[a] / 60.0;
  }
  *weight = 1000.0 * 512 * d * d * d * 9.81;
  return verify_close(v, &k);
}
static void verify_loads(verify *v) {
  static const char *const names[] = {"load.sdf", "load.particles"};
  for (uint32_t boundary = 0; boundary < 2; ++boundary) {
    double force[3], weight;
    if (!boundary && verify_at(v) == VERIFY_QUICK) continue; /* tests/physics/walls.c weighs it */
    if (!verify_wants(v, names[boundary]) || !weighed(v, boundary, force, &weight)) continue;
    verify_within(v, -force[1], weight, 0.03, "N", "%s", names[boundary]);
    verify_note(v, "a box carries the weight of what is in it; sideways %.2f N",
                hypot(force[0], force[2]));
  }
}

void verify_boundary(verify *v) {
  static const struct {
    const char *name;
    uint32_t boundary;
  } kinds[] = {{"particles", 1}, {"sdf", 0}};
  const int quick = verify_at(v) == VERIFY_QUICK;
  for (int k = 0; k < 2; ++k) {
    const dam c = {quick ? 10 : 16, quick ? 14 : 20, quick ? 8 : 12, kinds[k].boundary,
                   quick ? 1.2 : 3.0};
    const char *name = kinds[k].name;
    profile p;
    if (!verify_wants(v, name) || (quick && !kinds[k].boundary)) continue;
    if (!broken(v, &c, &p)) continue;
    /* the two layers next to the wall, and the layers from three to six separations in */
    double wall = 0.25 * (p.bin[0] + p.bin[1] + p.bin[2] + p.bin[3]), inner = 0.0;
    for (int b = 6; b < BINS; ++b) inner += p.bin[b] / (BINS - 6);
    if (kinds[k].boundary) {
      verify_within(v, wall / inner, 1.0, quick ? 0.25 : 0.1, "", "%s.wall-density", name);
      verify_note(v, "of two layers over that inside; bins of d/2: %.2f %.2f %.2f %.2f %.2f %.2f",
                  p.bin[0], p.bin[1], p.bin[2], p.bin[3], p.bin[4], p.bin[5]);
      verify_at_most(v, p.clinging, 0.002, "", "%s.clinging", name);
      verify_at_most(v, p.leaked, 0.0, "", "%s.leaked", name);
      verify_report(v, p.settled, (double)NAN, "J/kg", "%s.kinetic", name);
    } else {
      verify_report(v, wall / inner, 1.0, "", "%s.wall-density", name);
      verify_note(v, "bins of d/2: %.2f %.2f %.2f %.2f %.2f %.2f", p.bin[0], p.bin[1], p.bin[2],
                  p.bin[3], p.bin[4], p.bin[5]);
      verify_report(v, p.clinging, 0.0, "", "%s.clinging", name);
      verify_report(v, p.settled, (double)NAN, "J/kg", "%s.kinetic", name);
    }
    verify_report(v, p.processor, (double)NAN, "s", "%s.processor", name);
  }
  verify_loads(v);
  verify_shells(v);
}
