// Lines and surfaces that a node shows beside its geometry. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "colliders.h"

namespace oz {

// Ground and limits of a node that solves.
void draw_settings(const ColliderSettings &settings, GU_Detail &to);
// The nozzles among the points of a source.
void draw_nozzles(const GU_Detail &source, GU_Detail &to);
// Triangles of a mesh, counter-clockwise as the library has them.
void draw_mesh(const ooze_mesh &mesh, const ooze_pose &pose, GU_Detail &to);
void draw_points(const std::vector<float> &points, const ooze_pose &pose, GU_Detail &to);

} // namespace oz
