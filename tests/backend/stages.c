/* Every stage of stages.def, in every vector build, against its scalar twin. SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS stages TIMEOUT 120
 *
 * The model runs on a backend that is two: each call goes to the scalar build and to the vector build. Before a stage
 * the scalar one's arrays are copied to the other, so that both start from the same numbers and what differs afterwards
 * is that stage's doing alone. Lists, and the gradients stored with them, are each build's own: their padding differs.
 */
#include "check.h"
#include "cpu/cpu.h"
#include "models/models.h"

/* ---- what is compared ----------------------------------------------------------------------------------------- */

typedef struct array {
  const char *name;
  size_t member; /* of oz_frame */
  uint32_t words;
  int record;       /* 1: n floats a particle; 0: n planes */
  int alive;        /* when: VELOCITY, ... */
  double tolerance; /* of the array's own size; 0: bits that must be equal */
  const char *why;
} array;
#define AT(m) #m, offsetof(oz_frame, m)
#define SUMS 2e-3, "a stored gradient may round to the neighbouring half: 2^-11 of one of 30 terms"
#define INVERSE 5e-3, "such sums, times an inverse or a rotation that comes of them"
#define FEW 2e-6, "a few roundings"
#define BITS 0, ""
/* Some arrays share memory, so which of two is alive depends on how far the substep is. */
enum { ALWAYS = 0, VELOCITY = 1, POSITION = 2, FILTER = 4 };
static const array arrays[] = {
    {AT(x), 4, 1, ALWAYS, FEW},
    {AT(u), 4, 1, ALWAYS, SUMS},
    {AT(q), 6, 0, ALWAYS, INVERSE},
    {AT(source), 1, 0, ALWAYS, BITS},
    {AT(omega), 1, 0, ALWAYS, FEW},
    {AT(a), 1, 0, ALWAYS, FEW},
    {AT(y), 4, 1, ALWAYS, INVERSE},
    {AT(y2), 4, 1, POSITION, INVERSE},
    {AT(p), 4, 1, ALWAYS, SUMS},
    {AT(dx), 4, 1, VELOCITY | POSITION, INVERSE},
    {AT(u2), 4, 1, FILTER, SUMS},
    {AT(A), 12, 1, ALWAYS, INVERSE},
    {AT(K), 6, 0, ALWAYS, SUMS},
    {AT(B), 6, 0, ALWAYS, INVERSE},
    {AT(sg), 3, 0, ALWAYS, SUMS},
    {AT(lam), 6, 0, ALWAYS, INVERSE},
    {AT(r), 6, 0, VELOCITY, INVERSE},
    {AT(pp), 6, 0, VELOCITY, INVERSE},
    {AT(aq), 6, 0, VELOCITY, INVERSE},
    {AT(rot), 4, 0, POSITION, INVERSE},
    {AT(wall_term), 4, 1, POSITION, SUMS},
    {AT(k_dens), 1, 0, ALWAYS, SUMS},
    {AT(rho), 1, 0, ALWAYS, SUMS},
    {AT(diag), 1, 0, ALWAYS, SUMS},
    {AT(row_sum), 1, 0, ALWAYS, SUMS},
    {AT(gate), 1, 0, ALWAYS, SUMS},
    {AT(neighbours), 1, 0, ALWAYS, BITS},
};
/* Moved from one build to the other, not compared: pu and pe are compared as the matrix that they stand for; the others
 * share their memory with one above. */
static const array carried[] = {{AT(pu), 4, 0, ALWAYS, BITS},        {AT(pe), 4, 0, ALWAYS, BITS},
                                {AT(tau), 1, 0, ALWAYS, BITS},       {AT(compliance), 1, 0, ALWAYS, BITS},
                                {AT(viscosity), 1, 0, ALWAYS, BITS}, {AT(density), 1, 0, ALWAYS, BITS},
                                {AT(force), 3, 0, ALWAYS, BITS}};
enum { ARRAYS = sizeof arrays / sizeof *arrays, CARRIED = sizeof carried / sizeof *carried };
/* All pointers to particle arrays, to be translated from one build to the other. */
static const size_t pointers[] = {
#define P(m) offsetof(oz_frame, m)
    P(x),     P(u),        P(q),       P(tau),  P(compliance), P(viscosity), P(density), P(temperature),
    P(force), P(material), P(source),  P(rank), P(id),         P(omega),     P(a),       P(y),
    P(y2),    P(p),        P(dx),      P(u2),   P(A),          P(K),         P(B),       P(sg),
    P(pu),    P(pe),       P(lam),     P(r),    P(pp),         P(aq),        P(rot),     P(k_dens),
    P(rho),   P(diag),     P(row_sum), P(gate), P(wall_term),  P(neighbours)};

