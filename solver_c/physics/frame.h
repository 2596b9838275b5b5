/* The view of the simulation that every stage gets: constants of this substep, and where the arrays
 * are. Passed by value to the GPU. Particle arrays are in the backend's own order (space-filling
 * curve) and padded to 16 items, so that a vector may run past `count`; what is written there is
 * never used.
 *
 * Layouts.  "record n": n floats a particle, 16-byte aligned, for what is gathered from neighbours.
 *           "planes n": n arrays of `stride` floats one behind the other, for what is read particle
 * by particle. "blocks n": the same for the arrays that a substep works with most: on the CPU n
 * times sixteen floats for every sixteen particles, on the GPU n times OZ_SHARE. A type of its own,
 * reached by oz_block* of pairs.h alone. "sixes":    blocks 6 on the CPU, on the GPU 16 bytes a
 * particle (pairs.h). Lengths are scaled by d and masses by m_ref, so that multipliers, compliances
 * and gradients are pure numbers: ghat_ij = V0 d grad W_ij        (pure number; on the CPU its size
 * over the distance is stored, in half precision) a       = alpha m_ref d^2 / (V0 dt^2) dx_i    =
 * -d omega_i sum_j (Lh_i + Lh_j) ghat_ij,   omega_i = m_ref / m_i m_ref is the mass of a particle
 * of 1000 kg/m^3. */
#ifndef OZ_PHYSICS_FRAME_H
#define OZ_PHYSICS_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define OZ_PAD 16u /* particles; the widest vector */
/* particles that share a list of neighbours on the GPU: one block of threads */
#define OZ_SHARE 128u
/* fewer: no conformation constraint, the particle is ballistic (NUMERICS.md 3.1) */
#define OZ_MIN_NEIGHBOURS 4
/* more are left out: only reached when particles are piled onto each other */
#define OZ_MAX_NEIGHBOURS 240u
#define OZ_PLANES 3 /* walls that one particle can touch: a corner of a box */
#define OZ_COLLIDERS_MAX 1024u
#define OZ_REDUCTIONS 8 /* sums that one stage can deliver */
/* in starts of rows on the CPU: entries of 32 bits (physics/rows.h) */
#define OZ_WIDE 0x80000000u
#define OZ_NARROW 0x8000u /* distances below this go into 16 bits */
/* links of one particle; new ones are made only where its row cannot overflow */
#define OZ_LINKS_MAX 512u

/* Sixteen particles' values of one word. */
typedef struct oz_block {
  float v[16];
} oz_block;

/* What a collider is to the physics. Transforms are rigid: world = q * local + p. */
typedef struct oz_collider {
  uint32_t shape, role, invert, wall_density; /* as in ooze.h */
  float half[3];
  float friction, stick;
  float temperature, contact;        /* K; W/(m^2 K) */
  float p0[3], q0[4];                /* pose at the start of the substep */
  float p1[3], q1[4];                /* and at its end */
  float voxel;                       /* m, SDF */
  uint32_t brick_first, brick_count; /* range in sdf_origin / sdf_values, sorted by key */
  uint32_t handle;                   /* boundary particles refer to it */
  /* part of the step that is over at the start of the substep, and at its end; of colliders with
   * boundary particles */
  float f0, f1;
  float reach; /* m: no fluid further than this from p1 can touch it; 0 for planes */
  /* m: friction and stick that differ from place to place, in bricks of their own; */
  float friction_map_voxel;
  /* range in friction_map_key / friction_map_values, sorted by key; none: friction and stick as
   * above */
  uint32_t friction_map_first, friction_map_count;
  float friction_map_power; /* friction as given to that of the substep: 1 - (1 - friction)^power */
} oz_collider;
/* of a brick: friction and stick of each voxel; friction below 0: not known there */
#define OZ_FRICTION_MAP_FLOATS 1024u

/* A wall as one particle sees it: a plane through its neighbourhood. */
enum { OZ_WALL_FREE = 0, OZ_WALL_HELD = 1, OZ_WALL_STUCK = 2, OZ_WALL_STANDS = 3 };
typedef struct oz_wall {
  float n[3];        /* out of the wall */
  float s;           /* m: distance of the particle's start position from it */
  float u[3];        /* m/s: the wall's velocity there */
  float friction;    /* 0 to 1 */
  float stick;       /* m/s^2 */
  uint32_t collider; /* index */
  uint32_t active;   /* takes part in the velocity projection: 0, or how */
  uint32_t dense;    /* counts in the density */
  /* m: tangential displacement that friction has already acted on in this substep */
  float t[3];
  float took[3]; /* m: what wall_filter took of the last correction; wall_load adds it up */
  /* of the tangential velocity relative to the wall, for the layer next to it; 1: no shear, written
   * by wall_hold */
  float keep;
  float press; /* this wall's part of d grad C is -press n, written by wall_density */
} oz_wall;

