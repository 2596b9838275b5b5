/* SPH blended with shape matching: the algorithm of section 3.3 of Takamatsu & Kanai 2011
 * (docs/theory/models/blend.md). The time replaces the paper's step counter: the reference shape is
 * checked whenever a multiple of blend_interval passes, so that the shape itself (field
 * `reference`) is the only state between steps. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

#include <math.h>

/* True if a multiple of the interval is in (t0, t1]. */
static int passes(double t0, double t1, double interval) {
  return interval <= 0.0 || floor(t1 / interval + 1e-9) > floor(t0 / interval + 1e-9);
}

ooze_result oz_blend_substep(oz_step *s, float dt, ooze_message *why) {
  oz_backend *b = s->backend;
  const ooze_params *params = s->params;
  oz_frame frame, *f = &frame;
  oz_build_result built = {0, 0.0};
  if (!oz_open_frame(s, f, dt)) return OOZE_OK;
  /* the limit is that of 1000 kg/m^3: lighter matter is moved further by the same stress */
  f->blend.most_viscous *= fminf(s->least_density / 1000.0f, 1.0f);

  OZ_TRY(oz_find_neighbours(s, f, why));
  RUN(material);
  OZ_TRY(oz_tension_pull(s, f, why));
  RUN(free_start);
  OZ_TRY(oz_find_walls(s, f, why));
  WALLS(wall_density);

  /* v^SPH, v^SM and the blend of both */
  RUN(sph_density);
  RUN(sph_force);
  RUN(blend_reference);
  OZ_TRY(b->table->density_list(b, f, &built, why));
  RUN(blend_match);
  RUN(blend_goal);
  WALLS(wall_project);

  /* (14); after a birth of material the shape is new in any case */
  int renew = s->born;
  if (!renew && passes(s->time, s->time + (double)dt, (double)params->blend_interval)) {
    double load = 0.0, g = 0.0;
    for (int c = 0; c < 3; c++) g += (double)params->gravity[c] * (double)params->gravity[c];
    g = g > 0.0 ? sqrt(g) : 1.0;
    OZ_TRY(b->table->run(b, f, OZ_STAGE_blend_load, &load, why));
    renew = load / f->count > (double)params->blend_yield * (1.0 - (double)params->blend_alpha) * g;
  }
  OZ_TRY(b->table->run(b, f, OZ_STAGE_finish, &s->bad, why));
  if (renew) RUN(blend_renew);
  return OOZE_OK;
}
