/* Particle shifting keeps a flowing body whole, and leaves bodies alone that do not flow.
 * SPDX-License-Identifier: Apache-2.0
 * oz_test: LABELS physics */
#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { MOST = 4096 };
static const float separation = 0.005f, radius = 0.03f, height = 0.08f;
static float x[MOST][3];

/* points: the floor is a plate of boundary particles. */
static ooze_solver *cylinder(float shifting, float viscosity, float gravity, uint32_t substeps,
                             int points) {
  ooze_solver *s = cpu_solver(separation);

  ooze_params p;
  ooze_params_default(&p);
  p.shifting = shifting, p.substeps = substeps;
  p.gravity[1] = gravity;
  CHECK_OK(ooze_params_set(s, &p), s);

  ooze_material m;
  uint32_t material;
  ooze_material_default(&m);
  m.density = 1100, m.viscosity = viscosity, m.relaxation_time = 0.5f;
  CHECK_OK(ooze_material_add(s, &m, &material), s);

  ooze_collider_desc floor;
  ooze_collider handle;
  ooze_collider_desc_default(&floor);
  floor.friction = 1;
  if (points) {
    floor.shape = OOZE_SHAPE_BOX, floor.boundary = OOZE_BOUNDARY_PARTICLES;
    floor.half[0] = floor.half[2] = 0.1f, floor.half[1] = 0.015f;
    floor.start.position[1] = floor.end.position[1] = -floor.half[1];
  }
  CHECK_OK(ooze_collider_add(s, &floor, &handle), s);

  uint32_t n = 0;
  for (float y = 0.55f * separation; y < height; y += separation)
    for (float a = -radius; a <= radius; a += separation)
      for (float b = -radius; b <= radius; b += separation)
        if (a * a + b * b <= radius * radius && n < MOST) x[n][0] = a, x[n][1] = y, x[n++][2] = b;
  ooze_particles add;
  ooze_particles_default(&add);
  add.count = n, add.material = material, add.positions = x;
  CHECK_OK(ooze_particles_add(s, &add, NULL), s);
  return s;
}

