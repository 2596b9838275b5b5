/* The files of a run: points, surfaces, meshes, pictures. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const point_endings[] = {".bgeo.sc", ".bgeo", ".geo", ".ply", NULL, ".abc"};
static const char *const mesh_endings[] = {NULL, ".ply", ".obj", ".bgeo", ".bgeo.sc", ".abc"};

ooze_result oz_session_path(const oz_session *s, const char *part, int32_t frame,
                            const char *ending, char *out, size_t room, ooze_message *why) {
  int n = snprintf(out, room, "%s/%s%s%s.%04d%s", s->options.folder, part, part[0] ? "/" : "",
                   s->base->output.name, frame, ending);
  if (n < 0 || (size_t)n >= room)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: the path is too long", s->options.folder);
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
    /* the folder that was asked for may be a link; those in it lie in it */
    if (folders[k].part[0]) OZ_TRY_OK(oz_folder_is_own(path, s->why));
    OZ_TRY_OK(call(path, s->why));
  }
  return OOZE_OK;
}

ooze_result oz_session_folder_fits(oz_session *s) {
  if (strlen(s->options.folder) > 2000)
    return oz_fail(s->why, OOZE_ERROR_LIMIT, "%.60s...: the path is too long", s->options.folder);
  char log[3600];
  snprintf(log, sizeof log, "%s/ooze.log", s->options.folder);
  OZ_TRY_OK(oz_folder_is_own(log, s->why));
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

int oz_session_has_files(const oz_session *s) {
  const oz_output *o = &s->base->output;
  return point_endings[o->points] || o->surface || o->mesh || s->options.preview;
}

/* Surfaces carry temperature: asked for, or a material conducts it. */
static int shows_heat(const oz_session *s) {
  int shows = s->base->output.temperature != 0;
  for (uint32_t i = 0; i < s->base->material_count; i++)
    shows |= s->base->start.materials[i].conductivity > 0.0f;
  return shows;
}

uint64_t oz_session_attributes(const oz_session *s) {
  const oz_output *o = &s->base->output;
  const int surfaces = o->surface || o->mesh;
  uint64_t bits = 0;
  if (!oz_session_has_files(s)) return 0;
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    ooze_attribute_info_default(&info);
    (void)ooze_attribute_describe((ooze_attribute)a, &info);
    if (info.is_state && (point_endings[o->points] || s->options.preview)) bits |= UINT64_C(1) << a;
  }
  bits |= o->channels;
  if (surfaces) bits |= UINT64_C(1) << OOZE_POSITION | UINT64_C(1) << OOZE_VELOCITY;
  if (surfaces && o->shading)
    bits |= UINT64_C(1) << OOZE_MATERIAL | UINT64_C(1) << OOZE_BIRTH | UINT64_C(1) << OOZE_REST_1 |
            UINT64_C(1) << OOZE_REST_2;
  if (surfaces && s->base->body_count) bits |= UINT64_C(1) << OOZE_OWNER;
  if (surfaces && shows_heat(s)) bits |= UINT64_C(1) << OOZE_TEMPERATURE;
  if (surfaces && o->stress) bits |= UINT64_C(1) << OOZE_STRESS;
  return bits;
}

/* A file of the job's frame is whole. */
static ooze_result wrote(oz_job *j, const char *path) {
  OZ_TRY_OK(oz_session_record(j->session, path, j->frame, &j->why));
  return oz_job_wrote(j, path);
}
static ooze_result path_of(oz_job *j, const char *part, const char *ending, char *out,
                           size_t room) {
  return oz_session_path(j->session, part, j->frame, ending, out, room, &j->why);
}

/* ---- Surfaces ---------------------------------------------------------------------------- */

