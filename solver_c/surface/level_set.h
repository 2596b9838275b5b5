/* The private interface of surface, which render reads too: the particle cell grid, the brick map
 * of a surface. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_SURFACE_LEVEL_SET_H
#define OZ_SURFACE_LEVEL_SET_H

#include <math.h>

#include "base/lattice.h"
#include "base/memory.h"
#include "base/result.h"
#include "base/seconds.h"
#include "base/tasks.h"
#include "geo/geo_internal.h"
#include "ooze/ooze_surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Four numbers at a time, or one where the compiler has no vector types (the bits then differ,
 * the results do not)
 */

#if defined(__GNUC__)
#define OZ_LANES 4
typedef float oz_f4 __attribute__((vector_size(16)));
typedef int32_t oz_i4 __attribute__((vector_size(16)));
static inline oz_f4 oz_f4_load(const float *p) {
  oz_f4 v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void oz_f4_store(float *p, oz_f4 v) { memcpy(p, &v, sizeof v); }
static inline oz_f4 oz_f4_of(float x) {
  oz_f4 v = {x, x, x, x};
  return v;
}
static inline oz_f4 oz_f4_ramp(void) {
  oz_f4 v = {0.0f, 1.0f, 2.0f, 3.0f};
  return v;
}
/* else 0 */
static inline oz_f4 oz_f4_positive(oz_f4 v) {
  return (oz_f4)((oz_i4)v & (oz_i4)(v > oz_f4_of(0.0f)));
}
static inline float oz_f4_sum(oz_f4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }
#else
#define OZ_LANES 1
typedef float oz_f4;
static inline oz_f4 oz_f4_load(const float *p) { return *p; }
static inline void oz_f4_store(float *p, oz_f4 v) { *p = v; }
static inline oz_f4 oz_f4_of(float x) { return x; }
static inline oz_f4 oz_f4_ramp(void) { return 0.0f; }
static inline oz_f4 oz_f4_positive(oz_f4 v) { return v > 0.0f ? v : 0.0f; }
static inline float oz_f4_sum(oz_f4 v) { return v; }
#endif

/* ---- Particles binned into cells (cells.c) ---- */

typedef struct oz_cells {
  float cell;       /* m */
  uint32_t count;   /* particles kept */
  uint32_t skipped; /* non-finite ones */
  uint32_t cell_count;
  uint64_t *keys;  /* of the cells, ascending */
  uint32_t *first; /* cell_count + 1: where each cell's particles begin */
  uint32_t *order; /* sorted rank to input index; within a cell ascending */
  float *x;        /* 3 each, in sorted order */
  oz_map map;      /* key to cell */
} oz_cells;
/* left_out (may be NULL): 1 where a particle is not to be among them. */
ooze_result oz_cells_build(oz_cells *c, float cell, uint32_t count, const void *positions,
                           size_t stride, const uint8_t *left_out, ooze_message *why);
void oz_cells_free(oz_cells *c);
static inline int oz_cells_find(const oz_cells *c, int x, int y, int z, uint32_t *first,
                                uint32_t *end) {
  uint32_t i = oz_map_get(&c->map, oz_key(x, y, z));
  if (i == OZ_NONE) return 0;
  *first = c->first[i];
  *end = c->first[i + 1];
  return 1;
}
/* Every particle of the cells that a box touches, cell by cell in ascending x, y, z:
 *   for (oz_cells_walk w = oz_cells_between(c, low, high); oz_cells_next(&w);) ... w.j ... */
typedef struct oz_cells_walk {
  const oz_cells *c;
  int lo[3], hi[3], at[3]; /* the next cell is `at` */
  uint32_t next, end;      /* in this one */
  uint32_t j;              /* the particle: its place in the sorted order */
} oz_cells_walk;
static inline oz_cells_walk oz_cells_between(const oz_cells *c, const float low[3],
                                             const float high[3]) {
  oz_cells_walk w;
  w.c = c, w.next = w.end = w.j = 0;
  for (int a = 0; a < 3; ++a) {
    w.lo[a] = w.at[a] = (int)floorf(low[a] / c->cell);
    w.hi[a] = (int)floorf(high[a] / c->cell);
  }
  return w;
}
static inline int oz_cells_next(oz_cells_walk *w) {
  while (w->next == w->end) {
    if (w->at[0] > w->hi[0]) return 0;
    if (!oz_cells_find(w->c, w->at[0], w->at[1], w->at[2], &w->next, &w->end)) w->next = w->end = 0;
    for (int a = 2; ++w->at[a] > w->hi[a] && a > 0; --a) w->at[a] = w->lo[a];
  }
  w->j = w->next++;
  return 1;
}
/* Ascending; stable; values move with their keys. 0 on failure. */
int oz_sort_keys(uint64_t *keys, uint32_t *values, uint32_t count);

/* ---- Kernels (kernels.c) ---- */

/* One particle's share in the field: weight * max(0, 1 - (p - x)^T A (p - x))^3. */
typedef struct oz_kernel {
  float x[3];
  float weight;    /* while they are made 1 of a particle, 0 of a bridge */
  float a[6];      /* xx yy zz xy xz yz, 1/m^2 */
  float extent[3]; /* m: half the axis-aligned box of the support */
} oz_kernel;

typedef struct oz_kernel_desc {
  int anisotropic;
  float separation; /* m: effective, at least as large as the voxel resolves */
  float voxel;      /* m */
  float position_smoothing, max_stretch;
} oz_kernel_desc;
/* Kernels of particles and of bridges between them, in cells of their own if there are such. */
typedef struct oz_kernel_set {
  const oz_cells *c; /* the particles' or `own` */
  oz_cells own;
  oz_kernel *k; /* one each of c, in its order */
  float reach;  /* m: the largest extent, plus how far a particle was moved */
} oz_kernel_set;
ooze_result oz_kernels_make(const oz_kernel_desc *d, const oz_cells *c, const oz_loop *loop,
                            oz_kernel_set *out, ooze_message *why);
void oz_kernels_free(oz_kernel_set *set);
/* bridge.c: kernels over the gaps of sheets; normals: 3 a particle, of its sheet, or zero where it
 * is of none. 0: no memory. */
int oz_bridges_find(const oz_cells *c, const oz_kernel *kernels, const float *normals,
                    float separation, const oz_loop *loop, oz_kernel **out, uint32_t *out_count);
#define OZ_ISO 0.5f /* the field's value on the surface */
/* support over separation at which a lone particle has its own volume */
#define OZ_LONE_WIDTH 1.366f
#define OZ_LONE_RADIUS 0.6204f /* (3 / 4 pi)^(1/3) */

/* ---- The field on bricks (field.c, distance.c) ---- */

typedef struct oz_bricks {
  uint32_t count;
  uint64_t *keys;   /* ascending */
  float *values;    /* 512 each, z fastest */
  uint32_t *beside; /* 6 each: the neighbour at -x +x -y +y -z +z, or OZ_NONE */
} oz_bricks;
ooze_result oz_bricks_cover(oz_bricks *b, const oz_cells *c, float voxel, float reach,
                            uint64_t max_voxels, ooze_message *why);
void oz_bricks_free(oz_bricks *b);
/* Fills values with a number that is about the distance in voxels near the surface and has the
 * right sign elsewhere. */
void oz_field_evaluate(oz_bricks *b, const oz_cells *c, const oz_kernel *kernels, float voxel,
                       float separation, float reach, const oz_loop *loop);
/* density.c: marks (1) surface particles by density below a share of a full lattice's; how
 * far from a particle the field goes; and the field itself, as oz_field_evaluate makes it: least
 * distance to balls of `radius` about those, and larger ones about the rest. */
void oz_density_mark(const oz_cells *c, float separation, float threshold, const oz_loop *loop,
                     uint8_t *outer);
float oz_density_reach(float separation, float radius);
void oz_density_field(oz_bricks *b, const oz_cells *c, const uint8_t *outer, float voxel,
                      float separation, float radius, const oz_loop *loop);
/* separations: of balls about surface particles; above 0.87 they leave no holes between a lattice's
 */
#define OZ_DENSITY_RADIUS 0.9f
/* Turns values into distances in voxels up to `band` on either side of the zero crossing, plus or
 * minus band beyond. */
ooze_result oz_distance_rebuild(oz_bricks *b, float band, const oz_loop *loop, ooze_message *why);

/* A filter on those distances; call rebuild again afterwards. */
ooze_result oz_distance_smooth(oz_bricks *b, uint32_t passes, float band, const oz_loop *loop,
                               ooze_message *why);
/* The volume that a balance could not give to a level set, by nodes in cells of `apart` bricks. */
typedef struct oz_leftover {
  int apart;   /* 0: none */
  float *sums; /* of a node: OZ_LEFT_SUMS, in voxels */
  oz_map map;  /* a node's key to its number */
} oz_leftover;
enum { OZ_LEFT_SUMS = 3 };
void oz_leftover_free(oz_leftover *left);
/* Reads leftovers at places that follow each other. */
typedef struct oz_leftover_at {
  const oz_leftover *left;
  int node[3], known;
  float around[27][OZ_LEFT_SUMS];
} oz_leftover_at;
/* How far the surface has to go outwards (voxels) at a place (voxels), and its volume over its area
 * there, in voxels too. */
float oz_leftover_read(oz_leftover_at *at, const float place[3], float *half);
/* balance.c: shifts distances that go oz_balance_reach (voxels) further than `band` so that they
 * enclose the volume of the particles, locally, and cuts them at the band. */
float oz_balance_reach(float separation, float voxel);
ooze_result oz_balance(oz_bricks *b, const oz_cells *c, float separation, float voxel, float band,
                       const oz_loop *loop, oz_leftover *left, ooze_message *why);
/* The same distances made ready for readers that interpolate; b is left as it is. */
ooze_result oz_distance_sharpen(oz_bricks *b, float band, const oz_loop *loop, float **out,
                                ooze_message *why);

/* ---- The surface ---- */

#define OZ_SURFACE_SCALARS 8
#define OZ_SURFACE_MATERIALS 16
/* velocity, scalars, channels, material, weights */
#define OZ_SURFACE_CHANNELS (1 + 2 * OZ_SURFACE_SCALARS + 1 + OZ_SURFACE_MATERIALS)
#define OZ_ROW_WIDE (3 + OZ_SURFACE_SCALARS) /* floats of a particle: velocity and scalars */
#define OZ_ROW_NEAR (3 * OZ_SURFACE_SCALARS) /* and channels */
#define OZ_OUT_FLOATS (OZ_ROW_WIDE + OZ_ROW_NEAR + 1 + OZ_SURFACE_MATERIALS)
/* separations squared: bound of a near particle's weight, so that it does not stand out as a dot */
#define OZ_SHEPARD 0.1f

/* kinds beside OOZE_CHANNEL_* */
enum { OZ_CARRIED_WIDE = 8, OZ_CARRIED_MATERIAL = 9, OZ_CARRIED_WEIGHT = 10 };
typedef struct oz_carried {
  char name[32];
  uint32_t components, kind;
  uint32_t at; /* in a particle's row; of a weight: the material */
  float *grid; /* components * 512 a brick; zero where not kept */
} oz_carried;

/* A solid that is taken out of the surface, where it is. */
typedef struct oz_cut_solid {
  uint32_t shape, invert; /* of ooze_collider_desc */
  float half[3];
  ooze_pose pose;
  float voxel;            /* m, of bricks */
  uint32_t brick_count;   /* 0: a closed form */
  ooze_sdf_brick *bricks; /* a copy */
  oz_brick_map map;
} oz_cut_solid;

struct ooze_surface {
  float voxel, band;     /* m */
  uint32_t brick_count;  /* the first of keys: those with values */
  uint32_t inside_count; /* the rest of keys: wholly inside */
  uint64_t *keys;
  float *values;             /* m, 512 a brick */
  oz_map map;                /* key to number in keys */
  uint32_t attribute_bricks; /* brick_count, or all of keys; 0: no attributes */
  /* 8 words a brick: samples that have attributes; bit z + 8 y of word x */
  uint64_t *kept;
  uint32_t channel_count;
  oz_carried channels[OZ_SURFACE_CHANNELS];
  const oz_carried *velocity; /* one of them, or NULL */
  /* The particles, in the order of their cells. */
  oz_cells matter;
  float separation; /* m, as built */
  oz_leftover left;
  double particle_volume; /* m^3 */
  uint32_t row_floats;    /* of a particle in rows */
  uint32_t out_floats;    /* of all channels at a point */
  float *rows;
  uint8_t *materials; /* or NULL */
  uint32_t material_count;
  volatile int failed; /* set by a task that found no memory */
  uint32_t fill;       /* OOZE_FILL_* */
  uint32_t solid_count;
  oz_cut_solid *solids;
  float solid_gap;  /* m */
  uint32_t threads; /* 0: all */
  ooze_surface_info info;
};
/* cut.c: copies the solids of the description; takes them out of distances in voxels and of
 * their sharpened twins; moves a point of a mesh out of them. */
ooze_result oz_cut_check(const ooze_surface_desc *d, ooze_message *why);
ooze_result oz_cut_take(ooze_surface *s, const ooze_surface_desc *d, ooze_message *why);
void oz_cut_free(ooze_surface *s);
void oz_cut_apply(const ooze_surface *s, oz_bricks *b, float *sharp, const oz_loop *loop);
void oz_cut_push(const ooze_surface *s, float p[3]);
/* band.c: the bricks of a distance in voxels that the band touches, with their sharpened values. */
ooze_result oz_band_keep(ooze_surface *s, const oz_bricks *b, const float *sharp, float band,
                         const oz_loop *loop, ooze_message *why);
/* channels.c: takes the values of the particles of s->matter over. */
ooze_result oz_channels_take(ooze_surface *s, const ooze_surface_points *p, const oz_loop *loop,
                             ooze_message *why);
/* All channels at a point, out_floats in their order. */
void oz_channels_at(const ooze_surface *s, const float p[3], float *out);
/* From sums of particle weights to the share of each material, which changes fast across a seam. */
void oz_material_weights(const float *w, uint32_t count, float *out);
uint32_t oz_heaviest(const float *w, uint32_t count);
/* attributes.c: grids of all channels on the bricks. */
ooze_result oz_attributes_fill(ooze_surface *s, const oz_loop *loop, ooze_message *why);
/* channels.c: velocity and channels of a mesh by its positions. */
ooze_result oz_channels_to_mesh(const ooze_surface *s, ooze_mesh *mesh, const oz_loop *loop,
                                ooze_message *why);
/* spline.c: coefficients of a smooth distance, as many as values (NULL: no memory); its value (m)
 * and gradient at p; and the points of a mesh moved onto its zero, with the normals there. */
float *oz_spline_make(const ooze_surface *s, const oz_loop *loop);
float oz_spline_at(const ooze_surface *s, const float *spline, const float p[3], float gradient[3]);
/* How far outwards (m) a point of a mesh may go: in a small share, by its thickness where samples
 * and mesh may disagree on it; and by the leftover of the level set's balance. */
typedef struct oz_corner_room {
  float thin, left;
} oz_corner_room;
/* *room: to be released; NULL: points are to stay. */
ooze_result oz_spline_settle_mesh(const ooze_surface *s, ooze_mesh *mesh, const oz_loop *loop,
                                  oz_corner_room **room, ooze_message *why);
/* A mesh with its triangles gets the level set's volume where it is thin, and then as much of the
 * leftover as it wants to have the particles'. */
ooze_result oz_spline_balance_mesh(const ooze_surface *s, ooze_mesh *mesh, oz_corner_room *room,
                                   const oz_loop *loop, ooze_message *why);
/* polygons.c: triangles of a mesh, facing out, from corners of triangles and quads. */
void oz_polygons_put(ooze_mesh *mesh, const uint32_t *triangles, size_t triangle_count,
                     const uint32_t *quads, size_t quad_count, const oz_loop *loop);
/* Trilinear distance (m) at p. */
float oz_surface_distance(const ooze_surface *s, const float p[3]);

#ifdef __cplusplus
}
#endif
#endif
