/* Labels for shading: when and where particles came in (ooze_params.rest). No stage reads them, so
 * they stay on the host, by rank, and need no sorting; the state's hash leaves them out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/particles.h"

#include <math.h>

enum { BIRTH = 0, REST = 1, REST_2 = 4, FLOATS = 7 };

double ooze_rest_blend(double time, double rest_period) {
  if (!(rest_period > 0.0) || !(fabs(time) < 1e12)) return 0.0;
  const double phase = time / rest_period - floor(time / rest_period);
  return fabs(2.0 * phase - 1.0);
}

/* Copies of this row and those behind it, if there are any, are old from now on. */
static void changed(ooze_solver *s, uint32_t row) {
  oz_particles *p = &s->particles;
  if (row < p->labels_held) p->labels_edition++, p->labels_held = row;
}

/* Room for `count`; the first `kept` are right, the others 0. */
static ooze_result grow(ooze_solver *s, uint32_t count, uint32_t kept) {
  oz_particles *p = &s->particles;
  void *labels = p->labels;
  const size_t each = FLOATS * sizeof(float);
  const size_t room = p->labels_capacity;
  if (!labels) kept = 0;
  OZ_TRY(oz_host_reserve(s, &labels, &p->labels_capacity, (size_t)count * each, kept * each));
  p->labels = labels;
  /* new entries are zero */
  if (p->labels && count > kept && p->labels_capacity == room)
    memset(p->labels + FLOATS * (size_t)kept, 0, (count - kept) * each);
  return OOZE_OK;
}

ooze_result oz_labels_reserve(ooze_solver *s, uint32_t count) {
  return s->particles.labels || s->params.rest ? grow(s, count, s->particles.count) : OOZE_OK;
}

ooze_result oz_labels_room(ooze_solver *s, uint32_t count) {
  void *labels = s->particles.labels;
  const size_t each = FLOATS * sizeof(float);
  OZ_TRY(oz_host_reserve(s, &labels, &s->particles.labels_capacity, (size_t)count * each,
                         labels ? s->particles.count * each : 0));
  s->particles.labels = labels;
  return OOZE_OK;
}

void oz_labels_clear(ooze_solver *s) {
  oz_particles *p = &s->particles;
  changed(s, 0);
  /* a block without labels, into a solver that had some: it has none from now on */
  if (p->labels && p->labels_capacity < (size_t)p->count * FLOATS * sizeof(float)) {
    oz_free(&s->memory, p->labels);
    p->labels = NULL;
    p->labels_capacity = 0;
  }
  if (p->labels) memset(p->labels, 0, (size_t)p->count * FLOATS * sizeof(float));
}

void oz_labels_put(ooze_solver *s, const oz_arrivals *a, uint32_t i, uint32_t rank) {
  if (!s->particles.labels) return;
  float *to = s->particles.labels + FLOATS * (size_t)rank;
  const size_t stride = a->position_stride ? a->position_stride : 12;
  changed(s, rank);
  memset(to, 0, FLOATS * sizeof *to);
  if (!s->params.rest) return;
  to[BIRTH] = (float)s->time;
  const void *position = (const unsigned char *)a->positions + i * stride;
  memcpy(to + REST, position, 12);
  memcpy(to + REST_2, position, 12);
}

void oz_labels_move(ooze_solver *s, uint32_t to, uint32_t from) {
  float *labels = s->particles.labels;
  if (!labels || to == from) return;
  changed(s, to);
  memcpy(labels + FLOATS * (size_t)to, labels + FLOATS * (size_t)from, FLOATS * sizeof *labels);
}

/* Positions of now. */
static ooze_result set_here(ooze_solver *s, int rest, int rest_2) {
  oz_particles *p = &s->particles;
  const void *copy;
  if (p->count == 0) return OOZE_OK;
  OZ_TRY(oz_rank_map(s));
  OZ_TRY(oz_host_look(s, OZ_FIELD_X, &copy));
  changed(s, 0);
  for (uint32_t r = 0; r < p->count; ++r) {
    const float *x = (const float *)copy + 4 * (size_t)p->at[r];
    float *to = p->labels + FLOATS * (size_t)r;
    if (rest) memcpy(to + REST, x, 12);
    if (rest_2) memcpy(to + REST_2, x, 12);
  }
  return OOZE_OK;
}

