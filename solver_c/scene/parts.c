/* The parts of a scene: output, solver, colliders, emitters, fluids, picture; materials are in
 * materials.c. SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <math.h>
#include <stdlib.h>

/* ---- Output ------------------------------------------------------------------------------ */

/* `channels`: results of the last substep by their names, with blanks between. State is always in
 * caches and is no channel. */
static ooze_result read_channels(oz_reader *r, json_t *object, uint32_t *out) {
  const char *text = json_string_value(json_object_get(object, "channels"));
  const char *names[OOZE_ATTRIBUTE_COUNT];
  size_t count = 0, length;
  uint32_t bit[OOZE_ATTRIBUTE_COUNT];
  char all[160] = "", word[64];
  _Static_assert(OOZE_ATTRIBUTE_COUNT <= 32, "channels are bits of a word");
  if (!json_object_get(object, "channels")) return OOZE_OK;
  const size_t mark = oz_down(r, "channels");
  if (!text) return oz_refuse(r, OOZE_ERROR_ARGUMENT, "expected a text of names");
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    if (ooze_attribute_describe((ooze_attribute)a, &info) < 0 || info.is_state) continue;
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", count ? ", " : "", info.name);
    names[count] = info.name, bit[count++] = 1u << a;
  }
  for (*out = 0; *(text += strspn(text, " ")); text += length) {
    size_t k = 0;
    length = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
    while (k < count && strcmp(names[k], word) != 0) k++;
    if (k == count)
      return oz_refuse(r, OOZE_ERROR_NOT_FOUND, "there is no channel %s; expected some of %s", word,
                       all);
    *out |= bit[k];
  }
  oz_up(r, mark);
  return OOZE_OK;
}

ooze_result oz_read_output(oz_reader *r) {
  ooze_scene *s = r->scene;
  oz_output *o = &s->output;
  json_t *object = json_object_get(s->doc, "output");
  o->first = 1;
  o->last = 100;
  o->fps = 30.0;
  o->threshold = 0.85f;
  o->checkpoint_every = 10;
  o->checkpoint_keep = 2;
  o->channels = 1u << OOZE_COMPRESSION;
  if (object) {
    size_t mark = oz_down(r, "output");
    OZ_TRY_OK(oz_check_keys(r, "output", object));
    OZ_TRY_OK(oz_get_text(r, "output", object, "name", &o->name));
    json_t *frames = json_object_get(object, "frames");
    double range[2] = {1, 100};
    if (json_is_integer(frames)) { /* 120 is [1, 120] */
      range[1] = json_number_value(frames);
    } else {
      OZ_TRY_OK(oz_get_list(r, "output", object, "frames", 2, range, NULL));
    }
    if (range[0] != floor(range[0]) || range[1] != floor(range[1]) || range[1] < range[0] ||
        range[1] > 1e6) {
      oz_down(r, "frames");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "%g to %g is no range of frames; expected [first, last] in whole numbers",
                       range[0], range[1]);
    }
    o->first = (int32_t)range[0];
    o->last = (int32_t)range[1];
    OZ_TRY_OK(oz_get_number(r, "output", object, "fps", &o->fps));
    OZ_TRY_OK(oz_get_count(r, "output", object, "points", &o->points));
    OZ_TRY_OK(read_channels(r, object, &o->channels));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface", &o->surface));
    OZ_TRY_OK(oz_get_count(r, "output", object, "mesh", &o->mesh));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface_method", &o->method));
    OZ_TRY_OK(oz_get_float(r, "output", object, "surface_threshold", &o->threshold));
    OZ_TRY_OK(oz_get_float(r, "output", object, "surface_voxel", &o->voxel));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface_smoothing", &o->smoothing));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface_stress", &o->stress));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface_strainrate", &o->strainrate));
    OZ_TRY_OK(oz_get_count(r, "output", object, "surface_temperature", &o->temperature));
    OZ_TRY_OK(oz_get_count(r, "output", object, "checkpoint_every", &o->checkpoint_every));
    OZ_TRY_OK(oz_get_count(r, "output", object, "checkpoint_keep", &o->checkpoint_keep));
    if (o->name) {
      for (const char *c = o->name; *c; c++)
        if (strchr("/\\:*?\"<>|", *c) || (unsigned char)*c < 0x20 || (c == o->name && *c == '.')) {
          oz_down(r, "name");
          return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                           "\"%s\" is no part of a file's name; expected letters and digits",
                           o->name);
        }
    }
    oz_up(r, mark);
  }
  if (!o->name) { /* that of the scene's file */
    const char *begin = s->file, *end;
    for (const char *c = s->file; *c; c++)
      if (oz_os_is_slash(*c)) begin = c + 1;
    end = strchr(begin + (*begin == '.'), '.');
    if (!end) end = begin + strlen(begin);
    o->name = end > begin ? oz_copy_text(begin, (size_t)(end - begin)) : oz_copy_text("scene", 5);
    if (!o->name) return OZ_NO_MEMORY(r);
    if (o->name[0] == '.') o->name[0] = '_';
  }
  return OOZE_OK;
}

