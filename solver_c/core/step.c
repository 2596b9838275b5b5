/* One ooze_step: its substeps, the input before each and the results after it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "core/counts.h"
#include "core/particles.h"
#include "core/speeds.h"
#include "models/models.h"

/* ---- how long the next substep is ---- */

/* Substeps that the rest of the step, `left` seconds, is to be cut into. The longest step h that
 * moves nothing further than cfl separations solves h (v + g h) = cfl d; surface tension may need a
 * shorter one. It depends on state alone, so that a resumed run takes the same. */
static ooze_result substeps_left(ooze_solver *s, double left, uint32_t done, uint32_t *out) {
  const ooze_params *p = &s->params;
  if (p->cfl <= 0) {
    *out = s->run.counts.substeps - done;
    return OOZE_OK;
  }
  double v = 0, g = 0, reach = (double)p->cfl * (double)s->separation;
  OZ_TRY(oz_speeds_greatest(s, &v));
  for (int k = 0; k < 3; ++k) g += (double)p->gravity[k] * (double)p->gravity[k];
  g = sqrt(g);
  /* the stable form of the quadratic's root */
  double h = 2 * reach / (v + sqrt(v * v + 4 * g * reach) + 1e-30);
  OZ_TRY(oz_materials_to_backend(s)); /* which laws of flow there are */
  h = oz_tension_longest(s, h);
  /* rounding must not cost a substep */
  double n = ceil(left / h - 0.01);
  double most = p->max_substeps > done ? p->max_substeps - done : 1;
  double least = p->min_substeps > done ? p->min_substeps - done : 1;
  n = n < least ? least : n > most ? most : n;
  *out = (uint32_t)n;
  return OOZE_OK;
}

/* ---- before the model ---- */

/* Optional fields that the stages of this step write, or gather from neighbours. Fields that
 * bodies, boundaries, emitters and hosts set come with their values. */
static ooze_result provide_fields(ooze_solver *s, int relaxes) {
  const uint32_t model = s->params.model;
  const int blend = model == OOZE_MODEL_BLEND,
            solids = s->bodies.count > 0 || s->particles.hidden > 0,
            laws = s->laws || s->particles.has_solvent;
  const struct {
    int when;
    oz_field field;
  } needs[] = {
      {s->has_ramps || s->mixing > 0, OZ_FIELD_RELAXATION_TIME},
      {s->has_ramps || s->mixing > 0 || blend, OZ_FIELD_VISCOSITY},
      {s->mixing > 0, OZ_FIELD_DENSITY},
      {s->mixing > 0, OZ_FIELD_COMPLIANCE},
      {s->has_heat || model == OOZE_MODEL_LINKS, OZ_FIELD_TEMPERATURE},
      {s->has_heat, OZ_FIELD_MELT},
      {solids, OZ_FIELD_OWNER},
      {solids || blend || (s->has_yield && model == OOZE_MODEL_CONFORMATION), OZ_FIELD_REFERENCE},
      {relaxes && model == OOZE_MODEL_CONFORMATION, OZ_FIELD_PRESSURE},
      {model == OOZE_MODEL_CONFORMATION && s->params.scheme != OOZE_SCHEME_PAPER,
       OZ_FIELD_DENSITY_PRESSURE},
      {(s->laws & OZ_LAW_RATE) && model == OOZE_MODEL_CONFORMATION, OZ_FIELD_SHEAR_RATE},
      {laws && model == OOZE_MODEL_CONFORMATION, OZ_FIELD_CARRIED},
      {(s->laws & OZ_LAW_SECOND) && model == OOZE_MODEL_CONFORMATION, OZ_FIELD_SECOND_STRETCH},
  };
  for (size_t k = 0; k < sizeof needs / sizeof *needs; ++k)
    if (needs[k].when) OZ_TRY(oz_field_provide(s, needs[k].field));
  return OOZE_OK;
}

static ooze_result short_of_memory(ooze_solver *s, const char *what) {
  return oz_fail(s->message, OOZE_ERROR_MEMORY, "out of memory for %s", what);
}

