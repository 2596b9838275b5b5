/* SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"

namespace standin {
std::map<std::string, Registered> &factories() {
  static std::map<std::string, Registered> f;
  return f;
}
} // namespace standin

void GAS_SubSolver::defaults(const PRM_Template *t) {
  for (; !t->name.empty(); ++t) {
    options.types[t->name] = t->type == "ordinal" ? "integer" : t->type;
    if (t->type == "string")
      options.texts[t->name] = t->words.at(0);
    else
      options.values[t->name] = t->numbers;
  }
}

bool GAS_SubSolver::solve(SIM_Engine &e, SIM_Object *o, SIM_Time t, SIM_Time dt) {
  bool ok = false;
  try {
    ok = solveGasSubclass(e, o, t, dt);
  } catch (...) {
    standin::broken("an exception left the solve", "GAS");
  }
  for (auto &d : o->data)
    if (d.second->locks) standin::broken("geometry is still locked", d.first);
  if (!standin::world().threads && standin::world().open != 0)
    standin::broken("opStart without opEnd", "GAS");
  return ok;
}

SIM_GeometryCopy *GAS_SubSolver::getGeometryCopy(SIM_Object *o, const char *parm, bool silent) {
  const std::string name = options.getOptionS(parm).c_str();
  auto at = o->data.find(name);
  if (at != o->data.end()) return at->second.get();
  if (!silent && !name.empty()) {
    o->messages.emplace_back(UT_ERROR_ABORT, "there is no data " + name);
    standin::broken("data that is not there was asked for, and not silently", name);
  }
  return nullptr;
}