/* ---- Solver ------------------------------------------------------------------------------ */

#define P(name, kind, animates) \
  { #name, kind, offsetof(ooze_params, name), animates }
static const oz_field solver_fields[] = {
    P(model, OZ_MENU, 0),
    P(scheme, OZ_MENU, 0),
    P(gravity, OZ_VEC3, 1),
    P(time_scale, OZ_F32, 1),
    P(substeps, OZ_U32, 1),
    P(cfl, OZ_F32, 1),
    P(min_substeps, OZ_U32, 1),
    P(max_substeps, OZ_U32, 1),
    P(velocity_iterations, OZ_U32, 1),
    P(position_iterations, OZ_U32, 1),
    P(velocity_tolerance, OZ_F32, 1),
    P(corotation, OZ_BOOL, 1),
    P(gradient_correction, OZ_BOOL, 1),
    P(zero_energy, OZ_F32, 1),
    P(rest_filter, OZ_U32, 1),
    P(wall_density, OZ_BOOL, 1),
    P(split_compliance, OZ_BOOL, 1),
    P(max_speed, OZ_F32, 1),
    P(links_time, OZ_F32, 1),
    P(links_beta_cold, OZ_F32, 1),
    P(links_beta_hot, OZ_F32, 1),
    P(links_temperature_cold, OZ_F32, 1),
    P(links_temperature_hot, OZ_F32, 1),
    P(links_temperature_solid, OZ_F32, 1),
    P(links_slack, OZ_F32, 1),
    P(links_stiffness, OZ_F32, 1),
    P(links_pressure, OZ_F32, 1),
    P(links_cohesion, OZ_F32, 1),
    P(links_smoothing, OZ_F32, 1),
    P(links_smoothing_solid, OZ_F32, 1),
    P(springs_time, OZ_F32, 1),
    P(springs_rest_density, OZ_F32, 1),
    P(springs_stiffness, OZ_F32, 1),
    P(springs_near_stiffness, OZ_F32, 1),
    P(springs_mode, OZ_MENU, 1),
    P(springs_elasticity, OZ_F32, 1),
    P(springs_plasticity_stretch, OZ_F32, 1),
    P(springs_plasticity_compress, OZ_F32, 1),
    P(springs_yield_stretch, OZ_F32, 1),
    P(springs_yield_compress, OZ_F32, 1),
    P(springs_viscosity, OZ_F32, 1),
    P(springs_impact, OZ_F32, 1),
    P(springs_stick, OZ_F32, 1),
    P(springs_stick_distance, OZ_F32, 1),
    P(blend_alpha, OZ_F32, 1),
    P(blend_support, OZ_F32, 1),
    P(blend_yield, OZ_F32, 1),
    P(blend_interval, OZ_F32, 1),
    P(blend_time, OZ_F32, 1),
    P(blend_stiffness, OZ_F32, 1),
    P(cauchy_stress, OZ_MENU, 0),
    P(cauchy_young, OZ_F32, 1),
    P(cauchy_poisson, OZ_F32, 1),
    P(cauchy_frequency, OZ_F32, 1),
    P(cauchy_tension, OZ_F32, 1),
    P(cauchy_wetting, OZ_F32, 1),
    P(cauchy_support, OZ_F32, 1),
    P(cauchy_iterations, OZ_U32, 1),
};
#undef P

ooze_result oz_read_solver(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "solver");
  ooze_params_default(&s->start.params);
  size_t mark = oz_down(r, "solver");
  if (!object)
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "is missing; expected {\"particle_separation\": metres, ...}");
  OZ_TRY_OK(oz_get_fields(r, "solver", OZ_SOLVER, 0, object, solver_fields,
                          sizeof solver_fields / sizeof *solver_fields, &s->start.params, NULL));
  oz_warn_of_models(r, "solver", object, s->start.params.model);
  s->separation = 0.0f;
  OZ_TRY_OK(oz_get_float(r, "solver", object, "particle_separation", &s->separation));
  if (!json_object_get(object, "particle_separation")) {
    oz_down(r, "particle_separation");
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "is missing; expected the spacing of particles in m, such as 0.005");
  }
  s->velocity_given = json_object_get(object, "velocity_iterations") != NULL;
  s->position_given = json_object_get(object, "position_iterations") != NULL;
  oz_up(r, mark);
  return OOZE_OK;
}

