/* Ooze scenes: JSON files to simulations, and running them to caches, surfaces and pictures.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As in ooze.h: metres, kilograms, seconds, kelvins, Y up; every struct begins with its size and is
 * filled by its _default(). A scene that is wrong is refused with one sentence, "file:line: key:
 * value; range or choices". docs/guide/scene.md describes the format, ooze_scene_schema_* and
 * ooze_schema_* list every key. Where the library was built without Jansson, loading returns
 * OOZE_ERROR_UNSUPPORTED. */
#ifndef OOZE_OOZE_SCENE_H
#define OOZE_OOZE_SCENE_H

#include "ooze/ooze_surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Material presets -------------------------------------------------------------------- */

typedef struct ooze_preset {
  uint32_t size;
  const char *name;   /* "honey", "whipped_cream", ... */
  const char *about;  /* a sentence */
  const char *source; /* where the numbers come from */
  ooze_material material;
} ooze_preset;

OOZE_API uint32_t ooze_preset_count(void);
OOZE_API ooze_result ooze_preset_get(uint32_t index, ooze_preset *out);
OOZE_API ooze_result ooze_preset_find(const char *name, ooze_preset *out);

/* ---- Painted values ---------------------------------------------------------------------- */

enum { OOZE_PAINT_COLUMNS = 64 };
/* Points painted with values of a material, sorted into groups that one material each stands for,
 * in the order in which they come. values: `columns` arrays of `count`; one with more than 256
 * different values is rounded, in place, to steps between its least and greatest, and more coarsely
 * where that would make more than 4096 groups. kinds (may be NULL): points of different kinds share
 * no group. out_group: `count` numbers from 0. */
OOZE_API ooze_result ooze_paint_group(float *const *values, uint32_t columns, const uint32_t *kinds,
                                      uint32_t count, uint32_t *out_group, uint32_t *out_groups,
                                      ooze_message *why);

/* ---- Scene files ------------------------------------------------------------------------- */

/* Keys of scenes that are not parameters of the solver (those are in ooze_schema_get): groups
 * "scene", "output", "picture", "material", "fluid", "body", "collider", "emitter", "wedge",
 * "keyframes". Further types: "text", "file", "list", "object". */
OOZE_API uint32_t ooze_scene_schema_count(void);
OOZE_API ooze_result ooze_scene_schema_get(uint32_t index, ooze_schema_entry *out);
/* 1 if an entry of ooze_schema_get is a key of scenes too, as it stands; 0 if they spell it in
 * their own way (position for start.position) or not at all. */
OOZE_API uint32_t ooze_scene_schema_takes(const ooze_schema_entry *entry);

typedef struct ooze_scene ooze_scene; /* does not change once loaded */

typedef struct ooze_scene_options {
  uint32_t size;
  uint32_t set_count;
  /* "materials.honey.viscosity=20": dotted path and a JSON value, in order, after the wedge */
  const char *const *sets;
  /* a row of the scene's wedge table by name, or by number from 0; NULL: none */
  const char *wedge;
  ooze_line_fn warn; /* things that look like slips; may be NULL */
  void *user;
  /* bytes: refuse files that need more to be read, and runs that would hold more. 0: 16 GiB a file
   */
  uint64_t max_memory;
} ooze_scene_options;

OOZE_API ooze_result ooze_scene_load(const char *path, const ooze_scene_options *options,
                                     ooze_scene **out, ooze_message *why);
/* The same from memory; name stands in messages, and files are looked for beside it. */
OOZE_API ooze_result ooze_scene_load_memory(const char *name, const void *text, size_t bytes,
                                            const ooze_scene_options *options, ooze_scene **out,
                                            ooze_message *why);
OOZE_API void ooze_scene_destroy(ooze_scene *scene);

typedef struct ooze_scene_info {
  uint32_t size;
  uint32_t materials, fluids, emitters, colliders, wedges;
  int32_t first_frame, last_frame;
  double frames_per_second;
  float separation;  /* m */
  uint32_t substeps; /* a frame, at the first one; 0: they follow the motion */
  uint32_t velocity_iterations, position_iterations; /* 0: automatic */
  const char *name;            /* of the outputs; lives as long as the scene */
  const char *about;           /* "" if it says nothing */
  const char *text;            /* the scene as it is run, with wedge and sets in it: JSON */
  uint32_t bodies;             /* entries: one may stand for several copies */
  uint32_t automatic_substeps; /* 1: `substeps` or more */
  /* 1: picture has bounds and a range, and clear materials have a depth, so that its
   * pictures need no fit */
  uint32_t framed;
  double substep_seconds; /* s of the solver's time, at the first frame; 0: follows the motion */
  /* 1: keyframes, fluids with `emit` or meshes for each frame: ooze_scene_step steps it, and
   * ooze_step leaves them out */
  uint32_t animated;
  /* 1: surfaces carry temperature: a material conducts heat, or output.surface_temperature asks */
  uint32_t surface_temperature;
} ooze_scene_info;
OOZE_API ooze_result ooze_scene_info_get(const ooze_scene *scene, ooze_scene_info *out);
/* NULL past the end */
OOZE_API const char *ooze_scene_material_name(const ooze_scene *scene, uint32_t index);
/* Cd of points that have none: the colour of each one's material, linear (as Houdini has it). */
OOZE_API ooze_result ooze_scene_colour_points(const ooze_scene *scene, ooze_points *points,
                                              ooze_message *why);
