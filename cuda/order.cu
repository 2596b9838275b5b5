/* Order along a space-filling curve: sorting particles, and what sorting needs. */
#include "cuda/before.h"
#include "cuda/cells.h"
#include "cuda/permute.h"

#if defined(OZ_CUDA_HOST)
#include <algorithm>
#include <cmath>
#include <vector>
#else
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace OZ_NAMESPACE {
uint32_t *slots_of(float *at, uint32_t capacity, uint32_t parity);
float *backup_of(float *at, uint32_t capacity);
void spare_fields(oz_frame *f);
float *array_of(const oz_frame *f, const field_array *a);
void put_array(oz_frame *f, const field_array *a, float *p);
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
/* ---- sorting and adding up ---- */

#if defined(OZ_CUDA_HOST)
template <class K> void host_sort(K *key, uint32_t *order, uint32_t n) {
  std::vector<uint32_t> at(n), o(order, order + n);
  std::vector<K> k(key, key + n);
  for (uint32_t i = 0; i < n; i++) at[i] = i;
  std::stable_sort(at.begin(), at.end(), [&](uint32_t a, uint32_t b) { return k[a] < k[b]; });
  for (uint32_t i = 0; i < n; i++) key[i] = k[at[i]], order[i] = o[at[i]];
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t, int *now, ooze_message *) {
  if (wide)
    host_sort(static_cast<uint64_t *>(g->key[0].at), static_cast<uint32_t *>(g->order[0].at), n);
  else
    host_sort(static_cast<uint32_t *>(g->key[0].at), static_cast<uint32_t *>(g->order[0].at), n);
  *now = 0;
  return OOZE_OK;
}
ooze_result running_sum(gpu *, uint32_t *v, uint32_t n, ooze_message *) {
  for (uint32_t i = 1; i < n; i++) v[i] += v[i - 1];
  return OOZE_OK;
}
ooze_result before_each(gpu *, uint32_t *v, uint32_t n, chain, ooze_message *) {
  for (uint32_t i = 0, sum = 0; i < n; i++) {
    const uint32_t here = v[i];
    v[i] = sum, sum += here;
  }
  return OOZE_OK;
}
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) { return each(g->stream, n, b); }
#else
template <class K>
ooze_result sort_as(gpu *g, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  cub::DoubleBuffer<K> key(static_cast<K *>(g->key[0].at), static_cast<K *>(g->key[1].at));
  cub::DoubleBuffer<uint32_t> order(static_cast<uint32_t *>(g->order[0].at),
                                    static_cast<uint32_t *>(g->order[1].at));
  size_t bytes = 0;
  OZ_CUDA(
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, order, (int)n, 0, (int)bits, g->stream),
      "sorting");
  OZ_TRY(grow(g, &g->temp, bytes, "sorting", why, true));
  bytes = g->temp.bytes;
  OZ_CUDA(cub::DeviceRadixSort::SortPairs(g->temp.at, bytes, key, order, (int)n, 0, (int)bits,
                                          g->stream),
          "sorting");
  *now = key.selector;
  if (order.selector != key.selector)
    return oz_fail(why, OOZE_ERROR_DEVICE, "cuda: sorted keys and values are not together");
  return OOZE_OK;
}
ooze_result sort_pairs(gpu *g, bool wide, uint32_t n, uint32_t bits, int *now, ooze_message *why) {
  return wide ? sort_as<uint64_t>(g, n, bits, now, why) : sort_as<uint32_t>(g, n, bits, now, why);
}
/* Up to ADD_MOST numbers by a kernel of our own, which needs no other before it; v: at a multiple
 * of 16 bytes. */
