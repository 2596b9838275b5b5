/* Soft bodies through ooze.h: their depth under weight, that they keep volume, tear, give back
 * momentum, and that a run goes on bit for bit. Small versions of `ooze verify soft`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"

static const float D = 0.01f;
enum { WIDE = 3, TALL = 8, LAYER = WIDE * WIDE, COUNT = LAYER * TALL };

static ooze_solver *make(uint32_t threads, float gravity) {
  return falling_solver(D, threads, gravity, 1);
}
/* Layer by layer from below. */
static ooze_body bar(ooze_solver *s, ooze_body_desc d, float x, float y) {
  float at[COUNT][3];
  ooze_body body = 0;
  for (int i = 0; i < COUNT; i++) {
    const int c[3] = {i % WIDE, i / LAYER, i / WIDE % WIDE};
    for (int a = 0; a < 3; a++) at[i][a] = D * ((float)c[a] + 0.5f);
  }
  d.kind = OOZE_BODY_SOFT;
  d.positions = at;
  d.count = COUNT;
  d.pose.position[0] = x, d.pose.position[1] = y;
  CHECK(ooze_body_add(s, &d, &body) == OOZE_OK, "%s", ooze_solver_message(s));
  return body;
}
static void load(ooze_solver *s, uint32_t layer, float a) {
  const float force[3] = {0, a, 0};
  for (uint32_t i = 0; i < LAYER; i++)
    CHECK_EQ(ooze_attribute_write(s, OOZE_FORCE, layer * LAYER + i, 1, 0, force), OOZE_OK);
}
static void steps(ooze_solver *s, int n) {
  for (int k = 0; k < n; k++) CHECK(ooze_step(s, 1.0 / 240.0) >= 0, "%s", ooze_solver_message(s));
}
/* between the outer layers' means along y; of one layer in the middle across */
static double extent(ooze_solver *s, int axis) {
  double sum = 0;
  for (uint32_t i = 0; i < LAYER; i++) {
    float low[3], high[3];
    const uint32_t mid = TALL / 2 * LAYER, across = axis == 0 ? i % WIDE : i / WIDE;
    if (axis == 1) {
      CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, low), OOZE_OK);
      CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, COUNT - LAYER + i, 1, 0, high), OOZE_OK);
      sum += (double)(high[1] - low[1]) / LAYER;
    } else if (across != 1) {
      CHECK_EQ(ooze_attribute_read(s, OOZE_POSITION, mid + i, 1, 0, low), OOZE_OK);
      sum += (across ? 1.0 : -1.0) * (double)low[axis] / WIDE;
    }
  }
  return sum;
}
/* Pulled apart by a stress (Pa) at both ends for 0.4 s; out: relative change of its volume. */
static double pulled(double compliance, uint32_t keep, float stress, double *out_volume) {
  ooze_solver *s = make(1, 0);
  ooze_body_desc d;
  ooze_body_desc_default(&d);
  d.stretch_compliance = (float)compliance;
  d.volume_compliance = (float)(0.1 * compliance);
  d.keep_volume = keep;
  d.damping = 0.01f;
  bar(s, d, 0, 0);
  load(s, TALL - 1, stress / (1000.0f * D));
  load(s, 0, -stress / (1000.0f * D));
  steps(s, 100);
  const double length = extent(s, 1) / ((TALL - 1) * (double)D),
               side = extent(s, 0) * extent(s, 2) / pow((WIDE - 1) * (double)D, 2);
  if (out_volume) *out_volume = length * side - 1.0;
  ooze_solver_destroy(s);
  return length - 1.0;
}

OZ_CASE(a_bar_stretches_by_stress_over_youngs_modulus) {
  const double once = pulled(1e-4, 0, 500.0f, NULL), twice = pulled(2e-4, 0, 500.0f, NULL);
  CHECK_NEAR(once, 0.05, 0.01, "E of a bar only three points thick");
  CHECK_NEAR(twice / once, 2.0, 0.1,
             "twice the compliance, twice the stretch; links turn a little as it thins");
}

