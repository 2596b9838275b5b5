/* Substeps and iterations of a step, where the host leaves them to the solver
 * (docs/theory/counts.md). They follow from state alone: a resumed run takes the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/step_counts.h"
#include "core/particles.h"
#include "physics/columns.h"

/* ---- substeps ---- */

/* s: the shortest substep that speed asks for */
#define SHORTEST_SUBSTEP (1.0 / 768.0)
/* Separations that a particle or a wall may move in a substep; where some fluid splashes fewer,
 * because what hits a wall ends inside it and keeps no speed along it: a ball of blood of 6 cm that
 * hits one at 4 m/s has 0.03 of its kinetic energy left with 7 separations, 0.15 with 2. */
#define FURTHEST 8.0
#define FURTHEST_THIN 2.0

/* g dt^2 / d of a paste: at rest beside a wall it creeps with 0.25, and stands still with 0.19 */
#define PASTE_FALL (1.0 / 6.0)

/* 1 where a solver has its first material as it was made, beside others: particles have those. */
static int has_spare_material(const ooze_solver *s) {
  ooze_material m;
  ooze_material_default(&m);
  return s->material_count > 1 && !memcmp(&m, &s->materials[0], sizeof m);
}

/* 1 where inertia rules at the scale of particles in some fluid (oz_viscous_share below a half). */
static int splashes(const ooze_solver *s) {
  const double d = (double)s->separation;
  if (s->params.model != OOZE_MODEL_CONFORMATION) return 0;
  for (uint32_t k = has_spare_material(s) ? 1 : 0; k < s->material_count; ++k) {
    const oz_extremes *e = &s->extremes[k];
    if (e->density < INFINITY && !(e->relaxation_time > 0.0f) &&
        (double)e->viscosity < (double)e->density * d * d / (double)OZ_VISCOUS_TIME)
      return 1;
  }
  return 0;
}

/* s: a substep in which nothing moves further than that */
static double near_substep(const ooze_solver *s) {
  const double furthest = splashes(s) ? FURTHEST_THIN : FURTHEST;
  return furthest * (double)s->separation / (s->explained_speed + 1e-30);
}

static double longest_substep(const ooze_solver *s) {
  const double d = (double)s->separation;
  const float *g = s->params.gravity;
  double h = fmin(OZ_LONGEST_SUBSTEP, fmax(near_substep(s), SHORTEST_SUBSTEP));
  if (s->params.model != OOZE_MODEL_CONFORMATION) return h;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    const oz_extremes *e = &s->extremes[k];
    if (e->stiffness > 0.0) h = fmin(h, d * sqrt(OZ_STIFFEST / e->stiffness));
  }
  if (s->has_yield)
    h = fmin(h, sqrt(PASTE_FALL * d /
                     fmax(hypot((double)g[0], hypot((double)g[1], (double)g[2])), 1e-9)));
  return oz_tension_longest(s, h);
}

/* Limits of automatic counts that gave way are told of, each once. Those that hang on layers not at
 * time 0, when a falling body counts as a deep one. */
enum {
  TOLD_SUBSTEPS = 1,
  TOLD_SPEED = 2,
  TOLD_VELOCITY = 4,
  TOLD_DRAGGED = 8,
  TOLD_DEPTH = 16,
  TOLD_VISCOSITY = 32
};

static int may_tell(ooze_solver *s, uint32_t limit) {
  if ((s->told_limits & limit) || !s->memory.hooks.log) return 0;
  s->told_limits |= limit;
  return 1;
}

static void tell(ooze_solver *s, const char *text) {
  s->memory.hooks.log(s->memory.hooks.user, OOZE_LOG_WARNING, text);
}

static void tell_substeps(ooze_solver *s, double duration, double wanted) {
  char text[240];
  if (wanted <= OZ_MOST_SUBSTEPS || !may_tell(s, TOLD_SUBSTEPS)) return;
  snprintf(text, sizeof text,
           "a step of %.3g s asks for %.0f substeps: %.0f are the most that the automatic count "
           "takes; steps of %.2g s, substeps of %.0f or a softer material fit",
           duration, wanted, OZ_MOST_SUBSTEPS, duration * OZ_MOST_SUBSTEPS / wanted, wanted);
  tell(s, text);
}

