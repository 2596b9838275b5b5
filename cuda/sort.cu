/* The order of particles along a space-filling curve: bounding box, sort, permutation, roll-back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cells.h"
#include "cuda/permute.h"

namespace OZ_NAMESPACE {
namespace {

/* ---- bounding box of the cells ---- */

struct box_item {
  const float *at;
  float inv;
  int *box; /* least, minus greatest */
  OZ_D void cell(uint32_t i, int c[6]) const {
    for (int k = 0; k < 3; k++) {
      c[k] = coordinate(at[4 * (size_t)i + k], inv);
      c[3 + k] = -c[k];
    }
  }
#if defined(OZ_CUDA_HOST)
  void operator()(uint32_t i) const {
    int c[6];
    cell(i, c);
    for (int k = 0; k < 6; k++) oz_atomic_min(box + k, c[k]);
  }
#endif
};
#if !defined(OZ_CUDA_HOST)
__device__ __forceinline__ int warp_min(int v) {
  for (int d = 16; d; d >>= 1) v = min(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__global__ void __launch_bounds__(256) box_kernel(const __grid_constant__ box_item b, uint32_t n) {
  int least[6];
  for (int k = 0; k < 6; k++) least[k] = NONE_U32;
  for (uint32_t i = blockIdx.x * 256u + threadIdx.x; i < n; i += gridDim.x * 256u) {
    int c[6];
    b.cell(i, c);
    for (int k = 0; k < 6; k++) least[k] = min(least[k], c[k]);
  }
  for (int k = 0; k < 6; k++) {
    least[k] = warp_min(least[k]);
    if (threadIdx.x % 32 == 0) atomicMin(b.box + k, least[k]);
  }
}
#endif
#if defined(OZ_CUDA_HOST)
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) { return for_each(g->stream, n, b); }
#else
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) {
  const uint32_t blocks = one_wave(g, (n + 1023u) / 1024u);
  box_kernel<<<blocks, 256, 0, g->stream>>>(b, n);
  return cudaGetLastError();
}
#endif

/* ---- permutation ---- */

/* Optional fields from the work arrays back to their own memory. */
struct copy_back_item {
  oz_frame from, to;
  OZ_D void operator()(uint32_t k) const {
    const uint32_t i = k;
    particle_state all, *s = &all;
#define OZ_RESULT(name, member, words, layout)
#define OZ_FIELD(name, member, words, layout)
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  if (from.member) TAKE_##layout(member, words)
#include "physics/fields.def"
#undef OZ_OPTIONAL
#define OZ_OPTIONAL(name, member, words, layout, fallback) \
  if (from.member) PUT_##layout(member, words)
#include "physics/fields.def"
#undef OZ_FIELD
#undef OZ_OPTIONAL
#undef OZ_RESULT
  }
};

struct roll_back_item {
  oz_frame f;
  const float *backup;
  OZ_D void operator()(uint32_t i) const {
    oz_real v[4], u[4];
    oz_ld4(backup, i, 4, 0, v);
    oz_ld4(f.u, i, 4, 0, u);
    for (int c = 0; c < 3; c++) u[c] = v[c];
    oz_st4(f.u, i, 4, 0, u);
    if (f.source) f.source[i] = oz_bits_of(v[3]);
  }
};
/* A permutation by the table of cells. */
struct place_item {
  permute_item p;
  placement where;
  uint32_t *cell_of, *order; /* order: the old place of each */
  OZ_D void operator()(uint32_t i) const {
    particle_state s;
    const uint32_t cell = where.cell[i];
    p.take(i, &s);
    const uint32_t k = where.of(i, cell);
    cell_of[k] = cell;
    order[k] = i;
    p.put(k, &s);
  }
};

/* The new place of each particle, and a copy of its position there; the state itself is still being
 * changed (streams.cu). */
