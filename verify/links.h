/* Common parts of the checks of the model links. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_LINKS_H
#define OOZE_VERIFY_LINKS_H

#include "check.h"

#define LINKS_D 0.01 /* m */

/* A ball on the lattice. Returns how many particles it has. */
uint32_t links_ball(kit *k, uint32_t material, const double centre[3], double radius);
/* n[0] n[1] n[2] particles that move down at `speed`, all shifted in x by `shift`. */
void links_layer(kit *k, uint32_t material, const uint32_t n[3], const double low[3], double speed,
                 double shift);
/* By extension coefficient (0: by temperature), conductivity in W/(m K) at 1000 J/(kg K),
 * temperature in K. */
uint32_t links_material(kit *k, double beta, double conductivity, double temperature);

void verify_links_figures(verify *v); /* 2, 5 to 9 */
void verify_links_phases(verify *v);  /* 11, 12 */

#endif
