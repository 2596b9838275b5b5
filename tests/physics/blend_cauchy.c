/* The models blend (Takamatsu & Kanai 2011) and cauchy (Mukai et al.) in the whole solver.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "solver_kit.h"

#include "ooze/ooze.h"

OZ_TEST_MAIN()

static const float D = 0.02f; /* m */

static ooze_solver *make(const ooze_params *params, uint32_t threads) {
  ooze_solver_desc desc = cpu_desc(D, OOZE_TASKS_AUTO);
  desc.threads = threads;
  ooze_solver *s = solver_of(&desc);
  CHECK_OK(ooze_params_set(s, params), s);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = params->model == OOZE_MODEL_CAUCHY ? 28.0f : 1.0f;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  return s;
}
static void add_cube(ooze_solver *s, int n, float x0, float y0, const float u[3], float spin) {
  enum { MOST = 1000 };
  static float x[3 * MOST], v[3 * MOST];
  uint32_t k = 0;
  CHECK(n * n * n <= MOST);
  const float middle = 0.5f * (float)(n - 1);
  for (int i = 0; i < n * n * n; ++i, ++k) {
    const float at[3] = {(float)(i % n) - middle, (float)(i / n % n) - middle,
                         (float)(i / n / n) - middle};
    for (int c = 0; c < 3; ++c) x[3 * k + (uint32_t)c] = D * at[c], v[3 * k + (uint32_t)c] = u[c];
    v[3 * k] -= spin * D * at[1], v[3 * k + 1] += spin * D * at[0];
    x[3 * k] += x0, x[3 * k + 1] += y0;
  }
  ooze_particles p;
  ooze_particles_default(&p);
  p.count = k, p.positions = x, p.velocities = v;
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
}
static void add_floor(ooze_solver *s) {
  ooze_collider_desc c;
  uint32_t handle;
  ooze_collider_desc_default(&c);
  c.shape = OOZE_SHAPE_PLANE;
  c.friction = 0.3f;
  CHECK_OK(ooze_collider_add(s, &c, &handle), s);
}
typedef struct state {
  uint32_t n;
  float x[3 * 1000], u[3 * 1000];
} state;
static const state *look(ooze_solver *s) {
  static state t;
  t.n = ooze_particle_count(s);
  CHECK(t.n <= 1000);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, t.n, 0, t.x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, t.n, 0, t.u), s);
  return &t;
}
static double mean(const state *t, const float *of, int axis) {
  double sum = 0;
  for (uint32_t i = 0; i < t->n; ++i) sum += (double)of[3 * i + (uint32_t)axis];
  return sum / t->n;
}
static double extent(const state *t, int axis) {
  double low = 1e9, high = -1e9;
  for (uint32_t i = 0; i < t->n; ++i)
    low = fmin(low, (double)t->x[3 * i + (uint32_t)axis]),
    high = fmax(high, (double)t->x[3 * i + (uint32_t)axis]);
  return high - low;
}
static double spin_of(const state *t) { /* per mass, about the middle, along z */
  double mx = mean(t, t->x, 0), my = mean(t, t->x, 1), sum = 0;
  for (uint32_t i = 0; i < t->n; ++i)
    sum += ((double)t->x[3 * i] - mx) * (double)t->u[3 * i + 1] -
           ((double)t->x[3 * i + 1] - my) * (double)t->u[3 * i];
  return sum / t->n;
}
static void step(ooze_solver *s, int frames) {
  for (int f = 0; f < frames; ++f) CHECK_OK(ooze_step(s, 1.0 / 24), s);
}
static ooze_params params_of(uint32_t model) {
  ooze_params p;
  ooze_params_default(&p);
  p.model = model;
  if (model == OOZE_MODEL_CAUCHY) p.substeps = 20, p.cauchy_iterations = 15;
  return p;
}

OZ_CASE(blocks_that_collide_keep_their_momentum) {
  static const uint32_t models[] = {OOZE_MODEL_BLEND, OOZE_MODEL_CAUCHY};
  for (int k = 0; k < 2; ++k) {
    ooze_params p = params_of(models[k]);
    memset(p.gravity, 0, sizeof p.gravity);
    /* shape matching moves to means of goals, which keep it only on the average */
    p.blend_alpha = 1.0f;
    ooze_solver *s = make(&p, 1);
    const float u[3] = {0.8f, 0, 0}, v[3] = {-0.2f, 0.1f, 0};
    add_cube(s, 5, 0, 0, u, 0);
    add_cube(s, 5, 6.5f * D, D, v, 0);
    step(s, 6);
    const state *t = look(s);
    CHECK(fabs(mean(t, t->u, 0) - 0.3) < 2e-4, "model %u: %g m/s", models[k], mean(t, t->u, 0));
    CHECK(fabs(mean(t, t->u, 1) - 0.05) < 2e-4, "model %u: %g m/s", models[k], mean(t, t->u, 1));
    CHECK(fabs((double)t->u[0] - 0.8) > 0.05, "model %u: they did not touch", models[k]);
    ooze_solver_destroy(s);
  }
}

