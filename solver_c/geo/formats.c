/* From a file's name to its format; descriptions of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <stdio.h>
#include <stdlib.h>

static bool ends_with(const char *path, const char *end) {
  size_t length = strlen(path), wide = strlen(end);
  if (length <= wide) return false;
  for (size_t i = 0; i < wide; i++) {
    char c = path[length - wide + i];
    if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
    if (c != end[i]) return false;
  }
  return true;
}

oz_format oz_format_of(const char *path) {
  static const struct {
    const char *end;
    oz_format format;
  } known[] = {{".bgeo.sc", OZ_BGEO_SC}, {".bgeosc", OZ_BGEO_SC}, {".bgeo", OZ_BGEO},
               {".geo", OZ_GEO},         {".ply", OZ_PLY},        {".obj", OZ_OBJ},
               {".ozc", OZ_CHECKPOINT},  {".vdb", OZ_VDB},        {".abc", OZ_ALEMBIC}};
  for (size_t i = 0; path && i < sizeof known / sizeof *known; i++)
    if (ends_with(path, known[i].end)) return known[i].format;
  return OZ_NO_FORMAT;
}

static ooze_result unknown(const char *path, const char *expected, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "%s: unknown ending; expected %s", path, expected);
}

/* Unpacks where that is needed, and lets the packed bytes go before the parsing begins if they are
 * ours. */
static ooze_result parse(oz_source *source, oz_format format, void *owned, ooze_points **points,
                         ooze_mesh *mesh) {
  void *unpacked = NULL;
  ooze_result result = OOZE_OK;
  bool geometry = format == OZ_GEO || format == OZ_BGEO || format == OZ_BGEO_SC;
  bool plain = source->count >= 5 && memcmp(source->bytes, "\x7fNSJb", 5) == 0;
  /* As Houdini does, the beginning decides where the name is wrong. */
  if (geometry && !plain &&
      (format == OZ_BGEO_SC || (source->count >= 4 && memcmp(source->bytes, "scf1", 4) == 0))) {
    size_t count = 0;
    result = oz_scf_unpack(source, &unpacked, &count);
    free(owned);
    owned = NULL;
    source->bytes = unpacked;
    source->count = count;
  }
  if (result == OOZE_OK) switch (format) {
    case OZ_GEO:
    case OZ_BGEO:
    case OZ_BGEO_SC:
      result = oz_geo_read(source, points, mesh);
      break;
    case OZ_PLY:
      result = points ? oz_ply_read_points(source, points) : oz_ply_read_mesh(source, mesh);
      break;
    default:
      result = oz_obj_read(source, mesh);
      break;
    }
  free(unpacked);
  free(owned);
  return result;
}

static const char points_endings[] = ".bgeo, .bgeo.sc, .geo or .ply";
static const char mesh_endings[] = ".obj, .ply, .bgeo, .bgeo.sc or .geo";
static const char points_written[] = ".bgeo, .bgeo.sc, .geo, .ply or .abc";
static const char mesh_written[] = ".obj, .ply, .bgeo, .bgeo.sc, .geo or .abc";
static bool holds_points(oz_format f) {
  return f == OZ_GEO || f == OZ_BGEO || f == OZ_BGEO_SC || f == OZ_PLY;
}

static ooze_result read_any(const char *path, const ooze_io_limits *limits, ooze_points **points,
                            ooze_mesh *mesh, ooze_file_info *info, ooze_message *why) {
  oz_format format = oz_format_of(path);
  if (!path) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  if (!holds_points(format) && !(mesh && format == OZ_OBJ)) {
    OZ_TRY_OK(oz_is_file(path, why)); /* first things first */
    return unknown(path, points ? points_endings : mesh_endings, why);
  }
  oz_source source = {path, NULL, 0, oz_limits_of(limits), why, info};
  void *file;
  OZ_TRY_OK(ooze_file_read(path, source.limits.max_bytes, &file, &source.count, why));
  source.bytes = file;
  if (info) info->bytes = source.count;
  return parse(&source, format, file, points, mesh);
}

static ooze_result read_memory(const char *name, const void *bytes, size_t count,
                               const ooze_io_limits *limits, ooze_points **points, ooze_mesh *mesh,
                               ooze_message *why) {
  oz_format format = oz_format_of(name);
  if (!name || (!bytes && count)) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no bytes to read");
  if (!holds_points(format) && !(mesh && format == OZ_OBJ))
    return unknown(name, points ? points_endings : mesh_endings, why);
  oz_source source = {name, bytes ? bytes : (const void *)"", count, oz_limits_of(limits), why,
                      NULL};
  return parse(&source, format, NULL, points, mesh);
}

