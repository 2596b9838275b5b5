/* What the files of scenes, filling and running share. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SCENE_INTERNAL_H
#define OOZE_IO_SCENE_INTERNAL_H

#include "io_internal.h"
#include "ooze/ooze_scene.h"
#include "scene_words.h"

#include <jansson.h>

/* ---- Shapes (fill_shape.c) -------------------------------------------------------------------------------------- */

typedef enum oz_shape_kind {
  OZ_SHAPE_PLANE,
  OZ_SHAPE_SPHERE,
  OZ_SHAPE_BOX,
  OZ_SHAPE_CAPSULE,
  OZ_SHAPE_CYLINDER,
  OZ_SHAPE_REVOLVE,
  OZ_SHAPE_CAPSULES,
  OZ_SHAPE_MESH,
  OZ_SHAPE_VDB,
  OZ_SHAPE_POINTS
} oz_shape_kind;

typedef struct oz_shape {
  oz_shape_kind kind;
  float half[3];
  float scale;
  float (*profile)[2]; /* revolve: closed outline, r and y */
  uint32_t profile_count;
  float (*capsules)[7]; /* two ends and a radius */
  uint32_t capsule_count;
  ooze_mesh mesh; /* read when the scene is loaded; scaled */
  char *file;     /* as found on disk, or NULL */
  uint64_t file_hash;
} oz_shape;

void oz_shape_release(oz_shape *shape);
/* Signed distance (m) in the shape's space, negative inside. Not for meshes, .vdb and points. */
double oz_shape_distance(const oz_shape *shape, const double x[3]);
int oz_shape_has_distance(const oz_shape *shape);
/* Bounds of the solid; 0 for planes and what is not known. */
int oz_shape_bounds(const oz_shape *shape, double low[3], double high[3]);
/* As bricks for a collider; free with ooze_sdf_free. */
ooze_result oz_shape_bricks(const oz_shape *shape, const char *who, float voxel, ooze_sdf *out, ooze_message *why);
/* As triangles, for pictures: revolve alone. */
ooze_result oz_shape_tessellate(const oz_shape *shape, ooze_mesh *out, ooze_message *why);

/* ---- Filling (fill.c) ------------------------------------------------------------------------------------------- */

typedef struct oz_fluid {
  char *name;
  oz_shape shape;
  uint32_t material; /* index in the scene */
  ooze_pose pose;
  float velocity[3];
  float jitter;
  uint32_t seed;
  uint32_t count[3];
  float step[3];
  float turn; /* degrees */
  uint32_t keep_state;
} oz_fluid;

typedef struct oz_cloud {
  float (*x)[3];
  float (*v)[3]; /* NULL: at rest */
  uint32_t count;
} oz_cloud;

struct oz_fill;
typedef struct oz_fill oz_fill; /* remembers what is full already */
oz_fill *oz_fill_create(double separation, uint64_t max_particles);
void oz_fill_destroy(oz_fill *fill);
/* Particles of one fluid that overlap none of those before. inside_solid may be NULL. `cut` counts those left out. */
typedef int (*oz_solid_fn)(const void *user, const double x[3]);
ooze_result oz_fill_fluid(oz_fill *fill, const oz_fluid *fluid, oz_solid_fn solid, const void *user, oz_cloud *out,
                          uint64_t *cut, ooze_message *why);
void oz_cloud_release(oz_cloud *cloud);
uint64_t oz_mix(uint64_t a, uint64_t b); /* a well-mixed 64-bit number */

/* ---- The scene -------------------------------------------------------------------------------------------------- */

typedef struct oz_looked {
  ooze_look look;
  char *name;
} oz_looked;

/* What may change while a scene runs. */
typedef struct oz_posed {
  float rotate[3]; /* degrees */
  uint32_t uses_rotate;
} oz_posed;
typedef struct oz_collider_state {
  ooze_collider_desc desc; /* pose in desc.start */
  oz_posed posed;
} oz_collider_state;
typedef struct oz_emitter_state {
  ooze_emitter_desc desc;
  oz_posed posed;
} oz_emitter_state;
typedef struct oz_state {
  ooze_params params;
  ooze_material *materials;
  oz_collider_state *colliders;
  oz_emitter_state *emitters;
} oz_state;

