// Single numbers of a detail, and the hash of an input's contents.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "host.h"

namespace oz {

// One number of a detail, primitive or point, in that order of precedence: prim, point, detail.
bool find_number(const GU_Detail &gdp, const char *name, GA_Offset prim, GA_Offset point,
                 int components, double *out);
void write_detail(GU_Detail &gdp, const char *name, int components, const float *values);
void write_detail(GU_Detail &gdp, const char *name, int value);
// Of the points' attributes by these names, the primitives' points and types: equal inputs, equal
// hash.
uint64_t hash_of(const GU_Detail *gdp, const std::vector<std::string> &names);
// Every public attribute of the points by its name, texts too, after that hash.
uint64_t hash_of_points(const GU_Detail *gdp, uint64_t hash);

} // namespace oz
