/* Checks: each runs the solver and lays measured beside expected. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef OOZE_CLI_VERIFY_H
#define OOZE_CLI_VERIFY_H

#include "measure.h"
#include "scene_kit.h"

typedef enum verify_level { VERIFY_QUICK, VERIFY_NORMAL, VERIFY_LONG } verify_level;

typedef struct verify verify;

/* A check's run emits rows. A row that is judged passes or fails; one that is reported shows a
 * number and what it is to be read against. `row` names it within the check; unit may be "". */
typedef struct verify_check {
  const char *name;
  const char *about; /* a line for --list */
  verify_level from; /* the shortest run that has it */
  void (*run)(verify *v);
} verify_check;

verify_level verify_at(const verify *v);
const kit_machine *verify_machine(const verify *v);
int verify_wants(const verify *v,
                 /* 0 if no row that begins with `part` was asked for: skip its run */
                 const char *part);

CLI_PRINTF(5, 6)
void verify_at_most(verify *v, double measured, double limit, const char *unit, const char *row,
                    ...);
CLI_PRINTF(5, 6)
void verify_at_least(verify *v, double measured, double limit, const char *unit, const char *row,
                     ...);
/* |measured - expected| <= tolerance, a share of |expected| */
CLI_PRINTF(6, 7)
void verify_within(verify *v, double measured, double expected, double share, const char *unit,
                   const char *row, ...);
/* expected: what to read it against (a goal, the prototype's value), or NAN */
CLI_PRINTF(5, 6)
void verify_report(verify *v, double measured, double expected, const char *unit, const char *row,
                   ...);
/* A remark about the row just given: "blew up at 0.54 s". */
CLI_PRINTF(2, 3) void verify_note(verify *v, const char *format, ...);
/* A scene that could not be run fails the check; returns 1 if it ran. A scene that diverges is for
 * the caller to note.
 */
int verify_ran(verify *v, const kit *k);

/* The groups, each in a file of its own; the list of all is in verify.c. */
void verify_fig4(verify *v);
void verify_fig5(verify *v);
void verify_coiling(verify *v);
void verify_fig6(verify *v);
void verify_fig6_fine(verify *v);
void verify_fig7(verify *v);
void verify_peer(verify *v);
void verify_stress(verify *v);
void verify_column(verify *v);
void verify_slump(verify *v);
void verify_heat(verify *v);
void verify_rheology(verify *v);
void verify_couette(verify *v);
void verify_poiseuille(verify *v);
void verify_bodies(verify *v);
void verify_boundary(verify *v);
void verify_shells(verify *v); /* part of boundary */
void verify_slip(verify *v);
void verify_tension(verify *v);
void verify_floating(verify *v);
void verify_soft(verify *v);
void verify_fluids(verify *v);
void verify_blend(verify *v);
void verify_cauchy(verify *v);
void verify_substeps(verify *v);
void verify_rebound(verify *v);
void verify_springs(verify *v);
void verify_springs_solids(verify *v); /* the part of springs that has solids in it */
void verify_links(verify *v);
void verify_split(verify *v);

/* ---- a cube that falls on a floor: what several checks look at ---- */

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
