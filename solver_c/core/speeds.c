/* Speeds of a step, and a jump of speed that no force explains.
 *
 * A speed is explained by the speeds before the step, by gravity and forces over its length, and by
 * moving walls and nozzles. It grows with these and falls with the fastest particle, so that a slow
 * divergence is found as well: speeds grow, and their explanation does not. Splashes, jets between
 * walls and recoil concentrate energy in few particles, and overlapping particles part by a share
 * of a separation a substep: OZ_SPEED_MARGIN leaves room for both. SPDX-License-Identifier:
 * Apache-2.0 */
#include "core/speeds.h"

#include <math.h>
#include <stdio.h>

#include "core/particles.h"

/* Greatest ratio of the fastest particle to the explained speed: 0.9 in the quick rows of `ooze
 * verify`, 4 in the first 40 s of each example scene (ice_cream). Random scenes that diverge: 15
 * and more. */
#define OZ_SPEED_MARGIN 10.0
/* s: corrections of shorter substeps have no greater speed (docs/theory/density.md) */
#define OZ_CORRECTION_TIME (1.0 / 240.0)
/* speed of elastic waves, in separations a substep, at the least compliance (physics/motion.h) */
#define OZ_WAVE_MOST 22.0
/* separations: no step that moves particles by less is judged */
#define OZ_SHORT_WAY 0.1
/* A few particles that fly off are told of; more of them end the step. */
#define OZ_FAST_FEW 8u
#define OZ_FAST_SHARE 0.01

static double length3(const float v[3]) {
  const double x = (double)v[0], y = (double)v[1], z = (double)v[2];
  return sqrt(x * x + y * y + z * z);
}

/* Of visible particles: boundary particles have the velocity of the last substep, which a resumed
 * run does not know. */
ooze_result oz_speeds_greatest(ooze_solver *s, double *out) {
  const void *copy;
  if (s->backend->table->fastest) {
    OZ_TRY(oz_host_flush(s));
    return s->backend->table->fastest(s->backend, out, s->message);
  }
  if (s->particles.hidden) OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_look(s, OZ_FIELD_U, &copy));
  float most = 0;
  for (uint32_t i = 0; i < oz_visible(s); ++i) {
    const float *u =
        (const float *)copy + 4 * (size_t)(s->particles.hidden ? s->particles.at[i] : i);
    float speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    if (speed2 > most) most = speed2;
  }
  *out = sqrt((double)most);
  return OOZE_OK;
}

/* ---- explanations of a speed ---- */

/* Greatest speed of a shape within `reach` of a pose that moves from a to b. */
static double pose_speed(const ooze_pose *a, const ooze_pose *b, double reach, double duration) {
  float way[3];
  double cosine = 0;
  for (int k = 0; k < 3; ++k) way[k] = b->position[k] - a->position[k];
  for (int k = 0; k < 4; ++k) cosine += (double)a->rotation[k] * (double)b->rotation[k];
  const double angle = 2 * acos(fmin(fabs(cosine), 1.0));
  return (length3(way) + angle * reach) / duration;
}

/* Walls, the points of walls that deform, driven bodies, and mouths of nozzles; particles that
 * these push out are arrivals. */
static double surroundings(const ooze_solver *s, double duration) {
  double most = 0;
  for (uint32_t i = 0; i < s->colliders.count; ++i) {
    const oz_collider_slot *c = &s->colliders.slot[i];
    /* a plane turns about a point that is as near as its fluid, of unknown size */
    const double reach = c->size > 0 ? (double)c->size : 1000.0 * (double)s->separation;
    /* an elastic impact doubles the speed of a wall */
    most = fmax(most, 2 * pose_speed(&c->desc.start, &c->desc.end, reach, duration));
  }
  for (uint32_t i = 0; i < s->boundary.count; ++i) {
    const oz_boundary_set *set = &s->boundary.set[i];
    for (uint32_t k = 0; set->moving && k < set->count; ++k)
      most = fmax(most, 2 * length3(set->way + 3 * (size_t)k) / duration);
  }
  for (uint32_t i = 0; i < s->bodies.count; ++i) {
    const oz_body *b = &s->bodies.body[i];
    ooze_pose start, end;
    if (!b->driven) continue;
    oz_body_poses(b, &start, &end);
    most = fmax(most, 2 * pose_speed(&start, &end, 1000.0 * (double)s->separation, duration));
  }
  for (uint32_t i = 0; i < s->emitters.count; ++i) {
    const ooze_emitter_desc *e = &s->emitters.slot[i].desc;
    most = fmax(most, pose_speed(&e->start, &e->end, (double)e->radius, duration));
  }
  return most;
}

