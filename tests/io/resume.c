/* A cache file holds the simulation: read into a new solver it goes on with the same bits. So does
 * a checkpoint on disk. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

static ooze_solver *new_solver(void) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_material honey;
  uint32_t index;
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.particle_separation = 0.02f;
  desc.threads = 1;
  CHECK_GOOD(ooze_solver_create(&desc, &s, why));
  ooze_material_default(&honey);
  honey.relaxation_time = 0.1f;
  honey.viscosity = 50.0f;
  CHECK_OK(ooze_material_add(s, &honey, &index), s);
  return s;
}

static void fill(ooze_solver *s) {
  float positions[343][3];
  uint32_t n = 0;
  for (int x = 0; x < 7; x++)
    for (int y = 0; y < 7; y++)
      for (int z = 0; z < 7; z++, n++) {
        positions[n][0] = 0.02f * (float)x;
        positions[n][1] = 0.02f * (float)y + 0.05f;
        positions[n][2] = 0.02f * (float)z;
      }
  ooze_particles particles;
  uint64_t first;
  ooze_particles_default(&particles);
  particles.count = n;
  particles.material = 1;
  particles.positions = positions;
  CHECK_OK(ooze_particles_add(s, &particles, &first), s);
}

static void steps(ooze_solver *s, int count) {
  for (int i = 0; i < count; i++) CHECK_OK(ooze_step(s, 1.0 / 48.0), s);
}

static uint64_t hash(ooze_solver *s) {
  uint64_t value = 0;
  CHECK_OK(ooze_state_hash(s, &value), s);
  return value;
}

OZ_CASE(a_simulation_goes_on_from_its_cache_with_the_same_bits) {
  static const char *const names[] = {"on.bgeo", "on.bgeo.sc", "on.ply", "on.geo"};
  ooze_solver *straight = new_solver();
  ooze_points *points = NULL;
  fill(straight);
  steps(straight, 2);
  CHECK_GOOD(ooze_points_from_solver(straight, &points, why));
  uint64_t middle = hash(straight);
  steps(straight, 2);
  uint64_t end = hash(straight);
  CHECK(middle != end);
  for (int i = 0; i < 4; i++) {
    ooze_solver *resumed = new_solver();
    ooze_points *read = NULL;
    CHECK_GOOD(ooze_points_write(scratch_path(names[i]), points, NULL, why));
    CHECK_GOOD(ooze_points_read(scratch_path(names[i]), NULL, &read, why));
    CHECK_GOOD(ooze_points_to_solver(read, resumed, why));
    CHECK(hash(resumed) == middle, "%s holds other state", names[i]);
    steps(resumed, 2);
    CHECK(hash(resumed) == end, "%s goes on otherwise", names[i]);
    ooze_points_destroy(read);
    ooze_solver_destroy(resumed);
  }
  ooze_points_destroy(points);
  ooze_solver_destroy(straight);
}

OZ_CASE(a_simulation_goes_on_from_its_checkpoint_with_the_same_bits) {
  ooze_solver *straight = new_solver(), *resumed = new_solver();
  size_t bytes = 0;
  void *read = NULL;
  char *meta = NULL;
  fill(straight);
  steps(straight, 1);
  CHECK_OK(ooze_checkpoint_size(straight, &bytes), straight);
  void *memory = malloc(bytes);
  CHECK_OK(ooze_checkpoint_save(straight, memory, bytes, &bytes), straight);
  CHECK_GOOD(
      ooze_checkpoint_write(scratch_path("on.0001.ozc"), memory, bytes, "{\"frame\":1}", why));
  CHECK_GOOD(ooze_checkpoint_read(scratch_path("on.0001.ozc"), NULL, &read, &bytes, &meta, why));
  CHECK_OK(ooze_checkpoint_load(resumed, read, bytes), resumed);
  steps(straight, 2);
  steps(resumed, 2);
  CHECK(hash(straight) == hash(resumed));
  free(memory);
  ooze_io_free(read);
  ooze_io_free(meta);
  ooze_solver_destroy(straight);
  ooze_solver_destroy(resumed);
}
