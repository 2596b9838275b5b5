// Meshes to polygons with attributes. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// Appends the mesh to the detail: P, N, v and its channels as attributes of the points.
void write_polygons(const ooze_mesh &mesh, GU_Detail &to);

// Appends the triangles of a mesh, with the points from `start` on that stand for its own.
void write_triangles(const ooze_mesh &mesh, GA_Offset start, GU_Detail &to);

} // namespace oz
