/* The interface of a check. A check runs the solver and emits rows: a judged row passes or fails, a
 * reported one shows a number beside its reference. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_CHECK_H
#define OOZE_VERIFY_CHECK_H

#include "measure.h"
#include "scene_kit.h"
#include "verify.h"

#include "base/result.h"

struct verify {
  const verify_desc *desc;
  const verify_check *check;
  const char *filter; /* only rows whose names begin with it; NULL: all */
  verify_result result;
  size_t capacity, spot_capacity;
  int pending;  /* the last row is not told yet: a note may follow */
  int left_out; /* the filter dropped the row just given */
  double mark;  /* when the time of the next row began */
};
void verify_tell(verify *v); /* hands out the last row: its note, if any, is there */

verify_level verify_at(const verify *v);
const kit_machine *verify_machine(const verify *v);
/* 0 if no row that begins with `part` was asked for: its run can be left out */
int verify_wants(const verify *v, const char *part);

/* A row. `row` names it within the check, printf style; unit may be "". */

OZ_PRINTF(5, 6)
void verify_at_most(verify *v, double measured, double limit, const char *unit, const char *row,
                    ...);
OZ_PRINTF(5, 6)
void verify_at_least(verify *v, double measured, double limit, const char *unit, const char *row,
                     ...);
/* |measured - expected| <= tolerance, a share of |expected| */
OZ_PRINTF(6, 7)
void verify_within(verify *v, double measured, double expected, double share, const char *unit,
                   const char *row, ...);
/* expected: a reference (a goal, the prototype's value), or NAN */
OZ_PRINTF(5, 6)
void verify_report(verify *v, double measured, double expected, const char *unit, const char *row,
                   ...);
/* A point of a curve for the report, not judged. `curve` names it within the check. */
void verify_point(verify *v, const char *curve, double x, double measured, double expected);
/* A remark about the row just given: "blew up at 0.54 s". */
OZ_PRINTF(2, 3) void verify_note(verify *v, const char *format, ...);
/* A scene that could not be run fails the check; returns 1 if it ran. A scene that diverges is for
 * the caller to note.
 */
int verify_ran(verify *v, const kit *k);
int verify_close(verify *v, kit *k); /* the same, and the kit is closed */

/* The checks, each in a file of its own. */
#define CHECK(name, about, from, run) void run(verify *v);
#include "checks.def"
#undef CHECK
void verify_shells(verify *v);         /* part of boundary */
void verify_springs_solids(verify *v); /* the part of springs that has solids in it */

/* An upright cylinder on the floor, for kit_fill. */
typedef struct verify_drum {
  double radius, height;
} verify_drum;
int verify_in_drum(const void *drum, const double x[3]);
const char *verify_wall_name(uint32_t boundary);

/* ---- a cube that falls on a floor (dropped_cube.c) ---- */

typedef struct verify_drop {
  uint32_t n, velocity_iterations, position_iterations, scheme, wall_density;
  double separation, gap, tau, alpha, viscosity, friction, dt, duration;
  double blow_up; /* m/s: faster than this counts as blown up */
} verify_drop;
typedef struct verify_dropped {
  double rms_max, rms_end;      /* separations */
  double lowest, rebound;       /* m: of the centre */
  double height, radius, front; /* over the cube's side */
  double mean_compression, max_compression, max_speed;
  double blown_at;                    /* s, or 0 */
  double seconds, seconds_per_second; /* in ooze_step; per simulated second */
  uint64_t steps;
} verify_dropped;
/* n 12, separation 0.05, gap 0.5, dt 1/240, 10 + 5, 2 s */
void verify_drop_default(verify_drop *d);
/* Returns 1 if it could be run, blown up or not. */
int verify_drop_run(verify *v, const verify_drop *d, verify_dropped *out);

#endif
