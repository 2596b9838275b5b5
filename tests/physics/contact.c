/* Distances of collider shapes, and what walls do to particles. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "physics/nozzle.h"
#include "physics/wall.h"

OZ_TEST_MAIN()

enum { MOST = 64 };
static const float D = 0.01f; /* m: particle separation */

/* A frame with a few particles, all of them in wall slots, and a few colliders. */
typedef struct world {
  oz_frame f;
  oz_collider c[4];
  uint32_t owner[MOST]; /* 0: fluid */
  float x[4 * MOST], u[4 * MOST], y[4 * MOST], p[4 * MOST], dx[4 * MOST], term[4 * MOST], omega[MOST], tau[MOST],
      a[MOST];
  uint32_t particle[MOST], planes[MOST], list[MOST * MOST], row[MOST];
  uint16_t len[MOST];
  oz_wall wall[MOST * OZ_PLANES];
  float impulse[MOST * OZ_PLANES * 3];
  uint64_t key[64];
  float values[64 * 512];
} world;

static world *make(uint32_t particles, uint32_t colliders) {
  static world w; /* one a case */
  memset(&w, 0, sizeof w);
  oz_frame *f = &w.f;
  f->count = particles, f->stride = MOST;
  f->dt = 1.0f / 240.0f, f->inv_dt = 240.0f;
  f->d = D, f->inv_d = 1.0f / D, f->h = 2.2f * D, f->h2 = f->h * f->h;
  f->m_ref = 1e-3f, f->wall_gap = 0.25f * D, f->wall_density = 1, f->rest_speed = 0.5f * 9.81f / 240.0f;
  f->x = w.x, f->u = w.u, f->y = w.y, f->p = w.p, f->dx = w.dx, f->wall_term = w.term, f->omega = w.omega, f->owner = w.owner;
  f->tau = w.tau, f->a = w.a;
  f->list_c = w.list, f->row_c = w.row, f->len_c = w.len;
  f->wall_count = particles, f->wall_particle = w.particle, f->wall = w.wall, f->wall_planes = w.planes;
  f->wall_impulse = w.impulse, f->collider = w.c, f->collider_count = colliders;
  f->brick_key = w.key, f->brick_values = w.values;
  for (uint32_t i = 0; i < particles; i++) {
    w.particle[i] = i, w.omega[i] = 1.0f, w.a[i] = 1e30f, /* so fluid that nothing drags it */ w.row[i] = i * MOST,
    w.len[i] = (uint16_t)particles;
    for (uint32_t j = 0; j < particles; j++)
      w.list[i * MOST + j] = j; /* everyone's neighbours: all, itself as padding */
  }
  for (uint32_t i = 0; i < 4; i++) w.c[i].q0[3] = w.c[i].q1[3] = 1.0f, w.c[i].wall_density = 1, w.c[i].voxel = 1.0f;
  return &w;
}
static void put(world *w, uint32_t i, float x, float y, float z) {
  w->x[4 * i] = x, w->x[4 * i + 1] = y, w->x[4 * i + 2] = z;
}
static void speed(world *w, uint32_t i, float x, float y, float z) {
  w->u[4 * i] = x, w->u[4 * i + 1] = y, w->u[4 * i + 2] = z;
}
/* As predict does, then the planes. */
static void planes(world *w) {
  for (uint32_t i = 0; i < w->f.count; i++)
    for (int k = 0; k < 3; k++) {
      w->y[4 * i + (uint32_t)k] = w->f.dt * w->u[4 * i + (uint32_t)k];
      w->p[4 * i + (uint32_t)k] = w->x[4 * i + (uint32_t)k] + w->y[4 * i + (uint32_t)k];
    }
  for (uint32_t i = 0; i < w->f.count; i++) oz_wall_planes_item(&w->f, i);
}
/* As advance does. */
static void advance(world *w) {
  for (uint32_t i = 0; i < w->f.count; i++)
    for (uint32_t k = 4 * i; k < 4 * i + 3; k++) w->y[k] = w->f.dt * w->u[k], w->p[k] = w->x[k] + w->y[k];
}
static void box(world *w, uint32_t k, float a, float b, float c, uint32_t invert) {
  w->c[k].shape = OOZE_SHAPE_BOX, w->c[k].half[0] = a, w->c[k].half[1] = b, w->c[k].half[2] = c,
  w->c[k].invert = invert;
  w->c[k].reach = invert ? 0.0f : sqrtf(a * a + b * b + c * c);
}
static void turn_about(float q[4], float x, float y, float z, float angle) {
  float l = sqrtf(x * x + y * y + z * z), s = sinf(0.5f * angle) / l;
  q[0] = s * x, q[1] = s * y, q[2] = s * z, q[3] = cosf(0.5f * angle);
}
static float number(uint64_t *state, float lo, float hi) { return lo + (hi - lo) * oz_random(7, (*state)++, 0); }

/* ---- Shapes ---- */

OZ_CASE(physics_and_public_header_number_shapes_alike) {
  CHECK_EQ(OZ_SHAPE_PLANE, OOZE_SHAPE_PLANE);
  CHECK_EQ(OZ_SHAPE_SPHERE, OOZE_SHAPE_SPHERE);
  CHECK_EQ(OZ_SHAPE_BOX, OOZE_SHAPE_BOX);
  CHECK_EQ(OZ_SHAPE_CAPSULE, OOZE_SHAPE_CAPSULE);
  CHECK_EQ(OZ_SHAPE_CYLINDER, OOZE_SHAPE_CYLINDER);
  CHECK_EQ(OZ_SHAPE_SDF, OOZE_SHAPE_SDF);
  CHECK_EQ(OZ_ROLE_COLLIDE, OOZE_ROLE_COLLIDE);
  CHECK_EQ(OZ_ROLE_KILL, OOZE_ROLE_KILL);
}

enum { SAMPLES = 60000 };
static float (*samples)[3];

