/* The records that a backend hands to the stages beside the particle arrays: colliders, wall
 * contacts, nozzles, materials, links and bodies, and the constants of each model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_RECORDS_H
#define OZ_PHYSICS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* ---- limits ---- */

#define OZ_PAD 16u /* particles; the widest vector */
/* particles that share one neighbour list on the GPU: one thread block */
#define OZ_SHARE 128u
/* A particle with fewer neighbours has no conformation constraint and flies freely
 * (docs/theory/velocity_projection.md). */
#define OZ_MIN_NEIGHBOURS 4
/* A row holds no more entries; only particles piled onto each other have more neighbours. */
#define OZ_MAX_NEIGHBOURS 240u
#define OZ_PLANES 3 /* walls that one particle can touch: the corner of a box */
#define OZ_COLLIDERS_MAX 1024u
#define OZ_REDUCTIONS 8 /* sums over all particles that one stage can deliver */
/* bit of a row's first entry on the CPU: the entries have 32 bits (physics/rows.h) */
#define OZ_WIDE 0x80000000u
#define OZ_NARROW 0x8000u /* index distances below this fit into 16 bits */
/* links of one particle; a new link is made only where neither row can overflow */
#define OZ_LINKS_MAX 512u

/* Values of one word of sixteen particles. */
typedef struct oz_block {
  float v[16];
} oz_block;

/* ---- walls ---- */

/* A collider. Transforms are rigid: world = q * local + p. */
typedef struct oz_collider {
  uint32_t shape, role, invert, wall_density; /* as in ooze.h */
  float half[3];                              /* m: half extents */
  float friction, stick;                      /* 0 to 1; m/s^2 */
  float temperature, contact;                 /* K; W/(m^2 K) */
  float p0[3], q0[4];                         /* pose at the start of the substep */
  float p1[3], q1[4];                         /* pose at the end of the substep */
  float voxel;                                /* m, SDF */
  uint32_t brick_first, brick_count;          /* range in brick_key / brick_values, sorted by key */
  uint32_t handle;                            /* boundary particles refer to it */
  /* fraction of the step that has passed at the start and at the end of the substep; only for
   * colliders with boundary particles */
  float f0, f1;
  float reach; /* m: fluid further than this from p1 cannot touch the collider; 0 for planes */

  /* Friction and stick map: values that differ from place to place, in bricks of their own. */
  float friction_map_voxel; /* m */
  /* range in friction_map_key / friction_map_values, sorted by key; count 0: no map */
  uint32_t friction_map_first, friction_map_count;
  /* friction of the substep from the given one: 1 - (1 - friction)^power */
  float friction_map_power;
} oz_collider;

/* The box of a collider's bricks, and its part of a table of places (oz_brick_find): a brick's
 * index
 * + 1, or 0 where there is none, z first. Of a collider's bricks the first one's box counts. Boxes
 * and places lie behind the keys, in one array, so that a frame has one address for all. */
typedef struct oz_brick_box {
  int32_t low[3];
  uint32_t size[3]; /* 0: mostly empty, and no table */
  uint32_t first;   /* of its places, in words from the first key */
  uint32_t unused;
} oz_brick_box;

/* floats of a brick: friction and stick of each voxel; a friction below 0 is unknown */
#define OZ_FRICTION_MAP_FLOATS 1024u

/* How a wall takes part in the velocity projection of one particle. */
enum {
  OZ_WALL_FREE = 0,
  OZ_WALL_HELD = 1,
  OZ_WALL_STUCK = 2,
  OZ_WALL_STANDS = 3,
  OZ_WALL_CLINGS = 4 /* thick fluid: held along the normal in both directions, slides freely */
};
#define OZ_WALL_BITS 3 /* of one plane, where several are packed into a word */
#define OZ_WALL_MASK 7u

