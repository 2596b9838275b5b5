// Surfaces out to polygons and OpenVDB grids, meshes and .vdb files in to SDF bricks.
// Each exported function has one try block; every exception becomes a result.
// SPDX-License-Identifier: Apache-2.0
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/Prune.h>
#include <openvdb/tools/SignedFloodFill.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "vdb.h"

namespace {

// Memory in reserve while OpenVDB works: some of its destructors allocate, and where that fails
// they end the process. The first allocation that fails gets the reserve and goes on; the caller
// then ends with `spent`, as if it had failed.
class reserve {
public:
  reserve() {
    if (!oz_tasks_tbb_start()) throw std::bad_alloc();
    const std::lock_guard<std::mutex> lock(guard);
    if (users++ == 0) {
      kept = std::malloc(BYTES);
      used = false;
      before = std::set_new_handler(&release);
    }
  }
  ~reserve() {
    const std::lock_guard<std::mutex> lock(guard);
    if (--users) return;
    std::set_new_handler(before);
    std::free(kept.exchange(nullptr));
  }
  reserve(const reserve &) = delete;
  reserve &operator=(const reserve &) = delete;

  static bool spent() { return used; }

private:
  enum { BYTES = 8 << 20 };
  static void release() {
    used = true;
    if (void *block = kept.exchange(nullptr))
      std::free(block);
    else if (before)
      before();
    else
      throw std::bad_alloc();
  }
  static std::mutex guard;
  static int users;
  static std::atomic<void *> kept;
  static std::atomic<bool> used;
  static std::new_handler before;
};
std::mutex reserve::guard;
int reserve::users;
std::atomic<void *> reserve::kept;
std::atomic<bool> reserve::used;
std::new_handler reserve::before;

// The mesh of a level set, by OpenVDB.
void polygons(const openvdb::FloatGrid &grid, double iso, double adaptivity,
              std::vector<openvdb::Vec3s> &points, std::vector<openvdb::Vec3I> &triangles,
              std::vector<openvdb::Vec4I> &quads) {
  const reserve room;
  openvdb::tools::volumeToMesh(grid, points, triangles, quads, iso, adaptivity, adaptivity > 0.0);
  if (reserve::spent()) throw std::bad_alloc();
}

// A mesh's triangles from OpenVDB's polygons.
void put_triangles(const std::vector<openvdb::Vec3I> &triangles,
                   const std::vector<openvdb::Vec4I> &quads, const oz_loop *loop, ooze_mesh *out) {
  oz_polygons_put(out, triangles.empty() ? nullptr : triangles[0].asPointer(), triangles.size(),
                  quads.empty() ? nullptr : quads[0].asPointer(), quads.size(), loop);
}

openvdb::Coord origin_of(uint64_t key) {
  int c[3];
  oz_key_split(key, c);
  return openvdb::Coord(8 * c[0], 8 * c[1], 8 * c[2]);
}

openvdb::FloatGrid::Ptr level_set_of(const ooze_surface *s) {
  auto grid = openvdb::FloatGrid::create(s->band);
  auto &tree = grid->tree();
  grid->setTransform(openvdb::math::Transform::createLinearTransform(s->voxel));
  grid->setGridClass(openvdb::GRID_LEVEL_SET);
  openvdb::tree::ValueAccessor<openvdb::FloatTree> access(tree);
  for (uint32_t i = 0; i < s->brick_count; ++i) {
    auto *leaf = access.touchLeaf(origin_of(s->keys[i]));
    const float *from = s->values + 512 * size_t(i);
    for (openvdb::Index n = 0; n < 512; ++n) {
      if (std::fabs(from[n]) < s->band)
        leaf->setValueOn(n, from[n]);
      else
        leaf->setValueOff(n, from[n]);
    }
  }
  for (uint32_t i = s->brick_count; i < s->brick_count + s->inside_count; ++i)
    access.addTile(1, origin_of(s->keys[i]), -s->band, false);
  openvdb::tools::pruneLevelSet(tree);
  return grid;
}

template <class GridType, class Value>
typename GridType::Ptr attribute_of(const ooze_surface *s, Value value) {
  auto grid = GridType::create();
  grid->setTransform(openvdb::math::Transform::createLinearTransform(s->voxel));
  openvdb::tree::ValueAccessor<typename GridType::TreeType> access(grid->tree());
  for (uint32_t i = 0; i < s->attribute_bricks; ++i) {
    const uint64_t *kept = s->kept + 8 * size_t(i);
    bool any = false;
    for (int x = 0; x < 8; ++x) any |= kept[x] != 0;
    if (!any) continue;
    auto *leaf = access.touchLeaf(origin_of(s->keys[i]));
    for (openvdb::Index n = 0; n < 512; ++n)
      if (kept[n >> 6] >> (n & 63) & 1) leaf->setValueOn(n, value(512 * size_t(i) + n));
  }
  return grid;
}

// The grids of a surface in order: the distance, the velocity, the other channels. Empty past the
// last.
openvdb::GridBase::Ptr grid_of(const ooze_surface *s, uint32_t index,
                               const ooze_vdb_options *options) {
  openvdb::GridBase::Ptr grid;
  if (index == 0) {
    grid = level_set_of(s);
    grid->setName(options->surface_name);
  } else {
    if (index > s->channel_count || !s->attribute_bricks) return nullptr;
    const oz_carried &channel = s->channels[index - 1];
    const float *values = channel.grid;
    if (channel.components == 3) {
      auto vectors = attribute_of<openvdb::Vec3SGrid>(s, [values](size_t n) {
        return openvdb::Vec3f(values[3 * n], values[3 * n + 1], values[3 * n + 2]);
      });
      // A velocity turns and scales with the object, and does not move with it.
      if (&channel == s->velocity) vectors->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
      grid = vectors;
    } else if (channel.kind == OZ_CARRIED_MATERIAL) {
      grid = attribute_of<openvdb::Int32Grid>(s, [values](size_t n) { return int32_t(values[n]); });
    } else {
      grid = attribute_of<openvdb::FloatGrid>(s, [values](size_t n) { return values[n]; });
    }
    grid->setName(&channel == s->velocity ? options->velocity_name : channel.name);
  }
  if (options->has_time) {
    grid->insertMeta("frame", openvdb::Int32Metadata(options->frame));
    grid->insertMeta("time", openvdb::DoubleMetadata(options->time));
  }
  if (options->has_rest_blend)
    grid->insertMeta("restblend", openvdb::FloatMetadata(options->rest_blend));
  return grid;
}

// Leaves to bricks. `shift` is taken off every value; values that are not finite, or steeper than
// any distance could be, is refused: a flipped bit in a file shows there.
ooze_result bricks_of(const openvdb::FloatGrid &grid, float voxel, float shift, uint32_t max_bricks,
                      ooze_sdf *out, ooze_message *why, const char *what) {
  const auto &tree = grid.tree();
  uint64_t count = tree.leafCount();
  if (count > max_bricks)
    return oz_fail(why, OOZE_ERROR_LIMIT,
                   "%s: %llu bricks of 8x8x8; the limit is %u (max_bricks). Use larger voxels",
                   what, (unsigned long long)count, max_bricks);
  if (!count) return oz_fail(why, OOZE_ERROR_FORMAT, "%s: no surface in it", what);
  out->bricks = (ooze_sdf_brick *)std::malloc(size_t(count) * sizeof(ooze_sdf_brick));
  if (!out->bricks)
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %llu bricks", what,
                   (unsigned long long)count);
  openvdb::CoordBBox box;
  float bound = 0.0f, steep = 0.0f;
  for (auto leaf = tree.cbeginLeaf(); leaf; ++leaf) {
    ooze_sdf_brick &b = out->bricks[out->brick_count++];
    openvdb::Coord o = leaf->origin();
    for (int a = 0; a < 3; ++a) {
      b.origin[a] = o[a];
      if (o[a] < -(1 << 24) || o[a] > (1 << 24))
        return oz_fail(why, OOZE_ERROR_LIMIT, "%s: a brick at voxel %d; the limit is %d", what,
                       o[a], 1 << 24);
    }
    box.expand(o);
    box.expand(o.offsetBy(7));
    for (openvdb::Index n = 0; n < 512; ++n) {
      float v = leaf->getValue(n);
      if (!std::isfinite(v))
        return oz_fail(why, OOZE_ERROR_FORMAT, "%s: a distance is not finite (brick %d %d %d)",
                       what, o[0], o[1], o[2]);
      bound = std::fmax(bound, std::fabs(v));
      b.values[n] = v - shift;
      if (n & 7 && leaf->isValueOn(n) && leaf->isValueOn(n - 1))
        steep = std::fmax(steep, std::fabs(v - leaf->getValue(n - 1)));
      if (n & 56 && leaf->isValueOn(n) && leaf->isValueOn(n - 8))
        steep = std::fmax(steep, std::fabs(v - leaf->getValue(n - 8)));
      if (n >> 6 && leaf->isValueOn(n) && leaf->isValueOn(n - 64))
        steep = std::fmax(steep, std::fabs(v - leaf->getValue(n - 64)));
    }
  }
  double span =
      box.extents().asVec3d().length() * voxel + 2.0 * std::fabs(double(grid.background()));
  if (bound > span || steep > 8.0f * voxel)
    return oz_fail(
        why, OOZE_ERROR_FORMAT,
        "%s: not a distance field: values up to %g m over %g m, neighbours differ by %g voxels",
        what, double(bound), span, double(steep / voxel));
  out->voxel = voxel;
  for (int a = 0; a < 3; ++a) {
    out->lower[a] = float(box.min()[a]) * voxel + out->offset[a];
    out->upper[a] = float(box.max()[a]) * voxel + out->offset[a];
  }
  return OOZE_OK;
}

