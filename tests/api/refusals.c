/* Nonsense is refused with a sentence that names it, and nothing changes. SPDX-License-Identifier:
 * Apache-2.0 */
#include "scene.h"

static uint64_t hash_now;
static ooze_solver *fresh(void) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  CHECK_OK(scene_block(s, 0, 4, 0, 0.5f, 0), s);
  hash_now = scene_hash(s);
  return s;
}
#define REFUSED(call)                                                    \
  do {                                                                   \
    ooze_result r_ = (call);                                             \
    CHECK(r_<0 && r_> - 100, "%s gave %s", #call, ooze_result_name(r_)); \
    CHECK(ooze_solver_message(s)[0], "%s left no message", #call);       \
    CHECK(scene_hash(s) == hash_now, "%s changed the state", #call);     \
  } while (0)
#define SAYS(word)                                                                               \
  CHECK(strstr(ooze_solver_message(s), word), "\"%s\" does not name %s", ooze_solver_message(s), \
        word)

OZ_CASE(absurd_solver_descriptions_are_refused) {
  const float separations[] = {0, -1, NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < sizeof separations / sizeof *separations; ++i) {
    ooze_solver_desc d;
    ooze_solver *s = (ooze_solver *)&d;
    ooze_message why = {""};
    ooze_solver_desc_default(&d);
    d.particle_separation = separations[i];
    CHECK_EQ(ooze_solver_create(&d, &s, &why), OOZE_ERROR_ARGUMENT);
    CHECK(strstr(why.text, "separation"), "%s", why.text);
  }
  ooze_solver_desc d;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc_default(&d);
  d.backend = 77;
  CHECK(ooze_solver_create(&d, &s, &why) < 0 && !s && why.text[0]);
  ooze_solver_desc_default(&d);
  d.isa = 77;
  CHECK(ooze_solver_create(&d, &s, &why) < 0 && !s);
  ooze_solver_desc_default(&d);
  d.tasks = 77;
  CHECK(ooze_solver_create(&d, &s, &why) < 0 && !s);
  CHECK(ooze_solver_create(NULL, &s, &why) < 0 && !s);
  CHECK(ooze_solver_create(&d, NULL, NULL) < 0);
  ooze_solver_destroy(NULL);
}

OZ_CASE(a_bad_position_or_velocity_is_refused_with_its_place) {
  ooze_solver *s = fresh();
  const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
    float p[6][3] = {{0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {0, 4, 0}, {0, 5, 0}, {0, 6, 0}};
    float v[6][3] = {{0}};
    ooze_particles add;
    ooze_particles_default(&add);
    add.count = 6;
    add.positions = p;
    add.velocities = v;
    p[4][1] = bad[k];
    REFUSED(ooze_particles_add(s, &add, NULL));
    SAYS("4");
    p[4][1] = 5;
    v[3][2] = bad[k];
    REFUSED(ooze_particles_add(s, &add, NULL));
    SAYS("3");
    const float at[3] = {0, bad[k], 0};
    REFUSED(ooze_attribute_write(s, OOZE_POSITION, 0, 1, 0, at));
  }
  ooze_particles none;
  ooze_particles_default(&none);
  none.count = 3;
  REFUSED(ooze_particles_add(s, &none, NULL));
  REFUSED(ooze_particles_add(s, NULL, NULL));
  ooze_solver_destroy(s);
}

OZ_CASE(ids_are_unique_and_unknown_ones_are_named) {
  ooze_solver *s = fresh();
  float p[2][3] = {{0, 3, 0}, {0, 4, 0}};
  uint64_t twice[2] = {900, 900}, used[2] = {901, 0}, unknown[2] = {0, 123456789}, first = 0;
  uint32_t rank;
  CHECK_OK(ooze_attribute_read(s, OOZE_ID, 0, 1, 0, &first), s);
  used[1] = first;
  unknown[0] = first;
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = 2;
  add.positions = p;
  add.ids = twice;
  REFUSED(ooze_particles_add(s, &add, NULL));
  SAYS("900");
  add.ids = used;
  REFUSED(ooze_particles_add(s, &add, NULL));
  REFUSED(ooze_particles_remove(s, unknown, 2));
  SAYS("123456789");
  CHECK_EQ(ooze_particle_find(s, 123456789, &rank), OOZE_ERROR_NOT_FOUND);
  ooze_solver_destroy(s);
}

OZ_CASE(ranges_stay_inside_the_particles) {
  ooze_solver *s = fresh();
  float p[3 * 64];
  uint32_t n = ooze_particle_count(s);
  CHECK_EQ(n, 64);
  REFUSED(ooze_attribute_read(s, OOZE_POSITION, 0, n + 1, 0, p));
  REFUSED(ooze_attribute_read(s, OOZE_POSITION, n, 1, 0, p));
  REFUSED(ooze_attribute_read(s, OOZE_POSITION, 2, UINT32_MAX, 0, p));
  REFUSED(ooze_attribute_read(s, (ooze_attribute)77, 0, 1, 0, p));
  /* a stride shorter than the element */
  REFUSED(ooze_attribute_read(s, OOZE_POSITION, 0, 1, 4, p));
  REFUSED(ooze_attribute_write(s, OOZE_ID, 0, 1, 0, p));
  REFUSED(ooze_attribute_write(s, OOZE_MASS, 0, 1, 0, p));
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, n, 0, 0, p), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, p), s);
  ooze_solver_destroy(s);
}

OZ_CASE(absurd_steps_are_refused) {
  ooze_solver *s = fresh();
  const double bad[] = {-1, -1e-9, 2, 1e30, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) REFUSED(ooze_step(s, bad[i]));
  CHECK(ooze_time(s) == 0);
  ooze_solver_destroy(s);
}

