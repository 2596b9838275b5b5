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
#include "cuda/stage_scene.h"

_Static_assert(3 * sizeof(oz_frame) + 40 <= 4096,
               "what a kernel can be given (cuda/wall_votes.cu)");

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
  step.has_relaxation_time = step.draws = step.has_memory = step.has_yield = step.has_walls =
      step.has_nozzles = step.has_boundary = step.has_loads = step.has_slip = 1;
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

#if defined(OZ_TEST_DEVICE)
static const double tolerance = 5e-4;
#else
/* density: rows of both end within the skin, and a particle that moved further counts in one alone
 */
static const double tolerance = 4e-3;
#endif

static void needs_device(void) {
#if defined(OZ_TEST_DEVICE)
  const char *detail = "";
  if (!oz_cuda_usable(&detail)) OZ_SKIP(detail);
#endif
}

OZ_CASE(every_stage_gives_the_same_on_both_backends) {
  uint32_t ran[OZ_STAGE_COUNT] = {0};
  needs_device();
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
  unsetenv("OOZE_CUDA_LANES");
  /* lists are looked at as soon as they are made */
  setenv("OOZE_CUDA_DEBUG_DISABLE", "deferred_checks", 1);
  stages(FREE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_DEBUG_DISABLE");
  /* explicit: differences grow within the substep */
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_STRESS, 10.0 * tolerance, ran);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_POSITION, tolerance, ran);
  stages(LATTICE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_PAPER, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_BLEND, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(RANDOM, OOZE_MODEL_CAUCHY, OOZE_SCHEME_OOZE, tolerance, ran);
  for (int k = 0; k < OZ_STAGE_COUNT; k++) CHECK(ran[k], "%s never ran", oz_stage_names[k]);
}

OZ_CASE_SLOW(so_it_does_however_kernels_are_launched) {
  uint32_t ran[OZ_STAGE_COUNT] = {0};
  needs_device();
  setenv("OOZE_CUDA_LANES", "2", 1);
  stages(CALM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  setenv("OOZE_CUDA_LANES", "4", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  /* blocks with more neighbours than there is room for copies */
  setenv("OOZE_CUDA_SHARE", "128", 1);
  stages(RANDOM, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_SHARE"), unsetenv("OOZE_CUDA_LANES");
}

OZ_CASE_SLOW(so_it_does_in_states_of_all_kinds) {
  uint32_t ran[OZ_STAGE_COUNT] = {0};
  needs_device();
  setenv("OOZE_CUDA_DEBUG_DISABLE", "deferred_checks", 1);
  setenv("OOZE_CUDA_LANES", "1", 1);
  stages(FREE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, tolerance, ran);
  unsetenv("OOZE_CUDA_LANES"), unsetenv("OOZE_CUDA_DEBUG_DISABLE");
  /* sums of 240 opposing terms */
  stages(DEGENERATE, OOZE_MODEL_CONFORMATION, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  stages(DEGENERATE, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  stages(DEGENERATE, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, 6.0 * tolerance, ran);
  stages(LATTICE, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(CALM, OOZE_MODEL_LINKS, OOZE_SCHEME_OOZE, tolerance, ran);
  stages(LATTICE, OOZE_MODEL_SPRINGS, OOZE_SCHEME_OOZE, tolerance, ran);
}

/* The part of a substep before links may be made, and the rule that makes them of all near pairs;
 * then once more after everything has moved, so that sorting takes them along. */
OZ_CASE(links_are_the_same_on_both_backends) {
  oz_memory memory;
  static both t;
  ooze_message why = {""};
  ooze_params params;
  needs_device();
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

OZ_TEST_MAIN()
