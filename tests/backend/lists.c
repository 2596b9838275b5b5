/* The CPU's sort and neighbour lists against brute force, in every build of them that this machine
 * can run. SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend */
#include "check.h"
#include "cpu/cpu.h"
#include "physics/rows.h"
#include "models/models.h"

enum { MOST = 5200 };
static const float separation = 0.02f;

static uint32_t random_state;
static float random_float(void) { /* -1 to 1 */
  random_state = random_state * 1664525u + 1013904223u;
  return (float)(int32_t)random_state * (1.0f / 2147483648.0f);
}

/* ---- a backend with particles ------------------------------------------------------------ */

static float cloud[MOST][3]; /* m */
static uint64_t cloud_id[MOST];
static uint32_t cloud_count;

static void put(float x, float y, float z) { /* separations */
  CHECK(cloud_count < MOST);
  cloud[cloud_count][0] = separation * x;
  cloud[cloud_count][1] = separation * y;
  cloud[cloud_count][2] = separation * z;
  cloud_id[cloud_count] = 10 + cloud_count;
  cloud_count++;
}
static void put_cloud(uint32_t count, float half, float x, float y, float z) {
  for (uint32_t k = 0; k < count; ++k) {
    float a = half * random_float(), b = half * random_float(), c = half * random_float();
    put(x + a, y + b, z + c);
  }
}

static uint8_t seen[MOST]; /* how often each particle is in the row that is looked at */
static void start(void) {
  cloud_count = 0, random_state = 1;
  memset(seen, 0, sizeof seen); /* a case that failed may have left some */
}

typedef struct machine {
  oz_memory memory;
  oz_cpu *cpu;
  oz_frame f;
} machine;

/* order: particle k of the backend is cloud[order[k]], or cloud[k] if NULL. Every field carries a
 * number made of the id. */
static void fill(machine *m, const uint32_t *order) {
  static float wide[MOST * 6];
  static uint32_t word[MOST];
  static uint64_t id[MOST];
  oz_backend *b = &m->cpu->base;
  ooze_message why = {""};
  uint32_t n = cloud_count;
  CHECK(b->table->resize(b, n, &why) == OOZE_OK, "%s", why.text);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; ++k)
    CHECK(b->table->provide(b, (oz_field)k, &why) == OOZE_OK, "%s", why.text);
