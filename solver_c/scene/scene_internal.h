/* The private interface of solver_c/scene. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SCENE_INTERNAL_H
#define OOZE_IO_SCENE_INTERNAL_H

#include "fill.h"
#include "ooze/ooze_scene.h"
#include "words.h"

#include <jansson.h>

/* Colliders at the first frame (fill_solid.c); oz_in_solid is an oz_solid_fn. NULL when memory is
 * out. */
typedef struct oz_solids oz_solids;
oz_solids *oz_solids_create(const ooze_scene *scene, double margin);
void oz_solids_destroy(oz_solids *solids);
int oz_in_solid(const void *solids, const double x[3]);
/* m, from one collider; far from the surface of a mesh any number of the right sign */
double oz_solid_distance(const oz_solids *solids, uint32_t collider, const double x[3]);

/* ---- The scene --------------------------------------------------------------------------- */

typedef struct oz_looked {
  ooze_look look;
  char *name;
  uint32_t plain; /* 1: no colour of its own */
} oz_looked;

/* Values that may change while a scene runs. */
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
typedef struct oz_body_keys {
  ooze_body_desc desc; /* its pose alone may change */
  oz_posed posed;
} oz_body_keys;
typedef struct oz_state {
  ooze_params params;
  ooze_material *materials;
  oz_collider_state *colliders;
  oz_emitter_state *emitters;
  oz_body_keys *bodies;
} oz_state;

typedef struct oz_collider_item {
  char *name;
  oz_shape shape;
  float colour[3];
  uint32_t hidden;
  uint32_t shell; /* a mesh without an inside */
  uint32_t moves; /* 1: its pose has keyframes */
  ooze_sdf sdf;   /* for shapes that need one */
} oz_collider_item;
typedef struct oz_body_item {
  oz_fluid fill; /* its name, shape, pose and copies: each copy is a body */
  ooze_body_desc desc;
  uint32_t moves; /* 1: its pose has keyframes */
} oz_body_item;
typedef struct oz_emitter_item {
  char *name;
  uint32_t moves;
} oz_emitter_item;

typedef enum oz_kind {
  OZ_F32,
  OZ_U32,
  OZ_U64,
  OZ_BOOL,
  OZ_MENU,
  OZ_VEC3,
  OZ_QUAT,
  OZ_ROTATE
} oz_kind;
typedef enum oz_group { OZ_SOLVER, OZ_MATERIAL, OZ_COLLIDER, OZ_EMITTER, OZ_BODY } oz_group;

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
  uint32_t width, height, style, colour_by, samples, surface_method, smoothing, has_eye, has_target;
  float range[2], azimuth, elevation, zoom, eye[3], target[3], field_of_view, bounds[6];
  char *caption;
} oz_picture;
int oz_picture_has_bounds(const ooze_scene *scene);
int oz_picture_is_framed(const ooze_scene *scene); /* and tinted: its pictures need no fit */

typedef struct oz_output {
  char *name;
  int32_t first, last;
  double fps;
  uint32_t points, surface, mesh, method, of, smoothing, subtract, stress, strainrate, temperature,
      shading, checkpoint_every, checkpoint_keep;
  float voxel, threshold, gap;
  uint32_t channels; /* bits by ooze_attribute: results of the last substep that caches carry */
} oz_output;

struct ooze_scene {
  char *file;   /* as given */
  char *folder; /* where it looks for files, with the slash; "" for the current one */
  char *about;
  json_t *doc; /* with wedge and sets in it */
  char *text;  /* of doc */
  float separation;
  oz_state start; /* at time 0 */
  uint32_t material_count, collider_count, emitter_count, body_count, fluid_count, channel_count,
      wedge_count;
  oz_looked *looks; /* one a material */
  char **wedge_names;
  oz_collider_item *colliders;
  oz_emitter_item *emitters;
  oz_body_item *bodies;
  oz_fluid *fluids;
  oz_channel *channels;
  oz_output output;
  oz_picture picture;
  ooze_io_limits limits; /* of the files that it names */
  uint64_t max_memory;   /* bytes that a run may hold; 0: no limit */
};

/* A mesh for each frame (shape.c): #### of the pattern is the frame's number. */
ooze_result oz_sequence_path(const char *pattern, int32_t frame, char *out, size_t room,
                             ooze_message *why);
/* That of one frame, scaled, with as many points and triangles as the first. Release it. */
ooze_result oz_sequence_mesh(const ooze_scene *s, const oz_shape *shape, int32_t frame,
                             ooze_mesh *out, ooze_message *why);
/* The things in a picture beside the fluid (shown.c). Meshes that it points to are its own or
 * the scene's. */
typedef struct oz_shown {
  ooze_render_shape *shapes;
  ooze_mesh *meshes;
  uint32_t count, mesh_count;
  /* where bodies are shown: the particles that are left, 3 floats each; else NULL */
  float *fluid;
  uint32_t *which; /* and their numbers, rising */
  uint32_t fluid_count;
} oz_shown;
ooze_result oz_show_colliders(const ooze_scene *s, double frame, oz_shown *d, ooze_message *why);
ooze_result oz_show_bodies(const ooze_scene *s, const ooze_points *points, double separation,
                           uint32_t threads, oz_shown *d, ooze_message *why);
void oz_shown_release(oz_shown *d);
/* Every body of the scene, filled, in turn. `fill` remembers their room. */
typedef ooze_result (*oz_body_fn)(void *user, const oz_body_item *body, const ooze_body_desc *desc,
                                  ooze_message *why);
