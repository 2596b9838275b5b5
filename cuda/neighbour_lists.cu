/* Neighbour lists.
 *
 * One search a substep, at the start positions, builds the start list. The density constraint walks
 * the same rows (a pair that has moved apart adds nothing) and then rows of pairs that have come
 * near since, found at the current positions; there is no margin, and no pair is listed twice.
 * Where a model skips static cells (OZ_MIN_APPROACH), so does the search.
 *
 * A search tests the same cells twice: the first pass counts, the group of 32 takes room for its
 * rows, the second pass fills. The lines of memory that a group gets may differ from run to run,
 * their content does not.
 *
 * Small scenes have rows of particle numbers. In large ones the particles of a block of threads
 * share a list of all their neighbours, and their rows hold 16-bit places in it. A gather copies
 * the particles of that list into shared memory once (gather.h). The first pass marks them on pages
 * of 32 consecutive particles. SPDX-License-Identifier: Apache-2.0 */
#include "cuda/row_order.h"
#include "cuda/displacement_bins.h"

#include "physics/boundary_particles.h"
#include "physics/pairs.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

#include "cuda/neighbour_search.h"
#include "cuda/search_kernels.h"

/* ---- gradients of the start list, as halves beside its entries, for scenes with several threads a
 * particle ---- */

struct ghat_item { /* one thread an entry of a line of 32 * 4 */
  oz_frame f;
  const uint32_t *place;
  uint16_t *ghat;
  place_units u;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = t / 4, lane = t % 4, g = i / GROUP, len = f.start_length[i];
    const oz_place here = oz_place_ld(place, i);
    oz_frame units; /* the members that oz_spiky reads */
    units.h = place_units::H, units.h2 = place_units::H * place_units::H,
    units.grad_norm = u.grad_norm, units.zero_energy_norm = u.zero_energy_norm,
    units.inv_d = u.inv_d;
    size_t at = (size_t)f.start_row[g] * GROUP + i % GROUP * 4 + lane;
    for (uint32_t k = lane; k < ((len + 3u) & ~3u); k += 4, at += 4 * GROUP) {
      float r[3];
      oz_real c;
      oz_place_difference(here, oz_place_ld(place, f.start_list[at]), r);
      const oz_v3 way = {r[0], r[1], r[2]};
      const oz_v3 v = oz_spiky(&units, way, &c);
      uint16_t *to = ghat + 4 * at;
      oz_st_half(to, v.x), oz_st_half(to + 1, v.y), oz_st_half(to + 2, v.z), oz_st_half(to + 3, c);
    }
  }
};

ooze_result reserve_rows(gpu *g, rows *r, uint64_t lines, size_t entry, ooze_message *why) {
  if (lines > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbour entries; a list holds %llu",
                   (unsigned long long)lines * GROUP, (unsigned long long)UINT32_MAX * GROUP);
  return grow(g, &r->entries, (size_t)(lines + 4) * GROUP * entry, "neighbour lists", why);
}
/* Walks prefetch a round beyond the last entry. */
uint64_t row_lines(const rows *r, size_t entry) {
  return r->entries.bytes ? r->entries.bytes / (GROUP * entry) - 4 : 0;
}
/* Counters of a search start at zero. */
ooze_result clear_list_counters(gpu *g, ooze_message *why) {
  if (!g->mailbox.counters_clear)
    OZ_CUDA(cudaMemsetAsync(&status_on_device(g)->groups, 0,
                            offsetof(device_status, scalar) - offsetof(device_status, groups),
                            g->stream),
            "lists");
  g->mailbox.counters_clear = false;
  return OOZE_OK;
}
ooze_result reserve_block_lists(gpu *g, uint64_t entries, ooze_message *why) {
  if (entries > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbours of blocks; a list holds %llu",
                   (unsigned long long)entries, (unsigned long long)UINT32_MAX);
  return grow(g, &g->lists.block_j, (size_t)entries * 4, "neighbour lists", why);
}

/* Room for the next list that is built ahead, where this one is nearly full, so that no substep is
 * repeated as particles are born. */
