// Ooze Collider: the part of a geometry in the simulation, as attributes of its primitives; its
// guide shows the solver's view. SPDX-License-Identifier: Apache-2.0
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>

#include <string>

#include "detail.h"
#include "guides.h"
#include "nodes.h"
#include "verb.h"

namespace {

constexpr char COLLIDER[] = "collider";
class ColliderCook : public oz::Cook<COLLIDER, SOP_NodeVerb::COOK_DUPLICATE> {
public:
  static void guide(const oz::Parms &parms, const GU_Detail &detail, GU_Detail &to,
                    oz::Report &report) {
    oz::ColliderSettings settings;
    oz::ColliderInput input;
    oz::Colliders colliders;
    const oz::Shapes shapes(&detail);
    input.now = &shapes;
    if (settings.read_shape(node, parms, parms.real("particlesep"), report))
      colliders.show(settings, input, to, report);
  }

protected:
  void run(const oz::Parms &parms, oz::Report &report) override {
    if (!inputGeo(0)) {
      report.fail("the first input is missing: expected polygons, packed pieces, VDBs, volumes or "
                  "a height field");
      return;
    }
    static const char *const names[12] = {"friction",       "stick",         "temperature",
                                          "contact",        "boundary",      "walldensity",
                                          "collidertype",   "collidershape", "collidervoxel",
                                          "shellthickness", "kill",          "invert"};
    for (const char *token : names) put(token, parms.real(token));
    const std::string name = parms.text("name");
    if (name.empty()) return;
    gdp->addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1);
    GA_RWHandleS h(gdp->findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
    for (GA_Iterator it(gdp->getPrimitiveRange()); !it.atEnd(); ++it) h.set(*it, name.c_str());
    gdp->findAttribute(GA_ATTRIB_PRIMITIVE, "name")->bumpDataId();
  }

private:
  // The number of every primitive, where the geometry does not have it already: painted on points,
  // of single pieces, or of all.
  void put(const char *name, float value) {
    for (GA_AttributeOwner owner : {GA_ATTRIB_POINT, GA_ATTRIB_PRIMITIVE, GA_ATTRIB_DETAIL})
      if (gdp->findAttribute(owner, name)) return;
    gdp->addFloatTuple(GA_ATTRIB_PRIMITIVE, name, 1, GA_Defaults(double(value)));
    GA_RWHandleF h(gdp->findAttribute(GA_ATTRIB_PRIMITIVE, name));
    for (GA_Iterator it(gdp->getPrimitiveRange()); !it.atEnd(); ++it) h.set(*it, value);
    h.bumpDataId();
  }
};

} // namespace

void oz::add_collider(OP_OperatorTable *table) {
  using Node = GuidedNode<ColliderCook>;
  Node::enlist(table, Node::construct);
}
