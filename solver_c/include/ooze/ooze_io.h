/* Ooze files: point caches, triangle meshes and checkpoints on disk.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The solver itself touches no file; everything that does is behind this header. A file is written
 * under a temporary name in the same folder, synced and renamed, so that a final name never holds
 * half a file. A reader believes nothing: each count that a file declares is checked against the
 * file's length and against ooze_io_limits before memory is asked for, and a truncated file is
 * refused, not read short. Functions that fail leave one sentence with the path, the place and the
 * reason in *why, which may be NULL. Calls on different objects may run at the same time. */
#ifndef OOZE_OOZE_IO_H
#define OOZE_OOZE_IO_H

#include "ooze/ooze.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits and options ------------------------------------------------------------------ */

/* Limits of a reader. NULL in place of a pointer to one means the defaults. */
typedef struct ooze_io_limits {
  uint32_t size;
  uint32_t max_depth; /* nested arrays and maps. Default 64. */
  /* memory for the contents, and apart from that for the file's own bytes. Default 16 GiB. */
  uint64_t max_bytes;
} ooze_io_limits;

typedef struct ooze_write_options {
  uint32_t size;
  /* 1: fsync the file before and the folder after the rename. 0 is for scratch files. Default 1. */
  uint32_t sync;
  uint32_t compression; /* .bgeo.sc: 0 to 9, 0 stores. Default 1; higher is smaller and slower. */
  /* .bgeo.sc and .ply: that many work; 0: all. Default 1. Bytes are the same with any number. */
  uint32_t threads;
  const char *software; /* named in the file. NULL: "Ooze" and its version. */
  /* Points and meshes: asked when all is on disk, before the file has its name; may wait. 0: the
   * file is removed, and writing returns OOZE_CANCELLED. NULL: at once. */
  int (*ready)(void *user);
  void *user;
} ooze_write_options;

/* One line for people, such as "frame.0007.ozc: chunk 3 is damaged; skipped". */
typedef void (*ooze_line_fn)(void *user, const char *line);

/* for allocations of this header's functions; NULL is fine */
OOZE_API void ooze_io_free(void *memory);
/* the optional parts of this build: "blosc zstd", ... */
OOZE_API const char *ooze_io_build_text(void);

/* ---- Points ------------------------------------------------------------------------------ */

enum {
  OOZE_FLOAT32 = 0,
  OOZE_FLOAT64 = 1,
  OOZE_INT32 = 2,
  OOZE_INT64 = 3,
  /* ids. In files int32 where all fit, else int64, as Houdini has no unsigned type. */
  OOZE_UINT64 = 4
};
/* Houdini's type of an attribute: how transforms and blends treat it. */
enum {
  OOZE_MEANING_NUMBER = 0,
  OOZE_MEANING_POINT = 1,
  OOZE_MEANING_VECTOR = 2,
  OOZE_MEANING_NORMAL = 3,
  OOZE_MEANING_COLOR = 4,
  OOZE_MEANING_LABEL = 5, /* an integer that is never averaged: ids, handles */
  OOZE_MEANING_OTHER = 6  /* quaternion, matrix, texture coordinate: kept as numbers */
};

/* A number of points, and named arrays of that length. Owns its memory. */
typedef struct ooze_points ooze_points;

typedef struct ooze_points_attribute {
  uint32_t size;
  uint32_t type;       /* OOZE_FLOAT32, ... */
  uint32_t components; /* 1 to 64 */
  uint32_t meaning;    /* OOZE_MEANING_* */
  const char *name;    /* "P", "v", "id", ...; lives as long as the points */
  void *data;          /* count * components values, tightly packed: point after point */
} ooze_points_attribute;

OOZE_API ooze_result ooze_points_create(uint64_t count, ooze_points **out, ooze_message *why);
OOZE_API void ooze_points_destroy(ooze_points *points);
OOZE_API uint64_t ooze_points_count(const ooze_points *points);

/* Adds a zeroed array. Letters, digits, '_' and ':' make a name. meaning: of well-known names it is
 * filled in when OOZE_MEANING_NUMBER is given (P is a point, v a vector, id a label). out_data may
 * be NULL. */
OOZE_API ooze_result ooze_points_add(ooze_points *points, const char *name, uint32_t type,
                                     uint32_t components, uint32_t meaning, void **out_data,
                                     ooze_message *why);
OOZE_API ooze_result ooze_points_remove(ooze_points *points, const char *name);
OOZE_API uint32_t ooze_points_attribute_count(const ooze_points *points);
OOZE_API ooze_result ooze_points_attribute_get(const ooze_points *points, uint32_t index,
                                               ooze_points_attribute *out);
