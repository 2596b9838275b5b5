/* SPDX-License-Identifier: Apache-2.0 */
#include "base/schema.h"
#include "core/particles.h"
#include "models/models.h"

ooze_result oz_params_check(const ooze_params *params, ooze_message *why) {
  OZ_TRY(oz_schema_check(OZ_OWNER_params, params, "params", why));
  if (params->min_substeps > params->max_substeps)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "params: min_substeps is %u; expected at most max_substeps, %u",
                   (unsigned)params->min_substeps, (unsigned)params->max_substeps);
  if (!oz_models[params->model])
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "params: model %u is not in this build",
                   (unsigned)params->model);
  return OOZE_OK;
}

ooze_result ooze_params_set(ooze_solver *s, const ooze_params *params) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  OZ_STRUCT_TAKE(ooze_params, in, params, "params", s->message);
  OZ_TRY(oz_params_check(&in, s->message));
  /* shape matching needs a shape: where particles are when the model is chosen */
  if (in.model == OOZE_MODEL_BLEND && s->params.model != in.model)
    OZ_TRY(oz_particles_rest_here(s));
  /* its substitute would mean something else elsewhere */
  if (in.model != OOZE_MODEL_BLEND && s->params.model == OOZE_MODEL_BLEND)
    OZ_TRY(oz_particles_rest_nowhere(s));
  if (in.rest && !s->params.rest) OZ_TRY(oz_labels_begin(s));
  if (in.model != s->params.model || in.scheme != s->params.scheme) s->matter_known = 0;
  s->params = in;
  return OOZE_OK;
}

ooze_result ooze_params_get(const ooze_solver *s, ooze_params *out) {
  if (!s) return OOZE_ERROR_ARGUMENT;
  return oz_struct_write(out, &s->params, sizeof s->params, "params", s->message);
}
