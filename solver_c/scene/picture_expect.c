/* The camera of a run's pictures, from the scene alone: later frames are not known yet, and a run
 * that was stopped and resumed must draw the same. SPDX-License-Identifier: Apache-2.0 */
#include "scene_internal.h"

#include <math.h>
#include <stdlib.h>

enum { TIMES = 17, CORNERS = 8 }; /* frames that are looked at; corners of a box */

/* Places where fluid is, comes or falls to, and the volume of all (m^3). */
typedef struct places {
  float (*x)[3];
  size_t count, room;
  double volume;
  int failed; /* out of memory */
} places;

static void add(places *p, const double x[3]) {
  if (!oz_list_room((void **)&p->x, &p->room, p->count, sizeof *p->x, 64)) {
    p->failed = 1;
    return;
  }
  for (int k = 0; k < 3; k++) p->x[p->count][k] = (float)x[k];
  p->count++;
}

/* The corners of a shape's box, of the first and the last copies. */
static void add_shape(places *p, const oz_fluid *f) {
  double low[3], high[3], volume = 1.0;
  if (!oz_shape_bounds(&f->shape, low, high)) return;
  for (int k = 0; k < 3; k++) volume *= (high[k] - low[k]) * f->count[k];
  p->volume += volume;
  for (uint32_t c = 0; c < CORNERS * CORNERS; c++) {
    uint32_t at[3];
    double local[3], x[3];
    ooze_pose pose;
    for (uint32_t k = 0; k < 3; k++) {
      at[k] = c >> k & 1u ? f->count[k] - 1 : 0;
      local[k] = c >> (k + 3) & 1u ? high[k] : low[k];
    }
    oz_fluid_copy(f, at, 0, &pose);
    oz_pose_apply(&pose, local, x);
    add(p, x);
  }
}

/* The sides of a mouth, and the volume that it lets out in `duration` seconds. */
static void add_mouth(places *p, const ooze_emitter_desc *e, double duration) {
  const double r = (double)e->radius,
               flow = e->rate > 0.0f ? (double)e->rate : ooze_emitter_area(e) * (double)e->speed;
  if (e->active) p->volume += flow * duration;
  for (int side = 0; side < 4; side++) {
    const double local[3] = {side < 2 ? (side ? r : -r) : 0.0, 0.0,
                             side < 2 ? 0.0 : (side == 2 ? r : -r)};
    double x[3];
    oz_pose_apply(&e->start, local, x);
    add(p, x);
  }
}

/* How far (m) along the unit vector `down` the first plane is; below 0: there is none. */
static double way_down(const ooze_scene *s, const oz_state *state, const float x[3],
                       const double down[3]) {
  double nearest = -1.0;
  for (uint32_t i = 0; i < s->collider_count; i++) {
    const ooze_collider_desc *c = &state->colliders[i].desc;
    const double up[3] = {0.0, 1.0, 0.0};
    double tip[3], high = 0.0, steep = 0.0;
    if (c->shape != OOZE_SHAPE_PLANE || c->role != OOZE_ROLE_COLLIDE) continue;
    oz_pose_apply(&c->start, up, tip);
    for (int k = 0; k < 3; k++) {
      const double o = (double)c->start.position[k], n = tip[k] - o;
      high += n * ((double)x[k] - o);
      steep -= n * down[k];
    }
    /* steeper than 60 degrees it is a wall, along which fluid goes on */
    if (high > 0.0 && steep > 0.5 && (nearest < 0.0 || high / steep < nearest))
      nearest = high / steep;
  }
  return nearest;
}

/* Planes below these places, on which fluid spreads about as far as it is high in a heap. */
static void add_floor(places *p, const ooze_scene *s, const oz_state *state) {
  const float *g = state->params.gravity;
  const size_t count = p->count;
  const double wide = 0.6 * cbrt(p->volume);
  double down[3], size = 0.0;
  for (int k = 0; k < 3; k++) size += (double)g[k] * (double)g[k];
  if (!(size > 0.0)) return;
  for (int k = 0; k < 3; k++) down[k] = (double)g[k] / sqrt(size);
  for (size_t i = 0; i < count && !p->failed; i++) {
    const double way = way_down(s, state, p->x[i], down);
    if (way < 0.0) continue;
    for (int side = 0; side < 4; side++) {
      const int a = fabs(down[0]) > 0.7 ? 1 : 0, b = fabs(down[2]) > 0.7 ? 1 : 2; /* across */
      double x[3];
      for (int k = 0; k < 3; k++) x[k] = (double)p->x[i][k] + way * down[k];
      x[side < 2 ? a : b] += side % 2 ? wide : -wide;
      add(p, x);
    }
  }
}

static ooze_result find_places(const ooze_scene *s, places *p, ooze_message *why) {
  const int32_t first = s->output.first, last = s->output.last;
  oz_state state;
  OZ_TRY_OK(oz_state_copy(s, &state, why));
  for (uint32_t i = 0; i < s->fluid_count; i++) add_shape(p, &s->fluids[i]);
  for (uint32_t i = 0; i < s->body_count; i++) add_shape(p, &s->bodies[i].fill);
  for (int t = 0; t < TIMES; t++) {
    const double frame = first + (double)(last - first) * t / (TIMES - 1),
                 time = oz_frame_time(s, frame), each = oz_frame_time(s, last) / (TIMES - 1);
    oz_state_at(s, time, &state);
    for (uint32_t i = 0; i < s->emitter_count; i++) {
      const ooze_emitter_desc *e = &state.emitters[i].desc;
      const int ended = e->until > 0.0f && time >= (double)e->until;
      add_mouth(p, e, ended || time < (double)e->from || t == TIMES - 1 ? 0.0 : each);
    }
  }
  oz_state_at(s, 0.0, &state);
  add_floor(p, s, &state);
  oz_state_release(&state);
  return p->failed ? oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", s->file) : OOZE_OK;
}

ooze_result ooze_scene_picture_expect(const ooze_scene *s, ooze_picture_options *fit,
                                      ooze_message *why) {
  places p;
  ooze_points *points = NULL;
  void *positions = NULL;
  if (!s || !fit || fit->size != sizeof *fit)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no scene or options given");
  memset(&p, 0, sizeof p);
  ooze_picture_options expected = *fit;
  expected.colour_by = "material"; /* the places have no values */
  memset(expected.range, 0, sizeof expected.range);
  ooze_result result = find_places(s, &p, why);
  if (result >= 0) result = ooze_points_create(p.count, &points, why);
  if (result >= 0)
    result = ooze_points_add(points, "P", OOZE_FLOAT32, 3, OOZE_MEANING_POINT, &positions, why);
  if (result >= 0 && p.count) memcpy(positions, p.x, p.count * sizeof *p.x);
  for (int t = 0; t < TIMES && result >= 0 && p.count; t++)
    result = ooze_scene_picture_fit(
        s, s->output.first + (double)(s->output.last - s->output.first) * t / (TIMES - 1), points,
        &expected, why);
  if (result >= 0) {
    memcpy(fit->fit_bounds, expected.fit_bounds, sizeof fit->fit_bounds);
    fit->fit_size = expected.fit_size;
  }
  ooze_points_destroy(points);
  free(p.x);
  return result < 0 ? result : OOZE_OK;
}
