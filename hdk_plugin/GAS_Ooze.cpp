// SPDX-License-Identifier: Apache-2.0
#include "GAS_Ooze.h"

#include <GA/GA_Handle.h>
#include <SIM/SIM_DopDescription.h>
#include <SIM/SIM_GeometryCopy.h>
#include <SIM/SIM_Object.h>
#include <SIM/SIM_ObjectArray.h>
#include <SIM/SIM_Options.h>
#include <SIM/SIM_Position.h>
#include <SIM/SIM_Utils.h>
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

  // Parameters that speak of the world, as the particles' space has it. The matrix may turn and
  // move it, but not scale it.
  bool move(const UT_DMatrix4 &to_local, oz::Report &report) {
    static const float axes[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    float moved[12], error = 0;
    ooze_message why = {""};
    if (to_local.isIdentity()) return true;
    for (int p = 0; p < 4; ++p) place(to_local, axes + 3 * p, 1.0, moved + 3 * p);
    if (!report.ok(ooze_pose_fit(axes, moved, 4, &world, &error, &why), why, "transform"))
      return false;
    if (error > 1e-4f)
      return report.fail("the geometry's transform scales or shears it; expected one that only "
                         "turns and moves");
    for (const char *name : {"gravity", "wind"}) {
      Value &v = myValues.at(name);
      const float before[3] = {float(v.number[0]), float(v.number[1]), float(v.number[2])};
      float after[3];
      place(to_local, before, 0.0, after);
      for (int k = 0; k < 3; ++k) v.number[k] = double(after[k]);
    }
    return true;
  }

private:
  // A row before the matrix: a point with 1, a direction with 0.
  static void place(const UT_DMatrix4 &m, const float in[3], double w, float out[3]) {
    for (unsigned c = 0; c < 3; ++c) {
      double sum = w * m(3, c);
      for (unsigned r = 0; r < 3; ++r) sum += double(in[r]) * m(r, c);
      out[c] = float(sum);
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

void GAS_Ooze::makeEqualSubclass(const SIM_Data *source) {
  BaseClass::makeEqualSubclass(source);
  const GAS_Ooze *other = SIM_DATA_CASTCONST(source, GAS_Ooze);
  if (other) mySimulation = other->mySimulation;
}

// From the space of a geometry to the world: its own transform, then the position that it goes by.
UT_DMatrix4 GAS_Ooze::to_world(const SIM_Object &object, const SIM_Geometry &geometry,
                               const char *parm) const {
  UT_DMatrix4 own, place;
  geometry.getTransform(own);
  // data of that name, where getGeometry takes the parameter that has it
  const SIM_Position *position =
      object.getPositionForGeometry(getOptions().getOptionS(parm).c_str());
  if (!position) return own;
  position->getTransform(place);
  return own * place;
}

// One more geometry of an object, brought into the particles' space. False where there is none.
bool GAS_Ooze::add(const SIM_Object *object, const char *parm, const UT_DMatrix4 &to_local,
                   GU_Detail &out) {
  const SIM_Geometry *g = getGeometry(object, parm, true);
  if (!g) return false;
  GU_Detail copy; // so that no lock is held while the solver runs
  {
    SIM_GeometryAutoReadLock lock(g);
    if (!lock.getGdp()) return false;
    copy.replaceWith(*lock.getGdp());
  }
  const UT_DMatrix4 whole = to_world(*object, *g, parm) * to_local;
  if (!whole.isIdentity()) copy.transform(whole);
  out.merge(copy);
  return true;
}

bool GAS_Ooze::solve(SIM_Object *object, double timestep, oz::Report &report) {
  SIM_GeometryCopy *geometry = getGeometryCopy(object, GAS_NAME_GEOMETRY, true);
  if (!geometry)
    return report.fail("the object has no geometry of the name that the parameter Geometry gives");
  OptionParms parms(getOptions());
  UT_DMatrix4 to_local = to_world(*object, *geometry, GAS_NAME_GEOMETRY);
  if (to_local.invert()) return report.fail("the transform of the geometry has no inverse");
  if (!parms.move(to_local, report)) return false;

  GU_Detail colliders, sources, forces;
  oz::StepInput in;
  in.dt = in.colliders.dt = timestep;
  const oz::Shapes shapes(&colliders);
  if (add(object, "collidergeo", to_local, colliders)) in.colliders.now = &shapes;
  if (parms.on("useaffectors")) {
    SIM_ObjectArray affectors;
    object->getAffectors(affectors, "SIM_RelationshipCollide");
    for (exint i = 0; i < affectors.entries(); ++i)
      if (affectors(i) != object && add(affectors(i), GAS_NAME_GEOMETRY, to_local, colliders))
        in.colliders.now = &shapes;
  }
  if (add(object, "sourcegeo", to_local, sources)) in.sources = &sources;
  if (add(object, "forcegeo", to_local, forces)) in.forces = &forces;

  UT_AutoInterrupt boss("Gas Ooze");
  // Where another copy is solving on another thread, this one makes a simulation of its own.
  while (!mySimulation || !mySimulation->turn.take()) mySimulation.reset(new oz::Simulation);
  mySimulation->host.boss = &boss;
  SIM_GeometryAutoWriteLock lock(geometry, SIM_DATA_ID_PRESERVE);
  GU_Detail &gdp = lock.getGdp();
  const bool done = mySimulation->step("gasooze", parms, in, gdp, report);
  mySimulation->host.boss = nullptr;
  mySimulation->turn.give();
  if (done && !gdp.findPointAttribute("ispbd")) // POP Solver leaves the motion to us
    gdp.addIntTuple(GA_ATTRIB_POINT, "ispbd", 1, GA_Defaults(1));
  return done;
}

bool GAS_Ooze::solveGasSubclass(SIM_Engine &, SIM_Object *object, SIM_Time, SIM_Time timestep) {
  oz::Report report;
  bool done = false;
  oz::guarded(report, [&] { done = solve(object, fpreal(timestep), report); });
  for (auto &w : report.warnings) addError(object, SIM_MESSAGE, w.c_str(), UT_ERROR_WARNING);
  if (report.failed()) addError(object, SIM_MESSAGE, report.error.c_str(), UT_ERROR_ABORT);
  return done || report.cancelled;
}

void oz::add_gas() { IMPLEMENT_DATAFACTORY(GAS_Ooze); }
