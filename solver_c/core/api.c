/* Creating and destroying solvers; the small calls. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "core/links.h"
#include "core/particles.h"
#include "base/schema.h"
#include "models/models.h"

/* The description and, within it, the hooks: each is as long as it says. */
static ooze_result read_desc(ooze_solver_desc *in, const ooze_solver_desc *desc,
                             ooze_message *why) {
  ooze_solver_desc_default(in);
  OZ_TRY(oz_struct_read(in, desc, sizeof *in, "solver", why));
  ooze_hooks hooks;
  ooze_hooks_default(&hooks);
  OZ_TRY(oz_struct_read(&hooks, &in->hooks, sizeof hooks, "solver: hooks", why));
  in->hooks = hooks;
  if (!hooks.allocate != !hooks.release)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "solver: hooks has one of allocate and release; expected both or none");
  OZ_TRY(oz_schema_check(OZ_OWNER_solver_desc, in, "solver", why));
  if (in->threads > 4096)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "solver: threads is %u; expected 0 to 4096",
                   (unsigned)in->threads);
  if (in->max_particles == 0 || in->max_particles > (1u << 30))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "solver: max_particles is %u; expected 1 to %u",
                   (unsigned)in->max_particles, 1u << 30);
  return OOZE_OK;
}

ooze_result ooze_solver_create(const ooze_solver_desc *desc, ooze_solver **out, ooze_message *why) {
  ooze_solver_desc in;
  oz_memory memory;
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "solver: out is NULL");
  *out = NULL;
  OZ_TRY(read_desc(&in, desc, why));
  oz_memory_init(&memory, &in.hooks);
  ooze_solver *s = oz_alloc(&memory, sizeof *s);
  if (!s)
    return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory: %zu bytes for a solver", sizeof *s);
  s->memory = memory;
  s->message = &s->message_store;
  s->separation = in.particle_separation;
  s->max_particles = in.max_particles;
  s->threads = in.threads;
  ooze_params_default(&s->params);
  s->explained_speed = OZ_SPEED_UNKNOWN;
  oz_colliders_init(&s->colliders, &s->memory);
  oz_emitters_init(&s->emitters, &s->memory, s->separation);
  oz_bodies_init(&s->bodies, &s->memory);
  oz_boundary_init(&s->boundary, &s->memory);

  oz_frame constants;
  memset(&constants, 0, sizeof constants);
  oz_frame_constants(&constants, &s->params, s->separation, 1e-3f, 0.0);
  s->volume = constants.Vm;

  ooze_material material;
  ooze_material_default(&material);
  ooze_result r = ooze_material_add(s, &material, NULL);
  if (r >= 0)
    r = oz_registry_create(&in, &s->memory, &s->backend, &s->backend_kind, &s->isa, s->message);
  if (r < 0) {
    if (why) *why = *s->message;
    ooze_solver_destroy(s);
    return r;
  }
  s->message->text[0] = 0;
  *out = s;
  return OOZE_OK;
}

void ooze_solver_destroy(ooze_solver *s) {
  if (!s) return;
  if (s->stepping) { /* the step goes on with it when the hook returns */
    const ooze_hooks *hooks = &s->memory.hooks;
    if (hooks->log)
      hooks->log(hooks->user, OOZE_LOG_ERROR,
                 "destroy: called from a hook of a step; expected it after the step. The solver "
                 "stays");
    return;
  }
  if (s->backend) s->backend->table->destroy(s->backend);
  oz_colliders_destroy(&s->colliders);
  oz_emitters_destroy(&s->emitters);
  oz_bodies_destroy(&s->bodies);
  oz_boundary_destroy(&s->boundary);
  oz_births_release(&s->births, &s->memory);
  oz_links_release(s);
  oz_particles_release(s);
  oz_free(&s->memory, s->collider_frame);
  oz_free(&s->memory, s->nozzle_frame);
  oz_free(&s->memory, s->extremes);
  oz_free(&s->memory, s->columns);
  oz_free(&s->memory, s->materials);
  oz_memory memory = s->memory; /* it outlives the block that holds it */
  oz_free(&memory, s);
}

const char *ooze_solver_message(const ooze_solver *s) { return s ? s->message->text : ""; }
const char *ooze_solver_backend(const ooze_solver *s) {
  return s ? s->backend->table->describe(s->backend) : "";
}
float ooze_solver_separation(const ooze_solver *s) { return s ? s->separation : 0; }

/* ---- colliders ---- */

ooze_result ooze_collider_add(ooze_solver *s, const ooze_collider_desc *desc, ooze_collider *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_collider_desc, in, desc, "collider", s->message);
  uint32_t handle = 0;
  OZ_TRY(oz_colliders_add(&s->colliders, &in, &handle, s->message));
  if (out) *out = handle;
  return OOZE_OK;
}

ooze_result ooze_collider_set(ooze_solver *s, ooze_collider collider,
                              const ooze_collider_desc *desc) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_collider_desc, in, desc, "collider", s->message);
  OZ_TRY(oz_colliders_set(&s->colliders, collider, &in, s->message));
  oz_boundary_forget(&s->boundary, collider, 0); /* sampled anew */
  s->boundary.fresh = 0;
  return OOZE_OK;
}

