/* THE Alembic file: one sample of a mesh or of points as the bytes of an Ogawa archive. Exceptions
 * end here. SPDX-License-Identifier: Apache-2.0 */
#include <Alembic/AbcCoreOgawa/All.h>
#include <Alembic/AbcGeom/All.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "alembic.h"

namespace Abc = Alembic::Abc;
namespace Geom = Alembic::AbcGeom;

namespace {

ooze_points_attribute find(const ooze_points *points, const char *name, uint32_t type,
                           uint32_t components) {
  ooze_points_attribute a;
  ooze_points_attribute_default(&a);
  if (ooze_points_find(points, name, &a) != OOZE_OK || a.type != type || a.components != components)
    a.data = nullptr;
  return a;
}

const Abc::V3f *vectors(const ooze_points *points, const char *name) {
  return static_cast<const Abc::V3f *>(find(points, name, OOZE_FLOAT32, 3).data);
}

double detail(const ooze_points *points, const char *name, double otherwise) {
  double value = otherwise;
  (void)ooze_points_detail_get(points, name, &value);
  return value;
}

/* One attribute as a geometry parameter with a value a point. */
template <class Param>
void put(Abc::OCompoundProperty &to, const ooze_points_attribute &a, size_t count, uint32_t time) {
  typedef typename Param::prop_type::traits_type::value_type value;
  Param param(to, a.name, false, Geom::kVertexScope, 1, time);
  param.set(typename Param::Sample(Abc::TypedArraySample<typename Param::prop_type::traits_type>(
                                       static_cast<const value *>(a.data), count),
                                   Geom::kVertexScope));
}

/* Channels beside P, N, v and id; those of a shape that Alembic has no name for are left out. */
void channels(Abc::OCompoundProperty to, const ooze_points *points, size_t count, uint32_t time) {
  const uint32_t all = ooze_points_attribute_count(points);
  for (uint32_t k = 0; k < all; k++) {
    ooze_points_attribute a;
    ooze_points_attribute_default(&a);
    if (ooze_points_attribute_get(points, k, &a) != OOZE_OK) continue;
    const std::string name = a.name;
    if (name == "P" || name == "N" || name == "v" || name == "id") continue;
    if (a.type == OOZE_FLOAT32 && a.components == 1)
      put<Geom::OFloatGeomParam>(to, a, count, time);
    else if (a.type == OOZE_FLOAT32 && a.components == 3 && a.meaning == OOZE_MEANING_COLOR)
      put<Geom::OC3fGeomParam>(to, a, count, time);
    else if (a.type == OOZE_FLOAT32 && a.components == 3)
      put<Geom::OV3fGeomParam>(to, a, count, time);
    else if (a.type == OOZE_INT32 && a.components == 1)
      put<Geom::OInt32GeomParam>(to, a, count, time);
  }
}

void details(Abc::OCompoundProperty to, const ooze_points *points) {
  const uint32_t all = ooze_points_detail_count(points);
  for (uint32_t k = 0; k < all; k++) {
    const char *name = nullptr;
    double value = 0.0;
    if (ooze_points_detail_at(points, k, &name, &value) == OOZE_OK)
      Abc::ODoubleProperty(to, name).set(value);
  }
}

void put_mesh(Abc::OObject top, const ooze_points *points, const ooze_mesh *mesh, uint32_t time) {
  const size_t count = mesh->point_count, triangles = (size_t)mesh->triangle_count;
  std::vector<int32_t> indices(3 * triangles), counts(triangles, 3);
  for (size_t i = 0; i < triangles; i++) { /* Alembic's faces turn clockwise seen from outside */
    const uint32_t *t = mesh->triangles + 3 * i;
    indices[3 * i] = (int32_t)t[0];
    indices[3 * i + 1] = (int32_t)t[2];
    indices[3 * i + 2] = (int32_t)t[1];
  }
  Geom::OPolyMesh object(top, "surface", time);
  Geom::OPolyMeshSchema &schema = object.getSchema();
  Geom::OPolyMeshSchema::Sample sample(Abc::V3fArraySample(vectors(points, "P"), count),
                                       Abc::Int32ArraySample(indices),
                                       Abc::Int32ArraySample(counts));
  const Abc::V3f *v = vectors(points, "v"), *n = vectors(points, "N");
  if (v) sample.setVelocities(Abc::V3fArraySample(v, count));
  if (n)
    sample.setNormals(
        Geom::ON3fGeomParam::Sample(Abc::N3fArraySample(n, count), Geom::kVertexScope));
  schema.set(sample);
  channels(schema.getArbGeomParams(), points, count, time);
  details(schema.getUserProperties(), points);
}

void put_points(Abc::OObject top, const ooze_points *points, uint32_t time) {
  const size_t count = (size_t)ooze_points_count(points);
  std::vector<uint64_t> ids(count);
  std::vector<float> widths;
  ooze_points_attribute id;
  ooze_points_attribute_default(&id);
  const bool has_id = ooze_points_find(points, "id", &id) == OOZE_OK && id.components == 1;
  for (size_t i = 0; i < count; i++)
    ids[i] = !has_id                 ? i
             : id.type == OOZE_INT32 ? (uint64_t) static_cast<const int32_t *>(id.data)[i]
             : id.type == OOZE_INT64 || id.type == OOZE_UINT64
                 ? static_cast<const uint64_t *>(id.data)[i]
                 : i;
  const float *scale = static_cast<const float *>(find(points, "pscale", OOZE_FLOAT32, 1).data);
  for (size_t i = 0; scale && i < count; i++) widths.push_back(2.0f * scale[i]);
  Geom::OPoints object(top, "points", time);
  Geom::OPointsSchema &schema = object.getSchema();
  Geom::OPointsSchema::Sample sample(Abc::V3fArraySample(vectors(points, "P"), count),
                                     Abc::UInt64ArraySample(ids));
  const Abc::V3f *v = vectors(points, "v");
  if (v) sample.setVelocities(Abc::V3fArraySample(v, count));
  if (scale)
    sample.setWidths(
        Geom::OFloatGeomParam::Sample(Abc::FloatArraySample(widths), Geom::kVertexScope));
  schema.set(sample);
  channels(schema.getArbGeomParams(), points, count, time);
  details(schema.getUserProperties(), points);
}

} // namespace

