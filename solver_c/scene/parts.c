/* Parts of a scene: solver, emitters, fluids, and the poses that others have too.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <math.h>
#include <stdlib.h>

/* ---- Solver ------------------------------------------------------------------------------ */

ooze_result oz_read_solver(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "solver");
  ooze_params_default(&s->start.params);
  s->start.params.rest = 1; /* files are for shading */
  size_t mark = oz_down(r, "solver");
  if (!object)
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "is missing; expected {\"particle_separation\": metres, ...}");
  OZ_TRY_OK(oz_get_fields(r, OZ_SOLVER, 0, object, &s->start.params, NULL));
  oz_warn_of_models(r, "solver", object, s->start.params.model);
  s->separation = 0.0f;
  OZ_TRY_OK(oz_get_float(r, "solver", object, "particle_separation", &s->separation));
  if (!json_object_get(object, "particle_separation")) {
    oz_down(r, "particle_separation");
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "is missing; expected the spacing of particles in m, such as 0.005");
  }
  oz_up(r, mark);
  return OOZE_OK;
}

/* ---- Poses ------------------------------------------------------------------------------- */

/* A pose without keyframes. */
ooze_result oz_read_still_pose(oz_reader *r, const char *group, json_t *object, ooze_pose *out) {
  oz_posed posed = {{0, 0, 0}, 0};
  OZ_TRY_OK(oz_get_vector(r, group, object, "position", out->position));
  OZ_TRY_OK(oz_both_turns(r, object, &posed));
  OZ_TRY_OK(oz_get_vector(r, group, object, "rotate", posed.rotate));
  if (posed.uses_rotate) oz_pose_rotate(posed.rotate, out->rotation);
  json_t *rotation = json_object_get(object, "rotation");
  if (!rotation) return OOZE_OK;
  ooze_schema_entry e;
  double q[4];
  size_t mark = oz_down(r, "rotation");
  if (!oz_key_find(group, "rotation", &e))
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "has no entry");
  OZ_TRY_OK(oz_numbers(r, &e, rotation, q));
  for (int k = 0; k < 4; k++) out->rotation[k] = (float)q[k];
  oz_up(r, mark);
  return OOZE_OK;
}

/* ---- Spans of time ----------------------------------------------------------------------- */

/* `from` and `until` of what pours; an `until` of 0 is no end. */
static ooze_result check_span(oz_reader *r, float from, float until) {
  if (!(until > 0.0f) || until > from) return OOZE_OK;
  oz_down(r, "until");
  return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                   "is %g s; expected more than from, which is %g s, or 0 for no end",
                   (double)until, (double)from);
}

/* A scene counts seconds of its frames, the solver those that it has simulated. */
static ooze_result read_span(oz_reader *r, ooze_emitter_desc *desc) {
  const double latest = 1e9; /* as the schema has it */
  OZ_TRY_OK(check_span(r, desc->from, desc->until));
  desc->from = (float)fmin(oz_simulated_time(r->scene, (double)desc->from), latest);
  if (!(desc->until > 0.0f)) return OOZE_OK;
  desc->until = (float)fmin(oz_simulated_time(r->scene, (double)desc->until), latest);
  /* a span in which time stands still is empty; 0 would have no end */
  if (!(desc->until > desc->from)) desc->until = nextafterf(desc->from, INFINITY);
  return OOZE_OK;
}

/* ---- Emitters ---------------------------------------------------------------------------- */

/* `corners`: [[x, z], ...] in radii. */
static ooze_result read_corners(oz_reader *r, json_t *object, ooze_emitter_desc *desc) {
  json_t *list = json_object_get(object, "corners");
  if (!list) return OOZE_OK;
  const size_t mark = oz_down(r, "corners"), count = json_array_size(list);
  if (count < 3 || count > OOZE_OUTLINE_CORNERS)
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "has %zu corners; expected 3 to %d as [[x, z], ...]",
                     count, OOZE_OUTLINE_CORNERS);
  for (size_t i = 0; i < count; i++) {
    json_t *corner = json_array_get(list, i);
    for (size_t k = 0; k < 2; k++) {
      json_t *number = json_array_get(corner, k);
      const double value = json_number_value(number);
      if (!json_is_number(number) || json_array_size(corner) != 2 || !(fabs(value) <= 1.0))
        return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                         "corner %zu is no pair of numbers from -1 to 1, in radii", i);
      desc->corners[2 * i + k] = (float)value;
    }
  }
  desc->corner_count = (uint32_t)count;
  oz_up(r, mark);
  return OOZE_OK;
}

static ooze_result read_emitter(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  uint32_t i = s->emitter_count, material = 0;
  oz_emitter_state *state = &s->start.emitters[i];
  ooze_emitter_desc_default(&state->desc);
  s->emitters[i].name = oz_copy_text(name, strlen(name));
  if (!s->emitters[i].name) return OZ_NO_MEMORY(r);
  s->emitter_count++;
  uint32_t *moves = &s->emitters[i].moves;
  OZ_TRY_OK(oz_get_fields(r, OZ_EMITTER, i, object, &state->desc, moves));
  OZ_TRY_OK(oz_get_turn(r, OZ_EMITTER, i, object, state, offsetof(oz_emitter_state, posed), moves));
  OZ_TRY_OK(read_span(r, &state->desc));
  OZ_TRY_OK(read_corners(r, object, &state->desc));
  OZ_TRY_OK(oz_find_material(r, object, &material));
  state->desc.material = material + 1; /* 0 is the solver's own */
  return OOZE_OK;
}

