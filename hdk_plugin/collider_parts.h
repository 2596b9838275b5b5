// The pieces that a collider's geometry is made of: polygons by name, packed primitives, VDBs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "colliders.h"

namespace oz {

// One collider as the geometry has it.
struct Piece {
  std::string name;
  ooze_collider_desc desc;        // with the values of its attributes
  uint32_t type = 0;              // how it moves: ColliderSettings::type
  uint32_t mode = 0;              // solid or shell: OOZE_SDF_*
  float voxel = 0, thickness = 0; // m: ColliderSettings
  float band = 3;                 // voxels: ColliderSettings
  std::vector<uint32_t> triangles;
  std::vector<float> now, before, first; // 3 a point; first may be empty
  std::vector<float> friction, stick;    // 1 a point, where its points differ in them
  std::shared_ptr<const void> grid;      // of a VDB; its points are its surface, made where needed
  bool moves = false;                    // of a VDB: `before` is known
};

// All of them, in an order that follows from the geometry alone.
bool read_pieces(const ColliderSettings &settings, const ColliderInput &input,
                 std::vector<Piece> &out, Report &report);
bool read_volumes(const ColliderSettings &settings, const ColliderInput &input,
                  std::vector<Piece> &out, Report &report);

// A new piece with the settings' values, or the geometry's in their place.
void begin_piece(const std::string &name, const ColliderSettings &settings, Piece &out);
bool overrule(const GU_Detail &gdp, GA_Offset prim, GA_Offset point, Piece &piece, Report &report);
bool finite(const Piece &piece, Report &report);
uint64_t hash_of_volume(const GU_Detail &gdp, GA_Offset prim); // VDB or native; 0 of others

// The vectors that go with a distance of that name: NAMEvel, v, vel, velocity, or the only ones
// there are; NULL where there are none.
const void *velocities_of(const GU_Detail &gdp, const std::string &name);

bool mesh_of(const std::vector<float> &points, const std::vector<uint32_t> &triangles, Mesh &out,
             Report &report);

} // namespace oz
