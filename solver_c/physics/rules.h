/* What becomes of links in a substep, by rule: each model's own decisions behind three functions.
 */
#ifndef OZ_PHYSICS_RULES_H
#define OZ_PHYSICS_RULES_H

#include "physics/soft.h"
#include "physics/springs.h"
#include "physics/viscous.h"

/* Radius within which a rule looks for new links, squared; 0: it makes none. */
OZ_FN float oz_link_reach2(const oz_frame *f, uint32_t rule) {
  if (rule == OZ_RULE_SOFT) return 0.0f; /* a soft body has its links from the start */
  if (rule == OZ_RULE_SPRINGS && f->springs.mode != OZ_SPRINGS_FLOW &&
      f->springs.mode != OZ_SPRINGS_SET)
    return 0.0f;
  return OZ_LINK_INSIDE * f->h2;
}

/* Whether stages of kind BOTH will run: near particles that have no link then stand behind those
 * that have one. */
OZ_FN int oz_link_fused(uint32_t rule) { return rule == OZ_RULE_LINKS; }

/* What becomes of link l of particle i: 0 drops it. r2: squared distance now, m^2. What is not of
 * the rule's own kind is left alone, but soft bodies tear in any model. Where lanes are links,
 * those of OZ_RULE_LINKS are decided in groups (oz_viscous_drop). */
OZ_FN int oz_link_keep(const oz_frame *f, uint32_t rule, uint32_t i, oz_link *l, float r2) {
  if (l->kind == OZ_LINK_SOFT) return oz_soft_keep(f, i, l, r2);
  if (rule == OZ_RULE_SPRINGS) return oz_spring_keep(f, l, r2);
#if OZ_LANES == 1
  if (rule == OZ_RULE_LINKS) return !oz_viscous_drop(f, i, &l->j, &l->kind, r2, &l->rest);
#endif
  return 1;
}

/* Whether particles i and l->j, which have no link, get one; fills in the rest. */
OZ_FN int oz_link_make(const oz_frame *f, uint32_t rule, uint32_t i, oz_link *l, float r2) {
  if (rule == OZ_RULE_SPRINGS) return oz_spring_make(f, i, l, r2);
  if (rule == OZ_RULE_LINKS) return oz_viscous_make(f, i, l, r2);
  l->kind = OZ_LINK_HELD;
  l->rest = sqrtf(r2);
  l->spare = 0.0f;
  return 1;
}
#endif
