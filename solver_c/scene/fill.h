/* Shapes, and filling them with particles. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_FILL_H
#define OOZE_IO_FILL_H

#include "base/tasks.h"
#include "geo/geo_internal.h"
#include "ooze/ooze_surface.h"

/* ---- Shapes (fill_shape.c) --------------------------------------------------------------- */

typedef enum oz_shape_kind {
#define OZ_SHAPE(NAME, word, fills, walls, solver, traits, keys) OZ_SHAPE_##NAME,
#include "shapes.def"
#undef OZ_SHAPE
  OZ_SHAPE_KINDS
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
  /* 1: `file` has #### for the frame's number; `mesh` is that of the scene's first frame */
  uint32_t sequence;
  uint64_t file_hash;
} oz_shape;

void oz_shape_release(oz_shape *shape);
/* Signed distance (m) in the shape's space, negative inside. Not for meshes, .vdb and points. */
double oz_shape_distance(const oz_shape *shape, const double x[3]);
int oz_shape_has_distance(const oz_shape *shape);
int oz_shape_has_surface(const oz_shape *shape);    /* that boundary particles can be put on */
int oz_shape_is_sized(const oz_shape *shape);       /* by `half` */
uint32_t oz_shape_of_solver(const oz_shape *shape); /* OOZE_SHAPE_* of such a collider */
const char *oz_shape_word(oz_shape_kind kind);      /* in a scene */
const char *oz_shape_keys(oz_shape_kind kind);      /* that give its size, with blanks around */
/* Bounds of the solid; 0 for planes and unknown shapes. */
int oz_shape_bounds(const oz_shape *shape, double low[3], double high[3]);
/* m: thinnest wall; OZ_BEYOND where it is not known: of a revolve and of capsules it is. */
double oz_shape_thickness(const oz_shape *shape);
/* m: voxel for such a shape: the separation, or half of the thinnest wall, within 16 MiB. */
float oz_shape_voxel(const oz_shape *shape, float separation);
/* As bricks for a collider; free with ooze_sdf_free. */
ooze_result oz_shape_bricks(const oz_shape *shape, const char *who, float voxel, ooze_sdf *out,
                            ooze_message *why);
/* As triangles, for pictures: revolve alone. */
ooze_result oz_shape_tessellate(const oz_shape *shape, ooze_mesh *out, ooze_message *why);

/* ---- Filling (fill_fluid.c) -------------------------------------------------------------- */

enum { OZ_MOST_PARTICLES = 1 << 30 }; /* of a solver */

enum { OZ_EMIT_ONCE = 0, OZ_EMIT_VOLUME = 1, OZ_EMIT_SURFACE = 2 };

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
  uint32_t emit;                /* OZ_EMIT_* */
  float speed;                  /* m/s, along the normals of a surface that emits */
  float from, until;            /* s of the scene; until 0: it never ends */
  uint32_t lattice_only;        /* whatever volume it has: bodies */
  const ooze_io_limits *limits; /* of its file; NULL: the defaults */
} oz_fluid;

/* Where copy (i, j, k), number `copy`, stands. */
void oz_fluid_copy(const oz_fluid *fluid, const uint32_t at[3], uint64_t copy, ooze_pose *out);

/* Bounds of all copies and of `margin` around them; 0: not known. */
int oz_fluid_bounds(const oz_fluid *fluid, double margin, double low[3], double high[3]);

/* Refuses copies of `each` particles that are more than the fill's. `part`: its name in a scene. */
struct oz_fill;
ooze_result oz_fluid_copies_fit(const struct oz_fill *fill, const oz_fluid *fluid, const char *part,
                                uint64_t each, ooze_message *why);

typedef struct oz_cloud {
  float (*x)[3];
  float (*v)[3]; /* NULL: at rest */
  uint32_t count;
} oz_cloud;

/* Threads to fill with (0: all), a hook that is asked some times a second, on the calling thread:
 * non-zero ends with OOZE_CANCELLED; and one that warnings go to. Both may be NULL. */
typedef struct oz_fill_host {
  uint32_t threads;
  int (*stop)(void *user, uint64_t particles);
  void *user;
  void (*say)(void *user, const char *text);
} oz_fill_host;

typedef struct oz_box {
  double low[3], high[3];
} oz_box;

typedef struct oz_batch {
  oz_box box; /* of its particles */
  float (*x)[3];
  uint32_t count;
} oz_batch;