#define OF(k) (order ? order[k] : (k))
#define UP(field, data) \
  CHECK(b->table->upload(b, OZ_FIELD_##field, 0, n, data, &why) == OOZE_OK, "%s", why.text)
  for (uint32_t k = 0; k < n; ++k)
    for (uint32_t c = 0; c < 4; ++c) wide[4 * k + c] = c < 3 ? cloud[OF(k)][c] : 0;
  UP(X, wide);
  for (uint32_t k = 0; k < n; ++k) id[k] = cloud_id[OF(k)];
  UP(ID, id);
  for (uint32_t k = 0; k < n; ++k)
    for (uint32_t c = 0; c < 4; ++c)
      wide[4 * k + c] = 1e-6f * (float)(id[k] % 4096) + (float)c * 1e-3f;
  UP(U, wide);
  for (uint32_t k = 0; k < n; ++k)
    for (uint32_t c = 0; c < 6; ++c) wide[c * n + k] = (float)(id[k] + 10000 * c);
  UP(Q, wide);
  UP(FORCE, wide); /* its three planes */
  static const oz_field single[] = {OZ_FIELD_RELAXATION_TIME, OZ_FIELD_COMPLIANCE,
                                    OZ_FIELD_VISCOSITY, OZ_FIELD_DENSITY, OZ_FIELD_TEMPERATURE};
  for (uint32_t s = 0; s < sizeof single / sizeof *single; ++s) {
    for (uint32_t k = 0; k < n; ++k) wide[k] = (float)(id[k] + s);
    CHECK(b->table->upload(b, single[s], 0, n, wide, &why) == OOZE_OK, "%s", why.text);
  }
  for (uint32_t k = 0; k < n; ++k) word[k] = (uint32_t)id[k] + 1;
  UP(MATERIAL, word);
  for (uint32_t k = 0; k < n; ++k) word[k] = (uint32_t)id[k] + 2;
  UP(SOURCE, word);
  for (uint32_t k = 0; k < n; ++k) word[k] = OF(k);
  UP(RANK, word);
}

static void prepare(machine *m, const uint32_t *order, float dt) {
  ooze_params params;
  ooze_message why = {""};
  oz_backend *b = &m->cpu->base;
  ooze_params_default(&params);
  fill(m, order);
  b->table->frame(b, &m->f);
  oz_frame_constants(&m->f, &params, separation, dt, 0);
  CHECK(b->table->sort(b, &m->f, &why) == OOZE_OK, "%s", why.text);
}
static void build(machine *m) {
  ooze_message why = {""};
  oz_build_result news = {0, 0};
  oz_backend *b = &m->cpu->base;
  CHECK(b->table->lists(b, &m->f, &news, &why) == OOZE_OK, "%s", why.text);
}

/* The builds that there are: 0, 1, ... until it returns 0. */
static int machine_make(machine *m, uint32_t index) {
  for (uint32_t k = 0; k < ooze_backend_count(); ++k) {
    ooze_backend_info info;
    ooze_message why = {""};
    ooze_hooks hooks;
    oz_backend *b = NULL;
    ooze_backend_info_default(&info);
    CHECK(ooze_backend_get(k, &info) == OOZE_OK);
    if (info.backend != OOZE_BACKEND_CPU || !info.usable || index-- > 0) continue;
    memset(m, 0, sizeof *m);
    ooze_hooks_default(&hooks);
    oz_memory_init(&m->memory, &hooks);
    oz_backend_desc desc = {.isa = info.isa,
                            .threads = 1,
                            .tasks = OOZE_TASKS_SHUFFLED,
                            .device = -1,
                            .memory = &m->memory,
                            .hooks = &m->memory.hooks};
    CHECK(oz_cpu_backend_create(&desc, &b, &why) == OOZE_OK, "%s", why.text);
    m->cpu = (oz_cpu *)(void *)b;
    return 1;
  }
  return 0;
}
static void machine_end(machine *m) {
  m->cpu->base.table->destroy(&m->cpu->base);
  CHECK_EQ(m->memory.bytes, 0);
}
static const char *name(const machine *m) { return m->cpu->isa->name; }

/* ---- against brute force ----------------------------------------------------------------- */

/* Marks the entries of one row; returns how often the particle itself is, which is padding. */
static uint32_t mark(const machine *m, uint32_t i, const uint16_t *list, const uint32_t *rows,
                     const uint16_t *lengths, int on, uint32_t *others) {
  uint32_t self = 0;
  CHECK(lengths[i] % m->cpu->isa->lanes == 0, "%s: row %u has %u entries: not whole vectors",
        name(m), i, lengths[i]);
  for (uint32_t k = 0; k < lengths[i]; ++k) {
    uint32_t j;
    const oz_row row = oz_row_of(list, rows, i);
    oz_row_j(&row, k, 1, &j);
    CHECK(j < m->f.count, "%s: row %u names particle %u of %u", name(m), i, j, m->f.count);
    if (j == i) {
      self++;
      continue;
    }
    seen[j] = (uint8_t)(on ? seen[j] + 1 : 0);
    ++*others;
  }
  return self;
}

static double distance2(const float *at, uint32_t i, uint32_t j) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) {
    double d = (double)at[4 * (size_t)i + (size_t)c] - (double)at[4 * (size_t)j + (size_t)c];
    sum += d * d;
  }
  return sum;
}