/* A cube at rest that has fallen on a floor for so many steps. */
static ooze_solver *fallen_cube(const ooze_params *p, int side, float height, int steps) {
  const float still[3] = {0, 0, 0};
  ooze_solver *s = make(p, 1);
  add_floor(s);
  add_cube(s, side, 0, height, still, 0);
  step(s, steps);
  return s;
}

OZ_CASE(blend_goes_from_solid_to_fluid) {
  double wide[3], high[3];
  static const float alphas[3] = {0.0f, 0.7f, 1.0f};
  for (int k = 0; k < 3; ++k) {
    ooze_params p = params_of(OOZE_MODEL_BLEND);
    p.blend_alpha = alphas[k];
    ooze_solver *s = fallen_cube(&p, 7, 0.2f, 10);
    const state *t = look(s);
    wide[k] = extent(t, 0);
    step(s, 2);
    t = look(s);
    high[k] = mean(t, t->x, 1);
    ooze_solver_destroy(s);
  }
  CHECK(wide[0] < 8 * (double)D && wide[2] > 2 * wide[1] && wide[1] > wide[0], "widths %g %g %g m",
        wide[0], wide[1], wide[2]);
  CHECK(high[0] > high[1] && high[1] > high[2], "heights %g %g %g m", high[0], high[1], high[2]);
}

/* A time shorter than a substep pulled particles beyond their places, 166 m/s. */
OZ_CASE(blend_time_is_no_shorter_than_a_substep) {
  double tops[2];
  for (int k = 0; k < 2; ++k) {
    ooze_params p = params_of(OOZE_MODEL_BLEND);
    p.blend_alpha = 0.3f, p.substeps = 4;
    p.blend_time = k ? 1e-5f : 1.0f / 96;
    ooze_solver *s = fallen_cube(&p, 6, 2.5f * D, 8);
    tops[k] = extent(look(s), 1);
    ooze_solver_destroy(s);
  }
  CHECK_EQ(tops[0], tops[1]);
}

OZ_CASE(a_spinning_solid_stays_a_solid) {
  ooze_params p = params_of(OOZE_MODEL_BLEND);
  p.blend_alpha = 0;
  memset(p.gravity, 0, sizeof p.gravity);
  ooze_solver *s = make(&p, 1);
  const float still[3] = {0, 0, 0};
  add_cube(s, 7, 0, 0, still, 6.0f);
  const double before = spin_of(look(s));
  step(s, 24); /* most of a turn: rotations are found from any start */
  const state *t = look(s);
  CHECK_NEAR(spin_of(t) / before, 1, 0.05, "what is left of the spin");
  double far = 0, diagonal = 0.5 * 6 * (double)D * sqrt(3.0);
  for (uint32_t i = 0; i < t->n; ++i)
    far = fmax(far, sqrt(pow((double)t->x[3 * i], 2) + pow((double)t->x[3 * i + 1], 2) +
                         pow((double)t->x[3 * i + 2], 2)));
  CHECK_NEAR(far / diagonal, 1, 0.08, "its corners");
  ooze_solver_destroy(s);
}

/* Table 2's material: viscosity holds a drop together, elasticity alone lets it go to pieces. */
OZ_CASE(cauchy_viscosity_damps_and_keeps_volume) {
  double energy[2];
  for (int k = 0; k < 2; ++k) {
    ooze_params p = params_of(OOZE_MODEL_CAUCHY);
    p.cauchy_stress = k ? OOZE_CAUCHY_COMPLEX : OOZE_CAUCHY_VISCOUS;
    ooze_solver *s = fallen_cube(&p, 6, 0.1f, 7);
    const state *t = look(s);
    energy[k] = 0;
    for (uint32_t i = 0; i < 3 * t->n; ++i)
      energy[k] += 0.5 * (double)t->u[i] * (double)t->u[i] / t->n;
    float most = 0, one[216];
    CHECK_OK(ooze_attribute_read(s, OOZE_COMPRESSION, 0, t->n, 0, one), s);
    for (uint32_t i = 0; i < t->n; ++i) most = one[i] > most ? one[i] : most;
    /* the worst particle of a drop that breaks */
    CHECK(most < 0.15f, "stress %d: compressed by %g", k, (double)most);
    ooze_solver_destroy(s);
  }
  CHECK(energy[0] < 0.3 * energy[1], "viscous %g, complex %g m^2/s^2", energy[0], energy[1]);
}

/* Explicit forces: a light fluid, a high viscosity, stiffness or tension and a long substep are
 * more than a substep bears, and only as much is used. Each of these was thrown apart, some at 10^4
 * m/s without a word (tests/fuzz/scenes.py OOZE 1 700084). */
