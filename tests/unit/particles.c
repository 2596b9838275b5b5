/* Ids, ranks and attributes, against a plain list that does the same. SPDX-License-Identifier:
 * Apache-2.0 */
#include "check.h"
#include "solver_kit.h"

enum { MOST = 4000 };

/* The expected particles: ascending id, with a position that tells the id. */
typedef struct plain {
  uint32_t count;
  uint64_t id[MOST];
} plain;
static plain list;
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)random_state * n) >> 32);
}

static void position_of(uint64_t id, float p[3]) {
  p[0] = 0.05f * (float)(id % 29);
  p[1] = 1.0f + 0.05f * (float)(id / 29 % 31);
  p[2] = 0.05f * (float)(id / 899);
}

static ooze_solver *make(void) {
  ooze_solver *s = serial_solver(0.02f);
  ooze_params p;
  ooze_params_default(&p);
  memset(p.gravity, 0, sizeof p.gravity); /* particles stay where their ids put them */
  p.substeps = 1;
  CHECK_OK(ooze_params_set(s, &p), s);
  memset(&list, 0, sizeof list);
  return s;
}

static int plain_find(uint64_t id, uint32_t *rank) {
  uint32_t r = 0;
  while (r < list.count && list.id[r] < id) r++;
  *rank = r;
  return r < list.count && list.id[r] == id;
}

static void plain_add(uint64_t id) {
  uint32_t r;
  CHECK(!plain_find(id, &r) && list.count < MOST);
  memmove(list.id + r + 1, list.id + r, (list.count - r) * sizeof *list.id);
  list.id[r] = id;
  list.count++;
}

static void add(ooze_solver *s, const uint64_t *ids, uint32_t n) {
  float *p = (float *)malloc(n * 12u + 12u);
  ooze_particles in;
  for (uint32_t i = 0; i < n; ++i) position_of(ids[i], p + 3 * i);
  ooze_particles_default(&in);
  in.count = n;
  in.positions = p;
  in.ids = ids;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
  free(p);
  for (uint32_t i = 0; i < n; ++i) plain_add(ids[i]);
}

static void compare(ooze_solver *s) {
  CHECK_EQ(ooze_particle_count(s), list.count);
  for (uint32_t first = 0; first < list.count; first += 97) { /* page by page */
    uint64_t id[97];
    float p[97][3], expected[3];
    uint32_t n = list.count - first < 97 ? list.count - first : 97;
    CHECK_OK(ooze_attribute_read(s, OOZE_ID, first, n, 0, id), s);
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, first, n, 0, p), s);
    for (uint32_t i = 0; i < n; ++i) {
      CHECK(id[i] == list.id[first + i], "rank %u has id %llu, expected %llu", first + i,
            (unsigned long long)id[i], (unsigned long long)list.id[first + i]);
      position_of(id[i], expected);
      for (int k = 0; k < 3; ++k)
        CHECK_NEAR(p[i][k], expected[k], 1e-5,
                   "far apart and without gravity they stay, but for rounding");
    }
  }
  for (int turn = 0; turn < 20 && list.count; ++turn) {
    uint32_t r = random_below(list.count), rank = UINT32_MAX;
    CHECK_OK(ooze_particle_find(s, list.id[r], &rank), s);
    CHECK_EQ(rank, r);
  }
}

OZ_CASE(ids_and_ranks_hold_through_adding_removing_and_stepping) {
  ooze_solver *s = make();
  random_state = 7;
  for (int round = 0; round < 60; ++round) {
    uint64_t ids[64];
    uint32_t n = 1 + random_below(64), got = 0, rank;
    for (uint32_t i = 0; i < n; ++i) {
      uint64_t id = random_below(20000);
      int taken = plain_find(id, &rank);
      for (uint32_t k = 0; k < got; ++k) taken |= ids[k] == id;
      if (!taken) ids[got++] = id;
    }
    add(s, ids, got);
    if (round % 3 == 1) { /* some leave, in no order */
      uint32_t leave = random_below(list.count / 2 + 1);
      for (uint32_t i = 0; i < leave && i < 64; ++i) {
        uint32_t r = random_below(list.count);
        CHECK_OK(ooze_particles_remove(s, &list.id[r], 1), s);
        memmove(list.id + r, list.id + r + 1, (list.count - r - 1) * sizeof *list.id);
        list.count--;
      }
    }
    if (round % 5 == 2) CHECK_OK(ooze_step(s, 1e-4), s); /* sorts inside */
    compare(s);
  }
  CHECK_OK(ooze_particles_clear(s), s);
  list.count = 0;
  compare(s);
  ooze_solver_destroy(s);
}

OZ_CASE(new_ids_go_on_from_the_largest_ever) {
  ooze_solver *s = make();
  float p[2][3] = {{0, 1, 0}, {1, 1, 0}};
  uint64_t first = 99, ids[2] = {41, 7};
  ooze_particles in;
  ooze_particles_default(&in);
  in.count = 2;
  in.positions = p;
  CHECK_OK(ooze_particles_add(s, &in, &first), s);
  CHECK_EQ(first, 0);
  in.ids = ids;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
  CHECK_OK(ooze_particles_remove(s, ids, 1), s); /* 41, the largest */
  in.ids = NULL;
  CHECK_OK(ooze_particles_add(s, &in, &first), s);
  CHECK_EQ(first, 42);
  ooze_solver_destroy(s);
}

