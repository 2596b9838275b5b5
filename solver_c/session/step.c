/* One frame of a scene in a host's solver. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>

/* The part of a run that a step needs. The values of the frame before are those that the solver
 * has. */
static ooze_result prepare(oz_session *s, const ooze_scene *scene) {
  s->colliders = calloc(scene->collider_count + (size_t)1, sizeof *s->colliders);
  s->emitters = calloc(scene->emitter_count + (size_t)1, sizeof *s->emitters);
  if (!s->colliders || !s->emitters)
    return oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: out of memory", scene->file);
  /* handles of a solver count from 1, in the order in which the scene's parts were added */
  for (uint32_t i = 0; i < scene->collider_count; i++) s->colliders[i] = i + 1;
  for (uint32_t i = 0; i < scene->emitter_count; i++) s->emitters[i] = i + 1;
  OZ_TRY_OK(oz_state_copy(scene, &s->sent, s->why));
  OZ_TRY_OK(oz_state_copy(scene, &s->want, s->why));
  OZ_TRY_OK(oz_state_copy(scene, &s->next, s->why));
  if (s->frame > scene->output.first)
    oz_state_at(scene, oz_frame_time(scene, s->frame - 1), &s->sent);
  s->sent_is_known = 1;
  return oz_session_find_paint(s);
}

static ooze_result step(oz_session *s, const ooze_scene *scene) {
  const double duration = 1.0 / scene->output.fps;
  OZ_TRY_OK(prepare(s, scene));
  OZ_TRY_OK(oz_session_apply(s));
  OZ_TRY_OK(
      oz_scene_emit(scene, oz_frame_time(scene, s->frame), duration, s->solver, NULL, s->why));
  const ooze_result result = ooze_step(s->solver, duration);
  if (result < 0)
    return oz_fail(s->why, result, "%s: frame %d: %s", scene->file, s->stepping,
                   ooze_solver_message(s->solver));
  return result;
}

ooze_result ooze_scene_step(const ooze_scene *scene, ooze_solver *solver, int32_t frame,
                            ooze_message *why) {
  oz_session s;
  ooze_message unread = {""};
  if (!scene || !solver)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_scene_step: a pointer is NULL");
  if (frame <= scene->output.first)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "%s: frame %d is not stepped to; the scene begins with frame %d", scene->file,
                   frame, scene->output.first);
  memset(&s, 0, sizeof s);
  s.base = s.scene = scene;
  s.why = why ? why : &unread;
  s.solver = solver;
  s.frame = frame - 1;
  s.stepping = frame;
  const ooze_result result = step(&s, scene);
  oz_session_deform_release(&s);
  oz_session_paint_release(&s);
  oz_state_release(&s.sent);
  oz_state_release(&s.want);
  oz_state_release(&s.next);
  free(s.colliders);
  free(s.emitters);
  return result;
}
