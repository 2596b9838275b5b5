/* Links of the CPU backend against brute force: made within h, the same from both ends, through
 * sorting, removing and growing. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend
 * TIMEOUT 60 */
#include "check.h"
#include "cpu/cpu.h"
#include "models/models.h"

enum { SIDE = 12, N = SIDE * SIDE * SIDE, MORE = 200 };
static const float separation = 0.02f;

static uint32_t random_state;
static float random_float(void) { /* -1 to 1 */
  random_state = random_state * 1664525u + 1013904223u;
  return (float)(int32_t)random_state * (1.0f / 2147483648.0f);
}

typedef struct machine {
  oz_memory memory;
  oz_backend *b;
  oz_frame f;
  float x[N + MORE][3]; /* by rank, m */
  uint32_t count;
} machine;

/* Particles of rank first.. as the last ones of the backend. */
static void upload(machine *m, uint32_t first) {
  static float wide[(N + MORE) * 6];
  static uint32_t rank[N + MORE];
  static uint64_t id[N + MORE];
  const uint32_t n = m->count - first;
  ooze_message why = {""};
  for (uint32_t k = 0; k < n; ++k) {
    for (int c = 0; c < 4; ++c) wide[4 * k + (uint32_t)c] = c < 3 ? m->x[first + k][c] : 0.0f;
    rank[k] = first + k, id[k] = 100 + 3 * (uint64_t)(first + k);
  }
  CHECK(m->b->table->upload(m->b, OZ_FIELD_X, first, n, wide, &why) == OOZE_OK, "%s", why.text);
  CHECK(m->b->table->upload(m->b, OZ_FIELD_RANK, first, n, rank, &why) == OOZE_OK, "%s", why.text);
  CHECK(m->b->table->upload(m->b, OZ_FIELD_ID, first, n, id, &why) == OOZE_OK, "%s", why.text);
}

