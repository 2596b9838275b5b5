// SPDX-License-Identifier: Apache-2.0
#include "forces.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_Assert.h>

#include <algorithm>
#include <string>
#include <vector>

#include "detail.h"

namespace oz {

const std::vector<std::string> &force_names() {
  static const std::vector<std::string> names = {"P", "id", "force", "targetv", "airresist"};
  return names;
}

// Arrays come to be where something differs from particle to particle.
std::vector<float> &Forces::air() {
  for (size_t i = myTarget.size(); i < 3 * myCount; ++i) myTarget.push_back(myDesc.wind[i % 3]);
  return myTarget;
}
std::vector<float> &Forces::rate() {
  if (myResistance.empty()) myResistance.assign(myCount, myDesc.air_resistance);
  return myResistance;
}

// The forces of one point on one particle. A particle's own `force` is state that the solver has.
void Forces::take(const GU_Detail &from, GA_Offset point, size_t particle, bool force) {
  double value[3] = {0, 0, 0};
  if (force && find_number(from, "force", GA_INVALID_OFFSET, point, 3, value)) {
    if (myAcceleration.empty()) myAcceleration.assign(3 * myCount, 0.0f);
    for (size_t k = 0; k < 3; ++k) myAcceleration[3 * particle + k] += float(value[k]);
  }
  if (find_number(from, "targetv", GA_INVALID_OFFSET, point, 3, value))
    for (size_t k = 0; k < 3; ++k) air()[3 * particle + k] = float(value[k]);
  if (find_number(from, "airresist", GA_INVALID_OFFSET, point, 1, value))
    rate()[particle] = float(value[0]);
}

void Forces::own(const GU_Detail &points, const std::vector<GA_Offset> &offsets) {
  if (!points.findPointAttribute("targetv") && !points.findPointAttribute("airresist")) return;
  for (size_t i = 0; i < myCount; ++i) take(points, offsets[i], i, false);
}

void Forces::by_id(const GU_Detail &geometry, const std::vector<uint64_t> &ids) {
  GA_ROHandleID id(geometry.findPointAttribute("id"));
  for (GA_Index i = 0; id.isValid() && i < geometry.getNumPoints(); ++i) {
    const GA_Offset o = geometry.pointOffset(i);
    const uint64_t wanted = uint64_t(id.get(o));
    auto at = std::lower_bound(ids.begin(), ids.end(), wanted);
    if (at != ids.end() && *at == wanted) take(geometry, o, size_t(at - ids.begin()), true);
  }
}

bool Forces::fields(ooze_solver *s, const GU_Detail &geometry, Report &report) {
  std::vector<float> positions, values;
  for (GA_Iterator it(geometry.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = geometry.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMVDB) continue;
    auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
    const std::string name = vdb->getGridName();
    const bool push = name == "force" || name == "accel";
    const bool wind = name == "targetv" || name == "wind" || name == "vel" || name == "v";
    if (!vdb->hasGrid() || vdb->getStorageType() != UT_VDB_VEC3F || (!push && !wind)) {
      report.warn("VDB %s among the forces is ignored: expected vectors called force, targetv, "
                  "wind, vel or v",
                  name.c_str());
      continue;
    }
    if (positions.empty()) {
      positions.resize(3 * myCount);
      values.resize(3 * myCount);
      if (!solver_ok(
              s, ooze_attribute_read(s, OOZE_POSITION, 0, uint32_t(myCount), 0, positions.data()),
              "forces", report))
        return false;
    }
    ooze_message why = {""};
    if (!report.ok(ooze_grid_sample(vdb->getConstGridPtr().get(), positions.data(),
                                    uint32_t(myCount), values.data(), &why),
                   why, name.c_str()))
      return false;
    std::vector<float> &to = push ? myAcceleration : air();
    to.resize(3 * myCount, 0.0f);
    for (size_t i = 0; i < values.size(); ++i) to[i] += values[i];
  }
  return true;
}

bool Forces::read(ooze_solver *s, const Parms &parms, const GU_Detail &points,
                  const std::vector<uint64_t> &ids, const std::vector<GA_Offset> &offsets,
                  const GU_Detail *geometry, Report &report) {
  ooze_forces_default(&myDesc);
  myCount = ids.size();
  myDesc.count = uint32_t(myCount);
  myDesc.air_resistance = parms.real("airresist");
  for (int k = 0; k < 3; ++k) myDesc.wind[k] = float(parms.number("wind", k));
  if (myCount) {
    if (geometry && !fields(s, *geometry, report)) return false;
    own(points, offsets);
    if (geometry) by_id(*geometry, ids);
  }
  myDesc.acceleration = myAcceleration.empty() ? nullptr : myAcceleration.data();
  myDesc.target = myTarget.empty() ? nullptr : myTarget.data();
  myDesc.resistance = myResistance.empty() ? nullptr : myResistance.data();
  mySome = myCount && (myDesc.acceleration || myDesc.resistance || myDesc.air_resistance > 0);
  return true;
}

} // namespace oz
