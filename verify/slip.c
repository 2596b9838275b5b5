/* Friction and stick of walls, whatever the viscosity: a drop on a slope, a layer under a ceiling
 * (Clavet et al. 2005, 6.2). SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"

static const double G = 9.81, DT = 1.0 / 240.0;

/* Mean speed (m/s) down a slope after `duration` s from rest. */
static double slide(verify *v, kit *k, uint32_t boundary, double friction, double viscosity,
                    double angle, double duration) {
  const double d = 0.05, normal[3] = {0.0, 1.0, 0.0}, foot[3] = {0, 0, 0},
               low[3] = {-3 * d, 0.0, -3 * d};
  const uint32_t n[3] = {6, 4, 6};
  double speed = 0.0;
  kit_open(k, verify_machine(v), d);
  /* the slope lies flat and gravity leans */
  k->params.gravity[0] = (float)(G * sin(angle)), k->params.gravity[1] = (float)(-G * cos(angle));
  kit_apply(k);
  kit_boundary(k, boundary);
  k->patch = 20 * d;
  kit_plane(k, foot, normal, friction);
  kit_block(k, kit_fluid(k, viscosity, 0.0), n, low);
  for (int step = 0; kit_good(k) && step < (int)lround(duration / DT); ++step) kit_step(k, DT, 1);
  kit_read(k);
  for (uint32_t i = 0; i < k->count; ++i) speed += (double)k->v[i][0] / k->count;
  return speed;
}

/* One slope, slippery where z is below 0 and not above, with a drop on each half: their mean speeds
 * (m/s) after `duration` s. */
static int halves(verify *v, uint32_t boundary, double viscosity, double angle, double duration,
                  double speed[2]) {
  enum { SIDE = 41 };
  const double d = 0.05, normal[3] = {0.0, 1.0, 0.0}, foot[3] = {0, 0, 0};
  const uint32_t n[3] = {6, 4, 6};
  static float place[SIDE * SIDE][3], friction[SIDE * SIDE];
  kit k;
  kit_open(&k, verify_machine(v), d);
  k.params.gravity[0] = (float)(G * sin(angle)), k.params.gravity[1] = (float)(-G * cos(angle));
  kit_apply(&k);
  kit_boundary(&k, boundary);
  k.patch = 0.5 * (SIDE - 1) * d;
  ooze_collider slope = kit_plane(&k, foot, normal, 0.5);
  for (int i = 0; i < SIDE * SIDE; ++i) {
    place[i][0] = (float)((i / SIDE - SIDE / 2) * d), place[i][1] = 0.0f,
    place[i][2] = (float)((i % SIDE - SIDE / 2) * d);
    friction[i] = i % SIDE < SIDE / 2 ? 0.0f : 1.0f;
  }
  if (kit_good(&k))
    k.result = ooze_collider_friction_map(k.solver, slope, (float)d, SIDE * SIDE, place[0],
                                          friction, NULL);
  for (int side = 0; side < 2; ++side) {
    const double low[3] = {-12 * d, 0.0, (side ? 6 : -12) * d};
    kit_block(&k, kit_fluid(&k, viscosity, 0.0), n, low);
  }
  for (int step = 0; kit_good(&k) && step < (int)lround(duration / DT); ++step) kit_step(&k, DT, 1);
  kit_read(&k);
  speed[0] = speed[1] = 0.0;
  for (uint32_t i = 0; i < k.count; ++i)
    speed[k.x[i][2] > 0.0f] += 2.0 * (double)k.v[i][0] / k.count;
  return verify_close(v, &k);
}

/* Separations from a plate, which rises off a block of viscous fluid, to the highest particle.
 * Walls count in the density. */