/* taken: substeps of a step of that duration */
static void tell_speed(ooze_solver *s, double duration, uint32_t taken) {
  const double far = s->explained_speed * duration / (taken * (double)s->separation);
  char text[280];
  if (near_substep(s) >= SHORTEST_SUBSTEP || far <= FURTHEST || !may_tell(s, TOLD_SPEED)) return;
  snprintf(text, sizeof text,
           "motion of %.3g m/s goes %.0f separations in each of %u substeps, where %.0f are asked "
           "for: speed makes no automatic substep shorter than 1/768 s; substeps of %.0f fit",
           s->explained_speed, far, (unsigned)taken, FURTHEST,
           oz_substeps_of(duration, near_substep(s)));
  tell(s, text);
}

/* Pa s: greatest viscosity of a fluid or a paste that a substep bears (docs/theory/conformation.md,
 * C.4b). A yield stress has the whole floor, and a paste that thins no least memory. */
static double viscosity_borne(const ooze_solver *s, uint32_t k, double dt) {
  const oz_extremes *e = &s->extremes[k];
  const int yields = s->materials[k].yield_stress > 0.0f;
  const double d = (double)s->separation, least = (double)OZ_LEAST_MEMORY,
               own = (double)e->relaxation_time, tau = yields && s->laws ? own : fmax(own, least),
               memory = yields ? (double)OZ_ELASTIC_TIME : tau,
               floor = (double)OZ_STIFFEST_FLOOR * memory / (double)OZ_ELASTIC_TIME,
               shorter = fmax(1.0, SHORTEST_SUBSTEP / dt); /* than the floor is made for */
  return (tau + dt) * (double)e->density * d * d / (floor * shorter * shorter * dt * dt);
}

/* A memory of its own makes a fluid elastic, and a viscosity that follows the rate is not known. */
static int viscosity_tells(const ooze_solver *s, uint32_t k) {
  const oz_extremes *e = &s->extremes[k];
  if (!(e->density < INFINITY)) return 0; /* there are no particles */
  return s->materials[k].yield_stress > 0.0f ||
         (!s->laws && !(e->relaxation_time > OZ_LEAST_MEMORY));
}

/* More creeps as that. */
static void tell_viscosity(ooze_solver *s, double duration, uint32_t taken) {
  const double d = (double)s->separation, dt = duration / taken;
  if (s->params.model != OOZE_MODEL_CONFORMATION || s->has_ramps) return;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    if (!viscosity_tells(s, k)) continue;
    const double mu = (double)s->extremes[k].most_viscosity, most = viscosity_borne(s, k, dt);
    char text[280];
    if (!(mu > 1.5 * most) || !may_tell(s, TOLD_VISCOSITY)) continue;
    double count = taken;
    while (duration / (count + 1.0) >= SHORTEST_SUBSTEP &&
           viscosity_borne(s, k, duration / count) < mu)
      count += 1.0;
    const double best = viscosity_borne(s, k, duration / count);
    snprintf(
        text, sizeof text,
        "a viscosity of %.3g Pa s acts as %.2g Pa s with a separation of %.3g m and substeps "
        "of %.2g s: it creeps under its own weight; substeps of %.0f bear %.2g Pa s, a greater "
        "separation more",
        mu, most, d, dt, count, fmin(best, mu));
    tell(s, text);
    return;
  }
}

static uint32_t substep_count(ooze_solver *s, double duration) {
  const ooze_params *p = &s->params;
  const uint32_t least = oz_substeps_least(p, duration);
  if (p->substeps || p->cfl > 0.0f) return least;
  const double wanted = oz_substeps_of(duration, longest_substep(s));
  const uint32_t taken = (uint32_t)fmax(fmin(wanted, OZ_MOST_SUBSTEPS), least);
  tell_substeps(s, duration, wanted);
  tell_speed(s, duration, taken);
  return taken;
}

/* ---- layers ---- */

