/* Walls, plates, bricks and nozzles in the whole solver. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

OZ_TEST_MAIN()

static const float D = 0.02f; /* m: particle separation */
enum { MOST = 4000 };
static float x[3 * MOST], u[3 * MOST];

static ooze_solver *make(float viscosity, uint32_t substeps) {
  ooze_solver_desc desc;
  ooze_solver *s = NULL;
  ooze_message why = {""};
  ooze_params p;
  ooze_material m;
  ooze_solver_desc_default(&desc);
  desc.particle_separation = D;
  CHECK(ooze_solver_create(&desc, &s, &why) == OOZE_OK, "%s", why.text);
  ooze_params_default(&p);
  p.substeps = substeps;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material_default(&m);
  m.viscosity = viscosity;
  CHECK_OK(ooze_material_set(s, 0, &m), s);
  return s;
}
/* A block of particles from a corner, those within `ball` of the middle if that is above 0. */
static uint32_t block(ooze_solver *s, float x0, float y0, float z0, int nx, int ny, int nz,
                      float ball, float fall) {
  ooze_particles p;
  uint32_t n = 0;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      for (int k = 0; k < nz && n < MOST; k++) {
        float *at = x + 3 * n;
        at[0] = x0 + (float)i * D, at[1] = y0 + (float)j * D, at[2] = z0 + (float)k * D;
        if (ball > 0.0f && at[0] * at[0] + at[1] * at[1] + at[2] * at[2] > ball * ball) continue;
        u[3 * n] = u[3 * n + 2] = 0.0f, u[3 * n + 1] = -fall;
        n++;
      }
  ooze_particles_default(&p);
  p.count = n, p.positions = x, p.velocities = u;
  CHECK_OK(ooze_particles_add(s, &p, NULL), s);
  return n;
}
static double weight(ooze_solver *s) {
  static float mass[MOST];
  double sum = 0.0;
  uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_MASS, 0, n, 0, mass), s);
  for (uint32_t i = 0; i < n; i++) sum += 9.81 * (double)mass[i];
  return sum;
}
static void frames(ooze_solver *s, int n) {
  for (int k = 0; k < n; k++) CHECK_RESULT(ooze_step(s, 1.0 / 24.0), OOZE_OK, s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, ooze_particle_count(s), 0, x), s);
}
/* Mean load over n frames. */
static void load(ooze_solver *s, ooze_collider c, int n, double force[3]) {
  force[0] = force[1] = force[2] = 0.0;
  for (int k = 0; k < n; k++) {
    float f[3], t[3];
    frames(s, 1);
    CHECK_OK(ooze_collider_load(s, c, f, t), s);
    for (int a = 0; a < 3; a++) force[a] += (double)f[a] / n;
  }
}

OZ_CASE(a_container_carries_the_weight_of_what_is_in_it) {
  for (int k = 0; k < 3; k++) {
    ooze_solver *s = make(2.0f, 8);
    ooze_collider c;
    ooze_collider_desc d;
    static ooze_sdf_brick bricks[64];
    ooze_collider_desc_default(&d);
    d.invert = 1, d.shape = k == 0 ? OOZE_SHAPE_BOX : k == 1 ? OOZE_SHAPE_CYLINDER : OOZE_SHAPE_SDF;
    d.half[0] = d.half[2] = k == 1 ? 0.11f : 0.08f, d.half[1] = 0.3f;
    d.start.position[1] = d.end.position[1] = k < 2 ? 0.3f : 0.2f;
    if (k == 2) { /* a spherical bowl of bricks */
      uint32_t n = 0;
      for (int32_t b = 0; b < 64; b++, n++) {
        int32_t o[3] = {8 * (b / 16 - 2), 8 * (b / 4 % 4 - 2), 8 * (b % 4 - 2)};
        memcpy(bricks[n].origin, o, sizeof o);
        for (int v = 0; v < 512; v++) {
          float px = (float)(o[0] + v / 64) * D, py = (float)(o[1] + v / 8 % 8) * D,
                pz = (float)(o[2] + v % 8) * D;
          bricks[n].values[v] = sqrtf(px * px + py * py + pz * pz) - 0.2f;
        }
      }
      d.voxel = D, d.bricks = bricks, d.brick_count = n;
    }
    CHECK_OK(ooze_collider_add(s, &d, &c), s);
    block(s, -0.07f, k == 2 ? 0.06f : 0.01f, -0.07f, 8, 8, 8, 0.0f, 0.0f);
    double force[3], w = weight(s);
    frames(s, 18);
    load(s, c, 12, force);
    CHECK_NEAR(-force[1] / w, 1.0, 0.03, "it is still settling a little");
    CHECK_NEAR(force[0] / w, 0.0, 0.02, "sideways in balance");
    CHECK_NEAR(force[2] / w, 0.0, 0.02, "sideways in balance");
    ooze_solver_destroy(s);
  }
}

