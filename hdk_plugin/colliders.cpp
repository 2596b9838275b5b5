// SPDX-License-Identifier: Apache-2.0
#include "colliders.h"

#include <GA/GA_Iterator.h>
#include <GEO/GEO_PrimPoly.h>
#include <GEO/GEO_Primitive.h>
#include <GU/GU_ConvertParms.h>
#include <GU/GU_PrimPacked.h>
#include <GU/GU_PrimVDB.h>
#include <UT/UT_StringHolder.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "bodies.h"
#include "detail.h"
#include "collider_parts.h"

namespace oz {

const std::vector<std::string> &collider_names() {
  static const std::vector<std::string> names = {
      "P",       "v",    "w",           "rest",     "friction",     "stick",         "temperature",
      "contact", "kill", "walldensity", "boundary", "collidertype", "collidershape", "invert"};
  return names;
}

bool ColliderSettings::read(const char *node, const Parms &parms, float particle_separation,
                            Report &report) {
  ooze_collider_desc_default(&desc);
  if (!read_group(node, parms, "collider", "collider_desc", &desc, report)) return false;
  type = uint32_t(parms.number("collidertype"));
  mode = uint32_t(parms.number("collidershape"));
  voxel = parms.real("collidervoxel");
  thickness = parms.real("shellthickness");
  ground = parms.on("useground");
  ground_height = parms.real("groundheight");
  limits = uint32_t(parms.number("limits"));
  for (int k = 0; k < 3; ++k) {
    limit_half[k] = 0.5f * float(parms.number("limitsize", k));
    limit_centre[k] = float(parms.number("limitcenter", k));
  }
  world = parms.world;
  separation = particle_separation;
  uint32_t model = uint32_t(parms.number("model"));
  particles = model != OOZE_MODEL_BLEND;
  if (!(voxel > 0)) voxel = particle_separation;
  return true;
}

// ---- to the solver ----

// Volumes as VDBs, and a word about what is no collider.
static const GU_Detail *usable(const GU_Detail *now, GU_Detail &converted, Report &report) {
  size_t strange = 0, native = 0, solid = 0;
  UT_StringHolder type;
  for (GA_Iterator it(now->getPrimitiveRange()); !it.atEnd(); ++it) {
    const GEO_Primitive *prim = now->getGEOPrimitive(*it);
    const auto id = prim->getTypeId();
    bool known = id == GEO_PRIMPOLY || id == GEO_PRIMVDB || id == GEO_PRIMVOLUME ||
                 GU_PrimPacked::isPackedPrimitive(*prim);
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
  GU_PrimVDB::convertVolumesToVDBs(converted, converted, parms, false, false, 0.0, false);
  return &converted;
}

Colliders::Shape::Shape() {
  ooze_sdf_default(&sdf);
  ooze_mesh_samples_default(&samples);
}
Colliders::Shape::~Shape() {
  ooze_sdf_free(&sdf);
  ooze_mesh_samples_release(&samples);
}

bool Colliders::update(ooze_solver *s, const ColliderSettings &settings, const ColliderInput &input,
                       Report &report) {
  std::vector<Placed> want;
  ++myUse;
  if (settings.ground) {
    Placed plane;
    plane.name = "ground";
    plane.desc = settings.desc;
    plane.desc.boundary = OOZE_BOUNDARY_SDF; // it has no end that points could be put on
    plane.desc.shape = OOZE_SHAPE_PLANE;
    const float at[3] = {0, settings.ground_height, 0};
    ooze_pose_at(&settings.world, at, &plane.desc.start);
    plane.desc.end = plane.desc.start;
    want.push_back(plane);
  }
  if (settings.limits) {
    Placed box;
    box.name = "limits";
    box.desc = settings.desc;
    box.desc.boundary = OOZE_BOUNDARY_SDF;
    box.desc.shape = OOZE_SHAPE_BOX;
    box.desc.invert = 1; // solid outside
    box.desc.role = settings.limits == 1 ? OOZE_ROLE_KILL : OOZE_ROLE_COLLIDE;
    std::copy(settings.limit_half, settings.limit_half + 3, box.desc.half);
    ooze_pose_at(&settings.world, settings.limit_centre, &box.desc.start);
    box.desc.end = box.desc.start;
    want.push_back(box);
  }
  const size_t own = want.size(); // colliders of the node itself
  if (input.now) {
    GU_Detail converted;
    std::vector<Piece> pieces;
    const GU_Detail *now = usable(input.now, converted, report);
    if (!read_pieces(*now, settings, input, pieces, report)) return false;
    for (auto &piece : pieces) {
      Placed made;
      if (piece.name.empty()) piece.name = "collider" + std::to_string(want.size() - own);
      if (piece.desc.boundary == OOZE_BOUNDARY_PARTICLES && !settings.particles) {
        report.warn("this model knows no boundary particles: collider %s is met by contact",
                    piece.name.c_str());
        piece.desc.boundary = OOZE_BOUNDARY_SDF;
      }
      if (!place(piece, settings, made, report)) return false;
      if (!made.name.empty()) want.push_back(std::move(made));
    }
  }
  if (!hand_over(s, want, report)) return false;
  for (auto at = myShapes.begin(); at != myShapes.end();) { // shapes of frames gone by
    bool used = at->second.used == myUse;
    at = used ? std::next(at) : myShapes.erase(at);
  }
  return true;
}

bool Colliders::hand_over(ooze_solver *s, std::vector<Placed> &want, Report &report) {
  bool same_count = want.size() == myPlaced.size();
  for (auto &p : myPlaced)
    if (!same_count) ooze_collider_remove(s, p.handle);
  for (size_t i = 0; i < want.size(); ++i) {
    Placed &w = want[i];
    if (w.shape) {
      const ooze_sdf &sdf = myShapes.at(w.shape).sdf;
      w.desc.shape = OOZE_SHAPE_SDF;
      w.desc.voxel = sdf.voxel;
      w.desc.bricks = sdf.bricks;
      w.desc.brick_count = sdf.brick_count;
    }
    ooze_result r = OOZE_OK;
    if (!same_count) {
      r = ooze_collider_add(s, &w.desc, &w.handle);
    } else {
      const Placed &was = myPlaced[i];
      w.handle = was.handle;
      ooze_collider_desc a = was.desc, b = w.desc;
      a.start = b.start, a.end = b.end;
      if (was.shape == w.shape &&
          !std::memcmp(&a, &b, sizeof a)) // only moved: its bricks need not be copied again
        r = ooze_collider_move(s, w.handle, &w.desc.start, &w.desc.end);
      else
        r = ooze_collider_set(s, w.handle, &w.desc);
    }
    static const Placed none{};
    const Placed &had = same_count ? myPlaced[i] : none;
    if (r >= 0 && (w.places != had.places || w.friction != had.friction || w.stick != had.stick))
      r = ooze_collider_friction_map(s, w.handle, w.apart, uint32_t(w.places.size() / 3),
                                     w.places.data(),
                                     w.friction.empty() ? nullptr : w.friction.data(),
                                     w.stick.empty() ? nullptr : w.stick.data());
    if (r >= 0 && w.desc.boundary == OOZE_BOUNDARY_PARTICLES)
      r = ooze_collider_points(s, w.handle, uint32_t(w.start.size() / 3), w.start.data(),
                               w.end.empty() ? nullptr : w.end.data());
    if (r < 0) {
      myPlaced.clear();
      return report.fail("collider %s: %s", w.name.c_str(), ooze_solver_message(s));
    }
  }
  myPlaced = std::move(want);
  return true;
}

void Colliders::write_loads(ooze_solver *s, GU_Detail &gdp) const {
  for (auto &p : myPlaced) {
    float force[3], torque[3];
    if (ooze_collider_load(s, p.handle, force, torque) < 0) continue;
    std::string name = plain_name(p.name);
    write_detail(gdp, ("force_" + name).c_str(), 3, force);
    write_detail(gdp, ("torque_" + name).c_str(), 3, torque);
    write_detail(gdp, ("pivot_" + name).c_str(), 3, p.desc.end.position);
  }
}

} // namespace oz
