/* A client built against an older header passes shorter structs: missing fields are taken as the
 * default on the way in and left alone on the way out. SPDX-License-Identifier: Apache-2.0
 *
 * "Shorter" is made here by cutting today's structs before a late field and lying about the size.
 * The bytes after the cut are filled with a pattern: on input it would be refused or noticed if
 * read, on output it must stay. */
#include "check.h"
#include "solver_kit.h"

#define CUT(type, field) ((uint32_t)offsetof(type, field))
enum { PATTERN = 0xA5 };

/* Keeps the first `size` bytes of a struct, spoils the rest. */
static void spoil(void *object, uint32_t size, size_t whole) {
  memset((unsigned char *)object + size, PATTERN, whole - size);
  memcpy(object, &size, sizeof size);
}

static void check_untouched(const char *what, const void *object, uint32_t size, size_t whole) {
  const unsigned char *bytes = (const unsigned char *)object;
  uint32_t said;
  memcpy(&said, object, sizeof said);
  CHECK(said == size, "%s: size became %u, was %u", what, said, size);
  for (size_t i = size; i < whole; ++i)
    CHECK(bytes[i] == PATTERN, "%s: byte %zu of %u was written", what, i, size);
}

static ooze_solver *make_solver(void) { return serial_solver(0.02f); }

/* 4x4x4 particles at rest above the floor. */
static void add_block(ooze_solver *s) {
  float p[64][3];
  lattice_cube(p, 4, 0.02f, 0, 0.5f, 0);
  add_particles(s, 0, 64, p);
}

OZ_CASE(a_shorter_solver_desc_has_default_hooks_and_limits) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
  desc.threads = 1;
  spoil(&desc, CUT(ooze_solver_desc, max_particles), sizeof desc);
  ooze_result r = ooze_solver_create(&desc, &s, &why);
  CHECK(r == OOZE_OK, "%s: %s", ooze_result_name(r), why.text);
  add_block(s);
  CHECK_OK(ooze_step(s, 0.001), s);
  ooze_solver_destroy(s);
}

OZ_CASE(shorter_params_take_defaults_for_what_is_missing) {
  ooze_solver *s = make_solver();
  ooze_params p, before, after;
  ooze_params_default(&p);
  p.substeps = 3;
  p.zero_energy = 0.5f;
  spoil(&p, CUT(ooze_params, wall_density), sizeof p);
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_params_default(&before);
  ooze_params_default(&after);
  CHECK_OK(ooze_params_get(s, &after), s);
  CHECK_EQ(after.substeps, 3);
  CHECK_NEAR(after.zero_energy, 0.5, 0, "copied");
  CHECK_EQ(after.rest_filter, before.rest_filter);
  CHECK_EQ(after.wall_density, before.wall_density);
  CHECK_EQ(after.split_compliance, before.split_compliance);
  CHECK_NEAR(after.max_speed, before.max_speed, 0, "the default");
  ooze_solver_destroy(s);
}

OZ_CASE(every_size_of_params_is_accepted_or_refused_and_never_read_past_its_end) {
  for (uint32_t size = 0; size < sizeof(ooze_params); ++size) {
    ooze_solver *s = make_solver();
    /* exact, so that ASan sees one byte too many */
    unsigned char *cut = (unsigned char *)malloc(size > 4 ? size : 4);
    ooze_params whole;
    ooze_params_default(&whole);
    memcpy(cut, &whole, size > 4 ? size : 4);
    memcpy(cut, &size, 4);
    ooze_result r = ooze_params_set(s, (const ooze_params *)(const void *)cut);
    CHECK(r == OOZE_OK || r == OOZE_ERROR_ARGUMENT, "size %u: %s", size, ooze_result_name(r));
    if (size < 4) CHECK_EQ(r, OOZE_ERROR_ARGUMENT);
    free(cut);
    ooze_solver_destroy(s);
  }
}

OZ_CASE(shorter_material_takes_the_default_temperature) {
  ooze_solver *s = make_solver();
  ooze_material m, got;
  uint32_t index = 0;
  ooze_material_default(&m);
  m.density = 1400.0f;
  m.compliance = 2e-4f;
  spoil(&m, CUT(ooze_material, temperature), sizeof m);
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  ooze_material_default(&got);
  got.temperature = 0;
  CHECK_OK(ooze_material_get(s, index, &got), s);
  CHECK_NEAR(got.density, 1400, 0, "copied");
  CHECK_NEAR(got.compliance, 2e-4f, 0, "copied");
  CHECK_NEAR(got.temperature, 293.15f, 0, "the default");
  ooze_solver_destroy(s);
}

OZ_CASE(shorter_particles_are_numbered_and_at_rest) {
  ooze_solver *s = make_solver();
  const float at[3] = {0, 1, 0};
  float v[3] = {9, 9, 9};
  uint64_t first = 99;
  ooze_particles one;
  ooze_particles_default(&one);
  one.count = 1;
  one.positions = at;
  spoil(&one, CUT(ooze_particles, velocities), sizeof one);
  CHECK_OK(ooze_particles_add(s, &one, &first), s);
  CHECK_EQ(ooze_particle_count(s), 1);
  CHECK(first != 99);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, 1, 0, v), s);
  CHECK(v[0] == 0 && v[1] == 0 && v[2] == 0, "velocity %g %g %g", (double)v[0], (double)v[1],
        (double)v[2]);
  ooze_solver_destroy(s);
}

