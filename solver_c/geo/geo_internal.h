/* Points and meshes in files: the private interface of solver_c/geo. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef OOZE_IO_INTERNAL_H
#define OOZE_IO_INTERNAL_H

#if defined(__MINGW32__) && !defined(__USE_MINGW_ANSI_STDIO)
#define __USE_MINGW_ANSI_STDIO 1 /* printf as C11 has it, %zu and %llu included */
#endif
#include "base/lattice.h"
#include "base/result.h"
#include "base/tasks.h"
#include "ooze/ooze_io.h"

#include <stdarg.h>
#include <stdbool.h>

/* All formats here are little endian. A big-endian machine is refused at compile time rather than
 * served wrong bytes.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "solver_c/geo moves bytes as they are and so needs a little-endian machine"
#endif

/* ---- Results (text.c) ----------------------------------------------------------------- */

/* Limits and options with every field set, whatever older or missing struct the caller gave. */
ooze_io_limits oz_limits_of(const ooze_io_limits *given);
ooze_write_options oz_options_of(const ooze_write_options *given);
/* Copies as much of a filled struct as the caller's version of it holds; the caller's size stays.
 */
ooze_result oz_struct_out(void *out, const void *filled, size_t bytes);

/* ---- Numbers as text, whatever the locale (text.c) ------------------------------------ */

/* A number at *at; false and no move if there is none. Accepts nan and inf. Never reads at or past
 * end. */
bool oz_text_real(const char **at, const char *end, double *out);
/* false too if it does not fit, or is a real */
bool oz_text_int(const char **at, const char *end, int64_t *out);
/* At least 40 bytes; returns the length. The shortest of 6 to 9 (float) or 15 to 17 (double) digits
 * that reads back. */
int oz_text_float(char *out, float value);
int oz_text_double(char *out, double value);

/* ---- Poses and shapes (pose.c, solid.c) ---------------------------------------------- */

void oz_pose_rotate(const float degrees[3], float quaternion[4]);
void oz_pose_apply(const ooze_pose *pose, const double in[3], double out[3]);
void oz_pose_unapply(const ooze_pose *pose, const double in[3], double out[3]);
/* Signed distance (m) of a point from a shape of ooze.h in its own frame, negative inside; 1e300
 * for bricks. */
double oz_primitive_distance(uint32_t shape, const float half[3], const double x[3]);
/* Half extents of the box about it; 0 for planes and bricks. */
int oz_primitive_box(uint32_t shape, const float half[3], double out[3]);
/* Bricks by their place. They know distances in a band around the surface alone; elsewhere a
 * distance is OZ_BEYOND with the right sign. */
#define OZ_BEYOND 1e30
typedef struct oz_brick_map {
  oz_map map; /* key to brick */
  int low[3], high[3];
} oz_brick_map;
int oz_brick_map_make(oz_brick_map *m, const ooze_sdf_brick *bricks,
                      uint32_t count); /* 0: memory */
void oz_brick_map_free(oz_brick_map *m);
/* m, at a point in the frame of the bricks */
double oz_brick_distance(const oz_brick_map *m, const ooze_sdf_brick *bricks, float voxel,
                         const double x[3]);

/* ---- Types ------------------------------------------------------------------------------- */

enum { OZ_MAX_ATTRIBUTES = 1024, OZ_MAX_COMPONENTS = 64, OZ_MAX_NAME = 255 };
uint32_t oz_type_bytes(uint32_t type);
/* Number i of `data`, of that type: the one value as real and as integer. */
static inline void oz_store_number(uint32_t type, void *data, uint64_t i, double real,
                                   int64_t integer) {
  switch (type) {
  case OOZE_FLOAT32:
    ((float *)data)[i] = (float)real;
    break;
  case OOZE_FLOAT64:
    ((double *)data)[i] = real;
    break;
  case OOZE_INT32:
    ((int32_t *)data)[i] = (int32_t)integer;
    break;
  default:
    ((int64_t *)data)[i] = integer;
    break;
  }
}
const char *oz_type_name(uint32_t type);

/* a * b into *out; false if it does not fit. */
static inline bool oz_mul(uint64_t a, uint64_t b, uint64_t *out) {
  if (b != 0 && a > UINT64_MAX / b) return false;
  *out = a * b;
  return true;
}

