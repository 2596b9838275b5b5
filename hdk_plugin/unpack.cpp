// SPDX-License-Identifier: Apache-2.0
#include "unpack.h"

#include <GA/GA_AttributeDict.h>
#include <GA/GA_ElementGroup.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_PrimPacked.h>
#include <UT/UT_StringHolder.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace oz {

// Numbers of the packed primitive's point on all points of `to` that have none of that name. The
// primitive's transform has been applied to them.
static void hand_down(const GU_Detail &from, GA_Offset point, GU_Detail &to) {
  static const std::set<std::string> placing = {"P",     "N",     "up",     "orient", "rot",
                                                "trans", "scale", "pscale", "pivot",  "transform",
                                                "w",     "id",    "name",   "body"};
  for (GA_AttributeDict::iterator it = from.pointAttribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
       ++it) {
    const GA_Attribute *a = it.attrib();
    const UT_StringHolder name(a->getName());
    const bool real = a->getStorageClass() == GA_STORECLASS_REAL;
    if (placing.count(name.c_str()) || to.findPointAttribute(name) ||
        (!real && a->getStorageClass() != GA_STORECLASS_INT))
      continue;
    if (real)
      to.addFloatTuple(GA_ATTRIB_POINT, name, a->getTupleSize());
    else
      to.addIntTuple(GA_ATTRIB_POINT, name, a->getTupleSize());
    to.findPointAttribute(name)->setTypeInfo(a->getTypeInfo());
    GA_ROHandleF value(a);
    GA_RWHandleF out(to.findPointAttribute(name));
    for (GA_Index i = 0; i < to.getNumPoints(); ++i)
      for (int k = 0; k < a->getTupleSize(); ++k)
        out.set(to.pointOffset(i), k, value.get(point, k));
  }
}

void unpack(GU_Detail &gdp) {
  GA_ROHandleS name(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "name")),
      point_name(gdp.findPointAttribute("name"));
  std::vector<std::unique_ptr<GU_Detail>> insides;
  auto gone = gdp.createDetachedPrimitiveGroup();
  for (GA_Index i = 0; i < gdp.getNumPrimitives(); ++i) {
    const GA_Offset prim = gdp.primitiveOffset(i);
    const GEO_Primitive *p = gdp.getGEOPrimitive(prim);
    if (!GU_PrimPacked::isPackedPrimitive(*p)) continue;
    auto inside = std::make_unique<GU_Detail>();
    if (!static_cast<const GU_PrimPacked *>(p)->unpackUsingPolygons(*inside)) continue;
    const GA_Offset point = p->getPointOffset(0);
    std::string called = name.isValid()         ? name.get(prim).c_str()
                         : point_name.isValid() ? point_name.get(point).c_str()
                                                : "";
    if (called.empty()) called = "packed" + std::to_string(i);
    inside->addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1);
    GA_RWHandleS h(inside->findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
    for (GA_Iterator it(inside->getPrimitiveRange()); !it.atEnd(); ++it) h.set(*it, called.c_str());
    hand_down(gdp, point, *inside);
    insides.push_back(std::move(inside));
    gone->addOffset(prim);
  }
  if (insides.empty()) return;
  gdp.destroyPrimitiveOffsets(GA_Range(*gone));
  for (auto &inside : insides) gdp.merge(*inside);
}

} // namespace oz
