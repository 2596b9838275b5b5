/* Making, keeping and dropping links in a substep, by rule: the decisions of each model behind
 * three functions. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_RULES_H
#define OZ_PHYSICS_RULES_H

#include "physics/soft.h"
#include "physics/springs.h"
#include "physics/viscous.h"

/* Squared radius within which a rule makes new links; 0: it makes none. */
OZ_FN float oz_link_reach2(const oz_frame *f, uint32_t rule) {
  if (rule == OZ_RULE_SOFT) return 0.0f; /* a soft body gets its links at creation */
  if (rule == OZ_RULE_SPRINGS && f->springs.mode != OZ_SPRINGS_FLOW &&
      f->springs.mode != OZ_SPRINGS_SET)
    return 0.0f;
  return OZ_LINK_INSIDE * f->h2;
}

/* True if stages of kind DENSITY_LINK run: rows then hold the unlinked near particles behind the
 * links. */
OZ_FN int oz_link_fused(uint32_t rule) { return rule == OZ_RULE_LINKS; }

/* Returns 1 to keep link l of particle i, 0 to drop it. r2: current squared distance, m^2. A rule
 * leaves links of other kinds alone, but soft bodies tear in any model. Where lanes are links,
 * OZ_RULE_LINKS decides in groups (oz_viscous_drop). */
OZ_FN int oz_link_keep(const oz_frame *f, uint32_t rule, uint32_t i, oz_link *l, float r2) {
  if (l->kind == OZ_LINK_SOFT) return oz_soft_keep(f, i, l, r2);
  if (rule == OZ_RULE_SPRINGS) return oz_spring_keep(f, l, r2);
#if OZ_LANES == 1
  if (rule == OZ_RULE_LINKS) return !oz_viscous_drop(f, i, &l->j, &l->kind, r2, &l->rest);
#endif
  return 1;
}

/* True if particles i and l->j, which have no link, get one; fills in the other members of l. */
OZ_FN int oz_link_make(const oz_frame *f, uint32_t rule, uint32_t i, oz_link *l, float r2) {
  if (rule == OZ_RULE_SPRINGS) return oz_spring_make(f, i, l, r2);
  if (rule == OZ_RULE_LINKS) return oz_viscous_make(f, i, l, r2);
  l->kind = OZ_LINK_HELD;
  l->rest = sqrtf(r2);
  l->spare = 0.0f;
  return 1;
}
#endif
