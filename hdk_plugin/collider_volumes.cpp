// Colliders of distances: VDBs, native volumes, and fields of heights.
// SPDX-License-Identifier: Apache-2.0
#include "collider_parts.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_PrimVolume.h>
#include <GEO/GEO_Primitive.h>
#include <GEO/GEO_VolumeOptions.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimPacked.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_Assert.h>
#include <UT/UT_StringHolder.h>
#include <UT/UT_Vector3.h>
#include <UT/UT_VoxelArray.h>

#include <cmath>
#include <utility>

#include "detail.h"

namespace oz {

// ---- VDBs ----

static const GEO_PrimVDB *vdb_at(const GU_Detail &gdp, GA_Offset o) {
  const GEO_Primitive *prim = gdp.getGEOPrimitive(o);
  if (prim->getTypeId() != GEO_PRIMVDB) return nullptr;
  auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
  return vdb->hasGrid() ? vdb : nullptr;
}

const void *velocities_of(const GU_Detail &gdp, const std::string &name) {
  const std::string best[5] = {name + "vel", name + "_v", "v", "vel", "velocity"};
  const void *found = nullptr;
  size_t rank = 6, others = 0;
  for (GA_Iterator it(gdp.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_PrimVDB *vdb = vdb_at(gdp, *it);
    if (!vdb || vdb->getStorageType() != UT_VDB_VEC3F) continue;
    size_t r = 0;
    while (r < 5 && best[r] != vdb->getGridName()) ++r;
    others += r == 5;
    if (r < rank) rank = r, found = vdb->getConstGridPtr().get();
  }
  return rank == 5 && others > 1 ? nullptr : found;
}

static bool is_component(const std::string &name) { // vel.x: a third of native velocities
  return name.size() > 2 && name[name.size() - 2] == '.' && name.back() >= 'x' &&
         name.back() <= 'z';
}

// Where its surface is now, and was: by vectors, or as a whole by the `v` of its point.
static bool surface_of(const GU_Detail &now, GA_Offset point, const void *vectors, double dt,
                       Piece &piece, Report &report) {
  Mesh mesh;
  ooze_message why = {""};
  if (!report.ok(ooze_grid_mesh(piece.grid.get(), 0, &mesh.m, &why), why,
                 ("collider VDB " + piece.name).c_str()))
    return false;
  size_t n = 3 * size_t(mesh.m.point_count);
  piece.now.assign(mesh.m.positions, mesh.m.positions + n);
  piece.triangles.assign(mesh.m.triangles, mesh.m.triangles + 3 * mesh.m.triangle_count);
  piece.before = piece.now;
  double one[3] = {0, 0, 0};
  std::vector<float> v(n);
  if (vectors) {
    if (!report.ok(ooze_grid_sample(vectors, piece.now.data(), mesh.m.point_count, v.data(), &why),
                   why, "velocities"))
      return false;
  } else if (find_number(now, "v", GA_INVALID_OFFSET, point, 3, one)) {
    for (size_t i = 0; i < n; ++i) v[i] = float(one[i % 3]);
  }
  for (size_t i = 0; i < n; ++i) piece.before[i] -= float(dt) * v[i];
  piece.moves = piece.before != piece.now;
  return true;
}

// ---- fields of heights ----

static const GEO_PrimVolume *volume_at(const GU_Detail &gdp, GA_Offset o) {
  const GEO_Primitive *prim = gdp.getGEOPrimitive(o);
  if (prim->getTypeId() != GEO_PRIMVOLUME) return nullptr;
  return UTverify_cast<const GEO_PrimVolume *>(prim);
}

// One sample thick: a field of heights, or a layer of one (mask, water, ...).
static bool is_layer(const GEO_PrimVolume &volume) {
  int n[3];
  volume.getRes(n[0], n[1], n[2]);
  return n[0] == 1 || n[1] == 1 || n[2] == 1;
}

// The samples in the order of the volume, x first: where each is, and its value.
static void samples_of(const GEO_PrimVolume &volume, std::vector<float> &places,
                       std::vector<float> &values) {
  int n[3];
  volume.getRes(n[0], n[1], n[2]);
  UT_VoxelArrayReadHandleF voxels = volume.getVoxelHandle();
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        UT_Vector3 at;
        volume.indexToPos(x, y, z, at);
        places.insert(places.end(), {at[0], at[1], at[2]});
        values.push_back(voxels->getValue(x, y, z));
      }
}

// The ground's points and the solid beneath it; no points where it does not lie level.
static bool terrain_of(const GEO_PrimVolume &volume, float voxel, Mesh &out, Report &report) {
  std::vector<float> places, values;
  ooze_message why = {""};
  int n[3];
  volume.getRes(n[0], n[1], n[2]);
  samples_of(volume, places, values);
  const uint32_t columns = uint32_t(n[0] > 1 ? n[0] : n[1]),
                 rows = uint32_t(values.size()) / columns;
  const float level = places[1];
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::fabs(places[3 * i + 1] - level) > 0.01f * voxel) return true;
    places[3 * i + 1] += values[i];
  }
  // as deep as particles may sink in and still find their way out
  return report.ok(ooze_mesh_terrain(columns, rows, places.data(), 6.0f * voxel, &out.m, &why), why,
                   "height field");
}

