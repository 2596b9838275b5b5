// SPDX-License-Identifier: Apache-2.0
#include "colliders.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "bodies.h"
#include "collider_parts.h"
#include "detail.h"
#include "guides.h"

namespace oz {

const std::vector<std::string> &collider_names() {
  static const std::vector<std::string> names = {"P",
                                                 "v",
                                                 "w",
                                                 "rest",
                                                 "friction",
                                                 "stick",
                                                 "temperature",
                                                 "contact",
                                                 "kill",
                                                 "walldensity",
                                                 "boundary",
                                                 "collidertype",
                                                 "collidershape",
                                                 "invert",
                                                 "collidervoxel",
                                                 "shellthickness"};
  return names;
}

bool ColliderSettings::read_shape(const char *node, const Parms &parms, float particle_separation,
                                  Report &report) {
  ooze_collider_desc_default(&desc);
  if (!read_group(node, parms, "collider", "collider_desc", &desc, report)) return false;
  type = uint32_t(parms.number("collidertype"));
  mode = uint32_t(parms.number("collidershape"));
  voxel = parms.real("collidervoxel");
  thickness = parms.real("shellthickness");
  separation = particle_separation;
  if (!(voxel > 0)) voxel = particle_separation;
  world = parms.world;
  return true;
}

bool ColliderSettings::read(const char *node, const Parms &parms, float particle_separation,
                            Report &report) {
  if (!read_shape(node, parms, particle_separation, report)) return false;
  ground = parms.on("useground");
  ground_height = parms.real("groundheight");
  limits = uint32_t(parms.number("limits"));
  for (int k = 0; k < 3; ++k) {
    limit_half[k] = 0.5f * float(parms.number("limitsize", k));
    limit_centre[k] = float(parms.number("limitcenter", k));
  }
  particles = uint32_t(parms.number("model")) != OOZE_MODEL_BLEND;
  return true;
}

bool ColliderSettings::describe_ground(ooze_collider_desc &out) const {
  const float at[3] = {0, ground_height, 0};
  out = desc;
  out.boundary = OOZE_BOUNDARY_SDF; // it has no end that points could be put on
  out.shape = OOZE_SHAPE_PLANE;
  ooze_pose_at(&world, at, &out.start);
  out.end = out.start;
  return ground;
}

bool ColliderSettings::describe_limits(ooze_collider_desc &out) const {
  out = desc;
  out.boundary = OOZE_BOUNDARY_SDF;
  out.shape = OOZE_SHAPE_BOX;
  out.invert = 1; // solid outside
  out.role = limits == 1 ? OOZE_ROLE_KILL : OOZE_ROLE_COLLIDE;
  std::copy(limit_half, limit_half + 3, out.half);
  ooze_pose_at(&world, limit_centre, &out.start);
  out.end = out.start;
  return limits != 0;
}

// ---- to the solver ----

Colliders::Shape::Shape() {
  ooze_sdf_default(&sdf);
  ooze_mesh_samples_default(&samples);
}
Colliders::Shape::~Shape() {
  ooze_sdf_free(&sdf);
  ooze_mesh_samples_release(&samples);
}

// Colliders of the node itself, then those of the geometry.
bool Colliders::gather(const ColliderSettings &settings, const ColliderInput &input,
                       std::vector<Placed> &want, Report &report) {
  ++myUse;
  Placed ground, limits;
  ground.name = "ground";
  limits.name = "limits";
  if (settings.describe_ground(ground.desc)) want.push_back(ground);
  if (settings.describe_limits(limits.desc)) want.push_back(limits);
  const size_t own = want.size();
  std::vector<Piece> pieces;
  const bool some = input.now && input.now->gdp();
  if (some && !read_pieces(settings, input, pieces, report)) return false;
  for (auto &piece : pieces) {
    Placed made;
    if (piece.name.empty()) piece.name = "collider" + std::to_string(want.size() - own);
    if (settings.solids) {
      piece.desc.boundary = OOZE_BOUNDARY_SDF;
      piece.type = 1;
      piece.voxel = settings.voxel;
      piece.first.clear();
    }
    if (piece.desc.boundary == OOZE_BOUNDARY_PARTICLES && !settings.particles) {
      report.warn("this model knows no boundary particles: collider %s is met by contact",
                  piece.name.c_str());
      piece.desc.boundary = OOZE_BOUNDARY_SDF;
    }
    if (!place(piece, settings, made, report)) return false;
    if (!made.name.empty()) want.push_back(std::move(made));
  }
  return true;
}

bool Colliders::update(ooze_solver *s, const ColliderSettings &settings, const ColliderInput &input,
                       Report &report) {
  std::vector<Placed> want;
  if (!gather(settings, input, want, report) || !hand_over(s, want, report)) return false;
  drop_unused();
  return true;
}

bool Colliders::solids(const ColliderSettings &settings, const ColliderInput &input,
                       std::vector<ooze_collider_desc> &out, Report &report) {
  std::vector<Placed> all;
  if (!gather(settings, input, all, report)) return false;
  drop_unused();
  for (auto &p : all) {
    give_bricks(p);
    if (p.desc.role == OOZE_ROLE_COLLIDE) out.push_back(p.desc);
  }
  return true;
}

void Colliders::drop_unused() {
  for (auto at = myShapes.begin(); at != myShapes.end();) {
    bool used = at->second.used == myUse;
    at = used ? std::next(at) : myShapes.erase(at);
  }
}

void Colliders::give_bricks(Placed &to) {
  if (!to.shape) return;
  const ooze_sdf &sdf = myShapes.at(to.shape).sdf;
  to.desc.shape = OOZE_SHAPE_SDF;
  to.desc.voxel = sdf.voxel;
  to.desc.bricks = sdf.bricks;
  to.desc.brick_count = sdf.brick_count;
}

bool Colliders::hand_over(ooze_solver *s, std::vector<Placed> &want, Report &report) {
  bool same_count = want.size() == myPlaced.size();
  for (auto &p : myPlaced)
    if (!same_count) ooze_collider_remove(s, p.handle);
  for (size_t i = 0; i < want.size(); ++i) {
    Placed &w = want[i];
    give_bricks(w);
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

bool Colliders::show(const ColliderSettings &settings, const ColliderInput &input, GU_Detail &to,
                     Report &report) {
  std::vector<Placed> all;
  if (!gather(settings, input, all, report)) return false;
  for (auto &p : all) {
    Mesh mesh;
    ooze_message why = {""};
    ooze_pose end = p.desc.end;
    if (p.shape) {
      ooze_sdf sdf = myShapes.at(p.shape).sdf;
      for (float &x : sdf.offset) x = 0; // the pose has it
      if (!report.ok(ooze_sdf_mesh(&sdf, &mesh.m, &why), why, p.name.c_str())) return false;
      draw_mesh(mesh.m, end, to);
    }
    if (p.desc.boundary == OOZE_BOUNDARY_PARTICLES)
      draw_points(p.end.empty() ? p.start : p.end, end, to);
  }
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
