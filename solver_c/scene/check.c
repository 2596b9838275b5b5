/* Values that are allowed but look like a slip of units. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "base/step_counts.h"

#include <math.h>
#include <stdio.h>

/* m/s: emitter_desc.speed ends there (schema.def). */
static const double FASTEST = 1e4;

/* The values to expect by the material's own name or by its preset. */
static int expected_like(const ooze_scene *s, uint32_t index, ooze_preset *out) {
  const char *name = s->looks[index].name;
  const json_t *preset =
      json_object_get(json_object_get(json_object_get(s->doc, "materials"), name), "preset");
  ooze_preset_default(out);
  if (json_is_string(preset) && ooze_preset_find(json_string_value(preset), out) == OOZE_OK)
    return 1;
  return ooze_preset_find(name, out) == OOZE_OK;
}

/* A value that is above 0 now or, by keyframes, at another time. */
static int ever(const json_t *given, const char *key, float value) {
  return value > 0.0f || json_is_object(json_object_get(given, key));
}

/* Keys that the scene gives and that another one switches on. */
static void check_needs(oz_reader *r, const ooze_material *m, const json_t *given) {
  static const char heat[] = "has no effect without a conductivity",
                    thins[] = "has no effect without a thinning_time",
                    tension[] = "has no effect without a surface_tension or a cohesion";
  const int warms = ever(given, "conductivity", m->conductivity),
            thinning = ever(given, "thinning_time", m->thinning_time),
            power = ever(given, "consistency", m->consistency),
            pulls = ever(given, "surface_tension", m->surface_tension) ||
                    ever(given, "cohesion", m->cohesion),
            level = m->flow_index == 1.0f && !json_is_object(json_object_get(given, "flow_index"));
  const struct {
    const char *key, *text;
    int idle;
  } needs[] = {
      {"film_coefficient", heat, !warms},
      {"emissivity", heat, !warms},
      {"latent_heat", heat, !warms},
      {"adhesion", tension, !pulls},
      {"thinned_viscosity", thins, !thinning},
      {"thinning_sharpness", thins, !thinning},
      {"flow_index", "has no effect without a thinning_time or a consistency", !thinning && !power},
      {"thinning_time", "has no effect: a flow_index of 1 does not thin, less does",
       thinning && !power && level}};
  for (size_t k = 0; k < sizeof needs / sizeof *needs; k++) {
    if (!needs[k].idle || !json_object_get(given, needs[k].key)) continue;
    const size_t mark = oz_down(r, needs[k].key);
    oz_warn(r, "%s", needs[k].text);
    oz_up(r, mark);
  }
}

static void check_material(oz_reader *r, uint32_t index) {
  const ooze_scene *s = r->scene;
  const ooze_material *m = &s->start.materials[index];
  ooze_preset like;
  size_t mark = oz_down(r, "materials"), inner;
  oz_down(r, s->looks[index].name);
  inner = oz_down(r, "density");
  if (m->density <= 25.0f)
    oz_warn(r, "%g kg/m^3 is lighter than foam; water is 1000 kg/m^3 (was it in g/cm^3?)",
            (double)m->density);
  oz_up(r, inner);
  oz_down(r, "viscosity");
  if (expected_like(s, index, &like) && like.material.viscosity > 0.0f && m->viscosity > 0.0f) {
    double ratio = (double)m->viscosity / (double)like.material.viscosity;
    if (ratio >= 300.0 && ratio <= 3000.0)
      oz_warn(r, "%g Pa s is %.3g times that of %s, %g Pa s (was it in mPa s, or centipoise?)",
              (double)m->viscosity, ratio, like.name, (double)like.material.viscosity);
    else if (ratio <= 1.0 / 300.0)
      oz_warn(r, "%g Pa s is far below that of %s, %g Pa s", (double)m->viscosity, like.name,
              (double)like.material.viscosity);
  }
  oz_up(r, inner);
  oz_down(r, "compliance");
  if (m->viscosity <= 0.0f && m->compliance >= 10.0f)
    oz_warn(r,
            "%g 1/Pa is softer than anything; compliance is 1 over the modulus (was it the modulus "
            "in Pa?)",
            (double)m->compliance);
  oz_up(r, inner);
  oz_down(r, "temperature");
  if (m->temperature < 150.0f)
    oz_warn(
        r, "%g K is colder than liquid gas; room temperature is 293 K (was it in degrees Celsius?)",
        (double)m->temperature);
  oz_up(r, inner);

  /* laws of flow that lack a part */
  const struct {
    const char *key, *text;
    int idle;
  } laws[] = {
      {"thinning_time", "has no effect without a viscosity, that at rest",
       m->thinning_time > 0.0f && !(m->viscosity > 0.0f)},
      {"extensibility", "has no effect without a relaxation_time",
       m->extensibility > 0.0f && !(m->relaxation_time > 0.0f)},
      {"extensibility", "is taken as 2, the least that there is",
       m->extensibility > 0.0f && m->extensibility < 2.0f},
      {"second_viscosity", "has no effect without a second_relaxation_time",
       m->second_viscosity > 0.0f && !(m->second_relaxation_time > 0.0f)},
      {"second_relaxation_time", "has no effect without a second_viscosity",
       m->second_relaxation_time > 0.0f && !(m->second_viscosity > 0.0f)},
  };
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    if (!laws[k].idle) continue;
    oz_down(r, laws[k].key);
    oz_warn(r, "%s", laws[k].text);
    oz_up(r, inner);
  }
  check_needs(r, m, json_object_get(json_object_get(s->doc, "materials"), s->looks[index].name));
  oz_up(r, mark);
}

