// SPDX-License-Identifier: Apache-2.0
#include "detail.h"

#include <GA/GA_AttributeDict.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_Primitive.h>
#include <UT/UT_StringHolder.h>

#include <algorithm>
#include <cstring>

namespace oz {

void write_detail(GU_Detail &gdp, const char *name, int components, const float *values) {
  gdp.addFloatTuple(GA_ATTRIB_DETAIL, name, components);
  GA_RWHandleF h(gdp.findAttribute(GA_ATTRIB_DETAIL, name));
  for (int k = 0; k < components; ++k) h.set(GA_Offset(0), k, values[k]);
  h.bumpDataId();
}

void write_detail(GU_Detail &gdp, const char *name, int value) {
  gdp.addIntTuple(GA_ATTRIB_DETAIL, name, 1);
  GA_RWHandleI h(gdp.findAttribute(GA_ATTRIB_DETAIL, name));
  h.set(GA_Offset(0), value);
  h.bumpDataId();
}

bool find_number(const GU_Detail &gdp, const char *name, GA_Offset prim, GA_Offset point,
                 int components, double *out) {
  const GA_AttributeOwner owners[3] = {GA_ATTRIB_PRIMITIVE, GA_ATTRIB_POINT, GA_ATTRIB_DETAIL};
  const GA_Offset places[3] = {prim, point, 0};
  for (int o = 0; o < 3; ++o) {
    if (places[o] == GA_INVALID_OFFSET) continue;
    GA_ROHandleD h(gdp.findAttribute(owners[o], name));
    if (!h.isValid() || h.getTupleSize() < components) continue;
    for (int k = 0; k < components; ++k) out[k] = h.get(places[o], k);
    return true;
  }
  return false;
}

static uint64_t hash_of_text(const UT_StringHolder &text, uint64_t hash) {
  return ooze_hash(text.c_str(), std::strlen(text.c_str()) + 1, hash);
}

uint64_t hash_of(const GU_Detail *gdp, const std::vector<std::string> &names) {
  if (!gdp) return 1;
  GA_Size n = gdp->getNumPoints();
  uint64_t h = ooze_hash(&n, sizeof n, 0);
  std::vector<float> row;
  for (auto &name : names)
    for (GA_AttributeOwner owner : {GA_ATTRIB_POINT, GA_ATTRIB_DETAIL}) {
      const GA_Attribute *a = gdp->findAttribute(owner, name.c_str());
      GA_ROHandleF at(a);
      GA_ROHandleS text(a);
      for (GA_Index i = 0; owner == GA_ATTRIB_POINT && text.isValid() && i < n; ++i)
        h = hash_of_text(UT_StringHolder(text.get(gdp->pointOffset(i))), h);
      if (!at.isValid()) continue;
      GA_Size count = owner == GA_ATTRIB_POINT ? n : 1;
      int width = a->getTupleSize();
      row.resize(size_t(count) * size_t(width));
      for (int k = 0; k < width && count; ++k) {
        if (owner == GA_ATTRIB_POINT)
          at.getBlockFromIndices(GA_Index(0), count, row.data() + k, width, k);
        else
          row[size_t(k)] = at.get(GA_Offset(0), k);
      }
      h = ooze_hash(row.data(), row.size() * sizeof(float), h);
    }
  std::vector<int64> links;
  GA_ROHandleS title(gdp->findAttribute(GA_ATTRIB_PRIMITIVE, "name")),
      point_title(gdp->findPointAttribute("name"));
  for (GA_Index i = 0; point_title.isValid() && i < n; ++i)
    h = hash_of_text(UT_StringHolder(point_title.get(gdp->pointOffset(i))), h);
  for (GA_Iterator it(gdp->getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = gdp->getGEOPrimitive(*it);
    if (title.isValid()) h = hash_of_text(UT_StringHolder(title.get(*it)), h);
    links.push_back(prim->getVertexCount());
    for (GA_Size v = 0; v < prim->getVertexCount(); ++v)
      links.push_back(gdp->pointIndex(prim->getPointOffset(v)));
    for (auto &name : names) {
      double value = 0;
      if (find_number(*gdp, name.c_str(), *it, GA_INVALID_OFFSET, 1, &value))
        h = ooze_hash(&value, sizeof value, h);
    }
  }
  return ooze_hash(links.data(), links.size() * sizeof(int64), h);
}

uint64_t hash_of_points(const GU_Detail *gdp, uint64_t hash) {
  if (!gdp) return hash;
  std::vector<std::string> names;
  for (GA_AttributeDict::iterator it = gdp->pointAttribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
       ++it)
    names.push_back(it.attrib()->getName().c_str());
  std::sort(names.begin(), names.end());
  std::vector<float> row;
  for (auto &name : names) {
    const GA_Attribute *a = gdp->findPointAttribute(name.c_str());
    GA_ROHandleF number(a);
    GA_ROHandleS text(a);
    const GA_Size n = gdp->getNumPoints();
    hash = ooze_hash(name.data(), name.size(), hash);
    for (GA_Index i = 0; text.isValid() && i < n; ++i) {
      hash = hash_of_text(UT_StringHolder(text.get(gdp->pointOffset(i))), hash);
    }
    row.resize(size_t(n));
    for (int k = 0; number.isValid() && n && k < a->getTupleSize(); ++k) {
      number.getBlockFromIndices(GA_Index(0), n, row.data(), 1, k);
      hash = ooze_hash(row.data(), row.size() * sizeof(float), hash);
    }
  }
  return hash;
}

} // namespace oz
