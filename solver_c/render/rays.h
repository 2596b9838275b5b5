/* The private interface of the ray caster: vectors, the scene, hits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_RENDER_RAYS_H
#define OZ_RENDER_RAYS_H

#include "surface/level_set.h"

#include <math.h>

typedef struct oz_v3 {
  float x, y, z;
} oz_v3;
static inline oz_v3 v3(float x, float y, float z) {
  oz_v3 v = {x, y, z};
  return v;
}
static inline oz_v3 v3_of(const float *p) { return v3(p[0], p[1], p[2]); }
static inline oz_v3 v3_add(oz_v3 a, oz_v3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline oz_v3 v3_sub(oz_v3 a, oz_v3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline oz_v3 v3_mul(oz_v3 a, oz_v3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline oz_v3 v3_scale(oz_v3 a, float s) { return v3(a.x * s, a.y * s, a.z * s); }
static inline oz_v3 v3_madd(oz_v3 a, oz_v3 b, float s) {
  return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}
static inline oz_v3 v3_mix(oz_v3 a, oz_v3 b, float t) {
  return v3_add(v3_scale(a, 1.0f - t), v3_scale(b, t));
}
static inline float v3_dot(oz_v3 a, oz_v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline oz_v3 v3_cross(oz_v3 a, oz_v3 b) {
  return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline float v3_length(oz_v3 a) { return sqrtf(v3_dot(a, a)); }
static inline oz_v3 v3_unit(oz_v3 a) {
  float l = v3_length(a);
  return l > 0.0f ? v3_scale(a, 1.0f / l) : v3(0, 1, 0);
}
static inline float oz_clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }
static inline float oz_smooth(float lo, float hi, float x) {
  float t = oz_clamp((x - lo) / (hi - lo), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

enum { OZ_HIT_SKY = 0, OZ_HIT_GROUND, OZ_HIT_SHAPE, OZ_HIT_FLUID };
typedef struct oz_hit {
  float t;
  oz_v3 n;        /* unit, against the ray */
  int what;       /* OZ_HIT_* */
  uint32_t index; /* shape, or sphere (in BVH order) */
} oz_hit;

/* ---- Boxes in a tree, over spheres or triangles (bvh.c) ---- */

typedef struct oz_bvh_node {
  float lo[3];
  uint32_t first; /* leaf: first item; else the right child (the left one follows its parent) */
  float hi[3];
  uint32_t count; /* items of a leaf; 0: inner */
} oz_bvh_node;

typedef struct oz_bvh {
  uint32_t count;
  float radius;    /* spheres; 0: triangles */
  float *items;    /* spheres: x y z; triangles: three corners, nine floats; in tree order */
  uint32_t *order; /* tree order to input */
  oz_bvh_node *nodes;
  uint32_t node_count;
} oz_bvh;
/* 0 without memory */
int oz_bvh_spheres(oz_bvh *b, const float *positions, uint32_t count, float radius);
int oz_bvh_triangles(oz_bvh *b, const float *corners, uint32_t count);
void oz_bvh_free(oz_bvh *b);
/* Nearest item before hit->t: sets t and index (tree order). any: the first found will do. Returns
 * 1 if found. */
int oz_bvh_trace(const oz_bvh *b, oz_v3 o, oz_v3 d, float least, float *t, uint32_t *index,
                 int any);

/* ---- The level set (march.c) ---- */

enum { OZ_MARCH_LEVELS = 2 };
typedef struct oz_march {
  const ooze_surface *s;
  int lo[3], hi[3]; /* bricks */
  uint32_t *grid;   /* brick numbers by place, or NULL where that would be too large */
  uint32_t *corner; /* 8 a brick: the bricks at +x +y +z in all combinations */
  float *spline;    /* of a smooth distance (surface/spline.c) */
  float side, inv_voxel;
  /* blocks of 256, and of 16, bricks a side that hold any; where the bricks lie far apart */
  oz_map coarse[OZ_MARCH_LEVELS];
} oz_march;
int oz_march_init(oz_march *m, const ooze_surface *s); /* 0 without memory */
void oz_march_free(oz_march *m);
float oz_march_distance(const oz_march *m, oz_v3 p);
oz_v3 oz_march_normal(const oz_march *m, oz_v3 p);
/* From outside to the surface (inside 0) or from inside to the exit (inside 1). Returns 1 and t
 * below *t. */
