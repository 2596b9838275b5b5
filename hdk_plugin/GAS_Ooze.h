// Gas Ooze: the microsolver. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <GAS/GAS_SubSolver.h>
#include <SIM/SIM_GeometryCopy.h>
#include <UT/UT_Matrix4.h>

#include <memory>

#include "simulation.h"

// DOPs copy data at every step and may go on from any copy. All state is in the geometry, and the
// simulation is a cache that sees by the geometry's data ids whether it fits: so the copies of a
// solver share one, and a copy whose geometry is another's fills it again, with the same bits.
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
  void makeEqualSubclass(const SIM_Data *source) override;

private:
  static const SIM_DopDescription *getDopDescription();
  bool solve(SIM_Object *object, double timestep, oz::Report &report);
  UT_DMatrix4 to_world(const SIM_Object &object, const SIM_Geometry &geometry,
                       const char *parm) const;
  bool add(const SIM_Object *object, const char *parm, const UT_DMatrix4 &to_local, GU_Detail &out);

  std::shared_ptr<oz::Simulation> mySimulation;

  DECLARE_STANDARD_GETCASTTOTYPE();
  DECLARE_DATAFACTORY(GAS_Ooze, GAS_SubSolver, "Gas Ooze", getDopDescription());
};
