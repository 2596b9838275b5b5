// Gas Ooze: the microsolver. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <GAS/GAS_SubSolver.h>

#include <memory>

#include "simulation.h"

// DOPs copy data at every step and may go on from any copy, so nothing here is state: the
// simulation is a cache that sees by the geometry's data ids whether it fits.
class GAS_Ooze : public GAS_SubSolver {
protected:
  explicit GAS_Ooze(const SIM_DataFactory *factory) : BaseClass(factory) {}
  ~GAS_Ooze() override {}
  bool solveGasSubclass(SIM_Engine &engine, SIM_Object *object, SIM_Time time,
                        SIM_Time timestep) override;
  void initializeSubclass() override {
    BaseClass::initializeSubclass();
    mySimulation.reset();
  }
  void makeEqualSubclass(const SIM_Data *source) override {
    BaseClass::makeEqualSubclass(source);
    mySimulation.reset(); // never shared: the copy may live at another time
  }

private:
  static const SIM_DopDescription *getDopDescription();
  std::unique_ptr<oz::Simulation> mySimulation;

  DECLARE_STANDARD_GETCASTTOTYPE();
  DECLARE_DATAFACTORY(GAS_Ooze, GAS_SubSolver, "Gas Ooze", getDopDescription());
};
