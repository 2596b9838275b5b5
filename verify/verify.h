/* The checks of the solver against papers and closed forms, for a program or a test.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_VERIFY_H
#define OOZE_VERIFY_VERIFY_H

#include "scene_kit.h"

typedef enum verify_level { VERIFY_QUICK, VERIFY_NORMAL, VERIFY_LONG } verify_level;

typedef struct verify verify; /* a run, as its checks see it (check.h) */
typedef struct verify_check {
  const char *name;
  const char *about; /* one line */
  verify_level from; /* the shortest run that has it */
  void (*run)(verify *v);
} verify_check;
extern const verify_check verify_checks[]; /* checks.def */
extern const uint32_t verify_check_count;

/* A name asks for all checks that begin with it ("fig6": fig6 and fig6-32) or, with a dot, for the
 * rows of one check that begin with it ("fig6.ooze"). NULL asks for all. */
int verify_asked_for(const verify_check *check, const char *name);
/* A check of the group `reference`: bars that the solver is held against and does not meet
 * everywhere yet. It runs where it is asked for by name or with `references`, and a missed bar is
 * no failure. */
int verify_is_reference(const verify_check *check);

typedef enum verify_relation {
  VERIFY_AT_MOST,
  VERIFY_AT_LEAST,
  VERIFY_WITHIN,
  VERIFY_REPORTED /* not judged; expected is a reference, or NAN */
} verify_relation;

typedef struct verify_row {
  char name[96], unit[24], note[200];
  double measured, expected;
  double tolerance; /* of VERIFY_WITHIN: a share of |expected| */
  double seconds;
  verify_relation relation;
  int pass;
} verify_row;

/* A point of a curve that a check draws: measured beside expected. */
typedef struct verify_spot {
  const char *check;
  char curve[80]; /* the quantity drawn, with its unit */
  double x, measured, expected;
} verify_spot;

typedef struct verify_time {
  const char *name; /* of a check */
  double seconds;
  double processor; /* s, of all threads: another program's load does not change it */
} verify_time;

typedef struct verify_desc {
  kit_machine machine;
  verify_level level;
  const char *name;                               /* the checks to run, or NULL */
  int references;                                 /* the group `reference` as well */
  void (*row)(void *user, const verify_row *row); /* called for each row as it comes, or NULL */
  void *user;
} verify_desc;

typedef struct verify_result {
  verify_row *rows;
  size_t count;
  verify_spot *spots;
  size_t spot_count;
  verify_time *times; /* of the checks that ran */
  uint32_t time_count;
  uint32_t passed, failed, reported;
  uint32_t missed; /* bars of the group `reference` that are not met: not among `failed` */
  double seconds;
  int out_of_memory; /* rows are missing */
} verify_result;

void verify_run(const verify_desc *desc, verify_result *out); /* release the result */
void verify_release(verify_result *result);

#endif
