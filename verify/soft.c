/* Soft bodies against the theory of elasticity. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

static const double G = 9.81, DT = 1.0 / 240.0, D = 0.01, DENSITY = 1000.0;
enum { WIDE = 4, LAYER = WIDE * WIDE };

typedef struct bar {
  kit k;
  ooze_body body;
  uint32_t tall;
} bar;

/* An upright bar, 4 x 4 particles across; no gravity. */
static void bar_open(bar *b, verify *v, uint32_t tall, const ooze_body_desc *like) {
  const uint32_t n[3] = {WIDE, tall, WIDE};
  const double centre[3] = {0, 0, 0};
  ooze_body_desc desc = *like;
  b->tall = tall;
  kit_open(&b->k, verify_machine(v), D);
  b->k.params.gravity[1] = 0.0f;
  kit_apply(&b->k);
  desc.kind = OOZE_BODY_SOFT;
  desc.material = kit_solid(&b->k, DENSITY);
  b->body = kit_body_like(&b->k, &desc, n, centre);
}
/* Acceleration of a layer along y. */
static void bar_load(bar *b, uint32_t layer, double a) {
  for (uint32_t i = 0; i < LAYER && kit_good(&b->k); ++i) {
    const float force[3] = {0.0f, (float)a, 0.0f};
    (void)ooze_attribute_write(b->k.solver, OOZE_FORCE, layer * LAYER + i, 1, 0, force);
  }
}
static double layer_height(const bar *b, uint32_t layer) {
  double y = 0;
  for (uint32_t i = 0; i < LAYER; ++i) y += (double)b->k.x[layer * LAYER + i][1] / LAYER;
  return y;
}
/* Distance of opposite sides in the middle third. */
static double bar_width(const bar *b, int axis) {
  double sum = 0;
  uint32_t many = 0;
  for (uint32_t j = b->tall / 3; j < b->tall - b->tall / 3; ++j)
    for (uint32_t i = 0; i < LAYER; ++i) {
      const uint32_t at = axis == 0 ? i % WIDE : i / WIDE;
      if (at != 0 && at != WIDE - 1) continue;
      sum += (at ? 1.0 : -1.0) * (double)b->k.x[j * LAYER + i][axis];
      many++;
    }
  return 2.0 * sum / many;
}

/* Under its own weight, held by a force on its top layer: dL = rho g / E (L^2 + L d) / 2 between
 * the outer layers' centres. */
enum { TALL = 20 };
static double hang(verify *v, double compliance, int volume, double *out_volume) {
  ooze_body_desc like;
  bar b;
  double stretch = NAN;
  ooze_body_desc_default(&like);
  like.stretch_compliance = (float)compliance;
  like.volume_compliance = (float)(0.2 * compliance);
  like.keep_volume = (uint32_t)volume;
  like.damping = 0.02f;
  bar_open(&b, v, TALL, &like);
  b.k.params.gravity[1] = (float)-G;
  kit_apply(&b.k);
  bar_load(&b, TALL - 1, TALL * G);
  for (int step = 0; kit_good(&b.k) && step < 480; ++step) kit_step(&b.k, DT, 1);
  kit_read(&b.k);
  if (verify_ran(v, &b.k)) {
    const double L = (TALL - 1) * D;
    stretch = layer_height(&b, TALL - 1) - layer_height(&b, 0) - L;
    if (out_volume)
      *out_volume = (1.0 + stretch / L) * bar_width(&b, 0) * bar_width(&b, 2) /
                    ((WIDE - 1) * D * (WIDE - 1) * D);
  }
  kit_close(&b.k);
  return stretch;
}
static void hanging(verify *v) {
  if (!verify_wants(v, "hang")) return;
  const double young = 2e4, L = (TALL - 1) * D, sag = DENSITY * G / young * 0.5 * (L * L + L * D);
  double off = hang(v, 1.0 / young, 0, NULL), twice = hang(v, 2.0 / young, 0, NULL),
         on = hang(v, 1.0 / young, 1, NULL);
  verify_within(v, off, sag, 0.1, "m", "hang.stretch");
  verify_note(v,
              "a bar of %d x %d x %d particles under its weight against rho g L^2 / 2E: it is four "
              "links thick",
              WIDE, TALL, WIDE);
  verify_within(v, twice / off, 2.0, 0.05, "", "hang.twice-the-compliance");
  /* lambda = mu = 0.4 E of the links, and 5 E of the volume on top: E' = mu (3 lambda + 2 mu) /
   * (lambda + mu) */
  const double mu = 0.4, lambda = 0.4 + 5.0;
  verify_within(v, on / off, (lambda + mu) / (mu * (3.0 * lambda + 2.0 * mu)), 0.1, "",
                "hang.with-volume");
}

