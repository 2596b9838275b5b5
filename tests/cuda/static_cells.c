/* Pairs that density rows leave out (OZ_MIN_APPROACH): on the CPU and as CUDA's loops, with a table
 * of cells and by sorting. SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "physics/rows.h"

#include "cuda/compare.h"

#include "check.h"

enum { EDGE = 14, MOST = 2 * EDGE * EDGE * EDGE };
static const float D = 0.01f;

static uint32_t seed;
static float uniform(void) { /* -1 to 1 */
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

/* by rank: start, m/s, and where density_list finds them */
static float place[MOST][4], speed[MOST][4], to[MOST][3];
static uint32_t count;
static void put(float x, float y, float z) { /* m */
  CHECK(count < MOST);
  place[count][0] = x, place[count][1] = y, place[count][2] = z;
  memset(speed[count], 0, sizeof speed[count]);
  memcpy(to[count], place[count], sizeof to[count]);
  count++;
}
static double apart(const float *a, const float *b) {
  double s = 0.0;
  for (int k = 0; k < 3; k++) s += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
  return sqrt(s);
}

enum { SCALAR, VECTOR, TABLE, SORTED, WAYS };
static const char *const names[WAYS] = {"scalar", "vector", "loops, table", "loops, sorted"};
typedef struct machine {
  oz_memory memory;
  oz_backend *b;
  oz_frame f;
  int loops;
  uint32_t at[MOST]; /* by rank */
} machine;
/* The widest build of the CPU that this machine runs. */
static uint32_t widest(void) {
  uint32_t isa = OOZE_ISA_SCALAR;
  for (uint32_t k = 0; k < ooze_backend_count(); k++) {
    ooze_backend_info info;
    ooze_backend_info_default(&info);
    CHECK(ooze_backend_get(k, &info) == OOZE_OK);
    if (info.backend == OOZE_BACKEND_CPU && info.usable) isa = info.isa;
  }
  return isa;
}
static void fill(machine *m, int way) {
  static float q[6 * MOST], compliance[MOST], density[MOST];
  static uint32_t rank[MOST];
  static uint64_t id[MOST];
  oz_backend_desc desc;
  ooze_message why = {""};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(&m->memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = &m->memory, desc.tasks = OOZE_TASKS_SHUFFLED, desc.threads = 1, desc.device = -1;
  desc.isa = way == SCALAR ? OOZE_ISA_SCALAR : widest();
  m->loops = way >= TABLE;
  setenv("OOZE_CUDA_DEBUG_DISABLE", way == SORTED ? "cell_table" : "", 1);
  CHECK((m->loops ? oz_cuda_host_backend_create : oz_cpu_backend_create)(&desc, &m->b, &why) >= 0,
        "%s", why.text);
  unsetenv("OOZE_CUDA_DEBUG_DISABLE");
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < 6; k++) q[k * count + i] = k < 3;
    compliance[i] = 1e-4f, density[i] = 1000.0f, rank[i] = i, id[i] = i + 1;
  }
  const struct {
    oz_field field;
    const void *from;
  } of[] = {{OZ_FIELD_X, place},
            {OZ_FIELD_U, speed},
            {OZ_FIELD_Q, q},
            {OZ_FIELD_COMPLIANCE, compliance},
            {OZ_FIELD_DENSITY, density},
            {OZ_FIELD_RANK, rank},
            {OZ_FIELD_ID, id}};
  CHECK(m->b->table->resize(m->b, count, &why) >= 0, "%s", why.text);
  for (size_t k = 0; k < sizeof of / sizeof *of; k++)
    CHECK(m->b->table->upload(m->b, of[k].field, 0, count, of[k].from, &why) >= 0, "%s", why.text);
  const oz_matter matter = {.density = 1000.0f};
  CHECK(m->b->table->matter(m->b, &matter, 1, &why) >= 0, "%s", why.text);
}
/* Lists at the start, everything moved, the density list. calm: 1, or 0 for a model that wants all
 * pairs. */
