/* A fault of one particle stays with it; conserved quantities are kept.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS backend */
#include "check.h"
#include "solver_kit.h"
#include "core/solver.h"

static const float separation = 0.02f;
static const double volume = 8e-6; /* about, of one particle */

static uint32_t width = OOZE_ISA_AUTO; /* vector width of the solvers that make() returns */

static ooze_solver *make(uint32_t scheme, float gravity) {
  ooze_params p;
  ooze_solver_desc desc = cpu_desc(separation, OOZE_TASKS_SERIAL);
  desc.isa = width;
  ooze_solver *s = solver_of(&desc);
  ooze_params_default(&p);
  p.scheme = scheme;
  p.substeps = 1;
  p.gravity[1] = gravity;
  CHECK_OK(ooze_params_set(s, &p), s);
  return s;
}

static uint32_t add_material(ooze_solver *s, float density, float viscosity, float tau,
                             float compliance) {
  ooze_material m;
  uint32_t index;
  ooze_material_default(&m);
  m.density = density, m.viscosity = viscosity, m.relaxation_time = tau, m.compliance = compliance;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  return index;
}

static float random_float(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(int32_t)*state * (1.0f / 2147483648.0f);
}

enum { SIDE = 8, BLOCK = SIDE * SIDE * SIDE };
static void add_block(ooze_solver *s, uint32_t material, float y, float speed) {
  static float x[BLOCK][3], u[BLOCK][3];
  uint32_t state = 3;
  ooze_particles add;
  for (int i = 0; i < BLOCK; ++i) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int c = 0; c < 3; ++c) {
      x[i][c] = separation * ((float)at[c] + 0.1f * random_float(&state)) + (c == 1 ? y : 0);
      u[i][c] = speed * random_float(&state);
    }
  }
  ooze_particles_default(&add);
  add.count = BLOCK;
  add.material = material;
  add.positions = x;
  add.velocities = u;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
}

/* ---- containment ------------------------------------------------------------------------- */

static void check_finite(ooze_solver *s, const char *what) {
  static float v[2 * BLOCK][6];
  static const ooze_attribute all[] = {OOZE_POSITION, OOZE_VELOCITY, OOZE_CONFORMATION,
                                       OOZE_COMPRESSION, OOZE_STRESS};
  uint32_t n = ooze_particle_count(s);
  CHECK(n <= 2 * BLOCK);
  for (uint32_t a = 0; a < sizeof all / sizeof *all; ++a) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    CHECK(ooze_attribute_describe(all[a], &info) == OOZE_OK);
    CHECK_OK(ooze_attribute_read(s, all[a], 0, n, sizeof v[0], v), s);
    /* of the substep in which it happened */
    if (all[a] == OOZE_COMPRESSION || all[a] == OOZE_STRESS) continue;
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t c = 0; c < info.components; ++c)
        CHECK(isfinite(v[i][c]), "%s: %s.%u of rank %u is %g", what, info.name, c, i,
              (double)v[i][c]);
  }
}

/* Steps; all numbers stay numbers, no particle is lost, few were reset and the first of them is
 * named.
 */
static uint32_t step_contained(ooze_solver *s, const char *what, uint32_t most, uint64_t first) {
  ooze_stats stats;
  uint32_t count = ooze_particle_count(s);
  ooze_result r = ooze_step(s, 0.005);
  CHECK(r == OOZE_OK || r == OOZE_CONTAINED, "%s: %s: %s", what, ooze_result_name(r),
        ooze_solver_message(s));
  ooze_stats_default(&stats);
  CHECK_OK(ooze_stats_get(s, &stats), s);
  check_finite(s, what);
  CHECK(stats.contained <= most, "%s: %u particles were reset, expected %u at most", what,
        stats.contained, most);
  CHECK((r == OOZE_CONTAINED) == (stats.contained > 0), "%s: %s with %u reset", what,
        ooze_result_name(r), stats.contained);
  if (stats.contained) {
    char text[32];
    snprintf(text, sizeof text, "id %llu", (unsigned long long)first);
    CHECK(stats.first_contained == first, "%s: named id %llu, expected %llu", what,
          (unsigned long long)stats.first_contained, (unsigned long long)first);
    CHECK(strstr(ooze_solver_message(s), text) != NULL, "%s: \"%s\" does not say %s", what,
          ooze_solver_message(s), text);
  }
  CHECK(stats.particles + stats.killed == count, "%s: %u particles and %u removed, were %u", what,
        stats.particles, stats.killed, count);
  return stats.contained;
}