static const json_t *part_of(const ooze_scene *s, const char *group, const char *name) {
  return json_object_get(json_object_get(s->doc, group), name);
}
static void warn_at(oz_reader *r, const char *group, const char *name, const char *key,
                    const char *text) {
  size_t mark = oz_down(r, group);
  oz_down(r, name);
  oz_down(r, key);
  oz_warn(r, "%s", text);
  oz_up(r, mark);
}
static void warn_cold(oz_reader *r, const char *group, const char *name, const char *key,
                      float kelvin) {
  char text[120];
  if (!(kelvin > 0.0f && kelvin < 150.0f)) return;
  snprintf(text, sizeof text,
           "%g K is colder than liquid gas; room temperature is 293 K (was it in degrees Celsius?)",
           (double)kelvin);
  warn_at(r, group, name, key, text);
}

/* Temperatures that look like Celsius, and keys that nothing reads as the scene stands. */
static void check_heat(oz_reader *r) {
  const ooze_scene *s = r->scene;
  int conducts = 0;
  for (uint32_t i = 0; i < s->material_count; i++) {
    const ooze_material *m = &s->start.materials[i];
    const char *name = s->looks[i].name;
    const float *const ramp[] = {m->ramp_1, m->ramp_2, m->ramp_3, m->ramp_4,
                                 m->ramp_5, m->ramp_6, m->ramp_7, m->ramp_8};
    conducts |= m->conductivity > 0.0f;
    warn_cold(r, "materials", name, "melting_point", m->melting_point);
    for (int k = 0; k < 8; k++) {
      char key[8];
      snprintf(key, sizeof key, "ramp_%d", k + 1);
      if (json_object_get(part_of(s, "materials", name), key))
        warn_cold(r, "materials", name, key, ramp[k][0]);
    }
    static const char *const fixed[] = {"viscosity", "relaxation_time", "compliance"};
    for (int k = 0; k < 3; k++)
      if (json_object_get(part_of(s, "materials", name), fixed[k]) &&
          json_object_get(part_of(s, "materials", name), "ramp_1") && m->ramp_1[0] > 0.0f)
        warn_at(
            r, "materials", name, fixed[k],
            "has no effect: ramp_1 and what follows give it by temperature; leave one of them out");
  }
  for (uint32_t i = 0; i < s->collider_count; i++) {
    const oz_collider_item *c = &s->colliders[i];
    const json_t *given = part_of(s, "colliders", c->name);
    if (json_object_get(given, "temperature"))
      warn_cold(r, "colliders", c->name, "temperature", s->start.colliders[i].desc.temperature);
    if (json_object_get(given, "temperature") && !conducts)
      warn_at(r, "colliders", c->name, "temperature",
              "has no effect: no material has a conductivity");
    if (c->shell && s->start.colliders[i].desc.stick > 0.0f)
      warn_at(r, "colliders", c->name, "stick",
              "has no effect: a shell has no surface to stick to");
  }
}

