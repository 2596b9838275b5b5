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

class ColliderCook : public oz::Cook {
public:
  static constexpr const char *node = "collider";
  static constexpr SOP_NodeVerb::CookMode mode = SOP_NodeVerb::COOK_DUPLICATE;

protected:
  void run(OP_Context &context, oz::Report &report) override {
    const oz::Parms parms(node, *this, context.getTime());
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

class ColliderNode : public oz::VerbNode<ColliderCook> {
public:
  static OP_Node *construct(OP_Network *net, const char *name, OP_Operator *op) {
    return new ColliderNode(net, name, op);
  }

protected:
  ColliderNode(OP_Network *net, const char *name, OP_Operator *op) : VerbNode(net, name, op) {
    mySopFlags.setNeedGuide1(true);
  }
  OP_ERROR cookMyGuide1(OP_Context &context) override {
    oz::Report quiet; // the solver tells its faults
    myGuide1->clearAndDestroy();
    oz::guarded(quiet, [&] {
      const oz::Parms parms("collider", *this, context.getTime());
      oz::ColliderSettings settings;
      oz::ColliderInput input;
      oz::Colliders colliders;
      const oz::Shapes shapes(gdp);
      input.now = &shapes;
      if (!parms.on("showguide") ||
          !settings.read_shape("collider", parms, parms.real("particlesep"), quiet))
        return;
      colliders.show(settings, input, *myGuide1, quiet);
    });
    myGuide1->bumpAllDataIds();
    return error();
  }
};

} // namespace

void oz::add_collider(OP_OperatorTable *table) {
  register_sop(table, "collider", ColliderNode::construct, Verb<ColliderCook>::templates());
}