/* ---- Poses ------------------------------------------------------------------------------- */

ooze_result oz_both_turns(oz_reader *r, json_t *object, oz_posed *posed) {
  if (json_object_get(object, "rotate")) posed->uses_rotate = 1;
  if (!json_object_get(object, "rotate") || !json_object_get(object, "rotation")) return OOZE_OK;
  oz_down(r, "rotate");
  return oz_refuse(r, OOZE_ERROR_ARGUMENT, "stands beside rotation; expected one of the two");
}

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

/* ---- Colliders --------------------------------------------------------------------------- */

#define C(name, member, kind, animates) \
  { name, kind, offsetof(oz_collider_state, member), animates }
static const oz_field collider_fields[] = {
    C("role", desc.role, OZ_MENU, 0),
    C("invert", desc.invert, OZ_BOOL, 0),
    C("position", desc.start.position, OZ_VEC3, 1),
    C("rotation", desc.start.rotation, OZ_QUAT, 1),
    C("rotate", posed.rotate, OZ_ROTATE, 1),
    C("friction", desc.friction, OZ_F32, 1),
    C("stick", desc.stick, OZ_F32, 1),
    C("temperature", desc.temperature, OZ_F32, 1),
    C("contact", desc.contact, OZ_F32, 1),
    C("wall_density", desc.wall_density, OZ_BOOL, 0),
    C("boundary", desc.boundary, OZ_MENU, 0),
    C("voxel", desc.voxel, OZ_F32, 0),
};
#undef C

static ooze_result make_sdf(oz_reader *r, oz_collider_item *item, float voxel) {
  ooze_message inner = {""};
  ooze_result result;
  ooze_sdf_default(&item->sdf);
  if (item->shape.kind == OZ_SHAPE_MESH || item->shape.kind == OZ_SHAPE_VDB) {
    ooze_sdf_desc desc;
    ooze_sdf_desc_default(&desc);
    desc.voxel = voxel;
    if (r->scene->max_memory) { /* bricks, and what reading takes, each within it */
      uint64_t most = r->scene->max_memory, bricks = most / sizeof(ooze_sdf_brick);
      if (bricks < desc.max_bricks) desc.max_bricks = (uint32_t)bricks;
      desc.max_file_bytes = most;
      desc.max_memory = most;
    }
    if (item->shape.kind == OZ_SHAPE_VDB)
      result = ooze_sdf_from_vdb(&desc, item->shape.file, NULL, &item->sdf, &inner);
    else
      result = ooze_sdf_from_mesh(&desc, item->shape.mesh.positions, item->shape.mesh.point_count,
                                  item->shape.mesh.triangles,
                                  (uint32_t)item->shape.mesh.triangle_count, &item->sdf, &inner);
  } else {
    result = oz_shape_bricks(&item->shape, item->name, voxel, &item->sdf, &inner);
  }
  if (result < 0) return oz_refuse(r, result, "%s", inner.text);
  return OOZE_OK;
}