/* ---- Points ------------------------------------------------------------------------------ */

ooze_result ooze_points_read(const char *path, const ooze_io_limits *limits, ooze_points **out,
                             ooze_message *why) {
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no place for the points given");
  *out = NULL;
  return read_any(path, limits, out, NULL, NULL, why);
}

ooze_result ooze_points_read_memory(const char *name, const void *bytes, size_t count,
                                    const ooze_io_limits *limits, ooze_points **out,
                                    ooze_message *why) {
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no place for the points given");
  *out = NULL;
  return read_memory(name, bytes, count, limits, out, NULL, why);
}

ooze_result ooze_points_write(const char *path, const ooze_points *points,
                              const ooze_write_options *options, ooze_message *why) {
  if (!path || !points) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name or no points given");
  ooze_write_options full = oz_options_of(options);
  oz_format format = oz_format_of(path);
  if (format == OZ_ALEMBIC) return oz_alembic_write(path, points, NULL, &full, why);
  if (!holds_points(format)) return unknown(path, points_written, why);
  return format == OZ_PLY ? oz_ply_write(path, points, NULL, &full, why)
                          : oz_geo_write(path, format, points, NULL, &full, why);
}

ooze_result ooze_points_can_write(const char *path, ooze_message *why) {
  if (!path) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  const oz_format format = oz_format_of(path);
  if (format == OZ_ALEMBIC)
    OZ_TRY_OK(oz_alembic_can_write(path, why));
  else if (!holds_points(format))
    return unknown(path, points_written, why);
  return ooze_file_can_create(path, why);
}

/* Names that a points struct on the stack can borrow. */
static char name_p[] = "P", name_n[] = "N", name_v[] = "v", name_friction[] = "friction",
            name_stick[] = "stick";

/* ---- Meshes ------------------------------------------------------------------------------ */

