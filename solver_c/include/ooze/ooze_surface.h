/* Ooze surfaces and pictures: particles to level sets, meshes and .vdb files; meshes and .vdb files
 * to colliders; shaded pictures. SPDX-License-Identifier: Apache-2.0
 *
 * As in ooze.h: metres, Y up, every struct begins with its size and is filled by its _default(),
 * results carry errors and `why` (may be NULL) the sentence. Functions of the OpenVDB part return
 * OOZE_ERROR_UNSUPPORTED where the library was built without it; building surfaces, sampling them
 * and rendering need no OpenVDB. */
#ifndef OOZE_OOZE_SURFACE_H
#define OOZE_OOZE_SURFACE_H

#include "ooze/ooze_io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Particles to a level set ------------------------------------------------------------ */

enum {
  OOZE_SURFACE_SPHERES = 0, /* smooth spheres: one round kernel a particle, blended */
  /* kernels flattened along the local shape of the fluid (Yu & Turk 2013) */
  OOZE_SURFACE_ANISOTROPIC = 1,
  /* distance to the particles whose density is low (Takamatsu & Kanai 2011) */
  OOZE_SURFACE_DENSITY = 2
};
/* where attribute grids have values */
enum { OOZE_FILL_NONE = 0, OOZE_FILL_BAND = 1, OOZE_FILL_INSIDE = 2 };

/* a narrow-band signed distance, negative inside, with optional attributes */
typedef struct ooze_surface ooze_surface;

/* m: OpenVDB has no transform with smaller voxels. */
#define OOZE_SMALLEST_VOXEL 1.5e-5

typedef struct ooze_surface_desc {
  uint32_t size;
  uint32_t method;  /* OOZE_SURFACE_*. Default SPHERES. */
  float separation; /* m, above 0: the spacing of particles at rest. Default 0.01. */
  /* m: radius of a lone particle; 0: that of its volume, 0.62 separations (density: 0.9). Default
   * 0. */
  float radius;
  float voxel;      /* m; 0: half the separation. Default 0. For OpenVDB: OOZE_SMALLEST_VOXEL. */
  float half_width; /* voxels of distance kept on either side, 2 to 20. Default 3. */
  /* passes of a filter on the distance that keeps volume and thin strands. Default 0. */
  uint32_t smoothing;
  /* 0 to 1: how far noise in positions is taken out (anisotropic only). Default 0.9. */
  float position_smoothing;
  /* 1 to 4: widest over narrowest kernel axis (anisotropic only). Default 2. */
  float max_stretch;
  /* OOZE_FILL_*: where grids of velocity, scalars and channels have values; meshes have them with
   * any. Default BAND. */
  uint32_t attributes;
  /* 0: as many as the machine has. Results do not depend on it. Default 0. */
  uint32_t threads;
  uint64_t max_voxels;     /* refuse to hold more. Default 4e9. */
  const ooze_hooks *hooks; /* parallel_for only; NULL: TBB if built in, else threads of our own */
  /* 0 to 1: a particle whose density is below this share of a full lattice's is at the surface
   * (density only). Default 0.85. */
  float threshold;
  /* Solids that are taken out of the surface, by shape, half, invert, voxel, bricks and the pose
   * `end` of colliders; bricks end where they end. Copied. Default none. */
  uint32_t solid_count;
  const ooze_collider_desc *solids;
  /* m, -1e3 to 1e3: room left before solids; below 0 the surface reaches into them. Default 0. */
  float solid_gap;
} ooze_surface_desc;

typedef struct ooze_surface_scalar {
  const char *name;    /* of the grid: "temperature", "strainrate", "stress", ... */
  const float *values; /* one a particle */
  size_t stride;       /* bytes; 0: packed */
} ooze_surface_scalar;

/* How the value of a channel between particles follows from theirs. */
enum {
  OOZE_CHANNEL_MEAN = 0, /* weighted by distance: age, say */
  /* the same, but where materials meet it changes from one to the other within half a separation:
   * colours */
  OOZE_CHANNEL_SHARP = 1,
  /* a place that goes with the fluid, carried as its offset from the particle, so that it is exact
   * on a moved and undeformed fluid: rest positions */
  OOZE_CHANNEL_PLACE = 2
};

