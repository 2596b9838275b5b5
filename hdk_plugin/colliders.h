// Polygons, VDBs and volumes to colliders of the solver. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "host.h"

namespace oz {

// How the node wants colliders to be; attributes of the geometry overrule friction, stick and temperature.
struct ColliderSettings {
  ooze_collider_desc desc; // friction, stick, temperature
  uint32_t type = 0;       // 0 automatic, 1 static, 2 rigid, 3 deforming
  uint32_t mode = OOZE_SDF_AUTO;
  float voxel = 0.01f, thickness = 0;
  bool ground = false;
  float ground_height = 0;
  bool read(const char *node, const Parms &parms, float separation, Report &report);
};

// Colliders at the end of a step (now) and at its beginning (before, NULL: from `v`). `first` is what they were when
// the simulation began, so that a body that only moves has one shape throughout (NULL: the attribute `rest`, or now).
struct ColliderInput {
  const GU_Detail *now = nullptr, *before = nullptr, *first = nullptr;
  double dt = 0;
};

class Colliders {
public:
  ~Colliders();
  // Brings the solver's colliders in line with the input. They depend on the input alone, not on what was before.
  bool update(ooze_solver *s, const ColliderSettings &settings, const ColliderInput &input, Report &report);
  void forget() { myPlaced.clear(); } // the solver is another one
  // Detail attributes force_NAME, torque_NAME and pivot_NAME.
  void write_loads(ooze_solver *s, GU_Detail &gdp) const;

private:
  struct Shape { // bricks, and what they were made of
    ooze_sdf sdf;
    uint64_t used = 0;
  };
  struct Placed {
    ooze_collider handle = 0;
    uint64_t shape = 0; // key into myShapes; 0: analytic
    std::string name;
    ooze_collider_desc desc;
  };
  struct Piece;
  bool polygons(const GU_Detail &now, const ColliderSettings &settings, const ColliderInput &input,
                std::vector<Placed> &out, Report &report);
  bool volumes(const GU_Detail &now, const ColliderSettings &settings, std::vector<Placed> &out, Report &report);
  bool place(Piece &piece, const ColliderSettings &settings, Placed &out, Report &report);
  bool voxelise(const std::vector<float> &points, const Piece &piece, const ColliderSettings &settings, Placed &out,
                Report &report);

  std::vector<Placed> myPlaced;
  std::map<uint64_t, Shape> myShapes;
  uint64_t myUse = 0;
};

// Names that a collider's geometry may carry, and a hash of the VDBs in it.
const std::vector<std::string> &collider_names();
uint64_t hash_of_grids(const GU_Detail *gdp);

} // namespace oz
