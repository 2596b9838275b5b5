// SPDX-License-Identifier: Apache-2.0
#include "collider_parts.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimPacked.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_Assert.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "detail.h"

namespace oz {

// Values that the geometry has for one collider.
static bool overrule(const GU_Detail &gdp, GA_Offset prim, GA_Offset point, Piece &piece,
                     Report &report) {
  static const char *const pairs[6][2] = {
      {"friction", "friction"},        {"stick", "stick"},     {"temperature", "temperature"},
      {"walldensity", "wall_density"}, {"contact", "contact"}, {"boundary", "boundary"}};
  double value = 0;
  for (auto &p : pairs) {
    ooze_message why = {""};
    if (!find_number(gdp, p[0], prim, point, 1, &value)) continue;
    if (!report.ok(ooze_schema_store("collider_desc", p[1], &value, &piece.desc, &why), why,
                   ("collider " + piece.name + ", attribute").c_str()))
      return false;
  }
  if (find_number(gdp, "kill", prim, point, 1, &value))
    piece.desc.role = value != 0 ? OOZE_ROLE_KILL : OOZE_ROLE_COLLIDE;
  if (find_number(gdp, "invert", prim, point, 1, &value)) piece.desc.invert = value != 0;
  if (find_number(gdp, "collidertype", prim, point, 1, &value)) piece.type = uint32_t(value) & 3;
  if (find_number(gdp, "collidershape", prim, point, 1, &value) && value >= 0 && value <= 2)
    piece.mode = uint32_t(value);
  return true;
}

static void begin(Piece &piece, const std::string &name, const ColliderSettings &settings) {
  piece.name = name;
  piece.desc = settings.desc;
  piece.type = settings.type;
  piece.mode = settings.mode;
}

static bool finite(const Piece &piece, Report &report) {
  for (float x : piece.now)
    if (!(std::fabs(x) <= 1e6f))
      return report.fail("collider %s: a point is not finite, or further out than 1e6 m",
                         piece.name.c_str());
  return true;
}

// ---- polygons ----

static void read_points(const GU_Detail &gdp, const char *name, const std::vector<GA_Index> &index,
                        std::vector<float> &out) {
  GA_ROHandleV3 h(gdp.findPointAttribute(name));
  out.clear();
  if (!h.isValid()) return;
  out.resize(index.size() * 3);
  for (size_t i = 0; i < index.size(); ++i)
    std::memcpy(&out[3 * i], h.get(gdp.pointOffset(index[i])).data(), 12);
}

// One number a point, where points differ in it. A primitive's own goes before, as everywhere.
static void read_values(const GU_Detail &gdp, const char *name,
                        const std::vector<GA_Offset> &points, std::vector<float> &out) {
  GA_ROHandleF h(gdp.findPointAttribute(name));
  if (!h.isValid() || gdp.findAttribute(GA_ATTRIB_PRIMITIVE, name)) return;
  bool differ = false;
  for (GA_Offset o : points) {
    out.push_back(h.get(o));
    differ |= out.back() != out.front();
  }
  if (!differ) out.clear();
}

static bool same_topology(const GU_Detail *a, const GU_Detail &b) {
  return a && a->getNumPoints() == b.getNumPoints() &&
         a->getNumPrimitives() == b.getNumPrimitives();
}

// Triangles of a polygon, as a fan, over points that are counted as they come.
struct Fan {
  std::map<GA_Offset, uint32_t> numbers;
  std::vector<GA_Offset> points;
  void add(const GEO_Primitive &prim, std::vector<uint32_t> &triangles) {
    uint32_t corner[3] = {0, 0, 0};
    for (GA_Size v = 0; v < prim.getVertexCount(); ++v) {
      GA_Offset o = prim.getPointOffset(v);
      auto put = numbers.emplace(o, uint32_t(points.size()));
      if (put.second) points.push_back(o);
      corner[v < 2 ? v : 2] = put.first->second;
      if (v < 2) continue;
      triangles.insert(triangles.end(), corner, corner + 3);
      corner[1] = corner[2];
    }
  }
};

static bool is_face(const GEO_Primitive &prim) {
  return prim.getTypeId() == GEO_PRIMPOLY && static_cast<const GEO_PrimPoly &>(prim).isClosed() &&
         prim.getVertexCount() > 2;
}

static bool polygons(const GU_Detail &now, const ColliderSettings &settings,
                     const ColliderInput &input, std::vector<Piece> &out, Report &report) {
  std::map<std::string, Piece> pieces; // by name, so that their order follows from it
  std::map<std::string, Fan> fans;
  GA_ROHandleS name(now.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
  size_t lines = 0;
  for (GA_Iterator it(now.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMPOLY) continue;
    if (!is_face(*prim)) {
      ++lines;
      continue;
    }
    std::string called = name.isValid() ? name.get(*it).c_str() : "";
    Piece &piece = pieces[called];
    if (piece.triangles.empty()) {
      begin(piece, called, settings);
      if (!overrule(now, *it, prim->getPointOffset(0), piece, report)) return false;
    }
    fans[called].add(*prim, piece.triangles);
  }
  if (lines) report.warn("%zu open curves among the colliders are ignored", lines);
  for (auto &entry : pieces) {
    Piece &p = entry.second;
    const std::vector<GA_Offset> &points = fans[entry.first].points;
    std::vector<GA_Index> index(points.size());
    for (size_t i = 0; i < index.size(); ++i) index[i] = now.pointIndex(points[i]);
    read_points(now, "P", index, p.now);
    read_values(now, "friction", points, p.friction);
    read_values(now, "stick", points, p.stick);
    read_points(now, "rest", index, p.first);
    if (p.first.empty() && same_topology(input.first, now))
      read_points(*input.first, "P", index, p.first);
    if (same_topology(input.before, now)) {
      read_points(*input.before, "P", index, p.before);
    } else {
      std::vector<float> v;
      read_points(now, "v", index, v);
      p.before = p.now;
      for (size_t i = 0; i < v.size(); ++i) p.before[i] -= float(input.dt) * v[i];
      if (input.before)
        report.warn("collider %s changes its number of points or polygons: it is taken as it is at "
                    "the end of each frame",
                    p.name.c_str());
    }
    if (!finite(p, report)) return false;
    out.push_back(std::move(p));
  }
  return true;
}

// ---- packed primitives: each is a rigid collider of its own ----

static const GU_PrimPacked *packed_at(const GU_Detail *gdp, GA_Index prim) {
  if (!gdp || prim >= gdp->getNumPrimitives()) return nullptr;
  const GEO_Primitive *p = gdp->getGEOPrimitive(gdp->primitiveOffset(prim));
  return GU_PrimPacked::isPackedPrimitive(*p) ? static_cast<const GU_PrimPacked *>(p) : nullptr;
}

// Its polygons where they are now; the triangles where they are asked for.
static bool unpack(const GU_PrimPacked *packed, std::vector<float> &points,
                   std::vector<uint32_t> *triangles) {
  GU_Detail inside;
  Fan fan;
  std::vector<uint32_t> list;
  std::vector<GA_Index> index;
  points.clear();
  if (!packed || !packed->unpackUsingPolygons(inside)) return false; // poly soups too
  for (GA_Iterator it(inside.getPrimitiveRange()); !it.atEnd(); ++it)
    if (is_face(*inside.getGEOPrimitive(*it))) fan.add(*inside.getGEOPrimitive(*it), list);
  for (GA_Offset o : fan.points) index.push_back(inside.pointIndex(o));
  read_points(inside, "P", index, points);
  if (triangles) triangles->swap(list);
  return !points.empty();
}

static bool packed(const GU_Detail &now, const ColliderSettings &settings,
                   const ColliderInput &input, std::vector<Piece> &out, Report &report) {
  GA_ROHandleS name(now.findAttribute(GA_ATTRIB_PRIMITIVE, "name")),
      point_name(now.findPointAttribute("name"));
  for (GA_Index i = 0; i < now.getNumPrimitives(); ++i) {
    const GU_PrimPacked *p = packed_at(&now, i);
    if (!p) continue;
    GA_Offset prim = now.primitiveOffset(i), point = p->getPointOffset(0);
    std::string called = name.isValid()         ? name.get(prim).c_str()
                         : point_name.isValid() ? point_name.get(point).c_str()
                                                : "";
    Piece piece;
    begin(piece, called.empty() ? "packed" + std::to_string(i) : called, settings);
    if (!overrule(now, prim, point, piece, report)) return false;
    if (piece.type == 0) piece.type = 2; // what is packed does not bend
    if (!unpack(p, piece.now, &piece.triangles)) {
      report.warn("packed primitive %s has no polygons; it is no collider", piece.name.c_str());
      continue;
    }
    unpack(packed_at(input.first, i), piece.first, nullptr);
    if (piece.first.size() != piece.now.size()) piece.first.clear();
    if (!unpack(packed_at(input.before, i), piece.before, nullptr) ||
        piece.before.size() != piece.now.size()) {
      // as rigid bodies carry them: velocity and spin of the point
      double v[3] = {0, 0, 0}, w[3] = {0, 0, 0};
      find_number(now, "v", GA_INVALID_OFFSET, point, 3, v);
      find_number(now, "w", GA_INVALID_OFFSET, point, 3, w);
      const UT_Vector3 at = now.getPos3(point);
      const float velocity[3] = {float(v[0]), float(v[1]), float(v[2])},
                  spin[3] = {float(w[0]), float(w[1]), float(w[2])};
      piece.before = piece.now;
      ooze_points_carry(piece.before.data(), uint32_t(piece.before.size() / 3), at.data(), velocity,
                        spin, -input.dt);
    }
    if (!finite(piece, report)) return false;
    out.push_back(std::move(piece));
  }
  return true;
}

// ---- VDBs and volumes ----

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
  if (!report.ok(ooze_grid_mesh(piece.grid, 0, &mesh.m, &why), why,
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

static bool volumes(const GU_Detail &now, const ColliderSettings &settings,
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
    begin(piece, name, settings);
    piece.grid = vdb->getConstGridPtr().get();
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

bool read_pieces(const GU_Detail &now, const ColliderSettings &settings, const ColliderInput &input,
                 std::vector<Piece> &out, Report &report) {
  return polygons(now, settings, input, out, report) && packed(now, settings, input, out, report) &&
         volumes(now, settings, input, out, report);
}

bool mesh_of(const std::vector<float> &points, const std::vector<uint32_t> &triangles, Mesh &out,
             Report &report) {
  ooze_message why = {""};
  if (!report.ok(
          ooze_mesh_allocate(&out.m, uint32_t(points.size() / 3), triangles.size() / 3, 0, &why),
          why, "collider"))
    return false;
  std::copy(points.begin(), points.end(), out.m.positions);
  std::copy(triangles.begin(), triangles.end(), out.m.triangles);
  return true;
}

uint64_t hash_of_solids(const GU_Detail *gdp) {
  uint64_t h = 0;
  if (!gdp) return h;
  for (GA_Index i = 0; i < gdp->getNumPrimitives(); ++i) {
    std::vector<float> points;
    uint64_t one = 0;
    if (const GEO_PrimVDB *vdb = vdb_at(*gdp, gdp->primitiveOffset(i)))
      one = ooze_grid_hash(vdb->getConstGridPtr().get());
    else if (unpack(packed_at(gdp, i), points, nullptr))
      one = ooze_hash(points.data(), points.size() * sizeof(float), 0);
    if (one) h = ooze_hash(&one, sizeof one, h);
  }
  return h;
}

} // namespace oz
