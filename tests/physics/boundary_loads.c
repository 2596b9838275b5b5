/* Loads of boundary particles: the weight of the fluid on them, with all models that know them,
 * on shapes that guard their points and on sheets that do not. SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "check.h"
#include "solver_kit.h"

static const float D = 0.02f;
enum { N = 8, LAYERS = 6, COUNT = N * N * LAYERS };

static ooze_solver *make(uint32_t model, uint32_t threads) {
  ooze_params p;
  ooze_material m;
  static float x[COUNT][3];
  ooze_particles fluid;
  ooze_solver_desc desc = cpu_desc(D, threads > 1 ? OOZE_TASKS_AUTO : OOZE_TASKS_SERIAL);
  desc.threads = threads;
  ooze_solver *s = solver_of(&desc);
  ooze_params_default(&p);
  p.model = model;
  p.substeps = model == OOZE_MODEL_CONFORMATION ? 8 : 16;
  CHECK_EQ(ooze_params_set(s, &p), OOZE_OK);
  ooze_material_default(&m);
  m.viscosity = 2.0f;
  CHECK_EQ(ooze_material_set(s, 0, &m), OOZE_OK);
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint32_t at[3] = {i % N, i / (N * N), i / N % N};
    for (int a = 0; a < 3; a++) x[i][a] = D * ((float)at[a] + 0.5f - (a == 1 ? 0.0f : 0.5f * N));
  }
  ooze_particles_default(&fluid);
  fluid.count = COUNT, fluid.positions = x[0];
  CHECK_EQ(ooze_particles_add(s, &fluid, NULL), OOZE_OK);
  return s;
}
static double weight(ooze_solver *s) {
  static float mass[COUNT];
  double sum = 0.0;
  CHECK_EQ(ooze_attribute_read(s, OOZE_MASS, 0, COUNT, 0, mass), OOZE_OK);
  for (uint32_t i = 0; i < COUNT; i++) sum += 9.81 * (double)mass[i];
  return sum;
}
/* A box of particles whose own surface guards them. Its frame is off to the side, so that the
 * weight turns it. */
static ooze_collider guarded(ooze_solver *s) {
  ooze_collider_desc c;
  ooze_collider handle = 0;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.invert = 1;
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.half[0] = c.half[2] = 0.5f * N * D, c.half[1] = 0.3f;
  c.start.position[1] = c.end.position[1] = 0.3f;
  CHECK_EQ(ooze_collider_add(s, &c, &handle), OOZE_OK);
  return handle;
}
/* A tray of points alone: floor, or one of two walls of it, one sheet thick, as colliders of their
 * own. */