/* Colliders at a frame, as ooze_surface_desc.solids takes them: those with an inside (no shells, no
 * sequences of meshes), less those that delete particles. Their bricks are the scene's. *out_count
 * may be above capacity. */
OOZE_API ooze_result ooze_scene_solids(const ooze_scene *scene, double frame,
                                       ooze_collider_desc *out, uint32_t capacity,
                                       uint32_t *out_count, ooze_message *why);
OOZE_API const char *ooze_scene_wedge_name(const ooze_scene *scene, uint32_t index);

typedef struct ooze_scene_estimate {
  uint32_t size;
  uint64_t filled;             /* particles at the first frame */
  uint64_t emitted;            /* by the emitters until the last frame, about */
  uint64_t bytes;              /* of memory at the last frame, about: solver, snapshot and points */
  uint64_t steps;              /* until the last frame, with fixed substeps */
  uint64_t bytes_per_particle; /* in the solver, as measured with a block of particles */
  /* of stepping on this machine, from the time that the block took; without files and surfaces */
  double seconds;
} ooze_scene_estimate;
/* Fills the shapes and steps a small block: some tenths of a second, and more for millions of
 * particles. */
OOZE_API ooze_result ooze_scene_estimate_get(const ooze_scene *scene, ooze_scene_estimate *out,
                                             ooze_message *why);

/* A solver with all that the scene has at its first frame. desc gives machine and hooks; its
 * separation is the scene's. */
OOZE_API ooze_result ooze_scene_build(const ooze_scene *scene, const ooze_solver_desc *desc,
                                      ooze_solver **out, ooze_message *why);

/* Steps that solver from frame - 1 to `frame`, which is above the scene's first, as ooze_run does:
 * keyframes, bodies and meshes that move, fluids with `emit`. Values that a host has set stay while
 * no keyframe changes them. Frames are stepped in order, or from a checkpoint of the frame before.
 */
OOZE_API ooze_result ooze_scene_step(const ooze_scene *scene, ooze_solver *solver, int32_t frame,
                                     ooze_message *why);

/* ---- Pictures of a scene ----------------------------------------------------------------- */

enum { OOZE_PICTURE_AUTO = 0, OOZE_PICTURE_SPHERES = 1, OOZE_PICTURE_SURFACE = 2 };

typedef struct ooze_picture_options {
  uint32_t size;
  uint32_t width, height; /* pixels; 0: the scene's, else 960 540 */
  uint32_t style;         /* OOZE_PICTURE_*. AUTO: the scene's, else a surface. */
  /* "material", "speed", "stretch", "compression", "temperature"; NULL: the scene's */
  const char *colour_by;
  float range[2];    /* of colour_by; both 0: the scene's, else from the particles */
  uint32_t samples;  /* a pixel; 0: the scene's */
  uint32_t threads;  /* 0: as many as the machine has */
  uint32_t has_view; /* 1: azimuth, elevation, zoom below in place of the scene's camera */
  float azimuth, elevation, zoom;
  const char *caption; /* NULL: the scene's */
  /* What several pictures share (ooze_scene_picture_fit): taken where nothing else gives bounds or
   * range. All 0: from each picture's own particles. */
  float fit_bounds[6], fit_range[2];
  float fit_size; /* m: across the fluid; clear materials without a depth are tinted by it */
} ooze_picture_options;

/* Cached points, shaded. scene may be NULL: neutral looks, no colliders, camera framed by itself.
 * `frame` places moving colliders. surface may be NULL: it is built where the style asks for one.
 */
OOZE_API ooze_result ooze_scene_picture(const ooze_scene *scene, double frame,
                                        const ooze_points *points, const ooze_surface *surface,
                                        const ooze_picture_options *options, ooze_image *out,
                                        ooze_message *why);
/* Widens fit_bounds, fit_range and fit_size to the contents of one frame. After all frames of a
 * film they hold its camera, colours and tints still. */
OOZE_API ooze_result ooze_scene_picture_fit(const ooze_scene *scene, double frame,
                                            const ooze_points *points,
                                            ooze_picture_options *options, ooze_message *why);

/* The same for pictures that are made while the scene runs, of frames that are not there yet:
 * fluids and nozzles, where they fall to, and colliders on their way. Particles may leave that:
 * widen a copy by each frame. */
OOZE_API ooze_result ooze_scene_picture_expect(const ooze_scene *scene,
                                               ooze_picture_options *options, ooze_message *why);

/* ---- Running ----------------------------------------------------------------------------- */

