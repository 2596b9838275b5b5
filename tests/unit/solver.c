/* Whole steps through the public interface: small scenes whose answer is known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "solver_kit.h"

static const float d = 0.02f;

static ooze_solver *make(ooze_params *p) {
  ooze_solver *s = serial_solver(d);
  ooze_params_default(p);
  return s;
}
/* The same, with parameters that are to be set without gravity. */
static ooze_solver *weightless(ooze_params *p) {
  ooze_solver *s = make(p);
  memset(p->gravity, 0, sizeof p->gravity);
  return s;
}

/* side^3 particles from `low` up. */
static void block(ooze_solver *s, int side, float x, float y, float z, const float velocity[3]) {
  enum { MOST = 10 * 10 * 10 };
  static float at[MOST][3], v[MOST][3];
  ooze_particles in;
  int n = side * side * side;
  CHECK(n <= MOST);
  for (int i = 0; i < n; ++i) {
    at[i][0] = x + d * (float)(i % side);
    at[i][1] = y + d * (float)(i / side % side);
    at[i][2] = z + d * (float)(i / (side * side));
    memcpy(v[i], velocity, sizeof v[i]);
  }
  ooze_particles_default(&in);
  in.count = (uint32_t)n;
  in.positions = at;
  in.velocities = v;
  CHECK_OK(ooze_particles_add(s, &in, NULL), s);
}

static ooze_stats stats_of(ooze_solver *s) {
  ooze_stats t;
  ooze_stats_default(&t);
  CHECK_OK(ooze_stats_get(s, &t), s);
  return t;
}

static double mean(ooze_solver *s, ooze_attribute a, int axis) {
  uint32_t n = ooze_particle_count(s);
  float v[3];
  double sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    CHECK_OK(ooze_attribute_read(s, a, i, 1, 0, v), s);
    sum += (double)v[axis];
  }
  return sum / n;
}

OZ_CASE(a_block_falls_as_far_as_it_should) {
  const float rest[3] = {0, 0, 0};
  ooze_params p;
  ooze_solver *s = make(&p);
  p.substeps = 4;
  CHECK_OK(ooze_params_set(s, &p), s);
  block(s, 6, 0, 2, 0, rest);
  double before = mean(s, OOZE_POSITION, 1), h = 0.01 / 4, t = 0.2;
  for (int i = 0; i < 20; ++i) CHECK_OK(ooze_step(s, 0.01), s);
  CHECK_NEAR(ooze_time(s), t, 1e-12, "20 steps of 0.01 s");
  /* each substep moves by the velocity at its end: g t (t + h) / 2 */
  CHECK_NEAR(before - mean(s, OOZE_POSITION, 1), 9.81 * t * (t + h) / 2, 2e-5,
             "single precision at 2 m: 20 x 1e-6");
  CHECK_NEAR(mean(s, OOZE_VELOCITY, 1), -9.81 * t, 2e-4, "rounding over 80 substeps");
  ooze_stats stats = stats_of(s);
  CHECK_EQ(stats.particles, 216);
  CHECK_EQ(stats.substeps, 4);
  CHECK_EQ(stats.contained, 0);
  CHECK(stats.bytes > 0 && stats.bytes_per_particle == stats.bytes / 216);
  ooze_solver_destroy(s);
}

OZ_CASE(momentum_is_kept_without_forces) {
  const float left[3] = {0.5f, 0.1f, 0}, right[3] = {-0.3f, 0, 0.2f};
  ooze_params p;
  ooze_solver *s = weightless(&p);
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 5;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  block(s, 6, 0, 0, 0, left);
  block(s, 6, 7 * d, 0.5f * d, 0.25f * d, right); /* they meet */
  ooze_stats a = stats_of(s);
  for (int i = 0; i < 10; ++i) CHECK_OK(ooze_step(s, 0.01), s);
  ooze_stats b = stats_of(s);
  double scale = 432 * 8e-3 * 0.5;
  for (int k = 0; k < 3; ++k)
    CHECK_NEAR(b.momentum[k], a.momentum[k], 2e-4 * scale,
               "pairs push equally; gradients are stored in half precision");
  CHECK(b.kinetic_energy < a.kinetic_energy, "an inelastic meeting loses energy: %g to %g J",
        a.kinetic_energy, b.kinetic_energy);
  CHECK_EQ(b.particles, 432);
  ooze_solver_destroy(s);
}