/* Colliders where they are at the job's frame; to be freed. */
static ooze_result find_solids(oz_job *j, ooze_collider_desc **out, uint32_t *count) {
  const oz_session *s = j->session;
  *count = 0;
  *out = NULL;
  if (!s->base->output.subtract || !s->base->collider_count) return OOZE_OK;
  *out = malloc(s->base->collider_count * sizeof **out);
  if (!*out) return oz_fail(&j->why, OOZE_ERROR_MEMORY, "%s: out of memory", s->base->file);
  return ooze_scene_solids(s->scene, j->frame, *out, s->base->collider_count, count, &j->why);
}

static ooze_result build_surface(oz_job *j, ooze_points *points, ooze_surface **out) {
  const oz_session *s = j->session;
  const oz_output *o = &s->base->output;
  const uint32_t count = ooze_capture_count(j->capture), materials = s->base->material_count;
  const char *names[16] = {NULL}; /* the first material is the solver's own */
  uint32_t with = (o->shading ? OOZE_WITH_SHADING : 0u) |
                  (shows_heat(s) ? OOZE_WITH_TEMPERATURE : 0u) |
                  (o->stress ? OOZE_WITH_STRESS : 0u) |
                  (o->strainrate ? OOZE_WITH_STRAINRATE : 0u) | ooze_surface_of_bits(o->of);
  ooze_surface_desc desc;
  ooze_surface_desc_default(&desc);
  desc.method = o->method;
  desc.separation = s->base->separation;
  desc.threshold = o->threshold;
  desc.voxel = o->voxel;
  desc.smoothing = o->smoothing;
  if (!o->surface) desc.attributes = OOZE_FILL_NONE; /* a mesh needs no grids */
  if (s->options.machine) desc.threads = s->options.machine->threads;
  for (uint32_t i = 0; i < materials && i < 15; i++) names[i + 1] = s->base->looks[i].name;
  ooze_points_attribute stress;
  ooze_points_attribute_default(&stress);
  const int made = o->stress && ooze_points_find(points, "stress", &stress) != OOZE_OK;
  if (made) {
    void *six = NULL;
    OZ_TRY_OK(
        ooze_points_add(points, "stress", OOZE_FLOAT32, 6, OOZE_MEANING_NUMBER, &six, &j->why));
    ooze_result result =
        count ? ooze_capture_read(j->capture, OOZE_STRESS, 0, count, 0, six) : OOZE_OK;
    if (result < 0) return oz_fail(&j->why, result, "%s: no stress for the surface", s->base->file);
  }
  ooze_collider_desc *solids = NULL;
  ooze_result result = find_solids(j, &solids, &desc.solid_count);
  desc.solids = solids;
  desc.solid_gap = o->gap;
  if (result >= 0)
    result = ooze_surface_of_points(&desc, points, with, names, materials < 16 ? materials + 1 : 0,
                                    out, &j->why);
  free(solids);
  if (made) ooze_points_remove(points, "stress");
  return result;
}

static ooze_result write_surfaces(oz_job *j, ooze_points *points, ooze_surface **surface) {
  const oz_output *o = &j->session->base->output;
  const double time = ooze_capture_time(j->capture);
  char path[3600];
  if (!o->surface && !o->mesh) return OOZE_OK; /* a frame without particles has files too: empty */
  OZ_TRY_OK(build_surface(j, points, surface));
  if (o->surface) {
    ooze_vdb_options options;
    ooze_vdb_options_default(&options);
    options.has_time = 1;
    options.frame = j->frame;
    options.time = time;
    OZ_TRY_OK(path_of(j, "surface", ".vdb", path, sizeof path));
    OZ_TRY_OK(ooze_surface_write_vdb(*surface, path, &options, &j->why));
    OZ_TRY_OK(wrote(j, path));
  }
  if (o->mesh) {
    ooze_mesh mesh;
    ooze_mesh_default(&mesh);
    OZ_TRY_OK(path_of(j, "mesh", mesh_endings[o->mesh], path, sizeof path));
    OZ_TRY_OK(ooze_surface_mesh(*surface, 0.0, &mesh, &j->why));
    ooze_result result = ooze_mesh_detail_set(&mesh, "frame", j->frame, &j->why);
    if (result >= 0) result = ooze_mesh_detail_set(&mesh, "time", time, &j->why);
    if (result >= 0) result = ooze_mesh_write(path, &mesh, NULL, &j->why);
    ooze_mesh_release(&mesh);
    OZ_TRY_OK(result);
    OZ_TRY_OK(wrote(j, path));
  }
  return OOZE_OK;
}

