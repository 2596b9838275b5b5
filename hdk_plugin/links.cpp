// SPDX-License-Identifier: Apache-2.0
#include "links.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PolyCounts.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_PrimPoly.h>
#include <UT/UT_Assert.h>

#include <algorithm>

namespace oz {

static bool is_link(const GU_Detail &gdp, GA_Offset prim) {
  const GEO_Primitive *p = gdp.getGEOPrimitive(prim);
  return p->getTypeId() == GEO_PRIMPOLY && p->getVertexCount() == 2 &&
         !UTverify_cast<const GEO_PrimPoly *>(p)->isClosed();
}

static bool has_links(const GU_Detail &gdp) {
  return gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "linkkind") != nullptr;
}

bool load_links(ooze_solver *s, const GU_Detail &gdp, GA_Size &found, Report &report) {
  found = 0;
  if (!has_links(gdp)) return true;
  GA_ROHandleID id(gdp.findPointAttribute("id"));
  GA_ROHandleF rest(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "restlength")),
      spare(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "linkspare"));
  GA_ROHandleI kind(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "linkkind"));
  if (!rest.isValid() || !spare.isValid() || !kind.isValid())
    return report.fail(
        "links lack one of the primitive attributes restlength, linkkind, linkspare");
  std::vector<uint64_t> pairs;
  std::vector<float> lengths, spares;
  std::vector<uint32_t> kinds;
  for (GA_Iterator it(gdp.getPrimitiveRange()); !it.atEnd(); ++it) {
    if (!is_link(gdp, *it)) continue;
    const GEO_Primitive *p = gdp.getGEOPrimitive(*it);
    for (GA_Size v = 0; v < 2; ++v) pairs.push_back(uint64_t(id.get(p->getPointOffset(v))));
    lengths.push_back(rest.get(*it));
    kinds.push_back(uint32_t(kind.get(*it)));
    spares.push_back(spare.get(*it));
  }
  found = GA_Size(kinds.size());
  if (!found) return true;
  ooze_links l;
  ooze_links_default(&l);
  l.count = uint64_t(found);
  l.pairs = pairs.data();
  l.rest = lengths.data();
  l.kind = kinds.data();
  l.spare = spares.data();
  return solver_ok(s, ooze_links_add(s, &l), "links", report);
}

void remove_links(GU_Detail &gdp) {
  if (!has_links(gdp)) return;
  auto old = gdp.createDetachedPrimitiveGroup();
  for (GA_Iterator it(gdp.getPrimitiveRange()); !it.atEnd(); ++it)
    if (is_link(gdp, *it)) old->addOffset(*it);
  if (old->entries() == 0) return;
  gdp.destroyPrimitiveOffsets(GA_Range(*old));
  gdp.bumpDataIdsForAddOrRemove(false, true, true);
}

bool store_links(ooze_solver *s, GU_Detail &gdp, const std::vector<uint64_t> &ids,
                 const std::vector<GA_Offset> &offsets, Report &report) {
  uint64_t n = 0;
  if (!solver_ok(s, ooze_links_count(s, &n), "links", report)) return false;
  if (n == 0) return true;
  std::vector<uint64_t> pairs(2 * n);
  std::vector<float> lengths(n), spares(n);
  std::vector<uint32_t> kinds(n);
  std::vector<int> ends(2 * n);
  if (!solver_ok(
          s, ooze_links_read(s, 0, n, pairs.data(), lengths.data(), kinds.data(), spares.data()),
          "links", report))
    return false;
  for (size_t i = 0; i < 2 * n; ++i)
    ends[i] =
        int(offsets[size_t(std::lower_bound(ids.begin(), ids.end(), pairs[i]) - ids.begin())]);
  for (const char *name : {"restlength", "linkspare"})
    gdp.addFloatTuple(GA_ATTRIB_PRIMITIVE, name, 1);
  gdp.addIntTuple(GA_ATTRIB_PRIMITIVE, "linkkind", 1);
  GEO_PolyCounts counts;
  counts.append(2, GA_Size(n));
  GA_Offset first = GU_PrimPoly::buildBlock(&gdp, GA_Offset(0), gdp.getNumPointOffsets(), counts,
                                            ends.data(), false);
  GA_RWHandleF rest(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "restlength")),
      spare(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "linkspare"));
  GA_RWHandleI kind(gdp.findAttribute(GA_ATTRIB_PRIMITIVE, "linkkind"));
  for (size_t i = 0; i < n; ++i) {
    rest.set(first + GA_Offset(i), lengths[i]);
    spare.set(first + GA_Offset(i), spares[i]);
    kind.set(first + GA_Offset(i), int32(kinds[i]));
  }
  gdp.bumpDataIdsForAddOrRemove(false, true, true);
  return true;
}

} // namespace oz