/* A wall contact's plane: the wall as one particle sees it. */
typedef struct oz_wall {
  float n[3];        /* normal, out of the wall */
  float s;           /* m: distance of the particle's start position from the plane */
  float u[3];        /* m/s: velocity of the wall there */
  float friction;    /* 0 to 1 */
  float stick;       /* m/s^2 */
  uint32_t collider; /* index */
  uint32_t active;   /* OZ_WALL_*, written by wall_hold */
  uint32_t dense;    /* the wall counts in the density */
  float t[3];        /* m: tangential displacement that friction has already acted on */
  float took[3]; /* m: part of the last correction that wall_filter removed; wall_load adds it */
  /* factor on the tangential velocity relative to the wall, for the layer next to it; 1: no shear.
   * Written by wall_hold */
  float keep;
  float press; /* this wall's part of d grad C is -press n, written by wall_density */
} oz_wall;

/* Boundary particles that let a particle slip (wall_slip.h). One for each wall contact. */
typedef struct oz_wall_slip {
  float part;      /* 1 - friction; 0 where nothing slips */
  float across[6]; /* projector on the wall's normals */
  float held[6],
      free[6];           /* inverses of K with the points across the wall alone, and without them */
  float mean[3], sum[9]; /* m/s: mean motion of the points; sum of u_b ghat^T */
} oz_wall_slip;

/* A wall in the strain of a particle next to it (wall_row.h). */
typedef struct oz_wall_row {
  float w[3];     /* normal times the wall's share of the gradient along it */
  float b;        /* separation over the distance from the wall; 0: no row */
  float goal[3];  /* m/s: b times the wall's velocity */
  uint32_t plane; /* of the contact */
  float pull[3];  /* m: of the wall, by the multipliers sent last; times the inverse mass */
  float slides;   /* 1: tangential only; 0: it holds along the normal too */
  float sucks;    /* of a normal hold: the part of volume that is in it */
  float film;     /* 1 in a film of one or two layers, 0 in deep fluid */
  /* boundary particles in the same strain (wall_points.h): sums of the zero-energy weight, 0 where
   * there are none, and of ghat; factor of sliding, 1 in deep fluid; m/s: their motion at the
   * particle's place; m: their pull, as above; |B sum of ghat| */
  float points_c, points_g[3], points_film, points_u[3], points_pull[3], points_weight;
} oz_wall_row;

/* Load of one particle on the boundary particles near it, by collider (physics/load.h). One for
 * each wall contact. */
#define OZ_LOADS 4 /* colliders that one particle can load */
#define OZ_LOAD_SUMS 10

typedef struct oz_load {
  uint32_t count;
  uint32_t handle[OZ_LOADS];
  /* bits: groups of entries, in both parts of the density row, that hold boundary particles */
  uint32_t near[4];
  /* impulse (kg m/s) of this substep; sums of ghat (3), of c, of c y (3) over them */
  float sum[OZ_LOADS][OZ_LOAD_SUMS];
} oz_load;

/* ---- sources and materials ---- */

/* A nozzle. Fluid moves along -y of its frame and is held until it has passed y = 0. */
typedef struct oz_nozzle {
  uint32_t handle;    /* public handle; the particle field `source` refers to it */
  float p0[3], q0[4]; /* pose of the mouth at the start of the substep */
  float p1[3], q1[4]; /* pose of the mouth at the end of the substep */
  float speed;        /* m/s: of the flow within the nozzle */
  float shear_rate;   /* 1/s: mean of a tube's flow, which thinning fluid remembers */
  float disturbance;  /* m/s */
  uint32_t seed;
} oz_nozzle;

/* A material's values beyond those that each particle carries. */
#define OZ_RAMP_POINTS 8

/* Seconds that the strain of thick fluid is remembered at least (docs/theory/conformation.md). */
#define OZ_LEAST_MEMORY 0.002f
/* Floor of compliance where material remembers, and the relaxation time (s) from which on it is
 * the whole of it (docs/theory/conformation.md). */
#define OZ_STIFFEST_FLOOR 2e-3f
#define OZ_ELASTIC_TIME 0.02f

/* s: time over which viscosity is held against inertia at the scale of particles (oz_viscous_share)
 */