OZ_CASE(nothing_leaves_a_box_that_is_turned_over) {
  ooze_solver *s = make(1.0f, 6);
  ooze_collider c;
  ooze_collider_desc d;
  ooze_collider_desc_default(&d);
  d.shape = OOZE_SHAPE_BOX, d.invert = 1, d.half[0] = d.half[1] = d.half[2] = 0.12f;
  CHECK_OK(ooze_collider_add(s, &d, &c), s);
  uint32_t n = block(s, -0.1f, -0.11f, -0.1f, 11, 6, 11, 0.0f, 0.0f);
  ooze_pose pose = d.start;
  float angle = 0.0f;
  for (int k = 0; k < 24; k++) {
    ooze_pose from = pose;
    angle += 0.4f; /* 1.5 turns a second */
    pose.rotation[2] = sinf(0.5f * angle), pose.rotation[3] = cosf(0.5f * angle);
    CHECK_OK(ooze_collider_move(s, c, &from, &pose), s);
    frames(s, 1);
    CHECK_EQ(ooze_particle_count(s), n);
    for (uint32_t i = 0; i < n; i++) {
      float a = cosf(angle) * x[3 * i] + sinf(angle) * x[3 * i + 1],
            b = cosf(angle) * x[3 * i + 1] - sinf(angle) * x[3 * i];
      float out = fmaxf(fabsf(a), fmaxf(fabsf(b), fabsf(x[3 * i + 2])));
      CHECK(out <= 0.12f - 0.249f * D, "frame %d: a particle is %g d from the wall", k,
            (double)((0.12f - out) / D));
    }
  }
  ooze_solver_destroy(s);
}

OZ_CASE(a_thin_plate_stops_fluid_at_any_speed) {
  static const float fall[3] = {2.0f, 12.0f, 40.0f};
  for (int k = 0; k < 3; k++) {
    ooze_solver *s = make(1.0f, 2);
    ooze_collider c;
    ooze_collider_desc d;
    ooze_collider_desc_default(&d);
    d.shape = OOZE_SHAPE_BOX, d.half[1] = 0.05f * D;
    CHECK_OK(ooze_collider_add(s, &d, &c), s);
    uint32_t n = block(s, -0.1f, 0.1f, -0.1f, 10, 10, 10, 0.0f, fall[k]);
    for (int f = 0; f < 8; f++) {
      frames(s, 1);
      for (uint32_t i = 0; i < n; i++)
        CHECK(x[3 * i + 1] > 0.0f || fabsf(x[3 * i]) > 0.45f || fabsf(x[3 * i + 2]) > 0.45f,
              "%g m/s, frame %d: particle %u is at %g %g %g, below", (double)fall[k], f, i,
              (double)x[3 * i], (double)x[3 * i + 1], (double)x[3 * i + 2]);
    }
    ooze_solver_destroy(s);
  }
}

OZ_CASE(kill_volumes_empty_a_stream) {
  ooze_solver *s = make(5.0f, 6);
  ooze_emitter e;
  ooze_emitter_desc nozzle;
  ooze_collider c;
  ooze_collider_desc d;
  ooze_stats t;
  ooze_emitter_desc_default(&nozzle);
  nozzle.radius = 2.5f * D, nozzle.speed = 1.0f;
  CHECK_OK(ooze_emitter_add(s, &nozzle, &e), s);
  ooze_collider_desc_default(&d);
  d.role = OOZE_ROLE_KILL;
  d.start.position[1] = d.end.position[1] = -0.15f;
  CHECK_OK(ooze_collider_add(s, &d, &c), s);
  uint32_t born = 0, killed = 0;
  for (int k = 0; k < 24; k++) {
    frames(s, 1);
    ooze_stats_default(&t);
    CHECK_OK(ooze_stats_get(s, &t), s);
    born += t.born, killed += t.killed;
    CHECK_EQ(born - killed, ooze_particle_count(s));
    for (uint32_t i = 0; i < ooze_particle_count(s); i++)
      CHECK(x[3 * i + 1] >= -0.15f, "%g", (double)x[3 * i + 1]);
  }
  /* 20 points a layer, 1 m/s over 0.02 m for a second, and three layers in the nozzle */
  CHECK_NEAR(born, 20 * 53, 20, "the flow over a second");
  CHECK(killed > 700, "%u", killed);
  ooze_solver_destroy(s);
}
