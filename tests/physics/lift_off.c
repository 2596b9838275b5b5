/* Cream that a nozzle is lifted off: nothing flies away, and a peak stays.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include <math.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 4096, FRAMES = 36 };
static const double D = 0.0016, MOUTH = 0.008, SHUT = 0.85;
static float x[MOST][3], v[MOST][3];
static uint32_t source[MOST];

/* m: height of the mouth, which is lifted at 0.05 and then 0.1 m/s once it is shut */
static float height(double t) {
  static const double key[][2] = {
      {0.0, 0.012}, {0.5, 0.016}, {0.85, 0.022}, {1.0, 0.03}, {9.0, 0.83}};
  int k = 1;
  while (t > key[k][0]) ++k;
  const double part = (t - key[k - 1][0]) / (key[k][0] - key[k - 1][0]);
  return (float)(key[k - 1][1] + part * (key[k][1] - key[k - 1][1]));
}

static uint32_t read(ooze_solver *s) {
  const uint32_t n = ooze_particle_count(s);
  CHECK(n <= MOST, "%u particles", (unsigned)n);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, v), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_SOURCE, 0, n, 0, source), s);
  return n;
}

/* m/s: of the fastest particle that no nozzle holds */
static double fastest(uint32_t n) {
  double most = 0.0;
  for (uint32_t i = 0; i < n; ++i)
    if (!source[i])
      most = fmax(most, hypot((double)v[i][0], hypot((double)v[i][1], (double)v[i][2])));
  return most;
}

/* Whether a particle stands on the floor and is above a height, in m. */
static int stands_above(uint32_t i, double low) {
  return !source[i] && (double)x[i][1] < 0.045 && (double)x[i][1] > low;
}

/* m: radius of a disc as wide as the tip, the layer at the top */
static double tip(uint32_t n) {
  double top = 0.0, at[2] = {0.0, 0.0}, square = 0.0;
  uint32_t of = 0;
  for (uint32_t i = 0; i < n; ++i)
    if (stands_above(i, top)) top = (double)x[i][1];
  const double low = top - D;
  for (uint32_t i = 0; i < n; ++i)
    if (stands_above(i, low)) at[0] += (double)x[i][0], at[1] += (double)x[i][2], ++of;
  for (uint32_t i = 0; i < n; ++i)
    if (stands_above(i, low))
      square += pow((double)x[i][0] - at[0] / of, 2) + pow((double)x[i][2] - at[1] / of, 2);
  const double radius = sqrt(2.0 * square / of);
  printf("tip of %u particles at %.1f mm: radius %.2f mm\n", (unsigned)of, 1e3 * top, 1e3 * radius);
  CHECK(top > 2.5 * MOUTH, "it stands %g m high", top);
  return radius;
}

OZ_CASE(cream_keeps_a_peak_and_nothing_flies_off) {
  ooze_solver *s = cpu_solver((float)D);
  ooze_material m; /* whipped cream, as the preset */
  ooze_material_default(&m);
  m.density = 450.0f, m.viscosity = 30.0f, m.relaxation_time = 0.01f, m.yield_stress = 30.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  default_floor(s);

  ooze_emitter_desc nozzle;
  ooze_emitter emitter;
  ooze_emitter_desc_default(&nozzle);
  nozzle.radius = (float)MOUTH, nozzle.speed = 0.06f;
  nozzle.outline = OOZE_OUTLINE_STAR, nozzle.outline_points = 6, nozzle.outline_inner = 0.55f;
  nozzle.start.position[1] = nozzle.end.position[1] = height(0.0);
  CHECK_OK(ooze_emitter_add(s, &nozzle, &emitter), s);

  double most = 0.0;
  uint32_t n = 0;
  for (int f = 0; f < FRAMES; ++f) {
    nozzle.start.position[1] = height(f / 24.0), nozzle.end.position[1] = height((f + 1) / 24.0);
    nozzle.active = f / 24.0 < SHUT;
    CHECK_OK(ooze_emitter_set(s, emitter, &nozzle), s);
    CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
    n = read(s);
    most = fmax(most, fastest(n));
  }
  /* The neck snaps at 0.2; position iterations that diverge make 30 to 3,000. */
  printf("fastest %.2f m/s\n", most);
  CHECK(most < 1.0, "a particle reaches %g m/s", most);
  const double radius = tip(n);
  CHECK(radius < 0.5 * MOUTH, "the tip has a radius of %g m", radius);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