void wish_for_room(gpu *g, uint64_t spare, uint64_t lines, uint64_t room, size_t entry) {
  const device_status *n = g->mailbox.host;
  const auto full = [](uint64_t used, uint64_t have) { return used + used / 32 > have; };
  g->lists.wish_entries = full(n->groups[0], lines)
                              ? (size_t)(n->groups[0] + n->groups[0] / spare + 1024) * GROUP * entry
                              : 0;
  g->lists.wish_blocks =
      full(n->shared, room) ? (size_t)(n->shared + n->shared / spare + 1024) * 4 : 0;
}

/* By the last status: whether the start list had room. Makes room if not. copied: neighbours of a
 * block that gathers had room for meanwhile. */
ooze_result check_start_list(gpu *g, uint32_t copied, bool *fits, ooze_message *why) {
  const device_status *n = g->mailbox.host;
  const bool shared = lanes_for(g) <= COMPUTED_GRADIENT_LANES;
  const size_t entry = shared ? 2 : 4;
  const uint64_t lines = row_lines(&g->lists.start, entry), room = g->lists.block_j.bytes / 4;
  g->lists.start_fits = *fits = false;
  if (g->sorter.cells != CELLS_TABLE && n->cells > g->sorter.grid.capacity)
    return reserve_cells(g, n->cells + n->cells / 4 + 1024, why);
  /* a substep without room is repeated where checks are deferred: small scenes get more room */
  const uint64_t spare = g->count <= g->device.deferred_max ? 4 : 16;
  if (n->groups[0] > lines)
    return reserve_rows(g, &g->lists.start, n->groups[0] + n->groups[0] / spare + 1024, entry, why);
  if (shared && n->shared > room)
    return reserve_block_lists(g, n->shared + n->shared / spare + 1024, why);
  g->lists.start_fits = *fits = true;
  if (shared) wish_for_room(g, spare, lines, room, entry);
  /* a block with more neighbours than it could copy gathers by other instructions, with another
   * rounding: that may depend on the device, but not on the substep before */
  if (shared && n->widest > copied && copied < g->lists.block_limit) *fits = false;
  g->lists.widest_block = n->widest;
  g->lists.mean_neighbours = (double)n->neighbours / g->count;
  return OOZE_OK;
}
ooze_result check_density_list(gpu *g, bool *fits, ooze_message *why) {
  const device_status *n = g->mailbox.host;
  g->lists.density_fits = *fits = false;
  if (g->sorter.cells != CELLS_TABLE && n->cells > g->sorter.grid.capacity)
    return reserve_cells(g, n->cells + n->cells / 4 + 1024, why);
  /* their number varies from substep to substep */
  g->lists.density_lines = n->groups[1];
  const uint64_t wish = n->groups[1], spare = g->count > g->device.deferred_max ? wish / 4 + 1024
                                              : wish > 8192                     ? wish
                                                                                : 8192;
  if (wish > row_lines(&g->lists.density, 4))
    return reserve_rows(g, &g->lists.density, wish + spare, 4, why);
  g->lists.density_fits = *fits = true;
  return OOZE_OK;
}

} // namespace

ooze_result post_pending(gpu *g, ooze_message *why) {
  if (g->mailbox.post != POST_OWED) return OOZE_OK;
  g->mailbox.post = POST_NONE;
  return post_status_deferred(g, why);
}

/* The device is still busy with later kernels: the wait is short. */
ooze_result check_pending(gpu *g, ooze_message *why) {
  const uint32_t due = g->mailbox.pending;
  bool near = true, slots = true, further = true;
  g->mailbox.pending = 0;
  if (!due) return OOZE_OK;
  OZ_TRY(post_pending(g, why));
  OZ_TRY(await_status(g, why));
  if (due & PENDING_START_LIST) OZ_TRY(check_start_list(g, g->lists.block_room, &near, why));
  if (due & PENDING_WALLS) OZ_TRY(check_walls(g, &slots, why));
  if (due & PENDING_DENSITY_LIST) OZ_TRY(check_density_list(g, &further, why));
  return near && slots && further ? OOZE_OK : OZ_AGAIN;
}

/* Builds the start list: on the list stream, from the prebuilt order (ahead), or on the main
 * stream. */
