/* The models by the number that params.model gives them (ooze.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "models/models.h"

const oz_model oz_models[OOZE_MODEL_COUNT] = {
#define OZ_MODEL(number, name) [OOZE_MODEL_##number] = oz_##name##_substep,
#include "models/models.def"
#undef OZ_MODEL
};