/* Points of the surface, made without the distance formulas: cover the sphere or cube of directions and sweep. */
static uint32_t surface(const oz_collider *c) {
  uint32_t n = 0;
  const float a = c->half[0], b = c->half[1];
  if (c->shape == OOZE_SHAPE_BOX)
    for (int face = 0; face < 6; face++)
      for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++, n++) {
          int axis = face / 2, e = (axis + 1) % 3, g = (axis + 2) % 3;
          samples[n][axis] = face % 2 ? c->half[axis] : -c->half[axis];
          samples[n][e] = c->half[e] * (2.0f * (float)i / 99.0f - 1.0f);
          samples[n][g] = c->half[g] * (2.0f * (float)j / 99.0f - 1.0f);
        }
  else
    for (n = 0; n < SAMPLES; n++) {
      float z = 1.0f - 2.0f * ((float)n + 0.5f) / SAMPLES, angle = 2.3999632f * (float)n, r = sqrtf(1.0f - z * z);
      float *s = samples[n];
      if (c->shape == OOZE_SHAPE_CYLINDER) {
        /* half of them on the side, a quarter on the two ends, a quarter on their rims */
        float t = (float)n / SAMPLES;
        if (n % 8 < 2)
          s[0] = a * cosf(angle), s[1] = n % 8 ? b : -b, s[2] = a * sinf(angle);
        else if (n % 2)
          s[0] = a * cosf(angle), s[1] = b * (2.0f * t - 1.0f), s[2] = a * sinf(angle);
        else
          s[0] = a * sqrtf(t) * cosf(angle), s[1] = n % 4 ? b : -b, s[2] = a * sqrtf(t) * sinf(angle);
        continue;
      }
      s[0] = a * r * cosf(angle), s[1] = a * z, s[2] = a * r * sinf(angle);
      if (c->shape == OOZE_SHAPE_CAPSULE) {
        if (n % 2)
          s[0] = a * cosf(angle), s[1] = b * z, s[2] = a * sinf(angle);
        else
          s[1] += z > 0.0f ? b : -b;
      }
    }
  return n;
}
static int inside(const oz_collider *c, const float x[3]) {
  float a = c->half[0], b = c->half[1], r2 = x[0] * x[0] + x[2] * x[2], y = fabsf(x[1]);
  if (c->shape == OOZE_SHAPE_SPHERE) return r2 + y * y < a * a;
  if (c->shape == OOZE_SHAPE_BOX) return fabsf(x[0]) < a && y < b && fabsf(x[2]) < c->half[2];
  if (c->shape == OOZE_SHAPE_CAPSULE) return r2 + (y > b ? (y - b) * (y - b) : 0.0f) < a * a;
  return r2 < a * a && y < b;
}

OZ_CASE(distance_is_that_to_the_nearest_point_of_the_surface) {
  samples = malloc(SAMPLES * sizeof *samples);
  CHECK(samples != NULL);
  for (uint32_t shape = OOZE_SHAPE_SPHERE; shape <= OOZE_SHAPE_CYLINDER; shape++) {
    world *w = make(1, 1);
    uint64_t dice = shape * 1000;
    w->c[0].shape = shape, w->c[0].half[0] = 0.5f, w->c[0].half[1] = 0.7f, w->c[0].half[2] = 0.3f;
    uint32_t n = surface(w->c);
    for (int k = 0; k < 100; k++) {
      float x[3] = {number(&dice, -1.2f, 1.2f), number(&dice, -1.5f, 1.5f), number(&dice, -1.2f, 1.2f)}, best = 1e9f;
      for (uint32_t s = 0; s < n; s++) {
        float r[3] = {x[0] - samples[s][0], x[1] - samples[s][1], x[2] - samples[s][2]};
        best = oz_minf(best, oz_dot3f(r, r));
      }
      best = sqrtf(best);
      for (uint32_t invert = 0; invert < 2; invert++) {
        oz_face face;
        w->c[0].invert = invert;
        oz_collider_face(&w->f, w->c, x, 10.0f, &face);
        float truth = inside(w->c, x) != (int)invert ? -best : best;
        /* a sample is up to about 0.02 away along the surface: that moves the distance by 0.02^2 / 2 over the distance
         */
        CHECK_NEAR(face.dist, truth, 2e-4f + oz_minf(0.01f, 4e-4f / best), "surface sampled at 0.01 to 0.02");
      }
    }
  }
  free(samples);
}

OZ_CASE(normals_are_the_gradient_of_the_distance) {
  for (uint32_t shape = OOZE_SHAPE_PLANE; shape <= OOZE_SHAPE_CYLINDER; shape++)
    for (uint32_t invert = 0; invert < 2; invert++) {
      world *w = make(1, 1);
      uint64_t dice = shape * 77 + invert;
      w->c[0].shape = shape, w->c[0].half[0] = 0.5f, w->c[0].half[1] = 0.7f, w->c[0].half[2] = 0.3f,
      w->c[0].invert = invert;
      int kinks = 0;
      for (int k = 0; k < 300; k++) {
        float x[3] = {number(&dice, -1.2f, 1.2f), number(&dice, -1.5f, 1.5f), number(&dice, -1.2f, 1.2f)}, worst = 0.0f;
        oz_face face, a, b;
        oz_collider_face(&w->f, w->c, x, 10.0f, &face);
        for (int m = 0; m < 3; m++) {
          float step = 1e-3f, lo[3] = {x[0], x[1], x[2]}, hi[3] = {x[0], x[1], x[2]};
          lo[m] -= step, hi[m] += step;
          oz_collider_face(&w->f, w->c, lo, 10.0f, &a);
          oz_collider_face(&w->f, w->c, hi, 10.0f, &b);
          worst = oz_maxf(worst, fabsf((b.dist - a.dist) / (2.0f * step) - face.n[m]));
        }
        kinks += worst > 2e-3f;
        CHECK_NEAR(oz_dot3f(face.n, face.n), 1.0, 1e-5, "rounding");
      }
      CHECK(kinks <= 9, "shape %u: %d of 300 normals differ; only the few points within 1e-3 of a medial sheet may",
            shape, kinks);
    }
}

OZ_CASE(shapes_turn_and_move_with_their_pose) {
  world *w = make(1, 1);
  box(w, 0, 0.5f, 0.1f, 0.3f, 0);
  turn_about(w->c[0].q1, 0.0f, 0.0f, 1.0f, 1.5707963f); /* x of the box points along world y */
  w->c[0].p1[0] = 2.0f;
  float up[3] = {2.0f, 0.8f, 0.0f}, side[3] = {2.4f, 0.0f, 0.0f};
  CHECK_NEAR(oz_collider_distance(&w->f, w->c, up, 1.0f), 0.3, 1e-6, "0.8 - half x");
  CHECK_NEAR(oz_collider_distance(&w->f, w->c, side, 1.0f), 0.3, 1e-6, "0.4 - half y");
}

OZ_CASE(a_wall_moves_as_its_pose_does) {
  world *w = make(1, 1);
  oz_collider *c = w->c;
  const float dt = w->f.dt, rate = 3.0f, local[3] = {0.2f, -0.1f, 0.4f};
  float u[3], r[3];
  c->p1[0] = 0.5f * dt, c->p1[1] = -1.0f * dt;
  turn_about(c->q0, 0.0f, 1.0f, 0.0f, 0.7f - 0.5f * rate * dt);
  turn_about(c->q1, 0.0f, 1.0f, 0.0f, 0.7f + 0.5f * rate * dt);
  oz_collider_velocity(c, local, w->f.inv_dt, u);
  float middle[4];
  turn_about(middle, 0.0f, 1.0f, 0.0f, 0.7f);
  oz_turn(middle, local, r);
  /* omega x r about +y is (rate z, 0, -rate x) */
  CHECK_NEAR(u[0], 0.5f + rate * r[2], 1e-4, "chord against arc: (rate dt)^2 / 24, and floats over dt");
  CHECK_NEAR(u[1], -1.0f, 1e-4, "floats over dt");
  CHECK_NEAR(u[2], -rate * r[0], 1e-4, "as above");
}