static int ascending(const void *a, const void *b) {
  const double d = *(const double *)a - *(const double *)b;
  return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static double r[MOST]; /* m: distances from the axis, in order */

/* m: radius within which 95% of the particles lie. */
static double reach(ooze_solver *s) {
  const uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  for (uint32_t i = 0; i < n; ++i) r[i] = hypot((double)x[i][0], (double)x[i][2]);
  qsort(r, n, sizeof *r, ascending);
  return r[n * 95 / 100];
}

OZ_CASE(a_collapsing_cylinder_holds_together_with_shifting) {
  double far[2];
  for (int k = 0; k < 2; ++k) {
    ooze_solver *s = cylinder((float)k, 100, -9.81f, 0, 0);
    for (int f = 0; f < 24; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
    far[k] = reach(s);
    ooze_solver_destroy(s);
  }
  CHECK(far[1] < 0.93 * far[0], "it reaches %g m with shifting, %g m without", far[1], far[0]);
}

/* Particles that are shifted along a wall creep along it, the further the more substeps: such a
 * body ran out to 1.5 times its width, and threw drops. */
OZ_CASE_SLOW(a_floor_of_points_holds_it_at_any_substep) {
  static const struct {
    uint32_t substeps;
    int points;
  } runs[] = {{8, 0}, {8, 1}, {32, 1}};
  double far[3];
  for (int k = 0; k < 3; ++k) {
    ooze_solver *s = cylinder(1, 30, -9.81f, runs[k].substeps, runs[k].points);
    for (int f = 0; f < 18; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
    far[k] = reach(s);
    const double last = r[ooze_particle_count(s) - 1];
    ooze_solver_destroy(s);
    printf("%u substeps, floor of %s: %.1f mm, the last one at %.1f\n", (unsigned)runs[k].substeps,
           runs[k].points ? "points" : "a plane", 1e3 * far[k], 1e3 * last);
    CHECK(fabs(far[k] / far[0] - 1.0) < 0.1, "%g m, on a plane %g m", far[k], far[0]);
    CHECK(last < 1.3 * far[k], "a particle at %g m", last);
  }
}

/* Huppert's puddle (1982), R = 0.894 (g V^3 t / 3 nu)^(1/8): 10 Pa s on a floor of points, which is
 * one layer and a half deep in the end. The lack above such a film is no volume that tension has
 * opened (oz_dilation): taken back, it pressed the puddle out to 1.18 of its radius in a second and
 * to 1.48 in five. */
OZ_CASE_SLOW(a_puddle_on_points_is_as_wide_as_huppert_has_it) {
  const double wide = 0.0317, d = (double)separation;
  const double mu = 10.0, density = 1400.0, until = 1.0;
  ooze_solver *s = cpu_solver(separation);
  ooze_params p;
  ooze_params_default(&p);
  p.substeps = 32;
  CHECK_OK(ooze_params_set(s, &p), s);

  ooze_material m;
  uint32_t material, n = 0;
  ooze_material_default(&m);
  m.density = (float)density, m.viscosity = (float)mu;
  CHECK_OK(ooze_material_add(s, &m, &material), s);

  ooze_collider_desc floor;
  ooze_collider_desc_default(&floor);
  floor.shape = OOZE_SHAPE_BOX, floor.boundary = OOZE_BOUNDARY_PARTICLES, floor.friction = 1;
  floor.half[0] = floor.half[2] = 0.1f, floor.half[1] = 0.015f;
  floor.start.position[1] = floor.end.position[1] = -floor.half[1];
  CHECK_OK(ooze_collider_add(s, &floor, NULL), s);

  for (double y = 0.5 * d; y < wide; y += d)
    for (double a = 0.5 * d - 8.0 * d; a < wide; a += d)
      for (double b = 0.5 * d - 8.0 * d; b < wide; b += d)
        if (a * a + b * b <= wide * wide && n < MOST)
          x[n][0] = (float)a, x[n][1] = (float)y, x[n++][2] = (float)b;
  add_particles(s, material, n, (const float(*)[3])x);
  for (int f = 0; f < 24; ++f) CHECK_OK(ooze_step(s, until / 24.0), s);
  (void)reach(s);
  ooze_solver_destroy(s);

  double front = 0.5 * d; /* that of the outermost 2% */
  const uint32_t few = n / 50;
  for (uint32_t i = n - few; i < n; ++i) front += r[i] / few;
  const double V = n * d * d * d,
               exact = 0.894 * pow(9.81 * V * V * V * until * density / (3.0 * mu), 0.125);
  printf("the radius is %.1f mm, exact %.1f\n", 1e3 * front, 1e3 * exact);
  CHECK(fabs(front / exact - 1.0) < 0.08, "%g m, exact %g", front, exact);
}

/* Thick fluid at rest between walls that hold it: gravity strains the layer next to them before
 * each solve. That counted as flow, so that the lack of an uneven arrangement was taken back for
 * ever, and the top rose by 4.5 mm. */
OZ_CASE(thick_fluid_at_rest_climbs_no_walls) {
  enum { WIDE = 10, HIGH = 6, MANY = WIDE * HIGH * WIDE };
  static const uint32_t size[3] = {WIDE, HIGH, WIDE};
  const double d = 0.01;
  ooze_solver *s = cpu_solver((float)d);
  ooze_collider_desc tank;
  ooze_material m;
  uint32_t material, seed = 1;
  ooze_collider_desc_default(&tank);
  tank.shape = OOZE_SHAPE_BOX, tank.invert = 1, tank.friction = 1;
  tank.half[0] = tank.half[2] = 0.05f, tank.half[1] = 0.25f;
  tank.start.position[1] = tank.end.position[1] = 0.25f;
  CHECK_OK(ooze_collider_add(s, &tank, NULL), s);
  ooze_material_default(&m);
  m.viscosity = 100, m.density = 1000;
  CHECK_OK(ooze_material_add(s, &m, &material), s);
  lattice_on_floor(x, size, (float)d);
  for (uint32_t i = 0; i < MANY; ++i)
    for (int c = 0; c < 3; ++c) {
      seed = seed * 1664525u + 1013904223u;
      x[i][c] += 0.3f * (float)d * ((float)(seed >> 8) * 0x1p-24f - 0.5f);
    }
  add_particles(s, material, MANY, (const float(*)[3])x);
  double top[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    for (int f = 0; k && f < 48; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
    CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, MANY, 0, x), s);
    for (int i = 0; i < MANY; ++i) top[k] = fmax(top[k], (double)x[i][1]);
  }
  ooze_solver_destroy(s);
  printf("the top was at %.1f mm and is at %.1f\n", 1e3 * top[0], 1e3 * top[1]);
  CHECK(top[1] < top[0] + 0.1 * d, "%g m, before %g", top[1], top[0]);
}

OZ_CASE(nothing_is_shifted_where_nothing_is_strained) {
  static float first[MOST][3];
  ooze_solver *s = cylinder(1, 100, 0, 0, 0);
  const uint32_t n = ooze_particle_count(s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, first), s);
  for (int f = 0; f < 4; ++f) CHECK_OK(ooze_step(s, 1.0 / 24.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, n, 0, x), s);
  double most = 0;
  for (uint32_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) most = fmax(most, fabs((double)(x[i][c] - first[i][c])));
  CHECK(most < 0.05 * (double)separation, "a particle moved by %g m", most);
  ooze_solver_destroy(s);
}

/* A slender column of 1000 Pa s on a slippery floor: under the height z of fluid above it a slice
 * gets shorter at rho g z / 3 mu, so that with k = rho g t / 3 mu the height is ln(1 + k h) / k. No
 * volume is taken from it on the way (oz_dilation_now), which would double its speed. */
OZ_CASE(thick_fluid_sinks_as_its_viscosity_says) {
  enum { WIDE = 10, HIGH = 20, MANY = WIDE * WIDE * HIGH };
  static float at[MANY][3];
  const double fine = 0.004, until = 0.5, h = HIGH * fine, k = 1000.0 * 9.81 * until / 3000.0;
  static const uint32_t size[3] = {WIDE, HIGH, WIDE};
  ooze_solver *s = cpu_solver((float)fine);
  ooze_collider_desc floor;
  ooze_material m;
  uint32_t index;
  ooze_collider_desc_default(&floor);
  floor.shape = OOZE_SHAPE_BOX, floor.friction = 0.0f;
  floor.half[0] = floor.half[2] = 0.2f, floor.half[1] = 0.05f;
  floor.start.position[1] = floor.end.position[1] = -0.05f;
  CHECK_OK(ooze_collider_add(s, &floor, NULL), s);
  ooze_material_default(&m);
  m.viscosity = 1000.0f, m.density = 1000.0f;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  lattice_on_floor(at, size, (float)fine);
  add_particles(s, index, MANY, (const float(*)[3])at);
  for (int f = 0; f < 12; ++f) CHECK_OK(ooze_step(s, until / 12.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, MANY, 0, at), s);
  ooze_solver_destroy(s);
  double mean = 0.0;
  for (int i = 0; i < MANY; ++i) mean += (double)at[i][1] / MANY;
  /* the centre sinks by 2/3 of the top's way, as long as that is short */
  const double exact = 2.0 / 3.0 * (h - log(1.0 + k * h) / k), sunk = 0.5 * h - mean;
  printf("the centre has sunk by %.2f mm, exact %.2f\n", 1e3 * sunk, 1e3 * exact);
  CHECK(fabs(sunk / exact - 1.0) < 0.1, "%g m, exact %g", sunk, exact);
}

OZ_TEST_MAIN()