static ooze_result build_start_list(gpu *g, const oz_frame *f, bool ahead, ooze_message *why) {
  const on_stream there(g, ahead);
  const bool table = g->sorter.cells == CELLS_TABLE;
  const bool shared = lanes_for(g) <= COMPUTED_GRADIENT_LANES;
  if (!table)
    OZ_TRY(find_cells(g, g->count, g->sorter.wrap, f->x, nullptr, nullptr, nullptr,
                      displacement_boxes{}, false, why));
  OZ_TRY(clear_list_counters(g, why));
  search<false> s = {};
  s.own = s.at = ahead ? as<float>(g->lists.spare.x) : f->x;
  s.cell_of = as<uint32_t>(g->sorter.cell_of),
  s.around = table ? nullptr : as<uint2>(g->sorter.grid.around),
  s.table = as<uint32_t>(g->sorter.table);
  s.set_wrap(g->sorter.wrap);
  s.n = g->count, s.capacity = table ? UINT32_MAX : g->sorter.grid.capacity;
  s.radius2 = f->h2;
  s.entries = g->lists.start.entries.at, s.group = as<uint32_t>(g->lists.start.group),
  s.len = as<uint16_t>(g->lists.start.len), s.lines = row_lines(&g->lists.start, shared ? 2 : 4);
  if (shared) {
    s.share_first = as<uint32_t>(g->lists.block_first),
    s.share_list = as<uint32_t>(g->lists.block_j), s.near_room = g->lists.block_j.bytes / 4,
    s.step = disabled(g, DISABLE_ROW_ORDER) ? 0 : (uint32_t)lanes_for(g);
    s.shared = &status_on_device(g)->shared, s.widest = &status_on_device(g)->widest,
    s.most = g->lists.block_limit;
  }
  s.asked = &status_on_device(g)->groups[0], s.total = &status_on_device(g)->neighbours;
  s.neighbours = f->neighbours, s.place = g->lists.place, s.h = f->h,
  s.owner = f->has_boundary ? f->owner : nullptr, s.slip = f->has_slip ? f->material : nullptr;
  OZ_CUDA(launch_search(g, s, g->stream, ahead), "neighbour search");
  if (shared && !disabled(g, DISABLE_ROW_ORDER) && !rows_ordered(g, s))
    OZ_CUDA(order_rows(g, s.group, s.len, static_cast<uint16_t *>(s.entries), ahead),
            "neighbour lists");
  return OOZE_OK;
}
ooze_result build_start_list_ahead(gpu *g, const oz_frame *f, ooze_message *why) {
  OZ_EXPECT_STATE(g->lists.prebuilt == PREBUILT_NONE);
  swap_lists(g);
  g->lists.prebuilt = PREBUILT_LIST;
  g->streams.unjoined |= UNJOINED_LISTS;
  return build_start_list(g, f, true, why);
}

ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  /* a prebuilt list was made from copies, and the state's permutation may be pending */
  if (g->queue.count || g->lists.prebuilt != PREBUILT_LIST) OZ_TRY(flush(g, why));
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_LISTS);
  const bool shared = lanes_for(g) <= COMPUTED_GRADIENT_LANES;
  const bool late = defers_checks(g, f) && g->lists.start_fits,
             ahead = g->lists.prebuilt != PREBUILT_NONE;
  const size_t entry = shared ? 2 : 4;
  bool made = g->lists.prebuilt == PREBUILT_LIST;
  if (ahead && !made) swap_lists(g);
  /* prebuilt, but particles have moved since */
  if (!ahead && (g->streams.unjoined & UNJOINED_LISTS)) OZ_TRY(join_streams(g, why));
  g->lists.prebuilt = PREBUILT_NONE;
  const bool table = g->sorter.cells == CELLS_TABLE;
  if (!table && !g->sorter.grid.capacity) OZ_TRY(reserve_cells(g, g->count / 6 + 1024, why));
  /* a lattice has rows of 32; molten fluid some 43, and the longest of a group some 55: with
   * deferred checks there is room for it from the start */
  const bool generous = g->count <= g->device.deferred_max;
  if (!g->lists.start.entries.at)
    OZ_TRY(reserve_rows(g, &g->lists.start,
                        (uint64_t)g->count / GROUP * (generous ? 60 : 35) + 4096, entry, why));
  if (shared && !g->lists.block_j.at)
    OZ_TRY(reserve_block_lists(
        g, generous ? (uint64_t)g->count * 7 + 4096 : (uint64_t)g->count * 19 / 4 + 4096, why));
  if (shared)
    OZ_TRY(grow(g, &g->lists.block_first, ((size_t)g->capacity / BLOCK_PARTICLES + 1) * 8,
                "neighbour lists", why));
  for (;; made = false) {
    if (!made) OZ_TRY(build_start_list(g, f, ahead, why));
    if (late) { /* the last substep had room, and this one most likely has */
      g->mailbox.pending = PENDING_START_LIST;
      OZ_EXPECT_STATE(g->mailbox.post != POST_DEFERRED);
      g->mailbox.post = POST_OWED;
      break;
    }
    bool fits;
    OZ_TRY(fetch_status(g, why));
    OZ_TRY(check_start_list(g, UINT32_MAX, &fits, why));
    if (fits) break;
  }
  if (ahead)
    g->streams.unjoined |= UNJOINED_LISTS;
  else
    g->streams.unjoined &= ~UNJOINED_LISTS;
  if (!table) g->sorter.cells = CELLS_GRID_OF_START_LIST;
  f->start_row = as<uint32_t>(g->lists.start.group),
  f->start_length = as<uint16_t>(g->lists.start.len);
  f->start_list = shared ? nullptr : as<uint32_t>(g->lists.start.entries);
  f->start_entries = shared ? as<uint16_t>(g->lists.start.entries) : nullptr;
  f->share_first = as<uint32_t>(g->lists.block_first),
  f->share_list = as<uint32_t>(g->lists.block_j);
  /* neighbours without room are gathered from global memory */
  const uint32_t wide = (g->lists.widest_block + (late ? 95u : 31u)) & ~31u,
                 most = (g->lists.block_limit + 31u) & ~31u;
  g->lists.block_room = !shared ? 0 : wide < most ? wide : most;
  f->ghat = nullptr;
  if (!shared) {
    OZ_TRY(grow(g, &g->lists.gradients, g->lists.start.entries.bytes * 2, "gradients", why));
    f->ghat = as<uint16_t>(g->lists.gradients);
    ghat_item item = {*f, g->lists.place, f->ghat, {}};
    item.u.set(*f);
    OZ_CUDA(for_each(g->stream, 4 * g->count, item), "gradients");
  }
  out->mean_neighbours = g->lists.mean_neighbours;
  return OOZE_OK;
}