static float *pointer(const oz_frame *f, size_t member) {
  float *p;
  memcpy(&p, (const char *)f + member, sizeof p);
  return p;
}

/* ---- the double backend --------------------------------------------------------------------------------------- */

typedef struct twin {
  oz_backend base;
  oz_cpu *plain, *vector;
  oz_frame lists; /* the vector build's own lists */
  oz_wall *wall;
  float *impulse;
  uint32_t *planes, *particle;
  uint64_t ran[OZ_STAGE_COUNT];
  double worst[OZ_STAGE_COUNT];  /* difference over tolerance */
  double coarse[OZ_STAGE_COUNT]; /* share of values whose difference is more than a fiftieth of it */
  double seen[ARRAYS];           /* size of each array at its largest */
  int phase;
} twin;
#define TWIN(b) ((twin *)(void *)(b))

/* f, as the vector build must see it: same constants and swaps, its own memory. */
static void translate(twin *t, const oz_frame *f, oz_frame *g) {
  *g = *f;
  for (size_t k = 0; k < sizeof pointers / sizeof *pointers; ++k) {
    ptrdiff_t offset = (char *)pointer(f, pointers[k]) - (char *)t->plain->block;
    char *there = (char *)t->vector->block + offset;
    memcpy((char *)g + pointers[k], &there, sizeof there);
  }
  const oz_frame *own = &t->lists;
  g->list_c = own->list_c, g->row_c = own->row_c, g->len_c = own->len_c, g->ghat = own->ghat;
  for (int k = 0; k < 2; ++k) g->list_d[k] = own->list_d[k], g->row_d[k] = own->row_d[k], g->len_d[k] = own->len_d[k];
  g->pad_weight = own->pad_weight;
  g->scalar = t->vector->scalar;
  g->wall = t->wall, g->wall_impulse = t->impulse, g->wall_planes = t->planes, g->wall_particle = t->particle;
}

static void copy_array(const array *a, const oz_frame *from, const oz_frame *to) {
  float *dst = pointer(to, a->member);
  const float *src = pointer(from, a->member);
  memcpy(dst, src, (size_t)from->stride * a->words * sizeof *dst);
}
static void copy_state(twin *t, const oz_frame *f, const oz_frame *g) {
  for (int k = 0; k < ARRAYS; ++k) copy_array(&arrays[k], f, g);
  for (int k = 0; k < CARRIED; ++k) copy_array(&carried[k], f, g);
  memcpy(t->vector->scalar, t->plain->scalar, sizeof t->plain->scalar);
  if (!f->wall_count) return;
  memcpy(t->wall, f->wall, f->wall_count * OZ_PLANES * sizeof *f->wall);
  memcpy(t->impulse, f->wall_impulse, f->wall_count * OZ_PLANES * 3 * sizeof *f->wall_impulse);
  memcpy(t->planes, f->wall_planes, f->wall_count * sizeof *f->wall_planes);
  memcpy(t->particle, f->wall_particle, f->wall_count * sizeof *f->wall_particle);
}

static double value(const array *a, const oz_frame *f, uint32_t i, uint32_t c) {
  const float *p = pointer(f, a->member);
  return (double)(a->record ? p[(size_t)i * a->words + c] : p[(size_t)c * f->stride + i]);
}

static void compare(twin *t, const char *stage, const char *name, uint32_t i, uint32_t c, double one, double other,
                    double size, double tolerance, const char *why, double *worst) {
  (void)t;
  if (!isfinite(one) && !isfinite(other)) return; /* memory that nobody has written yet */
  double off = fabs(one - other) / (tolerance * size);
  if (off > *worst) *worst = off;
  CHECK(off <= 1, "%s: %s[%u].%u: scalar %.9g, vector %.9g, allowed %.3g of %.3g (%s)", stage, name, i, c, one, other,
        tolerance, size, why);
}