/* Two axes across gravity, in 1 / width. */
static void axes_across(const float gravity[3], double width, float across[2][3]) {
  double g[3], least = INFINITY, length = 0.0;
  int thin = 0;
  for (int k = 0; k < 3; ++k) {
    g[k] = (double)gravity[k], length += g[k] * g[k];
    if (fabs(g[k]) < least) least = fabs(g[k]), thin = k;
  }
  length = sqrt(length);
  double a[3] = {0.0, 0.0, 0.0}, along = g[thin] / length, norm = sqrt(1.0 - along * along);
  for (int k = 0; k < 3; ++k) a[k] = ((k == thin) - along * g[k] / length) / norm;
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    across[0][k] = (float)(a[k] / width);
    across[1][k] = (float)((g[l] * a[m] - g[m] * a[l]) / length / width);
  }
}

static ooze_result column_sums(ooze_solver *s, const oz_columns *columns, uint64_t *sum) {
  OZ_TRY(oz_host_flush(s));
  if (s->backend->table->column_sums)
    return s->backend->table->column_sums(s->backend, columns, sum, s->message);
  const size_t bytes = OZ_COLUMNS * sizeof(uint32_t);
  void *columns_table = s->columns;
  if (!oz_grow(&s->memory, &columns_table, &s->columns_capacity, bytes, 0))
    return oz_host_no_memory(s, bytes);
  uint32_t *table = s->columns = columns_table;
  memset(table, 0, bytes);
  oz_frame f;
  s->backend->table->frame(s->backend, &f);
  for (uint32_t i = 0; i < f.count; ++i)
    if (oz_columns_count(&f, columns, i))
      oz_columns_add(&f, columns, i, table[oz_column_of(&f, columns, i)]++, sum);
  return OOZE_OK;
}

/* Separations: width of the columns that layers are counted in. Large bodies have wide ones, so
 * that there are few enough for the table. */
static double column_width(uint32_t count) { return fmax(2.0, ceil(sqrt(count / 65536.0))); }

/* Units of pressure over density that a layer bears which is counted: a quarter of a layer's. */
#define LAYER_BEARS 4u

/* Layers of fluid that lie above each other and press. Columns of all particles would count falling
 * streams, so those that bear nothing are left out. Columns of viscous fluid that is being poured
 * may bear its stress in place of its weight, and pressure alone comes and goes as a column swings:
 * counts that followed it would keep it swinging. So layers are the column's, but no more than
 * thrice those that the pressure holds up: q = p / density is 0 to g D in a column of depth D, and
 * 3/2 sum q^2 / sum q is g D. Both are means over particles weighed by depth. At the beginning
 * there is no pressure yet, and all particles count. */
static ooze_result find_layers(ooze_solver *s, double gravity, uint32_t least, double *out) {
  const double d = (double)s->separation, width = column_width(s->particles.count),
               unit = gravity * d / OZ_PRESSURE_UNITS;
  oz_columns columns;
  uint64_t sum[OZ_COLUMN_SUMS] = {0};
  *out = 0.0;
  if (!(unit > 0.0) || !s->particles.count) return OOZE_OK;
  axes_across(s->params.gravity, width * d, columns.across);
  columns.scale = (float)(1.0 / unit);
  columns.least = s->time > 0.0 ? least : 0u;
  OZ_TRY(column_sums(s, &columns, sum));
  if (!sum[OZ_SUM_PARTICLES]) return OOZE_OK;
  const double deep = (double)sum[OZ_SUM_COLUMN2] / (double)sum[OZ_SUM_PARTICLES] / (width * width),
               surface = columns.least ? 1.0 : 0.0; /* the layer at the top bears nothing */
  const double held =
      sum[OZ_SUM_PRESSURE]
          ? 1.5 / OZ_PRESSURE_UNITS * (double)sum[OZ_SUM_PRESSURE2] / (double)sum[OZ_SUM_PRESSURE]
          : 0.0;
  *out = s->time > 0.0 ? fmin(deep + surface, 3.0 * held) : deep;
  return OOZE_OK;
}

/* ---- iterations ---- */

/* Few different counts: a device prepares the launches of each. */
static uint32_t step_up(double n, uint32_t least, uint32_t most) {
  static const uint32_t steps[] = {3, 4, 5, 7, 10, 14, 20, 28, 40, 80};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; ++k)
    if (steps[k] >= least && steps[k] >= n) return steps[k] < most ? steps[k] : most;
  return most;
}

/* Greatest viscosity times dt / (density separation^2): how far a substep carries momentum. 0 or
 * more of fluids that neither remember nor yield; infinity where some particle may. */