/* All within `must` are in the row and none beyond `may`, each once. */
static void check_row(const machine *m, const float *at, uint32_t i, double must, double may,
                      const char *what) {
  for (uint32_t j = 0; j < m->f.count; ++j) {
    if (j == i) continue;
    double r2 = distance2(at, i, j);
    CHECK(seen[j] <= 1, "%s: %s: %u is %u times in the row of %u", name(m), what, j, seen[j], i);
    CHECK(seen[j] || r2 >= must * must,
          "%s: %s: %u is missing from the row of %u: %.7g m apart, reach %.7g m", name(m), what, j,
          i, sqrt(r2), must);
    CHECK(!seen[j] || r2 <= may * may, "%s: %s: %u is in the row of %u: %.7g m apart, reach %.7g m",
          name(m), what, j, i, sqrt(r2), may);
  }
}

static float from_half(uint16_t h) {
  int e = h >> 10 & 31, f = h & 1023;
  double v = e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
  return (float)(h & 0x8000 ? -v : v);
}

/* The stored weights: d |ghat| / r of the spiky kernel, in halves. */
static void check_weights(const machine *m, uint32_t i) {
  const oz_frame *f = &m->f;
  const double h = (double)f->h, d = (double)f->d,
               norm = 45.0 / (3.14159265358979 * pow(h, 6)) * pow(d, 5);
  const oz_row row = oz_row_of(f->start_entries, f->start_row, i);
  const uint16_t *weights = row.e + (row.wide ? 2 : 1) * (size_t)f->start_length[i];
  for (uint32_t k = 0; k < f->start_length[i]; ++k) {
    uint32_t j;
    oz_row_j(&row, k, 1, &j);
    double r = sqrt(distance2(f->x, i, j)), want = r > 1e-4 * h ? norm * (h - r) * (h - r) / r : 0,
           got = (double)from_half(weights[k]);
    CHECK(fabs(got - want) <= 1e-3 * fabs(want) + 1e-6,
          "%s: weight of %u and %u: %.6g, expected %.6g within a half's rounding", name(m), i, j,
          got, want);
    if (j == i) CHECK(weights[k] == 0, "padding of row %u has the weight %g", i, got);
  }
}

/* loose: relative error of distances that single precision has so far out. */
static void check_lists(machine *m, double loose) {
  const oz_frame *f = &m->f;
  const double h = (double)f->h, wide = h + (double)f->margin;
  for (uint32_t i = 0; i < f->count; ++i) {
    uint32_t others = 0, pad;
    pad = mark(m, i, f->start_entries, f->start_row, f->start_length, 1, &others);
    check_row(m, f->x, i, h * (1 - 1e-5), h * (1 + 1e-5), "list");
    CHECK_EQ(f->neighbours[i], others);
    CHECK(pad < m->cpu->isa->lanes, "%s: row %u: %u entries of padding", name(m), i, pad);
    if (loose == 0) check_weights(m, i);
    if (m->cpu->has_margin) {
      pad += mark(m, i, m->cpu->x.words, m->cpu->x.row, m->cpu->x.len, 1, &others);
      check_row(m, f->x, i, wide * (1 - 1e-5 - loose), wide * (1 + 1e-5), "margin");
      mark(m, i, m->cpu->x.words, m->cpu->x.row, m->cpu->x.len, 0, &others);
    }
    (void)pad;
    mark(m, i, f->start_entries, f->start_row, f->start_length, 0, &others);
  }
}

static void check_density_list(machine *m, uint32_t rebuilt) {
  oz_frame *f = &m->f;
  oz_backend *b = &m->cpu->base;
  oz_build_result news = {0, 0};
  ooze_message why = {""};
  CHECK(b->table->density_list(b, f, &news, &why) == OOZE_OK, "%s", why.text);
  CHECK_EQ(news.rebuilt, rebuilt);
  for (uint32_t i = 0; i < f->count; ++i) {
    uint32_t others = 0, pad = 0;
    for (int k = 0; k < 2 && f->density_entries[k]; ++k)
      pad += mark(m, i, f->density_entries[k], f->density_row[k], f->density_length[k], 1, &others);
    /* particles beyond h add nothing, so more may be in it */
    check_row(m, f->p, i, (double)f->h, rebuilt ? (double)INFINITY : 1.3 * (double)f->h,
              rebuilt ? "density, what C lacks" : "density");
    CHECK_NEAR(f->pad_weight[i], (double)pad * (double)f->w_self,
               1e-5 * (double)f->w_self * (pad + 1),
               "the density sum takes the padding away again");
    for (int k = 0; k < 2 && f->density_entries[k]; ++k)
      mark(m, i, f->density_entries[k], f->density_row[k], f->density_length[k], 0, &others);
  }
}