/* The state of one particle, in the backend's own memory. */
static float *reach(ooze_solver *s, uint64_t id, oz_frame *f, uint32_t *at) {
  s->backend->table->frame(s->backend, f);
  for (uint32_t i = 0; i < f->count; ++i)
    if (f->id[i] == id) {
      *at = i;
      return f->x + 4 * (size_t)i;
    }
  CHECK(0, "no id %llu", (unsigned long long)id);
  return NULL;
}

static void inject(const char *what, uint32_t scheme, int field, float value) {
  ooze_solver *s = make(scheme, -9.81f);
  add_block(s, add_material(s, 1000, 0, 0.1f, 1e-3f), 0.5f, 0.1f);
  ooze_collider_desc floor;
  ooze_collider handle;
  ooze_collider_desc_default(&floor);
  CHECK_OK(ooze_collider_add(s, &floor, &handle), s);
  CHECK_OK(ooze_step(s, 0.005), s);
  const uint64_t id = BLOCK / 2 + SIDE * SIDE / 2 + SIDE / 2; /* in the middle */
  oz_frame f;
  uint32_t i;
  CHECK_OK(s->backend->table->provide(s->backend, OZ_FIELD_FORCE, s->message), s);
  float *x = reach(s, id, &f, &i);
  if (field == 0) x[1] = value;
  if (field == 1) f.u[4 * (size_t)i + 1] = value;
  if (field == 2) f.q[(size_t)3 * f.stride + i] = value;
  if (field == 3) f.force[f.stride + i] = value;
  uint32_t reset = step_contained(s, what, 1, id);
  CHECK(reset == 1 || field == 0, "%s: %u were reset", what, reset);
  if (field == 3) { /* it is still there, and so it is found again each step */
    reach(s, id, &f, &i);
    f.force[f.stride + i] = 0;
  }
  for (int k = 0; k < 3; ++k) CHECK_EQ(step_contained(s, what, 0, 0), 0);
  CHECK(ooze_particle_count(s) >= BLOCK - (field == 0), "%s: %u particles are left", what,
        ooze_particle_count(s));
  ooze_solver_destroy(s);
}

static void inject_all(int field, const char *name) {
  static const char *const schemes[] = {"ooze", "paper", "position", "stress"};
  const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
  for (uint32_t scheme = 0; scheme <= OOZE_SCHEME_STRESS; ++scheme)
    for (int k = 0; k < 4; ++k) {
      char what[80];
      snprintf(what, sizeof what, "%s, %s of one particle %g", schemes[scheme], name,
               (double)bad[k]);
      inject(what, scheme, field, bad[k]);
    }
}
OZ_CASE(a_particle_without_a_position_is_contained) { inject_all(0, "position"); }
OZ_CASE(a_particle_without_a_velocity_is_contained) { inject_all(1, "velocity"); }
OZ_CASE(a_particle_without_a_conformation_is_contained) { inject_all(2, "conformation"); }
OZ_CASE(a_particle_without_a_force_is_contained) { inject_all(3, "force"); }

/* Without gravity others stand still too; the one that was reset is named all the same. */
OZ_CASE(the_contained_particle_is_named_where_all_are_at_rest) {
  ooze_solver *s = make(OOZE_SCHEME_OOZE, 0);
  float x[20][3];
  ooze_particles add;
  for (int i = 0; i < 20; ++i) x[i][0] = (float)i, x[i][1] = x[i][2] = 0;
  ooze_particles_default(&add);
  add.count = 20;
  add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  oz_frame f;
  uint32_t i;
  reach(s, 13, &f, &i);
  f.u[4 * (size_t)i] = NAN;
  CHECK_EQ(step_contained(s, "at rest", 1, 13), 1);
  CHECK_EQ(step_contained(s, "at rest", 0, 0), 0);
  ooze_solver_destroy(s);
}