// A level set to bricks. Bricks know a voxel size and an offset; turned or squeezed lattices would
// need resampling, which the artist's tool does better (VDB Resample).
ooze_result sdf_of(const openvdb::FloatGrid &grid, uint32_t max_bricks, ooze_sdf *out,
                   ooze_message *why, const char *what) {
  if (grid.getGridClass() == openvdb::GRID_FOG_VOLUME)
    return oz_fail(why, OOZE_ERROR_FORMAT,
                   "%s: grid %s is a fog volume; a collider needs a level set", what,
                   grid.getName().c_str());
  if (!grid.transform().isLinear())
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: its transform is not linear", what);
  openvdb::math::Mat4d m = grid.transform().baseMap()->getAffineMap()->getMat4();
  double voxel = m(0, 0);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      if (!(voxel > 0.0) || !(std::fabs(m(a, b) - (a == b ? voxel : 0.0)) <= 1e-5 * voxel))
        return oz_fail(why, OOZE_ERROR_FORMAT,
                       "%s: voxels are turned or not cubes; resample the grid first", what);
  for (int a = 0; a < 3; ++a) out->offset[a] = float(m(3, a));
  if (!std::isfinite(out->offset[0] + out->offset[1] + out->offset[2]) || !(voxel < 1e6) ||
      !(voxel > 1e-9))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: its transform is not usable (voxel %g m)", what,
                   voxel);
  out->closed = 1;
  return bricks_of(grid, float(voxel), 0.0f, max_bricks, out, why, what);
}

} // namespace