static void open_machine(machine *m, uint32_t isa) {
  ooze_hooks hooks;
  oz_backend_desc desc;
  ooze_message why = {""};
  memset(m, 0, sizeof *m);
  random_state = 5;
  ooze_hooks_default(&hooks);
  oz_memory_init(&m->memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = &m->memory;
  desc.isa = isa, desc.tasks = OOZE_TASKS_SHUFFLED, desc.threads = 2;
  CHECK(oz_cpu_backend_create(&desc, &m->b, &why) == OOZE_OK, "%s", why.text);
  m->count = N;
  for (uint32_t i = 0; i < N + MORE; ++i)
    for (int c = 0; c < 3; ++c)
      m->x[i][c] = separation * ((float)(c == 0   ? i % SIDE
                                         : c == 1 ? i / SIDE % SIDE
                                                  : i / (SIDE * SIDE)) +
                                 0.3f * random_float());
  CHECK(m->b->table->resize(m->b, N, &why) == OOZE_OK, "%s", why.text);
  upload(m, 0);
}
static void close_machine(machine *m) {
  m->b->table->destroy(m->b);
  CHECK_EQ(m->memory.bytes, 0);
}

/* A substep up to the rule: positions p as they are. */
static void sort_and_list(machine *m) {
  ooze_params params;
  oz_build_result built;
  ooze_message why = {""};
  ooze_params_default(&params);
  m->b->table->frame(m->b, &m->f);
  oz_frame_constants(&m->f, &params, separation, 0.01f, 0.0);
  CHECK(m->b->table->sort(m->b, &m->f, &why) == OOZE_OK, "%s", why.text);
  CHECK(m->b->table->lists(m->b, &m->f, &built, &why) == OOZE_OK, "%s", why.text);
  for (uint32_t i = 0; i < m->count; ++i) {
    memcpy(m->f.p + 4 * (size_t)i, m->f.x + 4 * (size_t)i, 16);
    memset(m->f.y + 4 * (size_t)i, 0, 16);
  }
  CHECK(m->b->table->density_list(m->b, &m->f, &built, &why) == OOZE_OK, "%s", why.text);
}
static void update(machine *m) {
  ooze_message why = {""};
  sort_and_list(m);
  CHECK(m->b->table->links_update(m->b, &m->f, OZ_RULE_NEAR, &why) == OOZE_OK, "%s", why.text);
}

/* All links by rank. */
static oz_link_pair *get(machine *m, uint64_t *count) {
  static uint32_t at[N + MORE];
  ooze_message why = {""};
  for (uint32_t i = 0; i < m->count; ++i) at[m->f.rank[i]] = i;
  CHECK(m->b->table->links_get(m->b, at, NULL, count, &why) == OOZE_OK, "%s", why.text);
  oz_link_pair *out = (oz_link_pair *)calloc((size_t)*count + 1, sizeof *out);
  const uint64_t all = *count;
  CHECK(m->b->table->links_get(m->b, at, out, count, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(*count, all);
  for (uint64_t k = 1; k < all; ++k)
    CHECK(out[k - 1].a < out[k].a || (out[k - 1].a == out[k].a && out[k - 1].b < out[k].b),
          "link %llu is out of order", (unsigned long long)k);
  return out;
}

/* Every row in ascending rank, every entry with its like at the other end, padding that does
 * nothing. */
static void check_rows(machine *m) {
  const oz_frame *f = &m->f;
  const uint32_t lanes = ((oz_cpu *)m->b)->isa->lanes;
  for (uint32_t i = 0; i < m->count; ++i)
    for (uint32_t k = 0; k < (f->link_len[i] + lanes - 1) / lanes * lanes; ++k) {
      const uint32_t e = f->link_row[i] + k, j = f->link_j[e];
      if (k >= f->link_len[i]) {
        CHECK(j == i && f->link_kind[e] == 0, "padding of %u", i);
        continue;
      }
      CHECK(j < m->count && j != i, "%u - %u", i, j);
      CHECK(k == 0 || f->rank[f->link_j[e - 1]] < f->rank[j], "row %u is not in order", i);
      uint32_t back = 0;
      while (back < f->link_len[j] && f->link_j[f->link_row[j] + back] != i) back++;
      CHECK(back < f->link_len[j], "%u knows %u, but not the other way round", i, j);
      CHECK(memcmp(&f->link_rest[e], &f->link_rest[f->link_row[j] + back], 4) == 0);
    }
}

static uint64_t near_pairs(const machine *m) {
  uint64_t n = 0;
  for (uint32_t a = 0; a < m->count; ++a)
    for (uint32_t b = a + 1; b < m->count; ++b) {
      float d2 = 0.0f;
      for (int c = 0; c < 3; ++c) d2 += (m->x[a][c] - m->x[b][c]) * (m->x[a][c] - m->x[b][c]);
      n += d2 < 0.9998f * m->f.h2; /* OZ_LINK_INSIDE */
    }
  return n;
}

static const uint32_t isas[] = {OOZE_ISA_SCALAR, OOZE_ISA_AUTO};
static uint32_t isa_of(int k) {
  if (isas[k] != OOZE_ISA_AUTO) return isas[k];
#if defined(__aarch64__)
  return OOZE_ISA_NEON;
#elif defined(__x86_64__)
  return OOZE_ISA_SSE;
#else
  return OOZE_ISA_SCALAR;
#endif
}

OZ_CASE(links_are_made_within_h_and_are_the_same_from_both_ends) {
  static machine m;
  for (int k = 0; k < 2; ++k) {
    open_machine(&m, isa_of(k));
    update(&m);
    uint64_t count;
    oz_link_pair *all = get(&m, &count);
    check_rows(&m);
    CHECK_EQ(count, near_pairs(&m));
    for (uint64_t i = 0; i < count; ++i) {
      double d2 = 0.0;
      for (int c = 0; c < 3; ++c) d2 += pow((double)(m.x[all[i].a][c] - m.x[all[i].b][c]), 2);
      CHECK_NEAR(all[i].rest, sqrt(d2), 1e-6 * (double)separation, "rounding of one distance");
      CHECK_EQ(all[i].kind, OZ_LINK_HELD);
    }
    free(all);
    close_machine(&m);
  }
}

OZ_CASE(sorting_keeps_every_link_and_an_update_keeps_old_ones) {
  static machine m;
  open_machine(&m, isa_of(1));
  update(&m);
  uint64_t count, after;
  oz_link_pair *first = get(&m, &count), *second;
  for (int turn = 0; turn < 3; ++turn) {
    random_state = 77u + (uint32_t)turn;
    for (uint32_t i = 0; i < N; ++i) /* everything somewhere else */
      for (int c = 0; c < 3; ++c) m.x[i][c] = separation * 40.0f * random_float();
    for (uint32_t i = 0; i < N; ++i)
      for (int c = 0; c < 3; ++c) m.f.x[4 * (size_t)i + (size_t)c] = m.x[m.f.rank[i]][c];
    if (turn < 2)
      sort_and_list(&m);
    else
      update(&m);
    check_rows(&m);
    second = get(&m, &after);
    if (turn < 2)
      CHECK(after == count && memcmp(first, second, count * sizeof *first) == 0,
            "sorting changed a link");
    else
      CHECK(after >= count, "%llu of %llu links are left", (unsigned long long)after,
            (unsigned long long)count);
    free(second);
  }
  free(first);
  close_machine(&m);
}

OZ_CASE(links_go_with_their_particles_and_new_particles_have_none) {
  static machine m;
  static uint8_t keep[N];
  static uint32_t fresh[N], old_of[N];
  open_machine(&m, isa_of(1));
  update(&m);
  uint64_t count, expected = 0, left;
  oz_link_pair *before = get(&m, &count), *after;
  uint32_t n = 0;
  ooze_message why = {""};
  for (uint32_t r = 0; r < N; ++r)
    if (r % 3 && r % 7)
      fresh[r] = n, old_of[n++] = r;
    else
      fresh[r] = UINT32_MAX;
  for (uint32_t i = 0; i < N; ++i) keep[i] = fresh[m.f.rank[i]] != UINT32_MAX;
  for (uint64_t k = 0; k < count; ++k)
    expected += fresh[before[k].a] != UINT32_MAX && fresh[before[k].b] != UINT32_MAX;
  uint32_t kept = 0;
  CHECK(m.b->table->compact(m.b, keep, &kept, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(kept, n);
  m.b->table->frame(m.b, &m.f);
  for (uint32_t i = 0; i < n; ++i) m.f.rank[i] = fresh[m.f.rank[i]];
  m.count = n;
  check_rows(&m);
  after = get(&m, &left);
  CHECK_EQ(left, expected);
  for (uint64_t k = 0, from = 0; k < left; ++k, ++from) {
    while (fresh[before[from].a] == UINT32_MAX || fresh[before[from].b] == UINT32_MAX) from++;
    CHECK(old_of[after[k].a] == before[from].a && old_of[after[k].b] == before[from].b);
    CHECK(memcmp(&after[k].rest, &before[from].rest, 4) == 0);
  }
  /* more than there is room for: everything moves */
  for (uint32_t r = 0; r < n; ++r) memcpy(m.x[r], m.x[old_of[r]], sizeof m.x[r]);
  CHECK(m.b->table->resize(m.b, N + MORE, &why) == OOZE_OK, "%s", why.text);
  m.count = N + MORE;
  for (uint32_t r = n; r < m.count; ++r)
    for (int c = 0; c < 3; ++c) m.x[r][c] = 1.0f + separation * 8.0f * random_float();
  upload(&m, n);
  sort_and_list(&m);
  check_rows(&m);
  for (uint32_t i = 0; i < m.count; ++i)
    CHECK(m.f.rank[i] < n || m.f.link_len[i] == 0, "a new particle has %u links", m.f.link_len[i]);
  free(before);
  before = get(&m, &count);
  CHECK(count == left && memcmp(before, after, count * sizeof *before) == 0,
        "growing changed a link");
  free(before), free(after);
  close_machine(&m);
}

OZ_CASE(links_that_are_taken_out_and_put_back_are_the_same) {
  static machine m;
  static uint32_t at[N];
  open_machine(&m, isa_of(1));
  update(&m);
  uint64_t count, again;
  oz_link_pair *first = get(&m, &count), *second;
  for (uint64_t k = 0; k < count; ++k) first[k].spare = (float)k, first[k].kind = 9;
  ooze_message why = {""};
  for (uint32_t i = 0; i < N; ++i) at[m.f.rank[i]] = i;
  CHECK(m.b->table->links_put(m.b, at, first, count, &why) == OOZE_OK, "%s", why.text);
  m.b->table->frame(m.b, &m.f);
  check_rows(&m);
  second = get(&m, &again);
  CHECK(again == count && memcmp(first, second, count * sizeof *first) == 0);
  free(first), free(second);
  CHECK(m.b->table->links_put(m.b, at, NULL, 0, &why) == OOZE_OK, "%s", why.text);
  second = get(&m, &again);
  CHECK_EQ(again, 0);
  free(second);
  close_machine(&m);
}

OZ_CASE(an_update_allocates_nothing_once_warm) {
  static machine m;
  open_machine(&m, isa_of(1));
  for (int k = 0; k < 3; ++k) update(&m);
  const uint64_t before = m.memory.allocations;
  for (int k = 0; k < 3; ++k) update(&m);
  CHECK_EQ(m.memory.allocations, before);
  close_machine(&m);
}

OZ_TEST_MAIN()