/* Pa: elastic modulus; 0 of a fluid without memory. */
static double modulus_of(float viscosity, float relaxation_time, float compliance) {
  if (!(relaxation_time > 0)) return 0;
  return viscosity > 0    ? (double)viscosity / (double)relaxation_time
         : compliance > 0 ? 1 / (double)compliance
                          : 0;
}

/* A material's modulus explains speeds in the one model that reads it: the others match lengths and
 * shapes, or use no more of a stiffness than a substep bears. */
static int has_modulus(const ooze_solver *s) { return s->params.model == OOZE_MODEL_CONFORMATION; }

/* m/s: speeds of elastic waves by the materials' own values, and of films that draw back. */
static double waves_of_materials(const ooze_solver *s) {
  double modulus = 0, pull = 0, density = 0;
  for (uint32_t m = 0; m < s->material_count; ++m) {
    const ooze_material *a = &s->materials[m];
    const float *const ramp[] = {a->ramp_1, a->ramp_2, a->ramp_3, a->ramp_4,
                                 a->ramp_5, a->ramp_6, a->ramp_7, a->ramp_8};
    modulus = fmax(modulus, modulus_of(a->viscosity, a->relaxation_time, a->compliance));
    modulus = fmax(modulus, modulus_of(a->second_viscosity, a->second_relaxation_time, 0));
    for (int k = 0; k < 8; ++k) /* K, Pa s, s */
      modulus = fmax(modulus, modulus_of(ramp[k][1], ramp[k][2], 0));
    pull = fmax(pull, 2 * (double)a->surface_tension / (double)s->separation + (double)a->cohesion);
    density = m == 0 ? (double)a->density : fmin(density, (double)a->density);
  }
  if (!has_modulus(s)) modulus = 0;
  for (uint32_t k = 0; k < s->bodies.count; ++k)
    modulus = fmax(modulus, (double)s->bodies.body[k].young);
  return sqrt(modulus / density) + sqrt(pull / density);
}

/* The same by the particles' own values, which hosts and mixing may have set. */
static ooze_result waves_of_particles(ooze_solver *s, double *out) {
  static const oz_field fields[] = {OZ_FIELD_VISCOSITY, OZ_FIELD_RELAXATION_TIME,
                                    OZ_FIELD_COMPLIANCE, OZ_FIELD_DENSITY};
  const uint32_t n = oz_visible(s);
  const size_t bytes = 4 * (size_t)n * sizeof(float);
  void *copy;
  *out = 0;
  OZ_TRY(oz_rank_map(s));
  float *values = oz_alloc(&s->memory, bytes);
  if (!values) return oz_host_no_memory(s, bytes);
  ooze_result result = OOZE_OK;
  for (uint32_t k = 0; k < 4 && result >= 0; ++k) {
    result = oz_host_copy(s, fields[k], &copy);
    for (uint32_t r = 0; r < n && result >= 0; ++r)
      values[4 * (size_t)r + k] = ((const float *)copy)[s->particles.at[r]];
  }
  for (uint32_t r = 0; r < n && result >= 0; ++r) {
    const float *v = values + 4 * (size_t)r;
    *out = fmax(*out, sqrt(modulus_of(v[0], v[1], v[2]) / (double)v[3]));
  }
  oz_free(&s->memory, values);
  return result;
}

/* m/s: recoil of a stretch that the host gave, since OZ_SPEED_MARGIN has room for strains up to 10.
 */
static ooze_result recoil(ooze_solver *s, double *out) {
  void *copy;
  double most = 0, waves = 0;
  *out = 0;
  if (s->params.model != OOZE_MODEL_CONFORMATION) return OOZE_OK;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_copy(s, OZ_FIELD_Q, &copy));
  for (uint32_t r = 0; r < oz_visible(s); ++r)
    for (uint32_t k = 0; k < 6; ++k)
      most = fmax(most, fabs((double)((const float *)copy)[oz_field_at(
                            OZ_FIELD_Q, s->particles.count, s->particles.at[r], k)]));
  if (most <= 10) return OOZE_OK;
  OZ_TRY(waves_of_particles(s, &waves));
  *out = fmax(waves, waves_of_materials(s)) * sqrt(most);
  return OOZE_OK;
}