ooze_result oz_read_emitters(oz_reader *r) {
  ooze_scene *s = r->scene;
  return oz_read_items(r, "emitters", "{\"material\": ...}", read_emitter, (void **)&s->emitters,
                       sizeof *s->emitters, (void **)&s->start.emitters, sizeof *s->start.emitters);
}

/* Copies in rows, each turned by chance. */
ooze_result oz_read_copies(oz_reader *r, const char *group, json_t *object, oz_fluid *f) {
  double count[3];
  uint32_t has;
  f->count[0] = f->count[1] = f->count[2] = 1;
  f->step[0] = f->step[1] = f->step[2] = 1.0f;
  OZ_TRY_OK(oz_get_count(r, group, object, "seed", &f->seed));
  OZ_TRY_OK(oz_get_vector(r, group, object, "step", f->step));
  OZ_TRY_OK(oz_get_float(r, group, object, "turn", &f->turn));
  OZ_TRY_OK(oz_get_list(r, group, object, "count", 3, count, &has));
  for (int k = 0; has && k < 3; k++) f->count[k] = (uint32_t)count[k];
  const double copies = has ? count[0] * count[1] * count[2] : 1.0;
  if (copies <= OZ_MOST_PARTICLES) return OOZE_OK;
  oz_down(r, "count");
  return oz_refuse(r, OOZE_ERROR_LIMIT,
                   "%g x %g x %g are %g copies; expected %u at most, as many as a solver holds "
                   "particles",
                   count[0], count[1], count[2], copies, OZ_MOST_PARTICLES);
}

/* ---- Fluids ------------------------------------------------------------------------------ */

static ooze_result read_fluid(oz_reader *r, const char *name, json_t *object) {
  ooze_scene *s = r->scene;
  oz_fluid *f = &s->fluids[s->fluid_count];
  f->name = oz_copy_text(name, strlen(name));
  if (!f->name) return OZ_NO_MEMORY(r);
  f->limits = &s->limits;
  s->fluid_count++;
  ooze_pose_default(&f->pose);
  OZ_TRY_OK(oz_check_keys(r, "fluid", object));
  OZ_TRY_OK(oz_find_material(r, object, &f->material));
  OZ_TRY_OK(oz_read_shape(r, "fluid", object, &f->shape));
  OZ_TRY_OK(oz_read_still_pose(r, "fluid", object, &f->pose));
  OZ_TRY_OK(oz_get_vector(r, "fluid", object, "velocity", f->velocity));
  OZ_TRY_OK(oz_get_float(r, "fluid", object, "jitter", &f->jitter));
  OZ_TRY_OK(oz_get_count(r, "fluid", object, "keep_state", &f->keep_state));
  OZ_TRY_OK(oz_get_count(r, "fluid", object, "emit", &f->emit));
  OZ_TRY_OK(oz_get_float(r, "fluid", object, "speed", &f->speed));
  OZ_TRY_OK(oz_get_float(r, "fluid", object, "from", &f->from));
  OZ_TRY_OK(oz_get_float(r, "fluid", object, "until", &f->until));
  OZ_TRY_OK(check_span(r, f->from, f->until));
  OZ_TRY_OK(oz_read_copies(r, "fluid", object, f));
  if (f->emit == OZ_EMIT_SURFACE && (f->shape.kind != OZ_SHAPE_MESH || !(f->speed > 0.0f))) {
    oz_down(r, "emit");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "a surface emits with \"shape\": \"mesh\" and a speed above 0");
  }
  if (f->from > 0.0f && !f->emit) {
    oz_down(r, "from");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                     "is %g s; expected 0, or \"emit\": \"volume\" or \"surface\" beside it",
                     (double)f->from);
  }
  if (f->emit && (f->keep_state || f->count[0] * f->count[1] * f->count[2] > 1)) {
    oz_down(r, "emit");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "works without keep_state and without copies");
  }
  if (f->keep_state && f->shape.kind != OZ_SHAPE_POINTS) {
    oz_down(r, "keep_state");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "works with \"shape\": \"points\" alone");
  }
  return OOZE_OK;
}

ooze_result oz_read_fluids(oz_reader *r) {
  ooze_scene *s = r->scene;
  s->fluids = calloc(json_object_size(json_object_get(s->doc, "fluids")) + 1, sizeof *s->fluids);
  if (!s->fluids) return OZ_NO_MEMORY(r);
  OZ_TRY_OK(oz_read_map(r, "fluids", "{\"shape\": ...}", read_fluid));
  if (!s->fluid_count && !s->emitter_count && !s->body_count) {
    oz_down(r, "fluids");
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "the scene has neither fluids nor emitters; expected at least one");
  }
  return OOZE_OK;
}
