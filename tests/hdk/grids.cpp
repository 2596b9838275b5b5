// SPDX-License-Identifier: Apache-2.0
#include "grids.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetSphere.h>

#include <cmath>

#include "vdb.h"

namespace grids {
void prepare() { openvdb::initialize(); }

void sphere(GU_Detail &gdp, const char *name, float radius, float voxel, float x, float y, float z,
            double turn) {
  auto grid = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(radius, openvdb::Vec3f(0.0f),
                                                                       voxel, 6.0f);
  grid->transform().postTranslate(openvdb::Vec3d(x, y, z));
  if (turn != 0) grid->transform().preRotate(turn);
  GU_PrimVDB::buildFromGrid(gdp, grid, nullptr, name);
}

void fog(GU_Detail &gdp, const char *name, float radius, float voxel) {
  auto grid = openvdb::FloatGrid::create(0.0f);
  grid->setGridClass(openvdb::GRID_FOG_VOLUME);
  grid->setTransform(openvdb::math::Transform::createLinearTransform(voxel));
  auto access = grid->getAccessor();
  int n = int(radius / voxel);
  for (int i = -n; i <= n; ++i)
    for (int j = -n; j <= n; ++j)
      for (int k = -n; k <= n; ++k)
        if (float(i * i + j * j + k * k) * voxel * voxel <= radius * radius)
          access.setValue(openvdb::Coord(i, j, k), 1.0f);
  GU_PrimVDB::buildFromGrid(gdp, grid, nullptr, name);
}

void vectors(GU_Detail &gdp, const char *name) {
  GU_PrimVDB::buildFromGrid(gdp, openvdb::Vec3SGrid::create(), nullptr, name);
}

void uniform(GU_Detail &gdp, const char *name, float x, float y, float z) {
  auto grid = openvdb::Vec3SGrid::create();
  grid->setTransform(openvdb::math::Transform::createLinearTransform(0.25));
  grid->fill(openvdb::CoordBBox(openvdb::Coord(-12), openvdb::Coord(12)), openvdb::Vec3s(x, y, z));
  GU_PrimVDB::buildFromGrid(gdp, grid, nullptr, name);
}

void flow(GU_Detail &gdp, const char *name, float x, float y, float turn, float pivot,
          float stretch) {
  auto grid = openvdb::Vec3SGrid::create();
  grid->setTransform(openvdb::math::Transform::createLinearTransform(0.25));
  auto access = grid->getAccessor();
  for (int i = -12; i <= 12; ++i)
    for (int j = -20; j <= 12; ++j)
      for (int k = -12; k <= 12; ++k) {
        const openvdb::Vec3d p = grid->indexToWorld(openvdb::Coord(i, j, k));
        access.setValue(openvdb::Coord(i, j, k),
                        openvdb::Vec3s(x - turn * float(p[1] - pivot) + stretch * float(p[0]),
                                       y + turn * float(p[0]), 0));
      }
  GU_PrimVDB::buildFromGrid(gdp, grid, nullptr, name);
}

void native_sphere(GU_Detail &gdp, const char *name, float radius, float voxel, float y) {
  auto v = std::make_unique<GEO_PrimVolume>();
  int n = int(2 * radius / voxel) + 8;
  v->sdf = true;
  v->voxel = voxel;
  v->name_of = name;
  for (int k = 0; k < 3; ++k)
    v->res[k] = n, v->origin[k] = -0.5f * voxel * float(n) + (k == 1 ? y : 0.0f);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) {
        double p[3] = {(i - 0.5 * n) * voxel, (j - 0.5 * n) * voxel, (k - 0.5 * n) * voxel};
        v->values.push_back(float(std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - radius));
      }
  v->points.push_back(gdp.appendPoint());
  v->place = GA_Offset(gdp.prims.size());
  gdp.prims.push_back(std::move(v));
  for (auto &a : gdp.attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(gdp.prims.size());
}

void heights(GU_Detail &gdp, const char *name, int side, float half, float y,
             float (*value)(float x, float z)) {
  auto v = std::make_unique<GEO_PrimVolume>();
  v->vis = std::string(name) == "height" ? GEO_VOLUMEVIS_HEIGHTFIELD : GEO_VOLUMEVIS_INVISIBLE;
  v->voxel = 2 * half / float(side - 1);
  v->name_of = name;
  v->res[0] = v->res[2] = side, v->res[1] = 1;
  v->origin[0] = v->origin[2] = -half, v->origin[1] = y;
  for (int i = 0; i < side; ++i)
    for (int k = 0; k < side; ++k)
      v->values.push_back(value(-half + v->voxel * float(i), -half + v->voxel * float(k)));
  v->points.push_back(gdp.appendPoint());
  v->place = GA_Offset(gdp.prims.size());
  gdp.prims.push_back(std::move(v));
  for (auto &a : gdp.attributes)
    if (a->owner == GA_ATTRIB_PRIMITIVE) a->resize(gdp.prims.size());
}

std::vector<std::string> names(const GU_Detail &gdp) {
  std::vector<std::string> out;
  for (auto &p : gdp.prims)
    if (p->type == GEO_PRIMVDB) out.push_back(static_cast<const GEO_PrimVDB &>(*p).getGridName());
  return out;
}

template <class Grid> static bool equal(const openvdb::GridBase &a, const openvdb::GridBase &b) {
  auto &x = static_cast<const Grid &>(a);
  auto &y = static_cast<const Grid &>(b);
  if (x.activeVoxelCount() != y.activeVoxelCount() || x.tree().leafCount() != y.tree().leafCount())
    return false;
  auto other = y.getConstAccessor();
  for (auto v = x.cbeginValueOn(); v; ++v)
    if (v.getValue() != other.getValue(v.getCoord())) return false;
  return true;
}

bool same(const GU_Detail &gdp, const char *path, std::string &difference) {
  openvdb::io::File file(path);
  file.open(false);
  auto all = file.getGrids();
  size_t found = 0;
  for (auto &p : gdp.prims) {
    if (p->type != GEO_PRIMVDB) continue;
    auto &vdb = static_cast<const GEO_PrimVDB &>(*p);
    for (auto &g : *all) {
      if (g->getName() != vdb.getGridName()) continue;
      ++found;
      bool scalar = g->isType<openvdb::FloatGrid>();
      if (!(scalar ? equal<openvdb::FloatGrid>(*vdb.grid, *g)
                   : equal<openvdb::Vec3SGrid>(*vdb.grid, *g)))
        difference = g->getName() + " differs";
      if (g->transform() != vdb.grid->transform()) difference = g->getName() + " stands elsewhere";
    }
  }
  if (found != all->size() || found != names(gdp).size()) difference = "not the same grids";
  return difference.empty();
}
} // namespace grids