/* ---- SDF ---- */

/* Bricks of the distance to a sphere, those that hold a value below the band. */
static void sphere_bricks(world *w, float voxel, float radius, float band) {
  oz_collider *c = w->c;
  uint32_t n = 0;
  c->shape = OOZE_SHAPE_SDF, c->voxel = voxel;
  for (int32_t bx = -2; bx < 2; bx++)
    for (int32_t by = -2; by < 2; by++)
      for (int32_t bz = -2; bz < 2; bz++) { /* ascending keys */
        float *v = w->values + 512 * n, least = 1e9f;
        for (int k = 0; k < 512; k++) {
          float x = (float)(8 * bx + k / 64) * voxel, y = (float)(8 * by + k / 8 % 8) * voxel,
                z = (float)(8 * bz + k % 8) * voxel;
          v[k] = sqrtf(x * x + y * y + z * z) - radius;
          least = oz_minf(least, fabsf(v[k]));
          v[k] = oz_minf(oz_maxf(v[k], -band), band);
        }
        if (least >= band) continue;
        w->key[n++] = oz_brick_key(bx, by, bz);
      }
  c->brick_count = n;
  c->reach = 16.0f * voxel * 1.7320509f;
}

OZ_CASE(bricks_interpolate_the_distance) {
  world *w = make(1, 1);
  const float voxel = 0.1f, radius = 0.9f;
  uint64_t dice = 5;
  sphere_bricks(w, voxel, radius, 10.0f);
  CHECK_EQ(w->c[0].brick_count, 64);
  for (int k = 0; k < 2000; k++) {
    float x[3] = {number(&dice, -1.5f, 1.4f), number(&dice, -1.5f, 1.4f), number(&dice, -1.5f, 1.4f)};
    float r = sqrtf(oz_dot3f(x, x));
    oz_face face;
    if (r < 0.3f) continue;
    oz_collider_face(&w->f, w->c, x, 1.0f, &face);
    CHECK_NEAR(face.dist, r - radius, 0.75f * voxel * voxel / r * 0.5f + 1e-5f,
               "trilinear: three axes of h^2/8 times 2/r");
    for (int m = 0; m < 3; m++)
      CHECK_NEAR(face.n[m], x[m] / r, voxel / r, "gradient of a trilinear cell: h/2 times 1/r, twice");
  }
}

OZ_CASE(bricks_are_found_by_key_and_others_are_far) {
  world *w = make(1, 1);
  const float voxel = 0.1f;
  sphere_bricks(w, voxel, 1.49f, 0.1f);
  CHECK(w->c[0].brick_count == 56, "%u bricks: the 8 in the middle have none within the band", w->c[0].brick_count);
  for (int32_t bx = -3; bx < 3; bx++)
    for (int32_t bz = -3; bz < 3; bz++) {
      uint64_t key = oz_brick_key(bx, 1, bz);
      int64_t found = oz_brick_find(&w->f, w->c, bx, 1, bz);
      int there = bx >= -2 && bx < 2 && bz >= -2 && bz < 2;
      CHECK(there ? found >= 0 && w->key[found] == key : found == -1, "brick %d 1 %d: %d", bx, bz, (int)found);
    }
  oz_face face;
  float middle[3] = {0.0f, 0.0f, 0.0f}, out[3] = {4.0f, 0.0f, 0.0f}, beside[3] = {1.75f, 0.01f, 0.01f};
  /* in a missing brick next to one that is solid there: inside */
  middle[0] = 0.65f, middle[1] = middle[2] = 0.1f;
  oz_collider_face(&w->f, w->c, middle, 10.0f, &face);
  CHECK(face.dist < 0.0f, "deep inside is %g", (double)face.dist);
  oz_collider_face(&w->f, w->c, out, 10.0f, &face);
  CHECK(face.dist >= OZ_FAR, "two bricks away is %g", (double)face.dist);
  /* outside the last brick (which ends at 1.5) but next to it */
  oz_collider_face(&w->f, w->c, beside, 10.0f, &face);
  CHECK_NEAR(face.dist, 0.26, 0.01, "first order from the last sample");
  CHECK_NEAR(face.n[0], 1.0, 0.01, "straight out");
}

/* ---- Planes ---- */

OZ_CASE(a_container_corner_has_three_walls) {
  world *w = make(2, 1);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, 0.5f - 0.4f * D, -0.5f + 0.3f * D, 0.5f - 0.5f * D);
  put(w, 1, 0.0f, -0.5f + 0.3f * D, 0.5f - 0.5f * D);
  planes(w);
  CHECK_EQ(w->planes[0], 3);
  CHECK_EQ(w->planes[1], 2);
  const oz_wall *a = w->wall;
  CHECK_NEAR(a[0].n[1], 1.0, 1e-6, "the floor is nearest");
  CHECK_NEAR(a[0].s, 0.3f * D, 1e-7, "floats at 0.5");
  CHECK_NEAR(a[1].n[0], -1.0, 1e-6, "then x");
  CHECK_NEAR(a[1].s, 0.4f * D, 1e-7, "floats at 0.5");
  CHECK_NEAR(a[2].n[2], -1.0, 1e-6, "then z");
  CHECK_NEAR(a[2].s, 0.5f * D, 1e-7, "floats at 0.5");
}

OZ_CASE(a_cup_has_a_floor_and_a_side) {
  world *w = make(1, 1);
  w->c[0].shape = OOZE_SHAPE_CYLINDER, w->c[0].invert = 1, w->c[0].half[0] = 0.1f, w->c[0].half[1] = 0.2f;
  put(w, 0, 0.1f - 0.5f * D, -0.2f + 0.3f * D, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 2);
  CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-6, "floor");
  CHECK_NEAR(w->wall[1].n[0], -1.0, 1e-6, "side");
}

OZ_CASE(the_nearest_walls_are_kept) {
  world *w = make(1, 4);
  for (uint32_t k = 0; k < 4; k++) { /* four floors one above the other, highest in the middle */
    static const float height[4] = {-0.5f, 0.1f, -0.2f, 0.3f};
    w->c[k].p0[1] = w->c[k].p1[1] = height[k] * D;
  }
  put(w, 0, 0.0f, 0.4f * D, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 3);
  CHECK_EQ(w->wall[0].collider, 3);
  CHECK_EQ(w->wall[1].collider, 1);
  CHECK_EQ(w->wall[2].collider, 2);
}

