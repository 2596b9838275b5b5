/* The springs model: Algorithm 1 of Clavet, Beaudoin and Poulin 2005, with its pairs gathered
 * instead of traversed in order (springs.h, docs/theory/models/springs.md). It reads like the
 * algorithm box: forces, viscosity, prediction, spring adjustment, spring displacements, double
 * density relaxation, collisions, velocity from positions. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

/* The paper chooses h freely; here the separation is given, and h follows: the radius at which the
 * two pressures balance for particles one separation apart, 2.68 with the paper's typical values.
 * In the continuum, with n particles in h^3, the sums over neighbours are rho = 4 pi n / 30 - 1 and
 * rho_near about (rho + 1) / 2, and the virial of (6) vanishes where P + P_near / 3 = 0. */
static double radius_of(const ooze_params *p, double *out_rho) {
  const double k = p->springs_stiffness, near = p->springs_near_stiffness, sum = k + near / 6.0;
  const double rho = sum > 0.0 ? p->springs_rest_density * k / sum : p->springs_rest_density;
  *out_rho = rho;
  return cbrt((rho + 1.0) * 30.0 / (4.0 * 3.14159265358979323846)); /* separations */
}

/* The paper's unit of time is 1/30 s, but it gives neither h in metres nor gravity. With its
 * values, fluid stands about c^2 / g = 0.09 h^2 / (g T^2) deep before it is compressed to half (c:
 * speed of sound, from the pressure above). We take its gravity as 0.01 h / T^2, so that this depth
 * is nine radii; then T is 1/30 s where h is 1.09 m under the Earth's gravity, and smaller scenes
 * are faster by the square root of their size, as in nature (Froude's similarity). */
static double unit_of_time(const ooze_params *p, double h) {
  return p->springs_time > 0.0f ? (double)p->springs_time : sqrt(0.01 * h / 9.81);
}

static void constants(oz_frame *f, const ooze_params *p, float dt) {
  double rho;
  const double h = fmax(radius_of(p, &rho), 1.5) * (double)f->d, T = unit_of_time(p, h), s = dt / T;
  oz_spring_constants *c = &f->springs;
  f->h = (float)h;
  f->h2 = (float)(h * h);
  f->margin = (float)(0.08 * h);
  f->cell = (float)(1.08 * h);
  f->reach = (float)(1.02 * h);
  f->wall_density = 0; /* walls collide but do not count in the density: the paper's section 6 */
  f->wall_gap = 0.5f * f->d;
  c->mode = p->springs_mode;
  c->inv_h = (float)(1.0 / h);
  c->k = (float)(s * s * p->springs_stiffness);
  c->k_near = (float)(s * s * p->springs_near_stiffness);
  c->rho0 = p->springs_rest_density;
  c->inv_rho = (float)(1.0 / (rho + 1.0));
  c->elasticity = (float)(s * s * p->springs_elasticity);
  c->plastic_stretch = (float)fmin(1.0, s * p->springs_plasticity_stretch);
  c->plastic_compress = (float)fmin(1.0, s * p->springs_plasticity_compress);
  c->yield_stretch = p->springs_yield_stretch;
  c->yield_compress = p->springs_yield_compress;
  c->sigma = (float)(s * p->springs_viscosity);
  c->beta = (float)(s * p->springs_impact * T / h);
  c->stick = (float)(s * s * p->springs_stick);
  c->stick_distance = p->springs_stick_distance * f->d;
}

ooze_result oz_springs_substep(oz_step *s, float dt, ooze_message *why) {
  oz_backend *b = s->backend;
  oz_frame frame, *f = &frame;
  const ooze_params *p = s->params;
  if (!oz_open_frame(s, f, dt)) return OOZE_OK;
  constants(f, p, dt);
  f->has_loads = s->has_loads;

  OZ_TRY(oz_find_neighbours(s, f, why));

  /* lines 1 to 10: gravity, viscosity, predicted positions */
  RUN(material);
  OZ_TRY(oz_bodies_hold(s, b, f, why));
  RUN(predict);
  OZ_TRY(oz_bodies_start(b, f, why));
  OZ_TRY(oz_soft_solve(s, b, f, 1, why));
  if (f->springs.sigma > 0.0f || f->springs.beta > 0.0f) {
    RUN(spring_drag);
    RUN(spring_viscosity);
    RUN(settle);
  }
  RUN(advance);
  OZ_TRY(oz_bodies_drive(b, f, why));
  OZ_TRY(oz_find_walls(s, f, why));
  OZ_TRY(oz_find_density_neighbours(s, f, why));

  /* lines 11 to 15: springs; no allocation can fail after this */
  OZ_TRY(b->table->links_update(b, f, OZ_RULE_SPRINGS, why));
  if (f->springs.elasticity > 0.0f && f->springs.mode != OZ_SPRINGS_OFF) {
    RUN(spring_bound);
    RUN(spring_move);
  }

  /* lines 16 and 17: densities, walls */
  RUN(spring_density);
  RUN(spring_relax);
  LOADS(load_rows);
  LOADS(load_relax);
  if (f->springs.stick > 0.0f) WALLS(spring_stick);
  WALLS(wall_project);
  OZ_TRY(oz_bodies_project(s, b, f, 0, why));

  /* lines 18 to 20 */
  OZ_TRY(b->table->run(b, f, OZ_STAGE_arrive, &s->bad, why));
  if (s->has_boundary && !s->boundary_still) RUN(boundary_end);
  return oz_bodies_finish(b, f, why);
}
