/* ooze bench --scene. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_BENCH_RUN_H
#define OOZE_CLI_BENCH_RUN_H

#include "ooze/ooze.h"

typedef struct cli_bench_run {
  const char *scene, *wedge, *folder;
  const char *const *sets;
  uint32_t set_count;
  uint32_t frames; /* 0: the scene's */
  int as_json;
  const ooze_solver_desc *machine;
} cli_bench_run;

int cli_bench_scene(const cli_bench_run *o); /* an exit code */

#endif
