/* The files of a run: points, surfaces, meshes, pictures. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const point_endings[] = {".bgeo.sc", ".bgeo", ".geo", ".ply", NULL};
static const char *const mesh_endings[] = {NULL, ".ply", ".obj", ".bgeo", ".bgeo.sc"};

ooze_result oz_session_path(const oz_session *s, const char *part, int32_t frame,
                            const char *ending, char *out, size_t room) {
  int n = snprintf(out, room, "%s/%s%s%s.%04d%s", s->options.folder, part, part[0] ? "/" : "",
                   s->base->output.name, frame, ending);
  if (n < 0 || (size_t)n >= room)
    return oz_fail(s->why, OOZE_ERROR_LIMIT, "%s: the path is too long", s->options.folder);
  return OOZE_OK;
}

static ooze_result make_folder(const char *path, ooze_message *why) {
  OZ_TRY_OK(oz_make_folder(path, why));
  ooze_file_sweep(path); /* leftovers of killed runs */
  return OOZE_OK;
}
/* For the run's folder and those in it that its outputs go to. */
static ooze_result each_folder(oz_session *s, ooze_result (*call)(const char *, ooze_message *)) {
  const oz_output *o = &s->base->output;
  const struct {
    const char *part;
    int wanted;
  } folders[] = {{"", 1},
                 {"checkpoints", 1},
                 {"points", point_endings[o->points] != NULL},
                 {"surface", o->surface != 0},
                 {"mesh", mesh_endings[o->mesh] != NULL},
                 {"preview", s->options.preview != 0}};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    char path[3600];
    if (!folders[k].wanted) continue;
    snprintf(path, sizeof path, "%s%s%s", s->options.folder, folders[k].part[0] ? "/" : "",
             folders[k].part);
    OZ_TRY_OK(call(path, s->why));
  }
  return OOZE_OK;
}

ooze_result oz_session_folder_fits(oz_session *s) {
  if (strlen(s->options.folder) > 2000)
    return oz_fail(s->why, OOZE_ERROR_LIMIT, "%.60s...: the path is too long", s->options.folder);
  return each_folder(s, oz_folder_fits);
}
ooze_result oz_session_folders(oz_session *s) { return each_folder(s, make_folder); }

ooze_result oz_session_lock(oz_session *s, int must) {
  int supported = 1;
  if (s->lock || s->unlockable || (!must && !oz_folder_exists(s->options.folder))) return OOZE_OK;
  OZ_TRY_OK(oz_folder_lock(s->options.folder, &s->lock, &supported, s->why));
  s->unlockable = !supported;
  if (!supported)
    oz_session_say(s, "%s: this disk has no locks; two runs into it would mix", s->options.folder);
  return OOZE_OK;
}

ooze_result oz_session_write_scene(oz_session *s) {
  char path[3600];
  ooze_file *file = NULL;
  snprintf(path, sizeof path, "%s/scene.json", s->options.folder);
  OZ_TRY_OK(ooze_file_create(path, &file, s->why));
  ooze_result result = ooze_file_put(file, s->base->text, strlen(s->base->text), s->why);
  if (result >= 0) result = ooze_file_put(file, "\n", 1, s->why);
  if (result < 0) {
    ooze_file_discard(file);
    return result;
  }
  return ooze_file_commit(file, 1, s->why);
}

int oz_session_writes(const oz_session *s, const char *name, int32_t frame) {
  const oz_output *o = &s->base->output;
  const struct {
    const char *part, *ending;
  } files[] = {{"points", point_endings[o->points]},
               {"surface", o->surface ? ".vdb" : NULL},
               {"mesh", mesh_endings[o->mesh]},
               {"preview", s->options.preview ? ".png" : NULL}};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char made[600];
    if (!files[k].ending) continue;
    snprintf(made, sizeof made, "%s/%s.%04d%s", files[k].part, o->name, frame, files[k].ending);
    if (strcmp(made, name) == 0) return 1;
  }
  return 0;
}

static ooze_result wrote(oz_session *s, const char *path) {
  OZ_TRY_OK(oz_session_record(s, path, s->frame));
  if (s->options.wrote) s->options.wrote(s->options.user, path);
  return OOZE_OK;
}

/* ---- Surfaces ---------------------------------------------------------------------------- */

