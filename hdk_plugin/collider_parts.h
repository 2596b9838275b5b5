// The pieces that a collider's geometry is made of: polygons by name, packed primitives, VDBs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "colliders.h"

namespace oz {

// One collider as the geometry has it.
struct Piece {
  std::string name;
  ooze_collider_desc desc; // with what its attributes say
  uint32_t type = 0;       // how it moves: ColliderSettings::type
  uint32_t mode = 0;       // solid or shell: OOZE_SDF_*
  std::vector<uint32_t> triangles;
  std::vector<float> now, before, first; // 3 a point; first may be empty
  std::vector<float> friction, stick;    // 1 a point, where its points differ in them
  const void *grid = nullptr; // of a VDB, whose points are its surface, made where they are needed
  bool moves = false;         // of a VDB: `before` is known
};

// All of them, in an order that follows from the geometry alone.
bool read_pieces(const GU_Detail &now, const ColliderSettings &settings, const ColliderInput &input,
                 std::vector<Piece> &out, Report &report);

// The vectors that go with a distance of that name: NAMEvel, v, vel, velocity, or the only ones
// there are; NULL where there are none.
const void *velocities_of(const GU_Detail &gdp, const std::string &name);

bool mesh_of(const std::vector<float> &points, const std::vector<uint32_t> &triangles, Mesh &out,
             Report &report);

} // namespace oz
