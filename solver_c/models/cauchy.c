/* Cauchy's equation of motion by the moving particle semi-implicit method (Mukai, Matsui & Chang;
 * docs/theory/models/cauchy.md): stress, surface tension and gravity explicitly, then pressure from
 * the number density. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

/* Stress and surface tension are explicit: as much of them is used as a substep bears, which is
 * less for a lighter fluid. Blocks that fall on a floor are thrown apart by five times as much. */
static void bound(oz_frame *f, const ooze_params *p, float density) {
  const float shear = 0.15f * density * f->d * f->d * f->inv_dt * f->inv_dt,
              tension = 0.01f * density * f->d * f->d * f->d * f->inv_dt * f->inv_dt;
  f->cauchy.most_viscous *= fminf(density / 1000.0f, 1.0f);
  f->cauchy.shear = fminf(f->cauchy.shear, shear);
  f->cauchy.young = fminf(f->cauchy.young, 2.0f * shear);
  if (p->cauchy_tension > tension) f->cauchy.pair *= tension / p->cauchy_tension;
}

ooze_result oz_cauchy_substep(oz_step *s, float dt, ooze_message *why) {
  oz_backend *b = s->backend;
  oz_frame frame, *f = &frame;
  if (!oz_open_frame(s, f, dt)) return OOZE_OK;
  f->has_boundary = s->has_boundary != 0;
  f->has_loads = s->has_loads;
  bound(f, s->params, s->least_density);

  OZ_TRY(oz_find_neighbours(s, f, why));
  RUN(material);
  RUN(free_start);
  OZ_TRY(oz_find_walls(s, f, why));

  /* explicit: (2) without pressure */
  RUN(mps_stress);
  RUN(mps_force);
  LOADS(load_mps_force);

  /* implicit: pressure that restores the number density */
  WALLS(wall_density);
  OZ_TRY(oz_find_density_neighbours(s, f, why));
  RUN(mps_density);
  RUN(cg_start);
  for (uint32_t k = 0; k < s->params->cauchy_iterations; k++) {
    RUN(mps_apply);
    RUN(cg_alpha);
    RUN(mps_update);
    RUN(cg_beta);
    RUN(mps_direction);
  }
  RUN(mps_pressure);
  RUN(mps_move);
  LOADS(load_rows);
  LOADS(load_mps_move);
  WALLS(wall_project);
  OZ_TRY(b->table->run(b, f, OZ_STAGE_finish, &s->bad, why));
  if (s->has_boundary && !s->boundary_still) RUN(boundary_end);
  return OOZE_OK;
}
