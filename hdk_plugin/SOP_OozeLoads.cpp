// Ooze Loads: forces and torques of the fluid on colliders and bodies, as attributes of points by
// their names. SPDX-License-Identifier: Apache-2.0
#include <GA/GA_AttributeDict.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_Primitive.h>
#include <UT/UT_StringHolder.h>
#include <UT/UT_Vector3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "bodies.h"
#include "detail.h"
#include "nodes.h"
#include "verb.h"

namespace {

constexpr char LOADS[] = "loads";
class LoadsCook : public oz::Cook<LOADS, SOP_NodeVerb::COOK_GENERATOR> {
protected:
  void run(const oz::Parms &parms, oz::Report &report) override {
    const GU_Detail *simulation = inputGeo(0), *pieces = inputGeo(1);
    if (!simulation) {
      report.fail("the first input is missing: expected the output of Ooze Solver or Ooze Step");
      return;
    }
    if (pieces)
      load(*simulation, *pieces, parms.real("scale"), report);
    else
      points(*simulation, parms.real("scale"));
    gdp->bumpAllDataIds();
  }

private:
  // A detail attribute WHAT_NAME of the simulation; false where there is none.
  static bool find(const GU_Detail &simulation, const char *what, const std::string &name,
                   int width, float *out) {
    double value[4] = {0, 0, 0, 0};
    const std::string full = what + std::string("_") + oz::plain_name(name);
    if (!oz::find_number(simulation, full.c_str(), GA_INVALID_OFFSET, GA_INVALID_OFFSET, width,
                         value))
      return false;
    for (int k = 0; k < width; ++k) out[k] = float(value[k]);
    return true;
  }

  GA_RWHandleF attribute(const char *name, int width) {
    gdp->addFloatTuple(GA_ATTRIB_POINT, name, width);
    GA_Attribute *a = gdp->findPointAttribute(name);
    if (width == 3) a->setTypeInfo(GA_TYPE_VECTOR);
    return GA_RWHandleF(a);
  }

  static void put(const GA_RWHandleF &to, GA_Offset o, int width, const float *value, float scale) {
    for (int k = 0; k < width; ++k) to.set(o, k, scale * value[k]);
  }

  // Force and torque about each point of a piece: Bullet's, whose pieces have their middle there.
  void load(const GU_Detail &simulation, const GU_Detail &pieces, float scale, oz::Report &report) {
    gdp->replaceWith(pieces);
    GA_RWHandleF force = attribute("force", 3), torque = attribute("torque", 3);
    size_t found = 0;
    for (auto &entry : names(*gdp)) {
      const GA_Offset o = entry.first;
      float f[3] = {0, 0, 0}, t[3] = {0, 0, 0}, pivot[3];
      const UT_Vector3 at = gdp->getPos3(o);
      if (find(simulation, "force", entry.second, 3, f) &&
          find(simulation, "torque", entry.second, 3, t) &&
          find(simulation, "pivot", entry.second, 3, pivot)) {
        ++found;
        ooze_torque_about(f, t, pivot, at.data(), t);
      }
      put(force, o, 3, f, scale);
      put(torque, o, 3, t, scale);
    }
    if (!found && gdp->getNumPoints())
      report.warn(
          "no piece has the name of a collider that the fluid has met: expected a `name` on "
          "the pieces, and Collider Forces on in the solver's Output folder");
  }

  // Which collider a point is of: its own name, or that of its primitive, or its number.
  static std::map<GA_Offset, std::string> names(const GU_Detail &in) {
    std::map<GA_Offset, std::string> out;
    GA_ROHandleS point(in.findPointAttribute("name")),
        primitive(in.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
    for (GA_Index i = 0; i < in.getNumPrimitives(); ++i) {
      const GA_Offset prim = in.primitiveOffset(i);
      const GEO_Primitive *p = in.getGEOPrimitive(prim);
      if (p->getVertexCount() != 1) continue; // packed: one point
      out[p->getPointOffset(0)] =
          primitive.isValid() ? primitive.get(prim).c_str() : "packed" + std::to_string(i);
    }
    for (GA_Index i = 0; point.isValid() && i < in.getNumPoints(); ++i) {
      const GA_Offset o = in.pointOffset(i);
      if (!primitive.isValid() || !out.count(o)) out[o] = point.get(o).c_str();
    }
    return out;
  }

  // One for each collider and body, with all that is told of it: for Transform Pieces, and to read.
  void points(const GU_Detail &simulation, float scale) {
    std::vector<std::string> found;
    for (GA_AttributeDict::iterator it = simulation.attribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
         ++it) {
      const std::string name = it.attrib()->getName().c_str();
      if (name.compare(0, 6, "pivot_") == 0) found.push_back(name.substr(6));
    }
    std::sort(found.begin(), found.end());
    if (found.empty()) return;
    const GA_Offset first = gdp->appendPointBlock(GA_Size(found.size()));
    gdp->addStringTuple(GA_ATTRIB_POINT, "name", 1);
    GA_RWHandleS title(gdp->findPointAttribute("name"));
    static const struct {
      const char *name;
      int width;
      bool load;
    } all[6] = {{"force", 3, true}, {"torque", 3, true}, {"orient", 4, false},
                {"v", 3, false},    {"w", 3, false},     {"mass", 1, false}};
    for (size_t i = 0; i < found.size(); ++i) {
      const GA_Offset o = first + GA_Offset(i);
      float value[4] = {0, 0, 0, 0};
      find(simulation, "pivot", found[i], 3, value);
      gdp->setPos3(o, UT_Vector3(value[0], value[1], value[2]));
      title.set(o, found[i].c_str());
      for (auto &a : all) {
        const bool told = find(simulation, a.name, found[i], a.width, value);
        GA_RWHandleF to = attribute(a.name, a.width);
        if (!told) std::fill(value, value + 4, 0.0f);
        if (!told && !std::strcmp(a.name, "orient")) value[3] = 1.0f; // unturned
        put(to, o, a.width, value, a.load ? scale : 1.0f);
      }
    }
  }
};

} // namespace

void oz::add_loads(OP_OperatorTable *table) { VerbNode<LoadsCook>::enlist(table); }
