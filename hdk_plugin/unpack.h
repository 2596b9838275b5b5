// Packed primitives as polygons. SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// In place of each packed primitive the polygons in it, with its `name` (or packedN, N being its
// number) and the numbers that its point carries.
void unpack(GU_Detail &gdp);

} // namespace oz