OOZE_API ooze_result ooze_points_find(const ooze_points *points, const char *name,
                                      ooze_points_attribute *out);

/* One number for all points: "time" (s), "frame", "separation" (m). A detail attribute in Houdini.
 */
OOZE_API ooze_result ooze_points_detail_set(ooze_points *points, const char *name, double value,
                                            ooze_message *why);
OOZE_API ooze_result ooze_points_detail_get(const ooze_points *points, const char *name,
                                            double *out);
OOZE_API uint32_t ooze_points_detail_count(const ooze_points *points);
OOZE_API ooze_result ooze_points_detail_at(const ooze_points *points, uint32_t index,
                                           const char **out_name, double *out);

/* Of finite positions: xmin ymin zmin xmax ymax zmax. NOT_FOUND where there is no P or no point. */
OOZE_API ooze_result ooze_points_bounds(const ooze_points *points, double out[6]);

/* By the name's end: .bgeo .geo .bgeo.sc .ply. Text attributes are left out; P must be finite. */
OOZE_API ooze_result ooze_points_read(const char *path, const ooze_io_limits *limits,
                                      ooze_points **out, ooze_message *why);
OOZE_API ooze_result ooze_points_write(const char *path, const ooze_points *points,
                                       const ooze_write_options *options, ooze_message *why);
OOZE_API ooze_result ooze_points_can_write(const char *path, ooze_message *why);
/* The same from memory; name is used for its ending and in messages. */
OOZE_API ooze_result ooze_points_read_memory(const char *name, const void *bytes, size_t count,
                                             const ooze_io_limits *limits, ooze_points **out,
                                             ooze_message *why);

/* Every attribute of a solver that is state, with pscale (half the separation) and the details time
 * and separation. Files that are read back continue the simulation: particles are added under their
 * ids and given all that the file holds. Nothing is added when it fails. */
OOZE_API ooze_result ooze_points_from_solver(ooze_solver *s, ooze_points **out, ooze_message *why);
/* The same of a capture, as far as `attributes` (bits: 1 << OOZE_POSITION ...) wants them, by that
 * many threads (0: all). Its arrays are the capture's own where that has them: the points go first.
 */
OOZE_API ooze_result ooze_points_from_capture(ooze_capture *c, uint64_t attributes,
                                              uint32_t threads, ooze_points **out,
                                              ooze_message *why);
OOZE_API ooze_result ooze_points_to_solver(const ooze_points *points, ooze_solver *s,
                                           ooze_message *why);

/* ---- Triangle meshes --------------------------------------------------------------------- */

typedef struct ooze_mesh {
  uint32_t size;
  uint32_t point_count;
  uint64_t triangle_count;
  float *positions;    /* 3 a point, m */
  uint32_t *triangles; /* 3 a triangle, counter-clockwise seen from outside */
  float *normals;      /* 3 a point, or NULL */
  float *velocities;   /* 3 a point, m/s, or NULL */
  float *friction;     /* 1 a point, 0 to 1, or NULL: of a collider (ooze_collider_friction_map) */
  float *stick;        /* 1 a point, m/s^2, or NULL */
  /* Further attributes of its points (Cd, rest, material, ...) and details (frame, time), by their
   * names; or NULL. The mesh owns it. Readers leave it empty. */
  ooze_points *channels;
} ooze_mesh;

enum {
  OOZE_MESH_NORMALS = 1,
  OOZE_MESH_VELOCITIES = 2,
  OOZE_MESH_FRICTION = 4,
  OOZE_MESH_STICK = 8
};
/* Zeroed arrays of those lengths in place of the mesh's own; with: OOZE_MESH_* bits. Release
 * leaves an empty mesh. */
OOZE_API ooze_result ooze_mesh_allocate(ooze_mesh *mesh, uint32_t point_count,
                                        uint64_t triangle_count, uint32_t with, ooze_message *why);
OOZE_API void ooze_mesh_release(ooze_mesh *mesh);
/* A zeroed channel of the mesh, as ooze_points_add makes it; `channels` is made where it is NULL.
 */
OOZE_API ooze_result ooze_mesh_channel_add(ooze_mesh *mesh, const char *name, uint32_t type,
                                           uint32_t components, uint32_t meaning, void **out_data,
                                           ooze_message *why);
/* One number for the whole mesh, as ooze_points_detail_set: "time" (s), "frame". */
OOZE_API ooze_result ooze_mesh_detail_set(ooze_mesh *mesh, const char *name, double value,
                                          ooze_message *why);
