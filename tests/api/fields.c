/* State that most scenes never set takes no memory until something sets it, and a run is the same
 * whether it is there or not. SPDX-License-Identifier: Apache-2.0 */
#define SCENE_SIDE 7
#include "scene.h"

#include "base/memory.h"

/* Everything that can be left out, with a value that no default has. */
static const struct {
  ooze_attribute attribute;
  uint32_t words;
} optional[] = {
    {OOZE_RELAXATION_TIME, 1},
    {OOZE_COMPLIANCE, 1},
    {OOZE_VISCOSITY, 1},
    {OOZE_DENSITY, 1},
    {OOZE_TEMPERATURE, 1},
    {OOZE_FORCE, 3},
    {OOZE_SOURCE, 1},
    {OOZE_OWNER, 1},
    {OOZE_REST, 3},
    {OOZE_MELT, 1},
    {OOZE_PRESSURE, 1},
    {OOZE_SOLVENT_VISCOSITY, 1},
    {OOZE_SHEAR_RATE, 1},
    {OOZE_DENSITY_PRESSURE, 1}, /* there from the first substep on */
};
enum {
  OPTIONAL = sizeof optional / sizeof *optional,
  OF_VERSION_3 = OPTIONAL - 3,
  UNUSED = OPTIONAL - 1
};

static uint64_t bytes_of(ooze_solver *s) {
  ooze_stats stats;
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  return stats.bytes;
}

/* The first `many` are there, as they read before. */
static void touch_some(ooze_solver *s, int many) {
  const uint32_t n = ooze_particle_count(s);
  float *was = malloc((size_t)n * 12), *other = malloc((size_t)n * 12);
  CHECK(was && other);
  for (int k = 0; k < many; ++k) {
    const ooze_attribute a = optional[k].attribute;
    CHECK_OK(ooze_attribute_read(s, a, 0, n, 0, was), s);
    memcpy(other, was, (size_t)n * 4 * optional[k].words);
    for (uint32_t i = 0; i < n * optional[k].words; ++i)
      other[i] = 0.375f + (a == OOZE_DENSITY ? 900.0f : 0.0f);
    CHECK_OK(ooze_attribute_write(s, a, 0, n, 0, other), s);
    CHECK_OK(ooze_attribute_write(s, a, 0, n, 0, was), s);
  }
  free(was), free(other);
}
static void touch(ooze_solver *s) { touch_some(s, OPTIONAL); }

static unsigned char *saved(ooze_solver *s, size_t *bytes) {
  CHECK_OK(ooze_checkpoint_size(s, bytes), s);
  unsigned char *memory = malloc(*bytes);
  CHECK(memory != NULL);
  CHECK_OK(ooze_checkpoint_save(s, memory, *bytes, NULL), s);
  return memory;
}

static void check_model(uint32_t model, int heat) {
  scene_model = model;
  if (!scene_has_model()) return;
  ooze_solver *s[2];
  size_t bytes[2];
  for (int k = 0; k < 2; ++k) {
    s[k] = scene_solver(OOZE_TASKS_SERIAL, 1);
    CHECK_OK(scene_fill(s[k]), s[k]);
    if (heat) {
      ooze_material m;
      ooze_material_default(&m);
      CHECK_OK(ooze_material_get(s[k], 1, &m), s[k]);
      m.conductivity = 1.0f, m.temperature = 320.0f, m.mixing = 1e-4f;
      CHECK_OK(ooze_material_set(s[k], 1, &m), s[k]);
    }
    if (k) touch(s[k]);
    CHECK_OK(ooze_step(s[k], 1.0 / 48), s[k]);
    scene_steps(s[k], 3);
    free(saved(s[k], &bytes[k]));
  }
  CHECK(scene_hash(s[0]) == scene_hash(s[1]),
        "model %u, heat %d: with the fields there the run ends elsewhere", model, heat);
  CHECK(bytes[0] < bytes[1], "model %u: %zu bytes without them, %zu with", model, bytes[0],
        bytes[1]);
  for (int k = 0; k < 2; ++k) ooze_solver_destroy(s[k]);
}
OZ_CASE(a_run_is_the_same_whether_fields_are_there_or_not) {
  for (uint32_t model = 0; model < OOZE_MODEL_COUNT; ++model) check_model(model, 0);
  check_model(OOZE_MODEL_CONFORMATION, 1);
  scene_model = OOZE_MODEL_CONFORMATION;
}

