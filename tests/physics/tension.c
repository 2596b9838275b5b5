/* Surface tension and cohesion through ooze.h. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

OZ_TEST_MAIN()

static const float D = 0.001f; /* m */
enum { MOST = 1800 };
static float x[MOST][3], u[MOST][3];
static char told[400];
static int times_told;

static void hear(void *user, int32_t level, const char *text) {
  (void)user;
  if (level != OOZE_LOG_WARNING) return;
  times_told++;
  snprintf(told, sizeof told, "%s", text);
}

typedef struct fluid {
  float density, viscosity, tension, cohesion;
} fluid;
/* A block of n[0] n[1] n[2] without gravity. */
static ooze_solver *make_of(const fluid *of, const int n[3], uint32_t substeps) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_params p;
  ooze_material m;
  ooze_particles q;
  uint32_t count = 0;
  ooze_solver_desc_default(&desc);
  desc.particle_separation = D;
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.hooks.log = hear;
  CHECK(ooze_solver_create(&desc, &s, &why) == OOZE_OK, "%s", why.text);
  ooze_params_default(&p);
  p.substeps = substeps;
  p.gravity[1] = 0.0f;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material_default(&m);
  m.density = of->density;
  m.viscosity = of->viscosity;
  m.surface_tension = of->tension;
  m.cohesion = of->cohesion;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j)
      for (int k = 0; k < n[2]; ++k, ++count)
        x[count][0] = D * (float)i, x[count][1] = D * (float)j, x[count][2] = D * (float)k;
  ooze_particles_default(&q);
  q.count = count;
  q.positions = x;
  CHECK_OK(ooze_particles_add(s, &q, NULL), s);
  return s;
}
static ooze_solver *make(const int n[3], float tension, float cohesion, uint32_t substeps) {
  const fluid thin = {1000.0f, 0.01f, tension, cohesion};
  return make_of(&thin, n, substeps);
}
/* Mean squares of the distance from the middle along each axis; momentum and its moment over the
 * sums of sizes. */
static void look(ooze_solver *s, double square[3], double *momentum, double *spin) {
  uint32_t n = ooze_particle_count(s);
  double c[3] = {0, 0, 0}, p[3] = {0, 0, 0}, l[3] = {0, 0, 0}, all = 1e-30, turn = 1e-30;
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 12, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 12, u), s);
  for (uint32_t i = 0; i < n; ++i)
    for (int a = 0; a < 3; ++a) c[a] += (double)x[i][a] / n, p[a] += (double)u[i][a], square[a] = 0;
  for (uint32_t i = 0; i < n; ++i) {
    double r[3], v[3], r2 = 0, v2 = 0;
    for (int a = 0; a < 3; ++a) {
      r[a] = (double)x[i][a] - c[a], v[a] = (double)u[i][a];
      square[a] += r[a] * r[a] / n, r2 += r[a] * r[a], v2 += v[a] * v[a];
    }
    for (int a = 0; a < 3; ++a)
      l[a] += r[(a + 1) % 3] * v[(a + 2) % 3] - r[(a + 2) % 3] * v[(a + 1) % 3];
    all += sqrt(v2), turn += sqrt(r2 * v2);
  }
  *momentum = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / all;
  *spin = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]) / turn;
}

OZ_CASE(a_block_becomes_round_and_keeps_its_momentum) {
  const int n[3] = {6, 6, 12};
  double before[3], after[3], momentum, spin;
  ooze_stats t;
  ooze_solver *s = make(n, 0.072f, 0, 60);
  look(s, before, &momentum, &spin);
  CHECK(before[2] > 3.5 * before[0], "%g", before[2] / before[0]);
  CHECK_OK(ooze_step(s, 0.03), s);
  look(s, after, &momentum, &spin);
  CHECK(after[2] < 0.6 * before[2], "%g of its length's square is left", after[2] / before[2]);
  CHECK_NEAR(momentum, 0, 1e-4, "pairs pull each other alike; roundings of some hundred terms");
  CHECK_NEAR(spin, 0, 2.5e-3, "shifting moves particles unevenly, and their velocities with them");
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK_EQ(t.tension_held, 0);
  ooze_solver_destroy(s);
}

OZ_CASE(without_tension_a_block_stays_as_it_is) {
  const int n[3] = {6, 6, 12};
  double before[3], after[3], momentum, spin;
  ooze_solver *s = make(n, 0, 0, 4);
  look(s, before, &momentum, &spin);
  CHECK_OK(ooze_step(s, 0.02), s);
  look(s, after, &momentum, &spin);
  CHECK_NEAR(after[2], before[2], 1e-6 * before[2], "nothing acts");
  ooze_solver_destroy(s);
}