OZ_CASE(all_can_be_removed_in_one_call) {
  ooze_solver *s = make();
  uint64_t ids[500];
  for (uint32_t i = 0; i < 500; ++i) ids[i] = 3 * i;
  add(s, ids, 500);
  CHECK_OK(ooze_step(s, 1e-4), s);
  CHECK_OK(ooze_particles_remove(s, ids, 500), s);
  CHECK_EQ(ooze_particle_count(s), 0);
  CHECK_OK(ooze_step(s, 1e-4), s);
  ooze_solver_destroy(s);
}

/* Every writable attribute, with a stride, in ranges, and again after a sort. */
OZ_CASE(what_is_written_is_read) {
  enum { N = 300, FIRST = 37, COUNT = 200 };
  ooze_solver *s = make();
  uint64_t ids[N];
  ooze_material other;
  for (uint32_t i = 0; i < N; ++i) ids[i] = (i * 7919u) % 10007u;
  add(s, ids, N);
  CHECK_OK(ooze_step(s, 1e-4), s);
  ooze_material_default(&other);
  CHECK_OK(ooze_material_add(s, &other, NULL), s);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; ++a) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    CHECK_EQ(ooze_attribute_describe((ooze_attribute)a, &info), OOZE_OK);
    CHECK(info.name[0] && info.components >= 1 && info.components <= 6);
    if (!info.writable) continue;
    enum { STRIDE = 44 };
    unsigned char in[COUNT * STRIDE], out[N * STRIDE], was[N * 24];
    size_t tight = (size_t)info.components * info.element_bytes;
    memset(in, 0, sizeof in);
    CHECK_OK(ooze_attribute_read(s, (ooze_attribute)a, 0, N, 0, was), s);
    for (uint32_t i = 0; i < COUNT; ++i)
      for (uint32_t k = 0; k < info.components; ++k) {
        uint32_t whole = (i + k) % 2;
        float value = 1.0f + 0.001f * (float)(i % 64) + (k < 3 ? 0.5f : -0.9f);
        if (a == OOZE_MELT) value *= 0.5f; /* at most 1 */
        if (info.is_integer)
          memcpy(in + i * STRIDE + 4 * k, &whole, 4);
        else
          memcpy(in + i * STRIDE + 4 * k, &value, 4);
      }
    CHECK_OK(ooze_attribute_write(s, (ooze_attribute)a, FIRST, COUNT, STRIDE, in), s);
    memset(out, 0x5a, sizeof out);
    CHECK_OK(ooze_attribute_read(s, (ooze_attribute)a, 0, N, STRIDE, out), s);
    for (uint32_t i = 0; i < N; ++i) {
      const unsigned char *expected =
          i >= FIRST && i < FIRST + COUNT ? in + (i - FIRST) * STRIDE : was + i * tight;
      CHECK(memcmp(out + i * STRIDE, expected, tight) == 0, "%s of rank %u", info.name, i);
      for (size_t b = tight; b < STRIDE; ++b)
        CHECK(out[i * STRIDE + b] == 0x5a, "%s: byte %zu behind it was written", info.name, b);
    }
  }
  ooze_solver_destroy(s);
}

OZ_CASE(positions_within_a_box_are_found_wherever_they_are_kept) {
  enum { N = 900 };
  static float x[N][3], found[N][3];
  const float low[3] = {0.1f, 1.0f, -1.0f}, high[3] = {0.5f, 1.31f, 1.0f};
  ooze_solver *s = make();
  ooze_particles p;
  ooze_particles_default(&p);
  for (uint32_t i = 0; i < N; i++) position_of(i, x[i]);
  p.count = N, p.positions = x;
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
  CHECK_OK(ooze_step(s, 1.0 / 240.0), s); /* sorts */
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, N, 0, x), s);
  uint32_t expected = 0, count = 0;
  for (uint32_t i = 0; i < N; i++) {
    int in = 1;
    for (int k = 0; k < 3; k++) in &= x[i][k] >= low[k] && x[i][k] <= high[k];
    expected += (uint32_t)in;
  }
  CHECK(expected > 5 && expected < N / 2, "%u tell nothing", expected);
  CHECK_OK(ooze_particles_within(s, low, high, N, found[0], &count), s);
  CHECK_EQ(count, expected);
  for (uint32_t k = 0; k < count; k++) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < N; i++) same += !memcmp(found[k], x[i], sizeof x[i]);
    CHECK_EQ(same, 1);
  }
  CHECK_OK(ooze_particles_within(s, low, high, 0, NULL, &count), s);
  CHECK_EQ(count, expected);
  CHECK_EQ(ooze_particles_within(s, low, NULL, 0, NULL, &count), OOZE_ERROR_ARGUMENT);
  CHECK_EQ(ooze_particles_within(s, low, high, 1, NULL, &count), OOZE_ERROR_ARGUMENT);
  ooze_solver_destroy(s);
}