OZ_CASE(distance_is_from_the_start_position_to_the_wall_at_its_end) {
  world *w = make(1, 1);
  w->c[0].p1[1] = 0.4f * D; /* a floor that rises */
  put(w, 0, 0.0f, 1.0f * D, 0.0f);
  speed(w, 0, 1.0f, -0.3f * D * 240.0f, 0.0f);
  planes(w);
  CHECK_EQ(w->planes[0], 1);
  CHECK_NEAR(w->wall[0].s, 0.6f * D, 1e-8, "1.0 d above the old floor, 0.6 d above the new");
  CHECK_NEAR(w->wall[0].u[1], 0.4f * D * 240.0f, 1e-4, "floats over dt");
}

OZ_CASE(a_fast_particle_meets_the_side_where_it_enters) {
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    box(w, 0, 0.5f, 0.1f * D, 0.5f, 0); /* a plate a fifth of a particle thick */
    put(w, 0, 0.1f, 2.0f * D, 0.0f);
    static const float depth[3] = {2.02f, 2.15f, 9.0f}; /* inside before the middle, behind it, far beyond */
    speed(w, 0, 0.5f, -depth[k] * D * 240.0f, 0.0f);
    planes(w);
    CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
    CHECK_EQ(w->planes[0], 1);
    CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-5, "the upper side");
    CHECK_NEAR(w->wall[0].s, 1.9f * D, 2e-3f * D, "traced to a thousandth of d");
    advance(w);
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->p[1], 0.35f * D + 0.05f * 0.9f * D, 2e-3f * D,
               "wall_gap above the upper side, and a trace of where it came from");
  }
}

OZ_CASE(a_grazing_path_does_not_slip_through) {
  uint64_t dice = 17;
  for (int k = 0; k < 400; k++) {
    world *w = make(1, 1);
    if (k % 2)
      box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
    else { /* the same plate as bricks: three voxels thick, so that samples see it */
      oz_collider *c = w->c;
      c->shape = OOZE_SHAPE_SDF, c->voxel = 0.1f * D, c->reach = 1.0f;
      for (int32_t b = -8; b < 8; b++)
        for (int32_t h = -1; h < 1; h++) {
          uint32_t n = (uint32_t)(2 * (b + 8) + h + 1);
          w->key[n] = oz_brick_key(b, h, 0);
          for (int v = 0; v < 512; v++)
            w->values[512 * n + (uint32_t)v] = (fabsf((float)(8 * h + v / 8 % 8)) - 1.5f) * c->voxel;
        }
      c->brick_count = 32;
    }
    float high = number(&dice, 0.3f, 3.0f), deep = number(&dice, 0.2f, 4.0f),
          along = number(&dice, 0.0f, k % 2 ? 30.0f : 5.0f);
    float back = along * high / (high + deep); /* so that it crosses the middle of the plate */
    put(w, 0, -back * D, high * D, 0.3f * w->c[0].voxel);
    speed(w, 0, along * D * 240.0f, -(high + deep) * D * 240.0f, 0.0f);
    planes(w);
    CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
    CHECK(w->planes[0] == 1 && w->wall[0].n[1] > 0.9f, "%d: %u planes, normal %g: %g d high, to %g d deep, %g d along",
          k, w->planes[0], (double)w->wall[0].n[1], (double)high, (double)deep, (double)along);
    CHECK_NEAR(w->wall[0].s, (high - (k % 2 ? 0.1f : 0.15f)) * D, 0.01f * D, "a plane of the upper side");
  }
}

OZ_CASE(what_leaves_fast_still_has_its_wall) {
  static const uint32_t shapes[3] = {OOZE_SHAPE_PLANE, OOZE_SHAPE_BOX, OOZE_SHAPE_SPHERE};
  for (int k = 0; k < 5; k++) {
    world *w = make(1, 1);
    if (k == 3)
      box(w, 0, 0.5f, 0.5f, 0.5f, 1);
    else if (k == 4)
      sphere_bricks(w, 0.05f, 0.5f, 10.0f);
    else
      w->c[0].shape = shapes[k], w->c[0].half[0] = w->c[0].half[1] = w->c[0].half[2] = 0.5f,
      w->c[0].reach = k ? 0.9f : 0.0f;
    float floor = k == 0 ? 0.0f : k == 3 ? -0.5f : 0.5f;
    put(w, 0, 0.0f, floor + 0.3f * D, 0.0f);
    speed(w, 0, 0.0f, 99.0f * D * 240.0f, 0.0f); /* beyond all bricks */
    planes(w);
    CHECK_EQ(w->planes[0], k == 3 ? 2 : 1); /* the box's ceiling comes near */
    uint32_t at = k == 3 ? 1 : 0;
    CHECK_NEAR(w->wall[at].s, 0.3f * D, 1e-7 + (k == 4 ? 0.01 * (double)D : 0.0), "floats at 0.5; bricks interpolate");
    w->y[1] = -1.0f * D; /* the solve turned it around */
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->p[1], floor + 0.25f * D, 1e-7 + (k == 4 ? 0.01 * (double)D : 0.0),
               "floats at 0.5; bricks interpolate");
  }
}

OZ_CASE(layers_that_arrive_together_stay_apart) {
  world *w = make(3, 1);
  for (uint32_t i = 0; i < 3; i++) {
    put(w, i, 0.0f, (0.5f + (float)i) * D, 0.0f);
    speed(w, i, 0.0f, -8.0f * D * 240.0f, 0.0f);
  }
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_project_item(&w->f, i);
  CHECK_NEAR(w->p[1], 0.25f * D, 1e-8, "the first is at the wall");
  CHECK(w->p[5] > w->p[1] + 0.02f * D && w->p[9] > w->p[5] + 0.04f * D, "%g %g %g d", (double)(w->p[1] / D),
        (double)(w->p[5] / D), (double)(w->p[9] / D));
}

OZ_CASE(a_fast_plate_takes_along_what_it_passes) {
  world *w = make(1, 1);
  box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
  w->c[0].p0[1] = -1.0f * D, w->c[0].p1[1] = 12.0f * D;
  put(w, 0, 0.1f, 0.0f, 0.0f);
  planes(w);
  CHECK(oz_wall_near_path(&w->f, w->x, w->p, oz_wall_reach(&w->f)), "selected");
  CHECK(!oz_wall_near(&w->f, w->x, oz_wall_reach(&w->f)), "at the end the plate is far away");
  CHECK_EQ(w->planes[0], 1);
  oz_wall_project_item(&w->f, 0);
  CHECK_NEAR(w->p[1], 12.35f * D, 5e-3f * D, "on top of the plate: it was less than a separation away");
}

OZ_CASE(fluid_on_a_box_is_not_pushed_out_of_its_side) {
  world *w = make(1, 1);
  box(w, 0, 0.1f, 0.1f, 0.1f, 0);
  put(w, 0, 0.1f - 0.1f * D, 0.1f + 0.4f * D, 0.0f);
  speed(w, 0, 0.0f, -0.9f * D * 240.0f, 0.0f); /* ends deeper below the top than beside the side */
  planes(w);
  CHECK_EQ(w->planes[0], 1);
  CHECK_NEAR(w->wall[0].n[1], 1.0, 1e-4, "the top");
}