struct presort_item {
  placement where;
  uint32_t *cell_of, *order;
  const float *from;
  float *to;
  OZ_D void operator()(uint32_t i) const {
    const uint32_t cell = where.cell[i];
    oz_real x[4];
    oz_ld4(from, i, 4, 0, x);
    const uint32_t k = where.of(i, cell);
    cell_of[k] = cell;
    order[k] = i;
    oz_st4(to, k, 4, 0, x);
  }
};

} // namespace

/* Small scenes double-buffer the optional fields. */
enum { DOUBLE_BUFFER_MAX = 1 << 18 };
static bool double_buffered(const gpu *g) {
  return g->capacity <= DOUBLE_BUFFER_MAX && !disabled(g, DISABLE_FIELD_COPIES);
}
static ooze_result reserve_field_copies(gpu *g, ooze_message *why) {
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && double_buffered(g); k++)
    if (g->field[k].at)
      OZ_TRY(grow(g, &g->field_to[k], g->field[k].bytes, field_of((oz_field)k)->name, why));
  return OOZE_OK;
}
static void point_fields_at(const gpu *g, const buffer *from, oz_frame *f) {
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (g->field[k].at) put_array(f, field_of((oz_field)k), as<float>(from[k]));
}

static permute_item make_permutation(gpu *g, const uint32_t *order, bool keep) {
  permute_item item;
  item.order = order;
  item.backup = keep ? backup_of(static_cast<float *>(g->block.at), g->capacity) : nullptr;
  item.from = item.to = g->arrays;
  lay_out(&item.to, static_cast<float *>(g->block.at), g->capacity, 1 - g->parity);
  if (double_buffered(g))
    point_fields_at(g, g->field_to, &item.to);
  else
    spare_fields(&item.to);
  return item;
}
static ooze_result finish_permutation(gpu *g, const permute_item &item, uint32_t n,
                                      ooze_message *why) {
  bool some = false;
  lay_out(&g->arrays, static_cast<float *>(g->block.at), g->capacity, 1 - g->parity);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++) {
    if (!g->field[k].at) continue;
    some = true;
    if (!double_buffered(g)) continue;
    const buffer was = g->field[k];
    g->field[k] = g->field_to[k], g->field_to[k] = was;
  }
  point_fields_at(g, g->field, &g->arrays);
  if (some && !double_buffered(g))
    OZ_CUDA(for_each(g->stream, n, copy_back_item{item.to, g->arrays}), "sorting");
  g->parity = 1 - g->parity;
  g->walls.slot_of = slots_of(static_cast<float *>(g->block.at), g->capacity, g->parity);
  return OOZE_OK;
}
ooze_result permute(gpu *g, const uint32_t *order, uint32_t n, bool keep, ooze_message *why) {
  OZ_TRY(reserve_field_copies(g, why));
  const permute_item item = make_permutation(g, order, keep);
  OZ_CUDA(for_each(g->stream, n, item), "sorting");
  return finish_permutation(g, item, n, why);
}

ooze_result clear_box(gpu *g, ooze_message *why) {
  if (!g->mailbox.box_clear) {
    OZ_CUDA(cudaMemsetAsync(status_on_device(g)->box, 0x7f, sizeof(int) * 6, g->stream), "sorting");
    OZ_CUDA(cudaMemsetAsync(&status_on_device(g)->reset, 0, 4, g->stream), "sorting");
  }
  g->mailbox.box_clear = false;
  return OOZE_OK;
}
ooze_result launch_box(gpu *g, const oz_frame *f, ooze_message *why) {
  OZ_TRY(clear_box(g, why));
  OZ_CUDA(box_all(g, box_item{f->x, sort_cells_per_metre(f), status_on_device(g)->box}, g->count),
          "bounding box");
  return OOZE_OK;
}

