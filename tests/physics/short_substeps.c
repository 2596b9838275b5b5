/* Short substeps make a stream neither faster nor slower than ordinary ones.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 1024 };
static float v[MOST][3];
static double speeds[MOST];

typedef struct material {
  const char *name;
  float density, viscosity, relaxation_time, surface_tension;
} material;

typedef struct {
  double mean, fast; /* m/s: root of the mean square, and the least of the fastest twentieth */
} motion;

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Speeds in a stream six particles across that falls on a floor, after 0.13 s. The fastest particle
 * of all is chance. */
static motion falling(const material *made_of, uint32_t substeps) {
  ooze_solver *s = cpu_solver(0.005f);

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

  double squares = 0;
  const uint32_t n = ooze_particle_count(s);
  CHECK(n > 200 && n <= MOST, "%u particles", (unsigned)n);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, v), s);
  for (uint32_t i = 0; i < n; ++i) {
    const double square = (double)(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    speeds[i] = sqrt(square), squares += square;
  }
  qsort(speeds, n, sizeof *speeds, by_size);
  ooze_solver_destroy(s);
  return (motion){sqrt(squares / n), speeds[n - 1 - n / 20]};
}

static void adds_no_speed(material m) {
  const motion a = falling(&m, 32), b = falling(&m, 400);
  printf("%s: %.3f m/s, fast ones %.3f, with 32 substeps; %.3f and %.3f with 400\n", m.name, a.mean,
         a.fast, b.mean, b.fast);
  CHECK(fabs(b.mean - a.mean) < 0.05 * a.mean, "%s: %g and %g m/s", m.name, a.mean, b.mean);
  CHECK(fabs(b.fast - a.fast) < 0.1 * a.fast, "%s: fast ones %g and %g m/s", m.name, a.fast,
        b.fast);
}

OZ_CASE(short_substeps_add_no_speed_to_a_gel) {
  adds_no_speed((material){"a weak gel", 1000, 1, 1, 0});
}

OZ_CASE_SLOW(short_substeps_add_no_speed) {
  adds_no_speed((material){"water", 998, 0.001f, 0, 0});
  adds_no_speed((material){"honey", 1420, 10, 0, 0.05f});
  adds_no_speed((material){"runny cream", 900, 10, 0.1f, 0});
}

OZ_TEST_MAIN()
