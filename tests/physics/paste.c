/* Pastes that come to rest stay there, and stiff ones do not climb. SPDX-License-Identifier:
 * Apache-2.0 oz_test: LABELS physics */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 4096, FRAMES = 40 };
static float v[MOST][3];

static int ascending(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* m/s: median speed of toothpaste, one millimetre a particle, a second after it was poured on a
 * slope. */
static double speed(uint32_t substeps) {
  ooze_solver *s = counted_solver(0.001f, substeps, 0, 0);
  ooze_material m;
  ooze_params p;

  ooze_material_default(&m);
  m.density = 1300.0f, m.viscosity = 60.0f, m.relaxation_time = 0.005f, m.yield_stress = 150.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  add_nozzle(s, 0.0035f, 0.03f, 0.012f);
  default_floor(s);
  ooze_params_default(&p);
  p.substeps = substeps;
  p.gravity[1] = -7.5f, p.gravity[2] = 6.3f;
  CHECK_OK(ooze_params_set(s, &p), s);

  for (int f = 0; f < FRAMES; ++f) {
    if (f == 15) CHECK_OK(ooze_emitter_remove(s, 1), s);
    CHECK_OK(ooze_step(s, 1.0 / 25.0), s);
  }
  static double of[MOST];
  const uint32_t n = ooze_particle_count(s);
  CHECK(n > 400 && n <= MOST, "%u particles", (unsigned)n);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, v), s);
  for (uint32_t i = 0; i < n; ++i)
    of[i] = hypot((double)v[i][0], hypot((double)v[i][1], (double)v[i][2]));
  qsort(of, n, sizeof *of, ascending);
  ooze_solver_destroy(s);
  return of[n / 2];
}

static void stands_still(uint32_t substeps) {
  const double median = speed(substeps);
  printf("%u substeps: %.2g m/s\n", (unsigned)substeps, median);
  CHECK(median < 5e-6, "%u substeps: %g m/s", (unsigned)substeps, median);
}

OZ_CASE(toothpaste_stands_still_on_a_slope) { stands_still(0); }

OZ_CASE_SLOW(toothpaste_stands_still_with_any_substeps) { stands_still(8), stands_still(16); }

/* mm/s: root mean square of the speed of a coat of three layers on the upper half of a ball, after
 * 0.75 s. Its own weight shears it by 0.17 mm/s. */
static double swims(ooze_material m) {
  const float d = 0.003f, ball = 0.035f;
  static float x[MOST][3];
  ooze_solver *s = counted_solver(d, 14, 0, 0);
  ooze_collider_desc c;
  ooze_collider collider;
  uint32_t n = 0, random = 1;

  m.density = 1270.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SPHERE, c.half[0] = ball;
  CHECK_OK(ooze_collider_add(s, &c, &collider), s);
  for (int i = -20; i <= 20; ++i)
    for (int j = 0; j <= 20; ++j)
      for (int k = -20; k <= 20; ++k) {
        const int at[3] = {i, j, k};
        float p[3], r2 = 0.0f;
        for (int a = 0; a < 3; ++a) {
          random = random * 1664525u + 1013904223u;
          p[a] = d * ((float)at[a] + 0.4f * ((float)(random >> 8) / 16777216.0f - 0.5f));
          r2 += p[a] * p[a];
        }
        const float r = sqrtf(r2);
        if (r < ball + 0.4f * d || r > ball + 3.0f * d || n == MOST) continue;
        for (int a = 0; a < 3; ++a) x[n][a] = p[a];
        n++;
      }
  CHECK(n > 500 && n < MOST, "%u particles", (unsigned)n);
  add_particles(s, 0, n, (const float(*)[3])x);
  for (int f = 0; f < 18; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, v), s);
  double sum = 0.0;
  for (uint32_t i = 0; i < n; ++i)
    for (int a = 0; a < 3; ++a) sum += (double)v[i][a] * (double)v[i][a];
  ooze_solver_destroy(s);
  return 1e3 * sqrt(sum / n);
}

/* They crept upwards, in lumps: they gave back volume that they had not gained, and the density
 * pushed it outwards again. */
static void does_not_climb(ooze_material m) {
  m.viscosity = 3000.0f;
  const double by = swims(m);
  printf("%.2f mm/s\n", by);
  CHECK(by < 0.7, "%g mm/s", by);
}

OZ_CASE(stiff_chocolate_does_not_climb_a_ball) { does_not_climb(chocolate()); }

OZ_CASE_SLOW(stiff_plain_paste_does_not_climb_a_ball) {
  ooze_material plain;
  ooze_material_default(&plain);
  plain.yield_stress = chocolate().yield_stress;
  does_not_climb(plain);
}

OZ_TEST_MAIN()