/* Walls and nozzles as they stand during this substep, to the backend. */
static ooze_result surroundings(ooze_solver *s, double f0, double f1, double dt) {
  oz_colliders *c = &s->colliders;
  oz_emitters *e = &s->emitters;
  void *colliders = s->collider_frame, *nozzles = s->nozzle_frame;
  if (c->count && !oz_grow(&s->memory, &colliders, &s->collider_frame_capacity,
                           c->count * sizeof(oz_collider), 0))
    return short_of_memory(s, "colliders");
  s->collider_frame = colliders;
  if (e->count &&
      !oz_grow(&s->memory, &nozzles, &s->nozzle_frame_capacity, e->count * sizeof(oz_nozzle), 0))
    return short_of_memory(s, "nozzles");
  s->nozzle_frame = nozzles;
  oz_colliders_frame(c, f0, f1, dt, s->collider_frame);
  OZ_TRY(s->backend->table->colliders(s->backend, s->collider_frame, c->count,
                                      c->bricks_changed ? c->key : NULL,
                                      c->bricks_changed ? c->values : NULL, c->bricks, s->message));
  c->bricks_changed = 0;
  if (c->friction_maps_changed) {
    OZ_TRY(oz_colliders_gather_friction_maps(c, s->message));
    OZ_TRY(s->backend->table->friction_maps(s->backend, c->friction_map_key, c->friction_map_values,
                                            c->friction_map_bricks, s->message));
    c->friction_maps_changed = 0;
  }
  OZ_TRY(oz_materials_to_backend(s));
  oz_bodies_frame(&s->bodies, f0, f1);
  OZ_TRY(oz_bodies_to_backend(s));
  oz_emitters_frame(e, f0, f1, dt, s->nozzle_frame);
  return s->backend->table->nozzles(s->backend, s->nozzle_frame, e->count, s->message);
}

/* ---- after the model ---- */

/* Loads of the fluid on walls: a device sums them itself, the CPU's wall contacts are read
 * directly. */
static ooze_result loads(ooze_solver *s, double dt) {
  if (s->colliders.count == 0 || s->no_loads) return OOZE_OK;
  if (s->backend->table->wall_loads) {
    oz_colliders_add_loads(&s->colliders, NULL, dt);
    return s->backend->table->wall_loads(s->backend, NULL, s->message);
  }
  oz_frame f;
  s->backend->table->frame(s->backend, &f);
  oz_colliders_collect(&s->colliders, s->collider_frame, &f, dt);
  return OOZE_OK;
}

/* The sums of a device over all substeps. */
static ooze_result fetch_loads(ooze_solver *s) {
  uint32_t n = s->colliders.count;
  if (n == 0 || s->no_loads || s->run.substeps == 0 || !s->backend->table->wall_loads)
    return OOZE_OK;
  double *sums = oz_alloc(&s->memory, (size_t)n * 6 * sizeof *sums);
  if (!sums) return short_of_memory(s, "loads of colliders");
  ooze_result r = s->backend->table->wall_loads(s->backend, sums, s->message);
  if (r >= 0) oz_colliders_add_loads(&s->colliders, sums, 0);
  oz_free(&s->memory, sums);
  return r;
}

/* The lowest id among those that were put back: `finish` marks them. */
static ooze_result find_contained(ooze_solver *s) {
  const void *copy;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_look(s, OZ_FIELD_U, &copy));
  const float *u = copy;
  for (uint32_t r = 0; r < s->particles.count; ++r) {
    const float *v = u + 4 * (size_t)s->particles.at[r];
    if (!(v[3] < 0)) continue;
    s->run.first_contained = s->particles.ids[r];
    break;
  }
  return OOZE_OK;
}

/* Counts reset particles. A substep that resets more than a hundred particles and one in a hundred
 * has lost the fluid. */
static ooze_result contain(ooze_solver *s, double bad) {
  if (!(bad > 0)) return OOZE_OK;
  if (s->run.contained == 0) OZ_TRY(find_contained(s));
  double all = (double)s->run.contained + bad, limit = 0.01 * (double)s->particles.count;
  s->run.contained = all < 4e9 ? (uint32_t)all : UINT32_MAX;
  if (bad <= (limit > 100 ? limit : 100)) return OOZE_OK;
  s->lost = OOZE_LOST_DIVERGED;
  return oz_fail(s->message, OOZE_LOST_DIVERGED,
                 "step: %.0f of %u particles went non-finite at %g s, first id %llu; take more "
                 "substeps or load a checkpoint",
                 bad, (unsigned)s->particles.count, s->time,
                 (unsigned long long)s->run.first_contained);
}

/* ---- a substep that fails has not happened ---- */

/* The model changes velocities and sources in place before it has all its memory; positions only
 * when nothing can fail any more. So these two are kept, by rank, since the model also sorts: in
 * the host's copy of a field, which is worth nothing once the model has begun and which
 * oz_particles_prepare has made large enough. The CPU's arrays are reached directly; a device keeps
 * them itself when it sorts. */