int oz_march_trace(const oz_march *m, oz_v3 o, oz_v3 d, float least, float *t, int inside);

/* ---- The scene (scene.c) ---- */

typedef struct oz_shape {
  uint32_t kind, invert;
  float half[3];
  oz_v3 centre;
  float axes[9]; /* rows: the shape's x, y, z in the world */
  oz_v3 colour;  /* linear */
  float gloss;
  oz_bvh mesh;
  float *normals; /* nine a triangle, in tree order */
  float reach;    /* m: of a ball about its centre that holds it; 0: it has no end */
} oz_shape;

typedef struct oz_look {
  oz_v3 colour, absorb; /* linear; 1/m */
  float depth;          /* m */
  float clarity, gloss, softness, glow;
} oz_look;

typedef struct oz_scene {
  const ooze_render_desc *desc;
  oz_march march;
  oz_bvh spheres;
  oz_cells cells; /* particles around a point of the level set, for its colour */
  uint32_t look_count;
  oz_look *looks;
  oz_v3 *tints; /* linear colour a particle where scalars are shown, else NULL */
  uint32_t shape_count;
  oz_shape *shapes;
  int has_ground;
  float ground, checker;
  float range[2];     /* of the scalars */
  oz_v3 lower, upper; /* of fluid and shapes */
  float size;         /* of its diagonal */
  float fluid_size;
  float skin;                    /* how far to step off a surface before casting on */
  oz_v3 eye, right, up, forward; /* right and up scaled to the picture's half sides at distance 1 */
  oz_v3 key;                     /* towards the key light */
  oz_v3 key_u, key_v;            /* across it */
} oz_scene;
ooze_result oz_scene_build(oz_scene *s, const ooze_render_desc *d, ooze_message *why);
void oz_scene_free(oz_scene *s);
void oz_scene_trace(const oz_scene *s, oz_v3 o, oz_v3 d, float far, oz_hit *hit);
/* OZ_HIT_* of the obstacle, or 0 */
int oz_scene_blocked(const oz_scene *s, oz_v3 o, oz_v3 d, float far);
/* of a fluid hit at p */
void oz_scene_look(const oz_scene *s, const oz_hit *hit, oz_v3 p, oz_look *out);
/* Where a ray in the shape's own frame enters and leaves it, by its distance: for shapes without a
 * closed form. */
int oz_shape_march(const oz_shape *shape, oz_v3 o, oz_v3 d, float t[2], oz_v3 n[2]);
int oz_shape_trace(const oz_shape *shape, oz_v3 o, oz_v3 d, float least, float *t, oz_v3 *n);

/* ---- Light (shade.c) and colours (colour.c) ---- */

oz_v3 oz_sky(const oz_scene *s, oz_v3 d);
/* Linear light from a ray, in parts: base + key_weight * key + sky_weight * sky. key and sky come
 * from a few rays and are uneven from pixel to pixel; kept apart they can be smoothed without
 * touching colours and highlights. */
typedef struct oz_light {
  oz_v3 base, key_weight, key, sky_weight, sky;
  oz_v3 n; /* of the hit surface */
  float depth;
  uint32_t id; /* of the hit thing; 0: sky */
} oz_light;
/* sample numbers the ray within its pixel: its random choices follow from both. */
void oz_shade(const oz_scene *s, oz_v3 o, oz_v3 d, uint32_t pixel, uint32_t sample, oz_light *out);
oz_v3 oz_colour_linear(const float srgb[3]);
oz_v3 oz_colour_map(uint32_t map, float t); /* linear, t from 0 to 1 */
void oz_legend_draw(ooze_image *image, uint32_t map, const float range[2], const char *label);
#endif