/* Solids that are too stiff for the substeps that the scene gives: above OZ_STIFFEST, with a little
 * room. */
static void check_stiffness(oz_reader *r) {
  const ooze_scene *s = r->scene;
  const ooze_params *p = &s->start.params;
  const double most = 10.0, d = (double)s->separation,
               dt = (double)p->time_scale / (s->output.fps * fmax(p->substeps, 1.0));
  /* automatic substeps are as many as it needs, adaptive ones are not known yet */
  if (p->model != OOZE_MODEL_CONFORMATION || !p->substeps || p->cfl > 0.0f) return;
  for (uint32_t i = 0; i < s->material_count; i++) {
    const ooze_material *m = &s->start.materials[i];
    const double modulus = oz_solid_modulus(m),
                 stiff = modulus * dt * dt / ((double)m->density * d * d);
    char text[240];
    if (!(stiff > most)) continue;
    snprintf(text, sizeof text,
             "makes a solid of %.3g Pa, too stiff for %u substeps of %.3g s at separation %g m: it "
             "may swell and burst; expected %.0f substeps or more",
             modulus, (unsigned)p->substeps, dt, d, ceil(p->substeps * sqrt(stiff / OZ_STIFFEST)));
    warn_at(r, "materials", s->looks[i].name, oz_sets(m) ? "ramp_1" : "relaxation_time", text);
  }
}

static void check_bodies(oz_reader *r) {
  const ooze_scene *s = r->scene;
  static const char *const soft[] = {"stretch_compliance", "volume_compliance", "keep_volume",
                                     "damping", "strain_limit"};
  for (uint32_t i = 0; i < s->body_count; i++)
    for (size_t k = 0; s->bodies[i].desc.kind == OOZE_BODY_RIGID && k < sizeof soft / sizeof *soft;
         k++)
      if (json_object_get(part_of(s, "bodies", s->bodies[i].fill.name), soft[k]))
        warn_at(r, "bodies", s->bodies[i].fill.name, soft[k],
                "has no effect: this body is rigid; \"kind\": \"soft\" makes one that gives way");
}

/* Keys of a mouth that its outline does not read, and nozzles that nobody sees pour. */
static void check_emitters(oz_reader *r) {
  const ooze_scene *s = r->scene;
  const double frames = (double)(s->output.last - s->output.first) / s->output.fps,
               end = oz_simulated_time(s, frames);
  for (uint32_t i = 0; i < s->emitter_count; i++) {
    const ooze_emitter_desc *e = &s->start.emitters[i].desc;
    const char *name = s->emitters[i].name;
    const json_t *given = part_of(s, "emitters", name);
    const int fixed = !json_is_object(json_object_get(given, "outline")), /* no keyframes */
        star = e->outline == OOZE_OUTLINE_STAR, polygon = e->outline == OOZE_OUTLINE_POLYGON,
              hollow = e->outline == OOZE_OUTLINE_SLOT || e->outline == OOZE_OUTLINE_RING;
    const struct {
      const char *key, *text;
      int idle;
    } keys[] = {
        {"corners", "has no effect without \"outline\": \"polygon\"", fixed && !polygon},
        {"outline_points", "has no effect: only a star and a polygon without corners have points",
         fixed && !star && (!polygon || e->corner_count)},
        {"outline_inner", "has no effect: only a star, a slot and a ring have an inside",
         fixed && !star && !hollow},
        {"speed", "is not used, since rate is above 0; leave one of them out",
         e->rate > 0.0f && !json_is_object(json_object_get(given, "rate"))},
    };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
      if (keys[k].idle && json_object_get(given, keys[k].key))
        warn_at(r, "emitters", name, keys[k].key, keys[k].text);
    if (!((double)e->from > end) || s->output.last <= s->output.first) continue;
    char text[120];
    snprintf(text, sizeof text, "is after the last of output.frames, at %g s: nothing pours",
             frames);
    warn_at(r, "emitters", name, "from", text);
  }
}