static void keep_backup(ooze_solver *s) {
  oz_particles *p = &s->particles;
  if (s->backend_kind != OOZE_BACKEND_CPU || p->count == 0) return;
  p->copy_valid = 0;
  float *backup = p->copy;
  oz_frame f;
  s->backend->table->frame(s->backend, &f);
  const size_t record = f.source ? 4 : 3;
  for (uint32_t i = 0; i < p->count; ++i) {
    /* each substep gives them their velocity */
    if (f.owner && f.owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) continue;
    float *to = backup + record * f.rank[i];
    memcpy(to, f.u + 4 * (size_t)i, 12);
    if (f.source) memcpy(to + 3, &f.source[i], 4);
  }
}

static void restore_backup(ooze_solver *s) {
  const oz_particles *p = &s->particles;
  if (p->count && s->backend->table->roll_back &&
      s->backend->table->roll_back(s->backend, NULL) < 0)
    s->lost = OOZE_LOST_DEVICE;
  if (s->backend_kind != OOZE_BACKEND_CPU || p->count == 0) return;
  const float *backup = p->copy;
  oz_frame f;
  s->backend->table->frame(s->backend, &f);
  const size_t record = f.source ? 4 : 3;
  for (uint32_t i = 0; i < p->count; ++i) {
    if (f.owner && f.owner[i] >> OZ_OWNER_SHIFT == OZ_OWNER_BOUNDARY) continue;
    const float *from = backup + record * f.rank[i];
    memcpy(f.u + 4 * (size_t)i, from, 12);
    if (f.source) memcpy(&f.source[i], from + 3, 4);
  }
}

/* Removes the particles born in this substep: the last ranks before the boundary's; there were
 * `count` particles. */
static void roll_back_births(ooze_solver *s, uint32_t count, uint64_t next_id) {
  oz_particles *p = &s->particles;
  if (p->count == count || oz_rank_map(s) < 0 || oz_particles_flags(s) < 0) return;
  for (uint32_t r = count - p->hidden; r < oz_visible(s); ++r) p->flags[p->at[r]] = 0;
  if (oz_particles_keep(s, count) >= 0) p->next_id = next_id;
}

/* ---- the step ---- */

/* Two models know nothing of bodies; taking them for fluid would be the worse answer. */
static ooze_result bodies_fit(ooze_solver *s) {
  const char *name = s->params.model == OOZE_MODEL_BLEND    ? "blend"
                     : s->params.model == OOZE_MODEL_CAUCHY ? "cauchy"
                                                            : NULL;
  if (!name || !s->bodies.count) return OOZE_OK;
  return oz_fail(
      s->message, OOZE_ERROR_UNSUPPORTED,
      "model %s has no bodies, and there are %u; expected model conformation, links or springs",
      name, (unsigned)s->bodies.count);
}

/* Features of bodies that this step has. The stiffest of the soft ones decides how many iterations
 * they take (models/soft.c). */
static void bodies(const ooze_solver *s, oz_step *step) {
  for (uint32_t k = 0; k < s->bodies.count; ++k) {
    const oz_body *b = s->bodies.body + k;
    step->has_driven |= b->driven;
    step->has_stick |= b->stick > 0;
    step->has_cling |= b->friction > 0;
    if (b->kind != OZ_OWNER_SOFT) continue;
    const float rate = b->young * b->stretch_bound + b->bulk * b->volume_bound;
    step->has_soft = 1;
    step->soft_tears |= b->strain > 0;
    step->soft_rate = fmaxf(step->soft_rate, rate);
    step->soft_damped = fmaxf(step->soft_damped, rate * b->damping);
  }
}

/* Boundary particles that the substep before this one, of the same step, left where this one leaves
 * them, too. */
static uint32_t boundary_still(const ooze_solver *s) {
  const oz_collider *c = s->collider_frame;
  if (!s->particles.hidden || s->run.substeps == 0 || s->boundary.slips) return 0;
  for (uint32_t i = 0; i < s->boundary.count; ++i)
    if (s->boundary.set[i].moving) return 0;
  for (uint32_t i = 0; i < s->colliders.count; ++i)
    if (memcmp(c[i].p0, c[i].p1, sizeof c[i].p0) || memcmp(c[i].q0, c[i].q1, sizeof c[i].q0))
      return 0;
  return 1;
}