OZ_CASE(a_field_costs_its_words_once_it_is_set) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 20, 0, 0.01f, 0), s);
  uint64_t all = 0;
  for (int k = 0; k < OPTIONAL; ++k) {
    float value[3] = {0, 0, 0};
    CHECK_OK(ooze_attribute_read(s, optional[k].attribute, 7, 1, 0, value), s);
    uint64_t before = bytes_of(s); /* reading costs a copy on the host, at most */
    CHECK_OK(ooze_attribute_write(s, optional[k].attribute, 7, 1, 0, value), s);
    CHECK_EQ(bytes_of(s), before);
    value[0] += 0.25f;
    CHECK_OK(ooze_attribute_write(s, optional[k].attribute, 7, 1, 0, value), s);
    uint64_t after = bytes_of(s), words = optional[k].words;
    CHECK(after >= before + 8000 * 4 * words && after <= before + 8100 * 4 * words,
          "attribute %d: %llu bytes", (int)optional[k].attribute,
          (unsigned long long)(after - before));
    all += words;
    float now[3];
    CHECK_OK(ooze_attribute_read(s, optional[k].attribute, 7, 1, 0, now), s);
    CHECK_EQ(memcmp(now, value, 4 * words), 0);
  }
  CHECK_EQ(all, 18);
  ooze_solver_destroy(s);
}

/* Attributes that are left out are read from the material, as that is by then. */
OZ_CASE(values_of_a_material_follow_it) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_material m;
  uint32_t other, index = 0;
  ooze_material_default(&m);
  m.density = 1300.0f, m.viscosity = 7.0f;
  CHECK_OK(ooze_material_add(s, &m, &other), s);
  CHECK_OK(scene_block(s, 0, 3, 0, 0, 0), s);
  CHECK_OK(scene_block(s, other, 3, 1, 0, 0), s);
  float v;
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 30, 1, 0, &v), s);
  CHECK_EQ(v == 1300.0f, 1);
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 3, 1, 0, &v), s);
  CHECK_EQ(v == 1000.0f, 1);
  m.density = 1500.0f;
  CHECK_OK(ooze_material_set(s, other, &m), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 30, 1, 0, &v), s);
  CHECK_EQ(v == 1500.0f, 1);
  CHECK_OK(ooze_attribute_read(s, OOZE_MASS, 30, 1, 0, &v), s);
  CHECK_NEAR(
      v, 1500.0 * (double)scene_separation * (double)scene_separation * (double)scene_separation,
      0.05 * (double)v, "a particle's volume is about d^3");
  CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, 30, 1, 0, &index), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VISCOSITY, 30, 1, 0, &v), s);
  CHECK_EQ(v == 0.0f, 1);
  ooze_material_default(&m);
  m.density = 800.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  v = 2000.0f; /* from now on each has its own; those that were not written keep their values */
  CHECK_OK(ooze_attribute_write(s, OOZE_DENSITY, 5, 1, 0, &v), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 5, 1, 0, &v), s);
  CHECK_EQ(v == 2000.0f, 1);
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 6, 1, 0, &v), s);
  CHECK_EQ(v == 800.0f, 1);
  CHECK_OK(ooze_attribute_read(s, OOZE_DENSITY, 40, 1, 0, &v), s);
  CHECK_EQ(v == 1500.0f, 1);
  ooze_solver_destroy(s);
}

/* Checkpoints with the fields, as every one of version 3 is, and without them, into solvers that
 * have them and that do not. */
