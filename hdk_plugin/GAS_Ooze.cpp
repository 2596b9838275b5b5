// SPDX-License-Identifier: Apache-2.0
#include "GAS_Ooze.h"

#include <GA/GA_Handle.h>
#include <PRM/PRM_TemplateBuilder.h>
#include <SIM/SIM_DopDescription.h>
#include <SIM/SIM_GeometryCopy.h>
#include <SIM/SIM_Object.h>

#include "nodes.h"

namespace {

// Options of the data by name.
class OptionParms : public oz::Parms {
public:
  explicit OptionParms(const SIM_Options &options) : myOptions(options) {
    for (auto &p : oz::parms_of("gasooze"))
      if (p.components == 3)
        myVectors.push_back(p.token);
      else if (!std::strcmp(p.type, "float"))
        myReals.push_back(p.token);
      else if (!std::strcmp(p.type, "toggle"))
        mySwitches.push_back(p.token);
  }
  double number(const char *token, int k) const override {
    if (has(myVectors, token)) return myOptions.getOptionV3(token)[k];
    if (has(myReals, token)) return myOptions.getOptionF(token);
    return has(mySwitches, token) ? double(myOptions.getOptionB(token))
                                  : double(myOptions.getOptionI(token));
  }
  std::string text(const char *token) const override { return myOptions.getOptionS(token).c_str(); }

private:
  static bool has(const std::vector<std::string> &list, const char *token) {
    for (auto &t : list)
      if (t == token) return true;
    return false;
  }
  const SIM_Options &myOptions;
  std::vector<std::string> myVectors, myReals, mySwitches;
};

} // namespace

const SIM_DopDescription *GAS_Ooze::getDopDescription() {
  static PRM_Template *const templates = [] {
    std::string script = oz::dialog_of("gasooze");
    PRM_TemplateBuilder builder("ooze_gasooze", script.c_str());
    return builder.templates();
  }();
  static SIM_DopDescription description(true, "gasooze", "Gas Ooze", "$OS", classname(), templates);
  setGasDescription(description);
  return &description;
}

bool GAS_Ooze::solveGasSubclass(SIM_Engine &, SIM_Object *object, SIM_Time, SIM_Time timestep) {
  oz::Report report;
  bool done = false;
  oz::guarded(report, [&] {
    SIM_GeometryCopy *geometry = getGeometryCopy(object, GAS_NAME_GEOMETRY);
    if (!geometry) {
      report.fail("the object has no geometry of the name that the parameter Geometry gives");
      return;
    }
    GU_Detail colliders, sources;
    oz::StepInput in;
    in.dt = in.colliders.dt = fpreal(timestep);
    // copied, so that no lock is held while the solver runs
    if (const SIM_Geometry *g = getGeometry(object, "collidergeo")) {
      SIM_GeometryAutoReadLock lock(g);
      colliders.replaceWith(*lock.getGdp());
      in.colliders.now = &colliders;
    }
    if (const SIM_Geometry *g = getGeometry(object, "sourcegeo")) {
      SIM_GeometryAutoReadLock lock(g);
      sources.replaceWith(*lock.getGdp());
      in.sources = &sources;
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