OZ_CASE(kill_volumes_and_walls_are_told_apart) {
  world *w = make(1, 2);
  box(w, 0, 0.1f, 0.1f, 0.1f, 0);
  w->c[0].role = OOZE_ROLE_KILL;
  w->c[1].shape = OOZE_SHAPE_SPHERE, w->c[1].half[0] = 0.1f, w->c[1].reach = 0.1f, w->c[1].p1[0] = w->c[1].p0[0] = 1.0f;
  float in[3] = {0.05f, 0.05f, 0.05f}, out[3] = {0.11f, 0.0f, 0.0f}, ball[3] = {1.0f, 0.0f, 0.0f};
  CHECK(oz_wall_kill(&w->f, in) && !oz_wall_kill(&w->f, out) && !oz_wall_kill(&w->f, ball), "inside the box only");
  CHECK(!oz_wall_near(&w->f, in, 0.05f) && oz_wall_near(&w->f, ball, 0.05f), "the sphere only");
}

OZ_CASE(no_number_has_no_walls) {
  world *w = make(3, 2);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  sphere_bricks(w, 0.1f, 0.9f, 10.0f);
  box(w, 1, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, NAN, 0.0f, 0.0f);
  put(w, 1, 0.0f, INFINITY, 0.0f);
  put(w, 2, 0.0f, -0.5f, 0.0f);
  speed(w, 2, NAN, 0.0f, 0.0f);
  planes(w);
  for (uint32_t i = 0; i < 3; i++) {
    CHECK_EQ(w->planes[i], 0);
    CHECK(!oz_wall_near(&w->f, w->p + 4 * i, 1.0f) && !oz_wall_kill(&w->f, w->p + 4 * i), "nowhere");
    CHECK(!oz_wall_near_path(&w->f, w->x + 4 * i, w->p + 4 * i, 1.0f), "nowhere");
    oz_wall_hold_item(&w->f, i);
    oz_wall_filter_item(&w->f, i);
    oz_wall_clamp_item(&w->f, i);
    oz_wall_density_item(&w->f, i);
    oz_wall_project_item(&w->f, i);
    oz_wall_drag_item(&w->f, i);
    CHECK_NEAR(w->term[4 * i + 3], 0.0, 0.0, "no wall, no density");
  }
  /* and a particle that turns into no number after its planes were found spoils nothing else */
  w = make(1, 1);
  put(w, 0, 0.0f, 0.3f * D, 0.0f);
  planes(w);
  w->y[0] = w->u[0] = NAN;
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  oz_wall_density_item(&w->f, 0);
  oz_wall_project_item(&w->f, 0);
}

/* ---- The velocity projection ---- */

OZ_CASE(only_the_layer_at_the_wall_is_held) {
  world *w = make(3, 1);
  w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.6f * D, 0.0f);
  put(w, 1, 0.3f * D, 1.5f * D, 0.0f);
  put(w, 2, 1.0f * D, 0.8f * D, 0.0f);                                          /* within 0.3 d of the lowest */
  for (uint32_t i = 0; i < 3; i++) speed(w, i, 0.2f, -2.0f * D * 240.0f, 0.0f); /* all would end below the wall */
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_hold_item(&w->f, i);
  CHECK_EQ(w->wall[0].active, 1);
  CHECK_EQ(w->wall[OZ_PLANES].active, 0);
  CHECK_EQ(w->wall[2 * OZ_PLANES].active, 1);
  CHECK_NEAR(w->x[1] + w->f.dt * w->u[1], 0.25f * D, 1e-7, "ends at wall_gap");
  CHECK_NEAR(w->u[0], 0.0, 1e-7, "friction 1");
  CHECK(w->u[4] == 0.2f, "not held: as it was");
}

OZ_CASE(what_touches_is_held_whatever_its_neighbours_do) {
  world *w = make(2, 1);
  put(w, 0, 0.0f, -0.4f * D, 0.0f); /* pressed into the wall, a layer below the other */
  put(w, 1, D, 0.26f * D, 0.0f);
  speed(w, 1, 0.0f, -0.1f, 0.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 1);
  CHECK_EQ(w->wall[OZ_PLANES].active, 1);
}

OZ_CASE(a_wall_that_drives_into_fluid_holds_one_layer) {
  world *w = make(3, 1);
  w->c[0].p1[1] = 3.0f * D; /* past all three in one substep */
  for (uint32_t i = 0; i < 3; i++) put(w, i, 0.0f, (0.3f + (float)i) * D, 0.0f);
  planes(w);
  for (uint32_t i = 0; i < 3; i++) oz_wall_hold_item(&w->f, i);
  CHECK(w->wall[0].active && !w->wall[OZ_PLANES].active && !w->wall[2 * OZ_PLANES].active,
        "touching is measured against the wall where it was");
  CHECK_NEAR(w->u[1], 2.95f * D * 240.0f, 1e-3, "rides on the wall: from 0.3 d to 3.25 d");
}

OZ_CASE(neighbours_behind_a_thin_plate_do_not_count) {
  world *w = make(2, 1);
  box(w, 0, 0.5f, 0.1f * D, 0.5f, 0);
  put(w, 0, 0.0f, 0.9f * D, 0.0f);
  put(w, 1, 0.0f, -0.4f * D, 0.0f); /* on the other side, nearer to the plate */
  speed(w, 0, 0.0f, -1.0f * D * 240.0f, 0.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_EQ(w->wall[0].active, 1);
}

OZ_CASE(the_layer_at_the_wall_is_dragged_as_its_shear_demands) {
  world *w = make(1, 1);
  w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.5f * D, 0.0f);
  speed(w, 0, 0.3f, 0.0f, 0.0f);
  w->a[0] = 4.0f; /* eta = d / (a s) = 0.5 */
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_EQ(w->wall[0].active, 0); /* it does not press on the wall */
  CHECK_NEAR(w->u[0], 0.3f / 1.5f, 1e-6, "implicit drag: u / (1 + eta)");
  CHECK_NEAR(w->u[1], 0.0f, 1e-7, "free to leave");
  w->dx[0] = 1.0f, w->dx[1] = 2.0f, w->dx[2] = 3.0f;
  oz_wall_filter_item(&w->f, 0);
  CHECK_NEAR(w->dx[0], 1.0f / 1.5f, 1e-6, "the same factor in the solve");
  CHECK_NEAR(w->dx[1], 2.0f, 1e-6, "the normal part is untouched");
  w = make(1, 1);
  put(w, 0, 0.0f, 0.5f * D, 0.0f);
  speed(w, 0, 0.3f, 0.0f, 0.0f);
  w->a[0] = 1e-6f;
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_NEAR(w->u[0], 0.3f, 1e-7, "friction 0 slides, however viscous");
}

