/* Every stage of stages.def, in every vector build, against its scalar twin.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS stages
 *
 * The model runs on a backend that is two: each call goes to the scalar build and to the vector
 * build. Before a stage the scalar one's arrays are copied to the other, so that both start from
 * the same numbers and any difference afterwards is that stage's alone. Lists, and the gradients
 * stored with them, are each build's own: their padding differs.
 */
#include "check.h"
#include "physics/boundary_particles.h"

#include "backend/friction_map.h"
#include "backend/stage_matter.h"
#include "backend/stage_scenes.h"
#include "backend/twin.h"

/* ---- running them on the scenes ---------------------------------------------------------- */

static uint32_t laws; /* of flow */

#define UP(field, data) \
  CHECK(b->table->upload(b, OZ_FIELD_##field, 0, n, data, &why) == OOZE_OK, "%s", why.text)
#define UP_ONE(field, to, expression)                      \
  do {                                                     \
    for (uint32_t i = 0; i < n; ++i) to[i] = (expression); \
    UP(field, to);                                         \
  } while (0)

static void fill_motion(oz_backend *b, const scene *s, uint32_t *state) {
  static float x[MOST * 4], u[MOST * 4], q[MOST * 6];
  static uint64_t id[MOST];
  ooze_message why = {""};
  const uint32_t n = s->count;
  for (uint32_t i = 0; i < n; ++i) {
    for (int c = 0; c < 3; ++c)
      x[4 * i + (uint32_t)c] = s->x[i][c], u[4 * i + (uint32_t)c] = s->u[i][c];
    x[4 * i + 3] = u[4 * i + 3] = 0;
    for (uint32_t c = 0; c < 6; ++c) q[c * n + i] = (c < 3 ? 1.1f : 0) + 0.1f * random_float(state);
    id[i] = (uint64_t)i + 5;
  }
  UP(X, x);
  UP(U, u);
  UP(Q, q);
  UP(ID, id);
}

static void fill_material(oz_backend *b, const scene *s, uint32_t *state) {
  static float one[MOST], q[MOST * 6];
  ooze_message why = {""};
  const uint32_t n = s->count;
  /* by a law the longest time makes the softest material, beside the stiffest: no sum of both could
   * be compared */
  const float longest = laws ? 0.2f : 1e6f;
  UP_ONE(RELAXATION_TIME, one, i % 3 == 0 ? 0.0f : i % 3 == 1 ? 0.05f : longest);
  UP_ONE(COMPLIANCE, one, i % 2 ? 1e-4f : 1e-3f);
  UP_ONE(VISCOSITY, one, i % 3 == 2 || i % 5 ? 0.0f : 30.0f);
  UP_ONE(DENSITY, one, i % 7 ? 1000.0f : 1400.0f);
  UP_ONE(TEMPERATURE, one, i % 9 == 2 ? 295.0f : 270.0f + 60.0f * random_float(state));
  UP_ONE(MELT, one, i % 9 == 2 ? 0.3f : 0.0f);
  UP_ONE(SOLVENT_VISCOSITY, one, i % 2 ? 2.0f : 0.0f);
  UP_ONE(SHEAR_RATE, one, 3.0f * (float)(i % 5));
  for (uint32_t i = 0; i < 6 * n; ++i) q[i] = 0.05f * sinf((float)i);
  UP(SECOND_STRETCH, q);
}

/* Owner of each particle, and its place in the frame of that body or collider. */
static void fill_owners(oz_backend *b, const scene *s, uint32_t *state) {
  static float force[MOST * 3];
  static uint32_t word32[MOST];
  static const float up[3] = {0.0f, 1.0f, 0.0f};
  ooze_message why = {""};
  const uint32_t n = s->count, rigid = s->bodies * s->body_size, solid = rigid + s->soft_size;
  UP_ONE(MATERIAL, word32,
         i >= solid && i < solid + s->boundary
             ? oz_slip_word(i % 3 ? 0.4f * (float)(i % 3) : 0.0f, up)
             : i % 4 == 1);
  UP_ONE(RANK, word32, i);
  UP_ONE(SOURCE, word32, s->source[i]);
  UP_ONE(OWNER, word32,
         i < rigid   ? (uint32_t)OZ_OWNER_RIGID << OZ_OWNER_SHIFT | (1 + i / s->body_size)
         : i < solid ? (uint32_t)OZ_OWNER_SOFT << OZ_OWNER_SHIFT | (1 + s->bodies)
         : i < solid + s->boundary ? (uint32_t)OZ_OWNER_BOUNDARY << OZ_OWNER_SHIFT | 1
                                   : 0);
  /* turned by a right angle, and not quite the shape that it is in */
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t c = 0; c < 3; ++c)
      force[c * n + i] = (c == 0   ? s->x[i][1]
                          : c == 1 ? -s->x[i][0]
                                   : s->x[i][2]) +
                         0.001f * random_float(state);
  /* of a collider that stands at the origin */
  for (uint32_t i = solid; i < solid + s->boundary; ++i)
    for (uint32_t c = 0; c < 3; ++c) force[c * n + i] = s->x[i][c];
  UP(REFERENCE, force);
  for (uint32_t i = 0; i < 3 * n; ++i)
    force[i] = (i % n >= solid && i % n < solid + s->boundary ? 2e-5f : 1.0f) * random_float(state);
  UP(FORCE, force);
}

static void fill_nozzle(oz_backend *b) {
  ooze_message why = {""};
  oz_nozzle z;
  memset(&z, 0, sizeof z);
  z.handle = 7;
  z.p0[1] = separation * 10;
  z.p1[1] = z.p0[1] + 0.0003f;
  z.q0[3] = z.q1[3] = 1;
  z.speed = 0.5f;
  z.disturbance = 0.01f;
  CHECK(b->table->nozzles(b, &z, 1, &why) == OOZE_OK, "%s", why.text);
}

static void fill_bodies(oz_backend *b, const scene *s) {
  const uint32_t rigid = s->bodies * s->body_size, solid = rigid + s->soft_size;
  ooze_message why = {""};
  oz_body body[3];
  memset(body, 0, sizeof body);
  for (uint32_t i = 0; i < s->bodies; ++i) {
    body[i].handle = i + 1, body[i].kind = OZ_OWNER_RIGID, body[i].friction = 0.5f;
    body[i].first_id = 5 + i * s->body_size, body[i].first = i * s->body_size,
    body[i].count = s->body_size;
  }
  if (s->soft_size) body[s->bodies] = soft_body(s);
  CHECK(b->table->bodies(b, body, s->bodies + (s->soft_size > 0), solid, &why) == OOZE_OK, "%s",
        why.text);
  tie(b, s, rigid, solid);
}

static void fill(oz_cpu *cpu, const scene *s) {
  oz_backend *b = &cpu->base;
  ooze_message why = {""};
  uint32_t state = 1;
  CHECK(b->table->resize(b, s->count, &why) == OOZE_OK, "%s", why.text);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; ++k)
    CHECK(b->table->provide(b, (oz_field)k, &why) == OOZE_OK, "%s", why.text);
  /* values of an earlier run would look like words that this one has not written */
  oz_frame f;
  b->table->frame(b, &f);
  for (int k = 0; k < ARRAYS; ++k)
    memset(pointer(&f, arrays[k].member), 0, (size_t)f.stride * arrays[k].words * 4);
  fill_motion(b, s, &state);
  fill_material(b, s, &state);
  fill_owners(b, s, &state);
  CHECK(b->table->colliders(b, s->collider, s->colliders, NULL, NULL, 0, &why) == OOZE_OK, "%s",
        why.text);
  friction_map(b);
  fill_nozzle(b);
  CHECK(b->table->matter(b, stage_matter, 2, &why) == OOZE_OK, "%s", why.text);
  fill_bodies(b, s);
}