static void check_cloud(double loose) {
  machine m;
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    prepare(&m, NULL, 0.001f);
    build(&m);
    CHECK(m.cpu->has_margin || m.cpu->still || !cloud_count,
          "%s: slow particles get a margin, or need none", name(&m));
    check_lists(&m, loose);
    machine_end(&m);
  }
}

OZ_CASE(rows_are_the_neighbours_in_a_cloud_around_the_origin) {
  start();
  put_cloud(901, 5, 0, 0, 0);
  put_cloud(33, 20, 0, 0, 0);
  check_cloud(0);
}

OZ_CASE(rows_are_the_neighbours_at_negative_coordinates) {
  start();
  put_cloud(601, 4.5f, -311, -77, -1000);
  check_cloud(1e-4);
}

OZ_CASE(rows_are_the_neighbours_far_from_the_origin) {
  /* 6e5 separations: a step of single precision is 0.05 separations, a twentieth of a cell's side
   */
  start();
  put_cloud(401, 4, 6e5f, -6e5f, 5e5f);
  put_cloud(401, 4, -6e5f, 3e5f, 6e5f);
  check_cloud(0.05);
}

OZ_CASE(rows_are_the_neighbours_on_a_lattice_with_many_ties) {
  start();
  for (int i = 0; i < 729; ++i) put((float)(i % 9), (float)(i / 9 % 9), (float)(i / 81));
  check_cloud(0);
}

OZ_CASE(rows_are_the_neighbours_over_hundreds_of_cells) {
  start();
  for (int i = 0; i < 700; ++i)
    put(1.1f * (float)i - 300, 0.3f * random_float(), 0.3f * random_float());
  put_cloud(300, 300, 0, 0, 0); /* hardly any has a neighbour */
  put(1e6f, 1e6f, 1e6f);
  put(-1e6f, -1e6f, -1e6f);
  check_cloud(1e-3);
}

OZ_CASE(no_particle_one_and_two_have_lists_too) {
  for (uint32_t n = 0; n < 3; ++n) {
    start();
    for (uint32_t k = 0; k < n; ++k) put((float)k, 0, 0);
    check_cloud(0);
  }
}

/* ---- after particles have moved ---------------------------------------------------------- */

static void move(machine *m, float spread, float together) {
  oz_frame *f = &m->f;
  random_state = 7;
  for (uint32_t i = 0; i < f->count; ++i)
    for (uint32_t c = 0; c < 3; ++c) {
      f->y[4 * (size_t)i + c] = spread * random_float() + together;
      f->p[4 * (size_t)i + c] = f->x[4 * (size_t)i + c] + f->y[4 * (size_t)i + c];
    }
}

OZ_CASE(the_density_list_holds_at_the_new_positions) {
  machine m;
  start();
  put_cloud(801, 4.8f, 3, 1, -2);
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    prepare(&m, NULL, 0.001f);
    build(&m);
    /* lists that expected no motion have no margin to take it from */
    const uint32_t anew = (uint32_t)m.cpu->still;
    move(&m, 0.15f * m.f.margin, 0);
    check_density_list(&m, anew);
    prepare(&m, NULL, 0.001f);
    build(&m);
    move(&m, 0.15f * m.f.margin, 5 * m.f.h); /* all together, far: no pair has changed */
    check_density_list(&m, anew);
    prepare(&m, NULL, 0.001f);
    build(&m);
    move(&m, 0.0f, 5 * m.f.h);
    check_density_list(&m, 0);
    prepare(&m, NULL, 0.001f);
    build(&m);
    move(&m, m.f.h, 0);
    check_density_list(&m, 1);
    prepare(&m, NULL, 0.001f); /* and the lists are whole again after that */
    build(&m);
    check_lists(&m, 0);
    machine_end(&m);
  }
}

