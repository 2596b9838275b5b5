/* Coats on colliders: a ball drawn out of a bath keeps a film of what is thick, by friction alone.
 * Thin fluid and slippery balls come out clean. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS
 * physics TIMEOUT 240 */
#include <math.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { BALL = 5, HALF = 8, BATH = 12, MOST = 4 * HALF * HALF * BATH, POINTS = 400 };
static const float d = 0.004f;
static const float radius = (float)BALL * 0.004f;

static ooze_material slime(void) {
  ooze_material m;
  ooze_material_default(&m);
  m.density = 1050.0f, m.viscosity = 100.0f, m.relaxation_time = 0.5f;
  return m;
}

/* A box without a lid, and the bath in it around a ball that is one layer below its surface. */
static uint32_t bath(ooze_solver *s, const ooze_material *of, float (*x)[3]) {
  ooze_collider_desc c;
  ooze_collider cup;
  uint32_t index, n = 0;
  const float floor = (1.0f + BALL - BATH) * d;
  CHECK_OK(ooze_material_add(s, of, &index), s);
  for (int i = 0; i < MOST; ++i) {
    const float at[3] = {((float)(i % (2 * HALF) - HALF) + 0.5f) * d,
                         ((float)(i / (4 * HALF * HALF)) + 0.5f) * d + floor,
                         ((float)(i / (2 * HALF) % (2 * HALF) - HALF) + 0.5f) * d};
    const float r2 = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
    if (r2 < (radius + 0.5f * d) * (radius + 0.5f * d)) continue;
    for (int k = 0; k < 3; ++k) x[n][k] = at[k];
    ++n;
  }
  add_particles(s, index, n, (const float(*)[3])x);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_BOX, c.invert = 1;
  c.half[0] = c.half[2] = HALF * d, c.half[1] = 100.0f * d;
  c.start.position[1] = c.end.position[1] = floor + c.half[1];
  CHECK_OK(ooze_collider_add(s, &c, &cup), s);
  return n;
}

/* Part of the ball's surface that has fluid within 1.2 separations, as the look-book measures it.
 */
static double covered_part(float (*x)[3], uint32_t count, float y) {
  int covered = 0;
  for (int k = 0; k < POINTS; ++k) {
    const double z = 1.0 - 2.0 * (k + 0.5) / POINTS, r = sqrt(1.0 - z * z), a = 2.399963 * k;
    const float at[3] = {radius * (float)(r * cos(a)), y + radius * (float)z,
                         radius * (float)(r * sin(a))};
    int near = 0;
    for (uint32_t i = 0; i < count && !near; ++i) {
      const float v[3] = {x[i][0] - at[0], x[i][1] - at[1], x[i][2] - at[2]};
      near = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < 1.44f * d * d;
    }
    covered += near;
  }
  return (double)covered / POINTS;
}

/* A bath that a ball of that friction and stick was drawn out of: positions, and the ball's height.
 */
static uint32_t dip(const ooze_material *of, float friction, float stick, float (*x)[3],
                    float *height) {
  ooze_solver *s = cpu_solver(d);
  ooze_collider_desc c;
  ooze_collider ball;
  const uint32_t count = bath(s, of, x);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SPHERE, c.half[0] = radius, c.friction = friction, c.stick = stick;
  CHECK_OK(ooze_collider_add(s, &c, &ball), s);
  float y = 0.0f;
  for (int k = 0; k < 26; ++k) {
    ooze_pose from = c.start, to = c.start;
    from.position[1] = y;
    if (k >= 2) y += k < 20 ? 0.0042f : 0.0f; /* 0.1 m/s */
    to.position[1] = y;
    CHECK_OK(ooze_collider_move(s, ball, &from, &to), s);
    CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  }
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, count, 0, x), s);
  ooze_solver_destroy(s);
  *height = y;
  return count;
}

static double dipped(const ooze_material *of, float friction) {
  static float x[MOST][3];
  float y;
  const uint32_t count = dip(of, friction, 0.0f, x, &y);
  return covered_part(x, count, y);
}

/* Particles within three separations of the ball. */
static uint32_t coat_of(const ooze_material *of, float stick) {
  static float x[MOST][3];
  float y;
  const uint32_t count = dip(of, 1.0f, stick, x, &y);
  uint32_t coat = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const float v[3] = {x[i][0], x[i][1] - y, x[i][2]}, reach = radius + 3.0f * d;
    coat += v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < reach * reach;
  }
  return coat;
}

OZ_CASE(a_collider_drawn_out_of_chocolate_keeps_a_film) {
  const ooze_material paste = chocolate();
  const double covered = dipped(&paste, 1.0f);
  printf("covered: %.2f\n", covered);
  CHECK(covered > 0.92, "%g", covered);
}

OZ_CASE_SLOW(what_relaxes_coats_and_what_slips_or_is_thin_does_not) {
  const ooze_material paste = chocolate(), relaxes = slime();
  ooze_material thin = chocolate();
  thin.viscosity = 0.01f, thin.yield_stress = thin.thinning_time = 0.0f, thin.flow_index = 1.0f;
  const double of_slime = dipped(&relaxes, 1.0f), slippery = dipped(&paste, 0.0f),
               of_water = dipped(&thin, 1.0f);
  printf("covered: slime %.2f, without friction %.2f, 10 mPa s %.2f\n", of_slime, slippery,
         of_water);
  CHECK(of_slime > 0.85, "%g", of_slime); /* 0.19 by its row alone, 0.72 as a net */
  CHECK(slippery < 0.2, "%g", slippery);
  CHECK(of_water < 0.45, "%g", of_water);
}

/* Thick fluid clings to the ball by itself; stick keeps it from sliding off. */
OZ_CASE_SLOW(the_coat_of_syrup_grows_with_stick) {
  static const float stick[4] = {0.0f, 5.0f, 12.0f, 50.0f};
  ooze_material syrup;
  uint32_t coat[4];
  ooze_material_default(&syrup);
  syrup.density = 1330.0f, syrup.viscosity = 2.5f;
  for (int k = 0; k < 4; ++k) coat[k] = coat_of(&syrup, stick[k]);
  printf("particles that coat the ball: %u, %u, %u and %u with a stick of 0, 5, 12 and 50 m/s^2\n",
         coat[0], coat[1], coat[2], coat[3]);
  CHECK(coat[1] > coat[0] && coat[2] > coat[1] && coat[3] > coat[2], "not in order");
  CHECK(2 * coat[3] > 3 * coat[0], "%u and %u", coat[3], coat[0]);
}

OZ_TEST_MAIN()