/* A rate is no faster through its mouth than a speed may be: such as litres in place of m^3. */
static ooze_result check_rate(oz_reader *r, uint32_t index) {
  const ooze_scene *s = r->scene;
  const ooze_emitter_desc *e = &s->start.emitters[index].desc;
  const double area = ooze_emitter_area(e), rate = (double)e->rate;
  const size_t mark = oz_down(r, "emitters");
  oz_down(r, s->emitters[index].name);
  oz_down(r, "rate");
  if (rate > FASTEST * area)
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "%g m^3/s through a mouth of %.3g m^2 is %.3g m/s; expected %.3g m^3/s or "
                     "less, which is %g m/s (1 l/s is 0.001 m^3/s)",
                     rate, area, rate / area, FASTEST * area, FASTEST);
  oz_up(r, mark);
  return OOZE_OK;
}

#define WIDEST 4.0 /* m: lava a hundred metres wide does with 2.5 */

ooze_result oz_check_slips(oz_reader *r) {
  const ooze_scene *s = r->scene;
  double d = (double)s->separation;
  for (uint32_t i = 0; i < s->material_count; i++) check_material(r, i);
  check_heat(r);
  check_stiffness(r);
  check_bodies(r);
  check_emitters(r);

  const float *g = s->start.params.gravity;
  size_t mark = oz_down(r, "solver");
  oz_down(r, "gravity");
  double strength = sqrt((double)(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
  if (strength > 100.0)
    oz_warn(r, "%g m/s^2 is %.3g times the Earth's (was it in cm/s^2?)", strength, strength / 9.81);
  oz_up(r, mark);

  mark = oz_down(r, "solver");
  oz_down(r, "particle_separation");
  if (d > WIDEST)
    oz_warn(r, "%g m makes particles of that size (was it in mm? then %g m, and all sizes too)", d,
            1e-3 * d);
  oz_up(r, mark);

  const double voxel = s->output.voxel > 0.0f ? (double)s->output.voxel : 0.5 * d;
  if ((s->output.surface || s->output.mesh) && voxel < OOZE_SMALLEST_VOXEL) {
    oz_down(r, "output");
    oz_down(r, s->output.surface ? "surface" : "mesh");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "has voxels of %g m; expected %g m or more, which is as fine as OpenVDB goes: "
                     "give surface_voxel, or a particle_separation of %g m or more",
                     voxel, OOZE_SMALLEST_VOXEL, 2.0 * OOZE_SMALLEST_VOXEL);
  }

  for (uint32_t i = 0; i < s->fluid_count; i++) {
    const oz_fluid *f = &s->fluids[i];
    double low[3], high[3], thin = 1e30, wide = 0.0;
    if (!oz_shape_bounds(&f->shape, low, high)) continue;
    for (int k = 0; k < 3; k++) {
      thin = fmin(thin, high[k] - low[k]);
      wide = fmax(wide, high[k] - low[k]);
    }
    oz_down(r, "fluids");
    oz_down(r, f->name);
    const int inside = f->emit != OZ_EMIT_SURFACE; /* a sheet may let fluid go */
    if (inside && !(thin > 0.0))
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "is flat: no particle fits in; expected a shape with an inside%s",
                       f->shape.kind == OZ_SHAPE_MESH ? ", or \"emit\": \"surface\"" : "");
    if (inside && thin < 0.999 * d)
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "is %g m at its thinnest, and particle_separation is %g m: no particle fits "
                       "in; expected a "
                       "separation of %g m or less, or a larger fluid (are both in metres?)",
                       thin, d, thin / 3.0);
    if (inside && thin < 2.999 * d)
      oz_warn(r, "is %g m at its thinnest: fewer than 3 particles of separation %g m", thin, d);
    if (wide > 1000.0) oz_warn(r, "is %g m wide (are its sizes in metres?)", wide);
    oz_up(r, mark);
  }
  for (uint32_t i = 0; i < s->emitter_count; i++) {
    double radius = (double)s->start.emitters[i].desc.radius;
    oz_down(r, "emitters");
    oz_down(r, s->emitters[i].name);
    oz_down(r, "radius");
    if (radius < 0.5 * d)
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "%g m is less than half of particle_separation, %g m; expected %g m or more "
                       "(are both in metres?)",
                       radius, d, 1.5 * d);
    if (radius < 1.499 * d)
      oz_warn(r, "%g m makes a stream of fewer than 3 particles of separation %g m across", radius,
              d);
    if (radius > 100.0) oz_warn(r, "%g m (is it in metres?)", radius);
    oz_up(r, mark);
    OZ_TRY_OK(check_rate(r, i));
  }
  return OOZE_OK;
}