typedef struct ooze_surface_channel {
  const char *name;    /* of the grid and of the mesh's attribute, 1 to 31 characters: "Cd", ... */
  const float *values; /* `components` a particle */
  size_t stride;       /* bytes; 0: packed */
  uint32_t components; /* 1 or 3 */
  uint32_t kind;       /* OOZE_CHANNEL_*; PLACE has 3 components */
} ooze_surface_channel;

typedef struct ooze_surface_points {
  uint32_t size;
  uint32_t count;
  /* 3 float each; a stride of 0 means packed. Non-finite particles are left out and counted. */
  const void *positions;
  size_t position_stride;
  const void *velocities; /* 3 float, or NULL */
  size_t velocity_stride;
  uint32_t scalar_count; /* at most 8 */
  const ooze_surface_scalar *scalars;
  uint32_t channel_count; /* at most 8 */
  /* 1 to 16, with `materials`: the surface then has `material`, the number of the material at each
   * place, and from 2 on a weight for each, which add up to 1. 0: none of it. */
  uint32_t material_count;
  const ooze_surface_channel *channels;
  const uint32_t *materials; /* one a particle, below material_count */
  size_t material_stride;    /* bytes; 0: packed */
  /* material_count names: their weights are "weight_NAME", and one that is NULL has none; or NULL
   * itself: all have, "weight_0", ... */
  const char *const *material_names;
  const uint8_t *left_out; /* one a particle, 1: no part of the surface; or NULL: all are */
} ooze_surface_points;

typedef struct ooze_surface_info {
  uint32_t size;
  uint32_t bricks;        /* 8x8x8 blocks with values */
  uint32_t inside_bricks; /* blocks wholly inside, kept without values */
  uint32_t skipped;       /* non-finite particles left out */
  /* 1: the voxel is so large that particles were merged before (none is dropped) */
  uint32_t merged;
  float voxel;      /* m */
  float half_width; /* m */
  /* m: of a lone particle as built; at least 0.9 voxel so that it cannot fall between samples */
  float radius;
  float lower[3], upper[3]; /* m, of the surface */
  double volume;            /* m^3 */
  double area;              /* m^2 */
  uint64_t voxels;          /* samples within the band */
  uint64_t bytes;           /* held */
  double seconds;           /* the build took */
} ooze_surface_info;

OOZE_API ooze_result ooze_surface_build(const ooze_surface_desc *desc,
                                        const ooze_surface_points *points, ooze_surface **out,
                                        ooze_message *why);
/* Attributes of points that go onto a surface, beside P and v. */
enum {
  OOZE_WITH_SHADING = 1,     /* Cd, rest, rest2, age and material, where the points have them */
  OOZE_WITH_TEMPERATURE = 2, /* temperature, K */
  OOZE_WITH_STRESS = 4,      /* stress, Pa: the magnitude of a tensor of 6 */
  OOZE_WITH_STRAINRATE = 8,  /* strainrate, 1/s, by ooze_strain_rate */
  /* Particles of bodies (`owner`) have no part in it, or fluid has none. */
  OOZE_WITHOUT_BODIES = 16,
  OOZE_WITHOUT_FLUID = 32
};
/* The particles of which a surface is made, as menus have it, and the bits of it. */
enum { OOZE_SURFACE_OF_FLUID = 0, OOZE_SURFACE_OF_ALL = 1, OOZE_SURFACE_OF_BODIES = 2 };
static inline uint32_t ooze_surface_of_bits(uint32_t of) {
  if (of == OOZE_SURFACE_OF_FLUID) return OOZE_WITHOUT_BODIES;
  return of == OOZE_SURFACE_OF_BODIES ? (uint32_t)OOZE_WITHOUT_FLUID : 0u;
}
/* The same of points as files have them; with: OOZE_WITH_* and OOZE_WITHOUT_* bits. material_names
 * (material_count of them, may be NULL) name the weights of materials. */
OOZE_API ooze_result ooze_surface_of_points(const ooze_surface_desc *desc,
                                            const ooze_points *points, uint32_t with,
                                            const char *const *material_names,
                                            uint32_t material_count, ooze_surface **out,
                                            ooze_message *why);
OOZE_API void ooze_surface_destroy(ooze_surface *s);
OOZE_API ooze_result ooze_surface_info_get(const ooze_surface *s, ooze_surface_info *out);
/* Distance at `count` points (3 floats each), trilinear; plus or minus half_width outside the band.
 */
OOZE_API ooze_result ooze_surface_sample(const ooze_surface *s, const float *points, uint32_t count,
                                         float *out);
