/* Films of one and two layers on a wall: two run as thick fluid of their depth does, the rest of
 * them levels into one, and one that is thinner than a particle spreads evenly.
 * SPDX-License-Identifier: Apache-2.0 oz_test: LABELS physics */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "solver_kit.h"
#include "ooze/ooze.h"

enum { WIDE = 24, MOST = 2 * WIDE * WIDE };
static const float d = 0.004f;
static float x[MOST][3], v[MOST][3];

/* Layers on a wall at y = 0, of which a share of the particles is left out by chance, pulled along
 * x (m/s^2) for a time; positions to x, velocities to v. memory: s */
static uint32_t film(int layers, unsigned left_out, float viscosity, float memory, float pull,
                     double duration) {
  ooze_solver *s = cpu_solver(d);
  ooze_collider_desc wall;
  ooze_collider collider;
  ooze_material m;
  ooze_params p;
  uint32_t index, count = 0, random = 1;

  ooze_params_default(&p);
  p.gravity[0] = pull, p.gravity[1] = -1.0f, p.gravity[2] = 0.0f;
  CHECK_OK(ooze_params_set(s, &p), s);
  ooze_material_default(&m);
  m.density = 1350.0f, m.viscosity = viscosity, m.relaxation_time = memory;
  CHECK_OK(ooze_material_add(s, &m, &index), s);
  ooze_collider_desc_default(&wall);
  CHECK_OK(ooze_collider_add(s, &wall, &collider), s);

  for (int i = 0; i < layers * WIDE * WIDE; ++i) {
    random = random * 1664525u + 1013904223u;
    if ((random >> 16) % 100u < left_out) continue;
    x[count][0] = ((float)(i % WIDE) + 0.5f - 0.5f * WIDE) * d;
    x[count][1] = ((float)(i / (WIDE * WIDE)) + 0.5f) * d;
    x[count++][2] = ((float)(i / WIDE % WIDE) + 0.5f - 0.5f * WIDE) * d;
  }
  add_particles(s, index, count, (const float(*)[3])x);
  const int steps = (int)(duration * 192.0 + 0.5);
  for (int f = 0; f < steps; ++f) CHECK_OK(ooze_step(s, 1.0 / 192.0), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_POSITION, 0, count, 0, x), s);
  CHECK_OK(ooze_attribute_read(s, OOZE_VELOCITY, 0, count, 0, v), s);
  ooze_solver_destroy(s);
  return count;
}

OZ_CASE(two_layers_run_as_a_film_of_their_thickness) {
  static const float viscosities[] = {2.0f, 10.0f};
  for (int k = 0; k < 2; ++k) {
    const float pull = 2.0f;
    (void)film(2, 0, viscosities[k], 0.0f, pull, 0.15);
    double sum = 0.0, of = 0.0;
    for (int i = 0; i < MOST; ++i)
      if (abs(i % WIDE - WIDE / 2) < 6 && abs(i / WIDE % WIDE - WIDE / 2) < 6)
        sum += (double)v[i][0], of += 1.0;
    /* rho f h^2 / 3 mu, the mean over a film of the thickness h */
    const double h = 2.0 * (double)d,
                 exact = 1350.0 * (double)pull * h * h / (3.0 * (double)viscosities[k]);
    printf("%g Pa s: %.3f of the exact speed\n", (double)viscosities[k], sum / of / exact);
    CHECK(fabs(sum / of / exact - 1.0) < 0.12, "%g of the exact speed", sum / of / exact);
  }
}

static int by_size(const void *a, const void *b) {
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

OZ_CASE(a_film_thinner_than_a_particle_spreads_evenly) {
  static double nearest[MOST];
  const uint32_t count = film(1, 30, 2.0f, 0.0f, 9.81f, 1.5);
  for (uint32_t i = 0; i < count; ++i) {
    nearest[i] = 1e9;
    for (uint32_t j = 0; j < count; ++j)
      if (j != i)
        nearest[i] = fmin(nearest[i],
                          hypot((double)(x[i][0] - x[j][0]),
                                hypot((double)(x[i][1] - x[j][1]), (double)(x[i][2] - x[j][2]))));
  }
  qsort(nearest, count, sizeof *nearest, by_size);
  const double tenth = nearest[count / 10] / (double)d, middle = nearest[count / 2] / (double)d;
  printf("nearest neighbours at %.2f separations, a tenth within %.2f\n", middle, tenth);
  CHECK(tenth > 0.8, "a tenth has neighbours within %g separations", tenth);
}

/* A layer and a fifth in two layers, by chance: it runs as one, and not as a net of two layers with
 * holes between. */
OZ_CASE(what_is_left_of_two_layers_levels_into_one) {
  static const float memories[] = {0.0f, 0.1f};
  for (int k = 0; k < 2; ++k) {
    const uint32_t count = film(2, 40, 10.0f, memories[k], 9.81f, 0.75);
    uint32_t above = 0;
    for (uint32_t i = 0; i < count; ++i) above += x[i][1] > 1.2f * d;
    const double part = (double)above / (double)count;
    printf("10 Pa s, %g s: %.3f in a second layer\n", (double)memories[k], part);
    CHECK(part < 0.15, "%g in a second layer", part);
  }
}

OZ_TEST_MAIN()
