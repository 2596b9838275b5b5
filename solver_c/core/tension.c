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

/* Pa s that every particle of a material has; 0 where some may have less. */
static double least_viscosity(const ooze_solver *s, const ooze_material *m) {
  const int constant = !s->laws && !s->has_ramps && !oz_field_there(s, OZ_FIELD_VISCOSITY) &&
                       !oz_field_there(s, OZ_FIELD_RELAXATION_TIME);
  return constant ? (double)m->viscosity : 0.0;
}

/* Tension of a material over the limit of a substep of dt seconds. */
static double load_of(const ooze_solver *s, const ooze_material *m, double dt) {
  const double d = (double)s->separation, density = (double)m->density;
  const double sigma = (double)m->surface_tension + PER_PASCAL * d * (double)m->cohesion;
  const double n =
      least_viscosity(s, m) * dt * dt / ((double)m->relaxation_time + dt) / (density * d * d);
  const float bears = projects(&s->params) ? OZ_TENSION_BEARS((float)n) : OZ_TENSION_MOST;
  return sigma * dt * dt / (density * (double)s->volume) / (double)bears;
}

double oz_tension_load(const ooze_solver *s, double dt) {
  double most = 0.0;
  for (uint32_t k = 0; k < s->material_count; ++k)
    most = fmax(most, load_of(s, &s->materials[k], dt));
  /* particles with densities of their own may be lighter than any material */
  return most > 0.0 && oz_field_there(s, OZ_FIELD_DENSITY) ? fmax(most, 1.0) : most;
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
