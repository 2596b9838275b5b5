// Cost of the bridge: N particles with all attributes from a detail into the solver and back,
// against one substep of the same particles, in processor time of the whole process. test_hdk_bench
// [N] [PERCENT]. SPDX-License-Identifier: Apache-2.0
#include "kit.h"

#include <ctime>

#include "bridge.h"
using namespace kit;

static double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1000000;
  double limit = argc > 2 ? std::atof(argv[2]) : 5;
  int side = int(std::cbrt(double(n)) + 0.5);
  fresh_world();
  world().check_ids = false;
  oz::Host host;
  oz::Report report;
  oz::Bridge bridge;
  ooze_solver_desc d;
  ooze_solver *s = nullptr;
  ooze_message why = {""};
  ooze_solver_desc_default(&d);
  host.fill(d.hooks);
  d.backend = OOZE_BACKEND_CPU;
  d.tasks = OOZE_TASKS_HOST;
  if (ooze_solver_create(&d, &s, &why) < 0) {
    std::printf("%s\n", why.text);
    return 1;
  }
  ooze_params p;
  ooze_params_default(&p);
  p.substeps = 1;
  ooze_params_set(s, &p);
  GU_Detail gdp;
  block(gdp, side, 0, 0.01, 0, 0.01);
  number(gdp, GA_ATTRIB_POINT, "viscosity", 10);
  number(gdp, GA_ATTRIB_POINT, "relaxtime", 0.1);
  double best[3] = {1e9, 1e9, 1e9};
  for (int i = 0; i < 3 && !report.failed(); ++i) { // a warm round and the better of two
    double t0 = processor_seconds();
    if (!bridge.load(s, gdp, report)) break;
    double t1 = processor_seconds();
    if (ooze_step(s, 1.0 / 240) < 0) report.fail("%s", ooze_solver_message(s));
    double t2 = processor_seconds();
    if (!bridge.store(s, gdp, oz::Output(), report)) break;
    double t3 = processor_seconds();
    const double now[3] = {t1 - t0, t2 - t1, t3 - t2};
    for (int k = 0; k < 3 && i; ++k) best[k] = std::fmin(best[k], now[k]);
  }
  if (report.failed()) {
    std::printf("%s\n", report.error.c_str());
    return 1;
  }
  bridge.release();
  double share = 100 * (best[0] + best[2]) / best[1];
  std::printf("%lld particles: in %.3f s, substep %.3f s, out %.3f s of processor time: the bridge "
              "is %.1f %% of one "
              "substep (limit %g)\n",
              (long long)gdp.getNumPoints(), best[0], best[1], best[2], share, limit);
  ooze_solver_destroy(s);
  return share <= limit ? 0 : 1;
}