/* The channel of that name at `count` points on the surface or near it, from the particles around
 * each: 1 or 3 floats a point. "v" names the velocity. NOT_FOUND where there is no such channel. */
OOZE_API ooze_result ooze_surface_values(const ooze_surface *s, const char *name,
                                         const float *points, uint32_t count, float *out);
/* of all values: equal bits, equal hash */
OOZE_API uint64_t ooze_surface_hash(const ooze_surface *s);

/* sqrt(2 D:D), 1/s, of each particle, D being the symmetric part of the velocity gradient among its
 * neighbours within two separations: in simple shear the shear rate. 0 where there is no neighbour.
 * Uses separation, threads and hooks of desc. */
OOZE_API ooze_result ooze_strain_rate(const ooze_surface_desc *desc,
                                      const ooze_surface_points *points, float *out,
                                      ooze_message *why);

/* Magnitudes of symmetric tensors, 6 floats each (xx yy zz xy xz yz), as of `stress`: the root of
 * the sum of squares of all nine. */
OOZE_API void ooze_tensor_norms(const float *tensors, uint32_t count, float *out);

/* ---- Files and meshes (OpenVDB) ---------------------------------------------------------- */

OOZE_API int ooze_surface_has_vdb(void); /* 1 if built with OpenVDB */

typedef struct ooze_vdb_options {
  uint32_t size;
  uint32_t half_precision;  /* 1: values as 16 bits. Default 0. */
  const char *surface_name; /* Default "surface". */
  /* "v" for Karma and SOPs, "vel" for DOPs and older pipelines. Default "v". */
  const char *velocity_name;
  /* 1: file and grids carry frame and time as metadata. Default 0. */
  uint32_t has_time;
  int32_t frame;
  double time; /* s */
  /* 1: they carry rest_blend as the metadata restblend: the share of rest2 in a mix with rest
   * (ooze_rest_blend). Default 0. */
  uint32_t has_rest_blend;
  float rest_blend;
} ooze_vdb_options;

/* All grids of the surface in one file, under its final name only when whole (temporary name,
 * fsync, rename). */
OOZE_API ooze_result ooze_surface_write_vdb(const ooze_surface *s, const char *path,
                                            const ooze_vdb_options *options, ooze_message *why);

typedef struct ooze_vdb_grid { /* a grid of a .vdb file */
  uint32_t size;
  uint32_t components; /* 1, 3; 0: neither numbers nor vectors, and the range is not known */
  char name[64];
  char type[32];             /* as OpenVDB names it: "float", "vec3s", ... */
  char kind[32];             /* "level set", "fog volume", "staggered", or "" */
  double voxel;              /* m, along x */
  uint64_t active;           /* voxels */
  double lower[3], upper[3]; /* m, of the active voxels */
  double minimum, maximum;   /* of active values; of vectors: of their lengths */
  uint32_t has_time;         /* 1: its metadata has frame and time (ooze_vdb_options) */
  int32_t frame;
  double time;             /* s */
  uint32_t has_rest_blend; /* 1: and restblend */
  float rest_blend;
} ooze_vdb_grid;

/* The surface as triangles, with normals, velocities if the surface has them, and every other
 * channel in out->channels: scalars and channels by their names, "material" (OOZE_INT32) and the
 * weights. Vertices lie on a smooth interpolation of the distance, and normals are its gradient.
 * adaptivity 0 keeps all detail; up to 1 merges flat parts into larger polygons. `out` is filled as
 * by ooze_mesh_allocate: ooze_mesh_release gives it back. */
OOZE_API ooze_result ooze_surface_mesh(const ooze_surface *s, double adaptivity, ooze_mesh *out,
                                       ooze_message *why);

/* For hosts that link the OpenVDB this library was built with, such as Houdini's own. `grid` is the
 * address of an openvdb::GridBase::Ptr (out) or a const openvdb::GridBase * (in); these are checked
 * for their type, not for their build. Grids of a surface: 0 the distance, then velocity,
 * scalars, channels, material (of integers) and weights where it has them; NOT_FOUND past the
 * last. */
OOZE_API ooze_result ooze_surface_grid(const ooze_surface *s, uint32_t index,
                                       const ooze_vdb_options *options, void *grid,
                                       ooze_message *why);
