/* Neighbour rows.
 *
 * One search a substep at the start positions makes list C. The density constraint walks the same
 * rows (a pair that has moved apart adds nothing) and then further rows with what has come near
 * since, found at the current positions; there is no margin and nothing is listed twice. Where a
 * model leaves out what is calm (OZ_CALM), so does the search: blocks of cells whose particles
 * cannot have moved that far relative to those of the cell in the middle are not looked at.
 *
 * Rows are found in two looks at the same cells: the first counts, the group of 32 takes the room
 * for its rows, the second fills. Which lines of memory a group gets may differ from run to run,
 * what they hold does not.
 *
 * Small scenes have rows of particle numbers. In large ones SHARE particles, those of one block of
 * threads, share a list of all the particles that are neighbours of one of them; their rows hold
 * places in it, of 16 bits. A gather brings what is in that list into shared memory once (walk.h).
 * The first look marks who is in it, on pages of 32 particles that follow each other. */
#include "cuda/desk.h"
#include "cuda/stir.h"

#include "physics/boundary.h"
#include "physics/pairs.h"

#include <type_traits>

namespace OZ_NAMESPACE {
namespace {

#include "cuda/look.h"

#if defined(OZ_CUDA_HOST)
bool in_order(const search_args &s) { return s.step == 1; } /* so that both ways are tested */
template <class BOOK, class S>
void search_block(const S &s, uint32_t first, uint32_t members, BOOK *book) {
  static pieces kept[SHARE];
  static desk<1> d;
  found of[SHARE];
  uint32_t count[SHARE], start[SHARE] = {0}, width[SHARE / GROUP] = {0};
  bool fits = true;
  unsigned long long base[SHARE / GROUP];
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
    s.note_share(first / SHARE, book, at + book->total <= s.near_room);
    for (uint32_t u = 0; u < book->many && fits && !book->full; u++) {
      const uint32_t p = book->used[u];
      for (uint32_t b = book->of[p].bits; b; b &= b - 1)
        s.near_j[book->first + book->place(p, lowest(b))] = (book->key[p] - 1) * 32 + lowest(b);
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
  for (uint32_t first = 0; first < s.n; first += SHARE) {
    memset(static_cast<void *>(&book), 0, sizeof book);
    search_block(s, first, s.n - first < SHARE ? s.n - first : (uint32_t)SHARE, &book);
  }
}
template <bool FURTHER>
cudaError_t search_all(const search<FURTHER> &s, cudaStream_t, bool = false) {
  if (!FURTHER && s.near_j)
    search_blocks<pages>(s);
  else
    search_blocks<no_list>(s);
  return cudaSuccess;
}
#else
/* TEAM threads a particle, P particles a block: P / GROUP groups, or all that share a list. The
 * threads of a warp look at the same blocks of cells for the 32 particles of a group, which are
 * mostly in the same cell. 12 blocks at once are 40 registers a thread, 10 are 48: list C of large
 * scenes waits for memory more than it computes. With teams all the threads that a multiprocessor
 * has are 32. DEEP: 7 blocks, 72 registers, for candidates that are fetched ahead; at 100 thousand
 * particles that is all blocks at once. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
/* 1024 threads are all it has */
enum { HELD = 8, HELD_FURTHER = 8, HELD_DEEP = 7, TEAMS_HELD = 1024 };
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890)
enum { HELD = 12, HELD_FURTHER = 10, HELD_DEEP = 7, TEAMS_HELD = 1536 };
#else
enum { HELD = 12, HELD_FURTHER = 10, HELD_DEEP = 7, TEAMS_HELD = 2048 };
#endif
template <int TEAM, int P, class BOOK, bool FURTHER, bool DEEP = false>
__global__ void __launch_bounds__(TEAM *P, DEEP        ? HELD_DEEP
                                           : TEAM == 1 ? (FURTHER ? HELD_FURTHER : HELD)
                                           : std::is_same<BOOK, pages>::value
                                               ? TEAMS_HELD / (TEAM * P)
                                               : 0)
    search_kernel(const __grid_constant__ search<FURTHER> s) {
  /* threads that number the places of a page: most blocks have up to 64 */
  constexpr uint32_t GROUPS = P / GROUP, THREADS = TEAM * P, COUNTERS = 2 * TEAM;
  constexpr bool SHARED = std::is_same<BOOK, pages>::value;
  __shared__ uint32_t width[GROUPS], count[TEAM][P], begins[SHARED ? P : 1];
  __shared__ unsigned long long base[GROUPS], at;
  __shared__ BOOK book;
  __shared__ typename std::conditional<DEEP, desk<P>, no_list>::type rows;
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
  await_the_last();      /* on the side it starts early; it lets nobody come so */
  if constexpr (FURTHER) /* mostly nobody has anything to look at */
    if (!__syncthreads_or(i < s.n && s.cell_of[i] < s.capacity)) {
      if (lane == 0 && i < s.n) {
        s.note(i, 0);
        if (threadIdx.x % GROUP == 0) s.group[i / GROUP] = 0;
      }
      return;
    }
  if (i < s.n) of = s.template find<TEAM, DEEP>(i, lane, &book, kept);
  if constexpr (SHARED)
    if (lane == 0 && i < s.n && threadIdx.x % GROUP == 0) s.mark_group(i, &book);
  __syncwarp(); /* whoever had to wait for a page would go its own way until the barrier */
  count[lane][k] = of.count;
  __syncthreads();
  for (uint32_t t = 0; t < TEAM; t++) {
    if (t == lane) r = all; /* where this thread's part of the row begins */
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
    /* the first warp is waiting for its rows' room */
    const uint32_t t = (threadIdx.x + THREADS - GROUP) % THREADS;
    if (book.full) {
      /* one after the other, so that places do not depend on who comes first (spread.cu) */
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
      s.note_share(block, &book, at + book.total <= s.near_room);
    }
    __syncthreads();
    fits = at + book.total <= s.near_room;
    if (fits && !book.full)
      for (uint32_t u = threadIdx.x / 32; u < book.many; u += THREADS / 32) {
        const uint32_t p = book.used[u], bits = book.of[p].bits, bit = threadIdx.x % 32;
        if (bits >> bit & 1u)
          s.near_j[book.first + book.place(p, bit)] = (book.key[p] - 1) * 32 + bit;
      }
  } else
    __syncthreads();
  if (i >= s.n) return;
  fits = fits && base[group] + width[group] <= s.lines;
  if (lane == 0) s.note(i, fits ? all : 0);
  if (!fits) return;
  const uint32_t start = SHARED ? begins[k] : 0;
  const size_t begin = (size_t)base[group] * GROUP + 4 * (i % GROUP);
  if constexpr (DEEP)
    s.template fill_in_order<P>(i, of, kept, &book, start, begin, all, {&rows, k});
  else
    s.template fill<TEAM>(i, lane, of, kept, &book, start, begin, r, all);
}
/* Whether one thread a particle is enough, with all it needs next under way: from about 5 blocks a
 * multiprocessor of the H200 on, up to where it takes several waves. */
bool deep(uint32_t n) { return n > 75000 && n <= 400000; }
/* Whether rows are in order (desk.h) as the search leaves them. */
bool in_order(const search_args &s) { return deep(s.n); }
template <bool FURTHER>
cudaError_t search_all(const search<FURTHER> &s, cudaStream_t stream, bool early = false) {
  const uint32_t groups = (s.n + GROUP - 1) / GROUP, blocks = (s.n + SHARE - 1) / SHARE;
  /* large scenes fill the machine with one thread each */
  const int team = s.n <= 40000 ? 8 : s.n <= 400000 ? 4 : 1;
  if constexpr (!FURTHER)
    if (s.near_j) {
      if (early && deep(s.n))
        return start_kernel(search_kernel<1, SHARE, pages, false, true>, blocks, (uint32_t)SHARE, 0,
                            stream, s);
      if (early && team == 4)
        return start_kernel(search_kernel<2, SHARE, pages, false>, blocks, SHARE * 2u, 0, stream,
                            s);
      if (team == 8)
        search_kernel<4, SHARE, pages, false><<<blocks, SHARE * 4, 0, stream>>>(s);
      else if (deep(s.n))
        search_kernel<1, SHARE, pages, false, true><<<blocks, SHARE, 0, stream>>>(s);
      else if (team == 4)
        search_kernel<2, SHARE, pages, false><<<blocks, SHARE * 2, 0, stream>>>(s);
      else
        search_kernel<1, SHARE, pages, false><<<blocks, SHARE, 0, stream>>>(s);
      return cudaGetLastError();
    }
  if (team == 8)
    search_kernel<8, GROUP, no_list, FURTHER><<<groups, GROUP * 8, 0, stream>>>(s);
  else if (team == 4)
    search_kernel<4, GROUP, no_list, FURTHER><<<groups, GROUP * 4, 0, stream>>>(s);
  else
    search_kernel<1, SHARE, no_list, FURTHER><<<blocks, SHARE, 0, stream>>>(s);
  return cudaGetLastError();
}
#endif

/* ---- gradients of list C, as halves beside its entries, for scenes that several threads a
 * particle run ---- */

struct ghat_item { /* one thread an entry of a line of 32 * 4 */
  oz_frame f;
  const uint32_t *place;
  uint16_t *ghat;
  place_units u;
  OZ_D void operator()(uint32_t t) const {
    const uint32_t i = t / 4, lane = t % 4, g = i / GROUP, len = f.len_c[i];
    const oz_place here = oz_place_ld(place, i);
    oz_frame units; /* only what oz_spiky asks for */
    units.h = place_units::H, units.h2 = place_units::H * place_units::H,
    units.grad_norm = u.grad_norm, units.hour_norm = u.hour_norm, units.inv_d = u.inv_d;
    size_t at = (size_t)f.row_c[g] * GROUP + i % GROUP * 4 + lane;
    for (uint32_t k = lane; k < ((len + 3u) & ~3u); k += 4, at += 4 * GROUP) {
      float r[3];
      oz_real c;
      oz_place_difference(here, oz_place_ld(place, f.list_c[at]), r);
      const oz_v3 way = {r[0], r[1], r[2]};
      const oz_v3 v = oz_spiky(&units, way, &c);
      uint16_t *to = ghat + 4 * at;
      oz_st_half(to, v.x), oz_st_half(to + 1, v.y), oz_st_half(to + 2, v.z), oz_st_half(to + 3, c);
    }
  }
};

ooze_result rows_room(gpu *g, rows *r, uint64_t lines, size_t entry, ooze_message *why) {
  if (lines > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbour entries; a list holds %llu",
                   (unsigned long long)lines * GROUP, (unsigned long long)UINT32_MAX * GROUP);
  return grow(g, &r->entries, (size_t)(lines + 4) * GROUP * entry, "neighbour lists", why);
}
/* Walks read a round beyond the last one. */
uint64_t lines_of(const rows *r, size_t entry) {
  return r->entries.bytes ? r->entries.bytes / (GROUP * entry) - 4 : 0;
}
/* What a search counts begins at zero. */
ooze_result clear_groups(gpu *g, ooze_message *why) {
  if (!g->groups_clear)
    OZ_CUDA(cudaMemsetAsync(&device_news(g)->groups, 0,
                            offsetof(news, scalar) - offsetof(news, groups), g->stream),
            "lists");
  g->groups_clear = false;
  return OOZE_OK;
}
ooze_result shares_room(gpu *g, uint64_t entries, ooze_message *why) {
  if (entries > UINT32_MAX)
    return oz_fail(why, OOZE_ERROR_LIMIT, "cuda: %llu neighbours of blocks; a list holds %llu",
                   (unsigned long long)entries, (unsigned long long)UINT32_MAX);
  return grow(g, &g->near_j, (size_t)entries * 4, "neighbour lists", why);
}

/* By the news: did list C have room, and the further rows? Makes it where not. copied: neighbours
 * of a block for which gathers have had room meanwhile. */
ooze_result fit_near(gpu *g, uint32_t copied, bool *fits, ooze_message *why) {
  const news *n = g->host_news;
  const bool shared = lanes_for(g) <= STORED_ABOVE;
  const size_t entry = shared ? 2 : 4;
  const uint64_t lines = lines_of(&g->c, entry), room = g->near_j.bytes / 4;
  g->knows_near = *fits = false;
  if (!g->by_table && n->cells > g->grid.capacity)
    return cells_room(g, n->cells + n->cells / 4 + 1024, why);
  /* a substep that found too little room was for nothing where nobody waited to hear so: small
   * scenes get more of it */
  const uint64_t spare = g->count <= LATE_MOST ? 4 : 16;
  if (n->groups[0] > lines)
    return rows_room(g, &g->c, n->groups[0] + n->groups[0] / spare + 1024, entry, why);
  if (shared && n->shared > room) return shares_room(g, n->shared + n->shared / spare + 1024, why);
  g->knows_near = *fits = true;
  /* a block that has more than it could copy gathers by other instructions, which round otherwise:
   * that may depend on the device, but not on what was known of the substep before */
  if (shared && n->widest > copied && copied < g->share_most) *fits = false;
  g->widest = n->widest;
  g->mean_neighbours = (double)n->neighbours / g->count;
  return OOZE_OK;
}
ooze_result fit_further(gpu *g, bool *fits, ooze_message *why) {
  const news *n = g->host_news;
  g->knows_further = *fits = false;
  if (!g->by_table && n->cells > g->grid.capacity)
    return cells_room(g, n->cells + n->cells / 4 + 1024, why);
  /* their number changes by much from one substep to the next */
  const uint64_t wish = n->groups[1], spare = g->count > LATE_MOST ? wish / 4 + 1024
                                              : wish > 8192        ? wish
                                                                   : 8192;
  if (wish > lines_of(&g->extra, 4)) return rows_room(g, &g->extra, wish + spare, 4, why);
  g->knows_further = *fits = true;
  return OOZE_OK;
}

} // namespace

ooze_result tell_due(gpu *g, ooze_message *why) {
  if (!g->untold) return OOZE_OK;
  g->untold = false;
  return tell_soon(g, why);
}

/* The host comes here while the device is still at what followed: nobody waits. */
ooze_result check_due(gpu *g, ooze_message *why) {
  const uint32_t due = g->due;
  bool near = true, slots = true, further = true;
  g->due = 0;
  if (!due) return OOZE_OK;
  OZ_TRY(tell_due(g, why));
  OZ_TRY(await_news(g, why));
  if (due & DUE_NEAR) OZ_TRY(fit_near(g, g->share_room, &near, why));
  if (due & DUE_WALLS) OZ_TRY(fit_walls(g, &slots, why));
  if (due & DUE_FURTHER) OZ_TRY(fit_further(g, &further, why));
  return near && slots && further ? OOZE_OK : OZ_AGAIN;
}

/* Makes list C: on the side, where particles are sorted already (ahead), or in its turn. */
static ooze_result search_near(gpu *g, const oz_frame *f, bool ahead, ooze_message *why) {
  const aside there(g, ahead);
  const bool shared = lanes_for(g) <= STORED_ABOVE;
  OZ_TRY(clear_groups(g, why));
  if (!g->by_table)
    OZ_TRY(find_cells(g, g->count, g->bits, f->x, nullptr, nullptr, nullptr, motions{}, why));
  search<false> s = {};
  s.own = s.at = ahead ? as<float>(g->spare.x) : f->x;
  s.cell_of = as<uint32_t>(g->cell_of),
  s.around = g->by_table ? nullptr : as<uint2>(g->grid.around), s.table = as<uint32_t>(g->table);
  s.go_round(g->bits);
  s.n = g->count, s.capacity = g->by_table ? UINT32_MAX : g->grid.capacity;
  s.radius2 = f->h2;
  s.entries = g->c.entries.at, s.group = as<uint32_t>(g->c.group), s.len = as<uint16_t>(g->c.len),
  s.lines = lines_of(&g->c, shared ? 2 : 4);
  if (shared) {
    s.near_first = as<uint32_t>(g->near_first), s.near_j = as<uint32_t>(g->near_j),
    s.near_room = g->near_j.bytes / 4, s.step = g->no_spread ? 0 : (uint32_t)lanes_for(g);
    s.shared = &device_news(g)->shared, s.widest = &device_news(g)->widest, s.most = g->share_most;
  }
  s.asked = &device_news(g)->groups[0], s.total = &device_news(g)->neighbours;
  s.neighbours = f->neighbours, s.place = g->place, s.h = f->h,
  s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
  OZ_CUDA(search_all(s, g->stream, ahead), "neighbour search");
  if (shared && !g->no_spread && !in_order(s))
    OZ_CUDA(spread_rows(g, s.group, s.len, static_cast<uint16_t *>(s.entries), ahead),
            "neighbour lists");
  return OOZE_OK;
}
ooze_result search_ahead(gpu *g, const oz_frame *f, ooze_message *why) {
  change_lists(g);
  g->near_made = g->lists_aside = true;
  return search_near(g, f, true, why);
}

ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  /* otherwise all is made from copies, and state may still wait for its permutation */
  if (g->queued || !g->ahead || !g->near_made) OZ_TRY(flush(g, why));
  if (!g->count) return OOZE_OK;
  timer t(g, TIMER_LISTS);
  const bool shared = lanes_for(g) <= STORED_ABOVE;
  const bool late = goes_on(g, f) && g->knows_near, ahead = g->ahead;
  const size_t entry = shared ? 2 : 4;
  bool made = ahead && g->near_made;
  if (ahead && !made) change_lists(g);
  /* it was made, but something has moved particles since */
  if (!ahead && g->lists_aside) OZ_TRY(join_side(g, why));
  g->ahead = g->near_made = false;
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  /* a lattice has rows of 32; what has melted some 43, and the longest of 32 some 55: where nobody
   * waits there is room for it from the start */
  const bool roomy = g->count <= LATE_MOST;
  if (!g->c.entries.at)
    OZ_TRY(rows_room(g, &g->c, (uint64_t)g->count / GROUP * (roomy ? 60 : 35) + 4096, entry, why));
  if (shared && !g->near_j.at)
    OZ_TRY(shares_room(
        g, roomy ? (uint64_t)g->count * 7 + 4096 : (uint64_t)g->count * 19 / 4 + 4096, why));
  if (shared)
    OZ_TRY(grow(g, &g->near_first, ((size_t)g->capacity / SHARE + 1) * 8, "neighbour lists", why));
  for (;; made = false) {
    if (!made) OZ_TRY(search_near(g, f, ahead, why));
    if (late) { /* there was room in the last substep, so mostly there is in this one */
      g->due = DUE_NEAR;
      g->untold = true;
      break;
    }
    bool fits;
    OZ_TRY(bring_news(g, why));
    OZ_TRY(fit_near(g, UINT32_MAX, &fits, why));
    if (fits) break;
  }
  g->lists_aside = ahead;
  g->starts = !g->by_table;
  f->row_c = as<uint32_t>(g->c.group), f->len_c = as<uint16_t>(g->c.len);
  f->list_c = shared ? nullptr : as<uint32_t>(g->c.entries);
  f->near_c = shared ? as<uint16_t>(g->c.entries) : nullptr;
  f->near_first = as<uint32_t>(g->near_first), f->near_j = as<uint32_t>(g->near_j);
  /* what has no room gathers without, and slower */
  const uint32_t wide = (g->widest + (late ? 95u : 31u)) & ~31u,
                 most = (g->share_most + 31u) & ~31u;
  g->share_room = !shared ? 0 : wide < most ? wide : most;
  f->ghat = nullptr;
  if (!shared) {
    OZ_TRY(grow(g, &g->ghat, g->c.entries.bytes * 2, "gradients", why));
    f->ghat = as<uint16_t>(g->ghat);
    ghat_item item = {*f, g->place, f->ghat, {}};
    item.u.set(*f);
    OZ_CUDA(each(g->stream, 4 * g->count, item), "gradients");
  }
  out->mean_neighbours = g->mean_neighbours;
  return OOZE_OK;
}