/* Volume of a bar's middle over that at rest. */
static double bar_volume(const bar *b, double *strain) {
  const uint32_t low = b->tall / 3, high = b->tall - 1 - low;
  const double length = (layer_height(b, high) - layer_height(b, low)) / ((high - low) * D),
               side = (WIDE - 1) * D;
  *strain = length - 1.0;
  return length * bar_width(b, 0) * bar_width(b, 2) / (side * side);
}
/* Pulled at both ends by a stress of 0.3 E, or pressed together by a fifth between plates that it
 * slides on. */
static double squeeze(verify *v, int plates, int volume) {
  const double young = 2e4, force = 0.3 * young / (DENSITY * D); /* acceleration of one layer */
  const uint32_t tall = plates ? 7 : 12;
  const double up[3] = {0, 1, 0}, down[3] = {0, -1, 0}, foot[3] = {0, -0.5 * tall * D, 0},
               head[3] = {0, 0.5 * tall * D, 0};
  const double speed[3] = {0, -0.2 * tall * D / 0.5, 0}, still[3] = {0, 0, 0};
  ooze_body_desc like;
  ooze_collider plate = 0;
  ooze_pose pose;
  bar b;
  double ratio = NAN, strain = NAN;
  ooze_body_desc_default(&like);
  like.stretch_compliance = (float)(1.0 / young);
  like.volume_compliance = (float)(0.1 / young);
  like.keep_volume = (uint32_t)volume;
  like.damping = 0.01f;
  bar_open(&b, v, tall, &like);
  kit_pose_of_plane(&pose, head, down);
  if (plates)
    (void)kit_plane(&b.k, foot, up, 0.0), plate = kit_plane(&b.k, head, down, 0.0);
  else
    bar_load(&b, tall - 1, force), bar_load(&b, 0, -force);
  for (int step = 0; kit_good(&b.k) && step < 240; ++step) {
    if (plates && step <= 120) kit_move(&b.k, plate, &pose, step < 120 ? speed : still, DT);
    kit_step(&b.k, DT, 1);
  }
  kit_read(&b.k);
  if (verify_ran(v, &b.k)) {
    ratio = bar_volume(&b, &strain);
    verify_report(v, strain, plates ? -0.2 : 0.3, "", "volume.%s-%s.strain",
                  plates ? "pressed" : "pulled", volume ? "on" : "off");
  }
  kit_close(&b.k);
  return ratio;
}
static void volumes(verify *v) {
  for (int k = 0; k < 2; ++k) {
    const char *name = k ? "volume.pressed" : "volume.pulled";
    if (!verify_wants(v, name)) continue;
    double off = fabs(squeeze(v, k, 0) - 1.0), on = fabs(squeeze(v, k, 1) - 1.0);
    verify_at_most(v, on, 0.02, "", "%s.change", name);
    verify_note(v, "%.3f without the constraint", off);
    verify_at_most(v, on / off, 0.5, "", "%s.on-over-off", name);
  }
}

/* Pulled at both ends: below its limit it holds and no link is lost; above it comes in two. */
static void tears(verify *v, double limit, int expect, const char *name) {
  const double young = 2e4, force = 0.1 * young / (DENSITY * D);
  ooze_body_desc like;
  bar b;
  uint64_t before = 0, after = 0;
  if (!verify_wants(v, name)) return;
  ooze_body_desc_default(&like);
  like.stretch_compliance = (float)(1.0 / young);
  like.damping = 0.02f;
  like.strain_limit = (float)limit;
  bar_open(&b, v, TALL, &like);
  if (kit_good(&b.k)) (void)ooze_links_count(b.k.solver, &before);
  for (int step = 0; kit_good(&b.k) && step < 240; ++step) {
    /* slowly: no swing above the strain that it settles at */
    const double ramp = fmin(1.0, step / 120.0);
    if (step < 121) bar_load(&b, TALL - 1, ramp * force), bar_load(&b, 0, -ramp * force);
    kit_step(&b.k, DT, 1);
  }
  kit_read(&b.k);
  if (kit_good(&b.k)) (void)ooze_links_count(b.k.solver, &after);
  if (verify_ran(v, &b.k)) {
    double stretch = (layer_height(&b, TALL - 1) - layer_height(&b, 0)) / ((TALL - 1) * D) - 1.0;
    if (expect) {
      verify_at_least(v, stretch, 1.0, "", "%s.apart", name);
      verify_note(v, "strain of 0.1 E / E against a limit of %.2f; %llu of %llu links are left",
                  limit, (unsigned long long)after, (unsigned long long)before);
    } else {
      verify_at_most(v, stretch, 0.15, "", "%s.stretch", name);
      verify_at_most(v, (double)(before - after), 0.0, "", "%s.links-lost", name);
    }
  }
  kit_close(&b.k);
}

