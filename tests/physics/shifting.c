/* Particle shifting keeps a flowing body whole, and leaves bodies alone that do not flow.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics TIMEOUT 120 */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 4096 };
static const float separation = 0.005f, radius = 0.03f, height = 0.08f;
static float x[MOST][3];

static ooze_solver *cylinder(float shifting, float viscosity, float gravity) {
  ooze_solver *s = cpu_solver(separation);

  ooze_params p;
  ooze_params_default(&p);
  p.shifting = shifting;
  p.gravity[1] = gravity;
  CHECK_OK(ooze_params_set(s, &p), s);

  ooze_material m;
  uint32_t material;
  ooze_material_default(&m);
  m.density = 1100, m.viscosity = viscosity, m.relaxation_time = 0.5f;
  CHECK_OK(ooze_material_add(s, &m, &material), s);

  ooze_collider_desc floor;
  ooze_collider handle;
  ooze_collider_desc_default(&floor);
  floor.friction = 1;
  CHECK_OK(ooze_collider_add(s, &floor, &handle), s);

  uint32_t n = 0;
  for (float y = 0.55f * separation; y < height; y += separation)
    for (float a = -radius; a <= radius; a += separation)
      for (float b = -radius; b <= radius; b += separation)
        if (a * a + b * b <= radius * radius && n < MOST) x[n][0] = a, x[n][1] = y, x[n++][2] = b;
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = n, add.material = material, add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  return s;
}

static int ascending(const void *a, const void *b) {
  const double d = *(const double *)a - *(const double *)b;
  return d > 0 ? 1 : d < 0 ? -1 : 0;
}

/* m: radius within which 95% of the particles lie. */
static double reach(ooze_solver *s) {
  static double r[MOST];
  const uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  for (uint32_t i = 0; i < n; ++i) r[i] = hypot((double)x[i][0], (double)x[i][2]);
  qsort(r, n, sizeof *r, ascending);
  return r[n * 95 / 100];
}

OZ_CASE(a_collapsing_cylinder_holds_together_with_shifting) {
  double far[2];
  for (int k = 0; k < 2; ++k) {
    ooze_solver *s = cylinder((float)k, 100, -9.81f);
    for (int f = 0; f < 24; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
    far[k] = reach(s);
    ooze_solver_destroy(s);
  }
  CHECK(far[1] < 0.93 * far[0], "it reaches %g m with shifting, %g m without", far[1], far[0]);
}

OZ_CASE(nothing_is_shifted_where_nothing_is_strained) {
  static float first[MOST][3];
  ooze_solver *s = cylinder(1, 100, 0);
  const uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, first), s);
  for (int f = 0; f < 4; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  double most = 0;
  for (uint32_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) most = fmax(most, fabs((double)(x[i][c] - first[i][c])));
  CHECK(most < 0.05 * (double)separation, "a particle moved by %g m", most);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