/* The surface of a level set (iso counts from its zero), or of a fog volume where it passes iso. */
OOZE_API ooze_result ooze_grid_mesh(const void *grid, double iso, ooze_mesh *out,
                                    ooze_message *why);
/* A grid of vectors (of floats, staggered or not) at `count` points, between samples by their
 * distance; 3 floats each, in and out. */
OOZE_API ooze_result ooze_grid_sample(const void *grid, const float *points, uint32_t count,
                                      float *out, ooze_message *why);
/* Of the values, the active voxels and the transform of a grid of floats or vectors: equal grids,
 * equal hash. 0 for others. */
OOZE_API uint64_t ooze_grid_hash(const void *grid);

/* ---- Colliders: meshes and .vdb files to SDF bricks (OpenVDB) ---------------------------- */

typedef struct ooze_sdf {
  uint32_t size;
  uint32_t brick_count;
  float voxel; /* m: ooze_collider_desc.voxel */
  /* m: add to the collider's position; a .vdb may place its samples off the lattice */
  float offset[3];
  float lower[3], upper[3]; /* m, of the samples within the band */
  uint32_t closed;          /* 1: has an inside; 0: an open mesh, thickened to a shell */
  ooze_sdf_brick *bricks;   /* ooze_collider_desc.bricks; from malloc() */
} ooze_sdf;

enum { OOZE_SDF_AUTO = 0, OOZE_SDF_CLOSED = 1, OOZE_SDF_SHELL = 2 };

typedef struct ooze_sdf_desc {
  uint32_t size;
  /* OOZE_SDF_*: AUTO takes SHELL for a mesh with open edges. Default AUTO. */
  uint32_t mode;
  float voxel;         /* m, above 0. Default 0.01. */
  float exterior_band; /* voxels of distance outside, 1 to 100. Default 3. */
  /* voxels inside, 1 to 100: the depth from which a fast particle finds its way out.
   * Default 6. */
  float interior_band;
  /* m: of a shell; 0: three voxels, so that it does not leak. Default 0. */
  float thickness;
  uint32_t max_triangles;  /* Default 20e6. */
  uint32_t max_bricks;     /* Default 1 << 20 (2 GiB of bricks). */
  uint64_t max_file_bytes; /* of a .vdb. Default 4 GiB. */
  uint64_t max_memory;     /* bytes that reading a .vdb may take. Default 4 GiB. */
  float max_seconds;       /* that reading a .vdb may take. Default 60. */
} ooze_sdf_desc;

OOZE_API ooze_result ooze_sdf_from_mesh(const ooze_sdf_desc *desc, const float *points,
                                        uint32_t point_count, const uint32_t *triangles,
                                        uint32_t triangle_count, ooze_sdf *out, ooze_message *why);
/* A level set from an untrusted file: read in a child process with limits of memory
 * and time where the system has fork(). grid NULL: the first level set of floats. Its own voxel
 * size is kept; desc->voxel is not used. */
OOZE_API ooze_result ooze_sdf_from_vdb(const ooze_sdf_desc *desc, const char *path,
                                       const char *grid, ooze_sdf *out, ooze_message *why);
/* The same from a grid in memory: see ooze_surface_grid. */
OOZE_API ooze_result ooze_sdf_from_grid(const ooze_sdf_desc *desc, const void *grid, ooze_sdf *out,
                                        ooze_message *why);
OOZE_API void ooze_sdf_free(ooze_sdf *sdf);
/* Where the distance is 0, as triangles in the collider's space: the surface that the solver
 * meets. */
OOZE_API ooze_result ooze_sdf_mesh(const ooze_sdf *sdf, ooze_mesh *out, ooze_message *why);
/* Line segments (6 floats each: two ends) that show a collider's shape where it is at the end of a
 * step, of a plane a square of that size; none of bricks. Returns how many there are; out may be
 * NULL. */
OOZE_API uint32_t ooze_outline_collider(const ooze_collider_desc *desc, float size, float *out,
                                        uint32_t capacity);
/* The same of a nozzle: its mouth, and an arrow as far as it pours in a tenth of a second. */
OOZE_API uint32_t ooze_outline_emitter(const ooze_emitter_desc *desc, float *out,
                                       uint32_t capacity);
/* Every grid of such a file, read as above under the limits of desc (NULL: the defaults).
 * *out_count may be above capacity. */
OOZE_API ooze_result ooze_vdb_describe(const ooze_sdf_desc *desc, const char *path,
                                       ooze_vdb_grid *out, uint32_t capacity, uint32_t *out_count,
                                       ooze_message *why);
