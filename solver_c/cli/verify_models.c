/* The models springs (Clavet et al. 2005) and links (Takahashi et al. 2014) against what their papers show.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "verify.h"

static const double d = 0.01;

static void open_model(kit *k, verify *v, uint32_t model, double gravity) {
  kit_open(k, verify_machine(v), d);
  k->params.model = model;
  k->params.gravity[1] = (float)gravity;
  k->params.position_iterations = 6;
  kit_apply(k);
}
static double extent(const kit *k, int axis) { /* m */
  double low = 1e9, high = -1e9;
  for (uint32_t i = 0; i < k->count; ++i) low = fmin(low, (double)k->x[i][axis]), high = fmax(high, (double)k->x[i][axis]);
  return high - low;
}
/* Root mean square distance from the middle along an axis, m. */
static double width(const kit *k, int axis) {
  double mean = 0.0, sum = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) mean += (double)k->x[i][axis] / k->count;
  for (uint32_t i = 0; i < k->count; ++i) sum += pow((double)k->x[i][axis] - mean, 2) / k->count;
  return sqrt(sum);
}
static double mean_compression(const kit *k) {
  double sum = 0.0;
  for (uint32_t i = 0; i < k->count; ++i) sum += (double)k->compression[i] / k->count;
  return sum;
}

/* ---- springs ---- */

/* Fig. 3: a drop twice as long as it is wide pulls itself round, swings through, and ends as a ball. */
static void oscillating_drop(verify *v) {
  kit k;
  int crossings = 0;
  double before = 1.0, aspect = 1.0;
  const int quick = verify_at(v) == VERIFY_QUICK;
  const uint32_t n[3] = {quick ? 14u : 20u, quick ? 7u : 10u, quick ? 7u : 10u};
  const double low[3] = {0.0, 0.0, 0.0};
  open_model(&k, v, OOZE_MODEL_SPRINGS, 0.0);
  k.params.springs_mode = OOZE_SPRINGS_OFF;
  k.params.springs_impact = 0.0f;
  kit_apply(&k);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 0; step < (quick ? 400 : 1200) && kit_good(&k); ++step) {
    kit_step(&k, 0.005, 1);
    if (step % 5) continue;
    kit_read(&k);
    aspect = 2.0 * width(&k, 0) / (width(&k, 1) + width(&k, 2)) - 1.0;
    if (aspect * before < 0.0) crossings++;
    before = aspect;
  }
  kit_read(&k);
  const double inside = mean_compression(&k);
  const int ran = verify_ran(v, &k);
  kit_close(&k);
  if (!ran) return;
  verify_at_least(v, crossings, 1, "", "fig3.passes-through-round");
  verify_at_most(v, fabs(aspect), quick ? 0.25 : 0.15, "", "fig3.not-round-at-the-end");
  verify_report(v, inside, 0.0, "", "fig3.compression");
}

/* Height left of a block of 10 that a plate presses to half and lets go, after it had time to recover, over what it was. */
static int pressed(verify *v, uint32_t after, float plasticity, double *out) {
  kit k;
  const uint32_t n[3] = {10, 10, 10};
  const double low[3] = {-0.05, 0.0, -0.05}, h = 10 * d, dt = 0.004;
  open_model(&k, v, OOZE_MODEL_SPRINGS, -1.0); /* light gravity: what is looked at is the press */
  k.params.springs_mode = OOZE_SPRINGS_SET;
  k.params.springs_elasticity = 1.0f;
  k.params.springs_plasticity_stretch = k.params.springs_plasticity_compress = plasticity;
  kit_apply(&k);
  kit_floor(&k, 1.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  const double above[3] = {0.0, h + 0.5 * d, 0.0}, down[3] = {0.0, -1.0, 0.0}, fall[3] = {0.0, -0.5 * h / 0.3, 0.0}, rise[3] = {0.0, h / 0.3, 0.0};
  ooze_pose pose;
  ooze_collider plate = kit_plane(&k, above, down, 0.0);
  kit_pose_of_plane(&pose, above, down);
  kit_step(&k, dt, 1); /* springs are made as the block stands */
  k.params.springs_mode = after;
  kit_apply(&k);
  for (int step = 0; step < 225 && kit_good(&k); ++step) {
    if (step < 75) kit_move(&k, plate, &pose, fall, dt);
    else if (step < 150) kit_move(&k, plate, &pose, rise, dt);
    kit_step(&k, dt, 1);
  }
  kit_read(&k);
  *out = extent(&k, 1) / (h - d);
  const int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}
/* Fig. 5 and 12: stepped on, an elastic figure recovers; a plastic one keeps the print; without springs it flows away. */
static void stepped_on(verify *v) {
  double elastic, plastic, liquid;
  if (!pressed(v, OOZE_SPRINGS_HOLD, 0.0f, &elastic) || !pressed(v, OOZE_SPRINGS_FLOW, 1.0f, &plastic) || !pressed(v, OOZE_SPRINGS_OFF, 0.0f, &liquid)) return;
  verify_at_least(v, elastic, 0.85, "of its height", "fig12.elastic");
  verify_at_most(v, plastic, 0.75, "of its height", "fig12.plastic");
  verify_at_most(v, liquid, plastic, "of its height", "fig12.springs-deleted");
}

/* Fig. 7: fluid on a ball runs down and hangs beneath it, where the wall is sticky. */
static void beneath_a_sphere(verify *v) {
  double share[2];
  for (int sticky = 0; sticky < 2; ++sticky) {
    kit k;
    const uint32_t n[3] = {10, 2, 10};
    const double low[3] = {-0.05, 0.105, -0.05}, centre[3] = {0.0, 0.0, 0.0};
    uint32_t held = 0;
    open_model(&k, v, OOZE_MODEL_SPRINGS, -9.81);
    k.params.springs_mode = OOZE_SPRINGS_OFF;
    k.params.springs_viscosity = 0.5f;
    k.params.springs_stick = sticky ? 1.0f : 0.0f;
    k.params.springs_stick_distance = 1.0f;
    kit_apply(&k);
    kit_sphere(&k, centre, 0.1, 0.02);
    kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
    for (int step = 0; step < 300 && kit_good(&k); ++step) kit_step(&k, 0.005, 1);
    kit_read(&k);
    for (uint32_t i = 0; i < k.count; ++i) {
      const float *x = k.x[i];
      held += x[1] < 0.0f && sqrt((double)(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])) < 0.1 + 3.0 * d;
    }
    share[sticky] = (double)held / (k.count ? k.count : 1);
    const int ran = verify_ran(v, &k);
    kit_close(&k);
    if (!ran) return;
  }
  verify_at_least(v, share[1], 0.5, "of the fluid", "fig7.hangs-beneath");
  verify_at_most(v, share[0], 0.1, "of the fluid", "fig7.without-stickiness");
}