OZ_CASE(friction_is_relative_to_the_wall) {
  static const float friction[3] = {0.0f, 0.5f, 1.0f};
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    w->c[0].friction = friction[k];
    w->c[0].p1[0] = 0.4f / 240.0f; /* the floor slides along at 0.4 m/s */
    put(w, 0, 0.0f, 0.25f * D, 0.0f);
    speed(w, 0, 1.0f, -0.2f, 0.0f);
    planes(w);
    oz_wall_hold_item(&w->f, 0);
    float expected = 0.4f + (1.0f - friction[k]) * 0.6f;
    CHECK_NEAR(w->u[0], expected, 1e-5, "floats over dt");
    CHECK_NEAR(w->u[1], 0.0, 1e-5, "at wall_gap already");
    /* what the solve adds later is filtered alike, and no phase acts twice on the same motion */
    w->dx[0] = 0.001f, w->dx[1] = -0.001f;
    oz_wall_filter_item(&w->f, 0);
    CHECK_NEAR(w->dx[0], 0.001f * (1.0f - friction[k]), 1e-9, "rounding");
    CHECK_NEAR(w->dx[1], 0.0, 1e-9, "rounding");
    oz_wall_clamp_item(&w->f, 0);
    advance(w);
    for (int m = 0; m < 5; m++) oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[0] * 240.0f, expected, 1e-5, "as after the hold: five more contacts change nothing");
    w->y[1] -= 0.1f * D, w->y[0] += 0.002f; /* an iteration pushes it on */
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[0], expected / 240.0f + 0.002f * (1.0f - friction[k]), 1e-8, "friction on what is new");
    CHECK_NEAR(w->p[1], 0.25f * D, 1e-8, "pushed out");
  }
}

OZ_CASE(position_contact_alone_has_the_same_friction) {
  static const float friction[3] = {0.0f, 0.5f, 1.0f};
  for (int k = 0; k < 3; k++) {
    world *w = make(1, 1);
    w->c[0].friction = friction[k];
    put(w, 0, 0.0f, 0.5f * D, 0.0f);
    speed(w, 0, 0.6f, -1.0f * D * 240.0f, 0.3f);
    planes(w);
    for (int m = 0; m < 3; m++) oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[1], -0.25f * D, 1e-8, "to wall_gap");
    CHECK_NEAR(w->y[0] * 240.0f, 0.6f * (1.0f - friction[k]), 1e-5, "once, not three times");
    CHECK_NEAR(w->y[2] * 240.0f, 0.3f * (1.0f - friction[k]), 1e-5, "once, not three times");
    CHECK_NEAR(w->p[0], w->x[0] + w->y[0], 1e-9, "p follows y");
    /* momentum given to the wall is what the particle lost */
    CHECK_NEAR(w->impulse[1], -1e-3f * 0.75f * D * 240.0f, 1e-6, "mass times what was pushed back");
    CHECK_NEAR(w->impulse[0], 1e-3f * 0.6f * friction[k], 1e-6, "mass times what was slowed");
  }
}

OZ_CASE(the_filter_is_symmetric_and_positive) {
  uint64_t dice = 99;
  for (int trial = 0; trial < 500; trial++) {
    world *w = make(1, 3);
    int count = 1 + trial % 3;
    for (int k = 0; k < count; k++) {
      float n[3], l = 0.0f;
      while (!(l > 0.1f)) {
        for (int a = 0; a < 3; a++) n[a] = number(&dice, -1.0f, 1.0f);
        l = sqrtf(oz_dot3f(n, n));
      }
      for (int a = 0; a < 3; a++) w->wall[k].n[a] = n[a] / l;
      w->wall[k].active = 1, w->wall[k].friction = trial % 5 ? number(&dice, 0.0f, 1.0f) : 0.0f;
    }
    if (trial % 7 == 0 && count > 1) w->wall[1] = w->wall[0]; /* the same wall twice */
    w->planes[0] = (uint32_t)count;
    float P[3][3];
    for (int k = 0; k < 3; k++) {
      for (int a = 0; a < 3; a++) w->dx[a] = a == k ? 1.0f : 0.0f;
      oz_wall_filter_item(&w->f, 0);
      for (int a = 0; a < 3; a++) P[a][k] = w->dx[a];
    }
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) CHECK_NEAR(P[a][b], P[b][a], 1e-5, "rounding");
    for (int m = 0; m < 20; m++) {
      float v[3] = {number(&dice, -1, 1), number(&dice, -1, 1), number(&dice, -1, 1)}, e = 0.0f;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) e += v[a] * P[a][b] * v[b];
      CHECK(e >= -1e-5f && e <= oz_dot3f(v, v) + 1e-5f, "v P v = %g: neither negative nor a gain", (double)e);
    }
    for (int a = 0; a < 3; a++) w->dx[a] = w->wall[0].n[a];
    oz_wall_filter_item(&w->f, 0);
    CHECK_NEAR(sqrtf(oz_dot3f(w->dx, w->dx)), 0.0, 1e-5, "nothing along an active normal passes");
  }
}

