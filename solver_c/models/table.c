/* The models by the number that params.model gives them (ooze.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "models/models.h"

const oz_model oz_models[OOZE_MODEL_COUNT] = {
    [OOZE_MODEL_CONFORMATION] = oz_conformation_substep,
    [OOZE_MODEL_LINKS] = oz_links_substep,
    [OOZE_MODEL_SPRINGS] = oz_springs_substep,
    [OOZE_MODEL_BLEND] = oz_blend_substep,
    [OOZE_MODEL_CAUCHY] = oz_cauchy_substep,
};
