/* Particles that leave, by a kill volume or beyond the limit of positions: counted after a substep
 * and taken out on the device, so that the host fetches nothing but the ranks of those that are
 * gone. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/mailbox.h"

#include "physics/lanes.h"

#include "physics/search.h"
#include "physics/wall_planes.h"

#include <algorithm>

namespace OZ_NAMESPACE {
namespace {

struct is_lost {
  oz_frame f;
  oz_leaving which;
  OZ_D bool operator()(uint32_t i) const {
    const float *x = f.x + 4 * (size_t)i, limit = which.limit;
    const bool in = fabsf(x[0]) <= limit && fabsf(x[1]) <= limit && fabsf(x[2]) <= limit;
    return f.rank[i] < which.visible && (!in || (which.kill && oz_wall_kill(&f, x)));
  }
};
struct lost_count {
  is_lost gone;
  uint32_t *count;
  OZ_D void operator()(uint32_t i) const {
    if (gone(i)) oz_atomic_add(count, 1u);
  }
};
/* Places and ranks of those, in any order. */
struct lost_list {
  is_lost gone;
  uint32_t *count, *place, *rank;
  OZ_D void operator()(uint32_t i) const {
    if (!gone(i)) return;
    const uint32_t k = oz_atomic_add(count, 1u);
    place[k] = i, rank[k] = gone.f.rank[i];
  }
};

/* The old place of the k-th that stays: as many places further as gone ones stand before it. */
struct order_item {
  const uint32_t *place; /* of the gone ones, rising */
  uint32_t gone, *order;
  OZ_D void operator()(uint32_t k) const {
    uint32_t low = 0, high = gone;
    OZ_LOWER_BOUND(low, high, middle, place[middle] - middle <= k)
    order[k] = k + low;
  }
};
struct rank_item {
  const uint32_t *gone; /* ranks, rising */
  uint32_t count, *rank;
  OZ_D void operator()(uint32_t k) const {
    uint32_t low = 0, high = count;
    OZ_LOWER_BOUND(low, high, middle, gone[middle] < rank[k])
    rank[k] -= low;
  }
};

/* Results of the last substep, by way of dx and A, eight words side by side (arrays.cu) that are
 * dead between substeps. */
enum { LAM_WORDS = 6 };
struct gather_results {
  oz_frame f;
  const uint32_t *order;
  float *to;
  OZ_D void operator()(uint32_t k) const {
    const uint32_t i = order[k];
    const size_t s = f.stride;
    for (uint32_t c = 0; c < LAM_WORDS; c++) to[c * s + k] = f.lam[c * s + i];
    to[LAM_WORDS * s + k] = f.rho[i];
    reinterpret_cast<uint32_t *>(to)[(LAM_WORDS + 1) * s + k] = f.neighbours[i];
  }
};
struct put_results {
  oz_frame f;
  const float *from;
  OZ_D void operator()(uint32_t k) const {
    const size_t s = f.stride;
    for (uint32_t c = 0; c < LAM_WORDS; c++) f.lam[c * s + k] = from[c * s + k];
    f.rho[k] = from[LAM_WORDS * s + k];
    f.neighbours[k] = reinterpret_cast<const uint32_t *>(from)[(LAM_WORDS + 1) * s + k];
  }
};

is_lost lost_of(oz_backend *b, const oz_leaving *which) {
  is_lost gone;
  b->table->frame(b, &gone.f);
  gone.which = *which;
  gone.f.d = 1.0f; /* the distance formulas need no more */
  return gone;
}