static ooze_result model(ooze_solver *s, double time, double f0, double f1, double dt,
                         oz_step *step) {
  OZ_TRY(bodies_fit(s));
  OZ_TRY(oz_host_flush(s));
  OZ_TRY(surroundings(s, f0, f1, dt));
  /* particles may have a solvent of their own where their materials have none */
  const uint32_t laws = s->laws | (s->particles.has_solvent ? OZ_LAW_SOLVENT : 0u);
  const uint32_t draws = s->particles.has_relaxation_time || s->ramps_have_relaxation_time ||
                         (laws & OZ_LAW_SECOND),
                 relaxes = draws || s->has_memory || s->has_yield;
  OZ_TRY(provide_fields(s, (int)relaxes));
  keep_backup(s);
  memset(step, 0, sizeof *step);
  step->backend = s->backend;
  step->params = &s->params;
  step->velocity_iterations = s->run.counts.velocity;
  step->position_iterations = s->run.counts.position;
  step->separation = s->separation;
  step->time = time;
  step->has_yield = s->has_yield;
  step->laws = laws;
  step->has_heat = s->has_heat;
  step->has_air = s->has_air;
  step->has_tension = s->has_tension;
  step->has_adhesion = s->has_adhesion;
  step->has_ramps = s->has_ramps;
  step->diffusivity = s->diffusivity;
  step->has_mixing = s->mixing > 0;
  step->mixing = s->mixing;
  step->has_relaxation_time = relaxes;
  step->draws = draws;
  step->has_memory = s->has_memory;
  step->has_walls =
      (uint32_t)oz_colliders_have(&s->colliders, OOZE_ROLE_COLLIDE) || s->particles.hidden > 0;
  step->has_nozzles = s->emitters.count > 0;
  step->born = s->births.count;
  step->has_boundary = s->particles.hidden > 0;
  step->boundary_still = boundary_still(s);
  step->has_loads = step->has_boundary && !s->no_loads;
  step->has_slip = step->has_boundary && s->boundary.slips;
  bodies(s, step);
  step->tension_load = (float)oz_tension_load(s, dt);
  step->least_density = INFINITY, step->most_density = 0.0f;
  for (uint32_t k = 0; k < s->material_count; ++k) {
    step->least_density = fminf(step->least_density, s->extremes[k].density);
    step->most_density = fmaxf(step->most_density, s->extremes[k].most_density);
  }
  ooze_result r = oz_models[s->params.model](step, (float)dt, s->message);
  for (int more = 0; r == OZ_AGAIN && more < 8; more++) { /* each time there is more room */
    restore_backup(s);
    r = oz_models[s->params.model](step, (float)dt, s->message);
  }
  if (r == OZ_AGAIN)
    r = oz_fail(s->message, OOZE_ERROR_DEVICE,
                "step: neighbour lists outgrew their room eight times in one substep");
  oz_particles_moved(s);
  s->particles.results = r < 0 ? 0 : s->particles.count;
  if (r < 0) restore_backup(s);
  if (r == OOZE_LOST_ABANDONED) s->lost = r;
  return r;
}

/* Time moves on when the model is done. All memory that is needed after that is there before it. */
static ooze_result substep(ooze_solver *s, double t1, double *fraction, double f1, double dt) {
  oz_particles *p = &s->particles;
  oz_births *b = &s->births;
  double t0 = s->time, f0 = *fraction;
  uint32_t count = p->count, has_relaxation_time = p->has_relaxation_time;
  uint64_t next_id = p->next_id;
  b->count = 0;
  if (s->emitters.count)
    OZ_TRY(oz_emitters_births(&s->emitters, t0, t1, f0, f1, s->material_count, b, s->message));
  OZ_TRY(oz_host_flush(s));
  OZ_TRY(oz_particles_prepare(s, b->count < s->max_particles - count ? count + b->count
                                                                     : s->max_particles));
  for (uint32_t i = 0; i < b->count && !p->has_relaxation_time; ++i)
    p->has_relaxation_time = s->materials[b->material[i]].relaxation_time > 0;
  oz_arrivals a = {b->count,    b->position, 0, b->velocity, 0, NULL,
                   b->material, b->source,   0, 0,           0, NULL};
  ooze_result r = oz_particles_append(s, &a);
  oz_step step;
  if (r >= 0) {
    r = model(s, t0, f0, f1, dt, &step);
    if (r < 0) roll_back_births(s, count, next_id);
  }
  p->relaxation_time_known = 1;
  if (r < 0) {
    p->has_relaxation_time = has_relaxation_time;
    return r;
  }
  if (s->emitters.count) oz_emitters_accept(&s->emitters);
  s->time = t1;
  *fraction = f1;
  p->results_dt = (float)dt;
  s->run.substeps++;
  s->run.born += b->count;
  s->run.list_rebuilds += step.rebuilt;
  s->run.residual = step.residual;
  s->run.tension_held = (uint32_t)step.tension_held;
  if (s->run.tension_held) oz_tension_tell(s, dt);
  s->run.mean_neighbours = step.mean_neighbours;
  if (step.has_walls && p->count) OZ_TRY(loads(s, dt));
  OZ_TRY(contain(s, step.bad));
  return oz_colliders_have(&s->colliders, OOZE_ROLE_KILL) ? oz_particles_leave(s, 1) : OOZE_OK;
}

