/* Tables of SDF bricks, on the host loops: they find what a search by halves finds, for several
 * colliders, gaps between bricks, and boxes too empty for a table.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

/* before the names of the kit, which it would shadow */
#include "physics/contact.h"

#include "cuda/host_block.h"

#include "check.h"

enum { SIDE = 9, FAR_BRICKS = 3, MOST = SIDE * SIDE * SIDE + FAR_BRICKS };

static uint64_t keys[MOST];
static float values[MOST * 512];
static uint32_t bricks;

static void add(oz_collider *c, int32_t x, int32_t y, int32_t z) {
  const uint64_t key = oz_brick_key(x, y, z);
  CHECK(bricks == c->brick_first || keys[bricks - 1] < key, "bricks are not in order");
  for (int k = 0; k < 512; k++) values[bricks * 512 + (uint32_t)k] = (float)(bricks + 1);
  keys[bricks++] = key, c->brick_count++;
}
static oz_collider open_collider(void) {
  oz_collider c;
  memset(&c, 0, sizeof c);
  c.shape = OZ_SHAPE_SDF, c.voxel = 0.01f, c.q0[3] = c.q1[3] = 1.0f, c.brick_first = bricks;
  return c;
}

/* By table and by search. */
static void compare(const oz_frame *f, const oz_collider *c, int32_t x, int32_t y, int32_t z,
                    uint32_t *found) {
  oz_frame plain = *f;
  plain.brick_boxes = 0;
  const int64_t have = oz_brick_find(f, c, x, y, z), want = oz_brick_find(&plain, c, x, y, z);
  CHECK(have == want, "brick %d %d %d: %d instead of %d", x, y, z, (int)have, (int)want);
  *found += want >= 0;
}

OZ_CASE(a_table_finds_the_bricks_that_a_search_finds) {
  oz_memory memory;
  ooze_message why = {""};
  oz_backend *b = host_loops(&memory);
  oz_collider c[3];
  oz_frame f;
  uint32_t found = 0;

  /* a shell with gaps, about the origin */
  c[0] = open_collider();
  for (int32_t x = -4; x <= 4; x++)
    for (int32_t y = -3; y <= 5; y++)
      for (int32_t z = -4; z <= 4; z++)
        if ((x + 2 * y + 3 * z) % 4 == 0) add(&c[0], x, y, z);
  /* none: a sphere among the SDFs */
  c[1] = open_collider();
  c[1].shape = OZ_SHAPE_SPHERE, c[1].half[0] = 0.1f;
  /* far apart: no table */
  c[2] = open_collider();
  add(&c[2], -9000, 3, 3), add(&c[2], 0, 0, 0), add(&c[2], 9000, -70, 2);

  CHECK(b->table->colliders(b, c, 3, keys, values, bricks, &why) >= 0, "%s", why.text);
  b->table->frame(b, &f);
  CHECK_EQ(f.brick_boxes, bricks);
  for (int32_t x = -6; x <= 6; x++)
    for (int32_t y = -6; y <= 7; y++)
      for (int32_t z = -6; z <= 6; z++) compare(&f, &c[0], x, y, z, &found);
  CHECK_EQ(found, c[0].brick_count);
  const int32_t far[][3] = {{-9000, 3, 3}, {0, 0, 0}, {9000, -70, 2}, {1, 0, 0}, {9000, -70, 3}};
  for (size_t k = 0; k < sizeof far / sizeof *far; k++)
    compare(&f, &c[2], far[k][0], far[k][1], far[k][2], &found);
  CHECK_EQ(found, bricks);

  /* values of a sample between bricks are those of the bricks around it */
  float value, g[3];
  const float inside[3] = {3.5f, 3.5f, 3.5f};
  CHECK(oz_brick_sample(&f, &c[0], inside, &value, g), "the brick at the origin is not found");
  CHECK_NEAR(value, (double)oz_brick_find(&f, &c[0], 0, 0, 0) + 1.0, 0.0, "all samples are equal");
  b->table->destroy(b);
}

OZ_TEST_MAIN()
