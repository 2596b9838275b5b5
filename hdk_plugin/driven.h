// Bodies that go where the geometry of their source goes. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "filling.h"
#include "host.h"

namespace oz {

// Particles of such a body have `driven`, and each an `anchor`: a corner of the body's polygons.
// The same corners at two frames tell how the polygons moved in between, whatever the particles
// that fill them then. `holdat` is the origin of the body's frame at birth.

// The number of a part's body, which does not change while its polygons move.
int32 driven_number(const Filling::Part &part, const std::string &source);
// The anchors of a part's particles, 3 floats each.
std::vector<float> anchors_of(const Filling::Part &part);

// Before a step: bodies of `gdp` follow their sources at its end (now) and beginning (before, NULL:
// from where they are), or are let go where those do not drive them any more.
bool drive_bodies(ooze_solver *s, const GU_Detail &gdp, const GU_Detail *now,
                  const GU_Detail *before, Report &report);

} // namespace oz