ooze_result ooze_collider_get(const ooze_solver *s, ooze_collider collider,
                              ooze_collider_desc *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_collider_desc desc;
  OZ_TRY(oz_colliders_get(&s->colliders, collider, &desc, s->message));
  return oz_struct_write(out, &desc, sizeof desc, "collider", s->message);
}

ooze_result ooze_collider_move(ooze_solver *s, ooze_collider collider, const ooze_pose *start,
                               const ooze_pose *end) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!start || !end)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "collider: start or end is NULL");
  return oz_colliders_move(&s->colliders, collider, start, end, s->message);
}

ooze_result ooze_collider_remove(ooze_solver *s, ooze_collider collider) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  return oz_colliders_remove(&s->colliders, collider, s->message);
}

ooze_result ooze_collider_load(const ooze_solver *s, ooze_collider collider, float force[3],
                               float torque[3]) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (s->no_loads)
    return oz_fail(
        s->message, OOZE_ERROR_UNSUPPORTED,
        "collider %u: loads are not added up; expected ooze_collider_loads(s, 1) before the step",
        (unsigned)collider);
  return oz_colliders_load(&s->colliders, collider, force, torque, s->message);
}

ooze_result ooze_collider_loads(ooze_solver *s, uint32_t on) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (on > 1)
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT, "collider loads: on is %u; expected 0 or 1",
                   (unsigned)on);
  s->no_loads = !on;
  return OOZE_OK;
}

ooze_result ooze_collider_friction_map(ooze_solver *s, ooze_collider collider, float spacing,
                                       uint32_t count, const float *positions,
                                       const float *friction, const float *stick) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  const unsigned who = (unsigned)collider;
  if (count && (!positions || !(friction || stick)))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "collider %u: %s; expected places and what they are like", who,
                   positions ? "friction and stick are NULL" : "its places are NULL");
  if (count > OZ_FRICTION_MAP_POINTS_MAX)
    return oz_fail(s->message, OOZE_ERROR_LIMIT,
                   "collider %u: friction at %u places; expected at most %u", who, (unsigned)count,
                   OZ_FRICTION_MAP_POINTS_MAX);
  if (count && !(spacing > 0.0f && spacing <= 1e6f))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "collider %u: places are %g m apart; expected more than 0", who,
                   (double)spacing);
  for (uint32_t i = 0; i < count; i++) {
    for (int k = 0; k < 3; k++)
      if (!(fabsf(positions[3 * (size_t)i + (size_t)k]) <= fminf(1e6f, 4e6f * spacing)))
        return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                       "collider %u: place %u is not finite, or too far out for %g m", who,
                       (unsigned)i, (double)spacing);
    if (friction && !(friction[i] >= 0.0f && friction[i] <= 1.0f))
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                     "collider %u: friction of place %u is %g; expected 0 to 1", who, (unsigned)i,
                     (double)friction[i]);
    if (stick && !(stick[i] >= 0.0f && stick[i] <= 1e6f))
      return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                     "collider %u: stick of place %u is %g m/s^2; expected 0 to 1e6", who,
                     (unsigned)i, (double)stick[i]);
  }
  OZ_TRY(oz_colliders_friction_map(&s->colliders, collider, (double)spacing, count, positions,
                                   friction, stick, s->message));
  s->boundary.fresh = 0; /* its points, if it has any, have it too */
  return OOZE_OK;
}

/* ---- emitters ---- */

ooze_result ooze_emitter_add(ooze_solver *s, const ooze_emitter_desc *desc, ooze_emitter *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_emitter_desc, in, desc, "emitter", s->message);
  uint32_t handle = 0;
  OZ_TRY(oz_emitters_add(&s->emitters, &in, s->material_count, &handle, s->message));
  if (out) *out = handle;
  return OOZE_OK;
}

ooze_result ooze_emitter_set(ooze_solver *s, ooze_emitter emitter, const ooze_emitter_desc *desc) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_emitter_desc, in, desc, "emitter", s->message);
  return oz_emitters_set(&s->emitters, emitter, &in, s->material_count, s->message);
}

ooze_result ooze_emitter_get(const ooze_solver *s, ooze_emitter emitter, ooze_emitter_desc *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  ooze_emitter_desc desc;
  OZ_TRY(oz_emitters_get(&s->emitters, emitter, &desc, s->message));
  return oz_struct_write(out, &desc, sizeof desc, "emitter", s->message);
}

ooze_result ooze_emitter_remove(ooze_solver *s, ooze_emitter emitter) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  return oz_emitters_remove(&s->emitters, emitter, s->message);
}

ooze_result ooze_emitter_put(ooze_solver *s, ooze_emitter emitter, const ooze_emitter_desc *desc) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_emitter_desc, in, desc, "emitter", s->message);
  return oz_emitters_put(&s->emitters, emitter, &in, s->material_count, s->message);
}

/* ---- time ---- */

double ooze_time(const ooze_solver *s) { return s ? s->time : 0; }

ooze_result ooze_time_set(ooze_solver *s, double time) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  if (!(fabs(time) <= 1e9))
    return oz_fail(s->message, OOZE_ERROR_ARGUMENT,
                   "time: %g s; expected a finite number of at most 1e9", time);
  /* the amount that emitters have poured so far is kept */
  for (uint32_t i = 0; i < s->emitters.count; ++i) s->emitters.slot[i].base_time += time - s->time;
  s->time = time;
  return OOZE_OK;
}
