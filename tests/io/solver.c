/* Points to and from a solver, against a small one of the test's own: reads and writes, and their
 * order. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

/* ---- A solver that only remembers -------------------------------------------------------- */

enum { MOST = 16 };
struct ooze_solver {
  uint32_t count, written; /* written: attribute writes so far */
  uint64_t id[MOST];
  float position[MOST][3], velocity[MOST][3], conform[MOST][6], relax[MOST];
  uint32_t material[MOST], source[MOST];
  int refuse_relax;
};

static const struct {
  const char *name;
  uint32_t components, bytes, integer, writable, state;
} about[OOZE_ATTRIBUTE_COUNT] = {[OOZE_ID] = {"id", 1, 8, 1, 0, 1},
                                 [OOZE_POSITION] = {"P", 3, 4, 0, 1, 1},
                                 [OOZE_VELOCITY] = {"v", 3, 4, 0, 1, 1},
                                 [OOZE_CONFORMATION] = {"conform", 6, 4, 0, 1, 1},
                                 [OOZE_RELAXATION_TIME] = {"relaxtime", 1, 4, 0, 1, 1},
                                 [OOZE_MATERIAL] = {"material", 1, 4, 1, 1, 1},
                                 [OOZE_SOURCE] = {"source", 1, 4, 1, 1, 1},
                                 [OOZE_MASS] = {"mass", 1, 4, 0, 0, 0}};

static void *column(ooze_solver *s, ooze_attribute a, size_t *row) {
  switch (a) {
  case OOZE_ID:
    *row = 8;
    return s->id;
  case OOZE_POSITION:
    *row = 12;
    return s->position;
  case OOZE_VELOCITY:
    *row = 12;
    return s->velocity;
  case OOZE_CONFORMATION:
    *row = 24;
    return s->conform;
  case OOZE_RELAXATION_TIME:
    *row = 4;
    return s->relax;
  case OOZE_MATERIAL:
    *row = 4;
    return s->material;
  default:
    *row = 4;
    return s->source;
  }
}

const char *ooze_solver_message(const ooze_solver *s) {
  (void)s;
  return "the small solver says no";
}
float ooze_solver_separation(const ooze_solver *s) {
  (void)s;
  return 0.02f;
}
ooze_result ooze_params_get(const ooze_solver *s, ooze_params *out) {
  (void)s;
  ooze_params_default(out);
  return OOZE_OK;
}
ooze_result ooze_capture_params(const ooze_capture *c, ooze_params *out) {
  (void)c;
  ooze_params_default(out);
  return OOZE_OK;
}
double ooze_rest_blend(double time, double rest_period) { return time * rest_period; }
double ooze_time(const ooze_solver *s) {
  (void)s;
  return 0.5;
}
uint32_t ooze_particle_count(const ooze_solver *s) { return s->count; }
ooze_result ooze_attribute_describe(ooze_attribute a, ooze_attribute_info *out) {
  out->name = about[a].name ? about[a].name : "unused";
  out->components = about[a].components;
  out->element_bytes = about[a].bytes;
  out->is_integer = about[a].integer;
  out->writable = about[a].writable;
  out->is_state = about[a].state;
  return OOZE_OK;
}
ooze_result ooze_attribute_read(ooze_solver *s, ooze_attribute a, uint32_t first, uint32_t count,
                                size_t stride, void *out) {
  size_t row;
  char *from = column(s, a, &row);
  CHECK(stride == 0 && first + count <= s->count);
  memcpy(out, from + first * row, count * row);
  return OOZE_OK;
}
/* The small solver is its own capture. */
static ooze_solver *of(const ooze_capture *c) { return (ooze_solver *)(uintptr_t)c; }
uint32_t ooze_capture_count(const ooze_capture *c) { return of(c)->count; }
double ooze_capture_time(const ooze_capture *c) { return ooze_time(of(c)); }
float ooze_capture_separation(const ooze_capture *c) { return ooze_solver_separation(of(c)); }
const char *ooze_capture_message(const ooze_capture *c) { return ooze_solver_message(of(c)); }
ooze_result ooze_capture_read(ooze_capture *c, ooze_attribute a, uint32_t first, uint32_t count,
                              size_t stride, void *out) {
  return ooze_attribute_read(of(c), a, first, count, stride, out);
}
ooze_result ooze_capture_array(ooze_capture *c, ooze_attribute a, const void **out) {
  size_t row;
  *out = a == OOZE_VELOCITY ? NULL : column(of(c), a, &row); /* one that it has to be asked for */
  return OOZE_OK;
}
ooze_result ooze_attribute_write(ooze_solver *s, ooze_attribute a, uint32_t first, uint32_t count,
                                 size_t stride, const void *in) {
  size_t row;
  char *to = column(s, a, &row);
  CHECK(stride == 0 && first + count <= s->count);
  if (a == OOZE_RELAXATION_TIME && s->refuse_relax) return OOZE_ERROR_ARGUMENT;
  memcpy(to + first * row, in, count * row);
  if (a == OOZE_MATERIAL) /* brings values of its own */
    for (uint32_t i = first; i < first + count; i++) s->relax[i] = -1.0f;
  s->written++;
  return OOZE_OK;
}
ooze_result ooze_particles_add(ooze_solver *s, const ooze_particles *p, uint64_t *out_first) {
  *out_first = s->count ? s->id[s->count - 1] + 1 : 0;
  for (uint32_t i = 0; i < p->count; i++) { /* kept in the order of ids */
    uint64_t id = p->ids ? p->ids[i] : *out_first + i;
    uint32_t at = 0;
    while (at < s->count && s->id[at] < id) at++;
    if (at < s->count && s->id[at] == id) return OOZE_ERROR_ARGUMENT;
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
      size_t row;
      if (!about[a].state) continue;
      char *data = column(s, (ooze_attribute)a, &row);
      memmove(data + (at + 1) * row, data + at * row, (s->count - at) * row);
      memset(data + at * row, 0, row);
    }
    s->id[at] = id;
    memcpy(s->position[at], (const float *)p->positions + i * 3, 12);
    s->count++;
  }
  return OOZE_OK;
}
ooze_result ooze_particle_find(const ooze_solver *s, uint64_t id, uint32_t *out_rank) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->id[i] == id) {
      *out_rank = i;
      return OOZE_OK;
    }
  return OOZE_ERROR_NOT_FOUND;
}
ooze_result ooze_particles_remove(ooze_solver *s, const uint64_t *ids, uint32_t count) {
  for (uint32_t k = 0; k < count; k++) {
    uint32_t at;
    if (ooze_particle_find(s, ids[k], &at) != OOZE_OK) return OOZE_ERROR_NOT_FOUND;
    for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
      size_t row;
      if (!about[a].state) continue;
      char *data = column(s, (ooze_attribute)a, &row);
      memmove(data + at * row, data + (at + 1) * row, (s->count - at - 1) * row);
    }
    s->count--;
  }
  return OOZE_OK;
}

