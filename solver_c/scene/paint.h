/* Painted values of materials. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SCENE_PAINT_H
#define OOZE_IO_SCENE_PAINT_H

#include "ooze/ooze_nodes.h"

/* The parameters of a material, with the name that a point's attribute has as the token; 0 past the
 * end. */
int oz_paint_parm(uint32_t index, ooze_node_parm *out);
/* Particles have it of their own: no material is needed for it. */
int oz_paint_is_of_particles(const char *token);
/* Attributes of a fluid's points that look like values of a material and that nothing reads. */
void oz_paint_tell_unread(const ooze_points *points, const char *fluid, int keeps_state,
                          void (*say)(void *user, const char *text), void *user);

#endif
