// Links between particles: open polygons of two points, as constraint geometry has them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// The detail's links become the solver's, beside those that it has; `found` counts them.
bool load_links(ooze_solver *s, const GU_Detail &gdp, GA_Size &found, Report &report);
void remove_links(GU_Detail &gdp);
// The solver's links become polygons. `ids` are those of the points at `offsets`, ascending.
bool store_links(ooze_solver *s, GU_Detail &gdp, const std::vector<uint64_t> &ids,
                 const std::vector<GA_Offset> &offsets, Report &report);

} // namespace oz
