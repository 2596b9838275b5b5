/* The neighbour search of all particles: as loops on the host, as kernels on the device. Included
 * by neighbour_lists.cu, inside its namespace. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_SEARCH_KERNELS_H
#define OZ_CUDA_SEARCH_KERNELS_H

#if defined(OZ_CUDA_HOST)
/* One lane: so that tests cover both ways. */
bool rows_ordered(const gpu *, const search_args &s) { return s.step == 1; }
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
    count[k] = clamp_length(of[k].count);
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
      if (rows_ordered(nullptr, s)) {
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
cudaError_t launch_search(const gpu *, const search<DENSITY> &s, cudaStream_t, bool = false) {
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
/* Room for the rows of a group, asked for by its first thread: as wide as the longest of them. */
template <bool DENSITY>
__device__ __forceinline__ void claim_rows(const search<DENSITY> &s, uint32_t i, uint32_t all,
                                           uint32_t number, uint32_t *width,
                                           unsigned long long *base) {
  uint32_t most = in_fours(all), total = all;
  for (int d = 16; d; d >>= 1) {
    most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
    total += __shfl_xor_sync(0xffffffffu, total, d);
  }
  if (threadIdx.x % GROUP == 0 && total) {
    atomicAdd(s.total, (unsigned long long)total);
    *width = most;
    *base = atomicAdd(s.asked, (unsigned long long)most);
  } else if (threadIdx.x % GROUP == 0)
    *width = 0, *base = 0;
  if (threadIdx.x % GROUP == 0 && i < s.n) s.group[number] = (uint32_t)*base;
}
/* Neighbours of the particles before the k-th of a block with full pages: one after the other,
 * so that places do not depend on timing (row_order.cu). */
template <int TEAM, int P>
__device__ __forceinline__ uint32_t neighbours_before(const uint32_t (*count)[P], uint32_t k) {
  uint32_t before = 0;
  for (uint32_t q = 0; q < k; q++) {
    uint32_t n = 0;
    for (uint32_t u = 0; u < TEAM; u++) n += count[u][q];
    before += clamp_length(n) + 1;
  }
  return before;
}
/* Numbers the places of each page, by COUNTERS threads: most blocks have up to 64 pages. */
template <int TEAM, uint32_t THREADS, class BOOK>
__device__ __forceinline__ void number_places(BOOK &book, uint32_t t) {
  constexpr uint32_t COUNTERS = 2 * TEAM;
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
}
/* The particles of the block's pages, in the order of their places. */
template <uint32_t THREADS, class BOOK, class S>
__device__ __forceinline__ void store_places(const S &s, const BOOK &book) {
  for (uint32_t u = threadIdx.x / 32; u < book.many; u += THREADS / 32) {
    const uint32_t p = book.used[u], bits = book.of[p].bits, bit = threadIdx.x % 32;
    if (bits >> bit & 1u)
      s.share_list[book.first + book.place(p, bit)] = (book.key[p] - 1) * 32 + bit;
  }
}
template <int TEAM, int P, class BOOK, bool DENSITY, bool PREFETCH = false>
__global__ void __launch_bounds__(TEAM *P, PREFETCH    ? MIN_BLOCKS_PREFETCH
                                           : TEAM == 1 ? (DENSITY ? MIN_BLOCKS_DENSITY : MIN_BLOCKS)
                                           : std::is_same<BOOK, pages>::value
                                               ? RESIDENT_THREADS / (TEAM * P)
                                               : 0)
    search_kernel(const __grid_constant__ search<DENSITY> s) {
  constexpr uint32_t GROUPS = P / GROUP, THREADS = TEAM * P;
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
  all = clamp_length(all);
  if (lane == 0) claim_rows(s, i, all, block * GROUPS + group, &width[group], &base[group]);

  bool fits = true;
  if constexpr (SHARED) {
    /* the first warp waits for its rows' room */
    const uint32_t t = (threadIdx.x + THREADS - GROUP) % THREADS;
    if (book.full) {
      if (lane == 0 && i < s.n) {
        const uint32_t before = neighbours_before<TEAM, P>(count, k);
        begins[k] = before;
        atomicMax(&book.total, before + all + 1);
      }
      __syncthreads();
    } else
      number_places<TEAM, THREADS>(book, t);
    if (t == 0) {
      at = atomicAdd(s.shared, (unsigned long long)book.total);
      book.first = (uint32_t)at;
      s.store_block_list(block, &book, at + book.total <= s.near_room);
    }
    __syncthreads();
    fits = at + book.total <= s.near_room;
    if (fits && !book.full) store_places<THREADS>(s, book);
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
/* One thread a particle with prefetched candidates. */
bool uses_prefetch(const gpu *g) {
  return g->count > g->device.prefetch_min && g->count <= g->device.team4_max;
}
/* Whether the search itself leaves rows in bank order (row_order.h). */
bool rows_ordered(const gpu *g, const search_args &) { return uses_prefetch(g); }
template <bool DENSITY>
cudaError_t launch_search(const gpu *g, const search<DENSITY> &s, cudaStream_t stream,
                          bool dependent = false) {
  const uint32_t groups = (s.n + GROUP - 1) / GROUP,
                 blocks = (s.n + BLOCK_PARTICLES - 1) / BLOCK_PARTICLES;
  /* large scenes fill the machine with one thread a particle */
  const int team = s.n <= g->device.team8_max ? 8 : s.n <= g->device.team4_max ? 4 : 1;
  if constexpr (!DENSITY)
    if (s.share_list) {
      if (dependent && uses_prefetch(g))
        return start_kernel(search_kernel<1, BLOCK_PARTICLES, pages, false, true>, blocks,
                            (uint32_t)BLOCK_PARTICLES, 0, stream, s);
      if (dependent && team == 4)
        return start_kernel(search_kernel<2, BLOCK_PARTICLES, pages, false>, blocks,
                            BLOCK_PARTICLES * 2u, 0, stream, s);
      if (team == 8)
        search_kernel<4, BLOCK_PARTICLES, pages, false>
            <<<blocks, BLOCK_PARTICLES * 4, 0, stream>>>(s);
      else if (uses_prefetch(g))
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
#endif