ooze_result oz_read_colliders(oz_reader *r) {
  static const uint32_t shapes[] = {OOZE_SHAPE_PLANE, OOZE_SHAPE_SPHERE, OOZE_SHAPE_BOX,
                                    OOZE_SHAPE_CAPSULE, OOZE_SHAPE_CYLINDER};
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "colliders");
  size_t room = json_object_size(object) + 1;
  s->colliders = calloc(room, sizeof *s->colliders);
  s->start.colliders = calloc(room, sizeof *s->start.colliders);
  if (!s->colliders || !s->start.colliders) return OZ_NO_MEMORY(r);
  size_t mark = oz_down(r, "colliders");
  const char *key;
  json_t *value;
  OZ_TRY_OK(oz_check_map(r, object, "{\"shape\": ...}"));
  json_object_foreach(object, key, value) {
    if (strcmp(key, "note") == 0 && !json_is_object(value)) continue;
    size_t inner = oz_down(r, key);
    uint32_t i = s->collider_count;
    oz_collider_item *item = &s->colliders[i];
    oz_collider_state *state = &s->start.colliders[i];
    ooze_collider_desc_default(&state->desc);
    item->name = oz_copy_text(key, strlen(key));
    if (!item->name) return OZ_NO_MEMORY(r);
    item->colour[0] = 0.62f, item->colour[1] = 0.64f, item->colour[2] = 0.67f;
    s->collider_count++;
    OZ_TRY_OK(oz_check_keys(r, "collider", value));
    OZ_TRY_OK(oz_get_fields(r, "collider", OZ_COLLIDER, i, value, collider_fields,
                            sizeof collider_fields / sizeof *collider_fields, state, &item->moves));
    OZ_TRY_OK(oz_both_turns(r, value, &state->posed));
    OZ_TRY_OK(oz_get_vector(r, "collider", value, "colour", item->colour));
    OZ_TRY_OK(oz_get_count(r, "collider", value, "hidden", &item->hidden));
    OZ_TRY_OK(oz_get_count(r, "collider", value, "shell", &item->shell));
    OZ_TRY_OK(oz_read_shape(r, "collider", value, &item->shape));
    memcpy(state->desc.half, item->shape.half, sizeof state->desc.half);
    if (item->shell &&
        (item->shape.kind != OZ_SHAPE_MESH || state->desc.boundary != OOZE_BOUNDARY_PARTICLES)) {
      oz_down(r, "shell");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                       "works with \"shape\": \"mesh\" and \"boundary\": \"particles\" alone");
    }
    if (item->shape.sequence && state->desc.boundary != OOZE_BOUNDARY_PARTICLES) {
      oz_down(r, "file");
      return oz_refuse(
          r, OOZE_ERROR_ARGUMENT,
          "a mesh for each frame, which may deform, works with \"boundary\": \"particles\" alone");
    }
    if (item->shape.kind <= OZ_SHAPE_CYLINDER) {
      state->desc.shape = shapes[item->shape.kind];
    } else {
      state->desc.shape = OOZE_SHAPE_SDF;
      if (!(state->desc.voxel > 0.0f)) state->desc.voxel = s->separation;
      if (state->desc.boundary == OOZE_BOUNDARY_PARTICLES && item->shape.kind != OZ_SHAPE_MESH &&
          item->shape.kind != OZ_SHAPE_REVOLVE) {
        oz_down(r, "boundary");
        return oz_refuse(r, OOZE_ERROR_ARGUMENT,
                         "this shape has no surface to put particles on; expected a mesh, a "
                         "revolve or a simple shape");
      }
      /* an open sheet has no inside; a distance would be that of one moment */
      if (item->shell || item->shape.sequence) {
        ooze_sdf_default(&item->sdf);
      } else {
        OZ_TRY_OK(make_sdf(r, item, state->desc.voxel));
        state->desc.voxel = item->sdf.voxel;
      }
    }
    oz_up(r, inner);
  }
  oz_up(r, mark);
  return OOZE_OK;
}