extern "C" int ooze_surface_has_vdb(void) { return 1; }

void oz_vdb_prepare(void) {
  try {
    openvdb::initialize();
  } catch (...) {
  }
}

ooze_result ooze_surface_mesh(const ooze_surface *s, double adaptivity, ooze_mesh *out,
                              ooze_message *why) {
  if (!s || !out || !(adaptivity >= 0.0 && adaptivity <= 1.0))
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "ooze_surface_mesh: a pointer is NULL or adaptivity (%g) is not 0 to 1",
                   adaptivity);
  try {
    const reserve room;
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    std::vector<openvdb::Vec4I> quads;
    auto grid = level_set_of(s);
    polygons(*grid, 0.0, adaptivity, points, triangles, quads);
    if (points.size() > 0xfffffff0u || triangles.size() + 2 * quads.size() > 0xfffffff0u)
      return oz_fail(why, OOZE_ERROR_LIMIT, "a mesh of %zu points; the limit is 2^32",
                     points.size());
    uint32_t with = OOZE_MESH_NORMALS | (s->velocity ? OOZE_MESH_VELOCITIES : 0);
    if (ooze_result r = ooze_mesh_allocate(out, uint32_t(points.size()),
                                           triangles.size() + 2 * quads.size(), with, why))
      return r;
    for (size_t i = 0; i < points.size(); ++i)
      for (int a = 0; a < 3; ++a) out->positions[3 * i + size_t(a)] = points[i][a];
    oz_loop loop;
    oz_loop_open(&loop, nullptr, s->threads);
    oz_corner_room *corners = nullptr;
    ooze_result filled = oz_spline_settle_mesh(s, out, &loop, &corners, why);
    if (!filled) put_triangles(triangles, quads, &loop, out);
    if (!filled) filled = oz_spline_balance_mesh(s, out, corners, &loop, why);
    if (!filled) filled = oz_channels_to_mesh(s, out, &loop, why);
    oz_release(corners);
    oz_loop_close(&loop);
    if (filled) ooze_mesh_release(out);
    return filled;
  }
  OZ_CATCH(why, "ooze_surface_mesh")
}