OZ_CASE(time_scale_and_substeps_do_what_they_say) {
  const float rest[3] = {0, 0, 0};
  ooze_params p;
  ooze_solver *s = make(&p);
  p.time_scale = 0.5f;
  p.substeps = 3;
  CHECK_OK(ooze_params_set(s, &p), s);
  block(s, 3, 0, 2, 0, rest);
  CHECK_OK(ooze_step(s, 0.1), s);
  CHECK_NEAR(ooze_time(s), 0.05, 1e-15, "half speed");
  CHECK_NEAR(mean(s, OOZE_VELOCITY, 1), -9.81 * 0.05, 1e-5, "half the time to fall");
  CHECK_EQ(stats_of(s).substeps, 3);
  CHECK_OK(ooze_step(s, 0), s);
  CHECK_NEAR(ooze_time(s), 0.05, 1e-15, "a step of 0 does nothing");
  CHECK_EQ(stats_of(s).substeps, 0);
  CHECK_OK(ooze_time_set(s, 7.5), s);
  CHECK_OK(ooze_step(s, 0.1), s);
  CHECK_NEAR(ooze_time(s), 7.55, 1e-12, "time goes on from what was set");
  ooze_solver_destroy(s);
}

OZ_CASE(adaptive_substeps_follow_the_speed) {
  const float fast[3] = {2, 0, 0}, slow[3] = {0.01f, 0, 0};
  ooze_params p;
  ooze_solver *s = weightless(&p);
  p.cfl = 0.5f;
  p.max_substeps = 40;
  CHECK_OK(ooze_params_set(s, &p), s);
  block(s, 3, 0, 0, 0, slow);
  CHECK_OK(ooze_step(s, 0.04), s);
  CHECK_EQ(stats_of(s).substeps, 1); /* 0.4 mm of 10 mm */
  block(s, 3, 1, 0, 0, fast);
  CHECK_OK(ooze_step(s, 0.04), s);
  CHECK_EQ(stats_of(s).substeps, 8); /* 80 mm in pieces of 10 mm */
  CHECK_OK(ooze_step(s, 0.4), s);
  CHECK_EQ(stats_of(s).substeps, 40); /* 80 would be needed; 40 are allowed */
  /* a frame's fall counts too: h (v + g h) = 10 mm with v = 2 gives h = 4.89 ms */
  p.gravity[1] = -9.81f;
  p.min_substeps = 12;
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_OK(ooze_step(s, 0.04), s);
  CHECK_EQ(stats_of(s).substeps, 12);
  CHECK_NEAR(ooze_time(s), 0.52, 1e-12, "the parts make up the whole");
  ooze_solver_destroy(s);
}

OZ_CASE(the_floor_holds_a_block_and_carries_its_weight) {
  const float rest[3] = {0, 0, 0};
  ooze_params p;
  ooze_collider_desc c;
  ooze_collider floor_handle = 0;
  ooze_solver *s = make(&p);
  ooze_material m;
  ooze_material_default(&m);
  m.viscosity = 200;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  ooze_collider_desc_default(&c);
  CHECK_OK(ooze_collider_add(s, &c, &floor_handle), s);
  block(s, 6, 0, 0.5f * d, 0, rest);
  for (int i = 0; i < 24; ++i) CHECK_OK(ooze_step(s, 1.0 / 48), s);
  for (uint32_t i = 0; i < 216; ++i) {
    float x[3];
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), s);
    CHECK(x[1] > 0, "id %u is at %g m", i, (double)x[1]);
  }
  float force[3], torque[3];
  CHECK_OK(ooze_collider_load(s, floor_handle, force, torque), s);
  double weight = 0;
  for (uint32_t i = 0; i < 216; ++i) {
    float mass;
    CHECK_OK(ooze_attribute_read(s, OOZE_MASS, i, 1, 0, &mass), s);
    weight += 9.81 * (double)mass;
  }
  CHECK_NEAR(force[1], -weight, 0.1 * weight, "it is still creeping after half a second");
  ooze_solver_destroy(s);
}