static oz_cpu *make(oz_memory *memory, const ooze_hooks *hooks, uint32_t isa) {
  oz_backend_desc desc = {.isa = isa,
                          .threads = 1,
                          .tasks = OOZE_TASKS_SERIAL,
                          .device = -1,
                          .memory = memory,
                          .hooks = hooks};
  oz_backend *b = NULL;
  ooze_message why = {""};
  ooze_result r = oz_cpu_backend_create(&desc, &b, &why);
  if (r == OOZE_ERROR_UNSUPPORTED) return NULL;
  CHECK(r == OOZE_OK, "%s", why.text);
  return (oz_cpu *)(void *)b;
}

/* Substeps of one scheme, stage by stage on both. */
static void run_scheme(twin *t, const scene *s, const ooze_params *params, uint32_t relaxation,
                       int substeps) {
  ooze_params p = *params;
  oz_step step;
  memset(&step, 0, sizeof step);
  fill(t->plain, s);
  fill(t->vector, s);
  step.backend = &t->base;
  step.params = &p;
  step.velocity_iterations = p.velocity_iterations;
  step.position_iterations = p.position_iterations;
  step.separation = separation;
  step.has_relaxation_time = step.draws = step.has_memory = relaxation;
  step.has_yield = relaxation;
  step.laws = laws;
  step.has_heat = 1;
  step.has_air = 1;
  step.has_tension = step.has_adhesion = 1;
  step.has_ramps = strcmp(s->name, "corner") == 0;
  step.diffusivity = 2e-5f;
  /* half elastic, half fluid: mixed, it would be neither in the next substep */
  step.has_mixing = p.model == OOZE_MODEL_LINKS;
  step.mixing = 2e-4f;
  step.has_walls = s->colliders > 0;
  step.has_nozzles = 1;
  step.has_boundary = step.has_loads = step.has_slip = s->boundary > 0;
  const oz_body soft = soft_body(s);
  step.has_soft = step.soft_tears = s->soft_size > 0;
  /* the printed method inverts sums that held particles make nearly singular */
  const int held = s->soft_size > 0 && p.scheme != OOZE_SCHEME_PAPER;
  step.has_stick = step.has_cling = held;
  step.soft_rate = soft.young * soft.stretch_bound + soft.bulk * soft.volume_bound;
  step.soft_damped = step.soft_rate * soft.damping;
  for (int k = 0; k < substeps; ++k) {
    ooze_message why = {""};
    p.velocity_tolerance = k ? 1e-6f : 0;
    /* afterwards it is where it is held: its velocity is rounding */
    step.has_driven = held && k == 0;
    ooze_result r = oz_models[p.model](&step, s->dt, &why);
    CHECK(r >= 0, "%s, scheme %u: %s: %s", s->name, p.scheme, ooze_result_name(r), why.text);
    CHECK_NEAR(step.bad, 0, 0, "nothing here should go non-finite");
    step.time += (double)s->dt;
  }
}

