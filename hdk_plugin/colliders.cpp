// SPDX-License-Identifier: Apache-2.0
#include "colliders.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimVDB.h>

#include "bridge.h"

namespace oz {

// One collider made of polygons.
struct Colliders::Piece {
  std::string name;
  std::vector<GA_Offset> points; // its own points, each once
  std::vector<uint32_t> triangles;
  std::vector<float> now, before, first; // 3 a point; first may be empty
  ooze_collider_desc desc;
  uint32_t type = 0;
};

const std::vector<std::string> &collider_names() {
  static const std::vector<std::string> names = {
      "P", "v", "rest", "friction", "stick", "temperature", "collidertype", "kill", "invert", "walldensity"};
  return names;
}

bool ColliderSettings::read(const char *node, const Parms &parms, float separation, Report &report) {
  ooze_collider_desc_default(&desc);
  if (!read_group(node, parms, "collider", "collider_desc", &desc, report)) return false;
  type = uint32_t(parms.number("collidertype"));
  mode = uint32_t(parms.number("collidershape"));
  voxel = parms.real("collidervoxel");
  thickness = parms.real("shellthickness");
  ground = parms.on("useground");
  ground_height = parms.real("groundheight");
  if (!(voxel > 0)) voxel = separation;
  return true;
}

Colliders::~Colliders() {
  for (auto &s : myShapes) ooze_sdf_free(&s.second.sdf);
}

// Values that the geometry has for one collider.
static bool overrule(const GU_Detail &gdp, GA_Offset prim, GA_Offset point, const std::string &name,
                     ooze_collider_desc &desc, Report &report) {
  static const char *const pairs[4][2] = {
      {"friction", "friction"}, {"stick", "stick"}, {"temperature", "temperature"}, {"walldensity", "wall_density"}};
  double value = 0;
  for (auto &p : pairs) {
    ooze_message why = {""};
    if (!find_number(gdp, p[0], prim, point, 1, &value)) continue;
    if (!report.ok(ooze_schema_store("collider_desc", p[1], &value, &desc, &why), why,
                   ("collider " + name + ", attribute").c_str()))
      return false;
  }
  if (find_number(gdp, "kill", prim, point, 1, &value)) desc.role = value != 0 ? OOZE_ROLE_KILL : OOZE_ROLE_COLLIDE;
  if (find_number(gdp, "invert", prim, point, 1, &value)) desc.invert = value != 0;
  return true;
}

// ---- shapes ----

bool Colliders::voxelise(const std::vector<float> &points, const Piece &piece, const ColliderSettings &settings,
                         Placed &out, Report &report) {
  uint64_t key = ooze_hash(points.data(), points.size() * sizeof(float), 0);
  key = ooze_hash(piece.triangles.data(), piece.triangles.size() * sizeof(uint32_t), key);
  const float numbers[3] = {settings.voxel, settings.thickness, float(settings.mode)};
  key = ooze_hash(numbers, sizeof numbers, key);
  auto at = myShapes.find(key);
  if (at == myShapes.end()) {
    ooze_sdf_desc d;
    ooze_message why = {""};
    Shape shape;
    ooze_sdf_desc_default(&d);
    ooze_sdf_default(&shape.sdf);
    d.voxel = settings.voxel;
    d.mode = settings.mode;
    d.thickness = settings.thickness;
    ooze_result r = ooze_sdf_from_mesh(&d, points.data(), uint32_t(points.size() / 3), piece.triangles.data(),
                                       uint32_t(piece.triangles.size() / 3), &shape.sdf, &why);
    if (!report.ok(r, why, ("collider " + piece.name).c_str())) return false;
    at = myShapes.emplace(key, shape).first;
  }
  at->second.used = myUse;
  out.shape = key;
  return true;
}

static void centre_of(const std::vector<float> &p, float c[3]) {
  double sum[3] = {0, 0, 0};
  for (size_t i = 0; i < p.size(); ++i) sum[i % 3] += p[i];
  for (int k = 0; k < 3; ++k) c[k] = float(sum[k] / double(p.size() / 3));
}

// The shape is made of points about their middle, so that torques are about it; poses carry it to where the points are.
bool Colliders::place(Piece &piece, const ColliderSettings &settings, Placed &out, Report &report) {
  bool still = piece.type == 1 || piece.now == piece.before;
  const std::vector<float> &body = piece.first.empty() || piece.type == 3 ? piece.now : piece.first;
  std::vector<float> local = body;
  float c[3], error[2] = {0, 0};
  ooze_message why = {""};
  uint32_t n = uint32_t(body.size() / 3);
  centre_of(body, c);
  for (size_t i = 0; i < local.size(); ++i) local[i] -= c[i % 3];
  if (still && body == piece.now) {
    std::copy(c, c + 3, piece.desc.start.position);
    piece.desc.end = piece.desc.start;
  } else {
    bool ok = report.ok(ooze_pose_fit(local.data(), piece.now.data(), n, &piece.desc.end, &error[0], &why), why,
                        "collider") &&
              report.ok(ooze_pose_fit(local.data(), piece.before.data(), n, &piece.desc.start, &error[1], &why), why,
                        "collider");
    if (!ok) return false;
    if (still) piece.desc.start = piece.desc.end;
    // a twentieth of a voxel is what the distance field could not show either
    bool bends = error[0] > 0.05f * settings.voxel || error[1] > 0.05f * settings.voxel;
    if (bends && piece.type == 0) {
      piece.type = 3;
      return place(piece, settings, out, report);
    }
    if (bends && piece.type == 2)
      report.warn("collider %s is called rigid but bends by %g m", piece.name.c_str(),
                  double(std::max(error[0], error[1])));
  }
  out.name = piece.name;
  out.desc = piece.desc;
  return voxelise(local, piece, settings, out, report);
}

// ---- polygons ----

static void read_points(const GU_Detail &gdp, const char *name, const std::vector<GA_Index> &index,
                        std::vector<float> &out) {
  GA_ROHandleV3 h(gdp.findPointAttribute(name));
  out.clear();
  if (!h.isValid()) return;
  out.resize(index.size() * 3);
  for (size_t i = 0; i < index.size(); ++i) std::memcpy(&out[3 * i], h.get(gdp.pointOffset(index[i])).data(), 12);
}

static bool same_topology(const GU_Detail *a, const GU_Detail &b) {
  return a && a->getNumPoints() == b.getNumPoints() && a->getNumPrimitives() == b.getNumPrimitives();
}

bool Colliders::polygons(const GU_Detail &now, const ColliderSettings &settings, const ColliderInput &input,
                         std::vector<Placed> &out, Report &report) {
  std::map<std::string, Piece> pieces; // by name, so that their order follows from it
  std::map<std::string, std::map<GA_Offset, uint32_t>> known;
  GA_ROHandleS name(now.findAttribute(GA_ATTRIB_PRIMITIVE, "name"));
  size_t lines = 0;
  for (GA_Iterator it(now.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMPOLY) continue;
    if (!UTverify_cast<const GEO_PrimPoly *>(prim)->isClosed() || prim->getVertexCount() < 3) {
      ++lines;
      continue;
    }
    std::string called = name.isValid() ? name.get(*it).c_str() : "";
    Piece &piece = pieces[called];
    auto &numbers = known[called];
    if (piece.points.empty()) {
      piece.name = called;
      piece.desc = settings.desc;
      piece.type = settings.type;
      double type = 0;
      if (!overrule(now, *it, prim->getPointOffset(0), called, piece.desc, report)) return false;
      if (find_number(now, "collidertype", *it, prim->getPointOffset(0), 1, &type)) piece.type = uint32_t(type) & 3;
    }
    uint32_t corner[3] = {0, 0, 0};
    for (GA_Size v = 0; v < prim->getVertexCount(); ++v) { // a fan
      GA_Offset o = prim->getPointOffset(v);
      auto put = numbers.emplace(o, uint32_t(piece.points.size()));
      if (put.second) piece.points.push_back(o);
      corner[v < 2 ? v : 2] = put.first->second;
      if (v < 2) continue;
      piece.triangles.insert(piece.triangles.end(), corner, corner + 3);
      corner[1] = corner[2];
    }
  }
  if (lines) report.warn("%zu open curves among the colliders are ignored", lines);
  for (auto &entry : pieces) {
    Piece &p = entry.second;
    std::vector<GA_Index> index(p.points.size());
    for (size_t i = 0; i < index.size(); ++i) index[i] = now.pointIndex(p.points[i]);
    read_points(now, "P", index, p.now);
    read_points(now, "rest", index, p.first);
    if (p.first.empty() && same_topology(input.first, now)) read_points(*input.first, "P", index, p.first);
    if (same_topology(input.before, now)) {
      read_points(*input.before, "P", index, p.before);
    } else {
      std::vector<float> v;
      read_points(now, "v", index, v);
      p.before = p.now;
      for (size_t i = 0; i < v.size(); ++i) p.before[i] -= float(input.dt) * v[i];
      if (input.before)
        report.warn(
            "collider %s changes its number of points or polygons: it is taken as it is at the end of each frame",
            p.name.c_str());
    }
    for (float x : p.now)
      if (!(std::fabs(x) <= 1e6f))
        return report.fail("collider %s: a point is not finite, or further out than 1e6 m", p.name.c_str());
    Placed made;
    if (!place(p, settings, made, report)) return false;
    out.push_back(made);
  }
  return true;
}

// ---- VDBs and volumes ----

bool Colliders::volumes(const GU_Detail &now, const ColliderSettings &settings, std::vector<Placed> &out,
                        Report &report) {
  for (GA_Iterator it(now.getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now.getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMVDB) continue;
    auto *vdb = UTverify_cast<const GEO_PrimVDB *>(prim);
    std::string name = vdb->getGridName();
    if (!vdb->hasGrid() || vdb->getStorageType() != UT_VDB_FLOAT) {
      report.warn("collider VDB %s is not a signed distance of floats; it is ignored", name.c_str());
      continue;
    }
    Placed made;
    Shape shape;
    ooze_sdf_desc d;
    ooze_message why = {""};
    ooze_sdf_desc_default(&d);
    ooze_sdf_default(&shape.sdf);
    ooze_result r = ooze_sdf_from_grid(&d, vdb->getConstGridPtr().get(), &shape.sdf, &why);
    if (r < 0) {
      report.warn("collider VDB %s; it is ignored", why.text);
      continue;
    }
    uint64_t key = ooze_hash(shape.sdf.bricks, shape.sdf.brick_count * sizeof(ooze_sdf_brick), 0);
    key = ooze_hash(&shape.sdf.voxel, sizeof shape.sdf.voxel, key);
    made.name = name;
    made.desc = settings.desc;
    made.shape = key;
    std::copy(shape.sdf.offset, shape.sdf.offset + 3, made.desc.start.position);
    made.desc.end = made.desc.start;
    if (myShapes.count(key))
      ooze_sdf_free(&shape.sdf);
    else
      myShapes.emplace(key, shape);
    myShapes[key].used = myUse;
    if (!overrule(now, *it, prim->getPointOffset(0), name, made.desc, report)) return false;
    out.push_back(made);
  }
  return true;
}

uint64_t hash_of_grids(const GU_Detail *gdp) {
  uint64_t h = 0;
  if (!gdp) return h;
  for (GA_Iterator it(gdp->getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = gdp->getGEOPrimitive(*it);
    if (prim->getTypeId() != GEO_PRIMVDB || !UTverify_cast<const GEO_PrimVDB *>(prim)->hasGrid()) continue;
    auto grid = UTverify_cast<const GEO_PrimVDB *>(prim)->getConstGridPtr();
    auto box = grid->evalActiveVoxelBoundingBox();
    auto size = grid->voxelSize();
    auto at = grid->indexToWorld(openvdb::Vec3d(0.0));
    const double numbers[13] = {double(grid->activeVoxelCount()),
                                double(box.min()[0]),
                                double(box.min()[1]),
                                double(box.min()[2]),
                                double(box.max()[0]),
                                double(box.max()[1]),
                                double(box.max()[2]),
                                size[0],
                                size[1],
                                size[2],
                                at[0],
                                at[1],
                                at[2]};
    h = ooze_hash(numbers, sizeof numbers, h);
  }
  return h;
}

// ---- to the solver ----

bool Colliders::update(ooze_solver *s, const ColliderSettings &settings, const ColliderInput &input, Report &report) {
  std::vector<Placed> want;
  ++myUse;
  if (settings.ground) {
    Placed plane;
    plane.name = "ground";
    plane.desc = settings.desc;
    plane.desc.shape = OOZE_SHAPE_PLANE;
    plane.desc.start.position[1] = plane.desc.end.position[1] = settings.ground_height;
    want.push_back(plane);
  }
  if (input.now) {
    const GU_Detail *now = input.now;
    GU_Detail converted;
    size_t strange = 0, native = 0, solid = 0;
    const char *type = "";
    for (GA_Iterator it(now->getPrimitiveRange()); !it.atEnd(); ++it) {
      const GEO_Primitive *prim = now->getGEOPrimitive(*it);
      int id = int(prim->getTypeId());
      native += id == GEO_PRIMVOLUME;
      solid += id == GEO_PRIMPOLY || id == GEO_PRIMVDB || id == GEO_PRIMVOLUME;
      if (id == GEO_PRIMPOLY || id == GEO_PRIMVDB || id == GEO_PRIMVOLUME) continue;
      ++strange;
      type = prim->getTypeName();
    }
    if (strange)
      report.warn("%zu primitives of type %s among the colliders are ignored: convert or unpack them to polygons",
                  strange, type);
    if (!solid && now->getNumPoints()) report.warn("the colliders have points but no polygons, VDBs or volumes");
    if (native) {
      GU_ConvertParms parms;
      converted.replaceWith(*now);
      GU_PrimVDB::convertVolumesToVDBs(converted, converted, parms, false, false, 0.0, false);
      now = &converted;
    }
    if (!polygons(*now, settings, input, want, report) || !volumes(*now, settings, want, report)) return false;
  }

  bool same_count = want.size() == myPlaced.size();
  if (!same_count) {
    for (auto &p : myPlaced) ooze_collider_remove(s, p.handle);
    myPlaced.clear();
  }
  for (size_t i = 0; i < want.size(); ++i) {
    Placed &w = want[i];
    if (w.name.empty()) w.name = "collider" + std::to_string(i - (settings.ground ? 1 : 0));
    if (w.shape) {
      const Shape &shape = myShapes[w.shape];
      w.desc.shape = OOZE_SHAPE_SDF;
      w.desc.voxel = shape.sdf.voxel;
      w.desc.bricks = shape.sdf.bricks;
      w.desc.brick_count = shape.sdf.brick_count;
    }
    ooze_result r = OOZE_OK;
    if (!same_count) {
      r = ooze_collider_add(s, &w.desc, &w.handle);
    } else {
      Placed &had = myPlaced[i];
      w.handle = had.handle;
      ooze_collider_desc a = had.desc, b = w.desc;
      a.start = b.start, a.end = b.end;
      if (had.shape == w.shape && !std::memcmp(&a, &b, sizeof a)) // only moved: its bricks need not be copied again
        r = ooze_collider_move(s, w.handle, &w.desc.start, &w.desc.end);
      else
        r = ooze_collider_set(s, w.handle, &w.desc);
    }
    if (r < 0) {
      myPlaced.clear();
      return report.fail("collider %s: %s", w.name.c_str(), ooze_solver_message(s));
    }
  }
  myPlaced = want;
  for (auto at = myShapes.begin(); at != myShapes.end();) { // shapes of frames gone by
    bool keep = at->second.used == myUse;
    if (!keep) ooze_sdf_free(&at->second.sdf);
    at = keep ? std::next(at) : myShapes.erase(at);
  }
  return true;
}

void Colliders::write_loads(ooze_solver *s, GU_Detail &gdp) const {
  for (auto &p : myPlaced) {
    float force[3], torque[3];
    if (ooze_collider_load(s, p.handle, force, torque) < 0) continue;
    std::string name;
    for (char c : p.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    write_detail(gdp, ("force_" + name).c_str(), 3, force);
    write_detail(gdp, ("torque_" + name).c_str(), 3, torque);
    write_detail(gdp, ("pivot_" + name).c_str(), 3, p.desc.end.position);
  }
}

} // namespace oz
