/* The rows of a check. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/seconds.h"

verify_level verify_at(const verify *v) { return v->desc->level; }
const kit_machine *verify_machine(const verify *v) { return &v->desc->machine; }

int verify_wants(const verify *v, const char *part) {
  char name[96];
  if (!v->filter) return 1;
  snprintf(name, sizeof name, "%s.%s", v->check->name, part);
  size_t n = strlen(name), m = strlen(v->filter);
  return strncmp(name, v->filter, n < m ? n : m) == 0;
}

/* ---- rows ---- */

int verify_is_reference(const verify_check *check) {
  return strncmp(check->name, "reference", 9) == 0;
}

void verify_tell(verify *v) {
  if (v->pending && v->desc->row) v->desc->row(v->desc->user, &v->result.rows[v->result.count - 1]);
  v->pending = 0;
}

/* Comparisons are written so that a measured NaN fails. */
static int passes(const verify_row *r) {
  switch (r->relation) {
  case VERIFY_AT_MOST:
    return r->measured <= r->expected;
  case VERIFY_AT_LEAST:
    return r->measured >= r->expected;
  case VERIFY_WITHIN:
    return fabs(r->measured - r->expected) <= r->tolerance * fabs(r->expected);
  case VERIFY_REPORTED:
    break;
  }
  return 1;
}

static int make_room(verify *v) {
  if (v->result.count < v->capacity) return 1;
  size_t capacity = v->capacity ? 2 * v->capacity : 128;
  verify_row *grown = realloc(v->result.rows, capacity * sizeof *grown);
  if (!grown) return 0;
  v->result.rows = grown;
  v->capacity = capacity;
  return 1;
}

static void add_row(verify *v, verify_relation is, double measured, double expected,
                    double tolerance, const char *unit, const char *format, va_list args)
    OZ_PRINTF(7, 0);
static void add_row(verify *v, verify_relation is, double measured, double expected,
                    double tolerance, const char *unit, const char *format, va_list args) {
  verify_row r;
  double now = oz_seconds();
  memset(&r, 0, sizeof r);
  int n = snprintf(r.name, sizeof r.name, "%s.", v->check->name);
  vsnprintf(r.name + n, sizeof r.name - (size_t)n, format, args);
  v->left_out = v->filter && strncmp(r.name, v->filter, strlen(v->filter)) != 0;
  if (v->left_out) return;
  verify_tell(v);
  snprintf(r.unit, sizeof r.unit, "%s", unit);
  r.measured = measured;
  r.expected = expected;
  r.tolerance = tolerance;
  r.relation = is;
  r.seconds = now - v->mark;
  r.pass = passes(&r);
  v->mark = now;
  if (!make_room(v)) {
    v->result.out_of_memory = 1;
    return;
  }
  v->result.rows[v->result.count++] = r;
  v->pending = 1;
  if (is == VERIFY_REPORTED)
    v->result.reported++;
  else if (r.pass)
    v->result.passed++;
  else if (verify_is_reference(v->check))
    v->result.missed++;
  else
    v->result.failed++;
}

#define EMIT(is, expected, tolerance)                                \
  do {                                                               \
    va_list args;                                                    \
    va_start(args, name);                                            \
    add_row(v, is, measured, expected, tolerance, unit, name, args); \
    va_end(args);                                                    \
  } while (0)

void verify_at_most(verify *v, double measured, double limit, const char *unit, const char *name,
                    ...) {
  EMIT(VERIFY_AT_MOST, limit, 0.0);
}
void verify_at_least(verify *v, double measured, double limit, const char *unit, const char *name,
                     ...) {
  EMIT(VERIFY_AT_LEAST, limit, 0.0);
}
void verify_within(verify *v, double measured, double expected, double share, const char *unit,
                   const char *name, ...) {
  EMIT(VERIFY_WITHIN, expected, share);
}
void verify_report(verify *v, double measured, double expected, const char *unit, const char *name,
                   ...) {
  EMIT(VERIFY_REPORTED, expected, 0.0);
}

void verify_note(verify *v, const char *format, ...) {
  va_list args;
  if (!v->pending || v->left_out) return;
  verify_row *r = &v->result.rows[v->result.count - 1];
  va_start(args, format);
  vsnprintf(r->note, sizeof r->note, format, args);
  va_end(args);
}

void verify_point(verify *v, const char *curve, double x, double measured, double expected) {
  verify_result *r = &v->result;
  if (r->spot_count == v->spot_capacity) {
    size_t capacity = v->spot_capacity ? 2 * v->spot_capacity : 256;
    verify_spot *grown = realloc(r->spots, capacity * sizeof *grown);
    if (!grown) {
      r->out_of_memory = 1;
      return;
    }
    r->spots = grown;
    v->spot_capacity = capacity;
  }
  verify_spot *s = &r->spots[r->spot_count++];
  *s = (verify_spot){v->check->name, "", x, measured, expected};
  snprintf(s->curve, sizeof s->curve, "%s", curve);
}

int verify_ran(verify *v, const kit *k) {
  if (kit_good(k) || k->result <= OOZE_LOST_DIVERGED) return 1;
  verify_at_most(v, (double)NAN, 0.0, "", "%s", "run");
  verify_note(v, "%s (%s)", k->message, ooze_result_name(k->result));
  return 0;
}

int verify_close(verify *v, kit *k) {
  const int ran = verify_ran(v, k);
  kit_close(k);
  return ran;
}

int verify_in_drum(const void *drum, const double x[3]) {
  const verify_drum *c = drum;
  return x[0] * x[0] + x[2] * x[2] <= c->radius * c->radius && x[1] < c->height;
}

const char *verify_wall_name(uint32_t boundary) {
  return boundary == OOZE_BOUNDARY_PARTICLES ? "particles" : "contact";
}
