/* Every stage on two backends: CUDA's kernels as host loops against the CPU's scalar twin, and,
 * where there is a device (OZ_TEST_DEVICE), the kernels on it against the loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tolerances. The CPU rounds gradients to half precision, 2^-11 = 5e-4 of each; the GPU computes
 * them anew. So against the CPU an array may differ by a few of those of its greatest value. Device
 * and loops run the same text; the differences are fused multiply-add, approximate roots and
 * divisions (2 ulp), the order of additions, and with them the last of the 13 bits of the values
 * that particles send each other: 2^-12 = 2.4e-4. 99.5% of the particles must be within; the rest
 * may stand at one of the formulas' own switches (a wall that is just touched, an eigenvalue at its
 * bound). */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "physics/boundary_particles.h"

#include "cuda/compare.h"

#include "backend/friction_map.h"
#include "backend/stage_matter.h"
#include "check.h"

static uint32_t seed;
static float uniform(void) { /* -1 to 1 */
  seed = seed * 1664525u + 1013904223u;
  return (float)(seed >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

typedef struct state {
  uint32_t n;
  float *x, *u, *q, *tau, *compliance, *viscosity, *density, *temperature, *zero;
  uint32_t *rank, *word, *source, *owner, layer;
  float *rest;
  uint64_t *id;
  int calm;
} state;

/* calm: without bodies and heat; free: without a boundary, too */
enum { LATTICE, RANDOM, DEGENERATE, CALM, FREE };
static const float D = 0.01f;

/* Behind two half layers and forty of a boundary, as many as four layers are a soft body. */
static uint32_t soft_first(const state *s) { return 2 * s->layer + 40; }
static uint32_t soft_count(const state *s) { return 8 * s->layer; }
static int soft_one(const state *s, uint32_t i) {
  return i >= soft_first(s) && i < soft_first(s) + soft_count(s);
}
static oz_body soft_body(const state *s) {
  oz_body b;
  memset(&b, 0, sizeof b);
  b.handle = 5, b.kind = OZ_OWNER_SOFT, b.friction = 0.5f;
  b.first_id = 1000 + 7 * soft_first(s), b.first = 14 * s->layer, b.count = 7 * soft_count(s);
  b.young = 1e3f, b.bulk = 2e3f, b.damping = 0.002f, b.strain = 0.3f;
  b.stretch_bound = 8.0f / (1000.0f * D * D), b.volume_bound = 2.0f * b.stretch_bound;
  /* it sticks, and its middle follows keyframes */
  b.stick = 50.0f, b.driven = 1, b.held2 = 9.0f * D * D;
  /* (its reference is turned by a right angle) */
  b.q0[2] = b.q0[3] = b.q1[2] = b.q1[3] = 0.70710678f, b.p1[1] = 0.02f * D;
  return b;
}
/* Its links, some of them pulled too far. */
static void tie(oz_backend *b, const state *s) {
  const uint32_t from = soft_first(s), to = from + soft_count(s);
  oz_link_pair *pairs = malloc((size_t)soft_count(s) * 60 * sizeof *pairs);
  uint32_t *at = malloc((size_t)s->n * 4), *row = calloc(s->n, 4);
  ooze_message why = {""};
  uint64_t n = 0;
  for (uint32_t i = from; i < to; i++)
    for (uint32_t j = i + 1; j < to && row[i] < 50; j++) {
      float r2 = 0.0f;
      for (uint32_t c = 0; c < 3; c++)
        r2 += (s->x[4 * i + c] - s->x[4 * j + c]) * (s->x[4 * i + c] - s->x[4 * j + c]);
      if (r2 > 3.24f * D * D || r2 < 0.01f * D * D || row[j] == 50) continue;
      row[i]++, row[j]++;
      pairs[n++] =
          (oz_link_pair){i, j, sqrtf(r2) * ((i + j) % 50 ? 0.95f : 0.7f), OZ_LINK_SOFT, 0.3f * D};
    }
  for (uint32_t i = 0; i < s->n; i++) at[i] = i;
  CHECK(n > 1000, "%u links", (unsigned)n);
  CHECK(b->table->links_put(b, at, pairs, n, &why) >= 0, "%s", why.text);
  free(pairs), free(at), free(row);
}

static state allocate_state(int edge) {
  const size_t n = (size_t)(edge * edge * edge);
  state s;
  memset(&s, 0, sizeof s);
  s.n = (uint32_t)n;
  s.layer = (uint32_t)(edge * (edge / 2));
  s.x = calloc(n * 4, 4), s.u = calloc(n * 4, 4), s.q = calloc(n * 6, 4), s.tau = calloc(n, 4),
  s.compliance = calloc(n, 4);
  s.owner = calloc(n, 4), s.rest = calloc(n * 3, 4);
  s.viscosity = calloc(n, 4), s.density = calloc(n, 4), s.temperature = calloc(n, 4),
  s.zero = calloc(n * 3, 4);
  s.rank = calloc(n, 4), s.word = calloc(n, 4), s.source = calloc(n, 4), s.id = calloc(n, 8);
  return s;
}

/* Place and velocity of a particle of the block. */
static void place(const state *s, int kind, int edge, uint32_t i) {
  float *x = s->x + 4 * (size_t)i, *u = s->u + 4 * (size_t)i;
  const int c[3] = {(int)i % edge, (int)i / edge % edge, (int)i / edge / edge};
  for (int k = 0; k < 3; k++) {
    x[k] = ((float)c[k] - 0.5f * (float)edge +
            (kind == LATTICE || kind == CALM ? 0.1f : 0.3f) * uniform()) *
           D;
    u[k] = 0.03f * uniform();
  }
  x[1] += 0.5f * (float)edge * D;
  if (kind == DEGENERATE) {
    /* a line; no two at h exactly */
    if (i % 7 == 0) x[0] = x[1] = 0.05f, x[2] = 0.0021f * (float)(i % 50);
    if (i % 11 == 0) x[0] = 0.3f, x[1] = 0.02f, x[2] = 0.3f; /* all at one point */
    if (i % 13 == 0) x[1] = 5.0f + (float)i;                 /* alone */
    if (i % 17 == 0) x[0] = -0.2f, x[1] += 0.01f;            /* a sheet */
    for (int k = 0; k < 3; k++) u[k] *= 5.0f;
  }
  u[1] -= 0.2f;
}

static void fill_material(const state *s, uint32_t i) {
  for (int k = 0; k < 6; k++)
    s->q[(size_t)k * s->n + i] = (k < 3 ? 1.0f : 0.0f) + 0.02f * uniform();
  s->tau[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 0.1f : 1e6f;
  s->compliance[i] = i % 5 == 0 ? 0.0f : 1e-4f;
  s->viscosity[i] = i % 4 == 0 && i % 3 != 2 ? 50.0f : 0.0f;
  s->density[i] = i % 2 ? 1000.0f : 700.0f;
  s->temperature[i] = i % 9 == 2 ? 295.0f : 285.0f + 15.0f * uniform();
}

/* Owner of a particle: none (fluid), one of two rigid bodies, the soft body, or the boundary of the
 * third collider, with the last particles. */
static void fill_owner(const state *s, int kind, uint32_t i) {
  const int wall = kind != FREE && i >= s->n - 40;
  const float *x = s->x + 4 * (size_t)i;
  s->source[i] = i % 29 == 0 && i >= 2 * s->layer && !wall ? 1 : 0;
  if (wall)
    s->owner[i] = (uint32_t)OZ_OWNER_BOUNDARY << OZ_OWNER_SHIFT | 3, s->compliance[i] = 1.2f;
  /* two half layers are rigid bodies, turned by a right angle and not quite in the shape that they
   * are to have */
  if (i < 2 * s->layer)
    s->owner[i] = (uint32_t)OZ_OWNER_RIGID << OZ_OWNER_SHIFT | (3 + i / s->layer);
  /* leaves the random numbers of the later cases as they were */
  for (uint32_t k = 0; k < 3; k++)
    s->rest[k * s->n + i] = (k == 0   ? x[1]
                             : k == 1 ? -x[0]
                                      : x[2]) +
                            0.02f * D * sinf((float)(3 * i + k));
  if (soft_one(s, i)) s->owner[i] = (uint32_t)OZ_OWNER_SOFT << OZ_OWNER_SHIFT | 5, s->source[i] = 0;
  s->word[i] = wall ? oz_slip_word(i % 3 ? 0.4f * (float)(i % 3) : 0.0f) : i % 4 == 1;
  if (s->calm && !wall) s->owner[i] = 0;
  if (wall)
    for (uint32_t k = 0; k < 3; k++) s->rest[k * s->n + i] = x[k] - (k == 1 ? 0.155f : 0.0f);
}

static state make(int kind) {
  const int edge = kind == DEGENERATE ? 9 : 13;
  state s = allocate_state(edge);
  s.calm = kind == CALM || kind == FREE;
  for (uint32_t i = 0; i < s.n; i++) {
    place(&s, kind, edge, i);
    fill_material(&s, i);
    s.id[i] = 1000 + 7 * (uint64_t)i;
    s.rank[i] = i;
    fill_owner(&s, kind, i);
  }
  return s;
}

static void drop_state(state *s) {
  void *all[] = {s->x,         s->u,       s->q,           s->tau,   s->compliance,
                 s->viscosity, s->density, s->temperature, s->zero,  s->rank,
                 s->word,      s->source,  s->id,          s->owner, s->rest};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static uint32_t laws; /* of flow */

static void load(oz_backend *b, const state *s) {
  const void *of[OZ_FIELD_STATE_COUNT] = {[OZ_FIELD_X] = s->x,
                                          [OZ_FIELD_U] = s->u,
                                          [OZ_FIELD_Q] = s->q,
                                          [OZ_FIELD_RELAXATION_TIME] = s->tau,
                                          [OZ_FIELD_COMPLIANCE] = s->compliance,
                                          [OZ_FIELD_VISCOSITY] = s->viscosity,
                                          [OZ_FIELD_DENSITY] = s->density,
                                          [OZ_FIELD_TEMPERATURE] = s->temperature,
                                          [OZ_FIELD_FORCE] = s->zero,
                                          [OZ_FIELD_MATERIAL] = s->word,
                                          [OZ_FIELD_SOURCE] = s->source,
                                          [OZ_FIELD_OWNER] = s->owner,
                                          [OZ_FIELD_REFERENCE] = s->rest,
                                          [OZ_FIELD_RANK] = s->rank,
                                          [OZ_FIELD_ID] = s->id};
  ooze_message why = {""};
  /* by a law the longest time would make the softest material, beside the stiffest */
  for (uint32_t i = 0; laws && i < s->n; i++) s->tau[i] = s->tau[i] > 0.2f ? 0.2f : s->tau[i];
  CHECK(b->table->resize(b, s->n, &why) >= 0, "%s", why.text);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (of[k])
      CHECK(b->table->upload(b, (oz_field)k, 0, s->n, of[k], &why) >= 0, "%s", why.text);
    else
      CHECK(b->table->provide(b, (oz_field)k, &why) >= 0, "%s", why.text);
  CHECK(b->table->matter(b, stage_matter, 2, &why) >= 0, "%s", why.text);
  if (s->calm) return;
  oz_body body[3] = {{0}, {0}, soft_body(s)};
  for (uint32_t k = 0; k < 2; k++) { /* six of seven ids are unused */
    body[k].handle = 3 + k, body[k].kind = OZ_OWNER_RIGID, body[k].friction = 0.5f;
    body[k].first_id = 1000 + 7 * k * s->layer, body[k].first = 7 * k * s->layer,
    body[k].count = 7 * s->layer;
  }
  CHECK(b->table->bodies(b, body, 3, 14 * s->layer + body[2].count, &why) >= 0, "%s", why.text);
  tie(b, s);
}

static void surround(oz_backend *b) {
  oz_collider c[4];
  ooze_message why = {""};
  memset(c, 0, sizeof c);
  for (int k = 0; k < 4; k++) {
    c[k].q0[3] = c[k].q1[3] = 1.0f;
    c[k].wall_density = 1;
    c[k].handle = (uint32_t)k + 1, c[k].f1 = 1.0f;
    c[k].friction = 0.25f * (float)k;
    c[k].temperature = 280.0f + 10.0f * (float)k, c[k].contact = 1e4f;
  }
  c[0].shape = OOZE_SHAPE_PLANE;
  c[1].shape = OOZE_SHAPE_BOX, c[1].invert = 1; /* a container that is just filled */
  c[1].half[0] = c[1].half[2] = 0.066f, c[1].half[1] = 1.0f, c[1].p0[1] = c[1].p1[1] = 0.9f,
  c[1].reach = 1.1f;
  c[2].shape = OOZE_SHAPE_SPHERE, c[2].half[0] = 0.025f, c[2].p0[1] = 0.155f, c[2].p1[1] = 0.154f,
  c[2].reach = 0.025f;
  c[2].stick = 10.0f;
  c[3].shape = OOZE_SHAPE_CYLINDER, c[3].half[0] = 0.02f, c[3].half[1] = 0.01f,
  c[3].p0[0] = c[3].p1[0] = 0.05f, c[3].p0[1] = c[3].p1[1] = 0.142f;
  c[3].reach = 0.03f, c[3].q1[2] = 0.02f, c[3].q1[3] = 0.9998f;
  for (int k = 0; k < 2; k++)
    c[k].friction_map_voxel = 0.15f, c[k].friction_map_count = 8, c[k].friction_map_power = 0.5f;
  CHECK(b->table->colliders(b, c, 4, NULL, NULL, 0, &why) >= 0, "%s", why.text);
  friction_map(b);
  oz_nozzle z;
  memset(&z, 0, sizeof z);
  z.handle = 1, z.q0[3] = z.q1[3] = 1.0f, z.p0[1] = z.p1[1] = 6.0f, z.speed = 0.05f,
  z.disturbance = 0.02f, z.seed = 3;
  CHECK(b->table->nozzles(b, &z, 1, &why) >= 0, "%s", why.text);
}

#if !defined(OZ_TEST_DEVICE)
static int copy_here(oz_backend *b, void *to, const void *from, size_t bytes) {
  (void)b;
  memcpy(to, from, bytes);
  return 1;
}

#endif

/* Two backends with the same particles and walls behind one that compares them. */
static void open_both(both *t, oz_memory *memory, const state *s) {
  oz_backend_desc desc;
  ooze_message why = {""};
  side a = {0}, b = {0};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = memory;
  desc.isa = OOZE_ISA_SCALAR;
  desc.tasks = OOZE_TASKS_SERIAL;
  desc.threads = 1;
  desc.device = -1;
#if defined(OZ_TEST_DEVICE)
  CHECK(oz_cuda_host_backend_create(&desc, &a.b, &why) >= 0, "%s", why.text);
  CHECK(oz_cuda_backend_create(&desc, &b.b, &why) >= 0, "%s", why.text);
  a.copy = oz_cuda_host_copy, a.gpu = 1, b.copy = oz_cuda_copy, b.gpu = 1;
#else
  CHECK(oz_cpu_backend_create(&desc, &a.b, &why) >= 0, "%s", why.text);
  CHECK(oz_cuda_host_backend_create(&desc, &b.b, &why) >= 0, "%s", why.text);
  a.copy = copy_here, b.copy = oz_cuda_host_copy, b.gpu = 1;
#endif
  load(a.b, s), load(b.b, s);
  surround(a.b), surround(b.b);
  both_open(t, a, b, memory);
  t->own_gradients = !a.gpu;
  t->verbose = getenv("OZ_VERBOSE") != NULL;
}

/* Some substeps of one state on both; every array after every stage. */
static void stages(int kind, uint32_t model, uint32_t scheme, double tolerance,
                   uint32_t ran[OZ_STAGE_COUNT]) {
  oz_memory memory;
  ooze_message why = {""};
  static both t;
  seed = 12345u + (uint32_t)kind;
  state s = make(kind);
  open_both(&t, &memory, &s);
  t.no_matrices = model == OOZE_MODEL_SPRINGS || model == OOZE_MODEL_LINKS;
  t.paper = scheme == OOZE_SCHEME_PAPER;
  ooze_params params;
  ooze_params_default(&params);
  params.shifting = 1.0f; /* its stages, too */
  params.model = model, params.scheme = scheme;
  params.springs_viscosity = 0.3f, params.springs_stick = 0.2f;
  params.cauchy_iterations = 3, params.blend_interval = 0.0f, params.blend_yield = 0.0f;
  params.velocity_iterations = 3, params.position_iterations = 2, params.rest_filter = 2;
  /* particles that fly apart leave the reach of both backends' density rows, which differ beyond it
   */
  if (kind == DEGENERATE || model == OOZE_MODEL_LINKS) params.position_iterations = 1;
  oz_step step;
  memset(&step, 0, sizeof step);
  step.backend = &t.base, step.params = &params, step.separation = D;
  step.velocity_iterations = params.velocity_iterations;
  step.position_iterations = params.position_iterations;
  step.has_heat = step.has_air = 1, step.has_tension = step.has_adhesion = 1;
  step.diffusivity = 2e-5f;
  /* half elastic, half fluid: mixed, it would be neither in the next substep */
  step.has_mixing = model == OOZE_MODEL_LINKS;
  step.mixing = 2e-4f;
  step.has_ramps = kind == LATTICE;
  step.laws = laws;
  step.has_relaxation_time = step.has_memory = step.has_yield = step.has_walls = step.has_nozzles =
      step.has_boundary = step.has_loads = step.has_slip = 1;
  const oz_body soft = soft_body(&s);
  /* the density's push is carried by matrices */
  if (kind == FREE) step.has_boundary = step.has_loads = step.has_slip = 0;
  step.has_soft = step.soft_tears = !s.calm;
  /* the printed method inverts sums that held particles make nearly singular */
  const int held = !s.calm && scheme != OOZE_SCHEME_PAPER;
  step.has_stick = step.has_cling = held;
  if (s.calm)
    step.has_heat = step.has_air = step.has_mixing = step.has_tension =
        0; /* the CPU looks ahead then */
  step.soft_rate = soft.young * soft.stretch_bound + soft.bulk * soft.volume_bound;
  step.soft_damped = step.soft_rate * soft.damping;
  /* a second substep would start with pairs a millionth apart, whose direction the GPU's packed
   * positions do not hold */
  for (int k = 0; k < (kind == DEGENERATE ? 1 : 2); k++) {
    /* afterwards it is where it is held: its velocity is rounding */
    step.has_driven = held && k == 0;
    CHECK(oz_models[model](&step, 1.0f / 240.0f, &why) >= 0, "%s", why.text);
  }
  printf("  %s, model %u, scheme %u: %u particles, %u links, rows that differ %u, wall slots %u, "
         "links %u\n",
         kind == FREE      ? "free"
         : kind == CALM    ? "calm"
         : kind == LATTICE ? "lattice"
         : kind == RANDOM  ? "random"
                           : "degenerate",
         model, scheme, s.n, t.links, t.list_differences, t.wall_differences, t.link_differences);
  CHECK(t.link_differences <= t.links / 500, "%u links differ", t.link_differences);
  /* pairs at h to the last bit */
  CHECK(t.list_differences <= s.n / 500, "%u rows differ", t.list_differences);
  CHECK(t.wall_differences <= s.n / 500, "%u slots differ", t.wall_differences);
  for (int k = 0; k < OZ_STAGE_COUNT; k++) {
    ran[k] += t.ran[k];
    if (!t.ran[k]) continue;
    const finding *f = &t.found[k];
    printf("    %-16s %-10s %.1e  worst %.1e\n", oz_stage_names[k], f->array ? f->array : "",
           f->typical, f->worst);
  }
  for (int k = 0; k < OZ_STAGE_COUNT; k++)
    /* the printed method's sums cancel more of the values sent in 16 bytes */
    if (t.ran[k])
      CHECK(t.found[k].typical <=
                (k >= OZ_STAGE_paper_volume && k <= OZ_STAGE_paper_update ? 3 : 1) * tolerance,
            "%s: %s differs by %g of its greatest value", oz_stage_names[k], t.found[k].array,
            t.found[k].typical);
  both_close(&t);
  drop_state(&s);
}

OZ_CASE(every_stage_gives_the_same_on_both_backends) {
  uint32_t ran[OZ_STAGE_COUNT] = {0};
#if defined(OZ_TEST_DEVICE)
  const char *detail = "";
  if (!oz_cuda_usable(&detail)) OZ_SKIP(detail);
  const double tolerance = 5e-4;
#else
  /* density: rows of both end within the skin, and a particle that moved further counts in one
   * alone
   */
  const double tolerance = 4e-3;
#endif
  stages(LATTICE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  for (laws = OZ_LAW_RATE; laws <= OZ_LAW_SOLVENT; laws *= 2)
    stages(LATTICE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  laws = 0;
  /* as large scenes run: one thread a particle, gradients computed anew */
  setenv("OOZE_CUDA_LANES", "1", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  setenv("OOZE_CUDA_LANES", "2", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  setenv("OOZE_CUDA_LANES", "4", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  /* blocks with more neighbours than there is room for copies */
  setenv("OOZE_CUDA_SHARE", "128", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_SHARE"), unsetenv("OOZE_CUDA_LANES");
  setenv("OOZE_CUDA_DEBUG_DISABLE", "deferred_checks",
         1); /* lists are looked at as soon as they are made */
  stages(FREE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  setenv("OOZE_CUDA_LANES", "1", 1);
  stages(FREE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_LANES"), unsetenv("OOZE_CUDA_DEBUG_DISABLE");
  /* sums of 240 opposing terms */
  stages(DEGENERATE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  /* explicit: differences grow within the substep */
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_STRESS, 10.0 * tolerance, ran);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_POSITION, tolerance, ran);
  stages(LATTICE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_PAPER, tolerance, ran);
  stages(LATTICE, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(CALM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  setenv("OOZE_CUDA_LANES", "2", 1);
  stages(CALM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_LANES");
  stages(DEGENERATE, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  stages(LATTICE, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(DEGENERATE, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  stages(RANDOM, OOZE_MODEL_BLEND, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_CAUCHY, OOZE_SCHEME_OOZE, tolerance, ran);
  for (int k = 0; k < OZ_STAGE_COUNT; k++) CHECK(ran[k], "%s never ran", oz_stage_names[k]);
}

/* The part of a substep before links may be made, and the rule that makes them of all near pairs;
 * then once more after everything has moved, so that sorting takes them along. */
OZ_CASE(links_are_the_same_on_both_backends) {
  oz_memory memory;
  static both t;
  ooze_message why = {""};
  ooze_params params;
#if defined(OZ_TEST_DEVICE)
  const char *detail = "";
  if (!oz_cuda_usable(&detail)) OZ_SKIP(detail);
#endif
  ooze_params_default(&params);
  for (int kind = RANDOM; kind <= DEGENERATE; kind++) {
    seed = 99u;
    state s = make(kind);
    open_both(&t, &memory, &s);
    for (int turn = 0; turn < 3; turn++) {
      oz_backend *b = &t.base;
      oz_build_result built = {0, 0.0};
      oz_frame f;
      b->table->frame(b, &f);
      oz_frame_constants(&f, &params, D, 1.0f / 24.0f, 0.0);
      CHECK(b->table->sort(b, &f, &why) >= 0, "%s", why.text);
      CHECK(b->table->lists(b, &f, &built, &why) >= 0, "%s", why.text);
      static const oz_stage begin[] = {OZ_STAGE_material, OZ_STAGE_predict, OZ_STAGE_gradient,
                                       OZ_STAGE_velocity_start, OZ_STAGE_advance};
      for (int k = 0; k < 5; k++)
        CHECK(b->table->run(b, &f, begin[k], NULL, &why) >= 0, "%s", why.text);
      CHECK(b->table->density_list(b, &f, &built, &why) >= 0, "%s", why.text);
      CHECK(b->table->links_update(b, &f, OZ_RULE_NEAR, &why) >= 0, "%s", why.text);
      CHECK(b->table->run(b, &f, OZ_STAGE_finish, NULL, &why) >= 0, "%s", why.text);
    }
    printf("  %s: %u particles, %u links in three updates, %u differ\n",
           kind == RANDOM ? "random" : "degenerate", s.n, t.links, t.link_differences);
    CHECK(t.links > 10 * s.n, "%u links", t.links);
    /* pairs at h to the last bit; piles go by the lists of each backend, and there they differ */
    CHECK(t.link_differences <= (kind == RANDOM ? t.links / 5000 : t.links / 50),
          "%u of %u links differ", t.link_differences, t.links);
    both_close(&t);
    drop_state(&s);
  }
}

#if !defined(OZ_TEST_DEVICE)
static oz_backend *open_loops(oz_memory *memory) {
  oz_backend_desc desc;
  oz_backend *b = NULL;
  ooze_message why = {""};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = memory;
  CHECK(oz_cuda_host_backend_create(&desc, &b, &why) >= 0, "%s", why.text);
  return b;
}
static int relaxes = 1, pulls; /* whether any particle remembers its shape; surface tension */
static ooze_result substep(oz_backend *b, ooze_message *why) {
  ooze_params params;
  oz_step step;
  ooze_params_default(&params);
  params.velocity_iterations = 3, params.position_iterations = 2, params.rest_filter = 2;
  memset(&step, 0, sizeof step);
  step.backend = b, step.params = &params, step.separation = D;
  step.velocity_iterations = params.velocity_iterations;
  step.position_iterations = params.position_iterations;
  step.has_walls = step.has_nozzles = 1;
  step.has_relaxation_time = step.has_memory = relaxes != 0, step.has_tension = pulls != 0;
  return oz_conformation_substep(&step, 1.0f / 240.0f, why);
}
/* Four words a particle of a field, by rank. */
static void by_rank(oz_backend *b, oz_field field, uint32_t n, uint32_t words, float *out) {
  ooze_message why = {""};
  uint32_t *rank = malloc((size_t)n * 4);
  float *v = malloc((size_t)n * 4 * words);
  CHECK(b->table->download(b, OZ_FIELD_RANK, 0, n, rank, &why) >= 0 &&
            b->table->download(b, field, 0, n, v, &why) >= 0,
        "%s", why.text);
  for (uint32_t i = 0; i < n; i++)
    memcpy(out + (size_t)rank[i] * words, v + (size_t)i * words, words * 4);
  free(rank), free(v);
}

/* Velocities by rank after some substeps of loops that are told `name`=`value` and how many threads
 * a particle has. */
static void run_so(const state *s, const char *name, const char *value, const char *lanes,
                   int substeps, float *out) {
  oz_memory memory;
  ooze_message why = {""};
  if (name) setenv(name, value, 1);
  if (lanes) setenv("OOZE_CUDA_LANES", lanes, 1);
  oz_backend *b = open_loops(&memory);
  if (name) unsetenv(name);
  unsetenv("OOZE_CUDA_LANES");
  load(b, s), surround(b);
  for (int k = 0; k < substeps; k++) CHECK(substep(b, &why) >= 0, "%s", why.text);
  by_rank(b, OZ_FIELD_U, s->n, 4, out);
  b->table->destroy(b);
}
/* Joined or each for itself, by a table of cells or by sorting, optional fields there and back or
 * to and fro, neighbours copied or read from where they are: every formula runs on the same numbers
 * in the same order. */
static state without_bodies(void) {
  state s = make(RANDOM);
  s.calm = 1;
  memset(s.owner, 0, s.n * sizeof *s.owner);
  for (uint32_t i = 0; !relaxes && i < s.n; i++) s.tau[i] = 0.0f, s.viscosity[i] = 50.0f;
  return s;
}
static void same_bits(const char *lanes, int bodies) {
  /* bound and residual in one gather read start positions that are not packed */
  static const char *const apart = "bound_fusion";
  static const char *const ways[][2] = {{"OOZE_CUDA_DEBUG_DISABLE", "fusion"},
                                        {"OOZE_CUDA_DEBUG_DISABLE", "bound_fusion,status_carriers"},
                                        {"OOZE_CUDA_DEBUG_DISABLE", "bound_fusion,cell_table"},
                                        {"OOZE_CUDA_DEBUG_DISABLE", "bound_fusion,field_copies"},
                                        {"OOZE_CUDA_SHARE", "400"},
                                        {"OOZE_CUDA_SHARE", "0"}};
  seed = 99;
  state s = bodies ? make(RANDOM) : without_bodies();
  float *first = malloc((size_t)s.n * 16), *now = malloc((size_t)s.n * 16);
  run_so(&s, "OOZE_CUDA_DEBUG_DISABLE", apart, lanes, 2, first);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    if (w == 4) run_so(&s, NULL, NULL, lanes, 2, first);
    run_so(&s, ways[w][0], ways[w][1], lanes, 2, now);
    CHECK(!memcmp(first, now, (size_t)s.n * 16),
          "%s=%s gives other velocities, %s threads a particle", ways[w][0], ways[w][1],
          lanes ? lanes : "8");
  }
  free(first), free(now);
  drop_state(&s);
}
OZ_CASE(ways_of_launching_give_the_same_bits) {
  for (int bodies = 0; bodies < 2; bodies++) {
    same_bits(NULL, bodies);
    same_bits("2", bodies); /* rows of places, neighbours in shared memory */
  }
  same_bits("1", 0);
  pulls = 1; /* surface tension and its walls in two kernels */
  same_bits("2", 0);
  same_bits("1", 0);
  pulls = 0;
}
static float difference(const float *a, const float *b, uint32_t i) {
  float most = 0.0f;
  for (size_t c = 4 * (size_t)i; c < 4 * (size_t)i + 3; c++) most = fmaxf(most, fabsf(a[c] - b[c]));
  return most;
}
static float apart(const state *s, uint32_t i, uint32_t j) {
  const float *x = s->x + 4 * (size_t)i, *y = s->x + 4 * (size_t)j;
  return hypotf(hypotf(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
}
/* One substep so and otherwise: sums round otherwise, no more. Sent values have 13 bits,
 * multipliers of the density are halves: 5e-4 of a move. By the last digit of its velocity a wall
 * may hold a particle or not, which its neighbours then feel: those around one particle may differ
 * by more. */
static void nearly_the_same(const char *name, const char *const lanes[3], float tolerance) {
  for (int l = 0; l < 3; l++) {
    seed = 6;
    state s = without_bodies();
    float *so = malloc((size_t)s.n * 16), *otherwise = malloc((size_t)s.n * 16), most = 0.0f,
          worst = 0.0f;
    uint32_t over = 0, centre = 0;
    run_so(&s, NULL, NULL, lanes[l], 1, so);
    run_so(&s, "OOZE_CUDA_DEBUG_DISABLE", name, lanes[l], 1, otherwise);
    for (size_t i = 0; i < 4 * (size_t)s.n; i++)
      if (i % 4 < 3) most = fmaxf(most, fabsf(otherwise[i]));
    for (uint32_t i = 0; i < s.n; i++)
      if (difference(so, otherwise, i) > worst) worst = difference(so, otherwise, i), centre = i;
    for (uint32_t i = 0; i < s.n; i++)
      over += difference(so, otherwise, i) > tolerance * most && apart(&s, i, centre) > 4.0f * D;
    printf("  %s threads: %.1e of %.3g m/s\n", lanes[l] ? lanes[l] : "8", (double)(worst / most),
           (double)most);
    CHECK(worst > 0.0f, "without %s nothing changes", name);
    CHECK(!over && worst < 10.0f * tolerance * most,
          "without %s: %g of %g m/s, %u of %u beyond the tolerance away from it", name,
          (double)worst, (double)most, over, s.n);
    free(so), free(otherwise);
    drop_state(&s);
  }
}
OZ_CASE(an_unknown_optimisation_is_refused_by_name) {
  oz_memory memory;
  oz_backend *b = NULL;
  oz_backend_desc desc;
  ooze_message why = {""};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  memset(&desc, 0, sizeof desc);
  desc.memory = &memory, desc.tasks = OOZE_TASKS_SERIAL, desc.threads = 1, desc.device = -1;
  setenv("OOZE_CUDA_DEBUG_DISABLE", "graphs,cells", 1);
  CHECK_EQ(oz_cuda_host_backend_create(&desc, &b, &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "'cells'"), "%s", why.text);
  setenv("OOZE_CUDA_DEBUG_DISABLE", "graphs,,cell_table", 1);
  CHECK(oz_cuda_host_backend_create(&desc, &b, &why) >= 0, "%s", why.text);
  unsetenv("OOZE_CUDA_DEBUG_DISABLE");
  b->table->destroy(b);
}
/* A position iteration as two kernels equals one as four. */
OZ_CASE(a_position_iteration_in_two_kernels_is_that_of_four) {
  static const char *const lanes[] = {NULL, "1", "2"};
  nearly_the_same("position_fusion", lanes, 5e-4f);
}
/* bound and residual in one kernel (cuda/fused_velocity.h), with velocity_start where nothing
 * relaxes. Eigenvalues of the preconditioner have 13 bits: after few iterations one more or less
 * can be seen. */
OZ_CASE(a_projection_is_prepared_in_one_kernel_as_in_three) {
  static const char *const lanes[] = {"1", "2", "4"};
  for (relaxes = 0; relaxes < 2; relaxes++)
    for (pulls = 1; pulls >= 0; pulls--) /* tension lies between bound and residual */
      nearly_the_same("bound_fusion", lanes, 2e-3f);
  relaxes = 1, pulls = 0;
}
/* Rows in an order that suits the banks of shared memory (cuda/row_order.cu). */
OZ_CASE(rows_that_were_put_in_order_have_the_same_neighbours) {
  static const char *const lanes[] = {"1", "2", "4"};
  nearly_the_same("row_order", lanes, 5e-4f);
}

/* With ever more memory: until it is enough, the substep fails here or there and leaves velocities
 * and sources. */
OZ_CASE(a_substep_that_runs_out_of_memory_has_not_happened) {
  int half_way = 0, done = 0;
  seed = 7;
  state s = make(RANDOM);
  float *before = malloc((size_t)s.n * 16), *after = malloc((size_t)s.n * 16);
  for (int mib = 2; mib < 64 && !done; mib++) {
    oz_memory memory;
    ooze_message why = {""};
    char text[16];
    snprintf(text, sizeof text, "%d", mib);
    setenv("OOZE_CUDA_MEMORY", text, 1);
    oz_backend *b = open_loops(&memory);
    unsetenv("OOZE_CUDA_MEMORY");
    if (b->table->resize(b, s.n, &why) >= 0) {
      load(b, &s), surround(b);
      by_rank(b, OZ_FIELD_U, s.n, 4, before);
      ooze_result r = substep(b, &why);
      if (r >= 0)
        done = 1;
      else {
        CHECK(r == OOZE_ERROR_MEMORY, "%s", why.text);
        by_rank(b, OZ_FIELD_U, s.n, 4, after);
        for (uint32_t i = 0; i < s.n; i++)
          half_way += memcmp(before + 4 * (size_t)i, after + 4 * (size_t)i, 12) != 0;
        CHECK(b->table->roll_back(b, &why) >= 0, "%s", why.text);
        by_rank(b, OZ_FIELD_U, s.n, 4, after);
        for (uint32_t i = 0; i < s.n; i++)
          CHECK(!memcmp(before + 4 * (size_t)i, after + 4 * (size_t)i, 12),
                "particle %u at %d MiB: %s", i, mib, why.text);
        uint32_t *source = malloc((size_t)s.n * 4);
        by_rank(b, OZ_FIELD_SOURCE, s.n, 1, (float *)source);
        for (uint32_t i = 0; i < s.n; i++) CHECK(source[i] == s.source[i], "source of %u", i);
        free(source);
      }
    }
    b->table->destroy(b);
  }
  CHECK(half_way, "no substep failed after velocities had changed");
  CHECK(done, "64 MiB are not enough");
  free(before), free(after);
  drop_state(&s);
}

/* The greatest speed is found where the particles are. */
OZ_CASE(the_fastest_particle_is_found) {
  oz_memory memory;
  ooze_message why = {""};
  double found = 0.0, most = 0.0;
  oz_backend *b = open_loops(&memory);
  state s = make(LATTICE);
  load(b, &s);
  for (uint32_t i = 0; i < s.n; i++) {
    const float *u = s.u + 4 * (size_t)i;
    most = fmax(most, sqrt((double)u[0] * (double)u[0] + (double)u[1] * (double)u[1] +
                           (double)u[2] * (double)u[2]));
  }
  CHECK(b->table->fastest(b, &found, &why) >= 0, "%s", why.text);
  CHECK_NEAR(found, most, 1e-6 * most, "squares and their sum in single precision");
  b->table->destroy(b);
  drop_state(&s);
}
#endif

OZ_TEST_MAIN()