static void look(machine *m, int way, int calm) {
  ooze_message why = {""};
  ooze_params params;
  oz_build_result built = {0, 0.0};
  static uint32_t rank[MOST];
  fill(m, way);
  oz_frame *f = &m->f;
  m->b->table->frame(m->b, f);
  ooze_params_default(&params);
  oz_frame_constants(f, &params, D, 1.0f / 240.0f, 0.0);
  f->reach = 1.01f * f->h,
  f->min_approach2 = calm ? OZ_MIN_APPROACH * OZ_MIN_APPROACH * f->h2 : 0.0f;
  CHECK(m->b->table->sort(m->b, f, &why) >= 0 && m->b->table->lists(m->b, f, &built, &why) >= 0,
        "%s", why.text);
  CHECK(m->b->table->download(m->b, OZ_FIELD_RANK, 0, count, rank, &why) >= 0, "%s", why.text);
  for (uint32_t i = 0; i < count; i++) {
    m->at[rank[i]] = i;
    for (uint32_t c = 0; c < 3; c++)
      f->p[4 * i + c] = to[rank[i]][c], f->y[4 * i + c] = f->p[4 * i + c] - f->x[4 * i + c];
  }
  CHECK(m->b->table->density_list(m->b, f, &built, &why) >= 0, "%s", why.text);
}
/* Entry k of row i, of the start neighbour list or of the density list's further entries. */
static uint32_t entry(const machine *m, int further, uint32_t i, uint32_t k) {
  const oz_frame *f = &m->f;
  if (!m->loops) {
    const oz_row row = further ? oz_row_of(f->density_entries[1], f->density_row[1], i)
                               : oz_row_of(f->start_entries, f->start_row, i);
    uint32_t j;
    oz_row_j(&row, k, 1, &j);
    return j;
  }
  const uint32_t *starts = further ? f->density_row[1] : f->start_row;
  const size_t e = ((size_t)starts[i / 32] + (k & ~3u)) * 32 + (i & 31u) * 4 + (k & 3u);
  if (further) return f->density_list[1][e];
  return f->start_entries ? f->share_list[f->share_first[2 * (i / OZ_SHARE)] + f->start_entries[e]]
                          : f->start_list[e];
}
static uint32_t length(const machine *m, int further, uint32_t i) {
  if (further && !(m->loops ? (const void *)m->f.density_list[1] : m->f.density_entries[1]))
    return 0;
  return (further ? m->f.density_length[1] : m->f.start_length)[i];
}
/* How often particle `other` is in the row of `one` (ranks). */
static uint32_t listed(const machine *m, int further, uint32_t one, uint32_t other) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < length(m, further, m->at[one]); k++)
    n += entry(m, further, m->at[one], k) == m->at[other];
  return n;
}
static void end(machine *m) { m->b->table->destroy(m->b); }
/* Rows through the table of cells and by sorting are the same, entry by entry; returns how many
 * entries there are. */
static uint32_t rows_alike(const char *what, int calm) {
  static machine by[2];
  uint32_t n = 0;
  for (int k = 0; k < 2; k++) look(&by[k], k ? SORTED : TABLE, calm);
  CHECK(!memcmp(by[0].at, by[1].at, count * sizeof *by[0].at), "%s: particles are in another order",
        what);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t here = length(&by[0], 1, i), there = length(&by[1], 1, i);
    CHECK(here == there, "%s: row %u has %u and %u entries", what, i, here, there);
    for (uint32_t k = 0; k < here; k++) {
      const uint32_t a = entry(&by[0], 1, i, k), b = entry(&by[1], 1, i, k);
      CHECK(a == b, "%s: entry %u of row %u is %u and %u", what, k, i, a, b);
    }
    n += here;
  }
  for (int k = 0; k < 2; k++) end(&by[k]);
  return n;
}
static uint32_t same_rows(const char *what) { return rows_alike(what, 1); }
/* A block of edge^3 from a corner, with particles that are off by `off`. */
static void block(float x, float y, float z, int edge, float off) {
  for (int i = 0; i < edge * edge * edge; i++)
    put(x + D * ((float)(i % edge) + off * uniform()),
        y + D * ((float)(i / edge % edge) + off * uniform()),
        z + D * ((float)(i / edge / edge) + off * uniform()));
}

