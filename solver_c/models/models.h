/* The systems of the papers: host functions that run stages in the order of their algorithm boxes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_MODELS_MODELS_H
#define OZ_MODELS_MODELS_H

#include "base/backend.h"
#include "base/result.h"

typedef struct oz_step {
  oz_backend *backend;
  const ooze_params *params;
  uint32_t velocity_iterations, position_iterations;
  float separation;
  double time;
  /* results of the substep */
  double bad;      /* particles that became non-finite and were reset */
  double residual; /* relative residual of the velocity projection; 0 where the host does not ask
                    * for it */
  double mean_neighbours;
  uint32_t rebuilt;
  uint32_t has_relaxation_time; /* some particle has a relaxation time above 0 */
  uint32_t draws;      /* ... and more than the least one, so that tension may draw threads */
  uint32_t has_memory; /* some material has a least memory; has_relaxation_time is then set too */
  uint32_t has_yield;  /* some material has a yield stress; has_relaxation_time is then set too */
  uint32_t laws;       /* of flow that some material has: OZ_LAW_* */
  /* some material conducts heat; some material has values by temperature */
  uint32_t has_heat, has_ramps;
  uint32_t has_air;      /* the free surface exchanges heat */
  uint32_t has_tension;  /* some material has surface tension or cohesion */
  uint32_t has_adhesion; /* ... and an adhesion that is not 1 */
  float tension_load;    /* greatest tension of a material over the limit of the substep */
  double tension_held;   /* particles with a tension above the stability limit of the substep, which
                          * was reduced to it */
  uint32_t walls_known;  /* wall_planes was run in this substep */
  float diffusivity;     /* m^2/s: the greatest of all materials */
  uint32_t has_walls, has_nozzles, has_boundary;
  uint32_t boundary_still; /* boundary particles rest, in the last substep and in this one */
  /* there are boundary particles, and the host wants the loads on them */
  uint32_t has_loads;
  uint32_t has_slip;              /* some boundary particles let fluid slip */
  uint32_t has_mixing;            /* some material mixes */
  float mixing;                   /* m^2/s: the greatest of all materials */
  uint32_t has_driven, has_stick; /* some body follows keyframes; fluid sticks to some body */
  uint32_t has_cling;             /* some body has friction */
  uint32_t has_soft, soft_tears;  /* there are soft bodies; one has a strain limit */
  /* 1/s^2: greatest eigenvalue of their M^-1 K; 1/s: that times the damping */
  float soft_rate, soft_damped;
  uint32_t born; /* particles born in this substep */
  /* kg/m^3, of all particles; infinite and 0 where there are none */
  float least_density, most_density;
} oz_step;

/* Fills the constants that follow from separation, parameters and dt. */
void oz_frame_constants(oz_frame *f, const ooze_params *params, float separation, float dt,
                        double time);
/* One substep of length dt (s). Colliders, nozzles and materials are already with the backend. The
 * table is by params.model. */
typedef ooze_result (*oz_model)(oz_step *s, float dt, ooze_message *why);
#define OZ_MODEL(number, name) \
  ooze_result oz_##name##_substep(oz_step *s, float dt, ooze_message *why);
#include "models/models.def"
#undef OZ_MODEL
extern const oz_model oz_models[OOZE_MODEL_COUNT];
/* bodies.c: rigid bodies in a substep of any model; without bodies no stage runs */
/* after sorting */
ooze_result oz_bodies_find(oz_backend *b, const oz_frame *f, ooze_message *why);
/* after `material` */
ooze_result oz_bodies_hold(const oz_step *s, oz_backend *b, const oz_frame *f, ooze_message *why);
ooze_result oz_bodies_cling(const oz_step *s, oz_backend *b, const oz_frame *frame,
                            ooze_message *why);
/* after `material` and `predict` */
ooze_result oz_bodies_start(oz_backend *b, const oz_frame *f, ooze_message *why);
/* after a stage that leaves corrections in dx */
ooze_result oz_bodies_filter(oz_backend *b, const oz_frame *f, ooze_message *why);
/* after `advance` */
ooze_result oz_bodies_drive(oz_backend *b, const oz_frame *f, ooze_message *why);
/* after position iteration k */
ooze_result oz_bodies_project(const oz_step *s, oz_backend *b, const oz_frame *f, uint32_t k,
                              ooze_message *why);
/* after `finish` */
ooze_result oz_bodies_finish(oz_backend *b, const oz_frame *f, ooze_message *why);
/* soft.c: soft bodies in a substep of any model */
/* After oz_bodies_start, before `velocity_start`; find_walls: the wall contacts are still to be
 * found. */
ooze_result oz_soft_solve(oz_step *s, oz_backend *b, oz_frame *f, int find_walls,
                          ooze_message *why);
/* after `advance`; models that update their links need not call it */
ooze_result oz_soft_tear(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why);
/* Heat, for any model: material values by temperature at the start of a substep, conduction at its
 * end (uses the start neighbour list, wall contacts and the arrays dx and heat_words). */
ooze_result oz_heat_ramps(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why);
ooze_result oz_heat_conduct(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why);
/* Fluids that mix, at the end of a substep (uses the start neighbour list and the arrays dx and
 * y2). */
ooze_result oz_fluids_mix(oz_step *s, oz_backend *b, oz_frame *f, ooze_message *why);
/* Surface tension and cohesion, for any model: forces onto velocities, over the start neighbour
 * list. After `material`; walls count and pull where wall_planes has run in this substep. */
ooze_result oz_tension_pull(oz_step *s, oz_frame *f, ooze_message *why);

#endif