ooze_result ooze_sdf_from_mesh(const ooze_sdf_desc *desc, const float *points, uint32_t point_count,
                               const uint32_t *triangles, uint32_t triangle_count, ooze_sdf *out,
                               ooze_message *why) {
  int closed = 0;
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_from_mesh: out is NULL");
  ooze_sdf_default(out);
  if (ooze_result r =
          oz_sdf_check_mesh(desc, points, point_count, triangles, triangle_count, &closed, why))
    return r;
  try {
    const reserve room;
    std::vector<openvdb::Vec3s> p(point_count);
    std::vector<openvdb::Vec3I> t(triangle_count);
    std::vector<openvdb::Vec4I> none;
    for (uint32_t i = 0; i < point_count; ++i) p[i] = openvdb::Vec3s(points + 3 * size_t(i));
    for (uint32_t i = 0; i < triangle_count; ++i) t[i] = openvdb::Vec3I(triangles + 3 * size_t(i));
    auto space = openvdb::math::Transform::createLinearTransform(desc->voxel);
    openvdb::FloatGrid::Ptr grid;
    float shift = 0.0f;
    if (closed) {
      grid = openvdb::tools::meshToSignedDistanceField<openvdb::FloatGrid>(
          *space, p, t, none, desc->exterior_band, desc->interior_band);
    } else { // a sheet has no inside: make one, half the thickness to either side
      shift = 0.5f * (desc->thickness > 0.0f ? desc->thickness : 3.0f * desc->voxel);
      grid = openvdb::tools::meshToUnsignedDistanceField<openvdb::FloatGrid>(
          *space, p, t, none, desc->exterior_band + shift / desc->voxel);
    }
    ooze_result r = bricks_of(*grid, desc->voxel, shift, desc->max_bricks, out, why, "mesh");
    out->closed = uint32_t(closed);
    if (r) ooze_sdf_free(out);
    return r;
  }
  OZ_CATCH(why, "mesh to distance")
}

ooze_result oz_vdb_read(const ooze_sdf_desc *desc, const char *path, const char *grid,
                        ooze_sdf *out, ooze_message *why) {
  try {
    openvdb::initialize();
    openvdb::io::File file(path);
    file.open(false); // no delayed loading: the file may change under a mapping
    openvdb::FloatGrid::Ptr chosen;
    std::string names;
    for (auto name = file.beginName(); name != file.endName() && !chosen; ++name) {
      if (grid && *name != grid) {
        names += (names.empty() ? "" : ", ") + *name;
        continue;
      }
      auto head = file.readGridMetadata(*name);
      if (head->isType<openvdb::FloatGrid>() &&
          (grid || head->getGridClass() == openvdb::GRID_LEVEL_SET))
        chosen = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid(*name));
      else if (grid)
        return oz_fail(why, OOZE_ERROR_FORMAT,
                       "%s: grid %s is of type %s; expected a level set of floats", path, grid,
                       head->type().c_str());
    }
    file.close();
    if (!chosen && grid)
      return oz_fail(why, OOZE_ERROR_NOT_FOUND, "%s: no grid %s; there is %s", path, grid,
                     names.empty() ? "none" : names.c_str());
    if (!chosen)
      return oz_fail(why, OOZE_ERROR_NOT_FOUND, "%s: no level set of floats in it", path);
    return sdf_of(*chosen, desc->max_bricks, out, why, path);
  }
  OZ_CATCH(why, path)
}

