/* A host's calls on a running solver step by step: forces, counts, and colours of particles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "ooze/ooze_scene.h"
#include "ooze/ooze_surface.h"

#include <math.h>

/* Particles too far apart to meet, without gravity. */
static ooze_solver *lonely(uint32_t count) {
  ooze_solver_desc d;
  ooze_params params;
  ooze_particles p;
  ooze_solver *s = NULL;
  float x[8][3];
  ooze_solver_desc_default(&d);
  d.backend = OOZE_BACKEND_CPU;
  CHECK_EQ(ooze_solver_create(&d, &s, NULL), OOZE_OK);
  ooze_params_default(&params);
  memset(params.gravity, 0, sizeof params.gravity);
  params.substeps = 4;
  CHECK_EQ(ooze_params_set(s, &params), OOZE_OK);
  for (uint32_t i = 0; i < count; i++) x[i][0] = (float)i, x[i][1] = x[i][2] = 0.0f;
  ooze_particles_default(&p);
  p.count = count;
  p.positions = x;
  CHECK_EQ(ooze_particles_add(s, &p, NULL), OOZE_OK);
  return s;
}

static double velocity(ooze_solver *s, uint32_t rank, int k) {
  float v[3];
  CHECK_EQ(ooze_attribute_read(s, OOZE_VELOCITY, rank, 1, 0, v), OOZE_OK);
  return (double)v[k];
}

OZ_CASE(an_acceleration_acts_beside_the_particles_own) {
  ooze_solver *s = lonely(2);
  ooze_forces f;
  const float own[3] = {0, 0, 5}, push[6] = {3, 0, 0, 0, -2, 0};
  float left[3];
  CHECK_EQ(ooze_attribute_write(s, OOZE_FORCE, 1, 1, 0, own), OOZE_OK);
  ooze_forces_default(&f);
  f.count = 2;
  f.acceleration = push;
  for (int i = 0; i < 10; i++) CHECK_EQ(ooze_step_forced(s, &f, 0.01, NULL), OOZE_OK);
  CHECK_NEAR(velocity(s, 0, 0), 0.3, 1e-5, "3 N/kg for 0.1 s");
  CHECK_NEAR(velocity(s, 1, 1), -0.2, 1e-5, "2 N/kg for 0.1 s");
  CHECK_NEAR(velocity(s, 1, 2), 0.5, 1e-5, "its own goes on");
  CHECK_EQ(ooze_attribute_read(s, OOZE_FORCE, 1, 1, 0, left), OOZE_OK);
  CHECK(!memcmp(left, own, sizeof own)); /* and is as before */
  ooze_solver_destroy(s);
}

OZ_CASE(the_air_takes_particles_along_and_never_overshoots) {
  ooze_forces f;
  ooze_forces_default(&f);
  f.wind[0] = 2.0f;
  for (int fast = 0; fast < 2; fast++) {
    ooze_solver *s = lonely(1);
    f.count = 1;
    f.air_resistance = fast ? 1e4f : 5.0f;
    for (int i = 0; i < 10; i++) CHECK_EQ(ooze_step_forced(s, &f, 0.02, NULL), OOZE_OK);
    CHECK_NEAR(velocity(s, 0, 0), fast ? 2.0 : 2.0 * (1.0 - exp(-5.0 * 0.2)), 1e-4,
               "relaxes at the rate, to the air's velocity");
    ooze_solver_destroy(s);
  }
  /* a target and a resistance of its own */
  ooze_solver *s = lonely(2);
  const float target[6] = {0, 1, 0, 0, -1, 0}, rate[2] = {1e4f, 0};
  f.count = 2;
  f.target = target;
  f.resistance = rate;
  CHECK_EQ(ooze_step_forced(s, &f, 0.02, NULL), OOZE_OK);
  CHECK_NEAR(velocity(s, 0, 1), 1, 1e-4, "the target, not the wind");
  CHECK_NEAR(velocity(s, 0, 0), 0, 1e-6, "the target, not the wind");
  CHECK_NEAR(velocity(s, 1, 1), 0, 0, "no resistance");
  ooze_solver_destroy(s);
}

