/* The links that make a soft body of points. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_SOFT_H
#define OZ_CORE_SOFT_H

#include "core/solver.h"

/* 1/Pa: a compliance below this counts as it; the substep bears far less */
#define OZ_SOFT_STIFFEST 1e-12f

/* Pairs of the desc's points by their numbers, ascending; *out is the caller's to free, NULL if
 * there are none. Fills in the body's bounds, for particles of `density` (kg/m^3) at distance d. */
ooze_result oz_soft_links_make(oz_memory *memory, const ooze_body_desc *desc, float d,
                               double density, oz_body *body, oz_link_pair **out, uint64_t *count,
                               ooze_message *why);

#endif