enum { ADD_BLOCK = 512, ADD_EACH = 8, ADD_MOST = ADD_BLOCK * ADD_EACH * 512 };
template <bool WITH>
__global__ void __launch_bounds__(ADD_BLOCK)
    add_kernel(uint32_t *v, uint32_t n, const block_sums sums, const chain in) {
  constexpr uint32_t WARPS = ADD_BLOCK / 32;
  __shared__ uint32_t part[WARPS];
  const uint32_t first = (blockIdx.x * (uint32_t)ADD_BLOCK + threadIdx.x) * ADD_EACH,
                 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t x[ADD_EACH], own = 0, all = 0;
  if (in != ALONE) after_the_last();
  if (first + ADD_EACH <= n)
    for (int k = 0; k < ADD_EACH; k += 4) {
      const uint4 four = *reinterpret_cast<const uint4 *>(v + first + k);
      x[k] = four.x, x[k + 1] = four.y, x[k + 2] = four.z, x[k + 3] = four.w;
    }
  else
    for (int k = 0; k < ADD_EACH; k++) x[k] = first + k < n ? v[first + k] : 0u;
  for (int k = 0; k < ADD_EACH; k++) own += x[k];
  uint32_t sum = own;
  for (uint32_t d = 1; d < 32; d *= 2) {
    const uint32_t low = __shfl_up_sync(0xffffffffu, sum, d);
    if (lane >= d) sum += low;
  }
  if (lane == 31) part[warp] = sum;
  __syncthreads();
  sum -= own;
  for (uint32_t w = 0; w < WARPS; w++) {
    if (w < warp) sum += part[w];
    all += part[w];
  }
  sum += before_block<ADD_BLOCK>(sums, all);
  for (int k = 0; k < ADD_EACH; k++) {
    const uint32_t here = x[k];
    x[k] = WITH ? sum + here : sum;
    sum += here;
  }
  if (first + ADD_EACH <= n)
    for (int k = 0; k < ADD_EACH; k += 4)
      *reinterpret_cast<uint4 *>(v + first + k) = make_uint4(x[k], x[k + 1], x[k + 2], x[k + 3]);
  else
    for (int k = 0; k < ADD_EACH; k++)
      if (first + k < n) v[first + k] = x[k];
}
template <bool WITH>
ooze_result add_all(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  if (n == 0) return OOZE_OK;
  if (n <= ADD_MOST && reinterpret_cast<uintptr_t>(v) % 16 == 0) {
    block_sums sums;
    const uint32_t blocks = (n + ADD_BLOCK * ADD_EACH - 1u) / (ADD_BLOCK * ADD_EACH);
    OZ_TRY(next_sums(g, &sums, why));
    if (in == CHAINED)
      OZ_CUDA(start<add_kernel<WITH>>(blocks, (uint32_t)ADD_BLOCK, 0, g->stream, v, n, sums, in),
              "adding up");
    else
      add_kernel<WITH><<<blocks, ADD_BLOCK, 0, g->stream>>>(v, n, sums, in);
    OZ_CUDA(cudaGetLastError(), "adding up");
    return OOZE_OK;
  }
  const auto scan = [&](void *room, size_t &bytes) {
    return WITH ? cub::DeviceScan::InclusiveSum(room, bytes, v, v, (int)n, g->stream)
                : cub::DeviceScan::ExclusiveSum(room, bytes, v, v, (int)n, g->stream);
  };
  size_t bytes = 0; /* CUB tells first how much room it needs */
  OZ_CUDA(scan(nullptr, bytes), "adding up");
  OZ_TRY(grow(g, &g->temp, bytes, "adding up", why, true));
  bytes = g->temp.bytes;
  OZ_CUDA(scan(g->temp.at, bytes), "adding up");
  return OOZE_OK;
}
ooze_result running_sum(gpu *g, uint32_t *v, uint32_t n, ooze_message *why) {
  return add_all<true>(g, v, n, ALONE, why);
}
ooze_result before_each(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  return add_all<false>(g, v, n, in, why);
}
cudaError_t box_all(gpu *g, const box_item &b, uint32_t n) {
  const uint32_t wish = (n + 1023u) / 1024u, blocks = wish < 1056u ? wish : 1056u;
  box_kernel<<<blocks, 256, 0, g->stream>>>(b, n);
  return cudaGetLastError();
}
#endif

/* ---- permuting ---- */

