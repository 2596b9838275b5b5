/* The solver object behind ooze.h: its parts. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_SOLVER_H
#define OZ_CORE_SOLVER_H

#include "base/backend.h"
#include "base/memory.h"
#include "base/result.h"
#include "core/bodies.h"
#include "core/boundary.h"
#include "core/colliders.h"
#include "core/emitters.h"
#include "base/structs.h"

/* Limits on input. Positions further out could not be told apart in single precision anyway. */
#define OZ_FAR_METRES 1e6
#define OZ_FAR_SEPARATIONS 1e6
#define OZ_FAST 1e6                /* m/s */
#define OZ_HARD 1e9                /* m/s^2: the force attribute */
#define OZ_SPEED_UNKNOWN (-1.0)    /* velocities are the host's own */
#define OZ_SPEED_OF_STRETCH (-2.0) /* and so are conformation tensors */
#define OZ_SHORTEST_STEP 1e-9      /* s, a substep: 1/dt^2 and its products stay within a float */
#define OZ_MATERIALS_MAX 65536u
#define OZ_ID_MAX INT64_MAX /* ids fit Houdini's signed integers */

/* The particles as the host knows them. Public order ("rank") is ascending id; the backend keeps an
 * order of its own and carries each particle's rank along in OZ_FIELD_RANK. */
typedef struct oz_particles {
  uint32_t count;
  /* of these, the last ranks: boundary particles, which the host does not see */
  uint32_t hidden;
  uint32_t reserved;   /* room that the backend has */
  uint64_t next_id;    /* above every id so far */
  uint64_t *ids;       /* (count) ascending: rank -> id */
  size_t ids_capacity; /* bytes */
  float *labels;       /* (7 count) by rank: birth, rest, rest2; NULL until something sets them */
  size_t labels_capacity;
  /* rows that a copy may hold; a change below them begins a new edition */
  uint32_t labels_held;
  uint64_t labels_edition;
  uint32_t *at; /* (count) rank -> index in the backend's order; made when asked for */
  size_t at_capacity;
  uint32_t at_known;
  /* one field on the host in the backend's order, so that a host may go page by page */
  void *copy;
  size_t copy_capacity;
  oz_field copy_field;
  uint32_t copy_valid, copy_dirty; /* dirty: still to go to the backend */
  void *scratch;                   /* within one call */
  size_t scratch_capacity;
  uint8_t *flags; /* (count) within one call */
  size_t flags_capacity;
  /* results of the last substep: valid for the first `results` particles of the backend's order */
  uint32_t results;
  float results_dt; /* s, of that substep; 0: there has been none */
  uint32_t relaxation_time_known, has_relaxation_time; /* whether any relaxation time is above 0 */
  uint32_t has_solvent; /* known with it: whether any solvent viscosity of a particle's own is */
} oz_particles;

/* The worst values for the length of a substep among particles. */
typedef struct oz_extremes {
  float density;         /* kg/m^3, least */
  float most_density;    /* kg/m^3, greatest */
  float viscosity;       /* Pa s, least */
  float most_viscosity;  /* Pa s, greatest */
  float relaxation_time; /* s, greatest */
  double stiffness;      /* m^2/s^2, greatest modulus of solids over their density; 0: none */
} oz_extremes;

/* All links by rank, as far as the host has asked for them: those between particles that it sees,
 * then those to boundary particles, both ascending by (a, b). After a checkpoint is loaded the
 * latter wait until the boundary is there. */
typedef struct oz_link_wait {
  uint64_t id;    /* of the particle */
  uint32_t point; /* of all boundary particles */
  float rest;
  uint32_t kind;
  float spare;
} oz_link_wait;
typedef struct oz_link_list {
  oz_link_pair *pairs;
  size_t capacity; /* bytes */
  uint64_t count, shown;
  uint32_t known;
  oz_link_wait *wait;
  uint64_t waiting;
} oz_link_list;

/* Substeps and iterations that a step takes (counts.c). */
typedef struct oz_counts {
  uint32_t substeps; /* where cfl is 0 */
  uint32_t velocity, position;
} oz_counts;

typedef struct oz_run {
  oz_counts counts;
  uint32_t substeps, contained, born, killed, list_rebuilds;
  uint64_t first_contained;
  double residual, mean_neighbours;
  uint32_t tension_held; /* by the last substep */
} oz_run;