/* 1: every edge is shared by an even number of triangles; 0: it is open; -1: no memory to tell, or
 * a bad index. */
OOZE_API int ooze_mesh_is_closed(const ooze_mesh *mesh);
/* The pose that carries `from` best onto `to` (3 floats each), and how far the worst point is off
 * (m; may be NULL). */
OOZE_API ooze_result ooze_pose_fit(const float *from, const float *to, uint32_t count,
                                   ooze_pose *out, float *out_error, ooze_message *why);
/* Points (3 floats each) carried by a rigid motion for `time` s, which may be negative: velocity
 * (m/s) of the place `about`, and spin (rad/s) about it. */
OOZE_API void ooze_points_carry(float *points, uint32_t count, const float about[3],
                                const float velocity[3], const float spin[3], double time);
/* The same rotation about another place: `at`, given in the pose's own frame. */
OOZE_API void ooze_pose_at(const ooze_pose *pose, const float at[3], ooze_pose *out);
/* A torque (N m) about one place, as it is about another, with the force (N) beside it. */
OOZE_API void ooze_torque_about(const float force[3], const float torque[3], const float place[3],
                                const float other[3], float out[3]);
/* Turns a pose so that its -y axis, along which a nozzle pours, points in the direction (of any
 * length but 0). */
OOZE_API void ooze_pose_aim(const float direction[3], ooze_pose *pose);

/* ---- Filling meshes with particles ------------------------------------------------------- */

typedef struct ooze_fill_desc {
  uint32_t size;
  uint32_t seed;          /* another number gives another jitter. Default 0. */
  float separation;       /* m, above 0. Default 0.01. */
  float jitter;           /* random offset in separations, 0 to 0.3. Default 0. */
  uint64_t max_particles; /* Default 1 << 30. */
  uint32_t occupied_count;
  uint32_t reserved;
  /* 3 each: particles that are there. New ones keep 0.9 separations from them. */
  const float *occupied;
} ooze_fill_desc;
/* Where particles stand in a closed mesh: 3 floats each, to be freed with ooze_io_free. Pieces may
 * overlap. */
OOZE_API ooze_result ooze_fill_mesh(const ooze_fill_desc *desc, const ooze_mesh *mesh, float **out,
                                    uint32_t *out_count, ooze_message *why);
/* out_keep[i] is 1 where point i keeps its distance from existing points. */
OOZE_API ooze_result ooze_fill_apart(const ooze_fill_desc *desc, const float *points,
                                     uint32_t count, uint8_t *out_keep, ooze_message *why);

/* ---- Images ------------------------------------------------------------------------------ */

typedef struct ooze_image {
  uint32_t size;
  uint32_t width, height;
  uint8_t *rgb;          /* 3 bytes a pixel, rows from the top, sRGB */
  uint32_t fluid_pixels; /* ooze_render: those that show fluid or bodies */
} ooze_image;

/* black */
OOZE_API ooze_result ooze_image_create(uint32_t width, uint32_t height, ooze_image *out,
                                       ooze_message *why);
OOZE_API void ooze_image_free(ooze_image *image);
/* atomic */
OOZE_API ooze_result ooze_image_write_png(const ooze_image *image, const char *path,
                                          ooze_message *why);
/* ASCII in a 5x7 face, each dot `scale` pixels; returns the width in pixels, and only measures if
 * image is NULL. */
OOZE_API uint32_t ooze_image_text(ooze_image *image, int x, int y, uint32_t scale,
                                  const uint8_t rgb[3], const char *text);
/* Several pictures of any size in rows of `columns`, each scaled down to cell_width, captions below
 * (NULL: none). */
OOZE_API ooze_result ooze_image_sheet(const ooze_image *const *images, const char *const *captions,
                                      uint32_t count, uint32_t columns, uint32_t cell_width,
                                      ooze_image *out, ooze_message *why);

typedef struct ooze_movie ooze_movie; /* an ffmpeg at the other end of a pipe */
/* Before any frame is drawn: is there an ffmpeg? */
OOZE_API ooze_result ooze_movie_can_write(const char *path, ooze_message *why);
OOZE_API ooze_result ooze_movie_open(const char *path, uint32_t width, uint32_t height,
                                     double frames_per_second, ooze_movie **out, ooze_message *why);
