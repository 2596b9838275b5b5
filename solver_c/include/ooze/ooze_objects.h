/* Colliders, bodies and emitters. A part of ooze.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_OBJECTS_H
#define OOZE_OBJECTS_H

#include "ooze/ooze_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Colliders --------------------------------------------------------------------------- */

enum {
  OOZE_SHAPE_PLANE = 0,    /* the half-space below y = 0 is solid */
  OOZE_SHAPE_SPHERE = 1,   /* half[0] is the radius */
  OOZE_SHAPE_BOX = 2,      /* half extents in half[0..2] */
  OOZE_SHAPE_CAPSULE = 3,  /* along y: radius half[0], half length of the axis half[1] */
  OOZE_SHAPE_CYLINDER = 4, /* along y: radius half[0], half height half[1] */
  OOZE_SHAPE_SDF = 5       /* 8x8x8 bricks */
};
/* How fluid meets a collider. SDF: contact with its surface, with friction and stick. PARTICLES:
 * points of its surface are in the fluid's density and viscosity sums and hold it off. With
 * friction 1 they hold fluid as its viscosity does; with less it slips along them, with 0 freely
 * (models conformation and links). stick needs a surface, which a sheet of points has not. Thin and
 * open sheets and meshes that deform need them. The model blend knows contact alone. */
enum { OOZE_BOUNDARY_SDF = 0, OOZE_BOUNDARY_PARTICLES = 1 };
enum { OOZE_ROLE_COLLIDE = 0, OOZE_ROLE_KILL = 1 }; /* KILL removes particles that enter */

typedef struct ooze_pose {
  float position[3]; /* m */
  float rotation[4]; /* quaternion x y z w; need not be of unit length */
} ooze_pose;

/* Signed distance, negative inside, in bricks of 8x8x8 samples (an OpenVDB leaf): sample (x, y, z)
 * of a brick stands at voxel * (origin + (x, y, z)) in the collider's space; values[z + 8 * (y + 8
 * * x)]. */
typedef struct ooze_sdf_brick {
  int32_t origin[3]; /* voxels, multiples of 8 */
  float values[512]; /* m */
} ooze_sdf_brick;

typedef struct ooze_collider_desc {
  uint32_t size;
  uint32_t shape;  /* OOZE_SHAPE_*. Default PLANE. */
  uint32_t role;   /* OOZE_ROLE_*. Default COLLIDE. */
  uint32_t invert; /* 1: solid outside, so that a box is a container. Default 0. */
  float half[3];   /* m, see the shapes. Default 0.5 0.5 0.5. */
  ooze_pose start; /* at the beginning of the next ooze_step */
  ooze_pose end;   /* at its end; the next step starts from here unless updated */
  float friction;  /* 0 slides freely, 1 holds fully; independent of viscosity. Default 1. */
  /* m/s^2: pull away from the wall up to this acceleration is held. Default 0. */
  float stick;
  float temperature;     /* K, of the wall, where materials conduct heat. Default 293.15. */
  uint32_t wall_density; /* 1: counts in the density near it. Default 1. */
  float voxel;           /* m, SDF only */
  uint32_t brick_count;
  const ooze_sdf_brick *bricks; /* SDF only; copied */
  /* W/(m^2 K): how well heat passes between wall and fluid; 0 insulates. Default 1e6. */
  float contact;
  uint32_t boundary; /* OOZE_BOUNDARY_*. Default SDF. */
} ooze_collider_desc;

typedef uint32_t ooze_collider; /* 0 is none */
OOZE_API ooze_result ooze_collider_add(ooze_solver *s, const ooze_collider_desc *desc,
                                       ooze_collider *out);
OOZE_API ooze_result ooze_collider_move(ooze_solver *s, ooze_collider collider,
                                        const ooze_pose *start, const ooze_pose *end);
OOZE_API ooze_result ooze_collider_set(ooze_solver *s, ooze_collider collider,
                                       const ooze_collider_desc *desc);