/* What a particle puts on the boundary particles near it, by collider (physics/load.h). One for
 * each wall slot. */
#define OZ_LOADS 4 /* colliders that one particle can touch so */
#define OZ_LOAD_SUMS 10
typedef struct oz_load {
  uint32_t count;
  uint32_t handle[OZ_LOADS];
  /* bits: which groups of both parts of its density row hold boundary particles */
  uint32_t near[4];
  /* impulse (kg m/s) of this substep; sums of ghat (3), of c, of c y (3) over them */
  float sum[OZ_LOADS][OZ_LOAD_SUMS];
} oz_load;

/* What a nozzle is to the physics: fluid moves along -y of its frame and is held until it has
 * passed y = 0. */
typedef struct oz_nozzle {
  uint32_t handle;    /* public handle; particle.source refers to it */
  float p0[3], q0[4]; /* pose of the mouth at the start of the substep */
  float p1[3], q1[4]; /* and at its end */
  float speed;        /* m/s: of the flow within the nozzle */
  float disturbance;  /* m/s */
  uint32_t seed;
} oz_nozzle;

/* What the physics knows of a material beyond the values that each particle carries. One record a
 * material. */
#define OZ_RAMP_POINTS 8
typedef struct oz_matter {
  float density; /* kg/m^3 at rest */
  /* s; 1/Pa; Pa s; K: of particles that have none of their own (fields.h) */
  float relaxation_time, compliance, viscosity, temperature;
  float yield_stress;  /* Pa; 0: none */
  float conductivity;  /* W/(m K); 0: none */
  float heat_share;    /* m^3 K/J: 1 / (density heat capacity) */
  float melting_point; /* K; 0: does not melt */
  float melt_step;     /* K: latent heat over heat capacity */
  uint32_t ramp_count;
  float ramp[OZ_RAMP_POINTS][3]; /* K ascending, Pa s, s */
  float links_beta;              /* model links: lengthening of this material; 0: by temperature */
  float mixing;                  /* m^2/s */
  float surface_tension, cohesion, adhesion; /* N/m; Pa; how much walls count */
} oz_matter;
/* step from one to the next in a gather */
#define OZ_MATTER_FLOATS ((uint32_t)(sizeof(oz_matter) / sizeof(float)))

/* One end's view of a link (physics/links.h). */
typedef struct oz_link {
  uint32_t j; /* the other end */
  float rest; /* m: rest length */
  uint32_t kind;
  float spare; /* for the model; 0 when made */
} oz_link;
/* kinds, as in ooze.h; 0 is padding */
enum { OZ_LINK_HELD = 1, OZ_LINK_SPRING = 2, OZ_LINK_VISCOUS = 3, OZ_LINK_SOFT = 4 };
/* What becomes of links in a substep (physics/rules.h). NEAR only adds held ones between all that
 * are within h; for tests. */
enum { OZ_RULE_NEAR = 0, OZ_RULE_SPRINGS = 1, OZ_RULE_LINKS = 2, OZ_RULE_SOFT = 3 };

/* Constants of the model links (physics/viscous.h). */
typedef struct oz_link_constants {
  float smooth, smooth_solid; /* epsilon of XSPH, towards fluid and towards solids */
  float stiffness;            /* s_v */
  float cohesion;             /* of a density below rest, 0 to 1 */
  float pressure, inv_q;      /* k_s h^2 / d^2 of (8); 1 / (h^2 - |q|^2), 1/m^2 */
  float slack;                /* alpha of (12) */
  float steps;                /* substep over the step that beta is given for */
  float beta_cold, beta_hot;  /* beta_a, beta_b */
  float cold, inv_range;      /* K, 1/K: T_a, 1 / (T_b - T_a) */
  float solid;                /* K: T_c */
} oz_link_constants;

/* Constants of the model springs (physics/springs.h), with the substep's length in them: s = dt /
 * T. */
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

/* Who owns a particle: a kind in the upper bits, the handle of the body or collider below. 0:
 * nobody, it is fluid. */