OOZE_API ooze_result ooze_movie_add(ooze_movie *m, const ooze_image *frame, ooze_message *why);
/* the file appears under its name here; frees m */
OOZE_API ooze_result ooze_movie_close(ooze_movie *m, ooze_message *why);
/* leaves no file; frees m */
OOZE_API void ooze_movie_abandon(ooze_movie *m);

/* ---- Pictures ---------------------------------------------------------------------------- */

/* How a material looks. Colours are sRGB, 0 to 1. */
typedef struct ooze_look {
  uint32_t size;
  float colour[3];
  float clarity; /* 0 opaque to 1 clear: how much light passes through. Default 0. */
  /* m: thickness at which a clear material shows its own colour; 0: a tenth of the fluid's size.
   * Default 0. */
  float depth;
  float gloss; /* 0 matt to 1 mirror-smooth highlight. Default 0.6. */
  /* 0 to 1: light wraps around and bleeds through edges, as in cream. Default 0.2. */
  float softness;
  float glow; /* light of its own, as in lava. Default 0. */
} ooze_look;
/* By the name of a material preset ("honey", "whipped_cream", "lava", ...); returns 0 and a neutral
 * look if unknown. */
OOZE_API int ooze_look_preset(const char *name, ooze_look *out);

/* A collider as drawn: a shape of ooze.h, or a triangle mesh (triangle_count above 0). */
typedef struct ooze_render_shape {
  uint32_t size;
  uint32_t shape;  /* OOZE_SHAPE_*; an SDF is drawn through its mesh */
  uint32_t invert; /* 1: a container: drawn from the inside, its near walls left out */
  uint32_t hidden; /* 1: not drawn, but framed */
  float half[3];
  ooze_pose pose;
  float colour[3]; /* sRGB. Default 0.62 0.64 0.67. */
  float gloss;     /* Default 0.25. */
  uint32_t point_count;
  const float *points;
  uint32_t triangle_count;
  const uint32_t *triangles;
} ooze_render_shape;

enum { OOZE_MAP_VIRIDIS = 0, OOZE_MAP_MAGMA = 1, OOZE_MAP_DIVERGING = 2, OOZE_MAP_HEAT = 3 };

/* Particles in a viewport: lengths of velocities (3 floats each), how far conformations
 * are from rest and magnitudes of stresses (6 each), temperatures and numbers of materials. */
enum {
  OOZE_VISUAL_SPEED = 0,
  OOZE_VISUAL_STRETCH = 1,
  OOZE_VISUAL_STRESS = 2,
  OOZE_VISUAL_TEMPERATURE = 3,
  OOZE_VISUAL_MATERIAL = 4
};
OOZE_API uint32_t ooze_visual_components(uint32_t kind); /* floats a particle; 0: no such kind */
/* Colours by a map that fits the kind, linear RGB, 3 floats each, between the ends of range (both
 * 0: the least and the most of the values). */
OOZE_API ooze_result ooze_visual(uint32_t kind, const float *values, uint32_t count,
                                 const float range[2], float *out);

typedef struct ooze_render_desc {
  uint32_t size;
  uint32_t width, height; /* pixels, 16 to 8192. Default 960 540. */
  uint32_t samples;       /* a pixel, 1 to 64. Default 4. */
  uint32_t threads;       /* 0: as many as the machine has. */
  /* Fluid: the level set if given, else particles as spheres. With both, particles give the surface
   * its colours. */
  const ooze_surface *surface;
  uint32_t particle_count;
  const float *positions; /* 3 each, packed */
  /* m: of a drawn sphere; also scales how colours blend. Default 0.005. */
  float particle_radius;
  const uint32_t *materials; /* index into looks, one a particle; NULL: all 0 */
  const float *scalars;      /* one a particle; not NULL: attribute colouring */
  uint32_t colour_map;       /* OOZE_MAP_*. Default VIRIDIS. */
  /* both 0: from the particles (2nd and 98th percentile). Default 0 0. */
  float scalar_range[2];
  const char *scalar_label; /* on the legend: "speed (m/s)"; NULL: no legend */
  const ooze_look *looks;
  uint32_t look_count; /* 0: a neutral look */
  /* Surroundings */
  const ooze_render_shape *shapes;
  uint32_t shape_count;
  /* 0: none, 1: at ground_height, 2: at the lowest plane collider, else below everything.
   * Default 2. */
  uint32_t ground;
  float ground_height; /* m */
  /* m: size of the ground's squares; 0: chosen from the scene, negative: plain. Default 0. */
  float checker;
  /* Camera: framed on the bounds where camera_auto is 1, from the direction (azimuth, elevation);
   * else as given. */
  uint32_t camera_auto;     /* Default 1. */
  float azimuth, elevation; /* degrees. Default 25 14. */
  float zoom;               /* of the automatic frame: 1 fits all. Default 1. */
  float eye[3], target[3];  /* m */
  float field_of_view;      /* degrees, horizontal. Default 32. */
  /* m: lower then upper, the box that the automatic camera frames; all 0: the fluid and the shapes
   */
  float bounds[6];
  const char *caption;     /* small text at the lower left; NULL: none */
  const ooze_hooks *hooks; /* parallel_for only; may be NULL */
  /* K, one a particle: looks that glow do so by them, as rock does, and darken as they cool; NULL:
   * evenly */
  const float *temperatures;
  /* m: scale of looks without a depth and of the soft shade, so that several pictures have
   * the same; 0: across the particles. Default 0. */
  float fluid_size;
} ooze_render_desc;