/* How the density list looks: how far, and the cells for that. */
struct further_cells {
  float radius;
  key_item key;
  bool table; /* holds the cells */
  motions moves;
  further_cells(const gpu *g, const oz_frame *f) {
    /* the iterations move particles further: the model knows how far. Where that is more than 1.01
     * h, a little more still: links settle otherwise than they did (verify links.fig8 and
     * links.fig11) */
    const float beyond = f->reach - f->h;
    radius = beyond > 0.015f * f->h ? f->h + 1.32f * beyond : f->reach;
    const float cell = 1.01f * radius;
    /* cells of the start, with two around them for what has moved; what is beyond shares the
     * outermost */
    int low[3];
    uint32_t last[3];
    for (int k = 0; k < 3; k++)
      low[k] = (int)floorf((float)g->grid.low[k] * (g->cell / cell)) - 2, last[k] = g->last[k] + 4;
    table = tabled(g, last);
    /* rows in the order of list C's: that is one of state alone, and here nobody asks for another
     */
    key = key_of(f->p, nullptr, cell, low, last);
    moves.set(f);
  }
};

ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why) {
  gpu *g = GPU(b);
  on_device here(g);
  further_cells to(g, f);
  shake_item shake;
  const bool ready = g->count && to.table && shakes(g, f);
  if (ready) OZ_TRY(ready_shake(g, to.key, f, to.moves, &shake, why));
  g->shake = ready ? &shake : nullptr;
  const ooze_result flushed = flush(g, why);
  bool shaken = ready && !g->shake;
  g->shake = nullptr;
  OZ_TRY(flushed);
  out->rebuilt = 0;
  if (!g->count) return OOZE_OK;
  OZ_TRY(check_due(g, why));
  out->mean_neighbours = g->mean_neighbours;
  const bool late = goes_on(g, f) && g->knows_further;
  timer t(g, TIMER_DENSITY_LIST);
  if (!g->extra.entries.at)
    OZ_TRY(rows_room(g, &g->extra,
                     (uint64_t)g->count / GROUP * (g->count <= LATE_MOST ? 12 : 2) + 8192, 4, why));
  const bool starts = g->starts;
  g->starts = false;
  g->by_table = to.table;
  if (!g->by_table && !g->grid.capacity) OZ_TRY(cells_room(g, g->count / 6 + 1024, why));
  uint32_t count = g->count;
  if (to.moves.at && starts && !g->by_table && !late && g->count >= 1024 &&
      !(g->sift_rest && g->sift_rest--)) {
    OZ_TRY(sift(g, f, to.moves, &to.key.upto, &count, why));
    to.key.cell_of = as<uint32_t>(g->cell_of);
    g->sift_rest = count > g->count / 4 * 3 ? 7 : 0;
  }
  if (!count) { /* rows without entries */
    OZ_CUDA(cudaMemsetAsync(g->extra.len.at, 0, (size_t)g->count * 2, g->stream),
            "neighbour lists");
    OZ_CUDA(cudaMemsetAsync(g->extra.group.at, 0, ((size_t)g->count + GROUP - 1) / GROUP * 4,
                            g->stream),
            "neighbour lists");
  }
  while (count) {
    if (g->by_table) {
      if (!shaken) OZ_TRY(ready_shake(g, to.key, f, to.moves, &shake, why));
      /* both constraints in one kernel, which tells the host, can begin with the rows of list C */
      const bool beside = late && f->carried && f->near_c && !g->no_both && !g->no_beside &&
                          !g->no_soon && !g->profiling;
      OZ_TRY(stirred_rows(g, shake, shaken, f, to.radius, lines_of(&g->extra, 4), beside, why));
      shaken = false;
    } else {
      search<true> s = {};
      OZ_TRY(order_by_cell(g, to.key, count, why));
      OZ_TRY(find_cells(g, count, nullptr, f->p, f->x, f->A, f->dx, to.moves, why));
      OZ_TRY(clear_groups(g, why));
      s.own = f->p, s.at = f->A;
      s.cell_of = as<uint32_t>(g->cell_of), s.around = as<uint2>(g->grid.around);
      s.n = g->count, s.capacity = g->grid.capacity;
      s.radius2 = to.radius * to.radius;
      s.x = f->x, s.sorted_x = f->dx, s.skip2 = f->h2, s.calm2 = f->calm2;
      s.entries = g->extra.entries.at, s.group = as<uint32_t>(g->extra.group),
      s.len = as<uint16_t>(g->extra.len), s.lines = lines_of(&g->extra, 4);
      s.asked = &device_news(g)->groups[1], s.total = &device_news(g)->neighbours;
      s.owner = f->boundary ? f->owner : nullptr, s.slip = f->slips ? f->material : nullptr;
      OZ_CUDA(search_all(s, g->stream), "neighbour search");
    }
    if (late) {
      OZ_TRY(tell_soon(g, why));
      g->due = DUE_FURTHER;
      break;
    }
    bool fits;
    OZ_TRY(bring_news(g, why));
    OZ_TRY(fit_further(g, &fits, why));
    if (fits) break;
  }
  f->list_d[0] = f->list_c, f->row_d[0] = f->row_c, f->len_d[0] = f->len_c;
  f->list_d[1] = as<uint32_t>(g->extra.entries), f->row_d[1] = as<uint32_t>(g->extra.group),
  f->len_d[1] = as<uint16_t>(g->extra.len);
  return OOZE_OK;
}

} // namespace OZ_NAMESPACE