enum { BLOCKS = 100, LOST = 1000 };
/* In the middle of a substep: after one stage, one word of one particle becomes no number. */
static struct {
  const oz_backend_table *table;
  oz_stage stage;
  size_t member;
  uint32_t record; /* floats a particle, 0: planes, BLOCKS + n: blocks of n */
  uint64_t id;
  int done;
} fault;

static ooze_result faulty_run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums,
                              ooze_message *why) {
  ooze_result r = fault.table->run(b, f, stage, sums, why);
  if (stage != fault.stage || fault.done++) return r;
  float *p;
  memcpy(&p, (const char *)f + fault.member, sizeof p);
  for (uint32_t i = 0; i < f->count; ++i)
    if (f->id[i] == fault.id)
      p[fault.record >= BLOCKS
            ? (size_t)(i / OZ_PAD) * OZ_PAD * (fault.record - BLOCKS) + i % OZ_PAD
        : fault.record ? (size_t)i * fault.record
                       : i] = NAN;
  return r;
}

static void break_within_a_substep(void) {
  static const struct {
    const char *name;
    oz_stage stage;
    size_t member;
    uint32_t record, resets;
  } cases[] = {
#define FAULT(resets, stage, member, record) \
  {#member " after " #stage, OZ_STAGE_##stage, offsetof(oz_frame, member), record, resets}
      /* multipliers, velocity and tensor are a particle's own: it is reset; from the others it
         recovers by itself. The gradient enters the sums over all particles: the fluid is lost, and
         the step says so */
      FAULT(1, velocity_start, lam, 0),
      FAULT(0, residual, cg_residual, BLOCKS + 6),
      FAULT(0, residual, A, 12),
      FAULT(0, force, dx, 4),
      FAULT(0, cg_apply, cg_applied, BLOCKS + 6),
      FAULT(1, cg_update, lam, 0),
      FAULT(1, cg_update, u, 4),
      FAULT(0, density_bound, density_relaxation, 0),
      FAULT(0, density_lambda, dx, 4),
      FAULT(1, strain, lam, 0),
      FAULT(0, strain, A, 12),
      FAULT(1, conform_update, q, 0),
      FAULT(0, filter_gradient, A, 12),
      FAULT(LOST, gradient, B, BLOCKS + 6),
      FAULT(LOST, gradient, gradient_sum, BLOCKS + 3),
      FAULT(0, bound, precond_eigenvalues, BLOCKS + 4),
      FAULT(0, bound, precond_rotation, BLOCKS + 4),
      FAULT(0, advance, y, 4),
      FAULT(0, density_lambda, y, 4),
      FAULT(0, conform_move, y2, 4),
  };
  for (uint32_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    ooze_solver *s = make(OOZE_SCHEME_OOZE, -9.81f);
    add_block(s, add_material(s, 1000, 0, 0.1f, 1e-3f), 0.5f, 0.1f);
    CHECK_OK(ooze_step(s, 0.005), s);
    oz_backend_table table = *s->backend->table;
    fault.table = s->backend->table;
    fault.stage = cases[k].stage, fault.member = cases[k].member, fault.record = cases[k].record;
    fault.id = BLOCK / 2 + SIDE * SIDE / 2 + SIDE / 2;
    fault.done = 0;
    table.run = faulty_run;
    s->backend->table = &table;
    if (cases[k].resets == LOST) {
      const ooze_result r = ooze_step(s, 0.005);
      s->backend->table = fault.table;
      CHECK(r == OOZE_LOST_DIVERGED, "%s: %s", cases[k].name, ooze_result_name(r));
      ooze_solver_destroy(s);
      continue;
    }
    uint32_t reset = step_contained(s, cases[k].name, cases[k].resets, fault.id);
    s->backend->table = fault.table;
    CHECK(fault.done && reset == cases[k].resets, "%s: %u were reset", cases[k].name, reset);
    for (int n = 0; n < 3; ++n) CHECK_EQ(step_contained(s, cases[k].name, 0, 0), 0);
    ooze_solver_destroy(s);
  }
}

/* A NaN has the same consequence in every vector width of this machine. */
OZ_CASE(what_breaks_within_a_substep_stays_there) {
  for (uint32_t index = 0; index < ooze_backend_count(); ++index) {
    ooze_backend_info info;
    ooze_backend_info_default(&info);
    CHECK(ooze_backend_get(index, &info) == OOZE_OK);
    if (info.backend != OOZE_BACKEND_CPU || !info.usable) continue;
    width = info.isa;
    break_within_a_substep();
  }
  width = OOZE_ISA_AUTO;
}

/* Particles that were put into one spot come apart without becoming bullets. */
OZ_CASE(a_heap_in_one_spot_comes_apart_slowly) {
  static const float spreads[] = {1e-3f, 0.1f, 0.5f}; /* separations */
  for (int k = 0; k < 3; ++k) {
    enum { HEAP = 300 };
    float x[HEAP][3];
    uint32_t state = 7;
    ooze_particles add;
    ooze_stats stats;
    double fastest = 0.0;
    ooze_solver *s = make(OOZE_SCHEME_OOZE, 0);
    for (int i = 0; i < HEAP; ++i)
      for (int c = 0; c < 3; ++c) x[i][c] = spreads[k] * separation * random_float(&state);
    ooze_particles_default(&add);
    add.count = HEAP;
    add.positions = x;
    add.material = add_material(s, 1000, 10, 0, 0);
    CHECK_OK(ooze_particles_add(s, &add, NULL), s);
    for (int n = 0; n < 40; ++n) {
      CHECK_OK(ooze_step(s, 0.005), s);
      ooze_stats_default(&stats);
      CHECK_OK(ooze_stats_get(s, &stats), s);
      fastest = fmax(fastest, stats.max_speed);
    }
    /* a quarter of a separation in a substep, and some more from the density of those that are out
     * of the crowd already
     */
    CHECK(fastest < 5.0 * 0.25 * (double)separation / (0.005 / (double)stats.substeps), "%g m/s",
          fastest);
    ooze_solver_destroy(s);
  }
}

/* The most absurd values that are accepted, one particle in the middle of a block. */
OZ_CASE(accepted_extremes_of_one_particle_leave_the_others_finite) {
  static const struct {
    const char *name;
    ooze_attribute attribute;
    float value[6];
  } cases[] = {
      {"velocity 1e6", OOZE_VELOCITY, {1e6f, -1e6f, 1e6f}},
      {"velocity 1e5", OOZE_VELOCITY, {0, 1e5f, 0}},
      {"force 1e9", OOZE_FORCE, {1e9f, 1e9f, -1e9f}},
      {"conformation 1e6", OOZE_CONFORMATION, {1e6f, 1e6f, 1e6f, 0, 0, 0}},
      {"conformation 1e6 and 1e-6", OOZE_CONFORMATION, {1e6f, 1e-6f, 1e-6f, 0, 0, 0}},
      {"conformation nearly singular", OOZE_CONFORMATION, {1, 1, 1, 0.9999999f, 0, 0}},
      {"conformation 1e-30", OOZE_CONFORMATION, {1e-6f, 1e-6f, 1e-6f, 0, 0, 0}},
      {"relaxation time 1e30", OOZE_RELAXATION_TIME, {1e30f}},
      {"relaxation time 1e-30", OOZE_RELAXATION_TIME, {1e-30f}},
      {"compliance 0", OOZE_COMPLIANCE, {0}},
      {"compliance 1e30", OOZE_COMPLIANCE, {1e30f}},
      {"compliance 1e-38", OOZE_COMPLIANCE, {1e-38f}},
      {"viscosity 1e12", OOZE_VISCOSITY, {1e12f}},
      {"viscosity 1e-30", OOZE_VISCOSITY, {1e-30f}},
      {"density 1e-3", OOZE_DENSITY, {1e-3f}},
      {"density 1e6", OOZE_DENSITY, {1e6f}},
  };
  for (uint32_t scheme = 0; scheme <= OOZE_SCHEME_STRESS; ++scheme)
    for (uint32_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
      char what[96];
      snprintf(what, sizeof what, "scheme %u, %s", scheme, cases[k].name);
      ooze_solver *s = make(scheme, -9.81f);
      add_block(s, add_material(s, 1000, 0, 0.1f, 1e-2f), 0.5f, 0.1f);
      const uint32_t rank = BLOCK / 2 + SIDE * SIDE / 2 + SIDE / 2;
      ooze_result r = ooze_attribute_write(s, cases[k].attribute, rank, 1, 0, cases[k].value);
      if (r >= 0)
        for (int n = 0; n < 3; ++n) {
          r = ooze_step(s, 0.005);
          /* nothing that is explicit bears a stiff particle */
          if (scheme == OOZE_SCHEME_STRESS && r == OOZE_LOST_DIVERGED) break;
          CHECK(r == OOZE_OK || r == OOZE_CONTAINED, "%s: %s: %s", what, ooze_result_name(r),
                ooze_solver_message(s));
          check_finite(s, what);
        }
      ooze_solver_destroy(s);
    }
}

/* ---- falling freely ---------------------------------------------------------------------- */

/* Groups of n, far from each other: up to OZ_MIN_NEIGHBOURS particles feel nothing of each other
 * but density, and that is below 1. */
static void check_fall(uint32_t scheme) {
  enum { GROUPS = OZ_MIN_NEIGHBOURS, SUBSTEPS = 60 };
  float x[16][3], u[16][3];
  double at[16][3], v[16][3];
  uint32_t n = 0, state = 5;
  for (int g = 1; g <= GROUPS; ++g)
    for (int k = 0; k < g; ++k, ++n)
      for (int c = 0; c < 3; ++c) {
        x[n][c] = (c == 0   ? 0.5f * (float)g
                   : c == 1 ? 1.0f
                            : 0) +
                  separation * (c == 2 ? 1.1f * (float)k : 0.2f * random_float(&state));
        u[n][c] = 0.5f * (float)c - 0.25f * (float)g;
        at[n][c] = (double)x[n][c], v[n][c] = (double)u[n][c];
      }
  ooze_solver *s = make(scheme, -9.81f);
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = n;
  add.material = add_material(s, 1000, 0, 0.2f, 1e-5f);
  add.positions = x;
  add.velocities = u;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  for (int k = 0; k < SUBSTEPS; ++k) {
    CHECK_OK(ooze_step(s, 0.005), s);
    for (uint32_t i = 0; i < n; ++i)
      for (int c = 0; c < 3; ++c) {
        v[i][c] += c == 1 ? 0.005 * (double)-9.81f : 0;
        at[i][c] += 0.005 * v[i][c];
      }
  }
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, u), s);
  for (uint32_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      CHECK_NEAR(x[i][c], at[i][c], 60 * 2.4e-7, "60 roundings of positions of 1 to 2 m");
      CHECK_NEAR(u[i][c], v[i][c], 60 * 4e-7, "60 roundings of speeds of some m/s");
    }
  ooze_solver_destroy(s);
}
OZ_CASE(one_to_four_particles_fall_on_parabolas) { check_fall(OOZE_SCHEME_OOZE); }
OZ_CASE(one_to_four_particles_fall_on_parabolas_in_the_printed_method) {
  check_fall(OOZE_SCHEME_PAPER);
}
OZ_CASE(one_to_four_particles_fall_on_parabolas_by_positions_alone) {
  check_fall(OOZE_SCHEME_POSITION);
}
OZ_CASE(one_to_four_particles_fall_on_parabolas_by_explicit_stress) {
  check_fall(OOZE_SCHEME_STRESS);
}