OZ_CASE(fast_particles_get_a_density_list_of_their_own) {
  machine m;
  start();
  put_cloud(501, 4, 0, 0, 0);
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    prepare(&m, NULL, 1.0f); /* speeds differ by 4e-4 m/s and more: several margins in a second */
    for (uint32_t i = 0; i < m.f.count; ++i) m.f.u[4 * (size_t)i] = 0.1f * random_float();
    build(&m);
    CHECK(!m.cpu->has_margin, "%s: a margin that will not do is not built", name(&m));
    check_lists(&m, 0);
    move(&m, m.f.h, 0);
    check_density_list(&m, 1);
    machine_end(&m);
  }
}

/* ---- piled up ---------------------------------------------------------------------------- */

/* Rows are cut at OZ_MAX_NEIGHBOURS: the remaining entries are true neighbours, each once. */
static void check_pile(uint32_t count, float half) {
  machine m;
  start();
  put_cloud(count, half, 0.7f, 0.7f, 0.7f);
  put_cloud(50, 6, 0, 0, 0);
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    prepare(&m, NULL, 0.001f);
    build(&m);
    const oz_frame *f = &m.f;
    uint32_t full = 0;
    for (uint32_t i = 0; i < f->count; ++i) {
      uint32_t others = 0, ignored = 0;
      mark(&m, i, f->start_entries, f->start_row, f->start_length, 1, &others);
      check_row(&m, f->x, i, 0, (double)f->h * (1 + 1e-5), "pile");
      CHECK(others <= OZ_MAX_NEIGHBOURS && others == f->neighbours[i],
            "%s: particle %u: %u neighbours, %u in the row", name(&m), i, f->neighbours[i], others);
      full += others == OZ_MAX_NEIGHBOURS;
      mark(&m, i, f->start_entries, f->start_row, f->start_length, 0, &ignored);
    }
    CHECK(full >= count, "%s: %u rows are full", name(&m), full);
    machine_end(&m);
  }
}
OZ_CASE(a_pile_of_hundreds_is_cut_to_the_limit) { check_pile(700, 0.4f); }
OZ_CASE(a_pile_of_thousands_in_one_cell_is_cut_to_the_limit) { check_pile(4500, 0.2f); }

/* Cut rows are not symmetric, so such a pile may fly apart at any speed; the results are numbers,
 * and particles too fast for those are counted. */
OZ_CASE(a_pile_on_one_point_stays_finite) {
  machine m;
  start();
  for (int i = 0; i < 300; ++i) put(0.5f, 0.5f, 0.5f);
  for (int i = 0; i < 343; ++i)
    put((float)(i % 7) - 3, (float)(i / 7 % 7) - 3, (float)(i / 49) - 3);
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    ooze_params params;
    ooze_message why = {""};
    oz_step step;
    ooze_params_default(&params);
    memset(&step, 0, sizeof step);
    fill(&m, NULL);
    m.cpu->base.table->frame(&m.cpu->base, &m.f);
    for (uint32_t i = 0; i < m.f.count; ++i) {
      for (uint32_t c = 0; c < 6; ++c) m.f.q[(size_t)c * m.f.stride + i] = c < 3;
      for (uint32_t c = 0; c < 3; ++c) m.f.force[(size_t)c * m.f.stride + i] = 0;
      m.f.relaxation_time[i] = 0.1f, m.f.compliance[i] = 1e-4f, m.f.viscosity[i] = 0,
      m.f.density[i] = 1000, m.f.source[i] = 0;
    }
    step.backend = &m.cpu->base;
    step.params = &params;
    step.velocity_iterations = 10, step.position_iterations = 5;
    step.separation = separation;
    step.has_relaxation_time = 1;
    for (int n = 0; n < 3; ++n) {
      ooze_result r = oz_conformation_substep(&step, 0.002f, &why);
      CHECK(r == OOZE_OK && step.bad < 30, "%s: %s, %g particles went non-finite", name(&m),
            why.text, step.bad);
      for (uint32_t i = 0; i < 4 * m.f.count; ++i)
        CHECK(isfinite(m.f.x[i]) && isfinite(m.f.u[i]), "word %u", i);
      for (uint32_t i = 0; i < 6 * m.f.stride; ++i)
        CHECK(i % m.f.stride >= m.f.count || isfinite(m.f.q[i]), "word %u", i);
    }
    machine_end(&m);
  }
}

