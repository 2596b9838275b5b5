/* The list of checks, and runs of it. SPDX-License-Identifier: Apache-2.0 */
#include "verify.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/seconds.h"
#include "check.h"

const verify_check verify_checks[] = {
#define CHECK(name, about, from, run) {name, about, from, run},
#include "checks.def"
#undef CHECK
};
const uint32_t verify_check_count = sizeof verify_checks / sizeof verify_checks[0];

int verify_asked_for(const verify_check *check, const char *name) {
  if (!name) return 1;
  size_t n = strlen(name), m = strlen(check->name);
  if (n <= m) return strncmp(check->name, name, n) == 0;
  return strncmp(check->name, name, m) == 0 && name[m] == '.';
}

void verify_run(const verify_desc *desc, verify_result *out) {
  verify v;
  memset(&v, 0, sizeof v);
  v.desc = desc;
  v.result.times = calloc(verify_check_count, sizeof *v.result.times);
  v.result.out_of_memory = !v.result.times;
  const double start = oz_seconds();
  const char *name = desc->name;
  for (uint32_t i = 0; v.result.times && i < verify_check_count; ++i) {
    const verify_check *check = &verify_checks[i];
    if (!verify_asked_for(check, name)) continue;
    const int reference = verify_is_reference(check);
    if (reference && !name && !desc->references) continue;
    const int named = name && desc->level != VERIFY_QUICK; /* a named check runs, however long */
    if (check->from > desc->level && !named) continue;

    v.check = check;
    v.filter = name && strlen(name) > strlen(check->name) ? name : NULL;
    const clock_t worked = clock();
    v.mark = oz_seconds();
    verify_time *time = &v.result.times[v.result.time_count++];
    time->name = check->name;
    time->seconds = -v.mark;
    check->run(&v);
    verify_tell(&v);
    time->seconds += oz_seconds();
    time->processor = (double)(clock() - worked) / CLOCKS_PER_SEC;
  }
  v.result.seconds = oz_seconds() - start;
  *out = v.result;
}

void verify_release(verify_result *result) {
  free(result->rows);
  free(result->times);
  free(result->spots);
  memset(result, 0, sizeof *result);
}