ooze_result oz_labels_begin(ooze_solver *s) {
  const uint32_t n = s->particles.count;
  if (n == 0) return OOZE_OK;
  OZ_TRY(grow(s, n, n));
  OZ_TRY(set_here(s, 1, 1));
  for (uint32_t r = 0; r < n; ++r) s->particles.labels[FLOATS * (size_t)r + BIRTH] = (float)s->time;
  return OOZE_OK;
}

ooze_result oz_labels_renew(ooze_solver *s, double from, double to) {
  const double period = (double)s->params.rest_period, slack = 1e-6 * period;
  if (!s->params.rest || !(period > 0.0) || !s->particles.labels) return OOZE_OK;
  /* times that frames are meant to hit must not be missed by rounding */
  const int rest = floor((to + slack) / period) > floor((from + slack) / period);
  const int rest_2 = floor((to + slack) / period + 0.5) > floor((from + slack) / period + 0.5);
  return rest || rest_2 ? set_here(s, rest, rest_2) : OOZE_OK;
}

static size_t bytes_of(ooze_attribute attribute) {
  return (attribute == OOZE_BIRTH ? 1 : 3) * sizeof(float);
}

static size_t place_of(ooze_attribute attribute) {
  return attribute == OOZE_BIRTH ? BIRTH : attribute == OOZE_REST_1 ? REST : REST_2;
}

void oz_labels_read(const ooze_solver *s, ooze_attribute attribute, uint32_t first, uint32_t count,
                    size_t stride, void *out) {
  const size_t bytes = bytes_of(attribute);
  const float *from = s->particles.labels;
  for (uint32_t r = 0; r < count; ++r) {
    unsigned char *to = (unsigned char *)out + r * stride;
    if (from)
      memcpy(to, from + FLOATS * (size_t)(first + r) + place_of(attribute), bytes);
    else
      memset(to, 0, bytes);
  }
}

ooze_result oz_labels_write(ooze_solver *s, ooze_attribute attribute, uint32_t first,
                            uint32_t count, size_t stride, const void *in) {
  const size_t bytes = bytes_of(attribute);
  if (!s->particles.labels) OZ_TRY(grow(s, s->particles.count, 0));
  changed(s, first);
  for (uint32_t r = 0; r < count; ++r)
    memcpy(s->particles.labels + FLOATS * (size_t)(first + r) + place_of(attribute),
           (const unsigned char *)in + r * stride, bytes);
  return OOZE_OK;
}

/* ---- copies ---- */

typedef struct copying {
  const float *from;
  float *to[3];
  uint32_t first;
} copying;

static void copy_rows(void *arg, uint32_t begin, uint32_t end) {
  const copying *c = arg;
  for (size_t r = c->first + (size_t)begin; r < c->first + (size_t)end; ++r) {
    const float *from = c->from + FLOATS * r;
    c->to[0][r] = from[BIRTH];
    memcpy(c->to[1] + 3 * r, from + REST, 3 * sizeof(float));
    memcpy(c->to[2] + 3 * r, from + REST_2, 3 * sizeof(float));
  }
}

ooze_result oz_labels_copy(ooze_solver *s, oz_label_copy *to, const oz_loop *loop) {
  oz_particles *p = &s->particles;
  const uint32_t n = oz_visible(s);
  to->present = p->labels != NULL;
  if (!to->present) return OOZE_OK;
  uint32_t right = to->edition == p->labels_edition ? to->count : 0;
  if (right > n) right = n;
  to->count = 0;
  copying c = {.from = p->labels, .first = right};
  for (int k = 0; k < 3; ++k) {
    const size_t row = bytes_of((ooze_attribute)(OOZE_BIRTH + k));
    OZ_TRY(oz_host_reserve(s, &to->rows[k], &to->capacity[k], n * row, right * row));
    c.to[k] = to->rows[k];
  }
  oz_loop_rows(loop, n - right, copy_rows, &c);
  to->count = n;
  to->edition = p->labels_edition;
  if (p->labels_held < n) p->labels_held = n;
  return OOZE_OK;
}

void oz_labels_copy_release(ooze_solver *s, oz_label_copy *c) {
  for (int k = 0; k < 3; ++k) oz_free(&s->memory, c->rows[k]);
}
