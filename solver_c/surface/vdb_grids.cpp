// OpenVDB grids as they are: values at points, hashes, and the contents of a file.
// SPDX-License-Identifier: Apache-2.0
#include <openvdb/openvdb.h>
#include <openvdb/tools/Interpolation.h>

#include <cmath>
#include <cstdio>
#include <new>

#include "vdb.h"

namespace {

double size_of(float v) { return v; }
double size_of(double v) { return v; }
double size_of(int32_t v) { return v; }
double size_of(int64_t v) { return double(v); }
template <class T> double size_of(const openvdb::math::Vec3<T> &v) { return double(v.length()); }

// The range of a grid's active values; false if it is not of that type.
template <class GridType>
bool range_of(const openvdb::GridBase &base, uint32_t components, ooze_vdb_grid *out) {
  if (!base.isType<GridType>()) return false;
  bool first = true;
  for (auto value = static_cast<const GridType &>(base).cbeginValueOn(); value; ++value) {
    double v = size_of(*value);
    if (first || v < out->minimum) out->minimum = v;
    if (first || v > out->maximum) out->maximum = v;
    first = false;
  }
  out->components = components;
  return true;
}

// Values of leaves and tiles with where they are.
template <class Grid> uint64_t hash_of(const Grid &grid) {
  using Value = typename Grid::ValueType;
  const auto m = grid.transform().baseMap()->getAffineMap()->getMat4();
  uint64_t h = ooze_hash(m.asPointer(), 16 * sizeof(double), 0);
  const Value background = grid.background();
  h = ooze_hash(&background, sizeof background, h);
  for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
    const openvdb::Coord o = leaf->origin();
    const int32_t at[3] = {o.x(), o.y(), o.z()};
    h = ooze_hash(at, sizeof at, h);
    h = ooze_hash(leaf->buffer().data(), Grid::TreeType::LeafNodeType::SIZE * sizeof(Value), h);
    for (openvdb::Index i = 0; i < Grid::TreeType::LeafNodeType::NodeMaskType::WORD_COUNT; ++i) {
      const uint64_t word = leaf->getValueMask().template getWord<uint64_t>(i);
      h = ooze_hash(&word, sizeof word, h);
    }
  }
  auto tile = grid.tree().cbeginValueAll();
  tile.setMaxDepth(tile.getLeafDepth() - 1);
  for (; tile; ++tile) {
    const openvdb::Coord o = tile.getCoord();
    const int32_t at[4] = {o.x(), o.y(), o.z(), tile.isValueOn()};
    const Value v = *tile;
    h = ooze_hash(at, sizeof at, h);
    h = ooze_hash(&v, sizeof v, h);
  }
  return h;
}

} // namespace

ooze_result ooze_grid_sample(const void *grid, const float *points, uint32_t count, float *out,
                             ooze_message *why) {
  if (!grid || (count && (!points || !out)))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_grid_sample: a pointer is NULL");
  try {
    auto *base = static_cast<const openvdb::GridBase *>(grid);
    if (!base->isType<openvdb::Vec3SGrid>())
      return oz_fail(why, OOZE_ERROR_FORMAT, "%s: it is of type %s; expected vectors of floats",
                     base->getName().c_str(), base->type().c_str());
    const auto &field = static_cast<const openvdb::Vec3SGrid &>(*base);
    auto values = field.getConstAccessor();
    const bool staggered = field.getGridClass() == openvdb::GRID_STAGGERED;
    for (size_t i = 0; i < count; ++i) {
      const openvdb::Vec3d at(double(points[3 * i]), double(points[3 * i + 1]),
                              double(points[3 * i + 2])),
          inside = field.worldToIndex(at);
      const openvdb::Vec3s v = staggered
                                   ? openvdb::tools::StaggeredBoxSampler::sample(values, inside)
                                   : openvdb::tools::BoxSampler::sample(values, inside);
      for (int k = 0; k < 3; ++k) out[3 * i + size_t(k)] = v[k];
    }
    return OOZE_OK;
  }
  OZ_CATCH(why, "VDB at points")
}

uint64_t ooze_grid_hash(const void *grid) {
  try {
    auto *base = static_cast<const openvdb::GridBase *>(grid);
    if (!base || !base->transform().isLinear()) return 0;
    if (base->isType<openvdb::FloatGrid>())
      return hash_of(static_cast<const openvdb::FloatGrid &>(*base));
    if (base->isType<openvdb::Vec3SGrid>())
      return hash_of(static_cast<const openvdb::Vec3SGrid &>(*base));
    return 0;
  } catch (...) {
    return 0;
  }
}

ooze_result oz_vdb_list(const char *path, ooze_vdb_grid *out, uint32_t capacity,
                        uint32_t *out_count, ooze_message *why) {
  try {
    openvdb::initialize();
    openvdb::io::File file(path);
    file.open(false);
    *out_count = 0;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
      uint32_t at = (*out_count)++;
      if (at >= capacity) continue;
      ooze_vdb_grid &g = out[at];
      ooze_vdb_grid_default(&g);
      auto grid = file.readGrid(*name);
      std::snprintf(g.name, sizeof g.name, "%s", grid->getName().c_str());
      std::snprintf(g.type, sizeof g.type, "%s", grid->valueType().c_str());
      if (grid->getGridClass() != openvdb::GRID_UNKNOWN)
        std::snprintf(g.kind, sizeof g.kind, "%s",
                      openvdb::GridBase::gridClassToString(grid->getGridClass()).c_str());
      g.voxel = grid->voxelSize()[0];
      auto frame = grid->getMetadata<openvdb::Int32Metadata>("frame");
      auto time = grid->getMetadata<openvdb::DoubleMetadata>("time");
      g.has_time = frame && time;
      if (g.has_time) g.frame = frame->value(), g.time = time->value();
      auto blend = grid->getMetadata<openvdb::FloatMetadata>("restblend");
      g.has_rest_blend = bool(blend);
      if (blend) g.rest_blend = blend->value();
      g.active = grid->activeVoxelCount();
      openvdb::CoordBBox box = grid->evalActiveVoxelBoundingBox();
      if (g.active) {
        openvdb::Vec3d low = grid->indexToWorld(box.min()), high = grid->indexToWorld(box.max());
        for (int a = 0; a < 3; ++a) {
          g.lower[a] = std::fmin(low[a], high[a]);
          g.upper[a] = std::fmax(low[a], high[a]);
        }
      }
      range_of<openvdb::FloatGrid>(*grid, 1, &g) || range_of<openvdb::Vec3SGrid>(*grid, 3, &g) ||
          range_of<openvdb::DoubleGrid>(*grid, 1, &g) ||
          range_of<openvdb::Int32Grid>(*grid, 1, &g) ||
          range_of<openvdb::Int64Grid>(*grid, 1, &g) || range_of<openvdb::Vec3DGrid>(*grid, 3, &g);
    }
    file.close();
    return OOZE_OK;
  }
  OZ_CATCH(why, path)
}