/* Turns all triangles round where they enclose a negative volume, so that they are
 * counter-clockwise seen from outside. */
OOZE_API void ooze_mesh_face_out(ooze_mesh *mesh);

/* The solid under a field of heights: `rows` of `columns` places each (3 floats, y up), closed by
 * walls and a bottom `depth` (m, above 0) below the lowest place. */
OOZE_API ooze_result ooze_mesh_terrain(uint32_t columns, uint32_t rows, const float *positions,
                                       float depth, ooze_mesh *out, ooze_message *why);

/* Points on a mesh, about `spacing` apart and the same every time, as places in its triangles:
 * ooze_mesh_samples_place gives their positions for these or any other vertices, so that they
 * follow a mesh that deforms. layers 0: on the sheet itself, which may be open; 1 or 2: that many
 * layers inside a closed mesh, half a spacing and one and a half behind its surface, as
 * ooze_collider_points wants them. */
typedef struct ooze_mesh_samples {
  uint32_t size;
  uint32_t count;
  uint32_t *triangle; /* number of each point's triangle */
  float *weights;     /* 4 a point: of the triangle's corners, and m along its normal */
} ooze_mesh_samples;
OOZE_API ooze_result ooze_mesh_sample(const ooze_mesh *mesh, double spacing, uint32_t layers,
                                      ooze_mesh_samples *out, ooze_message *why);
OOZE_API void ooze_mesh_samples_release(ooze_mesh_samples *samples);
OOZE_API ooze_result ooze_mesh_samples_place(const ooze_mesh_samples *samples,
                                             const float *positions,
                                             /* out: 3 floats a point */
                                             const uint32_t *triangles, float *out);
/* The same for one number a vertex: friction, say. */
OOZE_API ooze_result ooze_mesh_samples_values(const ooze_mesh_samples *samples,
                                              const float *vertex_values, const uint32_t *triangles,
                                              float *out);

/* The places on the mesh that are closest to `count` points (3 floats each), on the sheet itself:
 * values of its vertices pass to them by ooze_mesh_samples_values. */
OOZE_API ooze_result ooze_mesh_closest(const ooze_mesh *mesh, const float *points, uint32_t count,
                                       ooze_mesh_samples *out, ooze_message *why);

/* .obj .ply .geo .bgeo .bgeo.sc; larger polygons are cut into fans. Every index is in range and
 * every position finite. */
OOZE_API ooze_result ooze_mesh_read(const char *path, const ooze_io_limits *limits, ooze_mesh *out,
                                    ooze_message *why);
OOZE_API ooze_result ooze_mesh_read_memory(const char *name, const void *bytes, size_t count,
                                           const ooze_io_limits *limits, ooze_mesh *out,
                                           ooze_message *why);
OOZE_API ooze_result ooze_mesh_write(const char *path, const ooze_mesh *mesh,
                                     const ooze_write_options *options, ooze_message *why);
/* Before a long computation: OK where this build writes what the ending names and a file can be
 * made in that place (ooze_file_can_create). */
OOZE_API ooze_result ooze_mesh_can_write(const char *path, ooze_message *why);

/* ---- Checkpoints on disk ----------------------------------------------------------------- */

/* The block of ooze_checkpoint_save with a JSON text beside it (scene, frame, whatever the program
 * needs), in chunks packed with zstd, each with its XXH3. The usual ending is .ozc. */
OOZE_API ooze_result ooze_checkpoint_write(const char *path, const void *memory, size_t bytes,
                                           const char *meta, ooze_message *why);
/* Both outputs are to be freed with ooze_io_free; either may be NULL. */
OOZE_API ooze_result ooze_checkpoint_read(const char *path, const ooze_io_limits *limits,
                                          void **out_memory, size_t *out_bytes, char **out_meta,
                                          ooze_message *why);
OOZE_API ooze_result ooze_checkpoint_read_memory(const char *name, const void *file, size_t count,
                                                 const ooze_io_limits *limits, void **out_memory,
                                                 size_t *out_bytes, char **out_meta,
                                                 ooze_message *why);
/* The whole *.ozc file in a folder with the largest number in its name (the last digits before the
 * ending); among equals the latest written. Damaged ones are skipped, each with a line; one that is
 * too large for the limits is an error. NOT_FOUND if there is none. */
OOZE_API ooze_result ooze_checkpoint_find_newest(const char *folder, const ooze_io_limits *limits,
                                                 ooze_line_fn line, void *user, char *out_path,
                                                 size_t capacity, ooze_message *why);

