/* The table of attributes, for the solver's other parts. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_ATTRIBUTES_H
#define OZ_CORE_ATTRIBUTES_H

#include "core/solver.h"

oz_field oz_attribute_field(ooze_attribute attribute);
/* Pa: the stress of one multiplier of the last substep. */
double oz_stress_scale(const ooze_solver *s);
/* Takes the mean off a tensor of 6 floats: with split compliance it is a pressure that keeps
 * volume, not a stress of the material. */
void oz_stress_traceless(unsigned char *tensor);

#endif