ooze_result ooze_mesh_read(const char *path, const ooze_io_limits *limits, ooze_mesh *out,
                           ooze_message *why) {
  if (!out || out->size < sizeof *out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no mesh given, or not filled by ooze_mesh_default");
  return read_any(path, limits, NULL, out, NULL, why);
}

ooze_result ooze_mesh_read_memory(const char *name, const void *bytes, size_t count,
                                  const ooze_io_limits *limits, ooze_mesh *out, ooze_message *why) {
  if (!out || out->size < sizeof *out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no mesh given, or not filled by ooze_mesh_default");
  return read_memory(name, bytes, count, limits, NULL, out, why);
}

ooze_result ooze_mesh_can_write(const char *path, ooze_message *why) {
  if (!path) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  const oz_format format = oz_format_of(path);
  if (format == OZ_ALEMBIC)
    OZ_TRY_OK(oz_alembic_can_write(path, why));
  else if (!holds_points(format) && format != OZ_OBJ)
    return unknown(path, mesh_written, why);
  return ooze_file_can_create(path, why);
}

ooze_result ooze_mesh_write(const char *path, const ooze_mesh *mesh,
                            const ooze_write_options *options, ooze_message *why) {
  if (!path || !mesh || (mesh->point_count && !mesh->positions) ||
      (mesh->triangle_count && !mesh->triangles))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name or no mesh given");
  ooze_write_options full = oz_options_of(options);
  oz_format format = oz_format_of(path);
  OZ_TRY_OK(oz_check_finite(path, "position", mesh->positions, mesh->point_count, 3, why));
  for (uint64_t i = 0; i < mesh->triangle_count * 3; i++)
    if (mesh->triangles[i] >= mesh->point_count)
      return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: triangle %llu is at point %u of %u", path,
                     (unsigned long long)(i / 3), mesh->triangles[i], mesh->point_count);
  if (format == OZ_OBJ) return oz_obj_write(path, mesh, &full, why);
  if (!holds_points(format) && format != OZ_ALEMBIC) return unknown(path, mesh_written, why);
  /* The mesh's own arrays serve as attributes: nothing is copied but their list. */
  const uint32_t more = mesh->channels ? mesh->channels->attribute_count : 0;
  oz_attribute *attributes = calloc((size_t)more + 5, sizeof *attributes);
  if (!attributes) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  ooze_points points = {.count = mesh->point_count, .attributes = attributes};
  const oz_attribute own[5] = {
      {name_p, mesh->positions, OOZE_FLOAT32, 3, OOZE_MEANING_POINT, true},
      {name_n, mesh->normals, OOZE_FLOAT32, 3, OOZE_MEANING_NORMAL, true},
      {name_v, mesh->velocities, OOZE_FLOAT32, 3, OOZE_MEANING_VECTOR, true},
      {name_friction, mesh->friction, OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, true},
      {name_stick, mesh->stick, OOZE_FLOAT32, 1, OOZE_MEANING_NUMBER, true}};
  for (int k = 0; k < 5; k++)
    if (own[k].data || k == 0) attributes[points.attribute_count++] = own[k];
  if (mesh->channels) {
    memcpy(attributes + points.attribute_count, mesh->channels->attributes,
           more * sizeof *attributes);
    points.attribute_count += more;
    points.details = mesh->channels->details;
    points.detail_count = mesh->channels->detail_count;
  }
  ooze_result result = format == OZ_ALEMBIC ? oz_alembic_write(path, &points, mesh, &full, why)
                       : format == OZ_PLY   ? oz_ply_write(path, &points, mesh, &full, why)
                                            : oz_geo_write(path, format, &points, mesh, &full, why);
  free(attributes);
  return result;
}

/* ---- Descriptions of files ------------------------------------------------------------------- */

static void mesh_bounds(const ooze_mesh *mesh, ooze_file_info *info) {
  oz_attribute p = {name_p, mesh->positions, OOZE_FLOAT32, 3, OOZE_MEANING_POINT, true};
  ooze_points points = {.count = mesh->point_count, .attributes = &p, .attribute_count = 1};
  info->has_bounds = ooze_points_bounds(&points, info->bounds) == OOZE_OK;
}

ooze_result ooze_file_describe(const char *path, const ooze_io_limits *limits, ooze_file_info *out,
                               ooze_message *why) {
  static const char *const kinds[] = {"",
                                      "Houdini geometry, text",
                                      "Houdini geometry, binary",
                                      "Houdini geometry, packed",
                                      "PLY",
                                      "OBJ",
                                      "Ooze checkpoint",
                                      "OpenVDB",
                                      "Alembic"};
  if (!path || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  oz_format format = oz_format_of(path);
  ooze_file_info info;
  ooze_file_info_default(&info);
  snprintf(info.kind, sizeof info.kind, "%s", kinds[format]);
  if (holds_points(format)) {
    ooze_points *points = NULL;
    OZ_TRY_OK(read_any(path, limits, &points, NULL, &info, why));
    info.has_bounds = ooze_points_bounds(points, info.bounds) == OOZE_OK;
    info.detail_count = points->detail_count;
    for (uint32_t i = 0; i < points->detail_count && i < OOZE_FILE_DETAILS; i++) {
      snprintf(info.detail_names[i], sizeof info.detail_names[i], "%.63s", points->details[i].name);
      info.detail_values[i] = points->details[i].value;
    }
    ooze_points_destroy(points);
    /* polygons are cut into triangles only where a mesh is read */
    if (info.primitives && !info.triangles) {
      ooze_mesh mesh;
      ooze_message unread;
      ooze_mesh_default(&mesh);
      if (read_any(path, limits, NULL, &mesh, NULL, &unread) == OOZE_OK)
        info.triangles = mesh.triangle_count;
      ooze_mesh_release(&mesh);
    }
  } else if (format == OZ_OBJ) {
    ooze_mesh mesh;
    ooze_mesh_default(&mesh);
    OZ_TRY_OK(read_any(path, limits, NULL, &mesh, &info, why));
    info.points = mesh.point_count;
    info.triangles = info.primitives = mesh.triangle_count;
    mesh_bounds(&mesh, &info);
    oz_info_attribute(&info, "P", 1, "float32", 3);
    ooze_mesh_release(&mesh);
  } else if (format == OZ_CHECKPOINT) {
    void *file, *memory = NULL;
    size_t count, bytes = 0;
    char *meta = NULL;
    ooze_io_limits full = oz_limits_of(limits);
    OZ_TRY_OK(ooze_file_read(path, full.max_bytes, &file, &count, why));
    ooze_result result =
        ooze_checkpoint_read_memory(path, file, count, &full, &memory, &bytes, &meta, why);
    ooze_io_free(file);
    ooze_io_free(memory);
    if (result != OOZE_OK) return result;
    info.bytes = count;
    snprintf(info.meta, sizeof info.meta, "%s", meta ? meta : "");
    ooze_io_free(meta);
  } else {
    OZ_TRY_OK(oz_is_file(path, why));
    return unknown(path, ".bgeo, .bgeo.sc, .geo, .ply, .obj, .ozc, .vdb or .json", why);
  }
  return oz_struct_out(out, &info, sizeof info);
}