/* ---- Cases ------------------------------------------------------------------------------- */

static void fill(ooze_solver *s) {
  memset(s, 0, sizeof *s);
  s->count = 3;
  for (uint32_t i = 0; i < 3; i++) {
    s->id[i] = 10 + 5 * i;
    s->relax[i] = 0.1f * (float)i;
    s->material[i] = i % 2;
    s->source[i] = i;
    for (int k = 0; k < 6; k++) s->conform[i][k] = (float)(i * 10 + (uint32_t)k);
    for (int k = 0; k < 3; k++)
      s->position[i][k] = s->velocity[i][k] = (float)(i * 3 + (uint32_t)k) + 0.5f;
  }
}

OZ_CASE(a_solver_comes_back_as_it_was) {
  ooze_solver a, b;
  ooze_points *points = NULL;
  ooze_points_attribute scale;
  double value;
  fill(&a);
  memset(&b, 0, sizeof b);
  CHECK_GOOD(ooze_points_from_solver(&a, &points, why));
  ooze_points_attribute_default(&scale);
  CHECK(ooze_points_find(points, "pscale", &scale) == OOZE_OK && ((float *)scale.data)[2] == 0.01f);
  CHECK(ooze_points_find(points, "mass", NULL) == OOZE_ERROR_NOT_FOUND);
  CHECK(ooze_points_detail_get(points, "time", &value) == OOZE_OK && value == 0.5);
  CHECK_GOOD(ooze_points_to_solver(points, &b, why));
  b.written = 0;
  CHECK(memcmp(&a, &b, sizeof a) == 0); /* the relaxation time too, which the material had reset */
  ooze_points_destroy(points);
}

