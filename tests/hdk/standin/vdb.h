// SPDX-License-Identifier: Apache-2.0
// VDB primitives hold a grid of the OpenVDB that the tests link, as Houdini's hold one of its own.
#pragma once
#ifdef STANDIN_SYNTAX_ONLY // where OpenVDB's headers cannot be read (msvc.py)
#include <memory>
#include <string>
namespace openvdb {
enum GridClass { GRID_UNKNOWN, GRID_LEVEL_SET, GRID_FOG_VOLUME };
class GridBase {
public:
  using Ptr = std::shared_ptr<GridBase>;
  using ConstPtr = std::shared_ptr<const GridBase>;
  std::string getName() const;
  GridClass getGridClass() const;
};
} // namespace openvdb
#else
#include <openvdb/Grid.h>
#endif

#include "geo.h"

enum UT_VDBType { UT_VDB_INVALID, UT_VDB_FLOAT, UT_VDB_VEC3F, UT_VDB_OTHER };

class GEO_PrimVDB : public GEO_Primitive {
public:
  GEO_PrimVDB() : GEO_Primitive(GEO_PRIMVDB, "VDB") {}
  bool hasGrid() const { return grid != nullptr; }
  openvdb::GridBase::ConstPtr getConstGridPtr() const { return grid; }
  const openvdb::GridBase &getConstGrid() const { return *grid; }
  UT_VDBType getStorageType() const;
  const char *getGridName() const { return title_of.c_str(); }

  // The stand-in's own.
  std::unique_ptr<GEO_Primitive> copy() const override {
    return std::make_unique<GEO_PrimVDB>(*this);
  }
  uint64_t contents() const override { return uint64_t(reinterpret_cast<uintptr_t>(grid.get())); }
  void move(const UT_Matrix4D &m) override;
  openvdb::GridBase::ConstPtr grid;
  std::string title_of;
};

// A box of samples at cell middles, as Houdini's native volumes; iso says whether it is a distance
// or a fog.
enum GEO_VolumeVis {
  GEO_VOLUMEVIS_SMOKE,
  GEO_VOLUMEVIS_RAINBOW,
  GEO_VOLUMEVIS_ISO,
  GEO_VOLUMEVIS_INVISIBLE,
  GEO_VOLUMEVIS_HEIGHTFIELD
};
class GEO_PrimVolume;
class UT_VoxelArrayF {
public:
  fpreal32 getValue(int x, int y, int z) const;

  // The stand-in's own.
  const GEO_PrimVolume *of = nullptr;
};
class UT_VoxelArrayReadHandleF {
public:
  const UT_VoxelArrayF *operator->() const { return &array; }

  // The stand-in's own.
  UT_VoxelArrayF array;
};
class GEO_PrimVolume : public GEO_Primitive {
public:
  GEO_PrimVolume() : GEO_Primitive(GEO_PRIMVOLUME, "Volume") {}
  void getRes(int &x, int &y, int &z) const { x = res[0], y = res[1], z = res[2]; }
  bool indexToPos(int x, int y, int z, UT_Vector3 &at) const {
    at = UT_Vector3(origin[0] + voxel * float(x), origin[1] + voxel * float(y),
                    origin[2] + voxel * float(z));
    return true;
  }
  UT_VoxelArrayReadHandleF getVoxelHandle() const {
    UT_VoxelArrayReadHandleF handle;
    handle.array.of = this;
    return handle;
  }
  GEO_VolumeVis getVisualization() const { return vis; }

  // The stand-in's own.
  std::unique_ptr<GEO_Primitive> copy() const override {
    return std::make_unique<GEO_PrimVolume>(*this);
  }
  int res[3] = {0, 0, 0};
  float voxel = 1, origin[3] = {0, 0, 0};
  bool sdf = false;
  GEO_VolumeVis vis = GEO_VOLUMEVIS_SMOKE;
  std::string name_of;
  std::vector<float> values; // z first
};
inline fpreal32 UT_VoxelArrayF::getValue(int x, int y, int z) const {
  return of->values.at(size_t((x * of->res[1] + y) * of->res[2] + z));
}

class GU_ConvertParms {
public:
  GA_PointGroup *primGroup = nullptr;
};
class GU_PrimVDB : public GEO_PrimVDB {
public:
  static GU_PrimVDB *buildFromGrid(GU_Detail &gdp, openvdb::GridBase::Ptr grid,
                                   const GEO_PrimVDB *src = nullptr, const char *name = nullptr);
  static void convertVolumesToVDBs(GU_Detail &dst, const GU_Detail &src, GU_ConvertParms &parms,
                                   bool flood_sdf, bool prune, fpreal tolerance, bool keep_original,
                                   bool activate_inside = true);
};