static ooze_collider sheet(ooze_solver *s, int part, float aside) {
  static float p[4000][3];
  uint32_t n = 0;
  ooze_collider_desc c;
  ooze_collider handle = 0;
  const int half = N / 2 + 1, high = 2 * LAYERS;
  for (int i = -half; i <= half; i++)
    for (int j = -1; j <= high; j++)
      for (int k = -half; k <= half; k++) {
        const int floor = j == -1, wall = abs(i) == half || abs(k) == half;
        if (part == 0 ? !floor : floor || !wall || (part == 1) != (i < 0)) continue;
        p[n][0] = D * (float)i - aside, p[n][1] = D * ((float)j + 0.4f), p[n][2] = D * (float)k;
        n++;
      }
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SDF;
  c.boundary = OOZE_BOUNDARY_PARTICLES;
  c.start.position[0] = c.end.position[0] = aside;
  CHECK_EQ(ooze_collider_add(s, &c, &handle), OOZE_OK);
  CHECK_EQ(ooze_collider_points(s, handle, n, p[0], NULL), OOZE_OK);
  return handle;
}
/* Mean over some frames of a second. */
static void loads(ooze_solver *s, const ooze_collider *c, int colliders, int wait, int frames,
                  double force[3], double torque[3]) {
  for (int a = 0; a < 3; a++) force[a] = torque[a] = 0.0;
  for (int k = 0; k < wait + frames; k++) {
    CHECK(ooze_step(s, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(s));
    for (int i = 0; i < colliders && k >= wait; i++) {
      float f[3], t[3];
      CHECK_EQ(ooze_collider_load(s, c[i], f, t), OOZE_OK);
      for (int a = 0; a < 3; a++)
        force[a] += (double)f[a] / frames, torque[a] += (double)t[a] / frames;
    }
  }
}

static const uint32_t models[] = {OOZE_MODEL_CONFORMATION, OOZE_MODEL_LINKS, OOZE_MODEL_SPRINGS,
                                  OOZE_MODEL_CAUCHY};

OZ_CASE(a_box_of_them_carries_the_weight_of_what_is_in_it) {
  for (int k = 0; k < 4; k++) {
    ooze_solver *s = make(models[k], 1);
    double force[3], torque[3], w = weight(s);
    ooze_collider c = guarded(s);
    /* its viscosity drags on the walls until it rests */
    loads(s, &c, 1, models[k] == OOZE_MODEL_CAUCHY ? 10 : 5, 5, force, torque);
    printf("  model %u: %.4f of the weight\n", models[k], -force[1] / w);
    CHECK_NEAR(-force[1] / w, 1.0, 0.03,
               "as walls without particles: it is still settling a little");
    CHECK_NEAR(force[0] / w, 0.0, 0.02, "sideways in balance");
    CHECK_NEAR(force[2] / w, 0.0, 0.02, "sideways in balance");
    ooze_solver_destroy(s);
  }
}
OZ_CASE(open_sheets_carry_it_too_each_its_own_part) {
  ooze_solver *s = make(OOZE_MODEL_CONFORMATION, 1);
  double force[3], torque[3], w = weight(s), side[3];
  const float aside = 0.5f;
  ooze_collider c[3];
  for (int k = 0; k < 3; k++) c[k] = sheet(s, k, aside);
  loads(s, c, 3, 8, 4, force, torque);
  CHECK_NEAR(-force[1] / w, 1.0, 0.03, "it is still settling a little");
  CHECK_NEAR(force[0] / w, 0.0, 0.02, "sideways in balance");
  printf("  %.4f of the weight, %.4f of its moment\n", -force[1] / w,
         torque[2] / (w * (double)aside));
  CHECK_NEAR(torque[2] / (w * (double)aside), 1.0, 0.04,
             "the weight hangs aside of where the colliders' frames are");
  /* fluid pushes each of the two walls outwards: rho g H^2 / 2 times the width, more or less a
   * layer's height */
  double height = LAYERS * (double)D, width = N * (double)D,
         push = 0.5 * 1000.0 * 9.81 * height * height * width;
  loads(s, c + 2, 1, 0, 2, side, torque);
  CHECK_NEAR(side[0] / push, 1.0, 0.3, "hydrostatic, of fluid six layers deep");
  loads(s, c + 1, 1, 0, 2, side, torque);
  CHECK_NEAR(side[0] / push, -1.0, 0.3, "and the other way on the other side");
  ooze_solver_destroy(s);
}
OZ_CASE(any_number_of_threads_adds_up_to_the_same_bits) {
  float one[6] = {0};
  for (uint32_t threads = 1; threads <= 3; threads++) {
    ooze_solver *s = make(OOZE_MODEL_CONFORMATION, threads);
    float now[6];
    ooze_collider c = guarded(s);
    for (int k = 0; k < 2; k++)
      CHECK(ooze_step(s, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(s));
    CHECK_EQ(ooze_collider_load(s, c, now, now + 3), OOZE_OK);
    if (threads == 1) memcpy(one, now, sizeof one);
    CHECK(memcmp(one, now, sizeof one) == 0, "%u threads: %.9g N, one: %.9g N", threads,
          (double)now[1], (double)one[1]);
    ooze_solver_destroy(s);
  }
}
OZ_CASE(a_host_that_does_not_ask_gets_the_same_bits_without_them) {
  const uint32_t all[] = {OOZE_MODEL_CONFORMATION, OOZE_MODEL_LINKS, OOZE_MODEL_SPRINGS,
                          OOZE_MODEL_CAUCHY, OOZE_MODEL_BLEND};
  for (int k = 0; k < 5; k++) {
    uint64_t hash[2];
    float force[3], torque[3];
    for (uint32_t on = 0; on < 2; on++) {
      ooze_solver *s = make(all[k], 1);
      ooze_collider c = guarded(s);
      CHECK_EQ(ooze_collider_loads(s, on), OOZE_OK);
      CHECK(ooze_step(s, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(s));
      CHECK_EQ(ooze_state_hash(s, &hash[on]), OOZE_OK);
      CHECK_EQ(ooze_collider_load(s, c, force, torque), on ? OOZE_OK : OOZE_ERROR_UNSUPPORTED);
      if (!on) { /* asked for: from the next step on */
        CHECK_EQ(ooze_collider_loads(s, 1), OOZE_OK);
        CHECK(ooze_step(s, 1.0 / 24.0) == OOZE_OK, "%s", ooze_solver_message(s));
        CHECK_EQ(ooze_collider_load(s, c, force, torque), OOZE_OK);
        /* blend: the pressure of particles is in no load */
        CHECK(force[1] < 0.0f || all[k] == OOZE_MODEL_BLEND, "model %u: %g N", all[k],
              (double)force[1]);
      }
      ooze_solver_destroy(s);
    }
    CHECK(hash[0] == hash[1], "model %u: %016llx without loads, %016llx with them", all[k],
          (unsigned long long)hash[0], (unsigned long long)hash[1]);
  }
  ooze_solver *s = make(OOZE_MODEL_LINKS, 1);
  CHECK_EQ(ooze_collider_loads(s, 2), OOZE_ERROR_ARGUMENT);
  ooze_solver_destroy(s);
}
OZ_TEST_MAIN()