extern "C" ooze_result oz_alembic_bytes(const ooze_points *points, const ooze_mesh *mesh,
                                        const char *software, void **out, size_t *count,
                                        char *reason, size_t room) {
  *out = nullptr;
  *count = 0;
  reason[0] = '\0';
  try {
    std::ostringstream stream(std::ios::binary);
    {
      Abc::MetaData about;
      about.set("_ai_Application", software); /* no date: equal contents are equal files */
      Alembic::AbcCoreOgawa::WriteArchive writer;
      Abc::OArchive archive(writer(&stream, about), Abc::kWrapExisting,
                            Abc::ErrorHandler::kThrowPolicy);
      const uint32_t time =
          archive.addTimeSampling(Abc::TimeSampling(1.0, detail(points, "time", 0.0)));
      if (mesh)
        put_mesh(archive.getTop(), points, mesh, time);
      else
        put_points(archive.getTop(), points, time);
    }
    const std::string bytes = stream.str();
    *out = std::malloc(bytes.size() ? bytes.size() : 1);
    if (!*out) return OOZE_ERROR_MEMORY;
    std::memcpy(*out, bytes.data(), bytes.size());
    *count = bytes.size();
    return OOZE_OK;
  } catch (const std::bad_alloc &) {
    return OOZE_ERROR_MEMORY;
  } catch (const std::exception &e) {
    std::snprintf(reason, room, "%s", e.what());
    return OOZE_ERROR_FORMAT;
  }
}