static bool terrain(const ColliderSettings &settings, const ColliderInput &input,
                    std::vector<Piece> &out, Report &report) {
  const GU_Detail &now = *input.now->gdp();
  GA_ROHandleS name(now.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
  for (GA_Index i = 0; i < now.getNumPrimitives(); ++i) {
    const GA_Offset prim = now.primitiveOffset(i);
    const GEO_PrimVolume *volume = volume_at(now, prim);
    if (!volume || !is_layer(*volume) || volume->getVisualization() != GEO_VOLUMEVIS_HEIGHTFIELD)
      continue;
    Piece piece;
    Mesh mesh, was;
    begin_piece(name.isValid() ? name.get(prim).c_str() : "height", settings, piece);
    if (!overrule(now, prim, volume->getPointOffset(0), piece, report)) return false;
    if (!terrain_of(*volume, piece.voxel, mesh, report)) return false;
    if (mesh.m.point_count == 0) {
      report.warn("height field %s does not lie level; it is ignored", piece.name.c_str());
      continue;
    }
    const size_t points = 3 * size_t(mesh.m.point_count);
    piece.now.assign(mesh.m.positions, mesh.m.positions + points);
    piece.triangles.assign(mesh.m.triangles, mesh.m.triangles + 3 * mesh.m.triangle_count);
    piece.before = piece.now;
    const GU_Detail *before = input.before ? input.before->gdp() : nullptr;
    const GEO_PrimVolume *old = before && i < before->getNumPrimitives()
                                    ? volume_at(*before, before->primitiveOffset(i))
                                    : nullptr;
    if (old && is_layer(*old)) {
      if (!terrain_of(*old, piece.voxel, was, report)) return false;
      if (was.m.point_count == mesh.m.point_count)
        piece.before.assign(was.m.positions, was.m.positions + points);
    }
    if (!finite(piece, report)) return false;
    out.push_back(std::move(piece));
  }
  return true;
}

// ---- all ----

// Volumes as VDBs, and a word about volumes that are no colliders.
static const GU_Detail *usable(const GU_Detail *now, GU_Detail &converted, Report &report) {
  size_t strange = 0, native = 0, solid = 0;
  UT_StringHolder type;
  auto layers = converted.createDetachedPrimitiveGroup();
  for (GA_Iterator it(now->getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now->getGEOPrimitive(*it);
    const auto id = prim->getTypeId();
    bool known = id == GEO_PRIMPOLY || id == GEO_PRIMVDB || id == GEO_PRIMVOLUME ||
                 GU_PrimPacked::isPackedPrimitive(*prim);
    if (id == GEO_PRIMVOLUME && is_layer(*volume_at(*now, *it)))
      layers->addOffset(*it);
    else
      native += id == GEO_PRIMVOLUME;
    solid += known;
    strange += !known;
    if (!known) type = UT_StringHolder(prim->getTypeName());
  }
  if (strange)
    report.warn(
        "%zu primitives of type %s among the colliders are ignored: convert them to polygons",
        strange, type.c_str());
  if (!solid && now->getNumPoints())
    report.warn("the colliders have points but no polygons, VDBs or volumes");
  if (!native) return now;
  GU_ConvertParms parms;
  converted.replaceWith(*now);
  if (layers->entries()) converted.destroyPrimitiveOffsets(GA_Range(*layers));
  GU_PrimVDB::convertVolumesToVDBs(converted, converted, parms, false, false, 0.0, false);
  return &converted;
}

static bool distances(const GU_Detail &now, const ColliderSettings &settings,
                      const ColliderInput &input, std::vector<Piece> &out, Report &report) {
  std::string velocities;
  size_t before = out.size();
  for (GA_Iterator it(now.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMVDB) continue;
    auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
    std::string name = vdb->getGridName();
    if (vdb->hasGrid() && vdb->getStorageType() == UT_VDB_VEC3F) {
      velocities = name;
      continue;
    }
    if (!vdb->hasGrid() || vdb->getStorageType() != UT_VDB_FLOAT) {
      report.warn("collider VDB %s is not a signed distance of floats; it is ignored",
                  name.c_str());
      continue;
    }
    if (is_component(name)) {
      report.warn("collider volume %s is a component of vectors; merge them (VDB Vector Merge) to "
                  "give the colliders "
                  "their motion",
                  name.c_str());
      continue;
    }
    Piece piece;
    begin_piece(name, settings, piece);
    piece.grid = vdb->getConstGridPtr();
    GA_Offset point = prim->getPointOffset(0);
    double v[3];
    if (!overrule(now, *it, point, piece, report)) return false;
    const void *vectors = velocities_of(now, name);
    bool asked = vectors || piece.desc.boundary == OOZE_BOUNDARY_PARTICLES ||
                 find_number(now, "v", GA_INVALID_OFFSET, point, 3, v);
    if (asked && !surface_of(now, point, vectors, input.dt, piece, report)) return false;
    out.push_back(std::move(piece));
  }
  if (!velocities.empty() && out.size() == before)
    report.warn("collider VDB %s is not a signed distance, and there is none that it could move; "
                "it is ignored",
                velocities.c_str());
  return true;
}

bool read_volumes(const ColliderSettings &settings, const ColliderInput &input,
                  std::vector<Piece> &out, Report &report) {
  GU_Detail converted;
  const GU_Detail *now = usable(input.now->gdp(), converted, report);
  return terrain(settings, input, out, report) && distances(*now, settings, input, out, report);
}

uint64_t hash_of_volume(const GU_Detail &gdp, GA_Offset prim) {
  if (const GEO_PrimVDB *vdb = vdb_at(gdp, prim))
    return ooze_grid_hash(vdb->getConstGridPtr().get());
  const GEO_PrimVolume *volume = volume_at(gdp, prim);
  if (!volume) return 0;
  std::vector<float> places, values;
  samples_of(*volume, places, values);
  const uint64_t h = ooze_hash(places.data(), places.size() * sizeof(float), 1);
  return ooze_hash(values.data(), values.size() * sizeof(float), h);
}

} // namespace oz