/* As it was given last, `end` where it is between steps; bricks is NULL. */
OOZE_API ooze_result ooze_collider_get(const ooze_solver *s, ooze_collider collider,
                                       ooze_collider_desc *out);
OOZE_API ooze_result ooze_collider_remove(ooze_solver *s, ooze_collider collider);
/* Points for a collider with a boundary of particles, 3 floats each, m, in its frame, about one
 * separation apart: at the beginning of the next ooze_step and, for a mesh that deforms, at its end
 * (NULL: they stay). The fluid keeps a little more than one separation off a single sheet of them.
 * Without this call a plane (a patch of half[0] by half[2]), sphere, box, capsule or cylinder is
 * sampled by itself, half a separation inside; an SDF needs it. Where the surface is known too, it
 * guards the points: nothing gets past it. count 0 takes the points back. They are no particles to
 * the host: they have no rank and no id, and are not in the state hash. */
OOZE_API ooze_result ooze_collider_points(ooze_solver *s, ooze_collider collider, uint32_t count,
                                          const float *start, const float *end);
/* Friction and stick that differ from place to place on a collider, in place of its own: `count`
 * places on its surface, 3 floats each, m, in its frame, about `spacing` apart and no further
 * (ooze_mesh_sample finds such places on a mesh). Fluid at it takes those of the places around,
 * contact and boundary particles alike. friction or stick NULL: the collider's own. They stay until
 * they are given anew; count 0 takes them back. */
OOZE_API ooze_result ooze_collider_friction_map(ooze_solver *s, ooze_collider collider,
                                                float spacing, uint32_t count,
                                                const float *positions, const float *friction,
                                                const float *stick);
/* Mean force (N) and torque about its position (N m) that the fluid put on it, on its surface and
 * on its boundary particles, during the last ooze_step. (The smoothing of velocities at boundary
 * particles by the models links and springs is not in it.) */
OOZE_API ooze_result ooze_collider_load(const ooze_solver *s, ooze_collider collider,
                                        float force[3], float torque[3]);
/* on 0: the next steps add up no loads, and ooze_collider_load is refused; 1 adds them up again. It
 * changes nothing else, not a bit; with boundary particles it saves up to a tenth of a step. A new
 * solver adds them up; checkpoints do not tell. */
OOZE_API ooze_result ooze_collider_loads(ooze_solver *s, uint32_t on);

/* ---- Bodies ------------------------------------------------------------------------------ */

enum { OOZE_BODY_RIGID = 0, OOZE_BODY_SOFT = 1 };

/* A body is made of particles that belong to it (OOZE_OWNER) and know their place in it
 * (OOZE_REST). They are in the same density and viscosity sums as the fluid, so that it floats,
 * sinks, drags and is dragged by the volume of its points: points at the particle separation,
 * throughout its inside. Its mass is that of its particles. All state of a body is in its
 * particles: writing their attributes moves it.
 * A rigid body keeps its shape. A soft one has links (OOZE_LINK_SOFT) between points up to 1.8
 * separations apart, which resist stretch, and keeps the volume around each point; its links are
 * state too. */
typedef struct ooze_body_desc {
  uint32_t size;
  uint32_t kind; /* OOZE_BODY_*. Default RIGID. */
  /* index: of its particles; its density counts. Default 0. */
  uint32_t material;
  /* Coulomb's coefficient, times the wall's or the other body's. Default 0.5. */
  float friction;
  ooze_pose pose;    /* of the body's frame */
  float velocity[3]; /* m/s, of its centre of mass */
  float spin[3];     /* rad/s, about its centre of mass */
  uint32_t count;    /* points */
  /* 1: its particles get the ids from first_id on, which must be free. Default 0. */
  uint32_t has_first_id;
  uint64_t first_id;
  /* 3 floats each, m, in the body's frame; required, and not all on one line */
  const void *positions;
  size_t position_stride; /* bytes; 0: tightly packed */
  /* soft bodies */
  /* 1/Pa, 0 or more: 1 over Young's modulus of its links; 0: as stiff as the substep bears. Default
   * 1e-4. */
  float stretch_compliance;
  /* 1/Pa, 0 or more: 1 over its bulk modulus, beside the resistance of its links. Default 5e-5. */
  float volume_compliance;
  uint32_t keep_volume; /* 0: links alone hold it. Default 1. */
  /* s, 0 or more: time by which strain rate adds to strain in all its forces. Default 0. */
  float damping;
  /* a link is lost for good when longer than 1 + this of its length; 0: never. Default 0. */
  float strain_limit;
  /* m/s^2: fluid that touches it is held against a pull of up to this acceleration, and against
   * sliding of up to friction times that. Default 0. */
  float stick;
  /* soft bodies that ooze_body_drive moves: share of its particles, those nearest to the origin of
   * its frame, that follow the poses. Default 0.3. */
  float held;
} ooze_body_desc;