#define OZ_OWNER_SHIFT 28
#define OZ_OWNER_HANDLE 0x0fffffffu
enum { OZ_OWNER_RIGID = 1, OZ_OWNER_SOFT = 2, OZ_OWNER_BOUNDARY = 3 };
#define OZ_NO_MEMBER 0xffffffffu

/* What a body is to the physics. Its particles have the ids first_id to first_id + count - 1; each
 * has a slot, in which the place of the particle in the arrays is looked up anew every substep.
 * Bodies are in ascending order of their handles. */
typedef struct oz_body {
  uint32_t handle, kind;
  uint64_t first_id;
  uint32_t first, count; /* slots */
  float friction;        /* Coulomb's, in contact with bodies and walls */
  /* soft ones (physics/soft.h) */
  /* Pa: 1 / stretch compliance; 1 / volume compliance, 0: volume is not kept */
  float young, bulk;
  float damping; /* s */
  /* a link longer than 1 + strain of its rest length is dropped; 0: none is */
  float strain;
  /* 1/(Pa s^2): greatest eigenvalues of M^-1 K at rest, for a modulus of 1 Pa */
  float stretch_bound, volume_bound;
} oz_body;
/* of the volume constraint's bound, for neighbours whose gradients are larger */
#define OZ_SOFT_SPREAD 1.3f
/* Of the iteration that moves soft bodies. */
typedef struct oz_soft_constants {
  float most;    /* greatest eigenvalue of dt (dt + damping) M^-1 K */
  float step;    /* over the middle of the spectrum */
  float omega;   /* Chebyshev's, of this iteration */
  uint32_t turn; /* number of this iteration */
} oz_soft_constants;
/* What follows from its particles within a substep. */
typedef struct oz_body_state {
  double mass;                   /* kg */
  double rest_centre[3];         /* m: centre of mass in the body's own frame */
  double c0[3], q0[4];           /* centre of mass and turn (x y z w) at the start of the substep */
  double inertia[6], inverse[6]; /* kg m^2 about c0, as it is turned at the start */
  double c[3], q[4];             /* and now */
  /* translation and turn: m and rad, or those over s, as the stage needs them */
  double v[3], w[3];
  double contacts;      /* that share the load */
  uint32_t live, spare; /* 1: rigid, and has mass. The rest says nothing of a soft one. */
} oz_body_state;

/* Slots of the scalars that stay with the backend between stages. */
enum {
  OZ_SCALAR_SUM = 0,
  OZ_SCALAR_RZ = OZ_REDUCTIONS,
  OZ_SCALAR_RZ0,
  OZ_SCALAR_ALPHA,
  OZ_SCALAR_BETA,
  OZ_SCALAR_COUNT = 16
};

/* r.z of conjugate gradients after a step of alpha, by the sums of cg_apply. Rounding may take it
 * below 0. */
#define OZ_CG_NEXT(sum, alpha) ((sum)[1] + (alpha) * ((alpha) * (sum)[3] - 2.0 * (sum)[2]))

/* Constants of the models that have their own. */
typedef struct oz_blend {
  float alpha;        /* 0 shape matching to 1 SPH */
  float k;            /* m^2/s^2: pressure over density */
  float most_viscous; /* Pa s: what an explicit step bears */
  float pull;         /* 1/s: velocity a metre from the goal position, dt / dt0^2 */
} oz_blend;
typedef struct oz_cauchy {
  uint32_t stress;    /* as in ooze.h */
  float n0;           /* number density of the lattice: sum of w = h / r - 1 */
  float lambda;       /* m^2: mean square distance by weight */
  float shear;        /* Pa: elastic shear modulus E / (2 (1 + nu)) */
  float young, omega; /* Pa; rad/s */
  float most_viscous; /* Pa s: what an explicit step bears */
  /* N/m^2: of (14), between fluid particles; and its part towards solid ones */
  float pair, wetting;
  float density_pull; /* part of a density error that one substep takes away */
} oz_cauchy;

/* Constants of surface tension and cohesion (physics/tension.h). */
#define OZ_TENSION_SHARE 0.36f /* measured: physics/tension.h */
typedef struct oz_tension {
  float per_sigma, per_pascal; /* k dt^2 / (m_ref d^2) of 1 N/m, of 1 Pa: a pure number */
  float most;                  /* what a substep bears of it, over omega */
} oz_tension;

/* Of h: pairs that were further apart than h at the start of a substep, come within it and have
 * moved by less than this relative to each other are left out of the density rows. They overlap by
 * less than 0.1 h, so their weight is below (1 - 0.9^2)^3 = 0.7% of a particle's own, 1e-3 of the
 * density at the very most and 1e-5 mostly; the next substep has them in list C. Most of what
 * crosses h in a substep is of that kind, and where nothing else can be, nobody need look. The same
 * from either end, so momentum is kept. */
