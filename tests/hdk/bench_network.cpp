// Cost of a network beside the solver: a block of about N particles collapses in Ooze Solver,
// played frame by frame as Houdini plays it. bench_hdk_network [N] [FRAMES] [cpu|cuda] [PERCENT]
// [SUBSTEPS] prints the time of each cook, the solver's part of it and the rest, and fails where
// the rest is above PERCENT of the cooks after the first two, which fill and warm up the solver.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "kit.h"
using namespace kit;

// The kit's checks end the program.
extern "C" void oz_case_end(const char *, int, int) { std::exit(1); }

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The last step's time from the node's info, in seconds.
static double solver_seconds(SOP_Node *n) {
  OP_Context context(0.0);
  OP_NodeInfoParms info;
  double s = 0;
  unsigned substeps = 0;
  n->getNodeSpecificInfoText(context, info);
  const char *at = std::strstr(info.all.c_str(), "Last step:");
  if (!at ||
      std::sscanf(at, "Last step: %u substeps of %*u + %*u iterations, %lf s", &substeps, &s) != 2)
    return -1;
  return s;
}

int main(int argc, char **argv) {
  const int particles = argc > 1 ? std::atoi(argv[1]) : 1000000,
            frames = argc > 2 ? std::atoi(argv[2]) : 12,
            substeps = argc > 5 ? std::atoi(argv[5]) : 8;
  const bool cuda = argc > 3 && !std::strcmp(argv[3], "cuda");
  const double limit = argc > 4 ? std::atof(argv[4]) : 15, d = 0.01;
  const int side = int(std::cbrt(double(particles)) + 0.5);
  fresh_world();
  world().check_ids = false; // the stand-in's own work is not measured
  Make block_of([&](GU_Detail &g, double) {
    block(g, side, 0, 0.5 * d, 0, d);
    number(g, GA_ATTRIB_POINT, "viscosity", 10);
    number(g, GA_ATTRIB_POINT, "relaxtime", 0.1);
  });
  block_of.flags().setTimeDep(false);
  SOP_Node *solver = node("ooze::solver::1.0", {&block_of});
  solver->set("particlesep", d);
  solver->set("substeps", substeps);
  solver->set("useground", 1);
  solver->set("cachemem", 4096);
  solver->set("backend", cuda ? OOZE_BACKEND_CUDA : OOZE_BACKEND_CPU);
  std::printf("%8s %10s %10s %10s %8s\n", "frame", "cook ms", "solver ms", "rest ms", "rest %");
  std::vector<double> share, cooks, solves;
  for (int f = 1; f <= frames; ++f) {
    const double begin = seconds();
    const GU_Detail *g = cook(solver, f);
    const double took = 1e3 * (seconds() - begin), own = 1e3 * solver_seconds(solver);
    if (!g) {
      std::printf("%s\n", said(solver).c_str());
      return 1;
    }
    if (own < 0) continue; // the first frame takes no step
    std::printf("%8d %10.2f %10.2f %10.2f %8.1f\n", f, took, own, took - own,
                100 * (took - own) / took);
    std::fflush(stdout);
    if (f <= 3) continue;
    cooks.push_back(took);
    solves.push_back(own);
    share.push_back(100 * (took - own) / took);
  }
  if (share.empty()) return 1;
  for (auto *v : {&share, &cooks, &solves}) std::sort(v->begin(), v->end());
  const size_t middle = share.size() / 2;
  std::printf("%lld particles, %d substeps: median cook %.2f ms, solver %.2f ms, rest %.1f %% of "
              "the cook (limit %g)\n",
              (long long)solver->gdp->getNumPoints(), substeps, cooks[middle], solves[middle],
              share[middle], limit);
  OP_NodeInfoParms info;
  OP_Context context(0.0);
  solver->getNodeSpecificInfoText(context, info);
  std::printf("%s", info.all.c_str());
  return share[middle] <= limit ? 0 : 1;
}
