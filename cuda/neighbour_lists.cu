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
 * of 32 consecutive particles. */
#include "cuda/row_order.h"
#include "cuda/moved_cells.h"

#include "physics/boundary_particles.h"
#include "physics/pairs.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

#include "cuda/neighbour_search.h"

#if defined(OZ_CUDA_HOST)
bool in_order(const search_args &s) {
  return s.step == 1;
} /* one lane: so that tests cover both ways */
template <class BOOK, class S>
void search_block(const S &s, uint32_t first, uint32_t members, BOOK *book) {
  static pieces kept[BLOCK_PARTICLES];
  static row_buffer<1> d;
  found of[BLOCK_PARTICLES];
  uint32_t count[BLOCK_PARTICLES], start[BLOCK_PARTICLES] = {0},
                                   width[BLOCK_PARTICLES / GROUP] = {0};
  bool fits = true;
  unsigned long long base[BLOCK_PARTICLES / GROUP];
  for (uint32_t k = 0; k < members; k++) {
    if constexpr (std::is_same<BOOK, pages>::value)
      if (k % GROUP == 0) s.mark_group(first + k, book);
    of[k] = s.template find<1, !std::is_same<S, search<true>>::value>(first + k, 0, book, kept[k]);
    count[k] = capped(of[k].count);
    oz_atomic_add(s.total, (unsigned long long)count[k]);
    width[k / GROUP] =
        width[k / GROUP] > in_fours(count[k]) ? width[k / GROUP] : in_fours(count[k]);
  }
  for (uint32_t g = 0; g * GROUP < members; g++) {
    base[g] = oz_atomic_add(s.asked, (unsigned long long)width[g]);
    s.group[first / GROUP + g] = (uint32_t)base[g];
    fits = fits && base[g] + width[g] <= s.lines;
  }
  if constexpr (std::is_same<BOOK, pages>::value) {
    book->total = 0;
    if (book->full)
      for (uint32_t k = 0; k < members; k++) start[k] = book->total, book->total += count[k] + 1;
    else
      for (uint32_t u = 0; u < book->many; u++)
        book->count(book->used[u], 0, 1, &book->of[book->used[u]].before, &book->total);
    const unsigned long long at = oz_atomic_add(s.shared, (unsigned long long)book->total);
    book->first = (uint32_t)at;
    fits = fits && at + book->total <= s.near_room;
    s.store_block_list(first / BLOCK_PARTICLES, book, at + book->total <= s.near_room);
    for (uint32_t u = 0; u < book->many && fits && !book->full; u++) {
      const uint32_t p = book->used[u];
      for (uint32_t b = book->of[p].bits; b; b &= b - 1)
        s.share_list[book->first + book->place(p, lowest(b))] = (book->key[p] - 1) * 32 + lowest(b);
    }
  }
  for (uint32_t k = 0; k < members; k++) {
    s.note(first + k, fits ? count[k] : 0);
    if (!fits) continue;
    const size_t begin = (size_t)base[k / GROUP] * GROUP + 4 * (k % GROUP);
    if constexpr (std::is_same<BOOK, pages>::value)
      if (in_order(s)) {
        s.template fill_in_order<1>(first + k, of[k], kept[k], book, start[k], begin, count[k],
                                    {&d, 0});
        continue;
      }
    s.template fill<1>(first + k, 0, of[k], kept[k], book, start[k], begin, 0, count[k]);
  }
}
template <class BOOK, class S> void search_blocks(const S &s) {
  static BOOK book;
  for (uint32_t first = 0; first < s.n; first += BLOCK_PARTICLES) {
    memset(static_cast<void *>(&book), 0, sizeof book);
    search_block(s, first, s.n - first < BLOCK_PARTICLES ? s.n - first : (uint32_t)BLOCK_PARTICLES,
                 &book);
  }
}
template <bool DENSITY>
cudaError_t launch_search(const search<DENSITY> &s, cudaStream_t, bool = false) {
  if (!DENSITY && s.share_list)
    search_blocks<pages>(s);
  else
    search_blocks<no_list>(s);
  return cudaSuccess;
}
#else
/* TEAM threads a particle, P particles a block: P / GROUP groups, or all particles of a block's
 * list. The threads of a warp test the same blocks of cells for the 32 particles of a group, which
 * are mostly in one cell. Occupancy: 12 blocks are 40 registers a thread, 10 are 48; the start list
 * of large scenes is bound by latency. Teams fill a multiprocessor at 32 registers. PREFETCH: 7
 * blocks, 72 registers for candidates in flight; at 100 thousand particles all blocks are resident.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
/* its limit is 1,024 threads a multiprocessor */
enum { MIN_BLOCKS = 8, MIN_BLOCKS_DENSITY = 8, MIN_BLOCKS_PREFETCH = 7, RESIDENT_THREADS = 1024 };
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890)
enum { MIN_BLOCKS = 12, MIN_BLOCKS_DENSITY = 10, MIN_BLOCKS_PREFETCH = 7, RESIDENT_THREADS = 1536 };
#else
enum { MIN_BLOCKS = 12, MIN_BLOCKS_DENSITY = 10, MIN_BLOCKS_PREFETCH = 7, RESIDENT_THREADS = 2048 };
#endif
template <int TEAM, int P, class BOOK, bool DENSITY, bool PREFETCH = false>
__global__ void __launch_bounds__(TEAM *P, PREFETCH    ? MIN_BLOCKS_PREFETCH
                                           : TEAM == 1 ? (DENSITY ? MIN_BLOCKS_DENSITY : MIN_BLOCKS)
                                           : std::is_same<BOOK, pages>::value
                                               ? RESIDENT_THREADS / (TEAM * P)
                                               : 0)
    search_kernel(const __grid_constant__ search<DENSITY> s) {
  /* threads that number the places of a page: most blocks have up to 64 pages */
  constexpr uint32_t GROUPS = P / GROUP, THREADS = TEAM * P, COUNTERS = 2 * TEAM;
  constexpr bool SHARED = std::is_same<BOOK, pages>::value;
  __shared__ uint32_t width[GROUPS], count[TEAM][P], begins[SHARED ? P : 1];
  __shared__ unsigned long long base[GROUPS], at;
  __shared__ BOOK book;
  __shared__ typename std::conditional<PREFETCH, row_buffer<P>, no_list>::type rows;
  const uint32_t lane = threadIdx.x / GROUP % TEAM, group = threadIdx.x / (GROUP * TEAM),
                 k = group * GROUP + threadIdx.x % GROUP;
  const uint32_t block = blockIdx.x, i = block * P + k;
  uint32_t r = 0, all = 0;
  pieces kept;
  found of = {0, 0};
  if constexpr (SHARED) {
    for (uint32_t p = threadIdx.x; p < PAGES; p += THREADS) book.key[p] = book.of[p].bits = 0;
    if (threadIdx.x == 0) book.full = book.total = book.many = 0;
    __syncthreads();
  }
  launch_dependency_wait(); /* a dependent launch on the list stream; no trigger, since gathers read
                               lists before their wait */
  if constexpr (DENSITY)    /* mostly there is nothing to search */
    if (!__syncthreads_or(i < s.n && s.cell_of[i] < s.capacity)) {
      if (lane == 0 && i < s.n) {
        s.note(i, 0);
        if (threadIdx.x % GROUP == 0) s.group[i / GROUP] = 0;
      }
      return;
    }
  if (i < s.n) of = s.template find<TEAM, PREFETCH>(i, lane, &book, kept);
  if constexpr (SHARED)
    if (lane == 0 && i < s.n && threadIdx.x % GROUP == 0) s.mark_group(i, &book);
  __syncwarp(); /* reconverges lanes that have waited for a page */
  count[lane][k] = of.count;
  __syncthreads();
  for (uint32_t t = 0; t < TEAM; t++) {
    if (t == lane) r = all; /* offset of this thread's part of the row */
    all += count[t][k];
  }
  all = capped(all);
  if (lane == 0) {
    uint32_t most = in_fours(all), total = all;
    for (int d = 16; d; d >>= 1) {
      most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
      total += __shfl_xor_sync(0xffffffffu, total, d);
    }
    if (threadIdx.x % GROUP == 0 && total) {
      atomicAdd(s.total, (unsigned long long)total);
      width[group] = most;
      base[group] = atomicAdd(s.asked, (unsigned long long)most);
    } else if (threadIdx.x % GROUP == 0)
      width[group] = 0, base[group] = 0;
    if (threadIdx.x % GROUP == 0 && i < s.n)
      s.group[block * GROUPS + group] = (uint32_t)base[group];
  }
  bool fits = true;
  if constexpr (SHARED) {
    /* the first warp waits for its rows' room */
    const uint32_t t = (threadIdx.x + THREADS - GROUP) % THREADS;
    if (book.full) {
      /* one after the other, so that places do not depend on timing (row_order.cu) */
      if (lane == 0 && i < s.n) {
        uint32_t before = 0;
        for (uint32_t q = 0; q < k; q++) {
          uint32_t n = 0;
          for (uint32_t u = 0; u < TEAM; u++) n += count[u][q];
          before += capped(n) + 1;
        }
        begins[k] = before;
        atomicMax(&book.total, before + all + 1);
      }
      __syncthreads();
    } else
      /* whole warps */
      for (uint32_t u = t / COUNTERS; u / (GROUP / COUNTERS) * (GROUP / COUNTERS) < book.many;
           u += THREADS / COUNTERS) {
        const uint32_t slot = book.used[u < book.many ? u : 0];
        uint32_t sum, places;
        book.count(slot, t % COUNTERS, COUNTERS, &sum, &places);
        for (int d = COUNTERS / 2; d; d >>= 1) {
          sum += __shfl_xor_sync(0xffffffffu, sum, d);
          places += __shfl_xor_sync(0xffffffffu, places, d);
        }
        if (t % COUNTERS == 0 && u < book.many) book.of[slot].before = sum;
        if (t == 0 && u == 0) book.total = places;
      }
    if (t == 0) {
      at = atomicAdd(s.shared, (unsigned long long)book.total);
      book.first = (uint32_t)at;
      s.store_block_list(block, &book, at + book.total <= s.near_room);
    }
    __syncthreads();
    fits = at + book.total <= s.near_room;
    if (fits && !book.full)
      for (uint32_t u = threadIdx.x / 32; u < book.many; u += THREADS / 32) {
        const uint32_t p = book.used[u], bits = book.of[p].bits, bit = threadIdx.x % 32;
        if (bits >> bit & 1u)
          s.share_list[book.first + book.place(p, bit)] = (book.key[p] - 1) * 32 + bit;
      }
  } else
    __syncthreads();
  if (i >= s.n) return;
  fits = fits && base[group] + width[group] <= s.lines;
  if (lane == 0) s.note(i, fits ? all : 0);
  if (!fits) return;
  const uint32_t start = SHARED ? begins[k] : 0;
  const size_t begin = (size_t)base[group] * GROUP + 4 * (i % GROUP);
  if constexpr (PREFETCH)
    s.template fill_in_order<P>(i, of, kept, &book, start, begin, all, {&rows, k});
  else
    s.template fill<TEAM>(i, lane, of, kept, &book, start, begin, r, all);
}
/* One thread a particle with prefetched candidates: from 570 particles a multiprocessor on (4.4
 * blocks), up to 3,030 (24 blocks, several waves). */
