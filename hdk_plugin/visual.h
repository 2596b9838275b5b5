// Colours of particles by their values. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// `Cd` as the node's Visualization folder asks for it; nothing where it asks for nothing.
void colour(const Parms &parms, GU_Detail &gdp, Report &report);

} // namespace oz
