/* Friction and stick that change from place to place, for the tests that compare stages on two
 * backends. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_TESTS_FRICTION_MAP_H
#define OZ_TESTS_FRICTION_MAP_H

#include "base/backend.h"
#include "physics/boundary_particles.h"

#include "check.h"

/* Friction and stick from place to place, in the eight bricks about the origin. */
static void friction_map(oz_backend *b) {
  static uint64_t key[8];
  static float values[8 * OZ_FRICTION_MAP_FLOATS];
  ooze_message why = {""};
  for (int k = 0; k < 8; k++) key[k] = oz_brick_key((k >> 2) - 1, (k >> 1 & 1) - 1, (k & 1) - 1);
  for (uint32_t k = 0; k < 8 * 512; k++) {
    values[2 * k] = k % 11 == 5 ? -1.0f : 0.1f * (float)(k % 9); /* some are not known */
    values[2 * k + 1] = (float)(k % 5);
  }
  CHECK(b->table->friction_maps(b, key, values, 8, &why) == OOZE_OK, "%s", why.text);
}
#endif