typedef struct ooze_run_progress {
  uint32_t size;
  int32_t frame, first_frame, last_frame; /* being worked on, and those of this run */
  double fraction;                        /* of this frame's step, 0 to 1 */
  uint32_t done;                          /* 1: the frame and its files are whole */
  uint32_t particles;
  uint32_t substeps;    /* of this frame, when done */
  double frame_seconds; /* that it took, when done */
  double seconds;       /* since the run began */
  double max_speed;     /* 0: nothing is fetched for it; ooze_stats_get tells */
  double step_seconds;  /* of `seconds`, in the solver until this frame, when done */
} ooze_run_progress;

typedef struct ooze_run_options {
  uint32_t size;
  uint32_t resume;                 /* 1: go on from the newest whole checkpoint in the folder */
  uint32_t accept_changes;         /* 1: go on even though the scene has changed */
  uint32_t preview;                /* 1: a picture of every frame */
  const char *folder;              /* where everything is written; required */
  int32_t first_frame, last_frame; /* that files are written for; last below first: the scene's */
  int32_t checkpoint_every; /* frames; 0: the scene's, -1: none but at a stop and at the end */
  uint32_t reserved;
  /* a JSON file {"path": value, ...} that is read again between frames; NULL: none */
  const char *watch;
  /* backend, device, threads, tasks; its hooks are not used; NULL: defaults */
  const ooze_solver_desc *machine;
  void *user;
  void (*progress)(void *user, const ooze_run_progress *progress);
  void (*wrote)(void *user, const char *path); /* a file is whole under its name */
  ooze_line_fn line;                           /* news and warnings */
  /* non-zero: write a checkpoint and return OOZE_CANCELLED */
  int (*stop)(void *user);
  /* at the end: each part of the solver's work */
  void (*stage)(void *user, const ooze_stage_time *time);
  /* For a host that can leave in the middle of a step, by the end of its process: after a stop was
   * seen, and a checkpoint of `frame` is whole. It is called on another thread, as `stop` is then
   * too. Where it returns, ooze_run ends with the substep as usual. NULL: not called. */
  void (*stopped)(void *user, int32_t frame);
} ooze_run_options;

typedef struct ooze_run_report {
  uint32_t size;
  uint32_t particles;
  int32_t frame;         /* the last whole one */
  int32_t resumed_frame; /* of the checkpoint that it went on from */
  uint32_t resumed;      /* 1: from a checkpoint */
  uint32_t frames;       /* stepped */
  uint64_t substeps;
  double seconds;      /* in all */
  double step_seconds; /* in the solver */
  uint64_t state_hash;
  uint32_t contained; /* particles that went non-finite and were reset */
  uint32_t reserved;
  char checkpoint[512]; /* the newest, or "" */
  /* Of `seconds`: filling shapes; taking copies of the state; waiting for files. Beside the
   * simulation: making and writing files, and checkpoints. */
  double fill_seconds, capture_seconds, wait_seconds, write_seconds, checkpoint_seconds;
  /* counts of the last step */
  uint32_t last_substeps, velocity_iterations, position_iterations, reserved_2;
} ooze_run_report;

/* OOZE_CANCELLED: stopped, with a checkpoint to resume from. OOZE_LOST_*: the last good checkpoint
 * is on disk. */
OOZE_API ooze_result ooze_run(const ooze_scene *scene, const ooze_run_options *options,
                              ooze_run_report *out, ooze_message *why);

/* ---- Forces that a host drives step by step ---------------------------------------------- */

/* Arrays are in ascending id, as ooze_attribute_read gives them, or NULL. */
typedef struct ooze_forces {
  uint32_t size;
  uint32_t count;            /* particles that the arrays are for: ooze_particle_count */
  float wind[3];             /* m/s: velocity of the air. Default 0. */
  float air_resistance;      /* 1/s, 0 or more: rate at which particles take on the air's velocity.
                                Default 0. */
  const float *acceleration; /* 3 a particle, N/kg */
  const float *target;       /* 3 a particle, m/s: velocity of the air there, in place of wind */
  const float *resistance;   /* 1 a particle, 1/s, in place of air_resistance */
} ooze_forces;

/* ooze_step with these beside each particle's own OOZE_FORCE, which is the same afterwards. They
 * are constant over the step. */
OOZE_API ooze_result ooze_step_forced(ooze_solver *s, const ooze_forces *forces, double dt,
                                      ooze_message *why);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_forces_default(ooze_forces *f) { OOZE_CLEAR(f); }
static inline void ooze_preset_default(ooze_preset *p) { OOZE_CLEAR(p); }
static inline void ooze_scene_options_default(ooze_scene_options *o) { OOZE_CLEAR(o); }
static inline void ooze_scene_info_default(ooze_scene_info *i) { OOZE_CLEAR(i); }
static inline void ooze_scene_estimate_default(ooze_scene_estimate *e) { OOZE_CLEAR(e); }
static inline void ooze_picture_options_default(ooze_picture_options *o) {
  OOZE_CLEAR(o);
  o->zoom = 1.0f;
}
static inline void ooze_run_options_default(ooze_run_options *o) {
  OOZE_CLEAR(o);
  o->last_frame = -1;
}
static inline void ooze_run_report_default(ooze_run_report *r) { OOZE_CLEAR(r); }

#ifdef __cplusplus
}
#endif
#endif