/* ---- Points (points.c) ------------------------------------------------------------------- */

typedef struct oz_attribute {
  char *name;
  void *data;
  uint32_t type, components, meaning;
  bool borrowed; /* data is another's */
} oz_attribute;

typedef struct oz_detail {
  char *name;
  double value;
} oz_detail;

struct ooze_points {
  uint64_t count;
  oz_attribute *attributes;
  oz_detail *details;
  uint32_t attribute_count, attribute_capacity, detail_count, detail_capacity;
};

oz_attribute *oz_points_find(const ooze_points *points, const char *name, size_t length);
/* An attribute of floats with that many components, or NULL. */
const float *oz_points_floats(const ooze_points *points, const char *name, uint32_t components);
/* oz_points_add with a name that is not zero-terminated. */
ooze_result oz_points_add(ooze_points *points, const char *name, size_t length, uint32_t type,
                          uint32_t components, uint32_t meaning, void **out_data,
                          ooze_message *why);
/* With an array that stays where it is as long as the points do. */
ooze_result oz_points_borrow(ooze_points *points, const char *name, uint32_t type,
                             uint32_t components, const void *data, ooze_message *why);
uint32_t oz_meaning_of(const char *name, uint32_t components);
/* All ids fit Houdini's usual int32 attribute. */
bool oz_fits_int32(const oz_attribute *attribute, uint64_t count);
/* P is finite everywhere, or the refusal. */
ooze_result oz_check_finite(const char *file, const char *what, const float *values, uint64_t count,
                            uint32_t components, ooze_message *why);

/* ---- Large arrays (survey.c) --------------------------------------------------------------- */

uint64_t oz_or_words(const uint64_t *values, uint64_t count, const oz_loop *loop);
void oz_narrow_words(const uint64_t *values, uint64_t count, int32_t *out, const oz_loop *loop);
/* Bounds of 3 floats each, lowest corner first; false if one is not finite. */
bool oz_finite_box(const float *positions, uint64_t count, double out[6], const oz_loop *loop);

/* ---- The operating system (file_os.c) ---------------------------------------------------- */

/* or a sentence: not there, a folder, not readable */
ooze_result oz_is_file(const char *path, ooze_message *why);
/* Each returns 0 or an error number for oz_os_reason. */
int oz_os_create(const char *path, int *out_fd);          /* must not exist */
int oz_os_write(int fd, const void *bytes, size_t count); /* all of it */
int oz_os_sync(int fd);
/* The disk may begin with bytes that are written already, so that oz_os_sync waits for few. */
void oz_os_hurry(int fd, uint64_t first, uint64_t count);
int oz_os_close(int fd);
int oz_os_rename(const char *from, const char *to); /* replaces an existing file */
int oz_os_sync_folder(const char *folder);
int oz_os_remove(const char *path);
/* to read; regular files only */
int oz_os_open(const char *path, int *out_fd, uint64_t *out_bytes);
int oz_os_read(int fd, void *bytes, size_t count, size_t *out_count);
/* Up to `count` bytes from there on; several threads may. */
int oz_os_read_at(int fd, uint64_t from, void *bytes, size_t count, size_t *out_count);
int oz_os_times(const char *path, int64_t *out_ns); /* last written */
int oz_os_list(const char *folder, void (*each)(void *user, const char *name), void *user);
void oz_os_reason(int error, char *out, size_t capacity);
uint32_t oz_os_process(void);
bool oz_os_process_gone(uint32_t process); /* false when in doubt */
uint32_t oz_os_host(void);                 /* a hash of the machine's name */
bool oz_os_is_slash(char c);

/* ---- Output (output.c) ---------------------------------------------------------------------- */

/* Gathers small pieces into blocks; blocks of the caller's own memory go on without a copy. The
 * first failure stays and the rest is ignored, so that writers can check once, at the end. Memory
 * that is lent, or given (malloc's), stays until the output is closed. */
