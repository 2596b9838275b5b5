/* Room for particles: the arrays sized by their number, and new ones at their end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {

ooze_result reserve(oz_backend *b, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (count <= g->capacity) return OOZE_OK;
  OZ_TRY(flush(g, why));
  const uint64_t wish = ((uint64_t)count + 127) / 128 * 128;
  if (wish > 1u << 30)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %u particles; at most %u fit", count, 1u << 30);
  const uint32_t capacity = (uint32_t)wish;
  OZ_TRY(links_reserve(g, capacity, why));
  const size_t n = capacity, groups = n / GROUP;
  enum { FIXED_PARTS = 12 };
  /* all arrays sized by the particle count, or none */
  struct {
    buffer *slot;
    size_t bytes;
    bool scratch;
    buffer fresh;
  } part[FIXED_PARTS + OZ_FIELD_STATE_COUNT] = {
      {&g->block, n * words_per_particle() * 4, false, {}},
      {&g->lists.start.group, groups * 4, false, {}},
      {&g->lists.start.len, n * 2, false, {}},
      {&g->lists.density.group, groups * 4, false, {}},
      {&g->lists.density.len, n * 2, false, {}},
      {&g->sorter.key[0], n * 8, true, {}},
      {&g->sorter.key[1], n * 8, true, {}},
      {&g->sorter.order[0], n * 4, true, {}},
      {&g->sorter.order[1], n * 4, true, {}},
      {&g->sorter.cell_of, n * 4, true, {}},
      {&g->sums.partial, (n / BLOCK * MAX_SUMS + 65536) * sizeof(double), true, {}},
      {&g->walls.votes, (groups + 8) * 4, true, {}},
  };
  size_t parts = FIXED_PARTS, total = 0;
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (g->field[k].at)
      part[parts++] = {&g->field[k], n * field_of((oz_field)k)->words * 4, false, {}};
  for (size_t k = 0; k < parts; k++) total += part[k].bytes;
  for (size_t k = 0; k < parts; k++) {
    ooze_result r = OOZE_OK;
    if (g->memory_limit && g->bytes + g->scratch_bytes + total > g->memory_limit)
      r = OOZE_ERROR_MEMORY;
    else
      r = grow(g, &part[k].fresh, part[k].bytes, "particles", nullptr, part[k].scratch);
    if (r >= 0) continue;
    for (size_t m = 0; m < k; m++) drop(g, &part[m].fresh, part[m].scratch);
    size_t available = 0, all = 0;
    if (cudaMemGetInfo(&available, &all) != cudaSuccess) cudaGetLastError();
    return oz_fail(
        why, OOZE_ERROR_MEMORY,
        "cuda: no device memory for %u particles: %zu bytes needed, %zu asked for, %zu of %zu free",
        count, total, part[k].bytes, available, all);
  }
  oz_frame next = g->arrays;
  lay_out(&next, static_cast<float *>(part[0].fresh.at), capacity, 0);
  for (size_t k = FIXED_PARTS; k < parts; k++)
    put_array(&next, field_of((oz_field)(part[k].slot - g->field)),
              static_cast<float *>(part[k].fresh.at));
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && g->count; k++) {
    const field_array *a = field_of((oz_field)k);
    const float *from = array_of(&g->arrays, a);
    float *to = array_of(&next, a);
    if (!from) continue;
    for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++)
      OZ_CUDA(cudaMemcpyAsync(to + (size_t)c * capacity, from + (size_t)c * g->arrays.stride,
                              (size_t)g->count * (a->planes ? 1 : a->words) * 4,
                              cudaMemcpyDeviceToDevice, g->stream),
              "moving particles");
  }
  OZ_CUDA(cudaStreamSynchronize(g->stream), "moving particles");
  forget_graphs(g);
  for (size_t k = 0; k < parts; k++) {
    drop(g, part[k].slot, part[k].scratch);
    *part[k].slot = part[k].fresh;
  }
  for (buffer &k : g->field_to) drop(g, &k, false); /* too small now */
  release_spare_lists(g);
  cancel_presort(g);
  g->lists.prebuilt = PREBUILT_NONE;
  g->arrays = next;
  g->parity = 0;
  g->capacity = capacity;
  g->walls.slot_of = slots_of(static_cast<float *>(g->block.at), capacity, 0);
  g->lists.place = places_of(static_cast<float *>(g->block.at), capacity);
  return OOZE_OK;
}

ooze_result resize(oz_backend *b, uint32_t count, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  OZ_TRY(flush(g, why));
  if (count > g->capacity) {
    /* growth by half, so that an emitter does not reallocate every substep */
    const uint64_t room = (uint64_t)g->capacity + g->capacity / 2;
    ooze_result r = OOZE_ERROR_MEMORY;
    if (room > count && room < 1u << 30) r = reserve(b, (uint32_t)room, why);
    if (r < 0) OZ_TRY(reserve(b, count, why));
  }
  const bool staged = count > g->count && begin_births(g, g->count, count - g->count);
  if (count > g->count && !staged) g->sorter.births = true;
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && count > g->count && !staged; k++) {
    const field_array *a = field_of((oz_field)k);
    float *p = array_of(&g->arrays, a);
    if (!p) continue;
    const size_t fresh = count - g->count, words = a->planes ? 1 : a->words;
    for (uint32_t c = 0; c < (a->planes ? a->words : 1); c++)
      OZ_CUDA(cudaMemsetAsync(p + (size_t)c * g->arrays.stride + g->count * words, 0,
                              fresh * words * 4, g->stream),
              "new particles");
  }
  OZ_TRY(links_resize(g, count, why));
  /* the box grows by new particles when their positions come (extend_box) */
  if (count > g->count && g->sorter.box_known == BOX_KNOWN)
    g->sorter.unplaced += count - g->count;
  else
    g->sorter.box_known = BOX_UNKNOWN, g->sorter.unplaced = 0;
  g->count = count;
  cancel_presort(g);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