/* ---- momentum ---------------------------------------------------------------------------- */

typedef struct motion {
  /* momentum, angular momentum about the centre of mass, sums of their parts' sizes */
  double p[3], l[3], size, spin;
} motion;

static motion motion_of(ooze_solver *s) {
  static float x[2 * BLOCK][3], u[2 * BLOCK][3], m[2 * BLOCK];
  uint32_t n = ooze_particle_count(s);
  motion r;
  double mass = 0, centre[3] = {0, 0, 0};
  memset(&r, 0, sizeof r);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, n, 0, u), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_MASS, 0, n, 0, m), s);
  for (uint32_t i = 0; i < n; ++i) {
    mass += (double)m[i];
    for (int c = 0; c < 3; ++c) centre[c] += (double)m[i] * (double)x[i][c];
  }
  for (uint32_t i = 0; i < n; ++i) {
    double at[3], v[3];
    for (int c = 0; c < 3; ++c)
      at[c] = (double)x[i][c] - centre[c] / mass, v[c] = (double)m[i] * (double)u[i][c];
    for (int c = 0; c < 3; ++c) {
      double l = at[(c + 1) % 3] * v[(c + 2) % 3] - at[(c + 2) % 3] * v[(c + 1) % 3];
      r.p[c] += v[c];
      r.l[c] += l;
      r.size += fabs(v[c]);
      r.spin += fabs(l);
    }
  }
  return r;
}