OZ_CASE(absurd_parameters_and_materials_are_refused_by_name) {
  ooze_solver *s = fresh();
  ooze_params p;
  ooze_material m;
  uint32_t index;
#define BAD(kind, object, field, value, call) \
  do {                                        \
    ooze_##kind##_default(&object);           \
    object.field = value;                     \
    REFUSED(call);                            \
    SAYS(#field);                             \
  } while (0)
  BAD(params, p, time_scale, NAN, ooze_params_set(s, &p));
  BAD(params, p, time_scale, -1, ooze_params_set(s, &p));
  BAD(params, p, cfl, NAN, ooze_params_set(s, &p));
  BAD(params, p, substeps, 1u << 30, ooze_params_set(s, &p));
  BAD(params, p, model, 99, ooze_params_set(s, &p));
  BAD(params, p, scheme, 99, ooze_params_set(s, &p));
  BAD(params, p, zero_energy, INFINITY, ooze_params_set(s, &p));
  BAD(params, p, max_speed, -2, ooze_params_set(s, &p));
  ooze_params_default(&p);
  p.gravity[2] = NAN;
  REFUSED(ooze_params_set(s, &p));
  SAYS("gravity");
  BAD(material, m, density, 0, ooze_material_add(s, &m, &index));
  BAD(material, m, density, NAN, ooze_material_add(s, &m, &index));
  BAD(material, m, viscosity, -1, ooze_material_add(s, &m, &index));
  BAD(material, m, relaxation_time, NAN, ooze_material_add(s, &m, &index));
  BAD(material, m, compliance, -1e-3f, ooze_material_add(s, &m, &index));
  ooze_material_default(&m);
  REFUSED(ooze_material_set(s, 55, &m));
  CHECK_EQ(ooze_material_count(s), 1);
  ooze_solver_destroy(s);
}

OZ_CASE(absurd_colliders_and_emitters_are_refused) {
  ooze_solver *s = fresh();
  ooze_collider_desc c;
  ooze_emitter_desc e;
  ooze_collider ch = 0;
  ooze_emitter eh = 0;
  BAD(collider_desc, c, shape, 99, ooze_collider_add(s, &c, &ch));
  BAD(collider_desc, c, role, 99, ooze_collider_add(s, &c, &ch));
  BAD(collider_desc, c, friction, NAN, ooze_collider_add(s, &c, &ch));
  BAD(collider_desc, c, friction, -1, ooze_collider_add(s, &c, &ch));
  ooze_collider_desc_default(&c);
  c.start.position[1] = NAN;
  REFUSED(ooze_collider_add(s, &c, &ch));
  ooze_collider_desc_default(&c);
  c.end.rotation[3] = 0; /* no rotation at all */
  REFUSED(ooze_collider_add(s, &c, &ch));
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_SDF;
  c.voxel = 0.01f;
  c.brick_count = 3; /* and no bricks */
  REFUSED(ooze_collider_add(s, &c, &ch));
  REFUSED(ooze_collider_remove(s, 4242));
  REFUSED(ooze_collider_move(s, 4242, &c.start, &c.start));
  BAD(emitter_desc, e, radius, 0, ooze_emitter_add(s, &e, &eh));
  BAD(emitter_desc, e, radius, NAN, ooze_emitter_add(s, &e, &eh));
  BAD(emitter_desc, e, speed, -1, ooze_emitter_add(s, &e, &eh));
  BAD(emitter_desc, e, material, 99, ooze_emitter_add(s, &e, &eh));
  BAD(emitter_desc, e, from, -1, ooze_emitter_add(s, &e, &eh));
  BAD(emitter_desc, e, until, NAN, ooze_emitter_add(s, &e, &eh));
  ooze_emitter_desc_default(&e);
  e.from = 2, e.until = 1;
  REFUSED(ooze_emitter_add(s, &e, &eh));
  SAYS("until is 1 s; expected more than from, which is 2 s");
  BAD(emitter_desc, e, layout, 99, ooze_emitter_add(s, &e, &eh));
  REFUSED(ooze_emitter_remove(s, 4242));
  ooze_solver_destroy(s);
}

OZ_CASE(more_particles_than_allowed_are_refused) {
  ooze_solver_desc d;
  ooze_solver *s = NULL;
  float p[11][3] = {{0}};
  ooze_particles add;
  ooze_solver_desc_default(&d);
  d.backend = OOZE_BACKEND_CPU;
  d.max_particles = 10;
  CHECK_EQ(ooze_solver_create(&d, &s, NULL), OOZE_OK);
  hash_now = scene_hash(s);
  for (int i = 0; i < 11; ++i) p[i][0] = 0.01f * (float)i;
  ooze_particles_default(&add);
  add.count = 11;
  add.positions = p;
  REFUSED(ooze_particles_add(s, &add, NULL));
  add.count = 10;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  ooze_solver_destroy(s);
}

OZ_CASE(null_pointers_are_refused) {
  ooze_solver *s = fresh();
  REFUSED(ooze_params_get(s, NULL));
  REFUSED(ooze_params_set(s, NULL));
  REFUSED(ooze_stats_get(s, NULL));
  REFUSED(ooze_material_add(s, NULL, NULL));
  REFUSED(ooze_collider_add(s, NULL, NULL));
  REFUSED(ooze_emitter_add(s, NULL, NULL));
  REFUSED(ooze_attribute_read(s, OOZE_POSITION, 0, 1, 0, NULL));
  REFUSED(ooze_checkpoint_load(s, NULL, 100));
  CHECK(ooze_step(NULL, 0.01) < 0);
  CHECK_EQ(ooze_particle_count(NULL), 0);
  CHECK(ooze_solver_message(NULL) != NULL);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