/* Velocities and sources of the substep's beginning, after a failure within it. */
ooze_result roll_back(oz_backend *b, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->queue.count = g->queue.frame_count = 0; /* queued stages are dropped */
  g->sorter.box_known = BOX_UNKNOWN;
  g->mailbox.post = POST_NONE;
  g->mailbox.pending = 0;
  cancel_presort(g);
  OZ_TRY(apply_pending_permutation(g, why));
  if (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS)) OZ_TRY(join_streams(g, why));
  if (!g->sorter.has_backup || !g->count) return OOZE_OK;
  g->sorter.has_backup = false;
  OZ_CUDA(for_each(
              g->stream, g->count,
              roll_back_item{g->arrays, backup_of(static_cast<float *>(g->block.at), g->capacity)}),
          "undoing a substep");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "undoing a substep");
  return OOZE_OK;
}

/* New particles extend a known box here, so that the next sort need not wait for the device; other
 * positions make it unknown. The same rounding as the device's: a resumed run finds the same box.
 */
void extend_box(gpu *g, uint32_t first, uint32_t count, const float *x) {
  cell_sorter *s = &g->sorter;
  if (s->box_known != BOX_KNOWN || count > s->unplaced || first != g->count - s->unplaced) {
    s->box_known = BOX_UNKNOWN;
    return;
  }
  const float inv = 1.0f / s->cell;
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      const int c = coordinate(x[4 * (size_t)i + k], inv);
      s->box[k] = c < s->box[k] ? c : s->box[k];
      s->box[3 + k] = -c < s->box[3 + k] ? -c : s->box[3 + k];
    }
  s->unplaced -= count;
}
void keep_box(gpu *g) { memcpy(g->sorter.box, g->mailbox.host->box, sizeof g->sorter.box); }

/* Sorts on the wall stream, into spare.x; the list stream waits for it, and join_sort precedes the
 * permutation. */
static ooze_result sort_on_wall_stream(gpu *g, const key_item &key, bool counted,
                                       ooze_message *why) {
  {
    const on_stream there(g, true, &stream_set::walls);
    placement where;
    OZ_TRY(table_cells(g, key, counted, CHAINED, &where, why));
    OZ_CUDA(for_each(g->stream, g->count,
                     presort_item{where, as<uint32_t>(g->sorter.cell_of),
                                  as<uint32_t>(g->sorter.order[1]), key.at,
                                  as<float>(g->lists.spare.x)},
                     CHAINED),
            "sorting");
  }
  return record_sort(g, why);
}
/* The box is expected to take as many bits as the last one, for which there is a table. */
bool may_presort(gpu *g, const oz_frame *f) {
  if (!(g->sorter.cell > 0.0f) || f->x != g->arrays.x || !uses_cell_table(g, g->sorter.wrap) ||
      g->sorter.table.bytes < (morton_codes(g->sorter.wrap) + 1) * 4 || !can_build_ahead(g, f))
    return false;
  return !(g->sorter.presort_pause && g->sorter.presort_pause--);
}
ooze_result presort(gpu *g, ooze_message *why) {
  OZ_TRY(wait_for_finish(g, why));
  OZ_EXPECT_STATE(g->sorter.presort == PRESORT_ALLOWED);
  g->sorter.presort = PRESORT_STARTED;
  if (g->mailbox.post ==
      POST_DEFERRED) { /* the wall stream is idle here; before the sort, which clears the box */
    const on_stream there(g, true, &stream_set::walls);
    OZ_TRY(post_status_on_stream(g, why));
  }
  OZ_TRY(sort_on_wall_stream(
      g, wrapped_key(g->arrays.x, g->arrays.rank, g->sorter.cell, g->sorter.wrap),
      g->sorter.counted, why));
  return clear_moved_cells_aside(g, why);
}

