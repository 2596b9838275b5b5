// SPDX-License-Identifier: Apache-2.0
#include "guides.h"
#include "polygons.h"

#include <GA/GA_Handle.h>
#include <GEO/GEO_PolyCounts.h>
#include <GU/GU_PrimPoly.h>
#include <UT/UT_Vector3.h>

#include <algorithm>
#include <vector>

#include "sources.h"

namespace oz {

static GA_Offset add_points(const float *points, size_t count, const ooze_pose &pose,
                            GU_Detail &to) {
  const GA_Offset start = to.appendPointBlock(GA_Size(count));
  for (size_t i = 0; i < count; ++i) {
    ooze_pose at;
    ooze_pose_at(&pose, points + 3 * i, &at);
    to.setPos3(start + GA_Offset(i), UT_Vector3(at.position[0], at.position[1], at.position[2]));
  }
  return start;
}

static void add_lines(const std::vector<float> &segments, GU_Detail &to) {
  ooze_pose here;
  ooze_pose_default(&here);
  const size_t n = segments.size() / 6;
  if (!n) return;
  const GA_Offset start = add_points(segments.data(), 2 * n, here, to);
  std::vector<int> ends(2 * n);
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = int(i);
  GEO_PolyCounts counts;
  counts.append(2, GA_Size(n));
  GU_PrimPoly::buildBlock(&to, start, GA_Size(2 * n), counts, ends.data(), false);
}

static void draw_collider(const ooze_collider_desc &desc, float size, GU_Detail &to) {
  std::vector<float> segments(6 * size_t(ooze_outline_collider(&desc, size, nullptr, 0)));
  ooze_outline_collider(&desc, size, segments.data(), uint32_t(segments.size() / 6));
  add_lines(segments, to);
}

void draw_settings(const ColliderSettings &settings, GU_Detail &to) {
  ooze_collider_desc desc;
  float size = 100 * settings.separation;
  for (float half : settings.limit_half) size = std::max(size, settings.limits ? 2 * half : 0.0f);
  if (settings.describe_ground(desc)) draw_collider(desc, size, to);
  if (settings.describe_limits(desc)) draw_collider(desc, size, to);
}

void draw_nozzles(const GU_Detail &source, GU_Detail &to) {
  Materials materials;
  std::vector<Nozzle> nozzles;
  Report quiet;
  if (!find_nozzles(&source, nullptr, 0, materials, nozzles, quiet)) return;
  for (auto &n : nozzles) {
    std::vector<float> segments(6 * size_t(ooze_outline_emitter(&n.desc, nullptr, 0)));
    ooze_outline_emitter(&n.desc, segments.data(), uint32_t(segments.size() / 6));
    add_lines(segments, to);
  }
}

void draw_mesh(const ooze_mesh &mesh, const ooze_pose &pose, GU_Detail &to) {
  if (!mesh.triangle_count) return;
  const GA_Offset start = add_points(mesh.positions, mesh.point_count, pose, to);
  write_triangles(mesh, start, to);
}

void draw_points(const std::vector<float> &points, const ooze_pose &pose, GU_Detail &to) {
  if (!points.empty()) add_points(points.data(), points.size() / 3, pose, to);
}

} // namespace oz