#define OZ_MIN_APPROACH 0.1f

/* Relaxation factor of sweep k of n of the rest filter (filter.h), and of the wall drag that goes
 * with it. Three sweeps of 0.8 (NUMERICS.md part 3) leave (1 - 0.8 l)^3 of a mode of eigenvalue l;
 * two with w1 + w2 = 2.4 do the same to smooth motion, 1 - 2.4 l. Jitter has l from 0.5 on, and the
 * greatest that power iteration found is 1.29 (columns at rest, drops, splashes, streams, slumped
 * pastes, fluids of 1:100 in mass). There this pair leaves at most 0.13, within 0.01 of the best
 * pair; three sweeps 0.22. It would amplify from 2.4 / (w1 w2) = 1.82 on, a single sweep of the
 * larger one from 1.29. The larger one goes first: the other then calms what the walls' drag has
 * stirred up. */
#define OZ_FILTER_SWEEP 0.8f
#define OZ_FILTER_FACTOR(k, n) ((n) != 2 ? OZ_FILTER_SWEEP : (k) == 0 ? 1.55f : 0.85f)

typedef struct oz_frame {
  uint32_t count; /* particles */
  /* those that a backend has sorted in front of boundary particles; count where it does not sort so
   */
  uint32_t fluid;
  /* gathers and maps need not write what boundary particles would get (models set it stage by
   * stage) */
  uint32_t skip_boundary;
  uint32_t stride; /* floats from one plane to the next; a multiple of OZ_PAD */

  /* ---- constants of the substep ---- */
  float dt, inv_dt; /* s, 1/s */
  float d, inv_d;   /* m: particle separation */
  float h, h2;      /* m, m^2: kernel support, 2.2 d */
  /* m: size of a neighbour cell (h + margin); margin of the density list */
  float cell, margin;
  /* until conform_update and finish nothing changes but velocities and sources: a device need not
   * wait (OZ_AGAIN) */
  uint32_t restartable;
  /* m: of the density rows: h and a little more, for what comes together while iterations run */
  float reach;
  /* m^2: pairs beyond h at the start that have moved by no more than this, squared, are not among
   * them; 0: all are */
  float min_approach2;
  float V0; /* m^3: d^3 */
  /* m^3: volume of one particle in the density sum, 1 / sum over the lattice of W */
  float Vm;
  float m_ref;            /* kg: mass of a particle of 1000 kg/m^3: 1000 Vm */
  float grad_norm;        /* ghat = grad_norm (h - r)^2 r_ij / r; negative */
  float w_norm;           /* Vm W(r) = w_norm (h2 - r2)^3 (poly6) */
  float dens_grad;        /* Vm / V0: turns ghat into the density's gradient */
  float w_self;           /* Vm W(0) */
  float zero_energy_norm; /* zero-energy pair weight c = zero_energy_norm (h - r)^2 / r */
  float zero_energy_arm;  /* m: c x0_ji = zero_energy_arm ghat_ij: zero_energy_norm / -grad_norm */
  float t_ref, d_ref;     /* lattice values of the diagonal of the two operators, for floors */
  float gravity[3];       /* m/s^2 */
  float max_speed;        /* m/s, 0: none */
  float wall_gap;         /* m: how near a particle's centre comes to a wall */
  /* m/s: 0.5 |g| dt, below which walls hold what is still (NUMERICS.md part 3) */
  float rest_speed;
  /* relaxation factor of a sweep of the rest filter, of its wall drag too (OZ_FILTER_FACTOR) */
  float filter_factor;
  float zero_energy; /* strength, 0.8 */
  uint32_t scheme, corotation, gradient_correction, volume_split, wall_density;
  float a_min;                  /* floor of a: 2e-5 t_ref, so that singular rows stay bounded */
  float beta;                   /* relaxation: 1.9 bounded form, 5 paper's */
  uint32_t has_relaxation_time; /* some particle has a relaxation time: Q is not I everywhere */
  uint32_t has_yield;           /* some material has a yield stress */
  uint32_t is_conformation;     /* the model is conformation: multipliers are its own */
  /* velocities are projected before positions: walls hold in them already */
  uint32_t projects_velocity;
  /* density and conformation move one after the other (models/conformation.c) */
  uint32_t sequential;
  /* what strain sends pushes pairs of list C for the density, too (strain) */
  uint32_t fused_density;
  uint32_t first_iteration; /* first position iteration: rotations start from none */
  uint32_t last_iteration;  /* last velocity iteration: no further direction is asked for */
  /* finish leaves velocities in u2: an odd number of sweeps of the rest filter brings them back */
  uint32_t finish_to_u2;
  /* of the exchange of heat: scale, and lattice sums of c and c r^2 / d^2 */
  float heat_norm, heat_sum, heat_moment;
  float mix_weight;                /* of an exchange between fluids that mix (models/mixing.c) */
  float heat_nu, heat_weight;      /* of a stage of conduction (models/heat.c) */
  uint32_t has_boundary;           /* there are boundary particles */
  uint32_t boundary_still;         /* they are where the last substep had them, and stay there */
  uint32_t has_loads;              /* and what is put on them is added up */
  uint32_t has_slip;               /* and some of them let fluid slip: those have rows */
  uint32_t rows_without_gradients; /* the model uses no stored gradients (ghat): rows go without */
  /* the model evaluates its kernels anew: a backend may look for neighbours once, where particles
   * are headed */
  uint32_t single_search;
  float time; /* s, for random numbers only */
  oz_spring_constants springs;
  oz_link_constants links;
  oz_blend blend;
  oz_cauchy cauchy;
  oz_soft_constants soft;
  oz_tension tension;

  /* ---- particle state. What fields.def calls optional is NULL until it is needed; fields.h reads
   * it ---- */
  float *x; /* record 4: m, position at the start of the substep; w: omega */
  /* record 4: m/s, velocity; w: gate of the rest filter, below 0 for what was reset (finish); 1 to
   * be reset (predict) */
  float *u;
  float *q;                      /* planes 6: conformation tensor, identity at rest */
  float *relaxation_time;        /* s, relaxation time */
  float *compliance, *viscosity; /* 1/Pa; Pa s */
  float *density;                /* kg/m^3 at rest */
  float *temperature;            /* K */
  float *force;                  /* planes 3: m/s^2 added to gravity */
  uint32_t *material, *source, *rank;
  uint32_t *owner; /* body or boundary that the particle belongs to; 0: free fluid */
  float *rest;     /* planes 3: m, place in the owner's frame or in the reference shape */
  float *melt;     /* 0 solid to 1 liquid: latent heat taken up */
  /* Pa: what the projection of velocities starts from where shape is remembered; else 0. Written by
   * finish */
  float *pressure;
  uint64_t *id;

  /* ---- one substep ---- */
  float *omega; /* (count) m_ref / m; 0 for particles that are held */
  float *a;     /* (count) compliance as a pure number, written by material */
  /* record 4: m, displacement since the start; w: half the zero-energy strength over omega */
  float *y;
  float *y2; /* record 4: the other half of the ping-pong */
  /* record 4: m, current position; w: weight in the density sum: 1, of boundary particles their own
   */
  float *p;
  float *dx;       /* record 4: m, correction */
  float *u2;       /* record 4: m/s, ping-pong of u in the rest filter (shares memory with dx) */
  float *A;        /* record 12: what a particle sends to its neighbours: 3x3, a column every 4 */
  oz_block *K, *B; /* blocks 6, sixes: moment of the kernel gradient, and its bounded inverse */
  oz_block *gradient_sum; /* blocks 3: sum of ghat */
  oz_block
      *precond_rotation; /* blocks 4: frame of the preconditioner, quaternion; GPU: oz_turn_ld */
  /* blocks 4: its eigenvalues; 1 / max(1, largest eigenvalue of Q). On the GPU less: oz_frame_* of
   * conformation.h */
  oz_block *precond_eigenvalues;
  float *lam;           /* planes 6: multiplier, accumulated through both phases */
  oz_block *lam_packed; /* sixes, GPU: where it is until finish tells it (oz_lam_* of pairs.h) */
  /* sixes: of conjugate gradients: residual, direction, operator times direction. Of conformation
   * the first and the last are preconditioned, and in the preconditioner's frame */
  oz_block *cg_residual, *cg_direction, *cg_applied;
  /* blocks 4: rotation of the neighbourhood since the start, quaternion; GPU: oz_turn_ld */
  oz_block *rotation;
  /* (count) omega_k S_k, from bound_sums to bound (shares memory with r, on the GPU with aq) */
  float *bound_sum;
  /* (count) relaxation over diagonal of the density constraint (shares memory with diag, which it
   * is made of) */
  float *density_relaxation;
  /* (count) density over rest density (shares memory with density_row_sum, of which nothing is
   * asked once densities are) */
  float *rho;
  /* (count) of the density operator at the start: sum omega_j |ghat|^2; omega_i S_i */
  float *density_diagonal, *density_row_sum;
  /* (count) sum over neighbours of row_sum_j |ghat|, from bound_sums to density_bound */
  float *density_near_sum;
  /* (count) 1 / max(1, sum of zero-energy weights, of heavier neighbours more), written by gradient
   */
  float *zero_energy_gate;
  /* (count) what the padding of the density rows adds to the density, written with the lists */
  const float *pad_weight;
  /* record 4: d grad C (as dens_grad ghat) and value of the walls' part of the density; zero for
   * particles without a slot (advance clears it), written by wall_density */
  float *wall_term;
  float *soft_gradient; /* record 4: of soft bodies' solve (physics/soft.h) */
  uint32_t *neighbours; /* (count) within h at the start */

  /* ---- neighbour lists. On the CPU rows are padded to the vector width with the particle itself,
   * and lie in start_entries and density_entries as physics/rows.h says; start_list and
   * density_list are the GPU's. ---- */
  /* within h at the start positions; entries, first entry of each row */
  const uint32_t *start_list, *start_row;
  const uint16_t *start_length; /* padded length */
  const float *start_list_x;    /* record 4: m, the positions at which rows of C were made */
  float start_list_radius2;     /* m^2: and the distance within which, squared */
  /* CPU: the rows. The GPU's large scenes keep rows of C as places in a list of all the neighbours
   * of OZ_SHARE particles (start_list is then NULL): the places, where each such list begins (and
   * how long it is), and the lists. */
  const uint16_t *start_entries;
  /* GPU: the number of slots of the layer next to a wall, then which; NULL: nobody asks
   * (cuda/mirror_pressure.h) */
  uint32_t *near_wall_contacts;
  const uint32_t *share_first, *share_list;
  /* the GPU's small scenes: halves, four an entry: ghat x, y, z, weight c */
  uint16_t *ghat;
  /* record 4: m, positions at the start of the substep, of which gradients are to its end: x, and p
   * once finish or arrive has moved x */
  const float *start;
  /* density: within h and a little more at the current positions. A backend may keep its rows in
   * two parts; where there is one, the second is NULL. */
  const uint32_t *density_list[2], *density_row[2];
  const uint16_t *density_length[2];
  const uint16_t *density_entries[2];

  /* ---- links (physics/links.h): rows padded like neighbours', in ascending id of the other end;
   * link_row NULL: there are none ---- */
  const uint32_t *link_row, *link_j; /* (count) first entry; entries: the other end */
  const uint16_t *link_len;          /* (count) true length */
  const float *link_rest;            /* m */
  const uint32_t *link_kind;
  float *link_spare;
  float *link_share; /* what a stage notes beside each entry, for the substep */
  /* (count) padded length with the near particles behind the links that have none (CPU; see BOTH)
   */
  const uint16_t *link_fused_length;

  /* ---- walls, compact: only particles near one ---- */
  uint32_t wall_count;
  uint32_t *wall_particle; /* (wall_count) */
  /* planes that a slot has room for, at most OZ_PLANES: as many as the colliders can offer */
  uint32_t contact_planes;
  oz_wall *wall;         /* (wall_count * contact_planes) */
  uint32_t *wall_planes; /* (wall_count) how many of them */
  /* (wall_count * contact_planes * 3) kg m/s given to the wall in this substep */
  float *wall_impulse;
  oz_load *load; /* (wall_count) where `loads` */
  const oz_collider *collider;
  uint32_t collider_count;
  const uint64_t *brick_key; /* sorted within a collider */
  const float *brick_values; /* 512 a brick */
  const uint64_t *friction_map_key;
  const float *friction_map_values; /* OZ_FRICTION_MAP_FLOATS a brick */
  const oz_nozzle *nozzle;
  uint32_t nozzle_count;
  const oz_matter *matter; /* by material number */
  uint32_t matter_count;

  const oz_body *body;
  oz_body_state *body_state; /* (body_count) */
  uint32_t *member;          /* (member_count) particle of each slot, or OZ_NO_MEMBER */
  uint32_t body_count, member_count;

  /* OZ_SCALAR_COUNT values kept by the backend: the last stage's reductions, conjugate gradient
   * coefficients */
  double *scalar;
} oz_frame;

#endif