/* The preconditioner's matrix U diag(e) U^T: the frame alone is not unique. */
static double frame_matrix(const oz_frame *f, uint32_t i, int r, int c) {
  double q[4], e[3];
  for (int k = 0; k < 4; ++k) q[k] = (double)f->pu[(size_t)k * f->stride + i];
  for (int k = 0; k < 3; ++k) e[k] = (double)f->pe[(size_t)k * f->stride + i];
  double x = q[0], y = q[1], z = q[2], w = q[3];
  double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                    {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                    {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += m[r][k] * e[k] * m[c][k];
  return sum;
}

/* A tensor that grew this far within one substep came through an inverse near its pole: nothing can be said of it. */
static int stretched(const oz_frame *f, uint32_t i) {
  return f->q[i] + f->q[f->stride + i] + f->q[2 * (size_t)f->stride + i] > 9;
}

static void compare_all(twin *t, const oz_frame *f, const oz_frame *g, oz_stage stage) {
  const char *name = oz_stage_names[stage];
  double *worst = &t->worst[stage];
  for (int k = 0; k < ARRAYS; ++k) {
    const array *a = &arrays[k];
    if (a->alive && !(a->alive & t->phase)) continue;
    if (a->tolerance == 0) {
      const uint32_t *one = (const uint32_t *)(const void *)pointer(f, a->member);
      const uint32_t *two = (const uint32_t *)(const void *)pointer(g, a->member);
      for (uint32_t i = 0; i < f->count; ++i)
        CHECK(one[i] == two[i], "%s: %s[%u]: scalar %u, vector %u", name, a->name, i, one[i], two[i]);
      continue;
    }
    double size = 1e-30; /* root mean square: the largest would hide what happens to the rest */
    for (uint32_t c = 0; c < a->words; ++c)
      for (uint32_t i = 0; i < f->count; ++i) {
        double v = value(a, f, i, c);
        if (isfinite(v)) size += v * v;
      }
    size = sqrt(size / ((double)f->count * a->words));
    /* what an iteration has brought to nothing is compared with what it began as */
    if (size > t->seen[k]) t->seen[k] = size;
    size = fmax(size, 1e-4 * t->seen[k]);
    uint32_t coarse = 0;
    for (uint32_t c = 0; c < a->words; ++c)
      for (uint32_t i = 0; i < f->count; ++i) {
        double one = value(a, f, i, c), other = value(a, g, i, c);
        if (a->member == offsetof(oz_frame, q) && stretched(f, i)) continue;
        compare(t, name, a->name, i, c, one, other, fmax(size, fabs(one)), a->tolerance, a->why, worst);
        coarse += fabs(one - other) > 0.02 * a->tolerance * fmax(size, fabs(one));
      }
    double share = (double)coarse / ((double)f->count * a->words);
    if (share > t->coarse[stage]) t->coarse[stage] = share;
    CHECK(share < 0.1, "%s: %s: %.3f of the values differ by more than a few roundings", name, a->name, share);
  }
  if (stage == OZ_STAGE_conform_update) {
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < f->count; ++i) left_out += (uint32_t)stretched(f, i);
    CHECK(left_out < f->count / 10, "scheme %u: %u of %u tensors are too stretched to compare", f->scheme, left_out,
          f->count);
  }
  if (stage == OZ_STAGE_bound || stage == OZ_STAGE_gradient)
    for (uint32_t i = 0; i < f->count; ++i)
      for (int c = 0; c < 9; ++c) {
        double one = frame_matrix(f, i, c / 3, c % 3), other = frame_matrix(g, i, c / 3, c % 3);
        double size =
            fabs((double)f->pe[i]) + fabs((double)f->pe[f->stride + i]) + fabs((double)f->pe[2 * f->stride + i]);
        if (isfinite(one) && size > 0)
          compare(t, name, "pu pe", i, (uint32_t)c, one, other, size, 1e-3, "a frame found by iteration", worst);
      }
  for (int k = 0; k < OZ_SCALAR_COUNT; ++k)
    compare(t, name, "scalar", (uint32_t)k, 0, f->scalar[k], g->scalar[k], fmax(fabs(f->scalar[k]), 1e-20), 1e-4,
            "a sum over all particles", worst);
  for (uint32_t k = 0; k < f->wall_count * OZ_PLANES * 3; ++k)
    if (k / 3 % OZ_PLANES < f->wall_planes[k / 3 / OZ_PLANES])
      compare(t, name, "wall impulse", k / 3, k % 3, (double)f->wall_impulse[k], (double)g->wall_impulse[k],
              fmax(1e-6, fabs((double)f->wall_impulse[k])), 1e-3, "scalar code in both, compiled for another machine",
              worst);
}

static ooze_result twin_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->run(&t->plain->base, f, stage, sums, why));
  OZ_TRY(t->vector->base.table->run(&t->vector->base, &g, stage, NULL, why));
  t->ran[stage] += f->count;
  if (stage == OZ_STAGE_advance || stage == OZ_STAGE_paper_volume) t->phase = POSITION;
  if (stage == OZ_STAGE_filter_gradient) t->phase = FILTER;
  compare_all(t, f, &g, stage);
  return OOZE_OK;
}

