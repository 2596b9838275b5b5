/* A capture reads as the state did when it was taken, whatever the solver does afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

/* Every attribute and the checkpoint of the moment, as the solver itself tells them. */
typedef struct moment {
  uint32_t count;
  unsigned char *attribute[OOZE_ATTRIBUTE_COUNT], *checkpoint;
  size_t row[OOZE_ATTRIBUTE_COUNT], bytes;
} moment;

static moment look(ooze_solver *s) {
  moment m;
  memset(&m, 0, sizeof m);
  m.count = ooze_particle_count(s);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    CHECK_EQ(ooze_attribute_describe((ooze_attribute)a, &info), OOZE_OK);
    m.row[a] = (size_t)info.components * info.element_bytes;
    m.attribute[a] = malloc(m.count * m.row[a] + 1);
    CHECK(m.attribute[a] != NULL);
    CHECK_OK(ooze_attribute_read(s, (ooze_attribute)a, 0, m.count, 0, m.attribute[a]), s);
  }
  CHECK_OK(ooze_checkpoint_size(s, &m.bytes), s);
  m.checkpoint = malloc(m.bytes);
  CHECK(m.checkpoint != NULL);
  CHECK_OK(ooze_checkpoint_save(s, m.checkpoint, m.bytes, &m.bytes), s);
  return m;
}
static void release(moment *m) {
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) free(m->attribute[a]);
  free(m->checkpoint);
}

static void check_same(ooze_capture *c, const moment *m) {
  CHECK_EQ(ooze_capture_count(c), m->count);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    const void *array = NULL;
    const uint32_t half = m->count / 2;
    unsigned char *read = malloc(m->count * m->row[a] + 1);
    CHECK(read != NULL);
    CHECK(ooze_capture_read(c, (ooze_attribute)a, 0, half, 0, read) == OOZE_OK, "%s",
          ooze_capture_message(c));
    CHECK(ooze_capture_read(c, (ooze_attribute)a, half, m->count - half, 0,
                            read + half * m->row[a]) == OOZE_OK,
          "%s", ooze_capture_message(c));
    CHECK(memcmp(read, m->attribute[a], m->count * m->row[a]) == 0, "attribute %d", a);
    CHECK(ooze_capture_array(c, (ooze_attribute)a, &array) == OOZE_OK, "%s",
          ooze_capture_message(c));
    if (array) CHECK(memcmp(array, m->attribute[a], m->count * m->row[a]) == 0, "array %d", a);
    free(read);
  }
  size_t bytes = 0;
  CHECK_EQ(ooze_capture_save(c, NULL, 0, &bytes), OOZE_OK);
  CHECK_EQ(bytes, m->bytes);
  unsigned char *memory = malloc(bytes);
  CHECK(memory != NULL);
  CHECK_EQ(ooze_capture_save(c, memory, bytes - 1, &bytes), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_capture_save(c, memory, bytes, &bytes), OOZE_OK);
  CHECK(memcmp(memory, m->checkpoint, bytes) == 0, "the checkpoints differ");
  free(memory);
}

static void check_model(uint32_t tasks, uint32_t threads) {
  const uint64_t all = (UINT64_C(1) << OOZE_ATTRIBUTE_COUNT) - 1;
  ooze_solver *s = scene_solver(tasks, threads);
  ooze_capture *c[2] = {NULL, NULL};
  CHECK_OK(scene_fill(s), s);
  for (int k = 0; k < 2; ++k) CHECK_OK(ooze_capture_create(s, &c[k]), s);
  CHECK_OK(ooze_capture_take(c[0], all), s); /* before any step */
  moment before = look(s);
  check_same(c[0], &before);
  scene_steps(s, 3); /* particles are sorted, born and removed */
  check_same(c[0], &before);
  moment after = look(s);
  CHECK_OK(ooze_capture_take(c[1], all), s);
  scene_steps(s, 2);
  check_same(c[1], &after);
  check_same(c[0], &before);
  release(&after);
  after = look(s);
  CHECK_OK(ooze_capture_take(c[0], all), s); /* its memory again */
  scene_steps(s, 1);
  check_same(c[0], &after);
  release(&after);
  release(&before);
  for (int k = 0; k < 2; ++k) ooze_capture_destroy(c[k]);
  ooze_solver_destroy(s);
}

OZ_CASE(a_capture_keeps_its_moment_in_every_model) {
  for (scene_model = 0; scene_model < OOZE_MODEL_COUNT; scene_model++)
    if (scene_has_model()) check_model(OOZE_TASKS_SHUFFLED, 1);
  scene_model = OOZE_MODEL_CONFORMATION;
}
OZ_CASE(a_capture_keeps_its_moment_on_4_threads) { check_model(OOZE_TASKS_POOL, 4); }

