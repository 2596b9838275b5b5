// SPDX-License-Identifier: Apache-2.0
#include "polygons.h"

#include <GA/GA_Handle.h>
#include <GEO/GEO_PolyCounts.h>
#include <GU/GU_PrimPoly.h>

#include <cstring>
#include <vector>

namespace oz {

static void put_vectors(const char *name, GA_TypeInfo type, const float *from, GA_Index first,
                        GA_Size n, GU_Detail &to) {
  if (!from || !n) return;
  if (type != GA_TYPE_POINT) to.addFloatTuple(GA_ATTRIB_POINT, name, 3);
  GA_Attribute *a = to.findPointAttribute(name);
  GA_RWHandleV3(a).setBlockFromIndices(first, n, reinterpret_cast<const UT_Vector3 *>(from));
  a->setTypeInfo(type);
}

static void put_channel(const ooze_points_attribute &from, GA_Index first, GA_Size n,
                        GU_Detail &to) {
  const int width = int(from.components);
  if (from.type != OOZE_FLOAT32 && from.type != OOZE_INT32) return;
  if (from.type == OOZE_FLOAT32)
    to.addFloatTuple(GA_ATTRIB_POINT, from.name, width);
  else
    to.addIntTuple(GA_ATTRIB_POINT, from.name, width);
  GA_Attribute *a = to.findPointAttribute(from.name);
  for (int k = 0; k < width; ++k)
    if (from.type == OOZE_FLOAT32)
      GA_RWHandleF(a).setBlockFromIndices(first, n, static_cast<const float *>(from.data) + k,
                                          width, k);
    else
      GA_RWHandleI(a).setBlockFromIndices(first, n, static_cast<const int32 *>(from.data) + k,
                                          width, k);
  if (!std::strcmp(from.name, "Cd")) a->setTypeInfo(GA_TYPE_COLOR);
}

void write_triangles(const ooze_mesh &mesh, GA_Offset start, GU_Detail &to) {
  if (!mesh.triangle_count) return;
  std::vector<int> corners(3 * size_t(mesh.triangle_count));
  for (size_t t = 0; t < size_t(mesh.triangle_count); ++t) { // Houdini's run clockwise
    corners[3 * t] = int(mesh.triangles[3 * t]);
    corners[3 * t + 1] = int(mesh.triangles[3 * t + 2]);
    corners[3 * t + 2] = int(mesh.triangles[3 * t + 1]);
  }
  GEO_PolyCounts counts;
  counts.append(3, GA_Size(mesh.triangle_count));
  GU_PrimPoly::buildBlock(&to, start, GA_Size(mesh.point_count), counts, corners.data());
}

void write_polygons(const ooze_mesh &mesh, GU_Detail &to) {
  const GA_Index first = to.getNumPoints(); // a VDB has a point of its own
  const GA_Size n = GA_Size(mesh.point_count);
  if (!n) return;
  const GA_Offset start = to.appendPointBlock(n);
  put_vectors("P", GA_TYPE_POINT, mesh.positions, first, n, to);
  put_vectors("N", GA_TYPE_NORMAL, mesh.normals, first, n, to); // under non-uniform scale too
  put_vectors("v", GA_TYPE_VECTOR, mesh.velocities, first, n, to);
  for (uint32_t i = 0; mesh.channels && i < ooze_points_attribute_count(mesh.channels); ++i) {
    ooze_points_attribute a;
    ooze_points_attribute_default(&a);
    if (ooze_points_attribute_get(mesh.channels, i, &a) >= 0) put_channel(a, first, n, to);
  }
  write_triangles(mesh, start, to);
}

} // namespace oz
