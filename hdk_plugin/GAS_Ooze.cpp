// SPDX-License-Identifier: Apache-2.0
#include "GAS_Ooze.h"

#include <GA/GA_Handle.h>
#include <SIM/SIM_DopDescription.h>
#include <SIM/SIM_GeometryCopy.h>
#include <SIM/SIM_Object.h>
#include <SIM/SIM_Options.h>
#include <UT/UT_Vector3.h>

#include "nodes.h"
#include "verb.h"

namespace {

// Options of the data by name, each by its own type.
class OptionParms : public oz::Parms {
public:
  explicit OptionParms(const SIM_Options &options) : Parms("gasooze") {
    for (auto &p : oz::parms_of("gasooze")) {
      Value &v = myValues[p.token];
      switch (oz::kind_of(p)) {
      case oz::Kind::FLOAT:
        v.number[0] = options.getOptionF(p.token);
        break;
      case oz::Kind::INTEGER:
        v.number[0] = double(options.getOptionI(p.token));
        break;
      case oz::Kind::TOGGLE:
        v.number[0] = options.getOptionB(p.token) ? 1 : 0;
        break;
      case oz::Kind::VECTOR: {
        const UT_Vector3D vector(options.getOptionV3(p.token));
        for (int k = 0; k < 3; ++k) v.number[k] = vector[k];
        break;
      }
      case oz::Kind::TEXT:
        v.text = options.getOptionS(p.token).c_str();
        break;
      case oz::Kind::NONE:
        break;
      }
    }
  }
};

} // namespace

const SIM_DopDescription *GAS_Ooze::getDopDescription() {
  static SIM_DopDescription description(true, "gasooze", "Gas Ooze", "$OS", classname(),
                                        oz::dialog_builder("gasooze").templates());
  setGasDescription(description);
  return &description;
}

bool GAS_Ooze::solveGasSubclass(SIM_Engine &, SIM_Object *object, SIM_Time, SIM_Time timestep) {
  oz::Report report;
  bool done = false;
  oz::guarded(report, [&] {
    SIM_GeometryCopy *geometry = getGeometryCopy(object, GAS_NAME_GEOMETRY, true);
    if (!geometry) {
      report.fail("the object has no geometry of the name that the parameter Geometry gives");
      return;
    }
    GU_Detail colliders, sources;
    oz::StepInput in;
    in.dt = in.colliders.dt = fpreal(timestep);
    // copied, so that no lock is held while the solver runs
    if (const SIM_Geometry *g = getGeometry(object, "collidergeo", true)) {
      SIM_GeometryAutoReadLock lock(g);
      if (lock.getGdp()) {
        colliders.replaceWith(*lock.getGdp());
        in.colliders.now = &colliders;
      }
    }
    if (const SIM_Geometry *g = getGeometry(object, "sourcegeo", true)) {
      SIM_GeometryAutoReadLock lock(g);
      if (lock.getGdp()) {
        sources.replaceWith(*lock.getGdp());
        in.sources = &sources;
      }
    }
    UT_AutoInterrupt boss("Gas Ooze");
    if (!mySimulation) mySimulation.reset(new oz::Simulation);
    mySimulation->host.boss = &boss;
    SIM_GeometryAutoWriteLock lock(geometry, SIM_DATA_ID_PRESERVE);
    GU_Detail &gdp = lock.getGdp();
    done = mySimulation->step("gasooze", OptionParms(getOptions()), in, gdp, report);
    mySimulation->host.boss = nullptr;
    if (done && !gdp.findPointAttribute("ispbd"))
      gdp.addIntTuple(GA_ATTRIB_POINT, "ispbd", 1,
                      GA_Defaults(1)); // POP Solver leaves the motion to us
  });
  for (auto &w : report.warnings) addError(object, SIM_MESSAGE, w.c_str(), UT_ERROR_WARNING);
  if (report.failed()) addError(object, SIM_MESSAGE, report.error.c_str(), UT_ERROR_ABORT);
  return done || report.cancelled;
}

void oz::add_gas() { IMPLEMENT_DATAFACTORY(GAS_Ooze); }