struct ooze_solver {
  oz_memory memory;
  /* -> message_store; a pointer so that calls on a const solver can leave a sentence too */
  ooze_message *message;
  ooze_message message_store;
  oz_backend *backend;
  uint32_t backend_kind; /* OOZE_BACKEND_CPU, ... */
  uint32_t isa;          /* OOZE_ISA_*, of the CPU; else AUTO */
  float separation;
  uint32_t max_particles, threads; /* threads 0: all */
  float volume;                    /* m^3 of one particle: mass = density * volume */
  ooze_params params;
  ooze_material *materials;
  size_t materials_capacity;
  /* some material has a yield stress, conducts heat, has values by temperature, has a relaxation
   * time among those; the greatest diffusivity of heat and of mixing (m^2/s). Valid when
   * matter_known is set. */
  uint32_t has_tension, has_adhesion, has_yield, has_heat, has_air, has_ramps;
  uint32_t ramps_have_relaxation_time, has_memory;
  uint32_t laws; /* of flow: OZ_LAW_* of all materials */
  float diffusivity, mixing;
  uint32_t matter_known; /* the backend has them as they are */
  uint32_t material_count;
  oz_particles particles;
  oz_link_list links;
  oz_colliders colliders;
  uint32_t no_loads; /* loads on colliders are not summed */
  oz_emitters emitters;
  oz_bodies bodies;
  oz_boundary boundary;
  oz_births births;
  oz_collider *collider_frame;
  size_t collider_frame_capacity;
  oz_nozzle *nozzle_frame;
  size_t nozzle_frame_capacity;
  oz_extremes *extremes; /* (material_count) of the particles of each material (extremes.c) */
  size_t extremes_capacity;
  uint32_t extremes_known; /* 0, or 1 and a bit of each field that particles had of their own */
  uint32_t *columns;       /* particles above each other (counts.c) */
  size_t columns_capacity;
  double time; /* s, simulated */
  oz_run run;  /* of the last ooze_step */
  /* m/s: speed that forces, walls and nozzles explain so far (speeds.c); OZ_SPEED_* below 0 */
  double explained_speed;
  uint32_t told_tension; /* the log has heard that tension is held back */
  uint32_t told_limits;  /* and which limits of automatic counts gave way (counts.c) */
  uint32_t told_speed;   /* and that a few particles are faster than anything explains */
  uint32_t stepping;     /* within ooze_step: hooks may not step or destroy */
  ooze_result lost;      /* OOZE_LOST_*: nothing but clear, load and destroy helps */
};

/* registry.c */
ooze_result oz_registry_create(const ooze_solver_desc *desc, oz_memory *memory, oz_backend **out,
                               uint32_t *out_kind, uint32_t *out_isa, ooze_message *why);
/* "cpu avx2": the backend in words. */
const char *oz_registry_name(uint32_t backend, uint32_t isa);

/* params.c */
ooze_result oz_params_check(const ooze_params *params, ooze_message *why);

/* boundary.c: the points among the particles */
ooze_result oz_boundary_before_step(ooze_solver *s);
ooze_result oz_bodies_to_backend(ooze_solver *s); /* bodies.c: likewise */
/* materials.c: the physics' table, where it changed */
ooze_result oz_materials_to_backend(ooze_solver *s);
/* Whether some fluid is thick enough for a least memory; after oz_extremes_before_step. */
void oz_materials_find_memory(ooze_solver *s);
/* extremes.c: s->extremes are known; and whether particles have relaxation times */
ooze_result oz_extremes_before_step(ooze_solver *s);
ooze_result oz_relaxation_time_before_step(ooze_solver *s);
/* tension.c: the greatest tension of a material over the limit of a substep of dt seconds; the
 * longest substep up to dt that bears it all; a line in the log, once, where it is held back */
double oz_tension_load(const ooze_solver *s, double dt);
/* whether a substep bears some material's tension for the most part by viscosity */
int oz_tension_needs_viscosity(const ooze_solver *s, double dt);
double oz_tension_longest(const ooze_solver *s, double dt);
void oz_tension_tell(ooze_solver *s, double dt);
/* fields.c: the values that a material gives to its particles, one word each */
enum { OZ_MATERIAL_VALUES = 6 };
typedef struct oz_material_value {
  oz_field field;
  size_t offset; /* in ooze_material */
} oz_material_value;
extern const oz_material_value oz_material_values[OZ_MATERIAL_VALUES];
ooze_result oz_material_check(const ooze_material *material, const char *who, ooze_message *why);

#endif