OOZE_API ooze_result ooze_render(const ooze_render_desc *desc, ooze_image *out, ooze_message *why);
/* Bounds and range that the description's picture would take from its particles and shapes. */
OOZE_API ooze_result ooze_render_fit(const ooze_render_desc *desc, float bounds[6],
                                     float scalar_range[2], ooze_message *why);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_surface_desc_default(ooze_surface_desc *d) {
  OOZE_CLEAR(d);
  d->separation = 0.01f;
  d->half_width = 3.0f;
  d->position_smoothing = 0.9f;
  d->max_stretch = 2.0f;
  d->threshold = 0.85f;
  d->attributes = OOZE_FILL_BAND;
  d->max_voxels = 4000000000u;
}
static inline void ooze_surface_points_default(ooze_surface_points *p) { OOZE_CLEAR(p); }
static inline void ooze_surface_info_default(ooze_surface_info *i) { OOZE_CLEAR(i); }
static inline void ooze_vdb_options_default(ooze_vdb_options *o) {
  OOZE_CLEAR(o);
  o->surface_name = "surface";
  o->velocity_name = "v";
}
static inline void ooze_vdb_grid_default(ooze_vdb_grid *g) { OOZE_CLEAR(g); }
static inline void ooze_sdf_default(ooze_sdf *s) { OOZE_CLEAR(s); }
static inline void ooze_sdf_desc_default(ooze_sdf_desc *d) {
  OOZE_CLEAR(d);
  d->voxel = 0.01f;
  d->exterior_band = 3.0f;
  d->interior_band = 6.0f;
  d->max_triangles = 20000000u;
  d->max_bricks = 1u << 20;
  d->max_file_bytes = (uint64_t)1 << 32;
  d->max_memory = (uint64_t)1 << 32;
  d->max_seconds = 60.0f;
}
static inline void ooze_fill_desc_default(ooze_fill_desc *d) {
  OOZE_CLEAR(d);
  d->separation = 0.01f;
  d->max_particles = 1u << 30;
}
static inline void ooze_image_default(ooze_image *i) { OOZE_CLEAR(i); }
static inline void ooze_look_default(ooze_look *l) {
  OOZE_CLEAR(l);
  l->colour[0] = 0.30f;
  l->colour[1] = 0.55f;
  l->colour[2] = 0.80f;
  l->gloss = 0.6f;
  l->softness = 0.2f;
}
static inline void ooze_render_shape_default(ooze_render_shape *r) {
  OOZE_CLEAR(r);
  r->half[0] = r->half[1] = r->half[2] = 0.5f;
  ooze_pose_default(&r->pose);
  r->colour[0] = 0.62f;
  r->colour[1] = 0.64f;
  r->colour[2] = 0.67f;
  r->gloss = 0.25f;
}
static inline void ooze_render_desc_default(ooze_render_desc *r) {
  OOZE_CLEAR(r);
  r->width = 960;
  r->height = 540;
  r->samples = 4;
  r->particle_radius = 0.005f;
  r->ground = 2;
  r->camera_auto = 1;
  r->azimuth = 25.0f;
  r->elevation = 14.0f;
  r->zoom = 1.0f;
  r->field_of_view = 32.0f;
}

#ifdef __cplusplus
}
#endif
#endif