/* Boxes about 8, 64, ... batches in order of arrival, so that a copy does not look at every other:
 * copies come row by row, and neighbours in the list are mostly neighbours in space. */
enum { OZ_BOX_BITS = 3, OZ_BOX_LEVELS = 10 };

typedef struct oz_fill { /* remembers the room that is taken already */
  double d;
  uint64_t most, total;
  oz_batch *batches;
  size_t batch_count, batch_room;
  oz_box *boxes[OZ_BOX_LEVELS];
  size_t box_count[OZ_BOX_LEVELS], box_room[OZ_BOX_LEVELS];
  oz_fill_host host;
  oz_loop loop;
} oz_fill;
/* host may be NULL */
oz_fill *oz_fill_create(double separation, uint64_t max_particles, const oz_fill_host *host);
void oz_fill_destroy(oz_fill *fill);
/* Particles of one fluid that overlap none of those before. inside_solid may be NULL. `cut` counts
 * those left out. */
typedef int (*oz_solid_fn)(const void *user, const double x[3]);
ooze_result oz_fill_fluid(oz_fill *fill, const oz_fluid *fluid, oz_solid_fn solid, const void *user,
                          oz_cloud *out, uint64_t *cut, ooze_message *why);
/* Room that is taken from the beginning, such as by points that bring their state. Positions are
 * copied. */
ooze_result oz_fill_reserve(oz_fill *fill, const float *positions, uint64_t count,
                            ooze_message *why);
void oz_cloud_release(oz_cloud *cloud);
/* A well-mixed 64-bit number of two: Steele, Lea & Flood 2014 (splitmix64). */
static inline uint64_t oz_mix(uint64_t a, uint64_t b) {
  uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b + UINT64_C(0x9e3779b97f4a7c15);
  for (int i = 0; i < 2; i++) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return z;
}

/* ---- Particles that are there already (fill_near.c) --------------------------------------- */

typedef struct oz_near { /* hashed by cells of one separation */
  double cell;
  uint32_t mask, count;
  uint32_t *head, *next;
  float (*x)[3];
} oz_near;
/* Those within the bounds. 0: no memory */
int oz_near_build(oz_near *g, const oz_fill *f, const double low[3], const double high[3]);
void oz_near_release(oz_near *g);
/* Puts the newest batch into the boxes. 0: no memory */
int oz_boxes_add(oz_fill *f);
int oz_near_taken(const oz_near *g, const double x[3]);

/* ---- Inside of a mesh (fill_inside.c) ---------------------------------------------------- */

/* Where each lattice row along x crosses the mesh, with the sign of the crossing: the winding
 * number of a cell is the sum of signs before it. Works for meshes of several overlapping pieces.
 */
typedef struct oz_crossing {
  uint32_t row;
  float x;
  int sign;
} oz_crossing;

typedef struct oz_rows {
  oz_crossing *list;
  size_t count, room;
  size_t *first; /* of each row */
} oz_rows;
/* `pitch`: between rows, along y and z. 0: no memory */
int oz_rows_build(oz_rows *w, const ooze_mesh *m, const double origin[3], const double pitch[2],
                  const uint32_t n[3]);
void oz_rows_release(oz_rows *w);
int oz_winding(const oz_rows *w, size_t row, double x);

/* ---- Rows through a shape (fill_spans.c) ------------------------------------------------- */

enum { OZ_SPANS = 64 }; /* parts of a row that are inside a shape; more are left out */

/* Rows along x that fill a shape's bounds evenly in y and z. */
typedef struct oz_row_frame {
  const oz_shape *shape;
  double low[3], high[3], pitch[2];
  uint32_t n[2];
  oz_rows crossings; /* of a mesh */
} oz_row_frame;

void oz_row_frame_of(oz_row_frame *f, const oz_shape *shape, const double low[3],
                     const double high[3], const uint32_t n[2]);
int oz_row_frame_open(oz_row_frame *f); /* 0: no memory */
void oz_row_frame_close(oz_row_frame *f);
/* Length of row (j, k) inside the shape, and its parts; nothing shorter than `least` is found. */
double oz_row_spans(const oz_row_frame *f, uint32_t j, uint32_t k, double least, double span[][2],
                    uint32_t *out_count);
/* m^3, by rows no further apart than d; below 0: no memory. The loop makes no difference to it. */
double oz_shape_volume(const oz_shape *shape, double d, const oz_loop *loop);

#endif