/* Radius of the density list, and its cells. */
struct density_cells {
  float radius;
  key_item key;
  bool table; /* the table holds the cells */
  displacement_boxes moves;
  density_cells(const gpu *g, const oz_frame *f) {
    /* the iterations move particles further, by a distance the model knows. Beyond 1.01 h a little
     * more still, without which links settle differently (verify links.fig8 and links.fig11) */
    const float beyond = f->reach - f->h;
    radius = beyond > 0.015f * f->h ? f->h + 1.32f * beyond : f->reach;
    const float cell = 1.01f * radius;
    /* cells of the start with a margin of two; particles beyond share the outermost */
    int low[3];
    uint32_t last[3];
    for (int k = 0; k < 3; k++)
      low[k] = (int)floorf((float)g->sorter.grid.low[k] * (g->sorter.cell / cell)) - 2,
      last[k] = g->sorter.extent[k] + 4;
    table = uses_moved_cells(g, last);
    /* rows in the order of the start list, which depends on state alone */
    key = clamped_key(f->p, nullptr, cell, low, last);
    moves.set(f);
  }
};

/* The fused position gather, which posts the status, can begin with the rows of the start list. */
static bool overlaps_position_gather(const gpu *g, const oz_frame *f) {
  return f->fused_density && f->start_entries && !disabled(g, DISABLE_POSITION_FUSION) &&
         !disabled(g, DISABLE_OVERLAP) && !disabled(g, DISABLE_STATUS_CARRIERS) && !g->profile.on;
}

/* The density list without a row that has entries. */
static ooze_result clear_density_rows(gpu *g, ooze_message *why) {
  OZ_CUDA(cudaMemsetAsync(g->lists.density.len.at, 0, (size_t)g->count * 2, g->stream),
          "neighbour lists");
  OZ_CUDA(cudaMemsetAsync(g->lists.density.group.at, 0, ((size_t)g->count + GROUP - 1) / GROUP * 4,
                          g->stream),
          "neighbour lists");
  return OOZE_OK;
}

