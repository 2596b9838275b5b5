/* Fluid at rest in a box keeps its volume, and more iterations keep more of it; a block that is
 * too thick to flow keeps its height.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include <math.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { WIDE = 6, HIGH = 16, COUNT = WIDE * WIDE * HIGH };
static const float d = 0.01f;

/* Twice the height of the centre of mass over the first one, after a second. */
static double height(uint32_t iterations) {
  ooze_solver *s = counted_solver(d, 0, 0, iterations);

  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.viscosity = 1.0f;
  CHECK_OK(ooze_material_add(s, &m, &index), s);

  ooze_collider_desc box;
  ooze_collider collider;
  ooze_collider_desc_default(&box);
  box.shape = OOZE_SHAPE_BOX, box.invert = 1, box.friction = 0.0f;
  box.half[0] = box.half[2] = 0.5f * WIDE * d, box.half[1] = 0.2f;
  box.start.position[1] = box.end.position[1] = 0.2f;
  CHECK_OK(ooze_collider_add(s, &box, &collider), s);

  static float x[COUNT][3];
  static const uint32_t size[3] = {WIDE, HIGH, WIDE};
  lattice_on_floor(x, size, d);
  add_particles(s, index, COUNT, (const float(*)[3])x);
  for (int f = 0; f < 24; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);

  double sum = 0.0;
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, COUNT, 0, x), s);
  for (uint32_t i = 0; i < COUNT; ++i) sum += (double)x[i][1];
  ooze_solver_destroy(s);
  return 2.0 * sum / COUNT / (HIGH * (double)d);
}

OZ_CASE(fluid_at_rest_keeps_its_volume) {
  const double few = height(5), more = height(10), many = height(20);
  printf("height with 5, 10 and 20 iterations: %.3f %.3f %.3f\n", few, more, many);
  CHECK(few > 0.95, "%g", few);
  CHECK(more > 0.975, "%g", more);
  CHECK(many > 0.985, "%g", many);
}

/* Part of its height that a free block of fine particles has lost after half a second. */
static double sinks(float viscosity) {
  enum { EDGE = 8, ALL = EDGE * EDGE * EDGE };
  static const uint32_t size[3] = {EDGE, EDGE, EDGE};
  static float x[ALL][3];
  ooze_solver *s = cpu_solver(0.001f);
  ooze_material m;
  uint32_t index;
  double before = 0.0, after = 0.0;
  ooze_material_default(&m);
  m.viscosity = viscosity;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  default_floor(s);
  lattice_on_floor(x, size, 0.001f);
  add_particles(s, index, ALL, (const float(*)[3])x);
  for (uint32_t i = 0; i < ALL; ++i) before += (double)x[i][1];
  for (int f = 0; f < 12; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, ALL, 0, x), s);
  for (uint32_t i = 0; i < ALL; ++i) after += (double)x[i][1];
  ooze_solver_destroy(s);
  return 1.0 - after / before;
}

/* A stiff solid's floor of compliance made both sink as 130 Pa s. */
OZ_CASE(a_block_too_thick_to_flow_keeps_its_height) {
  for (float viscosity = 1e3f; viscosity < 2e5f; viscosity *= 100.0f) {
    const double lost = sinks(viscosity);
    printf("%g Pa s: %.4f of its height lost\n", (double)viscosity, lost);
    CHECK(fabs(lost) < 0.02, "%g", lost);
  }
}

/* d: mean height of the lowest layer of a thick block, half a second after it was dropped from 3.4
 * separations. */
static double lands(uint32_t substeps) {
  enum { EDGE = 8, ALL = EDGE * EDGE * EDGE };
  static const uint32_t size[3] = {EDGE, EDGE, EDGE};
  static float x[ALL][3];
  const float apart = 0.004f;
  ooze_solver *s = counted_solver(apart, substeps, 0, 0);
  ooze_material m;
  uint32_t index, lowest = 0;
  double sum = 0.0;
  ooze_material_default(&m);
  m.viscosity = 1000.0f;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  default_floor(s);
  lattice_on_floor(x, size, apart);
  for (uint32_t i = 0; i < ALL; ++i) x[i][1] += 3.4f * apart;
  add_particles(s, index, ALL, (const float(*)[3])x);
  for (int f = 0; f < 12; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, ALL, 0, x), s);
  ooze_solver_destroy(s);
  for (uint32_t i = 0; i < ALL; ++i)
    if (x[i][1] < 1.2f * apart) ++lowest, sum += (double)x[i][1] / (double)apart;
  CHECK(lowest >= EDGE * EDGE, "%u particles are next to the floor", (unsigned)lowest);
  return sum / lowest;
}

OZ_CASE(thick_blocks_land_on_their_floor) {
  const double few = lands(8), more = lands(16), many = lands(32);
  printf("lowest layer with 8, 16 and 32 substeps: %.3f %.3f %.3f\n", few, more, many);
  CHECK_NEAR(few, 0.5, 0.1, "a layer rests at half a separation; its particles differ by 0.1");
  CHECK_NEAR(more, 0.5, 0.1, "the same: 0.64 where the row resists the air below");
  CHECK_NEAR(many, 0.5, 0.1, "the same: 0.92");
}

OZ_TEST_MAIN()