static double spread(const ooze_solver *s, double dt) {
  const double d = (double)s->separation;
  double most = 0.0;
  if (s->laws || s->has_tension || s->has_ramps || s->has_yield || s->mixing > 0.0f ||
      s->bodies.count || s->particles.has_relaxation_time || s->particles.has_solvent ||
      oz_field_there(s, OZ_FIELD_VISCOSITY) || oz_field_there(s, OZ_FIELD_COMPLIANCE))
    return INFINITY;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    const ooze_material *m = &s->materials[k];
    most = fmax(most, (double)m->viscosity * dt / ((double)m->density * d * d));
  }
  return most;
}

/* The same of all that remembers, as a substep sees it: a material that relaxes within tau has
 * (tau + dt) / dt times the compliance of one that does not. Of memories beyond `least` alone.
 * Infinity where that is not known. */
static double spread_remembered(const ooze_solver *s, double dt, double least) {
  const double d = (double)s->separation;
  double most = 0.0;
  if (s->laws || s->has_ramps || s->mixing > 0.0f || s->bodies.count || s->particles.has_solvent ||
      oz_field_there(s, OZ_FIELD_VISCOSITY) || oz_field_there(s, OZ_FIELD_COMPLIANCE) ||
      oz_field_there(s, OZ_FIELD_RELAXATION_TIME))
    return INFINITY;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    const ooze_material *m = &s->materials[k];
    const double mu = (double)m->viscosity, tau = (double)m->relaxation_time,
                 compliance = mu > 0.0 ? (tau + dt) / mu : (double)m->compliance;
    if (compliance > 0.0 && tau >= least)
      most = fmax(most, dt * dt / (compliance * (double)m->density * d * d));
  }
  return most;
}

/* Conjugate gradients take 2.65 sqrt(condition) iterations to bring the residual down to a
 * hundredth. Of stiff material only as many as carry a push through its layers. */
#define VELOCITY_RATE 2.65
#define VELOCITY_LAYERS 0.8
#define VELOCITY_LEAST 4u
#define VELOCITY_MOST 40u
/* Thick fluid between walls that move: a pull must reach the other wall, and come back, in a
 * substep, or the fluid tears where it clings. */
#define VELOCITY_DRAGGED 80u
/* Surface tension that a substep bears mostly by viscosity: with ten iterations a drop of honey
 * boils. */
#define VELOCITY_TENSE 14u
/* Of what pours and remembers for this long, s: threads of slime of 1 mm part with 20. */
#define VELOCITY_DRAWN 28u
#define VELOCITY_REMEMBERS 0.02

static double velocity_rate(double spread) { return VELOCITY_RATE * sqrt(1.0 + 24.0 * spread); }

static uint32_t velocity_count(const ooze_solver *s, double dt, double layers, double *out_wanted) {
  double n = velocity_rate(spread(s, dt));
  const uint32_t usual = oz_velocity_usual(s->emitters.count > 0, (int)s->has_yield);
  *out_wanted = n;
  if (n < usual) return step_up(n, VELOCITY_LEAST, usual);
  const double tense = oz_tension_needs_viscosity(s, dt) ? VELOCITY_TENSE : 0.0;
  const double drawn = s->emitters.count ? spread_remembered(s, dt, VELOCITY_REMEMBERS) : 0.0,
               pours = drawn < INFINITY ? fmin(velocity_rate(drawn), VELOCITY_DRAWN) : 0.0;
  const double still = fmax(VELOCITY_LAYERS * layers, fmax(tense, pours));
  *out_wanted = still;
  if (!oz_colliders_drag(&s->colliders)) return step_up(still, usual, VELOCITY_MOST);
  if (n == INFINITY) n = velocity_rate(spread_remembered(s, dt, 0.0));
  *out_wanted = fmax(n, fmin(still, VELOCITY_MOST));
  return step_up(*out_wanted, usual, VELOCITY_DRAGGED);
}

/* The compression that n iterations leave in L layers is about (POSITION_RATE L dt sqrt(g / d) /
 * n)^2 hundredths. */
#define POSITION_RATE 5.0
#define POSITION_MOST 20u

