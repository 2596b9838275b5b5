/* The files of a run: points, surfaces, meshes, pictures. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
                  (oz_session_shows_heat(s) ? OOZE_WITH_TEMPERATURE : 0u) |
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
  double blend = 0.0; /* of rest and rest2, which surfaces carry for shading */
  const int blends = o->shading && ooze_points_detail_get(points, "restblend", &blend) == OOZE_OK;
  if (!o->surface && !o->mesh) return OOZE_OK; /* a frame without particles has files too: empty */
  OZ_TRY_OK(build_surface(j, points, surface));
  if (o->surface) {
    ooze_vdb_options options;
    ooze_vdb_options_default(&options);
    options.has_time = 1;
    options.frame = j->frame;
    options.time = time;
    options.has_rest_blend = (uint32_t)blends;
    options.rest_blend = (float)blend;
    OZ_TRY_OK(path_of(j, "surface", ".vdb", path, sizeof path));
    OZ_TRY_OK(ooze_surface_write_vdb(*surface, path, &options, &j->why));
    OZ_TRY_OK(wrote(j, path));
  }
  if (o->mesh) {
    ooze_mesh mesh;
    ooze_write_options options;
    ooze_mesh_default(&mesh);
    ooze_write_options_default(&options);
    options.threads = j->session->options.machine ? j->session->options.machine->threads : 0;
    OZ_TRY_OK(path_of(j, "mesh", oz_mesh_endings[o->mesh], path, sizeof path));
    OZ_TRY_OK(ooze_surface_mesh(*surface, 0.0, &mesh, &j->why));
    ooze_result result = ooze_mesh_detail_set(&mesh, "frame", j->frame, &j->why);
    if (result >= 0) result = ooze_mesh_detail_set(&mesh, "time", time, &j->why);
    if (result >= 0 && blends) result = ooze_mesh_detail_set(&mesh, "restblend", blend, &j->why);
    if (result >= 0) result = ooze_mesh_write(path, &mesh, &options, &j->why);
    ooze_mesh_release(&mesh);
    OZ_TRY_OK(result);
    OZ_TRY_OK(wrote(j, path));
  }
  return OOZE_OK;
}

static ooze_result write_preview(oz_job *j, const ooze_points *points) {
  const oz_session *s = j->session;
  ooze_picture_options options = s->preview;
  ooze_image image;
  char path[3600];
  OZ_TRY_OK(path_of(j, "preview", ".png", path, sizeof path));
  ooze_image_default(&image);
  /* the camera stands still while the fluid is where it was expected, and follows it from there */
  const float size = options.fit_size;
  if (!oz_picture_has_bounds(s->scene))
    OZ_TRY_OK(ooze_scene_picture_fit(s->scene, j->frame, points, &options, &j->why));
  options.fit_size = size;
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
  if (result >= 0 && oz_point_endings[o->points]) result = oz_session_add_paint(s, points, &j->why);
  if (result >= 0) result = oz_scene_colour_points(s->base, points, threads, &j->why);
  if (result >= 0 && oz_point_endings[o->points]) {
    ooze_write_options options;
    ooze_write_options_default(&options);
    options.threads = threads;
    options.ready = my_turn;
    options.user = j;
    result = path_of(j, "points", oz_point_endings[o->points], path, sizeof path);
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
