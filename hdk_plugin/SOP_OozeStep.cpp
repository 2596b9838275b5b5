// Ooze Step: particles one step further. Stateless: all that goes on is in the attributes.
// SPDX-License-Identifier: Apache-2.0
#include <CH/CH_Manager.h>
#include <OP/OP_Director.h>
#include <SYS/SYS_AtomicInt.h>

#include "nodes.h"
#include "simulation.h"
#include "verb.h"

namespace {

constexpr char STEP[] = "step";
class StepCook : public oz::Cook<STEP, SOP_NodeVerb::COOK_DUPLICATE> {
public:
  int64 getMemoryUsage(bool) const override { return myBytes.load(); }

protected:
  void run(const oz::Parms &parms, oz::Report &report) override {
    oz::StepInput in;
    in.dt = parms.number("timestep", 0);
    if (!(in.dt > 0)) in.dt = 1.0 / OPgetDirector()->getChannelManager()->getSamplesPerSec();
    const oz::Shapes colliders(inputGeo(1));
    in.colliders.now = &colliders;
    in.colliders.dt = in.dt;
    in.sources = inputGeo(2);
    in.forces = inputGeo(3);
    if (cookparms()->depnode())
      cookparms()->depnode()->setTimeDependent(true); // a step is taken at every frame

    UT_AutoInterrupt boss("Ooze: step");
    mySimulation.host.boss = &boss;
    bool done = mySimulation.step(node, parms, in, *gdp, report);
    mySimulation.host.boss = nullptr;
    myBytes.store(mySimulation.bytes());
    if (!done && report.cancelled) report.fail("stopped before the step was done; cook again");
  }

private:
  // a cache: it is filled from the attributes where it does not fit them
  oz::Simulation mySimulation;
  SYS_AtomicInt64 myBytes; // of the simulation: Houdini may ask while a cook runs
};

} // namespace

void oz::add_step(OP_OperatorTable *table) { VerbNode<StepCook>::enlist(table); }