static void run_scene(twin *t, const char *name, void (*make_scene)(scene *), double slack) {
  static scene s;
  memset(&s, 0, sizeof s);
  s.name = t->scene = name;
  s.dt = 0.002f;
  s.random = 1;
  make_scene(&s);
  CHECK(s.count % OZ_PAD != 0, "%s: %u particles fill every vector: the tail is not tested", name,
        s.count);
  t->slack = slack;
  /* the largest scene as it is, the others also without relaxation and without optional parts:
   * under an emulator each substep takes a second */
  uint32_t variants = s.count > 1000 ? 1 : 3;
  for (uint32_t scheme = 0; scheme <= OOZE_SCHEME_STRESS; ++scheme)
    for (uint32_t variant = 0; variant < variants; ++variant) {
      ooze_params p;
      ooze_params_default(&p);
      p.shifting = 1.0f; /* its stages, too */
      p.scheme = scheme;
      p.velocity_iterations = 3;
      p.position_iterations = 2;
      p.max_speed = 20;
      if (variant == 2)
        p.corotation = p.gradient_correction = p.split_compliance = p.wall_density = 0;
      run_scheme(t, &s, &p, variant != 1, variant ? 1 : 2);
    }
  {
    ooze_params p;
    ooze_params_default(&p);
    p.velocity_iterations = 3;
    p.position_iterations = 2;
    p.max_speed = 20;
    for (laws = s.count > 1000 ? OZ_LAW_RATE : 0; laws && laws <= OZ_LAW_SOLVENT; laws *= 2)
      run_scheme(t, &s, &p, 1, 1);
    laws = 0;
  }
  for (uint32_t model = 1; model < OOZE_MODEL_COUNT; ++model)
    for (uint32_t stress = 0; stress <= (model == OOZE_MODEL_CAUCHY ? OOZE_CAUCHY_COMPLEX : 0);
         ++stress) {
      ooze_params p;
      ooze_params_default(&p);
      p.shifting = 1.0f; /* its stages, too */
      if (!oz_models[model]) continue;
      p.model = model;
      p.position_iterations = 2;
      p.springs_viscosity = 0.2f;
      p.springs_stick = 0.2f;
      p.cauchy_stress = stress;
      p.cauchy_iterations = 3;
      p.blend_interval = 0.004f; /* looks at the second substep */
      p.blend_yield = 0;
      t->scene = name;
      run_scheme(t, &s, &p, 1, 2);
    }
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
  if (isa == OOZE_ISA_AVX512 &&
      !(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")))
    OZ_SKIP("no AVX-512 here");
#endif
  t.vector = make(&memory[1], &hooks, isa);
  if (!t.vector) OZ_SKIP("not in this build");
  t.plain = make(&memory[0], &hooks, OOZE_ISA_SCALAR);
  CHECK(t.plain != NULL);
  t.base.table = &twin_table;
  t.wall = (oz_wall *)calloc(MOST * OZ_PLANES, sizeof *t.wall);
  t.impulse = (float *)calloc(MOST * OZ_PLANES * 3, sizeof *t.impulse);
  t.row = (oz_wall_row *)calloc(MOST, sizeof *t.row);
  t.slip = (oz_wall_slip *)calloc(MOST, sizeof *t.slip);
  t.planes = (uint32_t *)calloc(MOST, sizeof *t.planes);
  t.particle = (uint32_t *)calloc(MOST, sizeof *t.particle);
  for (int k = 0; k < ARRAYS; ++k)
    t.before[k] = (float *)calloc((MOST + 2 * OZ_PAD) * arrays[k].words, sizeof(float));
  /* one capacity for both throughout, so that offsets agree */
  ooze_message why = {""};
  CHECK(t.plain->base.table->reserve(&t.plain->base, MOST, &why) == OOZE_OK, "%s", why.text);
  CHECK(t.vector->base.table->reserve(&t.vector->base, MOST, &why) == OOZE_OK, "%s", why.text);

  /* where F is nearly singular its rotation, and where two particles are one point its gradient,
   * may be anything */
  run_scene(&t, "block", block_scene, 1);
  run_scene(&t, "corner", corner_scene, 1);
  run_scene(&t, "fast", fast_scene, 10);
  run_scene(&t, "odd", odd_scene, 10);

  for (int k = 0; k < OZ_STAGE_COUNT; ++k)
    printf("  %-16s %.3f of the tolerance, %.4f differ by roundings of halves\n", oz_stage_names[k],
           t.worst[k], t.coarse[k]);
  uint32_t missing = 0;
  for (int k = 0; k < OZ_STAGE_COUNT; ++k)
    if (!t.ran[k]) missing++, fprintf(stderr, "%s was never run\n", oz_stage_names[k]);
  CHECK(missing == 0, "%u stages were never run: the list and the models differ", missing);
  CHECK(t.loads > 1000, "%llu loads that are not zero", (unsigned long long)t.loads);
  CHECK(t.links > 10000, "%llu links", (unsigned long long)t.links);
  CHECK(t.rebuilt && t.filtered, "density lists: %u made anew, %u filtered", t.rebuilt, t.filtered);
  t.plain->base.table->destroy(&t.plain->base);
  t.vector->base.table->destroy(&t.vector->base);
  free(t.wall);
  free(t.impulse);
  free(t.row);
  free(t.planes);
  free(t.particle);
  for (int k = 0; k < ARRAYS; ++k) free(t.before[k]);
  CHECK_EQ(memory[0].bytes, 0);
  CHECK_EQ(memory[1].bytes, 0);
}

OZ_CASE(neon_agrees_with_scalar) { check_isa(OOZE_ISA_NEON); }
OZ_CASE(sse_agrees_with_scalar) { check_isa(OOZE_ISA_SSE); }
OZ_CASE(avx2_agrees_with_scalar) { check_isa(OOZE_ISA_AVX2); }
OZ_CASE(avx512_agrees_with_scalar) { check_isa(OOZE_ISA_AVX512); }

OZ_TEST_MAIN()
