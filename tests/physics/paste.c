/* Pastes that come to rest stay there. SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics TIMEOUT 120 */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 2048, FRAMES = 40 };
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

OZ_CASE(toothpaste_stands_still_on_a_slope) {
  static const uint32_t substeps[] = {0, 8, 16};
  for (int k = 0; k < 3; ++k) {
    const double median = speed(substeps[k]);
    printf("%u substeps: %.2g m/s\n", (unsigned)substeps[k], median);
    CHECK(median < 5e-6, "%u substeps: %g m/s", (unsigned)substeps[k], median);
  }
}

OZ_TEST_MAIN()
