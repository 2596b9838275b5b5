/* Poses of colliders and emitters. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CORE_POSES_H
#define OZ_CORE_POSES_H

#include "ooze/ooze.h"

/* Gives a checked pose a rotation of unit length; one that has it keeps its
 * bits. */
void oz_pose_unit(ooze_pose *pose);
/* The pose at fraction f from a to b; exactly a at 0 and b at 1. */
void oz_pose_between(const ooze_pose *a, const ooze_pose *b, double f, ooze_pose *out);

#endif
