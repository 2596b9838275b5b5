/* The conformation update of one particle, from the model's own text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ooze/ooze.h"
#include "physics/conformation.h"

void ooze_conformation_advance(const float q[6], const float grad_u[9], float tau, float dt,
                               float out[6]) {
  oz_s3 Q;
  oz_m3 step;
  for (int c = 0; c < 6; ++c) Q.s[c] = q[c];
  for (int c = 0; c < 9; ++c) step.m[c] = dt * grad_u[c];
  Q = oz_conformation_step(&Q, &step, tau, dt);
  Q = oz_conformation_clamp(&Q);
  for (int c = 0; c < 6; ++c) out[c] = Q.s[c];
}