static double lift(verify *v, kit *k, uint32_t boundary, double stick, double friction) {
  const double d = 0.02, speed = 0.1, low[3] = {-4 * d, 0.0, -4 * d}, up[3] = {0.0, speed, 0.0},
               half = 2 * d;
  const uint32_t n[3] = {8, 6, 8};
  double highest = 0.0, top = 6 * d;
  ooze_collider_desc c;
  ooze_collider plate = 0;
  ooze_pose pose;
  kit_open(k, verify_machine(v), d);
  kit_floor(k, 1.0);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.stick = (float)stick;
  c.friction = (float)friction;
  c.boundary = boundary;
  c.half[0] = c.half[2] = (float)(6 * d), c.half[1] = (float)half;
  c.start.position[1] = (float)(top + half);
  c.end = pose = c.start;
  if (kit_good(k)) k->result = ooze_collider_add(k->solver, &c, &plate);
  kit_block(k, kit_fluid(k, 500.0, 0.0), n, low);
  for (int step = 0; step < 60 && kit_good(k); ++step) {
    kit_move(k, plate, &pose, up, DT);
    kit_step(k, DT, 1);
    top += DT * speed;
  }
  kit_read(k);
  for (uint32_t i = 0; i < k->count; ++i) highest = fmax(highest, (double)k->x[i][1]);
  return (top - highest) / d;
}
/* Separations that a layer under a sticky ceiling has come down after half a second. */
static double hang(verify *v, kit *k, double stick) {
  const double d = 0.05, low[3] = {-3 * d, -d, -3 * d};
  const uint32_t n[3] = {6, 1, 6};
  double height = 0.0;
  kit_open(k, verify_machine(v), d);
  ooze_collider_desc c;
  ooze_collider_desc_default(&c);
  c.stick = (float)stick;
  c.wall_density = 0;
  const double point[3] = {0.0, 0.0, 0.0}, down[3] = {0.0, -1.0, 0.0};
  kit_pose_of_plane(&c.start, point, down);
  c.end = c.start;
  if (kit_good(k)) (void)ooze_collider_add(k->solver, &c, NULL);
  k->params.wall_density = 0; /* then walls hold at half a separation, where the layer is */
  kit_apply(k);
  kit_block(k, kit_fluid(k, 1.0, 0.0), n, low);
  for (int step = 0; kit_good(k) && step < 120; ++step) kit_step(k, DT, 1);
  kit_read(k);
  for (uint32_t i = 0; i < k->count; ++i) height += (double)k->x[i][1] / k->count;
  return (-0.5 * d - height) / d;
}

/* Stiff elastic matter, solid chocolate of 20 kPa, for a second on a sticky floor, or under a
 * ceiling (up -1): root mean square speed, m/s, and how far its middle has moved away from the
 * wall, separations. */
static double stays(verify *v, kit *k, double up, double stick, double *moved) {
  const double d = 0.004, low[3] = {-3 * d, up > 0.0 ? 0.0 : -4 * d, -3 * d},
               point[3] = {0.0, 0.0, 0.0}, normal[3] = {0.0, up, 0.0};
  const uint32_t n[3] = {6, 4, 6};
  double speed = 0.0, height = 0.0;
  ooze_collider_desc c;
  ooze_material m;
  kit_open(k, verify_machine(v), d);
  ooze_collider_desc_default(&c);
  c.stick = (float)stick, c.friction = 1.0f;
  kit_pose_of_plane(&c.start, point, normal);
  c.end = c.start;
  if (kit_good(k)) (void)ooze_collider_add(k->solver, &c, NULL);
  ooze_material_default(&m);
  m.density = 1270.0f, m.viscosity = 2e7f, m.relaxation_time = 1e3f;
  kit_block(k, kit_add(k, &m), n, low);
  for (int step = 0; kit_good(k) && step < 240; ++step) kit_step(k, DT, 1);
  kit_read(k);
  for (uint32_t i = 0; i < k->count; ++i) {
    height += up * (double)k->x[i][1] / k->count;
    for (int a = 0; a < 3; ++a) speed += (double)k->v[i][a] * (double)k->v[i][a] / k->count;
  }
  *moved = height / d - 2.0;
  return sqrt(speed);
}

/* The plate takes the fluid along: at most 0.7 separations are left between the two. */
static void lifts(verify *v, uint32_t boundary, double stick, double friction, const char *name,
                  const char *note) {
  kit k;
  double left = lift(v, &k, boundary, stick, friction);
  if (verify_ran(v, &k)) verify_at_most(v, left, 0.7, "d", "stick.%s", name);
  verify_note(v, "%s", note);
  kit_close(&k);
}

