/* The links model: Algorithm 2 of Takahashi, Nishita and Fujishiro 2014 (physics/viscous.h,
 * docs/theory/models/links.md). It reads like the algorithm box: XSPH, forces, prediction,
 * neighbours, constraint control, corrections of densities and links side by side, velocity from
 * positions. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

/* s: the pull of a density below rest and the artificial pressure are those of substeps of these
 * lengths, the latter of the paper's, and forces in shorter ones: as displacements in each substep
 * they have no limit of speed, and throw a fluid apart or make it swell. */
#define PULL_STEP (1.0f / 240.0f)
#define PRESSURE_STEP 9.06e-4f

static void constants(oz_frame *f, const ooze_params *p, int unlike, float dt) {
  oz_link_constants *c = &f->links;
  /* |q| of (8), of h */
  const double range = (double)p->links_temperature_hot - (double)p->links_temperature_cold,
               q = 0.2;
  c->smooth = p->links_smoothing;
  c->smooth_solid = p->links_smoothing_solid;
  c->stiffness = p->links_stiffness;
  c->cohesion = p->links_cohesion * fminf(1.0f, dt * dt / (PULL_STEP * PULL_STEP));
  /* k_s h^2, with lengths in d like the multipliers */
  c->pressure = p->links_pressure * f->h2 * f->inv_d * f->inv_d *
                fminf(1.0f, dt * dt / (PRESSURE_STEP * PRESSURE_STEP));
  c->unlike = (uint32_t)unlike;
  c->inv_q = (float)(1.0 / ((double)f->h2 * (1.0 - q * q)));
  c->slack = p->links_slack;
  c->steps = p->links_time > 0.0f ? dt / p->links_time : 1.0f;
  c->beta_cold = p->links_beta_cold;
  c->beta_hot = p->links_beta_hot;
  c->cold = p->links_temperature_cold;
  c->inv_range = range > 0.0 ? (float)(1.0 / range) : 1e6f;
  c->solid = p->links_temperature_solid;
}

ooze_result oz_links_substep(oz_step *s, float dt, ooze_message *why) {
  oz_backend *b = s->backend;
  oz_frame frame, *f = &frame;
  const ooze_params *p = s->params;
  if (!oz_open_frame(s, f, dt)) return OOZE_OK;
  constants(f, p, s->least_density < s->most_density, dt);
  f->has_boundary = s->has_boundary != 0;
  f->has_loads = s->has_loads;
  f->has_slip = s->has_slip;
  f->rows_without_gradients = !(s->has_heat || s->has_mixing);
  /* these need the start positions */
  f->single_search = !(s->has_heat || s->has_mixing || s->has_tension);
  f->reach = 1.01f * f->h; /* less than the lattice's next shell, 2.236 separations */

  OZ_TRY(oz_find_neighbours(s, f, why));

  /* lines 3 to 8: XSPH, forces, predicted positions */
  RUN(material);
  OZ_TRY(oz_bodies_hold(s, b, f, why));
  if (f->has_slip) RUN(boundary_slip);
  RUN(link_begin);
  f->skip_boundary = 1;
  if (f->links.smooth > 0.0f || f->links.smooth_solid > 0.0f) {
    RUN(link_smooth);
    RUN(settle);
  }
  RUN(predict);
  f->skip_boundary = 0;
  OZ_TRY(oz_tension_pull(s, f, why)); /* forces change velocities; `advance` turns these into
                                       * displacements */
  OZ_TRY(oz_bodies_start(b, f, why));
  OZ_TRY(oz_soft_solve(s, b, f, 1, why));
  RUN(advance);
  if (f->has_slip) RUN(boundary_hold);
  OZ_TRY(oz_bodies_drive(b, f, why));
  OZ_TRY(oz_find_walls(s, f, why));
  WALLS(wall_density);
  WALLS(wall_project);

  /* lines 9 to 11: neighbours, constraint control; no allocation can fail after this */
  OZ_TRY(oz_find_density_neighbours(s, f, why));
  OZ_TRY(b->table->links_update(b, f, OZ_RULE_LINKS, why));
  RUN(link_share);
  f->skip_boundary = 1;
  RUN(link_weigh);
  RUN(link_bound);
  LOADS(load_rows);

  /* lines 12 to 20 */
  for (uint32_t k = 0; k < s->position_iterations; k++) {
    if (k) {
      WALLS(wall_density);
      RUN(link_lambda);
    }
    WALLS(link_press);
    RUN(link_move);
    WALLS(wall_project);
    LOADS(load_link_density);
    LOADS(load_link_pull);
    OZ_TRY(oz_bodies_project(s, b, f, k, why));
  }

  /* lines 21 to 23 */
  /* where a later stage still needs gradients, the start positions of all particles */
  f->skip_boundary = f->rows_without_gradients;
  OZ_TRY(b->table->run(b, f, OZ_STAGE_arrive, &s->bad, why));
  f->start = f->p;
  f->skip_boundary = 0;
  if (s->has_boundary && !s->boundary_still) RUN(boundary_end);
  OZ_TRY(oz_bodies_finish(b, f, why));
  OZ_TRY(oz_heat_conduct(s, b, f, why)); /* line 24: heat conduction */
  return oz_fluids_mix(s, b, f, why);
}