#define OZ_VISCOUS_TIME (1.0f / 240.0f)
/* body_sticks of the frame: body_stick leaves sums of weights alone, for body_coat */
#define OZ_BODY_WEIGHS 2u
/* has_memory of the frame */
enum {
  OZ_MEMORY_LEAST = 1, /* some material has a least memory */
  OZ_MEMORY_STRESS = 2 /* which is that of the last substep's stress (oz_stress_kept) */
};
/* s: decay of the stress that a substep of such fluid starts from
 * (docs/theory/velocity_projection.md) */
#define OZ_STRESS_TIME 0.06f

typedef struct oz_matter {
  float density; /* kg/m^3 at rest */
  /* s; 1/Pa; Pa s; K: of particles without a value of their own (fields.h) */
  float relaxation_time, compliance, viscosity, temperature;
  float thick;            /* Pa s: from this viscosity on there is a least memory */
  float yield_stress;     /* Pa; 0: none */
  float conductivity;     /* W/(m K); 0: none */
  float heat_share;       /* m^3 K/J: 1 / (density heat capacity) */
  float melting_point;    /* K; 0: does not melt */
  float melt_step;        /* K: latent heat over heat capacity */
  float film_coefficient; /* W/(m^2 K): of air at the free surface */
  float emissivity;       /* 0 to 1 */
  uint32_t ramp_count;
  float ramp[OZ_RAMP_POINTS][3]; /* K ascending, Pa s, s */
  float links_beta;              /* model links: lengthening of this material; 0: by temperature */
  float mixing;                  /* m^2/s */
  float surface_tension, cohesion, adhesion; /* N/m; Pa; weight of walls */
  /* laws of flow (law.h): Pa s; s; power; Yasuda's exponent; Pa s; Pa s^power */
  float solvent_viscosity, thinning_time, flow_index, thinning_sharpness, thinned_viscosity,
      consistency;
  float extensibility;                            /* greatest stretch; 0: none */
  float second_viscosity, second_relaxation_time; /* Pa s; s: second mode */
} oz_matter;

/* Laws of flow that some material has: bits of oz_frame.laws (law.h). */
enum { OZ_LAW_RATE = 1, OZ_LAW_EXTENDS = 2, OZ_LAW_SECOND = 4, OZ_LAW_SOLVENT = 8 };

/* step from one material to the next in a gather */
#define OZ_MATTER_FLOATS ((uint32_t)(sizeof(oz_matter) / sizeof(float)))

/* ---- links ---- */

/* One end's view of a link (physics/links.h). */
typedef struct oz_link {
  uint32_t j; /* the other end */
  float rest; /* m: rest length */
  uint32_t kind;
  float spare; /* for the model; 0 when the link is made */
} oz_link;

/* kinds, as in ooze.h; 0 is padding */
enum { OZ_LINK_HELD = 1, OZ_LINK_SPRING = 2, OZ_LINK_VISCOUS = 3, OZ_LINK_SOFT = 4 };

/* Rules by which a substep makes, keeps and drops links (physics/rules.h). NEAR is for tests: it
 * adds held links between all particles within h of each other and drops none. */
enum { OZ_RULE_NEAR = 0, OZ_RULE_SPRINGS = 1, OZ_RULE_LINKS = 2, OZ_RULE_SOFT = 3 };

/* Constants of the model links (physics/viscous.h). */
typedef struct oz_link_constants {
  float smooth, smooth_solid; /* epsilon of XSPH, towards fluid and towards solids */
  float stiffness;            /* s_v */
  float cohesion;             /* part of the pull that a density below rest keeps, 0 to 1 */
  float pressure, inv_q;      /* k_s h^2 / d^2 of (8); 1 / (h^2 - |q|^2), 1/m^2 */
  float slack;                /* alpha of (12) */
  float steps;                /* substep over the step that beta is given for */
  float beta_cold, beta_hot;  /* beta_a, beta_b */
  float cold, inv_range;      /* K, 1/K: T_a, 1 / (T_b - T_a) */
  float solid;                /* K: T_c */
  uint32_t unlike;            /* masses of particles differ */
} oz_link_constants;

/* Constants of the model springs (physics/springs.h). They include the substep's length, s = dt /
 * T.
 */