OZ_CASE(pages_of_different_attributes_may_alternate) {
  enum { N = 64 };
  ooze_solver *s = make();
  uint64_t ids[N];
  for (uint32_t i = 0; i < N; ++i) ids[i] = N - i;
  add(s, ids, N);
  for (uint32_t r = 0; r < N; ++r) {
    float v[3] = {(float)r, 0, 0}, tau = 0.001f * (float)r;
    CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, r, 1, 0, v), s);
    CHECK_OK(ooze_attribute_write(s, OOZE_RELAXATION_TIME, r, 1, 0, &tau), s);
  }
  for (uint32_t r = 0; r < N; ++r) {
    float v[3], tau;
    CHECK_OK(ooze_attribute_read(s, OOZE_RELAXATION_TIME, r, 1, 0, &tau), s);
    CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, r, 1, 0, v), s);
    CHECK_NEAR(v[0], r, 0, "copied");
    CHECK_NEAR(tau, 0.001f * (float)r, 0, "copied");
  }
  ooze_solver_destroy(s);
}

OZ_CASE(materials_reach_their_particles) {
  ooze_solver *s = make();
  ooze_material m;
  uint64_t ids[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  uint32_t thick = 0, which[3] = {1, 0, 1};
  float value[10], mass[10];
  ooze_material_default(&m);
  m.viscosity = 40;
  m.density = 1400;
  CHECK_OK(ooze_material_add(s, &m, &thick), s);
  CHECK_EQ(thick, 1);
  add(s, ids, 10);
  CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, 4, 3, 0, which), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VISCOSITY, 0, 10, 0, value), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_MASS, 0, 10, 0, mass), s);
  for (int i = 0; i < 10; ++i) {
    CHECK_NEAR(value[i], i == 4 || i == 6 ? 40 : 0, 0, "the material's");
    CHECK_NEAR(mass[i] / mass[0], i == 4 || i == 6 ? 1.4 : 1, 1e-6, "single precision");
  }
  CHECK_NEAR(mass[0], 0.02f * 0.02f * 0.02f * 1000, 0.02 * 8e-3,
             "the lattice sum of the kernel is 1/d^3 within 2%");
  /* a value of one's own stays until the material is set again */
  float own = 7;
  CHECK_OK(ooze_attribute_write(s, OOZE_VISCOSITY, 4, 1, 0, &own), s);
  m.viscosity = 80;
  CHECK_OK(ooze_material_set(s, thick, &m), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VISCOSITY, 0, 10, 0, value), s);
  for (int i = 0; i < 10; ++i)
    CHECK_NEAR(value[i], i == 4 || i == 6 ? 80 : 0, 0, "the material's new value");
  ooze_solver_destroy(s);
}

/* Input -> part of the sentence; nothing changes. */
OZ_CASE(values_that_cannot_be_are_refused_by_id_and_field) {
  static const struct {
    ooze_attribute attribute;
    float value[6];
    const char *says;
  } bad[] = {
      {OOZE_POSITION, {0, NAN, 0}, "P of id 30"},
      {OOZE_POSITION, {3e4f, 0, 0}, "at most 20000 m"}, /* 1e6 separations of 0.02 m */
      {OOZE_VELOCITY, {0, 0, 2e6f}, "v of id 30"},
      {OOZE_CONFORMATION, {1, 1, 1, 2, 0, 0}, "positive definite"},
      {OOZE_CONFORMATION, {1, 1, -1, 0, 0, 0}, "positive definite"},
      {OOZE_CONFORMATION, {1, 1, INFINITY, 0, 0, 0}, "conform of id 30"},
      {OOZE_RELAXATION_TIME, {-1}, "relaxtime of id 30 is -1; expected 0 or more"},
      {OOZE_COMPLIANCE, {NAN}, "compliance"},
      {OOZE_VISCOSITY, {-0.5f}, "viscosity of id 30"},
      {OOZE_DENSITY, {0}, "density of id 30 is 0"},
      {OOZE_TEMPERATURE, {-1}, "temperature"},
      {OOZE_FORCE, {0, INFINITY, 0}, "force"},
      {OOZE_MATERIAL, {1.0f}, "material of id 30"}, /* the bits of 1.0f as a number */
      {OOZE_MASS, {1}, "read only"},
      {OOZE_STRESS, {1}, "read only"},
  };
  ooze_solver *s = make();
  uint64_t ids[4] = {10, 20, 30, 40}, before = 0, after = 1;
  add(s, ids, 4);
  CHECK_OK(ooze_state_hash(s, &before), s);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    ooze_result r = ooze_attribute_write(s, bad[i].attribute, 2, 1, 0, bad[i].value);
    CHECK(r < 0 && r > -100, "row %zu: %s", i, ooze_result_name(r));
    CHECK(strstr(ooze_solver_message(s), bad[i].says), "row %zu: \"%s\" does not say \"%s\"", i,
          ooze_solver_message(s), bad[i].says);
    CHECK_OK(ooze_state_hash(s, &after), s);
    CHECK_EQ(after, before);
  }
  ooze_solver_destroy(s);
}

OZ_TEST_MAIN()
