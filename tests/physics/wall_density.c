/* Walls' part in densities and their loads; nozzles; random numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "contact_world.h"

OZ_TEST_MAIN()

/* ---- Density ---- */

static double kernel(double q) {
  return q < 1.0 ? 3465.0 / (512.0 * 3.14159265358979) * pow(1.0 - q * q, 4.0) : 0.0;
}
static double spiky(double q) {
  return q < 1.0 ? 15.0 / 3.14159265358979 * pow(1.0 - q, 3.0) : 0.0;
}
/* minus its derivative */
static double spiky_slope(double q) {
  return q < 1.0 ? 45.0 / 3.14159265358979 * pow(1.0 - q, 2.0) : 0.0;
}

/* Rings of the half-space z > q about the axis, h = 1. */
static double half_space(double q) {
  double sum = 0.0, step = 1.0 / 400.0;
  for (double z = q + 0.5 * step; z < 1.0; z += step)
    for (double r = 0.5 * step; r < 1.0; r += step)
      sum += 2.0 * 3.14159265358979 * r * kernel(sqrt(r * r + z * z)) * step * step;
  return sum;
}
static double sheet(double q) {
  double sum = 0.0, step = 1.0 / 4000.0;
  for (double r = 0.5 * step; r < 1.0; r += step)
    sum += 2.0 * 3.14159265358979 * r * spiky(sqrt(r * r + q * q)) * step;
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
  for (int a = 0; a < 3; a++)
    CHECK_NEAR(w->term[a], -slope * (double)n[a], 1e-4, "towards the wall, times d");
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
  /* the wedge {x < -a or y < -b} of the kernel by quadrature, against two planes */
  static const float at[3][2] = {{0.0f, 0.0f}, {0.23f, 0.23f}, {0.1f, 0.5f}};
  for (int k = 0; k < 3; k++) {
    double sum = 0.0, step = 1.0 / 50.0;
    for (double x = -1.0 + 0.5 * step; x < 1.0; x += step)
      for (double y = -1.0 + 0.5 * step; y < 1.0; y += step)
        for (double z = -1.0 + 0.5 * step; z < 1.0; z += step)
          if (x < -(double)at[k][0] || y < -(double)at[k][1])
            sum += kernel(sqrt(x * x + y * y + z * z)) * step * step * step;
    world *w = make(1, 1);
    box(w, 0, 0.5f, 0.5f, 0.5f, 1);
    put(w, 0, -0.5f + at[k][0] * w->f.h, -0.5f + at[k][1] * w->f.h, 0.0f);
    planes(w);
    oz_wall_density_item(&w->f, 0);
    CHECK_EQ(w->planes[0], 2);
    CHECK_NEAR(w->term[3], sum, 0.02,
               "the kernel is not quite a product: 0.02; adding would be off by 0.05 to 0.25");
    /* the gradient along x is the spiky kernel over the part of the plane x = -a that the other
     * wall leaves open */
    double open = 0.0;
    step = 1.0 / 200.0;
    for (double y = -1.0 + 0.5 * step; y < 1.0; y += step)
      for (double z = -1.0 + 0.5 * step; z < 1.0; z += step)
        if (y > -(double)at[k][1])
          open += spiky(sqrt((double)(at[k][0] * at[k][0]) + y * y + z * z)) * step * step;
    CHECK_NEAR(w->term[0], -open * (double)(D / w->f.h), 0.02,
               "as above; without the other wall 0.1 to 0.34 more");
  }
}

