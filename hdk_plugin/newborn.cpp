// SPDX-License-Identifier: Apache-2.0
#include "newborn.h"

#include <GA/GA_AttributeDict.h>
#include <GA/GA_Handle.h>
#include <UT/UT_StringHolder.h>

#include <set>
#include <string>
#include <vector>

namespace oz {

bool remove_old(ooze_solver *s, const GU_Detail &gdp, const Bridge &bridge, double dt,
                Report &report) {
  GA_ROHandleF life(gdp.findPointAttribute("life")), age(gdp.findPointAttribute("age"));
  if (!life.isValid()) return true;
  std::vector<uint64_t> gone;
  for (size_t i = 0; i < bridge.ids().size(); ++i) {
    const GA_Offset o = bridge.offsets()[i];
    const double end = double(life.get(o)), now = age.isValid() ? double(age.get(o)) : 0;
    uint32_t rank = 0;
    if (end > 0 && now + dt >= end && ooze_particle_find(s, bridge.ids()[i], &rank) >= 0)
      gone.push_back(bridge.ids()[i]);
  }
  return gone.empty() ||
         solver_ok(s, ooze_particles_remove(s, gone.data(), uint32_t(gone.size())), "life", report);
}

// Attributes of a nozzle's point that are its particles' too: none that is the source's own.
static std::vector<const GA_Attribute *> passed_on(const GU_Detail &sources) {
  static const std::set<std::string> own = [] {
    std::set<std::string> names(source_names().begin(), source_names().end());
    names.insert({"up", "w", "pscale", "age", "active", "name", "force"});
    return names;
  }();
  std::vector<const GA_Attribute *> out;
  for (GA_AttributeDict::iterator it = sources.pointAttribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
       ++it)
    if (!own.count(it.attrib()->getName().c_str())) out.push_back(it.attrib());
  return out;
}

// The point of the nozzle that a particle comes from: its own while it is inside, else the nearest.
static GA_Offset nozzle_of(const std::vector<Nozzle> &nozzles, int handle, const UT_Vector3 &at) {
  double least = 1e30;
  GA_Offset found = GA_INVALID_OFFSET;
  for (auto &n : nozzles) {
    double r2 = 0;
    for (int k = 0; k < 3; ++k) {
      const double d = double(n.desc.end.position[k]) - double(at[k]);
      r2 += d * d;
    }
    if (handle && uint32_t(handle) == n.handle) return n.point;
    if (r2 < least) least = r2, found = n.point;
  }
  return found;
}

static void pass_on(const GU_Detail &sources, const std::vector<GA_Offset> &fresh, GU_Detail &gdp) {
  Materials materials;
  std::vector<Nozzle> nozzles;
  Report quiet; // faults of a nozzle were told before the step
  if (!find_nozzles(&sources, nullptr, 0, materials, nozzles, quiet) || nozzles.empty()) return;
  GA_ROHandleI handle(gdp.findPointAttribute("source"));
  std::vector<GA_Offset> from;
  for (GA_Offset o : fresh)
    from.push_back(nozzle_of(nozzles, handle.isValid() ? handle.get(o) : 0, gdp.getPos3(o)));
  for (const GA_Attribute *a : passed_on(sources)) {
    const UT_StringHolder name(a->getName());
    const GA_StorageClass kind = a->getStorageClass();
    GA_Attribute *to = gdp.findPointAttribute(name);
    if (!to) {
      if (kind == GA_STORECLASS_STRING)
        gdp.addStringTuple(GA_ATTRIB_POINT, name, 1);
      else if (kind == GA_STORECLASS_INT)
        gdp.addIntTuple(GA_ATTRIB_POINT, name, a->getTupleSize());
      else
        gdp.addFloatTuple(GA_ATTRIB_POINT, name, a->getTupleSize());
      to = gdp.findPointAttribute(name);
      to->setTypeInfo(a->getTypeInfo());
    }
    if (to->getStorageClass() != kind || to->getTupleSize() != a->getTupleSize()) continue;
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (kind == GA_STORECLASS_STRING)
        GA_RWHandleS(to).set(fresh[i], GA_ROHandleS(a).get(from[i]));
      for (int k = 0; k < a->getTupleSize() && kind == GA_STORECLASS_INT; ++k)
        GA_RWHandleI(to).set(fresh[i], k, GA_ROHandleI(a).get(from[i], k));
      for (int k = 0; k < a->getTupleSize() && kind == GA_STORECLASS_REAL; ++k)
        GA_RWHandleF(to).set(fresh[i], k, GA_ROHandleF(a).get(from[i], k));
    }
    to->bumpDataId();
  }
}

void grow_older(GU_Detail &gdp, const Bridge &bridge, const GU_Detail *sources, double dt,
                bool asked) {
  std::vector<GA_Offset> fresh;
  for (size_t rank : bridge.born()) fresh.push_back(bridge.offsets()[rank]);
  if (!fresh.empty() && sources) pass_on(*sources, fresh, gdp);
  if (!asked && !gdp.findPointAttribute("age") && !gdp.findPointAttribute("life")) return;
  if (!gdp.findPointAttribute("age")) gdp.addFloatTuple(GA_ATTRIB_POINT, "age", 1);
  GA_RWHandleF age(gdp.findPointAttribute("age"));
  for (GA_Offset o : bridge.offsets()) age.set(o, float(double(age.get(o)) + dt));
  for (GA_Offset o : fresh) age.set(o, 0.0f);
  age.bumpDataId();
}

} // namespace oz