/* Room on the device for places and ranks, and both of them here, rising. */
ooze_result list(gpu *g, const is_lost &gone, uint32_t count, uint32_t *places, uint32_t *ranks,
                 ooze_message *why) {
  const size_t bytes = (size_t)count * 4;
  uint32_t *found = &status_on_device(g)->lost;
  OZ_TRY(grow(g, &g->sorter.gone, 2 * bytes, "particles that leave", why));
  uint32_t *at = as<uint32_t>(g->sorter.gone);
  OZ_CUDA(cudaMemsetAsync(found, 0, sizeof *found, g->stream), "removing particles");
  OZ_CUDA(for_each(g->stream, g->count, lost_list{gone, found, at, at + count}),
          "removing particles");
  OZ_CUDA(cudaMemcpyAsync(places, at, bytes, cudaMemcpyDeviceToHost, g->stream),
          "removing particles");
  OZ_CUDA(cudaMemcpyAsync(ranks, at + count, bytes, cudaMemcpyDeviceToHost, g->stream),
          "removing particles");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "removing particles");
  std::sort(places, places + count);
  std::sort(ranks, ranks + count);
  OZ_CUDA(cudaMemcpyAsync(at, places, bytes, cudaMemcpyHostToDevice, g->stream),
          "removing particles");
  OZ_CUDA(cudaMemcpyAsync(at + count, ranks, bytes, cudaMemcpyHostToDevice, g->stream),
          "removing particles");
  OZ_CUDA(cudaStreamSynchronize(g->stream), "removing particles");
  return OOZE_OK;
}

ooze_result close_up(oz_backend *b, uint32_t gone, ooze_message *why) {
  gpu *g = GPU(b);
  const uint32_t n = g->count - gone, *places = as<uint32_t>(g->sorter.gone),
                 *ranks = places + gone;
  uint32_t *order = as<uint32_t>(g->sorter.order[0]);
  oz_frame f;
  OZ_CUDA(for_each(g->stream, n, order_item{places, gone, order}), "removing particles");
  g->sorter.has_backup = false;
  OZ_TRY(permute(g, order, n, false, why));
  OZ_TRY(links_move(g, order, n, g->count, why));
  b->table->frame(b, &f);
  OZ_CUDA(for_each(g->stream, n, gather_results{f, order, f.dx}), "removing particles");
  OZ_CUDA(for_each(g->stream, n, put_results{f, f.dx}), "removing particles");
  OZ_CUDA(for_each(g->stream, n, rank_item{ranks, gone, f.rank}), "removing particles");
  return OOZE_OK;
}

} // namespace

ooze_result lost(oz_backend *b, const oz_leaving *which, uint32_t *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  /* the cells' bounding box decides; NaN lies in the outermost cells */
  if (!which->kill && g->sorter.box_known == BOX_KNOWN && !g->sorter.unplaced) {
    const double limit = (double)which->limit;
    bool in = true;
    for (int k = 0; k < 3; k++)
      in = in && (double)g->sorter.box[k] * (double)g->sorter.cell > -limit &&
           (1.0 - (double)g->sorter.box[3 + k]) * (double)g->sorter.cell < limit;
    *out = 0;
    if (in) return OOZE_OK;
  }
  OZ_TRY(flush(g, why));
  uint32_t *count = &status_on_device(g)->lost;
  OZ_CUDA(cudaMemsetAsync(count, 0, sizeof *count, g->stream), "looking for lost particles");
  OZ_CUDA(for_each(g->stream, g->count, lost_count{lost_of(b, which), count}),
          "looking for lost particles");
  OZ_TRY(fetch_status(g, why));
  *out = g->mailbox.host->lost;
  return OOZE_OK;
}

ooze_result remove_lost(oz_backend *b, const oz_leaving *which, uint32_t count, uint32_t *ranks,
                        ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  if (!count) return OOZE_OK;
  OZ_TRY(flush(g, why));
  uint32_t *places = static_cast<uint32_t *>(oz_alloc(g->memory, (size_t)count * 4));
  if (!places)
    return oz_fail(why, OOZE_ERROR_MEMORY,
                   "no memory for removing particles: %zu bytes were refused", (size_t)count * 4);
  ooze_result r = list(g, lost_of(b, which), count, places, ranks, why);
  oz_free(g->memory, places);
  if (r >= 0) r = close_up(b, count, why);
  if (r < 0) return r;
  g->count -= count;
  g->sorter.box_known = BOX_UNKNOWN, g->sorter.unplaced = 0;
  cancel_presort(g);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
