/* Bodies within a substep of any model: the stages of physics/body.h in their order. Without bodies
 * none runs. SPDX-License-Identifier: Apache-2.0 */
#include "models/common.h"

/* After sorting: index of each body's particles. */
ooze_result oz_bodies_find(oz_backend *b, const oz_frame *f, ooze_message *why) {
  if (!f->body_count) return OOZE_OK;
  RUN(body_clear);
  RUN(body_find);
  return OOZE_OK;
}

/* After masses: held particles of driven bodies have infinite mass and their keyframes' velocity.
 */
ooze_result oz_bodies_hold(const oz_step *s, oz_backend *b, const oz_frame *f, ooze_message *why) {
  if (f->body_count && s->has_driven) RUN(body_hold);
  return OOZE_OK;
}

/* After predicted velocities: viscous fluid is dragged along by driven bodies. */
ooze_result oz_bodies_cling(const oz_step *s, oz_backend *b, const oz_frame *frame,
                            ooze_message *why) {
  if (!frame->body_count || !s->has_driven || !s->has_cling || !frame->projects_velocity)
    return OOZE_OK;
  oz_frame copy = *frame, *f = &copy;
  f->body_clings = 1;
  RUN(body_cling);
  return OOZE_OK;
}

/* After masses and predicted velocities: pose and inertia. */
ooze_result oz_bodies_start(oz_backend *b, const oz_frame *f, ooze_message *why) {
  if (f->body_count) RUN(body_start);
  return OOZE_OK;
}

static ooze_result run_both(oz_backend *b, const oz_frame *f, oz_stage first, oz_stage second,
                            ooze_message *why) {
  if (!f->body_count) return OOZE_OK;
  OZ_TRY(b->table->run(b, f, first, NULL, why));
  return b->table->run(b, f, second, NULL, why);
}

/* dx of the velocity solve projected onto rigid motions. */
ooze_result oz_bodies_filter(oz_backend *b, const oz_frame *f, ooze_message *why) {
  return run_both(b, f, OZ_STAGE_body_push, OZ_STAGE_body_carry, why);
}

/* After `advance`: poses from velocities, with the rotation of a rigid body instead of straight
 * lines. */
ooze_result oz_bodies_drive(oz_backend *b, const oz_frame *f, ooze_message *why) {
  return run_both(b, f, OZ_STAGE_body_drive, OZ_STAGE_body_place, why);
}

/* At the end of position iteration k: back into shape, then out of walls and other bodies. */
ooze_result oz_bodies_project(const oz_step *s, oz_backend *b, const oz_frame *frame, uint32_t k,
                              ooze_message *why) {
  if (!frame->body_count) return OOZE_OK;
  oz_frame copy = *frame, *f = &copy;
  RUN(body_match);
  RUN(body_place);
  f->first_iteration = k == 0;
  /* Viscosity acts once on the whole displacement. */
  f->body_clings =
      s->has_cling && f->is_conformation && f->projects_velocity && k + 1 == s->position_iterations;
  f->body_sticks = s->has_stick || f->body_clings;
  if (f->body_sticks && s->has_soft) {
    f->body_sticks = OZ_BODY_WEIGHS;
    RUN(body_stick);
    f->body_sticks = 1;
    RUN(body_coat);
  }
  if (f->body_sticks) RUN(body_stick);
  /* the first pass only counts the contacts */
  for (int pass = k == 0 ? 0 : 1; pass < 2; pass++) {
    f->first_iteration = pass == 0;
    RUN(body_touch);
    if (f->wall_count) RUN(body_wall);
    RUN(body_shift);
  }
  RUN(soft_shift);
  RUN(body_place);
  return OOZE_OK;
}

/* After `finish`: velocities from the motion of the substep. */
ooze_result oz_bodies_finish(oz_backend *b, const oz_frame *f, ooze_message *why) {
  return run_both(b, f, OZ_STAGE_body_end, OZ_STAGE_body_speed, why);
}
