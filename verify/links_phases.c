/* Figures 11 and 12 of Takahashi, Nishita & Fujishiro 2014: fluids that congeal and melt.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "links.h"

static const double d = LINKS_D;

/* ---- fig. 11: hot fluid is poured on a cold slope, runs, hardens and congeals ---- */

typedef struct poured {
  /* m/s: how fast the front goes down the slope, while it is hot and at the end */
  double early, late;
  double reach; /* m: how far it has come at the end */
  double solid; /* share colder than T_c */
} poured;
static int pour(verify *v, double slope_at, poured *out) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double angle = 0.5, dt = 0.003, hot = 400.0;
  const double origin[3] = {0, 0, 0}, normal[3] = {sin(angle), cos(angle), 0.0};
  /* it is poured for so many steps, timed while it runs, and timed again when it has had time to
   * cool: the small one was timed at four fifths congealed before, when it may still creep */
  const int pouring = quick ? 180 : 315, window = quick ? 80 : 140, steps = quick ? 560 : 840;
  double front[4] = {0};
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = 1.0002f, k.params.links_beta_hot = 1.01f;
  k.params.links_temperature_cold = 330.0f, k.params.links_temperature_hot = (float)hot;
  k.params.links_temperature_solid = 320.0f;
  kit_apply(&k);
  kit_heat(&k, slope_at, 40000.0);
  kit_plane(&k, origin, normal, 1.0);
  const uint32_t m = links_material(&k, 0.0, 500.0, hot);
  const uint32_t n[3] = {3, 1, 3};
  const double low[3] = {-1.5 * d, 0.06, -1.5 * d};
  for (int step = 0; step < steps && kit_good(&k); ++step) {
    if (step % 6 == 0 && step < pouring) links_layer(&k, m, n, low, 0.55, 0.0);
    kit_step(&k, dt, 1);
    const int mark = step == window               ? 0
                     : step == 2 * window         ? 1
                     : step == steps - 1 - window ? 2
                     : step == steps - 1          ? 3
                                                  : -1;
    if (mark < 0) continue;
    kit_read(&k);
    /* how far down the slope the foremost fiftieth is */
    double *s = malloc((k.count + 1) * sizeof *s);
    for (uint32_t i = 0; s && i < k.count; ++i)
      s[i] = (double)k.x[i][0] * cos(angle) - (double)k.x[i][1] * sin(angle);
    front[mark] = s && k.count ? measure_percentile(s, k.count, 0.98) : (double)NAN;
    free(s);
  }
  out->early = (front[1] - front[0]) / (window * dt),
  out->late = (front[3] - front[2]) / (window * dt);
  out->reach = front[3];
  out->solid = 0.0;
  for (uint32_t i = 0; kit_good(&k) && i < k.count; ++i) {
    float t = 0.0f;
    k.result = ooze_attribute_read(k.solver, OOZE_TEMPERATURE, i, 1, 0, &t);
    out->solid += (t < 320.0f) / (double)k.count;
  }
  return verify_close(v, &k);
}
static void fig11(verify *v) {
  poured cold, warm;
  if (!pour(v, 280.0, &cold)) return;
  verify_at_least(v, cold.early, 0.02, "m/s", "fig11.runs");
  verify_at_most(v, fabs(cold.late), 0.02 * cold.early, "m/s", "fig11.stands-still");
  verify_at_least(v, cold.solid, 0.8, "of the fluid", "fig11.congealed");
  if (verify_at(v) == VERIFY_QUICK || !pour(v, 400.0, &warm)) return;
  verify_at_least(v, warm.reach / cold.reach, 1.2, "", "fig11.on-a-warm-slope-it-runs-on");
}

/* ---- fig. 12: a cold elastic ball rolls down a slope, bounces, reaches a hot wall, sticks and
 * melts ---- */

