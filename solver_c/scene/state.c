/* A scene's values at a time: keyframes and poses. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>
#include <stdlib.h>

double oz_frame_time(const ooze_scene *scene, double frame) {
  return (frame - scene->output.first) / scene->output.fps;
}

/* ---- States ------------------------------------------------------------------------------ */

void oz_state_release(oz_state *state) {
  free(state->materials);
  free(state->colliders);
  free(state->emitters);
  free(state->bodies);
  state->bodies = NULL;
  state->materials = NULL;
  state->colliders = NULL;
  state->emitters = NULL;
}

ooze_result oz_state_copy(const ooze_scene *s, oz_state *out, ooze_message *why) {
  out->params = s->start.params;
  out->materials = malloc((s->material_count + 1) * sizeof *out->materials);
  out->colliders = malloc((s->collider_count + 1) * sizeof *out->colliders);
  out->emitters = malloc((s->emitter_count + 1) * sizeof *out->emitters);
  out->bodies = malloc((s->body_count + 1) * sizeof *out->bodies);
  if (!out->materials || !out->colliders || !out->emitters || !out->bodies) {
    oz_state_release(out);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  }
  memcpy(out->materials, s->start.materials, s->material_count * sizeof *out->materials);
  memcpy(out->colliders, s->start.colliders, s->collider_count * sizeof *out->colliders);
  memcpy(out->emitters, s->start.emitters, s->emitter_count * sizeof *out->emitters);
  memcpy(out->bodies, s->start.bodies, s->body_count * sizeof *out->bodies);
  return OOZE_OK;
}

static void value_at(const oz_channel *c, double time, double out[4]) {
  uint32_t i = 0;
  /* A frame's time is computed, so that a key on the frame may stand a rounding error after it. */
  double late = time + 1e-9 * (1.0 + fabs(time));
  while (i + 1 < c->count && c->times[i + 1] <= late) i++;
  memcpy(out, c->values[i], 4 * sizeof *out);
  if (i + 1 >= c->count || time <= c->times[i] || c->interpolation == 1) return;
  const double *a = c->values[i], *b = c->values[i + 1];
  double f = (time - c->times[i]) / (c->times[i + 1] - c->times[i]), side = 1.0;
  if (c->interpolation == 2) f = f * f * (3.0 - 2.0 * f);
  if (c->kind == OZ_QUAT && a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0)
    side = -1.0;
  for (int k = 0; k < 4; k++) out[k] = a[k] + f * (side * b[k] - a[k]);
}

void oz_store(oz_kind kind, const double v[4], void *at) {
  float f[4] = {(float)v[0], (float)v[1], (float)v[2], (float)v[3]};
  switch (kind) {
  case OZ_F32:
    memcpy(at, f, sizeof f[0]);
    break;
  case OZ_VEC3:
  case OZ_ROTATE:
    memcpy(at, f, 3 * sizeof f[0]);
    break;
  case OZ_QUAT:
    memcpy(at, f, 4 * sizeof f[0]);
    break;
  case OZ_U32:
  case OZ_BOOL:
  case OZ_MENU: {
    uint32_t whole = (uint32_t)v[0];
    memcpy(at, &whole, sizeof whole);
    break;
  }
  case OZ_U64: {
    uint64_t whole = (uint64_t)v[0];
    memcpy(at, &whole, sizeof whole);
    break;
  }
  }
}

void oz_state_at(const ooze_scene *s, double time, oz_state *state) {
  for (uint32_t i = 0; i < s->channel_count; i++) {
    const oz_channel *c = &s->channels[i];
    char *base = c->group == OZ_SOLVER     ? (char *)&state->params
                 : c->group == OZ_MATERIAL ? (char *)&state->materials[c->index]
                 : c->group == OZ_COLLIDER ? (char *)&state->colliders[c->index]
                 : c->group == OZ_EMITTER  ? (char *)&state->emitters[c->index]
                                           : (char *)&state->bodies[c->index];
    double v[4];
    value_at(c, time, v);
    oz_store(c->kind, v, base + c->offset);
  }
  for (uint32_t i = 0; i < s->collider_count; i++)
    if (state->colliders[i].posed.uses_rotate)
      oz_pose_rotate(state->colliders[i].posed.rotate, state->colliders[i].desc.start.rotation);
  for (uint32_t i = 0; i < s->emitter_count; i++)
    if (state->emitters[i].posed.uses_rotate)
      oz_pose_rotate(state->emitters[i].posed.rotate, state->emitters[i].desc.start.rotation);
  for (uint32_t i = 0; i < s->body_count; i++)
    if (state->bodies[i].posed.uses_rotate)
      oz_pose_rotate(state->bodies[i].posed.rotate, state->bodies[i].desc.pose.rotation);
}

void oz_state_assign(const ooze_scene *scene, oz_state *to, const oz_state *from) {
  to->params = from->params;
  memcpy(to->materials, from->materials, scene->material_count * sizeof *to->materials);
  memcpy(to->colliders, from->colliders, scene->collider_count * sizeof *to->colliders);
  memcpy(to->emitters, from->emitters, scene->emitter_count * sizeof *to->emitters);
  memcpy(to->bodies, from->bodies, scene->body_count * sizeof *to->bodies);
}

/* ---- The solver's time ------------------------------------------------------------------- */

/* s: time_scale holds for a frame from its beginning; the last one's goes on. */
double oz_simulated_time(const ooze_scene *s, double time) {
  const oz_channel *keys = NULL;
  for (uint32_t i = 0; i < s->channel_count; i++) {
    const oz_channel *c = &s->channels[i];
    if (c->group == OZ_SOLVER && c->offset == offsetof(ooze_params, time_scale)) keys = c;
  }
  double simulated = 0.0, begin = 0.0, scale = (double)s->start.params.time_scale;
  for (int32_t f = s->output.first; keys && f < s->output.last; f++) {
    const double end = oz_frame_time(s, f + 1);
    double v[4];
    value_at(keys, begin, v);
    scale = v[0];
    if (end > time) break;
    simulated += scale / s->output.fps;
    begin = end;
  }
  return simulated + scale * (time - begin);
}