static void twin_frame(oz_backend *b, oz_frame *f) {
  oz_cpu *plain = TWIN(b)->plain, *vector = TWIN(b)->vector;
  oz_frame g;
  plain->base.table->frame(&plain->base, f);
  vector->base.table->frame(&vector->base, &g);
  CHECK_EQ(f->count, g.count);
  CHECK_EQ(f->stride, g.stride);
}

static ooze_result twin_sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  t->phase = VELOCITY;
  memcpy(g.id, f->id, f->count * sizeof *f->id);
  memcpy(g.material, f->material, f->count * 4);
  OZ_TRY(t->plain->base.table->sort(&t->plain->base, f, why));
  OZ_TRY(t->vector->base.table->sort(&t->vector->base, &g, why));
  for (uint32_t i = 0; i < f->count; ++i) CHECK_EQ(f->id[i], g.id[i]);
  return OOZE_OK;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}
/* The neighbours of one row without the padding, which repeats the particle itself. */
static uint32_t row(uint32_t i, const uint32_t *list, const uint32_t *rows, const uint16_t *lengths, uint32_t *out,
                    uint32_t n) {
  for (uint32_t k = 0; list && k < lengths[i]; ++k)
    if (list[rows[i] + k] != i) out[n++] = list[rows[i] + k];
  return n;
}
static void compare_rows(const char *name, uint32_t i, uint32_t *a, uint32_t na, uint32_t *b, uint32_t nb) {
  qsort(a, na, sizeof *a, by_number);
  qsort(b, nb, sizeof *b, by_number);
  CHECK(na == nb && memcmp(a, b, na * sizeof *a) == 0,
        "%s of particle %u: %u entries, the vector build has %u or others", name, i, na, nb);
}

static ooze_result twin_lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  twin *t = TWIN(b);
  oz_build_result other = {0, 0};
  uint32_t one[1024], two[1024];
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->lists(&t->plain->base, f, out, why));
  OZ_TRY(t->vector->base.table->lists(&t->vector->base, &g, &other, why));
  t->lists = g;
  for (uint32_t i = 0; i < f->count; ++i) {
    CHECK_EQ(f->neighbours[i], g.neighbours[i]);
    compare_rows("list", i, one, row(i, f->list_c, f->row_c, f->len_c, one, 0), two,
                 row(i, g.list_c, g.row_c, g.len_c, two, 0));
  }
  CHECK_NEAR(other.mean_neighbours, out->mean_neighbours, 0, "the same lists");
  return OOZE_OK;
}

static ooze_result twin_density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  twin *t = TWIN(b);
  oz_build_result other = {0, 0};
  uint32_t one[1024], two[1024];
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->density_list(&t->plain->base, f, out, why));
  OZ_TRY(t->vector->base.table->density_list(&t->vector->base, &g, &other, why));
  CHECK_EQ(out->rebuilt, other.rebuilt);
  t->lists = g;
  for (uint32_t i = 0; i < f->count; ++i) {
    uint32_t na = row(i, f->list_d[0], f->row_d[0], f->len_d[0], one, 0),
             nb = row(i, g.list_d[0], g.row_d[0], g.len_d[0], two, 0);
    na = row(i, f->list_d[1], f->row_d[1], f->len_d[1], one, na);
    nb = row(i, g.list_d[1], g.row_d[1], g.len_d[1], two, nb);
    compare_rows("density list", i, one, na, two, nb);
  }
  return OOZE_OK;
}

static ooze_result twin_walls(oz_backend *b, oz_frame *f, ooze_message *why) {
  twin *t = TWIN(b);
  oz_frame g;
  translate(t, f, &g);
  copy_state(t, f, &g);
  OZ_TRY(t->plain->base.table->walls(&t->plain->base, f, why));
  OZ_TRY(t->vector->base.table->walls(&t->vector->base, &g, why));
  CHECK_EQ(f->wall_count, g.wall_count);
  for (uint32_t k = 0; k < f->wall_count; ++k) CHECK_EQ(f->wall_particle[k], g.wall_particle[k]);
  return OOZE_OK;
}