OZ_CASE(shorter_collider_and_emitter_work) {
  ooze_solver *s = make_solver();
  ooze_collider_desc c;
  ooze_emitter_desc e;
  ooze_collider collider = 0;
  ooze_emitter emitter = 0;
  ooze_collider_desc_default(&c);
  spoil(&c, CUT(ooze_collider_desc, friction), sizeof c);
  CHECK_OK(ooze_collider_add(s, &c, &collider), s);
  CHECK(collider != 0);
  spoil(&c, CUT(ooze_collider_desc, friction), sizeof c);
  CHECK_OK(ooze_collider_get(s, collider, &c), s);
  check_untouched("collider", &c, CUT(ooze_collider_desc, friction), sizeof c);
  ooze_emitter_desc_default(&e);
  e.radius = 0.05f;
  e.start.position[1] = e.end.position[1] = 1.0f;
  spoil(&e, CUT(ooze_emitter_desc, disturbance), sizeof e);
  CHECK_OK(ooze_emitter_add(s, &e, &emitter), s);
  CHECK(emitter != 0);
  ooze_emitter_desc_default(&e);
  e.radius = 0.05f;
  e.start.position[1] = e.end.position[1] = 2.0f;
  spoil(&e, CUT(ooze_emitter_desc, from), sizeof e);
  CHECK_OK(ooze_emitter_set(s, emitter, &e), s); /* without a span it always pours */
  for (int i = 0; i < 4; ++i) CHECK_OK(ooze_step(s, 1.0 / 24), s);
  CHECK(ooze_particle_count(s) > 0, "the emitter is active");
  ooze_solver_destroy(s);
}

/* Calls `expression`, which fills `object`, with the struct cut before `field`. */
#define CHECK_CUT_OUTPUT(type, field, expression)                     \
  do {                                                                \
    type object;                                                      \
    memset(&object, PATTERN, sizeof object);                          \
    spoil(&object, CUT(type, field), sizeof object);                  \
    CHECK_OK(expression, s);                                          \
    check_untouched(#type, &object, CUT(type, field), sizeof object); \
  } while (0)

OZ_CASE(outputs_stop_at_the_size_that_the_client_gave) {
  ooze_solver *s = make_solver();
  add_block(s);
  CHECK_OK(ooze_step(s, 0.01), s);
  CHECK_CUT_OUTPUT(ooze_stats, residual, ooze_stats_get(s, &object));
  CHECK_CUT_OUTPUT(ooze_stats, kinetic_energy, ooze_stats_get(s, &object));
  CHECK_CUT_OUTPUT(ooze_params, split_compliance, ooze_params_get(s, &object));
  CHECK_CUT_OUTPUT(ooze_material, temperature, ooze_material_get(s, 0, &object));
  CHECK_CUT_OUTPUT(ooze_attribute_info, is_state, ooze_attribute_describe(OOZE_POSITION, &object));
  CHECK(ooze_profile_count(s) > 0);
  CHECK_CUT_OUTPUT(ooze_stage_time, calls, ooze_profile_get(s, 0, &object));
  CHECK(ooze_schema_count() > 0);
  CHECK_CUT_OUTPUT(ooze_schema_entry, soft_maximum, ooze_schema_get(0, &object));
  CHECK(ooze_backend_count() > 0);
  CHECK_CUT_OUTPUT(ooze_backend_info, detail, ooze_backend_get(0, &object));
  ooze_solver_destroy(s);
}

OZ_CASE(the_part_that_the_client_has_is_filled) {
  ooze_solver *s = make_solver();
  ooze_stats whole, cut;
  add_block(s);
  CHECK_OK(ooze_step(s, 0.01), s);
  ooze_stats_default(&whole);
  CHECK_OK(ooze_stats_get(s, &whole), s);
  memset(&cut, PATTERN, sizeof cut);
  spoil(&cut, CUT(ooze_stats, kinetic_energy), sizeof cut);
  CHECK_OK(ooze_stats_get(s, &cut), s);
  CHECK_EQ(whole.particles, 64);
  CHECK_EQ(cut.particles, whole.particles);
  CHECK_EQ(cut.substeps, whole.substeps);
  CHECK_EQ(cut.list_rebuilds, whole.list_rebuilds);
  ooze_solver_destroy(s);
}

OZ_CASE(a_size_of_zero_is_refused_with_a_sentence) {
  ooze_solver *s = make_solver();
  ooze_params p;
  ooze_stats t;
  memset(&p, 0, sizeof p);
  memset(&t, 0, sizeof t);
  CHECK_RESULT(ooze_params_set(s, &p), OOZE_ERROR_ARGUMENT, s);
  CHECK_RESULT(ooze_stats_get(s, &t), OOZE_ERROR_ARGUMENT, s);
  ooze_solver_destroy(s);
}

/* The other way round: a client that is newer than the library passes more than it knows. */
OZ_CASE(a_longer_struct_is_read_as_far_as_it_is_known) {
  ooze_solver *s = make_solver();
  struct {
    ooze_params known;
    uint32_t newer[4];
  } p;
  struct {
    ooze_stats known;
    unsigned char newer[16];
  } t;
  memset(&p, 0, sizeof p);
  ooze_params_default(&p.known);
  p.known.size = (uint32_t)sizeof p;
  p.known.substeps = 5;
  CHECK_OK(ooze_params_set(s, &p.known), s);
  memset(&t, PATTERN, sizeof t);
  t.known.size = (uint32_t)sizeof t;
  CHECK_OK(ooze_stats_get(s, &t.known), s);
  CHECK_EQ(t.known.particles, 0);
  ooze_params_default(&p.known);
  CHECK_OK(ooze_params_get(s, &p.known), s);
  CHECK_EQ(p.known.substeps, 5);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
