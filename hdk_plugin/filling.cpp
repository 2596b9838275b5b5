// SPDX-License-Identifier: Apache-2.0
#include "filling.h"

#include <GA/GA_AttributeDict.h>
#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_Assert.h>
#include <UT/UT_StringHolder.h>

#include <algorithm>
#include <set>
#include <utility>

#include "collider_parts.h"
#include "unpack.h"

namespace oz {

// ---- shapes ----

static std::set<std::string> names_of(const GU_Detail &in) { // of the polygons
  std::set<std::string> names;
  GA_ROHandleS name(in.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
  for (GA_Iterator it(in.getPrimitiveRange()); !it.atEnd(); ++it)
    if (in.getGEOPrimitive(*it)->getTypeId() == GEO_PRIMPOLY)
      names.insert(name.isValid() ? name.get(*it).c_str() : "");
  return names;
}

// All of them, or those of one name, over all points.
bool Filling::polygons(const std::string *only, Part &part, Report &report) {
  std::vector<uint32_t> triangles;
  GA_ROHandleS name(myIn.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
  for (GA_Iterator it(myIn.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = myIn.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMPOLY || !UTverify_cast<const GEO_PrimPoly *>(prim)->isClosed())
      continue;
    if (only && name.isValid() && *only != name.get(*it).c_str()) continue;
    for (GA_Size v = 2; v < prim->getVertexCount(); ++v) {
      // Houdini's polygons run clockwise: turned, where the normal counts
      const GA_Size fan[3] = {0, mySurface ? v : v - 1, mySurface ? v - 1 : v};
      for (GA_Size c : fan) triangles.push_back(uint32_t(myIn.pointIndex(prim->getPointOffset(c))));
    }
  }
  ooze_message why = {""};
  ooze_mesh &mesh = part.mesh.m;
  if (!report.ok(
          ooze_mesh_allocate(&mesh, uint32_t(myIn.getNumPoints()), triangles.size() / 3, 0, &why),
          why, "polygons"))
    return false;
  if (triangles.empty()) return true;
  GA_ROHandleV3 p(myIn.getP());
  p.getBlockFromIndices(GA_Index(0), myIn.getNumPoints(),
                        reinterpret_cast<UT_Vector3 *>(mesh.positions));
  std::copy(triangles.begin(), triangles.end(), mesh.triangles);
  if (!mySurface && ooze_mesh_is_closed(&mesh) == 0)
    report.warn("the polygons have open edges; what is inside of them is a guess");
  return true;
}

bool Filling::volumes(Report &report) {
  size_t strange = 0;
  for (GA_Iterator it(myIn.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = myIn.getGEOPrimitive(*it);
    strange += prim->getTypeId() != GEO_PRIMPOLY && prim->getTypeId() != GEO_PRIMVDB;
    if (prim->getTypeId() != GEO_PRIMVDB) continue;
    auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
    if (vdb->hasGrid() && vdb->getStorageType() == UT_VDB_VEC3F) continue; // velocities
    if (!vdb->hasGrid() || vdb->getStorageType() != UT_VDB_FLOAT) {
      report.warn("VDB %s does not hold floats; it is not filled", vdb->getGridName());
      continue;
    }
    ooze_message why = {""};
    auto part = std::make_unique<Part>();
    part->name = vdb->getGridName();
    part->point = prim->getPointOffset(0);
    part->vectors = velocities_of(myIn, part->name);
    const bool fog = vdb->getConstGridPtr()->getGridClass() == openvdb::GRID_FOG_VOLUME;
    const double iso = fog ? myParms.number("isovalue") : 0.0;
    if (!report.ok(ooze_grid_mesh(vdb->getConstGridPtr().get(), iso, &part->mesh.m, &why), why,
                   vdb->getGridName()) ||
        !place(std::move(part), report))
      return false;
  }
  if (strange)
    report.warn("%zu primitives are neither polygons nor volumes; they are not filled", strange);
  return true;
}

// ---- places ----

bool Filling::fill(Part &part, Report &report) {
  ooze_fill_desc d;
  ooze_message why = {""};
  float *x = nullptr;
  uint32_t n = 0;
  ooze_fill_desc_default(&d);
  d.separation = myParms.real("particlesep");
  d.jitter = myParms.real("jitter");
  d.seed = uint32_t(myParms.number("seed"));
  d.occupied = myPlaces.data();
  d.occupied_count = uint32_t(myPlaces.size() / 3);
  if (!report.ok(ooze_fill_mesh(&d, &part.mesh.m, &x, &n, &why), why, "fill")) return false;
  myPlaces.insert(myPlaces.end(), x, x + 3 * size_t(n));
  ooze_io_free(x);
  return n == 0 || report.ok(ooze_mesh_closest(&part.mesh.m, myPlaces.data() + 3 * part.begin, n,
                                               &part.on, &why),
                             why, "attributes");
}

// Places on the surface that are free of those of other shapes.
bool Filling::cover(Part &part, Report &report) {
  ooze_fill_desc d;
  ooze_message why = {""};
  const ooze_mesh &mesh = part.mesh.m;
  ooze_fill_desc_default(&d);
  d.separation = myParms.real("particlesep");
  d.occupied = myPlaces.data();
  d.occupied_count = uint32_t(myPlaces.size() / 3);
  if (!report.ok(ooze_mesh_sample(&mesh, double(d.separation), 0, &part.on, &why), why, "surface"))
    return false;
  const size_t n = part.on.count;
  std::vector<float> at(3 * n), off(3 * n);
  std::vector<uint8_t> keep(n, 1);
  ooze_mesh_samples_place(&part.on, mesh.positions, mesh.triangles, at.data());
  if (part.begin &&
      !report.ok(ooze_fill_apart(&d, at.data(), uint32_t(n), keep.data(), &why), why, "surface"))
    return false;
  for (size_t i = 0; i < n; ++i) part.on.weights[4 * i + 3] = 1.0f; // a metre along the normal
  ooze_mesh_samples_place(&part.on, mesh.positions, mesh.triangles, off.data());
  uint32_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!keep[i]) continue;
    for (size_t k = 0; k < 3; ++k) {
      myPlaces.push_back(at[3 * i + k]);
      myNormals.push_back(off[3 * i + k] - at[3 * i + k]);
    }
    part.on.triangle[kept] = part.on.triangle[i];
    std::copy_n(part.on.weights + 4 * i, 3, part.on.weights + 4 * size_t(kept));
    part.on.weights[4 * size_t(kept++) + 3] = 0.0f;
  }
  part.on.count = kept;
  return true;
}

bool Filling::place(std::unique_ptr<Part> part, Report &report) {
  part->begin = myPlaces.size() / 3;
  const bool some = part->mesh.m.triangle_count > 0;
  if (some && !(mySurface ? cover(*part, report) : fill(*part, report))) return false;
  part->end = myPlaces.size() / 3;
  myParts.push_back(std::move(part));
  return true;
}

bool Filling::run(Report &report) {
  GU_ConvertParms convert;
  unpack(myIn);
  GU_PrimVDB::convertVolumesToVDBs(myIn, myIn, convert, false, false, 0.0, false);
  std::set<std::string> names = {""};
  if (mySplit) names = names_of(myIn);
  for (auto &name : names) {
    auto part = std::make_unique<Part>();
    part->name = mySplit ? name : "";
    if (!polygons(mySplit ? &name : nullptr, *part, report)) return false;
    if (part->mesh.m.triangle_count && !place(std::move(part), report)) return false;
  }
  if (!volumes(report)) return false;
  if (myParts.empty())
    report.warn(mySurface ? "the input has no surface: expected polygons, VDBs or volumes"
                          : "the input has nothing to fill: expected closed polygons, VDBs or "
                            "volumes");
  else if (myPlaces.empty())
    report.warn("nothing is as large as a particle; expected a smaller Particle Separation");
  return true;
}

// ---- attributes of the shape ----

// Attributes that are the source's own business.
static bool own(const std::string &name) {
  static const std::set<std::string> names = {"P", "id", "pscale", "emission", "body"};
  return names.count(name) > 0;
}

static size_t nearest_corner(const Filling::Part &part, size_t place) {
  const float *w = part.on.weights + 4 * place;
  const size_t corner = size_t(std::max_element(w, w + 3) - w);
  return part.mesh.m.triangles[3 * size_t(part.on.triangle[place]) + corner];
}

template <class T>
static void put_numbers(const Filling::Part &part, const GU_Detail &in, const GA_Attribute *from,
                        GU_Detail &to) {
  GA_ROHandleT<T> source(from);
  GA_RWHandleT<T> out(to.findPointAttribute(from->getName()));
  const GA_Size n = GA_Size(part.end - part.begin);
  std::vector<float> corners(size_t(in.getNumPoints())), values(size_t(n), 0.0f);
  for (int k = 0; k < from->getTupleSize() && n; ++k) {
    if (part.point == GA_INVALID_OFFSET && from->getStorageClass() == GA_STORECLASS_REAL) {
      GA_ROHandleF(from).getBlockFromIndices(GA_Index(0), in.getNumPoints(), corners.data(), 1, k);
      ooze_mesh_samples_values(&part.on, corners.data(), part.mesh.m.triangles, values.data());
      GA_RWHandleF(out.getAttribute())
          .setBlockFromIndices(GA_Index(part.begin), n, values.data(), 1, k);
      continue;
    }
    for (GA_Size i = 0; i < n; ++i) {
      const GA_Offset corner = part.point == GA_INVALID_OFFSET
                                   ? in.pointOffset(GA_Index(nearest_corner(part, size_t(i))))
                                   : part.point;
      out.set(to.pointOffset(GA_Index(part.begin) + i), k, source.get(corner, k));
    }
  }
}

static void put_texts(const Filling::Part &part, const GU_Detail &in, const GA_Attribute *from,
                      GU_Detail &to) {
  GA_ROHandleS source(from);
  GA_RWHandleS out(to.findPointAttribute(from->getName()));
  for (size_t i = 0; i < part.end - part.begin; ++i) {
    const GA_Offset corner = part.point == GA_INVALID_OFFSET
                                 ? in.pointOffset(GA_Index(nearest_corner(part, i)))
                                 : part.point;
    out.set(to.pointOffset(GA_Index(part.begin + i)), source.get(corner));
  }
}

bool Filling::transfer(const std::string &pattern, GU_Detail &to, Report &report) const {
  if (pattern.empty() || myPlaces.empty()) return true;
  for (GA_AttributeDict::iterator it = myIn.pointAttribs().begin(GA_SCOPE_PUBLIC); !it.atEnd();
       ++it) {
    const GA_Attribute *from = it.attrib();
    const UT_StringHolder name(from->getName());
    const GA_StorageClass kind = from->getStorageClass();
    if (own(name.c_str()) || !name.multiMatch(pattern.c_str())) continue;
    if (kind == GA_STORECLASS_STRING)
      to.addStringTuple(GA_ATTRIB_POINT, name, 1);
    else if (kind == GA_STORECLASS_INT)
      to.addIntTuple(GA_ATTRIB_POINT, name, from->getTupleSize());
    else if (kind == GA_STORECLASS_REAL)
      to.addFloatTuple(GA_ATTRIB_POINT, name, from->getTupleSize());
    else
      continue;
    to.findPointAttribute(name)->setTypeInfo(from->getTypeInfo());
    for (auto &part : myParts) {
      if (kind == GA_STORECLASS_STRING)
        put_texts(*part, myIn, from, to);
      else if (kind == GA_STORECLASS_INT)
        put_numbers<int32>(*part, myIn, from, to);
      else
        put_numbers<fpreal32>(*part, myIn, from, to);
    }
  }
  for (auto &part : myParts) {
    const size_t n = part->end - part->begin;
    if (!part->vectors || !n || !UT_StringHolder("v").multiMatch(pattern.c_str())) continue;
    std::vector<float> v(3 * n);
    ooze_message why = {""};
    if (!report.ok(ooze_grid_sample(part->vectors, myPlaces.data() + 3 * part->begin, uint32_t(n),
                                    v.data(), &why),
                   why, "velocities"))
      return false;
    if (!to.findPointAttribute("v")) {
      to.addFloatTuple(GA_ATTRIB_POINT, "v", 3);
      to.findPointAttribute("v")->setTypeInfo(GA_TYPE_VECTOR);
    }
    GA_RWHandleV3(to.findPointAttribute("v"))
        .setBlockFromIndices(GA_Index(part->begin), GA_Size(n),
                             reinterpret_cast<const UT_Vector3 *>(v.data()));
  }
  return true;
}

} // namespace oz