static double temperature(kit *k, uint32_t i) {
  float t = 0.0f;
  if (kit_good(k)) k->result = ooze_attribute_read(k->solver, OOZE_TEMPERATURE, i, 1, 0, &t);
  return (double)t;
}
static void fig12(verify *v) {
  const int quick = verify_at(v) == VERIFY_QUICK;
  const double r = (quick ? 4.0 : 7.0) * d, angle = 0.6, dt = 0.002, wall = 0.75;
  const double normal[3] = {sin(angle), cos(angle), 0.0}, foot[3] = {0.0, 0.12, 0.0};
  const double start[3] = {-0.30 * cos(angle) + (r + 0.3 * d) * normal[0],
                           0.12 + 0.30 * sin(angle) + (r + 0.3 * d) * normal[1], 0.0};
  const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0}, face[3] = {wall, 0, 0},
               back[3] = {-1, 0, 0};
  const int steps = quick ? 1400 : 2500;
  double turned = 0.0, bounce = 0.0, lowest = 1e9, height = 0.0, first_width = 0.0, hottest = 0.0;
  int floor_met = 0, wall_met = -1;
  kit k;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.position_iterations = 10;
  k.params.links_beta_cold = 1.0002f, k.params.links_beta_hot = 1.01f;
  k.params.links_temperature_cold = 330.0f, k.params.links_temperature_hot = 400.0f;
  k.params.links_temperature_solid = 320.0f;
  kit_apply(&k);
  kit_heat(&k, 280.0, 10.0);
  ooze_collider_desc c; /* the slope ends above the floor: a box whose upper face it is */
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX;
  c.half[0] = 0.25f, c.half[1] = 0.02f, c.half[2] = 0.2f;
  c.friction = 1.0f, c.temperature = 280.0f, c.contact = 10.0f;
  kit_pose_of_plane(&c.start, foot, normal);
  for (int a = 0; a < 3; ++a)
    c.start.position[a] = (float)(foot[a] - 0.02 * normal[a] +
                                  (a == 0   ? -0.25 * cos(angle)
                                   : a == 1 ? 0.25 * sin(angle)
                                            : 0.0));
  c.end = c.start;
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &handle);
  kit_plane(&k, origin, up, 0.3);
  /* the hot wall has particles, to which touching fluid is linked; a cold one's would not be
   * (Algorithm 1) */
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_PLANE;
  c.half[0] = c.half[2] = 0.14f;
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.friction = 1.0f, c.temperature = 500.0f, c.contact = 40000.0f;
  kit_pose_of_plane(&c.start, face, back);
  c.end = c.start;
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &handle);
  const uint32_t n = links_ball(&k, links_material(&k, 0.0, 500.0, 290.0), start, r);
  for (int step = 0; step < steps && kit_good(&k); ++step) {
    kit_step(&k, dt, 1);
    if (step % 5) continue;
    measure_body m;
    kit_read(&k);
    if (!kit_good(&k)) break;
    measure((measure_points)k.x, (measure_points)k.v, k.compression, n, &m);
    /* spin over moment of inertia 2/5 r^2 is the angular velocity; clockwise about z on the way
     * down */
    if (!floor_met) turned += -m.spin[2] / (0.4 * r * r) * 5.0 * dt;
    if (m.low[1] < 0.5 * d && !floor_met)
      floor_met = 1, first_width = fmax(m.high[0] - m.low[0], m.high[1] - m.low[1]) / (2.0 * r);
    if (floor_met && wall_met < 0) {
      if (m.centre[1] < lowest) lowest = m.centre[1], bounce = 0.0;
      bounce = fmax(bounce, m.centre[1] - lowest);
    }
    if (wall_met < 0 && m.high[0] > wall - 0.6 * d) wall_met = step;
    height = m.high[1];
  }
  double molten = 0.0, at_wall = 0.0;
  for (uint32_t i = 0; i < n; ++i) {
    const double t = temperature(&k, i);
    hottest = fmax(hottest, t);
    molten += (t > 320.0) / (double)n;
    at_wall += ((double)k.x[i][0] > wall - 2.0 * r) / (double)n;
  }
  if (!verify_close(v, &k)) return;
  verify_at_least(v, turned, 0.8, "rad", "fig12.rolls");
  verify_at_most(v, first_width, 1.15, "diameters", "fig12.keeps-its-shape");
  verify_at_least(v, bounce / r, 0.1, "radii", "fig12.bounces");
  verify_at_least(v, wall_met >= 0, 1, "", "fig12.reaches-the-wall");
  if (wall_met >= 0) verify_note(v, "at %.2f s", wall_met * dt);
  verify_at_least(v, molten, 0.3, "of the ball", "fig12.melts");
  verify_at_least(v, at_wall, 0.6, "of the ball", "fig12.stays-at-the-wall");
  verify_at_most(v, height / r, 1.6, "radii high", "fig12.sags");
  verify_report(v, hottest, 500.0, "K", "fig12.hottest");
}

void verify_links_phases(verify *v) {
  if (verify_wants(v, "fig11")) fig11(v);
  if (verify_wants(v, "fig12")) fig12(v);
}