ooze_result oz_scene_bodies(const ooze_scene *s, oz_fill *fill, oz_body_fn take, void *user,
                            ooze_message *why);
/* Poses of the bodies with keyframes in the solver, during a step from one state to another. */
ooze_result oz_scene_drive_bodies(const ooze_scene *s, const oz_state *from, const oz_state *to,
                                  ooze_solver *solver, ooze_message *why);
/* Particles of fluids that go on coming, at `time`, the beginning of a step of `duration` (emit.c).
 */
ooze_result oz_scene_emit(const ooze_scene *s, double time, double duration, ooze_solver *solver,
                          const oz_fill_host *host, ooze_message *why);
/* that of time 0 */
ooze_result oz_state_copy(const ooze_scene *scene, oz_state *out, ooze_message *why);
void oz_state_release(oz_state *state);
void oz_state_assign(const ooze_scene *scene, oz_state *to, const oz_state *from); /* to a copy */
/* Numbers of a value where it is kept. */
void oz_store(oz_kind kind, const double v[4], void *at);
void oz_state_at(const ooze_scene *scene, double time, oz_state *state); /* into a copy */
/* Adds materials, colliders, emitters and, if `fluids`, particles. Arrays of handles may be NULL.
 */
/* Boundary particles, friction and stick from place to place, of a collider that the solver has
 * got. */
ooze_result oz_scene_dress_collider(const ooze_scene *s, uint32_t i, ooze_solver *solver,
                                    ooze_collider handle, ooze_message *why);
ooze_result oz_scene_fill_solver(const ooze_scene *s, ooze_solver *solver, int fluids,
                                 ooze_collider *colliders, ooze_emitter *emitters,
                                 const oz_fill_host *host, ooze_message *why);
/* Every fluid's particles in turn, handed to `take`; at most `most`. host may be NULL. */
typedef ooze_result (*oz_take_fn)(void *user, uint32_t fluid, const oz_cloud *cloud,
                                  ooze_message *why);
ooze_result oz_scene_fill_all(const ooze_scene *s, uint64_t most, const oz_fill_host *host,
                              oz_body_fn body, oz_take_fn take, void *user, ooze_message *why);
/* The cost of a particle of the scene (cost.c), and how many its max_memory holds. */
typedef struct oz_cost {
  double bytes;   /* a particle, in the solver */
  double saved;   /* a particle, in a checkpoint */
  double seconds; /* a particle and substep */
} oz_cost;
ooze_result oz_scene_cost(const ooze_scene *scene, oz_cost *out, ooze_message *why);
double oz_cost_bytes(const oz_cost *cost); /* of a run, a particle */
ooze_result oz_scene_most_particles(const ooze_scene *scene, uint64_t *out, ooze_message *why);
ooze_result oz_collider_desc_of(const ooze_scene *scene, uint32_t index, const oz_state *state,
                                ooze_collider_desc *out);
double oz_frame_time(const ooze_scene *scene, double frame); /* s */
/* s: the solver's time at a time of the scene; time_scale makes the difference */
double oz_simulated_time(const ooze_scene *s, double time);

/* ---- Painted materials (painted.c) --------------------------------------------------- */

/* A solver has the scene's materials as 1 to M, then as many again for each set of painted values:
 * a number tells the material that it stands for. */
static inline uint32_t oz_painted_base(uint32_t number, uint32_t materials) {
  return number && materials ? (number - 1) % materials + 1 : 0;
}
/* Materials for the values that a fluid's points bring and particles have no attribute for, and the
 * points' `material` to go with them; points without it get the fluid's. */
ooze_result oz_paint_points(const ooze_scene *s, uint32_t fluid, ooze_points *points,
                            ooze_solver *solver, ooze_message *why);

/* ---- JSON (json.c) ----------------------------------------------------------------- */

/* The line, from 1, of the value at a dotted path in JSON text, or of the nearest that holds it. */
/* Good JSON, or NULL: then *no_memory tells a failed allocation from a fault in the text, which
 * Jansson does not. */
json_t *oz_json_load(const char *text, size_t bytes, size_t flags, json_error_t *error,
                     int *no_memory);
/* As Jansson has them, but NULL where any allocation failed: Jansson goes on with a part. */
json_t *oz_json_copy(const json_t *value);
char *oz_json_text(const json_t *value, size_t flags); /* to be freed */
int oz_json_line(const char *text, size_t bytes, const char *path);
/* Puts a value at a dotted path; objects on the way are made. value is stolen. */
int oz_json_put(json_t *root, const char *path, json_t *value, char *error, size_t capacity);
json_t *oz_json_value(const char *text); /* JSON, or else the text as a string */
/* Calls each(user, path, old, new) where two documents differ; either may be NULL. */
typedef void (*oz_differ_fn)(void *user, const char *path, const json_t *before,
                             const json_t *after);
void oz_json_differ(const json_t *before, const json_t *after, oz_differ_fn each, void *user);
/* A short one-line form of a value for messages. */
void oz_json_short(const json_t *value, char *out, size_t capacity);

/* colours.c: ooze_scene_colour_points by so many threads; 0: all */
ooze_result oz_scene_colour_points(const ooze_scene *scene, ooze_points *points, uint32_t threads,
                                   ooze_message *why);

#endif