/* Processor time of a step, all threads together; two cores at 10 frames a second have 0.2 s. */
static void springs_speed(verify *v) {
  kit k;
  const uint32_t n[3] = {28, 26, 28};
  const double low[3] = {0.0, 0.0, 0.0};
  open_model(&k, v, OOZE_MODEL_SPRINGS, -9.81);
  kit_apply(&k);
  kit_floor(&k, 1.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 0; step < 4; ++step) kit_step(&k, 1.0 / 192, 1);
  const double before = k.step_processor;
  for (int step = 0; step < 8; ++step) kit_step(&k, 1.0 / 192, 1);
  if (verify_ran(v, &k)) verify_report(v, (k.step_processor - before) / 8, 0.2, "s of processor a step", "speed.20k");
  kit_close(&k);
}

void verify_springs(verify *v) {
  if (verify_wants(v, "fig3")) oscillating_drop(v);
  if (verify_wants(v, "fig12")) stepped_on(v);
  if (verify_wants(v, "fig7")) beneath_a_sphere(v);
  if (verify_at(v) != VERIFY_QUICK && verify_wants(v, "speed")) springs_speed(v);
}

/* ---- links ---- */

static int slumped(verify *v, double beta, double *height) {
  kit k;
  const uint32_t n[3] = {9, 9, 9};
  const double low[3] = {0.0, 0.0, 0.0};
  open_model(&k, v, OOZE_MODEL_LINKS, -9.81);
  k.params.links_beta_cold = k.params.links_beta_hot = (float)beta;
  kit_apply(&k);
  kit_floor(&k, 1.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 0; step < 60 && kit_good(&k); ++step) kit_step(&k, 0.004, 1);
  kit_read(&k);
  *height = extent(&k, 1) / (8 * d);
  const int ran = verify_ran(v, &k);
  kit_close(&k);
  return ran;
}

/* Fig. 10: a lump falls on a bar that turns, and parts: fluid on both sides, none inside the bar. */
static void rotating_bar(verify *v) {
  kit k;
  const uint32_t n[3] = {10, 10, 10};
  const double low[3] = {-0.05, 0.16, -0.05}, dt = 0.004, spin = 3.0;
  open_model(&k, v, OOZE_MODEL_LINKS, -9.81);
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
  c.start.rotation[0] = c.end.rotation[0] = sqrtf(0.5f), c.start.rotation[3] = c.end.rotation[3] = sqrtf(0.5f);
  if (kit_good(&k)) k.result = ooze_collider_add(k.solver, &c, &bar);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  ooze_pose at = c.start, to = at;
  for (int step = 0; step < 150 && kit_good(&k); ++step) { /* about its own axis */
    const double half = 0.5 * spin * dt * (step + 1);
    /* (quarter turn about x) after (turn about y) */
    to.rotation[0] = (float)(sqrt(0.5) * cos(half)), to.rotation[1] = (float)(sqrt(0.5) * sin(half));
    to.rotation[2] = (float)(sqrt(0.5) * sin(half)), to.rotation[3] = (float)(sqrt(0.5) * cos(half));
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
  const double low[3] = {0.0, 0.0, 0.0};
  open_model(&k, v, OOZE_MODEL_LINKS, -9.81);
  kit_floor(&k, 1.0);
  kit_block(&k, kit_fluid(&k, 0.0, 0.0), n, low);
  for (int step = 0; step < 4; ++step) kit_step(&k, 0.004, 1);
  const double before = k.step_processor;
  for (int step = 0; step < 8; ++step) kit_step(&k, 0.004, 1);
  if (verify_ran(v, &k)) verify_report(v, (k.step_processor - before) / 8, 0.08, "s of processor a step", "speed.28k");
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
  if (verify_at(v) != VERIFY_QUICK && verify_wants(v, "speed")) links_speed(v);
}