typedef struct ooze_body_state {
  uint32_t size;
  uint32_t particles; /* that are left of it */
  ooze_pose pose;     /* of the body's frame now: the best fit of its particles' rest places */
  float velocity[3];  /* m/s, of its centre of mass */
  float spin[3];      /* rad/s */
  float centre[3];    /* m: of mass */
  float mass;         /* kg */
  float inertia[6];   /* kg m^2 about the centre, in world axes: xx yy zz xy xz yz */
  uint64_t first_id;  /* of its particles */
} ooze_body_state;

typedef uint32_t ooze_body; /* 0 is none */
OOZE_API ooze_result ooze_body_add(ooze_solver *s, const ooze_body_desc *desc, ooze_body *out);
OOZE_API ooze_result ooze_body_remove(ooze_solver *s, ooze_body body); /* and its particles */
OOZE_API ooze_result ooze_body_state_get(ooze_solver *s, ooze_body body, ooze_body_state *out);
/* The body follows these poses of its frame, evenly during the next ooze_step, and stays at `end`
 * until it is called again: a rigid one as a whole, a soft one by the particles that are held. It
 * pushes fluid and other bodies and is not pushed itself. Both NULL: it is let go, and flies on
 * with the velocity that it has. */
OOZE_API ooze_result ooze_body_drive(ooze_solver *s, ooze_body body, const ooze_pose *start,
                                     const ooze_pose *end);
OOZE_API uint32_t ooze_body_count(const ooze_solver *s);
/* handles in ascending order; 0 past the end */
OOZE_API ooze_body ooze_body_at(const ooze_solver *s, uint32_t index);

/* ---- Emitters ---------------------------------------------------------------------------- */

enum {
  OOZE_LAYOUT_AUTO = 0,
  OOZE_LAYOUT_BCT = 1,
  OOZE_LAYOUT_SUNFLOWER = 2,
  OOZE_LAYOUT_RELAXED = 3
};
/* Outlines of a mouth, within its radius: a star with outline_points tips and inner corners at
 * outline_inner radii; a slot of half width outline_inner radii along its x axis; a ring with a
 * hole of outline_inner radii; a regular polygon of outline_points sides, or the one of `corners`.
 */
enum {
  OOZE_OUTLINE_ROUND = 0,
  OOZE_OUTLINE_STAR = 1,
  OOZE_OUTLINE_SLOT = 2,
  OOZE_OUTLINE_RING = 3,
  OOZE_OUTLINE_POLYGON = 4
};
enum { OOZE_OUTLINE_CORNERS = 32 };

/* A nozzle that pushes fluid along its -y axis at `speed`; births fall anywhere within a
 * substep. From `from` to `until` fluid passes the mouth, so that `rate` times their difference is
 * the volume; particles are born within that span alone. */