OZ_CASE(volume_is_kept_where_that_is_asked_for) {
  double on, off;
  pulled(1e-4, 1, 2000.0f, &on);
  pulled(1e-4, 0, 2000.0f, &off);
  CHECK(off > 0.04,
        "links alone: Poisson's ratio 1/4 lets a stretch of a fifth add a tenth, got %g", off);
  CHECK_NEAR(on, 0.0, 0.02, "bulk modulus ten times Young's");
}

static double tear(float limit, uint64_t *lost) {
  ooze_solver *s = make(1, 0);
  ooze_body_desc d;
  uint64_t before, after;
  ooze_body_desc_default(&d);
  d.damping = 0.01f;
  d.strain_limit = limit;
  bar(s, d, 0, 0);
  CHECK_EQ(ooze_links_count(s, &before), OOZE_OK);
  load(s, TALL - 1, 100.0f);
  load(s, 0, -100.0f);
  steps(s, 60);
  CHECK_EQ(ooze_links_count(s, &after), OOZE_OK);
  *lost = before - after;
  const double stretch = extent(s, 1) / ((TALL - 1) * (double)D) - 1.0;
  ooze_solver_destroy(s);
  return stretch;
}
OZ_CASE(what_is_stretched_beyond_its_limit_comes_apart) {
  uint64_t lost;
  CHECK(tear(0.5f, &lost) < 0.3, "holds");
  CHECK_EQ(lost, 0);
  CHECK(tear(0.02f, &lost) > 1.0, "pulled at a tenth of its modulus, it may stretch by 2%%");
  CHECK(lost > LAYER, "only %u links are gone", (unsigned)lost);
}

/* A soft bar and a rigid block run into each other, turning. */
OZ_CASE(momentum_is_kept) {
  ooze_solver *s = make(1, 0);
  ooze_body_desc d;
  float x[27][3];
  ooze_body body;
  double p[2][3] = {{0}}, size = 0, change = 0;
  ooze_body_desc_default(&d);
  d.velocity[0] = 1.0f, d.spin[2] = 5.0f;
  bar(s, d, 0, 0);
  ooze_body_desc_default(&d);
  for (int i = 0; i < 27; i++)
    x[i][0] = D * (float)(i % 3), x[i][1] = D * (float)(i / 9), x[i][2] = D * (float)(i / 3 % 3);
  d.positions = x, d.count = 27;
  d.pose.position[0] = 0.05f, d.pose.position[1] = 0.04f;
  CHECK_EQ(ooze_body_add(s, &d, &body), OOZE_OK);
  for (int turn = 0; turn < 2; turn++) {
    if (turn) steps(s, 40);
    for (uint32_t i = 0; i < ooze_particle_count(s); i++) {
      float u[3], m;
      CHECK_EQ(ooze_attribute_read(s, OOZE_VELOCITY, i, 1, 0, u), OOZE_OK);
      CHECK_EQ(ooze_attribute_read(s, OOZE_MASS, i, 1, 0, &m), OOZE_OK);
      for (int a = 0; a < 3; a++) p[turn][a] += (double)m * (double)u[a];
    }
  }
  for (int a = 0; a < 3; a++) change += pow(p[1][a] - p[0][a], 2), size += p[0][a] * p[0][a];
  ooze_body_state b;
  ooze_body_state_default(&b);
  CHECK_EQ(ooze_body_state_get(s, body, &b), OOZE_OK);
  CHECK(b.velocity[0] > 0.05f, "they have not met: %g m/s", (double)b.velocity[0]);
  CHECK(sqrt(change / size) < 1e-4, "momentum changed by %g", sqrt(change / size));
  ooze_solver_destroy(s);
}

