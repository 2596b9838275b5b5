// SPDX-License-Identifier: Apache-2.0
#include "collider_parts.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_PrimPacked.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "detail.h"

namespace oz {

// Values that the geometry has for one collider.
bool overrule(const GU_Detail &gdp, GA_Offset prim, GA_Offset point, Piece &piece, Report &report) {
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
  if (find_number(gdp, "collidervoxel", prim, point, 1, &value) && value > 0)
    piece.voxel = float(value);
  if (find_number(gdp, "shellthickness", prim, point, 1, &value) && value > 0)
    piece.thickness = float(value);
  return true;
}

void begin_piece(const std::string &name, const ColliderSettings &settings, Piece &piece) {
  piece.name = name;
  piece.desc = settings.desc;
  piece.type = settings.type;
  piece.mode = settings.mode;
  piece.voxel = settings.voxel;
  piece.thickness = settings.thickness;
  piece.band = settings.band;
}

bool finite(const Piece &piece, Report &report) {
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

static bool same_topology(const Shapes *a, const GU_Detail &b) {
  return a && a->gdp() && a->gdp()->getNumPoints() == b.getNumPoints() &&
         a->gdp()->getNumPrimitives() == b.getNumPrimitives();
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
      begin_piece(called, settings, piece);
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
      read_points(*input.first->gdp(), "P", index, p.first);
    if (same_topology(input.before, now)) {
      read_points(*input.before->gdp(), "P", index, p.before);
    } else {
      std::vector<float> v;
      read_points(now, "v", index, v);
      p.before = p.now;
      for (size_t i = 0; i < v.size(); ++i) p.before[i] -= float(input.dt) * v[i];
      if (input.before && input.before->gdp())
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

const Shapes::Inside &Shapes::packed(GA_Index prim) const {
  const GU_PrimPacked *p = packed_at(myDetail, prim);
  auto put = myInside.emplace(prim, Inside());
  Inside &out = put.first->second;
  GU_Detail inside;
  Fan fan;
  std::vector<GA_Index> index;
  if (!put.second || !p || !p->unpackUsingPolygons(inside)) return out; // poly soups too
  for (GA_Iterator it(inside.getPrimitiveRange()); !it.atEnd(); ++it)
    if (is_face(*inside.getGEOPrimitive(*it))) fan.add(*inside.getGEOPrimitive(*it), out.triangles);
  for (GA_Offset o : fan.points) index.push_back(inside.pointIndex(o));
  read_points(inside, "P", index, out.points);
  return out;
}

// Its points, where the geometry has them and as many.
static bool points_of(const Shapes *shapes, GA_Index prim, size_t count, std::vector<float> &out) {
  if (!shapes || !packed_at(shapes->gdp(), prim)) return false;
  const std::vector<float> &points = shapes->packed(prim).points;
  if (points.size() != count) return false;
  out = points;
  return true;
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
    begin_piece(called.empty() ? "packed" + std::to_string(i) : called, settings, piece);
    if (!overrule(now, prim, point, piece, report)) return false;
    if (piece.type == 0) piece.type = 2; // packed geometry does not bend
    piece.now = input.now->packed(i).points;
    piece.triangles = input.now->packed(i).triangles;
    if (piece.now.empty()) {
      report.warn("packed primitive %s has no polygons; it is no collider", piece.name.c_str());
      continue;
    }
    points_of(input.first, i, piece.now.size(), piece.first);
    if (!points_of(input.before, i, piece.now.size(), piece.before)) {
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

bool read_pieces(const ColliderSettings &settings, const ColliderInput &input,
                 std::vector<Piece> &out, Report &report) {
  const GU_Detail &now = *input.now->gdp();
  return polygons(now, settings, input, out, report) && packed(now, settings, input, out, report) &&
         read_volumes(settings, input, out, report);
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

uint64_t Shapes::hash() const {
  uint64_t h = 0;
  for (GA_Index i = 0; myDetail && i < myDetail->getNumPrimitives(); ++i) {
    uint64_t one = hash_of_volume(*myDetail, myDetail->primitiveOffset(i));
    const Inside &inside = packed(i);
    if (!inside.points.empty()) {
      one = ooze_hash(inside.points.data(), inside.points.size() * sizeof(float), 0);
      one = ooze_hash(inside.triangles.data(), inside.triangles.size() * sizeof(uint32_t), one);
    }
    if (one) h = ooze_hash(&one, sizeof one, h);
  }
  return h;
}

} // namespace oz