typedef struct oz_out {
  ooze_file *file;
  /* NULL: into the file */
  ooze_result (*block)(struct oz_out *out, const void *bytes, size_t count);
  /* of .bgeo.sc: lent bytes are taken without a copy */
  void *packer;
  ooze_result (*lend)(struct oz_out *out, const void *bytes, size_t count);
  void **given;
  size_t given_count;
  uint8_t *buffer;
  size_t used;
  ooze_result result;
  ooze_message *why;
  int (*ready)(void *user); /* of ooze_write_options */
  void *user;
} oz_out;
/* ooze_file_commit that asks before the file has its name. */
ooze_result oz_file_commit(ooze_file *file, uint32_t sync, int (*ready)(void *user), void *user,
                           ooze_message *why);

enum { OZ_BLOCK = 1 << 20 }; /* also the block of .bgeo.sc files */
ooze_result oz_out_open(oz_out *out, const char *path, ooze_message *why);
void oz_out_put(oz_out *out, const void *bytes, size_t count);
void oz_out_lend(oz_out *out, const void *bytes, size_t count);
void oz_out_give(oz_out *out, void *memory);
void oz_out_text(oz_out *out, const char *format, ...) OZ_PRINTF(2, 3);
void oz_out_flush(oz_out *out);
ooze_result oz_out_close(oz_out *out, uint32_t sync); /* commits, or removes after a failure */

/* ---- Formats ----------------------------------------------------------------------------- */

typedef enum oz_format {
  OZ_NO_FORMAT,
  OZ_GEO,
  OZ_BGEO,
  OZ_BGEO_SC,
  OZ_PLY,
  OZ_OBJ,
  OZ_CHECKPOINT,
  OZ_VDB,
  OZ_ALEMBIC
} oz_format;
oz_format oz_format_of(const char *path);

/* A file in memory that is being read, and its description. */
typedef struct oz_source {
  const char *name;
  const uint8_t *bytes;
  size_t count;
  ooze_io_limits limits;
  ooze_message *why;
  ooze_file_info *info; /* NULL: no description is wanted */
} oz_source;
/* text.c: a sentence about the file, with the place in it. */
void oz_source_bad(const oz_source *source, const char *place, const char *format, va_list list)
    OZ_PRINTF(3, 0);

/* either may be NULL */
ooze_result oz_geo_read(oz_source *source, ooze_points **out_points, ooze_mesh *out_mesh);
ooze_result oz_scf_unpack(const oz_source *source, void **out, size_t *out_count);
ooze_result oz_ply_read_points(oz_source *source, ooze_points **out);
ooze_result oz_ply_read_mesh(oz_source *source, ooze_mesh *out);
ooze_result oz_obj_read(oz_source *source, ooze_mesh *out);

/* blosc_pack.c: a Blosc chunk of at most 1 GiB, elements of 1 to 255 bytes, level 0 (stored) to 9.
 * `out` has count + OZ_BLOSC_MORE bytes; returns those used. */
enum { OZ_BLOSC_MORE = 16 };
size_t oz_blosc_pack(const void *bytes, size_t count, size_t element, uint32_t level, void *out);
/* Blosc chunk of `count` bytes to exactly `size`: OOZE_ERROR_FORMAT where it is damaged,
 * OOZE_ERROR_UNSUPPORTED where something else than LZ4 is in it, OOZE_ERROR_MEMORY. */
ooze_result oz_blosc_unpack(const void *bytes, size_t count, void *out, size_t size);

/* The loop stays open until the output is closed. */
ooze_result oz_scf_start(oz_out *out, const ooze_write_options *options, const oz_loop *loop);
void oz_scf_finish(oz_out *out);
void oz_scf_drop(oz_out *out);
ooze_result oz_geo_write(const char *path, oz_format format, const ooze_points *points,
                         const ooze_mesh *mesh, const ooze_write_options *options,
                         ooze_message *why);
/* mesh: its triangles follow the points; NULL: points alone */
ooze_result oz_alembic_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                             const ooze_write_options *options, ooze_message *why);
ooze_result oz_alembic_can_write(const char *path, ooze_message *why); /* whether this build does */
ooze_result oz_ply_write(const char *path, const ooze_points *points, const ooze_mesh *mesh,
                         const ooze_write_options *options, ooze_message *why);
ooze_result oz_obj_write(const char *path, const ooze_mesh *mesh, const ooze_write_options *options,
                         ooze_message *why);

void oz_info_attribute(ooze_file_info *info, const char *name, size_t length, const char *type,
                       uint32_t components);

#endif