OZ_CASE(a_removed_floor_holds_nothing_any_more) {
  ooze_params p;
  ooze_solver *s = make(&p);
  ooze_collider_desc plane;
  ooze_collider floor;
  const float still[3] = {0, 0, 0};
  float x[3];
  ooze_collider_desc_default(&plane);
  CHECK_OK(ooze_collider_add(s, &plane, &floor), s);
  block(s, 3, 0.0f, 0.5f * d, 0.0f, still);
  for (int k = 0; k < 3; ++k) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_collider_remove(s, floor), s);
  for (int k = 0; k < 6; ++k) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, 1, 0, x), s);
  CHECK_NEAR(x[1], -0.5 * 9.81 * 0.25 * 0.25, 0.04,
             "a quarter of a second of free fall from about d/2");
  ooze_solver_destroy(s);
}

OZ_CASE(a_kill_volume_takes_what_enters_and_what_leaves_the_world_goes_too) {
  const float down[3] = {0, -1, 0}, out[3] = {9e5f, 0, 0};
  ooze_params p;
  ooze_collider_desc c;
  ooze_solver *s = weightless(&p);
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_collider_desc_default(&c);
  c.role = OOZE_ROLE_KILL;
  CHECK_OK(ooze_collider_add(s, &c, NULL), s);
  block(s, 4, 0, 0.3f, 0, down);
  block(s, 2, 5, 0.3f, 0, down);
  uint32_t killed = 0;
  for (int i = 0; i < 36; ++i) {
    CHECK_OK(ooze_step(s, 0.01), s);
    killed += stats_of(s).killed;
    uint32_t n = ooze_particle_count(s);
    CHECK_EQ(n + killed, 72);
    for (uint32_t k = 0; k < n; ++k) {
      float x[3], compression;
      CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, k, 1, 0, x), s);
      CHECK(x[1] >= 0, "%g m is inside", (double)x[1]);
      CHECK_OK(ooze_attribute_read(s, OOZE_COMPRESSION, k, 1, 0, &compression), s);
      CHECK(compression > -0.95f && compression < 0.2f,
            "what the substep left stays with its particle: %g", (double)compression);
    }
  }
  /* the top layer of 4x4 is at 0.36 m and has fallen 0.36 m: it may be there still */
  CHECK_EQ(killed, 72 - 16);
  CHECK_OK(ooze_particles_clear(s), s);
  block(s, 1, 0, 1, 0, out);
  p.substeps = 1;
  CHECK_OK(ooze_params_set(s, &p), s);
  CHECK_OK(ooze_step(s, 0.02), s);
  CHECK(ooze_particle_count(s) <= 1);
  ooze_solver_destroy(s);
}

/* A resumed run is the straight one even if the numbers that steer it come from state: adaptive
 * substeps, has-anything- elastic. */
OZ_CASE(resuming_at_every_step_is_the_same_run) {
  const float across[3] = {1, 0.5f, 0};
  uint64_t hash[2] = {0, 1};
  for (int resumed = 0; resumed < 2; ++resumed) {
    ooze_params p;
    ooze_collider_desc c;
    ooze_material m;
    ooze_solver *s = make(&p);
    uint32_t gel = 1;
    p.cfl = 0.4f;
    p.velocity_iterations = 5;
    p.position_iterations = 3;
    CHECK_OK(ooze_params_set(s, &p), s);
    ooze_material_default(&m);
    m.relaxation_time = 0.3f;
    CHECK_OK(ooze_material_add(s, &m, NULL), s);
    ooze_collider_desc_default(&c);
    CHECK_OK(ooze_collider_add(s, &c, NULL), s);
    c.role = OOZE_ROLE_KILL; /* takes the one elastic particle half way */
    c.shape = OOZE_SHAPE_BOX;
    c.start.position[0] = c.end.position[0] = 1;
    CHECK_OK(ooze_collider_add(s, &c, NULL), s);
    block(s, 5, 0, 0.01f, 0, across);
    CHECK_OK(ooze_attribute_write(s, OOZE_MATERIAL, 124, 1, 0, &gel), s);
    for (int i = 0; i < 12; ++i) {
      CHECK_OK(ooze_step(s, 1.0 / 24), s);
      if (!resumed) continue;
      ooze_solver *next = make(&p);
      copy_state(s, next);
      ooze_solver_destroy(s);
      s = next;
    }
    CHECK_OK(ooze_state_hash(s, &hash[resumed]), s);
    ooze_solver_destroy(s);
  }
  CHECK_EQ(hash[1], hash[0]);
}