/* ---- Contents of a file ------------------------------------------------------------------ */

typedef struct ooze_file_attribute {
  char name[64];
  char type[16]; /* "float32", "int64", "text", ... */
  uint32_t components;
} ooze_file_attribute;

enum { OOZE_FILE_ATTRIBUTES = 64, OOZE_FILE_DETAILS = 16 };
typedef struct ooze_file_info {
  uint32_t size;
  uint32_t attribute_count; /* as in the file; the first OOZE_FILE_ATTRIBUTES are described */
  uint64_t bytes;           /* on disk */
  uint64_t points, vertices, primitives, triangles;
  uint32_t has_bounds;
  uint32_t detail_count;
  double bounds[6];  /* xmin ymin zmin xmax ymax zmax */
  char kind[48];     /* "Houdini binary geometry", "PLY binary", "checkpoint", ... */
  char software[64]; /* that wrote it, if it says so */
  char meta[1024];   /* of a checkpoint, cut to fit */
  ooze_file_attribute attributes[OOZE_FILE_ATTRIBUTES];
  char detail_names[OOZE_FILE_DETAILS][64];
  double detail_values[OOZE_FILE_DETAILS];
} ooze_file_info;

/* Reads all of it, so that a described file is also sound. .vdb files are described by
 * ooze_surface.h. */
OOZE_API ooze_result ooze_file_describe(const char *path, const ooze_io_limits *limits,
                                        ooze_file_info *out, ooze_message *why);

/* ---- Files that are whole or not there --------------------------------------------------- */

/* For any other writer of files (pictures, JSON, surfaces): write to ooze_file_path(), or through
 * ooze_file_put, then commit. Discard, or a failed commit, removes the temporary file. */
typedef struct ooze_file ooze_file;
OOZE_API ooze_result ooze_file_create(const char *path, ooze_file **out, ooze_message *why);
/* With a temporary name that ends as the path does, for writers that go by the ending. */
OOZE_API ooze_result ooze_file_create_alike(const char *path, ooze_file **out, ooze_message *why);
/* OK where ooze_file_create and a commit would do: the folder is there and takes files, and the
 * name is not that of a folder. A file of that name stays as it is. */
OOZE_API ooze_result ooze_file_can_create(const char *path, ooze_message *why);
/* The folder of a file of that name, and those above it: made where `make` is 1, else only refused
 * where they cannot be there (a file in the way). *out_there (may be NULL): 1 where the folder is
 * there now. */
OOZE_API ooze_result ooze_file_folder(const char *path, uint32_t make, uint32_t *out_there,
                                      ooze_message *why);
OOZE_API int ooze_file_exists(const char *path); /* 1: a file that can be read */
OOZE_API ooze_result ooze_file_remove(const char *path, ooze_message *why);
/* of the temporary file, which exists */
OOZE_API const char *ooze_file_path(const ooze_file *file);
OOZE_API ooze_result ooze_file_put(ooze_file *file, const void *bytes, size_t count,
                                   ooze_message *why);
/* and frees it, whatever happens */
OOZE_API ooze_result ooze_file_commit(ooze_file *file, uint32_t sync, ooze_message *why);
OOZE_API void ooze_file_discard(ooze_file *file);
/* Removes temporary files that killed programs of this machine left in a folder. Returns how many.
 */
OOZE_API uint32_t ooze_file_sweep(const char *folder);
/* A whole file as one block with a zero after its end; free it with ooze_io_free. */
OOZE_API ooze_result ooze_file_read(const char *path, uint64_t max_bytes, void **out,
                                    size_t *out_bytes, ooze_message *why);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_io_limits_default(ooze_io_limits *l) {
  OOZE_CLEAR(l);
  l->max_depth = 64;
  l->max_bytes = (uint64_t)16 << 30;
}
static inline void ooze_write_options_default(ooze_write_options *o) {
  OOZE_CLEAR(o);
  o->sync = 1;
  o->compression = 1;
  o->threads = 1;
}
static inline void ooze_points_attribute_default(ooze_points_attribute *a) { OOZE_CLEAR(a); }
static inline void ooze_mesh_samples_default(ooze_mesh_samples *s) { OOZE_CLEAR(s); }
static inline void ooze_mesh_default(ooze_mesh *m) { OOZE_CLEAR(m); }
static inline void ooze_file_info_default(ooze_file_info *i) { OOZE_CLEAR(i); }

#ifdef __cplusplus
}
#endif
#endif