typedef struct oz_collider_item {
  char *name;
  oz_shape shape;
  float colour[3];
  uint32_t hidden;
  uint32_t moves; /* 1: its pose has keyframes */
  ooze_sdf sdf;   /* for shapes that need one */
} oz_collider_item;
typedef struct oz_emitter_item {
  char *name;
  uint32_t moves;
} oz_emitter_item;

typedef enum oz_kind { OZ_F32, OZ_U32, OZ_U64, OZ_BOOL, OZ_MENU, OZ_VEC3, OZ_QUAT, OZ_ROTATE, OZ_SPECIAL } oz_kind;
typedef enum oz_group { OZ_SOLVER, OZ_MATERIAL, OZ_COLLIDER, OZ_EMITTER } oz_group;

typedef struct oz_channel { /* the keyframes of one value */
  oz_group group;
  uint32_t index;
  size_t offset; /* within the group's state */
  oz_kind kind;
  uint32_t interpolation; /* 0 linear, 1 step, 2 smooth */
  uint32_t count;
  double *times;
  double (*values)[4];
} oz_channel;

typedef struct oz_picture {
  uint32_t width, height, style, colour_by, samples, smoothing, has_eye, has_target;
  float range[2], azimuth, elevation, zoom, eye[3], target[3], field_of_view, bounds[6];
  char *caption;
} oz_picture;

typedef struct oz_output {
  char *name;
  int32_t first, last;
  double fps;
  uint32_t points, surface, mesh, method, smoothing, stress, temperature, checkpoint_every, checkpoint_keep;
  float voxel;
} oz_output;

struct ooze_scene {
  char *file;   /* as given */
  char *folder; /* where it looks for files, with the slash; "" for the current one */
  char *about;
  json_t *doc; /* with wedge and sets in it */
  char *text;  /* of doc */
  float separation;
  oz_state start; /* at time 0 */
  uint32_t material_count, collider_count, emitter_count, fluid_count, channel_count, wedge_count;
  oz_looked *looks; /* one a material */
  char **wedge_names;
  oz_collider_item *colliders;
  oz_emitter_item *emitters;
  oz_fluid *fluids;
  oz_channel *channels;
  oz_output output;
  oz_picture picture;
  uint32_t velocity_given, position_given;
};

ooze_result oz_state_copy(const ooze_scene *scene, oz_state *out, ooze_message *why); /* that of time 0 */
void oz_state_release(oz_state *state);
/* Numbers of a value where it is kept. */
void oz_store(oz_kind kind, const double v[4], void *at);
void oz_state_at(const ooze_scene *scene, double time, oz_state *state); /* into a copy */
/* Adds materials, colliders, emitters and, if `fluids`, particles. Arrays of handles may be NULL. */
ooze_result oz_scene_fill_solver(const ooze_scene *s, ooze_solver *solver, int fluids, ooze_collider *colliders,
                                 ooze_emitter *emitters, ooze_message *why);
ooze_result oz_collider_desc_of(const ooze_scene *scene, uint32_t index, const oz_state *state,
                                ooze_collider_desc *out);
void oz_pose_rotate(const float degrees[3], float quaternion[4]);
void oz_pose_apply(const ooze_pose *pose, const double in[3], double out[3]);
void oz_pose_unapply(const ooze_pose *pose, const double in[3], double out[3]);
double oz_frame_time(const ooze_scene *scene, double frame); /* s */

/* ---- JSON (scene_json.c) ---------------------------------------------------------------------------------------- */

/* The line, from 1, of the value at a dotted path in JSON text, or of the nearest that holds it. */
int oz_json_line(const char *text, size_t bytes, const char *path);
/* Puts a value at a dotted path; objects on the way are made. value is stolen. */
int oz_json_put(json_t *root, const char *path, json_t *value, char *error, size_t capacity);
json_t *oz_json_value(const char *text); /* JSON, or else the text as a string */
/* Calls each(user, path, old, new) where two documents differ; either may be NULL. */
typedef void (*oz_differ_fn)(void *user, const char *path, const json_t *before, const json_t *after);
void oz_json_differ(const json_t *before, const json_t *after, oz_differ_fn each, void *user);
/* A short one-line form of a value for messages. */
void oz_json_short(const json_t *value, char *out, size_t capacity);

#endif