OZ_CASE(a_corner_holds_and_projects_onto_all_its_walls) {
  world *w = make(1, 1);
  box(w, 0, 0.5f, 0.5f, 0.5f, 1);
  put(w, 0, 0.5f - 0.3f * D, -0.5f + 0.3f * D, 0.5f - 0.3f * D);
  speed(w, 0, 0.8f, -0.9f, 1.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  CHECK_NEAR(w->x[0] + w->f.dt * w->u[0], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->x[1] + w->f.dt * w->u[1], -0.5f + 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->x[2] + w->f.dt * w->u[2], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  speed(w, 0, 0.8f, -0.9f, 1.0f);
  planes(w);
  oz_wall_project_item(&w->f, 0);
  CHECK_NEAR(w->p[0], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->p[1], -0.5f + 0.25f * D, 1e-6, "floats at 0.5");
  CHECK_NEAR(w->p[2], 0.5f - 0.25f * D, 1e-6, "floats at 0.5");
}

OZ_CASE(slanted_walls_are_held_exactly_too) {
  world *w = make(1, 2);
  turn_about(w->c[1].q0, 0.0f, 0.0f, 1.0f, 1.0471976f); /* a slope of 60 degrees: normals are not at right angles */
  turn_about(w->c[1].q1, 0.0f, 0.0f, 1.0f, 1.0471976f);
  put(w, 0, -0.3f * D, 0.3f * D, 0.0f);
  speed(w, 0, 1.0f, -1.0f, 0.3f);
  planes(w);
  CHECK_EQ(w->planes[0], 2);
  oz_wall_hold_item(&w->f, 0);
  for (int k = 0; k < 2; k++)
    CHECK_NEAR(w->wall[k].s + w->f.dt * oz_dot3f(w->wall[k].n, w->u), w->f.wall_gap, 1e-7, "both planes at wall_gap");
  CHECK_NEAR(w->u[2], 0.3, 1e-6, "free along the edge");
}

OZ_CASE(held_particles_are_left_alone) {
  world *w = make(1, 1);
  w->omega[0] = 0.0f, w->c[0].friction = 1.0f;
  put(w, 0, 0.0f, 0.1f * D, 0.0f);
  speed(w, 0, 0.5f, -1.0f, 0.0f);
  planes(w);
  float y[3] = {w->y[0], w->y[1], w->y[2]};
  oz_wall_hold_item(&w->f, 0);
  oz_wall_clamp_item(&w->f, 0);
  oz_wall_project_item(&w->f, 0);
  oz_wall_density_item(&w->f, 0);
  oz_wall_drag_item(&w->f, 0);
  CHECK(w->u[0] == 0.5f && w->u[1] == -1.0f && w->y[0] == y[0] && w->y[1] == y[1], "as it was");
}

OZ_CASE(a_sticky_wall_keeps_up_to_its_strength) {
  for (int k = 0; k < 4; k++) {
    world *w = make(1, 1);
    w->c[0].stick = 15.0f;
    put(w, 0, 0.0f, (k == 3 ? 0.9f : k == 1 ? 0.5f : 0.25f) * D, 0.0f); /* the last one does not touch */
    static const float pull[4] = {9.81f, 14.9f, 15.1f, 9.81f}; /* m/s^2 */
    speed(w, 0, 0.0f, pull[k] * w->f.dt, 0.0f);
    planes(w);
    oz_wall_project_item(&w->f, 0);
    CHECK_NEAR(w->y[1], k < 2 ? 0.0f : pull[k] * w->f.dt * w->f.dt, 1e-9, "held below 15 m/s^2, if it touched");
  }
}

OZ_CASE(still_fluid_is_slowed_near_walls_and_flow_is_not) {
  static const float value[2] = {0.005f, 2.0f};
  for (int k = 0; k < 2; k++) {
    world *w = make(1, 1);
    w->c[0].p1[0] = 0.3f / 240.0f; /* relative to a wall that moves */
    put(w, 0, 0.0f, 0.5f * D, 0.0f);
    planes(w);
    oz_wall_density_item(&w->f, 0);
    float v = w->term[3], q = value[k] / w->f.rest_speed, s = 1.0f / (1.0f + q * q * q * q);
    speed(w, 0, 0.3f + value[k], 0.0f, 0.0f);
    oz_wall_drag_item(&w->f, 0);
    CHECK_NEAR(w->u[0], 0.3f + value[k] * (1.0f - 0.8f * s * v), 2e-6, "floats at 0.3");
    CHECK(k == 0 ? s > 0.9f : s < 1e-6f, "s = %g", (double)s);
  }
}

/* ---- Density ---- */

static double poly6(double q) { return q < 1.0 ? 315.0 / (64.0 * 3.14159265358979) * pow(1.0 - q * q, 3.0) : 0.0; }
static double spiky(double q) { return q < 1.0 ? 15.0 / 3.14159265358979 * pow(1.0 - q, 3.0) : 0.0; }

/* Rings of the half-space z > q about the axis, h = 1. */
static double half_space(double q) {
  double sum = 0.0, step = 1.0 / 400.0;
  for (double z = q + 0.5 * step; z < 1.0; z += step)
    for (double r = 0.5 * step; r < 1.0; r += step)
      sum += 2.0 * 3.14159265358979 * r * poly6(sqrt(r * r + z * z)) * step * step;
  return sum;
}
static double sheet(double q) {
  double sum = 0.0, step = 1.0 / 4000.0;
  for (double r = 0.5 * step; r < 1.0; r += step) sum += 2.0 * 3.14159265358979 * r * spiky(sqrt(r * r + q * q)) * step;
  return sum;
}

OZ_CASE(half_space_integrals_are_those_of_the_kernels) {
  for (int k = -9; k <= 9; k++) {
    float q = 0.11f * (float)k;
    CHECK_NEAR(oz_half_space(q), half_space((double)q), 1e-3,
               "midpoint rule at 1/400; the cut plane is off by half a step");
    CHECK_NEAR(oz_half_space_slope(q), sheet((double)q), 1e-5, "midpoint rule at 1/4000");
  }
  CHECK_NEAR(oz_half_space(0.0f), 0.5, 1e-6, "half of the kernel");
  CHECK_NEAR(oz_half_space(1.0f), 0.0, 1e-6, "out of reach");
  CHECK_NEAR(oz_half_space(-1.5f), 1.0, 1e-6, "all of it");
  CHECK_NEAR(oz_half_space_slope(1.5f), 0.0, 0.0, "out of reach");
}

OZ_CASE(wall_term_is_value_and_gradient_of_the_walls_density) {
  world *w = make(1, 1);
  turn_about(w->c[0].q0, 0.0f, 0.0f, 1.0f, 0.5f);
  turn_about(w->c[0].q1, 0.0f, 0.0f, 1.0f, 0.5f);
  put(w, 0, 0.0f, 1.0f * D, 0.0f);
  planes(w);
  w->y[0] = 0.2f * D, w->y[1] = -0.3f * D; /* it has moved since */
  oz_wall_density_item(&w->f, 0);
  const float n[3] = {-sinf(0.5f), cosf(0.5f), 0.0f};
  float dist = n[0] * 0.2f * D + n[1] * 0.7f * D;
  CHECK_NEAR(w->term[3], half_space((double)(dist / w->f.h)), 1e-3, "quadrature");
  double slope = sheet((double)(dist / w->f.h)) * (double)(D / w->f.h); /* d times 1/h */
  for (int a = 0; a < 3; a++) CHECK_NEAR(w->term[a], -slope * (double)n[a], 1e-4, "towards the wall, times d");
  w->c[0].wall_density = 0;
  planes(w);
  oz_wall_density_item(&w->f, 0);
  CHECK_NEAR(w->term[3], 0.0, 0.0, "switched off for this collider");
  w->c[0].wall_density = 1, w->f.wall_density = 0;
  planes(w);
  oz_wall_density_item(&w->f, 0);
  CHECK_NEAR(w->term[3], 0.0, 0.0, "switched off for all");
}

OZ_CASE(a_corner_fills_what_its_walls_fill_together) {
  /* the wedge {x < -a or y < -b} of the poly6 kernel by quadrature, against two planes */
  static const float at[3][2] = {{0.0f, 0.0f}, {0.23f, 0.23f}, {0.1f, 0.5f}};
  for (int k = 0; k < 3; k++) {
    double sum = 0.0, step = 1.0 / 50.0;
    for (double x = -1.0 + 0.5 * step; x < 1.0; x += step)
      for (double y = -1.0 + 0.5 * step; y < 1.0; y += step)
        for (double z = -1.0 + 0.5 * step; z < 1.0; z += step)
          if (x < -(double)at[k][0] || y < -(double)at[k][1])
            sum += poly6(sqrt(x * x + y * y + z * z)) * step * step * step;
    world *w = make(1, 1);
    box(w, 0, 0.5f, 0.5f, 0.5f, 1);
    put(w, 0, -0.5f + at[k][0] * w->f.h, -0.5f + at[k][1] * w->f.h, 0.0f);
    planes(w);
    oz_wall_density_item(&w->f, 0);
    CHECK_EQ(w->planes[0], 2);
    CHECK_NEAR(w->term[3], sum, 0.02, "the kernel is not quite a product: 0.02; adding would be off by 0.05 to 0.25");
    /* the gradient along x is the spiky kernel over the part of the plane x = -a that the other wall leaves open */
    double open = 0.0;
    step = 1.0 / 200.0;
    for (double y = -1.0 + 0.5 * step; y < 1.0; y += step)
      for (double z = -1.0 + 0.5 * step; z < 1.0; z += step)
        if (y > -(double)at[k][1]) open += spiky(sqrt((double)(at[k][0] * at[k][0]) + y * y + z * z)) * step * step;
    CHECK_NEAR(w->term[0], -open * (double)(D / w->f.h), 0.02, "as above; without the other wall 0.1 to 0.34 more");
  }
}

OZ_CASE(a_full_lattice_on_a_wall_is_about_at_rest) {
  /* layers at d/2, 3d/2, ... over a wall, cubic lattice: fluid part plus wall part */
  const double h = 2.2;
  double all = 0.0, above = 0.0;
  for (int i = -3; i <= 3; i++)
    for (int j = -3; j <= 3; j++)
      for (int k = -3; k <= 3; k++) {
        double weight = poly6(sqrt((double)(i * i + j * j + k * k)) / h);
        all += weight;
        if (j >= 0) above += weight;
      }
  double first = above / all + (double)oz_half_space((float)(0.5 / h));
  CHECK_NEAR(first, 1.0, 0.02, "the wall stands in for the layers that a lattice would have below");
}

OZ_CASE(loads_add_up_what_the_wall_took) {
  world *w = make(1, 1);
  w->c[0].friction = 0.5f;
  put(w, 0, 0.0f, 0.25f * D, 0.0f);
  speed(w, 0, 0.2f, -0.4f, 0.0f);
  planes(w);
  oz_wall_hold_item(&w->f, 0);
  CHECK_NEAR(w->impulse[0], 1e-3f * 0.1f, 1e-8, "half of what slid");
  CHECK_NEAR(w->impulse[1], 1e-3f * -0.4f, 1e-8, "all that fell");
  w->dx[0] = 0.0f, w->dx[1] = -0.5f / 240.0f,
  w->dx[2] = 0.0f; /* an iteration of the solve: 1 m/s down, in a step of 2 */
  double scalar[OZ_SCALAR_COUNT] = {0};
  scalar[OZ_SCALAR_ALPHA] = 2.0;
  w->f.scalar = scalar;
  oz_wall_filter_item(&w->f, 0);
  oz_wall_load_item(&w->f, 0);
  CHECK_NEAR(w->impulse[1], 1e-3f * -1.4f, 1e-7, "and what the solve pressed");
  oz_wall_density_item(&w->f, 0);
  w->dx[3] = -2.0f; /* multiplier of the density */
  float before = w->impulse[1];
  oz_wall_press_item(&w->f, 0);
  /* the particle is moved by d omega lambda grad, grad = -press n */
  CHECK_NEAR(w->impulse[1] - before, -(1e-3f * 240.0f) * (D * 2.0f * w->wall[0].press), 1e-8, "action and reaction");
}

/* ---- Nozzle and random numbers ---- */

OZ_CASE(a_nozzle_moves_what_it_holds_and_lets_go_at_the_mouth) {
  world *w = make(3, 0);
  uint32_t source[3] = {5, 5, 6};
  uint64_t id[3] = {10, 11, 12};
  oz_nozzle z;
  memset(&z, 0, sizeof z);
  z.handle = 5, z.speed = 0.5f, z.disturbance = 0.01f, z.seed = 3;
  turn_about(z.q0, 1.0f, 0.0f, 0.0f, 0.3f);
  turn_about(z.q1, 1.0f, 0.0f, 0.0f, 0.4f);
  z.p0[0] = 1.0f, z.p1[0] = 1.01f;
  w->f.nozzle = &z, w->f.nozzle_count = 1, w->f.source = source, w->f.id = id;
  float local[3] = {0.003f, 0.02f, -0.004f}, passed[3] = {0.0f, -0.001f, 0.0f}, goal[3];
  oz_pose_out(z.p0, z.q0, local, w->x);
  oz_pose_out(z.p0, z.q0, passed, w->x + 4);
  for (uint32_t i = 0; i < 3; i++) speed(w, i, 0.0f, -0.5f, 0.0f), oz_nozzle_item(&w->f, i);
  local[1] -= 0.5f / 240.0f;
  oz_pose_out(z.p1, z.q1, local, goal);
  for (int a = 0; a < 3; a++) CHECK_NEAR(w->x[a] + w->f.dt * w->u[a], goal[a], 3e-7, "floats at 1");
  CHECK_EQ(source[0], 5);
  CHECK_EQ(source[1], 0);
  CHECK_EQ(source[2], 0);
  float push[3] = {w->u[4], w->u[5] + 0.5f, w->u[6]}, axis[3] = {0.0f, -1.0f, 0.0f};
  oz_turn(z.q0, axis, axis);
  CHECK_NEAR(oz_dot3f(push, axis), 0.0, 1e-7, "sideways");
  CHECK(oz_dot3f(push, push) > 0.0f && oz_dot3f(push, push) <= 1.0001e-4f, "a push, at most as asked for");
  CHECK(w->u[8] == 0.0f && w->u[9] == -0.5f, "its nozzle is gone: it goes on as it was");
}

OZ_CASE(random_numbers_are_uniform_and_differ) {
  double sum = 0.0, square = 0.0, pair = 0.0;
  const int n = 100000;
  float last = 0.5f;
  int bins[16] = {0};
  for (int k = 0; k < n; k++) {
    float r = oz_random(1, (uint64_t)k, 0);
    CHECK(r >= 0.0f && r < 1.0f, "%g", (double)r);
    sum += (double)r, square += (double)r * (double)r, pair += ((double)r - 0.5) * ((double)last - 0.5);
    bins[(int)(r * 16.0f)]++;
    last = r;
  }
  CHECK_NEAR(sum / n, 0.5, 0.004, "4 sigma");
  CHECK_NEAR(square / n, 1.0 / 3.0, 0.004, "4 sigma");
  CHECK_NEAR(pair / n, 0.0, 0.0011, "4 sigma of neighbours' correlation");
  for (int k = 0; k < 16; k++) CHECK_NEAR(bins[k], n / 16, 320, "4 sigma");
  CHECK(oz_random(1, 5, 0) != oz_random(2, 5, 0) && oz_random(1, 5, 0) != oz_random(1, 5, 1) &&
            oz_random(1, 5, 0) != oz_random(1, 6, 0),
        "seed, id and k all count");
}
