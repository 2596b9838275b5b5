// Where a source's particles are born, and the attributes they take from the shape there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host.h"

namespace oz {

class Filling {
public:
  // Closed polygons, VDBs, volumes of `shapes`, which become VDBs, and packed primitives, which
  // become polygons, are filled; with `surface` all polygons and the surfaces of volumes are
  // covered. `split`: each name of the polygons is a part of its own.
  Filling(GU_Detail &shapes, const Parms &parms, bool surface, bool split)
      : myIn(shapes), myParms(parms), mySurface(surface), mySplit(split) {}
  bool run(Report &report);
  // Attributes of the shapes' points whose names fit the pattern, on the points of `to`, which are
  // the places in order. Numbers are blended between the corners of the polygon that is closest,
  // whole numbers and texts are those of the nearest corner. Vectors of a VDB are their `v`.
  bool transfer(const std::string &pattern, GU_Detail &to, Report &report) const;
  // Unit vectors out of the surface, 3 a place; empty inside of shapes.
  const std::vector<float> &normals() const { return myNormals; }
  const std::vector<float> &places() const { return myPlaces; } // 3 each

  struct Part { // one shape, and the places until its end
    std::string name;
    Mesh mesh;
    ooze_mesh_samples on; // the place on the mesh that is closest to each of its places
    GA_Offset point = GA_INVALID_OFFSET; // of a VDB
    const void *vectors = nullptr;       // beside a VDB
    size_t begin = 0, end = 0;
    Part() { ooze_mesh_samples_default(&on); }
    ~Part() { ooze_mesh_samples_release(&on); }
  };
  const std::vector<std::unique_ptr<Part>> &parts() const { return myParts; }

private:
  bool polygons(const std::string *only, Part &part, Report &report);
  bool volumes(Report &report);
  bool place(std::unique_ptr<Part> part, Report &report);
  bool cover(Part &part, Report &report);
  bool fill(Part &part, Report &report);

  GU_Detail &myIn;
  const Parms &myParms;
  const bool mySurface, mySplit;
  std::vector<float> myPlaces, myNormals;
  std::vector<std::unique_ptr<Part>> myParts;
};

} // namespace oz
