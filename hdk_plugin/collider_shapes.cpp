// Pieces to shapes of the solver: bricks of distance, points on the surface, and the poses that
// carry them. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "collider_parts.h"

namespace oz {

// The shape of that key, fresh where it has to be made.
Colliders::Shape *Colliders::keep(uint64_t key, bool &fresh) {
  auto put = myShapes.try_emplace(key);
  fresh = put.second;
  put.first->second.used = myUse;
  return &put.first->second;
}

static uint64_t key_of(const std::vector<float> &points, const std::vector<uint32_t> &triangles,
                       float a, float b, float c) {
  const float numbers[3] = {a, b, c};
  uint64_t key = ooze_hash(points.data(), points.size() * sizeof(float), 0);
  key = ooze_hash(triangles.data(), triangles.size() * sizeof(uint32_t), key);
  return ooze_hash(numbers, sizeof numbers, key);
}

// ---- shapes ----

bool Colliders::voxelise(const std::vector<float> &points, const Piece &piece, Placed &out,
                         Report &report) {
  bool fresh = false;
  out.shape = key_of(points, piece.triangles, piece.voxel, piece.thickness,
                     float(piece.mode) + 4 * piece.band);
  Shape *shape = keep(out.shape, fresh);
  if (!fresh) return true;
  ooze_sdf_desc d;
  ooze_message why = {""};
  ooze_sdf_desc_default(&d);
  d.voxel = piece.voxel;
  d.mode = piece.mode;
  d.thickness = piece.thickness;
  d.exterior_band = piece.band;
  ooze_result r =
      ooze_sdf_from_mesh(&d, points.data(), uint32_t(points.size() / 3), piece.triangles.data(),
                         uint32_t(piece.triangles.size() / 3), &shape->sdf, &why);
  if (!report.ok(r, why, ("collider " + piece.name).c_str())) {
    myShapes.erase(out.shape);
    return false;
  }
  return true;
}

// Boundary particles: places on the mesh as `body` has it, where the vertices are at the start and
// end of the step.
bool Colliders::sample(const Piece &piece, bool shell, const ColliderSettings &settings,
                       const std::vector<float> &body, const std::vector<float> &start,
                       const std::vector<float> &end, Placed &out, Report &report) {
  bool fresh = false;
  Mesh mesh;
  ooze_message why = {""};
  uint64_t key = key_of(body, piece.triangles, settings.separation, shell ? 1.0f : 2.0f, -1.0f);
  Shape *shape = keep(key, fresh);
  if (!mesh_of(body, piece.triangles, mesh, report)) return false;
  if (!shell) ooze_mesh_face_out(&mesh.m); // Houdini's polygons run clockwise
  if (fresh && !report.ok(ooze_mesh_sample(&mesh.m, double(settings.separation), shell ? 0 : 2,
                                           &shape->samples, &why),
                          why, ("collider " + piece.name).c_str())) {
    myShapes.erase(key);
    return false;
  }
  auto put = [&](const std::vector<float> &vertices, std::vector<float> &to) {
    to.resize(3 * size_t(shape->samples.count));
    ooze_mesh_samples_place(&shape->samples, vertices.data(), mesh.m.triangles, to.data());
  };
  put(start, out.start);
  if (!end.empty()) put(end, out.end);
  return true;
}

// Friction and stick between points that differ in them: places on the mesh, about a separation
// apart.
bool Colliders::friction_map(const Piece &piece, const ColliderSettings &settings,
                             const std::vector<float> &points, Placed &out, Report &report) {
  if (piece.friction.empty() && piece.stick.empty()) return true;
  bool fresh = false;
  Mesh mesh;
  ooze_message why = {""};
  uint64_t key = key_of(points, piece.triangles, settings.separation, 1.0f, -2.0f);
  Shape *shape = keep(key, fresh);
  if (!mesh_of(points, piece.triangles, mesh, report)) return false;
  if (fresh &&
      !report.ok(ooze_mesh_sample(&mesh.m, double(settings.separation), 0, &shape->samples, &why),
                 why, ("collider " + piece.name).c_str())) {
    myShapes.erase(key);
    return false;
  }
  const size_t n = shape->samples.count;
  out.apart = settings.separation;
  out.places.resize(3 * n);
  ooze_mesh_samples_place(&shape->samples, points.data(), mesh.m.triangles, out.places.data());
  auto put = [&](const std::vector<float> &values, std::vector<float> &to) {
    if (values.empty()) return;
    to.resize(n);
    ooze_mesh_samples_values(&shape->samples, values.data(), mesh.m.triangles, to.data());
  };
  put(piece.friction, out.friction);
  put(piece.stick, out.stick);
  return true;
}

static void centre_of(const std::vector<float> &p, float c[3]) {
  double sum[3] = {0, 0, 0};
  for (size_t i = 0; i < p.size(); ++i) sum[i % 3] += p[i];
  for (int k = 0; k < 3; ++k) c[k] = float(sum[k] / double(p.size() / 3));
}

static std::vector<float> about(const std::vector<float> &p, const float c[3]) {
  std::vector<float> local = p;
  for (size_t i = 0; i < local.size(); ++i) local[i] -= c[i % 3];
  return local;
}

// The poses that carry local points to where they are now and were before, and how far they are
// off.
bool Colliders::fit(const Piece &piece, const std::vector<float> &local, bool still, float error[2],
                    ooze_collider_desc &desc, Report &report) {
  ooze_message why = {""};
  uint32_t n = uint32_t(local.size() / 3);
  if (!report.ok(ooze_pose_fit(local.data(), piece.now.data(), n, &desc.end, &error[0], &why), why,
                 "collider"))
    return false;
  desc.start = desc.end;
  return still || report.ok(ooze_pose_fit(local.data(), piece.before.data(), n, &desc.start,
                                          &error[1], &why),
                            why, "collider");
}

static bool is_shell(const Piece &piece, Report &report) {
  Mesh mesh;
  if (piece.mode != OOZE_SDF_AUTO) return piece.mode == OOZE_SDF_SHELL;
  return mesh_of(piece.now, piece.triangles, mesh, report) && ooze_mesh_is_closed(&mesh.m) == 0;
}

// Vertices that each go their own way: points on the mesh, and nothing else, since its distance is
// that of one moment.
bool Colliders::deform(const Piece &piece, const ColliderSettings &settings, Placed &out,
                       Report &report) {
  float c[3];
  centre_of(piece.now, c);
  std::copy(c, c + 3, out.desc.start.position);
  out.desc.end = out.desc.start;
  out.desc.shape = OOZE_SHAPE_SDF;
  out.desc.voxel = piece.voxel;
  const std::vector<float> &body = piece.first.empty() ? piece.now : piece.first;
  return friction_map(piece, settings, about(piece.before, c), out, report) &&
         sample(piece, is_shell(piece, report), settings, body, about(piece.before, c),
                about(piece.now, c), out, report);
}

// The shape is made of points about their middle, so that torques are about it; poses carry it to
// where the points are.
bool Colliders::place(Piece &piece, const ColliderSettings &settings, Placed &out, Report &report) {
  out.name = piece.name;
  out.desc = piece.desc;
  if (piece.grid) return place_grid(piece, settings, out, report);
  const bool still = piece.type == 1 || piece.now == piece.before,
             particles = piece.desc.boundary == OOZE_BOUNDARY_PARTICLES;
  const std::vector<float> &body = piece.first.empty() || piece.type == 3 ? piece.now : piece.first;
  float c[3], error[2] = {0, 0};
  centre_of(body, c);
  const std::vector<float> local = about(body, c);
  if (piece.type == 3 && particles && !still) return deform(piece, settings, out, report);
  if (still && body == piece.now) {
    std::copy(c, c + 3, out.desc.start.position);
    out.desc.end = out.desc.start;
  } else {
    if (!fit(piece, local, still, error, out.desc, report)) return false;
    // the distance field could not show a twentieth of a voxel either
    bool bends = error[0] > 0.05f * piece.voxel || error[1] > 0.05f * piece.voxel;
    if (bends && piece.type == 0) {
      piece.type = 3;
      return place(piece, settings, out, report);
    }
    if (bends && piece.type == 2)
      report.warn("collider %s is called rigid but bends by %g m", piece.name.c_str(),
                  double(std::max(error[0], error[1])));
  }
  if (!friction_map(piece, settings, local, out, report)) return false;
  bool shell = particles && is_shell(piece, report);
  if (particles && !sample(piece, shell, settings, local, local, {}, out, report)) return false;
  if (shell) { // a sheet of points has no inside
    out.desc.shape = OOZE_SHAPE_SDF;
    out.desc.voxel = piece.voxel;
    return true;
  }
  return voxelise(local, piece, out, report);
}

// A distance that is there already. Its velocities are a rigid motion at best, unless points of its
// own carry them.
bool Colliders::place_grid(Piece &piece, const ColliderSettings &settings, Placed &out,
                           Report &report) {
  const bool particles = piece.desc.boundary == OOZE_BOUNDARY_PARTICLES;
  if (particles && piece.moves) return deform(piece, settings, out, report);
  ooze_sdf_desc d;
  ooze_message why = {""};
  bool fresh = false;
  ooze_sdf_desc_default(&d);
  out.shape = ooze_grid_hash(piece.grid.get());
  Shape *shape = keep(out.shape, fresh);
  if (fresh && ooze_sdf_from_grid(&d, piece.grid.get(), &shape->sdf, &why) < 0) {
    myShapes.erase(out.shape);
    report.warn("collider VDB %s; it is ignored", why.text);
    out.name.clear();
    return true;
  }
  const float *at = shape->sdf.offset;
  std::copy(at, at + 3, out.desc.start.position);
  out.desc.end = out.desc.start;
  if (piece.moves) {
    float error[2] = {0, 0};
    const ooze_pose end = out.desc.end;
    if (!fit(piece, about(piece.now, at), false, error, out.desc, report)) return false;
    out.desc.end = end; // exactly
    if (error[1] > 0.5f * shape->sdf.voxel)
      report.warn("collider VDB %s: its velocities bend it by %g m in a step, and are taken as "
                  "those of a rigid body; "
                  "with Boundary "
                  "Particles each place has its own",
                  piece.name.c_str(), double(error[1]));
  }
  return !particles || sample(piece, false, settings, about(piece.now, at), about(piece.now, at),
                              {}, out, report);
}

} // namespace oz