/* Birth, rest and rest2, as the solver tells them. */
static void check_labels(ooze_solver *s, ooze_capture *c) {
  static const ooze_attribute labels[] = {OOZE_BIRTH, OOZE_REST_1, OOZE_REST_2};
  const uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_capture_take(c, 0), s);
  CHECK_EQ(ooze_capture_count(c), n);
  for (int k = 0; k < 3; ++k) {
    float *now = malloc(n * 12 + 1), *then = malloc(n * 12 + 1);
    CHECK(now && then);
    CHECK_OK(ooze_attribute_read(s, labels[k], 0, n, 0, now), s);
    CHECK_EQ(ooze_capture_read(c, labels[k], 0, n, 0, then), OOZE_OK);
    CHECK(memcmp(now, then, n * (k ? 12 : 4)) == 0, "label %d of %u particles", k, n);
    free(now);
    free(then);
  }
}

static void add_some(ooze_solver *s, float height) {
  float at[30][3];
  ooze_particles p;
  for (int i = 0; i < 30; ++i) at[i][0] = 0.01f * (float)i, at[i][1] = height, at[i][2] = 0.0f;
  ooze_particles_default(&p);
  p.count = 30;
  p.positions = at;
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
}

static void remove_some(ooze_solver *s, uint32_t first, uint32_t count) {
  uint64_t ids[30];
  CHECK_OK(ooze_attribute_read(s, OOZE_ID, first, count, 0, ids), s);
  CHECK_OK(ooze_particles_remove(s, ids, count), s);
}

OZ_CASE(labels_of_a_capture_follow_births_deaths_and_edits) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_capture *c[2] = {NULL, NULL};
  ooze_params params;
  const float born = 3.5f;
  for (int k = 0; k < 2; ++k) CHECK_OK(ooze_capture_create(s, &c[k]), s);
  check_labels(s, c[0]); /* none */
  ooze_params_default(&params);
  CHECK_OK(ooze_params_get(s, &params), s);
  params.rest = 1;
  params.rest_period = 0.1f;
  CHECK_OK(ooze_params_set(s, &params), s);
  add_some(s, 1.0f);
  for (int k = 0; k < 2; ++k) check_labels(s, c[k]);
  CHECK_OK(ooze_step(s, 1.0 / 30), s);
  add_some(s, 2.0f); /* behind */
  check_labels(s, c[0]);
  remove_some(s, ooze_particle_count(s) - 7, 7); /* the last ranks, which come again */
  check_labels(s, c[1]);
  add_some(s, 3.0f);
  for (int k = 0; k < 2; ++k) check_labels(s, c[k]);
  remove_some(s, 3, 11); /* others move up */
  check_labels(s, c[0]);
  add_some(s, 4.0f);
  for (int k = 0; k < 2; ++k) check_labels(s, c[k]);
  CHECK_OK(ooze_attribute_write(s, OOZE_BIRTH, 5, 1, 0, &born), s);
  for (int k = 0; k < 2; ++k) check_labels(s, c[k]);
  for (int k = 0; k < 5; ++k) { /* rest and rest2 are renewed */
    CHECK_OK(ooze_step(s, 1.0 / 30), s);
    check_labels(s, c[k % 2]);
  }
  CHECK_OK(ooze_particles_clear(s), s);
  check_labels(s, c[0]);
  add_some(s, 5.0f);
  for (int k = 0; k < 2; ++k) {
    check_labels(s, c[k]);
    ooze_capture_destroy(c[k]);
  }
  ooze_solver_destroy(s);
}

OZ_CASE(taking_captures_changes_no_bit) {
  ooze_solver *plain = scene_solver(OOZE_TASKS_SERIAL, 1), *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_capture *c = NULL;
  CHECK_OK(scene_fill(plain), plain);
  CHECK_OK(scene_fill(s), s);
  CHECK_OK(ooze_capture_create(s, &c), s);
  for (int k = 0; k < 5; ++k) {
    CHECK_OK(ooze_capture_take(c, 1u << OOZE_POSITION), s);
    scene_steps(s, 1);
    scene_steps(plain, 1);
  }
  CHECK_EQ(scene_hash(s), scene_hash(plain));
  ooze_capture_destroy(c);
  ooze_solver_destroy(s);
  ooze_solver_destroy(plain);
}

OZ_CASE(refusals_leave_a_sentence) {
  ooze_solver *s = scene_solver(OOZE_TASKS_SERIAL, 1);
  ooze_capture *c = NULL;
  float x[3];
  CHECK_OK(scene_fill(s), s);
  CHECK_OK(ooze_capture_create(s, &c), s);
  CHECK_EQ(ooze_capture_read(c, OOZE_POSITION, 0, 1, 0, x), OOZE_ERROR_ARGUMENT);
  CHECK(ooze_capture_message(c)[0] != 0);
  CHECK_RESULT(ooze_capture_take(c, UINT64_C(1) << OOZE_ATTRIBUTE_COUNT), OOZE_ERROR_NOT_FOUND, s);
  CHECK_OK(ooze_capture_take(c, 0), s);
  CHECK_EQ(ooze_capture_read(c, OOZE_ATTRIBUTE_COUNT, 0, 1, 0, x), OOZE_ERROR_NOT_FOUND);
  CHECK_EQ(ooze_capture_read(c, OOZE_POSITION, ooze_particle_count(s), 1, 0, x),
           OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_capture_read(c, OOZE_POSITION, 0, 1, 0, x), OOZE_OK); /* state comes when asked */
  ooze_capture_destroy(c);
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