ooze_result sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->sorter.has_backup = false;
  g->mailbox.post = POST_NONE;
  g->lists.prebuilt = PREBUILT_NONE;
  g->walls.fork = FORK_NONE;
  g->mailbox.pending = 0;
  OZ_TRY(flush_stages(g, why));
  /* the last substep broke off */
  if (g->streams.unjoined & (UNJOINED_CONTACTS | UNJOINED_LISTS | UNJOINED_SORT))
    OZ_TRY(join_streams(g, why));
  f->wall_count = g->walls.count = 0; /* contacts refer to the old order */
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_SORT);
  /* the last finish has found the box */
  const bool known = g->sorter.box_known == BOX_KNOWN && !g->sorter.unplaced &&
                     g->sorter.cell == sort_cell_size(f);
  const bool births = g->sorter.births; /* side streams do not wait for the main stream */
  g->sorter.births = false;
  g->sorter.unplaced = 0;
  g->sorter.cell = sort_cell_size(f);
  g->sorter.box_known = BOX_UNKNOWN;
  if (!known) {
    cancel_presort(g);
    OZ_TRY(write_births(g, why));
    OZ_TRY(launch_box(g, f, why));
    OZ_TRY(fetch_status(g, why));
    keep_box(g);
  }
  for (int k = 0; k < 3; k++) {
    g->sorter.grid.low[k] = g->sorter.box[k];
    g->sorter.extent[k] = (uint32_t)(-g->sorter.box[3 + k] - g->sorter.box[k]);
  }
  uint32_t bits[3];
  wrap_bits(g->sorter.extent, bits);
  fold_wrap(g, bits);
  const key_item key = wrapped_key(f->x, f->rank, g->sorter.cell, bits);
  const bool table = uses_cell_table(g, bits),
             ahead = table && known && !births && can_build_ahead(g, f),
             presorted = ahead && g->sorter.presort == PRESORT_STARTED &&
                         memcmp(bits, g->sorter.wrap, sizeof bits) == 0;
  {
    const on_stream there(g, ahead, &stream_set::walls);
    OZ_TRY(write_births(g, why));
  }
  g->sorter.cells = table ? CELLS_TABLE : CELLS_GRID;
  memcpy(g->sorter.wrap, bits, sizeof bits);
  g->sorter.presort = PRESORT_NONE;
  if (table) {
    placement where = {};
    if (ahead && !presorted) {
      OZ_TRY(sort_on_wall_stream(g, key, false, why));
      OZ_TRY(join_sort(g, why));
    }
    if (!ahead) OZ_TRY(table_cells(g, key, false, ALONE, &where, why));
    /* first: the critical path; other launches follow */
    if (ahead) OZ_TRY(build_start_list_ahead(g, f, why));
    OZ_TRY(reserve_field_copies(g, why));
    const permute_item item = make_permutation(g, as<uint32_t>(g->sorter.order[1]), true);
    g->sorter.current = 1;
    if (ahead)
      g->sorter.permutation = item, g->sorter.permutation_pending = true;
    else
      OZ_CUDA(for_each(g->stream, g->count,
                       place_item{item, where, as<uint32_t>(g->sorter.cell_of),
                                  as<uint32_t>(g->sorter.order[1])}),
              "sorting");
    /* a kernel before predict reads the state */
    if (ahead && (g->lists.prebuilt != PREBUILT_LIST || !double_buffered(g)))
      OZ_TRY(apply_pending_permutation(g, why));
    OZ_TRY(finish_permutation(g, item, g->count, why));
    if (ahead && g->lists.prebuilt == PREBUILT_NONE) g->lists.prebuilt = PREBUILT_ORDER;
  } else {
    OZ_TRY(order_by_cell(g, key, g->count, why));
    OZ_TRY(permute(g, as<uint32_t>(g->sorter.order[g->sorter.current]), g->count, true, why));
  }
  g->sorter.has_backup = true;
  lay_out(f, static_cast<float *>(g->block.at), g->capacity, g->parity);
  point_fields_at(g, g->field, f);
  OZ_TRY(links_move(g, as<uint32_t>(g->sorter.order[g->sorter.current]), g->count, g->count, why));
  links_frame(g, f);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