static uint32_t position_count(const ooze_solver *s, double wanted) {
  int pastes = 0;
  for (uint32_t i = 0; i < s->emitters.count; ++i) {
    const uint32_t m = s->emitters.slot[i].desc.material;
    pastes |= m < s->material_count && oz_elastic_paste(&s->materials[m]);
  }
  const uint32_t usual = oz_position_usual(s->emitters.count > 0, pastes, (int)s->has_yield);
  return step_up(wanted, usual, POSITION_MOST);
}

static void tell_velocity(ooze_solver *s, double layers, double wanted, uint32_t taken) {
  const int dragged = taken > VELOCITY_MOST;
  const uint32_t most = dragged ? VELOCITY_DRAGGED : VELOCITY_MOST;
  char text[280];
  if (!(wanted > most && wanted < INFINITY) || !(s->time > 0.0)) return;
  if (!may_tell(s, dragged ? TOLD_DRAGGED : TOLD_VELOCITY)) return;
  if (dragged)
    snprintf(text, sizeof text,
             "walls move in fluid so thick for its separation that it asks for %.0f velocity "
             "iterations: %u are the most that the automatic count takes; velocity_iterations of "
             "%.0f, a greater separation or more substeps fit",
             wanted, (unsigned)most, fmin(wanted, 1000.0));
  else
    snprintf(text, sizeof text,
             "thick fluid of about %.0f layers asks for %.0f velocity iterations: %u are the most "
             "that the automatic count takes; velocity_iterations of %.0f fit",
             layers, ceil(wanted), (unsigned)most, fmin(ceil(wanted), 1000.0));
  tell(s, text);
}

/* each: iterations that a layer wants. Falling streams of pastes count as layers, but press on
 * nothing. */
static ooze_result tell_depth(ooze_solver *s, double gravity, double each, double layers) {
  const double most = 2.0 * POSITION_MOST;
  char text[240];
  if (!(each * layers >= most && s->time > 0.0) || s->told_limits & TOLD_DEPTH ||
      !s->memory.hooks.log)
    return OOZE_OK;
  if (s->has_yield) OZ_TRY(find_layers(s, gravity, LAYER_BEARS, &layers));
  if (!(each * layers >= most) || !may_tell(s, TOLD_DEPTH)) return OOZE_OK;
  const double wanted = each * layers, left = wanted / POSITION_MOST;
  snprintf(text, sizeof text,
           "fluid of about %.0f layers is left compressed by about %.0f%%: %u iterations are the "
           "most that the automatic count takes; position_iterations of %.0f leave 1%%",
           layers, fmin(left * left, 100.0), (unsigned)POSITION_MOST, fmin(wanted, 1000.0));
  tell(s, text);
  return OOZE_OK;
}

ooze_result oz_counts_before_step(ooze_solver *s, double duration) {
  const ooze_params *p = &s->params;
  const int conformation = p->model == OOZE_MODEL_CONFORMATION;
  oz_counts *c = &s->run.counts;
  OZ_TRY(oz_materials_to_backend(s)); /* which laws of flow there are */
  OZ_TRY(oz_extremes_before_step(s));
  oz_materials_find_memory(s);
  c->substeps = substep_count(s, duration);
  tell_viscosity(s, duration, c->substeps);
  c->velocity = p->velocity_iterations ? p->velocity_iterations : 10u;
  c->position = p->position_iterations ? p->position_iterations : 5u;
  if (!conformation || (p->velocity_iterations && p->position_iterations)) return OOZE_OK;

  double gravity = 0.0, layers = 0.0, asked = 0.0;
  for (int k = 0; k < 3; ++k) gravity += (double)p->gravity[k] * (double)p->gravity[k];
  gravity = sqrt(gravity);
  /* thin streams of pastes that flow tear with the least counts (tests/physics/threads.c) */
  OZ_TRY(find_layers(s, gravity, s->has_yield ? 0u : LAYER_BEARS, &layers));
  const double dt = duration / c->substeps,
               each = POSITION_RATE * dt * sqrt(gravity / (double)s->separation);
  if (!p->velocity_iterations) {
    c->velocity = velocity_count(s, dt, layers, &asked);
    tell_velocity(s, layers, asked, c->velocity);
  }
  if (p->position_iterations) return OOZE_OK;
  c->position = position_count(s, each * layers);
  return tell_depth(s, gravity, each, layers);
}