OZ_CASE(checkpoints_with_and_without_fields_load_anywhere) {
  ooze_solver *s[2];
  unsigned char *memory[2];
  size_t bytes[2];
  for (int k = 0; k < 2; ++k) {
    s[k] = scene_solver(OOZE_TASKS_SERIAL, 1);
    CHECK_OK(scene_fill(s[k]), s[k]); /* no substep yet: version 3 had no density pressure */
    if (k) touch_some(s[k], OF_VERSION_3);
    memory[k] = saved(s[k], &bytes[k]);
  }
  CHECK(bytes[1] > bytes[0] + 4 * 9 * (size_t)SCENE_COUNT, "%zu and %zu bytes", bytes[0], bytes[1]);
  uint32_t version;
  memcpy(&version, memory[1] + 8, 4);
  CHECK_EQ(version, 9);
  /* version 3 leaves no attribute out; its header is 16 bytes shorter */
  const uint32_t old[2] = {3, 72};
  const uint64_t shorter = bytes[1] - 16;
  memcpy(memory[1] + 8, old, 8);
  memcpy(memory[1] + 16, &shorter, 8);
  memmove(memory[1] + 72, memory[1] + 88, bytes[1] - 88);
  bytes[1] -= 16;
  for (int k = 0; k < 2; ++k) scene_steps(s[k], 1);
  const uint64_t expected = scene_hash(s[0]);
  CHECK(expected == scene_hash(s[1]));
  for (int from = 0; from < 2; ++from)
    for (int to = 0; to < 2; ++to) {
      ooze_solver *t = scene_solver(OOZE_TASKS_SERIAL, 1);
      CHECK_OK(scene_block(t, 0, 4, 0, 0, 0), t);
      if (to) touch(t);
      CHECK_OK(ooze_checkpoint_load(t, memory[from], bytes[from]), t);
      scene_steps(t, 1);
      CHECK(scene_hash(t) == expected, "from %d to %d", from, to);
      ooze_solver_destroy(t);
    }
  memory[0][64] |= 2; /* positions cannot be left out */
  CHECK_EQ(ooze_checkpoint_load(s[0], memory[0], bytes[0]), OOZE_ERROR_FORMAT);
  CHECK(scene_hash(s[0]) == expected);
  for (int k = 0; k < 2; ++k) free(memory[k]), ooze_solver_destroy(s[k]);
}

/* ---- no memory ---- */

static int refuse;
static void *take(void *user, size_t bytes, size_t alignment) {
  (void)user;
  return refuse || alignment > 64 ? NULL : oz_allocate(1, bytes);
}
static void give(void *user, void *memory, size_t bytes) {
  (void)user, (void)bytes;
  oz_release(memory);
}
OZ_CASE(without_memory_for_a_field_nothing_changes) {
  ooze_solver_desc desc = cpu_desc(scene_separation, OOZE_TASKS_SERIAL);
  desc.hooks.allocate = take;
  desc.hooks.release = give;
  ooze_solver *s = solver_of(&desc);
  CHECK_OK(scene_block(s, 0, 6, 0, 0.01f, 0), s);
  scene_steps(s, 1);
  const uint64_t before = scene_hash(s);
  for (int k = 0; k < UNUSED; ++k) {
    float value[3] = {0.25f, 0, 0}, now[3] = {0};
    /* the host's copy has its room */
    CHECK_OK(ooze_attribute_read(s, optional[k].attribute, 3, 1, 0, now), s);
    value[0] += now[0];
    refuse = 1;
    const ooze_result r = ooze_attribute_write(s, optional[k].attribute, 3, 1, 0, value);
    refuse = 0;
    CHECK(r == OOZE_ERROR_MEMORY && strstr(ooze_solver_message(s), "no memory for"),
          "attribute %d: %s: %s", (int)optional[k].attribute, ooze_result_name(r),
          ooze_solver_message(s));
    CHECK(scene_hash(s) == before);
  }
  scene_steps(s, 1);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
