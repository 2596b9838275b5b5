// Wind, fields and points that push particles during one step. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// From the node's parameters, from `force`, `targetv` and `airresist` of the particles themselves,
// and from a geometry of forces: its vector VDBs `force` (N/kg) and `targetv`, `wind`, `vel` or `v`
// (m/s), and its points that have the `id` of a particle.
class Forces {
public:
  // `points` are the particles at `offsets`, in ascending id.
  bool read(ooze_solver *s, const Parms &parms, const GU_Detail &points,
            const std::vector<uint64_t> &ids, const std::vector<GA_Offset> &offsets,
            const GU_Detail *geometry, Report &report);
  bool none() const { return !mySome; }
  const ooze_forces &desc() const { return myDesc; }

private:
  bool fields(ooze_solver *s, const GU_Detail &geometry, Report &report);
  void own(const GU_Detail &points, const std::vector<GA_Offset> &offsets);
  void by_id(const GU_Detail &geometry, const std::vector<uint64_t> &ids);
  void take(const GU_Detail &from, GA_Offset point, size_t particle, bool force);
  std::vector<float> &air();
  std::vector<float> &rate();

  size_t myCount = 0;
  bool mySome = false;
  std::vector<float> myAcceleration, myTarget, myResistance;
  ooze_forces myDesc;
};

const std::vector<std::string> &force_names(); // of attributes that count

} // namespace oz