OZ_CASE(cauchy_uses_no_more_of_its_forces_than_a_substep_bears) {
  static const struct {
    uint32_t stress;
    float density, viscosity, young, tension;
  } rows[] = {{OOZE_CAUCHY_VISCOUS, 10, 100, 0, 0},    {OOZE_CAUCHY_VISCOUS, 10, 0, 0, 10},
              {OOZE_CAUCHY_ELASTIC, 10, 0, 1050, 0},   {OOZE_CAUCHY_ELASTIC, 1000, 0, 1e6f, 0},
              {OOZE_CAUCHY_MIXED, 1000, 28, 25e3f, 0}, {OOZE_CAUCHY_COMPLEX, 1, 28, 1e6f, 0.03f}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
    ooze_params p = params_of(OOZE_MODEL_CAUCHY);
    p.substeps = 4;
    p.cauchy_stress = rows[k].stress;
    p.cauchy_young = rows[k].young;
    p.cauchy_tension = rows[k].tension;
    ooze_solver *s = make(&p, 1);
    ooze_material m;
    ooze_material_default(&m);
    m.density = rows[k].density, m.viscosity = rows[k].viscosity;
    CHECK_OK(ooze_material_set(s, 0, &m), s);
    const float still[3] = {0, 0, 0};
    add_cube(s, 6, 0, 0.1f, still, 0);
    add_floor(s);
    double most = 0;
    for (int n = 0; n < 20; ++n) {
      ooze_stats t;
      ooze_stats_default(&t);
      CHECK_OK(ooze_step(s, 1.0 / 30), s);
      CHECK_OK(ooze_stats_get(s, &t), s);
      most = fmax(most, t.max_speed);
    }
    printf("  row %d: %.3g m/s at most\n", (int)k, most);
    CHECK(most < 8.0, "row %d: %g m/s; a fall of 4 cm gives 0.9, a bounce of a lattice 7", (int)k,
          most);
    ooze_solver_destroy(s);
  }
}

/* Straight on, and by a checkpoint half way, with other threads: the same bits. */
OZ_CASE(resume_and_threads_change_no_bit) {
  static const uint32_t models[] = {OOZE_MODEL_BLEND, OOZE_MODEL_CAUCHY};
  for (int k = 0; k < 2; ++k) {
    ooze_params p = params_of(models[k]);
    uint64_t straight = 0, resumed = 0;
    const float fall[3] = {0.3f, -1.0f, 0};
    ooze_solver *s = make(&p, 1);
    add_floor(s);
    add_cube(s, 7, 0, 0.1f, fall, 3.0f);
    step(s, 4);
    CHECK_OK(ooze_state_hash(s, &straight), s);
    ooze_solver_destroy(s);

    s = make(&p, 2);
    add_floor(s);
    add_cube(s, 7, 0, 0.1f, fall, 3.0f);
    step(s, 2);
    size_t bytes = 0;
    CHECK_OK(ooze_checkpoint_size(s, &bytes), s);
    void *memory = malloc(bytes);
    CHECK(memory != NULL);
    CHECK_OK(ooze_checkpoint_save(s, memory, bytes, NULL), s);
    ooze_solver_destroy(s);
    ooze_params other = params_of(OOZE_MODEL_CONFORMATION);
    s = make(&other, 4);
    CHECK_OK(ooze_checkpoint_load(s, memory, bytes), s);
    free(memory);
    step(s, 2);
    CHECK_OK(ooze_state_hash(s, &resumed), s);
    CHECK(straight == resumed, "model %u: %llx straight, %llx resumed", models[k],
          (unsigned long long)straight, (unsigned long long)resumed);
    ooze_solver_destroy(s);
  }
}

OZ_CASE(particles_that_are_there_give_the_shape_when_the_model_is_chosen) {
  ooze_params p = params_of(OOZE_MODEL_CONFORMATION);
  ooze_solver *s = make(&p, 1);
  const float still[3] = {0, 0, 0};
  add_cube(s, 6, 0.5f, 0.5f, still, 0);
  p.model = OOZE_MODEL_BLEND;
  p.blend_alpha = 0;
  memset(p.gravity, 0, sizeof p.gravity);
  CHECK_OK(ooze_params_set(s, &p), s);
  step(s, 2);
  const state *t = look(s);
  CHECK_NEAR(extent(t, 0), 5 * (double)D, 1e-4, "a shape at the origin would have pulled it apart");
  ooze_solver_destroy(s);
}

OZ_CASE(bodies_are_refused_and_the_solver_goes_on_without_them) {
  static const uint32_t models[] = {OOZE_MODEL_BLEND, OOZE_MODEL_CAUCHY};
  static const float x[12] = {0, 0, 0, 0.02f, 0, 0, 0, 0.02f, 0, 0, 0, 0.02f};
  for (int k = 0; k < 2; ++k) {
    ooze_params p = params_of(models[k]);
    ooze_solver *s = make(&p, 1);
    ooze_body_desc d;
    ooze_body body = 0;
    const float still[3] = {0, 0, 0};
    add_cube(s, 4, 0.5f, 0.5f, still, 0);
    ooze_body_desc_default(&d);
    d.count = 4, d.positions = x;
    CHECK_OK(ooze_body_add(s, &d, &body), s);
    CHECK_EQ(ooze_step(s, 1.0 / 24), OOZE_ERROR_UNSUPPORTED);
    CHECK(strstr(ooze_solver_message(s), "has no bodies") != NULL, "%s", ooze_solver_message(s));
    CHECK_OK(ooze_body_remove(s, body), s);
    CHECK_OK(ooze_step(s, 1.0 / 24), s);
    ooze_solver_destroy(s);
  }
}