static ooze_result step(ooze_solver *s, double dt) {
  if (s->lost)
    return oz_fail(s->message, s->lost,
                   "step: the state is lost; clear the particles or load a checkpoint");
  if (!(dt >= 0 && dt <= 1))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "step: dt is %g s; expected 0 to 1", dt);
  double whole = dt * (double)s->params.time_scale, begin = s->time, fraction = 0;
  memset(&s->run, 0, sizeof s->run);
  if (!(whole > 0)) return OOZE_OK;
  OZ_TRY(oz_boundary_before_step(s));
  OZ_TRY(oz_relaxation_time_before_step(s));
  OZ_TRY(oz_speeds_before_step(s, whole));
  OZ_TRY(oz_counts_before_step(s, whole));

  ooze_result r = OOZE_OK;
  const ooze_hooks *hooks = &s->memory.hooks;
  oz_colliders_begin_step(&s->colliders);
  while (fraction < 1 && r == OOZE_OK) {
    if (hooks->progress && hooks->progress(hooks->user, fraction)) {
      r = oz_fail(s->message, OOZE_CANCELLED, "step: cancelled at %g s, %.0f%% of the step",
                  s->time, 100 * fraction);
      break;
    }
    uint32_t left = 1, done = s->run.substeps;
    r = substeps_left(s, whole * (1 - fraction), done, &left);
    if (r < 0) break;
    /* fixed substeps are all of one length, to the last bit */
    int fixed = !(s->params.cfl > 0);
    double next = left <= 1 ? 1
                  : fixed   ? (double)(done + 1) / s->run.counts.substeps
                            : fraction + (1 - fraction) / left;
    double h = fixed ? whole / s->run.counts.substeps : whole * (next - fraction);
    if (!(h >= OZ_SHORTEST_STEP)) {
      r = oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                  "step: a substep of %g s (dt is %g s); expected %g s or more, or a dt of 0", h,
                  dt, OZ_SHORTEST_STEP);
      break;
    }
    double t1 = begin + whole * next;
    r = substep(s, t1, &fraction, next, h);
  }
  ooze_result fetched = fetch_loads(s);
  if (r >= 0 && fetched < 0) r = fetched;
  oz_colliders_end_step(&s->colliders, fraction);
  oz_bodies_end_step(&s->bodies, fraction);
  oz_boundary_end_step(&s->boundary, fraction);
  oz_emitters_end_step(&s->emitters, fraction);
  if (r == OOZE_OK) r = oz_particles_leave(s, 0);
  if (r == OOZE_OK) r = oz_speeds_after_step(s, whole);
  if (r <= OOZE_LOST_DIVERGED && r != OOZE_LOST_ABANDONED && hooks->log)
    hooks->log(hooks->user, OOZE_LOG_ERROR, s->message->text);
  /* the last elastic particle may be gone: a resumed run would know */
  if (s->run.killed) s->particles.relaxation_time_known = s->extremes_known = 0;
  if (r != OOZE_OK) return r;
  OZ_TRY(oz_labels_renew(s, begin, s->time));
  if (hooks->progress) (void)hooks->progress(hooks->user, 1.0);
  if (s->run.contained == 0) return OOZE_OK;
  (void)oz_fail(s->message, OOZE_CONTAINED,
                "step: non-finite particles were reset %u times; the first is id %llu",
                (unsigned)s->run.contained, (unsigned long long)s->run.first_contained);
  if (hooks->log) hooks->log(hooks->user, OOZE_LOG_WARNING, s->message->text);
  return OOZE_CONTAINED;
}

ooze_result ooze_step(ooze_solver *s, double dt) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (s->stepping)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "step: called from a hook of a step; expected it after that step");
  s->stepping = 1;
  const ooze_result r = step(s, dt);
  s->stepping = 0;
  return r;
}