OZ_CASE(a_full_lattice_on_a_wall_is_at_rest) {
  /* layers at d/2, 3d/2, ... over a wall, cubic lattice: the layers below stand for their images */
  const double h = 2.2;
  double all = 0.0, below[2] = {0.0}, push[2] = {0.0};
  for (int i = -3; i <= 3; i++)
    for (int j = -3; j <= 3; j++)
      for (int k = -3; k <= 3; k++) {
        const double r = sqrt((double)(i * i + j * j + k * k));
        all += kernel(r / h);
        for (int layer = 0; layer < 2; layer++)
          if (-j > layer) {
            below[layer] += kernel(r / h);
            push[layer] += spiky_slope(r / h) * -j / r / (h * h * h * h);
          }
      }
  for (int layer = 0; layer < 2; layer++) {
    world *w = make(1, 1);
    w->f.is_conformation = 1;
    put(w, 0, 0.0f, ((float)layer + 0.5f) * D, 0.0f);
    planes(w);
    oz_wall_density_item(&w->f, 0);
    CHECK_NEAR(w->term[3], below[layer] / all, 0.003, "the wall fills what the images would");
    CHECK_NEAR(w->term[1], -push[layer], 0.01, "and pushes as they would");
  }
}

OZ_CASE(kernel_tells_volume_and_not_order) {
  /* sums over cubic lattices of one particle a unit of volume */
  static const struct {
    double edge;
    int points;
    double at[4][3];
  } lattice[3] = {
      {1.0, 1, {{0, 0, 0}}},
      {1.2599210499, 2, {{0, 0, 0}, {0.5, 0.5, 0.5}}},
      {1.5874010520, 4, {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}},
  };
  const double h = 2.2;
  double sum[3] = {0.0};
  for (int l = 0; l < 3; l++)
    for (int i = -3; i <= 3; i++)
      for (int j = -3; j <= 3; j++)
        for (int k = -3; k <= 3; k++)
          for (int p = 0; p < lattice[l].points; p++) {
            const double *at = lattice[l].at[p], x = i + at[0], y = j + at[1], z = k + at[2];
            sum[l] += kernel(lattice[l].edge * sqrt(x * x + y * y + z * z) / h) / (h * h * h);
          }
  CHECK_NEAR(sum[1] / sum[0], 1.0, 0.003, "body-centred over simple cubic");
  CHECK_NEAR(sum[2] / sum[0], 1.0, 0.003, "face-centred over simple cubic");
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
  CHECK_NEAR(w->impulse[1] - before, -(1e-3f * 240.0f) * (D * 2.0f * w->wall[0].press), 1e-8,
             "action and reaction");
}

OZ_CASE(images_push_off_the_wall_and_keep_momentum_along_it) {
  world *w = make(8, 1);
  uint64_t state = 1;
  double along[2] = {0.0, 0.0}, most = 0.0;
  w->f.grad_norm = -1.0f, w->f.dens_grad = 1.0f;
  for (uint32_t i = 0; i < 8; i++) {
    put(w, i, number(&state, 0.0f, 1.5f * D), number(&state, 0.3f * D, 1.05f * D),
        number(&state, 0.0f, 1.5f * D));
    for (uint32_t a = 0; a < 3; a++) w->dx[4 * i + a] = w->x[4 * i + a];
    w->dx[4 * i + 3] = number(&state, -2.0f, -1.0f);
  }
  planes(w);
  for (uint32_t i = 0; i < 8; i++) {
    oz_wall_density_item(&w->f, i);
    oz_wall_mirror_item(&w->f, i);
    const float push = w->y[4 * i + 1];
    CHECK(push >= 0.98f * D * w->wall[OZ_PLANES * i].press &&
              push <= 1.96f * D * w->wall[OZ_PLANES * i].press,
          "with multipliers between 1 and 2");
    CHECK_NEAR(w->impulse[9 * i + 1], -1e-3f * 240.0f * push, 1e-8, "action and reaction");
    along[0] += (double)w->y[4 * i], along[1] += (double)w->y[4 * i + 2];
    most = fmax(most, fabs((double)w->y[4 * i]));
  }
  CHECK(most > 1e-7, "images push along the wall, too: %g", most);
  CHECK_NEAR(along[0], 0.0, 1e-5 * most, "pair by pair; rounding");
  CHECK_NEAR(along[1], 0.0, 1e-5 * most, "pair by pair; rounding");
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
  CHECK(oz_dot3f(push, push) > 0.0f && oz_dot3f(push, push) <= 1.0001e-4f,
        "a push, at most as asked for");
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
    sum += (double)r, square += (double)r * (double)r,
        pair += ((double)r - 0.5) * ((double)last - 0.5);
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
