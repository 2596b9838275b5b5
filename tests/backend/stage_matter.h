/* Two materials with which every stage has something to do. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_STAGE_MATTER_H
#define OZ_TESTS_STAGE_MATTER_H

#include "base/backend.h"

static const oz_matter stage_matter[2] = {
    {.density = 1000.0f,
     .thick = 1e30f,
     .solvent_viscosity = 2.0f,
     .thinning_time = 0.1f,
     .flow_index = 0.5f,
     .thinning_sharpness = 2.0f,
     .thinned_viscosity = 0.5f,
     .extensibility = 5.0f,
     .second_viscosity = 20.0f,
     .second_relaxation_time = 0.2f,
     .surface_tension = 0.05f,
     .adhesion = 1.5f,
     .mixing = 1e-4f,
     .conductivity = 2.0f,
     .heat_share = 1e-6f,
     .film_coefficient = 80.0f,
     .ramp_count = 3,
     .ramp = {{250.0f, 1e4f, 10.0f}, {290.0f, 30.0f, 0.0f}, {300.0f, 10.0f, 0.0f}}},
    {.density = 1000.0f,
     .thick = 10.0f,
     .consistency = 10.0f,
     .flow_index = 0.4f,
     .thinning_sharpness = 2.0f,
     .surface_tension = 0.02f,
     .cohesion = 30.0f,
     .adhesion = 0.5f,
     .mixing = 2e-4f,
     .yield_stress = 20.0f,
     .conductivity = 40.0f,
     .heat_share = 5e-7f,
     .emissivity = 0.9f,
     .melting_point = 295.0f,
     .melt_step = 4.0f}};

#endif
