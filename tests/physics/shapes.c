/* Distances of collider shapes and of bricks of signed distances. SPDX-License-Identifier:
 * Apache-2.0 */
#include "contact_world.h"

OZ_TEST_MAIN()

/* ---- Shapes ---- */

OZ_CASE(physics_and_public_header_number_shapes_alike) {
#define OZ_COLLIDER_SHAPE(NAME, word, convex, halves) CHECK_EQ(OZ_SHAPE_##NAME, OOZE_SHAPE_##NAME);
#include "physics/shapes.def"
#undef OZ_COLLIDER_SHAPE
  CHECK_EQ(OZ_ROLE_COLLIDE, OOZE_ROLE_COLLIDE);
  CHECK_EQ(OZ_ROLE_KILL, OOZE_ROLE_KILL);
}

enum { SAMPLES = 60000 };
static float (*samples)[3];

/* Points of the surface, made without the distance formulas: cover the sphere or cube of directions
 * and sweep. */
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
      float z = 1.0f - 2.0f * ((float)n + 0.5f) / SAMPLES, angle = 2.3999632f * (float)n,
            r = sqrtf(1.0f - z * z);
      float *s = samples[n];
      if (c->shape == OOZE_SHAPE_CYLINDER) {
        /* half of them on the side, a quarter on the two ends, a quarter on their rims */
        float t = (float)n / SAMPLES;
        if (n % 8 < 2)
          s[0] = a * cosf(angle), s[1] = n % 8 ? b : -b, s[2] = a * sinf(angle);
        else if (n % 2)
          s[0] = a * cosf(angle), s[1] = b * (2.0f * t - 1.0f), s[2] = a * sinf(angle);
        else
          s[0] = a * sqrtf(t) * cosf(angle), s[1] = n % 4 ? b : -b,
          s[2] = a * sqrtf(t) * sinf(angle);
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
      float x[3] = {number(&dice, -1.2f, 1.2f), number(&dice, -1.5f, 1.5f),
                    number(&dice, -1.2f, 1.2f)},
            best = 1e9f;
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
        /* a sample is up to about 0.02 away along the surface: that moves the distance by 0.02^2 /
         * 2 over the distance
         */
        CHECK_NEAR(face.dist, truth, 2e-4f + oz_minf(0.01f, 4e-4f / best),
                   "surface sampled at 0.01 to 0.02");
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
        float x[3] = {number(&dice, -1.2f, 1.2f), number(&dice, -1.5f, 1.5f),
                      number(&dice, -1.2f, 1.2f)},
              worst = 0.0f;
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
      CHECK(kinks <= 9,
            "shape %u: %d of 300 normals differ; only the few points within 1e-3 of a medial sheet "
            "may",
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
  CHECK_NEAR(u[0], 0.5f + rate * r[2], 1e-4,
             "chord against arc: (rate dt)^2 / 24, and floats over dt");
  CHECK_NEAR(u[1], -1.0f, 1e-4, "floats over dt");
  CHECK_NEAR(u[2], -rate * r[0], 1e-4, "as above");
}

/* ---- SDF ---- */

OZ_CASE(bricks_interpolate_the_distance) {
  world *w = make(1, 1);
  const float voxel = 0.1f, radius = 0.9f;
  uint64_t dice = 5;
  sphere_bricks(w, voxel, radius, 10.0f);
  CHECK_EQ(w->c[0].brick_count, 64);
  for (int k = 0; k < 2000; k++) {
    float x[3] = {number(&dice, -1.5f, 1.4f), number(&dice, -1.5f, 1.4f),
                  number(&dice, -1.5f, 1.4f)};
    float r = sqrtf(oz_dot3f(x, x));
    oz_face face;
    if (r < 0.3f) continue;
    oz_collider_face(&w->f, w->c, x, 1.0f, &face);
    CHECK_NEAR(face.dist, r - radius, 0.75f * voxel * voxel / r * 0.5f + 1e-5f,
               "trilinear: three axes of h^2/8 times 2/r");
    for (int m = 0; m < 3; m++)
      CHECK_NEAR(face.n[m], x[m] / r, voxel / r,
                 "gradient of a trilinear cell: h/2 times 1/r, twice");
  }
}

OZ_CASE(bricks_are_found_by_key_and_others_are_far) {
  world *w = make(1, 1);
  const float voxel = 0.1f;
  sphere_bricks(w, voxel, 1.49f, 0.1f);
  CHECK(w->c[0].brick_count == 56, "%u bricks: the 8 in the middle have none within the band",
        w->c[0].brick_count);
  for (int32_t bx = -3; bx < 3; bx++)
    for (int32_t bz = -3; bz < 3; bz++) {
      uint64_t key = oz_brick_key(bx, 1, bz);
      int64_t found = oz_brick_find(&w->f, w->c, bx, 1, bz);
      int there = bx >= -2 && bx < 2 && bz >= -2 && bz < 2;
      CHECK(there ? found >= 0 && w->key[found] == key : found == -1, "brick %d 1 %d: %d", bx, bz,
            (int)found);
    }
  oz_face face;
  float middle[3] = {0.0f, 0.0f, 0.0f}, out[3] = {4.0f, 0.0f, 0.0f},
        beside[3] = {1.75f, 0.01f, 0.01f};
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
