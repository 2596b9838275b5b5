// Age and life of particles, and the attributes they take from their nozzle.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "bridge.h"
#include "sources.h"

namespace oz {

// Between a step and its way back into the detail: particles whose `age` reaches their `life` in
// it go. `gdp` is the detail as before the step.
bool remove_old(ooze_solver *s, const GU_Detail &gdp, const Bridge &bridge, double dt,
                Report &report);
// After that: `age` grows by the step, from 0 for those that were born in it; it is there where it
// was, where `life` is, or where it is asked for. The newborn take over the attributes of their
// nozzle's point beside the source's own.
void grow_older(GU_Detail &gdp, const Bridge &bridge, const GU_Detail *sources, double dt,
                bool asked);

} // namespace oz
