/* The frame: the view of the simulation that every stage gets. It holds the constants of the
 * substep and pointers to all arrays, and is passed by value to the GPU.
 *
 * Order and padding. Particle arrays are in the backend's own order (a space-filling curve) and
 * padded to 16 items, so that a vector may run past `count`; values in the padding are never used.
 *
 * Layouts.
 *   (count)    one value a particle.
 *   record n   n floats a particle, 16-byte aligned, for values that neighbours gather.
 *   planes n   n arrays of `stride` floats one behind the other, for values that only their own
 *              particle reads.
 *   blocks n   like planes, for the arrays that a substep uses most: n times sixteen floats for
 *              every sixteen particles on the CPU, n times OZ_SHARE on the GPU. oz_block has a type
 *              of its own and is accessed through oz_block* of pairs.h.
 *   sixes      blocks 6 on the CPU, 16 bytes a particle on the GPU (pairs.h).
 *
 * Scaling (docs/theory/README.md). Lengths are scaled by d and masses by m_ref, the mass of a
 * particle of 1000 kg/m^3, so that multipliers, compliances and gradients are pure numbers:
 *   ghat_ij = V0 d grad W_ij            the CPU stores its size over the distance, as a half
 *   a       = alpha m_ref d^2 / (V0 dt^2)
 *   omega_i = m_ref / m_i
 *   dx_i    = -d omega_i sum_j (Lh_i + Lh_j) ghat_ij
 *
 * Lifetimes of the substep's arrays in the conformation model. "shares" names the array over which
 * an array lies (CPU; GPU where different): both are never alive at the same time.
 *
 *   array                 written by                   read by                          shares
 *   omega, a              material; body_hold and      all following stages
 *                         body_cling (omega)
 *   x.w                   as omega                     gradient, tension
 *   gradient_sum, K, B    gradient                     both projections, finish, filter
 *   zero_energy_gate      gradient                     strain (through y.w), filter
 *   dilation              gradient, wall_rows          residual (bounds it), strain
 *   density_diagonal      gradient                     density_bound
 *   density_row_sum       gradient                     bound_sums, density_bound        rho
 *   density_near_sum      bound_sums, strain_send      density_bound, sharpen - ; cg_residual + 4
 *   bound_sum             bound_sums                   bound           cg_residual; cg_residual + 5
 *   precond_rotation      bound                        residual, cg_*, strain
 *   precond_eigenvalues   bound; velocity_start and    residual, cg_*, strain, conform_update
 *                         resist (1/q)
 *   lam (lam_packed)      velocity_start, cg_update,   residual, load_stress, finish
 *                         strain
 *   cg_residual           residual, cg_update          cg_apply, cg_last
 *   cg_direction          residual, cg_update          cg_apply, cg_last, cg_update
 *   cg_applied            cg_apply                     cg_update
 *   A                     gradient (B), velocity_start bound_sums, force, cg_apply,
 *                         residual, cg_update, strain, conform_move, filter_move,
 *                         filter_gradient, strain_send sharpen
 *   dx                    force, density_lambda        cg_apply, cg_last, density_move
 *   u2                    filter_move, finish          filter_gradient                  dx
 *   p                     predict, advance,            walls, lists, density_lambda
 *                         density_move                                      cg_residual + 10; -
 *   y                     advance, density_move        strain, density_move, finish
 *   y2                    conform_move                 density_move (after a swap)
 *                                                                     cg_residual + 6; cg_direction
 *   rotation              advance (identity), strain   strain, sharpen, conform_update
 *                                                                                   cg_residual
 *   wall_term             wall_density                 density_*, wall_drag
 *                                                               cg_residual + 14; cg_applied
 *   density_relaxation    density_bound,               density_lambda, shift_strength, shift
 *                         conform_update (strain),                                density_diagonal
 *                         shift_strength (distance)
 *   flow_rate             flow_rate, flow_rate_wall    flow_rate_keep           density_relaxation
 *   density_step          density_lambda               density_lambda             density_near_sum
 *   flow_held             flow_rate                    flow_rate_wall             density_near_sum
 *   density_push          density_lambda               density_lambda, finish
 *                                                                           - ; cg_residual + 5
 *   rho                   density_lambda               results
 *   soft_gradient         soft_start                   soft_rate, soft_pull         cg_residual
 *
 * After `finish` the arrays dx, cg_residual, y2 are scratch memory of heat and mixing, wall_term of
 * heat. The other models use the same memory under the names of the unions below.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_FRAME_H
#define OZ_PHYSICS_FRAME_H

#include "physics/records.h"

typedef struct oz_frame {
  /* ---- counts ---- */
  uint32_t count; /* particles */
  /* particles in front of the boundary particles, where the backend sorts so; else count */
  uint32_t fluid;
  /* 1: gathers and maps may leave the results of boundary particles unwritten; models set it stage
   * by stage */
  uint32_t skip_boundary;
  uint32_t stride; /* floats from one plane to the next; a multiple of OZ_PAD */

  /* ---- constants: time, lengths, kernels ---- */
  float dt, inv_dt;   /* s, 1/s */
  float time;         /* s, for random numbers only */
  float d, inv_d;     /* m: particle separation */
  float h, h2;        /* m, m^2: kernel support, 2.2 d */
  float cell, margin; /* m: size of a neighbour cell (h + margin); margin of the density list */
  /* m: radius of the density rows: h and a little more, for pairs that approach while iterations
   * run */
  float reach;
  /* m^2: pairs beyond h at the start with a squared relative motion up to this are left out of the
   * density rows; 0: none is (OZ_MIN_APPROACH) */
  float min_approach2;
  float V0;        /* m^3: d^3 */
  float Vm;        /* m^3: volume of a particle in the density sum, 1 / sum of W over the lattice */
  float m_ref;     /* kg: mass of a particle of 1000 kg/m^3: 1000 Vm */
  float grad_norm; /* ghat = grad_norm (h - r)^2 r_ij / r; negative */
  float inv_h2;    /* 1 / h^2; Vm W(r) = w_self (1 - r^2 / h^2)^4 */
  float w_self;    /* Vm W(0) */
  float dens_grad; /* Vm / V0: turns ghat into the density's gradient */
  float k_ref, g_ref; /* lattice values of trace K, and of |gradient_sum| at a flat surface */
  /* share of an excess of density that one substep takes back (density.h), and of a lack of it */
  float density_pace, dilation_pace;
  float shifting;         /* strength of particle shifting, 0 to 1 (shift.h) */
  uint32_t dilates;       /* volume gained under tension is taken back (dilation) */
  float t_ref, d_ref;     /* lattice values of the diagonals of both operators, for floors */
  float zero_energy;      /* strength of the zero-energy control, 0.8 */
  float zero_energy_norm; /* its pair weight c = zero_energy_norm (h - r)^2 / r */
  float zero_energy_arm;  /* m: c x0_ji = zero_energy_arm ghat_ij: zero_energy_norm / -grad_norm */

  /* ---- constants: forces, walls, solver ---- */
  float gravity[3]; /* m/s^2 */
  float max_speed;  /* m/s, 0: none */
  float momentum;   /* of the density's iterations: part of the step before */
  float warm_start; /* part of density_pressure that the first iteration goes on with */
  float wall_gap;   /* m: least distance of a particle's centre from a wall */
  /* m/s: 0.5 |g| dt; walls hold particles slower than this (docs/theory/rest_filter.md) */
  float rest_speed;
  float filter_pace;   /* part of a sweep of the rest filter in short substeps, 1 in others */
  float filter_factor; /* relaxation factor of a sweep of the rest filter (OZ_FILTER_FACTOR) */
  float a_min;         /* floor of a: 2e-5 t_ref, so that singular rows stay bounded */
  float a_elastic;     /* floor of a where the material remembers */
  float beta;          /* relaxation: 1.9 bounded form, 5 in the paper */
  uint32_t scheme, corotation, gradient_correction, volume_split, wall_density;
  /* heat exchange: scale, and lattice sums of c and c r^2 / d^2 */
  float heat_norm, heat_sum, heat_moment;
  float heat_lack;            /* share of heat_sum that a particle of a flat surface lacks */
  float ambient;              /* K: of the air */
  float heat_nu, heat_weight; /* of one stage of conduction (models/heat.c) */
  float mix_weight;           /* of an exchange between fluids that mix (models/mixing.c) */
  oz_spring_constants springs;
  oz_link_constants links;
  oz_blend blend;
  oz_cauchy cauchy;
  oz_soft_constants soft;
  oz_tension tension;

  /* ---- conditions of the substep ---- */
  /* Some particle has a relaxation time, so that Q is not I everywhere; some material has a least
   * memory (OZ_MEMORY_*). A kernel is given several frames, hence two bytes each. */
  uint16_t has_relaxation_time, has_memory;
  uint32_t has_yield; /* some material has a yield stress */
  uint32_t laws;      /* OZ_LAW_* that some material has */
  /* there are boundary particles; the rest filter works on velocities, in which walls move, and not
   * on changes of them */
  uint16_t has_boundary, filters_velocity;
  uint32_t boundary_still;    /* boundary particles rest, in the last substep and in this one */
  uint32_t has_loads;         /* loads on boundary particles are summed */
  uint32_t has_slip;          /* some boundary particles let fluid slip: those have rows */
  uint32_t body_sticks;       /* some body holds fluid in this iteration; OZ_BODY_WEIGHS */
  uint32_t body_clings;       /* body_stick: thick fluid clings to bodies with friction */
  uint32_t body_adheres;      /* tension: some fluid's adhesion is not 1 */
  uint32_t is_conformation;   /* the model is conformation, which owns the multipliers */
  uint32_t projects_velocity; /* velocities are projected before positions, walls included */
  /* density and conformation move one after the other (models/conformation.c) */
  uint32_t sequential;
  /* strain and conform_move also move pairs of the start neighbour list by the density (strain) */
  uint32_t fused_density;
  uint32_t first_iteration; /* first position iteration: rotations start from the identity */
  uint32_t last_iteration;  /* last velocity iteration: no further direction is needed */
  /* finish leaves velocities in u2: an odd number of filter sweeps brings them back to u */
  uint32_t finish_to_u2;
  /* Until sharpen, conform_update and finish only velocities and sources change: a substep can be
   * rolled back and run again: a device need not wait for its status (OZ_AGAIN). */
  uint32_t restartable;
  uint32_t rows_without_gradients; /* the model does not use stored gradients (ghat) */
  /* The model evaluates kernels at the current positions: one neighbour search, at the predicted
   * positions, is enough. */
  uint32_t single_search;

  /* ---- particle state. Optional fields (fields.def) are NULL until they are needed; fields.h
   * reads them. Boundary particles, and particles of bodies, use some fields under other names ----
   */
  float *x; /* record 4: m, position at the start of the substep; w: omega */
  /* record 4: m/s, velocity; w: weight in the rest filter, below 0 for a particle that finish has
   * reset; 1 for one that predict wants reset */
  float *u;
  float *q;               /* planes 6: conformation tensor, identity at rest */
  float *relaxation_time; /* (count) s */

  union {
    float *compliance;      /* (count) 1/Pa, of fluid */
    float *boundary_weight; /* (count) weight of a boundary particle in the density sum */
  };

  float *viscosity;   /* (count) Pa s */
  float *density;     /* (count) kg/m^3 at rest */
  float *temperature; /* (count) K */

  union {
    float *force;         /* planes 3: m/s^2, added to gravity, of fluid */
    float *boundary_path; /* planes 3: m, way of a boundary particle during a step, local frame */
  };

  union {
    uint32_t *material;      /* (count) material number, of fluid and bodies */
    uint32_t *boundary_slip; /* (count) slip of a boundary particle (oz_slip_word) */
  };

  uint32_t *source; /* (count) handle of the nozzle that holds the particle; 0: free */
  uint32_t *rank;   /* (count) the particle's number in the interface */
  uint32_t *owner;  /* (count) body or collider that the particle belongs to; 0: fluid */

  union {
    float *reference;         /* planes 3: the storage, one field with three meanings */
    float *owner_place;       /* m, place of a body or boundary particle in its owner's frame */
    float *reference_shape;   /* m, place of a fluid particle in the reference shape (sph.h) */
    float *slip_acceleration; /* m/s^2, of fluid with a yield stress (filter.h) */
  };

  float *melt; /* (count) 0 solid to 1 liquid: part of the latent heat taken up */
  /* (count) Pa: start value of the velocity projection's pressure, for particles that remember
   * their shape; else 0. Written by finish */
  float *pressure;
  /* (count) Pa: by which the density constraint pushed in the last substep; start value of the next
   * (density.h). Written by finish */
  float *density_pressure;
  float *solvent_viscosity; /* (count) Pa s, beside the viscosity that relaxes */
  float *shear_rate;        /* (count) 1/s: rate of shear that the material remembers */
  float *second_stretch;    /* planes 6: conformation tensor of the second mode minus identity */
  /* planes 6: tensor that a law of flow makes of q; the projections read it in the place of q */
  float *carried;
  uint64_t *id; /* (count) */

  /* ---- arrays of one substep (lifetimes above) ---- */
  float *omega; /* (count) m_ref / m; 0 for a held particle */
  float *a;     /* (count) compliance as a pure number */
  /* record 4: m, displacement since the start; w: half the zero-energy strength over omega */
  float *y;
  float *y2; /* record 4: the other half of the ping-pong of y */
  float *p;  /* record 4: m, current position; w: weight in the density sum (oz_weight) */
  float *dx; /* record 4: m, correction */
  float *u2; /* record 4: m/s, ping-pong of u in the rest filter */
  float *A;  /* record 12: matrix that neighbours gather, 3x3, a column every 4 floats */

  union {
    oz_block *K;          /* blocks 6: moment of the kernel gradient */
    oz_block *blend_move; /* m, model blend: displacement before collisions, words 0 to 2 */
  };

  oz_block *B; /* sixes: bounded inverse of K */

  union {
    oz_block *gradient_sum;     /* blocks 3: sum of ghat */
    oz_block *sph_acceleration; /* m/s^2, model blend */
  };

  oz_block *precond_rotation; /* blocks 4: quaternion; packed on the GPU (oz_turn_ld) */
  /* blocks 4: eigenvalues of the preconditioner, and 1 / max(1, largest eigenvalue of Q); packed on
   * the GPU (oz_preconditioner_* of conformation.h) */
  oz_block *precond_eigenvalues;
  float *lam;           /* planes 6: multiplier, accumulated over both phases */
  oz_block *lam_packed; /* sixes, GPU: the multiplier until finish unpacks it (oz_lam_*) */

  union {
    oz_block *cg_residual; /* sixes: preconditioned residual, in the preconditioner's frame */
    oz_block *heat_words;  /* blocks 6: working memory of conduction (heat.h) */
  };

  oz_block *cg_direction; /* sixes */
  oz_block *cg_applied;   /* sixes: operator times direction, preconditioned, in that frame */
  oz_block *rotation;     /* blocks 4: of the neighbourhood since the start, quaternion */
  float *bound_sum;       /* (count) omega_k S_k */

  union {
    float *density_relaxation; /* (count) relaxation over diagonal of the density constraint */
    float *flow_rate;          /* (count) 1/s: of shear, of the velocities that a substep leaves */
    float *spring_limit;       /* (count) model springs: part of its impulses that is given */
    float *spring_near_pressure; /* (count) m, model springs: dt^2 P_near */
  };

  float *rho; /* (count) density over rest density */

  union {
    float
        *density_diagonal; /* (count) of the density operator at the start: sum omega_j |ghat|^2 */
    float *link_growth;    /* (count) model links: beta for a step of this length; 0: no fluid */
  };

  union {
    float *density_row_sum; /* (count) omega_i S_i of the density operator at the start */
    float *link_limit;      /* (count) model links: most that one link may move, over omega */
  };

  float *density_near_sum; /* (count) sum over neighbours of density_row_sum_j |ghat| */

  union {
    float *density_step; /* (count) the density's multiplier of the iteration before */
    float *flow_held;    /* (count) viscous part of the yield stress over the law's stress */
  };

  float *density_push; /* (count) sum of the density's multipliers of all iterations so far */

  union {
    /* (count) 1 / max(1, sum of zero-energy weights, larger for heavier neighbours) */
    float *zero_energy_gate;
    float *paper_neighbours; /* (count) scheme paper: number of neighbours */
    float *link_smoothing;   /* (count) model links: weight of its velocity in XSPH */
    float *link_mass;        /* (count) model links, after that: 1 / omega; large where held */
  };

  /* (count) volume to be taken back in this substep, over the particle's own; gradient and
   * wall_rows write it, residual bounds it, strain reads it */
  float *dilation;
  union {
    const float *pad_weight; /* (count) CPU: part of the density that a row's padding adds */
    /* GPU: number and indices of the contacts in the layer next to a wall; NULL where no stage
     * needs them (cuda/mirror_pressure.h) */
    uint32_t *near_wall_contacts;
  };
  /* record 4: d grad C (as dens_grad ghat) and value of the walls' part of the density; zero for
   * particles without a wall contact (advance clears it) */
  float *wall_term;
  float *soft_gradient; /* record 4: first row of G in the solve of soft bodies (soft.h) */
  uint32_t *neighbours; /* (count) number within h at the start */

  /* ---- start neighbour list: pairs within h at the start positions. On the CPU a row is padded to
   * the vector width with the particle itself and lies in start_entries (rows.h) ---- */
  const uint32_t *start_list;    /* GPU: entries */
  const uint32_t *start_row;     /* first entry of each row */
  const uint16_t *start_length;  /* (count) padded length */
  const uint16_t *start_entries; /* CPU: rows; GPU, large scenes: places in share_list */
  const float *start_list_x;     /* record 4: m, positions at which the rows were made */
  float start_list_radius2;      /* m^2: squared radius of the rows */
  /* GPU, large scenes (start_list is NULL): each OZ_SHARE particles have one list of all their
   * neighbours; share_first holds its first entry and its length */
  const uint32_t *share_first, *share_list;
  union {
    uint16_t *ghat; /* GPU, small scenes: four halves an entry: ghat x, y, z, weight c */
    /* (count) CPU: padded length of a row with the unlinked near particles behind the links (stage
     * kind DENSITY_LINK) */
    const uint16_t *link_fused_length;
  };
  /* record 4: m, start positions, to which gradients belong until the substep ends: x, and p once
   * finish or arrive has moved x */
  const float *start;

  /* ---- density neighbour list: pairs within `reach` at the current positions, in one or two
   * parts; the second is NULL where there is one ---- */
  const uint32_t *density_list[2], *density_row[2];
  const uint16_t *density_length[2];
  const uint16_t *density_entries[2];

  /* ---- links (links.h): rows padded like neighbours', in ascending id of the other end; link_row
   * is NULL where there are none ---- */
  const uint32_t *link_row, *link_j; /* (count) first entry; entries: the other end */
  const uint16_t *link_len;          /* (count) length without padding */
  const float *link_rest;            /* m: rest length */
  const uint32_t *link_kind;
  float *link_spare;
  float *link_share; /* note of a stage beside each entry, for the substep */

  /* ---- wall contacts: one for each particle near a wall ---- */
  uint32_t wall_count;
  /* planes that a contact has room for, at most OZ_PLANES: as many as the colliders can offer */
  uint32_t contact_planes;
  uint32_t *wall_particle; /* (wall_count) */
  oz_wall *wall;           /* (wall_count * contact_planes) */
  uint32_t *wall_planes;   /* (wall_count) number of planes */
  float *wall_impulse;     /* (wall_count * contact_planes * 3) kg m/s given to the wall */
  oz_wall_row *wall_row;   /* (wall_count) the wall in the particle's strain (wall_row.h) */
  oz_wall_slip *wall_slip; /* (wall_count) slip of its points, or NULL; wall_rows writes it */
  /* (count) contact + 1, or 0; NULL where walls are not in the strain of particles */
  const uint32_t *contact_of;
  oz_load *load; /* (wall_count) where has_loads */

  /* ---- scene ---- */
  const oz_collider *collider;
  uint32_t collider_count;
  uint32_t brick_boxes;      /* keys before the oz_brick_box of each brick; 0: there are none */
  const uint64_t *brick_key; /* sorted within a collider */
  const float *brick_values; /* m, 512 a brick */
  const uint64_t *friction_map_key;
  const float *friction_map_values; /* OZ_FRICTION_MAP_FLOATS a brick */
  const oz_nozzle *nozzle;
  uint32_t nozzle_count;
  const oz_matter *matter; /* by material number */
  uint32_t matter_count;
  const oz_body *body;
  oz_body_state *body_state; /* (body_count) */
  uint32_t *member;          /* (member_count) particle of each member slot, or OZ_NO_MEMBER */
  uint32_t body_count, member_count;

  /* OZ_SCALAR_COUNT values kept by the backend: the last stage's reductions, coefficients of
   * conjugate gradients */
  double *scalar;
} oz_frame;

#endif