/* ---- wide rows --------------------------------------------------------------------------- */

static uint32_t wide_rows(const oz_frame *f) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->count; ++i) n += (f->start_row[i] & OZ_WIDE) != 0;
  return n;
}

OZ_CASE(rows_of_particles_far_apart_in_memory_are_wide) {
  machine m;
  start();
  put_cloud(901, 5, 0, 0, 0);
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    m.cpu->narrow = 64;
    prepare(&m, NULL, 1.0f); /* speeds differ by 9e-4 m/s: there is a margin */
    build(&m);
    const uint32_t n = wide_rows(&m.f);
    CHECK(n > 100 && n < m.f.count, "%s: %u rows of %u are wide", name(&m), n, m.f.count);
    CHECK(m.cpu->has_margin, "%s: no margin rows", name(&m));
    check_lists(&m, 0);
    move(&m, 0.15f * m.f.margin, 0);
    check_density_list(&m, 0);
    prepare(&m, NULL, 1.0f);
    build(&m);
    move(&m, m.f.h, 0);
    check_density_list(&m, 1);
    machine_end(&m);
  }
}

/* A block that falls apart, with some of its rows wide, or none. */
static void run_block(machine *m, uint32_t narrow, uint32_t *out_wide) {
  ooze_params params;
  ooze_message why = {""};
  oz_step step;
  ooze_params_default(&params);
  params.velocity_iterations = 3, params.position_iterations = 2;
  memset(&step, 0, sizeof step);
  m->cpu->narrow = narrow;
  fill(m, NULL);
  m->cpu->base.table->frame(&m->cpu->base, &m->f);
  for (uint32_t i = 0; i < m->f.count; ++i) {
    for (uint32_t c = 0; c < 6; ++c) m->f.q[(size_t)c * m->f.stride + i] = c < 3;
    for (uint32_t c = 0; c < 3; ++c)
      m->f.u[4 * (size_t)i + c] = 5.0f * m->f.x[4 * (size_t)i + (c + 1) % 3];
    m->f.relaxation_time[i] = 0.1f, m->f.compliance[i] = 1e-4f, m->f.viscosity[i] = 0,
    m->f.density[i] = 1000;
    if (m->f.force)
      for (uint32_t c = 0; c < 3; ++c) m->f.force[(size_t)c * m->f.stride + i] = 0;
    if (m->f.source) m->f.source[i] = 0;
  }
  step.backend = &m->cpu->base, step.params = &params, step.separation = separation,
  step.has_relaxation_time = 1;
  step.velocity_iterations = params.velocity_iterations;
  step.position_iterations = params.position_iterations;
  for (int n = 0; n < 4; ++n)
    CHECK(oz_conformation_substep(&step, 0.002f, &why) == OOZE_OK && step.bad == 0, "%s", why.text);
  m->cpu->base.table->frame(&m->cpu->base, &m->f);
  m->f.start_row = m->cpu->c.row;
  *out_wide = wide_rows(&m->f);
}
OZ_CASE(wide_rows_have_the_same_bits_as_narrow_ones) {
  static float kept[3][8 * MOST];
  start();
  for (int i = 0; i < 1000; ++i)
    put((float)(i % 10) + 0.1f * random_float(), (float)(i / 10 % 10), (float)(i / 100));
  machine m;
  for (uint32_t k = 0; machine_make(&m, k); ++k) {
    static const uint32_t narrow[3] = {OZ_NARROW, 128, 1};
    const char *build_name = name(&m);
    uint32_t wide[3];
    for (int n = 0; n < 3; ++n) {
      if (n) CHECK(machine_make(&m, k));
      run_block(&m, narrow[n], &wide[n]);
      memcpy(kept[n], m.f.x, m.f.count * 4 * sizeof(float));
      memcpy(kept[n] + 4 * MOST, m.f.u, m.f.count * 4 * sizeof(float));
      machine_end(&m);
    }
    CHECK(wide[0] == 0 && wide[1] > 0 && wide[1] < cloud_count && wide[2] == cloud_count,
          "%s: %u, %u and %u rows are wide", build_name, wide[0], wide[1], wide[2]);
    for (int n = 1; n < 3; ++n)
      CHECK(memcmp(kept[0], kept[n], sizeof kept[0]) == 0, "%s: %u wide rows give other bits",
            build_name, wide[n]);
  }
}

