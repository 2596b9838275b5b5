/* The systems of the papers: host functions that run stages in the order of their algorithm boxes. */
#ifndef OZ_MODELS_MODELS_H
#define OZ_MODELS_MODELS_H

#include "base/backend.h"
#include "base/result.h"

typedef struct oz_step {
  oz_backend *backend;
  const ooze_params *params;
  float separation;
  double time;
  /* news of the substep */
  double bad;           /* particles that went non-finite and were reset */
  double residual;      /* of the velocity projection, relative; 0 if not asked for */
  double mean_neighbours;
  uint32_t rebuilt;
  uint32_t has_relaxation; /* some particle has tau > 0 */
  uint32_t has_walls, has_nozzles;
} oz_step;

/* Fills the constants that follow from separation, parameters and dt. */
void oz_frame_constants(oz_frame *f, const ooze_params *params, float separation, float dt, double time);
/* One substep of length dt (s). Colliders, nozzles and materials are already with the backend. */
typedef ooze_result (*oz_model)(oz_step *s, float dt, ooze_message *why);
ooze_result oz_conformation_substep(oz_step *s, float dt, ooze_message *why);
/* By params.model; NULL where this build has none. */
extern const oz_model oz_models[OOZE_MODEL_COUNT];

#endif