OZ_CASE(forces_that_do_not_fit_are_refused_and_change_nothing) {
  ooze_solver *s = lonely(2);
  ooze_forces f;
  ooze_message why = {""};
  const float bad[6] = {0, NAN, 0, 0, 0, 0}, negative[2] = {1, -1};
  uint64_t before = 0, after = 0;
  CHECK_EQ(ooze_state_hash(s, &before), OOZE_OK);
  ooze_forces_default(&f);
  f.count = 3;
  f.acceleration = bad;
  CHECK_EQ(ooze_step_forced(s, &f, 0.01, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "for 3 particles; expected 2"), "%s", why.text);
  f.count = 2;
  CHECK_EQ(ooze_step_forced(s, &f, 0.01, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "not finite"), "%s", why.text);
  f.acceleration = NULL;
  f.resistance = negative;
  CHECK_EQ(ooze_step_forced(s, &f, 0.01, &why), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_step_forced(NULL, &f, 0.01, NULL), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_state_hash(s, &after), OOZE_OK);
  CHECK(after == before && ooze_time(s) == 0.0);
  ooze_solver_destroy(s);
}

OZ_CASE(counts_are_those_of_the_full_statistics) {
  ooze_solver *s = lonely(5);
  ooze_stats all, counts;
  const float v[3] = {1, 0, 0};
  ooze_stats_default(&all);
  ooze_stats_default(&counts);
  CHECK_EQ(ooze_attribute_write(s, OOZE_VELOCITY, 2, 1, 0, v), OOZE_OK);
  CHECK_EQ(ooze_step(s, 0.01), OOZE_OK);
  CHECK_EQ(ooze_stats_counts(s, &counts), OOZE_OK);
  CHECK_EQ(ooze_stats_get(s, &all), OOZE_OK);
  CHECK_EQ(counts.particles, 5);
  CHECK_EQ(counts.particles, all.particles);
  CHECK_EQ(counts.substeps, all.substeps);
  CHECK_EQ(counts.substeps, 4);
  CHECK(counts.bytes > 0 && counts.bytes == all.bytes);
  CHECK(all.kinetic_energy > 0.0 && counts.kinetic_energy == 0.0); /* summed over particles */
  ooze_solver_destroy(s);
}

OZ_CASE(colours_go_from_one_end_of_the_range_to_the_other) {
  const float speeds[9] = {0, 0, 0, 0, 3, 4, 0, 2.5f, 0}, none[2] = {0, 0}, wide[2] = {0, 50};
  float c[3][3], w[3][3];
  CHECK_EQ(ooze_visual_components(OOZE_VISUAL_SPEED), 3);
  CHECK_EQ(ooze_visual_components(99), 0);
  CHECK_EQ(ooze_visual(OOZE_VISUAL_SPEED, speeds, 3, none, c[0]), OOZE_OK);
  CHECK_EQ(ooze_visual(OOZE_VISUAL_SPEED, speeds, 3, wide, w[0]), OOZE_OK);
  /* viridis gets lighter: its ends are 68 1 84 and 253 231 37 of sRGB */
  CHECK_NEAR(c[0][1], 0.0003, 1e-4, "the dark end");
  CHECK_NEAR(c[1][1], pow((231.0 / 255 + 0.055) / 1.055, 2.4), 1e-4, "the bright end: 5 m/s");
  CHECK(c[2][1] > c[0][1] && c[2][1] < c[1][1]);
  CHECK(w[1][1] < 0.1f * c[1][1]); /* a tenth of that range */
  CHECK_EQ(ooze_visual(99, speeds, 3, none, c[0]), OOZE_ERROR_ARGUMENT);
}
OZ_TEST_MAIN()