static const oz_backend_table twin_table = {.name = "twin",
                                            .frame = twin_frame,
                                            .sort = twin_sort,
                                            .lists = twin_lists,
                                            .density_list = twin_density_list,
                                            .walls = twin_walls,
                                            .run = twin_run};

/* ---- a scene with everything in it ---------------------------------------------------------------------------- */

enum { SIDE = 11, COUNT = SIDE * SIDE * SIDE + 3 };
static const float separation = 0.02f;

static float random_float(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

static void fill(oz_cpu *cpu) {
  oz_backend *b = &cpu->base;
  ooze_message why = {""};
  uint32_t state = 1;
  static float x[COUNT * 4], u[COUNT * 4], q[COUNT * 6], one[COUNT];
  static uint32_t word[COUNT];
  static uint64_t id[COUNT];
  CHECK(b->table->resize(b, COUNT, &why) == OOZE_OK, "%s", why.text);
  for (int i = 0; i < COUNT; ++i) {
    /* a jittered block that touches the floor and a moving box; three particles apart from all others */
    int n = i < COUNT - 3 ? i : 0;
    const int at[3] = {n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE};
    for (int c = 0; c < 3; ++c) {
      x[4 * i + c] = separation * ((float)at[c] + 0.3f + 0.15f * random_float(&state)) +
                     (i < COUNT - 3 ? 0 : 2.0f + (float)(i - n));
      u[4 * i + c] = 0.1f * random_float(&state);
    }
    x[4 * i + 3] = u[4 * i + 3] = 0;
    for (int c = 0; c < 6; ++c) q[c * COUNT + i] = (c < 3 ? 1.1f : 0) + 0.1f * random_float(&state);
    id[i] = (uint64_t)i + 5;
  }
#define UP(field, data) CHECK(b->table->upload(b, OZ_FIELD_##field, 0, COUNT, data, &why) == OOZE_OK, "%s", why.text)
  UP(X, x);
  UP(U, u);
  UP(Q, q);
  UP(ID, id);
#define UP_ONE(field, expression)                                                                                      \
  do {                                                                                                                 \
    for (int i = 0; i < COUNT; ++i) one[i] = (expression);                                                             \
    UP(field, one);                                                                                                    \
  } while (0)
  UP_ONE(TAU, i % 3 == 0 ? 0.0f : i % 3 == 1 ? 0.05f : 1e6f);
  UP_ONE(COMPLIANCE, i % 2 ? 1e-4f : 1e-3f);
  UP_ONE(VISCOSITY, i % 3 == 2 || i % 5 ? 0.0f : 30.0f);
  UP_ONE(DENSITY, i % 7 ? 1000.0f : 1400.0f);
  UP_ONE(TEMPERATURE, 293.15f);
  for (int i = 0; i < COUNT; ++i) word[i] = 0;
  UP(MATERIAL, word);
  for (int i = 0; i < COUNT; ++i) word[i] = (uint32_t)i;
  UP(RANK, word);
  for (int i = 0; i < COUNT; ++i) word[i] = x[4 * i + 1] > separation * (SIDE - 2) && x[4 * i + 1] < 1 ? 7 : 0;
  UP(SOURCE, word);
  static float force[COUNT * 3];
  for (int i = 0; i < 3 * COUNT; ++i) force[i] = random_float(&state);
  UP(FORCE, force);

  oz_collider c[2];
  memset(c, 0, sizeof c);
  c[0].shape = OOZE_SHAPE_PLANE;
  c[0].friction = 0.7f;
  c[1].shape = OOZE_SHAPE_BOX;
  c[1].half[0] = c[1].half[1] = c[1].half[2] = 0.1f;
  c[1].p0[0] = -0.1f;
  c[1].p1[0] = -0.098f;
  c[1].p0[1] = c[1].p1[1] = 0.1f;
  c[1].q1[1] = 0.01f;
  c[1].reach = 1;
  c[1].friction = 1;
  c[1].stick = 5;
  for (int k = 0; k < 2; ++k) c[k].q0[3] = c[k].q1[3] = 1, c[k].wall_density = 1;
  CHECK(b->table->colliders(b, c, 2, NULL, NULL, 0, &why) == OOZE_OK, "%s", why.text);
  oz_nozzle z;
  memset(&z, 0, sizeof z);
  z.handle = 7;
  z.p0[1] = separation * (SIDE - 1);
  z.p1[1] = z.p0[1] + 0.001f;
  z.q0[3] = z.q1[3] = 1;
  z.speed = 0.5f;
  z.disturbance = 0.01f;
  CHECK(b->table->nozzles(b, &z, 1, &why) == OOZE_OK, "%s", why.text);
}

static oz_cpu *make(oz_memory *memory, const ooze_hooks *hooks, uint32_t isa) {
  oz_backend_desc desc = {
      .isa = isa, .threads = 1, .tasks = OOZE_TASKS_SERIAL, .device = -1, .memory = memory, .hooks = hooks};
  oz_backend *b = NULL;
  ooze_message why = {""};
  ooze_result r = oz_cpu_backend_create(&desc, &b, &why);
  if (r == OOZE_ERROR_UNSUPPORTED) return NULL;
  CHECK(r == OOZE_OK, "%s", why.text);
  return (oz_cpu *)(void *)b;
}

static void check_isa(uint32_t isa) {
  ooze_hooks hooks;
  oz_memory memory[2];
  static twin t;
  memset(&t, 0, sizeof t);
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory[0], &hooks);
  oz_memory_init(&memory[1], &hooks);
#if defined(__x86_64__)
  if (isa == OOZE_ISA_AVX2 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    OZ_SKIP("no AVX2 here");
  if (isa == OOZE_ISA_AVX512 && !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")))
    OZ_SKIP("no AVX-512 here");
#endif
  t.vector = make(&memory[1], &hooks, isa);
  if (!t.vector) OZ_SKIP("not in this build");
  t.plain = make(&memory[0], &hooks, OOZE_ISA_SCALAR);
  CHECK(t.plain != NULL);
  t.base.table = &twin_table;
  t.wall = (oz_wall *)calloc(COUNT * OZ_PLANES, sizeof *t.wall);
  t.impulse = (float *)calloc(COUNT * OZ_PLANES * 3, sizeof *t.impulse);
  t.planes = (uint32_t *)calloc(COUNT, sizeof *t.planes);
  t.particle = (uint32_t *)calloc(COUNT, sizeof *t.particle);
  for (uint32_t scheme = 0; scheme <= OOZE_SCHEME_STRESS; ++scheme) {
    fill(t.plain);
    fill(t.vector);
    ooze_params p;
    ooze_params_default(&p);
    p.scheme = scheme;
    p.velocity_iterations = 3;
    p.position_iterations = 2;
    p.max_speed = 20;
    oz_step step;
    memset(&step, 0, sizeof step);
    step.backend = &t.base;
    step.params = &p;
    step.separation = separation;
    step.has_relaxation = step.has_walls = step.has_nozzles = 1;
    for (int k = 0; k < 2; ++k) {
      ooze_message why = {""};
      p.velocity_tolerance = k ? 1e-6f : 0;
      ooze_result r = oz_conformation_substep(&step, 0.002f, &why);
      CHECK(r >= 0, "scheme %u: %s: %s", scheme, ooze_result_name(r), why.text);
      CHECK_NEAR(step.bad, 0, 0, "nothing here should go non-finite");
      step.time += 0.002;
    }
  }
  for (int k = 0; k < OZ_STAGE_COUNT; ++k)
    printf("  %-16s %.3f of the tolerance, %.4f differ by roundings of halves\n", oz_stage_names[k], t.worst[k],
           t.coarse[k]);
  for (int k = 0; k < OZ_STAGE_COUNT; ++k)
    CHECK(t.ran[k] > 0, "%s was never run: the list and the models differ", oz_stage_names[k]);
  t.plain->base.table->destroy(&t.plain->base);
  t.vector->base.table->destroy(&t.vector->base);
  free(t.wall);
  free(t.impulse);
  free(t.planes);
  free(t.particle);
  CHECK_EQ(memory[0].bytes, 0);
  CHECK_EQ(memory[1].bytes, 0);
}

OZ_CASE(neon_agrees_with_scalar) { check_isa(OOZE_ISA_NEON); }
OZ_CASE(sse_agrees_with_scalar) { check_isa(OOZE_ISA_SSE); }
OZ_CASE(avx2_agrees_with_scalar) { check_isa(OOZE_ISA_AVX2); }
OZ_CASE(avx512_agrees_with_scalar) { check_isa(OOZE_ISA_AVX512); }

OZ_TEST_MAIN()