static ooze_result build_surface(oz_session *s, const ooze_points *points, ooze_surface **out) {
  const oz_output *o = &s->base->output;
  uint32_t count = ooze_particle_count(s->solver);
  ooze_points_attribute p, v, t;
  ooze_surface_scalar scalars[3];
  ooze_surface_desc desc;
  ooze_surface_points in;
  float *stress = NULL, *six = NULL, *rate = NULL;
  ooze_points_attribute_default(&p);
  ooze_points_attribute_default(&v);
  ooze_points_attribute_default(&t);
  ooze_surface_desc_default(&desc);
  ooze_surface_points_default(&in);
  desc.method = o->method;
  desc.separation = s->base->separation;
  desc.threshold = o->threshold;
  desc.voxel = o->voxel;
  desc.smoothing = o->smoothing;
  if (s->options.machine) desc.threads = s->options.machine->threads;
  in.count = count;
  in.scalars = scalars;
  if (ooze_points_find(points, "P", &p) == OOZE_OK) in.positions = p.data;
  if (ooze_points_find(points, "v", &v) == OOZE_OK) in.velocities = v.data;
  ooze_result result = OOZE_OK;
  if (o->stress && count) {
    stress = malloc((size_t)count * sizeof *stress);
    six = malloc((size_t)count * 6 * sizeof *six);
    result = stress && six ? ooze_attribute_read(s->solver, OOZE_STRESS, 0, count, 0, six)
                           : OOZE_ERROR_MEMORY;
    if (result >= 0) ooze_tensor_norms(six, count, stress);
    ooze_surface_scalar made = {"stress", stress, 0};
    scalars[in.scalar_count++] = made;
    if (result < 0) oz_fail(s->why, result, "%s: no stress for the surface", s->base->file);
  }
  if (o->strainrate && count && in.velocities && result >= 0) {
    rate = malloc((size_t)count * sizeof *rate);
    if (rate)
      result = ooze_strain_rate(&desc, &in, rate, s->why);
    else
      result =
          oz_fail(s->why, OOZE_ERROR_MEMORY, "%s: no memory for the strain rate", s->base->file);
    ooze_surface_scalar made = {"strainrate", rate, 0};
    scalars[in.scalar_count++] = made;
  }
  if (o->temperature && ooze_points_find(points, "temperature", &t) == OOZE_OK &&
      t.type == OOZE_FLOAT32) {
    ooze_surface_scalar made = {"temperature", t.data, 0};
    scalars[in.scalar_count++] = made;
  }
  if (result >= 0) result = ooze_surface_build(&desc, &in, out, s->why);
  free(stress);
  free(six);
  free(rate);
  return result;
}

static ooze_result write_surfaces(oz_session *s, const ooze_points *points,
                                  ooze_surface **surface) {
  const oz_output *o = &s->base->output;
  char path[3600];
  if ((!o->surface && !o->mesh) || !ooze_particle_count(s->solver)) return OOZE_OK;
  OZ_TRY_OK(build_surface(s, points, surface));
  if (o->surface) {
    OZ_TRY_OK(oz_session_path(s, "surface", s->frame, ".vdb", path, sizeof path));
    OZ_TRY_OK(ooze_surface_write_vdb(*surface, path, NULL, s->why));
    OZ_TRY_OK(wrote(s, path));
  }
  if (o->mesh) {
    ooze_mesh mesh;
    ooze_mesh_default(&mesh);
    OZ_TRY_OK(oz_session_path(s, "mesh", s->frame, mesh_endings[o->mesh], path, sizeof path));
    OZ_TRY_OK(ooze_surface_mesh(*surface, 0.0, &mesh, s->why));
    ooze_result result = ooze_mesh_write(path, &mesh, NULL, s->why);
    ooze_mesh_release(&mesh);
    OZ_TRY_OK(result);
    OZ_TRY_OK(wrote(s, path));
  }
  return OOZE_OK;
}

static ooze_result write_preview(oz_session *s, const ooze_points *points,
                                 const ooze_surface *surface) {
  ooze_picture_options options;
  ooze_image image;
  char path[3600];
  OZ_TRY_OK(oz_session_path(s, "preview", s->frame, ".png", path, sizeof path));
  ooze_picture_options_default(&options);
  ooze_image_default(&image);
  if (s->options.machine) options.threads = s->options.machine->threads;
  (void)surface; /* the picture's own is smoother */
  OZ_TRY_OK(ooze_scene_picture(s->scene, s->frame, points, NULL, &options, &image, s->why));
  ooze_result result = ooze_image_write_png(&image, path, s->why);
  ooze_image_free(&image);
  OZ_TRY_OK(result);
  return wrote(s, path);
}

/* Results of the last substep that the scene asks for (output.channels): no state, but of use for
 * the colours of a picture and to other programs. */
static ooze_result add_channels(oz_session *s, ooze_points *points) {
  const uint32_t count = ooze_particle_count(s->solver);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    void *data = NULL;
    if (!(s->base->output.channels >> a & 1u)) continue;
    ooze_attribute_info_default(&info);
    OZ_TRY_OK(ooze_attribute_describe((ooze_attribute)a, &info));
    OZ_TRY_OK(ooze_points_add(points, info.name, info.is_integer ? OOZE_INT32 : OOZE_FLOAT32,
                              info.components, OOZE_MEANING_NUMBER, &data, s->why));
    ooze_result result =
        count ? ooze_attribute_read(s->solver, (ooze_attribute)a, 0, count, 0, data) : OOZE_OK;
    if (result < 0)
      return oz_fail(s->why, result, "%s: %s", s->base->file, ooze_solver_message(s->solver));
  }
  return OOZE_OK;
}

ooze_result oz_session_write_frame(oz_session *s) {
  const oz_output *o = &s->base->output;
  ooze_points *points = NULL;
  ooze_surface *surface = NULL;
  char path[3600];
  OZ_TRY_OK(ooze_points_from_solver(s->solver, &points, s->why));
  ooze_result result = ooze_points_detail_set(points, "frame", s->frame, s->why);
  if (result >= 0) result = add_channels(s, points);
  if (result >= 0 && point_endings[o->points]) {
    ooze_write_options options;
    /* one thread packs: more would put equal points into other bytes */
    ooze_write_options_default(&options);
    result = oz_session_path(s, "points", s->frame, point_endings[o->points], path, sizeof path);
    if (result >= 0) result = ooze_points_write(path, points, &options, s->why);
    if (result >= 0) result = wrote(s, path);
  }
  if (result >= 0) result = write_surfaces(s, points, &surface);
  if (result >= 0 && s->options.preview) result = write_preview(s, points, surface);
  ooze_surface_destroy(surface);
  ooze_points_destroy(points);
  return result < 0 ? result : OOZE_OK;
}
