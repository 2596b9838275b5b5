/* The model links (Takahashi et al. 2014) against its paper's figures.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "links.h"

static const double d = LINKS_D;

static int slumped(verify *v, double beta, double *height) {
  kit k;
  const uint32_t n[3] = {9, 9, 9};
  const double low[3] = {0.0, 0.0, 0.0};
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = k.params.links_beta_hot = (float)beta;
  kit_apply(&k);
  kit_floor(&k, 1.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 0; step < 60 && kit_good(&k); ++step) kit_step(&k, 0.004, 1);
  kit_read(&k);
  *height = kit_extent(&k, 1) / (8 * d);
  return verify_close(v, &k);
}

/* Fig. 10: a lump falls on a bar that turns, and parts: fluid on both sides, none inside the bar.
 */
static void rotating_bar(verify *v) {
  kit k;
  const uint32_t n[3] = {10, 10, 10};
  const double low[3] = {-0.05, 0.16, -0.05}, dt = 0.004, spin = 3.0;
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = k.params.links_beta_hot = 1.005f;
  kit_apply(&k);
  kit_floor(&k, 1.0);
  ooze_collider_desc c;
  ooze_collider bar = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_CAPSULE; /* along its y: laid along z */
  c.half[0] = 0.02f, c.half[1] = 0.12f;
  c.friction = 0.2f;
  c.start.position[1] = c.end.position[1] = 0.12f;
  c.start.rotation[0] = c.end.rotation[0] = sqrtf(0.5f),
  c.start.rotation[3] = c.end.rotation[3] = sqrtf(0.5f);
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &bar);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  ooze_pose at = c.start, to = at;
  for (int step = 0; step < 150 && kit_good(&k); ++step) { /* about its own axis */
    const double half = 0.5 * spin * dt * (step + 1);
    /* (quarter turn about x) after (turn about y) */
    to.rotation[0] = (float)(sqrt(0.5) * cos(half)),
    to.rotation[1] = (float)(sqrt(0.5) * sin(half));
    to.rotation[2] = (float)(sqrt(0.5) * sin(half)),
    to.rotation[3] = (float)(sqrt(0.5) * cos(half));
    k.result = ooze_collider_move(k.solver, bar, &at, &to);
    at = to;
    kit_step(&k, dt, 1);
  }
  kit_read(&k);
  uint32_t inside = 0, left = 0, right = 0;
  for (uint32_t i = 0; i < k.count; ++i) {
    const double x = (double)k.x[i][0], y = (double)k.x[i][1] - 0.12, z = (double)k.x[i][2];
    inside += fabs(z) < 0.12 && sqrt(x * x + y * y) < 0.02 - 0.1 * d;
    left += (double)k.x[i][1] < 0.1 && x < 0.0;
    right += (double)k.x[i][1] < 0.1 && x > 0.0;
  }
  const int ran = verify_ran(v, &k);
  const double n_all = k.count ? k.count : 1;
  kit_close(&k);
  if (!ran) return;
  verify_at_most(v, inside, 0, "particles", "fig10.inside-the-bar");
  verify_at_least(v, left / n_all, 0.15, "of the fluid", "fig10.falls-on-one-side");
  verify_at_least(v, right / n_all, 0.15, "of the fluid", "fig10.and-on-the-other");
}

static void links_speed(verify *v) {
  kit k;
  const uint32_t n[3] = {30, 31, 30};
  kit_open_model(&k, verify_machine(v), d, OOZE_MODEL_LINKS, -9.81);
  const double step = kit_time_block(&k, n, 0.004);
  if (verify_ran(v, &k)) verify_report(v, step, 0.08, "s of processor a step", "speed.28k");
  kit_close(&k);
}

void verify_links(verify *v) {
  if (verify_wants(v, "fig4")) {
    double thin, mid, thick;
    if (!slumped(v, 1.005, &thin) || !slumped(v, 1.003, &mid) || !slumped(v, 1.001, &thick)) return;
    verify_at_least(v, thick - mid, 0.06, "of its height", "fig4.1001-over-1003");
    verify_at_least(v, mid - thin, 0.03, "of its height", "fig4.1003-over-1005");
  }
  if (verify_wants(v, "fig10")) rotating_bar(v);
  verify_links_figures(v);
  verify_links_phases(v);
  if (verify_at(v) != VERIFY_QUICK && verify_wants(v, "speed")) links_speed(v);
}