/* Rows of `count` particles from a grid of cells, sorted anew. */
static ooze_result search_density_rows(gpu *g, oz_frame *f, const density_cells &to, uint32_t count,
                                       ooze_message *why) {
  search<true> s = {};
  uint32_t wrap[3];
  bool counted;
  OZ_TRY(order_by_count(g, to.key, count, wrap, &counted, why));
  if (!counted) OZ_TRY(order_by_cell(g, to.key, count, why));
  OZ_TRY(find_cells(g, count, counted ? wrap : nullptr, f->p, f->x, f->A, f->dx, to.moves, counted,
                    why));
  OZ_TRY(clear_list_counters(g, why));
  s.own = f->p, s.at = f->A;
  s.cell_of = as<uint32_t>(g->sorter.cell_of), s.around = as<uint2>(g->sorter.grid.around);
  s.n = g->count, s.capacity = g->sorter.grid.capacity;
  s.radius2 = to.radius * to.radius;
  s.x = f->x, s.sorted_x = f->dx, s.skip2 = f->h2, s.min_approach2 = f->min_approach2;
  s.entries = g->lists.density.entries.at, s.group = as<uint32_t>(g->lists.density.group),
  s.len = as<uint16_t>(g->lists.density.len), s.lines = row_lines(&g->lists.density, 4);
  s.asked = &status_on_device(g)->groups[1], s.total = &status_on_device(g)->neighbours;
  s.owner = f->has_boundary ? f->owner : nullptr, s.slip = f->has_slip ? f->material : nullptr;
  OZ_CUDA(launch_search(g, s, g->stream), "neighbour search");
  return OOZE_OK;
}

ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  density_cells to(g, f);
  bin_item bins;
  const bool ready = g->count && to.table && advance_can_bin(g, f);
  if (ready) OZ_TRY(prepare_bins(g, to.key, f, to.moves, &bins, why));
  g->lists.binning = ready ? &bins : nullptr;
  const ooze_result flushed = flush(g, why);
  bool binned = ready && !g->lists.binning;
  g->lists.binning = nullptr;
  OZ_TRY(flushed);
  out->rebuilt = 0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(check_pending(g, why));
  out->mean_neighbours = g->lists.mean_neighbours;
  const bool late = defers_checks(g, f) && g->lists.density_fits;
  timer t(g, TIMER_DENSITY_LIST);
  if (!g->lists.density.entries.at)
    OZ_TRY(reserve_rows(
        g, &g->lists.density,
        (uint64_t)g->count / GROUP * (g->count <= g->device.deferred_max ? 12 : 2) + 8192, 4, why));
  const bool start_grid = g->sorter.cells == CELLS_GRID_OF_START_LIST;
  g->sorter.cells = to.table ? CELLS_TABLE : CELLS_GRID;
  if (!to.table && !g->sorter.grid.capacity) OZ_TRY(reserve_cells(g, g->count / 6 + 1024, why));
  uint32_t count = g->count;
  if (to.moves.at && start_grid && !to.table && !late && g->count >= 1024 &&
      !(g->lists.sift_pause && g->lists.sift_pause--)) {
    OZ_TRY(sift(g, f, to.moves, &to.key.upto, &count, why));
    to.key.cell_of = as<uint32_t>(g->sorter.cell_of);
    g->lists.sift_pause = count > g->count / 4 * 3 ? 7 : 0;
  }
  if (!count) OZ_TRY(clear_density_rows(g, why));
  while (count) {
    if (to.table) {
      if (!binned) OZ_TRY(prepare_bins(g, to.key, f, to.moves, &bins, why));
      const bool overlaps = late && overlaps_position_gather(g, f);
      OZ_TRY(moved_rows(g, bins, binned, f, to.radius, row_lines(&g->lists.density, 4), overlaps,
                        why));
      binned = false;
    } else {
      OZ_TRY(search_density_rows(g, f, to, count, why));
    }
    if (late) {
      OZ_TRY(post_status_deferred(g, why));
      g->mailbox.pending = PENDING_DENSITY_LIST;
      break;
    }
    bool fits;
    OZ_TRY(fetch_status(g, why));
    OZ_TRY(check_density_list(g, &fits, why));
    if (fits) break;
  }
  f->density_list[0] = f->start_list, f->density_row[0] = f->start_row,
  f->density_length[0] = f->start_length;
  f->density_list[1] = as<uint32_t>(g->lists.density.entries),
  f->density_row[1] = as<uint32_t>(g->lists.density.group),
  f->density_length[1] = as<uint16_t>(g->lists.density.len);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