typedef struct ooze_emitter_desc {
  uint32_t size;
  /* OOZE_LAYOUT_*: how the cross-section is filled. AUTO: RELAXED. Other outlines than
   * round are always RELAXED. */
  uint32_t layout;
  uint32_t material; /* index. Default 0. */
  uint32_t active;   /* 0 or 1. Default 1. */
  float radius;      /* m, above 0. Default 0.01. */
  float speed;       /* m/s, above 0. Default 0.5. */
  ooze_pose start;   /* of the nozzle's mouth, at the beginning of the next ooze_step */
  ooze_pose end;
  /* m/s: random sideways speed given at the mouth, to break symmetry. Default 0. */
  float disturbance;
  uint32_t seed;           /* Default 0. */
  uint32_t layers;         /* layers held inside the nozzle behind the mouth. Default 3. */
  uint64_t max_particles;  /* stop after so many; 0: no limit. Default 0. */
  uint32_t outline;        /* OOZE_OUTLINE_*. Default ROUND. */
  float outline_inner;     /* 0.05 to 0.95 radii. Default 0.5. */
  uint32_t outline_points; /* 3 to 16. Default 6. */
  float rate;              /* m^3/s; above 0 it gives the speed, by the area. Default 0. */
  uint32_t corner_count;   /* 0, or 3 to OOZE_OUTLINE_CORNERS */
  /* x and z of each in radii, -1 to 1, in turn */
  float corners[2 * OOZE_OUTLINE_CORNERS];
  float from;  /* s of ooze_time, 0 to 1e9: it begins to pour, its nozzle full. Default 0. */
  float until; /* s of ooze_time, above `from`: it stops; 0: never. Default 0. */
} ooze_emitter_desc;

typedef uint32_t ooze_emitter; /* 0 is none */
OOZE_API ooze_result ooze_emitter_add(ooze_solver *s, const ooze_emitter_desc *desc,
                                      ooze_emitter *out);
OOZE_API ooze_result ooze_emitter_set(ooze_solver *s, ooze_emitter emitter,
                                      const ooze_emitter_desc *desc);
/* As it was given last, `end` where it is between steps. */
OOZE_API ooze_result ooze_emitter_get(const ooze_solver *s, ooze_emitter emitter,
                                      ooze_emitter_desc *out);
/* m^2 of its mouth */
OOZE_API double ooze_emitter_area(const ooze_emitter_desc *desc);
OOZE_API ooze_result ooze_emitter_remove(ooze_solver *s, ooze_emitter emitter);
/* Sets the emitter of that handle, or adds it under it: for hosts that keep handles with their
 * particles. */
OOZE_API ooze_result ooze_emitter_put(ooze_solver *s, ooze_emitter emitter,
                                      const ooze_emitter_desc *desc);

/* ---- Defaults ---------------------------------------------------------------------------- */

static inline void ooze_pose_default(ooze_pose *p) {
  memset(p, 0, sizeof *p);
  p->rotation[3] = 1.0f;
}
static inline void ooze_collider_desc_default(ooze_collider_desc *c) {
  OOZE_CLEAR(c);
  c->half[0] = c->half[1] = c->half[2] = 0.5f;
  ooze_pose_default(&c->start);
  ooze_pose_default(&c->end);
  c->friction = 1.0f;
  c->temperature = 293.15f;
  c->contact = 1e6f;
  c->wall_density = 1;
}
static inline void ooze_emitter_desc_default(ooze_emitter_desc *e) {
  OOZE_CLEAR(e);
  e->active = 1;
  e->radius = 0.01f;
  e->speed = 0.5f;
  ooze_pose_default(&e->start);
  ooze_pose_default(&e->end);
  e->layers = 3;
  e->outline_inner = 0.5f;
  e->outline_points = 6;
}
static inline void ooze_body_desc_default(ooze_body_desc *b) {
  OOZE_CLEAR(b);
  b->friction = 0.5f;
  ooze_pose_default(&b->pose);
  b->stretch_compliance = 1e-4f;
  b->volume_compliance = 5e-5f;
  b->keep_volume = 1;
  b->held = 0.3f;
}
static inline void ooze_body_state_default(ooze_body_state *b) { OOZE_CLEAR(b); }

#ifdef __cplusplus
}
#endif
#endif