/* ---- Emitters ---------------------------------------------------------------------------- */

#define E(name, member, kind, animates) \
  { name, kind, offsetof(oz_emitter_state, member), animates }
static const oz_field emitter_fields[] = {
    E("layout", desc.layout, OZ_MENU, 0),
    E("active", desc.active, OZ_BOOL, 1),
    E("radius", desc.radius, OZ_F32, 1),
    E("speed", desc.speed, OZ_F32, 1),
    E("position", desc.start.position, OZ_VEC3, 1),
    E("rotation", desc.start.rotation, OZ_QUAT, 1),
    E("rotate", posed.rotate, OZ_ROTATE, 1),
    E("disturbance", desc.disturbance, OZ_F32, 1),
    E("seed", desc.seed, OZ_U32, 0),
    E("layers", desc.layers, OZ_U32, 0),
    E("max_particles", desc.max_particles, OZ_U64, 0),
};
#undef E

ooze_result oz_read_emitters(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "emitters");
  size_t room = json_object_size(object) + 1;
  s->emitters = calloc(room, sizeof *s->emitters);
  s->start.emitters = calloc(room, sizeof *s->start.emitters);
  if (!s->emitters || !s->start.emitters) return OZ_NO_MEMORY(r);
  size_t mark = oz_down(r, "emitters");
  const char *key;
  json_t *value;
  OZ_TRY_OK(oz_check_map(r, object, "{\"material\": ...}"));
  json_object_foreach(object, key, value) {
    if (strcmp(key, "note") == 0 && !json_is_object(value)) continue;
    size_t inner = oz_down(r, key);
    uint32_t i = s->emitter_count;
    oz_emitter_state *state = &s->start.emitters[i];
    ooze_emitter_desc_default(&state->desc);
    s->emitters[i].name = oz_copy_text(key, strlen(key));
    if (!s->emitters[i].name) return OZ_NO_MEMORY(r);
    s->emitter_count++;
    OZ_TRY_OK(oz_check_keys(r, "emitter", value));
    OZ_TRY_OK(oz_get_fields(r, "emitter", OZ_EMITTER, i, value, emitter_fields,
                            sizeof emitter_fields / sizeof *emitter_fields, state,
                            &s->emitters[i].moves));
    OZ_TRY_OK(oz_both_turns(r, value, &state->posed));
    uint32_t material = 0;
    OZ_TRY_OK(oz_find_material(r, value, &material));
    state->desc.material = material + 1; /* 0 is the solver's own */
    oz_up(r, inner);
  }
  oz_up(r, mark);
  return OOZE_OK;
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
  return OOZE_OK;
}

/* ---- Fluids ------------------------------------------------------------------------------ */

ooze_result oz_read_fluids(oz_reader *r) {
  ooze_scene *s = r->scene;
  json_t *object = json_object_get(s->doc, "fluids");
  s->fluids = calloc(json_object_size(object) + 1, sizeof *s->fluids);
  if (!s->fluids) return OZ_NO_MEMORY(r);
  size_t mark = oz_down(r, "fluids");
  const char *key;
  json_t *value;
  OZ_TRY_OK(oz_check_map(r, object, "{\"shape\": ...}"));
  json_object_foreach(object, key, value) {
    if (strcmp(key, "note") == 0 && !json_is_object(value)) continue;
    size_t inner = oz_down(r, key);
    oz_fluid *f = &s->fluids[s->fluid_count];
    f->name = oz_copy_text(key, strlen(key));
    if (!f->name) return OZ_NO_MEMORY(r);
    f->limits = &s->limits;
    s->fluid_count++;
    ooze_pose_default(&f->pose);
    OZ_TRY_OK(oz_check_keys(r, "fluid", value));
    OZ_TRY_OK(oz_find_material(r, value, &f->material));
    OZ_TRY_OK(oz_read_shape(r, "fluid", value, &f->shape));
    OZ_TRY_OK(oz_read_still_pose(r, "fluid", value, &f->pose));
    OZ_TRY_OK(oz_get_vector(r, "fluid", value, "velocity", f->velocity));
    OZ_TRY_OK(oz_get_float(r, "fluid", value, "jitter", &f->jitter));
    OZ_TRY_OK(oz_get_count(r, "fluid", value, "keep_state", &f->keep_state));
    OZ_TRY_OK(oz_read_copies(r, "fluid", value, f));
    if (f->keep_state && f->shape.kind != OZ_SHAPE_POINTS) {
      oz_down(r, "keep_state");
      return oz_refuse(r, OOZE_ERROR_ARGUMENT, "works with \"shape\": \"points\" alone");
    }
    oz_up(r, inner);
  }
  oz_up(r, mark);
  if (!s->fluid_count && !s->emitter_count && !s->body_count) {
    oz_down(r, "fluids");
    return oz_refuse(r, OOZE_ERROR_NOT_FOUND,
                     "the scene has neither fluids nor emitters; expected at least one");
  }
  return OOZE_OK;
}