OZ_CASE(what_a_whole_frame_cannot_bear_is_held_back_and_told_once) {
  const int n[3] = {6, 6, 6};
  double square[3], momentum, spin;
  ooze_stats t;
  times_told = 0;
  ooze_solver *s = make(n, 1000.0f, 0, 1);
  for (int k = 0; k < 12; ++k) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK_EQ(t.tension_held, 216);
  CHECK(t.max_speed < 24.0 * (double)D, "%g m/s", t.max_speed);
  CHECK_EQ(times_told, 1);
  CHECK(strstr(told, "held back") && strstr(told, "N/m"), "%s", told);
  look(s, square, &momentum, &spin);
  CHECK(square[0] < 2.0 * 35.0 / 12.0 * (double)D * (double)D, "it has come apart: %g", square[0]);
  ooze_solver_destroy(s);
}

/* Two halves of a rod fly apart, a fifth slower than would part it: at 0.05 m/s the last few
 * percent of damping decide. */
static double gap_after_pull(float cohesion) {
  const int n[3] = {5, 5, 14};
  ooze_solver *s = make(n, 0, cohesion, 24);
  uint32_t count = ooze_particle_count(s);
  for (uint32_t i = 0; i < count; ++i)
    u[i][0] = u[i][1] = 0, u[i][2] = x[i][2] > 6.5f * D ? 0.04f : -0.04f;
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, count, 12, u), s);
  CHECK_OK(ooze_step(s, 0.1), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, count, 12, x), s);
  double low = -1e9, high = 1e9;
  for (uint32_t i = 0; i < count; ++i) {
    const int upper = i % 14 >= 7;
    if (upper && (double)x[i][2] < high) high = (double)x[i][2];
    if (!upper && (double)x[i][2] > low) low = (double)x[i][2];
  }
  ooze_solver_destroy(s);
  return (high - low) / (double)D;
}
OZ_CASE(cohesion_holds_what_is_pulled_apart) {
  double loose = gap_after_pull(0), held = gap_after_pull(100.0f);
  CHECK(loose > 3, "without cohesion the halves are %g separations apart", loose);
  CHECK(held < 2, "with it they are %g apart", held);
}

/* Furthest particle from the middle of a cube of honey after half a second, over the radius of the
 * sphere of the same volume. 30 frames a second. */
static double corners_after(float tension, uint32_t substeps, uint32_t *out_held) {
  const int n[3] = {12, 12, 12};
  const fluid honey = {1420.0f, 10.0f, tension, 0};
  const double sphere = 12.0 * (double)D * cbrt(3.0 / (4.0 * 3.14159265358979));
  ooze_solver *s = make_of(&honey, n, substeps);
  ooze_stats t;
  double most = 0, middle[3] = {0, 0, 0};
  for (int k = 0; k < 15; ++k) {
    CHECK_OK(ooze_step(s, 1.0 / 30.0), s);
    ooze_stats_default(&t);
    CHECK_OK(ooze_stats_get(s, &t), s);
    CHECK(k < 3 || t.max_speed < 0.02, "%g m/s at %g N/m in %u substeps, frame %d", t.max_speed,
          (double)tension, (unsigned)substeps, k);
  }
  const uint32_t count = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, count, 12, x), s);
  for (uint32_t i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a) middle[a] += (double)x[i][a] / count;
  for (uint32_t i = 0; i < count; ++i) {
    double r2 = 0;
    for (int a = 0; a < 3; ++a) r2 += pow((double)x[i][a] - middle[a], 2.0);
    most = fmax(most, sqrt(r2));
  }
  *out_held = t.tension_held;
  ooze_solver_destroy(s);
  return (most + 0.5 * (double)D) / sphere;
}
OZ_CASE(corners_of_honey_are_rounder_with_more_tension) {
  uint32_t held[3];
  times_told = 0;
  const double none = corners_after(0, 8, held), some = corners_after(0.05f, 8, held + 1),
               much = corners_after(0.5f, 8, held + 2);
  printf("corners reach %g, %g, %g radii\n", none, some, much);
  CHECK(none > 1.3, "without tension a cube stays one: %g", none);
  CHECK(some < none - 0.1, "0.05 N/m: %g, without %g", some, none);
  CHECK(much < some - 0.05, "0.5 N/m: %g, 0.05 N/m %g", much, some);
  CHECK_EQ(held[1], 0);
  CHECK_EQ(held[2], 0);
  CHECK_EQ(times_told, 0);
}

OZ_CASE_SLOW(few_and_many_substeps_round_honey_alike) {
  uint32_t held;
  const double few = corners_after(0.05f, 4, &held), many = corners_after(0.05f, 40, &held);
  printf("corners reach %g radii with 4 substeps, %g with 40\n", few, many);
  CHECK_NEAR(few, many, 0.1, "half of what 0.05 N/m takes from the corners");
}

OZ_CASE(adaptive_substeps_bear_their_tension) {
  const int n[3] = {6, 6, 6};
  ooze_solver *s = make(n, 1.0f, 0, 1);
  ooze_params p;
  ooze_stats t;
  ooze_params_default(&p);
  p.gravity[1] = 0.0f;
  p.cfl = 4.0f;
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_OK(ooze_step(s, 1.0 / 30.0), s);
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  CHECK_EQ(t.tension_held, 0);
  CHECK(t.substeps >= 30 && t.substeps < 64, "%u substeps, of 0.85 ms or less",
        (unsigned)t.substeps);
  ooze_solver_destroy(s);
}