/* More particles than 16 bits count: every row of a lattice follows from its place in it. */
OZ_CASE(more_particles_than_16_bits_count) {
  enum { SIDE = 44, ALL = SIDE * SIDE * SIDE };
  machine m;
  ooze_params params;
  ooze_message why = {""};
  CHECK(machine_make(&m, ooze_backend_count() > 1 ? 1 : 0)); /* the scalar build is slow */
  oz_backend *b = &m.cpu->base;
  CHECK(b->table->resize(b, ALL, &why) == OOZE_OK, "%s", why.text);
  b->table->frame(b, &m.f);
  for (uint32_t i = 0; i < ALL; ++i) {
    for (uint32_t c = 0; c < 4; ++c) m.f.u[4 * (size_t)i + c] = 0;
    m.f.x[4 * (size_t)i] = separation * (float)(i % SIDE),
              m.f.x[4 * (size_t)i + 1] = separation * (float)(i / SIDE % SIDE);
    m.f.x[4 * (size_t)i + 2] = separation * (float)(i / (SIDE * SIDE)),
                          m.f.x[4 * (size_t)i + 3] = 0;
    m.f.id[i] = i, m.f.rank[i] = i;
  }
  ooze_params_default(&params);
  oz_frame_constants(&m.f, &params, separation, 0.001f, 0);
  CHECK(b->table->sort(b, &m.f, &why) == OOZE_OK, "%s", why.text);
  build(&m);
  const uint32_t wide = wide_rows(&m.f);
  CHECK(wide > ALL / 100 && wide < ALL, "%u rows of %u are wide", wide, ALL);
  for (uint32_t i = 0; i < ALL; ++i) {
    const uint32_t id = (uint32_t)m.f.id[i];
    const int at[3] = {(int)(id % SIDE), (int)(id / SIDE % SIDE), (int)(id / (SIDE * SIDE))};
    uint32_t want = 0, got = 0;
    for (int z = -2; z <= 2; ++z)
      for (int y = -2; y <= 2; ++y)
        for (int x = -2; x <= 2; ++x)
          want += x * x + y * y + z * z <= 4 && (x || y || z) && at[0] + x >= 0 &&
                  at[0] + x < SIDE && at[1] + y >= 0 && at[1] + y < SIDE && at[2] + z >= 0 &&
                  at[2] + z < SIDE;
    for (uint32_t k = 0; k < m.f.start_length[i]; ++k) {
      const uint32_t j = oz_neighbour(&m.f, i, k);
      CHECK(j < ALL && distance2(m.f.x, i, j) < (double)m.f.h2, "row %u names %u", i, j);
      got += j != i;
    }
    CHECK(got == want && m.f.neighbours[i] == want, "row %u has %u of %u neighbours", i, got, want);
  }
  machine_end(&m);
}

/* ---- the order --------------------------------------------------------------------------- */