/* ---- Picture ----------------------------------------------------------------------------- */

ooze_result oz_read_picture(oz_reader *r) {
  ooze_scene *s = r->scene;
  oz_picture *p = &s->picture;
  json_t *object = json_object_get(s->doc, "picture");
  p->width = 960;
  p->height = 540;
  p->samples = 4;
  p->smoothing = 1;
  p->azimuth = 25.0f;
  p->elevation = 14.0f;
  p->zoom = 1.0f;
  p->field_of_view = 32.0f;
  if (!object) return OOZE_OK;
  size_t mark = oz_down(r, "picture");
  OZ_TRY_OK(oz_check_keys(r, "picture", object));
  double list[6];
  uint32_t has;
  OZ_TRY_OK(oz_get_list(r, "picture", object, "size", 2, list, &has));
  if (has) p->width = (uint32_t)list[0], p->height = (uint32_t)list[1];
  OZ_TRY_OK(oz_get_count(r, "picture", object, "style", &p->style));
  OZ_TRY_OK(oz_get_count(r, "picture", object, "colour_by", &p->colour_by));
  OZ_TRY_OK(oz_get_list(r, "picture", object, "range", 2, list, &has));
  if (has) p->range[0] = (float)list[0], p->range[1] = (float)list[1];
  OZ_TRY_OK(oz_get_count(r, "picture", object, "samples", &p->samples));
  OZ_TRY_OK(oz_get_count(r, "picture", object, "surface_method", &p->surface_method));
  OZ_TRY_OK(oz_get_count(r, "picture", object, "smoothing", &p->smoothing));
  OZ_TRY_OK(oz_get_float(r, "picture", object, "azimuth", &p->azimuth));
  OZ_TRY_OK(oz_get_float(r, "picture", object, "elevation", &p->elevation));
  OZ_TRY_OK(oz_get_float(r, "picture", object, "zoom", &p->zoom));
  OZ_TRY_OK(oz_get_vector(r, "picture", object, "eye", p->eye));
  OZ_TRY_OK(oz_get_vector(r, "picture", object, "target", p->target));
  p->has_eye = json_object_get(object, "eye") != NULL;
  p->has_target = json_object_get(object, "target") != NULL;
  OZ_TRY_OK(oz_get_float(r, "picture", object, "field_of_view", &p->field_of_view));
  OZ_TRY_OK(oz_get_list(r, "picture", object, "bounds", 6, list, &has));
  for (int i = 0; has && i < 6; i++) p->bounds[i] = (float)list[i];
  OZ_TRY_OK(oz_get_text(r, "picture", object, "caption", &p->caption));
  if (p->has_eye != p->has_target) {
    oz_down(r, p->has_eye ? "eye" : "target");
    return oz_refuse(r, OOZE_ERROR_ARGUMENT, "stands alone; expected eye and target together");
  }
  oz_up(r, mark);
  return OOZE_OK;
}