enum { OZ_SPRINGS_OFF = 0, OZ_SPRINGS_FLOW = 1, OZ_SPRINGS_HOLD = 2, OZ_SPRINGS_SET = 3 };

typedef struct oz_spring_constants {
  uint32_t mode;    /* OZ_SPRINGS_*: whether springs are made, kept, dropped */
  float inv_h;      /* 1/m */
  float k, k_near;  /* s^2 times the paper's: displacements over h */
  float rho0;       /* the paper's rest density */
  float inv_rho;    /* 1 / (density at rest, and 1 for the particle itself) */
  float elasticity; /* s^2 k_spring */
  float plastic_stretch, plastic_compress; /* s alpha, at most 1 */
  float yield_stretch, yield_compress;     /* gamma */
  float sigma;                             /* s sigma */
  float beta;                              /* s/m: s beta T / h */
  float stick;                             /* s^2 k_stick */
  float stick_distance;                    /* m */
} oz_spring_constants;

/* ---- bodies ---- */

/* Owner of a particle: a kind in the upper bits, the handle of the body or collider below. 0:
 * fluid, which has no owner. */
#define OZ_OWNER_SHIFT 28
#define OZ_OWNER_HANDLE 0x0fffffffu

enum { OZ_OWNER_RIGID = 1, OZ_OWNER_SOFT = 2, OZ_OWNER_BOUNDARY = 3 };

#define OZ_NO_MEMBER 0xffffffffu

/* A body. Its particles have the ids first_id to first_id + count - 1. Each has a member slot; the
 * index of the member's particle is looked up in every substep, after sorting. Bodies are in
 * ascending order of their handles. */
typedef struct oz_body {
  uint32_t handle, kind;
  uint64_t first_id;
  uint32_t first, count; /* member slots */
  float friction;        /* Coulomb's, in contact with bodies, walls and fluid that sticks */
  float stick;           /* m/s^2: pull up to which fluid is held; 0: none */
  /* A driven body's poses at the start and the end of the substep. Its held particles follow them:
   * those whose squared distance from the origin of the body's frame is at most held2 (m^2); of a
   * rigid body all. */
  uint32_t driven;
  float held2;
  float p0[3], q0[4], p1[3], q1[4];
  float step_start[7], step_end[7]; /* position and rotation, of the whole step (core/bodies.c) */
  /* soft bodies only (physics/soft.h) */
  /* Pa: 1 / stretch compliance; 1 / volume compliance, 0: the volume is free */
  float young, bulk;
  float damping; /* s */
  /* a link longer than 1 + strain of its rest length is dropped; 0: links are never dropped */
  float strain;
  /* 1/(Pa s^2): greatest eigenvalues of M^-1 K at rest, for a modulus of 1 Pa */
  float stretch_bound, volume_bound;
} oz_body;

/* factor on the volume constraint's bound, for neighbours whose gradients are larger */
#define OZ_SOFT_SPREAD 1.3f

/* Constants of the iteration that moves soft bodies. */
typedef struct oz_soft_constants {
  float most;    /* greatest eigenvalue of dt (dt + damping) M^-1 K */
  float step;    /* 1 / the middle of the spectrum */
  float omega;   /* Chebyshev's, of this iteration */
  uint32_t turn; /* number of this iteration */
} oz_soft_constants;

/* State of a rigid body within a substep, derived from its particles. */
typedef struct oz_body_state {
  double mass;                   /* kg */
  double rest_centre[3];         /* m: centre of mass in the body's own frame */
  double c0[3], q0[4];           /* centre of mass and rotation (x y z w) at the substep's start */
  double inertia[6], inverse[6]; /* kg m^2 about c0, in the orientation of the start */
  double c[3], q[4];             /* the same, current */
  /* translation and rotation: m and rad, or m/s and rad/s, by stage */
  double v[3], w[3];
  double contacts; /* contacts that share the load */
  /* live: 1 for a rigid body with mass. The other members are undefined for a soft body. */
  uint32_t live, spare;
} oz_body_state;

/* ---- scalars ---- */

