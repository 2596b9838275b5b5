// One step of a simulation whose state is a detail. The solver inside is a cache of that state: it
// is used where the detail is the one that it wrote last, and filled from the attributes otherwise,
// with the same bits to follow. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "bridge.h"
#include "colliders.h"
#include "sources.h"
#include "turn.h"

namespace oz {

struct StepInput {
  const GU_Detail *sources = nullptr, *sources_before = nullptr; // continuous ones and nozzles
  ColliderInput colliders;
  const GU_Detail *forces = nullptr;
  double dt = 0; // s
};

class Simulation {
public:
  ~Simulation();
  // gdp goes dt further. Where it fails or is cancelled, gdp is as before and the report says why.
  bool step(const char *node, const Parms &parms, const StepInput &input, GU_Detail &gdp,
            Report &report);
  Turn turn;          // of users that share it
  Host host;          // its boss is set by the caller
  int64 loads = 0;    // how often the solver was filled from attributes, for tests
  bool ahead = false; // as on a GPU, for tests
  void drop();        // the cache
  int64 bytes() const;
  // A few lines for people: particles, substeps, time, memory, device; and the host's frames.
  std::string info(size_t frames, int64 frame_bytes, int64 written, int64 read) const;

private:
  bool machine(const Parms &parms, float separation, bool fresh, Report &report);
  bool advance(const Parms &parms, const StepInput &input, GU_Detail &gdp, Report &report);
  bool prepare(const char *node, const Parms &parms, const StepInput &input, GU_Detail &gdp,
               ColliderSettings &settings, Report &report);

  ooze_solver *mySolver = nullptr;
  uint32_t myBackend = 0;
  int32 myDevice = 0;
  Bridge myBridge;
  Colliders myColliders;
  Materials myMaterials;
  std::vector<ooze_emitter> myNozzles;
  Stamp myStamp;        // of the detail that the solver agrees with
  double mySeconds = 0; // that the solver took for the last step
};

} // namespace oz
