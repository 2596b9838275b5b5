/* Tables of SDF bricks: one load finds a brick (oz_brick_find) where a search by halves takes ten,
 * each of which waits for the one before. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

#include "physics/contact.h"

namespace OZ_NAMESPACE {
namespace {

void coordinates_of(uint64_t key, int32_t at[3]) {
  for (int k = 0; k < 3; k++)
    at[k] = (int32_t)(key >> (42 - 21 * k) & ((1u << 21) - 1u)) - OZ_BRICK_BIAS;
}
uint64_t places_of_box(const oz_brick_box &b) {
  return (uint64_t)b.size[0] * b.size[1] * b.size[2];
}
/* The box of the bricks of c; without a size where it would be mostly empty. */
oz_brick_box box_of(const oz_collider &c, const uint64_t *keys) {
  oz_brick_box box = {};
  int32_t high[3] = {0, 0, 0};
  for (uint32_t k = 0; k < c.brick_count; k++) {
    int32_t at[3];
    coordinates_of(keys[c.brick_first + k], at);
    for (int a = 0; a < 3; a++) {
      box.low[a] = !k || at[a] < box.low[a] ? at[a] : box.low[a];
      high[a] = !k || at[a] > high[a] ? at[a] : high[a];
    }
  }
  for (int a = 0; a < 3; a++) box.size[a] = (uint32_t)(high[a] - box.low[a]) + 1u;
  /* sides are up to 2^21, so that a product of three fits */
  if (!c.brick_count || places_of_box(box) > 4096u + 64u * (uint64_t)c.brick_count)
    box.size[0] = box.size[1] = box.size[2] = 0;
  return box;
}

} // namespace

/* boxes: one a brick, of which a collider uses that of its first. words: before the first place.
 * Returns the words up to the last one. */
static uint64_t lay_out_boxes(const oz_collider *c, uint32_t count, const uint64_t *keys,
                              oz_brick_box *boxes, uint64_t words) {
  for (uint32_t k = 0; k < count; k++) {
    if (!c[k].brick_count) continue;
    oz_brick_box box = box_of(c[k], keys);
    const uint64_t more = places_of_box(box);
    if (words + more > UINT32_MAX)
      box.size[0] = 0;
    else
      box.first = (uint32_t)words, words += more;
    boxes[c[k].brick_first] = box;
  }
  return words;
}
static void fill_places(const oz_collider &c, const uint64_t *keys, const oz_brick_box &box,
                        uint32_t *words) {
  for (uint32_t k = 0; box.size[0] && k < c.brick_count; k++) {
    int32_t at[3];
    coordinates_of(keys[c.brick_first + k], at);
    const uint32_t x = (uint32_t)(at[0] - box.low[0]), y = (uint32_t)(at[1] - box.low[1]),
                   z = (uint32_t)(at[2] - box.low[2]);
    words[box.first + (x * box.size[1] + y) * box.size[2] + z] = c.brick_first + k + 1;
  }
}

ooze_result make_brick_keys(gpu *g, const oz_collider *c, uint32_t count, const uint64_t *keys,
                            uint32_t bricks, void **out, size_t *bytes, ooze_message *why) {
  const size_t key_bytes = bricks * sizeof *keys, box_bytes = bricks * sizeof(oz_brick_box);
  static_assert(sizeof(oz_brick_box) % sizeof *keys == 0, "boxes lie behind keys");
  oz_brick_box *boxes = static_cast<oz_brick_box *>(oz_alloc(g->memory, box_bytes));
  char *all = nullptr;
  *out = nullptr, *bytes = 0;
  if (boxes) {
    memset(static_cast<void *>(boxes), 0, box_bytes);
    *bytes = 4 * (size_t)lay_out_boxes(c, count, keys, boxes, (key_bytes + box_bytes) / 4);
    all = static_cast<char *>(oz_alloc(g->memory, *bytes));
  }
  if (all) {
    memset(all, 0, *bytes);
    memcpy(all, keys, key_bytes);
    memcpy(all + key_bytes, boxes, box_bytes);
    for (uint32_t k = 0; k < count; k++)
      if (c[k].brick_count)
        fill_places(c[k], keys, boxes[c[k].brick_first], reinterpret_cast<uint32_t *>(all));
  }
  oz_free(g->memory, boxes);
  *out = all;
  if (!all) return oz_fail(why, OOZE_ERROR_MEMORY, "no memory for a table of %u bricks", bricks);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
