/* Ways of launching CUDA's kernels, as host loops: joined or apart, with more or fewer threads,
 * with little memory, they do the same. SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* setenv */
#include "cuda/stage_scene.h"

#include "cuda/host_block.h"

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
  step.has_relaxation_time = step.draws = step.has_memory = relaxes != 0,
  step.has_tension = pulls != 0;
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
  oz_backend *b = host_loops(&memory);
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
  same_bits(NULL, 1);
  same_bits("2", 0); /* rows of places, neighbours in shared memory */
}

OZ_CASE_SLOW(any_way_of_launching_gives_the_same_bits) {
  same_bits(NULL, 0);
  same_bits("2", 1);
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
    seed = 8;
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
  ooze_message why = {""};
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  oz_memory_init(&memory, &hooks);
  const oz_backend_desc desc = host_loop_desc(&memory);
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
    oz_backend *b = host_loops(&memory);
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
  oz_backend *b = host_loops(&memory);
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

OZ_TEST_MAIN()