OZ_CASE(a_pair_that_creeps_in_is_listed_in_the_next_substep) {
  static machine m;
  const float h = 2.2f * D;
  for (int way = 0; way < WAYS; way++) {
    count = 0;
    put(0.0f, 0.0f, 0.0f), put(1.03f * h, 0.0f, 0.0f);
    /* and one that comes fast: not all is calm */
    put(0.0f, 20.0f * D, 0.0f), put(0.0f, 20.0f * D + 1.09f * h, 0.0f);
    to[0][0] += 0.025f * h, to[1][0] -= 0.025f * h;
    to[3][1] -= 0.12f * h;
    look(&m, way, 1);
    CHECK(!listed(&m, 0, 0, 1) && !listed(&m, 1, 0, 1) && !listed(&m, 1, 1, 0),
          "%s: 0.98 h, and 0.05 h nearer than before", names[way]);
    CHECK(listed(&m, 1, 2, 3) == 1 && listed(&m, 1, 3, 2) == 1, "%s: 0.97 h, and 0.12 h nearer",
          names[way]);
    end(&m);
    look(&m, way, 0);
    CHECK(listed(&m, 1, 0, 1) == 1 && listed(&m, 1, 1, 0) == 1 && listed(&m, 1, 2, 3) == 1,
          "%s: other models list both", names[way]);
    end(&m);
    for (uint32_t i = 0; i < count; i++) memcpy(place[i], to[i], sizeof to[i]);
    look(&m, way, 1);
    CHECK(listed(&m, 0, 0, 1) == 1 && listed(&m, 0, 1, 0) == 1 && listed(&m, 0, 2, 3) == 1,
          "%s: the next substep has both", names[way]);
    CHECK(!listed(&m, 1, 0, 1) && !listed(&m, 1, 2, 3), "%s: and once", names[way]);
    end(&m);
  }
}

/* Regions that rest, that fall together, that shear and that boil side by side. */
static void put_regions(void) {
  seed = 5, count = 0;
  for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
    const float x = (float)(i % EDGE), y = (float)(i / EDGE % EDGE), z = (float)(i / EDGE / EDGE);
    put(D * (x + 0.3f * uniform()), D * (y + 0.3f * uniform()), D * (z + 0.3f * uniform()));
    float *p = to[count - 1];
    const int part = (int)(4.0f * y / (float)EDGE);
    for (int k = 0; k < 3; k++) p[k] += (part == 3 ? 0.4f : 0.01f) * D * uniform();
    if (part == 1) p[1] -= 5.0f * D, p[0] += 20.0f * D; /* away; alone there */
    if (part == 2) p[0] += 0.05f * D * z * z;
  }
  for (int i = 0; i < 500; i++) { /* a swarm from afar that comes to rest among the others */
    put(D * (30.0f + 3.0f * uniform()), D * (3.0f * uniform()), D * (8.0f + 3.0f * uniform()));
    to[count - 1][0] -= 25.0f * D;
  }
  for (int i = 0; i < 2000; i++) { /* by themselves: fluid at rest, and fluid that falls as one */
    const int falls = i / 1000;
    put(D * ((float)(i % 10) + 0.3f * uniform()),
        D * ((falls ? 60.0f : 90.0f) + (float)(i / 10 % 10) + 0.3f * uniform()),
        D * ((float)(i / 100 % 10) + 0.3f * uniform()));
    for (int k = 0; k < 3; k++) to[count - 1][k] += 0.02f * D * uniform();
    if (falls) to[count - 1][1] -= 3.0f * D;
  }
}