ooze_result oz_speeds_before_step(ooze_solver *s, double duration) {
  double known = s->explained_speed, stretched = 0;
  if (!(known >= 0)) {
    OZ_TRY(oz_speeds_greatest(s, &known));
    if (s->explained_speed == OZ_SPEED_OF_STRETCH) OZ_TRY(recoil(s, &stretched));
  }
  s->explained_speed = fmax(known + stretched, surroundings(s, duration));
  return OOZE_OK;
}

/* The greatest of the forces that the host gave, m/s^2. */
static ooze_result greatest_force(ooze_solver *s, double *out) {
  void *copy;
  *out = 0;
  if (!oz_field_there(s, OZ_FIELD_FORCE)) return OOZE_OK;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_copy(s, OZ_FIELD_FORCE, &copy));
  for (uint32_t r = 0; r < oz_visible(s); ++r) {
    float force[3];
    for (uint32_t k = 0; k < 3; ++k)
      force[k] = ((const float *)
                      copy)[oz_field_at(OZ_FIELD_FORCE, s->particles.count, s->particles.at[r], k)];
    *out = fmax(*out, length3(force));
  }
  return OOZE_OK;
}

/* ---- the decision ---- */

/* Particles above the limit, by number and first id: many end the step, a few are told of once. */
static ooze_result judge(ooze_solver *s, double fastest, double explained, double limit) {
  const ooze_hooks *hooks = &s->memory.hooks;
  const uint32_t all = oz_visible(s);
  const void *copy;
  uint32_t fast = 0;
  uint64_t first = 0;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_look(s, OZ_FIELD_U, &copy));
  for (uint32_t r = 0; r < all; ++r) {
    const float *u = (const float *)copy + 4 * (size_t)s->particles.at[r];
    if (length3(u) > limit && !fast++) first = s->particles.ids[r];
  }
  const double many = fmin(fmax(OZ_FAST_FEW, OZ_FAST_SHARE * all), all);
  const int ends = fast >= many;
  if (!ends && s->told_speed) return OOZE_OK;
  (void)oz_fail(
      s->message, OOZE_OK,
      "step: %u of %u particles, the first is id %llu, reach speeds up to %.3g m/s at %g s; "
      "gravity, "
      "forces, walls, nozzles and elasticity explain %.3g m/s; %s",
      (unsigned)fast, (unsigned)all, (unsigned long long)first, fastest, s->time, explained,
      ends ? "take more substeps, let no shape or nozzle begin within another, or load a checkpoint"
           : "too few substeps do this, and shapes or nozzles that begin within others");
  if (ends) return s->lost = OOZE_LOST_DIVERGED;
  s->told_speed = 1;
  if (hooks->log) hooks->log(hooks->user, OOZE_LOG_WARNING, s->message->text);
  return OOZE_OK;
}

ooze_result oz_speeds_after_step(ooze_solver *s, double duration) {
  double fastest = 0, force = 0, waves = waves_of_materials(s), own = 0;
  OZ_TRY(oz_speeds_greatest(s, &fastest));
  double explained = s->explained_speed + length3(s->params.gravity) * duration;
  if (fastest > explained) { /* only then do forces of the host matter */
    OZ_TRY(greatest_force(s, &force));
    explained += force * duration;
  }
  s->explained_speed = fmin(fastest, explained);

  const double dt = duration / s->run.substeps, d = (double)s->separation;
  if (fastest * duration < OZ_SHORT_WAY * d) return OOZE_OK; /* a later step will find it */
  const double stiffest = OZ_WAVE_MOST * d / dt;
  explained += d / fmax(dt, OZ_CORRECTION_TIME);
  if (fastest <= OZ_SPEED_MARGIN * (explained + fmin(waves, stiffest))) return OOZE_OK;
  if (has_modulus(s)) OZ_TRY(waves_of_particles(s, &own));
  explained += fmin(fmax(waves, own), stiffest);
  const double limit = OZ_SPEED_MARGIN * explained;
  return fastest > limit ? judge(s, fastest, explained, limit) : OOZE_OK;
}
