/* Links on the host, for the solver's other parts. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_LINKS_H
#define OZ_CORE_LINKS_H

#include "base/hash.h"
#include "core/solver.h"

/* s->links is right: all links, ascending by the ranks of their ends, those to boundary particles
 * last. */
ooze_result oz_links_fetch(ooze_solver *s);
/* Links to boundary particles that are not there yet; takes `wait` over. */
void oz_links_await(ooze_solver *s, oz_link_wait *wait, uint64_t count);
/* They have come. */
ooze_result oz_links_arrive(ooze_solver *s);
void oz_links_release(ooze_solver *s);
ooze_result oz_links_hash(ooze_solver *s, oz_hash *h);
/* Checks the values; the text argument begins the message. */
ooze_result oz_links_check(const uint64_t *ids, uint32_t particles, const oz_link_pair *l,
                           const char *who, ooze_message *why);
/* New links, ascending by rank and none of them there, into the list and the backend; after
 * oz_links_fetch. */
ooze_result oz_links_merge(ooze_solver *s, const oz_link_pair *fresh, uint64_t count);
/* No particle has more than fit into a row. */
ooze_result oz_links_check_rows(ooze_solver *s, const oz_link_pair *pairs, uint64_t count,
                                uint32_t particles, const uint64_t *ids, ooze_message *why);
#endif