/* The rows hold the entries of their definition, and the same on all. */
OZ_CASE(rows_hold_what_is_not_calm_and_nothing_else) {
  static machine m;
  const double h = 2.2 * (double)D;
  put_regions();
  uint32_t want = 0, unsure = 0, calm = 0, got[WAYS];
  for (int way = 0; way < WAYS; way++) {
    got[way] = 0;
    look(&m, way, 1);
    for (uint32_t i = 0; i < count; i++) {
      static uint8_t row[MOST];
      memset(row, 0, sizeof row);
      for (uint32_t k = 0; k < length(&m, 1, m.at[i]); k++) {
        const uint32_t e = entry(&m, 1, m.at[i], k);
        CHECK(e < count, "%s: row %u names %u", names[way], i, e);
        if (e != m.at[i]) row[e]++, got[way]++;
      }
      for (uint32_t j = 0; j < count; j++) {
        /* neither listed nor near */
        if (!row[m.at[j]] && fabs((double)to[i][1] - (double)to[j][1]) > 1.02 * h) continue;
        const float a[3] = {to[i][0] - place[i][0], to[i][1] - place[i][1], to[i][2] - place[i][2]};
        const float b[3] = {to[j][0] - place[j][0], to[j][1] - place[j][1], to[j][2] - place[j][2]};
        const double was = apart(place[i], place[j]) / h, is = apart(to[i], to[j]) / (1.01 * h),
                     moved = apart(a, b) / ((double)OZ_MIN_APPROACH * h);
        const uint32_t n = row[m.at[j]];
        if (i == j || was < 1.0 - 1e-5 || is > 1.0 + 1e-5 || moved < 1.0 - 1e-4) {
          if (way == 0 && i != j && was >= 1.0 && is <= 1.0) calm++;
          CHECK(!n,
                "%s: %u is in the row of %u: %.4f h apart at the start, %.4f of reach now, moved "
                "by %.4f of what is calm",
                names[way], j, i, was, is, moved);
        } else if (was > 1.0 + 1e-5 && is < 1.0 - 1e-5 && moved > 1.0 + 1e-4) {
          want += way == 0;
          CHECK(n == 1,
                "%s: %u is %u times in the row of %u: %.4f h apart at the start, %.4f of reach "
                "now, moved by %.4f of what is calm",
                names[way], j, n, i, was, is, moved);
        } else
          unsure += way == 0;
      }
    }
    end(&m);
  }
  printf("  %u pairs are listed, %u are calm, %u within roundings\n", want, calm, unsure);
  CHECK(want > 5000 && calm > 2000 && unsure < 20, "%u, %u and %u", want, calm, unsure);
  for (int way = 0; way < WAYS; way++)
    CHECK(got[way] >= want && got[way] <= want + unsure, "%s: %u", names[way], got[way]);
}

/* Two blocks that fly at each other from beyond h meet half a separation deep within one substep:
 * the density constraint feels them in this one, not in the next, and one gets the momentum that
 * the other loses. */
OZ_CASE(blocks_that_meet_within_a_substep_push_each_other_away) {
  static machine m;
  enum { SIDE = 6 };
  const float dt = 1.0f / 240.0f, gap = 2.4f * D, way_of_each = 0.95f * D;
  for (int way = 0; way < WAYS; way++) {
    count = 0;
    for (int i = 0; i < 2 * SIDE * SIDE * SIDE; i++) {
      const int second = i / (SIDE * SIDE * SIDE);
      put(D * (float)(i % SIDE) + (float)second * (D * (SIDE - 1) + gap),
          D * (float)(i / SIDE % SIDE), D * (float)(i / SIDE / SIDE % SIDE));
      speed[count - 1][0] = (second ? -1.0f : 1.0f) * way_of_each / dt;
    }
    fill(&m, way);
    ooze_params params;
    ooze_message why = {""};
    oz_step step;
    static float x[MOST][4], u[MOST][4];
    static uint32_t rank[MOST];
    ooze_params_default(&params);
    for (int k = 0; k < 3; k++) params.gravity[k] = 0.0f;
    params.velocity_iterations = 3, params.position_iterations = 3;
    memset(&step, 0, sizeof step);
    step.backend = m.b, step.params = &params, step.separation = D;
    step.velocity_iterations = params.velocity_iterations;
    step.position_iterations = params.position_iterations;
    CHECK(oz_conformation_substep(&step, dt, &why) == OOZE_OK && !step.bad, "%s", why.text);
    CHECK(m.b->table->download(m.b, OZ_FIELD_RANK, 0, count, rank, &why) >= 0 &&
              m.b->table->download(m.b, OZ_FIELD_X, 0, count, x, &why) >= 0 &&
              m.b->table->download(m.b, OZ_FIELD_U, 0, count, u, &why) >= 0,
          "%s", why.text);
    double low = 1e9, high = -1e9, momentum = 0.0, fastest = 0.0;
    for (uint32_t i = 0; i < count; i++) {
      if (rank[i] >= count / 2)
        low = fmin(low, (double)x[i][0]);
      else
        high = fmax(high, (double)x[i][0]);
      momentum += (double)u[i][0], fastest = fmax(fastest, fabs((double)u[i][0]));
    }
    const double free_gap = (double)gap - 2.0 * (double)way_of_each;
    printf("  %s: %.3f d between them, %.3f in free flight\n", names[way], (low - high) / (double)D,
           free_gap / (double)D);
    CHECK(low - high > free_gap + 0.05 * (double)D,
          "%s: %.3f d between them; in free flight it would be %.3f", names[way],
          (low - high) / (double)D, free_gap / (double)D);
    CHECK_NEAR(momentum / (fastest * count), 0.0, 1e-5,
               "pushes are equal and opposite, summed in single precision");
    end(&m);
  }
}

