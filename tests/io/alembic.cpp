/* .abc files are read back by libalembic itself: meshes and points, their velocities and channels.
 * SPDX-License-Identifier: Apache-2.0 */
#include <Alembic/AbcCoreOgawa/All.h>
#include <Alembic/AbcGeom/All.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "ooze/ooze_io.h"
#include "scratch.h"

namespace Abc = Alembic::Abc;
namespace Geom = Alembic::AbcGeom;

static int failures = 0;
#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      std::printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                        \
    }                                                                    \
  } while (0)

static ooze_message why;
#define GOOD(call)                                     \
  do {                                                 \
    if ((call) != OOZE_OK) {                           \
      std::printf("FAILED %s: %s\n", #call, why.text); \
      std::exit(1);                                    \
    }                                                  \
  } while (0)

static std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

static Abc::IArchive open_archive(const std::string &path) {
  return Abc::IArchive(Alembic::AbcCoreOgawa::ReadArchive(), path);
}

static void meshes(const std::string &path) {
  ooze_mesh mesh;
  void *data = nullptr;
  ooze_mesh_default(&mesh);
  GOOD(ooze_mesh_allocate(&mesh, 4, 2, OOZE_MESH_NORMALS | OOZE_MESH_VELOCITIES, &why));
  for (int i = 0; i < 12; i++) {
    mesh.positions[i] = (float)(i * i);
    mesh.normals[i] = i % 3 == 1 ? 1.0f : 0.0f;
    mesh.velocities[i] = -0.5f * (float)i;
  }
  const uint32_t triangles[6] = {0, 1, 2, 2, 1, 3};
  std::memcpy(mesh.triangles, triangles, sizeof triangles);
  GOOD(ooze_mesh_channel_add(&mesh, "Cd", OOZE_FLOAT32, 3, OOZE_MEANING_COLOR, &data, &why));
  for (int i = 0; i < 12; i++) static_cast<float *>(data)[i] = 0.05f * (float)i;
  GOOD(ooze_mesh_channel_add(&mesh, "age", OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, &data, &why));
  for (int i = 0; i < 4; i++) static_cast<float *>(data)[i] = 3.0f * (float)i;
  GOOD(ooze_mesh_detail_set(&mesh, "time", 1.25, &why));
  GOOD(ooze_mesh_detail_set(&mesh, "frame", 31.0, &why));
  GOOD(ooze_mesh_write(path.c_str(), &mesh, nullptr, &why));
  const std::string first = bytes_of(path);
  GOOD(ooze_mesh_write(path.c_str(), &mesh, nullptr, &why));
  EXPECT(first == bytes_of(path)); /* equal contents, equal files */

  Abc::IArchive archive = open_archive(path);
  Geom::IPolyMesh object(archive.getTop(), "surface");
  Geom::IPolyMeshSchema &schema = object.getSchema();
  Geom::IPolyMeshSchema::Sample sample;
  EXPECT(schema.getNumSamples() == 1);
  EXPECT(schema.getTimeSampling()->getSampleTime(0) == 1.25);
  schema.get(sample);
  EXPECT(sample.getPositions()->size() == 4);
  EXPECT(std::memcmp(sample.getPositions()->get(), mesh.positions, 48) == 0);
  EXPECT(sample.getVelocities() &&
         std::memcmp(sample.getVelocities()->get(), mesh.velocities, 48) == 0);
  EXPECT(sample.getFaceCounts()->size() == 2 && (*sample.getFaceCounts())[1] == 3);
  for (int i = 0; i < 6; i++) { /* turned round */
    const int corner = i % 3 == 0 ? i : i % 3 == 1 ? i + 1 : i - 1;
    EXPECT((*sample.getFaceIndices())[(size_t)i] == (int32_t)triangles[corner]);
  }
  Geom::IN3fGeomParam normals = schema.getNormalsParam();
  EXPECT(normals.valid() &&
         std::memcmp(normals.getExpandedValue().getVals()->get(), mesh.normals, 48) == 0);
  Abc::ICompoundProperty more = schema.getArbGeomParams();
  Geom::IC3fGeomParam colours(more, "Cd");
  EXPECT(colours.getExpandedValue().getVals()->size() == 4);
  EXPECT((*colours.getExpandedValue().getVals())[3].z == 0.05f * 11.0f);
  Geom::IFloatGeomParam age(more, "age");
  EXPECT((*age.getExpandedValue().getVals())[3] == 9.0f);
  EXPECT(Abc::IDoubleProperty(schema.getUserProperties(), "frame").getValue() == 31.0);
  ooze_mesh_release(&mesh);
}

static void points(const std::string &path) {
  ooze_points *points = nullptr;
  void *p, *v, *id, *scale, *material;
  GOOD(ooze_points_create(3, &points, &why));
  GOOD(ooze_points_add(points, "P", OOZE_FLOAT32, 3, OOZE_MEANING_POINT, &p, &why));
  GOOD(ooze_points_add(points, "v", OOZE_FLOAT32, 3, OOZE_MEANING_VECTOR, &v, &why));
  GOOD(ooze_points_add(points, "id", OOZE_UINT64, 1, OOZE_MEANING_LABEL, &id, &why));
  GOOD(ooze_points_add(points, "pscale", OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, &scale, &why));
  GOOD(ooze_points_add(points, "material", OOZE_INT32, 1, OOZE_MEANING_LABEL, &material, &why));
  for (int i = 0; i < 9; i++)
    static_cast<float *>(p)[i] = (float)i, static_cast<float *>(v)[i] = 0.1f * (float)i;
  for (int i = 0; i < 3; i++) {
    static_cast<uint64_t *>(id)[i] = (UINT64_C(1) << 40) + (uint64_t)i;
    static_cast<float *>(scale)[i] = 0.002f;
    static_cast<int32_t *>(material)[i] = 2 - i;
  }
  GOOD(ooze_points_write(path.c_str(), points, nullptr, &why));

  Abc::IArchive archive = open_archive(path);
  Geom::IPoints object(archive.getTop(), "points");
  Geom::IPointsSchema::Sample sample;
  object.getSchema().get(sample);
  EXPECT(sample.getPositions()->size() == 3 &&
         std::memcmp(sample.getPositions()->get(), p, 36) == 0);
  EXPECT(sample.getVelocities() && std::memcmp(sample.getVelocities()->get(), v, 36) == 0);
  EXPECT((*sample.getIds())[2] == (UINT64_C(1) << 40) + 2);
  Geom::IFloatGeomParam widths = object.getSchema().getWidthsParam();
  EXPECT(widths.valid() && (*widths.getExpandedValue().getVals())[1] == 0.004f);
  Geom::IInt32GeomParam materials(object.getSchema().getArbGeomParams(), "material");
  EXPECT((*materials.getExpandedValue().getVals())[0] == 2);
  ooze_points_destroy(points);
}

int main() {
  meshes(scratch_path("mesh.abc"));
  points(scratch_path("points.abc"));
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