static ooze_solver *pool(uint32_t threads) {
  ooze_solver *s = make(threads, -9.81f);
  static float x[600][3];
  ooze_particles p;
  ooze_collider_desc c;
  ooze_collider floor;
  ooze_body_desc d;
  ooze_particles_default(&p);
  p.count = 600;
  for (int i = 0; i < 600; i++)
    x[i][0] = D * (float)(i % 10 - 4), x[i][1] = D * ((float)(i / 100) + 0.5f),
    x[i][2] = D * (float)(i / 10 % 10 - 4);
  p.positions = x;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  ooze_collider_desc_default(&c);
  CHECK_EQ(ooze_collider_add(s, &c, &floor), OOZE_OK);
  ooze_body_desc_default(&d);
  d.strain_limit = 0.1f;
  d.velocity[1] = -1.0f;
  bar(s, d, -0.02f, 0.07f);
  bar(s, d, 0.02f, 0.07f);
  return s;
}
OZ_CASE(a_run_with_soft_bodies_goes_on_bit_for_bit) {
  ooze_solver *a = pool(1), *b = pool(3), *c = make(1, 0);
  uint64_t links[2];
  CHECK_EQ(ooze_links_count(a, &links[0]), OOZE_OK);
  steps(a, 12), steps(b, 12);
  CHECK_EQ(ooze_links_count(a, &links[1]), OOZE_OK);
  CHECK(links[1] < links[0] && links[1] > 0, "%u of %u links are left: the splash is to tear some",
        (unsigned)links[1], (unsigned)links[0]);
  CHECK(hash_of(a) == hash_of(b), "three threads give other bits than one");
  copy_state(a, c);
  steps(a, 8), steps(c, 8);
  CHECK(hash_of(a) == hash_of(c), "a loaded checkpoint goes on differently");
  ooze_solver_destroy(a);
  ooze_solver_destroy(b);
  ooze_solver_destroy(c);
}

OZ_CASE(other_models_take_them_or_say_that_they_do_not) {
  static const struct {
    uint32_t model;
    ooze_result result;
  } kind[] = {{OOZE_MODEL_LINKS, OOZE_OK},
              {OOZE_MODEL_SPRINGS, OOZE_OK},
              {OOZE_MODEL_BLEND, OOZE_ERROR_UNSUPPORTED},
              {OOZE_MODEL_CAUCHY, OOZE_ERROR_UNSUPPORTED}};
  for (int k = 0; k < 4; k++) {
    ooze_solver *s = make(1, -9.81f);
    ooze_params params;
    ooze_body_desc d;
    ooze_collider_desc c;
    ooze_collider floor;
    ooze_params_default(&params);
    params.substeps = 1;
    params.model = kind[k].model;
    CHECK_EQ(ooze_params_set(s, &params), OOZE_OK);
    ooze_collider_desc_default(&c);
    CHECK_EQ(ooze_collider_add(s, &c, &floor), OOZE_OK);
    ooze_body_desc_default(&d);
    bar(s, d, 0, 0);
    if (kind[k].result == OOZE_OK) {
      steps(s, 60);
      CHECK_NEAR(extent(s, 1), (TALL - 1) * (double)D, 0.1 * TALL * (double)D,
                 "stands on the floor");
    } else
      CHECK_EQ(ooze_step(s, 1.0 / 240.0), kind[k].result);
    ooze_solver_destroy(s);
  }
}

OZ_CASE(soft_links_hold_soft_bodies_only) {
  ooze_solver *s = make(1, 0);
  ooze_body_desc d;
  ooze_links l;
  ooze_particles p;
  const float x[2][3] = {{1, 0, 0}, {1.01f, 0, 0}};
  const uint32_t kind = OOZE_LINK_SOFT;
  ooze_body_desc_default(&d);
  d.stretch_compliance = -1.0f;
  d.kind = OOZE_BODY_SOFT, d.count = 2, d.positions = x;
  CHECK_EQ(ooze_body_add(s, &d, NULL), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(ooze_solver_message(s), "stretch_compliance"), "%s", ooze_solver_message(s));
  ooze_body_desc_default(&d);
  bar(s, d, 0, 0);
  ooze_particles_default(&p);
  p.count = 2, p.positions = x;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  const uint64_t fluid[2] = {COUNT, COUNT + 1};
  ooze_links_default(&l);
  l.count = 1, l.pairs = fluid, l.kind = &kind;
  CHECK_EQ(ooze_links_add(s, &l), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(ooze_solver_message(s), "soft body"), "%s", ooze_solver_message(s));
  ooze_solver_destroy(s);
}
OZ_TEST_MAIN()