/* Clusters that rest, turn, stretch and fly through each other, near and far apart: the same pairs
 * on all, however cells are found and sifted. */
OZ_CASE(clusters_on_their_way_have_the_same_rows_on_all) {
  static machine m;
  static uint32_t rank_of[MOST], sum[WAYS][MOST];
  uint64_t total = 0;
  for (uint32_t trial = 1; trial <= 10; trial++) {
    seed = trial * 7919u, count = 0;
    for (uint32_t c = 0; c < 3 + trial % 6; c++) {
      const int edge = 6 + (int)((trial + c) % 5);
      float at[3], v[3], g[9];
      for (int k = 0; k < 3; k++)
        at[k] = (trial % 5 ? 25.0f : 300.0f) * D * uniform(),
        v[k] = (c % 3 ? 0.0f : 6.0f) * D * uniform();
      for (int k = 0; k < 9; k++)
        g[k] = (c % 2 ? 0.01f : 0.3f) * (trial % 4 ? 0.1f : 1.0f) * uniform();
      for (int i = 0; i < edge * edge * edge; i++) {
        const float r[3] = {D * ((float)(i % edge) + 0.3f * uniform()),
                            D * ((float)(i / edge % edge) + 0.3f * uniform()),
                            D * ((float)(i / edge / edge) + 0.3f * uniform())};
        if (count == MOST) break;
        put(at[0] + r[0], at[1] + r[1], at[2] + r[2]);
        for (int k = 0; k < 3; k++)
          to[count - 1][k] += v[k] + g[3 * k] * r[0] + g[3 * k + 1] * r[1] + g[3 * k + 2] * r[2] +
                              0.01f * D * uniform();
      }
    }
    for (int way = VECTOR; way < WAYS; way++) {
      look(&m, way, 1);
      for (uint32_t k = 0; k < count; k++) rank_of[m.at[k]] = k;
      for (uint32_t i = 0; i < count; i++) { /* a sum over the row, in any order */
        sum[way][i] = 0;
        for (uint32_t k = 0; k < length(&m, 1, m.at[i]); k++) {
          const uint32_t e = entry(&m, 1, m.at[i], k);
          if (e != m.at[i]) sum[way][i] += 2654435761u * (rank_of[e] + 1), total += way == VECTOR;
        }
      }
      end(&m);
    }
    uint32_t differ[WAYS] = {0};
    for (uint32_t i = 0; i < count; i++)
      for (int way = TABLE; way < WAYS; way++)
        differ[way] += sum[way][i] != sum[way == TABLE ? VECTOR : TABLE][i];
    CHECK(differ[TABLE] <= 4 && !differ[SORTED],
          "trial %u, %u particles: %u rows differ between CPU and loops (roundings), %u between "
          "table and sort",
          trial, count, differ[TABLE], differ[SORTED]);
  }
  CHECK(total > 20000, "%llu entries in all", (unsigned long long)total);
}

/* A block flies up to another, wherever that stands among the cells that sift: pairs across the gap
 * alone are new. */
OZ_CASE(blocks_that_come_to_stand_face_to_face_find_each_other) {
  static machine m;
  enum { SIDE = 8, ALL = 2 * SIDE * SIDE * SIDE };
  for (int trial = 0; trial < 24; trial++) {
    const float from = 0.7f * D * (float)trial, away = 4.0f * D, gap = 1.5f * D;
    uint32_t want = 0, got = 0;
    count = 0;
    for (int i = 0; i < ALL; i++) {
      const int second = i / (ALL / 2);
      put(from + D * (float)(i % SIDE) + (float)second * (D * (SIDE - 1) + gap + away),
          D * (float)(i / SIDE % SIDE), D * (float)(i / SIDE / SIDE % SIDE));
      if (second) to[count - 1][0] -= away;
    }
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < count; j++)
        want += (i < ALL / 2) != (j < ALL / 2) && apart(to[i], to[j]) < 1.01 * 2.2 * (double)D;
    look(&m, SORTED, 1);
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < length(&m, 1, i); k++) got += entry(&m, 1, i, k) != i;
    CHECK(got == want && want > 900, "%d: %u entries; there are %u", trial, got, want);
    end(&m);
  }
}