ooze_result ooze_sdf_from_grid(const ooze_sdf_desc *desc, const void *grid, ooze_sdf *out,
                               ooze_message *why) {
  if (!desc || desc->size != sizeof *desc || !grid || !out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "ooze_sdf_from_grid: a pointer is NULL, or the description is not filled");
  ooze_sdf_default(out);
  try {
    auto *base = static_cast<const openvdb::GridBase *>(grid);
    std::string name = base->getName().empty() ? "VDB" : base->getName();
    if (!base->isType<openvdb::FloatGrid>())
      return oz_fail(why, OOZE_ERROR_FORMAT, "%s: it is of type %s; expected a level set of floats",
                     name.c_str(), base->type().c_str());
    ooze_result r = sdf_of(static_cast<const openvdb::FloatGrid &>(*base), desc->max_bricks, out,
                           why, name.c_str());
    if (r) ooze_sdf_free(out);
    return r;
  }
  OZ_CATCH(why, "VDB to distance")
}

ooze_result ooze_surface_grid(const ooze_surface *s, uint32_t index,
                              const ooze_vdb_options *options, void *grid, ooze_message *why) {
  ooze_vdb_options defaults;
  ooze_vdb_options_default(&defaults);
  if (!s || !grid) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_surface_grid: a pointer is NULL");
  if (!options) options = &defaults;
  try {
    const reserve room;
    auto made = grid_of(s, index, options);
    if (reserve::spent()) throw std::bad_alloc();
    if (!made) return OOZE_ERROR_NOT_FOUND;
    *static_cast<openvdb::GridBase::Ptr *>(grid) = made;
    return OOZE_OK;
  }
  OZ_CATCH(why, "surface to VDB")
}

ooze_result ooze_grid_mesh(const void *grid, double iso, ooze_mesh *out, ooze_message *why) {
  if (!grid || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_grid_mesh: a pointer is NULL");
  try {
    auto *base = static_cast<const openvdb::GridBase *>(grid);
    if (!base->isType<openvdb::FloatGrid>())
      return oz_fail(why, OOZE_ERROR_FORMAT, "%s: it is of type %s; expected floats",
                     base->getName().c_str(), base->type().c_str());
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
    std::vector<openvdb::Vec4I> quads;
    const auto &field = static_cast<const openvdb::FloatGrid &>(*base);
    polygons(field, iso, 0.0, points, triangles, quads);
    if (points.size() > 0xfffffff0u)
      return oz_fail(why, OOZE_ERROR_LIMIT, "a mesh of %zu points; the limit is 2^32",
                     points.size());
    if (ooze_result r = ooze_mesh_allocate(out, uint32_t(points.size()),
                                           triangles.size() + 2 * quads.size(), 0, why))
      return r;
    for (size_t i = 0; i < points.size(); ++i)
      for (int a = 0; a < 3; ++a) out->positions[3 * i + size_t(a)] = points[i][a];
    oz_loop loop;
    oz_loop_open(&loop, nullptr, 1);
    put_triangles(triangles, quads, &loop, out);
    oz_loop_close(&loop);
    return OOZE_OK;
  }
  OZ_CATCH(why, "VDB to mesh")
}

ooze_result ooze_sdf_mesh(const ooze_sdf *sdf, ooze_mesh *out, ooze_message *why) {
  if (!sdf || !out || !sdf->bricks || !(sdf->voxel > 0.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_mesh: no bricks");
  try {
    auto grid = openvdb::FloatGrid::create(3.0f * sdf->voxel);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(sdf->voxel));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    for (uint32_t i = 0; i < sdf->brick_count; ++i) {
      const ooze_sdf_brick &b = sdf->bricks[i];
      auto *leaf = grid->tree().touchLeaf(openvdb::Coord(b.origin[0], b.origin[1], b.origin[2]));
      for (openvdb::Index n = 0; n < 512; ++n) leaf->setValueOn(n, b.values[n]);
    }
    openvdb::tools::signedFloodFill(grid->tree());
    if (ooze_result r = ooze_grid_mesh(grid.get(), 0.0, out, why)) return r;
    for (size_t i = 0; i < 3 * size_t(out->point_count); ++i)
      out->positions[i] += sdf->offset[i % 3];
    return OOZE_OK;
  }
  OZ_CATCH(why, "distance to mesh")
}