static void cell_of(const machine *m, uint32_t i, int32_t out[3]) {
  for (uint32_t c = 0; c < 3; ++c)
    out[c] = (int32_t)floorf(m->f.x[4 * (size_t)i + c] * (1.0f / m->f.cell));
}
/* a before b on the curve: bits of the cells from the highest, z before y before x. */
static int before(const int32_t a[3], const int32_t b[3]) {
  for (int bit = 20; bit >= 0; --bit)
    for (int c = 2; c >= 0; --c) {
      int one = (a[c] + OZ_CELL_BIAS) >> bit & 1, two = (b[c] + OZ_CELL_BIAS) >> bit & 1;
      if (one != two) return one < two ? -1 : 1;
    }
  return 0;
}

OZ_CASE(the_order_is_by_cell_and_id_whatever_it_was_before) {
  machine m;
  static uint32_t order[MOST];
  static uint64_t first[MOST];
  start();
  put_cloud(2100, 8, -3, 2, 1); /* several chunks */
  put_cloud(40, 1e5f, 0, 0, 0);
  /* in no order */
  for (uint32_t k = 0; k < cloud_count; ++k)
    cloud_id[k] = ((uint64_t)k * 2654435761u) % 4294967291u;
  for (uint32_t build_index = 0; machine_make(&m, build_index); ++build_index) {
    for (uint32_t turn = 0; turn < 3; ++turn) {
      for (uint32_t k = 0; k < cloud_count; ++k) order[k] = turn == 1 ? cloud_count - 1 - k : k;
      if (turn == 2)
        for (uint32_t k = cloud_count - 1; k > 0; --k) {
          uint32_t other = (uint32_t)((double)(k + 1) * 0.5 * (1 + (double)random_float())),
                   t = order[k];
          if (other > k) other = k;
          order[k] = order[other], order[other] = t;
        }
      prepare(&m, order, 0.001f);
      const oz_frame *f = &m.f;
      for (uint32_t i = 0; i < f->count; ++i) {
        if (turn == 0 && build_index == 0) first[i] = f->id[i];
        CHECK(first[i] == f->id[i], "%s, turn %u: place %u has id %llu, was %llu", name(&m), turn,
              i, (unsigned long long)f->id[i], (unsigned long long)first[i]);
        /* all of a particle came along */
        uint32_t k = f->rank[i];
        uint64_t id = f->id[i];
        CHECK(k < cloud_count && cloud_id[k] == id, "place %u: rank %u", i, k);
        for (uint32_t c = 0; c < 3; ++c) CHECK(f->x[4 * (size_t)i + c] == cloud[k][c]);
        for (uint32_t c = 0; c < 4; ++c)
          CHECK(f->u[4 * (size_t)i + c] == 1e-6f * (float)(id % 4096) + (float)c * 1e-3f);
        for (uint32_t c = 0; c < 6; ++c)
          CHECK(f->q[(size_t)c * f->stride + i] == (float)(id + 10000 * c));
        for (uint32_t c = 0; c < 3; ++c)
          CHECK(f->force[(size_t)c * f->stride + i] == (float)(id + 10000 * c));
        CHECK(f->relaxation_time[i] == (float)id && f->compliance[i] == (float)(id + 1) &&
              f->viscosity[i] == (float)(id + 2) && f->density[i] == (float)(id + 3) &&
              f->temperature[i] == (float)(id + 4));
        CHECK(f->material[i] == (uint32_t)id + 1 && f->source[i] == (uint32_t)id + 2);
        if (i == 0) continue;
        int32_t a[3], b[3];
        cell_of(&m, i - 1, a), cell_of(&m, i, b);
        int which = before(a, b);
        CHECK(which < 0 || (which == 0 && f->id[i - 1] < id),
              "%s: places %u and %u: cells %d %d %d and %d %d %d", name(&m), i - 1, i, a[0], a[1],
              a[2], b[0], b[1], b[2]);
      }
    }
    machine_end(&m);
  }
}

OZ_TEST_MAIN()