OZ_CASE(a_capture_gives_the_points_of_its_solver) {
  ooze_solver a, b;
  ooze_points *points = NULL, *some = NULL;
  ooze_points_attribute id;
  size_t row;
  fill(&a);
  memset(&b, 0, sizeof b);
  ooze_points_attribute_default(&id);
  CHECK_GOOD(ooze_points_from_capture((ooze_capture *)&a, UINT64_MAX, 1, &points, why));
  CHECK(ooze_points_find(points, "id", &id) == OOZE_OK && id.data == column(&a, OOZE_ID, &row),
        "an array of the capture was copied");
  CHECK_GOOD(ooze_points_to_solver(points, &b, why));
  b.written = 0;
  CHECK(memcmp(&a, &b, sizeof a) == 0);
  ooze_points_destroy(points); /* not the capture's arrays */
  CHECK_GOOD(
      ooze_points_from_capture((ooze_capture *)&a, UINT64_C(1) << OOZE_POSITION, 1, &some, why));
  CHECK(ooze_points_find(some, "P", NULL) == OOZE_OK);
  CHECK(ooze_points_find(some, "id", NULL) == OOZE_ERROR_NOT_FOUND);
  ooze_points_destroy(some);
}

OZ_CASE(points_in_any_order_find_their_particles) {
  ooze_solver s;
  ooze_points *points = NULL;
  void *p, *id, *relax;
  fill(&s); /* holds 10, 15 and 20 */
  CHECK_GOOD(ooze_points_create(4, &points, why));
  CHECK_GOOD(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, &p, why));
  CHECK_GOOD(ooze_points_add(points, "id", OOZE_INT32, 1, 0, &id, why));
  CHECK_GOOD(ooze_points_add(points, "relaxtime", OOZE_FLOAT64, 1, 0, &relax, why));
  static const int32_t ids[4] = {17, 3, 16, 99};
  for (int i = 0; i < 4; i++) {
    ((int32_t *)id)[i] = ids[i];
    ((float *)p)[i * 3] = (float)ids[i];
    ((double *)relax)[i] = (double)ids[i];
  }
  CHECK_GOOD(ooze_points_to_solver(points, &s, why));
  CHECK_EQ(s.count, 7);
  for (uint32_t i = 0; i < 7; i++) {
    bool old = s.id[i] == 10 || s.id[i] == 15 || s.id[i] == 20;
    CHECK_NEAR(s.relax[i], old ? 0.1 * (double)(s.id[i] - 10) / 5 : (double)s.id[i], 1e-6,
               "a float of it");
    if (!old) CHECK(s.position[i][0] == (float)s.id[i]);
  }
  ooze_points_destroy(points);
}

OZ_CASE(points_without_ids_are_numbered_on) {
  ooze_solver s;
  ooze_points *points = NULL;
  void *p, *relax;
  fill(&s);
  CHECK_GOOD(ooze_points_create(2, &points, why));
  CHECK_GOOD(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, &p, why));
  CHECK_GOOD(ooze_points_add(points, "relaxtime", OOZE_FLOAT32, 1, 0, &relax, why));
  ((float *)relax)[0] = 7.0f;
  ((float *)relax)[1] = 8.0f;
  CHECK_GOOD(ooze_points_to_solver(points, &s, why));
  CHECK(s.count == 5 && s.id[3] == 21 && s.id[4] == 22 && s.relax[3] == 7.0f && s.relax[4] == 8.0f);
  ooze_points_destroy(points);
}

OZ_CASE(a_refusal_leaves_the_solver_as_it_was) {
  ooze_solver s, before;
  ooze_points *points = NULL;
  void *p, *id, *relax;
  fill(&s);
  CHECK_GOOD(ooze_points_create(2, &points, why));
  CHECK_GOOD(ooze_points_add(points, "P", OOZE_FLOAT32, 3, 0, &p, why));
  CHECK_GOOD(ooze_points_add(points, "id", OOZE_INT64, 1, 0, &id, why));
  CHECK_GOOD(ooze_points_add(points, "relaxtime", OOZE_FLOAT32, 1, 0, &relax, why));
  ((int64_t *)id)[0] = 5;
  ((int64_t *)id)[1] = -1;
  CHECK_REFUSED(ooze_points_to_solver(points, &s, why), OOZE_ERROR_ARGUMENT, "point 1: id is -1");
  ((int64_t *)id)[1] = 5;
  CHECK_REFUSED(ooze_points_to_solver(points, &s, why), OOZE_ERROR_ARGUMENT, "same id 5");
  ((int64_t *)id)[1] = 12;
  s.refuse_relax = 1;
  before = s;
  CHECK_REFUSED(ooze_points_to_solver(points, &s, why), OOZE_ERROR_ARGUMENT,
                "'relaxtime': the small solver says no");
  CHECK(s.count == 3 && memcmp(s.id, before.id, 24) == 0);
  ooze_points_destroy(points);
}
