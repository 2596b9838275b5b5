/* Short substeps make a stream neither faster nor slower than ordinary ones.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics TIMEOUT 240 */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 1024 };
static float v[MOST][3];

typedef struct material {
  const char *name;
  float density, viscosity, relaxation_time, surface_tension;
} material;

/* m/s: greatest speed of a stream that falls on a floor, after 0.13 s. */
static double fastest(const material *made_of, uint32_t substeps) {
  ooze_solver *s = cpu_solver(0.01f);

  ooze_params p;
  ooze_params_default(&p);
  p.substeps = p.max_substeps = substeps;
  CHECK_OK(ooze_params_set(s, &p), s);

  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.density = made_of->density, m.viscosity = made_of->viscosity;
  m.relaxation_time = made_of->relaxation_time, m.surface_tension = made_of->surface_tension;
  CHECK_OK(ooze_material_add(s, &m, &index), s);

  ooze_collider_desc floor;
  ooze_collider collider;
  ooze_collider_desc_default(&floor);
  CHECK_OK(ooze_collider_add(s, &floor, &collider), s);

  ooze_emitter_desc nozzle;
  ooze_emitter emitter;
  ooze_emitter_desc_default(&nozzle);
  nozzle.material = index, nozzle.radius = 0.015f, nozzle.speed = 0.5f;
  nozzle.start.position[1] = nozzle.end.position[1] = 0.1f;
  CHECK_OK(ooze_emitter_add(s, &nozzle, &emitter), s);
  for (int f = 0; f < 4; ++f) CHECK_OK(ooze_step(s, 1.0 / 30.0), s);

  double most = 0;
  const uint32_t n = ooze_particle_count(s);
  CHECK(n > 20 && n <= MOST, "%u particles", (unsigned)n);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, v), s);
  for (uint32_t i = 0; i < n; ++i)
    most = fmax(most, sqrt((double)(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2])));
  ooze_solver_destroy(s);
  return most;
}

OZ_CASE(short_substeps_add_no_speed) {
  static const material materials[] = {{"water", 998, 0.001f, 0, 0},
                                       {"honey", 1420, 10, 0, 0.05f},
                                       {"runny cream", 900, 10, 0.1f, 0},
                                       {"a weak gel", 1000, 1, 1, 0}};
  for (size_t k = 0; k < sizeof materials / sizeof *materials; ++k) {
    const double ordinary = fastest(materials + k, 32), shorter = fastest(materials + k, 400);
    printf("%s: %g m/s with 32 substeps, %g with 400\n", materials[k].name, ordinary, shorter);
    CHECK(fabs(shorter - ordinary) < 0.2 * ordinary, "%s: %g m/s with 32 substeps, %g with 400",
          materials[k].name, ordinary, shorter);
  }
}

OZ_TEST_MAIN()