/* Optional fields from where the permutation left them to where they belong. */
struct back_item {
  oz_frame from, to;
  OZ_D void operator()(uint32_t k) const {
    const uint32_t i = k;
    luggage all, *s = &all;
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

struct undo_item {
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
/* The same from a table of cells. */
struct settle_item {
  permute_item p;
  placement where;
  uint32_t *cell_of, *order; /* order: where each was */
  OZ_D void operator()(uint32_t i) const {
    luggage s;
    const uint32_t cell = where.cell[i];
    p.take(i, &s);
    const uint32_t k = where.of(i, cell);
    cell_of[k] = cell;
    order[k] = i;
    p.put(k, &s);
  }
};

/* Where each will be, and a copy of its position there: state itself is still being changed
 * (ahead.cu). */
struct foresee_item {
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

ooze_result add_up(gpu *g, uint32_t *v, uint32_t n, ooze_message *why) {
  return running_sum(g, v, n, why);
}
ooze_result sum_before(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why) {
  return before_each(g, v, n, in, why);
}

ooze_result order_by_cell(gpu *g, const key_item &key, uint32_t n, ooze_message *why) {
  const uint32_t last[3] = {(uint32_t)key.last[0], (uint32_t)key.last[1], (uint32_t)key.last[2]},
                 bits = bits_for(last);
  key_item k = key;
  g->grid.bits = bits;
  g->wide = 3 * bits > 32;
  k.order = as<uint32_t>(g->order[0]);
  if (g->wide)
    k.key64 = as<uint64_t>(g->key[0]);
  else
    k.key32 = as<uint32_t>(g->key[0]);
  OZ_CUDA(each(g->stream, g->count, k), "cell keys");
  return sort_pairs(g, g->wide, n, 3 * bits, &g->now, why);
}

/* Small scenes have each optional field twice. */
enum { TWICE_MOST = 1 << 18 };
static bool twice(const gpu *g) { return g->capacity <= TWICE_MOST && !g->no_twice; }
static ooze_result room_for_fields(gpu *g, ooze_message *why) {
  for (int k = 0; k < OZ_FIELD_STATE_COUNT && twice(g); k++)
    if (g->field[k].at)
      OZ_TRY(grow(g, &g->field_to[k], g->field[k].bytes, field_of((oz_field)k)->name, why));
  return OOZE_OK;
}
static void fields_into(const gpu *g, const buffer *from, oz_frame *f) {
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++)
    if (g->field[k].at) put_array(f, field_of((oz_field)k), as<float>(from[k]));
}

static permute_item permutation(gpu *g, const uint32_t *order, bool keep) {
  permute_item item;
  item.order = order;
  item.backup = keep ? backup_of(static_cast<float *>(g->block.at), g->capacity) : nullptr;
  item.from = item.to = g->arrays;
  lay_out(&item.to, static_cast<float *>(g->block.at), g->capacity, 1 - g->parity);
  if (twice(g))
    fields_into(g, g->field_to, &item.to);
  else
    spare_fields(&item.to);
  return item;
}
static ooze_result permuted(gpu *g, const permute_item &item, uint32_t n, ooze_message *why) {
  bool some = false;
  lay_out(&g->arrays, static_cast<float *>(g->block.at), g->capacity, 1 - g->parity);
  for (int k = 0; k < OZ_FIELD_STATE_COUNT; k++) {
    if (!g->field[k].at) continue;
    some = true;
    if (!twice(g)) continue;
    const buffer was = g->field[k];
    g->field[k] = g->field_to[k], g->field_to[k] = was;
  }
  fields_into(g, g->field, &g->arrays);
  if (some && !twice(g)) OZ_CUDA(each(g->stream, n, back_item{item.to, g->arrays}), "sorting");
  g->parity = 1 - g->parity;
  g->slot_of = slots_of(static_cast<float *>(g->block.at), g->capacity, g->parity);
  return OOZE_OK;
}
ooze_result permute_now(gpu *g, ooze_message *why) {
  if (!g->permutes) return OOZE_OK;
  g->permutes = false;
  permute_item item;
  static_cast<permuting &>(item) = g->permuting_later;
  /* what may follow it reads nothing before it waits */
  OZ_CUDA(each(g->stream, g->count, item, CHAINED), "sorting");
  return OOZE_OK;
}
ooze_result permute(gpu *g, const uint32_t *order, uint32_t n, bool keep, ooze_message *why) {
  OZ_TRY(room_for_fields(g, why));
  const permute_item item = permutation(g, order, keep);
  OZ_CUDA(each(g->stream, n, item), "sorting");
  return permuted(g, item, n, why);
}

/* A little more than h, because coordinates are rounded. */
static float cell_of_sort(const oz_frame *f) { return 1.01f * f->h; }

float cells_of_sort(const oz_frame *f) { return 1.0f / cell_of_sort(f); }
ooze_result ready_box(gpu *g, ooze_message *why) {
  if (!g->box_clear) {
    OZ_CUDA(cudaMemsetAsync(device_news(g)->box, 0x7f, sizeof(int) * 6, g->stream), "sorting");
    OZ_CUDA(cudaMemsetAsync(&device_news(g)->reset, 0, 4, g->stream), "sorting");
  }
  g->box_clear = false;
  return OOZE_OK;
}
ooze_result launch_box(gpu *g, const oz_frame *f, ooze_message *why) {
  OZ_TRY(ready_box(g, why));
  OZ_CUDA(box_all(g, box_item{f->x, cells_of_sort(f), device_news(g)->box}, g->count),
          "bounding box");
  return OOZE_OK;
}

/* Velocities and sources as they were before the sort: the substep failed after it. */
ooze_result undo(oz_backend *b, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->queued = g->frames = 0; /* what still waits is not done */
  g->box_known = g->box_told = g->untold = g->soon = false;
  g->due = 0;
  give_up_foreseen(g);
  OZ_TRY(permute_now(g, why));
  if (g->walls_aside || g->lists_aside) OZ_TRY(join_side(g, why));
  if (!g->backed || !g->count) return OOZE_OK;
  g->backed = false;
  OZ_CUDA(each(g->stream, g->count,
               undo_item{g->arrays, backup_of(static_cast<float *>(g->block.at), g->capacity)}),
          "undoing a substep");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "undoing a substep");
  return OOZE_OK;
}

void keep_box(gpu *g) { memcpy(g->box, g->host_news->box, sizeof g->box); }

/* On walls' stream, into spare.x; lists, which are made on the side, come after it, and state is
 * permuted after_sort. */
static ooze_result sort_aside(gpu *g, const key_item &key, bool counted, ooze_message *why) {
  {
    const aside there(g, true, &gpu::wall_side);
    placement where;
    OZ_TRY(table_cells(g, key, counted, CHAINED, &where, why));
    OZ_CUDA(each(g->stream, g->count,
                 foresee_item{where, as<uint32_t>(g->cell_of), as<uint32_t>(g->order[1]), key.at,
                              as<float>(g->spare.x)},
                 CHAINED),
            "sorting");
  }
  return note_sorted(g, why);
}
/* As the last substep's was; there is a table for that. */
bool foresees(gpu *g, const oz_frame *f) {
  if (!(g->cell > 0.0f) || f->x != g->arrays.x || !tabled(g, g->bits) ||
      g->table.bytes < (codes_of(g->bits) + 1) * 4 || !goes_ahead(g, f))
    return false;
  return !(g->foresee_rest && g->foresee_rest--);
}
ooze_result foresee(gpu *g, ooze_message *why) {
  OZ_TRY(after_ended(g, why));
  g->foresees = false, g->foreseen = true;
  if (g->soon) { /* here, where nobody waits for it; and before the sort, which clears the box */
    const aside there(g, true, &gpu::wall_side);
    OZ_TRY(tell_beside(g, why));
  }
  OZ_TRY(sort_aside(g, key_round(g->arrays.x, g->arrays.rank, g->cell, g->bits), g->counted, why));
  return clear_beside(g, why);
}

ooze_result sort(oz_backend *b, oz_frame *f, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  g->backed = g->untold = g->soon = g->ahead = g->near_made = g->apart = false;
  g->due = 0;
  OZ_TRY(flush(g, why));
  /* the substep before broke off */
  if (g->walls_aside || g->lists_aside || g->sorting) OZ_TRY(join_side(g, why));
  f->wall_count = g->wall_count = 0; /* slots are of particles as they were sorted before */
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_SORT);
  /* measured where the last substep ended */
  const bool known = g->box_known && g->cell == cell_of_sort(f);
  g->cell = cell_of_sort(f);
  g->box_known = false;
  if (!known) {
    give_up_foreseen(g);
    OZ_TRY(launch_box(g, f, why));
    OZ_TRY(bring_news(g, why));
    keep_box(g);
  }
  for (int k = 0; k < 3; k++) {
    g->grid.low[k] = g->box[k];
    g->last[k] = (uint32_t)(-g->box[3 + k] - g->box[k]);
  }
  uint32_t bits[3];
  rounds(g->last, bits);
  const key_item key = key_round(f->x, f->rank, g->cell, bits);
  g->by_table = tabled(g, bits);
  const bool ahead = g->by_table && known && goes_ahead(g, f),
             foreseen = ahead && g->foreseen && memcmp(bits, g->bits, sizeof bits) == 0;
  memcpy(g->bits, bits, sizeof bits);
  g->foresees = g->foreseen = false;
  if (g->by_table) {
    placement where = {};
    if (ahead && !foreseen) {
      OZ_TRY(sort_aside(g, key, false, why));
      OZ_TRY(after_sort(g, why));
    }
    if (!ahead) OZ_TRY(table_cells(g, key, false, ALONE, &where, why));
    /* everybody waits for it; what else there is to launch comes after */
    if (ahead && !g->nozzle_count) OZ_TRY(search_ahead(g, f, why));
    OZ_TRY(room_for_fields(g, why));
    const permute_item item = permutation(g, as<uint32_t>(g->order[1]), true);
    g->now = 1;
    if (ahead)
      g->permuting_later = item, g->permutes = true;
    else
      OZ_CUDA(each(g->stream, g->count,
                   settle_item{item, where, as<uint32_t>(g->cell_of), as<uint32_t>(g->order[1])}),
              "sorting");
    /* something asks for it before predict */
    if (ahead && (!g->near_made || !twice(g))) OZ_TRY(permute_now(g, why));
    OZ_TRY(permuted(g, item, g->count, why));
    g->ahead = ahead;
  } else {
    OZ_TRY(order_by_cell(g, key, g->count, why));
    OZ_TRY(permute(g, as<uint32_t>(g->order[g->now]), g->count, true, why));
  }
  g->backed = true;
  lay_out(f, static_cast<float *>(g->block.at), g->capacity, g->parity);
  fields_into(g, g->field, f);
  OZ_TRY(links_move(g, as<uint32_t>(g->order[g->now]), g->count, g->count, why));
  links_frame(g, f);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