OZ_CASE(stress_is_in_pascals) {
  /* a viscous fluid sheared at 1/s: sigma_xy = mu * rate */
  ooze_params p;
  ooze_material m;
  ooze_solver *s = weightless(&p);
  p.substeps = 1;
  p.velocity_iterations = 40;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material_default(&m);
  m.viscosity = 2;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  const float rest[3] = {0, 0, 0};
  block(s, 10, 0, 0, 0, rest);
  for (uint32_t i = 0; i < 1000; ++i) {
    float x[3], v[3] = {0, 0, 0};
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, i, 1, 0, x), s);
    v[0] = x[1];
    CHECK_OK(ooze_attribute_write(s, OOZE_VELOCITY, i, 1, 0, v), s);
  }
  CHECK_OK(ooze_step(s, 1e-5), s); /* so short that the free surface has not yet been felt inside */
  float stress[6];
  uint32_t middle = 5 + 10 * 5 + 100 * 5;
  CHECK_OK(ooze_attribute_read(s, OOZE_STRESS, middle, 1, 0, stress), s);
  CHECK_NEAR(stress[3], 2.0, 0.1, "the operator acts on finite neighbourhoods: a few percent");
  CHECK_NEAR(stress[0], 0.0, 0.1, "no normal stress without memory");
  ooze_solver_destroy(s);
}

OZ_CASE(the_conformation_update_alone_follows_the_upper_convected_maxwell_model) {
  /* shear start-up: Q_xy = lambda rate (1 - exp(-t / lambda)) */
  const double lambda = 0.5, rate = 2, end = 0.7;
  enum { STEPS = 4000 };
  float q[6] = {1, 1, 1, 0, 0, 0}, g[9] = {0, (float)rate, 0, 0, 0, 0, 0, 0, 0},
        dt = (float)(end / STEPS);
  for (int i = 0; i < STEPS; ++i) ooze_conformation_advance(q, g, (float)lambda, dt, q);
  double e = exp(-end / lambda);
  CHECK_NEAR(q[3], lambda * rate * (1 - e), 2e-3, "first order in dt / lambda = 3.5e-4");
  CHECK_NEAR(q[0] - q[1], 2 * lambda * lambda * rate * rate * (1 - e * (1 + end / lambda)), 4e-3,
             "first order likewise");
  ooze_conformation_advance(q, g, 0.0f, dt, q);
  for (int c = 0; c < 6; ++c)
    CHECK_NEAR(q[c], c < 3, 0, "without relaxation time nothing is remembered");
}

OZ_CASE(the_build_describes_itself) {
  CHECK_STR(ooze_version_text(), "0.2.0");
  CHECK_EQ(ooze_version(), 200);
  CHECK(strstr(ooze_build_text(), "stages") && strstr(ooze_build_text(), "tasks"), "%s",
        ooze_build_text());
  uint32_t usable = 0;
  for (uint32_t i = 0; i < ooze_backend_count(); ++i) {
    ooze_backend_info b;
    ooze_backend_info_default(&b);
    CHECK_EQ(ooze_backend_get(i, &b), OOZE_OK);
    CHECK(b.name[0] && b.detail && (b.usable || b.detail[0]), "backend %u", i);
    usable += b.usable;
  }
  CHECK(usable >= 1);
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_solver_desc_default(&desc);
  desc.backend = OOZE_BACKEND_CPU;
#if defined(__x86_64__)
  desc.isa = OOZE_ISA_NEON;
#else
  desc.isa = OOZE_ISA_AVX2;
#endif
  CHECK_EQ(ooze_solver_create(&desc, &s, &why), OOZE_ERROR_UNSUPPORTED);
  CHECK(strstr(why.text, "this build has"), "%s", why.text);
}

OZ_TEST_MAIN()
