/* Births: rows of new particles, written by one kernel.
 *
 * A stream of particles brings a hundred rows of some twenty fields with every substep. A memset
 * and a copy of each would be forty short tasks of the stream. So the rows are staged in pinned
 * memory as they come, and one kernel reads them from there: at the latest when anything else runs
 * on the main stream, or at the next sort, on the wall stream beside the rest filter, which does
 * not read rows of new particles. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/gpu.h"

namespace OZ_NAMESPACE {
namespace {

struct birth_item {
  birth_rows rows[BIRTH_PARTS];
  uint32_t most; /* words of the longest part */
  OZ_D void operator()(uint32_t t) const {
    const birth_rows &r = rows[t / most];
    const uint32_t k = t % most;
    if (k < r.words) r.to[k] = r.from ? r.from[k] : 0u;
  }
};

/* Memory of `words` words from staging; NULL where there is too little. */
uint32_t *stage_words(gpu *g, uint32_t words) {
  const size_t bytes = ((size_t)words * 4 + 15) / 16 * 16;
  if (g->staging.used + bytes > STAGING) return nullptr;
  void *room = static_cast<char *>(g->staging.at) + g->staging.used;
  g->staging.used += bytes;
  return static_cast<uint32_t *>(room);
}

} // namespace

/* Rows from `first` on, `count` of them, are to be zero until values come. */
bool begin_births(gpu *g, uint32_t first, uint32_t count) {
  birth_batch *b = &g->births;
  if (count > BIRTHS_MAX) return false;
  b->first = first, b->count = count, b->parts = 0;
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++) {
    const field_array *a = field_of((oz_field)k);
    uint32_t *at = reinterpret_cast<uint32_t *>(array_of(&g->arrays, a));
    if (!at) continue;
    const uint32_t planes = a->planes ? a->words : 1, words = a->planes ? 1 : a->words;
    if (b->parts + planes > BIRTH_PARTS) {
      b->parts = 0;
      return false;
    }
    for (uint32_t c = 0; c < planes; c++)
      b->rows[b->parts++] = {at + (size_t)c * g->arrays.stride + (size_t)first * words, nullptr,
                             count * words};
  }
  return true;
}

bool put_births(gpu *g, void *to, const void *from, size_t bytes) {
  birth_batch *b = &g->births;
  for (uint32_t k = 0; k < b->parts; k++) {
    birth_rows *r = &b->rows[k];
    if (r->to != to || (size_t)r->words * 4 != bytes) continue;
    uint32_t *room = r->from ? const_cast<uint32_t *>(r->from) : stage_words(g, r->words);
    if (!room) return false;
    memcpy(room, from, bytes);
    r->from = room;
    return true;
  }
  return false;
}

ooze_result write_births(gpu *g, ooze_message *why) {
  birth_batch *b = &g->births;
  if (!b->parts) return OOZE_OK;
  birth_item item;
  item.most = 1;
  for (uint32_t k = 0; k < b->parts; k++) {
    item.rows[k] = b->rows[k];
    if (item.rows[k].words > item.most) item.most = item.rows[k].words;
  }
  const uint32_t threads = b->parts * item.most;
  b->parts = 0;
  OZ_CUDA(for_each(g->stream, threads, item), "new particles");
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