/* Where a table holds the cells, only those that are stirred have places. */
OZ_CASE(rows_do_not_depend_on_how_much_is_stirred) {
  const float h = 2.2f * D;
  seed = 11, count = 0;
  block(0.0f, 0.0f, 0.0f, 12, 0.3f);
  CHECK(same_rows("nobody") == 0);
  to[700][0] += 0.5f * h; /* one among the others */
  CHECK(same_rows("one") > 4);
  memcpy(to[700], place[700], sizeof to[700]);
  /* all a little: no two neighbours are stirred */
  for (uint32_t i = 0; i < count; i++) to[i][1] += 0.4f * h * place[i][0] / (12.0f * D);
  CHECK(same_rows("sheared slowly") == 0);
  CHECK(rows_alike("sheared slowly, for a model that lists all pairs", 0) > 1000);
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) to[i][k] = place[i][k] + 0.3f * h * uniform();
  CHECK(same_rows("all") > 10000);
  for (uint32_t i = 0; i < count; i++)
    /* into one cell: more candidates than masks, more neighbours than a row holds */
    for (int k = 0; k < 3; k++) to[i][k] = 6.0f * D + 0.05f * D * uniform();
  CHECK(same_rows("one cell") > 10000);
}
OZ_CASE(rows_at_and_beyond_the_edge_of_the_box) {
  const float h = 2.2f * D;
  seed = 12, count = 0;
  block(0.0f, 0.0f, 0.0f, 9, 0.2f);
  const uint32_t n = count;
  /* corners and faces that are stirred, one after the other */
  for (int face = 0; face < 6; face++) {
    const int axis = face / 2;
    for (uint32_t i = 0; i < n; i++) {
      memcpy(to[i], place[i], sizeof to[i]);
      if ((place[i][axis] > 4.0f * D) == (face & 1))
        to[i][(axis + 1) % 3] += 0.2f * h * uniform(), to[i][axis] += (face & 1 ? 0.1f : -0.1f) * h;
    }
    CHECK(same_rows("a face") > 100, "%d", face);
  }
  /* farther than the two cells that the table has around the start: they share the outermost cells,
   * and meet there */
  for (uint32_t i = 0; i < n; i++) {
    memcpy(to[i], place[i], sizeof to[i]);
    if (place[i][0] > 7.5f * D)
      to[i][0] += 40.0f * D, to[i][1] = 4.0f * D + 0.3f * (place[i][1] - 4.0f * D);
    if (place[i][2] < 0.5f * D)
      to[i][2] -= 40.0f * D, to[i][1] = 4.0f * D + 0.3f * (place[i][1] - 4.0f * D);
  }
  CHECK(same_rows("beyond") > 1000);
}
/* A box of more cells than there are slots: cells that share one are far apart, and do not list
 * each other. */
OZ_CASE(cells_that_share_a_slot_have_rows_of_their_own) {
  const float cell = 1.01f * 1.01f * 2.2f * D;
  for (int turn = 0; turn < 3; turn++) {
    seed = 13, count = 0;
    /* 27 + 4 cells along each axis: 29,791; there are 16,384 and two a particle */
    put(0.0f, 0.0f, 0.0f), put(26.0f * cell, 26.0f * cell, 26.0f * cell);
    for (int c = 0; c < 4; c++) {
      float at[3] = {(2.0f + 16.0f * (float)(c & 1)) * cell, 4.0f * cell,
                     (3.0f + 16.0f * (float)(c >> 1)) * cell};
      const uint32_t first = count;
      block(at[turn], at[(turn + 1) % 3], at[(turn + 2) % 3], 7, 0.3f);
      for (uint32_t i = first; i < count && c != 1; i++) /* rests, falls as one, shears, boils */
        for (int k = 0; k < 3; k++)
          to[i][k] += c == 0   ? 0.0f
                      : c == 2 ? 0.4f * (place[i][(k + 1) % 3] - place[first][(k + 1) % 3])
                               : 0.3f * cell * uniform();
      for (uint32_t i = first; i < count && c == 1; i++) to[i][1] -= 2.0f * cell;
    }
    CHECK(2 * count + 16384 < 29791, "%u particles: slots enough for all cells", count);
    CHECK(same_rows("shared") > 1000);
  }
}

OZ_TEST_MAIN()