bool deep(uint32_t n) { return n > 75000 && n <= 400000; }
/* Whether the search itself leaves rows in bank order (row_order.h). */
bool in_order(const search_args &s) { return deep(s.n); }
template <bool DENSITY>
cudaError_t launch_search(const search<DENSITY> &s, cudaStream_t stream, bool early = false) {
  const uint32_t groups = (s.n + GROUP - 1) / GROUP,
                 blocks = (s.n + BLOCK_PARTICLES - 1) / BLOCK_PARTICLES;
  /* large scenes fill the machine with one thread a particle */
  const int team = s.n <= 40000 ? 8 : s.n <= 400000 ? 4 : 1;
  if constexpr (!DENSITY)
    if (s.share_list) {
      if (early && deep(s.n))
        return start_kernel(search_kernel<1, BLOCK_PARTICLES, pages, false, true>, blocks,
                            (uint32_t)BLOCK_PARTICLES, 0, stream, s);
      if (early && team == 4)
        return start_kernel(search_kernel<2, BLOCK_PARTICLES, pages, false>, blocks,
                            BLOCK_PARTICLES * 2u, 0, stream, s);
      if (team == 8)
        search_kernel<4, BLOCK_PARTICLES, pages, false>
            <<<blocks, BLOCK_PARTICLES * 4, 0, stream>>>(s);
      else if (deep(s.n))
        search_kernel<1, BLOCK_PARTICLES, pages, false, true>
            <<<blocks, BLOCK_PARTICLES, 0, stream>>>(s);
      else if (team == 4)
        search_kernel<2, BLOCK_PARTICLES, pages, false>
            <<<blocks, BLOCK_PARTICLES * 2, 0, stream>>>(s);
      else
        search_kernel<1, BLOCK_PARTICLES, pages, false><<<blocks, BLOCK_PARTICLES, 0, stream>>>(s);
      return cudaGetLastError();
    }
  if (team == 8)
    search_kernel<8, GROUP, no_list, DENSITY><<<groups, GROUP * 8, 0, stream>>>(s);
  else if (team == 4)
    search_kernel<4, GROUP, no_list, DENSITY><<<groups, GROUP * 4, 0, stream>>>(s);
  else
    search_kernel<1, BLOCK_PARTICLES, no_list, DENSITY><<<blocks, BLOCK_PARTICLES, 0, stream>>>(s);
  return cudaGetLastError();
}
#endif

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
  const uint64_t spare = g->count <= DEFERRED_MAX_PARTICLES ? 4 : 16;
  if (n->groups[0] > lines)
    return reserve_rows(g, &g->lists.start, n->groups[0] + n->groups[0] / spare + 1024, entry, why);
  if (shared && n->shared > room)
    return reserve_block_lists(g, n->shared + n->shared / spare + 1024, why);
  g->lists.start_fits = *fits = true;
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
  const uint64_t wish = n->groups[1], spare = g->count > DEFERRED_MAX_PARTICLES ? wish / 4 + 1024
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
  OZ_TRY(clear_list_counters(g, why));
  if (!table)
    OZ_TRY(find_cells(g, g->count, g->sorter.wrap, f->x, nullptr, nullptr, nullptr,
                      displacement_boxes{}, why));
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
  OZ_CUDA(launch_search(s, g->stream, ahead), "neighbour search");
  if (shared && !disabled(g, DISABLE_ROW_ORDER) && !in_order(s))
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
  const bool generous = g->count <= DEFERRED_MAX_PARTICLES;
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
    table = uses_cell_table(g, last);
    /* rows in the order of the start list, which depends on state alone */
    key = clamped_key(f->p, nullptr, cell, low, last);
    moves.set(f);
  }
};

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
        (uint64_t)g->count / GROUP * (g->count <= DEFERRED_MAX_PARTICLES ? 12 : 2) + 8192, 4, why));
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
  if (!count) { /* rows without entries */
    OZ_CUDA(cudaMemsetAsync(g->lists.density.len.at, 0, (size_t)g->count * 2, g->stream),
            "neighbour lists");
    OZ_CUDA(cudaMemsetAsync(g->lists.density.group.at, 0,
                            ((size_t)g->count + GROUP - 1) / GROUP * 4, g->stream),
            "neighbour lists");
  }
  while (count) {
    if (to.table) {
      if (!binned) OZ_TRY(prepare_bins(g, to.key, f, to.moves, &bins, why));
      /* the fused position gather, which posts the status, can begin with the rows of the start
       * list */
      const bool beside = late && f->fused_density && f->start_entries &&
                          !disabled(g, DISABLE_POSITION_FUSION) && !disabled(g, DISABLE_OVERLAP) &&
                          !disabled(g, DISABLE_STATUS_CARRIERS) && !g->profile.on;
      OZ_TRY(
          moved_rows(g, bins, binned, f, to.radius, row_lines(&g->lists.density, 4), beside, why));
      binned = false;
    } else {
      search<true> s = {};
      OZ_TRY(order_by_cell(g, to.key, count, why));
      OZ_TRY(find_cells(g, count, nullptr, f->p, f->x, f->A, f->dx, to.moves, why));
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
      OZ_CUDA(launch_search(s, g->stream), "neighbour search");
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