static ooze_result write_preview(oz_job *j, const ooze_points *points) {
  const oz_session *s = j->session;
  ooze_picture_options options;
  ooze_image image;
  char path[3600];
  OZ_TRY_OK(path_of(j, "preview", ".png", path, sizeof path));
  ooze_picture_options_default(&options);
  ooze_image_default(&image);
  if (s->options.machine) options.threads = s->options.machine->threads;
  OZ_TRY_OK(ooze_scene_picture(s->scene, j->frame, points, NULL /* its own is smoother */, &options,
                               &image, &j->why));
  ooze_result result = ooze_image_write_png(&image, path, &j->why);
  ooze_image_free(&image);
  OZ_TRY_OK(result);
  return wrote(j, path);
}

/* Results of the last substep that the scene asks for (output.channels): no state, but of use for
 * the colours of a picture and to other programs. */
static ooze_result add_channels(oz_job *j, ooze_points *points) {
  const oz_session *s = j->session;
  const uint32_t count = ooze_capture_count(j->capture);
  for (int a = 0; a < OOZE_ATTRIBUTE_COUNT; a++) {
    ooze_attribute_info info;
    void *data = NULL;
    if (!(s->base->output.channels >> a & 1u)) continue;
    ooze_attribute_info_default(&info);
    OZ_TRY_OK(ooze_attribute_describe((ooze_attribute)a, &info));
    OZ_TRY_OK(ooze_points_add(points, info.name, info.is_integer ? OOZE_INT32 : OOZE_FLOAT32,
                              info.components, OOZE_MEANING_NUMBER, &data, &j->why));
    ooze_result result =
        count ? ooze_capture_read(j->capture, (ooze_attribute)a, 0, count, 0, data) : OOZE_OK;
    if (result < 0)
      return oz_fail(&j->why, result, "%s: %s", s->base->file, ooze_capture_message(j->capture));
  }
  return OOZE_OK;
}

static int my_turn(void *user) { return oz_job_await_turn(user); }

/* Points are made while files of the frame before are; they have their name, and all else follows,
 * in the job's turn. */
ooze_result oz_job_write_files(oz_job *j) {
  const oz_session *s = j->session;
  const oz_output *o = &s->base->output;
  ooze_points *points = NULL;
  ooze_surface *surface = NULL;
  char path[3600];
  const uint32_t threads = s->options.machine ? s->options.machine->threads : 0;
  OZ_TRY_OK(
      ooze_points_from_capture(j->capture, oz_session_attributes(s), threads, &points, &j->why));
  ooze_result result = ooze_points_detail_set(points, "frame", j->frame, &j->why);
  if (result >= 0) result = add_channels(j, points);
  if (result >= 0) result = ooze_scene_colour_points(s->base, points, &j->why);
  if (result >= 0 && point_endings[o->points]) {
    ooze_write_options options;
    ooze_write_options_default(&options);
    options.threads = threads;
    options.ready = my_turn;
    options.user = j;
    result = path_of(j, "points", point_endings[o->points], path, sizeof path);
    if (result >= 0) result = ooze_points_write(path, points, &options, &j->why);
    if (result == OOZE_OK) result = wrote(j, path);
  }
  if (result >= 0 && !oz_job_await_turn(j)) result = OOZE_CANCELLED;
  if (result == OOZE_OK) result = write_surfaces(j, points, &surface);
  if (result == OOZE_OK && s->options.preview) result = write_preview(j, points);
  ooze_surface_destroy(surface);
  ooze_points_destroy(points);
  return result < 0 ? result : OOZE_OK;
}