void verify_slip(verify *v) {
  const double angle = 0.3, time = 0.5, free_speed = G * sin(angle) * time;
  static const double thick[3] = {50.0, 2000.0, 20000.0};
  kit k;
  for (int i = 0; i < 3; ++i) {
    double speed;
    if (verify_wants(v, "free")) {
      speed = slide(v, &k, 0, 0.0, thick[i], angle, time);
      if (verify_ran(v, &k))
        verify_within(v, speed, free_speed, 0.05, "m/s", "free.viscosity-%.0f", thick[i]);
      verify_note(v, "g sin a t, a = %.1f rad, %.1f s, friction 0", angle, time);
      kit_close(&k);
    }
    if (verify_wants(v, "particles") && (i || verify_at(v) != VERIFY_QUICK)) {
      speed = slide(v, &k, 1, 0.0, thick[i], angle, time);
      if (verify_ran(v, &k))
        verify_within(v, speed, free_speed, 0.05, "m/s", "particles.free.viscosity-%.0f", thick[i]);
      verify_note(v, "a slope of boundary particles, friction 0");
      kit_close(&k);
      speed = slide(v, &k, 1, 1.0, thick[i], angle, time);
      if (verify_ran(v, &k)) {
        if (i)
          verify_at_most(v, speed, 0.05 * free_speed, "m/s", "particles.held.viscosity-%.0f",
                         thick[i]);
        else
          verify_report(v, speed, 0.0, "m/s", "particles.held.viscosity-%.0f", thick[i]);
      }
      kit_close(&k);
    }
    if (verify_wants(v, "held")) {
      speed = slide(v, &k, 0, 1.0, thick[i], angle, time);
      if (verify_ran(v, &k)) {
        if (i) verify_at_most(v, speed, 0.05 * free_speed, "m/s", "held.viscosity-%.0f", thick[i]);
        /* it flows over the layer that is held */
        else
          verify_report(v, speed, 0.0, "m/s", "held.viscosity-%.0f", thick[i]);
      }
      kit_close(&k);
    }
  }
  for (uint32_t boundary = 0; boundary < 2; ++boundary) {
    const char *name = boundary ? "places.particles" : "places.contact";
    double speed[2];
    if (!verify_wants(v, name) || !halves(v, boundary, thick[1], angle, time, speed)) continue;
    verify_within(v, speed[0], free_speed, 0.05, "m/s", "%s.slippery-half", name);
    verify_note(v, "one slope, friction 0 on one half and 1 on the other: g sin a t");
    verify_at_most(v, speed[1], 0.05 * free_speed, "m/s", "%s.sticky-half", name);
  }
  if (!verify_wants(v, "stick")) return;
  lifts(v, 0, 1e4, 1.0, "lifts",
        "highest particle from a sticky plate that goes up at 0.1 m/s, after 0.25 s");
  lifts(v, 1, 1e4, 1.0, "particles.lifts", "the same plate, of boundary particles");
  double left = lift(v, &k, 0, 0.0, 0.0);
  if (verify_ran(v, &k)) verify_at_least(v, left, 1.75, "d", "stick.none");
  verify_note(v, "a slippery plate without stick: half a separation, and 1.25 that it rose");
  kit_close(&k);
  lifts(v, 0, 0.0, 1.0, "thick", "no stick, but 500 Pa s have to flow before air comes in between");
  double fell = hang(v, &k, 20.0);
  if (verify_ran(v, &k)) verify_at_most(v, fell, 0.2, "d", "stick.strong");
  verify_note(v, "20 m/s^2 holds a layer under a ceiling against 9.81");
  kit_close(&k);
  fell = hang(v, &k, 5.0);
  if (verify_ran(v, &k)) verify_within(v, fell, 0.5 * G * 0.25 / 0.05, 0.05, "d", "stick.weak");
  verify_note(v, "5 m/s^2 does not: free fall for 0.5 s");
  kit_close(&k);
  double moved, speed = stays(v, &k, 1.0, 30.0, &moved);
  if (verify_ran(v, &k)) verify_at_most(v, speed, 5e-4, "m/s", "stick.solid.rests");
  verify_note(v, "a block of 20 kPa on a floor with 30 m/s^2 after 1 s; 0.01 when walls held it in "
                 "positions, too");
  kit_close(&k);
  speed = stays(v, &k, -1.0, 100.0, &moved);
  if (verify_ran(v, &k)) {
    verify_at_most(v, speed, 5e-4, "m/s", "stick.solid.hangs");
    verify_note(v, "and under a ceiling with 100 m/s^2: it came off and burst");
    verify_at_most(v, moved, 0.2, "d", "stick.solid.held");
  }
  kit_close(&k);
}
