/* Surface tension and cohesion against the length of a substep (docs/theory/tension.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "core/particles.h"
#include "core/solver.h"

/* Separations of cohesion's equivalent: p pascals pull like p d / 3.6 newtons a metre. */
static const double PER_PASCAL = 1.0 / 3.6;

/* Whether velocities are projected, so that viscosity damps tension. */
static int projects(const ooze_params *p) {
  return p->model == OOZE_MODEL_CONFORMATION && p->scheme == OOZE_SCHEME_OOZE;
}

/* Tension of a material over the limit of a substep of dt seconds. Viscosity makes the part
 * `out_by_viscosity` of that limit; it counts where every particle is known to have it. */
static double load_of(const ooze_solver *s, uint32_t k, double dt, double *out_by_viscosity) {
  const ooze_material *m = &s->materials[k];
  const oz_extremes *e = &s->extremes[k];
  *out_by_viscosity = 0.0;
  if (!(e->density < INFINITY)) return 0.0; /* there are no particles */
  const double d = (double)s->separation, density = (double)e->density;
  const double viscosity = s->laws || s->has_ramps ? 0.0 : (double)e->viscosity;
  const double sigma = (double)m->surface_tension + PER_PASCAL * d * (double)m->cohesion;
  const double n = viscosity * dt * dt / ((double)e->relaxation_time + dt) / (density * d * d);
  const float bears = projects(&s->params) ? OZ_TENSION_BEARS((float)n) : OZ_TENSION_MOST;
  *out_by_viscosity = fmax(1.0 - (double)OZ_TENSION_BEARS(0.0f) / (double)bears, 0.0);
  return sigma * dt * dt / (density * (double)s->volume) / (double)bears;
}

double oz_tension_load(const ooze_solver *s, double dt) {
  double most = 0.0, by_viscosity;
  for (uint32_t k = 0; k < s->material_count; ++k)
    most = fmax(most, load_of(s, k, dt, &by_viscosity));
  return most;
}

int oz_tension_needs_viscosity(const ooze_solver *s, double dt) {
  const double half = 0.5; /* of the limit, and of it by viscosity */
  double by_viscosity;
  for (uint32_t k = 0; k < s->material_count; ++k)
    if (load_of(s, k, dt, &by_viscosity) > half && by_viscosity > half) return 1;
  return 0;
}

double oz_tension_longest(const ooze_solver *s, double dt) {
  double shortest = 0.0, longest = dt;
  const double bar = 0.9; /* of the limit: the number of substeps is rounded */
  if (oz_tension_load(s, dt) <= bar) return dt;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (shortest + longest);
    if (oz_tension_load(s, middle) <= bar)
      shortest = middle;
    else
      longest = middle;
  }
  return shortest;
}

void oz_tension_tell(ooze_solver *s, double dt) {
  const ooze_hooks *hooks = &s->memory.hooks;
  char text[240];
  if (s->told_tension || !hooks->log) return;
  s->told_tension = 1;
  const double bears = oz_tension_longest(s, dt), load = oz_tension_load(s, dt);
  snprintf(text, sizeof text,
           "surface tension and cohesion are held back for %u of %u particles: a substep of %.3g s "
           "bears about 1/%.3g of the N/m that were asked for, substeps of %.2g s bear all of it",
           (unsigned)s->run.tension_held, (unsigned)s->particles.count, dt, fmax(load, 1.0), bears);
  hooks->log(hooks->user, OOZE_LOG_WARNING, text);
}