/* Two densities, side by side; with relaxation time or without; random speeds and a spin. */
static void check_momentum(float tau, float viscosity, float compliance, float yield,
                           double spin_kept) {
  ooze_solver *s = make(OOZE_SCHEME_OOZE, 0);
  uint32_t light = add_material(s, 800, viscosity, tau, compliance),
           heavy = add_material(s, 2400, viscosity, tau, compliance);
  for (uint32_t i = light; i <= heavy; ++i) {
    ooze_material m;
    ooze_material_default(&m);
    CHECK_OK(ooze_material_get(s, i, &m), s);
    m.yield_stress = yield;
    CHECK_OK(ooze_material_set(s, i, &m), s);
  }
  static float x[BLOCK][3], u[BLOCK][3];
  static uint32_t material[BLOCK];
  add_block(s, light, 0, 0.2f);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, BLOCK, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, BLOCK, 0, u), s);
  for (int i = 0; i < BLOCK; ++i) {
    material[i] = x[i][0] > separation * (SIDE / 2) ? heavy : light;
    u[i][0] += 1 - 6 * (x[i][1] - 0.07f); /* moves along x and turns about z */
    u[i][1] += 6 * (x[i][0] - 0.07f);
  }
  CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, 0, BLOCK, 0, material), s);
  CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, 0, BLOCK, 0, u), s);
  motion a = motion_of(s);
  CHECK(a.size > 100 * volume, "it moves");
  for (int k = 0; k < 50; ++k) CHECK_OK(ooze_step(s, 0.004), s);
  motion b = motion_of(s);
  CHECK_EQ(ooze_particle_count(s), BLOCK);
  for (int c = 0; c < 3; ++c)
    CHECK_NEAR(b.p[c], a.p[c], 1e-6 * a.size,
               "pairs exchange momentum: equal and opposite but for rounding");
  CHECK(b.l[2] > spin_kept * a.l[2] && b.l[2] < 1.02 * a.l[2],
        "angular momentum went from %.6g to %.6g of parts of %.6g", a.l[2], b.l[2], a.spin);
  ooze_solver_destroy(s);
}
OZ_CASE(a_free_viscous_body_keeps_its_momentum) { check_momentum(0, 50, 0, 0, 0.95); }
OZ_CASE(a_free_elastic_body_keeps_its_momentum) { check_momentum(1, 0, 1e-3f, 0, 0.9); }
OZ_CASE(a_free_thin_liquid_keeps_its_momentum) { check_momentum(0, 0, 0.1f, 0, 0.9); }
/* the acceleration of slip goes from pair to pair as well (slip, filter.h) */
OZ_CASE(a_free_paste_keeps_its_momentum) { check_momentum(0, 20, 0, 200, 0.9); }

OZ_TEST_MAIN()