/* Places of the scalars that stay with the backend between stages. */
enum {
  OZ_SCALAR_SUM = 0,
  OZ_SCALAR_RZ = OZ_REDUCTIONS,
  OZ_SCALAR_RZ0,
  OZ_SCALAR_ALPHA,
  OZ_SCALAR_BETA,
  OZ_SCALAR_COUNT = 16
};

/* r.z of conjugate gradients after a step of alpha, from the sums of cg_apply. Rounding may take it
 * below 0. */
#define OZ_CG_NEXT(sum, alpha) ((sum)[1] + (alpha) * ((alpha) * (sum)[3] - 2.0 * (sum)[2]))

/* ---- constants of models and forces ---- */

typedef struct oz_blend {
  float alpha;        /* 0 shape matching to 1 SPH */
  float k;            /* m^2/s^2: pressure over density */
  float most_viscous; /* Pa s: stability limit of an explicit step */
  float pull;         /* 1/s: velocity a metre from the goal position, dt / dt0^2 */
} oz_blend;

typedef struct oz_cauchy {
  uint32_t stress;    /* as in ooze.h */
  float n0;           /* number density of the lattice: sum of w = h / r - 1 */
  float lambda;       /* m^2: mean square distance by weight */
  float shear;        /* Pa: elastic shear modulus E / (2 (1 + nu)) */
  float young, omega; /* Pa; rad/s */
  float most_viscous; /* Pa s: stability limit of an explicit step */
  /* N/m^2: of (14), between fluid particles; and its part towards solid ones */
  float pair, wetting;
  float density_pull; /* part of a density error that one substep removes */
} oz_cauchy;

/* Constants of surface tension and cohesion (physics/tension.h). */
#define OZ_TENSION_SHARE 0.53f /* measured: physics/tension.h */

/* Stability limit of sigma dt^2 / m: in models without a velocity projection, and with one, where
 * it grows with the viscous number n = mu dt / (rho d^2): the viscous solve damps motion that
 * tension excites at the scale of a particle (docs/theory/tension.md). */
#define OZ_TENSION_MOST 0.3f
#define OZ_TENSION_BEARS(n) (0.7f + (n) / (1.0f + (n) * (1.0f / 7.0f)))

typedef struct oz_tension {
  float per_sigma, per_pascal; /* k dt^2 / (m_ref d^2) of 1 N/m, of 1 Pa: a pure number */
  float layers;                /* omega k of sigma dt^2 / m = 1 */
  uint32_t damped;             /* velocities are projected: viscosity counts in the limit */
} oz_tension;

/* Least relative motion, in h, that lets a pair into the density rows although it was further apart
 * than h at the start of the substep. A pair that moved less overlaps by less than 0.1 h: its
 * weight is below (1 - 0.9^2)^3 = 0.7% of a particle's own, 1e-3 of the density at most and mostly
 * 1e-5, and the next substep has it in the start neighbour list. Most pairs that cross h in a
 * substep are of this kind, so that a search can skip regions where all motion is small. The
 * criterion is symmetric, so momentum is kept. */
#define OZ_MIN_APPROACH 0.1f

/* Relaxation factor of sweep k of n of the rest filter (filter.h), and of the wall drag that goes
 * with it. Three sweeps of 0.8 (docs/theory/rest_filter.md) leave (1 - 0.8 l)^3 of a mode of
 * eigenvalue l; two sweeps with w1 + w2 = 2.4 do the same to smooth motion, 1 - 2.4 l. Jitter has
 * l >= 0.5, and the greatest l that power iteration found is 1.29 (columns at rest, drops,
 * splashes, streams, slumped pastes, fluids of 1:100 in mass). In that range this pair leaves at
 * most 0.13, within 0.01 of the best pair; three sweeps leave 0.22. The pair would amplify from 2.4
 * / (w1 w2) = 1.82 on, a single sweep of the larger factor from 1.29. The larger factor goes first,
 * because the second sweep then also damps the jitter that the wall drag has caused. */
#define OZ_FILTER_SWEEP 0.8f
#define OZ_FILTER_FACTOR(k, n) ((n) != 2 ? OZ_FILTER_SWEEP : (k) == 0 ? 1.55f : 0.85f)

#endif
