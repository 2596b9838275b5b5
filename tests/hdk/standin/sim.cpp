#include "sim.h"

namespace standin {
std::map<std::string, Registered> &factories() {
  static std::map<std::string, Registered> f;
  return f;
}
} // namespace standin

void GAS_SubSolver::defaults(const PRM_Template *t) {
  for (; !t->name.empty(); ++t) {
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
  if (standin::world().open != 0) standin::broken("opStart without opEnd", "GAS");
  return ok;
}

SIM_GeometryCopy *GAS_SubSolver::getGeometryCopy(SIM_Object *o, const char *parm) const {
  auto at = o->data.find(options.getOptionS(parm).c_str());
  return at == o->data.end() ? nullptr : at->second.get();
}
