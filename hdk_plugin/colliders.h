// Polygons, packed primitives, VDBs and volumes to colliders of the solver.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "host.h"

namespace oz {

// How the node wants colliders to be; attributes of the geometry overrule it.
struct ColliderSettings {
  ooze_collider_desc desc; // friction, stick, temperature, boundary, ...
  uint32_t type = 0;       // 0 automatic, 1 static, 2 rigid, 3 deforming
  uint32_t mode = OOZE_SDF_AUTO;
  float voxel = 0.01f, thickness = 0, separation = 0.01f;
  float band = 3;      // voxels of distance outside
  bool solids = false; // shapes alone, of `voxel`: their motion and properties are of no account
  bool ground = false, particles = true; // particles: the model knows those of boundaries
  float ground_height = 0;
  uint32_t limits = 0; // 0 none, 1 delete outside, 2 a closed box
  float limit_half[3] = {1, 1, 1}, limit_centre[3] = {0, 0, 0};
  ooze_pose world; // axes that the ground and the limits are given in
  bool read(const char *node, const Parms &parms, float particle_separation, Report &report);
  // The same of a node that has a collider's parameters alone.
  bool read_shape(const char *node, const Parms &parms, float particle_separation, Report &report);
  // Colliders of the node itself; false where there is none.
  bool describe_ground(ooze_collider_desc &out) const;
  bool describe_limits(ooze_collider_desc &out) const;
};

// A geometry whose packed primitives are unpacked once, however often they are asked for.
class Shapes {
public:
  struct Inside {
    std::vector<float> points; // 3 each, where they are
    std::vector<uint32_t> triangles;
  };
  explicit Shapes(const GU_Detail *gdp = nullptr) : myDetail(gdp) {} // which outlives it
  const GU_Detail *gdp() const { return myDetail; }
  // Without points where the primitive is not packed, or holds no polygons.
  const Inside &packed(GA_Index prim) const;
  // Of VDBs, volumes and packed primitives: equal ones, equal hash.
  uint64_t hash() const;

private:
  const GU_Detail *myDetail;
  mutable std::map<GA_Index, Inside> myInside;
};

// Colliders at the end of a step (now) and at its beginning (before, NULL: from `v`). `first` is
// their state when the simulation began, so that a body that only moves has one shape throughout
// (NULL: the attribute `rest`, or now).
struct ColliderInput {
  const Shapes *now = nullptr, *before = nullptr, *first = nullptr;
  double dt = 0;
};

struct Piece;
class Colliders {
public:
  // Brings the solver's colliders in line with the input. They depend on the input alone, not on
  // earlier frames.
  bool update(ooze_solver *s, const ColliderSettings &settings, const ColliderInput &input,
              Report &report);
  void forget() { myPlaced.clear(); } // the solver is another one
  // The colliders that `update` would hand to a solver, as polygons and points where they are at
  // the end of the step.
  bool show(const ColliderSettings &settings, const ColliderInput &input, GU_Detail &to,
            Report &report);
  // The same as ooze_surface_desc.solids takes them, less those that delete particles. Their bricks
  // last until the next call.
  bool solids(const ColliderSettings &settings, const ColliderInput &input,
              std::vector<ooze_collider_desc> &out, Report &report);
  // Detail attributes force_NAME, torque_NAME and pivot_NAME.
  void write_loads(ooze_solver *s, GU_Detail &gdp) const;

private:
  struct Shape { // bricks, or places of points on a mesh, for as long as they are used
    ooze_sdf sdf;
    ooze_mesh_samples samples;
    uint64_t used = 0;
    Shape();
    ~Shape();
    Shape(const Shape &) = delete;
  };
  struct Placed {
    ooze_collider handle = 0;
    uint64_t shape = 0; // key into myShapes; 0: analytic, or points alone
    std::string name;
    ooze_collider_desc desc;
    std::vector<float> start,
        end; // points of its boundary; end is empty where they only move with it
    std::vector<float> places, friction, stick; // where these two differ from place to place,
    float apart = 0;                            // m: about so far
  };
  bool gather(const ColliderSettings &settings, const ColliderInput &input,
              std::vector<Placed> &out, Report &report);
  Shape *keep(uint64_t key, bool &fresh);
  void drop_unused();           // shapes of frames gone by
  void give_bricks(Placed &to); // those of its shape
  bool place(Piece &piece, const ColliderSettings &settings, Placed &out, Report &report);
  bool fit(const Piece &piece, const std::vector<float> &local, bool still, float error[2],
           ooze_collider_desc &desc, Report &report);
  bool place_grid(Piece &piece, const ColliderSettings &settings, Placed &out, Report &report);
  bool voxelise(const std::vector<float> &points, const Piece &piece, Placed &out, Report &report);
  bool sample(const Piece &piece, bool shell, const ColliderSettings &settings,
              const std::vector<float> &body, const std::vector<float> &start,
              const std::vector<float> &end, Placed &out, Report &report);
  bool friction_map(const Piece &piece, const ColliderSettings &settings,
                    const std::vector<float> &points, Placed &out, Report &report);
  bool deform(const Piece &piece, const ColliderSettings &settings, Placed &out, Report &report);
  bool hand_over(ooze_solver *s, std::vector<Placed> &want, Report &report);

  std::vector<Placed> myPlaced;
  std::map<uint64_t, Shape> myShapes;
  uint64_t myUse = 0;
};

const std::vector<std::string> &collider_names(); // of attributes that count

} // namespace oz
