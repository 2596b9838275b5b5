/* The cost of a scene: particles, bytes, seconds. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include "base/step_counts.h"

#include <stdlib.h>

typedef struct counting {
  const ooze_scene *scene;
  uint64_t count;
} counting;

static ooze_result count_body(void *user, const oz_body_item *body, const ooze_body_desc *desc,
                              ooze_message *why) {
  counting *c = user;
  (void)body, (void)why;
  c->count += desc->count;
  return OOZE_OK;
}

static ooze_result count_cloud(void *user, uint32_t fluid, const oz_cloud *cloud,
                               ooze_message *why) {
  counting *c = user;
  c->count += cloud->count;
  if (c->scene->fluids[fluid].keep_state) {
    ooze_points *points = NULL;
    OZ_TRY_OK(
        ooze_points_read(c->scene->fluids[fluid].shape.file, &c->scene->limits, &points, why));
    c->count += ooze_points_count(points);
    ooze_points_destroy(points);
  }
  return OOZE_OK;
}

/* s: how long an emitter pours between two times of the solver. */
static double pouring(const ooze_emitter_desc *em, double begin, double end) {
  const double from = (double)em->from, until = (double)em->until;
  if (!em->active) return 0.0;
  if (from > begin) begin = from;
  if (until > 0.0 && until < end) end = until;
  return end > begin ? end - begin : 0.0;
}

ooze_result ooze_scene_estimate_get(const ooze_scene *s, ooze_scene_estimate *out,
                                    ooze_message *why) {
  if (!s || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene given");
  ooze_scene_estimate e;
  oz_cost each;
  ooze_scene_estimate_default(&e);
  counting c = {s, 0};
  OZ_TRY_OK(oz_scene_fill_all(s, 1u << 30, NULL, count_body, count_cloud, &c, why));
  OZ_TRY_OK(oz_scene_cost(s, &each, why));
  e.filled = c.count;
  oz_state state;
  OZ_TRY_OK(oz_state_copy(s, &state, why));
  double emitted = 0.0, d = (double)s->separation, steps = 0.0, work = 0.0, time = 0.0;
  /* of each emitter: max_particles ends it */
  double *each_emitted = calloc(s->emitter_count + 1, sizeof *each_emitted);
  if (!each_emitted) {
    oz_state_release(&state);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file);
  }
  for (int32_t f = s->output.first; f < s->output.last; f++) {
    oz_state_at(s, oz_frame_time(s, f), &state);
    const double duration = (double)state.params.time_scale / s->output.fps;
    const uint32_t substeps = oz_substeps_least(&state.params, duration);
    steps += substeps;
    for (uint32_t i = 0; i < s->emitter_count; i++) {
      const ooze_emitter_desc *em = &state.emitters[i].desc;
      const double flow =
          em->rate > 0.0f ? (double)em->rate : ooze_emitter_area(em) * (double)em->speed;
      const double more = flow * pouring(em, time, time + duration) / (d * d * d),
                   room = em->max_particles ? (double)em->max_particles - each_emitted[i] : more;
      if (more <= 0.0 || room <= 0.0) continue;
      each_emitted[i] += more < room ? more : room;
      emitted += more < room ? more : room;
    }
    work += substeps * ((double)c.count + emitted);
    time += duration;
  }
  free(each_emitted);
  oz_state_release(&state);
  e.emitted = (uint64_t)emitted;
  e.steps = (uint64_t)steps;
  e.bytes_per_particle = (uint64_t)each.bytes;
  e.bytes = (uint64_t)((double)(e.filled + e.emitted) * oz_cost_bytes(&each));
  e.seconds = work * each.seconds;
  return oz_struct_out(out, &e, sizeof e);
}