/* A spinning soft block flies into a ball of fluid, no gravity. */
static void momentum(verify *v) {
  const double speed[3] = {-2.0, 0.3, 0.0}, low[3] = {-8 * D, -8 * D, -8 * D},
               high[3] = {8 * D, 8 * D, 8 * D}, from[3] = {11 * D, 2 * D, 0};
  const kit_capsule part = {{0, 0, 0}, {0, 0, 0}, 6 * D};
  const kit_figure ball = {&part, 1, {0, 0, 0}, 1.0};
  const uint32_t n[3] = {5, 5, 5};
  ooze_body_desc like;
  kit k;
  double p[2][3] = {{0}}, l[2][3] = {{0}}, dp = 0, dl = 0, p0 = 0, l0 = 0;
  if (!verify_wants(v, "collide")) return;
  kit_open(&k, verify_machine(v), D);
  k.params.gravity[1] = 0.0f;
  kit_apply(&k);
  kit_fill(&k, kit_fluid(&k, 5.0, 0.0), low, high, kit_in_figure, &ball);
  ooze_body_desc_default(&like);
  like.kind = OOZE_BODY_SOFT;
  like.material = kit_solid(&k, 1500.0);
  for (int a = 0; a < 3; ++a) like.velocity[a] = (float)speed[a];
  like.spin[2] = 10.0f;
  (void)kit_body_like(&k, &like, n, from);
  for (int step = 0; kit_good(&k) && step <= 60; ++step) {
    if (step) kit_step(&k, DT, 1);
    if (step != 0 && step != 60) continue;
    uint32_t all = ooze_particle_count(k.solver);
    kit_read(&k);
    for (uint32_t i = 0; i < all && kit_good(&k); ++i) {
      float mass = 0.0f;
      (void)ooze_attribute_read(k.solver, OOZE_MASS, i, 1, 0, &mass);
      for (int a = 0; a < 3; ++a) {
        const int e = (a + 1) % 3, f = (a + 2) % 3;
        p[step > 0][a] += (double)mass * (double)k.v[i][a];
        l[step > 0][a] += (double)mass * ((double)k.x[i][e] * (double)k.v[i][f] -
                                          (double)k.x[i][f] * (double)k.v[i][e]);
      }
    }
  }
  if (verify_ran(v, &k)) {
    for (int a = 0; a < 3; ++a)
      dp += pow(p[1][a] - p[0][a], 2), dl += pow(l[1][a] - l[0][a], 2), p0 += p[0][a] * p[0][a],
          l0 += l[0][a] * l[0][a];
    verify_at_most(v, sqrt(dp / p0), 1e-4, "", "collide.momentum");
    verify_note(v, "a soft block of 1500 kg/m^3 at 2 m/s into a ball of 5 Pa s");
    verify_report(v, sqrt(dl / l0), 0.0, "", "collide.angular-momentum");
  }
  kit_close(&k);
}

/* A soft block of half the fluid's density, let go under the surface. */
static void floats(verify *v) {
  const uint32_t n[3] = {12, 9, 12}, block[3] = {5, 4, 5};
  const double half[3] = {6 * D, 12 * D, 6 * D}, centre[3] = {0, 12 * D, 0},
               low[3] = {-6 * D, 0, -6 * D}, at[3] = {0.0, 11.1 * D, 0.0};
  ooze_body_desc like;
  kit k;
  ooze_body_state b;
  double level = 0;
  if (!verify_wants(v, "floats")) return;
  kit_open(&k, verify_machine(v), D);
  kit_container(&k, centre, half, 0.0);
  kit_block(&k, kit_fluid(&k, 1.0, 0.0), n, low);
  ooze_body_desc_default(&like);
  like.kind = OOZE_BODY_SOFT;
  like.material = kit_solid(&k, 500.0);
  ooze_body body = kit_body_like(&k, &like, block, at);
  for (int step = 0; kit_good(&k) && step < 360; ++step) kit_step(&k, DT, 1);
  kit_read(&k);
  kit_body_read(&k, body, &b);
  if (verify_ran(v, &k)) {
    /* the pool is 9 d high before the block takes half of its volume */
    level = 9.0 + 0.5 * 5 * 4 * 5 / (12.0 * 12.0);
    verify_within(v, (double)b.centre[1] / D, level, 0.05, "d", "floats.height");
    verify_note(v, "a block of 500 kg/m^3: its centre lies in the surface; bobbing %.3f m/s",
                fabs((double)b.velocity[1]));
  }
  kit_close(&k);
}

void verify_soft(verify *v) {
  tears(v, 0.4, 0, "holds");
  tears(v, 0.05, 1, "tears");
  momentum(v);
  if (verify_at(v) == VERIFY_QUICK) return;
  hanging(v);
  volumes(v);
  floats(v);
}
